//! Why: what the rules recognised, and what they looked at without reporting it.
//!
//! Facts carry their own evidence. What is missing from an inventory carries none, so decisions against something are recorded here
//! where they fall, for whoever asks ([`crate::explain`]). Nobody asks in normal work; then a record costs a comparison and no more.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use aibom_facts::inventory::{Evidence, Inventory};
use aibom_facts::object::Locator;
use serde::Serialize;

use crate::argv::base_name;
use crate::pods::Container;
use crate::rules::{Meaning, Rules, Runtime, Use, fold};
use crate::text::Token;

/// Why something that was looked at is not in the inventory, or not in the place where one would look for it. The words are an
/// interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No runtime file knows the image, and no command of the container helps.
    ImageUnknown,
    /// The image is on a list of what sounds like a runtime and is none.
    ImageDenied,
    /// Only a word of the image's name hints at the runtime, and the arguments are not the runtime's.
    ImageWeak,
    /// The image is known, but the command starts something else.
    OtherProgram,
    /// The program is known for what it does, which is not running models.
    NotAnEngine,
    /// No runtime file knows the program.
    ProgramUnknown,
    /// The container only waits.
    Idle,
    /// The object says that the template is plumbing.
    Infrastructure,
    /// Other programs read a model from the option, and nothing shows that the one that runs here does.
    OptionUnread,
    /// Other programs read a model from the variable, and nothing shows that the one that runs here does.
    VariableUnread,
    /// The variable or option has a name that people use for models, and nothing else shows that the program works with models.
    Uncorroborated,
    /// The value has not the form of a model's name.
    NotAModel,
    /// A value that takes precedence differs.
    Overridden,
    /// It says again what the model itself brings along.
    SameAsModel,
    /// A client's short name for a model that runs here: a served name, no identity.
    ServedName,
    /// The value is in a Secret, or its name says that it is one.
    Secret,
    /// The value is in a `ConfigMap`.
    ConfigMap,
    /// The value is a field of the running pod.
    Field,
    /// A template or a text that somebody should have replaced.
    Template,
    /// A variable that nothing defines.
    UndefinedVariable,
    /// Only running a script tells the value.
    Computed,
    /// The value comes out of something else that is not read here.
    Unresolved,
    /// The base URL leads to another server than the provider's, so the key belongs to that one.
    UrlElsewhere,
    /// The key is one that people write where none is needed.
    DummyKey,
    /// A setting switches the service off, or chooses another one.
    SwitchedOff,
    /// Another container of the object does the main work, so what this one does is no category of the object.
    Outweighed,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 26] = [
        Self::ImageUnknown,
        Self::ImageDenied,
        Self::ImageWeak,
        Self::OtherProgram,
        Self::NotAnEngine,
        Self::ProgramUnknown,
        Self::Idle,
        Self::Infrastructure,
        Self::OptionUnread,
        Self::VariableUnread,
        Self::Uncorroborated,
        Self::NotAModel,
        Self::Overridden,
        Self::SameAsModel,
        Self::ServedName,
        Self::Secret,
        Self::ConfigMap,
        Self::Field,
        Self::Template,
        Self::UndefinedVariable,
        Self::Computed,
        Self::Unresolved,
        Self::UrlElsewhere,
        Self::DummyKey,
        Self::SwitchedOff,
        Self::Outweighed,
    ];

    /// The word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ImageUnknown => "image-unknown",
            Self::ImageDenied => "image-denied",
            Self::ImageWeak => "image-weak",
            Self::OtherProgram => "other-program",
            Self::NotAnEngine => "not-an-engine",
            Self::ProgramUnknown => "program-unknown",
            Self::Idle => "idle",
            Self::Infrastructure => "infrastructure",
            Self::OptionUnread => "option-unread",
            Self::VariableUnread => "variable-unread",
            Self::Uncorroborated => "uncorroborated",
            Self::NotAModel => "not-a-model",
            Self::Overridden => "overridden",
            Self::SameAsModel => "same-as-model",
            Self::ServedName => "served-name",
            Self::Secret => "secret",
            Self::ConfigMap => "configmap",
            Self::Field => "field",
            Self::Template => "template",
            Self::UndefinedVariable => "undefined-variable",
            Self::Computed => "computed",
            Self::Unresolved => "unresolved",
            Self::UrlElsewhere => "url-elsewhere",
            Self::DummyKey => "dummy-key",
            Self::SwitchedOff => "switched-off",
            Self::Outweighed => "outweighed",
        }
    }

    /// The reason in a sentence for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ImageUnknown => "no runtime is known by this image, and the container starts no program that is known",
            Self::ImageDenied => "the image is listed as plumbing, a client or another product, not as a runtime",
            Self::ImageWeak => "only a word of the image's name hints at the runtime, and no argument is the runtime's",
            Self::OtherProgram => "the image holds the runtime, but the command starts something else",
            Self::NotAnEngine => "the program is known, and it does not run models itself",
            Self::ProgramUnknown => "the program is not known",
            Self::Idle => "the container only waits",
            Self::Infrastructure => "the object says that this template is plumbing",
            Self::OptionUnread => "other programs read a model from this option, and nothing shows that the one that runs here does",
            Self::VariableUnread => "other programs read a model from this variable, and nothing shows that the one that runs here does",
            Self::Uncorroborated => {
                "a name that people use for models is a weak sign alone: nothing else shows that the program works with models"
            }
            Self::NotAModel => "the value has not the form of a model's name",
            Self::Overridden => "another value takes precedence",
            Self::SameAsModel => "it repeats what the model itself brings along",
            Self::ServedName => "a short name for a model that runs here: a served name, no identity",
            Self::Secret => "the value is a secret or comes from one, and secrets are never read",
            Self::ConfigMap => "the value comes from a ConfigMap, which is not read",
            Self::Field => "the value is a field of the running pod",
            Self::Template => "a template or placeholder that somebody has to fill in",
            Self::UndefinedVariable => "nothing defines the variable",
            Self::Computed => "a branch or the output of a program decides, and no script is run to see which",
            Self::Unresolved => "the value comes out of something that is not read",
            Self::UrlElsewhere => {
                "the base URL leads to a server that is not the provider's, so what is set for the service is for that one"
            }
            Self::DummyKey => "a key that people write where a server wants one and reads none",
            Self::SwitchedOff => "a setting switches this service off, or chooses another one",
            Self::Outweighed => "another container does the object's main work",
        }
    }

    /// The reason that goes with a word of [`aibom_facts::inventory::Unresolved::why`].
    fn of_unresolved(why: &str) -> Self {
        match why {
            "secret" => Self::Secret,
            "configmap" => Self::ConfigMap,
            "field" => Self::Field,
            "template" | "placeholder" => Self::Template,
            "undefined-variable" => Self::UndefinedVariable,
            "computed" => Self::Computed,
            "too-long" => Self::NotAModel,
            _ => Self::Unresolved,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Something that was looked at and not reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Considered {
    /// Place.
    pub at: Locator,
    /// What it would have been: `model`, `draft`, `adapter`, `tokenizer`, `runtime`, `version`, `service`, `category`.
    pub what: &'static str,
    /// The value as far as it is known. Not redacted.
    pub value: String,
    /// Option, variable, word or pattern that it went by; empty when there is none.
    pub by: String,
    /// Name of the container; empty when the place is in none.
    pub container: String,
    /// Why not.
    pub reason: Reason,
}

/// An image or a program that the rules know.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Recognised {
    /// Place.
    pub at: Locator,
    /// `image` or `program`.
    pub what: &'static str,
    /// The image or the word of the command line. Not redacted.
    pub value: String,
    /// Runtime file that knows it.
    pub runtime: String,
    /// Pattern or launcher.
    pub by: String,
    /// How well an image is known, or what a program does.
    pub how: &'static str,
    /// Name of the container.
    pub container: String,
}

/// What the rules recognised and what they decided against, by place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Images and programs that are known.
    pub recognised: Vec<Recognised>,
    /// What is not reported.
    pub considered: Vec<Considered>,
}

