//! Who speaks for whom: which workloads have a document of their own, and what the document of a workload holds beside its own facts.
//!
//! The topmost workload of a chain that has to do with AI speaks for all below it. It hides nobody: what belongs to it is read like any
//! other, and its AIBOM is taken away only when the document above is written and holds what it says.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use aibom_api::kinds::GroupKind;
use aibom_api::names::object_name;
use aibom_facts::rollup::Owned;
use aibom_watch::Cause;
use aibom_watch::ownership::{End, MAX_HOPS, Member, Reference, Walk};

use super::print::{Print, Shape};
use super::{Controller, Key, State, Touched, Workload, World, covers};
use crate::packed::Facts;
use crate::parts::{is_copy, is_passing, named, passes, shown, stands_for};
use crate::running::Digests;

/// Who speaks for a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voice {
    /// This one above it.
    Above(Key),
    /// Itself: nothing controls it, or nothing above it has to do with AI.
    Own,
    /// Itself, because what is above it is out of reach. Why, for people.
    Unreachable(String),
    /// Its controller is not there though everything was read: it is about to go, or its reference is wrong. Why, for people.
    Orphan(String),
    /// Not everything was read yet.
    Unknown,
}

/// What a document holds beside the facts of its own workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Family {
    /// Facts of what belongs to the workload.
    pub parts: Vec<PartFacts>,
    /// UIDs of all whose facts these are.
    pub carried: Vec<Arc<str>>,
    /// Workloads without a document of their own.
    pub owned: BTreeSet<Owned>,
    /// Those of them that could not be read, as `Kind/name`.
    pub unread: BTreeSet<String>,
}

/// Facts of a workload that belongs to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFacts {
    /// Facts.
    pub facts: Facts,
    /// For one that comes and goes: what stands for its name in a document.
    pub stands_for: Option<String>,
}

impl World {
    /// The workload above an object, or the object itself, that speaks for it, if any does.
    pub fn speaker(&self, uid: &str) -> Option<Key> {
        let walk = self.owners.walk(uid)?;
        self.speaker_in(&walk, uid).cloned()
    }

    /// The topmost of a chain that speaks for its first.
    fn speaker_in<'a>(&'a self, walk: &Walk<'a, Arc<GroupKind>>, uid: &str) -> Option<&'a Key> {
        walk.members.iter().rev().find_map(|(_, member)| {
            let (key, workload) = self.workloads.get_key_value(&Key::of(member))?;
            self.speaks_for(key, workload, uid).then_some(key)
        })
    }

    /// Whether a workload speaks for an object below it, or for itself.
    fn speaks_for(&self, key: &Key, workload: &Workload, uid: &str) -> bool {
        match workload.state {
            State::Ai(_) if *workload.uid == *uid => true,
            // Of a kind that cannot be read nothing is written.
            State::Ai(_) if self.is_sick(&key.kind) || self.holding.contains(key) => self.holds(key, uid),
            State::Ai(_) if self.alone.contains(key) => self.is_copied(uid),
            // What is to go without ever having had a document gets none.
            State::Ai(_) => !workload.going || self.has_aibom(key),
            // It said something once, and its document stays.
            State::Failed { .. } => *workload.uid != *uid && self.holds(key, uid),
            State::NotAi | State::Owned | State::Unread => false,
        }
    }

