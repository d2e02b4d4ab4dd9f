//! Commands of a shell script, with the structure that tells when they are reached.

use std::ops::Range;
use std::rc::Rc;

use super::lexer::Lexer;
use super::{Assigned, Body, Fallback, MAX_NESTING, Part, Reached, Simple, Word, is_function_name};

/// A here-document that begins after the current line.
struct Document {
    /// Index of the command whose input it is.
    command: usize,
    /// How many bodies were closed when it was announced: the index means nothing after that.
    closed: usize,
    delimiter: String,
    tabs: bool,
}

/// A body that is not closed yet.
enum Open {
    /// Of a loop, with the command that holds its words.
    Loop { header: Option<usize>, start: usize },
    /// Of a function, behind so many braces.
    Function { header: usize, braces: usize },
}

/// An `if` or `case` that is not closed yet.
struct Branch {
    case: bool,
    /// Between `if` and `then`.
    test: bool,
    /// Behind `elif` or `else`.
    other: bool,
    /// The variable whose emptiness is the whole test.
    empty: Option<String>,
}

/// What stands behind a command.
#[derive(Clone, Copy, PartialEq)]
enum Behind {
    And,
    Or,
    Pipe,
    End,
}

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(super) commands: Vec<Simple>,
    current: Simple,
    documents: Vec<Document>,
    open: Vec<Open>,
    closed: usize,
    braces: usize,
    branches: Vec<Branch>,
    /// Of the command behind `&&` or `||`.
    chain: Reached,
}

/// Words that open or close a structure and are followed by a command.
const STRUCTURE: [&str; 15] = ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "{", "}", "!", "time", "esac", "coproc"];

impl<'a> Parser<'a> {
    pub(super) fn new(script: &'a str) -> Self {
        Self {
            lexer: Lexer { text: script, at: 0, depth: 0 },
            commands: Vec::new(),
            current: Simple::default(),
            documents: Vec::new(),
            open: Vec::new(),
            closed: 0,
            braces: 0,
            branches: Vec::new(),
            chain: Reached::Always,
        }
    }

    pub(super) fn run(&mut self) {
        loop {
            self.lexer.blanks();
            let Some(byte) = self.lexer.peek() else { break };
            let doubled = self.lexer.ahead(1) == Some(byte);
            match byte {
                b'\n' => {
                    self.lexer.at += 1;
                    self.end(Behind::End);
                    self.skip_documents();
                }
                b'#' => self.lexer.skip_line(),
                b'&' if self.lexer.ahead(1) == Some(b'>') => {
                    self.lexer.at += 1;
                    self.redirection();
                }
                b'&' | b'|' if doubled => {
                    self.lexer.at += 2;
                    self.end(if byte == b'&' { Behind::And } else { Behind::Or });
                }
                b';' if doubled => {
                    self.lexer.at += 2;
                    self.end(Behind::End);
                    if self.branches.last().is_some_and(|branch| branch.case) {
                        self.pattern();
                    }
                }
                b'|' => {
                    self.lexer.at += 1;
                    self.end(Behind::Pipe);
                }
                b';' | b'&' | b'(' | b')' => {
                    self.lexer.at += 1;
                    self.end(Behind::End);
                }
                b'<' | b'>' => self.redirection(),
                _ => self.word(),
            }
        }
        self.end(Behind::End);
    }

    fn end(&mut self, behind: Behind) {
        let mut done = std::mem::take(&mut self.current);
        if done.assignments.is_empty() && done.words.is_empty() {
            if behind == Behind::End {
                self.chain = Reached::Always;
            }
            return;
        }
        done.reached = self.reached();
        let tested = emptiness(&done);
        if let Some(branch) = self.branches.last_mut().filter(|branch| branch.test) {
            // Only a test of one command says when its branch is reached.
            branch.empty =
                if branch.empty.is_none() && behind == Behind::End { tested.clone().and_then(Emptiness::when_true) } else { None };
        }
        self.chain = match (behind, tested) {
            (Behind::End, _) => Reached::Always,
            (Behind::And, Some(test)) => test.when_true().map_or(Reached::Maybe, Reached::IfEmpty),
            (Behind::Or, Some(test)) => test.when_false().map_or(Reached::Maybe, Reached::IfEmpty),
            (Behind::Or, None) => Reached::Maybe,
            (Behind::And, None) if is_test(&done) => Reached::Maybe,
            (Behind::And | Behind::Pipe, _) => std::mem::take(&mut self.chain),
        };
        let loops = matches!(done.words.first().and_then(Word::bare), Some("for" | "select"));
        if loops && self.open.len() < MAX_NESTING {
            self.open.push(Open::Loop { header: Some(self.commands.len()), start: self.lexer.at });
        }
        self.commands.push(done);
    }

