use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::inventory::{Confidence, Evidence, Inventory, Model, Role, Source};
use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Basis, Claim, Container, ContainerClass, Duty, Item, ItemClass, PodTemplate};
use aibom_facts::tree::Visibility;

use super::*;

mod causes;
mod limits;
mod resources;
mod states;
#[path = "structured/tests.rs"]
mod structured;

fn at(pointer: &str) -> Locator {
    Locator::scraped(Pointer::parse(pointer).unwrap())
}

fn template(pointer: &str, name: &str, duty: Duty) -> PodTemplate {
    PodTemplate { at: at(pointer), name: name.to_owned(), role: String::new(), duty, inherited_env: vec![], properties: vec![] }
}

fn item(class: ItemClass, text: &str, basis: Basis, pointer: &str) -> Item {
    let name = Claim { text: text.to_owned(), basis, at: vec![at(pointer)] };
    Item { id: String::new(), class, role: String::new(), name, version: None, sources: vec![], uses: vec![], properties: vec![] }
}

fn read(yaml: &str, report: &Report) -> Inventory {
    let tree: Tree = serde_saphyr::from_str(yaml).unwrap();
    let view = tree.view(tree.root(), Visibility::default());
    let object = ObjectRef::of(&view).unwrap();
    extract(Rules::builtin(), &Subject { objects: &[object], trees: &[Some(&view)], sought: &[], report, origin: Origin::Manifest })
}

/// A workload whose containers are these YAML flow maps.
pub(crate) fn pod(containers: &[&str]) -> Inventory {
    pod_with(containers, "[]", "[]")
}

fn pod_with(containers: &[&str], init: &str, volumes: &str) -> Inventory {
    let yaml = format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x}}\nspec: {{template: {{spec: {{containers: [{}], initContainers: {init}, volumes: {volumes}}}}}}}\n",
        containers.join(", ")
    );
    read(&yaml, &Report { pod_templates: vec![template("/spec/template", "", Duty::Unknown)], ..Report::default() })
}

pub(crate) fn names(inventory: &Inventory) -> Vec<String> {
    inventory.models.iter().map(|model| format!("{} {}", model.role.as_str(), model.reference.id())).collect()
}

pub(crate) fn runtimes(inventory: &Inventory) -> Vec<&str> {
    inventory.runtimes.iter().map(|runtime| runtime.finding.key.name.as_str()).collect()
}

pub(crate) fn unresolved(inventory: &Inventory) -> Vec<String> {
    inventory.unresolved.iter().map(|entry| format!("{} {} {} {}", entry.what, entry.why, entry.at.pointer, entry.reference)).collect()
}

pub(crate) fn categories(inventory: &Inventory) -> Vec<&'static str> {
    inventory.categories.keys().map(|category| category.as_str()).collect()
}

fn places(evidence: &[Evidence]) -> Vec<(&str, Source, &str)> {
    evidence.iter().map(|evidence| (evidence.at.pointer.as_str(), evidence.source, evidence.by.as_str())).collect()
}

pub(crate) fn only(inventory: &Inventory) -> &Model {
    assert_eq!(inventory.models.len(), 1, "{:?}", names(inventory));
    &inventory.models[0]
}

const BASE: &str = "/spec/template/spec/containers/0";

#[test]
fn a_positional_model_of_the_serve_command_is_the_model() {
    // B43
    let found = pod(&["{name: a, image: 'vllm/vllm-openai:v0.8.5', command: [vllm, serve, org/m, --port, '8000']}"]);
    assert_eq!(names(&found), ["main org/m"]);
    assert_eq!(places(&only(&found).finding.evidence), [(format!("{BASE}/command/2").as_str(), Source::ContainerArg, "")]);
    assert_eq!(runtimes(&found), ["vllm"]);
    assert_eq!(found.runtimes[0].version.as_deref(), Some("v0.8.5"));
    assert_eq!(categories(&found), ["inference"]);
    assert_eq!(found.confidence(), Confidence::Declared);
}

