//! The last filter over text: hidden characters, secrets, length.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};

use aibom_facts::redact::{CUT_MARK, Redactor, TEXT_LIMIT, truncate};
use aibom_facts::text::{has_hidden, printable};

/// What the filter writes in place of a secret starts with this.
pub(crate) const SECRET_MARK: &str = "[REDACTED:";

/// More rounds than this mean that a rule matches its own replacement; the text is then as clean as it gets.
const ROUNDS: usize = 8;

/// Filters texts and remembers what it had to do since it was last asked.
#[derive(Debug)]
pub(crate) struct Scrubber {
    redactor: Redactor,
    classes: BTreeSet<&'static str>,
    cut: bool,
}

/// Most texts remembered as clean, and the longest that is worth it, in bytes.
const REMEMBERED: usize = 4096;
const LONGEST_REMEMBERED: usize = 256;

thread_local! {
    /// Texts that need no filter. Names and references recur many times in a document, and most names in the next one too; whether a
    /// text is clean depends on nothing but the text, as long as all redactors have the same rules ([`Redactor::standard`]). Once rules
    /// can be chosen, the key must hold the identity of the rules too, or a text that is clean by one set passes another one unread.
    static CLEAN: RefCell<HashSet<String, foldhash::fast::RandomState>> = RefCell::new(HashSet::default());
}

fn is_remembered(text: &str) -> bool {
    text.len() <= LONGEST_REMEMBERED && CLEAN.with_borrow(|clean| clean.contains(text))
}

fn remember(text: &str) {
    if text.len() <= LONGEST_REMEMBERED {
        CLEAN.with_borrow_mut(|clean| {
            if clean.len() >= REMEMBERED {
                clean.clear();
            }
            clean.insert(text.to_owned());
        });
    }
}

/// What was done to a group of texts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Classes of the secrets that were replaced.
    pub(crate) classes: BTreeSet<&'static str>,
    /// Whether a text was cut.
    pub(crate) cut: bool,
}

impl Scrubber {
    pub(crate) fn new() -> Self {
        Self { redactor: Redactor::standard(), classes: BTreeSet::new(), cut: false }
    }

    /// Filters a text in place. The result is a fixed point: filtering it again changes nothing.
    ///
    /// Hidden characters go first, since one of them could keep a rule from seeing a secret; the cut comes after the rules, since it
    /// could shorten a secret to something that no rule knows; and the rules run once more over what the cut left.
    pub(crate) fn scrub(&mut self, text: &mut String) {
        for round in 0..ROUNDS {
            if is_remembered(text) {
                return;
            }
            let masked = self.mask(text);
            let short = shorten(&masked, round * 64);
            self.cut |= matches!(short, Cow::Owned(_));
            if short == text.as_str() {
                remember(text);
                return;
            }
            *text = short.into_owned();
        }
    }

    /// The text without hidden characters and secrets, at its full length.
    pub(crate) fn mask<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if is_remembered(text) {
            return Cow::Borrowed(text);
        }
        let mut current = printable(text);
        for _ in 0..ROUNDS {
            let (redacted, classes) = self.redactor.redact(&current);
            if redacted == current {
                break;
            }
            let redacted = redacted.into_owned();
            self.classes.extend(classes);
            current = Cow::Owned(redacted);
        }
        current
    }

    /// Whether the filter would leave the text alone.
    pub(crate) fn is_clean(&mut self, text: &str) -> bool {
        is_short(text) && self.is_masked(text)
    }

    /// Whether the text, however long, holds neither hidden characters nor secrets.
    pub(crate) fn is_masked(&mut self, text: &str) -> bool {
        if is_remembered(text) {
            return true;
        }
        let masked = !has_hidden(text) && self.redactor.redact(text).0 == text;
        if masked && is_short(text) {
            remember(text);
        }
        masked
    }

    /// What was done since the last call.
    pub(crate) fn take(&mut self) -> Done {
        Done { classes: std::mem::take(&mut self.classes), cut: std::mem::take(&mut self.cut) }
    }
}

/// Whether a text has no more than [`TEXT_LIMIT`] characters.
fn is_short(text: &str) -> bool {
    // A text of fewer bytes has fewer characters.
    text.len() <= TEXT_LIMIT || text.chars().nth(TEXT_LIMIT).is_none()
}

/// At most [`TEXT_LIMIT`] characters, the mark included. Where a cut made a rule match what is left, so that it grew again, the next
/// cut goes deeper by `less`.
fn shorten(text: &str, less: usize) -> Cow<'_, str> {
    if is_short(text) { Cow::Borrowed(text) } else { truncate(text, TEXT_LIMIT - CUT_MARK.len() - less) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scrubbed(text: &str) -> String {
        let mut text = text.to_owned();
        Scrubber::new().scrub(&mut text);
        text
    }

    #[test]
    fn hidden_characters_become_spaces() {
        assert_eq!(scrubbed("a\nb\u{1b}[31mc\u{202E}d\u{61C}e\u{200B}f"), "a b [31mc d e f");
        assert!(!Scrubber::new().is_clean("a\u{61C}b"));
    }

    #[test]
    fn a_long_text_keeps_the_limit_with_its_mark() {
        let long = scrubbed(&"é".repeat(5000));
        assert_eq!(long.chars().count(), TEXT_LIMIT);
        assert!(long.ends_with(CUT_MARK));
        assert_eq!(scrubbed(&"é".repeat(TEXT_LIMIT)), "é".repeat(TEXT_LIMIT));
    }

    #[test]
    fn filtering_twice_is_filtering_once() {
        let growing = "https://h.example/x?token=abcdefghijkl&y=1".repeat(25);
        let padded = (0..60).map(|pad| format!("{}{growing}", "p".repeat(pad)));
        for text in padded.collect::<Vec<_>>().iter().map(String::as_str).chain([
            "plain",
            "a\tb",
            &"x".repeat(3000),
            "s3://u:p@h/x?token=abcdefghijk",
        ]) {
            let once = scrubbed(text);
            assert_eq!(scrubbed(&once), once);
            assert!(Scrubber::new().is_clean(&once));
        }
    }

    #[test]
    fn what_was_done_is_told_once() {
        let mut scrubber = Scrubber::new();
        let mut text = "x".repeat(TEXT_LIMIT + 1);
        scrubber.scrub(&mut text);
        assert!(scrubber.take().cut);
        assert_eq!(scrubber.take(), Done::default());
    }
}
