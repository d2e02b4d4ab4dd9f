//! L6, L8, L11, L14.

use super::{Components, Findings, Node, Place};
use crate::evidence::{DECLARED_FROM, INFERRED_CAP, UNRESOLVED_CAP};

/// Rules about every value: L14, and L11 for lists that are sorted wherever they stand.
pub(super) fn visit(node: &Node<'_>, place: &Place<'_>, findings: &mut Findings) {
    let lost = match node {
        Node::Null => "a null",
        Node::List(items) if items.is_empty() => "an empty list",
        Node::Members(members) if members.is_empty() => "an empty object",
        Node::Text(value) if value.is_empty() => "an empty text",
        Node::Members(members) => {
            for (key, member) in members {
                if let Some((_, by)) = LISTS.iter().find(|(list, _)| list == key) {
                    sorted(member, &place.member(key), by, findings);
                }
            }
            return;
        }
        _ => return,
    };
    findings.add("L14", place, format!("{lost} is lost on a round trip"));
}

pub(super) fn check(document: &Node<'_>, components: &Components<'_, '_>, findings: &mut Findings) {
    for (component, path) in components {
        let here = Place::at(path);
        let component_type = component.text("type").unwrap_or_default();
        for (member, only_on) in [("modelCard", "machine-learning-model"), ("data", "data")] {
            if component.get(member).is_some() && component_type != only_on {
                findings.add("L6", &here.member(member), format!("`{member}` stands on a component of type `{component_type}`"));
            }
        }
        confidence(component, &here, findings);
        if let Some(Node::Members(_)) = component.down(&["evidence", "identity"]) {
            let here = here.member("evidence");
            findings.add("L14", &here.member("identity"), "a single identity is the form of older versions");
        }
    }
    for (list, by) in [("services", "bom-ref"), ("dependencies", "ref")] {
        if let Some(items) = document.get(list) {
            sorted(items, &Place::ROOT.member(list), &[by], findings);
        }
    }
    if let Some(Node::List(_)) = document.down(&["metadata", "tools"]) {
        findings.add("L14", &Place::at("/metadata/tools"), "the list form of tools is that of older versions");
    }
}

/// L8.
fn confidence(component: &Node<'_>, here: &Place<'_>, findings: &mut Findings) {
    let word = component
        .items("properties")
        .map(|(_, property)| property)
        .find(|property| matches!(property.text("name"), Some("aibom.confidence" | "k8s-aibom:confidence")))
        .and_then(|property| property.text("value"));
    let Some((word, evidence)) = word.zip(component.get("evidence")) else { return };
    // The effective identity comes first; versions and hashes have evidence of their own.
    let Some((i, identity)) = evidence.items("identity").find(|(_, identity)| matches!(identity.text("field"), Some("name" | "purl")))
    else {
        return;
    };
    let here = here.member("evidence");
    let here = here.member("identity");
    let here = here.item(i);
    let Some(number) = identity.get("confidence").and_then(Node::as_f64) else {
        findings.add("L8", &here, "the identity has no confidence");
        return;
    };
    let bound = |hundredths: u8| f64::from(hundredths) / 100.0;
    let agrees = match word {
        "verified" | "declared" => number >= bound(DECLARED_FROM),
        "inferred" => number <= bound(INFERRED_CAP),
        "unresolved" => number <= bound(UNRESOLVED_CAP),
        _ => false,
    };
    if !agrees {
        findings.add("L8", &here.member("confidence"), format!("{number} does not go with `{word}`"));
    }
}

/// Lists that are sorted wherever they stand, and by what. Lists of texts are sorted by themselves.
const LISTS: [(&str, &[&str]); 5] = [
    ("properties", &["name", "value"]),
    ("occurrences", &["location", "symbol", "additionalContext"]),
    ("dependsOn", &[]),
    ("assemblies", &[]),
    ("components", &["type", "bom-ref"]),
];

/// L11.
fn sorted(list: &Node<'_>, place: &Place<'_>, by: &[&str], findings: &mut Findings) {
    let Node::List(items) = list else { return };
    let before = |a: &Node<'_>, b: &Node<'_>| match (a, b) {
        (Node::Text(a), Node::Text(b)) => a <= b,
        _ => by.iter().map(|member| a.text(member)).le(by.iter().map(|member| b.text(member))),
    };
    if let Some(at) = items.windows(2).position(|pair| !before(&pair[0], &pair[1])) {
        findings.add("L11", &place.item(at + 1), "this comes before its predecessor");
    }
}
