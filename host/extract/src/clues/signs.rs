//! What names, variables, arguments and resources show, one by one, and where they do.

use std::collections::{BTreeMap, HashSet};

use aibom_facts::inventory::{Evidence, Role, Source};
use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{ContainerClass, Duty};

use super::{ClueWords, holds_a_model, role_of};
use crate::argv::{self, base_name, is_weights_or_repository};
use crate::env::{Variable, upper_snake};
use crate::images::{ImageMatch, Strength};
use crate::reading::Reader;
use crate::script::CommandLine;
use crate::storage;
use crate::text::Token;

/// Words around a container, each with the first place that says it.
pub(super) type Words = BTreeMap<String, (Locator, Source)>;

/// What the variables, the arguments and the resources of a container show.
#[derive(Default)]
pub(super) struct Signs<'a> {
    /// A variable that only programs around models have says so.
    pub(super) decided: bool,
    /// It has the address of something.
    pub(super) calls: bool,
    /// Roles of models that an address is called after.
    pub(super) called: Vec<Role>,
    /// That is the address of something that answers as a model.
    pub(super) asks: bool,
    /// It has an accelerator.
    pub(super) device: bool,
    /// A variable speaks of an engine, of a hub or of a tool around models.
    pub(super) hinted: bool,
    /// It has the settings of a training.
    pub(super) trains: bool,
    /// Variables that hold a model, with the role that their names tell.
    pub(super) models: Vec<(Option<Role>, &'a Variable)>,
    /// What says that the program works with models.
    pub(super) proofs: Vec<Evidence>,
    /// What says it if a model is named.
    pub(super) hints: Vec<Evidence>,
}

impl Signs<'_> {
    /// The program works with models, whichever they are.
    pub(super) fn certain(&self) -> bool {
        !self.proofs.is_empty()
    }

    /// It works with models if it names one.
    pub(super) fn likely(&self) -> bool {
        self.certain() || !self.hints.is_empty()
    }
}

