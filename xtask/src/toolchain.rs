//! The toolchain that builds guests for `wasm32-unknown-unknown`.
//!
//! Three ways, tried in order: the target is already there for the pinned toolchain; rustup can add it; Debian's packages hold a compiler
//! together with the sources of the standard library, which is then built with the guests. Only looking costs a few milliseconds, so
//! nothing is remembered between runs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::workspace::{Workspace, note, output, run_bounded, step};

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";
const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// A download of about 20 MB; a machine that cannot reach the server should not hold a build up for long.
const RUSTUP_LIMIT: Duration = Duration::from_mins(3);
const APT_LIMIT: Duration = Duration::from_mins(10);

/// Which way to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// The first of the others that works
    #[default]
    Auto,
    /// The pinned toolchain with its wasm32-unknown-unknown target, added by rustup where it is missing
    Rustup,
    /// Debian's packages rustc-web and rust-web-src, installed by apt-get where they are missing
    Debian,
}

/// A way that was found to be open.
pub(crate) enum GuestToolchain {
    /// Plain cargo of the pinned toolchain.
    Pinned,
    /// Debian's cargo and compiler, which build the standard library too. Its own linker is a link to a package that need not be
    /// installed, so the pinned toolchain's is preferred.
    Debian { linker: PathBuf },
}

impl GuestToolchain {
    pub(crate) fn find(workspace: &Workspace, choice: Choice) -> Result<Self> {
        let mut tried = Vec::new();
        if choice != Choice::Debian {
            match pinned(workspace) {
                Ok(toolchain) => return Ok(toolchain),
                Err(reasons) => tried.extend(reasons),
            }
        }
        if choice != Choice::Rustup {
            match debian(workspace) {
                Ok(toolchain) => return Ok(toolchain),
                Err(reason) => tried.push(format!("{reason:#}")),
            }
        }
        let tried = tried.into_iter().map(|line| format!("  - {line}")).collect::<Vec<_>>().join("\n");
        bail!(
            "no toolchain that builds for {TARGET} was found. Tried:\n{tried}\n\
             Do one of these, then run the command again:\n  \
             - with rustup and network access, in this folder: rustup target add {TARGET}\n  \
             - on Debian or Ubuntu, as root: apt-get update && apt-get install -y {} lld\n  \
             - with a Rust of another origin: install its package of the {TARGET} standard library (wasm32 target)",
            DEBIAN_PACKAGES.join(" ")
        )
    }

    /// `cargo build` for the guests in `folder`, which may lie outside the checkout, into `target`.
    pub(crate) fn cargo_build(&self, workspace: &Workspace, folder: &Path, target: &Path) -> Command {
        let program = match self {
            Self::Pinned => "cargo",
            Self::Debian { .. } => DEBIAN_CARGO,
        };
        let mut command = workspace.command(program);
        for (name, _) in env::vars_os() {
            if is_of_host_build(&name.to_string_lossy()) {
                command.env_remove(&name);
            }
        }
        command.current_dir(folder).arg("build").args(["--release", "--target", TARGET]);
        command.env("CARGO_TARGET_DIR", target);
        // Panic messages hold source paths: without this the bytes, and so the digest, of a plugin would depend on where it was built.
        let mut flags = vec![format!("--remap-path-prefix={}=/k8s-aibom", workspace.root().display())];
        if !folder.starts_with(workspace.root()) {
            flags.push(format!("--remap-path-prefix={}=/plugin", folder.display()));
        }
        if let Some(home) = cargo_home() {
            flags.push(format!("--remap-path-prefix={}=/cargo", home.display()));
        }
        // The linker's default stack of 1 MiB is part of every instance's memory, which the host clears after every call.
        flags.push("-Clink-arg=-zstack-size=131072".to_owned());
        command.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
        if let Self::Debian { linker } = self {
            let path = env::var_os("PATH").unwrap_or_default();
            let path = env::join_paths(std::iter::once(PathBuf::from("/usr/bin")).chain(env::split_paths(&path))).unwrap_or(path);
            command
                .env("PATH", path)
                .env_remove("RUSTUP_TOOLCHAIN")
                .env("RUSTC", DEBIAN_RUSTC)
                // Building the standard library is an unstable option of cargo; the variable lets a release compiler take it.
                .env("RUSTC_BOOTSTRAP", "1")
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker)
                .args(["-Z", "build-std=std,panic_abort"]);
        }
        command
    }

    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Pinned => format!("the pinned toolchain's {TARGET} target"),
            Self::Debian { .. } => "Debian's rustc with its library sources (builds the standard library first)".to_owned(),
        }
    }
}

