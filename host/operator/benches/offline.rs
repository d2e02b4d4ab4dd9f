//! Figures of the way of one object without a cluster: `cargo xtask bench offline`. Prints; asserts nothing, because a busy machine is
//! no fault of the code.

#![allow(clippy::print_stdout, reason = "the figures are the product")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aibom_artifact::directory;
use aibom_bom::Options;
use aibom_extract::Rules;
use aibom_facts::inventory::Origin;
use aibom_facts::tree::Tree;
use aibom_plugin::{Host, HostConfig};
use k8s_aibom::catalogue::Catalogue;
use k8s_aibom::pipeline::{NO_OPTIONS, Pipeline};
use k8s_aibom::scan::sources::Source;
use k8s_aibom::scan::{self, Finding, KindFilter, Plan, Present, Sink, faults::Fault};
use k8s_aibom::usage;

fn main() -> anyhow::Result<()> {
    if std::env::args().any(|argument| argument == "--list") {
        return Ok(()); // `cargo test --benches` asks for names
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let plugins = root.join("target/plugins");
    println!("{:44} {:>14} {:>14}", "what", "measured", "target");
    let started = Instant::now();
    let host = Host::new(HostConfig::default())?;
    row("engine start", &millis(started.elapsed()), "-");
    for artifact in directory::read(&plugins)? {
        let artifact = artifact?;
        let started = Instant::now();
        host.load(&artifact.name, &artifact.bytes)?;
        row(&format!("plugin load, cold: {} ({} KB)", artifact.name, artifact.bytes.len() / 1000), &millis(started.elapsed()), "<= 300 ms");
    }
    let (catalogue, _) = Catalogue::load(&host, &plugins)?;
    let options = Options::new(k8s_aibom::cli::producer(), aibom_bom::format_timestamp(0));
    let pipeline = Pipeline { catalogue: &catalogue, rules: Rules::builtin(), origin: Origin::Manifest, options: &options };
    for (what, json) in [("deployment", deployment(0, 290)), ("graph of 4 components", graph(0, 70))] {
        calls(&pipeline, what, &json)?;
    }
    stages(&pipeline, &deployment(0, 25))?;
    stages(&pipeline, &graph(0, 4))?;
    let folder = tempfile::tempdir()?;
    let inputs = generate(folder.path(), 4_000)?;
    end_to_end(&pipeline, "end to end, generated manifests", &inputs)?;
    let samples = root.join("../shared/corpus/samples");
    if samples.is_dir() {
        let (inputs, _) = k8s_aibom::scan::sources::collect(&[samples]);
        end_to_end(&pipeline, "end to end, public manifests", &inputs)?;
    } else {
        println!("SKIPPED: end to end over public manifests, because ../shared is absent");
    }
    row("peak resident memory", &mebibytes(usage::peak_resident_bytes()), "<= 80 MiB");
    row("resident memory now", &mebibytes(usage::resident_bytes()), "-");
    row("anonymous memory now", &mebibytes(usage::anonymous_bytes()), "-");
    Ok(())
}

fn row(what: &str, measured: &str, target: &str) {
    println!("{what:44} {measured:>14} {target:>14}");
}

fn millis(elapsed: Duration) -> String {
    format!("{:.1} ms", elapsed.as_secs_f64() * 1e3)
}

fn mebibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "not known here".to_owned(), |bytes| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)))
}

