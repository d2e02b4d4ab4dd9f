//! Where things are, and how child processes are started.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The checkout this binary was built from.
pub(crate) struct Workspace {
    root: PathBuf,
    /// Where cargo puts what it builds for the host; follows `CARGO_TARGET_DIR`.
    target: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable when it runs us; the compiled-in path serves whoever calls the binary itself.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = manifest.parent().context("the xtask folder has no parent folder")?.to_path_buf();
        if !root.join("wit").is_dir() {
            bail!("{} is not a checkout of k8s-aibom (no wit/ folder); run `cargo xtask` inside one", root.display());
        }
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
        Ok(Self { root, target })
    }

    /// A path inside the checkout, `/`-separated.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where cargo puts what it builds for the host.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// A path as arguments of programs that run in the root carry it: short, and the same on every machine.
    pub(crate) fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// How a path is shown: relative to the checkout where it lies inside.
    pub(crate) fn show(&self, path: &Path) -> String {
        self.relative(path).display().to_string()
    }

    /// `program` in the root of the checkout, without the variables that the cargo around us set for itself.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        for (name, _) in env::vars_os() {
            if is_of_outer_cargo(&name) {
                command.env_remove(&name);
            }
        }
        command
    }

    /// `cargo <subcommand>` of the toolchain of rust-toolchain.toml. Under CI the lock file must already be right.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let mut command = self.command("cargo");
        command.arg(subcommand);
        if is_ci() {
            command.arg("--locked");
        }
        command
    }

    /// Builds the operator's binary and says where it is.
    ///
    /// `--workspace` and `--examples` are there for the features of dependencies, not for what they build: with them cargo switches on the
    /// same set as for `cargo test --workspace`, `cargo clippy --all-targets` and `cargo bench`. With another set it would compile the
    /// WebAssembly compiler, the largest part of a cold build, once more.
    pub(crate) fn build_host(&self) -> Result<PathBuf> {
        step("Building k8s-aibom (a cold build compiles the WebAssembly engine: some minutes)");
        run(self.cargo("build").args(["--release", "--workspace", "--bin", HOST, "--examples"]))?;
        let binary = self.target.join("release").join(HOST).with_extension(std::env::consts::EXE_EXTENSION);
        if !binary.is_file() {
            bail!("cargo built no {}", binary.display());
        }
        Ok(binary)
    }

    /// Components of the families, as `build-plugins` leaves them.
    pub(crate) fn plugins(&self) -> PathBuf {
        self.path("target/plugins")
    }
}

/// Name of the operator's binary.
const HOST: &str = "k8s-aibom";

/// Variables that describe the package being run, and library paths of the toolchain it was run with. Left in place they would leak
/// into build scripts and confuse another toolchain's cargo. Settings of the user (`CARGO_HOME`, `CARGO_NET_…`, `CARGO_TERM_…`,
/// `CARGO_TARGET_DIR`) stay.
fn is_of_outer_cargo(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    name.starts_with("CARGO_PKG_")
        || name.starts_with("CARGO_MANIFEST_")
        || matches!(
            name,
            "CARGO" | "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE" | "LD_LIBRARY_PATH" | "DYLD_FALLBACK_LIBRARY_PATH"
        )
}

pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false" && value != "0")
}

/// Announces something that may take a while.
pub(crate) fn step(what: impl AsRef<str>) {
    eprintln!("==> {}", what.as_ref());
}

/// Something worth knowing inside a step.
pub(crate) fn note(what: impl AsRef<str>) {
    eprintln!("    {}", what.as_ref());
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Runs to the end with our standard streams; an exit code other than 0 is an error that names the command.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start `{}`", shown(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", shown(command));
    }
    Ok(())
}

/// Standard output of a short command; its standard error becomes part of the error when it fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start `{}`", shown(command)))?;
    if !output.status.success() {
        bail!("`{}` failed ({}): {}", shown(command), output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs with captured output and a time limit, for commands that may wait for a network that is not there.
/// The error holds the end of what the command said.
pub(crate) fn run_bounded(command: &mut Command, limit: Duration) -> Result<()> {
    let what = shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not start `{what}`"))?;
    let mut stream = child.stderr.take().context("no standard error of the child")?;
    let reader = thread::spawn(move || {
        let mut text = Vec::new();
        // A broken pipe only shortens the message.
        let _ = stream.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let start = Instant::now();
    let status: Option<ExitStatus> = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(50));
    };
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let said = reader.join().unwrap_or_default();
            bail!("`{what}` failed ({status}): {}", tail(&said));
        }
        // The reader is left alone: a grandchild may still hold the pipe.
        None => bail!("`{what}` did not end within {} s", limit.as_secs()),
    }
}

/// The last lines of a long output, on one line.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join(" | ")
}

/// Writes through a temporary file, and only when the bytes differ, so that times of unchanged files stay. True when written.
pub(crate) fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    }
    let mut temporary = OsString::from(path);
    temporary.push(format!(".{}.tmp", std::process::id()));
    fs::write(&temporary, bytes)
        .and_then(|()| fs::rename(&temporary, path))
        .with_context(|| format!("could not write {}", path.display()))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_sets_for_a_program_is_told_from_what_the_user_sets_for_cargo() {
        for own in ["CARGO", "CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "LD_LIBRARY_PATH"] {
            assert!(is_of_outer_cargo(OsStr::new(own)), "{own}");
        }
        for user in ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_NET_OFFLINE", "CARGO_REGISTRIES_MIRROR_INDEX", "PATH"] {
            assert!(!is_of_outer_cargo(OsStr::new(user)), "{user}");
        }
    }

    #[test]
    fn a_command_that_hangs_is_ended_at_its_limit() {
        let error = run_bounded(Command::new("sleep").arg("600"), Duration::from_millis(100)).unwrap_err();
        assert!(error.to_string().contains("`sleep 600` did not end"), "{error}");
    }

    #[test]
    fn a_command_that_fails_tells_what_it_said() {
        let error =
            run_bounded(Command::new("sh").args(["-c", "echo first >&2; echo no such network >&2; exit 3"]), Duration::from_mins(1))
                .unwrap_err();
        assert!(error.to_string().contains("first | no such network"), "{error}");
    }

    #[test]
    fn unchanged_bytes_are_not_written_again() {
        let folder = std::env::temp_dir().join(format!("xtask-write-{}", std::process::id()));
        let path = folder.join("deep/file");
        assert!(write_if_changed(&path, b"a").unwrap());
        assert!(!write_if_changed(&path, b"a").unwrap());
        assert!(write_if_changed(&path, b"b").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"b");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "a temporary file was left");
        fs::remove_dir_all(&folder).unwrap();
    }
}
