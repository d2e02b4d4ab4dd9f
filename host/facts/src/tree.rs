//! An object as an arena of nodes.
//!
//! A tree is read once, never changed and then pointed into: by scrapers through handles, by grounding, by extraction. Nodes refer to
//! their parent and next sibling by index and all text lives in one buffer, so a handle is four bytes, a pointer is written only when
//! somebody asks for it, and dropping an object frees two allocations.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::pointer::{self, Pointer, PointerText};

mod read;
mod yaml;

/// Deepest nesting that is read. The API server's own JSON decoder stops at 10,000; no real object passes 40.
pub const MAX_DEPTH: usize = 128;
/// Most nodes of one object. An object of the 1.5 MiB that etcd takes has at most about 400,000.
pub const MAX_NODES: usize = 2_000_000;

const NONE: u32 = 0; // the root is nobody's sibling and nobody's child

/// A node of one [`Tree`]; meaningless with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The index in the arena, for hosts that hand out handles.
    pub fn index(self) -> u32 {
        self.0
    }
}

/// JSON type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number. An integer keeps its value, in decimal; a fraction only what a double of 64 bits holds (`1.10` is `1.1`), because the
    /// readers of JSON and YAML do not hand over how it was written.
    Number,
    /// A string.
    Text,
    /// A list.
    Array,
    /// A map.
    Object,
}

#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Null,
    Boolean(bool),
    Number(Span),
    Text(Span),
    Array { first: u32 },
    Object { first: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    next: u32,
    /// Span of the member key, or the element index in `start`.
    key: Span,
    value: Value,
}

/// An object. See the module.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    text: String,
}

/// What a view of an object leaves in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Visibility {
    /// Keep the root's `status`.
    pub status: bool,
}

/// Annotations under this prefix are users' declarations to this project. All others stay out of every view: operators keep copies of
/// whole specs there, literal env values included.
pub const ANNOTATION_PREFIX: &str = "aibom.k8saibom.dev/";

impl Tree {
    /// Reads an object from JSON.
    ///
    /// # Errors
    /// Syntax errors with line and column, nesting over [`MAX_DEPTH`], more than [`MAX_NODES`] nodes, a key given twice.
    pub fn from_json(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }

    /// The whole object.
    #[allow(clippy::unused_self)]
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The node with this arena index, if there is one.
    pub fn node(&self, index: u32) -> Option<NodeId> {
        ((index as usize) < self.nodes.len()).then_some(NodeId(index))
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never: a tree has at least its root.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    fn at_id(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    fn span(&self, span: Span) -> &str {
        &self.text[span.start as usize..(span.start + span.len) as usize]
    }

    /// JSON type of a node.
    pub fn kind(&self, id: NodeId) -> Kind {
        match self.at_id(id).value {
            Value::Null => Kind::Null,
            Value::Boolean(_) => Kind::Boolean,
            Value::Number(_) => Kind::Number,
            Value::Text(_) => Kind::Text,
            Value::Array { .. } => Kind::Array,
            Value::Object { .. } => Kind::Object,
        }
    }

    /// Whether the node is `null`.
    pub fn is_null(&self, id: NodeId) -> bool {
        matches!(self.at_id(id).value, Value::Null)
    }

    /// Members of an object or elements of an array, in order; nothing for other nodes.
    pub fn children(&self, id: NodeId) -> Children<'_> {
        let first = match self.at_id(id).value {
            Value::Array { first } | Value::Object { first } => first,
            _ => NONE,
        };
        Children { tree: self, next: first }
    }

    /// Members of an object with their keys, in order; nothing for other nodes.
    pub fn members(&self, id: NodeId) -> impl Iterator<Item = (&str, NodeId)> {
        let members = if self.kind(id) == Kind::Object { self.children(id) } else { Children { tree: self, next: NONE } };
        members.map(|child| (self.span(self.at_id(child).key), child))
    }

    /// Elements of an array, in order; nothing for other nodes.
    pub fn items(&self, id: NodeId) -> Children<'_> {
        if self.kind(id) == Kind::Array { self.children(id) } else { Children { tree: self, next: NONE } }
    }

    /// Member of an object by key, `null` ones included.
    pub fn member(&self, id: NodeId, key: &str) -> Option<NodeId> {
        self.members(id).find(|(name, _)| *name == key).map(|(_, child)| child)
    }

