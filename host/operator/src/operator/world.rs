//! What the controller knows: workloads and their facts, who owns whom, pods, and the AIBOMs that are stored. Facts and flat records only,
//! never an object as it came.
//!
//! Everything here is pure: events are applied and answered with the keys whose AIBOM has to be looked at again, see [`Touched`].

pub mod print;
pub mod related;
pub mod rollup;
pub mod stored;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use aibom_api::kinds::GroupKind;
use aibom_api::names::object_name;
use aibom_watch::ownership::{self, Index, Member};
use aibom_watch::{Cause, Meta, Resource, Scope};
use tokio::time::Instant;

use crate::packed::Facts;
use crate::parts::is_copy;
use crate::running::{Pod, Pods};

use print::Print;
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

/// Who controls an object.
pub type Controller = ownership::Controller<Arc<GroupKind>>;

impl Key {
    /// The key of an object of which the index of owners knows.
    fn of(member: &Member<Arc<GroupKind>>) -> Self {
        Self { kind: Arc::clone(&member.kind), namespace: Arc::clone(&member.namespace), name: Arc::clone(&member.name) }
    }
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
    /// Who controls it.
    pub controller: Controller,
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
    /// Print of its containers, where it has a pod template.
    pub print: Option<Print>,
    /// It is a copy that is scaled to nothing, such as a ReplicaSet of an earlier revision.
    pub retired: bool,
    /// Which revision of its controller it is.
    pub revision: Option<Arc<str>>,
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
    /// Not read: a workload above it has to do with AI, and says the same.
    Owned,
    /// Not read: nobody reads its kind, and only whom it belongs to is of interest.
    Unread,
    /// It could not be read.
    Failed {
        /// Why, for people.
        reason: Box<str>,
        /// What it said when it was last read.
        last: Option<Facts>,
    },
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

/// For so long it is waited for a kind whose definition is being looked for.
const EXPECTED: Duration = Duration::from_secs(30);

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
    /// Kinds of which it is not known yet whether they are there to be followed, and until when that is waited for.
    expected: HashMap<Arc<GroupKind>, Instant>,
    workloads: HashMap<Key, Workload>,
    owners: Index<Arc<GroupKind>>,
    pods: Pods,
    /// Of workloads with a document: whose facts it holds beside its own, by UID.
    carried: HashMap<Key, HashSet<Arc<str>>>,
    /// The same the other way round: mostly one, for a moment two.
    carriers: HashMap<Arc<str>, Touched>,
    /// Workloads whose document cannot be written (again): they speak for what it holds, and for nothing else.
    holding: HashSet<Key>,
    /// Workloads whose document has no room for what belongs to them.
    alone: HashSet<Key>,
    /// Workloads to be looked at when what belongs to them has settled.
    settling: Touched,
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
            self.settling.retain(|key| &*key.namespace != namespace);
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
        let ill: Vec<Arc<GroupKind>> = sick.difference(&self.sick).cloned().collect();
        self.sick = sick;
        if well.is_empty() && ill.is_empty() {
            return Touched::new();
        }
        let mut touched = self.stored_keys(|_, stored| stored.workload.as_ref().is_some_and(|key| well.contains(&key.kind)));
        for (key, workload) in &self.workloads {
            if well.contains(&key.kind) {
                touched.insert(key.clone());
            }
            if well.contains(&key.kind) || ill.contains(&key.kind) {
                // Who speaks for these may be another now.
                touched.extend(self.below(&workload.uid));
            }
        }
        touched
    }

    /// Whether objects of a kind cannot be read.
    pub fn is_sick(&self, kind: &GroupKind) -> bool {
        self.sick.contains(kind)
    }

    /// Sets of which kinds it is not known yet whether they are there.
    pub fn expect(&mut self, kinds: HashSet<Arc<GroupKind>>) {
        self.expected.retain(|kind, _| kinds.contains(kind));
        for kind in kinds {
            self.expected.entry(kind).or_insert_with(|| Instant::now() + EXPECTED);
        }
    }

    /// Whether a kind may soon be followed.
    fn is_expected(&self, kind: &GroupKind) -> bool {
        self.expected.get(kind).is_some_and(|until| Instant::now() < *until)
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

    /// A workload is there. Its key is touched when anything about it is new, and so is what it speaks for or spoke for. The one that
    /// speaks for it is looked at when things have settled.
    pub fn put(&mut self, key: &Key, workload: Workload) -> Touched {
        let before = self.workloads.get(key);
        if before == Some(&workload) {
            return Touched::new();
        }
        let mut touched = Touched::from([key.clone()]);
        let moved = before.is_none_or(|before| before.uid != workload.uid || before.controller != workload.controller);
        let speaks = |workload: &Workload| matches!(workload.state, State::Ai(_));
        let other_voice = before.map_or(speaks(&workload), |before| speaks(before) != speaks(&workload));
        let goes = before.is_some_and(|before| before.going != workload.going);
        let mattered = before.is_some_and(|before| self.matters(key, before));
        if let Some(uid) = before.filter(|_| moved).map(|before| Arc::clone(&before.uid)) {
            if mattered {
                self.settle(&uid, key);
            }
            if uid != workload.uid {
                // Made anew: what belonged to the earlier one belongs to nobody.
                touched.extend(self.below(&uid));
            }
            self.owners.remove(&uid);
        }
        if moved {
            let member = Member {
                kind: Arc::clone(&key.kind),
                namespace: Arc::clone(&key.namespace),
                name: Arc::clone(&key.name),
                controller: workload.controller.clone(),
            };
            self.owners.put(Arc::clone(&workload.uid), member);
        }
        if moved || other_voice || goes {
            // Whoever it speaks for, or spoke for, may have to speak for itself.
            touched.extend(self.below(&workload.uid));
        }
        if before_related(self.workloads.get(key)) != &*workload.related {
            if let Some(before) = self.workloads.get(key) {
                self.related.remove(key, &before.related);
            }
            self.related.put(key, &workload.related);
        }
        let uid = Arc::clone(&workload.uid);
        let matters = mattered || self.matters(key, &workload);
        self.workloads.insert(key.clone(), workload);
        if matters {
            self.settle(&uid, key);
        }
        touched
    }

    /// Whether the document of the workload above can be another because of an object: a copy that adds nothing, such as most ReplicaSets,
    /// matters only for the pods below it.
    fn matters(&self, key: &Key, workload: &Workload) -> bool {
        let adds_nothing = is_copy(&key.kind) && matches!(workload.state, State::Owned | State::NotAi | State::Unread);
        !adds_nothing
            || self.owners.has_children(&workload.uid)
            || self.pods.get(&workload.uid).is_some_and(|pod| !pod.containers.is_empty())
    }

    /// Has the one that speaks for an object looked at when things have settled, and whoever has its facts.
    fn settle(&mut self, uid: &str, key: &Key) {
        let speaker = self.speaker(uid).filter(|speaker| speaker != key);
        self.settling.extend(speaker);
        self.settling.extend(self.carriers.get(uid).into_iter().flatten().cloned());
    }

    /// Workloads to be looked at when what belongs to them has settled. They are told once.
    pub fn take_settling(&mut self) -> Touched {
        std::mem::take(&mut self.settling)
    }

    /// Workloads below another one that are, or may be, more than a part of it.
    fn below(&self, uid: &Arc<str>) -> Touched {
        let keys = self.owners.below(uid).into_iter().filter_map(|uid| self.owners.get(uid).map(Key::of));
        keys.filter(|key| self.workloads.get(key).is_some_and(|known| !matches!(known.state, State::NotAi | State::Unread))).collect()
    }

    /// A workload is gone.
    pub fn remove(&mut self, key: &Key) -> Touched {
        let Some(workload) = self.workloads.get(key) else { return Touched::new() };
        let uid = Arc::clone(&workload.uid);
        if self.matters(key, workload) {
            self.settle(&uid, key);
        }
        let Some(workload) = self.workloads.remove(key) else { return Touched::new() };
        let mut touched = Touched::from([key.clone()]);
        touched.extend(self.below(&uid));
        self.owners.remove(&uid);
        self.related.remove(key, &workload.related);
        self.drop_carried(key);
        self.holding.remove(key);
        self.alone.remove(key);
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

    // Pods.

    /// Who controls an object.
    pub fn controller_of(&self, meta: &Meta) -> Controller {
        meta.controller(|group, kind| {
            let known = self.lanes.keys().find(|known| known.group == group && known.kind == kind);
            known.map_or_else(|| Arc::new(GroupKind::new(group, kind)), Arc::clone)
        })
    }

    /// Whether every watch of the kinds that own others has read a complete list, or fails.
    pub fn owners_are_read(&self) -> bool {
        let lanes = self.lanes.iter().filter(|(kind, _)| !is_copy(kind)).flat_map(|(_, lanes)| lanes.values());
        lanes.into_iter().all(|lane| lane.synced || lane.failing) && !self.expected.keys().any(|kind| self.is_expected(kind))
    }

    /// A pod is there. The workload that it belongs to is looked at when its images are others than before.
    pub fn put_pod(&mut self, uid: &str, pod: Pod) {
        let owner = pod.owner.clone();
        if self.pods.put(uid, pod) {
            self.settle_pod(uid, owner.as_deref());
        }
    }

    /// A pod is gone.
    pub fn remove_pod(&mut self, uid: &str) {
        if let Some(pod) = self.pods.remove(uid) {
            self.settle_pod(uid, pod.owner.as_deref());
        }
    }

    fn settle_pod(&mut self, uid: &str, owner: Option<&str>) {
        let speaker = owner.and_then(|owner| self.speaker(owner)).or_else(|| self.speaker(uid));
        self.settling.extend(speaker);
    }

    /// Of the pods of a scope only these are there.
    pub fn retain_pods(&mut self, scope: &Scope, seen: &HashSet<Arc<str>>) {
        let gone: Vec<Arc<str>> = self.pods.uids(|pod| covers(scope, &pod.namespace)).filter(|uid| !seen.contains(*uid)).cloned().collect();
        for uid in gone {
            self.remove_pod(&uid);
        }
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
        let stored = self.stored.remove(&(Arc::from(namespace), Arc::from(name)))?;
        // Nothing holds any more what it held.
        if let Some(key) = stored.workload.as_ref().filter(|key| self.carried.contains_key(*key)) {
            let below = self.below_key(key);
            self.settling.extend(below);
            self.drop_carried(key);
        }
        Some(stored)
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