/// Records decisions when somebody wants to know them.
#[derive(Default)]
pub(crate) struct Trace(Option<RefCell<Explanation>>);

impl Trace {
    /// One that records.
    pub(crate) fn recording() -> Self {
        Self(Some(RefCell::default()))
    }

    /// Whether anybody wants to know.
    pub(crate) fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Something is not reported.
    pub(crate) fn dropped(&self, considered: impl FnOnce() -> Considered) {
        if let Some(record) = &self.0 {
            record.borrow_mut().considered.push(considered());
        }
    }

    /// Something is known.
    pub(crate) fn recognised(&self, recognised: impl FnOnce() -> Recognised) {
        if let Some(record) = &self.0 {
            record.borrow_mut().recognised.push(recognised());
        }
    }

    /// A value that cannot be read, by the word of the vocabulary of unresolved facts.
    pub(crate) fn unread(&self, why: &str, considered: impl FnOnce(Reason) -> Considered) {
        self.dropped(|| considered(Reason::of_unresolved(why)));
    }

    /// Everything recorded, without what the inventory says after all: by another rule, or as unresolved.
    pub(crate) fn finish(self, inventory: &Inventory) -> Explanation {
        let Some(record) = self.0 else { return Explanation::default() };
        let mut found = record.into_inner();
        let lost = |what, evidence: &Evidence| Considered {
            at: evidence.at.clone(),
            what,
            value: evidence.value.clone(),
            by: evidence.by.clone(),
            container: evidence.container.clone(),
            reason: Reason::Overridden,
        };
        let models = inventory.models.iter().flat_map(|model| &model.finding.conflicts);
        found.considered.extend(models.map(|evidence| lost("model", evidence)));
        let runtimes = inventory.runtimes.iter().flat_map(|runtime| &runtime.finding.conflicts);
        found.considered.extend(runtimes.map(|evidence| lost("version", evidence)));
        let served: HashSet<&str> = inventory.models.iter().flat_map(|model| &model.served).map(String::as_str).collect();
        let told: BTreeSet<&Locator> = inventory.models.iter().flat_map(|model| &model.finding.evidence).map(|known| &known.at).collect();
        let unknown: BTreeMap<&Locator, &str> = inventory.unresolved.iter().map(|entry| (&entry.at, entry.why.as_str())).collect();
        // Of several reasons at one place the surest is said.
        let guess = |reason| match reason {
            Reason::OptionUnread | Reason::VariableUnread => 2,
            Reason::Uncorroborated => 1,
            _ => 0,
        };
        let mut surest: BTreeMap<Locator, u8> = BTreeMap::new();
        for entry in &found.considered {
            let known = surest.entry(entry.at.clone()).or_insert(u8::MAX);
            *known = guess(entry.reason).min(*known);
        }
        found.considered.retain(|entry| {
            let better = surest.get(&entry.at).is_some_and(|surest| *surest < guess(entry.reason));
            let known = told.contains(&entry.at) || unknown.contains_key(&entry.at) || served.contains(entry.value.as_str());
            let said = better || (guess(entry.reason) > 0 && known);
            let reported = unknown.get(&entry.at).is_some_and(|why| Reason::of_unresolved(why) == entry.reason);
            !said && !reported
        });
        found.considered.sort();
        found.considered.dedup();
        found.recognised.sort();
        found.recognised.dedup();
        found
    }
}

