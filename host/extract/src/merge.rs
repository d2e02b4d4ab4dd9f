//! From the readings of containers and the items of the report to one inventory, by identity.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use aibom_facts::image::{ImageReference, InvalidImage};
use aibom_facts::inventory::{
    Category, Class, Confidence, ContainerUse, Data, DataKind, Evidence, Finding, Image, Inventory, Key, Model, Role, Runtime, Source,
    Unresolved,
};
use aibom_facts::model::ModelReference;
use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{ContainerClass, Duty, Problem};

use crate::budget::Budget;
use crate::explain::{self, Considered, Reason, Trace};
use crate::mounted::MountedModels;
use crate::pods::{self, Container};
use crate::reading::{Reader, Reading, RuntimeClaim};
use crate::rules::{Does, Rules};
use crate::storage::SharedVolumes;
use crate::{Subject, absent, apis, items, storage};

mod models;

pub(crate) use models::is_location;

/// Most paths of one object that are compared with what downloads fill.
const MAX_LOOKS: usize = 2_000_000;

/// The inventory under construction. Findings are kept by key, so the order of containers changes nothing but the order of evidence.
pub(crate) struct Draft<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) trace: &'r Trace,
    pub(crate) inventory: Inventory,
    pub(crate) models: BTreeMap<String, Model>,
    pub(crate) runtimes: BTreeMap<String, Runtime>,
    /// Where the images, data, devices and services of the inventory are, by key.
    pub(crate) places: HashMap<Key, usize>,
    /// Models by the sources and served names that they have or had: where to look, not what is.
    also: HashMap<String, BTreeSet<String>>,
    /// There is a model that is more than spoken of.
    runs: bool,
    /// Paths that models with better names are loaded from.
    loaded: BTreeMap<String, String>,
    /// How many paths may still be compared with what downloads fill.
    looks: Cell<usize>,
    /// Paths of files of weights, by the name of the file.
    files: HashMap<String, BTreeSet<String>>,
    /// Findings of the containers' images, by index of the container.
    image_keys: Vec<Option<Key>>,
    /// Models that a container names, under the key of that time.
    named: Vec<(usize, String)>,
    /// Keys that a better name has replaced.
    pub(crate) renamed: BTreeMap<String, String>,
    /// What steps before the server have made, by the directory that they filled.
    made: BTreeMap<String, String>,
    /// Models that the report says are mounted.
    pub(crate) mounted: MountedModels,
}

/// Reads everything.
pub(crate) fn inventory(rules: &Rules, subject: &Subject<'_>, trace: &Trace) -> Inventory {
    let mut inventory = Inventory::new(subject.objects.to_vec(), subject.origin);
    let mut problems = subject.report.problems.clone();
    let budget = Budget::default();
    let containers = pods::containers(subject, &budget, &mut problems);
    problems.extend(nameless(subject));
    inventory.problems.extend(problems);
    inventory.unresolved.extend(absent::objects(subject));
    let mut draft = Draft {
        rules,
        trace,
        inventory,
        models: BTreeMap::new(),
        runtimes: BTreeMap::new(),
        places: HashMap::new(),
        also: HashMap::new(),
        runs: false,
        loaded: BTreeMap::new(),
        looks: Cell::new(MAX_LOOKS),
        files: HashMap::new(),
        image_keys: Vec::new(),
        named: Vec::new(),
        renamed: BTreeMap::new(),
        made: BTreeMap::new(),
        mounted: MountedModels::default(),
    };
    let images: Vec<Option<ImageReference>> =
        containers.iter().map(|container| container.image.as_ref().and_then(|image| ImageReference::parse(&image.text).ok())).collect();
    let declared = items::declared_runtimes(rules, subject.report);
    let workload = subject.objects.first().map_or("", |object| object.name.as_str());
    let readings: Vec<Reading> = containers
        .iter()
        .zip(&images)
        .map(|(container, image)| {
            let declared = declared.of(&container.template);
            Reader { rules, trace, container, image: image.as_ref(), declared: &declared, workload }.read()
        })
        .collect();
    let left_out = budget.left_out().into_iter();
    draft.inventory.problems.extend(left_out.map(|message| Problem { at: Locator::default(), message }));
    draft.images(&containers, &images);
    items::add(&mut draft, subject);
    draft.readings(&containers, &readings);
    draft.repeated(&containers);
    storage::add(&mut draft, subject.report, &containers);
    apis::add(&mut draft, readings.iter().map(|reading| &reading.calls));
    draft.silence(subject, &containers, &readings);
    draft.categories(subject, &containers, &readings);
    explain::unread_variables(rules, trace, &containers);
    draft.properties(subject);
    draft.finish()
}

