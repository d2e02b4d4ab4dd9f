//! What the files say about images, and where to look for an image among hundreds of them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Runtime;
use crate::maps::FastMap;

/// A repository, or the last segment of one.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Repository {
    /// Canonical host and path, or the last segment alone; `*` stands for anything within a segment.
    pub path: String,
    /// The engine inside, when this runtime is built around one.
    #[serde(default)]
    pub engine: Option<String>,
    /// Number of last segments that name the model the image holds.
    #[serde(default)]
    pub model: usize,
    /// What the star of the last segment stands for.
    #[serde(default)]
    pub star: Option<Star>,
    /// The model that is in the image.
    #[serde(default)]
    pub holds: Option<String>,
    /// The tag is not the runtime's version when this says so.
    #[serde(default)]
    pub versioned: Option<bool>,
    /// The end of its path says nothing: copies are not recognised by it.
    #[serde(default)]
    pub exact: bool,
}

/// What the star of a last segment stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Star {
    /// The model that the image holds.
    Model,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum RepositoryText {
    Path(String),
    Full(Repository),
}

impl From<RepositoryText> for Repository {
    fn from(text: RepositoryText) -> Self {
        match text {
            RepositoryText::Path(path) => Self { path, ..Self::default() },
            RepositoryText::Full(full) => full,
        }
    }
}

fn repositories<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Repository>, D::Error> {
    Ok(Vec::<RepositoryText>::deserialize(deserializer)?.into_iter().map(Repository::from).collect())
}

/// Images of a runtime.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Images {
    /// Words in front of the arguments when a container has no command.
    pub entrypoint: Vec<String>,
    /// Arguments that the image runs its entrypoint with when a container has neither command nor arguments.
    pub arguments: Vec<String>,
    /// Known repositories. Their path below the host also recognises copies when it has two segments or more.
    #[serde(deserialize_with = "repositories")]
    pub repositories: Vec<Repository>,
    /// Last segments that nobody else uses.
    #[serde(deserialize_with = "repositories")]
    pub names: Vec<Repository>,
    /// Tokens of a last segment that hint at the runtime.
    pub words: Vec<String>,
    /// Paths that are not the runtime, compared from the end.
    pub deny: Vec<String>,
    /// Tokens of the tag that make the image something else.
    pub deny_tags: Vec<String>,
    /// Tokens of the tag that make the image another entry's.
    pub tag_runtimes: BTreeMap<String, String>,
    /// Tokens of the tag that add another runtime.
    pub tag_engines: BTreeMap<String, String>,
}

/// Where a repository, name or word stands: the runtime, and which of its list.
pub(crate) type Entry = (usize, usize);

/// All images of all runtimes by what a last segment begins with.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImageIndex {
    repositories: Ends,
    names: Ends,
    words: FastMap<String, Vec<usize>>,
}

/// Last segments: written out, or with a star.
#[derive(Clone, Debug, Default)]
struct Ends {
    exact: FastMap<String, Vec<Entry>>,
    /// With the text in front of the star.
    open: Vec<(String, Entry)>,
}

impl Ends {
    fn add(&mut self, path: &str, entry: Entry) {
        let last = path.rsplit('/').next().unwrap_or(path);
        match last.split_once('*') {
            Some((head, _)) => self.open.push((head.to_owned(), entry)),
            None => self.exact.entry(last.to_owned()).or_default().push(entry),
        }
    }

    /// Entries whose last segment may be this one, which may have a tail of further words.
    fn candidates<'a>(&'a self, last: &'a str) -> impl Iterator<Item = Entry> + 'a {
        let ends = last.char_indices().filter(|(_, c)| matches!(c, '-' | '_' | '.')).map(|(index, _)| index);
        let exact = ends.chain(std::iter::once(last.len())).filter_map(|end| self.exact.get(&last[..end])).flatten().copied();
        exact.chain(self.open.iter().filter(|(head, _)| last.starts_with(head.as_str())).map(|(_, entry)| *entry))
    }
}

impl ImageIndex {
    pub(crate) fn new(runtimes: &[Runtime]) -> Self {
        let mut index = Self::default();
        for (runtime, rule) in runtimes.iter().enumerate() {
            for (own, repository) in rule.images.repositories.iter().enumerate() {
                index.repositories.add(&repository.path, (runtime, own));
            }
            for (own, name) in rule.images.names.iter().enumerate() {
                index.names.add(&name.path, (runtime, own));
            }
            for word in &rule.images.words {
                index.words.entry(word.clone()).or_default().push(runtime);
            }
        }
        index
    }

    /// Repositories that may be the image with this last segment.
    pub(crate) fn repositories<'a>(&'a self, last: &'a str) -> impl Iterator<Item = Entry> + 'a {
        self.repositories.candidates(last)
    }

    /// Names that may be this last segment.
    pub(crate) fn names<'a>(&'a self, last: &'a str) -> impl Iterator<Item = Entry> + 'a {
        self.names.candidates(last)
    }

    /// Runtimes with this word.
    pub(crate) fn word(&self, word: &str) -> &[usize] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }
}
