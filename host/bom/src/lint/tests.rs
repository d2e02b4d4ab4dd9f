use aibom_facts::inventory::{
    Class, Confidence, Data, DataKind, Evidence, Finding, Inventory, Key, Model, Origin, Role, Service, Source, Tool, Unresolved,
};
use aibom_facts::model::ModelReference;
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::tree::Tree;
use serde_json::{Value, json};

use super::{lint, lint_against, lint_sized};
use crate::{Options, SpecVersion, render};

fn subject() -> ObjectRef {
    ObjectRef {
        group: "example.org".to_owned(),
        version: "v1".to_owned(),
        kind: "Orchard".to_owned(),
        namespace: Some("trees".to_owned()),
        name: "quince".to_owned(),
        uid: None,
    }
}

/// A document that breaks nothing: one model, one volume, one service.
fn good() -> Value {
    good_of(SpecVersion::V1_7)
}

fn good_of(spec_version: SpecVersion) -> Value {
    let mut inventory = Inventory::new(vec![subject()], Origin::Manifest);
    inventory.generation = Some(2);
    let evidence = |pointer: &str, value: &str| Evidence {
        at: Locator::scraped(Pointer::parse(pointer).unwrap()),
        source: Source::ContainerArg,
        value: value.to_owned(),
        by: "--model".to_owned(),
        container: "server".to_owned(),
    };
    let mut finding = Finding::new(Class::Model, "quince/q-1b", Confidence::Declared);
    finding.evidence = vec![evidence("/spec/args/1", "quince/q-1b"), evidence("/spec/args/3", "quince/q-1b")];
    finding.property("model.task", "text-generation");
    finding.needs.insert(Key::new(Class::Data, "jars"));
    inventory.models.push(Model {
        finding,
        reference: ModelReference::Hub { owner: "quince".to_owned(), name: "q-1b".to_owned() },
        role: Role::Main,
        revision: None,
        served: ["q".to_owned()].into(),
        sources: [].into(),
    });
    inventory.data.push(Data {
        finding: Finding::new(Class::Data, "jars", Confidence::Declared),
        kind: DataKind::Dataset,
        name: "jars".to_owned(),
    });
    inventory.services.push(Service {
        finding: Finding::new(Class::Service, "medlar", Confidence::Inferred),
        endpoints: ["https://api.medlar.example/v1".to_owned()].into(),
    });
    inventory.unresolved.insert(Unresolved {
        what: "image".to_owned(),
        at: Locator::scraped(Pointer::root()),
        why: "placeholder".to_owned(),
        reference: String::new(),
    });
    let producer = Tool { name: "bom-writer".to_owned(), version: "1.0.0".to_owned(), sha256: None };
    let options = Options { spec_version, ..Options::new(producer, "2026-03-01T10:00:00Z") };
    render(&inventory, &options).to_value()
}

/// Asserts that the change breaks this rule and no other, in either version.
#[track_caller]
fn breaks(rule: &str, change: impl Fn(&mut Value)) {
    breaks_in(SpecVersion::V1_6, rule, &change);
    breaks_in(SpecVersion::V1_7, rule, &change);
}

#[track_caller]
fn breaks_in(spec_version: SpecVersion, rule: &str, change: &dyn Fn(&mut Value)) {
    let mut document = good_of(spec_version);
    assert_eq!(lint(&document), [], "the document is good before");
    change(&mut document);
    let rules: Vec<&str> = lint(&document).iter().map(|violation| violation.rule).collect();
    assert!(!rules.is_empty(), "nothing is broken");
    assert!(rules.iter().all(|broken| *broken == rule), "{:?}", lint(&document));
}

/// Position of the component of this type.
fn place(document: &Value, component_type: &str) -> usize {
    document["components"].as_array().unwrap().iter().position(|component| component["type"] == component_type).unwrap()
}

fn component<'a>(document: &'a mut Value, component_type: &str) -> &'a mut Value {
    let at = place(document, component_type);
    &mut document["components"][at]
}

#[test]
fn l1_a_reference_that_two_things_have() {
    breaks("L1", |document| document["compositions"][0]["bom-ref"] = document["metadata"]["component"]["bom-ref"].clone());
    breaks("L1", |document| document["compositions"][0]["bom-ref"] = json!("urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1"));
}

#[test]
fn the_writer_gives_no_document_that_breaks_a_rule() {
    let inventory = Inventory::new(vec![subject()], Origin::Manifest);
    let producer = Tool { name: "bom-writer".to_owned(), version: "1.0.0".to_owned(), sha256: None };
    let options = |timestamp: &str| Options::new(producer.clone(), timestamp);
    assert!(crate::write(&inventory, &options("2026-03-01T10:00:00Z")).is_ok());
    let refused = crate::write(&inventory, &options("")).unwrap_err();
    assert_eq!(refused.violations.iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["L14"]);
    assert_eq!(
        refused.to_string(),
        "the document breaks 1 of its own rules: L14 at /metadata/timestamp: an empty text is lost on a round trip"
    );
}

