use std::collections::BTreeSet;

use k8s_aibom_sdk::{Container, Item, Report, testing};
use serde_json::Value;

use super::Dynamo;

fn documents(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(format!("{}/fixtures/{path}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::documents(&text)
}

fn fixture(path: &str) -> Report {
    testing::scrape::<Dynamo>(&documents(path)).unwrap()
}

fn graph(name: &str) -> Report {
    fixture(&format!("dynamographdeployment/{name}"))
}

fn items<'a>(report: &'a Report, class: &str) -> Vec<&'a Item> {
    report.items.iter().filter(|item| item.class == class).collect()
}

fn container<'a>(report: &'a Report, template: &str, name: &str) -> &'a Container {
    let found = report.containers.iter().find(|container| container.template == template && container.name == name);
    found.unwrap_or_else(|| panic!("no container {name} in {template}"))
}

fn property<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    report.properties.iter().find(|property| property.name == name).map(|property| property.value.text.as_str())
}

/// What a report says apart from places, order and the containers and devices that v1beta1 leaves in the pod templates.
fn facts(report: &Report) -> BTreeSet<String> {
    let mut facts = BTreeSet::new();
    for item in report.items.iter().filter(|item| item.class != "device") {
        let version = item.version.as_ref().map(|version| version.text.as_str());
        let sorted: BTreeSet<_> = item.uses.iter().collect();
        facts.insert(format!("{} {} {} {version:?} {sorted:?}", item.class, item.role, item.name.text));
        facts.extend(item.properties.iter().map(|property| format!("{} {}={}", item.name.text, property.name, property.value.text)));
    }
    for template in &report.pod_templates {
        facts.insert(format!("template {} {} {}", template.name, template.role, template.duty));
        facts.extend(template.properties.iter().map(|property| format!("{} {}={}", template.name, property.name, property.value.text)));
    }
    facts.extend(report.properties.iter().map(|property| format!("{}={}", property.name, property.value.text)));
    facts.extend(report.categories.iter().cloned());
    facts
}

#[test]
fn b09_both_versions_of_a_graph_give_the_same_facts() {
    let (beta, alpha) = (graph("pair-v1beta1"), graph("pair-v1alpha1"));
    assert_eq!(facts(&beta), facts(&alpha));
    assert!(beta.problems.is_empty() && alpha.problems.is_empty());
}

#[test]
fn both_versions_of_a_component_give_the_same_facts() {
    let (beta, alpha) = (fixture("dynamocomponentdeployment/pair-v1beta1"), fixture("dynamocomponentdeployment/pair-v1alpha1"));
    assert_eq!(facts(&beta), facts(&alpha));
    assert!(beta.pod_templates[0].inherited_env.is_empty() && alpha.pod_templates[0].inherited_env.is_empty());
}

#[test]
fn a_component_without_a_name_has_that_of_its_object() {
    let report = fixture("dynamocomponentdeployment/unnamed");
    assert_eq!(report.pod_templates[0].name, "bittern");
}

#[test]
fn templates_carry_role_duty_and_the_env_of_the_graph() {
    let report = graph("pair-v1beta1");
    let templates: Vec<_> = report.pod_templates.iter().map(|t| (t.name.as_str(), t.role.as_str(), t.duty.as_str())).collect();
    assert_eq!(templates, [("Door", "frontend", "infrastructure"), ("Reader", "prefill", "engine"), ("Writer", "decode", "engine")]);
    assert_eq!(report.pod_templates[1].at.pointer, "/spec/components/1/podTemplate");
    for template in &report.pod_templates {
        assert_eq!(template.inherited_env.iter().map(|at| at.pointer.as_str()).collect::<Vec<_>>(), ["/spec/env"]);
    }
}

#[test]
fn plumbing_and_unknown_types_are_no_engines() {
    let report = graph("roles-and-plumbing");
    let duties: Vec<_> = report.pod_templates.iter().map(|t| (t.name.as_str(), t.duty.as_str())).collect();
    assert_eq!(duties, [("picker", "infrastructure"), ("planner", "infrastructure"), ("odd", "")]);
    assert_eq!(items(&report, "configuration")[0].name.text, "crane-picker");
    assert_eq!(property(&report, "dynamo.component.bare.type"), Some("worker"));
    assert_eq!(property(&report, "dynamo.component.odd.runtimeVersionOverride"), Some("1.5.0"));
}

