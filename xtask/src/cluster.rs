//! `cargo xtask cluster`: a control plane that stays, for work by hand.

use std::fs;
use std::path::{Path, PathBuf};

use aibom_control_plane::cluster::Detached;
use aibom_control_plane::{ControlPlane, Options};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::workspace::{Workspace, note, output, step, write_if_changed};

#[derive(Args)]
pub(crate) struct ClusterArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start a control plane, or find the one that runs, and apply crds/
    ///
    /// Takes some seconds once the programs are there; building them takes some minutes (`cargo xtask tools`). It runs until
    /// `cargo xtask cluster down`. There is one per checkout, known by target/cluster/state.json.
    Up(UpArgs),
    /// End the control plane and remove its folder, data and logs with it
    Down,
    /// Print what a shell needs to use it: eval "$(cargo xtask cluster env)"
    Env,
}

#[derive(Args)]
struct UpArgs {
    /// Folder for data, logs and certificates; absent or empty, and removed by `down`
    #[arg(long, value_name = "D", default_value = DATA)]
    dir: PathBuf,

    /// Leave the controllers out: no pods are made of Deployments, and nothing is collected
    #[arg(long)]
    without_controllers: bool,
}

/// Data, logs and certificates, when nothing else is said.
const DATA: &str = "target/cluster/data";

/// What is known of the one that runs.
const STATE: &str = "target/cluster/state.json";

pub(crate) fn run(workspace: &Workspace, args: &ClusterArgs) -> Result<()> {
    match &args.command {
        Command::Up(args) => up(workspace, args),
        Command::Down => down(workspace),
        Command::Env => env(workspace),
    }
}

fn up(workspace: &Workspace, args: &UpArgs) -> Result<()> {
    let detached = match state(workspace)? {
        Some(found) if found.is_running() => {
            step(format!("A control plane runs already, in {}", workspace.show(&found.folder)));
            found
        }
        found => {
            // Of one that ended without `down`, such as by a restart of the machine.
            if let Some(old) = found {
                old.stop()?;
            }
            start(workspace, args)?
        }
    };
    step("Applying crds/");
    let mut apply = detached.kubectl();
    apply.args(["apply", "--server-side", "--force-conflicts", "--filename"]).arg(workspace.path("crds"));
    for line in output(&mut apply)?.lines() {
        note(line);
    }
    step(format!("The control plane answers, with the user {} who may do anything", aibom_control_plane::cluster::ADMIN));
    note("use it:    eval \"$(cargo xtask cluster env)\"; kubectl get aiboms --all-namespaces");
    note("or:        cargo xtask cluster env   prints KUBECONFIG, for other programs");
    note(format!("requests:  {}", workspace.show(&detached.folder.join("audit.log"))));
    note("there is no kubelet: pods stay pending, and their images have no digests until something writes their status");
    note("end it:    cargo xtask cluster down");
    Ok(())
}

fn start(workspace: &Workspace, args: &UpArgs) -> Result<Detached> {
    step("Starting etcd, kube-apiserver and kube-controller-manager");
    let folder = workspace.root().join(&args.dir);
    // What a start that failed left for its error to point to. Another folder may hold something else, which is refused.
    if args.dir == Path::new(DATA) && folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("could not empty {DATA}"))?;
    }
    let options = Options { folder: Some(folder), controller_manager: !args.without_controllers, ..Options::default() };
    let detached = ControlPlane::start(&options)?.detach()?;
    let text = serde_json::to_string_pretty(&detached)?;
    if let Err(error) = write_if_changed(&workspace.path(STATE), text.as_bytes()) {
        // What nothing knows of cannot be ended.
        detached.stop()?;
        return Err(error);
    }
    Ok(detached)
}

fn down(workspace: &Workspace) -> Result<()> {
    let Some(detached) = state(workspace)? else {
        step("There is no control plane");
        return Ok(());
    };
    detached.stop()?;
    let state = workspace.path(STATE);
    fs::remove_file(&state).with_context(|| format!("could not remove {STATE}"))?;
    step(format!("The control plane has ended, and {} is removed", workspace.show(&detached.folder)));
    Ok(())
}

fn env(workspace: &Workspace) -> Result<()> {
    let Some(detached) = state(workspace)?.filter(Detached::is_running) else {
        bail!("no control plane runs; start one with `cargo xtask cluster up`");
    };
    println!("export KUBECONFIG={}", quoted(&detached.kubeconfig));
    if let Some(folder) = detached.kubectl_path.parent() {
        println!("export PATH={}:\"$PATH\"", quoted(folder));
    }
    Ok(())
}

/// The one that was started last and not ended.
fn state(workspace: &Workspace) -> Result<Option<Detached>> {
    let path = workspace.path(STATE);
    if !path.is_file() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path).with_context(|| format!("could not read {STATE}"))?;
    let detached = serde_json::from_str(&text).with_context(|| {
        format!("{STATE} is not what `cargo xtask cluster up` writes; end the programs of the control plane and remove it")
    })?;
    Ok(Some(detached))
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell_whatever_it_holds() {
        assert_eq!(quoted(Path::new("/a b/c")), "'/a b/c'");
        assert_eq!(quoted(Path::new("/it's")), r"'/it'\''s'");
    }
}
