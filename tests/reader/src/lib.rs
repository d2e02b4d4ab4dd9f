//! An independent reader of CycloneDX: what is left of a document after somebody else's types have read and written it.
//!
//! A crate of its own, and compiled without optimisation: code for the types of the whole standard takes longer to optimise than the rest
//! of the tests of documents together, and runs for milliseconds.

use serde_cyclonedx::cyclonedx::v_1_6::CycloneDx;
use serde_json::Value;

/// A document of CycloneDX 1.6 as the library `serde-cyclonedx` reads and writes it, without the members that it writes as null.
///
/// # Errors
/// The library does not take it.
pub fn read_and_write(json: &str) -> Result<Value, serde_json::Error> {
    let read: CycloneDx = serde_json::from_str(json)?;
    serde_json::to_value(&read).map(without_nulls)
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members.into_iter().filter(|(_, member)| !member.is_null()).map(|(key, member)| (key, without_nulls(member))).collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_document_comes_back_as_it_was_and_what_is_none_is_an_error() {
        let document =
            json!({ "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": [{ "type": "library", "name": "a" }] });
        assert_eq!(read_and_write(&document.to_string()).unwrap(), document);
        assert!(read_and_write(r#"{"components": 7}"#).is_err());
    }
}
