use aibom_facts::inventory::Origin;
use aibom_facts::object::ObjectRef;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::Tree;

use super::*;
use crate::Subject;

/// What is said about a workload with these containers, whose template has this duty.
fn ask(containers: &str, duty: Duty) -> (Inventory, Explanation) {
    let yaml = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x}}\nspec: {{template: {{spec: {{containers: [{containers}]}}}}}}\n"
    );
    let tree: Tree = serde_saphyr::from_str(&yaml).unwrap();
    let at = Locator::scraped(Pointer::parse("/spec/template").unwrap());
    let template = PodTemplate { at, name: String::new(), role: String::new(), duty, inherited_env: vec![], properties: vec![] };
    let report = Report { pod_templates: vec![template], ..Report::default() };
    let object = ObjectRef::of(&tree).unwrap();
    let subject = Subject { objects: &[object], trees: &[Some(&tree)], sought: &[], report: &report, origin: Origin::Manifest };
    let (inventory, explanation) = crate::explain(Rules::builtin(), &subject);
    assert_eq!(inventory, crate::extract(Rules::builtin(), &subject), "asking changes the answer");
    for entry in &explanation.considered {
        assert!(tree.resolve(tree.root(), entry.at.pointer.as_str()).is_some(), "{entry:?} points to nothing");
    }
    (inventory, explanation)
}

/// `what value by reason`, without the path to the container's list.
fn dropped(containers: &str) -> Vec<String> {
    let (_, explanation) = ask(containers, Duty::Unknown);
    lines(&explanation)
}

fn lines(explanation: &Explanation) -> Vec<String> {
    explanation.considered.iter().map(|entry| format!("{} {} {} {}", entry.what, entry.value, entry.by, entry.reason)).collect()
}

fn assert_says(containers: &str, line: &str) {
    let lines = dropped(containers);
    assert!(lines.iter().any(|known| known == line), "{line} is not in {lines:#?}");
}

#[test]
fn every_reason_has_a_word_of_its_own_and_a_sentence() {
    let words: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(words.len(), Reason::ALL.len());
    assert!(Reason::ALL.iter().all(|reason| reason.sentence().len() > 10));
}

#[test]
fn a_server_is_explained_by_image_and_program_and_nothing_is_missing() {
    let (_, explanation) = ask("{name: a, image: 'vllm/vllm-openai:v1', command: [vllm, serve, acme/talker]}", Duty::Unknown);
    let known: Vec<_> = explanation.recognised.iter().map(|entry| (entry.what, entry.runtime.as_str(), entry.how)).collect();
    assert_eq!(known, [("program", "vllm", "run"), ("image", "vllm", "official")]);
    assert_eq!(explanation.considered, []);
}

#[test]
fn an_image_is_unknown_denied_or_only_hinted_at() {
    assert_says("{name: a, image: 'example.com/acme/shop:1'}", "runtime example.com/acme/shop:1  image-unknown");
    assert_says(
        "{name: a, image: 'example.com/acme/vllm-router:1'}",
        "runtime example.com/acme/vllm-router:1 the word router in its name image-denied",
    );
    assert_says("{name: a, image: 'example.com/acme/my-vllm:1', args: [--colour, blue]}", "runtime vllm *vllm* image-weak");
}

#[test]
fn the_denial_of_a_runtime_names_its_entry() {
    let (rules, mut told) = (Rules::builtin(), 0);
    for runtime in rules.runtimes() {
        for word in &runtime.images.deny_tags {
            let Some(path) = runtime.images.repositories.first().map(|known| known.path.replace('*', "x")) else { continue };
            let image = format!("{path}:1-{word}");
            let lines = dropped(&format!("{{name: a, image: '{image}'}}"));
            assert!(lines.iter().any(|line| line.ends_with(&format!("{} denies {word} image-denied", runtime.name))), "{image}: {lines:?}");
            told += 1;
        }
    }
    assert!(told > 0);
}

