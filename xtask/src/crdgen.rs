//! `cargo xtask crdgen`: the definitions of the custom resources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use aibom_api::crd::{self, File};
use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace::{Workspace, note, step, write_if_changed};

#[derive(Args)]
pub(crate) struct CrdgenArgs {
    /// Write nothing; fail when something is not up to date
    #[arg(long)]
    pub(crate) check: bool,
}

/// Where the definitions are: at the top for `kubectl apply`, and in their chart, since Helm reads no file outside of it.
const FOLDERS: [&str; 2] = ["crds", "charts/k8s-aibom-crds/files"];

pub(crate) fn update(workspace: &Workspace, args: &CrdgenArgs) -> Result<()> {
    step(format!("Definitions of the custom resources in {}", FOLDERS.join(" and ")));
    let files = crd::files()?;
    let mut stale = Vec::new();
    for folder in FOLDERS {
        let path = workspace.path(folder);
        if args.check {
            stale.extend(differences(&path, &files)?.into_iter().map(|name| format!("{folder}/{name}")));
        } else {
            write(&path, folder, &files)?;
        }
    }
    if !stale.is_empty() {
        bail!("not what the types of host/api say: {}; run `cargo xtask crdgen` and commit what it does", stale.join(", "));
    }
    Ok(())
}

/// Makes a folder hold the definitions, and no other.
fn write(path: &Path, shown: &str, files: &[File]) -> Result<()> {
    for file in files {
        if write_if_changed(&path.join(&file.name), file.yaml.as_bytes())? {
            note(format!("{shown}/{} written", file.name));
        }
    }
    for name in others(path, files)? {
        fs::remove_file(path.join(&name)).with_context(|| format!("could not remove {shown}/{name}"))?;
        note(format!("{shown}/{name} removed: it belongs to no type"));
    }
    Ok(())
}

/// Names of files that are missing, have another content, or are not among those wanted.
fn differences(folder: &Path, files: &[File]) -> Result<Vec<String>> {
    let mut names: Vec<String> = files
        .iter()
        .filter(|file| fs::read(folder.join(&file.name)).map_or(true, |found| found != file.yaml.as_bytes()))
        .map(|file| file.name.clone())
        .collect();
    names.extend(others(folder, files)?);
    Ok(names)
}

/// Definitions that no type stands for any more: left alone, they would be installed for ever.
fn others(folder: &Path, files: &[File]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    if !folder.is_dir() {
        return Ok(names);
    }
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "yaml") && files.iter().all(|file| file.name != name) {
            names.insert(name);
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_a_changed_and_a_surplus_file_are_each_named() {
        let folder = std::env::temp_dir().join(format!("xtask-crdgen-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| File { name: name.to_owned(), yaml: "a: 1\n".to_owned() };
        let files = [file("same.yaml"), file("changed.yaml"), file("missing.yaml")];
        fs::write(folder.join("same.yaml"), "a: 1\n").unwrap();
        fs::write(folder.join("changed.yaml"), "a: 2\n").unwrap();
        fs::write(folder.join("surplus.yaml"), "a: 1\n").unwrap();
        fs::write(folder.join("notes.txt"), "kept").unwrap();
        assert_eq!(differences(&folder, &files).unwrap(), ["changed.yaml", "missing.yaml", "surplus.yaml"]);
        write(&folder, "a folder", &files).unwrap();
        assert_eq!(differences(&folder, &files).unwrap(), Vec::<String>::new(), "after writing nothing differs");
        assert!(folder.join("notes.txt").exists(), "what is no definition was removed");
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(differences(&folder, &files[..1]).unwrap(), ["same.yaml"], "without the folder everything is missing");
    }
}
