//! What a specification says against what a cluster made of it.

use super::*;

const OLD: &str = "0000000000000000000000000000000000000000000000000000000000000001";
const NEW: &str = "0000000000000000000000000000000000000000000000000000000000000002";

fn image_names(inventory: &Inventory) -> Vec<&str> {
    inventory.images.iter().map(|image| image.finding.key.name.as_str()).collect()
}

#[test]
fn the_image_has_the_name_of_the_specification_whatever_the_status_shows() {
    // B32: the node has the same bytes under an older name.
    let yaml = format!(
        "apiVersion: v1
kind: Pod
metadata: {{name: p}}
spec: {{containers: [{{name: a, image: 'r.example/plum/server:v2'}}]}}
status: {{containerStatuses: [{{name: a, image: 'r.example/old/server:v1', imageID: 'r.example/old/server@sha256:{OLD}'}}]}}
"
    );
    let found = read(&yaml, &Report { pod_templates: vec![template("", "", Duty::Unknown)], ..Report::default() });
    assert_eq!(image_names(&found), ["r.example/plum/server:v2"]);
    assert!(!format!("{found:?}").contains("old/server"));
}

#[test]
fn two_revisions_of_one_image_are_two_images() {
    // B39: a rollout has both until it is done.
    let container = |hex: &str| format!("{{containers: [{{name: a, image: 'r.example/plum/server@sha256:{hex}'}}]}}");
    let yaml = format!(
        "apiVersion: example.com/v1\nkind: Rollout\nmetadata: {{name: r}}\nspec: {{old: {{spec: {}}}, new: {{spec: {}}}}}\n",
        container(OLD),
        container(NEW)
    );
    let templates = vec![template("/spec/old", "old", Duty::Unknown), template("/spec/new", "new", Duty::Unknown)];
    let found = read(&yaml, &Report { pod_templates: templates, ..Report::default() });
    let want = [format!("r.example/plum/server@sha256:{OLD}"), format!("r.example/plum/server@sha256:{NEW}")];
    assert_eq!(image_names(&found), want);
    let users: Vec<&str> = found.images.iter().flat_map(|image| &image.containers).map(|user| user.template.as_str()).collect();
    assert_eq!(users, ["old", "new"]);
}

#[test]
fn a_declared_address_counts_though_no_container_fetches_it() {
    // B51: an address that the controller does not inject is declared all the same.
    let yaml = "apiVersion: example.com/v1
kind: InferenceService
metadata: {name: i}
spec:
  storageUris: [{uri: 'oci://r.example/plum/model:v1', mountPath: /mnt/a}]
  predictor: {spec: {containers: [{name: a, image: 'vllm/vllm-openai:v0.9.0', args: [--model, /mnt/a]}]}}
";
    let mut report = Report { pod_templates: vec![template("/spec/predictor", "", Duty::Engine)], ..Report::default() };
    report.items.push(item(ItemClass::Model, "oci://r.example/plum/model:v1", Basis::Declared, "/spec/storageUris/0/uri"));
    let found = read(yaml, &report);
    let declared = found.models.iter().find(|model| model.reference.id().starts_with("oci://")).expect("the declared model");
    assert_eq!(declared.finding.evidence[0].source, Source::CrdField);
    assert_eq!(declared.finding.evidence[0].at.pointer.as_str(), "/spec/storageUris/0/uri");
    assert_eq!(declared.finding.confidence, Confidence::Declared);
}
