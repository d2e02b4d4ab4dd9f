//! Third-party kinds that come late, break, leave and return, while everything else goes on: the rows of table A2 of the design of watch
//! isolation, on real servers.

use std::time::{Duration, Instant};

use aibom_control_plane::audit::Mark;
use aibom_control_plane::wait_until;
use aibom_control_plane::webhook::{Webhook, convert_graph};
use serde_json::{Value, json};

use crate::stage::{A_WHILE, Operator, SOON, Stage, condition, models, root};

const PLURAL: &str = "dynamographdeployments";
const NAME: &str = "dynamographdeployments.nvidia.com";
const HEALTHY: &str = "aibom_watch_healthy{group=\"nvidia.com\",kind=\"DynamoGraphDeployment\"}";

/// The definition of graphs, stored in a version: the real one where there is one, else one that takes everything.
fn definition(stage: &Stage, storage: &str, conversion: &Value) -> Value {
    let file = root().join("../shared/corpus/crds").join(format!("{NAME}.yaml"));
    let mut definition: Value = if file.is_file() {
        let text = stage.plane.kubectl(&["create", "--dry-run=client", "-o", "json", "-f", &file.display().to_string()]).unwrap();
        serde_json::from_str(&text).unwrap()
    } else {
        println!("SKIPPED: the real definition of graphs, because ../shared is absent; one without a schema stands in for it");
        let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
        let version = |name: &str| json!({ "name": name, "served": true, "storage": false, "schema": schema });
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": NAME },
            "spec": {
                "group": "nvidia.com", "scope": "Namespaced", "versions": [version("v1alpha1"), version("v1beta1")],
                "names": { "plural": PLURAL, "singular": "dynamographdeployment", "kind": "DynamoGraphDeployment", "listKind": "DynamoGraphDeploymentList" },
            },
        })
    };
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = json!(version["name"] == storage);
    }
    definition["spec"]["conversion"] = conversion.clone();
    definition
}

/// A graph as its users write it, in the map form.
fn graph(name: &str, model: &str) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": { "name": name, "namespace": "demo" },
        "spec": { "backendFramework": "vllm", "services": {
            "Worker": {
                "componentType": "worker", "replicas": 1,
                "extraPodSpec": { "mainContainer": {
                    "image": "registry.example/ai-dynamo/vllm-runtime:1.0.0",
                    "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", model],
                } },
            },
        } },
    })
}

/// The same in the list form.
fn listed(name: &str, model: &str) -> Value {
    convert_graph(&graph(name, model), "nvidia.com/v1beta1")
}

fn aibom_of(name: &str) -> String {
    format!("nvidia-com-dynamographdeployment-{name}")
}

fn kind(status: &Value) -> Value {
    let kinds = status["kinds"].as_array();
    kinds.into_iter().flatten().find(|kind| kind["kind"] == "DynamoGraphDeployment").cloned().unwrap_or(Value::Null)
}

/// Waits until the kind is in a health.
fn wait_health(stage: &Stage, health: &str) -> Value {
    kind(&stage.wait_config(&format!("graphs are {health}"), |status| kind(status)["health"] == health))
}

/// Reasons of events about the definition of graphs, in the order in which they came.
fn events(stage: &Stage) -> Vec<String> {
    let events = stage.plane.get_json(&["events.events.k8s.io", "--all-namespaces"]).unwrap();
    let mut all: Vec<(String, String)> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["related"]["name"] == NAME)
        .map(|event| (event["eventTime"].as_str().unwrap_or_default().to_owned(), event["reason"].as_str().unwrap_or_default().to_owned()))
        .collect();
    all.sort();
    all.into_iter().map(|(_, reason)| reason).collect()
}

fn wait_events(stage: &Stage, expected: &[&str]) {
    wait_until("events about graphs", SOON, || {
        let events = events(stage);
        Ok(if events == expected { Ok(()) } else { Err(format!("{events:?}, expected {expected:?}")) })
    })
    .unwrap();
}

