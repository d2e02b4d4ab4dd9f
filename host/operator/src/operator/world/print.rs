//! Whether two pod templates run the same: a print of what containers are told.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Print of the containers of a pod specification. Those of a pod and of the template that it was made from are equal unless something in
/// between has changed what runs: an admission webhook, an operator, another revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Print([u8; 16]);

/// What is looked at of an object before it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Print of its containers; none for an object without a pod specification where Kubernetes' own kinds have it.
    pub print: Option<Print>,
    /// It is scaled to nothing.
    pub empty: bool,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound = "'de: 'o")]
struct Object<'o> {
    spec: Spec<'o>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound = "'de: 'o")]
struct Spec<'o> {
    containers: Vec<Container<'o>>,
    init_containers: Vec<Container<'o>>,
    replicas: Option<i64>,
    template: Option<Box<Object<'o>>>,
    job_template: Option<Box<Object<'o>>>,
}

/// What stands here is told to the programs that run. Fields as the server wrote them: it writes the same the same way.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound = "'de: 'o")]
struct Container<'o> {
    name: Option<&'o RawValue>,
    image: Option<&'o RawValue>,
    command: Option<&'o RawValue>,
    args: Option<&'o RawValue>,
    env: Option<&'o RawValue>,
    env_from: Option<&'o RawValue>,
    resources: Option<Resources<'o>>,
}

/// Of what a container asks for, what tells of devices. Processors and memory are set by limit ranges and autoscalers from pod to pod.
#[derive(Default, Deserialize)]
#[serde(default, bound = "'de: 'o")]
struct Resources<'o> {
    limits: BTreeMap<Cow<'o, str>, &'o RawValue>,
    requests: BTreeMap<Cow<'o, str>, &'o RawValue>,
    claims: Option<&'o RawValue>,
}

impl Shape {
    /// The shape of an object. One of another make has none.
    pub fn of(object: &str) -> Self {
        let Ok(object) = serde_json::from_str::<Object<'_>>(object) else { return Self::default() };
        let empty = object.spec.replicas == Some(0);
        let mut spec = &object.spec;
        // A template of jobs holds one of pods.
        while let Some(inner) = spec.template.as_ref().or(spec.job_template.as_ref()) {
            spec = &inner.spec;
        }
        let has_pod = !spec.containers.is_empty();
        Self { print: has_pod.then(|| print(spec)), empty }
    }
}

fn print(spec: &Spec<'_>) -> Print {
    let mut hash = Sha256::new();
    for (list, containers) in [(0_u8, &spec.init_containers), (1, &spec.containers)] {
        for container in containers {
            hash.update([list]);
            let fields = [
                container.name,
                container.image,
                container.command,
                container.args,
                container.env,
                container.env_from,
                container.resources.as_ref().and_then(|resources| resources.claims),
            ];
            for field in fields {
                word(&mut hash, field.map_or("", RawValue::get));
            }
            if let Some(resources) = &container.resources {
                devices(&mut hash, resources);
            }
        }
    }
    let mut print = [0; 16];
    print.copy_from_slice(&hash.finalize()[..16]);
    Print(print)
}

/// Devices by name, which every device has a domain in (Kubernetes' extended resources). Of a limit without a request the API server makes
/// a request of the same in pods, and does not in templates.
fn devices(hash: &mut Sha256, resources: &Resources<'_>) {
    let names: BTreeSet<&Cow<'_, str>> =
        resources.limits.keys().chain(resources.requests.keys()).filter(|name| name.contains('/')).collect();
    for name in names {
        let limit = resources.limits.get(name);
        word(hash, name);
        for quantity in [limit, resources.requests.get(name).or(limit)] {
            word(hash, quantity.map_or("", |quantity| quantity.get()));
        }
    }
}

fn word(hash: &mut Sha256, text: &str) {
    hash.update(text.len().to_le_bytes());
    hash.update(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shape(object: &Value) -> Shape {
        Shape::of(&object.to_string())
    }

    #[test]
    fn a_pod_and_every_template_around_it_have_one_print() {
        let pod = json!({ "containers": [{ "name": "engine", "image": "r.io/a:1", "args": ["--model", "acme/quill-7b"] }] });
        let own = shape(&json!({ "spec": pod })).print.unwrap();
        let template = json!({ "metadata": { "labels": { "a": "b" } }, "spec": pod });
        for object in [
            json!({ "spec": { "replicas": 2, "template": template } }),
            json!({ "spec": { "schedule": "@daily", "jobTemplate": { "spec": { "template": template } } } }),
        ] {
            assert_eq!(shape(&object).print, Some(own), "{object}");
        }
        let mut injected = pod.clone();
        injected["containers"].as_array_mut().unwrap().push(json!({ "name": "proxy", "image": "r.io/proxy:1" }));
        assert_ne!(shape(&json!({ "spec": injected })).print, Some(own));
        // What only the pod has, and tells nobody anything.
        let mut placed = pod;
        placed["nodeName"] = json!("node-1");
        placed["containers"][0]["volumeMounts"] = json!([{ "name": "kube-api-access-x7k2p", "mountPath": "/var/run/secrets" }]);
        assert_eq!(shape(&json!({ "spec": placed })).print, Some(own));
    }

    #[test]
    fn what_the_server_and_the_cluster_add_to_the_resources_of_a_pod_makes_no_other_print() {
        let with = |resources: Value| shape(&json!({ "spec": { "containers": [{ "name": "a", "resources": resources }] } })).print.unwrap();
        let template = with(json!({ "limits": { "nvidia.com/gpu": "1", "memory": "64Gi" }, "requests": { "cpu": "4" } }));
        let pod = json!({
            "limits": { "memory": "64Gi", "nvidia.com/gpu": "1", "cpu": "8" },
            "requests": { "cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1" },
        });
        assert_eq!(with(pod), template);
        assert_ne!(with(json!({ "limits": { "nvidia.com/gpu": "2" } })), template);
        assert_ne!(with(json!({ "limits": { "nvidia.com/gpu": "1" }, "claims": [{ "name": "gpu" }] })), template);
        assert_ne!(with(json!({})), template);
    }

    #[test]
    fn an_object_without_a_pod_has_no_print_and_one_that_is_scaled_to_nothing_is_empty() {
        assert_eq!(shape(&json!({ "spec": { "model": "x" } })), Shape::default());
        assert_eq!(shape(&json!({ "spec": 7 })), Shape::default());
        assert!(shape(&json!({ "spec": { "replicas": 0, "template": { "spec": { "containers": [{ "name": "a" }] } } } })).empty);
    }
}
