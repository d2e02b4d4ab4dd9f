//! One model on its way: copied out of a store, converted, built into an engine, served.

use crate::support::{container, pod, script};

fn served(fetch: &str, path: &str) -> crate::support::Read {
    pod(&format!(
        "{{initContainers: [{{name: fetch, {fetch}}}], containers: [{{name: serve, image: 'vllm/vllm-openai:v0.9.0', args: [--model, {path}]}}]}}"
    ))
}

// Copies.

#[test]
fn a_model_that_is_copied_out_of_a_store_has_its_place_there_as_source() {
    for fetch in [
        "image: amazon/aws-cli, command: [aws, s3, cp, 's3://birds/models/heron-7b', /models/heron, --recursive]",
        "image: amazon/aws-cli, args: [s3, sync, 's3://birds/models/heron-7b', /models/heron]",
        "image: 'example.com/acme/tools:1', command: [sh, -c, 'aws --endpoint-url http://store:9000 s3 cp --recursive s3://birds/models/heron-7b /models/heron/']",
        "image: amazon/aws-cli, command: [aws, --region, eu-1], args: [s3, sync, --exclude, '*.md', --endpoint-url, 'http://store', 's3://birds/models/heron-7b', /models/heron]",
    ] {
        served(fetch, "/models/heron").gives(&["inference", "vllm", "main /models/heron", "from s3://birds/models/heron-7b"]);
    }
    for fetch in [
        "image: 'google/cloud-sdk:slim', command: [sh, -c, 'gsutil -m cp -r gs://birds/models/heron-7b /models/']",
        "image: 'google/cloud-sdk:slim', command: [gsutil, -m, rsync, -r, 'gs://birds/models/heron-7b', /models/heron-7b]",
        "image: 'google/cloud-sdk:slim', command: [gcloud, storage, cp, -r, 'gs://birds/models/heron-7b', /models/]",
    ] {
        served(fetch, "/models/heron-7b").gives(&["inference", "vllm", "main /models/heron-7b", "from gs://birds/models/heron-7b"]);
    }
    for fetch in [
        "image: peakcom/s5cmd, args: [cp, 's3://birds/models/heron-7b/*', /models/heron-7b/]",
        "image: 'example.com/acme/tools:1', command: [s5cmd, --endpoint-url, 'http://store', sync, 's3://birds/models/heron-7b/*', /models/heron-7b/]",
    ] {
        served(fetch, "/models/heron-7b").gives(&["inference", "vllm", "main /models/heron-7b", "from s3://birds/models/heron-7b/"]);
    }
    served(
        "image: 'example.com/acme/tools:1', command: [azcopy, copy, 'https://birds.blob.core.windows.net/models/heron-7b?sv=1&sig=abc', /models/heron-7b, --recursive]",
        "/models/heron-7b",
    )
    .gives(&["inference", "vllm", "main /models/heron-7b", "from https://birds.blob.core.windows.net/models/heron-7b"]);
}

/// A fetching container and a serving one that mount one volume, each at a place of its own.
fn sharing(fetch: &str, fetched: &str, path: &str, served: &str) -> crate::support::Read {
    pod(&format!(
        "{{initContainers: [{{name: fetch, {fetch}, volumeMounts: [{fetched}]}}], containers: [{{name: serve, image: 'vllm/vllm-openai:v0.9.0', args: [--model, {path}], volumeMounts: [{served}]}}]}}"
    ))
}

#[test]
fn a_volume_that_two_containers_mount_at_different_places_is_one_volume() {
    let fetch = "image: 'python:3.12', command: [sh, -c, 'hf download acme/heron-7b --local-dir /out/heron']";
    let out = "{name: weights, mountPath: /out}";
    let joined: &[&str] = &["inference", "vllm", "main acme/heron-7b", "from /models/heron"];
    sharing(fetch, out, "/models/heron", "{name: weights, mountPath: /models/}").gives(joined);
    sharing(fetch, out, "/models/heron", "{name: weights, mountPath: /models/heron, subPath: heron}").gives(joined);
    sharing(fetch, "{name: weights, mountPath: /out, subPath: birds/}", "/models/birds/heron", "{name: weights, mountPath: /models}")
        .gives(&["inference", "vllm", "main acme/heron-7b", "from /models/birds/heron"]);
    // The volume of the longest directory holds it.
    sharing(
        fetch,
        "{name: other, mountPath: /}, {name: x, mountPath: /out}, {name: weights, mountPath: /out/heron}",
        "/models",
        "{name: weights, mountPath: /models}",
    )
    .gives(&["inference", "vllm", "main acme/heron-7b", "from /models"]);
    let apart: &[&str] = &["inference", "vllm", "main acme/heron-7b", "main /models/heron"];
    sharing(fetch, out, "/models/heron", "{name: others, mountPath: /models}").gives(apart);
    sharing(fetch, "{name: weights, mountPath: /out, subPath: a}", "/models/heron", "{name: weights, mountPath: /models, subPath: b}")
        .gives(apart);
    sharing(fetch, "{name: weights, mountPath: 7}, 7, {}", "/models/heron", "{name: weights}").gives(apart);
}

