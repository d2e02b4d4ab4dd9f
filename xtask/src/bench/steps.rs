//! The steps: each does something to a cluster with the operator on it, and gives figures.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use aibom_control_plane::audit::{Entries, Entry};
use anyhow::Result;

use super::budgets::{Budget, FOREIGN_PODS, IDLE_CPU, IDLE_REQUESTS, POD_CPU, PODS_RSS, WRITES_PER_WORKLOAD};
use super::figures::{Figure, mib, percentile};
use super::load;
use super::observer::{is_status, list, server_times, wait_until_quiet, work};
use crate::stage::{OPTED_IN, Operator, Stage};
use crate::workspace::{note, step};

/// The namespace that is opted in.
const NAMESPACE: &str = "bench";

/// The one that is not.
const FOREIGN: &str = "shop";

/// Deployments that are changed without anything to report.
const CHURNED: usize = 100;

/// Pods whose status is changed without anything to report.
const CHURNED_PODS: usize = 10_000;

/// Names of AIBOMs of Deployments begin so.
const AIBOM: &str = "apps-deployment-";

/// For what is over within seconds.
const SOON: Duration = Duration::from_mins(2);

/// Creates Deployments in one burst.
pub(crate) fn burst(stage: &Stage, operator: &Operator, count: usize) -> Result<Vec<Figure>> {
    step(format!("Burst: creating {count} Deployments without pods in a namespace that is opted in"));
    stage.plane.create_namespace(NAMESPACE, &[OPTED_IN])?;
    // It begins to look at the namespace.
    wait_until_quiet(stage, operator, stage.plane.audit().mark(), 0, SOON)?;
    let (mark, before) = (stage.plane.audit().mark(), operator.usage()?);
    note(format!("empty: {:.1} MiB RSS, {:.1} anonymous", mib(before.rss_kib), mib(before.anonymous_rss_kib)));
    load::create(&stage.plane, count, |number| load::deployment(NAMESPACE, number))?;
    note("created; waiting for AIBOMs");
    let quiet = wait_until_quiet(stage, operator, mark, count, SOON + Duration::from_millis(60) * u32::try_from(count)?)?;
    let all = stage.plane.audit().since(mark)?;
    let created = all.on("deployments").with_verb("create").in_namespace(NAMESPACE).filter(|entry| entry.code == 201);
    let ours = stage.requests(mark)?;
    let requests = work(&ours);
    let statuses = requests.filter(is_status);
    let aiboms = requests.writes().on("aiboms");
    let first = created.iter().map(|entry| entry.time).min();
    let end = |entries: &Entries| entries.iter().map(answered).max();
    let since_first = |time: Option<SystemTime>| seconds(first, time);
    let waits = create_to_ready(&created, &statuses);
    note(format!("requests: {}", list(&requests)));
    note(format!("the last of them {:.1} s after the first creation", since_first(quiet.last)));
    note(format!("writes of the operator under way at the same time, on average: {:.1}", under_way(&aiboms)));
    note(format!("the API server took for a creation {}; for a write of the operator {}", server_times(&created), server_times(&aiboms)));
    let budget = Budget::of(count);
    let name = stage.plane.get_json(&["deployment", &load::name(0), "--namespace", NAMESPACE, "--show-managed-fields"])?;
    note(format!("a Deployment has {} bytes of JSON as it is stored", name.to_string().len()));
    Ok(vec![
        Figure::new("Deployments created", created.len() as f64, ""),
        Figure::new("  within", since_first(end(&created)), "s").go("4.2"),
        Figure::new(if quiet.reached { "AIBOMs that are Ready" } else { "AIBOMs that are Ready (NOT ALL)" }, ready(stage)? as f64, ""),
        Figure::new("  first creation to the last of them", since_first(first_writes(&statuses).values().copied().max()), "s")
            .at_most(budget.all.0)
            .go(budget.all.1),
        Figure::new("  creation to AIBOM, p50", percentile(&waits, 0.5).unwrap_or(f64::NAN), "s").at_most(budget.p50.0).go(budget.p50.1),
        Figure::new("  creation to AIBOM, p99", percentile(&waits, 0.99).unwrap_or(f64::NAN), "s").at_most(budget.p99.0).go(budget.p99.1),
        Figure::new("writes of AIBOMs per workload", aiboms.len() as f64 / count as f64, "").at_most(WRITES_PER_WORKLOAD).go("3"),
        Figure::new("other writes (events, configuration)", (requests.writes().len() - aiboms.len()) as f64, ""),
        Figure::new("CPU until quiet", quiet.usage.cpu_seconds - before.cpu_seconds, "s")
            .at_most(budget.burst_cpu.0)
            .go(budget.burst_cpu.1),
        Figure::new("RSS when quiet", mib(quiet.usage.rss_kib), "MiB").at_most(budget.rss.0).go(budget.rss.1),
        Figure::new("  anonymous", mib(quiet.usage.anonymous_rss_kib), "MiB").at_most(budget.anonymous.0).go(budget.anonymous.1),
        Figure::new("  most it ever was", mib(quiet.usage.peak_rss_kib), "MiB"),
    ])
}

