//! Guests whose reports do not hold (bug shape B65: places that are none, other objects, control characters, a million facts).

use aibom_facts::report::{Basis, Duty};
use aibom_plugin::{Change, Refusal};

use crate::support::{object, plugin, widget};

#[test]
fn what_points_nowhere_is_dropped_and_what_does_not_stand_there_is_downgraded() {
    let guest = plugin("lying_pointers");
    let scraped = guest.scrape(&widget(), &[], "{}").unwrap();
    let items: Vec<_> = scraped.report.items.iter().map(|item| (item.name.text.as_str(), item.name.basis)).collect();
    assert_eq!(
        items,
        [("acme/other", Basis::Derived), ("acme", Basis::Derived), ("acme/small", Basis::Derived), ("acme/small", Basis::Declared),]
    );
    assert!(scraped.report.pod_templates.is_empty());
    assert!(scraped.report.properties.is_empty());
    // The env list exists, so something of the container can be read.
    assert_eq!(scraped.report.containers.len(), 1);
    let container = &scraped.report.containers[0];
    assert_eq!((container.template.as_str(), &container.command, container.env.len()), ("", &None, 1));
    assert_eq!(container.image.as_ref().unwrap().basis, Basis::Derived, "an object is no text");
    assert_eq!(scraped.report.problems[0].at.pointer.as_str(), "/spec/list");
    let count = |change| scraped.grounding.count(change);
    assert_eq!(count(Change::DroppedItem), 7);
    assert_eq!(count(Change::DowngradedClaim), 4);
    assert_eq!(count(Change::DroppedClaim), 8);
    assert_eq!(count(Change::DroppedTemplate), 1);
    assert_eq!(count(Change::MovedProblem), 1);
    assert_eq!(count(Change::DanglingReference), 1);
    assert_eq!(guest.counters().grounding, scraped.grounding);
}

#[test]
fn names_of_other_objects_are_never_declared_and_the_hosts_properties_are_its_own() {
    let scraped = plugin("other_names").scrape(&widget(), &[], "{}").unwrap();
    assert!(scraped.report.items.iter().all(|item| item.name.basis == Basis::Derived));
    assert_eq!(scraped.grounding.count(Change::DowngradedClaim), 3);
    assert_eq!(scraped.grounding.count(Change::ReservedProperty), 2);
    assert_eq!(scraped.grounding.count(Change::BadPropertyName), 1);
    let properties: Vec<_> = scraped.report.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(properties, ["hostile.workload.name"]);
}

#[test]
fn control_characters_and_endless_names_never_reach_a_report() {
    let scraped = plugin("control_characters").scrape(&widget(), &[], "{}").unwrap();
    let names: Vec<_> = scraped.report.items.iter().map(|item| &item.name).collect();
    assert_eq!(names[0].text, "acme/\u{fffd}[31msmall\u{fffd} ");
    assert_eq!(names[1].text.chars().count(), 1_024);
    assert!(names[1].text.ends_with('…'));
    assert_eq!((names[2].text.as_str(), names[2].basis), ("acme/two lines", Basis::Derived), "it no longer is what stands there");
    assert_eq!(scraped.grounding.count(Change::CleanedText), 3);
    assert_eq!(scraped.grounding.count(Change::CutText), 1);
    assert_eq!(scraped.grounding.count(Change::BadPropertyName), 1);
    let json = serde_json::to_value(&scraped.report).unwrap();
    assert!(all_texts(&json).iter().all(|text| !text.contains(|c: char| c.is_control() || c == '\u{202e}' || c == '\u{2028}')));
}

fn all_texts(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Array(list) => list.iter().flat_map(all_texts).collect(),
        serde_json::Value::Object(map) => map.iter().flat_map(|(key, value)| [vec![key.clone()], all_texts(value)].concat()).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn more_items_than_are_taken_from_a_report_are_dropped_and_counted() {
    let scraped = plugin("million").scrape(&widget(), &[], "5000").unwrap();
    assert_eq!(scraped.report.items.len(), 4_096);
    assert_eq!(scraped.grounding.count(Change::OverLimit), 5_000 - 4_096);
}

#[test]
fn wants_that_reach_too_far_stay_in_their_place_and_are_refused() {
    let guest = plugin("greedy");
    let wants = guest.related(&widget(), "{}").unwrap();
    let refused: Vec<_> = wants.iter().map(|want| want.refused).collect();
    let expected = [Some(Refusal::Kind), Some(Refusal::Kind), Some(Refusal::Namespace), Some(Refusal::Name), Some(Refusal::Place), None];
    assert_eq!(refused, expected);
    assert_eq!(guest.counters().refused_wants.get("kind"), Some(&2));
    assert_eq!(guest.related(&widget(), "flood").unwrap_err().word(), "output");
}

#[test]
fn the_honest_neighbour_is_grounded_without_a_change() {
    let guest = plugin("honest");
    let wants = guest.related(&widget(), "{}").unwrap();
    assert_eq!((wants.len(), wants[0].name.as_str(), wants[0].refused), (1, "weights", None));
    let cache = object(r#"{"spec":{"source":"hf://acme/small"}}"#);
    let scraped = guest.scrape(&widget(), &[Some(cache)], r#"{"a":1}"#).unwrap();
    assert!(scraped.grounding.is_empty(), "{:?}", scraped.grounding);
    let report = &scraped.report;
    assert_eq!(report.categories, ["inference"]);
    assert!(report.items.iter().all(|item| item.name.basis == Basis::Declared));
    let main = &report.items[0];
    assert_eq!(main.uses, ["worker", "cache"]);
    assert_eq!(
        (main.sources[0].text.as_str(), main.sources[0].at[0].object, main.sources[0].basis),
        ("hf://acme/small", 1, Basis::Declared)
    );
    assert_eq!(report.pod_templates[0].at.pointer.as_str(), "/spec/template");
    assert_eq!(report.pod_templates[0].duty, Duty::Engine);
    let image = report.containers[0].image.as_ref().unwrap();
    assert_eq!((image.text.as_str(), image.basis, image.at.len()), ("registry.example/acme/server:1.4", Basis::Declared, 2));
    assert_eq!(report.problems[0].at.pointer.as_str(), "/spec/args/2");
    let properties: Vec<_> = report.properties.iter().map(|p| (p.name.as_str(), p.value.text.as_str())).collect();
    assert_eq!(properties, [("honest.greeting", "hello"), ("honest.replicas", "3"), ("honest.labels", "app tier")]);
    assert_eq!(scraped.logs[0].message, r#"scraping with {"a":1}"#);
}

#[test]
fn a_related_object_that_may_not_be_read_is_none_and_keeps_its_number() {
    let guest = plugin("honest");
    let scraped = guest.scrape(&widget(), &[None], "{}").unwrap();
    assert!(scraped.report.items[0].sources.is_empty());
}
