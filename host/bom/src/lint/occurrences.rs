//! L7.

use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::redact::CUT_MARK;
use aibom_facts::tree::Tree;

use super::{Findings, Node, Place};
use crate::scrub::SECRET_MARK;

/// Every location, and its text.
fn locations<'d>(components: &[Node<'d>]) -> impl Iterator<Item = (Node<'d>, &'d str)> {
    let evidence = components.iter().filter_map(|component| component.get("evidence"));
    let locations = evidence.flat_map(|evidence| evidence.items("occurrences")).filter_map(|occurrence| occurrence.get("location"));
    locations.filter_map(|location| Some((location, location.as_str()?)))
}

/// Whether the filter took something out of the text, so that it leads nowhere any more.
fn is_filtered(location: &str) -> bool {
    location.contains(SECRET_MARK) || location.ends_with(CUT_MARK)
}

pub(super) fn check(components: &[Node<'_>], findings: &mut Findings) {
    for (node, location) in locations(components) {
        if is_filtered(location) {
            continue;
        }
        match location.split_once('#') {
            None => findings.add("L7", &Place::of(node), "the location has no `#` in front of a JSON pointer"),
            // Names may hold a `#` of their own, so any of them may be the one.
            Some(_) if location.match_indices('#').any(|(at, _)| Pointer::parse(&location[at + 1..]).is_ok()) => {}
            Some(_) => findings.add("L7", &Place::of(node), "what follows `#` is no JSON pointer"),
        }
    }
}

pub(super) fn resolve(components: &[Node<'_>], objects: &[(ObjectRef, &Tree)], findings: &mut Findings) {
    for (node, location) in locations(components) {
        if is_filtered(location) {
            continue;
        }
        for (object, tree) in objects {
            let Some(pointer) = location.strip_prefix(&object.to_string()).and_then(|rest| rest.strip_prefix('#')) else { continue };
            if tree.at(tree.root(), pointer).is_none() {
                findings.add("L7", &Place::of(node), format!("`{pointer}` does not resolve in {object}"));
            }
        }
    }
}