impl Reader<'_> {
    /// The signs of a container whose program is in these lines. What is asked of a service is known already.
    pub(super) fn signs(&self, words: &ClueWords, lines: &[CommandLine], asked: &[&str]) -> Signs<'_> {
        let device = self.container.resources.and_then(|place| storage::device_asked_for(self.rules, place));
        let mut signs = Signs { device: device.is_some(), ..Signs::default() };
        if self.container.duty == Duty::Engine && self.container.class == ContainerClass::Main {
            // The kind has the template for what runs the model.
            signs.proofs.push(self.evidence(&self.container.at, Source::Derived, "", &self.container.template));
        }
        // One variable alone is a weak sign: a token of the hub is in many a pod.
        let mut weak = Vec::new();
        for variable in self.container.env.iter() {
            let written = variable.name.as_str();
            let upper = upper_snake(written);
            let name = upper.as_ref();
            let text = variable.value.text.as_str();
            let sign = |source| self.evidence(&variable.at, source, "", written);
            // What is switched off is not there.
            let empty = !variable.secret && (text.is_empty() || is_off(text));
            let of_a_service = self.rules.apis.variable(written).is_some();
            let mut hint = words.hub.contains(name);
            let mut likely = words.parameters.contains(name);
            let (mut last, mut store) = ("", false);
            for word in name.split('_') {
                // The address of a server says that there is one, and not that this is it.
                likely |= words.engines.contains(word) && !empty;
                hint |= words.engines.contains(word) && !of_a_service;
                store |= words.stores.contains(word);
                last = word;
            }
            hint &= !empty;
            let held = !variable.secret && !text.is_empty() && holds_a_model(words, name);
            let address = words.endpoints.contains(last) && !store && !variable.secret && !held;
            signs.calls |= address;
            signs.called.extend(role_of(words, name).filter(|_| address));
            if !variable.secret && !store && asks_a_model(words, text, address) {
                signs.asks = true;
                signs.proofs.push(sign(Source::EnvVarConvention));
            }
            if !empty && words.decisive.iter().any(|phrase| has_phrase(name, phrase)) {
                signs.decided = true;
                signs.proofs.push(sign(Source::EnvVarNamePresent));
            }
            if held && !asked.contains(&written) {
                if is_elsewhere(text) {
                    signs.calls = true;
                } else {
                    signs.models.push((role_of(words, name), variable));
                }
            }
            if hint {
                weak.push(sign(Source::EnvVarNamePresent));
            } else if likely {
                signs.hints.push(sign(Source::EnvVarNamePresent));
            }
        }
        if let Some(token) = lines.iter().find_map(|line| argument_that_asks(words, line)) {
            signs.asks = true;
            // The option alone: an address may hold what nobody should see.
            let option = token.as_str().split_once('=').map_or("", |(name, _)| name);
            let option = if option.starts_with("--") { option } else { "" };
            signs.proofs.push(self.evidence(&token.at, Source::Derived, "", option));
        }
        signs.calls |= signs.asks;
        // A script sets variables for the programs that it starts.
        let scripted = argv::variables(&[], &[lines]);
        let set = |name: &String| self.container.env.get(name).or_else(|| scripted.iter().copied().find(|variable| variable.name == *name));
        let training = words.trainings.iter().find(|names| !names.is_empty() && names.iter().all(|name| set(name).is_some()));
        if let Some(names) = training {
            let found = names.iter().filter_map(set);
            let found: Vec<_> = found.map(|variable| self.evidence(&variable.at, Source::EnvVarNamePresent, "", &variable.name)).collect();
            signs.trains = true;
            signs.proofs.extend(found);
        }
        let device = device.map(|(name, place)| self.evidence(&place.at(), Source::Derived, "", name));
        signs.hinted = !weak.is_empty();
        if weak.len() > 1 || (signs.hinted && signs.device) {
            signs.proofs.extend(weak.iter().cloned().chain(device.clone()));
        }
        signs.hints.extend(weak);
        signs.hints.extend(device);
        signs
    }

    /// Adds what the names of the image and of the programs show, and what a script installs.
    pub(super) fn names(&self, words: &ClueWords, spoken: &Words, lines: &[CommandLine], images: &[ImageMatch], signs: &mut Signs<'_>) {
        let at = self.container.image.as_ref().map_or(&self.container.at, |written| &written.at);
        let image = |by: &str| self.evidence(at, Source::ImagePattern, "", by);
        if let Some(library) = images.iter().find(|found| found.strength > Strength::Weak) {
            signs.proofs.push(image(&library.pattern));
        }
        let any = |set: &HashSet<String>| spoken.keys().find(|word| set.contains(*word));
        let begins = || spoken.keys().find(|word| words.beginnings.iter().any(|beginning| word.starts_with(beginning.as_str())));
        // What hints at an engine is no second sign of it.
        let engine = || any(&words.engine_words).filter(|_| images.is_empty());
        let speaks = any(&words.words).or_else(begins).or_else(engine);
        let mut proofs: Vec<Evidence> = speaks.into_iter().filter_map(|word| self.word(spoken, word)).collect();
        if proofs.is_empty() {
            proofs = self.company(words, spoken);
        }
        if proofs.is_empty() {
            proofs.extend(self.plain_word(words, lines));
        }
        if any(&words.fronts).is_none() {
            signs.proofs.extend(proofs);
        }
        let half = |word: &&String| words.half_words.contains(*word) || words.doubtful_words.contains(*word);
        let fetching = spoken.keys().find(|word| self.rules.conventions.fetching.contains(word));
        let halves: Vec<Evidence> = spoken.keys().filter(half).chain(fetching).filter_map(|word| self.word(spoken, word)).collect();
        // A client of the tools of machine learning that is called a trainer or a model.
        if halves.len() > 1 || (!halves.is_empty() && (signs.hinted || signs.device)) {
            signs.proofs.extend(halves);
        }
        signs.proofs.extend(self.variable_of(images, words));
        signs.hints.extend(images.first().map(|found| image(&found.pattern)));
        signs.hints.extend(any(&words.doubtful_words).and_then(|word| self.word(spoken, word)));
    }

    /// A word, where it stands.
    pub(super) fn word(&self, spoken: &Words, word: &str) -> Option<Evidence> {
        spoken.get(word).map(|(at, source)| self.evidence(at, *source, "", word))
    }

    /// Words of the image, of the programs, and, where a placeholder stands for the image or nothing does, of the names around.
    pub(super) fn spoken(&self, lines: &[CommandLine]) -> Words {
        let mut out = Words::new();
        let mut add = |text: &str, at: &Locator| add_words(&mut out, text, at, Source::ImagePattern);
        match (self.image, &self.container.image) {
            (Some(image), Some(written)) => {
                let generic = |segment: &&str| self.rules.conventions.generic_segments.iter().any(|known| known == segment);
                let mut segments = image.repository.rsplit('/');
                let last = segments.next().unwrap_or_default();
                add(last, &written.at);
                if generic(&last) {
                    add(segments.next().unwrap_or_default(), &written.at);
                }
            }
            (None, Some(written)) => add(written.text.rsplit_once(':').map_or(written.text.as_str(), |(name, _)| name), &written.at),
            (_, None) => {}
        }
        if self.image.is_none() {
            add_words(&mut out, &self.container.name, &self.container.at, Source::Derived);
            let name = Locator::scraped(Pointer::root().child("metadata").child("name"));
            add_words(&mut out, self.workload, &name, Source::Derived);
        }
        for line in lines {
            names_of_programs(line, &mut out);
        }
        out
    }

    /// A word that speaks of AI in company, and its company, in the last two segments of the image or in the names of the programs.
    fn company(&self, words: &ClueWords, spoken: &Words) -> Vec<Evidence> {
        let mut around = spoken.clone();
        if let (Some(image), Some(written)) = (self.image, &self.container.image) {
            let segments = image.repository.rsplit('/').take(2);
            segments.for_each(|segment| add_words(&mut around, segment, &written.at, Source::ImagePattern));
        }
        let pair = words.companions.iter().find_map(|(word, company)| {
            let other = around.keys().find(|other| around.contains_key(word) && company.contains(*other))?;
            Some([word, other])
        });
        pair.into_iter().flatten().filter_map(|word| self.word(&around, word)).collect()
    }

    /// A word that means something else too, where it is all that an image is called, or in the name of a program.
    fn plain_word(&self, words: &ClueWords, lines: &[CommandLine]) -> Option<Evidence> {
        let name = self.image.and_then(|image| image.repository.rsplit('/').next());
        // In a placeholder the name may stand between others: `{registry}/mistral:{tag}`.
        let written = self.container.image.as_ref();
        let placeholder = || written?.text.rsplit('/').next()?.split(':').next();
        let name = if self.image.is_some() { name } else { placeholder() };
        if let (Some(name), Some(written)) = (name.filter(|name| words.doubtful_words.contains(*name)), written) {
            return Some(self.evidence(&written.at, Source::ImagePattern, "", name));
        }
        let mut programs = Words::new();
        for line in lines {
            names_of_programs(line, &mut programs);
        }
        let word = programs.keys().find(|word| words.doubtful_words.contains(*word))?;
        self.word(&programs, word)
    }

    /// A variable that only the engine reads that the image hints at.
    fn variable_of(&self, images: &[ImageMatch], words: &ClueWords) -> Option<Evidence> {
        let owner = |variable: &Variable| {
            let (first, _) = variable.name.split_once('_').filter(|_| self.rules.apis.variable(&variable.name).is_none())?;
            self.rules.index(words.own_variables.get(first)?)
        };
        let is_of = |variable: &&Variable| owner(variable).is_some_and(|runtime| images.iter().any(|found| found.runtime == runtime));
        let found = self.container.env.iter().find(is_of)?;
        Some(self.evidence(&found.at, Source::EnvVarNamePresent, "", &found.name))
    }
}

