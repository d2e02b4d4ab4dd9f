//! Shell scripts as command lines: words of [`crate::shell`] with the variables that are known put in.
//!
//! Assignments take effect in the order in which they are written. One that stands in a branch and contradicts what is known makes its
//! variable unknown, unless the branch is there for a variable that is empty. Functions are read where they are called, loops once for
//! each of their words, what `eval` is given again; nothing runs. The value of a variable whose name says that it is a secret is not looked at.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use aibom_facts::inventory::Source;
use aibom_facts::object::Locator;
use aibom_facts::redact::Redactor;

use crate::budget::cost;
use crate::env::{Env, Variable, secret_text};
use crate::shell::{self, Assigned, Assignment, Body, Edit, Fallback, Part, Reached, Simple, Word};
use crate::text::{Origin, Token, Traced, Unknown};

/// Why a value is unknown that only running the script tells.
pub(crate) const COMPUTED: &str = "computed";

/// Most words that one script expands to, those of its assignments included.
const MAX_WORDS: usize = 20_000;
/// Most work that the variables of one script make, by [`cost`].
const MAX_EXPANSION: usize = 4 * 1024 * 1024;
/// Work of looking for a variable that nobody sets.
const PLAIN: usize = 16;
/// Most variables that a script exports, and the longest value of one.
const MAX_EXPORTS: usize = 128;
const MAX_EXPORT: usize = 1024;
/// Levels of `eval` and of scripts in scripts.
pub(crate) const MAX_LEVELS: usize = 4;
/// Levels of functions that call functions.
const MAX_CALLS: usize = 8;
/// Most words that a loop is read for; longer ones are read once, with a variable that is unknown.
const MAX_ROUNDS: usize = 64;
/// Longest value that a pattern is compared with.
const MAX_EDITED: usize = 1024;

/// A command line with the variables that are set for it alone or were exported before.
#[derive(Clone, Debug, Default)]
pub(crate) struct CommandLine {
    pub(crate) tokens: Vec<Token>,
    /// Exported before by the script it stands in.
    pub(crate) exported: Rc<Vec<Variable>>,
    /// Set for it alone.
    pub(crate) own: Vec<Variable>,
    /// The here-document that is its input.
    pub(crate) document: Option<Token>,
    /// Launchers that were taken off in front of it: runtime, launcher, and the word that made it recognised.
    pub(crate) carriers: Vec<(usize, usize, Token)>,
}

impl CommandLine {
    pub(crate) fn plain(tokens: Vec<Token>) -> Self {
        Self { tokens, ..Self::default() }
    }
}

/// Reads a script. `arguments` are what follows it on the command line, `$0` first.
pub(crate) fn commands(script: &Traced, at: &Locator, arguments: &[Token], env: &Env) -> Vec<CommandLine> {
    let mut shell = Shell {
        env,
        at,
        variables: HashMap::new(),
        exported: Rc::default(),
        arguments: arguments.to_vec(),
        shifted: 0,
        out: Vec::new(),
        words: 0,
        room: Cell::new(MAX_EXPANSION),
        functions: HashMap::new(),
        calls: 0,
    };
    shell.read(&Rc::new(script.clone()), 0);
    shell.out
}

struct Shell<'a> {
    env: &'a Env,
    at: &'a Locator,
    variables: HashMap<String, Vec<Traced>>,
    exported: Rc<Vec<Variable>>,
    /// `$0` first.
    arguments: Vec<Token>,
    /// How many behind `$0` are gone.
    shifted: usize,
    out: Vec<CommandLine>,
    words: usize,
    room: Cell<usize>,
    /// Bodies with the scripts that they stand in.
    functions: HashMap<String, Function>,
    calls: usize,
}

type Function = (Rc<Traced>, Rc<Vec<Simple>>);

/// A field: text, and the element it came from when that is not the script.
type Field = (Traced, Option<Locator>);

