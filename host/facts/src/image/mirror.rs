//! Mirrors, pull-through caches and proxies: which parts of a name are not the image's own.
//!
//! Only what a name says is undone here. A proxy whose project name is freely chosen (Harbor, Artifactory, Nexus, registry caches of
//! clouds) cannot be told from an own namespace; whoever recognises images compares the last segments there.

use super::{DOCKER_HUB, ImageReference};

/// A reference without the mirrors in front of it, for comparing with known repositories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalImage {
    /// Host of origin where the name tells it, else the registry as written.
    pub host: String,
    /// Path below the host. With [`MirrorKind::Repository`] it starts after the repository's name, and the host is not the origin.
    pub segments: Vec<String>,
    /// What stood in front.
    pub via: Option<Mirror>,
}

impl CanonicalImage {
    /// `host/segments`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.segments.join("/"))
    }
}

/// A mirror or cache that was taken off a reference.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mirror {
    /// What sort of mirror.
    pub kind: MirrorKind,
    /// What was taken off: the host, with the leading segments that belong to the mirror.
    pub prefix: String,
}

/// Sorts of mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MirrorKind {
    /// A host that stands for exactly one other host: `mirror.gcr.io`, `quay.nju.edu.cn`.
    Host,
    /// A prefix before the full name, host of origin included: `m.daocloud.io/quay.io/…`.
    Prefix,
    /// A cache whose prefix stands for a host by custom: `<account>.dkr.ecr.<region>.amazonaws.com/docker-hub/…`.
    PullThrough,
    /// A remote or virtual repository of Artifact Registry. The origin is unknown: compare the last segments.
    Repository,
}

/// Hosts that serve the same names as another host.
const ALIASES: [(&str, &str); 3] =
    [("index.docker.io", DOCKER_HUB), ("registry-1.docker.io", DOCKER_HUB), ("registry.hub.docker.com", DOCKER_HUB)];

/// Mirrors of exactly one host: suffix of the mirror's name, then (prefix, origin).
const HOST_MIRRORS: [(&str, &[(&str, &str)]); 2] = [
    (
        ".m.daocloud.io",
        &[
            ("docker", DOCKER_HUB),
            ("gcr", "gcr.io"),
            ("ghcr", "ghcr.io"),
            ("quay", "quay.io"),
            ("nvcr", "nvcr.io"),
            ("mcr", "mcr.microsoft.com"),
            ("k8s", "registry.k8s.io"),
            ("k8s-gcr", "k8s.gcr.io"),
            ("elastic", "docker.elastic.co"),
        ],
    ),
    (
        ".nju.edu.cn",
        &[
            ("docker", DOCKER_HUB),
            ("gcr", "gcr.io"),
            ("ghcr", "ghcr.io"),
            ("quay", "quay.io"),
            ("nvcr", "nvcr.io"),
            ("k8s", "registry.k8s.io"),
        ],
    ),
];

/// First segments that stand for a host in pull-through caches, where the user picks them.
const PULL_THROUGH: [(&str, &str); 9] = [
    ("docker-hub", DOCKER_HUB),
    ("dockerhub", DOCKER_HUB),
    ("ecr-public", "public.ecr.aws"),
    ("quay", "quay.io"),
    ("github", "ghcr.io"),
    ("ghcr", "ghcr.io"),
    ("gitlab", "registry.gitlab.com"),
    ("kubernetes", "registry.k8s.io"),
    ("k8s", "registry.k8s.io"),
];

/// Public hosts that are recognised in the middle of a name. Any other segment with a dot may be a project's name.
const INNER_HOSTS: [&str; 16] = [
    DOCKER_HUB,
    "index.docker.io",
    "registry-1.docker.io",
    "gcr.io",
    "us.gcr.io",
    "eu.gcr.io",
    "asia.gcr.io",
    "ghcr.io",
    "quay.io",
    "nvcr.io",
    "mcr.microsoft.com",
    "registry.k8s.io",
    "k8s.gcr.io",
    "public.ecr.aws",
    "docker.elastic.co",
    "registry.gitlab.com",
];

