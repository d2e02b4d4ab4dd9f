//! The programs of a control plane, and where they come from.
//!
//! Each is looked for on its own, in this order:
//!
//! 1. the folder `KUBEBUILDER_ASSETS`, as envtest has it: whoever sets it decides, so the version is not looked at;
//! 2. the cache: what was built here before, of exactly the pinned versions;
//! 3. `PATH`, if the program there is of the pinned minor version. It comes after the cache and is asked for its version, since a kubectl of
//!    another age is on many machines, and a test should not depend on whose machine it runs on;
//! 4. built from Go modules into the cache. That takes some minutes, once.
//!
//! Versions are pinned by `pins/<name>/go.mod` and `go.sum`, which are part of this library: it works from any folder. A folder of the cache
//! is named by a hash of them, so another pin is another folder, and nothing in the cache is ever out of date.
//!
//! To move to another version, change it in go.mod (for Kubernetes in each line that has it; a test compares them), run `go mod tidy` in the
//! folder, run the tests of this crate, and commit both files.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::process::said;

mod build;

pub(crate) use build::say;

/// A program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// The store.
    Etcd,
    /// The API server.
    KubeApiserver,
    /// The controllers for Deployments, Jobs, owner references and the like.
    KubeControllerManager,
    /// The command line client.
    Kubectl,
    /// The installer of charts.
    Helm,
}

impl Tool {
    /// All of them, in the order in which they are built.
    pub const ALL: [Self; 5] = [Self::Etcd, Self::KubeApiserver, Self::KubeControllerManager, Self::Kubectl, Self::Helm];

    /// Name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::Kubectl => "kubectl",
            Self::Helm => "helm",
        }
    }

    /// The pinned version, without a `v`.
    pub fn version(self) -> &'static str {
        self.pin().version()
    }

    /// The Go package that it is built from.
    fn package(self) -> &'static str {
        match self {
            Self::Etcd => "go.etcd.io/etcd/server/v3",
            Self::KubeApiserver => "k8s.io/kubernetes/cmd/kube-apiserver",
            Self::KubeControllerManager => "k8s.io/kubernetes/cmd/kube-controller-manager",
            Self::Kubectl => "k8s.io/kubernetes/cmd/kubectl",
            Self::Helm => "helm.sh/helm/v4/cmd/helm",
        }
    }

    /// Minutes that a cold build takes on two cores. Programs of one pin share most of what is compiled, so the first of them takes longest.
    fn minutes(self) -> &'static str {
        match self {
            Self::Etcd => "1 to 2 minutes",
            Self::KubeApiserver => "6 to 8 minutes",
            Self::KubeControllerManager => "2 to 3 minutes",
            Self::Kubectl => "1 minute",
            Self::Helm => "3 minutes",
        }
    }

    /// How the program is asked for its version.
    fn version_args(self) -> &'static [&'static str] {
        match self {
            Self::Kubectl => &["version", "--client"],
            Self::Helm => &["version", "--short"],
            Self::Etcd | Self::KubeApiserver | Self::KubeControllerManager => &["--version"],
        }
    }

    fn pin(self) -> &'static Pin {
        match self {
            Self::Etcd => &ETCD,
            Self::KubeApiserver | Self::KubeControllerManager | Self::Kubectl => &KUBERNETES,
            Self::Helm => &HELM,
        }
    }
}

/// A Go module that pins programs.
struct Pin {
    name: &'static str,
    /// The module whose version is that of the programs.
    module: &'static str,
    go_mod: &'static str,
    go_sum: &'static str,
}

const ETCD: Pin = Pin {
    name: "etcd",
    module: "go.etcd.io/etcd/server/v3",
    go_mod: include_str!("../pins/etcd/go.mod"),
    go_sum: include_str!("../pins/etcd/go.sum"),
};

const KUBERNETES: Pin = Pin {
    name: "kubernetes",
    module: "k8s.io/kubernetes",
    go_mod: include_str!("../pins/kubernetes/go.mod"),
    go_sum: include_str!("../pins/kubernetes/go.sum"),
};

const HELM: Pin = Pin {
    name: "helm",
    module: "helm.sh/helm/v4",
    go_mod: include_str!("../pins/helm/go.mod"),
    go_sum: include_str!("../pins/helm/go.sum"),
};