#[test]
fn the_framework_is_a_runtime_beside_dynamo() {
    let report = graph("pair-v1beta1");
    let runtimes: Vec<_> = items(&report, "runtime").iter().map(|item| (item.name.text.as_str(), item.name.basis.as_str())).collect();
    assert_eq!(runtimes, [("dynamo", "implied"), ("tensorrt-llm", "derived")]);
    assert_eq!(items(&report, "runtime")[1].uses, ["Reader", "Writer"]);
    assert_eq!(property(&report, "dynamo.backendFramework"), Some("trtllm"));
}

#[test]
fn models_come_from_declared_fields_and_never_from_an_image() {
    let report = graph("pair-v1beta1");
    let models: Vec<_> = items(&report, "model").iter().map(|item| (item.name.at[0].pointer.as_str(), item.name.text.as_str())).collect();
    assert_eq!(
        models,
        [
            ("/spec/components/1/modelRef/name", "herons/heron-70b-instruct"),
            ("/spec/components/2/experimental/checkpoint/identity/model", "herons/heron-70b-instruct"),
        ]
    );
    assert_eq!(items(&report, "model")[0].version.as_ref().unwrap().text, "3f2a9c1");
    assert!(items(&graph("native-sidecar-engine"), "model").is_empty());
}

#[test]
fn the_main_container_of_a_service_is_put_together_from_both_places() {
    let report = graph("pair-v1alpha1");
    let main = container(&report, "Reader", "main");
    assert_eq!(main.image.as_ref().unwrap().text, "registry.lake.example/dynamo/trtllm-runtime:1.5.0");
    let env: Vec<_> = main.env.iter().map(|at| at.pointer.as_str()).collect();
    assert_eq!(env, ["/spec/services/Reader/envs"], "the env of the graph comes with the template");
    assert_eq!(main.env_from[0].pointer, "/spec/services/Reader/envFromSecret");
    assert_eq!(main.volume_mounts.as_ref().unwrap().pointer, "/spec/services/Reader/extraPodSpec/mainContainer/volumeMounts");
    assert_eq!(container(&report, "Writer", "sidecar-frontend").class, "main");
}

#[test]
fn devices_of_a_service_are_read_in_its_own_shape() {
    let report = graph("services-of-2025");
    let devices: Vec<_> = items(&report, "device")
        .iter()
        .map(|item| (item.name.text.as_str(), item.version.as_ref().unwrap().text.as_str(), item.name.at[0].pointer.as_str()))
        .collect();
    assert_eq!(
        devices,
        [
            ("gpu.maker.example/xe", "2", "/spec/services/Work/resources/limits/gpuType"),
            ("gpu.maker.example/slice", "1", "/spec/services/Work/resources/limits/custom/gpu.maker.example~1slice"),
        ]
    );
}

#[test]
fn a_mount_without_a_volume_is_a_claim_of_that_name() {
    let report = graph("pair-v1beta1");
    let volumes: Vec<_> = items(&report, "volume").iter().map(|item| item.name.text.as_str()).collect();
    assert_eq!(volumes, ["heron-weights", "heron-kernels"]);
    let cache: Vec<_> = items(&report, "volume")[1].properties.iter().map(|p| (p.name.as_str(), p.value.text.as_str())).collect();
    assert_eq!(cache, [("volume.mountPath", "/opt/cache"), ("dynamo.volume.compilationCache", "true")]);
    assert_eq!(items(&graph("services-of-2025"), "volume")[0].name.text, "ibis-weights");
}

#[test]
fn a_service_without_pod_content_still_has_its_role() {
    let report = graph("services-of-2025");
    assert_eq!(report.pod_templates.len(), 2);
    assert_eq!(property(&report, "dynamo.component.Silent.type"), Some("worker"));
}

#[test]
fn wrong_types_are_problems_and_hide_nothing_else() {
    let report = graph("wrong-types");
    let messages: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    for expected in [
        "expected an object at /spec/components/0, found null",
        "expected an object at /spec/components/1, found a string",
        "expected a string at /spec/components/2/name, found a number",
        "expected an object at /spec/components/2/modelRef, found a string",
        "`llama` is none of sglang, vllm, trtllm",
        "a second component is called `twin`",
    ] {
        assert!(messages.contains(&expected), "{expected} is missing from {messages:#?}");
    }
    assert_eq!(report.pod_templates.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["twin", "twin"]);
    assert_eq!(items(&report, "volume")[0].name.text, "lone");
    assert_eq!(property(&report, "dynamo.backendFramework"), Some("llama"));
    assert_eq!(items(&report, "runtime").len(), 1);
}

