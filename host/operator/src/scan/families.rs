//! Objects of a cluster dump, which have UIDs and owners: what belongs to another of them is in its document.
//!
//! The same rules as on a cluster, with the files as the whole world: see the operator's `world::rollup`. Until all files are read nobody
//! knows who belongs to whom, so these objects wait, with their facts packed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aibom_api::kinds::GroupKind;
use aibom_facts::object::ObjectRef;
use aibom_facts::report::Problem;
use aibom_facts::rollup::{Owned, Part, absorb};
use aibom_facts::tree::{NodeId, Tree};
use aibom_watch::Meta;
use aibom_watch::ownership::{End, Index, Member};

use super::Finding;
use crate::packed::Facts;
use crate::parts::{is_copy, named, passes, stands_for};
use crate::pipeline::{Outcome, Pipeline};
use crate::running::{Digests, Pod, observe};

/// Who an object is in its cluster.
#[derive(Debug)]
pub(super) struct Lineage {
    uid: Arc<str>,
    member: Member<GroupKind>,
    /// Which revision of its controller it is.
    revision: Option<Arc<str>>,
    /// What it runs, if it is a pod.
    pod: Option<Pod>,
    /// A copy that is scaled to nothing says nothing.
    retired: bool,
}

impl Lineage {
    /// None for an object that was never in a cluster: it has no UID.
    pub(super) fn of(reference: &ObjectRef, tree: &Tree, root: NodeId) -> Option<Self> {
        let uid = reference.uid.as_deref()?;
        let metadata = tree.at(root, "/metadata")?;
        let meta = Meta::of(&format!(r#"{{"metadata":{}}}"#, tree.json(metadata))).ok()?;
        let kind = GroupKind::new(&reference.group, &reference.kind);
        let controller = meta.controller(|group, kind| GroupKind::new(group, kind));
        let namespace: Arc<str> = Arc::from(&*meta.namespace);
        let is_pod = kind.group.is_empty() && kind.kind == "Pod";
        let owner = || controller.one().map(|owner| Arc::clone(&owner.uid));
        let pod = if is_pod { Pod::of(&tree.json(root), &meta, owner()) } else { None };
        let retired = is_copy(&kind) && tree.at(root, "/spec/replicas").and_then(|node| tree.integer(node)) == Some(0);
        let revision = meta.annotations.revision.as_deref().map(Arc::from);
        let member = Member { kind, namespace, name: Arc::from(&*meta.name), controller };
        Some(Self { uid: Arc::from(uid), member, revision, pod, retired })
    }
}

/// An object that waits for the others.
pub(super) struct Held {
    finding: Finding,
    lineage: Lineage,
    /// Its facts, where it has to do with AI. Its document is made when it is known what belongs into it.
    facts: Option<Facts>,
}

impl Held {
    pub(super) fn new(mut finding: Finding, lineage: Lineage) -> Self {
        let facts = match &finding.outcome {
            Outcome::Documented { inventory, .. } => Facts::pack(inventory),
            _ => None,
        };
        if facts.is_some() {
            finding.outcome = Outcome::NotAi { problems: BTreeSet::<Problem>::new() };
        }
        Self { finding, lineage, facts }
    }
}

/// All objects of a dump.
#[derive(Default)]
pub(super) struct Families {
    held: Vec<Option<Held>>,
    by_uid: BTreeMap<Arc<str>, usize>,
    owners: Index<GroupKind>,
}

/// An object, and what it leads to.
pub(super) struct Root {
    held: Held,
    plan: Plan,
}

/// What an object leads to.
#[derive(Default)]
struct Plan {
    /// Facts of what belongs to it, and what stands for the name of one that comes and goes.
    parts: Vec<(Facts, Option<String>)>,
    owned: BTreeSet<Owned>,
    unread: BTreeSet<String>,
    because: Option<String>,
    digests: Digests,
    /// The one whose document holds its facts.
    above: Option<ObjectRef>,
}

impl Families {
    /// Adds an object of which only is of interest to whom it belongs.
    pub(super) fn add_member(&mut self, lineage: Lineage) {
        if self.owners.get(&lineage.uid).is_none() {
            self.owners.put(lineage.uid, lineage.member);
        }
    }

    /// Adds an object. Of two that are the same, such as two dumps have, the later one counts.
    pub(super) fn add(&mut self, mut held: Held) {
        let other = self.held(&held.lineage.uid).map(|known| &known.lineage.member);
        let own = &held.lineage.member;
        let same = other.is_none_or(|other| (&other.kind, &other.namespace, &other.name) == (&own.kind, &own.namespace, &own.name));
        if !same {
            // Dumps of two clusters, or a file that somebody wrote: what owns by this UID is not known, and nothing gets lost.
            held.lineage.uid = Arc::from(format!("{}#{}", held.lineage.uid, self.held.len()));
        }
        let uid = Arc::clone(&held.lineage.uid);
        self.owners.put(Arc::clone(&uid), held.lineage.member.clone());
        if let Some(before) = self.by_uid.insert(uid, self.held.len()) {
            self.held[before] = None;
        }
        self.held.push(Some(held));
    }

    fn held(&self, uid: &str) -> Option<&Held> {
        self.held.get(*self.by_uid.get(uid)?)?.as_ref()
    }

    /// The topmost above an object, or itself, that has to do with AI.
    fn speaker(&self, uid: &str) -> Option<Arc<str>> {
        let walk = self.owners.walk(uid)?;
        let speaks = |uid: &Arc<str>| self.held(uid).is_some_and(|held| held.facts.is_some());
        walk.members.iter().rev().find(|(uid, _)| speaks(uid)).map(|(uid, _)| Arc::clone(uid))
    }

    /// What every object leads to, in the order in which they were found.
    pub(super) fn resolve(mut self) -> Vec<Root> {
        let plans: Vec<_> = self.held.iter().map(|held| held.as_ref().map(|held| self.plan(held))).collect();
        let held = std::mem::take(&mut self.held);
        held.into_iter().zip(plans).filter_map(|(held, plan)| Some(Root { held: held?, plan: plan? })).collect()
    }

    fn plan(&self, held: &Held) -> Plan {
        let uid = &held.lineage.uid;
        let mut plan = Plan::default();
        let Some(speaker) = self.speaker(uid) else { return plan };
        if speaker != *uid {
            plan.above = self.held(&speaker).map(|above| above.finding.object.clone());
            return plan;
        }
        plan.because = self.because(uid);
        for below in self.owners.below(uid) {
            let Some(part) = self.held(below).filter(|_| self.speaker(below).as_ref() == Some(uid)) else { continue };
            let (kind, name) = (&part.lineage.member.kind, &part.lineage.member.name);
            let Some(walk) = self.owners.walk(below) else { continue };
            let passing = passes(&walk);
            let stands = || stands_for(&walk);
            if let Some(facts) = part.facts.as_ref().filter(|_| !part.lineage.retired) {
                plan.parts.push((facts.clone(), passing.then(stands)));
            }
            if matches!(part.finding.outcome, Outcome::Failed { .. }) {
                plan.unread.insert(format!("{}/{}", kind.kind, if passing { stands() } else { name.to_string() }));
            }
            if !is_copy(kind) && !matches!(part.finding.outcome, Outcome::NoScraper(_)) {
                plan.owned.insert(Owned { passing, kind: kind.kind.clone(), name: name.to_string() });
            }
            self.run(part, &mut plan.digests, &stands());
        }
        self.run(held, &mut plan.digests, &held.lineage.member.name);
        plan
    }

    fn run(&self, part: &Held, digests: &mut Digests, label: &str) {
        let Some(pod) = &part.lineage.pod else { return };
        let owner = pod.owner.as_deref().and_then(|owner| self.held(owner));
        digests.add(pod, owner.and_then(|owner| owner.lineage.revision.as_ref()), label);
    }

    /// Why an object speaks for itself although something controls it.
    fn because(&self, uid: &str) -> Option<String> {
        let walk = self.owners.walk(uid)?;
        match walk.end {
            End::Top => None,
            End::Several => Some("several controllers claim it, or one that it belongs to".to_owned()),
            End::Unknown(reference) => {
                Some(format!("a controller above it, {}, is not among the objects that were read", named(reference)))
            }
            End::OtherKind(reference) => {
                Some(format!("a controller above it, {}, is of another kind than the reference says", named(reference)))
            }
            End::OtherNamespace(reference) => Some(format!("a controller above it, {}, is in another namespace", named(reference))),
            End::TooDeep => Some("there are too many owners above it".to_owned()),
            End::Circle => Some("its owners form a circle".to_owned()),
        }
    }
}

impl Root {
    /// Makes the document, or says who has it.
    pub(super) fn finish(self, pipeline: &Pipeline<'_>) -> Finding {
        let Held { mut finding, facts, .. } = self.held;
        let Plan { unread, parts, owned, because, digests, above } = self.plan;
        if let Some(above) = above {
            if let Some(inventory) = facts.and_then(|facts| facts.unpack()) {
                finding.outcome = Outcome::PartOf { above: Box::new(above), problems: inventory.problems };
            }
            return finding;
        }
        let Some(mut inventory) = facts.and_then(|facts| facts.unpack()) else { return finding };
        let parts =
            parts.iter().filter_map(|(facts, stands_for)| Some(Part { inventory: facts.unpack()?, stands_for: stands_for.clone() }));
        absorb(&mut inventory, parts.collect());
        inventory.rollup.owned = owned;
        inventory.rollup.unread = unread;
        inventory.rollup.unresolved = because;
        observe(&mut inventory, &digests);
        finding.outcome = pipeline.document(&finding.object, inventory);
        finding
    }
}
