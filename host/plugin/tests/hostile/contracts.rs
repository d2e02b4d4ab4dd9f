//! The wrong-contract matrix. The components are made from the text of the contract with one change each: their functions trap, so one
//! that fits the contract gets as far as `describe`, and one that does not is rejected before, at a step that says why.

use aibom_plugin::{LoadError, Step};
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

use crate::support::host;

const WIT: &str = include_str!("../../../../wit/v1.0.0/scraper.wit");

/// The contract with changes: each replaces a text that must be there.
fn changed(changes: &[(&str, &str)]) -> String {
    changes.iter().fold(WIT.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the contract no longer contains `{from}`");
        text.replace(from, to)
    })
}

/// A component for a contract.
fn built_for(wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("scraper.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some("plugin")).unwrap();
    let mut module = dummy_module(&resolve, world, ManglingAndAbi::Standard32);
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().validate(true).module(&module).unwrap().encode().unwrap()
}

fn load(changes: &[(&str, &str)]) -> LoadError {
    host().load("matrix", &built_for(&changed(changes))).unwrap_err()
}

/// The component fits: an instance was made of it, and its `describe` was called.
fn fits(changes: &[(&str, &str)]) {
    let error = load(changes);
    assert_eq!((error.step, error.expected.as_str()), (Step::Probe, "an answer of `describe`"), "{changes:?}: {error}");
    assert!(error.found.starts_with("panic: "), "{error}");
}

fn rejected(step: Step, found: &str, changes: &[(&str, &str)]) {
    let error = load(changes);
    assert_eq!(error.step, step, "{changes:?}: {error}");
    assert!(error.found.contains(found), "{changes:?}: {error} should name {found}");
    assert_ne!(error.expected, "an answer of `describe`", "{changes:?}: {error}");
}

const VERSION: &str = "k8s-aibom:scraper@1.0.0;";

#[test]
fn the_contract_itself_and_later_releases_of_it_fit() {
    fits(&[]);
    fits(&[(VERSION, "k8s-aibom:scraper@1.0.3;")]);
    fits(&[(VERSION, "k8s-aibom:scraper@1.2.0;")]);
}

#[test]
fn other_majors_prereleases_and_no_version_are_rejected_by_name() {
    for (version, found) in [("@2.0.0", "@2.0.0`"), ("@0.9.0", "@0.9.0`"), ("@1.0.0-rc.1", "@1.0.0-rc.1`"), ("", "k8s-aibom:scraper/")] {
        let changes = [(VERSION, format!("k8s-aibom:scraper{version};"))];
        let changes = changes.each_ref().map(|(from, to)| (*from, to.as_str()));
        rejected(Step::Contract, found, &changes);
        assert!(load(&changes).expected.contains("@1.x (this host has 1.0.0)"));
    }
}

#[test]
fn a_guest_need_not_import_what_it_does_not_use() {
    fits(&[("  import log;\n", "")]);
}

#[test]
fn a_function_that_the_host_does_not_have_is_rejected_at_link() {
    rejected(Step::Link, "log", &[("log: func(level", "flush: func();\n  log: func(level")]);
    rejected(Step::Link, "view", &[("kind: func()", "parent: func() -> option<node>;\n    kind: func()")]);
}

#[test]
fn an_interface_that_the_host_does_not_have_is_rejected_by_name() {
    let cluster = "interface cluster { all: func() -> list<string>; }\n\nworld plugin {\n  import cluster;";
    rejected(Step::Contract, "`k8s-aibom:scraper/cluster@1.0.0`", &[("world plugin {", cluster)]);
}

#[test]
fn what_a_guest_exports_besides_is_its_own_business() {
    let more = "interface more { go: func(); }\n\nworld plugin {\n  export more;";
    fits(&[("world plugin {", more)]);
    fits(&[("describe: func() -> description;", "describe: func() -> description;\n  more: func();")]);
}

#[test]
fn a_missing_export_is_rejected_at_link() {
    let no_related = "related: func(object: borrow<node>, options: string) -> result<list<want>, failure>;";
    rejected(Step::Link, "related", &[(no_related, "")]);
    rejected(Step::Contract, "no exported interface", &[("  export scraper;\n", "")]);
}

#[test]
fn other_shapes_of_what_a_guest_exports_are_rejected_before_describe() {
    let shapes: [&[(&str, &str)]; 6] = [
        // A record with one field more, one less, and in another order.
        &[("reads-status: bool,", "reads-status: bool,\n    more: bool,")],
        &[("reads-status: bool,", "")],
        &[("record property { name: string, value: claim }", "record property { value: claim, name: string }")],
        // A variant with one case more and one less.
        &[("    other(string),\n", "    other(string),\n    more,\n")],
        &[("    other(string),\n", "")],
        // A function with one parameter more.
        &[("related: func(object: borrow<node>, options: string)", "related: func(object: borrow<node>, options: string, more: bool)")],
    ];
    for shape in shapes {
        let error = load(shape);
        assert_eq!((error.step, error.expected.as_str()), (Step::Probe, "an instance that fits the contract"), "{shape:?}: {error}");
    }
}

#[test]
fn other_shapes_of_what_a_guest_imports_are_rejected_at_link() {
    let enums = ["enum level { debug, info, warn, error, fatal }", "enum level { debug, info, warn }"];
    for other in enums {
        rejected(Step::Link, "log", &[("enum level { debug, info, warn, error }", other)]);
    }
    rejected(Step::Link, "view", &[("integer: func() -> option<s64>;", "integer: func() -> option<u64>;")]);
}

#[test]
fn a_type_of_another_name_and_the_same_structure_fits() {
    fits(&[("node-kind", "kind-of-node")]);
}
