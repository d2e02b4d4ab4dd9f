use proptest::prelude::*;

use super::*;

fn hex(count: usize) -> String {
    "0123456789abcdef".chars().cycle().take(count).collect()
}

fn parsed(text: &str) -> ImageReference {
    ImageReference::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> InvalidImage {
    match ImageReference::parse(text) {
        Ok(reference) => panic!("{text} was read as {reference}"),
        Err(error) => error,
    }
}

/// (text, registry, repository, tag)
fn assert_rows(rows: &[(&str, &str, &str, Option<&str>)]) {
    for (text, registry, repository, tag) in rows {
        let image = parsed(text);
        assert_eq!((image.registry.as_str(), image.repository.as_str(), image.tag.as_deref()), (*registry, *repository, *tag), "{text}");
    }
}

#[test]
fn a_name_without_host_is_docker_hubs() {
    assert_rows(&[
        ("nginx", "docker.io", "library/nginx", None),
        ("nginx:1", "docker.io", "library/nginx", Some("1")),
        ("library/nginx", "docker.io", "library/nginx", None),
        ("docker.io/nginx", "docker.io", "library/nginx", None),
        ("docker.io/library/nginx", "docker.io", "library/nginx", None),
        ("index.docker.io/library/nginx", "docker.io", "library/nginx", None),
        ("owner/app:v1", "docker.io", "owner/app", Some("v1")),
        ("a/b/c", "docker.io", "a/b/c", None),
    ]);
}

// B37
#[test]
fn a_port_is_never_read_as_a_tag() {
    assert_rows(&[
        ("localhost/x", "localhost", "x", None),
        ("localhost:5000/x", "localhost:5000", "x", None),
        ("localhost:5000/x:y", "localhost:5000", "x", Some("y")),
        ("registry:5000/a/b/c", "registry:5000", "a/b/c", None),
        ("registry:5000/a:1.0", "registry:5000", "a", Some("1.0")),
        ("10.0.0.1:5000/a:1.0", "10.0.0.1:5000", "a", Some("1.0")),
        // No `/` follows: a name with a tag.
        ("localhost:5000", "docker.io", "library/localhost", Some("5000")),
    ]);
}

#[test]
fn an_ipv6_host_is_a_host() {
    assert_rows(&[
        ("[::1]:5000/x", "[::1]:5000", "x", None),
        ("[::1]:5000/x:y", "[::1]:5000", "x", Some("y")),
        ("[2001:DB8::1]/team/x", "[2001:db8::1]", "team/x", None),
    ]);
    for text in ["[::1/x", "[::g]/x", "[::1]5000/x", "[::1]:/x", "[]:1/x"] {
        assert_eq!(refused(text), InvalidImage::BadHost, "{text}");
    }
}

// B38
#[test]
fn tag_and_digest_are_kept_together() {
    let digest = format!("sha256:{}", hex(64));
    let image = parsed(&format!("r.io/a:tag@{digest}"));
    assert_eq!((image.tag.as_deref(), image.digest.as_ref().map(ToString::to_string)), (Some("tag"), Some(digest.clone())));
    assert_eq!(image.to_string(), format!("r.io/a:tag@{digest}"));
    assert_eq!(image.name(), "r.io/a");
}

// B35, B36
#[test]
fn a_digest_needs_no_tag() {
    let image = parsed(&format!("registry:5000/a/b/c@sha256:{}", hex(64)));
    assert_eq!((image.registry.as_str(), image.repository.as_str(), image.tag.as_deref()), ("registry:5000", "a/b/c", None));
    assert_eq!(image.digest.unwrap().hex.len(), 64);
    let long = parsed(&format!("r.io/a@sha512:{}", hex(128)));
    assert_eq!(long.digest.unwrap().algorithm, "sha512");
}

#[test]
fn a_bad_digest_is_an_error() {
    for digest in ["sha256:", "sha256:abc", "sha512:abc", "md5:d41d8cd98f00b204e9800998ecf8427e", "", "x", "sha256"] {
        assert_eq!(refused(&format!("r.io/a@{digest}")), InvalidImage::BadDigest, "{digest}");
    }
    assert_eq!(refused(&format!("r.io/a@sha256:{}", hex(64).to_uppercase())), InvalidImage::BadDigest);
    assert_eq!(refused(&format!("r.io/a@sha256:{}@sha256:{}", hex(64), hex(64))), InvalidImage::BadDigest);
}

#[test]
fn upper_case_in_the_repository_is_an_error_and_in_host_and_tag_is_none() {
    assert_eq!(refused("r.io/A"), InvalidImage::UpperCase);
    assert_eq!(refused("Nginx"), InvalidImage::UpperCase);
    assert_rows(&[("R.IO/a:RELEASE.2025-01-01T00-00-00Z", "r.io", "a", Some("RELEASE.2025-01-01T00-00-00Z"))]);
}

#[test]
fn a_bare_name_of_64_hexadecimal_digits_is_ambiguous() {
    assert_eq!(refused(&hex(64)), InvalidImage::AmbiguousHex);
    assert_eq!(refused(&format!("{}:v1", hex(64))), InvalidImage::AmbiguousHex);
    assert_rows(&[(&hex(63), "docker.io", &format!("library/{}", hex(63)), None)]);
    assert_rows(&[(&format!("r.io/{}", hex(64)), "r.io", &hex(64), None)]);
}

#[test]
fn a_bare_digest_is_no_reference() {
    assert_eq!(refused(&format!("sha256:{}", hex(64))), InvalidImage::BareDigest);
    assert_eq!(refused(&format!("sha512:{}", hex(128))), InvalidImage::BareDigest);
}

#[test]
fn white_space_and_control_characters_are_errors() {
    for text in ["nginx ", " nginx", "ngi nx", "nginx\n", "nginx\u{0}", "nginx\u{a0}", " "] {
        assert_eq!(refused(text), InvalidImage::Whitespace, "{text:?}");
    }
}

#[test]
fn an_empty_text_is_an_error() {
    assert_eq!(refused(""), InvalidImage::Empty);
}

#[test]
fn placeholders_are_told_from_mistakes() {
    for text in [
        "${IMAGE}",
        "$IMAGE",
        "$(IMAGE)",
        "<image>",
        "repo/x:<tag>",
        "{{ .Values.image }}",
        "REPLACE_ME",
        "REPLACE_WITH_IMAGE:latest",
        "YOUR_REGISTRY/app:tag",
        "IMAGE_NAME",
        "%IMAGE%",
        "@IMAGE@",
        "*image",
        "&image",
        "replaced-by-kustomize",
    ] {
        assert_eq!(refused(text), InvalidImage::Placeholder, "{text}");
    }
}

#[test]
fn over_long_text_is_an_error() {
    assert_eq!(refused(&"a".repeat(4096)), InvalidImage::TooLong);
    assert_eq!(refused(&format!("r.io/{}", "a".repeat(256))), InvalidImage::TooLong);
    assert_rows(&[(&format!("r.io/{}", "a".repeat(255)), "r.io", &"a".repeat(255), None)]);
}

#[test]
fn tags_segments_and_hosts_follow_the_grammar() {
    for (text, error) in [
        ("nginx:", InvalidImage::BadTag),
        ("nginx:-x", InvalidImage::BadTag),
        ("nginx:a b", InvalidImage::Whitespace),
        ("nginx:a+b", InvalidImage::BadTag),
        ("r.io/", InvalidImage::BadSegment),
        ("/nginx", InvalidImage::BadSegment),
        ("a//b", InvalidImage::BadSegment),
        ("a/-b", InvalidImage::BadSegment),
        ("a/b-", InvalidImage::BadSegment),
        ("a/b..c", InvalidImage::BadSegment),
        ("a/b___c", InvalidImage::BadSegment),
        ("a/b_.c", InvalidImage::BadSegment),
        ("a/é", InvalidImage::BadSegment),
        (":tag", InvalidImage::BadSegment),
        ("https://r.io/a", InvalidImage::BadHost),
        ("r.io:port/a", InvalidImage::BadHost),
        ("r.io:65536/a", InvalidImage::BadHost),
        ("r..io/a", InvalidImage::BadHost),
        ("-r.io/a", InvalidImage::BadHost),
        (".r.io/a", InvalidImage::BadHost),
    ] {
        assert_eq!(refused(text), error, "{text}");
    }
    assert_eq!(refused(&format!("a:{}", "t".repeat(129))), InvalidImage::BadTag);
    assert_rows(&[("a/b---c.d__e_f", "docker.io", "a/b---c.d__e_f", None)]);
}

#[test]
fn every_refusal_says_what_to_do() {
    use InvalidImage as I;
    for error in [
        I::Empty,
        I::Whitespace,
        I::TooLong,
        I::UpperCase,
        I::Placeholder,
        I::BareDigest,
        I::AmbiguousHex,
        I::BadTag,
        I::BadDigest,
        I::BadHost,
        I::BadSegment,
    ] {
        let text = error.to_string();
        let (_, remedy) = text.split_once(": ").unwrap_or_default();
        assert!(["name ", "remove ", "shorten ", "write ", "render ", "use "].iter().any(|verb| remedy.starts_with(verb)), "{text}");
    }
}

// B29, B34
#[test]
fn a_bare_digest_in_a_status_is_an_image_id_and_no_manifest_digest() {
    let digest = Digest { algorithm: "sha256".to_owned(), hex: hex(64) };
    for text in [format!("sha256:{}", hex(64)), hex(64)] {
        assert_eq!(ImageId::parse(&text), Some(ImageId::Config(digest.clone())), "{text}");
    }
    assert!(matches!(ImageId::parse(&format!("r.io/a@sha256:{}", hex(64))), Some(ImageId::Manifest { .. })));
}

// B30, B33
#[test]
fn a_repository_digest_is_of_an_index_or_a_manifest_and_never_equals_an_image_id() {
    let manifest = ImageId::parse(&format!("nginx@sha256:{}", hex(64))).unwrap();
    let config = ImageId::parse(&format!("sha256:{}", hex(64))).unwrap();
    assert_ne!(manifest, config, "the same hex, another thing");
    let ImageId::Manifest { digest, repository } = manifest else { panic!("a repository digest") };
    assert_eq!((digest.hex, repository.as_deref()), (hex(64), Some("docker.io/library/nginx")));
}

// B32
#[test]
fn a_digest_under_another_name_belongs_to_the_image_as_it_was_asked_for() {
    let asked = ImageReference::parse("r.io/plum/server:v2").unwrap();
    let Some(ImageId::Manifest { digest, repository }) = ImageId::parse(&format!("r.io/old/server@sha256:{}", hex(64))) else {
        panic!("a repository digest")
    };
    assert_eq!(digest.hex, hex(64));
    // Whoever joins the two can tell that the names differ.
    assert_ne!(repository.as_deref(), Some(asked.name().as_str()));
}

// B31
#[test]
fn prefixes_of_older_kubelets_are_dropped() {
    let digest = format!("sha256:{}", hex(64));
    assert_eq!(
        ImageId::parse(&format!("docker-pullable://r.io:5000/a/b@{digest}")),
        Some(ImageId::Manifest { digest: Digest::parse(&digest).unwrap(), repository: Some("r.io:5000/a/b".to_owned()) })
    );
    assert_eq!(ImageId::parse(&format!("docker://{digest}")), Some(ImageId::Config(Digest::parse(&digest).unwrap())));
    assert!(matches!(ImageId::parse(&format!("docker://r.io/a@{digest}")), Some(ImageId::Manifest { .. })));
}

// B40
#[test]
fn a_status_without_digest_says_nothing() {
    for text in ["", "docker://", "docker-pullable://", "r.io/a:v1", "r.io/a@sha256:abc", "sha256:abc", "@"] {
        assert_eq!(ImageId::parse(text), None, "{text}");
    }
}

#[test]
fn mirrors_are_taken_off() {
    use MirrorKind::{Host, Prefix, PullThrough, Repository};
    type Row<'a> = (&'a str, &'a str, Option<(MirrorKind, &'a str)>);
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("vllm/vllm-openai", "docker.io/vllm/vllm-openai", None),
        ("registry-1.docker.io/vllm/vllm-openai", "docker.io/vllm/vllm-openai", None),
        ("registry.hub.docker.com/nginx", "docker.io/library/nginx", None),
        ("mirror.gcr.io/vllm/vllm-openai", "docker.io/vllm/vllm-openai", Some((Host, "mirror.gcr.io"))),
        ("mirror.gcr.io/library/redis", "docker.io/library/redis", Some((Host, "mirror.gcr.io"))),
        ("m.daocloud.io/docker.io/vllm/vllm-openai", "docker.io/vllm/vllm-openai", Some((Prefix, "m.daocloud.io/docker.io"))),
        ("m.daocloud.io/quay.io/ascend/vllm-ascend:v0.11.0rc1", "quay.io/ascend/vllm-ascend", Some((Prefix, "m.daocloud.io/quay.io"))),
        ("m.daocloud.io/docker.io/redis", "docker.io/library/redis", Some((Prefix, "m.daocloud.io/docker.io"))),
        ("docker.m.daocloud.io/redis", "docker.io/library/redis", Some((Host, "docker.m.daocloud.io"))),
        ("k8s.m.daocloud.io/pause:3", "registry.k8s.io/pause", Some((Host, "k8s.m.daocloud.io"))),
        ("k8s-gcr.m.daocloud.io/pause", "k8s.gcr.io/pause", Some((Host, "k8s-gcr.m.daocloud.io"))),
        ("elastic.m.daocloud.io/beats/filebeat", "docker.elastic.co/beats/filebeat", Some((Host, "elastic.m.daocloud.io"))),
        ("nvcr.m.daocloud.io/nvidia/tritonserver", "nvcr.io/nvidia/tritonserver", Some((Host, "nvcr.m.daocloud.io"))),
        ("swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io/vllm/vllm-openai:v0.8.5", "docker.io/vllm/vllm-openai", Some((Prefix, "swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io"))),
        ("swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io/redis", "docker.io/library/redis", Some((Prefix, "swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io"))),
        ("swr.cn-north-4.myhuaweicloud.com/ddn-k8s/ghcr.io/a/b", "ghcr.io/a/b", Some((Prefix, "swr.cn-north-4.myhuaweicloud.com/ddn-k8s/ghcr.io"))),
        ("swr.cn-southwest-2.myhuaweicloud.com/base_image/ascend-ci/dockerhub/lmsysorg/sglang", "docker.io/lmsysorg/sglang", Some((Prefix, "swr.cn-southwest-2.myhuaweicloud.com/base_image/ascend-ci/dockerhub"))),
        ("swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie", "swr.cn-south-1.myhuaweicloud.com/ascendhub/mindie", None),
        ("quay.nju.edu.cn/ascend/vllm-omni", "quay.io/ascend/vllm-omni", Some((Host, "quay.nju.edu.cn"))),
        ("us-central1-docker.pkg.dev/p/hub-remote/lmsysorg/sglang:v0.5.9", "us-central1-docker.pkg.dev/lmsysorg/sglang", Some((Repository, "us-central1-docker.pkg.dev/p/hub-remote"))),
        ("us-docker.pkg.dev/example.com/p/hub-remote/library/redis", "us-docker.pkg.dev/library/redis", Some((Repository, "us-docker.pkg.dev/example.com/p/hub-remote"))),
        ("us-docker.pkg.dev/example.com/p/own/app", "us-docker.pkg.dev/example.com/p/own/app", None),
        ("us-docker.pkg.dev/p/own/app", "us-docker.pkg.dev/p/own/app", None),
        ("us-docker.pkg.dev/p/virtual/ghcr.io/owner/app", "ghcr.io/owner/app", Some((Prefix, "us-docker.pkg.dev/p/virtual/ghcr.io"))),
        ("us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311", "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311", None),
        ("us-docker.pkg.dev/deeplearning-platform-release/gcr.io/a/b", "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/a/b", None),
        ("gcr.io/project/a/b", "gcr.io/project/a/b", None),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/docker-hub/vllm/vllm-openai:latest", "docker.io/vllm/vllm-openai", Some((PullThrough, "123456789012.dkr.ecr.us-west-2.amazonaws.com/docker-hub"))),
        ("123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/quay/a/b", "quay.io/a/b", Some((PullThrough, "123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn/quay"))),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/ecr-public/docker/library/redis", "docker.io/library/redis", Some((Prefix, "123456789012.dkr.ecr.us-west-2.amazonaws.com/ecr-public/docker"))),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/mine/vllm", "123456789012.dkr.ecr.us-west-2.amazonaws.com/mine/vllm", None),
        // A repository whose whole name is a usual prefix is not a cache of nothing.
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/quay", "123456789012.dkr.ecr.us-west-2.amazonaws.com/quay", None),
        ("public.ecr.aws/docker/library/redis:7", "docker.io/library/redis", Some((Prefix, "public.ecr.aws/docker"))),
        ("public.ecr.aws/q9t5s3a7/vllm-release-repo", "public.ecr.aws/q9t5s3a7/vllm-release-repo", None),
        ("harbor.corp:8443/external-hub/seldonio/mlserver:1.7.1", "harbor.corp:8443/external-hub/seldonio/mlserver", None),
        ("harbor.corp/proxy/quay.io/a/b", "quay.io/a/b", Some((Prefix, "harbor.corp/proxy/quay.io"))),
        ("m.daocloud.io/mirror.gcr.io/library/redis", "docker.io/library/redis", Some((Host, "m.daocloud.io/mirror.gcr.io"))),
        ("m.daocloud.io/us-docker.pkg.dev/p/hub/a/b", "us-docker.pkg.dev/a/b", Some((Repository, "m.daocloud.io/us-docker.pkg.dev/p/hub"))),
        ("harbor.corp/gcr.io/proxy/quay.io/a/b", "quay.io/a/b", Some((Prefix, "harbor.corp/gcr.io/proxy/quay.io"))),
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct", "nvcr.io/nim/meta/llama-3.1-8b-instruct", None),
        ("registry:5001/vllm-runtime:x", "registry:5001/vllm-runtime", None),
    ];
    for (text, name, via) in rows {
        let canonical = parsed(text).canonical();
        assert_eq!(&canonical.name(), name, "{text}");
        assert_eq!(canonical.via.as_ref().map(|mirror| (mirror.kind, mirror.prefix.as_str())), *via, "{text}");
    }
}

