//! Defaults, rules of each section, and what one wrong section does to the others.

use serde_json::json;

use super::*;
use crate::config::SinkType;

fn spec(value: &Value) -> AibomControllerConfigSpec {
    serde_json::from_value(value.clone()).unwrap()
}

fn loaded(value: &Value) -> Loaded {
    let by_type = load(&spec(value), &Context::default(), None);
    let by_object = load_object(&json!({ "spec": value }), &Context::default(), None);
    assert_eq!(by_type, by_object, "the two ways of reading differ for {value}");
    by_type
}

/// The errors of a specification as they are shown.
fn errors(value: &Value) -> Vec<String> {
    loaded(value).errors.iter().map(ToString::to_string).collect()
}

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn nothing_at_all_is_every_default() {
    let nothing = Loaded { effective: Effective::default(), errors: vec![], unsupported: vec![] };
    assert_eq!(loaded(&json!({})), nothing);
    assert_eq!(load_object(&json!({}), &Context::default(), None), nothing);
    assert_eq!(load_object(&json!({ "spec": null }), &Context::default(), None), nothing);
    let empty = json!({ "discovery": {}, "bomGeneration": {}, "sinks": [], "logging": {}, "verification": {}, "plugins": [] });
    assert_eq!(loaded(&empty), nothing);
}

#[test]
fn the_defaults_are_those_of_the_go_operator() {
    let spec = serde_json::to_value(Effective::default().to_spec()).unwrap();
    assert_eq!(
        spec,
        json!({
            "discovery": { "namespaceSelector": { "matchLabels": { "aibom.k8saibom.dev/enabled": "true" } } },
            "bomGeneration": {
                "inlineThresholdBytes": 262_144,
                "staleThresholdReconciles": 3,
                "specVersion": "1.6",
                "propertyNames": "dotted",
            },
            "logging": { "level": "info", "format": "json" },
            "verification": { "enabled": false, "trustRootMode": "public", "perClaimTimeoutSeconds": 10, "cacheTTLMinutes": 1440 },
        })
    );
}

