use aibom_facts::inventory::{Category, Confidence, Source};
use aibom_facts::object::Locator;

use crate::tests::{categories, names, only, pod, runtimes, unresolved};

const BASE: &str = "/spec/template/spec/containers/0";

#[test]
fn a_model_in_a_variable_needs_another_sign() {
    for alone in [
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_NAME, value: x}]}",
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: org/m}]}",
        "{name: a, image: 'acme/app:1', command: [app, --model, resnet]}",
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, valueFrom: {configMapKeyRef: {name: c, key: k}}}]}",
        "{name: a, image: 'acme/app:1', resources: {limits: {nvidia.com/gpu: 1}}}",
        "{name: a, image: 'acme/app:1', env: [{name: DATA_MODEL, value: v1/orders}, {name: GPT, value: x}], resources: {limits: {nvidia.com/gpu: 1}}}",
    ] {
        let found = pod(&[alone]);
        assert!(!found.is_ai() && found.models.is_empty() && found.unresolved.is_empty(), "{alone}: {:?}", names(&found));
    }
    for together in [
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: org/m}, {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: s, key: k}}}]}",
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: org/m}, {name: MODEL_NAME, value: m}, {name: TENSOR_PARALLEL_SIZE, value: '2'}]}",
        "{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: org/m}], resources: {limits: {nvidia.com/gpu: 1}}}",
        "{name: a, image: 'acme/llm-app:1', env: [{name: MODEL, value: org/m}]}",
        "{name: a, image: 'acme/llm-app:1', command: [python, app.py, --model-name, org/m]}",
        "{name: a, image: 'acme/app:1', command: [python, serve_llm.py, --model, org/m]}",
    ] {
        let found = pod(&[together]);
        assert!(found.is_ai(), "{together}");
        assert_eq!(names(&found), ["main org/m"], "{together}");
        assert!(runtimes(&found).is_empty(), "{together}");
    }
    let found = pod(&["{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: acme/Llama-4-tiny}]}"]);
    assert_eq!((names(&found), only(&found).finding.confidence), (vec!["main acme/Llama-4-tiny".to_owned()], Confidence::Inferred));
}

#[test]
fn what_is_switched_off_and_what_an_address_is_called_are_no_signs() {
    for nothing in [
        "{name: a, image: 'acme/printer:1', env: [{name: MODEL_NAME, value: Jet-4}, {name: LLM_ENABLED, value: 'false'}]}",
        "{name: a, image: 'acme/site:1', env: [{name: MODEL, value: Corolla}, {name: LLM, value: 'off'}]}",
        "{name: a, image: 'rclone/rclone:1.66', args: [copy, 's3:backups/llama-farm-photos', /b]}",
        "{name: a, image: 'acme/fetcher:1', args: [clone, 'https://git.example.org/acme/llama-site', /src]}",
    ] {
        let found = pod(&[nothing]);
        assert!(!found.is_ai() && found.models.is_empty(), "{nothing}: {:?}", names(&found));
    }
}

#[test]
fn a_program_of_ones_own_in_an_image_with_a_library_works_with_the_model_that_it_is_told() {
    let of = |program: &str| {
        let env = "[{name: BASE_MODEL, value: acme/quill-7b}]";
        pod(&[&format!("{{name: a, image: 'pytorch/pytorch:2.6.0', command: [bash, {program}], env: {env}}}")])
    };
    for (program, category, model) in [
        ("/scripts/train.sh", "training", "base acme/quill-7b"),
        ("/scripts/finetune.sh", "fine-tuning", "base acme/quill-7b"),
        ("/scripts/run.sh", "training", "base acme/quill-7b"),
    ] {
        let found = of(program);
        assert_eq!((names(&found), categories(&found)), (vec![model.to_owned()], vec![category]), "{program}");
        assert_eq!(runtimes(&found), ["pytorch"], "{program}");
    }
}

