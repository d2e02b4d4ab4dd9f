//! Containers of a report: those of its pod templates, read from the objects, and those that stand outside any pod specification.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use aibom_facts::image::ImageReference;
use aibom_facts::object::Locator;
use aibom_facts::redact::{Redactor, URI_USERINFO};
use aibom_facts::report::{ContainerClass, Duty, PodTemplate, Problem, Property};
use aibom_facts::tree::{Kind, NodeId, Tree};

use crate::Subject;
use crate::budget::Budget;
use crate::env::Env;

/// Most containers of one object that are read. A node runs some hundred pods, and the largest object known has 60 containers; what each
/// of them becomes takes some 10 KB while it is written.
const MAX_CONTAINERS: usize = 500;

/// The image of a container as written, but for a user or password in front of the registry.
#[derive(Clone, Debug)]
pub(crate) struct WrittenImage {
    pub(crate) text: String,
    pub(crate) at: Locator,
    /// Where the tag stands, if it has a field of its own.
    pub(crate) tag_at: Option<Locator>,
}

impl WrittenImage {
    fn new(text: &str, at: Locator) -> Self {
        // Taken apart, a secret is none to any rule: what it begins with would be a name, and the rest a tag.
        let text = Redactor::standard().redact(&without_user(text)).0.into_owned();
        Self { text, at, tag_at: None }
    }

    /// The place that says which version it is.
    pub(crate) fn version_at(&self) -> &Locator {
        self.tag_at.as_ref().unwrap_or(&self.at)
    }
}

/// No reference holds a user, a password or a token, but people write them in front of the registry; whatever ends with an `@` that
/// does not begin a digest may be one. It goes before the text is stored anywhere.
fn without_user(text: &str) -> String {
    if ImageReference::parse(text).is_ok() {
        return text.to_owned();
    }
    let (name, _) = text.rsplit_once('@').filter(|(name, tail)| is_digest(name, tail)).unwrap_or((text, ""));
    match name.rfind('@') {
        Some(at) if at > 0 => format!("[REDACTED:{URI_USERINFO}]{}", &text[at..]),
        _ => text.to_owned(),
    }
}

/// Whether a digest, right or wrong, or a placeholder of one stands behind a name.
fn is_digest(name: &str, tail: &str) -> bool {
    let placeholder = tail.starts_with(['$', '{', '<', '%']) && !tail.contains('/');
    // `user:password@$IMAGE` is no name with a tag for sure.
    tail.starts_with("sha256:") || tail.starts_with("sha512:") || (placeholder && (name.contains('/') || !name.contains(':')))
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
    /// What runs in it right after its start, beside its own program.
    pub(crate) hook: Vec<(String, Locator)>,
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

    /// Its value, of a fraction too.
    pub(crate) fn value(&self) -> Option<&'a str> {
        self.tree.value(self.node)
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

/// What is read once for all containers of an object.
struct Shared<'s, 'a> {
    subject: &'s Subject<'a>,
    budget: &'s Budget,
    /// Inherited lists, by their places.
    inherited: HashMap<&'s [Locator], Rc<Env>>,
}

impl<'s> Shared<'s, '_> {
    /// The environment of a container before its own lists.
    fn env(&mut self, template: Option<&'s PodTemplate>, problems: &mut Vec<Problem>) -> Env {
        let Some(lists) = template.map(|template| template.inherited_env.as_slice()).filter(|lists| !lists.is_empty()) else {
            return Env::new(self.budget);
        };
        let (subject, budget) = (self.subject, self.budget);
        let base = self.inherited.entry(lists).or_insert_with(|| {
            let mut env = Env::new(budget);
            for list in lists.iter().filter_map(|at| resolve(subject, at)) {
                env.add_list(list.tree, list.object, list.node, problems);
            }
            Rc::new(env)
        });
        Env::on(base)
    }
}

/// All containers, in the order of the report. Malformed parts, and what is too much, are added to the problems.
pub(crate) fn containers<'a>(subject: &Subject<'a>, budget: &Budget, problems: &mut Vec<Problem>) -> Vec<Container<'a>> {
    let report = subject.report;
    let mut out = Vec::new();
    let mut left_out: Option<(Locator, usize)> = None;
    let mut leave_out = |at: Locator| left_out.get_or_insert((at, 0)).1 += 1;
    let mut shared = Shared { subject, budget, inherited: HashMap::new() };
    let mut pods: BTreeMap<&str, (Place<'a>, &PodTemplate)> = BTreeMap::new();
    // A template that is only named by a container may still be in the report without a place that resolves.
    let mut duties: BTreeMap<&str, Duty> = BTreeMap::new();
    for template in &report.pod_templates {
        duties.entry(&template.name).or_insert(template.duty);
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
                if out.len() >= MAX_CONTAINERS {
                    leave_out(item.at());
                    continue;
                }
                let restarts = initial == ContainerClass::Init && item.text_of("restartPolicy") == Some("Always");
                let class = if restarts { ContainerClass::Sidecar } else { initial };
                let env = shared.env(Some(template), problems);
                out.push(written(item, env, class, pod, template, budget, problems));
            }
        }
    }
    for container in &report.containers {
        if out.len() >= MAX_CONTAINERS {
            leave_out(place_of(container).cloned().unwrap_or_default());
            continue;
        }
        let template = pods.get(container.template.as_str());
        let env = shared.env(template.map(|(_, template)| *template), problems);
        let duty = duties.get(container.template.as_str()).copied().unwrap_or_default();
        out.push(reported(subject, container, env, duty, template.map(|(pod, _)| *pod), budget, problems));
    }
    if let Some((at, more)) = left_out {
        let message = format!("the object has more than {MAX_CONTAINERS} containers; {more} from this one on are not read");
        problems.push(Problem { at, message });
    }
    out
}

