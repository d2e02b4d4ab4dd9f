//! Why the predecessor missed or invented models, one case for each cause that was measured on public manifests.

use super::*;

fn read_one(container: &str) -> (Vec<String>, Vec<String>) {
    let found = pod(&[&format!("{{name: a, {container}}}")]);
    (names(&found), runtimes(&found).into_iter().map(str::to_owned).collect())
}

/// Cause by cause: the container, its models and its runtimes.
#[test]
fn every_measured_cause_of_a_miss_is_read() {
    for (cause, container, models, runtimes) in [
        ("flags in command", "image: x, command: [python3, -m, vllm.entrypoints.openai.api_server, --model, org/m]", "main org/m", "vllm"),
        ("positional model", "image: 'vllm/vllm-openai', command: [vllm, serve, org/m]", "main org/m", "vllm"),
        ("positional model in a script", "image: x, command: [sh, -c, 'exec vllm serve org/m --port 1']", "main org/m", "vllm"),
        ("registry in front", "image: 'docker.io/vllm/vllm-openai:v0.9.0', args: [--model, org/m]", "main org/m", "vllm"),
        ("mirror", "image: 'acme-cn-1.cr.volces.com/mirror/vllm/vllm-openai:v0.9.0', args: [--model, org/m]", "main org/m", "vllm"),
        (
            "rebuilt name",
            "image: 'us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311', env: [{name: MODEL_ID, value: org/m}]",
            "main org/m",
            "tgi",
        ),
        (
            "variable of Kubernetes",
            "image: 'vllm/vllm-openai', args: ['--model=$(MODEL_ID)'], env: [{name: MODEL_ID, value: org/m}]",
            "main org/m",
            "vllm",
        ),
        (
            "variable without arguments",
            "image: 'ghcr.io/huggingface/text-generation-inference:3.0', env: [{name: MODEL_ID, value: org/m}]",
            "main org/m",
            "tgi",
        ),
        ("underscores", "image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model_id=org/m]", "main org/m", "tgi"),
        ("model path", "image: x, command: [python3, -m, sglang.launch_server, --model-path, org/m]", "main org/m", "sglang"),
        (
            "base path",
            "image: 'tensorflow/serving:2.16', args: [--model_name=m, --model_base_path=gs://bucket/m]",
            "main gs://bucket/m",
            "tensorflow-serving",
        ),
        (
            "model of a microservice",
            "image: 'nvcr.io/nim/acme/llm-nim:1.0', env: [{name: NIM_MODEL_NAME, value: 'hf://org/m'}]",
            "main org/m",
            "nim",
        ),
        (
            "mirrored server",
            "image: 'registry.example.com/nvidia/tritonserver:24.01-py3', args: [tritonserver, --model-repository=/models/r]",
            "main /models/r",
            "triton",
        ),
        ("placeholder image", "image: 'my-registry/my-image:my-tag'", "", ""),
        ("simulator", "image: 'ghcr.io/llm-d/llm-d-inference-sim:v0.1', args: [--model, org/m, --port, '1']", "main org/m", ""),
    ] {
        let (found, ran) = read_one(container);
        assert_eq!((found.join(" "), ran.join(" ")), (models.to_owned(), runtimes.to_owned()), "{cause}");
    }
}

#[test]
fn every_place_of_evidence_resolves_to_what_it_says() {
    // B42
    let yaml = "apiVersion: apps/v1
kind: Deployment
metadata: {name: x}
spec:
  template:
    spec:
      initContainers: [{name: i, image: 'python:3', command: [hf, download, org/m, --local-dir, /m/m]}]
      containers:
      - {name: w, image: 'nginx:1'}
      - {name: a, image: 'vllm/vllm-openai', args: [--model, /m/m, '--served-model-name=$(N)'], env: [{name: N, value: short}], resources: {limits: {nvidia.com/gpu: 1}}}
";
    let tree: Tree = serde_saphyr::from_str(yaml).unwrap();
    let found = read(yaml, &Report { pod_templates: vec![template("/spec/template", "", Duty::Unknown)], ..Report::default() });
    let findings = (found.models.iter().map(|model| &model.finding))
        .chain(found.images.iter().map(|image| &image.finding))
        .chain(found.devices.iter().map(|device| &device.finding));
    let mut places = 0;
    for evidence in findings.flat_map(|finding| &finding.evidence) {
        let node = tree.at(tree.root(), evidence.at.pointer.as_str());
        assert!(node.is_some_and(|node| tree.value(node).is_some()), "{evidence:?}");
        places += 1;
    }
    assert!(places >= 6, "{places}");
}

#[test]
fn every_class_of_container_is_read() {
    // B41
    let yaml = "apiVersion: v1
kind: Pod
metadata: {name: x}
spec:
  initContainers: [{name: i, image: 'acme/i:1'}, {name: s, image: 'acme/s:1', restartPolicy: Always}]
  containers: [{name: a, image: 'acme/a:1'}]
  ephemeralContainers: [{name: e, image: 'acme/e:1'}]
";
    let found = read(yaml, &Report { pod_templates: vec![template("", "", Duty::Unknown)], ..Report::default() });
    let classes: Vec<_> = found.images.iter().flat_map(|image| &image.containers).map(|used| (used.name.as_str(), used.class)).collect();
    assert_eq!(
        classes,
        [("a", ContainerClass::Main), ("e", ContainerClass::Sidecar), ("i", ContainerClass::Init), ("s", ContainerClass::Sidecar)]
    );
}
