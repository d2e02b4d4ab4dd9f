//! Recall and precision of a scan against labels made by hand. One copy of the rules, for the tests and for `cargo xtask corpus`.
//!
//! The rules are those of the truth set's own notes:
//!
//! * An object counts as AI when it has a document.
//! * Images are compared by the reference as written; placeholders are left out.
//! * A model of a document meets a label by any of its names (name, group and name, package URL, concluded values, links), first by the
//!   label's id, then by one of its sources. Each label is met once. A further component for another source of a label that is met already
//!   is neither right nor wrong.
//! * Roles are compared for models that were found.
//! * Runtimes are compared by name after aliases; some frameworks and clients are neither required nor wrong.
//! * Categories and unresolved facts (by pointer and word) are measured too, so that misses can be seen. The truth set's notes ask no
//!   figure of them.

#![allow(dead_code, reason = "each user takes a part")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// What is measured, in the order in which it is shown.
pub(crate) const MEASURES: [&str; 7] = ["ai", "images", "runtimes", "models", "roles", "categories", "unresolved"];

/// Names of one thing.
const ALIASES: [(&str, &str); 12] = [
    ("trtllm", "tensorrt-llm"),
    ("tensorrtllm", "tensorrt-llm"),
    ("torchserve", "pytorch"),
    ("tensorflow", "tensorflow-serving"),
    ("kuberay", "ray"),
    ("ray-serve", "ray"),
    ("onnxruntime", "onnx"),
    ("text-generation-inference", "tgi"),
    ("huggingface-server", "huggingface"),
    ("scikit-learn", "sklearn"),
    ("nvidia-nim", "nim"),
    ("llamacpp", "llama.cpp"),
];

/// Runtimes that nobody has to name.
const OPTIONAL: [&str; 19] = [
    "ray",
    "aiperf",
    "genai-perf",
    "jax",
    "pytorch",
    "transformers",
    "mlflow",
    "huggingface",
    "lmcache",
    "llm-d",
    "mlserver",
    "accelerate",
    "deepspeed",
    "mooncake",
    "nixl",
    "pathways",
    "nvidia-triton-sdk",
    "llm-d-inference-sim",
    "vllm-mock",
];

/// A platform that must be named where it is labelled, and may be elsewhere.
const PLATFORM: &str = "dynamo";

/// What an image has in it that is not to be compared.
const PLACEHOLDERS: [&str; 5] = ["$", "<", "{", "my-tag", "my-registry"];

#[derive(Debug, Deserialize)]
struct Label {
    file: String,
    doc: u64,
    kind: String,
    ai: bool,
    #[serde(default)]
    categories: Vec<String>,
    #[serde(default)]
    containers: Vec<LabelContainer>,
    #[serde(default)]
    runtimes: Vec<LabelRuntime>,
    #[serde(default)]
    models: Vec<LabelModel>,
    #[serde(default)]
    unresolved: Vec<LabelUnresolved>,
}

#[derive(Debug, Deserialize)]
struct LabelContainer {
    #[serde(default)]
    image: Option<String>,
    #[serde(default)]
    at: String,
}

#[derive(Debug, Deserialize)]
struct LabelRuntime {
    name: String,
    #[serde(default)]
    at: String,
}

#[derive(Debug, Deserialize)]
struct LabelModel {
    id: String,
    role: String,
    #[serde(default)]
    at: Vec<String>,
    #[serde(default)]
    sources: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct LabelUnresolved {
    what: String,
    at: String,
    why: String,
}

/// How often something was right, missed, or said without being true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) found: usize,
    pub(crate) missed: usize,
    pub(crate) wrong: usize,
}

impl Counts {
    pub(crate) fn recall(self) -> f64 {
        share(self.found, self.missed)
    }

