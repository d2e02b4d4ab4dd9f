//! Model references as manifests write them.
//!
//! One text names a model in one of four forms ([`ModelReference`]); around the name it may carry a revision, a file or a scheme, which
//! [`ParsedModel`] keeps apart, so that `hf://owner/name:rev`, `https://huggingface.co/owner/name` and `owner/name` are one model. What
//! names nothing, such as `${MODEL}` or `<model>`, is [`NotAModel`] with the reason. The form is read from the text alone: whoever knows
//! more (that a folder is filled by the same pod, that a catalogue is NVIDIA's) decides first and may call
//! [`ModelReference::catalogue_name`].

use serde::{Deserialize, Serialize};

use crate::redact::strip_uri;

/// What names a model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ModelReference {
    /// A repository on the Hugging Face hub, `owner/name`.
    Hub {
        /// Owner.
        owner: String,
        /// Repository name.
        name: String,
    },
    /// A location with a scheme other than the hub's, without user, password and signature.
    Uri(String),
    /// A path in a file system, as written.
    Path(String),
    /// A name in another catalogue, or one without owner: `gpt2`, `llama3:8b`, an NGC name.
    Name(String),
}

/// A reference with what was written around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedModel {
    /// What names the model.
    pub reference: ModelReference,
    /// Commit, branch or tag.
    pub revision: Option<String>,
    /// The URI as written (but for credentials) when the id was taken out of it.
    pub source: Option<String>,
    /// A file in the repository, or a quantization tag that selects one: `Q4_K_M/model.gguf`, `Q4_K_M`.
    pub file: Option<String>,
}

/// Why a text names no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum NotAModel {
    /// Nothing there.
    #[error("empty")]
    Empty,
    /// Over [`MAX_MODEL`] bytes.
    #[error("longer than 1,024 bytes")]
    TooLong,
    /// Control characters.
    #[error("control characters")]
    Control,
    /// A variable or template that nothing has expanded: `$(MODEL)`, `${MODEL}`, `$MODEL`, `{{ .Values.model }}`.
    #[error("an unexpanded variable or template")]
    Unexpanded,
    /// A text that somebody should have replaced: `<model>`, `YOUR-MODEL`, `MODEL_PATH`.
    #[error("a placeholder")]
    Placeholder,
    /// A word that says that there is none: `none`, `null`.
    #[error("a word that stands for no model")]
    Nothing,
    /// A container image.
    #[error("a container image")]
    Image,
    /// An option, a number, JSON or other text that no catalogue takes for a name.
    #[error("not the form of a model name")]
    Form,
}

/// Longest text that is read, in bytes. A path has no more than four times as many, and those are not models.
pub const MAX_MODEL: usize = 1024;

/// Hosts under which the hub is known.
const HUB_HOSTS: [&str; 4] = ["huggingface.co", "www.huggingface.co", "hf.co", "hf-mirror.com"];
/// Schemes of the hub, with the prefixes that libraries use instead of one.
const HUB_SCHEMES: [&str; 6] = ["hf://", "huggingface://", "hf-hub:", "hf_hub:", "hf:", "huggingface:"];
/// First segments that are pages of the hub, so that no owner has the name; usual folders among them.
const HUB_PAGES: [&str; 12] =
    ["models", "datasets", "spaces", "docs", "api", "blog", "papers", "collections", "tasks", "settings", "organizations", "buckets"];
/// Endings of files with weights or configurations.
#[rustfmt::skip]
const FILES: [&str; 25] = [
    ".gguf", ".ggml", ".bin", ".safetensors", ".pt", ".pth", ".ckpt", ".onnx", ".engine", ".plan", ".llamafile", ".pkl", ".joblib", ".h5",
    ".keras", ".tflite", ".tar", ".tgz", ".gz", ".zip", ".json", ".yaml", ".yml", ".nemo", ".mar",
];

