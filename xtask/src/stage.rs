//! A throwaway control plane with the charts installed, and the operator on it as a process.
//!
//! There is no kubelet, so the Deployment of the chart is scaled to zero and the operator is started here, as the user that its pod would be:
//! with a token of the chart's ServiceAccount. It may do what the chart allows, and nothing else.

use std::cell::Cell;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aibom_control_plane::audit::{Entries, Entry, Mark};
use aibom_control_plane::binaries::{self, Tool};
use aibom_control_plane::process::{Process, Program, Usage};
use aibom_control_plane::{ControlPlane, Options, wait_until};
use anyhow::{Context as _, Result, bail};

use crate::guests;
use crate::toolchain::Choice;
use crate::tools;
use crate::workspace::{Workspace, run_bounded, step};

/// Namespace of the release.
pub(crate) const SYSTEM: &str = "k8s-aibom-system";

/// Name of the release, and so of its ServiceAccount.
const RELEASE: &str = "k8s-aibom";

/// The label by which a namespace is opted in.
pub(crate) const OPTED_IN: (&str, &str) = ("aibom.k8saibom.dev/enabled", "true");

/// The definitions, by their full names.
const DEFINITIONS: [&str; 2] = ["aiboms.aibom.k8saibom.dev", "aibomcontrollerconfigs.aibom.k8saibom.dev"];

/// For what takes some seconds, on a machine under load.
const SOON: Duration = Duration::from_mins(2);

/// An operator and its scrapers.
#[derive(Clone, Debug)]
pub(crate) struct Build {
    binary: PathBuf,
    plugins: Option<PathBuf>,
}

impl Build {
    /// The one that is there already, with the scrapers that it finds by itself; otherwise one that is built now.
    pub(crate) fn find(workspace: &Workspace, binary: Option<&Path>) -> Result<Self> {
        let Some(binary) = binary else {
            guests::build_families(workspace, &[], Choice::Auto)?;
            return Ok(Self { binary: workspace.build_host()?, plugins: Some(workspace.plugins()) });
        };
        // The operator runs in another folder.
        let binary = binary
            .canonicalize()
            .with_context(|| format!("there is no {}; without --binary, one is built from this checkout", binary.display()))?;
        Ok(Self { binary, plugins: None })
    }
}

/// A cluster in which the operator may run. Dropping it ends the control plane and removes its folder.
pub(crate) struct Stage {
    pub(crate) plane: ControlPlane,
    build: Build,
    kubeconfig: PathBuf,
    starts: Cell<u32>,
}

impl Stage {
    /// Starts a control plane, in its temporary folder, and installs the charts. `controller_args` are further
    /// options of kube-controller-manager.
    pub(crate) fn start(workspace: &Workspace, build: &Build, controller_args: &[&str]) -> Result<Self> {
        tools::find_all()?;
        step("Starting a throwaway control plane");
        // The usual rates of the controllers would let them work on a burst for minutes.
        let rates = ["--kube-api-qps=300", "--kube-api-burst=600"];
        let controller_manager_args = rates.iter().chain(controller_args).map(|argument| (*argument).to_owned()).collect();
        let plane = ControlPlane::start(&Options { controller_manager_args, ..Options::default() })?;
        step(format!("Installing the charts with helm, in the namespace {SYSTEM}"));
        install(workspace, &plane, "k8s-aibom-crds", &[])?;
        for name in DEFINITIONS {
            plane.wait_for(&["customresourcedefinition", name], SOON, |found| {
                let conditions = found["status"]["conditions"].as_array()?;
                conditions.iter().any(|condition| condition["type"] == "Established" && condition["status"] == "True").then_some(())
            })?;
        }
        // No pod could run: there are no nodes.
        install(workspace, &plane, RELEASE, &["--set", "replicas=0"])?;
        let kubeconfig = plane.service_account_kubeconfig(SYSTEM, RELEASE)?;
        Ok(Self { plane, build: build.clone(), kubeconfig, starts: Cell::new(0) })
    }

