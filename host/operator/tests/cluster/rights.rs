//! The operator has every right that it needs, and none that it does not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::stage::{A_WHILE, RELEASE, SYSTEM, Stage, models, rendered, root};

/// A verb on a resource, as the audit log has them.
type Right = (String, String, String);

/// The rights of the chart's roles.
fn granted() -> BTreeSet<Right> {
    let mut granted = BTreeSet::new();
    for template in ["clusterrole.yaml", "role.yaml"] {
        let role: Value = serde_saphyr::from_str(&rendered(&[], &[template])).unwrap();
        for rule in role["rules"].as_array().unwrap() {
            let words = |key: &str| rule[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>();
            for (group, resource, verb) in words("apiGroups").into_iter().flat_map(|group| {
                let verbs = words("verbs");
                words("resources").into_iter().flat_map(move |resource| {
                    let group = group.clone();
                    verbs.clone().into_iter().map(move |verb| (group.clone(), resource.clone(), verb))
                })
            }) {
                assert!(verb != "*" && resource != "*" && group != "*", "a right on everything");
                granted.insert((group, resource, verb));
            }
        }
    }
    granted
}

/// Kinds and versions of the built-in plugins, by group and plural.
fn kinds() -> BTreeMap<(String, String), (String, Vec<String>)> {
    let mut kinds = BTreeMap::new();
    for plugin in std::fs::read_dir(root().join("target/plugins")).unwrap() {
        let path = plugin.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let output =
            std::process::Command::new(env!("CARGO_BIN_EXE_k8s-aibom")).args(["plugin", "inspect", "--json"]).arg(path).output().unwrap();
        let about: Value = serde_json::from_slice(&output.stdout).unwrap();
        for name in ["kinds", "intermediates", "related"].iter().flat_map(|list| about[list].as_array().unwrap()) {
            let (name, versions) = name.as_str().unwrap().trim_end_matches(')').split_once(" (").unwrap();
            let (group, kind) = name.split_once('/').unwrap();
            let group = if group == "core" { "" } else { group };
            let versions = versions.split(", ").map(str::to_owned).collect();
            kinds.insert((group.to_owned(), format!("{}s", kind.to_lowercase())), (kind.to_owned(), versions));
        }
    }
    kinds
}

/// A definition that takes everything.
fn definition(group: &str, plural: &str, kind: &str, versions: &[String]) -> Value {
    let scope = if plural.starts_with("cluster") { "Cluster" } else { "Namespaced" };
    let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(index, version)| json!({ "name": version, "served": true, "storage": index == 0, "schema": schema }))
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.{group}"), "annotations": { "api-approved.kubernetes.io": "unapproved, for a test" } },
        "spec": {
            "group": group, "scope": scope, "versions": versions,
            "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List") },
        },
    })
}

