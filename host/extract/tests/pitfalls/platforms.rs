//! Agents, vector stores, gateways and hosted APIs.

use crate::support::container;

#[test]
fn a_platform_keeps_its_models_in_its_database() {
    for image in ["langflowai/langflow:1.4", "flowiseai/flowise", "docker.io/langgenius/dify-api:1.13.0", "lobehub/lobe-chat-database"] {
        let runtime = image.rsplit('/').next().unwrap().split(['-', ':']).next().unwrap().replace("lobe", "lobe-chat");
        container(&format!("{{image: '{image}'}}")).gives(&["agent", &runtime, "unresolved model database"]);
    }
}

#[test]
fn the_pages_of_a_platform_are_plumbing_and_no_runtime() {
    for image in ["langflowai/langflow-frontend", "langgenius/dify-web:1.0", "langgenius/dify-sandbox", "onyxdotapp/onyx-web-server"] {
        container(&format!("{{image: '{image}'}}")).gives(&["agent"]);
    }
}

#[test]
fn the_squid_beside_dify_is_no_ai() {
    container("{image: 'ubuntu/squid:latest'}").gives(&[]);
}

#[test]
fn siblings_and_look_alikes_are_not_the_platform() {
    for image in ["ghcr.io/open-webui/pipelines:main", "ghcr.io/open-webui/mcpo:main"] {
        container(&format!("{{image: '{image}'}}")).gives(&["agent"]);
    }
    container("{image: 'searxng/searxng'}").gives(&[]);
    container("{image: 'expediadotcom/haystack-traces'}").gives(&[]);
    container("{image: 'langfuse/langfuse:3'}").gives(&["evaluation", "langfuse"]);
}

#[test]
fn a_program_or_a_variable_of_its_own_proves_the_platform() {
    container("{image: 'example.com/acme/flows', command: [langflow, run, --port, '7860']}").gives(&[
        "agent",
        "langflow",
        "unresolved model database",
    ]);
    container("{image: 'example.com/acme/flows', env: [{name: LANGFLOW_AUTO_LOGIN, value: 'true'}]}").gives(&[
        "agent",
        "langflow",
        "unresolved model database",
    ]);
    let own = "env: [{name: QDRANT__SERVICE__GRPC_PORT, value: '6334'}]";
    container(&format!("{{image: 'example.com/acme/store', {own}}}")).gives(&["vector-database", "qdrant"]);
    // A client of the platform, and what only waits for it.
    container("{image: 'example.com/acme/app', env: [{name: LANGFLOW_URL, value: 'http://langflow:7860'}]}").gives(&[]);
    let waits = "command: [sh, -c, 'curl -f http://db:5432'], env: [{name: LANGFLOW_AUTO_LOGIN, value: 'true'}]";
    container(&format!("{{image: 'example.com/acme/tools', {waits}}}")).gives(&[]);
}

#[test]
fn one_variable_that_others_have_too_proves_nothing() {
    container("{image: 'example.com/acme/app', env: [{name: WEBUI_NAME, value: Acme}]}").gives(&[]);
    container("{image: 'example.com/acme/app', env: [{name: WEBUI_NAME, value: Acme}, {name: ENABLE_OLLAMA_API, value: 'false'}]}")
        .gives(&["agent", "open-webui", "unresolved model database"]);
}

#[test]
fn a_port_or_a_container_name_proves_nothing() {
    container("{name: ollama, image: 'traefik:v2.11', ports: [{containerPort: 11434}]}").gives(&[]);
    container("{name: langflow, image: 'example.com/acme/web', ports: [{containerPort: 7860}]}").gives(&[]);
}

