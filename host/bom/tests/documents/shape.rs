//! What stands where.

use aibom_bom::{lint, render};
use aibom_facts::inventory::{Class, Confidence, Data, DataKind, Key, Origin, Service, Source};
use aibom_facts::model::ModelReference;
use serde_json::{Value, json};

use crate::sample::{DIGEST, empty, evidence, finding, hub, image, model, object, plum};
use crate::{VALIDATORS, checked, named, options, read, values};

#[test]
fn an_inventory_with_one_of_everything_looks_like_this() {
    insta::assert_snapshot!(checked(&plum(), &options()).to_json_pretty());
}

#[test]
fn the_schemas_accept_the_reference_documents_and_nothing_else() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/reference");
    let Some(validators) = VALIDATORS.as_ref() else { return };
    for name in ["golden-1.6.cdx.json", "golden-1.7.cdx.json"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let mut document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(validators.errors(&document), Vec::<String>::new(), "{name}");
        document["serialNumber"] = json!("urn:uuid:57C5848D-3A6F-5E38-9242-414432A754DA");
        assert_eq!(validators.errors(&document).len(), 1, "upper case is refused");
    }
    assert_eq!(validators.errors(&json!({"specVersion": "1.5"})), ["no schema for specVersion Some(\"1.5\")"]);
}

#[test]
fn an_inventory_without_findings_is_a_document_too() {
    let mut inventory = empty();
    inventory.objects.clear();
    let document = read(&inventory);
    assert_eq!(document["metadata"]["component"]["name"], "unnamed");
    assert!(document.get("components").is_none());
    assert_eq!(document["dependencies"].as_array().unwrap().len(), 1);
}

#[test]
fn the_lifecycle_tells_a_running_workload_from_a_manifest() {
    let mut inventory = plum();
    assert_eq!(read(&inventory)["metadata"]["lifecycles"], json!([{"phase": "discovery"}]));
    inventory.origin = Origin::Cluster;
    assert_eq!(read(&inventory)["metadata"]["lifecycles"], json!([{"phase": "operations"}]));
}

#[test]
fn both_forms_end_in_one_newline_and_say_the_same() {
    let document = checked(&plum(), &options());
    for text in [document.json(), &document.to_json_pretty()] {
        assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), document.to_value());
    }
    assert!(!document.json().trim_end().contains('\n'));
}

#[test]
fn tools_have_their_digests_and_evidence_names_the_scraper() {
    let document = read(&plum());
    assert_eq!(
        document["metadata"]["tools"]["components"],
        json!([
            {
                "type": "application", "bom-ref": "tool:apps-scraper", "name": "apps-scraper", "version": "1.0.0",
                "hashes": [{"alg": "SHA-256", "content": DIGEST}]
            },
            {"type": "application", "bom-ref": "tool:bom-writer", "name": "bom-writer", "version": "0.3.0"}
        ])
    );
    assert_eq!(named(&document, "plumserve")["evidence"]["identity"][0]["tools"], json!(["tool:apps-scraper"]));
}

#[test]
fn a_value_that_lost_is_kept_with_less_confidence() {
    let document = read(&plum());
    let model = named(&document, "Plum-7B-Chat");
    let loser =
        model["evidence"]["identity"].as_array().unwrap().iter().find(|entry| entry["concludedValue"] == "plum-labs/Plum-3B").unwrap();
    assert!(loser["confidence"].as_f64() < model["evidence"]["identity"][0]["confidence"].as_f64());
    assert_eq!(loser["methods"][0]["value"], "/spec/containers/0/env/2/value (PLUM_MODEL)");
    assert_eq!(values(model, "aibom.conflict"), ["/spec/containers/0/env/2/value (PLUM_MODEL)"]);
}

