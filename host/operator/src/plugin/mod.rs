//! `k8s-aibom plugin`: the door for authors of scrapers.

pub mod deliver;
pub mod fixtures;
pub mod inspect;
pub mod mutate;
pub mod scaffold;
pub mod test;

use clap::Subcommand;

/// Write, look into and test scrapers.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a scraper: a crate with one kind, a fixture and everything `plugin test` needs
    New(scaffold::New),
    /// Show what a component is: contract, kinds, imports, digest, sizes
    Inspect(inspect::Inspect),
    /// Run a component through the production host: limits, world, fixtures, mutations, determinism, fuel
    Test(test::Test),
    /// Print the ConfigMap with which a cluster uses a scraper
    Pack(deliver::Pack),
    /// Print the ClusterRole that the controller needs for a scraper's kinds
    Rbac(deliver::Rbac),
}

/// Runs a command; whether everything was as it should be.
///
/// # Errors
/// The command could not be carried out at all.
pub fn run(command: Command) -> anyhow::Result<bool> {
    match command {
        Command::New(new) => scaffold::run(&new).map(|()| true),
        Command::Inspect(inspect) => inspect::run(&inspect),
        Command::Test(test) => test::run(&test),
        Command::Pack(pack) => deliver::pack(&pack).map(|()| true),
        Command::Rbac(rbac) => deliver::rbac(&rbac).map(|()| true),
    }
}
