//! What the tasks of the operator share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use aibom_watch::Client;
use tokio::sync::{Notify, Semaphore, watch};

use super::events::Events;
use super::lease::Term;
use super::metrics::Metrics;
use super::queue::Queue;
use super::serving::Serving;
use super::world::{Key, Touched, World};

/// What belongs to a workload has settled when nothing about it has changed for so long.
const QUIET: Duration = Duration::from_secs(2);

/// The workload is looked at after this time even if it has not.
const LONGEST: Duration = Duration::from_secs(10);

/// What the tasks of the operator share.
pub struct Shared {
    /// The API.
    pub client: Client,
    /// What is known.
    pub world: Mutex<World>,
    /// Workloads to look at.
    pub queue: Queue<Key>,
    /// What objects are read with.
    pub serving: watch::Sender<Arc<Serving>>,
    /// Bounds calls of plugins to the slots that the engine has.
    pub calls: Arc<Semaphore>,
    /// Turns of objects that take much memory while they are read.
    pub bulky_reads: Semaphore,
    /// Turns of documents that take much memory while they are made and written.
    pub bulky_writes: Semaphore,
    /// Metrics.
    pub metrics: Metrics,
    /// Events for people.
    pub events: Events,
    /// Until when this process may write.
    pub term: Term,
    /// Told when the watch of a kind is doing better or worse; the supervisor listens.
    pub kinds_changed: Notify,
    /// The same, for watches that wait for others.
    pub kinds_read: Notify,
    /// Told when a workload was read with other objects; whoever watches those listens.
    pub related_changed: Notify,
    /// UID of the cluster.
    pub cluster_uid: OnceLock<String>,
}

impl Shared {
    /// What is known; never held across an await.
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What objects are read with now.
    pub fn serving(&self) -> Arc<Serving> {
        Arc::clone(&self.serving.borrow())
    }

    /// Has workloads looked at, and those that wait for others to settle when these have.
    pub fn look_at(&self, touched: Touched) {
        for key in touched {
            self.queue.add(key);
        }
        let settling = self.world().take_settling();
        for key in settling {
            self.queue.settle(key, QUIET, LONGEST);
        }
        self.metrics.queue_depth.set(i64::try_from(self.queue.len()).unwrap_or(i64::MAX));
    }
}
