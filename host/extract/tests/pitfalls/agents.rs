//! Tool servers, agents and stores beyond the common ones.

use crate::support::{container, pod};

#[test]
fn a_tool_server_is_started_by_a_runner_of_packages() {
    container("{image: 'node:24-alpine', command: [npx, -y, '@modelcontextprotocol/server-filesystem', /data]}").gives(&["agent"]);
    container("{image: 'node:24-alpine', command: [npx, -y, '@modelcontextprotocol/server-github@1.2.3']}").gives(&["agent"]);
    container("{image: 'node:24-alpine', command: [npx, -y, '@acme/mcp-server-thing']}").gives(&["agent"]);
    container("{image: 'node:24', command: [sh, -c, 'npx -y @modelcontextprotocol/server-everything streamableHttp']}").gives(&["agent"]);
    container("{image: 'ghcr.io/astral-sh/uv:debian', command: [uvx, mcp-server-git, --repository, /r]}").gives(&["agent"]);
    container("{image: 'ghcr.io/astral-sh/uv:debian', command: [uvx, 'mcp-server-time@0.6']}").gives(&["agent"]);
    container("{image: 'python:3.12', command: [python, -m, mcp_server_fetch]}").gives(&["agent"]);
    container("{image: 'python:3.12', command: [fastmcp, run, server.py]}").gives(&["agent"]);
    container("{image: 'supercorp/supergateway', args: [--stdio, 'npx -y @modelcontextprotocol/server-x']}").gives(&["agent"]);
    container("{image: 'example.com/acme/tool', env: [{name: FASTMCP_PORT, value: '80'}]}").gives(&["agent"]);
}

#[test]
fn a_word_of_a_protocol_is_no_tool_server() {
    container("{image: 'node:24-alpine', command: [npx, -y, serve]}").gives(&[]);
    container("{image: 'example.com/acme/tool', args: [--transport, streamable-http]}").gives(&[]);
    container("{image: 'example.com/acme/tool', env: [{name: MCP_TRANSPORT, value: sse}]}").gives(&[]);
}

#[test]
fn a_gateway_beside_one_tool_is_its_adapter() {
    pod("{initContainers: [{name: i, image: 'ghcr.io/agentgateway/agentgateway:1', args: [--copy-self, /adapterbin/agentgateway]}], containers: [{name: mcp-server, image: 'example.com/acme/tool:1', command: [/adapterbin/agentgateway, -f, /config/local.yaml]}]}").gives(&["agent"]);
    container("{image: 'ghcr.io/agentgateway/agentgateway:1', args: [-f, /config.yaml]}").gives(&["gateway"]);
}

#[test]
fn a_mode_or_a_list_of_choices_proves_nothing() {
    container("{image: 'oceanbase/oceanbase-ce:4', env: [{name: MODE, value: mini}]}").gives(&[]);
    container("{image: 'langgenius/dify-api:1.13.0', env: [{name: MODE, value: worker}, {name: VECTOR_STORE, value: weaviate}, {name: QDRANT_URL, value: 'https://x.cloud.qdrant.io'}, {name: TEXT_GENERATION_TIMEOUT_MS, value: '60000'}]}").gives(&["agent", "dify", "unresolved model database"]);
    container(
        "{image: 'flowiseai/flowise', env: [{name: MODEL_LIST_CONFIG_JSON, value: /m.json}, {name: DISABLED_NODES, value: chatOpenAI}]}",
    )
    .gives(&["agent", "flowise", "unresolved model database"]);
    container("{image: 'ghcr.io/open-webui/open-webui:main', env: [{name: VECTOR_DB, value: qdrant}, {name: QDRANT_URI, value: 'https://x.cloud.qdrant.io'}, {name: PINECONE_API_KEY, value: k3yk3yk3yk3y}]}").gives(&["agent", "open-webui", "service qdrant-cloud", "unresolved model database"]);
    container("{image: 'lobehub/lobe-chat', env: [{name: OPENAI_API_KEY, value: ''}, {name: OPENAI_MODEL_LIST, value: '-all,+gpt-9=Big'}, {name: OPENAI_PROXY_URL, value: 'http://vllm/v1'}]}").gives(&["agent", "lobe-chat", "unresolved model database"]);
    container("{image: 'ghcr.io/danny-avila/librechat', env: [{name: OPENAI_MODELS, value: 'gpt-9,gpt-8'}, {name: OPENAI_API_KEY, value: user_provided}]}").gives(&["agent", "librechat", "service openai", "unresolved model config-file"]);
    container("{image: 'langgenius/dify-plugin-daemon:1'}").gives(&["agent", "dify", "unresolved model database"]);
    container("{image: 'langgenius/qdrant:v1'}").gives(&["vector-database", "qdrant"]);
}

