//! Where in a document something is. Built while walking, written out only where something is found.

use std::fmt;

/// A JSON pointer, as a chain of tokens.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    token: Token<'p>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'p> {
    /// A pointer that is known as text; empty for the whole document.
    Start(&'p str),
    Member(&'p str),
    Item(usize),
}

impl<'p> Place<'p> {
    /// The whole document.
    pub(super) const ROOT: Place<'static> = Place { parent: None, token: Token::Start("") };

    /// The place of this pointer.
    pub(super) fn at(pointer: &'p str) -> Self {
        Self { parent: None, token: Token::Start(pointer) }
    }

    /// A member of what is here.
    pub(super) fn member(&'p self, key: &'p str) -> Self {
        Self { parent: Some(self), token: Token::Member(key) }
    }

    /// An item of the list that is here.
    pub(super) fn item(&'p self, index: usize) -> Self {
        Self { parent: Some(self), token: Token::Item(index) }
    }

    /// Whether this is an item of a list of components, or the workload.
    pub(super) fn is_component(&self) -> bool {
        let parent = self.parent.map(|parent| parent.token);
        match self.token {
            Token::Item(_) => matches!(parent, Some(Token::Member("components" | "ancestors"))),
            Token::Member("component") => {
                parent == Some(Token::Member("metadata"))
                    && self.parent.and_then(|parent| parent.parent).is_some_and(|root| root.parent.is_none())
            }
            Token::Member(_) | Token::Start(_) => false,
        }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.token {
            Token::Start(pointer) => f.write_str(pointer),
            Token::Member(key) => write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")),
            Token::Item(index) => write!(f, "/{index}"),
        }
    }
}
