//! A secret planted anywhere in an object is in no output of a scan: table, JSON lines, documents and their file names, explanations,
//! error lines, log lines.
//!
//! What counts as planted is a text in which the filter knows the secret ([`Redactor`]), at its full length, or a value beside a name
//! that makes it a secret. Whatever the way from there to an output does to it (cuts it at `:` and `/`, takes words of a script, joins
//! values, writes a pointer or a package URL), nothing of the secret may come out.
#![allow(clippy::unwrap_used)]

mod common;
#[path = "../../facts/tests/secrets/mod.rs"]
#[allow(dead_code)]
mod secrets;

use std::cell::RefCell;
use std::fs;
use std::io;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock};

use aibom_bom::Options;
use aibom_extract::Rules;
use aibom_facts::inventory::Origin;
use aibom_facts::redact::Redactor;
use aibom_plugin::{Host, HostConfig};
use k8s_aibom::catalogue::Catalogue;
use k8s_aibom::pipeline::Pipeline;
use k8s_aibom::scan::output::{Format, Presenter, Writer};
use k8s_aibom::scan::sources::Source;
use k8s_aibom::scan::{self, Explain, KindFilter, Plan};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use tracing_subscriber::EnvFilter;

/// Objects of each family, each text with what its scraper asks for.
const FAMILIES: &[&str] = &[
    "
apiVersion: apps/v1
kind: Deployment
metadata: {name: warbler, namespace: reed, labels: {app: warbler}, annotations: {note: sings at dawn}}
spec:
  replicas: 2
  template:
    metadata: {labels: {app: warbler}, annotations: {prometheus.io/port: '8000'}}
    spec:
      serviceAccountName: warbler
      imagePullSecrets: [{name: pull}]
      nodeSelector: {gpu: h100}
      initContainers:
      - {name: fetch, image: 'curlimages/curl:8', command: [sh, -c, 'huggingface-cli download acme/warbler-7b --local-dir /models/warbler']}
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.8.5
        command: [vllm, serve, acme/warbler-7b]
        args: [--served-model-name, warbler, --revision, main, --tokenizer, acme/warbler-tok]
        env:
        - {name: HF_HOME, value: /models}
        - {name: MODEL, value: acme/warbler-7b}
        - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hub, key: token}}}
        envFrom: [{configMapRef: {name: settings}}]
        resources: {limits: {nvidia.com/gpu: '1'}}
        volumeMounts: [{name: models, mountPath: /models}]
      - name: page
        image: registry.acme.example/chat/open-webui:main
        env: [{name: OPENAI_API_BASE_URL, value: 'http://warbler:8000/v1'}]
      volumes:
      - {name: models, persistentVolumeClaim: {claimName: warbler-models}}
      - {name: share, nfs: {server: nfs.acme.example, path: /models}}
",
    "
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: reed}
spec:
  schedule: '0 3 * * *'
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: tune
            image: pytorch/pytorch:2.5.1-cuda12.4
            command: [bash, -c]
            args:
            - |
              set -e
              export MODEL=acme/warbler-7b
              pip install trl
              git clone https://github.com/acme/tuning
              python -m trl sft --model_name_or_path $MODEL --dataset_name acme/birdsong --output_dir s3://acme/out
            env:
            - {name: WANDB_PROJECT, value: birds}
            - {name: DATASET, value: 's3://acme/birdsong'}
",
    "
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: heron, namespace: lake}
spec:
  backendFramework: vllm
  envs: [{name: LOG_LEVEL, value: info}]
  services:
    Front:
      dynamoNamespace: heron
      componentType: frontend
      replicas: 1
      extraPodSpec: {mainContainer: {image: 'registry.lake.example/dynamo/vllm-runtime:0.4.0'}}
    Work:
      componentType: worker
      subComponentType: decode
      envFromSecret: hub
      pvc: {name: heron-weights, mountPoint: /weights}
      resources: {limits: {gpu: '2', gpuType: nvidia.com/gpu, custom: {rdma/ib: '1'}}}
      modelRef: {name: acme/heron-70b, revision: main}
      extraPodSpec:
        mainContainer:
          image: registry.lake.example/dynamo/vllm-runtime:0.4.0
          command: [/bin/sh, -c]
          args: [python3 -m dynamo.vllm --model acme/heron-70b]
