//! `plugin test`: a component through the production host.

use std::path::PathBuf;
use std::sync::Arc;

use aibom_artifact::directory;
use aibom_facts::tree::Tree;
use aibom_plugin::{CallError, Host, HostConfig, Plugin};
use anyhow::{Context as _, anyhow, bail, ensure};
use clap::Args;
use serde_json::{Value, json};
use similar::TextDiff;

use super::fixtures::{self, Budget, Fixture, Manifest};
use super::mutate;
use crate::pipeline::NO_OPTIONS;

/// Run a component through the production host: limits, world, fixtures, mutations, determinism, fuel
///
/// Without --fixtures only what needs no fixture is checked. With it, every fixtures/KIND/CASE.yaml below DIR is scraped and
/// compared with its .expected.json; every field of every fixture is replaced by every wrong type, and the scraper must still report;
/// two runs must agree byte for byte; fuel must stay within budget.toml + 10 %.
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all checks hold; 1 they could not be run; 2 a check failed.")]
pub struct Test {
    /// The component
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Folder that holds plugin.toml and fixtures/
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,
    /// Accept what the scraper says now: write *.expected.json and budget.toml
    #[arg(long, requires = "fixtures")]
    bless: bool,
}

/// The contract this program speaks; the WIT file of the project, so that authors need nothing else.
const CONTRACT: &str = include_str!("../../../../wit/v1.0.0/scraper.wit");

/// Runs the command; whether every check held.
///
/// # Errors
/// The checks could not be run.
pub fn run(test: &Test) -> anyhow::Result<bool> {
    let artifact = directory::read_file(&test.file)?;
    let mut checks = Checks::default();
    let host = Host::new(patient())?;
    let metered = Host::new(HostConfig { measure_fuel: true, ..patient() })?;
    checks.note("world", check_world(&artifact.bytes));
    let plugin = match host.load(&artifact.name, &artifact.bytes) {
        Ok(plugin) => plugin,
        Err(error) => {
            checks.note("load", Err(error.into()));
            return Ok(checks.report());
        }
    };
    checks.note("load", Ok(format!("{} bytes, sha256 {}", plugin.size().bytes, plugin.digest())));
    checks.note("strange objects", strange_objects(&plugin));
    if let Some(folder) = &test.fixtures {
        checks.note("plugin.toml", Manifest::read(folder).and_then(|manifest| same_as_described(&manifest, &plugin)));
        let found = fixtures::read(folder)?;
        ensure!(!found.is_empty(), "{} holds no fixtures; write fixtures/<kind>/<case>.yaml", folder.display());
        let metered = metered.load(&artifact.name, &artifact.bytes)?;
        let recorded = Budget::read(folder)?.unwrap_or_default();
        let mut measured = Budget::default();
        let (mut mutations, mut slowest) = (0, (0, String::new()));
        for fixture in &found {
            checks.note(&format!("fixture {}", fixture.name), expected(&plugin, fixture, test.bless));
            checks.note(&format!("determinism {}", fixture.name), deterministic(&plugin, fixture));
            match mutate_all(&plugin, fixture) {
                Ok(count) => mutations += count,
                Err(error) => checks.note(&format!("mutation {}", fixture.name), Err(error)),
            }
            let fuel = fuel(&metered, fixture)?;
            slowest = slowest.max((fuel, fixture.name.clone()));
            if !test.bless {
                checks.note(&format!("fuel {}", fixture.name), within(fuel, recorded.fuel.get(&fixture.name).copied()));
            }
            measured.fuel.insert(fixture.name.clone(), fuel);
        }
        checks
            .note("mutations", if mutations > 0 { Ok(format!("{mutations} changed objects")) } else { Err(anyhow!("no field to change")) });
        checks.note("most fuel", Ok(format!("{} for {}", slowest.0, slowest.1)));
        if test.bless {
            measured.write(folder)?;
        }
    }
    Ok(checks.report())
}

