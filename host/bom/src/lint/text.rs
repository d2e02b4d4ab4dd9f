//! L4, L5, L9, L10, L13, L15.

use std::collections::HashSet;

use aibom_facts::purl::Purl;
use aibom_facts::redact::{Redactor, TEXT_LIMIT};
use aibom_facts::text::has_hidden;
use foldhash::fast::RandomState;

use super::node::Value;
use super::{Findings, Node, Place};
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

pub(super) fn check(document: Node<'_>, components: &[Node<'_>], findings: &mut Findings) {
    for component in components {
        if let Some((node, purl)) = component.get("purl").and_then(|node| Some((node, node.as_str()?))) {
            check_purl(purl, &Place::of(node), findings);
        }
        check_name(*component, findings);
        component.items("data").for_each(|data| check_name(data, findings));
        for link in component.items("externalReferences") {
            match link.get("url") {
                Some(url) => check_url(url, findings),
                None => findings.add("L10", &Place::of(link).member("url"), NO_URL),
            }
        }
    }
    for service in document.items("services") {
        check_name(service, findings);
        service.items("endpoints").for_each(|endpoint| check_url(endpoint, findings));
    }
    if let Some((node, version)) = document.down(&["metadata", "component", "version"]).and_then(|node| Some((node, node.as_str()?)))
        && version.contains(['@', '?', '#'])
    {
        findings.add("L13", &Place::of(node), format!("`{version}` contains `@`, `?` or `#`"));
    }
}

fn check_purl(purl: &str, place: &Place<'_>, findings: &mut Findings) {
    match Purl::parse(purl) {
        Err(error) => findings.add("L4", place, format!("`{purl}` is no purl: {error}")),
        Ok(parsed) if parsed.to_string() != purl => findings.add("L4", place, format!("`{purl}` is not canonical; `{parsed}` would be")),
        Ok(parsed) if PURL_TYPES.binary_search(&parsed.ty.as_str()).is_err() => {
            findings.add("L4", place, format!("consumers do not know purls of type `{}`", parsed.ty));
        }
        Ok(_) => {}
    }
}

fn check_name(named: Node<'_>, findings: &mut Findings) {
    let place = Place::of(named);
    let place = place.member("name");
    match named.text("name") {
        None => findings.add("L5", &place, "there is no name"),
        Some(name) if name.trim().is_empty() => findings.add("L5", &place, "the name is empty"),
        // A text of fewer bytes has fewer characters.
        Some(name) if name.len() > TEXT_LIMIT => {
            let length = name.chars().count();
            if length > TEXT_LIMIT {
                findings.add("L5", &place, format!("the name has {length} characters, more than {TEXT_LIMIT}"));
            }
        }
        Some(_) => {}
    }
}

const NO_URL: &str = "this is no IRI reference";

fn check_url(node: Node<'_>, findings: &mut Findings) {
    match node.as_str().map(url::check) {
        Some(Ok(())) => {}
        Some(Err(Unfit::UserInfo)) => findings.add("L10", &Place::of(node), "the URL has user information"),
        Some(Err(Unfit::Syntax)) | None => findings.add("L10", &Place::of(node), NO_URL),
    }
}

/// L9.
pub(super) struct Texts<'d, 'p> {
    redactor: Redactor,
    /// Texts that need not be looked at, in a document whose members have constant names.
    passed: Option<&'p dyn Fn(&str) -> bool>,
    /// References and names of members recur many times.
    clean: HashSet<&'d str, RandomState>,
}

impl<'d, 'p> Texts<'d, 'p> {
    pub(super) fn new(passed: Option<&'p dyn Fn(&str) -> bool>) -> Self {
        Self { redactor: Redactor::standard(), passed, clean: HashSet::default() }
    }

    pub(super) fn visit(&mut self, node: Node<'d>, findings: &mut Findings) {
        if let Value::Text(text) = node.value() {
            self.check("the text", text, node, findings);
        }
        // Told at the object: a pointer to a bad member would repeat its name.
        if self.passed.is_none()
            && let (Some(name), Some(parent)) = (node.name(), node.parent())
        {
            self.check("the name of a member", name, parent, findings);
        }
    }

    /// The message never repeats the text: it may be a secret.
    fn check(&mut self, what: &str, text: &'d str, at: Node<'_>, findings: &mut Findings) {
        if self.passed.is_some_and(|passed| passed(text)) || self.clean.contains(text) {
            return;
        }
        let hidden = has_hidden(text);
        if hidden {
            findings.add("L9", &Place::of(at), format!("{what} has control or other hidden characters"));
        }
        let (redacted, classes) = self.redactor.redact(text);
        if redacted != text {
            let classes: Vec<&str> = classes.into_iter().collect();
            findings.add("L9", &Place::of(at), format!("{what} has the shape of a secret ({})", classes.join(", ")));
        } else if !hidden {
            self.clean.insert(text);
        }
    }
}
