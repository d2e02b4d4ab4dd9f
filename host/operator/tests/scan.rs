//! `k8s-aibom scan` as its users run it.

mod common;

use std::fs;

use common::{components, document, full_name, property, run, run_with_input};

const SERVER: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: talker, namespace: demo}
spec:
  template:
    spec:
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.8.5
        args: [--model, acme/talker-7b]
";

const WEB: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    spec:
      containers:
      - {name: web, image: 'nginx:1.27'}
";

#[test]
fn a_manifest_goes_in_and_a_document_comes_out() {
    let document = document(SERVER);
    let models = components(&document, "machine-learning-model");
    assert_eq!(models.iter().map(|model| full_name(model)).collect::<Vec<_>>(), ["acme/talker-7b"]);
    assert_eq!(models[0]["purl"], "pkg:huggingface/acme/talker-7b");
    let runtimes = components(&document, "application");
    assert_eq!(runtimes.iter().map(|runtime| full_name(runtime)).collect::<Vec<_>>(), ["vllm"]);
    assert_eq!(property(components(&document, "container")[0], "image.reference"), ["vllm/vllm-openai:v0.8.5"]);
    assert_eq!(document["metadata"]["timestamp"], "2023-11-14T22:13:20Z");
}

#[test]
fn equal_input_gives_equal_bytes() {
    let first = run_with_input(&["scan", "-", "--output", "cyclonedx"], SERVER);
    let second = run_with_input(&["scan", "-", "--output", "cyclonedx"], SERVER);
    assert_eq!(first.out, second.out);
}

#[test]
fn every_object_gets_one_line_of_json_and_ends_with_zero_when_kinds_have_no_scraper() {
    let text = format!("{SERVER}---\n{WEB}---\n---\napiVersion: v1\nkind: Service\nmetadata: {{name: front}}\n");
    let run = run_with_input(&["scan", "-", "-o", "json"], &text);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines = run.lines();
    let outcomes: Vec<_> = lines.iter().map(|line| (line["doc"].as_u64().unwrap(), line["outcome"].as_str().unwrap())).collect();
    assert_eq!(outcomes, [(0, "documented"), (1, "not-ai"), (3, "no-scraper")]);
    assert_eq!(lines[0]["apiVersion"], "apps/v1");
    assert_eq!(lines[0]["namespace"], "demo");
    assert!(lines[1]["namespace"].is_null());
    assert!(lines[0]["document"].is_object() && lines[1]["document"].is_null());
}

#[test]
fn a_bad_document_is_named_with_its_place_and_the_rest_is_done() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), format!("{SERVER}---\nkey: [1, 2\nother: 3\n---\n{WEB}")).unwrap();
    fs::write(folder.path().join("b.yaml"), SERVER).unwrap();
    fs::write(folder.path().join("c.yaml"), b"a: \xff\n").unwrap();
    let run = run(&["scan", folder.path().to_str().unwrap(), "-o", "json"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.lines().len(), 3);
    assert!(run.err.contains("a.yaml, document 1, line 13, column 6: "), "{}", run.err);
    assert!(run.err.contains("c.yaml is no UTF-8 text"), "{}", run.err);
}

#[test]
fn a_part_that_could_not_be_read_is_told_of_an_object_without_document() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: odd}\nspec: {containers: {a: {image: vllm/vllm-openai}}}\n";
    let run = run_with_input(&["scan", "-", "-o", "json"], text);
    assert_eq!((run.code, run.lines()[0]["outcome"].as_str()), (0, Some("not-ai")), "{}", run.err);
    assert!(run.lines()[0]["reason"].as_str().unwrap().contains("/spec/containers"), "{}", run.out);
    assert!(run.err.contains("warning: stdin:4: v1/Pod/odd: "), "{}", run.err);
}

