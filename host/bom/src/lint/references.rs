//! L1, L2, L3, L12.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Components, Findings, Path, child, items, text, walk};

pub(super) fn check(document: &Value, components: &Components<'_>, findings: &mut Findings) {
    let known = unique(document, findings);
    resolve(document, components, &known, findings);
    listed(document, findings);
    incomplete(document, findings);
}

/// L1. Gives the references that exist.
fn unique<'a>(document: &'a Value, findings: &mut Findings) -> BTreeSet<&'a str> {
    let mut known = BTreeSet::new();
    walk(document, &Path::ROOT, &mut |value, path| {
        let Some(reference) = text(value, "bom-ref") else { return };
        let at = || format!("{path}/bom-ref");
        if reference.is_empty() {
            findings.add("L1", &at(), "the bom-ref is empty");
        } else if reference.starts_with("urn:cdx:") {
            findings.add("L1", &at(), format!("`{reference}` has the form of a BOM-Link"));
        } else if !known.insert(reference) {
            findings.add("L1", &at(), format!("the bom-ref `{reference}` is there more than once"));
        }
    });
    known
}

/// L2.
fn resolve(document: &Value, components: &Components<'_>, known: &BTreeSet<&str>, findings: &mut Findings) {
    let mut demand = |value: Option<&Value>, path: &str| {
        if let Some(reference) = value.and_then(Value::as_str)
            && !known.contains(reference)
            && !reference.starts_with("urn:cdx:")
        {
            findings.add("L2", path, format!("nothing has the bom-ref `{reference}`"));
        }
    };
    for (dependency, path) in items(document, "", "dependencies") {
        demand(dependency.get("ref"), &child(&path, "ref"));
        for list in ["dependsOn", "provides"] {
            for (reference, path) in items(dependency, &path, list) {
                demand(Some(reference), &path);
            }
        }
    }
    for (composition, path) in items(document, "", "compositions") {
        for list in ["assemblies", "dependencies"] {
            for (reference, path) in items(composition, &path, list) {
                demand(Some(reference), &path);
            }
        }
    }
    for (citation, path) in items(document, "", "citations") {
        demand(citation.get("attributedTo"), &child(&path, "attributedTo"));
    }
    for (component, path) in components {
        if let Some(evidence) = component.get("evidence") {
            for (identity, path) in items(evidence, &format!("{path}/evidence"), "identity") {
                for (tool, path) in items(identity, &path, "tools") {
                    demand(Some(tool), &path);
                }
            }
        }
        if let Some(parameters) = component.pointer("/modelCard/modelParameters") {
            for (dataset, path) in items(parameters, &format!("{path}/modelCard/modelParameters"), "datasets") {
                demand(dataset.get("ref"), &child(&path, "ref"));
            }
        }
    }
}

/// L3.
fn listed(document: &Value, findings: &mut Findings) {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for (dependency, _) in items(document, "", "dependencies") {
        if let Some(reference) = text(dependency, "ref") {
            *times.entry(reference).or_default() += 1;
        }
    }
    let root = document.pointer("/metadata/component").map(|root| (root, "/metadata/component".to_owned()));
    for (value, path) in root.into_iter().chain(items(document, "", "components")).chain(items(document, "", "services")) {
        let Some(reference) = text(value, "bom-ref") else {
            findings.add("L3", &path, "there is no bom-ref, so that `dependencies` cannot list it");
            continue;
        };
        match times.get(reference).copied().unwrap_or_default() {
            1 => {}
            0 => findings.add("L3", &path, format!("`{reference}` is not listed in `dependencies`")),
            many => findings.add("L3", &path, format!("`{reference}` is listed {many} times in `dependencies`")),
        }
    }
}

/// L12.
fn incomplete(document: &Value, findings: &mut Findings) {
    let root = document.pointer("/metadata/component/bom-ref").and_then(Value::as_str);
    let said = items(document, "", "compositions").any(|(composition, path)| {
        text(composition, "aggregate") == Some("incomplete")
            && items(composition, &path, "assemblies").any(|(reference, _)| reference.as_str() == root && root.is_some())
    });
    if !said {
        findings.add("L12", "/compositions", "no composition says that the workload is incomplete");
    }
}
