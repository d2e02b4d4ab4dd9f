//! Models that an operator mounts into a pod template: known again in the command lines that load them from their directory.
//!
//! Such a directory is the same for every model, so it means one only within the templates that it is mounted into.

use std::collections::HashMap;

use aibom_facts::inventory::Role;
use aibom_facts::model::ModelReference;
use aibom_facts::report::ContainerClass;

use crate::merge::{Draft, is_location};
use crate::pods::Container;
use crate::reading::{ModelClaim, Reading};

/// One model in one template.
#[derive(Clone, Debug)]
struct Mounted {
    directory: String,
    /// Key of that time.
    name: String,
    /// The report says what it is used for.
    settled: bool,
    /// It stands beside the model that is served.
    beside: bool,
}

/// Mounted models by template.
#[derive(Debug, Default)]
pub(crate) struct MountedModels(HashMap<String, Vec<Mounted>>);

impl MountedModels {
    /// Adds a model that is mounted at a directory of a template. `settled` says that its role is stated.
    pub(crate) fn add(&mut self, template: &str, directory: &str, name: &str, settled: bool) {
        let directory = directory.trim_end_matches('/').to_owned();
        if directory.starts_with('/') {
            self.0.entry(template.to_owned()).or_default().push(Mounted { directory, name: name.to_owned(), settled, beside: false });
        }
    }

    /// The model at the longest directory that holds one of the paths, and whether a path is that directory itself.
    fn holder<'p>(&self, template: &str, paths: impl Iterator<Item = &'p str>) -> Option<(&Mounted, bool)> {
        let mounted = self.0.get(template)?;
        let holding = paths.flat_map(|path| {
            mounted.iter().filter_map(move |one| {
                let rest = path.strip_prefix(one.directory.as_str())?;
                (rest.is_empty() || rest.starts_with('/')).then(|| (one, rest.trim_end_matches('/').is_empty()))
            })
        });
        // Of two at one directory the first counts.
        holding.reduce(|best, next| if next.0.directory.len() > best.0.directory.len() { next } else { best })
    }

    /// The only model of a template, unless it stands beside the one that is served.
    fn only(&self, template: &str) -> Option<&Mounted> {
        match self.0.get(template)?.as_slice() {
            [one] if !one.beside => Some(one),
            _ => None,
        }
    }
}

impl Draft<'_> {
    /// Mounted models that a server loads as adapters.
    pub(crate) fn mounted_adapters(&mut self, containers: &[Container<'_>], readings: &[Reading]) {
        for (container, reading) in containers.iter().zip(readings) {
            let Some(mounted) = self.mounted.0.get_mut(&container.template) else { continue };
            for claim in reading.models.iter().filter(|claim| claim.role == Role::Adapter) {
                let id = claim.parsed.reference.id();
                for one in mounted.iter_mut().filter(|one| !one.settled && id.trim_end_matches('/') == one.directory) {
                    (one.settled, one.beside) = (true, true);
                    if let Some(model) = self.models.get_mut(&one.name) {
                        model.role = Role::Adapter;
                    }
                }
            }
        }
    }

    /// The mounted model that a claim of a container is about, with the claim as that model needs it.
    pub(crate) fn known_again(&mut self, claim: &ModelClaim, container: &Container<'_>) -> Option<(String, ModelClaim)> {
        let id = claim.parsed.reference.id();
        let located = is_location(&claim.parsed.reference);
        let own = located.then_some(id.as_str());
        let paths = own.into_iter().chain(claim.sources.iter().map(String::as_str));
        let (mounted, part) = match self.mounted.holder(&container.template, paths) {
            Some((mounted, whole)) => (mounted.clone(), !whole),
            // A server told which model to run, beside the only thing that was fetched for it.
            None if !located && container.class == ContainerClass::Main => (self.mounted.only(&container.template)?.clone(), false),
            None => return None,
        };
        let beside = matches!(claim.role, Role::Draft | Role::Adapter | Role::Tokenizer | Role::Target);
        // A draft model or an adapter below the directory is another model; a tokenizer there is the model's own.
        if (beside && part && claim.role != Role::Tokenizer) || (beside && !located) {
            return None;
        }
        let name = self.current(&mounted.name)?.to_owned();
        let known = self.models.get(&name)?;
        let name = if is_location(&known.reference) && !located {
            self.rename(&name, &claim.parsed.reference)
        } else if located || known.reference == claim.parsed.reference || !claim.sources.is_empty() {
            name
        } else {
            return None;
        };
        if !mounted.settled && claim.role != Role::Tokenizer {
            self.adopt(&name, claim.role);
        }
        let mut claim = claim.clone();
        claim.sources.retain(|source| !source.starts_with(&mounted.directory));
        if !located && name != id {
            // What it is called behind the same directory is a name that it is served under.
            claim.evidence.retain(|evidence| evidence.value != id);
        }
        Some((name, claim))
    }

    /// What a server is for says what the models that were fetched for it are for.
    pub(crate) fn adopt_role(&mut self, template: &str, role: Role) {
        let mounted: Vec<Mounted> = self.mounted.0.get(template).into_iter().flatten().filter(|one| !one.settled).cloned().collect();
        for one in mounted {
            if let Some(name) = self.current(&one.name).map(str::to_owned) {
                self.adopt(&name, role);
            }
        }
    }

    /// Roles of what is served. A framework that also trains says nothing about a model that an operator mounts.
    fn adopt(&mut self, name: &str, role: Role) {
        if !matches!(role, Role::Embedding | Role::Reranker | Role::Adapter | Role::Draft) {
            return;
        }
        if let Some(model) = self.models.get_mut(name).filter(|model| model.role == Role::Main) {
            model.role = role;
        }
    }

    /// Gives a model that is known by its location a better name.
    pub(crate) fn rename(&mut self, name: &str, better: &ModelReference) -> String {
        let id = better.id();
        if let Some(mut model) = self.models.remove(name) {
            model.sources.insert(name.to_owned());
            self.renamed.insert(name.to_owned(), id.clone());
            model.finding.key.name.clone_from(&id);
            model.reference = better.clone();
            self.put(model);
        }
        id
    }
}

#[cfg(test)]
mod tests;