#[test]
fn lists_and_json_are_read() {
    let list = r#"{"apiVersion":"v1","kind":"List","items":[
        {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"one"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"vllm/vllm-openai:v1","args":["--model=acme/a"]}]}}}},
        {"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"two"},"spec":{"template":{"spec":{"containers":[{"name":"c","image":"vllm/vllm-openai:v1","args":["--model","acme/b"]}]}}}}]}"#;
    let run = run_with_input(&["scan", "-", "-o", "json"], list);
    let lines = run.lines();
    assert_eq!(lines.iter().map(|line| line["item"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1]);
    assert!(lines.iter().all(|line| line["outcome"] == "documented"), "{}", run.out);
    // Pointers are those of the object, not of the list.
    let text = run.out;
    assert!(text.contains("#/spec/template/spec/containers/0/args/0"), "{text}");
    assert!(!text.contains("/items/"), "{text}");
}

#[test]
fn the_table_names_workloads_and_their_models() {
    let run = run_with_input(&["scan", "-"], &format!("{SERVER}---\n{WEB}"));
    assert!(run.out.lines().next().unwrap().contains("NAMESPACE"), "{}", run.out);
    let row = run.out.lines().nth(1).unwrap();
    for word in ["demo", "Deployment", "talker", "inference", "vllm", "acme/talker-7b"] {
        assert!(row.contains(word), "{word} is missing in: {row}");
    }
    assert!(!run.out.contains("shop"), "{}", run.out);
    assert!(run.err.contains("2 objects in 1 file: 1 AI workload, 1 without AI"), "{}", run.err);
}

#[test]
fn documents_go_to_a_folder_one_per_workload() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("boms");
    let run = run_with_input(&["scan", "-", "--out-dir", target.to_str().unwrap()], &format!("{SERVER}---\n{SERVER}---\n{WEB}"));
    assert_eq!(run.code, 0, "{}", run.err);
    let mut names: Vec<_> = fs::read_dir(&target).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["demo.deployment.apps.talker..2.cdx.json", "demo.deployment.apps.talker.cdx.json"]);
    let text = fs::read_to_string(target.join(&names[1])).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["bomFormat"], "CycloneDX");
}

#[test]
fn kinds_narrow_the_scan() {
    let text = format!(
        "{SERVER}---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{containers: [{{name: c, image: ollama/ollama}}]}}\n"
    );
    let run = run_with_input(&["scan", "-", "-o", "json", "--kinds", "pod,batch/Job"], &text);
    assert_eq!(run.lines().iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect::<Vec<_>>(), ["Pod"]);
}

#[test]
fn a_broken_plugin_is_named_and_the_others_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(common::plugins().join("workloads.wasm"), folder.path().join("workloads.wasm")).unwrap();
    fs::write(folder.path().join("broken.wasm"), b"\0asm\x01\0\0\0").unwrap();
    fs::write(folder.path().join("native.wasm"), b"\x7fELF and more").unwrap();
    let run = run_with_input(&["scan", "-", "-o", "json", "--plugins", folder.path().to_str().unwrap()], SERVER);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("broken") && run.err.contains("native"), "{}", run.err);
    assert_eq!(run.lines()[0]["outcome"], "documented");
}

#[test]
fn two_plugins_for_one_kind_are_a_conflict_that_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.wasm", "b.wasm"] {
        fs::copy(common::plugins().join("workloads.wasm"), folder.path().join(name)).unwrap();
    }
    let run = run_with_input(&["scan", "-", "-o", "json", "--plugins", folder.path().to_str().unwrap()], SERVER);
    let lines = run.lines();
    assert_eq!(run.code, 2);
    assert!(run.err.contains("apps/Deployment is claimed by the scrapers a and b"), "{}", run.err);
    assert_eq!(lines[0]["outcome"], "no-scraper");
    assert!(lines[0]["reason"].as_str().unwrap().contains("a and b"), "{}", lines[0]);
}

