//! A container as YAML in, everything that is read from it out, as lines of text.
//!
//! ```text
//! container("{image: 'vllm/vllm-openai:v0.8.5', args: [--model, acme/m]}").gives(&["inference", "vllm", "main acme/m"]);
//! ```
//!
//! All lines are compared, so that a case also says what must *not* be found. Their order does not matter. They are:
//!
//! * a category: `inference`;
//! * a runtime: its name, `vllm`;
//! * a model: `<role> <id>`, then `@<revision>` and `as <served name>, <served name>` where there are any;
//! * `conflict <value>`: a value that lost against the model's;
//! * `from <source>`: a place of the weights that is not the identity;
//! * `service <name>`: a remote API;
//! * `dataset <name>`;
//! * `unresolved <what> <why> <reference>`, for all but digests;
//! * `problem <message>`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use aibom_extract::{Rules, Subject, extract};
use aibom_facts::inventory::{DataKind, Inventory, Origin};
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::{Tree, Visibility};

/// What was read, and from what.
pub(crate) struct Read {
    /// For a closer look at evidence, versions or properties.
    pub(crate) inventory: Inventory,
    given: String,
}

impl Read {
    /// Compares everything that was found with the lines.
    #[track_caller]
    pub(crate) fn gives(&self, lines: &[&str]) -> &Self {
        let mut want: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        want.sort();
        assert_eq!(found(&self.inventory), want, "{}", self.given);
        self
    }

    /// Compares the parameters of all models, as `name=value`, with these; order does not matter.
    #[track_caller]
    pub(crate) fn parameters(&self, parameters: &[&str]) -> &Self {
        let properties = self.inventory.models.iter().flat_map(|model| &model.finding.properties);
        let mut have: Vec<String> = properties
            .filter_map(|(name, values)| name.strip_prefix("aibom.parameter.").map(|name| (name, values)))
            .flat_map(|(name, values)| values.iter().map(move |value| format!("{name}={value}")))
            .collect();
        have.sort();
        have.dedup();
        let mut want: Vec<String> = parameters.iter().map(|line| (*line).to_owned()).collect();
        want.sort();
        assert_eq!(have, want, "{}", self.given);
        self
    }

    /// Compares the forms of all models, each once: `hub`, `name`, `path`, `uri`.
    #[track_caller]
    pub(crate) fn forms(&self, forms: &[&str]) -> &Self {
        let have: BTreeSet<&str> = self.inventory.models.iter().map(|model| model.reference.form()).collect();
        assert_eq!(have, forms.iter().copied().collect(), "{}", self.given);
        self
    }

    /// Compares the versions of the runtimes, as `name version`.
    #[track_caller]
    pub(crate) fn versions(&self, versions: &[&str]) -> &Self {
        let runtimes = self.inventory.runtimes.iter();
        let have: Vec<String> =
            runtimes.filter_map(|runtime| Some(format!("{} {}", runtime.finding.key.name, runtime.version.as_deref()?))).collect();
        assert_eq!(have, versions, "{}", self.given);
        self
    }
}

/// Reads a workload of one container: `{image: …, command: […], args: […], env: […]}`.
pub(crate) fn container(yaml: &str) -> Read {
    pod(&format!("{{containers: [{yaml}]}}"))
}

/// A container that runs these lines in a shell.
pub(crate) fn script(lines: &str) -> Read {
    let indented = lines.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
    container(&format!("{{image: 'example.com/acme/x:1', command: [bash, -c, \"{indented}\"]}}"))
}

/// A container with this environment that runs these lines in a shell.
pub(crate) fn script_with(env: &[(&str, &str)], lines: &str) -> Read {
    let indented = lines.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"");
    let env: Vec<String> = env.iter().map(|(name, value)| format!("{{name: {name}, value: '{value}'}}")).collect();
    container(&format!("{{image: 'example.com/acme/x:1', env: [{}], command: [bash, -c, \"{indented}\"]}}", env.join(", ")))
}

/// Reads a workload with this pod specification: `{containers: […], initContainers: […], volumes: […]}`.
pub(crate) fn pod(yaml: &str) -> Read {
    with(Rules::builtin(), yaml)
}

/// Reads a workload with this pod specification by rules of one's own.
pub(crate) fn with(rules: &Rules, yaml: &str) -> Read {
    let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x}}\nspec: {{template: {{spec: {yaml}}}}}\n");
    let tree: Tree = serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{yaml}: {error}"));
    let view = tree.view(tree.root(), Visibility::default());
    let object = ObjectRef::of(&view).expect("an object with a kind");
    let template = PodTemplate {
        at: Locator::scraped(Pointer::parse("/spec/template").expect("a JSON pointer")),
        name: String::new(),
        role: String::new(),
        duty: Duty::Unknown,
        inherited_env: vec![],
        properties: vec![],
    };
    let report = Report { pod_templates: vec![template], ..Report::default() };
    let subject = Subject { objects: &[object], trees: &[Some(&view)], sought: &[], report: &report, origin: Origin::Manifest };
    Read { inventory: extract(rules, &subject), given: yaml.to_owned() }
}

fn found(inventory: &Inventory) -> Vec<String> {
    let mut out: Vec<String> = inventory.categories.keys().map(|category| category.as_str().to_owned()).collect();
    out.extend(inventory.runtimes.iter().map(|runtime| runtime.finding.key.name.clone()));
    for model in &inventory.models {
        let mut line = format!("{} {}", model.role.as_str(), model.reference.id());
        if let Some(revision) = &model.revision {
            let _ = write!(line, " @{revision}");
        }
        if !model.served.is_empty() {
            let names: Vec<&str> = model.served.iter().map(String::as_str).collect();
            let _ = write!(line, " as {}", names.join(", "));
        }
        out.push(line);
        out.extend(model.finding.conflicts.iter().map(|conflict| format!("conflict {}", conflict.value)));
        out.extend(model.sources.iter().map(|source| format!("from {source}")));
    }
    out.extend(inventory.services.iter().map(|service| format!("service {}", service.finding.key.name)));
    let datasets = inventory.data.iter().filter(|data| data.kind == DataKind::Dataset);
    out.extend(datasets.map(|data| format!("dataset {}", data.name)));
    let unresolved = inventory.unresolved.iter().filter(|entry| entry.what != "digest");
    out.extend(unresolved.map(|entry| format!("unresolved {} {} {}", entry.what, entry.why, entry.reference).trim_end().to_owned()));
    out.extend(inventory.problems.iter().map(|problem| format!("problem {}", problem.message)));
    out.sort();
    out
}
