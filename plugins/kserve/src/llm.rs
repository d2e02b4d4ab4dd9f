//! `LLMInferenceService`: a model, its adapters, and pod specifications in roles, under configurations that it is based on.

use k8s_aibom_sdk::{Category, Claim, Class, Container, ContainerClass, Duty, Item, Node, Part, PodTemplate, Reader, Report, Want};

use crate::storage::MOUNT;
use crate::{GROUP, LLM, runtime};

/// What a service may be based on.
pub(crate) const CONFIG: &str = "LLMInferenceServiceConfig";
/// Id of the model that adapters are for.
const MODEL: &str = "model";

/// Pod specifications: name of the template, members that lead to it, duty.
const TEMPLATES: [(&str, &[&str], Duty); 6] = [
    ("workload", &["template"], Duty::Engine),
    ("worker", &["worker"], Duty::Engine),
    ("prefill", &["prefill", "template"], Duty::Engine),
    ("prefill-worker", &["prefill", "worker"], Duty::Engine),
    ("scheduler", &["router", "scheduler", "template"], Duty::Infrastructure),
    ("tokenizer", &["router", "scheduler", "tokenizer", "template"], Duty::Infrastructure),
];

/// Whether an object is one. A kind that cannot be read leaves the shape.
pub(crate) fn is_one(object: &Part<'_>) -> bool {
    match object.text("kind") {
        Some(kind) => kind.as_str() == LLM,
        None => !object.part("spec").has("predictor"),
    }
}

/// The configurations that a service names, the lowest first.
pub(crate) fn wants(object: &Part<'_>) -> Vec<Want> {
    let namespace = object.part("metadata").text("namespace").map(|namespace| namespace.value);
    let references = object.part("spec").each("baseRefs");
    let names = references.iter().filter_map(|reference| reference.text("name"));
    names.map(|name| Want::new(GROUP, CONFIG, namespace.clone(), name)).collect()
}

/// What a `LLMInferenceService` says.
pub(crate) fn report<'a>(reader: &'a Reader, object: &Part<'a>, related: &'a [Option<Node>]) -> Report {
    let mut report = Report::new().category(Category::Inference);
    let spec = object.required("spec");
    let bases: Vec<Option<Part<'a>>> = related.iter().map(|node| node.as_ref().map(|node| reader.read(node).required("spec"))).collect();
    // The service itself is the top layer.
    let layers: Vec<Part<'a>> = bases.iter().flatten().cloned().chain([spec.clone()]).filter(Part::exists).collect();

    let used = templates(&layers, &mut report);
    let known = models(&layers, &used, &mut report);
    for (reference, base) in spec.each("baseRefs").iter().filter_map(|reference| reference.text("name")).zip(&bases) {
        let role = if known || base.is_some() { "base" } else { "model-source" };
        report.items.push(Item::new(Class::Configuration, Claim::declared(reference)).role(role));
    }
    settings(&layers, &mut report);
    report
}

/// The part at the end of some members.
fn walk<'a>(from: &Part<'a>, members: &[&str]) -> Part<'a> {
    members.iter().fold(from.clone(), |part, member| part.part(member))
}

/// The first answer from the top layer down.
fn top<'a, T>(layers: &[Part<'a>], read: impl Fn(&Part<'a>) -> Option<T>) -> Option<T> {
    layers.iter().rev().find_map(read)
}

