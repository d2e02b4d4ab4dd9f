//! What the configuration says about itself: what has no effect, what is wrong after a restart, how much is looked at.

use std::time::Duration;

use serde_json::{Value, json};

use crate::stage::{Operator, SOON, Stage, condition, models};

fn kind<'a>(status: &'a Value, name: &str) -> &'a Value {
    let kinds = status["kinds"].as_array();
    kinds.into_iter().flatten().find(|kind| kind["kind"] == name).unwrap_or(&Value::Null)
}

fn end(operator: &Operator) {
    operator.process.terminate().unwrap();
    operator.process.wait_exit(SOON).unwrap();
}

#[test]
fn after_a_restart_the_conditions_say_whether_there_was_a_good_state() {
    let stage = Stage::new();
    stage.team("demo");
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/Nothing"] } }));
    let reason = |status: &Value| condition(status, "Degraded")["reason"].as_str().unwrap_or_default().to_owned();
    let operator = stage.running(&[]);
    stage.wait_config("it was never valid", |status| reason(status) == "RunningOnDefaults");
    stage.wait_quiet();
    end(&operator);
    // Restarted twice: the status that the run before left behind is no good state either.
    for _ in 0..2 {
        let mark = stage.plane.audit().mark();
        let operator = stage.running(&[]);
        stage.wait_quiet();
        stage.wait_config("still", |status| reason(status) == "RunningOnDefaults");
        assert_eq!(stage.writes(mark).len(), 0, "{:?}", stage.writes(mark));
        end(&operator);
    }
    let operator = stage.running(&[]);
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/StatefulSet"] } }));
    stage.wait_config("it is valid", |status| reason(status) == "ConfigLoaded");
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/Nothing"] } }));
    stage.wait_config("the last good state", |status| reason(status) == "RunningOnLastKnownGood");
    end(&operator);
    let _operator = stage.running(&[]);
    stage.wait_quiet();
    let status = stage.wait_config("the same after a restart", |status| reason(status) == "RunningOnLastKnownGood");
    assert_eq!(status["effectiveConfiguration"]["discovery"]["workloadKinds"], json!(["apps/StatefulSet"]));
}

#[test]
fn what_is_configured_and_has_no_effect_is_said() {
    let stage = Stage::new();
    stage.team("demo");
    // Kinds of a built-in plugin that this cluster does not serve, and a plugin that there is not.
    stage.configure(&json!({
        "discovery": { "workloadKinds": ["apps/Deployment", "leaderworkerset.x-k8s.io/LeaderWorkerSet"] },
        "plugins": [{ "name": "wigdets" }, { "name": "nim", "kinds": ["example.com/Gadget"] }],
        "logging": { "level": "debug" },
    }));
    let operator = stage.running(&[]);
    let status = stage.wait_config("what has no effect", |status| kind(status, "LeaderWorkerSet")["state"] == "Absent");
    let ready = condition(&status, "Ready");
    assert_eq!(ready["status"], "True");
    for part in ["the cluster does not serve leaderworkerset.x-k8s.io/LeaderWorkerSet", "spec.plugins[wigdets]", "spec.plugins[nim].kinds"]
    {
        assert!(ready["message"].as_str().unwrap().contains(part), "{part}: {ready}");
    }
    let plugins = status["plugins"].as_array().unwrap();
    let unknown = plugins.iter().find(|plugin| plugin["name"] == "wigdets").unwrap();
    assert_eq!(unknown["state"], "NotFound");
    assert!(unknown["message"].as_str().unwrap().contains("workloads"), "what there is: {unknown}");

    // The level is in force, and changes while the operator runs.
    let debug = || std::fs::read_to_string(operator.process.log()).unwrap().matches(r#""level":"debug""#).count();
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-chat", "its model", |aibom| !models(aibom).is_empty());
    assert!(debug() > 0, "{}", operator.process.log_tail(5));
    stage.configure(&json!({ "logging": { "level": "info" } }));
    stage.wait_config("another level", |status| status["effectiveConfiguration"]["logging"]["level"] == "info");
    stage.wait_quiet();
    let before = debug();
    stage.serve("demo", "more", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-more", "its model", |aibom| !models(aibom).is_empty());
    assert_eq!(debug(), before);

    // Counts follow, once a minute at most.
    let mark = stage.plane.audit().mark();
    for number in 0..5 {
        stage.serve("demo", &format!("server-{number}"), "acme/quill-7b");
        std::thread::sleep(Duration::from_secs(1));
    }
    stage.wait_config("seven Deployments", |status| kind(status, "Deployment")["objects"] == 7);
    let statuses = stage.writes(mark).filter(|entry| entry.resource == "aibomcontrollerconfigs");
    assert!(statuses.len() <= 3, "{statuses:?}");
}

#[test]
fn a_definition_that_lacks_a_field_is_reported_by_its_name_and_namespaces_ask_for_nothing_again() {
    let stage = Stage::new();
    let name = "aibomcontrollerconfigs.aibom.k8saibom.dev";
    let mut definition = stage.plane.get_json(&["crd", name]).unwrap();
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        let spec = version.pointer_mut("/schema/openAPIV3Schema/properties/spec/properties").unwrap();
        spec.as_object_mut().unwrap().remove("plugins").unwrap();
    }
    stage.plane.kubectl_stdin(&["replace", "-f", "-"], &definition.to_string()).unwrap();
    stage.team("demo");
    stage.configure(&json!({}));
    let _operator = stage.running(&[]);
    let status = stage.wait_config("the missing field", |status| condition(status, "Degraded")["reason"] == "SchemaPredatesController");
    let message = condition(&status, "Degraded")["message"].as_str().unwrap().to_owned();
    assert!(message.contains(name) && message.contains("spec.plugins"), "{message}");

    // Most kinds of the built-in plugins are not served here, and a namespace more is no reason to look for them again.
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    for number in 0..5 {
        stage.team(&format!("more-{number}"));
    }
    stage.serve("more-4", "chat", "acme/quill-7b");
    stage.wait_aibom("more-4", "apps-deployment-chat", "its model", |aibom| !models(aibom).is_empty());
    let asked = stage
        .plane
        .audit()
        .since(mark)
        .unwrap()
        .by_agent("k8s-aibom/")
        .filter(|entry| entry.uri.starts_with("/apis?") || entry.uri == "/apis");
    assert_eq!(asked.len(), 0, "{asked:?}");
}