impl ModelReference {
    /// Reads a reference. Blanks around it are dropped, else the id keeps its spelling.
    ///
    /// # Errors
    /// [`NotAModel`], when the text cannot name one.
    pub fn parse(text: &str) -> Result<ParsedModel, NotAModel> {
        let text = text.trim();
        check_text(text)?;
        check_placeholder(text)?;
        for scheme in HUB_SCHEMES {
            if let Some(rest) = strip_prefix_ignoring_case(text, scheme) {
                return match hub(rest, Punctuation::Uri) {
                    Some(parsed) => Ok(ParsedModel { source: Some(text.to_owned()), ..parsed }),
                    // A data set, a bucket, a file of a legacy model without owner.
                    None if scheme.ends_with("//") => Ok(plain(Self::Uri(strip_uri(text).into_owned()))),
                    None => Err(NotAModel::Form),
                };
            }
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return uri(text, scheme, rest);
        }
        if let Some(rest) = HUB_HOSTS.iter().find_map(|host| text.strip_prefix(host)?.strip_prefix('/')) {
            return hub(rest, Punctuation::Web)
                .map(|parsed| ParsedModel { source: Some(text.to_owned()), ..parsed })
                .ok_or(NotAModel::Form);
        }
        if let Some(parsed) = cached(text) {
            return Ok(parsed);
        }
        if text.starts_with(['/', '.', '~']) {
            return Ok(plain(Self::Path(text.to_owned())));
        }
        if text.starts_with('-') || text.contains(|c: char| c.is_whitespace() || "\"'`{}[]|;,=*?!&\\".contains(c)) {
            return Err(NotAModel::Form);
        }
        if text.contains('/') {
            return if is_image(text) { Err(NotAModel::Image) } else { Ok(relative(text)) };
        }
        if is_file(text) {
            return Ok(plain(Self::Path(text.to_owned())));
        }
        let fits = text.starts_with(char::is_alphanumeric) && text.chars().all(|c| c.is_alphanumeric() || "._:+@-()".contains(c));
        if !fits || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(NotAModel::Form);
        }
        Ok(plain(Self::Name(text.to_owned())))
    }

    /// A name in a catalogue that the context tells, such as `org/team/name` on NGC: taken as it is.
    ///
    /// # Errors
    /// Empty, over-long, control characters; placeholders too, which are none in any catalogue.
    pub fn catalogue_name(text: &str) -> Result<Self, NotAModel> {
        let text = text.trim();
        check_text(text)?;
        check_placeholder(text)?;
        Ok(Self::Name(text.to_owned()))
    }

    /// The identity as text.
    pub fn id(&self) -> String {
        match self {
            Self::Hub { owner, name } => format!("{owner}/{name}"),
            Self::Uri(text) | Self::Path(text) | Self::Name(text) => text.clone(),
        }
    }

    /// `hub`, `uri`, `path` or `name`.
    pub fn form(&self) -> &'static str {
        match self {
            Self::Hub { .. } => "hub",
            Self::Uri(_) => "uri",
            Self::Path(_) => "path",
            Self::Name(_) => "name",
        }
    }
}

fn plain(reference: ModelReference) -> ParsedModel {
    ParsedModel { reference, revision: None, source: None, file: None }
}

fn check_text(text: &str) -> Result<(), NotAModel> {
    if text.is_empty() {
        Err(NotAModel::Empty)
    } else if text.len() > MAX_MODEL {
        Err(NotAModel::TooLong)
    } else if text.chars().any(char::is_control) {
        Err(NotAModel::Control)
    } else {
        Ok(())
    }
}

