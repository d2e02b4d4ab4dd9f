//! Everything that builds, tests and demonstrates the project, as `cargo xtask <command>`.
//!
//! Two commands do all set-up on a machine that has Rust: `demo` and `test`. The others are the steps of these two, for daily work.
//! Each command prints a line `==> step` before it starts something that may take a while, and an error says what to do next.

#![allow(clippy::print_stdout, reason = "results of a command go to standard output, progress to standard error")]

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod bench;
mod cluster;
mod corpus;
mod crdgen;
mod demo;
mod deny;
mod docs;
mod fuzz;
mod guests;
mod plugins;
mod readers;
mod rules;
mod stage;
mod test;
mod toolchain;
mod tools;
mod workspace;

use workspace::Workspace;

#[derive(Parser)]
#[command(
    bin_name = "cargo xtask",
    about = "Builds, tests and demonstrates k8s-aibom",
    long_about = "Builds, tests and demonstrates k8s-aibom.\n\n\
        On a fresh machine with Rust, two commands do everything:\n  \
        cargo xtask demo   builds the host and the plugins, scans examples/ and shows what was found\n  \
        cargo xtask test   runs all that continuous integration runs\n\n\
        Neither needs anything installed beforehand: what is missing (the WebAssembly target for the plugins, cargo-deny) is found or \
        installed on the way."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build everything, scan the bundled examples, show the table and where the documents are
    ///
    /// With --cluster: start a throwaway API server, install the charts, apply the examples, run the operator, and show the AIBOMs.
    Demo(demo::DemoArgs),
    /// Run all that continuous integration runs, or the named steps of it
    ///
    /// Every step runs even when an earlier one failed, except those that need what the failed one builds; the summary at the end says
    /// how long each took and which failed. Under CI (the variable CI is set) lock files must be up to date.
    Test(test::TestArgs),
    /// Build the plugins into target/plugins/NAME.wasm, and the hostile guests of the tests into target/hostile/
    ///
    /// Finds or installs the guest toolchain first: the wasm32-unknown-unknown target of the pinned Rust toolchain, else
    /// `rustup target add`, else Debian's rustc-web with its library sources.
    BuildPlugins(guests::BuildArgs),
    /// Build plugins and run their fixtures through the production host (`k8s-aibom plugin test`)
    ///
    /// Checks limits, world, fixtures, a mutation of every field, determinism and the fuel budget of each family.
    TestPlugins(plugins::TestPluginsArgs),
    /// Scan the public manifests, print recall and precision per measure and kind, write every miss to target/corpus/misses.txt
    ///
    /// Needs the corpus folder (samples/ and truth/), by default ../shared/corpus beside the checkout.
    Corpus(corpus::CorpusArgs),
    /// Write the parts of docs/ that are made from data: the list of known programs
    Docs(docs::DocsArgs),
    /// Write the definitions of the custom resources from the types of host/api: crds/*.yaml, and the copies in their chart
    Crdgen(crdgen::CrdgenArgs),
    /// Start, use and end a control plane that stays, for work by hand
    ///
    /// A real API server with its store and controllers, without nodes: RBAC holds, Deployments get Pods, and no container runs. The tests
    /// start their own.
    Cluster(cluster::ClusterArgs),
    /// Find or build the programs of a control plane (etcd, kube-apiserver, kube-controller-manager, kubectl, helm), print where they are
    ///
    /// Looks in KUBEBUILDER_ASSETS, in a cache (AIBOM_TOOLS_CACHE, else k8s-aibom in XDG_CACHE_HOME or ~/.cache) and on PATH; what is missing
    /// is built with Go from tests/control-plane/pins, once, in some 15 minutes on two cores.
    Tools,
    /// Measure, and print the figures with a description of the machine
    Bench(bench::BenchArgs),
    /// Run the fuzz targets (libFuzzer; needs a C++ compiler) and print their figures
    ///
    /// Not part of `test`, which only keeps them compiling. An input that makes a target fail is kept under target/fuzz.
    Fuzz(fuzz::FuzzArgs),
}

fn main() -> ExitCode {
    if let Some(code) = fuzz::in_front_of_the_compiler() {
        return code;
    }
    let cli = Cli::parse();
    let ran = Workspace::find().and_then(|workspace| run(&workspace, cli.command));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(workspace: &Workspace, command: Command) -> Result<()> {
    match command {
        Command::Demo(args) => demo::demonstrate(workspace, &args),
        Command::Test(args) => test::run(workspace, &args),
        Command::BuildPlugins(args) => guests::build(workspace, &args),
        Command::TestPlugins(args) => plugins::test(workspace, &args),
        Command::Corpus(args) => corpus::scan_and_score(workspace, &args),
        Command::Docs(args) => docs::update(workspace, &args),
        Command::Crdgen(args) => crdgen::update(workspace, &args),
        Command::Cluster(args) => cluster::run(workspace, &args),
        Command::Tools => tools::list(),
        Command::Bench(args) => bench::measure(workspace, &args),
        Command::Fuzz(args) => fuzz::fuzz(workspace, &args),
    }
}
