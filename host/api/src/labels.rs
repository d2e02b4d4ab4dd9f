//! Labels of AIBOM objects, for selection: `kubectl get aibom -A -l aibom.k8saibom.dev/runtime=vllm`.
//!
//! | Label | Value |
//! |---|---|
//! | [`CATEGORY`] | what the workload does, the first category |
//! | [`RUNTIME`] | the first runtime |
//! | [`CONFIDENCE`] | confidence of the document |
//! | `models.aibom.k8saibom.dev/<hash>` | one for each model, see [`model_key`]; the value is the model as far as a label can hold it |
//! | [`MODELS_CUT`] | `true` when there are more than [`MAX_MODELS`] models, so that a selection by model may miss this object |
//!
//! Everything here is visible to whoever may list AIBOMs, so the texts must have gone through redaction before.

use std::collections::BTreeMap;

use crate::text::{beginning, is_label_value, short_hash};

/// Label with the category of the workload.
pub const CATEGORY: &str = "aibom.k8saibom.dev/category";

/// Label with the runtime.
pub const RUNTIME: &str = "aibom.k8saibom.dev/runtime";

/// Label with the confidence of the document.
pub const CONFIDENCE: &str = "aibom.k8saibom.dev/confidence";

/// Label that says that not every model has a label.
pub const MODELS_CUT: &str = "aibom.k8saibom.dev/models-cut";

/// What stands before the hash in the key of a model's label.
pub const MODEL_PREFIX: &str = "models.aibom.k8saibom.dev/";

/// Labels for models of one object, at most.
pub const MAX_MODELS: usize = 64;

/// Longest value of a label.
const MAX_VALUE: usize = 63;

/// What labels are made of.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// First category.
    pub category: Option<&'a str>,
    /// Name of the first runtime.
    pub runtime: Option<&'a str>,
    /// Confidence of the document.
    pub confidence: Option<&'a str>,
    /// Identities of the models as `status.summary.models[].identity` has them, in any order.
    pub models: Vec<&'a str>,
}

/// The labels of an AIBOM. Equal facts give equal labels, in whatever order the models stand. Keys that are not in the result and for which
/// [`is_ours`] holds are to be taken away from the object; all others belong to somebody else.
pub fn labels(facts: &Facts<'_>) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (key, text) in [(CATEGORY, facts.category), (RUNTIME, facts.runtime), (CONFIDENCE, facts.confidence)] {
        if let Some(value) = text.and_then(label_value) {
            labels.insert(key.to_owned(), value);
        }
    }
    let models: BTreeMap<String, &str> =
        facts.models.iter().filter(|model| !model.trim().is_empty()).map(|model| (model_key(model), *model)).collect();
    if models.len() > MAX_MODELS {
        labels.insert(MODELS_CUT.to_owned(), "true".to_owned());
    }
    for (key, model) in models.into_iter().take(MAX_MODELS) {
        labels.insert(key, label_value(model).unwrap_or_default());
    }
    labels
}

/// Key of the label of a model: a prefix and the first 16 hexadecimal digits of the SHA-256 of its identity, without white space around
/// it. Names of models are longer than labels may be and have characters that labels may not have.
///
/// ```
/// # use aibom_api::labels::model_key;
/// // kubectl get aibom -A -l models.aibom.k8saibom.dev/$(printf %s acme/quill-7b | sha256sum | cut -c1-16)
/// assert!(model_key("acme/quill-7b").starts_with("models.aibom.k8saibom.dev/"));
/// ```
pub fn model_key(identity: &str) -> String {
    format!("{MODEL_PREFIX}{}", short_hash(identity.trim(), 16))
}

/// Whether a label is one that [`labels`] makes.
pub fn is_ours(key: &str) -> bool {
    [CATEGORY, RUNTIME, CONFIDENCE, MODELS_CUT].contains(&key) || key.starts_with(MODEL_PREFIX)
}

