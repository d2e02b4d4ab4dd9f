//! The data files that the program brings along.

/// Conventions that hold for every container.
pub(crate) const CONVENTIONS: &str = include_str!("../conventions.yaml");
/// Hosted AI services.
pub(crate) const SERVICES: &str = include_str!("../services.yaml");

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../runtimes/", $name)))),*]
    };
}

/// Runtime files by name. A test compares the list with the folder.
pub(crate) const RUNTIMES: &[(&str, &str)] = files![
    "accelerate.yaml",
    "benchmark-clients.yaml",
    "bionemo.yaml",
    "dynamo.yaml",
    "fastvideo.yaml",
    "huggingface-download.yaml",
    "infinity.yaml",
    "llama.cpp.yaml",
    "lmcache.yaml",
    "lmdeploy.yaml",
    "mlflow.yaml",
    "mlserver.yaml",
    "model-download.yaml",
    "nim.yaml",
    "ollama.yaml",
    "pytorch.yaml",
    "ray.yaml",
    "routers.yaml",
    "sglang.yaml",
    "simulators.yaml",
    "tei.yaml",
    "tensorflow-serving.yaml",
    "tensorrt-llm.yaml",
    "tgi.yaml",
    "triton.yaml",
    "vllm.yaml",
];
