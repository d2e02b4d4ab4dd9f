//! Guests that already misbehave while they are loaded, and what a loaded plugin says about itself.

use std::time::Duration;

use aibom_facts::tree::Tree;
use aibom_plugin::{Allocation, AllocationChoice, Host, HostConfig, HostError, Step};

use crate::support::{component, hasty_host, host, load, object, plugin, widget};

#[test]
fn a_guest_that_never_describes_itself_is_not_loaded() {
    let error = hasty_host().load("describe_spin", &component("describe_spin")).unwrap_err();
    assert_eq!(error.step, Step::Probe);
    assert!(error.found.starts_with("deadline: "), "{error}");
    assert_eq!(error.plugin, "describe_spin");
    assert_eq!(error.digest.len(), 64);
}

#[test]
fn a_guest_that_wants_to_read_secrets_is_not_loaded() {
    let error = host().load("describe_secrets", &component("describe_secrets")).unwrap_err();
    assert_eq!(error.step, Step::Description);
    assert!(error.expected.contains("secrets are never read"), "{error}");
}

#[test]
fn a_loaded_plugin_says_what_it_is() {
    let guest = plugin("honest");
    assert_eq!((guest.name(), guest.contract()), ("honest", "1.0.0"));
    assert_eq!(guest.description().kinds[0].kind, "Widget");
    let mut imports = guest.imports().to_vec();
    imports.sort();
    assert_eq!(imports, ["log", "types", "view"].map(|name| format!("k8s-aibom:scraper/{name}@1.0.0")));
    let size = guest.size();
    assert_eq!((size.bytes, size.modules), (component("honest").len(), 3));
    assert!(size.functions > 10 && size.largest_function > 100 && size.native_bytes > size.bytes / 2, "{size:?}");
}

#[test]
fn the_view_holds_status_only_for_a_scraper_that_reads_it() {
    let guest = plugin("honest");
    let whole: Tree = Tree::from_json(br#"{"spec":{"model":"m"},"status":{"ready":true}}"#).unwrap();
    let view = guest.view(&whole, whole.root());
    assert_eq!(view.json(view.root()), r#"{"spec":{"model":"m"}}"#);
}

#[test]
fn related_is_not_called_for_a_scraper_that_names_no_related_kinds() {
    let guest = plugin("panic");
    assert!(guest.related(&widget(), "{}").unwrap().is_empty());
    assert_eq!(guest.counters().calls(), 0);
}

#[test]
fn a_plugin_outlives_the_host_handle_it_was_loaded_with() {
    let guest = {
        let host = Host::new(HostConfig { slots: 1, ..HostConfig::default() }).unwrap();
        load(&host, "spin")
    };
    assert_eq!(guest.scrape(&object("{}"), &[], "{}").unwrap_err().word(), "deadline", "the deadline thread lives as long as the engine");
}

#[test]
fn on_demand_allocation_gives_the_same_outcomes() {
    let host = Host::new(HostConfig { allocation: AllocationChoice::OnDemand, deadline: Duration::from_mins(1), ..HostConfig::default() })
        .unwrap();
    assert_eq!(host.allocation(), Allocation::OnDemand);
    for (name, word) in [("hog", "memory"), ("recurse", "stack"), ("panic", "panic"), ("giant", "output")] {
        assert_eq!(load(&host, name).scrape(&widget(), &[], "{}").unwrap_err().word(), word);
    }
    let honest = |host| serde_json::to_string(&load(host, "honest").scrape(&widget(), &[], "{}").unwrap().report).unwrap();
    assert_eq!(honest(&host), honest(crate::support::host()));
}

#[test]
fn a_full_pool_is_a_typed_outcome() {
    let config = HostConfig { slots: 1, deadline: Duration::from_secs(1), ..HostConfig::default() };
    let host = Host::new(config).unwrap();
    assert_eq!(host.allocation(), Allocation::Pooling);
    let (spin, honest) = (load(&host, "spin"), load(&host, "honest"));
    // One slot for calls and one that is kept for loading: of three calls at the same time, one finds none.
    let mut words = std::thread::scope(|scope| {
        let calls = [(); 3].map(|()| scope.spawn(|| spin.scrape(&widget(), &[], "{}").unwrap_err().word()));
        calls.map(|call| call.join().unwrap())
    });
    words.sort_unstable();
    assert_eq!(words, ["deadline", "deadline", "pool"]);
    assert!(honest.scrape(&widget(), &[], "{}").is_ok());
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let settings = [
        (HostConfig { slots: 0, ..HostConfig::default() }, "slots"),
        (HostConfig { deadline: Duration::ZERO, ..HostConfig::default() }, "deadline"),
        (HostConfig { memory_bytes: 0, ..HostConfig::default() }, "memory_bytes"),
        (HostConfig { handles: usize::MAX, ..HostConfig::default() }, "handles"),
    ];
    for (config, expected) in settings {
        let Err(HostError::Setting { setting, .. }) = Host::new(config) else { panic!("{expected} makes no sense") };
        assert_eq!(setting, expected);
    }
}
