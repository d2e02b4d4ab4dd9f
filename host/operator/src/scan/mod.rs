//! `k8s-aibom scan`: what will these manifests put into the inventory?
//!
//! Inputs are read and taken through the [pipeline](crate::pipeline) by one worker per core; results come out in the order of the
//! inputs. Objects whose scraper may ask for other objects wait until everything was read and come last, and so do those of a cluster
//! dump, which have UIDs: what belongs to another of them is in its document.

pub mod documents;
pub mod explain;
mod families;
pub mod faults;
pub mod lines;
mod order;
pub mod output;
pub mod siblings;
pub mod sources;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aibom_api::kinds::CORE;
use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::Problem;
use aibom_facts::tree::Visibility;

use crate::catalogue::NotServed;
use crate::pipeline::{Explained, Outcome, Pipeline, Related};
use documents::{Content, Document, Object};
use families::{Families, Held, Lineage, Root};
use faults::Fault;
use lines::Lines;
use order::in_order;
use siblings::{Nobody, Sibling, Siblings};
use sources::Source;

/// Which objects are scanned: all, or those of some kinds.
#[derive(Clone, Debug, Default)]
pub struct KindFilter(Vec<WantedKind>);

/// One of the kinds that were asked for.
#[derive(Clone, Debug)]
struct WantedKind {
    written: String,
    /// In lower case.
    name: String,
    /// An object of it has passed.
    met: Arc<AtomicBool>,
}

impl WantedKind {
    fn is(&self, group: &str, kind: &str) -> bool {
        match self.name.rsplit_once('/') {
            Some((wanted, name)) => {
                let core = group.is_empty() && wanted.eq_ignore_ascii_case(CORE);
                (core || wanted.eq_ignore_ascii_case(group)) && name.eq_ignore_ascii_case(kind)
            }
            None => self.name.eq_ignore_ascii_case(kind),
        }
    }
}

impl KindFilter {
    /// `Kind` matches in every group, `group/Kind` in that group, `core/Kind` in the core group; case is ignored. Empty matches everything.
    pub fn new(kinds: Vec<String>) -> Self {
        let kinds = kinds.into_iter().map(|kind| kind.trim().to_owned()).filter(|kind| !kind.is_empty());
        Self(kinds.map(|written| WantedKind { name: written.to_ascii_lowercase(), written, met: Arc::default() }).collect())
    }

    /// What was asked for and no object was, as it was written.
    pub fn unmet(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|wanted| !wanted.met.load(Ordering::Relaxed)).map(|wanted| wanted.written.as_str())
    }

    fn matches(&self, object: &ObjectRef) -> bool {
        let mut found = self.0.is_empty();
        for wanted in self.0.iter().filter(|wanted| wanted.is(&object.group, &object.kind)) {
            wanted.met.store(true, Ordering::Relaxed);
            found = true;
        }
        found
    }
}

/// One object, or those of one name: `name` or `Kind/name` or `group/Kind/name`.
#[derive(Clone, Debug)]
pub struct NameFilter {
    kinds: KindFilter,
    name: String,
}

impl NameFilter {
    /// Reads the text of a user.
    pub fn new(text: &str) -> Self {
        let (kind, name) = text.rsplit_once('/').map_or((None, text), |(kind, name)| (Some(kind.to_owned()), name));
        Self { kinds: KindFilter::new(kind.into_iter().collect()), name: name.to_owned() }
    }

    fn matches(&self, object: &ObjectRef) -> bool {
        object.name == self.name && self.kinds.matches(object)
    }
}

/// What was found at one place of the inputs.
#[derive(Debug)]
pub struct Finding {
    /// Name of the input.
    pub file: String,
    /// Index of the document.
    pub document: usize,
    /// Position in its `List`.
    pub item: Option<usize>,
    /// The object.
    pub object: ObjectRef,
    /// What it led to.
    pub outcome: Outcome,
    /// Why, when that was asked for and the object was scraped.
    pub explained: Option<Box<Explained>>,
    /// Lines of the object, when they were asked for or something is wrong with it.
    pub lines: Option<Located>,
    /// Inputs and places of its objects, in the order of the inventory; empty when they were not asked for.
    pub places: Vec<Option<(String, Located)>>,
}

/// Where an object stands in its input.
#[derive(Clone, Debug)]
pub struct Located {
    /// Lines of its document.
    pub lines: Arc<Lines>,
    /// Place of the object in the document.
    pub place: Pointer,
}

