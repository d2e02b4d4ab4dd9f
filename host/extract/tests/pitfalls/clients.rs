//! Who only calls a model: hosted names, base URLs in options and scripts, and addresses that nobody calls.

use crate::support::{container, pod};

const KEY: &str = "{name: OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: a, key: b}}}";

#[test]
fn a_model_that_only_its_owner_runs_is_called() {
    for model in ["gpt-4o", "gpt-4o-mini", "claude-3-5-sonnet-20241022", "gemini-1.5-pro", "o3-mini", "text-embedding-3-small"] {
        container(&format!("{{image: 'acme/desk:1', command: [python, app.py], args: [--model, {model}]}}"))
            .gives(&["gateway", &format!("target {model}")]);
    }
    // Others of that form lie on somebody's disk.
    container("{image: 'acme/desk:1', command: [python, app.py], args: [--model, gpt-oss-20b]}").gives(&["inference", "main gpt-oss-20b"]);
}

#[test]
fn a_model_beside_the_base_url_of_a_server_runs_there() {
    for url in [
        "[--base-url, 'http://talker:8000/v1']",
        "['--api-base=http://talker:8000']",
        "[--openai-api-base, 'http://talker']",
        "[--llm-url, 'http://talker/x']",
    ] {
        let args = url.trim_start_matches('[');
        container(&format!("{{image: 'acme/desk:1', args: [--model, acme/heron-7b, {args}}}")).gives(&["gateway", "target acme/heron-7b"]);
        container(&format!("{{image: 'acme/desk:1', command: [python, app.py, --model=acme/heron-7b, {args}}}"))
            .gives(&["gateway", "target acme/heron-7b"]);
    }
    container("{image: 'acme/desk:1', args: [--model, gpt-4o, --api-base, 'https://api.openai.com/v1']}").gives(&[
        "gateway",
        "service openai",
        "target gpt-4o",
    ]);
}

#[test]
fn the_base_url_of_a_site_makes_no_client() {
    container("{image: 'acme/desk:1', args: [--base-url, 'http://talker']}").gives(&[]);
    container("{image: 'acme/cars:1', args: [--base-url, 'http://talker', --model, xc90]}").gives(&[]);
    container("{image: 'acme/cars:1', args: [--base-url, /shop, --model, acme/heron]}").gives(&[]);
}

#[test]
fn a_base_url_that_a_script_sets_takes_the_key_with_it() {
    for line in [
        "export OPENAI_BASE_URL=http://talker:8000/v1; python app.py",
        "export OPENAI_API_BASE=http://talker.birds.svc.cluster.local\npython app.py",
        "OPENAI_BASE_URL=http://talker python app.py",
        "env OPENAI_BASE_URL=http://talker python app.py",
        "python app.py --openai-api-base http://talker",
        "python app.py --base-url=http://talker/v1",
    ] {
        let lines = line.replace('\n', "\\n");
        let read = container(&format!("{{image: 'acme/desk:1', env: [{KEY}], command: [sh, -c, \"{lines}\"]}}"));
        assert!(read.inventory.services.is_empty(), "{line}");
    }
    // What the script sets is what counts.
    container(&format!(
        "{{image: 'acme/desk:1', env: [{KEY}, {{name: OPENAI_BASE_URL, value: 'http://talker'}}], command: [sh, -c, 'export OPENAI_BASE_URL=https://api.openai.com/v1; python app.py']}}"
    ))
    .gives(&["gateway", "service openai"]);
    container(&format!("{{image: 'acme/desk:1', env: [{KEY}], command: [sh, -c, 'export OTHER_URL=http://talker; python app.py']}}"))
        .gives(&["gateway", "service openai"]);
}

#[test]
fn an_address_in_what_is_only_said_is_no_call() {
    for line in [
        "# as https://api.openai.com/v1 does\nnginx",
        "echo 'see https://api.openai.com/v1; or https://api.anthropic.com'\nnginx",
        "printf '%s' https://api.openai.com/v1 && nginx",
        "if true; then echo see https://api.openai.com/v1; fi; nginx",
        "echo failed, see https://api.openai.com/v1 >&2",
        "cat <<EOF\nhttps://api.openai.com/v1\nEOF\nnginx",
    ] {
        let lines = line.replace('\n', "\\n");
        container(&format!("{{image: 'acme/desk:1', command: [sh, -c, \"{lines}\"]}}")).gives(&[]);
    }
    container("{image: 'acme/desk:1', command: [echo, 'see https://api.openai.com/v1']}").gives(&[]);
}

#[test]
fn an_address_that_is_called_or_goes_into_a_file_is_a_call() {
    for line in [
        "echo start; curl https://api.openai.com/v1/models",
        "echo start && curl -s 'https://api.openai.com/v1/models?a=b' | jq .",
        "cat > /etc/desk.yaml <<EOF\nurl: https://api.openai.com/v1\nEOF\nnginx",
        "echo URL=https://api.openai.com/v1 > /etc/desk.env; nginx",
        "cat <<EOF\nhello\nEOF\ncurl https://api.openai.com/v1/models",
    ] {
        let lines = line.replace('\n', "\\n");
        container(&format!("{{image: 'acme/desk:1', command: [sh, -c, \"{lines}\"]}}")).gives(&["gateway", "service openai"]);
    }
}

// Gateways.

#[test]
fn a_provider_in_front_of_a_name_makes_it_no_repository() {
    for model in ["openai/gpt-4o", "azure/birds", "hosted_vllm/acme/heron-7b", "ollama/llama3.1:8b", "huggingface/acme/heron-7b"] {
        container(&format!("{{image: 'ghcr.io/berriai/litellm:main', args: [--model, '{model}', --api_base, 'http://talker:8000']}}"))
            .gives(&["gateway", "litellm", &format!("target {model}")])
            .forms(&["name"]);
    }
}

#[test]
fn what_brings_models_to_their_servers_is_no_gateway_and_what_starts_them_no_server() {
    container("{image: 'substratusai/kubeai-model-loader:v1', args: [load, 'hf://acme/heron-7b', /m]}").gives(&[
        "data-preparation",
        "main acme/heron-7b",
        "from hf://acme/heron-7b",
    ]);
    container("{image: 'substratusai/kubeai:v1', env: [{name: MODEL_SERVERS, value: '{\"VLLM\":{\"images\":{\"default\":\"vllm/vllm-openai:v1\"}}}'}]}")
        .gives(&["gateway"]);
    // A gateway of anything: models are in objects of its own.
    container("{image: 'kong:3.8', env: [{name: KONG_PLUGINS, value: 'bundled,ai-proxy'}]}").gives(&[]);
    // The model of an agent is in a secret that its controller writes.
    pod("{containers: [{name: kagent, image: 'ghcr.io/kagent-dev/kagent/app:0.6', env: [{name: KAGENT_NAME, value: heron}], volumeMounts: [{name: config, mountPath: /config}]}], volumes: [{name: config, secret: {secretName: heron}}]}")
        .gives(&["agent", "kagent", "unresolved model secret"]);
}
