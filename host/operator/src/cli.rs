//! Command line: arguments, logging, exit codes.

use std::io::{self, BufWriter};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use aibom_api::kinds::GroupKind;
use aibom_bom::{Options, PropertyNames, SpecVersion};
use aibom_extract::Rules;
use aibom_facts::inventory::{Origin, Tool};
use aibom_plugin::{Host, HostConfig};
use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::catalogue::{self, Catalogue};
use crate::clock::unix_seconds;
use crate::logging;
use crate::operator;
use crate::pipeline::Pipeline;
use crate::plugin;
use crate::runtimes;
use crate::scan::output::{Format, Presenter, Writer, count, printable};
use crate::scan::{self, Explain, KindFilter, NameFilter, Plan, sources};
use crate::usage;

/// Everything went well.
const OK: u8 = 0;
/// Nothing was done: bad arguments, no plugins, a folder that cannot be written.
const FAILED: u8 = 1;
/// Done, but some input, document or object was not.
const INCOMPLETE: u8 = 2;

/// Deadline of a scraper's call where nobody waits but the user: a build machine may well be busy for longer than the 250 ms that the
/// operator grants.
pub const OFFLINE_DEADLINE: Duration = Duration::from_secs(2);

/// Most workers of a scan; each holds one slot of the engine's pool.
const MAX_WORKERS: usize = 64;

/// AI bills of materials for Kubernetes workloads, every fact with its evidence.
#[derive(Debug, Parser)]
#[command(name = "k8s-aibom", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 done; 1 nothing was done (arguments, plugins, output folder); 2 done, but there was no object to look at, an input could not be read or a scraper failed.\n\
                        Logging: -vv (RUST_LOG=debug) tells of each object what came of it; -v is short for RUST_LOG=info."
)]
struct Cli {
    /// Log more to standard error (-v: info, -vv: debug)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what manifests would put into the inventory: no cluster needed
    Scan(Scan),
    /// Keep one AIBOM for every AI workload of a cluster
    Operator(operator::flags::Flags),
    /// Write, look into and test scrapers
    #[command(subcommand)]
    Plugin(plugin::Command),
}

/// Show what manifests would put into the inventory: no cluster needed
///
/// Reads YAML and JSON: several documents in a file, `List`s, the output of `helm template` and `kubectl get -o yaml`. A document that
/// cannot be read is named with file, document, line and reason, and everything else is still done. Other objects that a scraper asks
/// for are looked up among the scanned ones.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  k8s-aibom scan deploy/\n  helm template my-chart | k8s-aibom scan - --output cyclonedx\n  \
                        k8s-aibom scan . --kinds Deployment,apps/StatefulSet --out-dir boms/\n  \
                        k8s-aibom scan deploy/ --explain=Deployment/chat")]
struct Scan {
    /// Files and folders (every *.yaml, *.yml and *.json below them, not in hidden folders such as .git); `-` is standard input
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Form of what is written to standard output
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    output: Format,
    /// Also write one document per AI workload into this folder
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Folder of scrapers (*.wasm) to use instead of the built-in ones [default: `plugins` beside the binary or one folder up]
    /// [env: K8S_AIBOM_PLUGINS]
    #[arg(long, value_name = "DIR")]
    plugins: Option<PathBuf>,
    /// Only objects of these kinds, as `Kind` or `group/Kind` (`core/Kind` in the core group)
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
    /// Look at each object alone: what a scraper asks for besides it counts as absent
    #[arg(long)]
    alone: bool,
    /// Tell every fact with its evidence and why other things are not reported, of every object or of one (`name`, `Kind/name`)
    #[arg(long, value_name = "OBJECT", num_args = 0..=1, require_equals = true)]
    #[allow(clippy::option_option, reason = "no flag, the flag, the flag with a value: what clap makes of it")]
    explain: Option<Option<String>>,
    /// Runtime file, or folder of such files, that adds a runtime or changes a built-in one; may be repeated
    #[arg(long, value_name = "PATH")]
    runtimes: Vec<PathBuf>,
    /// Runtime that is to be known no more; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    disable_runtime: Vec<String>,
    /// Version of CycloneDX that documents are written in
    #[arg(long, value_name = "VERSION", value_enum, default_value_t = Spec::V1_6)]
    spec_version: Spec,
    /// How names of properties are spelled
    #[arg(long, value_name = "FORM", value_enum, default_value_t = Names::Dotted)]
    property_names: Names,
    /// Workers [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// No summary on standard error
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Spec {
    /// What every consumer reads
    #[value(name = "1.6")]
    V1_6,
    /// Adds who found what (`citations`) and marks hardware as external; Dependency-Track 4 and 5.0 refuse it
    #[value(name = "1.7")]
    V1_7,
}

impl From<Spec> for SpecVersion {
    fn from(spec: Spec) -> Self {
        match spec {
            Spec::V1_6 => Self::V1_6,
            Spec::V1_7 => Self::V1_7,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Names {
    /// `aibom.model.role`, `image.tag`: what queries written for the Go k8s-aibom look for
    Dotted,
    /// `k8s-aibom:model:role`, `k8s-aibom:image:tag`: under one namespace, as the CycloneDX property taxonomy asks
    Colon,
}

impl From<Names> for PropertyNames {
    fn from(names: Names) -> Self {
        match names {
            Names::Dotted => Self::Dotted,
            Names::Colon => Self::Colon,
        }
    }
}

/// Runs the program.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { FAILED } else { OK });
        }
    };
    match &cli.command {
        Command::Operator(flags) => logging::init_operator(&flags.zap_log_level, flags.zap_encoder == "json"),
        Command::Scan(_) | Command::Plugin(_) => logging::init(cli.verbose),
    }
    let result = match cli.command {
        Command::Scan(scan) => run_scan(scan),
        Command::Operator(flags) => operator::run(flags).map(|()| OK),
        Command::Plugin(command) => plugin::run(command).map(|good| if good { OK } else { INCOMPLETE }),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) if is_broken_pipe(&error) => ExitCode::from(OK), // `| head` has seen enough
        Err(error) => {
            usage::say(&format!("error: {}", printable(&format!("{error:#}"))));
            ExitCode::from(FAILED)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            || cause.downcast_ref::<serde_json::Error>().is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
    })
}