    pub(crate) fn precision(self) -> f64 {
        share(self.found, self.wrong)
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts of a truth set")]
fn share(good: usize, bad: usize) -> f64 {
    if good + bad == 0 { 1.0 } else { good as f64 / (good + bad) as f64 }
}

/// A label that is wrong, as the project's list of them has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exception {
    pub(crate) file: String,
    pub(crate) doc: u64,
    pub(crate) what: String,
    pub(crate) value: String,
}

impl Exception {
    fn fits(&self, miss: &Miss) -> bool {
        miss.file == self.file && miss.doc == self.doc && miss.what == self.what && miss.value == self.value
    }
}

/// Reads the list out of the page that gives the reasons: rows of five cells, file, document, what, value and reason.
///
/// # Errors
/// A row that is none, with its line.
pub(crate) fn exceptions(page: &str) -> Result<Vec<Exception>, String> {
    let mut out = Vec::new();
    let rows = page.lines().enumerate().skip_while(|(_, line)| !line.starts_with("| File |"));
    for (number, line) in rows.skip(2).take_while(|(_, line)| line.starts_with('|')) {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [file, doc, what, value, reason] = cells[..] else { return Err(format!("line {}: not five cells", number + 1)) };
        if !MEASURES.contains(&what) || reason.len() < 20 {
            return Err(format!("line {}: `{what}` is not measured, or the reason says nothing", number + 1));
        }
        let doc = doc.parse().map_err(|error| format!("line {}: {error}", number + 1))?;
        out.push(Exception { file: file.to_owned(), doc, what: what.to_owned(), value: value.to_owned() });
    }
    Ok(out)
}

/// One thing that was missed or wrong.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Miss {
    pub(crate) what: &'static str,
    pub(crate) how: &'static str,
    pub(crate) kind: String,
    pub(crate) file: String,
    pub(crate) doc: u64,
    pub(crate) value: String,
    /// Where it stands, or what was said in its place.
    pub(crate) place: String,
}

impl fmt::Display for Miss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, how, kind, file, doc, value, place } = self;
        write!(f, "{what}\t{how}\t{kind}\t{file}\t{doc}\t{value}\t{place}")
    }
}

/// Recall and precision with every miss.
#[derive(Debug, Default)]
pub(crate) struct Score {
    tally: BTreeMap<(&'static str, String), Counts>,
    /// Everything missed or wrong, but for exceptions; by what, then by place.
    pub(crate) misses: Vec<Miss>,
    /// Exceptions that excuse nothing.
    pub(crate) stale: Vec<Exception>,
    /// Labels for which the scan has no line at all.
    pub(crate) absent: Vec<String>,
}

impl Score {
    /// Counts over all kinds.
    pub(crate) fn all(&self, what: &'static str) -> Counts {
        self.of(what, "")
    }

    /// Counts of one kind.
    pub(crate) fn of(&self, what: &'static str, kind: &str) -> Counts {
        self.tally.get(&(what, kind.to_owned())).copied().unwrap_or_default()
    }

    /// A table, per measure and per measure and kind.
    pub(crate) fn table(&self) -> String {
        let mut out = format!("{:46} {:>6} {:>6} {:>6} {:>7} {:>9}\n", "what", "found", "missed", "wrong", "recall", "precision");
        for detailed in [false, true] {
            for what in MEASURES {
                for ((_, kind), counts) in self.tally.iter().filter(|((of, kind), _)| *of == what && kind.is_empty() != detailed) {
                    let name = format!("{what} {kind}");
                    let Counts { found, missed, wrong } = counts;
                    let line = format!("{name:46} {found:6} {missed:6} {wrong:6} {:7.3} {:9.3}", counts.recall(), counts.precision());
                    out.push_str(line.trim_end());
                    out.push('\n');
                }
            }
        }
        out
    }

    /// Every miss, one a line, with a header.
    pub(crate) fn listing(&self) -> String {
        let mut out = String::from("what\thow\tkind\tfile\tdoc\tvalue\tplace\n");
        for miss in &self.misses {
            out.push_str(&miss.to_string());
            out.push('\n');
        }
        out
    }
}

/// Compares labels with the lines of `scan --output json`.
///
/// # Errors
/// A line that is not what it should be, with its number.
pub(crate) fn score(labels: &str, scan: &str, exceptions: &[Exception]) -> Result<Score, String> {
    let lines = |text: &str| text.lines().map(str::to_owned).enumerate().filter(|(_, line)| !line.trim().is_empty()).collect::<Vec<_>>();
    let labels = lines(labels)
        .into_iter()
        .map(|(number, line)| serde_json::from_str::<Label>(&line).map_err(|error| format!("label in line {}: {error}", number + 1)));
    let labels = labels.collect::<Result<Vec<_>, _>>()?;
    let mut scanned: HashMap<u64, Vec<(String, Value)>> = HashMap::new();
    for (number, line) in lines(scan) {
        let value: Value = serde_json::from_str(&line).map_err(|error| format!("result in line {}: {error}", number + 1))?;
        let doc = value["doc"].as_u64().ok_or_else(|| format!("result in line {}: no `doc`", number + 1))?;
        scanned.entry(doc).or_default().push((text(&value["file"]).to_owned(), value));
    }
    let mut comparison = Comparison { score: Score::default(), exceptions, excused: BTreeSet::new() };
    for label in &labels {
        // The last one of a file, as an item of a list has the document of its list.
        let result = scanned.get(&label.doc).and_then(|lines| lines.iter().rev().find(|(file, _)| file.ends_with(&label.file)));
        if result.is_none() {
            comparison.score.absent.push(format!("{} document {}", label.file, label.doc));
        }
        comparison.label(label, result.map(|(_, value)| value));
    }
    let Comparison { mut score, excused, .. } = comparison;
    score.misses.sort();
    score.stale = exceptions.iter().enumerate().filter(|(index, _)| !excused.contains(index)).map(|(_, known)| known.clone()).collect();
    Ok(score)
}

struct Comparison<'e> {
    score: Score,
    exceptions: &'e [Exception],
    excused: BTreeSet<usize>,
}

