//! What objects are read with at a time: scrapers, rules, options. Replaced as a whole, never changed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use aibom_api::config::{PodTemplateKind, RuntimeChanges, RuntimeImagePattern};
use aibom_api::effective::Effective;
use aibom_api::kinds::GroupKind;
use aibom_extract::{Override, Rules};
use aibom_plugin::Plugin;

use crate::catalogue::Catalogue;
use crate::pipeline::NO_OPTIONS;

/// A plugin, and the kinds that it may read where these are not all of its own.
pub type Allowed = (Plugin, Option<BTreeSet<GroupKind>>);

/// One set of scrapers, rules and options.
pub struct Serving {
    /// Counts the sets. Facts of another round have to be read again.
    pub round: u64,
    /// Scrapers.
    pub catalogue: Catalogue,
    /// The configuration that this set was made for.
    pub effective: Arc<Effective>,
    rules: Option<Arc<Rules>>,
    options: HashMap<String, Arc<str>>,
}

impl Serving {
    /// A set out of the plugins that are loaded. `rules` are those of [`rules`] for the same configuration.
    pub fn new(round: u64, plugins: impl IntoIterator<Item = Allowed>, effective: Arc<Effective>, rules: Option<Arc<Rules>>) -> Self {
        let used = plugins
            .into_iter()
            .filter(|(plugin, _)| effective.uses_plugin(&plugin.description().name))
            .map(|(plugin, delivered)| {
                let configured = configured(&effective, &plugin);
                let kinds = match (delivered, configured) {
                    (Some(delivered), Some(configured)) => Some(delivered.intersection(&configured).cloned().collect()),
                    (delivered, configured) => delivered.or(configured),
                };
                (plugin, kinds)
            })
            .collect();
        let options = effective
            .plugins
            .iter()
            .filter_map(|plugin| Some((plugin.name.clone(), Arc::from(serde_json::to_string(plugin.options.as_ref()?).ok()?))))
            .collect();
        Self { round, catalogue: Catalogue::narrowed(used), effective, rules, options }
    }

    /// Extraction rules.
    pub fn rules(&self) -> &Rules {
        self.rules.as_deref().unwrap_or_else(|| Rules::builtin())
    }

    /// Where the pod templates of a kind are that no scraper reads.
    pub fn templates(&self, group: &str, kind: &str) -> Option<&PodTemplateKind> {
        self.effective.pod_template_kinds.iter().find(|known| known.group == group && known.kind == kind)
    }

    /// Options of a plugin.
    pub fn options(&self, plugin: &str) -> &str {
        self.options.get(plugin).map_or(NO_OPTIONS, |options| options)
    }
}

/// Kinds to which the configuration narrows a plugin.
fn configured(effective: &Effective, plugin: &Plugin) -> Option<BTreeSet<GroupKind>> {
    let kinds = &effective.plugin(&plugin.description().name)?.kinds;
    // They were checked before they became effective.
    (!kinds.is_empty()).then(|| kinds.iter().filter_map(|kind| kind.parse().ok()).collect())
}

/// The rules of a configuration; none where they are the built-in ones.
///
/// # Errors
/// What is wrong with the changes, for people.
pub fn rules(changes: &RuntimeChanges, patterns: &[RuntimeImagePattern]) -> Result<Option<Arc<Rules>>, String> {
    if changes.entries.is_empty() && changes.disabled.is_empty() && patterns.is_empty() {
        return Ok(None);
    }
    let files: Vec<(String, String)> = changes.entries.iter().map(|entry| (format!("entries[{}]", entry.name), entry.to_file())).collect();
    let changes: Vec<Override<'_>> = files
        .iter()
        .map(|(name, text)| Override::File { name, text })
        .chain(patterns.iter().map(|entry| Override::ImagePattern { runtime: &entry.runtime, pattern: &entry.pattern }))
        .chain(changes.disabled.iter().map(|name| Override::Disable(name.trim())))
        .collect();
    Rules::builtin().with(&changes).map(|rules| Some(Arc::new(rules))).map_err(|error| error.to_string())
}
