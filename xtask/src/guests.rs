//! Guests: compiled to core modules by cargo, then wrapped as components.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use wit_component::ComponentEncoder;
use wit_parser::Resolve;

use crate::toolchain::{Choice, GuestToolchain};
use crate::workspace::{Workspace, is_ci, note, shown, step, write_if_changed};

/// The name under which the guests of `tests/hostile` are asked for.
const HOSTILE: &str = "hostile";

/// Where cargo puts what it builds of the repository's guests, apart from what it builds of the host.
pub(crate) const TARGET_FOLDER: &str = "target/guests";

/// A family is tens of kilobytes; one that comes near this carries something it should not.
const SIZE_CAP: usize = 2 * 1024 * 1024;

#[derive(Args)]
pub(crate) struct BuildArgs {
    /// Families to build (folders under plugins/ with a plugin.toml), or `hostile`; all when none is named
    #[arg(value_name = "NAME")]
    names: Vec<String>,

    /// Build the scraper in this folder instead, such as `k8s-aibom plugin new` made, into DIR/NAME.wasm with the name of its plugin.toml
    #[arg(long = "crate", value_name = "DIR", conflicts_with = "names")]
    folder: Option<PathBuf>,

    /// Where the compiler for the guests comes from
    #[arg(long, value_enum, default_value_t)]
    toolchain: Choice,
}

/// A component that was built.
pub(crate) struct Guest {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
}

/// Builds what the command line names.
pub(crate) fn build(workspace: &Workspace, args: &BuildArgs) -> Result<()> {
    if let Some(folder) = &args.folder {
        return build_crate(workspace, folder, args.toolchain);
    }
    let (hostile, names): (Vec<String>, Vec<String>) = args.names.iter().cloned().partition(|name| name == HOSTILE);
    let toolchain = GuestToolchain::find(workspace, args.toolchain)?;
    if args.names.is_empty() || !names.is_empty() {
        let families = select(workspace, &names)?;
        compile_families(workspace, &toolchain, &families)?;
        if names.is_empty() {
            remove_others(workspace, &families)?;
        }
    }
    if args.names.is_empty() || !hostile.is_empty() {
        build_hostile(workspace, &toolchain)?;
    }
    Ok(())
}

/// Builds families, all of them when none is named.
pub(crate) fn build_families(workspace: &Workspace, names: &[String], toolchain: Choice) -> Result<Vec<Guest>> {
    let families = select(workspace, names)?;
    let guests = compile_families(workspace, &GuestToolchain::find(workspace, toolchain)?, &families)?;
    if names.is_empty() {
        remove_others(workspace, &families)?;
    }
    Ok(guests)
}

/// Builds all families, which it gives, and the hostile guests of the tests.
pub(crate) fn build_all(workspace: &Workspace, toolchain: Choice) -> Result<Vec<Guest>> {
    let guests = build_families(workspace, &[], toolchain)?;
    build_hostile(workspace, &GuestToolchain::find(workspace, toolchain)?)?;
    Ok(guests)
}

/// Components of families that are gone: left in place, the host would go on serving them.
fn remove_others(workspace: &Workspace, families: &[Family]) -> Result<()> {
    let Ok(entries) = fs::read_dir(workspace.plugins()) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let is_component = path.extension().is_some_and(|extension| extension == "wasm");
        if is_component && !families.iter().any(|family| path.file_stem().is_some_and(|stem| stem == family.name.as_str())) {
            fs::remove_file(&path).with_context(|| format!("could not remove {}", workspace.show(&path)))?;
            note(format!("{} removed: no such family any more", workspace.show(&path)));
        }
    }
    Ok(())
}

/// A crate of someone else's. Its target folder is its own, and it need not have a lock file.
pub(crate) fn build_crate(workspace: &Workspace, folder: &Path, toolchain: Choice) -> Result<()> {
    let folder = folder.canonicalize().with_context(|| format!("there is no folder {}", folder.display()))?;
    let plugin = folder.join("plugin.toml");
    let text =
        fs::read_to_string(&plugin).with_context(|| format!("could not read {}; `k8s-aibom plugin new` writes one", plugin.display()))?;
    let Named { name } = toml::from_str(&text).with_context(|| format!("{} is no description of a plugin", plugin.display()))?;
    let toolchain = GuestToolchain::find(workspace, toolchain)?;
    step(format!("Building {name} with {}", toolchain.describe()));
    let mut command = toolchain.cargo_build(workspace, &folder, &folder.join("target"));
    let manifest = folder.join("Cargo.toml");
    let modules = compile(&mut command)?;
    let Some(module) = modules.iter().find(|module| module.manifest == manifest) else {
        bail!("{} built no WebAssembly module; it needs `[lib] crate-type = [\"cdylib\"]`", manifest.display());
    };
    let component = Contract::newest(workspace)?.component(&module.file, &name)?;
    write(workspace, &folder.join(&name).with_extension("wasm"), &component)
}