/// What was meant for the host's build and must not reach the guests'. `RUSTUP_TOOLCHAIN` stays: the rustup around us has set it to the
/// pinned toolchain, which also a folder outside the checkout is to be built with.
fn is_of_host_build(name: &str) -> bool {
    name.starts_with("CARGO_BUILD_")
        || name.starts_with("CARGO_PROFILE_")
        || name.starts_with("CARGO_TARGET_")
        || matches!(
            name,
            "RUSTUP_TOOLCHAIN"
                | "RUSTFLAGS"
                | "CARGO_ENCODED_RUSTFLAGS"
                | "RUSTC"
                | "RUSTDOC"
                | "RUSTC_WRAPPER"
                | "RUSTC_WORKSPACE_WRAPPER"
        )
}

fn cargo_home() -> Option<PathBuf> {
    env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")))
}

fn rustc(workspace: &Workspace, arguments: &[&str]) -> Result<String> {
    output(workspace.command("rustc").args(arguments))
}

fn has_target(workspace: &Workspace) -> Result<bool> {
    // The path is printed for every target the compiler knows, installed or not; a folder without rlibs is a leftover.
    let folder = PathBuf::from(rustc(workspace, &["--print", "target-libdir", "--target", TARGET])?);
    Ok(folder
        .read_dir()
        .is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(|e| e.file_name().to_string_lossy().starts_with("libstd-")))))
}

fn pinned(workspace: &Workspace) -> Result<GuestToolchain, Vec<String>> {
    match has_target(workspace) {
        Ok(true) => return Ok(GuestToolchain::Pinned),
        Ok(false) => {}
        Err(error) => return Err(vec![format!("the pinned toolchain: {error:#}")]),
    }
    let mut tried = vec![format!("the pinned toolchain has no {TARGET} target installed")];
    step(format!("Adding the {TARGET} target with rustup"));
    match run_bounded(workspace.command("rustup").args(["target", "add", TARGET]), RUSTUP_LIMIT) {
        Ok(()) if has_target(workspace).unwrap_or(false) => Ok(GuestToolchain::Pinned),
        Ok(()) => {
            tried.push(format!(
                "`rustup target add {TARGET}` succeeded, but the compiler that is used (`rustc` on PATH) still lacks the target"
            ));
            Err(tried)
        }
        Err(error) => {
            note(format!("did not work: {error:#}"));
            tried.push(format!("{error:#}"));
            Err(tried)
        }
    }
}

fn debian(workspace: &Workspace) -> Result<GuestToolchain> {
    let linker = find_linker(workspace).context("Debian's compiler: no linker for WebAssembly")?;
    if let Some(missing) = missing_of_debian(workspace) {
        if !Path::new("/usr/bin/apt-get").exists() {
            bail!("Debian's packages: {missing}, and there is no apt-get on this machine");
        }
        if output(Command::new("id").arg("-u"))? != "0" {
            bail!("Debian's packages: {missing}, and only root can install them");
        }
        step(format!("Installing {} with apt-get ({missing})", DEBIAN_PACKAGES.join(" and ")));
        let mut update = apt_get(workspace);
        run_bounded(update.arg("update"), APT_LIMIT)?;
        let mut install = apt_get(workspace);
        run_bounded(install.args(["install", "-y", "--no-install-recommends"]).args(DEBIAN_PACKAGES), APT_LIMIT)?;
        if let Some(missing) = missing_of_debian(workspace) {
            bail!("Debian's packages are installed, but {missing}");
        }
    }
    Ok(GuestToolchain::Debian { linker })
}

fn apt_get(workspace: &Workspace) -> Command {
    let mut command = workspace.command("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// What Debian's toolchain lacks, or none when it can build guests.
fn missing_of_debian(workspace: &Workspace) -> Option<String> {
    for program in [DEBIAN_RUSTC, DEBIAN_CARGO] {
        if !Path::new(program).exists() {
            return Some(format!("{program} is missing"));
        }
    }
    let mut compiler = workspace.command(DEBIAN_RUSTC);
    let Ok(sysroot) = output(compiler.args(["--print", "sysroot"])) else {
        return Some(format!("{DEBIAN_RUSTC} does not run"));
    };
    let sources = Path::new(&sysroot).join("lib/rustlib/src/rust/library/Cargo.lock");
    (!sources.exists()).then(|| "the sources of its standard library are missing".to_owned())
}

/// `rust-lld` that comes with every rustup toolchain, else LLVM's linker where it is installed.
fn find_linker(workspace: &Workspace) -> Result<PathBuf> {
    let sysroot = rustc(workspace, &["--print", "sysroot"])?;
    let version = rustc(workspace, &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` names no host")?;
    let bundled = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    let path = env::var_os("PATH").unwrap_or_default();
    let installed = env::split_paths(&path).flat_map(|folder| ["rust-lld", "wasm-ld"].map(|name| folder.join(name)));
    // Links whose package is not installed point nowhere; `is_file` follows them.
    let mut candidates = std::iter::once(bundled.clone()).chain(installed);
    candidates
        .find(|linker| linker.is_file())
        .with_context(|| format!("neither {} nor rust-lld or wasm-ld on PATH is there (package lld)", bundled.display()))
}
