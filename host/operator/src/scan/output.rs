//! Where results of a scan go: a table, JSON lines, CycloneDX documents, a folder of documents.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use aibom_facts::inventory::Inventory;
use aibom_facts::object::ObjectRef;
use aibom_facts::redact::{Redactor, TEXT_LIMIT, truncate};
use aibom_facts::report::Problem;

use super::explain::Told;
use super::faults::Fault;
use super::{Finding, Present, Sink, Totals};
use crate::catalogue::NotServed;
use crate::pipeline::Outcome;
use crate::usage;

/// Form of the results on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// One row per AI workload.
    Table,
    /// One line of JSON per object, also for those without a document.
    Json,
    /// One CycloneDX document per line, for AI workloads only.
    Cyclonedx,
}

/// One line of `--output json`; the document follows as the last member.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    file: &'a str,
    doc: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<usize>,
    api_version: String,
    kind: &'a str,
    namespace: Option<&'a str>,
    name: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// One finding, ready to be written.
pub struct Shown {
    /// Lines that go to standard error.
    complaints: Vec<String>,
    /// What goes to standard output, without the end of the line.
    line: Option<String>,
    row: Option<Row>,
    /// Stem of a file's name and its content.
    file: Option<(String, String)>,
    /// Kind that no scraper reads.
    unread: Option<String>,
}

/// Cells of one workload; the last one is its file.
type Row = [String; 8];

/// Presents findings in a format.
#[derive(Clone, Copy, Debug)]
pub struct Presenter {
    /// Form on standard output.
    pub format: Format,
    /// Whether documents also go to a folder.
    pub to_folder: bool,
    /// Whether reasons are written in place of rows and documents.
    pub explain: bool,
}

/// Writes results to standard output and, if asked, documents to a folder.
pub struct Writer<W> {
    out: W,
    format: Format,
    rows: Vec<Row>,
    folder: Option<Folder>,
    /// Reasons were written, so that there is nothing to sum up.
    explains: bool,
    /// Documents that could not be written to the folder.
    unwritten: usize,
    /// Kinds that no scraper reads, with how many objects.
    unread: BTreeMap<String, usize>,
    bar: ProgressBar,
    /// Takes what goes to standard error.
    complain: Box<dyn FnMut(&str)>,
}

/// Most kinds without a scraper that are told apart.
const MOST_KINDS: usize = 1000;

impl<W: Write> Writer<W> {
    /// A writer. A progress bar is shown on a terminal when there is more than one input.
    pub fn new(out: W, presenter: Presenter, folder: Option<PathBuf>, inputs: usize) -> anyhow::Result<Self> {
        let bar = ProgressBar::new(inputs as u64);
        bar.set_draw_target(if inputs > 1 && io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        });
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} files  {wide_msg}") {
            bar.set_style(style);
        }
        let folder = folder.map(Folder::create).transpose()?;
        let Presenter { format, explain: explains, .. } = presenter;
        Ok(Self {
            out,
            format,
            explains,
            rows: Vec::new(),
            folder,
            unwritten: 0,
            unread: BTreeMap::new(),
            bar,
            complain: Box::new(usage::say),
        })
    }

    /// The writer, with somebody else to take what goes to standard error.
    #[must_use]
    pub fn complaining_to(self, complain: impl FnMut(&str) + 'static) -> Self {
        Self { complain: Box::new(complain), ..self }
    }

    /// Kinds that no scraper reads, most frequent first, as `apiVersion Kind (count)`.
    pub fn unread(&self) -> Vec<String> {
        let mut kinds: Vec<_> = self.unread.iter().collect();
        kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(**count), kind.as_str()));
        kinds.into_iter().map(|(kind, count)| format!("{kind} ({count})")).collect()
    }

    /// Writes what was kept back and returns how many documents went to the folder, and how many could not.
    pub fn finish(mut self, totals: &Totals) -> anyhow::Result<(usize, usize)> {
        self.bar.finish_and_clear();
        if self.format == Format::Table && !self.rows.is_empty() {
            let mut table = Table::new();
            table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
            // Files matter where names do not tell objects apart, such as one object for each environment.
            let columns = if repeats(&self.rows) { HEADER.len() } else { HEADER.len() - 1 };
            table.set_header(&HEADER[..columns]);
            if !io::stdout().is_terminal() {
                table.set_width(u16::MAX);
            }
            table.add_rows(self.rows.iter().map(|row| row[..columns].iter()));
            for line in table.lines() {
                writeln!(self.out, "{}", line.trim_end())?;
            }
        }
        if self.format == Format::Table && totals.documented == 0 && !self.explains {
            let read = totals.not_ai + totals.parts + totals.for_others;
            let unread = totals.no_scraper + totals.failed;
            if totals.objects + totals.unasked == 0 {
                writeln!(self.out, "nothing was looked at: no Kubernetes object among the inputs")?;
            } else if totals.objects == 0 {
                writeln!(self.out, "nothing was looked at: no object of the kinds that were asked for")?;
            } else if unread == 0 {
                writeln!(self.out, "no AI workload in {}", count(read, "object"))?;
            } else {
                writeln!(self.out, "no AI workload in {}; {unread} more could not be looked at", count(read, "object"))?;
            }
        }
        self.out.flush()?;
        Ok((self.folder.map_or(0, |folder| folder.written), self.unwritten))
    }

    fn say(&mut self, text: &str) {
        self.bar.suspend(|| (self.complain)(text));
    }
}

