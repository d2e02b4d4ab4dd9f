//! A finished document: bytes, content hash, serial number.

use std::cell::RefCell;

use aibom_facts::hex;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::cyclonedx::Bom;
use crate::lint::{self, Violation};
use crate::scrub::Scrubber;

/// Namespace of serial numbers. Frozen: another one would give every workload a new serial number.
const SERIALS: Uuid = Uuid::from_u128(0x4be0_2c7a_c67c_4aae_9136_4733_a0ce_9943);

/// A CycloneDX document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    bom: Bom,
    json: String,
    content_hash: String,
    serial_number: String,
}

impl Document {
    /// Numbers a document. `identity` is cluster and workload UID where both are known.
    pub(crate) fn close(mut bom: Bom, content: &Content, identity: Option<(&str, &str)>, version: u32) -> Self {
        let content_hash = hex(&content.sha256);
        let (name, version) = match identity {
            Some((cluster, workload)) => (format!("{cluster}/{workload}"), version.max(1)),
            None => (content_hash.clone(), 1),
        };
        let serial_number = Uuid::new_v5(&SERIALS, name.as_bytes()).urn().to_string();
        bom.head.serial_number = Some(serial_number.clone());
        bom.head.version = Some(version);
        let mut json = String::with_capacity(content.body.len() + AROUND);
        for part in parts(&json_of(&bom.head, AROUND), &json_of(&bom.metadata, AROUND), &content.body) {
            json.push_str(part);
        }
        if !bom.citations.is_empty() {
            json.push_str(",\"citations\":");
            json.push_str(&json_of(&bom.citations, AROUND));
        }
        json.push_str("}\n");
        Self { bom, json, content_hash, serial_number }
    }

    /// Compact JSON in UTF-8 with one final newline. `<`, `>` and `&` stand as they are.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// Indented JSON with one final newline.
    pub fn to_json_pretty(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.bom).unwrap_or_else(|_| unreachable_json());
        text.push('\n');
        text
    }

    /// The document as a JSON value. Members are in no particular order.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::to_value(&self.bom).unwrap_or_default()
    }

    /// Broken rules of the lint; none, whatever was rendered, or this crate is at fault.
    pub fn lint(&self) -> Vec<Violation> {
        let scrubber = RefCell::new(Scrubber::new());
        lint::lint_written(&self.json, &|text| scrubber.borrow_mut().is_masked(text))
    }

    /// SHA-256 in lower-case hex over the document without `serialNumber`, `version`, `metadata.timestamp`, the generation in
    /// `metadata.component.version` and what tells the tools: `metadata.tools`, `metadata.properties`, `evidence.identity[].tools`,
    /// `citations`. [`crate::Written`] takes the same hash of bytes that were written earlier.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// `urn:uuid:` and a UUIDv5 in lower case.
    pub fn serial_number(&self) -> &str {
        &self.serial_number
    }

    /// `version` of the document.
    pub fn version(&self) -> u32 {
        self.bom.head.version.unwrap_or(1)
    }
}

/// The content of a document: its hash, taken before the envelope is around it, and the body as it will stand in the document, so that
/// what is most of a document is written once.
pub(crate) struct Content {
    sha256: [u8; 32],
    body: String,
}

/// Bytes of most things that stand around a body.
const AROUND: usize = 2048;

/// Bytes of most components.
const COMPONENT: usize = 1024;

impl Content {
    /// Over the compact form. The tools of evidence are in the body and no content; they are the same everywhere.
    pub(crate) fn of(bom: &Bom, finders: &[String]) -> Self {
        let body = json_of(&bom.body, AROUND + COMPONENT * bom.body.components.len());
        // In JSON a quotation mark inside a text has a backslash before it, so that no text holds this.
        let told = (!finders.is_empty()).then(|| format!(",\"tools\":{}", json_of(finders, 0)));
        let mut hash = Sha256::new();
        for part in parts(&json_of(&bom.head, 0), &json_of(&bom.metadata, AROUND), &body) {
            match &told {
                Some(told) => part.split(told.as_str()).for_each(|content| hash.update(content)),
                None => hash.update(part),
            }
        }
        hash.update("}");
        Self { sha256: hash.finalize().into(), body }
    }
}

/// The texts that make a document up to its last brace and what may stand in front of that: see [`Bom`].
fn parts<'j>(head: &'j str, metadata: &'j str, body: &'j str) -> [&'j str; 5] {
    let members = |object: &'j str| object.strip_suffix('}').unwrap_or(object);
    [members(head), ",\"metadata\":", metadata, ",", members(body).strip_prefix('{').unwrap_or(body)]
}

/// The structures hold text, booleans, finite numbers and lists of them, all of which JSON can write.
fn json_of(value: &(impl Serialize + ?Sized), capacity: usize) -> String {
    let mut bytes = Vec::with_capacity(capacity);
    let written = serde_json::to_writer(&mut bytes, value);
    written.ok().and_then(|()| String::from_utf8(bytes).ok()).unwrap_or_else(unreachable_json)
}

fn unreachable_json() -> String {
    debug_assert!(false, "a document holds nothing that JSON cannot write");
    String::new()
}