#[test]
fn what_is_made_is_no_model_in_use() {
    let found = pod(&[
        "{name: a, image: 'acme/sft:1', env: [{name: HF_TOKEN, value: x}, {name: BASE_MODEL, value: org/m}, {name: NEW_MODEL, value: org/new}, {name: OUTPUT_MODEL_PATH, value: /out/m}]}",
    ]);
    assert_eq!(names(&found), ["base org/m"]);
    assert_eq!(categories(&found), ["fine-tuning"]);
}

#[test]
fn a_client_calls_the_model_that_it_names() {
    let found = pod(&[
        "{name: a, image: 'acme/asker:1', command: [python3, ask.py], env: [{name: VLLM_MODEL_NAME, value: small}, {name: VLLM_URL, value: 'http://vllm:8000'}]}",
    ]);
    assert_eq!(names(&found), ["target small"]);
    assert!(found.services.is_empty() && runtimes(&found).is_empty());
    let found = pod(&[
        "{name: a, image: 'python:3', command: [python3, calibrate.py], env: [{name: VLLM_ENDPOINT, value: x}, {name: MODEL_NAME, value: '${MODEL_NAME}'}]}",
    ]);
    assert_eq!(unresolved(&found), [format!("model template {BASE}/env/1/value ")]);
    assert_eq!(categories(&found), ["benchmark"]);
}

#[test]
fn the_model_of_a_hosted_service_grades_an_evaluation() {
    let found = pod(&[
        "{name: a, image: 'acme/mt-eval:1', env: [{name: MODEL_NAME, value: org/m}, {name: JUDGE_URL, value: 'https://x.openai.azure.com'}, {name: AZURE_OPENAI_DEPLOYMENT, value: gpt-9}]}",
    ]);
    assert_eq!(names(&found), ["judge gpt-9", "target org/m"]);
    assert_eq!(categories(&found), ["evaluation"]);
}

#[test]
fn second_models_in_variables_have_the_roles_of_their_names() {
    let found = pod(&[
        "{name: a, image: 'acme/rag:1', env: [{name: EMBEDDING_MODEL, value: org/e}, {name: RERANKER_MODEL_NAME, value: org/r}, {name: LLM_MODEL_ID, value: org/m}, {name: MODEL_DIR, value: /models}]}",
    ]);
    assert_eq!(names(&found), ["embedding org/e", "main org/m", "reranker org/r"]);
}

#[test]
fn a_model_from_elsewhere_is_unresolved_in_the_company_of_parameters() {
    let found = pod(&[
        "{name: a, image: 'replaced-by-kustomize', env: [{name: MODEL_ID, valueFrom: {configMapKeyRef: {name: c, key: k}}}, {name: MAX_MODEL_LEN, value: '1'}]}",
    ]);
    assert!(found.is_ai());
    let models: Vec<_> = unresolved(&found).into_iter().filter(|line| line.starts_with("model")).collect();
    assert_eq!(models, [format!("model configmap {BASE}/env/0/valueFrom/configMapKeyRef c")]);
}

#[test]
fn names_speak_only_where_nothing_else_does() {
    assert!(pod(&["{name: llm-coordinator, image: '${IMAGE}'}"]).is_ai());
    assert!(!pod(&["{name: llm-coordinator, image: 'acme/web:1'}"]).is_ai());
    assert!(!pod(&["{name: llm-cache, image: 'redis:7'}"]).is_ai());
    assert!(pod(&["{name: a, image: 'acme/llm-console:1'}"]).is_ai());
}

#[test]
fn a_directory_that_says_nothing_is_no_model() {
    let found = pod(&["{name: a, image: 'acme/llm:1', env: [{name: MODEL_PATH, value: /models}]}"]);
    assert!(found.is_ai() && found.models.is_empty());
    let found = pod(&["{name: a, image: 'acme/llm:1', env: [{name: MODEL_PATH, value: /models/m-7b}, {name: MODEL_NAME, value: m-7b}]}"]);
    assert_eq!(names(&found), ["main /models/m-7b"]);
}

