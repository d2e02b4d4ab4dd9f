//! `cargo xtask demo --cluster`: the operator on a real API server, from nothing to AIBOMs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use aibom_control_plane::ControlPlane;
use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::stage::{Build, OPTED_IN, Operator, Stage, is_lease};
use crate::workspace::{Workspace, note, step};

/// How long the operator may go on writing. It is done within seconds; a loop would never end.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long it writes nothing when it is done.
const SETTLED: Duration = Duration::from_secs(3);

/// One of the documents is looked into: this one, when it is there.
const SHOWN: &str = "apps-deployment-harbor-chat";

pub(crate) fn show(workspace: &Workspace, binary: Option<&Path>) -> Result<()> {
    let build = Build::find(workspace, binary)?;
    let stage = Stage::start(workspace, &build, &[])?;
    apply_examples(workspace, &stage.plane)?;
    step("Starting the operator as the ServiceAccount of the chart");
    let operator = stage.operator(&[])?;
    wait_until_settled(&stage, &operator)?;
    step("kubectl get aibom --all-namespaces");
    println!("{}", stage.plane.kubectl(&["get", "aibom", "--all-namespaces"])?.trim_end());
    look_into_one(&stage.plane)?;
    operator.stop()?;
    step("Ending the control plane and removing its folder. One that stays: cargo xtask cluster up");
    Ok(())
}

/// Applies the manifests one by one, since a definition may be missing for some; opts in the namespaces that they name.
fn apply_examples(workspace: &Workspace, plane: &ControlPlane) -> Result<()> {
    let mut manifests = Vec::new();
    let mut files: Vec<_> =
        fs::read_dir(workspace.path("examples"))?.collect::<Result<Vec<_>, _>>()?.iter().map(fs::DirEntry::path).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "yaml")) {
        let text = fs::read_to_string(file).with_context(|| format!("could not read {}", workspace.show(file)))?;
        manifests.extend(text.split("\n---\n").map(str::to_owned));
    }
    let namespaces: BTreeSet<&str> = manifests.iter().filter_map(|manifest| field(manifest, "  namespace: ")).collect();
    step(format!("Applying examples/ in namespaces that are opted in ({}={})", OPTED_IN.0, OPTED_IN.1));
    for namespace in namespaces {
        plane.create_namespace(namespace, &[OPTED_IN])?;
    }
    let mut skipped = BTreeSet::new();
    for manifest in &manifests {
        match plane.apply(manifest) {
            Ok(applied) => note(applied.trim()),
            Err(error) if error.stderr().contains("no matches for kind") => {
                skipped.insert(field(manifest, "kind: ").unwrap_or("?"));
            }
            Err(error) => return Err(error.into()),
        }
    }
    let skipped: Vec<&str> = skipped.into_iter().collect();
    note(format!("left out, because this control plane has no definition of the kind: {}", skipped.join(", ")));
    Ok(())
}

/// The value of the first line that begins so. The examples are ours, so their form is known; it need not be parsed.
fn field<'a>(manifest: &'a str, begin: &str) -> Option<&'a str> {
    manifest.lines().find_map(|line| line.strip_prefix(begin)).map(str::trim)
}

/// Waits until the operator has written something, and then nothing for a while.
fn wait_until_settled(stage: &Stage, operator: &Operator) -> Result<()> {
    let (audit, began) = (stage.plane.audit(), Instant::now());
    let (mut mark, mut written, mut last) = (audit.start(), 0, Instant::now());
    while began.elapsed() < PATIENCE && (written == 0 || last.elapsed() < SETTLED) {
        thread::sleep(Duration::from_millis(200));
        operator.check()?;
        let next = audit.mark();
        let writes = stage.requests(mark)?.writes().on("aiboms").filter(|entry| !is_lease(entry)).len();
        mark = next;
        if writes > 0 {
            written += writes;
            last = Instant::now();
        }
    }
    if written == 0 {
        note(format!("the operator has written nothing within {} s; its log ends with", PATIENCE.as_secs()));
        note(tail(operator.log()));
    }
    Ok(())
}

/// The last lines of a log.
fn tail(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

/// The components of one document, each with the place it was read from.
fn look_into_one(plane: &ControlPlane) -> Result<()> {
    let all = plane.get_json(&["aibom", "--all-namespaces"])?;
    let items = all["items"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(shown) = items.iter().find(|item| item["metadata"]["name"] == SHOWN).or(items.first()) else { return Ok(()) };
    let (name, namespace) = (text(&shown["metadata"]["name"]), text(&shown["metadata"]["namespace"]));
    let template = "--output=go-template={{.status.bomDocument.inline.data | base64decode}}";
    let document = plane.kubectl(&["get", "aibom", name, "--namespace", namespace, template])?;
    let document: Value = serde_json::from_str(&document).with_context(|| format!("the document of {namespace}/{name} is no JSON"))?;
    step(format!("A look into the document of {namespace}/{name}:"));
    note(format!("kubectl get aibom {name} --namespace {namespace} '{template}'"));
    println!("{}", text(&document["serialNumber"]));
    for component in document["components"].as_array().into_iter().flatten() {
        let version = match text(&component["version"]) {
            "" => String::new(),
            version => format!(" {version}"),
        };
        println!("  {:<24} {}{version}", text(&component["type"]), text(&component["name"]));
        println!("  {:<24}   from {}", "", text(&component["evidence"]["occurrences"][0]["location"]));
    }
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namespace_and_the_kind_are_those_of_the_object_itself() {
        let manifest = "# kind: of what\nkind: Widget\nmetadata:\n  name: a\n  namespace: team \nspec:\n    namespace: other\n";
        assert_eq!(field(manifest, "  namespace: "), Some("team"));
        assert_eq!(field(manifest, "kind: "), Some("Widget"));
        assert_eq!(field("kind: Widget\n", "  namespace: "), None);
    }
}