impl Comparison<'_> {
    fn found(&mut self, what: &'static str, label: &Label) {
        self.count(what, label, |counts| counts.found += 1);
    }

    fn count(&mut self, what: &'static str, label: &Label, add: impl Fn(&mut Counts)) {
        for kind in ["", &label.kind] {
            add(self.score.tally.entry((what, kind.to_owned())).or_default());
        }
    }

    /// Something missed or wrong, unless the label is.
    fn miss(&mut self, what: &'static str, missed: bool, label: &Label, value: &str, place: &str) {
        let miss = Miss {
            what,
            how: if missed { "missed" } else { "wrong" },
            kind: label.kind.clone(),
            file: label.file.clone(),
            doc: label.doc,
            value: value.to_owned(),
            place: place.to_owned(),
        };
        if let Some(index) = self.exceptions.iter().position(|known| known.fits(&miss)) {
            self.excused.insert(index);
            return;
        }
        self.count(what, label, |counts| if missed { counts.missed += 1 } else { counts.wrong += 1 });
        self.score.misses.push(miss);
    }

    fn label(&mut self, label: &Label, result: Option<&Value>) {
        let outcome = result.map_or("no line", |result| text(&result["outcome"]));
        match (label.ai, outcome == "documented") {
            (true, true) => self.found("ai", label),
            (true, false) => self.miss("ai", true, label, "true", outcome),
            (false, true) => self.miss("ai", false, label, "false", outcome),
            (false, false) => {}
        }
        if !label.ai {
            return;
        }
        let document = result.map_or(&Value::Null, |result| &result["document"]);
        let components = components(document);
        self.images(label, &components);
        self.runtimes(label, &components);
        self.models(label, &components);
        let root = &document["metadata"]["component"];
        let want: BTreeSet<String> = label.categories.iter().cloned().collect();
        let have: BTreeSet<String> = properties(root, "aibom.workload.category").map(str::to_owned).collect();
        self.sets("categories", label, &want, &have, &HashMap::new());
        let want: BTreeSet<String> = label.unresolved.iter().map(|entry| format!("{} {} {}", entry.what, entry.why, entry.at)).collect();
        self.sets("unresolved", label, &want, &unresolved(root), &HashMap::new());
    }

    fn sets(
        &mut self,
        what: &'static str,
        label: &Label,
        want: &BTreeSet<String>,
        have: &BTreeSet<String>,
        places: &HashMap<String, String>,
    ) {
        let place = |value: &String| places.get(value).map_or("", String::as_str);
        for value in want.union(have) {
            match (want.contains(value), have.contains(value)) {
                (true, true) => self.found(what, label),
                (missed, _) => self.miss(what, missed, label, value, place(value)),
            }
        }
    }

    fn images(&mut self, label: &Label, components: &[&Value]) {
        let images = label.containers.iter().filter_map(|container| Some((container.image.as_deref()?.trim(), container.at.as_str())));
        let want: BTreeMap<&str, &str> =
            images.filter(|(image, _)| !image.is_empty() && !PLACEHOLDERS.iter().any(|part| image.contains(part))).collect();
        let containers = components.iter().filter(|component| component["type"] == "container");
        let have: BTreeSet<&str> = containers.flat_map(|component| properties(component, "image.reference")).map(str::trim).collect();
        for (image, at) in want {
            if have.contains(image) {
                self.found("images", label);
            } else {
                self.miss("images", true, label, image, at);
            }
        }
    }

    fn runtimes(&mut self, label: &Label, components: &[&Value]) {
        let places: HashMap<String, String> = label.runtimes.iter().map(|runtime| (usual(&runtime.name), runtime.at.clone())).collect();
        let named: BTreeSet<String> = places.keys().cloned().collect();
        let programs = components.iter().filter(|component| component["type"] == "application" || component["type"] == "framework");
        let all: BTreeSet<String> = programs
            .map(|component| usual(properties(component, "runtime.name").next().unwrap_or_else(|| text(&component["name"]))))
            .collect();
        let optional = |name: &String| OPTIONAL.contains(&name.as_str());
        let want: BTreeSet<String> = named.iter().filter(|name| !optional(name)).cloned().collect();
        // What is optional counts neither for nor against.
        let have: BTreeSet<String> =
            all.into_iter().filter(|name| want.contains(name) || !(named.contains(name) || optional(name) || name == PLATFORM)).collect();
        self.sets("runtimes", label, &want, &have, &places);
    }

    fn models(&mut self, label: &Label, components: &[&Value]) {
        let mut open: Vec<&LabelModel> = label.models.iter().collect();
        let mut met: Vec<&LabelModel> = Vec::new();
        for component in components.iter().filter(|component| component["type"] == "machine-learning-model") {
            let names = names(component);
            let sourced = |model: &LabelModel| model.sources.iter().any(|source| names.contains(&source.to_lowercase()));
            let index = (open.iter().position(|model| names.contains(&model.id.to_lowercase())))
                .or_else(|| open.iter().position(|model| sourced(model)));
            let Some(index) = index else {
                if !met.iter().any(|model| model.sources.len() > 1 && sourced(model)) {
                    let at = properties(component, "aibom.evidence.locator").next().unwrap_or_default();
                    self.miss("models", false, label, &full_name(component), at);
                }
                continue;
            };
            let model = open.remove(index);
            met.push(model);
            self.found("models", label);
            let role = properties(component, "aibom.model.role").next().unwrap_or("main");
            if role == model.role {
                self.found("roles", label);
            } else {
                self.miss("roles", true, label, &format!("{} {}", model.role, model.id), role);
            }
        }
        for model in open {
            self.miss("models", true, label, &model.id, &model.at.join(" "));
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn usual(name: &str) -> String {
    let name = name.to_lowercase();
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, usual)| (*usual).to_owned())
}