#[test]
fn a_file_of_weights_is_known_by_its_name_where_nothing_says_into_which_directory_it_goes() {
    let address = "https://example.com/nest/heron-q4.gguf";
    for fetch in [
        format!("image: 'busybox:1', command: [wget, -P, /data, '{address}']"),
        format!("image: 'curlimages/curl:8', command: [sh, -c, 'cd /data && curl -LO {address}']"),
        format!("image: 'curlimages/curl:8', command: [curl, -L, --output-dir, /data, -O, '{address}']"),
        format!("image: 'busybox:1', workingDir: /data, command: [sh, -c, 'wget {address}']"),
    ] {
        served(&fetch, "/models/heron-q4.gguf").gives(&["inference", "vllm", "main /models/heron-q4.gguf", &format!("from {address}")]);
    }
    served("image: 'busybox:1', command: [wget, 'https://huggingface.co/acme/heron-GGUF/resolve/main/heron-q4.gguf']", "/m/heron-q4.gguf")
        .gives(&[
            "inference",
            "vllm",
            "main acme/heron-GGUF @main",
            "from /m/heron-q4.gguf",
            "from https://huggingface.co/acme/heron-GGUF/resolve/main/heron-q4.gguf",
        ]);
    served(&format!("image: 'busybox:1', command: [wget, '{address}']"), "/models/plover-q4.gguf").gives(&[
        "inference",
        "vllm",
        "main /models/plover-q4.gguf",
        &format!("main {address}"),
    ]);
}

#[test]
fn arguments_of_a_tools_image_are_for_that_tool() {
    let file = "https://example.com/nest/heron-q4.gguf";
    let lines: &[&str] = &["inference", "vllm", "main /models/heron-q4.gguf", "from https://example.com/nest/heron-q4.gguf"];
    for image in ["curlimages/curl:8.9.1", "example.com/mirror/curlimages/curl", "quay.io/curl/curl"] {
        served(&format!("image: '{image}', args: [-L, -o, /models/heron-q4.gguf, '{file}']"), "/models/heron-q4.gguf").gives(lines);
    }
    served("image: alpine/git, args: [clone, 'https://huggingface.co/acme/heron-7b', /models/heron]", "/models/heron").gives(&[
        "inference",
        "vllm",
        "main acme/heron-7b",
        "from /models/heron",
        "from https://huggingface.co/acme/heron-7b",
    ]);
    container("{image: curlimages/curl, args: [-sf, 'http://heron:8080/health']}").gives(&[]);
    container("{image: alpine/git, args: [clone, 'https://example.com/acme/site']}").gives(&[]);
    container("{image: curlimages/curl}").gives(&[]);
}

#[test]
fn a_copy_that_nobody_serves_here_is_a_download() {
    container("{image: amazon/aws-cli, args: [s3, sync, 's3://birds/models/heron-7b', /models/heron]}")
        .gives(&["data-preparation", "main s3://birds/models/heron-7b"]);
}

#[test]
fn other_copies_are_no_models() {
    for args in [
        "[s3, sync, 's3://birds/reports', /out]",
        "[s3, sync, /out, 's3://birds/models/heron-7b']",
        "[s3, cp, --endpoint-url, 'http://store/models', /out, 's3://birds/heron-7b']",
        "[s3, ls, 's3://birds/models/']",
        "[s3, cp, 's3://birds/models/heron-7b', 's3://nest/models/heron-7b']",
    ] {
        container(&format!("{{image: amazon/aws-cli, args: {args}}}")).gives(&[]);
    }
    script("cp -r /a/models/heron /b; rsync -a host:/models/heron /models").gives(&[]);
}

// Engines.

