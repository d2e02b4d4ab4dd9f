//! Shell scripts as words, without running them.
//!
//! [`parse`] reads a script of the POSIX shell (and the arrays of bash) into a flat list of [`Simple`] commands in the order in which
//! they are written. Control structure is not kept: what stands in a branch or a loop body is read as if it were reached, which is
//! what an inventory wants to know. Words keep their quoting and their byte range in the script, so that a value can be traced to the
//! text it came from. Nothing is ever evaluated: a command substitution is [`Part::Opaque`].
//!
//! Every text parses. The scan is linear: bytes are visited once, and the default words of `${A:-…}` once more per level up to
//! [`MAX_NESTING`].

use std::ops::Range;

/// Levels of `${A:-${B:-…}}` that are looked into; deeper ones are opaque.
pub const MAX_NESTING: usize = 8;

/// A word with the range of bytes it takes in the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Pieces in order; a word may have none (`""` has one empty literal).
    pub parts: Vec<Part>,
    /// Bytes of the script.
    pub range: Range<usize>,
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text after removal of quotes.
    Literal {
        /// The text.
        text: String,
        /// Whether quotes or a backslash protected it.
        quoted: bool,
    },
    /// `$NAME`, `${NAME}` and the forms with a default.
    Variable {
        /// Name of the variable; `@`, `*` and digits are the arguments of the script.
        name: String,
        /// What is used instead when it is unset.
        fallback: Fallback,
        /// Inside double quotes: the value stays one word.
        quoted: bool,
        /// `${NAME[@]}`: every element of an array.
        all: bool,
    },
    /// A command substitution, arithmetic, or an expansion with an operator that is not read.
    Opaque {
        /// Bytes of the script.
        range: Range<usize>,
    },
}

/// Second half of `${NAME…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// None: the plain value.
    None,
    /// `:-`, `-`, `:=`, `=`: this word when the variable is unset.
    Default(Word),
    /// `:+`, `+`: this word when it is set, nothing otherwise.
    Alternative(Word),
}

/// `NAME=value`, `NAME+=value` or `NAME=(a b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the variable.
    pub name: String,
    /// Appends to the old value.
    pub append: bool,
    /// The value.
    pub value: Assigned,
}

/// Right-hand side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// One word.
    Word(Word),
    /// The elements of an array.
    Array(Vec<Word>),
}

/// A simple command: leading assignments and words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Leading assignments. Without words they hold for the rest of the script, else for this command.
    pub assignments: Vec<Assignment>,
    /// Program and arguments.
    pub words: Vec<Word>,
}

impl Word {
    /// The text of a word that is nothing but literal.
    pub fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Literal { text, .. } => out.push_str(text),
                Part::Variable { .. } | Part::Opaque { .. } => return None,
            }
        }
        Some(out)
    }

    fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Literal { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// Splits `NAME=rest` and `NAME+=rest` whose name is not quoted.
    pub fn as_assignment(&self) -> Option<Assignment> {
        let Some(Part::Literal { text, quoted: false }) = self.parts.first() else { return None };
        let (name, append, rest) = split_assignment(text)?;
        let mut parts = Vec::new();
        if !rest.is_empty() {
            parts.push(Part::Literal { text: rest.to_owned(), quoted: false });
        }
        parts.extend(self.parts.iter().skip(1).cloned());
        Some(Assignment { name: name.to_owned(), append, value: Assigned::Word(Word { parts, range: self.range.clone() }) })
    }
}

fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_') && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn split_assignment(text: &str) -> Option<(&str, bool, &str)> {
    let equals = text.find('=')?;
    let (name, append) = match text[..equals].strip_suffix('+') {
        Some(name) => (name, true),
        None => (&text[..equals], false),
    };
    is_name(name).then(|| (name, append, &text[equals + 1..]))
}

/// Reads a script into its simple commands.
pub fn parse(script: &str) -> Vec<Simple> {
    let mut parser = Parser { lexer: Lexer { text: script, at: 0, depth: 0 }, commands: Vec::new(), current: Simple::default(), documents: Vec::new() };
    parser.run();
    parser.commands
}

/// A here-document that begins after the current line.
struct Document {
    delimiter: String,
    tabs: bool,
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    commands: Vec<Simple>,
    current: Simple,
    documents: Vec<Document>,
}

/// Words that open or close a structure and are followed by a command.
const STRUCTURE: [&str; 15] = ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "esac", "coproc"];

