//! What each step may cost, and what the Go operator took for the same on a machine of the same kind.
//!
//! Both depend on how many workloads there are. For a number between two that were measured, the budget is that of the larger one.

/// Of one number of workloads.
#[derive(Debug)]
pub(crate) struct Budget {
    /// MiB resident, and without files.
    pub(crate) rss: (Option<f64>, &'static str),
    pub(crate) anonymous: (Option<f64>, &'static str),
    /// Seconds from an object's creation to its AIBOM.
    pub(crate) p50: (Option<f64>, &'static str),
    pub(crate) p99: (Option<f64>, &'static str),
    /// Seconds from the first creation to the last AIBOM.
    pub(crate) all: (Option<f64>, &'static str),
    /// Processor seconds of the burst, and of a restart.
    pub(crate) burst_cpu: (Option<f64>, &'static str),
    pub(crate) restart_cpu: (Option<f64>, &'static str),
    /// Writes of a restart.
    pub(crate) restart_writes: (Option<f64>, &'static str),
    /// Seconds until it is quiet after a restart.
    pub(crate) restart_quiet: (Option<f64>, &'static str),
    /// MiB resident after a restart.
    pub(crate) restart_rss: (Option<f64>, &'static str),
}

impl Budget {
    /// For so many workloads.
    pub(crate) fn of(workloads: usize) -> Self {
        match workloads {
            0..=1001 => Self {
                rss: (Some(36.0), "92-102"),
                anonymous: (Some(16.0), "47-57"),
                p50: (Some(1.0), "14.5"),
                p99: (Some(4.0), "19.4"),
                all: (None, "23.8"),
                burst_cpu: (Some(4.0), "7.3"),
                restart_cpu: (Some(1.0), "2.6-3.1"),
                restart_writes: (Some(0.0), "1002"),
                restart_quiet: (None, "11-13"),
                restart_rss: (Some(36.0), "94-99"),
            },
            // The Go operator was measured with 5,000 more on top of 1,001. Budgets are in MB there.
            1002..=6001 => Self {
                rss: (Some(66.8), "248 at 6,001"),
                anonymous: (None, "201 at 6,001"),
                p50: (None, "95.7 at +5,000"),
                p99: (None, "123.6 at +5,000"),
                all: (None, "142 at +5,000"),
                burst_cpu: (None, "37.5 at +5,000"),
                restart_cpu: (Some(4.0), "18.3 at 6,001"),
                restart_writes: (Some(0.0), "6090 at 6,001"),
                restart_quiet: (None, "75 at 6,001"),
                restart_rss: (Some(66.8), "230 at 6,001"),
            },
            _ => Self {
                rss: (Some(200.0), "not measured"),
                anonymous: (None, ""),
                p50: (None, ""),
                p99: (None, ""),
                all: (None, ""),
                burst_cpu: (None, ""),
                restart_cpu: (None, ""),
                restart_writes: (Some(0.0), ""),
                restart_quiet: (None, ""),
                restart_rss: (Some(200.0), ""),
            },
        }
    }
}

/// Writes that a new workload costs: the object and its status.
pub(crate) const WRITES_PER_WORKLOAD: f64 = 2.0;

/// Requests in an idle minute, besides open watches and the lease.
pub(crate) const IDLE_REQUESTS: f64 = 4.0;

/// Processor seconds of five idle minutes.
pub(crate) const IDLE_CPU: f64 = 0.24;

/// MiB resident with 10,000 workloads and 50,000 pods of theirs.
pub(crate) const PODS_RSS: f64 = 200.0;

/// Microseconds of the processor for an event of a pod.
pub(crate) const POD_CPU: f64 = 100.0;

/// MiB that pods cost which are none of its business.
pub(crate) const FOREIGN_PODS: f64 = 1.0;
