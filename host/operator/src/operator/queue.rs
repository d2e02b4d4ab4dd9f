//! A queue of keys: each at most once in it, and never in two hands at once.
//!
//! A key that is added while it is worked on comes again afterwards, so no change is missed; one that is added twice before it is taken
//! is taken once. A key that failed is due later; adding it meanwhile moves it forward.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The queue. Shared by reference among those who add and those who take.
pub struct Queue<K> {
    state: Mutex<State<K>>,
    changed: Notify,
}

struct State<K> {
    keys: HashMap<K, Entry>,
    /// Times and keys. An entry whose time differs from that in `keys` is stale and skipped.
    due: BinaryHeap<Reverse<Due<K>>>,
    number: u64,
    closed: bool,
}

#[derive(Default)]
struct Entry {
    /// When it is due, if it waits.
    due: Option<Instant>,
    /// Since when it waits for others to settle, if that is what it waits for.
    unsettled: Option<Instant>,
    /// Whether somebody works on it.
    taken: bool,
    failures: u32,
}

struct Due<K> {
    at: Instant,
    number: u64,
    key: K,
}

impl<K> PartialEq for Due<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.at, self.number) == (other.at, other.number)
    }
}

impl<K> Eq for Due<K> {}

impl<K> PartialOrd for Due<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Due<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl<K: Clone + Eq + Hash> Queue<K> {
    /// An empty queue.
    pub fn new() -> Self {
        let state = State { keys: HashMap::new(), due: BinaryHeap::new(), number: 0, closed: false };
        Self { state: Mutex::new(state), changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State<K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a key that is due now.
    pub fn add(&self, key: K) {
        self.add_after(key, Duration::ZERO);
    }

    /// Adds a key that is due after a while, unless it is due before.
    pub fn add_after(&self, key: K, wait: Duration) {
        let at = Instant::now() + wait;
        let mut state = self.state();
        let entry = state.keys.entry(key.clone()).or_default();
        if entry.due.is_some_and(|due| due <= at) {
            return;
        }
        entry.due = Some(at);
        entry.unsettled = None;
        // One that is worked on is put into the heap when it comes back.
        if !entry.taken {
            state.push(key, at);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Adds a key that is due when it has not been added in this way for about `quiet`, and after `longest` at the latest. One that is
    /// due before that anyway is not put off.
    pub fn settle(&self, key: K, quiet: Duration, longest: Duration) {
        let now = Instant::now();
        let mut state = self.state();
        let entry = state.keys.entry(key.clone()).or_default();
        let since = entry.unsettled.unwrap_or(now);
        let at = (now + quiet).min(since + longest);
        match (entry.due, entry.unsettled) {
            (Some(due), None) if due <= at => return,
            // Thousands of changes in a moment move it once.
            (Some(due), Some(_)) if at < due + quiet / 8 => return,
            _ => {}
        }
        entry.unsettled = Some(since);
        entry.due = Some(at);
        if !entry.taken {
            state.push(key, at);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The next key that is due; none when the queue was closed. The key is in the hands of the caller until [`Queue::done`].
    pub async fn take(&self) -> Option<K> {
        loop {
            let changed = self.changed.notified();
            let next = {
                let mut state = self.state();
                if state.closed {
                    drop(state);
                    self.changed.notify_one();
                    return None;
                }
                match state.pop(Instant::now()) {
                    Ok(key) => {
                        // Several may wait, and a notification reaches one of them.
                        if !state.due.is_empty() {
                            self.changed.notify_one();
                        }
                        return Some(key);
                    }
                    Err(next) => next,
                }
            };
            match next {
                Some(at) => tokio::select! { () = changed => {}, () = sleep_until(at) => {} },
                None => changed.await,
            }
        }
    }

    /// Gives a key back. After a failure it comes again when `retry` says, unless it was added for an earlier time meanwhile.
    pub fn done(&self, key: &K, retry: Option<Duration>) {
        let mut state = self.state();
        let retry = retry.map(|after| Instant::now() + after);
        let Some(entry) = state.keys.get_mut(key) else { return };
        entry.taken = false;
        if retry.is_none() {
            entry.failures = 0;
        }
        entry.due = match (entry.due, retry) {
            (Some(due), Some(retry)) => Some(due.min(retry)),
            (due, retry) => due.or(retry),
        };
        match entry.due {
            Some(at) => {
                state.push(key.clone(), at);
                drop(state);
                self.changed.notify_one();
            }
            None => {
                state.keys.remove(key);
            }
        }
    }

    /// Counts a failure of a key in hand, and says how many there were in a row, this one included.
    pub fn failed(&self, key: &K) -> u32 {
        self.state().keys.get_mut(key).map_or(1, |entry| {
            entry.failures = entry.failures.saturating_add(1);
            entry.failures
        })
    }

    /// Failures of a key in hand in a row up to now.
    pub fn failures(&self, key: &K) -> u32 {
        self.state().keys.get(key).map_or(0, |entry| entry.failures)
    }

    /// Keys that wait or are worked on.
    pub fn len(&self) -> usize {
        self.state().keys.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets everybody who takes go home. Keys that wait are dropped.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_one();
    }
}

impl<K: Clone + Eq + Hash> Default for Queue<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Clone + Eq + Hash> State<K> {
    fn push(&mut self, key: K, at: Instant) {
        self.number += 1;
        self.due.push(Reverse(Due { at, number: self.number, key }));
    }

    /// A key that is due, or the time of the next one.
    fn pop(&mut self, now: Instant) -> Result<K, Option<Instant>> {
        while let Some(Reverse(next)) = self.due.peek() {
            let (at, current) = (next.at, self.keys.get(&next.key));
            if current.is_none_or(|entry| entry.taken || entry.due != Some(at)) {
                self.due.pop();
                continue;
            }
            if at > now {
                return Err(Some(at));
            }
            let Some(Reverse(Due { key, .. })) = self.due.pop() else { break };
            if let Some(entry) = self.keys.get_mut(&key) {
                (entry.due, entry.unsettled, entry.taken) = (None, None, true);
            }
            return Ok(key);
        }
        Err(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    async fn taken(queue: &Queue<&'static str>) -> Option<&'static str> {
        tokio::time::timeout(Duration::from_millis(1), queue.take()).await.unwrap_or(None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_was_added_twice_is_taken_once_and_others_in_their_order() {
        let queue = Queue::new();
        for key in ["a", "b", "a"] {
            queue.add(key);
        }
        assert_eq!((taken(&queue).await, taken(&queue).await, taken(&queue).await), (Some("a"), Some("b"), None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_in_hand_is_not_given_out_again_and_comes_back_when_it_was_added_meanwhile() {
        let queue = Queue::new();
        queue.add("a");
        assert_eq!(taken(&queue).await, Some("a"));
        queue.add("a");
        assert_eq!(taken(&queue).await, None);
        queue.done(&"a", None);
        assert_eq!(taken(&queue).await, Some("a"));
        queue.done(&"a", None);
        assert_eq!((taken(&queue).await, queue.len()), (None, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_key_waits_and_a_change_brings_it_forward() {
        let queue = Queue::new();
        queue.add("a");
        taken(&queue).await;
        assert_eq!(queue.failed(&"a"), 1);
        queue.done(&"a", Some(Duration::from_mins(1)));
        assert_eq!(taken(&queue).await, None);
        queue.add("a");
        assert_eq!(taken(&queue).await, Some("a"));
        assert_eq!(queue.failed(&"a"), 2, "failures are counted until one succeeds");
        queue.done(&"a", Some(Duration::from_mins(1)));
        let started = Instant::now();
        assert_eq!(queue.take().await, Some("a"));
        assert_eq!(started.elapsed().as_secs(), 60);
        queue.done(&"a", None);
        queue.add("a");
        taken(&queue).await;
        assert_eq!(queue.failed(&"a"), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_was_added_for_later_comes_then_or_sooner_when_it_is_added_for_now() {
        let queue = Queue::new();
        queue.add_after("a", Duration::from_secs(3));
        assert_eq!(taken(&queue).await, None);
        queue.add("a");
        queue.add_after("a", Duration::from_secs(3));
        assert_eq!(taken(&queue).await, Some("a"));
        queue.done(&"a", None);
        queue.add_after("b", Duration::from_secs(3));
        let started = Instant::now();
        assert_eq!((queue.take().await, started.elapsed().as_secs()), (Some("b"), 3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_that_settles_comes_when_nothing_happens_any_more_and_at_last_though_it_does() {
        let (quiet, longest) = (Duration::from_secs(2), Duration::from_secs(10));
        let queue = Queue::new();
        let started = Instant::now();
        queue.settle("a", quiet, longest);
        tokio::time::sleep(Duration::from_secs(1)).await;
        queue.settle("a", quiet, longest);
        assert_eq!((queue.take().await, started.elapsed().as_secs()), (Some("a"), 3));
        queue.done(&"a", None);
        // Something happens all the time.
        let started = Instant::now();
        let mut changes = 0;
        while taken(&queue).await.is_none() {
            queue.settle("a", quiet, longest);
            changes += 1;
            tokio::time::sleep(Duration::from_millis(99)).await;
        }
        assert!((9..=10).contains(&started.elapsed().as_secs()) && changes > 90, "{:?} after {changes} changes", started.elapsed());
        assert!(queue.state().due.len() < 60, "and leaves no heap of times behind");
        queue.settle("a", quiet, longest);
        queue.done(&"a", None);
        let started = Instant::now();
        assert_eq!((queue.take().await, started.elapsed().as_secs()), (Some("a"), 2), "a change while it was worked on counts");
        queue.done(&"a", Some(Duration::from_mins(5)));
        queue.settle("a", quiet, longest);
        assert_eq!(queue.take().await, Some("a"), "one that failed is brought forward");
        queue.done(&"a", None);
        queue.settle("a", quiet, longest);
        queue.add("a");
        assert_eq!(taken(&queue).await, Some("a"), "and so is one that settles");
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_who_waits_is_served_and_sent_home() {
        let queue = Arc::new(Queue::new());
        let mut workers = Vec::new();
        for _ in 0..4 {
            let queue = Arc::clone(&queue);
            workers.push(tokio::spawn(async move {
                let mut count = 0;
                while let Some(key) = queue.take().await {
                    count += 1;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    queue.done(&key, None);
                }
                count
            }));
        }
        tokio::task::yield_now().await;
        for key in 0..100 {
            queue.add(key);
        }
        while !queue.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        queue.close();
        let mut all = 0;
        for worker in workers {
            let count: i32 = worker.await.unwrap();
            assert!(count > 0, "one of the workers was never served");
            all += count;
        }
        assert_eq!(all, 100);
    }
}
