use k8s_aibom_sdk::{Claim, Item, Node, Options, Report, Scraper, testing};

use super::{Nim, image};

fn fixture(name: &str) -> Report {
    let text = std::fs::read_to_string(format!("{}/fixtures/nimservice/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::scrape::<Nim>(&testing::documents(&text)).unwrap()
}

fn items<'a>(report: &'a Report, class: &str) -> Vec<&'a Item> {
    report.items.iter().filter(|item| item.class == class).collect()
}

fn names<'a>(report: &'a Report, class: &str) -> Vec<&'a str> {
    items(report, class).iter().map(|item| item.name.text.as_str()).collect()
}

fn property<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    report.properties.iter().find(|property| property.name == name).map(|property| property.value.text.as_str())
}

fn places(claim: &Claim) -> Vec<(u32, &str)> {
    claim.at.iter().map(|at| (at.object, at.pointer.as_str())).collect()
}

#[test]
fn a_pipeline_says_what_each_of_its_services_says_and_nothing_of_one_that_is_off() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/nimpipeline/two-services.yaml")).unwrap();
    let report = testing::scrape::<Nim>(&testing::documents(&text)).unwrap();
    let containers: Vec<&str> = report.containers.iter().map(|known| &*known.name).collect();
    assert_eq!(containers, ["plover-ctr", "dunlin-ctr", "watcher"]);
    // The other is named by a variable, which the host reads.
    let [model] = items(&report, "model")[..] else { panic!("one model") };
    assert_eq!(
        (&*model.name.text, &*model.id, model.version.as_ref().map(|version| &*version.text)),
        ("plovers/plover-8b-instruct", "plover.model", Some("0a1b2c3d"))
    );
    assert_eq!(places(&model.name)[0].0, 1, "its cache says so");
}

#[test]
fn the_image_path_names_the_model_where_nothing_is_declared() {
    let report = fixture("image-path");
    let model = items(&report, "model")[0];
    assert_eq!((model.name.text.as_str(), model.name.basis.as_str()), ("plovers/plover-8b-instruct", "derived"));
    assert_eq!(places(&model.name), [(0, "/spec/image/repository")]);
    assert!(model.version.is_none(), "the tag is the version of the NIM");
    // The NIMCache then only holds it.
    assert_eq!(items(&report, "configuration")[0].role, "cache");
}

#[test]
fn a_model_for_search_has_the_role_that_its_name_says() {
    let roles = ["nvidia/nv-embedqa-e5-v5", "nvidia/llama-3.2-nv-rerankqa-1b-v2", "plovers/plover-8b-instruct"].map(image::role);
    assert_eq!(roles, ["embedding", "reranker", "main"]);
}

#[test]
fn the_server_is_a_container_named_as_its_operator_names_it() {
    let report = fixture("image-path");
    let server = &report.containers[0];
    assert_eq!(server.name, "plover-ctr");
    let image = server.image.as_ref().unwrap();
    assert_eq!(image.text, "nvcr.io/nim/plovers/plover-8b-instruct:1.12.0");
    assert_eq!(places(image), [(0, "/spec/image/repository"), (0, "/spec/image/tag")]);
    assert_eq!(server.resources.as_ref().unwrap().pointer, "/spec/resources");
    assert_eq!(property(&report, "nim.authSecret"), Some("catalogue-key"));
}

#[test]
fn a_variable_that_names_the_model_silences_the_image_path() {
    let report = fixture("declared-by-variable");
    assert!(items(&report, "model").is_empty());
    let server = &report.containers[0];
    assert_eq!(server.env[0].pointer, "/spec/env");
    assert_eq!(server.command.as_ref().unwrap().pointer, "/spec/command");
    assert_eq!(property(&report, "nim.storage.emptyDir.sizeLimit"), Some("40Gi"));
    assert!(items(&fixture("declared-elsewhere"), "model").is_empty());
}

