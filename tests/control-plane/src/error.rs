//! What can go wrong, said so that whoever reads a failed test knows where to look.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Outcome of everything here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong with the control plane or with a program that runs beside it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read, written, created or removed.
    #[error("could not {action} {}: {source}", path.display())]
    File {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },

    /// A conversion webhook could not be started.
    #[error("a conversion webhook could not be started: {0}")]
    Webhook(String),

    /// No program, and no Go to build it with.
    #[error(
        "{program} {version} is missing and cannot be built, because there is no `go` on PATH. Install Go (https://go.dev/dl), or put {program} \
         {version} into a folder and name that folder in KUBEBUILDER_ASSETS"
    )]
    NoGo {
        /// The program.
        program: &'static str,
        /// The version that is pinned.
        version: &'static str,
    },

    /// `go build` failed.
    #[error(
        "could not build {program} {version} from {package}: `go build` ended with {status}. It needs the Go module proxy (see `go env GOPROXY`) \
         unless everything is in the module cache. The end of what it said:\n{said}"
    )]
    Build {
        /// The program.
        program: &'static str,
        /// The version that is pinned.
        version: &'static str,
        /// The Go package it is built from.
        package: &'static str,
        /// How the build ended.
        status: String,
        /// The end of its output.
        said: String,
    },

    /// There is no folder to keep built programs in.
    #[error("no folder for built programs: neither AIBOM_TOOLS_CACHE nor XDG_CACHE_HOME nor HOME is set; set AIBOM_TOOLS_CACHE to one")]
    NoCache,

    /// A program could not be started.
    #[error("could not start {program}: {source}")]
    Spawn {
        /// The program as it was called.
        program: String,
        /// Why not.
        source: io::Error,
    },

    /// A child process could not be asked or told something.
    #[error("could not {action} {name} (process {pid}): {why}")]
    Process {
        /// What was tried, such as `end`.
        action: &'static str,
        /// Name of the program.
        name: String,
        /// Its process id.
        pid: u32,
        /// Why not.
        why: String,
    },

    /// A program ended while it was needed.
    #[error("{name} ended ({status}) while the control plane was starting. The end of {}:\n{tail}", log.display())]
    Died {
        /// Name of the program.
        name: String,
        /// How it ended.
        status: String,
        /// Its log.
        log: PathBuf,
        /// The last lines of the log.
        tail: String,
    },

    /// Something did not come about in time.
    #[error("{what}: not within {} s. {last}", waited.as_secs_f32())]
    Timeout {
        /// What was waited for.
        what: String,
        /// For how long.
        waited: Duration,
        /// What was found last.
        last: String,
    },

    /// kubectl refused, or the API server did. A test that expects that looks at `stderr`.
    #[error("`kubectl {args}` failed ({status}): {stderr}")]
    Kubectl {
        /// The arguments, without those that name the cluster.
        args: String,
        /// How kubectl ended.
        status: String,
        /// What it said.
        stderr: String,
    },

    /// The folder for a control plane holds something already.
    #[error("{} is not empty; a control plane begins in an empty folder. Name another one, or remove it", .0.display())]
    NotEmpty(PathBuf),

    /// No free port was found.
    #[error("no free port between {first} and {last} on 127.0.0.1: {source}")]
    NoPort {
        /// First port that was looked at.
        first: u16,
        /// Last one.
        last: u16,
        /// Why the last try failed.
        source: io::Error,
    },

    /// A line of the audit log, or another answer, was not what it should be.
    #[error("{what} is not as expected: {why}")]
    Unexpected {
        /// What was read.
        what: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Error {
    /// For `map_err` after something was done with a file.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { action, path, source }
    }

    /// What kubectl said, and so what the API server answered; empty for other errors.
    ///
    /// ```
    /// # fn refused() -> aibom_control_plane::Result<String> { aibom_control_plane::Result::Ok(String::new()) }
    /// if let Err(error) = refused() {
    ///     assert!(error.stderr().contains("is forbidden"));
    /// }
    /// ```
    pub fn stderr(&self) -> &str {
        match self {
            Self::Kubectl { stderr, .. } => stderr,
            _ => "",
        }
    }
}
