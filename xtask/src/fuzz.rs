//! `cargo xtask fuzz`: the targets of `tests/fuzz` under libFuzzer, with coverage of our own crates only.
//!
//! The compiler instruments a crate when it is given LLVM options for it, which stable Rust takes. Given as `RUSTFLAGS` they would hold
//! for every dependency, and the WebAssembly engine would be compiled once more; so xtask puts itself in front of the compiler
//! (`RUSTC_WORKSPACE_WRAPPER`), which cargo does for members of the workspace only, and adds them there.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use crate::guests;
use crate::toolchain::Choice;
use crate::workspace::{Workspace, note, run, shown, step};

#[derive(Args)]
pub(crate) struct FuzzArgs {
    /// What to fuzz; everything when nothing is named
    #[arg(value_enum)]
    targets: Vec<Target>,

    /// Time of each target
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    seconds: u32,

    /// Targets that run at the same time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,

    /// Manifests to begin with. They are cut to pieces under target/fuzz and never become part of the repository
    #[arg(long, value_name = "DIR", default_value = "../shared/corpus/samples")]
    seeds: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    /// Image references
    Image,
    /// Command lines in exec form
    Command,
    /// Shell scripts
    Script,
    /// Whole objects, through a scraper
    Object,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Command => "command",
            Self::Script => "script",
            Self::Object => "object",
        }
    }

    /// Name of its program.
    fn binary(self) -> String {
        format!("{TARGET_PREFIX}{}", self.name())
    }

    /// Most bytes of an input.
    fn longest(self) -> usize {
        match self {
            Self::Image => 512,
            Self::Command | Self::Script => 4_096,
            Self::Object => 16_384,
        }
    }
}

/// How names of the targets' programs begin.
const TARGET_PREFIX: &str = "fuzz_";

/// Tells a run of xtask in front of the compiler from all others.
const IN_FRONT: &str = "K8S_AIBOM_XTASK_INSTRUMENTS";

/// What makes the compiler count edges, as libFuzzer wants them counted.
const INSTRUMENT: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Cdebug-assertions=on",
];

/// When cargo called us in front of the compiler: compiles, and says how it went.
pub(crate) fn in_front_of_the_compiler() -> Option<ExitCode> {
    env::var_os(IN_FRONT)?;
    let mut arguments = env::args_os().skip(1);
    let mut command = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let crate_name = arguments.iter().position(|argument| argument == "--crate-name").and_then(|at| arguments.get(at + 1));
    // Neither a question about the compiler nor a build script is fuzzed.
    if let Some(name) = crate_name.and_then(|name| name.to_str()).filter(|name| !matches!(*name, "build_script_build" | "___")) {
        command.args(INSTRUMENT);
        // Programs without libFuzzer are built for the features of dependencies only and never run; what the counters call is missing there.
        if !name.starts_with(TARGET_PREFIX) {
            command.arg(if cfg!(target_vendor = "apple") {
                "-Clink-arg=-Wl,-undefined,dynamic_lookup"
            } else {
                "-Clink-arg=-Wl,--unresolved-symbols=ignore-all"
            });
        }
    }
    let code = command.args(arguments).status().ok().and_then(|status| status.code()).unwrap_or(1);
    Some(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from))
}

pub(crate) fn fuzz(workspace: &Workspace, args: &FuzzArgs) -> Result<()> {
    let targets = if args.targets.is_empty() { Target::value_variants() } else { &args.targets };
    let folder = workspace.path("target/fuzz");
    guests::build_families(workspace, &[], Choice::Auto)?;
    step("Building the fuzz targets, our own crates instrumented");
    let mut build = workspace.cargo("build");
    // `--workspace` and `--examples` for the features of dependencies, as for the binary.
    build.args(["--release", "--workspace", "--examples"]);
    for target in targets {
        build.arg("--bin").arg(target.binary());
    }
    build.env("RUSTC_WORKSPACE_WRAPPER", env::current_exe().context("could not tell where this program is")?).env(IN_FRONT, "1");
    run(&mut build)?;
    let seeds = workspace.root().join(&args.seeds);
    if seeds.is_dir() {
        step(format!("Cutting {} to pieces", args.seeds.display()));
        plant(&seeds, &folder, targets)?;
    } else {
        note(format!("no seeds: {} is no folder (--seeds DIR names one)", seeds.display()));
    }
    let mut failed = Vec::new();
    for batch in targets.chunks(args.jobs.max(1)) {
        let runs: Vec<_> = batch.iter().map(|target| (*target, command(workspace, &folder, *target, args.seconds))).collect();
        let ended = thread::scope(|scope| {
            let started: Vec<_> = runs
                .into_iter()
                .map(|(target, command)| scope.spawn(move || (target, command.and_then(|mut command| to_the_end(target, &mut command)))))
                .collect();
            started.into_iter().filter_map(|run| run.join().ok()).collect::<Vec<_>>()
        });
        for (target, result) in ended {
            if let Err(error) = result {
                eprintln!("FOUND [{}]: {error:#}", target.name());
                failed.push(target.name());
            }
        }
    }
    if !failed.is_empty() {
        bail!(
            "findings in: {}. The inputs lie in target/fuzz/TARGET/findings; run one again by giving its file to the target's binary",
            failed.join(", ")
        );
    }
    Ok(())
}

