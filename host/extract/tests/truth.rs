//! Recall and precision against hand-made labels of public manifests. The reports are made by hand here, by pointer, so that this runs
//! without any plugin.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::{Inventory, Origin, Role};
use aibom_facts::object::ObjectRef;
use aibom_facts::tree::{Tree, Visibility};
use serde_json::Value;

use common::{PLAIN, corpus, documents, report};

mod common;

const STRUCTURED: [&str; 3] = ["DynamoGraphDeployment", "DynamoComponentDeployment", "NIMService"];

#[derive(Default)]
struct Tally(BTreeMap<(&'static str, String), [usize; 3]>);

impl Tally {
    fn count(&mut self, what: &'static str, kind: &str, found: usize, missed: usize, wrong: usize) {
        let group = if PLAIN.contains(&kind) { "plain" } else { kind };
        for key in [group.to_owned(), "all".to_owned()] {
            let entry = self.0.entry((what, key)).or_default();
            entry[0] += found;
            entry[1] += missed;
            entry[2] += wrong;
        }
    }

    fn recall(&self, what: &'static str, kind: &str) -> f64 {
        let [found, missed, _] = self.0.get(&(what, kind.to_owned())).copied().unwrap_or_default();
        if found + missed == 0 { 1.0 } else { found as f64 / (found + missed) as f64 }
    }

    fn precision(&self, what: &'static str, kind: &str) -> f64 {
        let [found, _, wrong] = self.0.get(&(what, kind.to_owned())).copied().unwrap_or_default();
        if found + wrong == 0 { 1.0 } else { found as f64 / (found + wrong) as f64 }
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|value| value.as_str()).map(str::to_owned).collect()
}

fn field<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn list<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value[key].as_array().into_iter().flatten()
}

/// Runtimes that a careful reader may or may not name.
const TOLERATED: [&str; 11] =
    ["ray", "jax", "pytorch", "transformers", "mlflow", "huggingface", "lmcache", "dynamo", "mlserver", "accelerate", "deepspeed"];

fn sets<T: Ord>(tally: &mut Tally, what: &'static str, kind: &str, want: &BTreeSet<T>, have: &BTreeSet<T>) {
    tally.count(what, kind, want.intersection(have).count(), want.difference(have).count(), have.difference(want).count());
}

fn compare(label: &Value, inventory: &Inventory, tally: &mut Tally) {
    let place = format!("{}#{} {}", field(label, "file"), label["doc"], field(label, "kind"));
    let kind = field(label, "kind");
    let ai = label["ai"].as_bool().unwrap_or_default();
    if ai != inventory.is_ai() {
        eprintln!("{place}: ai {} expected {ai} ({:?})", inventory.is_ai(), inventory.categories);
    }
    tally.count(
        "ai",
        kind,
        usize::from(ai && inventory.is_ai()),
        usize::from(ai && !inventory.is_ai()),
        usize::from(!ai && inventory.is_ai()),
    );
    if !ai {
        return;
    }
    let want: BTreeSet<String> = texts(&label["categories"]).into_iter().collect();
    let have: BTreeSet<String> = inventory.categories.keys().map(|category| category.as_str().to_owned()).collect();
    if want != have {
        eprintln!("{place}: categories {have:?} expected {want:?}");
    }
    sets(tally, "categories", kind, &want, &have);

    let images =
        list(label, "containers").map(|container| (field(container, "image").trim().to_owned(), field(container, "at").to_owned()));
    let want: BTreeSet<(String, String)> = images.filter(|(image, _)| !image.is_empty()).collect();
    let evidence = inventory.images.iter().flat_map(|image| &image.finding.evidence);
    let have: BTreeSet<(String, String)> =
        evidence.map(|evidence| (evidence.value.trim().to_owned(), evidence.at.pointer.to_string())).collect();
    for missed in want.symmetric_difference(&have) {
        eprintln!("{place}: image {missed:?}");
    }
    sets(tally, "images", kind, &want, &have);

    let want: BTreeSet<String> = list(label, "runtimes").map(|runtime| field(runtime, "name").to_owned()).collect();
    let have: BTreeSet<String> = inventory.runtimes.iter().map(|runtime| runtime.finding.key.name.clone()).collect();
    let missed: Vec<&String> =
        want.difference(&have).filter(|name| name.as_str() == "dynamo" || !TOLERATED.contains(&name.as_str())).collect();
    let wrong: Vec<&String> = have.difference(&want).filter(|name| !TOLERATED.contains(&name.as_str())).collect();
    if !missed.is_empty() || !wrong.is_empty() {
        eprintln!("{place}: runtimes missed {missed:?} wrong {wrong:?}");
    }
    tally.count("runtimes", kind, want.intersection(&have).count(), missed.len(), wrong.len());
    models(label, inventory, tally, &place);

    let want: BTreeSet<(String, String)> =
        list(label, "unresolved").map(|entry| (field(entry, "at").to_owned(), field(entry, "why").to_owned())).collect();
    let unknown = inventory.unresolved.iter().filter(|entry| entry.what != "image");
    let have: BTreeSet<(String, String)> = unknown.map(|entry| (entry.at.pointer.to_string(), entry.why.clone())).collect();
    if want != have {
        eprintln!("{place}: unresolved {have:?} expected {want:?}");
    }
    sets(tally, "unresolved", kind, &want, &have);

    let want: BTreeSet<String> = list(label, "remote_apis").map(|api| field(api, "name").to_owned()).collect();
    let have: BTreeSet<String> = inventory.services.iter().map(|service| service.finding.key.name.clone()).collect();
    if want != have {
        eprintln!("{place}: services {have:?} expected {want:?}");
    }
    sets(tally, "services", kind, &want, &have);
}

fn models(label: &Value, inventory: &Inventory, tally: &mut Tally, place: &str) {
    let kind = field(label, "kind");
    let labels: Vec<&Value> = list(label, "models").collect();
    let mut open: BTreeSet<usize> = (0..labels.len()).collect();
    for model in &inventory.models {
        let id = model.reference.id();
        let mut names: BTreeSet<&str> = model.sources.iter().map(String::as_str).collect();
        names.insert(&id);
        let by_source = |index: &usize| texts(&labels[*index]["sources"]).iter().any(|source| names.contains(source.as_str()));
        let hit = open
            .iter()
            .copied()
            .find(|index| field(labels[*index], "id") == id)
            .or_else(|| open.iter().copied().find(|index| by_source(index)));
        let Some(index) = hit else {
            // Several findings for the several places of one model are tolerated.
            if !labels.iter().any(|label| texts(&label["sources"]).contains(&id)) {
                let first = model.finding.evidence.first().map(|evidence| evidence.at.pointer.to_string());
                eprintln!("{place}: model wrong {id} ({:?}) {first:?}", model.role);
                tally.count("models", kind, 0, 0, 1);
            }
            continue;
        };
        open.remove(&index);
        tally.count("models", kind, 1, 0, 0);
        if field(labels[index], "id") != id {
            eprintln!("{place}: model {id} expected {}", field(labels[index], "id"));
        }
        let role = Role::parse(field(labels[index], "role")).unwrap_or_default();
        if role != model.role {
            eprintln!("{place}: role {:?} expected {role:?} of {id}", model.role);
        }
        tally.count("roles", kind, usize::from(role == model.role), usize::from(role != model.role), 0);
        let want: BTreeSet<String> = texts(&labels[index]["at"]).into_iter().collect();
        let have: BTreeSet<String> = model.finding.evidence.iter().map(|evidence| evidence.at.pointer.to_string()).collect();
        for missed in want.difference(&have) {
            eprintln!("{place}: pointer missed {missed} of {id}");
        }
        sets(tally, "pointers", kind, &want, &have);
    }
    for index in &open {
        eprintln!("{place}: model missed {}", field(labels[*index], "id"));
    }
    tally.count("models", kind, 0, open.len(), 0);
}

#[test]
fn extraction_keeps_its_recall_and_precision_on_the_truth_set() {
    let Some(corpus) = corpus() else { return };
    let labels = fs::read_to_string(corpus.join("truth/labels.jsonl")).unwrap();
    let mut tally = Tally::default();
    let mut compared = 0;
    for line in labels.lines().filter(|line| !line.trim().is_empty()) {
        let label: Value = serde_json::from_str(line).unwrap();
        let kind = field(&label, "kind");
        if !PLAIN.contains(&kind) && !STRUCTURED.contains(&kind) {
            continue;
        }
        let text = fs::read_to_string(corpus.join("samples").join(field(&label, "file"))).unwrap();
        let index = usize::try_from(label["doc"].as_u64().unwrap()).unwrap();
        let Some(tree) = documents(&text).get(index).and_then(|document| serde_saphyr::from_str::<Tree>(document).ok()) else {
            panic!("{}: document {index} cannot be read", field(&label, "file"));
        };
        let view = tree.view(tree.root(), Visibility::default());
        let object = ObjectRef::of(&view).unwrap();
        assert_eq!(object.kind, kind, "{} document {index}", field(&label, "file"));
        let report = report(&view).unwrap();
        let inventory = extract(
            Rules::builtin(),
            &Subject { objects: &[object], trees: &[Some(&view)], sought: &[], report: &report, origin: Origin::Manifest },
        );
        compare(&label, &inventory, &mut tally);
        compared += 1;
    }
    for ((what, kind), [found, missed, wrong]) in &tally.0 {
        let (recall, precision) = (tally.recall(what, kind), tally.precision(what, kind));
        eprintln!("{what:12} {kind:28} {found:4} found {missed:4} missed {wrong:4} wrong   recall {recall:.3} precision {precision:.3}");
    }
    assert!(compared >= 88, "{compared} labels compared");
    // What this version reaches, with a little room for corrected labels.
    let floors = [
        ("images", 1.0, 1.0),
        ("models", 0.95, 1.0),
        ("roles", 1.0, 1.0),
        ("runtimes", 0.99, 0.99),
        ("services", 1.0, 1.0),
        ("pointers", 0.97, 0.99),
        ("ai", 0.87, 1.0),
        ("categories", 0.82, 0.93),
        ("unresolved", 0.5, 1.0),
    ];
    for (what, recall, precision) in floors {
        assert!(tally.recall(what, "all") >= recall, "{what}: recall {:.3} < {recall}", tally.recall(what, "all"));
        assert!(tally.precision(what, "all") >= precision, "{what}: precision {:.3} < {precision}", tally.precision(what, "all"));
    }
    for kind in STRUCTURED {
        for what in ["ai", "images", "models", "runtimes", "categories"] {
            assert!(tally.recall(what, kind) >= 1.0 && tally.precision(what, kind) >= 1.0, "{what} of {kind}");
        }
    }
}
