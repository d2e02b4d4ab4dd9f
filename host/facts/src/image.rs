//! Image references: `[host[:port]/]segment(/segment)*[:tag][@algorithm:hex]`.

use serde::{Deserialize, Serialize};

/// A parsed image reference in canonical form: Docker Hub's implied host and `library/` are written out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ImageReference {
    /// Registry host with port, `docker.io` when implied.
    pub registry: String,
    /// Path below the registry, such as `library/nginx`.
    pub repository: String,
    /// Tag, as written; none is not `latest`.
    pub tag: Option<String>,
    /// Manifest or index digest.
    pub digest: Option<Digest>,
}

/// A content digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest {
    /// `sha256` or `sha512`.
    pub algorithm: String,
    /// Lower-case hex.
    pub hex: String,
}
