//! From the configuration that administrators write to the one that the controller works by.
//!
//! [`load`] takes it section by section ([`Section`]): a section that is right is in force, one that is wrong keeps its last good state,
//! or its default when there never was one. `spec.sinks` and `spec.plugins` are taken element by element. The last good state is the
//! [`Effective`] of the load before; after a restart, `status.effectiveConfiguration` gives it back through [`Effective::restore`].
//!
//! | Field | Default | Limits |
//! |---|---|---|
//! | `discovery.namespaceSelector` | label `aibom.k8saibom.dev/enabled=true` | `{}` selects every namespace |
//! | `discovery.inferenceRuntimeImagePatterns` | none: what is known stays | a list replaces it |
//! | `discovery.workloadKinds` | every known kind | known kinds only |
//! | `discovery.podTemplateKinds`, `.runtimes` | none | |
//! | `bomGeneration.inlineThresholdBytes` | 262144 | 1024 to 1048576 |
//! | `bomGeneration.staleThresholdReconciles` | 3 | at least 1 |
//! | `bomGeneration.specVersion`, `.propertyNames` | 1.6, dotted | |
//! | `sinks` | none | one part per sink, that of its type |
//! | `logging.level`, `.format` | info, json | |
//! | `verification.enabled`, `.trustRootMode` | false, public | |
//! | `verification.perClaimTimeoutSeconds`, `.cacheTTLMinutes` | 10, 1440 | 1 to 30, 1 to 10080 |
//! | `plugins[].enabled` | true | |

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Selector, SelectorExt as _};
use serde_json::Value;

use crate::OPT_IN_LABEL;
use crate::canonical::Canonical;
use crate::config::{
    AibomControllerConfigSpec, BomGenerationConfig, DiscoveryConfig, LogFormat, LogLevel, LoggingConfig, PluginConfig, PodTemplateKind,
    PropertyNames, RuntimeChanges, RuntimeImagePattern, SinkConfig, SpecVersion, TrustRootMode, VerificationConfig,
};
use crate::kinds::GroupKind;
use crate::text::short_hash;

mod check;
mod error;
mod read;
#[cfg(test)]
mod tests;

pub use check::compile;
pub use error::{ConfigError, Feature, Problem, Section, Unsupported, joined};

use check::Check;
use read::{Input, Item};

/// Which namespaces are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Namespaces {
    labels: LabelSelector,
    selector: Selector,
}

impl Namespaces {
    /// Whether a namespace with these labels is looked at.
    pub fn match_labels(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector.matches(labels)
    }

    /// The selector as the API takes it in list and watch requests.
    pub fn to_selector_string(&self) -> String {
        self.selector.to_string()
    }
}

impl Default for Namespaces {
    fn default() -> Self {
        let labels = BTreeMap::from([(OPT_IN_LABEL.to_owned(), "true".to_owned())]);
        Self {
            selector: labels.clone().into_iter().collect(),
            labels: LabelSelector { match_labels: Some(labels), match_expressions: None },
        }
    }
}

/// How documents are made and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Documents {
    /// Bytes of the largest document that is kept within its object.
    pub inline_threshold_bytes: i64,
    /// Failures in a row after which an AIBOM is stale.
    pub stale_threshold_reconciles: i32,
    /// Version of CycloneDX.
    pub spec_version: SpecVersion,
    /// How names of properties are written.
    pub property_names: PropertyNames,
}

impl Documents {
    /// Least value of `inline_threshold_bytes`.
    pub const MIN_INLINE_BYTES: i64 = 1024;
    /// Greatest value of `inline_threshold_bytes`: an object of etcd has 1.5 MiB, and base64 takes a third more.
    pub const MAX_INLINE_BYTES: i64 = 1_048_576;
}

impl Default for Documents {
    fn default() -> Self {
        Self {
            inline_threshold_bytes: 262_144,
            stale_threshold_reconciles: 3,
            spec_version: SpecVersion::V1_6,
            property_names: PropertyNames::Dotted,
        }
    }
}

/// Log of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logging {
    /// Least level that is logged.
    pub level: LogLevel,
    /// Form of a line.
    pub format: LogFormat,
}

impl Default for Logging {
    fn default() -> Self {
        Self { level: LogLevel::Info, format: LogFormat::Json }
    }
}

