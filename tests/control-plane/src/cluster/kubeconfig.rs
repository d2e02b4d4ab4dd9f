//! Configurations of clients. They are written as JSON, which is YAML.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::ControlPlane;
use crate::error::{Error, Result};

impl ControlPlane {
    /// Configuration of a client that is the ServiceAccount, with a token as a pod of it would have. The ServiceAccount must be there. RBAC
    /// holds for it: without a role it may do next to nothing.
    pub fn service_account_kubeconfig(&self, namespace: &str, name: &str) -> Result<PathBuf> {
        let token = self.kubectl(&["create", "token", name, &format!("--namespace={namespace}"), "--duration=24h"])?;
        let text = with_token(&self.url(), &self.ca_file(), token.trim());
        self.write_kubeconfig(&format!("sa-{namespace}-{name}"), &text)
    }

    /// Configuration of a client that is the user, in these groups: RBAC holds for them. It works by impersonation, which the API server
    /// allows the admin whose token is in the file; [`crate::audit::Entry::user`] is the user.
    pub fn user_kubeconfig(&self, name: &str, groups: &[&str]) -> Result<PathBuf> {
        let admin = fs::read_to_string(self.kubeconfig()).map_err(Error::file("read", &self.kubeconfig()))?;
        let mut config: Value = serde_json::from_str(&admin)
            .map_err(|error| Error::Unexpected { what: self.kubeconfig().display().to_string(), why: error.to_string() })?;
        config["users"][0]["user"]["as"] = json!(name);
        config["users"][0]["user"]["as-groups"] = json!(groups);
        // Names of users may hold anything; those of files may not.
        let file: String = name.chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
        self.write_kubeconfig(&format!("user-{file}"), &config.to_string())
    }

    /// Written whole, then named: another test may read the same one.
    fn write_kubeconfig(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.place.file(&format!("{name}.kubeconfig"));
        let mut file = tempfile::NamedTempFile::new_in(self.folder()).map_err(Error::file("write", &path))?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(Error::file("write", &path))?;
        file.persist(&path).map_err(|error| Error::file("write", &path)(error.error))?;
        Ok(path)
    }
}

/// A client with a token.
pub(super) fn with_token(url: &str, ca_file: &Path, token: &str) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": {"server": url, "certificate-authority": ca_file}}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    })
    .to_string()
}