/// A text as a valid value of a label, and none for a text without a letter or digit of ASCII.
///
/// Characters that a label may not have become hyphens. A text that is too long keeps its first 50 characters, and 12 digits of its
/// hash follow, so that long texts that begin alike stay apart.
pub fn label_value(text: &str) -> Option<String> {
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    if is_label_value(text) {
        return Some(text.to_owned());
    }
    let replaced: String = text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }).collect();
    let trimmed = replaced.trim_matches(['-', '_', '.']);
    let value = if trimmed.len() > MAX_VALUE {
        let start = beginning(trimmed, MAX_VALUE - 13).trim_end_matches(['-', '_', '.']);
        format!("{start}-{}", short_hash(text, 12))
    } else {
        trimmed.to_owned()
    };
    (!value.is_empty()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::is_label_key;

    #[test]
    fn a_text_becomes_a_valid_value() {
        let cases = [
            ("vllm", "vllm"),
            ("  tensorrt-llm ", "tensorrt-llm"),
            ("acme/quill-7b", "acme-quill-7b"),
            ("oci://registry.example.com:5000/quill:v1", "oci---registry.example.com-5000-quill-v1"),
            ("/models/quill/", "models-quill"),
            ("_x_", "x"),
            ("modèle", "mod-le"),
            ("v1.2_3", "v1.2_3"),
        ];
        for (text, expected) in cases {
            let value = label_value(text).unwrap();
            assert_eq!(value, expected);
            assert!(is_label_value(&value), "{value}");
        }
        for nothing in ["", "  ", "///", "-._", "模型"] {
            assert_eq!(label_value(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn long_texts_that_begin_alike_have_values_of_their_own() {
        let one = label_value(&format!("acme/{}1", "x".repeat(80))).unwrap();
        let two = label_value(&format!("acme/{}2", "x".repeat(80))).unwrap();
        assert_ne!(one, two);
        assert!(one.len() == 63 && is_label_value(&one), "{one}");
        let dots = label_value(&format!("{}{}", "a".repeat(40), "/".repeat(40).as_str().to_owned() + "b")).unwrap();
        assert!(is_label_value(&dots), "{dots}");
    }

    #[test]
    fn facts_become_labels_whatever_the_order_of_the_models() {
        let facts = Facts {
            category: Some("inference"),
            runtime: Some("vllm"),
            confidence: Some("declared"),
            models: vec!["acme/quill-7b", "acme/pen", "acme/pen"],
        };
        let made = labels(&facts);
        assert_eq!(made[CATEGORY], "inference");
        assert_eq!(made[RUNTIME], "vllm");
        assert_eq!(made[CONFIDENCE], "declared");
        assert_eq!(made[&model_key("acme/pen")], "acme-pen");
        assert_eq!(made.len(), 5);
        assert!(made.keys().all(|key| is_label_key(key) && is_ours(key)), "{made:?}");
        let reversed = Facts { models: facts.models.iter().rev().copied().collect(), ..facts.clone() };
        assert_eq!(labels(&reversed), made);
        assert!(!is_ours("app.kubernetes.io/name") && !is_ours("aibom.k8saibom.dev/enabled"));
    }

    #[test]
    fn a_model_whose_name_fits_no_label_is_still_selected_by_its_hash() {
        let made = labels(&Facts { models: vec!["模型", " "], ..Facts::default() });
        assert_eq!(made, BTreeMap::from([(model_key("模型"), String::new())]));
    }

    #[test]
    fn more_models_than_labels_are_said_to_be_more() {
        let names: Vec<String> = (0..=MAX_MODELS).map(|number| format!("acme/m{number}")).collect();
        let made = labels(&Facts { models: names.iter().map(String::as_str).collect(), ..Facts::default() });
        assert_eq!(made[MODELS_CUT], "true");
        assert_eq!(made.len(), MAX_MODELS + 1);
    }

    #[test]
    fn the_key_of_a_model_can_be_computed_in_a_shell() {
        assert_eq!(model_key(" acme/quill-7b\n"), "models.aibom.k8saibom.dev/4a6a7192738092a0");
    }
}
