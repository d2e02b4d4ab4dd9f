//! The official CycloneDX schemas as a check, formats included. For tests of this crate and, by `#[path]`, of others.
//!
//! The schemas are not part of the project. Where they are absent, [`validators`] says so on standard error and gives none, and a test
//! goes on with what it can check without them.

use std::path::PathBuf;

use jsonschema::{Registry, Validator};
use serde_json::Value;

/// Validators of the two versions that are written.
pub(crate) struct Validators {
    v1_6: Validator,
    v1_7: Validator,
}

impl Validators {
    /// Errors of a document against the schema of the version that it names, one line each; empty when it is valid.
    pub(crate) fn errors(&self, document: &Value) -> Vec<String> {
        let validator = match document["specVersion"].as_str() {
            Some("1.6") => &self.v1_6,
            Some("1.7") => &self.v1_7,
            other => return vec![format!("no schema for specVersion {other:?}")],
        };
        validator.iter_errors(document).map(|error| format!("{} at `{}`", error, error.instance_path())).collect()
    }
}

/// The folder of the schemas.
fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/schemas/cyclonedx"))
}

/// Validators, or none where the schemas are absent.
pub(crate) fn validators() -> Option<Validators> {
    if !folder().is_dir() {
        eprintln!("SKIPPED: documents are not checked against the official CycloneDX schemas because ../shared is absent");
        return None;
    }
    Some(Validators { v1_6: validator("bom-1.6.schema.json"), v1_7: validator("bom-1.7.schema.json") })
}

fn read(name: &str) -> Value {
    let text = std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn validator(name: &str) -> Validator {
    // What the schemas refer to, under the addresses that their relative references resolve to. Nothing is fetched.
    let registry = ["spdx.schema.json", "jsf-0.82.schema.json", "cryptography-defs.schema.json"]
        .into_iter()
        .fold(Registry::new(), |registry, part| {
            registry.add(format!("http://cyclonedx.org/schema/{part}"), read(part)).unwrap_or_else(|error| panic!("{part}: {error}"))
        })
        .prepare()
        .unwrap_or_else(|error| panic!("{error}"));
    jsonschema::options()
        .with_registry(&registry)
        .should_validate_formats(true)
        .build(&read(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"))
}