/// Ends the operator and starts it again.
pub(crate) fn restart(stage: &Stage, operator: Operator, budget: &Budget, args: &[&str]) -> Result<(Operator, Vec<Figure>)> {
    step("Restart: SIGTERM, and a new process over the same objects");
    if !args.is_empty() {
        note(format!("with {}", args.join(" ")));
    }
    let took = operator.stop()?;
    note(format!("the old one ended after {:.1} s", took.as_secs_f64()));
    let (mark, began) = (stage.plane.audit().mark(), SystemTime::now());
    let operator = stage.operator(args)?;
    let quiet = wait_until_quiet(stage, &operator, mark, 0, SOON)?;
    let requests = work(&stage.requests(mark)?);
    let (writes, watches) = (requests.writes(), stage.watches(mark)?);
    note(format!("requests: {}", list(&requests)));
    note(format!("watches: {}", list(&watches)));
    let events = writes.on("events").len();
    let figures = vec![
        Figure::new("writes besides events", (writes.len() - events) as f64, "")
            .at_most(budget.restart_writes.0)
            .go(budget.restart_writes.1),
        Figure::new("  of them AIBOMs", writes.on("aiboms").len() as f64, "").at_most(0.0),
        Figure::new("events", events as f64, ""),
        Figure::new("other requests", (requests.len() - writes.len()) as f64, "").go("10"),
        Figure::new("watches opened", watches.len() as f64, ""),
        Figure::new("time to the last request", seconds(Some(began), quiet.last), "s")
            .at_most(budget.restart_quiet.0)
            .go(budget.restart_quiet.1),
        Figure::new("CPU until quiet", quiet.usage.cpu_seconds, "s").at_most(budget.restart_cpu.0).go(budget.restart_cpu.1),
        Figure::new("RSS when quiet", mib(quiet.usage.rss_kib), "MiB").at_most(budget.restart_rss.0).go(budget.restart_rss.1),
        Figure::new("  anonymous", mib(quiet.usage.anonymous_rss_kib), "MiB").at_most(budget.anonymous.0),
        Figure::new("  most it ever was", mib(quiet.usage.peak_rss_kib), "MiB"),
    ];
    Ok((operator, figures))
}

/// Longer than the operator waits before it tells how many objects there are.
const SETTLING: Duration = Duration::from_secs(65);

/// Does nothing for some minutes.
pub(crate) fn idle(stage: &Stage, operator: &Operator, minutes: u32) -> Result<Vec<Figure>> {
    // What changed before is counted in the status of the configuration once a minute: that write belongs to the change.
    step(format!("Idle: {minutes} min, after {} s for counts of what was before", SETTLING.as_secs()));
    thread::sleep(SETTLING);
    let (mark, before, began) = (stage.plane.audit().mark(), operator.usage()?, Instant::now());
    for minute in 1..=minutes {
        thread::sleep(Duration::from_mins(1));
        operator.check()?;
        note(format!("{minute} of {minutes} min"));
    }
    let used = operator.usage()?;
    let elapsed = began.elapsed().as_secs_f64() / 60.0;
    let all = stage.requests(mark)?;
    let requests = work(&all);
    let watches = stage.watches(mark)?.len();
    let lease = all.on("leases").len();
    note(format!("requests: {}", list(&requests)));
    Ok(vec![
        Figure::new("writes besides the lease", requests.writes().len() as f64, "").at_most(0.0).go("0"),
        Figure::new("requests besides watches and the lease, per minute", requests.len() as f64 / elapsed, "")
            .at_most(IDLE_REQUESTS)
            .go("0"),
        Figure::new("watches opened again, per minute", watches as f64 / elapsed, "").go("0.4"),
        Figure::new("requests about the lease, per minute", lease as f64 / elapsed, "").go("not switched on"),
        Figure::new("CPU, for 5 min", (used.cpu_seconds - before.cpu_seconds) * 5.0 / elapsed, "s").at_most(IDLE_CPU).go("0.24"),
        Figure::new("RSS at the end", mib(used.rss_kib), "MiB"),
        Figure::new("  anonymous", mib(used.anonymous_rss_kib), "MiB"),
    ])
}

