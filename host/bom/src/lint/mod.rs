//! What the official schemas do not check.
//!
//! | Rule | Demands |
//! |---|---|
//! | L1 | bom-refs are unique, not empty, and no BOM-Links |
//! | L2 | every reference resolves: dependencies, compositions, tools of evidence, datasets, citations |
//! | L3 | the workload, every component and every service is listed in `dependencies` exactly once |
//! | L4 | purls parse, are in canonical form and of a type that consumers know |
//! | L5 | names are not empty and at most 1,024 characters |
//! | L6 | `modelCard` only on models, `data` only on data |
//! | L7 | occurrences end in a JSON pointer; [`lint_against`] also resolves it |
//! | L8 | confidence numbers agree with the confidence word |
//! | L9 | no control or other hidden characters and no secrets in any text, names of members included |
//! | L10 | URLs are IRI references without user information |
//! | L11 | components, services, dependencies, properties and occurrences are sorted |
//! | L12 | a composition says that the workload is incomplete |
//! | L13 | the workload's version is free of `@`, `?` and `#` |
//! | L14 | nothing that readers lose or refuse on a round trip: nulls, empty members, forms of older versions |
//! | L15 | the document fits into the sinks |

use std::fmt;

use aibom_facts::object::ObjectRef;
use aibom_facts::tree::Tree;
use serde_json::Value as Json;

mod node;
mod occurrences;
mod place;
mod references;
mod shape;
mod text;

use node::{Node, Value, Values};
use place::Place;

#[cfg(test)]
mod tests;

/// Most bytes of a document: its base64 form stays below the 20,000,000 characters that the strictest known sink takes.
pub const MAX_BYTES: usize = 15_000_000;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// `L1` to `L15`.
    pub rule: &'static str,
    /// JSON pointer into the document.
    pub path: String,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {}", self.rule, if self.path.is_empty() { "the document" } else { &self.path }, self.message)
    }
}

/// Checks a document. Sorted by rule and place; empty when nothing is wrong.
pub fn lint(document: &Json) -> Vec<Violation> {
    lint_sized(document, MAX_BYTES)
}

/// Like [`lint`], for a sink that takes this many bytes.
pub fn lint_sized(document: &Json, max_bytes: usize) -> Vec<Violation> {
    let size = serde_json::to_string(document).map_or(usize::MAX, |text| text.len());
    check(&Values::from(document), size, max_bytes, None)
}

/// Like [`lint`], for the writer itself: what is checked are the bytes that leave. Names of members are constants there, and texts that
/// L9 is known to have nothing to say about pass it.
pub(crate) fn lint_written(document: &str, passed: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    match Values::parse(document) {
        Ok(values) => check(&values, document.len(), MAX_BYTES, Some(passed)),
        Err(error) => vec![Violation { rule: "L14", path: String::new(), message: format!("this is no JSON: {error}") }],
    }
}

fn check(values: &Values<'_>, size: usize, max_bytes: usize, passed: Option<&dyn Fn(&str) -> bool>) -> Vec<Violation> {
    let mut findings = Findings::default();
    let mut components = Vec::new();
    let mut known = references::Known::default();
    let mut texts = text::Texts::new(passed);
    for node in values.iter() {
        if is_component(node) {
            components.push(node);
        }
        known.visit(node, &mut findings);
        texts.visit(node, &mut findings);
        shape::visit(node, &mut findings);
    }
    let document = values.root();
    references::check(document, &components, &known, &mut findings);
    text::check(document, &components, &mut findings);
    shape::check(document, &components, &mut findings);
    occurrences::check(&components, &mut findings);
    if size > max_bytes {
        findings.add("L15", &Place::ROOT, format!("{size} bytes are more than the {max_bytes} that the sink takes"));
    }
    findings.sorted()
}

/// The whole of rule L7: occurrences whose pointer does not resolve in the object that they name. Occurrences of objects that are not
/// given, and those of which the filter took something, are left out.
pub fn lint_against(document: &Json, objects: &[(ObjectRef, &Tree)]) -> Vec<Violation> {
    let values = Values::from(document);
    let components: Vec<Node<'_>> = values.iter().filter(|node| is_component(*node)).collect();
    let mut findings = Findings::default();
    occurrences::resolve(&components, objects, &mut findings);
    findings.sorted()
}

/// Whether this is an object in a list of components, nested ones, tools and ancestors included, or the workload.
fn is_component(node: Node<'_>) -> bool {
    let within = |node: Node<'_>, name: &str| node.parent().is_some_and(|parent| parent.name() == Some(name));
    *node.value() == Value::Members
        && match node.name() {
            None => within(node, "components") || within(node, "ancestors"),
            Some("component") => {
                let outside = node.parent().and_then(Node::parent);
                within(node, "metadata") && outside.is_some_and(|outside| outside.parent().is_none())
            }
            Some(_) => false,
        }
}

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: &'static str, place: &Place<'_>, message: impl Into<String>) {
        self.0.push(Violation { rule, path: place.to_string(), message: message.into() });
    }

    fn sorted(mut self) -> Vec<Violation> {
        let number = |rule: &str| rule[1..].parse::<u8>().unwrap_or(u8::MAX);
        self.0.sort_by(|a, b| (number(a.rule), a).cmp(&(number(b.rule), b)));
        self.0.dedup();
        self.0
    }
}