    /// When the current command is reached.
    fn reached(&self) -> Reached {
        if self.chain != Reached::Always {
            return self.chain.clone();
        }
        let mut active = self.branches.iter().filter(|branch| branch.case || branch.other || !branch.test);
        match (active.next(), active.next()) {
            (None, _) => Reached::Always,
            (Some(Branch { empty: Some(name), other: false, .. }), None) => Reached::IfEmpty(name.clone()),
            _ => Reached::Maybe,
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
            if let Some(text) = word.bare() {
                if STRUCTURE.contains(&text) {
                    self.structure(text);
                    return;
                }
                if text == "case" && self.current.assignments.is_empty() && self.case() {
                    return;
                }
                if self.current.assignments.is_empty() && self.function(text) {
                    return;
                }
            }
        }
        // The file descriptor of `2>file`.
        let next = self.lexer.peek();
        if matches!(next, Some(b'<' | b'>')) && word.bare().is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit())) {
            return;
        }
        self.current.words.push(word);
    }

    fn structure(&mut self, word: &str) {
        match word {
            "if" => self.branches.push(Branch { case: false, test: true, other: false, empty: None }),
            "then" => {
                if let Some(branch) = self.branches.last_mut() {
                    branch.test = false;
                }
            }
            "elif" | "else" => {
                if let Some(branch) = self.branches.last_mut() {
                    (branch.test, branch.other, branch.empty) = (word == "elif", true, None);
                }
            }
            "fi" | "esac" => {
                self.branches.pop_if(|branch| branch.case == (word == "esac"));
            }
            "while" | "until" if self.open.len() < MAX_NESTING => self.open.push(Open::Loop { header: None, start: 0 }),
            "done" => {
                if let Some(Open::Loop { header, start }) = self.open.pop_if(|open| matches!(open, Open::Loop { .. }))
                    && let Some(header) = header
                {
                    let range = start..self.lexer.at;
                    let commands = self.close(header);
                    self.commands[header].body = Some(Body::Loop { commands, range });
                }
            }
            "{" => self.braces += 1,
            "}" => {
                let of_this = |open: &Open| matches!(open, Open::Function { braces, .. } if *braces == self.braces);
                if let Some(place) = self.open.iter().rposition(of_this)
                    && let Open::Function { header, .. } = self.open[place]
                {
                    self.open.truncate(place);
                    let found = self.close(header);
                    if let Some(Body::Function { commands, .. }) = &mut self.commands[header].body {
                        *commands = Rc::new(found);
                    }
                }
                self.braces = self.braces.saturating_sub(1);
            }
            _ => {}
        }
    }

    /// Takes the commands behind the header of a body.
    fn close(&mut self, header: usize) -> Vec<Simple> {
        self.closed += 1;
        self.commands.split_off(header + 1)
    }

    /// Reads `case WORD in` and the first pattern; false when it is none.
    fn case(&mut self) -> bool {
        let start = self.lexer.at;
        self.lexer.blanks();
        let (_, _) = self.lexer.word();
        self.lexer.blank_lines();
        let (word, _) = self.lexer.word();
        if word.bare() != Some("in") {
            self.lexer.at = start;
            return false;
        }
        self.branches.push(Branch { case: true, test: false, other: false, empty: None });
        self.pattern();
        true
    }

    /// Skips `pattern | pattern)`.
    fn pattern(&mut self) {
        self.lexer.blank_lines();
        let rest = &self.lexer.text[self.lexer.at..];
        let closes = rest.strip_prefix("esac").is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        if closes {
            return;
        }
        if self.lexer.peek() == Some(b'(') {
            self.lexer.at += 1;
        }
        loop {
            self.lexer.blanks();
            match self.lexer.peek() {
                None | Some(b'\n') => return,
                Some(b')') => {
                    self.lexer.at += 1;
                    return;
                }
                Some(b'|' | b'&' | b';' | b'<' | b'>' | b'(') => self.lexer.at += 1,
                Some(_) => {
                    self.lexer.word();
                }
            }
        }
    }

    /// Reads the head of a function and the brace of its body; false when it is none.
    fn function(&mut self, text: &str) -> bool {
        let start = self.lexer.at;
        let mut name = text.to_owned();
        if text == "function" {
            self.lexer.blanks();
            let (word, _) = self.lexer.word();
            word.bare().unwrap_or_default().clone_into(&mut name);
        }
        self.lexer.blanks();
        let parentheses = self.lexer.peek() == Some(b'(') && {
            self.lexer.at += 1;
            self.lexer.blanks();
            self.lexer.peek() == Some(b')')
        };
        if parentheses {
            self.lexer.at += 1;
        }
        let head = (parentheses || text == "function") && is_function_name(&name);
        if head && self.open.len() < MAX_NESTING {
            self.lexer.blank_lines();
            if self.lexer.peek() == Some(b'{') && matches!(self.lexer.ahead(1), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b'\\')) {
                self.lexer.at += 1;
                self.braces += 1;
                self.open.push(Open::Function { header: self.commands.len(), braces: self.braces });
                let body = Some(Body::Function { name, commands: Rc::default() });
                self.commands.push(Simple { reached: self.reached(), body, ..Simple::default() });
                return true;
            }
        }
        self.lexer.at = start;
        false
    }

    fn redirection(&mut self) {
        let rest = &self.lexer.text[self.lexer.at..];
        if rest.starts_with("<(") || rest.starts_with(">(") {
            let range = self.process();
            self.current.words.push(Word { parts: vec![Part::Opaque { range: range.clone() }], range });
            return;
        }
        let document = rest.starts_with("<<") && !rest.starts_with("<<<");
        let tabs = rest.starts_with("<<-");
        while matches!(self.lexer.peek(), Some(b'<' | b'>' | b'&' | b'|')) && !self.lexer.text[self.lexer.at..].starts_with(">(") {
            self.lexer.at += 1;
        }
        if tabs {
            self.lexer.at += 1;
        }
        self.lexer.blanks();
        let rest = &self.lexer.text[self.lexer.at..];
        if rest.starts_with(">(") || rest.starts_with("<(") {
            self.process();
            return;
        }
        if matches!(self.lexer.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')) {
            return;
        }
        let (target, _) = self.lexer.word();
        if document {
            let delimiter = target.literal().unwrap_or_else(|| self.lexer.text[target.range.clone()].to_owned());
            self.documents.push(Document { command: self.commands.len(), closed: self.closed, delimiter, tabs });
        }
    }

    /// Skips `<(…)` or `>(…)`.
    fn process(&mut self) -> Range<usize> {
        let start = self.lexer.at;
        self.lexer.at += 2;
        self.lexer.skip_balanced(b')');
        start..self.lexer.at
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
            if document.closed == self.closed
                && let Some(command) = self.commands.get_mut(document.command)
            {
                command.document = Some(start..end);
            }
        }
    }
}

