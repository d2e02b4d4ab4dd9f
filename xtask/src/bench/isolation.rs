//! `cargo xtask bench isolation`: whether a third-party kind that is out of order makes others wait.

use std::thread;
use std::time::{Duration, Instant};

use aibom_control_plane::wait_until;
use aibom_control_plane::webhook::{Webhook, convert_graph};
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::figures::{Figure, percentile, table};
use super::observer::{is_status, work};
use super::{load, machine, steps};
use crate::stage::{Build, OPTED_IN, Operator, Stage};
use crate::workspace::{Workspace, note, step};

#[derive(Args)]
pub(crate) struct IsolationArgs {
    /// Deployments in each state
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(4..=5000))]
    deployments: u32,
}

const NAMESPACE: &str = "bench";

/// States take turns, so that whatever else the machine does meets both.
const TURNS: usize = 4;

const SOON: Duration = Duration::from_mins(2);

/// What a kind out of order may cost others: latency in the sick state by that in the healthy one.
const MOST: f64 = 1.2;

pub(crate) fn measure(workspace: &Workspace, args: &IsolationArgs) -> Result<()> {
    let build = Build::find(workspace, None)?;
    let stage = Stage::start(workspace, &build, &[])?;
    let webhook = Webhook::start(&stage.plane, convert_graph)?;
    // Objects that were stored before the version was changed can be read through the webhook only.
    for storage in ["v1alpha1", "v1beta1"] {
        stage.plane.define(&definition(storage, &webhook.conversion()))?;
        if storage == "v1alpha1" {
            stage.plane.create_namespace(NAMESPACE, &[OPTED_IN])?;
            let created = || Ok(stage.plane.apply(&graph().to_string()).map(|_| ()).map_err(|error| error.to_string()));
            wait_until("a graph", SOON, created)?;
        }
    }
    step("Starting the operator as the ServiceAccount of the chart");
    let config = json!({ "apiVersion": "aibom.k8saibom.dev/v1beta1", "kind": "AIBOMControllerConfig", "metadata": { "name": "default" }, "spec": {} });
    stage.plane.apply(&config.to_string())?;
    let operator = stage.operator(&["--watch-probe-interval=2"])?;
    let each = args.deployments as usize / (TURNS / 2);
    let (mut healthy, mut sick) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let is_sick = turn % 2 == 1;
        if is_sick {
            webhook.stop();
        } else {
            webhook.resume()?;
        }
        wait_health(&stage, if is_sick { "Unhealthy" } else { "Healthy" })?;
        step(format!("{each} Deployments while the other kind is {}", if is_sick { "out of order" } else { "well" }));
        let waits = burst(&stage, &operator, turn * each, each)?;
        if is_sick { &mut sick } else { &mut healthy }.extend(waits);
    }
    healthy.sort();
    sick.sort();
    let part = |waits: &[Duration], part: f64| percentile(waits, part).unwrap_or(f64::NAN);
    let mut figures = Vec::new();
    for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
        let (well, ill) = (part(&healthy, share), part(&sick, share));
        figures.push(Figure::new(format!("creation to AIBOM, {name}, all kinds well"), well, "s"));
        figures.push(Figure::new(format!("creation to AIBOM, {name}, one out of order"), ill, "s"));
        figures.push(Figure::new("  ratio", ill / well, "").at_most(MOST));
    }
    operator.stop()?;
    println!(
        "{}\n{}",
        machine(workspace),
        table(&format!("{} Deployments beside a kind whose conversion webhook is dead", healthy.len() + sick.len()), &figures)
    );
    Ok(())
}

/// How long each of a burst of Deployments waits for its AIBOM. It is over when each has one: with probes this close together the operator
/// never becomes quiet.
fn burst(stage: &Stage, operator: &Operator, first: usize, count: usize) -> Result<Vec<Duration>> {
    let mark = stage.plane.audit().mark();
    load::create(&stage.plane, count, |number| load::deployment(NAMESPACE, first + number))?;
    let created = stage.plane.audit().since(mark)?.on("deployments").with_verb("create").filter(|entry| entry.code == 201);
    let began = Instant::now();
    let waits = loop {
        operator.check()?;
        let statuses = work(&stage.requests(mark)?).filter(is_status);
        let waits = steps::create_to_ready(&created, &statuses);
        if waits.len() == count {
            break waits;
        }
        anyhow::ensure!(began.elapsed() < SOON, "{} of {count} Deployments have an AIBOM after {} s", waits.len(), SOON.as_secs());
        thread::sleep(Duration::from_millis(500));
    };
    note(format!("p50 {:.2} s", percentile(&waits, 0.5).unwrap_or(f64::NAN)));
    Ok(waits)
}

fn wait_health(stage: &Stage, health: &str) -> Result<()> {
    Ok(wait_until(&format!("a kind that is {health}"), SOON, || {
        let config = stage.plane.get_json(&["aibomcontrollerconfig", "default"])?;
        let kinds = config["status"]["kinds"].as_array().cloned().unwrap_or_default();
        let found = kinds.iter().find(|kind| kind["kind"] == KIND).map(|kind| kind["health"].clone()).unwrap_or_default();
        Ok(if found == health { Ok(()) } else { Err(found.to_string()) })
    })?)
}

const GROUP: &str = "nvidia.com";
const PLURAL: &str = "dynamographdeployments";
const KIND: &str = "DynamoGraphDeployment";

/// The definition of a kind with two versions that takes everything.
fn definition(storage: &str, conversion: &Value) -> Value {
    let schema = json!({ "openAPIV3Schema": { "type": "object", "x-kubernetes-preserve-unknown-fields": true } });
    let versions =
        ["v1alpha1", "v1beta1"].map(|version| json!({ "name": version, "served": true, "storage": version == storage, "schema": schema }));
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": { "name": format!("{PLURAL}.{GROUP}") },
        "spec": {
            "group": GROUP, "scope": "Namespaced", "versions": versions, "conversion": conversion,
            "names": { "plural": PLURAL, "singular": KIND.to_lowercase(), "kind": KIND, "listKind": format!("{KIND}List") },
        },
    })
}

fn graph() -> Value {
    json!({
        "apiVersion": format!("{GROUP}/v1alpha1"), "kind": KIND, "metadata": { "name": "graph", "namespace": NAMESPACE },
        "spec": { "services": { "Worker": { "componentType": "worker", "extraPodSpec": { "mainContainer": {
            "image": "registry.example/ai-dynamo/vllm-runtime:1.0.0", "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "acme/quill-7b"],
        } } } } },
    })
}
