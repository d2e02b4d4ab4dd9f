//! Names that say less than they seem to: placeholders, words in the names of images, plumbing.

use crate::support::{container, script, script_with};

// Placeholders.

#[test]
fn what_somebody_has_to_fill_in_is_no_model() {
    for text in [
        "FIXME",
        "FIXME-model",
        "TODO",
        "tbd",
        "TBD",
        "foo/bar",
        "foo",
        "/path/to/model",
        "path/to/heron",
        "/path/to/your/model",
        "<your-model>",
        "your-model-here",
        "your-org/heron",
        "YOUR_MODEL_NAME",
        "org/model",
        "model-name",
        "changeme",
        "xxx",
        "acme/xxxx",
    ] {
        container(&format!("{{image: 'vllm/vllm-openai:v0.9.0', args: [--model, '{text}']}}")).gives(&[
            "inference",
            "vllm",
            "unresolved model template",
        ]);
    }
}

#[test]
fn a_setting_that_nobody_filled_in_is_no_setting() {
    let args = "--model, acme/heron-7b, --revision, $(REV), --dtype, '${DTYPE}', --tensor-parallel-size, $(TP), \
                --quantization, '{{ .Values.q }}', --kv-cache-dtype, '<DTYPE>', --max-model-len, '4096'";
    let read = container(&format!("{{image: 'vllm/vllm-openai:v0.9.0', args: [{args}]}}"));
    read.gives(&["inference", "vllm", "main acme/heron-7b"]).parameters(&["context-length=4096"]);
    assert_eq!(read.inventory.models[0].revision, None);
}

#[test]
fn names_that_only_begin_like_a_placeholder_are_models() {
    for text in ["acme/todorov-7b", "acme/foo", "foobar/heron", "acme/fixmer", "/mnt/path/heron", "acme/xl-xx", "tbdx"] {
        container(&format!("{{image: 'vllm/vllm-openai:v0.9.0', args: [--model, '{text}']}}")).gives(&[
            "inference",
            "vllm",
            &format!("main {text}"),
        ]);
    }
}

// Words in the names of images.