#[test]
fn options_may_stand_before_a_positional_model() {
    // B43
    let found = pod(&["{name: a, image: x, command: [vllm, serve, --port, '8000', --dtype, auto, org/m]}"]);
    assert_eq!(names(&found), ["main org/m"]);
    let found = pod(&["{name: a, image: x, command: [vllm, serve, --served-model-name, a, b, --, org/m]}"]);
    assert_eq!(names(&found), ["main org/m"]);
    assert_eq!(only(&found).served, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
}

#[test]
fn a_positional_model_beside_the_option_is_a_conflict() {
    // B43
    let found = pod(&["{name: a, image: x, command: [vllm, serve, org/m, --model, other/n]}"]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/m");
    assert_eq!(model.finding.conflicts.iter().map(|conflict| conflict.value.as_str()).collect::<Vec<_>>(), ["other/n"]);
}

#[test]
fn a_stray_word_behind_an_option_never_replaces_the_declared_model() {
    for stray in [
        "--api-key, aaaa, bbbb",
        "--middleware, a.b, c.d",
        "--unheard-of, a.b, c/d",
        "--disable-log-stats, x/y",
        "--chat-template, /t, junk",
        r#"--speculative-config, '{"model":"o/d"}', x"#,
    ] {
        let found = pod(&[&format!("{{name: a, image: x, command: [vllm, serve, --model, org/m, {stray}]}}")]);
        let main: Vec<String> = names(&found).into_iter().filter(|name| name.starts_with("main")).collect();
        assert_eq!(main, ["main org/m"], "{stray}");
        assert!(!format!("{found:?}").contains("bbbb"), "{stray}");
    }
}

#[test]
fn a_user_or_password_in_front_of_an_image_is_stored_nowhere() {
    let digest = format!("sha256:{}", "ab".repeat(32));
    for (image, kept) in [
        ("user:LEAKpw1@registry.io/vllm/vllm-openai:v1", "registry.io/vllm/vllm-openai:v1"),
        ("LEAKtok123@registry.io/x/y:v1", "registry.io/x/y:v1"),
        ("https://user:LEAKpw1@registry.io/x/y:v1", "registry.io/x/y:v1"),
        ("docker://user:LEAKpw1@registry.io/x/y:v1", "registry.io/x/y:v1"),
        ("user:LE@AKpw1@registry.io/x/y:v1", "registry.io/x/y:v1"),
        (&format!("user:LEAKpw1@registry.io/x/y@{digest}"), &format!("registry.io/x/y@{digest}")),
        ("user:LEAKpw1@registry.io/x/y@sha256:abc", "registry.io/x/y@sha256:abc"),
    ] {
        let found = pod(&[&format!("{{name: a, image: '{image}', args: [--model, org/m]}}")]);
        assert!(!format!("{found:?}").contains("LEAK") && !format!("{found:?}").contains("AKpw1"), "{image}");
        assert_eq!(unresolved(&found), [format!("image malformed {BASE}/image [REDACTED:uri-userinfo]@{kept}")]);
    }
    for (image, why) in [("registry.io/x/y@sha256:abc", "malformed"), ("registry.io/x/y@$DIGEST", "placeholder"), ("x/Y:v1", "malformed")] {
        let found = pod(&[&format!("{{name: a, image: '{image}'}}")]);
        assert_eq!(unresolved(&found), [format!("image {why} {BASE}/image {image}")]);
    }
    let good = format!("registry.io/x/y:v1@{digest}");
    assert_eq!(pod(&[&format!("{{name: a, image: '{good}'}}")]).images[0].finding.key.name, good);
}

#[test]
fn everything_may_stand_in_command() {
    // B44
    let found = pod(&["{name: a, image: 'python:3.12', command: [python3, -m, vllm.entrypoints.openai.api_server, --model, org/m]}"]);
    assert_eq!(names(&found), ["main org/m"]);
    assert_eq!(runtimes(&found), ["vllm"]);
    assert_eq!(found.runtimes[0].finding.evidence[0].source, Source::ContainerArg);
}

#[test]
fn arguments_alone_follow_the_entrypoint_of_the_image() {
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [org/m, --max-model-len, '4096']}"]);
    assert_eq!(names(&found), ["main org/m"]);
    assert_eq!(only(&found).finding.properties["aibom.parameter.context-length"], BTreeSet::from(["4096".to_owned()]));
}

#[test]
fn an_image_alone_runs_with_its_own_arguments() {
    let found = pod(&["{name: a, image: 'ollama/ollama:0.5.4'}"]);
    assert_eq!(found.runtimes[0].finding.key.name, "ollama");
    let tool = pod(&["{name: a, image: 'ollama/ollama:0.5.4', args: [list]}"]);
    assert!(tool.runtimes.is_empty());
}

#[test]
fn the_last_of_a_repeated_option_wins_and_all_are_kept() {
    // B45
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [--model, org/a, --model=org/b]}"]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/b");
    assert_eq!(places(&model.finding.evidence), [(format!("{BASE}/args/2").as_str(), Source::ContainerArg, "--model")]);
    assert_eq!(places(&model.finding.conflicts), [(format!("{BASE}/args/1").as_str(), Source::ContainerArg, "--model")]);
}