    /// Starts the operator as the ServiceAccount of the chart with further arguments, and waits until it leads and has looked through what is
    /// stored.
    pub(crate) fn operator(&self, args: &[&str]) -> Result<Operator> {
        self.starts.set(self.starts.get() + 1);
        let (probes, metrics) = (free_port()?, free_port()?);
        let log = self.plane.folder().join(format!("operator-{}.log", self.starts.get()));
        let mut program = Program::new(&self.build.binary, log)
            .arg("operator")
            .args([
                format!("--health-probe-bind-address=127.0.0.1:{probes}"),
                format!("--metrics-bind-address=127.0.0.1:{metrics}"),
                format!("--kubeconfig={}", self.kubeconfig.display()),
            ])
            .args(args.iter().copied())
            // As the chart sets it.
            .env("MALLOC_ARENA_MAX", "1")
            .env("POD_NAME", "k8s-aibom-0")
            .env("POD_NAMESPACE", SYSTEM)
            .env_remove("K8S_AIBOM_PLUGINS");
        if let Some(plugins) = &self.build.plugins {
            program = program.arg(format!("--plugins={}", plugins.display()));
        }
        let started = Instant::now();
        let operator = Operator { process: program.start()?, probes, metrics };
        wait_until("an operator that leads and is ready", SOON, || {
            // Its own error says more than the time that is over.
            Ok(if operator.process.exit_status()?.is_some() || operator.is_ready() {
                Ok(())
            } else {
                Err(format!("The end of its log:\n{}", operator.process.log_tail(10)))
            })
        })?;
        operator.check()?;
        crate::workspace::note(format!("the operator leads and is ready after {:.1} s", started.elapsed().as_secs_f64()));
        Ok(operator)
    }

    /// What the operator asked the API server since a mark.
    pub(crate) fn requests(&self, since: Mark) -> Result<Entries> {
        Ok(self.plane.audit().since(since)?.by_service_account(SYSTEM, RELEASE))
    }

    /// The watches that the operator opened since a mark.
    pub(crate) fn watches(&self, since: Mark) -> Result<Entries> {
        Ok(self.plane.audit().watches_since(since)?.by_service_account(SYSTEM, RELEASE))
    }
}

/// It is about the lease, by which replicas agree who writes: one request every few seconds whatever the cluster does.
pub(crate) fn is_lease(entry: &Entry) -> bool {
    entry.resource == "leases"
}

/// The operator as a process. Dropping it kills it.
pub(crate) struct Operator {
    process: Process,
    probes: u16,
    metrics: u16,
}

impl Operator {
    /// What it uses now.
    pub(crate) fn usage(&self) -> Result<Usage> {
        self.check()?;
        Ok(self.process.usage()?)
    }

    /// Where it says what it does.
    pub(crate) fn log(&self) -> &Path {
        self.process.log()
    }

    /// Asks it to end, as Kubernetes does, and waits for it.
    pub(crate) fn stop(self) -> Result<Duration> {
        let began = Instant::now();
        self.process.terminate()?;
        let status = self.process.wait_exit(SOON)?;
        if !status.success() {
            bail!("the operator ended with {status} after SIGTERM. The end of its log:\n{}", self.process.log_tail(20));
        }
        Ok(began.elapsed())
    }

    /// It still runs.
    pub(crate) fn check(&self) -> Result<()> {
        match self.process.exit_status()? {
            None => Ok(()),
            Some(status) => bail!("the operator has ended by itself ({status}). The end of its log:\n{}", self.process.log_tail(20)),
        }
    }

    fn is_ready(&self) -> bool {
        let leads = get(self.metrics, "/metrics").is_some_and(|text| text.lines().any(|line| line == "aibom_leader 1"));
        leads && get(self.probes, "/readyz").is_some_and(|answer| answer.starts_with("HTTP/1.1 200"))
    }
}

/// Installs a chart of the checkout under its own name.
fn install(workspace: &Workspace, plane: &ControlPlane, chart: &str, more: &[&str]) -> Result<()> {
    let home = plane.folder().join("helm");
    fs::create_dir_all(&home).with_context(|| format!("could not create {}", home.display()))?;
    let mut helm = workspace.command(binaries::find(Tool::Helm)?);
    helm.args(["install", chart, &format!("charts/{chart}"), "--create-namespace", "--namespace", SYSTEM]);
    helm.args(more).arg("--kubeconfig").arg(plane.kubeconfig());
    // Whoever has helm keeps settings of his own, and no traces of this.
    for name in ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"] {
        helm.env(name, &home);
    }
    for name in ["HELM_NAMESPACE", "HELM_KUBECONTEXT", "KUBECONFIG"] {
        helm.env_remove(name);
    }
    run_bounded(&mut helm, SOON)
}

/// The answer to a request, with its head.
fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

fn free_port() -> Result<u16> {
    let free = || TcpListener::bind(("127.0.0.1", 0))?.local_addr();
    Ok(free().context("no free port on the loopback interface")?.port())
}
