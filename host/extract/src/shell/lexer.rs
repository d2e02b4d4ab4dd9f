//! Words of a shell script.

use std::ops::Range;

use super::{Edit, Fallback, MAX_NESTING, Part, Word, split_assignment};

/// A place in a script.
pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) depth: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, n: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + n).copied()
    }

    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.ahead(1) == Some(b'\r') && self.ahead(2) == Some(b'\n') => self.at += 3,
                _ => return,
            }
        }
    }

    /// Blanks, ends of lines and comments.
    pub(super) fn blank_lines(&mut self) {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_line(),
                _ => return,
            }
        }
    }

    pub(super) fn skip_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n);
    }

    pub(super) fn line(&mut self) -> Option<&'a str> {
        if self.at >= self.text.len() {
            return None;
        }
        let rest = &self.text[self.at..];
        let (line, used) = rest.split_once('\n').map_or((rest, rest.len()), |(line, _)| (line, line.len() + 1));
        self.at += used;
        Some(line)
    }

    /// Moves on by one character and gives it.
    fn character(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.chars().next().map_or(0, char::len_utf8);
        self.at += length;
        &rest[..length]
    }

    /// A word, and the elements when it is `NAME=(…)`.
    pub(super) fn word(&mut self) -> (Word, Option<Vec<Word>>) {
        let start = self.at;
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b')' | b'<' | b'>' => break,
                b'(' => {
                    let opens = parts.only_literal().and_then(split_assignment).is_some_and(|(_, _, rest)| rest.is_empty());
                    if !opens {
                        break;
                    }
                    self.at += 1;
                    if self.depth >= MAX_NESTING {
                        self.skip_balanced(b')');
                        return (Word { parts: parts.done(), range: start..self.at }, Some(Vec::new()));
                    }
                    self.depth += 1;
                    let elements = self.elements();
                    self.depth -= 1;
                    return (Word { parts: parts.done(), range: start..self.at }, Some(elements));
                }
                b'\'' => self.single_quoted(&mut parts),
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts);
                }
                b'\\' => self.escape(&mut parts),
                b'$' => self.dollar(&mut parts, false),
                b'`' => self.backquoted(&mut parts),
                _ => {
                    let rest = &self.text[self.at..];
                    let length = rest
                        .find([' ', '\t', '\n', '\r', ';', '&', '|', '(', ')', '<', '>', '\'', '"', '\\', '$', '`'])
                        .unwrap_or(rest.len());
                    parts.text(&rest[..length], false);
                    self.at += length;
                }
            }
        }
        if self.at == start {
            // Only reached at a byte that no caller hands over; move on so that every loop ends.
            let text = self.character();
            parts.text(text, false);
        }
        (Word { parts: parts.done(), range: start..self.at }, None)
    }

    fn elements(&mut self) -> Vec<Word> {
        let mut elements = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None => return elements,
                Some(b')') => {
                    self.at += 1;
                    return elements;
                }
                Some(b'#') => self.skip_line(),
                Some(b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(') => self.at += 1,
                Some(_) => elements.push(self.word().0),
            }
        }
    }

    fn escape(&mut self, parts: &mut Parts) {
        self.at += 1;
        match self.peek() {
            None => {}
            Some(b'\n') => self.at += 1,
            Some(_) => {
                let text = self.character();
                parts.text(text, true);
            }
        }
    }

    fn single_quoted(&mut self, parts: &mut Parts) {
        self.at += 1;
        let rest = &self.text[self.at..];
        let length = rest.find('\'').unwrap_or(rest.len());
        parts.text(&rest[..length], true);
        self.at += (length + 1).min(rest.len());
    }

    fn double_quoted(&mut self, parts: &mut Parts) {
        parts.text("", true);
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => match self.ahead(1) {
                    Some(b'$' | b'`' | b'"' | b'\\') => {
                        self.at += 1;
                        let text = self.character();
                        parts.text(text, true);
                    }
                    Some(b'\n') => self.at += 2,
                    _ => {
                        self.at += 1;
                        parts.text("\\", true);
                    }
                },
                b'$' => self.dollar(parts, true),
                b'`' => self.backquoted(parts),
                _ => {
                    let rest = &self.text[self.at..];
                    let length = rest.find(['"', '\\', '$', '`']).unwrap_or(rest.len());
                    parts.text(&rest[..length], true);
                    self.at += length;
                }
            }
        }
    }

    fn backquoted(&mut self, parts: &mut Parts) {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.at += 1;
                    self.character();
                }
                b'`' => {
                    self.at += 1;
                    break;
                }
                _ => {
                    self.character();
                }
            }
        }
        parts.push(Part::Opaque { range: start..self.at });
    }

    /// At a `$`.
    fn dollar(&mut self, parts: &mut Parts, quoted: bool) {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                self.skip_balanced(b')');
                parts.push(Part::Opaque { range: start..self.at });
            }
            Some(b'{') => {
                self.at += 1;
                let inner = self.at;
                self.skip_balanced(b'}');
                let closed = self.at > inner && self.text.as_bytes()[self.at - 1] == b'}';
                let end = if closed { self.at - 1 } else { self.at };
                parts.push(self.braced(inner..end, start..self.at, quoted));
            }
            Some(b'\'') if !quoted => {
                self.at += 1;
                self.ansi_quoted(parts);
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double_quoted(parts);
            }
            Some(b'@' | b'*' | b'0'..=b'9') => {
                let name = self.character().to_owned();
                parts.push(Part::Variable { all: name == "@" || name == "*", name, fallback: Fallback::None, quoted });
            }
            Some(b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at += 1;
                parts.push(Part::Opaque { range: start..self.at });
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = &self.text[self.at..];
                let length = rest.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(rest.len());
                self.at += length;
                parts.push(Part::Variable { name: rest[..length].to_owned(), fallback: Fallback::None, quoted, all: false });
            }
            _ => parts.text("$", quoted),
        }
    }

    fn ansi_quoted(&mut self, parts: &mut Parts) {
        let mut text = String::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' => {
                    self.at += 1;
                    break;
                }
                b'\\' => {
                    self.at += 1;
                    match self.character() {
                        "n" => text.push('\n'),
                        "t" => text.push('\t'),
                        other => text.push_str(other),
                    }
                }
                _ => text.push_str(self.character()),
            }
        }
        parts.text(&text, true);
    }

    /// What stands between the braces of `${…}`.
    fn braced(&self, inner: Range<usize>, whole: Range<usize>, quoted: bool) -> Part {
        let text = &self.text[inner.clone()];
        let length = match text.bytes().next() {
            Some(b'@' | b'*') => 1,
            Some(b) if b.is_ascii_digit() => text.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(text.len()),
            _ => text.bytes().position(|b| !(b.is_ascii_alphanumeric() || b == b'_')).unwrap_or(text.len()),
        };
        let name = text[..length].to_owned();
        if name.is_empty() {
            return Part::Opaque { range: whole };
        }
        let mut rest = &text[length..];
        let mut all = name == "@" || name == "*";
        if let Some(after) = rest.strip_prefix("[@]").or_else(|| rest.strip_prefix("[*]")) {
            rest = after;
            all = true;
        }
        if rest.is_empty() {
            return Part::Variable { name, fallback: Fallback::None, quoted, all };
        }
        if self.depth >= MAX_NESTING {
            return Part::Opaque { range: whole };
        }
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        let start = inner.end - operator.len();
        let fallback = match operator.bytes().next() {
            Some(b'-') => Fallback::Default(self.inner_word(start + 1..inner.end, quoted)),
            Some(b'=') => Fallback::Assigned(self.inner_word(start + 1..inner.end, quoted)),
            Some(b'+') => Fallback::Alternative(self.inner_word(start + 1..inner.end, quoted)),
            Some(b'?') => Fallback::None,
            _ => match self.edit(inner.end - rest.len()..inner.end).filter(|_| !all) {
                Some(edit) => Fallback::Edit(edit),
                None => return Part::Opaque { range: whole },
            },
        };
        Part::Variable { name, fallback, quoted, all }
    }

    fn inner_word(&self, range: Range<usize>, quoted: bool) -> Word {
        Lexer { text: &self.text[..range.end], at: range.start, depth: self.depth + 1 }.default_word(quoted)
    }

    /// An operator that changes the value.
    fn edit(&self, range: Range<usize>) -> Option<Edit> {
        let text = &self.text[range.clone()];
        match text {
            ",," => return Some(Edit::Lower),
            "^^" => return Some(Edit::Upper),
            _ => {}
        }
        let (operator, rest) = text.split_at_checked(1)?;
        let longest = rest.starts_with(operator);
        let begin = range.start + 1 + usize::from(longest);
        match operator {
            "%" | "#" => Some(Edit::Cut { front: operator == "#", longest, pattern: self.inner_word(begin..range.end, false) }),
            "/" => {
                let middle = self.text[begin..range.end].find('/').filter(|at| *at > 0);
                let end = middle.map_or(range.end, |at| begin + at);
                // An anchor or a pattern is not read.
                let from = &self.text[begin..end];
                if from.starts_with(['#', '%']) || from.contains(['*', '?', '[', '\\']) {
                    return None;
                }
                let to = middle.map_or(range.end, |at| begin + at + 1);
                Some(Edit::Replace { all: longest, from: self.inner_word(begin..end, false), to: self.inner_word(to..range.end, false) })
            }
            ":" => {
                let (offset, length) = rest.split_once(':').map_or((rest, None), |(offset, length)| (offset, Some(length)));
                let length = length.map(|length| length.trim().parse().ok());
                if length == Some(None) {
                    return None;
                }
                Some(Edit::Part { offset: offset.trim().parse().ok()?, length: length.flatten() })
            }
            _ => None,
        }
    }

    /// The rest of the text as one word, in which blanks and operators are plain.
    fn default_word(&mut self, quoted: bool) -> Word {
        let start = self.at;
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' if !quoted => self.single_quoted(&mut parts),
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts);
                }
                b'\\' => self.escape(&mut parts),
                b'$' => self.dollar(&mut parts, quoted),
                b'`' => self.backquoted(&mut parts),
                _ => {
                    let rest = &self.text[self.at..];
                    let first = rest.chars().next().map_or(0, char::len_utf8);
                    let length = rest[first..].find(['\'', '"', '\\', '$', '`']).map_or(rest.len(), |n| n + first);
                    parts.text(&rest[..length], quoted);
                    self.at += length;
                }
            }
        }
        Word { parts: parts.done(), range: start..self.at }
    }

    /// Moves behind the closer, over quotes and nested substitutions; to the end when it is missing.
    pub(super) fn skip_balanced(&mut self, closer: u8) {
        let bytes = self.text.as_bytes();
        let mut open = vec![closer];
        while let (Some(&top), Some(byte)) = (open.last(), bytes.get(self.at).copied()) {
            self.at += 1;
            match byte {
                b'\\' if self.at < bytes.len() => {
                    self.character();
                }
                b if b == top => {
                    open.pop();
                }
                b'\'' if top != b'"' => {
                    self.at = self.text[self.at..].find('\'').map_or(bytes.len(), |n| self.at + n + 1);
                }
                b'"' => open.push(b'"'),
                b'`' => open.push(b'`'),
                b'(' if top == b')' => open.push(b')'),
                b'$' if matches!(bytes.get(self.at), Some(b'(')) => {
                    self.at += 1;
                    open.push(b')');
                }
                b'$' if matches!(bytes.get(self.at), Some(b'{')) => {
                    self.at += 1;
                    open.push(b'}');
                }
                _ => {}
            }
        }
        // Bytes of a multi-byte character are never one of the above, so this only matters at the end.
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }
}

/// Parts under construction; neighbouring literals of the same quoting are joined.
#[derive(Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn text(&mut self, more: &str, quote: bool) {
        match self.0.last_mut() {
            Some(Part::Literal { text, quoted }) if *quoted == quote => text.push_str(more),
            _ => self.0.push(Part::Literal { text: more.to_owned(), quoted: quote }),
        }
    }

    fn push(&mut self, part: Part) {
        self.0.push(part);
    }

    fn only_literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [Part::Literal { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    fn done(self) -> Vec<Part> {
        self.0
    }
}
