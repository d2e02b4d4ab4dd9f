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

mod places;
mod references;
mod shape;
mod text;

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
    check(document, size, max_bytes, &|_| false)
}

/// Like [`lint`], for the writer itself: it knows how many bytes a document has at most, and remembers texts that L9 has nothing to say
/// about.
pub(crate) fn lint_written(document: &Value, at_most: usize, passed: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    if at_most > MAX_BYTES { lint(document) } else { check(document, at_most, MAX_BYTES, passed) }
}

fn check(document: &Value, size: usize, max_bytes: usize, passed: &dyn Fn(&str) -> bool) -> Vec<Violation> {
    let mut findings = Findings::default();
    let components = components(document);
    references::check(document, &components, &mut findings);
    text::check(document, &components, (size, max_bytes), passed, &mut findings);
    shape::check(document, &components, &mut findings);
    places::check(&components, &mut findings);
    findings.sorted()
}

/// The whole of rule L7: occurrences whose pointer does not resolve in the object that they name. Occurrences of objects that are not
/// given, and those of which the filter took something, are left out.
pub fn lint_against(document: &Value, objects: &[(ObjectRef, &Tree)]) -> Vec<Violation> {
    let mut findings = Findings::default();
    places::resolve(&components(document), objects, &mut findings);
    findings.sorted()
}

/// Components with their pointers.
type Components<'a> = [(&'a Value, String)];

#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    fn add(&mut self, rule: &'static str, path: &str, message: impl Into<String>) {
        self.0.push(Violation { rule, path: path.to_owned(), message: message.into() });
    }

    fn sorted(mut self) -> Vec<Violation> {
        let number = |rule: &str| rule[1..].parse::<u8>().unwrap_or(u8::MAX);
        self.0.sort_by(|a, b| (number(a.rule), a).cmp(&(number(b.rule), b)));
        self.0.dedup();
        self.0
    }
}

/// A place in the document, built while walking. Written out only where something is found.
#[derive(Clone, Copy)]
struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    token: Token<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    Root,
    Member(&'p str),
    Item(usize),
}

impl Path<'_> {
    const ROOT: Self = Path { parent: None, token: Token::Root };

    /// Whether this is an item of a list of components, or the workload.
    fn is_component(&self) -> bool {
        let parent = self.parent.map(|parent| parent.token);
        match self.token {
            Token::Item(_) => matches!(parent, Some(Token::Member("components" | "ancestors"))),
            Token::Member("component") => {
                parent == Some(Token::Member("metadata"))
                    && self.parent.and_then(|parent| parent.parent).is_some_and(|root| root.parent.is_none())
            }
            Token::Member(_) | Token::Root => false,
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.token {
            Token::Root => Ok(()),
            Token::Member(key) => f.write_str(&child("", key)),
            Token::Item(index) => write!(f, "/{index}"),
        }
    }
}

/// Calls `visit` with every value and its place, outermost first.
fn walk<'a>(value: &'a Value, path: &Path<'_>, visit: &mut dyn FnMut(&'a Value, &Path<'_>)) {
    visit(value, path);
    match value {
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(item, &Path { parent: Some(path), token: Token::Item(i) }, visit);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                walk(member, &Path { parent: Some(path), token: Token::Member(key) }, visit);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn child(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Items of a list member with their pointers; nothing when there is no list.
fn items<'a>(value: &'a Value, path: &str, key: &str) -> impl Iterator<Item = (&'a Value, String)> {
    let path = child(path, key);
    value.get(key).and_then(Value::as_array).into_iter().flatten().enumerate().map(move |(i, item)| (item, format!("{path}/{i}")))
}

/// Text members.
fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Every component, nested ones, tools and ancestors included, with its pointer.
fn components(document: &Value) -> Vec<(&Value, String)> {
    let mut found = Vec::new();
    walk(document, &Path::ROOT, &mut |value, path| {
        if value.is_object() && path.is_component() {
            found.push((value, path.to_string()));
        }
    });
    found
}
