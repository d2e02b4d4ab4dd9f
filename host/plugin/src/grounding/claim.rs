//! Places, texts, claims and properties.

use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Basis, Claim, Problem, Property};
use aibom_facts::tree::{NodeId, Tree};

use super::{Change, Ground};
use crate::contract::types;
use crate::{text, walk};

/// Places of a claim.
const MAX_PLACES: usize = 16;
/// Bytes of a property's name.
const MAX_PROPERTY_NAME: usize = 128;
/// Properties of one thing.
const MAX_PROPERTIES: usize = 256;
/// The prefix under which the host writes its own properties.
const RESERVED: &str = "aibom";

impl<'a> Ground<'a> {
    /// A place that resolves, with what stands there.
    fn resolve(&mut self, raw: &types::Locator) -> Option<(Locator, &'a Tree, NodeId)> {
        let tree = self.objects.get(raw.object as usize).copied().flatten();
        let found = tree.and_then(|tree| {
            // Out of steps is the same as not there: the guest asked for more checking than its report is worth.
            let node = walk::resolve(tree, tree.root(), &raw.pointer, &mut self.steps).ok().flatten()?;
            if tree.is_null(node) {
                return None;
            }
            let pointer = Pointer::parse(&raw.pointer).ok()?;
            Some((Locator { object: raw.object, pointer }, tree, node))
        });
        if found.is_none() {
            self.note(Change::DroppedPlace);
        }
        found
    }

    pub(super) fn place(&mut self, raw: &types::Locator) -> Option<Locator> {
        self.resolve(raw).map(|(at, ..)| at)
    }

    /// A place at which an object stands.
    pub(super) fn object_at(&mut self, raw: &types::Locator) -> Option<Locator> {
        let (at, tree, node) = self.resolve(raw)?;
        (tree.kind(node) == aibom_facts::tree::Kind::Object).then_some(at)
    }

    pub(super) fn places(&mut self, raw: Vec<types::Locator>, limit: usize) -> Vec<Locator> {
        self.take(raw, limit).iter().filter_map(|at| self.place(at)).collect()
    }

    /// Cleans a text and counts what had to be done.
    pub(super) fn text(&mut self, raw: &str) -> (String, bool) {
        let (text, changes) = text::clean(raw);
        if changes.cut {
            self.note(Change::CutText);
        }
        if changes.replaced {
            self.note(Change::CleanedText);
        }
        (text.into_owned(), changes.any())
    }

    pub(super) fn word(&mut self, raw: &str) -> String {
        self.text(raw).0
    }

    pub(super) fn claim(&mut self, raw: types::Claim) -> Option<Claim> {
        let mut at = Vec::new();
        let mut values = Vec::new();
        for place in self.take(raw.at, MAX_PLACES) {
            if let Some((place, tree, node)) = self.resolve(&place) {
                at.push(place);
                values.push(tree.scalar(node));
            }
        }
        if at.is_empty() {
            self.note(Change::DroppedClaim);
            return None;
        }
        let (text, changed) = self.text(&raw.text);
        let basis = match raw.basis.as_str() {
            "declared" if !changed && stands(&raw.text, &values) => Basis::Declared,
            "declared" => {
                self.note(Change::DowngradedClaim);
                Basis::Derived
            }
            "derived" => Basis::Derived,
            "implied" => Basis::Implied,
            _ => {
                self.note(Change::UnknownWord);
                Basis::Derived
            }
        };
        Some(Claim { text, basis, at })
    }

    pub(super) fn properties(&mut self, raw: Vec<types::Property>) -> Vec<Property> {
        self.take(raw, MAX_PROPERTIES).into_iter().filter_map(|property| self.property(property)).collect()
    }

    fn property(&mut self, raw: types::Property) -> Option<Property> {
        if raw.name == RESERVED || raw.name.strip_prefix(RESERVED).is_some_and(|rest| rest.starts_with(['.', ':'])) {
            self.note(Change::ReservedProperty);
            return None;
        }
        if !is_property_name(&raw.name) {
            self.note(Change::BadPropertyName);
            return None;
        }
        Some(Property { name: raw.name, value: self.claim(raw.value)? })
    }

    /// A problem is for people and never dropped for its place: what is missing has none.
    pub(super) fn problem(&mut self, raw: &types::Problem) -> Problem {
        let (object, tree) = match self.objects.get(raw.at.object as usize).copied().flatten() {
            Some(tree) => (raw.at.object, Some(tree)),
            None => (0, self.objects.first().copied().flatten()),
        };
        let pointer = tree.and_then(|tree| walk::nearest(tree, &raw.at.pointer, &mut self.steps).ok()).unwrap_or_default();
        if object != raw.at.object || pointer.as_str() != raw.at.pointer {
            self.note(Change::MovedProblem);
        }
        Problem { at: Locator { object, pointer }, message: self.word(&raw.message) }
    }
}

/// Whether text is what stands at its places: the one value, the same value at each of them, or their values in order, joined by one of
/// `:` `/` `@` (a registry, a repository, a tag and a digest are often fields of their own).
fn stands(text: &str, values: &[Option<&str>]) -> bool {
    let Some(values) = values.iter().copied().collect::<Option<Vec<_>>>() else { return false };
    if values.iter().all(|value| *value == text) {
        return true;
    }
    let mut rest = text;
    for (i, value) in values.into_iter().enumerate() {
        if i > 0 {
            let Some(joined) = rest.strip_prefix([':', '/', '@']) else { return false };
            rest = joined;
        }
        let Some(after) = rest.strip_prefix(value) else { return false };
        rest = after;
    }
    rest.is_empty()
}

/// `vendor.component.type`: at least two segments of letters, digits, dashes and underscores; the first one starts with a lower-case
/// letter.
fn is_property_name(name: &str) -> bool {
    name.len() <= MAX_PROPERTY_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.contains('.')
        && name.split('.').all(|segment| {
            segment.starts_with(|c: char| c.is_ascii_alphanumeric())
                && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        })
}
