//! Streams of documents, good ones and others.

use super::*;

mod plain;

fn read(text: &str) -> Vec<Document> {
    super::read(text).collect()
}

fn kinds(text: &str) -> Vec<String> {
    read(text)
        .into_iter()
        .map(|document| match document.content {
            Ok(Content::Empty) => "-".to_owned(),
            Ok(Content::Other) => "other".to_owned(),
            Ok(Content::Objects { objects, .. }) => {
                objects.iter().map(|object| object.reference.name.as_str()).collect::<Vec<_>>().join("+")
            }
            Err(malformed) => format!("line {}", malformed.line.unwrap_or(0)),
        })
        .collect()
}

#[test]
fn empty_documents_count_and_leading_comments_do_not() {
    let text = "# licence\n---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n---\n# nothing\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n---\n";
    assert_eq!(kinds(text), ["a", "-", "b", "-"]);
}

#[test]
fn a_document_without_a_marker_is_the_first() {
    assert_eq!(kinds("apiVersion: v1\nkind: A\nmetadata: {name: a}\n--- # second\nx: 1\n"), ["a", "other"]);
}

#[test]
fn ends_of_documents_and_directives_are_read_as_yaml_has_them() {
    let object = |name: &str| format!("apiVersion: v1\nkind: A\nmetadata: {{name: {name}}}\n");
    assert_eq!(kinds(&format!("{}...\n{}", object("a"), object("b"))), ["a", "b"]);
    assert_eq!(kinds(&format!("%YAML 1.2\n---\n{}...\n%YAML 1.2\n---\n{}", object("a"), object("b"))), ["a", "b"]);
    assert_eq!(kinds(&format!("{}...\n# end\n", object("a"))), ["a"]);
}

#[test]
fn a_marker_inside_a_block_scalar_is_text_when_indented() {
    let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\nscript: |\n  echo\n  ---\n  done\n";
    assert_eq!(kinds(text), ["a"]);
}

#[test]
fn a_broken_document_names_its_line_and_the_others_are_read() {
    let text = "apiVersion: v1\nkind: A\nmetadata: {name: a}\n---\nx: 1\ny: [1\nz: 2\n---\napiVersion: v1\nkind: B\nmetadata: {name: b}\n";
    let read = kinds(text);
    assert_eq!((read[0].as_str(), read[2].as_str()), ("a", "b"));
    assert_eq!(read[1], "line 7", "{read:?}");
}

#[test]
fn the_line_of_a_fault_counts_from_the_top_of_the_input() {
    let text = "a: 1\n---\nb: 1\nb: [\n";
    let documents = read(text);
    let malformed = documents[1].content.as_ref().unwrap_err();
    assert_eq!(malformed.line, Some(4), "{malformed:?}");
}

#[test]
fn every_document_knows_where_it_stands() {
    let yaml = "\u{feff}# top\n---\na: 1\n--- # two\nb: 2\n...\nc: 3\n";
    let texts: Vec<&str> = read(yaml).iter().map(|document| &yaml[document.span.clone()]).collect();
    assert_eq!(texts, ["---\na: 1\n", "--- # two\nb: 2\n", "c: 3\n"]);
    let json = "\u{feff} {\"a\": 1}\n{\"b\": 2} {\"c\": }\n{\"d\": 4}\n---\ne: 5\n";
    let texts: Vec<&str> = read(json).iter().map(|document| json[document.span.clone()].trim_end()).collect();
    assert_eq!((texts[0], texts[1], texts[3], texts[4]), ("{\"a\": 1}", "{\"b\": 2}", "{\"d\": 4}", "---\ne: 5"));
}

#[test]
fn an_item_of_a_typed_list_knows_where_it_stands_in_the_document() {
    let text = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"a"}},{"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}]}"#;
    let documents = read(text);
    let Ok(Content::Objects { objects, .. }) = &documents[0].content else { panic!("{documents:?}") };
    let places: Vec<String> = objects.iter().map(|object| object.place().to_string()).collect();
    assert_eq!(places, ["/items/0", "/items/1"]);
}

