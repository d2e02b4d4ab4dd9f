//! Prints the known programs as a table, for `docs/runtimes.md`.

#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::collections::HashSet;

use aibom_extract::{Rules, Runtime};

/// Most names in a cell.
const NAMES: usize = 3;

fn main() {
    let mut rows: Vec<String> = Rules::builtin().runtimes().iter().map(row).collect();
    rows.sort();
    println!("{} programs.\n\n| Name | Does | Category | Images, such as | Started by, such as |\n|---|---|---|---|---|", rows.len());
    for row in rows {
        println!("{row}");
    }
}

fn row(runtime: &Runtime) -> String {
    let category = runtime.category.map_or("", |category| category.as_str());
    let images = runtime.images.repositories.iter().chain(&runtime.images.names).map(|repository| repository.path.clone());
    let launchers = runtime.launch.iter().flat_map(|launcher| {
        let modules = launcher.modules.iter().map(|module| format!("python -m {module}"));
        let programs = launcher.programs.iter().chain(&launcher.scripts).cloned();
        programs.chain(modules).map(|program| [&[program][..], &launcher.words].concat().join(" ")).collect::<Vec<_>>()
    });
    let does = runtime.does.as_str();
    format!("| `{}` | {does} | {category} | {} | {} |", runtime.name, cell(images), cell(launchers))
}

fn cell(names: impl Iterator<Item = String>) -> String {
    let mut seen = HashSet::new();
    names
        .filter(|name| seen.insert(name.clone()))
        .take(NAMES)
        .map(|name| format!("`{}`", name.replace('|', "\\|")))
        .collect::<Vec<_>>()
        .join(", ")
}
