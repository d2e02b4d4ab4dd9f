//! Guards `wit/`: what was released stays as it is, and every next version keeps the promises of the one before.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use wit_component::semver_check;
use wit_parser::Resolve;

fn wit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit")
}

/// Version directories in order.
fn versions() -> Vec<((u64, u64, u64), PathBuf)> {
    let mut found: Vec<_> = fs::read_dir(wit())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let numbers: Vec<u64> = name.strip_prefix('v').unwrap_or_default().split('.').filter_map(|part| part.parse().ok()).collect();
            let [major, minor, patch] = numbers[..] else { panic!("wit/{name} is not named like a version") };
            ((major, minor, patch), path)
        })
        .collect();
    found.sort();
    found
}

fn text(folder: &Path) -> String {
    fs::read_to_string(folder.join("scraper.wit")).unwrap()
}

#[test]
fn every_released_file_is_what_was_released() {
    let mut now = BTreeMap::new();
    for (_, folder) in versions() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(wit()).unwrap().to_str().unwrap().to_owned();
            let digest = Sha256::digest(fs::read(&path).unwrap()).iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            now.insert(name, digest);
        }
    }
    let recorded = fs::read_to_string(wit().join("CHECKSUMS")).unwrap();
    let recorded: BTreeMap<_, _> = recorded
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split_once("  ").unwrap_or_else(|| panic!("`{line}` is not `digest  file`")))
        .map(|(digest, name)| (name.to_owned(), digest.to_owned()))
        .collect();
    assert_eq!(
        now, recorded,
        "wit/ differs from wit/CHECKSUMS. A released contract never changes: put the change into a new directory wit/vX.Y.Z. \
         For a version that is not released yet, or a new directory, run in wit/: sha256sum v*/* > CHECKSUMS"
    );
}

#[test]
fn every_version_says_the_version_of_its_directory() {
    for ((major, minor, patch), folder) in versions() {
        let package = format!("package k8s-aibom:scraper@{major}.{minor}.{patch};");
        assert!(text(&folder).contains(&package), "{} should say `{package}`", folder.display());
    }
}

/// Whether plugins for `old` run on a host with `new`.
fn keeps_promises(old: &str, new: &str) -> Result<(), String> {
    let mut resolve = Resolve::default();
    let mut push = |name: &str, text: &str| {
        // Two packages of one name and version cannot stand beside each other; the check ignores versions.
        let version = if name == "old" { "1.0.0" } else { "1.1.0" };
        let start = text.find("package k8s-aibom:scraper@").unwrap();
        let end = start + text[start..].find(';').unwrap();
        let text = format!("{}package k8s-aibom:scraper@{version}{}", &text[..start], &text[end..]);
        resolve.push_str(format!("{name}.wit"), &text).map_err(|error| format!("{error:#}"))
    };
    let (old, new) = (push("old", old)?, push("new", new)?);
    let old = resolve.select_world(&[old], Some("plugin")).map_err(|error| error.to_string())?;
    let new = resolve.select_world(&[new], Some("plugin")).map_err(|error| error.to_string())?;
    semver_check(resolve, old, new).map_err(|error| format!("{error:#}"))
}

#[test]
fn every_version_keeps_the_promises_of_the_one_before_it() {
    for pair in versions().windows(2) {
        let [(before, old), (after, new)] = pair else { unreachable!("windows of two") };
        if before.0 == after.0 {
            keeps_promises(&text(old), &text(new))
                .unwrap_or_else(|error| panic!("{} breaks plugins for {}: {error}", new.display(), old.display()));
        }
    }
}

/// The newest contract with one change.
fn changed(from: &str, to: &str) -> (String, String) {
    let versions = versions();
    let newest = text(&versions.last().unwrap().1);
    assert!(newest.contains(from), "the contract no longer contains `{from}`");
    let changed = newest.replace(from, to);
    (newest, changed)
}

#[test]
fn the_guard_accepts_what_is_additive() {
    let (old, same) = changed("world plugin", "world plugin");
    keeps_promises(&old, &same).unwrap();
    let (old, new) = changed("kind: func() -> node-kind;", "kind: func() -> node-kind;\n    parent: func() -> option<node>;");
    keeps_promises(&old, &new).expect("a function added to an interface of the host");
    let (old, new) = changed("log: func(level: level", "flush: func();\n  log: func(level: level");
    keeps_promises(&old, &new).expect("a function added to an interface of the host");
    let (old, new) = changed("world plugin {", "interface clock { now: func() -> u64; }\n\nworld plugin {\n  import clock;");
    keeps_promises(&old, &new).expect("a new interface of the host");
}

#[test]
fn the_guard_rejects_what_breaks_plugins() {
    let breaking = [
        ("    integer: func() -> option<s64>;\n", "", "a function of the host removed"),
        ("integer: func() -> option<s64>;", "integer: func() -> option<u64>;", "a function of the host changed"),
        ("reads-status: bool,", "reads-status: bool,\n    reads-secrets: bool,", "a field added to a record"),
        ("record locator { object: u32, pointer: string }", "record locator { pointer: string, object: u32 }", "fields reordered"),
        ("    other(string),\n", "    other(string),\n    retry,\n", "a case added to a variant"),
        ("enum level { debug, info, warn, error }", "enum level { debug, info, warn }", "a case removed from an enum"),
        ("describe: func() -> description;", "describe: func() -> description;\n  stop: func();", "a function that old plugins lack"),
        ("  import log;\n", "", "an interface of the host removed"),
    ];
    for (from, to, what) in breaking {
        let (old, new) = changed(from, to);
        assert!(keeps_promises(&old, &new).is_err(), "{what} must be rejected");
    }
}