#[test]
fn every_right_of_the_roles_is_used_and_none_is_missing() {
    let stage = Stage::new();
    let kinds = kinds();
    let granted = granted();
    // Every kind that the roles name, and that is not Kubernetes' own.
    let foreign: BTreeSet<(&str, &str)> = granted
        .iter()
        .filter(|(group, _, _)| !group.ends_with("k8s.io") || group.contains("x-k8s.io"))
        .filter(|(group, resource, _)| !["", "apps", "batch", "aibom.k8saibom.dev"].contains(&&**group) && !resource.contains('/'))
        .map(|(group, resource, _)| (&**group, &**resource))
        .collect();
    for (group, plural) in foreign {
        let (kind, versions) =
            kinds.get(&(group.to_owned(), plural.to_owned())).unwrap_or_else(|| panic!("no plugin reads {plural}.{group}"));
        stage.plane.define(&definition(group, plural, kind, versions)).unwrap();
    }
    stage.team("demo");
    stage.configure(&json!({}));
    // Each has an object, by which it is probed.
    for (group, plural) in
        granted.iter().filter(|(group, _, verb)| group.contains('.') && verb == "watch").map(|(group, plural, _)| (group, plural))
    {
        if let Some((kind, versions)) = kinds.get(&(group.clone(), plural.clone())) {
            let object = json!({ "apiVersion": format!("{group}/{}", versions[0]), "kind": kind, "metadata": { "name": "plain", "namespace": "demo" } });
            stage.plane.apply(&object.to_string()).unwrap();
        }
    }
    let operator = stage.running(&["--watch-probe-interval=2"]);
    // What it reads of its own accord, and what other objects ask for.
    stage.serve("demo", "chat", "acme/quill-7b");
    for object in [
        json!({ "apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService", "metadata": { "name": "nim", "namespace": "demo" },
                "spec": { "image": { "repository": "registry.example/nim/acme/quill", "tag": "1" }, "storage": { "nimCache": { "name": "weights" } } } }),
        json!({ "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": { "name": "isvc", "namespace": "demo" },
                "spec": { "predictor": { "model": { "modelFormat": { "name": "quill" }, "runtime": "quillserve", "storageUri": "hf://acme/quill-7b" } } } }),
        json!({ "apiVersion": "serving.kserve.io/v1alpha1", "kind": "LLMInferenceService", "metadata": { "name": "llm", "namespace": "demo" },
                "spec": { "model": { "uri": "hf://acme/quill-7b" }, "baseRefs": [{ "name": "common" }] } }),
    ] {
        stage.plane.apply(&object.to_string()).unwrap();
    }
    let name = "apps-deployment-chat";
    stage.wait_aibom("demo", name, "its model", |aibom| !models(aibom).is_empty());
    for name in ["apps-nvidia-com-nimservice-nim", "serving-kserve-io-inferenceservice-isvc", "serving-kserve-io-llminferenceservice-llm"] {
        stage.wait_aibom("demo", name, "it is read", |aibom| aibom["status"]["bomHash"].is_string());
    }
    // Somebody else's change is read; a workload that is gone, and one that is not AI any more, have theirs taken away.
    let forged = json!({ "status": { "bomHash": "0".repeat(64) } }).to_string();
    stage.plane.kubectl(&["patch", "aibom", name, "-n", "demo", "--subresource=status", "--type=merge", "-p", &forged]).unwrap();
    stage.wait_aibom("demo", name, "repaired", |aibom| aibom["status"]["bomHash"] != "0".repeat(64));
    stage.plane.kubectl(&["label", "namespace", "demo", "aibom.k8saibom.dev/enabled-"]).unwrap();
    stage.wait_gone("demo", name);
    stage.wait_config("every kind was probed", |status| {
        let kinds = status["kinds"].as_array().map(Vec::as_slice).unwrap_or_default();
        kinds.iter().filter(|kind| kind["group"].as_str().unwrap_or_default().contains('.')).all(|kind| kind["health"] == "Healthy")
    });
    std::thread::sleep(A_WHILE);
    stage.wait_config("it is written", |status| status["observedGeneration"].is_number());
    stage.wait_quiet();
    drop(operator);

    let user = format!("system:serviceaccount:{SYSTEM}:{RELEASE}");
    let audit = stage.plane.audit();
    let mut used = BTreeSet::new();
    let mut refused = Vec::new();
    let (done, watching) = (audit.since(audit.start()).unwrap(), audit.watches_since(audit.start()).unwrap());
    for entry in done.by_user(&user).iter().chain(watching.by_user(&user).iter()).filter(|entry| !entry.resource.is_empty()) {
        if entry.code == 403 {
            refused.push(entry.to_string());
        }
        let subresource = if entry.subresource.is_empty() { String::new() } else { format!("/{}", entry.subresource) };
        used.insert((entry.api_group.clone(), format!("{}{subresource}", entry.resource), entry.verb.clone()));
    }
    assert_eq!(refused, Vec::<String>::new());
    // An apply that creates is written down as a patch, and needs both rights.
    used.insert(("aibom.k8saibom.dev".to_owned(), "aiboms".to_owned(), "create".to_owned()));
    let unused: Vec<&Right> = granted.difference(&used).collect();
    assert!(unused.is_empty(), "rights that nothing uses: {unused:?}");
    let more: Vec<&Right> = used.difference(&granted).collect();
    assert!(more.is_empty(), "rights that another role gave: {more:?}");
}
