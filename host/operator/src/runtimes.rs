//! The rules of a run: the built-in ones, and what the user adds, changes and switches off.

use std::fs;
use std::path::{Path, PathBuf};

use aibom_extract::{Override, Rules};
use anyhow::Context as _;

/// Longest file of a runtime, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// Reads the files (every *.yaml and *.yml of a folder, by name) and applies them in the order in which they were given.
///
/// # Errors
/// A path that cannot be read, a file that is no runtime, or a name to disable that no runtime has.
pub fn load(paths: &[PathBuf], disabled: &[String]) -> anyhow::Result<Rules> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut names = Vec::new();
            for entry in fs::read_dir(path).with_context(|| format!("the folder of runtimes {} cannot be read", path.display()))? {
                let file = entry.with_context(|| format!("the folder of runtimes {} cannot be read", path.display()))?.path();
                if file.is_file() && file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") {
                    names.push(file);
                }
            }
            anyhow::ensure!(!names.is_empty(), "the folder of runtimes {} holds no *.yaml file", path.display());
            names.sort();
            for name in names {
                files.push(read(&name)?);
            }
        } else {
            files.push(read(path)?);
        }
    }
    let changes = files.iter().map(|(name, text)| Override::File { name, text });
    let changes: Vec<Override<'_>> = changes.chain(disabled.iter().map(|name| Override::Disable(name.trim()))).collect();
    Ok(Rules::builtin().with(&changes)?)
}

fn read(path: &Path) -> anyhow::Result<(String, String)> {
    let name = path.display().to_string();
    let size = fs::metadata(path).with_context(|| format!("the runtime file {name} cannot be read"))?.len();
    anyhow::ensure!(size <= MAX_FILE, "the runtime file {name} has {size} bytes; {MAX_FILE} are the most");
    let text = fs::read_to_string(path).with_context(|| format!("the runtime file {name} cannot be read"))?;
    Ok((name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_change_the_rules_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("b.yaml"), "name: acme-server\ncategory: training\n").unwrap();
        fs::write(folder.path().join("a.yml"), "name: acme-server\ncategory: inference\nimages: {names: [acme-server]}\n").unwrap();
        fs::write(folder.path().join("notes.txt"), "nothing").unwrap();
        let rules = load(&[folder.path().to_owned()], &["ollama".to_owned()]).unwrap();
        let category = rules.runtime("acme-server").and_then(|runtime| runtime.category);
        assert_eq!(category.map(aibom_facts::inventory::Category::as_str), Some("training"));
        assert!(rules.runtime("ollama").is_none() && rules.runtime("vllm").is_some());
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let bad = folder.path().join("bad.yaml");
        fs::write(&bad, "name: bad\nflags: []\n").unwrap();
        let error = |paths: &[PathBuf], disabled: &[&str]| {
            let disabled: Vec<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
            format!("{:#}", load(paths, &disabled).unwrap_err())
        };
        let bad_file = error(std::slice::from_ref(&bad), &[]);
        assert!(bad_file.starts_with(&bad.display().to_string()) && bad_file.contains("flags"), "{bad_file}");
        assert!(error(&[folder.path().join("none.yaml")], &[]).contains("none.yaml"));
        fs::remove_file(&bad).unwrap();
        assert!(error(&[folder.path().to_owned()], &[]).contains("holds no *.yaml"));
        assert!(error(&[], &["nobody"]).contains("`nobody` cannot be disabled"));
    }
}
