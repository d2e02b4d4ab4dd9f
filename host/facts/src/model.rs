//! Model references as manifests write them.

use serde::{Deserialize, Serialize};

/// What names a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ModelReference {
    /// A repository on the Hugging Face hub, `owner/name`.
    Hub {
        /// Owner.
        owner: String,
        /// Repository name.
        name: String,
    },
    /// A location with a scheme other than the hub's.
    Uri(String),
    /// A path in a file system.
    Path(String),
    /// A name in another catalogue, or one without owner: `gpt2`, `llama3:8b`, an NGC name.
    Name(String),
}

/// A reference with what was written around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedModel {
    /// What names the model.
    pub reference: ModelReference,
    /// Commit, branch or tag.
    pub revision: Option<String>,
    /// The text as written when the id was taken out of it.
    pub source: Option<String>,
    /// A file of the repository, or a quantization tag that selects one.
    pub file: Option<String>,
}

/// Why a text names no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAModel {
    /// Nothing there.
    #[error("empty")]
    Empty,
    /// Over 1,024 characters.
    #[error("longer than 1,024 characters")]
    TooLong,
    /// Control characters.
    #[error("control characters")]
    Control,
    /// A variable or template that nothing has expanded.
    #[error("an unexpanded variable or template")]
    Unexpanded,
    /// A text that somebody should have replaced.
    #[error("a placeholder")]
    Placeholder,
    /// A word that says there is none, such as `none`.
    #[error("a word that stands for no model")]
    Nothing,
    /// An option, a number, JSON or other text that no catalogue uses as a name.
    #[error("not the form of a model name")]
    Form,
}

impl ModelReference {
    /// Reads a reference.
    pub fn parse(text: &str) -> Result<ParsedModel, NotAModel> {
        let text = text.trim();
        let plain = |reference| Ok(ParsedModel { reference, revision: None, source: None, file: None });
        if text.is_empty() {
            return Err(NotAModel::Empty);
        }
        if text.contains('$') {
            return Err(NotAModel::Unexpanded);
        }
        if text.contains("://") {
            return plain(Self::Uri(text.to_owned()));
        }
        if text.starts_with(['/', '.']) {
            return plain(Self::Path(text.to_owned()));
        }
        match text.split_once('/') {
            Some((owner, name)) if !name.contains('/') => plain(Self::Hub { owner: owner.to_owned(), name: name.to_owned() }),
            Some(_) => plain(Self::Path(text.to_owned())),
            None => plain(Self::Name(text.to_owned())),
        }
    }

    /// A name in a catalogue that the context tells, such as an NGC name; only checked for length and control characters.
    pub fn catalogue_name(text: &str) -> Result<Self, NotAModel> {
        let text = text.trim();
        if text.is_empty() { Err(NotAModel::Empty) } else { Ok(Self::Name(text.to_owned())) }
    }

    /// The identity as text.
    pub fn id(&self) -> String {
        match self {
            Self::Hub { owner, name } => format!("{owner}/{name}"),
            Self::Uri(text) | Self::Path(text) | Self::Name(text) => text.clone(),
        }
    }

    /// `hub`, `uri`, `path` or `name`.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Hub { .. } => "hub",
            Self::Uri(_) => "uri",
            Self::Path(_) => "path",
            Self::Name(_) => "name",
        }
    }
}
