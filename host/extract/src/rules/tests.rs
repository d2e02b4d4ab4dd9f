use super::*;

#[test]
fn the_built_in_files_are_valid_and_complete() {
    let rules = Rules::parse(builtin::RUNTIMES.iter().copied()).unwrap();
    for name in ["vllm", "sglang", "tensorrt-llm", "tgi", "tei", "triton", "ollama", "llama.cpp", "nim", "dynamo", "fastvideo"] {
        assert!(rules.runtime(name).is_some(), "{name}");
    }
    for (file, _) in builtin::RUNTIMES {
        assert!(rules.runtimes.iter().any(|runtime| format!("{}.yaml", runtime.name) == *file), "{file} is not named after its runtime");
    }
    for runtime in &rules.runtimes {
        let known = !runtime.launch.is_empty() || !runtime.images.repositories.is_empty() || !runtime.images.names.is_empty();
        assert!(known, "{} can never be recognised", runtime.name);
        for host in runtime.images.repositories.iter().map(|repository| repository.path.split('/').next().unwrap_or_default()) {
            assert!(host.contains(['.', ':']) || host == "localhost", "{}: `{host}` is no host", runtime.name);
        }
    }
}

fn error(files: &[(&str, &str)]) -> String {
    Rules::parse(files.iter().copied()).unwrap_err().to_string()
}

#[test]
fn a_bad_file_is_an_error_that_says_where() {
    assert!(error(&[("a.yaml", "name: a\nflags: []")]).starts_with("a.yaml: "));
    assert!(error(&[("a.yaml", "name: a\nflags: []")]).contains("flags"));
    assert_eq!(error(&[("a.yaml", "name: a"), ("b.yaml", "name: b\naliases: [a]")]), "b.yaml: `a` is defined twice");
    assert_eq!(
        error(&[("a.yaml", "name: a\nlaunch: [{programs: [x], engine: y}]")]),
        "a.yaml: `y` is no runtime that another file defines"
    );
    assert_eq!(
        error(&[("a.yaml", "name: a\nlaunch: [{words: [x]}]")]),
        "a.yaml: a launcher needs programs, modules, scripts, apps or calls"
    );
    assert_eq!(
        error(&[("a.yaml", "name: a\noptions: {model: [model]}")]),
        "a.yaml: option `model` must start with a dash or end with an equals sign"
    );
    assert_eq!(error(&[("a.yaml", "name: a\noptions: {model: [--a_b]}\nswitches: [--a-b]")]), "a.yaml: option `--a-b` is given twice");
    assert_eq!(error(&[("a.yaml", "name: A")]), "a.yaml: name `A` must be lower case");
    assert_eq!(error(&[("a.yaml", "name: a\nimages: {repositories: [x]}")]), "a.yaml: repository `x` needs a host");
    assert_eq!(
        error(&[("a.yaml", "name: a\nlaunch: [{programs: ['']}]")]),
        "a.yaml: `` is an entry without text, or with blanks around it"
    );
    assert_eq!(error(&[("a.yaml", "name: a\noptions: {model: [{names: []}]}")]), "a.yaml: an entry of options or variables has no names");
    assert_eq!(
        error(&[("a.yaml", "name: a\nroles: [{role: embedding}]")]),
        "a.yaml: an entry of roles needs an option or a variable, and not both"
    );
    assert_eq!(
        error(&[("a.yaml", "name: a\nimages: {names: [x]}"), ("b.yaml", "name: b\nimages: {names: [x]}")]),
        "b.yaml: the repository or name `x` is in a.yaml already"
    );
    assert!(error(&[("conventions.yaml", "wrappers: 7")]).starts_with("conventions.yaml: "));
}

#[test]
fn names_and_aliases_are_found_in_any_case() {
    let rules = Rules::builtin();
    assert_eq!(rules.runtime("TRTLLM").map(|runtime| runtime.name.as_str()), Some("tensorrt-llm"));
    assert!(rules.runtime("nothing").is_none());
}

#[test]
fn where_a_model_is_chosen_is_a_reason_that_the_inventory_knows() {
    let words = Rules::builtin().runtimes.iter().filter_map(|runtime| Some((&runtime.name, runtime.chosen_in.as_deref()?)));
    let unknown: Vec<_> = words.filter(|(_, word)| !aibom_facts::inventory::Unresolved::WHY.contains(word)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn reading_all_files_takes_a_moment_that_is_shown() {
    let start = std::time::Instant::now();
    let rules = Rules::parse(builtin::RUNTIMES.iter().copied()).unwrap();
    eprintln!("{} runtimes read in {:?} (unoptimised builds take many times as long)", rules.runtimes.len(), start.elapsed());
    assert_eq!(rules.runtimes.len(), builtin::RUNTIMES.len());
}