/// The production host with a deadline that a busy build machine does not break; fuel is what says how much a scraper works.
fn patient() -> HostConfig {
    HostConfig { deadline: crate::cli::OFFLINE_DEADLINE, ..HostConfig::default() }
}

/// Checks that held and those that did not, shown as they come.
#[derive(Default)]
struct Checks {
    held: usize,
    failed: usize,
}

#[allow(clippy::print_stdout, reason = "this is what the command is for")]
impl Checks {
    fn note(&mut self, name: &str, result: anyhow::Result<String>) {
        match result {
            Ok(detail) => {
                self.held += 1;
                println!("ok    {name}{}{detail}", if detail.is_empty() { "" } else { ": " });
            }
            Err(error) => {
                self.failed += 1;
                println!("FAIL  {name}: {error:#}");
            }
        }
    }

    fn report(&self) -> bool {
        println!("{} checks held, {} failed", self.held, self.failed);
        self.failed == 0
    }
}

/// The component fits the world of the contract, by the rules of WIT's semantic versions.
fn check_world(component: &[u8]) -> anyhow::Result<String> {
    let mut resolve = wit_parser::Resolve::default();
    let package = resolve.push_str("scraper.wit", CONTRACT)?;
    let world = resolve.select_world(&[package], Some("plugin"))?;
    wit_component::targets(&resolve, world, component, true)
        .context("the component does not fit the world `plugin`; build it with the SDK of this contract")?;
    Ok(format!("fits {}", resolve.id_of_name(package, "plugin")))
}

fn same_as_described(manifest: &Manifest, plugin: &Plugin) -> anyhow::Result<String> {
    let description = plugin.description();
    ensure!(manifest.name == description.name, "name is `{}` there and `{}` in describe()", manifest.name, description.name);
    ensure!(manifest.version == description.version, "version is {} there and {} in describe()", manifest.version, description.version);
    let described: Vec<_> = description
        .kinds
        .iter()
        .map(|kind| fixtures::Kind { group: kind.group.clone(), kind: kind.kind.clone(), versions: kind.versions.clone() })
        .collect();
    ensure!(manifest.kinds == described, "kinds are\n{:#?}\nthere and\n{described:#?}\nin describe()", manifest.kinds);
    Ok(format!("{} kinds", described.len()))
}

/// Objects without anything, of an unknown version, deep, wide: answered, never a trap.
fn strange_objects(plugin: &Plugin) -> anyhow::Result<String> {
    let mut count = 0;
    for kind in &plugin.description().kinds {
        for version in kind.versions.iter().map(String::as_str).chain(["v999strange1"]) {
            let api_version = if kind.group.is_empty() { version.to_owned() } else { format!("{}/{version}", kind.group) };
            for (what, spec) in strange_specs() {
                let mut object =
                    json!({"apiVersion": api_version, "kind": kind.kind, "metadata": {"name": "strange", "namespace": "default"}});
                if let Some(spec) = spec {
                    object["spec"] = spec;
                }
                survives(&object, &|view| {
                    let wants = plugin.related(view, NO_OPTIONS)?;
                    plugin.scrape(view, &vec![None; wants.len()], NO_OPTIONS)
                })
                .with_context(|| format!("{} {version}, {what}", kind.kind))?;
                count += 1;
            }
        }
    }
    Ok(format!("{count} objects"))
}

fn strange_specs() -> Vec<(&'static str, Option<Value>)> {
    // Two levels a step: near the deepest object that is read at all.
    let deep = (0..60).fold(json!("bottom"), |inner, _| json!({"template": {"spec": inner}}));
    let wide: Vec<Value> = (0..20_000).map(|index| json!({"name": format!("n{index}"), "value": "x".repeat(40)})).collect();
    vec![
        ("no spec", None),
        ("spec is null", Some(Value::Null)),
        ("spec is a text", Some(json!("spec"))),
        ("spec is a list", Some(json!([1, 2]))),
        ("an empty spec", Some(json!({}))),
        ("a deep spec", Some(deep)),
        ("a spec of 1.5 MB", Some(json!({"env": wide, "envs": wide, "components": {"a": {}}, "services": []}))),
    ]
}

