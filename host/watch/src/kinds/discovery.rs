//! How the discovery of kinds is doing as a whole: one entry, whatever fails in it.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::health::{Health, Trouble};
use super::machine::Told;
use crate::failure::Failure;

/// Reads of single definitions that fail, and the watch of all of them.
#[derive(Debug, Default)]
pub(super) struct Discovery {
    watch: Option<Failure>,
    /// By name of the definition.
    reads: BTreeMap<String, Failure>,
    unhealthy_since: Option<SystemTime>,
    healthy_since: Option<SystemTime>,
}

impl Discovery {
    /// The watch of definitions has failed; `count` times in a row.
    pub(super) fn watch_failed(&mut self, failure: Failure, count: u32, now: SystemTime) -> Option<Told> {
        // One hiccup of a server that is restarted is no news.
        if is_sure(&failure, count) {
            self.watch = Some(failure);
        }
        self.judge(now)
    }

    /// The watch of definitions works.
    pub(super) fn watch_clean(&mut self, now: SystemTime) -> Option<Told> {
        self.watch = None;
        self.judge(now)
    }

    /// A definition could not be read; `count` times in a row.
    pub(super) fn read_failed(&mut self, name: &str, failure: Failure, count: u32, now: SystemTime) -> Option<Told> {
        if is_sure(&failure, count) {
            self.reads.insert(name.to_owned(), failure);
        }
        self.judge(now)
    }

    /// A definition was read, or is of no interest any more.
    pub(super) fn read_clean(&mut self, name: &str, now: SystemTime) -> Option<Told> {
        self.reads.remove(name);
        self.judge(now)
    }

    /// How it is, and since when; none before anything was found out.
    pub(super) fn view(&self) -> Option<(Health, SystemTime)> {
        match (self.trouble(), self.unhealthy_since, self.healthy_since) {
            (Some(trouble), Some(since), _) => Some((Health::Unhealthy(trouble), since)),
            (None, _, Some(since)) => Some((Health::Healthy, since)),
            _ => None,
        }
    }

    fn trouble(&self) -> Option<Trouble> {
        let first = self.watch.as_ref().or_else(|| self.reads.values().next())?;
        let watch = self.watch.iter().map(|failure| format!("definitions cannot be watched: {}", failure.message));
        let reads = self.reads.iter().map(|(name, failure)| format!("{name} cannot be read: {}", failure.message));
        Some(Trouble::new(first.cause.as_str(), watch.chain(reads).collect::<Vec<_>>().join("; ")))
    }

    fn judge(&mut self, now: SystemTime) -> Option<Told> {
        match (self.trouble(), self.unhealthy_since) {
            (Some(trouble), None) => {
                (self.unhealthy_since, self.healthy_since) = (Some(now), None);
                Some(Told::Unhealthy(trouble))
            }
            (None, Some(_)) => {
                (self.unhealthy_since, self.healthy_since) = (None, Some(now));
                Some(Told::Recovered)
            }
            (None, None) => {
                self.healthy_since.get_or_insert(now);
                None
            }
            (Some(_), Some(_)) => None,
        }
    }
}

fn is_sure(failure: &Failure, count: u32) -> bool {
    count > 2 || !failure.cause.is_passing()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Cause;
    use std::time::Duration;

    #[test]
    fn all_that_fails_is_one_entry_with_one_transition_each_way() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let forbidden = || Failure::new(Cause::Forbidden, "no");
        let mut discovery = Discovery::default();
        assert_eq!(discovery.view(), None);
        assert_eq!(discovery.watch_clean(at(1)), None);
        assert_eq!(discovery.watch_failed(Failure::new(Cause::Network, "broke"), 1, at(2)), None, "a hiccup");
        assert!(matches!(discovery.read_failed("widgets.example.com", forbidden(), 1, at(3)), Some(Told::Unhealthy(_))));
        assert_eq!(discovery.watch_failed(forbidden(), 1, at(4)), None, "it is known to be ill");
        let Some((Health::Unhealthy(trouble), since)) = discovery.view() else { panic!() };
        assert_eq!((trouble.cause, since), ("Forbidden", at(3)));
        assert_eq!(trouble.message, "definitions cannot be watched: no; widgets.example.com cannot be read: no");
        assert_eq!(discovery.watch_clean(at(5)), None, "one definition cannot be read yet");
        assert_eq!(discovery.read_clean("widgets.example.com", at(6)), Some(Told::Recovered));
        assert_eq!(discovery.view(), Some((Health::Healthy, at(6))));
    }
}
