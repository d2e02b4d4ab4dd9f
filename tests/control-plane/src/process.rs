//! A child process with its log: parts of the control plane, and programs under test such as the operator.
//!
//! ```no_run
//! # fn main() -> aibom_control_plane::Result<()> {
//! use std::time::Duration;
//! use aibom_control_plane::process::Program;
//!
//! let operator = Program::new("target/release/k8s-aibom", "operator.log").args(["operator"]).env("KUBECONFIG", "kubeconfig").start()?;
//! println!("{} KiB without files", operator.usage()?.anonymous_rss_kib);
//! operator.kill9()?;
//! # Ok(())
//! # }
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::guard;
use crate::wait::wait_until;

/// A program with what it is started with. May be started more than once, at the same time or one after the other.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    name: String,
    args: Vec<OsString>,
    env: Vec<(OsString, Option<OsString>)>,
    folder: Option<PathBuf>,
    log: PathBuf,
}

impl Program {
    /// A program whose standard output and error are appended to the file `log`, so that what it said before a restart stays.
    pub fn new(program: impl Into<PathBuf>, log: impl Into<PathBuf>) -> Self {
        let path = program.into();
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { path, name, args: Vec::new(), env: Vec::new(), folder: None, log: log.into() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable. The others are those of the test process.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), Some(value.into())));
        self
    }

    /// Leaves a variable of the test process out.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.env.push((name.into(), None));
        self
    }

    /// The folder it runs in, instead of that of the test process.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Starts it, with nothing on its standard input and in a process group of its own, which the interrupt of a terminal does not reach.
    ///
    /// # Errors
    /// The log cannot be written, or the program is not there.
    pub fn start(&self) -> Result<Process> {
        let log = OpenOptions::new().create(true).append(true).open(&self.log).map_err(Error::file("write", &self.log))?;
        let copy = log.try_clone().map_err(Error::file("write", &self.log))?;
        let mut command = Command::new(&self.path);
        command.args(&self.args).stdin(Stdio::null()).stdout(log).stderr(copy).process_group(0);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let child = command.spawn().map_err(|source| Error::Spawn { program: self.path.display().to_string(), source })?;
        let process = Process { name: self.name.clone(), pid: child.id(), child: Mutex::new(Some(child)), log: self.log.clone() };
        guard::add(process.pid)?;
        Ok(process)
    }
}

/// What a process uses, as the kernel counts it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usage {
    /// Resident memory in KiB (`VmRSS`), pages of the program file among it.
    pub rss_kib: u64,
    /// The part of it that no file stands behind, in KiB (`RssAnon`).
    pub anonymous_rss_kib: u64,
    /// The most it ever was, in KiB (`VmHWM`).
    pub peak_rss_kib: u64,
    /// Processor time since its start in seconds, in user and kernel mode, all threads.
    pub cpu_seconds: f64,
}

/// A child process. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: String,
    pid: u32,
    /// Empty once it has been let go.
    child: Mutex<Option<Child>>,
    log: PathBuf,
}

impl Process {
    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Name of its program, without the folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file with its output.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// How it ended; nothing while it runs.
    pub fn exit_status(&self) -> Result<Option<ExitStatus>> {
        let mut child = self.child();
        let Some(child) = child.as_mut() else { return Ok(None) };
        let status = child.try_wait().map_err(|error| self.error("ask for the state of", &error))?;
        if status.is_some() {
            guard::forget(self.pid);
        }
        Ok(status)
    }

    /// It has not ended yet.
    pub fn is_running(&self) -> Result<bool> {
        Ok(self.exit_status()?.is_none())
    }

    /// Ends it at once (SIGKILL) and waits for its end. Does nothing when it has ended.
    pub fn kill9(&self) -> Result<()> {
        let mut child = self.child();
        let Some(child) = child.as_mut() else { return Ok(()) };
        // `kill` sends nothing to a child that was waited for.
        child.kill().and_then(|()| child.wait()).map_err(|error| self.error("kill", &error))?;
        guard::forget(self.pid);
        Ok(())
    }

    /// Asks it to end (SIGTERM). Does nothing when it has ended.
    pub fn terminate(&self) -> Result<()> {
        self.signal("TERM")
    }

    /// Halts it where it is (SIGSTOP), as a partitioned or starved process is. It can still be killed.
    pub fn pause(&self) -> Result<()> {
        self.signal("STOP")
    }

    /// Lets it go on after [`Process::pause`] (SIGCONT).
    pub fn resume(&self) -> Result<()> {
        self.signal("CONT")
    }

