//! L7.

use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::redact::CUT_MARK;
use aibom_facts::tree::Tree;

use super::{Components, Findings, child, items, text};
use crate::scrub::SECRET_MARK;

/// Locations with what stands before and after the last `#` that starts a pointer.
fn locations<'a>(components: &Components<'a>) -> Vec<(&'a str, String)> {
    let mut found = Vec::new();
    for (component, path) in components {
        let Some(evidence) = component.get("evidence") else { continue };
        for (occurrence, path) in items(evidence, &format!("{path}/evidence"), "occurrences") {
            if let Some(location) = text(occurrence, "location") {
                found.push((location, child(&path, "location")));
            }
        }
    }
    found
}

/// Whether the filter took something out of the text, so that it leads nowhere any more.
fn is_filtered(location: &str) -> bool {
    location.contains(SECRET_MARK) || location.ends_with(CUT_MARK)
}

pub(super) fn check(components: &Components<'_>, findings: &mut Findings) {
    for (location, path) in locations(components) {
        if is_filtered(location) {
            continue;
        }
        match location.split_once('#') {
            None => findings.add("L7", &path, "the location has no `#` in front of a JSON pointer"),
            // Names may hold a `#` of their own, so any of them may be the one.
            Some(_) if location.match_indices('#').any(|(at, _)| Pointer::parse(&location[at + 1..]).is_ok()) => {}
            Some(_) => findings.add("L7", &path, "what follows `#` is no JSON pointer"),
        }
    }
}

pub(super) fn resolve(components: &Components<'_>, objects: &[(ObjectRef, &Tree)], findings: &mut Findings) {
    for (location, path) in locations(components) {
        if is_filtered(location) {
            continue;
        }
        for (object, tree) in objects {
            let Some(pointer) = location.strip_prefix(&object.to_string()).and_then(|rest| rest.strip_prefix('#')) else { continue };
            if tree.at(tree.root(), pointer).is_none() {
                findings.add("L7", &path, format!("`{pointer}` does not resolve in {object}"));
            }
        }
    }
}
