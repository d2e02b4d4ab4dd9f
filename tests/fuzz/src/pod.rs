//! A pod with one container, taken through extraction and rendering.

use aibom_bom::Options;
use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::Origin;
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::Tree;
use serde_json::{Value, json};

/// Extracts and renders, and holds the document to the lint.
pub fn read(image: &str, command: &[&str], args: &[&str], env: &[(&str, &str)]) {
    let env: Vec<Value> = env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let object = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "subject", "namespace": "fuzz"},
        "spec": {"containers": [{"name": "main", "image": image, "command": command, "args": args, "env": env}]},
    });
    let Ok(tree) = Tree::from_json(object.to_string().as_bytes()) else { return };
    let Some(reference) = ObjectRef::of(&tree) else { return };
    let template = PodTemplate {
        at: Locator::scraped(Pointer::root()),
        name: String::new(),
        role: String::new(),
        duty: Duty::Unknown,
        inherited_env: Vec::new(),
        properties: Vec::new(),
    };
    let report = Report { pod_templates: vec![template], ..Report::default() };
    let subject = Subject { objects: &[reference], trees: &[Some(&tree)], sought: &[], report: &report, origin: Origin::Manifest };
    let inventory = extract(Rules::builtin(), &subject);
    for model in &inventory.models {
        let id = model.reference.id();
        assert!(!id.contains("$(") && !id.contains("${") && !id.contains("{{"), "a variable or template as a model: `{id}`");
    }
    let options = Options::new(k8s_aibom::cli::producer(), aibom_bom::format_timestamp(0));
    let document = aibom_bom::render(&inventory, &options).json().to_owned();
    let document: Value = serde_json::from_str(&document).expect("a document is JSON");
    let violations = aibom_bom::lint::lint(&document);
    assert!(violations.is_empty(), "{violations:?}");
}
