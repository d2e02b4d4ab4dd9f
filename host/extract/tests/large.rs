//! Large objects made to be expensive. What is asserted is bounded output; the time each takes is printed.

use std::time::Instant;

use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::{Inventory, Origin};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::Tree;
use serde_json::{Value, json};

/// A fifth of what etcd takes, so that the test stays short in a build without optimisation.
const SIZE: usize = 300_000;

fn read(name: &str, containers: &Value) -> Inventory {
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": {"template": {"spec": {"containers": containers}}}});
    let text = object.to_string();
    assert!(text.len() <= 2 * SIZE, "{name}: {} bytes", text.len());
    let tree = Tree::from_json(text.as_bytes()).expect("JSON");
    let at = Locator::scraped(Pointer::parse("/spec/template").expect("a JSON pointer"));
    let template =
        PodTemplate { at, name: String::new(), role: String::new(), duty: Duty::Unknown, inherited_env: vec![], properties: vec![] };
    let report = Report { pod_templates: vec![template], ..Report::default() };
    let objects = [ObjectRef::of(&tree).expect("an object")];
    let started = Instant::now();
    let inventory =
        extract(Rules::builtin(), &Subject { objects: &objects, trees: &[Some(&tree)], report: &report, origin: Origin::Manifest });
    eprintln!("{name}: {:?} for {} bytes", started.elapsed(), text.len());
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
    read("variables", &json!([{"name": "a", "image": "vllm/vllm-openai", "env": env, "args": args}]));

    let wrappers: Vec<&str> = std::iter::repeat_n("env", SIZE / 6).collect();
    read("wrappers", &json!([{"name": "a", "image": "x", "command": wrappers}]));
}

#[test]
fn many_containers_are_read() {
    let containers: Vec<Value> = (0..SIZE / 150)
        .map(|n| json!({"name": format!("c{n}"), "image": format!("vllm/vllm-openai:v0.{n}"), "args": ["--model", format!("/m/{n}")], "env": [{"name": "MODEL_NAME", "value": format!("org/{n}")}]}))
        .collect();
    let found = read("containers", &Value::Array(containers.clone()));
    assert_eq!(found.images.len(), containers.len());
    assert_eq!(found.runtimes.len(), 1);
}
