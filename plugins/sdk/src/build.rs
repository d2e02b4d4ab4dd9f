//! Building what the contract's records hold: claims, items, pod templates, containers, descriptions.

use std::fmt;

use crate::reader::Found;
use crate::{Claim, Container, Description, Failure, Item, KindRef, Locator, PodTemplate, Problem, Property, Report, Text, Want};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$case_doc:meta])* $case:ident => $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$case_doc])* $case,)* }

        impl $name {
            /// The word of the contract.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$case => $word,)* }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }
    };
}

words! {
    /// Class of an item.
    Class {
        /// A model with weights.
        Model => "model",
        /// A LoRA or other adapter.
        Adapter => "adapter",
        /// A tokenizer apart from its model.
        Tokenizer => "tokenizer",
        /// A program that runs models.
        Runtime => "runtime",
        /// Training or evaluation data.
        Dataset => "dataset",
        /// Storage, such as a persistent volume claim.
        Volume => "volume",
        /// A service that is called.
        Service => "service",
        /// An accelerator.
        Device => "device",
        /// Configuration kept elsewhere.
        Configuration => "configuration",
    }
}

words! {
    /// What a kind proves about its workloads.
    Category {
        /// Serves models.
        Inference => "inference",
        /// Trains models.
        Training => "training",
        /// Trains models further.
        FineTuning => "fine-tuning",
        /// Measures the quality of models.
        Evaluation => "evaluation",
        /// Measures the speed of servers.
        Benchmark => "benchmark",
        /// Fetches or prepares models and data.
        DataPreparation => "data-preparation",
        /// Runs agents.
        Agent => "agent",
        /// Stores vectors.
        VectorDatabase => "vector-database",
        /// Routes to model servers.
        Gateway => "gateway",
    }
}

words! {
    /// What a pod template is there for.
    Duty {
        /// Not known.
        Unknown => "",
        /// Runs models.
        Engine => "engine",
        /// Plumbing without a model of its own: router, frontend, planner.
        Infrastructure => "infrastructure",
    }
}

words! {
    /// Class of a container.
    ContainerClass {
        /// Runs for the life of the pod.
        Main => "main",
        /// Runs before the others.
        Init => "init",
        /// A helper beside the main one.
        Sidecar => "sidecar",
    }
}

impl Claim {
    /// The text is the value at its place.
    #[allow(clippy::needless_pass_by_value, reason = "reads well in `.map(Claim::declared)`")]
    pub fn declared<T: fmt::Display>(found: Found<T>) -> Self {
        Self { text: found.value.to_string(), basis: "declared".to_owned(), at: vec![found.at] }
    }

    /// The text is the values joined by one of `:` `/` `@`, as in a repository and a tag.
    pub fn joined(parts: &[&Text], separator: char) -> Self {
        let mut text = String::new();
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push(separator);
            }
            text.push_str(part.as_str());
        }
        Self { text, basis: "declared".to_owned(), at: parts.iter().map(|part| part.at.clone()).collect() }
    }

    /// The text is computed from the values at the places.
    pub fn derived(text: impl Into<String>, at: impl IntoIterator<Item = Locator>) -> Self {
        Self { text: text.into(), basis: "derived".to_owned(), at: at.into_iter().collect() }
    }

    /// The presence of what is at the place implies the text.
    pub fn implied(text: impl Into<String>, at: Locator) -> Self {
        Self { text: text.into(), basis: "implied".to_owned(), at: vec![at] }
    }
}

impl Locator {
    /// A place in the scraped object.
    pub fn scraped(pointer: impl Into<String>) -> Self {
        Self { object: 0, pointer: pointer.into() }
    }
}

impl Property {
    /// A property.
    pub fn new(name: impl Into<String>, value: Claim) -> Self {
        Self { name: name.into(), value }
    }
}

impl Item {
    /// An item with a name and nothing else.
    pub fn new(class: Class, name: Claim) -> Self {
        Self {
            id: String::new(),
            class: class.into(),
            role: String::new(),
            name,
            version: None,
            sources: Vec::new(),
            uses: Vec::new(),
            properties: Vec::new(),
        }
    }

    /// Gives it an id that `uses` of other items can name.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Says what it is used for.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = role.into();
        self
    }

    /// Gives it a version, if there is one.
    #[must_use]
    pub fn version(mut self, version: Option<Claim>) -> Self {
        self.version = version;
        self
    }

    /// Says where its content comes from, if that is known.
    #[must_use]
    pub fn source(mut self, source: impl Into<Option<Claim>>) -> Self {
        self.sources.extend(source.into());
        self
    }

    /// Names items it needs or pod templates it runs in.
    #[must_use]
    pub fn uses<S: Into<String>>(mut self, ids: impl IntoIterator<Item = S>) -> Self {
        self.uses.extend(ids.into_iter().map(Into::into));
        self
    }

    /// Adds a property, if there is a value.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Option<Claim>>) -> Self {
        self.properties.extend(value.into().map(|value| Property::new(name, value)));
        self
    }
}

impl PodTemplate {
    /// The PodTemplateSpec or PodSpec at a place.
    pub fn new(at: Locator) -> Self {
        Self { at, name: String::new(), role: String::new(), duty: Duty::Unknown.into(), inherited_env: Vec::new(), properties: Vec::new() }
    }

