//! Manifests of the corpus with reports made by hand, by pointer.

use std::path::{Path, PathBuf};

use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Basis, Claim, Container, ContainerClass, Duty, Item, ItemClass, PodTemplate, Report};
use aibom_facts::tree::{NodeId, Tree};

pub(crate) const PLAIN: [&str; 6] = ["Deployment", "StatefulSet", "DaemonSet", "Job", "Pod", "ReplicaSet"];

pub(crate) fn corpus() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if path.is_dir() {
        return Some(path);
    }
    eprintln!("SKIPPED: the corpus is not read because ../shared is absent");
    None
}

fn at(pointer: &str) -> Locator {
    Locator::scraped(Pointer::parse(pointer).expect("a JSON pointer"))
}

fn claim(text: &str, pointer: &str) -> Claim {
    Claim { text: text.to_owned(), basis: Basis::Declared, at: vec![at(pointer)] }
}

fn item(class: ItemClass, name: Claim) -> Item {
    Item { id: String::new(), class, role: String::new(), name, version: None, sources: vec![], uses: vec![], properties: vec![] }
}

fn template(pointer: &str, name: &str, duty: Duty, inherited_env: Vec<Locator>) -> PodTemplate {
    PodTemplate { at: at(pointer), name: name.to_owned(), role: String::new(), duty, inherited_env, properties: vec![] }
}

struct Object<'t> {
    tree: &'t Tree,
}

impl Object<'_> {
    fn node(&self, pointer: &str) -> Option<NodeId> {
        self.tree.at(self.tree.root(), pointer)
    }

    fn text(&self, pointer: &str) -> Option<String> {
        self.node(pointer).and_then(|node| self.tree.value(node)).map(str::to_owned)
    }

    fn place(&self, pointer: &str) -> Option<Locator> {
        self.node(pointer).map(|_| at(pointer))
    }

    fn container(&self, name: &str, class: ContainerClass, pointer: &str, template: &str) -> Container {
        let own = |key: &str| self.place(&format!("{pointer}/{key}"));
        Container {
            name: name.to_owned(),
            class,
            template: template.to_owned(),
            image: self.text(&format!("{pointer}/image")).map(|text| claim(&text, &format!("{pointer}/image"))),
            command: own("command"),
            args: own("args").into_iter().collect(),
            env: own("env").into_iter().collect(),
            env_from: own("envFrom").into_iter().collect(),
            volume_mounts: own("volumeMounts"),
            resources: own("resources"),
            properties: vec![],
        }
    }
}

fn duty(kind: Option<&str>, name: &str) -> Duty {
    match kind {
        Some("worker" | "prefill" | "decode") => Duty::Engine,
        Some("frontend" | "planner" | "epp" | "router") => Duty::Infrastructure,
        _ if ["frontend", "planner", "processor", "router"].contains(&name.to_lowercase().as_str()) => Duty::Infrastructure,
        _ => Duty::Unknown,
    }
}

