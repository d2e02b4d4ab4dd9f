//! One document per workload: what belongs to another is in its document, whatever stands between, and nothing is lost on the way. Objects
//! are made as the operators of these kinds make them, with the real definitions where there are some.

use std::collections::{BTreeMap, BTreeSet};

use aibom_control_plane::{Options, wait_until};
use serde_json::{Value, json};

use crate::stage::{A_WHILE, SOON, Stage, deployment, document, models, root};

const NAMESPACE: &str = "demo";

/// Definition, group, kind and version that is stored of every kind that a chain goes through.
const KINDS: [(&str, &str, &str, &str); 16] = [
    ("dynamographdeployments", "nvidia.com", "DynamoGraphDeployment", "v1beta1"),
    ("dynamocomponentdeployments", "nvidia.com", "DynamoComponentDeployment", "v1beta1"),
    ("podcliquesets", "grove.io", "PodCliqueSet", "v1alpha1"),
    ("podcliquescalinggroups", "grove.io", "PodCliqueScalingGroup", "v1alpha1"),
    ("podcliques", "grove.io", "PodClique", "v1alpha1"),
    ("leaderworkersets", "leaderworkerset.x-k8s.io", "LeaderWorkerSet", "v1"),
    ("disaggregatedsets", "disaggregatedset.x-k8s.io", "DisaggregatedSet", "v1"),
    ("nimservices", "apps.nvidia.com", "NIMService", "v1alpha1"),
    ("nimpipelines", "apps.nvidia.com", "NIMPipeline", "v1alpha1"),
    ("inferenceservices", "serving.kserve.io", "InferenceService", "v1beta1"),
    ("llminferenceservices", "serving.kserve.io", "LLMInferenceService", "v1alpha2"),
    ("rayclusters", "ray.io", "RayCluster", "v1"),
    ("rayservices", "ray.io", "RayService", "v1"),
    ("services", "serving.knative.dev", "Service", "v1"),
    ("configurations", "serving.knative.dev", "Configuration", "v1"),
    ("revisions", "serving.knative.dev", "Revision", "v1"),
];

/// A definition: the real one without its webhook, or one that takes everything.
fn definition(stage: &Stage, (plural, group, kind, stored): (&str, &str, &str, &str)) -> Value {
    let name = format!("{plural}.{group}");
    let file = root().join("../shared/corpus/crds").join(format!("{name}.yaml"));
    if !file.is_file() {
        if group != "serving.knative.dev" {
            println!("SKIPPED: the real definition {name}, because ../shared is absent; one without a schema stands in for it");
        }
        let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
        return json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": name },
            "spec": {
                "group": group, "scope": "Namespaced",
                "versions": [{ "name": stored, "served": true, "storage": true, "schema": schema }],
                "names": { "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List") },
            },
        });
    }
    let text = stage.plane.kubectl(&["create", "--dry-run=client", "-o", "json", "-f", &file.display().to_string()]).unwrap();
    let mut definition: Value = serde_json::from_str(&text).unwrap();
    for version in definition["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = json!(version["name"] == stored);
    }
    definition["spec"]["conversion"] = json!({ "strategy": "None" });
    definition
}

/// An object that was made.
#[derive(Clone)]
struct Made {
    api_version: String,
    kind: String,
    name: String,
    uid: String,
}

