//! The hostile suite: every guest of `tests/hostile`, components that no guest is, and contracts that are not ours. Each ends in a typed
//! outcome; the next call works and the neighbours notice nothing.
#![allow(clippy::unwrap_used)]

#[path = "../support/mod.rs"]
mod support;

mod bombs;
mod contracts;
mod forms;
mod honest;
mod loading;
mod outcomes;
mod reports;
