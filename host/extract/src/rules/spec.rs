//! What options, variables and positional arguments are, as the files say it.

use std::collections::BTreeMap;

use aibom_facts::inventory::{Category, Role};
use serde::Deserialize;

use super::Choice;

/// What the value of an option or variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Use {
    /// The model.
    Model,
    /// Its revision.
    Revision,
    /// The names under which it is served.
    Served,
    /// A tokenizer.
    Tokenizer,
    /// A second model for speculative decoding.
    Draft,
    /// Adapters.
    Adapter,
    /// A further model with a role of its own.
    Further,
    /// A dataset.
    Dataset,
    /// A file that may name the model.
    Config,
    /// The directory that a download fills.
    Destination,
    /// A string of further options of the same program.
    Arguments,
    /// A further model that makes embeddings.
    Embedding,
    /// A further model that ranks documents.
    Reranker,
    /// A model that is called and runs elsewhere.
    Target,
}

/// How many words belong to an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Values {
    /// One; the last occurrence wins.
    #[default]
    One,
    /// One per occurrence; all count.
    Each,
    /// All words up to the next option.
    Many,
    /// Two per occurrence, a name and what has it; all count.
    Pairs,
    /// None: a switch.
    None,
}

/// How a value is to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Words per option.
    pub values: Values,
    /// Character between several values of one word.
    pub split: Option<char>,
    /// The value is a JSON object; the fact stands at this dotted path.
    pub json: Option<String>,
    /// `name=value` or a JSON object with a name and a path.
    pub named: bool,
    /// Values that name nothing.
    pub except: Vec<String>,
    /// What values stand for, when they are words of the program.
    pub means: BTreeMap<String, String>,
    /// Character behind the value of which something else follows.
    pub cut: Option<char>,
    /// `[a, b]` is a list.
    pub list: bool,
    /// It counts only as a repository of the hub.
    pub hub: bool,
    /// The first segment is a provider, which may be one that loads from the hub.
    pub provider: bool,
    /// Role of a further model.
    pub role: Option<Role>,
    /// What the model or dataset is in particular: `reward`, `eval`.
    pub part: String,
    /// It counts only then.
    pub when: Vec<Condition>,
    /// It does not count then.
    pub unless: Vec<Condition>,
    /// The entry counts only if another variable chooses it.
    pub chosen_by: Option<Choice>,
    /// Names are those of another catalogue.
    pub catalogue: bool,
    /// The value is a name in this directory.
    pub under: Option<String>,
    /// What a switch stands for, by use.
    pub stands: BTreeMap<Use, String>,
}

/// A state of the other options of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Condition {
    /// Name of the option.
    pub option: String,
    /// Values that fulfil it; any for none.
    #[serde(default)]
    pub values: Vec<String>,
    /// Its value is that of the option in question.
    #[serde(default)]
    pub same: bool,
}

/// What the presence of an option changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Case {
    /// All of these hold.
    #[serde(default)]
    pub when: Vec<Condition>,
    /// None of these holds.
    #[serde(default)]
    pub unless: Vec<Condition>,
    /// Something has this use.
    #[serde(default)]
    pub has: Option<Use>,
    /// A variable says so.
    #[serde(default)]
    pub by: Option<Choice>,
    /// The category then.
    #[serde(default)]
    pub category: Option<Category>,
    /// The role of the main model then.
    #[serde(default)]
    pub role: Option<Role>,
    /// Whether names of models, whatever their role, are those of another catalogue then.
    #[serde(default)]
    pub catalogue: Option<bool>,
    /// What is otherwise the model.
    #[serde(default)]
    pub model_is: Option<Use>,
    /// What is otherwise a name under which the model is served.
    #[serde(default)]
    pub served_is: Option<Use>,
    /// Parameters that it stands for.
    #[serde(default)]
    pub sets: BTreeMap<String, String>,
}

/// How a launcher tells its own options from the program behind them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Start {
    /// Options that take a value in the next word. When there are none, all but the switches do.
    pub valued: Vec<String>,
    /// Options without a value.
    pub switches: Vec<String>,
    /// Options behind which a Python module follows instead of a script.
    pub module: Vec<String>,
    /// Options behind which any program follows instead of a script.
    pub program: Vec<String>,
}

/// What a positional argument is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Positional {
    /// A fact.
    Use(Use),
    /// What the value of this option is.
    Option(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Spec {
    Name(String),
    Full(Box<FullSpec>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FullSpec {
    names: Vec<String>,
    #[serde(default)]
    values: Values,
    #[serde(default)]
    split: Option<char>,
    #[serde(default)]
    json: Option<String>,
    #[serde(default)]
    named: bool,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    means: BTreeMap<String, String>,
    #[serde(default)]
    cut: Option<char>,
    #[serde(default)]
    list: bool,
    #[serde(default)]
    hub: bool,
    #[serde(default)]
    provider: bool,
    #[serde(default)]
    role: Option<Role>,
    #[serde(default)]
    part: String,
    #[serde(default)]
    when: Vec<Condition>,
    #[serde(default)]
    unless: Vec<Condition>,
    #[serde(default)]
    chosen_by: Option<Choice>,
    #[serde(default)]
    catalogue: bool,
    #[serde(default)]
    under: Option<String>,
    #[serde(default)]
    stands: BTreeMap<Use, String>,
}

impl Shape {
    /// Whether one word may hold several values.
    pub(crate) fn several(&self) -> bool {
        self.split.is_some() || self.list || self.listing().is_some()
    }

    /// The path of several texts in JSON.
    pub(crate) fn listing(&self) -> Option<&str> {
        self.json.as_deref().filter(|path| path.contains(['[', '*', '|']))
    }
}

impl Spec {
    pub(super) fn parts(&self) -> (Vec<String>, Shape) {
        match self {
            Self::Name(name) => (vec![name.clone()], Shape::default()),
            Self::Full(full) => {
                let full = FullSpec::clone(full);
                let shape = Shape {
                    values: full.values,
                    split: full.split,
                    json: full.json,
                    named: full.named || full.values == Values::Pairs,
                    except: full.except,
                    means: full.means,
                    cut: full.cut,
                    list: full.list,
                    hub: full.hub,
                    provider: full.provider,
                    role: full.role,
                    part: full.part,
                    when: full.when,
                    unless: full.unless,
                    chosen_by: full.chosen_by,
                    catalogue: full.catalogue,
                    under: full.under,
                    stands: full.stands,
                };
                (full.names, shape)
            }
        }
    }
}