impl Made {
    /// The reference by which it controls another.
    fn controls(&self) -> Value {
        json!([{ "apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid, "controller": true }])
    }
}

/// Makes an object of a kind, controlled by another.
fn make(stage: &Stage, api_version: &str, kind: &str, name: &str, spec: &Value, owner: Option<&Made>) -> Made {
    let mut object = json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": name, "namespace": NAMESPACE }, "spec": spec });
    if let Some(owner) = owner {
        object["metadata"]["ownerReferences"] = owner.controls();
    }
    let text = stage.plane.kubectl_stdin(&["create", "-f", "-", "-o", "json"], &object.to_string()).unwrap();
    let made: Value = serde_json::from_str(&text).unwrap();
    let uid = made["metadata"]["uid"].as_str().unwrap().to_owned();
    Made { api_version: api_version.to_owned(), kind: kind.to_owned(), name: name.to_owned(), uid }
}

/// A container that serves a model.
fn serving(container: &str, model: &str) -> Value {
    json!({ "name": container, "image": "vllm/vllm-openai:v0.9.1", "args": ["--model", model] })
}

fn template(app: &str, container: &Value) -> Value {
    json!({ "metadata": { "labels": { "app": app } }, "spec": { "containers": [container] } })
}

/// A Deployment or StatefulSet.
fn set(app: &str, replicas: u32, container: &Value) -> Value {
    json!({ "replicas": replicas, "serviceName": app, "selector": { "matchLabels": { "app": app } }, "template": template(app, container) })
}

fn deployed(app: &str, replicas: u32, container: &Value) -> Value {
    let mut spec = set(app, replicas, container);
    spec.as_object_mut().unwrap().remove("serviceName");
    spec
}

/// A digest that belongs to nobody else.
fn digest(byte: u8) -> String {
    format!("sha256:{}", format!("{byte:02x}").repeat(32))
}

/// The pod of a name runs an image of a digest.
fn runs(stage: &Stage, pod: &str, container: &str, byte: u8) {
    let id = format!("docker.io/vllm/vllm-openai@{}", digest(byte));
    stage.plane.set_pod_status(NAMESPACE, pod, &[(container, "vllm/vllm-openai:v0.9.1", &id)]).unwrap();
}

/// A pod that a controller of Kubernetes has made, by its label.
fn pod_of(stage: &Stage, app: &str) -> String {
    stage
        .plane
        .wait_for(&["pods", "-n", NAMESPACE, "-l", &format!("app={app}")], SOON, |list| {
            Some(list["items"].as_array()?.first()?["metadata"]["name"].as_str()?.to_owned())
        })
        .unwrap()
}

/// A pod that a controller of Kubernetes has made under this name.
fn pod_named(stage: &Stage, name: &str) -> Made {
    let uid = stage.plane.wait_for(&["pod", name, "-n", NAMESPACE], SOON, |pod| Some(pod["metadata"]["uid"].as_str()?.to_owned())).unwrap();
    Made { api_version: "v1".to_owned(), kind: "Pod".to_owned(), name: name.to_owned(), uid }
}

fn names(stage: &Stage) -> BTreeSet<String> {
    stage.aiboms(NAMESPACE).iter().map(|aibom| aibom["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

/// Waits until exactly these AIBOMs are there.
fn wait_names(stage: &Stage, expected: &[&str]) {
    let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
    wait_until("exactly the AIBOMs of the roots", SOON, || {
        let found = names(stage);
        Ok(if found == expected { Ok(()) } else { Err(format!("missing {:?}, too many {:?}", &expected - &found, &found - &expected)) })
    })
    .unwrap();
}

/// Values of a property of the workload in a document.
fn said(aibom: &Value, property: &str) -> Vec<String> {
    let document = document(aibom);
    let properties = document["metadata"]["component"]["properties"].as_array().cloned().unwrap_or_default();
    let named = properties.iter().filter(|known| known["name"].as_str().is_some_and(|name| name.starts_with(property)));
    named.map(|known| known["value"].as_str().unwrap().to_owned()).collect()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a list of chains")]
fn every_chain_ends_in_one_document_of_its_root() {
    let stage = Stage::new();
    stage.team(NAMESPACE);
    for kind in KINDS {
        stage.plane.define(&definition(&stage, kind)).unwrap();
    }
    let ray = json!({ "group": "ray.io", "kind": "RayCluster", "plural": "rayclusters", "version": "v1", "podTemplates": ["/spec/headGroupSpec/template"] });
    stage.configure(&json!({ "discovery": { "podTemplateKinds": [ray] } }));
    let rights = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "rayclusters", "labels": { "aibom.k8saibom.dev/aggregate-to-controller": "true" } },
        "rules": [{ "apiGroups": ["ray.io"], "resources": ["rayclusters"], "verbs": ["get", "list", "watch"] }],
    });
    stage.plane.apply(&rights.to_string()).unwrap();
    let operator = stage.running(&[]);
    let make = |api: &str, kind: &str, name: &str, spec: Value, owner: Option<&Made>| make(&stage, api, kind, name, &spec, owner);
    // Root, what its document names, and the digest of the pod farthest below.
    let mut expected: Vec<(&str, &str, u8)> = Vec::new();
    let graph = |model: &str| json!({ "backendFramework": "vllm", "components": [{ "name": "worker", "type": "worker", "replicas": 1, "podTemplate": { "spec": { "containers": [serving("main", model)] } } }] });
    let component = |model: &str| json!({ "backendFramework": "vllm", "type": "worker", "podTemplate": { "spec": { "containers": [serving("main", model)] } } });

    // A graph over a component and a Deployment, whose command was written again.
    let root = make("nvidia.com/v1beta1", "DynamoGraphDeployment", "plain", graph("acme/plain-7b"), None);
    let middle = make("nvidia.com/v1beta1", "DynamoComponentDeployment", "plain-worker", component("acme/plain-7b"), Some(&root));
    make("apps/v1", "Deployment", "plain-worker", deployed("plain-worker", 1, &serving("main", "acme/plain-7b")), Some(&middle));
    runs(&stage, &pod_of(&stage, "plain-worker"), "main", 1);
    expected.push(("nvidia-com-dynamographdeployment-plain", "acme/plain-7b", 1));

    // A graph over groups of pods: six hops from the worker.
    let root = make("nvidia.com/v1beta1", "DynamoGraphDeployment", "wide", graph("acme/wide-70b"), None);
    let middle = make("nvidia.com/v1beta1", "DynamoComponentDeployment", "wide-worker", component("acme/wide-70b"), Some(&root));
    let groups = |app: &str, model: &str| json!({ "replicas": 1, "leaderWorkerTemplate": { "size": 2, "workerTemplate": template(app, &serving("main", model)) } });
    // The controller of StatefulSets makes their pods, and lets go of those that it would not have made.
    let below_groups = |app: &str, model: &str, owner: &Made, byte: u8| {
        make("apps/v1", "StatefulSet", app, set(app, 1, &serving("main", model)), Some(owner));
        let leader = pod_named(&stage, &format!("{app}-0"));
        let workers = format!("{app}-workers");
        make("apps/v1", "StatefulSet", &format!("{app}-0"), set(&workers, 1, &serving("main", model)), Some(&leader));
        let worker = pod_named(&stage, &format!("{app}-0-0"));
        runs(&stage, &worker.name, "main", byte);
    };
    let lws = make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "wide-worker-0", groups("wide", "acme/wide-70b"), Some(&middle));
    below_groups("wide", "acme/wide-70b", &lws, 2);
    expected.push(("nvidia-com-dynamographdeployment-wide", "acme/wide-70b", 2));

    // The same by Grove, of which nothing is read: two paths.
    let root = make("nvidia.com/v1beta1", "DynamoGraphDeployment", "grown", graph("acme/grown-7b"), None);
    let clique =
        json!({ "replicas": 1, "minAvailable": 1, "roleName": "worker", "podSpec": { "containers": [serving("main", "acme/grown-7b")] } });
    let cliques = json!({ "replicas": 1, "template": { "cliques": [{ "name": "worker", "spec": clique }] } });
    let set_of = make("grove.io/v1alpha1", "PodCliqueSet", "grown", cliques, Some(&root));
    let direct = make("grove.io/v1alpha1", "PodClique", "grown-0-worker", clique.clone(), Some(&set_of));
    make("v1", "Pod", "grown-direct", json!({ "containers": [serving("main", "acme/grown-7b")] }), Some(&direct));
    let scaled = json!({ "replicas": 1, "minAvailable": 1, "cliqueNames": ["worker"] });
    let group = make("grove.io/v1alpha1", "PodCliqueScalingGroup", "grown-0-group", scaled, Some(&set_of));
    let inner = make("grove.io/v1alpha1", "PodClique", "grown-0-group-0-worker", clique, Some(&group));
    make("v1", "Pod", "grown-scaled", json!({ "containers": [serving("main", "acme/grown-7b")] }), Some(&inner));
    runs(&stage, "grown-direct", "main", 3);
    runs(&stage, "grown-scaled", "main", 33);
    expected.push(("nvidia-com-dynamographdeployment-grown", "acme/grown-7b", 3));
    expected.push(("nvidia-com-dynamographdeployment-grown", "acme/grown-7b", 33));

    // A component of its own.
    let root = make("nvidia.com/v1beta1", "DynamoComponentDeployment", "alone", component("acme/alone-7b"), None);
    make("apps/v1", "Deployment", "alone", deployed("alone", 1, &serving("main", "acme/alone-7b")), Some(&root));
    runs(&stage, &pod_of(&stage, "alone"), "main", 4);
    expected.push(("nvidia-com-dynamocomponentdeployment-alone", "acme/alone-7b", 4));

    // Services of a pipeline; one of them over Knative by an InferenceService: eight hops from the pod.
    let service = |name: &str| json!({ "image": { "repository": format!("nvcr.io/nim/acme/{name}"), "tag": "1.0" } });
    let pipeline = json!({ "services": [{ "name": "deep", "enabled": true, "spec": service("deep-8b") }] });
    let root = make("apps.nvidia.com/v1alpha1", "NIMPipeline", "line", pipeline, None);
    let nim = make("apps.nvidia.com/v1alpha1", "NIMService", "deep", service("deep-8b"), Some(&root));
    let predictor = |model: &str| json!({ "predictor": { "containers": [serving("kserve-container", model)] } });
    let below_knative = |app: &str, model: &str, owner: &Made, byte: u8| {
        let knative = make("serving.knative.dev/v1", "Service", app, json!({ "x": 1 }), Some(owner));
        let configuration = make("serving.knative.dev/v1", "Configuration", app, json!({ "x": 1 }), Some(&knative));
        let revision = make("serving.knative.dev/v1", "Revision", &format!("{app}-00001"), json!({ "x": 1 }), Some(&configuration));
        let spec = deployed(app, 1, &serving("kserve-container", model));
        make("apps/v1", "Deployment", &format!("{app}-00001-deployment"), spec, Some(&revision));
        runs(&stage, &pod_of(&stage, app), "kserve-container", byte);
    };
    let inference = make("serving.kserve.io/v1beta1", "InferenceService", "deep", predictor("acme/deep-8b"), Some(&nim));
    below_knative("deep", "acme/deep-8b", &inference, 5);
    expected.push(("apps-nvidia-com-nimpipeline-line", "acme/deep-8b", 5));

    // A service over a Deployment, and one over several nodes.
    let root = make("apps.nvidia.com/v1alpha1", "NIMService", "near", service("near-8b"), None);
    make("apps/v1", "Deployment", "near", deployed("near", 1, &serving("near-ctr", "acme/near-8b")), Some(&root));
    runs(&stage, &pod_of(&stage, "near"), "near-ctr", 6);
    expected.push(("apps-nvidia-com-nimservice-near", "acme/near-8b", 6));
    let root = make("apps.nvidia.com/v1alpha1", "NIMService", "far", service("far-8b"), None);
    let lws = make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "far-lws", groups("far", "acme/far-8b"), Some(&root));
    below_groups("far", "acme/far-8b", &lws, 7);
    expected.push(("apps-nvidia-com-nimservice-far", "acme/far-8b", 7));

    // KServe, plain and over Knative, and with a predictor that its scraper leaves to the containers.
    let root = make("serving.kserve.io/v1beta1", "InferenceService", "raw", predictor("acme/raw-7b"), None);
    make("apps/v1", "Deployment", "raw-predictor", deployed("raw", 1, &serving("kserve-container", "acme/raw-7b")), Some(&root));
    runs(&stage, &pod_of(&stage, "raw"), "kserve-container", 8);
    expected.push(("serving-kserve-io-inferenceservice-raw", "acme/raw-7b", 8));
    let root = make("serving.kserve.io/v1beta1", "InferenceService", "less", predictor("acme/less-7b"), None);
    below_knative("less", "acme/less-7b", &root, 9);
    expected.push(("serving-kserve-io-inferenceservice-less", "acme/less-7b", 9));
    let llm = json!({ "model": { "uri": "hf://acme/llm-7b", "name": "acme/llm-7b" } });
    let root = make("serving.kserve.io/v1alpha2", "LLMInferenceService", "llm", llm, None);
    make("apps/v1", "Deployment", "llm-kserve", deployed("llm", 1, &serving("main", "acme/llm-7b")), Some(&root));
    let scheduler = json!({ "name": "main", "image": "registry.example/llm-d-scheduler:v1" });
    make("apps/v1", "Deployment", "llm-kserve-router-scheduler", deployed("llm-scheduler", 0, &scheduler), Some(&root));
    runs(&stage, &pod_of(&stage, "llm"), "main", 10);
    expected.push(("serving-kserve-io-llminferenceservice-llm", "acme/llm-7b", 10));

    // Sets by role, groups of their own, jobs by a clock, pods of a kind without a scraper.
    let roles = ["prefill", "decode"].map(|role| json!({ "name": role, "spec": groups("split", "acme/split-7b") }));
    let roles = json!({ "roles": roles });
    let root = make("disaggregatedset.x-k8s.io/v1", "DisaggregatedSet", "split", roles, None);
    let lws = make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "split-prefill", groups("split", "acme/split-7b"), Some(&root));
    below_groups("split", "acme/split-7b", &lws, 11);
    expected.push(("disaggregatedset-x-k8s-io-disaggregatedset-split", "acme/split-7b", 11));
    let lws = make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "own", groups("own", "acme/own-7b"), None);
    below_groups("own", "acme/own-7b", &lws, 12);
    expected.push(("leaderworkerset-x-k8s-io-leaderworkerset-own", "acme/own-7b", 12));
    let mut job = json!({ "template": template("clock", &serving("main", "acme/clock-7b")) });
    job["template"]["spec"]["restartPolicy"] = json!("Never");
    let clock = json!({ "schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": { "spec": job } });
    let root = make("batch/v1", "CronJob", "clock", clock, None);
    make("batch/v1", "Job", "clock-1", job, Some(&root));
    runs(&stage, &pod_of(&stage, "clock"), "main", 13);
    expected.push(("batch-cronjob-clock", "acme/clock-7b", 13));
    let head = json!({ "headGroupSpec": { "rayStartParams": {}, "template": template("ray", &serving("ray-head", "acme/ray-7b")) } });
    let above = make("ray.io/v1", "RayService", "ray", json!({ "rayClusterConfig": head }), None);
    let root = make("ray.io/v1", "RayCluster", "ray-x7k2p", head, Some(&above));
    make("v1", "Pod", "ray-head", json!({ "containers": [serving("ray-head", "acme/ray-7b")] }), Some(&root));
    runs(&stage, "ray-head", "ray-head", 14);
    expected.push(("ray-io-raycluster-ray-x7k2p", "acme/ray-7b", 14));

