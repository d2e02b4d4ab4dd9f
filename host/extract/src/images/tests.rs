use aibom_facts::image::ImageReference;

use super::*;

/// `runtime+engine strength model`, or what else the image is.
fn class(image: &str) -> String {
    let rules = Rules::builtin();
    let Ok(reference) = ImageReference::parse(image) else { return "placeholder".to_owned() };
    match rules.classify_image(&reference) {
        ImageClass::Unknown => "unknown".to_owned(),
        ImageClass::Plumbing => "plumbing".to_owned(),
        ImageClass::Runtimes(found) => {
            let one = |found: &ImageMatch| {
                let mut text = rules.runtimes[found.runtime].name.clone();
                if let Some(engine) = found.engine {
                    text.push('+');
                    text.push_str(&rules.runtimes[engine].name);
                }
                text.push_str(match found.strength {
                    Strength::Official => " official",
                    Strength::Copy => " copy",
                    Strength::Name => " name",
                    Strength::Weak => " weak",
                });
                if let Some(model) = &found.model {
                    text.push(' ');
                    text.push_str(model);
                }
                text
            };
            found.iter().map(one).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn images_are_recognised_by_their_canonical_repository() {
    let digest = "a".repeat(64);
    let table = [
        ("vllm/vllm-openai:v0.8.5", "vllm official"),
        (&format!("docker.io/vllm/vllm-openai-cpu:v0.23.0@sha256:{digest}"), "vllm official"),
        ("aibrix-container-registry-cn-beijing.cr.volces.com/aibrix/vllm/vllm-openai:v0.9.2", "vllm official"),
        (
            "kvcache-container-image-hb2-cn-beijing.cr.volces.com/aibrix/vllm-openai:v0.10.0-cu128-nixl-v0.4.1-lmcache-0.3.2",
            "vllm official",
        ),
        ("m.daocloud.io/quay.io/ascend/vllm-ascend:v0.11.0rc1", "vllm official"),
        ("swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io/vllm/vllm-openai:v0.8.5", "vllm official"),
        ("123456789012.dkr.ecr.us-west-2.amazonaws.com/docker-hub/vllm/vllm-openai:latest", "vllm official"),
        (
            "us-docker.pkg.dev/deeplearning-platform-release/gcr.io/huggingface-text-generation-inference-cu124.2-3.ubuntu2204.py311",
            "tgi official",
        ),
        ("us-central1-docker.pkg.dev/p/hub-remote/lmsysorg/sglang:v0.5.9", "sglang copy"),
        ("harbor.corp:8443/external-hub/seldonio/mlserver:1.7.1", "mlserver copy"),
        ("registry:5001/vllm-runtime:x", "dynamo+vllm name"),
        ("nvcr.io/nim/nvidia/llm-nim:latest", "nim official"),
        ("nvcr.io/nim/meta/llama-3.1-8b-instruct:1.1.0", "nim official meta/llama-3.1-8b-instruct"),
        ("mirror.corp/nim/meta/llama-3.1-8b-instruct:1.1.0", "nim copy meta/llama-3.1-8b-instruct"),
        ("lmsysorg/sglang-router:v0.2.4", "routers official"),
        ("aibrix/vllm-mock:nightly", "simulators official"),
        ("registry.corp/aibrix/vllm-simulator-a40:nightly", "plumbing"),
        ("ghcr.io/llm-d/llm-d-inference-sim:v0.10.2", "simulators official"),
        ("lmcache/gateway:latest", "routers official"),
        ("nvcr.io/nvidia/tritonserver:26.07-py3-sdk", "benchmark-clients official"),
        ("nvcr.io/nvidia/tritonserver:26.07-py3-min", "plumbing"),
        ("nvcr.io/nvidia/tritonserver:26.07-vllm-python-py3", "triton official, vllm name"),
        ("public.ecr.aws/data-on-eks/ray-2.41.0-py310-cu118-vllm0.7.0:latest", "ray official"),
        ("registry.corp/ray-2.41.0-py310-cu118-vllm0.7.0:latest", "ray weak, vllm weak"),
        ("anolis-registry.cn-zhangjiakou.cr.aliyuncs.com/anolis-docker-images/docker-temp:0.3.4.post2-sglang0.4.10.post2", "unknown"),
        ("vllm/vllm-omni:v0.26.0", "vllm official"),
        ("rayproject/ray:2.52.0", "ray official"),
        ("intel/redhat-ai-services:llm-on-openshift_ubi9.4_1.20.0", "unknown"),
        ("my-ray-model-server:latest", "ray weak"),
        ("${VLLM_IMAGE}", "placeholder"),
        // Bounds at the name.
        ("myvllm/vllm-openai2:1", "vllm weak"),
        ("myvllm/myvllm-openai:1", "unknown"),
        ("docker.io/vllm/vllm-openai-router:1", "plumbing"),
        ("nginx:1.27", "unknown"),
        ("ghcr.io/x/vllm-router:1", "plumbing"),
        ("ollama/ollama:0.9.0-rocm", "ollama official"),
        ("registry.corp/ollama:0.9.0", "ollama name"),
        ("nvcr.io/nvidia/ai-dynamo/dynamo-frontend:1.2.0", "routers official"),
        ("aibrix-public-release-cn-beijing.cr.volces.com/aibrix/ai-dynamo-vllm-runtime:1.2.0", "dynamo+vllm official"),
    ];
    let wrong: Vec<_> = table.iter().map(|(image, want)| (image, want, class(image))).filter(|(_, want, have)| *want != have).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_version_is_the_head_of_a_tag_that_has_one() {
    let table = [
        ("v0.8.5", Some("v0.8.5")),
        ("1.5", Some("1.5")),
        ("v0.11.0rc1", Some("v0.11.0rc1")),
        ("0.9.0-rc1-cu128", Some("0.9.0-rc1")),
        ("v0.10.0-cu128-nixl", Some("v0.10.0")),
        ("25.01-py3", Some("25.01")),
        ("1.5.0-somemodel-9-dev.1", Some("1.5.0")),
        ("0.5.3.post1", Some("0.5.3.post1")),
        ("latest", None),
        ("nightly-0a1b2c3", None),
        ("cpu-1.6", None),
        ("2025-05-05-v1", None),
        ("b4719", None),
        ("7", None),
        ("sha-1.2", None),
    ];
    for (tag, want) in table {
        assert_eq!(version(tag), want, "{tag}");
    }
}

#[test]
fn an_image_placeholder_may_name_the_engine() {
    let rules = Rules::builtin();
    let names = |text: &str| rules.by_placeholder(text).iter().map(|found| rules.runtimes[found.runtime].name.clone()).collect::<Vec<_>>();
    assert_eq!(names("${VLLM_IMAGE}"), ["vllm"]);
    assert_eq!(names("$(SGLANG_IMAGE)"), ["sglang"]);
    assert!(names("${VLLM_ROUTER_IMAGE}").is_empty());
    assert!(names("${IMAGE}").is_empty());
    assert!(names("<vllm-image>").is_empty());
}

#[test]
fn a_star_stays_within_its_segment() {
    assert!(matches("*.dkr.ecr.*.amazonaws.com", "1.dkr.ecr.eu-1.amazonaws.com"));
    assert!(!matches("*.dkr.ecr.*.amazonaws.com", "1.dkr.ecr.amazonaws.org"));
    assert!(ends_with("nim/*/*", &["nim".into(), "a".into(), "b".into()], None));
    assert!(!ends_with("nim/*/*", &["x".into(), "a".into(), "b".into()], None));
}

#[test]
fn an_entry_says_whether_the_tag_is_a_version_and_which_model_the_image_holds() {
    let text = "name: a\nimages:\n  repositories: [{path: x.io/own/plain}, {path: x.io/own/dated, versioned: false}, \
                {path: x.io/own/baked, holds: acme/m}, {path: 'x.io/own/pre-*', star: model}]\n";
    let rules = Rules::parse([("a.yaml", text)].into_iter()).unwrap();
    for (image, versioned, model) in [
        ("x.io/own/plain:v1.2", true, None),
        ("copy.io/z/own/dated:v1.2", false, None),
        ("x.io/own/baked:v1.2", true, Some("acme/m")),
        ("x.io/own/pre-phi-4:1", true, Some("phi-4")),
    ] {
        let ImageClass::Runtimes(found) = rules.classify_image(&ImageReference::parse(image).unwrap()) else { panic!("{image}") };
        assert_eq!((found[0].versioned, found[0].model.as_deref()), (versioned, model), "{image}");
    }
}
