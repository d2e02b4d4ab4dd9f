//! The last step that changes text: every text of the document passes.

use crate::PropertyNames;
use crate::cyclonedx::{Body, Bom, Component, Head, Metadata, ModelCard, ModelParameters, Property};
use crate::names;
use crate::scrub::Scrubber;
use crate::strings::Strings;

/// Name of something whose name is empty: CycloneDX wants one.
pub(crate) const UNNAMED: &str = "unnamed";

/// Filters the content of a document. A component or service of which something was taken says so.
pub(crate) fn content(bom: &mut Bom, scrubber: &mut Scrubber, form: PropertyNames) {
    // Every member is named here and in `envelope`, so that a new one cannot be missed.
    let Bom {
        head: Head { schema: _, bom_format: _, spec_version: _, serial_number: _, version: _ },
        metadata: Metadata { timestamp: _, lifecycles: _, tools: _, component, properties: _, distribution_constraints: _ },
        body: Body { components, services, dependencies, compositions },
        citations: _,
    } = bom;
    // What was done to references and to former documents is nobody's.
    scrubber.take();
    for component in components.iter_mut().chain([component]) {
        component.each_string(&mut |text| scrubber.scrub(text));
        tidy(component);
        note(&mut component.properties, scrubber, form);
    }
    for service in services {
        service.each_string(&mut |text| scrubber.scrub(text));
        name_or_unnamed(&mut service.name);
        note(&mut service.properties, scrubber, form);
    }
    let mut rest = |part: &mut dyn Strings| part.each_string(&mut |text| scrubber.scrub(text));
    rest(dependencies);
    rest(compositions);
}

/// Filters what stands around the content, once it is there.
pub(crate) fn envelope(bom: &mut Bom, scrubber: &mut Scrubber) {
    let Bom {
        head: Head { schema: _, bom_format: _, spec_version: _, serial_number, version: _ },
        metadata: Metadata { timestamp, lifecycles: _, tools, component: _, properties, distribution_constraints: _ },
        // Of this only the tools of evidence are new, which are references of tools.
        body: Body { components: _, services: _, dependencies: _, compositions: _ },
        citations,
    } = bom;
    let mut rest = |part: &mut dyn Strings| part.each_string(&mut |text| scrubber.scrub(text));
    rest(serial_number);
    rest(timestamp);
    rest(tools);
    rest(properties);
    rest(citations);
    for tool in tools.iter_mut().flat_map(|tools| &mut tools.components) {
        tidy(tool);
    }
    tidy_properties(properties);
}

fn note(properties: &mut Vec<Property>, scrubber: &mut Scrubber, form: PropertyNames) {
    let done = scrubber.take();
    let mut add = |name: &str, value: String| properties.push(Property { name: names::spell(name.into(), form), value });
    if !done.classes.is_empty() {
        add("aibom.redaction.applied", done.classes.into_iter().collect::<Vec<_>>().join(","));
    }
    if done.cut {
        add("aibom.truncation.applied", "text".to_owned());
    }
    tidy_properties(properties);
}

/// Restores order and uniqueness after texts changed, and fills empty names.
fn tidy(component: &mut Component) {
    name_or_unnamed(&mut component.name);
    for ancestor in component.pedigree.iter_mut().flat_map(|pedigree| &mut pedigree.ancestors) {
        name_or_unnamed(&mut ancestor.name);
    }
    component.group.take_if(|group| group.trim().is_empty());
    component.version.take_if(|version| version.trim().is_empty());
    for data in &mut component.data {
        name_or_unnamed(&mut data.name);
    }
    if let Some(evidence) = &mut component.evidence {
        evidence.occurrences.sort();
        evidence.occurrences.dedup();
    }
    if let Some(card) = &mut component.model_card {
        tidy_properties(&mut card.properties);
        if let Some(parameters) = &mut card.model_parameters {
            parameters.task.take_if(|task| task.trim().is_empty());
        }
        card.model_parameters.take_if(|parameters| *parameters == ModelParameters::default());
    }
    component.model_card.take_if(|card| *card == ModelCard::default());
}

fn tidy_properties(properties: &mut Vec<Property>) {
    properties.retain(|property| !property.name.trim().is_empty() && !property.value.trim().is_empty());
    properties.sort();
    properties.dedup();
}

fn name_or_unnamed(name: &mut String) {
    if name.trim().is_empty() {
        UNNAMED.clone_into(name);
    }
}
