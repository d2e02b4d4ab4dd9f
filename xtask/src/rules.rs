//! Rules of the house that no compiler knows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// Kinds and platforms that only plugins and data files may name: the host treats every kind alike.
const KIND_NAMES: [&str; 11] = [
    "dynamo",
    "nimservice",
    "leaderworkerset",
    "disaggregatedset",
    "inferenceservice",
    "kserve",
    "cronjob",
    "grove",
    "rayservice",
    "kaito",
    "nimcache",
];

/// A module that is longer holds more than one idea.
const MAX_LINES: usize = 700;

/// Crates of `host/` and the ones of ours they may depend on: dependencies point down only.
const MAY_USE: [(&str, &[&str]); 8] = [
    ("api", &[]),
    ("facts", &[]),
    ("extract", &["facts"]),
    ("bom", &["facts"]),
    ("plugin", &["facts"]),
    ("artifact", &[]),
    ("watch", &["facts"]),
    ("operator", &["facts", "extract", "bom", "plugin", "artifact", "api", "watch"]),
];

/// Checks every rule and names each place that breaks one.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let mut broken = Vec::new();
    for folder in ["host", "xtask", "plugins", "tests"] {
        for file in rust_files(&workspace.path(folder))? {
            let text = fs::read_to_string(&file).with_context(|| format!("could not read {}", file.display()))?;
            let shown = workspace.show(&file);
            let lines = text.lines().count();
            if lines > MAX_LINES {
                broken.push(format!("{shown}: {lines} lines; a module has at most {MAX_LINES}, split it by idea"));
            }
            if folder == "host" && is_product(&file) {
                broken.extend(named_kinds(&shown, &text));
            }
        }
    }
    broken.extend(upward_dependencies(workspace)?);
    if !broken.is_empty() {
        bail!("rules of the house are broken:\n  {}", broken.join("\n  "));
    }
    Ok(())
}

/// Sources of crates without their tests: a file `tests.rs` or a folder `tests/` may name kinds.
fn is_product(file: &Path) -> bool {
    let in_tests = file.components().any(|part| part.as_os_str() == "tests" || part.as_os_str() == "benches");
    !in_tests && file.file_name().is_none_or(|name| name != "tests.rs")
}

fn named_kinds(shown: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        if let Some(name) = KIND_NAMES.iter().find(|name| line.contains(*name)) {
            found.push(format!(
                "{shown}:{}: names `{name}`; knowledge of a kind belongs into plugins/ or a data file, a test into tests.rs",
                number + 1
            ));
        }
    }
    found
}

fn upward_dependencies(workspace: &Workspace) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(workspace.path("host")).context("could not read host/")? {
        let entry = entry?;
        let manifest = entry.path().join("Cargo.toml");
        let Ok(text) = fs::read_to_string(&manifest) else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        let table: toml::Table = text.parse().with_context(|| format!("{} is not TOML", workspace.show(&manifest)))?;
        let Some((_, allowed)) = MAY_USE.iter().find(|(folder, _)| *folder == name) else {
            found.push(format!("host/{name}: say in xtask/src/rules.rs what this crate may depend on"));
            continue;
        };
        let used = table.get("dependencies").and_then(toml::Value::as_table).into_iter().flat_map(toml::Table::keys);
        for dependency in used.filter_map(|key| key.strip_prefix("aibom-")) {
            if !allowed.contains(&dependency) {
                found.push(format!("host/{name}: depends on host/{dependency}; dependencies point down only"));
            }
        }
    }
    Ok(found)
}

/// Every `*.rs` below a folder, sorted; build output is left out.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_name_in_the_host_is_found_with_its_line() {
        let found = named_kinds("host/x/src/lib.rs", "fn a() {}\n// as for KServe\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("host/x/src/lib.rs:2:") && found[0].contains("kserve"), "{found:?}");
        assert!(named_kinds("host/x/src/lib.rs", "// a Deployment is named by its plugin\n").is_empty());
    }

    #[test]
    fn tests_and_benches_may_name_kinds() {
        for path in ["host/x/src/tests.rs", "host/x/src/scan/tests.rs", "host/x/tests/scan.rs", "host/x/benches/offline.rs"] {
            assert!(!is_product(Path::new(path)), "{path}");
        }
        assert!(is_product(Path::new("host/x/src/lib.rs")));
    }
}
