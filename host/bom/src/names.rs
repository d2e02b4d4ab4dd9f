//! Names of properties. Inside, all are written with dots; on the way out they are spelled as the options say.

use std::borrow::Cow;

use crate::PropertyNames;

/// Namespace of the colon form.
const NAMESPACE: &str = "k8s-aibom";

/// Prefix of facts that are settings of a model; the rest is the setting's name.
pub(crate) const PARAMETER: &str = "aibom.parameter.";

/// Settings that the CycloneDX property taxonomy names under `cdx:ai-ml:model:hyperparameter`.
const TAXONOMY: [&str; 16] = [
    "activation_dropout",
    "context_length",
    "d_model",
    "hidden_act",
    "hidden_size",
    "intermediate_size",
    "layer_norm_epsilon",
    "layer_norm_type",
    "max_position_embeddings",
    "num_attention_heads",
    "num_hidden_layers",
    "num_key_value_heads",
    "num_layers",
    "quantization",
    "tokenizer_class",
    "vocab_size",
];

/// A name without the parts in which the two spellings differ, so that what is equal in one of them is equal here.
fn bare(name: &str) -> Cow<'_, str> {
    let rest = name.strip_prefix("aibom.").or_else(|| name.strip_prefix("k8s-aibom:")).unwrap_or(name);
    if rest.contains(':') { Cow::Owned(rest.replace(':', ".")) } else { Cow::Borrowed(rest) }
}

/// Names that only the renderer writes on components and services, in either spelling. Facts of the same name are left out, so that a
/// scraper cannot speak in the host's name.
pub(crate) fn is_own(name: &str) -> bool {
    matches!(
        &*bare(name),
        "confidence"
            | "conflict"
            | "evidence.locator"
            | "evidence.source"
            | "link.omitted"
            | "model.role"
            | "redaction.applied"
            | "truncation.applied"
    )
}

/// The same for the workload.
pub(crate) fn is_own_on_root(name: &str) -> bool {
    let bare = bare(name);
    is_own(name)
        || matches!(&*bare, "cluster.uid" | "problem" | "related.object" | "source")
        || bare.starts_with("rollup.")
        || bare.starts_with("workload.")
        || bare.starts_with("unresolved.")
}

/// The taxonomy's name of a setting, or its own dotted name when the taxonomy has none.
pub(crate) fn hyperparameter(dotted: &str) -> Option<String> {
    let name = dotted.strip_prefix(PARAMETER)?;
    let folded = name.replace('-', "_").to_ascii_lowercase();
    Some(match TAXONOMY.binary_search(&folded.as_str()) {
        Ok(_) => format!("cdx:ai-ml:model:hyperparameter:{folded}"),
        Err(_) => dotted.to_owned(),
    })
}

/// Spells a name. Names with a colon are somebody else's and stay.
pub(crate) fn spell(dotted: Cow<'_, str>, form: PropertyNames) -> String {
    if form == PropertyNames::Dotted || dotted.contains(':') {
        return dotted.into_owned();
    }
    let path = dotted.strip_prefix("aibom.").unwrap_or(&dotted);
    let path = match path.strip_prefix("signature.") {
        Some(rest) => format!("security.signing.{rest}"),
        None => path.to_owned(),
    };
    format!("{NAMESPACE}:{}", path.replace('.', ":"))
}

/// A word that may stand in a property name: letters, digits and dashes; everything else becomes a dash.
pub(crate) fn word(text: &str) -> String {
    let word: String = text.chars().take(64).map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    if word.is_empty() { "fact".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_taxonomy_is_sorted_for_searching() {
        assert!(TAXONOMY.is_sorted());
    }

    #[test]
    fn settings_of_the_taxonomy_get_its_name_and_others_keep_theirs() {
        assert_eq!(hyperparameter("aibom.parameter.context-length").as_deref(), Some("cdx:ai-ml:model:hyperparameter:context_length"));
        assert_eq!(hyperparameter("aibom.parameter.quantization").as_deref(), Some("cdx:ai-ml:model:hyperparameter:quantization"));
        assert_eq!(hyperparameter("aibom.parameter.tensor-parallel-size").as_deref(), Some("aibom.parameter.tensor-parallel-size"));
        assert_eq!(hyperparameter("image.tag"), None);
    }

    #[test]
    fn the_hosts_names_are_its_own_in_every_spelling() {
        for name in ["aibom.confidence", "confidence", "k8s-aibom:confidence", "k8s-aibom:model:role", "model.role", "model:role"] {
            assert!(is_own(name) && is_own_on_root(name), "{name}");
        }
        for name in ["workload.uid", "k8s-aibom:workload:uid", "aibom.workload.uid", "source", "k8s-aibom:unresolved:model"] {
            assert!(is_own_on_root(name) && !is_own(name), "{name}");
        }
        for name in ["model.form", "identity.confidence", "aibom.parameter.dtype", "cdx:ai-ml:model:confidence", "acme.role.name"] {
            assert!(!is_own(name) && !is_own_on_root(name), "{name}");
        }
    }

    #[test]
    fn the_colon_form_follows_the_rename_map() {
        for (dotted, colon) in [
            ("aibom.workload.kind", "k8s-aibom:workload:kind"),
            ("aibom.confidence", "k8s-aibom:confidence"),
            ("aibom.evidence.source", "k8s-aibom:evidence:source"),
            ("aibom.scrape.0.method", "k8s-aibom:scrape:0:method"),
            ("aibom.redaction.applied", "k8s-aibom:redaction:applied"),
            ("image.reference", "k8s-aibom:image:reference"),
            ("model.revision", "k8s-aibom:model:revision"),
            ("signature.status", "k8s-aibom:security:signing:status"),
            ("cdx:ai-ml:model:hyperparameter:quantization", "cdx:ai-ml:model:hyperparameter:quantization"),
        ] {
            assert_eq!(spell(dotted.into(), PropertyNames::Colon), colon);
            assert_eq!(spell(dotted.into(), PropertyNames::Dotted), dotted);
        }
    }
}