impl Shell<'_> {
    fn read(&mut self, script: &Rc<Traced>, level: usize) {
        self.run(&shell::parse(&script.text), script, level);
    }

    fn run(&mut self, commands: &[Simple], script: &Rc<Traced>, level: usize) {
        for command in commands {
            if self.words >= MAX_WORDS || self.spent() {
                return;
            }
            self.command(command, script, level);
        }
    }

    fn command(&mut self, command: &Simple, script: &Rc<Traced>, level: usize) {
        match &command.body {
            Some(Body::Function { name, commands }) => {
                self.words += 1;
                self.functions.insert(name.clone(), (Rc::clone(script), Rc::clone(commands)));
                return;
            }
            Some(Body::Loop { commands, range }) => {
                let text = script.text.get(range.clone()).unwrap_or_default();
                self.for_loop(&command.words[1..], commands, text, script, level);
                return;
            }
            None => {}
        }
        if command.words.is_empty() {
            for assignment in &command.assignments {
                self.assign(assignment, script, &command.reached);
            }
            return;
        }
        self.assign_defaults(command, script);
        let mut own = Vec::new();
        for assignment in &command.assignments {
            if let Assigned::Word(word) = &assignment.value {
                let secret = Redactor::is_secret_name(&assignment.name);
                let value = if secret { secret_text(&assignment.name, self.at) } else { self.joined(word, script) };
                self.words += 1;
                own.push(Variable { name: assignment.name.clone(), value, at: self.at.clone(), secret });
            }
        }
        let first = command.words[0].literal();
        match first.as_deref() {
            Some("export" | "declare" | "local" | "readonly" | "typeset") => {
                for word in &command.words[1..] {
                    if let Some(assignment) = word.as_assignment() {
                        self.assign(&assignment, script, &command.reached);
                        self.export(&assignment.name);
                    } else if let Some(name) = word.literal() {
                        self.words += 1;
                        self.export(&name);
                    }
                }
                return;
            }
            Some("for" | "select") => {
                self.for_loop(&command.words[1..], &[], "", script, level);
                return;
            }
            _ => {}
        }
        let fields: Vec<Field> = command.words.iter().flat_map(|word| self.fields(word, script)).take(MAX_WORDS).collect();
        self.words += fields.len();
        match fields.first().map(|(text, _)| text.text.as_str()) {
            Some("eval") if level < MAX_LEVELS => {
                let mut joined = Traced::default();
                for (index, (text, _)) in fields[1..].iter().enumerate() {
                    if index > 0 {
                        joined.push(" ");
                    }
                    joined.append(text);
                }
                self.read(&Rc::new(joined), level + 1);
            }
            Some(name) if self.calls < MAX_CALLS && self.functions.contains_key(name) => {
                let Some((home, body)) = self.functions.get(name).cloned() else { return };
                let zero = self.arguments.first().cloned().unwrap_or_else(|| self.token((Traced::plain("sh"), None)));
                let given = fields[1..].iter().map(|field| self.token(field.clone()));
                let inner: Vec<Token> = std::iter::once(zero).chain(given).collect();
                let outer = (std::mem::replace(&mut self.arguments, inner), std::mem::take(&mut self.shifted));
                self.calls += 1;
                self.run(&body, &home, level);
                self.calls -= 1;
                (self.arguments, self.shifted) = outer;
            }
            Some("set") => {
                if let Some(dashes) = fields.iter().position(|(text, _)| text.text == "--") {
                    // Without a name of its own the script is called by that of the shell.
                    let zero = self.arguments.first().cloned().or_else(|| Some(self.token((Traced::plain("sh"), None))));
                    let rest = fields[dashes + 1..].iter().map(|field| self.token(field.clone()));
                    let rest: Vec<_> = rest.collect();
                    self.arguments = zero.into_iter().chain(rest).collect();
                    self.shifted = 0;
                }
            }
            Some("shift") if self.arguments.len() > self.shifted + 1 => self.shifted += 1,
            Some(_) => {
                let tokens = fields.into_iter().map(|field| self.token(field)).collect();
                let document = command.document.clone().map(|range| self.token((script.slice(range), None)));
                self.out.push(CommandLine { tokens, exported: Rc::clone(&self.exported), own, document, ..CommandLine::default() });
            }
            None => {}
        }
    }

    fn token(&self, (text, at): Field) -> Token {
        match at {
            Some(at) => Token { text, at, source: Source::ContainerArg },
            None => Token { text, at: self.at.clone(), source: Source::ShellScript },
        }
    }

    /// `${NAME:=word}` anywhere in the words of a command.
    fn assign_defaults(&mut self, command: &Simple, script: &Traced) {
        for part in command.words.iter().flat_map(|word| &word.parts) {
            let Part::Variable { name, fallback: Fallback::Assigned(word), .. } = part else { continue };
            if !Redactor::is_secret_name(name) && self.lookup(name).first().is_none_or(|value| value.text.is_empty()) {
                let value = self.joined(word, script);
                self.words += 1;
                self.variables.insert(name.clone(), vec![value]);
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment, script: &Traced, reached: &Reached) {
        let name = &assignment.name;
        if Redactor::is_secret_name(name) {
            self.words += 1;
            self.variables.insert(name.clone(), vec![secret_text(name, self.at)]);
            return;
        }
        let values: Vec<Traced> = match &assignment.value {
            Assigned::Word(word) => vec![self.joined(word, script)],
            Assigned::Array(words) => {
                words.iter().flat_map(|word| self.fields(word, script)).map(|(text, _)| text).take(MAX_WORDS).collect()
            }
        };
        self.words += values.len().max(1);
        if *reached != Reached::Always
            && let Some(old) = self.lookup(name).first().filter(|old| !old.text.is_empty())
        {
            if matches!(reached, Reached::IfEmpty(empty) if empty == name) {
                return;
            }
            if assignment.append || values.first().is_none_or(|new| new.text != old.text) {
                self.variables.insert(name.clone(), vec![self.unclear(name)]);
            }
            return;
        }
        if !assignment.append {
            self.variables.insert(name.clone(), values);
            return;
        }
        // Grown in place: a copy for each addition would make a long script quadratic.
        let old = self.variables.entry(name.clone()).or_insert_with(|| self.env.value(name).into_iter().collect());
        match (&assignment.value, old.last_mut()) {
            (Assigned::Word(_), Some(last)) => values.iter().for_each(|value| last.append(value)),
            _ => old.extend(values),
        }
        old.truncate(MAX_WORDS);
    }

    fn export(&mut self, name: &str) {
        if self.exported.len() >= MAX_EXPORTS {
            return;
        }
        let value = self.variables.get(name).and_then(|values| values.first()).filter(|value| value.text.len() <= MAX_EXPORT).cloned();
        let Some(value) = value else { return };
        let secret = Redactor::is_secret_name(name);
        // The last entry of a name is the effective one.
        Rc::make_mut(&mut self.exported).push(Variable { name: name.to_owned(), value, at: self.at.clone(), secret });
    }

    /// `for NAME in WORD…`: its body once for each word, if it looks at them; once where they are not known.
    fn for_loop(&mut self, words: &[Word], body: &[Simple], text: &str, script: &Rc<Traced>, level: usize) {
        let Some(name) = words.first().and_then(Word::literal) else {
            self.run(body, script, level);
            return;
        };
        self.words += words.len();
        let mut values: Vec<Traced> = if words.len() > 1 {
            words[2.min(words.len())..]
                .iter()
                .flat_map(|word| self.fields(word, script))
                .map(|(text, _)| text)
                .take(MAX_ROUNDS + 1)
                .collect()
        } else {
            self.arguments.iter().skip(1 + self.shifted).map(|token| token.text.clone()).take(MAX_ROUNDS + 1).collect()
        };
        let looks = text.contains(&format!("${name}")) || text.contains(&format!("${{{name}"));
        if Redactor::is_secret_name(&name) {
            values = vec![secret_text(&name, self.at)];
        } else if values.is_empty() || values.len() > MAX_ROUNDS || (values.len() > 1 && !looks) {
            values = vec![self.unclear(&name)];
        }
        for value in values {
            self.spend(cost(&value));
            self.variables.insert(name.clone(), vec![value]);
            self.run(body, script, level);
            if self.words >= MAX_WORDS || self.spent() {
                return;
            }
        }
    }

    /// The elements of a variable; one, unless it is an array.
    fn lookup(&self, name: &str) -> Cow<'_, [Traced]> {
        match self.variables.get(name) {
            Some(values) => Cow::Borrowed(values),
            None => Cow::Owned(self.env.value(name).into_iter().collect()),
        }
    }

    /// An argument of the script by its number.
    fn argument(&self, number: usize) -> Option<&Token> {
        let index = if number == 0 { 0 } else { number.checked_add(self.shifted)? };
        self.arguments.get(index)
    }

    /// A word without splitting, as assignments take it.
    fn joined(&self, word: &Word, script: &Traced) -> Traced {
        let mut out = Traced::default();
        for (index, (text, _)) in self.expand(word, script, false).into_iter().enumerate() {
            if index > 0 {
                out.push(" ");
            }
            out.append(&text);
        }
        out
    }

    fn fields(&self, word: &Word, script: &Traced) -> Vec<Field> {
        self.expand(word, script, true)
    }

    fn expand(&self, word: &Word, script: &Traced, split: bool) -> Vec<Field> {
        let mut fields = Fields::default();
        self.expand_into(word, script, split, &mut fields);
        // What Kubernetes put into the script shows in the words that hold it.
        let marks: Vec<Origin> = script.slice(word.range.clone()).marks.into_iter().map(|(_, origin)| origin).collect();
        let mut done = fields.done();
        for (text, _) in &mut done {
            let length = text.text.len();
            for mark in &marks {
                if !text.marks.iter().any(|(_, known)| known == mark) {
                    text.marks.push((0..length, mark.clone()));
                }
            }
        }
        done
    }

    fn expand_into(&self, word: &Word, script: &Traced, split: bool, fields: &mut Fields) {
        for part in &word.parts {
            if fields.done.len() >= MAX_WORDS {
                return;
            }
            match part {
                Part::Literal { text, quoted } => fields.literal(text, *quoted),
                Part::Opaque { range } => fields.append(&self.opaque(range, script)),
                Part::Variable { name, fallback, quoted, all } => {
                    if self.spent() {
                        continue;
                    }
                    if name == "@" || name == "*" {
                        let rest = self.arguments.iter().skip(1 + self.shifted);
                        self.elements(rest.map(|token| (&token.text, Some(&token.at))), fields);
                        continue;
                    }
                    if *all {
                        self.elements(self.lookup(name).iter().map(|text| (text, None)), fields);
                        continue;
                    }
                    let value = if name.bytes().all(|b| b.is_ascii_digit()) {
                        name.parse::<usize>().ok().and_then(|number| self.argument(number)).map(|token| token.text.clone())
                    } else {
                        self.lookup(name).first().cloned()
                    };
                    self.spend(value.as_ref().map_or(PLAIN, cost));
                    // An empty value takes the default too: nearly everybody writes `:-`, and it changes nothing for the others.
                    let empty = value.as_ref().is_none_or(|value| value.text.is_empty());
                    match (value, fallback) {
                        (None, Fallback::Alternative(_)) => {}
                        (Some(_), Fallback::Alternative(word)) => self.expand_into(word, script, split && !quoted, fields),
                        // What stands in for a secret is one.
                        (_, Fallback::Default(word) | Fallback::Assigned(word))
                            if empty && !word.parts.is_empty() && Redactor::is_secret_name(name) =>
                        {
                            fields.append(&secret_text(name, self.at));
                        }
                        (_, Fallback::Default(word) | Fallback::Assigned(word)) if empty => {
                            self.expand_into(word, script, split && !quoted, fields);
                        }
                        (Some(value), Fallback::Edit(edit)) => {
                            let edited = self.edited(&value, edit, script).unwrap_or_else(|| self.unclear(name));
                            if *quoted || !split { fields.append(&edited) } else { fields.split(&edited) }
                        }
                        (Some(value), _) if *quoted || !split => fields.append(&value),
                        (Some(value), _) => fields.split(&value),
                        (None, _) => {
                            fields.append(&Traced::unknown_text(format!("${{{name}}}"), self.env.missing(name, self.at)));
                        }
                    }
                }
            }
        }
    }

    /// A value of a variable that is set, and that cannot be told without running the script.
    fn unclear(&self, name: &str) -> Traced {
        Traced::unknown_text(format!("${{{name}}}"), Unknown { why: COMPUTED, at: self.at.clone(), reference: name.to_owned() })
    }

    /// The value with a part cut off or changed; none when that is not certain. An unknown value stays as it is.
    fn edited(&self, value: &Traced, edit: &Edit, script: &Traced) -> Option<Traced> {
        if value.unknown().is_some() {
            return Some(value.clone());
        }
        let plain = |word: &Word| {
            let text = self.joined(word, script);
            text.unknown().is_none().then_some(text.text)
        };
        let text = value.text.as_str();
        // What is not a part of the value keeps its origins as a whole.
        let whole = |text: String| {
            let length = text.len();
            Traced { text, marks: value.marks.iter().map(|(_, origin)| (0..length, origin.clone())).collect() }
        };
        match edit {
            Edit::Cut { front, longest, pattern } => {
                let pattern = plain(pattern)?;
                if text.len() > MAX_EDITED || pattern.contains(['?', '[']) {
                    return None;
                }
                let mut cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                if front == longest {
                    cuts.reverse();
                }
                let matches = |at: &&usize| crate::images::matches(&pattern, if *front { &text[..**at] } else { &text[**at..] });
                let cut = cuts.iter().find(matches).copied();
                Some(match (cut, front) {
                    (None, _) => value.clone(),
                    (Some(at), true) => value.slice(at..text.len()),
                    (Some(at), false) => value.slice(0..at),
                })
            }
            Edit::Replace { all, from, to } => {
                let (from, to) = (plain(from)?, plain(to)?);
                if from.is_empty() || text.len() > MAX_EDITED || to.len() > MAX_EDITED {
                    return None;
                }
                Some(whole(if *all { text.replace(&from, &to) } else { text.replacen(&from, &to, 1) }))
            }
            Edit::Part { offset, length } => {
                let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
                let end = length.map_or(text.len(), |length| at(offset.saturating_add(length)));
                Some(value.slice(at(*offset)..end))
            }
            Edit::Lower => Some(whole(text.to_lowercase())),
            Edit::Upper => Some(whole(text.to_uppercase())),
        }
    }

    /// The elements of a list as words of their own, as far as there is room.
    fn elements<'t>(&self, elements: impl Iterator<Item = (&'t Traced, Option<&'t Locator>)>, fields: &mut Fields) {
        for (index, (text, at)) in elements.enumerate() {
            if self.spent() || fields.done.len() >= MAX_WORDS {
                return;
            }
            self.spend(cost(text));
            fields.element(index > 0, text, at);
        }
    }

    /// Takes note of what variables put in, here and in the whole object.
    fn spend(&self, work: usize) {
        self.room.set(self.room.get().saturating_sub(work));
        self.env.budget.spend(work);
    }

    fn spent(&self) -> bool {
        self.room.get() == 0 || self.env.budget.spent()
    }

    /// A substitution, unless it is a `$(NAME)` of Kubernetes that is known to be supplied by a reference.
    fn opaque(&self, range: &Range<usize>, script: &Traced) -> Traced {
        let text = script.text.get(range.clone()).unwrap_or_default();
        let known = script.slice(range.start.min(script.text.len())..range.end.min(script.text.len()));
        // `$(MODEL)` is a variable of Kubernetes that nobody defines; what runs a program is not.
        let inside = text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')'));
        let named = inside.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'));
        let why = if named || text.starts_with("${") { "undefined-variable" } else { COMPUTED };
        let unknown = known.unknown().cloned().unwrap_or_else(|| Unknown { why, at: self.at.clone(), reference: String::new() });
        let mut shown = Traced::default();
        shown.push(text);
        Traced::unknown_text(shown.text, unknown)
    }
}

