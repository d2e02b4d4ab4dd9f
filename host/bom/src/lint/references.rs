//! L1, L2, L3, L12.

use std::collections::{HashMap, HashSet};

use super::{Components, Findings, Node, Place};

/// The references that exist.
#[derive(Default)]
pub(super) struct Known<'d>(HashSet<&'d str>);

impl<'d> Known<'d> {
    /// L1.
    pub(super) fn visit(&mut self, node: &'d Node<'_>, place: &Place<'_>, findings: &mut Findings) {
        let Some(reference) = node.text("bom-ref") else { return };
        let place = place.member("bom-ref");
        if reference.is_empty() {
            findings.add("L1", &place, "the bom-ref is empty");
        } else if reference.starts_with("urn:cdx:") {
            findings.add("L1", &place, format!("`{reference}` has the form of a BOM-Link"));
        } else if !self.0.insert(reference) {
            findings.add("L1", &place, format!("the bom-ref `{reference}` is there more than once"));
        }
    }
}

pub(super) fn check(document: &Node<'_>, components: &Components<'_, '_>, known: &Known<'_>, findings: &mut Findings) {
    resolve(document, components, known, findings);
    listed(document, findings);
    incomplete(document, findings);
}

/// L2.
fn resolve(document: &Node<'_>, components: &Components<'_, '_>, known: &Known<'_>, findings: &mut Findings) {
    let mut demand = |value: Option<&Node<'_>>, place: &Place<'_>| {
        if let Some(reference) = value.and_then(Node::as_str)
            && !known.0.contains(reference)
            && !reference.starts_with("urn:cdx:")
        {
            findings.add("L2", place, format!("nothing has the bom-ref `{reference}`"));
        }
    };
    let here = Place::ROOT.member("dependencies");
    for (i, dependency) in document.items("dependencies") {
        let here = here.item(i);
        demand(dependency.get("ref"), &here.member("ref"));
        for list in ["dependsOn", "provides"] {
            let here = here.member(list);
            dependency.items(list).for_each(|(i, reference)| demand(Some(reference), &here.item(i)));
        }
    }
    let here = Place::ROOT.member("compositions");
    for (i, composition) in document.items("compositions") {
        let here = here.item(i);
        for list in ["assemblies", "dependencies"] {
            let here = here.member(list);
            composition.items(list).for_each(|(i, reference)| demand(Some(reference), &here.item(i)));
        }
    }
    let here = Place::ROOT.member("citations");
    for (i, citation) in document.items("citations") {
        demand(citation.get("attributedTo"), &here.item(i).member("attributedTo"));
    }
    for (component, path) in components {
        let here = Place::at(path);
        if let Some(evidence) = component.get("evidence") {
            let here = here.member("evidence");
            let here = here.member("identity");
            for (i, identity) in evidence.items("identity") {
                let here = here.item(i);
                let here = here.member("tools");
                identity.items("tools").for_each(|(i, tool)| demand(Some(tool), &here.item(i)));
            }
        }
        if let Some(parameters) = component.down(&["modelCard", "modelParameters"]) {
            let here = here.member("modelCard");
            let here = here.member("modelParameters");
            let here = here.member("datasets");
            parameters.items("datasets").for_each(|(i, dataset)| demand(dataset.get("ref"), &here.item(i).member("ref")));
        }
    }
}

/// L3.
fn listed(document: &Node<'_>, findings: &mut Findings) {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for reference in document.items("dependencies").filter_map(|(_, dependency)| dependency.text("ref")) {
        *times.entry(reference).or_default() += 1;
    }
    let mut look = |node: &Node<'_>, place: &Place<'_>| {
        let Some(reference) = node.text("bom-ref") else {
            findings.add("L3", place, "there is no bom-ref, so that `dependencies` cannot list it");
            return;
        };
        match times.get(reference).copied().unwrap_or_default() {
            1 => {}
            0 => findings.add("L3", place, format!("`{reference}` is not listed in `dependencies`")),
            many => findings.add("L3", place, format!("`{reference}` is listed {many} times in `dependencies`")),
        }
    };
    if let Some(root) = document.down(&["metadata", "component"]) {
        look(root, &Place::at("/metadata/component"));
    }
    for list in ["components", "services"] {
        let here = Place::ROOT.member(list);
        document.items(list).for_each(|(i, item)| look(item, &here.item(i)));
    }
}

/// L12.
fn incomplete(document: &Node<'_>, findings: &mut Findings) {
    let root = document.down(&["metadata", "component", "bom-ref"]).and_then(Node::as_str);
    let said = document.items("compositions").any(|(_, composition)| {
        composition.text("aggregate") == Some("incomplete")
            && composition.items("assemblies").any(|(_, reference)| reference.as_str() == root && root.is_some())
    });
    if !said {
        findings.add("L12", &Place::at("/compositions"), "no composition says that the workload is incomplete");
    }
}
