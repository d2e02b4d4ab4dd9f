//! Documents of hand-made and of arbitrary inventories, checked against the official schemas, the lint, and an independent reader.

mod appendix;
mod arbitrary;
mod bugs;
mod identity;
mod sample;
#[path = "../schema/mod.rs"]
mod schema;
mod shape;

use std::sync::LazyLock;

use aibom_bom::{Document, Options, Written, lint};
use aibom_facts::inventory::{Inventory, Tool};
use serde_json::Value;

/// Built once: the schemas are large.
static VALIDATORS: LazyLock<Option<schema::Validators>> = LazyLock::new(schema::validators);

pub(crate) fn options() -> Options {
    Options::new(Tool { name: "bom-writer".to_owned(), version: "0.3.0".to_owned(), sha256: None }, "2026-03-01T10:00:00Z")
}

/// Renders, and fails where the document breaks the schema or a lint rule.
pub(crate) fn checked(inventory: &Inventory, options: &Options) -> Document {
    let document = aibom_bom::render(inventory, options);
    let value: Value = serde_json::from_str(document.json()).expect("a document is JSON");
    assert_eq!(schema_errors(&value), Vec::<String>::new());
    assert_eq!(lint::lint(&value), []);
    let written = Written::read(document.json().as_bytes()).expect("a document can be read back");
    assert_eq!((&*written.content_hash, written.version), (document.content_hash(), document.version()));
    assert_eq!((&*written.serial_number, &*written.timestamp), (document.serial_number(), &*options.timestamp));
    document
}

/// Errors against the official schema; none where the schemas are absent.
pub(crate) fn schema_errors(document: &Value) -> Vec<String> {
    VALIDATORS.as_ref().map_or_else(Vec::new, |validators| validators.errors(document))
}

/// The document as a reader gets it.
pub(crate) fn read(inventory: &Inventory) -> Value {
    serde_json::from_str(checked(inventory, &options()).json()).expect("a document is JSON")
}

/// The component or service with this name.
pub(crate) fn named<'a>(document: &'a Value, name: &str) -> &'a Value {
    ["components", "services"]
        .iter()
        .filter_map(|list| document[list].as_array())
        .flatten()
        .find(|component| component["name"] == name)
        .unwrap_or_else(|| panic!("no component `{name}` in {document:#}"))
}

/// Values of a property.
pub(crate) fn values<'a>(component: &'a Value, name: &str) -> Vec<&'a str> {
    let properties = component["properties"].as_array().into_iter().flatten();
    properties.filter(|property| property["name"] == name).filter_map(|property| property["value"].as_str()).collect()
}