/// A test of one variable.
#[derive(Clone)]
struct Emptiness {
    name: String,
    /// It is true when the variable is empty.
    empty: bool,
}

impl Emptiness {
    /// The variable that is empty where the test is true.
    fn when_true(self) -> Option<String> {
        self.empty.then_some(self.name)
    }

    /// The variable that is empty where the test is false.
    fn when_false(self) -> Option<String> {
        (!self.empty).then_some(self.name)
    }
}

fn is_test(command: &Simple) -> bool {
    matches!(command.words.first().and_then(Word::bare), Some("[" | "[[" | "test"))
}

/// Reads `[ -z "$NAME" ]` and its like.
fn emptiness(command: &Simple) -> Option<Emptiness> {
    if !is_test(command) {
        return None;
    }
    let [_, operator, operand, rest @ ..] = command.words.as_slice() else { return None };
    let empty = match operator.bare()? {
        "-z" => true,
        "-n" => false,
        _ => return None,
    };
    if rest.len() > 1 || !rest.iter().all(|word| matches!(word.bare(), Some("]" | "]]"))) {
        return None;
    }
    // Quotes leave empty literals around the variable.
    let mut parts = operand.parts.iter().filter(|part| !matches!(part, Part::Literal { text, .. } if text.is_empty()));
    match (parts.next(), parts.next()) {
        (Some(Part::Variable { name, fallback: Fallback::None | Fallback::Default(_), all: false, .. }), None) => {
            Some(Emptiness { name: name.clone(), empty })
        }
        _ => None,
    }
}
