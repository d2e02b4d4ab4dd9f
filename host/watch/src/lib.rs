//! Watches of Kubernetes resources, one by one: what they say, how they fail, and how long to wait then.
//!
//! # Data model
//!
//! ```text
//!  Resource + Scope ──Client──> Watch ──next──> Event        objects as they came, failures with a cause
//!                                 │
//!            list, pages ──> watch from its version ──> again from the last version
//!                  ▲                    │ 410
//!                  └────────────────────┘
//! ```
//!
//! * A [`Watch`] belongs to one resource in one scope and to one task. It has its own client settings, its own waiting times and its own
//!   failures: nothing that goes wrong with it can be felt by another.
//! * It is *pulled*: whoever asks for the next [`Event`] too slowly slows down this watch only. Asking is safe to cancel.
//! * Objects come as the text the server sent. Nothing but the name of what failed is kept here.
//! * An [`ownership::Index`] knows who controls whom, by UID, out of whatever the watches have told.
//! * A [`Failure`] has a [`Cause`] out of a closed set, which may be a label of a metric, and a text, which may not.
//!
//! How an API server and its watch cache really behave when a conversion webhook is down is the reason for most rules here: an open
//! watch then stays silent, a list may still answer, and errors come as 500, as 429 or as 504.

mod backoff;
mod client;
mod failure;
pub mod kinds;
mod meta;
mod object;
pub mod ownership;
mod resource;
mod watch;

pub use backoff::Backoff;
pub use client::{Accept, Client, Form, bounded};
pub use failure::{Cause, Failure};
pub use meta::{Annotations, Meta, Owner};
pub use object::Object;
pub use resource::{Resource, Scope};
pub use watch::{Event, Settings, Watch};
