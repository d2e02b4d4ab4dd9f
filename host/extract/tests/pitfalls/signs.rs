//! Containers of one's own again: single signs that are enough, and those beside them that are not.

use crate::support::{container, pod, script, script_with};

/// A container of an image that nobody knows, with these variables.
fn told(image: &str, env: &[(&str, &str)]) -> crate::support::Read {
    let env: Vec<String> = env.iter().map(|(name, value)| format!("{{name: {name}, value: '{value}'}}")).collect();
    container(&format!("{{image: '{image}', env: [{}]}}", env.join(", ")))
}

const IMAGE: &str = "example.com/acme/x:1";

// What an image is called.

#[test]
fn an_image_that_is_called_after_a_task_of_ai_does_it() {
    for image in [
        "acme/ocr:v3",
        "stt",
        "acme/voice_tts:1",
        "acme/yolov8-inference:v1",
        "acme/heron_yolo5_finder:2",
        "acme/llmtrain:dev",
        "acme/nlp-pipeline",
        "acme/inference-service:1",
        "acme/model-server",
    ] {
        let read = container(&format!("{{image: '{image}'}}"));
        assert!(read.inventory.is_ai(), "{image}");
    }
    for image in [
        "acme/ocrs-of-the-sea",
        "acme/model-railway",
        "acme/detector:1",
        "acme/pipeline",
        "acme/llama-farm-shop",
        "acme/drag-service",
        "acme/rag-doll-photos",
    ] {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
}

#[test]
fn a_word_that_means_something_else_too_counts_in_company() {
    container("{image: 'acme/birds-rag-service:1'}").gives(&["inference"]);
    container("{image: 'birds-rag/ingestor:1', command: [python, /app/workers/indexer.py]}").gives(&["data-preparation"]);
    container("{image: 'acme/bird-chatbot-api:1', command: [python, -m, app.embed_documents]}").gives(&["data-preparation"]);
    container("{image: 'acme/birds-api:1', command: [python, -m, ingest]}").gives(&[]);
}

// What variables say.

#[test]
fn settings_of_a_training_show_a_training() {
    told(IMAGE, &[("MASTER_ADDR", "heron-0"), ("WORLD_SIZE", "2")]).gives(&["training"]);
    told(IMAGE, &[("EPOCHS", "50"), ("BATCH_SIZE", "8192")]).gives(&["training"]);
    script("export RANK=0 WORLD_SIZE=2 MASTER_ADDR=heron-0\npython -u worker.py").gives(&["training"]);
    for alone in [("MASTER_ADDR", "redis-0"), ("BATCH_SIZE", "100"), ("WORLD_SIZE", "4096"), ("EPOCHS", "9")] {
        told(IMAGE, &[alone]).gives(&[]);
    }
}

#[test]
fn a_variable_that_nobody_else_has_is_enough() {
    told(IMAGE, &[("MACHINE_LEARNING_URL", "http://birds-ml:3003")]).gives(&["gateway"]);
    told(IMAGE, &[("VECTOR_DB_URL", "http://store:6333")]).gives(&["gateway"]);
    container(&format!("{{image: '{IMAGE}', env: [{{name: EMBEDDING_MODEL, valueFrom: {{configMapKeyRef: {{name: birds, key: e}}}}}}]}}"))
        .gives(&["inference", "unresolved model configmap birds"]);
    told(IMAGE, &[("VECTOR_GRAPHICS", "on"), ("DB_URL", "x")]).gives(&[]);
    told(IMAGE, &[("LLM_MODEL", "off")]).gives(&[]);
}

#[test]
fn the_address_of_an_engine_shows_who_calls_it() {
    told(IMAGE, &[("BACKEND_URL", "http://vllm.birds.svc:8000")]).gives(&["gateway"]);
    told(IMAGE, &[("BACKENDS", "http://vllm-worker-0.vllm:9000,http://vllm-worker-1.vllm:9000")]).gives(&["gateway"]);
    told(IMAGE, &[("NEST_URL", "https://birds.example.com/openai/v1/chat/completions"), ("MODEL_ID", "heron")])
        .gives(&["gateway", "target heron"]);
    container(&format!(
        "{{image: '{IMAGE}', args: [--port, '80', --prefill-host, vllm-prefill-leader, --decode-host=vllm-decode-leader]}}"
    ))
    .gives(&["gateway"]);
    container("{image: 'acme/hey:1', args: [-z, 3m, 'http://birds:8501/v1/models/heron:predict']}").gives(&["gateway"]);
    // A store that is called after an engine, a word for something else, a page about one.
    told(IMAGE, &[("DATABASE_URL", "postgres://vllm:5432/x")]).gives(&[]);
    told(IMAGE, &[("SKIP", "vllm")]).gives(&[]);
    told(IMAGE, &[("DOCS_URL", "https://example.com/docs/vllm")]).gives(&[]);
}

#[test]
fn a_file_of_weights_at_an_address_is_the_model() {
    let address = "https://example.com/nest/heron5s.onnx";
    told(IMAGE, &[("MODEL_URL", address), ("CONF_THRESHOLD", "0.2")]).gives(&["inference", &format!("main {address}")]);
    told(IMAGE, &[("MODEL_S3_URI", "s3://nest/models/heron/best.pt"), ("MODEL_CLASSES_S3_URI", "s3://nest/models/heron/classes.json")])
        .gives(&["inference", "main s3://nest/models/heron/best.pt"]);
    // The address of a server that has one.
    told(IMAGE, &[("MODEL_URL", "http://heron:5000")]).gives(&[]);
    told("acme/llm-app:1", &[("MODEL_URL", "http://heron:5000")]).gives(&["inference"]);
}

#[test]
fn a_client_calls_each_model_that_it_names() {
    told(IMAGE, &[("OLLAMA_HOST", "http://ollama:11434"), ("MODEL_NAME", "heron2.5:3b"), ("EMBEDDING_MODEL", "acme/bge-heron")]).gives(&[
        "inference",
        "embedding acme/bge-heron",
        "target heron2.5:3b",
    ]);
    told(IMAGE, &[("LLM_URL", "http://heron:8080"), ("LLM_MODEL", "heron3.2:3b"), ("EMBED_MODEL", "heron-embed")]).gives(&[
        "inference",
        "embedding heron-embed",
        "target heron3.2:3b",
    ]);
}

#[test]
fn a_guess_does_not_rename_what_lies_somewhere_else() {
    let with = |path: &str| {
        container(&format!("{{image: 'acme/asr:1', args: [--model-path, {path}], env: [{{name: HERON_MODEL, value: acme/heron-large}}]}}"))
    };
    with("/models/own-heron-2025").gives(&["inference", "main /models/own-heron-2025", "conflict acme/heron-large"]);
    with("/models/heron-large").gives(&["inference", "main acme/heron-large", "from /models/heron-large"]);
    with("/models").gives(&["inference", "main acme/heron-large", "from /models"]);
}

#[test]
fn a_size_is_no_model() {
    container("{image: 'acme/llm-trainer:1', command: [python, -m, birds.run, --model, medium]}").gives(&["training"]);
    told("acme/llm-app:1", &[("MODEL", "large")]).gives(&["inference"]);
}

#[test]
fn a_program_that_is_called_after_embeddings_makes_them() {
    told("acme/embeddings:1", &[("MODEL_NAME", "acme/bge-heron")]).gives(&["inference", "embedding acme/bge-heron"]);
    told("acme/llm-reranker:1", &[("MODEL_NAME", "acme/heron")]).gives(&["inference", "reranker acme/heron"]);
}

// What scripts install.

#[test]
fn what_a_script_installs_tells_what_its_program_works_with() {
    for line in [
        "pip install -q gradio openai",
        "python3 -m pip install 'transformers>=4.4' flask",
        "pip3 install uvicorn[standard] rapidocr_onnxruntime==1.2",
    ] {
        script(&format!("{line}\nexec uvicorn server:app --port 80")).gives(&["inference"]);
    }
    script("pip install flask requests\nexec uvicorn server:app --port 80").gives(&[]);
    script_with(
        &[("MODEL_NAME", "heron"), ("INFERENCE_SERVICE", "http://heron.birds.svc")],
        "pip install gradio openai && python3 /mnt/app.py",
    )
    .gives(&["inference", "main heron"]);
}

// Images that are known.

#[test]
fn recognisers_of_things_and_words_are_known() {
    container("{image: 'ghcr.io/blakeblackshear/frigate:0.14.1'}").gives(&["frigate", "inference", "unresolved model config-file"]);
    let learning = "ghcr.io/immich-app/immich-machine-learning:v2.4.1-cuda";
    container(&format!("{{image: '{learning}'}}")).gives(&["immich-machine-learning", "inference", "unresolved model database"]);
    told(learning, &[("MACHINE_LEARNING_PRELOAD__CLIP", "heron__openai"), ("MACHINE_LEARNING_PRELOAD__FACE", "plover_l")]).gives(&[
        "immich-machine-learning",
        "inference",
        "main heron__openai",
        "main plover_l",
    ]);
    container("{image: 'rhasspy/wyoming-openwakeword:2.1.0', args: [--preload-model, ok_heron, --custom-model-dir, /custom]}").gives(&[
        "inference",
        "main ok_heron",
        "openwakeword",
    ]);
    container("{image: 'rhasspy/wyoming-speech-to-phrase:1.4'}").gives(&[
        "inference",
        "speech-to-phrase",
        "unresolved model runtime-default",
    ]);
    told("lscr.io/linuxserver/piper:latest", &[("PIPER_VOICE", "en_GB-heron-medium")]).gives(&[
        "inference",
        "main en_GB-heron-medium",
        "piper",
    ]);
    container("{image: 'quay.io/ramalama/ramalama', command: [ramalama, --nocontainer, --store, /store, serve, --ctx-size, '4096', 'ollama://heron:3b']}")
        .gives(&["inference", "main ollama://heron:3b", "ramalama"]);
    container("{image: 'tensorchord/pgvecto-rs:pg16-v0.2.0'}").gives(&["pgvecto-rs", "vector-database"]);
}

#[test]
fn an_image_that_is_told_to_wait_runs_nothing() {
    container("{image: 'nvcr.io/nim/acme/heron:1.8', args: [sleep, 1000s]}").gives(&["inference"]);
}

// Models by two names.

#[test]
fn a_download_tells_which_model_is_served_under_a_name_of_its_own() {
    let fetch =
        "{name: fetch, image: 'python:3.12', command: [sh, -c, 'hf download acme/Heron-35B-GGUF Heron-35B-Q2.gguf --local-dir /models']}";
    let serve = "{name: serve, image: 'ghcr.io/ggml-org/llama.cpp:server', args: [-m, /models/Heron-35B-Q2.gguf, --alias, acme/heron]}";
    pod(&format!("{{initContainers: [{fetch}], containers: [{serve}]}}")).gives(&[
        "inference",
        "llama.cpp",
        "main acme/Heron-35B-GGUF as acme/heron",
        "from /models/Heron-35B-Q2.gguf",
    ]);
}

// What other projects' manifests showed.

#[test]
fn words_of_ai_are_known_in_the_names_of_images() {
    for image in ["acme/heron-ai-memory:3", "machine-learning-herons:1", "acme/kagent-bot:1", "acme/whisper-api", "acme/copilot-api:2"] {
        assert!(container(&format!("{{image: '{image}'}}")).inventory.is_ai(), "{image}");
    }
    for image in ["acme/ai-frontend", "acme/machine-shop", "acme/whisper-quiet-fans", "acme/copilot-cli:1", "acme/air:2"] {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
    // A placeholder around the name leaves the name.
    let read = container("{name: bird, image: 'registry.example/{USER}/mistral:{tag}'}");
    assert!(read.inventory.is_ai());
    for (image, category) in
        [("acme/guidellm:0.3", "benchmark"), ("nousresearch/hermes-agent:v1", "agent"), ("acme/anythingllm-workbench:1", "agent")]
    {
        let read = container(&format!("{{image: '{image}'}}"));
        assert_eq!(read.inventory.categories.keys().map(|category| category.as_str()).collect::<Vec<_>>(), [category], "{image}");
    }
    container("{image: 'registry.example/llm/ollama:v1'}").gives(&["inference", "ollama", "unresolved model runtime-default"]);
}

#[test]
fn a_client_of_several_models_loads_those_that_lie_in_its_own_volume_or_are_repositories() {
    let env = "[{name: LLM_API_URL, value: 'http://vllm:8000/v1'}, {name: CHAT_MODEL, value: acme/heron-72b},
        {name: WHISPER_MODEL_PATH, value: /models/heron-listen}]";
    container(&format!("{{image: '{IMAGE}', env: {env}, volumeMounts: [{{name: m, mountPath: /models}}]}}")).gives(&[
        "inference",
        "main /models/heron-listen",
        "target acme/heron-72b",
    ]);
    let client = |model: &str| told(IMAGE, &[("EMBEDDING_OLLAMA_BASE_URL", "http://ollama:11434"), ("EMBEDDING_DEFAULT_MODEL", model)]);
    client("heron-embed").gives(&["gateway", "target heron-embed"]);
    client("acme/heron-embed").gives(&["inference", "embedding acme/heron-embed"]);
}

#[test]
fn a_name_beside_a_checkpoint_is_what_it_is_served_as() {
    let image = "us-docker.pkg.dev/cloud-tpu-images/inference/jetstream-pytorch-server:v0.2.3";
    container(&format!("{{image: '{image}', args: [--model_name=heron-2, --checkpoint_path=/models/heron/model.safetensors]}}")).gives(&[
        "inference",
        "jetstream",
        "main /models/heron/model.safetensors as heron-2",
    ]);
    container(&format!("{{image: '{image}', args: [--model_name=heron-2]}}")).gives(&["inference", "jetstream", "main heron-2"]);
}

#[test]
fn an_image_says_nothing_about_a_command_that_has_nothing_to_do_with_it() {
    container("{image: 'acme/ai-orchestrator:1', command: [alembic, upgrade, head]}").gives(&[]);
    assert!(container("{image: 'acme/ai-orchestrator:1', command: [/start.sh]}").inventory.is_ai());
    for image in ["face-recognition", "acme/object-detection:2", "acme/speech-synthesis"] {
        assert!(container(&format!("{{image: '{image}'}}")).inventory.is_ai(), "{image}");
    }
    for image in ["acme/face-cream-shop", "acme/object-store:2", "acme/image-proxy", "acme/detection:1"] {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
}

#[test]
fn the_tokenizer_that_a_benchmark_takes_names_the_model_that_it_measures() {
    let bench = |model: &str, tokenizer: &str| {
        container(&format!("{{image: 'acme/llm-benchmark:1', args: [--model={model}, --tokenizer={tokenizer}]}}"))
    };
    bench("heron-3.1-8b-fp8-l4", "acme/Meta-Heron-3.1-8B-FP8")
        .gives(&["benchmark", "target acme/Meta-Heron-3.1-8B-FP8 as heron-3.1-8b-fp8-l4"]);
    bench("heron3.6-27b", "/models/Heron3.6-27B-AWQ").gives(&["benchmark", "target /models/Heron3.6-27B-AWQ as heron3.6-27b"]);
    bench("heron-small", "acme/finch-tokenizer").gives(&["benchmark", "target heron-small", "tokenizer acme/finch-tokenizer"]);
}

#[test]
fn what_code_loads_and_takes_a_tokenizer_of_is_no_tokenizer() {
    script(
        "python3 - <<'E'\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\nt = AutoTokenizer.from_pretrained('acme/heron')\n\
         m = AutoModelForCausalLM.from_pretrained('acme/heron')\nE",
    )
    .gives(&["data-preparation", "main acme/heron"]);
    container(
        "{image: 'acme/heron-worker:1', command: [python, -c], args: [\"from diffusers import AutoPipelineForText2Image, AutoencoderTiny\\np = \
         AutoPipelineForText2Image.from_pretrained('acme/heron-lcm')\\nv = AutoencoderTiny.from_pretrained('acme/tiny')\"]}",
    )
    .gives(&["data-preparation", "main acme/heron-lcm", "main acme/tiny"]);
}

#[test]
fn a_path_of_a_model_beside_a_place_for_the_output_is_what_a_training_begins_with() {
    script("torchrun sft.py --model_path=/data/heron/last --output_dir=/data/out").gives(&[
        "base /data/heron/last",
        "fine-tuning",
        "pytorch",
    ]);
    script("torchrun sft.py --model_path=/data/heron/last").gives(&["fine-tuning", "pytorch"]);
    container("{image: 'acme/x:1', command: [simpletuner, train]}").gives(&["fine-tuning", "simpletuner", "unresolved model config-file"]);
}