fn graph(object: &Object<'_>) -> Report {
    let mut report = Report { categories: vec!["inference".to_owned()], ..Report::default() };
    report.items.push(item(ItemClass::Runtime, Claim { text: "dynamo".to_owned(), basis: Basis::Implied, at: vec![at("/kind")] }));
    if let Some(name) = object.text("/spec/backendFramework") {
        report.items.push(item(ItemClass::Runtime, claim(&name, "/spec/backendFramework")));
    }
    let mut components: Vec<(String, String)> = Vec::new();
    if let Some(list) = object.node("/spec/components") {
        for (index, node) in object.tree.items(list).enumerate() {
            let name = object.tree.get(node, "name").and_then(|node| object.tree.text(node)).unwrap_or_default();
            components.push((format!("/spec/components/{index}"), name.to_owned()));
        }
    }
    if let Some(map) = object.node("/spec/services") {
        components.extend(object.tree.members(map).map(|(name, _)| (format!("/spec/services/{name}"), name.to_owned())));
    }
    if components.is_empty() && (object.node("/spec/podTemplate").is_some() || object.node("/spec/extraPodSpec").is_some()) {
        components.push(("/spec".to_owned(), String::new()));
    }
    for (base, name) in components {
        let own = |key: &str| format!("{base}/{key}");
        let kind = object.text(&own("type")).or_else(|| object.text(&own("componentType")));
        let mut inherited: Vec<Locator> = ["/spec/env", "/spec/envs"].iter().filter_map(|pointer| object.place(pointer)).collect();
        inherited.extend(object.place(&own("envs")).filter(|_| base != "/spec"));
        let duty = duty(kind.as_deref(), &name);
        if object.node(&own("podTemplate")).is_some() {
            report.pod_templates.push(template(&own("podTemplate"), &name, duty, inherited.clone()));
        }
        if object.node(&own("extraPodSpec")).is_some() {
            report.pod_templates.push(template(&own("extraPodSpec"), &name, duty, inherited));
            if object.node(&own("extraPodSpec/mainContainer")).is_some() {
                report.containers.push(object.container("main", ContainerClass::Main, &own("extraPodSpec/mainContainer"), &name));
            }
        }
        if object.node(&own("frontendSidecar/image")).is_some() {
            report.containers.push(object.container("frontendSidecar", ContainerClass::Sidecar, &own("frontendSidecar"), &name));
        }
        if let Some(model) = object.text(&own("modelRef/name")) {
            report.items.push(item(ItemClass::Model, claim(&model, &own("modelRef/name"))));
        }
    }
    report
}

fn nim(object: &Object<'_>) -> Report {
    let mut report = Report { categories: vec!["inference".to_owned()], ..Report::default() };
    report.items.push(item(ItemClass::Runtime, Claim { text: "nim".to_owned(), basis: Basis::Implied, at: vec![at("/kind")] }));
    let text = |pointer: &str| object.text(pointer).unwrap_or_default();
    let image = format!("{}:{}", text("/spec/image/repository"), text("/spec/image/tag"));
    let mut container = object.container(&text("/metadata/name"), ContainerClass::Main, "/spec", "");
    container.image = Some(Claim { text: image, basis: Basis::Declared, at: vec![at("/spec/image/repository"), at("/spec/image/tag")] });
    report.containers.push(container);
    if let Some(name) = object.text("/spec/storage/nimCache/name") {
        let mut cache = item(ItemClass::Configuration, claim(&name, "/spec/storage/nimCache/name"));
        cache.role.push_str("model-source");
        report.items.push(cache);
    }
    if text("/spec/storage/nimCache/profile").contains("tensorrt_llm") {
        let engine = Claim { text: "tensorrt-llm".to_owned(), basis: Basis::Derived, at: vec![at("/spec/storage/nimCache/profile")] };
        report.items.push(item(ItemClass::Runtime, engine));
    }
    report
}

pub(crate) fn report(tree: &Tree) -> Option<Report> {
    let object = Object { tree };
    let plain = |pointer: &str| Report { pod_templates: vec![template(pointer, "", Duty::Unknown, vec![])], ..Report::default() };
    Some(match object.text("/kind")?.as_str() {
        "DynamoGraphDeployment" | "DynamoComponentDeployment" => graph(&object),
        "NIMService" => nim(&object),
        "Pod" => plain(""),
        kind if PLAIN.contains(&kind) => plain("/spec/template"),
        _ => return None,
    })
}

/// The documents of a file; empty ones count, but for what stands above a first separator.
pub(crate) fn documents(text: &str) -> Vec<String> {
    let mut documents = vec![String::new()];
    for line in text.lines() {
        if line.trim_end() == "---" || line.starts_with("--- ") {
            let preamble = documents.len() == 1 && documents[0].lines().all(|line| line.trim().is_empty() || line.starts_with('#'));
            if !preamble {
                documents.push(String::new());
            }
        } else if let Some(last) = documents.last_mut() {
            last.push_str(line);
            last.push('\n');
        }
    }
    documents
}