/// Latency of `related` and of `scrape`, each with a fresh instance.
fn calls(pipeline: &Pipeline<'_>, what: &str, json: &str) -> anyhow::Result<()> {
    let tree = Tree::from_json(json.as_bytes())?;
    let reference = aibom_facts::object::ObjectRef::of(&tree).ok_or_else(|| anyhow::anyhow!("no object"))?;
    let plugin = pipeline.catalogue.plugin_for(&reference)?;
    let view = Arc::new(plugin.view(&tree, tree.root()));
    let mut related: Vec<Duration> = Vec::with_capacity(10_000);
    let mut scrape: Vec<Duration> = Vec::with_capacity(10_000);
    let mut templates = 0;
    for _ in 0..10_000 {
        let started = Instant::now();
        let wants = plugin.related(&view, NO_OPTIONS)?;
        related.push(started.elapsed());
        let absent = vec![None; wants.len()];
        let started = Instant::now();
        let scraped = plugin.scrape(&view, &absent, NO_OPTIONS)?;
        scrape.push(started.elapsed());
        templates += scraped.report.pod_templates.len();
    }
    anyhow::ensure!(templates > 0, "the scraper reported no pod template");
    let name = format!("{what}, {} KB", json.len() / 1000);
    let show = |call: &str, mut times: Vec<Duration>| {
        times.sort();
        let micros = |percent: usize| format!("{:.0} us", times[times.len() * percent / 100].as_secs_f64() * 1e6);
        row(&format!("{call}, {name}: p50"), &micros(50), "<= 100 us");
        row(&format!("{call}, {name}: p99"), &micros(99), "<= 2 ms");
    };
    // A scraper without related kinds is not asked for them.
    if !plugin.description().related.is_empty() {
        show("related", related);
    }
    show("scrape", scrape);
    Ok(())
}

/// Where the time of one object goes.
fn stages(pipeline: &Pipeline<'_>, json: &str) -> anyhow::Result<()> {
    let mut text = String::new();
    write_yaml(&serde_json::from_str(json)?, 0, &mut text);
    let rounds = 1_000;
    let mut spent = [Duration::ZERO; 5];
    let mut kind = String::new();
    for _ in 0..rounds {
        let mut last = Instant::now();
        let mut lap = |stage: usize| {
            let now = Instant::now();
            spent[stage] += now - last;
            last = now;
        };
        let document = scan::documents::read(&text).last();
        let Some(Ok(scan::documents::Content::Objects { objects, .. })) = document.map(|document| document.content) else {
            anyhow::bail!("no object in the generated text");
        };
        let object = &objects[0];
        lap(0);
        let plugin = pipeline.catalogue.plugin_for(&object.reference)?;
        let view = Arc::new(plugin.view(&object.tree, object.root));
        let wants = plugin.related(&view, NO_OPTIONS)?;
        let scraped = plugin.scrape(&view, &vec![None; wants.len()], NO_OPTIONS)?;
        lap(1);
        let trees = [Some(&*view)];
        let subject = aibom_extract::Subject {
            objects: std::slice::from_ref(&object.reference),
            trees: &trees,
            sought: &[],
            report: &scraped.report,
            origin: pipeline.origin,
        };
        let inventory = aibom_extract::extract(pipeline.rules, &subject);
        lap(2);
        let document = aibom_bom::render(&inventory, pipeline.options);
        lap(3);
        let violations = document.lint();
        lap(4);
        anyhow::ensure!(violations.is_empty(), "a broken rule");
        kind.clone_from(&object.reference.kind);
    }
    let micros = |stage: usize| spent[stage].as_secs_f64() * 1e6 / f64::from(rounds);
    println!(
        "  {kind} of {} bytes of YAML: parse {:.0}, scrape {:.0}, extract {:.0}, render {:.0}, lint {:.0} us",
        text.len(),
        micros(0),
        micros(1),
        micros(2),
        micros(3),
        micros(4)
    );
    Ok(())
}

/// Text to rendered document, with one worker: objects per second and core.
fn end_to_end(pipeline: &Pipeline<'_>, what: &str, inputs: &[Source]) -> anyhow::Result<()> {
    let mut sink = Count::default();
    let started = Instant::now();
    let plan = Plan { inputs, kinds: KindFilter::default(), workers: 1, alone: false, explain: None };
    let totals = scan::run(pipeline, &plan, &Measure, &mut sink)?;
    let seconds = started.elapsed().as_secs_f64();
    let scraped = totals.documented + totals.not_ai;
    row(&format!("{what}: objects/s per core"), &format!("{:.0}", scraped as f64 / seconds), ">= 2000");
    println!(
        "  {scraped} objects scraped of {} in {} files, {} documents of {} KB in all, {seconds:.2} s",
        totals.objects,
        totals.inputs,
        totals.documented,
        sink.bytes / 1000
    );
    Ok(())
}

/// Counts what would be written.
#[derive(Default)]
struct Count {
    bytes: usize,
}

struct Measure;

impl Present for Measure {
    type Shown = usize;

