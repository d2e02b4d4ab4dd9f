use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use aibom_watch::ownership::{MAX_HOPS, Reference};

use super::print::Shape;
use super::rollup::Voice;
use super::*;
use crate::running::Running;

fn kind(kind: &str) -> Arc<GroupKind> {
    Arc::new(GroupKind::new(if kind == "Pod" { "" } else { "apps" }, kind))
}

fn key(of: &str, namespace: &str, name: &str) -> Key {
    Key { kind: kind(of), namespace: Arc::from(namespace), name: Arc::from(name) }
}

/// A workload that was read with nothing besides itself.
pub(in crate::operator) fn workload(uid: &str, owner: Option<&str>, state: State) -> Workload {
    Workload {
        uid: Arc::from(uid),
        controller: owner.map_or(Controller::None, |owner| controlled("ReplicaSet", owner)),
        api_version: Arc::from("apps/v1"),
        view: [0; 32],
        round: 1,
        related: Box::default(),
        stale: false,
        going: false,
        print: None,
        retired: false,
        revision: None,
        state,
    }
}

/// Controlled by an object of this kind.
pub(in crate::operator) fn controlled(by: &str, uid: &str) -> Controller {
    Controller::One(Reference { uid: Arc::from(uid), kind: kind(by), name: Arc::from(uid) })
}

fn ai() -> State {
    State::Ai(Facts::pack(&aibom_facts::inventory::Inventory::new(Vec::new(), aibom_facts::inventory::Origin::Cluster)).unwrap())
}

/// A pod runs this, and belongs to that.
fn put_pod(world: &mut World, uid: &str, (of, owner): (&str, &str), ids: &[&str]) -> Touched {
    let running = |id: &&str| Running { name: Arc::from("server"), image: Arc::from("acme/quill:1"), image_id: Box::from(*id) };
    let containers = ids.iter().map(running).collect();
    world.put_pod(uid, Pod { namespace: Arc::from("demo"), owner: Some(Arc::from(owner)), revision: None, containers });
    let settling = world.take_settling();
    world.put(&key("Pod", "demo", uid), Workload { controller: controlled(of, owner), ..workload(uid, None, State::Owned) });
    settling
}

/// A Deployment with a ReplicaSet.
fn web() -> World {
    let mut world = World::new();
    world.opt_in("demo");
    world.put(&key("Deployment", "demo", "web"), workload("d", None, ai()));
    let set = Workload { controller: controlled("Deployment", "d"), revision: Some(Arc::from("1")), ..workload("r", None, State::Owned) };
    world.put(&key("ReplicaSet", "demo", "web-1"), set);
    world.take_settling();
    world
}

fn workload_of(world: &World, key: &Key) -> Workload {
    world.workload(key).unwrap().clone()
}

fn voice(world: &World, of: &str, name: &str) -> Voice {
    let key = key(of, "demo", name);
    world.voice(&key, &workload_of(world, &key))
}

fn resource() -> Resource {
    Resource::new("apps", "v1", "deployments", "Deployment")
}

#[test]
fn a_pod_of_a_replica_set_has_the_deployment_above_it_looked_at_when_it_has_settled() {
    let mut world = web();
    let deployment = BTreeSet::from([key("Deployment", "demo", "web")]);
    assert!(put_pod(&mut world, "p", ("ReplicaSet", "r"), &[]).is_empty(), "it runs nothing yet");
    world.take_settling();
    assert_eq!(put_pod(&mut world, "p", ("ReplicaSet", "r"), &["sha256:a"]), deployment);
    assert!(put_pod(&mut world, "p", ("ReplicaSet", "r"), &["sha256:a"]).is_empty(), "nothing changed");
    let web = workload_of(&world, &key("Deployment", "demo", "web"));
    // A rollout has two revisions.
    let second =
        Workload { controller: controlled("Deployment", "d"), revision: Some(Arc::from("2")), ..workload("s", None, State::Owned) };
    world.put(&key("ReplicaSet", "demo", "web-2"), second);
    put_pod(&mut world, "q", ("ReplicaSet", "s"), &["sha256:b"]);
    put_pod(&mut world, "o", ("ReplicaSet", "s"), &["sha256:b"]);
    let digests = world.digests(&web);
    let seen: Vec<(&str, u32, Vec<&str>)> = digests.0[&(Arc::from("server"), Arc::from("acme/quill:1"))]
        .iter()
        .map(|(id, runners)| (&**id, runners.pods, runners.revisions.iter().map(|revision| &**revision).collect()))
        .collect();
    assert_eq!(seen, [("sha256:a", 1, vec!["1"]), ("sha256:b", 2, vec!["2"])]);
    world.take_settling();
    world.remove_pod("p");
    assert_eq!(world.take_settling(), deployment);
    world.remove(&key("Pod", "demo", "p"));
    assert_eq!(world.digests(&web).0.values().next().unwrap().len(), 1);
}