#[test]
fn l1_also_finds_what_breaks_with_it() {
    let mut document = good();
    component(&mut document, "data")["bom-ref"] = json!("");
    let rules: Vec<&str> = lint(&document).iter().map(|violation| violation.rule).collect();
    assert!(rules.contains(&"L1"));
}

#[test]
fn l2_a_reference_to_nothing() {
    breaks("L2", |document| document["dependencies"][0]["dependsOn"] = json!(["nobody"]));
    breaks("L2", |document| document["compositions"][2]["dependencies"] = json!(["nobody"]));
    breaks("L2", |document| component(document, "machine-learning-model")["evidence"]["identity"][0]["tools"] = json!(["nobody"]));
    breaks_in(SpecVersion::V1_7, "L2", &|document| document["citations"][0]["attributedTo"] = json!("nobody"));
    breaks("L2", |document| {
        component(document, "machine-learning-model")["modelCard"]["modelParameters"]["datasets"] = json!([{"ref": "nobody"}]);
    });
}

#[test]
fn l3_a_component_that_dependencies_leave_out_or_list_twice() {
    breaks("L3", |document| {
        document["dependencies"].as_array_mut().unwrap().pop();
    });
    breaks("L3", |document| {
        let twice = document["dependencies"][1].clone();
        document["dependencies"].as_array_mut().unwrap().insert(1, twice);
    });
    breaks("L3", |document| {
        let at = document["components"].as_array().unwrap().len();
        document["components"].as_array_mut().unwrap().insert(at, json!({"type": "platform", "name": "unreferenced"}));
    });
}

#[test]
fn l4_a_purl_that_is_malformed_or_of_another_form_or_type() {
    for purl in ["quince/q-1b", "pkg:/q", "pkg:huggingface/quince%2Fq-1b", "pkg:HuggingFace/quince/q-1b", "pkg:k8s/orchard/quince"] {
        breaks("L4", |document| component(document, "machine-learning-model")["purl"] = json!(purl));
    }
}

#[test]
fn l5_a_name_that_is_empty_or_too_long() {
    breaks("L5", |document| document["metadata"]["component"]["name"] = json!("  "));
    breaks("L5", |document| document["services"][0]["name"] = json!("s".repeat(1_025)));
    breaks("L5", |document| {
        component(document, "data")["data"][0].as_object_mut().unwrap().remove("name");
    });
}

#[test]
fn l6_a_card_on_data_and_data_on_a_model() {
    breaks("L6", |document| component(document, "data")["modelCard"] = json!({"modelParameters": {"task": "none"}}));
    breaks("L6", |document| component(document, "machine-learning-model")["data"] = json!([{"type": "dataset", "name": "jars"}]));
}

#[test]
fn l7_a_place_without_a_pointer() {
    for location in ["somewhere", "somewhere#spec/args/1", "somewhere#/a~2"] {
        breaks("L7", |document| {
            component(document, "machine-learning-model")["evidence"]["occurrences"] = json!([{"location": location}]);
        });
    }
}

