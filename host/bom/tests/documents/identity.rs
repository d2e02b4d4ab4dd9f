//! Equal facts give equal bytes, and the content hash covers facts only.

use aibom_bom::{Document, render};
use aibom_facts::inventory::{Origin, Tool};
use serde_json::Value;

use crate::sample::{DIGEST, plum};
use crate::{checked, options};

#[test]
fn the_order_of_findings_does_not_matter() {
    let mut turned = plum();
    turned.models.reverse();
    turned.images.reverse();
    turned.data.reverse();
    for image in &mut turned.images {
        image.containers.reverse();
    }
    assert_eq!(checked(&turned, &options()).json(), checked(&plum(), &options()).json());
}

#[test]
fn the_content_hash_ignores_time_version_and_tools() {
    let first = checked(&plum(), &options());
    let mut later = options();
    later.timestamp = "2030-12-31T23:59:59Z".to_owned();
    later.version = 12;
    later.producer.version = "0.4.0".to_owned();
    let mut inventory = plum();
    inventory.tools.clear();
    inventory.tools.insert(Tool { name: "apps-scraper".to_owned(), version: "2.0.0".to_owned(), sha256: Some(DIGEST.replace('1', "2")) });
    inventory.tools.insert(Tool { name: "second-scraper".to_owned(), version: "1.0.0".to_owned(), sha256: None });
    let second = checked(&inventory, &later);
    assert_ne!(first.json(), second.json());
    assert_eq!(first.content_hash(), second.content_hash());
    assert_eq!(first.content_hash().len(), 64);
}

#[test]
fn the_content_hash_sees_every_fact() {
    let base = render(&plum(), &options()).content_hash().to_owned();
    let mut seen = vec![base];
    let mut differs = |change: &dyn Fn(&mut aibom_facts::inventory::Inventory)| {
        let mut inventory = plum();
        change(&mut inventory);
        let hash = render(&inventory, &options()).content_hash().to_owned();
        assert!(!seen.contains(&hash));
        seen.push(hash);
    };
    differs(&|inventory| inventory.categories.clear());
    differs(&|inventory| inventory.unresolved.clear());
    differs(&|inventory| inventory.problems.clear());
    differs(&|inventory| inventory.properties.clear());
    differs(&|inventory| inventory.objects.truncate(1));
    differs(&|inventory| inventory.origin = Origin::Cluster);
    differs(&|inventory| inventory.models[0].revision = Some("main".to_owned()));
    differs(&|inventory| inventory.models[0].served.clear());
    differs(&|inventory| inventory.models[0].sources.clear());
    differs(&|inventory| inventory.models[0].finding.conflicts.clear());
    differs(&|inventory| inventory.models[0].finding.needs.clear());
    differs(&|inventory| inventory.images[0].containers.truncate(1));
    differs(&|inventory| inventory.runtimes[0].version = None);
    differs(&|inventory| inventory.runtimes[0].framework = true);
    differs(&|inventory| inventory.data[0].name = "other".to_owned());
    differs(&|inventory| inventory.devices[0].quantities.clear());
    differs(&|inventory| inventory.services[0].endpoints.clear());
}

#[test]
fn tools_of_one_name_are_told_apart() {
    let mut inventory = plum();
    inventory.tools.insert(Tool { name: "apps-scraper".to_owned(), version: "2.0.0".to_owned(), sha256: None });
    inventory.tools.insert(options().producer);
    let document = checked(&inventory, &options()).to_value();
    assert_eq!(document["metadata"]["tools"]["components"].as_array().unwrap().len(), 3);
}

#[test]
fn an_independent_reader_loses_nothing() {
    let document = checked(&plum(), &options());
    assert_eq!(read_elsewhere(&document), document.to_value());
}

/// The document as an independent library reads and writes it.
pub(crate) fn read_elsewhere(document: &Document) -> Value {
    aibom_reader::read_and_write(document.json()).expect("the library reads and writes it")
}

#[test]
fn what_is_changed_in_written_bytes_changes_their_hash_and_the_envelope_does_not() {
    let document = checked(&plum(), &options());
    let content = |text: &str| aibom_bom::Written::read(text.as_bytes()).map(|written| written.content_hash);
    let own = document.json();
    for (from, to, same) in [
        ("2026-03-01T10:00:00Z", "2027-01-01T00:00:00Z", true),
        ("\"version\":\"0.3.0\"", "\"version\":\"0.4.0\"", true),
        ("gen-4", "gen-5", true),
        ("\"type\":\"container\"", "\"type\":\"library\"", false),
        ("CycloneDX", "CycloneDx", false),
    ] {
        let changed = own.replace(from, to);
        assert_ne!(changed, own, "nothing to change: {from}");
        assert_eq!(content(&changed).unwrap() == document.content_hash(), same, "{from}");
    }
    for none in ["", "[]", "{}", "{\"version\":1}x", &format!("{{\"version\":1,\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100))] {
        assert!(content(none).is_err(), "{none}");
    }
}