    /// The standard library sends SIGKILL only, and a call of the system would need `unsafe`. Every shell has `kill`.
    fn signal(&self, signal: &str) -> Result<()> {
        // Holding the child keeps the id from being given to another process meanwhile.
        let mut child = self.child();
        let Some(child) = child.as_mut() else { return Ok(()) };
        if child.try_wait().map_err(|error| self.error("ask for the state of", &error))?.is_some() {
            guard::forget(self.pid);
            return Ok(());
        }
        let status = Command::new("sh").args(["-c", "kill -s \"$1\" \"$2\"", "kill", signal]).arg(self.pid.to_string()).status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(self.error("signal", &format!("kill -s {signal} ended with {status}"))),
            Err(error) => Err(self.error("signal", &error)),
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// It runs on after `limit`; then it is left running, and the error holds the end of its log.
    pub fn wait_exit(&self, limit: Duration) -> Result<ExitStatus> {
        wait_until(&format!("the end of {} (process {})", self.name, self.pid), limit, || {
            Ok(self.exit_status()?.ok_or_else(|| format!("The end of {}:\n{}", self.log.display(), self.log_tail(10))))
        })
    }

    /// Memory and processor time now, read from `/proc`, so on Linux only.
    pub fn usage(&self) -> Result<Usage> {
        usage(self.pid).map_err(|why| self.error("read the memory and processor time of", &why))
    }

    /// The last `lines` lines of its log; a word on it when there are none.
    pub fn log_tail(&self, lines: usize) -> String {
        tail(&self.log, lines)
    }

    /// Lets it run on after our end, and gives its id.
    pub fn detach(self) -> u32 {
        guard::forget(self.pid);
        self.child().take();
        self.pid
    }

    fn child(&self) -> MutexGuard<'_, Option<Child>> {
        // A panic elsewhere leaves the child as it was.
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, action: &'static str, why: &dyn std::fmt::Display) -> Error {
        Error::Process { action, name: self.name.clone(), pid: self.pid, why: why.to_string() }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Nobody is left to tell; the guard tries once more.
        let _ = self.kill9();
    }
}

/// Units of processor time in `/proc`, per second: the same on every Linux, whatever its kernel counts with.
const TICKS_PER_SECOND: f64 = 100.0;

fn usage(pid: u32) -> Result<Usage, String> {
    let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}")).map_err(|error| format!("/proc/{pid}/{file}: {error}"));
    let status = read("status")?;
    let kib = |name: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().strip_suffix("kB"));
        value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| format!("no {name} in /proc/{pid}/status"))
    };
    Ok(Usage {
        rss_kib: kib("VmRSS")?,
        anonymous_rss_kib: kib("RssAnon")?,
        peak_rss_kib: kib("VmHWM")?,
        cpu_seconds: cpu_seconds(&read("stat")?).ok_or_else(|| format!("/proc/{pid}/stat has another form"))?,
    })
}

/// The second field is the name in brackets, in which anything may stand; counting begins behind it. User and kernel time are the fields
/// 14 and 15 (proc(5)).
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let kernel: u64 = fields.next()?.parse().ok()?;
    Some((user + kernel) as f64 / TICKS_PER_SECOND)
}

/// The last lines of a file; a word on it when it cannot be read or is empty.
pub(crate) fn tail(path: &Path, lines: usize) -> String {
    let text = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return format!("({} cannot be read: {error})", path.display()),
    };
    let all: Vec<&str> = text.lines().collect();
    if all.is_empty() {
        return "(it said nothing)".to_owned();
    }
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Runs a short command to its end: its output, or nothing when it failed or is not there.
pub(crate) fn said(program: &OsStr, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    fn shell(script: &str) -> (Process, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let process = Program::new("sh", folder.path().join("log")).args(["-c", script]).env("WORD", "heard").start().unwrap();
        (process, folder)
    }

    #[test]
    fn output_is_kept_and_the_exit_code_is_given() {
        let (process, _folder) = shell("echo one; echo \"$WORD\" >&2; exit 3");
        assert_eq!(process.wait_exit(Duration::from_secs(10)).unwrap().code(), Some(3));
        assert_eq!(process.log_tail(1), "heard");
        assert_eq!(process.log_tail(9), "one\nheard");
        assert!(!process.is_running().unwrap());
        process.terminate().expect("nothing to do for one that has ended");
        process.kill9().expect("nor here");
    }

    #[test]
    fn terminate_can_be_handled_and_kill9_cannot() {
        let (process, _folder) = shell("trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done");
        wait_until("the trap", Duration::from_secs(10), || Ok(if process.log_tail(1) == "ready" { Ok(()) } else { Err(String::new()) }))
            .unwrap();
        process.terminate().unwrap();
        assert_eq!(process.wait_exit(Duration::from_secs(10)).unwrap().code(), Some(7));

        let (process, _folder) = shell("exec sleep 60");
        process.kill9().unwrap();
        assert_eq!(process.exit_status().unwrap().and_then(|status| status.signal()), Some(9));
    }

    #[test]
    fn one_that_runs_on_is_reported_with_its_log_and_ends_when_dropped() {
        let (process, _folder) = shell("echo still here; exec sleep 60");
        let error = process.wait_exit(Duration::from_millis(300)).unwrap_err().to_string();
        assert!(error.contains("still here") && error.contains("the end of sh"), "{error}");
        let pid = process.pid();
        assert!(Path::new(&format!("/proc/{pid}")).exists());
        drop(process);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_missing_program_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Program::new("/nowhere/operator", folder.path().join("log")).start().unwrap_err().to_string();
        assert!(error.contains("/nowhere/operator"), "{error}");
    }

    #[test]
    fn memory_and_processor_time_of_a_running_process_can_be_read() {
        let (process, _folder) = shell("exec sleep 60");
        let usage = process.usage().unwrap();
        assert!(usage.rss_kib > 0 && usage.anonymous_rss_kib <= usage.rss_kib && usage.peak_rss_kib >= usage.rss_kib, "{usage:?}");
    }

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let stat = "12 (a) b) S 1 12 12 0 -1 4194304 97 0 0 0 150 25 0 0 20 0 1 0 100 1 2";
        assert!((cpu_seconds(stat).unwrap() - 1.75).abs() < f64::EPSILON);
        assert_eq!(cpu_seconds("nothing"), None);
    }
}
