//! `cargo xtask bench cluster`: what the operator costs on a real API server, beside its budgets and the Go operator.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::Value;

use super::budgets::Budget;
use super::figures::{Figure, table};
use super::observer::list;
use super::{machine, steps};
use crate::stage::{Build, Operator, Stage};
use crate::workspace::{Workspace, note, step};

#[derive(Args)]
#[command(after_help = "Times and CPU seconds mean something on a machine that does nothing else; counts and memory hold anywhere.\n\n\
    Examples:\n  cargo xtask bench cluster --quick                  five minutes: 1,001 Deployments, a minute of idling\n  \
    cargo xtask bench cluster --deployments 6001       another number, for example of your cluster\n  \
    cargo xtask bench cluster --deployments 10000 --pods  50,000 pods that belong to them, and 10,000 changes of status\n  \
    cargo xtask bench cluster --binary old/k8s-aibom   the figures of another build\n\n  \
    What the image holds is smaller than what tests run:\n  \
    cargo build --profile dist --bin k8s-aibom && cargo xtask bench cluster --binary target/dist/k8s-aibom")]
pub(crate) struct ClusterArgs {
    /// Numbers of Deployments; each gets a control plane of its own, and the first one all steps [default: 1001,10000, with --quick 1001]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=50_000))]
    deployments: Vec<u32>,

    /// A minute of idling instead of five, and no 10,000 Deployments
    #[arg(long)]
    quick: bool,

    /// Minutes of idling [default: 5, with --quick 1]
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=120))]
    idle: Option<u32>,

    /// Instead of the steps after the restart, so many pods that belong to the first number of Deployments, whose controller does not run
    /// [default: 50000]
    #[arg(long, value_name = "N", default_missing_value = "50000", num_args = 0..=1, value_parser = clap::value_parser!(u32).range(1..=200_000))]
    pods: Option<u32>,

    /// Measure this operator instead of building one; it takes its scrapers from the folder `plugins` beside it or one folder up
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Pods in a namespace that is not opted in.
const FOREIGN_PODS: usize = 5000;

pub(crate) fn measure(workspace: &Workspace, args: &ClusterArgs) -> Result<()> {
    let build = Build::find(workspace, args.binary.as_deref())?;
    let numbers = match (args.deployments.as_slice(), args.quick) {
        ([], true) => vec![1001],
        ([], false) => vec![1001, 10_000],
        (given, _) => given.to_vec(),
    };
    let began = Instant::now();
    let mut tables = format!("{}\n", machine(workspace));
    for (index, number) in numbers.iter().enumerate() {
        let idle = args.idle.unwrap_or(if args.quick { 1 } else { 5 });
        let scope = (index == 0).then_some(idle);
        let pods = args.pods.filter(|_| index == 0).map(|pods| pods as usize);
        tables += &series(workspace, &build, *number as usize, scope, pods)?;
    }
    step(format!("Figures, after {:.0} min. A budget that is missed is marked, and no error", began.elapsed().as_secs_f64() / 60.0));
    println!("{tables}");
    Ok(())
}

/// Everything with one number of Deployments, on a control plane of its own. Steps after the restart only where minutes of idling are given.
fn series(workspace: &Workspace, build: &Build, deployments: usize, idle_minutes: Option<u32>, pods: Option<usize>) -> Result<String> {
    // The pods belong to the Deployments themselves: a ReplicaSet of each would only keep the API server busy for minutes.
    let controllers: &[&str] = if pods.is_some() { &["--controllers=*,-deployment-controller"] } else { &[] };
    let stage = Stage::start(workspace, build, controllers)?;
    step("Starting the operator as the ServiceAccount of the chart");
    let operator = stage.operator(&[])?;
    let budget = Budget::of(deployments);
    let mut tables = String::new();
    let mut add = |title: &str, figures: &[Figure]| {
        let text = table(title, figures);
        // Each step at once, since the whole takes a while and a later one may fail.
        eprint!("{text}");
        tables += "\n";
        tables += &text;
    };
    add(&format!("Burst of {deployments} Deployments"), &steps::burst(&stage, &operator, deployments)?);
    complaints(&operator)?;
    let (mut operator, figures) = steps::restart(&stage, operator, &budget, &[])?;
    add(&format!("Restart over {deployments} workloads"), &figures);
    if let Some(pods) = pods {
        add(&format!("{pods} pods of {deployments} workloads"), &steps::pods(&stage, &operator, deployments, pods)?);
        complaints(&operator)?;
        operator.stop()?;
        return Ok(tables);
    }
    if let Some(minutes) = idle_minutes {
        add(&format!("Idle with {deployments} workloads"), &steps::idle(&stage, &operator, minutes)?);
        add("Churn without meaning", &steps::churn(&stage, &operator, deployments)?);
        add(&format!("{FOREIGN_PODS} pods in a namespace that is not opted in"), &steps::foreign_pods(&stage, &operator, FOREIGN_PODS)?);
        complaints(&operator)?;
        let (new, figures) = steps::restart(&stage, operator, &budget, &[])?;
        add("Restart with these pods (Go: 227 MiB RSS)", &figures);
        // As it is with more namespaces than can be watched one by one.
        let (new, figures) = steps::restart(&stage, new, &budget, &["--pod-watch-namespaces=0"])?;
        operator = new;
        add("Restart with these pods, and pods of the whole cluster watched", &figures);
    }
    complaints(&operator)?;
    let refused = stage.requests(stage.plane.audit().start())?.filter(|entry| entry.code >= 400);
    if !refused.is_empty() {
        note(format!("requests that were refused, all steps together: {}", list(&refused)));
    }
    operator.stop()?;
    Ok(tables)
}

/// Says what the operator warned of, each message once.
fn complaints(operator: &Operator) -> Result<()> {
    let found = warnings(operator.log())?;
    for (message, (count, example)) in &found {
        note(format!("the log of the operator has {count} of: {message}"));
        note(format!("  {}", example.chars().take(400).collect::<String>()));
    }
    Ok(())
}

/// Warnings and errors in a log of JSON lines by their message: how many, and the first one. A line of another form is one, too.
fn warnings(log: &Path) -> Result<BTreeMap<String, (usize, String)>> {
    let text = fs::read_to_string(log).with_context(|| format!("could not read {}", log.display()))?;
    let mut found: BTreeMap<String, (usize, String)> = BTreeMap::new();
    for line in text.lines() {
        let parsed: Value = serde_json::from_str(line).unwrap_or_default();
        let level = parsed["level"].as_str().unwrap_or_default().to_lowercase();
        if matches!(level.as_str(), "info" | "debug" | "trace") {
            continue;
        }
        let message = ["message", "msg"].iter().find_map(|key| parsed[key].as_str().or(parsed["fields"][key].as_str()));
        found.entry(message.unwrap_or(line).to_owned()).or_insert_with(|| (0, line.to_owned())).0 += 1;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_counted_by_message_and_what_is_no_json_is_shown() {
        let folder = std::env::temp_dir().join(format!("xtask-bench-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let log = folder.join("log");
        let line = |level: &str, message: &str| format!("{{\"level\":\"{level}\",\"msg\":\"{message}\"}}\n");
        fs::write(&log, [line("INFO", "fine"), line("WARN", "slow"), line("warn", "slow"), "thread panicked\n".to_owned()].concat())
            .unwrap();
        let found = warnings(&log).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found["slow"].0, 2);
        assert_eq!(found["thread panicked"].0, 1);
        assert_eq!(found.len(), 2);
    }
}
