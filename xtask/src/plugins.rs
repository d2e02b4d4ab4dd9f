//! `cargo xtask test-plugins`: each family through the production host.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::guests::{self, Guest};
use crate::toolchain::Choice;
use crate::workspace::{Workspace, run, step};

#[derive(Args)]
pub(crate) struct TestPluginsArgs {
    /// Families to test (folders under plugins/ with a plugin.toml); all when none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Accept what the scrapers say now: write the expected reports and the fuel budget. Look at the difference before you commit it
    #[arg(long)]
    bless: bool,

    /// Where the compiler for the guests comes from
    #[arg(long, value_enum, default_value_t)]
    toolchain: Choice,
}

pub(crate) fn test(workspace: &Workspace, args: &TestPluginsArgs) -> Result<()> {
    let guests = guests::build_families(workspace, &args.names, args.toolchain)?;
    let binary = workspace.build_host()?;
    run_fixtures(workspace, &binary, &guests, args.bless)
}

/// Tests guests that are built already. All run; the error names those that failed.
pub(crate) fn run_fixtures(workspace: &Workspace, binary: &Path, guests: &[Guest], bless: bool) -> Result<()> {
    let mut failed = Vec::new();
    for guest in guests {
        step(format!("Testing plugin {}", guest.name));
        let mut command = workspace.command(binary);
        command.args(["plugin", "test"]).arg(workspace.relative(&guest.path)).arg("--fixtures").arg(format!("plugins/{}", guest.name));
        if bless {
            command.arg("--bless");
        }
        if let Err(error) = run(&mut command) {
            eprintln!("{error:#}");
            failed.push(guest.name.as_str());
        }
    }
    if !failed.is_empty() {
        let names = failed.join(" ");
        bail!(
            "plugins failed: {names}. If the new reports are right, accept them with `cargo xtask test-plugins {names} --bless` and look at the difference"
        );
    }
    Ok(())
}

/// Starts a scraper as an author would, builds it, and takes it through the production host.
pub(crate) fn scaffold(workspace: &Workspace, binary: &Path, toolchain: Choice) -> Result<()> {
    let top = workspace.path("target/scaffold");
    if top.exists() {
        fs::remove_dir_all(&top).with_context(|| format!("could not empty {}", workspace.show(&top)))?;
    }
    fs::create_dir_all(&top).with_context(|| format!("could not create {}", workspace.show(&top)))?;
    step("Starting, building and testing a scraper with `plugin new`");
    let mut new = workspace.command(binary);
    new.args(["plugin", "new", "sample-widget", "--kind", "serving.example.com/v1/Widget", "--sdk", "plugins/sdk", "--dir"]).arg(&top);
    run(&mut new)?;
    let folder = top.join("sample-widget");
    guests::build_crate(workspace, &folder, toolchain)?;
    for bless in [true, false] {
        let mut test = workspace.command(binary);
        test.args(["plugin", "test"]).arg(folder.join("sample-widget.wasm")).arg("--fixtures").arg(&folder);
        if bless {
            test.arg("--bless");
        }
        run(&mut test)?;
    }
    Ok(())
}