    let roots: Vec<&str> = expected.iter().map(|(root, ..)| *root).collect();
    wait_names(&stage, &roots);
    for (name, model, byte) in &expected {
        let digest = digest(*byte);
        stage.wait_aibom(NAMESPACE, name, &format!("{model} and {digest}"), |aibom| {
            let inline = aibom["status"]["bomDocument"]["inline"]["data"].is_string();
            inline && models(aibom) == [*model] && document(aibom).to_string().contains(&digest)
        });
    }
    let aibom = stage.aibom(NAMESPACE, "nvidia-com-dynamographdeployment-wide").unwrap();
    assert_eq!(
        said(&aibom, "aibom.rollup.owned."),
        ["DynamoComponentDeployment/wide-worker", "LeaderWorkerSet/wide-worker-0", "StatefulSet/wide"]
    );
    // Jobs come and go; those of a clock are no content.
    let aibom = stage.aibom(NAMESPACE, "batch-cronjob-clock").unwrap();
    assert_eq!(said(&aibom, "aibom.rollup.owned."), [""; 0]);
    // A kind above that nobody follows is named.
    let aibom = stage.aibom(NAMESPACE, "ray-io-raycluster-ray-x7k2p").unwrap();
    assert_eq!(said(&aibom, "aibom.rollup.unresolved"), ["its controller, RayService/ray (ray.io), is of a kind that is not followed"]);
    stage.wait_quiet();