/// Requests for graphs since a mark, by anybody but the test, with their verbs.
fn asked(stage: &Stage, mark: Mark) -> Vec<String> {
    let audit = stage.plane.audit();
    let (done, watching) = (audit.since(mark).unwrap(), audit.watches_since(mark).unwrap());
    let all = done.iter().chain(watching.iter()).filter(|entry| entry.user_agent.starts_with("k8s-aibom/") && entry.resource == PLURAL);
    all.map(|entry| entry.verb.clone()).collect()
}

/// Deployments of the same cluster get their documents, whatever happens to graphs.
fn others_are_served(stage: &Stage, name: &str) {
    let started = Instant::now();
    stage.serve("demo", name, "acme/quill-7b");
    stage.wait_aibom("demo", &format!("apps-deployment-{name}"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    println!("a Deployment beside ({name}): {:?}", started.elapsed());
}

fn metric(operator: &Operator, wanted: f64) {
    wait_until(&format!("{HEALTHY} {wanted}"), SOON, || {
        let value = operator.metric(HEALTHY);
        Ok(if value == Some(wanted) { Ok(()) } else { Err(format!("{value:?}")) })
    })
    .unwrap();
}

#[test]
fn a_definition_that_comes_late_leaves_and_comes_back_is_followed_without_a_restart() {
    let stage = Stage::new();
    stage.team("demo");
    stage.configure(&json!({}));
    let none = json!({ "strategy": "None" });
    let operator = stage.running(&["--watch-probe-interval=2"]);
    let pid = operator.process.pid();
    others_are_served(&stage, "before");
    // Row 1: nothing is said of what was never there.
    let status = stage.wait_config("it is written", |status| status["observedGeneration"].is_number());
    assert_eq!((kind(&status), events(&stage)), (Value::Null, Vec::new()));
    assert_eq!(condition(&status, "Degraded")["status"], "False", "{status}");

    // Row 2: installed later.
    let v1beta1 = definition(&stage, "v1beta1", &none);
    stage.plane.define(&v1beta1).unwrap();
    let established = Instant::now();
    wait_health(&stage, "Unproven");
    println!("from Established to a complete list: {:?}", established.elapsed());
    assert!(established.elapsed() < Duration::from_mins(1));
    stage.plane.apply(&listed("one", "acme/quill-7b").to_string()).unwrap();
    stage.wait_aibom("demo", &aibom_of("one"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    println!("from Established to the document of a graph: {:?}", established.elapsed());
    wait_health(&stage, "Healthy");
    wait_events(&stage, &["WatchStarted"]);
    metric(&operator, 1.0);

    // Row 4: a change of the definition that changes nothing.
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    stage.plane.kubectl(&["label", "crd", NAME, "touched=yes"]).unwrap();
    std::thread::sleep(A_WHILE);
    assert!(!asked(&stage, mark).contains(&"watch".to_owned()), "its watch was begun anew");
    wait_events(&stage, &["WatchStarted"]);

    // Rows 7 and 10: excluded, and allowed again.
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/Deployment"] } }));
    stage.wait_gone("demo", &aibom_of("one"));
    let excluded = wait_health(&stage, "Disabled");
    assert_eq!(excluded["cause"], "config", "{excluded}");
    wait_events(&stage, &["WatchStarted", "WatchDisabled"]);
    let mark = stage.plane.audit().mark();
    std::thread::sleep(A_WHILE);
    assert_eq!(asked(&stage, mark), [""; 0], "a kind that is excluded is not read");
    // A specification of which nothing is left would be none at all.
    stage.configure(&json!({ "logging": { "level": "info" } }));
    stage.wait_aibom("demo", &aibom_of("one"), "it is back", |aibom| models(aibom) == ["acme/quill-7b"]);
    wait_events(&stage, &["WatchStarted", "WatchDisabled", "WatchRecovered"]);

    // Row 8: the definition goes, and its objects with it.
    stage.plane.kubectl(&["delete", "crd", NAME]).unwrap();
    stage.wait_gone("demo", &aibom_of("one"));
    let removed = wait_health(&stage, "Disabled");
    assert_eq!((&removed["state"], &removed["cause"]), (&json!("Removed"), &json!("crd-removed")), "{removed}");
    wait_events(&stage, &["WatchStarted", "WatchDisabled", "WatchRecovered", "WatchDisabled"]);
    let status = stage.wait_config("nothing is wrong", |status| condition(status, "Degraded")["status"] == "False");
    assert_eq!(condition(&status, "Ready")["status"], "True");

    // Row 2 again, under another UID; and at once, before anybody could look (row 9).
    stage.plane.define(&v1beta1).unwrap();
    stage.plane.apply(&listed("two", "acme/quill-7b").to_string()).unwrap();
    stage.wait_aibom("demo", &aibom_of("two"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.plane.kubectl(&["delete", "crd", NAME, "--wait=true"]).unwrap();
    stage.plane.define(&v1beta1).unwrap();
    stage.plane.apply(&listed("three", "acme/quill-7b").to_string()).unwrap();
    stage.wait_aibom("demo", &aibom_of("three"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.wait_gone("demo", &aibom_of("two"));
    let told = events(&stage);
    let ends: Vec<&str> = told[4..].iter().map(String::as_str).collect();
    assert_eq!(ends, ["WatchStarted", "WatchDisabled", "WatchStarted"], "{told:?}");

    // Row 3: installed while it is excluded.
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/Deployment"] } }));
    stage.plane.kubectl(&["delete", "crd", NAME]).unwrap();
    wait_until("the end of graphs", SOON, || {
        let status = stage.wait_config("graphs are there", |status| kind(status)["state"].is_string());
        Ok(if kind(&status)["state"] == "Removed" { Ok(()) } else { Err(status.to_string()) })
    })
    .unwrap();
    let mark = stage.plane.audit().mark();
    stage.plane.define(&v1beta1).unwrap();
    stage.wait_config("graphs are excluded", |status| kind(status)["state"] == "Ready" && kind(status)["cause"] == "config");
    std::thread::sleep(A_WHILE);
    assert_eq!(asked(&stage, mark), [""; 0]);
    others_are_served(&stage, "after");
    assert_eq!(operator.process.pid(), pid);
    assert!(operator.process.is_running().unwrap());
}

/// The operator, started again where it has ended for want of its lease, as its Deployment would do it.
fn alive(stage: &Stage, operator: Operator) -> Operator {
    // It notices within the time for which it may act on its last renewal.
    std::thread::sleep(Duration::from_secs(11));
    if operator.process.is_running().unwrap() { operator } else { stage.running(&["--watch-probe-interval=2"]) }
}

/// What a person sees of a kind that is out of order.
fn shown(stage: &Stage) -> String {
    stage.plane.kubectl(&["get", "aibomcfg", "-o", "wide"]).unwrap()
}

#[test]
fn a_kind_that_is_out_of_order_is_told_of_and_harms_no_other() {
    let stage = Stage::new();
    stage.team("demo");
    stage.configure(&json!({}));
    let webhook = Webhook::start(&stage.plane, convert_graph).unwrap();
    let conversion = webhook.conversion();
    // Stored as its users write it, and the webhook is down from the start: everything works, and says why.
    stage.plane.define(&definition(&stage, "v1alpha1", &conversion)).unwrap();
    stage.plane.apply(&graph("one", "acme/quill-7b").to_string()).unwrap();
    webhook.stop();
    let operator = stage.running(&["--watch-probe-interval=2"]);
    let (pid, started) = (operator.process.pid(), Instant::now());
    stage.wait_aibom("demo", &aibom_of("one"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    let well = wait_health(&stage, "Healthy");
    assert_eq!(well["version"], "v1alpha1", "{well}");
    assert!(well["message"].as_str().unwrap().contains("webhook is not needed"), "{well}");
    wait_events(&stage, &["WatchRecovered"]);
    others_are_served(&stage, "stored");

    // The stored version is flipped. Old objects need the webhook from now on, which is up at first.
    webhook.resume().unwrap();
    stage.plane.define(&definition(&stage, "v1beta1", &conversion)).unwrap();
    let flipped = kind(&stage.wait_config("the new version is read", |status| kind(status)["version"] == "v1beta1"));
    assert!(flipped["message"].as_str().unwrap().contains("through its conversion webhook"), "{flipped}");
    stage.wait_aibom("demo", &aibom_of("one"), "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.wait_quiet();
    assert_eq!(events(&stage), ["WatchRecovered"], "a change of version is no news");
    assert!(webhook.reviews() > 0);

    // It dies while everything is synced: lists stay green, and the probe sees it.
    let before = stage.aibom("demo", &aibom_of("one")).unwrap();
    webhook.stop();
    let died = Instant::now();
    let sick = wait_health(&stage, "Unhealthy");
    println!("from the end of the webhook to the status: {:?}", died.elapsed());
    assert_eq!(sick["cause"], "Conversion", "{sick}");
    let list = format!("--raw=/apis/nvidia.com/v1beta1/{PLURAL}?limit=1");
    println!("a list now: {:?}", stage.plane.kubectl(&["get", &list]).map(|text| text.len()));
    metric(&operator, 0.0);
    let status = stage.wait_config("it is degraded", |status| condition(status, "Degraded")["reason"] == "ThirdPartyWatchUnhealthy");
    let message = condition(&status, "Degraded")["message"].as_str().unwrap();
    for part in ["nvidia.com/DynamoGraphDeployment", "Conversion", "since 20", "operator of nvidia.com runs"] {
        assert!(message.contains(part), "{part:?} is missing: {message}");
    }
    assert!(shown(&stage).contains("ThirdPartyWatchUnhealthy"), "{}", shown(&stage));
    assert_eq!(condition(&status, "Ready")["status"], "True");
    wait_events(&stage, &["WatchRecovered", "WatchUnhealthy"]);
    others_are_served(&stage, "dead");

    // Nothing is written or deleted for it meanwhile, not even by a namespace that is opted out.
    let mark = stage.plane.audit().mark();
    stage.plane.kubectl(&["label", "namespace", "demo", "aibom.k8saibom.dev/enabled=false", "--overwrite"]).unwrap();
    stage.wait_gone("demo", "apps-deployment-dead");
    stage.plane.kubectl(&["label", "namespace", "demo", "aibom.k8saibom.dev/enabled=true", "--overwrite"]).unwrap();
    stage.wait_aibom("demo", "apps-deployment-dead", "it is back", |aibom| !models(aibom).is_empty());
    let written = stage.writes(mark).filter(|entry| entry.name == aibom_of("one"));
    assert!(written.is_empty(), "{written:?}");

    // The API server is restarted while it is down: its caches are cold, and lists fail too.
    stage.plane.stop_apiserver().unwrap();
    stage.plane.start_apiserver().unwrap();
    let operator = alive(&stage, operator);
    others_are_served(&stage, "restarted");
    std::thread::sleep(A_WHILE);
    wait_health(&stage, "Unhealthy");
    let kept = stage.aibom("demo", &aibom_of("one")).unwrap();
    assert_eq!(kept["metadata"]["uid"], before["metadata"]["uid"]);
    assert_eq!(kept["status"]["bomHash"], before["status"]["bomHash"]);

    // It returns.
    webhook.resume().unwrap();
    let returned = Instant::now();
    wait_health(&stage, "Healthy");
    println!("from the return of the webhook to the status: {:?}", returned.elapsed());
    metric(&operator, 1.0);
    stage.wait_config("nothing is wrong", |status| condition(status, "Degraded")["status"] == "False");
    stage.plane.apply(&listed("two", "acme/pen-1b").to_string()).unwrap();
    stage.wait_aibom("demo", &aibom_of("two"), "its model", |aibom| models(aibom) == ["acme/pen-1b"]);

    // It answers, and has converted nothing: some objects can be read, and the one that cannot decides.
    webhook.lie(true);
    let sick = wait_health(&stage, "Unhealthy");
    assert_eq!(sick["cause"], "Conversion", "{sick}");
    std::thread::sleep(A_WHILE);
    wait_health(&stage, "Unhealthy");
    others_are_served(&stage, "lied");
    webhook.lie(false);
    wait_health(&stage, "Healthy");
    // One that takes its time is no trouble, and nobody else waits for it.
    webhook.delay(Duration::from_secs(3));
    others_are_served(&stage, "slow");
    std::thread::sleep(A_WHILE);
    wait_health(&stage, "Healthy");
    webhook.delay(Duration::ZERO);

    // Rows 5 and 6: no version that anybody reads is served, and back.
    let mut unserved = definition(&stage, "v1beta1", &conversion);
    for version in unserved["spec"]["versions"].as_array_mut().unwrap() {
        version["served"] = json!(false);
    }
    let mark = stage.plane.audit().mark();
    stage.plane.apply(&unserved.to_string()).unwrap();
    let unservable = kind(&stage.wait_config("graphs cannot be served", |status| kind(status)["state"] == "Unservable"));
    assert_eq!((&unservable["health"], &unservable["cause"]), (&json!("Unhealthy"), &json!("Unservable")), "{unservable}");
    others_are_served(&stage, "unserved");
    std::thread::sleep(A_WHILE);
    let written = stage.writes(mark).filter(|entry| entry.name.starts_with(&aibom_of("")));
    assert!(written.is_empty(), "{written:?}");
    stage.plane.apply(&definition(&stage, "v1beta1", &conversion).to_string()).unwrap();
    wait_health(&stage, "Healthy");

    // The right to read it is taken away, and given back.
    let role = stage.plane.get_json(&["clusterrole", "k8s-aibom"]).unwrap();
    let mut narrowed = role.clone();
    narrowed["rules"]
        .as_array_mut()
        .unwrap()
        .retain(|rule| rule["apiGroups"] != json!(["nvidia.com"]) || !rule["resources"].to_string().contains(PLURAL));
    narrowed["metadata"] = json!({ "name": "k8s-aibom" });
    stage.plane.kubectl_stdin(&["replace", "-f", "-"], &narrowed.to_string()).unwrap();
    let forbidden = kind(&stage.wait_config("graphs are forbidden", |status| kind(status)["cause"] == "Forbidden"));
    assert!(forbidden["message"].as_str().unwrap().contains("plugin rbac"), "{forbidden}");
    others_are_served(&stage, "forbidden");
    let mut restored = role;
    restored["metadata"] = json!({ "name": "k8s-aibom" });
    stage.plane.kubectl_stdin(&["replace", "-f", "-"], &restored.to_string()).unwrap();
    wait_health(&stage, "Healthy");

    // The store is gone for half a minute.
    stage.plane.pause_etcd().unwrap();
    std::thread::sleep(Duration::from_secs(30));
    stage.plane.resume_etcd().unwrap();
    wait_until("an API server that answers", SOON, || {
        Ok(stage.plane.kubectl(&["get", "--raw=/readyz"]).map(|_| ()).map_err(|error| error.to_string()))
    })
    .unwrap();
    let operator = alive(&stage, operator);
    others_are_served(&stage, "resumed");
    for name in ["one", "two"] {
        assert!(stage.aibom("demo", &aibom_of(name)).is_some(), "{name}");
    }
    wait_health(&stage, "Healthy");
    println!("same process: {}, {:?} in all", operator.process.pid() == pid, started.elapsed());
}
