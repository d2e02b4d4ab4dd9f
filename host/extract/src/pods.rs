//! Containers of a report: those of its pod templates, read from the objects, and those that stand outside any pod specification.

use std::collections::BTreeMap;

use aibom_facts::object::Locator;
use aibom_facts::report::{ContainerClass, Duty, PodTemplate, Problem, Property, Report};
use aibom_facts::tree::{Kind, NodeId, Tree};

use crate::Subject;
use crate::env::Env;

/// The image of a container as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenImage {
    pub(crate) text: String,
    pub(crate) at: Locator,
}

/// One container, whatever it was read from.
#[derive(Clone, Debug)]
pub(crate) struct Container<'a> {
    pub(crate) name: String,
    pub(crate) class: ContainerClass,
    /// Name of its template; empty for the only one of an object.
    pub(crate) template: String,
    pub(crate) duty: Duty,
    /// Its own place, or the place of its image.
    pub(crate) at: Locator,
    pub(crate) image: Option<WrittenImage>,
    pub(crate) command: Vec<(String, Locator)>,
    pub(crate) args: Vec<(String, Locator)>,
    pub(crate) env: Env,
    pub(crate) mounts: Option<Place<'a>>,
    pub(crate) resources: Option<Place<'a>>,
    /// The pod specification around it.
    pub(crate) pod: Option<Place<'a>>,
    pub(crate) properties: Vec<Property>,
}

/// A node of one of the objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) object: u32,
    pub(crate) node: NodeId,
}

impl<'a> Place<'a> {
    pub(crate) fn at(&self) -> Locator {
        self.locate(self.node)
    }

    pub(crate) fn locate(&self, node: NodeId) -> Locator {
        Locator { object: self.object, pointer: self.tree.pointer(node) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        self.tree.get(self.node, key).map(|node| Self { node, ..*self })
    }

    pub(crate) fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let place = *self;
        self.tree.items(self.node).map(move |node| Place { node, ..place })
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let place = *self;
        place.tree.members(place.node).map(move |(key, node)| (key, Place { node, ..place }))
    }

    pub(crate) fn text(&self) -> Option<&'a str> {
        self.tree.text(self.node)
    }

    pub(crate) fn scalar(&self) -> Option<&'a str> {
        self.tree.scalar(self.node)
    }

    pub(crate) fn text_of(&self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(|place| place.text())
    }
}

/// Resolves a place of the report.
pub(crate) fn resolve<'a>(subject: &Subject<'a>, at: &Locator) -> Option<Place<'a>> {
    let tree = subject.trees.get(at.object as usize).copied().flatten()?;
    let node = tree.at(tree.root(), at.pointer.as_str())?;
    Some(Place { tree, object: at.object, node })
}

/// The PodSpec of a template, which holds one under `spec` or is one.
fn pod_spec(place: Place<'_>) -> Place<'_> {
    match place.get("spec") {
        Some(spec) if spec.tree.kind(spec.node) == Kind::Object && place.get("containers").is_none() => spec,
        _ => place,
    }
}

/// All containers, in the order of the report. Malformed parts are added to the problems.
pub(crate) fn containers<'a>(subject: &Subject<'a>, problems: &mut Vec<Problem>) -> Vec<Container<'a>> {
    let report = subject.report;
    let mut out = Vec::new();
    let mut pods: BTreeMap<&str, (Place<'a>, &PodTemplate)> = BTreeMap::new();
    for template in &report.pod_templates {
        let Some(place) = resolve(subject, &template.at) else { continue };
        let pod = pod_spec(place);
        pods.insert(&template.name, (pod, template));
        for (key, initial) in [
            ("containers", ContainerClass::Main),
            ("initContainers", ContainerClass::Init),
            ("ephemeralContainers", ContainerClass::Sidecar),
        ] {
            let Some(list) = pod.get(key) else { continue };
            if list.tree.kind(list.node) != Kind::Array {
                problems.push(Problem { at: list.at(), message: format!("{key} is not a list; its containers are not read") });
                continue;
            }
            for item in list.items() {
                if item.tree.kind(item.node) != Kind::Object {
                    problems.push(Problem { at: item.at(), message: "a container that is not an object is not read".to_owned() });
                    continue;
                }
                let restarts = initial == ContainerClass::Init && item.text_of("restartPolicy") == Some("Always");
                let class = if restarts { ContainerClass::Sidecar } else { initial };
                out.push(written(subject, item, class, pod, template, problems));
            }
        }
    }
    for container in &report.containers {
        out.push(reported(subject, report, container, &pods, problems));
    }
    out
}

