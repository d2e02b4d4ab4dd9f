//! Names whose literal values are secrets.

/// Words that make `…_KEY` a secret's name; the providers of hosted models among them name their keys so.
#[rustfmt::skip]
const BEFORE_KEY: &[&str] = &[
    "API", "ACCESS", "SECRET", "PRIVATE", "MASTER", "ENCRYPTION", "SIGNING", "ACCOUNT", "STORAGE", "SERVICE", "LICENSE", "AUTH", "CREDS",
    "SIG", "SERVER", "DAEMON", "SUBSCRIPTION", "ADMIN", "HMAC", "JWT", "SHARED", "SALT",
    "AI", "OPENAI", "AZURE", "FAL", "GOOGLE", "GEMINI", "ANTHROPIC", "CLAUDE", "COHERE", "MISTRAL", "GROQ", "TOGETHER", "REPLICATE", "HF",
    "HUGGINGFACE", "NGC", "NVIDIA", "PINECONE", "QDRANT", "WEAVIATE", "DEEPSEEK", "KAGGLE", "WANDB", "TAVILY", "SERPER", "SERPAPI", "EXA",
    "ELEVENLABS", "JINA", "FIREWORKS", "PERPLEXITY", "OPENROUTER", "XAI", "DASHSCOPE", "MOONSHOT", "ZHIPU", "ZHIPUAI", "DEEPGRAM",
    "ASSEMBLYAI", "LANGSMITH", "LANGFUSE", "LITELLM", "ADD",
];

/// Words that make `…_TOKEN` a piece of text for a model.
#[rustfmt::skip]
const TEXT_TOKENS: &[&str] = &[
    "EOS", "BOS", "PAD", "UNK", "MASK", "SEP", "CLS", "STOP", "START", "END", "BEGIN", "IMAGE", "AUDIO", "VIDEO", "SPECIAL", "THINK", "THINKING",
    "MAX", "MIN", "PER", "NEXT", "NEW", "LAST", "FIRST", "OUTPUT", "INPUT", "EACH",
];

/// Names without a telling last word.
const EXACT: &[&str] = &["AWS_BEARER_TOKEN_BEDROCK", "TOOL_SERVER_CONNECTIONS", "PLUGIN_SETTINGS", "MODEL_LOCK", "KUBECONFIG"];

/// Values of switches and modes, which are no secrets under any name but a password's.
#[rustfmt::skip]
const SWITCHES: &[&str] = &[
    "true", "false", "none", "null", "nil", "yes", "no", "on", "off", "auto", "required", "optional", "enabled", "disabled", "default",
    "token", "basic", "bearer",
];

/// Names longer than this are text.
const LONGEST: usize = 128;

/// The words of a name in upper case, joined by `_`: `camelCase`, `kebab-case`, `dotted.names` and `SNAKE_CASE` alike.
fn upper_snake(name: &str) -> String {
    let bytes = name.as_bytes();
    // A name in capitals has no more; a hump of camel case adds one.
    let mut words = String::with_capacity(bytes.len() + 4);
    for (i, byte) in bytes.iter().enumerate() {
        let before = i.checked_sub(1).map(|i| bytes[i]);
        let hump = byte.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase() || (before.is_ascii_uppercase() && bytes.get(i + 1).is_some_and(u8::is_ascii_lowercase))
            });
        if (hump || !byte.is_ascii_alphanumeric()) && !words.is_empty() && !words.ends_with('_') {
            words.push('_');
        }
        if byte.is_ascii_alphanumeric() {
            words.push(char::from(byte.to_ascii_uppercase()));
        }
    }
    words.truncate(words.trim_end_matches('_').len());
    words
}

