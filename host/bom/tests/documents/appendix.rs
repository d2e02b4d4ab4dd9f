//! The worked example of the study of the peer: an embedding server with one model that two places name.

use std::collections::BTreeSet;

use aibom_facts::inventory::{Category, Class, Confidence, ContainerUse, Data, DataKind, Image, Inventory, Origin, Runtime, Source};
use aibom_facts::model::ModelReference;
use aibom_facts::object::ObjectRef;
use aibom_facts::report::{ContainerClass, Duty};
use serde_json::json;

use crate::sample::{evidence, finding, hub, image, model};
use crate::{named, read, values};

const CONTAINER: &str = "/spec/template/spec/containers/0";

fn inventory() -> Inventory {
    let subject = ObjectRef {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: "StatefulSet".to_owned(),
        namespace: Some("rag".to_owned()),
        name: "embed".to_owned(),
        uid: None,
    };
    let mut inventory = Inventory::new(vec![subject], Origin::Manifest);
    inventory.categories.insert(Category::Inference, Vec::new());

    let server = image("ghcr.io/huggingface/text-embeddings-inference:1.5", &format!("{CONTAINER}/image"), "tei");
    let fetch = Image {
        containers: vec![ContainerUse {
            name: "fetch".to_owned(),
            class: ContainerClass::Init,
            template: String::new(),
            duty: Duty::Unknown,
        }],
        ..image("alpine:3.20", "/spec/template/spec/initContainers/0/image", "fetch")
    };
    let mut embedding = model(hub("BAAI", "bge-m3"), &format!("{CONTAINER}/args/1"));
    embedding.finding.evidence = vec![
        evidence(&format!("{CONTAINER}/args/1"), Source::ContainerArg, "BAAI/bge-m3", "--model-id", "tei"),
        evidence(&format!("{CONTAINER}/env/0/value"), Source::EnvVarConvention, "bge", "MODEL_NAME", "tei"),
    ];
    embedding.served.insert("bge".to_owned());
    let mut runtime = finding(
        Class::Runtime,
        "tei",
        Confidence::Inferred,
        vec![
            evidence(&format!("{CONTAINER}/image"), Source::ImagePattern, "tei", "huggingface/text-embeddings-inference", "tei"),
            evidence(&format!("{CONTAINER}/image"), Source::ImageTag, "1.5", "", "tei"),
        ],
    );
    runtime.needs = [server.finding.key.clone(), embedding.finding.key.clone()].into();
    let mut volume = finding(
        Class::Data,
        "volume/w",
        Confidence::Inferred,
        vec![evidence(&format!("{CONTAINER}/volumeMounts/0"), Source::VolumeSource, "weights-pvc", "w -> /models/bge", "tei")],
    );
    volume.property("volume.name", "w");
    volume.property("volume.mountPath", "/models/bge");
    volume.property("volume.source", "persistentVolumeClaim");
    embedding.finding.needs.insert(volume.key.clone());

    inventory.images = vec![server, fetch];
    inventory.models = vec![embedding];
    inventory.runtimes = vec![Runtime { finding: runtime, version: Some("1.5".to_owned()), framework: false }];
    inventory.data = vec![Data { finding: volume, kind: DataKind::Volume, name: "weights-pvc".to_owned() }];
    inventory
}

#[test]
fn the_worked_example_has_its_components_with_one_model_of_two_pieces_of_evidence() {
    let document = read(&inventory());
    let components: Vec<(&str, String, &str, &str, &str)> = document["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|component| {
            let name = component["name"].as_str().unwrap();
            let full = component["group"].as_str().map_or_else(|| name.to_owned(), |group| format!("{group}/{name}"));
            (
                component["type"].as_str().unwrap(),
                full,
                component["version"].as_str().unwrap_or_default(),
                values(component, "aibom.confidence")[0],
                values(component, "aibom.evidence.source")[0],
            )
        })
        .collect();
    let expected = [
        ("application", "tei", "1.5", "inferred", "image_pattern"),
        ("container", "docker.io/library/alpine", "3.20", "declared", "image_reference"),
        ("container", "ghcr.io/huggingface/text-embeddings-inference", "1.5", "declared", "image_reference"),
        ("data", "weights-pvc", "", "inferred", "volume_source"),
        ("machine-learning-model", "BAAI/bge-m3", "", "declared", "container_arg"),
    ];
    assert_eq!(components, expected.map(|(a, b, c, d, e)| (a, b.to_owned(), c, d, e)));
    assert_eq!(values(&document["metadata"], "aibom.confidence"), ["inferred"]);
}

#[test]
fn the_model_of_the_worked_example_names_both_places() {
    let document = read(&inventory());
    let model = named(&document, "bge-m3");
    assert_eq!(
        model["evidence"]["identity"],
        json!([
            {
                "field": "purl",
                "confidence": 0.9,
                "concludedValue": "pkg:huggingface/BAAI/bge-m3",
                "methods": [{"technique": "manifest-analysis", "confidence": 0.9, "value": format!("{CONTAINER}/args/1 (--model-id)")}],
                "tools": ["tool:bom-writer"]
            },
            {
                "field": "name",
                "confidence": 0.5,
                "concludedValue": "bge",
                "methods": [{"technique": "manifest-analysis", "confidence": 0.5, "value": format!("{CONTAINER}/env/0/value (MODEL_NAME)")}],
                "tools": ["tool:bom-writer"]
            }
        ])
    );
    let locations: BTreeSet<&str> =
        model["evidence"]["occurrences"].as_array().unwrap().iter().map(|place| place["location"].as_str().unwrap()).collect();
    let place = |end: &str| format!("apps/v1/StatefulSet/rag/embed#{CONTAINER}{end}");
    assert_eq!(locations, [place("/args/1"), place("/env/0/value")].iter().map(String::as_str).collect());
    assert_eq!(values(model, "model.served-name"), ["bge"]);
    assert_eq!(values(model, "aibom.evidence.locator"), [format!("{CONTAINER}/args/1 (--model-id)")]);
}

#[test]
fn a_bare_name_is_a_model_of_its_own_only_when_the_inventory_says_so() {
    let mut inventory = inventory();
    inventory.models.push(model(ModelReference::Name("bge".to_owned()), &format!("{CONTAINER}/env/0/value")));
    let document = read(&inventory);
    assert!(named(&document, "bge").get("purl").is_none());
}