#[test]
fn owners_that_come_after_what_they_own_are_found() {
    let mut world = World::new();
    world.opt_in("demo");
    put_pod(&mut world, "p", ("ReplicaSet", "r"), &["sha256:a"]);
    world.put(&key("ReplicaSet", "demo", "web-1"), Workload { controller: controlled("Deployment", "d"), ..workload("r", None, ai()) });
    assert!(matches!(voice(&world, "ReplicaSet", "web-1"), Voice::Unreachable(_)));
    let touched = world.put(&key("Deployment", "demo", "web"), workload("d", None, ai()));
    assert!(touched.contains(&key("ReplicaSet", "demo", "web-1")), "what speaks for itself is looked at again");
    assert_eq!(voice(&world, "ReplicaSet", "web-1"), Voice::Above(key("Deployment", "demo", "web")));
    assert_eq!(world.digests(&workload_of(&world, &key("Deployment", "demo", "web"))).0.len(), 1);
}

#[test]
fn who_cannot_be_reached_is_named_with_the_reason() {
    let mut world = World::new();
    world.opt_in("demo");
    let resource = resource();
    for of in ["ReplicaSet", "Deployment"] {
        world.set_lane(&kind(of), &resource, &Scope::Cluster, Lane { synced: true, ..Lane::default() });
    }
    let because = |world: &World, name: &str| match voice(world, "ReplicaSet", name) {
        Voice::Unreachable(why) => format!("own: {why}"),
        Voice::Orphan(why) => format!("orphan: {why}"),
        other => format!("{other:?}"),
    };
    let put = |world: &mut World, name: &str, controller: Controller| {
        world.put(&key("ReplicaSet", "demo", name), Workload { controller, ..workload(name, None, ai()) })
    };
    put(&mut world, "a", controlled("ReplicaSet", "b"));
    put(&mut world, "b", controlled("ReplicaSet", "a"));
    assert_eq!(because(&world, "a"), "own: its owners form a circle");
    assert!(world.digests(&workload_of(&world, &key("ReplicaSet", "demo", "a"))).0.is_empty(), "and the closure ends");
    for index in 0..=MAX_HOPS + 1 {
        let controller = if index > 0 { controlled("ReplicaSet", &format!("c{}", index - 1)) } else { Controller::None };
        put(&mut world, &format!("c{index}"), controller);
    }
    assert_eq!(voice(&world, "ReplicaSet", &format!("c{MAX_HOPS}")), Voice::Above(key("ReplicaSet", "demo", "c0")));
    assert_eq!(because(&world, &format!("c{}", MAX_HOPS + 1)), "own: more than 8 owners are above it");
    put(&mut world, "two", Controller::Several);
    assert_eq!(because(&world, "two"), "own: several controllers claim it");
    put(&mut world, "foreign", controlled("Widget", "w"));
    assert_eq!(because(&world, "foreign"), "own: its controller, Widget/w (apps), is of a kind that is not followed");
    world.expect([kind("Widget")].into());
    assert_eq!(because(&world, "foreign"), "Unknown", "it may be followed in a moment");
    world.expect(HashSet::new());
    world.set_lane(&kind("Widget"), &resource, &Scope::Cluster, Lane::default());
    assert_eq!(because(&world, "foreign"), "Unknown", "it is being listed");
    let forbidden = Lane { failing: true, cause: Some(Cause::Forbidden), synced: false };
    world.set_lane(&kind("Widget"), &resource, &Scope::Cluster, forbidden);
    assert_eq!(because(&world, "foreign"), "own: its controller, Widget/w (apps), may not be read");
    world.set_lane(&kind("Widget"), &resource, &Scope::Cluster, Lane { synced: true, ..Lane::default() });
    assert_eq!(because(&world, "foreign"), "orphan: its controller, Widget/w (apps), is not there");
    // The UID is somebody else's.
    put(&mut world, "wrong", controlled("Widget", "c0"));
    assert_eq!(because(&world, "wrong"), "own: its controller, Widget/c0 (apps), is of another kind than the reference says");
    world.put(&key("Deployment", "far", "d"), workload("d", None, ai()));
    put(&mut world, "across", controlled("Deployment", "d"));
    assert_eq!(because(&world, "across"), "own: its controller, Deployment/d (apps), is in another namespace");
}