fn command(workspace: &Workspace, folder: &Path, target: Target, seconds: u32) -> Result<Command> {
    let own = folder.join(target.name());
    let [grown, seeds, findings] = ["grown", "seeds", "findings"].map(|name| own.join(name));
    for folder in [&grown, &seeds, &findings] {
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    }
    let binary = workspace.target().join("release").join(target.binary());
    let mut command = workspace.command(&binary);
    command
        .arg(&grown)
        .arg(&seeds)
        .arg(format!("-artifact_prefix={}/", findings.display()))
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={}", target.longest()))
        // An input that takes longer has found something too; so has one that takes more memory.
        .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])
        .env("K8S_AIBOM_PLUGINS", workspace.plugins());
    Ok(command)
}

/// Runs, and prints the figures of the end.
fn to_the_end(target: Target, command: &mut Command) -> Result<()> {
    step(format!("Fuzzing {}", target.name()));
    let output = command.output().with_context(|| format!("could not start `{}`", shown(command)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    for line in figures(&said) {
        println!("{:8} {line}", target.name());
    }
    if !output.status.success() {
        let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("stat::")).collect();
        bail!("ended with {}\n{}", output.status, lines[lines.len().saturating_sub(40)..].join("\n"));
    }
    Ok(())
}

/// What libFuzzer says at the end: how many counted edges and features of them all inputs together reach, and its statistics.
fn figures(said: &str) -> Vec<&str> {
    let reached = said.lines().rev().find_map(|line| line.find(" cov: ").map(|at| line[at..].trim()));
    reached.into_iter().chain(said.lines().filter_map(|line| line.strip_prefix("stat::"))).collect()
}

/// Pieces of manifests as first inputs. Reads them as text, so that what is no YAML gives pieces too.
fn plant(manifests: &Path, folder: &Path, targets: &[Target]) -> Result<()> {
    let mut counts = vec![0_usize; targets.len()];
    for file in files(manifests)? {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for (target, count) in targets.iter().zip(&mut counts) {
            let pieces = match target {
                Target::Image => images(&text),
                Target::Command => lists(&text),
                Target::Script => blocks(&text),
                Target::Object => text.split("\n---").map(str::to_owned).collect(),
            };
            for piece in pieces.into_iter().filter(|piece| !piece.trim().is_empty() && piece.len() <= target.longest()) {
                let digest = Sha256::digest(piece.as_bytes());
                let name = format!("{:016x}", u64::from_be_bytes(digest[..8].try_into()?));
                let path = folder.join(target.name()).join("seeds").join(name);
                *count += usize::from(crate::workspace::write_if_changed(&path, piece.as_bytes())?);
            }
        }
    }
    for (target, count) in targets.iter().zip(counts) {
        note(format!("{}: {count} new seeds", target.name()));
    }
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn images(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("image:"));
    lines.map(|image| image.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// Runs of list elements, one to a line, behind an image.
fn lists(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut current = String::new();
    for line in text.lines().chain([""]) {
        match line.trim_start().strip_prefix("- ") {
            Some(element) if !element.contains(": ") => {
                current.push('\n');
                current.push_str(element.trim().trim_matches(['"', '\'']));
            }
            _ if current.is_empty() => {}
            _ => found.push(format!("vllm/vllm-openai:v1{}", std::mem::take(&mut current))),
        }
    }
    found
}

/// Texts of block scalars.
fn blocks(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim_end().trim_end_matches(['-', '+']).ends_with(['|', '>']) {
            continue;
        }
        let mut block = String::new();
        let Some(indent) = lines.peek().map(|line| line.len() - line.trim_start().len()).filter(|indent| *indent > 0) else { continue };
        while let Some(line) = lines.next_if(|line| line.trim().is_empty() || line.len() - line.trim_start().len() >= indent) {
            block.push_str(line.get(indent..).unwrap_or_default());
            block.push('\n');
        }
        found.push(block);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "spec:\n  containers:\n    - image: \"acme/server:1\"\n      command:\n        - sh\n        - -c\n        - |\n          set -e\n          serve --model acme/small\n      args: []\n";

    #[test]
    fn the_last_coverage_and_the_statistics_are_the_figures_of_a_run() {
        let said = "INFO: seed corpus: files: 2\n#2\tINITED cov: 3 ft: 4 corp: 1/1b\n#9\tDONE   cov: 5 ft: 7 corp: 2/3b lim: 8\nDone 9 runs\nstat::peak_rss_mb: 30\n";
        assert_eq!(figures(said), ["cov: 5 ft: 7 corp: 2/3b lim: 8", "peak_rss_mb: 30"]);
    }

    #[test]
    fn pieces_of_a_manifest_are_found_as_text() {
        assert_eq!(images(MANIFEST), ["acme/server:1"]);
        assert_eq!(lists(MANIFEST), ["vllm/vllm-openai:v1\nsh\n-c\n|"]);
        assert_eq!(blocks(MANIFEST), ["set -e\nserve --model acme/small\n"]);
    }
}
