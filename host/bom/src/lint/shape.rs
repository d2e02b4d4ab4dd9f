//! L6, L8, L11, L14.

use serde_json::Value;

use super::{Findings, child, components, items, text, walk};
use crate::evidence::{DECLARED_FROM, INFERRED_CAP, UNRESOLVED_CAP};

pub(super) fn check(document: &Value, findings: &mut Findings) {
    for (component, path) in components(document) {
        let component_type = text(component, "type").unwrap_or_default();
        for (member, only_on) in [("modelCard", "machine-learning-model"), ("data", "data")] {
            if component.get(member).is_some() && component_type != only_on {
                findings.add("L6", &child(&path, member), format!("`{member}` stands on a component of type `{component_type}`"));
            }
        }
        confidence(component, &path, findings);
    }
    order(document, findings);
    round_trip(document, findings);
}

/// L8.
fn confidence(component: &Value, path: &str, findings: &mut Findings) {
    let word = items(component, path, "properties")
        .find(|(property, _)| matches!(text(property, "name"), Some("aibom.confidence" | "k8s-aibom:confidence")))
        .and_then(|(property, _)| text(property, "value"));
    let Some((word, evidence)) = word.zip(component.get("evidence")) else { return };
    let path = format!("{path}/evidence");
    // The effective identity comes first; versions and hashes have evidence of their own.
    let Some((identity, path)) =
        items(evidence, &path, "identity").find(|(identity, _)| matches!(text(identity, "field"), Some("name" | "purl")))
    else {
        return;
    };
    let Some(number) = identity.get("confidence").and_then(Value::as_f64) else {
        findings.add("L8", &path, "the identity has no confidence");
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
        findings.add("L8", &child(&path, "confidence"), format!("{number} does not go with `{word}`"));
    }
}

/// L11.
fn order(document: &Value, findings: &mut Findings) {
    let mut sorted = |list: Option<&Value>, path: &str, by: &[&str]| {
        let Some(list) = list.and_then(Value::as_array) else { return };
        let keys: Vec<Vec<&str>> = list
            .iter()
            .map(|item| match item {
                Value::String(item) => vec![item.as_str()],
                item => by.iter().map(|member| text(item, member).unwrap_or_default()).collect(),
            })
            .collect();
        if let Some(at) = keys.windows(2).position(|pair| pair[0] > pair[1]) {
            findings.add("L11", &format!("{path}/{}", at + 1), "this comes before its predecessor");
        }
    };
    walk(document, "", &mut |value, path| {
        if !value.is_object() {
            return;
        }
        sorted(value.get("properties"), &child(path, "properties"), &["name", "value"]);
        sorted(value.get("occurrences"), &child(path, "occurrences"), &["location", "symbol", "additionalContext"]);
        sorted(value.get("dependsOn"), &child(path, "dependsOn"), &[]);
        sorted(value.get("assemblies"), &child(path, "assemblies"), &[]);
        sorted(value.get("components"), &child(path, "components"), &["type", "bom-ref"]);
    });
    sorted(document.get("services"), "/services", &["bom-ref"]);
    sorted(document.get("dependencies"), "/dependencies", &["ref"]);
}

/// L14.
fn round_trip(document: &Value, findings: &mut Findings) {
    walk(document, "", &mut |value, path| {
        let lost = match value {
            Value::Null => "a null",
            Value::Array(items) if items.is_empty() => "an empty list",
            Value::Object(members) if members.is_empty() => "an empty object",
            Value::String(value) if value.is_empty() => "an empty text",
            _ => return,
        };
        findings.add("L14", path, format!("{lost} is lost on a round trip"));
    });
    if document.pointer("/metadata/tools").is_some_and(Value::is_array) {
        findings.add("L14", "/metadata/tools", "the list form of tools is that of older versions");
    }
    for (component, path) in components(document) {
        if component.pointer("/evidence/identity").is_some_and(Value::is_object) {
            findings.add("L14", &format!("{path}/evidence/identity"), "a single identity is the form of older versions");
        }
    }
}