/// An object that waits for the others.
struct Deferred {
    file: String,
    document: usize,
    object: Object,
    written: Arc<Written>,
    /// Who it is in its cluster, until somebody takes it.
    lineage: Mutex<Option<Lineage>>,
}

/// What an input gives, piece by piece.
enum Part<T> {
    Finding(Class, T),
    Fault(Fault),
    /// A fault of a document that is read none the less.
    Warning(Fault),
    Deferred(Box<Deferred>),
    Held(Box<Held>),
    /// An object that nobody reads, and that others may belong to.
    Member(Box<Lineage>),
    Sibling(Sibling),
    /// So many documents or entries of lists are no objects.
    Other(usize),
    /// So many objects were not asked for.
    Unasked(usize),
    /// The input is read.
    End,
}

/// What became of an object, for counting.
#[derive(Clone, Copy)]
enum Class {
    Documented,
    NotAi,
    PartOf,
    ForOthers,
    NoScraper,
    Failed,
}

impl Class {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Documented { .. } => Self::Documented,
            Outcome::NotAi { .. } => Self::NotAi,
            Outcome::PartOf { .. } => Self::PartOf,
            Outcome::NoScraper(NotServed::Related) => Self::ForOthers,
            Outcome::NoScraper(_) => Self::NoScraper,
            Outcome::Failed { .. } => Self::Failed,
        }
    }
}

/// Counts of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Inputs read or tried.
    pub inputs: usize,
    /// Objects of a kind and name that was asked for.
    pub objects: usize,
    /// Objects of other kinds and names.
    pub unasked: usize,
    /// Objects with a document.
    pub documented: usize,
    /// Scraped objects without AI.
    pub not_ai: usize,
    /// Objects whose facts are in the document of another, to which they belong.
    pub parts: usize,
    /// Objects of kinds that are only read for objects that name them.
    pub for_others: usize,
    /// Objects without a scraper.
    pub no_scraper: usize,
    /// Objects on which the scraper failed.
    pub failed: usize,
    /// Documents that are no Kubernetes objects.
    pub other: usize,
    /// Inputs and documents that could not be read.
    pub faults: usize,
}

impl Totals {
    fn count(&mut self, class: Class) {
        self.objects += 1;
        match class {
            Class::Documented => self.documented += 1,
            Class::NotAi => self.not_ai += 1,
            Class::PartOf => self.parts += 1,
            Class::ForOthers => self.for_others += 1,
            Class::NoScraper => self.no_scraper += 1,
            Class::Failed => self.failed += 1,
        }
    }
}

/// Turns a finding into what a sink takes. Runs in the workers, so that a finding's memory is freed by the thread that took it and only
/// what is to be written crosses over.
pub trait Present: Sync {
    /// What the sink takes.
    type Shown: Send;

    /// Presents one finding.
    fn present(&self, finding: Finding) -> Self::Shown;
}

/// Receives results in the order of the inputs.
pub trait Sink<T> {
    /// One object.
    ///
    /// # Errors
    /// The result cannot be written; the scan stops.
    fn finding(&mut self, shown: T) -> anyhow::Result<()>;
    /// One input or document that cannot be read.
    fn fault(&mut self, fault: &Fault);
    /// A fault of a document that is read none the less.
    fn warning(&mut self, fault: &Fault);
    /// An input is done.
    fn progress(&mut self, done: usize, name: &str);
}

/// What to scan and how.
pub struct Plan<'a> {
    /// Inputs.
    pub inputs: &'a [Source],
    /// Kinds to look at.
    pub kinds: KindFilter,
    /// Threads.
    pub workers: usize,
    /// Do not look up other objects for a scraper.
    pub alone: bool,
    /// Tell why, of every object or of those of a name; the others are not looked at then.
    pub explain: Option<Explain>,
}

/// What is to be explained.
#[derive(Clone, Debug)]
pub enum Explain {
    /// Every object.
    All,
    /// Objects of a name.
    Named(NameFilter),
}

impl Plan<'_> {
    fn wants(&self, object: &ObjectRef) -> bool {
        let named = match &self.explain {
            Some(Explain::Named(filter)) => filter.matches(object),
            Some(Explain::All) | None => true,
        };
        named && self.kinds.matches(object)
    }
}