/// Under CI the lock files of the repository must be up to date.
fn lock(command: &mut Command) -> &mut Command {
    if is_ci() { command.arg("--locked") } else { command }
}

/// The named families, or all.
fn select(workspace: &Workspace, names: &[String]) -> Result<Vec<Family>> {
    let known = families(workspace)?;
    if known.is_empty() {
        bail!("plugins/ holds no plugin family (a folder with a Cargo.toml and a plugin.toml)");
    }
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|family| &&family.name == name)) {
        let known: Vec<&str> = known.iter().map(|family| family.name.as_str()).collect();
        bail!(
            "there is no plugin family `{unknown}`; known are: {} (a family is a folder in plugins/ that holds a plugin.toml)",
            known.join(", ")
        );
    }
    Ok(known.into_iter().filter(|family| names.is_empty() || names.contains(&family.name)).collect())
}

/// One folder under `plugins/`.
struct Family {
    name: String,
    /// Name of its package, for `cargo build -p`.
    package: String,
    manifest: PathBuf,
}

#[derive(Deserialize)]
struct Manifest {
    package: Package,
}

#[derive(Deserialize)]
struct Package {
    name: String,
}

/// The part of a `plugin.toml` that is of interest here.
#[derive(Deserialize)]
struct Named {
    name: String,
}

fn families(workspace: &Workspace) -> Result<Vec<Family>> {
    let folder = workspace.path("plugins");
    let mut families = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("could not read {}", folder.display()))? {
        let path = entry?.path();
        let manifest = path.join("Cargo.toml");
        if !path.join("plugin.toml").is_file() || !manifest.is_file() {
            continue;
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let text = fs::read_to_string(&manifest).with_context(|| format!("could not read {}", manifest.display()))?;
        let parsed: Manifest = toml::from_str(&text).with_context(|| format!("{} is not a package manifest", workspace.show(&manifest)))?;
        families.push(Family { name: name.to_owned(), package: parsed.package.name, manifest });
    }
    families.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(families)
}

fn compile_families(workspace: &Workspace, toolchain: &GuestToolchain, families: &[Family]) -> Result<Vec<Guest>> {
    let names: Vec<&str> = families.iter().map(|family| family.name.as_str()).collect();
    step(format!("Building plugins ({}) with {}", names.join(", "), toolchain.describe()));
    let mut command = toolchain.cargo_build(workspace, &workspace.path("plugins"), &workspace.path(TARGET_FOLDER));
    for family in families {
        command.args(["-p", &family.package]);
    }
    let modules = compile(lock(&mut command))?;
    let contract = Contract::newest(workspace)?;
    let mut guests = Vec::new();
    for family in families {
        let Some(module) = modules.iter().find(|module| module.manifest == family.manifest) else {
            bail!(
                "plugins/{} built no WebAssembly module; its Cargo.toml needs `[lib] crate-type = [\"cdylib\"]` (add \"rlib\" for native tests)",
                family.name
            );
        };
        let component = contract.component(&module.file, &format!("plugins/{}", family.name))?;
        let path = workspace.plugins().join(format!("{}.wasm", family.name));
        write(workspace, &path, &component)?;
        guests.push(Guest { name: family.name.clone(), path });
    }
    Ok(guests)
}

/// Each example of `tests/hostile` is one guest. Their worlds are not checked: breaking the contract is the point of some.
fn build_hostile(workspace: &Workspace, toolchain: &GuestToolchain) -> Result<()> {
    let folder = workspace.path("tests/hostile");
    step("Building the hostile guests of the tests");
    let mut command = toolchain.cargo_build(workspace, &folder, &workspace.path(TARGET_FOLDER));
    command.arg("--examples");
    let mut modules = compile(lock(&mut command))?;
    modules.retain(|module| module.is_example);
    modules.sort_by(|a, b| a.target.cmp(&b.target));
    for module in modules {
        let component = componentize(&module.file)?;
        write(workspace, &workspace.path("target/hostile").join(format!("{}.wasm", module.target)), &component)?;
    }
    Ok(())
}

fn write(workspace: &Workspace, path: &Path, component: &[u8]) -> Result<()> {
    let changed = write_if_changed(path, component)?;
    let digest = Sha256::digest(component).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let state = if changed { "" } else { " (unchanged)" };
    note(format!("{:<34} {:>8} bytes  sha256:{digest}{state}", workspace.show(path), component.len()));
    Ok(())
}

