//! The last filter before any text leaves the process: documents, conditions, events and log lines.
//!
//! Secrets are recognised in three ways, each in its own module:
//!
//! * *by name*: a literal value under a name that says what it is, wherever names and values stand in text (`NAME=value`, `--name value`,
//!   `"name": "value"`, `Name: value`), and on request for a name and a value that stand apart ([`Redactor::redact_named`]);
//! * *by shape*: tokens with a prefix or a form of their own, in any text;
//! * *by place in a URL*: user and password before the host, credentials in the query, webhooks whose path is the secret.
//!
//! Text is read as it stands and without the escapes of pointers and of URLs.
//!
//! What is found is replaced by `[REDACTED:<class>]`, nothing of it is kept. References such as `$(TOKEN)` are no secrets and stay; so
//! do digests, commits, hub ids and paths. A secret without a shape in a place without a name cannot be recognised. Each rule reads the
//! text once: time is linear in its length.

use std::borrow::Cow;
use std::collections::BTreeSet;

mod commands;
mod escapes;
mod names;
mod shapes;
mod urls;

pub use urls::strip_uri;

/// Most characters of a name or a value in a document.
pub const TEXT_LIMIT: usize = 1024;

/// What [`truncate`] puts where it cut.
pub const CUT_MARK: &str = "...[truncated]";

/// Class of users and passwords in URLs.
pub const URI_USERINFO: &str = "uri-userinfo";
/// Class of signatures and keys in the query of URLs.
pub const QUERY_CREDENTIAL: &str = "query-credential";
/// Class of texts with the shape of a token.
pub const TOKEN: &str = "token";
/// Class of private keys, plain or in base64.
pub const PRIVATE_KEY: &str = "private-key";
/// Class of values under a secret's name.
pub const SECRET_VALUE: &str = "secret-value";

/// A part of a text that is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Secret {
    start: usize,
    end: usize,
    class: &'static str,
}

/// Replaces secrets in text. See the module.
///
/// There is one set of rules so far, so two redactors answer alike, and what remembers answers (the crate of documents does, by text
/// alone) relies on it. Once rules can be chosen, a redactor has to tell the identity of its rules, and it belongs into every such key.
#[derive(Clone, Debug)]
pub struct Redactor(());

impl Redactor {
    /// The rules of the module.
    pub fn standard() -> Self {
        Self(())
    }

    /// The text with every secret replaced by `[REDACTED:<class>]`, and the classes of what was replaced.
    #[allow(clippy::unused_self, reason = "rules will become configurable")]
    pub fn redact<'a>(&self, text: &'a str) -> (Cow<'a, str>, BTreeSet<&'static str>) {
        let mut found = find(text);
        if let Some(plain) = escapes::Plain::of(text) {
            found.extend(find(&plain.text).into_iter().map(|secret| plain.place(secret)));
        }
        replace(text, found)
    }

    /// Like [`Redactor::redact`], for a value whose name is known: an environment variable, an option, a key, a header.
    pub fn redact_named<'a>(&self, name: &str, value: &'a str) -> (Cow<'a, str>, BTreeSet<&'static str>) {
        if Self::is_secret_name(name) && names::is_literal(name, value) {
            return (Cow::Owned(format!("[REDACTED:{SECRET_VALUE}]")), BTreeSet::from([SECRET_VALUE]));
        }
        self.redact(value)
    }

    /// Whether a literal value under this name (a variable, an option with or without its dashes, a key, a header) is a secret whatever
    /// it looks like.
    pub fn is_secret_name(name: &str) -> bool {
        names::is_secret(name)
    }
}

fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    // Where rules overlap, the first one names the class.
    urls::find(text, &mut found);
    commands::find(text, &mut found);
    shapes::find(text, &mut found);
    found
}

fn replace(text: &str, mut found: Vec<Secret>) -> (Cow<'_, str>, BTreeSet<&'static str>) {
    if found.is_empty() {
        return (Cow::Borrowed(text), BTreeSet::new());
    }
    found.sort_by_key(|secret| secret.start);
    let mut merged: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match merged.last_mut() {
            // A parameter ends before a fragment, a value under a name does not.
            Some(last) if secret.start == last.start && last.class == QUERY_CREDENTIAL => {}
            Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
            _ => merged.push(secret),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut classes = BTreeSet::new();
    let mut plain = 0;
    for secret in merged {
        out.push_str(&text[plain..secret.start]);
        out.push_str("[REDACTED:");
        out.push_str(secret.class);
        out.push(']');
        classes.insert(secret.class);
        plain = secret.end;
    }
    out.push_str(&text[plain..]);
    (Cow::Owned(out), classes)
}

/// Cuts a text after `limit` characters and appends [`CUT_MARK`]. To be applied after [`Redactor::redact`]: a cut before it could
/// shorten a secret to something that no rule knows. A replacement is never cut in two.
pub fn truncate(text: &str, limit: usize) -> Cow<'_, str> {
    // A text of fewer bytes has fewer characters.
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let Some((mut at, _)) = text.char_indices().nth(limit) else { return Cow::Borrowed(text) };
    if let Some(open) = text[..at].rfind('[')
        && text[open..].starts_with("[REDACTED:")
        && !text[open..at].contains(']')
    {
        at = open;
    }
    Cow::Owned(format!("{}{CUT_MARK}", &text[..at]))
}

/// Bytes that end a bare word in text, besides blanks.
fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

#[cfg(test)]
mod tests;
