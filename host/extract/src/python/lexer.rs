//! Python code as lexemes: names with their dots, literals, numbers and signs.

/// What a lexeme is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, or several joined by dots.
    Name,
    /// A text without its quotes.
    Text {
        /// An f-string.
        formatted: bool,
    },
    Number,
    Sign,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    pub(super) line: usize,
    /// Blanks in front of the first lexeme of its line.
    pub(super) indent: usize,
    /// The first of a statement.
    pub(super) first: bool,
    /// Open brackets around it.
    pub(super) depth: usize,
}

/// Reads code. Every text gives lexemes; a text without its closing quote ends with the line or the code.
pub(super) fn read(code: &str) -> Vec<Lexeme<'_>> {
    let mut out = Vec::new();
    let bytes = code.as_bytes();
    let (mut at, mut line, mut indent, mut depth) = (0, 0, 0, 0usize);
    let mut first = true;
    let mut margin = true;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                line += 1;
                at += 1;
                if depth == 0 {
                    (first, margin, indent) = (true, true, 0);
                }
                continue;
            }
            b' ' | b'\t' | b'\r' => {
                indent += usize::from(margin);
                at += 1;
                continue;
            }
            b'#' => {
                at = code[at..].find('\n').map_or(bytes.len(), |length| at + length);
                continue;
            }
            b'\\' => {
                // A continuation; the newline belongs to it.
                at += if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 1 };
                continue;
            }
            _ => {}
        }
        margin = false;
        let start = at;
        let (kind, text) = if byte.is_ascii_alphabetic() || byte == b'_' {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || (bytes[at] == b'.' && named(bytes, at))) {
                at += 1;
            }
            let prefix = &code[start..at];
            if at < bytes.len() && matches!(bytes[at], b'"' | b'\'') && is_prefix(prefix) {
                let text = literal(code, &mut at);
                line += text.matches('\n').count();
                (Kind::Text { formatted: prefix.contains(['f', 'F']) }, text)
            } else {
                (Kind::Name, prefix)
            }
        } else if matches!(byte, b'"' | b'\'') {
            let text = literal(code, &mut at);
            line += text.matches('\n').count();
            (Kind::Text { formatted: false }, text)
        } else if byte.is_ascii_digit() {
            while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'.' | b'_')) {
                at += 1;
            }
            (Kind::Number, &code[start..at])
        } else {
            at += code[at..].chars().next().map_or(1, char::len_utf8);
            // `==` is no assignment.
            if byte == b'=' || (matches!(byte, b'!' | b'<' | b'>' | b'+' | b':') && bytes.get(at) == Some(&b'=')) {
                at += usize::from(bytes.get(at) == Some(&b'='));
            }
            (Kind::Sign, &code[start..at])
        };
        if matches!((kind, text), (Kind::Sign, ")" | "]" | "}")) {
            depth = depth.saturating_sub(1);
        }
        out.push(Lexeme { kind, text, line, indent, first, depth });
        if matches!((kind, text), (Kind::Sign, "(" | "[" | "{")) {
            depth += 1;
        }
        // Behind `;` and the colon of a line, a statement begins.
        first = depth == 0 && matches!((kind, text), (Kind::Sign, ";" | ":"));
    }
    out
}

fn named(bytes: &[u8], dot: usize) -> bool {
    bytes.get(dot + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'_')
}

fn is_prefix(text: &str) -> bool {
    text.len() <= 2 && text.bytes().all(|b| matches!(b.to_ascii_lowercase(), b'r' | b'b' | b'u' | b'f'))
}

/// The text between the quotes at a place, which moves behind them.
fn literal<'a>(code: &'a str, at: &mut usize) -> &'a str {
    let rest = &code[*at..];
    let quote = &rest[..1];
    let triple = rest.get(..3).filter(|three| *three == quote.repeat(3));
    let mark = triple.unwrap_or(quote);
    let start = *at + mark.len();
    let bytes = code.as_bytes();
    let mut end = start;
    while end < bytes.len() {
        if code[end..].starts_with(mark) {
            *at = end + mark.len();
            return &code[start..end];
        }
        if triple.is_none() && bytes[end] == b'\n' {
            break;
        }
        end += if bytes[end] == b'\\' { 2 } else { 1 };
        while end < bytes.len() && !code.is_char_boundary(end) {
            end += 1;
        }
    }
    let end = end.min(bytes.len());
    *at = end;
    &code[start.min(end)..end]
}
