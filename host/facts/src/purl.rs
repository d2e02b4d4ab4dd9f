//! Package URLs, the names under which consumers of documents look things up.
//!
//! Types are those that consumers know: `oci` for images, `huggingface` for models of that hub, `mlflow`, `generic`, `pypi` and the like.
//! There is none for Kubernetes, NGC, buckets and paths, and one unknown type makes some consumers drop a whole document, so what has no
//! type has no package URL.
//!
//! Rules of types and the parser are those of the crate `packageurl`, which passes every vector of the specification that this module's
//! tests hold against it. Text is written here: the crate leaves `/` in a version as it is and then reads it back as part of the name,
//! and percent-encoding only what the specification exempts is what makes reading undo writing.

use std::collections::BTreeMap;
use std::fmt;

use packageurl::PackageUrl;

use crate::image::ImageReference;

/// A package URL in canonical form. Made by [`Purl::parts`] and the like; the fields are to be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Purl {
    /// Type, in lower case.
    pub ty: String,
    /// Namespace, decoded, segments joined by `/`.
    pub namespace: Option<String>,
    /// Name, decoded.
    pub name: String,
    /// Version, decoded.
    pub version: Option<String>,
    /// Qualifiers by key, decoded; none is empty.
    pub qualifiers: BTreeMap<String, String>,
    /// Subpath, decoded, segments joined by `/`.
    pub subpath: Option<String>,
}

/// A text or parts that are no package URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no package URL: {0}")]
pub struct InvalidPurl(String);

impl Purl {
    /// Reads a package URL and brings it into canonical form.
    ///
    /// # Errors
    /// Missing or malformed parts, and what the rules of the type forbid.
    pub fn parse(text: &str) -> Result<Self, InvalidPurl> {
        let parsed: PackageUrl<'static> = text.parse().map_err(|error: packageurl::Error| InvalidPurl(error.to_string()))?;
        // Dots may have been hidden from the parser by percent-encoding.
        let namespace = parsed
            .namespace()
            .map(|namespace| namespace.split('/').filter(|segment| !matches!(*segment, "" | "." | "..")).collect::<Vec<_>>().join("/"));
        let text = |part: Option<&str>| part.filter(|part| !part.is_empty()).map(str::to_owned);
        Ok(Self {
            ty: parsed.ty().to_owned(),
            namespace: text(namespace.as_deref()),
            name: parsed.name().to_owned(),
            version: text(parsed.version()),
            qualifiers: parsed
                .qualifiers()
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect(),
            subpath: text(parsed.subpath()),
        })
    }

    /// Makes one of decoded parts. Empty parts count as absent; the rules of the type are applied, such as lower case.
    ///
    /// # Errors
    /// A malformed type or qualifier key, an empty name, and what the rules of the type forbid.
    pub fn parts(
        ty: &str,
        namespace: Option<&str>,
        name: &str,
        version: Option<&str>,
        qualifiers: &[(&str, &str)],
        subpath: Option<&str>,
    ) -> Result<Self, InvalidPurl> {
        // These two are written as they are, so that they have to be looked at before reading them back.
        let plain = |text: &str, more: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
        if !plain(ty, ".-") {
            return Err(InvalidPurl(format!("bad type {ty:?}")));
        }
        if let Some((key, _)) = qualifiers.iter().find(|(key, _)| key.is_empty() || !plain(key, ".-_")) {
            return Err(InvalidPurl(format!("bad qualifier key {key:?}")));
        }
        let draft = Self {
            ty: ty.to_owned(),
            namespace: namespace.filter(|text| !text.is_empty()).map(str::to_owned),
            name: name.to_owned(),
            version: version.filter(|text| !text.is_empty()).map(str::to_owned),
            qualifiers: qualifiers
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|&(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            subpath: subpath.filter(|text| !text.is_empty()).map(str::to_owned),
        };
        Self::parse(&draft.to_string())
    }

    /// The package URL of an image: named by the last segment of its repository, with the whole repository as `repository_url`. The
    /// version is the digest; a tag is a qualifier, for it names different content over time. None for a reference whose parts were put
    /// together by hand and are not well-formed.
    ///
    /// There is no `arch`: a pod template's digest is as often that of an index, where it would be wrong.
    pub fn oci(image: &ImageReference) -> Option<Self> {
        let repository = image.name();
        let digest = image.digest.as_ref().map(ToString::to_string);
        let mut qualifiers = vec![("repository_url", repository.as_str())];
        qualifiers.extend(image.tag.as_deref().map(|tag| ("tag", tag)));
        Self::parts("oci", None, image.last_segment(), digest.as_deref(), &qualifiers, None).ok()
    }

    /// The package URL of a model on the Hugging Face hub. The revision becomes the version if it is a commit (40 hexadecimal digits);
    /// branches and tags move, and are no version. None without an owner or a name, as for models without owner such as `gpt2`: the
    /// type requires a namespace.
    pub fn hugging_face(owner: &str, name: &str, revision: Option<&str>) -> Option<Self> {
        if owner.is_empty() || owner.contains('/') || name.contains('/') {
            return None;
        }
        let commit = revision.filter(|text| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Self::parts("huggingface", Some(owner), name, commit, &[], None).ok().filter(|purl| purl.namespace.is_some())
    }
}

/// Percent-encodes all bytes but those that the specification exempts, and `also`.
fn encode(text: &str, also: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let exempt =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~' | b':') || also.as_bytes().contains(&byte);
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| !exempt(byte)) {
        f.write_str(&rest[..at])?;
        // All exempt bytes are whole characters, so that this one starts one.
        let length = rest[at..].chars().next().map_or(1, char::len_utf8);
        for byte in rest[at..at + length].bytes() {
            write!(f, "%{byte:02X}")?;
        }
        rest = &rest[at + length..];
    }
    f.write_str(rest)
}

impl fmt::Display for Purl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pkg:{}/", self.ty)?;
        if let Some(namespace) = &self.namespace {
            encode(namespace, "/", f)?;
            f.write_str("/")?;
        }
        encode(&self.name, "", f)?;
        if let Some(version) = &self.version {
            f.write_str("@")?;
            encode(version, "", f)?;
        }
        for (i, (key, value)) in self.qualifiers.iter().enumerate() {
            write!(f, "{}{key}=", if i == 0 { '?' } else { '&' })?;
            encode(value, "", f)?;
        }
        if let Some(subpath) = &self.subpath {
            f.write_str("#")?;
            encode(subpath, "/", f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
