//! The words of the inventory, shared by every part of the host. Nothing here knows a kind, a cluster, a clock or a file.
//!
//! # Data model
//!
//! ```text
//!  bytes ──> tree::Tree ──view──> tree::Tree          an object: an arena of nodes, cheap to point into
//!                                   │ scraper
//!                                   ▼
//!                              report::Report          what a scraper said, grounded: every claim has its place
//!                                   │ extraction
//!                                   ▼
//!                              inventory::Inventory    facts about one workload, with evidence; documents are rendered from it alone
//! ```
//!
//! * [`pointer::Pointer`] is an RFC 6901 JSON pointer, the only way a place in an object is written.
//! * [`object::ObjectRef`] names an object, [`object::Locator`] a place in one of the objects of a call.
//! * [`image`], [`model`] and [`purl`] parse and canonicalise the references that manifests contain.
//! * [`rollup::absorb`] makes one inventory of a workload and those that belong to it.
//! * [`text`] holds the one list of characters that no output shows.
//! * [`redact::Redactor`] is the last filter before any text leaves the process.
//!
//! Dependencies: `serde`, `serde_json`, `sha2`, `thiserror` and `packageurl`; no other crate of the host.

pub mod image;
pub mod inventory;
pub mod model;
pub mod object;
pub mod pointer;
pub mod purl;
pub mod redact;
pub mod report;
pub mod rollup;
pub mod text;
pub mod tree;

pub use text::hex;
