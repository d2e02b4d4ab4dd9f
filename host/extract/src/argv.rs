//! From the lists of a container to the programs it starts.
//!
//! Programs that only start another program are taken off (`env A=b`, `exec`, `numactl`), scripts given to a shell are read as
//! [`crate::script`] says, and what remains is compared with the launchers of the rules: by base name, by Python module, by script
//! name or, for code on the command line, by a word of it. A launcher's further words must follow at once.

use std::rc::Rc;

use aibom_facts::redact::Redactor;

use crate::budget::cost;
use crate::env::{Env, Variable, secret_text};
use crate::rules::{Does, Launcher, Rules, Wrapper};
use crate::script::{self, CommandLine, MAX_LEVELS};
use crate::text::Token;

/// A launcher that was found in a command line.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'r> {
    pub(crate) runtime: usize,
    pub(crate) launcher: &'r Launcher,
    pub(crate) does: Does,
    /// The word that made it recognised.
    pub(crate) word: Token,
    /// What follows.
    pub(crate) rest: Vec<Token>,
    /// Variables set for it.
    variables: (Rc<Vec<Variable>>, Vec<Variable>),
    /// Code on the command line.
    pub(crate) code: Option<Token>,
}

impl Launch<'_> {
    /// A variable that was set for the program on its command line or exported in its script.
    pub(crate) fn variable(&self, name: &str) -> Option<&Variable> {
        let (exported, own) = &self.variables;
        own.iter().rev().chain(exported.iter().rev()).find(|variable| variable.name == name)
    }
}

/// Most programs in front of a program that are taken off.
const MAX_WRAPPERS: usize = 16;

const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "zsh", "ksh"];

pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The command lines that a list of words amounts to.
pub(crate) fn unwrap(rules: &Rules, line: CommandLine, env: &Env) -> Vec<CommandLine> {
    let mut out = Vec::new();
    unwrap_into(rules, line, env, 0, &mut out);
    out
}

fn unwrap_into(rules: &Rules, mut line: CommandLine, env: &Env, level: usize, out: &mut Vec<CommandLine>) {
    for _ in 0..MAX_WRAPPERS {
        let Some(first) = line.tokens.first() else { return };
        let program = base_name(first.as_str()).to_owned();
        if SHELLS.contains(&program.as_str()) {
            if let Some(script) = script_of(&line.tokens).filter(|_| level < MAX_LEVELS) {
                let token = &line.tokens[script];
                let work: usize = line.own.iter().map(|variable| cost(&variable.value)).sum();
                for mut inner in script::commands(&token.text, &token.at, &line.tokens[script + 1..], env) {
                    if env.budget.spent() {
                        return;
                    }
                    env.budget.spend(work);
                    inner.own.splice(0..0, line.own.iter().cloned());
                    unwrap_into(rules, inner, env, level + 1, out);
                }
                return;
            }
            break;
        }
        let words = &line.tokens[1..];
        let wrapper = rules.conventions.wrappers.iter().find(|wrapper| {
            wrapper.programs.contains(&program)
                && wrapper.words.len() <= words.len()
                && wrapper.words.iter().zip(words).all(|(want, have)| want == have.as_str())
        });
        let Some(wrapper) = wrapper else { break };
        let Some((start, assigned)) = inner_command(wrapper, &line.tokens) else { break };
        line.tokens.drain(..start);
        line.own.extend(assigned);
    }
    out.push(line);
}

/// Index of the script of `sh -c script`.
fn script_of(tokens: &[Token]) -> Option<usize> {
    let mut index = 1;
    let mut asked = false;
    while let Some(token) = tokens.get(index) {
        let text = token.as_str();
        if text == "--" {
            index += 1;
            break;
        }
        let Some(flags) = text.strip_prefix(['-', '+']).filter(|flags| !flags.is_empty()) else { break };
        index += 1;
        if !flags.starts_with('-') {
            asked |= flags.contains('c');
            if flags.ends_with(['o', 'O']) {
                index += 1;
            }
        }
    }
    (asked && index < tokens.len()).then_some(index)
}

/// Where the command behind a wrapper begins, and the variables set in between.
fn inner_command(wrapper: &Wrapper, tokens: &[Token]) -> Option<(usize, Vec<Variable>)> {
    let mut index = 1 + wrapper.words.len();
    let mut assigned = Vec::new();
    if wrapper.after_dashes {
        let dashes = tokens.iter().skip(index).position(|token| token.as_str() == "--")?;
        index += dashes + 1;
    } else {
        while let Some(token) = tokens.get(index) {
            let text = token.as_str();
            if text == "--" {
                index += 1;
                break;
            }
            if !text.starts_with('-') || text.len() < 2 {
                break;
            }
            index += 1;
            if wrapper.valued.iter().any(|option| option == text) {
                index += 1;
            }
        }
        while let Some((name, _)) = tokens.get(index).filter(|_| wrapper.assignments).and_then(|token| token.as_str().split_once('=')) {
            let token = &tokens[index];
            let secret = Redactor::is_secret_name(name);
            let value = if secret { secret_text(name, &token.at) } else { token.text.slice(name.len() + 1..token.as_str().len()) };
            assigned.push(Variable { name: name.to_owned(), value, at: token.at.clone(), secret });
            index += 1;
        }
        index += wrapper.skip;
    }
    (index < tokens.len()).then_some((index, assigned))
}

