//! AIBOMControllerConfig: how the controller works, as administrators write it. [`crate::effective`] says what becomes of it.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{absent_is_default, words};

mod discovery;
mod plugins;
mod sinks;
mod status;
mod verification;

pub use discovery::{DiscoveryConfig, PodTemplateKind, RuntimeChanges, RuntimeEntry, RuntimeImagePattern};
pub use plugins::PluginConfig;
pub use sinks::{BearerTokenAuth, GcsSink, MtlsAuth, SecretKeyRef, SinkConfig, SinkType, WebhookAuth, WebhookSink};
pub use status::{AibomControllerConfigStatus, KindStatus, PluginStatus};
pub use verification::{IdentityConstraint, TrustRootMode, VerificationConfig};

/// How the controller works. Every section may be absent, and one that is wrong does not spoil the others.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "aibom.k8saibom.dev",
    version = "v1beta1",
    kind = "AIBOMControllerConfig",
    root = "AibomControllerConfig",
    plural = "aibomcontrollerconfigs",
    singular = "aibomcontrollerconfig",
    shortname = "aibomcfg",
    status = "AibomControllerConfigStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "How the controller works. Only the one named default is read; others may be kept as drafts.",
    annotation("api-approved.kubernetes.io", "unapproved, experimental-only"),
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Last-Loaded", "type": "date", "jsonPath": ".status.lastLoadedAt"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#,
    printcolumn = r#"{"name": "Degraded", "type": "string", "priority": 1, "jsonPath": ".status.conditions[?(@.type==\"Degraded\")].reason"}"#,
    printcolumn = r#"{"name": "Why", "type": "string", "priority": 1, "jsonPath": ".status.conditions[?(@.type==\"Degraded\")].message"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct AibomControllerConfigSpec {
    /// Which workloads are looked at, and what is known about programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discovery: Option<DiscoveryConfig>,
    /// How documents are made and kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bom_generation: Option<BomGenerationConfig>,
    /// Where documents are sent besides the AIBOM objects, in order of preference.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub sinks: Vec<SinkConfig>,
    /// Log of the controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logging: Option<LoggingConfig>,
    /// Verification of signatures of models. Without it a signature is a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verification: Option<VerificationConfig>,
    /// Settings of plugins, by name. A plugin that is not listed runs with its defaults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 128), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub plugins: Vec<PluginConfig>,
}

absent_is_default!(AibomControllerConfigSpec);

/// How documents are made and kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BomGenerationConfig {
    /// Largest document in bytes that is kept within its AIBOM object. A larger one must go to a sink.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1024, max = 1_048_576), extend("default" = 262_144))]
    pub inline_threshold_bytes: Option<i64>,
    /// Failures in a row after which an AIBOM is marked as stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 3))]
    pub stale_threshold_reconciles: Option<i32>,
    /// Version of CycloneDX, 1.6 unless given. Another version writes every document once more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec_version: Option<SpecVersion>,
    /// How names of properties are written, with dots throughout, which is the default, or with colons as CycloneDX recommends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub property_names: Option<PropertyNames>,
}

words! {
    /// Version of the CycloneDX specification.
    pub enum SpecVersion {
        /// 1.6, which every consumer reads.
        V1_6 = "1.6",
        /// 1.7.
        V1_7 = "1.7",
    }
}

words! {
    /// How names of properties are written.
    pub enum PropertyNames {
        /// `aibom.workload.kind`.
        Dotted = "dotted",
        /// `aibom:workload:kind`.
        Colon = "colon",
    }
}

/// Log of the controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoggingConfig {
    /// Least level that is logged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "info"))]
    pub level: Option<LogLevel>,
    /// Form of a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "json"))]
    pub format: Option<LogFormat>,
}

words! {
    /// Least level that is logged.
    pub enum LogLevel {
        /// Everything.
        Debug = "debug",
        /// What happens.
        Info = "info",
        /// What is not as it should be.
        Warn = "warn",
        /// What failed.
        Error = "error",
    }
}

words! {
    /// Form of a line of the log.
    pub enum LogFormat {
        /// An object of JSON.
        Json = "json",
        /// Text for people.
        Text = "text",
    }
}
