//! `status` of AIBOMControllerConfig: what the controller made of the configuration, and the state of kinds and plugins.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AibomControllerConfigSpec;
use crate::schema;

/// What the controller made of the configuration, and the state of kinds and plugins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AibomControllerConfigStatus {
    /// Ready and Degraded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// Generation of the configuration that the conditions are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When a valid configuration was last taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_loaded_at: Option<Time>,
    /// The configuration that the controller works by, with defaults filled in and the last good state of what is wrong in the
    /// specification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_configuration: Option<AibomControllerConfigSpec>,
    /// SHA-256 of the effective configuration, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_configuration_hash: Option<String>,
    /// Kinds that are looked at, and how that goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["group", "kind"]))]
    pub kinds: Vec<KindStatus>,
    /// Plugins that were found, and which of them serve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub plugins: Vec<PluginStatus>,
}

/// A kind that is looked at. Words are open, and later versions of the controller may have more of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KindStatus {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Version that is read, where the kind is served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// State of the kind in the cluster, such as Ready, Absent, Unservable or Removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Whether its objects can be read: Healthy, Unhealthy, or Unproven while there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<String>,
    /// Why it is not healthy, one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Details for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when state and health are what they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Number of objects, not older than some minutes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<i64>,
    /// Name of the plugin that reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// Digest of that plugin, sha256: and hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plugin_digest: Option<String>,
}

/// A plugin that was found. Words are open, and later versions of the controller may have more of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PluginStatus {
    /// Name of the plugin.
    pub name: String,
    /// Where it comes from, such as BuiltIn or ConfigMap/name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Whether it serves, is switched off, was rejected, or is configured and not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Version that it gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Digest of what serves, sha256: and hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Digest of what was rejected while an earlier one goes on serving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejected_digest: Option<String>,
    /// Step of loading that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Why it was rejected, one word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Details for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Since when this is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
    /// Kinds that it serves, each as group/Kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "set"))]
    pub kinds: Vec<String>,
}