#[test]
fn nothing_to_do_is_an_error_that_says_what_to_do() {
    let nothing = run(&["scan"]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.err.contains("helm template"), "{}", nothing.err);
    let missing = run(&["scan", "no/such/file.yaml"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("no/such/file.yaml"), "{}", missing.err);
    let empty = tempfile::tempdir().unwrap();
    let no_plugins = run(&["scan", "-", "--plugins", empty.path().to_str().unwrap()]);
    assert_eq!(no_plugins.code, 1);
    assert!(no_plugins.err.contains("--plugins"), "{}", no_plugins.err);
    assert_eq!(run(&["scan", "-", "--output", "xml"]).code, 1);
    assert_eq!(run(&["--help"]).code, 0);
}

#[test]
fn no_secret_leaves_in_any_form() {
    let secret = "hf_abcdefghijklmnopqrstuvwxyz012345";
    let manifest = format!(
        "apiVersion: apps/v1
kind: Deployment
metadata: {{name: leaky, namespace: demo}}
spec:
  template:
    spec:
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.8.5
        args: [--model, 's3://user:{secret}@bucket/weights', --api-key, {secret}, --served-model-name, {secret}]
        env:
        - {{name: HF_TOKEN, value: {secret}}}
        - {{name: MODEL_ID, value: {secret}}}
"
    );
    for form in ["json", "table", "cyclonedx"] {
        let run = run_with_input(&["scan", "-vv", "-", "-o", form], &manifest);
        assert!(!run.out.contains(secret) && !run.err.contains(secret), "{form}: {}{}", run.out, run.err);
    }
}

/// Appendix A of the study of the peer: it lists two models where there is one.
#[test]
fn a_model_named_by_flag_and_variable_is_one_model_with_two_pieces_of_evidence() {
    let document = document(
        "apiVersion: apps/v1
kind: StatefulSet
metadata: {name: embed, namespace: rag}
spec:
  template:
    spec:
      initContainers:
      - {name: fetch, image: 'alpine:3.20'}
      containers:
      - name: tei
        image: ghcr.io/huggingface/text-embeddings-inference:1.5
        args: [--model-id, BAAI/bge-m3]
        env: [{name: MODEL_NAME, value: bge}]
        volumeMounts: [{name: w, mountPath: /models/bge}]
      volumes:
      - name: w
        persistentVolumeClaim: {claimName: weights-pvc}
",
    );
    let models = components(&document, "machine-learning-model");
    assert_eq!(models.iter().map(|model| full_name(model)).collect::<Vec<_>>(), ["BAAI/bge-m3"]);
    let occurrences = models[0]["evidence"]["occurrences"].as_array().unwrap();
    let locations: Vec<_> = occurrences.iter().map(|occurrence| occurrence["location"].as_str().unwrap()).collect();
    assert_eq!(
        locations,
        [
            "apps/v1/StatefulSet/rag/embed#/spec/template/spec/containers/0/args/1",
            "apps/v1/StatefulSet/rag/embed#/spec/template/spec/containers/0/env/0/value"
        ]
    );
    let images: Vec<_> = components(&document, "container").iter().flat_map(|image| property(image, "image.reference")).collect();
    assert_eq!(images, ["alpine:3.20", "ghcr.io/huggingface/text-embeddings-inference:1.5"]);
    let runtimes = components(&document, "application");
    assert_eq!((full_name(runtimes[0]), runtimes[0]["version"].as_str()), ("tei".to_owned(), Some("1.5")));
    let volumes: Vec<_> = components(&document, "data").iter().map(|data| full_name(data)).collect();
    assert_eq!(volumes, ["weights-pvc"]);
}

#[test]
fn a_table_names_files_when_names_alone_do_not_tell_objects_apart() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("dev.yaml"), SERVER).unwrap();
    let one = run(&["scan", folder.path().to_str().unwrap()]);
    assert!(!one.out.contains("FILE") && !one.out.contains("dev.yaml"), "{}", one.out);
    fs::write(folder.path().join("prod.yaml"), SERVER).unwrap();
    let two = run(&["scan", folder.path().to_str().unwrap()]);
    let rows: Vec<&str> = two.out.lines().collect();
    assert!(rows[0].ends_with("FILE") && rows[1].ends_with("dev.yaml") && rows[2].ends_with("prod.yaml"), "{}", two.out);
}

/// A server whose model stands in a `ConfigMap`.
const ELSEWHERE: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: talker, namespace: demo}
spec:
  template:
    spec:
      containers:
      - name: engine
        image: vllm/vllm-openai:v0.8.5
        command: [vllm, serve, $(MODEL)]
        env:
        - {name: MODEL, valueFrom: {configMapKeyRef: {name: settings, key: model}}}
";

