//! The charts on a real API server.

use std::process::Command;

use aibom_control_plane::binaries::{self, Tool};
use aibom_control_plane::{ControlPlane, Options};

use serde_json::json;

use crate::stage::{RELEASE, SOON, SYSTEM, Stage, root};

fn helm(plane: &ControlPlane, args: &[&str]) -> Result<String, String> {
    let folder = plane.folder().join("helm");
    let output = Command::new(binaries::find(Tool::Helm).unwrap())
        .args(args)
        .env("KUBECONFIG", plane.kubeconfig())
        .env("HELM_CACHE_HOME", folder.join("cache"))
        .env("HELM_CONFIG_HOME", folder.join("config"))
        .env("HELM_DATA_HOME", folder.join("data"))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(format!("{}{}", text(&output.stdout), text(&output.stderr))) }
}

#[test]
fn the_charts_lint_and_install_and_every_object_is_accepted_as_it_is_under_the_strictest_pod_security() {
    let plane = ControlPlane::start(&Options::default()).unwrap();
    plane
        .create_namespace(
            SYSTEM,
            &[("pod-security.kubernetes.io/enforce", "restricted"), ("pod-security.kubernetes.io/warn", "restricted")],
        )
        .unwrap();
    let charts = root().join("charts");
    let chart = |name: &str| charts.join(name).display().to_string();
    let (crds, operator) = (chart("k8s-aibom-crds"), chart("k8s-aibom"));
    for path in [&crds, &operator] {
        helm(&plane, &["lint", "--strict", path]).unwrap();
    }
    let system = format!("--namespace={SYSTEM}");
    // Without the definitions nothing is half installed.
    assert!(helm(&plane, &["install", RELEASE, &operator, &system]).is_err());
    let _ = helm(&plane, &["uninstall", RELEASE, &system, "--ignore-not-found"]);
    helm(&plane, &["install", "crds", &crds, &system, "--wait"]).unwrap();
    let text = helm(&plane, &["install", RELEASE, &operator, &system]).unwrap();
    assert!(text.contains("aibom.k8saibom.dev/enabled=true"), "what to do next is said: {text}");
    // There is no kubelet, so the pod stays pending; that it exists says that admission let it in.
    plane.wait_for(&["pods", "-n", SYSTEM], crate::stage::SOON, |list| (list["items"].as_array()?.len() == 1).then_some(())).unwrap();
    helm(&plane, &["upgrade", RELEASE, &operator, &system, "--set", "replicas=3"]).unwrap();
    plane.wait_for(&["pods", "-n", SYSTEM], crate::stage::SOON, |list| (list["items"].as_array()?.len() >= 3).then_some(())).unwrap();
    helm(&plane, &["uninstall", RELEASE, &system]).unwrap();
    helm(&plane, &["uninstall", "crds", &system]).unwrap();
    // AIBOMs outlive the release that wrote them.
    plane.kubectl(&["get", "crd", "aiboms.aibom.k8saibom.dev"]).unwrap();
}

#[test]
fn values_that_make_no_sense_are_refused_before_anything_is_installed() {
    for wrong in ["replicas=none", "config.bomGeneration.inlineThresholdBytes=1", "image.pullPolicy=Sometimes", "nosuchvalue=1"] {
        let output = Command::new(binaries::find(Tool::Helm).unwrap())
            .args(["template", RELEASE, &root().join("charts/k8s-aibom").display().to_string(), "--set", wrong])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{wrong} was accepted");
    }
}

#[test]
fn b03_definitions_of_another_version_are_named_and_the_operator_ends() {
    let stage = Stage::new();
    let name = "aiboms.aibom.k8saibom.dev";
    let crd = stage.plane.get_json(&["crd", name]).unwrap();
    let versions = crd["spec"]["versions"].as_array().unwrap();
    let index = versions.iter().position(|version| version["name"] == "v1beta1").unwrap();
    let patch = json!([{ "op": "replace", "path": format!("/spec/versions/{index}/served"), "value": false }]).to_string();
    stage.plane.kubectl(&["patch", "crd", name, "--type=json", "-p", &patch]).unwrap();
    let operator = stage.operator("aibom-0", &[]);
    let status = operator.process.wait_exit(SOON).unwrap();
    let log = operator.process.log_tail(20);
    assert!(!status.success(), "{log}");
    assert!(log.contains(&format!("the definition {name} does not serve v1beta1")) && log.contains("install the definitions"), "{log}");
}
