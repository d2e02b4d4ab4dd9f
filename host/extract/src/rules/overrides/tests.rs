use aibom_facts::image::ImageReference;

use super::super::{Meaning, Use};
use super::*;
use crate::ImageClass;

const BASE: [(&str, &str); 2] = [
    (
        "a.yaml",
        "name: a\naliases: [alpha]\ncategory: inference\nimages: {repositories: [x.io/own/a], entrypoint: [a, serve]}\n\
         launch: [{programs: [a]}]\noptions: {model: [--model], served: [{names: [--name, --alias], values: many}]}\n\
         switches: [--fast, --loud]\nenv: {model: [A_MODEL]}\n",
    ),
    ("b.yaml", "name: b\nimages: {repositories: [{path: x.io/own/b, engine: alpha}]}\nimplies: [{variable: B, values: [x], runtime: a}]\n"),
];

fn base() -> Rules {
    Rules::parse(BASE.into_iter()).unwrap()
}

fn with(changes: &[Override<'_>]) -> Rules {
    base().with(changes).unwrap()
}

fn file(text: &str) -> Override<'_> {
    Override::File { name: "mine.yaml", text }
}

fn runtimes_of(rules: &Rules, image: &str) -> Vec<String> {
    match rules.classify_image(&ImageReference::parse(image).unwrap()) {
        ImageClass::Runtimes(found) => found
            .iter()
            .flat_map(|found| std::iter::once(found.runtime).chain(found.engine))
            .map(|index| rules.runtimes[index].name.clone())
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_file_with_a_new_name_is_a_new_runtime() {
    let rules = with(&[file("name: c\nimages: {names: [my-server]}\nlaunch: [{programs: [c]}]\n")]);
    assert_eq!(runtimes_of(&rules, "any.io/z/my-server:1"), ["c"]);
    assert_eq!(runtimes_of(&rules, "x.io/own/a:1"), ["a"]);
}

#[test]
fn a_file_with_a_known_name_extends_the_runtime() {
    let rules = with(&[file("name: a\nimages: {repositories: [mirror.corp/z/own-a]}\noptions: {model: [--weights]}\n")]);
    for image in ["x.io/own/a:1", "mirror.corp/z/own-a:1"] {
        assert_eq!(runtimes_of(&rules, image), ["a"], "{image}");
    }
    let runtime = rules.runtime("a").unwrap();
    for option in ["--model", "--weights"] {
        assert!(matches!(runtime.options.get(option), Some(Meaning::Fact(Use::Model, _))), "{option}");
    }
    assert_eq!(runtime.category.map(aibom_facts::inventory::Category::as_str), Some("inference"));
}

#[test]
fn a_single_value_and_the_meaning_of_an_option_are_replaced() {
    let rules = with(&[file("name: a\ncategory: training\noptions: {revision: [--alias]}\nparameters: {speed: [--fast]}\n")]);
    let runtime = rules.runtime("a").unwrap();
    assert_eq!(runtime.category.map(aibom_facts::inventory::Category::as_str), Some("training"));
    assert!(matches!(runtime.options.get("--alias"), Some(Meaning::Fact(Use::Revision, _))));
    assert!(matches!(runtime.options.get("--name"), Some(Meaning::Fact(Use::Served, _))));
    assert_eq!(runtime.options.get("--fast"), Some(&Meaning::Parameter("speed".to_owned())));
    assert_eq!(runtime.options.get("--loud"), Some(&Meaning::Switch));
}

#[test]
fn a_file_that_replaces_keeps_nothing_of_the_known_runtime() {
    let rules = with(&[file("name: a\nreplace: true\naliases: [alpha]\nimages: {names: [own-a]}\n")]);
    assert!(runtimes_of(&rules, "x.io/own/a:1").is_empty());
    assert_eq!(runtimes_of(&rules, "y.io/z/own-a:1"), ["a"]);
    assert!(rules.runtime("a").unwrap().options.is_empty());
}

#[test]
fn later_changes_see_earlier_ones() {
    let first = file("name: c\nimages: {names: [one]}\n");
    let rules = with(&[first, file("name: c\nimages: {names: [two]}\n")]);
    for image in ["h.io/p/one:1", "h.io/p/two:1"] {
        assert_eq!(runtimes_of(&rules, image), ["c"], "{image}");
    }
}

#[test]
fn a_disabled_runtime_is_found_nowhere_and_others_stay() {
    let rules = with(&[Override::Disable("alpha")]);
    assert!(rules.runtime("a").is_none() && rules.runtime("alpha").is_none());
    assert!(runtimes_of(&rules, "x.io/own/a:1").is_empty());
    assert_eq!(runtimes_of(&rules, "x.io/own/b:1"), ["b"]);
    assert!(rules.runtime("b").unwrap().implies.is_empty());
}

#[test]
fn a_change_that_cannot_be_used_says_where() {
    let error = |change: Override<'_>| base().with(&[change]).unwrap_err().to_string();
    assert!(error(file("name: a\nflags: []\n")).starts_with("mine.yaml: "));
    assert!(error(file("name: a\nflags: []\n")).contains("line 2"));
    assert_eq!(error(file("name: alpha\n")), "mine.yaml: `alpha` is another name of `a`; use that one");
    assert_eq!(error(file("name: c\naliases: [alpha]\n")), "mine.yaml: `alpha` is defined twice");
    assert_eq!(error(file("name: a\nswitches: [--x, --x]\n")), "mine.yaml: option `--x` is given twice");
    assert_eq!(error(Override::Disable("nobody")), "`nobody` cannot be disabled: no runtime has that name");
}

#[test]
fn built_in_rules_without_changes_are_the_same() {
    let rules = Rules::builtin().with(&[]).unwrap();
    let names = |rules: &Rules| rules.runtimes.iter().map(|runtime| runtime.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&rules), names(Rules::builtin()));
}

#[test]
fn patterns_of_images_take_the_place_of_what_is_known_about_images_of_inference_servers() {
    let training = ("t.yaml", "name: t\ncategory: training\nimages: {repositories: [x.io/own/t]}\n");
    let rules = Rules::parse(BASE.into_iter().chain([training])).unwrap();
    let pattern = |runtime, pattern| Override::ImagePattern { runtime, pattern };
    let rules = rules.with(&[pattern("b", r"^mirror\.corp/.*"), pattern("mine", "/quill")]).unwrap();
    let found = |written: &str| match rules.classify_written_image(written, &ImageReference::parse(written).unwrap()) {
        ImageClass::Runtimes(found) => found.iter().map(|found| rules.runtimes[found.runtime].name.clone()).collect(),
        _ => Vec::new(),
    };
    assert_eq!(found("mirror.corp/x/any:1"), ["b"]);
    assert_eq!(found("x.io/quill:1"), ["mine"]);
    assert_eq!(found("x.io/own/a:1"), [""; 0], "the list replaces what was known");
    assert_eq!(found("x.io/own/t:1"), ["t"], "of inference servers only");
    assert_eq!(rules.runtime("mine").unwrap().category, Some(Category::Inference));
    let error = base().with(&[pattern("a", "(")]).unwrap_err().to_string();
    assert!(error.contains("inferenceRuntimeImagePatterns"), "{error}");
}