/// Scans the inputs.
///
/// # Errors
/// The sink's.
pub fn run<P: Present>(pipeline: &Pipeline<'_>, plan: &Plan<'_>, presenter: &P, sink: &mut dyn Sink<P::Shown>) -> anyhow::Result<Totals> {
    let Plan { inputs, workers, .. } = *plan;
    let mut totals = Totals { inputs: inputs.len(), ..Totals::default() };
    let mut deferred = Vec::new();
    let mut siblings = Siblings::default();
    let mut families = Families::default();
    in_order(
        inputs,
        workers,
        |input, give| read_input(pipeline, input, plan, presenter, give),
        |index, part| {
            match part {
                Part::Finding(class, shown) => {
                    totals.count(class);
                    sink.finding(shown)?;
                }
                Part::Fault(fault) => {
                    totals.faults += 1;
                    sink.fault(&fault);
                }
                Part::Warning(fault) => sink.warning(&fault),
                Part::Deferred(object) => deferred.push(*object),
                Part::Held(held) => families.add(*held),
                Part::Member(lineage) => families.add_member(*lineage),
                Part::Sibling(sibling) => siblings.add(sibling),
                Part::Other(more) => totals.other += more,
                Part::Unasked(more) => totals.unasked += more,
                Part::End => sink.progress(index + 1, inputs[index].name()),
            }
            Ok(())
        },
    )?;
    in_order(
        &deferred,
        workers,
        |Deferred { file, document, object, written, lineage }, give| {
            let seen = siblings.of(file);
            let mut finding = find(pipeline, plan, (file.as_str(), *document), object, &seen);
            if plan.explain.is_some() || finding.has_problems() {
                finding.lines = written.located(object);
            }
            if let Some(explained) = &finding.explained {
                finding.places = explained.inventory.objects.iter().map(|object| seen.place(object)).collect();
            }
            give(match lineage.lock().unwrap_or_else(PoisonError::into_inner).take() {
                Some(lineage) => Part::Held(Box::new(Held::new(finding, lineage))),
                None => Part::Finding(Class::of(&finding.outcome), presenter.present(finding)),
            });
        },
        |_, part| match part {
            Part::Held(held) => {
                families.add(*held);
                Ok(())
            }
            Part::Finding(class, shown) => {
                totals.count(class);
                sink.finding(shown)
            }
            _ => Ok(()),
        },
    )?;
    let roots: Vec<Mutex<Option<Root>>> = families.resolve().into_iter().map(|root| Mutex::new(Some(root))).collect();
    in_order(
        &roots,
        workers,
        |root, give| {
            if let Some(root) = root.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let finding = root.finish(pipeline);
                give((Class::of(&finding.outcome), presenter.present(finding)));
            }
        },
        |_, (class, shown)| {
            totals.count(class);
            sink.finding(shown)
        },
    )?;
    Ok(totals)
}

/// Takes one object of a file and document all the way.
fn find(pipeline: &Pipeline<'_>, plan: &Plan<'_>, (file, document): (&str, usize), object: &Object, related: &dyn Related) -> Finding {
    let Object { item, reference, tree, root, .. } = object;
    let (outcome, explained) = match plan.explain {
        None => (pipeline.run(reference, tree, *root, related), None),
        Some(_) => pipeline.explain(reference, tree, *root, related),
    };
    let (lines, places) = (None, Vec::new());
    Finding { file: file.to_owned(), document, item: *item, object: reference.clone(), outcome, explained, lines, places }
}

impl Finding {
    /// What is wrong with the object, if it was scraped.
    pub fn problems(&self) -> Option<&BTreeSet<Problem>> {
        match &self.outcome {
            Outcome::Documented { inventory, .. } => Some(&inventory.problems),
            Outcome::NotAi { problems } | Outcome::PartOf { problems, .. } => Some(problems),
            Outcome::NoScraper(_) | Outcome::Failed { .. } => None,
        }
    }

    fn has_problems(&self) -> bool {
        self.problems().is_some_and(|problems| !problems.is_empty())
    }
}

/// A document as it stands in its input. Its lines are read when somebody has to be sent to one, once for all of its objects.
struct Written {
    text: String,
    /// Lines of the input before it.
    before: usize,
    lines: OnceLock<Option<Arc<Lines>>>,
}

