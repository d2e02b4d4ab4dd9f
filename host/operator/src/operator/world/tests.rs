use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::pods::Running;
use super::*;

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
        owner: owner.map(Arc::from),
        api_version: Arc::from("apps/v1"),
        view: [0; 32],
        round: 1,
        related: Box::default(),
        stale: false,
        going: false,
        state,
    }
}

fn ai() -> State {
    State::Ai(Facts(Box::from(*b"x")))
}

fn pod(owner: Option<&str>, ids: &[&str]) -> Pod {
    let running = |id: &&str| Running { name: Arc::from("server"), image: Arc::from("acme/quill:1"), image_id: Box::from(*id) };
    Pod { namespace: Arc::from("demo"), owner: owner.map(Arc::from), containers: ids.iter().map(running).collect() }
}

fn resource() -> Resource {
    Resource::new("apps", "v1", "deployments", "Deployment")
}

#[test]
fn a_pod_of_a_replica_set_touches_the_deployment_above_it() {
    let mut world = World::new();
    world.opt_in("demo");
    world.put(&key("Deployment", "demo", "web"), workload("d", None, ai()));
    world.put(&key("ReplicaSet", "demo", "web-1"), workload("r", Some("d"), State::Owned));
    assert!(world.put_pod("p", pod(Some("r"), &[])).is_empty(), "it runs nothing yet");
    let touched = world.put_pod("p", pod(Some("r"), &["sha256:a"]));
    assert_eq!(touched, BTreeSet::from([key("Deployment", "demo", "web")]));
    assert!(world.put_pod("p", pod(Some("r"), &["sha256:a"])).is_empty(), "nothing changed");
    let deployment = world.workload(&key("Deployment", "demo", "web")).unwrap().clone();
    let digests = world.digests(&deployment);
    assert_eq!(digests.0.values().next().unwrap().iter().map(|id| &**id).collect::<Vec<_>>(), ["sha256:a"]);
    // A rollout has two.
    world.put(&key("ReplicaSet", "demo", "web-2"), workload("s", Some("d"), State::Owned));
    world.put_pod("q", pod(Some("s"), &["sha256:b"]));
    assert_eq!(world.digests(&deployment).0.values().next().unwrap().len(), 2);
    assert_eq!(world.remove_pod("p"), BTreeSet::from([key("Deployment", "demo", "web")]));
    assert_eq!(world.digests(&deployment).0.values().next().unwrap().len(), 1);
}

#[test]
fn owners_that_come_after_what_they_own_are_found() {
    let mut world = World::new();
    world.opt_in("demo");
    world.put_pod("p", pod(Some("r"), &["sha256:a"]));
    world.put(&key("ReplicaSet", "demo", "web-1"), workload("r", Some("d"), State::Owned));
    let touched = world.put(&key("Deployment", "demo", "web"), workload("d", None, ai()));
    assert!(touched.contains(&key("Deployment", "demo", "web")));
    assert_eq!(world.root_of("r"), Some(key("Deployment", "demo", "web")));
    let deployment = world.workload(&key("Deployment", "demo", "web")).unwrap().clone();
    assert_eq!(world.digests(&deployment).0.len(), 1);
}

#[test]
fn a_circle_of_owners_and_a_chain_that_is_too_long_are_their_own_roots() {
    let mut world = World::new();
    world.put(&key("ReplicaSet", "demo", "a"), workload("a", Some("b"), ai()));
    world.put(&key("ReplicaSet", "demo", "b"), workload("b", Some("a"), ai()));
    assert_eq!(world.root_of("a"), Some(key("ReplicaSet", "demo", "a")));
    let a = world.workload(&key("ReplicaSet", "demo", "a")).unwrap().clone();
    assert!(world.digests(&a).0.is_empty(), "and the closure ends");
    for index in 0..12 {
        let owner = (index > 0).then(|| format!("c{}", index - 1));
        let name = format!("c{index}");
        world.put(&key("ReplicaSet", "demo", &name), workload(&name, owner.as_deref(), ai()));
    }
    assert_eq!(world.root_of("c8"), Some(key("ReplicaSet", "demo", "c0")));
    assert_eq!(world.root_of("c11"), Some(key("ReplicaSet", "demo", "c11")));
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
    world.put(&key("Deployment", "demo", "a"), workload("a", None, ai()));
    world.put_pod("p", pod(Some("a"), &["sha256:a"]));
    world.put_stored("demo", "apps-deployment-old", stored(Some(key("Deployment", "demo", "old"))));
    let touched = world.opt_out("demo").unwrap();
    assert_eq!(touched, BTreeSet::from([key("Deployment", "demo", "a"), key("Deployment", "demo", "old")]));
    assert_eq!((world.retain_pods(&Scope::Cluster, &HashSet::new()).len(), world.workloads().count()), (0, 0));
    assert!(world.opt_out("demo").is_none());
}

#[test]
fn a_workload_that_was_made_anew_under_its_name_is_another_one() {
    let mut world = World::new();
    world.put(&key("Deployment", "demo", "a"), workload("old", None, ai()));
    assert!(!world.put(&key("Deployment", "demo", "a"), workload("new", None, ai())).is_empty());
    assert_eq!(world.root_of("old"), None);
    assert_eq!(world.root_of("new"), Some(key("Deployment", "demo", "a")));
}

/// An AIBOM of which nothing but its workload is known.
pub(in crate::operator) fn stored(workload: Option<Key>) -> Stored {
    Stored {
        uid: Arc::from("aibom"),
        known_versions: ["1".into(), "2".into()],
        seen: Vec::new(),
        repairs: None,
        workload,
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
    /// Whatever the order in which things are told, the same world has the same roots and digests.
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
                    world.put_pod(&format!("p{index}"), pod(Some(&uid(owner)), &[&format!("sha256:{id}")]));
                }
                Change::RemovePod(index) => {
                    pods.remove(&index);
                    world.remove_pod(&format!("p{index}"));
                }
            }
        }
        let mut again = World::new();
        for (index, (owner, id)) in pods.iter().rev() {
            again.put_pod(&format!("p{index}"), pod(Some(&uid(*owner)), &[&format!("sha256:{id}")]));
        }
        for (object, owner) in objects.iter().rev() {
            again.put(&named(*object), workload(&uid(*object), owner.map(uid).as_deref(), ai()));
        }
        for object in objects.keys() {
            prop_assert_eq!(world.root_of(&uid(*object)), again.root_of(&uid(*object)));
            let own = world.workload(&named(*object)).unwrap().clone();
            prop_assert_eq!(world.digests(&own), again.digests(&own));
        }
        prop_assert_eq!(world.workloads().count(), objects.len());
    }
}
