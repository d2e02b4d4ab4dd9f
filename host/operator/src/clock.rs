//! Points in time as numbers.

use std::time::{SystemTime, UNIX_EPOCH};

/// Whole seconds since 1970-01-01T00:00:00Z; 0 for a time before that.
pub fn unix_seconds(when: SystemTime) -> i64 {
    when.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
