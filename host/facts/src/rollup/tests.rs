use proptest::prelude::*;

use super::*;
use crate::image::ImageReference;
use crate::inventory::{Category, Class, Confidence, Evidence, Origin, Role, Source};
use crate::pointer::Pointer;
use crate::report::{ContainerClass, Duty};

fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef {
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: Some("demo".to_owned()),
        name: name.to_owned(),
        uid: Some(format!("uid-of-{name}")),
    }
}

fn inventory(kind: &str, name: &str) -> Inventory {
    Inventory::new(vec![object(kind, name)], Origin::Cluster)
}

fn finding(class: Class, name: &str, at: &str) -> Finding {
    let mut finding = Finding::new(class, name, Confidence::Declared);
    finding.evidence.push(Evidence {
        at: Locator::scraped(Pointer::parse(at).unwrap()),
        source: Source::ContainerArg,
        value: name.to_owned(),
        by: "--model".to_owned(),
        container: "server".to_owned(),
    });
    finding
}

fn model(reference: ModelReference, at: &str) -> Model {
    Model {
        finding: finding(Class::Model, &reference.id(), at),
        reference,
        role: Role::Main,
        revision: None,
        served: BTreeSet::new(),
        sources: BTreeSet::new(),
    }
}

fn hub(owner: &str, name: &str) -> ModelReference {
    ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() }
}

fn image(written: &str, container: &str) -> Image {
    Image {
        finding: finding(Class::Image, written, "/spec/image"),
        written: written.to_owned(),
        reference: ImageReference::parse(written).ok(),
        containers: vec![ContainerUse {
            name: container.to_owned(),
            class: ContainerClass::Main,
            template: String::new(),
            duty: Duty::Unknown,
        }],
        observed: BTreeSet::new(),
    }
}

fn part(inventory: Inventory) -> Part {
    Part { inventory, stands_for: None }
}

fn values<'f>(finding: &'f Finding, name: &str) -> Vec<&'f str> {
    finding.properties.get(name).into_iter().flatten().map(String::as_str).collect()
}

#[test]
fn what_both_say_has_evidence_of_both_and_what_only_the_part_says_is_marked() {
    let mut whole = inventory("Graph", "plum");
    whole.models.push(model(hub("acme", "quill-7b"), "/spec/model"));
    let mut child = inventory("Deployment", "plum-worker");
    child.models.push(model(hub("acme", "quill-7b"), "/spec/template/args/1"));
    child.models.push(model(hub("acme", "draft-1b"), "/spec/template/args/3"));
    child.categories.insert(Category::Inference, Vec::new());
    absorb(&mut whole, vec![part(child)]);
    let [both, only] = &whole.models[..] else { panic!("two models") };
    let places: Vec<(u32, &str)> = both.finding.evidence.iter().map(|known| (known.at.object, known.at.pointer.as_str())).collect();
    assert_eq!(places, [(0, "/spec/model"), (1, "/spec/template/args/1")], "the workload's own first");
    assert_eq!(whole.objects[1].name, "plum-worker");
    assert_eq!((values(&both.finding, FROM), values(&only.finding, FROM)), (vec![], vec!["Deployment/plum-worker"]));
    assert_eq!((whole.rollup.parts.clone(), whole.is_ai()), (BTreeSet::from([1]), true));
}

#[test]
fn a_model_that_a_part_knows_by_its_place_or_served_name_is_the_one_that_the_workload_names() {
    let mut whole = inventory("Service", "plum");
    let mut named = model(hub("acme", "quill-7b"), "/spec/model");
    named.sources.insert("/mnt/models".to_owned());
    named.served.insert("quill".to_owned());
    whole.models.push(named);
    let mut child = inventory("Deployment", "plum");
    child.models.push(model(ModelReference::Path("/mnt/models".to_owned()), "/spec/args/0"));
    let mut runtime = Runtime { finding: finding(Class::Runtime, "vllm", "/spec/image"), version: None, framework: false };
    runtime.finding.needs.insert(Key::new(Class::Model, "/mnt/models"));
    child.runtimes.push(runtime);
    let mut other = inventory("Deployment", "other");
    other.models.push(model(ModelReference::Name("quill".to_owned()), "/spec/args/0"));
    absorb(&mut whole, vec![part(child), part(other)]);
    assert_eq!(whole.models.len(), 1);
    assert_eq!(whole.models[0].finding.evidence.len(), 3);
    assert_eq!(whole.runtimes[0].finding.needs, BTreeSet::from([Key::new(Class::Model, hub("acme", "quill-7b").id())]));
}

#[test]
fn of_two_models_that_it_might_be_a_place_is_neither() {
    let mut whole = inventory("Service", "plum");
    for name in ["quill-7b", "quill-70b"] {
        let mut named = model(hub("acme", name), "/spec/model");
        named.sources.insert("/mnt/models".to_owned());
        whole.models.push(named);
    }
    let mut child = inventory("Deployment", "plum");
    child.models.push(model(ModelReference::Path("/mnt/models".to_owned()), "/spec/args/0"));
    absorb(&mut whole, vec![part(child)]);
    assert_eq!(whole.models.len(), 3);
}

#[test]
fn a_setting_that_a_part_gives_another_value_is_kept_beside_it_with_the_part() {
    let with = |mut inventory: Inventory, value: &str| {
        let mut model = model(hub("acme", "quill-7b"), "/spec/model");
        model.finding.property("aibom.parameter.tensor-parallel-size", value);
        model.finding.property("container.name", value);
        inventory.models.push(model);
        inventory
    };
    let mut whole = with(inventory("Graph", "plum"), "2");
    absorb(&mut whole, vec![part(with(inventory("Deployment", "worker"), "4"))]);
    let finding = &whole.models[0].finding;
    assert_eq!(values(finding, DIFFERS), ["aibom.parameter.tensor-parallel-size=4 in Deployment/worker"]);
    assert_eq!(values(finding, "aibom.parameter.tensor-parallel-size"), ["2", "4"]);
}

