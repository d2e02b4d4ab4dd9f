//! v1alpha1: a map of services. `extraPodSpec` is a pod spec with the main container beside it, at `mainContainer`; some of that
//! container's fields stand on the service in shapes of their own. The words of v1beta1 are made as the operator's conversion makes them.

use k8s_aibom_sdk::{Claim, Container, ContainerClass, Locator, Part, Text};

use crate::beta::unlisted;
use crate::graph::{Component, Device, Graph, Mount};

const FRAMEWORKS: [&str; 3] = ["sglang", "vllm", "trtllm"];

/// Name that the operator gives to the main container.
const MAIN: &str = "main";
/// Name that the operator gives to the container made from `frontendSidecar`.
const FRONTEND: &str = "sidecar-frontend";
/// What `gpu` means when no `gpuType` is given.
const GPU: &str = "nvidia.com/gpu";

/// A DynamoGraphDeployment.
pub(crate) fn graph(spec: &Part<'_>) -> Graph {
    if spec.exists() && !spec.has("services") {
        spec.problem("", "there are no services");
    }
    let env = spec.list("envs");
    let services = spec.members("services");
    let components = services.iter().map(|(name, part)| {
        let at = part.place().unwrap_or_else(|| Locator::scraped(""));
        component(Claim::implied(name.as_str(), at), part, env.as_ref())
    });
    let components = components.collect();
    let claims = spec.each("pvcs").iter().filter_map(|claim| claim.text("name")).collect();
    Graph { framework: spec.one_of("backendFramework", &FRAMEWORKS), env, components, claims }
}

/// A DynamoComponentDeployment: the fields of one service, inline.
pub(crate) fn single(object: &Part<'_>, spec: &Part<'_>) -> Graph {
    let name = spec.text("serviceName").or_else(|| object.part("metadata").text("name"));
    let name = name.map_or_else(|| Claim::derived("component", spec.place()), Claim::declared);
    Graph {
        framework: spec.one_of("backendFramework", &FRAMEWORKS),
        components: spec.place().map(|_| component(name, spec, None)).into_iter().collect(),
        ..Graph::default()
    }
}

fn component(name: Claim, part: &Part<'_>, graph_env: Option<&Locator>) -> Component {
    let mut component = Component::new(name);
    component.kind = kind(part);
    component.common(part);
    component.checkpoint(part);
    component.fact("sharedMemorySize", shared_memory(&part.part("sharedMemory")));
    for name in ["failover", "gpuMemoryService"] {
        let enabled = part.part(name).flag("enabled").filter(|enabled| enabled.value);
        component.fact(name, enabled.map(Claim::declared));
    }

    let pod = part.part("extraPodSpec");
    component.template = pod.place();
    let template = if pod.exists() { component.name.text.clone() } else { String::new() };
    // A container of a template inherits the env of the graph with it; one without a template has to name it.
    let graph_env = graph_env.filter(|_| !pod.exists());
    component.containers.push(main(part, &pod.part("mainContainer"), graph_env, &template));
    let frontend = part.part("frontendSidecar");
    if let Some(at) = frontend.place() {
        component.fact("frontendSidecar", Some(Claim::implied(FRONTEND, at)));
        component.containers.push(frontend_sidecar(&frontend, graph_env, &template));
    }
    component.mounts = mounts(part);
    component.devices = devices(&part.part("resources"));
    component
}

/// `worker` with sub-type `prefill` or `decode` is that; every other type stands as it is.
fn kind(part: &Part<'_>) -> Option<Text> {
    let kind = part.text("componentType");
    let sub = part.text("subComponentType").filter(|sub| matches!(sub.as_str(), "prefill" | "decode"));
    match (&kind, sub) {
        (Some(worker), Some(sub)) if worker.as_str() == "worker" => Some(sub),
        _ => kind,
    }
}

fn shared_memory(part: &Part<'_>) -> Option<Claim> {
    match part.flag("disabled") {
        Some(disabled) if disabled.value => Some(Claim::derived("0", [disabled.at])),
        _ => part.quantity("size").map(Claim::declared),
    }
}

/// The main container, put together from both places.
fn main(part: &Part<'_>, main: &Part<'_>, graph_env: Option<&Locator>, template: &str) -> Container {
    Container::new(MAIN, ContainerClass::Main)
        .template(template)
        .image(main.text("image").map(Claim::declared))
        .command(main.list("command"))
        .args(main.list("args"))
        .env(graph_env.cloned())
        .env(part.list("envs"))
        .env(main.list("env"))
        .env_from(part.text("envFromSecret").map(|secret| secret.at))
        .env_from(main.list("envFrom"))
        .volume_mounts(main.list("volumeMounts"))
        .resources(main.part("resources").place())
}

fn frontend_sidecar(part: &Part<'_>, graph_env: Option<&Locator>, template: &str) -> Container {
    // To the pod it is a container like the main one, and that is what conversion makes of it.
    Container::new(FRONTEND, ContainerClass::Main)
        .template(template)
        .image(part.text("image").map(Claim::declared))
        .args(part.list("args"))
        .env(graph_env.cloned())
        .env(part.list("envs"))
        .env_from(part.text("envFromSecret").map(|secret| secret.at))
}

/// Claims that are mounted by name, with `mountPoint` where Kubernetes says `mountPath`. Manifests of 2025 have one claim at `pvc`.
fn mounts(part: &Part<'_>) -> Vec<Mount> {
    let mounts = part.each("volumeMounts");
    let old = part.part("pvc");
    let mounts = mounts.iter().chain([&old]).filter_map(|mount| {
        let cache = mount.flag("useAsCompilationCache").filter(|cache| cache.value);
        Some(Mount { claim: mount.text("name")?, path: mount.text("mountPoint"), compilation_cache: cache.map(|cache| cache.at) })
    });
    let mut mounts: Vec<_> = mounts.collect();
    // The main container's own mounts follow Kubernetes' rules, except that a name without a volume is a claim here too.
    let pod = part.part("extraPodSpec");
    mounts.extend(unlisted(&pod, &pod.part("mainContainer").each("volumeMounts")));
    mounts
}

/// `resources.{limits,requests}.{gpu,gpuType,custom}`; limits win, as what a pod may use at most.
fn devices(resources: &Part<'_>) -> Vec<Device> {
    let mut devices: Vec<Device> = Vec::new();
    for side in ["limits", "requests"] {
        let side = resources.part(side);
        let mut add = |name: Claim, quantity: Text| {
            let known = devices.iter().any(|device| device.name.text == name.text);
            if !known && quantity.as_str() != "0" {
                devices.push(Device { name, quantity: Claim::declared(quantity) });
            }
        };
        if let Some(quantity) = side.quantity("gpu") {
            let name = side.text("gpuType").map_or_else(|| Claim::implied(GPU, quantity.at.clone()), Claim::declared);
            add(name, quantity);
        }
        let custom = side.part("custom");
        for key in custom.keys() {
            if is_accelerator(&key)
                && let Some(quantity) = custom.quantity(&key)
            {
                add(Claim::implied(key, quantity.at.clone()), quantity);
            }
        }
    }
    devices
}

/// Extended resources have a domain; of those, network cards and the like are no accelerators.
fn is_accelerator(resource: &str) -> bool {
    let resource = resource.to_ascii_lowercase();
    resource.contains('/') && ["gpu", "tpu", "npu", "neuron", "gaudi", "/mig-"].iter().any(|word| resource.contains(word))
}
