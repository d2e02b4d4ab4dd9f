//! Items of a report: what the object's own fields name.

use std::collections::{BTreeMap, HashMap, HashSet};

use aibom_facts::inventory::{
    Class, Confidence, Data, DataKind, Device, Evidence, Finding, Key, Role, Runtime, Service, Source, Unresolved,
};
use aibom_facts::model::{ModelReference, NotAModel, ParsedModel};
use aibom_facts::report::{Basis, Claim, Item, ItemClass, Report};

use crate::Subject;
use crate::explain::{Considered, Reason};
use crate::merge::{Draft, confidence, is_location};
use crate::reading::{ModelClaim, claim as new_claim};
use crate::rules::Rules;
use crate::said::{TOO_LONG, is_template};
use crate::storage::Mounts;

/// Property of a model: a name that it is served under.
const SERVED_NAME: &str = "model.servedName";
/// Property of a model: the directory that it is mounted at in the templates that its item names.
const MOUNT_PATH: &str = "model.mountPath";
/// Property of a model: its form, where the text alone would mislead. Only `path` is of use.
const FORM: &str = "model.form";
/// Role of a configuration item that supplies the model.
const MODEL_SOURCE: &str = "model-source";

/// Runtimes that items declare, for all templates or for those that they name.
pub(crate) struct DeclaredRuntimes {
    everywhere: Vec<usize>,
    by_template: BTreeMap<String, Vec<usize>>,
}

impl DeclaredRuntimes {
    /// Runtimes declared for a template, the particular ones first.
    pub(crate) fn of(&self, template: &str) -> Vec<usize> {
        let particular = self.by_template.get(template).into_iter().flatten();
        particular.chain(&self.everywhere).copied().collect()
    }
}

pub(crate) fn declared_runtimes(rules: &Rules, report: &Report) -> DeclaredRuntimes {
    let mut out = DeclaredRuntimes { everywhere: Vec::new(), by_template: BTreeMap::new() };
    let known: HashSet<&str> = report.pod_templates.iter().map(|template| template.name.as_str()).collect();
    for item in report.items.iter().filter(|item| item.class == ItemClass::Runtime) {
        let Some(runtime) = rules.index(&item.name.text) else { continue };
        let templates: Vec<&String> = item.uses.iter().filter(|name| known.contains(name.as_str())).collect();
        if templates.is_empty() {
            out.everywhere.push(runtime);
        }
        for template in templates {
            out.by_template.entry(template.clone()).or_default().push(runtime);
        }
    }
    out
}

/// References that supply the model, as unresolved facts.
pub(crate) fn model_sources(report: &Report) -> Vec<Unresolved> {
    report
        .items
        .iter()
        .filter(|item| item.class == ItemClass::Configuration && item.role == MODEL_SOURCE)
        .filter_map(|item| {
            let at = item.name.at.first()?.clone();
            Some(Unresolved { what: "model".to_owned(), at, why: "preset".to_owned(), reference: item.name.text.clone() })
        })
        .collect()
}

/// Adds every item.
pub(crate) fn add(draft: &mut Draft<'_>, subject: &Subject<'_>) {
    let report = subject.report;
    let catalogue = report
        .items
        .iter()
        .any(|item| item.class == ItemClass::Runtime && draft.rules.runtime(&item.name.text).is_some_and(|rule| rule.catalogue));
    let templates: HashSet<&str> = report.pod_templates.iter().map(|template| template.name.as_str()).collect();
    let mut keys: BTreeMap<&str, Key> = BTreeMap::new();
    let mut owners: Vec<(&Item, Key)> = Vec::new();
    for item in &report.items {
        let key = match item.class {
            ItemClass::Model | ItemClass::Adapter | ItemClass::Tokenizer => model(draft, item, catalogue),
            ItemClass::Runtime => Some(runtime(draft, item)),
            ItemClass::Dataset => Some(data(draft, item, DataKind::Dataset, "dataset")),
            ItemClass::Volume => Some(data(draft, item, DataKind::Volume, volume_word(item))),
            ItemClass::Configuration => Some(data(draft, item, DataKind::Configuration, "configuration")),
            ItemClass::Service => Some(service(draft, item)),
            ItemClass::Device => Some(device(draft, item)),
        };
        if let Some(key) = key {
            if key.class == Class::Model {
                mount(draft, item, &key, &templates);
            }
            if !item.id.is_empty() {
                keys.insert(&item.id, key.clone());
            }
            owners.push((item, key));
        }
    }
    for (item, own) in owners {
        for used in item.uses.iter().filter_map(|id| keys.get(id.as_str())) {
            if *used != own
                && let Some(finding) = draft.finding(&own)
            {
                finding.needs.insert(used.clone());
            }
        }
    }
}

