//! `cargo xtask test`: all that continuous integration runs, in one place.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::{Args, ValueEnum};

use crate::deny::Tool;
use crate::guests::{self, Guest};
use crate::toolchain::Choice;
use crate::workspace::{Workspace, note, run as run_command, step};
use crate::{crdgen, demo, docs, plugins, readers, rules, tools};

#[derive(Args)]
pub(crate) struct TestArgs {
    /// Steps to run, in their usual order; all when none is named
    #[arg(value_enum, value_name = "STEP")]
    steps: Vec<Step>,

    /// Where the compiler for the guests comes from
    #[arg(long, value_enum, default_value_t)]
    toolchain: Choice,
}

/// The order matters: what is cheap and fails often comes first, and what builds comes before what uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Step {
    /// rustfmt agrees with every file
    Fmt,
    /// No kind name in the host, dependencies point down, modules stay short
    Rules,
    /// The definitions in crds/ and in their chart are those of the types
    Crds,
    /// The guests compile and become components that keep the contract
    BuildPlugins,
    /// Unit tests of the SDK and the families, natively
    GuestTests,
    /// Clippy without a warning: host, plugins, hostile guests
    Clippy,
    /// Documentation builds without a warning
    Doc,
    /// The parts of docs/ that are made from data are up to date
    Docs,
    /// The programs of a control plane are there, or are built (needs Go then; minutes, once)
    Tools,
    /// Tests of the host, the hostile suite and those on a control plane among them
    HostTests,
    /// Every family through the production host: fixtures, mutations, determinism, fuel
    TestPlugins,
    /// `plugin new` gives a scraper that builds and passes `plugin test`
    Scaffold,
    /// The demonstration of the README works
    Demo,
    /// Documents survive an independent CycloneDX library (needs python3)
    Readers,
    /// Licences, banned crates, sources (cargo-deny)
    Deny,
}

/// Seed of the property tests (proptest).
const SEED: &str = "PROPTEST_RNG_SEED";

