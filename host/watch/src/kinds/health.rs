//! How a kind is doing.

use std::time::Duration;

use super::machine::Why;
use crate::failure::{Cause, Failure};

/// For so long after a definition became ready, an answer that the kind does not exist is the API server catching up.
const LAG: Duration = Duration::from_mins(2);

/// How a kind is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Its watch has begun, and no list was complete yet.
    Starting,
    /// Its objects can be read.
    Healthy,
    /// Lists can be read, and there is no object to try a read with.
    Unproven,
    /// Its objects cannot be read. What was known of them stays.
    Unhealthy(Trouble),
    /// It is not looked at.
    Disabled(Why),
}

impl Health {
    /// The word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Starting => "Starting",
            Self::Healthy => "Healthy",
            Self::Unproven => "Unproven",
            Self::Unhealthy(_) => "Unhealthy",
            Self::Disabled(_) => "Disabled",
        }
    }

    /// Whether it is as it should be, or not wanted.
    pub fn is_good(&self) -> bool {
        matches!(self, Self::Healthy | Self::Unproven)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// One word out of a closed set: that of a [`Cause`], `Unservable` or `PluginConflict`.
    pub cause: &'static str,
    /// Details for people.
    pub message: String,
}

impl Trouble {
    /// Trouble with this cause.
    pub fn new(cause: &'static str, message: impl Into<String>) -> Self {
        Self { cause, message: message.into() }
    }
}

impl From<&Failure> for Trouble {
    fn from(failure: &Failure) -> Self {
        Self::new(failure.cause.as_str(), failure.message.clone())
    }
}

/// What is known of a running watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signals {
    /// A list was complete.
    pub(super) synced: bool,
    /// An object was read.
    pub(super) proven: bool,
    stream: Line,
    probe: Line,
    /// The stream was opened after it had failed, and nothing came of it yet.
    opened: bool,
}

/// Failures one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Line {
    last: Option<Failure>,
    count: u32,
}

impl Line {
    fn failed(&mut self, failure: Failure) {
        self.last = Some(failure);
        self.count = self.count.saturating_add(1);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    /// The failure, once it is more than a hiccup. A server that is restarted, or has too much to do, fails every kind for a moment.
    fn trouble(&self, age: Duration) -> Option<&Failure> {
        let failure = self.last.as_ref()?;
        let sure = match failure.cause {
            Cause::NotFound => age >= LAG,
            cause => !cause.is_passing() || self.count > 1,
        };
        sure.then_some(failure)
    }
}

impl Signals {
    pub(super) fn stream_failed(&mut self, failure: Failure) {
        self.opened = false;
        self.stream.failed(failure);
    }

    /// A stream is open. A sick API server opens streams and says nothing in them, so that alone proves nothing where it can be probed.
    pub(super) fn stream_opened(&mut self, probed: bool) {
        if probed {
            self.opened = true;
        } else {
            self.stream.clear();
        }
    }

    pub(super) fn stream_clean(&mut self) {
        self.opened = false;
        self.stream.clear();
    }

    pub(super) fn probe_failed(&mut self, failure: Failure) {
        self.probe.failed(failure);
    }

    pub(super) fn probe_clean(&mut self, named: bool) {
        self.probe.clear();
        self.proven = named;
        if self.opened {
            self.stream_clean();
        }
    }

    /// What is wrong, `age` after the watch began. Of two, the probe's says more.
    pub(super) fn trouble(&self, age: Duration) -> Option<Trouble> {
        self.probe.trouble(age).or_else(|| self.stream.trouble(age)).map(Trouble::from)
    }

    /// Whether neither stream nor probe has failed since it was last known to work.
    pub(super) fn is_clean(&self) -> bool {
        self.stream.last.is_none() && self.probe.last.is_none()
    }
}