#[test]
fn dashes_and_underscores_are_one_spelling() {
    // B46
    for args in ["[--model_id=org/m]", "[--model-id=org/m]", "[--model-id, org/m]", "[--model_id, org/m]"] {
        let found = pod(&[&format!("{{name: a, image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: {args}}}")]);
        assert_eq!(names(&found), ["main org/m"], "{args}");
    }
}

#[test]
fn scripts_are_read_without_running_them() {
    // B47
    let found = pod(&[r#"{name: a, image: x, command: [sh, -c], args: ['eval "exec vllm serve /mnt/models --served-model-name A B"']}"#]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "/mnt/models");
    assert_eq!(model.served, BTreeSet::from(["A".to_owned(), "B".to_owned()]));
    assert_eq!(places(&model.finding.evidence), [(format!("{BASE}/args/0").as_str(), Source::ShellScript, "")]);
}

#[test]
fn variables_are_expanded_where_kubernetes_or_the_shell_would() {
    // B48
    let env = "env: [{name: M, value: org/m}]";
    let exec = |arg: &str| pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', args: ['--model={arg}'], {env}}}")]);
    let found = exec("$(M)");
    assert_eq!(
        places(&only(&found).finding.evidence),
        [
            (format!("{BASE}/args/0").as_str(), Source::ContainerArg, "--model"),
            (format!("{BASE}/env/0/value").as_str(), Source::EnvVar, "M")
        ]
    );
    for literal in ["${M}", "$M", "$$(M)"] {
        let found = exec(literal);
        assert!(found.models.is_empty(), "{literal}: {:?}", names(&found));
        assert!(unresolved(&found)[0].starts_with("model "), "{literal}");
    }
    let shell = |word: &str| pod(&[&format!("{{name: a, image: x, command: [sh, -c, 'vllm serve {word}'], {env}}}")]);
    for word in ["$M", "${M}", "$(M)", "\"$M\"", "${N:-org/m}"] {
        assert_eq!(names(&shell(word)), ["main org/m"], "{word}");
    }
    assert!(shell("\\$M").models.is_empty());
}

#[test]
fn a_served_name_is_no_identity() {
    // B49
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [--model, org/m, --served-model-name, other/name]}"]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/m");
    assert_eq!(model.served, BTreeSet::from(["other/name".to_owned()]));
}

#[test]
fn options_in_a_variable_lose_against_the_command_line() {
    // B50
    let env = "env: [{name: VLLM_ADDITIONAL_ARGS, value: '--model org/env --dtype half --max-model-len 9'}]";
    let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', args: [--model, org/arg, --dtype, auto], {env}}}")]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/arg");
    assert_eq!(model.finding.properties["aibom.parameter.dtype"], BTreeSet::from(["auto".to_owned()]));
    assert_eq!(model.finding.properties["aibom.parameter.context-length"], BTreeSet::from(["9".to_owned()]));
    assert_eq!(model.finding.conflicts[0].source, Source::EnvVar);
}

#[test]
fn a_path_with_a_served_name_of_the_hub_is_one_model() {
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [--model, /models/m, --served-model-name, org/m, m]}"]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/m");
    assert_eq!(model.sources, BTreeSet::from(["/models/m".to_owned()]));
    assert_eq!(model.finding.evidence.len(), 2);
}

#[test]
fn a_flag_and_a_variable_of_the_program_that_differ_are_a_conflict() {
    let found = pod(&[
        "{name: a, image: 'ghcr.io/huggingface/text-generation-inference:3.0', args: [--model-id, org/flag], env: [{name: MODEL_ID, value: org/env}]}",
    ]);
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/flag");
    assert_eq!(places(&model.finding.conflicts), [(format!("{BASE}/env/0/value").as_str(), Source::EnvVar, "MODEL_ID")]);
}

