//! Engines of language models: what their options, variables and subcommands mean beside the obvious.

use crate::support::{container, script, script_with};

#[test]
fn a_switch_of_the_hub_makes_a_name_one_of_another_hub() {
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, acme/m], env: [{name: VLLM_USE_MODELSCOPE, value: 'true'}]}")
        .gives(&["inference", "vllm", "main acme/m"])
        .forms(&["name"]);
    container("{image: x, command: [sh, -c, 'export VLLM_USE_MODELSCOPE=1; vllm serve acme/m']}")
        .gives(&["inference", "vllm", "main acme/m"])
        .forms(&["name"]);
    // Off is off.
    container("{image: x, command: [vllm, serve, acme/m], env: [{name: VLLM_USE_MODELSCOPE, value: 'false'}]}")
        .gives(&["inference", "vllm", "main acme/m"])
        .forms(&["hub"]);
    // Every model of the program comes from there, but a path is a path.
    container(r#"{image: x, command: [vllm, serve, acme/m, --speculative-config, '{"model":"acme/d"}', --lora-modules, a=acme/l, --tokenizer, acme/t], env: [{name: VLLM_USE_MODELSCOPE, value: 'True'}]}"#).gives(&["inference", "vllm", "main acme/m", "draft acme/d", "adapter acme/l as a", "tokenizer acme/t"]).forms(&["name"]);
    container("{image: x, command: [vllm, serve, /models/m], env: [{name: VLLM_USE_MODELSCOPE, value: 'True'}]}")
        .gives(&["inference", "vllm", "main /models/m"])
        .forms(&["path"]);
    container("{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m], env: [{name: SGLANG_USE_MODELSCOPE, value: 'true'}]}").gives(&["inference", "sglang", "main acme/m"]).forms(&["name"]);
    container("{image: x, command: [lmdeploy, serve, api_server, acme/m], env: [{name: LMDEPLOY_USE_MODELSCOPE, value: 'True'}]}")
        .gives(&["inference", "lmdeploy", "main acme/m"])
        .forms(&["name"]);
    container("{image: x, command: [lmdeploy, serve, api_server, acme/m], env: [{name: LMDEPLOY_USE_OPENMIND_HUB, value: 'True'}]}")
        .gives(&["inference", "lmdeploy", "main acme/m"])
        .forms(&["name"]);
    container("{image: x, command: [aphrodite, run, acme/m], env: [{name: APHRODITE_USE_MODELSCOPE, value: '1'}]}")
        .gives(&["inference", "aphrodite", "main acme/m"])
        .forms(&["name"]);
    container("{image: x, command: [python, -m, fastdeploy.entrypoints.openai.api_server, --model, acme/m], env: [{name: FD_MODEL_SOURCE, value: MODELSCOPE}]}").gives(&["inference", "fastdeploy", "main acme/m"]).forms(&["name"]);
    script("llamafactory-cli train --model_name_or_path acme/m --dataset identity")
        .gives(&["fine-tuning", "llama-factory", "base acme/m", "dataset identity"])
        .forms(&["hub"]);
    script_with(&[("USE_MODELSCOPE_HUB", "1")], "llamafactory-cli train --model_name_or_path acme/m --dataset identity")
        .gives(&["fine-tuning", "llama-factory", "base acme/m", "dataset identity"])
        .forms(&["name"]);
    script("python -m openrlhf.cli.train_sft --pretrain acme/m --use_ms")
        .gives(&["fine-tuning", "openrlhf", "base acme/m"])
        .forms(&["name"]);
    script("swift rlhf --model acme/m --reward_model acme/rm --ref_model acme/ref --adapters acme/l")
        .gives(&["fine-tuning", "ms-swift", "base acme/m", "base acme/ref", "judge acme/rm", "adapter acme/l"])
        .forms(&["name"]);
    script_with(&[("USE_HF", "1")], "swift sft --model acme/m").gives(&["fine-tuning", "ms-swift", "base acme/m"]).forms(&["hub"]);
}

#[test]
fn a_list_that_is_given_again_replaces_the_first_one() {
    container("{image: x, command: [vllm, serve, acme/m, --enable-lora, --lora-modules, a=acme/one, --lora-modules, b=acme/two]}")
        .gives(&["inference", "vllm", "main acme/m", "adapter acme/two as b"]);
    container("{image: x, command: [vllm, serve, acme/m, --served-model-name, a, --served-model-name, b, c]}").gives(&[
        "inference",
        "vllm",
        "main acme/m as b, c",
    ]);
}

#[test]
fn a_name_in_the_options_wins_over_one_in_the_variables() {
    container("{image: 'tensorflow/serving:2.14.0', args: [--model_name=a, '--model_base_path=gs://bucket/a'], env: [{name: MODEL_NAME, value: resnet}]}").gives(&["inference", "tensorflow-serving", "main gs://bucket/a as a"]);
    container("{image: 'ghcr.io/huggingface/text-embeddings-inference:cpu-1.6', args: [--model-id, acme/e, --served-model-name, b], env: [{name: SERVED_MODEL_NAME, value: a}]}").gives(&["inference", "tei", "embedding acme/e as b"]);
}