/// Changes Deployments in ways that change no fact.
pub(crate) fn churn(stage: &Stage, operator: &Operator, count: usize) -> Result<Vec<Figure>> {
    let churned = CHURNED.min(count);
    step(format!("Churn: a condition in the status of {churned} Deployments, then an annotation without meaning on each"));
    let names: Vec<String> = (0..churned).map(load::name).collect();
    let condition = r#"{"status":{"conditions":[{"type":"Noted","status":"True","reason":"Bench","message":"nothing to report"}]}}"#;
    let status = ["patch", "deployment", "--subresource=status", "--type=strategic", "--patch", condition];
    let annotation = ["annotate", "deployment", "bench.example/note=nothing-to-report"];
    let mut figures = Vec::new();
    for (what, go_writes, go_cpu, command) in
        [("status", "102", "0.28-0.35", &status[..]), ("annotation", "143", "0.40-0.42", &annotation[..])]
    {
        let (mark, before) = (stage.plane.audit().mark(), operator.usage()?);
        let (verb, rest) = command.split_at(2);
        let args: Vec<&str> = verb
            .iter()
            .copied()
            .chain(names.iter().map(String::as_str))
            .chain(rest.iter().copied())
            .chain(["--namespace", NAMESPACE])
            .collect();
        stage.plane.kubectl(&args)?;
        let quiet = wait_until_quiet(stage, operator, mark, 0, SOON)?;
        let requests = work(&stage.requests(mark)?);
        note(format!("requests after the {what} changes: {}", list(&requests)));
        figures.push(
            Figure::new(format!("{churned} changes of {what}: writes"), requests.writes().len() as f64, "").at_most(0.0).go(go_writes),
        );
        figures.push(Figure::new("  other requests", (requests.len() - requests.writes().len()) as f64, ""));
        figures.push(Figure::new("  CPU", quiet.usage.cpu_seconds - before.cpu_seconds, "s").go(go_cpu));
    }
    Ok(figures)
}

/// Creates pods where nobody asked for documents.
pub(crate) fn foreign_pods(stage: &Stage, operator: &Operator, count: usize) -> Result<Vec<Figure>> {
    step(format!("Foreign pods: creating {count} in a namespace that is not opted in"));
    stage.plane.create_namespace(FOREIGN, &[])?;
    let (mark, before) = (stage.plane.audit().mark(), operator.usage()?);
    load::create(&stage.plane, count, |number| load::pod(FOREIGN, number))?;
    let quiet = wait_until_quiet(stage, operator, mark, 0, SOON)?;
    let requests = work(&stage.requests(mark)?);
    let pod = stage.plane.get_json(&["pod", "shop-00000", "--namespace", FOREIGN, "--show-managed-fields"])?;
    note(format!("a pod has {} bytes of JSON as it is stored; requests: {}", pod.to_string().len(), list(&requests)));
    let more = mib(quiet.usage.rss_kib) - mib(before.rss_kib);
    Ok(vec![
        Figure::new("RSS before", mib(before.rss_kib), "MiB").go("106"),
        Figure::new("more RSS with them", more, "MiB").at_most(FOREIGN_PODS).go("+78"),
        Figure::new("CPU", quiet.usage.cpu_seconds - before.cpu_seconds, "s").go("1.2"),
        Figure::new("requests", requests.len() as f64, "").go("0"),
    ])
}

