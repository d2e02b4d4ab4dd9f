//! Plugins from ConfigMaps: loaded, replaced and let go while everything else goes on.
//!
//! A plugin that cannot be loaded takes nothing away: the one that served before goes on serving, and status, event and metric say what
//! is wrong with the new one.

use std::collections::{BTreeMap, BTreeSet};

use super::serving::Allowed;
use aibom_api::config::PluginStatus;
use aibom_api::kinds::GroupKind;
use aibom_artifact::configmap::ConfigMap;
use aibom_artifact::manifest::Manifest;
use aibom_plugin::{Host, Plugin};
use aibom_watch::Meta;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

/// Plugins by the name of their ConfigMap.
#[derive(Default)]
pub struct External {
    sources: BTreeMap<String, Source>,
}

/// One ConfigMap.
struct Source {
    /// Version of the ConfigMap that was looked at last.
    version: String,
    serving: Option<Serving>,
    rejected: Option<Rejected>,
    since: Time,
}

#[derive(Clone)]
struct Serving {
    plugin: Plugin,
    /// Kinds that the manifest allows.
    kinds: BTreeSet<GroupKind>,
}

/// What is wrong with a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// Name that the manifest gives it, or that of the ConfigMap.
    pub name: String,
    /// Digest, where it was read that far.
    pub digest: Option<String>,
    /// Step that failed, one word.
    pub step: &'static str,
    /// Details for people.
    pub message: String,
}

/// What became of a ConfigMap.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// It says nothing new.
    None,
    /// Another plugin serves now.
    Loaded {
        /// Its name.
        name: String,
        /// Its digest.
        digest: String,
    },
    /// It was rejected.
    Rejected(Rejected),
}

impl External {
    /// A ConfigMap is there. Blocks for the time of a compilation.
    pub fn put(&mut self, host: &Host, meta: &Meta, text: &str) -> Change {
        let known = self.sources.get(&meta.name);
        if known.is_some_and(|known| known.version == meta.resource_version) {
            return Change::None;
        }
        let before = known.and_then(|known| known.serving.clone());
        let outcome = load(host, meta, text, before.as_ref());
        let same = matches!((&outcome, &before), (Ok(now), Some(before)) if now.plugin.digest() == before.plugin.digest() && now.kinds == before.kinds);
        let rejected_before = known.and_then(|known| known.rejected.clone());
        let unchanged =
            same && rejected_before.is_none() || outcome.as_ref().err() == rejected_before.as_ref() && rejected_before.is_some();
        let since = known.filter(|_| unchanged).map_or_else(|| Time(Timestamp::now()), |known| known.since.clone());
        let version = meta.resource_version.clone();
        let (serving, rejected, change) = match outcome {
            Ok(serving) => {
                let change = if unchanged {
                    Change::None
                } else {
                    Change::Loaded { name: serving.plugin.description().name.clone(), digest: serving.plugin.digest().to_owned() }
                };
                (Some(serving), None, change)
            }
            Err(rejected) => {
                let change = if unchanged { Change::None } else { Change::Rejected(rejected.clone()) };
                (before, Some(rejected), change)
            }
        };
        self.sources.insert(meta.name.clone(), Source { version, serving, rejected, since });
        change
    }