#[test]
fn a_model_that_cannot_be_read_is_a_question_mark_in_the_table() {
    let cells = |text: &str| -> Vec<String> {
        let run = run_with_input(&["scan", "-", "-q"], text);
        run.out.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(cells(ELSEWHERE)[5..], ["?", "declared"]);
    let with_draft = ELSEWHERE.replace("$(MODEL)]", "acme/talker-7b, --speculative-model, $(MODEL)]");
    assert_eq!(cells(&with_draft)[5..], ["acme/talker-7b,", "?", "(draft)", "declared"]);
    assert_eq!(cells(SERVER)[5..], ["acme/talker-7b", "inferred"]);
}

/// An object that names another one, and that other one.
const SERVICE: &str = "apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: talker, namespace: demo}
spec:
  predictor:
    model:
      modelFormat: {name: vLLM}
      runtime: house-runtime
      storageUri: hf://acme/talker-7b
";
const RUNTIME: &str = "apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: house-runtime, namespace: demo}
spec:
  containers:
  - name: kserve-container
    image: vllm/vllm-openai:v0.9.1
    args: [--max-model-len=4096]
";

#[test]
fn an_object_that_is_named_and_not_among_the_inputs_is_unresolved() {
    let missing = |arguments: &[&str], text: &str| -> Vec<String> {
        let run = run_with_input(&[&["scan", "-", "-o", "json"], arguments].concat(), text);
        assert_eq!(run.code, 0, "{}", run.err);
        let lines = run.lines();
        let line = lines.iter().find(|line| line["kind"] == "InferenceService").unwrap();
        let root = &line["document"]["metadata"]["component"];
        property(root, "aibom.unresolved.object").into_iter().map(str::to_owned).collect()
    };
    let place = "serving.kserve.io/v1beta1/InferenceService/demo/talker#/spec/predictor/model/runtime";
    assert_eq!(missing(&[], SERVICE), [format!("not-found house-runtime at {place}")]);
    assert!(missing(&[], &format!("{SERVICE}---\n{RUNTIME}")).is_empty());
    assert!(missing(&["--alone"], SERVICE).is_empty(), "nobody looked for it");
}

#[test]
fn an_object_that_is_read_for_others_is_not_listed_as_unread() {
    let run =
        run_with_input(&["scan", "-"], &format!("{SERVICE}---\n{RUNTIME}---\napiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n"));
    assert!(run.err.contains("1 read for others, 1 of kinds without a scraper"), "{}", run.err);
    assert!(run.err.contains("no scraper reads: v1 Service (1)\n"), "{}", run.err);
}

#[test]
fn a_scan_of_nothing_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.yaml");
    fs::write(&empty, "").unwrap();
    for path in ["-", folder.path().to_str().unwrap(), empty.to_str().unwrap()] {
        for form in ["table", "json", "cyclonedx"] {
            let run = run(&["scan", "-q", path, "-o", form]);
            assert_eq!(run.code, 2, "{path} {form}");
            assert_eq!(run.err, "error: no Kubernetes object among the inputs\n", "{path} {form}");
        }
    }
    let no_object = run_with_input(&["scan", "-", "-q"], "a: 1\n");
    assert_eq!(no_object.code, 2, "{}", no_object.err);
    // Objects that nobody reads are objects.
    assert_eq!(run_with_input(&["scan", "-"], "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n").code, 0);
}

#[test]
fn kinds_that_match_nothing_are_told_and_no_success() {
    let run = run_with_input(&["scan", "-", "-q", "--kinds", "Deploymnet"], SERVER);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no object of Deploymnet among 1 object of the inputs"), "{}", run.err);
    assert!(!run.out.contains("no Kubernetes object") && !run.err.contains("no Kubernetes object"), "{}{}", run.out, run.err);
    assert!(run.err.contains("the scrapers read ") && run.err.contains("apps/StatefulSet, "), "{}", run.err);
}

#[test]
fn a_kind_that_is_none_is_told_beside_those_that_are() {
    let run = run_with_input(&["scan", "-", "-q", "--kinds", "Deployment,v1/Pod,apps/StatefulSet,job"], SERVER);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("warning: `v1/Pod` of --kinds") && run.err.contains("Pod, apps/DaemonSet, "), "{}", run.err);
    // A kind that is read and does not occur is no slip, and one that only occurs is met.
    assert!(!run.err.contains("`apps/StatefulSet` of") && !run.err.contains("`job` of"), "{}", run.err);
    let service = format!("{SERVER}---\napiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n");
    let run = run_with_input(&["scan", "-", "-q", "--kinds", "Deployment,Service"], &service);
    assert!(!run.err.contains("warning"), "{}", run.err);
    // The core group has a name where a group is written.
    let run = run_with_input(&["scan", "-", "-q", "--kinds", "core/service,Core/Pod"], &service);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(!run.out.contains("talker"), "{}", run.out);
}

#[test]
fn a_name_that_is_no_text_is_told_with_its_line() {
    let text = SERVER.replace("{name: talker, namespace: demo}", "{name: 123, namespace: 7}");
    let run = run_with_input(&["scan", "-", "-o", "json"], &text);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("warning: stdin:3: ") && run.err.contains("metadata.name is no text"), "{}", run.err);
    assert!(run.err.contains("metadata.namespace is no text"), "{}", run.err);
    let lines = run.lines();
    let root = &lines[0]["document"]["metadata"]["component"];
    assert_eq!(property(root, "aibom.problem").len(), 2, "{root}");
}