/// Fields under construction.
#[derive(Default)]
struct Fields {
    done: Vec<Field>,
    open: Option<Field>,
}

impl Fields {
    fn current(&mut self) -> &mut Traced {
        &mut self.open.get_or_insert_with(Field::default).0
    }

    fn literal(&mut self, text: &str, quoted: bool) {
        if quoted || !text.is_empty() {
            self.current().push(text);
        }
    }

    fn append(&mut self, value: &Traced) {
        self.current().append(value);
    }

    fn split(&mut self, value: &Traced) {
        let blank = |c: char| c == ' ' || c == '\t' || c == '\n';
        // The text of an unknown piece only shows what stands there; its blanks separate nothing.
        let unknown: Vec<_> =
            value.marks.iter().filter(|(_, origin)| matches!(origin, Origin::Unknown(_))).map(|(range, _)| range.clone()).collect();
        let inside = |index: usize| unknown.iter().any(|range| range.contains(&index));
        let mut start = None;
        let mut pieces = Vec::new();
        for (index, c) in value.text.char_indices() {
            if pieces.len() >= MAX_WORDS {
                start = None;
                break;
            }
            match (blank(c) && !inside(index), start) {
                (false, None) => start = Some(index),
                (true, Some(from)) => {
                    pieces.push(from..index);
                    start = None;
                }
                _ => {}
            }
        }
        if let Some(from) = start {
            pieces.push(from..value.text.len());
        }
        if value.text.starts_with(blank) {
            self.close();
        }
        let count = pieces.len();
        for (index, piece) in pieces.into_iter().enumerate() {
            self.append(&value.slice(piece));
            if index + 1 < count {
                self.close();
            }
        }
        if count > 0 && value.text.ends_with(blank) {
            self.close();
        }
    }

    fn element(&mut self, apart: bool, text: &Traced, at: Option<&Locator>) {
        if apart {
            self.close();
        }
        let open = self.open.get_or_insert_with(Field::default);
        open.0.append(text);
        if let Some(at) = at {
            open.1 = Some(at.clone());
        }
    }

    fn close(&mut self) {
        self.done.extend(self.open.take());
    }

    fn done(mut self) -> Vec<Field> {
        self.close();
        self.done
    }
}

#[cfg(test)]
#[path = "script/tests.rs"]
mod tests;
