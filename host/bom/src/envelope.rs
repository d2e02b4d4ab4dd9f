//! What stands around the content of a document and does not count as content: when it was made, by which tools, who found what.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::inventory::{Confidence, Inventory, Origin, Tool};

use crate::cyclonedx::{Bom, Citation, Component, Hash, Property, Tools};
use crate::document::{Content, Document};
use crate::draft::Pairs;
use crate::render::{OWNED, spelled};
use crate::scrub::Scrubber;
use crate::{Options, SpecVersion, filter, reference};

/// Closes a document: the hash over its content, then the envelope.
pub(crate) fn close(mut bom: Bom, inventory: &Inventory, options: &Options, confidence: Confidence, scrubber: &mut Scrubber) -> Document {
    let tools = tools(inventory, &options.producer, scrubber);
    let finders = finders(inventory, &options.producer, &tools);
    for identity in
        bom.body.components.iter_mut().filter_map(|component| component.evidence.as_mut()).flat_map(|evidence| &mut evidence.identity)
    {
        identity.tools.clone_from(&finders);
    }
    let content = Content::of(&bom, &finders);
    bom.metadata.timestamp = Some(options.timestamp.clone());
    // A specification changes for many reasons that are no facts, such as scaling.
    bom.metadata.component.version = inventory.generation.map(|generation| format!("gen-{generation}"));
    bom.metadata.tools = Some(Tools { components: tool_components(&tools) });
    bom.metadata.properties = document_properties(inventory, options, confidence);
    if options.spec_version == SpecVersion::V1_7 {
        bom.citations = citations(&bom, &finders);
    }
    filter::envelope(&mut bom, scrubber);
    let uid = inventory.subject().and_then(|subject| subject.uid.as_deref());
    let identity = match inventory.origin {
        Origin::Cluster => options.cluster_uid.as_deref().zip(uid),
        Origin::Manifest => None,
    };
    Document::close(bom, &content, identity, options.version)
}

/// References of the tools that found the facts: the scrapers, or the host where none took part.
fn finders(inventory: &Inventory, producer: &Tool, tools: &BTreeMap<&Tool, String>) -> Vec<String> {
    let references = |wanted: &dyn Fn(&Tool) -> bool| -> BTreeSet<String> {
        tools.iter().filter(|(tool, _)| wanted(tool)).map(|(_, reference)| reference.clone()).collect()
    };
    let scrapers = references(&|tool| inventory.tools.contains(tool));
    let found = if scrapers.is_empty() { references(&|tool| tool == producer) } else { scrapers };
    found.into_iter().collect()
}

/// The confidence of the whole, and who made the document.
fn document_properties(inventory: &Inventory, options: &Options, confidence: Confidence) -> Vec<Property> {
    let mut pairs = Pairs::new();
    let mut add = |name: &'static str, value| pairs.insert((Cow::Borrowed(name), Cow::Borrowed(value)));
    add("aibom.confidence", confidence.as_str());
    add("aibom.controller.name", &options.producer.name);
    add("aibom.controller.version", &options.producer.version);
    let mut add = |name: String, value| pairs.insert((Cow::Owned(name), Cow::Borrowed(value)));
    for (i, tool) in inventory.tools.iter().enumerate() {
        add(format!("aibom.scrape.{i}.scraperName"), &tool.name);
        add(format!("aibom.scrape.{i}.scraperVersion"), &tool.version);
        add(format!("aibom.scrape.{i}.method"), "spec");
    }
    // Those that stay are content. The others come and go with every run, and change nothing.
    for (i, owned) in inventory.rollup.owned.iter().enumerate().filter(|(_, owned)| owned.passing) {
        pairs.insert((Cow::Owned(format!("{OWNED}.{i}")), Cow::Owned(format!("{}/{}", owned.kind, owned.name))));
    }
    spelled(pairs, options.property_names)
}

/// Tools with their references, the producer among them.
fn tools<'a>(inventory: &'a Inventory, producer: &'a Tool, scrubber: &mut Scrubber) -> BTreeMap<&'a Tool, String> {
    let all: BTreeSet<&Tool> = inventory.tools.iter().chain([producer]).collect();
    let mut taken = BTreeSet::new();
    let mut references = BTreeMap::new();
    for tool in all {
        let reference = reference::tool(tool, |text| taken.contains(text), scrubber);
        taken.insert(reference.clone());
        references.insert(tool, reference);
    }
    references
}

fn tool_components(tools: &BTreeMap<&Tool, String>) -> Vec<Component> {
    let mut components: Vec<Component> = tools
        .iter()
        .map(|(tool, reference)| Component {
            component_type: "application",
            bom_ref: Some(reference.clone()),
            name: tool.name.clone(),
            version: (!tool.version.is_empty()).then(|| tool.version.clone()),
            hashes: tool
                .sha256
                .iter()
                .filter(|hex| hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .map(|hex| Hash { alg: "SHA-256", content: hex.to_ascii_lowercase() })
                .collect(),
            ..Component::default()
        })
        .collect();
    components.sort_by(|a, b| a.bom_ref.cmp(&b.bom_ref));
    components
}

/// Who found what (1.7). Pointers are taken after the final sort.
fn citations(bom: &Bom, finders: &[String]) -> Vec<Citation> {
    let places = |list: &str, count: usize| (0..count).map(|i| format!("/{list}/{i}")).collect::<Vec<_>>();
    let pointers: Vec<String> =
        places("components", bom.body.components.len()).into_iter().chain(places("services", bom.body.services.len())).collect();
    if pointers.is_empty() {
        return Vec::new();
    }
    finders
        .iter()
        .map(|tool| Citation {
            pointers: pointers.clone(),
            timestamp: bom.metadata.timestamp.clone().unwrap_or_default(),
            attributed_to: tool.clone(),
        })
        .collect()
}
