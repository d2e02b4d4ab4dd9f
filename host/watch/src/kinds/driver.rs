//! Feeds the machines: one watch of all definitions, reads of single ones, and probes.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until, timeout};

use super::definition::{Facts, Reading};
use super::discovery::Discovery;
use super::health::Health;
use super::machine::{Demand, Effect, Machine, Observation, Signal, Told, View};
use super::probe::{Missed, Name, probe};
use crate::backoff::Backoff;
use crate::client::{Accept, Client};
use crate::failure::{Cause, Failure};
use crate::meta::Meta;
use crate::resource::{Resource, Scope};
use crate::watch::{Event, Settings, Watch};

/// Definitions that are read at the same time: one of them has megabytes.
const AT_ONCE: usize = 2;

/// One that is slow does not keep others waiting longer than this.
const TURN: Duration = Duration::from_secs(2);

/// How often things are tried.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Between probes of a kind that is well.
    pub probe: Duration,
    /// Between probes of a kind that is not.
    pub probe_ill: Duration,
    /// Waiting times after a read of a definition failed: the first, and the longest.
    pub backoff: (Duration, Duration),
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            probe: Duration::from_mins(2),
            probe_ill: Duration::from_secs(30),
            backoff: (Duration::from_secs(5), Duration::from_mins(5)),
        }
    }
}

/// What the owner of a driver is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said<K> {
    /// Something is to be done about a kind.
    Kind(K, Effect),
    /// Something is to be told about the discovery as a whole.
    Discovery(Told),
    /// A definition that the owner asked about has changed.
    Definition(String),
    /// Something changed that only the views show.
    Changed,
}

/// Takes what watches say.
pub struct Signals<K>(mpsc::UnboundedSender<(K, Observation)>);

impl<K> Clone for Signals<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Signals<K> {
    /// The watch `run` of a kind said something.
    pub fn signal(&self, kind: K, run: u64, signal: Signal) {
        self.tell(kind, Observation::Watch(run, signal));
    }

    /// The watch `run` of a kind has ended.
    pub fn stopped(&self, kind: K, run: u64) {
        self.tell(kind, Observation::Stopped(run));
    }

    fn tell(&self, kind: K, observation: Observation) {
        // Without a driver there is nobody whom it would concern.
        let _ = self.0.send((kind, observation));
    }
}

/// Gives an object of a kind, as namespace and name, to probe the kind with; another one for each number.
pub type Names<K> = Arc<dyn Fn(&K, u64) -> Option<(String, String)> + Send + Sync>;

/// The machines of all kinds, and what feeds them. It is pulled, as a [`Watch`] is: see [`Driver::next`].
pub struct Driver<K> {
    client: Client,
    timing: Timing,
    names: Names<K>,
    slots: BTreeMap<K, Slot>,
    definitions: Watch,
    watch_failures: u32,
    /// Names of the list that is under way.
    listing: Option<HashSet<String>>,
    /// Names of definitions as the watch knows them; none before its first list.
    known: Option<HashSet<String>>,
    /// Kinds that come while this is set were there when the controller started.
    initial: bool,
    work: JoinSet<Done<K>>,
    turns: Arc<Semaphore>,
    said: VecDeque<Said<K>>,
    sender: Signals<K>,
    receiver: mpsc::UnboundedReceiver<(K, Observation)>,
    discovery: Discovery,
    probes: u64,
    /// Definitions whose changes the owner wants to hear of.
    followed: HashSet<String>,
}

struct Slot {
    machine: Machine,
    /// Name of its definition; none for Kubernetes' own kinds.
    name: Option<String>,
    read: Read,
    probe_at: Option<Instant>,
    probing: Option<u64>,
    /// What the last probe could not read. It is asked for until it can be: what is wrong with one object must not be well with the next.
    missed: Option<Name>,
}

struct Read {
    at: Option<Instant>,
    under_way: bool,
    /// Something happened while it was under way.
    again: bool,
    backoff: Backoff,
}

enum Done<K> {
    Read(K, Result<Reading, Failure>),
    Probe(K, u64, Result<bool, Missed>),
}

