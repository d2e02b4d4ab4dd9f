//! What a graph is, whatever version it was written in, and what the inventory learns from it.

use k8s_aibom_sdk::{Category, Claim, Class, Container, Duty, Found, Item, Locator, Part, PodTemplate, Report, Text};

/// A graph of components.
#[derive(Default)]
pub(crate) struct Graph {
    /// Declared engine of the workers.
    pub(crate) framework: Option<Text>,
    /// Env list that every component gets.
    pub(crate) env: Option<Locator>,
    /// Components, in object order.
    pub(crate) components: Vec<Component>,
    /// Volume claims of the graph that no component need mount.
    pub(crate) claims: Vec<Text>,
}

/// One component.
pub(crate) struct Component {
    /// Name and where it comes from.
    pub(crate) name: Claim,
    /// What it is for, in v1beta1's words.
    pub(crate) kind: Option<Text>,
    /// Pod template or pod spec, if the object has one.
    pub(crate) template: Option<Locator>,
    /// Containers outside the template.
    pub(crate) containers: Vec<Container>,
    /// Declared models with their revision.
    pub(crate) models: Vec<(Text, Option<Text>)>,
    /// Volume claims that are mounted though the template does not list them.
    pub(crate) mounts: Vec<Mount>,
    /// Accelerators asked for outside the template's containers.
    pub(crate) devices: Vec<Device>,
    /// Name of a ConfigMap with the endpoint picker's configuration.
    pub(crate) picker_config: Option<Text>,
    /// Further facts by the last part of their name.
    pub(crate) facts: Vec<(&'static str, Claim)>,
}

/// A mounted volume claim.
pub(crate) struct Mount {
    pub(crate) claim: Text,
    pub(crate) path: Option<Text>,
    /// What says that it holds compiled kernels, not weights.
    pub(crate) compilation_cache: Option<Locator>,
}

/// A requested accelerator.
pub(crate) struct Device {
    pub(crate) name: Claim,
    pub(crate) quantity: Claim,
}

impl Component {
    pub(crate) fn new(name: Claim) -> Self {
        Self {
            name,
            kind: None,
            template: None,
            containers: Vec::new(),
            models: Vec::new(),
            mounts: Vec::new(),
            devices: Vec::new(),
            picker_config: None,
            facts: Vec::new(),
        }
    }

    pub(crate) fn fact(&mut self, name: &'static str, value: Option<Claim>) {
        self.facts.extend(value.map(|value| (name, value)));
    }

    /// Fields that both versions write alike.
    pub(crate) fn common(&mut self, part: &Part<'_>) {
        let model = part.part("modelRef");
        self.models.extend(model.text("name").map(|name| (name, model.text("revision"))));
        self.picker_config = part.part("eppConfig").part("configMapRef").text("name");
        self.fact("replicas", part.integer("replicas").map(Claim::declared));
        self.fact("multinode.nodeCount", part.part("multinode").integer("nodeCount").map(Claim::declared));
        self.fact("runtimeVersionOverride", part.text("runtimeVersionOverride").map(Claim::declared));
    }

    /// A checkpoint, at `checkpoint` of a v1alpha1 service and of v1beta1's `experimental`. Its identity is deprecated and still a
    /// declared model name.
    pub(crate) fn checkpoint(&mut self, part: &Part<'_>) {
        let checkpoint = part.part("checkpoint");
        if checkpoint.flag("enabled").is_some_and(|enabled| !enabled.value) {
            return;
        }
        self.models.extend(checkpoint.part("identity").text("model").map(|name| (name, None)));
        self.fact("checkpoint.ref", checkpoint.text("checkpointRef").map(Claim::declared));
    }

    fn duty(&self) -> Duty {
        match self.kind.as_ref().map(Found::as_str) {
            Some("worker" | "prefill" | "decode") => Duty::Engine,
            Some("frontend" | "planner" | "epp") => Duty::Infrastructure,
            _ => Duty::Unknown,
        }
    }
}

impl Graph {
    /// What the inventory learns.
    pub(crate) fn report(self, object: &Part<'_>) -> Report {
        let mut report = Report::new().category(Category::Inference);
        doubles(&self.components, object);
        self.runtimes(object, &mut report);
        self.volumes(&mut report);
        for component in self.components {
            component.report(self.env.as_ref(), &mut report);
        }
        report
    }

