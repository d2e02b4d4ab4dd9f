//! Fixtures of a scraper: manifests and what it is expected to say about them.
//!
//! ```text
//! plugin.toml                          name, version, kinds: must equal what the component says of itself
//! budget.toml                          fuel per fixture, written by --bless
//! fixtures/<kind>/<case>.yaml          the object, then the related objects it may ask for
//! fixtures/<kind>/<case>.expected.json the grounded report, written by --bless
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aibom_facts::object::ObjectRef;
use aibom_facts::tree::{Tree, Visibility};
use aibom_plugin::{Plugin, Want};
use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::pipeline::NO_OPTIONS;
use crate::scan::documents::{self, Content, Object};

/// What `plugin.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name of the scraper.
    pub name: String,
    /// Its version.
    pub version: String,
    /// One sentence for people.
    #[serde(default)]
    pub description: String,
    /// Kinds it reads.
    pub kinds: Vec<Kind>,
}

/// One kind in `plugin.toml`.
#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Kind {
    /// API group; empty in the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Versions, most preferred first.
    pub versions: Vec<String>,
}

/// Fuel per fixture: the deterministic cost of a call.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Budget {
    /// Instructions by fixture name.
    pub fuel: BTreeMap<String, u64>,
}

/// One case.
pub struct Fixture {
    /// `kind/case`.
    pub name: String,
    /// The manifest.
    pub path: PathBuf,
    /// The object.
    pub object: Object,
    /// Further objects of the file.
    pub others: Vec<Object>,
}

impl Manifest {
    /// Reads `plugin.toml` of a folder.
    ///
    /// # Errors
    /// Missing or malformed.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join("plugin.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not as plugin.toml must be", path.display()))
    }
}

impl Budget {
    /// Reads `budget.toml` of a folder; none when there is no such file yet.
    ///
    /// # Errors
    /// Malformed.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join("budget.toml");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Writes `budget.toml`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let text = toml::to_string(self)?;
        let path = folder.join("budget.toml");
        let head = "# Written by `k8s-aibom plugin test --bless`: fuel per fixture. A run that needs 10 % more fails.\n";
        fs::write(&path, format!("{head}{text}")).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Reads every fixture below `fixtures/`, sorted.
///
/// # Errors
/// A file cannot be read, or does not start with an object.
pub fn read(folder: &Path) -> anyhow::Result<Vec<Fixture>> {
    let top = folder.join("fixtures");
    let (sources, errors) = crate::scan::sources::collect(std::slice::from_ref(&top));
    if let Some(error) = errors.into_iter().next() {
        bail!(error);
    }
    let mut fixtures = Vec::new();
    for source in sources {
        let crate::scan::sources::Source::File { path, .. } = &source else { continue };
        if path.extension().is_some_and(|extension| extension == "json") {
            continue;
        }
        ensure!(path.is_file(), "{} is no folder; a scraper's fixtures are below fixtures/<kind>/", top.display());
        let text = source.read()?;
        let mut objects = Vec::new();
        for document in documents::read(&text) {
            match document.content {
                Ok(Content::Objects { objects: found, .. }) => objects.extend(found),
                Ok(Content::Empty) => {}
                Ok(Content::Other) => bail!("{}: document {} is no Kubernetes object", path.display(), document.index),
                Err(malformed) => {
                    bail!("{}, line {}: {}", path.display(), malformed.line.unwrap_or(0), malformed.reason)
                }
            }
        }
        ensure!(!objects.is_empty(), "{} holds no object", path.display());
        let object = objects.remove(0);
        let name = path.strip_prefix(&top).unwrap_or(path).with_extension("").display().to_string().replace('\\', "/");
        fixtures.push(Fixture { name, path: path.clone(), object, others: objects });
    }
    Ok(fixtures)
}

impl Fixture {
    /// Where the expected report is kept.
    pub fn expected_path(&self) -> PathBuf {
        self.path.with_extension("expected.json")
    }

    /// The object as a plugin sees it.
    pub fn view(&self, plugin: &Plugin) -> Arc<Tree> {
        Arc::new(plugin.view(&self.object.tree, self.object.root))
    }

    /// The objects that answer a plugin's wants.
    pub fn answers(&self, plugin: &Plugin, wants: &[Want]) -> Vec<Option<Arc<Tree>>> {
        wants.iter().map(|want| self.answer(want).map(|object| Arc::new(plugin.view(&object, object.root())))).collect()
    }

    fn answer(&self, want: &Want) -> Option<Tree> {
        let fits = |found: &ObjectRef| {
            found.group == want.group && found.kind == want.kind && found.name == want.name && found.namespace == want.namespace
        };
        if want.refused.is_some() {
            return None;
        }
        let object = self.others.iter().find(|object| fits(&object.reference))?;
        Some(object.tree.view(object.root, Visibility { status: true }))
    }

    /// Scrapes the fixture's object, or a changed copy of it.
    ///
    /// # Errors
    /// The call's.
    pub fn scrape(&self, plugin: &Plugin, view: &Arc<Tree>) -> Result<aibom_plugin::Scraped, aibom_plugin::CallError> {
        let wants = plugin.related(view, NO_OPTIONS)?;
        plugin.scrape(view, &self.answers(plugin, &wants), NO_OPTIONS)
    }
}
