//! Small rules about text that several modules share.

use sha2::{Digest as _, Sha256};

/// The first `digits` hexadecimal digits of the SHA-256 of a text, at most 64.
pub(crate) fn short_hash(text: &str, digits: usize) -> String {
    let mut hash = hex(&Sha256::digest(text.as_bytes()));
    hash.truncate(digits);
    hash
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// The beginning of a text, of at most `bytes` bytes and whole characters.
pub(crate) fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// A value for a message: short, on one line, in quotes.
pub(crate) fn quoted(value: &str) -> String {
    let shown: String = beginning(value, 80).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if shown.len() < value.len() { format!("\"{shown}…\"") } else { format!("\"{shown}\"") }
}

/// A label of DNS names (RFC 1123): lower-case letters, digits and hyphens, up to 63, beginning and ending with a letter or digit.
pub fn is_dns_label(text: &str) -> bool {
    let bytes = text.as_bytes();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    bytes.len() <= 63
        && bytes.first().is_some_and(|byte| plain(*byte))
        && bytes.last().is_some_and(|byte| plain(*byte))
        && bytes.iter().all(|byte| plain(*byte) || *byte == b'-')
}

/// Labels of DNS names with dots between them, up to 253 characters.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_dns_label)
}

/// A value of a label: empty, or up to 63 letters, digits, `-`, `_` and `.`, beginning and ending with a letter or digit.
pub(crate) fn is_label_value(text: &str) -> bool {
    text.is_empty() || is_qualified_name(text)
}

/// A key of a label: a name like a value's, with or without a DNS subdomain and a slash in front.
pub(crate) fn is_label_key(text: &str) -> bool {
    match text.split_once('/') {
        Some((prefix, name)) => is_dns_subdomain(prefix) && is_qualified_name(name),
        None => is_qualified_name(text),
    }
}

fn is_qualified_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_known_one_for_the_empty_text() {
        assert_eq!(short_hash("", 12), "e3b0c44298fc");
        assert_eq!(short_hash("", 99).len(), 64);
    }

    #[test]
    fn a_value_in_a_message_is_short_and_on_one_line() {
        assert_eq!(quoted("a\nb"), "\"a b\"");
        let long = quoted(&"ü".repeat(100));
        assert!(long.ends_with("…\"") && long.chars().count() == 43, "{long}");
    }

    #[test]
    fn names_and_labels_follow_the_rules_of_kubernetes() {
        for good in ["a", "a-1", "0a"] {
            assert!(is_dns_label(good), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a.b", &"a".repeat(64)] {
            assert!(!is_dns_label(bad), "{bad}");
        }
        assert!(is_dns_subdomain("apps.example.com") && !is_dns_subdomain("a..b") && !is_dns_subdomain(""));
        assert!(is_label_value("") && is_label_value("A_b.c-1") && !is_label_value("a/b") && !is_label_value("a-"));
        assert!(
            is_label_key("example.com/a_B")
                && is_label_key("a")
                && !is_label_key("/a")
                && !is_label_key("A.com/a")
                && !is_label_key("a/b/c")
        );
    }
}