",
    "
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMService
metadata: {name: godwit, namespace: shore}
spec:
  image: {repository: nvcr.io/nim/acme/godwit-70b, tag: 1.8.3, pullSecrets: [ngc]}
  authSecret: ngc-api
  replicas: 1
  env: [{name: NIM_LOG_LEVEL, value: info}]
  storage: {nimCache: {name: godwit-store, profile: vllm-fp8}}
  sidecarContainers:
  - {name: meter, image: {repository: registry.shore.example/meter, tag: '1.2'}, args: [--port, '9100']}
---
apiVersion: apps.nvidia.com/v1alpha1
kind: NIMCache
metadata: {name: godwit-store, namespace: shore}
spec:
  source: {ngc: {modelPuller: 'nvcr.io/nim/acme/godwit-70b:1.8.3', pullSecret: ngc, model: {engine: tensorrt_llm}}}
  storage: {pvc: {name: shared-weights}}
",
    "
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: avocet, namespace: birds, annotations: {serving.kserve.io/deploymentMode: RawDeployment}}
spec:
  predictor:
    model:
      modelFormat: {name: vLLM}
      runtime: avocet-vllm
      storageUri: hf://acme/avocet-7b
      args: [--served-model-name=avocet]
      env: [{name: VLLM_LOGGING_LEVEL, value: DEBUG}]
  transformer:
    containers: [{name: kserve-container, image: 'registry.birds.example/shape:2', args: [--model_name=avocet]}]
---
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: avocet-vllm, namespace: birds}
spec:
  supportedModelFormats: [{name: vLLM, autoSelect: true}]
  containers:
  - {name: kserve-container, image: 'vllm/vllm-openai:v0.9.1', args: [--model=/mnt/models, '--served-model-name={{.Name}}'], env: [{name: HF_HOME, value: /tmp}]}
---
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: stint, namespace: birds}
spec:
  predictor: {model: {modelFormat: {name: onnx}, storage: {key: bucket, path: acme/stint, parameters: {type: s3, bucket: acme-birds}}}}
",
    "
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: lapwing, namespace: marsh}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 4
    leaderTemplate:
      metadata: {labels: {part: head}}
      spec:
        containers:
        - name: head
          image: vllm/vllm-openai:v0.11.0
          command: [sh, -c]
          args: [bash /opt/join.sh leader; vllm serve acme/lapwing-180b --pipeline-parallel-size 4]
          env: [{name: RAY_ADDRESS, value: 'head:6379'}]
    workerTemplate:
      spec:
        containers: [{name: hand, image: 'lmsysorg/sglang:v0.4', command: [python3, -m, sglang.launch_server, --model-path, acme/lapwing-180b]}]
  networkConfig: {subdomainPolicy: Shared}
",
];

/// How a secret gets into an object.
#[derive(Clone, Debug)]
enum How {
    /// In place of a text.
    Whole,
    /// At the end or the beginning of a text, behind or before one of [`JOINTS`].
    Joined(bool),
    /// As the name of a member, new or in place of another.
    Key(bool),
    /// As a member whose name makes it a secret.
    Member,
    /// As a variable whose name makes it a secret.
    Variable,
    /// As two words of a list, the first of which makes the other a secret.
    Words,
    /// In place of any value, whatever its type, inside as many lists and maps.
    WrongType(u8),
}

/// What stands between a text and a secret that is joined to it. No quotes: a shell takes them away, and what is left is one word in which
/// no rule sees a border.
const JOINTS: &[&str] = &[" ", "/", "=", ",", ":", "@", "\n", " --model ", "://", "?x=", "#", ";"];

#[derive(Clone, Debug)]
struct Planting {
    how: How,
    place: Index,
    what: Index,
    with: Index,
}

