//! Lines of a document's values, by pointer, so that a person can be sent to where a fact stands.
//!
//! Trees of objects know no lines: they would cost every scan what only an explanation needs. So the document is read a second time.

use std::fmt;

use aibom_facts::pointer::Pointer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// Lines of one document.
#[derive(Debug)]
pub struct Lines {
    root: Node,
    /// Lines of the input before the document.
    before: usize,
}

#[derive(Debug)]
struct Node {
    /// From 1, in the document.
    line: u64,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    Scalar,
    Items(Vec<Node>),
    Members(Vec<(String, Node)>),
}

impl Lines {
    /// Reads a document, YAML or JSON, that stands so many lines below the top of its input. None when it cannot be read.
    pub fn read(text: &str, before: usize) -> Option<Self> {
        let root = serde_saphyr::from_str_with_options::<Node>(text, super::documents::options(text)).ok()?;
        Some(Self { root, before })
    }

    /// The line of the input, from 1, in which the value at a pointer begins.
    pub fn line(&self, pointer: &Pointer) -> Option<usize> {
        let mut node = &self.root;
        for token in pointer.tokens() {
            node = match &node.inner {
                Inner::Scalar => return None,
                Inner::Items(items) => items.get(token.parse::<usize>().ok()?)?,
                // Of a key that is given twice the last counts.
                Inner::Members(members) => &members.iter().rev().find(|(key, _)| *key == token)?.1,
            };
        }
        usize::try_from(node.line).ok().filter(|line| *line > 0).map(|line| line + self.before)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Inner>::deserialize(deserializer)?;
        Ok(Self { line: spanned.referenced.line(), inner: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InnerVisitor)
    }
}

struct InnerVisitor;

impl<'de> Visitor<'de> for InnerVisitor {
    type Value = Inner;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON or YAML value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_unit<E>(self) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_none<E>(self) -> Result<Inner, E> {
        Ok(Inner::Scalar)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Inner, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Inner, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Inner::Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Inner, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Inner::Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(lines: &Lines, pointer: &str) -> Option<usize> {
        lines.line(&Pointer::parse(pointer).unwrap())
    }

    #[test]
    fn every_value_has_its_line() {
        let text =
            "--- # first\nkind: A\nspec:\n  args: [a,\n    b]\n  script: |\n    one\n    two\n  deep:\n  - name: x\n    'with/slash': y\n";
        let lines = Lines::read(text, 10).unwrap();
        for (pointer, expected) in
            [("/kind", 12), ("/spec/args/0", 14), ("/spec/args/1", 15), ("/spec/deep/0/name", 20), ("/spec/deep/0/with~1slash", 21)]
        {
            assert_eq!(line(&lines, pointer), Some(expected), "{pointer}");
        }
        assert!(line(&lines, "/spec/script").is_some_and(|line| line == 16 || line == 17), "{:?}", line(&lines, "/spec/script"));
        for nowhere in ["/spec/nothing", "/spec/args/2", "/kind/0", "/spec/args/x"] {
            assert_eq!(line(&lines, nowhere), None, "{nowhere}");
        }
    }

    #[test]
    fn json_has_lines_too() {
        let lines = Lines::read("{\n \"a\": [1,\n  {\"b\": null}]\n}\n", 0).unwrap();
        assert_eq!(line(&lines, "/a/1/b"), Some(3));
        assert_eq!(line(&lines, "/a/0"), Some(2));
    }

    #[test]
    fn what_is_no_document_has_no_lines() {
        assert!(Lines::read("a: [", 0).is_none());
    }
}
