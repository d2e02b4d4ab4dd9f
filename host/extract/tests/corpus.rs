//! Every manifest of the corpus that the reports by hand cover, for what must hold whatever stands in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::{Inventory, Origin};
use aibom_facts::object::ObjectRef;
use aibom_facts::tree::{Kind, NodeId, Tree, Visibility};
use serde_json::{Value, json};

use common::{corpus, documents, report};

mod common;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the corpus").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
            found.push(path);
        }
    }
    found.sort();
}

fn read(tree: &Tree) -> Option<Inventory> {
    let view = tree.view(tree.root(), Visibility::default());
    let object = ObjectRef::of(&view)?;
    let report = report(&view)?;
    Some(extract(
        Rules::builtin(),
        &Subject { objects: &[object], trees: &[Some(&view)], sought: &[], report: &report, origin: Origin::Manifest },
    ))
}

fn check(place: &str, tree: &Tree, inventory: &Inventory) {
    let findings = inventory
        .models
        .iter()
        .map(|model| &model.finding)
        .chain(inventory.runtimes.iter().map(|runtime| &runtime.finding))
        .chain(inventory.images.iter().map(|image| &image.finding))
        .chain(inventory.data.iter().map(|data| &data.finding))
        .chain(inventory.devices.iter().map(|device| &device.finding))
        .chain(inventory.services.iter().map(|service| &service.finding));
    let keys: Vec<_> = findings.clone().map(|finding| &finding.key).collect();
    for finding in findings {
        assert!(!finding.evidence.is_empty(), "{place}: {} has no evidence", finding.key);
        for evidence in finding.evidence.iter().chain(&finding.conflicts) {
            assert!(
                tree.resolve(tree.root(), evidence.at.pointer.as_str()).is_some(),
                "{place}: {} points to nothing: {}",
                finding.key,
                evidence.at.pointer
            );
        }
        for need in &finding.needs {
            assert!(keys.contains(&need), "{place}: {} needs {need}, which is not there", finding.key);
        }
    }
    for (category, evidence) in &inventory.categories {
        assert!(!evidence.is_empty(), "{place}: nothing says why it is {}", category.as_str());
        for piece in evidence {
            let there = tree.resolve(tree.root(), piece.at.pointer.as_str()).is_some();
            assert!(there, "{place}: {} points to nothing: {}", category.as_str(), piece.at.pointer);
        }
    }
    for unknown in &inventory.unresolved {
        assert!(tree.resolve(tree.root(), unknown.at.pointer.as_str()).is_some(), "{place}: unresolved at nothing: {}", unknown.at.pointer);
    }
    for model in &inventory.models {
        let id = model.reference.id();
        assert!(!id.contains("$(") && !id.contains("${") && !id.contains("{{") && !id.starts_with(['$', '-', '<']), "{place}: model {id}");
    }
    if !inventory.models.is_empty() {
        assert!(inventory.is_ai(), "{place}: models without a category");
    }
}

fn each(mut use_object: impl FnMut(&str, &Tree)) {
    let Some(corpus) = corpus() else { return };
    let mut paths = Vec::new();
    files(&corpus.join("samples"), &mut paths);
    assert!(paths.len() > 1000, "{} samples", paths.len());
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (index, document) in documents(&text).iter().enumerate() {
            // Templates and the like are no YAML; they are somebody else's errors.
            if let Ok(tree) = serde_saphyr::from_str::<Tree>(document) {
                let name = path.strip_prefix(&corpus).unwrap_or(&path).display();
                use_object(&format!("{name}#{index}"), &tree);
            }
        }
    }
}

#[test]
fn every_fact_of_every_sample_has_a_place_and_no_variable_is_a_model() {
    let mut objects = 0;
    let mut models: BTreeMap<String, usize> = BTreeMap::new();
    let mut spent = Duration::ZERO;
    each(|place, tree| {
        let started = Instant::now();
        let read = read(tree);
        spent += started.elapsed();
        if let Some(inventory) = read {
            check(place, tree, &inventory);
            objects += 1;
            for model in &inventory.models {
                *models.entry(format!("{} {}", model.role.as_str(), model.reference.id())).or_default() += 1;
            }
        }
    });
    eprintln!("{objects} objects, {} models, {spent:?} for view, report and extraction", models.len());
    for (model, count) in models {
        eprintln!("{count:5} {model}");
    }
}

/// A copy in which the node at an index is something else.
fn replaced(tree: &Tree, node: NodeId, target: NodeId, with: &Value) -> Value {
    if node == target {
        return with.clone();
    }
    match tree.kind(node) {
        Kind::Object => tree.members(node).map(|(key, child)| (key.to_owned(), replaced(tree, child, target, with))).collect(),
        Kind::Array => tree.items(node).map(|child| replaced(tree, child, target, with)).collect(),
        _ => serde_json::from_str(&tree.json(node)).unwrap_or(Value::Null),
    }
}

#[test]
fn wrong_types_at_any_field_of_a_pod_are_read_around() {
    let yaml = "apiVersion: apps/v1
kind: Deployment
metadata: {name: x, generation: 1}
spec:
  template:
    spec:
      volumes: [{name: w, persistentVolumeClaim: {claimName: c}}, {name: d, nfs: {server: s, path: /p}}]
      resourceClaims: [{name: g, resourceClaimTemplateName: gpu}]
      initContainers: [{name: i, image: 'alpine/git', restartPolicy: Always, command: [sh, -c, 'git clone https://huggingface.co/a/lora /w/lora']}]
      containers:
      - name: a
        image: vllm/vllm-openai:v0.8.5
        command: [bash, -c, 'M=a/b; exec vllm serve $M --lora-modules l=/w/lora --speculative-config $(SPEC)']
        args: [x, $(MODEL)]
        env: [{name: MODEL, value: a/b}, {name: SPEC, value: '{\"model\":\"a/c\"}'}, {name: T, valueFrom: {secretKeyRef: {name: s, key: k}}}]
        envFrom: [{configMapRef: {name: m}}]
        volumeMounts: [{name: w, mountPath: /w}]
        resources: {limits: {nvidia.com/gpu: 1}, claims: [{name: g}]}
";
    let tree: Tree = serde_saphyr::from_str(yaml).unwrap();
    let strange = [
        json!(null),
        json!(7),
        json!(true),
        json!(""),
        json!("$(\u{0}"),
        json!([]),
        json!({}),
        json!([[7, null, {"name": []}]]),
        json!({"name": {"x": [1]}}),
    ];
    for index in 0..tree.len() {
        let node = tree.node(u32::try_from(index).unwrap()).unwrap();
        for with in &strange {
            let changed = Tree::from_json(replaced(&tree, tree.root(), node, with).to_string().as_bytes()).unwrap();
            if let Some(inventory) = read(&changed) {
                check(&format!("{} = {with}", tree.pointer(node)), &changed, &inventory);
            }
        }
    }
}
