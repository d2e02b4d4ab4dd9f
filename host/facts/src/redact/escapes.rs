//! Text as it reads without its escapes: `~0` and `~1` of pointers, `%2F` of package URLs. A secret with a `/` in it is spelled
//! differently there, and is no less a secret.

use super::Secret;

/// A text without escapes, and where each of its bytes stood.
pub(super) struct Plain {
    pub(super) text: String,
    places: Vec<usize>,
}

impl Plain {
    /// None where a text has no escape.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if !bytes.iter().any(|byte| matches!(byte, b'%' | b'~')) {
            return None;
        }
        let (mut plain, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len() + 1));
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let (shown, length) = escaped(&bytes[at..]).unwrap_or((c, c.len_utf8()));
            plain.push(shown);
            places.extend(std::iter::repeat_n(at, shown.len_utf8()));
            at += length;
        }
        places.push(at);
        (plain.len() < text.len()).then_some(Self { text: plain, places })
    }

    /// Where in the escaped text something stands.
    pub(super) fn place(&self, Secret { start, end, class }: Secret) -> Secret {
        Secret { start: self.places[start], end: self.places[end], class }
    }
}

/// The printable ASCII character that an escape at the start of a text stands for, and the escape's length.
fn escaped(bytes: &[u8]) -> Option<(char, usize)> {
    match *bytes {
        [b'~', b'0', ..] => Some(('~', 2)),
        [b'~', b'1', ..] => Some(('/', 2)),
        [b'%', high, low, ..] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
            byte.is_ascii_graphic().then_some((char::from(byte), 3))
        }
        _ => None,
    }
}