/// The words of the program and of what an interpreter runs.
pub(super) fn names_of_programs(line: &CommandLine, out: &mut Words) {
    // Behind an option in front stands a value, and the program is the image's own.
    if line.tokens.first().is_some_and(|first| first.as_str().starts_with('-')) {
        return;
    }
    // An address names what is there, such as a bucket of photographs of llamas.
    let address = |text: &str| text.split_once(':').is_some_and(|(_, rest)| rest.contains('/'));
    for token in line.tokens.iter().take(3).filter(|token| !token.as_str().starts_with('-')).take(2) {
        if !address(token.as_str()) {
            // What a program is called is less than what it is told.
            add_words(out, base_name(token.as_str()), &token.at, Source::Derived);
        }
    }
}

/// Adds the words of a name in lower case, without the numbers behind them: at signs, and where a capital begins a word.
pub(super) fn add_words(out: &mut Words, text: &str, at: &Locator, source: Source) {
    let mut add = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if word.len() > 1 {
            out.entry(word.to_ascii_lowercase()).or_insert_with(|| (at.clone(), source));
        }
    };
    for name in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let bytes = name.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if bytes[at].is_ascii_uppercase() && (!bytes[at - 1].is_ascii_uppercase() || next_is_lower) {
                add(&name[start..at]);
                start = at;
            }
        }
        add(&name[start..]);
    }
}