/// See [`super::Redactor::is_secret_name`].
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.trim_start_matches('-');
    if name.is_empty() || name.len() > LONGEST {
        return false;
    }
    let joined = upper_snake(name);
    if joined.is_empty() {
        return false;
    }
    let words = || joined.split('_');
    let (before, last) = joined.rsplit_once('_').unwrap_or(("", &joined));
    let previous = before.rsplit('_').next().unwrap_or_default();
    let is_previous = |list: &[&str]| list.contains(&previous);
    // The last word decides about nearly every name, so it is asked first.
    let says_so = match last {
        // A server's TLS key is given as a path, or by another name.
        "KEY" => is_previous(BEFORE_KEY) && !words().any(|word| matches!(word, "TLS" | "SSL" | "HEADER")),
        "KEYS" => is_previous(&["API", "ALLOWED", "ACCESS"]),
        "TOKEN" => !is_previous(TEXT_TOKENS),
        "PAT" => !before.is_empty(),
        "JWT" | "SALT" | "DSN" | "PW" | "COOKIE" | "AUTHORIZATION" | "CREDENTIAL" | "CREDENTIALS" => true,
        // Kubernetes' camel-case fields hold the names of Secrets.
        "SECRET" | "SECRETS" => {
            !is_previous(&["FROM", "PULL"])
                && (is_previous(&["CLIENT", "APP", "API", "CONSUMER", "SHARED", "SIGNING", "SESSION"]) || !is_camel_case(name))
        }
        "PASS" => !before.is_empty() && !is_previous(&["BY", "FIRST", "SECOND", "SINGLE", "TWO", "ONE", "MULTI", "PER", "FORWARD"]),
        "PWD" => !before.is_empty() && !is_previous(&["OLD"]),
        "PIN" => is_previous(&["USER", "CODE", "DEVICE", "ACCESS", "LOGIN"]),
        "JSON" => is_previous(&["CREDENTIALS", "ACCOUNT"]),
        "BASE64" => is_previous(&["JSON", "CREDENTIALS", "KEY"]),
        "SEED" => is_previous(&["SESSION", "COOKIE", "ENCRYPTION", "SECRET"]),
        "IV" => is_previous(&["CREDS", "ENCRYPTION", "AES", "CIPHER"]),
        "STRING" => is_previous(&["CONNECTION"]),
        "AUTH" => is_previous(&["REDIS", "REDISCLI", "NEO4J", "BASIC", "HTTP", "PROXY", "REGISTRY", "DOCKER"]),
        "URL" => is_previous(&["WEBHOOK"]),
        "SIGNATURE" => is_previous(&["ACCESS"]),
        // `client-key-data` of a kubeconfig.
        "DATA" => is_previous(&["KEY"]),
        "HEADERS" => !before.is_empty() && !is_previous(&["ALLOW", "ALLOWED", "EXPOSE", "EXPOSED", "FORWARDED"]),
        word => {
            [
                "PASSWORD",
                "PASSWD",
                "PASSPHRASE",
                "APIKEY",
                "APIKEYS",
                "SECRETKEY",
                "ACCESSKEY",
                "PRIVATEKEY",
                "ACCOUNTKEY",
                "AUTHTOKEN",
                "ACCESSTOKEN",
                "IDENTITYTOKEN",
                "REGISTRYTOKEN",
                "REQUIREPASS",
                "MASTERAUTH",
            ]
            .iter()
            .any(|end| word.ends_with(end))
                || EXACT.contains(&joined.as_str())
        }
    };
    // Switches talk about secrets and hold none.
    let is_switch = || {
        words().any(|word| matches!(word, "ENABLE" | "ENABLED" | "DISABLE" | "DISABLED" | "TOKENIZER"))
            || words().next().is_some_and(|first| matches!(first, "NO" | "SKIP" | "HAS" | "IS" | "REQUIRE" | "MAX" | "NUM"))
    };
    says_so && !is_switch()
}

fn is_camel_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.contains(|c: char| c.is_ascii_uppercase()) && !name.contains(['_', '-'])
}

/// Whether the name is a password's: then nothing but a reference is taken for harmless.
pub(super) fn is_password(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["password", "passwd", "pass", "pwd", "passphrase"].iter().any(|end| lower.ends_with(end))
}

/// Whether a value under a secret's name is a literal that has to go. References, switches, small numbers and paths stay.
pub(super) fn is_literal(name: &str, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || is_reference(value) || value.starts_with("[REDACTED:") {
        return false;
    }
    if is_password(name) {
        return true;
    }
    let small_number = value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    !small_number && !SWITCHES.iter().any(|word| value.eq_ignore_ascii_case(word)) && !is_path(value)
}

/// Whether the text is one variable or template and nothing else.
fn is_reference(value: &str) -> bool {
    let inside = |open: &str, close: &str| {
        value
            .strip_prefix(open)
            .and_then(|rest| rest.strip_suffix(close))
            .is_some_and(|inner| !inner.contains(open) && !inner.contains(close))
    };
    inside("$(", ")")
        || inside("{{", "}}")
        || inside("<", ">")
        // A default inside braces may be a secret.
        || (inside("${", "}") && !value.contains(":-") && !value.contains('='))
        || value.strip_prefix('$').is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// Whether the text is a path. One in eight base64 keys of AWS holds a `/` and one in 64 starts with it, hence the second look.
fn is_path(value: &str) -> bool {
    if value.starts_with("./") || value.starts_with("../") || value.starts_with("~/") || value.starts_with("file:") {
        return true;
    }
    let Some(rest) = value.strip_prefix('/') else { return false };
    let mixed = rest.bytes().any(|byte| byte.is_ascii_uppercase())
        && rest.bytes().any(|byte| byte.is_ascii_lowercase())
        && rest.bytes().any(|byte| byte.is_ascii_digit());
    !mixed || rest.matches('/').count() > 1 || rest.contains('.')
}
