//! The public manifests of the shared corpus: nothing breaks, every document is valid, and extraction reaches its
//! floors on those that are labelled.

#![allow(clippy::unwrap_used, reason = "test code; clippy sees tests only in functions marked so")]

mod common;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use common::{components, full_name, property, run, shared};
use serde_json::Value;

#[test]
fn every_public_manifest_is_read_and_every_document_is_valid() {
    let Some(samples) = shared("corpus/samples") else { return };
    every_document_is_valid(samples.to_str().unwrap(), &[]);
}

#[test]
fn every_document_is_valid_in_the_newer_version_with_the_other_spelling() {
    let Some(samples) = shared("corpus/samples") else { return };
    every_document_is_valid(samples.to_str().unwrap(), &["--spec-version", "1.7", "--property-names", "colon"]);
}

fn every_document_is_valid(samples: &str, options: &[&str]) {
    let run = run(&[&["scan", samples, "--output", "json"], options].concat());
    eprintln!("{}", run.err);
    // One public file gives a key twice; it is read as kubectl reads it, and the place is told.
    let told: Vec<_> = run.err.lines().filter(|line| line.contains("given twice")).collect();
    assert!(told.len() == 1 && told[0].starts_with("warning:") && told[0].contains("document 0, line 28"), "{told:#?}");
    assert!(!run.err.lines().any(|line| line.starts_with("error:")), "{}", run.err);
    assert_eq!(run.code, 0, "{}", run.err);
    // `lines` checks every document against schema and lint.
    let lines = run.lines();
    let documents = lines.iter().filter(|line| line["outcome"] == "documented").count();
    assert!(lines.iter().all(|line| line["outcome"] != "error"));
    assert!(documents > 300, "only {documents} documents");
    let models = lines.iter().flat_map(|line| components(&line["document"], "machine-learning-model"));
    let literal: Vec<_> = models.map(full_name).filter(|name| is_literal(name)).collect();
    assert!(literal.is_empty(), "variables, templates and placeholders are no models: {literal:#?}");
}

/// Whether the name is what somebody or something was to fill in.
fn is_literal(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    name.contains(['$', '{', '}', '<', '>', '`', '%'])
        || ["your-", "your_", "changeme", "replace-me", "replace_me", "placeholder", "xxx"].iter().any(|mark| lower.contains(mark))
}

#[test]
fn what_somebody_was_to_fill_in_is_known_from_names() {
    for name in ["${MODEL}", "$(MODEL)", "{{ .Values.model }}", "<model>", "your-org/your-model", "org/REPLACE_ME"] {
        assert!(is_literal(name), "{name}");
    }
    for name in ["acme/talker-7b", "/models/talker", "s3://weights/talker", "hf://acme/talker@main"] {
        assert!(!is_literal(name), "{name}");
    }
}

/// What the truth set must give, over all its kinds: measure, recall, precision. Roles are those of models that were found, so they have
/// no precision of their own.
const FLOORS: [(&str, f64, f64); 5] =
    [("ai", 0.95, 0.95), ("images", 1.0, 0.0), ("runtimes", 0.98, 0.99), ("models", 0.97, 0.99), ("roles", 0.95, 0.0)];

#[test]
fn the_labelled_manifests_reach_the_floors() {
    let (Some(samples), Some(truth)) = (shared("corpus/samples"), shared("corpus/truth")) else { return };
    // The labels say what follows from each object alone.
    let scan = run(&["scan", samples.to_str().unwrap(), "--output", "json", "--alone"]);
    let labels = fs::read_to_string(truth.join("labels.jsonl")).unwrap();
    let score = truth::score(&labels, &scan.out, &exceptions()).unwrap();
    eprintln!("{}\n{}", score.table(), score.listing());
    assert!(score.absent.is_empty(), "labels without a line of the scan: {:#?}", score.absent);
    assert!(score.stale.is_empty(), "these labels are not in the way any more, take them off the list: {:#?}", score.stale);
    for (what, recall, precision) in FLOORS {
        let counts = score.all(what);
        assert!(counts.recall() >= recall, "{what}: recall {:.4} is below {recall}", counts.recall());
        assert!(counts.precision() >= precision, "{what}: precision {:.4} is below {precision}", counts.precision());
    }
}

/// Labels that are wrong, each with its reason.
fn exceptions() -> Vec<truth::Exception> {
    let page = fs::read_to_string(common::root().join("docs/design/truth.md")).unwrap();
    truth::exceptions(&page).unwrap()
}

const LABEL: &str = r#"{"file": "a.yaml", "doc": 1, "kind": "Deployment", "ai": true, "categories": ["inference"],
  "containers": [{"image": "acme/talker:1", "at": "/i"}, {"image": "<image>", "at": "/j"}],
  "runtimes": [{"name": "vllm", "at": "/i"}, {"name": "ray", "at": "/i"}],
  "models": [{"id": "acme/talker", "role": "main", "at": ["/m"], "sources": ["/models/talker", "s3://acme/talker"]}, {"id": "acme/quick", "role": "draft", "at": ["/d"]}],
  "unresolved": [{"what": "adapter", "why": "secret", "at": "/s"}]}"#;

