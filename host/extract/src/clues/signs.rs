//! What variables, arguments and resources show, one by one.

use std::collections::HashSet;

use aibom_facts::inventory::Role;

use super::{ClueWords, holds_a_model, role_of};
use crate::argv::{self, base_name, is_weights_or_repository};
use crate::env::{Variable, upper_snake};
use crate::reading::Reader;
use crate::script::CommandLine;
use crate::storage;

/// What the variables, the arguments and the resources of a container show.
#[derive(Default)]
pub(super) struct Signs<'a> {
    /// The program works with models, whichever they are.
    pub(super) certain: bool,
    /// A variable that only programs around models have says so.
    pub(super) decided: bool,
    /// It works with models if it names one.
    pub(super) likely: bool,
    /// It has the address of something.
    pub(super) calls: bool,
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
}

impl Reader<'_> {
    /// The signs of a container whose program is in these lines. What is asked of a service is known already.
    pub(super) fn signs(&self, words: &ClueWords, lines: &[CommandLine], asked: &[&str]) -> Signs<'_> {
        // One variable alone is a weak sign: a token of the hub is in many a pod.
        let mut hints = 0;
        let mut signs =
            Signs { device: self.container.resources.is_some_and(|place| storage::asks_for_device(self.rules, place)), ..Signs::default() };
        for variable in self.container.env.iter() {
            let written = variable.name.as_str();
            let upper = upper_snake(written);
            let name = upper.as_ref();
            let text = variable.value.text.as_str();
            // What is switched off is not there.
            let empty = !variable.secret && (text.is_empty() || is_off(text));
            let of_a_service = self.rules.apis.variable(written).is_some();
            let mut hint = words.hub.contains(name);
            signs.likely |= words.parameters.contains(name);
            let (mut last, mut store) = ("", false);
            for word in name.split('_') {
                // The address of a server says that there is one, and not that this is it.
                signs.likely |= words.engines.contains(word) && !empty;
                hint |= words.engines.contains(word) && !of_a_service;
                store |= words.stores.contains(word);
                last = word;
            }
            let held = !variable.secret && !text.is_empty() && holds_a_model(words, name);
            let address = words.endpoints.contains(last) && !store && !variable.secret && !held;
            signs.calls |= address;
            signs.asks |= !variable.secret && !store && asks_a_model(words, text, address);
            signs.decided |= !empty && words.decisive.iter().any(|phrase| has_phrase(name, phrase));
            if held && !asked.contains(&written) {
                if is_elsewhere(text) {
                    signs.calls = true;
                } else {
                    signs.models.push((role_of(words, name), variable));
                }
            }
            hints += usize::from(hint && !empty);
        }
        signs.asks |= lines.iter().any(|line| arguments_ask(words, line));
        signs.calls |= signs.asks;
        // A script sets variables for the programs that it starts.
        let scripted: HashSet<&str> = argv::variables(&[], &[lines]).into_iter().map(|variable| variable.name.as_str()).collect();
        let is_set = |name: &String| scripted.contains(name.as_str()) || self.container.env.get(name).is_some();
        signs.trains = words.trainings.iter().any(|names| !names.is_empty() && names.iter().all(is_set));
        signs.hinted = hints > 0;
        signs.likely |= hints > 0;
        signs.certain |= hints > 1 || (hints > 0 && signs.device) || signs.asks || signs.trains || signs.decided;
        signs
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
    ["false", "off", "no", "0", "disabled"].iter().any(|word| value.eq_ignore_ascii_case(word))
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

/// Whether a program is given such an address.
fn arguments_ask(words: &ClueWords, line: &CommandLine) -> bool {
    let mut option = "";
    line.tokens.iter().any(|token| {
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
