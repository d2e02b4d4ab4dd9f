//! `--explain`: every fact of an object with its evidence, and why other things are not reported.
//!
//! Everything here is text of manifests, so every string goes through the filter on its way in, and what is built is safe to print.

use std::fmt::Write as _;

use aibom_facts::inventory::{Category, Confidence, Evidence, Finding as Fact, Inventory};
use aibom_facts::object::Locator;
use aibom_facts::redact::{Redactor, TEXT_LIMIT, truncate};
use serde::Serialize;

use super::{Finding, Located};
use crate::catalogue::NotServed;
use crate::pipeline::{Explained, Outcome};

/// Everything said about one object; a line of `--explain --output json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told {
    file: String,
    doc: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    api_version: String,
    kind: String,
    namespace: Option<String>,
    name: String,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Its kind is read for other objects.
    #[serde(skip)]
    for_others: bool,
    categories: Vec<&'static str>,
    facts: Vec<ToldFact>,
    recognised: Vec<ToldRecognised>,
    unresolved: Vec<ToldUnresolved>,
    not_reported: Vec<ToldConsidered>,
    problems: Vec<ToldProblem>,
}

#[derive(Debug, Serialize)]
struct Place {
    /// A related object; none for the object itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    /// The input that holds the related object.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    pointer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
}

#[derive(Debug, Serialize)]
struct ToldFact {
    class: &'static str,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    confidence: &'static str,
    evidence: Vec<ToldEvidence>,
}

#[derive(Debug, Serialize)]
struct ToldEvidence {
    value: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    by: String,
    source: &'static str,
    confidence: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    container: String,
    at: Place,
}

#[derive(Debug, Serialize)]
struct ToldRecognised {
    what: &'static str,
    value: String,
    runtime: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    by: String,
    how: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    container: String,
    at: Place,
}

#[derive(Debug, Serialize)]
struct ToldUnresolved {
    what: String,
    why: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    reference: String,
    at: Place,
}

#[derive(Debug, Serialize)]
struct ToldConsidered {
    what: &'static str,
    value: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    by: String,
    reason: &'static str,
    because: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    container: String,
    at: Place,
}

#[derive(Debug, Serialize)]
struct ToldProblem {
    message: String,
    at: Place,
}

/// Text that may leave.
fn clean(text: &str) -> String {
    named("", text)
}

/// Text that may leave, where the name it goes by is known.
fn named(name: &str, text: &str) -> String {
    let visible = aibom_facts::text::printable(text);
    let redacted = Redactor::standard().redact_named(name, &visible).0;
    truncate(&redacted, TEXT_LIMIT).into_owned()
}

/// Turns pointers into places.
struct Places<'a> {
    finding: &'a Finding,
    inventory: &'a Inventory,
}

impl Places<'_> {
    fn of(&self, at: &Locator) -> Place {
        let (object, file, located) = if at.object == 0 {
            (None, None, self.finding.lines.as_ref())
        } else {
            let place = self.finding.places.get(at.object as usize).and_then(Option::as_ref);
            (self.inventory.objects.get(at.object as usize), place.map(|(file, _)| file), place.map(|(_, located)| located))
        };
        Place {
            object: object.map(|object| clean(&object.to_string())),
            file: file.map(|file| clean(file)),
            pointer: clean(at.pointer.as_str()),
            line: located.and_then(|located| located.line(at.pointer.as_str())),
        }
    }
}

impl Located {
    /// Line of a value of the object.
    pub(super) fn line(&self, pointer: &str) -> Option<usize> {
        self.lines.line(&self.place.join(pointer))
    }
}

impl Told {
    /// What there is to say about a finding.
    pub fn new(finding: &Finding) -> Self {
        let (outcome, reason) = match &finding.outcome {
            Outcome::Documented { .. } => ("documented", None),
            Outcome::NotAi { .. } => ("not-ai", None),
            Outcome::PartOf { above, .. } => ("part-of", Some(format!("its facts are in the document of {above}, to which it belongs"))),
            Outcome::NoScraper(reason) => ("no-scraper", Some(reason.to_string())),
            Outcome::Failed { plugin, reason } => ("error", Some(format!("scraper `{plugin}`: {reason}"))),
        };
        let object = &finding.object;
        let mut told = Self {
            file: clean(&finding.file),
            doc: finding.document,
            item: finding.item,
            line: finding.lines.as_ref().and_then(|located| located.line("")),
            api_version: clean(&object.api_version()),
            kind: clean(&object.kind),
            namespace: object.namespace.as_deref().map(clean),
            name: clean(&object.name),
            outcome,
            reason: reason.as_deref().map(clean),
            for_others: matches!(finding.outcome, Outcome::NoScraper(NotServed::Related)),
            categories: Vec::new(),
            facts: Vec::new(),
            recognised: Vec::new(),
            unresolved: Vec::new(),
            not_reported: Vec::new(),
            problems: Vec::new(),
        };
        if let Some(explained) = &finding.explained {
            told.add(explained, finding);
        }
        told
    }

