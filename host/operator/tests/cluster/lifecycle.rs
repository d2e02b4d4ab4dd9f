//! From a workload to its AIBOM and back.

use std::time::Instant;

use serde_json::json;

use crate::stage::{A_WHILE, Stage, condition, deployment, document, models};

const NAME: &str = "apps-deployment-chat";

#[test]
fn an_aibom_follows_its_workload_through_its_life() {
    let stage = Stage::new();
    stage.team("demo");
    stage.plane.create_namespace("other", &[]).unwrap();
    let operator = stage.running(&[]);

    // Created, within two seconds; what the measuring itself takes is part of it.
    let started = Instant::now();
    stage.serve("demo", "chat", "acme/quill-7b");
    let aibom = stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    let took = started.elapsed();
    println!("from kubectl apply to the AIBOM: {took:?}");
    assert_eq!(condition(&aibom["status"], "Ready")["status"], "True");
    assert_eq!(aibom["status"]["summary"]["runtime"]["name"], "vllm");
    assert_eq!(aibom["metadata"]["labels"]["aibom.k8saibom.dev/category"], "inference");
    let owner = &aibom["metadata"]["ownerReferences"][0];
    assert_eq!((owner["kind"].as_str(), owner["controller"].as_bool()), (Some("Deployment"), Some(true)));
    let first = document(&aibom);
    assert_eq!((first["specVersion"].as_str(), first["version"].as_u64()), (Some("1.6"), Some(1)));

    // What is not opted in, and what has nothing to do with AI, has none.
    stage.serve("other", "chat", "acme/quill-7b");
    let mut web = deployment("demo", "web", "x", 0);
    web["spec"]["template"]["spec"]["containers"] = json!([{ "name": "web", "image": "nginx:1.27" }]);
    stage.plane.apply(&web.to_string()).unwrap();

    // Changed: the next version of the same document.
    stage.serve("demo", "chat", "acme/quill-13b");
    let aibom = stage.wait_aibom("demo", NAME, "its new model", |aibom| models(aibom) == ["acme/quill-13b"]);
    let second = document(&aibom);
    assert_eq!((second["version"].as_u64(), &second["serialNumber"]), (Some(2), &first["serialNumber"]));
    std::thread::sleep(A_WHILE);
    assert!(stage.aiboms("other").is_empty() && stage.aiboms("demo").len() == 1);

    // Opted out and in again.
    stage.plane.kubectl(&["label", "namespace", "demo", "aibom.k8saibom.dev/enabled-"]).unwrap();
    stage.wait_gone("demo", NAME);
    stage.plane.kubectl(&["label", "namespace", "demo", "aibom.k8saibom.dev/enabled=true"]).unwrap();
    let aibom = stage.wait_aibom("demo", NAME, "opted in again", |aibom| !models(aibom).is_empty());

    // Made anew under its name: another workload, and so another document.
    stage.plane.kubectl(&["delete", "deployment", "chat", "-n", "demo", "--cascade=orphan"]).unwrap();
    stage.serve("demo", "chat", "acme/quill-13b");
    let uid = stage.plane.get_json(&["deployment", "chat", "-n", "demo"]).unwrap()["metadata"]["uid"].clone();
    assert_ne!(uid, aibom["metadata"]["ownerReferences"][0]["uid"]);
    let aibom = stage.wait_aibom("demo", NAME, "its new owner", |aibom| aibom["metadata"]["ownerReferences"][0]["uid"] == uid);
    assert_eq!(aibom["metadata"]["ownerReferences"].as_array().unwrap().len(), 1);

    // Deleted.
    stage.plane.kubectl(&["delete", "deployment", "chat", "-n", "demo"]).unwrap();
    stage.wait_gone("demo", NAME);
    assert!(operator.process.is_running().unwrap(), "{}", operator.process.log_tail(20));
}

