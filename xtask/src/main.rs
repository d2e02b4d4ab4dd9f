//! Everything that builds, tests and demonstrates the project, as `cargo xtask <command>`.
//!
//! Two commands do all set-up on a machine that has Rust: `demo` and `test`. The others are the steps of these two, for daily work.
//! Each command prints a line `==> step` before it starts something that may take a while, and an error says what to do next.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

mod guests;
mod toolchain;
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
    /// Build the plugins into target/plugins/<name>.wasm (and the hostile guests of the tests into target/hostile/)
    ///
    /// Finds or installs the guest toolchain first: the wasm32-unknown-unknown target of the pinned Rust toolchain, else
    /// `rustup target add`, else Debian's rustc-web with its library sources.
    BuildPlugins(guests::BuildArgs),
}

fn main() -> ExitCode {
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
        Command::BuildPlugins(args) => guests::build(workspace, &args).map(|_| ()),
    }
}