    fn add(&mut self, Explained { inventory, explanation }: &Explained, finding: &Finding) {
        let places = Places { finding, inventory };
        self.categories = inventory.categories.keys().map(|category| category.as_str()).collect();
        let category = |(category, evidence): (&Category, &Vec<Evidence>)| ToldFact {
            class: "category",
            name: category.as_str().to_owned(),
            role: None,
            version: None,
            confidence: evidence.iter().map(|piece| piece.source.confidence()).max().unwrap_or(Confidence::Unresolved).as_str(),
            evidence: evidence.iter().map(|evidence| piece(evidence, "category", &places)).collect(),
        };
        self.facts.extend(inventory.categories.iter().map(category));
        let fact = |fact: &Fact, role, version: Option<&String>| ToldFact {
            class: fact.key.class.as_str(),
            name: clean(&fact.key.name),
            role,
            version: version.map(|version| clean(version)),
            confidence: fact.confidence.as_str(),
            evidence: fact.evidence.iter().map(|evidence| piece(evidence, fact.key.class.as_str(), &places)).collect(),
        };
        self.facts.extend(inventory.models.iter().map(|model| fact(&model.finding, Some(model.role.as_str()), model.revision.as_ref())));
        self.facts.extend(inventory.runtimes.iter().map(|runtime| fact(&runtime.finding, None, runtime.version.as_ref())));
        let others = (inventory.images.iter().map(|image| &image.finding))
            .chain(inventory.services.iter().map(|service| &service.finding))
            .chain(inventory.data.iter().map(|data| &data.finding))
            .chain(inventory.devices.iter().map(|device| &device.finding));
        self.facts.extend(others.map(|finding| fact(finding, None, None)));
        self.recognised.extend(explanation.recognised.iter().map(|entry| ToldRecognised {
            what: entry.what,
            value: clean(&entry.value),
            runtime: clean(&entry.runtime),
            by: clean(&entry.by),
            how: entry.how,
            container: clean(&entry.container),
            at: places.of(&entry.at),
        }));
        self.unresolved.extend(inventory.unresolved.iter().map(|entry| ToldUnresolved {
            what: clean(&entry.what),
            why: clean(&entry.why),
            reference: clean(&entry.reference),
            at: places.of(&entry.at),
        }));
        self.not_reported.extend(explanation.considered.iter().map(|entry| ToldConsidered {
            what: entry.what,
            // Names of runtimes, services and categories are ours, whatever the name of what they go by.
            value: if OURS.contains(&entry.what) { clean(&entry.value) } else { named(&entry.by, &entry.value) },
            by: clean(&entry.by),
            reason: entry.reason.as_str(),
            because: entry.reason.sentence(),
            container: clean(&entry.container),
            at: places.of(&entry.at),
        }));
        let problems = inventory.problems.iter();
        self.problems.extend(problems.map(|problem| ToldProblem { message: clean(&problem.message), at: places.of(&problem.at) }));
    }