/// No document more than there are things that nobody speaks for: the part has its own, says why, and gives it up when it can be told to
/// whom it belongs.
#[test]
fn b26_below_a_middle_kind_that_may_not_be_read_a_part_speaks_for_itself_until_it_may() {
    let mut world = World::new();
    world.opt_in("demo");
    for of in ["Widget", "Revision", "Deployment", "ReplicaSet"] {
        world.set_lane(&kind(of), &resource(), &Scope::Cluster, Lane { synced: true, ..Lane::default() });
    }
    let forbidden = Lane { failing: true, cause: Some(Cause::Forbidden), synced: false };
    world.set_lane(&kind("Revision"), &resource(), &Scope::Cluster, forbidden);
    world.put(&key("Widget", "demo", "top"), workload("w", None, ai()));
    let below = Workload { controller: controlled("Revision", "v"), ..workload("d", None, ai()) };
    world.put(&key("Deployment", "demo", "web"), below);
    let copy = Workload { controller: controlled("Deployment", "d"), ..workload("r", None, State::Owned) };
    world.put(&key("ReplicaSet", "demo", "web-1"), copy);
    let why = "its controller, Revision/v (apps), may not be read";
    assert_eq!(voice(&world, "Deployment", "web"), Voice::Unreachable(why.to_owned()));
    assert_eq!(voice(&world, "ReplicaSet", "web-1"), Voice::Above(key("Deployment", "demo", "web")), "and for what is below it");
    world.set_lane(&kind("Revision"), &resource(), &Scope::Cluster, Lane { synced: true, ..Lane::default() });
    world.put(&key("Revision", "demo", "v"), Workload { controller: controlled("Widget", "w"), ..workload("v", None, State::Unread) });
    assert_eq!(voice(&world, "Deployment", "web"), Voice::Above(key("Widget", "demo", "top")));
}

#[test]
fn b27_two_paths_to_one_root_end_in_one_document_that_counts_the_pods_of_both() {
    let mut world = World::new();
    world.opt_in("demo");
    world.put(&key("Graph", "demo", "top"), workload("g", None, ai()));
    let middle = |by: &str, owner: &str, uid: &str| Workload { controller: controlled(by, owner), ..workload(uid, None, State::Unread) };
    world.put(&key("CliqueSet", "demo", "set"), middle("Graph", "g", "set"));
    world.put(&key("Clique", "demo", "direct"), middle("CliqueSet", "set", "direct"));
    world.put(&key("ScalingGroup", "demo", "group"), middle("CliqueSet", "set", "group"));
    world.put(&key("Clique", "demo", "scaled"), middle("ScalingGroup", "group", "scaled"));
    for (pod, owner) in [("p", "direct"), ("q", "scaled")] {
        put_pod(&mut world, pod, ("Clique", owner), &["sha256:a"]);
        assert_eq!(voice(&world, "Pod", pod), Voice::Above(key("Graph", "demo", "top")));
    }
    let digests = world.digests(&workload_of(&world, &key("Graph", "demo", "top")));
    assert_eq!(digests.0.values().next().unwrap()["sha256:a"].pods, 2);
}

