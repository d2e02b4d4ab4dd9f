//! Plugins from ConfigMaps.

use std::time::Instant;

use serde_json::{Value, json};

use crate::stage::{A_WHILE, SOON, SYSTEM, Stage, condition, models, root};

/// A definition that the operator never heard of: the kind of a plugin that is not among those it starts with.
fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "nimservices.apps.nvidia.com" },
        "spec": {
            "group": "apps.nvidia.com", "scope": "Namespaced",
            "names": { "plural": "nimservices", "singular": "nimservice", "kind": "NIMService", "listKind": "NIMServiceList" },
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }],
        },
    })
}

fn service(name: &str) -> String {
    json!({
        "apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService", "metadata": { "name": name, "namespace": "demo" },
        "spec": {
            "image": { "repository": "registry.example/nim/acme/quill-7b-instruct", "tag": "1.2.0" },
            "env": [{ "name": "NIM_MODEL_NAME", "value": "acme/quill-7b-instruct" }],
            "storage": { "emptyDir": {} },
        },
    })
    .to_string()
}

fn plugin(command: &str, args: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_k8s-aibom"))
        .args(["plugin", command])
        .arg(root().join("target/plugins/nim.wasm"))
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn state<'a>(status: &'a Value, name: &str) -> &'a Value {
    let plugins = status["plugins"].as_array();
    plugins.into_iter().flatten().find(|plugin| plugin["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn a_kind_that_the_operator_never_heard_of_is_read_as_soon_as_its_plugin_is_applied() {
    let stage = Stage::new();
    stage.team("demo");
    stage.configure(&json!({}));
    stage.plane.apply(&definition().to_string()).unwrap();
    stage.plane.kubectl(&["wait", "--for=condition=Established", "crd/nimservices.apps.nvidia.com", "--timeout=60s"]).unwrap();
    // Only one of the built-in plugins.
    let folder = stage.plane.folder().join("plugins");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(root().join("target/plugins/workloads.wasm"), folder.join("workloads.wasm")).unwrap();
    let operator = stage.running(&[&format!("--plugins={}", folder.display())]);
    let pid = operator.process.pid();
    stage.plane.apply(&service("quill")).unwrap();
    std::thread::sleep(A_WHILE);
    assert!(stage.aiboms("demo").is_empty());

    let map = plugin("pack", &["--namespace", SYSTEM]);
    stage.plane.apply(&plugin("rbac", &[])).unwrap();
    let started = Instant::now();
    stage.plane.kubectl_stdin(&["apply", "--server-side", "-f", "-"], &map).unwrap();
    let name = "apps-nvidia-com-nimservice-quill";
    stage.wait_aibom("demo", name, "its model", |aibom| models(aibom) == ["acme/quill-7b-instruct"]);
    println!("from the plugin to the document: {:?}", started.elapsed());
    let status = stage.wait_config("the plugin serves", |status| state(status, "nim")["state"] == "Serving");
    assert_eq!(state(&status, "nim")["source"], "ConfigMap/aibom-scraper-nim");
    let kinds = status["kinds"].as_array().unwrap();
    assert!(kinds.iter().any(|kind| kind["kind"] == "NIMService" && kind["plugin"] == "nim"), "{status}");

    // Broken: only the status changes, and what served before goes on.
    let mark = stage.plane.audit().mark();
    let broken = json!({ "binaryData": { "nim.wasm.gz": "bm8gZ3ppcA==" } }).to_string();
    stage.plane.kubectl(&["patch", "configmap", "aibom-scraper-nim", "-n", SYSTEM, "--type=merge", "-p", &broken]).unwrap();
    let status = stage.wait_config("the plugin is rejected", |status| state(status, "nim")["state"] == "ServingPrevious");
    assert_eq!(state(&status, "nim")["step"], "Unpack", "{status}");
    stage.plane.apply(&service("pen")).unwrap();
    stage.wait_aibom("demo", "apps-nvidia-com-nimservice-pen", "by the earlier plugin", |aibom| !models(aibom).is_empty());
    let deleted = stage.writes(mark).with_verb("delete");
    assert_eq!(deleted.len(), 0, "{deleted:?}");
    stage
        .plane
        .wait_for(&["events", "-n", SYSTEM], SOON, |list| {
            list["items"].as_array()?.iter().any(|event| event["reason"] == "PluginRejected").then_some(())
        })
        .unwrap();

    // Removed: nobody reads the kind any more, which is no proof that its workloads are gone.
    stage.plane.kubectl(&["delete", "configmap", "aibom-scraper-nim", "-n", SYSTEM]).unwrap();
    stage.wait_config("the plugin is gone", |status| state(status, "nim").is_null());
    std::thread::sleep(A_WHILE);
    assert_eq!(stage.aiboms("demo").len(), 2);
    assert_eq!(condition(&stage.wait_config("it is valid", |_| true), "Ready")["status"], "True");
    assert!(operator.process.is_running().unwrap() && operator.process.pid() == pid);
}
