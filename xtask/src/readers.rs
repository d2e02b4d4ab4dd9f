//! Documents read and written again by a library of another project and another language: the official one for Python, in a virtual
//! environment under `target/tools`, pinned by hash.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, is_ci, note, output, run, run_bounded, step};

/// What is installed, and what reads.
const FOLDER: &str = "tests/readers";

/// How long the package index may take.
const PATIENCE: Duration = Duration::from_mins(5);

/// Writes the documents of `examples/` in every version and spelling and has them read.
///
/// Without Python, or without a package index on a machine of a developer, this says so and is left out; continuous integration needs
/// both.
pub(crate) fn check(workspace: &Workspace, host: &Path) -> Result<()> {
    let python = match environment(workspace) {
        Ok(python) => python,
        Err(error) if is_ci() => return Err(error),
        Err(error) => {
            note(format!("SKIPPED: no independent library reads the documents: {error:#}"));
            return Ok(());
        }
    };
    let documents = workspace.path("target/readers");
    if documents.exists() {
        fs::remove_dir_all(&documents).with_context(|| format!("could not remove {}", workspace.show(&documents)))?;
    }
    step("Writing documents of examples/ in every version and spelling");
    for version in ["1.6", "1.7"] {
        for names in ["dotted", "colon"] {
            let folder = documents.join(format!("{version}-{names}"));
            let mut scan = workspace.command(host);
            scan.args(["scan", "examples/", "--quiet", "--output", "json", "--spec-version", version, "--property-names", names]);
            scan.arg("--plugins").arg(workspace.plugins()).arg("--out-dir").arg(workspace.relative(&folder));
            scan.stdout(std::process::Stdio::null());
            run(&mut scan)?;
        }
    }
    run(workspace.command(python).arg(workspace.path(FOLDER).join("read.py")).arg(workspace.relative(&documents)))
}

/// The interpreter of an environment in which what `requirements.txt` pins is installed.
fn environment(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.path("target/tools/readers");
    let python = folder.join("bin/python");
    let requirements = workspace.path(FOLDER).join("requirements.txt");
    let wanted = fs::read(&requirements).with_context(|| format!("could not read {}", workspace.show(&requirements)))?;
    let installed = folder.join("installed.txt");
    if fs::read(&installed).is_ok_and(|known| known == wanted) && python.is_file() {
        return Ok(python);
    }
    output(workspace.command("python3").arg("--version")).context("python3 is not there")?;
    step(format!("Installing the reader into {}", workspace.show(&folder)));
    run_bounded(workspace.command("python3").args(["-m", "venv", "--clear"]).arg(&folder), PATIENCE)?;
    let mut install = workspace.command(&python);
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--only-binary",
        ":all:",
        "--require-hashes",
        "--no-deps",
        "-r",
    ]);
    run_bounded(install.arg(&requirements), PATIENCE)?;
    fs::write(&installed, wanted).with_context(|| format!("could not write {}", workspace.show(&installed)))?;
    Ok(python)
}
