//! `cargo xtask tools`: the programs of a control plane.

use std::path::PathBuf;

use aibom_control_plane::binaries::{self, Tool};
use anyhow::Result;

use crate::workspace::step;

/// Finds every program or builds it, and prints where each is.
pub(crate) fn list() -> Result<()> {
    for (tool, path) in find_all()? {
        println!("{:<24} {:<8} {}", tool.name(), tool.version(), path.display());
    }
    Ok(())
}

/// All of them, so that what is missing is built now and not in the middle of a test.
pub(crate) fn find_all() -> Result<Vec<(Tool, PathBuf)>> {
    step("Programs of the control plane (KUBEBUILDER_ASSETS, cache, PATH; missing ones are built with Go, once)");
    Tool::ALL.into_iter().map(|tool| Ok((tool, binaries::find(tool)?))).collect()
}
