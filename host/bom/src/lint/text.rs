//! L4, L5, L9, L10, L13, L15.

use std::collections::HashSet;

use aibom_facts::purl::Purl;
use aibom_facts::redact::{Redactor, TEXT_LIMIT};
use aibom_facts::text::is_hidden;
use serde_json::Value;

use super::{Components, Findings, Path, child, items, text, walk};
use crate::url::{self, Unfit};

/// Types of purl that consumers read. An unknown one costs the whole document at some of them.
const PURL_TYPES: [&str; 35] = [
    "alpine",
    "alpm",
    "apk",
    "bitbucket",
    "bitnami",
    "cargo",
    "cocoapods",
    "composer",
    "conan",
    "conda",
    "cpan",
    "cran",
    "deb",
    "docker",
    "gem",
    "generic",
    "github",
    "githubactions",
    "golang",
    "guac",
    "hackage",
    "hex",
    "huggingface",
    "maven",
    "mlflow",
    "npm",
    "nuget",
    "oci",
    "pub",
    "pypi",
    "qpkg",
    "rpm",
    "swid",
    "swift",
    "yocto",
];

pub(super) fn check(
    document: &Value,
    components: &Components<'_>,
    (size, max_bytes): (usize, usize),
    passed: &dyn Fn(&str) -> bool,
    findings: &mut Findings,
) {
    for (component, path) in components {
        if let Some(purl) = text(component, "purl") {
            check_purl(purl, &child(path, "purl"), findings);
        }
        check_name(component, path, findings);
        for (data, path) in items(component, path, "data") {
            check_name(data, &path, findings);
        }
        for (reference, path) in items(component, path, "externalReferences") {
            check_url(reference.get("url"), &child(&path, "url"), findings);
        }
    }
    for (service, path) in items(document, "", "services") {
        check_name(service, &path, findings);
        for (endpoint, path) in items(service, &path, "endpoints") {
            check_url(Some(endpoint), &path, findings);
        }
    }
    check_texts(document, passed, findings);
    if let Some(version) = document.pointer("/metadata/component/version").and_then(Value::as_str)
        && version.contains(['@', '?', '#'])
    {
        findings.add("L13", "/metadata/component/version", format!("`{version}` contains `@`, `?` or `#`"));
    }
    if size > max_bytes {
        findings.add("L15", "", format!("{size} bytes are more than the {max_bytes} that the sink takes"));
    }
}

fn check_purl(purl: &str, path: &str, findings: &mut Findings) {
    match Purl::parse(purl) {
        Err(error) => findings.add("L4", path, format!("`{purl}` is no purl: {error}")),
        Ok(parsed) if parsed.to_string() != purl => findings.add("L4", path, format!("`{purl}` is not canonical; `{parsed}` would be")),
        Ok(parsed) if PURL_TYPES.binary_search(&parsed.ty.as_str()).is_err() => {
            findings.add("L4", path, format!("consumers do not know purls of type `{}`", parsed.ty));
        }
        Ok(_) => {}
    }
}

fn check_name(value: &Value, path: &str, findings: &mut Findings) {
    let path = child(path, "name");
    match text(value, "name") {
        None => findings.add("L5", &path, "there is no name"),
        Some(name) if name.trim().is_empty() => findings.add("L5", &path, "the name is empty"),
        Some(name) => {
            let length = name.chars().count();
            if length > TEXT_LIMIT {
                findings.add("L5", &path, format!("the name has {length} characters, more than {TEXT_LIMIT}"));
            }
        }
    }
}

fn check_url(value: Option<&Value>, path: &str, findings: &mut Findings) {
    match value.and_then(Value::as_str).map(url::check) {
        Some(Ok(())) => {}
        Some(Err(Unfit::UserInfo)) => findings.add("L10", path, "the URL has user information"),
        Some(Err(Unfit::Syntax)) | None => findings.add("L10", path, "this is no IRI reference"),
    }
}

/// L9.
fn check_texts(document: &Value, passed: &dyn Fn(&str) -> bool, findings: &mut Findings) {
    let redactor = Redactor::standard();
    // References and names of members recur many times.
    let mut clean: HashSet<&str> = HashSet::new();
    walk(document, &Path::ROOT, &mut |value, path| match value {
        Value::String(text) if passed(text) => {}
        Value::String(text) => check_text("the text", text, path, &redactor, &mut clean, findings),
        Value::Object(members) => {
            // A pointer to a bad member would repeat its name.
            for key in members.keys().filter(|key| !passed(key)) {
                check_text("the name of a member", key, path, &redactor, &mut clean, findings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {}
    });
}

/// The message never repeats the text: it may be a secret.
fn check_text<'a>(what: &str, text: &'a str, path: &Path<'_>, redactor: &Redactor, clean: &mut HashSet<&'a str>, findings: &mut Findings) {
    if clean.contains(text) {
        return;
    }
    let hidden = text.chars().any(is_hidden);
    if hidden {
        findings.add("L9", &path.to_string(), format!("{what} has control or other hidden characters"));
    }
    let (redacted, classes) = redactor.redact(text);
    if redacted != text {
        let classes: Vec<&str> = classes.into_iter().collect();
        findings.add("L9", &path.to_string(), format!("{what} has the shape of a secret ({})", classes.join(", ")));
    } else if !hidden {
        clean.insert(text);
    }
}
