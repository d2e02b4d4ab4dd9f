//! The way of one object: scrape in the sandbox, ground, extract, render. The same for an object from a file and one from a cluster.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use aibom_bom::{Document, Options};
use aibom_extract::{Explanation, Rules, Subject};
use aibom_facts::inventory::{Inventory, Origin, Tool};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::redact::Redactor;
use aibom_facts::report::Problem;
use aibom_facts::tree::{NodeId, Tree};
use aibom_plugin::{CallError, Plugin, Want};

use crate::catalogue::{Catalogue, NotServed};

/// What is said of a fault of ours.
pub const FAULT: &str = "a fault in k8s-aibom itself, not in the scraper; please report it with the object";

/// What an object led to.
#[derive(Debug)]
pub enum Outcome {
    /// An AI workload and its document.
    Documented {
        /// Its facts.
        inventory: Box<Inventory>,
        /// Their document.
        document: Box<Document>,
    },
    /// Scraped; nothing in it has to do with AI, as far as it could be read.
    NotAi {
        /// Malformed parts, in which something may be hidden. Most objects have none.
        problems: BTreeSet<Problem>,
    },
    /// Its facts are in the document of another workload, to which it belongs.
    PartOf {
        /// The other.
        above: Box<ObjectRef>,
        /// Malformed parts of the object itself.
        problems: BTreeSet<Problem>,
    },
    /// No scraper reads it.
    NoScraper(NotServed),
    /// The scraper failed on it.
    Failed {
        /// The scraper.
        plugin: String,
        /// Why, for people.
        reason: String,
    },
}

/// What was found in an object and why, whether or not it has to do with AI.
#[derive(Debug)]
pub struct Explained {
    /// Its facts.
    pub inventory: Inventory,
    /// What was recognised, and what was not reported.
    pub explanation: Explanation,
}

/// Answers the wants of a scraper.
pub trait Related: Sync {
    /// The object, if it exists and may be read.
    fn find(&self, want: &Want) -> Option<(ObjectRef, Arc<Tree>)>;

    /// Whether anything is looked for at all. Where nothing is, that there is no answer says nothing about the cluster.
    fn looks(&self) -> bool {
        true
    }
}

/// Everything an object's way needs; shared by all workers.
pub struct Pipeline<'a> {
    /// Scrapers.
    pub catalogue: &'a Catalogue,
    /// Extraction rules.
    pub rules: &'a Rules,
    /// Where objects come from.
    pub origin: Origin,
    /// How documents are written.
    pub options: &'a Options,
}

impl Pipeline<'_> {
    /// Takes one object all the way. `root` is where it stands in `tree` (an item of a `List`, or the tree's root).
    pub fn run(&self, reference: &ObjectRef, tree: &Tree, root: NodeId, related: &dyn Related) -> Outcome {
        self.take(reference, tree, root, related, aibom_extract::extract)
    }

    /// Like [`Pipeline::run`], with the reasons; there are none when the object was not scraped.
    pub fn explain(&self, reference: &ObjectRef, tree: &Tree, root: NodeId, related: &dyn Related) -> (Outcome, Option<Box<Explained>>) {
        let mut explained = None;
        let outcome = self.take(reference, tree, root, related, |rules, subject| {
            let (inventory, explanation) = aibom_extract::explain(rules, subject);
            explained = Some(Box::new(Explained { inventory: inventory.clone(), explanation }));
            inventory
        });
        (outcome, explained)
    }

    /// The document of an inventory that was put together from several objects.
    pub fn document(&self, reference: &ObjectRef, inventory: Inventory) -> Outcome {
        match aibom_bom::write(&inventory, self.options) {
            Ok(document) => Outcome::Documented { inventory: Box::new(inventory), document: Box::new(document) },
            Err(unfit) => {
                let plugin = self.catalogue.plugin_for(reference).map(|plugin| plugin.name().to_owned()).unwrap_or_default();
                Outcome::Failed { plugin, reason: format!("{unfit}; {FAULT}") }
            }
        }
    }

    fn take(
        &self,
        reference: &ObjectRef,
        tree: &Tree,
        root: NodeId,
        related: &dyn Related,
        extract: impl FnOnce(&Rules, &Subject<'_>) -> Inventory,
    ) -> Outcome {
        let plugin = match self.catalogue.plugin_for(reference) {
            Ok(plugin) => plugin,
            Err(reason) => {
                // Each text by itself: the filter would not know a secret behind another text.
                let api_version = reference.api_version();
                let namespace = reference.namespace.as_deref().unwrap_or_default();
                tracing::debug!(api_version, kind = reference.kind, namespace, name = reference.name, %reason, "not scraped");
                return Outcome::NoScraper(reason);
            }
        };
        let _span = tracing::debug_span!("object", plugin = plugin.name(), object = %reference).entered();
        if let Some(reason) = given_up(plugin) {
            return Outcome::Failed { plugin: plugin.name().to_owned(), reason };
        }
        let way = || {
            let inventory = self.inventory(plugin, reference, tree, root, related, extract)?;
            let document = inventory.is_ai().then(|| aibom_bom::write(&inventory, self.options)).transpose();
            Ok::<_, CallError>(document.map(|document| (inventory, document)))
        };
        // A fault of ours on one object is that object's; the others go on.
        let reason = match std::panic::catch_unwind(AssertUnwindSafe(way)) {
            Ok(Ok(Ok((inventory, None)))) => {
                tracing::debug!(problems = inventory.problems.len(), "no AI workload");
                return Outcome::NotAi { problems: inventory.problems };
            }
            Ok(Ok(Ok((inventory, Some(document))))) => {
                tracing::debug!(
                    models = inventory.models.len(),
                    runtimes = inventory.runtimes.len(),
                    images = inventory.images.len(),
                    unresolved = inventory.unresolved.len(),
                    problems = inventory.problems.len(),
                    "documented"
                );
                return Outcome::Documented { inventory: Box::new(inventory), document: Box::new(document) };
            }
            Ok(Ok(Err(unfit))) => format!("{unfit}; {FAULT}"),
            Ok(Err(error)) => error.to_string(),
            Err(_) => FAULT.to_owned(),
        };
        tracing::debug!(reason, "failed");
        Outcome::Failed { plugin: plugin.name().to_owned(), reason }
    }

    /// Scrapes and extracts.
    ///
    /// # Errors
    /// The scraper's call ended badly.
    fn inventory(
        &self,
        plugin: &Plugin,
        reference: &ObjectRef,
        tree: &Tree,
        root: NodeId,
        related: &dyn Related,
        extract: impl FnOnce(&Rules, &Subject<'_>) -> Inventory,
    ) -> Result<Inventory, CallError> {
        let reading = Reading { plugin, options: NO_OPTIONS, rules: self.rules, origin: self.origin };
        let view = reading.view(tree, root);
        let wants = reading.wants(&view)?;
        // A want that the host refused keeps its place and gets no answer.
        let found = wants.iter().map(|want| if want.refused.is_none() { related.find(want) } else { None }).collect();
        let asked = Asked { wants: &wants, found, looked: related.looks() };
        let mut inventory = reading.inventory(reference, &view, asked, extract)?;
        inventory.generation = generation(tree, root);
        Ok(inventory)
    }
}

/// `metadata.generation`, which is in no view.
pub fn generation(tree: &Tree, root: NodeId) -> Option<i64> {
    tree.at(root, "/metadata/generation").and_then(|node| tree.integer(node))
}

/// What a scraper asked for, and the answers.
pub struct Asked<'a> {
    /// What it asked for.
    pub wants: &'a [Want],
    /// The answers in the order of the wants.
    pub found: Vec<Option<(ObjectRef, Arc<Tree>)>>,
    /// Whether somebody looked, so that what has no answer is not there.
    pub looked: bool,
}