/// The table's line of a measure over one label and the components and root properties of a document.
fn measured(what: &'static str, components: &str, root: &str) -> [usize; 3] {
    let line = format!(
        r#"{{"file": "x/a.yaml", "doc": 1, "outcome": "documented", "document": {{"metadata": {{"component": {{"properties": [{root}]}}}}, "components": [{components}]}}}}"#
    );
    let score = truth::score(&LABEL.replace('\n', " "), &line, &[]).unwrap();
    assert!(score.absent.is_empty());
    let counts = score.all(what);
    assert_eq!(score.of(what, "Deployment"), counts);
    assert_eq!(score.misses.iter().filter(|miss| miss.what == what).count(), counts.missed + counts.wrong);
    [counts.found, counts.missed, counts.wrong]
}

#[test]
fn a_model_is_met_by_its_id_or_a_source_and_each_label_once() {
    let model = |name: &str| format!(r#"{{"type": "machine-learning-model", "name": "{name}"}}"#);
    assert_eq!(measured("models", &model("ACME/Talker"), ""), [1, 1, 0]);
    assert_eq!(measured("models", &model("/models/talker"), ""), [1, 1, 0]);
    assert_eq!(measured("models", &[model("/models/talker"), model("s3://acme/talker")].join(","), ""), [1, 1, 0]);
    assert_eq!(measured("models", &[model("acme/talker"), model("acme/talker")].join(","), ""), [1, 1, 1]);
    assert_eq!(measured("models", &[model("acme/quick"), model("acme/quick")].join(","), ""), [1, 1, 1]);
    assert_eq!(measured("models", &model("acme/other"), ""), [0, 2, 1]);
    let hub = r#"{"type": "machine-learning-model", "name": "x", "purl": "pkg:huggingface/acme%2Ftalker@main?a=b"}"#;
    assert_eq!(measured("models", hub, ""), [1, 1, 0]);
    let said = r#"{"type": "machine-learning-model", "name": "x", "evidence": {"identity": [{"concludedValue": "acme/quick"}]}}"#;
    assert_eq!(measured("models", said, ""), [1, 1, 0]);
    assert_eq!(measured("roles", said, ""), [0, 1, 0]);
}

#[test]
fn optional_runtimes_count_neither_for_nor_against_and_placeholders_are_no_images() {
    let program = |name: &str| format!(r#"{{"type": "application", "name": "{name}"}}"#);
    assert_eq!(measured("runtimes", &program("vLLM"), ""), [1, 0, 0]);
    assert_eq!(measured("runtimes", &[program("pytorch"), program("dynamo")].join(","), ""), [0, 1, 0]);
    assert_eq!(measured("runtimes", &program("trtllm"), ""), [0, 1, 1]);
    let image = r#"{"type": "container", "name": "x", "properties": [{"name": "image.reference", "value": "acme/talker:1"}]}"#;
    assert_eq!(measured("images", image, ""), [1, 0, 0]);
    assert_eq!(measured("images", "", ""), [0, 1, 0]);
}

#[test]
fn categories_and_unknowns_are_read_from_the_root() {
    let root = r#"{"name": "aibom.workload.category", "value": "inference"}, {"name": "aibom.workload.category", "value": "agent"},
        {"name": "aibom.unresolved.adapter", "value": "secret [keys] at apps/v1/Deployment/a#/s"}, {"name": "aibom.unresolved.model", "value": "template at apps/v1/Deployment/a#/t"}"#;
    let root = root.replace('\n', " ");
    assert_eq!(measured("categories", "", &root), [1, 0, 1]);
    assert_eq!(measured("unresolved", "", &root), [1, 0, 1]);
}

#[test]
fn a_wrong_label_is_excused_once_it_is_on_the_list_and_a_row_without_use_is_told() {
    let page = "words\n| File | Doc | What | Value | Reason |\n|---|---|---|---|---|\n\
                | a.yaml | 1 | models | `acme/quick` | the flag belongs to another program |\n\
                | a.yaml | 1 | models | `acme/none` | the flag belongs to another program |\n";
    let list = truth::exceptions(page).unwrap();
    let line = r#"{"file": "a.yaml", "doc": 1, "outcome": "documented", "document": {"components": [{"type": "machine-learning-model", "name": "acme/talker"}]}}"#;
    let score = truth::score(&LABEL.replace('\n', " "), line, &list).unwrap();
    let counts = score.all("models");
    assert_eq!((counts.found, counts.missed, counts.wrong), (1, 0, 0));
    assert_eq!(score.stale, list[1..]);
    assert!(truth::exceptions("| File |\n|---|\n| a.yaml | 1 | models |\n").is_err());
    assert!(truth::exceptions("| File |\n|---|\n| a.yaml | 1 | models | x | bad |\n").is_err());
}

#[test]
fn a_label_without_a_line_of_the_scan_is_missed_and_told() {
    let score = truth::score(&LABEL.replace('\n', " "), "", &[]).unwrap();
    assert_eq!(score.absent, ["a.yaml document 1"]);
    assert_eq!(score.all("ai").missed, 1);
    assert!(score.listing().contains("models\tmissed\tDeployment\ta.yaml\t1\tacme/quick\t/d\n"), "{}", score.listing());
}

/// The same upstream file in both versions must give the same facts: what differs is only where they stand.
#[test]
fn both_versions_of_a_graph_give_the_same_facts() {
    let Some(samples) = shared("corpus/samples") else { return };
    let index = fs::read_to_string(samples.join("INDEX.tsv")).unwrap();
    let mut by_path: BTreeMap<&str, [Option<&str>; 2]> = BTreeMap::new();
    for line in index.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let side = match fields[0].split('/').next() {
            Some("dynamo-2026-05-v1alpha1") => 0,
            Some("dynamo") => 1,
            _ => continue,
        };
        by_path.entry(fields[3]).or_default()[side] = Some(fields[0]);
    }
    let pairs: Vec<_> = by_path.values().filter_map(|[old, new]| old.zip(*new)).collect();
    assert!(pairs.len() >= 28, "only {} pairs", pairs.len());
    let mut compared = 0;
    let mut differences = Vec::new();
    for (old, new) in &pairs {
        let (before, after) = (facts(&samples.join(old)), facts(&samples.join(new)));
        for name in before.keys().filter(|name| !after.contains_key(*name)).chain(after.keys().filter(|name| !before.contains_key(*name))) {
            differences.push(format!("{old} -> {new}: {name} is in one of them only"));
        }
        for (name, (version, facts)) in &before {
            let Some((other, other_facts)) = after.get(name) else { continue };
            if version == other {
                continue; // the file did not change its version
            }
            compared += 1;
            for fact in facts.symmetric_difference(other_facts) {
                differences
                    .push(format!("{old} -> {new}: {name}: {fact} ({})", if facts.contains(fact) { "old only" } else { "new only" }));
            }
        }
    }
    eprintln!("{compared} graphs compared in {} pairs", pairs.len());
    // Files whose content, not only whose version, changed between the two snapshots: listed here with what changed.
    let explains = |(file, fact): &(&str, &str), difference: &String| difference.contains(file) && difference.contains(fact);
    let unexplained: Vec<_> =
        differences.iter().filter(|difference| !EXPLAINED.iter().any(|explained| explains(explained, difference))).collect();
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    for explained in EXPLAINED {
        assert!(differences.iter().any(|difference| explains(explained, difference)), "{explained:?} explains nothing any more");
    }
    assert!(compared >= 20, "only {compared} compared");
}

/// (part of the file name, part of the fact): differences between the two snapshots that are upstream's own edits.
const EXPLAINED: &[(&str, &str)] = &[
    // Another registry was written in.
    ("/agg-with-config.yaml", "image"),
    // The graph was given another name.
    ("/agg_logging.yaml", "is in one of them only"),
    // Components were given other types, two of them other names.
    ("/trtllm__deploy__disagg-multinode.yaml", "dynamo.component.type"),
    ("/disagg_kvbm_tp2.yaml", "dynamo.component.type"),
    ("/agg_lora.yaml", "dynamo.component.type"),
    ("/global-planner-vllm-test.yaml", "dynamo.component.type default"),
];

/// Facts of the graphs of a file by name, with the version they are written in.
fn facts(path: &std::path::Path) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let run = run(&["scan", path.to_str().unwrap(), "-o", "json", "--kinds", "DynamoGraphDeployment,DynamoComponentDeployment"]);
    run.lines()
        .into_iter()
        .filter(|line| line["outcome"] == "documented")
        .map(|line| {
            let document = &line["document"];
            let mut facts = BTreeSet::new();
            for component in components(document, "machine-learning-model") {
                facts.insert(format!("model {} as {:?}", full_name(component), property(component, "aibom.model.role")));
            }
            for kind in ["application", "framework"] {
                for component in components(document, kind) {
                    facts.insert(format!("runtime {}", full_name(component)));
                }
            }
            for component in components(document, "container") {
                facts.insert(format!("image {:?}", property(component, "image.reference")));
            }
            for component in components(document, "device") {
                facts.insert(format!("device {}", full_name(component)));
            }
            for name in ["dynamo.component.type", "dynamo.backendFramework"] {
                for value in property(&document["metadata"]["component"], name) {
                    facts.insert(format!("{name} {value}"));
                }
            }
            (text(&line["name"]), (text(&line["apiVersion"]), facts))
        })
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
