//! `plugin inspect`: what a component is.

use std::path::PathBuf;

use aibom_api::kinds::GroupKind;
use aibom_artifact::directory;
use aibom_plugin::{Host, HostConfig, KindRef};
use clap::Args;

use crate::scan::output::printable;
use crate::usage;

/// Show what a component is: contract, kinds, imports, digest, sizes
///
/// The component is loaded by the production host, under its limits. A component that the host refuses is reported with the step that
/// refused it.
#[derive(Debug, Args)]
pub struct Inspect {
    /// Components
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// One line of JSON per component
    #[arg(long)]
    json: bool,
}

/// Runs the command; whether every component was accepted.
///
/// # Errors
/// The engine cannot start.
#[allow(clippy::print_stdout, reason = "this is what the command is for")]
pub fn run(inspect: &Inspect) -> anyhow::Result<bool> {
    let host = Host::new(HostConfig::default())?;
    let mut good = true;
    for file in &inspect.files {
        let loaded = directory::read_file(file)
            .map_err(anyhow::Error::from)
            .and_then(|artifact| host.load(&artifact.name, &artifact.bytes).map_err(anyhow::Error::from));
        match loaded {
            Err(error) => {
                good = false;
                usage::say(&format!("error: {}", printable(&format!("{}: {error:#}", file.display()))));
            }
            Ok(plugin) if inspect.json => {
                let description = plugin.description();
                let line = serde_json::json!({
                    "file": file.display().to_string(),
                    "name": description.name,
                    "version": description.version,
                    "contract": plugin.contract(),
                    "sha256": plugin.digest(),
                    "bytes": plugin.size().bytes,
                    "functions": plugin.size().functions,
                    "largestFunction": plugin.size().largest_function,
                    "nativeBytes": plugin.size().native_bytes,
                    "imports": plugin.imports(),
                    "readsStatus": description.reads_status,
                    "optionsSchema": description.options_schema.is_some(),
                    "kinds": names(&description.kinds),
                    "intermediates": names(&description.intermediates),
                    "related": names(&description.related),
                });
                println!("{line}");
            }
            Ok(plugin) => {
                let description = plugin.description();
                println!("{} {}", description.name, description.version);
                let size = plugin.size();
                println!("  file           {} ({} bytes)", file.display(), size.bytes);
                println!(
                    "  code           {} functions, the largest {} bytes; {} bytes compiled",
                    size.functions, size.largest_function, size.native_bytes
                );
                println!("  sha256         {}", plugin.digest());
                println!("  contract       {}", plugin.contract());
                println!("  imports        {}", list(plugin.imports()));
                println!("  kinds          {}", list(&names(&description.kinds)));
                println!("  intermediates  {}", list(&names(&description.intermediates)));
                println!("  related        {}", list(&names(&description.related)));
                println!("  reads status   {}", if description.reads_status { "yes" } else { "no" });
                println!("  options        {}", if description.options_schema.is_some() { "yes, with a JSON Schema" } else { "none" });
            }
        }
    }
    Ok(good)
}

fn names(kinds: &[KindRef]) -> Vec<String> {
    kinds
        .iter()
        .map(|kind| {
            let name = GroupKind::new(kind.group.as_str(), kind.kind.as_str());
            if kind.versions.is_empty() { name.to_string() } else { format!("{name} ({})", kind.versions.join(", ")) }
        })
        .collect()
}

fn list(words: &[String]) -> String {
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