/// The two calls of a scraper for one object, and what comes between and after them.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The scraper.
    pub plugin: &'a Plugin,
    /// Its options, a JSON object.
    pub options: &'a str,
    /// Extraction rules.
    pub rules: &'a Rules,
    /// Where the object comes from.
    pub origin: Origin,
}

impl Reading<'_> {
    /// What the scraper sees of an object.
    pub fn view(&self, tree: &Tree, root: NodeId) -> Arc<Tree> {
        Arc::new(self.plugin.view(tree, root))
    }

    /// Objects that it asks for.
    ///
    /// # Errors
    /// The scraper's call ended badly.
    pub fn wants(&self, view: &Arc<Tree>) -> Result<Vec<Want>, CallError> {
        self.plugin.related(view, self.options)
    }

    /// Scrapes and extracts.
    ///
    /// # Errors
    /// The scraper's call ended badly.
    pub fn inventory(
        &self,
        reference: &ObjectRef,
        view: &Arc<Tree>,
        Asked { wants, found, looked }: Asked<'_>,
        extract: impl FnOnce(&Rules, &Subject<'_>) -> Inventory,
    ) -> Result<Inventory, CallError> {
        let plugin = self.plugin;
        let mut objects = vec![reference.clone()];
        let mut trees = vec![Some(Arc::clone(view))];
        for (want, found) in wants.iter().zip(found) {
            if let Some((found, found_tree)) = found {
                objects.push(found);
                trees.push(Some(Arc::new(plugin.view(&found_tree, found_tree.root()))));
            } else {
                objects.push(ObjectRef {
                    group: want.group.clone(),
                    version: String::new(),
                    kind: want.kind.clone(),
                    namespace: want.namespace.clone(),
                    name: want.name.clone(),
                    uid: None,
                });
                trees.push(None);
            }
        }
        let scraped = plugin.scrape(view, &trees[1..], self.options)?;
        let redactor = Redactor::standard();
        for line in &scraped.logs {
            // A guest may log whatever it read.
            tracing::debug!(plugin = plugin.name(), level = ?line.level, "{}", redactor.redact(&line.message).0);
        }
        let trees: Vec<Option<&Tree>> = trees.iter().map(Option::as_deref).collect();
        // A want that the host refuses was not looked for.
        let places = wants.iter().map(|want| (looked && want.refused.is_none()).then(|| want.at.clone()));
        let sought: Vec<Option<Locator>> = std::iter::once(None).chain(places).collect();
        let subject = Subject { objects: &objects, trees: &trees, sought: &sought, report: &scraped.report, origin: self.origin };
        let mut inventory = extract(self.rules, &subject);
        inventory.tools.insert(Tool {
            name: plugin.name().to_owned(),
            version: plugin.description().version.clone(),
            sha256: Some(plugin.digest().to_owned()),
        });
        Ok(inventory)
    }
}

/// Calls at whose deadline a plugin that never answered is not called again: each costs the whole deadline.
const PATIENCE: u64 = 5;

/// Why a plugin is not called any more.
pub fn given_up(plugin: &Plugin) -> Option<String> {
    let counters = plugin.counters();
    (counters.outcome("ok") == 0 && counters.outcome("deadline") >= PATIENCE)
        .then(|| format!("not called: it has not answered once and was ended at its deadline {PATIENCE} times"))
}

/// Options of a scraper that the administrator has not configured.
pub const NO_OPTIONS: &str = "{}";
