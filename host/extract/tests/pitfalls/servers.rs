//! Model servers.

use aibom_extract::{ImageClass, Rules};
use aibom_facts::image::ImageReference;

use crate::support::{container, pod};

/// Containers that give these lines.
#[track_caller]
fn each(cases: &[(&str, &[&str])]) {
    for (yaml, lines) in cases {
        container(yaml).gives(lines);
    }
}

// ---- images ---------------------------------------------------------------------------------------------------------------------------

/// Names of the runtimes of an image, `plumbing` or nothing.
fn class(image: &str) -> String {
    let container = format!("{{image: '{image}'}}");
    let read = crate::support::container(&container);
    let names: Vec<&str> = read.inventory.runtimes.iter().map(|runtime| runtime.finding.key.name.as_str()).collect();
    match ImageReference::parse(image).map(|image| Rules::builtin().classify_image(&image)) {
        Ok(ImageClass::Plumbing) => "plumbing".to_owned(),
        Ok(_) if names.is_empty() => "nothing".to_owned(),
        Ok(_) => names.join("+"),
        Err(_) => "no reference".to_owned(),
    }
}

#[test]
fn copies_and_mirrors_of_an_image_are_the_runtime() {
    for (image, want) in [
        ("vllm/vllm-openai:v0.8.5", "vllm"),
        ("docker.io/vllm/vllm-openai-cpu:v0.23.0", "vllm"),
        ("example-cn-beijing.cr.volces.com/aibrix/vllm/vllm-openai:v0.9.2", "vllm"),
        ("example-cn-beijing.cr.volces.com/aibrix/vllm-openai:v0.10.0-cu128-nixl-v0.4.1-lmcache-0.3.2", "vllm"),
        ("m.daocloud.io/quay.io/ascend/vllm-ascend:v0.11.0rc1", "vllm"),
        ("quay.nju.edu.cn/ascend/vllm-ascend:v0.11.0", "vllm"),
        ("swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io/vllm/vllm-openai:v0.8.5", "vllm"),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/docker-hub/vllm/vllm-openai:latest", "vllm"),
        ("123456789012.dkr.ecr.eu-west-1.amazonaws.com/vllm:server-cuda-v1", "vllm"),
        ("us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311", "tgi"),
        ("us-docker.pkg.dev/deeplearning-platform-release/vertex-model-garden/vllm-inference.cu121.0-6.ubuntu2204.py310", "vllm"),
        ("us-central1-docker.pkg.dev/p/hub-remote/lmsysorg/sglang:v0.5.9", "sglang"),
        ("swr.cn-southwest-2.myhuaweicloud.com/base_image/ascend-ci/dockerhub/lmsysorg/sglang:x", "sglang"),
        ("harbor.example.com:8443/external-hub/seldonio/mlserver:1.7.1", "mlserver"),
        ("registry:5001/vllm-runtime:x", "dynamo+vllm"),
        ("mirror.gcr.io/ollama/ollama:0.3.0", "ollama"),
        ("registry.example.com/images/tritonserver:24.05-py3", "triton"),
    ] {
        assert_eq!(class(image), want, "{image}");
    }
}