    // A restart says nothing new.
    operator.process.terminate().unwrap();
    operator.process.wait_exit(SOON).unwrap();
    let mark = stage.plane.audit().mark();
    let operator = stage.running(&[]);
    std::thread::sleep(A_WHILE * 3);
    stage.wait_quiet();
    let writes = stage.writes(mark).on("aiboms");
    assert!(writes.is_empty(), "{writes:?}");

    // In the middle of a chain stands a kind that may not be read: what is below it speaks for itself, and says why.
    operator.process.terminate().unwrap();
    operator.process.wait_exit(SOON).unwrap();
    let mut role = stage.plane.get_json(&["clusterrole", "k8s-aibom"]).unwrap();
    for rule in role["rules"].as_array_mut().unwrap() {
        rule["resources"].as_array_mut().unwrap().retain(|resource| resource != "revisions");
    }
    stage.plane.kubectl_stdin(&["replace", "-f", "-"], &role.to_string()).unwrap();
    let _operator = stage.running(&[]);
    let aibom = stage.wait_aibom(NAMESPACE, "apps-deployment-less-00001-deployment", "its own", |aibom| models(aibom) == ["acme/less-7b"]);
    assert_eq!(said(&aibom, "aibom.rollup.unresolved"), ["its controller, Revision/less-00001 (serving.knative.dev), may not be read"]);
    assert!(stage.aibom(NAMESPACE, "serving-kserve-io-inferenceservice-less").is_some());
}

