//! L6, L8, L11, L14.

use super::{Findings, Node, Place, Value};
use crate::evidence::{DECLARED_FROM, INFERRED_CAP, UNRESOLVED_CAP};

/// Rules about every value: L14, and L11 for lists that are sorted wherever they stand.
pub(super) fn visit(node: Node<'_>, findings: &mut Findings) {
    let lost = match node.value() {
        Value::Null => "a null",
        Value::List if node.is_empty() => "an empty list",
        Value::Members if node.is_empty() => "an empty object",
        Value::Text(value) if value.is_empty() => "an empty text",
        Value::List => {
            if let Some((_, by)) = LISTS.iter().find(|(list, _)| node.name() == Some(list)) {
                sorted(node, by, findings);
            }
            return;
        }
        _ => return,
    };
    findings.add("L14", &Place::of(node), format!("{lost} is lost on a round trip"));
}

pub(super) fn check(document: Node<'_>, components: &[Node<'_>], findings: &mut Findings) {
    for component in components {
        let component_type = component.text("type").unwrap_or_default();
        for (member, only_on) in [("modelCard", "machine-learning-model"), ("data", "data")] {
            if component_type != only_on
                && let Some(node) = component.get(member)
            {
                findings.add("L6", &Place::of(node), format!("`{member}` stands on a component of type `{component_type}`"));
            }
        }
        confidence(*component, findings);
        if let Some(identity) = component.down(&["evidence", "identity"]).filter(|identity| *identity.value() == Value::Members) {
            findings.add("L14", &Place::of(identity), "a single identity is the form of older versions");
        }
    }
    for (list, by) in [("services", "bom-ref"), ("dependencies", "ref")] {
        if let Some(items) = document.get(list).filter(|list| *list.value() == Value::List) {
            sorted(items, &[by], findings);
        }
    }
    if let Some(tools) = document.down(&["metadata", "tools"]).filter(|tools| *tools.value() == Value::List) {
        findings.add("L14", &Place::of(tools), "the list form of tools is that of older versions");
    }
}

/// L8.
fn confidence(component: Node<'_>, findings: &mut Findings) {
    let word = component
        .items("properties")
        .find(|property| matches!(property.text("name"), Some("aibom.confidence" | "k8s-aibom:confidence")))
        .and_then(|property| property.text("value"));
    let Some((word, evidence)) = word.zip(component.get("evidence")) else { return };
    // The effective identity comes first; versions and hashes have evidence of their own.
    let Some(identity) = evidence.items("identity").find(|identity| matches!(identity.text("field"), Some("name" | "purl"))) else {
        return;
    };
    let here = Place::of(identity);
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
fn sorted(list: Node<'_>, by: &[&str], findings: &mut Findings) {
    let before = |a: Node<'_>, b: Node<'_>| match (a.value(), b.value()) {
        (Value::Text(a), Value::Text(b)) => a <= b,
        _ => by.iter().map(|member| a.text(member)).le(by.iter().map(|member| b.text(member))),
    };
    let mut pairs = list.children().zip(list.children().skip(1));
    if let Some((_, late)) = pairs.find(|(a, b)| !before(*a, *b)) {
        findings.add("L11", &Place::of(late), "this comes before its predecessor");
    }
}
