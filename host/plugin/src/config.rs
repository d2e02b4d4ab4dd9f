//! Settings of a host.

use std::time::Duration;

/// Time between two ticks of the epoch, the grain of deadlines.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// Which allocator gives memory to instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AllocationChoice {
    /// A pool of reserved slots, and on demand where the address space for it cannot be had.
    #[default]
    Auto,
    /// Memory mapped anew for each call.
    OnDemand,
}

/// Which allocator a host ended up with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// A pool of reserved slots.
    Pooling,
    /// On demand, as asked for.
    OnDemand,
    /// On demand because the pool could not be had. Works, with less throughput over several threads.
    Fallback,
}

impl Allocation {
    /// The word used in metrics and log lines.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pooling => "pooling",
            Self::OnDemand => "on-demand",
            Self::Fallback => "fallback",
        }
    }
}

/// Limits of a host and of each call. The defaults hold for every plugin that reads objects of the size that etcd takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Calls that run at the same time; asynchronous ones wait for a slot. Default 16.
    pub slots: usize,
    /// Wall-clock time of one call, in steps of 10 ms. Default 250 ms; an object of 1.6 MB takes a scraper about 10 ms.
    pub deadline: Duration,
    /// Bytes of all linear memories of one call together. Default 64 MiB.
    pub memory_bytes: usize,
    /// Bytes that may pass between guest and host in one step: the result of a call, an argument of a host function, or the answer of
    /// one. Default 4 MiB.
    pub result_bytes: usize,
    /// Bytes of log lines kept of one call; the rest is dropped and counted. Default 64 KiB.
    pub log_bytes: usize,
    /// Work that one call may ask of the host: each host call costs one, and one more for every node that it touches. Default
    /// 1,000,000, about a tenth of a second.
    pub view_calls: u64,
    /// Node handles that a guest may hold at the same time. Default 65,536: an object of 1.5 MB has lists of some ten thousand elements.
    pub handles: usize,
    /// Allocator.
    pub allocation: AllocationChoice,
    /// Count instructions instead of time, so that the cost of a call is the same on every machine and every run. Calls end after
    /// [`FUEL`] units instead of at the deadline. For tests of plugins; slower than epochs.
    pub measure_fuel: bool,
}

/// Units of fuel after which a call ends when `measure_fuel` is set: about a second of work.
pub const FUEL: u64 = 1_000_000_000;

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            slots: 16,
            deadline: Duration::from_millis(250),
            memory_bytes: 64 << 20,
            result_bytes: 4 << 20,
            log_bytes: 64 << 10,
            view_calls: 1_000_000,
            handles: 65_536,
            allocation: AllocationChoice::Auto,
            measure_fuel: false,
        }
    }
}

impl HostConfig {
    /// Ticks of a deadline; one more than fit into it, because the first one is partly over when a call starts.
    pub(crate) fn ticks(&self) -> u64 {
        u64::try_from(self.deadline.as_nanos().div_ceil(TICK.as_nanos())).unwrap_or(u64::MAX / 2).saturating_add(1)
    }
}
