//! General model servers, embeddings, images, speech and documents.

use crate::support::{container, pod};

#[test]
fn a_name_behind_a_default_directory_is_the_location() {
    container("{image: 'tensorflow/serving:2.14.0', env: [{name: MODEL_NAME, value: resnet}]}").gives(&[
        "inference",
        "tensorflow-serving",
        "main /models/resnet as resnet",
    ]);
    container("{image: 'tensorflow/serving:2.14.0', args: [--model_config_file=/c.conf], env: [{name: MODEL_NAME, value: resnet}]}")
        .gives(&["inference", "tensorflow-serving", "unresolved model config-file /c.conf"]);
    container("{image: 'tensorflow/serving:2.14.0', env: [{name: MODEL_BASE_PATH, value: /models}]}").gives(&[
        "inference",
        "tensorflow-serving",
        "main /models",
    ]);
    container("{image: 'example.com/acme/app:1', env: [{name: MODEL_NAME, value: resnet}]}").gives(&[]);
}

#[test]
fn options_of_triton_may_be_abbreviated_and_repeated() {
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-py3', args: [tritonserver, --model-repo, /models, --model-control=explicit, --load-model, a]}").gives(&["inference", "triton", "main /models as a"]);
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-py3', args: [tritonserver, '--model-repository=s3://https://minio:9000/bucket/models', --model-repository=/more]}").gives(&["inference", "triton", "main /more", "main s3://https://minio:9000/bucket/models"]);
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-py3', args: [tritonserver, '--model-repository=as://account/container/m', --model-control-mode=poll]}").gives(&["inference", "triton", "main as://account/container/m"]);
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-trtllm-python-py3', command: [python3, /opt/scripts/launch_triton_server.py, --model_repo, /m, --world_size, '2']}").gives(&["inference", "tensorrt-llm", "triton", "main /m"]);
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-vllm-python-py3', command: [python3, openai_frontend/main.py, --model-repository, /m, --tokenizer, acme/t]}").gives(&["inference", "triton", "vllm", "main /m", "tokenizer acme/t"]);
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-py3-sdk', command: [perf_analyzer, -m, a, -u, 'x:8001']}")
        .gives(&["benchmark", "target a"]);
    // Without a server it loads the model itself.
    container("{image: 'nvcr.io/nvidia/tritonserver:24.05-py3-sdk', command: [perf_analyzer, -m, a, --service-kind, triton_c_api, --model-repository, /m]}").gives(&["benchmark", "triton", "target a", "from /m"]);
}

#[test]
fn servers_of_kserve_have_templates_for_names_and_leave_the_rest_to_their_engine() {
    container("{image: 'kserve/huggingfaceserver:v0.15', args: ['--model_name={{.Name}}', --model_dir=/mnt/models]}").gives(&[
        "inference",
        "huggingface",
        "main /mnt/models",
    ]);
    container("{image: 'kserve/huggingfaceserver:v0.15', args: [--model_id=acme/m, --backend=vllm, --served-model-name, b, --tensor-parallel-size=2]}").gives(&["inference", "huggingface", "vllm", "main acme/m as b"]);
    container("{image: 'kserve/huggingfaceserver:v0.15', args: [--model_id=acme/m, --backend=huggingface]}").gives(&[
        "inference",
        "huggingface",
        "main acme/m",
    ]);
    container("{image: 'kserve/art-explainer:v0.15', args: [--predictor_host, a]}").gives(&["inference", "art"]);
    container("{image: 'kserve/image-transformer:v0.15', args: [--predictor_host, a, --model_name, m]}").gives(&["inference"]);
    container("{image: 'kserve/custom-model:v0.15', args: [--model_name, m]}").gives(&[]);
    container("{image: 'kserve/lgbserver:v0.15', args: [--model_name=n, '--model_dir=gs://bucket/x']}").gives(&[
        "inference",
        "lightgbm",
        "main gs://bucket/x as n",
    ]);
}

#[test]
fn pairs_of_sources_and_directories_are_several_downloads() {
    container("{image: 'kserve/storage-initializer:v0.15', args: ['hf://acme/m:r1', /mnt/models, 's3://bucket/l', /mnt/lora]}").gives(&[
        "data-preparation",
        "main acme/m @r1",
        "adapter s3://bucket/l",
        "from hf://acme/m:r1",
    ]);
    pod("{initContainers: [{name: i, image: 'kserve/storage-initializer:v0.15', args: ['hf://acme/m', /mnt/models, 'hf://acme/l', /mnt/lora]}], containers: [{name: a, image: 'vllm/vllm-openai:v0.9.0', args: [--model, /mnt/models, --enable-lora, --lora-modules, l=/mnt/lora]}]}").gives(&["inference", "vllm", "main acme/m", "adapter acme/l as l", "from /mnt/lora", "from /mnt/models", "from hf://acme/l", "from hf://acme/m"]);
}

