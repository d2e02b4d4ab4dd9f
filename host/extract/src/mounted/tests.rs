//! Models that items mount into templates.

use aibom_facts::inventory::{Inventory, Origin};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Basis, Claim, Duty, Item, ItemClass, PodTemplate, Property, Report};
use aibom_facts::tree::Tree;

use crate::{Rules, Subject, extract};

/// A service whose model is mounted, with one container in `first` and one in `second`.
fn service(uri: &str, first: &str, second: &str) -> String {
    format!(
        r#"{{"apiVersion":"example.com/v1","kind":"Service","metadata":{{"name":"s"}},"spec":{{"uri":"{uri}","served":"acme/plover-8b",
        "first":{{"containers":[{first}]}},"second":{{"containers":[{second}]}}}}}}"#
    )
}

const NONE: &str = r#"{"name":"none","image":"registry.example.com/acme/helper:1"}"#;

fn server(arguments: &str) -> String {
    format!(r#"{{"name":"main","image":"vllm/vllm-openai:v0.19.0","args":[{arguments}]}}"#)
}

fn at(pointer: &str) -> Locator {
    Locator::scraped(Pointer::parse(pointer).unwrap())
}

fn property(name: &str, value: &str, pointer: &str) -> Property {
    Property { name: name.to_owned(), value: Claim { text: value.to_owned(), basis: Basis::Implied, at: vec![at(pointer)] } }
}

fn report(uri: &str, properties: Vec<Property>) -> Report {
    let template = |pointer: &str, name: &str| PodTemplate {
        at: at(pointer),
        name: name.to_owned(),
        role: String::new(),
        duty: Duty::Engine,
        inherited_env: vec![],
        properties: vec![],
    };
    let model = Item {
        id: String::new(),
        class: ItemClass::Model,
        role: String::new(),
        name: Claim { text: uri.to_owned(), basis: Basis::Declared, at: vec![at("/spec/uri")] },
        version: None,
        sources: vec![],
        uses: vec!["first".to_owned()],
        properties,
    };
    Report {
        categories: vec!["inference".to_owned()],
        items: vec![model],
        pod_templates: vec![template("/spec/first", "first"), template("/spec/second", "second")],
        ..Report::default()
    }
}

fn read(json: &str, report: &Report) -> Inventory {
    let tree = Tree::from_json(json.as_bytes()).unwrap();
    let objects = [ObjectRef::of(&tree).unwrap()];
    extract(Rules::builtin(), &Subject { objects: &objects, trees: &[Some(&tree)], sought: &[], report, origin: Origin::Manifest })
}

fn mounted(uri: &str, arguments: &str) -> Inventory {
    let report = report(uri, vec![property("model.mountPath", "/mnt/models", "/spec/uri")]);
    read(&service(uri, &server(arguments), NONE), &report)
}

/// Role, identity and sources of each model.
fn models(inventory: &Inventory) -> Vec<String> {
    let models = inventory.models.iter().map(|model| {
        let sources: Vec<&str> = model.sources.iter().map(String::as_str).collect();
        format!("{} {} {}", model.role.as_str(), model.reference.id(), sources.join(",")).trim_end().to_owned()
    });
    models.collect()
}

#[test]
fn a_server_that_loads_from_the_mount_runs_the_mounted_model() {
    let uri = "s3://acme-bucket/plover";
    for path in ["/mnt/models", "/mnt/models/", "/mnt/models/1/plover.gguf"] {
        let found = mounted(uri, &format!(r#""--model={path}""#));
        assert_eq!(models(&found), [format!("main {uri}")], "{path}");
        let places: Vec<&str> = found.models[0].finding.evidence.iter().map(|known| known.at.pointer.as_str()).collect();
        assert_eq!(places, ["/spec/uri", "/spec/first/containers/0/args/0"]);
    }
    assert_eq!(models(&mounted(uri, r#""--model=/mnt/modelsx""#)).len(), 2, "another directory is another model");
}

#[test]
fn a_served_name_of_the_hubs_form_names_what_is_mounted_from_a_location() {
    let found = mounted("pvc://acme-claim/plover", r#""--model=/mnt/models", "--served-model-name", "acme/plover-8b""#);
    assert_eq!(models(&found), ["main acme/plover-8b pvc://acme-claim/plover"]);
    let hub = mounted("hf://acme/plover-8b-instruct", r#""--model=/mnt/models", "--served-model-name", "acme/alias""#);
    assert_eq!(models(&hub), ["main acme/plover-8b-instruct hf://acme/plover-8b-instruct"]);
    assert!(hub.models[0].served.contains("acme/alias"));
    assert!(hub.models[0].finding.evidence.iter().all(|known| known.value != "acme/alias"), "{:?}", hub.models[0].finding.evidence);
}

#[test]
fn a_repository_that_the_server_is_told_names_the_only_thing_fetched_for_it() {
    assert_eq!(models(&mounted("gs://acme/plover", r#""--model=acme/plover-8b""#)), ["main acme/plover-8b gs://acme/plover"]);
    assert_eq!(
        models(&mounted("hf://acme/other", r#""--model=acme/plover-8b""#)),
        ["main acme/other hf://acme/other", "main acme/plover-8b"],
        "two repositories are two models"
    );
}

#[test]
fn an_adapter_below_the_mount_is_a_model_of_its_own_and_a_tokenizer_is_none() {
    let arguments = r#""--model=/mnt/models", "--tokenizer=/mnt/models/tok", "--lora-modules", "a=/mnt/models/lora""#;
    assert_eq!(models(&mounted("s3://acme/plover", arguments)), ["adapter /mnt/models/lora", "main s3://acme/plover"]);
}

#[test]
fn what_a_server_loads_as_an_adapter_is_none_of_its_main_model() {
    let uri = "s3://acme/plover-lora";
    let arguments = r#""--model=acme/plover-8b", "--lora-modules", "birds=/mnt/models/""#;
    assert_eq!(models(&mounted(uri, arguments)), ["main acme/plover-8b", &format!("adapter {uri}")]);
}

#[test]
fn a_mount_means_the_model_of_its_own_template_only() {
    let uri = "s3://acme/plover";
    let report = report(uri, vec![property("model.mountPath", "/mnt/models", "/spec/uri")]);
    let found = read(&service(uri, NONE, &server(r#""--model=/mnt/models""#)), &report);
    assert_eq!(models(&found), ["main /mnt/models", "main s3://acme/plover"]);
}

#[test]
fn a_mounted_model_takes_the_role_of_the_server_unless_one_is_stated() {
    let uri = "s3://acme/plover";
    let embedder = r#"{"name":"main","image":"ghcr.io/huggingface/text-embeddings-inference:1.8","args":["--model-id=/mnt/models"]}"#;
    let mut report = report(uri, vec![property("model.mountPath", "/mnt/models", "/spec/uri")]);
    assert_eq!(models(&read(&service(uri, embedder, NONE), &report)), ["embedding s3://acme/plover"]);
    report.items[0].role = "main".to_owned();
    assert_eq!(models(&read(&service(uri, embedder, NONE), &report)), ["main s3://acme/plover"]);
}

#[test]
fn a_framework_that_also_trains_leaves_a_mounted_model_the_main_one() {
    let uri = "s3://acme/plover";
    let mut report = report(uri, vec![property("model.mountPath", "/mnt/models", "/spec/uri")]);
    let framework = Item {
        class: ItemClass::Runtime,
        name: Claim { text: "pytorch".to_owned(), basis: Basis::Implied, at: vec![at("/spec/first")] },
        properties: vec![],
        ..report.items[0].clone()
    };
    report.items.push(framework);
    let server = r#"{"name":"main","args":["--disable-token-auth"]}"#;
    assert_eq!(models(&read(&service(uri, server, NONE), &report)), ["main s3://acme/plover"]);
}

#[test]
fn a_served_name_of_an_item_is_evidence_identity_or_only_a_name() {
    let with = |uri: &str, served: &str| {
        let report = report(uri, vec![property("model.servedName", served, "/spec/served")]);
        read(&service(uri, NONE, NONE), &report)
    };
    let same = with("hf://acme/plover-8b", "acme/plover-8b");
    assert_eq!(models(&same), ["main acme/plover-8b hf://acme/plover-8b"]);
    assert_eq!(same.models[0].finding.evidence.len(), 2);
    assert_eq!(models(&with("pvc://acme-claim", "acme/plover-8b")), ["main acme/plover-8b pvc://acme-claim"]);
    let short = with("pvc://acme-claim", "plover");
    assert_eq!(models(&short), ["main pvc://acme-claim"]);
    assert!(short.models[0].served.contains("plover") && short.models[0].finding.properties.is_empty());
    assert!(with("pvc://acme-claim", "{{ .Name }}").models[0].served.is_empty());
}

#[test]
fn a_path_stays_one_however_much_it_looks_like_a_repository() {
    let report = report("acme/plover", vec![property("model.form", "path", "/spec/uri")]);
    let found = read(&service("acme/plover", NONE, NONE), &report);
    assert_eq!((found.models[0].reference.form(), models(&found)), ("path", vec!["main acme/plover".to_owned()]));
}

#[test]
fn an_item_with_a_hole_in_it_is_the_only_question() {
    let uri = "s3://${BUCKET}/plover";
    let found = mounted(uri, r#""--port=8000""#);
    assert!(found.models.is_empty());
    let asked: Vec<_> = found.unresolved.iter().map(|known| (known.at.pointer.as_str(), known.why.as_str())).collect();
    assert_eq!(asked, [("/spec/uri", "template")]);
}

#[test]
fn a_whole_claim_leaves_the_question_to_what_could_name_the_model() {
    let uri = "pvc://acme-claim/";
    let mut report = report(uri, vec![]);
    let preset = Item {
        class: ItemClass::Configuration,
        role: "model-source".to_owned(),
        name: Claim { text: "acme/plover-8b".to_owned(), basis: Basis::Declared, at: vec![at("/spec/served")] },
        ..report.items[0].clone()
    };
    report.items.push(preset);
    let asked = |report: &Report, uri: &str| read(&service(uri, NONE, NONE), report).unresolved.len();
    assert_eq!(asked(&report, uri), 1);
    report.items[0].name.text = "pvc://acme-claim/plover".to_owned();
    assert_eq!(asked(&report, uri), 0);
}
