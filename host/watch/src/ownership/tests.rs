use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

fn member(kind: &'static str, name: &str, owner: Option<(&'static str, &str)>) -> Member<&'static str> {
    let controller = owner.map_or(Controller::None, |(kind, uid)| {
        Controller::One(Reference { uid: Arc::from(uid), kind, name: Arc::from(uid.to_uppercase()) })
    });
    Member { kind, namespace: Arc::from("demo"), name: Arc::from(name), controller }
}

/// Kind, UID, and kind and UID of the owner.
type Object<'a> = (&'static str, &'a str, Option<(&'static str, &'a str)>);

/// Each object is named like its UID in capitals.
fn index(objects: &[Object<'_>]) -> Index<&'static str> {
    let mut index = Index::default();
    for (kind, uid, owner) in objects {
        index.put(Arc::from(*uid), member(kind, &uid.to_uppercase(), *owner));
    }
    index
}

fn up<'a>(index: &'a Index<&'static str>, uid: &str) -> (Vec<&'a str>, End<'a, &'static str>) {
    let walk = index.walk(uid).unwrap();
    (walk.members.iter().map(|(uid, _)| &***uid).collect(), walk.end)
}

fn below<'a>(index: &'a Index<&'static str>, uid: &str) -> BTreeSet<&'a str> {
    index.below(uid).into_iter().map(|uid| &**uid).collect()
}

/// B24: the workers of a group belong to a StatefulSet that belongs to a Pod.
#[test]
fn b24_a_chain_goes_through_pods() {
    let chain = index(&[
        ("Pod", "worker", Some(("StatefulSet", "workers"))),
        ("StatefulSet", "workers", Some(("Pod", "leader"))),
        ("Pod", "leader", Some(("StatefulSet", "leaders"))),
        ("StatefulSet", "leaders", Some(("LeaderWorkerSet", "set"))),
        ("LeaderWorkerSet", "set", Some(("Component", "component"))),
        ("Component", "component", Some(("Graph", "graph"))),
        ("Graph", "graph", None),
    ]);
    assert_eq!(up(&chain, "worker"), (vec!["worker", "workers", "leader", "leaders", "set", "component", "graph"], End::Top));
    assert_eq!(below(&chain, "graph").len(), 6);
    assert_eq!(below(&chain, "leader"), BTreeSet::from(["workers", "worker"]));
}

/// B25: so many hops are gone, and one more is not, which is said.
#[test]
fn b25_a_chain_of_eight_hops_is_followed_and_a_longer_one_is_not() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let mut chain = Index::default();
    for pair in names.windows(2) {
        chain.put(Arc::from(pair[0]), member("Thing", pair[0], Some(("Thing", pair[1]))));
    }
    chain.put(Arc::from("j"), member("Thing", "j", None));
    let (members, end) = up(&chain, "b");
    assert_eq!((members.len() - 1, members.last(), end), (MAX_HOPS, Some(&"j"), End::Top));
    assert_eq!(up(&chain, "a"), (vec!["a"], End::TooDeep));
}

/// B28: circles, stale UIDs and two controllers end the walk, and say so.
#[test]
fn b28_circles_stale_uids_and_two_controllers_have_no_owner() {
    let circle = index(&[
        ("Thing", "a", Some(("Thing", "b"))),
        ("Thing", "b", Some(("Thing", "a"))),
        ("Thing", "c", Some(("Thing", "a"))),
        ("Thing", "own", Some(("Thing", "own"))),
        ("Thing", "stale", Some(("Thing", "gone"))),
    ]);
    for uid in ["a", "b", "c", "own"] {
        assert_eq!(up(&circle, uid), (vec![uid], End::Circle));
    }
    let (members, end) = up(&circle, "stale");
    assert!(members == ["stale"] && matches!(end, End::Unknown(reference) if &*reference.uid == "gone"));
    assert_eq!(below(&circle, "a"), BTreeSet::from(["b", "c"]), "it ends");
    let mut several = index(&[("Thing", "top", None), ("Thing", "part", Some(("Thing", "middle")))]);
    several.put(Arc::from("middle"), Member { controller: Controller::Several, ..member("Thing", "MIDDLE", None) });
    assert_eq!(up(&several, "part"), (vec!["part", "middle"], End::Several), "what is below it belongs to it");
}

