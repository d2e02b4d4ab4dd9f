//! Cleaning of text that a guest wrote.

use std::borrow::Cow;

use aibom_facts::text::is_hidden;

/// Characters of a name or value; longer ones are cut and end in an ellipsis.
pub(crate) const MAX_CHARS: usize = 1_024;

/// What [`clean`] had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) cut: bool,
    pub(crate) replaced: bool,
}

impl Changes {
    pub(crate) fn any(self) -> bool {
        self.cut || self.replaced
    }
}

/// Replaces hidden characters ([`is_hidden`]: a name may not look like another one), and cuts after [`MAX_CHARS`] characters.
pub(crate) fn clean(text: &str) -> (Cow<'_, str>, Changes) {
    let mut changes = Changes::default();
    let end = if text.len() <= MAX_CHARS { None } else { text.char_indices().nth(MAX_CHARS).map(|_| MAX_CHARS - 1) };
    changes.cut = end.is_some();
    changes.replaced = text.chars().take(end.unwrap_or(usize::MAX)).any(|c| replacement(c).is_some());
    if !changes.any() {
        return (Cow::Borrowed(text), changes);
    }
    let mut out: String = text.chars().take(end.unwrap_or(usize::MAX)).map(|c| replacement(c).unwrap_or(c)).collect();
    if changes.cut {
        out.push('…');
    }
    (Cow::Owned(out), changes)
}

/// What was a blank to the eye stays one; for the rest a mark shows that something stood there.
fn replacement(c: char) -> Option<char> {
    match c {
        '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => Some(' '),
        c if is_hidden(c) => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(clean("meta-llama/Llama-3.1-8B"), (Cow::Borrowed("meta-llama/Llama-3.1-8B"), Changes::default()));
        let longest = "é".repeat(MAX_CHARS);
        assert_eq!(clean(&longest), (Cow::Borrowed(longest.as_str()), Changes::default()));
    }

    #[test]
    fn text_over_the_limit_is_cut_between_characters_and_marked() {
        let (text, changes) = clean(&"é".repeat(MAX_CHARS + 1)).clone_parts();
        assert_eq!(text.chars().count(), MAX_CHARS);
        assert!(text.ends_with("é…"));
        assert_eq!(changes, Changes { cut: true, replaced: false });
    }

    #[test]
    fn control_and_reordering_characters_are_replaced() {
        let (text, changes) = clean("a\nb\u{1b}[31m\u{202e}c").clone_parts();
        assert_eq!(text, "a b\u{fffd}[31m\u{fffd}c");
        assert_eq!(changes, Changes { cut: false, replaced: true });
    }

    #[test]
    fn characters_without_width_are_replaced_too() {
        let (text, _) = clean("a\u{200b}b\u{feff}c\u{e0041}d").clone_parts();
        assert_eq!(text, "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    trait CloneParts {
        fn clone_parts(&self) -> (String, Changes);
    }

    impl CloneParts for (Cow<'_, str>, Changes) {
        fn clone_parts(&self) -> (String, Changes) {
            (self.0.to_string(), self.1)
        }
    }
}