#[test]
fn the_hand_labelled_images_are_read_but_for_placeholders() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/truth/labels.jsonl");
    let Ok(labels) = std::fs::read_to_string(&file) else {
        eprintln!("SKIPPED: the hand-labelled images, because ../shared is absent");
        return;
    };
    let mut seen = 0;
    for label in labels.lines() {
        let label: serde_json::Value = serde_json::from_str(label).unwrap();
        for container in label["containers"].as_array().unwrap() {
            let text = container["image"].as_str().unwrap_or_default().trim();
            match ImageReference::parse(text) {
                Ok(_) => seen += 1,
                Err(error) => assert!(matches!(error, InvalidImage::Placeholder | InvalidImage::Empty), "{text}: {error}"),
            }
        }
    }
    assert!(seen > 100, "{seen}");
}

fn reference() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        Just(String::new()),
        "[a-zA-Z0-9]{1,8}(-[a-z0-9]{1,4})?(\\.[a-z0-9]{1,6}){1,3}(:[0-9]{1,4})?/",
        "(localhost|registry:[0-9]{1,4}|\\[::1\\](:[0-9]{1,4})?|m\\.daocloud\\.io/quay\\.io|us-docker\\.pkg\\.dev|mirror\\.gcr\\.io)/",
        "123456789012\\.dkr\\.ecr\\.us-east-1\\.amazonaws\\.com/(quay|github|x)/",
    ];
    let path = "[a-z0-9]{1,9}((\\.|_|__|-{1,3})[a-z0-9]{1,5}){0,2}(/[a-z0-9]{1,9}([._-][a-z0-9]{1,5}){0,2}){0,4}";
    let rest = prop_oneof![Just(String::new()), ":[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", "(:[a-z0-9]{1,5})?@sha256:[0-9a-f]{64}"];
    // Without a host, a dot in the first segment would make it one.
    (host, path, rest)
        .prop_map(|(host, path, rest)| if host.is_empty() { format!("own/{path}{rest}") } else { format!("{host}{path}{rest}") })
}

