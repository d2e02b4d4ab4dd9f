//! `cargo xtask corpus`: the public manifests and the truth set made for some of them.

use std::fs::{self, File};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, note, run, shown, step};

/// What `k8s-aibom scan` exits with when some inputs could not be read and all others were done.
const INCOMPLETE: i32 = 2;

#[derive(Args)]
pub(crate) struct CorpusArgs {
    /// The corpus: a folder with samples/ and truth/
    #[arg(long, value_name = "DIR", default_value = "../shared/corpus")]
    corpus: PathBuf,

    /// List every fact that was missed or wrongly claimed
    #[arg(long)]
    misses: bool,

    /// Only objects of these kinds, as `Kind` or `group/Kind`
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
}

pub(crate) fn scan_and_score(workspace: &Workspace, args: &CorpusArgs) -> Result<()> {
    let corpus = workspace.root().join(&args.corpus);
    let (samples, truth) = (corpus.join("samples"), corpus.join("truth"));
    if !samples.is_dir() || !truth.is_dir() {
        bail!(
            "NOTHING WAS MEASURED: {} holds no corpus (samples/ and truth/). It is not part of the repository; name its folder with --corpus DIR",
            corpus.display()
        );
    }
    guests::build_families(workspace, &[], Choice::Auto)?;
    let binary = workspace.build_host()?;
    let folder = workspace.path("target/corpus");
    fs::create_dir_all(&folder).with_context(|| format!("could not create {}", workspace.show(&folder)))?;
    let lines = folder.join("scan.jsonl");

    step(format!("Scanning {}", samples.display()));
    // The labels say what follows from each object alone.
    let mut scan = workspace.command(&binary);
    scan.arg("scan").arg(&samples).args(["--output", "json", "--alone", "--plugins"]).arg(workspace.plugins());
    if !args.kinds.is_empty() {
        scan.arg("--kinds").arg(args.kinds.join(","));
    }
    scan.stdout(File::create(&lines).with_context(|| format!("could not write {}", workspace.show(&lines)))?);
    let status = scan.status().with_context(|| format!("could not start `{}`", shown(&scan)))?;
    match status.code() {
        Some(0) => {}
        Some(INCOMPLETE) => note("some inputs could not be read (named above); everything else was done"),
        _ => bail!("`{}` failed ({status})", shown(&scan)),
    }
    note(format!("one line per object: {}", workspace.show(&lines)));

    step("Comparing with the truth set");
    let mut score = workspace.command("python3");
    score.arg(truth.join("score.py")).arg(truth.join("labels.jsonl")).arg(&lines);
    if args.misses {
        score.arg("--misses");
    }
    run(&mut score).context("the scorer needs python3 on PATH (standard library only)")
}