/// The configuration that the controller works by. The default is what holds without any configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effective {
    /// Which namespaces are looked at.
    pub namespaces: Namespaces,
    /// Patterns that replace what is known about images of inference servers; none when empty.
    pub image_patterns: Vec<RuntimeImagePattern>,
    /// Kinds that are looked at; every known one when none.
    pub workload_kinds: Option<BTreeSet<GroupKind>>,
    /// Kinds without a plugin whose pod templates are read.
    pub pod_template_kinds: Vec<PodTemplateKind>,
    /// Changes to the list of known programs.
    pub runtimes: RuntimeChanges,
    /// How documents are made and kept.
    pub documents: Documents,
    /// Sinks that are configured rightly. This version serves none of them, see [`Loaded::unsupported`].
    pub sinks: Vec<SinkConfig>,
    /// Log.
    pub logging: Logging,
    /// Verification, with every default filled in.
    pub verification: Verification,
    /// Settings of plugins.
    pub plugins: Vec<PluginConfig>,
}

/// Verification of signatures with every default filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification(VerificationConfig);

impl Verification {
    fn new(config: VerificationConfig) -> Self {
        Self(VerificationConfig {
            enabled: config.enabled.or(Some(false)),
            trust_root_mode: config.trust_root_mode.or(Some(TrustRootMode::Public)),
            per_claim_timeout_seconds: config.per_claim_timeout_seconds.or(Some(10)),
            cache_ttl_minutes: config.cache_ttl_minutes.or(Some(1440)),
            ..config
        })
    }

    /// Whether signatures are to be verified.
    pub fn enabled(&self) -> bool {
        self.0.enabled == Some(true)
    }

    /// The settings; no field with a default is none.
    pub fn config(&self) -> &VerificationConfig {
        &self.0
    }
}

impl Default for Verification {
    fn default() -> Self {
        Self::new(VerificationConfig::default())
    }
}

impl Effective {
    /// Whether workloads of a kind are looked at.
    pub fn allows(&self, kind: &GroupKind) -> bool {
        self.workload_kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))
    }

    /// Whether a plugin is used.
    pub fn uses_plugin(&self, name: &str) -> bool {
        self.plugin(name).is_none_or(|plugin| plugin.enabled != Some(false))
    }

    /// Settings of a plugin, if there are any.
    pub fn plugin(&self, name: &str) -> Option<&PluginConfig> {
        self.plugins.iter().find(|plugin| plugin.name == name)
    }

    /// Sections in which two configurations differ: what has to be looked at again.
    pub fn changed_since(&self, before: &Self) -> BTreeSet<Section> {
        let same = [
            (Section::NamespaceSelector, self.namespaces == before.namespaces),
            (Section::ImagePatterns, self.image_patterns == before.image_patterns),
            (Section::WorkloadKinds, self.workload_kinds == before.workload_kinds),
            (Section::PodTemplateKinds, self.pod_template_kinds == before.pod_template_kinds),
            (Section::Runtimes, self.runtimes == before.runtimes),
            (Section::BomGeneration, self.documents == before.documents),
            (Section::Sinks, self.sinks == before.sinks),
            (Section::Logging, self.logging == before.logging),
            (Section::Verification, self.verification == before.verification),
            (Section::Plugins, self.plugins == before.plugins),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(section, _)| section).collect()
    }

    /// In the shape of a specification, every default written out: `status.effectiveConfiguration`.
    pub fn to_spec(&self) -> AibomControllerConfigSpec {
        let runtimes = (self.runtimes != RuntimeChanges::default()).then(|| self.runtimes.clone());
        AibomControllerConfigSpec {
            discovery: Some(DiscoveryConfig {
                namespace_selector: Some(self.namespaces.labels.clone()),
                inference_runtime_image_patterns: self.image_patterns.clone(),
                workload_kinds: self.workload_kinds.iter().flatten().map(ToString::to_string).collect(),
                pod_template_kinds: self.pod_template_kinds.clone(),
                runtimes,
            }),
            bom_generation: Some(BomGenerationConfig {
                inline_threshold_bytes: Some(self.documents.inline_threshold_bytes),
                stale_threshold_reconciles: Some(self.documents.stale_threshold_reconciles),
                spec_version: Some(self.documents.spec_version),
                property_names: Some(self.documents.property_names),
            }),
            sinks: self.sinks.clone(),
            logging: Some(LoggingConfig { level: Some(self.logging.level), format: Some(self.logging.format) }),
            verification: Some(self.verification.0.clone()),
            plugins: self.plugins.clone(),
        }
    }

    /// SHA-256 of [`Self::to_spec`] as JSON with sorted keys, in hexadecimal: `status.effectiveConfigurationHash`.
    pub fn hash(&self) -> String {
        // The types hold nothing that JSON cannot, and a hash of nothing only makes the status be written once more.
        let value = serde_json::to_value(self.to_spec()).unwrap_or_default();
        short_hash(&serde_json::to_string(&Canonical::from(value)).unwrap_or_default(), 64)
    }

    /// What an earlier run of the controller left in `status.effectiveConfiguration`, as the last good state of this one. Kinds are not
    /// compared with those that are known: a plugin may come later. Parts that are not valid are left out.
    pub fn restore(status: &AibomControllerConfigSpec) -> Self {
        load(status, &Context::default(), None).effective
    }
}

