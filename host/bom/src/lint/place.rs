//! Where in a document something is. Written out only where something is found.

use std::fmt;

use super::Node;
use super::node::Key;

/// A JSON pointer, as a chain of tokens.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    token: Token<'p>,
}

#[derive(Clone, Copy)]
enum Token<'p> {
    /// A pointer that is known as text; empty for the whole document.
    Start(&'p str),
    /// The place of a value.
    Value(Node<'p>),
    Member(&'p str),
}

impl<'p> Place<'p> {
    /// The whole document.
    pub(super) const ROOT: Place<'static> = Place { parent: None, token: Token::Start("") };

    /// The place of this pointer.
    pub(super) fn at(pointer: &'p str) -> Self {
        Self { parent: None, token: Token::Start(pointer) }
    }

    /// The place of a value.
    pub(super) fn of(node: Node<'p>) -> Self {
        Self { parent: None, token: Token::Value(node) }
    }

    /// A member, there or not, of what is here.
    pub(super) fn member(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), token: Token::Member(key) }
    }
}

fn member(f: &mut fmt::Formatter<'_>, key: &str) -> fmt::Result {
    write!(f, "/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn value(f: &mut fmt::Formatter<'_>, node: Node<'_>) -> fmt::Result {
    let Some(parent) = node.parent() else { return Ok(()) };
    value(f, parent)?;
    match node.key() {
        Key::Member(key) => member(f, key),
        Key::Item(index) => write!(f, "/{index}"),
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.token {
            Token::Start(pointer) => f.write_str(pointer),
            Token::Value(node) => value(f, node),
            Token::Member(key) => member(f, key),
        }
    }
}
