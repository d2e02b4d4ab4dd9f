//! A control plane with the definitions and the rights of the operator, and the operator as a process.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aibom_control_plane::audit::{Entries, Mark};
use aibom_control_plane::binaries::{self, Tool};
use aibom_control_plane::process::{Process, Program};
use aibom_control_plane::{ControlPlane, Options, wait_until};
use serde_json::{Value, json};

/// Namespace of the operator.
pub(crate) const SYSTEM: &str = "k8s-aibom-system";
/// Name of the release, and of the ServiceAccount.
pub(crate) const RELEASE: &str = "k8s-aibom";
/// For what takes a moment, on a machine under load.
pub(crate) const SOON: Duration = Duration::from_mins(2);
/// Long enough for a controller to do what it should not.
pub(crate) const A_WHILE: Duration = Duration::from_secs(4);

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A cluster in which the operator may run.
pub(crate) struct Stage {
    pub(crate) plane: ControlPlane,
    kubeconfig: PathBuf,
    count: AtomicU32,
}

impl Stage {
    /// A control plane with the definitions, and the rights of the chart.
    pub(crate) fn new() -> Self {
        Self::with(&Options::default())
    }

    /// The same on a control plane of one's own making.
    pub(crate) fn with(options: &Options) -> Self {
        let plane = ControlPlane::start(options).unwrap();
        plane.install_crds(&root().join("crds")).unwrap();
        plane.create_namespace(SYSTEM, &[]).unwrap();
        plane
            .apply(&rendered(
                &[],
                &[
                    "serviceaccount.yaml",
                    "clusterrole.yaml",
                    "clusterrolebinding.yaml",
                    "clusterrole-plugins.yaml",
                    "role.yaml",
                    "rolebinding.yaml",
                ],
            ))
            .unwrap();
        // The controller of aggregated roles takes a moment.
        let kubeconfig = plane.service_account_kubeconfig(SYSTEM, RELEASE).unwrap();
        Self { plane, kubeconfig, count: AtomicU32::new(0) }
    }

    /// A namespace that is opted in.
    pub(crate) fn team(&self, name: &str) {
        self.plane.create_namespace(name, &[("aibom.k8saibom.dev/enabled", "true")]).unwrap();
    }

    /// Starts the operator as this pod, with the built-in plugins.
    pub(crate) fn operator(&self, pod: &str, args: &[&str]) -> Operator {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let (probes, metrics) = (free_port(), free_port());
        let process = Program::new(env!("CARGO_BIN_EXE_k8s-aibom"), self.plane.folder().join(format!("operator-{pod}-{number}.log")))
            .arg("operator")
            .args([
                format!("--kubeconfig={}", self.kubeconfig.display()),
                format!("--health-probe-bind-address=127.0.0.1:{probes}"),
                format!("--metrics-bind-address=127.0.0.1:{metrics}"),
                format!("--plugins={}", root().join("target/plugins").display()),
            ])
            .args(args.iter().copied())
            // As the chart sets it.
            .env("MALLOC_ARENA_MAX", "1")
            .env("POD_NAME", pod)
            .env("POD_NAMESPACE", SYSTEM)
            .start()
            .unwrap();
        Operator { process, probes, metrics }
    }

    /// Starts the operator and waits until it has read everything.
    pub(crate) fn running(&self, args: &[&str]) -> Operator {
        let operator = self.operator("aibom-0", args);
        operator.wait_ready();
        operator
    }

    /// A Deployment without pods that serves a model.
    pub(crate) fn serve(&self, namespace: &str, name: &str, model: &str) {
        self.plane.apply(&deployment(namespace, name, model, 0).to_string()).unwrap();
    }

    /// An AIBOM, if there is one.
    pub(crate) fn aibom(&self, namespace: &str, name: &str) -> Option<Value> {
        let text = self.plane.kubectl(&["get", "aibom", name, "-n", namespace, "-o", "json", "--ignore-not-found"]).unwrap();
        (!text.trim().is_empty()).then(|| serde_json::from_str(&text).unwrap())
    }

    /// All AIBOMs of a namespace, by name.
    pub(crate) fn aiboms(&self, namespace: &str) -> Vec<Value> {
        let list = self.plane.get_json(&["aibom", "-n", namespace]).unwrap();
        list["items"].as_array().unwrap().clone()
    }

    /// Waits until an AIBOM is as it should be.
    pub(crate) fn wait_aibom(&self, namespace: &str, name: &str, what: &str, good: impl Fn(&Value) -> bool) -> Value {
        wait_until(&format!("AIBOM {namespace}/{name}: {what}"), SOON, || {
            Ok(match self.aibom(namespace, name) {
                Some(aibom) if good(&aibom) => Ok(aibom),
                Some(aibom) => Err(aibom.to_string()),
                None => Err("there is none".to_owned()),
            })
        })
        .unwrap()
    }