impl Present for Presenter {
    type Shown = Shown;

    fn present(&self, finding: Finding) -> Shown {
        let mut shown = Shown { complaints: Vec::new(), line: None, row: None, file: None, unread: None };
        let (name, reason) = match &finding.outcome {
            Outcome::Documented { .. } => ("documented", None),
            Outcome::NotAi { problems } => ("not-ai", unread_parts(problems)),
            Outcome::PartOf { above, .. } => ("part-of", Some(format!("its facts are in the document of {above}"))),
            Outcome::NoScraper(reason) => ("no-scraper", Some(reason.to_string())),
            Outcome::Failed { plugin, reason } => ("error", Some(format!("scraper `{plugin}`: {reason}"))),
        };
        let place = || format!("{}, document {}, {}", finding.file, finding.document, finding.object);
        // An explanation tells them itself.
        if !self.explain {
            shown.complaints = warnings(&finding);
        }
        if let Outcome::NoScraper(why) = &finding.outcome
            && *why != NotServed::Related
        {
            shown.unread = Some(printable(&format!("{} {}", finding.object.api_version(), finding.object.kind)));
        }
        if let Outcome::Failed { plugin, reason } = &finding.outcome {
            shown.complaints.push(printable(&format!("error: {}: the scraper `{plugin}` failed: {reason}", place())));
        }
        let mut json = None;
        if let Outcome::Documented { inventory, document } = &finding.outcome {
            if self.to_folder {
                shown.file = Some((file_stem(&finding.object), document.to_json_pretty()));
            }
            match self.format {
                _ if self.explain => {}
                Format::Table => shown.row = Some(row(&finding.object, inventory, &finding.file)),
                Format::Json | Format::Cyclonedx => json = Some(document.json().trim_end()),
            }
        }
        match self.format {
            Format::Table if self.explain => shown.line = Some(Told::new(&finding).text()),
            Format::Json if self.explain => shown.line = serde_json::to_string(&Told::new(&finding)).ok(),
            Format::Table => {}
            Format::Cyclonedx => shown.line = json.map(str::to_owned),
            Format::Json => {
                let clean = |text: &str| Redactor::standard().redact(text).0.into_owned();
                let (file, kind, name_of) = (clean(&finding.file), clean(&finding.object.kind), clean(&finding.object.name));
                let namespace = finding.object.namespace.as_deref().map(clean);
                let line = Line {
                    file: &file,
                    doc: finding.document,
                    item: finding.item,
                    api_version: clean(&finding.object.api_version()),
                    kind: &kind,
                    namespace: namespace.as_deref(),
                    name: &name_of,
                    outcome: name,
                    reason: reason.as_deref().map(clean),
                };
                shown.line = serde_json::to_string(&line).ok().map(|line| with_document(&line, json.unwrap_or("null")));
            }
        }
        shown
    }
}

/// Most malformed parts of one object that are told.
const MOST_PARTS: usize = 3;