#[test]
fn a_short_name_in_a_helper_variable_supports_the_model_that_the_flag_names() {
    // The worked example of the predecessor, which made two models of one.
    let yaml = "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: embed, namespace: rag}
spec:
  template:
    spec:
      initContainers: [{name: fetch, image: 'alpine:3.20'}]
      containers:
      - name: tei
        image: ghcr.io/huggingface/text-embeddings-inference:1.5
        args: [--model-id, BAAI/bge-m3]
        env: [{name: MODEL_NAME, value: bge}]
        volumeMounts: [{name: w, mountPath: /models/bge}]
      volumes: [{name: w, persistentVolumeClaim: {claimName: weights-pvc}}]
";
    let found = read(yaml, &Report { pod_templates: vec![template("/spec/template", "", Duty::Unknown)], ..Report::default() });
    let model = only(&found);
    assert_eq!((model.reference.id().as_str(), model.role), ("BAAI/bge-m3", Role::Embedding));
    assert_eq!(
        places(&model.finding.evidence),
        [
            (format!("{BASE}/args/1").as_str(), Source::ContainerArg, "--model-id"),
            (format!("{BASE}/env/0/value").as_str(), Source::EnvVarConvention, "MODEL_NAME")
        ]
    );
    assert_eq!(runtimes(&found), ["tei"]);
    assert_eq!(found.runtimes[0].version.as_deref(), Some("1.5"));
    assert_eq!(
        found.images.iter().map(|image| image.written.as_str()).collect::<Vec<_>>(),
        ["alpine:3.20", "ghcr.io/huggingface/text-embeddings-inference:1.5"]
    );
    assert_eq!(found.data.iter().map(|data| data.name.as_str()).collect::<Vec<_>>(), ["weights-pvc"]);
    assert_eq!(found.data[0].finding.properties["volume.mountPath"], BTreeSet::from(["/models/bge".to_owned()]));
}

#[test]
fn values_from_elsewhere_are_unresolved_with_their_reference() {
    // B52
    let env = |from: &str| {
        let container = format!("{{name: a, image: 'vllm/vllm-openai', args: ['--model=$(M)'], env: [{{name: M, valueFrom: {from}}}]}}");
        unresolved(&pod(&[&container]))
    };
    assert_eq!(env("{configMapKeyRef: {name: c, key: k}}"), [format!("model configmap {BASE}/env/0/valueFrom/configMapKeyRef c")]);
    assert_eq!(env("{secretKeyRef: {name: s, key: k}}"), [format!("model secret {BASE}/env/0/valueFrom/secretKeyRef s")]);
    assert_eq!(env("{fieldRef: {fieldPath: metadata.name}}"), [format!("model field {BASE}/env/0/valueFrom/fieldRef metadata.name")]);
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: ['--model=$(M)'], envFrom: [{configMapRef: {name: c}}]}"]);
    assert_eq!(unresolved(&found), [format!("model configmap {BASE}/envFrom/0/configMapRef c")]);
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: ['--model=$(M)']}"]);
    assert_eq!(unresolved(&found), [format!("model undefined-variable {BASE}/args/0 M")]);
}

#[test]
fn no_secret_value_gets_into_a_fact() {
    // B53
    let found = pod(&[
        r#"{name: a, image: x, command: [sh, -c, 'vllm serve org/m --hf-token $HF_TOKEN; curl https://u:$OPENAI_API_KEY@api.openai.com'],
            env: [{name: HF_TOKEN, value: "hf_s3cret\n"}, {name: OPENAI_API_KEY, value: sk-s3cret}, {name: MODEL_PASSWORD, value: s3cret},
                  {name: JUDGE, value: "https://u:s3cret@corp.openai.azure.com/v1?key=s3cret"}]}"#,
    ]);
    assert!(!format!("{found:?}").contains("s3cret"));
    assert_eq!(names(&found), ["main org/m"]);
}

#[test]
fn every_form_of_a_model_reference_keeps_its_form() {
    // B54, B55
    let table = [
        ("org/m", "hub", "org/m", ""),
        ("hf://org/m", "hub", "org/m", "hf://org/m"),
        ("/mnt/models", "path", "/mnt/models", ""),
        ("./m", "path", "./m", ""),
        ("s3://b/m", "uri", "s3://b/m", ""),
        ("gs://b/m", "uri", "gs://b/m", ""),
        ("gpt2", "name", "gpt2", ""),
    ];
    for (text, form, id, source) in table {
        let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', args: [--model, '{text}']}}")]);
        let model = only(&found);
        assert_eq!((model.reference.form(), model.reference.id().as_str()), (form, id), "{text}");
        assert_eq!(model.sources.iter().cloned().collect::<String>(), source, "{text}");
    }
}

