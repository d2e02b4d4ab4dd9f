//! `spec.sinks`: where documents are sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Kind of place that takes documents.
    pub enum SinkType {
        /// A bucket of Google Cloud Storage.
        Gcs = "GCS",
        /// A server that takes a POST request for each document.
        Webhook = "Webhook",
    }
}

/// One place that takes documents. Exactly the part that its type names is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SinkConfig {
    /// Name of the sink, a label as in DNS names.
    #[schemars(length(min = 1, max = 63), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,
    /// Type of the sink.
    #[serde(rename = "type")]
    pub type_: SinkType,
    /// The bucket, for the type GCS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gcs: Option<GcsSink>,
    /// The server, for the type Webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<WebhookSink>,
}

/// A bucket of Google Cloud Storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GcsSink {
    /// Name of the bucket.
    #[schemars(length(min = 3, max = 222))]
    pub bucket: String,
    /// Name of an object, with the placeholders {namespace}, {kind}, {name}, {timestamp}, {hash} and {category}. When
    /// absent, mlbom/{namespace}/{kind}-{name}/{timestamp}.json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub path_template: Option<String>,
    /// Key file of a service account. When absent, the identity of the controller's pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials_secret_ref: Option<SecretKeyRef>,
}

/// A server that takes a POST request for each document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSink {
    /// URL of the server.
    #[schemars(length(max = 2048), regex(pattern = "^https?://"))]
    pub endpoint: String,
    /// How the controller shows who it is. At most one way is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<WebhookAuth>,
}

/// How the controller shows a webhook who it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAuth {
    /// A token in the Authorization header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearer_token: Option<BearerTokenAuth>,
    /// A client certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtls: Option<MtlsAuth>,
}

/// A token in the Authorization header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BearerTokenAuth {
    /// Where the token is.
    pub secret_ref: SecretKeyRef,
}

/// A client certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MtlsAuth {
    /// Where the certificate is, in PEM.
    pub client_cert_secret_ref: SecretKeyRef,
    /// Where its private key is, in PEM.
    pub client_key_secret_ref: SecretKeyRef,
    /// Certificates that the server's is checked against, in PEM. When absent, those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_secret_ref: Option<SecretKeyRef>,
}

/// One key of a Secret in the namespace of the controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretKeyRef {
    /// Name of the Secret.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
    /// Key within its data.
    #[schemars(length(min = 1, max = 253))]
    pub key: String,
}
