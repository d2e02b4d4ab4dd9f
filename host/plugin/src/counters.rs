//! What became of the calls of a plugin, for metrics.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::grounding::Grounding;

/// What one call used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Most bytes of linear memory at any time.
    pub memory_peak: usize,
    /// Whether memory was refused, also when the guest went on without it.
    pub memory_denied: bool,
    /// Calls of host functions.
    pub view_calls: u64,
    /// Steps of host work; see [`crate::HostConfig::view_calls`].
    pub work: u64,
    /// Bytes of log lines that were dropped.
    pub log_bytes_dropped: u64,
    /// Units of fuel; none unless the host measures it.
    pub fuel: Option<u64>,
    /// Wall-clock time, instance included.
    pub elapsed: Duration,
}

/// Sums over all calls of a plugin since it was loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Calls that ended, by outcome: `ok` and the words of [`crate::CallError::word`].
    pub outcomes: BTreeMap<&'static str, u64>,
    /// What grounding changed.
    pub grounding: Grounding,
    /// Wants refused, by the words of [`crate::Refusal::as_str`].
    pub refused_wants: BTreeMap<&'static str, u64>,
    /// Items, pod templates and containers handed on.
    pub facts: u64,
    /// Most bytes of linear memory of any call.
    pub memory_peak: usize,
    /// Bytes of log lines that were dropped.
    pub log_bytes_dropped: u64,
    /// Steps of host work.
    pub work: u64,
}

impl Counters {
    /// Calls that ended, whatever the outcome.
    pub fn calls(&self) -> u64 {
        self.outcomes.values().sum()
    }

    /// Calls that ended with an outcome.
    pub fn outcome(&self, word: &str) -> u64 {
        self.outcomes.get(word).copied().unwrap_or(0)
    }

    pub(crate) fn record(&mut self, outcome: &'static str, usage: &Usage) {
        *self.outcomes.entry(outcome).or_default() += 1;
        self.memory_peak = self.memory_peak.max(usage.memory_peak);
        self.log_bytes_dropped += usage.log_bytes_dropped;
        self.work += usage.work;
    }
}
