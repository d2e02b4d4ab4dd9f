//! The data files that the program brings along.

/// Conventions that hold for every container.
pub(crate) const CONVENTIONS: &str = include_str!("../conventions.yaml");
/// Options of programs that nobody knows.
pub(crate) const UNKNOWN: &str = include_str!("../unknown.yaml");
/// Hosted AI services.
pub(crate) const SERVICES: &str = include_str!("../services.yaml");

// `RUNTIMES`: the files of `runtimes/` by name, in alphabetical order. The build script makes the list, so that a new runtime touches
// its own file only.
include!(concat!(env!("OUT_DIR"), "/runtimes.rs"));