#[test]
fn words_begin_at_signs_and_at_capitals() {
    let words = |text: &str| {
        let mut out = super::Words::new();
        super::signs::add_words(&mut out, text, &Locator::default(), Source::Derived);
        out.into_keys().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(words("Gemma3LLMTrain.py"), "gemma llm py train");
    assert_eq!(words("my_app-v2/x"), "app my");
    assert_eq!(words("ÄöLLM"), "llm");
}

#[test]
fn a_server_of_an_unknown_image_is_known_by_the_variables_of_its_engine() {
    let found = pod(&["{name: a, image: 'acme/serve:1', args: [--model, org/m], env: [{name: VLLM_SKIP_WARMUP, value: 'true'}]}"]);
    assert_eq!((names(&found), runtimes(&found)), (vec!["main org/m".to_owned()], vec!["vllm"]));
    assert_eq!(found.runtimes[0].finding.evidence[0].by, "VLLM_SKIP_WARMUP");
    let found = pod(&["{name: a, image: 'acme/ask:1', args: [--model, org/m], env: [{name: VLLM_URL, value: 'http://vllm'}]}"]);
    assert_eq!((names(&found), runtimes(&found).len()), (vec!["target org/m".to_owned()], 0));
}

#[test]
fn one_common_word_says_nothing_and_two_of_them_do() {
    assert!(!pod(&["{name: a, image: 'acme/train-timetable:1'}"]).is_ai());
    assert!(!pod(&["{name: a, image: 'acme/model-shop:1'}"]).is_ai());
    let found = pod(&["{name: a, image: 'acme/churn-ml:1', command: [python, -m, churn.train]}"]);
    assert_eq!(categories(&found), ["training"]);
}

#[test]
fn what_made_a_workload_one_of_ai_stands_beside_its_category() {
    let said = |container: &str| {
        let found = pod(&[container]);
        let pieces = found.categories.iter().flat_map(|(category, evidence)| evidence.iter().map(move |piece| (category, piece)));
        let line = |(category, piece): (&Category, &aibom_facts::inventory::Evidence)| {
            let place = piece.at.pointer.as_str().strip_prefix(BASE).unwrap_or(piece.at.pointer.as_str());
            assert_eq!(piece.value, category.as_str());
            format!("{} {} {} {place}", category.as_str(), piece.source.as_str(), piece.by)
        };
        pieces.map(line).collect::<Vec<_>>()
    };
    // The word that tells the category, then what tells that it is one of AI.
    assert_eq!(
        said("{name: a, image: 'acme/llm-gateway:1'}"),
        ["gateway image_pattern gateway /image", "gateway image_pattern llm /image"]
    );
    assert_eq!(
        said("{name: a, image: 'acme/app:1', command: [python, serve_llm.py]}"),
        ["inference derived serve /command/1", "inference derived llm /command/1"]
    );
    assert_eq!(
        said("{name: a, image: 'acme/app:1', env: [{name: HF_HOME, value: /x}, {name: LLM_CACHE, value: /y}]}"),
        ["inference env_var_name_present HF_HOME /env/0/value", "inference env_var_name_present LLM_CACHE /env/1/value"]
    );
    assert_eq!(
        said("{name: a, image: 'acme/app:1', env: [{name: MODEL_ID, value: org/m}], resources: {limits: {nvidia.com/gpu: 1}}}"),
        ["inference derived nvidia.com/gpu /resources/limits/nvidia.com~1gpu", "inference env_var_convention MODEL_ID /env/0/value"]
    );
    assert_eq!(
        said("{name: a, image: 'acme/app:1', command: [sh, -c, 'pip install -q transformers==4 && python app.py']}"),
        ["inference derived transformers /command/2"]
    );
    // A program that is known says it by its own words, an image by its pattern, a client by what it calls.
    assert_eq!(said("{name: a, image: 'acme/app:1', command: [vllm, serve, org/m]}"), ["inference container_arg vllm /command/0"]);
    assert_eq!(said("{name: a, image: 'ollama/ollama:0.6'}"), ["inference image_pattern ollama /image"]);
    assert_eq!(
        said("{name: a, image: 'acme/app:1', env: [{name: OPENAI_API_KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]}"),
        ["gateway env_var_name_present OPENAI_API_KEY /env/0/valueFrom/secretKeyRef"]
    );
}
