//! Image references: `[host[:port]/]segment(/segment)*[:tag][@algorithm:hex]`.

use serde::{Deserialize, Serialize};

/// A parsed image reference in canonical form: Docker Hub's implied host and `library/` are written out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ImageReference {
    /// Registry host with port, `docker.io` when implied.
    pub registry: String,
    /// Path below the registry, such as `library/nginx`.
    pub repository: String,
    /// Tag, as written; none is not `latest`.
    pub tag: Option<String>,
    /// Manifest or index digest.
    pub digest: Option<Digest>,
}

/// A content digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Digest {
    /// `sha256` or `sha512`.
    pub algorithm: String,
    /// Lower-case hex.
    pub hex: String,
}

/// Why a text is no image reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidImage {
    /// Nothing there.
    #[error("the image is empty: name one")]
    Empty,
    /// Blanks or control characters.
    #[error("white space or control characters in the image: remove them")]
    Whitespace,
    /// Longer than any registry takes.
    #[error("the image is longer than a registry accepts: a repository has at most 255 characters, the whole reference 1,024")]
    TooLong,
    /// Upper case in the repository.
    #[error("upper case in the repository: write it in lower case")]
    UpperCase,
    /// A text that some tool should have replaced.
    #[error("a placeholder stands where the image should be: render the template or set the image")]
    Placeholder,
    /// `sha256:<hex>` without a repository.
    #[error("a digest without a repository: write repository@digest")]
    BareDigest,
    /// 64 hexadecimal digits, which every runtime reads as an image id.
    #[error("64 hexadecimal digits are read as an image id: write the registry in front of the name")]
    AmbiguousHex,
    /// Not a tag.
    #[error("bad tag: letters, digits, `_`, `.` and `-`, at most 128, starting with a letter, digit or `_`")]
    BadTag,
    /// Not a digest.
    #[error("bad digest: `sha256:` with 64 or `sha512:` with 128 lower-case hexadecimal digits")]
    BadDigest,
    /// Not a host.
    #[error("bad registry host: a name, an IPv4 address or an IPv6 address in brackets, with a port up to 65535")]
    BadHost,
    /// Not a path segment.
    #[error("bad path segment: lower-case letters and digits, joined by `.`, `_`, `__` or dashes")]
    BadSegment,
}

/// A reference without mirrors in front of it, for comparing with known repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalImage {
    /// Host of origin where a mirror tells it, else the registry as written.
    pub host: String,
    /// Path below the host.
    pub segments: Vec<String>,
    /// What stood in front.
    pub via: Option<Mirror>,
}

/// A mirror or cache that was taken off a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    /// Its kind.
    pub kind: MirrorKind,
    /// What was dropped from the name, such as `m.daocloud.io`.
    pub prefix: String,
}

/// Kinds of mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MirrorKind {
    /// A host that stands for exactly one other host.
    Host,
    /// A host or path in front of the full name, host of origin included.
    Prefix,
    /// A pull-through cache with a usual prefix.
    PullThrough,
    /// A remote or virtual repository, whose origin the name does not tell.
    Repository,
}

impl ImageReference {
    /// Reads a reference.
    pub fn parse(text: &str) -> Result<Self, InvalidImage> {
        let (name, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(Digest::parse(digest)?)),
            None => (text, None),
        };
        let slash = name.rfind('/').map_or(0, |at| at + 1);
        let (name, tag) = match name[slash..].rfind(':') {
            Some(at) => (&name[..slash + at], Some(name[slash + at + 1..].to_owned())),
            None => (name, None),
        };
        if name.is_empty() {
            return Err(InvalidImage::Empty);
        }
        let (registry, repository) = match name.split_once('/') {
            Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => (host, rest.to_owned()),
            Some(_) => ("docker.io", name.to_owned()),
            None => ("docker.io", format!("library/{name}")),
        };
        Ok(Self { registry: registry.to_owned(), repository, tag, digest })
    }

    /// `registry/repository`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.registry, self.repository)
    }

    /// Last segment of the path.
    pub fn last_segment(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }

    /// Segments of the path.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.repository.split('/')
    }

    /// The reference without mirrors.
    pub fn canonical(&self) -> CanonicalImage {
        CanonicalImage { host: self.registry.clone(), segments: self.segments().map(str::to_owned).collect(), via: None }
    }
}

impl std::fmt::Display for ImageReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl Digest {
    /// Reads `algorithm:hex`.
    pub fn parse(text: &str) -> Result<Self, InvalidImage> {
        let (algorithm, hex) = text.split_once(':').ok_or(InvalidImage::BadDigest)?;
        let length = match algorithm {
            "sha256" => 64,
            "sha512" => 128,
            _ => return Err(InvalidImage::BadDigest),
        };
        if hex.len() != length || !hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Err(InvalidImage::BadDigest);
        }
        Ok(Self { algorithm: algorithm.to_owned(), hex: hex.to_owned() })
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hex)
    }
}

/// What a pod's status says about the image of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageId {
    /// Digest in a repository: of an index or of a manifest, which of the two is not known unless somebody asks the registry.
    Manifest {
        /// The digest.
        digest: Digest,
        /// `registry/repository`, where it can be read.
        repository: Option<String>,
    },
    /// Digest of an image's configuration. Never a manifest digest.
    Config(Digest),
}

impl ImageId {
    /// Reads a status' `imageID`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("docker-pullable://").or_else(|| text.strip_prefix("docker://")).unwrap_or(text);
        match text.rsplit_once('@') {
            Some((name, digest)) => Some(Self::Manifest {
                digest: Digest::parse(digest).ok()?,
                repository: ImageReference::parse(name).ok().map(|reference| reference.name()),
            }),
            None => Digest::parse(text).ok().map(Self::Config),
        }
    }
}