/// Whether words follow one another in the name of a variable.
fn has_phrase(name: &str, phrase: &str) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'_');
    name.match_indices(phrase).any(|(at, _)| {
        let bytes = name.as_bytes();
        is_end(at.checked_sub(1).and_then(|before| bytes.get(before))) && is_end(bytes.get(at + phrase.len()))
    })
}

/// Whether a switch is off.
fn is_off(value: &str) -> bool {
    ["false", "off", "no", "0", "disabled", "none", "null"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// The address of a server in a variable that is called like one that holds a model.
fn is_elsewhere(text: &str) -> bool {
    let web = text.starts_with("http://") || text.starts_with("https://");
    web && !is_weights_or_repository(text)
}

/// Longest value that is looked through for addresses.
const MAX_VALUE: usize = 4096;

/// Whether a value is the address of something that answers as a model: its path is one of theirs, or its host is called after an engine.
/// Without a scheme a word is a host only where `address` says so.
fn asks_a_model(words: &ClueWords, text: &str, address: bool) -> bool {
    if text.len() > MAX_VALUE || !(address || text.contains("://")) {
        return false;
    }
    text.split([',', ';', ' ', '"', '\'', '\n']).any(|one| {
        let (scheme, rest) = one.split_once("://").unwrap_or(("", one));
        if scheme.is_empty() && !address {
            return false;
        }
        let (host, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let host = host.rsplit('@').next().unwrap_or_default();
        let web = matches!(scheme, "" | "http" | "https" | "grpc" | "ws" | "wss");
        web && (words.api_paths.iter().any(|known| path.contains(known.as_str())) || is_an_engines(words, host))
    })
}

/// Whether a host in the cluster is called after an engine: its first two labels are the names of a service and of a namespace.
fn is_an_engines(words: &ClueWords, host: &str) -> bool {
    let name = host.split(':').next().unwrap_or_default();
    name.split('.').take(2).flat_map(|label| label.split(['-', '_'])).any(|word| words.engine_words.contains(word))
}

/// An argument of a program that is such an address.
fn argument_that_asks<'l>(words: &ClueWords, line: &'l CommandLine) -> Option<&'l Token> {
    let mut option = "";
    line.tokens.iter().find(|token| {
        let text = token.as_str();
        let (name, value) = match text.strip_prefix("--").map(|rest| rest.split_once('=').unwrap_or((rest, ""))) {
            Some((name, "")) => {
                option = name;
                return false;
            }
            Some((name, value)) => (name, value),
            None => (std::mem::take(&mut option), text),
        };
        let last = base_name(name).rsplit(['-', '_']).next().unwrap_or_default().to_ascii_uppercase();
        asks_a_model(words, value, words.endpoints.contains(&last))
    })
}