    /// Who speaks for a workload.
    pub fn voice(&self, key: &Key, workload: &Workload) -> Voice {
        let Some(walk) = self.owners.walk(&workload.uid) else { return Voice::Own };
        if let Some(above) = self.speaker_in(&walk, &workload.uid).filter(|above| *above != key) {
            return Voice::Above(above.clone());
        }
        if walk.members.len() == 1 && walk.end == End::Top {
            return Voice::Own;
        }
        let failed = walk.members[1..].iter().find(|(_, member)| {
            let above = self.workloads.get(&Key::of(member));
            above.is_some_and(|above| matches!(above.state, State::Failed { .. }))
        });
        if let Some((_, member)) = failed {
            // It may be read in a moment.
            return Voice::Orphan(format!("{}, to which it belongs, could not be read", shown(member)));
        }
        if !self.is_synced(&key.namespace) {
            return Voice::Unknown;
        }
        let (_, last) = walk.members[walk.members.len() - 1];
        let whose = if walk.members.len() == 1 { "its controller".to_owned() } else { format!("the controller of {}", shown(last)) };
        match walk.end {
            End::Top => Voice::Own,
            End::Several => Voice::Unreachable(format!(
                "several controllers claim {}",
                if walk.members.len() == 1 { "it".to_owned() } else { shown(last) }
            )),
            End::TooDeep => Voice::Unreachable(format!("more than {MAX_HOPS} owners are above it")),
            End::Circle => Voice::Unreachable("its owners form a circle".to_owned()),
            End::OtherKind(reference) => {
                Voice::Unreachable(format!("{whose}, {}, is of another kind than the reference says", named(reference)))
            }
            End::OtherNamespace(reference) => Voice::Unreachable(format!("{whose}, {}, is in another namespace", named(reference))),
            End::Unknown(reference) => self.unknown(reference, &key.namespace, &whose),
        }
    }

    /// Why a controller is not known.
    fn unknown(&self, reference: &Reference<Arc<GroupKind>>, namespace: &str, whose: &str) -> Voice {
        let mut why = format!("{whose}, {}, ", named(reference));
        let Some(lane) = self.lane(&reference.kind, namespace) else {
            if self.is_expected(&reference.kind) {
                return Voice::Unknown;
            }
            why.push_str("is of a kind that is not followed");
            return Voice::Unreachable(why);
        };
        if lane.failing || self.is_sick(&reference.kind) {
            let _ = write!(why, "{}", if lane.cause == Some(Cause::Forbidden) { "may not be read" } else { "cannot be read" });
            return Voice::Unreachable(why);
        }
        why.push_str("is not there");
        Voice::Orphan(why)
    }

    /// Whether an object of a kind that copies its controller says nothing that is not said above it.
    pub fn is_said_above(&self, controller: &Controller, namespace: &str, own: &Key, shape: Shape) -> bool {
        let Some(walk) = controller.one().and_then(|reference| self.owners.walk(&reference.uid)) else { return false };
        let fits = |first: &Member<Arc<GroupKind>>| {
            controller.one().is_some_and(|reference| reference.kind == first.kind)
                && (first.namespace.is_empty() || *first.namespace == *namespace)
        };
        if !walk.members.first().is_some_and(|(_, first)| fits(first)) {
            return false;
        }
        let mut speaks = false;
        let mut said = shape.empty && is_copy(&own.kind);
        for (_, member) in &walk.members {
            let key = Key::of(member);
            if key == *own {
                return false;
            }
            if let Some(above) = self.workloads.get(&key) {
                speaks |= match above.state {
                    State::Ai(_) => !self.holding.contains(&key) || self.has_aibom(&key),
                    State::Failed { .. } => self.has_aibom(&key),
                    State::NotAi | State::Owned | State::Unread => false,
                };
                said |= shape.print.is_some() && above.print == shape.print;
            }
        }
        speaks && said
    }

    /// What belongs to a workload that speaks.
    pub fn family(&self, key: &Key, workload: &Workload) -> Family {
        let mut family = Family::default();
        let mut copies: HashSet<(String, Print)> = HashSet::new();
        for uid in self.owners.below(&workload.uid) {
            let Some(member) = self.owners.get(uid) else { continue };
            let own = Key::of(member);
            let Some(part) = self.workloads.get(&own) else { continue };
            let Some(walk) = self.owners.walk(uid) else { continue };
            // One that speaks itself: it is in a circle, or too far below.
            if self.speaker_in(&walk, uid).is_some_and(|speaker| speaker != key) {
                continue;
            }
            let passing = passes(&walk);
            let stands_for = passing.then(|| stands_for(&walk));
            let facts = match &part.state {
                State::Ai(facts) => Some(facts),
                State::Failed { last, .. } => {
                    let name = stands_for.as_deref().unwrap_or(&own.name);
                    family.unread.insert(format!("{}/{name}", own.kind.kind));
                    last.as_ref()
                }
                State::Unread => continue,
                State::Owned | State::NotAi => None,
            };
            if let Some(facts) = facts {
                family.carried.push(Arc::clone(uid));
                // Of copies that are told the same one says it for all.
                let copied = stands_for.clone().zip(part.print);
                if !self.is_said_in(&walk, part) && copied.is_none_or(|copy| copies.insert(copy)) {
                    family.parts.push(PartFacts { facts: facts.clone(), stands_for });
                }
            }
            if !is_copy(&own.kind) {
                family.owned.insert(Owned { passing, kind: own.kind.kind.clone(), name: own.name.to_string() });
            }
        }
        for (uid, part) in self.leaving(key, workload) {
            family.carried.push(uid);
            family.parts.push(part);
        }
        family
    }

