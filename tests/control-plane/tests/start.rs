//! The control plane is a real one, and the definitions of the custom resources hold on it.
//!
//! One control plane for all tests, one namespace for each.

#![allow(clippy::unwrap_used, reason = "a failed test may panic anywhere")]

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use aibom_control_plane::binaries::Tool;
use aibom_control_plane::cluster::{ADMIN, Detached};
use aibom_control_plane::{ControlPlane, Options};
use serde_json::{Value, json};

/// For what takes a moment, on a machine under load.
const SOON: Duration = Duration::from_mins(1);

fn cluster() -> &'static ControlPlane {
    static CLUSTER: OnceLock<ControlPlane> = OnceLock::new();
    CLUSTER.get_or_init(|| {
        let cluster = ControlPlane::start(&Options::default()).unwrap();
        cluster.install_crds(&crds()).unwrap();
        cluster
    })
}

fn crds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crds")
}

fn deployment(namespace: &str, name: &str) -> String {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "server", "image": "registry.example/server:1"}]},
            },
        },
    })
    .to_string()
}

fn aibom(namespace: &str, name: &str, workload: &str) -> String {
    json!({
        "apiVersion": "aibom.k8saibom.dev/v1beta1",
        "kind": "AIBOM",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "bomFormat": "CycloneDX",
            "bomSpecVersion": "1.6",
            "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": workload},
        },
    })
    .to_string()
}

#[test]
fn a_control_plane_starts_and_answers_with_the_pinned_version() {
    let version = cluster().kubectl(&["get", "--raw=/version"]).unwrap();
    let version: Value = serde_json::from_str(&version).unwrap();
    if std::env::var_os("KUBEBUILDER_ASSETS").is_none() {
        // The version on PATH may be another patch.
        let minor: String = Tool::KubeApiserver.version().split_inclusive('.').take(2).collect();
        let of_this = format!("v{minor}");
        assert!(version["gitVersion"].as_str().unwrap().starts_with(&of_this), "{version}");
        // Clients name themselves with it, and so can be told apart in the audit log.
        let mark = cluster().audit().mark();
        cluster().kubectl(&["get", "--raw=/version"]).unwrap();
        let agent = format!("kubectl/{of_this}");
        cluster().audit().wait(mark, "kubectl by its version", SOON, |entries| !entries.by_agent(&agent).is_empty()).unwrap();
    }
    assert_eq!(cluster().kubectl(&["get", "--raw=/readyz"]).unwrap(), "ok");
}

#[test]
fn every_definition_of_the_project_is_accepted_and_established() {
    let files = std::fs::read_dir(crds()).unwrap().count();
    // Applied once more: without a change, since the server keeps what it is given.
    let names = cluster().install_crds(&crds()).unwrap();
    assert!(files > 0 && names.len() == files, "{files} files, {names:?}");
    for name in names {
        let crd = cluster().get_json(&["customresourcedefinition", &name]).unwrap();
        let conditions = crd["status"]["conditions"].as_array().unwrap();
        // The schema is structural, and no rule of it is refused.
        assert!(!conditions.iter().any(|condition| condition["type"] == "NonStructuralSchema"), "{name}: {conditions:#?}");
        assert_eq!(crd["metadata"]["generation"], 1, "{name} is changed by applying it again");
    }
}

#[test]
fn the_workload_of_an_aibom_cannot_be_changed() {
    let cluster = cluster();
    cluster.create_namespace("immutable", &[]).unwrap();
    cluster.apply(&aibom("immutable", "one", "web")).unwrap();
    let other = r#"{"spec":{"workloadRef":{"name":"other"}}}"#;
    for resource in ["aiboms.v1beta1.aibom.k8saibom.dev", "aiboms.v1alpha1.aibom.k8saibom.dev"] {
        let error = cluster
            .kubectl(&["patch", resource, "one", "--namespace=immutable", "--type=merge", "--patch", other])
            .unwrap_err()
            .to_string();
        assert!(error.contains("workloadRef is immutable") && error.contains("spec.workloadRef"), "{resource}: {error}");
    }
    let found = cluster.get_json(&["aibom", "one", "--namespace=immutable"]).unwrap();
    assert_eq!(found["spec"]["workloadRef"]["name"], "web");
}