#[test]
fn an_implementation_tells_the_library() {
    container("{image: 'seldonio/mlserver:1.7.1', env: [{name: MLSERVER_MODEL_IMPLEMENTATION, value: mlserver_sklearn.SKLearnModel}, {name: MLSERVER_MODEL_URI, value: /mnt/models}, {name: MLSERVER_MODEL_NAME, value: a}]}").gives(&["inference", "mlserver", "sklearn", "main /mnt/models as a"]);
    container("{image: 'seldonio/mlserver:1.7.1-huggingface', env: [{name: MLSERVER_MODEL_IMPLEMENTATION, value: mlserver_huggingface.HuggingFaceRuntime}, {name: MLSERVER_MODEL_HUGGINGFACE_PRETRAINED_MODEL, value: acme/m}, {name: MLSERVER_MODEL_HUGGINGFACE_PRETRAINED_TOKENIZER, value: acme/t}]}").gives(&["inference", "mlserver", "transformers", "main acme/m", "tokenizer acme/t"]);
    container("{image: 'seldonio/mlserver:1.7.1', command: [mlserver, infer, -u, 'a:80', -m, x, -i, in.json]}").gives(&["inference"]);
}

#[test]
fn archives_in_a_store_are_models_with_names() {
    container("{image: 'pytorch/torchserve:0.12.0-gpu', command: [torchserve, --start, --model-store, /mar, --models, a=a.mar, b=b.mar, --ts-config, /c.properties]}").gives(&["inference", "torchserve", "main a.mar as a", "main b.mar as b"]);
    container("{image: 'pytorch/torchserve:0.12.0-gpu', command: [torchserve, --start, --model-store, /mar, --models, all]}").gives(&[
        "inference",
        "torchserve",
        "main /mar",
    ]);
    container("{image: 'pytorch/torchserve:0.12.0-gpu', env: [{name: TS_LOAD_MODELS, value: a.mar}, {name: TS_MODEL_STORE, value: /mar}]}")
        .gives(&["inference", "torchserve", "main a.mar"]);
    container("{image: 'pytorch/torchserve:0.12.0-gpu', command: [torchserve, --start, --ts-config, /c.properties]}").gives(&[
        "inference",
        "torchserve",
        "unresolved model config-file /c.properties",
    ]);
    container("{image: 'pytorch/torchserve:0.12.0-gpu', command: [torch-model-archiver, --model-name, a, --export-path, /x]}")
        .gives(&["inference"]);
}

#[test]
fn a_name_is_the_model_where_it_is_only_pulled() {
    container("{image: 'openvino/model_server:2025.1', args: [--pull, --model_name, acme/m, --model_repository_path, /models]}")
        .gives(&["data-preparation", "main acme/m"]);
    container("{image: 'openvino/model_server:2025.1', args: [--source_model, acme/m, --model_repository_path, /models, --draft_source_model, acme/d, --source_loras, 'a=acme/l']}").gives(&["inference", "openvino", "main acme/m", "draft acme/d", "adapter acme/l as a"]);
    container("{image: 'openvino/model_server:2025.1', args: [--config_path, /c.json, --port, '9000']}").gives(&[
        "inference",
        "openvino",
        "unresolved model config-file /c.json",
    ]);
    container(
        "{image: 'openvino/model_server:2025.1', args: [--add_to_config, --config_path, /c.json, --model_path, /m, --model_name, a]}",
    )
    .gives(&["inference"]);
    container("{image: 'openvino/model_server:2025.1', args: [--list_models, --model_repository_path, /models]}").gives(&["inference"]);
    container("{image: 'openvino/ubuntu22_dev:2024.1'}").gives(&[]);
    container("{image: 'kibaes/onnxruntime-server:1', env: [{name: ONNX_SERVER_MODEL_DIR, value: /m}, {name: ONNX_SERVER_PREPARE_MODEL, value: 'a:1,b:2'}]}").gives(&["inference", "onnx", "main /m as a:1, b:2"]);
}

