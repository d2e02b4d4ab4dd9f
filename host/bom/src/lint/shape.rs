//! L6, L8, L11, L14.

use serde_json::Value;

use super::{Components, Findings, Path, child, items, text, walk};
use crate::evidence::{DECLARED_FROM, INFERRED_CAP, UNRESOLVED_CAP};

pub(super) fn check(document: &Value, components: &Components<'_>, findings: &mut Findings) {
    for (component, path) in components {
        let component_type = text(component, "type").unwrap_or_default();
        for (member, only_on) in [("modelCard", "machine-learning-model"), ("data", "data")] {
            if component.get(member).is_some() && component_type != only_on {
                findings.add("L6", &child(path, member), format!("`{member}` stands on a component of type `{component_type}`"));
            }
        }
        confidence(component, path, findings);
    }
    order(document, findings);
    round_trip(document, components, findings);
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

/// Lists that are sorted wherever they stand, and by what. Lists of texts are sorted by themselves.
const LISTS: [(&str, &[&str]); 5] = [
    ("properties", &["name", "value"]),
    ("occurrences", &["location", "symbol", "additionalContext"]),
    ("dependsOn", &[]),
    ("assemblies", &[]),
    ("components", &["type", "bom-ref"]),
];

/// L11.
fn order(document: &Value, findings: &mut Findings) {
    let mut sorted = |list: Option<&Value>, path: &dyn Fn() -> String, by: &[&str]| {
        let Some(list) = list.and_then(Value::as_array) else { return };
        let before = |a: &Value, b: &Value| match (a, b) {
            (Value::String(a), Value::String(b)) => a <= b,
            _ => by.iter().map(|member| text(a, member)).le(by.iter().map(|member| text(b, member))),
        };
        if let Some(at) = list.windows(2).position(|pair| !before(&pair[0], &pair[1])) {
            findings.add("L11", &format!("{}/{}", path(), at + 1), "this comes before its predecessor");
        }
    };
    walk(document, &Path::ROOT, &mut |value, path| {
        for (list, by) in LISTS {
            sorted(value.get(list), &|| format!("{path}/{list}"), by);
        }
    });
    sorted(document.get("services"), &|| "/services".to_owned(), &["bom-ref"]);
    sorted(document.get("dependencies"), &|| "/dependencies".to_owned(), &["ref"]);
}

/// L14.
fn round_trip(document: &Value, components: &Components<'_>, findings: &mut Findings) {
    walk(document, &Path::ROOT, &mut |value, path| {
        let lost = match value {
            Value::Null => "a null",
            Value::Array(items) if items.is_empty() => "an empty list",
            Value::Object(members) if members.is_empty() => "an empty object",
            Value::String(value) if value.is_empty() => "an empty text",
            _ => return,
        };
        findings.add("L14", &path.to_string(), format!("{lost} is lost on a round trip"));
    });
    if document.pointer("/metadata/tools").is_some_and(Value::is_array) {
        findings.add("L14", "/metadata/tools", "the list form of tools is that of older versions");
    }
    for (component, path) in components {
        if component.pointer("/evidence/identity").is_some_and(Value::is_object) {
            findings.add("L14", &format!("{path}/evidence/identity"), "a single identity is the form of older versions");
        }
    }
}
