//! The programs of a control plane with their options and files.

use std::fs;
use std::path::PathBuf;

use super::{ADMIN, kubeconfig};
use crate::binaries::Tool;
use crate::error::{Error, Result};
use crate::process::Program;

/// The token of [`ADMIN`]. No secret: the server listens on the loopback interface and lives for a test.
const TOKEN: &str = "admin-of-a-test";

/// Every request once when it is answered, and a watch also when it is opened. Bodies are not logged.
const AUDIT_POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
";

/// Where a control plane lives: its folder and ports.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    etcd_port: u16,
    etcd_peer_port: u16,
    apiserver_port: u16,
    controller_manager_port: u16,
}

impl Place {
    pub(super) fn new(folder: PathBuf, ports: [u16; 4]) -> Self {
        let [etcd_port, etcd_peer_port, apiserver_port, controller_manager_port] = ports;
        Self { folder, etcd_port, etcd_peer_port, apiserver_port, controller_manager_port }
    }

    pub(super) fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.apiserver_port)
    }

    /// The API server makes itself a certificate in its first start, and keeps it. The file holds the one that signs it, too.
    pub(super) fn ca_file(&self) -> PathBuf {
        self.file("certs/apiserver.crt")
    }

    pub(super) fn kubeconfig(&self) -> PathBuf {
        self.file("admin.kubeconfig")
    }

    pub(super) fn audit_log(&self) -> PathBuf {
        self.file("audit.log")
    }

    pub(super) fn log(&self, tool: Tool) -> PathBuf {
        self.file(&format!("{}.log", tool.name()))
    }

    /// A path in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// What the programs read.
    pub(super) fn write_files(&self) -> Result<()> {
        let certs = self.file("certs");
        fs::create_dir(&certs).map_err(Error::file("create", &certs))?;
        let tokens = format!("{TOKEN},{ADMIN},{ADMIN},system:masters\n");
        let admin = kubeconfig::with_token(&self.url(), &self.ca_file(), TOKEN);
        for (name, text) in [("tokens.csv", tokens), ("audit-policy.yaml", AUDIT_POLICY.to_owned()), ("admin.kubeconfig", admin)] {
            let path = self.file(name);
            fs::write(&path, text).map_err(Error::file("write", &path))?;
        }
        Ok(())
    }

    pub(super) fn etcd(&self, program: PathBuf) -> Program {
        let client = format!("http://127.0.0.1:{}", self.etcd_port);
        let peer = format!("http://127.0.0.1:{}", self.etcd_peer_port);
        self.program(Tool::Etcd, program)
            .arg(option("data-dir", self.file("etcd")))
            .args([
                format!("--listen-client-urls={client}"),
                format!("--advertise-client-urls={client}"),
                format!("--listen-peer-urls={peer}"),
                format!("--initial-advertise-peer-urls={peer}"),
                format!("--initial-cluster=default={peer}"),
            ])
            // Data need not outlive a crash of the machine.
            .args(["--unsafe-no-fsync", "--log-level=warn"])
    }

    pub(super) fn apiserver(&self, program: PathBuf) -> Program {
        // ServiceAccount tokens are signed with the key that the API server makes for its own certificate: there before tokens are asked
        // for, and nothing else is needed to make one.
        let key = self.file("certs/apiserver.key");
        self.program(Tool::KubeApiserver, program)
            .args([
                format!("--etcd-servers=http://127.0.0.1:{}", self.etcd_port),
                format!("--secure-port={}", self.apiserver_port),
                "--bind-address=127.0.0.1".to_owned(),
                // Without these it looks for an address of the machine, which a sandbox may not have.
                "--advertise-address=127.0.0.1".to_owned(),
                "--endpoint-reconciler-type=none".to_owned(),
                "--authorization-mode=RBAC".to_owned(),
                "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
                "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
                // It refuses pods until a controller has made the ServiceAccount of their namespace, and adds volumes to them.
                "--disable-admission-plugins=ServiceAccount".to_owned(),
                "--profiling=false".to_owned(),
                // The log is read by place, so it must not be rotated: this many MB are never reached.
                "--audit-log-maxsize=1000000".to_owned(),
            ])
            .arg(option("cert-dir", self.file("certs")))
            .arg(option("service-account-key-file", key.clone()))
            .arg(option("service-account-signing-key-file", key))
            .arg(option("token-auth-file", self.file("tokens.csv")))
            .arg(option("audit-policy-file", self.file("audit-policy.yaml")))
            .arg(option("audit-log-path", self.audit_log()))
    }

    pub(super) fn controller_manager(&self, program: PathBuf) -> Program {
        self.program(Tool::KubeControllerManager, program)
            .arg(option("kubeconfig", self.kubeconfig()))
            .arg(option("authentication-kubeconfig", self.kubeconfig()))
            .arg(option("authorization-kubeconfig", self.kubeconfig()))
            .arg(option("service-account-private-key-file", self.file("certs/apiserver.key")))
            .args([
                format!("--secure-port={}", self.controller_manager_port),
                "--bind-address=127.0.0.1".to_owned(),
                "--use-service-account-credentials=false".to_owned(),
                "--leader-elect=false".to_owned(),
            ])
    }

    fn program(&self, tool: Tool, program: PathBuf) -> Program {
        // Programs write certificates and the like where they are; never into the checkout. Settings of etcd can come from variables, which
        // then clash with the options.
        let mut built = Program::new(program, self.log(tool)).folder(&self.folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("ETCD_") {
                built = built.env_remove(name);
            }
        }
        built
    }
}

/// `--name=path`, for paths that need not be text.
fn option(name: &str, path: PathBuf) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(format!("--{name}="));
    option.push(path);
    option
}
