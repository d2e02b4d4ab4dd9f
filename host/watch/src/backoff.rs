//! How long to wait after failures.

use std::time::Duration;

/// Waiting times that double, with jitter. What resets them is for the owner to say: not every success is one.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    failures: u32,
}

impl Backoff {
    /// From `first`, doubling up to `most`.
    pub fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, failures: 0 }
    }

    /// The next waiting time: between three quarters and all of the doubled one, so that many watches that failed together do not come
    /// back together.
    pub fn next_wait(&mut self) -> Duration {
        let doubled = self.first.saturating_mul(1u32.checked_shl(self.failures.min(16)).unwrap_or(u32::MAX));
        self.failures = self.failures.saturating_add(1);
        doubled.min(self.most).mul_f64(1.0 - 0.25 * fastrand::f64())
    }

    /// Failures since the last reset.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Begins anew.
    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_double_up_to_the_most_and_begin_anew() {
        let mut backoff = Backoff::new(Duration::from_secs(5), Duration::from_mins(5));
        let within = |wait: Duration, seconds: f64| (0.75 * seconds..=seconds).contains(&wait.as_secs_f64());
        for seconds in [5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0] {
            let wait = backoff.next_wait();
            assert!(within(wait, seconds), "{wait:?} is not about {seconds} s");
        }
        for _ in 0..100 {
            backoff.next_wait();
        }
        assert!(within(backoff.next_wait(), 300.0));
        backoff.reset();
        assert!(within(backoff.next_wait(), 5.0));
    }
}
