//! One inventory for a workload and those that belong to it.
//!
//! An operator writes the workloads below a custom resource, and rarely writes the same again: it adds variables, rewrites commands,
//! injects containers. So what belongs to a workload is read like any other, and its facts are added here with evidence that names where
//! they stand. What only a part says is marked `aibom.rollup.from`; a value that a part gives where the workload gives another is kept
//! beside it and marked `aibom.rollup.differs`.
//!
//! Parts that come and go with every run or rollout ([`Part::stands_for`]) add what nobody else says and nothing more, under a name that
//! stays: a document must not change with each of their names.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::inventory::{ContainerUse, Data, DataKind, Device, Finding, Image, Inventory, Key, Model, Runtime, Service, Unresolved};
use crate::model::ModelReference;
use crate::object::{Locator, ObjectRef};

/// What an inventory says of workloads that belong to its own, and of those that it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollup {
    /// Which of the objects are parts, by their index.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub parts: BTreeSet<u32>,
    /// Workloads that have no document of their own because this one speaks for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub owned: BTreeSet<Owned>,
    /// Those of them that could not be read, as `Kind/name`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unread: BTreeSet<String>,
    /// Why it stands for itself although something controls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unresolved: Option<String>,
}

impl Rollup {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A workload that another one speaks for. Those that stay come first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Owned {
    /// Whether it comes and goes with every run.
    pub passing: bool,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
}

/// A workload that belongs to another.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it says.
    pub inventory: Inventory,
    /// For one that comes and goes: what is put in the place of its name.
    pub stands_for: Option<String>,
}

/// Property of what only parts say, with the parts.
const FROM: &str = "aibom.rollup.from";

/// Property of what a part says otherwise, with the value and the part.
const DIFFERS: &str = "aibom.rollup.differs";

/// Prefix of properties that are settings of a program: they have one value, so two of them differ.
const SETTING: &str = "aibom.parameter.";

/// Adds the facts of parts to those of the workload that speaks for them. The order of the parts does not matter.
pub fn absorb(whole: &mut Inventory, mut parts: Vec<Part>) {
    for part in &mut parts {
        if let (Some(subject), Some(name)) = (part.inventory.objects.first_mut(), &part.stands_for) {
            subject.name.clone_from(name);
            subject.uid = None;
        }
    }
    // Of those that come and go the one whose name nobody chose must not decide by it.
    parts.sort_by_cached_key(|part| {
        let name = part.inventory.subject().map(|object| (object.kind.clone(), object.group.clone(), object.name.clone()));
        let content = part.stands_for.as_ref().and_then(|_| serde_json::to_string(&part.inventory).ok());
        (part.stands_for.is_some(), name, content)
    });
    for Part { inventory, stands_for } in parts {
        let joint = Joint::new(whole, &inventory, stands_for.is_some());
        joint.join(whole, inventory);
    }
}

/// A fact of any class.
trait Fact: Sized {
    fn key(&self) -> &Key;
    fn finding(&mut self) -> &mut Finding;
    /// Takes over what another says of the same thing, beside what is common to all findings.
    fn merge(&mut self, other: Self, joint: &Joint);
}

/// How one part meets the whole.
struct Joint {
    /// Where each object of the part stands among those of the whole.
    places: Vec<u32>,
    /// `Kind/name`, as people read it.
    label: String,
    /// Adds only what nobody says yet.
    passing: bool,
    /// Keys of models that the whole knows under another name.
    renamed: BTreeMap<Key, Key>,
}

impl Joint {
    fn new(whole: &mut Inventory, part: &Inventory, passing: bool) -> Self {
        let label = part.subject().map(|subject| format!("{}/{}", subject.kind, subject.name)).unwrap_or_default();
        let places = part.objects.iter().map(|object| place_of(whole, object.clone())).collect::<Vec<u32>>();
        whole.rollup.parts.extend(places.first().filter(|place| **place != 0));
        let renamed = |model: &Model| Some((model.finding.key.clone(), same_model(&whole.models, model)?));
        let renamed = part.models.iter().filter_map(renamed).collect();
        Self { places, label, passing, renamed }
    }

    fn join(&self, whole: &mut Inventory, part: Inventory) {
        self.add(&mut whole.models, part.models);
        self.add(&mut whole.runtimes, part.runtimes);
        self.add(&mut whole.images, part.images);
        // Volumes of such parts have names of their own, one for each.
        let stays = |data: &Data| !self.passing || data.kind != DataKind::Volume;
        self.add(&mut whole.data, part.data.into_iter().filter(stays).collect());
        self.add(&mut whole.devices, part.devices);
        self.add(&mut whole.services, part.services);
        for (category, mut evidence) in part.categories {
            for piece in &mut evidence {
                self.moved(&mut piece.at);
            }
            whole.categories.entry(category).or_insert(evidence);
        }
        whole.tools.extend(part.tools);
        let said =
            |known: &Unresolved, new: &Unresolved| (&known.what, &known.why, &known.reference) == (&new.what, &new.why, &new.reference);
        for mut unresolved in part.unresolved {
            if !whole.unresolved.iter().any(|known| said(known, &unresolved)) {
                self.moved(&mut unresolved.at);
                whole.unresolved.insert(unresolved);
            }
        }
        for mut problem in part.problems {
            self.moved(&mut problem.at);
            whole.problems.insert(problem);
        }
        for (name, values) in part.properties {
            // What a workload says of itself is not what its parts say of themselves.
            whole.properties.entry(name).or_insert(values);
        }
    }