#[test]
fn look_alikes_are_no_ai_workload() {
    // B56
    for container in [
        "{name: a, image: 'nginx:1.27', env: [{name: MODEL_NAME, value: org/m}, {name: MODEL_ID, value: org/m}]}",
        "{name: a, image: 'acme/catalogue:1', command: [catalogue, --model, resnet]}",
        "{name: a, image: 'acme/web:1', command: [sh, -c, 'git clone https://example.com/org/m && exec web --model x']}",
        "{name: a, image: 'acme/web:1', resources: {limits: {nvidia.com/gpu: 1}}}",
        "{name: a, image: 'acme/vllm-dashboard:1', args: [--port, '80']}",
    ] {
        let found = pod(&[container]);
        assert!(
            !found.is_ai() && found.models.is_empty() && found.runtimes.is_empty(),
            "{container}: {:?} {:?}",
            names(&found),
            runtimes(&found)
        );
        assert_eq!(found.images.len(), 1);
    }
}

#[test]
fn second_models_have_roles_of_their_own() {
    let found = pod(&[
        r#"{name: a, image: 'vllm/vllm-openai', args: [--model, org/m, --tokenizer, org/tok, --speculative-config, '{"method":"eagle3","model":"org/draft"}',
            --lora-modules, sql=org/sql, fr=/adapters/fr]}"#,
    ]);
    assert_eq!(names(&found), ["adapter /adapters/fr", "draft org/draft", "main org/m", "adapter org/sql", "tokenizer org/tok"]);
    let sql = &found.models[3];
    assert_eq!(sql.served, BTreeSet::from(["sql".to_owned()]));
    assert_eq!(sql.finding.needs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["model/org/m"]);
    for none in [r#"{"method":"ngram"}"#, r#"{"method":"mtp","num_speculative_tokens":1}"#] {
        let found = pod(&[&format!(
            "{{name: a, image: 'vllm/vllm-openai', args: [--model, org/m, --tokenizer, org/m, --speculative-config, '{none}']}}"
        )]);
        assert_eq!(names(&found), ["main org/m"]);
    }
}

#[test]
fn an_engine_that_names_no_model_says_where_it_would_come_from() {
    let found = pod(&["{name: a, image: 'vllm/vllm-openai'}"]);
    assert_eq!(unresolved(&found), [format!("model runtime-default {BASE}/image ")]);
    let found = pod(&["{name: a, image: x, command: [python3, -m, sglang.launch_server, --config, /etc/s.yaml]}"]);
    assert_eq!(unresolved(&found), [format!("model config-file {BASE}/command/4 /etc/s.yaml")]);
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [--model, '<your-model>']}"]);
    assert_eq!(unresolved(&found), [format!("model template {BASE}/args/1 ")]);
}

#[test]
fn a_worker_that_joins_a_server_lacks_no_model() {
    for command in [
        r#"[bash, -c, "bash /opt/multi-node.sh worker --ray_address=$(LWS_LEADER_ADDRESS)"]"#,
        "[bash, /opt/multi-node.sh, --ray-address, head]",
        r#"[sh, -c, "ray start --address=$(HEAD):6379 --block"]"#,
        "[python3, ./server.py, worker]",
    ] {
        let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', command: {command}}}")]);
        assert!(found.is_ai() && found.models.is_empty(), "{command}");
        assert!(unresolved(&found).is_empty(), "{command}: {:?}", unresolved(&found));
    }
    for leader in [
        r#"[bash, -c, "bash /opt/multi-node.sh leader --ray_cluster_size=2"]"#,
        r#"[sh, -c, "ray start --address=head && vllm serve --port 80"]"#,
        "[/opt/multi-node.sh, --worker]",
    ] {
        let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', command: {leader}}}")]);
        assert_eq!(unresolved(&found).len(), 1, "{leader}: {:?}", unresolved(&found));
    }
}

#[test]
fn an_engine_image_that_only_waits_or_downloads_runs_no_engine() {
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', command: [sleep, infinity]}"]);
    assert!(runtimes(&found).is_empty() && found.is_ai());
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', command: [hf, download, org/m, --revision, abc]}"]);
    assert!(runtimes(&found).is_empty());
    assert_eq!((names(&found), only(&found).revision.as_deref()), (vec!["main org/m".to_owned()], Some("abc")));
    assert_eq!(categories(&found), ["data-preparation"]);
}

