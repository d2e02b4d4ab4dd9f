//! Programs and images that somebody built for themselves: what their names, options and variables say, and what they do not.

use crate::support::{container, pod};

// Downloads.

#[test]
fn a_program_that_is_called_a_download_tells_by_its_options_what_it_gets() {
    container(
        "{image: 'example.com/acme/hub-downloader:2', command: [python3, /app/download.py, --model-id=acme/heron-7b, --revision=v2]}",
    )
    .gives(&["data-preparation", "main acme/heron-7b @v2"]);
    container("{image: 'example.com/acme/tools:2', command: [python3, fetch_weights.py, --hf-repo-id, acme/heron-7b]}")
        .gives(&["data-preparation", "main acme/heron-7b"]);
}

#[test]
fn a_download_of_something_else_is_no_ai() {
    // A bare name may be anything.
    container("{image: 'example.com/acme/tools:2', command: [python3, download.py, --model, xc90]}").gives(&[]);
    container("{image: 'example.com/acme/tools:2', command: [sh, download-reports.sh, --out, /data]}").gives(&[]);
}

#[test]
fn an_image_that_downloads_models_by_its_name_does() {
    container("{image: 'example.com/acme/model-download-heron:v2'}").gives(&["data-preparation"]);
    container("{image: 'example.com/acme/report-download:v2'}").gives(&[]);
}

#[test]
fn a_file_that_is_called_like_the_repository_comes_from_its_download() {
    let fetch =
        "{name: fetch, image: 'python:3.12', command: [sh, -c, 'hf download acme/Heron-1B-GGUF heron-1b-q4.gguf --local-dir /cache']}";
    let serve = |file: &str| format!("{{name: serve, image: 'ghcr.io/ggml-org/llama.cpp:server', args: [--model, /cache/{file}]}}");
    pod(&format!("{{initContainers: [{fetch}], containers: [{}]}}", serve("heron-1b-q4.gguf"))).gives(&[
        "inference",
        "llama.cpp",
        "main acme/Heron-1B-GGUF",
        "from /cache/heron-1b-q4.gguf",
    ]);
    // Another model in the same cache.
    pod(&format!("{{initContainers: [{fetch}], containers: [{}]}}", serve("plover-1b-q4.gguf"))).gives(&[
        "inference",
        "llama.cpp",
        "main /cache/plover-1b-q4.gguf",
        "main acme/Heron-1B-GGUF",
    ]);
}

// An engine's image that runs something else.