    fn add<F: Fact>(&self, whole: &mut Vec<F>, part: Vec<F>) {
        for mut fact in part {
            let key = self.renamed.get(fact.key()).unwrap_or_else(|| fact.key());
            if let Some(known) = whole.iter_mut().find(|known| known.key() == key) {
                self.merge(known, fact);
            } else {
                self.adapt(fact.finding());
                fact.finding().property(FROM, &self.label);
                whole.push(fact);
            }
        }
    }

    fn merge<F: Fact>(&self, known: &mut F, mut fact: F) {
        // One of many that copy a part which is named already is no news.
        let by_passing = |from: &BTreeSet<String>| from.iter().all(|label| label.ends_with('*'));
        if known.finding().properties.get(FROM).is_some_and(|from| !self.passing || by_passing(from)) {
            known.finding().property(FROM, &self.label);
        }
        if self.passing {
            return;
        }
        self.adapt(fact.finding());
        let (finding, other) = (known.finding(), fact.finding());
        finding.confidence = finding.confidence.max(other.confidence);
        finding.evidence.append(&mut other.evidence);
        finding.conflicts.append(&mut other.conflicts);
        finding.needs.append(&mut other.needs);
        for (name, values) in std::mem::take(&mut other.properties) {
            if name.starts_with(SETTING)
                && let Some(own) = finding.properties.get(&name)
            {
                let differs: Vec<String> = values.difference(own).map(|value| format!("{name}={value} in {}", self.label)).collect();
                for text in differs {
                    finding.property(DIFFERS, text);
                }
            }
            finding.properties.entry(name).or_default().extend(values);
        }
        known.merge(fact, self);
    }

    /// Keeps a value beside another one.
    fn differ(&self, finding: &mut Finding, what: &str, known: Option<&str>, other: Option<&str>) {
        if let (Some(known), Some(other)) = (known, other)
            && known != other
        {
            finding.property(DIFFERS, format!("{what}={other} in {}", self.label));
        }
    }

    /// Puts a finding of the part into the words of the whole.
    fn adapt(&self, finding: &mut Finding) {
        for evidence in finding.evidence.iter_mut().chain(&mut finding.conflicts) {
            self.moved(&mut evidence.at);
        }
        let needs = std::mem::take(&mut finding.needs);
        finding.needs = needs.into_iter().map(|key| self.renamed.get(&key).cloned().unwrap_or(key)).collect();
    }

    fn moved(&self, at: &mut Locator) {
        at.object = self.places.get(at.object as usize).copied().unwrap_or(u32::MAX);
    }
}

/// Where an object stands among those of the whole. One that was read as a related object is known already.
fn place_of(whole: &mut Inventory, object: ObjectRef) -> u32 {
    let known = whole.objects.iter().position(|known| *known == object);
    let place = known.unwrap_or_else(|| {
        whole.objects.push(object);
        whole.objects.len() - 1
    });
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Key of the model that a part calls by another name. An operator downloads what the workload names and runs it from where it put it, so
/// its container knows the place or the served name only.
fn same_model(whole: &[Model], model: &Model) -> Option<Key> {
    if matches!(model.reference, ModelReference::Hub { .. }) || whole.iter().any(|known| known.finding.key == model.finding.key) {
        return None;
    }
    let id = model.reference.id();
    let same = |known: &&Model| {
        known.role == model.role
            && (known.sources.contains(&id)
                || known.served.contains(&id)
                || model.sources.contains(&known.reference.id())
                || !known.sources.is_disjoint(&model.sources)
                || !known.served.is_disjoint(&model.served))
    };
    let mut found = whole.iter().filter(same);
    // One of several would be a guess.
    found.next().filter(|_| found.next().is_none()).map(|known| known.finding.key.clone())
}

impl Fact for Model {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, other: Self, joint: &Joint) {
        joint.differ(&mut self.finding, "revision", self.revision.as_deref(), other.revision.as_deref());
        self.revision = self.revision.take().or(other.revision);
        self.served.extend(other.served);
        self.sources.extend(other.sources);
        if other.finding.key != self.finding.key {
            self.sources.insert(other.reference.id());
        }
    }
}

impl Fact for Runtime {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, other: Self, joint: &Joint) {
        joint.differ(&mut self.finding, "version", self.version.as_deref(), other.version.as_deref());
        self.version = self.version.take().or(other.version);
        self.framework &= other.framework;
    }
}

impl Fact for Image {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, other: Self, joint: &Joint) {
        for container in other.containers {
            // The container that the workload has written, as its operator has written it again.
            let same = |known: &ContainerUse| known.name == container.name && known.class == container.class;
            if !self.containers.iter().any(same) {
                self.containers.push(ContainerUse { template: joint.label.clone(), ..container });
            }
        }
    }
}

impl Fact for Data {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, _: Self, _: &Joint) {}
}

impl Fact for Device {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, other: Self, _: &Joint) {
        for quantity in other.quantities {
            if !self.quantities.contains(&quantity) {
                self.quantities.push(quantity);
            }
        }
    }
}

impl Fact for Service {
    fn key(&self) -> &Key {
        &self.finding.key
    }

    fn finding(&mut self) -> &mut Finding {
        &mut self.finding
    }

    fn merge(&mut self, other: Self, _: &Joint) {
        self.endpoints.extend(other.endpoints);
    }
}

#[cfg(test)]
mod tests;
