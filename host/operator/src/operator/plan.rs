//! What is to be done about one workload. Pure: out of what is known, without a request.

use aibom_api::effective::Effective;
use aibom_api::names::object_name;

use super::world::rollup::{Family, Voice};
use super::world::stored::Stored;
use super::world::{Key, State, Workload, World};
use crate::packed::Facts;
use crate::running::Digests;

/// Why an AIBOM is taken away. Each is a proof: where there is none, it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The namespace is not opted in.
    NotOptedIn,
    /// The kind is not among those that are looked at.
    KindNotAllowed,
    /// The definition of the kind was removed, and every object of it with it.
    KindRemoved,
    /// The workload is gone, as a complete and healthy watch says.
    Gone,
    /// The workload has nothing to do with AI.
    Unmatched,
    /// The workload belongs to another one that has an AIBOM.
    RolledUp,
}

impl Proof {
    /// The outcome in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotOptedIn => "not_opted_in",
            Self::KindNotAllowed => "kind_not_allowed",
            Self::KindRemoved => "kind_removed",
            Self::Gone => "gone",
            Self::Unmatched => "unmatched",
            Self::RolledUp => "rolled_up",
        }
    }
}

/// What is to be done.
#[derive(Debug)]
pub enum Plan {
    /// Nothing may exist; if something does, it is taken away.
    Without(Proof, Option<Stored>),
    /// There is not enough proof for anything.
    Keep(&'static str),
    /// Whoever owns it is not known yet.
    Wait,
    /// Something is to be taken away that spoke for others, and these have to have their own first.
    OthersFirst,
    /// It was not read, since another spoke for it, or something that it was read with has changed: it has to be read now.
    Read {
        /// Whoever spoke for it is gone.
        orphan: bool,
    },
    /// There is to be a document.
    Document(Box<Subject>),
    /// It could not be read; what is stored stays and says so.
    Failed {
        /// Why, for people.
        reason: Box<str>,
        /// What is stored.
        stored: Option<Stored>,
    },
    /// The name of the AIBOM belongs to an object for something else, which is not ours to change.
    Refused(Stored),
}

impl Plan {
    /// Word for the log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Without(proof, _) => proof.as_str(),
            Self::Keep(why) => why,
            Self::Wait => "wait",
            Self::OthersFirst => "others_first",
            Self::Read { .. } => "read",
            Self::Document(_) => "document",
            Self::Failed { .. } => "failed",
            Self::Refused(_) => "name_taken",
        }
    }
}

/// What a document is made of.
#[derive(Debug)]
pub struct Subject {
    /// The workload.
    pub workload: Workload,
    /// Its facts.
    pub facts: Facts,
    /// What its pods run.
    pub digests: Digests,
    /// What belongs to it.
    pub family: Family,
    /// Why it speaks for itself although something controls it.
    pub because: Option<String>,
    /// Its controller is not there, though it would be known.
    pub orphan: bool,
    /// What is stored.
    pub stored: Option<Stored>,
}