#[test]
fn a_variable_without_a_value_silences_nothing() {
    let text = "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, metadata: {name: a},
        spec: {image: {repository: nvcr.io/nim/terns/tern-1b}, env: [{name: NIM_MODEL_NAME}]}}";
    let report = testing::scrape::<Nim>(&testing::documents(text)).unwrap();
    assert_eq!(names(&report, "model"), ["terns/tern-1b"]);
    assert_eq!(report.containers[0].image.as_ref().unwrap().text, "nvcr.io/nim/terns/tern-1b");
}

#[test]
fn the_generic_image_leaves_the_model_to_a_cache_that_was_not_given() {
    let report = fixture("generic-image-unknown-cache");
    assert!(items(&report, "model").is_empty());
    let cache = items(&report, "configuration")[0];
    assert_eq!((cache.name.text.as_str(), cache.role.as_str()), ("avocet-store", "model-source"));
    assert_eq!(places(&cache.name), [(0, "/spec/storage/nimCache/name")]);
    assert_eq!(names(&report, "runtime"), ["nim", "tensorrt-llm"]);
}

#[test]
fn a_cache_filled_from_a_hub_declares_the_model_in_two_fields() {
    let report = fixture("cache-from-hub");
    let model = items(&report, "model")[0];
    assert_eq!((model.name.text.as_str(), model.name.basis.as_str()), ("avocets/Avocet-3B-Instruct", "declared"));
    assert_eq!(places(&model.name), [(1, "/spec/source/hf/namespace"), (1, "/spec/source/hf/modelName")]);
    assert_eq!(model.version.as_ref().unwrap().text, "77ab01d");
    assert_eq!(model.sources[0].text, "hf://avocets/Avocet-3B-Instruct");
    assert_eq!(model.uses, ["storage"]);
    let cache = items(&report, "configuration")[0];
    assert_eq!((cache.id.as_str(), cache.role.as_str()), ("storage", "cache"));
    assert_eq!(names(&report, "volume"), ["avocet-store-pvc"]);
}

#[test]
fn a_cache_filled_by_an_image_agrees_with_the_image_path() {
    let report = fixture("cache-from-catalogue");
    let model = items(&report, "model")[0];
    assert_eq!(model.name.text, "godwits/godwit-70b");
    assert_eq!(places(&model.name), [(0, "/spec/image/repository"), (1, "/spec/source/ngc/modelPuller")]);
    assert_eq!(names(&report, "runtime"), ["nim", "tensorrt-llm"]);
    assert_eq!(names(&report, "volume"), ["shared-weights"]);
}

#[test]
fn a_cache_filled_from_a_data_store_says_where_it_came_from() {
    let report = fixture("cache-from-data-store");
    let model = items(&report, "model")[0];
    assert_eq!(model.name.text, "knots/knot-2b-tuned");
    assert_eq!(model.sources[0].text, "http://store.shore.svc:3000/v1/hf");
    assert_eq!(names(&report, "volume"), ["/srv/knots"]);
}

#[test]
fn the_cache_is_asked_for_in_the_namespace_of_the_service() {
    let text = "{apiVersion: apps.nvidia.com/v1alpha1, kind: NIMService, metadata: {name: a, namespace: shore},
        spec: {storage: {nimCache: {name: store}}}}";
    let object = Node::new(0, testing::documents(text).remove(0));
    let wants = Nim::related(&object, &Options::new("{}")).unwrap();
    assert_eq!(wants.len(), 1);
    let want = &wants[0];
    assert_eq!((want.kind.as_str(), want.namespace.as_deref(), want.name.as_str()), ("NIMCache", Some("shore"), "store"));
    assert_eq!(want.at.pointer, "/spec/storage/nimCache/name");
}

#[test]
fn several_nodes_are_described_in_old_and_new_words() {
    let report = fixture("multi-node");
    assert_eq!(property(&report, "nim.multiNode"), Some("true"));
    assert_eq!(property(&report, "nim.multiNode.backendType"), Some("lws"));
    assert_eq!(property(&report, "nim.multiNode.parallelism.tensor"), Some("8"));
    assert_eq!(names(&report, "runtime"), ["nim", "sglang"]);
    assert_eq!(names(&report, "volume"), ["whimbrel-pvc"]);
    let report = fixture("multi-node-of-2025");
    assert_eq!(property(&report, "nim.multiNode.size"), Some("2"));
    assert_eq!(property(&report, "nim.multiNode.gpusPerPod"), Some("8"));
    assert_eq!(property(&report, "nim.inferencePlatform"), Some("kserve"));
    assert_eq!(property(&report, "nim.storage.pvc.name"), Some("whimbrel-weights"));
}