    /// A ConfigMap is gone; the name of its plugin, if it served.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        self.sources.remove(name)?.serving.map(|serving| serving.plugin.description().name.clone())
    }

    /// Only these ConfigMaps are there; the names of those that are not.
    pub fn gone(&self, seen: &BTreeSet<String>) -> Vec<String> {
        self.sources.keys().filter(|name| !seen.contains(*name)).cloned().collect()
    }

    /// Plugins that serve, with the kinds that they may read.
    pub fn plugins(&self) -> impl Iterator<Item = Allowed> {
        let serving = self.sources.values().filter_map(|source| source.serving.as_ref());
        serving.map(|serving| (serving.plugin.clone(), Some(serving.kinds.clone())))
    }

    /// Status of each. Two that give themselves one name have one entry: the list is kept by name.
    pub fn status(&self, serves: impl Fn(&Plugin) -> bool) -> Vec<PluginStatus> {
        let mut all: BTreeMap<String, PluginStatus> = BTreeMap::new();
        for (map, source) in &self.sources {
            let serving = source.serving.as_ref();
            let name = match (serving, &source.rejected) {
                (Some(serving), _) => serving.plugin.description().name.clone(),
                (None, Some(rejected)) => rejected.name.clone(),
                (None, None) => map.clone(),
            };
            let state = match (serving, &source.rejected) {
                (Some(serving), _) if !serves(&serving.plugin) => "Disabled",
                (Some(_), None) => "Serving",
                (Some(_), Some(_)) => "ServingPrevious",
                (None, _) => "Rejected",
            };
            let rejected = source.rejected.as_ref();
            all.insert(
                name.clone(),
                PluginStatus {
                    name,
                    source: Some(format!("ConfigMap/{map}")),
                    state: Some(state.to_owned()),
                    version: serving.map(|serving| serving.plugin.description().version.clone()),
                    digest: serving.map(|serving| format!("sha256:{}", serving.plugin.digest())),
                    rejected_digest: rejected.and_then(|rejected| rejected.digest.clone()).map(|hex| format!("sha256:{hex}")),
                    step: rejected.map(|rejected| rejected.step.to_owned()),
                    reason: rejected.map(|_| "Rejected".to_owned()),
                    message: rejected.map(|rejected| rejected.message.clone()),
                    since: Some(source.since.clone()),
                    kinds: serving.map(|serving| serving.kinds.iter().map(ToString::to_string).collect()).unwrap_or_default(),
                },
            );
        }
        all.into_values().collect()
    }
}

fn load(host: &Host, meta: &Meta, text: &str, before: Option<&Serving>) -> Result<Serving, Rejected> {
    let reject = |name: &str, digest: Option<String>, step, message: String| Rejected { name: name.to_owned(), digest, step, message };
    let map: ConfigMap =
        serde_json::from_str(text).map_err(|error| reject(&meta.name, None, "ConfigMap", format!("it cannot be read: {error}")))?;
    let (manifest, artifact) =
        map.plugin(&format!("ConfigMap/{}", meta.name)).map_err(|error| reject(&meta.name, None, error.word(), error.to_string()))?;
    let digest = Some(artifact.sha256.clone());
    let kinds = kinds(&manifest).map_err(|message| reject(&manifest.name, digest.clone(), "Manifest", message))?;
    // The same bytes need not be compiled again.
    let plugin = match before.filter(|before| before.plugin.digest() == artifact.sha256) {
        Some(before) => before.plugin.clone(),
        None => host
            .load(&artifact.name, &artifact.bytes)
            .map_err(|error| reject(&manifest.name, digest.clone(), error.step.as_str(), error.to_string()))?,
    };
    let own = plugin.description();
    if own.name != manifest.name {
        let message = format!("the plugin calls itself `{}`, and scraper.yaml calls it `{}`; use the same name", own.name, manifest.name);
        return Err(reject(&manifest.name, digest, "Description", message));
    }
    let known: BTreeSet<GroupKind> = own.kinds.iter().map(|kind| GroupKind::new(&kind.group, &kind.kind)).collect();
    if let Some(kind) = kinds.iter().find(|kind| !known.contains(*kind)) {
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let message = format!("scraper.yaml allows {kind}, which the plugin does not read; it reads {}", known.join(", "));
        return Err(reject(&manifest.name, digest, "Description", message));
    }
    Ok(Serving { plugin, kinds })
}

fn kinds(manifest: &Manifest) -> Result<BTreeSet<GroupKind>, String> {
    manifest.kinds.iter().map(|kind| kind.parse::<GroupKind>().map_err(|error| format!("kinds: {error}"))).collect()
}
