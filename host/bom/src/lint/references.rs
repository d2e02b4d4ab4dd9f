//! L1, L2, L3, L12.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use super::{Findings, Node, Place, Value};

/// The references that exist.
#[derive(Default)]
pub(super) struct Known<'d>(HashSet<&'d str, RandomState>);

impl<'d> Known<'d> {
    /// L1.
    pub(super) fn visit(&mut self, node: Node<'d>, findings: &mut Findings) {
        let (Some("bom-ref"), Value::Text(reference)) = (node.name(), node.value()) else { return };
        if reference.is_empty() {
            findings.add("L1", &Place::of(node), "the bom-ref is empty");
        } else if reference.starts_with("urn:cdx:") {
            findings.add("L1", &Place::of(node), format!("`{reference}` has the form of a BOM-Link"));
        } else if !self.0.insert(reference) {
            findings.add("L1", &Place::of(node), format!("the bom-ref `{reference}` is there more than once"));
        }
    }
}

pub(super) fn check(document: Node<'_>, components: &[Node<'_>], known: &Known<'_>, findings: &mut Findings) {
    resolve(document, components, known, findings);
    listed(document, findings);
    incomplete(document, findings);
}

/// L2.
fn resolve(document: Node<'_>, components: &[Node<'_>], known: &Known<'_>, findings: &mut Findings) {
    let mut demand = |node: Node<'_>| {
        if let Some(reference) = node.as_str()
            && !known.0.contains(reference)
            && !reference.starts_with("urn:cdx:")
        {
            findings.add("L2", &Place::of(node), format!("nothing has the bom-ref `{reference}`"));
        }
    };
    for dependency in document.items("dependencies") {
        dependency.get("ref").into_iter().for_each(&mut demand);
        ["dependsOn", "provides"].into_iter().flat_map(|list| dependency.items(list)).for_each(&mut demand);
    }
    for composition in document.items("compositions") {
        ["assemblies", "dependencies"].into_iter().flat_map(|list| composition.items(list)).for_each(&mut demand);
    }
    document.items("citations").filter_map(|citation| citation.get("attributedTo")).for_each(&mut demand);
    for component in components {
        if let Some(evidence) = component.get("evidence") {
            evidence.items("identity").flat_map(|identity| identity.items("tools")).for_each(&mut demand);
        }
        if let Some(parameters) = component.down(&["modelCard", "modelParameters"]) {
            parameters.items("datasets").filter_map(|dataset| dataset.get("ref")).for_each(&mut demand);
        }
    }
}

/// L3.
fn listed(document: Node<'_>, findings: &mut Findings) {
    let mut times: HashMap<&str, usize, RandomState> = HashMap::default();
    for reference in document.items("dependencies").filter_map(|dependency| dependency.text("ref")) {
        *times.entry(reference).or_default() += 1;
    }
    let mut look = |node: Node<'_>| {
        let Some(reference) = node.text("bom-ref") else {
            findings.add("L3", &Place::of(node), "there is no bom-ref, so that `dependencies` cannot list it");
            return;
        };
        match times.get(reference).copied().unwrap_or_default() {
            1 => {}
            0 => findings.add("L3", &Place::of(node), format!("`{reference}` is not listed in `dependencies`")),
            many => findings.add("L3", &Place::of(node), format!("`{reference}` is listed {many} times in `dependencies`")),
        }
    };
    document.down(&["metadata", "component"]).into_iter().for_each(&mut look);
    ["components", "services"].into_iter().flat_map(|list| document.items(list)).for_each(&mut look);
}

/// L12.
fn incomplete(document: Node<'_>, findings: &mut Findings) {
    let root = document.down(&["metadata", "component", "bom-ref"]).and_then(Node::as_str);
    let said = document.items("compositions").any(|composition| {
        composition.text("aggregate") == Some("incomplete")
            && composition.items("assemblies").any(|reference| reference.as_str() == root && root.is_some())
    });
    if !said {
        findings.add("L12", &Place::at("/compositions"), "no composition says that the workload is incomplete");
    }
}
