//! The public manifests of the shared corpus: nothing breaks, every document is valid, and on the labelled kinds that have scrapers
//! extraction reaches its floors.

#![allow(clippy::unwrap_used, reason = "test code; clippy sees tests only in functions marked so")]

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use common::{components, full_name, property, run, shared};
use serde_json::Value;

#[test]
fn every_public_manifest_is_read_and_every_document_is_valid() {
    let Some(samples) = shared("corpus/samples") else { return };
    let run = run(&["scan", samples.to_str().unwrap(), "--output", "json"]);
    eprintln!("{}", run.err);
    // One public file gives a key twice, which API servers refuse as well; it is named, and nothing else is lost.
    let faults: Vec<_> = run.err.lines().filter(|line| line.starts_with("error:")).collect();
    assert!(faults.len() == 1 && faults[0].contains("document 0, line 28") && faults[0].contains("env"), "{faults:#?}");
    assert_eq!(run.code, 2, "{}", run.err);
    // `lines` checks every document against schema and lint.
    let lines = run.lines();
    let documents = lines.iter().filter(|line| line["outcome"] == "documented").count();
    assert!(lines.iter().all(|line| line["outcome"] != "error"));
    assert!(documents > 300, "only {documents} documents");
}

/// The floors of this version for the kinds with a scraper of their own; `score.py` of the corpus is the judge.
#[test]
fn labelled_graphs_and_services_reach_the_floors() {
    let (Some(samples), Some(truth)) = (shared("corpus/samples"), shared("corpus/truth")) else { return };
    let folder = tempfile::tempdir().unwrap();
    // The labels say what follows from each object alone.
    let scan = run(&["scan", samples.to_str().unwrap(), "--output", "json", "--alone"]);
    let results = folder.path().join("scan.jsonl");
    fs::write(&results, &scan.out).unwrap();
    let score =
        Command::new("python3").arg(truth.join("score.py")).arg(truth.join("labels.jsonl")).arg(&results).arg("--misses").output().unwrap();
    let table = String::from_utf8(score.stdout).unwrap();
    eprintln!("{table}");
    assert!(score.status.success(), "{}", String::from_utf8_lossy(&score.stderr));
    let mut sums: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    for line in table.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        let [what, kind, found, missed, wrong, ..] = words[..] else { continue };
        if ["DynamoGraphDeployment", "DynamoComponentDeployment", "NIMService"].contains(&kind) {
            let sum = sums.entry(what).or_default();
            for (total, word) in sum.iter_mut().zip([found, missed, wrong]) {
                *total += word.parse::<u32>().unwrap();
            }
        }
    }
    let share = |what: &str, other: usize| {
        let sum = sums[what];
        f64::from(sum[0]) / f64::from(sum[0] + sum[other]).max(1.0)
    };
    eprintln!("images {:.3}; models recall {:.3}, precision {:.3}", share("images", 1), share("models", 1), share("models", 2));
    assert!((share("images", 1) - 1.0).abs() < f64::EPSILON, "images {}", share("images", 1));
    assert!(share("models", 1) >= 0.8, "models recall {}", share("models", 1));
    assert!(share("models", 2) >= 0.97, "models precision {}", share("models", 2));
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