#[test]
fn wrong_types_of_the_older_version_are_problems_too() {
    let report = graph("wrong-types-v1alpha1");
    let messages: Vec<_> = report.problems.iter().map(|problem| problem.message.as_str()).collect();
    for expected in [
        "expected an object at /spec/services/Gone, found nothing",
        "expected an object at /spec/services/Text, found a string",
        "expected a list at /spec/envs, found a string",
        "expected a list at /spec/services/Odd/extraPodSpec/mainContainer/command, found a string",
    ] {
        assert!(messages.contains(&expected), "{expected} is missing from {messages:#?}");
    }
    assert!(container(&report, "Odd", "main").image.is_none());
}

#[test]
fn an_empty_object_is_dynamo_all_the_same() {
    for (kind, name, problem) in [
        ("dynamographdeployment", "empty-spec", "there are no components"),
        ("dynamographdeployment", "no-spec-v1alpha1", "expected an object at /spec, found nothing"),
        ("dynamocomponentdeployment", "no-spec", "expected an object at /spec, found nothing"),
    ] {
        let report = fixture(&format!("{kind}/{name}"));
        assert_eq!(report.problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [problem], "{kind}/{name}");
        assert_eq!(items(&report, "runtime")[0].name.text, "dynamo");
        assert_eq!(report.categories, ["inference"]);
    }
}

#[test]
fn no_change_of_a_field_stops_the_scraper() {
    testing::survives_mutations::<Dynamo>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
}

/// Files whose newer copy was edited beyond conversion, and how.
const EDITED: [(&str, &str); 6] = [
    ("trtllm__deploy__disagg-multinode.yaml", "workers became prefill and decode, the claim is listed as a volume"),
    ("examples__backends__trtllm__deploy__disagg.yaml", "components were renamed"),
    ("disagg_kvbm_tp2.yaml", "workers became prefill and decode"),
    ("agg_lora.yaml", "the worker became decode"),
    ("examples__diffusers__deploy__agg.yaml", "the claim is listed as a volume"),
    ("global-planner-vllm-test.yaml", "routers lost their type"),
];

/// Graphs that exist in both versions upstream, where the corpus is there.
#[test]
fn converted_graphs_of_the_corpus_give_the_same_facts() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus/samples");
    let Ok(index) = std::fs::read_to_string(format!("{samples}/INDEX.tsv")) else {
        eprintln!("SKIPPED: converted graphs of the corpus, because ../shared is absent");
        return;
    };
    let rows: Vec<Vec<&str>> = index.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let of = |project: &'static str| rows.iter().filter(move |row| row[0].starts_with(project));
    let read = |file: &str| -> Vec<Report> {
        let text = std::fs::read_to_string(format!("{samples}/{file}")).unwrap();
        let graphs = testing::documents(&text).into_iter().filter(|object| object["kind"] == "DynamoGraphDeployment");
        graphs.map(|object| testing::scrape::<Dynamo>(&[object]).unwrap()).collect()
    };
    let mut pairs = 0;
    for old in of("dynamo-2026-05-v1alpha1/") {
        let Some(new) = of("dynamo/").find(|row| row[3] == old[3]) else { continue };
        let name = old[0].rsplit('/').next().unwrap_or_default();
        let (alpha, beta) = (read(old[0]), read(new[0]));
        assert_eq!(alpha.len(), beta.len(), "{name}");
        pairs += alpha.len();
        let differs = alpha.iter().zip(&beta).any(|(alpha, beta)| facts(alpha) != facts(beta));
        match EDITED.iter().find(|(edited, _)| *edited == name) {
            // An entry that no longer differs has to go.
            Some((_, how)) => assert!(differs, "{name} is listed as edited ({how}) and is not"),
            None => alpha.iter().zip(&beta).for_each(|(alpha, beta)| assert_eq!(facts(alpha), facts(beta), "{name}")),
        }
    }
    assert!(pairs >= 30, "{pairs} pairs");
}