    fn present(&self, finding: Finding) -> usize {
        match &finding.outcome {
            k8s_aibom::pipeline::Outcome::Documented { document, .. } => document.json().len(),
            _ => 0,
        }
    }
}

impl Sink<usize> for Count {
    fn finding(&mut self, bytes: usize) -> anyhow::Result<()> {
        self.bytes += bytes;
        Ok(())
    }

    fn fault(&mut self, _: &Fault) {}
    fn warning(&mut self, _: &Fault) {}

    fn progress(&mut self, _: usize, _: &str) {}
}

fn env(count: usize) -> String {
    (0..count).fold(String::new(), |mut list, index| {
        let comma = if index == 0 { "" } else { "," };
        let _ = write!(list, r#"{comma}{{"name":"SETTING_{index}","value":"some value of usual length {index}"}}"#);
        list
    })
}

fn deployment(number: usize, variables: usize) -> String {
    format!(
        r#"{{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"server-{number}","namespace":"bench"}},"spec":{{"replicas":2,"selector":{{"matchLabels":{{"app":"x"}}}},"template":{{"metadata":{{"labels":{{"app":"x"}}}},"spec":{{"containers":[{{"name":"engine","image":"vllm/vllm-openai:v0.8.5","args":["--model","acme/model-{number}","--tensor-parallel-size","2","--max-model-len=8192"],"env":[{}],"resources":{{"limits":{{"nvidia.com/gpu":"2"}}}},"volumeMounts":[{{"name":"cache","mountPath":"/cache"}}]}}],"volumes":[{{"name":"cache","persistentVolumeClaim":{{"claimName":"weights"}}}}]}}}}}}}}"#,
        env(variables)
    )
}

fn graph(number: usize, variables: usize) -> String {
    let component = |name: &str, kind: &str| {
        format!(
            r#"{{"name":"{name}","type":"{kind}","replicas":1,"podTemplate":{{"spec":{{"containers":[{{"name":"main","image":"nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.0.0","command":["python3","-m","dynamo.vllm"],"args":["--model","acme/model-{number}"],"env":[{}]}}]}}}}}}"#,
            env(variables)
        )
    };
    format!(
        r#"{{"apiVersion":"nvidia.com/v1beta1","kind":"DynamoGraphDeployment","metadata":{{"name":"graph-{number}","namespace":"bench"}},"spec":{{"backendFramework":"vllm","components":[{},{},{},{}]}}}}"#,
        component("front", "frontend"),
        component("plan", "planner"),
        component("fill", "prefill"),
        component("speak", "decode")
    )
}

/// Manifests of about 3 KB, ten to a file, mostly plain workloads.
fn generate(folder: &Path, count: usize) -> anyhow::Result<Vec<Source>> {
    let mut inputs = Vec::new();
    for file in 0..count / 10 {
        let mut text = String::new();
        for number in file * 10..file * 10 + 10 {
            let object = if number % 5 == 0 { graph(number, 4) } else { deployment(number, 25) };
            let tree: serde_json::Value = serde_json::from_str(&object)?;
            text.push_str("---\n");
            write_yaml(&tree, 0, &mut text);
        }
        let path: PathBuf = folder.join(format!("{file}.yaml"));
        std::fs::write(&path, text)?;
        inputs.push(Source::File { name: path.display().to_string(), path });
    }
    Ok(inputs)
}

/// Block-style YAML of a JSON value, as people write manifests.
fn write_yaml(value: &serde_json::Value, indent: usize, text: &mut String) {
    let pad = "  ".repeat(indent);
    match value {
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                if member.is_object() || member.is_array() {
                    let _ = writeln!(text, "{pad}{key}:");
                    write_yaml(member, indent + 1, text);
                } else {
                    let _ = writeln!(text, "{pad}{key}: {member}");
                }
            }
        }
        serde_json::Value::Array(items) => {
            for item in items {
                if item.is_object() {
                    let _ = writeln!(text, "{pad}-");
                    write_yaml(item, indent + 1, text);
                } else {
                    let _ = writeln!(text, "{pad}- {item}");
                }
            }
        }
        scalar => {
            let _ = writeln!(text, "{pad}{scalar}");
        }
    }
}
