//! A control plane that runs on after the process that started it, for work by hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::process::said;
use crate::wait::wait_until;

/// What is needed to use and to end it. Can be kept in a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Detached {
    /// The folder with everything.
    pub folder: PathBuf,
    /// Configuration of a client that may do anything.
    pub kubeconfig: PathBuf,
    /// A kubectl of the same version.
    pub kubectl_path: PathBuf,
    /// Its programs, in the order in which they are to end.
    pub pids: Vec<u32>,
}

impl Detached {
    /// kubectl as admin; arguments are to be added.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new(&self.kubectl_path);
        command.arg("--kubeconfig").arg(&self.kubeconfig).arg("--cache-dir").arg(self.folder.join("kubectl-cache"));
        command
    }

    /// At least one of its programs runs.
    pub fn is_running(&self) -> bool {
        self.pids.iter().any(|pid| self.is_ours(*pid))
    }

    /// Ends its programs and removes its folder. Does nothing about what is gone already.
    pub fn stop(&self) -> Result<()> {
        for pid in self.pids.iter().copied().filter(|pid| self.is_ours(*pid)) {
            let error = |why: String| Error::Process { action: "end", name: "a program of the control plane".to_owned(), pid, why };
            let status = Command::new("sh")
                .args(["-c", "kill -9 \"$1\"", "kill", &pid.to_string()])
                .stdin(Stdio::null())
                .status()
                .map_err(|why| error(why.to_string()))?;
            if !status.success() {
                return Err(error(format!("kill -9 ended with {status}")));
            }
        }
        wait_until("the end of the control plane", Duration::from_secs(10), || {
            Ok(if self.is_running() { Err(format!("Processes {:?} are still there.", self.pids)) } else { Ok(()) })
        })?;
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file("remove", &self.folder)(error)),
            _ => Ok(()),
        }
    }

    /// The id may belong to another process by now. Ours have the folder in their arguments.
    fn is_ours(&self, pid: u32) -> bool {
        arguments(pid).is_some_and(|arguments| arguments.contains(&*self.folder.to_string_lossy()))
    }
}

/// The arguments of a process that runs.
fn arguments(pid: u32) -> Option<String> {
    if Path::new("/proc/self/cmdline").exists() {
        return fs::read(format!("/proc/{pid}/cmdline")).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    }
    said("ps".as_ref(), &["-o", "args=", "-p", &pid.to_string()])
}