#[test]
fn what_an_init_container_downloads_is_the_model_that_the_server_loads() {
    let init = "[{name: get, image: 'python:3', command: [sh, -c, 'pip install hf && hf download org/m --local-dir /models/m']}]";
    let found = pod_with(
        &["{name: a, image: 'vllm/vllm-openai', args: [--model, /models/m], volumeMounts: [{name: v, mountPath: /models}]}"],
        init,
        "[{name: v, hostPath: {path: /data}}]",
    );
    let model = only(&found);
    assert_eq!(model.reference.id(), "org/m");
    assert_eq!(model.sources, BTreeSet::from(["/models/m".to_owned()]));
    assert_eq!(model.finding.needs.iter().map(ToString::to_string).collect::<Vec<_>>(), ["data/hostPath//data"]);
    assert_eq!(categories(&found), ["inference"]);
    // The same in one script.
    let found = pod(&["{name: a, image: x, command: [sh, -c, 'hf download org/m --local-dir /models/m; exec vllm serve /models/m']}"]);
    assert_eq!(only(&found).reference.id(), "org/m");
}

#[test]
fn python_code_that_downloads_names_its_repositories() {
    let code = "from huggingface_hub import snapshot_download\\nrepo = 'org/b'\\nsnapshot_download(repo_id=repo)\\nsnapshot_download('org/c')\\nx = os.environ['GET']\\nsnapshot_download(x)\\n'no/model'";
    let found = pod(&[&format!(
        r#"{{name: a, image: 'vllm/vllm-openai', command: [python3, -c, "{code}"], env: [{{name: GET, value: org/a}}, {{name: OTHER, value: org/d}}]}}"#
    )]);
    assert_eq!(names(&found), ["main org/a", "main org/b", "main org/c"]);
    assert!(runtimes(&found).is_empty());
    // Nobody follows a value through an object; the variable that the code names is the best guess.
    let code = "import os\\nsettings = Settings(os.environ['GET'])\\nsnapshot_download(settings.repo)";
    let found = pod(&[&format!(
        r#"{{name: a, image: x, command: [python3, -c, "{code}"], env: [{{name: GET, value: org/a}}, {{name: OTHER, value: org/d}}]}}"#
    )]);
    assert_eq!(names(&found), ["main org/a"]);
    let script = "python3 - <<'PY'\\nfrom huggingface_hub import snapshot_download\\nsnapshot_download(repo_id='org/b')\\nPY\\n";
    let found = pod(&[&format!(r#"{{name: a, image: 'python:3', command: [bash, -c, "{script}"]}}"#)]);
    assert_eq!(names(&found), ["main org/b"]);
}

#[test]
fn a_computed_program_in_a_known_image_is_taken_for_the_images_own() {
    let found = pod(&[r#"{name: a, image: 'vllm/vllm-openai', command: [sh, -c, 'exec "$(python3 -c x)" serve org/m --port 1']}"#]);
    assert_eq!(names(&found), ["main org/m"]);
}

#[test]
fn a_protected_blank_in_front_of_an_option_is_no_part_of_it() {
    let found = pod(&[r"{name: a, image: x, command: [sh, -c, 'python3 -m dynamo.vllm \\ --model org/m \\ --served-model-name m']}"
        .replace("\\\\", "\\")
        .as_str()]);
    assert_eq!(names(&found), ["main org/m"]);
    assert_eq!(only(&found).served, BTreeSet::from(["m".to_owned()]));
}

#[test]
fn a_tokenizer_from_a_copy_of_the_model_is_not_another_one() {
    for path in ["/cache/models--org--m/snapshots/1", "/models/org/m", "/models/m/", "org/m"] {
        let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', args: [--model, org/m, --tokenizer, {path}]}}")]);
        assert_eq!(names(&found), ["main org/m"], "{path}");
    }
}

#[test]
fn a_training_script_reads_its_base_model_from_a_conventional_variable() {
    let found = pod(&[
        "{name: a, image: 'acme/train:1', command: [accelerate, launch, train.py], env: [{name: MODEL_NAME, value: org/m}, {name: MODEL_PATH, value: /out}]}",
    ]);
    assert_eq!(names(&found), ["base org/m"]);
    assert_eq!(only(&found).finding.confidence, Confidence::Inferred);
    let found = pod(&["{name: a, image: 'acme/train:1', command: [accelerate, launch, train.py], env: [{name: MODEL_NAME, value: m}]}"]);
    assert!(found.models.is_empty() && found.is_ai());
}

#[test]
fn a_script_that_is_called_a_download_runs_no_engine() {
    let found = pod(&["{name: a, image: 'nvcr.io/nvidia/tritonserver:25.01-py3', command: [/scripts/fetch_model.sh]}"]);
    assert!(runtimes(&found).is_empty() && found.unresolved.is_empty());
    assert_eq!(categories(&found), ["data-preparation"]);
    let found = pod(&["{name: a, image: 'nvcr.io/nim/acme/model-x:1.0', args: [download-to-cache]}"]);
    assert_eq!((names(&found), runtimes(&found).len()), (vec!["main acme/model-x".to_owned()], 0));
}

#[test]
fn the_command_says_more_than_the_image() {
    let found = pod(&["{name: a, image: 'lmcache/vllm-openai:latest', command: [lmcache_server, 0.0.0.0, '8080']}"]);
    assert!(runtimes(&found).is_empty() && names(&found).is_empty());
    let found = pod(&["{name: a, image: 'rayproject/ray:2.52.0', command: [bash, -c, 'ray start --head --port=6379; vllm serve org/m']}"]);
    assert_eq!((runtimes(&found), names(&found)), (vec!["ray", "vllm"], vec!["main org/m".to_owned()]));
}

#[test]
fn sidecars_and_init_containers_are_told_apart() {
    let init = "[{name: i, image: 'busybox:1'}, {name: s, image: 'busybox:1', restartPolicy: Always}]";
    let found = pod_with(&["{name: a, image: 'nginx:1'}"], init, "[]");
    let classes: BTreeMap<&str, ContainerClass> =
        found.images.iter().flat_map(|image| &image.containers).map(|used| (used.name.as_str(), used.class)).collect();
    assert_eq!(classes, BTreeMap::from([("a", ContainerClass::Main), ("i", ContainerClass::Init), ("s", ContainerClass::Sidecar)]));
    assert_eq!(found.images.len(), 2);
}

#[test]
fn malformed_containers_are_problems_and_the_rest_is_read() {
    let found = pod(&[
        "{name: a, image: 'vllm/vllm-openai', args: 'not a list', command: {}}",
        "7",
        "{name: b, image: 5}",
        "{name: c, image: 'nginx:1', args: [1, [2]]}",
    ]);
    assert_eq!(found.images.len(), 2);
    assert_eq!(found.problems.len(), 6, "{:?}", found.problems);
    let yaml = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: {}}}}\n";
    let found = read(
        yaml,
        &Report {
            pod_templates: vec![template("/spec/template", "", Duty::Unknown), template("/nowhere", "n", Duty::Engine)],
            ..Report::default()
        },
    );
    assert_eq!(found.problems.len(), 1);
}

#[test]
fn an_image_that_is_no_reference_is_kept_and_unresolved() {
    let found = pod(&["{name: a, image: '${IMAGE}'}"]);
    assert_eq!(found.images[0].written, "${IMAGE}");
    assert!(found.images[0].reference.is_none());
    assert_eq!(unresolved(&found), [format!("image placeholder {BASE}/image ${{IMAGE}}")]);
}

#[test]
fn hosted_services_are_known_by_key_url_and_host_and_others_in_the_cluster_are_not() {
    let services = |env: &str| {
        let found = pod(&[&format!("{{name: a, image: 'acme/app:1', env: [{env}]}}")]);
        found
            .services
            .iter()
            .map(|service| format!("{} {}", service.finding.key.name, service.endpoints.iter().cloned().collect::<String>()))
            .collect::<Vec<_>>()
    };
    assert_eq!(services("{name: OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}"), ["openai "]);
    assert_eq!(services("{name: OPENAI_BASE_URL, value: 'https://u:p@api.openai.com/v1/?x=y'}"), ["openai https://api.openai.com/v1"]);
    assert_eq!(
        services("{name: OPENAI_API_KEY, value: x}, {name: OPENAI_BASE_URL, value: 'http://vllm.ns.svc:8000/v1'}"),
        Vec::<String>::new()
    );
    assert_eq!(services("{name: JUDGE, value: 'https://corp.openai.azure.com'}"), ["azure-openai https://corp.openai.azure.com"]);
    assert_eq!(services("{name: HF_TOKEN, value: x}, {name: NGC_API_KEY, value: y}"), Vec::<String>::new());
}

#[test]
fn a_secret_of_a_script_is_in_no_fact() {
    let found = pod(&[
        "{name: a, image: 'vllm/vllm-openai', command: [sh, -c, 'TOKEN=s3cretvalue; vllm serve org/m --served-model-name $TOKEN --revision $TOKEN']}",
    ]);
    assert_eq!(names(&found), ["main org/m"]);
    assert!(!format!("{found:?}").replace("TOKEN=s3cretvalue", "").contains("s3cretvalue"), "{found:?}");
    assert!(only(&found).served.is_empty());
}

#[test]
fn a_name_in_code_is_the_whole_name() {
    let code = "other_repo = 'org/left'\nrepo_too = 'org/longer'\nrepo == 'org/compared'\nrepo = 'org/m'\nsnapshot_download(repo)\n";
    let json = serde_json::json!({"name": "a", "image": "python:3", "command": ["python3", "-c", format!("from huggingface_hub import snapshot_download\n{code}")]});
    assert_eq!(names(&pod(&[&json.to_string()])), ["main org/m"]);
}

#[test]
fn a_hook_after_the_start_pulls_the_models_that_the_server_has() {
    let hook = "lifecycle: {postStart: {exec: {command: [/bin/sh, -c, 'sleep 5; ollama pull small:1b && ollama pull org/other:latest']}}}";
    let found = pod(&[&format!("{{name: a, image: 'ollama/ollama:0.5.4', {hook}}}")]);
    assert_eq!(names(&found), ["main org/other:latest", "main small:1b"]);
    assert_eq!(runtimes(&found), ["ollama"]);
    assert!(unresolved(&found).is_empty());
    assert_eq!(found.models[1].finding.evidence[0].at.pointer.as_str(), format!("{BASE}/lifecycle/postStart/exec/command/2"));
}

#[test]
fn the_address_of_a_server_and_an_image_are_no_models() {
    for no_model in [
        "http://localhost:8000",
        "http://127.0.0.1:8080/models/m",
        "http://[::1]:80/m",
        "http://vllm:8000/v1",
        "http://vllm.ns.svc:8000",
        "https://api.example.com/v1/models",
        "acme/app:latest",
        "acme/app:1.2.3",
        "registry.example.com/acme/app:dev",
    ] {
        let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai', args: [--model, '{no_model}']}}")]);
        assert!(found.models.is_empty(), "{no_model}: {:?}", names(&found));
    }
    let found = pod(&["{name: a, image: 'vllm/vllm-openai', args: [--model, 'https://files.example.com/m.gguf']}"]);
    assert_eq!(names(&found), ["main https://files.example.com/m.gguf"]);
}

#[test]
fn a_copy_of_an_image_may_count_by_versions_of_its_own() {
    let version = |image: &str| pod(&[&format!("{{name: a, image: '{image}', args: [--model, org/m]}}")]).runtimes[0].version.clone();
    assert_eq!(version("vllm/vllm-openai:v0.8.5").as_deref(), Some("v0.8.5"));
    assert_eq!(version("registry.example.com/acme/vllm/vllm-openai:v7.1"), None);
}

#[test]
fn a_positional_model_behind_an_option_that_nobody_knows_is_the_second_word() {
    let found = pod(&["{name: a, image: x, command: [trtllm-serve, --unheard-of, '8000', org/m]}"]);
    assert_eq!(names(&found), ["main org/m"]);
    for unclear in ["--unheard-of, org/m", "--unheard-of, a, org/m", "--unheard-of, '1', b", "--unheard-of, '1', b, org/m"] {
        assert!(pod(&[&format!("{{name: a, image: x, command: [trtllm-serve, {unclear}]}}")]).models.is_empty(), "{unclear}");
    }
}

#[test]
fn a_script_of_a_configuration_is_where_the_model_is_named() {
    let found = pod_with(
        &["{name: a, image: 'vllm/vllm-openai:v1.0', command: [bash, /scripts/start.sh], volumeMounts: [{name: s, mountPath: /scripts/}]}"],
        "[]",
        "[{name: s, configMap: {name: starters}}]",
    );
    assert_eq!(unresolved(&found), [format!("model configmap {BASE}/command/1 starters")]);
}