/// What a Python command line runs.
enum Python {
    Module(usize),
    Code(usize),
    Script(usize),
    Input,
}

fn is_python(program: &str) -> bool {
    program
        .strip_prefix("python")
        .or_else(|| program.strip_prefix("pypy"))
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

fn python(tokens: &[Token]) -> Option<Python> {
    let mut index = usize::from(is_python(base_name(tokens.first()?.as_str())));
    loop {
        let text = tokens.get(index)?.as_str();
        match text {
            "-m" => return tokens.get(index + 1).map(|_| Python::Module(index + 1)),
            "-c" => return tokens.get(index + 1).map(|_| Python::Code(index + 1)),
            "-X" | "-W" => index += 2,
            _ if text.starts_with('-') && text.len() > 1 => index += 1,
            _ => return Some(Python::Script(index)),
        }
    }
}

/// The most specific launcher of a command line.
pub(crate) fn find<'r>(rules: &'r Rules, line: &CommandLine) -> Option<Launch<'r>> {
    let tokens = &line.tokens;
    let first = tokens.first()?.as_str();
    let program = base_name(first);
    let mut best: Option<(usize, Launch<'r>)> = None;
    let kind = if is_python(program) || first == "-m" { python(tokens) } else { None };
    // Code that comes as input: `python3 - <<EOF`.
    let kind = match (kind, &line.document) {
        (Some(Python::Script(index)), Some(_)) if tokens[index].as_str() == "-" => Some(Python::Input),
        (None, Some(_)) if is_python(program) => Some(Python::Input),
        (kind, _) => kind,
    };
    let input = line.document.as_ref();
    for (runtime, rule) in rules.runtimes.iter().enumerate() {
        for launcher in &rule.launch {
            let start = match &kind {
                None => launcher.programs.iter().any(|name| name == program) || launcher.scripts.iter().any(|name| name == program),
                Some(Python::Module(index)) => launcher.modules.iter().any(|name| name == tokens[*index].as_str()),
                Some(Python::Script(index)) => {
                    let script = base_name(tokens[*index].as_str());
                    launcher.scripts.iter().chain(&launcher.programs).any(|name| name == script)
                }
                Some(Python::Code(index)) => launcher.code.iter().any(|word| tokens[*index].as_str().contains(word.as_str())),
                Some(Python::Input) => input.is_some_and(|code| launcher.code.iter().any(|word| code.as_str().contains(word.as_str()))),
            };
            if !start {
                continue;
            }
            let at = match kind {
                None | Some(Python::Input) => 0,
                Some(Python::Module(index) | Python::Script(index) | Python::Code(index)) => index,
            };
            let rest = &tokens[at + 1..];
            if rest.len() < launcher.words.len() || !launcher.words.iter().zip(rest).all(|(want, have)| want == have.as_str()) {
                continue;
            }
            if launcher.hub_only && !rest.iter().any(|token| on_hub(token.as_str())) {
                continue;
            }
            let weight = 1 + launcher.words.len();
            if best.as_ref().is_some_and(|(known, _)| *known >= weight) {
                continue;
            }
            let launch = Launch {
                runtime,
                launcher,
                does: launcher.does.unwrap_or(rule.does),
                word: tokens[at].clone(),
                rest: rest[launcher.words.len()..].to_vec(),
                variables: (Rc::clone(&line.exported), line.own.clone()),
                code: match kind {
                    Some(Python::Code(_)) => Some(tokens[at].clone()),
                    Some(Python::Input) => input.cloned(),
                    _ => None,
                },
            };
            best = Some((weight, launch));
        }
    }
    best.map(|(_, launch)| launch)
}

/// Whether a word is an address on the model hub.
fn on_hub(word: &str) -> bool {
    ["huggingface.co/", "hf.co/", "hf-mirror.com/"]
        .iter()
        .any(|host| word.find(host).is_some_and(|at| word[..at].ends_with(['/', '@', '.'])))
}

/// What a command line without a launcher does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Other {
    /// Waits.
    Idle,
    /// Sets up or looks around.
    Plain,
    /// Is called a download.
    Fetch,
    /// Anything.
    Unknown,
}

pub(crate) fn other(rules: &Rules, line: &CommandLine) -> Other {
    let program = line.tokens.first().map(|token| base_name(token.as_str())).unwrap_or_default();
    let fetching = &rules.conventions.fetching;
    if rules.conventions.idle.iter().any(|name| name == program) {
        Other::Idle
    } else if rules.conventions.plain.iter().any(|name| name == program) {
        Other::Plain
    } else if line
        .tokens
        .iter()
        .take(2)
        .any(|token| base_name(token.as_str()).split(['-', '_', '.']).any(|word| fetching.iter().any(|known| known == word)))
    {
        Other::Fetch
    } else {
        Other::Unknown
    }
}

#[cfg(test)]
#[path = "argv/tests.rs"]
mod tests;