/// Looks for what somebody should have expanded, replaced or set; anywhere in the text, for a path with a hole in it is no path.
fn check_placeholder(text: &str) -> Result<(), NotAModel> {
    if text.contains("{{") || text.contains("}}") || dollar_variable(text) {
        return Err(NotAModel::Unexpanded);
    }
    let angle = text.find('<').is_some_and(|open| text[open..].contains('>'));
    let between = |mark: char| text.len() > 2 && text.starts_with(mark) && text.ends_with(mark);
    if angle || between('%') || between('@') {
        return Err(NotAModel::Placeholder);
    }
    // `.../YOUR_MODEL`, `your-org/your-model`, `REPLACE_ME`, `__MODEL__`
    for segment in text.split(['/', ':']) {
        let lower = segment.to_ascii_lowercase();
        let word = |word: &str| {
            lower == word || ["-", "_"].iter().any(|joint| lower.strip_prefix(word).is_some_and(|rest| rest.starts_with(joint)))
        };
        if ["your", "replace", "placeholder", "changeme", "todo", "fixme", "tbd", "insert"].iter().any(|known| word(known))
            || lower == "replaced-by-kustomize"
            || lower == "change-me"
            || lower == "change_me"
            || (segment.len() > 4 && segment.starts_with("__") && segment.ends_with("__"))
            || (lower.len() > 2 && lower.bytes().all(|byte| byte == b'x'))
            || is_variable_name(segment)
        {
            return Err(NotAModel::Placeholder);
        }
    }
    // What manuals write where the reader has a name of his own.
    if ["foo", "foo/bar", "org/model", "org/model-id", "model-name", "model_name"].iter().any(|known| text.eq_ignore_ascii_case(known))
        || text.split_once("path/to/").is_some_and(|(before, _)| before.is_empty() || before.ends_with('/'))
    {
        return Err(NotAModel::Placeholder);
    }
    if ["none", "null", "nil", "n/a", "na", "-", "empty", "undefined", "unset", "true", "false", "auto", "default"]
        .iter()
        .any(|word| text.eq_ignore_ascii_case(word))
    {
        return Err(NotAModel::Nothing);
    }
    Ok(())
}

/// `$(X)`, `${X}`, `$X`; a price is none.
fn dollar_variable(text: &str) -> bool {
    text.match_indices('$').any(|(at, _)| text[at + 1..].starts_with(|c: char| c == '(' || c == '{' || c == '_' || c.is_ascii_alphabetic()))
}

/// An upper-case name with the words of a model's variable, such as `MODEL_PATH` or `V_MODEL_NAME`.
fn is_variable_name(text: &str) -> bool {
    text.contains('_')
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && text.split('_').any(|word| matches!(word, "MODEL" | "CHECKPOINT" | "CKPT"))
        && text.split('_').any(|word| matches!(word, "PATH" | "NAME" | "ID" | "DIR" | "URI" | "URL" | "HERE" | "FILE" | "REPO"))
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

fn uri(text: &str, scheme: &str, rest: &str) -> Result<ParsedModel, NotAModel> {
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-'));
    if !is_scheme || rest.is_empty() || text.contains(char::is_whitespace) {
        return Err(NotAModel::Form);
    }
    let stripped = strip_uri(text);
    if scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http") {
        let rest = stripped.split_once("://").map_or("", |(_, rest)| rest);
        if is_endpoint(rest) {
            return Err(NotAModel::Form);
        }
        if let Some((host, path)) = rest.split_once('/')
            && HUB_HOSTS.iter().any(|hub| host.eq_ignore_ascii_case(hub))
            && let Some(parsed) = hub(path.split(['?', '#']).next().unwrap_or_default(), Punctuation::Web)
        {
            return Ok(ParsedModel { source: Some(stripped.into_owned()), ..parsed });
        }
    }
    Ok(plain(ModelReference::Uri(stripped.into_owned())))
}