/// The malformed parts of an object that has no document to hold them.
fn unread_parts(problems: &BTreeSet<Problem>) -> Option<String> {
    let told = problems.iter().take(MOST_PARTS).map(told_problem);
    let more = problems.len().checked_sub(MOST_PARTS).filter(|more| *more > 0).map(|more| format!("and {more} more"));
    (!problems.is_empty()).then(|| told.chain(more).collect::<Vec<_>>().join("; "))
}

/// A problem with its place, which many messages name themselves.
fn told_problem(Problem { at, message }: &Problem) -> String {
    let pointer = at.pointer.as_str();
    if pointer.is_empty() || message.contains(pointer) { message.clone() } else { format!("{message} at `{pointer}`") }
}

/// What is wrong with an object, a line each with its place: whoever wrote it wants to know, whether or not there is a document.
fn warnings(finding: &Finding) -> Vec<String> {
    let Some(problems) = finding.problems() else { return Vec::new() };
    // Those of what belongs to it are told where they stand.
    let parts = match &finding.outcome {
        Outcome::Documented { inventory, .. } => Some(&inventory.rollup.parts),
        _ => None,
    };
    let problems: Vec<_> = problems.iter().filter(|problem| parts.is_none_or(|parts| !parts.contains(&problem.at.object))).collect();
    let place = |pointer: &str| match finding.lines.as_ref().and_then(|located| located.line(pointer)) {
        Some(line) => format!("{}:{line}", finding.file),
        None => format!("{}, document {}", finding.file, finding.document),
    };
    let told = problems.iter().take(MOST_PARTS).map(|problem| {
        let pointer = if problem.at.object == 0 { problem.at.pointer.as_str() } else { "" };
        format!("warning: {}: {}: {}", place(pointer), finding.object, told_problem(problem))
    });
    let more = problems.len().checked_sub(MOST_PARTS).filter(|more| *more > 0);
    let more = more.map(|more| format!("warning: {}: {}: and {more} more; --explain tells them", place(""), finding.object));
    told.chain(more).map(|line| printable(&line)).collect()
}

/// Adds the document as the last member; it is JSON already.
fn with_document(line: &str, json: &str) -> String {
    let members = line.strip_suffix('}').unwrap_or(line);
    [members, ",\"document\":", json, "}"].concat()
}