fn written<'a>(
    subject: &Subject<'a>,
    item: Place<'a>,
    class: ContainerClass,
    pod: Place<'a>,
    template: &PodTemplate,
    problems: &mut Vec<Problem>,
) -> Container<'a> {
    let mut env = Env::default();
    inherit(subject, template, &mut env, problems);
    if let Some(list) = item.get("env") {
        env.add_list(list.tree, list.object, list.node, problems);
    }
    if let Some(list) = item.get("envFrom") {
        env.add_from(list.tree, list.object, list.node);
    }
    let image = item.get("image").and_then(|place| match place.text() {
        Some(text) if !text.trim().is_empty() => Some(WrittenImage { text: text.to_owned(), at: place.at() }),
        Some(_) => None,
        None => {
            problems.push(Problem { at: place.at(), message: "the image is not a text".to_owned() });
            None
        }
    });
    Container {
        name: item.text_of("name").unwrap_or_default().to_owned(),
        class,
        template: template.name.clone(),
        duty: template.duty,
        at: item.at(),
        image,
        command: list(item.get("command"), "command", problems),
        args: list(item.get("args"), "args", problems),
        env,
        mounts: item.get("volumeMounts"),
        resources: item.get("resources"),
        pod: Some(pod),
        properties: Vec::new(),
    }
}

fn inherit(subject: &Subject<'_>, template: &PodTemplate, env: &mut Env, problems: &mut Vec<Problem>) {
    for at in &template.inherited_env {
        if let Some(list) = resolve(subject, at) {
            env.add_list(list.tree, list.object, list.node, problems);
        }
    }
}

fn reported<'a>(
    subject: &Subject<'a>,
    report: &Report,
    container: &aibom_facts::report::Container,
    pods: &BTreeMap<&str, (Place<'a>, &PodTemplate)>,
    problems: &mut Vec<Problem>,
) -> Container<'a> {
    let template = pods.get(container.template.as_str());
    let mut env = Env::default();
    if let Some((_, template)) = template {
        inherit(subject, template, &mut env, problems);
    }
    for at in &container.env {
        if let Some(list) = resolve(subject, at) {
            env.add_list(list.tree, list.object, list.node, problems);
        }
    }
    for at in &container.env_from {
        if let Some(list) = resolve(subject, at) {
            env.add_from(list.tree, list.object, list.node);
        }
    }
    let at = |locator: &Option<Locator>| locator.as_ref().and_then(|at| resolve(subject, at));
    let image = container.image.as_ref().and_then(|claim| {
        let at = claim.at.first().cloned()?;
        (!claim.text.trim().is_empty()).then(|| WrittenImage { text: claim.text.clone(), at })
    });
    let place = container.command.as_ref().or(container.args.as_ref()).or(container.env.first());
    Container {
        name: container.name.clone(),
        class: container.class,
        template: container.template.clone(),
        // A template that is only named by the container may still be in the report without a place that resolves.
        duty: report
            .pod_templates
            .iter()
            .find(|template| template.name == container.template)
            .map(|template| template.duty)
            .unwrap_or_default(),
        at: image.as_ref().map(|image| image.at.clone()).or_else(|| place.cloned()).unwrap_or_default(),
        image,
        command: list(at(&container.command), "command", problems),
        args: list(at(&container.args), "args", problems),
        env,
        mounts: at(&container.volume_mounts),
        resources: at(&container.resources),
        pod: template.map(|(pod, _)| *pod),
        properties: container.properties.clone(),
    }
}

/// The texts of a list. Anything else is a problem.
fn list(place: Option<Place<'_>>, what: &str, problems: &mut Vec<Problem>) -> Vec<(String, Locator)> {
    let Some(place) = place else { return Vec::new() };
    if place.tree.kind(place.node) != Kind::Array {
        problems.push(Problem { at: place.at(), message: format!("{what} is not a list and is not read") });
        return Vec::new();
    }
    let mut out = Vec::new();
    for item in place.items() {
        match item.scalar() {
            Some(text) => {
                if item.text().is_none() {
                    problems.push(Problem { at: item.at(), message: format!("an element of {what} is not a text; it is read as written") });
                }
                out.push((text.to_owned(), item.at()));
            }
            None => problems.push(Problem { at: item.at(), message: format!("an element of {what} is not a text and is not read") }),
        }
    }
    out
}