/// A name that is no text names nothing: no API server takes it, and the object stands without a name here. Mostly a number that wants
/// quotes.
fn nameless(subject: &Subject<'_>) -> Vec<Problem> {
    let Some(tree) = subject.trees.first().copied().flatten() else { return Vec::new() };
    let is_wrong = |member: &&str| {
        let node = tree.at(tree.root(), &format!("/metadata/{member}"));
        node.is_some_and(|node| tree.text(node).is_none() && !tree.is_null(node))
    };
    let problem =
        |member: &str, message: String| Problem { at: Locator::scraped(Pointer::root().child("metadata").child(member)), message };
    let wrong = ["name", "namespace"].into_iter().filter(is_wrong);
    let mut out: Vec<Problem> =
        wrong.map(|member| problem(member, format!("metadata.{member} is no text; words such as `n` and numbers want quotes"))).collect();
    // A template of Helm whose placeholders stand in quotes is YAML none the less.
    if subject.objects.first().is_some_and(|object| object.name.contains("{{")) {
        out.push(problem("name", "the name is a template that nobody has filled in: scan the output of `helm template`".to_owned()));
    }
    out
}

/// The surest word that evidence supports.
pub(crate) fn confidence(evidence: &[Evidence]) -> Confidence {
    evidence.iter().map(|evidence| evidence.source.confidence()).max().unwrap_or(Confidence::Inferred)
}

