//! `scraper.yaml`: what an administrator says about a plugin that is delivered beside it.

use serde::{Deserialize, Serialize};

/// Longest manifest, in bytes.
const MAX_MANIFEST: usize = 64 << 10;

/// What is said about a plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name that the plugin gives itself.
    pub name: String,
    /// SHA-256 of the component when it is unpacked, in hexadecimal, with or without `sha256:` in front.
    pub sha256: String,
    /// Kinds that it may read, as `group/Kind`, with `core` for the core group.
    pub kinds: Vec<String>,
}

/// A manifest that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("scraper.yaml: {0}")]
pub struct ManifestError(String);

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Text that is no manifest, with the place.
    pub fn read(text: &str) -> Result<Self, ManifestError> {
        if text.len() > MAX_MANIFEST {
            return Err(ManifestError(format!("has {} bytes; {MAX_MANIFEST} are the most", text.len())));
        }
        let mut manifest: Self = serde_saphyr::from_str(text).map_err(|error| ManifestError(error.to_string()))?;
        if let Some(hex) = manifest.sha256.strip_prefix("sha256:") {
            manifest.sha256 = hex.to_owned();
        }
        manifest.sha256.make_ascii_lowercase();
        if manifest.sha256.len() != 64 || !manifest.sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ManifestError("sha256 must be the 64 hexadecimal digits of `sha256sum` over the unpacked component".to_owned()));
        }
        if manifest.kinds.is_empty() {
            return Err(ManifestError("kinds is empty; name at least one as group/Kind".to_owned()));
        }
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_read_and_what_is_wrong_with_one_is_said() {
        let hex = "AB".repeat(32);
        let manifest = Manifest::read(&format!("name: widgets\nsha256: sha256:{hex}\nkinds: [example.com/Widget]\n")).unwrap();
        assert_eq!((manifest.sha256, manifest.kinds), ("ab".repeat(32), vec!["example.com/Widget".to_owned()]));
        for (text, expected) in [
            ("name: a\nkinds: [a/B]\n", "sha256"),
            ("name: a\nsha256: abc\nkinds: [a/B]\n", "64 hexadecimal digits"),
            (&*format!("name: a\nsha256: {hex}\nkinds: []\n"), "kinds is empty"),
            (&*format!("name: a\nsha256: {hex}\nkinds: [a/B]\nmore: 1\n"), "more"),
            ("[", "scraper.yaml"),
        ] {
            let error = Manifest::read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
