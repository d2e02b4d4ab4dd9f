//! Grounding: from what a guest said to what the host believes.
//!
//! A guest's report is checked against the objects that the guest was given, claim by claim. Nothing here knows the engine; the input
//! are the plain records of the contract.
//!
//! * A place counts if its object was handed over and its pointer resolves to something other than `null` there. A claim without such
//!   a place is dropped, and with it whatever cannot do without the claim.
//! * `declared` text must be the value at its place, or the values of its places in order, joined by `:`, `/` or `@`. Otherwise the
//!   claim is `derived`: it may be right, but it is the scraper's word.
//! * Texts are cleaned of control characters and cut ([`crate::text`]); what was `declared` before is `derived` then, because it no
//!   longer is what stands there.
//! * Words outside a closed vocabulary are dropped with what they classify if that makes no sense without them (items), and read as
//!   "not said" otherwise.
//! * What exceeds a limit on numbers is dropped from the end.
//!
//! Every such change is counted under its own name ([`Change`]).

mod claim;
mod report;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use aibom_facts::report::Report;
use aibom_facts::tree::Tree;

use crate::contract::types;
use crate::walk::Steps;

/// Something that grounding changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// `declared` text does not stand at its places: the claim is `derived` now.
    DowngradedClaim,
    /// A claim has no place that resolves.
    DroppedClaim,
    /// A place does not resolve.
    DroppedPlace,
    /// An item has no name or no known class.
    DroppedItem,
    /// A pod template does not stand where it is said to stand.
    DroppedTemplate,
    /// Nothing of a container has a place.
    DroppedContainer,
    /// The name of a property is under the host's own prefix.
    ReservedProperty,
    /// The name of a property is no dotted name.
    BadPropertyName,
    /// A word is not in its vocabulary: class, role, duty, basis, category.
    UnknownWord,
    /// The name of a template or the id of an item was given before.
    Duplicate,
    /// A reference to an item or template that the report does not hold.
    DanglingReference,
    /// A text was cut.
    CutText,
    /// Control characters in a text were replaced.
    CleanedText,
    /// The place of a problem does not resolve: the nearest one above it is used.
    MovedProblem,
    /// More of something than is taken from one report.
    OverLimit,
}

impl Change {
    /// The word used in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DowngradedClaim => "downgraded_claim",
            Self::DroppedClaim => "dropped_claim",
            Self::DroppedPlace => "dropped_place",
            Self::DroppedItem => "dropped_item",
            Self::DroppedTemplate => "dropped_template",
            Self::DroppedContainer => "dropped_container",
            Self::ReservedProperty => "reserved_property",
            Self::BadPropertyName => "bad_property_name",
            Self::UnknownWord => "unknown_word",
            Self::Duplicate => "duplicate",
            Self::DanglingReference => "dangling_reference",
            Self::CutText => "cut_text",
            Self::CleanedText => "cleaned_text",
            Self::MovedProblem => "moved_problem",
            Self::OverLimit => "over_limit",
        }
    }
}

/// How often grounding changed what. Empty for a report that holds what it claims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounding {
    counts: BTreeMap<Change, u64>,
}

impl Grounding {
    /// How often one change was made.
    pub fn count(&self, change: Change) -> u64 {
        self.counts.get(&change).copied().unwrap_or(0)
    }

    /// The changes that were made, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (Change, u64)> {
        self.counts.iter().map(|(change, count)| (*change, *count))
    }

    /// Whether nothing was changed.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// All changes together.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds the counts of another report.
    pub fn add(&mut self, other: &Self) {
        for (change, count) in other.iter() {
            self.note(change, count);
        }
    }

    fn note(&mut self, change: Change, times: u64) {
        if times > 0 {
            *self.counts.entry(change).or_default() += times;
        }
    }
}

/// Grounds a report in the objects of its call: the scraped one, then the related ones in order. `work` bounds the nodes that are
/// touched to resolve places; places beyond it do not resolve.
pub(crate) fn ground(raw: types::Report, objects: &[Option<&Tree>], work: u64) -> (Report, Grounding) {
    let mut ground = Ground { objects, steps: Steps::new(work), changes: Grounding::default() };
    let report = ground.report(raw);
    (report, ground.changes)
}

struct Ground<'a> {
    objects: &'a [Option<&'a Tree>],
    steps: Steps,
    changes: Grounding,
}

impl Ground<'_> {
    fn note(&mut self, change: Change) {
        self.changes.note(change, 1);
    }

    /// Takes at most `limit` of a list.
    fn take<T>(&mut self, mut list: Vec<T>, limit: usize) -> Vec<T> {
        self.changes.note(Change::OverLimit, list.len().saturating_sub(limit) as u64);
        list.truncate(limit);
        list
    }
}
