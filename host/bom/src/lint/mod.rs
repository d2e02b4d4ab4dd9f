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
use serde_json::Value;

mod node;
mod occurrences;
mod place;
mod references;
mod shape;
mod text;

use node::Node;
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
pub fn lint(document: &Value) -> Vec<Violation> {
    lint_sized(document, MAX_BYTES)
}

/// Like [`lint`], for a sink that takes this many bytes.
pub fn lint_sized(document: &Value, max_bytes: usize) -> Vec<Violation> {
    let size = serde_json::to_string(document).map_or(usize::MAX, |text| text.len());
    check(&Node::from(document), size, max_bytes, None)
}

/// Like [`lint`], for the writer itself: what is checked are the bytes that leave. Names of members are constants there, and texts that
/// L9 is known to have nothing to say about pass it.
pub(crate) fn lint_written(document: &str, passed: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    match Node::parse(document) {
        Ok(node) => check(&node, document.len(), MAX_BYTES, Some(passed)),
        Err(error) => vec![Violation { rule: "L14", path: String::new(), message: format!("this is no JSON: {error}") }],
    }
}

fn check(document: &Node<'_>, size: usize, max_bytes: usize, passed: Option<&dyn Fn(&str) -> bool>) -> Vec<Violation> {
    let mut findings = Findings::default();
    let mut components = Vec::new();
    let mut known = references::Known::default();
    let mut texts = text::Texts::new(passed);
    walk(document, &Place::ROOT, &mut |node, place| {
        if matches!(node, Node::Members(_)) && place.is_component() {
            components.push((node, place.to_string()));
        }
        known.visit(node, place, &mut findings);
        texts.visit(node, place, &mut findings);
        shape::visit(node, place, &mut findings);
    });
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
pub fn lint_against(document: &Value, objects: &[(ObjectRef, &Tree)]) -> Vec<Violation> {
    let document = Node::from(document);
    let mut components = Vec::new();
    walk(&document, &Place::ROOT, &mut |node, place| {
        if matches!(node, Node::Members(_)) && place.is_component() {
            components.push((node, place.to_string()));
        }
    });
    let mut findings = Findings::default();
    occurrences::resolve(&components, objects, &mut findings);
    findings.sorted()
}

/// Components, nested ones, tools and ancestors included, with their pointers.
type Components<'d, 'a> = [(&'d Node<'a>, String)];

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

/// Calls `visit` with every value and its place, outermost first.
fn walk<'d, 'a>(node: &'d Node<'a>, place: &Place<'_>, visit: &mut dyn FnMut(&'d Node<'a>, &Place<'_>)) {
    visit(node, place);
    match node {
        Node::List(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(item, &place.item(i), visit);
            }
        }
        Node::Members(members) => {
            for (key, member) in members {
                walk(member, &place.member(key), visit);
            }
        }
        Node::Null | Node::Bool | Node::Number(_) | Node::Text(_) => {}
    }
}
