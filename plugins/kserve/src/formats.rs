//! Which runtime a model format, a predictor field or the name of a serving runtime stands for.

use k8s_aibom_sdk::{Claim, Text};

/// Predictor fields from before `model`, with the runtime behind each.
pub(crate) const LEGACY: [(&str, &str); 10] = [
    ("sklearn", "sklearn"),
    ("xgboost", "xgboost"),
    ("lightgbm", "lightgbm"),
    ("pmml", "pmml"),
    ("paddle", "paddle"),
    ("tensorflow", "tensorflow-serving"),
    ("pytorch", "pytorch"),
    ("onnx", "onnx"),
    ("triton", "triton"),
    ("huggingface", "huggingface"),
];

/// Words of a format's or a serving runtime's name that stand for a runtime.
const WORDS: [(&str, &str); 47] = [
    ("sklearn", "sklearn"),
    ("sklearnserver", "sklearn"),
    ("xgboost", "xgboost"),
    ("xgbserver", "xgboost"),
    ("lightgbm", "lightgbm"),
    ("lgbserver", "lightgbm"),
    ("catboost", "catboost"),
    ("pmml", "pmml"),
    ("pmmlserver", "pmml"),
    ("paddle", "paddle"),
    ("paddleserver", "paddle"),
    ("autogluon", "autogluon"),
    ("autogluonserver", "autogluon"),
    ("mindspore", "mindspore"),
    ("keras", "keras"),
    ("tensorflow", "tensorflow-serving"),
    ("tfserving", "tensorflow-serving"),
    ("pytorch", "pytorch"),
    ("torchserve", "pytorch"),
    ("torchscript", "pytorch"),
    ("onnx", "onnx"),
    ("onnxruntime", "onnx"),
    ("triton", "triton"),
    ("tritonserver", "triton"),
    ("huggingface", "huggingface"),
    ("huggingfaceserver", "huggingface"),
    ("mlserver", "mlserver"),
    ("mlflow", "mlflow"),
    ("vllm", "vllm"),
    ("vllmserver", "vllm"),
    ("sglang", "sglang"),
    ("lmdeploy", "lmdeploy"),
    ("tgi", "tgi"),
    ("tgis", "tgis"),
    ("tei", "tei"),
    ("ollama", "ollama"),
    ("llamacpp", "llama.cpp"),
    ("tensorrtllm", "tensorrt-llm"),
    ("trtllm", "tensorrt-llm"),
    ("nim", "nim"),
    ("caikit", "caikit"),
    ("openvino", "openvino"),
    ("ovms", "openvino"),
    ("bentoml", "bentoml"),
    ("deepsparse", "deepsparse"),
    ("ktransformers", "ktransformers"),
    ("docling", "docling"),
];

/// Formats that other servers than the one of that name load too.
const SHARED: [&str; 2] = ["tensorflow-serving", "onnx"];

/// The runtimes that a model format and the name of a serving runtime stand for. Both are free text in which known words count; what else
/// they hold may be the name of a model and says nothing. A format is the runtime's name unless the serving runtime says that another
/// server loads it.
pub(crate) fn runtimes(format: Option<&Text>, reference: Option<&Text>) -> Vec<(&'static str, Claim)> {
    let of_format = format.map(|text| named(text.as_str())).unwrap_or_default();
    let of_reference = reference.map(|text| named(text.as_str())).unwrap_or_default();
    let mut found: Vec<(&'static str, Claim)> = Vec::new();
    for runtime in of_format {
        if !(SHARED.contains(&runtime) && of_reference.iter().any(|server| *server != runtime)) {
            found.extend(format.map(|text| (runtime, claim(text, runtime))));
        }
    }
    for runtime in of_reference {
        if !found.iter().any(|(known, _)| *known == runtime) {
            found.extend(reference.map(|text| (runtime, claim(text, runtime))));
        }
    }
    found
}

fn claim(text: &Text, runtime: &str) -> Claim {
    if text.as_str() == runtime { Claim::declared(text.clone()) } else { Claim::derived(runtime, [text.at.clone()]) }
}

/// Runtimes by the words of a name, each once, in their order.
fn named(text: &str) -> Vec<&'static str> {
    let text = text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut found: Vec<&'static str> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).copied().unwrap_or_default();
        let pair = [*word, next].concat();
        let known = |word: &str| WORDS.iter().find(|(known, _)| *known == word).map(|(_, runtime)| *runtime);
        if let Some(runtime) = known(&pair).or_else(|| known(word))
            && !found.contains(&runtime)
        {
            found.push(runtime);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use k8s_aibom_sdk::{Found, Locator, Text};

    use super::{named, runtimes};

    #[test]
    fn words_of_a_name_stand_for_runtimes() {
        for (name, runtimes) in [
            ("sklearn", &["sklearn"][..]),
            ("vLLM", &["vllm"]),
            ("kserve-mlserver", &["mlserver"]),
            ("kserve-tensorflow-serving", &["tensorflow-serving"]),
            ("tensorrt_llm", &["tensorrt-llm"]),
            ("nvidia-nim-plover-8b-instruct", &["nim"]),
            ("openvino_ir", &["openvino"]),
            ("caikit-tgis-runtime", &["caikit", "tgis"]),
            ("vllm-cuda-runtime-template", &["vllm"]),
            ("plover-vllm2", &[]),
            ("denim", &[]),
            ("any", &[]),
            ("", &[]),
        ] {
            assert_eq!(named(name), runtimes, "{name}");
        }
    }

    #[test]
    fn a_format_that_several_servers_load_names_none_beside_a_serving_runtime() {
        let text = |text: &str| -> Text { Found { value: text.to_owned(), at: Locator::scraped("/spec") } };
        let names = |format: &str, reference: &str| -> Vec<&'static str> {
            runtimes(Some(&text(format)), Some(&text(reference))).into_iter().map(|(runtime, _)| runtime).collect()
        };
        assert_eq!(names("onnx", "kserve-ovms"), ["openvino"]);
        assert_eq!(names("onnx", "plovers"), ["onnx"]);
        assert_eq!(names("tensorflow", "kserve-tensorflow-serving"), ["tensorflow-serving"]);
        assert_eq!(names("tensorflow", "plover-triton-24"), ["triton"]);
        assert_eq!(names("sklearn", "kserve-mlserver"), ["sklearn", "mlserver"]);
    }
}
