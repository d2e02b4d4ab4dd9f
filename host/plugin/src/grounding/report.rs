//! Items, pod templates, containers, and how they refer to each other.

use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::inventory::{Category, Role};
use aibom_facts::report::{Container, ContainerClass, Duty, Item, ItemClass, PodTemplate, Report};

use super::{Change, Ground};
use crate::contract::types;

/// Names of templates, each with the number that its next double gets.
type Names = BTreeMap<String, u32>;

const MAX_ITEMS: usize = 4_096;
const MAX_TEMPLATES: usize = 1_024;
const MAX_CONTAINERS: usize = 4_096;
const MAX_PROBLEMS: usize = 1_024;
const MAX_CATEGORIES: usize = 16;
/// Sources of an item.
const MAX_SOURCES: usize = 64;
/// References of an item.
const MAX_USES: usize = 1_024;
/// Env lists and the like of one thing.
const MAX_LISTS: usize = 64;

impl Ground<'_> {
    pub(super) fn report(&mut self, raw: types::Report) -> Report {
        let mut templates = Names::new();
        let pod_templates: Vec<_> =
            self.take(raw.pod_templates, MAX_TEMPLATES).into_iter().filter_map(|raw| self.template(raw, &mut templates)).collect();
        let containers = self.take(raw.containers, MAX_CONTAINERS).into_iter().filter_map(|raw| self.container(raw, &templates)).collect();
        let mut ids = BTreeSet::new();
        let mut items: Vec<_> = self.take(raw.items, MAX_ITEMS).into_iter().filter_map(|raw| self.item(raw, &mut ids)).collect();
        self.resolve_uses(&mut items, &ids, &templates);
        Report {
            categories: self.categories(raw.categories),
            items,
            pod_templates,
            containers,
            properties: self.properties(raw.properties),
            problems: self.take(raw.problems, MAX_PROBLEMS).iter().map(|problem| self.problem(problem)).collect(),
        }
    }

    fn categories(&mut self, raw: Vec<String>) -> Vec<String> {
        let mut known: Vec<String> = Vec::new();
        for word in self.take(raw, MAX_CATEGORIES) {
            if Category::parse(&word).is_none() {
                self.note(Change::UnknownWord);
            } else if !known.contains(&word) {
                known.push(word);
            }
        }
        known
    }

    fn item(&mut self, raw: types::Item, ids: &mut BTreeSet<String>) -> Option<Item> {
        let Some(class) = ItemClass::parse(&raw.class) else {
            self.note(Change::UnknownWord);
            self.note(Change::DroppedItem);
            return None;
        };
        let Some(name) = self.claim(raw.name).filter(|name| !name.text.is_empty()) else {
            self.note(Change::DroppedItem);
            return None;
        };
        let mut id = self.word(&raw.id);
        // References to an id given twice mean the first one.
        if !id.is_empty() && !ids.insert(id.clone()) {
            self.note(Change::Duplicate);
            id.clear();
        }
        let role = match class {
            ItemClass::Model | ItemClass::Adapter | ItemClass::Tokenizer => self.role(raw.role),
            _ => self.word(&raw.role),
        };
        let uses = self.take(raw.uses, MAX_USES);
        Some(Item {
            id,
            class,
            role,
            name,
            version: raw.version.and_then(|version| self.claim(version)),
            sources: self.take(raw.sources, MAX_SOURCES).into_iter().filter_map(|source| self.claim(source)).collect(),
            uses: uses.iter().map(|name| self.word(name)).collect(),
            properties: self.properties(raw.properties),
        })
    }

    /// A role of a model outside the vocabulary is no role. Other classes have words of their own.
    fn role(&mut self, raw: String) -> String {
        if raw.is_empty() || Role::parse(&raw).is_some() {
            return raw;
        }
        self.note(Change::UnknownWord);
        String::new()
    }

    fn resolve_uses(&mut self, items: &mut [Item], ids: &BTreeSet<String>, templates: &Names) {
        for item in items {
            let own = std::mem::take(&mut item.id);
            let before = item.uses.len();
            let mut seen = BTreeSet::new();
            item.uses.retain(|name| {
                !name.is_empty() && *name != own && (ids.contains(name) || templates.contains_key(name)) && seen.insert(name.clone())
            });
            self.changes.note(Change::DanglingReference, (before - item.uses.len()) as u64);
            item.id = own;
        }
    }

    fn template(&mut self, raw: types::PodTemplate, names: &mut Names) -> Option<PodTemplate> {
        let Some(at) = self.object_at(&raw.at) else {
            self.note(Change::DroppedTemplate);
            return None;
        };
        let duty = match raw.duty.as_str() {
            "" => Duty::Unknown,
            "engine" => Duty::Engine,
            "infrastructure" => Duty::Infrastructure,
            _ => {
                self.note(Change::UnknownWord);
                Duty::Unknown
            }
        };
        let wanted = self.word(&raw.name);
        let name = self.unique(wanted, names);
        Some(PodTemplate {
            at,
            name,
            role: self.word(&raw.role),
            duty,
            inherited_env: self.places(raw.inherited_env, MAX_LISTS),
            properties: self.properties(raw.properties),
        })
    }

    /// A template is never dropped for its name: the second `worker` is `worker-2`.
    fn unique(&mut self, wanted: String, names: &mut Names) -> String {
        let Some(next) = names.get(&wanted).copied() else {
            names.insert(wanted.clone(), 2);
            return wanted;
        };
        self.note(Change::Duplicate);
        let stem = if wanted.is_empty() { "template" } else { &wanted };
        let mut number = next;
        let mut name = format!("{stem}-{number}");
        while names.contains_key(&name) {
            number += 1;
            name = format!("{stem}-{number}");
        }
        names.insert(wanted, number + 1);
        names.insert(name.clone(), 2);
        name
    }

    fn container(&mut self, raw: types::Container, templates: &Names) -> Option<Container> {
        let class = match raw.class.as_str() {
            "main" => ContainerClass::Main,
            "init" => ContainerClass::Init,
            "sidecar" => ContainerClass::Sidecar,
            // What runs beside the others is the least that can be said of a container.
            _ => {
                self.note(Change::UnknownWord);
                ContainerClass::Main
            }
        };
        let mut template = self.word(&raw.template);
        if !template.is_empty() && !templates.contains_key(&template) {
            self.note(Change::DanglingReference);
            template.clear();
        }
        let mut place = |at: Option<types::Locator>| at.and_then(|at| self.place(&at));
        let command = place(raw.command);
        let (volume_mounts, resources) = (place(raw.volume_mounts), place(raw.resources));
        let container = Container {
            name: self.word(&raw.name),
            class,
            template,
            image: raw.image.and_then(|image| self.claim(image)).filter(|image| !image.text.is_empty()),
            command,
            args: self.places(raw.args, MAX_LISTS),
            env: self.places(raw.env, MAX_LISTS),
            env_from: self.places(raw.env_from, MAX_LISTS),
            volume_mounts,
            resources,
            properties: self.properties(raw.properties),
        };
        let stands_nowhere = container.image.is_none()
            && container.command.is_none()
            && container.args.is_empty()
            && container.env.is_empty()
            && container.env_from.is_empty()
            && container.volume_mounts.is_none()
            && container.resources.is_none();
        if stands_nowhere {
            self.note(Change::DroppedContainer);
            return None;
        }
        Some(container)
    }
}
