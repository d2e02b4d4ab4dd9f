//! `cargo xtask corpus`: the public manifests and the truth set made for some of them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, note, shown, step};

/// The rules of comparison, the copy that the floors are tested with.
#[path = "../../host/operator/tests/truth/mod.rs"]
mod truth;

/// The list of labels that are wrong.
const EXCEPTIONS: &str = "docs/design/truth.md";

/// What `k8s-aibom scan` exits with when some inputs could not be read and all others were done.
const INCOMPLETE: i32 = 2;

#[derive(Args)]
pub(crate) struct CorpusArgs {
    /// The corpus: a folder with samples/ and truth/
    #[arg(long, value_name = "DIR", default_value = "../shared/corpus")]
    corpus: PathBuf,

    /// Also print every fact that was missed or wrongly claimed
    #[arg(long)]
    misses: bool,

    /// Only objects of these kinds, as `Kind` or `group/Kind`
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
}

pub(crate) fn scan_and_score(workspace: &Workspace, args: &CorpusArgs) -> Result<()> {
    let corpus = workspace.root().join(&args.corpus);
    let (samples, labels) = (corpus.join("samples"), corpus.join("truth"));
    if !samples.is_dir() || !labels.is_dir() {
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
    let read = |path: &Path| fs::read_to_string(path).with_context(|| format!("could not read {}", workspace.show(path)));
    let exceptions = truth::exceptions(&read(&workspace.path(EXCEPTIONS))?).map_err(|error| anyhow!("{EXCEPTIONS}: {error}"))?;
    let labels = kept(&read(&labels.join("labels.jsonl"))?, &args.kinds);
    let score = truth::score(&labels, &read(&lines)?, &exceptions).map_err(|error| anyhow!(error))?;
    let misses = folder.join("misses.txt");
    fs::write(&misses, score.listing()).with_context(|| format!("could not write {}", workspace.show(&misses)))?;
    print!("{}", score.table());
    if args.misses {
        print!("\n{}", score.listing());
    }
    note(format!("{} misses: {}", score.misses.len(), workspace.show(&misses)));
    if args.kinds.is_empty() {
        for stale in &score.stale {
            note(format!(
                "{EXCEPTIONS} lists {} document {} {} {}, which is not in the way any more",
                stale.file, stale.doc, stale.what, stale.value
            ));
        }
    }
    if !score.absent.is_empty() {
        bail!("these labelled objects have no line in the scan:\n  {}", score.absent.join("\n  "));
    }
    Ok(())
}

/// Labels of the kinds asked for; all when none is.
fn kept(labels: &str, kinds: &[String]) -> String {
    let wanted = |line: &&str| {
        let label: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
        let kind = label["kind"].as_str().unwrap_or_default();
        kinds.is_empty() || kinds.iter().any(|wanted| wanted.rsplit('/').next().is_some_and(|wanted| wanted.eq_ignore_ascii_case(kind)))
    };
    labels.lines().filter(wanted).flat_map(|line| [line, "\n"]).collect()
}
