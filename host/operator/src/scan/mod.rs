//! `k8s-aibom scan`: what will these manifests put into the inventory?
//!
//! Inputs are read and taken through the [pipeline](crate::pipeline) by one worker per core; results come out in the order of the
//! inputs. Objects whose scraper may ask for other objects wait until everything was read and come last.

pub mod documents;
pub mod faults;
pub mod output;
pub mod siblings;
pub mod sources;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use aibom_facts::object::ObjectRef;
use aibom_facts::tree::Visibility;

use crate::pipeline::{Outcome, Pipeline};
use documents::{Content, Object};
use faults::Fault;
use siblings::{Nobody, Sibling, Siblings};
use sources::Source;

/// Which objects are scanned: all, or those of some kinds.
#[derive(Clone, Debug, Default)]
pub struct KindFilter(Vec<String>);

impl KindFilter {
    /// `Kind` matches in every group, `group/Kind` in that group; case is ignored. Empty matches everything.
    pub fn new(kinds: Vec<String>) -> Self {
        Self(kinds.into_iter().map(|kind| kind.trim().to_ascii_lowercase()).filter(|kind| !kind.is_empty()).collect())
    }

    fn matches(&self, object: &ObjectRef) -> bool {
        let kind = object.kind.to_ascii_lowercase();
        let full = format!("{}/{kind}", object.group.to_ascii_lowercase());
        self.0.is_empty() || self.0.iter().any(|wanted| *wanted == kind || *wanted == full)
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
}

/// An object that waits for the others.
struct Deferred {
    file: String,
    document: usize,
    object: Object,
}

/// What one input gave.
struct InputResult<T> {
    findings: Vec<(Class, T)>,
    faults: Vec<Fault>,
    deferred: Vec<Deferred>,
    siblings: Vec<Sibling>,
    other: usize,
}

/// What became of an object, for counting.
#[derive(Clone, Copy)]
enum Class {
    Documented,
    NotAi,
    NoScraper,
    Failed,
}

impl Class {
    fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Documented { .. } => Self::Documented,
            Outcome::NotAi => Self::NotAi,
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
    /// Objects of a kind that was asked for.
    pub objects: usize,
    /// Objects with a document.
    pub documented: usize,
    /// Scraped objects without AI.
    pub not_ai: usize,
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
    in_order(
        inputs,
        workers,
        |input| read_input(pipeline, input, plan, presenter),
        |index, result: InputResult<P::Shown>| {
            totals.other += result.other;
            totals.faults += result.faults.len();
            for fault in &result.faults {
                sink.fault(fault);
            }
            result.siblings.into_iter().for_each(|sibling| siblings.add(sibling));
            deferred.extend(result.deferred);
            for (class, shown) in result.findings {
                totals.count(class);
                sink.finding(shown)?;
            }
            sink.progress(index + 1, inputs[index].name());
            Ok(())
        },
    )?;
    in_order(
        &deferred,
        workers,
        |Deferred { file, document, object }| {
            let outcome = pipeline.run(&object.reference, &object.tree, object.root, &siblings.of(file));
            let object_name = object.reference.clone();
            let finding = Finding { file: file.clone(), document: *document, item: object.item, object: object_name, outcome };
            (Class::of(&finding.outcome), presenter.present(finding))
        },
        |_, (class, shown)| {
            totals.count(class);
            sink.finding(shown)
        },
    )?;
    Ok(totals)
}

/// Works on items in parallel and takes results in their order.
fn in_order<T: Sync, R: Send>(
    items: &[T],
    workers: usize,
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(usize, R) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::sync_channel(workers * 4);
    std::thread::scope(|scope| {
        for _ in 0..workers.clamp(1, items.len().max(1)) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                while let Some((index, item)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, items.get(i)?))) {
                    if sender.send((index, work(item))).is_err() {
                        break; // the taker has stopped
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        // Moved here so that it is dropped, and the workers stop, when taking fails.
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&due) {
                take(due, result)?;
                due += 1;
            }
        }
        Ok(())
    })
}

fn read_input<P: Present>(pipeline: &Pipeline<'_>, input: &Source, plan: &Plan<'_>, presenter: &P) -> InputResult<P::Shown> {
    let mut result = InputResult { findings: Vec::new(), faults: Vec::new(), deferred: Vec::new(), siblings: Vec::new(), other: 0 };
    let text = match input.read() {
        Ok(text) => text,
        Err(error) => {
            result.faults.push(Fault::input(&error));
            return result;
        }
    };
    for document in documents::read(&text) {
        match document.content {
            Ok(Content::Empty) => {}
            Ok(Content::Other) => result.other += 1,
            Err(malformed) => result.faults.push(Fault::document(input.name(), document.index, &malformed)),
            Ok(Content::Objects { objects, other }) => {
                result.other += other;
                for object in objects {
                    if !plan.alone && pipeline.catalogue.is_related(&object.reference) {
                        let tree = object.tree.view(object.root, Visibility { status: true });
                        result.siblings.push(Sibling {
                            file: input.name().to_owned(),
                            object: object.reference.clone(),
                            sha256: tree.sha256(),
                            tree: tree.into(),
                        });
                    }
                    if !plan.kinds.matches(&object.reference) {
                        continue;
                    }
                    let waits = !plan.alone
                        && pipeline.catalogue.plugin_for(&object.reference).is_ok_and(|plugin| !plugin.description().related.is_empty());
                    if waits {
                        result.deferred.push(Deferred { file: input.name().to_owned(), document: document.index, object });
                        continue;
                    }
                    let outcome = pipeline.run(&object.reference, &object.tree, object.root, &Nobody);
                    let finding = Finding {
                        file: input.name().to_owned(),
                        document: document.index,
                        item: object.item,
                        object: object.reference,
                        outcome,
                    };
                    result.findings.push((Class::of(&finding.outcome), presenter.present(finding)));
                }
            }
        }
    }
    result
}

/// The paths to scan; naming none is an error, since nothing is guessed.
pub fn default_paths(paths: Vec<PathBuf>) -> anyhow::Result<Vec<PathBuf>> {
    anyhow::ensure!(
        !paths.is_empty(),
        "nothing to scan: name files or folders, or `-` for standard input (`helm template my-chart | k8s-aibom scan -`)"
    );
    Ok(paths)
}