/// Options of a command line whose program nobody knows that name a model for other programs.
pub(crate) fn unread_options(rules: &Rules, trace: &Trace, container: &str, tokens: &[Token]) {
    if !trace.is_on() {
        return;
    }
    // `python -m` is followed by a module.
    let interpreted = tokens.first().is_some_and(|first| base_name(first.as_str()).starts_with("python"));
    let names_something = |token: &Token| token.as_str().starts_with('-') && !(interpreted && token.as_str() == "-m");
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| names_something(token)) {
        let (option, joined) = token.as_str().split_once('=').map_or((token.as_str(), None), |(name, value)| (name, Some(value)));
        let folded = fold(option);
        let names_model = |runtime: &Runtime| matches!(runtime.options.get(&folded), Some(Meaning::Fact(Use::Model, _)));
        let next = || tokens.get(index + 1).filter(|next| !next.as_str().starts_with('-'));
        let (value, at) = match (joined, next()) {
            (Some(value), _) => (value, &token.at),
            (None, Some(next)) => (next.as_str(), &next.at),
            (None, None) => continue,
        };
        let reason = if rules.runtimes().iter().any(names_model) {
            Reason::OptionUnread
        } else if is_called_a_model(&folded) {
            Reason::Uncorroborated
        } else {
            continue;
        };
        trace.dropped(|| Considered {
            at: at.clone(),
            what: "model",
            value: value.to_owned(),
            by: option.to_owned(),
            container: container.to_owned(),
            reason,
        });
    }
}

/// Whether an option is called as if it named a model: `--detector-model`, `--model-weights-path`.
fn is_called_a_model(option: &str) -> bool {
    let mut words = option.trim_start_matches('-').split('-');
    let last = words.clone().next_back().unwrap_or_default();
    words.any(|word| word == "model") && matches!(last, "model" | "id" | "name" | "path" | "uri" | "repo" | "dir" | "file")
}

/// Variables that speak of models and that no rule has looked at.
pub(crate) fn unread_variables(rules: &Rules, trace: &Trace, containers: &[Container<'_>]) {
    if !trace.is_on() {
        return;
    }
    let models = |runtime: &Runtime| -> Vec<String> {
        let names = runtime.env.iter().filter(|(_, meaning)| matches!(meaning, Meaning::Fact(Use::Model, _)));
        names.map(|(name, _)| name.clone()).collect()
    };
    let read: HashSet<String> = rules.runtimes().iter().flat_map(models).collect();
    for container in containers {
        for variable in container.env.iter() {
            let conventional = rules.conventions.helpers.contains(&variable.name);
            if !conventional && !read.contains(&variable.name) {
                continue;
            }
            trace.dropped(|| Considered {
                at: variable.at.clone(),
                what: "model",
                value: variable.value.text.clone(),
                by: variable.name.clone(),
                container: container.name.clone(),
                reason: if conventional { Reason::Uncorroborated } else { Reason::VariableUnread },
            });
        }
    }
}

#[cfg(test)]
#[path = "explain/tests.rs"]
mod tests;