#[test]
fn images_of_the_clouds_have_variables_and_names_of_their_own() {
    container("{image: 'us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-pytorch-inference-cu121.2-3.transformers.4-48.ubuntu2204.py311', env: [{name: HF_MODEL_ID, value: acme/m}, {name: HF_MODEL_DIR, value: /opt/m}]}").gives(&["inference", "transformers", "main acme/m", "from /opt/m"]);
    container("{image: 'us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-pytorch-inference-cu121.2-3.transformers.4-48.ubuntu2204.py311', env: [{name: HF_MODEL_DIR, value: /opt/m}, {name: HF_REVISION, value: r}]}").gives(&["inference", "transformers", "main /opt/m @r"]);
    container("{image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/huggingface-pytorch-inference:2.1', env: [{name: HF_MODEL_ID, value: acme/m}, {name: HF_MODEL_REVISION, value: r1}]}").gives(&["inference", "transformers", "main acme/m @r1"]);
    container("{image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/djl-inference:0.33.0-lmi15.0.0-cu128', env: [{name: OPTION_MODEL_ID, value: acme/m}, {name: OPTION_ROLLING_BATCH, value: vllm}, {name: TENSOR_PARALLEL_DEGREE, value: '4'}, {name: OPTION_SPECULATIVE_DRAFT_MODEL, value: acme/d}]}").gives(&["inference", "djl", "vllm", "main acme/m", "draft acme/d"]);
    container("{image: '123456789012.dkr.ecr.us-west-2.amazonaws.com/vllm:omni-x', env: [{name: SM_VLLM_MODEL, value: acme/m}]}").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container("{image: 'us-docker.pkg.dev/vertex-ai/vertex-vision-model-garden-dockers/pytorch-vllm-serve:2024', command: [python, -m, vllm.entrypoints.api_server, '--model=gs://bucket/m'], env: [{name: MODEL_ID, value: acme/m}]}").gives(&["inference", "vllm", "main acme/m", "from gs://bucket/m"]);
    container(
        "{image: 'us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0:latest', env: [{name: AIP_STORAGE_URI, value: 'gs://bucket/m'}]}",
    )
    .gives(&["inference", "sklearn", "vertex-prediction", "main gs://bucket/m"]);
}

#[test]
fn an_application_of_ray_is_a_module_or_a_file_and_no_model() {
    container("{image: 'rayproject/ray:2.52.0', command: [serve, run, 'serve_vllm:deployment']}").gives(&["inference", "ray-serve"]);
    container("{image: 'rayproject/ray:2.52.0', command: [serve, run, /etc/config.yaml]}").gives(&[
        "inference",
        "ray-serve",
        "unresolved model config-file /etc/config.yaml",
    ]);
    container("{image: 'rayproject/ray:2.52.0', command: [serve, deploy, /etc/config.yaml]}").gives(&[
        "inference",
        "ray-serve",
        "unresolved model config-file /etc/config.yaml",
    ]);
    container("{image: 'quay.io/kuberay/submitter:v1', command: [ray, job, submit, --, vllm, serve, acme/m]}").gives(&[
        "inference",
        "vllm",
        "main acme/m",
    ]);
    container("{image: 'quay.io/kuberay/operator:v1'}").gives(&[]);
}

