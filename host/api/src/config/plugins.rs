//! `spec.plugins`: settings of plugins.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema;

/// Settings of one plugin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginConfig {
    /// Name of the plugin as it gives it itself.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The plugin is used. When absent, it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Kinds that it may read, each as group/Kind, with core as the name of the core group. When absent or empty, all that it knows. A
    /// kind that it does not know cannot be given to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(min = 1, max = 317)), extend("x-kubernetes-list-type" = "set"))]
    pub kinds: Vec<String>,
    /// Options, handed to the plugin as they are. The plugin says which ones it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::any_object")]
    pub options: Option<Map<String, Value>>,
}