    /// Member of an object by key; none when absent, `null`, or when this is no object.
    pub fn get(&self, id: NodeId, key: &str) -> Option<NodeId> {
        self.member(id, key).filter(|child| !self.is_null(*child))
    }

    fn step(&self, id: NodeId, token: &str) -> Option<NodeId> {
        match self.kind(id) {
            Kind::Object => self.member(id, token),
            Kind::Array => {
                // RFC 6901: digits without leading zeros.
                if token.is_empty() || (token.len() > 1 && token.starts_with('0')) || !token.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                self.items(id).nth(token.parse().ok()?)
            }
            _ => None,
        }
    }

    /// Descendant by an RFC 6901 pointer relative to the node, `null` ones included; none when absent or when the text is no pointer.
    pub fn resolve(&self, id: NodeId, pointer: &str) -> Option<NodeId> {
        if !pointer::is_valid(pointer) {
            return None;
        }
        pointer::tokens(pointer).try_fold(id, |node, token| self.step(node, &token))
    }

    /// Like [`Tree::resolve`], and none for `null`.
    pub fn at(&self, id: NodeId, pointer: &str) -> Option<NodeId> {
        self.resolve(id, pointer).filter(|node| !self.is_null(*node))
    }

    /// Descendants by a pointer in which `*` stands for every member or element, in object order; `null` ones are left out. At most
    /// `limit` nodes are returned.
    pub fn select(&self, id: NodeId, pattern: &str, limit: usize) -> Vec<NodeId> {
        let mut found = Vec::new();
        if pointer::is_valid(pattern) {
            let tokens: Vec<_> = pointer::tokens(pattern).collect();
            self.select_into(id, &tokens, limit, &mut found);
        }
        found
    }

