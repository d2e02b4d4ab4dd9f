//! The operator on a real API server: each test has a control plane of its own, since the configuration of the operator is one for the
//! whole cluster.
//!
//! The operator runs as a process with exactly the rights that the chart gives to its ServiceAccount. The audit log of the API server
//! says what it asked and wrote.

#![allow(clippy::print_stdout, reason = "figures for whoever reads the log of a run")]
#![allow(clippy::unwrap_used, reason = "a failed test may panic anywhere")]

mod configuration;
mod isolation;
mod leadership;
mod lifecycle;
mod limits;
mod packaging;
mod plugins;
mod related;
mod rights;
mod rollup;
mod settings;
mod stage;
mod tampering;
mod writes;
