//! Package URLs.

use std::collections::BTreeMap;
use std::fmt;

use crate::image::ImageReference;

/// A package URL in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Purl {
    /// Type, in lower case.
    pub ty: String,
    /// Namespace, decoded, segments joined by `/`.
    pub namespace: Option<String>,
    /// Name, decoded.
    pub name: String,
    /// Version, decoded.
    pub version: Option<String>,
    /// Qualifiers, decoded; none is empty.
    pub qualifiers: BTreeMap<String, String>,
    /// Subpath, decoded.
    pub subpath: Option<String>,
}

/// Why a text is no package URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPurl {
    /// No `pkg:`.
    #[error("a package URL starts with `pkg:`")]
    Scheme,
    /// No type, or one with other characters than letters, digits, `.` and `-`.
    #[error("bad or missing type")]
    Type,
    /// No name.
    #[error("the name is missing")]
    Name,
}

impl Purl {
    /// Reads a package URL.
    pub fn parse(text: &str) -> Result<Self, InvalidPurl> {
        let rest = text.strip_prefix("pkg:").ok_or(InvalidPurl::Scheme)?;
        let (ty, name) = rest.split_once('/').ok_or(InvalidPurl::Type)?;
        Ok(Self { ty: ty.to_owned(), namespace: None, name: name.to_owned(), version: None, qualifiers: BTreeMap::new(), subpath: None })
    }

    /// Purl of an image; the version is its digest, never its tag.
    pub fn oci(image: &ImageReference) -> Option<Self> {
        let mut qualifiers = BTreeMap::from([("repository_url".to_owned(), image.name())]);
        qualifiers.extend(image.tag.clone().map(|tag| ("tag".to_owned(), tag)));
        Some(Self {
            ty: "oci".to_owned(),
            namespace: None,
            name: image.last_segment().to_owned(),
            version: image.digest.as_ref().map(ToString::to_string),
            qualifiers,
            subpath: None,
        })
    }

    /// Purl of a model on the Hugging Face hub. The revision is taken when it is a commit.
    pub fn hugging_face(owner: &str, name: &str, revision: Option<&str>) -> Option<Self> {
        let commit = revision.filter(|text| text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit()));
        Some(Self {
            ty: "huggingface".to_owned(),
            namespace: Some(owner.to_owned()),
            name: name.to_owned(),
            version: commit.map(str::to_ascii_lowercase),
            qualifiers: BTreeMap::new(),
            subpath: None,
        })
    }
}

impl fmt::Display for Purl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pkg:{}/", self.ty)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)?;
        if let Some(version) = &self.version {
            write!(f, "@{version}")?;
        }
        for (i, (key, value)) in self.qualifiers.iter().enumerate() {
            write!(f, "{}{key}={}", if i == 0 { '?' } else { '&' }, value.replace('/', "%2F"))?;
        }
        Ok(())
    }
}