/// Whether what stands behind `http://` is the address of a server rather than of a file: a machine without a path, the path of an API,
/// or anything on the machine itself.
fn is_endpoint(rest: &str) -> bool {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = match authority.strip_prefix('[') {
        Some(address) => address.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    let own = host.eq_ignore_ascii_case("localhost") || host.starts_with("127.") || matches!(host, "0.0.0.0" | "::1");
    let path = path.trim_end_matches('/');
    // Catalogues that hand out files by an interface.
    let catalogue = [("api.ngc.nvidia.com", "v2/models/"), ("civitai.com", "api/download/models/")];
    if catalogue.iter().any(|(known, start)| host.eq_ignore_ascii_case(known) && path.starts_with(start)) {
        return false;
    }
    let api = |name: &&str| path.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    own || path.is_empty() || ["v1", "v2", "api"].iter().any(api)
}

/// Whether a text with a slash is the reference of a container image: it has a tag that only images have, or a registry and a tag.
fn is_image(text: &str) -> bool {
    let last = text.rfind('/').map_or(0, |slash| slash + 1);
    let Some((_, tag)) = text[last..].split_once(':').filter(|(name, _)| !name.to_ascii_lowercase().contains("gguf")) else { return false };
    let number = tag.strip_prefix('v').unwrap_or(tag);
    let version =
        number.starts_with(|c: char| c.is_ascii_digit()) && number.contains('.') && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let registry = text.split('/').next().is_some_and(|host| host.contains('.') && !host.contains("ollama") && !host.starts_with('.'));
    tag == "latest" || version || registry
}

/// What may follow `owner/name`.
#[derive(Clone, Copy, PartialEq)]
enum Punctuation {
    /// `:rev` or `@rev`, and a path to a file.
    Uri,
    /// `/tree/rev`, `/blob/rev/file`, `/resolve/rev/file`, and `:QUANT` or `:rev` as command lines append it.
    Web,
}

/// Reads what stands after the hub's scheme or host.
fn hub(text: &str, punctuation: Punctuation) -> Option<ParsedModel> {
    let text = text.trim_end_matches('/');
    let (owner, rest) = text.split_once('/')?;
    let (repository, path) = match rest.split_once('/') {
        Some((repository, path)) => (repository, Some(path)),
        None => (rest, None),
    };
    let (name, suffix) = match repository.find(['@', ':']) {
        Some(at) => (&repository[..at], Some(&repository[at + 1..])),
        None => (repository, None),
    };
    if HUB_PAGES.contains(&owner) || !is_hub_part(owner) || !is_hub_part(name) {
        return None;
    }
    let mut parsed = plain(ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() });
    if let Some(suffix) = suffix {
        // A file may follow, for only references of the hub's own hold a slash: `name@refs/pr/3`.
        let suffix = &text[text.len() - suffix.len() - path.map_or(0, |path| path.len() + 1)..];
        let slash = suffix.match_indices('/').nth(if suffix.starts_with("refs/") { 2 } else { 0 }).map(|(at, _)| at);
        let (suffix, file) = slash.map_or((suffix, None), |at| (&suffix[..at], Some(&suffix[at + 1..])));
        if is_quantization(suffix) {
            parsed.file = Some(suffix.to_owned());
        } else if is_revision(suffix) {
            parsed.revision = Some(suffix.to_owned());
            parsed.file = file.filter(|text| !text.is_empty()).map(str::to_owned);
        } else {
            return None;
        }
        return Some(parsed);
    }
    let Some(path) = path else { return Some(parsed) };
    if punctuation == Punctuation::Web {
        let mut parts = path.splitn(3, '/');
        let (page, revision, file) = (parts.next(), parts.next(), parts.next());
        if !matches!(page, Some("tree" | "blob" | "resolve" | "raw" | "commit")) {
            return Some(parsed);
        }
        parsed.revision = revision.filter(|text| is_revision(text)).map(str::to_owned);
        parsed.file = file.filter(|text| !text.is_empty()).map(str::to_owned);
    } else {
        parsed.file = Some(path.to_owned());
    }
    Some(parsed)
}