impl Parser<'_> {
    fn run(&mut self) {
        loop {
            self.lexer.blanks();
            let Some(byte) = self.lexer.peek() else { break };
            match byte {
                b'\n' => {
                    self.lexer.at += 1;
                    self.end();
                    self.skip_documents();
                }
                b'#' => self.lexer.skip_line(),
                b'&' if self.lexer.ahead(1) == Some(b'>') => {
                    self.lexer.at += 1;
                    self.redirection();
                }
                b';' | b'&' | b'|' | b'(' | b')' => {
                    self.lexer.at += 1;
                    self.end();
                }
                b'<' | b'>' => self.redirection(),
                _ => self.word(),
            }
        }
        self.end();
    }

    fn end(&mut self) {
        let done = std::mem::take(&mut self.current);
        if !(done.assignments.is_empty() && done.words.is_empty()) {
            self.commands.push(done);
        }
    }

    fn word(&mut self) {
        let (word, array) = self.lexer.word();
        if self.current.words.is_empty() {
            if let Some(mut assignment) = word.as_assignment() {
                if let Some(elements) = array {
                    assignment.value = Assigned::Array(elements);
                }
                self.current.assignments.push(assignment);
                return;
            }
            if word.bare().is_some_and(|text| STRUCTURE.contains(&text)) {
                return;
            }
        }
        // The file descriptor of `2>file`.
        let next = self.lexer.peek();
        if matches!(next, Some(b'<' | b'>')) && word.bare().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit())) {
            return;
        }
        self.current.words.push(word);
    }

    fn redirection(&mut self) {
        let rest = &self.lexer.text[self.lexer.at..];
        if rest.starts_with("<(") || rest.starts_with(">(") {
            let start = self.lexer.at;
            self.lexer.at += 2;
            self.lexer.skip_balanced(b')');
            let range = start..self.lexer.at;
            self.current.words.push(Word { parts: vec![Part::Opaque { range: range.clone() }], range });
            return;
        }
        let document = rest.starts_with("<<") && !rest.starts_with("<<<");
        let tabs = rest.starts_with("<<-");
        while matches!(self.lexer.peek(), Some(b'<' | b'>' | b'&' | b'|')) {
            self.lexer.at += 1;
        }
        if tabs {
            self.lexer.at += 1;
        }
        self.lexer.blanks();
        if matches!(self.lexer.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')) {
            return;
        }
        let (target, _) = self.lexer.word();
        if document {
            let delimiter = target.literal().unwrap_or_else(|| self.lexer.text[target.range.clone()].to_owned());
            self.documents.push(Document { delimiter, tabs });
        }
    }

    fn skip_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            while let Some(line) = self.lexer.line() {
                let line = if document.tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == document.delimiter {
                    break;
                }
            }
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn peek(&self) -> Option<u8> {
        self.ahead(0)
    }

    fn ahead(&self, n: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + n).copied()
    }

    fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(b'\\') if self.ahead(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.ahead(1) == Some(b'\r') && self.ahead(2) == Some(b'\n') => self.at += 3,
                _ => return,
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n);
    }

    fn line(&mut self) -> Option<&'a str> {
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
    fn word(&mut self) -> (Word, Option<Vec<Word>>) {
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
                    let elements = self.elements();
                    return (Word { parts: parts.done(), range: start..self.at }, Some(elements));
                }
                b'\'' => {
                    self.at += 1;
                    let rest = &self.text[self.at..];
                    let length = rest.find('\'').unwrap_or(rest.len());
                    parts.text(&rest[..length], true);
                    self.at += (length + 1).min(rest.len());
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts);
                }
                b'\\' => self.escape(&mut parts),
                b'$' => self.dollar(&mut parts, false),
                b'`' => self.backquoted(&mut parts),
                _ => {
                    let rest = &self.text[self.at..];
                    let length = rest.find([' ', '\t', '\n', '\r', ';', '&', '|', '(', ')', '<', '>', '\'', '"', '\\', '$', '`']).unwrap_or(rest.len());
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
        let operator = rest.strip_prefix(':').unwrap_or(rest);
        let alternative = operator.starts_with('+');
        if self.depth >= MAX_NESTING || !operator.starts_with(['-', '=', '+']) {
            return if operator.starts_with('?') { Part::Variable { name, fallback: Fallback::None, quoted, all } } else { Part::Opaque { range: whole } };
        }
        let begin = inner.end - (operator.len() - 1);
        let mut lexer = Lexer { text: &self.text[..inner.end], at: begin, depth: self.depth + 1 };
        let word = lexer.default_word(quoted);
        let fallback = if alternative { Fallback::Alternative(word) } else { Fallback::Default(word) };
        Part::Variable { name, fallback, quoted, all }
    }

    /// The rest of the text as one word, in which blanks and operators are plain.
    fn default_word(&mut self, quoted: bool) -> Word {
        let start = self.at;
        let mut parts = Parts::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\'' if !quoted => {
                    self.at += 1;
                    let rest = &self.text[self.at..];
                    let length = rest.find('\'').unwrap_or(rest.len());
                    parts.text(&rest[..length], true);
                    self.at += (length + 1).min(rest.len());
                }
                b'"' => {
                    self.at += 1;
                    self.double_quoted(&mut parts);
                }
                b'\\' => self.escape(&mut parts),
                b'$' => self.dollar(&mut parts, quoted),
                b'`' => self.backquoted(&mut parts),
                _ => {
                    let rest = &self.text[self.at..];
                    let length = rest[1..].find(['\'', '"', '\\', '$', '`']).map_or(rest.len(), |n| n + 1);
                    let length = (length..=rest.len()).find(|n| rest.is_char_boundary(*n)).unwrap_or(rest.len());
                    parts.text(&rest[..length], quoted);
                    self.at += length;
                }
            }
        }
        Word { parts: parts.done(), range: start..self.at }
    }

    /// Moves behind the closer, over quotes and nested substitutions; to the end when it is missing.
    fn skip_balanced(&mut self, closer: u8) {
        let bytes = self.text.as_bytes();
        let mut open = vec![closer];
        while let (Some(&top), Some(byte)) = (open.last(), bytes.get(self.at).copied()) {
            self.at += 1;
            match byte {
                b'\\' => {
                    if self.at < bytes.len() {
                        self.character();
                    }
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

#[cfg(test)]
#[path = "shell/tests.rs"]
mod tests;
