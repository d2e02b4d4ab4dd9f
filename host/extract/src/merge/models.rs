//! Models by identity: which claims are one model, which path is what a download fills, which name only repeats another.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;

use aibom_facts::inventory::{Class, Confidence, Evidence, Finding, Key, Model, Role, Source};
use aibom_facts::model::ModelReference;
use aibom_facts::object::Locator;

use super::Draft;
use crate::argv::has_weights;
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
        self.runs |= is_run(claim.role);
        for also in claim.sources.iter().chain(&claim.served) {
            self.also.entry(also.clone()).or_default().insert(name.to_owned());
        }
        self.loaded.extend(claim.sources.iter().filter(|source| source.starts_with('/')).map(|source| (source.clone(), name.to_owned())));
        self.note_file(name, &claim.parsed.reference);
        let model = self.models.entry(name.to_owned()).or_insert_with(|| empty(claim.parsed.reference.clone(), claim.role));
        fill(model, claim);
        model
    }

    /// Takes note of a file of weights, which a download may be found by.
    fn note_file(&mut self, name: &str, reference: &ModelReference) {
        if matches!(reference, ModelReference::Path(_)) && has_weights(name) {
            self.files.entry(last_segment(name).to_owned()).or_default().insert(name.to_owned());
        }
    }

    /// Adds a model under its own name, to the one of that name if there is one.
    pub(crate) fn put(&mut self, model: Model) {
        self.runs |= is_run(model.role);
        self.note_file(&model.finding.key.name, &model.reference);
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
    /// `elsewhere` are the places where other containers see what is written there.
    pub(super) fn fetched(&mut self, claim: &ModelClaim, container: &Container<'_>, elsewhere: &[String]) -> Key {
        let id = claim.parsed.reference.id();
        let destination = claim.destination.as_ref().filter(|destination| destination.path.starts_with('/'));
        let places = destination.map(|destination| destination.path.as_str()).into_iter().chain(elsewhere.iter().map(String::as_str));
        let places: Vec<&str> = places.collect();
        let directories: Vec<&str> = places.iter().map(|path| path.trim_end_matches('/')).collect();
        // What another step has made is converted further: one model, and one more place of it.
        if !directories.is_empty()
            && let Some(name) = self.made.get(&id).and_then(|name| self.current(name)).map(str::to_owned)
            && name != id
        {
            self.note_made(&directories, &name);
            return self.made_of(&name, &directories, claim);
        }
        let open = destination.is_some_and(|destination| destination.open);
        let mut filled: Vec<String> = places.iter().flat_map(|place| self.filled_by(place, open, &id)).collect();
        if filled.is_empty() {
            filled = self.loaded_by_file(claim);
        }
        if filled.is_empty()
            && let Some(name) = places.iter().find_map(|place| self.loaded_from(place, open, &id))
        {
            return self.named_by_download(&name, claim, container, &directories);
        }
        let filled: Vec<(String, Model)> =
            filled.into_iter().filter_map(|path| self.models.remove(&path).map(|model| (path, model))).collect();
        let mut filled = filled.into_iter();
        let Some((path, mut model)) = filled.next() else {
            let key = self.model(claim, container);
            self.note_made(&directories, &key.name);
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
        self.note_made(&directories, &key.name);
        key
    }

    /// Takes note of what a step has made in directories.
    fn note_made(&mut self, directories: &[&str], name: &str) {
        self.made.extend(directories.iter().map(|directory| ((*directory).to_owned(), name.to_owned())));
    }

    /// A model with a name of its own that is loaded out of a directory that a download fills.
    fn loaded_from(&self, place: &str, open: bool, id: &str) -> Option<String> {
        let fills = Fills::of(place, open, id);
        let inside = self.loaded.range::<str, _>((Bound::Included(fills.start()), Bound::Unbounded));
        let mut inside =
            inside.take_while(|(path, _)| self.look() && path.starts_with(fills.start())).filter(|(path, _)| fills.is_path(path));
        inside.find_map(|(_, name)| self.current(name)).map(str::to_owned)
    }

    /// A model that is called otherwise where it is served: what was downloaded says which one it is.
    fn named_by_download(&mut self, name: &str, claim: &ModelClaim, container: &Container<'_>, directories: &[&str]) -> Key {
        let id = claim.parsed.reference.id();
        if name != id
            && let Some(mut model) = self.models.remove(name)
        {
            if matches!(claim.parsed.reference, ModelReference::Hub { .. }) {
                self.renamed.insert(name.to_owned(), id.clone());
                model.served.insert(name.to_owned());
                model.finding.key.name.clone_from(&id);
                model.reference = claim.parsed.reference.clone();
            } else {
                model.sources.insert(id.clone());
            }
            self.put(model);
        }
        let name = self.current(&id).or_else(|| self.current(name)).unwrap_or(&id).to_owned();
        let claim = ModelClaim { role: self.models.get(&name).map_or(claim.role, |model| model.role), ..claim.clone() };
        let model = self.filled(&name, &claim);
        model.finding.property("container.name", &container.name);
        let key = model.finding.key.clone();
        self.note_made(directories, &key.name);
        key
    }

    /// The paths that are loaded out of a directory that a download fills; `open` says that the directory goes on in an unknown way.
    fn filled_by(&self, place: &str, open: bool, id: &str) -> Vec<String> {
        let fills = Fills::of(place, open, id);
        self.models
            .range::<str, _>((Bound::Included(fills.start()), Bound::Unbounded))
            .take_while(|(path, _)| self.look() && path.starts_with(fills.start()))
            .filter(|(path, model)| matches!(model.reference, ModelReference::Path(_)) && fills.is_path(path))
            .map(|(path, _)| path.clone())
            .collect()
    }

    /// Whether one more path may be looked at: downloads times paths is the product of two sizes.
    fn look(&self) -> bool {
        self.looks.set(self.looks.get().saturating_sub(1));
        self.looks.get() > 0
    }

    /// The only path that a file of weights is loaded from by the name it is downloaded under, where nothing says into which directory.
    fn loaded_by_file(&self, claim: &ModelClaim) -> Vec<String> {
        let id = claim.parsed.reference.id();
        let file = claim.parsed.file.as_deref().unwrap_or(&id);
        let file = last_segment(file.split(['?', '#']).next().unwrap_or_default());
        let is_loaded = |path: &&String| self.models.get(*path).is_some_and(|model| matches!(model.reference, ModelReference::Path(_)));
        // Those that have a better name by now are few.
        let paths: Vec<String> = self.files.get(file).into_iter().flatten().take(MAX_NAMESAKES).filter(is_loaded).cloned().collect();
        if paths.len() == 1 { paths } else { Vec::new() }
    }

    /// A further step of a model that steps before it have made: a server that loads what comes out of it loads that model.
    fn made_of(&mut self, name: &str, directories: &[&str], claim: &ModelClaim) -> Key {
        // A server of a whole repository of models is given the directory around it.
        let is_served = |path: &&str| path.len() > 1 && self.models.get(*path).is_some_and(|model| is_location(&model.reference));
        let mut places = directories.iter().flat_map(|directory| [*directory, directory.rsplit_once('/').map_or("", |(around, _)| around)]);
        let path = places.find(|path| *path != name && is_served(path));
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

/// Paths that end with the same file, of which the only one that is still loaded is looked for.
const MAX_NAMESAKES: usize = 16;

/// What a download fills.
struct Fills<'f> {
    /// As written.
    place: &'f str,
    directory: &'f str,
    /// Some servers are given the directory around those of a model's versions.
    around: Option<&'f str>,
    /// Name of what is downloaded.
    last: &'f str,
    /// The place goes on in a way that is not known.
    open: bool,
}

impl<'f> Fills<'f> {
    fn of(place: &'f str, open: bool, id: &'f str) -> Self {
        let directory = place.trim_end_matches('/');
        let version = |last: &str| !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
        let around = directory.rsplit_once('/').filter(|(around, last)| !around.is_empty() && version(last)).map(|(around, _)| around);
        Self { place, directory, around, last: last_segment(id), open }
    }

    /// All paths in it begin so.
    fn start(&self) -> &'f str {
        self.around.unwrap_or(self.directory)
    }

    /// Whether something that is loaded from this path is what was downloaded.
    fn is_path(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let inside = || path.strip_prefix(self.directory).map(|rest| rest.trim_start_matches('/'));
        path == self.directory
            || Some(path) == self.around
            || inside().is_some_and(|rest| rest == self.last || is_file_of(rest, self.last))
            // A loop fills one directory after the other.
            || (self.open && self.place.len() > 1 && path.starts_with(self.place))
    }
}

/// Whether a model of this role is what a program runs, and not what helps it or is asked.
fn is_run(role: Role) -> bool {
    !matches!(role, Role::Target | Role::Embedding | Role::Reranker | Role::Tokenizer | Role::Judge)
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
    // What runs a model says more about its role than what calls it, and either more than what only takes its tokenizer.
    let weaker = |role: Role| match role {
        Role::Tokenizer => 2,
        Role::Target => 1,
        _ => 0,
    };
    if weaker(claim.role) < weaker(model.role) {
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

fn last_segment(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
}

/// Whether a file of weights is called like the repository that holds it: `swift-7b-q4.gguf` in `Swift-7B-GGUF`.
fn is_file_of(file: &str, repository: &str) -> bool {
    let Some((stem, "gguf")) = file.rsplit_once('.') else { return false };
    let (stem, repository) = (stem.to_ascii_lowercase(), repository.to_ascii_lowercase());
    !stem.contains('/') && stem.starts_with(repository.strip_suffix("-gguf").unwrap_or(&repository))
}
