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

const FOLDER: &str = "crds";

pub(crate) fn update(workspace: &Workspace, args: &CrdgenArgs) -> Result<()> {
    step(format!("Definitions of the custom resources in {FOLDER}/"));
    let files = crd::files()?;
    let folder = workspace.path(FOLDER);
    if args.check {
        let stale = differences(&folder, &files)?;
        if !stale.is_empty() {
            bail!(
                "{FOLDER}/ is not what the types of host/api say ({}); run `cargo xtask crdgen` and commit what it does",
                stale.join(", ")
            );
        }
        return Ok(());
    }
    for file in &files {
        if write_if_changed(&folder.join(&file.name), file.yaml.as_bytes())? {
            note(format!("{FOLDER}/{} written", file.name));
        }
    }
    for name in others(&folder, &files)? {
        fs::remove_file(folder.join(&name)).with_context(|| format!("could not remove {FOLDER}/{name}"))?;
        note(format!("{FOLDER}/{name} removed: it belongs to no type"));
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
    for entry in fs::read_dir(folder).with_context(|| format!("could not read {FOLDER}/"))? {
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
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(differences(&folder, &files[..1]).unwrap(), ["same.yaml"], "without the folder everything is missing");
    }
}
