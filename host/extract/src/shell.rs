//! Shell scripts as words, without running them.
//!
//! [`parse`] reads a script of the POSIX shell (and the arrays of bash) into a list of [`Simple`] commands in the order in which they
//! are written. What stands in a branch is read as if it were reached, which is what an inventory wants to know, and says so
//! ([`Reached`]), since its assignments may not take place. Bodies of functions and of loops over words are kept apart ([`Body`]): a
//! function that nobody calls does nothing. Words keep their quoting and their byte range in the script, so that a value can be traced to the
//! text it came from. Nothing is ever evaluated: a command substitution is [`Part::Opaque`].
//!
//! Every text parses. The scan is linear: bytes are visited once, and the default words of `${A:-…}` once more per level up to
//! [`MAX_NESTING`].

use std::ops::Range;
use std::rc::Rc;

use parser::Parser;

mod lexer;
mod parser;

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
    /// `:-`, `-`: this word when the variable is unset.
    Default(Word),
    /// `:=`, `=`: the same, and the variable has it from then on.
    Assigned(Word),
    /// `:+`, `+`: this word when it is set, nothing otherwise.
    Alternative(Word),
    /// A part of the value, or the value with something changed.
    Edit(Edit),
}

/// `${NAME…}` with an operator on the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// `#`, `##`, `%`, `%%`: without what matches at the front or at the end.
    Cut {
        /// At the front.
        front: bool,
        /// The longest match.
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `/`, `//`: with a text in place of another.
    Replace {
        /// All occurrences.
        all: bool,
        /// What is replaced; no pattern.
        from: Word,
        /// What comes instead.
        to: Word,
    },
    /// `:offset`, `:offset:length`, in characters.
    Part {
        /// Characters left out.
        offset: usize,
        /// Characters taken.
        length: Option<usize>,
    },
    /// `,,`
    Lower,
    /// `^^`
    Upper,
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
    /// When it is reached.
    pub reached: Reached,
    /// What belongs to it: the body of a function, which has no words, or of a loop.
    pub body: Option<Body>,
}

/// When a command is reached, as far as its own script says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reached {
    /// Whenever the commands before it end well.
    #[default]
    Always,
    /// Only where this variable is empty.
    IfEmpty(String),
    /// Only if something holds that is not read.
    Maybe,
}

/// Commands inside another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Of a function, whose calls run it.
    Function {
        /// Its name.
        name: String,
        /// The commands.
        commands: Rc<Vec<Simple>>,
    },
    /// Of a `for` loop, whose words are those of the command.
    Loop {
        /// The commands.
        commands: Vec<Simple>,
        /// Bytes of the script that they take.
        range: Range<usize>,
    },
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

/// Names of functions may hold more than those of variables.
fn is_function_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b':'))
}

/// Reads a script into its simple commands.
pub fn parse(script: &str) -> Vec<Simple> {
    let mut parser = Parser::new(script);
    parser.run();
    parser.commands
}

#[cfg(test)]
#[path = "shell/tests.rs"]
mod tests;