/// The folder of plugins to use.
///
/// # Errors
/// None was given and no built-in ones are beside the binary.
pub fn plugin_folder(given: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    // A variable that is set to nothing is what CI systems make of one that is not set.
    let set = || std::env::var_os("K8S_AIBOM_PLUGINS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    given.or_else(set).or_else(catalogue::default_folder).context(
        "no scrapers found beside the binary; name their folder with --plugins DIR (in a checkout, `cargo xtask build-plugins` builds them into target/plugins)",
    )
}

fn run_scan(scan: Scan) -> anyhow::Result<u8> {
    let started = Instant::now();
    let changed = !(scan.runtimes.is_empty() && scan.disable_runtime.is_empty());
    let own = changed.then(|| runtimes::load(&scan.runtimes, &scan.disable_runtime)).transpose()?;
    let rules = own.as_ref().unwrap_or_else(|| Rules::builtin());
    let folder = plugin_folder(scan.plugins)?;
    let paths = scan::default_paths(scan.paths)?;
    anyhow::ensure!(
        scan.kinds.iter().all(|kind| !kind.trim().is_empty()),
        "--kinds holds an empty kind; leave the flag out to look at all kinds"
    );
    anyhow::ensure!(
        scan.explain.as_ref().is_none_or(|object| object.as_ref().is_none_or(|object| !object.trim().is_empty())),
        "--explain= names no object; leave the `=` out to explain all of them"
    );
    anyhow::ensure!(
        scan.explain.is_none() || scan.output != Format::Cyclonedx,
        "--explain tells in text or JSON (--output table or json); leave it out for CycloneDX documents"
    );
    let workers = scan
        .jobs
        .filter(|jobs| *jobs > 0)
        .or_else(|| std::thread::available_parallelism().ok().map(usize::from))
        .unwrap_or(1)
        .min(MAX_WORKERS);
    let host = Host::new(HostConfig { deadline: OFFLINE_DEADLINE, slots: workers, ..HostConfig::default() })?;
    let (catalogue, refused) = Catalogue::load(&host, &folder)?;
    for error in &refused {
        usage::say(&format!("error: {}", printable(&error.to_string())));
    }
    let mut conflicts = 0;
    for (group, kind, plugins) in catalogue.conflicts() {
        conflicts += 1;
        let kind = GroupKind::new(group, kind).to_string();
        usage::say(&format!(
            "error: {} is claimed by the scrapers {}, so none of them reads it; keep one",
            printable(&kind),
            plugins.join(" and ")
        ));
    }
    anyhow::ensure!(
        !catalogue.plugins().is_empty(),
        "no usable scraper in {}; name a folder that holds *.wasm files with --plugins DIR",
        folder.display()
    );
    let options = Options {
        spec_version: scan.spec_version.into(),
        property_names: scan.property_names.into(),
        ..Options::new(producer(), aibom_bom::format_timestamp(now()?))
    };
    let pipeline = Pipeline { catalogue: &catalogue, rules, origin: Origin::Manifest, options: &options };
    let (inputs, unlisted) = sources::collect(&paths);
    for error in &unlisted {
        usage::say(&format!("error: {}", printable(&error.to_string())));
    }
    let presenter = Presenter { format: scan.output, to_folder: scan.out_dir.is_some(), explain: scan.explain.is_some() };
    let mut writer = Writer::new(BufWriter::new(io::stdout().lock()), presenter, scan.out_dir.clone(), inputs.len())?;
    let loaded = started.elapsed();
    let began = Instant::now();
    let explain = scan.explain.as_ref().map(|object| match object {
        None => Explain::All,
        Some(object) => Explain::Named(NameFilter::new(object)),
    });
    let plan = Plan { inputs: &inputs, kinds: KindFilter::new(scan.kinds.clone()), workers, alone: scan.alone, explain };
    // What a file of its own could not take is told apart; all else goes to standard output.
    let totals = scan::run(&pipeline, &plan, &presenter, &mut writer).context("standard output")?;
    let seconds = began.elapsed().as_secs_f64();
    let unread = writer.unread();
    let (written, unwritten) = writer.finish(&totals).context("standard output")?;
    if scan.explain == Some(None)
        && let Some(first) = paths.first().filter(|path| path.as_os_str() != "-" && !path.exists())
    {
        let first = printable(&first.display().to_string());
        usage::say(&format!("hint: `{first}` was taken for a file; to explain one object, write --explain={first}"));
    }
    let unreadable = totals.faults + unlisted.len();
    let nothing = totals.objects == 0;
    if nothing && totals.unasked > 0 && !scan.kinds.is_empty() {
        usage::say(&format!(
            "error: no object of {} among {} of the inputs; kinds are given as `Kind` or `group/Kind`, as in `kind: Deployment`; the scrapers read {}",
            printable(&scan.kinds.join(", ")),
            count(totals.unasked, "object"),
            printable(&catalogue.kinds().join(", "))
        ));
    } else if nothing && totals.unasked == 0 && unreadable == 0 {
        // A pipeline whose first program has failed gives no input, and must not look like a cluster without AI.
        usage::say("error: no Kubernetes object among the inputs");
    }
    if !nothing {
        tell_unmet(&plan.kinds, &catalogue);
    }
    if let Some(Some(object)) = &scan.explain {
        anyhow::ensure!(
            totals.objects > 0,
            "no object {} among the inputs; objects are named as `name` or `Kind/name`, as in `kind` and `metadata.name`",
            printable(object)
        );
    }
    if !scan.quiet {
        let parts = if totals.parts == 0 { String::new() } else { format!("{} part of others, ", totals.parts) };
        let for_others = if totals.for_others == 0 { String::new() } else { format!("{} read for others, ", totals.for_others) };
        usage::say(&format!(
            "{} in {}: {}, {parts}{} without AI, {for_others}{} of kinds without a scraper; {} failed, {unreadable} unreadable",
            count(totals.objects, "object"),
            count(totals.inputs, "file"),
            count(totals.documented, "AI workload"),
            totals.not_ai,
            totals.no_scraper,
            totals.failed
        ));
        if !unread.is_empty() {
            let more = if unread.len() > 8 { format!(" and {} more kinds", unread.len() - 8) } else { String::new() };
            usage::say(&format!("no scraper reads: {}{more}", unread[..unread.len().min(8)].join(", ")));
        }
        if totals.other > 0 {
            let are = if totals.other == 1 {
                "document or list item is no Kubernetes object"
            } else {
                "documents or list items are no Kubernetes objects"
            };
            usage::say(&format!("{} {are} (no apiVersion and kind)", totals.other));
        }
        if let Some(folder) = &scan.out_dir {
            usage::say(&format!("{} written to {}", count(written, "document"), folder.display()));
        }
        let peak = usage::peak_resident_bytes().map_or_else(String::new, |bytes| format!(", peak {} MiB", bytes >> 20));
        usage::say(&format!(
            "{} loaded in {:.2} s; scanned in {seconds:.2} s, {:.0} objects/s with {}{peak}",
            count(catalogue.plugins().len(), "scraper"),
            loaded.as_secs_f64(),
            totals.objects as f64 / seconds.max(1e-6),
            count(workers, "worker")
        ));
    }
    let complete = !nothing
        && totals.failed == 0
        && totals.faults == 0
        && refused.is_empty()
        && conflicts == 0
        && unwritten == 0
        && unlisted.is_empty();
    Ok(if complete { OK } else { INCOMPLETE })
}

