//! Models by identity: which claims are one model, which path is what a download fills, which name only repeats another.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;

use aibom_facts::inventory::{Class, Confidence, Evidence, Finding, Key, Model, Role, Source};
use aibom_facts::model::ModelReference;
use aibom_facts::object::Locator;

use super::Draft;
use crate::explain::{Considered, Reason};
use crate::pods::Container;
use crate::reading::ModelClaim;

impl Draft<'_> {
    /// Adds a claim to the model of its identity.
    pub(crate) fn model(&mut self, claim: &ModelClaim, container: &Container<'_>) -> Key {
        let mounted = self.known_again(claim, container);
        let (id, claim) = mounted.as_ref().map_or_else(|| (self.promoted(claim), claim), |(id, claim)| (id.clone(), claim));
        let model = self.filled(&id, claim);
        model.finding.property("container.name", &container.name);
        model.finding.key.clone()
    }

    /// The model of this name with what a claim says.
    pub(crate) fn filled(&mut self, name: &str, claim: &ModelClaim) -> &mut Model {
        self.runs |= claim.role != Role::Target;
        for also in claim.sources.iter().chain(&claim.served) {
            self.also.entry(also.clone()).or_default().insert(name.to_owned());
        }
        let model = self.models.entry(name.to_owned()).or_insert_with(|| empty(claim.parsed.reference.clone(), claim.role));
        fill(model, claim);
        model
    }

    /// Adds a model under its own name, to the one of that name if there is one.
    pub(crate) fn put(&mut self, model: Model) {
        self.runs |= model.role != Role::Target;
        let name = &model.finding.key.name;
        for also in model.sources.iter().chain(&model.served) {
            self.also.entry(also.clone()).or_default().insert(name.clone());
        }
        match self.models.get_mut(name) {
            Some(known) => absorb(known, model),
            None => {
                self.models.insert(name.clone(), model);
            }
        }
    }

    /// Models that may have this source or served name, in the order of names.
    fn candidates<'n>(&'n self, also: &str) -> impl Iterator<Item = (&'n String, &'n Model)> {
        self.also.get(also).into_iter().flatten().filter_map(|name| self.models.get_key_value(name))
    }

    /// The key under which a claim belongs: its own, or that of a model that has its location as a source. A location that a better
    /// name has become known for is renamed.
    pub(super) fn promoted(&mut self, claim: &ModelClaim) -> String {
        let id = claim.parsed.reference.id();
        if self.models.contains_key(&id) {
            return id;
        }
        if is_location(&claim.parsed.reference) {
            if let Some((known, _)) = self.candidates(&id).find(|(_, model)| model.sources.contains(&id) && model.role == claim.role) {
                return known.clone();
            }
        } else if let Some(path) =
            claim.sources.iter().find(|source| self.models.get(*source).is_some_and(|model| is_location(&model.reference)))
        {
            return self.rename(path, &claim.parsed.reference);
        }
        id
    }

    /// A download: the source of a model that a server of the same object loads from the directory it fills, or a model of its own.
    pub(super) fn fetched(&mut self, claim: &ModelClaim, container: &Container<'_>) -> Key {
        let id = claim.parsed.reference.id();
        let Some(destination) = claim.destination.as_ref().filter(|destination| destination.path.starts_with('/')) else {
            return self.model(claim, container);
        };
        let directory = destination.path.trim_end_matches('/');
        // What another step has made is converted further: one model, and one more place of it.
        if let Some(name) = self.made.get(&id).and_then(|name| self.current(name)).map(str::to_owned)
            && name != id
        {
            self.made.insert(directory.to_owned(), name.clone());
            return self.made_of(&name, directory, claim);
        }
        // Some servers are given the directory around those of a model's versions.
        let version = |last: &str| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let around = directory.rsplit_once('/').filter(|(around, last)| !around.is_empty() && version(last)).map(|(around, _)| around);
        let last = id.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let fills = |path: &str| {
            let path = path.trim_end_matches('/');
            path == directory || Some(path) == around
                || path.strip_prefix(directory).map(|rest| rest.trim_start_matches('/')).is_some_and(|rest| rest == last || is_file_of(rest, last))
                // A loop fills one directory after the other.
                || (destination.open && destination.path.len() > 1 && path.starts_with(&destination.path))
        };
        // All of them begin with the directory.
        let filled: Vec<String> = self
            .models
            .range::<str, _>((Bound::Included(around.unwrap_or(directory)), Bound::Unbounded))
            .take_while(|(path, _)| path.starts_with(around.unwrap_or(directory)))
            .filter(|(path, model)| matches!(model.reference, ModelReference::Path(_)) && fills(path))
            .map(|(path, _)| path.clone())
            .collect();
        let filled: Vec<(String, Model)> =
            filled.into_iter().filter_map(|path| self.models.remove(&path).map(|model| (path, model))).collect();
        let mut filled = filled.into_iter();
        let Some((path, mut model)) = filled.next() else {
            let key = self.model(claim, container);
            self.made.insert(directory.to_owned(), key.name.clone());
            return key;
        };
        if matches!(claim.parsed.reference, ModelReference::Hub { .. }) {
            self.renamed.insert(path.clone(), id.clone());
            model.sources.insert(path);
            model.reference = claim.parsed.reference.clone();
            model.finding.key.name.clone_from(&id);
            model.sources.extend(claim.sources.iter().cloned());
        } else {
            model.sources.insert(id);
        }
        for (path, other) in filled {
            self.renamed.insert(path.clone(), model.finding.key.name.clone());
            model.sources.insert(path);
            absorb(&mut model, other);
        }
        model.finding.evidence.extend(claim.evidence.iter().cloned());
        if model.revision.is_none() {
            model.revision.clone_from(&claim.revision);
        }
        model.finding.property("container.name", &container.name);
        let key = model.finding.key.clone();
        self.put(model);
        self.made.insert(directory.to_owned(), key.name.clone());
        key
    }

    /// A further step of a model that steps before it have made: a server that loads what comes out of it loads that model.
    fn made_of(&mut self, name: &str, directory: &str, claim: &ModelClaim) -> Key {
        // A server of a whole repository of models is given the directory around it.
        let around = directory.rsplit_once('/').map_or("", |(around, _)| around);
        let is_served = |path: &&str| path.len() > 1 && self.models.get(*path).is_some_and(|model| is_location(&model.reference));
        let path = [directory, around].into_iter().find(|path| *path != name && is_served(path));
        if let Some((path, served)) = path.and_then(|path| Some((path, self.models.remove(path)?))) {
            self.renamed.insert(path.to_owned(), name.to_owned());
            if let Some(model) = self.models.get_mut(name) {
                model.sources.insert(path.to_owned());
                absorb(model, served);
            }
        }
        if let Some(model) = self.models.get_mut(name) {
            model.finding.evidence.extend(claim.evidence.iter().cloned());
        }
        Key::new(Class::Model, name)
    }

    /// Variables of a conventional name anywhere in the object that repeat a model that is known by better evidence.
    pub(super) fn repeated(&mut self, containers: &[Container<'_>]) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut seen: HashSet<(String, Locator)> = HashSet::new();
        for (key, model) in &self.models {
            seen.extend(model.finding.evidence.iter().map(|known| (key.clone(), known.at.clone())));
            for name in std::iter::once(key).chain(&model.sources) {
                names.insert(name.clone(), key.clone());
            }
        }
        for container in containers {
            for name in &self.rules.conventions.helpers {
                let Some(variable) = container.env.get(name).filter(|variable| !variable.secret && variable.value.unknown().is_none())
                else {
                    continue;
                };
                let text = variable.value.text.as_str();
                let Some(key) = names.get(text) else { continue };
                let Some(model) = self.models.get_mut(key) else { continue };
                if seen.insert((key.clone(), variable.at.clone())) {
                    model.finding.evidence.push(Evidence {
                        at: variable.at.clone(),
                        source: Source::EnvVarConvention,
                        value: text.to_owned(),
                        by: name.clone(),
                        container: container.name.clone(),
                    });
                    model.finding.property("identity.envVarName", name);
                }
            }
        }
    }

    /// A model that is only called or routed to: a further place of one that runs here, or a target.
    pub(super) fn spoken_of(&mut self, claim: &ModelClaim, container: &Container<'_>) -> Option<Key> {
        let id = claim.parsed.reference.id();
        let same = |(name, model): &(&String, &Model)| {
            **name == id
                || (model.role != Role::Target
                    && (model.sources.contains(&id) || model.served.contains(&id) || claim.sources.contains(*name)))
        };
        let own = std::iter::once(&id).chain(&claim.sources).filter_map(|name| self.models.get_key_value(name)).filter(same);
        // The first by name.
        let known = own.chain(self.candidates(&id).find(same)).map(|(name, _)| name).min().cloned();
        if let Some(model) = known.and_then(|name| self.models.get_mut(&name)) {
            model.finding.evidence.extend(claim.evidence.iter().cloned());
            return Some(model.finding.key.clone());
        }
        // A short name beside a model that runs here is most likely its served name, and is no identity.
        if self.runs && !claim.called && !matches!(claim.parsed.reference, ModelReference::Hub { .. }) {
            for evidence in &claim.evidence {
                self.trace.dropped(|| Considered {
                    at: evidence.at.clone(),
                    what: "model",
                    value: evidence.value.clone(),
                    by: evidence.by.clone(),
                    container: container.name.clone(),
                    reason: Reason::ServedName,
                });
            }
            return None;
        }
        Some(self.model(claim, container))
    }
}