/// What a configuration is checked against besides itself.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// Kinds that plugins can read. None: kinds are not compared with it.
    pub known_kinds: Option<&'a BTreeSet<GroupKind>>,
    /// Whether changes of runtimes can be used, and what is wrong with them otherwise. The rules for that are not part of this crate.
    pub check_runtimes: Option<&'a CheckRuntimes<'a>>,
}

/// Says what is wrong with changes of runtimes, if anything is.
pub type CheckRuntimes<'a> = dyn Fn(&RuntimeChanges) -> Result<(), String> + 'a;

/// What became of a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What the controller works by.
    pub effective: Effective,
    /// What is wrong, in the order of the fields. Empty for a valid configuration.
    pub errors: Vec<ConfigError>,
    /// What is right, but cannot be done by this version. It is to be said, and is no error.
    pub unsupported: Vec<Unsupported>,
}

impl Loaded {
    /// Whether all of the configuration is valid.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty()
    }

    /// Sections that are not in force as they were written.
    pub fn invalid_sections(&self) -> BTreeSet<Section> {
        self.errors.iter().map(|error| error.section).collect()
    }
}

/// Makes a specification effective. `last_good` is the configuration of the load before.
pub fn load(spec: &AibomControllerConfigSpec, context: &Context<'_>, last_good: Option<&Effective>) -> Loaded {
    load_input(Input::from(spec), context, last_good)
}

/// Like [`load`], for an object as it came from the API server. What cannot be read is an error of its section only, where reading the
/// whole object into its type would refuse all of it. An object without `spec` has every default.
pub fn load_object(object: &Value, context: &Context<'_>, last_good: Option<&Effective>) -> Loaded {
    load_input(Input::of_object(object), context, last_good)
}

