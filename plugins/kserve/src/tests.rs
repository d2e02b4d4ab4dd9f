use k8s_aibom_sdk::{Claim, Container, Failure, Item, Node, Options, Report, Scraper, testing};

use super::KServe;

fn fixture(name: &str) -> Report {
    let text = std::fs::read_to_string(format!("{}/fixtures/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::scrape::<KServe>(&testing::documents(&text)).unwrap()
}

fn read(yaml: &str) -> Result<Report, Failure> {
    testing::scrape::<KServe>(&testing::documents(yaml))
}

fn items<'a>(report: &'a Report, class: &str) -> Vec<&'a Item> {
    report.items.iter().filter(|item| item.class == class).collect()
}

fn names<'a>(report: &'a Report, class: &str) -> Vec<&'a str> {
    items(report, class).iter().map(|item| item.name.text.as_str()).collect()
}

fn property<'a>(item: &'a Item, name: &str) -> Option<&'a str> {
    item.properties.iter().find(|property| property.name == name).map(|property| property.value.text.as_str())
}

fn places(claim: &Claim) -> Vec<(u32, &str)> {
    claim.at.iter().map(|at| (at.object, at.pointer.as_str())).collect()
}

fn container<'a>(report: &'a Report, template: &str, name: &str) -> &'a Container {
    report.containers.iter().find(|container| container.template == template && container.name == name).unwrap()
}

fn args(container: &Container) -> Vec<(u32, &str)> {
    container.args.iter().map(|at| (at.object, at.pointer.as_str())).collect()
}

#[test]
fn a_predictor_stands_above_its_serving_runtime() {
    let report = fixture("inferenceservice/runtime-in-namespace");
    let server = container(&report, "predictor", "kserve-container");
    assert_eq!(places(server.image.as_ref().unwrap()), [(1, "/spec/containers/1/image")]);
    assert_eq!(args(server), [(1, "/spec/containers/1/args"), (0, "/spec/predictor/model/args")]);
    assert_eq!(server.env.iter().map(|at| at.object).collect::<Vec<_>>(), [1, 0]);
    assert_eq!(server.resources.as_ref().unwrap().object, 0);
    let helper = container(&report, "predictor", "sentry");
    assert_eq!((helper.class.as_str(), helper.env[0].pointer.as_str()), ("sidecar", "/spec/predictor/containers/0/env"));
    assert_eq!(names(&report, "volume"), ["compiled-kernels"]);
    assert_eq!(items(&report, "configuration")[0].role, "serving-runtime");
}

#[test]
fn a_runtime_version_replaces_the_tag_whoever_names_the_image() {
    let image = |name: &str| container(&fixture(name), "predictor", "kserve-container").image.clone().unwrap();
    assert_eq!(image("inferenceservice/cluster-runtime").text, "nvcr.io/nim/acme/dunlin-8b:1.1.0");
    assert_eq!(image("inferenceservice/model").basis, "derived");
    let joined = image("inferenceservice/legacy");
    assert_eq!((joined.text.as_str(), joined.basis.as_str()), ("tensorflow/serving:2.14.1", "declared"));
    let of = |image: &str| {
        let yaml = format!(
            "{{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {{name: a}},
            spec: {{predictor: {{sklearn: {{image: '{image}', runtimeVersion: v2}}}}}}}}"
        );
        read(&yaml).unwrap().containers[0].image.clone().unwrap().text
    };
    assert_eq!(of("registry.example.com:5000/acme/server"), "registry.example.com:5000/acme/server:v2", "a port is no tag");
    assert_eq!(of("acme/server@sha256:0123"), "acme/server@sha256:0123");
}

#[test]
fn every_legacy_field_is_a_runtime_with_its_model() {
    let report = fixture("inferenceservice/every-legacy-field");
    let runtimes = ["sklearn", "xgboost", "lightgbm", "pmml", "paddle", "tensorflow-serving", "pytorch", "onnx", "triton", "huggingface"];
    assert_eq!(names(&report, "runtime"), runtimes);
    assert_eq!(items(&report, "model").len(), 9);
    assert_eq!(report.problems.len(), 1);
}

