//! Kinds as the configuration names them.

use std::fmt;
use std::str::FromStr;

use crate::text::{is_dns_subdomain, quoted};

/// How the core group, whose name is empty, is written where a group is expected.
pub const CORE: &str = "core";

/// A kind and its API group, whatever the version. Written `group/Kind`, with `core` as the name of the core group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
}

impl GroupKind {
    /// A kind of a group; the empty group is the core group.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self { group: group.into(), kind: kind.into() }
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = if self.group.is_empty() { CORE } else { &self.group };
        write!(f, "{group}/{}", self.kind)
    }
}

/// A text that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} names no kind; write group/Kind, for example apps/Deployment, or core/Pod for the core group", quoted(.0))]
pub struct NoKind(pub String);

impl FromStr for GroupKind {
    type Err = NoKind;

    fn from_str(text: &str) -> Result<Self, NoKind> {
        let error = || NoKind(text.to_owned());
        let (group, kind) = text.split_once('/').ok_or_else(error)?;
        if !is_dns_subdomain(group) || !is_kind(kind) {
            return Err(error());
        }
        Ok(Self::new(if group == CORE { "" } else { group }, kind))
    }
}

/// Kinds are letters and digits, up to 63, beginning with a capital letter.
pub(crate) fn is_kind(text: &str) -> bool {
    text.len() <= 63 && text.starts_with(|first: char| first.is_ascii_uppercase()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_read_and_written_alike() {
        for (text, group, kind) in
            [("apps/Deployment", "apps", "Deployment"), ("core/Pod", "", "Pod"), ("ml.acme.example/Llm2", "ml.acme.example", "Llm2")]
        {
            let read: GroupKind = text.parse().unwrap();
            assert_eq!(read, GroupKind::new(group, kind));
            assert_eq!(read.to_string(), text);
        }
    }

    #[test]
    fn a_text_that_names_no_kind_is_an_error_that_says_how_to_write_one() {
        for bad in ["", "Deployment", "apps/v1/Deployment", "/Pod", "apps/", "apps/deployment", "Apps/Deployment", "apps/Two Words"] {
            let error = bad.parse::<GroupKind>().unwrap_err();
            assert!(error.to_string().contains("apps/Deployment"), "{bad}: {error}");
        }
    }
}