    fn select_into(&self, id: NodeId, tokens: &[std::borrow::Cow<'_, str>], limit: usize, found: &mut Vec<NodeId>) {
        match tokens.split_first() {
            _ if found.len() >= limit => {}
            None => {
                if !self.is_null(id) {
                    found.push(id);
                }
            }
            Some((token, rest)) if token == "*" => {
                for child in self.children(id) {
                    self.select_into(child, rest, limit, found);
                }
            }
            Some((token, rest)) => {
                if let Some(child) = self.step(id, token) {
                    self.select_into(child, rest, limit, found);
                }
            }
        }
    }

    /// First element of a list whose member `key` is the text `value`.
    pub fn find(&self, id: NodeId, key: &str, value: &str) -> Option<NodeId> {
        self.items(id).find(|item| self.get(*item, key).and_then(|node| self.text(node)) == Some(value))
    }

    /// The value of a text node.
    pub fn text(&self, id: NodeId) -> Option<&str> {
        match self.at_id(id).value {
            Value::Text(span) => Some(self.span(span)),
            _ => None,
        }
    }

    /// The value of a text, integer or boolean node, as text: what stands where a text belongs and was not put in quotes.
    ///
    /// None for a fraction (and for an integer past 64 bits, which is read as one): its text is lost, see [`Kind::Number`]. A tag
    /// `1.10` would become `1.1`, which is another image. An API server refuses numbers where texts belong, so this costs nothing in a
    /// cluster; [`Tree::json`] still writes the value.
    pub fn scalar(&self, id: NodeId) -> Option<&str> {
        match self.at_id(id).value {
            Value::Text(span) => Some(self.span(span)),
            Value::Number(span) => Some(self.span(span)).filter(|text| !text.contains(['.', 'e', 'E'])),
            Value::Boolean(true) => Some("true"),
            Value::Boolean(false) => Some("false"),
            _ => None,
        }
    }

    /// The value of a text, number or boolean node, as text. Of a fraction it is the value and not what was written (`1.10` is `1.1`):
    /// good for quantities and settings, not for names. See [`Tree::scalar`].
    pub fn value(&self, id: NodeId) -> Option<&str> {
        match self.at_id(id).value {
            Value::Number(span) => Some(self.span(span)),
            _ => self.scalar(id),
        }
    }

    /// The value of a number node that is an integer of 64 bits.
    pub fn integer(&self, id: NodeId) -> Option<i64> {
        match self.at_id(id).value {
            Value::Number(span) => {
                let text = self.span(span);
                // 1.0 and 1e3 are integers in JSON's eyes; so are they in Kubernetes' decoder.
                text.parse().ok().or_else(|| {
                    let number: f64 = text.parse().ok()?;
                    #[allow(clippy::cast_possible_truncation)]
                    (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
                })
            }
            _ => None,
        }
    }

    /// The value of a boolean node.
    pub fn boolean(&self, id: NodeId) -> Option<bool> {
        match self.at_id(id).value {
            Value::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// Where a node stands.
    pub fn pointer(&self, id: NodeId) -> Pointer {
        self.pointer_below(self.root(), "", id)
    }

    /// Where a node stands, when the pointer to something that holds it is known: cheaper where many nodes of one list are asked for.
    pub fn pointer_in(&self, outer: NodeId, known: &Pointer, id: NodeId) -> Pointer {
        self.pointer_below(outer, known.as_str(), id)
    }

    fn pointer_below(&self, outer: NodeId, known: &str, id: NodeId) -> Pointer {
        let mut chain = [0; MAX_DEPTH + 1];
        let mut depth = 0;
        let mut length = known.len();
        let mut current = id.0;
        while current != outer.0 && current != 0 {
            let node = &self.nodes[current as usize];
            chain[depth] = current;
            depth += 1;
            // An element's index has seldom more digits.
            length += 1 + node.key.len.max(2) as usize;
            current = node.parent;
        }
        let mut text = PointerText::with_capacity(length);
        if current == outer.0 {
            text.start(known);
        }
        for index in chain[..depth].iter().rev() {
            let node = &self.nodes[*index as usize];
            if matches!(self.nodes[node.parent as usize].value, Value::Array { .. }) {
                text.push_index(node.key.start);
            } else {
                text.push(self.span(node.key));
            }
        }
        text.into()
    }

    /// Compact JSON of a node, members in the order in which they were read.
    pub fn json(&self, id: NodeId) -> String {
        let mut out = String::new();
        let _ = self.write_json(id, &mut out);
        out
    }

    fn write_json(&self, id: NodeId, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.at_id(id).value {
            Value::Null => out.write_str("null"),
            Value::Boolean(value) => out.write_str(if value { "true" } else { "false" }),
            Value::Number(span) => out.write_str(self.span(span)),
            Value::Text(span) => write_json_string(self.span(span), out),
            Value::Array { .. } => {
                out.write_char('[')?;
                for (i, item) in self.items(id).enumerate() {
                    if i > 0 {
                        out.write_char(',')?;
                    }
                    self.write_json(item, out)?;
                }
                out.write_char(']')
            }
            Value::Object { .. } => {
                out.write_char('{')?;
                for (i, (key, member)) in self.members(id).enumerate() {
                    if i > 0 {
                        out.write_char(',')?;
                    }
                    write_json_string(key, out)?;
                    out.write_char(':')?;
                    self.write_json(member, out)?;
                }
                out.write_char('}')
            }
        }
    }

    /// SHA-256 over the compact JSON of the whole tree. Equal for equal views, so a scraper need not be called again.
    pub fn sha256(&self) -> [u8; 32] {
        struct Hash(Sha256);
        impl fmt::Write for Hash {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.update(text.as_bytes());
                Ok(())
            }
        }
        let mut hash = Hash(Sha256::new());
        let _ = self.write_json(self.root(), &mut hash);
        hash.0.finalize().into()
    }

    /// The part of an object that a scraper may see: no `managedFields`, no annotations but those under [`ANNOTATION_PREFIX`] (at the
    /// root and in every pod template), and `status` only on request. Pointers in the view are pointers in the object.
    #[must_use]
    pub fn view(&self, object: NodeId, visibility: Visibility) -> Self {
        let mut builder = Builder::default();
        if object == self.root() {
            builder.nodes.reserve_exact(self.nodes.len());
            builder.text.reserve_exact(self.text.len());
        }
        self.copy(object, Zone::Root, visibility, &mut builder, 0, Span { start: 0, len: 0 });
        Self { nodes: builder.nodes, text: builder.text }
    }

    fn copy(&self, from: NodeId, zone: Zone, visibility: Visibility, to: &mut Builder, parent: u32, key: Span) -> u32 {
        let own = to.push(parent, key, Value::Null);
        let value = match self.at_id(from).value {
            Value::Null => Value::Null,
            Value::Boolean(value) => Value::Boolean(value),
            Value::Number(span) => Value::Number(to.intern(self.span(span))),
            Value::Text(span) => Value::Text(to.intern(self.span(span))),
            Value::Array { .. } => {
                let mut chain = Chain::default();
                for (i, item) in self.items(from).enumerate() {
                    let child = self.copy(item, Zone::Inner, visibility, to, own, Span { start: i as u32, len: 0 });
                    chain.add(child, to);
                }
                Value::Array { first: chain.first }
            }
            Value::Object { .. } => {
                let mut chain = Chain::default();
                for (name, member) in self.members(from) {
                    let Some(inner) = zone.enter(name, visibility) else { continue };
                    // With none that is seen they are as good as none: that a tool notes its first one changes no view.
                    if inner == Zone::Annotations && self.kind(member) == Kind::Object && !self.members(member).any(|(key, _)| is_seen(key))
                    {
                        continue;
                    }
                    let key = to.intern(name);
                    let child = self.copy(member, inner, visibility, to, own, key);
                    chain.add(child, to);
                }
                Value::Object { first: chain.first }
            }
        };
        to.nodes[own as usize].value = value;
        own
    }
}

/// Where in an object a copy stands, as far as visibility depends on it.
#[derive(Clone, Copy, PartialEq)]
enum Zone {
    Root,
    Metadata,
    Annotations,
    Inner,
}

impl Zone {
    /// The zone of a member, or none when it is left out of the view.
    fn enter(self, key: &str, visibility: Visibility) -> Option<Self> {
        match (self, key) {
            (Self::Root, "status") if !visibility.status => None,
            (Self::Root | Self::Inner, "metadata") => Some(Self::Metadata),
            // Versions that change with every write, whatever was written: with them no view would ever be seen twice.
            (Self::Metadata, "managedFields" | "resourceVersion" | "generation") => None,
            (Self::Metadata, "annotations") => Some(Self::Annotations),
            (Self::Annotations, key) if !is_seen(key) => None,
            _ => Some(Self::Inner),
        }
    }
}

/// Whether a scraper may see an annotation.
fn is_seen(annotation: &str) -> bool {
    annotation.starts_with(ANNOTATION_PREFIX)
}

/// Iterator over sibling nodes.
#[derive(Clone)]
pub struct Children<'a> {
    tree: &'a Tree,
    next: u32,
}

impl Iterator for Children<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        if self.next == NONE {
            return None;
        }
        let id = NodeId(self.next);
        self.next = self.tree.at_id(id).next;
        Some(id)
    }
}