#[test]
fn a_model_that_only_the_runtime_names_is_left_to_it() {
    let source = |name: &str| {
        let report = fixture(name);
        let configuration = items(&report, "configuration")[0];
        (configuration.role.clone(), configuration.name.at[0].pointer.clone(), items(&report, "model").len())
    };
    let at = "/spec/predictor/model/runtime".to_owned();
    assert_eq!(source("inferenceservice/runtime-not-given"), ("model-source".to_owned(), at.clone(), 0));
    assert_eq!(source("inferenceservice/whole-claim"), ("model-source".to_owned(), at.clone(), 1), "a catalogue's cache names none");
    assert_eq!(source("inferenceservice/cluster-runtime"), ("serving-runtime".to_owned(), at, 1));
}

#[test]
fn the_runtime_that_the_controller_chose_is_asked_for_by_status() {
    let report = fixture("inferenceservice/chosen-by-controller");
    assert_eq!(container(&report, "predictor", "kserve-container").image.as_ref().unwrap().text, "kserve/sklearnserver:v0.15.2");
    assert!(KServe::describe().reads_status);
}

#[test]
fn runtimes_are_asked_for_in_the_namespace_and_then_in_the_cluster() {
    let yaml = "{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, metadata: {name: a, namespace: birds},
        spec: {predictor: {model: {runtime: r}}, canary: [{predictor: {model: {runtime: r}}}, {predictor: {model: {runtime: s}}}]}}";
    let object = Node::new(0, testing::documents(yaml).remove(0));
    let wants = KServe::related(&object, &Options::new("{}")).unwrap();
    let wants: Vec<_> = wants.iter().map(|want| (want.kind.as_str(), want.namespace.as_deref(), want.name.as_str())).collect();
    let both = |name| [("ServingRuntime", Some("birds"), name), ("ClusterServingRuntime", None, name)];
    assert_eq!(wants, [both("r"), both("s")].concat());
}

#[test]
fn a_path_in_a_bucket_is_an_address_and_a_path_alone_is_a_path() {
    let report = fixture("inferenceservice/storage");
    assert_eq!(names(&report, "model"), ["acme/stint", "s3://acme-birds/models/stint"]);
    assert_eq!(property(items(&report, "model")[0], "model.form"), Some("path"));
    assert_eq!(names(&report, "runtime"), ["onnx", "openvino"], "another server loads the second one");
}

#[test]
fn several_sources_have_a_directory_each() {
    let report = fixture("inferenceservice/storage-uris");
    let mounts: Vec<_> = items(&report, "model").iter().map(|item| property(item, "model.mountPath").unwrap()).collect();
    assert_eq!(mounts, ["/mnt/models/base", "/mnt/models/lora", "/mnt/models"]);
}

#[test]
fn a_container_of_ones_own_has_its_model_fetched_by_a_variable() {
    let report = fixture("inferenceservice/containers");
    assert_eq!(places(&items(&report, "model")[0].name), [(0, "/spec/predictor/containers/0/env/0/value")]);
    assert_eq!(report.pod_templates[0].at.pointer, "/spec/predictor");
    assert!(report.containers.is_empty(), "the host reads those of the template");
}

#[test]
fn a_transformer_is_plumbing_and_an_explainer_has_a_library_and_a_model() {
    let report = fixture("inferenceservice/transformer-and-explainer");
    let duties: Vec<_> = report.pod_templates.iter().map(|template| (template.name.as_str(), template.duty.as_str())).collect();
    assert_eq!(duties, [("predictor", "engine"), ("transformer", "infrastructure"), ("explainer", "")]);
    assert_eq!(names(&report, "runtime"), ["sklearn", "art", "alibi"]);
    assert_eq!(names(&report, "model"), ["gs://acme-birds/curlew", "gs://acme-birds/explainer", "s3://acme-birds/own"]);
    assert_eq!(names(&report, "volume"), ["gs://acme-birds/vocabulary", "gs://acme-birds/old"]);
}

