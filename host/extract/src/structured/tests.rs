//! Kinds with structure of their own, by reports made by hand.

use super::*;

const GRAPH: &str = "apiVersion: example.com/v1
kind: DynamoGraphDeployment
metadata: {name: g}
spec:
  backendFramework: vllm
  env: [{name: MODEL, value: org/m}, {name: SERVED, value: m}]
  components:
  - name: front
    podTemplate: {spec: {containers: [{name: main, image: 'nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0', args: [-m, dynamo.frontend, --model-name, m], env: [{name: MODEL_NAME, value: org/m}]}]}}
  - name: work
    podTemplate: {spec: {containers: [{name: main, image: 'registry.corp/worker:1', command: [python3, -m, dynamo.vllm, --model, $(MODEL), --served-model-name, $(SERVED)]}]}}
";

fn graph_report() -> Report {
    let mut front = template("/spec/components/0/podTemplate", "front", Duty::Infrastructure);
    let mut work = template("/spec/components/1/podTemplate", "work", Duty::Engine);
    for part in [&mut front, &mut work] {
        part.inherited_env.push(at("/spec/env"));
    }
    let mut engine = item(ItemClass::Runtime, "vllm", Basis::Declared, "/spec/backendFramework");
    engine.uses.push("work".to_owned());
    Report {
        categories: vec!["inference".to_owned(), "cooking".to_owned()],
        items: vec![item(ItemClass::Runtime, "dynamo", Basis::Implied, "/kind"), engine],
        pod_templates: vec![front, work],
        ..Report::default()
    }
}

#[test]
fn plumbing_that_repeats_a_workers_model_adds_places_and_no_model() {
    let found = read(GRAPH, &graph_report());
    let model = only(&found);
    assert_eq!((model.reference.id().as_str(), model.role), ("org/m", Role::Main));
    let want = [
        "/spec/components/1/podTemplate/spec/containers/0/command/4",
        "/spec/env/0/value",
        "/spec/components/0/podTemplate/spec/containers/0/env/0/value",
    ];
    assert_eq!(model.finding.evidence.iter().map(|evidence| evidence.at.pointer.as_str()).collect::<Vec<_>>(), want);
    assert_eq!(runtimes(&found), ["dynamo", "vllm"]);
    assert_eq!(categories(&found), ["inference"]);
    let vllm: Vec<_> = found.runtimes[1].finding.evidence.iter().map(|evidence| evidence.source).collect();
    assert_eq!(vllm, [Source::CrdField, Source::ContainerArg]);
}

#[test]
fn plumbing_without_a_worker_names_a_target() {
    let mut report = graph_report();
    report.pod_templates.truncate(1);
    let yaml = GRAPH.replace("--model-name, m]", "--model-path, org/m]");
    assert_eq!(names(&read(&yaml, &report)), ["target org/m"]);
}

#[test]
fn a_declared_engine_reads_the_arguments_of_an_unknown_image() {
    let yaml = GRAPH.replace(
        "command: [python3, -m, dynamo.vllm, --model, $(MODEL), --served-model-name, $(SERVED)]",
        "args: [--model, org/n, --dtype, half]",
    );
    assert_eq!(names(&read(&yaml, &graph_report())), ["main org/n"]);
}

#[test]
fn a_declared_runtime_needs_the_images_and_models_of_its_containers() {
    let found = read(GRAPH, &graph_report());
    let needs = |index: usize| found.runtimes[index].finding.needs.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(needs(0), ["image/registry.corp/worker:1", "model/org/m"]);
    assert_eq!(needs(1), ["image/registry.corp/worker:1", "model/org/m"]);
}

#[test]
fn a_volume_that_an_item_mounts_holds_the_model_below_it() {
    let mut report = graph_report();
    let mut volume = item(ItemClass::Volume, "weights", Basis::Declared, "/metadata/name");
    volume.uses.push("work".to_owned());
    let path = Claim { text: "/weights".to_owned(), basis: Basis::Declared, at: vec![at("/metadata/name")] };
    volume.properties.push(aibom_facts::report::Property { name: "volume.mountPath".to_owned(), value: path });
    report.items.push(volume);
    let yaml = GRAPH.replace("{name: MODEL, value: org/m}", "{name: MODEL, value: /weights/m}");
    let found = read(&yaml, &report);
    let model = found.models.iter().find(|model| model.role == Role::Main).unwrap();
    assert_eq!(model.finding.needs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["data/persistentVolumeClaim/weights"]);
}

#[test]
fn declared_models_join_those_of_command_lines() {
    let mut report = graph_report();
    report.items.push(item(ItemClass::Model, "org/m", Basis::Declared, "/spec/env/0/value"));
    let mut adapter = item(ItemClass::Adapter, "hf://org/lora:v1", Basis::Derived, "/metadata/name");
    adapter.id = "lora".to_owned();
    report.items.push(adapter);
    let found = read(GRAPH, &report);
    assert_eq!(names(&found), ["adapter org/lora", "main org/m"]);
    assert_eq!(found.models[0].revision.as_deref(), Some("v1"));
    assert_eq!(found.models[0].finding.evidence[0].source, Source::Derived);
    assert_eq!(found.models[1].finding.evidence[0].source, Source::CrdField);
}

