//! ServingRuntimes: which one a predictor refers to, and how its fields and those of the predictor become one container.

use k8s_aibom_sdk::{Claim, Class, Container, ContainerClass, Item, Node, Part, Reader, Report, Text, Want};

use crate::GROUP;

/// Kind in the namespace of the service; looked for first.
pub(crate) const NAMESPACED: &str = "ServingRuntime";
/// Kind for the whole cluster.
pub(crate) const CLUSTER: &str = "ClusterServingRuntime";
/// Name that the server's container has in every runtime and in the pod.
pub(crate) const SERVER: &str = "kserve-container";
/// Name of its counterpart in a worker.
const WORKER: &str = "worker-container";

/// A named runtime and the kinds that may have the name.
struct Reference {
    name: Text,
    kinds: &'static [&'static str],
}

/// References of all predictors, each name once per kind.
fn references(object: &Part<'_>) -> Vec<Reference> {
    let spec = object.part("spec");
    let mut predictors = vec![spec.part("predictor")];
    predictors.extend(spec.each("canary").iter().map(|canary| canary.part("predictor")));
    let named = predictors.iter().filter_map(|predictor| predictor.part("model").text("runtime"));
    let mut found: Vec<Reference> = named.map(|name| Reference { name, kinds: &[NAMESPACED, CLUSTER] }).collect();
    if found.is_empty() {
        let status = object.part("status");
        for (key, kinds) in [("servingRuntimeName", &[NAMESPACED]), ("clusterServingRuntimeName", &[CLUSTER])] {
            found.extend(status.text(key).map(|name| Reference { name, kinds }));
        }
    }
    found
}

/// What to ask the host for.
pub(crate) fn wants(object: &Part<'_>) -> Vec<Want> {
    let namespace = object.part("metadata").text("namespace").map(|namespace| namespace.value);
    let mut wants: Vec<Want> = Vec::new();
    for Reference { name, kinds } in references(object) {
        for kind in kinds {
            let namespace = if *kind == NAMESPACED { namespace.clone() } else { None };
            if !wants.iter().any(|want| want.kind == *kind && want.name == name.value) {
                wants.push(Want::new(GROUP, kind, namespace, name.clone()));
            }
        }
    }
    wants
}

/// The runtimes that the host handed over.
pub(crate) struct Runtimes<'a> {
    /// Kind, name and content, in the order of wants.
    given: Vec<(String, String, Part<'a>)>,
    /// The one that the controller chose, where the object names none.
    chosen: Option<Text>,
}

impl<'a> Runtimes<'a> {
    pub(crate) fn new(reader: &'a Reader, object: &Part<'a>, related: &'a [Option<Node>]) -> Self {
        let answers = wants(object).into_iter().zip(related);
        let given = answers.filter_map(|(want, node)| Some((want.kind, want.name, reader.read(node.as_ref()?))));
        let status = object.part("status");
        let chosen = ["servingRuntimeName", "clusterServingRuntimeName"].into_iter().find_map(|key| status.text(key));
        Self { given: given.collect(), chosen }
    }

    /// The runtime of a predictor's model, by name: what the object says, else what the controller chose.
    pub(crate) fn reference(&self, model: &Part<'a>) -> Option<Text> {
        model.text("runtime").or_else(|| self.chosen.clone())
    }

    /// The specification of a runtime; absent where the host did not hand it over.
    pub(crate) fn find(&self, reader: &'a Reader, name: Option<&Text>) -> Part<'a> {
        let found = name.and_then(|name| self.given.iter().find(|(_, known, _)| *known == name.value));
        found.map_or_else(|| reader.nothing(), |(_, _, part)| part.required("spec"))
    }
}

/// The server's container in a runtime: the one of that name, else the first.
pub(crate) fn server<'a>(runtime: &Part<'a>) -> Part<'a> {
    let named = runtime.named("containers", SERVER);
    if named.exists() { named } else { runtime.each("containers").into_iter().next().unwrap_or(named) }
}

/// The image of a predictor: its own or the runtime's, with the tag that `runtimeVersion` replaces.
pub(crate) fn image(model: &Part<'_>, server: &Part<'_>) -> Option<Claim> {
    let image = model.text("image").or_else(|| server.text("image"))?;
    let Some(version) = model.scalar("runtimeVersion") else { return Some(Claim::declared(image)) };
    let (path, name) = image.value.rsplit_once('/').map_or(("", image.as_str()), |(path, name)| (&image.value[..=path.len()], name));
    // A digest stays: what KServe makes of one with a version is no reference.
    if name.contains('@') {
        return Some(Claim::declared(image));
    }
    let repository = name.split_once(':').map_or(name, |(repository, _)| repository);
    if repository.len() == name.len() {
        return Some(Claim::joined(&[&image, &version], ':'));
    }
    Some(Claim::derived(format!("{path}{repository}:{}", version.value), [image.at.clone(), version.at]))
}

/// One container of several layers, the lowest first: arguments are appended or replaced, variables added up, all else replaced.
pub(crate) fn merged(name: &str, class: ContainerClass, template: &str, layers: &[&Part<'_>], append: bool) -> Container {
    let top = |key: &str| layers.iter().rev().find_map(|layer| layer.list(key));
    let mut container = Container::new(name, class)
        .template(template)
        .image(layers.iter().rev().find_map(|layer| layer.text("image")).map(Claim::declared))
        .command(top("command"))
        .volume_mounts(top("volumeMounts"))
        .resources(layers.iter().rev().find_map(|layer| layer.part("resources").place()));
    for layer in layers {
        container = container.env(layer.list("env")).env_from(layer.list("envFrom"));
    }
    if append { layers.iter().fold(container, |container, layer| container.args(layer.list("args"))) } else { container.args(top("args")) }
}

/// Containers of a runtime beside the server, under those of the same name in the predictor.
pub(crate) fn helpers<'a>(runtime: &Part<'a>, predictor: &Part<'a>, template: &str, report: &mut Report) {
    let server = server(runtime).place();
    for container in runtime.each("containers").iter().filter(|container| container.place() != server) {
        let name = container.text("name").map(|name| name.value).unwrap_or_default();
        let own = predictor.named("containers", &name);
        let class = ContainerClass::Sidecar;
        report.containers.extend(Some(merged(&name, class, template, &[container, &own], true)).filter(Container::says_something));
    }
}

/// Containers of the runtime's workers, under those of the same name in the predictor's.
pub(crate) fn workers<'a>(runtime: &Part<'a>, own: &Part<'a>, template: &str, report: &mut Report) {
    for container in runtime.part("workerSpec").each("containers") {
        let name = container.text("name").map_or_else(|| WORKER.to_owned(), |name| name.value);
        let own = own.named("containers", &name);
        let merged = merged(&name, ContainerClass::Main, template, &[&container, &own], true);
        report.containers.extend(Some(merged).filter(Container::says_something));
    }
}

/// Volume claims of a runtime that its server mounts; the predictor's own stand in its pod specification.
pub(crate) fn volumes(runtime: &Part<'_>, template: &str, report: &mut Report) {
    let mounts = server(runtime).each("volumeMounts");
    for volume in runtime.each("volumes") {
        let Some(claim) = volume.part("persistentVolumeClaim").text("claimName") else { continue };
        let name = volume.text("name");
        let mount = mounts.iter().find(|mount| mount.text("name").map(|name| name.value) == name.as_ref().map(|name| name.value.clone()));
        let path = mount.and_then(|mount| mount.text("mountPath")).map(Claim::declared);
        report.items.push(Item::new(Class::Volume, Claim::declared(claim)).uses([template]).property("volume.mountPath", path));
    }
}