#[test]
fn a_value_that_lost_is_as_strong_as_the_best_place_that_gives_it() {
    let mut inventory = plum();
    inventory.models[0].finding.conflicts = vec![
        evidence("/spec/a", Source::EnvVarConvention, "plum-labs/Plum-3B", "MODEL", "server"),
        evidence("/spec/b", Source::EnvVar, "plum-labs/Plum-3B", "PLUM_MODEL", "server"),
    ];
    let document = read(&inventory);
    let entries = named(&document, "Plum-7B-Chat")["evidence"]["identity"].as_array().unwrap();
    let losers: Vec<&Value> = entries.iter().filter(|entry| entry["concludedValue"] == "plum-labs/Plum-3B").collect();
    assert_eq!(losers.len(), 1);
    assert_eq!(losers[0]["confidence"], 0.8);
    assert_eq!(losers[0]["methods"].as_array().unwrap().len(), 2);
}

#[test]
fn places_in_related_objects_name_the_object() {
    let document = read(&plum());
    let model = named(&document, "Plum-7B-Chat");
    let places: Vec<&str> =
        model["evidence"]["occurrences"].as_array().unwrap().iter().map(|place| place["location"].as_str().unwrap()).collect();
    assert!(places.contains(&"apps/v1/Cache/orchard/plum-cache#/spec/source"), "{places:?}");
    assert!(places.contains(&"apps/v1/Deployment/orchard/plum#/spec/containers/0/args/1"), "{places:?}");
    assert_eq!(values(&document["metadata"]["component"], "aibom.related.object"), ["apps/v1/Cache/orchard/plum-cache"]);
}

#[test]
fn what_could_not_be_read_is_named_by_content_and_not_by_position() {
    let document = read(&plum());
    let root = &document["metadata"]["component"];
    assert_eq!(
        values(root, "aibom.unresolved.draft"),
        ["secret plum-settings/draft at apps/v1/Deployment/orchard/plum#/spec/containers/0/env/1/valueFrom"]
    );
    assert_eq!(values(root, "aibom.problem"), ["a container is no object at apps/v1/Deployment/orchard/plum#/spec/containers/2"]);
}

#[test]
fn an_adapter_names_its_base_and_a_model_its_training_data() {
    let mut inventory = plum();
    let dataset = finding(Class::Data, "dataset/stones", Confidence::Declared, vec![]);
    inventory.models[0].finding.needs.insert(dataset.key.clone());
    inventory.data.push(Data { finding: dataset, kind: DataKind::Dataset, name: "plum-labs/stones".to_owned() });
    let document = read(&inventory);
    let base = named(&document, "Plum-7B-Chat");
    let adapter = named(&document, "/adapters/stone");
    assert_eq!(adapter["pedigree"]["ancestors"][0]["purl"], base["purl"]);
    assert_eq!(base["modelCard"]["modelParameters"]["datasets"], json!([{"ref": named(&document, "plum-labs/stones")["bom-ref"]}]));
    assert_eq!(named(&document, "plum-labs/stones")["data"], json!([{"type": "dataset", "name": "plum-labs/stones"}]));
}

#[test]
fn a_service_inside_the_cluster_crosses_no_trust_boundary() {
    let mut inventory = empty();
    for (name, endpoint, crosses) in [
        ("outside", "https://api.pear.example/v1", true),
        ("inside", "http://pear.orchard.svc.cluster.local:8000/v1", false),
        ("bare", "http://pear:8000", false),
        ("self", "http://127.0.0.1:8000", false),
        ("unknown", "", true),
    ] {
        inventory.services.push(Service {
            finding: finding(Class::Service, name, Confidence::Inferred, vec![]),
            endpoints: [endpoint.to_owned()].into_iter().filter(|endpoint| !endpoint.is_empty()).collect(),
        });
        assert_eq!(named(&read(&inventory), name)["x-trust-boundary"], crosses, "{name}");
    }
}

#[test]
fn a_scraper_cannot_speak_in_the_hosts_name() {
    let mut inventory = plum();
    inventory.models[0].finding.property("aibom.confidence", "verified");
    inventory.models[0].finding.property("aibom.model.role", "judge");
    inventory.data[0].finding.property("aibom.source", "s3://plum-weights");
    inventory.properties.insert("aibom.source".to_owned(), ["forged".to_owned()].into());
    inventory.properties.insert("aibom.workload.uid".to_owned(), ["forged".to_owned()].into());
    let document = read(&inventory);
    let model = named(&document, "Plum-7B-Chat");
    assert_eq!(values(model, "aibom.confidence"), ["declared"]);
    assert_eq!(values(model, "aibom.model.role"), ["main"]);
    assert_eq!(values(&document["metadata"]["component"], "aibom.workload.uid"), [""; 0]);
    assert_eq!(values(&document["metadata"]["component"], "aibom.source"), ["manifest"]);
    assert_eq!(values(named(&document, "weights"), "aibom.source"), ["s3://plum-weights"], "no name of the host's on data");
}

