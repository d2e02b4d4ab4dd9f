use aibom_facts::report::{Basis, Claim, ContainerClass, Duty, Report};
use aibom_facts::tree::Tree;

use super::{Change, Grounding, ground};
use crate::contract::types;

const OBJECT: &str = r#"{
    "metadata": {"name": "w"},
    "spec": {
        "model": "acme/small", "tag": "1.4", "registry": "registry.example:5000", "repository": "acme/server", "digest": "sha256:ab",
        "replicas": 2, "fast": true, "null": null, "a/b": {"m~n": "odd"}, "empty": "",
        "list": ["x", "y"], "env": [], "template": {"containers": []}, "same": "acme/small"
    }
}"#;

fn at(pointer: &str) -> types::Locator {
    types::Locator { object: 0, pointer: pointer.to_owned() }
}

fn claim(text: &str, basis: &str, places: &[&str]) -> types::Claim {
    types::Claim { text: text.to_owned(), basis: basis.to_owned(), at: places.iter().map(|pointer| at(pointer)).collect() }
}

fn item(class: &str, id: &str, name: types::Claim) -> types::Item {
    types::Item {
        id: id.to_owned(),
        class: class.to_owned(),
        role: String::new(),
        name,
        version: None,
        sources: vec![],
        uses: vec![],
        properties: vec![],
    }
}

fn template(name: &str, pointer: &str) -> types::PodTemplate {
    types::PodTemplate {
        at: at(pointer),
        name: name.to_owned(),
        role: String::new(),
        duty: String::new(),
        inherited_env: vec![],
        properties: vec![],
    }
}

fn container(name: &str, class: &str) -> types::Container {
    types::Container {
        name: name.to_owned(),
        class: class.to_owned(),
        template: String::new(),
        image: None,
        command: None,
        args: vec![],
        env: vec![],
        env_from: vec![],
        volume_mounts: None,
        resources: None,
        properties: vec![],
    }
}

fn empty() -> types::Report {
    types::Report { categories: vec![], items: vec![], pod_templates: vec![], containers: vec![], properties: vec![], problems: vec![] }
}