fn planting() -> impl Strategy<Value = Planting> {
    let how = prop_oneof![
        3 => Just(How::Whole),
        3 => any::<bool>().prop_map(How::Joined),
        1 => any::<bool>().prop_map(How::Key),
        1 => Just(How::Member),
        1 => Just(How::Variable),
        1 => Just(How::Words),
        2 => (0..4_u8).prop_map(How::WrongType),
    ];
    (how, any::<Index>(), any::<Index>(), any::<Index>()).prop_map(|(how, place, what, with)| Planting { how, place, what, with })
}

/// Texts with their secret: tokens that have a shape, and secrets in their surroundings.
fn texts() -> &'static [(String, String)] {
    static TEXTS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let tokens = secrets::tokens().into_iter().map(|token| (token.clone(), token));
        // A user with a password and no scheme counts at the beginning of a word only, and references and pointers put names behind a `/`.
        // No name that the API server takes has an `@`.
        tokens.chain(secrets::in_context().into_iter().filter(|(text, _)| !text.starts_with("reader:"))).collect()
    })
}

/// Pointers of the values that fit.
fn places(value: &Value, fits: &dyn Fn(&Value) -> bool) -> Vec<String> {
    fn walk(value: &Value, at: &str, fits: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
        if fits(value) {
            found.push(at.to_owned());
        }
        match value {
            Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| walk(item, &format!("{at}/{i}"), fits, found)),
            Value::Object(members) => {
                for (key, value) in members {
                    walk(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), fits, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(value, "", fits, &mut found);
    found
}

impl Planting {
    /// Plants, and tells the secret; none where it, or one of those planted before, would be none any more.
    fn plant(&self, objects: &mut Value, before: &[String]) -> Option<String> {
        let (text, secret) = self.what.get(texts()).clone();
        let name = secrets::NAMES[self.with.index(secrets::NAMES.len())];
        let fits: &dyn Fn(&Value) -> bool = match self.how {
            How::Whole | How::Joined(_) => &Value::is_string,
            How::Key(_) | How::Member => &Value::is_object,
            How::Variable => &|value| value.get("name").is_some(),
            // Among options; before a shell's script it would be the script.
            How::Words => &|value| {
                let items = value.as_array().into_iter().flatten();
                items.clone().all(Value::is_string) && items.clone().any(|item| item.as_str().is_some_and(|item| item.starts_with("--")))
            },
            How::WrongType(_) => &|_| true,
        };
        // All but the list of the objects.
        let places: Vec<String> = places(objects, fits).into_iter().filter(|place| !place.is_empty()).collect();
        // Nothing fits where another secret stands in place of the object.
        if places.is_empty() {
            return None;
        }
        let place: &String = self.place.get(&places);
        let value = objects.pointer_mut(place)?;
        match (&self.how, value) {
            (How::Whole, value) => *value = text.into(),
            (How::Joined(behind), value) => {
                let (old, joint) = (value.as_str()?, JOINTS[self.with.index(JOINTS.len())]);
                let joined = if *behind { format!("{old}{joint}{text}") } else { format!("{text}{joint}{old}") };
                // Joined to what stands there it may be no secret any more.
                let redacted = Redactor::standard().redact(&joined).0;
                if before.iter().chain([&secret]).any(|secret| redacted.contains(secret.as_str())) {
                    return None;
                }
                *value = joined.into();
            }
            (How::Key(renames), Value::Object(members)) => {
                let old = members.keys().nth(self.with.index(members.len().max(1))).cloned().unwrap_or_default();
                let value = if *renames { members.remove(&old) } else { members.get(&old).cloned() };
                members.insert(text, value.unwrap_or_default());
            }
            (How::Member, Value::Object(members)) => {
                members.insert(name.to_owned(), secret.clone().into());
            }
            (How::Variable, Value::Object(members)) => {
                members.insert("name".to_owned(), name.into());
                members.insert("value".to_owned(), secret.clone().into());
            }
            (How::Words, Value::Array(items)) => {
                let at = self.with.index(items.len() + 1);
                let option = if name.starts_with('-') { name.to_owned() } else { format!("--{name}") };
                items.splice(at..at, [option.into(), secret.clone().into()]);
            }
            (How::WrongType(shape), value) => {
                *value = match shape {
                    0 => text.into(),
                    1 => json!([text]),
                    2 => json!({ text.clone(): text }),
                    _ => json!([{ "name": text, "value": [text] }]),
                };
            }
            _ => return None,
        }
        Some(secret)
    }
}

/// The log, wherever it is written from.
#[derive(Clone, Copy)]
struct Log;

static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Everything that a scan of a text puts out, by what it is.
fn outputs(text: &str) -> Vec<(String, String)> {
    static CATALOGUE: OnceLock<(Host, Catalogue)> = OnceLock::new();
    // One test at a time: they share the log.
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let (_, catalogue) = CATALOGUE.get_or_init(|| {
        let log = k8s_aibom::logging::subscriber(EnvFilter::new("trace"), || Log, false);
        tracing::subscriber::set_global_default(log).unwrap();
        let host = Host::new(HostConfig { deadline: k8s_aibom::cli::OFFLINE_DEADLINE, ..HostConfig::default() }).unwrap();
        let (catalogue, errors) = Catalogue::load(&host, &common::plugins()).unwrap();
        assert!(errors.is_empty(), "{errors:?}");
        (host, catalogue)
    });
    let options = Options::new(k8s_aibom::cli::producer(), aibom_bom::format_timestamp(0));
    let pipeline = Pipeline { catalogue, rules: Rules::builtin(), origin: Origin::Manifest, options: &options };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("objects.yaml");
    fs::write(&path, text).unwrap();
    let inputs = [Source::File { path, name: "objects.yaml".to_owned() }];
    let mut outputs = Vec::new();
    for (format, explain) in
        [(Format::Table, false), (Format::Json, false), (Format::Cyclonedx, false), (Format::Table, true), (Format::Json, true)]
    {
        let what = format!("{format:?}{}", if explain { ", explained" } else { "" });
        let documents = (format == Format::Cyclonedx).then(|| folder.path().join("documents"));
        let presenter = Presenter { format, to_folder: documents.is_some(), explain };
        let errors = Rc::new(RefCell::new(String::new()));
        let mut out = Vec::new();
        let complain = {
            let errors = Rc::clone(&errors);
            move |line: &str| {
                errors.borrow_mut().push_str(line);
                errors.borrow_mut().push('\n');
            }
        };
        let mut writer = Writer::new(&mut out, presenter, documents.clone(), 1).unwrap().complaining_to(complain);
        let plan =
            Plan { inputs: &inputs, kinds: KindFilter::default(), workers: 1, alone: false, explain: explain.then_some(Explain::All) };
        let totals = scan::run(&pipeline, &plan, &presenter, &mut writer).unwrap();
        outputs.push((format!("{what}, kinds without a scraper"), writer.unread().join("\n")));
        writer.finish(&totals).unwrap();
        outputs.push((format!("{what}, errors"), errors.borrow().clone()));
        outputs.push((what, String::from_utf8(out).unwrap()));
        for entry in documents.into_iter().flat_map(|folder| fs::read_dir(folder).unwrap()) {
            let path = entry.unwrap().path();
            outputs.push(("name of a document".to_owned(), path.file_name().unwrap().to_str().unwrap().to_owned()));
            outputs.push(("a document".to_owned(), fs::read_to_string(path).unwrap()));
        }
    }
    outputs.push(("the log".to_owned(), String::from_utf8(std::mem::take(&mut *LOG.lock().unwrap())).unwrap()));
    drop(turn);
    outputs
}

/// As file names spell text, and near enough to how everything else does.
fn flat(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// Shortest part of a secret that counts.
const PART: usize = 12;

/// Outputs with a part of a secret, and the lines that hold it.
fn leaks<'a>(outputs: &'a [(String, String)], secrets: &[String]) -> Vec<String> {
    let parts: Vec<String> = secrets
        .iter()
        .flat_map(|secret| {
            let flat = flat(secret);
            (0..=flat.len() - PART).step_by(3).map(move |at| flat[at..at + PART].to_owned()).collect::<Vec<_>>()
        })
        .collect();
    let shows = |text: &'a str| {
        let flat = flat(text);
        parts.iter().any(|part| flat.contains(part.as_str()))
    };
    let leaking = outputs.iter().filter(|(_, text)| shows(text));
    leaking
        .map(|(what, text)| {
            let lines: Vec<&str> = text.lines().filter(|line| shows(line)).take(3).collect();
            format!("{what}: {}", lines.join("\n").chars().take(4000).collect::<String>())
        })
        .collect()
}

fn objects(family: &str) -> Value {
    let documents = family.split("\n---").map(|text| serde_saphyr::from_str::<Value>(text).unwrap());
    Value::Array(documents.collect())
}

/// One document for each object. JSON is YAML, and leaves no doubt about quotes.
fn manifest(objects: &Value) -> String {
    objects.as_array().unwrap().iter().flat_map(|object| ["---\n".to_owned(), object.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn the_objects_to_plant_in_are_all_reported() {
    for family in FAMILIES {
        let outputs = outputs(&manifest(&objects(family)));
        let (_, json) = outputs.iter().find(|(what, _)| what == "Json").unwrap();
        let documented = json.lines().filter(|line| line.contains("\"outcome\":\"documented\"")).count();
        let expected = objects(family)
            .as_array()
            .unwrap()
            .iter()
            .filter(|object| object["spec"]["source"].is_null() && object["kind"] != "ServingRuntime")
            .count();
        assert_eq!(documented, expected, "{json}");
        assert!(
            leaks(&outputs, &["registry.lake.example/dynamo".to_owned()]).is_empty() != family.contains("heron"),
            "what is there is found"
        );
    }
}

/// Places whose text ends up in many others: names, keys that pointers hold, images, models, words of commands.
const PLACES: &[(usize, &str)] = &[
    (0, "/0/metadata/name"),
    (0, "/0/metadata/namespace"),
    (0, "/0/kind"),
    (0, "/0/apiVersion"),
    (0, "/0/spec/template/spec/containers/0/image"),
    (0, "/0/spec/template/spec/containers/0/name"),
    (0, "/0/spec/template/spec/containers/0/command/2"),
    (0, "/0/spec/template/spec/containers/0/args/3"),
    (0, "/0/spec/template/spec/containers/1/env/0/value"),
    (0, "/0/spec/template/spec/volumes/1/nfs/server"),
    (2, "/0/spec/services/Work/modelRef/name"),
    (2, "/0/spec/services/Work/pvc/name"),
    (3, "/0/spec/storage/nimCache/name"),
    (3, "/1/spec/source/ngc/modelPuller"),
    (4, "/0/spec/predictor/model/storageUri"),
    (4, "/0/spec/predictor/model/runtime"),
    (4, "/2/spec/predictor/model/storage/parameters/bucket"),
];

#[test]
fn every_shape_of_secret_is_in_no_output_from_places_that_many_outputs_show() {
    let mut shown = Vec::new();
    for (text, secret) in texts() {
        let mut planted = Vec::new();
        for (family, place) in PLACES {
            let mut objects = objects(FAMILIES[*family]);
            *objects.pointer_mut(place).unwrap() = text.clone().into();
            planted.push(manifest(&objects));
        }
        let mut graph = objects(FAMILIES[2]);
        let services = graph.pointer_mut("/0/spec/services").unwrap().as_object_mut().unwrap();
        let service = services.remove("Work").unwrap();
        services.insert(text.clone(), service);
        planted.push(manifest(&graph));
        let leaks = leaks(&outputs(&planted.concat()), std::slice::from_ref(secret));
        shown.extend(leaks.into_iter().map(|leak| format!("{text} in {leak}")));
    }
    assert!(shown.is_empty(), "{} leaks: {:#?}", shown.len(), &shown[..shown.len().min(12)]);
}

#[test]
fn an_error_names_a_place_and_no_secret() {
    let mut shown = Vec::new();
    for (text, secret) in texts() {
        let quoted = Value::from(text.as_str()).to_string();
        let name = secrets::NAMES[text.len() % secrets::NAMES.len()].trim_start_matches('-');
        let broken = [
            format!("{name}: *{secret}"),
            format!("{name}: &{secret} ["),
            format!("{name}: !{secret} x: ["),
            format!("{name}: !{secret} {{a: 1}}"),
            format!("{name}: !{secret}!x y"),
            format!("{name}: !!int {quoted}"),
            format!("{name}: !!float {quoted}"),
            format!("{name}: !!bool {quoted}"),
            format!("{name}: !!null {quoted}"),
            format!("{name}: !!binary {quoted}"),
            format!("{name}: !!seq {quoted}"),
            format!("{name}: %{text}"),
            format!("{name}: `{text}`"),
            format!("{name}: @{text}"),
            format!("{name}: {text}: b: c"),
            format!("{name}: |{text}"),
            format!("{{{quoted}: 1, {quoted}: 2}}"),
            format!("{quoted}: 1\n{quoted}: 2"),
            format!("? [{quoted}]\n: 1"),
            format!("{quoted}: [1"),
            format!("a: \"\\q{secret}\""),
            format!("apiVersion: {quoted}\nkind: {quoted}\nmetadata: {{name: [{quoted}]}}"),
            format!("{{\"a\": {secret}}} x"),
        ];
        let yaml = broken.join("\n---\n");
        let json =
            format!("{{\"a\":1}}\n{{\"{name}\": {secret}}}\n{{{quoted}:1,{quoted}:2}}\n[{quoted} {quoted}]\n{{\"{name}\":{quoted}x}}\n");
        let outputs = [outputs(&yaml), outputs(&json)].concat();
        assert!(outputs.iter().any(|(what, text)| what.ends_with("errors") && text.lines().count() > 3), "{outputs:#?}");
        // Names of members are no secrets unless they look like one.
        shown.extend(leaks(&outputs, std::slice::from_ref(secret)).into_iter().map(|leak| format!("{text} in {leak}")));
    }
    assert!(shown.is_empty(), "{} leaks: {:#?}", shown.len(), &shown[..shown.len().min(12)]);
}

#[test]
fn a_log_line_hides_what_a_document_hides() {
    // One that can be a name.
    let (text, secret) = texts().iter().find(|(text, _)| text.starts_with("pul-")).unwrap().clone();
    // Two objects that are equally near are told in the log, by name.
    let store = |name: &str, profile: &str| json!({"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMCache", "metadata": {"name": name}, "spec": {"profile": profile}});
    let service = json!({"apiVersion": "apps.nvidia.com/v1alpha1", "kind": "NIMService", "metadata": {"name": "s"},
        "spec": {"image": {"repository": "nvcr.io/nim/acme/x"}, "storage": {"nimCache": {"name": text}}}});
    let outputs = outputs(&manifest(&json!([store(&text, "a"), store(&text, "b"), service])));
    let (_, log) = outputs.iter().find(|(what, _)| what == "the log").unwrap();
    assert!(log.contains("equally near") && log.contains("[REDACTED:token]"), "{log}");
    assert!(leaks(&outputs, &[secret]).is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_secret_planted_anywhere_is_in_no_output(family in any::<Index>(), plantings in prop::collection::vec(planting(), 1..4)) {
        let mut objects = objects(FAMILIES[family.index(FAMILIES.len())]);
        let mut secrets = Vec::new();
        for planting in &plantings {
            secrets.extend(planting.plant(&mut objects, &secrets));
        }
        let text = manifest(&objects);
        let leaks = leaks(&outputs(&text), &secrets);
        prop_assert!(leaks.is_empty(), "{secrets:?} of\n{text}\nin {leaks:#?}");
    }
}