/// A scraper answers with a report, or says that it does not read the object. Anything else is a bug in it.
fn survives(object: &Value, scrape: &dyn Fn(&Arc<Tree>) -> Result<aibom_plugin::Scraped, CallError>) -> anyhow::Result<()> {
    let tree = Tree::from_json(object.to_string().as_bytes())?;
    match scrape(&Arc::new(tree)) {
        Ok(_) | Err(CallError::Unsupported(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The fixture's object with every field wrong in every way, then each related object so.
fn mutate_all(plugin: &Plugin, fixture: &Fixture) -> anyhow::Result<usize> {
    let view = fixture.view(plugin);
    let mut count = 0;
    for mutation in mutate::mutations(&serde_json::from_str(&view.json(view.root()))?) {
        survives(&mutation.object, &|view| fixture.scrape(plugin, view))
            .with_context(|| format!("with {} at {}", mutation.what, mutation.pointer))?;
        count += 1;
    }
    let wants = plugin.related(&view, NO_OPTIONS)?;
    let answers = fixture.answers(plugin, &wants);
    for (index, answer) in answers.iter().enumerate() {
        let Some(answer) = answer else { continue };
        for mutation in mutate::mutations(&serde_json::from_str(&answer.json(answer.root()))?) {
            survives(&mutation.object, &|changed| {
                let mut answers = answers.clone();
                answers[index] = Some(Arc::clone(changed));
                plugin.scrape(&view, &answers, NO_OPTIONS)
            })
            .with_context(|| format!("with {} at {} of related object {}", mutation.what, mutation.pointer, index + 1))?;
            count += 1;
        }
    }
    Ok(count)
}

/// What a fixture gives, as the expected file keeps it.
fn outcome(plugin: &Plugin, fixture: &Fixture) -> anyhow::Result<String> {
    let scraped = fixture.scrape(plugin, &fixture.view(plugin))?;
    let grounding: serde_json::Map<String, Value> =
        scraped.grounding.iter().map(|(change, count)| (change.as_str().to_owned(), json!(count))).collect();
    let mut text = serde_json::to_string_pretty(&json!({"report": scraped.report, "grounding": grounding}))?;
    text.push('\n');
    Ok(text)
}

fn expected(plugin: &Plugin, fixture: &Fixture, bless: bool) -> anyhow::Result<String> {
    let found = outcome(plugin, fixture)?;
    let path = fixture.expected_path();
    let expected = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && bless => String::new(),
        Err(error) => bail!("cannot read {}: {error}; look at what the scraper says and accept it with --bless", path.display()),
    };
    if found == expected {
        return Ok(String::new());
    }
    if bless {
        std::fs::write(&path, found).with_context(|| format!("cannot write {}", path.display()))?;
        return Ok("accepted".to_owned());
    }
    let diff = TextDiff::from_lines(&expected, &found);
    bail!("not as expected (accept with --bless)\n{}", diff.unified_diff().context_radius(4).header("expected", "found"))
}

fn deterministic(plugin: &Plugin, fixture: &Fixture) -> anyhow::Result<String> {
    let (first, second) = (outcome(plugin, fixture)?, outcome(plugin, fixture)?);
    ensure!(first == second, "two runs differ\n{}", TextDiff::from_lines(&first, &second).unified_diff());
    Ok(String::new())
}

fn fuel(metered: &Plugin, fixture: &Fixture) -> anyhow::Result<u64> {
    let scraped = fixture.scrape(metered, &fixture.view(metered))?;
    scraped.usage.fuel.context("the host measured no fuel")
}

fn within(fuel: u64, budget: Option<u64>) -> anyhow::Result<String> {
    let budget = budget.context("no budget recorded; record it with --bless")?;
    ensure!(fuel <= budget + budget / 10, "{fuel}, more than 10 % over the budget of {budget}; if that is meant, record it with --bless");
    Ok(format!("{fuel} of {budget}"))
}
