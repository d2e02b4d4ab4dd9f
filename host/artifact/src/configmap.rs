//! A plugin in a ConfigMap: exactly one component in `binaryData`, and its [`Manifest`] in `data["scraper.yaml"]`.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use crate::compressed::{Packing, UnpackError, unpack};
use crate::manifest::{Manifest, ManifestError};
use crate::{Artifact, sha256_hex};

/// Label that marks a ConfigMap as a plugin when its value is `true`.
pub const LABEL: &str = "aibom.k8saibom.dev/scraper";

/// Key of the manifest.
pub const MANIFEST: &str = "scraper.yaml";

/// What is read of a ConfigMap.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigMap {
    /// Texts.
    pub data: BTreeMap<String, String>,
    /// Bytes, in base64.
    pub binary_data: BTreeMap<String, String>,
}

/// Why a ConfigMap is no plugin.
#[derive(Debug, thiserror::Error)]
pub enum ConfigMapError {
    /// There is no manifest.
    #[error("data has no {MANIFEST}; `k8s-aibom plugin pack` writes one")]
    NoManifest,
    /// The manifest cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// There is no component, or there are several.
    #[error("binaryData must hold exactly one of *.wasm, *.wasm.gz and *.wasm.zst; it holds {0}")]
    Components(usize),
    /// The bytes are no base64.
    #[error("binaryData[{key}] is no base64: {reason}")]
    Base64 {
        /// Key.
        key: String,
        /// Why.
        reason: String,
    },
    /// The component cannot be unpacked.
    #[error("binaryData[{key}] {error}")]
    Unpack {
        /// Key.
        key: String,
        /// Why.
        #[source]
        error: UnpackError,
    },
    /// The component is another one than the manifest says.
    #[error("the component has the SHA-256 {found}, and {MANIFEST} says {expected}; one of them was not updated")]
    Digest {
        /// What the manifest says.
        expected: String,
        /// What it is.
        found: String,
    },
}

impl ConfigMapError {
    /// One word for metrics and status.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoManifest => "NoManifest",
            Self::Manifest(_) => "Manifest",
            Self::Components(_) => "Components",
            Self::Base64 { .. } => "Base64",
            Self::Unpack { .. } => "Unpack",
            Self::Digest { .. } => "DigestMismatch",
        }
    }
}

impl ConfigMap {
    /// The plugin in it. `origin` says where the ConfigMap is.
    ///
    /// # Errors
    /// What is wrong with it. The digest is checked before anything else looks at the bytes.
    pub fn plugin(&self, origin: &str) -> Result<(Manifest, Artifact), ConfigMapError> {
        let manifest = Manifest::read(self.data.get(MANIFEST).ok_or(ConfigMapError::NoManifest)?)?;
        let components: Vec<_> = self.binary_data.iter().filter_map(|(key, bytes)| Some((key, Packing::of_name(key)?.0, bytes))).collect();
        let [(key, packing, text)] = components[..] else { return Err(ConfigMapError::Components(components.len())) };
        let packed = STANDARD.decode(text).map_err(|error| ConfigMapError::Base64 { key: key.clone(), reason: error.to_string() })?;
        let bytes = unpack(&packed, packing).map_err(|error| ConfigMapError::Unpack { key: key.clone(), error })?;
        let found = sha256_hex(&bytes);
        if found != manifest.sha256 {
            return Err(ConfigMapError::Digest { expected: manifest.sha256, found });
        }
        let artifact = Artifact { name: manifest.name.clone(), origin: origin.to_owned(), sha256: found, bytes };
        Ok((manifest, artifact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compressed::gzip;

    fn map(bytes: &[u8], sha256: &str, keys: &[(&str, &[u8])]) -> ConfigMap {
        let binary: BTreeMap<&str, String> = keys.iter().map(|(key, bytes)| (*key, STANDARD.encode(bytes))).collect();
        let sha256 = if sha256.is_empty() { sha256_hex(bytes) } else { sha256.to_owned() };
        let manifest = format!("name: widgets\nsha256: {sha256}\nkinds: [example.com/Widget]\n");
        let text = serde_json::json!({ "data": { MANIFEST: manifest }, "binaryData": binary, "metadata": {} }).to_string();
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_packed_plugin_is_unpacked_and_checked_against_its_digest() {
        let bytes = b"\0asm\x0d\0\x01\0".as_slice();
        let (manifest, artifact) = map(bytes, "", &[("w.wasm.gz", &gzip(bytes).unwrap()), ("notes", b"x")]).plugin("here").unwrap();
        assert_eq!((&*manifest.name, &*artifact.bytes), ("widgets", bytes));
    }

    #[test]
    fn what_is_wrong_with_a_plugin_is_named() {
        let bytes = b"\0asm".as_slice();
        let word = |map: ConfigMap| map.plugin("here").unwrap_err().word();
        assert_eq!(word(ConfigMap::default()), "NoManifest");
        assert_eq!(word(map(bytes, "abc", &[("w.wasm", bytes)])), "Manifest");
        assert_eq!(word(map(bytes, "", &[])), "Components");
        assert_eq!(word(map(bytes, "", &[("a.wasm", bytes), ("b.wasm.gz", bytes)])), "Components");
        assert_eq!(word(map(bytes, "", &[("a.wasm.gz", bytes)])), "Unpack");
        assert_eq!(word(map(bytes, &"0".repeat(64), &[("a.wasm", bytes)])), "DigestMismatch");
        let mut broken = map(bytes, "", &[("a.wasm", bytes)]);
        broken.binary_data.insert("a.wasm".to_owned(), "***".to_owned());
        assert_eq!(word(broken), "Base64");
    }
}
