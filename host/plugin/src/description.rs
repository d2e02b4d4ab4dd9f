//! What a scraper says about itself, checked before anything relies on it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Kinds in each list of a description.
const MAX_KINDS: usize = 64;
/// Versions of a kind.
const MAX_VERSIONS: usize = 16;
/// Bytes of the schema of options.
const MAX_SCHEMA: usize = 64 << 10;
/// Characters of a label of a DNS name, of a kind and of a version.
const MAX_LABEL: usize = 63;
/// Characters of a DNS name.
const MAX_NAME: usize = 253;

/// A kind and its versions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KindRef {
    /// API group, empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Plural, lower case, as in URLs.
    pub plural: String,
    /// Versions the scraper reads, most preferred first; at least one.
    pub versions: Vec<String>,
}

/// What a scraper says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Name of the scraper: a DNS label.
    pub name: String,
    /// Version of the scraper.
    pub version: String,
    /// Kinds it turns into inventory records; at least one.
    pub kinds: Vec<KindRef>,
    /// Kinds that only carry ownership.
    pub intermediates: Vec<KindRef>,
    /// Kinds it may ask for; without any, `related` is never called.
    pub related: Vec<KindRef>,
    /// Whether its view of an object holds `status`.
    pub reads_status: bool,
    /// JSON Schema of its options.
    pub options_schema: Option<String>,
}

/// A rule that a description breaks: what is expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) expected: String,
    pub(crate) found: String,
}

fn broken(expected: impl Into<String>, found: impl Into<String>) -> Broken {
    let found = found.into();
    Broken { expected: expected.into(), found: crate::text::clean(&found).0.into_owned() }
}

impl Description {
    /// Whether `related` may ask for a kind.
    pub fn may_ask_for(&self, group: &str, kind: &str) -> bool {
        self.related.iter().any(|known| known.group == group && known.kind == kind)
    }

    pub(crate) fn validate(&self) -> Result<(), Broken> {
        if !is_dns_label(&self.name) {
            return Err(broken("a name of lower-case letters, digits and dashes", format!("`{}`", self.name)));
        }
        if self.version.is_empty() || self.version.len() > MAX_LABEL || !self.version.bytes().all(is_version_byte) {
            return Err(broken("a version such as 1.2.3", format!("`{}`", self.version)));
        }
        if self.kinds.is_empty() {
            return Err(broken("at least one kind", "none"));
        }
        let mut own = BTreeSet::new();
        for (list, kinds) in [("kinds", &self.kinds), ("intermediates", &self.intermediates), ("related", &self.related)] {
            if kinds.len() > MAX_KINDS {
                return Err(broken(format!("at most {MAX_KINDS} entries in {list}"), kinds.len().to_string()));
            }
            let mut names = BTreeSet::new();
            for kind in kinds {
                kind.validate(list)?;
                if !names.insert((&kind.group, &kind.kind)) {
                    return Err(broken(format!("every kind once in {list}"), format!("`{}` twice", kind.kind)));
                }
                if list != "related" && !own.insert((&kind.group, &kind.kind)) {
                    return Err(broken("kinds and intermediates without a common one", format!("`{}` in both", kind.kind)));
                }
            }
        }
        if let Some(schema) = &self.options_schema {
            if schema.len() > MAX_SCHEMA {
                return Err(broken(format!("an options schema of at most {MAX_SCHEMA} bytes"), format!("{} bytes", schema.len())));
            }
            if let Err(error) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(schema) {
                return Err(broken("an options schema that is a JSON object", error.to_string()));
            }
        }
        Ok(())
    }
}

impl KindRef {
    fn validate(&self, list: &str) -> Result<(), Broken> {
        let place = |what: &str| format!("{what} in {list}");
        if !self.group.is_empty() && !is_dns_name(&self.group) {
            return Err(broken(place("an API group"), format!("`{}`", self.group)));
        }
        if self.kind.len() > MAX_LABEL
            || !self.kind.starts_with(|c: char| c.is_ascii_uppercase())
            || !self.kind.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            return Err(broken(place("a kind in upper camel case"), format!("`{}`", self.kind)));
        }
        if !is_dns_label(&self.plural) {
            return Err(broken(place("a lower-case plural"), format!("`{}` for {}", self.plural, self.kind)));
        }
        if self.group.is_empty() && self.kind == "Secret" {
            return Err(broken(place("a kind other than Secret: secrets are never read"), "`Secret`"));
        }
        if self.versions.is_empty() || self.versions.len() > MAX_VERSIONS {
            let expected = place(&format!("1 to {MAX_VERSIONS} versions of {}", self.kind));
            return Err(broken(expected, self.versions.len().to_string()));
        }
        for (i, version) in self.versions.iter().enumerate() {
            if !is_dns_label(version) {
                return Err(broken(place(&format!("a version of {} such as v1beta1", self.kind)), format!("`{version}`")));
            }
            if self.versions[..i].contains(version) {
                return Err(broken(place(&format!("every version of {} once", self.kind)), format!("`{version}` twice")));
            }
        }
        Ok(())
    }
}

fn is_version_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+')
}

/// RFC 1123 label.
pub(crate) fn is_dns_label(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= MAX_LABEL
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// RFC 1123 subdomain, the form of names of objects and API groups.
pub(crate) fn is_dns_name(text: &str) -> bool {
    text.len() <= MAX_NAME && text.split('.').all(is_dns_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(kind: &str) -> KindRef {
        KindRef { group: "example.com".into(), kind: kind.into(), plural: "widgets".into(), versions: vec!["v1".into()] }
    }

    fn description() -> Description {
        Description {
            name: "example".into(),
            version: "1.2.3-rc.1+build".into(),
            kinds: vec![kind("Widget")],
            intermediates: vec![kind("Part")],
            related: vec![kind("Cache"), kind("Widget")],
            reads_status: false,
            options_schema: Some(r#"{"type":"object"}"#.into()),
        }
    }

    #[test]
    fn a_description_in_order_is_accepted() {
        description().validate().unwrap();
    }

    #[test]
    fn every_rule_of_a_description_is_enforced() {
        type Change = fn(&mut Description);
        let changes: [(&str, Change); 16] = [
            ("name", |d| d.name = "Has Spaces".into()),
            ("name", |d| d.name = String::new()),
            ("version", |d| d.version = "1.0\n".into()),
            ("version", |d| d.version = String::new()),
            ("at least one kind", |d| d.kinds.clear()),
            ("at most 64", |d| d.related = (0..65).map(|i| kind(&format!("K{i}"))).collect()),
            ("once", |d| d.kinds.push(kind("Widget"))),
            ("common", |d| d.intermediates.push(kind("Widget"))),
            ("API group", |d| d.kinds[0].group = "Not/AGroup".into()),
            ("upper camel case", |d| d.kinds[0].kind = "widget".into()),
            ("plural", |d| d.kinds[0].plural = "Widgets".into()),
            ("Secret", |d| {
                d.related[0] =
                    KindRef { group: String::new(), kind: "Secret".into(), plural: "secrets".into(), versions: vec!["v1".into()] };
            }),
            ("1 to 16 versions", |d| d.kinds[0].versions.clear()),
            ("such as v1beta1", |d| d.kinds[0].versions.push("v1/evil".into())),
            ("once", |d| d.kinds[0].versions.push("v1".into())),
            ("JSON object", |d| d.options_schema = Some("[]".into())),
        ];
        for (expected, change) in changes {
            let mut changed = description();
            change(&mut changed);
            let broken = changed.validate().expect_err(expected);
            assert!(broken.expected.contains(expected), "{broken:?} should say {expected}");
        }
    }
}