fn write_json_string(text: &str, out: &mut dyn fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        out.write_str(&text[plain..i])?;
        plain = i + 1;
        if escape.is_empty() { write!(out, "\\u{byte:04x}")? } else { out.write_str(escape)? }
    }
    out.write_str(&text[plain..])?;
    out.write_char('"')
}

#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    text: String,
}

/// Links siblings as they are built.
#[derive(Default)]
struct Chain {
    first: u32,
    last: u32,
}

impl Chain {
    fn add(&mut self, child: u32, builder: &mut Builder) {
        if self.first == NONE {
            self.first = child;
        } else {
            builder.nodes[self.last as usize].next = child;
        }
        self.last = child;
    }

    /// Keys of the children so far.
    fn keys<'b>(&self, builder: &'b Builder) -> impl Iterator<Item = Span> + 'b {
        let node = |index: u32| (index != NONE).then(|| &builder.nodes[index as usize]);
        std::iter::successors(node(self.first), move |child| node(child.next)).map(|child| child.key)
    }
}

impl Builder {
    fn intern(&mut self, text: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        Span { start, len: text.len() as u32 }
    }

    fn push(&mut self, parent: u32, key: Span, value: Value) -> u32 {
        self.nodes.push(Node { parent, next: NONE, key, value });
        (self.nodes.len() - 1) as u32
    }

    /// A number that is no integer.
    fn fraction(&mut self, value: f64) -> Value {
        match serde_json::Number::from_f64(value) {
            Some(number) => Value::Number(self.intern(&number.to_string())),
            // YAML's .nan and .inf have no JSON form; Kubernetes refuses them too, extraction need not.
            None => Value::Null,
        }
    }

    fn finish(mut self) -> Tree {
        self.nodes.shrink_to_fit();
        self.text.shrink_to_fit();
        Tree { nodes: self.nodes, text: self.text }
    }
}

#[cfg(test)]
mod tests;
