//! The control plane.
//!
//! Everything lives in one folder: data of etcd, certificates, the log of each program, the audit log and the configurations of clients.
//! Programs listen on the loopback interface only, on ports that stay the same while the control plane lives.
//!
//! ```no_run
//! # fn main() -> aibom_control_plane::Result<()> {
//! use aibom_control_plane::{ControlPlane, Options};
//!
//! let cluster = ControlPlane::start(&Options::default())?;
//! cluster.create_namespace("models", &[("aibom.k8saibom.dev/enabled", "true")])?;
//! let mark = cluster.audit().mark();
//! cluster.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one, namespace: models}\n")?;
//! assert_eq!(cluster.audit().since(mark)?.writes().on("configmaps").len(), 1);
//! # Ok(())
//! # }
//! ```

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::audit::Audit;
use crate::binaries::{self, Tool};
use crate::error::{Error, Result};
use crate::guard;
use crate::ports;
use crate::process::{Process, Program};
use crate::wait::wait_until;

mod detached;
mod kubeconfig;
mod kubectl;
mod programs;

pub use detached::Detached;
use programs::Place;

/// The user of [`ControlPlane::kubeconfig`], in the group `system:masters`.
pub const ADMIN: &str = "admin";

/// How a control plane is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// With controllers, which is the default. Without them nothing acts but the clients of the test: no ReplicaSets, no Pods, no garbage
    /// collection, and namespaces are never gone.
    pub controller_manager: bool,
    /// The folder for everything. Must be empty or absent, and is left in place. When absent, a temporary one that is removed at the end.
    pub folder: Option<PathBuf>,
    /// Further options of kube-apiserver, such as `--feature-gates=…`. One that is given twice counts as it comes last.
    pub apiserver_args: Vec<String>,
    /// Further options of kube-controller-manager, such as `--kube-api-qps=300`: it asks 20 times a second at most otherwise, and is minutes
    /// behind thousands of new objects.
    pub controller_manager_args: Vec<String>,
    /// How long each program may take to answer. The default is for a machine under load.
    pub patience: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            controller_manager: true,
            folder: None,
            apiserver_args: Vec::new(),
            controller_manager_args: Vec::new(),
            patience: Duration::from_mins(2),
        }
    }
}

/// A control plane that answers. Dropping it ends all its programs and removes its folder.
#[derive(Debug)]
pub struct ControlPlane {
    place: Place,
    patience: Duration,
    kubectl: PathBuf,
    apiserver: Program,
    /// In the order in which they are to end. Empty where a program is stopped or was not asked for.
    running: Mutex<Running>,
    /// Dropped after the programs, since fields are dropped in their order.
    root: Folder,
}

#[derive(Debug, Default)]
struct Running {
    controller_manager: Option<Process>,
    apiserver: Option<Process>,
    etcd: Option<Process>,
}

/// How often a start is tried: a port that was free may have been taken by another process meanwhile.
const TRIES: usize = 3;

impl ControlPlane {
    /// Starts etcd, kube-apiserver and, if asked, kube-controller-manager, and waits until they answer.
    ///
    /// Programs that are missing are built first, which takes some minutes ([`binaries`]).
    ///
    /// # Errors
    /// A program is missing and cannot be built, ends, or does not answer in time; the error then holds the end of its log.
    pub fn start(options: &Options) -> Result<Self> {
        let mut tries = 1;
        loop {
            match Self::try_start(options) {
                Err(Error::Died { tail, .. }) if tries < TRIES && tail.contains("address already in use") => {
                    tries += 1;
                    if let Some(folder) = &options.folder {
                        // It was empty before, so all that is in it is ours.
                        fs::remove_dir_all(folder).map_err(Error::file("empty", folder))?;
                    }
                }
                outcome => return outcome,
            }
        }
    }

    fn try_start(options: &Options) -> Result<Self> {
        // All before the first is started, since building one may take minutes.
        let etcd = binaries::find(Tool::Etcd)?;
        let apiserver = binaries::find(Tool::KubeApiserver)?;
        let controller_manager = if options.controller_manager { Some(binaries::find(Tool::KubeControllerManager)?) } else { None };
        let kubectl = binaries::find(Tool::Kubectl)?;
        let folder = Folder::new(options.folder.as_deref())?;
        let place = Place::new(folder.path.clone(), ports::free()?);
        place.write_files()?;
        let apiserver = place.apiserver(apiserver).args(&options.apiserver_args);
        let running = Running { etcd: Some(place.etcd(etcd).start()?), ..Running::default() };
        let patience = options.patience;
        let cluster = Self { place, patience, kubectl, apiserver, running: Mutex::new(running), root: folder };
        cluster.start_apiserver()?;
        if let Some(program) = controller_manager {
            let process = cluster.place.controller_manager(program).args(&options.controller_manager_args).start()?;
            cluster.running().controller_manager = Some(process);
            // Made by one of its controllers, so they run.
            cluster.wait_for_answer(
                "controllers",
                |running| running.controller_manager.as_ref(),
                &["get", "serviceaccount", "default", "--namespace=default", "--output=name"],
            )?;
        }
        Ok(cluster)
    }

    /// Starts the API server again after [`ControlPlane::stop_apiserver`], at the same address and with the same data, and waits until it
    /// answers. Does nothing while it runs.
    pub fn start_apiserver(&self) -> Result<()> {
        {
            let mut running = self.running();
            if running.apiserver.is_some() {
                return Ok(());
            }
            running.apiserver = Some(self.apiserver.start()?);
        }
        // The certificate is the API server's own, and there from when it listens on.
        self.wait_for_answer("API server", |running| running.apiserver.as_ref(), &["get", "--raw=/readyz"])
    }

