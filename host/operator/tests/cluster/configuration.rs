//! The configuration, section by section, while the operator runs.

use serde_json::json;

use crate::stage::{A_WHILE, SOON, Stage, condition, document, models};

const NAME: &str = "apps-deployment-chat";

#[test]
fn each_section_comes_into_force_by_itself_and_a_wrong_one_keeps_its_last_good_state() {
    let stage = Stage::new();
    stage.team("demo");
    stage.plane.create_namespace("labelled", &[("team", "models")]).unwrap();
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.serve("labelled", "chat", "acme/quill-7b");
    let _operator = stage.running(&[]);
    stage.wait_aibom("demo", NAME, "without a configuration", |aibom| !models(aibom).is_empty());

    // Another version and spelling: every document is written anew.
    stage.configure(&json!({ "bomGeneration": { "specVersion": "1.7", "propertyNames": "colon" } }));
    let status = stage.wait_config("it is in force", |status| condition(status, "Ready")["status"] == "True");
    assert_eq!(status["effectiveConfiguration"]["bomGeneration"]["inlineThresholdBytes"], 262_144);
    assert_eq!(status["effectiveConfigurationHash"].as_str().map(str::len), Some(64));
    let aibom = stage.wait_aibom("demo", NAME, "1.7", |aibom| {
        aibom["spec"]["bomSpecVersion"] == "1.7" && aibom["status"]["bomDocument"]["specVersion"] == "1.7"
    });
    assert!(document(&aibom).to_string().contains("k8s-aibom:"));

    // A sink is accepted and said not to be served; the selector beside it is in force.
    let sink = json!({ "name": "siem", "type": "Webhook", "webhook": { "endpoint": "https://bom.example.org/in" } });
    stage.configure(&json!({ "sinks": [sink], "discovery": { "namespaceSelector": { "matchLabels": { "team": "models" } } } }));
    stage.wait_gone("demo", NAME);
    stage.wait_aibom("labelled", NAME, "selected", |aibom| !models(aibom).is_empty());
    let status =
        stage.wait_config("the sink", |status| condition(status, "Ready")["message"].as_str().is_some_and(|text| text.contains("siem")));
    assert_eq!(condition(&status, "Ready")["status"], "True");

    // A wrong section keeps its last good state, the others go on.
    stage.configure(&json!({
        "discovery": { "namespaceSelector": { "matchLabels": { "team": "models" } }, "workloadKinds": ["apps/Nothing"] },
        "bomGeneration": { "specVersion": "1.6" },
    }));
    let status = stage.wait_config("what is wrong", |status| condition(status, "Degraded")["reason"] == "RunningOnLastKnownGood");
    assert!(condition(&status, "Ready")["message"].as_str().unwrap().contains("spec.discovery.workloadKinds"), "{status}");
    stage.wait_aibom("labelled", NAME, "1.6 again", |aibom| aibom["spec"]["bomSpecVersion"] == "1.6");

    // A kind that is left out is taken away, and comes back.
    let labelled = json!({ "matchLabels": { "team": "models" } });
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled, "workloadKinds": ["apps/StatefulSet"] } }));
    stage.wait_gone("labelled", NAME);
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled } }));
    stage.wait_aibom("labelled", NAME, "looked at again", |aibom| !models(aibom).is_empty());

    // A runtime that is known no more, and one that the administrator knows.
    let entry = json!({ "name": "quillserve", "category": "inference", "images": { "names": ["quillserve"] } });
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled, "runtimes": { "disabled": ["vllm"], "entries": [entry] } } }));
    stage.wait_aibom("labelled", NAME, "another runtime, or none", |aibom| aibom["status"]["summary"]["runtime"]["name"] != "vllm");
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled } }));
    stage.wait_aibom("labelled", NAME, "its runtime", |aibom| aibom["status"]["summary"]["runtime"]["name"] == "vllm");

    // Images of a mirror, which take the place of what is known; and a kind of which only its templates are known.
    let patterns = json!([{ "runtime": "mirrored", "pattern": "^vllm/.*" }]);
    let templates = json!([{ "group": "apps", "kind": "ControllerRevision", "plural": "controllerrevisions", "version": "v1", "podTemplates": ["/data/template"] }]);
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled, "inferenceRuntimeImagePatterns": patterns, "podTemplateKinds": templates } }));
    stage.wait_aibom("labelled", NAME, "the runtime of the pattern", |aibom| aibom["status"]["summary"]["runtime"]["name"] == "mirrored");
    stage
        .plane
        .apply(
            &json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": { "name": "revisions", "labels": { "aibom.k8saibom.dev/aggregate-to-controller": "true" } },
                "rules": [{ "apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["list", "watch"] }],
            })
            .to_string(),
        )
        .unwrap();
    let spec = json!({ "containers": [{ "name": "server", "image": "vllm/vllm-openai:v0.9.1", "args": ["--model", "acme/pen-1b"] }] });
    stage
        .plane
        .apply(
            &json!({
                "apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": { "name": "old", "namespace": "labelled" }, "revision": 1,
                "data": { "template": { "spec": spec } },
            })
            .to_string(),
        )
        .unwrap();
    stage.wait_aibom("labelled", "apps-controllerrevision-old", "its runtime", |aibom| {
        aibom["status"]["summary"]["runtime"]["name"] == "mirrored"
    });
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled } }));
    stage.wait_aibom("labelled", NAME, "its runtime again", |aibom| aibom["status"]["summary"]["runtime"]["name"] == "vllm");
    stage.plane.kubectl(&["delete", "controllerrevision", "old", "-n", "labelled"]).unwrap();

    // Too large for its object: said in its place, and not ready.
    stage.configure(&json!({ "discovery": { "namespaceSelector": labelled }, "bomGeneration": { "inlineThresholdBytes": 1024 } }));
    let aibom = stage.wait_aibom("labelled", NAME, "truncated", |aibom| aibom["status"]["bomDocument"]["truncated"] == true);
    assert_eq!(condition(&aibom["status"], "Ready")["reason"], "BOMTruncated");
    assert!(aibom["status"]["bomDocument"]["inline"].is_null() && aibom["status"]["bomDocument"]["sha256"].is_string());
    stage.wait_quiet();

    // Without an object, everything has its default.
    stage.plane.kubectl(&["delete", "aibomcontrollerconfig", "default"]).unwrap();
    stage.wait_aibom("demo", NAME, "by default", |aibom| !models(aibom).is_empty());
    stage.wait_gone("labelled", NAME);
    for reason in ["ConfigLoaded", "ConfigInvalidUsingLastKnownGood", "ConfigRecovered"] {
        stage
            .plane
            .wait_for(&["events", "-n", "default"], SOON, |list| {
                list["items"].as_array()?.iter().any(|event| event["reason"] == reason).then_some(())
            })
            .unwrap();
    }
    std::thread::sleep(A_WHILE);
    let mark = stage.plane.audit().mark();
    std::thread::sleep(A_WHILE);
    assert_eq!(stage.writes(mark).len(), 0, "{:?}", stage.writes(mark));
}