/// Volumes that items mount into templates, with their paths, by template.
pub(crate) fn mounts(report: &Report) -> HashMap<&str, Mounts> {
    let mut out: HashMap<&str, Mounts> = HashMap::new();
    for item in report.items.iter().filter(|item| item.class == ItemClass::Volume) {
        let key = Key::new(Class::Data, format!("{}/{}", volume_word(item), item.name.text));
        for template in &item.uses {
            let mounts = out.entry(template).or_default();
            for property in item.properties.iter().filter(|property| property.name == "volume.mountPath") {
                mounts.add(&property.value.text, key.clone());
            }
        }
    }
    out
}

fn volume_word(item: &Item) -> &str {
    if item.role.is_empty() { "persistentVolumeClaim" } else { &item.role }
}

/// The kind of place that a claim was read from.
fn source(claim: &Claim) -> Source {
    match claim.basis {
        Basis::Declared | Basis::Implied => Source::CrdField,
        Basis::Derived => Source::Derived,
    }
}

fn evidence(claim: &Claim, value: &str) -> Vec<Evidence> {
    let place = |at: &aibom_facts::object::Locator| Evidence {
        at: at.clone(),
        source: source(claim),
        value: value.to_owned(),
        by: String::new(),
        container: String::new(),
    };
    claim.at.iter().map(place).collect()
}

fn properties(finding: &mut Finding, item: &Item) {
    for property in item.properties.iter().filter(|property| property.name != SERVED_NAME && property.name != FORM) {
        finding.property(&property.name, &property.value.text);
    }
}

/// Names that a model is served under. One of the hub's form is the identity of a model of which else only the location is known.
fn served_names(claim: &mut ModelClaim, item: &Item) {
    for property in item.properties.iter().filter(|property| property.name == SERVED_NAME && !is_template(&property.value.text)) {
        let name = property.value.text.trim();
        let id = claim.parsed.reference.id();
        if is_location(&claim.parsed.reference)
            && claim.role != Role::Adapter
            && let Ok(parsed @ ParsedModel { reference: ModelReference::Hub { .. }, .. }) = ModelReference::parse(name)
        {
            claim.sources.push(id);
            claim.parsed.reference = parsed.reference;
        }
        if claim.parsed.reference.id() == name {
            claim.evidence.extend(evidence(&property.value, name));
        }
        claim.served.push(name.to_owned());
    }
}

/// Says where the host will find the model again.
fn mount(draft: &mut Draft<'_>, item: &Item, key: &Key, templates: &HashSet<&str>) {
    for property in item.properties.iter().filter(|property| property.name == MOUNT_PATH) {
        for template in item.uses.iter().filter(|name| templates.contains(name.as_str())) {
            draft.mounted.add(template, &property.value.text, &key.name, !item.role.is_empty());
        }
    }
}

/// What is unknown when the item of a role is.
fn role_word(role: Role) -> &'static str {
    match role {
        Role::Draft => "draft",
        Role::Adapter => "adapter",
        _ => "model",
    }
}

fn model(draft: &mut Draft<'_>, item: &Item, catalogue: bool) -> Option<Key> {
    let text = item.name.text.as_str();
    let role = Role::parse(&item.role).unwrap_or(match item.class {
        ItemClass::Adapter => Role::Adapter,
        ItemClass::Tokenizer => Role::Tokenizer,
        _ => Role::Main,
    });
    let plain = |reference| ParsedModel { reference, revision: None, source: None, file: None };
    let is_path = item.properties.iter().any(|property| property.name == FORM && property.value.text == "path");
    let parsed = if is_path {
        ModelReference::catalogue_name(text).map(|_| plain(ModelReference::Path(text.to_owned())))
    } else if catalogue && !text.contains("://") && !text.starts_with('/') {
        // The hub's rules still say what is a placeholder.
        match ModelReference::parse(text) {
            Err(error @ (NotAModel::Unexpanded | NotAModel::Placeholder | NotAModel::TooLong)) => Err(error),
            _ => ModelReference::catalogue_name(text).map(plain),
        }
    } else {
        ModelReference::parse(text)
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        Err(error @ (NotAModel::Unexpanded | NotAModel::Placeholder | NotAModel::TooLong)) => {
            let at = item.name.at.first()?.clone();
            draft.inventory.unresolved.insert(Unresolved {
                what: role_word(role).to_owned(),
                at,
                why: if error == NotAModel::TooLong { TOO_LONG } else { "template" }.to_owned(),
                reference: String::new(),
            });
            return None;
        }
        Err(_) => {
            if let Some(at) = item.name.at.first() {
                draft.trace.dropped(|| Considered {
                    at: at.clone(),
                    what: role_word(role),
                    value: text.to_owned(),
                    by: String::new(),
                    container: String::new(),
                    reason: Reason::NotAModel,
                });
            }
            return None;
        }
    };
    let id = parsed.reference.id();
    let mut claim = new_claim(parsed, role, evidence(&item.name, &id));
    claim.sources.extend(item.sources.iter().map(|source| source.text.clone()));
    if let Some(version) = &item.version {
        claim.revision = Some(version.text.clone());
    }
    served_names(&mut claim, item);
    let id = claim.parsed.reference.id();
    let model = draft.filled(&id, &claim);
    properties(&mut model.finding, item);
    Some(model.finding.key.clone())
}

