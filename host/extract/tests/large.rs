//! Large objects made to be expensive. What is asserted is bounded output and a generous bound of processor time.

use std::time::Duration;

use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::{Inventory, Origin};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::Tree;
use serde_json::{Value, json};

/// A fifth of what etcd takes, so that the test stays short in a build without optimisation.
const SIZE: usize = 300_000;

/// Most processor time that one of these objects may take, in a build without optimisation on a slow machine. What is quadratic takes
/// minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// Processor time of this thread, which other tests and other processes do not count in. None where the system does not tell.
fn processor_time() -> Option<Duration> {
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    nanoseconds.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn read(name: &str, containers: &Value) -> Inventory {
    read_pod(name, &json!({"containers": containers}), &[])
}

/// Reads a workload of one pod specification, with further members beside it that containers inherit variables from.
fn read_pod(name: &str, pod: &Value, shared: &[Value]) -> Inventory {
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"envs": shared, "template": {"spec": pod}}});
    let text = object.to_string();
    assert!(text.len() <= 2 * SIZE, "{name}: {} bytes", text.len());
    let tree = Tree::from_json(text.as_bytes()).expect("JSON");
    let at = Locator::scraped(Pointer::parse("/spec/template").expect("a JSON pointer"));
    let inherited_env = vec![Locator::scraped(Pointer::parse("/spec/envs").expect("a JSON pointer"))];
    let template = PodTemplate { at, name: String::new(), role: String::new(), duty: Duty::Unknown, inherited_env, properties: vec![] };
    let report = Report { pod_templates: vec![template], ..Report::default() };
    let objects = [ObjectRef::of(&tree).expect("an object")];
    let started = processor_time();
    let inventory = extract(
        Rules::builtin(),
        &Subject { objects: &objects, trees: &[Some(&tree)], sought: &[], report: &report, origin: Origin::Manifest },
    );
    if let (Some(started), Some(ended)) = (started, processor_time()) {
        let spent = ended.saturating_sub(started);
        eprintln!("{name}: {spent:?} for {} bytes", text.len());
        assert!(spent <= LIMIT, "{name}: {spent:?}");
    } else {
        eprintln!("SKIPPED: the time of {name}, because this system does not tell processor time");
    }
    inventory
}

fn script(text: &str) -> Value {
    json!([{"name": "a", "image": "vllm/vllm-openai", "command": ["sh", "-c", text]}])
}

fn repeated(text: &str) -> String {
    text.repeat(SIZE / text.len())
}

#[test]
fn scripts_that_grow_are_cut_off() {
    let cases = [
        ("doubling", format!("A=xxxxxxxx\n{}", repeated("A=$A$A\n"))),
        ("long words", format!("A={}\n{}", "x".repeat(100_000), "y $A\n".repeat(20_000))),
        ("arrays", format!("A=({})\n{}", "x ".repeat(60_000), "y \"${A[@]}\"\n".repeat(10_000))),
        ("exports", repeated("export A=b; c $A\n")),
        ("clones", repeated("git clone https://huggingface.co/a/b /c\n")),
        ("servers", repeated("vllm serve a/b\n")),
        ("evals", repeated("eval 'eval \"eval x\"'\n")),
        ("shells", repeated("sh -c 'sh -c \"vllm serve a/b\"'\n")),
        ("substitutions", repeated("x $(y) `z` ${A:-$(b)}\n")),
    ];
    for (name, text) in cases {
        let found = read(name, &script(&text));
        assert!(found.models.len() <= 10, "{name}: {} models", found.models.len());
    }
}

#[test]
fn long_lists_are_read() {
    let args: Vec<String> = (0..SIZE / 40).flat_map(|n| ["--model".to_owned(), format!("org/model-{n:08}")]).collect();
    let found = read("options", &json!([{"name": "a", "image": "vllm/vllm-openai", "args": args}]));
    assert_eq!(found.models.len(), 1);

    let args: Vec<String> = (0..SIZE / 40).flat_map(|n| ["--model-id".to_owned(), format!("org/model-{n:08}")]).collect();
    let found = read("several models", &json!([{"name": "a", "image": "michaelf34/infinity", "args": args}]));
    assert_eq!(found.models.len(), 1000);

    let env: Vec<Value> =
        (0..SIZE / 60).map(|n| json!({"name": format!("V{n}"), "value": format!("$(V{})$(V{})x", n.max(1) - 1, n.max(1) - 1)})).collect();
    let args: Vec<String> = (0..2_000).map(|n| format!("$(V{})", n * 2)).collect();
    let found = read("variables", &json!([{"name": "a", "image": "vllm/vllm-openai", "env": env, "args": args}]));
    assert_eq!(found.models.len(), 0);
    let longest = found.unresolved.iter().map(|unresolved| unresolved.reference.len()).max();
    assert!(longest.is_none_or(|longest| longest < 1_000), "{longest:?}");
    assert_eq!(found.runtimes.len(), 1);

    let wrappers: Vec<&str> = std::iter::repeat_n("env", SIZE / 6).collect();
    let found = read("wrappers", &json!([{"name": "a", "image": "x", "command": wrappers}]));
    assert!(found.models.is_empty() && found.runtimes.is_empty() && found.categories.is_empty());
    let behind: Vec<&str> = std::iter::repeat_n("env", 8).chain(["vllm", "serve", "org/m"]).collect();
    let found = read("a few wrappers", &json!([{"name": "a", "image": "x", "command": behind}]));
    assert_eq!(found.models.len(), 1);
}