#[test]
fn a_selector_replaces_the_label_and_an_empty_one_selects_everything() {
    let default = Effective::default().namespaces;
    assert!(default.match_labels(&labels(&[("aibom.k8saibom.dev/enabled", "true")])));
    assert!(!default.match_labels(&labels(&[("aibom.k8saibom.dev/enabled", "yes")])) && !default.match_labels(&labels(&[])));
    assert_eq!(default.to_selector_string(), "aibom.k8saibom.dev/enabled=true");

    let all = loaded(&json!({ "discovery": { "namespaceSelector": {} } })).effective.namespaces;
    assert!(all.match_labels(&labels(&[])) && all.to_selector_string().is_empty());

    let own = json!({ "matchLabels": { "team": "ml" }, "matchExpressions": [
        { "key": "stage", "operator": "NotIn", "values": ["test"] },
        { "key": "owner", "operator": "Exists" },
        { "key": "tier", "operator": "In", "values": ["a", "b"] },
        { "key": "old", "operator": "DoesNotExist" },
    ]});
    let own = loaded(&json!({ "discovery": { "namespaceSelector": own } })).effective.namespaces;
    assert!(own.match_labels(&labels(&[("team", "ml"), ("owner", ""), ("tier", "b")])));
    for without in [
        labels(&[("aibom.k8saibom.dev/enabled", "true")]),
        labels(&[("team", "ml"), ("owner", ""), ("tier", "c")]),
        labels(&[("team", "ml"), ("owner", ""), ("tier", "a"), ("stage", "test")]),
        labels(&[("team", "ml"), ("owner", ""), ("tier", "a"), ("old", "")]),
    ] {
        assert!(!own.match_labels(&without), "{without:?}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_path_and_what_to_do() {
    let long = "x".repeat(300);
    let cases = [
        (
            json!({ "discovery": { "namespaceSelector": { "matchLabels": { "a b": "c" } } } }),
            vec!["spec.discovery.namespaceSelector.matchLabels: \"a b\" is no key of a label"],
        ),
        (
            json!({ "discovery": { "namespaceSelector": { "matchLabels": { "a": "b c" } } } }),
            vec![
                "spec.discovery.namespaceSelector.matchLabels[a]: \"b c\" is no value of a label; use up to 63 letters, digits, -, _ and .",
            ],
        ),
        (
            json!({ "discovery": { "namespaceSelector": { "matchExpressions": [{ "key": "a", "operator": "Is" }, { "key": "a", "operator": "In" }, { "key": "a", "operator": "Exists", "values": ["b"] }] } } }),
            vec![
                "spec.discovery.namespaceSelector.matchExpressions[0].operator: \"Is\" is no operator; use In, NotIn, Exists or DoesNotExist",
                "spec.discovery.namespaceSelector.matchExpressions[1].values: is empty; In needs at least one value",
                "spec.discovery.namespaceSelector.matchExpressions[2].values: must be empty; Exists takes no values",
            ],
        ),
        (
            json!({ "discovery": { "inferenceRuntimeImagePatterns": [{ "runtime": "", "pattern": "a" }, { "runtime": "quill", "pattern": long }] } }),
            vec![
                "spec.discovery.inferenceRuntimeImagePatterns[0].runtime: has length 0; use 1 to 64",
                "spec.discovery.inferenceRuntimeImagePatterns[1].pattern: has length 300; use 1 to 256",
            ],
        ),
        (
            json!({ "discovery": { "inferenceRuntimeImagePatterns": [{ "runtime": "quill", "pattern": "a(b" }] } }),
            vec!["spec.discovery.inferenceRuntimeImagePatterns[0].pattern: is no regular expression in the syntax of RE2: unclosed group"],
        ),
        (
            json!({ "discovery": { "workloadKinds": ["apps/Deployment", "Deployment"] } }),
            vec![
                "spec.discovery.workloadKinds[1]: \"Deployment\" names no kind; write group/Kind, for example apps/Deployment, or core/Pod for the core group",
            ],
        ),
        (
            json!({ "discovery": { "podTemplateKinds": [
                { "group": "Acme", "kind": "llm", "plural": "L", "version": "V1", "podTemplates": ["spec", "/a~2"] },
                { "group": "acme.example", "kind": "Llm", "plural": "llms", "version": "v1", "podTemplates": [] },
                { "group": "acme.example", "kind": "Llm", "plural": "llms", "version": "v1", "podTemplates": ["/spec/template"] },
            ] } }),
            vec![
                "spec.discovery.podTemplateKinds[0].group: \"Acme\" is no API group",
                "spec.discovery.podTemplateKinds[0].kind: \"llm\" is no kind",
                "spec.discovery.podTemplateKinds[0].plural: \"L\" is no name of a resource",
                "spec.discovery.podTemplateKinds[0].version: \"V1\" is no version of an API",
                "spec.discovery.podTemplateKinds[0].podTemplates[0]: \"spec\" is no JSON pointer; write for example /spec/template",
                "spec.discovery.podTemplateKinds[0].podTemplates[1]: \"/a~2\" is no JSON pointer; write for example /spec/template",
                "spec.discovery.podTemplateKinds[1].podTemplates: has length 0; use 1 to 16",
                "spec.discovery.podTemplateKinds[2]: acme.example/Llm is given twice; keep one",
            ],
        ),
        (
            json!({ "discovery": { "runtimes": { "entries": [{ "name": "quill" }, { "name": "quill" }], "disabled": [""] } } }),
            vec![
                "spec.discovery.runtimes.entries[1].name: quill is given twice; keep one",
                "spec.discovery.runtimes.disabled[0]: has length 0; use 1 to 64",
            ],
        ),
        (
            json!({ "bomGeneration": { "inlineThresholdBytes": 1023, "staleThresholdReconciles": 0 } }),
            vec![
                "spec.bomGeneration.inlineThresholdBytes: is 1023; use a number from 1024 to 1048576",
                "spec.bomGeneration.staleThresholdReconciles: is 0; use a number from 1 to 2147483647",
            ],
        ),
        (
            json!({ "bomGeneration": { "inlineThresholdBytes": 1_048_577 } }),
            vec!["spec.bomGeneration.inlineThresholdBytes: is 1048577; use a number from 1024 to 1048576"],
        ),
        (
            json!({ "verification": { "trustRootMode": "tufMirror", "perClaimTimeoutSeconds": 31, "cacheTTLMinutes": 0, "rekorURL": "ftp://a" } }),
            vec![
                "spec.verification.tufMirrorURL: is missing; it is needed with trustRootMode tufMirror",
                "spec.verification.rekorURL: must begin with https:// or http://",
                "spec.verification.perClaimTimeoutSeconds: is 31; use a number from 1 to 30",
                "spec.verification.cacheTTLMinutes: is 0; use a number from 1 to 10080",
            ],
        ),
        (
            json!({ "verification": { "trustRootMode": "staticBundle", "identities": [{}, { "subjectPattern": "[" }] } }),
            vec![
                "spec.verification.staticBundlePath: is missing; it is needed with trustRootMode staticBundle",
                "spec.verification.identities[0]: constrains nobody; give issuer, subjectPattern or both",
                "spec.verification.identities[1].subjectPattern: is no regular expression in the syntax of RE2: unclosed character class",
            ],
        ),
        (
            json!({ "plugins": [{ "name": "" }, { "name": "quill", "kinds": ["Llm"] }] }),
            vec![
                "spec.plugins[0].name: has length 0; use 1 to 64",
                "spec.plugins[1].kinds[0]: \"Llm\" names no kind; write group/Kind, for example apps/Deployment, or core/Pod for the core group",
            ],
        ),
    ];
    for (value, expected) in cases {
        assert_eq!(errors(&value), expected, "{value}");
    }
}

#[test]
fn what_is_wrong_with_a_sink_is_named_with_its_path() {
    let secret = json!({ "name": "s", "key": "k" });
    let bearer = json!({ "bearerToken": { "secretRef": secret } });
    let cases = [
        (json!({ "type": "GCS" }), vec!["gcs: is missing; it is needed with type GCS"]),
        (
            json!({ "type": "Webhook", "gcs": { "bucket": "abc" } }),
            vec!["webhook: is missing; it is needed with type Webhook", "gcs: does not go with type Webhook; remove one of them"],
        ),
        (json!({ "type": "GCS", "gcs": { "bucket": "ab" } }), vec!["gcs.bucket: has length 2; use 3 to 222"]),
        (
            json!({ "type": "GCS", "gcs": { "bucket": "abc", "credentialsSecretRef": { "name": "", "key": "k" } } }),
            vec!["gcs.credentialsSecretRef.name: has length 0; use 1 to 253"],
        ),
        (
            json!({ "type": "Webhook", "webhook": { "endpoint": "gopher://a" } }),
            vec!["webhook.endpoint: must begin with https:// or http://"],
        ),
        (
            json!({ "type": "Webhook", "webhook": { "endpoint": "http://a", "auth": bearer } }),
            vec!["webhook.endpoint: uses http, which would show the credentials of auth to everybody on the way; use https"],
        ),
        (
            json!({ "type": "Webhook", "webhook": { "endpoint": "https://a", "auth": { "bearerToken": { "secretRef": secret }, "mtls": { "clientCertSecretRef": secret, "clientKeySecretRef": secret } } } }),
            vec!["webhook.auth.mtls: does not go with bearerToken; remove one of them"],
        ),
    ];
    for (mut sink, expected) in cases {
        sink["name"] = json!("archive");
        let expected: Vec<String> = expected.iter().map(|rest| format!("spec.sinks[0].{rest}")).collect();
        assert_eq!(errors(&json!({ "sinks": [sink] })), expected, "{sink}");
    }
    for good in [
        json!({ "type": "GCS", "gcs": { "bucket": "abc", "pathTemplate": "{hash}.json", "credentialsSecretRef": secret } }),
        json!({ "type": "Webhook", "webhook": { "endpoint": "http://a" } }),
        json!({ "type": "Webhook", "webhook": { "endpoint": "https://a", "auth": bearer } }),
        json!({ "type": "Webhook", "webhook": { "endpoint": "https://a", "auth": {} } }),
    ] {
        let mut sink = good;
        sink["name"] = json!("archive");
        assert_eq!(errors(&json!({ "sinks": [sink] })), Vec::<String>::new(), "{sink}");
    }
}

fn bucket(name: &str, bucket: &str) -> Value {
    json!({ "name": name, "type": "GCS", "gcs": { "bucket": bucket } })
}

#[test]
fn every_sink_and_verification_is_said_to_be_unsupported() {
    let webhook = json!({ "name": "siem", "type": "Webhook", "webhook": { "endpoint": "https://bom.example.org" } });
    let made = loaded(&json!({ "sinks": [bucket("archive", "bom-archive"), webhook], "verification": { "enabled": true } }));
    assert!(made.is_valid());
    let features: Vec<_> = made.unsupported.iter().map(|entry| (entry.path.as_str(), entry.feature.clone())).collect();
    assert_eq!(
        features,
        [
            ("spec.sinks[archive]", Feature::Sink { name: "archive".to_owned(), type_: SinkType::Gcs }),
            ("spec.sinks[siem]", Feature::Sink { name: "siem".to_owned(), type_: SinkType::Webhook }),
            ("spec.verification.enabled", Feature::Verification),
        ]
    );
    assert_eq!(
        joined(&made.unsupported[..1]),
        "spec.sinks[archive]: the sink archive is not served: this version supports no sinks of type GCS, documents are in AIBOM objects only"
    );
}

#[test]
fn a_wrong_section_keeps_its_last_good_state_and_the_others_change() {
    let good = loaded(&json!({
        "discovery": { "workloadKinds": ["apps/Deployment"] },
        "bomGeneration": { "inlineThresholdBytes": 2048 },
        "logging": { "level": "warn" },
    }))
    .effective;
    let wrong = json!({
        "discovery": { "workloadKinds": ["nonsense"], "namespaceSelector": {} },
        "bomGeneration": { "inlineThresholdBytes": 1, "specVersion": "1.7" },
    });
    let made = load(&spec(&wrong), &Context::default(), Some(&good));
    assert_eq!(made.invalid_sections(), BTreeSet::from([Section::WorkloadKinds, Section::BomGeneration]));
    assert_eq!(made.effective.workload_kinds, good.workload_kinds);
    assert_eq!(made.effective.documents, good.documents, "a section is taken as a whole");
    assert!(made.effective.namespaces.match_labels(&labels(&[])), "the selector was right and is in force");
    assert_eq!(made.effective.logging, Logging::default(), "a section that was taken away has its default");
    let first = load(&spec(&wrong), &Context::default(), None);
    assert_eq!(first.effective.documents, Documents::default(), "without a good state before it is the default");
}

#[test]
fn a_wrong_sink_or_plugin_harms_no_other_one() {
    let good = loaded(&json!({ "sinks": [bucket("one", "first-bucket"), bucket("two", "second-bucket")], "plugins": [{ "name": "quill", "enabled": false }] })).effective;
    let changed = json!({ "sinks": [bucket("one", "x"), bucket("two", "third-bucket"), bucket("new", "y")], "plugins": [{ "name": "quill", "kinds": ["x"] }, { "name": "pen" }] });
    let made = load(&spec(&changed), &Context::default(), Some(&good));
    let buckets: Vec<_> = made.effective.sinks.iter().map(|sink| sink.gcs.as_ref().unwrap().bucket.as_str()).collect();
    assert_eq!(buckets, ["first-bucket", "third-bucket"], "the last good one, the new one, and none for what was never right");
    assert!(!made.effective.uses_plugin("quill") && made.effective.uses_plugin("pen") && made.effective.uses_plugin("unlisted"));
    assert_eq!(made.invalid_sections(), BTreeSet::from([Section::Sinks, Section::Plugins]));
}

#[test]
fn what_cannot_be_read_is_an_error_of_its_section_only() {
    let object = json!({ "spec": {
        "discovery": { "workloadKinds": "apps/Deployment", "namespaceSelector": {} },
        "sinks": [{ "name": "new", "type": "Carrier" }, bucket("archive", "bom-archive")],
        "logging": { "level": "loud" },
        "bomGeneration": { "inlineThresholdBytes": 4096, "unknown": true },
        "plugins": {},
    }});
    let last = Effective { sinks: spec(&json!({ "sinks": [bucket("new", "old-bucket")] })).sinks, ..Effective::default() };
    let made = load_object(&object, &Context::default(), Some(&last));
    let paths: Vec<&str> = made.errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(paths, ["spec.discovery.workloadKinds", "spec.sinks[0]", "spec.logging", "spec.plugins"]);
    assert!(made.errors[2].to_string().contains("loud"), "{}", made.errors[2]);
    assert!(made.effective.namespaces.match_labels(&labels(&[])));
    assert_eq!(made.effective.documents.inline_threshold_bytes, 4096);
    assert_eq!(made.effective.sinks.iter().map(|sink| sink.name.as_str()).collect::<Vec<_>>(), ["new", "archive"]);
}

#[test]
fn an_object_that_is_wrong_as_a_whole_keeps_everything() {
    let last = loaded(&json!({ "discovery": { "namespaceSelector": {} }, "sinks": [bucket("one", "first-bucket")] })).effective;
    for object in [json!({ "spec": "all" }), json!({ "spec": [] })] {
        let made = load_object(&object, &Context::default(), Some(&last));
        assert_eq!(made.effective, last);
        assert_eq!(made.invalid_sections().len(), Section::ALL.len());
        assert_eq!(joined(&made.errors), "spec: cannot be read (not an object); compare it with `kubectl explain`");
    }
    let made = load_object(&json!({ "spec": { "discovery": 1, "sinks": "none" } }), &Context::default(), Some(&last));
    assert_eq!(made.effective, last);
}

#[test]
fn a_kind_that_nothing_reads_is_named_with_those_that_are_known() {
    let known = BTreeSet::from([GroupKind::new("apps", "Deployment"), GroupKind::new("", "Pod")]);
    let context = Context { known_kinds: Some(&known), check_runtimes: None };
    let own = json!({ "group": "acme.example", "kind": "Llm", "plural": "llms", "version": "v1", "podTemplates": ["/spec/template"] });
    let value =
        json!({ "discovery": { "workloadKinds": ["apps/Deployments", "core/Pod", "acme.example/Llm"], "podTemplateKinds": [own] } });
    let made = load(&spec(&value), &context, None);
    assert_eq!(
        joined(&made.errors),
        "spec.discovery.workloadKinds[0]: apps/Deployments is not known; use one of: core/Pod, acme.example/Llm, apps/Deployment"
    );
    let right = json!({ "discovery": { "workloadKinds": ["core/Pod"] } });
    let effective = load(&spec(&right), &context, None).effective;
    assert!(effective.allows(&GroupKind::new("", "Pod")) && !effective.allows(&GroupKind::new("apps", "Deployment")));
    assert!(Effective::default().allows(&GroupKind::new("apps", "Deployment")));
}

#[test]
fn runtimes_are_checked_by_whoever_knows_their_rules() {
    let check = |changes: &RuntimeChanges| match changes.entries.iter().find(|entry| entry.rest.contains_key("flags")) {
        Some(entry) => Err(format!("the runtime {} has an unknown field flags", entry.name)),
        None => Ok(()),
    };
    let context = Context { known_kinds: None, check_runtimes: Some(&check) };
    let with = |entry: Value| json!({ "discovery": { "runtimes": { "entries": [entry], "disabled": ["pen"] } } });
    let wrong = load(&spec(&with(json!({ "name": "quill", "flags": [] }))), &context, None);
    assert_eq!(joined(&wrong.errors), "spec.discovery.runtimes: the runtime quill has an unknown field flags");
    let right = load(&spec(&with(json!({ "name": "quill", "images": { "names": ["quill"] } }))), &context, None).effective.runtimes;
    assert_eq!(right.disabled, ["pen"]);
    let file: Value = serde_json::from_str(&right.entries[0].to_file()).unwrap();
    assert_eq!(file, json!({ "name": "quill", "images": { "names": ["quill"] } }));
}

#[test]
fn what_stands_in_the_status_gives_the_same_configuration_back() {
    let made = loaded(&json!({
        "discovery": {
            "namespaceSelector": { "matchExpressions": [{ "key": "a", "operator": "In", "values": ["c", "b"] }] },
            "workloadKinds": ["batch/Job", "core/Pod"],
            "runtimes": { "entries": [{ "name": "quill", "category": "inference" }] },
        },
        "bomGeneration": { "propertyNames": "colon", "inlineThresholdBytes": 1024 },
        "sinks": [bucket("archive", "bom-archive")],
        "verification": { "enabled": true, "identities": [{ "issuer": "https://accounts.example" }] },
        "plugins": [{ "name": "quill", "options": { "depth": 3 } }],
    }))
    .effective;
    assert_eq!(Effective::restore(&made.to_spec()), made);
    assert_eq!(Effective::restore(&made.to_spec()).hash(), made.hash());
    assert_eq!(Effective::restore(&Effective::default().to_spec()), Effective::default());
}

#[test]
fn the_hash_and_the_changed_sections_follow_the_meaning_and_not_the_spelling() {
    let default = Effective::default();
    let spelled = loaded(&json!({ "bomGeneration": { "inlineThresholdBytes": 262_144 }, "discovery": { "namespaceSelector": { "matchLabels": { "aibom.k8saibom.dev/enabled": "true" } } } })).effective;
    assert_eq!(spelled.hash(), default.hash());
    assert!(spelled.changed_since(&default).is_empty());
    assert_eq!(default.hash().len(), 64);
    let other =
        loaded(&json!({ "bomGeneration": { "inlineThresholdBytes": 4096 }, "sinks": [bucket("archive", "bom-archive")] })).effective;
    assert_ne!(other.hash(), default.hash());
    assert_eq!(other.changed_since(&default), BTreeSet::from([Section::BomGeneration, Section::Sinks]));
}

#[test]
fn a_pattern_matches_anywhere_and_a_monster_is_refused() {
    assert!(compile("acme/quill").unwrap().is_match("registry.example.com/acme/quill:1"));
    assert!(!compile("^acme/quill").unwrap().is_match("registry.example.com/acme/quill:1"));
    let error = compile("((a{100}){100}){100}").unwrap_err();
    assert!(!error.is_empty() && !error.contains('\n'), "{error}");
}