#[test]
fn models_of_a_platform_are_names_of_its_providers() {
    container("{image: 'n8nio/n8n', env: [{name: N8N_INSTANCE_AI_MODEL, value: anthropic/claude-x}]}")
        .gives(&["agent", "n8n", "target anthropic/claude-x"])
        .forms(&["name"]);
    container("{image: 'lobehub/lobe-chat', env: [{name: DEFAULT_FILES_CONFIG, value: 'embedding_model=openai/text-embedding-x,reranker_model=cohere/rerank-x,query_mode=full_text'}]}").gives(&["agent", "lobe-chat", "target cohere/rerank-x", "target openai/text-embedding-x"]).forms(&["name"]);
    container("{image: 'mintplexlabs/anythingllm', env: [{name: LLM_PROVIDER, value: azure}, {name: OPEN_MODEL_PREF, value: dep-1}, {name: EMBEDDING_ENGINE, value: native}, {name: EMBEDDING_MODEL_PREF, value: acme/e}]}").gives(&["agent", "anythingllm", "target dep-1", "embedding acme/e"]);
    container(r#"{image: 'langchain/langgraph-api:0.2-py3.11', env: [{name: LANGGRAPH_STORE, value: '{"index":{"embed":"openai:text-embedding-x"}}'}]}"#).gives(&["agent", "langgraph", "target openai:text-embedding-x"]);
    container(r#"{image: 'example.com/acme/graphs', env: [{name: LANGSERVE_GRAPHS, value: '{"a":"./a.py:g"}'}]}"#).gives(&[
        "agent",
        "langgraph",
        "unresolved model config-file",
    ]);
    container("{image: 'zylonai/private-gpt:0.6.2-llamacpp-cpu', env: [{name: PGPT_MODE, value: llamacpp}, {name: PGPT_HF_REPO_ID, value: acme/m-GGUF}, {name: PGPT_HF_MODEL_FILE, value: m.gguf}, {name: PGPT_EMBED_MODE, value: huggingface}, {name: PGPT_EMBEDDING_HF_MODEL_NAME, value: acme/e}]}").gives(&["agent", "privategpt", "main acme/m-GGUF", "embedding acme/e"]);
    container("{image: 'gcr.io/vorvan/h2oai/h2ogpt-runtime:1', env: [{name: H2OGPT_BASE_MODEL, value: acme/m}, {name: H2OGPT_SCORE_MODEL, value: None}]}").gives(&["agent", "h2ogpt", "main acme/m"]);
    container("{image: 'tabbyml/tabby:0.2', args: [serve, --model, StarCoder-1B, --chat-model, Qwen]}").gives(&[
        "inference",
        "tabby",
        "main Qwen",
        "main StarCoder-1B",
    ]);
    container("{image: 'onyxdotapp/onyx-model-server:1', env: [{name: DOCUMENT_ENCODER_MODEL, value: ''}, {name: ASYM_QUERY_PREFIX, value: 'query: '}]}").gives(&["inference", "onyx-model-server", "unresolved model runtime-default"]);
}

#[test]
fn a_model_that_is_switched_off_is_not_called() {
    container("{image: 'nvcr.io/nvidia/blueprint/rag-server:2', env: [{name: APP_LLM_MODELNAME, value: acme/l}, {name: APP_LLM_SERVERURL, value: 'nim-llm:8000'}, {name: APP_RANKING_MODELNAME, value: acme/r}, {name: APP_RANKING_SERVERURL, value: 'r:80'}, {name: ENABLE_RERANKER, value: 'False'}, {name: APP_VLM_MODELNAME, value: acme/v}, {name: APP_VLM_SERVERURL, value: 'v:80'}, {name: ENABLE_VLM_INFERENCE, value: 'false'}]}").gives(&["agent", "nvidia-rag", "target acme/l"]);
    container("{image: 'ghcr.io/open-webui/open-webui:main', env: [{name: RAG_RERANKING_MODEL, value: acme/r}]}").gives(&[
        "agent",
        "open-webui",
        "reranker acme/r",
    ]);
    container("{image: 'ghcr.io/open-webui/open-webui:main', env: [{name: RAG_RERANKING_MODEL, value: acme/r}, {name: RAG_RERANKING_ENGINE, value: external}]}").gives(&["agent", "open-webui", "target acme/r"]);
}

