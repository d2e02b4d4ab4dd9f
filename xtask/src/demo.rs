//! `cargo xtask demo`: from a fresh clone to documents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, run, step};

mod cluster;

#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Show the operator instead: a throwaway API server, the charts, the examples, and the AIBOMs that come of them
    ///
    /// The control plane is real (etcd, kube-apiserver, kube-controller-manager) and has no nodes, so the operator runs as a process, with the
    /// rights that the chart gives its pod. Everything is taken down at the end. Programs that are missing are built with Go first, once, in
    /// some 15 minutes on two cores (`cargo xtask tools`).
    #[arg(long)]
    cluster: bool,

    /// Run this operator instead of building one; it takes its scrapers from the folder `plugins` beside it or one folder up
    #[arg(long, value_name = "FILE", requires = "cluster")]
    binary: Option<PathBuf>,
}

pub(crate) fn demonstrate(workspace: &Workspace, args: &DemoArgs) -> Result<()> {
    if args.cluster {
        return cluster::show(workspace, args.binary.as_deref());
    }
    guests::build_families(workspace, &[], Choice::Auto)?;
    let binary = workspace.build_host()?;
    scan(workspace, &binary)
}

/// Scans `examples/` with a binary that is there already.
pub(crate) fn scan(workspace: &Workspace, binary: &Path) -> Result<()> {
    let documents = workspace.path("target/demo/boms");
    // Documents of an earlier run would stand beside the new ones.
    if documents.exists() {
        fs::remove_dir_all(&documents).with_context(|| format!("could not empty {}", workspace.show(&documents)))?;
    }
    fs::create_dir_all(&documents).with_context(|| format!("could not create {}", workspace.show(&documents)))?;
    step("Scanning examples/");
    let mut scan = workspace.command(binary);
    scan.arg("scan").arg("examples/").arg("--plugins").arg(workspace.plugins()).arg("--out-dir").arg(workspace.relative(&documents));
    run(&mut scan)?;
    let mut written = Vec::new();
    for entry in fs::read_dir(&documents)? {
        written.push(workspace.show(&entry?.path()));
    }
    written.sort();
    step(format!("{} CycloneDX documents:", written.len()));
    for path in &written {
        println!("{path}");
    }
    step(format!("Try it on manifests of your own: {} scan <file, folder or ->", workspace.show(binary)));
    Ok(())
}