#[test]
fn what_is_wrong_with_an_object_is_told_a_line_each_although_there_is_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.yaml");
    fs::write(&path, format!("# one line more\n{}", SERVER.replace("acme/talker-7b]", "acme/talker-7b, {a: b}, {c: d}]"))).unwrap();
    let run = run(&["scan", path.to_str().unwrap(), "-o", "json"]);
    assert_eq!(run.lines()[0]["outcome"], "documented");
    let warnings: Vec<&str> = run.err.lines().filter(|line| line.starts_with("warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{}", run.err);
    assert!(warnings[0].starts_with(&format!("warning: {}:11: apps/v1/Deployment/demo/talker: ", path.display())), "{}", run.err);
    assert!(warnings[0].ends_with(" at `/spec/template/spec/containers/0/args/2`"), "{}", run.err);
}

#[test]
fn the_log_tells_what_came_of_each_object() {
    let run =
        run_with_input(&["scan", "-vv", "-"], &format!("{SERVER}---\n{WEB}---\napiVersion: v1\nkind: Service\nmetadata: {{name: s}}\n"));
    let said =
        |object: &str, what: &str| run.err.lines().any(|line| line.contains("DEBUG") && line.contains(object) && line.contains(what));
    assert!(said("apps/v1/Deployment/demo/talker", "documented"), "{}", run.err);
    assert!(said("apps/v1/Deployment/shop", "no AI workload"), "{}", run.err);
    assert!(said("kind=\"Service\"", "not scraped"), "{}", run.err);
}

#[test]
fn an_object_in_place_of_a_file_gets_a_hint_how_to_explain_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.yaml");
    fs::write(&path, SERVER).unwrap();
    let mistaken = run(&["scan", "--explain", "talker", path.to_str().unwrap()]);
    assert_eq!(mistaken.code, 2);
    assert!(mistaken.err.contains("write --explain=talker"), "{}", mistaken.err);
    assert!(!run(&["scan", "--explain", path.to_str().unwrap()]).err.contains("--explain="));
}

#[test]
fn an_empty_variable_for_plugins_counts_as_none() {
    let run = common::command(&["scan", "--help"]).env("K8S_AIBOM_PLUGINS", "").output().unwrap();
    assert!(run.status.success());
    let folder = common::plugins();
    let run = common::command(&["scan", "-", "-q", "--plugins", folder.to_str().unwrap()])
        .env("K8S_AIBOM_PLUGINS", "")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&run.stderr), "error: no Kubernetes object among the inputs\n");
}

/// Names of the properties in documents of the examples, without those that scrapers choose.
fn property_names(value: &serde_json::Value, names: &mut std::collections::BTreeSet<String>) {
    if let Some(list) = value["properties"].as_array() {
        names.extend(list.iter().filter_map(|property| property["name"].as_str()).map(str::to_owned));
    }
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| property_names(item, names)),
        serde_json::Value::Object(members) => members.values().for_each(|member| property_names(member, names)),
        _ => {}
    }
}

