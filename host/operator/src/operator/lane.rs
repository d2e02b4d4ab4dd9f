//! One watch of one kind in one scope: what it says goes into the world.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aibom_api::kinds::GroupKind;
use aibom_watch::kinds::{Signal, Signals};
use aibom_watch::{Accept, Event, Meta, Object, Resource, Scope, Settings, Watch};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::refetch::accept;
use super::scrape::unread;
use super::shared::Shared;
use super::world::{Key, Lane, Touched};
use crate::clock::unix_seconds;
use crate::parts::is_copy;
use crate::running::Pod;

/// For so long the owners of pods have to be read first.
const FIRST: Duration = Duration::from_secs(10);

/// What a lane is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// A namespace is looked at from now on.
    Namespace(String),
    /// Objects are read with something else from now on.
    Again,
}

/// What a lane watches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Kind.
    pub kind: Arc<GroupKind>,
    /// Resource.
    pub resource: Resource,
    /// Scope.
    pub scope: Scope,
    /// Whether a scraper reads the kind; without one only who owns whom and what pods run is of interest.
    pub scraped: bool,
}

impl Subject {
    fn is_pods(&self) -> bool {
        self.kind.group.is_empty() && self.kind.kind == "Pod"
    }

    /// Whether anything but the metadata of an object is of interest.
    fn is_read_whole(&self) -> bool {
        self.scraped || self.is_pods()
    }

    fn settings(&self) -> Settings {
        if self.is_read_whole() {
            Settings { accept: Accept::Whole, ..Settings::default() }
        } else {
            Settings { accept: Accept::Metadata, page: 500, ..Settings::default() }
        }
    }
}

/// Where a lane reports how it is doing.
#[derive(Clone)]
pub struct Report {
    /// To the state machine of its kind.
    pub signals: Signals<Arc<GroupKind>>,
    /// Under this number.
    pub run: u64,
}

/// Runs until it is stopped.
pub async fn run(
    shared: Arc<Shared>,
    subject: Subject,
    report: Option<Report>,
    mut orders: mpsc::UnboundedReceiver<Order>,
    stop: CancellationToken,
) {
    let settings = subject.settings();
    let mut watch = Watch::new(shared.client.clone(), subject.resource.clone(), &subject.scope, settings);
    let mut lane = Runner { shared: &shared, subject: &subject, report, state: Lane::default(), seen: None, proven: false };
    lane.say();
    if is_copy(&subject.kind) {
        // What others own is read after those: what they speak for need not be.
        tokio::select! {
            () = stop.cancelled() => return,
            _ = tokio::time::timeout(FIRST, owners_are_read(&shared)) => {}
        }
    }
    loop {
        let event = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            order = orders.recv() => match order {
                None => break,
                Some(Order::Again) => {
                    watch.restart();
                    continue;
                }
                Some(Order::Namespace(namespace)) => {
                    lane.read_namespace(&namespace, &stop).await;
                    continue;
                }
            },
            event = watch.next() => event,
        };
        lane.take(event).await;
        lane.waits(watch.waits());
    }
    // Whoever stopped it says what becomes of what it knew.
}

async fn owners_are_read(shared: &Shared) {
    loop {
        let read = shared.kinds_read.notified();
        if shared.world().owners_are_read() {
            return;
        }
        read.await;
    }
}

struct Runner<'a> {
    shared: &'a Shared,
    subject: &'a Subject,
    report: Option<Report>,
    state: Lane,
    seen: Option<Seen>,
    /// Whether an object was ever seen: a watch without objects proves little, and which of the two it is stands in the status.
    proven: bool,
}

/// What a list has told up to now.
#[derive(Default)]
struct Seen {
    keys: HashSet<Key>,
    pods: HashSet<Arc<str>>,
}

