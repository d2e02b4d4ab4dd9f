//! From the lists of a container to the programs it starts.
//!
//! Programs that only start another program are taken off (`env A=b`, `exec`, `numactl`), scripts given to a shell are read as
//! [`crate::script`] says, and what remains is compared with the launchers of the rules: by base name, by Python module, by script
//! name or, for code on the command line, by a word of it. A launcher's further words must follow at once.

use std::path::Path;
use std::rc::Rc;

use aibom_facts::redact::Redactor;

use crate::budget::cost;
use crate::env::{Env, Variable, secret_text};
use crate::images::matches;
use crate::python;
use crate::rules::{Does, Launcher, Rules, Wrapper, fold};
use crate::script::{self, CommandLine, MAX_LEVELS};
use crate::text::{Token, Traced};

/// A launcher that was found in a command line.
#[derive(Clone, Debug)]
pub(crate) struct Launch<'r> {
    pub(crate) runtime: usize,
    pub(crate) launcher: &'r Launcher,
    pub(crate) does: Does,
    /// The word that made it recognised.
    pub(crate) word: Token,
    /// What is recognised in it: itself, or the function that code calls.
    pub(crate) by: String,
    /// What follows.
    pub(crate) rest: Vec<Token>,
    /// Variables set for it.
    variables: (Rc<Vec<Variable>>, Vec<Variable>),
    /// Runtimes that started it, with the word that made each recognised.
    pub(crate) carriers: Vec<(usize, Token)>,
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

/// Programs that run a script as another user.
const USERS: [&str; 2] = ["su", "runuser"];

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
        if SHELLS.contains(&program.as_str()) || USERS.contains(&program.as_str()) {
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
        if let Some(wrapper) = wrapper {
            let Some((start, assigned)) = inner_command(wrapper, &line.tokens) else { break };
            line.tokens.drain(..start);
            line.own.extend(assigned);
        } else {
            let Some((carrier, rest)) = carried(rules, &line) else { break };
            line.carriers.push(carrier);
            line.tokens = rest;
        }
    }
    out.push(line);
}

/// Letters of the options of shells.
const SHELL_FLAGS: &str = "abcefhiklmnoprstuvxBCDEHOPT";

/// Long options of shells.
const SHELL_OPTIONS: [&str; 8] = ["login", "posix", "noprofile", "norc", "noediting", "restricted", "verbose", "debugger"];