    /// Ends the API server at once, as an outage does: connections break, watches among them. etcd and the controllers go on.
    pub fn stop_apiserver(&self) -> Result<()> {
        match self.running().apiserver.take() {
            Some(process) => process.kill9(),
            None => Ok(()),
        }
    }

    /// Halts the API server where it is (SIGSTOP): connections stay and nothing is answered, which a client sees only by a time limit.
    pub fn pause_apiserver(&self) -> Result<()> {
        self.running().apiserver.as_ref().map_or(Ok(()), Process::pause)
    }

    /// Lets the API server go on after [`ControlPlane::pause_apiserver`].
    pub fn resume_apiserver(&self) -> Result<()> {
        self.running().apiserver.as_ref().map_or(Ok(()), Process::resume)
    }

    /// Halts etcd where it is (SIGSTOP): the API server stays, and what it has to ask for is not answered.
    pub fn pause_etcd(&self) -> Result<()> {
        self.running().etcd.as_ref().map_or(Ok(()), Process::pause)
    }

    /// Lets etcd go on after [`ControlPlane::pause_etcd`].
    pub fn resume_etcd(&self) -> Result<()> {
        self.running().etcd.as_ref().map_or(Ok(()), Process::resume)
    }

    /// Waits until a question is answered, and until then looks whether the program behind it is still there.
    fn wait_for_answer(&self, name: &str, process: impl Fn(&Running) -> Option<&Process>, question: &[&str]) -> Result<()> {
        wait_until(&format!("{name} in {}", self.place.folder.display()), self.patience, || {
            {
                let running = self.running();
                // Without etcd nothing comes up, and the log of the other one says so only between the lines.
                for process in running.etcd.iter().chain(process(&running)) {
                    if let Some(status) = process.exit_status()? {
                        return Err(Error::Died {
                            name: process.name().to_owned(),
                            status: status.to_string(),
                            log: process.log().to_path_buf(),
                            tail: process.log_tail(TAIL),
                        });
                    }
                }
            }
            match self.kubectl(question) {
                Ok(_) => Ok(Ok(())),
                Err(error @ Error::Kubectl { .. }) => {
                    let log = process(&self.running()).map(|process| process.log_tail(TAIL)).unwrap_or_default();
                    Ok(Err(format!("{error}\nThe end of its log:\n{log}")))
                }
                Err(error) => Err(error),
            }
        })
    }

    /// The folder with everything.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// Address of the API server, `https://127.0.0.1:<port>`. Its certificate is in [`ControlPlane::ca_file`].
    pub fn url(&self) -> String {
        self.place.url()
    }

    /// The certificate that signs the API server's, in PEM.
    pub fn ca_file(&self) -> PathBuf {
        self.place.ca_file()
    }

    /// Configuration of a client that may do anything, the user [`ADMIN`].
    pub fn kubeconfig(&self) -> PathBuf {
        self.place.kubeconfig()
    }

    /// What the API server was asked, by anyone.
    pub fn audit(&self) -> Audit {
        Audit::at(self.place.audit_log())
    }

    /// The log of a program of the control plane.
    pub fn log(&self, tool: Tool) -> PathBuf {
        self.place.log(tool)
    }

    /// Lets the control plane run on after our end, in a folder that was named in [`Options::folder`].
    ///
    /// # Errors
    /// The folder is a temporary one, which goes with us.
    pub fn detach(self) -> Result<Detached> {
        if self.root.temporary {
            return Err(Error::Unexpected {
                what: "the control plane to be left running".to_owned(),
                why: "its folder is a temporary one; name one in `Options::folder`".to_owned(),
            });
        }
        let running = std::mem::take(&mut *self.running());
        let processes = [running.controller_manager, running.apiserver, running.etcd];
        Ok(Detached {
            folder: self.place.folder.clone(),
            kubeconfig: self.kubeconfig(),
            kubectl_path: self.kubectl.clone(),
            pids: processes.into_iter().flatten().map(Process::detach).collect(),
        })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        // A panic elsewhere leaves each process where it is.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lines of a log that an error shows.
const TAIL: usize = 20;

/// The folder of a control plane.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    temporary: bool,
    keep: bool,
}

impl Folder {
    fn new(named: Option<&Path>) -> Result<Self> {
        let keep = env::var_os("AIBOM_KEEP_CLUSTER").is_some_and(|value| !value.is_empty());
        if let Some(path) = named {
            fs::create_dir_all(path).map_err(Error::file("create", path))?;
            // Absolute, since programs and clients run elsewhere.
            let path = path.canonicalize().map_err(Error::file("find", path))?;
            if fs::read_dir(&path).map_err(Error::file("read", &path))?.next().is_some() {
                return Err(Error::NotEmpty(path));
            }
            return Ok(Self { path, temporary: false, keep: true });
        }
        let parent = env::temp_dir();
        let path = tempfile::Builder::new().prefix("aibom-cluster-").tempdir().map_err(Error::file("create a folder in", &parent))?.keep();
        let folder = Self { path, temporary: true, keep };
        if keep {
            binaries::say(&format!("Control plane in {}, which is kept (AIBOM_KEEP_CLUSTER)", folder.path.display()));
        } else {
            guard::add_folder(&folder.path)?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What is left is removed by the guard at the end.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