fn load_input(input: Input, context: &Context<'_>, last_good: Option<&Effective>) -> Loaded {
    let default = Effective::default();
    let good = last_good.unwrap_or(&default);
    let Input { discovery, bom_generation, sinks, logging, verification, plugins, mut errors } = input;
    let DiscoveryConfig { namespace_selector, inference_runtime_image_patterns: patterns, workload_kinds, pod_template_kinds, runtimes } =
        discovery;
    let runtimes = runtimes.unwrap_or_default();

    if let Some(selector) = &namespace_selector {
        Check::run(Section::NamespaceSelector, &mut errors, |check| check.namespace_selector(selector));
    }
    Check::run(Section::ImagePatterns, &mut errors, |check| check.image_patterns(&patterns));
    Check::run(Section::PodTemplateKinds, &mut errors, |check| check.pod_template_kinds(&pod_template_kinds));
    let templates = section(&errors, Section::PodTemplateKinds, pod_template_kinds, &good.pod_template_kinds);
    let kinds = Check::run(Section::WorkloadKinds, &mut errors, |check| {
        check.kinds("spec.discovery.workloadKinds", &workload_kinds, &templates, context)
    });
    Check::run(Section::Runtimes, &mut errors, |check| check.runtimes(&runtimes, context));
    Check::run(Section::BomGeneration, &mut errors, |check| check.documents(&bom_generation));
    Check::run(Section::Verification, &mut errors, |check| check.verification(&verification));
    let name = |sink: &SinkConfig| sink.name.clone();
    let sinks = elements(Section::Sinks, sinks, &good.sinks, &mut errors, name, Check::sink);
    let name = |plugin: &PluginConfig| plugin.name.clone();
    let mut plugins = elements(Section::Plugins, plugins, &good.plugins, &mut errors, name, Check::plugin);
    for plugin in &mut plugins {
        plugin.enabled = plugin.enabled.or(Some(true));
    }

    let namespaces = namespace_selector.map_or_else(|| Some(Namespaces::default()), selected).unwrap_or_else(|| good.namespaces.clone());
    let defaults = Documents::default();
    let documents = Documents {
        inline_threshold_bytes: bom_generation.inline_threshold_bytes.unwrap_or(defaults.inline_threshold_bytes),
        stale_threshold_reconciles: bom_generation.stale_threshold_reconciles.unwrap_or(defaults.stale_threshold_reconciles),
        spec_version: bom_generation.spec_version.unwrap_or(defaults.spec_version),
        property_names: bom_generation.property_names.unwrap_or(defaults.property_names),
    };
    let defaults = Logging::default();
    let logging = Logging { level: logging.level.unwrap_or(defaults.level), format: logging.format.unwrap_or(defaults.format) };
    let effective = Effective {
        namespaces: section(&errors, Section::NamespaceSelector, namespaces, &good.namespaces),
        image_patterns: section(&errors, Section::ImagePatterns, patterns, &good.image_patterns),
        workload_kinds: section(&errors, Section::WorkloadKinds, (!kinds.is_empty()).then_some(kinds), &good.workload_kinds),
        pod_template_kinds: templates,
        runtimes: section(&errors, Section::Runtimes, runtimes, &good.runtimes),
        documents: section(&errors, Section::BomGeneration, documents, &good.documents),
        sinks,
        logging: section(&errors, Section::Logging, logging, &good.logging),
        verification: section(&errors, Section::Verification, Verification::new(verification), &good.verification),
        plugins,
    };
    errors.sort_by_key(|error| error.section);
    Loaded { unsupported: unsupported(&effective), effective, errors }
}

/// A section, or its last good state when there is an error in it.
fn section<T: Clone>(errors: &[ConfigError], section: Section, value: T, good: &T) -> T {
    if errors.iter().any(|error| error.section == section) { good.clone() } else { value }
}

/// The elements of a list that are right, and for those that are not the last good ones of their names.
fn elements<T: Clone>(
    section: Section,
    items: Vec<Item<T>>,
    good: &[T],
    errors: &mut Vec<ConfigError>,
    name: impl Fn(&T) -> String,
    check: impl Fn(&mut Check, &str, &T),
) -> Vec<T> {
    // A list that is no list at all has no elements, and its error has no index: it keeps its last good state as a whole.
    if items.is_empty() && errors.iter().any(|error| error.section == section) {
        return good.to_vec();
    }
    Check::run(section, errors, |check| check.unique(&items));
    let mut kept: Vec<T> = Vec::with_capacity(items.len());
    for item in items {
        let before = errors.len();
        if let Some(value) = &item.value {
            Check::run(section, errors, |all| check(all, &item.path, value));
        }
        let right = item.value.filter(|_| errors.len() == before);
        let value = right.or_else(|| good.iter().find(|value| name(value) == item.name).cloned());
        // Of two elements with one name the first is kept.
        kept.extend(value.filter(|value| !kept.iter().any(|other| name(other) == name(value))));
    }
    kept
}

fn selected(labels: LabelSelector) -> Option<Namespaces> {
    let selector = Selector::try_from(labels.clone()).ok()?;
    Some(Namespaces { labels, selector })
}

fn unsupported(effective: &Effective) -> Vec<Unsupported> {
    let sinks = effective.sinks.iter().map(|sink| Unsupported {
        path: format!("spec.sinks[{}]", sink.name),
        feature: Feature::Sink { name: sink.name.clone(), type_: sink.type_ },
    });
    let verification = effective
        .verification
        .enabled()
        .then(|| Unsupported { path: "spec.verification.enabled".to_owned(), feature: Feature::Verification });
    let format = (effective.logging.format == LogFormat::Text)
        .then(|| Unsupported { path: "spec.logging.format".to_owned(), feature: Feature::LogFormat });
    sinks.chain(verification).chain(format).collect()
}