fn grounded(change: impl FnOnce(&mut types::Report)) -> (Report, Grounding) {
    let object = Tree::from_json(OBJECT.as_bytes()).unwrap();
    let related = Tree::from_json(br#"{"spec":{"source":"hf://acme/small"}}"#).unwrap();
    let mut raw = empty();
    change(&mut raw);
    ground(raw, &[Some(&object), None, Some(&related)], 10_000)
}

/// One claim, as the name of a model.
fn one(raw: types::Claim) -> (Option<Claim>, Grounding) {
    let (mut report, changes) = grounded(|report| report.items.push(item("model", "", raw)));
    (report.items.pop().map(|item| item.name), changes)
}

fn basis(text: &str, places: &[&str]) -> Basis {
    one(claim(text, "declared", places)).0.expect("the places resolve").basis
}

#[test]
fn declared_text_is_the_value_at_its_place() {
    assert_eq!(basis("acme/small", &["/spec/model"]), Basis::Declared);
    assert_eq!(basis("2", &["/spec/replicas"]), Basis::Declared);
    assert_eq!(basis("true", &["/spec/fast"]), Basis::Declared);
    assert_eq!(basis("odd", &["/spec/a~1b/m~0n"]), Basis::Declared);
    assert_eq!(basis("y", &["/spec/list/1"]), Basis::Declared);
}

#[test]
fn declared_text_may_be_joined_from_its_places_in_order() {
    assert_eq!(basis("acme/server:1.4", &["/spec/repository", "/spec/tag"]), Basis::Declared);
    assert_eq!(basis("registry.example:5000/acme/server:1.4", &["/spec/registry", "/spec/repository", "/spec/tag"]), Basis::Declared);
    assert_eq!(basis("acme/server@sha256:ab", &["/spec/repository", "/spec/digest"]), Basis::Declared);
    assert_eq!(basis("acme/small", &["/spec/model", "/spec/same"]), Basis::Declared, "the same text at both places");
}

#[test]
fn declared_text_that_does_not_stand_there_is_derived() {
    for (text, places) in [
        ("acme/large", &["/spec/model"][..]),
        ("acme", &["/spec/model"]),
        ("acme/small ", &["/spec/model"]),
        ("1.4:acme/server", &["/spec/repository", "/spec/tag"]),
        ("acme/server-1.4", &["/spec/repository", "/spec/tag"]),
        ("acme/server1.4", &["/spec/repository", "/spec/tag"]),
        ("acme/server:1.4:", &["/spec/repository", "/spec/tag"]),
        ("acme/server:", &["/spec/repository", "/spec/empty", "/spec/tag"]),
        ("acme/small", &["/spec"]),
        ("acme/small", &["/spec/model", "/spec/list"]),
    ] {
        let (claim, changes) = one(claim(text, "declared", places));
        assert_eq!(claim.unwrap().basis, Basis::Derived, "{text}");
        assert_eq!(changes.count(Change::DowngradedClaim), 1, "{text}");
    }
}

#[test]
fn places_that_do_not_resolve_are_dropped_and_a_claim_without_any_too() {
    for pointer in ["/spec/nothing", "/spec/null", "spec/model", "/spec/list/2", "/spec/list/01", "/spec/list/-", "/spec/model/0", "/~2"] {
        let (gone, changes) = one(claim("acme/small", "declared", &[pointer]));
        assert_eq!(gone, None, "{pointer}");
        assert_eq!([Change::DroppedPlace, Change::DroppedClaim, Change::DroppedItem].map(|c| changes.count(c)), [1; 3], "{pointer}");
    }
    let (kept, changes) = one(claim("acme/small", "declared", &["/spec/nothing", "/spec/model"]));
    let kept = kept.unwrap();
    assert_eq!((kept.at.len(), kept.basis), (1, Basis::Declared));
    assert_eq!(changes.total(), 1);
}

#[test]
fn places_name_the_object_they_are_in() {
    let place = |object: u32, pointer: &str| types::Locator { object, pointer: pointer.to_owned() };
    let of = |at: types::Locator| one(types::Claim { text: "hf://acme/small".into(), basis: "declared".into(), at: vec![at] }).0;
    assert_eq!(of(place(2, "/spec/source")).unwrap().basis, Basis::Declared);
    assert_eq!(of(place(1, "/spec/source")), None, "an object that was not handed over");
    assert_eq!(of(place(0, "/spec/source")), None);
    assert_eq!(of(place(3, "/spec/source")), None);
}

#[test]
fn a_basis_outside_the_vocabulary_is_derived() {
    let (guessed, changes) = one(claim("acme/small", "guessed", &["/spec/model"]));
    assert_eq!(guessed.unwrap().basis, Basis::Derived);
    assert_eq!(changes.count(Change::UnknownWord), 1);
    assert_eq!(one(claim("x", "implied", &["/spec/fast"])).0.unwrap().basis, Basis::Implied);
}

#[test]
fn items_without_a_known_class_or_a_name_are_dropped() {
    let (report, changes) = grounded(|report| {
        report.items.push(item("weapon", "", claim("acme/small", "declared", &["/spec/model"])));
        report.items.push(item("Model", "", claim("acme/small", "declared", &["/spec/model"])));
        report.items.push(item("model", "", claim("", "derived", &["/spec/model"])));
    });
    assert!(report.items.is_empty());
    assert_eq!((changes.count(Change::UnknownWord), changes.count(Change::DroppedItem)), (2, 3));
}

#[test]
fn an_item_keeps_what_holds_and_loses_what_does_not() {
    let (report, changes) = grounded(|report| {
        let mut raw = item("model", "m", claim("acme/small", "declared", &["/spec/model"]));
        raw.role = "chief".into();
        raw.version = Some(claim("1", "declared", &["/spec/nothing"]));
        raw.sources = vec![claim("x", "declared", &["/spec/list/0"]), claim("z", "declared", &["/spec/list/7"])];
        report.items.push(raw);
    });
    let item = &report.items[0];
    assert_eq!((item.role.as_str(), &item.version, item.sources.len()), ("", &None, 1));
    assert_eq!((changes.count(Change::UnknownWord), changes.count(Change::DroppedClaim)), (1, 2));
}

#[test]
fn the_first_of_two_ids_is_meant_and_references_must_lead_somewhere() {
    let name = || claim("acme/small", "declared", &["/spec/model"]);
    let (report, changes) = grounded(|report| {
        let mut user = item("adapter", "user", name());
        user.uses = ["m", "worker", "user", "gone", "dropped", "m", ""].map(str::to_owned).to_vec();
        report.items = vec![item("model", "m", name()), user, item("model", "m", name()), item("weapon", "dropped", name())];
        report.pod_templates.push(template("worker", "/spec/template"));
    });
    let ids: Vec<_> = report.items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["m", "user", ""]);
    assert_eq!(report.items[1].uses, ["m", "worker"]);
    assert_eq!(changes.count(Change::Duplicate), 1);
    assert_eq!(changes.count(Change::DanglingReference), 5);
}

