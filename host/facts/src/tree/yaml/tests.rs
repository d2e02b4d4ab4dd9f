use super::*;

fn json(text: &str) -> Option<String> {
    Tree::from_plain_yaml(text).map(|tree| tree.json(tree.root()))
}

#[test]
fn plain_scalars_mean_what_the_rules_say() {
    use Meaning::{Boolean, Fraction, Null, Text, Whole};
    let cases: [(&[&str], Option<Meaning>); 9] = [
        (&["", "~", "null", "Null", "NULL"], Some(Null)),
        (&["true", "True", "yEs", "y", "ON"], Some(Boolean(true))),
        (&["false", "FALSE", "no", "N", "off"], Some(Boolean(false))),
        (&["0", "1", "-7", "999999999999999999"], Some(Whole)),
        (&["0.5", "+0.5", "00.5"], Some(Fraction(0.5))),
        (&["nULL", "~x", "only", "nine", "tree", "a-b", "_1", "é", "=", "<<", "inf", "nan", "e5"], Some(Text)),
        (
            &["--model", "-", "+", "-x", "10.0.0.1", "1.2.3", "2026-01-02", "8080:80", "500m", "4Gi", "1/2", "./a", "1 2", "0x1g"],
            Some(Text),
        ),
        (
            &["0x1F", "0o17", "0b1", "0755", "-0", "+5", "1_000", "1e3", "1.5e-3", ".5", "5.", ".", ".inf", "-.NaN", "1234567890123456789"],
            None,
        ),
        (&["true ", "\n1"], None),
    ];
    for (texts, expected) in cases {
        for text in texts {
            assert_eq!(meaning(text), expected, "{text:?}");
        }
    }
}

#[test]
fn plain_documents_become_trees() {
    let text = "# top\n---\nname: \"q\\n\"\nlist:\n- 1\n- [a, 'b', {c: ~}]\n-\nempty: {}\ntext: |\n  x <<EOF\n  y\n";
    assert_eq!(json(text).unwrap(), r#"{"name":"q\n","list":[1,["a","b",{"c":null}],null],"empty":{},"text":"x <<EOF\ny\n"}"#);
    assert_eq!(json("x\n").unwrap(), "\"x\"");
}

#[test]
fn what_is_not_plain_is_left_to_another_reader() {
    for text in [
        "a: 1\na: 2",
        "a: &x 1",
        "a: &x 1\nb: *x",
        "a: !!str 1",
        "! a",
        "<<: {a: 1}",
        "? [a]\n: 1",
        "1: a",
        "on: a",
        "~: a",
        "a: 0x10",
        "a\n---\nb\n",
        "%YAML 1.1\n---\na: 1\n",
        "a: [1",
        "a: *x",
        "",
    ] {
        assert_eq!(json(text), None, "{text:?}");
    }
}

#[test]
fn a_key_given_twice_is_seen_among_few_and_many_keys() {
    for count in [2, super::super::read::FEW_KEYS, super::super::read::FEW_KEYS + 1, 100] {
        let text: String = (0..count).map(|n| format!("k{n}: 1")).collect::<Vec<_>>().join("\n");
        assert!(json(&text).is_some(), "{count}");
        for twice in [0, count / 2, count - 1] {
            assert_eq!(json(&format!("{text}\"k{twice}\": 2\n")), None, "{count}");
        }
    }
}

#[test]
fn nesting_ends_where_it_does_for_every_reader() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(json(&deep(MAX_DEPTH)).is_some());
    assert_eq!(json(&deep(MAX_DEPTH + 1)), None);
}
