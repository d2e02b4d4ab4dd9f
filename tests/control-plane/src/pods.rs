//! Statuses of pods as a kubelet would write them: there is none here, and images have digests only in a status.

use serde_json::{Value, json};

/// When everything has started: a fixed time, so that the same test writes the same status twice.
const STARTED: &str = "2026-01-01T00:00:00Z";

/// The status of a pod whose containers all run and are ready. Each has a name, the image as the kubelet reports it, and the id of the image,
/// such as `registry.example/server@sha256:…`.
pub fn pod_status_json(containers: &[(&str, &str, &str)]) -> Value {
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": STARTED});
    let statuses: Vec<Value> = containers
        .iter()
        .enumerate()
        .map(|(number, (name, image, image_id))| {
            json!({
                "name": name,
                "image": image,
                "imageID": image_id,
                "containerID": format!("containerd://{number:064x}"),
                "ready": true,
                "started": true,
                "restartCount": 0,
                "state": {"running": {"startedAt": STARTED}},
            })
        })
        .collect();
    json!({
        "phase": "Running",
        "startTime": STARTED,
        "conditions": [condition("PodScheduled"), condition("Initialized"), condition("ContainersReady"), condition("Ready")],
        "containerStatuses": statuses,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_container_has_its_image_id_and_a_containers_id_of_its_own() {
        let status = pod_status_json(&[("server", "a:1", "a@sha256:11"), ("proxy", "b:1", "b@sha256:22")]);
        let containers = status["containerStatuses"].as_array().unwrap();
        assert_eq!(containers[1]["imageID"], "b@sha256:22");
        assert_eq!(containers[0]["name"], "server");
        assert_ne!(containers[0]["containerID"], containers[1]["containerID"]);
    }
}
