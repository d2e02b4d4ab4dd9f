//! Children end with the test process, however it ends.
//!
//! `Drop` is not enough: a test that is killed drops nothing, and neither does a `static` at the end of a run. What the kernel offers
//! (`PR_SET_PDEATHSIG`) looks at the *thread* that started a child, and each test has a thread of its own, so it would end a shared
//! control plane with the first test. So there is one small shell per test process. It reads from a pipe that only the test process
//! holds, learns there which processes and folders there are, and reaches the end of the pipe when the test process is gone.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::error::{Error, Result};

/// `+ PID` and `- PID` for processes, `d PATH` for a folder that goes with them. A folder whose owner removed it himself does no harm. It
/// is removed twice, since a process that was killed may still create a file.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
pids=
while IFS= read -r line; do
  what=${line#? }
  case $line in
    '+ '*) pids="$pids $what" ;;
    '- '*) left=
           for pid in $pids; do [ "$pid" = "$what" ] || left="$left $pid"; done
           pids=$left ;;
    'd '*) set -- "$@" "$what" ;;
  esac
done
[ -z "$pids" ] || kill -9 $pids 2>/dev/null
for folder in "$@"; do rm -rf -- "$folder"; done
[ -z "$pids" ] || sleep 1
for folder in "$@"; do rm -rf -- "$folder"; done
"#;

/// The guard of this process. Never ended by us: it ends itself.
struct Guard {
    pipe: ChildStdin,
    /// Kept, since dropping it would say that nobody cares; it is never waited for.
    _shell: Child,
}

static GUARD: OnceLock<Mutex<Option<Guard>>> = OnceLock::new();

/// From now on the process ends when we do.
pub(crate) fn add(pid: u32) -> Result<()> {
    tell(&format!("+ {pid}"))
}

/// The process has ended, or is to outlive us. Must be said before its id can be given to another process.
pub(crate) fn forget(pid: u32) {
    // A guard that is gone guards nothing, so there is nothing to take back.
    let _ = tell(&format!("- {pid}"));
}

/// The folder is removed when we end.
pub(crate) fn add_folder(path: &Path) -> Result<()> {
    let path = path.display().to_string();
    // A folder for temporary files with a line break in its name would be cut; then it only stays.
    if path.contains('\n') { Ok(()) } else { tell(&format!("d {path}")) }
}

fn tell(line: &str) -> Result<()> {
    let spawn_error = |source| Error::Spawn { program: "sh, the guard of child processes,".to_owned(), source };
    // Nothing here leaves the guard half changed.
    let mut guard = GUARD.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if guard.is_none() {
        *guard = Some(start().map_err(spawn_error)?);
    }
    let Some(Guard { pipe, .. }) = guard.as_mut() else { return Ok(()) };
    pipe.write_all(format!("{line}\n").as_bytes()).map_err(spawn_error)
}

fn start() -> std::io::Result<Guard> {
    let mut shell = Command::new("sh")
        .args(["-c", SCRIPT, "guard"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Out of the group that gets the interrupt of a terminal.
        .process_group(0)
        .spawn()?;
    let pipe = shell.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    Ok(Guard { pipe, _shell: shell })
}
