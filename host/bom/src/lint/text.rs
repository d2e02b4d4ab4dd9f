//! L4, L5, L9, L10, L13, L15.

use std::collections::HashSet;

use aibom_facts::purl::Purl;
use aibom_facts::redact::{Redactor, TEXT_LIMIT};
use aibom_facts::text::is_hidden;

use super::{Components, Findings, Node, Place};
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

pub(super) fn check(document: &Node<'_>, components: &Components<'_, '_>, findings: &mut Findings) {
    for (component, path) in components {
        let here = Place::at(path);
        if let Some(purl) = component.text("purl") {
            check_purl(purl, &here.member("purl"), findings);
        }
        check_name(component, &here, findings);
        let list = here.member("data");
        component.items("data").for_each(|(i, data)| check_name(data, &list.item(i), findings));
        let list = here.member("externalReferences");
        component.items("externalReferences").for_each(|(i, link)| check_url(link.get("url"), &list.item(i).member("url"), findings));
    }
    let list = Place::ROOT.member("services");
    for (i, service) in document.items("services") {
        let here = list.item(i);
        check_name(service, &here, findings);
        let list = here.member("endpoints");
        service.items("endpoints").for_each(|(i, endpoint)| check_url(Some(endpoint), &list.item(i), findings));
    }
    if let Some(version) = document.down(&["metadata", "component", "version"]).and_then(Node::as_str)
        && version.contains(['@', '?', '#'])
    {
        findings.add("L13", &Place::at("/metadata/component/version"), format!("`{version}` contains `@`, `?` or `#`"));
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

fn check_name(named: &Node<'_>, place: &Place<'_>, findings: &mut Findings) {
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

fn check_url(value: Option<&Node<'_>>, place: &Place<'_>, findings: &mut Findings) {
    match value.and_then(Node::as_str).map(url::check) {
        Some(Ok(())) => {}
        Some(Err(Unfit::UserInfo)) => findings.add("L10", place, "the URL has user information"),
        Some(Err(Unfit::Syntax)) | None => findings.add("L10", place, "this is no IRI reference"),
    }
}

/// L9.
pub(super) struct Texts<'d, 'p> {
    redactor: Redactor,
    /// Texts that need not be looked at, in a document whose members have constant names.
    passed: Option<&'p dyn Fn(&str) -> bool>,
    /// References and names of members recur many times.
    clean: HashSet<&'d str>,
}

impl<'d, 'p> Texts<'d, 'p> {
    pub(super) fn new(passed: Option<&'p dyn Fn(&str) -> bool>) -> Self {
        Self { redactor: Redactor::standard(), passed, clean: HashSet::new() }
    }

    pub(super) fn visit(&mut self, node: &'d Node<'_>, place: &Place<'_>, findings: &mut Findings) {
        match node {
            Node::Text(text) => self.check("the text", text, place, findings),
            Node::Members(members) if self.passed.is_none() => {
                // A pointer to a bad member would repeat its name.
                for (key, _) in members {
                    self.check("the name of a member", key, place, findings);
                }
            }
            Node::Null | Node::Bool | Node::Number(_) | Node::List(_) | Node::Members(_) => {}
        }
    }

    /// The message never repeats the text: it may be a secret.
    fn check(&mut self, what: &str, text: &'d str, place: &Place<'_>, findings: &mut Findings) {
        if self.passed.is_some_and(|passed| passed(text)) || self.clean.contains(text) {
            return;
        }
        let hidden = text.chars().any(is_hidden);
        if hidden {
            findings.add("L9", place, format!("{what} has control or other hidden characters"));
        }
        let (redacted, classes) = self.redactor.redact(text);
        if redacted != text {
            let classes: Vec<&str> = classes.into_iter().collect();
            findings.add("L9", place, format!("{what} has the shape of a secret ({})", classes.join(", ")));
        } else if !hidden {
            self.clean.insert(text);
        }
    }
}