#[test]
fn helpers_of_platforms_download_or_watch_and_serve_nothing() {
    container(
        "{image: 'aibrix/runtime:v0.4', command: [aibrix_download, --model-uri, 'hf://acme/m', --local-dir, /models, --model-name, a]}",
    )
    .gives(&["data-preparation", "main acme/m", "from hf://acme/m"]);
    container("{image: 'aibrix/runtime:v0.4', command: [aibrix_runtime, --port, '8080'], env: [{name: INFERENCE_ENGINE, value: vllm}, {name: INFERENCE_ENGINE_ENDPOINT, value: 'http://localhost:8000'}]}").gives(&["inference"]);
    container("{image: 'aibrix/vllm-mock:nightly', env: [{name: MODEL_NAME, value: acme-7b}]}").gives(&["inference"]);
    container("{image: x, command: [aibrix_benchmark, --model, acme/m]}").gives(&["benchmark", "target acme/m"]);
    container(r#"{image: 'ghcr.io/llm-d/llm-d-inference-sim:v0.10.2', args: [--model, acme/m, --served-model-name, a, --lora-modules, '{"name":"l"}']}"#).gives(&["inference", "main acme/m as a"]);
    container(r#"{image: 'mcr.microsoft.com/x/operator:1', args: ['--vllm-image=vllm/vllm-openai:v1'], env: [{name: MODEL_SERVERS, value: '{"VLLM":{"images":{"default":"vllm/vllm-openai:v0.8"}}}'}]}"#).gives(&[]);
}

#[test]
fn a_preset_in_the_name_of_an_image_is_a_model_and_its_scripts_serve() {
    container("{image: 'mcr.microsoft.com/aks/kaito/kaito-acme-7b:0.2.0'}").gives(&["inference", "kaito", "main acme-7b"]);
    container("{image: 'mcr.microsoft.com/aks/kaito/kaito-base:0.2.0', command: [/bin/sh, -c, 'accelerate launch --num_processes 1 /workspace/tfs/inference_api.py --pipeline text-generation --pretrained_model_name_or_path acme/m']}").gives(&["inference", "accelerate", "transformers", "main acme/m"]);
    container("{image: 'mcr.microsoft.com/aks/kaito/workspace:0.2.0'}").gives(&[]);
    container("{image: 'amdenterpriseai/aim-acme-m-8b:1'}").gives(&["inference", "aim", "main acme-m-8b"]);
    container("{image: 'amdenterpriseai/aim-base:1', command: [aim-runtime, download-to-cache, --model-id, acme/m]}")
        .gives(&["data-preparation", "main acme/m"]);
}

#[test]
fn servers_on_tensor_processors_name_architectures_and_publish_later() {
    container("{image: 'us-docker.pkg.dev/cloud-tpu-images/inference/maxengine-server:v0.2.2', args: [--model_name=acme-7b, --tokenizer_path=acme/t, '--load_parameters_path=gs://bucket/w']}").gives(&["inference", "jetstream", "main acme-7b", "tokenizer acme/t"]);
    container(
        "{image: 'us-docker.pkg.dev/cloud-tpu-images/inference/inference-checkpoint:v0.2.4', args: [-b=bucket, -m=acme/m/maxtext/2b-it/2]}",
    )
    .gives(&["data-preparation", "main acme/m/maxtext/2b-it/2"])
    .forms(&["name"]);
    container("{image: 'us-docker.pkg.dev/cloud-tpu-images/inference/sax-model-server:v1', args: [--sax_cell=/sax/test, --port=10001], env: [{name: SAX_ROOT, value: 'gs://bucket/sax-root'}]}").gives(&["inference", "sax"]);
    container("{image: 'us-docker.pkg.dev/cloud-tpu-v2-images/pathways/server:x', args: [--server_port=1]}").gives(&[]);
    container("{image: x, command: [optimum-cli, neuron, serve, -m, acme/m, --served_model_name, a]}").gives(&[
        "inference",
        "vllm",
        "main acme/m as a",
    ]);
}

#[test]
fn a_registry_of_models_serves_by_its_own_addresses() {
    container("{image: x, command: [mlflow, models, serve, -m, 'models:/acme/3', -p, '80']}")
        .gives(&["inference", "mlflow", "main models:/acme/3"])
        .forms(&["name"]);
    container("{image: x, command: [mlflow, models, serve, -m, 'runs:/0123/model']}")
        .gives(&["inference", "mlflow", "main runs:/0123/model"])
        .forms(&["name"]);
    container("{image: x, command: [mlflow, models, serve, -m, /m]}").gives(&["inference", "mlflow", "main /m"]).forms(&["path"]);
    container("{image: x, command: [mlflow, models, build-docker, -m, 'models:/acme/3']}").gives(&[]);
    container("{image: 'ghcr.io/mlflow/mlflow', command: [mlflow, gateway, start, --config-path, /c.yaml]}").gives(&["gateway"]);
    container("{image: 'ghcr.io/mlflow/mlflow', command: [mlflow, deployments, start-server, --config-path, /c.yaml]}").gives(&["gateway"]);
}

#[test]
fn several_embedding_models_have_names_by_position() {
    container("{image: 'michaelf34/infinity:0.0.77', args: [v2, --model-id, acme/one, --served-model-name, a, --model-id, acme/two, --served-model-name, b]}").gives(&["inference", "infinity", "embedding acme/one as a", "embedding acme/two as b"]);
    container("{image: 'michaelf34/infinity:0.0.77', env: [{name: INFINITY_MODEL_ID, value: 'acme/one;acme/two'}, {name: INFINITY_SERVED_MODEL_NAME, value: 'a;b'}]}").gives(&["inference", "infinity", "embedding acme/one as a", "embedding acme/two as b"]);
    container("{image: 'ghcr.io/huggingface/text-embeddings-inference:89-1.6', args: [--model-id, acme/e, --revision, r, --pooling, cls, --default-prompt, 'acme/x: ', --dense-path, 2_Dense]}").gives(&["inference", "tei", "embedding acme/e @r"]);
}

#[test]
fn servers_of_images_name_checkpoints_in_files_or_one_variable() {
    container("{image: 'yanwk/comfyui-boot:cu128', command: [python, main.py, --listen, --extra-model-paths-config, /x.yaml]}").gives(&[
        "inference",
        "comfyui",
        "unresolved model config-file /x.yaml",
    ]);
    container("{image: 'universonic/stable-diffusion-webui:full', env: [{name: COMMANDLINE_ARGS, value: '--ckpt /m/x.safetensors --vae-path /v.pt --lora-dir /l --api'}]}").gives(&["inference", "stable-diffusion-webui", "main /m/x.safetensors"]);
    container("{image: x, command: [fastvideo, serve, --config, /c.yaml]}").gives(&[
        "inference",
        "fastvideo",
        "unresolved model config-file /c.yaml",
    ]);
    container("{image: x, command: [fastvideo, serve, --config, /c.yaml, --generator.model_path, acme/m]}").gives(&[
        "inference",
        "fastvideo",
        "main acme/m",
    ]);
    container("{image: 'thufeifeibear/xdit-dev:x', command: [python3, entrypoints/launch.py, --model_path, acme/m, --world_size, '4']}")
        .gives(&["inference", "xdit", "main acme/m"]);
}

#[test]
fn servers_of_speech_have_sizes_voices_and_engines() {
    container("{image: 'fedirz/faster-whisper-server:latest-cuda', env: [{name: WHISPER__MODEL, value: acme/w}, {name: WHISPER__COMPUTE_TYPE, value: int8}, {name: CHAT_COMPLETION_BASE_URL, value: 'http://llm:80/v1'}]}").gives(&["inference", "faster-whisper", "main acme/w"]);
    container("{image: 'onerahmet/openai-whisper-asr-webservice:latest', env: [{name: ASR_MODEL, value: large-v3}, {name: ASR_ENGINE, value: faster_whisper}, {name: ASR_MODEL_PATH, value: /m}]}").gives(&["inference", "faster-whisper", "whisper-asr-webservice", "main large-v3"]);
    container(
        "{image: x, command: [whisperx, a.wav, --model, large-v2, --align_model, acme/al, --diarize_model, acme/di, --hf_token, hf_x]}",
    )
    .gives(&["inference", "whisperx", "main acme/al", "main acme/di", "main large-v2"]);
    container("{image: 'rhasspy/wyoming-whisper:2', args: [--model, auto]}").gives(&[
        "inference",
        "faster-whisper",
        "wyoming-whisper",
        "unresolved model runtime-default",
    ]);
    container("{image: 'rhasspy/wyoming-piper:1', args: [--voice, en_US-lessac-medium]}").gives(&[
        "inference",
        "piper",
        "main en_US-lessac-medium",
    ]);
    container("{image: x, command: [tts-server, --model_name, tts_models/en/x/y, --vocoder_name, vocoder_models/en/x/y]}")
        .gives(&["inference", "coqui-tts", "main tts_models/en/x/y", "main vocoder_models/en/x/y"])
        .forms(&["name"]);
    container("{image: 'ghcr.io/matatonic/openedai-speech:latest', env: [{name: PRELOAD_MODEL, value: xtts_v2.0.2}, {name: TTS_HOME, value: /v}]}").gives(&["inference", "openedai-speech", "main xtts_v2.0.2"]);
}

#[test]
fn readers_of_documents_have_folders_back_ends_and_layouts() {
    container("{image: 'quay.io/docling-project/docling-serve-cpu:v1', env: [{name: DOCLING_SERVE_ARTIFACTS_PATH, value: /m}]}")
        .gives(&["inference", "docling"]);
    container("{image: 'quay.io/docling-project/docling-serve-cpu:v1', command: [docling-tools, models, download, -o, /m]}")
        .gives(&["data-preparation"]);
    container("{image: x, command: [paddleocr, genai_server, --model_name, PaddleOCR-VL, --backend, vllm]}").gives(&[
        "inference",
        "paddleocr",
        "vllm",
        "main PaddleOCR-VL",
    ]);
    container("{image: x, command: [paddleocr, genai_server, --model_name, PaddleOCR-VL, --backend=sglang]}").gives(&[
        "inference",
        "paddleocr",
        "sglang",
        "main PaddleOCR-VL",
    ]);
    container(
        "{image: 'quay.io/unstructured-io/unstructured-api:latest', env: [{name: UNSTRUCTURED_HI_RES_MODEL_NAME, value: acme-layout}]}",
    )
    .gives(&["data-preparation", "unstructured", "main acme-layout"]);
    container("{image: x, command: [mineru-vllm-server, --port, '30000', --gpu-memory-utilization, '0.5']}").gives(&[
        "inference",
        "mineru",
        "vllm",
        "unresolved model runtime-default",
    ]);
    container("{image: 'apache/tika:3'}").gives(&[]);
}