#[test]
fn a_pod_whose_owner_comes_between_its_record_and_itself_is_counted_all_the_same() {
    let mut world = World::new();
    world.opt_in("demo");
    world.put(&key("Deployment", "demo", "web"), workload("d", None, ai()));
    let running = Running { name: Arc::from("server"), image: Arc::from("acme/quill:1"), image_id: Box::from("sha256:a") };
    world.put_pod("p", Pod { namespace: Arc::from("demo"), owner: Some(Arc::from("r")), revision: None, containers: [running].into() });
    let copy = Workload { controller: controlled("Deployment", "d"), ..workload("r", None, State::Owned) };
    world.put(&key("ReplicaSet", "demo", "web-1"), copy);
    assert!(world.take_settling().is_empty(), "a copy that adds nothing, with nothing below it");
    world.put(&key("Pod", "demo", "p"), Workload { controller: controlled("ReplicaSet", "r"), ..workload("p", None, State::Owned) });
    assert_eq!(world.take_settling(), BTreeSet::from([key("Deployment", "demo", "web")]));
}

#[test]
fn only_copies_of_what_is_said_above_need_not_be_read() {
    let mut world = web();
    let shape = |text: &str| Shape::of(&format!(r#"{{"spec":{{"containers":[{{"name":"{text}"}}]}}}}"#));
    let deployment = key("Deployment", "demo", "web");
    world.put(&deployment, Workload { print: shape("server").print, ..workload("d", None, ai()) });
    let own = key("Pod", "demo", "web-1-x");
    let said = |world: &World, shape| world.is_said_above(&controlled("ReplicaSet", "r"), "demo", &own, shape);
    assert!(said(&world, shape("server")));
    assert!(!said(&world, shape("injected")), "something was changed on the way");
    assert!(!said(&world, Shape::default()));
    let retired = Shape { empty: true, ..shape("earlier") };
    assert!(said(&world, retired), "an earlier revision that runs nothing says nothing");
    assert!(!world.is_said_above(&controlled("Deployment", "r"), "demo", &own, shape("server")), "the reference names another kind");
    world.put(&deployment, Workload { print: shape("server").print, ..workload("d", None, State::NotAi) });
    assert!(!said(&world, shape("server")), "nobody speaks");
}

#[test]
fn a_document_holds_what_belongs_to_the_workload_under_names_that_stay() {
    let mut world = web();
    let web = key("Deployment", "demo", "web");
    let put = |world: &mut World, of: &str, name: &str, controller, state| {
        world.put(&key(of, "demo", name), Workload { controller, ..workload(name, None, state) })
    };
    put(&mut world, "Pod", "web-1-x", controlled("ReplicaSet", "r"), ai());
    put(&mut world, "StatefulSet", "engine", controlled("Deployment", "d"), ai());
    put(&mut world, "StatefulSet", "plain", controlled("Deployment", "d"), State::NotAi);
    put(&mut world, "StatefulSet", "broken", controlled("Deployment", "d"), State::Failed { reason: "x".into(), last: None });
    put(&mut world, "StatefulSet", "unread", controlled("Deployment", "d"), State::Unread);
    let family = world.family(&web, &workload_of(&world, &web));
    let mut carried: Vec<&str> = family.carried.iter().map(|uid| &**uid).collect();
    carried.sort_unstable();
    assert_eq!(carried, ["engine", "web-1-x"]);
    let stand: BTreeSet<Option<&str>> = family.parts.iter().map(|part| part.stands_for.as_deref()).collect();
    assert_eq!(stand, BTreeSet::from([None, Some("web-*")]));
    // Read before it was known to whom they belong: a revision that runs nothing, and a copy of what is said above.
    let print = Shape::of(r#"{"spec":{"containers":[{"name":"server"}]}}"#).print;
    world.put(&web, Workload { print, ..workload("d", None, ai()) });
    let old = Workload { controller: controlled("Deployment", "d"), retired: true, ..workload("old", None, ai()) };
    world.put(&key("ReplicaSet", "demo", "web-0"), old);
    let copy = Workload { controller: controlled("Deployment", "d"), print, ..workload("copy", None, ai()) };
    world.put(&key("ReplicaSet", "demo", "web-2"), copy);
    let again = world.family(&web, &workload_of(&world, &web));
    assert_eq!((again.parts.len(), again.carried.len()), (family.parts.len(), family.carried.len() + 2));
    let owned: Vec<&str> = family.owned.iter().map(|owned| &*owned.name).collect();
    assert_eq!(owned, ["broken", "engine", "plain"], "copies are not counted, nor is what nobody reads");
    assert_eq!(family.unread, BTreeSet::from(["StatefulSet/broken".to_owned()]));
}

#[test]
fn whoever_cannot_write_speaks_for_nobody_until_it_can() {
    let mut world = web();
    let (web, engine) = (key("Deployment", "demo", "web"), key("StatefulSet", "demo", "engine"));
    world.put(&engine, Workload { controller: controlled("Deployment", "d"), ..workload("e", None, ai()) });
    assert_eq!(voice(&world, "StatefulSet", "engine"), Voice::Above(web.clone()));
    assert!(world.set_mute(&web).contains(&engine));
    assert_eq!(voice(&world, "StatefulSet", "engine"), Voice::Own);
    assert_eq!(voice(&world, "Deployment", "web"), Voice::Own, "itself it may try");
    assert!(world.set_carried(&web, [Arc::from("e")]).contains(&engine));
    assert_eq!(voice(&world, "StatefulSet", "engine"), Voice::Above(web.clone()));
    // One that can be read no more has said what it carries, and nothing else.
    world.put(&web, workload("d", None, State::Failed { reason: "x".into(), last: None }));
    assert_eq!(voice(&world, "StatefulSet", "engine"), Voice::Above(web));
    world.put(&key("StatefulSet", "demo", "new"), Workload { controller: controlled("Deployment", "d"), ..workload("n", None, ai()) });
    assert!(matches!(voice(&world, "StatefulSet", "new"), Voice::Orphan(_)));
}

#[test]
fn while_the_kind_of_an_owner_is_out_of_order_only_what_it_carries_is_carried() {
    let mut world = web();
    let (web, engine) = (key("Deployment", "demo", "web"), key("StatefulSet", "demo", "engine"));
    world.put(&engine, Workload { controller: controlled("Deployment", "d"), ..workload("e", None, ai()) });
    world.set_carried(&web, [Arc::from("e")]);
    world.put(&key("StatefulSet", "demo", "new"), Workload { controller: controlled("Deployment", "d"), ..workload("n", None, ai()) });
    let touched = world.set_sick([kind("Deployment")].into());
    assert!(touched.contains(&key("StatefulSet", "demo", "new")));
    assert_eq!(voice(&world, "StatefulSet", "engine"), Voice::Above(web.clone()));
    assert_eq!(voice(&world, "StatefulSet", "new"), Voice::Own);
    assert!(world.set_sick([].into()).contains(&key("StatefulSet", "demo", "new")));
    assert_eq!(voice(&world, "StatefulSet", "new"), Voice::Above(web));
}

#[test]
fn what_is_not_in_a_complete_list_is_gone_and_so_are_aiboms_without_a_workload() {
    let mut world = World::new();
    world.opt_in("demo");
    let deployments = kind("Deployment");
    world.set_lane(&deployments, &resource(), &Scope::Cluster, Lane { synced: true, ..Lane::default() });
    world.put(&key("Deployment", "demo", "a"), workload("a", None, ai()));
    world.put(&key("Deployment", "demo", "b"), workload("b", None, ai()));
    world.put_stored("demo", "apps-deployment-c", stored(Some(key("Deployment", "demo", "c"))));
    world.put_stored("demo", "foreign", stored(None));
    let touched = world.retain(&deployments, &Scope::Cluster, &HashSet::from([key("Deployment", "demo", "a")]));
    assert_eq!(touched, BTreeSet::from([key("Deployment", "demo", "b"), key("Deployment", "demo", "c")]));
    assert!(world.workload(&key("Deployment", "demo", "b")).is_none());
}

#[test]
fn a_namespace_that_is_opted_out_is_forgotten_and_its_aiboms_are_touched() {
    let mut world = World::new();
    assert!(world.opt_in("demo") && !world.opt_in("demo"));
    world.put(&key("ReplicaSet", "demo", "a"), workload("a", None, ai()));
    put_pod(&mut world, "p", ("ReplicaSet", "a"), &["sha256:a"]);
    world.put_stored("demo", "apps-deployment-old", stored(Some(key("Deployment", "demo", "old"))));
    let touched = world.opt_out("demo").unwrap();
    assert!([key("ReplicaSet", "demo", "a"), key("Deployment", "demo", "old")].iter().all(|key| touched.contains(key)));
    world.retain_pods(&Scope::Cluster, &HashSet::new());
    assert_eq!((world.take_settling().len(), world.workloads().count()), (0, 0));
    assert!(world.opt_out("demo").is_none());
}

#[test]
fn a_workload_that_was_made_anew_under_its_name_is_another_one() {
    let mut world = World::new();
    world.put(&key("Deployment", "demo", "a"), workload("old", None, ai()));
    assert!(!world.put(&key("Deployment", "demo", "a"), workload("new", None, ai())).is_empty());
    assert_eq!(world.speaker("old"), None);
    assert_eq!(world.speaker("new"), Some(key("Deployment", "demo", "a")));
}

/// An AIBOM of which nothing but its workload is known.
pub(in crate::operator) fn stored(workload: Option<Key>) -> Stored {
    Stored {
        uid: Arc::from("aibom"),
        known_versions: ["1".into(), "2".into()],
        seen: Vec::new(),
        repairs: None,
        workload,
        owner: None,
        object: None,
        status: None,
        document: None,
        inventory: Arc::default(),
        errors: 0,
        transitions: Box::default(),
    }
}

/// A change of a small world.
#[derive(Clone, Debug)]
enum Change {
    Put(usize, Option<usize>),
    Remove(usize),
    Pod(usize, usize, u8),
    RemovePod(usize),
}

proptest! {
    /// Whatever the order in which things are told, the same world has the same speakers and digests.
    #[test]
    fn what_is_known_does_not_depend_on_the_order_in_which_it_was_told(
        changes in proptest::collection::vec(
            prop_oneof![
                (0..6usize, proptest::option::of(0..6usize)).prop_map(|(object, owner)| Change::Put(object, owner)),
                (0..6usize).prop_map(Change::Remove),
                (0..4usize, 0..6usize, any::<u8>()).prop_map(|(pod, owner, id)| Change::Pod(pod, owner, id % 3)),
                (0..4usize).prop_map(Change::RemovePod),
            ],
            0..40,
        )
    ) {
        let uid = |index: usize| format!("u{index}");
        let named = |index: usize| key("ReplicaSet", "demo", &format!("n{index}"));
        let mut world = World::new();
        let mut objects: BTreeMap<usize, Option<usize>> = BTreeMap::new();
        let mut pods: BTreeMap<usize, (usize, u8)> = BTreeMap::new();
        for change in changes {
            match change {
                Change::Put(object, owner) => {
                    objects.insert(object, owner);
                    world.put(&named(object), workload(&uid(object), owner.map(uid).as_deref(), ai()));
                }
                Change::Remove(object) => {
                    objects.remove(&object);
                    world.remove(&named(object));
                }
                Change::Pod(index, owner, id) => {
                    pods.insert(index, (owner, id));
                    put_pod(&mut world, &format!("p{index}"), ("ReplicaSet", &uid(owner)), &[&format!("sha256:{id}")]);
                }
                Change::RemovePod(index) => {
                    pods.remove(&index);
                    world.remove_pod(&format!("p{index}"));
                    world.remove(&key("Pod", "demo", &format!("p{index}")));
                }
            }
        }
        let mut again = World::new();
        for (index, (owner, id)) in pods.iter().rev() {
            put_pod(&mut again, &format!("p{index}"), ("ReplicaSet", &uid(*owner)), &[&format!("sha256:{id}")]);
        }
        for (object, owner) in objects.iter().rev() {
            again.put(&named(*object), workload(&uid(*object), owner.map(uid).as_deref(), ai()));
        }
        for object in objects.keys() {
            prop_assert_eq!(world.speaker(&uid(*object)), again.speaker(&uid(*object)));
            let own = workload_of(&world, &named(*object));
            prop_assert_eq!(world.digests(&own), again.digests(&own));
        }
        prop_assert_eq!(world.workloads().count(), objects.len() + pods.len());
    }
}
