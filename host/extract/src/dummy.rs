//! Words that stand where a key should.

/// Whole values, in lower case.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "", "empty", "none", "null", "nil", "na", "n/a", "-", "x", "dummy", "fake", "test", "placeholder", "not-used", "not_used", "notused", "unused",
    "not-needed", "not_needed", "notneeded", "not-required", "no-key", "no_key", "nokey", "no-key-required", "no-key-needed", "sk-no-key-required",
    "sk-1234", "sk-12345", "sk-dummy", "sk-fake", "sk-test", "sk-empty", "sk-none", "sk-placeholder", "sk-not-needed", "sk-no-key", "lm-studio", "ollama", "vllm",
    "local", "localai", "changeme", "change-me", "change_me", "secret", "key", "api-key", "api_key", "apikey", "token", "token-abc123", "false", "true", "0",
    "undefined", "unset", "todo", "xxx",
];

/// Beginnings of texts that somebody should have replaced.
const BEGINNINGS: &[&str] = &[
    "your-",
    "your_",
    "your ",
    "<",
    "replace",
    "todo",
    "insert",
    "put-your",
    "sk-your",
    "sk-xxx",
    "sk-...",
    "changeme",
    "change-me",
    "dummy-",
    "fake-",
    "placeholder",
];

/// Whether a value stands for no key: empty, a word that says so, or a template that nobody filled in.
pub(crate) fn is_dummy(value: &str) -> bool {
    let value = value.trim().trim_matches(['"', '\'']).trim().to_ascii_lowercase();
    let repeated = |mark: char| !value.is_empty() && value.chars().all(|c| c == mark);
    let between = |mark: char| value.len() > 2 && value.starts_with(mark) && value.ends_with(mark);
    WORDS.contains(&value.as_str())
        || BEGINNINGS.iter().any(|start| value.starts_with(start))
        || repeated('x')
        || repeated('*')
        || repeated('.')
        || between('%')
        || between('@')
        || value.contains("{{")
        || value.contains("${")
        || value.starts_with('$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_place_of_a_key_is_told_from_a_key() {
        for value in [
            "",
            "EMPTY",
            "'none'",
            " N/A ",
            "sk-xxxxxxxx",
            "XXXX",
            "lm-studio",
            "${KEY}",
            "{{ .Values.key }}",
            "<key>",
            "YOUR_API_KEY",
            "%KEY%",
            "****",
        ] {
            assert!(is_dummy(value), "{value}");
        }
        for value in ["user_provided", "sk-a8f3b2c1d4e5f6a7b8c9", "0f3a9c", "tokens-of-my-own"] {
            assert!(!is_dummy(value), "{value}");
        }
    }
}
