//! `cargo xtask bench`: figures, with the machine they were measured on.

use std::env;
use std::fs;
use std::thread;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, output, run, step};

mod budgets;
mod cluster;
mod figures;
mod isolation;
mod load;
mod observer;
mod steps;

#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The way of one object without a cluster: plugin load, scrape, objects per second, memory
    Offline,
    /// The operator on a real API server, each figure beside its budget and that of the Go operator
    ///
    /// Starts a throwaway control plane, installs the charts and runs the operator as their ServiceAccount. Then: a burst of Deployments, a
    /// restart over them, idling, changes without meaning, pods that are none of its business, and another restart. Requests are counted by
    /// the audit log, memory and CPU by the kernel. A budget that is missed is marked; the exit code says only whether it could be measured.
    ///
    /// Some 15 minutes, with --quick 5. Everything is taken down at the end.
    Cluster(cluster::ClusterArgs),
    /// Whether a kind whose conversion webhook is dead makes others wait: the same burst with and without, in turns
    Isolation(isolation::IsolationArgs),
}

pub(crate) fn measure(workspace: &Workspace, args: &BenchArgs) -> Result<()> {
    match &args.what {
        What::Offline => offline(workspace),
        What::Cluster(args) => cluster::measure(workspace, args),
        What::Isolation(args) => isolation::measure(workspace, args),
    }
}

fn offline(workspace: &Workspace) -> Result<()> {
    guests::build_families(workspace, &[], Choice::Auto)?;
    println!("{}", machine(workspace));
    step("Measuring (offline)");
    // `--workspace` for the same reason as in `Workspace::build_host`. The bench profile inherits the release profile unchanged, so that
    // cargo takes what it built for tests.
    run(workspace.cargo("bench").args(["--workspace", "--bench", "offline"]))
}

/// Processor, cores, memory, kernel and compiler; what the system does not tell is called unknown.
fn machine(workspace: &Workspace) -> String {
    let unknown = || "unknown".to_owned();
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| env::consts::ARCH.to_owned());
    let cores = thread::available_parallelism().map_or_else(|_| unknown(), |count| count.to_string());
    let memory = field("/proc/meminfo", "MemTotal")
        .and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(unknown, |kibibytes| format!("{} MiB", kibibytes / 1024));
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")
        .map_or_else(|_| env::consts::OS.to_owned(), |text| format!("Linux {}", text.trim()));
    let load =
        fs::read_to_string("/proc/loadavg").ok().and_then(|text| text.split_whitespace().next().map(str::to_owned)).unwrap_or_else(unknown);
    let compiler = output(workspace.command("rustc").arg("--version")).unwrap_or_else(|_| unknown());
    format!("machine: {processor}, {cores} cores usable, {memory}, {kernel}, {compiler}; load average before: {load}")
}