impl Written {
    fn located(&self, object: &Object) -> Option<Located> {
        let lines = self.lines.get_or_init(|| Lines::read(&self.text, self.before).map(Arc::new)).as_ref()?;
        Some(Located { lines: Arc::clone(lines), place: object.place() })
    }
}

/// Reads one input and gives what it finds. Ends early when nobody takes any more.
fn read_input<P: Present>(
    pipeline: &Pipeline<'_>,
    input: &Source,
    plan: &Plan<'_>,
    presenter: &P,
    give: &mut dyn FnMut(Part<P::Shown>) -> bool,
) {
    let text = match input.read() {
        Ok(text) => text,
        Err(error) => {
            give(Part::Fault(Fault::input(&error)));
            give(Part::End);
            return;
        }
    };
    let mut counted = documents::Counter::default();
    for document in documents::read(&text) {
        let before = counted.before(&text, document.span.start);
        if let Some(doubled) = &document.doubled
            && !give(Part::Warning(Fault::document(input.name(), document.index, doubled)))
        {
            return;
        }
        let taken = match &document.content {
            Ok(Content::Empty) => true,
            Ok(Content::Other) => give(Part::Other(1)),
            Err(malformed) => give(Part::Fault(Fault::document(input.name(), document.index, malformed))),
            Ok(Content::Objects { .. }) => {
                let text = text.get(document.span.clone()).unwrap_or_default();
                read_objects(pipeline, input, plan, presenter, document, (text, before), give)
            }
        };
        if !taken {
            return;
        }
    }
    give(Part::End);
}

/// False when nobody takes any more.
fn read_objects<P: Present>(
    pipeline: &Pipeline<'_>,
    input: &Source,
    plan: &Plan<'_>,
    presenter: &P,
    document: Document,
    (text, before): (&str, usize),
    give: &mut dyn FnMut(Part<P::Shown>) -> bool,
) -> bool {
    let Ok(Content::Objects { objects, other }) = document.content else { return true };
    if other > 0 && !give(Part::Other(other)) {
        return false;
    }
    // Most documents need no copy.
    let mut kept: Option<Arc<Written>> = None;
    let mut written =
        || Arc::clone(kept.get_or_insert_with(|| Arc::new(Written { text: text.to_owned(), before, lines: OnceLock::new() })));
    for object in objects {
        if !plan.alone && pipeline.catalogue.is_related(&object.reference) {
            let tree = object.tree.view(object.root, Visibility { status: true });
            let sibling = Sibling {
                file: input.name().to_owned(),
                object: object.reference.clone(),
                sha256: tree.sha256(),
                tree: tree.into(),
                lines: plan.explain.as_ref().and_then(|_| written().located(&object)),
            };
            if !give(Part::Sibling(sibling)) {
                return false;
            }
        }
        if !plan.wants(&object.reference) {
            if !give(Part::Unasked(1)) {
                return false;
            }
            continue;
        }
        let lineage = if plan.alone { None } else { Lineage::of(&object.reference, &object.tree, object.root) };
        let asks = |plugin: &aibom_plugin::Plugin| !plugin.description().related.is_empty();
        let part = if !plan.alone && pipeline.catalogue.plugin_for(&object.reference).is_ok_and(asks) {
            let (file, lineage) = (input.name().to_owned(), Mutex::new(lineage));
            Part::Deferred(Box::new(Deferred { file, document: document.index, object, written: written(), lineage }))
        } else {
            let mut finding = find(pipeline, plan, (input.name(), document.index), &object, &Nobody);
            if plan.explain.is_some() || finding.has_problems() {
                finding.lines = written().located(&object);
            }
            match lineage {
                Some(lineage) if matches!(finding.outcome, Outcome::NoScraper(_)) => {
                    if !give(Part::Member(Box::new(lineage))) {
                        return false;
                    }
                    Part::Finding(Class::of(&finding.outcome), presenter.present(finding))
                }
                Some(lineage) => Part::Held(Box::new(Held::new(finding, lineage))),
                None => Part::Finding(Class::of(&finding.outcome), presenter.present(finding)),
            }
        };
        if !give(part) {
            return false;
        }
    }
    true
}

/// The paths to scan; naming none is an error, since nothing is guessed.
pub fn default_paths(paths: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    anyhow::ensure!(
        !paths.is_empty(),
        "nothing to scan: name files or folders, or `-` for standard input (`helm template my-chart | k8s-aibom scan -`)"
    );
    Ok(paths)
}