    fn runtimes(&self, object: &Part<'_>, report: &mut Report) {
        if let Some(kind) = object.text("kind") {
            report.items.push(Item::new(Class::Runtime, Claim::implied("dynamo", kind.at)));
        }
        let Some(framework) = self.framework.clone() else { return };
        report.state("dynamo.backendFramework", Claim::declared(framework.clone()));
        let name = match framework.as_str() {
            "vllm" | "sglang" => Claim::declared(framework),
            "trtllm" => Claim::derived("tensorrt-llm", [framework.at]),
            _ => return,
        };
        let engines = self.components.iter().filter(|component| component.template.is_some() && component.duty() != Duty::Infrastructure);
        let engines: Vec<_> = engines.map(|component| component.name.text.clone()).collect();
        report.items.push(Item::new(Class::Runtime, name).uses(engines));
    }

    /// One item per volume claim, however often it is mounted.
    fn volumes(&self, report: &mut Report) {
        let mut items: Vec<Item> = Vec::new();
        for component in &self.components {
            for mount in &component.mounts {
                let index = items.iter().position(|item| item.name.text == mount.claim.value).unwrap_or_else(|| {
                    items.push(Item::new(Class::Volume, Claim::declared(mount.claim.clone())));
                    items.len() - 1
                });
                let item = &mut items[index];
                if component.template.is_some() && !item.uses.contains(&component.name.text) {
                    item.uses.push(component.name.text.clone());
                }
                let path = mount.path.clone().map(Claim::declared);
                let cache = mount.compilation_cache.clone().map(|at| Claim::implied("true", at));
                for (name, value) in [("volume.mountPath", path), ("dynamo.volume.compilationCache", cache)] {
                    let known = |value: &Claim| item.properties.iter().any(|known| known.name == name && known.value.text == value.text);
                    let new = value.filter(|value| !known(value));
                    *item = item.clone().property(name, new);
                }
            }
        }
        for claim in &self.claims {
            if !items.iter().any(|item| item.name.text == claim.value) {
                items.push(Item::new(Class::Volume, Claim::declared(claim.clone())));
            }
        }
        report.items.append(&mut items);
    }
}

/// The API server keeps names apart, a file need not. The host gives the second one another name.
fn doubles(components: &[Component], object: &Part<'_>) {
    for (index, component) in components.iter().enumerate() {
        let name = &component.name.text;
        if components[..index].iter().any(|other| other.name.text == *name) {
            object.problem("", format_args!("a second component is called `{name}`"));
        }
    }
}

impl Component {
    fn report(self, env: Option<&Locator>, report: &mut Report) {
        let duty = self.duty();
        let name = self.name.text.clone();
        let uses = self.template.iter().map(|_| name.clone()).collect::<Vec<_>>();
        let role = self.kind.clone().map(Claim::declared);

        for (model, revision) in self.models {
            let item = Item::new(Class::Model, Claim::declared(model)).role("main").version(revision.map(Claim::declared));
            report.items.push(item.uses(uses.clone()));
        }
        for device in self.devices {
            let item = Item::new(Class::Device, device.name).version(Some(device.quantity));
            report.items.push(item.uses(uses.clone()));
        }
        if let Some(config) = self.picker_config {
            let item = Item::new(Class::Configuration, Claim::declared(config)).role("endpoint-picker");
            report.items.push(item.uses(uses));
        }
        if let Some(at) = self.template {
            let template = PodTemplate::new(at).name(&name).duty(duty).inherits(env.cloned());
            let template = template.role(role.as_ref().map_or("", |role| role.text.as_str()));
            let template = template.property("dynamo.component.name", self.name).property("dynamo.component.type", role.clone());
            report.pod_templates.push(template);
        }
        report.containers.extend(self.containers.into_iter().filter(Container::says_something));
        report.state(format!("dynamo.component.{name}.type"), role);
        for (fact, value) in self.facts {
            report.state(format!("dynamo.component.{name}.{fact}"), value);
        }
    }
}
