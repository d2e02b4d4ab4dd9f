//! What is to be done about one workload. Pure: out of what is known, without a request.

use aibom_api::effective::Effective;
use aibom_api::names::object_name;

use super::world::pods::Digests;
use super::world::stored::Stored;
use super::world::{Facts, Key, State, Voice, Workload, World};

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
    /// Its controller is of a kind that is looked at, and is not there.
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
    if !effective.allows(&key.kind) {
        return without(Proof::KindNotAllowed);
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
    match &workload.state {
        State::NotAi => without(Proof::Unmatched),
        State::Unread => Plan::Keep("kind_not_served"),
        State::Owned => match voice(world, key, workload) {
            Voice::Above => without(Proof::RolledUp),
            Voice::Unknown => Plan::Wait,
            // Whoever spoke for it does so no more.
            Voice::Own => Plan::Read { orphan: false },
            Voice::Orphan => Plan::Read { orphan: true },
        },
        State::Ai(_) | State::Failed { .. } if voice(world, key, workload) == Voice::Above => without(Proof::RolledUp),
        State::Failed { reason, .. } => Plan::Failed { reason: reason.clone(), stored: stored.filter(|_| !foreign) },
        // Whoever owns it may not have been seen yet.
        State::Ai(_) if stored.is_none() && voice(world, key, workload) == Voice::Unknown => Plan::Wait,
        State::Ai(_) if foreign => stored.map_or(Plan::Wait, Plan::Refused),
        State::Ai(facts) => Plan::Document(Box::new(Subject {
            workload: workload.clone(),
            facts: facts.clone(),
            digests: world.digests(workload),
            orphan: voice(world, key, workload) == Voice::Orphan,
            stored,
        })),
    }
}

/// Who speaks for a workload.
fn voice(world: &World, key: &Key, workload: &Workload) -> Voice {
    workload.owner.as_deref().map_or(Voice::Own, |owner| world.voice_above(owner, key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::world::tests::workload;
    use crate::operator::world::{Lane, Workload};
    use aibom_api::kinds::GroupKind;
    use aibom_watch::{Resource, Scope};
    use std::sync::Arc;

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
                crate::operator::world::Facts::pack(&aibom_facts::inventory::Inventory::new(
                    Vec::new(),
                    aibom_facts::inventory::Origin::Cluster,
                ))
                .unwrap(),
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
        let state = State::Failed { reason: "deadline".into() };
        assert_eq!(word(&world(Some(state), HEALTHY, Aibom::Of(Some(key())))), "failed");
    }

    fn put(world: &mut World, of: &str, name: &str, uid: &str, owner: Option<&str>, state: State) -> Key {
        let key = Key { kind: Arc::new(GroupKind::new("apps", of)), namespace: Arc::from("demo"), name: Arc::from(name) };
        world.set_lane(&key.kind, &Resource::new("apps", "v1", "x", of), &Scope::Cluster, HEALTHY);
        world.put(&key, workload(uid, owner, state));
        key
    }

    fn ai() -> State {
        let inventory = aibom_facts::inventory::Inventory::new(Vec::new(), aibom_facts::inventory::Origin::Cluster);
        State::Ai(crate::operator::world::Facts::pack(&inventory).unwrap())
    }

    #[test]
    fn an_owner_that_says_nothing_hides_nobody_and_one_that_speaks_does() {
        let mut world = world(None, HEALTHY, Aibom::None);
        let word = |world: &World, key: &Key| match plan(world, &Effective::default(), key) {
            Plan::Without(proof, _) => proof.as_str(),
            Plan::Document(subject) if subject.orphan => "orphan",
            Plan::Document(_) => "document",
            Plan::Read { .. } => "read",
            _ => "keep",
        };
        let web = put(&mut world, "Deployment", "web", "d", None, State::NotAi);
        let hidden = put(&mut world, "StatefulSet", "engine", "s", Some("d"), ai());
        assert_eq!(word(&world, &hidden), "document");
        let touched = world.put(&web, Workload { view: [1; 32], ..workload("d", None, ai()) });
        assert!(touched.contains(&hidden), "what it speaks for is looked at again");
        assert_eq!(word(&world, &hidden), "rolled_up");
        let part = put(&mut world, "ReplicaSet", "web-1", "r", Some("d"), State::Owned);
        assert_eq!(word(&world, &part), "rolled_up");
        put(&mut world, "Deployment", "web", "d", None, State::NotAi);
        assert_eq!((word(&world, &hidden), word(&world, &part)), ("document", "read"));
        let orphan = put(&mut world, "StatefulSet", "lost", "l", Some("nobody"), ai());
        assert_eq!(word(&world, &orphan), "orphan");
        // Before everything was read, nothing is said of who owns whom.
        world.set_lane(&hidden.kind, &Resource::new("apps", "v1", "x", "StatefulSet"), &Scope::Cluster, Lane::default());
        assert_eq!(word(&world, &orphan), "keep");
    }
}
