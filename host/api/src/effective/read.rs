//! A configuration as it was stored, taken apart so that what cannot be read in one section is that section's error only.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ConfigError, Problem, Section};
use crate::config::{
    AibomControllerConfigSpec, BomGenerationConfig, DiscoveryConfig, LoggingConfig, PluginConfig, SinkConfig, VerificationConfig,
};
use crate::text::beginning;

const NO_OBJECT: &str = "not an object";

/// An element of a list whose elements are right or wrong by themselves.
#[derive(Debug)]
pub(super) struct Item<T> {
    pub(super) path: String,
    pub(super) name: String,
    /// None where it could not be read.
    pub(super) value: Option<T>,
}

/// The sections, each read or with an error.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) discovery: DiscoveryConfig,
    pub(super) bom_generation: BomGenerationConfig,
    pub(super) sinks: Vec<Item<SinkConfig>>,
    pub(super) logging: LoggingConfig,
    pub(super) verification: VerificationConfig,
    pub(super) plugins: Vec<Item<PluginConfig>>,
    pub(super) errors: Vec<ConfigError>,
}

impl From<&AibomControllerConfigSpec> for Input {
    fn from(spec: &AibomControllerConfigSpec) -> Self {
        Self {
            discovery: spec.discovery.clone().unwrap_or_default(),
            bom_generation: spec.bom_generation.clone().unwrap_or_default(),
            sinks: items("spec.sinks", &spec.sinks, |sink| &sink.name),
            logging: spec.logging.clone().unwrap_or_default(),
            verification: spec.verification.clone().unwrap_or_default(),
            plugins: items("spec.plugins", &spec.plugins, |plugin| &plugin.name),
            errors: Vec::new(),
        }
    }
}

impl Input {
    /// Reads `spec` of an object.
    pub(super) fn of_object(object: &Value) -> Self {
        let spec = &object["spec"];
        if !spec.is_null() && !spec.is_object() {
            let error = |section: &Section| ConfigError {
                section: *section,
                path: "spec".to_owned(),
                problem: Problem::Unreadable(NO_OBJECT.to_owned()),
            };
            return Self { errors: Section::ALL.iter().map(error).collect(), ..Self::default() };
        }
        let mut errors = Vec::new();
        let discovery = &spec["discovery"];
        let mut fields = Fields { object: discovery, path: "spec.discovery", errors: &mut errors };
        let discovery = DiscoveryConfig {
            namespace_selector: fields.part("namespaceSelector", Section::NamespaceSelector),
            inference_runtime_image_patterns: fields.read("inferenceRuntimeImagePatterns", Section::ImagePatterns),
            workload_kinds: fields.read("workloadKinds", Section::WorkloadKinds),
            pod_template_kinds: fields.read("podTemplateKinds", Section::PodTemplateKinds),
            runtimes: fields.part("runtimes", Section::Runtimes),
        };
        let mut fields = Fields { object: spec, path: "spec", errors: &mut errors };
        Self {
            discovery,
            bom_generation: fields.part("bomGeneration", Section::BomGeneration),
            logging: fields.part("logging", Section::Logging),
            verification: fields.part("verification", Section::Verification),
            sinks: fields.list("sinks", Section::Sinks),
            plugins: fields.list("plugins", Section::Plugins),
            errors,
        }
    }
}

fn items<T: Clone>(path: &str, list: &[T], name: impl Fn(&T) -> &String) -> Vec<Item<T>> {
    let item =
        |(index, value): (usize, &T)| Item { path: format!("{path}[{index}]"), name: name(value).clone(), value: Some(value.clone()) };
    list.iter().enumerate().map(item).collect()
}

/// Fields of one object.
struct Fields<'a> {
    object: &'a Value,
    path: &'a str,
    errors: &'a mut Vec<ConfigError>,
}

impl Fields<'_> {
    /// A field, or its default where it is absent, null or unreadable.
    fn read<T: DeserializeOwned + Default>(&mut self, name: &str, section: Section) -> T {
        // Indexing something else than an object gives null, so a parent of a wrong type must be named by itself.
        if !self.object.is_null() && !self.object.is_object() {
            self.error(section, self.path.to_owned(), NO_OBJECT);
            return T::default();
        }
        let value = &self.object[name];
        if value.is_null() {
            return T::default();
        }
        T::deserialize(value).unwrap_or_else(|error| {
            self.error(section, format!("{}.{name}", self.path), &error.to_string());
            T::default()
        })
    }

    /// Like [`Self::read`], for a field that is an object. Serde would take a list for one, as the values of its fields in their order.
    fn part<T: DeserializeOwned + Default>(&mut self, name: &str, section: Section) -> T {
        if self.object[name].is_array() {
            self.error(section, format!("{}.{name}", self.path), NO_OBJECT);
            return T::default();
        }
        self.read(name, section)
    }

    /// The elements of a list, each read by itself.
    fn list<T: DeserializeOwned>(&mut self, name: &str, section: Section) -> Vec<Item<T>> {
        let values: Vec<Value> = self.read(name, section);
        let mut items = Vec::with_capacity(values.len());
        for (index, value) in values.into_iter().enumerate() {
            let path = format!("{}.{name}[{index}]", self.path);
            let item_name = value["name"].as_str().unwrap_or_default().to_owned();
            let read = if value.is_array() { Err(NO_OBJECT.to_owned()) } else { T::deserialize(&value).map_err(|error| error.to_string()) };
            let value = read.map_err(|error| self.error(section, path.clone(), &error)).ok();
            items.push(Item { path, name: item_name, value });
        }
        items
    }

    fn error(&mut self, section: Section, path: String, reason: &str) {
        // The reason may quote the value, which anybody with the right to write a configuration chose.
        let short = beginning(reason, 300).to_owned();
        self.errors.push(ConfigError { section, path, problem: Problem::Unreadable(short) });
    }
}