#[test]
fn revisions_of_other_things_are_not_the_models() {
    container("{image: x, command: [vllm, serve, acme/m, --revision, r1, --code-revision, r2, --tokenizer-revision, r3, --hf-config-path, acme/other]}").gives(&["inference", "vllm", "main acme/m @r1"]);
    container("{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m, --revision, r1, --speculative-draft-model, acme/d, --speculative-draft-model-revision, r2, --weight-version, w7]}").gives(&["inference", "sglang", "main acme/m @r1", "draft acme/d"]);
    container("{image: 'kserve/huggingfaceserver:v0.15', args: [--model_id=acme/m, --model_revision=r1, --tokenizer_revision=r2]}")
        .gives(&["inference", "huggingface", "main acme/m @r1"]);
}

#[test]
fn subcommands_of_vllm_serve_batches_prepare_or_only_call() {
    container("{image: x, command: [vllm, run-batch, -i, in.jsonl, -o, out.jsonl, --model, acme/m]}").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container("{image: x, command: [vllm, preload, acme/m]}").gives(&["data-preparation", "main acme/m"]);
    container("{image: x, command: [vllm, snapshot, create, acme/m]}").gives(&[]);
    container("{image: x, command: [vllm, chat, --url, 'http://a:8000/v1', --model-name, acme/m]}").gives(&["benchmark"]);
    container("{image: x, command: [vllm, complete, --url, 'http://a:8000/v1']}").gives(&["benchmark"]);
    container("{image: x, command: [python3, -m, vllm.entrypoints.grpc_server, --model, acme/m]}").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container("{image: x, command: [/opt/venv/bin/vllm, serve, acme/m]}").gives(&["inference", "vllm", "main acme/m"]);
}

#[test]
fn a_positional_model_wins_over_the_file_of_settings() {
    container("{image: x, command: [vllm, serve, acme/m, --config, /c.yaml]}").gives(&["inference", "vllm", "main acme/m"]);
    container("{image: x, command: [python3, -m, sglang.launch_server, --config, /c.yaml]}").gives(&[
        "inference",
        "sglang",
        "unresolved model config-file /c.yaml",
    ]);
}

#[test]
fn methods_of_speculation_without_a_second_model_have_none() {
    container(r#"{image: x, command: [vllm, serve, acme/m, --speculative-config, '{"method":"suffix"}']}"#).gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container("{image: x, command: [vllm, serve, acme/m, --spec-method, ngram, --spec-tokens, '3']}").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container(r#"{image: x, command: [vllm, serve, acme/m, --speculative-config, '{"method":"draft_model","model":"acme/d","draft-tensor-parallel-size":1,"revision":"r9"}']}"#).gives(&["inference", "vllm", "main acme/m", "draft acme/d"]);
    container("{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m, --speculative-algorithm, NEXTN, --speculative-num-steps, '3']}").gives(&["inference", "sglang", "main acme/m"]);
    container("{image: x, command: [llama-server, -hf, acme/m, --mtp]}").gives(&["inference", "llama.cpp", "main acme/m"]);
    container("{image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, acme/m, --speculate, '3', --env]}")
        .gives(&["inference", "tgi", "main acme/m"]);
    container("{image: 'ghcr.io/huggingface/text-generation-inference:3.0', env: [{name: MODEL_ID, value: acme/m}, {name: SPECULATE, value: '2'}]}").gives(&["inference", "tgi", "main acme/m"]);
    container("{image: 'ghcr.io/predibase/lorax:main', args: [--model-id, acme/m, --speculative-tokens, '2']}").gives(&[
        "inference",
        "lorax",
        "main acme/m",
    ]);
    container("{image: x, command: [python3, -m, llama_cpp.server, --model, /m.gguf, --draft_model, prompt-lookup-decoding]}").gives(&[
        "inference",
        "llama.cpp",
        "main /m.gguf",
    ]);
}

#[test]
fn long_options_behind_one_dash_take_an_equals_sign_and_the_cache_has_a_type_of_its_own() {
    container("{image: x, command: [vllm, serve, acme/m, -tp=2, -q=awq, --kv-cache-dtype, fp8, -O3, --compilation-config.mode, '3', --no-enable-prefix-caching, --load-format, dummy]}").gives(&["inference", "vllm", "main acme/m"]).parameters(&["kv-cache-dtype=fp8", "load-format=dummy", "quantization=awq", "tensor-parallel-size=2"]);
    container("{image: x, command: [llama-server, -hf, acme/m, -ctk, q8_0, -mm, /mm.gguf, -a, nick]}")
        .gives(&["inference", "llama.cpp", "main acme/m as nick"])
        .parameters(&["kv-cache-dtype=q8_0", "projector=/mm.gguf"]);
    container("{image: x, command: [lmdeploy, serve, api_server, acme/m, --quant-policy, '8', --model-format, awq, --api-keys, k1, k2]}")
        .gives(&["inference", "lmdeploy", "main acme/m"])
        .parameters(&["kv-cache-dtype=8", "quantization=awq"]);
    container("{image: 'ollama/ollama:0.6.2', env: [{name: OLLAMA_MODEL, value: 'acme:8b'}, {name: OLLAMA_KV_CACHE_TYPE, value: q8_0}]}")
        .gives(&["inference", "ollama", "unresolved model runtime-default"]);
}

#[test]
fn json_and_templates_beside_the_model_name_none() {
    container(r#"{image: x, command: [vllm, serve, acme/m, --headless, --trust-remote-code, --chat-template, acme/t.jinja, --kv-transfer-config, '{"kv_connector":"LMCacheConnectorV1","kv_connector_extra_config":{"model":"acme/zzz"}}']}"#).gives(&["inference", "vllm", "main acme/m"]);
    container("{image: x, command: [trtllm-serve, acme/m, --extra_llm_api_options, /x.yaml, --tokenizer, acme/t]}").gives(&[
        "inference",
        "tensorrt-llm",
        "main acme/m",
        "tokenizer acme/t",
    ]);
    container("{image: x, command: [llama-server, -m, /m/x-00001-of-00003.gguf, --chat-template, chatml, --rpc, 'a:1,b:2']}").gives(&[
        "inference",
        "llama.cpp",
        "main /m/x-00001-of-00003.gguf",
    ]);
}

#[test]
fn variables_that_speak_of_models_but_hold_none() {
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, acme/m], env: [{name: VLLM_MODEL_REDIRECT_PATH, value: /r.txt}, {name: VLLM_LORA_RESOLVER_CACHE_DIR, value: /l}, {name: VLLM_PLUGINS, value: acme_plugin}]}").gives(&["inference", "vllm", "main acme/m"]);
    container("{image: 'vllm/vllm-tpu:x', command: [python3, -m, vllm.entrypoints.openai.api_server, --model=acme/m], env: [{name: MODEL_IMPL_TYPE, value: vllm}, {name: DRAFT_MODEL_IMPL_TYPE, value: auto}, {name: LORA_MODULE_PATH, value: tpu_inference.lora}]}").gives(&["inference", "vllm", "main acme/m"]);
    container("{image: 'lmsysorg/sglang:v0.5', command: [python3, -m, sglang.launch_server, --model-path, acme/m], env: [{name: SGLANG_EXTERNAL_MODEL_PACKAGE, value: acme_models}]}").gives(&["inference", "sglang", "main acme/m"]);
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, acme/m], env: [{name: HF_HOME, value: /models/acme}, {name: HF_ENDPOINT, value: 'https://hf-mirror.com'}, {name: TRANSFORMERS_CACHE, value: /x}]}").gives(&["inference", "vllm", "main acme/m"]);
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, acme/m], env: [{name: VLLM_LORA_RESOLVER_HF_REPO_LIST, value: 'acme/one,acme/two'}]}").gives(&["inference", "vllm", "main acme/m", "adapter acme/one", "adapter acme/two"]);
}