/// Containers of an object that are read.
const MOST_CONTAINERS: usize = 500;

#[test]
fn many_containers_are_read() {
    let containers: Vec<Value> = (0..SIZE / 150)
        .map(|n| json!({"name": format!("c{n}"), "image": format!("vllm/vllm-openai:v0.{n}"), "args": ["--model", format!("/m/{n}")], "env": [{"name": "MODEL_NAME", "value": format!("org/{n}")}]}))
        .collect();
    let found = read("containers", &Value::Array(containers.clone()));
    assert_eq!(found.images.len(), containers.len().min(MOST_CONTAINERS));
    assert_eq!(found.runtimes.len(), 1);
}

fn problems(found: &Inventory) -> Vec<&str> {
    found.problems.iter().map(|problem| problem.message.as_str()).collect()
}

#[test]
fn inherited_variables_are_shared_by_containers_and_bounded() {
    let shared: Vec<Value> = (0..5_000).map(|n| json!({"name": format!("V{n}"), "value": "https://api.openai.com/v1"})).collect();
    let containers: Vec<Value> = (0..5_000).map(|n| json!({"name": format!("c{n}"), "image": format!("i{n}")})).collect();
    let found = read_pod("inherited variables", &json!({"containers": containers}), &shared);
    assert_eq!(found.images.len(), MOST_CONTAINERS);
    let problems = problems(&found);
    assert!(problems.iter().any(|message| message.contains("4500 from this one on are not read")), "{problems:?}");
    assert!(problems.iter().any(|message| message.contains("2305000 of them")), "{problems:?}");
    let place = found.problems.iter().find(|problem| problem.message.contains("from this one on")).map(|problem| &problem.at.pointer);
    assert_eq!(place.map(Pointer::as_str), Some("/spec/template/spec/containers/500"));
    assert_eq!(found.services.len(), 1);
}

#[test]
fn many_mounts_of_many_volumes_are_read() {
    let volumes: Vec<Value> =
        (0..4_000).map(|n| json!({"name": format!("v{n}"), "persistentVolumeClaim": {"claimName": format!("claim-{n}")}})).collect();
    let mounts: Vec<Value> = (0..4_000).rev().map(|n| json!({"name": format!("v{n}"), "mountPath": format!("/m/{n}")})).collect();
    let args: Vec<String> = (0..900).flat_map(|n| ["--model-id".to_owned(), format!("/m/{n}/files")]).collect();
    let pod =
        json!({"containers": [{"name": "a", "image": "michaelf34/infinity", "args": args, "volumeMounts": mounts}], "volumes": volumes});
    let found = read_pod("mounts", &pod, &[]);
    assert_eq!(found.data.len(), 4_000);
    assert_eq!(found.models.len(), 900);
    for model in &found.models {
        let number = model.finding.key.name.split('/').nth(2).unwrap_or_default();
        let needs: Vec<&str> = model.finding.needs.iter().map(|key| key.name.as_str()).collect();
        assert_eq!(needs, [format!("persistentVolumeClaim/claim-{number}")]);
    }
}

#[test]
fn one_volume_in_many_containers_is_one_finding() {
    let containers: Vec<Value> = (0..450)
        .map(|n| json!({"name": format!("c{n}"), "image": format!("vllm/vllm-openai:v0.{n}"), "volumeMounts": [{"name": "v", "mountPath": "/m"}], "args": ["--model=/m/x"], "resources": {"limits": {"nvidia.com/gpu": n}}}))
        .collect();
    let pod = json!({"containers": containers, "volumes": [{"name": "v", "hostPath": {"path": "/data"}}]});
    let found = read_pod("one volume", &pod, &[]);
    assert_eq!(found.data.len(), 1);
    // One place of the volume, and one for each mount.
    assert_eq!(found.data[0].finding.evidence.len(), 451);
    assert_eq!(found.models.len(), 1);
    assert_eq!(found.models[0].finding.evidence.len(), 450);
    assert_eq!(found.devices[0].quantities.len(), 449);
    assert_eq!(found.devices[0].quantities.first().map(String::as_str), Some("449"));
}

#[test]
fn many_models_that_are_fetched_or_only_called_are_read() {
    let fetch: Vec<String> = (0..2_500).map(|n| format!("huggingface-cli download org/m{n} --local-dir /d/{n}")).collect();
    let found = read("downloads", &json!([{"name": "a", "image": "python:3", "command": ["sh", "-c", fetch.join("\n")]}]));
    assert_eq!(found.models.len(), 2_500);

    // Into the root, and nobody says where to: each is looked for among all that are loaded.
    let loaded: Vec<Value> = (0..450)
        .map(|n| json!({"name": format!("c{n}"), "image": "vllm/vllm-openai", "args": ["--model", format!("/d/{n}/m{n}.gguf")]}))
        .collect();
    let fetch: Vec<String> = (0..4_000).map(|n| format!("wget -P / https://example.com/m{n}.gguf")).collect();
    let fetch = json!([{"name": "fetch", "image": "busybox", "command": ["sh", "-c", fetch.join("\n")]}]);
    let found = read_pod("files", &json!({"initContainers": fetch, "containers": loaded}), &[]);
    assert_eq!(found.models.len(), 4_000);

    let call: Vec<Value> = (0..450)
        .map(|n| json!({"name": format!("c{n}"), "image": "vllm/vllm-openai", "command": ["vllm", "bench", "serve", "--model", format!("org/m{n}")]}))
        .collect();
    let found = read("calls", &Value::Array(call));
    assert_eq!(found.models.len(), 450);
}