#[test]
fn a_name_asked_of_a_hosted_address_is_no_repository() {
    container(
        "{image: 'example.com/acme/app', env: [{name: LLM_URL, value: 'https://api.together.xyz/v1'}, {name: LLM_MODEL, value: acme/m}]}",
    )
    .gives(&["gateway", "target acme/m", "service together"])
    .forms(&["name"]);
    container("{image: 'example.com/acme/app', env: [{name: LLM_URL, value: 'http://vllm/v1'}, {name: LLM_MODEL, value: acme/m}]}")
        .gives(&["gateway", "target acme/m"])
        .forms(&["hub"]);
}

#[test]
fn paths_and_subdomains_tell_what_a_host_is_used_for() {
    container("{image: 'example.com/acme/app', env: [{name: URL, value: 'https://corp.cloud.databricks.com/serving-endpoints'}]}")
        .gives(&["gateway", "service databricks"]);
    container("{image: 'example.com/acme/app', env: [{name: URL, value: 'https://corp.cloud.databricks.com/sql'}]}").gives(&[]);
    container("{image: 'example.com/acme/app', env: [{name: OPENAI_BASE_URL, value: 'http://$(VLLM_SERVICE_HOST):8000'}, {name: OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]}").gives(&["gateway"]);
    container("{image: 'example.com/acme/app', env: [{name: OLLAMA_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: OLLAMA_HOST, value: 'https://ollama.com'}]}").gives(&["gateway", "service ollama"]);
    container("{image: 'example.com/acme/app', env: [{name: MILVUS_URI, value: ./milvus.db}]}").gives(&[]);
    container("{image: 'example.com/acme/app', env: [{name: LANCEDB_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]}")
        .gives(&["gateway", "service lancedb-cloud"]);
    container("{image: 'example.com/acme/app', env: [{name: CLAUDE_CODE_USE_VERTEX, value: '1'}]}")
        .gives(&["gateway", "service vertex-ai"]);
}

#[test]
fn namesakes_and_neighbours_are_not_ai() {
    container("{image: 'bitwalker/alpine-elixir-phoenix:1'}").gives(&[]);
    container("{image: 'apache/phoenix:5'}").gives(&[]);
    container("{image: 'arizephoenix/phoenix:8'}").gives(&["evaluation", "phoenix"]);
    container("{image: 'apache/airflow:2'}").gives(&[]);
    container("{image: 'docker.elastic.co/kibana/kibana:8'}").gives(&[]);
    container("{image: 'quay.io/jupyter/minimal-notebook:1'}").gives(&[]);
    container("{image: 'ghcr.io/khoj-ai/terrarium:1'}").gives(&["agent"]);
}

#[test]
fn a_general_database_with_a_module_for_vectors_is_a_store() {
    container("{image: 'redis:7', command: [redis-server, --loadmodule, /opt/redisearch.so]}").gives(&["redis-stack"]);
    container("{image: 'valkey/valkey:8', command: [valkey-server, --loadmodule, /usr/lib/libsearch.so]}").gives(&["valkey-search"]);
    container("{image: 'redis:7', command: [redis-server, --maxmemory, 1gb]}").gives(&[]);
    container("{image: 'milvusdb/milvus:v2.6.0', args: [milvus, run, streamingnode]}").gives(&["vector-database", "milvus"]);
    container("{image: 'milvusdb/milvus:v2.6.0', env: [{name: MILVUSAI_OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]}")
        .gives(&["vector-database", "milvus", "service openai"]);
    container("{image: 'semitechnologies/weaviate', env: [{name: ENABLE_MODULES, value: 'text2vec-transformers,generative-ollama'}, {name: TRANSFORMERS_INFERENCE_API, value: 'http://t:8080'}]}").gives(&["vector-database", "weaviate"]);
}