#[test]
fn the_settings_of_a_shared_cache_are_no_second_runtime() {
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, acme/m], env: [{name: LMCACHE_CONFIG_FILE, value: /c.yaml}, {name: LMCACHE_REMOTE_URL, value: 'lm://cache:8080'}, {name: LMCACHE_LOCAL_CPU, value: 'True'}, {name: LMCACHE_ENABLE_NIXL, value: 'True'}]}").gives(&["inference", "vllm", "main acme/m"]);
    container("{image: 'example.com/acme/app:1', command: [/app/start], env: [{name: LMCACHE_CONFIG_FILE, value: /c.yaml}, {name: LMCACHE_REMOTE_URL, value: 'lm://cache:8080'}]}").gives(&[]);
    container("{image: 'lmcache/vllm-openai:latest', command: [lmcache, server, --host, 0.0.0.0]}").gives(&["inference"]);
    container("{image: 'lmcache/standalone:1'}").gives(&["inference"]);
    container("{image: x, command: [lmcache, bench, --model, acme/m]}").gives(&["benchmark", "target acme/m"]);
    container("{image: x, command: [lmcache, query, x]}").gives(&[]);
    container("{image: x, command: [mooncake_master, --port, '50051']}").gives(&["inference"]);
}

#[test]
fn locations_stay_locations_and_files_stay_files() {
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, 's3://bucket/m', --load-format, runai_streamer]}").gives(&[
        "inference",
        "vllm",
        "main s3://bucket/m",
    ]);
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, /m/x.gguf, --tokenizer, acme/m]}").gives(&[
        "inference",
        "vllm",
        "main /m/x.gguf",
        "tokenizer acme/m",
    ]);
    container("{image: 'vllm/vllm-openai:v0.9.0', args: [--model, 'acme/m-GGUF:Q4_K_M', --tokenizer, acme/m]}").gives(&[
        "inference",
        "vllm",
        "main acme/m-GGUF",
        "tokenizer acme/m",
    ]);
    container("{image: x, command: [python3, -m, sglang.launch_server, --model-path, acme/m-GGUF/file.gguf]}").gives(&[
        "inference",
        "sglang",
        "main acme/m-GGUF",
    ]);
}