#[test]
fn a_value_out_of_its_range_is_refused_with_the_path_of_its_field() {
    let config = |spec: &Value| {
        json!({"apiVersion": "aibom.k8saibom.dev/v1beta1", "kind": "AIBOMControllerConfig", "metadata": {"name": "limits"}, "spec": spec})
            .to_string()
    };
    for (spec, path) in [
        (json!({"logging": {"level": "loud"}}), "spec.logging.level"),
        (json!({"bomGeneration": {"specVersion": "1.5"}}), "spec.bomGeneration.specVersion"),
        (json!({"bomGeneration": {"inlineThresholdBytes": 1023}}), "spec.bomGeneration.inlineThresholdBytes"),
        (json!({"bomGeneration": {"inlineThresholdBytes": 1_048_577}}), "spec.bomGeneration.inlineThresholdBytes"),
        (json!({"plugins": [{"name": ""}]}), "spec.plugins[0].name"),
    ] {
        let error = cluster().kubectl_stdin(&["create", "--filename=-"], &config(&spec)).unwrap_err();
        assert!(error.stderr().contains(&format!("{path}:")), "{spec} -> {error}");
    }
    let good = json!({"logging": {"level": "debug"}, "bomGeneration": {"inlineThresholdBytes": 1024, "specVersion": "1.7"}});
    cluster().kubectl_stdin(&["create", "--filename=-"], &config(&good)).unwrap();
}

#[test]
fn a_deployment_gets_a_replica_set_and_a_pod_and_the_audit_log_says_by_whom() {
    let cluster = cluster();
    cluster.create_namespace("controllers", &[]).unwrap();
    let mark = cluster.audit().mark();
    cluster.apply(&deployment("controllers", "web")).unwrap();
    let (pod, owner) = cluster
        .wait_for(&["pods", "--namespace=controllers"], SOON, |pods| {
            let pod = pods["items"].get(0)?;
            let owner = pod["metadata"]["ownerReferences"][0]["name"].as_str()?;
            Some((pod["metadata"]["name"].as_str()?.to_owned(), owner.to_owned()))
        })
        .unwrap();
    let replica_set = cluster.get_json(&["replicaset", &owner, "--namespace=controllers"]).unwrap();
    assert_eq!(replica_set["metadata"]["ownerReferences"][0]["name"], "web");

    let here = |entries: &aibom_control_plane::audit::Entries| entries.writes().in_namespace("controllers");
    let found =
        cluster.audit().wait(mark, "the pod's creation", SOON, |entries| !here(entries).with_verb("create").on("pods").is_empty()).unwrap();
    let writes = here(&found);
    let deployments = writes.on("deployments").filter(|entry| entry.subresource.is_empty() && entry.user_agent.starts_with("kubectl"));
    assert_eq!(deployments.len(), 1, "{writes}");
    assert_eq!((deployments[0].verb.as_str(), deployments[0].user.as_str()), ("patch", ADMIN), "{writes}");
    let sets = writes.with_verb("create").on("replicasets");
    assert_eq!(sets.len(), 1, "{writes}");
    assert!(sets[0].user_agent.contains("deployment-controller") && sets[0].code == 201, "{writes}");

    cluster.set_pod_status("controllers", &pod, &[("server", "registry.example/server:1", "registry.example/server@sha256:aa")]).unwrap();
    cluster
        .wait_for(&["deployment", "web", "--namespace=controllers"], SOON, |found| {
            (found["status"]["availableReplicas"] == 1).then_some(())
        })
        .unwrap();
}

#[test]
fn deleting_an_owner_deletes_what_it_owns() {
    let cluster = cluster();
    cluster.create_namespace("owners", &[]).unwrap();
    cluster.apply(&deployment("owners", "web")).unwrap();
    let pods = ["pods", "--namespace=owners"];
    cluster.wait_for(&pods, SOON, |pods| pods["items"].get(0).map(|_| ())).unwrap();
    cluster.kubectl(&["delete", "deployment", "web", "--namespace=owners"]).unwrap();
    cluster.wait_for(&pods, SOON, |pods| pods["items"].as_array().is_some_and(Vec::is_empty).then_some(())).unwrap();
}

#[test]
fn a_service_account_may_do_what_its_role_says_and_nothing_else() {
    let cluster = cluster();
    cluster.create_namespace("accounts", &[]).unwrap();
    cluster.kubectl(&["create", "serviceaccount", "reader", "--namespace=accounts"]).unwrap();
    let reader = cluster.service_account_kubeconfig("accounts", "reader").unwrap();
    let configmaps = ["get", "configmaps", "--namespace=accounts"];
    let refused = cluster.kubectl_as(&reader, &configmaps, "").unwrap_err();
    assert!(refused.stderr().contains("system:serviceaccount:accounts:reader"), "{refused}");
    assert!(refused.stderr().contains("cannot list resource \"configmaps\""), "{refused}");

    cluster.kubectl(&["create", "role", "reader", "--verb=get,list", "--resource=configmaps", "--namespace=accounts"]).unwrap();
    let mark = cluster.audit().mark();
    cluster
        .kubectl(&["create", "rolebinding", "reader", "--role=reader", "--serviceaccount=accounts:reader", "--namespace=accounts"])
        .unwrap();
    // The authorizer learns of the role by a watch.
    aibom_control_plane::wait_until("the role to hold", SOON, || {
        Ok(cluster.kubectl_as(&reader, &configmaps, "").map_err(|error| error.to_string()))
    })
    .unwrap();
    let refused = cluster.kubectl_as(&reader, &["create", "configmap", "one", "--namespace=accounts"], "").unwrap_err();
    assert!(refused.stderr().contains("cannot create resource \"configmaps\""), "{refused}");

    let found = cluster
        .audit()
        .wait(mark, "the refused creation", SOON, |entries| {
            let own = entries.by_service_account("accounts", "reader");
            own.writes().iter().any(|entry| entry.code == 403) && own.with_verb("list").iter().any(|entry| entry.code == 200)
        })
        .unwrap();
    assert!(found.by_service_account("accounts", "reader").iter().all(|entry| entry.resource == "configmaps" || entry.resource.is_empty()));
}