impl Pin {
    /// The version that go.mod requires of the module, without its `v`. Empty, which no program is, when it requires none.
    fn version(&self) -> &'static str {
        let required = self.go_mod.lines().find_map(|line| {
            let line = line.trim().trim_start_matches("require").trim_start();
            line.strip_prefix(self.module)?.strip_prefix(" v")
        });
        required.and_then(|version| version.split_ascii_whitespace().next()).unwrap_or_default()
    }

    /// `major.minor.`, with the dot, so that 1.3 is not taken for 1.36.
    fn minor(&self) -> String {
        self.version().split_inclusive('.').take(2).collect()
    }

    /// What the linker writes into the programs. Without it the API server calls itself by a template, and helm refuses it.
    fn link_flags(&self) -> String {
        let version = self.version();
        let mut flags = "-s -w".to_owned();
        match self.name {
            "kubernetes" => {
                let mut parts = version.split('.');
                let (major, minor) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                for (name, value) in [
                    ("gitVersion", format!("v{version}").as_str()),
                    ("gitMajor", major),
                    ("gitMinor", minor),
                    ("gitTreeState", "clean"),
                    ("gitCommit", "unknown"),
                    ("buildDate", "1970-01-01T00:00:00Z"),
                ] {
                    // The second one is what clients call themselves, so what is read in the audit log.
                    for package in ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] {
                        let _ = write!(flags, " -X {package}.{name}={value}");
                    }
                }
            }
            "helm" => {
                let _ = write!(flags, " -X helm.sh/helm/v4/internal/version.version=v{version}");
            }
            _ => {}
        }
        flags
    }

    /// Name of the folder in the cache: the version for people, a hash of all that a build depends on for us.
    fn key(&self) -> String {
        let mut hash = Sha256::new();
        for part in [self.go_mod, self.go_sum, &self.link_flags(), env::consts::OS, env::consts::ARCH] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().iter().take(6).fold(format!("{}-{}-", self.name, self.version()), |mut key, byte| {
            let _ = write!(key, "{byte:02x}");
            key
        })
    }
}

/// The path of a program, which is built when it is nowhere.
///
/// Says on standard error what it builds and about how long that takes. Two processes that ask at once build once.
///
/// # Errors
/// There is neither the program nor Go, or it cannot be built.
pub fn find(tool: Tool) -> Result<PathBuf> {
    let search = Search {
        assets: env::var_os("KUBEBUILDER_ASSETS").filter(|folder| !folder.is_empty()).map(PathBuf::from),
        cache: cache_folder(|name| env::var_os(name))?,
        path: env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default(),
        ask: |tool, file| said(file.as_os_str(), tool.version_args()),
    };
    match search.find(tool) {
        Some(path) => Ok(path),
        None => build::build(tool, &search.cache),
    }
}

/// The folder for programs that are built, from the environment.
fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("AIBOM_TOOLS_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("k8s-aibom")))
        .or_else(|| set("HOME").map(|home| home.join(".cache/k8s-aibom")))
        .ok_or(Error::NoCache)
}

/// Where is looked.
struct Search {
    assets: Option<PathBuf>,
    cache: PathBuf,
    path: Vec<PathBuf>,
    /// What a program says when it is asked for its version; nothing when it fails.
    ask: fn(Tool, &Path) -> Option<String>,
}

impl Search {
    fn find(&self, tool: Tool) -> Option<PathBuf> {
        let in_assets = self.assets.as_deref().map(|folder| folder.join(tool.name()));
        let in_cache = self.cache.join(tool.pin().key()).join(tool.name());
        in_assets.into_iter().chain([in_cache]).find(|file| file.is_file()).or_else(|| self.on_path(tool))
    }

    fn on_path(&self, tool: Tool) -> Option<PathBuf> {
        // Only the first one: that is what the user means by the name.
        let file = self.path.iter().map(|folder| folder.join(tool.name())).find(|file| file.is_file())?;
        (self.ask)(tool, &file).is_some_and(|said| is_pinned(tool, &said)).then_some(file)
    }
}