const NIM: &str = "apiVersion: example.com/v1
kind: NIMService
metadata: {name: n}
spec: {image: {repository: nvcr.io/nim/meta/llama-3.1-8b-instruct, tag: '1.8'}, storage: {cache: c}, env: [{name: NIM_USE_SGLANG, value: '1'}]}
";

fn nim_report() -> Report {
    let image = Claim {
        text: "nvcr.io/nim/meta/llama-3.1-8b-instruct:1.8".to_owned(),
        basis: Basis::Declared,
        at: vec![at("/spec/image/repository"), at("/spec/image/tag")],
    };
    let container = Container {
        name: "n".to_owned(),
        class: ContainerClass::Main,
        template: String::new(),
        image: Some(image),
        command: None,
        args: vec![],
        env: vec![at("/spec/env")],
        env_from: vec![],
        volume_mounts: None,
        resources: None,
        properties: vec![],
    };
    let mut cache = item(ItemClass::Configuration, "c", Basis::Declared, "/spec/storage/cache");
    cache.role = "model-source".to_owned();
    Report {
        categories: vec!["inference".to_owned()],
        items: vec![item(ItemClass::Runtime, "nim", Basis::Implied, "/kind"), cache],
        containers: vec![container],
        ..Report::default()
    }
}

#[test]
fn a_model_image_names_its_model_and_a_cache_beside_it_is_no_question() {
    let mut report = nim_report();
    report.items.push(item(ItemClass::Model, "meta/llama-3.1-8b-instruct", Basis::Derived, "/spec/image/repository"));
    let found = read(NIM, &report);
    let model = only(&found);
    assert_eq!((model.reference.form(), model.reference.id().as_str()), ("name", "meta/llama-3.1-8b-instruct"));
    assert_eq!(model.finding.evidence.len(), 1, "one place, one piece of evidence: {:?}", model.finding.evidence);
    assert_eq!(runtimes(&found), ["nim", "sglang"]);
    assert!(found.unresolved.is_empty(), "{:?}", unresolved(&found));
}

#[test]
fn a_preset_is_the_answer_when_the_image_names_no_model() {
    let mut report = nim_report();
    report.containers[0].image.as_mut().unwrap().text = "nvcr.io/nim/nvidia/llm-nim:1.8".to_owned();
    assert_eq!(unresolved(&read(NIM, &report)), ["model preset /spec/storage/cache c"]);
    let yaml = NIM.replace(
        "{name: NIM_USE_SGLANG, value: '1'}",
        "{name: NIM_MODEL_NAME, value: 'hf://meta-llama/Llama-3.2-1B-Instruct'}, {name: NIM_SERVED_MODEL_NAME, value: 'a,b'}",
    );
    let found = read(&yaml, &report);
    assert_eq!(names(&found), ["main meta-llama/Llama-3.2-1B-Instruct"]);
    assert_eq!(only(&found).served.len(), 2);
    assert!(found.unresolved.is_empty());
}

#[test]
fn the_same_object_gives_the_same_inventory() {
    assert_eq!(read(GRAPH, &graph_report()), read(GRAPH, &graph_report()));
}

#[test]
fn an_empty_report_gives_an_inventory_without_facts() {
    let found = read("apiVersion: v1\nkind: Pod\nmetadata: {generation: 3}\nspec: null\n", &Report::default());
    assert!(!found.is_ai() && found.images.is_empty());
}

#[test]
fn the_version_of_an_image_in_two_fields_is_where_the_tag_stands() {
    let yaml = "apiVersion: example.com/v1
kind: Server
metadata: {name: s}
spec: {image: {repository: vllm/vllm-openai, tag: v0.8.5}}
";
    let image = Claim {
        text: "vllm/vllm-openai:v0.8.5".to_owned(),
        basis: Basis::Declared,
        at: vec![at("/spec/image/repository"), at("/spec/image/tag")],
    };
    let container = Container {
        name: "s".to_owned(),
        class: ContainerClass::Main,
        template: String::new(),
        image: Some(image),
        command: None,
        args: vec![],
        env: vec![],
        env_from: vec![],
        volume_mounts: None,
        resources: None,
        properties: vec![],
    };
    let found = read(yaml, &Report { containers: vec![container], ..Report::default() });
    let place_of = |source: Source| {
        let evidence = found.runtimes[0].finding.evidence.iter().find(|evidence| evidence.source == source).unwrap();
        evidence.at.pointer.as_str()
    };
    assert_eq!(place_of(Source::ImagePattern), "/spec/image/repository");
    assert_eq!(place_of(Source::ImageTag), "/spec/image/tag");
}