/// A core module that cargo reported.
struct Module {
    manifest: PathBuf,
    target: String,
    is_example: bool,
    file: PathBuf,
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<Target>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Runs cargo and collects the modules from its messages, so that no file name is guessed.
fn compile(command: &mut Command) -> Result<Vec<Module>> {
    command.arg("--message-format=json-render-diagnostics");
    let what = shown(command);
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start `{what}`"))?;
    let stdout = child.stdout.take().context("no standard output of cargo")?;
    let mut modules = Vec::new();
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        let Ok(message) = serde_json::from_str::<Message>(&line) else { continue };
        if message.reason != "compiler-artifact" {
            continue;
        }
        let (Some(manifest), Some(target)) = (message.manifest_path, message.target) else { continue };
        let Some(file) = message.filenames.into_iter().find(|file| file.extension().is_some_and(|extension| extension == "wasm")) else {
            continue;
        };
        let is_example = target.kind.iter().any(|kind| kind == "example");
        modules.push(Module { manifest, target: target.name, is_example, file });
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("the guests did not compile (`{what}`, {status}); the compiler's messages are above");
    }
    Ok(modules)
}

fn componentize(module: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(module).with_context(|| format!("could not read {}", module.display()))?;
    let encode = || -> Result<Vec<u8>> { ComponentEncoder::default().validate(true).module(&bytes)?.encode() };
    encode().with_context(|| {
        format!(
            "{} could not be wrapped as a component (does the crate export a scraper through the SDK's macro, and import nothing else?)",
            module.display()
        )
    })
}

/// The world that every family must fit.
struct Contract {
    folder: String,
    resolve: Resolve,
    world: wit_parser::WorldId,
}

impl Contract {
    /// The contract directory with the highest version.
    fn newest(workspace: &Workspace) -> Result<Self> {
        let mut versions: Vec<((u64, u64, u64), PathBuf)> = Vec::new();
        for entry in fs::read_dir(workspace.path("wit")).context("could not read wit/")? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some(version) = name.strip_prefix('v').and_then(version) {
                versions.push((version, path));
            }
        }
        versions.sort();
        let (_, path) = versions.pop().context("wit/ holds no contract (a folder named v<major>.<minor>.<patch>)")?;
        let mut resolve = Resolve::default();
        let (package, _) = resolve.push_path(&path).with_context(|| format!("{} does not parse", workspace.show(&path)))?;
        let world =
            resolve.select_world(&[package], Some("plugin")).with_context(|| format!("{} has no world `plugin`", workspace.show(&path)))?;
        Ok(Self { folder: workspace.show(&path), resolve, world })
    }

    /// Wraps a module of `owner` as a component that keeps this contract and has a decent size.
    fn component(&self, module: &Path, owner: &str) -> Result<Vec<u8>> {
        let component = componentize(module)?;
        self.check(&component).with_context(|| format!("{owner} does not keep the contract of {}", self.folder))?;
        if component.len() > SIZE_CAP {
            bail!(
                "{owner}: the component has {} bytes, the cap is {SIZE_CAP}; look for large dependencies or missing size options",
                component.len()
            );
        }
        Ok(component)
    }

    fn check(&self, component: &[u8]) -> Result<()> {
        wit_component::targets(&self.resolve, self.world, component, true)
    }
}

fn version(text: &str) -> Option<(u64, u64, u64)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    let version = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contract_folder_is_named_by_three_numbers() {
        assert_eq!(version("1.10.2"), Some((1, 10, 2)));
        for other in ["1.0", "1.0.0.0", "1.0.x", "", "1.0.0-rc1"] {
            assert_eq!(version(other), None, "{other}");
        }
        assert!(version("1.10.0") > version("1.9.9"));
    }

    #[test]
    fn a_component_that_keeps_no_contract_is_refused() {
        let workspace = Workspace::find().unwrap();
        let contract = Contract::newest(&workspace).unwrap();
        // The smallest component there is: it exports nothing.
        let empty = [0, b'a', b's', b'm', 0x0d, 0, 1, 0];
        let error = format!("{:#}", contract.check(&empty).unwrap_err());
        assert!(error.contains("scraper"), "{error}");
    }

    #[test]
    fn a_module_without_a_world_is_no_guest() {
        let folder = std::env::temp_dir().join(format!("xtask-module-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("module.wasm");
        fs::write(&path, b"not WebAssembly").unwrap();
        let error = format!("{:#}", componentize(&path).unwrap_err());
        fs::remove_dir_all(&folder).unwrap();
        assert!(error.contains("module.wasm") && error.contains("SDK"), "{error}");
    }
}
