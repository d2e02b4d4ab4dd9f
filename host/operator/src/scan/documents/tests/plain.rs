//! The short way from plain YAML to a tree gives what the long one gives, or nothing.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::{Tree, options, stream};

/// Whether the short way read the text. What it read, the long way reads alike.
fn is_read_alike(text: &str) -> bool {
    let Some(short) = Tree::from_plain_yaml(text) else { return false };
    let long: Tree = serde_saphyr::from_str_with_options(text, options(text)).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    assert_eq!(short.json(short.root()), long.json(long.root()), "{text:?}");
    assert_eq!(short.len(), long.len(), "{text:?}");
    true
}

/// Scalars that one rule or another looks at.
fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z]{1,6}|--[a-z]{1,5}|[a-z]{1,3}/[a-z]{1,3}:[0-9.]{1,4}",
        2 => "[-+]?[0-9]{1,3}|[-+]?[0-9]{0,3}\\.[0-9]{0,3}|[0-9]{17,22}",
        2 => "[-+]?(0x|0X|0o|0O|0b|0B|0)?[0-9a-fA-F_]{0,4}|[-+]?[0-9.]{1,4}[eE][-+]?[0-9]{0,3}",
        2 => "[-+]?\\.(inf|Inf|INF|iNf|nan|NaN|NAN)|[-+]?(inf|infinity|nan)",
        2 => "(?i)true|false|yes|no|on|off|y|n|null|~",
        1 => "[-+0-9.eExXoOaAfFnNbBiI_:~<=]{1,6}",
        1 => "\"[ -!#-\\[\\]-~é]{0,6}\"|\"\\\\[nt0xuLPN_\"\\\\]\"|'[ -&(-~]{0,6}'|''|\"\"",
        1 => "!!(str|int|float|bool|null|binary|map|seq) [a-z0-9.]{0,3}|! [0-9]|![a-z] x|&[ab] [a-z0-9]{1,2}|\\*[ab]|<<|=",
        1 => "\\PC{0,4}",
    ]
}

/// A value as YAML: nested by indentation or in brackets.
#[derive(Clone, Debug)]
enum Form {
    Scalar(String),
    Block(bool, String),
    List(bool, Vec<Form>),
    Map(bool, Vec<(String, Form)>),
}

fn form() -> impl Strategy<Value = Form> {
    let leaf = prop_oneof![5 => scalar().prop_map(Form::Scalar), 1 => (any::<bool>(), "[a-z0-9 <:#-]{0,8}").prop_map(|(folded, text)| Form::Block(folded, text))];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let key = prop_oneof![6 => "[a-z]{1,3}", 1 => scalar()];
        prop_oneof![
            (any::<bool>(), prop::collection::vec(inner.clone(), 0..4)).prop_map(|(flow, items)| Form::List(flow, items)),
            (any::<bool>(), prop::collection::vec((key, inner), 0..4)).prop_map(|(flow, members)| Form::Map(flow, members)),
        ]
    })
}

fn write(form: &Form, flow: bool, indent: usize, out: &mut String) {
    match form {
        Form::Scalar(text) => out.push_str(text),
        Form::Block(_, text) if flow => {
            let _ = write!(out, "{text:?}");
        }
        Form::Block(folded, text) => {
            let _ = write!(out, "{}\n{:indent$}x{text}\n{:indent$}y", if *folded { ">" } else { "|" }, "", "");
        }
        Form::List(own, items) if flow || *own || items.is_empty() => {
            out.push('[');
            for item in items {
                write(item, true, indent, out);
                out.push_str(", ");
            }
            out.push(']');
        }
        Form::List(_, items) => {
            for item in items {
                let _ = write!(out, "\n{:indent$}- ", "");
                write(item, false, indent + 2, out);
            }
        }
        Form::Map(own, members) if flow || *own || members.is_empty() => {
            out.push('{');
            for (key, member) in members {
                let _ = write!(out, "{key}: ");
                write(member, true, indent, out);
                out.push_str(", ");
            }
            out.push('}');
        }
        Form::Map(_, members) => {
            for (key, member) in members {
                let _ = write!(out, "\n{:indent$}{key}: ", "");
                write(member, false, indent + 2, out);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_yaml_is_read_alike(form in form()) {
        let mut text = String::new();
        write(&form, false, 0, &mut text);
        is_read_alike(&text);
        is_read_alike(&format!("--- # top\n{text}\n# end\n"));
    }

    #[test]
    fn any_scalar_is_read_alike(scalar in scalar()) {
        is_read_alike(&scalar);
        is_read_alike(&format!("a: {scalar}"));
        is_read_alike(&format!("{scalar}: a"));
        is_read_alike(&format!("[{scalar}]"));
        is_read_alike(&format!("- {scalar}\n  {scalar}\n"));
    }

    #[test]
    fn any_text_is_read_alike(parts in prop::collection::vec(prop_oneof![
        4 => prop::sample::select(vec![
            "\n", "\n  ", "\n- ", "- ", ": ", ":", "? ", ", ", "[", "]", "{", "}", "# ", "|", ">", "|+\n ", "&a ", "*a", "!t ", "---", "\n---\n", "\n...\n",
            "\"", "'", "%YAML 1.2\n", "\u{feff}", "\t", "<<", "\r\n",
        ]).prop_map(str::to_owned),
        3 => scalar(),
    ], 0..12)) {
        is_read_alike(&parts.concat());
    }
}

#[test]
fn limits_are_the_same_on_either_way() {
    let lists = |levels: usize| format!("a: {}{}", "[".repeat(levels), "]".repeat(levels));
    let maps = |levels: usize| (0..levels).fold(String::new(), |text, level| format!("{text}{:level$}a:\n", ""));
    for (text, plain) in [(lists(127), true), (lists(128), false), (maps(128), true), (maps(129), false)] {
        assert_eq!(is_read_alike(&text), plain);
        assert_eq!(serde_saphyr::from_str_with_options::<Tree>(&text, options(&text)).is_ok(), plain);
    }
}

#[test]
fn nearly_every_public_manifest_is_plain_and_read_alike() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/samples");
    if !samples.exists() {
        eprintln!("SKIPPED: what needs corpus/samples did not run, because ../shared is absent");
        return;
    }
    let mut files = Vec::new();
    collect(&samples, &mut files);
    let (mut plain, mut all) = (0, 0);
    for text in files.iter().filter_map(|file| fs::read_to_string(file).ok()) {
        for document in stream::texts(&text) {
            all += 1;
            plain += usize::from(is_read_alike(&document));
        }
    }
    assert!(all > 1000 && plain * 100 > all * 90, "{plain} of {all} documents are plain");
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}
