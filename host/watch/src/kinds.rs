//! Which kinds are watched: one state machine for each, and the driver that feeds them.
//!
//! # Data model
//!
//! ```text
//!  configuration, plugins ── Demand ──┐
//!  definitions (CRDs)     ── Reading ─┤
//!  a kind's watch         ── Signal ──┼──> Machine::step ──> Effect: start, stop, track, sweep, tell
//!  a kind's probe         ── Result ──┘         │
//!                                               └──> View: state, health, cause, since
//! ```
//!
//! * A [`Machine`] belongs to one kind. It is pure: no clock, no request, no task. What it wants done comes out as [`Effect`]s, and how
//!   that went comes back as [`Observation`]s, so that every order of events can be tried in a test.
//! * The [`Driver`] owns the machines, reads definitions, and probes. It starts no watch: whoever owns it does, and says how they fare.
//! * Nothing is taken away without a proof: [`Effect::Sweep`] comes only of a definition that a read has shown to be gone, or of a
//!   configuration that excludes the kind. Errors, silence and missing events prove nothing.

mod definition;
mod discovery;
mod driver;
mod health;
mod machine;
mod probe;

pub use definition::{Choice, Facts, Reading, Way};
pub use driver::{Driver, Names, Said, Signals, Timing};
pub use health::{Health, Trouble};
pub use machine::{Demand, Effect, Machine, Observation, Signal, Told, View, Why};
