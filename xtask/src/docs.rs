//! `cargo xtask docs`: the parts of the documentation that are made from data.

use std::fs;

use anyhow::{Context as _, Result, bail};
use clap::Args;

use crate::workspace::{Workspace, note, output, step, write_if_changed};

#[derive(Args)]
pub(crate) struct DocsArgs {
    /// Write nothing; fail when something is not up to date
    #[arg(long)]
    pub(crate) check: bool,
}

const PAGE: &str = "docs/runtimes.md";
const BEGIN: &str = "<!-- runtimes: begin -->\n";
const END: &str = "<!-- runtimes: end -->";

pub(crate) fn update(workspace: &Workspace, args: &DocsArgs) -> Result<()> {
    let binary = workspace.build_host()?;
    let lister = binary.with_file_name("examples").join("runtimes").with_extension(std::env::consts::EXE_EXTENSION);
    step(format!("Listing the known programs in {PAGE}"));
    let list = output(&mut workspace.command(&lister))?;
    let path = workspace.path(PAGE);
    let page = fs::read_to_string(&path).with_context(|| format!("could not read {PAGE}"))?;
    let Some(new) = with_list(&page, &list) else { bail!("{PAGE} has no `{}` … `{END}`", BEGIN.trim()) };
    if args.check {
        if new != page {
            bail!("{PAGE} does not list the programs of host/extract/runtimes/; run `cargo xtask docs` and commit what it writes");
        }
    } else if write_if_changed(&path, new.as_bytes())? {
        note(format!("{PAGE} written"));
    }
    Ok(())
}

/// The page with another list between its marks; none when it has no marks.
fn with_list(page: &str, list: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}{}\n{END}{tail}", list.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_replaces_what_stands_between_the_marks_and_nothing_else() {
        let page = format!("a\n{BEGIN}old\nolder\n{END}\nz\n");
        let new = with_list(&page, "| new |\n").unwrap();
        assert_eq!(new, format!("a\n{BEGIN}| new |\n{END}\nz\n"));
        assert_eq!(with_list(&new, "| new |\n"), Some(new.clone()), "a second run changes nothing");
        assert_eq!(with_list("no marks", "x"), None);
    }
}
