//! A finished document: bytes, content hash, serial number.

use std::cell::RefCell;

use aibom_facts::hex;
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
    content_hash: String,
    /// Bytes of the content, without the envelope.
    content_bytes: usize,
    serial_number: String,
}

/// More bytes than an envelope takes: tools with their versions and digests, names of the object, time and serial number.
const ENVELOPE: usize = 256 << 10;

impl Document {
    /// Numbers a document. `identity` is cluster and workload UID where both are known.
    pub(crate) fn close(
        mut bom: Bom,
        (content_hash, content_bytes): (String, usize),
        identity: Option<(&str, &str)>,
        version: u32,
    ) -> Self {
        let (name, version) = match identity {
            Some((cluster, workload)) => (format!("{cluster}/{workload}"), version.max(1)),
            None => (content_hash.clone(), 1),
        };
        let serial_number = Uuid::new_v5(&SERIALS, name.as_bytes()).urn().to_string();
        bom.serial_number = Some(serial_number.clone());
        bom.version = Some(version);
        Self { bom, content_hash, content_bytes, serial_number }
    }

    /// Compact JSON in UTF-8 with one final newline. `<`, `>` and `&` stand as they are.
    pub fn to_json(&self) -> String {
        let mut text = json(&self.bom);
        text.push('\n');
        text
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
        // Every identity repeats its tools.
        let at_most = self.content_bytes * 2 + ENVELOPE;
        let scrubber = RefCell::new(Scrubber::new());
        lint::lint_written(&self.to_value(), at_most, &|text| scrubber.borrow_mut().is_masked(text))
    }

    /// SHA-256 in lower-case hex over the document without `serialNumber`, `version`, `metadata.timestamp` and what tells the tools:
    /// `metadata.tools`, `metadata.properties`, `evidence.identity[].tools`, `citations`.
    pub fn content_hash(&self) -> &str {
        &self.content_hash
    }

    /// `urn:uuid:` and a UUIDv5 in lower case.
    pub fn serial_number(&self) -> &str {
        &self.serial_number
    }

    /// `version` of the document.
    pub fn version(&self) -> u32 {
        self.bom.version.unwrap_or(1)
    }
}

impl Bom {
    /// SHA-256 in lower-case hex over the compact form, and its length in bytes. Taken before the envelope is around the content.
    pub(crate) fn sha256(&self) -> (String, usize) {
        let text = json(self);
        (hex(&Sha256::digest(&text)), text.len())
    }
}

/// The structures hold text, booleans, finite numbers and lists of them, all of which JSON can write.
fn json(bom: &Bom) -> String {
    serde_json::to_string(bom).unwrap_or_else(|_| unreachable_json())
}

fn unreachable_json() -> String {
    debug_assert!(false, "a document holds nothing that JSON cannot write");
    String::new()
}