    /// What belonged to a workload and does so no more, as long as no other document holds what it says.
    fn leaving(&self, key: &Key, workload: &Workload) -> Vec<(Arc<str>, PartFacts)> {
        let carried = self.carried.get(key).into_iter().flatten();
        let left = carried.filter_map(|uid| {
            let own = self.owners.get(uid).map(Key::of)?;
            let State::Ai(facts) = &self.workloads.get(&own)?.state else { return None };
            let belongs = self.speaker(uid).as_ref() == Some(key) && *uid != workload.uid;
            let others = self.carriers.get(uid).into_iter().flatten().any(|carrier| carrier != key);
            (!belongs && !others && !self.has_aibom(&own)).then(|| {
                let stands_for = self.owners.walk(uid).filter(passes).map(|walk| stands_for(&walk));
                (Arc::clone(uid), PartFacts { facts: facts.clone(), stands_for })
            })
        });
        left.collect()
    }

    fn stands_for(&self, uid: &str) -> String {
        self.owners.walk(uid).map_or_else(|| "*".to_owned(), |walk| stands_for(&walk))
    }

    /// What the pods of a workload run, its own pod included.
    pub fn digests(&self, workload: &Workload) -> Digests {
        let mut digests = Digests::default();
        for uid in self.owners.below(&workload.uid).into_iter().chain([&workload.uid]) {
            let Some(pod) = self.pods.get(uid).filter(|pod| !pod.containers.is_empty()) else { continue };
            let owner = pod.owner.as_deref().and_then(|owner| self.workloads.get(&Key::of(self.owners.get(owner)?)));
            digests.add(pod, owner.and_then(|owner| owner.revision.as_ref()), &self.stands_for(uid));
        }
        digests
    }

    // Documents that hold what others say.

    /// Whether the document of a workload holds what an object below it says.
    pub fn carries(&self, key: &Key, uid: &str) -> bool {
        self.carried.get(key).is_some_and(|carried| carried.contains(uid))
    }

    /// The document of a workload is written and holds what these say. Those that have one of their own are touched, and documents that
    /// held it up to now.
    pub fn set_carried(&mut self, key: &Key, uids: impl IntoIterator<Item = Arc<str>>) -> Touched {
        let mut touched = if self.holding.remove(key) { self.below_key(key) } else { Touched::new() };
        let before = self.carried.get(key).cloned().unwrap_or_default();
        let now: HashSet<Arc<str>> = uids.into_iter().collect();
        for uid in now.difference(&before) {
            let below = self.owners.get(uid).map(Key::of);
            touched.extend(below.filter(|below| self.has_aibom(below)));
            touched.extend(self.carriers.get(uid).into_iter().flatten().cloned());
        }
        // What others said for it, it says itself now.
        let own = self.workloads.get(key).map(|workload| Arc::clone(&workload.uid));
        touched.extend(own.and_then(|own| self.carriers.get(&own)).into_iter().flatten().cloned());
        self.drop_carried(key);
        for uid in &now {
            self.carriers.entry(Arc::clone(uid)).or_default().insert(key.clone());
        }
        if !now.is_empty() {
            self.carried.insert(key.clone(), now);
        }
        touched.remove(key);
        touched
    }