#[test]
fn every_property_of_the_examples_is_in_the_table_of_the_page_of_facts() {
    let page = fs::read_to_string(common::root().join("docs/facts.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Properties\n")).unwrap();
    let known: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let mut names = std::collections::BTreeSet::new();
    for line in run(&["scan", common::root().join("examples").to_str().unwrap(), "-o", "json"]).lines() {
        property_names(&line["document"], &mut names);
    }
    let of_scrapers = ["cronjob.", "dynamo.", "kserve.", "lws.", "nim."];
    let is_known = |name: &str| {
        known.iter().any(|entry| entry.split_once('<').map_or(*entry == name, |(prefix, _)| name.starts_with(prefix)))
            || of_scrapers.iter().any(|prefix| name.starts_with(prefix))
    };
    assert!(names.len() > 30, "{names:?}");
    let unknown: Vec<&String> = names.iter().filter(|name| !is_known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// An object of a dump: with a UID, and the object that controls it.
fn dumped(api_version: &str, kind: &str, name: &str, spec: &serde_json::Value, owner: Option<&serde_json::Value>) -> serde_json::Value {
    let mut object = serde_json::json!({
        "apiVersion": api_version, "kind": kind, "spec": spec,
        "metadata": { "name": name, "namespace": "demo", "uid": format!("uid-{kind}-{name}") },
    });
    if let Some(owner) = owner {
        object["metadata"]["ownerReferences"] = serde_json::json!([{
            "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": true,
        }]);
    }
    object
}

#[test]
fn in_a_dump_of_a_cluster_what_belongs_to_another_is_in_its_document() {
    let container = serde_json::json!({ "name": "engine", "image": "vllm/vllm-openai:v0.8.5", "args": ["--model", "acme/talker-7b"] });
    let proxy = serde_json::json!({ "name": "proxy", "image": "registry.example/mesh/proxy:2" });
    let pod = serde_json::json!({ "containers": [container, proxy] });
    let deployment =
        dumped("apps/v1", "Deployment", "talker", &serde_json::json!({ "template": { "spec": { "containers": [container] } } }), None);
    let mut set = dumped(
        "apps/v1",
        "ReplicaSet",
        "talker-1",
        &serde_json::json!({ "replicas": 2, "template": { "spec": { "containers": [container] } } }),
        Some(&deployment),
    );
    set["metadata"]["annotations"] = serde_json::json!({ "deployment.kubernetes.io/revision": "4" });
    let retired = dumped(
        "apps/v1",
        "ReplicaSet",
        "talker-0",
        &serde_json::json!({ "replicas": 0, "template": { "spec": { "containers": [
        { "name": "engine", "image": "vllm/vllm-openai:v0.8.5", "args": ["--model", "acme/earlier-7b"] },
    ] } } }),
        Some(&deployment),
    );
    let pods: Vec<_> = ["ab", "cd"]
        .iter()
        .map(|byte| {
            let mut pod = dumped("v1", "Pod", &format!("talker-1-{byte}"), &pod, Some(&set));
            pod["status"] = serde_json::json!({ "containerStatuses": [
                { "name": "engine", "image": "x", "imageID": format!("docker.io/vllm/vllm-openai@sha256:{}", byte.repeat(32)) },
            ] });
            pod
        })
        .collect();
    let lost = dumped(
        "apps/v1",
        "StatefulSet",
        "lost",
        &serde_json::json!({ "template": { "spec": { "containers": [
        { "name": "engine", "image": "vllm/vllm-openai:v0.8.5", "args": ["--model", "acme/lost-7b"] },
    ] } } }),
        Some(&dumped("example.com/v1", "Widget", "w", &serde_json::json!({}), None)),
    );
    // In an order in which nobody comes after those it belongs to.
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": [pods[0], retired, set, deployment, pods[1], lost] });
    let ran = run_with_input(&["scan", "-", "-o", "json"], &list.to_string());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let outcomes: Vec<(&str, &str)> =
        lines.iter().map(|line| (line["name"].as_str().unwrap(), line["outcome"].as_str().unwrap())).collect();
    let expected = [
        ("talker-1-ab", "part-of"),
        ("talker-0", "part-of"),
        ("talker-1", "part-of"),
        ("talker", "documented"),
        ("talker-1-cd", "part-of"),
        ("lost", "documented"),
    ];
    assert_eq!(outcomes, expected);
    assert!(ran.err.contains("2 AI workloads, 4 part of others"), "{}", ran.err);
    let document = &lines[3]["document"];
    let models: Vec<_> = components(document, "machine-learning-model").iter().map(|model| full_name(model)).collect();
    assert_eq!(models, ["acme/talker-7b"], "a revision that runs nothing says nothing");
    let images = components(document, "container");
    let image = |name: &str| images.iter().find(|image| full_name(image).contains(name)).unwrap();
    let digest = |byte: &str| format!("sha256:{} pods=1 container=engine revision=4", byte.repeat(32));
    assert_eq!(property(image("vllm"), "image.digest.pods"), [digest("ab"), digest("cd")]);
    assert_eq!(property(image("proxy"), "aibom.rollup.from"), ["Pod/talker-*"], "what was injected");
    let why = "a controller above it, Widget/w (example.com), is not among the objects that were read";
    assert_eq!(property(&lines[5]["document"]["metadata"]["component"], "aibom.rollup.unresolved"), [why]);
    // Each by itself, where that is asked for.
    let alone = run_with_input(&["scan", "-", "-o", "json", "--alone"], &list.to_string());
    assert!(alone.lines().iter().all(|line| line["outcome"] == "documented"), "{}", alone.out);
}
