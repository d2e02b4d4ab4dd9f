//! The scrapers at hand, by the kinds they read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use aibom_api::kinds::GroupKind;
use aibom_artifact::directory::{self, DirectoryError};
use aibom_facts::object::ObjectRef;
use aibom_plugin::{Host, KindRef, LoadError, Plugin};

/// Scrapers by kind.
pub struct Catalogue {
    plugins: Vec<Plugin>,
    by_kind: BTreeMap<(String, String), Claim>,
}

/// Who reads a kind.
#[derive(Clone, Debug)]
enum Claim {
    One {
        plugin: usize,
        versions: Vec<String>,
    },
    /// Names of the plugins that claim it: nobody reads it until the administrator has chosen.
    Several(Vec<String>),
}

/// Why a plugin is not in the catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// Its bytes could not be read.
    #[error(transparent)]
    Read(#[from] DirectoryError),
    /// It was refused.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl CatalogueError {
    /// Name of the plugin, as far as it is known.
    pub fn plugin(&self) -> String {
        match self {
            Self::Load(error) => error.plugin.clone(),
            Self::Read(DirectoryError::Unreadable { path, .. } | DirectoryError::NoFile { path } | DirectoryError::TooLarge { path }) => {
                path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
            }
        }
    }
}

/// Why an object is not scraped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotServed {
    /// No scraper reads its kind.
    #[error("no scraper reads this kind")]
    Kind,
    /// Scrapers read its kind only for what other objects say by it.
    #[error("read for objects that name it, and no workload by itself")]
    Related,
    /// A scraper reads its kind, in other versions.
    #[error("version {found} is not read; the scraper `{plugin}` reads {}", versions.join(", "))]
    Version {
        /// The object's version.
        found: String,
        /// The scraper.
        plugin: String,
        /// What it reads.
        versions: Vec<String>,
    },
    /// Several scrapers claim its kind.
    #[error("the scrapers {} claim this kind; keep one of them", plugins.join(" and "))]
    Conflict {
        /// Their names.
        plugins: Vec<String>,
    },
}

impl Catalogue {
    /// Builds a catalogue of loaded plugins.
    pub fn new(plugins: Vec<Plugin>) -> Self {
        Self::narrowed(plugins.into_iter().map(|plugin| (plugin, None)).collect())
    }

    /// Builds a catalogue of loaded plugins, some of which are to read these of their kinds only.
    pub fn narrowed(plugins: Vec<(Plugin, Option<BTreeSet<GroupKind>>)>) -> Self {
        let mut by_kind = BTreeMap::new();
        let (plugins, kinds): (Vec<Plugin>, Vec<_>) = plugins.into_iter().unzip();
        for (index, (plugin, allowed)) in plugins.iter().zip(kinds).enumerate() {
            let is_allowed =
                |kind: &&KindRef| allowed.as_ref().is_none_or(|allowed| allowed.contains(&GroupKind::new(&kind.group, &kind.kind)));
            for kind in plugin.description().kinds.iter().filter(is_allowed) {
                let key = (kind.group.clone(), kind.kind.clone());
                let claim = match by_kind.remove(&key) {
                    None => Claim::One { plugin: index, versions: kind.versions.clone() },
                    Some(Claim::One { plugin: other, .. }) if other == index => {
                        Claim::One { plugin: index, versions: kind.versions.clone() }
                    }
                    Some(Claim::One { plugin: other, .. }) => {
                        Claim::Several(vec![plugins[other].name().to_owned(), plugin.name().to_owned()])
                    }
                    Some(Claim::Several(mut names)) => {
                        names.push(plugin.name().to_owned());
                        Claim::Several(names)
                    }
                };
                by_kind.insert(key, claim);
            }
        }
        Self { plugins, by_kind }
    }

    /// Loads every plugin of a folder. One that is refused is returned as an error beside the catalogue of the others.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn load(host: &Host, folder: &Path) -> Result<(Self, Vec<CatalogueError>), DirectoryError> {
        let mut plugins = Vec::new();
        let mut errors = Vec::new();
        for artifact in directory::read(folder)? {
            let loaded = artifact
                .map_err(CatalogueError::from)
                .and_then(|artifact| host.load(&artifact.name, &artifact.bytes).map_err(CatalogueError::from));
            match loaded {
                Ok(plugin) => plugins.push(plugin),
                Err(error) => errors.push(error),
            }
        }
        Ok((Self::new(plugins), errors))
    }

    /// The plugins, in the order of their names.
    pub fn plugins(&self) -> &[Plugin] {
        &self.plugins
    }

    /// The scraper of an object.
    ///
    /// # Errors
    /// There is none; the error says why.
    pub fn plugin_for(&self, object: &ObjectRef) -> Result<&Plugin, NotServed> {
        match self.by_kind.get(&(object.group.clone(), object.kind.clone())) {
            None if self.is_related(object) => Err(NotServed::Related),
            None => Err(NotServed::Kind),
            Some(Claim::Several(plugins)) => Err(NotServed::Conflict { plugins: plugins.clone() }),
            Some(Claim::One { plugin, versions }) => {
                let plugin = &self.plugins[*plugin];
                if versions.contains(&object.version) {
                    Ok(plugin)
                } else {
                    Err(NotServed::Version { found: object.version.clone(), plugin: plugin.name().to_owned(), versions: versions.clone() })
                }
            }
        }
    }

    /// The scraper of a kind; none where none or several claim it.
    pub fn plugin_of(&self, group: &str, kind: &str) -> Option<&Plugin> {
        match self.by_kind.get(&(group.to_owned(), kind.to_owned()))? {
            Claim::One { plugin, .. } => self.plugins.get(*plugin),
            Claim::Several(_) => None,
        }
    }

    /// Whether some scraper may ask for objects of this kind.
    pub fn is_related(&self, object: &ObjectRef) -> bool {
        self.plugins
            .iter()
            .flat_map(|plugin| &plugin.description().related)
            .any(|kind| kind.group == object.group && kind.kind == object.kind)
    }

    /// Kinds that several plugins claim, with the plugins' names: nobody reads them.
    pub fn conflicts(&self) -> impl Iterator<Item = (&str, &str, &[String])> {
        self.by_kind.iter().filter_map(|((group, kind), claim)| match claim {
            Claim::Several(plugins) => Some((&**group, &**kind, plugins.as_slice())),
            Claim::One { .. } => None,
        })
    }

    /// Kinds that are read, as people write them: `group/Kind`, with `core` as the name of the core group; sorted.
    pub fn kinds(&self) -> Vec<String> {
        self.by_kind.keys().map(|(group, kind)| GroupKind::new(group.as_str(), kind.as_str()).to_string()).collect()
    }
}

/// The folder of built-in plugins: `plugins` beside the binary, or one level up (`target/plugins` for `target/release/k8s-aibom`), or
/// `../lib/k8s-aibom/plugins` as packages lay it out.
pub fn default_folder() -> Option<PathBuf> {
    let binary = std::env::current_exe().ok()?.canonicalize().ok()?;
    let beside = binary.parent()?;
    ["plugins", "../plugins", "../lib/k8s-aibom/plugins"].into_iter().map(|folder| beside.join(folder)).find(|folder| folder.is_dir())
}