#[test]
fn a_checkpoint_an_engine_and_its_server_are_one_model() {
    script(
        "python3 examples/llama/convert_checkpoint.py --model_dir acme/heron-7b --output_dir /ckpt && trtllm-build --checkpoint_dir /ckpt --output_dir /engine && trtllm-serve /engine --port 8000",
    )
    .gives(&["inference", "tensorrt-llm", "main acme/heron-7b", "from /engine"]);
    let build = "{name: build, image: 'nvcr.io/nvidia/tensorrt-llm/release:1.0', command: [bash, -c, 'python3 convert_checkpoint.py --model_dir /models/heron-7b --output_dir /ckpt; trtllm-build --checkpoint_dir /ckpt --output_dir /engines/heron']}";
    let fetch = "{name: fetch, image: 'python:3.12', command: [sh, -c, 'hf download acme/heron-7b --local-dir /models/heron-7b']}";
    let serve = "{name: serve, image: 'nvcr.io/nvidia/tensorrt-llm/release:1.0', command: [trtllm-serve, /engines/heron]}";
    pod(&format!("{{initContainers: [{build}], containers: [{serve}]}}")).gives(&[
        "inference",
        "tensorrt-llm",
        "main /models/heron-7b",
        "from /engines/heron",
    ]);
    pod(&format!("{{initContainers: [{fetch}, {build}], containers: [{serve}]}}")).gives(&[
        "inference",
        "tensorrt-llm",
        "main acme/heron-7b",
        "from /engines/heron",
    ]);
    // A repository of engines is given by the directory around them.
    pod(&format!(
        "{{initContainers: [{fetch}, {build}], containers: [{{name: serve, image: 'nvcr.io/nvidia/tritonserver:25.01-trtllm-python-py3', command: [tritonserver, --model-repository=/engines]}}]}}"
    ))
    .gives(&["inference", "tensorrt-llm", "triton", "main acme/heron-7b", "from /engines"]);
}

#[test]
fn a_file_that_is_converted_and_quantised_is_the_model_it_was_made_of() {
    let make = "hf download acme/heron-7b --local-dir /models/heron-7b && python convert_hf_to_gguf.py /models/heron-7b --outfile /models/heron.gguf && llama-quantize /models/heron.gguf /models/heron-q4.gguf Q4_K_M";
    pod(&format!(
        "{{initContainers: [{{name: make, image: 'python:3.12', command: [sh, -c, '{make}']}}], containers: [{{name: serve, image: 'ghcr.io/ggml-org/llama.cpp:server', args: [-m, /models/heron-q4.gguf]}}]}}"
    ))
    .gives(&["inference", "llama.cpp", "main acme/heron-7b", "from /models/heron-q4.gguf"]);
}

#[test]
fn a_version_of_a_model_lies_in_the_directory_that_is_served() {
    let export = "optimum-cli export openvino --model acme/heron --weight-format int8 /models/heron/1";
    pod(&format!(
        "{{initContainers: [{{name: make, image: 'example.com/acme/tools:1', command: [sh, -c, '{export}']}}], containers: [{{name: serve, image: 'openvino/model_server:latest', args: [--model_path, /models/heron, --model_name, heron]}}]}}"
    ))
    .gives(&["inference", "openvino", "main acme/heron as heron", "from /models/heron"]);
}

#[test]
fn two_models_that_are_built_stay_two() {
    script(
        "trtllm-build --checkpoint_dir /a/heron --output_dir /engine/heron; trtllm-build --checkpoint_dir /a/plover --output_dir /engine/plover; trtllm-serve /engine/heron",
    )
    .gives(&["inference", "tensorrt-llm", "main /a/plover", "main /engine/heron", "from /a/heron"]);
}

// Stores of vectors, settings in files.

#[test]
fn an_extension_makes_a_store_of_vectors_of_an_ordinary_database() {
    for lines in [
        "psql -c 'CREATE EXTENSION IF NOT EXISTS vector'; exec postgres",
        "psql -U birds <<EOF\nCREATE EXTENSION vector;\nEOF\nexec postgres",
        "psql -v ON_ERROR_STOP=1 -c 'create extension  vector;'",
    ] {
        script(lines).gives(&["pgvector", "vector-database"]);
    }
    // A database somewhere else, another extension, none.
    script("psql -h db -c 'CREATE EXTENSION vector'; nginx").gives(&[]);
    script("psql postgresql://db/birds -c 'CREATE EXTENSION vector'; nginx").gives(&[]);
    script("psql -c 'CREATE EXTENSION pg_trgm'; exec postgres").gives(&[]);
    container("{image: 'postgres:16'}").gives(&[]);
}

#[test]
fn settings_in_a_file_hold_the_model() {
    let image = "image: 'ghcr.io/ericlbuehler/mistral.rs:cpu-0.6'";
    for command in ["command: [mistralrs, toml, -f, /etc/heron.toml]", "args: [--port, '80', toml, -f, /etc/heron.toml]"] {
        container(&format!("{{{image}, {command}}}")).gives(&["inference", "mistral.rs", "unresolved model config-file /etc/heron.toml"]);
    }
    container(&format!("{{{image}, command: [mistralrs-server, plain, -m, acme/heron-7b]}}")).gives(&[
        "inference",
        "main acme/heron-7b",
        "mistral.rs",
    ]);
}

#[test]
fn an_application_that_is_deployed_by_its_module_names_no_model() {
    let image = "image: 'rayproject/ray:2.40.0'";
    container(&format!("{{{image}, command: [serve, run, 'birds_app:deployment']}}")).gives(&["inference", "ray-serve"]);
    container(&format!("{{{image}, command: [serve, run, config.yaml]}}")).gives(&[
        "inference",
        "ray-serve",
        "unresolved model config-file config.yaml",
    ]);
}