#[test]
fn a_user_has_the_rights_of_his_groups() {
    let cluster = cluster();
    cluster.kubectl(&["create", "clusterrolebinding", "watchers", "--clusterrole=view", "--group=watchers"]).unwrap();
    let jane = cluster.user_kubeconfig("jane@example.org", &["watchers"]).unwrap();
    let mark = cluster.audit().mark();
    aibom_control_plane::wait_until("the binding to hold", SOON, || {
        Ok(cluster.kubectl_as(&jane, &["get", "pods", "--all-namespaces"], "").map_err(|error| error.to_string()))
    })
    .unwrap();
    let refused = cluster.kubectl_as(&jane, &["create", "namespace", "mine"], "").unwrap_err();
    assert!(refused.stderr().contains("jane@example.org"), "{refused}");
    let write =
        cluster.audit().wait(mark, "her request", SOON, |entries| !entries.by_user("jane@example.org").writes().is_empty()).unwrap();
    assert_eq!(write.by_user("jane@example.org").writes()[0].code, 403);
}

#[test]
fn a_control_plane_that_is_let_go_runs_on_until_its_record_is_used_to_end_it() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("plane");
    let options = Options { controller_manager: false, folder: Some(folder.clone()), ..Options::default() };
    let record = serde_json::to_string(&ControlPlane::start(&options).unwrap().detach().unwrap()).unwrap();
    let detached: Detached = serde_json::from_str(&record).unwrap();
    let output = detached.kubectl().args(["get", "--raw=/readyz"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ok");
    let error = ControlPlane::start(&options).unwrap_err().to_string();
    assert!(error.contains("not empty"), "a second one does not begin in the same folder: {error}");
    assert!(detached.is_running());
    detached.stop().unwrap();
    assert!(!detached.is_running() && !folder.exists());
    detached.stop().expect("ending it twice is no error");
}

/// With a control plane of its own, since the others would see the outage.
#[test]
fn an_outage_of_the_api_server_keeps_data_and_address() {
    let cluster = ControlPlane::start(&Options { controller_manager: false, ..Options::default() }).unwrap();
    cluster.create_namespace("kept", &[]).unwrap();
    let url = cluster.url();
    let folder = cluster.folder().to_path_buf();
    cluster.kubectl(&["create", "serviceaccount", "client", "--namespace=kept"]).unwrap();
    let client = cluster.service_account_kubeconfig("kept", "client").unwrap();
    let mark = cluster.audit().mark();

    cluster.stop_apiserver().unwrap();
    cluster.stop_apiserver().expect("stopping twice is no error");
    let error = cluster.kubectl(&["get", "namespace", "kept"]).unwrap_err();
    assert!(error.stderr().contains("refused"), "{error}");

    cluster.start_apiserver().unwrap();
    cluster.start_apiserver().expect("nor is starting twice");
    assert_eq!(cluster.url(), url);
    assert!(cluster.kubectl(&["get", "namespace", "kept"]).is_ok());
    let refused = cluster.kubectl_as(&client, &["get", "pods", "--namespace=kept"], "").unwrap_err();
    assert!(refused.stderr().contains("system:serviceaccount:kept:client"), "a token from before is still good: {refused}");
    let found = cluster.audit().since(mark).unwrap();
    assert!(!found.on("namespaces").with_verb("get").in_namespace("kept").is_empty(), "the log goes on: {found}");

    cluster.pause_apiserver().unwrap();
    let error = cluster.kubectl(&["get", "namespace", "kept", "--request-timeout=1s"]).unwrap_err();
    assert!(!error.stderr().contains("refused"), "a paused server accepts and is silent: {error}");
    cluster.resume_apiserver().unwrap();
    assert!(cluster.kubectl(&["get", "namespace", "kept"]).is_ok());

    drop(cluster);
    if std::env::var_os("AIBOM_KEEP_CLUSTER").is_none() {
        assert!(!folder.exists(), "{} is left", folder.display());
    }
}
