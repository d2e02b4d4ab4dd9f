//! Runs the real binary with the real plugins.

#![allow(dead_code, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, reason = "test code; clippy sees tests only in functions marked so")]

#[path = "../../../bom/tests/schema/mod.rs"]
pub(crate) mod schema;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The project's root.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The shared material, if it is there; says loudly when it is not.
pub(crate) fn shared(what: &str) -> Option<PathBuf> {
    let path = root().join("../shared").join(what);
    if path.exists() {
        return Some(path.canonicalize().unwrap());
    }
    eprintln!("SKIPPED: what needs {what} did not run, because ../shared is absent");
    None
}

/// The built-in plugins.
pub(crate) fn plugins() -> PathBuf {
    let plugins = root().join("target/plugins");
    assert!(plugins.join("workloads.wasm").is_file(), "run `cargo xtask build-plugins` first: {} has no plugins", plugins.display());
    plugins
}

/// A command of the binary. Time is pinned, so that documents can be compared.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_k8s-aibom"));
    command.args(arguments).env("K8S_AIBOM_PLUGINS", plugins()).env("SOURCE_DATE_EPOCH", "1700000000").env_remove("RUST_LOG");
    command
}

/// What a run left behind.
pub(crate) struct Run {
    /// Exit code.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

impl Run {
    /// Lines of standard output as JSON. Every document among them is checked.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let lines: Vec<Value> =
            self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect();
        let validators = schema::validators();
        for line in &lines {
            let document = if line["bomFormat"].is_string() { line } else { &line["document"] };
            if document.is_null() {
                continue;
            }
            let errors = validators.as_ref().map(|validators| validators.errors(document)).unwrap_or_default();
            assert!(errors.is_empty(), "{line}: {errors:#?}");
            let violations = aibom_bom::lint::lint(document);
            assert!(violations.is_empty(), "{line}: {violations:#?}");
        }
        lines
    }
}

/// Runs the binary to its end.
pub(crate) fn run(arguments: &[&str]) -> Run {
    finish(command(arguments).stdin(Stdio::null()).output().unwrap())
}

/// Runs the binary with text on standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &str) -> Run {
    let mut child = command(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    finish(child.wait_with_output().unwrap())
}

fn finish(output: Output) -> Run {
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The one document of a scan of one manifest.
pub(crate) fn document(manifest: &str) -> Value {
    let run = run_with_input(&["scan", "-", "--output", "cyclonedx"], manifest);
    assert_eq!(run.code, 0, "{}", run.err);
    let mut lines = run.lines();
    assert_eq!(lines.len(), 1, "one document was expected: {}", run.out);
    lines.remove(0)
}

/// Components of a document with a type.
pub(crate) fn components<'a>(document: &'a Value, kind: &str) -> Vec<&'a Value> {
    document["components"].as_array().into_iter().flatten().filter(|component| component["type"] == kind).collect()
}

/// `group/name` or `name` of a component.
pub(crate) fn full_name(component: &Value) -> String {
    match component["group"].as_str() {
        Some(group) => format!("{group}/{}", component["name"].as_str().unwrap()),
        None => component["name"].as_str().unwrap().to_owned(),
    }
}

/// Values of a property of a component.
pub(crate) fn property<'a>(component: &'a Value, name: &str) -> Vec<&'a str> {
    component["properties"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|property| property["name"] == name)
        .filter_map(|property| property["value"].as_str())
        .collect()
}