#[test]
fn nobody_hides_behind_an_owner_and_no_change_leaves_a_gap() {
    let stage = Stage::new();
    stage.team(NAMESPACE);
    for kind in KINDS.into_iter().filter(|(plural, ..)| ["leaderworkersets", "inferenceservices"].contains(plural)) {
        stage.plane.define(&definition(&stage, kind)).unwrap();
    }
    stage.configure(&json!({}));
    let _operator = stage.running(&[]);
    let make = |api: &str, kind: &str, name: &str, spec: Value, owner: Option<&Made>| make(&stage, api, kind, name, &spec, owner);
    let hidden = |name: &str, owner: &Made| {
        make("apps/v1", "Deployment", name, deployed(name, 0, &serving("main", &format!("acme/{name}"))), Some(owner));
    };

    // Behind an empty CronJob, behind a service that says nothing, behind itself.
    let plain = json!({ "name": "main", "image": "busybox:1.36" });
    let mut job = json!({ "template": template("clock", &plain) });
    job["template"]["spec"]["restartPolicy"] = json!("Never");
    let clock =
        make("batch/v1", "CronJob", "clock", json!({ "schedule": "0 0 1 1 *", "suspend": true, "jobTemplate": { "spec": job } }), None);
    hidden("behind-clock", &clock);
    let silent = json!({ "predictor": { "containers": [{ "name": "kserve-container", "image": "registry.example/web:1" }] } });
    let service = make("serving.kserve.io/v1beta1", "InferenceService", "silent", silent, None);
    hidden("behind-service", &service);
    let own = make("apps/v1", "Deployment", "own", deployed("own", 0, &serving("main", "acme/own")), None);
    stage
        .plane
        .kubectl(&[
            "patch",
            "deployment",
            "own",
            "-n",
            NAMESPACE,
            "--type=merge",
            "-p",
            &json!({ "metadata": { "ownerReferences": own.controls() } }).to_string(),
        ])
        .unwrap();
    let hides = ["apps-deployment-behind-clock", "apps-deployment-own"];
    for name in hides {
        stage.wait_aibom(NAMESPACE, name, "in the inventory", |aibom| !models(aibom).is_empty());
    }
    // A service of a kind that is for inference speaks, and says what stands behind it.
    stage.wait_aibom(NAMESPACE, "serving-kserve-io-inferenceservice-silent", "what stands behind it", |aibom| {
        models(aibom) == ["acme/behind-service"]
    });
    stage.wait_aibom(NAMESPACE, "apps-deployment-own", "why it stands for itself", |aibom| {
        said(aibom, "aibom.rollup.unresolved") == ["its owners form a circle"]
    });

    // The child first, then the owner that speaks.
    let groups = json!({ "replicas": 0, "leaderWorkerTemplate": { "size": 2, "workerTemplate": template("late", &serving("main", "acme/late-7b")) } });
    make("apps/v1", "StatefulSet", "late", set("late", 0, &serving("main", "acme/late-7b")), None);
    stage.wait_aibom(NAMESPACE, "apps-statefulset-late", "its own", |aibom| models(aibom) == ["acme/late-7b"]);
    let owner = make("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "late", groups, None);
    let adopt = json!({ "metadata": { "ownerReferences": owner.controls() } }).to_string();
    stage.plane.kubectl(&["patch", "statefulset", "late", "-n", NAMESPACE, "--type=merge", "-p", &adopt]).unwrap();
    stage.wait_gone(NAMESPACE, "apps-statefulset-late");
    let late = "leaderworkerset-x-k8s-io-leaderworkerset-late";
    let aibom = stage.aibom(NAMESPACE, late).expect("the document above is there before the one below goes");
    assert_eq!(said(&aibom, "aibom.rollup.owned.0"), ["StatefulSet/late"]);

    // Excluded by configuration, what belongs to it reports itself before its own goes; and back.
    let watched = |what: &str, from: &str, to: &str| {
        wait_until(what, SOON, || {
            let found = names(&stage);
            assert!(found.contains(from) || found.contains(to), "a gap: {found:?}");
            Ok(if found.contains(to) && !found.contains(from) { Ok(()) } else { Err(format!("{found:?}")) })
        })
        .unwrap();
    };
    stage.configure(&json!({ "discovery": { "workloadKinds": ["apps/StatefulSet", "apps/Deployment"] } }));
    watched("the part reports itself", late, "apps-statefulset-late");
    let kinds = ["apps/StatefulSet", "apps/Deployment", "leaderworkerset.x-k8s.io/LeaderWorkerSet"];
    stage.configure(&json!({ "discovery": { "workloadKinds": kinds } }));
    watched("the owner speaks again", "apps-statefulset-late", late);

    // The owner goes, and leaves what it owned behind.
    stage.plane.kubectl(&["delete", "leaderworkerset", "late", "-n", NAMESPACE, "--cascade=orphan"]).unwrap();
    stage.wait_aibom(NAMESPACE, "apps-statefulset-late", "its own again", |aibom| models(aibom) == ["acme/late-7b"]);
    stage.wait_gone(NAMESPACE, late);
}

/// Without the garbage collector, which would soon take these objects away: until it does, and where it cannot, they run.
#[test]
fn nobody_hides_behind_an_owner_that_is_gone_or_elsewhere() {
    let controllers = vec!["--controllers=*,-garbage-collector-controller".to_owned()];
    let stage = Stage::with(&Options { controller_manager_args: controllers, ..Options::default() });
    stage.team(NAMESPACE);
    stage.plane.create_namespace("elsewhere", &[("aibom.k8saibom.dev/enabled", "true")]).unwrap();
    stage.configure(&json!({}));
    let _operator = stage.running(&[]);
    let made = |name: &str, owner: Option<&Made>| {
        make(&stage, "apps/v1", "Deployment", name, &deployed(name, 0, &serving("main", &format!("acme/{name}"))), owner)
    };
    let gone = Made { uid: "0c2b8c1e-5d0f-4f0e-9d57-0a4f6d3c1b2a".to_owned(), ..made("stays", None) };
    made("behind-gone", Some(&gone));
    let far = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "far", "namespace": "elsewhere" },
        "spec": deployed("far", 0, &serving("main", "acme/far")),
    });
    stage.plane.apply(&far.to_string()).unwrap();
    let uid = stage.plane.get_json(&["deployment", "far", "-n", "elsewhere"]).unwrap()["metadata"]["uid"].as_str().unwrap().to_owned();
    made("behind-far", Some(&Made { api_version: "apps/v1".to_owned(), kind: "Deployment".to_owned(), name: "far".to_owned(), uid }));
    for (name, why) in [
        ("behind-gone", "its controller, Deployment/stays (apps), is not there"),
        ("behind-far", "its controller, Deployment/far (apps), is in another namespace"),
    ] {
        stage.wait_aibom(NAMESPACE, &format!("apps-deployment-{name}"), why, |aibom| {
            models(aibom) == [format!("acme/{name}")] && said(aibom, "aibom.rollup.unresolved") == [why]
        });
    }
}