/// What is to be done about a workload.
pub fn plan(world: &World, effective: &Effective, key: &Key) -> Plan {
    let stored = world.stored(&key.namespace, &object_name(&key.kind.group, &key.kind.kind, &key.name)).cloned();
    let foreign = stored.as_ref().is_some_and(|stored| stored.workload.as_ref() != Some(key));
    let without = |proof| Plan::Without(proof, stored.clone().filter(|_| !foreign));
    // Whatever its objects are by now, nobody can read them.
    if world.is_sick(&key.kind) {
        return Plan::Keep("kind_unhealthy");
    }
    if !world.in_scope(&key.namespace) {
        return without(Proof::NotOptedIn);
    }
    if world.is_removed(&key.kind) {
        return without(Proof::KindRemoved);
    }
    // What spoke for others goes when these speak.
    let owes = || stored.as_ref().and_then(|stored| stored.owner.as_deref()).is_some_and(|uid| world.owes_documents(key, uid));
    if !effective.allows(&key.kind) {
        return if owes() { Plan::OthersFirst } else { without(Proof::KindNotAllowed) };
    }
    let Some(lane) = world.lane(&key.kind, &key.namespace) else { return Plan::Keep("kind_not_served") };
    let Some(workload) = world.workload(key) else {
        return if lane.synced && !lane.failing { without(Proof::Gone) } else { Plan::Keep("waiting") };
    };
    // The garbage collector takes what belongs to it before it, and would have to take again what is written anew.
    if workload.going && stored.is_none() {
        return Plan::Keep("going");
    }
    if workload.stale {
        return Plan::Read { orphan: false };
    }
    let voice = || world.voice(key, workload);
    match &workload.state {
        State::NotAi if owes() => Plan::OthersFirst,
        State::NotAi => without(Proof::Unmatched),
        State::Unread => Plan::Keep("kind_not_served"),
        State::Owned => match voice() {
            Voice::Above(_) => without(Proof::RolledUp),
            Voice::Unknown => Plan::Wait,
            // Whoever spoke for it does so no more.
            Voice::Own | Voice::Unreachable(_) => Plan::Read { orphan: false },
            Voice::Orphan(_) => Plan::Read { orphan: true },
        },
        State::Failed { reason, .. } => match voice() {
            Voice::Above(above) if world.carries(&above, &workload.uid) || stored.is_none() => Plan::Keep("rolled_up_incomplete"),
            _ => Plan::Failed { reason: reason.clone(), stored: stored.filter(|_| !foreign) },
        },
        State::Ai(facts) => {
            let (because, orphan) = match voice() {
                Voice::Above(above) if world.carries(&above, &workload.uid) => {
                    return if owes() { Plan::OthersFirst } else { without(Proof::RolledUp) };
                }
                // Its facts are on their way into the document above. Until they are there it keeps its own.
                Voice::Above(_) => return Plan::Keep("rollup_pending"),
                // Whoever owns it may not have been seen yet.
                Voice::Unknown => return Plan::Wait,
                Voice::Own => (None, false),
                Voice::Unreachable(why) => (Some(why), false),
                Voice::Orphan(why) => (Some(why), true),
            };
            if foreign {
                return stored.map_or(Plan::Wait, Plan::Refused);
            }
            // After a start: what belongs to it may not be known yet, and is in its document.
            if stored.is_some() && !world.is_synced(&key.namespace) {
                return Plan::Wait;
            }
            Plan::Document(Box::new(Subject {
                workload: workload.clone(),
                facts: facts.clone(),
                digests: world.digests(workload),
                family: world.family(key, workload),
                because,
                orphan,
                stored,
            }))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use aibom_api::kinds::GroupKind;
    use aibom_watch::{Resource, Scope};
    use proptest::prelude::*;

    use super::*;
    use crate::operator::world::tests::{controlled, workload};
    use crate::operator::world::{Lane, Touched, Workload};

    fn key() -> Key {
        Key { kind: Arc::new(GroupKind::new("apps", "Deployment")), namespace: Arc::from("demo"), name: Arc::from("web") }
    }

    /// What is stored under the name.
    enum Aibom {
        None,
        Of(Option<Key>),
    }

    fn world(state: Option<State>, lane: Lane, stored: Aibom) -> World {
        let mut world = World::new();
        world.opt_in("demo");
        world.set_lane(&key().kind, &Resource::new("apps", "v1", "deployments", "Deployment"), &Scope::Cluster, lane);
        if let Some(state) = state {
            world.put(&key(), workload("u", None, state));
        }
        if let Aibom::Of(workload) = stored {
            world.put_stored("demo", "apps-deployment-web", crate::operator::world::tests::stored(workload));
        }
        world
    }

    fn word(world: &World) -> &'static str {
        match plan(world, &Effective::default(), &key()) {
            Plan::Without(proof, Some(_)) => proof.as_str(),
            Plan::Without(_, None) => "nothing",
            Plan::Keep(_) => "keep",
            Plan::Document(_) => "document",
            Plan::Wait => "wait",
            Plan::OthersFirst => "others_first",
            Plan::Read { .. } => "read",
            Plan::Failed { .. } => "failed",
            Plan::Refused(_) => "refused",
        }
    }

    const HEALTHY: Lane = Lane { synced: true, failing: false, cause: None };

    #[test]
    fn an_aibom_is_taken_away_with_a_proof_only() {
        let ours = || Aibom::Of(Some(key()));
        assert_eq!(word(&world(None, HEALTHY, ours())), "gone");
        assert_eq!(word(&world(None, Lane { failing: true, ..HEALTHY }, ours())), "keep", "a watch that fails proves nothing");
        assert_eq!(word(&world(None, Lane { synced: false, ..HEALTHY }, ours())), "keep", "nor does one that has not begun");
        assert_eq!(word(&world(Some(State::NotAi), HEALTHY, ours())), "unmatched");
        let mut out = world(None, HEALTHY, ours());
        out.opt_out("demo");
        assert_eq!(word(&out), "not_opted_in");
        let kind = key().kind;
        let mut ended = world(None, HEALTHY, ours());
        ended.end_lane(&kind, &Scope::Cluster, &[]);
        assert_eq!(word(&ended), "keep", "nobody looks at the kind");
        ended.set_removed(&kind, true);
        assert_eq!(word(&ended), "kind_removed");
    }

    #[test]
    fn of_a_kind_that_is_out_of_order_everything_stays_and_is_looked_at_when_it_is_well_again() {
        let kind = key().kind;
        for state in [None, Some(State::NotAi)] {
            let mut world = world(state, HEALTHY, Aibom::Of(Some(key())));
            assert_eq!(world.set_sick([Arc::clone(&kind)].into()).len(), 0);
            assert_eq!(word(&world), "keep");
            world.opt_out("demo");
            assert_eq!(word(&world), "keep");
            assert_eq!(world.set_sick([].into()), [key()].into());
            assert_eq!(word(&world), "not_opted_in");
        }
        // Stopped for a while: what is not known is not gone.
        let mut world = world(None, HEALTHY, Aibom::Of(Some(key())));
        world.rest(&kind);
        assert_eq!(word(&world), "keep");
    }

    #[test]
    fn what_is_not_ours_is_neither_written_nor_taken_away() {
        let other = Key { name: Arc::from("other"), ..key() };
        for stored in [None, Some(other)] {
            assert_eq!(word(&world(Some(State::NotAi), HEALTHY, Aibom::Of(stored.clone()))), "nothing");
            let state = State::Ai(
                Facts::pack(&aibom_facts::inventory::Inventory::new(Vec::new(), aibom_facts::inventory::Origin::Cluster)).unwrap(),
            );
            assert_eq!(word(&world(Some(state), HEALTHY, Aibom::Of(stored))), "refused");
        }
    }

    #[test]
    fn what_was_asked_to_go_keeps_what_it_has_and_gets_nothing_new() {
        let going = |stored| {
            let mut world = world(None, HEALTHY, stored);
            world.put(&key(), Workload { going: true, ..workload("u", None, ai()) });
            word(&world)
        };
        assert_eq!(going(Aibom::Of(Some(key()))), "document");
        assert_eq!(going(Aibom::None), "keep");
    }

    #[test]
    fn what_was_read_with_something_that_has_changed_is_read_again() {
        let mut world = world(None, HEALTHY, Aibom::Of(Some(key())));
        world.put(&key(), Workload { stale: true, ..workload("u", None, ai()) });
        assert_eq!(word(&world), "read");
    }

    #[test]
    fn without_anything_stored_nothing_is_taken_away() {
        assert_eq!(word(&world(None, HEALTHY, Aibom::None)), "nothing");
        assert_eq!(word(&world(Some(State::NotAi), HEALTHY, Aibom::None)), "nothing");
    }

    #[test]
    fn a_workload_that_cannot_be_read_keeps_what_is_stored() {
        let state = State::Failed { reason: "deadline".into(), last: None };
        assert_eq!(word(&world(Some(state), HEALTHY, Aibom::Of(Some(key())))), "failed");
    }

    fn put(world: &mut World, of: &str, name: &str, uid: &str, owner: Option<(&str, &str)>, state: State) -> Key {
        let key = Key { kind: Arc::new(GroupKind::new("apps", of)), namespace: Arc::from("demo"), name: Arc::from(name) };
        world.set_lane(&key.kind, &Resource::new("apps", "v1", "x", of), &Scope::Cluster, HEALTHY);
        let controller = owner.map(|(of, uid)| controlled(of, uid)).unwrap_or_default();
        world.put(&key, Workload { controller, ..workload(uid, None, state) });
        key
    }

    fn ai() -> State {
        let inventory = aibom_facts::inventory::Inventory::new(Vec::new(), aibom_facts::inventory::Origin::Cluster);
        State::Ai(Facts::pack(&inventory).unwrap())
    }

    fn verdict(world: &World, key: &Key) -> &'static str {
        match plan(world, &Effective::default(), key) {
            Plan::Document(subject) if subject.orphan => "orphan",
            other => other.word(),
        }
    }

    #[test]
    fn an_owner_that_says_nothing_hides_nobody_and_one_that_speaks_does_once_it_has_spoken() {
        let mut world = world(None, HEALTHY, Aibom::None);
        let web = put(&mut world, "Deployment", "web", "d", None, State::NotAi);
        let hidden = put(&mut world, "StatefulSet", "engine", "s", Some(("Deployment", "d")), ai());
        assert_eq!(verdict(&world, &hidden), "document");
        let touched = world.put(&web, Workload { view: [1; 32], ..workload("d", None, ai()) });
        assert!(touched.contains(&hidden), "what it speaks for is looked at again");
        assert_eq!(verdict(&world, &hidden), "rollup_pending", "until it is written there it keeps its own");
        world.set_carried(&web, [Arc::from("s")]);
        assert_eq!(verdict(&world, &hidden), "rolled_up");
        let part = put(&mut world, "ReplicaSet", "web-1", "r", Some(("Deployment", "d")), State::Owned);
        assert_eq!(verdict(&world, &part), "rolled_up");
        put(&mut world, "Deployment", "web", "d", None, State::NotAi);
        assert_eq!((verdict(&world, &hidden), verdict(&world, &part)), ("document", "read"));
        let orphan = put(&mut world, "StatefulSet", "lost", "l", Some(("Deployment", "nobody")), ai());
        assert_eq!(verdict(&world, &orphan), "orphan");
        // Before everything was read, nothing is said of who owns whom.
        world.set_lane(&hidden.kind, &Resource::new("apps", "v1", "x", "StatefulSet"), &Scope::Cluster, Lane::default());
        assert_eq!(verdict(&world, &orphan), "wait");
    }

    #[test]
    fn what_spoke_for_others_goes_when_these_have_spoken() {
        let mut world = world(None, HEALTHY, Aibom::None);
        let web = put(&mut world, "Deployment", "web", "d", None, State::NotAi);
        let engine = put(&mut world, "StatefulSet", "engine", "s", Some(("Deployment", "d")), ai());
        let stored =
            |key: &Key, uid: &str| Stored { owner: Some(Arc::from(uid)), ..crate::operator::world::tests::stored(Some(key.clone())) };
        world.put_stored("demo", "apps-deployment-web", stored(&web, "d"));
        assert_eq!(verdict(&world, &web), "others_first");
        world.put_stored("demo", "apps-statefulset-engine", stored(&engine, "s"));
        assert_eq!(verdict(&world, &web), "unmatched");
    }

    #[test]
    fn a_part_that_cannot_be_read_keeps_what_it_has_and_gets_nothing_new() {
        let mut world = world(None, HEALTHY, Aibom::None);
        put(&mut world, "Deployment", "web", "d", None, ai());
        let engine = put(
            &mut world,
            "StatefulSet",
            "engine",
            "s",
            Some(("Deployment", "d")),
            State::Failed { reason: "deadline".into(), last: None },
        );
        assert_eq!(verdict(&world, &engine), "rolled_up_incomplete");
        world.put_stored("demo", "apps-statefulset-engine", crate::operator::world::tests::stored(Some(engine.clone())));
        assert_eq!(verdict(&world, &engine), "failed");
    }

    /// A change of a world of a few objects.
    #[derive(Clone, Debug)]
    enum Change {
        /// An object, what controls it, and whether it says something.
        Put(u8, Option<u8>, bool),
        Remove(u8),
        /// The document of an object cannot be written, or can be again.
        Mute(u8),
        Sick(bool),
        Restart,
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let change = prop_oneof![
            6 => (0..8_u8, proptest::option::of(0..8_u8), any::<bool>()).prop_map(|(object, owner, says)| Change::Put(object, owner, says)),
            2 => (0..8_u8).prop_map(Change::Remove),
            1 => (0..8_u8).prop_map(Change::Mute),
            1 => any::<bool>().prop_map(Change::Sick),
            1 => Just(Change::Restart),
        ];
        proptest::collection::vec(change, 1..30)
    }

    /// A world with somebody who does what the plans say, and what the documents hold then, by UID.
    struct Cluster {
        world: World,
        objects: BTreeMap<u8, (Option<u8>, bool)>,
        documents: BTreeMap<Key, BTreeSet<String>>,
    }

    const KINDS: [&str; 4] = ["Deployment", "StatefulSet", "DaemonSet", "Job"];

    impl Cluster {
        fn of(object: u8) -> &'static str {
            KINDS[usize::from(object) % KINDS.len()]
        }

        fn key(object: u8) -> Key {
            Key {
                kind: Arc::new(GroupKind::new("apps", Self::of(object))),
                namespace: Arc::from("demo"),
                name: Arc::from(format!("o{object}")),
            }
        }

        fn fresh() -> World {
            let mut world = World::new();
            world.opt_in("demo");
            for of in KINDS {
                let kind = Arc::new(GroupKind::new("apps", of));
                world.set_lane(&kind, &Resource::new("apps", "v1", "x", of), &Scope::Cluster, HEALTHY);
            }
            world
        }

        fn put(&mut self, object: u8) -> Touched {
            let (owner, says) = self.objects[&object];
            let controller = owner.map(|owner| controlled(Self::of(owner), &format!("u{owner}"))).unwrap_or_default();
            let state = if says { ai() } else { State::NotAi };
            self.world.put(&Self::key(object), Workload { controller, ..workload(&format!("u{object}"), None, state) })
        }

        fn name(key: &Key) -> String {
            object_name(&key.kind.group, &key.kind.kind, &key.name)
        }

        /// Follows the plans until there is nothing to do. What is said somewhere is said somewhere at every moment.
        fn settle(&mut self, touched: Touched, muted: Option<&Key>, watched: bool) {
            let mut queue: Vec<Key> = touched.into_iter().chain(self.world.take_settling()).collect();
            let mut rounds = 0;
            // They are looked at again and again until others have documents, which a kind that is out of order may keep from happening.
            let mut waiting = Touched::new();
            while let Some(key) = queue.pop() {
                rounds += 1;
                assert!(rounds < 10_000, "it never ends");
                let documents = self.documents.clone();
                let mut more = Touched::new();
                match plan(&self.world, &Effective::default(), &key) {
                    // It cannot be written: what there is stays.
                    Plan::Document(subject) if muted == Some(&key) && subject.stored.is_some() => {}
                    Plan::Document(_) if muted == Some(&key) => more.extend(self.world.set_mute(&key)),
                    Plan::Document(subject) => {
                        let parts = subject.family.carried.clone();
                        let said = parts.iter().chain([&subject.workload.uid]).map(ToString::to_string).collect();
                        self.documents.insert(key.clone(), said);
                        let owner = Some(Arc::clone(&subject.workload.uid));
                        let stored = Stored { owner, ..crate::operator::world::tests::stored(Some(key.clone())) };
                        self.world.put_stored("demo", &Self::name(&key), stored);
                        more.extend(self.world.set_carried(&key, parts));
                    }
                    Plan::Without(proof, stored) => {
                        if stored.is_some() {
                            self.documents.remove(&key);
                            self.world.remove_stored("demo", &Self::name(&key));
                            queue.extend(std::mem::take(&mut waiting));
                        }
                        // What is gone takes its document along, whoever it spoke for.
                        if proof == Proof::Gone {
                            queue.extend(more);
                            queue.extend(self.world.take_settling());
                            continue;
                        }
                    }
                    Plan::OthersFirst => {
                        waiting.insert(key.clone());
                    }
                    _ => {}
                }
                let all = |documents: &BTreeMap<Key, BTreeSet<String>>| documents.values().flatten().cloned().collect::<BTreeSet<_>>();
                for uid in all(&documents).difference(&all(&self.documents)) {
                    let object: u8 = uid[1..].parse().unwrap();
                    assert!(
                        !watched || self.objects.get(&object).is_none_or(|(_, says)| !says),
                        "{uid} says something, and no document holds it while {key} was looked at"
                    );
                }
                if documents != self.documents {
                    queue.extend(std::mem::take(&mut waiting));
                }
                queue.extend(more);
                queue.extend(self.world.take_settling());
            }
        }

        fn change(&mut self, change: &Change) {
            let mut muted = None;
            let touched = match *change {
                Change::Put(object, owner, says) => {
                    self.objects.insert(object, (owner, says));
                    self.put(object)
                }
                Change::Remove(object) => {
                    self.objects.remove(&object);
                    self.world.remove(&Self::key(object))
                }
                Change::Mute(object) => {
                    muted = Some(Self::key(object));
                    Touched::from([Self::key(object)])
                }
                Change::Sick(sick) => {
                    let sick = if sick { [Arc::new(GroupKind::new("apps", KINDS[0]))].into() } else { [].into() };
                    self.world.set_sick(sick)
                }
                Change::Restart => {
                    self.world = Self::fresh();
                    for key in self.documents.keys() {
                        let owner = Some(Arc::from(key.name.replace('o', "u")));
                        let stored = Stored { owner, ..crate::operator::world::tests::stored(Some(key.clone())) };
                        self.world.put_stored("demo", &Self::name(key), stored);
                    }
                    let objects: Vec<u8> = self.objects.keys().copied().collect();
                    let mut touched: Touched = self.documents.keys().cloned().collect();
                    for object in objects {
                        touched.extend(self.put(object));
                    }
                    touched
                }
            };
            // After a restart nobody knows what documents hold beside what belongs to them.
            self.settle(touched, muted.as_ref(), !matches!(change, Change::Restart));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        /// Nothing is lost and nothing is said twice: whatever happened, what each object says is in one document, and at no moment
        /// between in none.
        #[test]
        fn what_every_object_says_is_in_one_document_and_never_in_none(changes in changes()) {
            let mut cluster = Cluster { world: Cluster::fresh(), objects: BTreeMap::new(), documents: BTreeMap::new() };
            for change in &changes {
                cluster.change(change);
            }
            // Everything is well again.
            let well = cluster.world.set_sick([].into());
            cluster.settle(well, None, true);
            let all = cluster.world.everything();
            cluster.settle(all, None, true);
            let mut said: Vec<&String> = cluster.documents.values().flatten().collect();
            said.sort();
            let expected: Vec<String> = cluster.objects.iter().filter(|(_, (_, says))| *says).map(|(object, _)| format!("u{object}")).collect();
            prop_assert_eq!(said, expected.iter().collect::<Vec<_>>());
        }
    }
}
