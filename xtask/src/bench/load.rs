//! What the cluster is loaded with: manifests, and their creation by several clients at the same time.

use std::thread;

use aibom_control_plane::ControlPlane;
use anyhow::{Result, anyhow};
use serde_json::{Value, json};

/// Clients that create side by side. More do not make it faster on two cores.
const WRITERS: usize = 8;

/// What a client takes at a time: a list of all would be held in memory several times over.
const AT_ONCE: usize = 500;

/// Names of Deployments begin so.
const NAME: &str = "model-";

/// The name of the Deployment with this number.
pub(crate) fn name(number: usize) -> String {
    format!("{NAME}{number:05}")
}

/// A server of a model without pods, with what such a manifest usually has: some 4 KB as it is stored.
pub(crate) fn deployment(namespace: &str, number: usize) -> Value {
    let name = name(number);
    let labels = json!({"app.kubernetes.io/name": name, "app.kubernetes.io/component": "server"});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "containers": [{
                        "name": "server",
                        "image": "vllm/vllm-openai:v0.6.3",
                        "args": ["--model", format!("acme-org/model-{number:05}-Instruct"), "--port", "8000"],
                        "env": [
                            {"name": "HF_HOME", "value": "/cache"},
                            {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token"}}},
                        ],
                        "ports": [{"name": "http", "containerPort": 8000}],
                        "resources": {"limits": {"nvidia.com/gpu": "1", "memory": "64Gi"}, "requests": {"cpu": "4"}},
                    }],
                },
            },
        },
    })
}

/// A pod that has nothing to do with AI: some 6 KB as it is stored, with what the API server notes about its fields.
pub(crate) fn pod(namespace: &str, number: usize) -> Value {
    let env: Vec<Value> = (0..34)
        .map(|index| json!({"name": format!("SETTING_{index:02}"), "value": format!("value-{index:02}-of-a-service-of-the-shop")}))
        .collect();
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": format!("shop-{number:05}"), "namespace": namespace, "labels": {"app": "shop"}},
        "spec": {
            "containers": [{"name": "shop", "image": "registry.example/shop/frontend:2.4.1", "env": env, "ports": [{"containerPort": 8080}]}],
        },
    })
}

/// A pod of the Deployment with this number and UID, as a controller would make it from the template.
pub(crate) fn pod_of(namespace: &str, number: usize, replica: usize, uid: &str) -> Value {
    let spec = deployment(namespace, number)["spec"]["template"]["spec"].take();
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": format!("{}-{replica}", name(number)), "namespace": namespace,
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name(number), "uid": uid, "controller": true}],
        },
        "spec": spec,
    })
}

/// Runs a command of kubectl over many objects, by several clients at the same time.
pub(crate) fn each(plane: &ControlPlane, names: &[String], verb: &[&str], rest: &[&str]) -> Result<()> {
    thread::scope(|scope| {
        let clients: Vec<_> = names
            .chunks(names.len().div_ceil(WRITERS).max(1))
            .map(|mine| {
                scope.spawn(move || {
                    for names in mine.chunks(AT_ONCE) {
                        let args: Vec<&str> =
                            verb.iter().copied().chain(names.iter().map(String::as_str)).chain(rest.iter().copied()).collect();
                        plane.kubectl(&args)?;
                    }
                    anyhow::Ok(())
                })
            })
            .collect();
        for client in clients {
            client.join().map_err(|_| anyhow!("a client that changes objects panicked"))??;
        }
        Ok(())
    })
}

/// Creates the objects with these numbers as fast as this machine does it.
pub(crate) fn create(plane: &ControlPlane, count: usize, manifest: impl Fn(usize) -> Value + Sync) -> Result<()> {
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS.min(count))
            .map(|writer| {
                scope.spawn({
                    let manifest = &manifest;
                    move || {
                        // Each has its share of every part, so that they end at the same time.
                        let mine: Vec<usize> = (writer..count).step_by(WRITERS).collect();
                        for numbers in mine.chunks(AT_ONCE) {
                            let items: Vec<Value> = numbers.iter().map(|number| manifest(*number)).collect();
                            let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
                            plane.kubectl_stdin(&["create", "--validate=ignore", "--output=name", "--filename=-"], &list)?;
                        }
                        anyhow::Ok(())
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().map_err(|_| anyhow!("a client that creates objects panicked"))??;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_deployment_serves_a_model_of_its_own_and_has_no_pods() {
        let (one, other) = (deployment("a", 1), deployment("a", 2));
        assert_eq!(one["metadata"]["name"], "model-00001");
        assert_eq!(one["spec"]["replicas"], 0);
        assert_ne!(one["spec"]["template"]["spec"]["containers"][0]["args"], other["spec"]["template"]["spec"]["containers"][0]["args"]);
    }
}