    /// The document of a workload holds nothing of others any more.
    pub(super) fn drop_carried(&mut self, key: &Key) {
        for uid in self.carried.remove(key).into_iter().flatten() {
            if let Some(carriers) = self.carriers.get_mut(&uid) {
                carriers.remove(key);
                if carriers.is_empty() {
                    self.carriers.remove(&uid);
                }
            }
        }
    }

    /// The document of a workload cannot be written, and there is none: whatever belongs to it speaks for itself.
    pub fn set_mute(&mut self, key: &Key) -> Touched {
        self.drop_carried(key);
        self.set_holding(key)
    }

    /// The document of a workload cannot be written again: what it does not hold speaks for itself.
    pub fn set_holding(&mut self, key: &Key) -> Touched {
        if self.holding.insert(key.clone()) { self.below_key(key) } else { Touched::new() }
    }

    /// The document of a workload has no room for what belongs to it: that speaks for itself, for as long as the workload is there.
    pub fn set_alone(&mut self, key: &Key) -> Touched {
        if self.alone.insert(key.clone()) { self.below_key(key) } else { Touched::new() }
    }

    /// Whether a copy, the first of a walk, says nothing beside those above it, though it was read: it came before them.
    fn is_said_in(&self, walk: &Walk<'_, Arc<GroupKind>>, copy: &Workload) -> bool {
        let [(_, own), above @ ..] = &walk.members[..] else { return false };
        let told_the_same = |member: &Member<Arc<GroupKind>>| {
            copy.print.is_some() && self.workloads.get(&Key::of(member)).is_some_and(|known| known.print == copy.print)
        };
        is_passing(&own.kind) && (copy.retired || above.iter().any(|(_, member)| told_the_same(member)))
    }

    /// Whether an object says what is said above it, and was not read.
    fn is_copied(&self, uid: &str) -> bool {
        let known = self.owners.get(uid).and_then(|member| self.workloads.get(&Key::of(member)));
        known.is_some_and(|known| known.state == State::Owned)
    }

    /// Whether the document of a workload holds what an object says, by itself or by what it is a copy of.
    fn holds(&self, key: &Key, uid: &str) -> bool {
        self.carries(key, uid) || (self.is_copied(uid) && self.has_aibom(key))
    }

    pub(super) fn below_key(&self, key: &Key) -> Touched {
        self.workloads.get(key).map(|workload| self.below(&workload.uid)).unwrap_or_default()
    }

    /// Whether anything that a workload spoke for is to have a document of its own and has none yet. The workload, of this UID, need not
    /// be there any more.
    pub fn owes_documents(&self, key: &Key, uid: &str) -> bool {
        if self.workloads.get(key).is_some_and(|workload| !self.leaving(key, workload).is_empty()) {
            return true;
        }
        self.owners.below(uid).into_iter().any(|uid| {
            let Some((own, workload)) = self.owners.get(uid).and_then(|member| self.workloads.get_key_value(&Key::of(member))) else {
                return false;
            };
            // The one that is to go speaks for nobody, though it may not be known yet.
            let speaks = || !matches!(self.voice(own, workload), Voice::Above(above) if above != *key);
            match workload.state {
                State::Ai(_) => speaks() && !self.has_aibom(own),
                State::Owned => speaks(),
                State::NotAi | State::Unread | State::Failed { .. } => false,
            }
        })
    }

    fn has_aibom(&self, key: &Key) -> bool {
        let stored = self.stored(&key.namespace, &object_name(&key.kind.group, &key.kind.kind, &key.name));
        stored.is_some_and(|stored| stored.workload.as_ref() == Some(key))
    }

    /// Whether every watch that tells of a namespace has read a complete list, or cannot: one kind that is out of order must not keep
    /// workloads of others from being told of.
    pub fn is_synced(&self, namespace: &str) -> bool {
        let lanes = self.lanes.values().flat_map(|lanes| lanes.iter().filter(|(scope, _)| covers(scope, namespace)));
        lanes.map(|(_, lane)| lane).all(|lane| lane.synced || lane.failing)
    }
}
