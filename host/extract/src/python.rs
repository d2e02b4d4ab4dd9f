//! Calls in Python code that stands on a command line or is its input, as command lines: `load("a/b", revision="x")` becomes the words
//! `a/b --revision=x`, so that the same data describes functions and programs.
//!
//! Nothing runs. Texts are followed through plain assignments, loops over written lists, variables of the environment, `sys.argv` and
//! the parameters of functions that the same code calls; whatever else computes a value holds its place as a word that names nothing.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use crate::budget::cost;
use crate::env::{Env, Variable};
use crate::images::matches;
use crate::script::COMPUTED;
use crate::text::{Token, Traced, Unknown, Via};
use lexer::{Kind, Lexeme};

#[path = "python/lexer.rs"]
mod lexer;

/// A call with its arguments as words.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// The function as written, with dots.
    pub(crate) name: String,
    pub(crate) words: Vec<Token>,
}

impl Call {
    /// Whether the function is this one; modules in front do not matter, `*` stands for any text.
    pub(crate) fn is(&self, pattern: &str) -> bool {
        let dots = self.name.match_indices('.').map(|(at, _)| &self.name[at + 1..]);
        std::iter::once(self.name.as_str()).chain(dots).any(|name| {
            // A pattern stays within one name: `Auto*.load` is no `AutoX.y.load`.
            matches(pattern, name) && name.matches('.').count() == pattern.matches('.').count()
        })
    }
}

/// Stands in the place of a value that is no text.
pub(crate) const OPAQUE: &str = "\u{0}";
/// Most calls of one code, and values that one name takes.
const MAX_CALLS: usize = 256;
const MAX_VALUES: usize = 64;
/// Most lexemes that are read, and looks at one while arguments are followed: calls in calls are looked at again and again.
const MAX_LEXEMES: usize = 100_000;
const MAX_LOOKS: usize = 2_000_000;
/// Levels of calls and lists that are looked into.
const MAX_DEPTH: usize = 16;

/// Whether the code imports a package.
pub(crate) fn imports(code: &str, package: &str) -> bool {
    code.split([';', '\n']).any(|line| {
        let mut words = line.trim().split([' ', '.', ',', '\t']).filter(|word| !word.is_empty());
        matches!(words.next(), Some("import" | "from")) && words.next() == Some(package)
    })
}

/// A value as far as it is followed.
#[derive(Clone, Debug)]
enum Value {
    Text(Traced),
    List(Vec<Value>),
    Opaque,
}

type Names = HashMap<String, Vec<Value>>;

struct Code<'a> {
    lexemes: Vec<Lexeme<'a>>,
    token: &'a Token,
    arguments: &'a [Token],
    env: &'a Env,
    own: &'a [Variable],
    names: Names,
    /// Parameters of the functions that the code defines.
    functions: HashMap<&'a str, Vec<&'a str>>,
    looks: Cell<usize>,
}

/// The calls of a code in the order in which they are written, the functions that nobody calls left out.
pub(crate) fn calls(token: &Token, arguments: &[Token], env: &Env, own: &[Variable]) -> Vec<Call> {
    let mut lexemes = lexer::read(token.as_str());
    lexemes.truncate(MAX_LEXEMES);
    let mut code =
        Code { lexemes, token, arguments, env, own, names: Names::new(), functions: HashMap::new(), looks: Cell::new(MAX_LOOKS) };
    let uncalled = code.uncalled();
    code.bind();
    code.collect(&uncalled)
}