    /// For people: paragraphs with the place of each line at its end.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let namespace = self.namespace.as_deref().map_or_else(String::new, |namespace| format!("{namespace}/"));
        let item = self.item.map_or_else(String::new, |item| format!(", item {item}"));
        let file = self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file));
        let _ = writeln!(out, "{} {namespace}{}  ({file}, document {}{item})", self.kind, self.name, self.doc);
        let _ = match self.outcome {
            "documented" => writeln!(out, "  AI workload: {}", self.categories.join(", ")),
            "not-ai" => writeln!(out, "  no AI workload: nothing in it is known to run, train, measure, fetch or route to models"),
            "part-of" => writeln!(out, "  AI workload: {}; {}", self.categories.join(", "), self.reason.as_deref().unwrap_or_default()),
            "no-scraper" if self.for_others => writeln!(out, "  {}", self.reason.as_deref().unwrap_or_default()),
            "no-scraper" => writeln!(out, "  not looked at: {}", self.reason.as_deref().unwrap_or_default()),
            _ => writeln!(out, "  failed: {}", self.reason.as_deref().unwrap_or_default()),
        };
        self.write_facts(&mut out);
        if !self.recognised.is_empty() {
            out.push_str("\n  Recognised\n");
        }
        for entry in &self.recognised {
            let by = if entry.by.is_empty() { String::new() } else { format!(" by {}", entry.by) };
            let line = format!("{} {} is {}{by} ({})", entry.what, short(&entry.value), entry.runtime, entry.how);
            self.write(&mut out, "    ", &line, &entry.container, &entry.at);
        }
        if !self.unresolved.is_empty() {
            out.push_str("\n  Seen, and not readable here\n");
        }
        for entry in &self.unresolved {
            let reference = if entry.reference.is_empty() { String::new() } else { format!(" ({})", short(&entry.reference)) };
            self.write(&mut out, "    ", &format!("{}: {}{reference}", entry.what, entry.why), "", &entry.at);
        }
        if !self.not_reported.is_empty() {
            out.push_str("\n  Not reported\n");
        }
        for entry in &self.not_reported {
            let by = if entry.by.is_empty() { String::new() } else { format!(" ({})", entry.by) };
            let line = format!("{} {}{by}: {}", entry.what, short(&entry.value), entry.reason);
            self.write(&mut out, "    ", &line, &entry.container, &entry.at);
            let _ = writeln!(out, "        {}", entry.because);
        }
        if !self.problems.is_empty() {
            out.push_str("\n  Problems\n");
        }
        for problem in &self.problems {
            self.write(&mut out, "    ", &problem.message, "", &problem.at);
        }
        out
    }

    fn write_facts(&self, out: &mut String) {
        if !self.facts.is_empty() {
            out.push_str(if matches!(self.outcome, "documented" | "part-of") {
                "\n  Facts\n"
            } else {
                "\n  Seen, and no reason to report the object\n"
            });
        }
        for fact in &self.facts {
            let role = fact.role.map_or_else(String::new, |role| format!(" ({role})"));
            let version = fact.version.as_deref().map_or_else(String::new, |version| format!(" {version}"));
            let _ = writeln!(out, "    {} {}{version}{role}: {}", fact.class, short(&fact.name), fact.confidence);
            for piece in &fact.evidence {
                let by = if piece.by.is_empty() { String::new() } else { format!(" by {}", short(&piece.by)) };
                let value = if piece.value == fact.name { String::new() } else { format!(" {}", short(&piece.value)) };
                let line = format!("{} {:.2}{by}{value}", piece.source, piece.confidence);
                self.write(out, "        ", &line, &piece.container, &piece.at);
            }
        }
    }

    fn write(&self, out: &mut String, indent: &str, line: &str, container: &str, at: &Place) {
        let container = if container.is_empty() { String::new() } else { format!(", container {container}") };
        let place = match (&at.object, at.line) {
            (Some(object), line) => {
                let file = at.file.as_deref().zip(line).map_or_else(String::new, |(file, line)| format!(" {file}:{line}"));
                format!("{object}{file} {}", at.pointer)
            }
            (None, Some(line)) => format!("{}:{line} {}", self.file, at.pointer),
            (None, None) => at.pointer.clone(),
        };
        let _ = writeln!(out, "{indent}{line}{container}  [{}]", place.trim());
    }
}

/// One line of a terminal has no room for a script. A single word is a name, and half a digest is of no use to anybody.
fn short(text: &str) -> std::borrow::Cow<'_, str> {
    truncate(text, if text.contains(char::is_whitespace) { 100 } else { 400 })
}

/// What has names that this program gives.
const OURS: [&str; 4] = ["category", "runtime", "service", "version"];

fn piece(evidence: &Evidence, class: &str, places: &Places<'_>) -> ToldEvidence {
    ToldEvidence {
        value: if OURS.contains(&class) { clean(&evidence.value) } else { named(&evidence.by, &evidence.value) },
        by: clean(&evidence.by),
        source: evidence.source.as_str(),
        confidence: f64::from(evidence.source.hundredths()) / 100.0,
        container: clean(&evidence.container),
        at: places.of(&evidence.at),
    }
}
