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

use lexer::Lexer;

mod lexer;

/// Levels of `${A:-${B:-…}}` and of arrays in arrays that are looked into; deeper ones are opaque.
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
    /// Bytes of the here-document that is its input; not read as commands.
    pub document: Option<Range<usize>>,
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
    let mut parser =
        Parser { lexer: Lexer { text: script, at: 0, depth: 0 }, commands: Vec::new(), current: Simple::default(), documents: Vec::new() };
    parser.run();
    parser.commands
}

/// A here-document that begins after the current line.
struct Document {
    /// Index of the command whose input it is.
    command: usize,
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
            self.documents.push(Document { command: self.commands.len(), delimiter, tabs });
        }
    }

    fn skip_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let start = self.lexer.at;
            let mut end = start;
            while let Some(line) = self.lexer.line() {
                let line = if document.tabs { line.trim_start_matches('\t') } else { line };
                if line.trim_end_matches('\r') == document.delimiter {
                    break;
                }
                end = self.lexer.at;
            }
            if let Some(command) = self.commands.get_mut(document.command) {
                command.document = Some(start..end);
            }
        }
    }
}

#[cfg(test)]
#[path = "shell/tests.rs"]
mod tests;