/// A program that says this is of the pinned minor version.
fn is_pinned(tool: Tool, said: &str) -> bool {
    let minor = tool.pin().minor();
    said.split_ascii_whitespace().any(|word| word.trim_start_matches('v').starts_with(&minor))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A file that stands for a program; its content is what it says.
    fn program(folder: &Path, tool: Tool, says: &str) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let file = folder.join(tool.name());
        fs::write(&file, says).unwrap();
        file
    }

    fn search(assets: Option<PathBuf>, cache: PathBuf, path: Vec<PathBuf>) -> Search {
        Search { assets, cache, path, ask: |_, file| fs::read_to_string(file).ok() }
    }

    #[test]
    fn versions_come_from_the_pins() {
        for tool in Tool::ALL {
            let parts: Vec<&str> = tool.version().split('.').collect();
            assert!(parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok()), "{}: {:?}", tool.name(), tool.version());
        }
        assert_eq!(Tool::Kubectl.version(), Tool::KubeApiserver.version());
    }

    #[test]
    fn staging_modules_have_the_version_of_the_main_module() {
        let staging = format!(" v{}", KUBERNETES.version().replacen("1.", "0.", 1));
        let replaced: Vec<&str> = KUBERNETES.go_mod.lines().filter(|line| line.contains(" => ")).collect();
        assert!(replaced.len() > 30, "{replaced:?}");
        assert!(replaced.iter().all(|line| line.ends_with(&staging)), "{staging}: {replaced:?}");
    }

    #[test]
    fn the_version_is_linked_in_and_another_pin_is_another_folder() {
        let flags = KUBERNETES.link_flags();
        assert!(flags.contains(&format!("version.gitVersion=v{} ", KUBERNETES.version())), "{flags}");
        assert!(flags.contains("version.gitMinor=3"), "{flags}");
        let other = Pin { go_sum: "", ..KUBERNETES };
        assert_ne!(other.key(), KUBERNETES.key());
        assert!(KUBERNETES.key().starts_with(&format!("kubernetes-{}-", KUBERNETES.version())), "{}", KUBERNETES.key());
    }

    #[test]
    fn assets_come_before_the_cache_and_the_cache_before_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let search = search(Some(at("assets")), at("cache"), vec![at("empty"), at("path")]);
        assert_eq!(search.find(Tool::Etcd), None);
        let on_path = program(&at("path"), Tool::Etcd, &format!("etcd Version: {}", Tool::Etcd.version()));
        assert_eq!(search.find(Tool::Etcd), Some(on_path));
        let cached = program(&at("cache").join(ETCD.key()), Tool::Etcd, "");
        assert_eq!(search.find(Tool::Etcd), Some(cached));
        let asset = program(&at("assets"), Tool::Etcd, "another version, but asked for");
        assert_eq!(search.find(Tool::Etcd), Some(asset));
    }

    #[test]
    fn a_program_of_another_minor_version_on_the_path_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let search = search(None, folder.path().join("cache"), vec![folder.path().to_path_buf()]);
        for says in ["Client Version: v1.3.36", "Client Version: v1.32.4-dispatcher", "nothing"] {
            program(folder.path(), Tool::Kubectl, says);
            assert_eq!(search.find(Tool::Kubectl), None, "{says}");
        }
        let same = format!("Client Version: v{}99", KUBERNETES.minor());
        program(folder.path(), Tool::Kubectl, &same);
        assert!(search.find(Tool::Kubectl).is_some(), "{same}");
    }

    #[test]
    fn the_cache_is_where_the_environment_says() {
        let of = |set: &'static [(&str, &str)]| {
            cache_folder(move |name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(of(&[("HOME", "/h")]).unwrap(), Path::new("/h/.cache/k8s-aibom"));
        assert_eq!(of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")]).unwrap(), Path::new("/x/k8s-aibom"));
        assert_eq!(of(&[("AIBOM_TOOLS_CACHE", "/a"), ("XDG_CACHE_HOME", "/x")]).unwrap(), Path::new("/a"));
        assert_eq!(of(&[("AIBOM_TOOLS_CACHE", ""), ("HOME", "/h")]).unwrap(), Path::new("/h/.cache/k8s-aibom"));
        assert!(of(&[]).unwrap_err().to_string().contains("AIBOM_TOOLS_CACHE"));
    }
}