#[test]
fn templates_of_the_same_name_are_numbered_and_keep_their_place() {
    let (report, changes) = grounded(|report| {
        report.pod_templates =
            ["worker", "worker", "worker-2", "", "", "worker"].into_iter().map(|name| template(name, "/spec/template")).collect();
    });
    let names: Vec<_> = report.pod_templates.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["worker", "worker-2", "worker-2-2", "", "template-2", "worker-3"]);
    assert_eq!(changes.count(Change::Duplicate), 4);
}

#[test]
fn a_template_must_stand_where_an_object_stands() {
    let (report, changes) = grounded(|report| {
        report.pod_templates = ["/spec/template", "/spec/model", "/spec/list", "/spec/none"].map(|at| template(at, at)).to_vec();
        report.pod_templates[0].duty = "engine".into();
        report.pod_templates[0].inherited_env = vec![at("/spec/env"), at("/spec/none")];
        report.pod_templates.push(template("root", ""));
        report.pod_templates[4].duty = "king".into();
    });
    let kept: Vec<_> = report.pod_templates.iter().map(|template| (template.at.pointer.as_str(), template.duty)).collect();
    assert_eq!(kept, [("/spec/template", Duty::Engine), ("", Duty::Unknown)]);
    assert_eq!(report.pod_templates[0].inherited_env.len(), 1);
    assert_eq!((changes.count(Change::DroppedTemplate), changes.count(Change::UnknownWord)), (3, 1));
}

#[test]
fn a_container_of_which_nothing_has_a_place_is_dropped() {
    let (report, changes) = grounded(|report| {
        let mut kept = container("kept", "sidecar");
        kept.template = "worker".into();
        kept.image = Some(claim("acme/server:1.4", "declared", &["/spec/repository", "/spec/tag"]));
        kept.args = vec![at("/spec/none")];
        let mut odd = container("odd", "uncle");
        odd.template = "none".into();
        odd.env = vec![at("/spec/env")];
        let mut ghost = container("ghost", "main");
        ghost.image = Some(claim("acme/server:1.4", "declared", &["/spec/none"]));
        ghost.command = Some(at("/spec/none"));
        report.containers = vec![kept, odd, ghost, container("empty", "main")];
        report.pod_templates.push(template("worker", "/spec/template"));
    });
    let kept: Vec<_> = report.containers.iter().map(|c| (c.name.as_str(), c.class, c.template.as_str(), !c.args.is_empty())).collect();
    assert_eq!(kept, [("kept", ContainerClass::Sidecar, "worker", false), ("odd", ContainerClass::Main, "", false)]);
    let counts = [Change::DroppedContainer, Change::DanglingReference, Change::UnknownWord].map(|change| changes.count(change));
    assert_eq!(counts, [2, 1, 1]);
}