#[test]
fn a_known_program_that_runs_no_model_gives_no_runtime_and_says_what_it_does() {
    assert_says("{name: a, image: 'vllm/vllm-openai:v1', command: [sleep, infinity]}", "runtime vllm  idle");
    assert_says(
        "{name: a, image: 'vllm/vllm-openai:v1', command: [hf, download, acme/talker]}",
        "runtime huggingface-download fetch not-an-engine",
    );
    let (inventory, explanation) =
        ask("{name: a, image: 'vllm/vllm-openai:v1', command: [vllm, serve, acme/talker]}", Duty::Infrastructure);
    assert!(inventory.runtimes.is_empty());
    assert!(lines(&explanation).contains(&"runtime vllm run infrastructure".to_owned()), "{explanation:?}");
}

#[test]
fn an_image_whose_command_starts_another_engine_says_so() {
    assert_says(
        "{name: a, image: 'lmsysorg/sglang:v1', command: [vllm, serve, acme/talker]}",
        "runtime sglang docker.io/lmsysorg/sglang other-program",
    );
}

#[test]
fn signs_without_a_program_that_is_known_are_weak() {
    let server = "{name: a, image: 'example.com/acme/app:1', command: [/app/run, --model, acme/talker, -m, acme/other], env: [{name: MODEL_NAME, value: acme/talker}]}";
    assert_says(server, "runtime /app/run  program-unknown");
    assert_says(server, "model acme/talker --model uncorroborated");
    assert_says(server, "model acme/other -m option-unread");
    assert_says(server, "model acme/talker MODEL_NAME uncorroborated");
    assert_says(
        "{name: a, image: 'example.com/acme/app:1', env: [{name: M_LOAD_PARAMETERS_PATH, value: /opt/talker}]}",
        "model /opt/talker M_LOAD_PARAMETERS_PATH variable-unread",
    );
}

#[test]
fn a_variable_that_supports_a_model_is_not_called_weak() {
    let lines = dropped(
        "{name: a, image: 'vllm/vllm-openai:v1', command: [vllm, serve, acme/talker], env: [{name: MODEL_NAME, value: acme/talker}]}",
    );
    assert_eq!(lines, Vec::<String>::new());
}

#[test]
fn values_that_lost_or_are_no_names_are_listed() {
    let engine = |args: &str| format!("{{name: a, image: 'vllm/vllm-openai:v1', args: [{args}]}}");
    assert_says(&engine("--model, acme/one, --model, acme/two"), "model acme/one --model overridden");
    assert_says(&engine("--model, 'two words'"), "model two words --model not-a-model");
    assert_says(&engine("--model, acme/one, --tokenizer, acme/one"), "tokenizer acme/one --tokenizer same-as-model");
    // Unresolved as a whole, so that it is a fact and needs no excuse.
    assert_eq!(dropped(&engine("--model, $(NOWHERE)")), Vec::<String>::new());
}

#[test]
fn a_value_that_is_unknown_beside_a_known_one_says_where_it_would_come_from() {
    let engine = |from: &str| {
        format!(
            "{{name: a, image: 'vllm/vllm-openai:v1', args: [--model, acme/one, --model, $(OTHER)], env: [{{name: OTHER, {from}}}]}}, {{name: b, image: 'vllm/vllm-openai:v1', args: [--model, acme/two]}}"
        )
    };
    for (from, word) in [
        ("valueFrom: {secretKeyRef: {name: s, key: k}}", "secret"),
        ("valueFrom: {configMapKeyRef: {name: c, key: k}}", "configmap"),
        ("valueFrom: {fieldRef: {fieldPath: metadata.name}}", "field"),
        ("value: '<model>'", "template"),
    ] {
        let (inventory, explanation) = ask(&engine(from), Duty::Unknown);
        let listed = lines(&explanation).iter().any(|line| line.ends_with(word));
        let unresolved = inventory.unresolved.iter().any(|entry| entry.why == word);
        assert!(listed != unresolved, "{word}: {explanation:?} {inventory:?}");
    }
    let lines = dropped("{name: a, image: 'vllm/vllm-openai:v1', args: [--model, acme/one, --model, $(NOWHERE)]}");
    assert!(lines.iter().any(|line| line.ends_with("undefined-variable")), "{lines:?}");
}