impl Draft<'_> {
    fn images(&mut self, containers: &[Container<'_>], references: &[Option<ImageReference>]) {
        let mut images: BTreeMap<String, Image> = BTreeMap::new();
        for (container, reference) in containers.iter().zip(references) {
            let Some(written) = &container.image else { continue };
            if let (None, Err(error)) = (reference, ImageReference::parse(&written.text)) {
                let why = if error == InvalidImage::Placeholder { "placeholder" } else { "malformed" };
                self.inventory.unresolved.insert(Unresolved {
                    what: "image".to_owned(),
                    at: written.at.clone(),
                    why: why.to_owned(),
                    reference: written.text.clone(),
                });
            }
            let image = images.entry(written.text.clone()).or_insert_with(|| {
                let name = reference.as_ref().map_or_else(|| written.text.clone(), ToString::to_string);
                Image {
                    finding: Finding::new(
                        Class::Image,
                        name,
                        if reference.is_some() { Confidence::Declared } else { Confidence::Unresolved },
                    ),
                    written: written.text.clone(),
                    reference: reference.clone(),
                    containers: Vec::new(),
                    observed: BTreeSet::new(),
                }
            });
            image.finding.evidence.push(Evidence {
                at: written.at.clone(),
                source: Source::ImageReference,
                value: written.text.clone(),
                by: String::new(),
                container: container.name.clone(),
            });
            image.finding.property("image.reference", &written.text);
            image.finding.property("container.name", &container.name);
            image.finding.property("container.init", (container.class == ContainerClass::Init).to_string());
            for property in &container.properties {
                image.finding.property(&property.name, &property.value.text);
            }
            image.containers.push(ContainerUse {
                name: container.name.clone(),
                class: container.class,
                template: container.template.clone(),
                duty: container.duty,
            });
        }
        // Two spellings of one reference (with and without the implied host) are one finding.
        let mut by_key: BTreeMap<Key, Image> = BTreeMap::new();
        for image in images.into_values() {
            match by_key.get_mut(&image.finding.key) {
                Some(known) => {
                    known.finding.evidence.extend(image.finding.evidence);
                    for (name, values) in image.finding.properties {
                        known.finding.properties.entry(name).or_default().extend(values);
                    }
                    known.containers.extend(image.containers);
                }
                None => {
                    by_key.insert(image.finding.key.clone(), image);
                }
            }
        }
        self.inventory.images = by_key.into_values().collect();
        self.places.extend(self.inventory.images.iter().enumerate().map(|(index, image)| (image.finding.key.clone(), index)));
        let places: BTreeMap<&Locator, &Key> = self
            .inventory
            .images
            .iter()
            .flat_map(|image| image.finding.evidence.iter().map(|known| (&known.at, &image.finding.key)))
            .collect();
        self.image_keys = containers.iter().map(|container| places.get(&container.image.as_ref()?.at).map(|key| (*key).clone())).collect();
    }

    /// The models that a container names, by index of the container.
    pub(crate) fn models_of(&self, containers: usize) -> Vec<BTreeSet<String>> {
        let mut out = vec![BTreeSet::new(); containers];
        for (container, name) in &self.named {
            if let Some(name) = self.current(name) {
                out[*container].insert(name.to_owned());
            }
        }
        out
    }

    /// The name under which a model is known now.
    pub(crate) fn current<'n>(&'n self, name: &'n str) -> Option<&'n str> {
        let mut name = name;
        // A name is replaced by a better one at most once per form.
        for _ in 0..4 {
            match self.renamed.get(name) {
                Some(better) if better != name && !self.models.contains_key(name) => name = better,
                _ => break,
            }
        }
        self.models.contains_key(name).then_some(name)
    }

    /// What a finding needs, by the names of now.
    fn settled(&self, needs: &BTreeSet<Key>, own: &Key) -> BTreeSet<Key> {
        let settle = |key: &Key| match key.class {
            Class::Model => self.current(&key.name).map(|name| Key::new(Class::Model, name)),
            _ => Some(key.clone()),
        };
        needs.iter().filter_map(settle).filter(|key| key != own).collect()
    }

    /// Containers that run models first, then what they were given, then what only talks about them.
    fn readings(&mut self, containers: &[Container<'_>], readings: &[Reading]) {
        let rank = |container: &Container<'_>, reading: &Reading| match reading.does {
            _ if container.duty == Duty::Infrastructure => 4,
            Some(Does::Run) => 0,
            Some(Does::Simulate) => 1,
            Some(Does::Fetch) => 2,
            _ => 3,
        };
        let mut order: Vec<usize> = (0..containers.len()).collect();
        order.sort_by_key(|index| rank(&containers[*index], &readings[*index]));
        self.mounted_adapters(containers, readings);
        let fetches = readings.iter().flat_map(|reading| &reading.models).any(|claim| claim.fetched && claim.destination.is_some());
        let shared = if fetches { SharedVolumes::new(containers) } else { SharedVolumes::default() };
        for index in order {
            let (container, reading) = (&containers[index], &readings[index]);
            let image = self.image_keys.get(index).cloned().flatten();
            let mut runs: BTreeSet<Key> = reading.runtimes.iter().map(|claim| self.runtime(claim, container, image.clone())).collect();
            for runtime in &reading.declared {
                let key = Key::new(Class::Runtime, self.rules.runtimes[*runtime].name.clone());
                if let Some(finding) = self.finding(&key).filter(|_| !runs.contains(&key)) {
                    finding.needs.extend(image.clone());
                    runs.insert(key);
                }
            }
            if reading.does == Some(Does::Run) && container.duty != Duty::Infrastructure {
                self.adopt_role(&container.template, reading.role);
            }
            let mut main = None;
            let loaded = reading.models.iter().filter(|claim| !claim.fetched);
            for claim in loaded.chain(reading.models.iter().filter(|claim| claim.fetched)) {
                let key = match claim.role {
                    _ if claim.fetched => {
                        let filled = claim.destination.as_ref().map(|destination| destination.path.as_str());
                        let elsewhere = filled.map(|path| shared.seen_at(container, path)).unwrap_or_default();
                        Some(self.fetched(claim, container, &elsewhere))
                    }
                    Role::Target => self.spoken_of(claim, container),
                    _ => Some(self.model(claim, container)),
                };
                let Some(key) = key else { continue };
                self.named.push((index, key.name.clone()));
                if main.is_none() && !matches!(claim.role, Role::Draft | Role::Adapter | Role::Tokenizer) {
                    main = Some(key.clone());
                }
                for runtime in &runs {
                    if let Some(runtime) = self.runtimes.get_mut(&runtime.name) {
                        runtime.finding.needs.insert(key.clone());
                    }
                }
                if claim.role == Role::Adapter
                    && let (Some(base), Some(model)) = (main.clone().filter(|base| *base != key), self.models.get_mut(&key.name))
                {
                    model.finding.needs.insert(base);
                }
            }
            self.datasets(index, &runs, container, reading);
            for (name, value) in &reading.run {
                self.inventory.properties.entry(format!("aibom.run.{name}")).or_default().insert(value.clone());
            }
            self.inventory.unresolved.extend(reading.unresolved.iter().cloned());
        }
    }

    /// Datasets that a container names. What runs there depends on them, and a model that is evaluated on one.
    fn datasets(&mut self, index: usize, runs: &BTreeSet<Key>, container: &Container<'_>, reading: &Reading) {
        for claim in &reading.datasets {
            let mut finding = Finding::new(Class::Data, format!("dataset/{}", claim.id), confidence(&claim.evidence));
            finding.evidence.clone_from(&claim.evidence);
            finding.property("container.name", &container.name);
            for (name, value) in &claim.properties {
                finding.property(format!("dataset.{name}"), value);
            }
            let key = finding.key.clone();
            self.data(Data { finding, kind: DataKind::Dataset, name: claim.id.clone() });
            let measured = reading.categories.iter().any(|(category, _)| *category == Category::Evaluation);
            let models = self.named.iter().filter(|(container, _)| measured && *container == index).map(|(_, name)| name.clone());
            let needing: Vec<Key> = models.map(|name| Key::new(Class::Model, name)).chain(runs.iter().cloned()).collect();
            for finding in needing {
                if let Some(finding) = self.finding(&finding) {
                    finding.needs.insert(key.clone());
                }
            }
        }
    }

    fn runtime(&mut self, claim: &RuntimeClaim, container: &Container<'_>, image: Option<Key>) -> Key {
        let rule = &self.rules.runtimes[claim.runtime];
        let runtime = self.runtimes.entry(rule.name.clone()).or_insert_with(|| Runtime {
            finding: Finding::new(Class::Runtime, rule.name.clone(), Confidence::Inferred),
            version: None,
            framework: rule.framework,
        });
        runtime.finding.evidence.push(claim.evidence.clone());
        runtime.finding.property("runtime.name", &rule.name);
        runtime.finding.property("container.name", &container.name);
        if claim.evidence.source == Source::ImagePattern {
            runtime.finding.property("runtime.pattern", &claim.evidence.by);
        }
        if let Some(version) = &claim.version {
            runtime.finding.property("image.tag", &version.by);
            match &runtime.version {
                None => {
                    runtime.version = Some(version.value.clone());
                    runtime.finding.evidence.push(version.clone());
                }
                Some(known) if *known == version.value => runtime.finding.evidence.push(version.clone()),
                Some(_) => runtime.finding.conflicts.push(version.clone()),
            }
        }
        runtime.finding.needs.extend(image);
        runtime.finding.key.clone()
    }

    /// Engines that name no model, where nothing else of the object tells which one it is.
    fn silence(&mut self, subject: &Subject<'_>, containers: &[Container<'_>], readings: &[Reading]) {
        let speaking = containers.iter().zip(readings).filter(|(_, reading)| reading.models.iter().any(|claim| claim.role != Role::Target));
        let named: BTreeSet<&str> = speaking.map(|(container, _)| container.template.as_str()).collect();
        // One question per template: the engine comes first, helpers behind it.
        let mut asked = named;
        let mut missing = BTreeSet::new();
        for (container, reading) in containers.iter().zip(readings) {
            if let Some(silent) = &reading.silent
                && asked.insert(container.template.as_str())
            {
                missing.insert(silent.clone());
            }
        }
        let of_items: HashSet<&Locator> = subject.report.items.iter().filter_map(|item| item.name.at.first()).collect();
        let declared = self.models.values().any(|model| model.finding.evidence.iter().any(|evidence| evidence.container.is_empty()));
        let asked = self.inventory.unresolved.iter().any(|known| known.what == "model" && of_items.contains(&known.at));
        let presets = items::model_sources(subject.report);
        if !presets.is_empty() {
            // What stands beside a main model does not tell which one it is.
            let beside = |role| matches!(role, Role::Target | Role::Adapter | Role::Tokenizer | Role::Draft);
            if self.models.values().all(|model| beside(model.role) || is_whole_volume(&model.reference))
                && self.inventory.unresolved.iter().all(|known| known.what != "model")
            {
                self.inventory.unresolved.extend(presets);
            }
        } else if !declared && !asked {
            self.inventory.unresolved.extend(missing);
        }
    }

    fn categories(&mut self, subject: &Subject<'_>, containers: &[Container<'_>], readings: &[Reading]) {
        let kind = subject.objects.first().map_or("", |object| object.kind.as_str());
        for category in subject.report.categories.iter().filter_map(|word| Category::parse(word)) {
            let (by, container) = (kind.to_owned(), String::new());
            let at = Locator::scraped(Pointer::root().child("kind"));
            self.does(category, Evidence { at, source: Source::CrdField, value: String::new(), by, container });
        }
        let serious = |does: Option<Does>| matches!(does, Some(Does::Run | Does::Simulate));
        let works = containers
            .iter()
            .zip(readings)
            .any(|(container, reading)| serious(reading.does) && container.duty != Duty::Infrastructure && !reading.categories.is_empty());
        for (container, reading) in containers.iter().zip(readings) {
            let aside = works || !self.inventory.categories.is_empty();
            let own = serious(reading.does) && container.duty != Duty::Infrastructure;
            if own || !aside {
                reading.categories.iter().for_each(|(category, evidence)| self.does(*category, evidence.clone()));
            } else {
                for (category, _) in &reading.categories {
                    self.trace.dropped(|| Considered {
                        at: container.at.clone(),
                        what: "category",
                        value: category.as_str().to_owned(),
                        by: String::new(),
                        container: container.name.clone(),
                        reason: Reason::Outweighed,
                    });
                }
            }
        }
        if self.inventory.categories.is_empty() {
            self.do_all(readings.iter().filter_map(|reading| reading.ai_image.clone()).collect());
        }
        if self.inventory.categories.is_empty() {
            let runtime = |runtime: &Runtime| {
                let category = self.rules.runtime(&runtime.finding.key.name)?.category?;
                Some((category, runtime.finding.evidence.first()?.clone()))
            };
            self.do_all(self.runtimes.values().filter_map(runtime).collect());
        }
        if self.inventory.categories.is_empty() {
            let runs = |model: &&Model| matches!(model.role, Role::Main | Role::Embedding | Role::Reranker);
            let models = self.models.values().filter(runs).filter_map(|model| model.finding.evidence.first());
            self.do_all(models.map(|evidence| (Category::Inference, evidence.clone())).collect());
        }
        if self.inventory.categories.is_empty() {
            self.do_all(readings.iter().filter_map(|reading| reading.calls.category()).collect());
        }
    }

    fn do_all(&mut self, categories: Vec<(Category, Evidence)>) {
        for (category, evidence) in categories {
            self.does(category, evidence);
        }
    }

    /// What says that the workload does this concludes the category, whatever else it says.
    fn does(&mut self, category: Category, evidence: Evidence) {
        self.inventory.does(category, Evidence { value: category.as_str().to_owned(), ..evidence });
    }

    fn properties(&mut self, subject: &Subject<'_>) {
        let report = subject.report;
        let all = report.properties.iter().chain(report.pod_templates.iter().flat_map(|template| &template.properties));
        for property in all {
            self.inventory.properties.entry(property.name.clone()).or_default().insert(property.value.text.clone());
        }
    }

    fn finish(mut self) -> Inventory {
        let settle = |finding: &Finding| (finding.key.clone(), self.settled(&finding.needs, &finding.key));
        let models = self.models.values().map(|model| settle(&model.finding));
        let settled: Vec<_> = models.chain(self.runtimes.values().map(|runtime| settle(&runtime.finding))).collect();
        for (key, needs) in settled {
            if let Some(finding) = self.finding(&key) {
                finding.needs = needs;
            }
        }
        self.inventory.models = self.models.into_values().collect();
        self.inventory.runtimes = self.runtimes.into_values().collect();
        let inventory = &mut self.inventory;
        let findings = (inventory.models.iter_mut().map(|model| &mut model.finding))
            .chain(inventory.runtimes.iter_mut().map(|runtime| &mut runtime.finding))
            .chain(inventory.data.iter_mut().map(|data| &mut data.finding))
            .chain(inventory.devices.iter_mut().map(|device| &mut device.finding))
            .chain(inventory.services.iter_mut().map(|service| &mut service.finding));
        for finding in findings {
            once(&mut finding.evidence);
            once(&mut finding.conflicts);
        }
        for model in &mut self.inventory.models {
            model.sources.remove(&model.reference.id());
            model.finding.confidence = confidence(&model.finding.evidence);
        }
        for runtime in &mut self.inventory.runtimes {
            runtime.finding.confidence = confidence(&runtime.finding.evidence);
        }
        self.inventory.data.sort_by(|a, b| a.finding.key.cmp(&b.finding.key));
        self.inventory.devices.sort_by(|a, b| a.finding.key.cmp(&b.finding.key));
        self.inventory.services.sort_by(|a, b| a.finding.key.cmp(&b.finding.key));
        self.inventory
    }
}

/// A claim as a whole says where a model is, not which one.
fn is_whole_volume(reference: &ModelReference) -> bool {
    matches!(reference, ModelReference::Uri(uri) if uri.strip_prefix("pvc://").is_some_and(|path| !path.trim_end_matches('/').contains('/')))
}

/// Keeps each piece of evidence once, the first. A pattern over a place that a scraper already concluded the same from says nothing new.
/// Done at the end: a look at the whole list for each piece would be quadratic.
fn once(list: &mut Vec<Evidence>) {
    let mut seen: HashSet<(&Locator, &str, Source)> = HashSet::new();
    let mut derived: HashSet<(&Locator, &str)> = HashSet::new();
    let mut keep = Vec::with_capacity(list.len());
    for evidence in list.iter() {
        let repeats = evidence.source == Source::ImagePattern && derived.contains(&(&evidence.at, evidence.value.as_str()));
        let new = !repeats && seen.insert((&evidence.at, &evidence.by, evidence.source));
        if new && evidence.source == Source::Derived {
            derived.insert((&evidence.at, &evidence.value));
        }
        keep.push(new);
    }
    let mut keep = keep.into_iter();
    list.retain(|_| keep.next().unwrap_or(true));
}