pub(crate) fn is_location(reference: &ModelReference) -> bool {
    matches!(reference, ModelReference::Path(_) | ModelReference::Uri(_))
}

/// A model without facts.
fn empty(reference: ModelReference, role: Role) -> Model {
    Model {
        finding: Finding::new(Class::Model, reference.id(), Confidence::Inferred),
        reference,
        role,
        revision: None,
        served: BTreeSet::new(),
        sources: BTreeSet::new(),
    }
}

/// Adds what a claim says to its model.
fn fill(model: &mut Model, claim: &ModelClaim) {
    // What runs a model says more about its role than what calls it.
    if model.role == Role::Target && claim.role != Role::Target {
        model.role = claim.role;
    }
    model.finding.evidence.extend(claim.evidence.iter().cloned());
    model.finding.conflicts.extend(claim.conflicts.iter().cloned());
    model.served.extend(claim.served.iter().cloned());
    model.sources.extend(claim.sources.iter().cloned());
    match (&model.revision, &claim.revision) {
        (None, Some(revision)) => model.revision = Some(revision.clone()),
        (Some(known), Some(revision)) if known != revision => model.finding.property("aibom.revision.other", revision),
        _ => {}
    }
    for (name, value) in &claim.parameters {
        model.finding.property(format!("aibom.parameter.{name}"), value);
    }
    model.finding.property("aibom.model.part", &claim.part);
    if let Some(file) = &claim.parsed.file {
        model.finding.property("aibom.parameter.file", file);
    }
    for evidence in &claim.evidence {
        match evidence.source {
            Source::ContainerArg | Source::ShellScript => model.finding.property("identity.argFlag", &evidence.by),
            Source::EnvVar | Source::EnvVarConvention => model.finding.property("identity.envVarName", &evidence.by),
            _ => {}
        }
    }
}

/// Adds what is known about a model that turned out to be the same.
fn absorb(model: &mut Model, other: Model) {
    model.finding.evidence.extend(other.finding.evidence);
    model.finding.conflicts.extend(other.finding.conflicts);
    for (name, values) in other.finding.properties {
        model.finding.properties.entry(name).or_default().extend(values);
    }
    model.finding.needs.extend(other.finding.needs);
    model.served.extend(other.served);
    model.sources.extend(other.sources);
    model.revision = model.revision.take().or(other.revision);
}

/// Whether a file of weights is called like the repository that holds it: `swift-7b-q4.gguf` in `Swift-7B-GGUF`.
fn is_file_of(file: &str, repository: &str) -> bool {
    let Some((stem, "gguf")) = file.rsplit_once('.') else { return false };
    let (stem, repository) = (stem.to_ascii_lowercase(), repository.to_ascii_lowercase());
    !stem.contains('/') && stem.starts_with(repository.strip_suffix("-gguf").unwrap_or(&repository))
}