fn runtime(draft: &mut Draft<'_>, item: &Item) -> Key {
    let rule = draft.rules.runtime(&item.name.text);
    let name = rule.map_or_else(|| item.name.text.to_lowercase(), |rule| rule.name.clone());
    let framework = rule.is_some_and(|rule| rule.framework);
    let runtime = draft.runtimes.entry(name.clone()).or_insert_with(|| Runtime {
        finding: Finding::new(Class::Runtime, name.clone(), Confidence::Inferred),
        version: None,
        framework,
    });
    runtime.finding.evidence.extend(evidence(&item.name, &name));
    runtime.finding.property("runtime.name", &name);
    if let Some(version) = &item.version
        && runtime.version.is_none()
    {
        runtime.version = Some(version.text.clone());
        runtime.finding.evidence.extend(evidence(version, &version.text));
    }
    properties(&mut runtime.finding, item);
    runtime.finding.key.clone()
}

fn finding(item: &Item, class: Class, name: String) -> Finding {
    let evidence = evidence(&item.name, &item.name.text);
    let mut finding = Finding::new(class, name, confidence(&evidence));
    finding.evidence = evidence;
    properties(&mut finding, item);
    finding
}

fn data(draft: &mut Draft<'_>, item: &Item, kind: DataKind, word: &str) -> Key {
    let mut found = finding(item, Class::Data, format!("{word}/{}", item.name.text));
    if kind == DataKind::Volume {
        found.property("volume.source", word);
    }
    for source in &item.sources {
        found.property("aibom.source", &source.text);
    }
    let key = found.key.clone();
    draft.data(Data { finding: found, kind, name: item.name.text.clone() });
    key
}

fn service(draft: &mut Draft<'_>, item: &Item) -> Key {
    let found = finding(item, Class::Service, item.name.text.to_lowercase());
    let key = found.key.clone();
    let endpoints = item.sources.iter().map(|source| source.text.clone()).collect();
    draft.service(Service { finding: found, endpoints });
    key
}

fn device(draft: &mut Draft<'_>, item: &Item) -> Key {
    let found = finding(item, Class::Device, item.name.text.clone());
    let key = found.key.clone();
    let quantities = item.version.iter().map(|version| version.text.clone()).collect();
    draft.device(Device { finding: found, quantities });
    key
}

impl Draft<'_> {
    /// Any finding by its key.
    pub(crate) fn finding(&mut self, key: &Key) -> Option<&mut Finding> {
        let found = &mut self.inventory;
        match key.class {
            Class::Model => self.models.get_mut(&key.name).map(|model| &mut model.finding),
            Class::Runtime => self.runtimes.get_mut(&key.name).map(|runtime| &mut runtime.finding),
            Class::Image => found.images.get_mut(*self.places.get(key)?).map(|image| &mut image.finding),
            Class::Data => found.data.get_mut(*self.places.get(key)?).map(|data| &mut data.finding),
            Class::Device => found.devices.get_mut(*self.places.get(key)?).map(|device| &mut device.finding),
            Class::Service => found.services.get_mut(*self.places.get(key)?).map(|service| &mut service.finding),
        }
    }

    /// Adds evidence, properties and needs to the finding of the same key, and says where it is, if there is one.
    fn joined(&mut self, more: &mut Finding) -> Option<usize> {
        let place = self.places.get(&more.key).copied()?;
        let known = self.finding(&more.key)?;
        known.evidence.append(&mut more.evidence);
        for (name, values) in &mut more.properties {
            match known.properties.get_mut(name) {
                Some(known) => known.append(values),
                None => {
                    known.properties.insert(name.clone(), std::mem::take(values));
                }
            }
        }
        known.needs.append(&mut more.needs);
        known.confidence = known.confidence.max(more.confidence);
        Some(place)
    }

    pub(crate) fn data(&mut self, mut data: Data) {
        if self.joined(&mut data.finding).is_none() {
            self.places.insert(data.finding.key.clone(), self.inventory.data.len());
            self.inventory.data.push(data);
        }
    }

    pub(crate) fn service(&mut self, mut service: Service) {
        if let Some(place) = self.joined(&mut service.finding) {
            self.inventory.services[place].endpoints.append(&mut service.endpoints);
        } else {
            self.places.insert(service.finding.key.clone(), self.inventory.services.len());
            self.inventory.services.push(service);
        }
    }

    pub(crate) fn device(&mut self, mut device: Device) {
        let Some(place) = self.joined(&mut device.finding) else {
            self.places.insert(device.finding.key.clone(), self.inventory.devices.len());
            self.inventory.devices.push(device);
            return;
        };
        let known = &mut self.inventory.devices[place].quantities;
        let number = |text: &String| text.parse::<u64>().unwrap_or(0);
        for quantity in device.quantities {
            // Largest first.
            let order = |known: &String| number(&quantity).cmp(&number(known)).then_with(|| known.cmp(&quantity));
            if let Err(place) = known.binary_search_by(order) {
                known.insert(place, quantity);
            }
        }
    }
}