/// Gives each Deployment pods, and then has the status of many of them change without anything to report.
pub(crate) fn pods(stage: &Stage, operator: &Operator, deployments: usize, count: usize) -> Result<Vec<Figure>> {
    step(format!("Pods: creating {count} that belong to the {deployments} Deployments"));
    let names = stage.plane.kubectl(&[
        "get",
        "deployments",
        "--namespace",
        NAMESPACE,
        "-o",
        r#"jsonpath={range .items[*]}{.metadata.uid}{"\n"}{end}"#,
    ])?;
    let uids: Vec<&str> = names.lines().collect();
    anyhow::ensure!(uids.len() == deployments, "{} of {deployments} Deployments are there", uids.len());
    let limit = SOON + Duration::from_millis(20) * u32::try_from(count)?;
    let (mark, before) = (stage.plane.audit().mark(), operator.usage()?);
    load::create(&stage.plane, count, |number| {
        load::pod_of(NAMESPACE, number % deployments, number / deployments, uids[number % deployments])
    })?;
    let quiet = wait_until_quiet(stage, operator, mark, 0, limit)?;
    let requests = work(&stage.requests(mark)?);
    note(format!("requests: {}", list(&requests)));
    let per = |cpu: f64, events: usize| cpu * 1e6 / events as f64;
    let mut figures = vec![
        Figure::new("RSS before", mib(before.rss_kib), "MiB"),
        Figure::new("RSS with them", mib(quiet.usage.rss_kib), "MiB").at_most(PODS_RSS),
        Figure::new("  of each pod", (quiet.usage.rss_kib as f64 - before.rss_kib as f64) * 1024.0 / count as f64, "bytes"),
        Figure::new("CPU for each pod that comes", per(quiet.usage.cpu_seconds - before.cpu_seconds, count), "us").at_most(POD_CPU),
        Figure::new("requests by name", requests.with_verb("get").len() as f64, "").at_most(0.0),
        Figure::new("writes", requests.writes().len() as f64, "").at_most(0.0),
    ];
    let churned = CHURNED_PODS.min(count);
    step(format!("Churn: a condition in the status of {churned} pods"));
    let names: Vec<String> = (0..churned).map(|number| format!("{}-{}", load::name(number % deployments), number / deployments)).collect();
    let condition = r#"{"status":{"conditions":[{"type":"Noted","status":"True","reason":"Bench","message":"nothing to report"}]}}"#;
    let (mark, before) = (stage.plane.audit().mark(), operator.usage()?);
    let rest = ["--subresource=status", "--type=strategic", "--patch", condition, "--namespace", NAMESPACE, "--output=name"];
    load::each(&stage.plane, &names, &["patch", "pod"], &rest)?;
    let quiet = wait_until_quiet(stage, operator, mark, 0, limit)?;
    let requests = work(&stage.requests(mark)?);
    figures.extend([
        Figure::new(format!("{churned} changes of status: CPU each"), per(quiet.usage.cpu_seconds - before.cpu_seconds, churned), "us")
            .at_most(POD_CPU),
        Figure::new("  more RSS", mib(quiet.usage.rss_kib) - mib(before.rss_kib), "MiB"),
        Figure::new("  requests by name", requests.with_verb("get").len() as f64, "").at_most(0.0),
        Figure::new("  writes", requests.writes().len() as f64, "").at_most(0.0),
    ]);
    Ok(figures)
}

/// How long each object waited, shortest first. Measured from when the API server got the creation to when it had answered the first write
/// of the AIBOM's status.
pub(crate) fn create_to_ready(created: &Entries, statuses: &Entries) -> Vec<Duration> {
    let written = first_writes(statuses);
    let mut waits: Vec<Duration> = created
        .iter()
        .filter_map(|entry| written.get(format!("{AIBOM}{}", entry.name).as_str())?.duration_since(entry.time).ok())
        .collect();
    waits.sort();
    waits
}

/// When the status of each AIBOM was first written, by name.
fn first_writes(statuses: &Entries) -> BTreeMap<&str, SystemTime> {
    let mut first = BTreeMap::new();
    for entry in statuses {
        let time = first.entry(entry.name.as_str()).or_insert_with(|| answered(entry));
        *time = (*time).min(answered(entry));
    }
    first
}

/// How many of these requests were in the hands of the API server at the same time, on average. As many as the operator has workers means
/// that it waits for the server.
fn under_way(requests: &Entries) -> f64 {
    let first = requests.iter().map(|entry| entry.time).min();
    let taken: f64 = requests.iter().map(|entry| entry.took.as_secs_f64()).sum();
    taken / seconds(first, requests.iter().map(answered).max())
}

fn answered(entry: &Entry) -> SystemTime {
    entry.time + entry.took
}

/// Seconds between two times; NaN, which is shown, where one is missing.
fn seconds(from: Option<SystemTime>, to: Option<SystemTime>) -> f64 {
    let between = from.zip(to).and_then(|(from, to)| to.duration_since(from).ok());
    between.map_or(f64::NAN, |between| between.as_secs_f64())
}

/// How many AIBOMs say that they are ready. By the table of the API server, which is a small part of the objects.
fn ready(stage: &Stage) -> Result<usize> {
    let rows = stage.plane.kubectl(&["get", "aibom", "--namespace", NAMESPACE, "--no-headers"])?;
    Ok(rows.lines().filter(|row| row.split_whitespace().any(|word| word == "True")).count())
}