#[test]
fn workers_run_the_runtimes_worker_and_have_the_model_too() {
    let report = fixture("inferenceservice/multi-node");
    let worker = container(&report, "predictor-worker", "worker-container");
    assert_eq!(args(worker), [(1, "/spec/workerSpec/containers/0/args"), (0, "/spec/predictor/workerSpec/containers/0/args")]);
    assert_eq!(items(&report, "model")[0].uses, ["predictor", "predictor-worker"]);
}

#[test]
fn both_versions_of_an_llm_service_say_the_same() {
    let (new, old) = (fixture("llminferenceservice/single"), fixture("llminferenceservice/single-v1alpha1"));
    assert_eq!(new.items, old.items);
    assert_eq!(new.pod_templates, old.pod_templates);
    assert_eq!(property(items(&new, "model")[0], "model.servedName"), Some("acme/plover-8b"));
    assert!(items(&new, "runtime").is_empty(), "the engine is the controller's choice");
}

#[test]
fn a_disaggregated_service_has_a_template_per_role_and_adapters_for_its_model() {
    let report = fixture("llminferenceservice/disaggregated");
    let templates: Vec<_> = report.pod_templates.iter().map(|template| (template.name.as_str(), template.duty.as_str())).collect();
    let engine = |name| (name, "engine");
    let mut want = ["workload", "worker", "prefill", "prefill-worker"].map(engine).to_vec();
    want.extend([("scheduler", "infrastructure"), ("tokenizer", "infrastructure")]);
    assert_eq!(templates, want);
    let adapters = items(&report, "adapter");
    assert_eq!(
        adapters.iter().map(|item| item.name.text.as_str()).collect::<Vec<_>>(),
        ["hf://acme/avocet-wading-lora", "pvc://adapters/flying"]
    );
    assert!(adapters.iter().all(|item| item.uses == ["model"]));
    assert_eq!(names(&report, "volume"), ["kv-store"]);
}

#[test]
fn an_llm_service_stands_above_its_configurations_and_the_last_of_them_counts_most() {
    let report = fixture("llminferenceservice/based");
    assert_eq!(places(&items(&report, "model")[0].name), [(1, "/spec/model/uri")]);
    let main = container(&report, "workload", "main");
    assert_eq!(places(main.image.as_ref().unwrap()), [(2, "/spec/template/containers/0/image")]);
    assert_eq!(main.command.as_ref().unwrap().object, 2);
    assert_eq!(args(main), [(0, "/spec/template/containers/0/args")], "arguments are replaced, not appended");
    assert_eq!(main.env.iter().map(|at| at.object).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(container(&report, "workload", "fetch").class, "init");
    let scheduler = report.pod_templates.iter().find(|template| template.name == "scheduler").unwrap();
    assert_eq!(scheduler.at.object, 2);
}

#[test]
fn a_configuration_that_was_not_given_may_name_the_model() {
    let report = fixture("llminferenceservice/base-not-given");
    let roles: Vec<_> = items(&report, "configuration").iter().map(|item| item.role.as_str()).collect();
    assert_eq!(roles, ["model-source"]);
}

#[test]
fn another_version_is_unsupported() {
    for object in [
        "{apiVersion: serving.kserve.io/v1alpha2, kind: InferenceService}",
        "{apiVersion: serving.kserve.io/v1, kind: LLMInferenceService}",
    ] {
        assert!(matches!(read(object), Err(Failure::Unsupported(_))), "{object}");
    }
}

#[test]
fn no_field_of_a_wrong_type_hides_the_others_or_ends_the_scrape() {
    assert!(testing::survives_mutations::<KServe>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures")) > 5_000);
}