/// All components, nested ones too.
fn components(holder: &Value) -> Vec<&Value> {
    let own = holder["components"].as_array().into_iter().flatten();
    own.flat_map(|component| std::iter::once(component).chain(components(component))).collect()
}

fn properties<'v>(component: &'v Value, name: &str) -> impl Iterator<Item = &'v str> {
    let all = component["properties"].as_array().into_iter().flatten();
    all.filter(move |property| property["name"] == name).map(|property| text(&property["value"]))
}

fn full_name(component: &Value) -> String {
    let name = text(&component["name"]);
    component["group"].as_str().filter(|group| !group.is_empty()).map_or_else(|| name.to_owned(), |group| format!("{group}/{name}"))
}

/// Every text by which a model may be met, in lower case.
fn names(component: &Value) -> BTreeSet<String> {
    let mut out = BTreeSet::from([text(&component["name"]).to_owned(), full_name(component)]);
    if let Some(rest) = text(&component["purl"]).strip_prefix("pkg:huggingface/") {
        out.insert(decoded(rest.split(['?', '#', '@']).next().unwrap_or_default()));
    }
    let identity = &component["evidence"]["identity"];
    let pieces = identity.as_array().map_or_else(|| std::slice::from_ref(identity), Vec::as_slice);
    out.extend(pieces.iter().map(|piece| text(&piece["concludedValue"]).to_owned()));
    let links = component["externalReferences"].as_array().into_iter().flatten();
    out.extend(links.map(|link| text(&link["url"]).to_owned()));
    out.into_iter().map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()).collect()
}

/// Percent-encoded text as it was.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).filter(|_| *first == b'%').and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(hex.unwrap_or(*first));
        rest = if hex.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// `what why pointer` of the unresolved facts of a document's root; images are not labelled.
fn unresolved(root: &Value) -> BTreeSet<String> {
    let all = root["properties"].as_array().into_iter().flatten();
    all.filter_map(|property| {
        let what = text(&property["name"]).strip_prefix("aibom.unresolved.").filter(|what| *what != "image")?;
        let (said, place) = text(&property["value"]).rsplit_once(" at ")?;
        let why = said.split(' ').next()?;
        let (_, pointer) = place.split_once('#')?;
        Some(format!("{what} {why} {pointer}"))
    })
    .collect()
}