#[test]
fn a_secret_is_taken_out_wherever_it_stands() {
    let secret = "glpat-AbCdEfGhIjKlMnOpQrSt";
    let mut inventory = plum();
    inventory.models.push(model(ModelReference::Uri(format!("https://me:{secret}@files.plum.example/w")), "/spec/a"));
    inventory.models.push(model(hub("plum-labs", secret), "/spec/b"));
    inventory.models[0].sources.insert(format!("https://files.plum.example/w?token={secret}"));
    inventory.images.push(image(&format!("registry.plum.example/{secret}"), "/spec/c", secret));
    inventory.runtimes[0].finding.property(format!("a.{secret}"), format!("x {secret}"));
    inventory.properties.insert(secret.to_owned(), [secret.to_owned()].into());
    let mut service =
        finding(Class::Service, secret, Confidence::Inferred, vec![evidence("/spec/d", Source::EnvVar, secret, secret, secret)]);
    service.needs.insert(Key::new(Class::Model, format!("plum-labs/{secret}")));
    inventory.services.push(Service { finding: service, endpoints: [format!("https://{secret}@api.pear.example/")].into() });
    inventory.objects[0].name = secret.to_owned();
    let document = checked(&inventory, &options());
    assert!(!document.json().contains(secret));
    let value = document.to_value();
    let marked =
        value["components"].as_array().unwrap().iter().filter(|component| !values(component, "aibom.redaction.applied").is_empty());
    assert!(marked.count() >= 4);
    assert_eq!(lint::lint(&value), []);
}

#[test]
fn a_long_text_is_cut_and_marked() {
    let mut inventory = plum();
    inventory.models.push(model(ModelReference::Path(format!("/{}", "p".repeat(5000))), "/spec/long"));
    inventory.models.push(model(ModelReference::Path(format!("/{}q", "p".repeat(5000))), "/spec/longer"));
    let document = read(&inventory);
    let long: Vec<_> = document["components"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|component| component["name"].as_str().unwrap().starts_with("/ppp"))
        .collect();
    assert_eq!(long.len(), 2, "what differs only behind the cut stays apart");
    for component in long {
        assert_eq!(component["name"].as_str().unwrap().chars().count(), 1024);
        assert_eq!(values(component, "aibom.truncation.applied"), ["text"]);
    }
}

#[test]
fn the_word_never_says_more_than_the_number() {
    let mut inventory = empty();
    let mut guess = model(ModelReference::Name("plum2".to_owned()), "/spec/x");
    guess.finding.evidence[0].source = Source::EnvVarConvention;
    inventory.models.push(guess);
    let mut unsure = model(ModelReference::Name("plum3".to_owned()), "/spec/y");
    unsure.finding.confidence = Confidence::Inferred;
    inventory.models.push(unsure);
    let document = read(&inventory);
    assert_eq!(values(named(&document, "plum2"), "aibom.confidence"), ["inferred"]);
    assert_eq!(named(&document, "plum3")["evidence"]["identity"][0]["confidence"], 0.5);
    assert_eq!(values(&document["metadata"], "aibom.confidence"), ["inferred"]);
}

#[test]
fn the_same_name_in_two_namespaces_has_two_references() {
    let mut a = plum();
    let reference = |inventory: &aibom_facts::inventory::Inventory| {
        render(inventory, &options()).to_value()["metadata"]["component"]["bom-ref"].clone()
    };
    assert_eq!(reference(&a), "k8s:manifest/apps/Deployment/orchard/plum");
    let first = reference(&a);
    a.objects[0] = object("Deployment", "plum");
    a.objects[0].namespace = Some("garden".to_owned());
    assert_ne!(reference(&a), first);
}