pub(super) fn canonical(image: &ImageReference) -> CanonicalImage {
    let segments: Vec<&str> = image.segments().collect();
    let (mut host, mut dropped, mut kind) = (image.registry.as_str(), 0, None);
    // A mirror may serve another mirror's names.
    while let (origin, more, Some(found)) = locate(host, &segments[dropped..]) {
        (host, dropped, kind) = (origin, dropped + more, Some(found));
        // What is left there is no name that could be read again.
        if found == MirrorKind::Repository {
            break;
        }
    }
    let host = ALIASES.iter().find(|(alias, _)| *alias == host).map_or(host, |(_, host)| host);
    let mut rest: Vec<String> = segments[dropped..].iter().map(|&segment| segment.to_owned()).collect();
    if host == DOCKER_HUB && rest.len() == 1 {
        rest.insert(0, "library".to_owned());
    }
    let via = kind.map(|kind| Mirror { kind, prefix: joined(&image.registry, &segments[..dropped]) });
    CanonicalImage { host: host.to_owned(), segments: rest, via }
}

fn joined(host: &str, segments: &[&str]) -> String {
    std::iter::once(host).chain(segments.iter().copied()).collect::<Vec<_>>().join("/")
}

/// Host of origin, number of leading segments that are not the image's own, and what they are. At least one segment is always left.
fn locate<'a>(host: &'a str, segments: &[&'a str]) -> (&'a str, usize, Option<MirrorKind>) {
    if host == "mirror.gcr.io" {
        return (DOCKER_HUB, 0, Some(MirrorKind::Host));
    }
    for (suffix, mirrors) in HOST_MIRRORS {
        if let Some(prefix) = host.strip_suffix(suffix)
            && let Some((_, origin)) = mirrors.iter().find(|(name, _)| *name == prefix)
        {
            return (origin, 0, Some(MirrorKind::Host));
        }
    }
    let inner = &segments[..segments.len() - 1];
    if host == "m.daocloud.io"
        && let Some(origin) = inner.first()
        && origin.contains('.')
    {
        return (origin, 1, Some(MirrorKind::Prefix));
    }
    if is_swr(host) {
        if inner.first() == Some(&"ddn-k8s")
            && let Some(origin) = inner.get(1)
            && origin.contains('.')
        {
            return (origin, 2, Some(MirrorKind::Prefix));
        }
        if inner.first() == Some(&"base_image")
            && let Some(at) = inner.iter().position(|segment| *segment == "dockerhub")
        {
            return (DOCKER_HUB, at + 1, Some(MirrorKind::Prefix));
        }
    }
    if is_artifact_registry(host) {
        // A project's name may be scoped by a domain; then it takes two segments.
        let repository = 1 + usize::from(segments[0].contains('.'));
        // `gcr.io` as a repository's name is a migrated gcr.io of this very project, no mirror.
        if inner.get(repository).is_some_and(|name| *name == "gcr.io" || name.ends_with(".gcr.io")) {
            return (host, 0, None);
        }
        // One segment after the repository is an image of its own: remote repositories keep owner and name, `library/` included.
        if segments.len() >= repository + 3 {
            let kept = repository + 1;
            return match segments[kept..segments.len() - 1].iter().position(|segment| INNER_HOSTS.contains(segment)) {
                Some(at) => (segments[kept + at], kept + at + 1, Some(MirrorKind::Prefix)),
                None => (host, kept, Some(MirrorKind::Repository)),
            };
        }
        return (host, 0, None);
    }
    // ECR Public keeps a copy of Docker Hub's official images under this path.
    if let ("public.ecr.aws", ["docker", "library", _]) = (host, segments) {
        return (DOCKER_HUB, 1, Some(MirrorKind::Prefix));
    }
    if is_ecr(host)
        && let Some(first) = inner.first()
        && let Some((_, origin)) = PULL_THROUGH.iter().find(|(prefix, _)| prefix == first)
    {
        return (origin, 1, Some(MirrorKind::PullThrough));
    }
    match inner.iter().position(|segment| INNER_HOSTS.contains(segment)) {
        Some(at) => (inner[at], at + 1, Some(MirrorKind::Prefix)),
        None => (host, 0, None),
    }
}

/// `swr.<region>.myhuaweicloud.com`
fn is_swr(host: &str) -> bool {
    host.starts_with("swr.") && host.ends_with(".myhuaweicloud.com")
}

/// `<location>-docker.pkg.dev`
fn is_artifact_registry(host: &str) -> bool {
    host.strip_suffix("-docker.pkg.dev").is_some_and(|location| !location.is_empty() && !location.contains('.'))
}

/// `<account>.dkr.ecr.<region>.amazonaws.com`, with `.cn` in China and `-fips` in some regions.
fn is_ecr(host: &str) -> bool {
    let mut labels = host.split('.');
    labels.next().is_some_and(|account| account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit()))
        && labels.next() == Some("dkr")
        && labels.next().is_some_and(|label| label == "ecr" || label == "ecr-fips")
        && (host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn"))
}