/// Hands the templates over and gives the names of those that run models.
fn templates(layers: &[Part<'_>], report: &mut Report) -> Vec<&'static str> {
    let mut engines = Vec::new();
    for (name, members, duty) in TEMPLATES {
        let all: Vec<Part<'_>> = layers.iter().map(|layer| walk(layer, members)).filter(Part::exists).collect();
        let Some((upper, lower)) = all.split_last() else { continue };
        if duty == Duty::Engine {
            engines.push(name);
        }
        report.pod_templates.extend(upper.place().map(|at| PodTemplate::new(at).name(name).role(name).duty(duty)));
        if duty == Duty::Engine {
            report.items.extend(engine_by_variable(&all, name));
        }
        // The host reads one template as it stands; what other layers add to its containers, or have beside them, is put together here.
        for (list, class) in [("containers", ContainerClass::Main), ("initContainers", ContainerClass::Init)] {
            for container in names(lower, list) {
                let own: Vec<Part<'_>> = all.iter().map(|layer| layer.named(list, &container)).filter(Part::exists).collect();
                let own: Vec<&Part<'_>> = own.iter().collect();
                let merged = runtime::merged(&container, class, name, &own, false);
                report.containers.extend(Some(merged).filter(Container::says_something));
            }
        }
    }
    engines
}

/// The engine of a container without an image, which the controller fills in, by a variable that only this engine reads.
fn engine_by_variable(layers: &[Part<'_>], template: &str) -> Option<Item> {
    names(layers, "containers").into_iter().find_map(|container| {
        let own: Vec<Part<'_>> = layers.iter().map(|layer| layer.named("containers", &container)).filter(Part::exists).collect();
        if own.iter().any(|layer| layer.has("image")) {
            return None;
        }
        let variables = own.iter().flat_map(|layer| layer.each("env")).filter_map(|variable| variable.text("name"));
        let own = variables.into_iter().find(|name| name.value.starts_with("VLLM_"))?;
        Some(Item::new(Class::Runtime, Claim::implied("vllm", own.at)).uses([template]))
    })
}

/// Names of the containers of some layers, each once.
fn names(layers: &[Part<'_>], list: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for name in layers.iter().flat_map(|layer| layer.each(list)).filter_map(|container| container.text("name")) {
        if !found.contains(&name.value) {
            found.push(name.value);
        }
    }
    found
}

/// The model and its adapters. Says whether there is one.
fn models(layers: &[Part<'_>], used: &[&str], report: &mut Report) -> bool {
    let Some(uri) = top(layers, |layer| layer.part("model").text("uri")) else { return false };
    let served = top(layers, |layer| layer.part("model").text("name"));
    let at = uri.at.clone();
    let item = Item::new(Class::Model, Claim::declared(uri)).id(MODEL).uses(used.iter().copied());
    let item =
        item.property("model.servedName", served.map(Claim::declared)).property("model.mountPath", Claim::implied(MOUNT, at.clone()));
    report.items.push(item.property("identity.source", Claim::implied("kserve.model.uri", at)));

    let adapters = top(layers, |layer| Some(layer.part("model").part("lora").each("adapters")).filter(|list| !list.is_empty()));
    for adapter in adapters.unwrap_or_default() {
        let Some(uri) = adapter.text("uri") else { continue };
        let source = Claim::implied("kserve.model.lora.adapters", uri.at.clone());
        let item = Item::new(Class::Adapter, Claim::declared(uri)).role("adapter").uses([MODEL]);
        let item = item.property("model.servedName", adapter.text("name").map(Claim::declared)).property("identity.source", source);
        report.items.push(item);
    }
    true
}

/// Topology and what else an inventory may ask for.
fn settings(layers: &[Part<'_>], report: &mut Report) {
    for (prefix, members) in [("kserve", &[][..]), ("kserve.prefill", &["prefill"])] {
        let replicas = top(layers, |layer| walk(layer, members).integer("replicas"));
        report.state(format!("{prefix}.replicas"), replicas.map(Claim::declared));
        for key in ["tensor", "pipeline", "data", "dataLocal"] {
            let degree = top(layers, |layer| walk(layer, members).part("parallelism").integer(key));
            report.state(format!("{prefix}.parallelism.{key}"), degree.map(Claim::declared));
        }
        let expert = top(layers, |layer| walk(layer, members).part("parallelism").flag("expert"));
        report.state(format!("{prefix}.parallelism.expert"), expert.map(Claim::declared));
    }
    let criticality = top(layers, |layer| layer.part("model").text("criticality"));
    report.state("kserve.model.criticality", criticality.map(Claim::declared));
    let confidential = top(layers, |layer| layer.part("model").part("confidential").flag("enabled"));
    report.state("kserve.model.confidential", confidential.map(Claim::declared));
    for key in ["maxRank", "maxAdapters", "maxCpuAdapters"] {
        let bound = top(layers, |layer| layer.part("model").part("lora").integer(key));
        report.state(format!("kserve.model.lora.{key}"), bound.map(Claim::declared));
    }
    let picker = top(layers, |layer| walk(layer, &["router", "scheduler", "config", "ref"]).text("name"));
    report.items.extend(picker.map(|name| Item::new(Class::Configuration, Claim::declared(name)).role("endpoint-picker")));
    offloading(layers, report);
}

/// Claims that keys and values of the cache are moved to.
fn offloading(layers: &[Part<'_>], report: &mut Report) {
    for layer in layers {
        for tier in layer.part("kvCacheOffloading").each("secondary") {
            let Some(claim) = walk(&tier, &["fileSystem", "pvc", "ref"]).text("name") else { continue };
            let item = Item::new(Class::Volume, Claim::declared(claim.clone()));
            report.items.push(item.property("kserve.volume.kvCache", Claim::implied("true", claim.at)));
        }
    }
}
