//! What pods ask for and mount.

use super::*;

#[test]
fn devices_volumes_and_claims_are_facts() {
    let yaml = "apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]
  containers:
  - name: a
    image: vllm/vllm-openai
    args: [--model, /m/deep/x]
    resources: {limits: {nvidia.com/gpu: 4, cpu: 2}, requests: {nvidia.com/gpu: 4}, claims: [{name: g}]}
    volumeMounts: [{name: net, mountPath: /m}, {name: o, mountPath: /m/deep}, {name: e, mountPath: /e}]
  volumes: [{name: net, nfs: {server: s, path: /p}}, {name: o, image: {reference: 'registry.corp/m:1'}}, {name: e, emptyDir: {}}]
";
    let found = read(yaml, &Report { pod_templates: vec![template("", "", Duty::Unknown)], ..Report::default() });
    let devices: Vec<_> = found.devices.iter().map(|device| (device.finding.key.name.as_str(), device.quantities.join(","))).collect();
    assert_eq!(devices, [("nvidia.com/gpu", "4".to_owned()), ("resource-claim/gpu", "1".to_owned())]);
    let data: Vec<_> = found.data.iter().map(|data| data.finding.key.name.as_str()).collect();
    assert_eq!(data, ["image/registry.corp/m:1", "nfs//p"]);
    assert_eq!(only(&found).finding.needs.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["image/registry.corp/m:1"]);
}

#[test]
fn a_mounted_image_is_where_the_weights_come_from() {
    let found = pod_with(
        &["{name: a, image: 'vllm/vllm-openai', args: [--model, /weights/m], volumeMounts: [{name: w, mountPath: /weights}]}"],
        "[]",
        "[{name: w, image: {reference: 'registry.example.com/models/m:1'}}]",
    );
    assert_eq!(only(&found).sources, BTreeSet::from(["oci://registry.example.com/models/m:1".to_owned()]));
}

#[test]
fn labels_of_nodes_say_which_accelerator_is_asked_for() {
    let yaml = "apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  nodeSelector: {cloud.google.com/gke-accelerator: fast-1, disk: ssd}
  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [
    {matchExpressions: [{key: nvidia.com/gpu.product, operator: In, values: [A, B]}, {key: nvidia.com/gpu.family, operator: NotIn, values: [C]}]}]}}}
  containers: [{name: a, image: vllm/vllm-openai, args: [org/m], resources: {limits: {nvidia.com/gpu: 1}}}]
";
    let found = read(yaml, &Report { pod_templates: vec![template("", "", Duty::Unknown)], ..Report::default() });
    let selected: Vec<&str> = found.devices[0].finding.properties["node.selector"].iter().map(String::as_str).collect();
    assert_eq!(selected, ["cloud.google.com/gke-accelerator=fast-1", "nvidia.com/gpu.product=A", "nvidia.com/gpu.product=B"]);
    let places: Vec<&str> = found.devices[0].finding.evidence.iter().map(|known| known.at.pointer.as_str()).collect();
    assert!(places.contains(&"/spec/nodeSelector/cloud.google.com~1gke-accelerator"), "{places:?}");
}