/// The first place of a container of the report.
fn place_of(container: &aibom_facts::report::Container) -> Option<&Locator> {
    container.command.as_ref().or(container.args.first()).or(container.env.first())
}

fn written<'a>(
    item: Place<'a>,
    mut env: Env,
    class: ContainerClass,
    pod: Place<'a>,
    template: &PodTemplate,
    budget: &Budget,
    problems: &mut Vec<Problem>,
) -> Container<'a> {
    if let Some(list) = item.get("env") {
        env.add_list(list.tree, list.object, list.node, problems);
    }
    if let Some(list) = item.get("envFrom") {
        env.add_from(list.tree, list.object, list.node);
    }
    let image = item.get("image").and_then(|place| match place.text() {
        Some(text) if !text.trim().is_empty() => Some(WrittenImage::new(text, place.at())),
        Some(_) => None,
        None => {
            problems.push(Problem { at: place.at(), message: "the image is not a text".to_owned() });
            None
        }
    });
    let hook = ["lifecycle", "postStart", "exec", "command"].iter().try_fold(item, |place, key| place.get(key));
    Container {
        name: item.text_of("name").unwrap_or_default().to_owned(),
        class,
        template: template.name.clone(),
        duty: template.duty,
        at: item.at(),
        image,
        command: list(item.get("command"), "command", budget, problems),
        args: list(item.get("args"), "args", budget, problems),
        hook: list(hook, "command", budget, problems),
        env,
        mounts: item.get("volumeMounts"),
        resources: item.get("resources"),
        pod: Some(pod),
        properties: Vec::new(),
    }
}

fn reported<'a>(
    subject: &Subject<'a>,
    container: &aibom_facts::report::Container,
    mut env: Env,
    duty: Duty,
    pod: Option<Place<'a>>,
    budget: &Budget,
    problems: &mut Vec<Problem>,
) -> Container<'a> {
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
        let (first, others) = claim.at.split_first()?;
        let is_tag = |at: &Locator| {
            let tag = resolve(subject, at).and_then(|place| place.scalar().map(str::to_owned));
            tag.is_some_and(|tag| claim.text.strip_suffix(&*tag).is_some_and(|name| name.ends_with(':')))
        };
        let tag_at = others.iter().find(|at| is_tag(at)).cloned();
        (!claim.text.trim().is_empty()).then(|| WrittenImage { tag_at, ..WrittenImage::new(&claim.text, first.clone()) })
    });
    Container {
        name: container.name.clone(),
        class: container.class,
        template: container.template.clone(),
        duty,
        at: image.as_ref().map(|image| image.at.clone()).or_else(|| place_of(container).cloned()).unwrap_or_default(),
        image,
        command: list(at(&container.command), "command", budget, problems),
        args: container.args.iter().flat_map(|at| list(resolve(subject, at), "args", budget, problems)).collect(),
        hook: Vec::new(),
        env,
        mounts: at(&container.volume_mounts),
        resources: at(&container.resources),
        pod,
        properties: container.properties.clone(),
    }
}

/// The texts of a list. Anything else is a problem.
fn list(place: Option<Place<'_>>, what: &str, budget: &Budget, problems: &mut Vec<Problem>) -> Vec<(String, Locator)> {
    let Some(place) = place else { return Vec::new() };
    if place.tree.kind(place.node) != Kind::Array {
        problems.push(Problem { at: place.at(), message: format!("{what} is not a list and is not read") });
        return Vec::new();
    }
    let mut out = Vec::new();
    for item in place.items() {
        if !budget.admits_word() {
            continue;
        }
        match item.scalar() {
            Some(text) => {
                if item.text().is_none() {
                    problems.push(Problem { at: item.at(), message: format!("an element of {what} is not a text; it is read as written") });
                }
                // A key of several lines would be taken for a script, and a line of it for the name of a program.
                let text = if text.contains("PRIVATE KEY-----") { Redactor::standard().redact(text).0 } else { text.into() };
                out.push((text.into_owned(), item.at()));
            }
            None => problems.push(Problem { at: item.at(), message: format!("an element of {what} is not a text and is not read") }),
        }
    }
    out
}
