//! L7.

use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::redact::CUT_MARK;
use aibom_facts::tree::Tree;

use super::{Components, Findings, Place};
use crate::scrub::SECRET_MARK;

/// Calls `visit` with every location and its place.
fn locations<'d>(components: &Components<'d, '_>, visit: &mut dyn FnMut(&'d str, &Place<'_>)) {
    for (component, path) in components {
        let Some(evidence) = component.get("evidence") else { continue };
        let here = Place::at(path);
        let here = here.member("evidence");
        let here = here.member("occurrences");
        for (i, occurrence) in evidence.items("occurrences") {
            if let Some(location) = occurrence.text("location") {
                visit(location, &here.item(i).member("location"));
            }
        }
    }
}

/// Whether the filter took something out of the text, so that it leads nowhere any more.
fn is_filtered(location: &str) -> bool {
    location.contains(SECRET_MARK) || location.ends_with(CUT_MARK)
}

pub(super) fn check(components: &Components<'_, '_>, findings: &mut Findings) {
    locations(components, &mut |location, place| {
        if is_filtered(location) {
            return;
        }
        match location.split_once('#') {
            None => findings.add("L7", place, "the location has no `#` in front of a JSON pointer"),
            // Names may hold a `#` of their own, so any of them may be the one.
            Some(_) if location.match_indices('#').any(|(at, _)| Pointer::parse(&location[at + 1..]).is_ok()) => {}
            Some(_) => findings.add("L7", place, "what follows `#` is no JSON pointer"),
        }
    });
}

pub(super) fn resolve(components: &Components<'_, '_>, objects: &[(ObjectRef, &Tree)], findings: &mut Findings) {
    locations(components, &mut |location, place| {
        if is_filtered(location) {
            return;
        }
        for (object, tree) in objects {
            let Some(pointer) = location.strip_prefix(&object.to_string()).and_then(|rest| rest.strip_prefix('#')) else { continue };
            if tree.at(tree.root(), pointer).is_none() {
                findings.add("L7", place, format!("`{pointer}` does not resolve in {object}"));
            }
        }
    });
}