#[test]
fn a_greeting_in_the_image_of_an_engine_runs_no_engine() {
    container("{image: 'vllm/vllm-openai:v0.9.0', command: [echo, pulled]}").gives(&["inference"]);
    container("{image: 'vllm/vllm-openai:v0.9.0', command: [sh, -c, 'set -e; nvidia-smi; ls /models']}").gives(&["inference"]);
    // What another script goes on with is not known.
    container("{image: 'vllm/vllm-openai:v0.9.0', command: [sh, -c, 'set -e; . /run.sh']}").gives(&[
        "inference",
        "vllm",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_benchmark_in_the_image_of_an_engine_is_no_engine() {
    container("{image: 'vllm/vllm-openai:v0.9.0', command: [sh, -c, 'nvidia-smi; python3 /srv/run_api_benchmark.py']}")
        .gives(&["benchmark"]);
}

// Names.

#[test]
fn an_image_that_hints_at_an_engine_has_it_with_a_variable_of_the_engine() {
    container("{image: 'example.com/acme/my-vllm:1', env: [{name: VLLM_LOGGING_LEVEL, value: INFO}]}").gives(&[
        "inference",
        "vllm",
        "unresolved model runtime-default",
    ]);
    container("{image: 'example.com/acme/my-vllm:1'}").gives(&[]);
}

#[test]
fn a_stand_in_for_an_engine_is_no_engine() {
    container("{image: 'example.com/acme/heron-mocker-sglang:1', env: [{name: MODEL_NAME, value: acme/heron-7b}]}")
        .gives(&["inference", "main acme/heron-7b"]);
    container("{image: 'example.com/acme/mock-vllm:1'}").gives(&["inference"]);
}

#[test]
fn a_server_of_tools_for_agents_is_known_by_its_name() {
    container("{image: 'example.com/acme/weather-mcp-server:1'}").gives(&["agent"]);
    container("{image: 'example.com/acme/mcp-catalog:1'}").gives(&["agent"]);
}

#[test]
fn a_front_end_that_is_called_like_an_assistant_is_a_web_page() {
    container("{image: 'example.com/acme/rag-frontend:1', env: [{name: API_URL, value: 'http://api:80'}]}").gives(&[]);
    container("{image: 'example.com/acme/rag-frontend:1', env: [{name: OLLAMA_BASE_URL, value: 'http://ollama:11434'}]}")
        .gives(&["gateway"]);
}

#[test]
fn a_trainer_or_a_model_that_has_a_tracking_server_works_with_models() {
    let tracked = |image: &str, program: &str| {
        container(&format!(
            "{{image: 'example.com/acme/{image}:1', command: [python, {program}], env: [{{name: MLFLOW_TRACKING_URI, value: 'http://mlflow:5000'}}]}}"
        ))
    };
    tracked("pipelines", "auto_retrain.py").gives(&["training"]);
    tracked("pipelines", "export_reports.py").gives(&[]);
}

// Variables.

#[test]
fn a_variable_in_the_spelling_of_dotnet_is_read_like_any_other() {
    container(
        "{image: 'example.com/acme/rag-api:1', command: [dotnet, Api.dll], env: [
            {name: Search__Endpoint, value: 'http://lm:1234/v1'}, {name: Search__ModelId, value: heron-7b-instruct}]}",
    )
    .gives(&["inference", "target heron-7b-instruct"]);
}

#[test]
fn a_client_in_dotnet_is_known_by_the_names_of_its_settings() {
    container("{image: 'example.com/acme/flows:1', env: [{name: Flows__LlmProvider__OllamaEndpoint, value: 'http://ollama:11434'}]}")
        .gives(&["gateway"]);
    container("{image: 'example.com/acme/flows:1', env: [{name: Anthropic__ApiKey, valueFrom: {secretKeyRef: {name: keys, key: a}}}]}")
        .gives(&["gateway", "service anthropic"]);
    container("{image: 'example.com/acme/flows:1', env: [{name: Flows__Store__Endpoint, value: 'http://store:80'}]}").gives(&[]);
}

#[test]
fn a_file_of_weights_in_a_variable_that_holds_a_model_is_one() {
    container("{image: 'example.com/acme/pose-api:1', env: [{name: MODEL_PATH, value: /app/models/best.pth}]}")
        .gives(&["inference", "main /app/models/best.pth"]);
    // A page of a catalogue of cars.
    container("{image: 'example.com/acme/cars:1', env: [{name: MODEL_PATH, value: /app/models/xc90.html}]}").gives(&[]);
}

#[test]
fn settings_of_a_server_that_no_client_has_show_the_server() {
    container("{image: 'example.com/acme/chat-backend:1', env: [{name: OLLAMA_NUM_PARALLEL, value: '4'}]}").gives(&[
        "inference",
        "ollama",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn the_address_of_a_store_calls_no_model() {
    // What is converted here runs nowhere else.
    container(
        "{image: 'example.com/acme/llm-inference:1', command: [python3, serialize.py, --hf-model-id=acme/heron-7b],
            env: [{name: S3_HOST, value: 'https://objects.example.com'}]}",
    )
    .gives(&["inference", "main acme/heron-7b"]);
}

#[test]
fn the_address_of_a_model_server_counts_wherever_it_stands() {
    container(
        "{image: 'example.com/acme/tickets-gateway:1', env: [
            {name: OLLAMA_HOST, valueFrom: {configMapKeyRef: {name: settings, key: ollama}}}]}",
    )
    .gives(&["gateway"]);
    container("{image: 'example.com/acme/tickets:1', env: [{name: REDIS_HOST, valueFrom: {configMapKeyRef: {name: settings, key: r}}}]}")
        .gives(&[]);
}

#[test]
fn a_benchmark_without_an_accelerator_measures_a_model_that_runs_elsewhere() {
    container(
        "{image: 'example.com/acme/benchmark_serving:1', args: [--base-url=http://chat/v1, --model=acme/llama-7b, --tokenizer=acme/heron-tok]}",
    )
    .gives(&["benchmark", "target acme/llama-7b", "tokenizer acme/heron-tok"]);
}

// Installed on the spot.

#[test]
fn a_server_that_the_pod_clones_is_known_by_its_repository() {
    pod("{initContainers: [{name: install, image: 'python:3.12', command: [sh, -c, 'git clone --depth 1 https://github.com/comfyanonymous/ComfyUI.git /data']}],
          containers: [{name: main, image: 'python:3.12', workingDir: /data, command: [python, main.py, --listen]}]}")
    .gives(&["comfyui", "inference"]);
}

#[test]
fn code_that_fits_an_estimator_trains() {
    container(
        "{image: 'python:3.12', command: [python3, -c, \"from sklearn.ensemble import RandomForestClassifier\\nm = RandomForestClassifier(n_estimators=10)\\nm.fit(x, y)\\n\"]}",
    )
    .gives(&["scikit-learn", "training"]);
    // A class of one's own.
    container("{image: 'python:3.12', command: [python3, -c, \"from birds import RandomForestClassifier\\nRandomForestClassifier()\\n\"]}")
        .gives(&[]);
}

// Programs and images with a file of their own.

#[test]
fn libraries_tools_and_services_do_what_their_makers_say() {
    container("{image: 'tensorflow/tensorflow:2.16.1-gpu', command: [bash, -c, 'cd /work; python train_mnist.py']}")
        .gives(&["tensorflow", "training"]);
    container("{image: 'us-docker.pkg.dev/cloud-tpu-images/inference/tf-serving-tpu:2.13.0', env: [{name: MODEL_NAME, value: bert}]}")
        .gives(&["inference", "tensorflow-serving", "main /models/bert as bert"]);
    container("{image: 'nvcr.io/nvidia/tensorrt:24.05-py3', command: [trtexec, '--onnx=/models/heron/model.onnx', '--saveEngine=/models/heron.plan', --fp16]}")
        .gives(&["data-preparation", "main /models/heron/model.onnx"]);
    container("{image: 'ghcr.io/k8sgpt-ai/k8sgpt:v0.4', args: [serve, --mcp], env: [{name: K8SGPT_MODEL, value: heron-mini}]}").gives(&[
        "agent",
        "k8sgpt",
        "target heron-mini",
    ]);
    container("{image: 'example.com/acme/text-generation-webui:1', command: [python, download-model.py, acme/heron-7b]}")
        .gives(&["data-preparation", "main acme/heron-7b"]);
    container("{image: 'openclaw:latest', command: [openclaw, gateway, --port, '18789']}").gives(&["agent"]);
    container("{image: 'opea/lvm-tgi:latest'}").gives(&["agent"]);
}
