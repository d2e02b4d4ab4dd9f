//! Lists the runtime files, so that each can be embedded.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("CARGO_MANIFEST_DIR is not set"))?;
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(Path::new(&root).join("runtimes"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if Path::new(&name).extension().is_some_and(|extension| extension == "yaml") {
            names.push(name);
        }
    }
    names.sort();
    let mut text = String::from("/// Runtime files by name.\npub(crate) const RUNTIMES: &[(&str, &str)] = &[\n");
    for name in names {
        let _ = writeln!(text, "    ({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))),", format!("/runtimes/{name}"));
    }
    text.push_str("];\n");
    fs::write(Path::new(&out).join("runtimes.rs"), text)?;
    println!("cargo::rerun-if-changed=runtimes");
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}