#[test]
fn a_client_beside_a_server_names_no_model_of_its_own() {
    let lines = dropped(
        "{name: a, image: 'vllm/vllm-openai:v1', args: [--model, acme/talker]}, {name: b, image: 'example.com/acme/tool:1', command: [vllm, bench, serve, --model, talker]}",
    );
    assert!(lines.contains(&"model talker --model served-name".to_owned()), "{lines:?}");
    assert!(lines.contains(&"category benchmark  outweighed".to_owned()), "{lines:?}");
}

#[test]
fn a_key_whose_base_url_leads_elsewhere_is_no_service() {
    let lines = dropped(
        "{name: a, image: 'example.com/acme/app:1', env: [{name: OPENAI_API_KEY, value: none}, {name: OPENAI_BASE_URL, value: 'http://talker:8000/v1'}]}",
    );
    assert!(lines.contains(&"service openai OPENAI_API_KEY url-elsewhere".to_owned()), "{lines:?}");
}

#[test]
fn every_word_of_unresolved_facts_has_a_reason_beside_it() {
    for (why, reason) in [
        ("secret", Reason::Secret),
        ("configmap", Reason::ConfigMap),
        ("field", Reason::Field),
        ("template", Reason::Template),
        ("placeholder", Reason::Template),
        ("undefined-variable", Reason::UndefinedVariable),
        ("computed", Reason::Computed),
        ("config-file", Reason::Unresolved),
        ("too-long", Reason::NotAModel),
    ] {
        assert_eq!(Reason::of_unresolved(why), reason);
    }
}

#[test]
fn the_value_of_a_variable_is_never_told_as_the_name_of_a_program() {
    let told = dropped("{name: a, image: 'x/y', command: [sh, -c, '$X --model acme/m'], env: [{name: X, value: hunter2}]}");
    assert!(told.contains(&"runtime $(X)  program-unknown".to_owned()), "{told:#?}");
    let told = dropped("{name: a, image: 'x/y', command: [/opt/$(X)/run], env: [{name: X, value: hunter2}]}");
    assert!(told.contains(&"runtime /opt/$(X)/run  program-unknown".to_owned()), "{told:#?}");
    for command in ["[sh, -c, '$KEY']", "['$(API_KEY)']", "[sh, -c, 'API_KEY=hunter2; exec $API_KEY']"] {
        let told = dropped(&format!(
            "{{name: a, image: 'x/y', command: {command}, env: [{{name: API_KEY, value: hunter2}}, {{name: KEY, value: $(API_KEY)}}]}}"
        ));
        assert!(told.iter().all(|line| !line.contains("hunter2")), "{told:#?}");
    }
}

#[test]
fn what_follows_an_option_that_no_shell_has_is_no_script() {
    for command in ["[sh, -c, --password, hunter2]", "[bash, -c, -password, hunter2]", "[sh, --token, hunter2, -c]"] {
        let told = dropped(&format!("{{name: a, image: 'x/y', command: {command}}}"));
        assert!(told.iter().all(|line| !line.contains("hunter2")), "{told:#?}");
    }
    // Options that shells have are none of their script.
    for command in ["[bash, --login, -euxo, pipefail, -c, heron-go]", "[sh, -ec, heron-go]", "[bash, +e, --norc, -lc, heron-go]"] {
        assert_says(&format!("{{name: a, image: 'x/y', command: {command}}}"), "runtime heron-go  program-unknown");
    }
}

#[test]
fn a_name_that_people_use_for_models_and_that_nothing_corroborates_is_told() {
    assert_says(
        "{name: a, image: 'acme/app:1', env: [{name: RERANKER_MODEL, value: acme/sorter}]}",
        "model acme/sorter RERANKER_MODEL uncorroborated",
    );
    assert_says(
        "{name: a, image: 'acme/app:1', command: [app, --detector-model, acme/eye]}",
        "model acme/eye --detector-model uncorroborated",
    );
    let lines = dropped("{name: a, image: 'acme/app:1', command: [python3, -m, app.main, --port, '80']}");
    assert!(!lines.iter().any(|line| line.contains("app.main")), "a module is no model: {lines:?}");
}