#[test]
fn property_names_are_dotted_and_never_the_hosts() {
    let property = |name: &str| types::Property { name: name.into(), value: claim("2", "declared", &["/spec/replicas"]) };
    let good = ["example.replicas", "example.component.maxReplicas", "a.b-c.d_e.0", "aibomx.y"];
    let bad = ["replicas", "Example.x", ".x", "example.", "a..b", "a.b c", "a.é", "1.a", "a.b\n", &format!("a.{}", "b".repeat(127))];
    let reserved = ["aibom", "aibom.x", "aibom:x", "aibom.model.name"];
    let (report, changes) =
        grounded(|report| report.properties = good.iter().chain(&bad).chain(&reserved).map(|name| property(name)).collect());
    assert_eq!(report.properties.iter().map(|property| property.name.as_str()).collect::<Vec<_>>(), good);
    assert_eq!(changes.count(Change::BadPropertyName), bad.len() as u64);
    assert_eq!(changes.count(Change::ReservedProperty), reserved.len() as u64);
}

#[test]
fn categories_are_known_words_once() {
    let (report, changes) =
        grounded(|report| report.categories = ["inference", "cooking", "training", "inference", ""].map(str::to_owned).to_vec());
    assert_eq!(report.categories, ["inference", "training"]);
    assert_eq!(changes.count(Change::UnknownWord), 2);
}

#[test]
fn problems_are_kept_and_moved_to_the_nearest_place_above() {
    let (report, changes) = grounded(|report| {
        let problem =
            |object, pointer: &str| types::Problem { at: types::Locator { object, pointer: pointer.into() }, message: "wrong\u{7}".into() };
        report.problems = vec![
            problem(0, "/spec/null"),
            problem(0, "/spec/list/9/name"),
            problem(2, "/spec/source"),
            problem(7, "/spec/model"),
            problem(0, "no pointer"),
        ];
    });
    let places: Vec<_> = report.problems.iter().map(|p| (p.at.object, p.at.pointer.as_str())).collect();
    assert_eq!(places, [(0, "/spec/null"), (0, "/spec/list"), (2, "/spec/source"), (0, "/spec/model"), (0, "")]);
    assert!(report.problems.iter().all(|problem| problem.message == "wrong\u{fffd}"));
    assert_eq!(changes.count(Change::MovedProblem), 3);
}

#[test]
fn lists_over_their_limit_lose_their_end_and_are_counted() {
    let (report, changes) = grounded(|report| {
        report.items = (0..5_000).map(|_| item("model", "", claim("acme/small", "derived", &[""]))).collect();
        report.items[0].name.at = vec![at(""); 20];
    });
    assert_eq!((report.items.len(), report.items[0].name.at.len()), (4_096, 16));
    assert_eq!(changes.count(Change::OverLimit), 5_000 - 4_096 + 4);
}

#[test]
fn checking_places_costs_no_more_than_a_report_is_worth() {
    let object = Tree::from_json(format!(r#"{{"list":[{}0]}}"#, "0,".repeat(100_000)).as_bytes()).unwrap();
    let mut raw = empty();
    raw.items = (0..4_096).map(|_| item("model", "", claim("0", "declared", &["/list/100000"; 16]))).collect();
    let (report, changes) = ground(raw, &[Some(&object)], 1_000_000);
    assert_eq!(report.items.len(), 1, "nine places of a hundred thousand steps are paid for");
    assert_eq!(report.items[0].name.at.len(), 9);
    assert_eq!(changes.count(Change::DroppedPlace), 4_096 * 16 - 9);
}

#[test]
fn a_report_that_holds_is_handed_on_without_a_change() {
    let (report, changes) = grounded(|report| {
        let mut raw = item("model", "m", claim("acme/small", "declared", &["/spec/model"]));
        raw.role = "main".into();
        raw.properties = vec![types::Property { name: "example.fast".into(), value: claim("true", "declared", &["/spec/fast"]) }];
        report.items.push(raw);
        report.categories.push("inference".into());
    });
    assert!(changes.is_empty() && changes.total() == 0);
    assert_eq!(report.items[0].role, "main");
    assert_eq!(report.items[0].properties[0].name, "example.fast");
}