#[test]
fn pods_and_replica_sets_of_a_deployment_have_no_aiboms_and_give_it_their_digests() {
    let stage = Stage::new();
    stage.team("demo");
    let _operator = stage.running(&[]);
    stage.plane.apply(&deployment("demo", "chat", "acme/quill-7b", 2).to_string()).unwrap();
    let pods = stage
        .plane
        .wait_for(&["pods", "-n", "demo"], crate::stage::SOON, |list| {
            let items = list["items"].as_array()?;
            (items.len() == 2)
                .then(|| items.iter().map(|pod| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>())
        })
        .unwrap();
    let digest = format!("sha256:{}", "ab".repeat(32));
    let id = format!("docker.io/vllm/vllm-openai@{digest}");
    for pod in &pods {
        stage.plane.set_pod_status("demo", pod, &[("server", "vllm/vllm-openai:v0.9.1", &id)]).unwrap();
    }
    stage.wait_aibom("demo", NAME, "the digest of its pods", |aibom| {
        aibom["status"]["bomDocument"]["inline"]["data"].is_string() && document(aibom).to_string().contains(&digest)
    });
    // A pod of its own is a workload of its own.
    stage
        .plane
        .apply(
            &json!({
                "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "lone", "namespace": "demo" },
                "spec": { "containers": [{ "name": "server", "image": "vllm/vllm-openai:v0.9.1", "args": ["--model", "acme/pen-1b"] }] },
            })
            .to_string(),
        )
        .unwrap();
    stage.wait_aibom("demo", "pod-lone", "its model", |aibom| models(aibom) == ["acme/pen-1b"]);
    std::thread::sleep(A_WHILE);
    let names: Vec<String> = stage.aiboms("demo").iter().map(|aibom| aibom["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, [NAME, "pod-lone"]);
}

#[test]
fn a_workload_that_is_deleted_in_the_foreground_takes_its_aibom_with_it_for_good() {
    let stage = Stage::new();
    stage.team("demo");
    let _operator = stage.running(&[]);
    for number in 0..10 {
        stage.serve("demo", &format!("server-{number}"), "acme/quill-7b");
    }
    for number in 0..10 {
        stage.wait_aibom("demo", &format!("apps-deployment-server-{number}"), "its model", |aibom| !models(aibom).is_empty());
    }
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    stage.plane.kubectl(&["delete", "deployment", "--all", "-n", "demo", "--cascade=foreground", "--timeout=60s"]).unwrap();
    std::thread::sleep(A_WHILE);
    assert!(stage.aiboms("demo").is_empty());
    let writes = stage.writes(mark).filter(|entry| entry.verb != "delete");
    assert_eq!(writes.len(), 0, "{writes:?}");
}

#[test]
fn nothing_is_written_into_a_namespace_that_ends_and_nothing_is_lost_when_it_is_made_anew() {
    let stage = Stage::new();
    stage.team("demo");
    let operator = stage.running(&[]);
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", NAME, "its model", |aibom| !models(aibom).is_empty());
    // Something keeps it from being gone at once, and in it an AIBOM.
    let hold = json!({ "metadata": { "finalizers": ["example.com/hold"] } }).to_string();
    stage.plane.kubectl(&["patch", "aibom", NAME, "-n", "demo", "--type=merge", "-p", &hold]).unwrap();
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    stage.plane.kubectl(&["delete", "namespace", "demo", "--wait=false"]).unwrap();
    let gone = |list: &serde_json::Value| list["items"].as_array()?.is_empty().then_some(());
    stage.plane.wait_for(&["deployments", "-n", "demo"], crate::stage::SOON, gone).unwrap();
    std::thread::sleep(A_WHILE);
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 0, "{writes:?}");
    let free = json!({ "metadata": { "finalizers": null } }).to_string();
    stage.plane.kubectl(&["patch", "aibom", NAME, "-n", "demo", "--type=merge", "-p", &free]).unwrap();
    stage.plane.kubectl(&["wait", "--for=delete", "namespace/demo", "--timeout=90s"]).unwrap();
    let log = std::fs::read_to_string(operator.process.log()).unwrap();
    assert!(!log.contains("could not be written"), "{log}");
    // Of the same name again.
    stage.team("demo");
    stage.serve("demo", "chat", "acme/pen-1b");
    stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/pen-1b"]);
}
