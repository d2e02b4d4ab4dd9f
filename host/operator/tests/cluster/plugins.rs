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
    stage.plane.define(&definition()).unwrap();
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

#[test]
fn a_kind_that_two_plugins_claim_is_shown_and_read_by_neither_until_one_of_them_goes() {
    let stage = Stage::new();
    stage.team("demo");
    stage.configure(&json!({}));
    stage.plane.define(&definition()).unwrap();
    let _operator = stage.running(&[]);
    let name = "apps-nvidia-com-nimservice-quill";
    stage.plane.apply(&service("quill")).unwrap();
    stage.wait_aibom("demo", name, "by the built-in plugin", |aibom| !models(aibom).is_empty());

    let map = plugin("pack", &["--namespace", SYSTEM]);
    stage.plane.kubectl_stdin(&["apply", "--server-side", "-f", "-"], &map).unwrap();
    let entry = |status: &Value| -> Value {
        let kinds = status["kinds"].as_array();
        kinds.into_iter().flatten().find(|kind| kind["kind"] == "NIMService").cloned().unwrap_or_default()
    };
    let status = stage.wait_config("the conflict", |status| entry(status)["cause"] == "PluginConflict");
    assert_eq!(entry(&status)["health"], "Unhealthy");
    assert!(entry(&status)["message"].as_str().unwrap().contains("nim"), "{status}");
    assert_eq!(condition(&status, "Degraded")["status"], "True");
    assert_eq!(state(&status, "nim (ConfigMap/aibom-scraper-nim)")["state"], "Serving");
    // Other kinds go on, and what is stored stays.
    stage.plane.apply(&service("pen")).unwrap();
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-chat", "its model", |aibom| !models(aibom).is_empty());
    std::thread::sleep(A_WHILE);
    let names: Vec<String> = stage.aiboms("demo").iter().map(|aibom| aibom["metadata"]["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["apps-deployment-chat", name]);

    stage.plane.kubectl(&["delete", "configmap", "aibom-scraper-nim", "-n", SYSTEM]).unwrap();
    stage.wait_aibom("demo", "apps-nvidia-com-nimservice-pen", "by the one that is left", |aibom| !models(aibom).is_empty());
    stage.wait_config("no conflict", |status| entry(status)["health"] == "Healthy" && condition(status, "Degraded")["status"] == "False");
}

#[test]
fn a_kind_without_a_plugin_is_read_by_the_places_of_its_pod_templates_when_there_are_rights_for_it() {
    let stage = Stage::new();
    stage.team("demo");
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": "looms.example.com" },
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": { "plural": "looms", "singular": "loom", "kind": "Loom", "listKind": "LoomList" },
            "versions": [{ "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }],
        },
    });
    stage.plane.define(&definition).unwrap();
    let kind = json!({ "group": "example.com", "kind": "Loom", "plural": "looms", "version": "v1", "podTemplates": ["/spec/warp/template", "/spec/weft/template"] });
    stage.configure(&json!({ "discovery": { "podTemplateKinds": [kind] } }));
    let pod = |model: &str| json!({ "spec": { "containers": [{ "name": "server", "image": "vllm/vllm-openai:v0.9.1", "args": ["--model", model] }] } });
    let loom = json!({
        "apiVersion": "example.com/v1", "kind": "Loom", "metadata": { "name": "jenny", "namespace": "demo" },
        "spec": { "warp": { "template": pod("acme/quill-7b") }, "weft": { "template": pod("acme/pen-1b") } },
    });
    stage.plane.apply(&loom.to_string()).unwrap();
    let _operator = stage.running(&[]);
    // Without rights it is said.
    let entry = |status: &Value| -> Value {
        let kinds = status["kinds"].as_array();
        kinds.into_iter().flatten().find(|kind| kind["kind"] == "Loom").cloned().unwrap_or_default()
    };
    let status = stage.wait_config("no rights", |status| entry(status)["health"] == "Unhealthy");
    assert_eq!(entry(&status)["cause"], "Forbidden", "{status}");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "looms", "labels": { "aibom.k8saibom.dev/aggregate-to-controller": "true" } },
        "rules": [{ "apiGroups": ["example.com"], "resources": ["looms"], "verbs": ["get", "list", "watch"] }],
    });
    stage.plane.apply(&role.to_string()).unwrap();
    let aibom = stage.wait_aibom("demo", "example-com-loom-jenny", "both models", |aibom| models(aibom).len() == 2);
    assert_eq!(models(&aibom), ["acme/pen-1b", "acme/quill-7b"]);
    assert_eq!(aibom["metadata"]["ownerReferences"][0]["kind"], "Loom");
    stage.wait_config("it is healthy", |status| entry(status)["health"] == "Healthy");
}