#[test]
fn plumbing_under_the_namespace_of_an_engine_is_no_engine() {
    for image in [
        "lmsysorg/sglang-router:v0.2.4",
        "lmsysorg/sgl-model-gateway:v0.2.4",
        "lmcache/lmstack-router:latest",
        "lmcache/gateway:latest",
        "ghcr.io/vllm-project/semantic-router/extproc:latest",
        "aibrix/vllm-mock:nightly",
        "aibrix/vllm-simulator-a40:nightly",
        "ghcr.io/llm-d/llm-d-inference-sim:v0.10.2",
        "ghcr.io/llm-d/llm-d-routing-sidecar:v0.2.0",
        "nvcr.io/nvidia/tritonserver:26.07-py3-sdk",
        "nvcr.io/nvidia/tritonserver:26.07-py3-min",
        "nvcr.io/nvidia/ai-dynamo/dynamo-frontend:1.0.0",
        "nvcr.io/nvidia/cloud-native/k8s-nim-operator:v3",
        "kserve/agent:v0.15.0",
        "kserve/router:v0.15.0",
        "kserve/storage-initializer:v0.15.0",
        "seldonio/tfserving-proxy:1.17",
        "us-docker.pkg.dev/cloud-tpu-images/inference/jetstream-http:v0.2.2",
        "rocm/vllm-dev:base",
        "tensorflow/serving:2.14.0-devel",
        "ghcr.io/ggml-org/llama.cpp:light",
        "example.com/acme/vllm-bench:1",
        "opea/llm-tgi:1.0",
        "ghcr.io/kubeai-project/kubeai-model-loader:v1",
    ] {
        assert!(["plumbing", "nothing"].contains(&class(image).as_str()), "{image}: {}", class(image));
    }
}

