//! Objects that are larger than any that a person makes.

use aibom_control_plane::wait_until;
use serde_json::{Value, json};

use crate::stage::{SOON, Stage, condition, deployment, document, models};

/// Enough of them to fill what the chart gives, if each kept what it took.
const CROWDS: usize = 6;

/// A Deployment of many containers, each with an image and a model of its own.
fn crowd(name: &str, containers: usize) -> Value {
    let mut crowd = deployment("demo", name, "x", 0);
    let container = |number: usize| {
        json!({ "name": format!("c{number}"), "image": format!("r{number}.example/vllm/vllm-openai:v0.{number}"),
                "args": ["--model", format!("acme/{name}-{number}")] })
    };
    crowd["spec"]["template"]["spec"]["containers"] = (0..containers).map(container).collect();
    crowd
}

#[test]
fn objects_of_thousands_of_containers_take_no_more_memory_than_the_chart_gives() {
    let stage = Stage::new();
    stage.team("demo");
    let operator = stage.running(&[]);
    let before = operator.process.usage().unwrap();
    for number in 0..CROWDS {
        let crowd = crowd(&format!("crowd-{number:02}"), 3_000).to_string();
        // An API server under load may give up on one of that size, and takes it the next time.
        let create =
            || Ok(stage.plane.kubectl_stdin(&["apply", "--server-side", "-f", "-"], &crowd).map(|_| ()).map_err(|error| error.to_string()));
        wait_until("a Deployment of thousands of containers", SOON, create).unwrap();
    }
    let names: Vec<String> = (0..CROWDS).map(|number| format!("apps-deployment-crowd-{number:02}")).collect();
    for name in &names {
        let aibom = stage.wait_aibom("demo", name, "its document", |aibom| aibom["status"]["bomHash"].is_string());
        let ready = condition(&aibom["status"], "Ready");
        assert_eq!(ready["reason"], "BOMTruncated", "{ready}");
    }
    // Small ones are not held up by it, and what was left out of a smaller document can be read there.
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-chat", "its model", |aibom| !models(aibom).is_empty());
    let after = operator.process.usage().unwrap();
    println!("before {before:?}, after {CROWDS} Deployments of 3,000 containers {after:?}");
    assert!(after.peak_rss_kib < 128 << 10, "{after:?}");
}

#[test]
fn a_model_whose_name_is_longer_than_any_is_said_in_document_and_condition() {
    let stage = Stage::new();
    stage.team("demo");
    let _operator = stage.running(&[]);
    let giant = deployment("demo", "chat", &format!("acme/{}", "q".repeat(600_000)), 0);
    stage.plane.kubectl_stdin(&["create", "-f", "-"], &giant.to_string()).unwrap();
    let aibom = stage.wait_aibom("demo", "apps-deployment-chat", "its document", |aibom| aibom["status"]["bomHash"].is_string());
    let ready = condition(&aibom["status"], "Ready");
    assert!(ready["message"].as_str().unwrap().contains("unresolved: 1 (model too-long)"), "{ready}");
    let text = document(&aibom).to_string();
    assert!(text.contains("aibom.unresolved.model") && text.len() < 50_000, "{text}");
}
