//! What an image says: its reference in two fields, the model by its path, an engine by its name.

use k8s_aibom_sdk::{Claim, Part, Text};

/// Where NIM images with one model each are.
const NIM: &str = "nvcr.io/nim/";
/// The image that runs whichever model it is told to.
const GENERIC: &str = "llm-nim";

/// `repository` and `tag` as one reference.
pub(crate) fn reference(image: &Part<'_>) -> Option<Claim> {
    let repository = image.text("repository")?;
    Some(match image.scalar("tag") {
        Some(tag) => Claim::joined(&[&repository, &tag], ':'),
        None => Claim::declared(repository),
    })
}

/// `<org>/<name>` of an image path `nvcr.io/nim/<org>/<name>` with or without tag and digest; none for the generic image and for other
/// paths.
pub(crate) fn model(reference: &str) -> Option<String> {
    let path = reference.strip_prefix(NIM)?;
    let path = path.split_once('@').map_or(path, |(path, _)| path);
    let path = path.split_once(':').map_or(path, |(path, _)| path);
    let (org, name) = path.split_once('/')?;
    let named = !org.is_empty() && !name.is_empty() && !name.contains('/') && name != GENERIC;
    named.then(|| path.to_owned())
}

/// The part of a repository that names the image; folders above it name teams.
pub(crate) fn last_segment(mut repository: Text) -> Text {
    if let Some((_, name)) = repository.value.rsplit_once('/') {
        repository.value = name.to_owned();
    }
    repository
}

/// The engine that a profile, an engine field or an image name contains as a word.
pub(crate) fn engine(text: &str) -> Option<&'static str> {
    let text = text.to_ascii_lowercase();
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.find_map(|word| match word {
        "tensorrt_llm" | "trtllm" | "trt_llm" => Some("tensorrt-llm"),
        "vllm" => Some("vllm"),
        "sglang" => Some("sglang"),
        _ => None,
    })
}

/// What a model is for: NVIDIA's models for search say it in their names.
pub(crate) fn role(model: &str) -> &'static str {
    let name = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    if name.contains("rerank") {
        "reranker"
    } else if name.contains("embed") {
        "embedding"
    } else {
        "main"
    }
}
