//! Image references: `[host[:port]/]segment(/segment)*[:tag][@algorithm:hex]`.
//!
//! [`ImageReference`] is the reference as the container runtime understands it: the first part is a host only if a `/` follows and it
//! holds a `.` or a `:` or is `localhost`; Docker Hub's host and its `library/` are implied. [`CanonicalImage`] goes one step further
//! and takes mirrors off, so that `m.daocloud.io/quay.io/a/b` and `quay.io/a/b` compare equal; it serves recognition only, documents
//! name what was written. [`ImageId`] is what a pod's status says, where two kinds of digest look alike.

use std::fmt;
use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

mod mirror;

pub use mirror::{CanonicalImage, Mirror, MirrorKind};

/// Host that is implied by a reference without one.
pub const DOCKER_HUB: &str = "docker.io";

/// Longest text that is read; host, repository, tag and digest at their own limits stay below it.
const MAX_REFERENCE: usize = 1024;
/// Longest repository path that registries accept.
const MAX_REPOSITORY: usize = 255;
/// Longest DNS name and a port.
const MAX_HOST: usize = 253 + 6;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum InvalidImage {
    /// Nothing there.
    #[error("the image is empty: name one")]
    Empty,
    /// Blanks or control characters.
    #[error("white space or control characters in the image: remove them")]
    Whitespace,
    /// Longer than any registry takes.
    #[error("the image is longer than registries accept: shorten it to 255 characters of repository and 1,024 in all")]
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
    #[error("bad tag: use at most 128 letters, digits, `_`, `.` and `-`, the first a letter, digit or `_`")]
    BadTag,
    /// Not a digest.
    #[error("bad digest: use `sha256:` with 64 or `sha512:` with 128 lower-case hexadecimal digits")]
    BadDigest,
    /// Not a host.
    #[error("bad registry host: use a name, an IPv4 address or an IPv6 address in brackets, with a port up to 65535 if any")]
    BadHost,
    /// Not a path segment.
    #[error("bad path segment: use lower-case letters and digits, joined by `.`, `_`, `__` or dashes")]
    BadSegment,
}

impl ImageReference {
    /// Reads a reference as a pod spec writes it.
    ///
    /// # Errors
    /// [`InvalidImage`]. Nothing is repaired: a trailing blank is an error, as it is for the kubelet.
    pub fn parse(text: &str) -> Result<Self, InvalidImage> {
        if text.is_empty() {
            return Err(InvalidImage::Empty);
        }
        if text.len() > MAX_REFERENCE {
            return Err(InvalidImage::TooLong);
        }
        if is_placeholder(text) {
            return Err(InvalidImage::Placeholder);
        }
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(InvalidImage::Whitespace);
        }
        if Digest::parse(text).is_ok() {
            return Err(InvalidImage::BareDigest);
        }
        let (text, digest) = match text.split_once('@') {
            Some((name, digest)) => (name, Some(Digest::parse(digest)?)),
            None => (text, None),
        };
        let last = text.rfind('/').map_or(0, |slash| slash + 1);
        let (name, tag) = match text[last..].rfind(':') {
            Some(colon) => {
                let tag = &text[last + colon + 1..];
                if !is_tag(tag) {
                    return Err(InvalidImage::BadTag);
                }
                (&text[..last + colon], Some(tag.to_owned()))
            }
            None => (text, None),
        };
        if name.len() == 64 && is_lower_hex(name) {
            return Err(InvalidImage::AmbiguousHex);
        }
        let (registry, path) = match name.split_once('/') {
            Some((host, path)) if host.contains(['.', ':']) || host == "localhost" => (normal_host(host)?, path),
            _ => (DOCKER_HUB.to_owned(), name),
        };
        for segment in path.split('/') {
            check_segment(segment)?;
        }
        let repository = if registry == DOCKER_HUB && !path.contains('/') { format!("library/{path}") } else { path.to_owned() };
        if repository.len() > MAX_REPOSITORY {
            return Err(InvalidImage::TooLong);
        }
        Ok(Self { registry, repository, tag, digest })
    }

    /// `registry/repository`, without tag and digest.
    pub fn name(&self) -> String {
        format!("{}/{}", self.registry, self.repository)
    }

    /// Last segment of the repository, the image's short name.
    pub fn last_segment(&self) -> &str {
        self.repository.rsplit('/').next().unwrap_or_default()
    }

    /// Segments of the repository.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.repository.split('/')
    }

    /// The reference with mirrors, caches and proxies taken off, for recognising it.
    pub fn canonical(&self) -> CanonicalImage {
        mirror::canonical(self)
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    ///
    /// # Errors
    /// [`InvalidImage::BadDigest`] for another algorithm, another length, upper case.
    pub fn parse(text: &str) -> Result<Self, InvalidImage> {
        let (algorithm, hex) = text.split_once(':').ok_or(InvalidImage::BadDigest)?;
        let length = match algorithm {
            "sha256" => 64,
            "sha512" => 128,
            _ => return Err(InvalidImage::BadDigest),
        };
        if hex.len() != length || !is_lower_hex(hex) {
            return Err(InvalidImage::BadDigest);
        }
        Ok(Self { algorithm: algorithm.to_owned(), hex: hex.to_owned() })
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, self.hex)
    }
}

