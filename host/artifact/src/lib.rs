//! Bytes of plugins: where a scraper comes from.
//!
//! An [`Artifact`] is a name, the bytes of one WebAssembly component and their SHA-256. Built-in scrapers are files beside the binary
//! and take the same path as any other. There are two sources: a [`directory`], and a [`configmap`] with its [`manifest`]. Whether the
//! bytes are a component that may run is not decided here; the plugin host scans them before it compiles anything.

pub mod compressed;
pub mod configmap;
pub mod directory;
pub mod manifest;

use sha2::{Digest, Sha256};

/// Largest component that is read, in bytes; the plugin host has the same cap. The largest real scraper measured has 547 KB.
pub const MAX_BYTES: u64 = 2 << 20;

/// The bytes of one plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// Name without extension; unique within its source.
    pub name: String,
    /// Where it came from, for people.
    pub origin: String,
    /// SHA-256 of `bytes`, lower-case hex.
    pub sha256: String,
    /// The component.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// An artifact of bytes that were already read.
    pub fn new(name: impl Into<String>, origin: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), origin: origin.into(), sha256: sha256_hex(&bytes), bytes }
    }
}

/// SHA-256 of bytes as lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
