//! What the controller knows: workloads and their facts, who owns whom, pods, and the AIBOMs that are stored. Facts and flat records only,
//! never an object as it came.
//!
//! Everything here is pure: events are applied and answered with the keys whose AIBOM has to be looked at again, see [`Touched`].

pub mod ownership;
pub mod pods;
pub mod related;
pub mod stored;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io::Read as _;
use std::sync::Arc;

use aibom_api::kinds::GroupKind;
use aibom_api::names::object_name;
use aibom_facts::inventory::Inventory;
use aibom_watch::{Cause, Resource, Scope};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use ownership::Ownership;
use pods::{Digests, Pod, Pods};
use related::{Reference, Related, Used};
use stored::Stored;

/// A workload by its kind and name. The version of its kind is no part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Kind.
    pub kind: Arc<GroupKind>,
    /// Namespace.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The keys of workloads that an event touched.
pub type Touched = BTreeSet<Key>;

/// An object of a tracked kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// UID.
    pub uid: Arc<str>,
    /// UID of its controller, if it has one of a kind that is looked at.
    pub owner: Option<Arc<str>>,
    /// `group/version` under which the scraper knows the kind first; what an AIBOM names.
    pub api_version: Arc<str>,
    /// SHA-256 of what the scraper saw.
    pub view: [u8; 32],
    /// Which rules and scrapers made `state`. A workload of another round has to be read again.
    pub round: u64,
    /// What it was read with besides itself.
    pub related: Box<[Used]>,
    /// Something that it was read with has changed: it has to be read again.
    pub stale: bool,
    /// It was asked to go, and what belongs to it goes before it.
    pub going: bool,
    /// What it is.
    pub state: State,
}

/// What a workload is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It has to do with AI.
    Ai(Facts),
    /// It has not, as far as it could be read.
    NotAi,
    /// Not read: a workload above it has to do with AI and speaks for it.
    Owned,
    /// Not read: nobody reads its kind, and only whom it belongs to is of interest.
    Unread,
    /// It could not be read.
    Failed {
        /// Why, for people.
        reason: Box<str>,
    },
}

/// Facts about a workload, packed: an inventory takes ten times the room of its text, and its text four times the room it takes here.
#[derive(Clone, PartialEq, Eq)]
pub struct Facts(Box<[u8]>);

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Facts({} bytes)", self.0.len())
    }
}

impl Facts {
    /// Packs an inventory. None when it cannot be written, which no inventory should be.
    pub fn pack(inventory: &Inventory) -> Option<Self> {
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
        serde_json::to_writer(&mut packer, inventory).ok()?;
        packer.finish().ok().map(|bytes| Self(bytes.into_boxed_slice()))
    }

    /// Bytes that it takes, a fraction of what the inventory takes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// The inventory.
    pub fn unpack(&self) -> Option<Inventory> {
        let mut text = Vec::with_capacity(8 * self.0.len());
        DeflateDecoder::new(&*self.0).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

/// How the watch of a kind in a scope is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lane {
    /// A complete list was read.
    pub synced: bool,
    /// The last thing it said was a failure.
    pub failing: bool,
    /// Why, if it was.
    pub cause: Option<Cause>,
}

/// Who speaks for an object that is controlled by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// A workload above it that has to do with AI.
    Above,
    /// Itself: nothing above it has.
    Own,
    /// Nobody knows its controller, though everything was read: it is about to go, or its reference is wrong.
    Orphan,
    /// Not everything was read yet.
    Unknown,
}

/// Everything the controller knows.
#[derive(Debug, Default)]
pub struct World {
    namespaces: HashSet<Arc<str>>,
    lanes: HashMap<Arc<GroupKind>, HashMap<Scope, Lane>>,
    resources: HashMap<Arc<GroupKind>, Resource>,
    /// Kinds whose objects cannot be read: nothing that is or is not known of them proves anything.
    sick: HashSet<Arc<GroupKind>>,
    /// Kinds whose definition was removed.
    removed: HashSet<Arc<GroupKind>>,
    workloads: HashMap<Key, Workload>,
    owners: Ownership,
    pods: Pods,
    related: Related,
    stored: HashMap<(Arc<str>, Arc<str>), Stored>,
}

