//! What text may show: the one list of characters that no output holds.
//!
//! Text of manifests and of scrapers reaches terminals, logs and documents. A control character is obeyed there, a mark of
//! bidirectional text reorders what a person reads, and a character without any width makes two different names look alike or carries
//! what only a machine reads.

use std::borrow::Cow;

/// Whether a character shows nothing or changes how others are shown:
///
/// * control characters (C0, delete, C1), line breaks and tabs included;
/// * line and paragraph separators, U+2028 and U+2029;
/// * marks, embeddings, overrides and isolates of bidirectional text: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069;
/// * characters without width: U+200B, the rest of U+2060 to U+206F (joiners, invisible operators, deprecated formats) and U+FEFF;
/// * tags, U+E0000 to U+E007F, with which a whole text can be hidden in another one.
///
/// Not hidden are the joiners U+200C and U+200D and the soft hyphen: they belong to the spelling of languages and emoji.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61C}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'
                | '\u{E0000}'..='\u{E007F}'
        )
}

/// Whether a text has such a character.
pub fn has_hidden(text: &str) -> bool {
    // Nearly every text is printable ASCII, which needs no decoding; without a way out early this reads many bytes at once.
    let plain = text.bytes().fold(true, |plain, byte| plain & matches!(byte, 0x20..=0x7e));
    !plain && text.chars().any(is_hidden)
}

/// The text with a blank for every hidden character ([`is_hidden`]). Words stay apart, the number of characters stays, and what is
/// printable comes back as it is.
pub fn printable(text: &str) -> Cow<'_, str> {
    if has_hidden(text) { Cow::Owned(text.chars().map(|c| if is_hidden(c) { ' ' } else { c }).collect()) } else { Cow::Borrowed(text) }
}

/// Bytes as lower-case hex, two digits each.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hidden_character_becomes_one_blank() {
        for c in "\0\t\n\r\u{1b}\u{7f}\u{85}\u{9b}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{206f}\u{feff}\u{e0041}\u{e007f}"
            .chars()
        {
            assert!(is_hidden(c), "{}", c.escape_unicode());
            assert!(has_hidden(&format!("plain {c}")) && !has_hidden("plain ~"), "{}", c.escape_unicode());
            assert_eq!(printable(&format!("a{c}b")), "a b", "{}", c.escape_unicode());
        }
    }

    #[test]
    fn what_can_be_seen_or_belongs_to_spelling_is_kept() {
        let text = "meta-llama/Llama 3.1, é 日本 שלום مرحبا می\u{200c}خواهم 👩\u{200d}🔬 co\u{ad}op \u{a0}\u{2010}\u{fffd}";
        assert!(matches!(printable(text), Cow::Borrowed(kept) if kept == text));
    }

    #[test]
    fn the_neighbours_of_each_range_are_shown() {
        for c in "\u{20}\u{7e}\u{a0}\u{61b}\u{61d}\u{200a}\u{200c}\u{200d}\u{2010}\u{2027}\u{202f}\u{205f}\u{2070}\u{fefe}\u{ff00}\u{e0080}"
            .chars()
        {
            assert!(!is_hidden(c), "{}", c.escape_unicode());
        }
    }

    #[test]
    fn hex_has_two_digits_for_each_byte() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
        assert_eq!(hex(&[]), "");
    }
}
