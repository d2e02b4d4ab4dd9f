//! `docs/facts.md` is an interface: its tables have every word of the code and no other.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use aibom_extract::Reason;
use aibom_facts::inventory::{Category, Class, Confidence, Role, Source, Unresolved};
use aibom_facts::report::Basis;

/// Rows of the tables by section: the word in the first cell, and the second cell.
fn tables() -> BTreeMap<String, Vec<(String, String)>> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/facts.md")).unwrap();
    let mut out: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let mut section = String::new();
    for line in page.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut section);
        } else if let Some(row) = line.strip_prefix("| `") {
            let mut cells = row.split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
            let (word, second) = (cells.next().unwrap(), cells.next().unwrap());
            assert!(!second.is_empty(), "{section}: {word} is not explained");
            out.entry(section.clone()).or_default().push((word, second));
        }
    }
    out
}

fn assert_words(section: &str, code: impl IntoIterator<Item = &'static str>) {
    let rows = &tables()[section];
    let page: BTreeSet<&str> = rows.iter().map(|(word, _)| word.as_str()).collect();
    let code: BTreeSet<&str> = code.into_iter().collect();
    assert_eq!(page, code, "{section}");
    assert_eq!(rows.len(), page.len(), "{section}: a word stands there twice");
}

#[test]
fn every_word_of_the_code_is_in_its_table_and_no_other() {
    assert_words("Classes", Class::ALL.map(Class::as_str));
    assert_words("Roles", Role::ALL.map(Role::as_str));
    assert_words("Categories", Category::ALL.map(Category::as_str));
    assert_words("Confidence", Confidence::ALL.map(Confidence::as_str));
    assert_words("Sources", Source::ALL.map(Source::as_str));
    assert_words("Bases", Basis::ALL.map(Basis::as_str));
    assert_words("Unresolved", Unresolved::WHY);
    assert_words("Reasons of `--explain`", Reason::ALL.map(Reason::as_str));
}

#[test]
fn the_confidences_of_sources_are_those_of_the_code() {
    for (word, number) in &tables()["Sources"] {
        let source = Source::ALL.into_iter().find(|source| source.as_str() == word).unwrap();
        assert_eq!(format!("{:.2}", f64::from(source.hundredths()) / 100.0), *number, "{word}");
        assert_eq!(source.confidence() == Confidence::Declared, source.hundredths() >= 60, "{word}");
    }
}

#[test]
fn sources_are_listed_surest_first() {
    let numbers: Vec<f64> = tables()["Sources"].iter().map(|(_, number)| number.parse().unwrap()).collect();
    assert!(numbers.is_sorted_by(|a, b| a >= b), "{numbers:?}");
}