#[test]
fn an_injected_container_is_added_and_one_that_was_written_again_is_not_counted_twice() {
    let mut whole = inventory("Graph", "plum");
    whole.images.push(image("r.io/acme/engine:1", "main"));
    whole.images[0].containers[0].template = "worker".to_owned();
    let mut child = inventory("Deployment", "worker");
    child.images.push(image("r.io/acme/engine:1", "main"));
    child.images.push(image("r.io/mesh/proxy:2", "proxy"));
    let mut second = inventory("Deployment", "extra");
    second.images.push(image("r.io/acme/engine:1", "helper"));
    absorb(&mut whole, vec![part(child), part(second)]);
    let uses: Vec<(&str, &str)> = whole.images[0].containers.iter().map(|known| (&*known.name, &*known.template)).collect();
    assert_eq!(uses, [("main", "worker"), ("helper", "Deployment/extra")]);
    assert_eq!(values(&whole.images[1].finding, FROM), ["Deployment/worker"]);
}

#[test]
fn parts_that_come_and_go_add_what_is_new_under_a_name_that_stays() {
    let passing = |name: &str, model_name: &str| {
        let mut child = inventory("Pod", name);
        child.models.push(model(hub("acme", "quill-7b"), "/spec/args/0"));
        child.models.push(model(hub("acme", model_name), "/spec/args/1"));
        Part { inventory: child, stands_for: Some("plum-*".to_owned()) }
    };
    let rolled = |names: &[&str]| {
        let mut whole = inventory("Graph", "plum");
        whole.models.push(model(hub("acme", "quill-7b"), "/spec/model"));
        absorb(&mut whole, names.iter().map(|name| passing(name, "patch")).collect());
        whole
    };
    let one = rolled(&["plum-x7k2p"]);
    assert_eq!(one.models[0].finding.evidence.len(), 1, "what is known already is not said again");
    assert_eq!(values(&one.models[1].finding, FROM), ["Pod/plum-*"]);
    assert_eq!((&*one.objects[1].name, &one.objects[1].uid), ("plum-*", &None));
    assert_eq!(one, rolled(&["plum-b2c3d", "plum-q9w8e"]), "whichever, and however many");
}

#[test]
fn a_copy_of_a_part_that_is_named_is_not_named_beside_it() {
    let saying = |kind: &str, name: &str| {
        let mut child = inventory(kind, name);
        child.images.push(image("r.io/mesh/proxy:2", "proxy"));
        child
    };
    let mut whole = inventory("Graph", "plum");
    let copy = Part { inventory: saying("Pod", "plum-worker-x7k2p"), stands_for: Some("plum-worker-*".to_owned()) };
    absorb(&mut whole, vec![copy, part(saying("Deployment", "plum-worker"))]);
    assert_eq!(values(&whole.images[0].finding, FROM), ["Deployment/plum-worker"]);
}

#[test]
fn what_could_not_be_read_and_what_was_malformed_is_kept_with_its_object() {
    let mut whole = inventory("Graph", "plum");
    let mut child = inventory("Deployment", "worker");
    child.objects.push(object("Preset", "base"));
    let unresolved = |object| Unresolved {
        what: "model".to_owned(),
        at: Locator { object, pointer: Pointer::parse("/spec/x").unwrap() },
        why: "preset".to_owned(),
        reference: "base".to_owned(),
    };
    child.unresolved.insert(unresolved(1));
    whole.objects.push(object("Preset", "other"));
    absorb(&mut whole, vec![part(child)]);
    assert_eq!(whole.objects.iter().map(|object| &*object.name).collect::<Vec<_>>(), ["plum", "other", "worker", "base"]);
    assert_eq!(whole.unresolved, BTreeSet::from([unresolved(3)]));
    assert_eq!(whole.rollup.parts, BTreeSet::from([2]), "what a part was read with is a related object");
}

proptest! {
    /// Nothing is lost: each model that any of them names is there once, with each place that stays.
    #[test]
    fn every_fact_of_every_part_is_there_once(names in proptest::collection::vec((0..5_u8, 0..4_u8, any::<bool>()), 0..12), turn in 0..12_usize) {
        let mut parts = Vec::new();
        for (number, (model_name, child, passing)) in names.iter().enumerate() {
            let mut child = inventory("Deployment", &format!("child-{child}-{number}"));
            child.models.push(model(hub("acme", &format!("m{model_name}")), &format!("/spec/{number}")));
            parts.push(Part { inventory: child, stands_for: passing.then(|| "some-*".to_owned()) });
        }
        let mut whole = inventory("Graph", "plum");
        absorb(&mut whole, parts.clone());
        let found: Vec<String> = whole.models.iter().map(|model| model.reference.id()).collect();
        let expected: BTreeSet<String> = names.iter().map(|(name, ..)| hub("acme", &format!("m{name}")).id()).collect();
        prop_assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(found.len(), found.iter().collect::<BTreeSet<_>>().len());
        let staying = names.iter().filter(|(.., passing)| !passing).count();
        let places = whole.models.iter().flat_map(|model| &model.finding.evidence).count();
        prop_assert!(places >= staying);
        // The order of the parts changes nothing.
        let mut other = inventory("Graph", "plum");
        let middle = turn.min(parts.len());
        parts.rotate_left(middle);
        absorb(&mut other, parts);
        prop_assert_eq!(whole, other);
    }
}
