//! `cargo xtask demo`: from a fresh clone to documents.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, run, step};

pub(crate) fn build_and_scan(workspace: &Workspace) -> Result<()> {
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