/// What a container status says in `imageID`. The two kinds of digest name different things and are never compared with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ImageId {
    /// `repository@digest`: the digest of an index or of a manifest. Which of the two is unknown unless somebody asks the registry, so
    /// it must not be reported as the digest of one platform.
    Manifest {
        /// The digest.
        digest: Digest,
        /// `registry/repository` where it can be read. The kubelet may report another one than the spec names, when an image with the
        /// same digest was pulled before.
        repository: Option<String>,
    },
    /// A bare digest: of the image's configuration, which is what container runtimes call the image id. Side-loaded images have nothing
    /// else. Never usable as a manifest digest.
    Config(Digest),
}

impl ImageId {
    /// Reads a status' `imageID`, with the `docker-pullable://` and `docker://` that older kubelets put in front. None while the image
    /// is being pulled (empty), and for text without a digest.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("docker-pullable://").or_else(|| text.strip_prefix("docker://")).unwrap_or(text);
        match text.rsplit_once('@') {
            Some((name, digest)) => Some(Self::Manifest {
                digest: Digest::parse(digest).ok()?,
                repository: ImageReference::parse(name).ok().map(|reference| reference.name()),
            }),
            // CRI-O leaves the algorithm out.
            None if text.len() == 64 && is_lower_hex(text) => {
                Some(Self::Config(Digest { algorithm: "sha256".to_owned(), hex: text.to_owned() }))
            }
            None => Digest::parse(text).ok().map(Self::Config),
        }
    }
}

fn is_lower_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_tag(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 128
        && bytes.next().is_some_and(|first| first.is_ascii_alphanumeric() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

/// Whether some tool or person should have replaced the text: template marks of any kind, YAML aliases that were quoted by accident,
/// and the upper-case words that documentation uses. Upper case alone is [`InvalidImage::UpperCase`].
fn is_placeholder(text: &str) -> bool {
    const WORDS: [&str; 6] = ["REPLACE", "YOUR_", "YOUR-", "CHANGE_ME", "CHANGEME", "PLACEHOLDER"];
    text.contains(['$', '<', '>', '{', '}', '%'])
        || text.starts_with(['*', '&', '@'])
        || WORDS.iter().any(|word| text.contains(word))
        // Kustomize's own samples write this where `images:` is to put something.
        || text == "replaced-by-kustomize"
        // A lone variable name, such as IMAGE_NAME.
        || (text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && text.starts_with(|c: char| c.is_ascii_uppercase()))
}

/// Checks a host and lowers its case; Docker Hub's index is Docker Hub.
fn normal_host(text: &str) -> Result<String, InvalidImage> {
    if text.len() > MAX_HOST {
        return Err(InvalidImage::BadHost);
    }
    let (name, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or(InvalidImage::BadHost)?;
        address.parse::<Ipv6Addr>().map_err(|_| InvalidImage::BadHost)?;
        match rest.strip_prefix(':') {
            Some(port) => (None, Some(port)),
            None if rest.is_empty() => (None, None),
            None => return Err(InvalidImage::BadHost),
        }
    } else {
        match text.split_once(':') {
            Some((name, port)) => (Some(name), Some(port)),
            None => (Some(text), None),
        }
    };
    if port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()) || port.parse::<u16>().is_err()) {
        return Err(InvalidImage::BadHost);
    }
    if name.is_some_and(|name| !name.split('.').all(is_label)) {
        return Err(InvalidImage::BadHost);
    }
    let host = text.to_ascii_lowercase();
    Ok(if host == "index.docker.io" { DOCKER_HUB.to_owned() } else { host })
}

/// One label of a host name. Underscores are no DNS but occur in names that only a container network resolves; runtimes refuse them, so
/// does this.
fn is_label(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && !text.ends_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Runs of lower-case letters and digits, joined by one `.`, one or two `_`, or any number of `-`.
fn check_segment(segment: &str) -> Result<(), InvalidImage> {
    let bytes = segment.as_bytes();
    if bytes.iter().any(u8::is_ascii_uppercase) {
        return Err(InvalidImage::UpperCase);
    }
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    if !bytes.first().is_some_and(plain) || !bytes.last().is_some_and(plain) {
        return Err(InvalidImage::BadSegment);
    }
    for joint in segment.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) {
        let allowed = matches!(joint, "" | "." | "_" | "__") || joint.bytes().all(|byte| byte == b'-');
        if !allowed {
            return Err(InvalidImage::BadSegment);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
