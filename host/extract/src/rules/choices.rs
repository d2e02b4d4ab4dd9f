//! What other variables of a container decide: which entries count, which program it is, what it is used for.

use aibom_facts::inventory::Category;
use serde::Deserialize;

/// What another variable of the container must say.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Choice {
    /// Name of the variable. One that is not set counts as empty.
    pub variable: String,
    /// Values that fulfil it, in lower case.
    #[serde(default)]
    pub values: Vec<String>,
    /// Without `values`: all but these fulfil it.
    #[serde(default)]
    pub except: Vec<String>,
}

impl Choice {
    /// Whether a value fulfils it.
    pub fn holds(&self, value: &str) -> bool {
        let value = value.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        if self.values.is_empty() { !self.except.contains(&value) } else { self.values.contains(&value) }
    }
}

/// Variables that only one program reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Marks {
    /// Their names; `*` at the end.
    pub variables: Vec<String>,
    /// How many of them prove the program; one when it is not given.
    pub least: Option<usize>,
}

/// A condition that gives the workload a category.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CategoryHint {
    /// The category.
    pub category: Category,
    /// What must hold.
    pub by: Choice,
}