#[test]
fn a_rollout_shows_both_digests_with_their_pods_and_asks_for_nothing() {
    let stage = Stage::new();
    stage.team(NAMESPACE);
    let _operator = stage.running(&[]);
    let name = "apps-deployment-chat";
    let mut chat = deployment(NAMESPACE, "chat", "acme/quill-7b", 4);
    chat["spec"]["strategy"] = json!({ "rollingUpdate": { "maxSurge": 4, "maxUnavailable": 0 } });
    stage.plane.apply(&chat.to_string()).unwrap();
    let pods = |known: &BTreeSet<String>, count: usize| -> BTreeSet<String> {
        stage
            .plane
            .wait_for(&["pods", "-n", NAMESPACE], SOON, |list| {
                let names = list["items"].as_array()?.iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned());
                let new: BTreeSet<String> = names.filter(|name| !known.contains(name)).collect();
                (new.len() == count).then_some(new)
            })
            .unwrap()
    };
    let first = pods(&BTreeSet::new(), 4);
    stage.wait_aibom(NAMESPACE, name, "its model", |aibom| !models(aibom).is_empty());
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    for pod in &first {
        runs(&stage, pod, "server", 1);
    }
    stage.wait_aibom(NAMESPACE, name, "the digest of its pods", |aibom| document(aibom).to_string().contains(&digest(1)));
    stage.wait_quiet();
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 1, "one for what four pods say: {writes:?}");

    // Another revision, of which a part runs.
    chat["spec"]["template"]["metadata"]["annotations"] = json!({ "example.com/turn": "2" });
    stage.plane.apply(&chat.to_string()).unwrap();
    let second = pods(&first, 4);
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    for pod in second.iter().take(2) {
        stage
            .plane
            .set_pod_status(NAMESPACE, pod, &[("server", "vllm/vllm-openai:v0.9.1", &format!("docker.io/vllm/vllm-openai@{}", digest(2)))])
            .unwrap();
    }
    let lines = |aibom: &Value| -> BTreeMap<String, String> {
        let document = document(aibom);
        let components = document["components"].as_array().unwrap();
        let properties = components.iter().flat_map(|component| component["properties"].as_array().into_iter().flatten());
        properties
            .filter(|property| property["name"] == "image.digest.pods")
            .filter_map(|property| property["value"].as_str()?.split_once(' ').map(|(digest, rest)| (digest.to_owned(), rest.to_owned())))
            .collect()
    };
    let mixed = stage.wait_aibom(NAMESPACE, name, "both digests", |aibom| lines(aibom).len() == 2);
    let seen = lines(&mixed);
    assert!(seen[&digest(2)].starts_with("pods=2 container=server revision=2"), "{seen:?}");
    assert!(seen[&digest(1)].contains("container=server revision=1"), "{seen:?}");
    // Done: one again.
    for pod in second.iter().skip(2) {
        runs(&stage, pod, "server", 2);
    }
    let done = stage.wait_aibom(NAMESPACE, name, "one digest", |aibom| {
        let text = document(aibom).to_string();
        text.contains(&digest(2)) && !text.contains(&digest(1))
    });
    assert!(lines(&done).is_empty());
    stage.wait_quiet();
    // Nothing was asked for by name, however many pods have changed.
    let asked = stage.plane.audit().since(mark).unwrap().by_agent("k8s-aibom/").with_verb("get").filter(|entry| entry.resource != "leases");
    assert!(asked.is_empty(), "{asked:?}");
    let writes = stage.writes(mark);
    println!("writes for a rollout of 4 pods: {}", writes.len());
    assert!(writes.len() <= 8, "{writes:?}");
}