#[test]
fn helpers_are_containers_of_their_class() {
    let report = fixture("helpers");
    let found: Vec<_> = report
        .containers
        .iter()
        .map(|container| (container.name.as_str(), container.class.as_str(), container.image.as_ref().unwrap().text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("ruff-ctr", "main", "registry.shore.example/nim-internal/vllm-ruff-7b:2.0.0"),
            ("prepare", "init", "registry.shore.example/tools/prepare:4"),
            ("meter", "sidecar", "registry.shore.example/tools/meter:1.2"),
            ("picker", "sidecar", "registry.shore.example/gateway/epp:v1.3.1"),
        ]
    );
    // An image outside the catalogue names no model; its name can say which engine it holds.
    assert!(items(&report, "model").is_empty());
    assert_eq!(names(&report, "runtime"), ["nim", "vllm"]);
}

#[test]
fn only_paths_of_the_catalogue_with_organisation_and_name_are_models() {
    assert_eq!(image::model("nvcr.io/nim/a/b").as_deref(), Some("a/b"));
    assert_eq!(image::model("nvcr.io/nim/a/b:1.0@sha256:00").as_deref(), Some("a/b"));
    for none in [
        "nvcr.io/nim/nvidia/llm-nim",
        "nvcr.io/nim/nvidia/llm-nim:1.12",
        "nvcr.io/nim/a",
        "nvcr.io/nim/a/b/c",
        "nvcr.io/nim//b",
        "nvcr.io/nvstaging/a/b",
        "mirror.example/nim/a/b",
        "nim/a/b",
        "",
    ] {
        assert_eq!(image::model(none), None, "{none}");
    }
}

#[test]
fn engines_are_whole_words() {
    assert_eq!(image::engine("tensorrt_llm-h100-fp8-tp1-latency"), Some("tensorrt-llm"));
    assert_eq!(image::engine("vLLM"), Some("vllm"));
    assert_eq!(image::engine("vllmish-sglangs"), None);
    assert_eq!(image::engine("tensorrt"), None);
}

#[test]
fn wrong_types_are_problems_and_hide_nothing_else() {
    let report = fixture("wrong-types");
    let messages: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    for expected in [
        "expected a string at /spec/image/tag, found a fraction; put it in quotes",
        "expected a list at /spec/env, found an object",
        "expected an object at /spec/initContainers/0, found null",
        "expected a string at /spec/initContainers/2/name, found a number",
        "expected an object at /spec/storage/nimCache, found a string",
        "expected a string at /spec/storage/hostPath, found an object",
        "expected an object at /spec/multiNode/parallelism, found a number",
        "`moon` is none of standalone, kserve",
    ] {
        assert!(messages.contains(&expected), "{expected} is missing from {messages:#?}");
    }
    // 1.10 without quotes reads as 1.1, which may be another image: the host takes what is said of it as derived (see the fixture's
    // expected report).
    assert_eq!(report.containers[0].image.as_ref().unwrap().text, "nvcr.io/nim/crooks/crook-1b:1.1");
    assert_eq!(names(&report, "model"), ["crooks/crook-1b"]);
}

#[test]
fn an_empty_object_is_a_nim_all_the_same() {
    for (name, problem) in [
        ("empty-spec", "expected an object at /spec/image, found nothing"),
        ("no-spec", "expected an object at /spec, found nothing"),
        ("no-image", "the image has no repository"),
    ] {
        let report = fixture(name);
        assert_eq!(report.problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>(), [problem], "{name}");
        assert_eq!(names(&report, "runtime"), ["nim"], "{name}");
        assert_eq!(report.categories, ["inference"], "{name}");
    }
}

#[test]
fn no_change_of_a_field_stops_the_scraper() {
    testing::survives_mutations::<Nim>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
}