impl World {
    /// Nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    // Namespaces.

    /// Whether workloads of a namespace are looked at.
    pub fn in_scope(&self, namespace: &str) -> bool {
        self.namespaces.contains(namespace)
    }

    /// Namespaces that are looked at.
    pub fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.namespaces.iter()
    }

    /// Opts a namespace in; false when it was already.
    pub fn opt_in(&mut self, namespace: &str) -> bool {
        !self.namespaces.contains(namespace) && self.namespaces.insert(Arc::from(namespace))
    }

    /// Opts a namespace out, and forgets all that was known of it but the AIBOMs, which are now to be taken away.
    pub fn opt_out(&mut self, namespace: &str) -> Option<Touched> {
        self.namespaces.remove(namespace).then(|| {
            let mut touched = self.remove_where(|key| &*key.namespace == namespace);
            self.pods.remove_namespace(namespace);
            touched.extend(self.stored_keys(|stored_namespace, _| stored_namespace == namespace));
            touched
        })
    }

    /// A namespace is going, and everything in it with it: it is forgotten, and nothing is to be written there any more.
    pub fn forget(&mut self, namespace: &str) {
        self.opt_out(namespace);
        self.stored.retain(|(stored, _), _| **stored != *namespace);
    }

    // Kinds.

    /// Whether a kind is looked at.
    pub fn is_tracked(&self, group: &str, kind: &str) -> bool {
        // A borrowed key of two parts would need a type of its own; there are a dozen kinds.
        self.lanes.keys().any(|known| known.group == group && known.kind == kind)
    }

    /// A watch of a kind begins, or says how it is.
    pub fn set_lane(&mut self, kind: &Arc<GroupKind>, resource: &Resource, scope: &Scope, lane: Lane) {
        self.lanes.entry(Arc::clone(kind)).or_default().insert(scope.clone(), lane);
        self.resources.insert(Arc::clone(kind), resource.clone());
    }

    /// The watches of a kind are stopped for a while. What is known of it stays, and proves nothing.
    pub fn rest(&mut self, kind: &GroupKind) {
        for lane in self.lanes.get_mut(kind).into_iter().flat_map(HashMap::values_mut) {
            *lane = Lane { synced: false, failing: true, cause: lane.cause };
        }
    }

    /// Scopes in which a kind is, or was, watched.
    pub fn scopes(&self, kind: &GroupKind) -> Vec<Scope> {
        self.lanes.get(kind).into_iter().flat_map(HashMap::keys).cloned().collect()
    }

    /// Whether all watches of a kind have read a complete list.
    pub fn is_read(&self, kind: &GroupKind) -> bool {
        self.lanes.get(kind).is_some_and(|lanes| lanes.values().all(|lane| lane.synced))
    }

    /// Sets whose objects cannot be read. AIBOMs of kinds that can be read again are touched.
    pub fn set_sick(&mut self, sick: HashSet<Arc<GroupKind>>) -> Touched {
        let well: Vec<Arc<GroupKind>> = self.sick.difference(&sick).cloned().collect();
        self.sick = sick;
        if well.is_empty() {
            return Touched::new();
        }
        let mut touched = self.stored_keys(|_, stored| stored.workload.as_ref().is_some_and(|key| well.contains(&key.kind)));
        touched.extend(self.workloads.keys().filter(|key| well.contains(&key.kind)).cloned());
        touched
    }

    /// Whether objects of a kind cannot be read.
    pub fn is_sick(&self, kind: &GroupKind) -> bool {
        self.sick.contains(kind)
    }

    /// Sets whether the definition of a kind was removed.
    pub fn set_removed(&mut self, kind: &Arc<GroupKind>, removed: bool) {
        if removed {
            self.removed.insert(Arc::clone(kind));
        } else {
            self.removed.remove(kind);
        }
    }

    /// Whether the definition of a kind was removed.
    pub fn is_removed(&self, kind: &GroupKind) -> bool {
        self.removed.contains(kind)
    }

    /// An object of a kind, another one for each number.
    pub fn example(&self, kind: &GroupKind, number: u64) -> Option<(String, String)> {
        let of_kind = || self.workloads.keys().filter(|key| *key.kind == *kind);
        let count = of_kind().count() as u64;
        let key = of_kind().nth(usize::try_from(number.checked_rem(count)?).ok()?)?;
        Some((key.namespace.to_string(), key.name.to_string()))
    }

    /// Where objects of a kind are read.
    pub fn resource(&self, kind: &GroupKind) -> Option<&Resource> {
        self.resources.get(kind)
    }

    /// A watch of a kind was ended. What it told of is known no more, but in namespaces that other ones tell of (`others`). AIBOMs stay
    /// unless something else takes them away.
    pub fn end_lane(&mut self, kind: &Arc<GroupKind>, scope: &Scope, others: &[Scope]) -> Touched {
        if others.contains(scope) {
            return Touched::new();
        }
        if let Some(lanes) = self.lanes.get_mut(kind) {
            lanes.remove(scope);
            if lanes.is_empty() {
                self.lanes.remove(kind);
            }
        }
        let lost = |namespace: &str| covers(scope, namespace) && !others.iter().any(|other| covers(other, namespace));
        let mut touched = self.remove_where(|key| key.kind == *kind && lost(&key.namespace));
        touched
            .extend(self.stored_keys(|namespace, stored| lost(namespace) && stored.workload.as_ref().is_some_and(|key| key.kind == *kind)));
        touched
    }

    /// How the watch is doing that tells of objects of a kind in a namespace.
    pub fn lane(&self, kind: &GroupKind, namespace: &str) -> Option<Lane> {
        self.lanes.get(kind)?.iter().find(|(scope, _)| covers(scope, namespace)).map(|(_, lane)| *lane)
    }

    /// How many workloads there are of each kind.
    pub fn counts(&self) -> HashMap<Arc<GroupKind>, usize> {
        let mut counts = HashMap::new();
        for key in self.workloads.keys() {
            *counts.entry(Arc::clone(&key.kind)).or_default() += 1;
        }
        counts
    }

    // Workloads.

    /// A workload.
    pub fn workload(&self, key: &Key) -> Option<&Workload> {
        self.workloads.get(key)
    }

    /// All workloads.
    pub fn workloads(&self) -> impl Iterator<Item = (&Key, &Workload)> {
        self.workloads.iter()
    }

    /// A workload is there. Its key, and those of workloads that it belonged to or belongs to, are touched when anything about it is
    /// new.
    pub fn put(&mut self, key: &Key, workload: Workload) -> Touched {
        let before = self.workloads.get(key);
        if before == Some(&workload) {
            return Touched::new();
        }
        let mut touched = Touched::from([key.clone()]);
        let moved = before.is_none_or(|before| before.uid != workload.uid || before.owner != workload.owner);
        let speaks = |workload: &Workload| matches!(workload.state, State::Ai(_));
        let other_voice = before.map_or(speaks(&workload), |before| speaks(before) != speaks(&workload));
        if let Some(before) = before.filter(|_| moved).cloned() {
            touched.extend(self.root_of(&before.uid));
            self.owners.remove(&before.uid);
        }
        if moved {
            self.owners.put(Arc::clone(&workload.uid), key.clone(), workload.owner.clone());
            touched.extend(self.root_of(&workload.uid));
        }
        if moved || other_voice {
            // Whoever it speaks for, or spoke for, may have to speak for itself.
            touched.extend(self.below(&workload.uid));
        }
        if before_related(self.workloads.get(key)) != &*workload.related {
            if let Some(before) = self.workloads.get(key) {
                self.related.remove(key, &before.related);
            }
            self.related.put(key, &workload.related);
        }
        self.workloads.insert(key.clone(), workload);
        touched
    }

    /// Workloads below another one that are, or may be, more than a part of it.
    fn below(&self, uid: &Arc<str>) -> Touched {
        let keys = self.owners.closure(uid).into_iter().filter_map(|uid| self.owners.key_of(&uid).cloned());
        keys.filter(|key| self.workloads.get(key).is_some_and(|known| !matches!(known.state, State::NotAi | State::Unread))).collect()
    }

    /// A workload is gone.
    pub fn remove(&mut self, key: &Key) -> Touched {
        let Some(workload) = self.workloads.remove(key) else { return Touched::new() };
        let mut touched = Touched::from([key.clone()]);
        touched.extend(self.root_of(&workload.uid));
        touched.extend(self.below(&workload.uid));
        self.owners.remove(&workload.uid);
        self.related.remove(key, &workload.related);
        touched
    }

    /// A complete list of a kind was read: what is not in it is gone. So are AIBOMs of workloads that went while nobody looked.
    pub fn retain(&mut self, kind: &Arc<GroupKind>, scope: &Scope, seen: &HashSet<Key>) -> Touched {
        let mut touched = self.remove_where(|key| key.kind == *kind && covers(scope, &key.namespace) && !seen.contains(key));
        touched.extend(self.stored_keys(|namespace, stored| {
            covers(scope, namespace) && stored.workload.as_ref().is_some_and(|key| key.kind == *kind && !seen.contains(key))
        }));
        touched
    }

    fn remove_where(&mut self, gone: impl Fn(&Key) -> bool) -> Touched {
        let keys: Vec<Key> = self.workloads.keys().filter(|key| gone(key)).cloned().collect();
        keys.iter().flat_map(|key| self.remove(key)).collect()
    }

    /// Keys of all workloads that have to do with AI, and of all AIBOMs.
    pub fn everything(&self) -> Touched {
        let ai = self.workloads.iter().filter(|(_, workload)| !matches!(workload.state, State::NotAi | State::Owned | State::Unread));
        ai.map(|(key, _)| key.clone()).chain(self.stored_keys(|_, _| true)).collect()
    }

    // Ownership and digests.

    /// The topmost tracked workload above an object, itself included.
    pub fn root_of(&self, uid: &str) -> Option<Key> {
        self.owners.root_of(uid).cloned()
    }

    /// Who speaks for an object with this controller. Only what has to do with AI itself speaks for others: an owner that says nothing
    /// hides nobody.
    pub fn voice_above(&self, owner: &str, own: &Key) -> Voice {
        let above = self.owners.chain(owner);
        // Who belongs to himself speaks for himself.
        if above.contains(&own) {
            return Voice::Own;
        }
        if above.iter().filter_map(|key| self.workloads.get(*key)).any(|workload| matches!(workload.state, State::Ai(_))) {
            return Voice::Above;
        }
        let unread = |key: &&Key| self.workloads.get(*key).is_some_and(|workload| matches!(workload.state, State::Failed { .. }));
        if above.iter().any(unread) || !self.is_synced(&own.namespace) {
            return Voice::Unknown;
        }
        if above.is_empty() { Voice::Orphan } else { Voice::Own }
    }

    /// Whether every watch that tells of a namespace has read a complete list, or cannot: one kind that is out of order must not keep
    /// workloads of others from being told of.
    fn is_synced(&self, namespace: &str) -> bool {
        let lanes = self.lanes.values().flat_map(|lanes| lanes.iter().filter(|(scope, _)| covers(scope, namespace)));
        lanes.map(|(_, lane)| lane).all(|lane| lane.synced || lane.failing)
    }

    /// Whether every watch of the kinds that own others has read a complete list, or fails.
    pub fn owners_are_read(&self) -> bool {
        let parts = |kind: &GroupKind| matches!((&*kind.group, &*kind.kind), ("", "Pod") | ("apps", "ReplicaSet"));
        let lanes = self.lanes.iter().filter(|(kind, _)| !parts(kind)).flat_map(|(_, lanes)| lanes.values());
        lanes.into_iter().all(|lane| lane.synced || lane.failing)
    }

    /// A pod is there. Touches the workload that it belongs to when its images are others than before.
    pub fn put_pod(&mut self, uid: &str, pod: Pod) -> Touched {
        let owner = pod.owner.clone();
        if !self.pods.put(uid, pod) {
            return Touched::new();
        }
        self.root_of(uid).or_else(|| self.root_of(owner.as_deref()?)).into_iter().collect()
    }

    /// A pod is gone.
    pub fn remove_pod(&mut self, uid: &str) -> Touched {
        let Some(pod) = self.pods.remove(uid) else { return Touched::new() };
        pod.owner.as_deref().and_then(|owner| self.root_of(owner)).into_iter().collect()
    }

    /// Of the pods of a scope only these are there.
    pub fn retain_pods(&mut self, scope: &Scope, seen: &HashSet<Arc<str>>) -> Touched {
        let gone: Vec<Arc<str>> = self.pods.uids(|pod| covers(scope, &pod.namespace)).filter(|uid| !seen.contains(*uid)).cloned().collect();
        gone.iter().flat_map(|uid| self.remove_pod(uid)).collect()
    }

    /// The digests that the pods of a workload run, its own pod included.
    pub fn digests(&self, workload: &Workload) -> Digests {
        let mut digests = Digests::default();
        for uid in self.owners.closure(&workload.uid) {
            self.pods.digests_of(&uid, &mut digests);
        }
        digests
    }

    // Objects that workloads were read with.

    /// What is known of them.
    pub fn related(&self) -> &Related {
        &self.related
    }

    /// One of them has this version now, or is gone. Workloads that were read with another one are to be read again.
    pub fn put_related(&mut self, reference: &Reference, version: Option<&str>) -> Touched {
        let touched = self.related.outdated(reference, version);
        self.outdate(&touched);
        touched
    }

    /// Of a kind only these are there.
    pub fn retain_related(&mut self, kind: &GroupKind, there: &HashSet<Reference>) -> Touched {
        let touched = self.related.lost(kind, there);
        self.outdate(&touched);
        touched
    }

    fn outdate(&mut self, keys: &Touched) {
        for key in keys {
            if let Some(workload) = self.workloads.get_mut(key) {
                workload.stale = true;
            }
        }
    }

    // AIBOMs.

    /// The AIBOM of this name.
    pub fn stored(&self, namespace: &str, name: &str) -> Option<&Stored> {
        // The key is made of two texts; asking with borrowed ones would need a type of its own.
        self.stored.get(&(Arc::from(namespace), Arc::from(name)))
    }

    /// An AIBOM is stored.
    pub fn put_stored(&mut self, namespace: &str, name: &str, stored: Stored) {
        self.stored.insert((Arc::from(namespace), Arc::from(name)), stored);
    }

    /// An AIBOM is gone; it as it was.
    pub fn remove_stored(&mut self, namespace: &str, name: &str) -> Option<Stored> {
        self.stored.remove(&(Arc::from(namespace), Arc::from(name)))
    }

    /// All AIBOMs, as namespace, name and what is known.
    pub fn all_stored(&self) -> impl Iterator<Item = (&Arc<str>, &Arc<str>, &Stored)> {
        self.stored.iter().map(|((namespace, name), stored)| (namespace, name, stored))
    }

    /// Changes what is known of an AIBOM.
    pub fn stored_mut(&mut self, namespace: &str, name: &str) -> Option<&mut Stored> {
        self.stored.get_mut(&(Arc::from(namespace), Arc::from(name)))
    }

    /// Workloads whose AIBOM would have this name.
    pub fn claimants(&self, namespace: &str, name: &str) -> Touched {
        let named = |key: &Key| *key.namespace == *namespace && object_name(&key.kind.group, &key.kind.kind, &key.name) == name;
        self.workloads.keys().filter(|key| named(key)).cloned().collect()
    }

    /// Workloads of a kind that have an AIBOM.
    pub fn stored_of(&self, kind: &GroupKind) -> Touched {
        self.stored_keys(|_, stored| stored.workload.as_ref().is_some_and(|key| *key.kind == *kind))
    }

    fn stored_keys(&self, wanted: impl Fn(&str, &Stored) -> bool) -> Touched {
        self.stored
            .iter()
            .filter(|((namespace, _), stored)| wanted(namespace, stored))
            .filter_map(|(_, stored)| stored.workload.clone())
            .collect()
    }
}

fn before_related(before: Option<&Workload>) -> &[Used] {
    before.map_or(&[], |before| &before.related)
}

fn covers(scope: &Scope, namespace: &str) -> bool {
    match scope {
        Scope::Cluster => true,
        Scope::Namespace(own) => own == namespace,
    }
}

#[cfg(test)]
pub(in crate::operator) mod tests;