/// Numbers that look random, and are the same in every run.
fn shuffled(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

#[test]
fn of_two_hundred_trees_of_owners_every_model_is_in_one_document() {
    const TREES: usize = 200;
    let stage = Stage::new();
    stage.team(NAMESPACE);
    let _operator = stage.running(&[]);
    let mut seed = 20_261_130;
    // Level by level: whoever controls another has to be there first, with a UID.
    let mut above: Vec<(usize, Value)> = Vec::new();
    let mut said = BTreeSet::new();
    for level in 0..3 {
        let mut objects = Vec::new();
        for tree in 0..TREES {
            let owners: Vec<&Value> = above.iter().filter(|(of, _)| *of == tree).map(|(_, object)| object).collect();
            let count = if level == 0 { 1 } else { shuffled(&mut seed) % 3 };
            for number in 0..count {
                let name = format!("t{tree}-{level}-{number}");
                let says = !shuffled(&mut seed).is_multiple_of(3);
                let container =
                    if says { serving("main", &format!("acme/{name}")) } else { json!({ "name": "main", "image": "busybox:1.36" }) };
                let kind = if shuffled(&mut seed).is_multiple_of(2) { "Deployment" } else { "StatefulSet" };
                let spec = if kind == "Deployment" { deployed(&name, 0, &container) } else { set(&name, 0, &container) };
                let mut object = json!({ "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name, "namespace": NAMESPACE, "labels": { "level": level.to_string() } }, "spec": spec });
                if level > 0 {
                    let Some(owner) = owners.get(usize::try_from(shuffled(&mut seed)).unwrap() % owners.len().max(1)) else { continue };
                    object["metadata"]["ownerReferences"] = json!([{
                        "apiVersion": "apps/v1", "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": true,
                    }]);
                }
                if says {
                    said.insert(format!("acme/{name}"));
                }
                objects.push(object);
            }
        }
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        stage.plane.kubectl_stdin(&["create", "-f", "-"], &list.to_string()).unwrap();
        let made = stage.plane.get_json(&["deployments,statefulsets", "-n", NAMESPACE, "-l", &format!("level={level}")]).unwrap();
        above = made["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|object| {
                let name = object["metadata"]["name"].as_str().unwrap();
                (name[1..].split('-').next().unwrap().parse().unwrap(), object.clone())
            })
            .collect();
    }
    println!("{} models in {TREES} trees", said.len());
    wait_until("every model in one document", SOON, || {
        let found: Vec<String> =
            stage.aiboms(NAMESPACE).iter().flat_map(|aibom| models(aibom).into_iter().map(str::to_owned).collect::<Vec<_>>()).collect();
        let set: BTreeSet<String> = found.iter().cloned().collect();
        Ok(if set == said && found.len() == said.len() {
            Ok(())
        } else {
            let missing: Vec<_> = said.difference(&set).take(5).collect();
            Err(format!("{} of {}, {} times; missing {missing:?}", set.len(), said.len(), found.len()))
        })
    })
    .unwrap();
}