#[test]
fn a_name_that_only_looks_like_an_engine_is_none() {
    for image in ["example.com/myvllm/vllm-openai2:1", "example.com/acme/my-ray-model-server:1", "intel/redhat-ai-services:llm-on-x_1.20.0"]
    {
        assert_eq!(class(image), "nothing", "{image}");
    }
    container("{image: '${VLLM_IMAGE}'}").gives(&[
        "inference",
        "vllm",
        "unresolved image placeholder ${VLLM_IMAGE}",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_tag_is_a_version_only_where_the_runtime_counts_so() {
    for (image, versions) in [
        ("vllm/vllm-openai:v0.8.5.post1", &["vllm v0.8.5.post1"][..]),
        ("vllm/vllm-openai:gptoss", &[]),
        ("registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.2.1", &[]),
        ("nvcr.io/nvidia/vllm:25.09-py3", &[]),
        ("nvcr.io/nvidia/tritonserver:24.05-py3", &[]),
        ("ghcr.io/huggingface/text-embeddings-inference:cpu-1.6", &[]),
        ("lmsysorg/sglang:v0.5.9-cu128", &["sglang v0.5.9"]),
        ("ollama/ollama:0.6.2-rocm", &["ollama 0.6.2"]),
    ] {
        container(&format!("{{image: '{image}'}}")).versions(versions);
    }
}

#[test]
fn the_tag_of_triton_tells_the_engine_in_it() {
    assert_eq!(class("nvcr.io/nvidia/tritonserver:25.01-vllm-python-py3"), "triton+vllm");
    assert_eq!(class("nvcr.io/nvidia/tritonserver:25.01-trtllm-python-py3"), "tensorrt-llm+triton");
}

#[test]
fn a_nim_image_names_its_model_and_the_generic_one_none() {
    container("{image: 'mirror.example.com/nim/meta/llama-3.1-8b-instruct:1.1.0'}").gives(&[
        "inference",
        "nim",
        "main meta/llama-3.1-8b-instruct",
    ]);
    container("{image: 'nvcr.io/nim/nvidia/llm-nim:latest'}").gives(&["inference", "nim", "unresolved model runtime-default"]);
}

#[test]
fn an_image_of_a_distribution_of_engines_alone_is_no_engine() {
    assert_eq!(class("ghcr.io/llm-d/llm-d-cuda:v0.3.1"), "llm-d");
    container("{image: 'ghcr.io/llm-d/llm-d-cuda:v0.3.1', command: [vllm, serve, acme/m]}").gives(&["inference", "vllm", "main acme/m"]);
}

// ---- command lines against images -----------------------------------------------------------------------------------------------------

#[test]
fn what_runs_counts_more_than_the_image() {
    each(&[
        ("{image: 'lmcache/vllm-openai:latest', command: [/opt/venv/bin/lmcache_server, 0.0.0.0, '8080']}", &["inference"]),
        ("{image: 'vllm/vllm-openai:v0.9.0', command: [sleep, infinity]}", &["inference"]),
        (
            "{image: 'rayproject/ray:2.52.0', command: [bash, -c, 'ray start --head --port 6379; vllm serve acme/m -tp 8']}",
            &["inference", "ray", "vllm", "main acme/m"],
        ),
        ("{image: 'vllm/vllm-omni:v0.26.0', args: [vllm, serve, acme/m, --omni]}", &["inference", "vllm", "main acme/m"]),
        ("{image: 'vllm/vllm-openai:v0.9.0', command: [vllm, bench, serve, --model, acme/m]}", &["benchmark", "target acme/m"]),
    ]);
}

#[test]
fn arguments_alone_follow_the_entrypoint_of_the_image() {
    each(&[
        ("{image: 'vllm/vllm-openai:v0.11.0', args: [acme/m, --port, '8000']}", &["inference", "vllm", "main acme/m"]),
        (
            "{image: 'vllm/vllm-openai:v0.10.1', args: [--model, acme/m, --served-model-name, a, b]}",
            &["inference", "vllm", "main acme/m as a, b"],
        ),
        ("{image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, acme/m]}", &["inference", "tgi", "main acme/m"]),
        ("{image: 'ghcr.io/ggml-org/llama.cpp:full', args: [--server, -m, /m/x.gguf]}", &["inference", "llama.cpp", "main /m/x.gguf"]),
        ("{image: 'ghcr.io/ggml-org/llama.cpp:full', args: [--convert, /m]}", &["inference"]),
        (
            "{image: 'ghcr.io/ggml-org/whisper.cpp:main', args: ['whisper-server -m /models/ggml-base.en.bin --port 80']}",
            &["inference", "whisper.cpp", "main /models/ggml-base.en.bin"],
        ),
        ("{image: 'modular/max-nvidia-full:25', args: [--model, acme/m]}", &["inference", "max", "main acme/m"]),
        (
            "{image: 'kserve/sklearnserver:v0.15', args: [--model_name=n, --model_dir=/mnt/models]}",
            &["inference", "sklearn", "main /mnt/models as n"],
        ),
    ]);
}

// ---- vllm -----------------------------------------------------------------------------------------------------------------------------

#[test]
fn the_module_form_ignores_a_positional_word() {
    container("{image: x, command: [python3, -m, vllm.entrypoints.openai.api_server, acme/m]}").gives(&[
        "inference",
        "vllm",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_list_of_names_swallows_what_looks_like_the_model() {
    container("{image: x, command: [vllm, serve, --served-model-name, a, acme/m]}").gives(&[
        "inference",
        "vllm",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_second_model_for_speculation_is_named_in_several_ways_or_not_at_all() {
    let with = |options: &str| container(&format!("{{image: x, command: [vllm, serve, acme/m, {options}]}}"));
    for options in [
        r#"--speculative-config, '{"model":"acme/d","num_speculative_tokens":3}'"#,
        "--speculative-config.model, acme/d",
        "--spec-model, acme/d",
        "--speculative-model=acme/d",
        r#"-sc, '{"method":"eagle3","model":"acme/d"}'"#,
    ] {
        with(options).gives(&["inference", "vllm", "main acme/m", "draft acme/d"]);
    }
    for options in [
        r#"--speculative-config, '{"method":"ngram","num_speculative_tokens":3}'"#,
        r#"--speculative-config, '{"model":"ngram"}'"#,
        "--speculative-model, '[ngram]'",
        r#"--speculative-config, '{"method":"mtp","num_speculative_tokens":1}'"#,
    ] {
        with(options).gives(&["inference", "vllm", "main acme/m"]);
    }
}

#[test]
fn adapters_are_pairs_or_json_and_the_last_list_counts() {
    let with = |options: &str| container(&format!("{{image: x, command: [vllm, serve, acme/m, {options}]}}"));
    with("--enable-lora, --lora-modules, a=acme/one, b=acme/two").gives(&[
        "inference",
        "vllm",
        "main acme/m",
        "adapter acme/one as a",
        "adapter acme/two as b",
    ]);
    with(r#"--lora-modules, '{"name":"a","path":"acme/one","base_model_name":"m"}'"#).gives(&[
        "inference",
        "vllm",
        "main acme/m",
        "adapter acme/one as a",
    ]);
    with(r#"--default-mm-loras, '{"audio":"acme/one"}'"#).gives(&["inference", "vllm", "main acme/m", "adapter acme/one"]);
    with("--enable-lora").gives(&["inference", "vllm", "main acme/m"]);
}

#[test]
fn long_options_may_be_abbreviated_where_the_program_takes_it() {
    container("{image: x, command: [vllm, serve, acme/m, --served-model, a, --max-num-seq, '8']}")
        .gives(&["inference", "vllm", "main acme/m as a"])
        .parameters(&["max-sequences=8"]);
    // Not by a program of Rust.
    container("{image: x, command: [text-generation-launcher, --model, acme/m]}").gives(&[
        "inference",
        "tgi",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn the_last_of_several_single_values_wins() {
    container("{image: x, command: [vllm, serve, acme/m, --max-model-len, 1k, --max-model-len=32K]}").parameters(&["context-length=32K"]);
}

#[test]
fn subcommands_that_serve_nothing_give_no_runtime() {
    each(&[
        ("{image: x, command: [vllm, launch, render, acme/m]}", &["gateway", "target acme/m"]),
        ("{image: x, command: [vllm, collect-env]}", &[]),
        ("{image: x, command: [trtllm-serve, disaggregated, -c, /c.yaml]}", &["gateway"]),
        ("{image: x, command: [lmdeploy, serve, proxy, --server-port, '80']}", &["gateway"]),
    ]);
}

#[test]
fn a_default_model_is_the_runtimes_own_and_not_a_claim() {
    container("{image: 'vllm/vllm-openai:v0.10.0'}").gives(&["inference", "vllm", "unresolved model runtime-default"]);
    container("{image: 'ghcr.io/huggingface/text-generation-inference:2.0'}").gives(&[
        "inference",
        "tgi",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_model_in_a_configuration_file_is_unresolved() {
    container("{image: 'vllm/vllm-openai:v0.10.0', args: [--config, /etc/serve.yaml]}").gives(&[
        "inference",
        "vllm",
        "unresolved model config-file /etc/serve.yaml",
    ]);
}

#[test]
fn variables_of_the_sagemaker_image_count_there_only() {
    let env = "env: [{name: HF_MODEL_ID, value: acme/m}]";
    container(&format!("{{image: 'public.ecr.aws/deep-learning-containers/vllm:0.11.2-gpu-py312', {env}}}"))
        .gives(&["inference", "vllm", "main acme/m"])
        .versions(&[]);
    container(&format!("{{image: 'vllm/vllm-openai:v0.11.0', {env}}}")).gives(&["inference", "vllm", "unresolved model runtime-default"]);
    container("{image: 'public.ecr.aws/deep-learning-containers/vllm:x', env: [{name: SM_VLLM_MODEL, value: acme/m}, {name: HF_MODEL_ID, value: acme/n}]}")
        .gives(&["inference", "vllm", "main acme/m", "conflict acme/n"]);
}

// ---- other engines --------------------------------------------------------------------------------------------------------------------

#[test]
fn sglang_has_two_names_for_the_model_and_no_positional_one_in_its_module() {
    each(&[
        (
            "{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m, --tp, '8']}",
            &["inference", "sglang", "main acme/m"],
        ),
        ("{image: x, command: [python3, -m, sglang.launch_server, --model, acme/m]}", &["inference", "sglang", "main acme/m"]),
        ("{image: x, command: [sglang, serve, acme/m]}", &["inference", "sglang", "main acme/m"]),
        ("{image: x, command: [python, -m, sglang_router.launch_router, --worker-urls, 'http://a:80']}", &["gateway"]),
    ]);
}

#[test]
fn an_ambiguous_abbreviation_says_nothing() {
    // Three options of SGLang begin so.
    container("{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m, --tokenizer, acme/t]}").gives(&[
        "inference",
        "sglang",
        "main acme/m",
    ]);
}

#[test]
fn adapters_of_sglang_are_paths_pairs_or_json() {
    container(
        r#"{image: x, command: [sglang, serve, acme/m, --lora-paths, acme/one, b=acme/two, '{"lora_name":"c","lora_path":"acme/three"}']}"#,
    )
    .gives(&["inference", "sglang", "main acme/m", "adapter acme/one", "adapter acme/two as b", "adapter acme/three as c"]);
}

#[test]
fn tensorrt_llm_is_started_through_mpi_and_wrappers() {
    each(&[
        ("{image: x, command: [trtllm-serve, acme/m, --tp_size, '2']}", &["inference", "tensorrt-llm", "main acme/m"]),
        ("{image: x, command: [trtllm-serve, serve, acme/m]}", &["inference", "tensorrt-llm", "main acme/m"]),
        (
            "{image: x, command: [mpirun, -n, '2', --allow-run-as-root, trtllm-llmapi-launch, trtllm-serve, acme/m, --backend, pytorch]}",
            &["inference", "tensorrt-llm", "main acme/m"],
        ),
    ]);
}

#[test]
fn every_option_of_the_launcher_has_a_variable() {
    container(
        "{image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, $(MODEL_ID)], env: [{name: MODEL_ID, value: acme/m}, \
         {name: QUANTIZE, value: awq}, {name: NUM_SHARD, value: '2'}, {name: LORA_ADAPTERS, value: 'acme/one,acme/two'}]}",
    )
    .gives(&["inference", "tgi", "main acme/m", "adapter acme/one", "adapter acme/two"])
    .parameters(&["quantization=awq", "tensor-parallel-size=2"]);
    container("{image: 'ghcr.io/predibase/lorax:main', env: [{name: MODEL_ID, value: acme/m}, {name: ADAPTER_ID, value: acme/one}]}")
        .gives(&["inference", "lorax", "main acme/m", "adapter acme/one"]);
}

#[test]
fn names_of_llama_cpp_are_long_behind_one_dash() {
    each(&[
        (
            "{image: x, command: [llama-server, -hf, 'acme/m-GGUF:Q4_K_M', -md, /d.gguf, -c, '4096']}",
            &["inference", "llama.cpp", "main acme/m-GGUF", "draft /d.gguf"],
        ),
        (
            "{image: 'ghcr.io/ggml-org/llama.cpp:server', env: [{name: LLAMA_ARG_MODEL, value: /m/x.gguf}]}",
            &["inference", "llama.cpp", "main /m/x.gguf"],
        ),
        (
            "{image: x, command: [llama-server, -m, /m/x.gguf, --lora, '/a.gguf,/b.gguf', --mmproj, /p.gguf]}",
            &["inference", "llama.cpp", "main /m/x.gguf", "adapter /a.gguf", "adapter /b.gguf"],
        ),
        (
            "{image: x, command: [llama-server, -m, /m/x.gguf, --lora-scaled, '/c.gguf:0.5']}",
            &["inference", "llama.cpp", "main /m/x.gguf", "adapter /c.gguf"],
        ),
        (
            "{image: 'ghcr.io/abetlen/llama-cpp-python:latest', env: [{name: MODEL, value: /m/x.gguf}]}",
            &["inference", "llama.cpp", "main /m/x.gguf"],
        ),
        (
            "{image: x, command: [uvicorn, --factory, 'llama_cpp.server.app:create_app'], env: [{name: MODEL, value: /m/x.gguf}]}",
            &["inference", "llama.cpp", "main /m/x.gguf"],
        ),
    ]);
}

#[test]
fn ollama_names_models_in_pulls_and_never_in_its_own_variables() {
    each(&[
        (
            "{image: 'ollama/ollama:0.6.2', env: [{name: OLLAMA_MODELS, value: /models}]}",
            &["inference", "ollama", "unresolved model runtime-default"],
        ),
        (
            "{image: x, command: [sh, -c, 'ollama serve & sleep 5; ollama pull llama3.1:8b; wait']}",
            &["inference", "ollama", "main llama3.1:8b"],
        ),
        (
            r#"{image: curlimages/curl, command: [curl, -X, POST, 'http://ollama:11434/api/pull', -d, '{"name": "llama3.1:8b"}']}"#,
            &["data-preparation", "main llama3.1:8b"],
        ),
    ]);
}

#[test]
fn a_client_of_ollama_is_not_ollama() {
    let read = container("{image: 'example.com/acme/chat:1', env: [{name: OLLAMA_HOST, value: 'http://ollama:11434'}]}");
    assert!(read.inventory.runtimes.is_empty() && read.inventory.models.is_empty());
}

#[test]
fn the_model_name_of_some_servers_is_the_served_one() {
    each(&[
        ("{image: x, command: [lmdeploy, serve, api_server, acme/m, --model-name, a]}", &["inference", "lmdeploy", "main acme/m as a"]),
        (
            "{image: 'openvino/model_server:2025.1', args: [--model_path, 's3://bucket/m', --model_name, a, --port, '9000']}",
            &["inference", "openvino", "main s3://bucket/m as a"],
        ),
        (
            "{image: 'openvino/model_server:2025.1', args: [--source_model, acme/m, --model_repository_path, /models, --task, embeddings]}",
            &["inference", "openvino", "embedding acme/m"],
        ),
        (
            "{image: 'openvino/model_server:2025.1', args: [--pull, --source_model, acme/m, --model_repository_path, /models]}",
            &["data-preparation", "main acme/m"],
        ),
        (
            "{image: 'xprobe/xinference:v1', command: [xinference, launch, --model-name, qwen2.5-instruct, --model-type, LLM, --lora-modules, a, /lora]}",
            &["data-preparation", "main qwen2.5-instruct", "adapter /lora as a"],
        ),
    ]);
}

#[test]
fn a_variable_called_model_name_means_something_else_to_each_program() {
    each(&[
        (
            "{image: 'tensorflow/serving:2.14.0', env: [{name: MODEL_NAME, value: resnet}, {name: MODEL_BASE_PATH, value: 's3://bucket/models'}]}",
            &["inference", "tensorflow-serving", "main s3://bucket/models as resnet"],
        ),
        ("{image: 'runpod/worker-v1-vllm:v2', env: [{name: MODEL_NAME, value: acme/m}]}", &["inference", "vllm", "main acme/m"]),
    ]);
    let seldon = container(
        "{image: 'seldonio/sklearnserver:1.17', command: [seldon-core-microservice, MyModel], env: [{name: MODEL_NAME, value: MyModel}]}",
    );
    assert!(seldon.inventory.models.is_empty());
}

#[test]
fn a_parameter_list_of_seldon_names_the_model_by_its_place() {
    container(
        r#"{image: 'seldonio/sklearnserver:1.17', env: [{name: PREDICTIVE_UNIT_PARAMETERS, value: '[{"name":"method","value":"predict"},{"name":"model_uri","value":"/mnt/models"}]'}]}"#,
    )
    .gives(&["inference", "seldon", "sklearn", "main /mnt/models"]);
}

#[test]
fn the_options_of_two_programs_mix_in_the_server_of_kserve() {
    each(&[
        (
            "{image: 'kserve/huggingfaceserver:v0.15', args: [--model_name=a, --model_id=acme/m, --backend=vllm, --max_model_len=512]}",
            &["inference", "huggingface", "vllm", "main acme/m as a"],
        ),
        (
            "{image: 'kserve/huggingfaceserver:v0.15', args: [--model_id, acme/m, --model_dir, /mnt/models, --task, text_embedding]}",
            &["inference", "huggingface", "embedding acme/m", "from /mnt/models"],
        ),
    ]);
}

#[test]
fn an_option_tells_the_library_of_a_server_for_several() {
    container("{image: 'kserve/predictiveserver:v0.16', args: [--model_dir, /mnt/models, --framework=xgboost]}").gives(&[
        "inference",
        "predictiveserver",
        "xgboost",
        "main /mnt/models",
    ]);
}

#[test]
fn a_repository_of_triton_is_a_place_and_its_models_are_served_names() {
    each(&[
        (
            "{image: 'nvcr.io/nvidia/tritonserver:24.05-py3', args: [tritonserver, --model-store=/models, --model-control-mode=explicit, --load-model=a, --load-model=b]}",
            &["inference", "triton", "main /models as a, b"],
        ),
        (
            "{image: 'nvcr.io/nvidia/tritonserver:24.05-py3', args: [tritonserver, --model-repository, 's3://bucket/x', '--load-model=*']}",
            &["inference", "triton", "main s3://bucket/x"],
        ),
    ]);
}

#[test]
fn several_models_of_one_embedding_server_are_several() {
    each(&[
        (
            "{image: 'michaelf34/infinity:0.0.77', args: [v2, --model-id, acme/one, --model-id, acme/two]}",
            &["inference", "infinity", "embedding acme/one", "embedding acme/two"],
        ),
        (
            "{image: 'michaelf34/infinity:0.0.77', env: [{name: INFINITY_MODEL_ID, value: 'acme/one;acme/two;'}]}",
            &["inference", "infinity", "embedding acme/one", "embedding acme/two"],
        ),
        (
            "{image: 'michaelf34/infinity:0.0.77', args: [v2, --model-id, acme/one, --preload-only]}",
            &["data-preparation", "embedding acme/one"],
        ),
    ]);
}

#[test]
fn a_list_in_json_preloads_models() {
    each(&[
        (
            r#"{image: 'localai/localai:v3.0.0', env: [{name: PRELOAD_MODELS, value: '[{"url":"github:acme/gallery/one.yaml","name":"one"}]'}]}"#,
            &["inference", "localai", "main github:acme/gallery/one.yaml"],
        ),
        (
            r#"{image: 'ghcr.io/speaches-ai/speaches:latest-cuda', env: [{name: PRELOAD_MODELS, value: '["acme/one", "acme/two"]'}]}"#,
            &["inference", "faster-whisper", "main acme/one", "main acme/two"],
        ),
    ]);
}

#[test]
fn a_model_in_the_image_is_told_by_the_image_or_a_word() {
    each(&[
        ("{image: 'ghcr.io/remsky/kokoro-fastapi-cpu:v0.2.2'}", &["inference", "kokoro", "main hexgrad/Kokoro-82M"]),
        (
            "{image: 'ghcr.io/remsky/kokoro-fastapi-gpu:v0.2.2', env: [{name: MODEL_VERSION, value: v1_1-zh}]}",
            &["inference", "kokoro", "main hexgrad/Kokoro-82M-v1.1-zh"],
        ),
        ("{image: 'r8.im/acme/sdxl:1'}", &["inference", "cog", "main acme/sdxl"]),
    ]);
}

#[test]
fn a_wrapper_script_is_told_apart_by_its_folder() {
    each(&[("{image: x, command: [python3, /workspace/vllm/inference_api.py, --model, acme/m]}", &["inference", "vllm", "main acme/m"])]);
}

#[test]
fn arguments_in_a_variable_are_options() {
    container("{image: 'koboldai/koboldcpp:latest', env: [{name: KCPP_ARGS, value: '--contextsize 4096 --model /m.gguf'}]}").gives(&[
        "inference",
        "koboldcpp",
        "main /m.gguf",
    ]);
}

#[test]
fn a_download_before_the_server_is_the_source_of_what_it_loads() {
    pod("{initContainers: [{name: i, image: 'kserve/storage-initializer:v0.15', args: ['s3://bucket/m', /mnt/models]}], \
         containers: [{name: a, image: 'vllm/vllm-openai:v0.9.0', args: [--model, /mnt/models]}]}")
    .gives(&["inference", "vllm", "main /mnt/models", "from s3://bucket/m"]);
}