    /// Gives it a name that is unique in the report.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Says which role it plays in the workload.
    #[must_use]
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.role = role.into();
        self
    }

    /// Says what it is there for.
    #[must_use]
    pub fn duty(mut self, duty: Duty) -> Self {
        self.duty = duty.into();
        self
    }

    /// Adds an env list that the operator gives to each container; call it with the lowest precedence first.
    #[must_use]
    pub fn inherits(mut self, env: Option<Locator>) -> Self {
        self.inherited_env.extend(env);
        self
    }

    /// Adds a property, if there is a value.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Option<Claim>>) -> Self {
        self.properties.extend(value.into().map(|value| Property::new(name, value)));
        self
    }
}

impl Container {
    /// A container with a name and nothing else.
    pub fn new(name: impl Into<String>, class: ContainerClass) -> Self {
        Self {
            name: name.into(),
            class: class.into(),
            template: String::new(),
            image: None,
            command: None,
            args: Vec::new(),
            env: Vec::new(),
            env_from: Vec::new(),
            volume_mounts: None,
            resources: None,
            properties: Vec::new(),
        }
    }

    /// Whether it says anything but its name and class. The host drops one that does not.
    pub fn says_something(&self) -> bool {
        let lists = [&self.args, &self.env, &self.env_from];
        let places = [&self.command, &self.volume_mounts, &self.resources];
        self.image.is_some() || lists.iter().any(|list| !list.is_empty()) || places.iter().any(|place| place.is_some())
    }

    /// Names the pod template it belongs to.
    #[must_use]
    pub fn template(mut self, name: impl Into<String>) -> Self {
        self.template = name.into();
        self
    }

    /// Its image.
    #[must_use]
    pub fn image(mut self, image: Option<Claim>) -> Self {
        self.image = image;
        self
    }

    /// Its command list.
    #[must_use]
    pub fn command(mut self, command: Option<Locator>) -> Self {
        self.command = command;
        self
    }

    /// Adds an argument list; call it in the order in which the operator joins several.
    #[must_use]
    pub fn args(mut self, args: Option<Locator>) -> Self {
        self.args.extend(args);
        self
    }

    /// Adds an env list; call it with the lowest precedence first.
    #[must_use]
    pub fn env(mut self, env: Option<Locator>) -> Self {
        self.env.extend(env);
        self
    }

    /// Adds an `envFrom` list, or a text that names a Secret of which every key becomes a variable.
    #[must_use]
    pub fn env_from(mut self, env_from: Option<Locator>) -> Self {
        self.env_from.extend(env_from);
        self
    }

    /// Its `volumeMounts` list.
    #[must_use]
    pub fn volume_mounts(mut self, volume_mounts: Option<Locator>) -> Self {
        self.volume_mounts = volume_mounts;
        self
    }

    /// Its resource requirements.
    #[must_use]
    pub fn resources(mut self, resources: Option<Locator>) -> Self {
        self.resources = resources;
        self
    }

    /// Adds a property, if there is a value.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Option<Claim>>) -> Self {
        self.properties.extend(value.into().map(|value| Property::new(name, value)));
        self
    }
}

impl Default for Report {
    fn default() -> Self {
        Self::new()
    }
}

impl Report {
    /// A report that says nothing.
    pub fn new() -> Self {
        Self {
            categories: Vec::new(),
            items: Vec::new(),
            pod_templates: Vec::new(),
            containers: Vec::new(),
            properties: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Says what the kind proves.
    #[must_use]
    pub fn category(mut self, category: Category) -> Self {
        self.categories.push(category.into());
        self
    }

    /// Adds a property of the workload, if there is a value.
    pub fn state(&mut self, name: impl Into<String>, value: impl Into<Option<Claim>>) {
        if let Some(value) = value.into() {
            self.properties.push(Property::new(name, value));
        }
    }
}

impl KindRef {
    /// A kind with the versions that are understood, most preferred first. `group` is empty for the core group.
    pub fn new(group: &str, kind: &str, plural: &str, versions: &[&str]) -> Self {
        Self {
            group: group.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            versions: versions.iter().map(|version| (*version).to_owned()).collect(),
        }
    }
}

impl Description {
    /// A description of some kinds, without intermediates, related kinds, status or options.
    pub fn new(name: &str, version: &str, kinds: Vec<KindRef>) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            kinds,
            intermediates: Vec::new(),
            related: Vec::new(),
            reads_status: false,
            options_schema: None,
        }
    }

    /// Kinds that stand between a scraped object and its pods.
    #[must_use]
    pub fn intermediates(mut self, kinds: Vec<KindRef>) -> Self {
        self.intermediates = kinds;
        self
    }

    /// Kinds that `related` may ask for.
    #[must_use]
    pub fn related(mut self, kinds: Vec<KindRef>) -> Self {
        self.related = kinds;
        self
    }
}

impl Want {
    /// An object named by a text of the scraped one. `namespace` is that of the scraped object, none for a cluster-scoped kind.
    pub fn new(group: &str, kind: &str, namespace: Option<String>, name: Text) -> Self {
        Self { group: group.to_owned(), kind: kind.to_owned(), namespace, name: name.value, at: name.at }
    }
}

impl Failure {
    /// An object that cannot be read at all. Rare: what is malformed in part is a problem of a report.
    pub fn malformed_at(at: Locator, message: impl Into<String>) -> Self {
        Self::Malformed(Problem { at, message: message.into() })
    }
}
