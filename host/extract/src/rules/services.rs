//! What the file of services says, and where to look for a variable among the names of all of them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;

use super::RulesError;
use crate::env::upper_snake;
use crate::images::matches;
use crate::maps::FastMap;

/// What a service is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Answers with a model.
    #[default]
    Model,
    /// Keeps vectors.
    VectorStore,
    /// Keeps what an agent remembers.
    Memory,
    /// Searches, reads or runs something for an agent.
    Tool,
    /// Offers tools by the model context protocol.
    Mcp,
    /// Watches.
    Observability,
}

impl Kind {
    /// The word of a dependency's type.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Model => "remote-api",
            Self::VectorStore => "vector-store",
            Self::Memory => "memory",
            Self::Tool => "tool",
            Self::Mcp => "mcp-server",
            Self::Observability => "observability",
        }
    }
}

/// A hosted service.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Api {
    /// Name.
    pub name: String,
    #[serde(default)]
    pub kind: Kind,
    /// Variables that hold a key.
    #[serde(default)]
    pub keys: Vec<String>,
    /// Variables that may hold a key of it, or of something else.
    #[serde(default)]
    pub ambiguous_keys: Vec<String>,
    /// Variables that hold a base URL.
    #[serde(default)]
    pub urls: Vec<String>,
    /// Those of them that mean the hosted service when they are empty.
    #[serde(default)]
    pub hosted_when_empty: Vec<String>,
    /// Variables that name the model that is asked for.
    #[serde(default)]
    pub models: Vec<String>,
    /// Such a variable alone tells that the service is called.
    #[serde(default)]
    pub models_tell: bool,
    /// Variables that nobody sets who does not call it.
    #[serde(default)]
    pub signs: Vec<String>,
    /// Forms of its models' names; `*` stands for any text.
    #[serde(default)]
    pub forms: Vec<String>,
    /// Hosts, with the beginning of a path where it matters; `*` stands for any text.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// The service is named by its host.
    #[serde(default)]
    pub named_by_host: bool,
}

/// What a variable is to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Key,
    Ambiguous,
    Url,
    Model,
    Sign,
}

/// A setting that turns services off or on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Switch {
    pub variable: String,
    /// Values that do it, in lower case.
    pub values: Vec<String>,
    #[serde(default)]
    pub off: Vec<String>,
    #[serde(default)]
    pub on: Vec<String>,
}

/// Variables that choose among services.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Selector {
    pub variables: Vec<String>,
    /// Services of this kind.
    #[serde(default)]
    pub kind: Kind,
    /// What is not chosen is not called.
    #[serde(default)]
    pub limits: bool,
    /// Only variables that begin so are limited.
    #[serde(default)]
    pub prefix: String,
    /// The choice alone tells that the service is called.
    #[serde(default)]
    pub proves: bool,
    /// Character between several choices.
    #[serde(default)]
    pub split: Option<char>,
    /// Services by value, in lower case. Other values choose something that is not hosted.
    pub choices: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    services: Vec<Api>,
    #[serde(default)]
    url_options: Vec<String>,
    #[serde(default)]
    open_models: Vec<String>,
    #[serde(default)]
    switches: Vec<Switch>,
    #[serde(default)]
    selectors: Vec<Selector>,
}

/// All services.
#[derive(Clone, Debug)]
pub(crate) struct Services {
    pub all: Vec<Api>,
    /// Options that hold a base URL.
    pub url_options: Vec<String>,
    /// Names of models that anybody can run, though a service has others of that form.
    pub open_models: Vec<String>,
    pub switches: Vec<Switch>,
    pub selectors: Vec<Selector>,
    by_name: FastMap<String, usize>,
    variables: FastMap<String, (usize, Part)>,
}

impl Services {
    pub(crate) fn read(file: &str, text: &str) -> Result<Self, RulesError> {
        let File { services: all, url_options, open_models, switches, selectors } = super::read(file, text)?;
        let entry = |message: String| RulesError::Entry { file: file.to_owned(), message };
        let mut by_name = FastMap::default();
        let mut variables = FastMap::default();
        for (index, api) in all.iter().enumerate() {
            if by_name.insert(api.name.clone(), index).is_some() {
                return Err(RulesError::Twice { file: file.to_owned(), name: api.name.clone() });
            }
            let parts = [
                (&api.keys, Part::Key),
                (&api.ambiguous_keys, Part::Ambiguous),
                (&api.urls, Part::Url),
                (&api.models, Part::Model),
                (&api.signs, Part::Sign),
            ];
            for (names, part) in parts {
                for name in names {
                    if variables.insert(name.clone(), (index, part)).is_some() {
                        return Err(entry(format!("variable `{name}` is given twice")));
                    }
                }
            }
            if let Some(name) = api.hosted_when_empty.iter().find(|name| !api.urls.contains(name)) {
                return Err(entry(format!("`{name}` is no base URL of `{}`", api.name)));
            }
        }
        let named = switches.iter().flat_map(|switch| switch.off.iter().chain(&switch.on));
        let named = named.chain(selectors.iter().flat_map(|selector| selector.choices.values()));
        if let Some(name) = named.into_iter().find(|name| !by_name.contains_key(*name)) {
            return Err(entry(format!("`{name}` is no service")));
        }
        Ok(Self { all, url_options, open_models, switches, selectors, by_name, variables })
    }

    /// Whether a name is that of a model which only its owner runs. Names of the same form that others may run are no such ones.
    pub(crate) fn is_hosted_name(&self, name: &str) -> bool {
        let is = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, name));
        !name.contains(['/', ':']) && self.all.iter().any(|api| api.kind == Kind::Model && is(&api.forms)) && !is(&self.open_models)
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// What a variable is to which service, and the prefix in front of the name that both know: programs with several clients write
    /// one for each. The longest name wins.
    pub(crate) fn variable<'n>(&self, name: &'n str) -> Option<(usize, Part, &'n str)> {
        self.variable_in_capitals(name).or_else(|| {
            let Cow::Owned(upper) = upper_snake(name) else { return None };
            let (api, part, prefix) = self.variable_in_capitals(&upper)?;
            // The prefix as it is written: as much as stands in front of the letters of the known name.
            let mut letters = upper[prefix.len()..].chars().filter(|c| *c != '_').count();
            let start = name.char_indices().rev().filter(|(_, c)| *c != '_').find_map(|(at, _)| {
                letters -= 1;
                (letters == 0).then_some(at)
            })?;
            Some((api, part, &name[..start]))
        })
    }

    fn variable_in_capitals<'n>(&self, name: &'n str) -> Option<(usize, Part, &'n str)> {
        if let Some((api, part)) = self.variables.get(name) {
            return Some((*api, *part, ""));
        }
        let mut starts = name.match_indices('_').map(|(at, _)| at + 1).take(8);
        let (at, (api, part)) = starts.find_map(|at| Some((at, self.variables.get(&name[at..])?)))?;
        // Short and doubtful names count whole only.
        let known = &name[at..];
        let whole = *part == Part::Ambiguous || *part == Part::Sign || !known.contains('_') || known.len() < 8;
        (!whole).then_some((*api, *part, &name[..at]))
    }
}
