//! RFC 6901 JSON pointers.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};

/// A JSON pointer (RFC 6901): empty for the whole object, else a sequence of `/`-prefixed tokens in which `~1` stands for `/` and
/// `~0` for `~`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pointer(String);

/// Text that is not a JSON pointer: it is neither empty nor does it start with `/`, or a `~` is not followed by `0` or `1`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a JSON pointer (RFC 6901): it must be empty or start with `/`, and `~` must be followed by `0` or `1`")]
pub struct InvalidPointer(pub String);

impl Pointer {
    /// The pointer to the whole object.
    pub fn root() -> Self {
        Self::default()
    }

    /// Reads a pointer.
    ///
    /// # Errors
    /// [`InvalidPointer`] when the text breaks the grammar.
    pub fn parse(text: &str) -> Result<Self, InvalidPointer> {
        if is_valid(text) { Ok(Self(text.to_owned())) } else { Err(InvalidPointer(text.to_owned())) }
    }

    /// The text of the pointer.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This pointer extended by one member key or element index; the token is escaped here.
    #[must_use]
    pub fn child(&self, token: &str) -> Self {
        let mut text = self.0.clone();
        push_token(&mut text, token);
        Self(text)
    }

    /// This pointer extended by an element index.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.child(&index.to_string())
    }

    /// This pointer followed by another one, which is relative to it.
    #[must_use]
    pub fn join(&self, relative: &str) -> Self {
        Self(format!("{}{relative}", self.0))
    }

    /// Unescaped tokens, outermost first.
    pub fn tokens(&self) -> impl Iterator<Item = Cow<'_, str>> {
        tokens(&self.0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Pointer {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// A pointer in the making, outermost token first. It keeps to the grammar, because it escapes what it is given.
pub(crate) struct PointerText(String);

impl PointerText {
    /// Room for so many bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Begins with a pointer.
    pub(crate) fn start(&mut self, pointer: &str) {
        self.0.push_str(pointer);
    }

    /// Appends a member key.
    pub(crate) fn push(&mut self, token: &str) {
        push_token(&mut self.0, token);
    }

    /// Appends an element index.
    pub(crate) fn push_index(&mut self, index: u32) {
        match index {
            // Formatting costs more than all else here, and most lists are short.
            0..=9 => self.0.extend(['/', digit(index)]),
            10..=99 => self.0.extend(['/', digit(index / 10), digit(index % 10)]),
            _ => {
                let _ = write!(self.0, "/{index}");
            }
        }
    }
}

impl From<PointerText> for Pointer {
    fn from(text: PointerText) -> Self {
        Self(text.0)
    }
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10).unwrap_or_default()
}

/// Appends `/` and the escaped token.
fn push_token(text: &mut String, token: &str) {
    text.push('/');
    let mut plain = 0;
    for (place, byte) in token.bytes().enumerate().filter(|(_, byte)| matches!(byte, b'~' | b'/')) {
        text.push_str(&token[plain..place]);
        text.push_str(if byte == b'~' { "~0" } else { "~1" });
        plain = place + 1;
    }
    text.push_str(&token[plain..]);
}

/// Unescaped tokens of a pointer text; the leading `/` is taken for granted.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split('/')
        .skip(1)
        .map(|token| if token.contains('~') { Cow::Owned(token.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(token) })
}

/// Whether the text keeps to the grammar of RFC 6901.
pub(crate) fn is_valid(text: &str) -> bool {
    if !(text.is_empty() || text.starts_with('/')) {
        return false;
    }
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'~' && !matches!(bytes.next(), Some(b'0' | b'1')) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_escaped_and_read_back() {
        let pointer = Pointer::root().child("a/b").child("m~n").index(3);
        assert_eq!(pointer.as_str(), "/a~1b/m~0n/3");
        assert_eq!(pointer.tokens().collect::<Vec<_>>(), ["a/b", "m~n", "3"]);
    }

    #[test]
    fn text_outside_the_grammar_is_refused() {
        assert!(Pointer::parse("").is_ok());
        assert!(Pointer::parse("/").is_ok());
        for bad in ["a", "a/b", "/~", "/~2", "/x~"] {
            assert!(Pointer::parse(bad).is_err(), "{bad}");
        }
    }
}