#[test]
fn a_stage_of_many_models_has_parts_that_are_models_and_names_that_are_none() {
    container("{image: 'vllm/vllm-omni:v0.26.0', command: [vllm, serve, acme/m, --omni, --deploy-config, /d.yaml, --model-class-name, AcmePipeline, --lora-path, acme/l, --lora-scale, '0.5', --auxiliary-text-encoder, acme/te, --forced-aligner, acme/fa, --stage-id, '0']}").gives(&["inference", "vllm", "main acme/fa", "main acme/m", "main acme/te", "adapter acme/l"]);
    container("{image: x, command: [sglang, serve, acme/m, --model-type, diffusion, --model-id, acme-registry/id, --model-subfolder, sub, --pipeline-class-name, AcmePipeline, --lora-path, acme/l, --lora-nickname, acme/nick]}").gives(&["inference", "sglang", "main acme/m", "adapter acme/l"]);
}

#[test]
fn a_worker_image_has_variables_of_its_own_for_everything() {
    container(r#"{image: 'runpod/worker-v1-vllm:v2', env: [{name: MODEL_NAME, value: acme/m}, {name: MODEL_REVISION, value: r1}, {name: TOKENIZER_NAME, value: acme/t}, {name: OPENAI_SERVED_MODEL_NAME_OVERRIDE, value: a}, {name: LORA_MODULES, value: '[{"name":"l","path":"acme/l"}]'}]}"#).gives(&["inference", "vllm", "main acme/m @r1 as a", "adapter acme/l", "tokenizer acme/t"]);
    container(r#"{image: 'ghcr.io/llm-d/llm-d-cuda:v0.3.1', command: [bash, -c, 'eval "exec vllm serve /mnt/models --served-model-name a ${VLLM_ADDITIONAL_ARGS}"'], env: [{name: VLLM_ADDITIONAL_ARGS, value: '--tokenizer acme/t --quantization fp8'}]}"#).gives(&["inference", "vllm", "main /mnt/models as a", "tokenizer acme/t"]);
}

#[test]
fn the_same_image_or_package_holds_a_router_and_a_server() {
    container("{image: 'lmsysorg/sglang:v0.5', command: [python3, -m, sglang_router.launch_router, --model-path, acme/m, --tokenizer-path, acme/t, --worker-urls, 'http://a:1']}").gives(&["gateway", "target acme/m", "tokenizer acme/t"]);
    container("{image: 'lmsysorg/sglang:v0.5', command: [smg, --worker-urls, 'http://a:1']}").gives(&["gateway"]);
    container("{image: 'lmsysorg/sglang:v0.5', command: [python3, -m, sglang_router.launch_server, --model-path, acme/m, --dp-size, '4', --router-policy, cache_aware]}").gives(&["inference", "sglang", "main acme/m"]);
    container("{image: 'nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0', command: [python3, -m, dynamo.frontend, --http-port, '8000', --model-name, acme/m]}").gives(&["gateway"]);
    container("{image: 'nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.0', command: [python3, -m, dynamo.planner, --environment, kubernetes]}")
        .gives(&["gateway"]);
    container("{image: 'vllm/vllm-openai:v0.9.0', command: [vllm-router, --static-models, acme/m]}").gives(&["gateway"]);
    container("{image: 'lmcache/lmstack-router:latest', args: [--static-backends, 'http://a:1', --static-models, acme/m, --static-aliases, 'b:acme/m', --prefill-model-labels, acme/p]}").gives(&["gateway"]);
    container("{image: 'xprobe/xinference:v1', command: [xinference-router]}").gives(&["gateway"]);
    container("{image: 'localai/localai:v3', args: [federated]}").gives(&["gateway"]);
    container("{image: x, command: [python, -m, fastchat.serve.controller]}").gives(&["gateway"]);
    container("{image: x, command: [python, -m, fastchat.serve.huggingface_api_worker, --model-info-file, /f]}").gives(&["gateway"]);
    container("{image: x, command: [python, -m, lightllm.server.api_server, --run_mode, pd_master, --model_dir, /m]}")
        .gives(&["gateway", "target /m"]);
    container("{image: x, command: [python, -m, lightllm.server.api_server, --run_mode, prefill, --model_dir, /m]}").gives(&[
        "inference",
        "lightllm",
        "main /m",
    ]);
}

#[test]
fn an_orchestrator_passes_the_options_of_its_engine_on() {
    container("{image: 'nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0', command: [python3, -m, dynamo.vllm, --model, acme/m, --served-model-name, 'a,b', c, --aic-perf-model, acme/p]}").gives(&["inference", "dynamo", "vllm", "main acme/m as a, b, c"]);
    container("{image: 'nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:1.0', command: [python3, -m, dynamo.trtllm], env: [{name: DYN_TRTLLM_MODEL, value: acme/m}, {name: DYN_TRTLLM_SERVED_MODEL_NAME, value: a}]}").gives(&["inference", "dynamo", "tensorrt-llm", "main acme/m as a"]);
    container("{image: 'nvcr.io/nvidia/ai-dynamo/sglang-runtime:1.0', command: [python3, -m, dynamo.sglang, --model-path, acme/m, --embedding-worker]}").gives(&["inference", "dynamo", "sglang", "embedding acme/m"]);
    container("{image: x, command: [python3, -m, dynamo.triton, --model-repository, /models]}").gives(&[
        "inference",
        "dynamo",
        "triton",
        "main /models",
    ]);
    container("{image: x, command: [python3, -m, dynamo.mocker, --model-path, acme/m, --model-name, a]}")
        .gives(&["inference", "main acme/m as a"]);
    container("{image: x, command: [dynamo, run, in=http, out=vllm, acme/m]}").gives(&["inference", "dynamo", "vllm", "main acme/m"]);
    container("{image: x, command: [dynamo, serve, 'graphs.agg:Frontend', -f, configs/agg.yaml]}").gives(&[
        "inference",
        "dynamo",
        "unresolved model config-file configs/agg.yaml",
    ]);
}

#[test]
fn workers_and_services_of_tensorrt_llm_have_subcommands() {
    container("{image: x, command: [trtllm-serve, grpc, acme/m]}").gives(&["inference", "tensorrt-llm", "main acme/m"]);
    container("{image: x, command: [trtllm-serve, mm_embedding_serve, acme/m]}").gives(&["inference", "tensorrt-llm", "main acme/m"]);
    container("{image: x, command: [trtllm-serve, disaggregated_mpi_worker, -c, /c.yaml]}").gives(&[
        "inference",
        "tensorrt-llm",
        "unresolved model config-file /c.yaml",
    ]);
    container(r#"{image: x, command: [bash, -c, 'mpirun -n 8 --allow-run-as-root bash -c "trtllm-llmapi-launch trtllm-serve acme/m --max_seq_len 99"']}"#).gives(&["inference", "tensorrt-llm", "main acme/m"]);
    container("{image: x, command: [trtllm-eval, --model, acme/m, gsm8k]}").gives(&["evaluation", "tensorrt-llm", "target acme/m"]);
    container("{image: x, command: [trtllm-build, --checkpoint_dir, /c, --output_dir, /e]}").gives(&["data-preparation", "main /c"]);
}

#[test]
fn a_nim_has_its_model_in_one_of_many_variables_or_in_its_name() {
    container("{image: 'nvcr.io/nim/nvidia/llm-nim:2', args: [acme/m, --tensor-parallel-size, '2']}").gives(&[
        "inference",
        "nim",
        "main acme/m",
    ]);
    container("{image: 'nvcr.io/nim/nvidia/llm-nim:2', env: [{name: NIM_MODEL_NAME, value: /model-store}, {name: NIM_MODEL_PATH, value: 'hf://acme/m'}, {name: NIM_SERVED_MODEL_NAME, value: 'a,b'}]}").gives(&["inference", "nim", "main acme/m as a, b", "from /model-store", "from hf://acme/m"]);
    container("{image: 'nvcr.io/nim/nvidia/llm-nim:1', env: [{name: NIM_MODEL_NAME, value: 'hf://acme/m'}, {name: NIM_MODEL_PROFILE, value: tensorrt_llm-l40s-bf16-tp2-throughput}, {name: NIM_MODEL_TOKENIZER, value: acme/t}]}").gives(&["inference", "nim", "main acme/m", "tokenizer acme/t", "from hf://acme/m"]);
    container(
        "{image: 'nvcr.io/nim/acme/m-8b:1.0.0', env: [{name: NIM_FT_MODEL, value: /ft}, {name: NIM_CUSTOM_MODEL_NAME, value: mine}]}",
    )
    .gives(&["inference", "nim", "main /ft"]);
    container("{image: 'nvcr.io/nim/acme/m-8b:1.0.0', env: [{name: NIM_PEFT_SOURCE, value: /loras}]}").gives(&[
        "inference",
        "nim",
        "main acme/m-8b",
    ]);
    container("{image: 'nvcr.io/nim/acme/m-8b:1.0.0', env: [{name: NIM_PASSTHROUGH_ARGS, value: '--max-model-len 99 --lora-modules a=acme/one'}]}").gives(&["inference", "nim", "main acme/m-8b", "adapter acme/one as a"]);
    container("{image: 'nvcr.io/nim/acme/m-8b:1.0.0', command: [list-model-profiles]}").gives(&["inference"]);
    container("{image: 'nvcr.io/nim/acme/llama-embedqa-1b:1.0.0'}").gives(&["inference", "nim", "embedding acme/llama-embedqa-1b"]);
    container("{image: 'nvcr.io/nim/acme/llama-rerankqa-1b:1.0.0'}").gives(&["inference", "nim", "reranker acme/llama-rerankqa-1b"]);
    container("{image: 'nvcr.io/nim/acme/llama-nemoguard-8b:1.0.0'}").gives(&["inference", "nim", "main acme/llama-nemoguard-8b"]);
    container("{image: 'nvcr.io/nvidia/nemo-microservices/guardrails:25.1'}").gives(&[]);
    container("{image: x, command: [nemoguardrails, server, --config, /c]}").gives(&["gateway"]);
}

#[test]
fn the_launchers_of_rust_read_a_variable_for_each_option() {
    container(
        "{image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, acme/m], env: [{name: MODEL_ID, value: acme/n}]}",
    )
    .gives(&["inference", "tgi", "main acme/m", "conflict acme/n"]);
    container("{image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, acme/m, --lora-adapters, 'a=acme/one,acme/two@r2']}").gives(&["inference", "tgi", "main acme/m", "adapter acme/one as a", "adapter acme/two @r2"]);
    container("{image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/huggingface-pytorch-tgi-inference:2.4', env: [{name: HF_MODEL_ID, value: acme/m}, {name: HF_MODEL_REVISION, value: r1}]}").gives(&["inference", "tgi", "main acme/m @r1"]);
    container("{image: x, command: [text-generation-server, download-weights, acme/m]}").gives(&["data-preparation", "main acme/m"]);
    container("{image: x, command: [text-generation-benchmark, --tokenizer-name, acme/t]}").gives(&["benchmark", "tokenizer acme/t"]);
    container("{image: x, command: [text-generation-router, --tokenizer-name, acme/t]}").gives(&["gateway", "tokenizer acme/t"]);
    container("{image: 'ghcr.io/predibase/lorax:main', args: [--model-id, acme/m, --preloaded-adapter-ids, acme/one, --preloaded-adapter-ids, acme/two]}").gives(&["inference", "lorax", "main acme/m", "adapter acme/one", "adapter acme/two"]);
    container("{image: 'ghcr.io/predibase/lorax:main', args: [--model-id, acme/m, --embedding-model]}").gives(&[
        "inference",
        "lorax",
        "embedding acme/m",
    ]);
}

#[test]
fn what_the_images_of_llama_cpp_run_is_told_by_tag_and_first_word() {
    container("{image: 'ghcr.io/ggml-org/llama.cpp:light', args: [-m, /m/x.gguf]}").gives(&["inference"]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:full', args: [-s, -m, /m/x.gguf]}").gives(&["inference", "llama.cpp", "main /m/x.gguf"]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:full', args: [--quantize, /a, /b]}").gives(&["inference"]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:full', command: [/app/rpc-server, -p, '50052']}").gives(&["inference"]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:server', command: [/server, -m, /m.gguf]}").gives(&[
        "inference",
        "llama.cpp",
        "main /m.gguf",
    ]);
    container("{image: x, command: [llama-cli, -m, /m.gguf]}").gives(&[]);
}

#[test]
fn a_file_of_llama_cpp_beside_a_repository_is_where_it_lies() {
    container("{image: x, command: [llama-server, -hf, acme/m-GGUF, -m, /cache/m.gguf]}").gives(&[
        "inference",
        "llama.cpp",
        "main acme/m-GGUF",
        "from /cache/m.gguf",
    ]);
    container("{image: x, command: [llama-server, -hf, acme/m-GGUF, -hff, m-q8.gguf]}")
        .gives(&["inference", "llama.cpp", "main acme/m-GGUF"])
        .parameters(&["file=m-q8.gguf"]);
    container("{image: x, command: [llama-server, -mu, 'https://huggingface.co/acme/m-GGUF/resolve/main/m.gguf', -m, /cache/m.gguf]}")
        .gives(&[
            "inference",
            "llama.cpp",
            "main acme/m-GGUF @main",
            "from /cache/m.gguf",
            "from https://huggingface.co/acme/m-GGUF/resolve/main/m.gguf",
        ]);
    container(
        "{image: x, command: [python3, -m, llama_cpp.server, --hf_model_repo_id, acme/m-GGUF, --model, '*Q4_K_M.gguf', --model_alias, a]}",
    )
    .gives(&["inference", "llama.cpp", "main acme/m-GGUF as a"]);
    container(
        "{image: 'ghcr.io/abetlen/llama-cpp-python:latest', env: [{name: HF_MODEL_REPO_ID, value: acme/m}, {name: MODEL, value: m.gguf}]}",
    )
    .gives(&["inference", "llama.cpp", "main acme/m", "from m.gguf"]);
    container("{image: x, command: [python3, -m, llama_cpp.server, --config_file, /c.json]}").gives(&[
        "inference",
        "llama.cpp",
        "unresolved model config-file /c.json",
    ]);
    // Old releases took two words.
    container("{image: x, command: [llama-server, -m, /m.gguf, --lora-scaled, /c.gguf, '0.5']}").gives(&[
        "inference",
        "llama.cpp",
        "main /m.gguf",
        "adapter /c.gguf",
    ]);
    container("{image: x, command: [llama-server, -hf, acme/m, -hfd, acme/d]}").gives(&[
        "inference",
        "llama.cpp",
        "main acme/m",
        "draft acme/d",
    ]);
    container("{image: x, command: [llama-server, -hf, acme/m], env: [{name: LLAMA_ARG_SPEC_DRAFT_MODEL, value: /d.gguf}, {name: LLAMA_ARG_MMPROJ, value: /mm.gguf}, {name: LLAMA_ARG_ALIAS, value: nick}]}").gives(&["inference", "llama.cpp", "main acme/m as nick", "draft /d.gguf"]);
    container("{image: x, command: [llama-server, -m, /m.gguf, --embedding]}").gives(&["inference", "llama.cpp", "embedding /m.gguf"]);
    container("{image: x, command: [llama-server, -m, /m.gguf, --reranking]}").gives(&["inference", "llama.cpp", "reranker /m.gguf"]);
}

#[test]
fn a_repository_of_containers_is_no_repository_of_the_hub() {
    container("{image: x, command: [llama-server, -dr, 'ai/acme-m:q4']}")
        .gives(&["inference", "llama.cpp", "main ai/acme-m:q4"])
        .forms(&["name"]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:server', env: [{name: LLAMA_ARG_DOCKER_REPO, value: ai/acme-m}]}")
        .gives(&["inference", "llama.cpp", "main ai/acme-m"])
        .forms(&["name"]);
    container("{image: x, command: [ramalama, serve, 'oci://quay.io/acme/m:1']}")
        .gives(&["inference", "ramalama", "main oci://quay.io/acme/m:1"])
        .forms(&["uri"]);
    container("{image: x, command: [ramalama, serve, 'ollama://acme:1b']}")
        .gives(&["inference", "ramalama", "main ollama://acme:1b"])
        .forms(&["uri"]);
    container("{image: x, command: [ramalama, serve, 'hf://acme/m']}")
        .gives(&["inference", "ramalama", "main acme/m", "from hf://acme/m"])
        .forms(&["hub"]);
    container("{image: 'quay.io/ramalama/ramalama:1', command: [llama-server, --model, /mnt/models/model.file, --alias, acme]}")
        .gives(&["inference", "llama.cpp", "main /mnt/models/model.file as acme"])
        .forms(&["path"]);
}

#[test]
fn a_router_of_llama_cpp_serves_a_directory_or_a_file_of_settings() {
    container("{image: x, command: [llama-server, --models-dir, /models, --models-max, '2']}").gives(&[
        "inference",
        "llama.cpp",
        "main /models",
    ]);
    container("{image: x, command: [llama-server, --models-preset, /p.ini]}").gives(&[
        "inference",
        "llama.cpp",
        "unresolved model config-file /p.ini",
    ]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:server', env: [{name: LLAMA_ARG_MODELS_DIR, value: /models}]}").gives(&[
        "inference",
        "llama.cpp",
        "main /models",
    ]);
    container("{image: 'ghcr.io/ggml-org/llama.cpp:server', env: [{name: LLAMA_ARG_MODELS_PRESET, value: /p.ini}]}").gives(&[
        "inference",
        "llama.cpp",
        "unresolved model config-file /p.ini",
    ]);
}

#[test]
fn a_switch_may_stand_for_a_model_and_for_a_second_one() {
    container("{image: x, command: [llama-server, --gpt-oss-20b-default]}").gives(&[
        "inference",
        "llama.cpp",
        "main ggml-org/gpt-oss-20b-GGUF",
    ]);
    container("{image: x, command: [llama-server, --fim-qwen-7b-spec]}").gives(&[
        "inference",
        "llama.cpp",
        "main ggml-org/Qwen2.5-Coder-7B-Q8_0-GGUF",
        "draft ggml-org/Qwen2.5-Coder-0.5B-Q8_0-GGUF",
    ]);
    container("{image: x, command: [llama-server, --embd-gemma-default]}").gives(&[
        "inference",
        "llama.cpp",
        "embedding ggml-org/embeddinggemma-300M-qat-q4_0-GGUF",
    ]);
}

#[test]
fn models_of_ollama_are_pulled_created_or_run_somewhere_else() {
    container("{image: x, command: [ollama, run, 'hf.co/acme/m-GGUF:Q4_K_M']}").gives(&[
        "inference",
        "ollama",
        "main acme/m-GGUF",
        "from hf.co/acme/m-GGUF:Q4_K_M",
    ]);
    container("{image: x, command: [sh, -c, 'ollama serve & ollama create mine -f /Modelfile; ollama cp a b; wait']}").gives(&[
        "inference",
        "ollama",
        "unresolved model runtime-default",
    ]);
    container("{image: x, command: [sh, -c, 'ollama serve & ollama pull acme:120b-cloud; wait']}").gives(&[
        "inference",
        "ollama",
        "main acme:120b-cloud",
    ]);
    container("{image: 'ollama/ollama:0.6.2', lifecycle: {postStart: {exec: {command: [sh, -c, 'ollama pull acme:8b']}}}}").gives(&[
        "inference",
        "ollama",
        "main acme:8b",
    ]);
    container(
        "{image: 'ollama/ollama:0.6.2', env: [{name: OLLAMA_HOST, value: 'http://ollama:11434'}], command: [ollama, pull, 'acme:8b']}",
    )
    .gives(&["data-preparation", "main acme:8b"]);
}

#[test]
fn settings_in_one_word_are_parameters() {
    container("{image: x, command: [mlc_llm, serve, 'HF://acme/m-MLC', --additional-models, 'HF://acme/d-MLC,/lib.so', --speculative-mode, small_draft, --overrides, 'context_window_size=99;tensor_parallel_shards=2;max_num_sequence=8']}").gives(&["inference", "mlc-llm", "main acme/m-MLC", "draft acme/d-MLC", "from HF://acme/d-MLC", "from HF://acme/m-MLC"]).parameters(&["context-length=99", "max-sequences=8", "speculative-algorithm=small_draft", "tensor-parallel-size=2"]);
}

#[test]
fn lesser_engines_name_models_in_ways_of_their_own() {
    container("{image: x, command: [ts, serve, acme/m, --speculative-draft-model-path, acme/d]}").gives(&[
        "inference",
        "tokenspeed",
        "main acme/m",
        "draft acme/d",
    ]);
    container("{image: x, command: [python, -m, ktransformers.server.main, --model_path, acme/m, --gguf_path, /gguf, --model_name, a]}")
        .gives(&["inference", "ktransformers", "main acme/m as a", "from /gguf"]);
    container("{image: 'modular/max-nvidia-full:25', args: [--model-path, acme/m, --weight-path, /w.gguf, --draft-model-path, acme/d]}")
        .gives(&["inference", "max", "main acme/m", "draft acme/d", "from /w.gguf"]);
    container("{image: 'swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie:2.0', command: [mindieservice_daemon]}").gives(&[
        "inference",
        "mindie",
        "unresolved model config-file",
    ]);
    container(
        "{image: x, command: [mistralrs-server, --port, '80', --isq, Q4K, --token-source, 'literal:abc', plain, -m, acme/m, -a, llama]}",
    )
    .gives(&["inference", "mistral.rs", "main acme/m"]);
    container("{image: x, command: [mistralrs-server, --port, '80', gguf, -m, acme/m-GGUF, -f, m.gguf, -t, acme/m]}").gives(&[
        "inference",
        "mistral.rs",
        "main acme/m-GGUF",
        "tokenizer acme/m",
    ]);
    // Nobody is served at a prompt.
    container("{image: x, command: [mistralrs-server, -i, plain, -m, acme/m]}").gives(&[]);
    container(
        "{image: 'atinoda/text-generation-webui:default', env: [{name: EXTRA_LAUNCH_ARGS, value: '--model acme_m-GGUF --lora acme_l'}]}",
    )
    .gives(&["inference", "text-generation-webui", "main acme_m-GGUF", "adapter acme_l"]);
    container("{image: 'koboldai/koboldcpp:latest', command: [koboldcpp, /m.gguf, '5001']}").gives(&[
        "inference",
        "koboldcpp",
        "main /m.gguf",
    ]);
    container("{image: 'koboldai/koboldcpp:latest', command: [koboldcpp, --model, /m.gguf, --draftmodel, /d.gguf, --sdmodel, /sd.gguf, --embeddingsmodel, /e.gguf, --lora, /l.gguf, --mmproj, /p.gguf]}").gives(&["inference", "koboldcpp", "main /m.gguf", "main /sd.gguf", "embedding /e.gguf", "draft /d.gguf", "adapter /l.gguf"]);
    container("{image: 'koboldai/koboldcpp:latest', command: [koboldcpp, --config, /c.kcpps]}").gives(&[
        "inference",
        "koboldcpp",
        "unresolved model config-file /c.kcpps",
    ]);
    container("{image: 'ghcr.io/theroyallab/tabbyapi:latest', command: [python, main.py, --model-dir, /models, --model-name, acme-exl2]}")
        .gives(&["inference", "tabbyapi", "main acme-exl2"]);
    container("{image: x, command: [python, -m, fastchat.serve.multi_model_worker, --model-path, acme/m, --model-names, a, --model-path, acme/n, --model-names, b]}").gives(&["inference", "fastchat", "main acme/m as a", "main acme/n as b"]);
    container("{image: x, command: [openllm, serve, 'acme:1b']}").gives(&["inference", "openllm", "main acme:1b"]);
    // A kind of architecture in the old form.
    container("{image: x, command: [openllm, start, opt, --model-id, acme/m]}").gives(&["inference", "openllm", "main acme/m"]);
    container("{image: 'example.com/acme/summarization:abc123', command: [bentoml, serve, 'summarization:abc123']}")
        .gives(&["inference", "bentoml"]);
    container("{image: 'gpustack/gpustack:1'}").gives(&["inference", "gpustack", "unresolved model database"]);
    container("{image: 'xprobe/xinference:v1', command: [xinference, launch, -n, acme, -t, embedding, -u, uid]}")
        .gives(&["data-preparation", "embedding acme as uid"]);
    container("{image: 'localai/localai:v3', args: [acme-gallery-model, 'huggingface://acme/m/m.gguf', 'ollama://acme:1b']}").gives(&[
        "inference",
        "localai",
        "main acme-gallery-model",
        "main acme/m",
        "main ollama://acme:1b",
        "from huggingface://acme/m/m.gguf",
    ]);
    container("{image: 'localai/localai:v3', args: [models, install, acme]}").gives(&["data-preparation", "main acme"]);
    container("{image: 'localai/localai:v3', args: [worker, p2p-llama-cpp-rpc]}").gives(&["inference"]);
    container("{image: 'localai/localai:v3', env: [{name: MODELS_PATH, value: /models}]}").gives(&[
        "inference",
        "localai",
        "unresolved model runtime-default",
    ]);
}
