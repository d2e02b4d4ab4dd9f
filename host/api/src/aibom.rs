//! AIBOM: the bill of materials of one workload, beside it in its namespace.

use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::schema;
use crate::words::absent_is_default;

/// What stands in `spec.bomFormat` and `status.bomDocument.format`.
pub const BOM_FORMAT: &str = "CycloneDX";

/// Which workload the document describes, and in which format it is. Written by the controller only.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "aibom.k8saibom.dev",
    version = "v1beta1",
    kind = "AIBOM",
    root = "Aibom",
    plural = "aiboms",
    singular = "aibom",
    shortname = "aibom",
    namespaced,
    status = "AibomStatus",
    derive = "Default",
    derive = "PartialEq",
    doc = "Bill of materials of one AI workload, with the models, runtimes, images and data that it uses. The controller keeps one for each workload of a namespace that is opted in, and deletes it with the workload.",
    annotation("api-approved.kubernetes.io", "unapproved, experimental-only"),
    printcolumn = r#"{"name": "Workload", "type": "string", "jsonPath": ".spec.workloadRef.kind"}"#,
    printcolumn = r#"{"name": "Name", "type": "string", "jsonPath": ".spec.workloadRef.name"}"#,
    printcolumn = r#"{"name": "Category", "type": "string", "jsonPath": ".status.summary.workload.category"}"#,
    printcolumn = r#"{"name": "Runtime", "type": "string", "jsonPath": ".status.summary.runtime.name"}"#,
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}"#
)]
#[serde(rename_all = "camelCase", remote = "Self")]
pub struct AibomSpec {
    /// The workload. It never changes: a workload of another kind or name has an AIBOM of its own.
    #[schemars(extend("x-kubernetes-validations" = [{ "rule": "self == oldSelf", "message": "workloadRef is immutable" }]))]
    pub workload_ref: WorkloadRef,
    /// Format of the document.
    #[schemars(length(max = 64), extend("enum" = ["CycloneDX"]))]
    pub bom_format: String,
    /// Version of the format, such as 1.6.
    #[schemars(length(max = 16), regex(pattern = r"^\d+\.\d+$"))]
    pub bom_spec_version: String,
}

absent_is_default!(AibomSpec);

/// A workload in the namespace of the AIBOM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadRef {
    /// Group and version, such as apps/v1; the version alone for the core group.
    #[schemars(length(min = 1, max = 128))]
    pub api_version: String,
    /// Kind, such as Deployment.
    #[schemars(length(min = 1, max = 64))]
    pub kind: String,
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// The document, what is most asked for out of it, and how the last look at the workload went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AibomStatus {
    /// Ready, Synced, SinkFailed and Stale.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
    /// What is most asked for, also when the document itself is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// Where the document is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bom_document: Option<BomDocument>,
    /// When the controller last changed this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconciled: Option<Time>,
    /// SHA-256 of the bytes of the document, in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bom_hash: Option<String>,
    /// SHA-256 of the content of the document, without times and versions, in hexadecimal. Equal content is not written again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_hash: Option<String>,
    /// Failures in a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consecutive_errors: Option<i32>,
    /// Generation of the workload that the document describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// The short form of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The workload and what it does.
    pub workload: WorkloadSummary,
    /// The runtime that serves or trains, the first where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeSummary>,
    /// The models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelSummary>,
    /// How sure the document as a whole is: verified, declared, inferred or unresolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
}

/// The subject of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSummary {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Namespace.
    pub namespace: String,
    /// What it does, such as inference, training, agent or vector-database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
}

/// A runtime in the short form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeSummary {
    /// Name, such as vllm.
    pub name: String,
    /// Version, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// How sure the name is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
}

/// A model in the short form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSummary {
    /// The model as it was named.
    pub identity: String,
    /// Where it was read, such as container_arg or env_var.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How sure the identity is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// Whether it is signed: unsigned, claimed or verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<String>,
}

/// Where a document is: in this object, in a sink, or nowhere because it is too large. One of the three.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BomDocument {
    /// Format, CycloneDX.
    pub format: String,
    /// Version of the format.
    pub spec_version: String,
    /// SHA-256 of the whole document in hexadecimal, wherever it is.
    pub sha256: String,
    /// Bytes of the whole document, wherever it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<i64>,
    /// The document itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<InlineDocument>,
    /// The sink that has the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalDocument>,
    /// The document is too large for this object, and no sink has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Why it is nowhere, and what to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_reason: Option<String>,
}

/// A document within its object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineDocument {
    /// Bytes of the document, JSON in base64.
    #[schemars(schema_with = "schema::bytes")]
    pub data: ByteString,
}

/// A document in a sink.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalDocument {
    /// Type of the sink in lower case, such as gcs or webhook.
    pub sink: String,
    /// Where the document is, or where it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The document was sent there and cannot be read back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_only: Option<bool>,
}