impl Runner<'_> {
    async fn take(&mut self, event: Event) {
        match event {
            Event::Listing => self.seen = Some(Seen::default()),
            Event::Listed(object) | Event::Applied(object) => self.applied(&object).await,
            Event::Deleted(object) => self.deleted(&object),
            Event::Synced => {
                if let Some(seen) = self.seen.take() {
                    let mut world = self.shared.world();
                    let touched = world.retain(&self.subject.kind, &self.subject.scope, &seen.keys);
                    if self.subject.is_pods() {
                        world.retain_pods(&self.subject.scope, &seen.pods);
                    }
                    drop(world);
                    self.set(Lane { synced: true, ..Lane::default() });
                    self.shared.look_at(touched);
                }
                // A kind that is watched in several namespaces has been read when all of them have.
                if self.shared.world().is_read(&self.subject.kind) {
                    self.signal(Signal::Synced);
                }
                return;
            }
            Event::Opened => self.signal(Signal::Opened),
            Event::Unreadable(what) => {
                self.unreadable(&what);
                return;
            }
            Event::Failed(failure) => {
                self.shared.metrics.watch_errors.with_label_values(&self.labels()).inc();
                tracing::warn!(resource = %self.subject.resource, scope = ?self.subject.scope, %failure, "a watch failed");
                self.set(Lane { failing: true, cause: Some(failure.cause), ..self.state });
                self.signal(Signal::Failed(failure));
                return;
            }
        }
        self.shared.metrics.watch_last_event.with_label_values(&self.labels()).set(unix_seconds(SystemTime::now()));
        if self.state.failing && self.seen.is_none() {
            self.set(Lane { failing: false, cause: None, ..self.state });
            self.signal(Signal::Object);
        }
    }

    fn labels(&self) -> [&str; 2] {
        [&self.subject.kind.group, &self.subject.kind.kind]
    }

    fn signal(&self, signal: Signal) {
        if let Some(Report { signals, run }) = &self.report {
            signals.signal(Arc::clone(&self.subject.kind), *run, signal);
        }
    }

    /// How long it waits before it tries again.
    fn waits(&self, wait: Duration) {
        self.shared.metrics.watch_backoff.with_label_values(&self.labels()).set(wait.as_secs_f64());
    }

    /// One object; everything else goes on.
    fn unreadable(&self, what: &str) {
        self.shared.metrics.watch_unreadable.with_label_values(&self.labels()).inc();
        tracing::warn!(resource = %self.subject.resource, what, "an object is passed over, since it cannot be read");
    }

    fn set(&mut self, state: Lane) {
        if self.state != state {
            self.state = state;
            self.say();
        }
    }

    fn say(&self) {
        self.shared.world().set_lane(&self.subject.kind, &self.subject.resource, &self.subject.scope, self.state);
        self.shared.kinds_changed.notify_one();
        self.shared.kinds_read.notify_waiters();
    }

    fn key(&self, meta: &Meta) -> Key {
        Key { kind: Arc::clone(&self.subject.kind), namespace: Arc::from(&*meta.namespace), name: Arc::from(&*meta.name) }
    }

    async fn applied(&mut self, object: &Object) {
        let meta = &object.meta;
        if !std::mem::replace(&mut self.proven, true) {
            self.signal(Signal::Object);
        }
        if !self.shared.world().in_scope(&meta.namespace) {
            return;
        }
        let key = self.key(meta);
        if let Some(seen) = &mut self.seen {
            seen.keys.insert(key.clone());
        }
        let serving = self.shared.serving();
        if !self.subject.is_read_whole() {
            let touched = {
                let mut world = self.shared.world();
                let controller = world.controller_of(meta);
                world.put(&key, unread(&self.subject.resource, meta, controller, serving.round))
            };
            self.shared.look_at(touched);
            return;
        }
        if self.subject.is_pods() {
            self.pod(object);
        }
        accept(self.shared, &serving, &self.subject.resource, &key, object).await;
    }

    /// What a pod runs.
    fn pod(&mut self, object: &Object) {
        let meta = &object.meta;
        let mut world = self.shared.world();
        let owner = world.controller_of(meta).one().map(|owner| Arc::clone(&owner.uid));
        if let Some(pod) = Pod::of(object.text.get(), meta, owner) {
            if let Some(seen) = &mut self.seen {
                seen.pods.insert(Arc::from(&*meta.uid));
            }
            world.put_pod(&meta.uid, pod);
            drop(world);
            self.shared.look_at(Touched::new());
        }
    }

    fn deleted(&self, object: &Object) {
        let meta = &object.meta;
        let key = self.key(meta);
        let mut world = self.shared.world();
        // Of two objects of one name that came one after the other, the later one may be known already.
        let same = world.workload(&key).is_none_or(|known| *known.uid == *meta.uid);
        // While the pod is known it can be told to whom it belonged.
        if self.subject.is_pods() {
            world.remove_pod(&meta.uid);
        }
        let touched = if same { world.remove(&key) } else { Touched::new() };
        drop(world);
        self.shared.look_at(touched);
    }

    /// A namespace was opted in after the list was read, in which its objects were passed over.
    async fn read_namespace(&mut self, namespace: &str, stop: &CancellationToken) {
        // A list that has not begun yet has them; of one that is under way a part has passed.
        if self.subject.scope != Scope::Cluster || (!self.state.synced && self.seen.is_none()) {
            return;
        }
        let scope = Scope::Namespace(namespace.to_owned());
        let mut list = Watch::new(self.shared.client.clone(), self.subject.resource.clone(), &scope, self.subject.settings());
        loop {
            let event = tokio::select! { () = stop.cancelled() => return, event = list.next() => event };
            match event {
                Event::Listed(object) => self.applied(&object).await,
                Event::Synced => return,
                Event::Failed(failure) => {
                    tracing::warn!(resource = %self.subject.resource, namespace, %failure, "a namespace could not be read yet");
                }
                Event::Unreadable(what) => self.unreadable(&what),
                Event::Listing | Event::Applied(_) | Event::Deleted(_) | Event::Opened => {}
            }
        }
    }
}
