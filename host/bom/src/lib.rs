//! Facts into CycloneDX documents. An [`Inventory`] goes in, a [`Document`] comes out; there is no clock, no cluster and no file here.
//!
//! # Data model
//!
//! ```text
//!  Inventory ──> drafts ──────> components, services ──> filter ───────────> content hash ──> envelope ──> Document
//!                one per        properties, evidence,    secrets, control                     tools, time,   bytes
//!                bom-ref        references               characters, length                   serial number
//! ```
//!
//! * A **draft** is a finding in CycloneDX's terms. Findings with the same bom-ref are joined into one (see the table of bom-refs in
//!   `reference.rs`), so that refs are unique whatever the inventory holds.
//! * **Order** comes from content alone: components by type and bom-ref, services, dependencies and needs by bom-ref, properties by
//!   name and value, occurrences by place, evidence by strength. Equal inventories give equal bytes in whatever order their findings
//!   stand.
//! * The **filter** is the last step that changes text. It walks every text of the document, names of properties and references
//!   included, and notes on the component what it did (`aibom.redaction.applied`, `aibom.truncation.applied`).
//! * The **content hash** covers the document without its timestamp, version, serial number, generation and tools; with it, a caller decides
//!   whether there is anything to write. An upgrade of the host or of a scraper that changes no fact changes no hash.
//! * The **serial number** is a UUIDv5 over cluster and workload UID where both are known: the same workload keeps it for life, and the
//!   caller raises `version` when the content hash changes. For a manifest it is a UUIDv5 over the content hash, and the version is 1.
//!
//! # Properties of the workload
//!
//! | Name | Value |
//! |---|---|
//! | `aibom.workload.*` | group, version, kind, namespace, name, uid; one `category` each |
//! | `aibom.source` | `manifest` or `cluster` |
//! | `aibom.unresolved.<what>` | `<why> [<reference>] at <object>#<pointer>`, one for each unknown |
//! | `aibom.problem` | `<sentence> at <object>#<pointer>`, one for each malformed part |
//! | `aibom.related.object` | another object that was read |
//!
//! Names carry no counter: what is added or goes away renames nothing.
//!
//! [`lint`] checks what the official schemas do not; it accepts every document that is rendered here.

use aibom_facts::inventory::{Inventory, Tool};

mod cyclonedx;
mod document;
mod draft;
mod envelope;
mod evidence;
mod filter;
pub mod lint;
mod names;
mod reference;
mod render;
mod scrub;
mod strings;
mod time;
mod url;
mod written;

pub use document::Document;
pub use time::format_timestamp;
pub use written::{NotOurs, Written};

/// Version of the CycloneDX specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SpecVersion {
    /// 1.6, which every consumer reads.
    #[default]
    V1_6,
    /// 1.7, which adds citations, who may see a document, and that hardware is external.
    V1_7,
}

impl SpecVersion {
    /// `1.6` or `1.7`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_6 => "1.6",
            Self::V1_7 => "1.7",
        }
    }

    /// Reads `1.6` or `1.7`; none for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::V1_6, Self::V1_7].into_iter().find(|version| version.as_str() == text)
    }
}

/// Spelling of property names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PropertyNames {
    /// `aibom.confidence`, `image.reference`.
    #[default]
    Dotted,
    /// `k8s-aibom:confidence`, `k8s-aibom:image:reference`, as the CycloneDX property taxonomy wants them.
    Colon,
}

/// Marking of the Traffic Light Protocol: who may see a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tlp {
    /// Everybody.
    Clear,
    /// The community.
    Green,
    /// The organisation and those of its clients who need to know.
    Amber,
    /// The organisation.
    AmberAndStrict,
    /// Those who were given it.
    Red,
}

impl Tlp {
    /// The word of the schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "CLEAR",
            Self::Green => "GREEN",
            Self::Amber => "AMBER",
            Self::AmberAndStrict => "AMBER_AND_STRICT",
            Self::Red => "RED",
        }
    }
}

/// What the inventory does not say.
#[derive(Clone, Debug)]
pub struct Options {
    /// Version of the specification.
    pub spec_version: SpecVersion,
    /// Spelling of property names.
    pub property_names: PropertyNames,
    /// UID of the cluster (of its `kube-system` namespace); none for manifests.
    pub cluster_uid: Option<String>,
    /// Version of the document, from 1; 0 counts as 1. Documents whose serial number comes from their content always have version 1.
    pub version: u32,
    /// When the content was first seen: RFC 3339, UTC, whole seconds. [`format_timestamp`] writes it. Not checked here.
    pub timestamp: String,
    /// The program that renders.
    pub producer: Tool,
    /// Who may see the document, as the administrator says. Only 1.7 can express it (`metadata.distributionConstraints`).
    pub tlp: Option<Tlp>,
}

impl Options {
    /// CycloneDX 1.6 with dotted names for a manifest, version 1.
    pub fn new(producer: Tool, timestamp: impl Into<String>) -> Self {
        Self {
            spec_version: SpecVersion::default(),
            property_names: PropertyNames::default(),
            cluster_uid: None,
            version: 1,
            timestamp: timestamp.into(),
            producer,
            tlp: None,
        }
    }
}

/// Renders an inventory and checks the document: the way for everything that leaves the process.
///
/// # Errors
/// The document breaks a rule of [`lint`]. That is a fault of this crate; the caller loses one document by it and nothing else.
pub fn write(inventory: &Inventory, options: &Options) -> Result<Document, Unfit> {
    let document = render(inventory, options);
    let violations = document.lint();
    if violations.is_empty() { Ok(document) } else { Err(Unfit { violations }) }
}

/// A document that must not leave, since it breaks rules of [`lint`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document breaks {} of its own rules: {}", violations.len(), first(violations))]
pub struct Unfit {
    /// What is wrong; never empty.
    pub violations: Vec<lint::Violation>,
}

fn first(violations: &[lint::Violation]) -> String {
    violations.first().map(ToString::to_string).unwrap_or_default()
}

/// Renders an inventory. Total: whatever the inventory holds, the document is valid against the schema and passes [`lint::lint`],
/// provided that `options.timestamp` is a timestamp.
pub fn render(inventory: &Inventory, options: &Options) -> Document {
    render::render(inventory, options)
}
