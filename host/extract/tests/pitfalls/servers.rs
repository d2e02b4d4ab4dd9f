//! Model servers.

use crate::support::container;

#[test]
fn arguments_alone_follow_the_entrypoint_of_the_image() {
    container("{image: 'vllm/vllm-openai:v0.10.1', args: [--model, acme/m, --served-model-name, a, b]}")
        .gives(&["inference", "vllm", "main acme/m as a, b"])
        .versions(&["vllm v0.10.1"]);
}

#[test]
fn the_context_of_a_server_is_a_parameter_of_its_model() {
    container("{image: 'vllm/vllm-openai:v0.10.1', args: [--model, acme/m, --max-model-len, 32k]}")
        .gives(&["inference", "vllm", "main acme/m"])
        .parameters(&["context-length=32k"]);
}
