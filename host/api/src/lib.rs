//! The custom resources of the operator: their types, the definitions in `crds/`, and the pure rules around them. No cluster, no clock,
//! and nothing of our other crates.
//!
//! # Data model
//!
//! ```text
//!  AIBOMControllerConfig ──load──> Loaded { Effective, ConfigErrors, Unsupported }      one per cluster, named `default`
//!     spec, by section              every default filled in; a section that is wrong keeps its last good state
//!
//!  workload ──names::object_name──> AIBOM    one per workload, beside it in its namespace
//!                                   spec.workloadRef (immutable), status: conditions, summary, document
//! ```
//!
//! * **Types** ([`aibom`], [`config`]) are what an API server stores. Names, types, limits and defaults are those of the Go operator of
//!   the same API group, so that its objects are taken over as they are; what is added is optional.
//! * **Versions**: [`SERVED_VERSIONS`] have one schema, and conversion is `None`: the server changes `apiVersion` and nothing else. So there is
//!   one set of types, which reads objects of either version and writes [`VERSION`].
//! * **Definitions** ([`crd`]) are made from the types; `cargo xtask crdgen` writes them to `crds/`, and tests hold them to be structural.
//! * **Configuration** ([`effective`]) becomes effective section by section. Nothing in it is ignored silently: what is wrong is a
//!   [`effective::ConfigError`] with the path of the field, what this version cannot do yet is an [`effective::Unsupported`].
//! * **Names and labels** ([`names`], [`labels`]) of AIBOM objects are functions of the workload and its facts.
//! * **Skew** ([`compare`]) names each field of our schema that the served one lacks, at any depth.
//! * **Conditions** ([`conditions`]) are a list with one entry per type; the time of transition moves with the status only.

pub mod aibom;
mod canonical;
pub mod compare;
pub mod conditions;
pub mod config;
pub mod crd;
pub mod effective;
pub mod kinds;
pub mod labels;
pub mod names;
mod schema;
pub mod text;
mod words;

/// API group of both resources.
pub const GROUP: &str = "aibom.k8saibom.dev";

/// Version that is stored and written.
pub const VERSION: &str = "v1beta1";

/// Versions that are served, the stored one first. The schemas are the same.
pub const SERVED_VERSIONS: [&str; 2] = [VERSION, "v1alpha1"];

/// Label that opts a namespace in when its value is `true` and no selector is configured.
pub const OPT_IN_LABEL: &str = "aibom.k8saibom.dev/enabled";

/// Name of the one AIBOMControllerConfig that is read; others are drafts.
pub const CONFIG_NAME: &str = "default";
