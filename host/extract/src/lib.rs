//! Pod templates and command lines into facts, by rules kept as data.
//!
//! # Data model
//!
//! ```text
//!  report + objects ──pods──> containers ──argv, shell──> command lines ──options──> hits
//!                                 │ images                                  │ env        │
//!                                 ▼                                         ▼            ▼
//!                             runtimes of the image                    reading: what one container says
//!                                                                           │ merge, by identity
//!                        items of the report ─────────────────────────────> Inventory
//! ```
//!
//! * [`Rules`] are the data: one file per runtime, see `runtimes/README.md`.
//! * [`Subject`] is one object with what a scraper reported about it; [`extract`] turns it into an
//!   [`Inventory`]. [`explain`] also tells what was looked at and not reported, and why.
//! * [`shell`] reads shell scripts as words. Nothing is run, here or elsewhere.
//!
//! Everything is a pure function of its input: no clock, no file, no network. What can grow (the expansion of variables, scripts in
//! scripts, the values of one option) is bounded, and no object makes it panic.

mod absent;
mod apis;
mod argv;
mod budget;
mod builtin;
mod clues;
mod dummy;
mod env;
mod explain;
mod images;
mod items;
mod json;
mod maps;
mod merge;
mod mounted;
mod options;
mod pods;
mod python;
mod reading;
mod rules;
mod said;
mod script;
pub mod shell;
mod storage;
mod text;

use aibom_facts::inventory::{Inventory, Origin};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::report::Report;
use aibom_facts::tree::Tree;

pub use explain::{Considered, Explanation, Reason, Recognised};
pub use images::{ImageClass, ImageMatch, Strength};
pub use rules::{Does, Override, Rules, RulesError, Runtime};

/// An object with what was reported about it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The object, then the related ones.
    pub objects: &'a [ObjectRef],
    /// Their content, at the same index as locators use; none for a related object that does not exist or may not be read.
    pub trees: &'a [Option<&'a Tree>],
    /// Places that name the objects, at the same index; none for the object itself and for what nobody looked for. May be shorter.
    pub sought: &'a [Option<Locator>],
    /// What a scraper said, grounded.
    pub report: &'a Report,
    /// Where the object was read.
    pub origin: Origin,
}

/// Turns an object and its report into facts.
pub fn extract(rules: &Rules, subject: &Subject<'_>) -> Inventory {
    merge::inventory(rules, subject, &explain::Trace::default())
}

/// Like [`extract`], with what the rules recognised and what they decided against.
pub fn explain(rules: &Rules, subject: &Subject<'_>) -> (Inventory, Explanation) {
    let trace = explain::Trace::recording();
    let inventory = merge::inventory(rules, subject, &trace);
    let explanation = trace.finish(&inventory);
    (inventory, explanation)
}

#[cfg(test)]
mod tests;