impl<K: Clone + Ord + fmt::Display + Send + 'static> Driver<K> {
    /// A driver without kinds.
    pub fn new(client: Client, timing: Timing, names: Names<K>) -> Self {
        let settings = Settings {
            accept: Accept::Metadata,
            page: 100,
            backoff: (Duration::from_secs(1), Duration::from_mins(1)),
            ..Settings::default()
        };
        let definitions = Watch::new(client.clone(), Resource::definitions(), &Scope::Cluster, settings);
        let (sender, receiver) = mpsc::unbounded_channel();
        Self {
            client,
            timing,
            names,
            slots: BTreeMap::new(),
            definitions,
            watch_failures: 0,
            listing: None,
            known: None,
            initial: true,
            work: JoinSet::new(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            said: VecDeque::new(),
            sender: Signals(sender),
            receiver,
            discovery: Discovery::default(),
            probes: 0,
            followed: HashSet::new(),
        }
    }

    /// Has the owner told of changes of these definitions.
    #[must_use]
    pub fn following(mut self, definitions: impl IntoIterator<Item = String>) -> Self {
        self.followed.extend(definitions);
        self
    }

    /// Where watches report.
    pub fn signals(&self) -> Signals<K> {
        self.sender.clone()
    }

    /// Sets which kinds are wanted. Those that are not among them are let go of.
    pub fn want(&mut self, demands: BTreeMap<K, Demand>) {
        let gone: Vec<K> = self.slots.keys().filter(|kind| !demands.contains_key(*kind)).cloned().collect();
        for kind in gone {
            self.step(&kind, Observation::Wanted(None));
        }
        for (kind, demand) in demands {
            let name = demand.versions.first().and_then(definition_of);
            if !self.slots.contains_key(&kind) {
                let read =
                    Read { at: None, under_way: false, again: false, backoff: Backoff::new(self.timing.backoff.0, self.timing.backoff.1) };
                let slot = Slot { machine: Machine::new(self.initial), name: None, read, probe_at: None, probing: None, missed: None };
                self.slots.insert(kind.clone(), slot);
            }
            let Some(slot) = self.slots.get_mut(&kind) else { continue };
            if slot.machine.demand() == Some(&demand) {
                continue;
            }
            let renamed = slot.name != name || !slot.machine.was_read();
            slot.name.clone_from(&name);
            self.step(&kind, Observation::Wanted(Some(demand)));
            match name {
                None if renamed => self.step(&kind, Observation::Read(Reading::BuiltIn)),
                Some(name) if renamed => self.look(&kind, &name),
                _ => {}
            }
        }
        self.initial = false;
        self.drop_finished();
    }

    /// How every kind is.
    pub fn views(&self) -> impl Iterator<Item = (&K, View)> {
        self.slots.iter().map(|(kind, slot)| (kind, slot.machine.view()))
    }

    /// Watches that run, and what they read.
    pub fn running(&self) -> impl Iterator<Item = (&K, u64, &Resource)> {
        self.slots.iter().filter_map(|(kind, slot)| slot.machine.running().map(|(run, resource)| (kind, run, resource)))
    }

    /// Name of the definition of a kind; none for Kubernetes' own.
    pub fn definition_of(&self, kind: &K) -> Option<String> {
        self.slots.get(kind)?.name.clone()
    }

    /// Whether the definition of a kind was looked for and is not there.
    pub fn is_absent(&self, kind: &K) -> bool {
        self.slots.get(kind).is_some_and(|slot| slot.machine.is_absent())
    }

    /// How the discovery as a whole is, and since when.
    pub fn discovery(&self) -> Option<(Health, SystemTime)> {
        self.discovery.view()
    }

    /// What is to be done next. Safe to cancel.
    pub async fn next(&mut self) -> Said<K> {
        loop {
            if let Some(said) = self.said.pop_front() {
                return said;
            }
            let due = self.start_due();
            let foreign = !self.followed.is_empty() || self.slots.values().any(|slot| slot.name.is_some());
            tokio::select! {
                biased;
                Some((kind, observation)) = self.receiver.recv() => self.observed(&kind, observation),
                Some(done) = self.work.join_next() => match done {
                    Ok(Done::Read(kind, outcome)) => self.was_read(&kind, outcome),
                    Ok(Done::Probe(kind, run, outcome)) => self.was_probed(&kind, run, outcome),
                    Err(error) => tracing::error!(%error, "a read of a definition or a probe ended badly"),
                },
                event = self.definitions.next(), if foreign => self.definition(event),
                () = sleep_until(due) => {}
            }
        }
    }

    /// Starts what is due, and says when the next thing is.
    fn start_due(&mut self) -> Instant {
        let now = Instant::now();
        let mut next = now + Duration::from_mins(10);
        for (kind, slot) in &mut self.slots {
            if let (Some(at), Some(name), false) = (slot.read.at, &slot.name, slot.read.under_way) {
                if at <= now {
                    slot.read.at = None;
                    slot.read.under_way = true;
                    let (client, turns, kind, name) = (self.client.clone(), Arc::clone(&self.turns), kind.clone(), name.clone());
                    self.work.spawn(async move {
                        let turn = timeout(TURN, turns.acquire()).await;
                        let outcome = read(&client, &name).await;
                        drop(turn);
                        Done::Read(kind, outcome)
                    });
                } else {
                    next = next.min(at);
                }
            }
            let Some((run, resource)) = slot.machine.running() else {
                slot.probe_at = None;
                continue;
            };
            if slot.probing.is_some() || slot.name.is_none() {
                continue;
            }
            let at = *slot.probe_at.get_or_insert_with(|| now + self.timing.probe.mul_f64(0.5 + 0.5 * fastrand::f64()));
            if at <= now {
                self.probes += 1;
                slot.probing = Some(run);
                slot.probe_at = None;
                let hint = slot.missed.clone().or_else(|| (self.names)(kind, self.probes));
                let (client, kind, resource) = (self.client.clone(), kind.clone(), resource.clone());
                self.work.spawn(async move {
                    let outcome = probe(&client, &resource, hint).await;
                    Done::Probe(kind, run, outcome)
                });
            } else {
                next = next.min(at);
            }
        }
        next
    }

    fn definition(&mut self, event: Event) {
        let now = SystemTime::now();
        match event {
            Event::Listing => self.listing = Some(HashSet::new()),
            Event::Listed(object) => {
                if let Some(names) = &mut self.listing {
                    names.insert(object.meta.name);
                }
            }
            Event::Synced => {
                self.known = self.listing.take().or_else(|| self.known.take());
                self.watch_works(now);
                for (kind, name) in self.named() {
                    self.look(&kind, &name);
                }
                // Whatever happened while nobody looked.
                self.said.extend(self.followed.iter().cloned().map(Said::Definition));
            }
            Event::Applied(object) => {
                self.watch_works(now);
                self.changed(&object.meta, true);
            }
            // It only says where to look.
            Event::Deleted(object) => {
                self.watch_works(now);
                self.changed(&object.meta, false);
            }
            Event::Opened => self.watch_works(now),
            Event::Unreadable(what) => tracing::warn!(what, "a definition cannot be read"),
            Event::Failed(failure) => {
                self.watch_failures += 1;
                tracing::warn!(%failure, "definitions cannot be watched");
                let told = self.discovery.watch_failed(failure, self.watch_failures, now);
                self.said.extend(told.map(Said::Discovery));
                self.said.push_back(Said::Changed);
                // Nothing will say that a definition has come, so each is asked for by its name.
                if self.known.is_none() && self.watch_failures == 1 {
                    for (kind, _) in self.named() {
                        self.read_soon(&kind);
                    }
                }
            }
        }
    }

    fn watch_works(&mut self, now: SystemTime) {
        self.watch_failures = 0;
        let told = self.discovery.watch_clean(now);
        self.said.extend(told.map(Said::Discovery));
    }

    fn named(&self) -> Vec<(K, String)> {
        self.slots.iter().filter_map(|(kind, slot)| Some((kind.clone(), slot.name.clone()?))).collect()
    }

    fn changed(&mut self, meta: &Meta, there: bool) {
        if self.followed.contains(&meta.name) {
            self.said.push_back(Said::Definition(meta.name.clone()));
        }
        if let Some(known) = &mut self.known {
            if there {
                known.insert(meta.name.clone());
            } else {
                known.remove(&meta.name);
            }
        }
        let kinds: Vec<K> =
            self.slots.iter().filter(|(_, slot)| slot.name.as_deref() == Some(&*meta.name)).map(|(kind, _)| kind.clone()).collect();
        for kind in kinds {
            self.read_soon(&kind);
        }
    }

    /// Reads a definition, unless a complete list says that there is none and nothing hangs on it.
    fn look(&mut self, kind: &K, name: &str) {
        let Some(known) = &self.known else {
            // The list is on its way, unless it cannot be had.
            if self.watch_failures > 0 {
                self.read_soon(kind);
            }
            return;
        };
        // What was there is gone only if a read of it says so.
        if known.contains(name) || self.slots.get(kind).is_some_and(|slot| slot.machine.was_found()) {
            self.read_soon(kind);
        } else {
            self.step(kind, Observation::Read(Reading::Absent));
        }
    }

    fn read_soon(&mut self, kind: &K) {
        let Some(slot) = self.slots.get_mut(kind) else { return };
        if slot.read.under_way {
            slot.read.again = true;
        } else {
            slot.read.at = Some(Instant::now());
        }
    }

    fn was_read(&mut self, kind: &K, outcome: Result<Reading, Failure>) {
        let now = SystemTime::now();
        let Some(slot) = self.slots.get_mut(kind) else { return };
        let Some(name) = slot.name.clone() else { return };
        slot.read.under_way = false;
        let again = std::mem::take(&mut slot.read.again);
        match outcome {
            Ok(reading) => {
                slot.read.backoff.reset();
                slot.read.at = again.then(Instant::now);
                let told = self.discovery.read_clean(&name, now);
                self.said.extend(told.map(Said::Discovery));
                self.step(kind, Observation::Read(reading));
            }
            Err(failure) => {
                slot.read.at = Some(Instant::now() + slot.read.backoff.next_wait());
                let count = slot.read.backoff.failures();
                tracing::warn!(kind = %kind, %failure, count, "a definition cannot be read");
                let told = self.discovery.read_failed(&name, failure, count, now);
                self.said.extend(told.map(Said::Discovery));
                self.said.push_back(Said::Changed);
            }
        }
    }

    fn was_probed(&mut self, kind: &K, run: u64, outcome: Result<bool, Missed>) {
        let (outcome, missed) = match outcome {
            Ok(named) => (Ok(named), None),
            Err(Missed { failure, name }) => (Err(failure), name),
        };
        let failed = outcome.is_err();
        if let Some(slot) = self.slots.get_mut(kind) {
            slot.probing = None;
            slot.missed = missed;
        }
        if let Err(failure) = &outcome {
            tracing::warn!(kind = %kind, %failure, "a kind was probed in vain");
        }
        self.observed(kind, Observation::Probed(run, outcome));
        if let Some(slot) = self.slots.get_mut(kind) {
            let ill = failed || matches!(slot.machine.view().health, Some(Health::Unhealthy(_)));
            let wait = if ill { self.timing.probe_ill } else { self.timing.probe };
            slot.probe_at = Some(Instant::now() + wait.mul_f64(1.0 - 0.1 * fastrand::f64()));
        }
    }

    fn observed(&mut self, kind: &K, observation: Observation) {
        // A kind that does not exist any more was most likely removed.
        if let Observation::Watch(_, Signal::Failed(failure)) | Observation::Probed(_, Err(failure)) = &observation
            && failure.cause == Cause::NotFound
        {
            self.read_soon(kind);
        }
        self.step(kind, observation);
        self.drop_finished();
    }

    fn step(&mut self, kind: &K, observation: Observation) {
        let Some(slot) = self.slots.get_mut(kind) else { return };
        let before = slot.machine.view();
        let effects = slot.machine.step(observation, SystemTime::now());
        for effect in effects {
            match effect {
                Effect::Probe { .. } => slot.probe_at = Some(Instant::now()),
                effect => self.said.push_back(Said::Kind(kind.clone(), effect)),
            }
        }
        if slot.machine.view() != before {
            self.said.push_back(Said::Changed);
        }
    }

    /// Kinds that nobody wants are let go of when nothing of them runs any more.
    fn drop_finished(&mut self) {
        let finished: Vec<K> = self
            .slots
            .iter()
            .filter(|(_, slot)| !slot.machine.is_wanted() && !slot.machine.is_busy())
            .map(|(kind, _)| kind.clone())
            .collect();
        for kind in finished {
            if let Some(name) = self.slots.remove(&kind).and_then(|slot| slot.name) {
                let told = self.discovery.read_clean(&name, SystemTime::now());
                self.said.extend(told.map(Said::Discovery));
            }
            self.said.push_back(Said::Changed);
        }
    }
}

impl<K> fmt::Debug for Driver<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("kinds", &self.slots.len()).field("definitions", &self.definitions).finish_non_exhaustive()
    }
}

/// Name of the definition of a kind. The groups of definitions have a dot in them, which the API server sees to; those without one are
/// Kubernetes' own, and have none.
fn definition_of(resource: &Resource) -> Option<String> {
    resource.group.contains('.').then(|| resource.to_string())
}

async fn read(client: &Client, name: &str) -> Result<Reading, Failure> {
    match client.get_text(&Resource::definitions().object_path(None, name), Accept::Whole).await {
        Ok(text) => Facts::of(&text)
            .map(Reading::Found)
            .map_err(|error| Failure::new(Cause::Decode, format!("the definition {name} cannot be read: {error}"))),
        Err(failure) if failure.cause == Cause::NotFound => Ok(Reading::Absent),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests;
