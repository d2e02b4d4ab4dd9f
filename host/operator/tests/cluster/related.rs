//! Objects that a workload is read with besides itself.

use serde_json::{Value, json};

use crate::stage::{A_WHILE, Stage, models};

const GROUP: &str = "apps.nvidia.com";
const NAME: &str = "apps-nvidia-com-nimservice-wren";

fn define(stage: &Stage, kind: &str) {
    let plural = format!("{}s", kind.to_lowercase());
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": format!("{plural}.{GROUP}") },
        "spec": {
            "group": GROUP, "scope": "Namespaced",
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List") },
            "versions": [{ "name": "v1alpha1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } } }],
        },
    });
    stage.plane.define(&definition).unwrap();
}

fn object(kind: &str, name: &str, spec: &Value) -> String {
    json!({ "apiVersion": format!("{GROUP}/v1alpha1"), "kind": kind, "metadata": { "name": name, "namespace": "demo" }, "spec": spec })
        .to_string()
}

fn cache(model: &str) -> String {
    let source = json!({ "hf": { "endpoint": "https://hub.wren.example", "namespace": "wrens", "modelName": model } });
    object("NIMCache", "nest", &json!({ "source": source, "storage": { "pvc": { "create": true } } }))
}

#[test]
fn a_workload_is_read_again_when_what_it_names_comes_changes_or_goes() {
    let stage = Stage::new();
    stage.team("demo");
    define(&stage, "NIMService");
    define(&stage, "NIMCache");
    let operator = stage.running(&[]);
    let audit = stage.plane.audit();
    // Nothing asks for a cache yet.
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-chat", "its model", |aibom| !models(aibom).is_empty());
    let asked = |resource: &str| {
        audit.watches_since(audit.start()).unwrap().by_agent("k8s-aibom/").filter(|entry| entry.resource == resource).len()
    };
    assert_eq!(asked("nimcaches"), 0, "nothing asks for a cache");

    let image = json!({ "repository": "registry.wren.example/mirror/llm-nim", "tag": "1" });
    stage.plane.apply(&object("NIMService", "wren", &json!({ "image": image, "storage": { "nimCache": { "name": "nest" } } }))).unwrap();
    stage.wait_aibom("demo", NAME, "without its cache", |aibom| aibom["status"]["bomHash"].is_string() && models(aibom).is_empty());
    // It comes, changes, and goes.
    stage.plane.apply(&cache("wren-3b")).unwrap();
    stage.wait_aibom("demo", NAME, "the model of its cache", |aibom| models(aibom) == ["wrens/wren-3b"]);
    assert!(asked("nimcaches") > 0);
    stage.plane.apply(&cache("wren-9b")).unwrap();
    stage.wait_aibom("demo", NAME, "its new model", |aibom| models(aibom) == ["wrens/wren-9b"]);
    // What says nothing new costs nothing, and so does a cache that nothing names.
    stage.wait_quiet();
    let mark = audit.mark();
    stage.plane.kubectl(&["annotate", "nimcache", "nest", "-n", "demo", "example.com/note=nothing"]).unwrap();
    stage.plane.apply(&cache("wren-3b").replace("nest", "other")).unwrap();
    std::thread::sleep(A_WHILE);
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 0, "{writes:?}");
    stage.plane.kubectl(&["delete", "nimcache", "nest", "-n", "demo"]).unwrap();
    stage.wait_aibom("demo", NAME, "it is gone", |aibom| models(aibom).is_empty());
    assert!(operator.process.is_running().unwrap(), "{}", operator.process.log_tail(20));
}
