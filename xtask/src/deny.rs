//! cargo-deny: licences, banned and duplicate crates, sources. Found on PATH or installed into target/tools.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, bail};

use crate::toolchain::TARGET;
use crate::workspace::{Workspace, note, output, run, step};

/// Pinned: its rules and the format of deny.toml change between versions.
const VERSION: &str = "0.20.2";

/// Folders with a Cargo.toml of their own, and the target to look at where those of deny.toml, which are the host's, do not fit.
const WORKSPACES: [(&str, Option<&str>); 3] = [(".", None), ("plugins", Some(TARGET)), ("tests/hostile", Some(TARGET))];

/// cargo-deny, perhaps still being installed.
pub(crate) enum Tool {
    Ready(PathBuf),
    Installing { child: Child, binary: PathBuf, log: PathBuf },
}

impl Tool {
    /// Looks for it and, where it is missing, starts to install it. That takes minutes of one core, so other steps go on beside it.
    pub(crate) fn start(workspace: &Workspace) -> Result<Self> {
        let root = workspace.path("target/tools");
        let binary = root.join("bin/cargo-deny").with_extension(std::env::consts::EXE_EXTENSION);
        for candidate in [binary.clone(), PathBuf::from("cargo-deny")] {
            let version = output(workspace.command(&candidate).arg("--version"));
            if version.is_ok_and(|version| version == format!("cargo-deny {VERSION}")) {
                return Ok(Self::Ready(candidate));
            }
        }
        fs::create_dir_all(&root).with_context(|| format!("could not create {}", workspace.show(&root)))?;
        let log = root.join("cargo-deny.log");
        step(format!("Installing cargo-deny {VERSION} in the background (log: {})", workspace.show(&log)));
        let file = File::create(&log).with_context(|| format!("could not write {}", workspace.show(&log)))?;
        let mut install = workspace.command("cargo");
        // Built quickly rather than well: it runs for a second. A target folder of its own keeps it from waiting for other builds' lock.
        install
            .args(["install", "--locked", "--debug", "cargo-deny", "--version", VERSION, "--root"])
            .arg(&root)
            .arg("--target-dir")
            .arg(root.join("build"))
            .args(["--jobs", "1"])
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env_remove("RUSTFLAGS")
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file);
        let child = install.spawn().context("could not start cargo install")?;
        Ok(Self::Installing { child, binary, log })
    }

    /// Runs the checks over every workspace of the checkout.
    pub(crate) fn check(self, workspace: &Workspace) -> Result<()> {
        let binary = match self {
            Self::Ready(binary) => binary,
            Self::Installing { mut child, binary, log } => {
                note("waiting for the installation of cargo-deny");
                let status = child.wait()?;
                if !status.success() {
                    let said = fs::read_to_string(&log).unwrap_or_default();
                    let lines: Vec<&str> = said.lines().collect();
                    bail!(
                        "LICENCES AND SOURCES WERE NOT CHECKED: cargo-deny {VERSION} could not be installed ({status}). The end of {}:\n{}\n\
                         Install it yourself (`cargo install --locked cargo-deny --version {VERSION}`) or see that the registry can be reached",
                        workspace.show(&log),
                        lines[lines.len().saturating_sub(12)..].join("\n")
                    );
                }
                // Only the binary is of use from now on.
                let _ = fs::remove_dir_all(workspace.path("target/tools/build"));
                binary
            }
        };
        let mut failed = Vec::new();
        for (folder, target) in WORKSPACES {
            let manifest = workspace.path(folder).join("Cargo.toml");
            if !manifest.is_file() {
                continue;
            }
            note(format!("{folder}/Cargo.toml"));
            let mut command = workspace.command(&binary);
            command
                .arg("--manifest-path")
                .arg(&manifest)
                .arg("--config")
                .arg(workspace.path("deny.toml"))
                .args(["--all-features", "--locked"]);
            if let Some(target) = target {
                command.args(["--target", target]);
            }
            command.args(["check", "--hide-inclusion-graph", "bans", "licenses", "sources"]);
            if let Err(error) = run(&mut command) {
                failed.push(format!("{folder}: {error:#}"));
            }
        }
        if !failed.is_empty() {
            bail!("{}", failed.join("; "));
        }
        Ok(())
    }
}