/// B22: the UID decides, not the name.
#[test]
fn b22_an_owner_that_was_made_again_under_its_name_does_not_adopt_the_children_of_the_earlier_one() {
    let mut again = index(&[("Thing", "first", None), ("Thing", "child", Some(("Thing", "first")))]);
    again.remove("first");
    again.put(Arc::from("second"), member("Thing", "FIRST", None));
    assert!(matches!(up(&again, "child").1, End::Unknown(_)));
    assert!(below(&again, "second").is_empty());
    assert_eq!(below(&again, "first"), BTreeSet::from(["child"]), "who names it is still known");
}

/// B23, and the kind: a reference that says something else of the object than is true leads nowhere.
#[test]
fn b23_an_owner_in_another_namespace_or_of_another_kind_owns_nothing() {
    let mut other = index(&[("Thing", "owner", None), ("Thing", "child", Some(("Other", "owner")))]);
    assert!(matches!(up(&other, "child"), (members, End::OtherKind(_)) if members == ["child"]));
    other.put(Arc::from("far"), Member { namespace: Arc::from("far"), ..member("Thing", "FAR", Some(("Thing", "owner"))) });
    assert!(matches!(up(&other, "far").1, End::OtherNamespace(_)));
    assert!(below(&other, "owner").is_empty());
    other.put(Arc::from("owner"), Member { namespace: Arc::from(""), ..member("Thing", "OWNER", None) });
    assert_eq!(up(&other, "far"), (vec!["far", "owner"], End::Top), "what belongs to the cluster owns everywhere");
}

#[test]
fn thousands_of_children_share_the_text_of_the_uid_of_their_owner() {
    let mut many = index(&[("Thing", "owner", None)]);
    for number in 0..3 {
        many.put(Arc::from(format!("c{number}")), member("Thing", "child", Some(("Thing", "owner"))));
    }
    let text = |uid: &str| Arc::as_ptr(&many.get(uid).unwrap().controller.one().unwrap().uid);
    assert!(std::ptr::addr_eq(text("c0"), text("c2")));
}

type Step = (u8, Option<u8>, bool);

proptest! {
    /// Whatever comes in whatever order, walks and closures agree with a plain reading of what is there now, and nothing is left behind.
    #[test]
    fn walks_and_closures_agree_whatever_the_order(steps in proptest::collection::vec((0..12_u8, proptest::option::of(0..12_u8), any::<bool>()), 0..60)) {
        let mut index: Index<&'static str> = Index::default();
        let mut plain: BTreeMap<u8, Option<u8>> = BTreeMap::new();
        for (uid, owner, remove) in &steps as &[Step] {
            if *remove {
                index.remove(&uid.to_string());
                plain.remove(uid);
            } else {
                let owner_uid = owner.map(|owner| owner.to_string());
                index.put(Arc::from(uid.to_string()), member("Thing", "x", owner_uid.as_deref().map(|owner| ("Thing", owner))));
                plain.insert(*uid, *owner);
            }
        }
        prop_assert_eq!(index.len(), plain.len());
        let named: usize = plain.values().flatten().count();
        prop_assert_eq!(index.children.values().map(HashSet::len).sum::<usize>(), named);
        let above = |uid: u8| -> Option<Vec<u8>> {
            let mut chain = vec![uid];
            while let Some(Some(owner)) = plain.get(chain.last()?) {
                if chain.contains(owner) || (plain.contains_key(owner) && chain.len() > MAX_HOPS) {
                    return None;
                }
                if !plain.contains_key(owner) {
                    break;
                }
                chain.push(*owner);
            }
            Some(chain)
        };
        for uid in plain.keys() {
            let walked: Vec<u8> = up(&index, &uid.to_string()).0.iter().map(|uid| uid.parse().unwrap()).collect();
            prop_assert_eq!(walked, above(*uid).unwrap_or_else(|| vec![*uid]));
            let reached: BTreeSet<u8> = below(&index, &uid.to_string()).iter().map(|uid| uid.parse().unwrap()).collect();
            let direct = |owner: u8| plain.iter().filter(move |(_, of)| **of == Some(owner)).map(|(uid, _)| *uid);
            let mut expected: BTreeSet<u8> = BTreeSet::new();
            let mut level = vec![*uid];
            for _ in 0..MAX_HOPS {
                level = level.into_iter().flat_map(direct).filter(|child| child != uid && expected.insert(*child)).collect();
            }
            prop_assert_eq!(reached, expected);
        }
    }
}
