//! `spec.verification`: signatures of models.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Where trusted keys and logs come from.
    pub enum TrustRootMode {
        /// The public instance of Sigstore.
        Public = "public",
        /// A mirror of one's own, in the form of a TUF repository.
        TufMirror = "tufMirror",
        /// A file in the controller's pod, for clusters without a way out.
        StaticBundle = "staticBundle",
    }
}

/// Verification of signatures of models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerificationConfig {
    /// Signatures are verified. Otherwise a signature is recorded as a claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Where trusted keys and logs come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "public"))]
    pub trust_root_mode: Option<TrustRootMode>,
    /// URL of the TUF repository, for the mode tufMirror.
    #[serde(default, rename = "tufMirrorURL", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub tuf_mirror_url: Option<String>,
    /// Path of the file with the trusted root, for the mode staticBundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1024))]
    pub static_bundle_path: Option<String>,
    /// URL of the transparency log. When absent, the one that the trusted root names.
    #[serde(default, rename = "rekorURL", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2048))]
    pub rekor_url: Option<String>,
    /// Who may sign; one match is enough. An empty list records who signed and trusts nobody of the public instance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub identities: Vec<IdentityConstraint>,
    /// Time for one verification, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 30), extend("default" = 10))]
    pub per_claim_timeout_seconds: Option<i32>,
    /// Time for which a result is used again, in minutes.
    #[serde(default, rename = "cacheTTLMinutes", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_080), extend("default" = 1440))]
    pub cache_ttl_minutes: Option<i32>,
}

/// Somebody who may sign. Each part that is given must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityConstraint {
    /// Issuer of the signer's identity, compared as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub issuer: Option<String>,
    /// Regular expression in the syntax of RE2 for the signer's subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub subject_pattern: Option<String>,
}
