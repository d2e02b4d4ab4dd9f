//! `k8s-aibom scan --explain` as its users run it.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run, run_with_input};

const APP: &str = "# the first line
apiVersion: apps/v1
kind: Deployment
metadata: {name: talker, namespace: demo}
spec:
  template:
    spec:
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.8.5
        args: [--model, acme/talker-7b,
          --model, acme/talker-8b]
        env:
        - {name: MODEL_NAME, value: acme/other}
      - name: front
        image: example.com/acme/vllm-router:1
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    spec:
      containers:
      - name: web
        image: nginx:1.27
        env:
        - {name: MODEL_NAME, value: acme/talker-7b}
        - {name: DB_PASSWORD, value: swordfish}
---
apiVersion: v1
kind: Service
metadata: {name: talker}
";

/// Lines of JSON that `--explain -o json` writes.
fn told(arguments: &[&str], text: &str) -> Vec<serde_json::Value> {
    let run = run_with_input(&[&["scan", "-", "-o", "json"], arguments].concat(), text);
    assert_eq!(run.code, 0, "{}", run.err);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn not_reported(told: &serde_json::Value) -> Vec<String> {
    let entries = told["notReported"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("-").to_owned();
    entries
        .iter()
        .map(|entry| {
            let at = &entry["at"];
            format!("{} {} {} {} {}", text(&entry["what"]), text(&entry["value"]), text(&entry["by"]), text(&entry["reason"]), at["line"])
        })
        .collect()
}

#[test]
fn every_object_is_explained_with_places_and_lines() {
    let told = told(&["--explain"], APP);
    assert_eq!(told.len(), 3);
    let talker = &told[0];
    assert_eq!((talker["outcome"].as_str(), talker["line"].as_u64()), (Some("documented"), Some(2)));
    let category = &talker["facts"][0];
    assert_eq!((category["class"].as_str(), category["name"].as_str()), (Some("category"), Some("inference")));
    assert_eq!(category["evidence"][0]["by"], "vllm");
    let model = &talker["facts"][1];
    assert_eq!((model["class"].as_str(), model["name"].as_str()), (Some("model"), Some("acme/talker-8b")));
    let evidence = &model["evidence"][0];
    assert_eq!(evidence["by"], "--model");
    assert_eq!(evidence["source"], "container_arg");
    assert_eq!(evidence["confidence"], 0.9);
    assert_eq!(evidence["at"]["pointer"], "/spec/template/spec/containers/0/args/3");
    assert_eq!(evidence["at"]["line"], 12);
    let dropped = not_reported(talker);
    assert!(dropped.contains(&"model acme/talker-7b --model overridden 11".to_owned()), "{dropped:?}");
    assert!(dropped.contains(&"model acme/other MODEL_NAME uncorroborated 14".to_owned()), "{dropped:?}");
    let router = "runtime example.com/acme/vllm-router:1 the word router in its name image-denied 16";
    assert!(dropped.contains(&router.to_owned()), "{dropped:?}");
    let shop = &told[1];
    assert_eq!((shop["outcome"].as_str(), shop["doc"].as_u64()), (Some("not-ai"), Some(1)));
    let dropped = not_reported(shop);
    assert!(dropped.contains(&"model acme/talker-7b MODEL_NAME uncorroborated 28".to_owned()), "{dropped:?}");
    assert_eq!((told[2]["outcome"].as_str(), told[2]["reason"].as_str()), (Some("no-scraper"), Some("no scraper reads this kind")));
}

#[test]
fn one_object_can_be_named_with_or_without_its_kind() {
    for (object, count) in [("talker", 2), ("Deployment/talker", 1), ("apps/deployment/talker", 1)] {
        assert_eq!(told(&[&format!("--explain={object}")], APP).len(), count, "{object}");
    }
    let none = run_with_input(&["scan", "-", "--explain=batch/Job/talker"], APP);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("no object batch/Job/talker among the inputs"), "{}", none.err);
}

#[test]
fn the_text_leads_to_the_line_of_a_file_and_names_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.yaml");
    std::fs::write(&path, APP).unwrap();
    let file = path.to_str().unwrap();
    let run = run(&["scan", file, "--explain"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for line in [
        format!("Deployment demo/talker  ({file}:2, document 0)"),
        "  AI workload: inference".to_owned(),
        "    model acme/talker-8b (main): declared".to_owned(),
        format!("        container_arg 0.90 by --model, container engine  [{file}:12 /spec/template/spec/containers/0/args/3]"),
        "  no AI workload: nothing in it is known to run, train, measure, fetch or route to models".to_owned(),
        "  not looked at: no scraper reads this kind".to_owned(),
    ] {
        assert!(run.out.lines().any(|known| known == line), "{line} is not in\n{}", run.out);
    }
    assert!(!run.out.contains("NAMESPACE"), "{}", run.out);
}

#[test]
fn values_of_secrets_are_in_no_explanation() {
    let text = "apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  containers:
  - name: a
    image: example.com/acme/app:1
    command: [/run, --model, 'https://user:swordfish@example.com/m', --api-key, swordfish]
    env:
    - {name: MODEL_NAME, value: hf_abcdefghijklmnopqrstuvwxyz0123456789}
    - {name: MODEL_TOKEN, value: swordfish}
";
    for format in ["table", "json"] {
        let run = run_with_input(&["scan", "-", "--explain", "-o", format], text);
        assert!(run.out.contains("MODEL_NAME"), "{}", run.out);
        assert!(!run.out.contains("swordfish") && !run.out.contains("hf_abc"), "{}", run.out);
    }
}

#[test]
fn an_item_of_a_list_is_explained_in_the_lines_of_its_file() {
    let text = "apiVersion: v1
kind: PodList
items:
- metadata: {name: a}
  spec: {containers: []}
- metadata: {name: b}
  spec:
    containers:
    - {name: c, image: 'vllm/vllm-openai:v1',
       args: [--model, acme/talker]}
";
    let told = told(&["--explain=b"], text);
    assert_eq!((told[0]["item"].as_u64(), told[0]["line"].as_u64()), (Some(1), Some(6)));
    assert_eq!(told[0]["facts"][1]["evidence"][0]["at"]["line"], 10);
}

#[test]
fn explanations_are_no_documents() {
    let run = run_with_input(&["scan", "-", "--explain", "-o", "cyclonedx"], APP);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("--explain tells in text or JSON"), "{}", run.err);
}

/// A service whose model stands in another object of the same file, below it.
const CACHED: &str = "apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: orchard, namespace: support}
spec:
  image: {repository: nvcr.io/nim/nvidia/llm-nim, tag: 1.14.0}
  storage: {nimCache: {name: orchard-cache}}
---
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMCache
metadata: {name: orchard-cache, namespace: support}
spec:
  source:
    hf:
      namespace: acme
      modelName: orchard-8b
";

#[test]
fn evidence_in_another_object_leads_to_a_line_of_its_file_too() {
    let told = told(&["--explain"], CACHED);
    let service = told.iter().find(|told| told["kind"] == "NIMService").unwrap();
    let places: Vec<&serde_json::Value> = service["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|fact| fact["class"] == "model")
        .flat_map(|fact| fact["evidence"].as_array().unwrap())
        .map(|piece| &piece["at"])
        .filter(|at| at["object"].is_string())
        .collect();
    assert!(!places.is_empty(), "{service}");
    assert!(places.iter().all(|at| at["file"] == "stdin"), "{places:?}");
    assert!(places.iter().any(|at| at["pointer"] == "/spec/source/hf/modelName" && at["line"] == 15), "{places:?}");
    let text = run_with_input(&["scan", "-", "--explain"], CACHED).out;
    let place = "[apps.nvidia.com/v1alpha1/NIMCache/support/orchard-cache stdin:15 /spec/source/hf/modelName]";
    assert!(text.contains(place), "{text}");
    assert!(text.contains("  read for objects that name it, and no workload by itself\n"), "{text}");
    assert!(!text.contains("not looked at"), "{text}");
}

#[test]
fn a_program_of_the_image_is_not_said_to_stand_in_the_manifest() {
    let run = run_with_input(&["scan", "-", "--explain=talker"], APP);
    assert!(run.out.contains("program vllm is vllm by the entrypoint of the image (run)"), "{}", run.out);
}

#[test]
fn the_digest_of_an_image_is_told_whole() {
    let digest = format!("sha256:{}", "9f86d081".repeat(8));
    let image = format!("registry.example.com/mirror/of/another/vllm/vllm-openai@{digest}");
    let run = run_with_input(&["scan", "-", "--explain=talker"], &APP.replace("vllm/vllm-openai:v0.8.5", &image));
    assert!(run.out.contains(&format!("image {image}: declared")), "{}", run.out);
}
