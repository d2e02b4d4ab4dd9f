//! What tests do to a cluster, by kubectl: an independent client, and the one that users have.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::ControlPlane;
use crate::error::{Error, Result};
use crate::pods::pod_status_json;
use crate::wait::wait_until;

/// How long the API server may take to establish a definition. Some seconds are usual under load.
const ESTABLISHED: Duration = Duration::from_mins(1);

impl ControlPlane {
    /// Runs kubectl as admin and gives its output.
    ///
    /// # Errors
    /// It failed; [`Error::stderr`] is what it said, and holds the answer of the API server.
    pub fn kubectl(&self, args: &[&str]) -> Result<String> {
        self.kubectl_as(&self.kubeconfig(), args, "")
    }

    /// Runs kubectl as admin with a text on its standard input, for `--filename=-`.
    pub fn kubectl_stdin(&self, args: &[&str], stdin: &str) -> Result<String> {
        self.kubectl_as(&self.kubeconfig(), args, stdin)
    }

    /// Runs kubectl as the client of a configuration, such as [`ControlPlane::service_account_kubeconfig`] gives.
    pub fn kubectl_as(&self, kubeconfig: &Path, args: &[&str], stdin: &str) -> Result<String> {
        let spawn_error = |source| Error::Spawn { program: self.kubectl.display().to_string(), source };
        let mut command = Command::new(&self.kubectl);
        // What is known of the server's resources is not shared with other clusters at the same port.
        command.arg("--kubeconfig").arg(kubeconfig).arg("--cache-dir").arg(self.place.file("kubectl-cache")).args(args);
        command.env_remove("KUBECONFIG").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(spawn_error)?;
        let pipe = child.stdin.take();
        let output = thread::scope(|scope| {
            // Beside reading, since a long text may be answered before it is read to its end.
            scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(stdin.as_bytes())));
            child.wait_with_output()
        });
        let output = output.map_err(spawn_error)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(Error::Kubectl {
            args: args.join(" "),
            status: output.status.to_string(),
            stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        })
    }

    /// One object, or a list of them, as JSON: `get_json(&["deployment", "web", "--namespace=a"])`.
    pub fn get_json(&self, args: &[&str]) -> Result<Value> {
        let all: Vec<&str> = ["get", "--output=json"].iter().chain(args).copied().collect();
        let text = self.kubectl(&all)?;
        serde_json::from_str(&text)
            .map_err(|error| Error::Unexpected { what: format!("`kubectl {}`", all.join(" ")), why: error.to_string() })
    }

    /// Applies manifests as admin, on the server: the client's way keeps a copy in an annotation, which large definitions do not fit into.
    pub fn apply(&self, manifests: &str) -> Result<String> {
        self.kubectl_stdin(&["apply", "--server-side", "--force-conflicts", "--filename=-"], manifests)
    }

    /// Applies the manifests in a file or a folder as admin, on the server.
    pub fn apply_path(&self, path: &Path) -> Result<String> {
        self.kubectl(&["apply", "--server-side", "--force-conflicts", "--filename", &path.to_string_lossy()])
    }

    /// Applies definitions of custom resources from a file or a folder and waits until they are established, so that objects of them can be
    /// created. Gives their names.
    pub fn install_crds(&self, path: &Path) -> Result<Vec<String>> {
        let path = path.to_string_lossy();
        let args = ["apply", "--server-side", "--force-conflicts", "--output=name", "--filename", &path];
        let applied = self.kubectl(&args)?;
        let names: Vec<String> = applied
            .lines()
            .filter_map(|line| line.strip_prefix("customresourcedefinition.apiextensions.k8s.io/"))
            .map(str::to_owned)
            .collect();
        for name in &names {
            self.wait_established(name)?;
        }
        Ok(names)
    }

    /// Applies one definition of a custom resource and waits until it is established.
    ///
    /// # Errors
    /// It has no name, is refused, or does not become established in time.
    pub fn define(&self, definition: &Value) -> Result<()> {
        let name = definition["metadata"]["name"]
            .as_str()
            .ok_or_else(|| Error::Unexpected { what: "a definition".to_owned(), why: "it has no metadata.name".to_owned() })?;
        self.apply(&definition.to_string())?;
        self.wait_established(name)
    }

    /// Waits until a definition of a custom resource is established. Conditions appear some time after the object, which `kubectl wait` takes
    /// for an error.
    fn wait_established(&self, name: &str) -> Result<()> {
        wait_until(&format!("the definition {name} to be established"), ESTABLISHED, || {
            let found = self.get_json(&["customresourcedefinition", name])?;
            let conditions = found["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let established = conditions.iter().any(|condition| condition["type"] == "Established" && condition["status"] == "True");
            Ok(if established { Ok(()) } else { Err(format!("Its conditions are {}", found["status"]["conditions"])) })
        })
    }

    /// Creates a namespace with labels, or sets the labels of one that is there.
    pub fn create_namespace(&self, name: &str, labels: &[(&str, &str)]) -> Result<()> {
        let labels: serde_json::Map<String, Value> = labels.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
        self.apply(&namespace.to_string()).map(|_| ())
    }

    /// Writes the status of a pod whose containers all run, as a kubelet would; see [`pod_status_json`].
    pub fn set_pod_status(&self, namespace: &str, pod: &str, containers: &[(&str, &str, &str)]) -> Result<()> {
        let patch = json!({"status": pod_status_json(containers)}).to_string();
        self.kubectl(&["patch", "pod", pod, &format!("--namespace={namespace}"), "--subresource=status", "--type=merge", "--patch", &patch])
            .map(|_| ())
    }

    /// Waits until an object is as `look` wants it: `look` gets what `get` finds, or null as long as it is not there, and gives what the test
    /// is after.
    ///
    /// # Errors
    /// It is not within `limit`; the error holds the object as it was found last.
    pub fn wait_for<T>(&self, get: &[&str], limit: Duration, look: impl Fn(&Value) -> Option<T>) -> Result<T> {
        wait_until(&format!("`{}`", get.join(" ")), limit, || {
            let found = match self.get_json(get) {
                Ok(found) => found,
                Err(error) if error.stderr().contains("(NotFound)") => Value::Null,
                Err(error) => return Err(error),
            };
            Ok(look(&found).ok_or_else(|| format!("Found last: {found:#}")))
        })
    }
}