proptest! {
    #[test]
    fn any_reference_of_the_grammar_is_read_and_its_canonical_text_reads_back(text in reference()) {
        let image = ImageReference::parse(&text);
        prop_assert!(image.is_ok(), "{}: {:?}", text, image);
        let image = image.unwrap();
        prop_assert_eq!(&ImageReference::parse(&image.to_string()).unwrap(), &image);
        let canonical = image.canonical();
        prop_assert!(!canonical.segments.is_empty());
        // What is left is a tail of what was written.
        let own: Vec<_> = canonical.segments.iter().map(String::as_str).collect();
        let own = if own[0] == "library" { &own[1..] } else { &own[..] };
        prop_assert!(image.segments().collect::<Vec<_>>().ends_with(own));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,80}") {
        if let Ok(image) = ImageReference::parse(&text) {
            prop_assert_eq!(ImageReference::parse(&image.to_string()).unwrap(), image.clone());
            let _ = image.canonical();
        }
        let _ = ImageId::parse(&text);
        let _ = Digest::parse(&text);
    }

    #[test]
    fn no_text_of_the_grammars_own_characters_makes_the_parser_panic(text in "[a-zA0-9:/@.\\[\\]_-]{0,60}") {
        if let Ok(image) = ImageReference::parse(&text) {
            prop_assert_eq!(ImageReference::parse(&image.to_string()).unwrap(), image.clone());
            let _ = image.canonical();
        }
        let _ = ImageId::parse(&text);
    }
}