#[test]
fn l7_a_place_that_the_object_does_not_have() {
    let document = good();
    let object = |json: &str| Tree::from_json(json.as_bytes()).unwrap();
    let has = object(r#"{"spec": {"args": ["serve", "a", "b", "c"]}}"#);
    assert_eq!(lint_against(&document, &[(subject(), &has)]), []);
    let lacks = object(r#"{"spec": {"args": ["serve", "a"]}}"#);
    let violations = lint_against(&document, &[(subject(), &lacks)]);
    assert_eq!(violations.len(), 1);
    assert_eq!(
        violations[0].to_string(),
        format!(
            "L7 at /components/{}/evidence/occurrences/1/location: `/spec/args/3` does not resolve in example.org/v1/Orchard/trees/quince",
            place(&document, "machine-learning-model")
        )
    );
    let other = ObjectRef { name: "medlar".to_owned(), ..subject() };
    assert_eq!(lint_against(&document, &[(other, &lacks)]), [], "places in other objects are not judged");
}

#[test]
fn l8_a_number_that_contradicts_its_word() {
    breaks("L8", |document| component(document, "machine-learning-model")["evidence"]["identity"][0]["confidence"] = json!(0.5));
    breaks("L8", |document| {
        component(document, "machine-learning-model")["evidence"]["identity"][0].as_object_mut().unwrap().remove("confidence");
    });
    breaks("L8", |document| {
        let properties = component(document, "machine-learning-model")["properties"].as_array_mut().unwrap();
        properties
            .iter_mut()
            .filter(|property| property["name"] == "aibom.confidence")
            .for_each(|property| property["value"] = json!("sure"));
    });
}

#[test]
fn l9_control_characters_and_secrets_in_texts_and_in_names_of_members() {
    breaks("L9", |document| document["services"][0]["name"] = json!("med\u{1b}[31mlar"));
    breaks("L9", |document| document["services"][0]["name"] = json!("med\u{202E}lar"));
    breaks("L9", |document| document["services"][0]["name"] = json!("med\u{61C}lar"));
    breaks("L9", |document| document["services"][0]["name"] = json!("glpat-AbCdEfGhIjKlMnOpQrSt"));
    breaks("L9", |document| document["services"][0]["glpat-AbCdEfGhIjKlMnOpQrSt"] = json!(true));
}

#[test]
fn l9_never_repeats_what_it_found() {
    let mut document = good();
    document["services"][0]["name"] = json!("glpat-AbCdEfGhIjKlMnOpQrSt");
    assert!(lint(&document).iter().all(|violation| !violation.to_string().contains("AbCdEf")));
}

#[test]
fn l10_a_url_with_a_space_or_a_user() {
    breaks("L10", |document| document["services"][0]["endpoints"] = json!(["https://api.medlar.example/v 1"]));
    breaks("L10", |document| {
        component(document, "machine-learning-model")["externalReferences"] = json!([{"type": "website"}]);
    });
    // A user is a secret as well.
    let mut document = good();
    document["services"][0]["endpoints"] = json!(["https://reader@api.medlar.example/v1"]);
    assert_eq!(lint(&document).iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["L9", "L10"]);
}

#[test]
fn l11_lists_in_another_order() {
    for list in ["components", "dependencies"] {
        breaks("L11", |document| document[list].as_array_mut().unwrap().reverse());
    }
    breaks("L11", |document| document["metadata"]["component"]["properties"].as_array_mut().unwrap().reverse());
    breaks("L11", |document| {
        component(document, "machine-learning-model")["evidence"]["occurrences"].as_array_mut().unwrap().reverse();
    });
    breaks("L11", |document| {
        let root = document["metadata"]["component"]["bom-ref"].clone();
        let dependencies = document["dependencies"].as_array_mut().unwrap();
        let of_root = dependencies.iter_mut().find(|entry| entry["ref"] == root).unwrap();
        of_root["dependsOn"].as_array_mut().unwrap().reverse();
    });
}

#[test]
fn l12_a_workload_that_claims_to_be_complete() {
    breaks("L12", |document| document["compositions"][0]["aggregate"] = json!("complete"));
    breaks("L12", |document| {
        document.as_object_mut().unwrap().remove("compositions");
    });
}

#[test]
fn l13_a_version_of_the_workload_that_ends_a_purl_early() {
    for version in ["gen@2", "gen?2", "gen#2"] {
        breaks("L13", |document| document["metadata"]["component"]["version"] = json!(version));
    }
}

#[test]
fn l14_what_a_reader_loses() {
    breaks("L14", |document| document["services"][0]["provider"] = json!({}));
    breaks("L14", |document| document["services"][0]["version"] = Value::Null);
    breaks("L14", |document| document["services"][0]["version"] = json!(""));
    breaks("L14", |document| document["externalReferences"] = json!([]));
    breaks("L14", |document| {
        let identity = component(document, "machine-learning-model")["evidence"]["identity"][0].clone();
        component(document, "machine-learning-model")["evidence"]["identity"] = identity;
    });
}

#[test]
fn l14_the_list_form_of_tools() {
    let mut document = good();
    document["metadata"]["tools"] = json!([{"name": "bom-writer"}]);
    assert!(lint(&document).iter().any(|violation| violation.rule == "L14" && violation.path == "/metadata/tools"));
}

#[test]
fn l15_a_document_that_is_too_large_for_the_sink() {
    let document = good();
    let size = document.to_string().len();
    assert_eq!(lint_sized(&document, size), []);
    let violations = lint_sized(&document, size - 1);
    assert_eq!(violations.iter().map(|violation| violation.rule).collect::<Vec<_>>(), ["L15"]);
    assert_eq!(violations[0].to_string(), format!("L15 at the document: {size} bytes are more than the {} that the sink takes", size - 1));
}

#[test]
fn anything_that_is_json_can_be_checked() {
    for document in [json!(null), json!([]), json!({}), json!({"components": 3}), json!({"components": [1, null, {"evidence": []}]})] {
        assert!(!lint(&document).is_empty(), "{document}");
    }
}