/// Reads a path into the cache of the hub's library: `…/models--owner--name/snapshots/<commit>/file`.
fn cached(text: &str) -> Option<ParsedModel> {
    let (before, rest) = text.split_once("models--").filter(|(before, _)| before.is_empty() || before.ends_with('/'))?;
    let (folder, inside) = rest.split_once('/').unwrap_or((rest, ""));
    let (owner, name) = folder.split_once("--")?;
    if before.contains("://") || !is_hub_part(owner) || !is_hub_part(name) {
        return None;
    }
    let mut parsed = plain(ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() });
    parsed.source = Some(text.to_owned());
    let (revision, file) =
        inside.strip_prefix("snapshots/").map(|inside| inside.split_once('/').unwrap_or((inside, ""))).unwrap_or_default();
    parsed.revision = Some(revision).filter(|text| is_revision(text)).map(str::to_owned);
    parsed.file = Some(file).filter(|text| !text.is_empty()).map(str::to_owned);
    Some(parsed)
}

/// Reads a text with a slash and no scheme, which does not start like a path.
fn relative(text: &str) -> ParsedModel {
    let path = || plain(ModelReference::Path(text.to_owned()));
    let segments: Vec<&str> = text.split('/').collect();
    if segments.iter().any(|segment| segment.is_empty() || *segment == "." || *segment == "..") || HUB_PAGES.contains(&segments[0]) {
        return path();
    }
    if let [owner, repository] = segments[..] {
        let (name, suffix) = match repository.find(['@', ':']) {
            Some(at) => (&repository[..at], Some((&repository[at..=at], &repository[at + 1..]))),
            None => (repository, None),
        };
        // SentencePiece and its like: `assets/tokenizer.model`.
        if is_file(name) || name.starts_with("tokenizer.") {
            return path();
        }
        if !is_hub_part(owner) || !is_hub_part(name) {
            return plain(ModelReference::Name(text.to_owned()));
        }
        let mut parsed = plain(ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() });
        match suffix {
            None => {}
            Some(("@", revision)) if is_revision(revision) => parsed.revision = Some(revision.to_owned()),
            Some((":", tag)) if is_quantization(tag) || (is_revision(tag) && name.to_ascii_lowercase().contains("gguf")) => {
                parsed.file = Some(tag.to_owned());
            }
            // A name with a tag in another catalogue: `user/model:8b`.
            Some(_) => return plain(ModelReference::Name(text.to_owned())),
        }
        return parsed;
    }
    // A file in a repository of the hub, or in a folder: only the first can be told.
    if let [owner, name, ref file @ ..] = segments[..]
        && text.to_ascii_lowercase().ends_with(".gguf")
        && is_hub_part(owner)
        && is_hub_part(name)
        && name.to_ascii_lowercase().contains("gguf")
    {
        let reference = ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() };
        return ParsedModel { file: Some(file.join("/")), ..plain(reference) };
    }
    // A registry's host begins a name: `registry.ollama.ai/library/llama3:8b`.
    if segments[0].contains('.') && !is_file(text) { plain(ModelReference::Name(text.to_owned())) } else { path() }
}

/// Rules of the hub for owners and names.
fn is_hub_part(text: &str) -> bool {
    text.len() <= 96
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !text.starts_with(['-', '.'])
        && !text.ends_with(['-', '.'])
        && !text.contains("--")
        && !text.contains("..")
        && text.rsplit_once('.').is_none_or(|(_, ending)| ending != "git")
}

/// A commit, branch or tag.
fn is_revision(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= 255
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'+'))
        && !text.contains("..")
}

/// A tag that selects a file by its quantization: `Q4_K_M`, `IQ2_XS`, `UD-Q4_K_XL`, `F16`, `MXFP4`.
fn is_quantization(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let kind = upper.strip_prefix("UD-").unwrap_or(&upper);
    let digit_after = |prefix: &str| kind.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && (["Q", "IQ", "TQ", "MXFP", "NVFP"].iter().any(|prefix| digit_after(prefix))
            || matches!(kind, "F16" | "F32" | "BF16" | "FP16" | "FP32"))
}

/// Whether the text ends like a file with weights or a configuration.
fn is_file(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    FILES.iter().any(|ending| lower.ends_with(ending) && lower.len() > ending.len())
}

#[cfg(test)]
mod tests;