#[test]
fn a_word_that_means_something_else_too_makes_no_workload_of_ai() {
    for image in
        ["acme/rag-doll-shop", "acme/llama-farm", "acme/embedding-shop:2", "acme/lora-sensor", "acme/whisper-wall", "acme/bert-and-co"]
    {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
}

#[test]
fn two_such_words_or_a_program_of_that_name_do() {
    container("{image: 'acme/agentic-rag-desk:1'}").gives(&["inference"]);
    container("{image: 'acme/whisper:1'}").gives(&["inference"]);
    container("{image: 'acme/desk:1', command: [python3, rag.py]}").gives(&["inference"]);
}

// Plumbing.

#[test]
fn what_looks_after_servers_is_none_whatever_it_is_told() {
    for name in ["vllm-operator", "vllm-controller", "vllm-webhook", "sglang-exporter", "ollama-controller-manager", "vllm-dashboard"] {
        container(&format!("{{image: 'example.com/acme/{name}:1'}}")).gives(&[]);
        container(&format!("{{image: 'example.com/acme/{name}:1', args: [--model, acme/heron-7b, --leader-elect]}}")).gives(&[]);
    }
    container("{image: 'example.com/acme/vllm-operator:1', args: ['--default-image=vllm/vllm-openai:v1'], env: [{name: MODEL_NAME, value: acme/heron-7b}]}")
        .gives(&[]);
}

#[test]
fn the_pool_of_a_picker_is_no_model_and_its_name_no_program() {
    container("{image: 'example.com/acme/desk:1', args: [-poolName, vllm-heron-8b-instruct, -grpcPort, '9002']}").gives(&[]);
    container("{image: 'example.com/acme/desk:1', args: [--pool-name, vllm-heron-8b-instruct]}").gives(&[]);
}

#[test]
fn what_only_sounds_like_a_model_is_none() {
    // A class of Python, a search engine that is called like a service, a voice, files of a synchroniser.
    container(
        "{image: 'example.com/acme/wrapped:1', env: [{name: MODEL_NAME, value: IrisClassifier}, {name: SERVICE_TYPE, value: MODEL}]}",
    )
    .gives(&[]);
    container("{image: 'itzcrazykns1337/perplexica:main', env: [{name: SEARXNG_API_URL, value: 'http://search'}]}").gives(&[
        "agent",
        "perplexica",
        "unresolved model config-file",
    ]);
    container("{image: 'ghcr.io/remsky/kokoro-fastapi-gpu:v0.2', env: [{name: DEFAULT_VOICE, value: af}]}").gives(&[
        "inference",
        "kokoro",
        "main hexgrad/Kokoro-82M",
    ]);
    container("{image: 'us-central1-docker.pkg.dev/k8s-staging-images/gateway-api-inference-extension/lora-syncer:main', env: [{name: DYNAMIC_LORA_ROLLOUT_CONFIG, value: /config/x.yaml}]}")
        .gives(&["gateway"]);
    container("{image: 'example.com/acme/desk:1', command: [python, app.py], env: [{name: GRADIO_SERVER_NAME, value: 0.0.0.0}]}")
        .gives(&[]);
}

#[test]
fn models_that_a_store_loads_count_only_where_it_loads_some() {
    let models = "{name: MARQO_MODELS_TO_PRELOAD, value: '[\"hf/heron-base\"]'}";
    container(&format!("{{image: 'marqoai/marqo:2', env: [{models}]}}")).gives(&["embedding hf/heron-base", "marqo", "vector-database"]);
    container(&format!("{{image: 'marqoai/marqo:2', env: [{{name: MARQO_MODE, value: API}}, {models}]}}"))
        .gives(&["marqo", "vector-database"]);
}

// What the name of a model says.

#[test]
fn a_server_of_embeddings_with_a_reranker_ranks() {
    let image = "image: 'ghcr.io/huggingface/text-embeddings-inference:1.5'";
    for model in ["acme/heron-reranker-base", "cross-encoder/heron", "acme/mini-rerank-v1", "/data/heron-reranker"] {
        container(&format!("{{{image}, args: [--model-id, {model}]}}")).gives(&["inference", "tei", &format!("reranker {model}")]);
        container(&format!("{{{image}, env: [{{name: MODEL_ID, value: {model}}}]}}")).gives(&[
            "inference",
            "tei",
            &format!("reranker {model}"),
        ]);
    }
    container(&format!("{{{image}, args: [--model-id, acme/heron-embed]}}")).gives(&["inference", "tei", "embedding acme/heron-embed"]);
}

// Variables of scripts.

#[test]
fn what_a_script_sets_only_where_nothing_is_set_is_a_default() {
    for line in [
        "[ -z \"$M\" ] && M=acme/heron-1b",
        "[[ -z $M ]] && M=acme/heron-1b",
        "test -z \"$M\" && M=acme/heron-1b",
        "[ -n \"$M\" ] || M=acme/heron-1b",
        ": \"${M:=acme/heron-1b}\"",
        "M=${M:-acme/heron-1b}",
        "if [ -z \"$M\" ]; then M=acme/heron-1b; fi",
    ] {
        let lines = format!("{line}; vllm serve $M");
        script(&lines).gives(&["inference", "vllm", "main acme/heron-1b"]);
        script_with(&[("M", "acme/plover-70b")], &lines).gives(&["inference", "vllm", "main acme/plover-70b"]);
    }
    // Which one it is decides something that is not read.
    for line in ["if [ $GPU = small ]; then M=acme/heron-1b; else M=acme/plover-70b; fi", "M=$(cat /etc/model)", "M=`cat /etc/model`"] {
        let computed = if line.starts_with("if") { "unresolved model computed M" } else { "unresolved model computed" };
        script(&format!("{line}; vllm serve $M")).gives(&["inference", "vllm", computed]);
    }
    script("vllm serve $(MODEL)").gives(&["inference", "vllm", "unresolved model undefined-variable"]);
    script_with(&[("M", "acme/plover-70b"), ("GPU", "big")], "[ $GPU = small ] && M=acme/heron-1b; vllm serve $M").gives(&[
        "inference",
        "vllm",
        "unresolved model computed M",
    ]);
}

#[test]
fn a_here_document_that_writes_a_script_or_a_text_is_never_run_where_it_stands() {
    for lines in [
        "cat > readme.txt <<EOF\nvllm serve acme/heron-1b\nEOF\nsleep infinity",
        "cat <<'EOF' | tee notes\nM=acme/plover-1b\nvllm serve $M\nEOF\nsleep infinity",
        "cat <<-EOF\n\tollama pull heron\n\tEOF\nsleep infinity",
    ] {
        script(lines).gives(&[]);
    }
    script("M=acme/heron-1b\ncat > x <<EOF\nM=acme/plover-1b\nEOF\nvllm serve $M").gives(&["inference", "vllm", "main acme/heron-1b"]);
}