/// Kinds that were asked for beside others and that are none: a slip there would leave objects out without a word. A kind that is read
/// and just does not occur is no news.
fn tell_unmet(kinds: &KindFilter, catalogue: &Catalogue) {
    let known = catalogue.kinds();
    let is_read = |wanted: &str| {
        known
            .iter()
            .any(|kind| [kind.as_str(), kind.rsplit('/').next().unwrap_or(kind)].iter().any(|name| name.eq_ignore_ascii_case(wanted)))
    };
    for wanted in kinds.unmet().filter(|wanted| !is_read(wanted)) {
        usage::say(&format!(
            "warning: `{}` of --kinds is the kind of no object of the inputs, and no scraper reads it; kinds are given as `Kind` or `group/Kind`; the scrapers read {}",
            printable(wanted),
            printable(&known.join(", "))
        ));
    }
}

/// Seconds since 1970. `SOURCE_DATE_EPOCH` (reproducible-builds.org) overrides the clock, so that documents can be compared byte by byte.
fn now() -> anyhow::Result<i64> {
    if let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") {
        return text.trim().parse().with_context(|| format!("SOURCE_DATE_EPOCH must be seconds since 1970, not `{text}`"));
    }
    Ok(unix_seconds(SystemTime::now()))
}

/// This program, as documents name it.
pub fn producer() -> Tool {
    Tool { name: "k8s-aibom".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned(), sha256: None }
}