impl Step {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// What steps leave for later ones.
#[derive(Default)]
struct Built {
    guests: Option<Vec<Guest>>,
    host: Option<PathBuf>,
}

struct Outcome {
    step: Step,
    took: Duration,
    error: Option<anyhow::Error>,
}

pub(crate) fn run(workspace: &Workspace, args: &TestArgs) -> Result<()> {
    let started = Instant::now();
    let wanted = |step: Step| args.steps.is_empty() || args.steps.contains(&step);
    // Minutes of compiling when it is missing, so it begins now and is waited for at the end.
    let mut deny = wanted(Step::Deny).then(|| Tool::start(workspace));
    let mut built = Built::default();
    let mut outcomes: Vec<Outcome> = Vec::new();
    for &step in Step::value_variants().iter().filter(|step| wanted(**step)) {
        let began = Instant::now();
        crate::workspace::step(format!("[{}]", step.name()));
        let result = match step {
            Step::Deny => deny.take().unwrap_or_else(|| Tool::start(workspace)).and_then(|tool| tool.check(workspace)),
            other => run_step(workspace, args, other, &mut built),
        };
        if let Err(error) = &result {
            eprintln!("FAILED [{}]: {error:#}", step.name());
        }
        outcomes.push(Outcome { step, took: began.elapsed(), error: result.err() });
    }
    summary(workspace, &outcomes, started.elapsed())
}

fn run_step(workspace: &Workspace, args: &TestArgs, step: Step, built: &mut Built) -> Result<()> {
    match step {
        Step::Fmt => fmt(workspace),
        Step::Rules => rules::check(workspace),
        Step::Crds => crdgen::update(workspace, &crdgen::CrdgenArgs { check: true }),
        Step::BuildPlugins => {
            built.guests = Some(guests::build_all(workspace, args.toolchain)?);
            Ok(())
        }
        Step::GuestTests => guest_tests(workspace),
        Step::Clippy => clippy(workspace),
        Step::Doc => doc(workspace),
        Step::Docs => docs::update(workspace, &docs::DocsArgs { check: true }),
        Step::Tools => tools::find_all().map(|_| ()),
        // The same features and profile as for the binary of `demo`: see `Workspace::build_host`.
        Step::HostTests => {
            need_guests(workspace, args, built)?;
            // The same cases in every run: a search belongs to `cargo xtask fuzz` and to whoever sets the variable.
            let mut tests = workspace.cargo("test");
            if std::env::var_os(SEED).is_none() {
                tests.env(SEED, "1");
            }
            run_command(tests.args(["--workspace", "--release", "--no-fail-fast"]))
        }
        Step::TestPlugins => {
            need_guests(workspace, args, built)?;
            let host = need_host(workspace, built)?;
            plugins::run_fixtures(workspace, &host, built.guests.as_deref().unwrap_or_default(), false)
        }
        Step::Scaffold => {
            let host = need_host(workspace, built)?;
            plugins::scaffold(workspace, &host, args.toolchain)
        }
        Step::Demo => {
            need_guests(workspace, args, built)?;
            let host = need_host(workspace, built)?;
            demo::scan(workspace, &host)
        }
        Step::Readers => {
            need_guests(workspace, args, built)?;
            let host = need_host(workspace, built)?;
            readers::check(workspace, &host)
        }
        Step::Deny => bail!("cargo-deny has a way of its own"),
    }
}

/// Guests for a step that was asked for alone. When their own step has failed, trying again would only say so twice.
fn need_guests(workspace: &Workspace, args: &TestArgs, built: &mut Built) -> Result<()> {
    if built.guests.is_some() {
        return Ok(());
    }
    if args.steps.is_empty() || args.steps.contains(&Step::BuildPlugins) {
        bail!("not run, because the plugins could not be built");
    }
    built.guests = Some(guests::build_all(workspace, args.toolchain)?);
    Ok(())
}

fn need_host(workspace: &Workspace, built: &mut Built) -> Result<PathBuf> {
    if let Some(host) = &built.host {
        return Ok(host.clone());
    }
    let host = workspace.build_host()?;
    built.host = Some(host.clone());
    Ok(host)
}

/// The workspaces of guests: their own lock files and lints, checked natively by the pinned toolchain.
const GUEST_WORKSPACES: [&str; 2] = ["plugins", "tests/hostile"];

fn in_guest_workspaces(workspace: &Workspace, make: impl Fn() -> std::process::Command) -> Result<()> {
    let mut failed = Vec::new();
    for folder in GUEST_WORKSPACES {
        step(folder);
        let mut command = make();
        command.current_dir(workspace.path(folder));
        if let Err(error) = run_command(&mut command) {
            failed.push(format!("{folder}: {error:#}"));
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(anyhow!("{}", failed.join("; "))) }
}

fn fmt(workspace: &Workspace) -> Result<()> {
    let command = || {
        let mut command = workspace.command("cargo");
        // Names of files only: the difference is one command away.
        command.args(["fmt", "--all", "--check", "--", "-l"]);
        command
    };
    let host = run_command(&mut command());
    let guests = in_guest_workspaces(workspace, command);
    match host.and(guests) {
        Ok(()) => Ok(()),
        Err(error) => Err(error.context("files are not formatted; run `cargo fmt --all` in the folder named")),
    }
}

/// Native builds of guests share the target folder of their WebAssembly builds, apart by triple.
fn guest_cargo(workspace: &Workspace, subcommand: &str) -> std::process::Command {
    let mut command = workspace.cargo(subcommand);
    command.env("CARGO_TARGET_DIR", workspace.path(guests::TARGET_FOLDER));
    command
}

fn guest_tests(workspace: &Workspace) -> Result<()> {
    let mut command = guest_cargo(workspace, "test");
    command.arg("--workspace").current_dir(workspace.path("plugins"));
    run_command(&mut command)
}

fn clippy(workspace: &Workspace) -> Result<()> {
    let host =
        run_command(workspace.cargo("clippy").args(["--workspace", "--all-targets", "--release", "--keep-going", "--", "-D", "warnings"]));
    let guests = in_guest_workspaces(workspace, || {
        let mut command = guest_cargo(workspace, "clippy");
        command.args(["--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
        command
    });
    host.and(guests)
}

fn doc(workspace: &Workspace) -> Result<()> {
    let mut command = workspace.cargo("doc");
    // `--examples` for the same reason as in `Workspace::build_host`: what clippy checked of the dependencies is used again. Without
    // programs: their pages would overwrite those of libraries of the same name.
    command.args(["--workspace", "--no-deps", "--release", "--lib", "--examples", "--keep-going"]).env("RUSTDOCFLAGS", "-D warnings");
    run_command(&mut command)
}

fn summary(workspace: &Workspace, outcomes: &[Outcome], total: Duration) -> Result<()> {
    let mut table = String::new();
    for outcome in outcomes {
        let state = if outcome.error.is_none() { "ok" } else { "FAILED" };
        let _ = writeln!(table, "    {:<16} {:>7.1} s  {state}", outcome.step.name(), outcome.took.as_secs_f64());
    }
    if !workspace.root().join("../shared").is_dir() {
        // Their own words are kept back by the test runner, since such a test passes.
        note("SKIPPED: schema validation, purl vectors, corpus and truth tests, because ../shared is absent; everything else was tested");
    }
    step(format!("Summary\n{table}    {:<16} {:>7.1} s", "total", total.as_secs_f64()));
    let failed: Vec<String> = outcomes.iter().filter(|outcome| outcome.error.is_some()).map(|outcome| outcome.step.name()).collect();
    if !failed.is_empty() {
        let names = failed.join(" ");
        bail!("steps failed: {names}. Run them again alone with `cargo xtask test {names}`");
    }
    Ok(())
}