/// Index of the script of `sh -c script` or `su user -c script`. With an option that no shell has, nothing runs, and what follows is the
/// value of something that was meant for another program.
fn script_of(tokens: &[Token]) -> Option<usize> {
    if tokens.first().is_some_and(|first| USERS.contains(&base_name(first.as_str()))) {
        let asked = tokens.iter().position(|token| matches!(token.as_str(), "-c" | "--command" | "-lc"))?;
        return (asked + 1 < tokens.len()).then_some(asked + 1);
    }
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
        if let Some(long) = flags.strip_prefix('-') {
            if !SHELL_OPTIONS.contains(&long) {
                return None;
            }
        } else if !flags.chars().all(|flag| SHELL_FLAGS.contains(flag)) {
            return None;
        } else {
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
        if let Some(option) = &wrapper.environment {
            assigned = environment(option, &tokens[index..index + dashes]);
        }
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
            } else if wrapper.double.iter().any(|option| option == text) {
                index += 2;
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

/// Most variables that one option hands to a command.
const MAX_VARIABLES: usize = 128;

/// The variables in the JSON value of an option.
fn environment(option: &str, own: &[Token]) -> Vec<Variable> {
    let mut words = own.iter().skip_while(|token| !token.as_str().starts_with(option));
    let Some(first) = words.next() else { return Vec::new() };
    let joined = first.as_str().strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
    let Some((text, token)) = joined.map(|text| (text, first)).or_else(|| words.next().map(|next| (next.as_str(), next))) else {
        return Vec::new();
    };
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let pairs = value.get("env_vars").and_then(|variables| variables.as_object()).into_iter().flatten();
    let variable = |(name, value): (&String, &serde_json::Value)| {
        let secret = Redactor::is_secret_name(name);
        let value = if secret { secret_text(name, &token.at) } else { Traced::plain(value.as_str()?) };
        Some(Variable { name: name.clone(), value, at: token.at.clone(), secret })
    };
    pairs.filter_map(variable).take(MAX_VARIABLES).collect()
}

/// What a Python command line runs.
enum Python {
    Module(usize),
    Code(usize),
    Script(usize),
    Input,
}

/// Whether a program runs scripts that are named behind it.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let program = base_name(program);
    SHELLS.contains(&program) || is_python(program)
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

/// What a command line begins with.
struct Head {
    kind: Option<Python>,
    /// The word that a launcher is recognised by.
    at: usize,
}

impl Head {
    fn of(line: &CommandLine) -> Option<Self> {
        let tokens = &line.tokens;
        let first = tokens.first()?.as_str();
        let program = base_name(first);
        let kind = if is_python(program) || first == "-m" { python(tokens) } else { None };
        // Code that comes as input: `python3 - <<EOF`.
        let kind = match (kind, &line.document) {
            (Some(Python::Script(index)), Some(_)) if tokens[index].as_str() == "-" => Some(Python::Input),
            (None, Some(_)) if is_python(program) => Some(Python::Input),
            (kind, _) => kind,
        };
        let at = match kind {
            None | Some(Python::Input) => 0,
            Some(Python::Module(index) | Python::Script(index) | Python::Code(index)) => index,
        };
        Some(Self { kind, at })
    }

    /// Launchers that may fit, in the order of the files.
    fn candidates(&self, rules: &Rules, tokens: &[Token]) -> Vec<(usize, usize)> {
        let word = tokens[self.at].as_str();
        let serves = APPLICATION_SERVERS.contains(&base_name(word));
        match self.kind {
            None | Some(Python::Script(_)) => rules.launchers.named(base_name(word), serves),
            Some(Python::Module(_)) => rules.launchers.module(word, serves),
            Some(Python::Code(_) | Python::Input) => Vec::new(),
        }
    }

    /// How well a launcher fits to the first words; none when it does not.
    fn fits(&self, rules: &Rules, launcher: &Launcher, line: &CommandLine) -> Option<usize> {
        let tokens = &line.tokens;
        let word = tokens[self.at].as_str();
        let base = base_name(word);
        let named = |names: &[String]| names.iter().any(|name| name == base).then_some(EXACT);
        let scripts = || launcher.scripts.iter().filter_map(|pattern| script_fits(pattern, word)).max();
        let rest = &tokens[self.at + 1..];
        let served = || {
            let app = |word: &Token| launcher.apps.iter().any(|app| app == word.as_str());
            (APPLICATION_SERVERS.contains(&base) && rest.iter().any(app)).then_some(EXACT)
        };
        let start = match self.kind {
            None | Some(Python::Script(_)) => named(&launcher.programs).max(scripts()).or_else(served),
            Some(Python::Module(_)) => launcher.modules.iter().any(|name| matches(name, word)).then_some(EXACT).or_else(served),
            Some(Python::Code(_) | Python::Input) => None,
        }?;
        if launcher.with.as_ref().is_some_and(|with| !is_with(rest, with)) {
            return None;
        }
        if !launcher.says.is_empty() && !rest.iter().chain(&line.document).any(|word| says(word.as_str(), &launcher.says)) {
            return None;
        }
        let start = start + 12 * usize::from(launcher.with.is_some());
        let followed = rest.len() >= launcher.words.len() && launcher.words.iter().zip(rest).all(|(want, have)| want == have.as_str());
        let any = |wanted: bool, is: fn(&str) -> bool| !wanted || rest.iter().any(|token| is(token.as_str()));
        let copied = || !launcher.models_only || copies_a_model(&rules.conventions.stored_models, rest);
        (followed && any(launcher.hub_only, on_hub) && any(launcher.weights_only, is_weights) && copied())
            .then(|| start + launcher.words.len() * 8)
    }
}

/// Web servers that are given an application of Python.
const APPLICATION_SERVERS: [&str; 5] = ["uvicorn", "gunicorn", "hypercorn", "granian", "daphne"];

/// Whether an option, an option with its value or a part of a word is among the words.
fn is_with(words: &[Token], with: &str) -> bool {
    let texts = || words.iter().map(Token::as_str);
    match (with.starts_with('-'), with.split_once('=')) {
        (false, _) => texts().any(|text| text.contains(with)),
        (true, None) => texts().any(|text| text.split_once('=').map_or(text, |(name, _)| name) == with),
        (true, Some((name, value))) => {
            texts().any(|text| text == with) || words.windows(2).any(|pair| pair[0].as_str() == name && pair[1].as_str() == value)
        }
    }
}

/// Whether a text has all of these parts, in any case and with any blanks between words.
fn says(text: &str, parts: &[String]) -> bool {
    let plain = format!(
        "{} ",
        text.to_ascii_lowercase().split([' ', '\n', '\t', ';', '"', '\'']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    );
    parts.iter().all(|part| plain.contains(part.as_str()))
}

/// How well a name fits that is written out; patterns fit less well, paths better.
const EXACT: usize = 2;

/// Compares a script with a name or the end of a path; `*` stands for any text.
fn script_fits(pattern: &str, script: &str) -> Option<usize> {
    let open = usize::from(!pattern.contains('*'));
    let Some((folders, name)) = pattern.rsplit_once('/') else {
        return matches(pattern, base_name(script)).then_some(EXACT - 1 + open);
    };
    let (path, base) = script.rsplit_once('/')?;
    let ends = path.strip_suffix(folders).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    (ends && matches(name, base)).then_some(EXACT + 1 + open)
}

/// A launcher that starts the program behind its own options, and the command line of that.
fn carried(rules: &Rules, line: &CommandLine) -> Option<((usize, usize, Token), Vec<Token>)> {
    let tokens = &line.tokens;
    let head = Head::of(line)?;
    let (runtime, index, launcher) = head
        .candidates(rules, tokens)
        .into_iter()
        .map(|(runtime, index)| (runtime, index, &rules.runtimes[runtime].launch[index]))
        .find(|(_, _, launcher)| launcher.starts.is_some() && head.fits(rules, launcher, line).is_some())?;
    let start = launcher.starts.as_ref()?;
    let mut next = head.at + 1 + launcher.words.len();
    let (mut module, mut program) = (false, false);
    let has = |list: &[String], name: &str| list.iter().any(|known| fold(known) == fold(name));
    while let Some(text) = tokens.get(next).map(Token::as_str) {
        if text == "--" {
            next += 1;
            break;
        }
        if !text.starts_with('-') || text.len() < 2 {
            break;
        }
        next += 1;
        let (name, joined) = text.split_once('=').map_or((text, false), |(name, _)| (name, true));
        if has(&start.module, name) {
            module = true;
        } else if has(&start.program, name) {
            program = true;
        } else if !joined && if start.valued.is_empty() { !has(&start.switches, name) } else { has(&start.valued, name) } {
            next += 1;
        }
    }
    let rest = tokens.get(next..).filter(|rest| !rest.is_empty())?;
    let word = |text: &str| Token { text: Traced::plain(text), ..rest[0].clone() };
    let front = match rest[0].as_str() {
        _ if module => vec![word("python"), word("-m")],
        text if !program && Path::new(text).extension().is_some_and(|extension| extension == "py") => vec![word("python")],
        _ => Vec::new(),
    };
    Some(((runtime, index, tokens[head.at].clone()), front.into_iter().chain(rest.iter().cloned()).collect()))
}

/// The most specific launcher of a command line; of Python code that it holds or reads, those of the calls in it.
pub(crate) fn find<'r>(rules: &'r Rules, line: &CommandLine, env: &Env) -> Vec<Launch<'r>> {
    let Some(head) = Head::of(line) else { return Vec::new() };
    let tokens = &line.tokens;
    let carriers: Vec<(usize, Token)> = line.carriers.iter().map(|(runtime, _, word)| (*runtime, word.clone())).collect();
    let make = |runtime: usize, launcher: &'r Launcher, word: Token, rest: Vec<Token>, carriers: Vec<(usize, Token)>| Launch {
        runtime,
        launcher,
        does: launcher.does.unwrap_or(rules.runtimes[runtime].does),
        by: word.as_str().to_owned(),
        word,
        rest,
        variables: (Rc::clone(&line.exported), line.own.clone()),
        carriers,
    };
    let code = match head.kind {
        Some(Python::Code(index)) => Some((&tokens[index], &tokens[index + 1..])),
        Some(Python::Input) => line.document.as_ref().map(|code| (code, &tokens[tokens.len()..])),
        _ => None,
    };
    if let Some((code, arguments)) = code {
        let mut out = Vec::new();
        for call in python::calls(code, arguments, env, &line.own) {
            let fits = |launcher: &&Launcher| {
                launcher.calls.iter().any(|pattern| call.is(pattern))
                    && launcher.imports.as_ref().is_none_or(|package| python::imports(code.as_str(), package))
            };
            let all = rules.launchers.calling().iter().map(|(runtime, index)| (*runtime, &rules.runtimes[*runtime].launch[*index]));
            let found = all.filter(|(_, launcher)| fits(launcher));
            if let Some((runtime, launcher)) = found.max_by_key(|(_, launcher)| launcher.imports.is_some()) {
                let launch = make(runtime, launcher, code.clone(), call.words, carriers.clone());
                out.push(Launch { by: call.name, ..launch });
            }
        }
        return out;
    }
    let mut best: Option<(usize, Launch<'r>)> = None;
    for (runtime, index) in head.candidates(rules, tokens) {
        let launcher = &rules.runtimes[runtime].launch[index];
        let Some(weight) = head.fits(rules, launcher, line) else { continue };
        if best.as_ref().is_some_and(|(known, _)| *known >= weight) {
            continue;
        }
        let rest = tokens[head.at + 1 + launcher.words.len()..].to_vec();
        best = Some((weight, make(runtime, launcher, tokens[head.at].clone(), rest, carriers.clone())));
    }
    if best.is_none()
        && let Some((runtime, index, word)) = line.carriers.last()
    {
        let rule = &rules.runtimes[*runtime];
        let launcher = &rule.launch[*index];
        // What a launcher of training starts is taken for training, unless it is known to be something else.
        if launcher.category.or(rule.category).is_some() {
            let others = carriers[..carriers.len() - 1].to_vec();
            return vec![make(*runtime, launcher, word.clone(), tokens[head.at + 1..].to_vec(), others)];
        }
    }
    best.map(|(_, launch)| launch).into_iter().collect()
}

/// Whether a word is an address on the model hub.
fn on_hub(word: &str) -> bool {
    // A space is an application.
    if word.contains(".co/spaces/") {
        return false;
    }
    ["huggingface.co/", "hf.co/", "hf-mirror.com/", "modelscope.cn/"]
        .iter()
        .any(|host| word.find(host).is_some_and(|at| word[..at].ends_with(['/', '@', '.'])))
}

/// Whether a word is the address of a file with weights, or of any file in a repository of the hub.
fn is_weights(word: &str) -> bool {
    let path = word.split(['?', '#']).next().unwrap_or_default();
    let catalogued = ["://api.ngc.nvidia.com/v2/models/", "://civitai.com/api/download/models/"].iter().any(|start| path.contains(start));
    catalogued || (on_hub(word) && path.contains("/resolve/")) || (path.contains("://") && has_weights(path))
}

/// Whether an address is that of weights, or of a repository of the hub.
pub(crate) fn is_weights_or_repository(address: &str) -> bool {
    is_weights(address) || on_hub(address)
}

/// Whether a file is called as files with weights are.
pub(crate) fn has_weights(file: &str) -> bool {
    const ENDS: [&str; 9] = [".gguf", ".safetensors", ".pt", ".pth", ".onnx", ".ckpt", ".nemo", ".tflite", ".engine"];
    ENDS.iter().any(|end| file.ends_with(end))
}

/// Whether the first address is followed by a directory of one's own, and either speaks of models: what goes the other way is made here,
/// and of the rest nobody knows what it is.
fn copies_a_model(directories: &[String], words: &[Token]) -> bool {
    let Some(from) = words.iter().position(|word| in_a_store(word.as_str())) else { return false };
    let into = words[from + 1..].iter().map(Token::as_str).find(|word| word.starts_with(['/', '.', '~']));
    // A path in front of it is what goes to the store.
    if words[..from].iter().any(|word| word.as_str().starts_with(['/', '.', '~'])) {
        return false;
    }
    let named = |text: &str| text.split('/').any(|segment| directories.iter().any(|known| known.eq_ignore_ascii_case(segment)));
    into.is_some_and(|into| named(into) || named(words[from].as_str()) || is_weights(words[from].as_str()))
}

/// Whether a word is an address in an object store. Options may hold the address of the store itself.
fn in_a_store(word: &str) -> bool {
    ["s3://", "gs://", "az://", "oss://", "cos://", "obs://"].iter().any(|scheme| word.starts_with(scheme))
        || (word.contains("://") && word.contains(".blob."))
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
    // An option in front means that the program is the image's own; the end of its value is no name.
    let first = line.tokens.first().map(Token::as_str).filter(|text| !text.starts_with('-'));
    let program = first.map(base_name).unwrap_or_default();
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

/// What a script sets for the programs that it starts: those that are known, and those that are not.
pub(crate) fn variables<'v>(launches: &'v [Launch<'_>], lines: &[&'v [CommandLine]]) -> Vec<&'v Variable> {
    let known = launches.iter().map(|launch| (&launch.variables.0, &launch.variables.1));
    let unknown = lines.iter().copied().flatten().map(|line| (&line.exported, &line.own));
    let mut last: Option<&Rc<Vec<Variable>>> = None;
    let mut out = Vec::new();
    for (exported, own) in known.chain(unknown) {
        out.extend(own);
        // A script exports a few times and starts many programs.
        if last.is_none_or(|last| !Rc::ptr_eq(last, exported)) {
            out.extend(exported.iter());
        }
        last = Some(exported);
    }
    out
}

/// Whether it joins a server that another pod leads and that knows the model.
pub(crate) fn joins(rules: &Rules, line: &CommandLine) -> bool {
    let words: Vec<&str> = line.tokens.iter().map(Token::as_str).collect();
    let interpreted = words.first().is_some_and(|program| {
        let program = base_name(program);
        SHELLS.contains(&program) || program.starts_with("python")
    });
    let Some((program, words)) = words.get(usize::from(interpreted)..).and_then(<[&str]>::split_first) else { return false };
    let has = |options: &[String]| {
        let mut names = words.iter().filter_map(|word| word.split('=').next()).filter(|word| word.starts_with("--"));
        names.any(|name| options.contains(&fold(name)))
    };
    rules.conventions.joining.iter().any(|joining| {
        (joining.programs.is_empty() || joining.programs.iter().any(|known| known == base_name(program)))
            && joining.words.len() <= words.len()
            && joining.words.iter().zip(words).all(|(want, have)| want == have)
            && (joining.options.is_empty() || has(&joining.options))
    })
}

#[cfg(test)]
#[path = "argv/tests.rs"]
mod tests;
