//! Made-up secrets of every shape. For tests of this crate and, by `#[path]`, of others.

/// A run of characters like those that issuers draw, different for each prefix.
pub(crate) fn body(length: usize, alphabet: &str) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    (0..length).map(|i| alphabet[(i * 7 + 3) % alphabet.len()]).collect()
}

pub(crate) const ALNUM: &str = "abcdefghijkLMNOPQRSTUVwxyz0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Prefixes with the length and the alphabet of what follows.
#[rustfmt::skip]
const PREFIXES: &[(&str, usize, &str)] = &[
    ("hf_", 34, ALNUM), ("api_org_", 34, ALNUM), ("nvapi-", 64, ALNUM), ("sk-", 48, ALNUM), ("sk-", 32, HEX), ("sk-proj-", 60, ALNUM),
    ("sk-svcacct-", 60, ALNUM), ("sk-service-", 60, ALNUM), ("sk-admin-", 60, ALNUM), ("sk-None-", 60, ALNUM), ("sk-ant-api03-", 93, ALNUM),
    ("sk-ant-admin01-", 93, ALNUM), ("sk-or-v1-", 64, HEX), ("sk-lf-", 36, HEX), ("pk-lf-", 36, HEX), ("sk_", 48, HEX), ("sk_live_", 24, ALNUM),
    ("rk_test_", 24, ALNUM), ("gsk_", 52, ALNUM), ("xai-", 80, ALNUM), ("pplx-", 48, ALNUM), ("r8_", 37, ALNUM), ("tvly-", 32, ALNUM),
    ("lsv2_pt_", 43, HEX), ("lsv2_sk_", 43, HEX), ("ls__", 32, ALNUM), ("pcsk_", 69, ALNUM), ("csk-", 48, ALNUM), ("jina_", 64, ALNUM),
    ("tgp_v1_", 43, ALNUM), ("e2b_", 40, HEX), ("rpa_", 40, ALNUM), ("bfl-", 36, ALNUM), ("wandb_v1_", 60, ALNUM), ("AIza", 35, ALNUM),
    ("ya29.", 60, ALNUM), ("GOCSPX-", 28, ALNUM), ("1//", 60, ALNUM), ("AKIA", 16, UPPER), ("ASIA", 16, UPPER), ("ABIA", 16, UPPER),
    ("ACCA", 16, UPPER), ("A3TX", 16, UPPER), ("ABSK", 120, ALNUM), ("bedrock-api-key-", 60, ALNUM), ("LTAI", 20, ALNUM),
    ("dop_v1_", 64, HEX), ("doo_v1_", 64, HEX), ("dor_v1_", 64, HEX), ("dapi", 32, HEX), ("cfut_", 48, ALNUM), ("cfat_", 48, ALNUM),
    ("ghp_", 36, ALNUM), ("gho_", 36, ALNUM), ("ghu_", 36, ALNUM), ("ghs_", 36, ALNUM), ("ghr_", 36, ALNUM), ("github_pat_", 82, ALNUM),
    ("glpat-", 20, ALNUM), ("gldt-", 20, ALNUM), ("glrt-", 20, ALNUM), ("glcbt-", 20, ALNUM), ("glptt-", 40, ALNUM), ("gloas-", 64, ALNUM),
    ("glsoat-", 20, ALNUM), ("glagent-", 50, ALNUM), ("glft-", 20, ALNUM), ("glimt-", 25, ALNUM), ("glffct-", 20, ALNUM), ("npm_", 36, ALNUM),
    ("pypi-AgEIcHlwaS5vcmc", 60, ALNUM), ("dckr_pat_", 27, ALNUM), ("dckr_oat_", 32, ALNUM), ("rubygems_", 48, HEX), ("AKCp", 69, ALNUM),
    ("cmVmd", 59, ALNUM), ("xoxa-", 40, ALNUM), ("xoxb-", 40, ALNUM), ("xoxe-", 40, ALNUM), ("xoxo-", 40, ALNUM), ("xoxp-", 40, ALNUM),
    ("xoxr-", 40, ALNUM), ("xoxs-", 40, ALNUM), ("xapp-", 40, ALNUM), ("hvs.", 24, ALNUM), ("hvb.", 24, ALNUM), ("sha256~", 43, ALNUM),
    ("glsa_", 41, ALNUM), ("glc_", 60, ALNUM), ("SG.", 66, ALNUM), ("lin_api_", 40, ALNUM), ("ntn_", 46, ALNUM), ("ops_eyJ", 80, ALNUM),
    ("dp.pt.", 43, ALNUM), ("fo1_", 43, ALNUM), ("fm2_", 80, ALNUM), ("pul-", 40, HEX), ("AGE-SECRET-KEY-1", 58, UPPER),
    ("eyJhdXRocyI6", 40, ALNUM), ("ewogICJhdXRocyI", 40, ALNUM), ("ewoJImF1dGhzIi", 40, ALNUM), ("eyJ0eXBlIjoi", 40, ALNUM),
    ("ewogICJ0eXBlIjog", 40, ALNUM), ("YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmln", 40, ALNUM),
];

/// One token of each issuer.
pub(crate) fn tokens() -> Vec<String> {
    let mut tokens: Vec<String> =
        PREFIXES.iter().map(|(prefix, length, alphabet)| format!("{prefix}{}", body(*length, alphabet))).collect();
    for header in ["eyJ", "ewog"] {
        tokens.push(format!("{header}{}.{header}{}.{}", body(20, ALNUM), body(40, ALNUM), body(43, ALNUM)));
    }
    tokens.push(format!("abc8Q~{}", body(34, ALNUM)));
    tokens.push(format!("+{}==", body(85, ALNUM)));
    tokens.push(format!("{}+ACR{}", body(42, ALNUM), body(6, ALNUM)));
    tokens.push(format!("123456789:A{}", body(34, ALNUM)));
    tokens
}

/// Texts with a secret that only its surroundings tell, with the secret.
pub(crate) fn in_context() -> Vec<(String, String)> {
    let secret = "q7Wagtail2Plum9Sorrel4Flint".to_owned();
    #[rustfmt::skip]
    let contexts = [
        "--api-key=@", "--hf-token @", "-e HF_TOKEN=@", "OPENAI_API_KEY=@", "export WANDB_API_KEY='@'", "Authorization: Bearer @",
        "{\"api_key\": \"@\"}", "password: @", "https://reader:@@hub.example/acme/model", "s3://reader:@@bucket/acme/model",
        "postgres://app:@@db.example:5432/app", "https://store.example/acme/w.gguf?X-Amz-Signature=@", "https://store.example/w?sig=@&se=1",
        "https://hooks.slack.com/services/T000/B000/@", "curl -u reader:@ https://hub.example/acme/model", "redis-cli -a @ ping",
        "reader:@@registry.example/acme/server:1", "Server=db.example;Uid=app;Pwd=@;", "AccountName=acme;AccountKey=@;",
        "-----BEGIN PRIVATE KEY-----\n@\n-----END PRIVATE KEY-----\n", "acme/model?token=@", "pip install --password @ acme",
    ];
    // The last `@` of two in a row belongs to the URL.
    contexts.iter().map(|context| (context.replacen('@', &secret, 1), secret.clone())).collect()
}

/// Names that make a secret of any value.
pub(crate) const NAMES: &[&str] =
    &["DB_PASSWORD", "HF_TOKEN", "api_key", "--api-key", "--hf-token", "clientSecret", "OPENAI_API_KEY", "access-token", "password"];
