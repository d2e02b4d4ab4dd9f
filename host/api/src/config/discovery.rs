//! `spec.discovery`: which workloads are looked at, and what is known about programs.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema;

/// Which workloads are looked at, and what is known about programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoveryConfig {
    /// Namespaces whose workloads are looked at. When absent, those with the label aibom.k8saibom.dev/enabled=true; when empty, all of
    /// them. A selector replaces the label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::label_selector")]
    pub namespace_selector: Option<LabelSelector>,
    /// Patterns that recognise inference servers by their images. A list replaces everything that is known about images of inference
    /// servers; use runtimes to add or change single ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inference_runtime_image_patterns: Vec<RuntimeImagePattern>,
    /// Kinds that are looked at, each as group/Kind, with core as the name of the core group. When absent or empty, every known kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workload_kinds: Vec<String>,
    /// Kinds that no plugin knows but that hold pod templates. Their templates are read as those of a Deployment are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["group", "kind"]))]
    pub pod_template_kinds: Vec<PodTemplateKind>,
    /// What is added to, changed in and removed from the list of known programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtimes: Option<RuntimeChanges>,
}

/// A pattern that recognises a runtime by its image.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeImagePattern {
    /// Name of the runtime in documents.
    #[schemars(length(min = 1, max = 64))]
    pub runtime: String,
    /// Regular expression in the syntax of RE2, matched against the image reference as it is written.
    #[schemars(length(min = 1, max = 256))]
    pub pattern: String,
}

/// A kind that holds pod templates.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PodTemplateKind {
    /// API group.
    #[schemars(length(min = 1, max = 253))]
    pub group: String,
    /// Kind.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the resource in URLs, lower case.
    #[schemars(length(min = 1, max = 63))]
    pub plural: String,
    /// Version to read.
    #[schemars(length(min = 1, max = 63))]
    pub version: String,
    /// Where the pod templates are in the object, as JSON pointers such as /spec/template.
    #[schemars(length(min = 1, max = 16), inner(length(max = 512), regex(pattern = "^/")))]
    pub pod_templates: Vec<String>,
}

/// Changes to the list of known programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeChanges {
    /// Runtimes in the form of runtime files. A name that is known overrides the parts that are given here; another one is added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::runtime_entries")]
    pub entries: Vec<RuntimeEntry>,
    /// Names of runtimes that are to be known no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 64)), extend("x-kubernetes-list-type" = "set"))]
    pub disabled: Vec<String>,
}

/// The content of a runtime file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RuntimeEntry {
    /// Name of the runtime.
    pub name: String,
    /// The other fields of the file. They are checked by whoever reads the file.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl RuntimeEntry {
    /// The file as JSON, which is YAML too.
    pub fn to_file(&self) -> String {
        let mut file = self.rest.clone();
        file.insert("name".to_owned(), Value::String(self.name.clone()));
        Value::Object(file).to_string()
    }
}