#[test]
fn lists_are_unfolded_in_yaml_and_json() {
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A, metadata: {name: a}}\n- {apiVersion: v1, kind: B, metadata: {name: b}}\n";
    assert_eq!(kinds(yaml), ["a+b"]);
    let json = r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}]} {"apiVersion":"v1","kind":"B","metadata":{"name":"b"}}"#;
    assert_eq!(kinds(json), ["a", "b"]);
}

#[test]
fn items_of_a_typed_list_have_the_kind_of_the_list() {
    let text =
        r#"{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"},"spec":{}},7]}"#;
    let Ok(Content::Objects { objects, other }) = read(text).remove(0).content else { panic!("no objects") };
    let names: Vec<_> = objects.iter().map(|object| object.reference.to_string()).collect();
    assert_eq!(names, ["apps/v1/Deployment/a", "apps/v1/Deployment/b"]);
    assert_eq!(other, 1);
}

#[test]
fn lists_in_lists_are_unfolded() {
    let inner = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}]}"#;
    assert_eq!(kinds(&format!(r#"{{"apiVersion":"v1","kind":"List","items":[{inner},{inner}]}}"#)), ["a+a"]);
}

#[test]
fn of_a_key_that_is_given_twice_the_last_counts_and_the_place_is_told() {
    let text = "a: 1\n---\napiVersion: v1\nkind: A\nmetadata:\n  name: first\n  labels: {x: y}\n  name: second\n";
    let document = read(text).remove(1);
    let doubled = document.doubled.expect("a warning");
    assert_eq!((doubled.line, doubled.reason.contains("`name`")), (Some(8), true), "{}", doubled.reason);
    let Ok(Content::Objects { objects, .. }) = document.content else { panic!("no object") };
    assert_eq!(objects[0].reference.name, "second");
    // Another fault beside it is a fault.
    let broken = read("apiVersion: v1\nkind: A\nkind: B\nmetadata: [\n").remove(0);
    assert!(broken.content.is_err() && broken.doubled.is_none());
}

#[test]
fn a_list_whose_items_are_a_map_is_a_fault() {
    let Err(fault) = read("apiVersion: v1\nkind: List\nitems: {a: {apiVersion: v1, kind: A}}\n").remove(0).content else {
        panic!("no fault")
    };
    assert!(fault.reason.contains("`items`"), "{}", fault.reason);
    // Another kind of that name has items of its own.
    assert_eq!(kinds("apiVersion: x.example/v1\nkind: List\nmetadata: {name: a}\nitems: {b: 1}\n"), ["a"]);
    assert_eq!(kinds("apiVersion: v1\nkind: List\nitems:\n"), [""]);
}

#[test]
fn a_fault_among_json_values_costs_only_itself() {
    let good = r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}"#;
    assert_eq!(
        kinds(&format!(
            "{good}
{{\"a\": nonsense}}
{good}
"
        )),
        ["a", "line 2", "a"]
    );
    assert_eq!(
        kinds(&format!(
            "{good}
---
apiVersion: v1
kind: B
metadata: {{name: b}}
---
x: [
"
        )),
        ["a", "b", "line 7"]
    );
}

#[test]
fn a_list_of_several_megabytes_is_read_and_an_alias_bomb_is_not() {
    let item = "- apiVersion: v1
  kind: A
  metadata: {name: a}
  spec: {a: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
";
    let text = format!(
        "apiVersion: v1
kind: List
items:
{}",
        item.repeat(20_000)
    );
    let Ok(Content::Objects { objects, .. }) = read(&text).remove(0).content else { panic!("no objects") };
    assert_eq!(objects.len(), 20_000);
    let bomb = (1..40).fold(
        "a0: &a0 [x, x]
"
        .to_owned(),
        |text, n| {
            format!(
                "{text}a{n}: &a{n} [*a{}, *a{}]
",
                n - 1,
                n - 1
            )
        },
    );
    assert!(read(&bomb).remove(0).content.is_err());
}

#[test]
fn a_template_that_is_neither_yaml_nor_json_is_one_fault() {
    let read = kinds("{{ if .Values.on }}\nkind: A\n{{ end }}\n");
    assert_eq!(read.len(), 1);
    assert_eq!(read, ["line 1"]);
}

#[test]
fn faults_among_json_values_cost_only_themselves_wherever_they_stand_and_however_many() {
    let good = r#"{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}"#;
    let bad = r#"{"a": nonsense}"#;
    let twice = r#"{"a":1,"a":2}"#;
    assert_eq!(kinds(&format!("{good}\n{bad}\n{bad}\n{good}\n")), ["a", "line 2", "line 3", "a"]);
    assert_eq!(kinds(&format!("{bad}\n{twice}\n{good}\n")), ["line 1", "line 2", "a"]);
    assert_eq!(kinds(&format!("{twice}\n{good}\n---\nx: [\n---\n{good}")), ["line 1", "a", "line 4", "a"]);
    // As deep as it is long, if each fault were read inside the one before.
    let many = kinds(&format!("{good}\n{bad}\n").repeat(50_000));
    assert_eq!((many.len(), many[0].as_str(), many[99_999].as_str()), (100_000, "a", "line 100000"));
}

#[test]
fn what_stands_before_and_behind_a_fault_of_json_has_its_place() {
    let documents = read("\u{feff}{\"a\": 1} {\"b\": x}\n  {\"c\": 1}\n{\"d\": 1}");
    let malformed = documents[1].content.as_ref().unwrap_err();
    assert_eq!((malformed.line, malformed.column), (Some(1), Some(16)), "{malformed:?}");
    assert_eq!(documents.len(), 3);
}

#[test]
fn a_list_in_yaml_may_be_as_long_as_one_in_json() {
    let item = "{apiVersion: v1, kind: A, metadata: {name: a}}, ";
    let text = format!("{{apiVersion: v1, kind: List, items: [{}]}}\n", item.repeat(230_000));
    let Ok(Content::Objects { objects, .. }) = read(&text).remove(0).content else { panic!("no objects") };
    assert_eq!(objects.len(), 230_000);
}

#[test]
fn documents_are_read_when_they_are_asked_for() {
    let text = "---\n".repeat(1_000_000);
    assert_eq!(super::read(&text).take(3).count(), 3);
    let deep = format!("a: {}\n---\napiVersion: v1\nkind: A\nmetadata: {{name: a}}\n", "[".repeat(1_000_000));
    assert_eq!(kinds(&deep), ["line 1", "a"]);
}

#[test]
fn a_reason_names_members_and_quotes_no_values() {
    for (text, secret) in
        [("password: !swordfish x", "swordfish"), ("password: *swordfish", "swordfish"), ("n: !!int swordfish", "swordfish")]
    {
        if let Err(malformed) = &read(text)[0].content {
            assert!(!malformed.reason.contains(secret), "{text}: {malformed:?}");
        }
    }
    for text in ["{\"a\": 1}\n{\"member\": 1, \"member\": 2}", "---\nx: 1\n---\nmember: 1\nmember: 2\n"] {
        let document = read(text).remove(1);
        let malformed = document.doubled.or(document.content.err()).expect("a fault");
        assert!(malformed.reason.contains("member"), "{malformed:?}");
    }
}

#[test]
fn a_long_block_that_is_commented_out_is_passed_over() {
    for keys in ["", "base: &b {x: 1}\nown: {<<: *b}\n"] {
        let text = format!("apiVersion: v1\nkind: Pod\n{keys}spec:\n  containers:\n{}  - {{name: a}}\n", "  # - name: old\n".repeat(500));
        let documents = read(&text);
        assert!(matches!(documents[0].content, Ok(Content::Objects { .. })), "{:?}", documents[0].content);
    }
}