#[test]
fn a_workflow_tool_is_ai_only_when_its_settings_say_so() {
    container("{image: 'n8nio/n8n', env: [{name: N8N_AI_ENABLED, value: 'false'}, {name: N8N_AI_WEBHOOK_URL, value: 'http://x'}]}")
        .gives(&["n8n"]);
    container("{image: 'n8nio/n8n', env: [{name: N8N_AI_ENABLED, value: 'true'}]}").gives(&["agent", "n8n"]);
    container("{image: 'mcp/n8n'}").gives(&["n8n"]);
}

#[test]
fn an_embedding_model_is_loaded_only_by_the_engine_that_loads_it() {
    let webui = |env: &str| container(&format!("{{image: 'ghcr.io/open-webui/open-webui:main', env: [{env}]}}"));
    let model = "{name: RAG_EMBEDDING_MODEL, value: acme/embed}";
    webui(model).gives(&["agent", "open-webui", "embedding acme/embed"]);
    webui(&format!("{model}, {{name: RAG_EMBEDDING_ENGINE, value: ''}}")).gives(&["agent", "open-webui", "embedding acme/embed"]);
    webui(&format!("{model}, {{name: RAG_EMBEDDING_ENGINE, value: ollama}}")).gives(&["agent", "open-webui", "target acme/embed"]);
    webui("{name: DEFAULT_MODELS, value: 'a-1, b-2'}, {name: WHISPER_MODEL, value: small}").gives(&[
        "agent",
        "open-webui",
        "main small",
        "target a-1",
        "target b-2",
    ]);
    container("{image: 'ghcr.io/open-webui/open-webui:v0.6.1-ollama'}").gives(&[
        "agent",
        "open-webui",
        "ollama",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_selector_chooses_one_of_many_models() {
    let env = "{name: OPEN_MODEL_PREF, value: gpt-9}, {name: OLLAMA_MODEL_PREF, value: 'acme:8b'}, {name: LLM_PROVIDER, value: ollama}";
    container(&format!("{{image: 'mintplexlabs/anythingllm', env: [{env}]}}")).gives(&["agent", "anythingllm", "target acme:8b"]);
    // The engine that comes with the program is no model.
    let native = "{name: EMBEDDING_ENGINE, value: native}, {name: LLM_PROVIDER, value: native}";
    container(&format!("{{image: 'mintplexlabs/anythingllm', env: [{native}]}}")).gives(&[
        "agent",
        "anythingllm",
        "unresolved model database",
    ]);
}

#[test]
fn a_url_in_place_of_a_model_is_no_model() {
    let rag = |provider: &str, model: &str| {
        container(&format!(
            "{{image: 'ghcr.io/danny-avila/librechat-rag-api-dev', env: [{{name: EMBEDDINGS_PROVIDER, value: {provider}}}, {{name: EMBEDDINGS_MODEL, value: '{model}'}}]}}"
        ))
    };
    rag("huggingface", "acme/embed").gives(&["agent", "librechat-rag-api", "embedding acme/embed"]);
    rag("huggingfacetei", "http://tei:3000").gives(&["agent", "librechat-rag-api", "unresolved model runtime-default"]);
}

#[test]
fn a_mock_or_a_fake_is_no_model() {
    let env = "{name: PGPT_MODE, value: mock}, {name: PGPT_HF_REPO_ID, value: acme/weights}";
    container(&format!("{{image: 'zylonai/private-gpt:0.6.2-llamacpp-cpu', env: [{env}]}}")).gives(&[
        "agent",
        "privategpt",
        "unresolved model config-file",
    ]);
    container("{image: 'gcr.io/vorvan/h2oai/h2ogpt-runtime:1', command: [python3, generate.py, --base_model=acme/m, --hf_embedding_model=fake, --score_model=None]}")
        .gives(&["agent", "h2ogpt", "main acme/m"]);
    container("{image: 'gcr.io/vorvan/h2oai/h2ogpt-runtime:1', command: [python3, generate.py, --base_model=acme/m, '--inference_server=vllm:srv:8000']}")
        .gives(&["agent", "h2ogpt", "target acme/m"]);
}

#[test]
fn a_database_and_an_embedding_server_of_one_name_are_told_apart() {
    container("{image: 'infiniflow/infinity:v0.6'}").gives(&["vector-database", "infinity-db"]);
    container("{image: 'michaelf34/infinity', args: [v2, --model-id, acme/e]}").gives(&["inference", "infinity", "embedding acme/e"]);
}

#[test]
fn one_image_of_a_store_has_parts_and_helpers_that_are_none() {
    for args in ["[standalone]", "[/milvus/tools/run-helm.sh, milvus, run, querynode]"] {
        container(&format!("{{image: 'milvusdb/milvus:v2.6.0', args: {args}}}")).gives(&["vector-database", "milvus"]);
    }
    for image in [
        "zilliz/attu:v2.4",
        "milvusdb/milvus-config-tool:v1",
        "milvusdb/milvus-operator",
        "vdaas/vald-lb-gateway",
        "vdaas/vald-manager-index",
    ] {
        container(&format!("{{image: '{image}'}}")).gives(&["vector-database"]);
    }
    container("{image: 'vdaas/vald-agent-ngt:v1.7'}").gives(&["vector-database", "vald"]);
}

#[test]
fn a_general_database_is_no_vector_store() {
    for image in [
        "redis:7",
        "redis:8",
        "postgres:16",
        "elasticsearch:8.13.0",
        "getmeili/meilisearch:v1.7",
        "clickhouse/clickhouse-server",
        "valkey/valkey:8",
        "mongo",
    ] {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
    container("{image: 'pgvector/pgvector:pg16'}").gives(&["vector-database", "pgvector"]);
}

#[test]
fn the_tag_of_a_module_of_weaviate_is_no_model_but_says_that_there_is_one() {
    container("{image: 'cr.weaviate.io/semitechnologies/transformers-inference:acme-embed-v1'}").gives(&[
        "inference",
        "weaviate-modules",
        "unresolved model runtime-default",
    ]);
}

#[test]
fn a_store_preloads_models_unless_another_one_infers() {
    let marqo = |mode: &str| {
        container(&format!(
            r#"{{image: 'marqoai/marqo:2', env: [{{name: MARQO_MODELS_TO_PRELOAD, value: '["acme/a", {{"model": "acme/b"}}]'}}, {{name: MARQO_MODE, value: {mode}}}]}}"#
        ))
    };
    marqo("COMBINED").gives(&["vector-database", "marqo", "embedding acme/a", "embedding acme/b"]);
    marqo("API").gives(&["vector-database", "marqo"]);
}

#[test]
fn a_download_into_a_search_engine_is_data_preparation() {
    container("{image: 'docker.elastic.co/eland/eland', command: [eland_import_hub_model, --url, 'http://es:9200', --hub-model-id, acme/e, --task-type, text_embedding, --start]}")
        .gives(&["data-preparation", "embedding acme/e"]);
}

#[test]
fn a_gateway_calls_the_models_that_it_names() {
    container("{image: 'ghcr.io/berriai/litellm:main-stable', args: [--model, azure/chat, --port, '4000']}").gives(&[
        "gateway",
        "litellm",
        "target azure/chat",
    ]);
    container("{image: 'ghcr.io/berriai/litellm:main-stable', args: [--config, /app/config.yaml, --num_workers, '8']}").gives(&[
        "gateway",
        "litellm",
        "unresolved model config-file /app/config.yaml",
    ]);
    container("{image: 'portkeyai/gateway:1.9'}").gives(&["gateway"]);
    container("{image: 'ghcr.io/vllm-project/semantic-router/extproc:v0.1', args: ['--secure=false']}").gives(&["gateway"]);
}

#[test]
fn a_general_proxy_is_no_gateway_of_models() {
    for image in [
        "kong:3.6",
        "envoyproxy/envoy:v1.30",
        "envoyproxy/gateway:v1",
        "apache/apisix",
        "traefik:v3",
        "cr.kgateway.dev/kgateway-dev/kgateway:v2",
    ] {
        container(&format!("{{image: '{image}'}}")).gives(&[]);
    }
}

#[test]
fn the_name_of_a_pool_is_no_model() {
    container(
        "{image: 'registry.k8s.io/gateway-api-inference-extension/epp:v1', args: [--pool-name, acme-3b-instruct, --grpc-port, '9002']}",
    )
    .gives(&["gateway"]);
    container("{image: 'registry.k8s.io/gateway-api-inference-extension/epp:v0.3', args: [-poolName, acme-3b-instruct]}")
        .gives(&["gateway"]);
}

#[test]
fn an_image_in_a_variable_is_no_model() {
    let env = "{name: SANDBOX_RUNTIME_CONTAINER_IMAGE, value: 'docker.all-hands.dev/all-hands-ai/runtime:0.4-x'}, {name: LLM_MODEL, value: openai/gpt-9}";
    container(&format!("{{image: 'docker.all-hands.dev/all-hands-ai/openhands:0.4', env: [{env}]}}")).gives(&[
        "agent",
        "openhands",
        "target openai/gpt-9",
    ]);
}

#[test]
fn a_tool_server_is_plumbing_of_agents() {
    for yaml in [
        "{image: 'ghcr.io/github/github-mcp-server'}",
        "{image: 'mcp/grafana'}",
        "{image: 'node:24-alpine', command: [npx, -y, mcp-remote, 'http://tools/mcp']}",
        "{image: 'example.com/acme/tool', command: [/adapterbin/agentgateway, -f, /config/local.yaml]}",
    ] {
        container(yaml).gives(&["agent"]);
    }
    // A namespace of that name says nothing elsewhere.
    container("{image: 'example.com/mcp/billing'}").gives(&[]);
}

#[test]
fn an_agent_pod_has_its_model_in_a_secret() {
    container("{name: kagent, image: 'cr.kagent.dev/kagent-dev/kagent/app:0.6'}").gives(&["agent", "kagent", "unresolved model secret"]);
    container("{image: 'ghcr.io/kagent-dev/kagent/ui'}").gives(&["agent"]);
}

#[test]
fn a_registry_of_models_serves_none() {
    container("{image: 'ghcr.io/mlflow/mlflow', command: [mlflow, server, --backend-store-uri, 'postgresql://u:p@db/x']}")
        .gives(&["training", "mlflow"]);
}

/// A container of an image that nobody knows, with these variables.
fn app(env: &[(&str, &str)]) -> crate::support::Read {
    let env: Vec<String> = env.iter().map(|(name, value)| format!("{{name: {name}, value: '{value}'}}")).collect();
    container(&format!("{{image: 'registry.acme.io/acme/app:1', env: [{}]}}", env.join(", ")))
}

/// The same with one variable out of a secret.
fn keyed(key: &str, env: &[(&str, &str)]) -> crate::support::Read {
    let env: Vec<String> = env.iter().map(|(name, value)| format!(", {{name: {name}, value: '{value}'}}")).collect();
    let secret = format!("{{name: {key}, valueFrom: {{secretKeyRef: {{name: s, key: k}}}}}}");
    container(&format!("{{image: 'registry.acme.io/acme/app:1', env: [{secret}{}]}}", env.concat()))
}

#[test]
fn a_key_of_a_hosted_service_makes_an_ai_workload() {
    keyed("OPENAI_API_KEY", &[]).gives(&["gateway", "service openai"]);
    keyed("ANTHROPIC_API_KEY", &[]).gives(&["gateway", "service anthropic"]);
    app(&[("OPENAI_API_KEY", "sk-a8f3b2c1d4e5f6a7b8c9")]).gives(&["gateway", "service openai"]);
    // Spelled by other programs.
    for (key, service) in [
        ("OPEN_AI_KEY", "openai"),
        ("OPENAI_APIKEY", "openai"),
        ("COHERE_APIKEY", "cohere"),
        ("VOYAGEAI_APIKEY", "voyage"),
        ("SPRING_AI_OPENAI_API_KEY", "openai"),
        ("SPRING_AI_AZURE_OPENAI_API_KEY", "azure-openai"),
        ("MILVUSAI_COHERE_API_KEY", "cohere"),
        ("OPENAI_API_KEY_FILE", "openai"),
    ] {
        keyed(key, &[]).gives(&["gateway", &format!("service {service}")]);
    }
}

#[test]
fn a_word_in_place_of_a_key_names_no_service() {
    for value in [
        "",
        "EMPTY",
        "none",
        "null",
        "dummy",
        "not-needed",
        "not-used",
        "no-key-required",
        "sk-1234",
        "sk-xxxxxxxx",
        "lm-studio",
        "ollama",
        "changeme",
        "${OPENAI_API_KEY}",
        "{{ .Values.key }}",
        "<key>",
        "YOUR_API_KEY",
    ] {
        app(&[("OPENAI_API_KEY", value)]).gives(&[]);
    }
    // Repeats another variable that is one, or that is not there.
    app(&[("KEY", "EMPTY"), ("OPENAI_API_KEY", "$(KEY)")]).gives(&[]);
    app(&[("OPENAI_API_KEY", "$(KEY)")]).gives(&[]);
    // Each user brings a key of their own: the service is on.
    app(&[("OPENAI_API_KEY", "user_provided")]).gives(&["gateway", "service openai"]);
}

#[test]
fn a_base_url_decides_whatever_the_key_says() {
    for (key, url, host, service) in [
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://api.openai.com/v1", "openai"),
        ("OPENAI_API_KEY", "OPENAI_API_BASE", "https://openrouter.ai/api/v1", "openrouter"),
        ("OPENAI_API_KEY", "OPENAI_API_BASE", "https://corp.openai.azure.com", "azure-openai"),
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://oai.helicone.ai/v1", "openai"),
        ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "https://YOUR_RESOURCE.openai.azure.com", "azure-openai"),
        ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "https://<resource>.openai.azure.com/", "azure-openai"),
        ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com", "anthropic"),
        ("OPENAI_API_KEY", "OPENAI_BASE_URL", "https://llm.acme.dev/v1", "llm.acme.dev"),
    ] {
        keyed(key, &[(url, host)]).gives(&["gateway", &format!("service {service}")]);
    }
    for host in [
        "http://vllm:8000/v1",
        "http://kubeai/openai/v1",
        "nim-llm:8000",
        "http://single-3.default",
        "http://a.b.svc.cluster.local/v1",
        "http://10.0.0.7:8000",
        "http://localhost:8000/v1",
        "http://host.docker.internal:1234",
    ] {
        keyed("OPENAI_API_KEY", &[("OPENAI_BASE_URL", host)]).gives(&["gateway"]);
        keyed("ANTHROPIC_API_KEY", &[("ANTHROPIC_BASE_URL", host)]).gives(&["gateway"]);
    }
    keyed("OPENAI_API_KEY", &[("OPENAI_BASE_URL", "https://llm.example.com/v1")]).gives(&[]);
    // Nobody knows where it leads.
    keyed("OPENAI_API_KEY", &[("OPENAI_BASE_URL", "{{ .Values.url }}")]).gives(&["gateway", "service openai"]);
}

#[test]
fn one_client_in_the_cluster_does_not_silence_another_one_outside() {
    let local = ("OPENAI_API_BASE_URLS", "http://vllm:8000/v1");
    keyed("RAG_OPENAI_API_KEY", &[local, ("OPENAI_API_KEYS", "not-used"), ("RAG_OPENAI_API_BASE_URL", "https://api.openai.com/v1")])
        .gives(&["agent", "open-webui", "service openai", "unresolved model database"]);
    // Without an address of its own it has the one of the main client.
    keyed("RAG_OPENAI_API_KEY", &[local]).gives(&["gateway"]);
    // The key of the main client is not that of the other one.
    keyed("OPENAI_API_KEY", &[("AUDIO_STT_OPENAI_API_BASE_URL", "http://whisper:8000/v1")]).gives(&["gateway", "service openai"]);
    // A list of addresses.
    app(&[("OPENAI_API_BASE_URLS", "http://vllm:8000/v1;https://api.groq.com/openai/v1")]).gives(&["gateway", "service groq"]);
    app(&[("OPENAI_API_KEYS", "not-used"), ("OPENAI_API_BASE_URLS", "http://kubeai/openai/v1")]).gives(&["gateway"]);
}

#[test]
fn a_key_that_others_have_too_needs_a_second_sign() {
    for key in [
        "GOOGLE_API_KEY",
        "AZURE_API_KEY",
        "NVIDIA_API_KEY",
        "GITHUB_TOKEN",
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "NGC_API_KEY",
        "WANDB_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "DATABRICKS_TOKEN",
        "OLLAMA_API_KEY",
    ] {
        keyed(key, &[]).gives(&[]);
    }
    keyed("GOOGLE_API_KEY", &[("GEMINI_MODEL", "gemini-9-flash")]).gives(&["gateway", "service google-gemini", "target gemini-9-flash"]);
    keyed("AZURE_API_KEY", &[("AZURE_API_BASE", "https://corp.openai.azure.com")]).gives(&["gateway", "service azure-openai"]);
    keyed("HF_TOKEN", &[("INFERENCE", "https://router.huggingface.co/v1")]).gives(&["gateway", "service huggingface-inference"]);
    keyed("NVIDIA_API_KEY", &[("NIM", "https://integrate.api.nvidia.com/v1")]).gives(&["gateway", "service nvidia-api"]);
    // Downloads and mirrors are no inference.
    app(&[("HF_ENDPOINT", "https://hf-mirror.com")]).gives(&[]);
    keyed("GOOGLE_API_KEY", &[("VLLM_ALL2ALL_BACKEND", "pplx")]).gives(&[]);
}

#[test]
fn a_switch_says_more_than_a_name() {
    keyed("OPENAI_API_KEY", &[("OPENAI_API_TYPE", "azure"), ("OPENAI_API_BASE", "https://corp.openai.azure.com")])
        .gives(&["gateway", "service azure-openai"]);
    keyed("OPENAI_API_KEY", &[("ENABLE_OPENAI_API", "false")]).gives(&[]);
    keyed("GOOGLE_API_KEY", &[("GOOGLE_GENAI_USE_VERTEXAI", "true")]).gives(&["gateway", "service vertex-ai"]);
    app(&[("CLAUDE_CODE_USE_BEDROCK", "1")]).gives(&["gateway", "service amazon-bedrock"]);
    app(&[("DISABLED_NODES", "chatOpenAI"), ("DISABLE_OPENAI_API_KEY", "x1y2z3a4b5")]).gives(&[]);
}

#[test]
fn a_selector_leaves_the_other_providers_out() {
    let all = [
        ("OPENAI_MODEL", "gpt-9"),
        ("ANTHROPIC_API_KEY", "k3yk3yk3yk3y"),
        ("GROQ_API_KEY", "k3yk3yk3yk3y"),
        ("OLLAMA_BASE_URL", "http://ollama:11434"),
    ];
    let with = |provider: &'static str| keyed("OPENAI_API_KEY", &[&all[..], &[("LLM_PROVIDER", provider)]].concat());
    with("groq").gives(&["gateway", "service groq"]);
    with("ollama").gives(&["gateway"]);
    with("openai").gives(&["gateway", "service openai", "target gpt-9"]);
    // The addresses of stores that were not chosen.
    app(&[("VECTOR_STORE", "pgvector"), ("QDRANT_URL", "https://x.cloud.qdrant.io"), ("PINECONE_API_KEY", "k3yk3yk3yk3y")])
        .gives(&["gateway"]);
}

#[test]
fn empty_keys_of_a_whole_catalogue_name_nothing() {
    app(&[
        ("OPENAI_API_KEY", ""),
        ("ANTHROPIC_API_KEY", ""),
        ("GROQ_API_KEY", ""),
        ("QWEN_MODEL_LIST", ""),
        ("OPENAI_MODELS", "gpt-9,gpt-8"),
    ])
    .gives(&[]);
}

#[test]
fn a_model_that_is_asked_of_a_service_is_a_name_of_the_service() {
    keyed("OPENROUTER_API_KEY", &[("OPENROUTER_MODEL", "acme/big-1")]).gives(&["gateway", "service openrouter", "target acme/big-1"]);
    let read = keyed("OPENROUTER_API_KEY", &[("OPENROUTER_MODEL", "acme/big-1")]);
    assert_eq!(read.inventory.models[0].reference.form(), "name");
    // In the cluster it is the name of what runs there.
    let read = app(&[("OPENAI_BASE_URL", "http://vllm/v1"), ("OPENAI_MODEL", "acme/big-1")]);
    read.gives(&["gateway", "target acme/big-1"]);
    assert_eq!(read.inventory.models[0].reference.form(), "hub");
    app(&[("BEDROCK_MODEL_ID", "anthropic.claude-9-v1:0")]).gives(&["gateway", "service amazon-bedrock", "target anthropic.claude-9-v1:0"]);
    keyed(
        "AZURE_OPENAI_API_KEY",
        &[("AZURE_OPENAI_ENDPOINT", "https://corp.openai.azure.com"), ("AZURE_OPENAI_DEPLOYMENT_NAME", "chat-prod")],
    )
    .gives(&["gateway", "service azure-openai", "target chat-prod"]);
    keyed("OPENAI_API_KEY", &[("JUDGE_MODEL", "gpt-9"), ("CHAT_MODEL", "gpt-8"), ("MODEL_DIR", "/models")]).gives(&[
        "evaluation",
        "service openai",
        "judge gpt-9",
        "target gpt-8",
    ]);
}

#[test]
fn the_key_of_a_server_is_no_client() {
    container("{image: 'vllm/vllm-openai:v0.10.1', args: [--model, acme/m, --api-key, sk-a8f3b2c1d4e5f6a7b8c9], env: [{name: VLLM_API_KEY, value: sk-a8f3b2c1d4e5f6a7b8c9}]}")
        .gives(&["inference", "vllm", "main acme/m"]);
    container("{image: 'qdrant/qdrant', env: [{name: QDRANT__SERVICE__API_KEY, value: k3yk3yk3yk3y}]}")
        .gives(&["vector-database", "qdrant"]);
    container("{image: 'semitechnologies/weaviate', env: [{name: AUTHENTICATION_APIKEY_ALLOWED_KEYS, value: k3yk3yk3yk3y}]}")
        .gives(&["vector-database", "weaviate"]);
}

#[test]
fn modules_of_a_store_call_services_without_a_key() {
    container("{image: 'semitechnologies/weaviate', env: [{name: ENABLE_MODULES, value: 'text2vec-openai, generative-cohere,text2vec-transformers'}]}")
        .gives(&["vector-database", "weaviate", "service openai", "service cohere"]);
}

#[test]
fn a_protocol_is_not_a_provider() {
    // Whoever asks an engine is a client of it, and of nobody else.
    container("{image: 'registry.acme.io/acme/bench:1', args: [--backend, openai-chat, --url, 'http://vllm:8000']}").gives(&["benchmark"]);
    for args in ["[--service-kind, openai, --endpoint-type, chat]", "[--tool-call-parser=openai]"] {
        container(&format!("{{image: 'registry.acme.io/acme/bench:1', args: {args}}}")).gives(&[]);
    }
    let key = "env: [{name: OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]";
    container(&format!("{{image: 'registry.acme.io/acme/bench:1', args: [--base-url, 'http://vllm:8000/v1'], {key}}}"))
        .gives(&["benchmark"]);
}

#[test]
fn a_host_in_a_comment_or_a_list_of_exceptions_is_not_called() {
    let script = |line: &str| container(&format!("{{image: 'alpine:3', command: [sh, -c, \"{line}\"]}}"));
    script("curl https://api.openai.com/v1/models").gives(&["gateway", "service openai"]);
    script("# see https://api.openai.com/v1\\nsleep 5").gives(&[]);
    script("sleep 5 # https://api.openai.com").gives(&[]);
    app(&[("NO_PROXY", "https://api.openai.com")]).gives(&[]);
}

#[test]
fn what_watches_searches_or_remembers_is_a_service_but_makes_no_ai_by_itself() {
    keyed("LANGCHAIN_API_KEY", &[]).gives(&["service langsmith"]);
    keyed("TAVILY_API_KEY", &[]).gives(&["service tavily"]);
    keyed("PINECONE_API_KEY", &[]).gives(&["gateway", "service pinecone"]);
    app(&[("MILVUS_URI", "https://in03-x.api.gcp.zillizcloud.com")]).gives(&["gateway", "service zilliz"]);
    app(&[("QDRANT_URL", "http://qdrant:6333")]).gives(&[]);
}

#[test]
fn a_front_end_of_a_model_in_the_cluster_is_ai_and_the_model_server_itself_no_client() {
    app(&[("OLLAMA_BASE_URL", "http://ollama:11434")]).gives(&["gateway"]);
    app(&[("OLLAMA_BASE_URL", "http://ollama:11434"), ("OLLAMA_MODEL", "acme:8b")]).gives(&["gateway", "target acme:8b"]);
    app(&[("OLLAMA_HOST", "0.0.0.0:11434")]).gives(&[]);
}

#[test]
fn an_empty_server_url_means_the_hosted_one_where_the_program_says_so() {
    let rag = |url: &str| {
        container(&format!(
            "{{image: 'nvcr.io/nvidia/blueprint/rag-server:2', env: [{{name: APP_LLM_MODELNAME, value: acme/llm}}, {{name: APP_LLM_SERVERURL, value: '{url}'}}, {{name: NVIDIA_API_KEY, value: EMPTY}}]}}"
        ))
    };
    rag("").gives(&["agent", "nvidia-rag", "service nvidia-api", "target acme/llm"]);
    rag("nim-llm:8000").gives(&["agent", "nvidia-rag", "target acme/llm"]);
}

#[test]
fn a_name_of_a_client_alone_is_no_agent_framework() {
    app(&[("SERVER_PORT", "7860"), ("STREAMLIT_SERVER_PORT", "8501"), ("GRADIO_SERVER_NAME", "0.0.0.0")]).gives(&[]);
    container("{image: 'registry.acme.io/acme/app:1', command: [streamlit, run, app.py]}").gives(&[]);
    container("{image: 'registry.acme.io/acme/app:1', command: [chainlit, run, app.py, --port, '8000']}").gives(&["agent", "chainlit"]);
    container("{image: 'registry.acme.io/acme/app:1', command: [crewai, run]}").gives(&["agent", "crewai", "unresolved model config-file"]);
}

#[test]
fn a_list_of_names_of_variables_holds_no_keys() {
    container(
        "{image: 'langflowai/langflow', env: [{name: LANGFLOW_VARIABLES_TO_GET_FROM_ENVIRONMENT, value: 'OPENAI_API_KEY,GROQ_API_KEY'}]}",
    )
    .gives(&["agent", "langflow", "unresolved model database"]);
}