    /// Waits until an AIBOM is gone.
    pub(crate) fn wait_gone(&self, namespace: &str, name: &str) {
        wait_until(&format!("the end of AIBOM {namespace}/{name}"), SOON, || {
            Ok(self.aibom(namespace, name).map_or(Ok(()), |aibom| Err(aibom.to_string())))
        })
        .unwrap();
    }

    /// The configuration `default` with this specification.
    pub(crate) fn configure(&self, spec: &Value) {
        let object = json!({
            "apiVersion": "aibom.k8saibom.dev/v1beta1", "kind": "AIBOMControllerConfig", "metadata": { "name": "default" }, "spec": spec,
        });
        self.plane.apply(&object.to_string()).unwrap();
    }

    /// Waits until the status of the configuration is as it should be.
    pub(crate) fn wait_config(&self, what: &str, good: impl Fn(&Value) -> bool) -> Value {
        wait_until(&format!("configuration: {what}"), SOON, || {
            let config = self.plane.get_json(&["aibomcontrollerconfig", "default"])?;
            Ok(if good(&config["status"]) { Ok(config["status"].clone()) } else { Err(config["status"].to_string()) })
        })
        .unwrap()
    }

    /// What the operators wrote since a mark; events and leases are none of what is counted.
    pub(crate) fn writes(&self, mark: Mark) -> Entries {
        let all = self.plane.audit().since(mark).unwrap().writes().by_agent("k8s-aibom/");
        all.filter(|entry| entry.resource != "events" && entry.resource != "leases")
    }

    /// Waits until the operators have not written for a while.
    pub(crate) fn wait_quiet(&self) {
        let audit = self.plane.audit();
        loop {
            let mark = audit.mark();
            std::thread::sleep(Duration::from_secs(3));
            if self.writes(mark).is_empty() {
                return;
            }
        }
    }
}

/// The operator as a process.
pub(crate) struct Operator {
    pub(crate) process: Process,
    probes: u16,
    metrics: u16,
}

impl Operator {
    /// Waits until it has looked through what is stored.
    pub(crate) fn wait_ready(&self) {
        wait_until("an operator that leads and is ready", SOON, || {
            if let Some(status) = self.process.exit_status()? {
                panic!("the operator has ended: {status}\n{}", self.process.log_tail(30));
            }
            let ready = get(self.probes, "/readyz").is_some_and(|answer| answer.starts_with("HTTP/1.1 200"));
            let leads = self.metric("aibom_leader") == Some(1.0);
            Ok(if ready && leads { Ok(()) } else { Err(self.process.log_tail(10)) })
        })
        .unwrap();
    }

    /// The first metric whose line begins so.
    pub(crate) fn metric(&self, begin: &str) -> Option<f64> {
        let text = get(self.metrics, "/metrics")?;
        let line =
            text.lines().find(|line| line.strip_prefix(begin).is_some_and(|rest| rest.starts_with([' ', '{']) || begin.ends_with('}')))?;
        line.rsplit(' ').next()?.parse().ok()
    }
}

/// The answer to a request, with its head.
fn get(port: u16, path: &str) -> Option<String> {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// Templates of the chart, rendered.
pub(crate) fn rendered(set: &[&str], templates: &[&str]) -> String {
    let chart = root().join("charts/k8s-aibom");
    let mut command = std::process::Command::new(binaries::find(Tool::Helm).unwrap());
    command.args(["template", RELEASE, &chart.display().to_string(), "--namespace", SYSTEM]);
    for value in set {
        command.args(["--set", value]);
    }
    for template in templates {
        command.args(["--show-only", &format!("templates/{template}")]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A Deployment that serves a model with a runtime that is known.
pub(crate) fn deployment(namespace: &str, name: &str, model: &str, replicas: u32) -> Value {
    let labels = json!({ "app": name });
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "namespace": namespace },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [
                    { "name": "server", "image": "vllm/vllm-openai:v0.9.1", "args": ["--model", model] },
                ] },
            },
        },
    })
}

/// The document of an AIBOM.
pub(crate) fn document(aibom: &Value) -> Value {
    use std::process::{Command, Stdio};
    let data = aibom["status"]["bomDocument"]["inline"]["data"].as_str().expect("an inline document");
    // A library for eight lines would be one more dependency.
    let mut child = Command::new("base64").arg("-d").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), data.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Identities of the models in the summary.
pub(crate) fn models(aibom: &Value) -> Vec<&str> {
    let models = aibom["status"]["summary"]["models"].as_array();
    models.into_iter().flatten().filter_map(|model| model["identity"].as_str()).collect()
}

/// Status of a condition.
pub(crate) fn condition<'a>(status: &'a Value, of: &str) -> &'a Value {
    let conditions = status["conditions"].as_array();
    conditions.into_iter().flatten().find(|condition| condition["type"] == of).unwrap_or(&Value::Null)
}