impl<W: Write> Sink<Shown> for Writer<W> {
    fn finding(&mut self, shown: Shown) -> anyhow::Result<()> {
        for complaint in &shown.complaints {
            self.say(complaint);
        }
        if let (Some(folder), Some((stem, json))) = (&mut self.folder, &shown.file) {
            // The other documents and the table are still worth having.
            if let Err(error) = folder.write(stem, json) {
                self.unwritten += 1;
                self.say(&printable(&format!("error: {error:#}")));
            }
        }
        if let Some(kind) = shown.unread.filter(|kind| self.unread.len() < MOST_KINDS || self.unread.contains_key(kind)) {
            *self.unread.entry(kind).or_default() += 1;
        }
        self.rows.extend(shown.row);
        if let Some(line) = &shown.line {
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    fn fault(&mut self, fault: &Fault) {
        // A name of a member that is given twice may be as long as an input.
        self.say(&truncate(&printable(&format!("error: {fault}")), 2 * TEXT_LIMIT));
    }

    fn warning(&mut self, fault: &Fault) {
        let told = truncate(&printable(&fault.to_string()), 2 * TEXT_LIMIT).into_owned();
        self.say(&format!("warning: {told}; the last one is read, as kubectl does"));
    }

    fn progress(&mut self, done: usize, name: &str) {
        self.bar.set_position(done as u64);
        self.bar.set_message(printable(name));
    }
}

/// A number of things.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

const HEADER: [&str; 8] = ["NAMESPACE", "KIND", "NAME", "CATEGORY", "RUNTIMES", "MODELS", "CONFIDENCE", "FILE"];

/// Whether two rows name their objects alike.
fn repeats(rows: &[Row]) -> bool {
    let mut known = HashSet::new();
    !rows.iter().all(|row| known.insert(&row[..3]))
}

fn row(object: &ObjectRef, inventory: &Inventory, file: &str) -> Row {
    let join = |words: Vec<String>| if words.is_empty() { "-".to_owned() } else { words.join(", ") };
    let models = inventory.models.iter().map(|model| {
        let id = model.reference.id();
        if model.role == aibom_facts::inventory::Role::Main { id } else { format!("{id} ({})", model.role.as_str()) }
    });
    // A model that is there and cannot be read must not look like none.
    let unknown: BTreeSet<String> = inventory
        .unresolved
        .iter()
        .filter_map(|unknown| match unknown.what.as_str() {
            "model" => Some("?".to_owned()),
            role @ ("draft" | "adapter") => Some(format!("? ({role})")),
            _ => None,
        })
        .collect();
    let cells = [
        object.namespace.clone().unwrap_or_else(|| "-".to_owned()),
        object.kind.clone(),
        object.name.clone(),
        join(inventory.categories.keys().map(|category| category.as_str().to_owned()).collect()),
        join(inventory.runtimes.iter().map(|runtime| runtime.finding.key.name.clone()).collect()),
        join(models.chain(unknown).collect()),
        inventory.confidence().as_str().to_owned(),
        file.to_owned(),
    ];
    cells.map(|cell| printable(&cell))
}

/// Text of manifests and plugins reaches a terminal here: control characters would be obeyed by it, secrets read from it.
pub fn printable(text: &str) -> String {
    // Hidden characters first: one of them could keep a rule from seeing a secret.
    let visible = aibom_facts::text::printable(text);
    Redactor::standard().redact(&visible).0.into_owned()
}

/// A folder of documents.
struct Folder {
    path: PathBuf,
    /// Documents by stem of their name.
    taken: BTreeMap<String, usize>,
    written: usize,
}

impl Folder {
    fn create(path: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir_all(&path).with_context(|| format!("cannot create the folder {}", path.display()))?;
        Ok(Self { path, taken: BTreeMap::new(), written: 0 })
    }

    fn write(&mut self, stem: &str, json: &str) -> anyhow::Result<()> {
        let taken = self.taken.entry(stem.to_owned()).or_default();
        *taken += 1;
        // No stem holds two dots in a row, so no other object has this name.
        let name = if *taken == 1 { format!("{stem}.cdx.json") } else { format!("{stem}..{taken}.cdx.json") };
        let path = self.path.join(&name);
        write_whole(&path, json).with_context(|| format!("cannot write {}", path.display()))?;
        self.written += 1;
        Ok(())
    }
}

/// Writes beside the target and renames, so that nobody reads half a document. What stands where the unfinished file belongs is removed
/// and never followed: it may be a link to somewhere else.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("json.part");
    let _ = fs::remove_file(&unfinished);
    let written =
        fs::OpenOptions::new().write(true).create_new(true).open(&unfinished).and_then(|mut file| file.write_all(text.as_bytes()));
    let done = written.and_then(|()| fs::rename(&unfinished, path));
    if done.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    done
}

/// `<namespace>.<kind>.<group>.<name>` in characters every file system takes. Names of objects are hostile input: `../x` stays here.
fn file_stem(object: &ObjectRef) -> String {
    let parts = [object.namespace.as_deref().unwrap_or("default"), &object.kind, &object.group, &object.name];
    let parts: Vec<String> = parts
        .into_iter()
        .map(|part| {
            let safe: String = printable(part)
                .chars()
                .take(100)
                .map(|c| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c.to_ascii_lowercase() } else { '_' })
                .collect();
            safe.trim_matches('.').replace("..", "__")
        })
        .filter(|part| !part.is_empty())
        .collect();
    let mut stem = parts.join(".");
    // File systems take 255 bytes. Stems that become equal are told apart by a number.
    stem.truncate(200);
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_inside_the_folder() {
        let object = ObjectRef {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            namespace: Some("../../etc".into()),
            name: "..".into(),
            uid: None,
        };
        assert_eq!(file_stem(&object), "____etc.deployment.apps");
        let folder = tempfile::tempdir().unwrap();
        let mut target = Folder::create(folder.path().join("out")).unwrap();
        target.write(&file_stem(&object), "{}").unwrap();
        target.write(&file_stem(&object), "{}").unwrap();
        let mut names: Vec<_> = fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["____etc.deployment.apps..2.cdx.json", "____etc.deployment.apps.cdx.json"]);
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\n\u{202e}c"), "a [31mb  c");
    }
}