impl<'a> Code<'a> {
    fn name(&self, at: usize) -> Option<&'a str> {
        self.lexemes.get(at).filter(|lexeme| lexeme.kind == Kind::Name).map(|lexeme| lexeme.text)
    }

    fn is(&self, at: usize, sign: &str) -> bool {
        self.lexemes.get(at).is_some_and(|lexeme| lexeme.kind == Kind::Sign && lexeme.text == sign)
    }

    /// Takes note of one more look; none are left at some time.
    fn look(&self) -> bool {
        self.looks.set(self.looks.get().saturating_sub(1));
        self.looks.get() > 0 && !self.env.budget.spent()
    }

    /// A copy that the object pays for.
    fn copy(&self, value: &Value) -> Value {
        match value {
            _ if self.env.budget.spent() => Value::Opaque,
            Value::Text(text) => {
                self.env.budget.spend(cost(text));
                value.clone()
            }
            Value::List(values) => Value::List(values.iter().take(MAX_VALUES).map(|value| self.copy(value)).collect()),
            Value::Opaque => Value::Opaque,
        }
    }

    /// Notes the functions, and finds the bodies of those that are defined and never named again.
    fn uncalled(&mut self) -> Vec<std::ops::Range<usize>> {
        let mut defined = Vec::new();
        let mut used: HashSet<&str> = HashSet::new();
        for at in 0..self.lexemes.len() {
            let Some(word) = self.name(at) else { continue };
            if word == "def"
                && let Some(name) = self.name(at + 1)
            {
                let indent = self.lexemes[at].indent;
                let body =
                    self.lexemes[at + 1..].iter().position(|next| next.first && next.indent <= indent && next.line > self.lexemes[at].line);
                let end = body.map_or(self.lexemes.len(), |length| at + 1 + length);
                let parameters = self.parameters(at + 2);
                self.functions.insert(name, parameters);
                defined.push((name, at..end));
            } else if at == 0 || self.name(at - 1) != Some("def") {
                used.extend(word.split('.'));
            }
        }
        defined.into_iter().filter(|(name, _)| !used.contains(name)).map(|(_, range)| range).collect()
    }

    fn parameters(&self, open: usize) -> Vec<&'a str> {
        let mut out = Vec::new();
        if !self.is(open, "(") {
            return out;
        }
        let mut depth = 0usize;
        for at in open..self.lexemes.len() {
            if !self.look() {
                break;
            }
            match self.lexemes[at].text {
                "(" | "[" | "{" if self.lexemes[at].kind == Kind::Sign => depth += 1,
                ")" | "]" | "}" if self.lexemes[at].kind == Kind::Sign => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ if depth == 1 && (self.is(at - 1, "(") || self.is(at - 1, ",")) => out.extend(self.name(at)),
                _ => {}
            }
        }
        out
    }

    /// Follows assignments, loops and the arguments of the code's own functions.
    fn bind(&mut self) {
        let mut at = 0;
        while at < self.lexemes.len() {
            if let Some(name) = self.name(at).filter(|_| self.lexemes[at].first && self.is(at + 1, "=")) {
                let value = self.value(at + 2, 0).0;
                self.names.insert(name.to_owned(), vec![value]);
            } else if self.name(at) == Some("for") {
                self.for_loop(at + 1);
            } else if let Some(parameters) = self.name(at).and_then(|name| self.functions.get(name)).cloned()
                && self.is(at + 1, "(")
                && (at == 0 || self.name(at - 1) != Some("def"))
            {
                for (index, (keyword, value)) in self.arguments(at + 1, 0).0.into_iter().enumerate() {
                    let parameter = keyword.or_else(|| parameters.get(index).map(|name| (*name).to_owned()));
                    let Some(values) = parameter.map(|name| self.names.entry(name).or_default()) else { continue };
                    if values.len() < MAX_VALUES {
                        values.push(value);
                    }
                }
            }
            at += 1;
        }
    }

    /// `for NAME in [..]`, `for A, B in [(..), ..]`
    fn for_loop(&mut self, mut at: usize) {
        let mut targets = Vec::new();
        while let Some(name) = self.name(at).filter(|name| *name != "in") {
            targets.push(name);
            at += 1;
            if self.is(at, ",") {
                at += 1;
            }
        }
        if self.name(at) != Some("in") {
            return;
        }
        let Value::List(elements) = self.value(at + 1, 0).0 else { return };
        for (index, target) in targets.iter().enumerate() {
            let values = elements.iter().take(MAX_VALUES).map(|element| match element {
                Value::List(inner) if targets.len() > 1 => inner.get(index).map_or(Value::Opaque, |value| self.copy(value)),
                other => self.copy(other),
            });
            let values = values.collect();
            self.names.insert((*target).to_owned(), values);
        }
    }

    fn collect(&self, uncalled: &[std::ops::Range<usize>]) -> Vec<Call> {
        let mut out = Vec::new();
        for at in 0..self.lexemes.len() {
            let Some(name) = self.name(at).filter(|_| self.is(at + 1, "(")) else { continue };
            if uncalled.iter().any(|range| range.contains(&at)) || (at > 0 && matches!(self.name(at - 1), Some("def" | "class"))) {
                continue;
            }
            let arguments = self.arguments(at + 1, 0).0;
            // One call for each turn of a loop around it.
            let turns = arguments.iter().map(|(_, value)| if let Value::List(values) = value { values.len() } else { 1 });
            let looped = arguments.iter().enumerate().any(|(index, _)| self.is_loop_name(at + 1, index));
            let turns = if looped { turns.max().unwrap_or(1).max(1) } else { 1 };
            for turn in 0..turns.min(MAX_VALUES) {
                if out.len() >= MAX_CALLS {
                    return out;
                }
                let words = arguments.iter().flat_map(|(keyword, value)| self.words(keyword.as_deref(), value, looped.then_some(turn)));
                out.push(Call { name: name.to_owned(), words: words.collect() });
            }
        }
        out
    }

    /// Whether an argument is a name with several values.
    fn is_loop_name(&self, open: usize, index: usize) -> bool {
        let mut depth = 0usize;
        let mut argument = 0;
        for at in open..self.lexemes.len() {
            let lexeme = &self.lexemes[at];
            if !self.look() {
                return false;
            }
            match (lexeme.kind, lexeme.text) {
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => {
                    depth -= 1;
                    if depth == 0 {
                        return false;
                    }
                }
                (Kind::Sign, ",") if depth == 1 => argument += 1,
                (Kind::Name, name) if depth == 1 && argument == index && self.names.get(name).is_some_and(|values| values.len() > 1) => {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    fn words(&self, keyword: Option<&str>, value: &Value, turn: Option<usize>) -> Vec<Token> {
        let word = |text: Traced| {
            let mut out = Traced::default();
            if let Some(keyword) = keyword {
                out.push(&format!("--{keyword}="));
            }
            out.append(&text);
            Token { text: out, ..self.token.clone() }
        };
        match value {
            Value::Text(text) => vec![word(text.clone())],
            Value::Opaque if keyword.is_some() => Vec::new(),
            Value::Opaque => vec![word(Traced::plain(OPAQUE))],
            Value::List(values) => {
                let chosen = turn.map(|turn| values.get(turn.min(values.len().saturating_sub(1))).into_iter().cloned().collect());
                let values: Vec<Value> = chosen.unwrap_or_else(|| values.clone());
                values
                    .iter()
                    .take(MAX_VALUES)
                    .filter(|value| !matches!(value, Value::List(_)))
                    .flat_map(|value| self.words(keyword, value, None))
                    .collect()
            }
        }
    }

    /// The arguments behind an opening bracket, and where they end.
    fn arguments(&self, open: usize, depth: usize) -> (Vec<(Option<String>, Value)>, usize) {
        let mut out = Vec::new();
        let mut at = open + 1;
        while at < self.lexemes.len() && !self.is(at, ")") {
            let keyword = self.name(at).filter(|_| self.is(at + 1, "=")).map(str::to_owned);
            if keyword.is_some() {
                at += 2;
            }
            let (value, end) = self.value(at, depth + 1);
            out.push((keyword, value));
            at = end.max(at);
            if self.is(at, ",") {
                at += 1;
            } else if !self.is(at, ")") {
                break;
            }
        }
        (out, at)
    }

    /// The expression at a place, and where it ends: at a comma, a closing bracket, or the end of the line outside brackets.
    fn value(&self, at: usize, depth: usize) -> (Value, usize) {
        let end = self.end(at);
        if depth > MAX_DEPTH {
            return (Value::Opaque, end);
        }
        let Some(first) = self.lexemes.get(at) else { return (Value::Opaque, end) };
        if first.kind == Kind::Sign && matches!(first.text, "[" | "(") {
            let close = if first.text == "[" { "]" } else { ")" };
            let mut elements = Vec::new();
            let mut next = at + 1;
            let mut commas = 0;
            while next < end && !self.is(next, close) {
                let (value, after) = self.value(next, depth + 1);
                elements.push(value);
                next = after;
                if !self.is(next, ",") {
                    break;
                }
                commas += 1;
                next += 1;
            }
            if !self.is(next, close) || next + 1 != end {
                return (Value::Opaque, end);
            }
            let single = first.text == "(" && commas == 0;
            return (if single { elements.pop().unwrap_or(Value::Opaque) } else { Value::List(elements) }, end);
        }
        (self.simple(at, end, depth), end)
    }

    /// Where an expression ends.
    fn end(&self, from: usize) -> usize {
        let mut depth = 0usize;
        for at in from..self.lexemes.len() {
            let lexeme = &self.lexemes[at];
            if !self.look() {
                return self.lexemes.len();
            }
            if lexeme.first && lexeme.depth == 0 && at > from {
                return at;
            }
            match (lexeme.kind, lexeme.text) {
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}" | "," | ";" | ":") if depth == 0 => return at,
                (Kind::Sign, ")" | "]" | "}") => depth -= 1,
                _ => {}
            }
        }
        self.lexemes.len()
    }

    /// A literal, a name, or a way to a variable.
    fn simple(&self, at: usize, end: usize, depth: usize) -> Value {
        let alone = end == at + 1;
        let first = &self.lexemes[at];
        match first.kind {
            Kind::Text { formatted } => {
                let mut out = Traced::default();
                // Neighbours are one text.
                for lexeme in &self.lexemes[at..end] {
                    let Kind::Text { .. } = lexeme.kind else { return Value::Opaque };
                    out.append(&if formatted { self.formatted(lexeme.text) } else { Traced::plain(lexeme.text) });
                }
                Value::Text(out)
            }
            Kind::Name if alone => match self.names.get(first.text).map(Vec::as_slice) {
                Some([one]) => self.copy(one),
                Some(several) if !several.is_empty() => {
                    Value::List(several.iter().take(MAX_VALUES).map(|value| self.copy(value)).collect())
                }
                _ => Value::Opaque,
            },
            Kind::Name => self.lookup(at, end, depth),
            Kind::Sign | Kind::Number => Value::Opaque,
        }
    }

    /// `os.environ["X"]`, `os.environ.get("X", default)`, `os.getenv("X") or default`, `sys.argv[1]`
    fn lookup(&self, at: usize, end: usize, depth: usize) -> Value {
        let name = self.lexemes[at].text;
        let ends = |word: &str| name == word || name.strip_suffix(word).is_some_and(|before| before.ends_with('.'));
        if ends("argv") && self.is(at + 1, "[") {
            let number = self.lexemes.get(at + 2).and_then(|lexeme| lexeme.text.parse::<usize>().ok());
            let argument = number.and_then(|number| self.arguments.get(number.checked_sub(1)?));
            return argument.map_or(Value::Opaque, |token| Value::Text(token.text.clone()));
        }
        let (variable, default, after) = if ends("environ") && self.is(at + 1, "[") && self.is(at + 3, "]") {
            (self.value(at + 2, depth + 1).0, None, at + 4)
        } else if (ends("getenv") || ends("environ.get")) && self.is(at + 1, "(") {
            let (arguments, close) = self.arguments(at + 1, depth + 1);
            let mut values = arguments.into_iter().map(|(_, value)| value);
            (values.next().unwrap_or(Value::Opaque), values.next(), close + 1)
        } else {
            return Value::Opaque;
        };
        let Value::Text(variable) = variable else { return Value::Opaque };
        let default = match default {
            None if self.name(after) == Some("or") => Some(self.value(after + 1, depth + 1).0),
            None if after < end => return Value::Opaque,
            default => default,
        };
        match (self.variable(&variable.text), default) {
            (Some(value), _) if !value.text.is_empty() => Value::Text(value),
            (_, Some(default @ Value::Text(_))) => default,
            _ => Value::Text(Traced::unknown_text(format!("${{{}}}", variable.text), self.env.missing(&variable.text, &self.token.at))),
        }
    }

    fn variable(&self, name: &str) -> Option<Traced> {
        let own = self.own.iter().rev().find(|variable| variable.name == name);
        let value = match own {
            Some(variable) => Some(variable.value.clone().through(Via { name: name.to_owned(), at: variable.at.clone() })),
            None => self.env.value(name),
        };
        let value = value.filter(|_| !self.env.budget.spent())?;
        self.env.budget.spend(cost(&value));
        Some(value)
    }

    /// An f-string: what is not a plain name with a text is not known.
    fn formatted(&self, text: &str) -> Traced {
        let mut out = Traced::default();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            out.push(&rest[..open]);
            if let Some(after) = rest[open..].strip_prefix("{{") {
                out.push("{");
                rest = after;
                continue;
            }
            let Some(close) = rest[open..].find('}') else { break };
            let name = &rest[open + 1..open + close];
            match self.names.get(name.trim()).map(Vec::as_slice) {
                Some([Value::Text(value)]) if !self.env.budget.spent() => {
                    self.env.budget.spend(cost(value));
                    out.append(value);
                }
                known => out.append(&Traced::unknown_text(
                    format!("{{{name}}}"),
                    Unknown {
                        why: if known.is_some() { COMPUTED } else { "undefined-variable" },
                        at: self.token.at.clone(),
                        reference: name.trim().to_owned(),
                    },
                )),
            }
            rest = &rest[open + close + 1..];
        }
        out.push(rest);
        out
    }
}

#[cfg(test)]
#[path = "python/tests.rs"]
mod tests;
