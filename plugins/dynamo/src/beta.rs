//! v1beta1: a list of components, each with a pod template.

use k8s_aibom_sdk::{Claim, Part};

use crate::graph::{Component, Graph, Mount};

const FRAMEWORKS: [&str; 3] = ["sglang", "vllm", "trtllm"];
const TYPES: [&str; 6] = ["frontend", "worker", "prefill", "decode", "planner", "epp"];

/// A DynamoGraphDeployment.
pub(crate) fn graph(spec: &Part<'_>) -> Graph {
    if spec.exists() && !spec.has("components") {
        spec.problem("", "there are no components");
    }
    let components = spec.each("components").into_iter().enumerate().map(|(index, part)| {
        let name = part.text("name").map_or_else(
            || {
                part.problem("", "the component has no name");
                Claim::derived(index.to_string(), part.place())
            },
            Claim::declared,
        );
        component(name, &part)
    });
    Graph {
        framework: spec.one_of("backendFramework", &FRAMEWORKS),
        env: spec.list("env"),
        components: components.collect(),
        claims: Vec::new(),
    }
}

/// A DynamoComponentDeployment: the fields of one component, inline.
pub(crate) fn single(object: &Part<'_>, spec: &Part<'_>) -> Graph {
    let name = spec.text("name").or_else(|| object.part("metadata").text("name"));
    let name = name.map_or_else(|| Claim::derived("component", spec.place()), Claim::declared);
    Graph {
        framework: spec.one_of("backendFramework", &FRAMEWORKS),
        components: spec.place().map(|_| component(name, spec)).into_iter().collect(),
        ..Graph::default()
    }
}

fn component(name: Claim, part: &Part<'_>) -> Component {
    let mut component = Component::new(name);
    component.kind = part.one_of("type", &TYPES);
    component.common(part);
    component.fact("sharedMemorySize", part.quantity("sharedMemorySize").map(Claim::declared));
    component.fact("frontendSidecar", part.text("frontendSidecar").map(Claim::declared));

    let experimental = part.part("experimental");
    component.checkpoint(&experimental);
    for name in ["failover", "gpuMemoryService"] {
        component.fact(name, experimental.part(name).place().map(|at| Claim::implied("true", at)));
    }

    let template = part.part("podTemplate");
    component.template = template.place();
    component.mounts = mounts(&template.part("spec"));
    let cache = part.part("compilationCache");
    if let Some(claim) = cache.text("pvcName") {
        component.mounts.push(Mount { claim, path: cache.text("mountPath"), compilation_cache: cache.place() });
    }
    component
}

/// The operator adds a volume for every mount of the main container that names none.
fn mounts(pod: &Part<'_>) -> Vec<Mount> {
    unlisted(pod, &pod.named("containers", "main").each("volumeMounts"))
}

/// Mounts whose name is no volume of the pod spec: a volume claim of that very name.
pub(crate) fn unlisted(pod: &Part<'_>, mounts: &[Part<'_>]) -> Vec<Mount> {
    if mounts.is_empty() {
        return Vec::new();
    }
    let volumes = pod.texts("/volumes/*/name");
    let claims = mounts.iter().filter_map(|mount| {
        let claim = mount.text("name").filter(|name| !volumes.iter().any(|volume| volume.value == name.value))?;
        Some(Mount { claim, path: mount.text("mountPath"), compilation_cache: None })
    });
    claims.collect()
}
