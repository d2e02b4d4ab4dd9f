//! The definitions: structural, complete, the same in every version, and the same as what is checked in.

#![allow(clippy::unwrap_used, reason = "test code; clippy sees tests only in functions marked so")]

use std::fs;
use std::path::Path;

use aibom_api::crd::{self, files};
use aibom_api::{SERVED_VERSIONS, VERSION};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{CustomResourceDefinition, JSONSchemaProps};
use serde_json::{Value, json};

fn schema(definition: &CustomResourceDefinition) -> &JSONSchemaProps {
    definition.spec.versions[0].schema.as_ref().unwrap().open_api_v3_schema.as_ref().unwrap()
}

fn schema_value(definition: &CustomResourceDefinition) -> Value {
    serde_json::to_value(schema(definition)).unwrap()
}

/// The node of a schema at a path of fields; `[]` goes to the elements of a list.
fn node<'a>(schema: &'a Value, path: &str) -> &'a Value {
    path.split('.').filter(|part| !part.is_empty()).fold(schema, |node, part| {
        let (name, list) = part.strip_suffix("[]").map_or((part, false), |name| (name, true));
        let node = &node["properties"][name];
        assert!(!node.is_null(), "{path} has no {name}");
        if list { &node["items"] } else { node }
    })
}

fn aibom() -> Value {
    schema_value(&crd::aibom_definition())
}

fn config() -> Value {
    schema_value(&crd::config_definition())
}

/// Every node of a schema with its path.
fn walk(path: &str, node: &Value, visit: &mut impl FnMut(&str, &Value)) {
    visit(path, node);
    for (name, property) in node["properties"].as_object().into_iter().flatten() {
        walk(&format!("{path}.{name}"), property, visit);
    }
    if node["items"].is_object() {
        walk(&format!("{path}[]"), &node["items"], visit);
    }
    if node["additionalProperties"].is_object() {
        walk(&format!("{path}.*"), &node["additionalProperties"], visit);
    }
}

fn is_of_type(value: &Value, type_: &str) -> bool {
    match type_ {
        "string" => value.is_string(),
        "integer" => value.is_i64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// The rules of structural schemas, <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema>,
/// and those for lists, maps and defaults.
#[test]
fn every_node_is_structural_and_defaults_have_its_type() {
    const KNOWN: &[&str] = &[
        "additionalProperties",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    for definition in crd::definitions() {
        walk("", &schema_value(&definition), &mut |path, node| {
            let type_ = node["type"].as_str().unwrap_or_else(|| panic!("{path} has no type"));
            for key in node.as_object().unwrap().keys() {
                assert!(KNOWN.contains(&key.as_str()), "{path} has {key}, which a structural schema may not have or we do not use");
            }
            assert_eq!(type_ == "array", node["items"].is_object(), "{path}: items belong to arrays");
            assert!(type_ == "object" || (node["properties"].is_null() && node["additionalProperties"].is_null()), "{path}");
            assert!(node["properties"].is_null() || node["additionalProperties"].is_null(), "{path}: properties or a map, not both");
            let described = node["description"].as_str().is_some_and(|text| text.ends_with('.') && !text.contains('\n'));
            // Elements that are plain texts and values of maps are described by what holds them.
            assert!(described || path.is_empty() || path.ends_with("[]") || path.ends_with('*'), "{path} is not described: {node}");
            if !node["default"].is_null() {
                assert!(is_of_type(&node["default"], type_), "{path}: the default is no {type_}");
                assert!(node["enum"].as_array().is_none_or(|words| words.contains(&node["default"])), "{path}");
            }
            for word in node["enum"].as_array().into_iter().flatten() {
                assert!(is_of_type(word, type_), "{path}: {word} is no {type_}");
            }
            for name in node["required"].as_array().into_iter().flatten() {
                assert!(!node["properties"][name.as_str().unwrap()].is_null(), "{path}: {name} is required and unknown");
            }
            if node["x-kubernetes-list-type"] == json!("map") {
                for key in node["x-kubernetes-list-map-keys"].as_array().unwrap() {
                    assert!(node["items"]["required"].as_array().unwrap().contains(key), "{path}: the key {key} must be required");
                }
            }
            if let Some(pattern) = node["pattern"].as_str() {
                regex::Regex::new(pattern).unwrap_or_else(|error| panic!("{path}: {error}"));
            }
        });
    }
}

#[test]
fn an_aibom_has_the_fields_limits_and_required_parts_of_before() {
    let schema = aibom();
    assert!(schema["required"].is_null());
    let texts = [("apiVersion", 128), ("kind", 64), ("name", 253)];
    for (name, max) in texts {
        let field = node(&schema, &format!("spec.workloadRef.{name}"));
        assert_eq!((&field["minLength"], &field["maxLength"]), (&json!(1), &json!(max)), "{name}");
    }
    assert_eq!(
        node(&schema, "spec.workloadRef")["x-kubernetes-validations"],
        json!([{ "rule": "self == oldSelf", "message": "workloadRef is immutable" }])
    );
    let version = node(&schema, "spec.bomSpecVersion");
    assert_eq!((&version["pattern"], &version["maxLength"]), (&json!(r"^\d+\.\d+$"), &json!(16)));
    let format = node(&schema, "spec.bomFormat");
    assert_eq!((&format["enum"], &format["maxLength"]), (&json!(["CycloneDX"]), &json!(64)));
    let required = [
        ("spec", json!(["bomFormat", "bomSpecVersion", "workloadRef"])),
        ("spec.workloadRef", json!(["apiVersion", "kind", "name"])),
        ("status", Value::Null),
        ("status.summary", json!(["workload"])),
        ("status.summary.workload", json!(["apiVersion", "kind", "name", "namespace"])),
        ("status.summary.runtime", json!(["name"])),
        ("status.summary.models[]", json!(["identity"])),
        ("status.bomDocument", json!(["format", "sha256", "specVersion"])),
        ("status.bomDocument.inline", json!(["data"])),
        ("status.bomDocument.external", json!(["sink"])),
        ("status.conditions[]", json!(["lastTransitionTime", "message", "reason", "status", "type"])),
    ];
    for (path, fields) in required {
        assert_eq!(node(&schema, path)["required"], fields, "{path}");
    }
    let formats = [
        ("status.bomDocument.size", "integer", "int64"),
        ("status.consecutiveErrors", "integer", "int32"),
        ("status.observedGeneration", "integer", "int64"),
        ("status.lastReconciled", "string", "date-time"),
        ("status.bomDocument.inline.data", "string", "byte"),
    ];
    for (path, type_, format) in formats {
        assert_eq!((&node(&schema, path)["type"], &node(&schema, path)["format"]), (&json!(type_), &json!(format)), "{path}");
    }
    for path in ["status.bomHash", "status.inputHash", "status.summary.models[].signed", "status.bomDocument.external.url"] {
        assert_eq!(node(&schema, path)["type"], "string", "{path}");
    }
}

#[test]
fn a_configuration_has_the_limits_defaults_and_required_parts_of_before() {
    let schema = config();
    assert!(schema["required"].is_null() && node(&schema, "spec")["required"].is_null());
    let expected = [
        (
            "spec.bomGeneration.inlineThresholdBytes",
            json!({ "type": "integer", "format": "int64", "minimum": 1024.0, "maximum": 1_048_576.0, "default": 262_144 }),
        ),
        ("spec.bomGeneration.staleThresholdReconciles", json!({ "type": "integer", "format": "int32", "minimum": 1.0, "default": 3 })),
        ("spec.logging.level", json!({ "type": "string", "enum": ["debug", "info", "warn", "error"], "default": "info" })),
        ("spec.logging.format", json!({ "type": "string", "enum": ["json", "text"], "default": "json" })),
        ("spec.sinks[].name", json!({ "type": "string", "minLength": 1, "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" })),
        ("spec.sinks[].type", json!({ "type": "string", "enum": ["GCS", "Webhook"] })),
        ("spec.sinks[].gcs.bucket", json!({ "type": "string", "minLength": 3, "maxLength": 222 })),
        ("spec.sinks[].gcs.pathTemplate", json!({ "type": "string", "maxLength": 512 })),
        ("spec.sinks[].gcs.credentialsSecretRef.name", json!({ "type": "string", "minLength": 1, "maxLength": 253 })),
        ("spec.sinks[].webhook.endpoint", json!({ "type": "string", "maxLength": 2048, "pattern": "^https?://" })),
        ("spec.discovery.inferenceRuntimeImagePatterns[].runtime", json!({ "type": "string", "minLength": 1, "maxLength": 64 })),
        ("spec.discovery.inferenceRuntimeImagePatterns[].pattern", json!({ "type": "string", "minLength": 1, "maxLength": 256 })),
        ("spec.discovery.workloadKinds[]", json!({ "type": "string" })),
        ("spec.verification.enabled", json!({ "type": "boolean" })),
        (
            "spec.verification.trustRootMode",
            json!({ "type": "string", "enum": ["public", "tufMirror", "staticBundle"], "default": "public" }),
        ),
        ("spec.verification.tufMirrorURL", json!({ "type": "string", "maxLength": 2048 })),
        ("spec.verification.rekorURL", json!({ "type": "string", "maxLength": 2048 })),
        ("spec.verification.staticBundlePath", json!({ "type": "string", "maxLength": 1024 })),
        (
            "spec.verification.perClaimTimeoutSeconds",
            json!({ "type": "integer", "format": "int32", "minimum": 1.0, "maximum": 30.0, "default": 10 }),
        ),
        (
            "spec.verification.cacheTTLMinutes",
            json!({ "type": "integer", "format": "int32", "minimum": 1.0, "maximum": 10_080.0, "default": 1440 }),
        ),
        ("spec.verification.identities[].subjectPattern", json!({ "type": "string", "maxLength": 512 })),
        ("spec.bomGeneration.specVersion", json!({ "type": "string", "enum": ["1.6", "1.7"] })),
        ("spec.bomGeneration.propertyNames", json!({ "type": "string", "enum": ["dotted", "colon"] })),
        ("status.lastLoadedAt", json!({ "type": "string", "format": "date-time" })),
    ];
    for (path, expected) in expected {
        let mut found = node(&schema, path).clone();
        found.as_object_mut().unwrap().remove("description");
        assert_eq!(found, expected, "{path}");
    }
    let required = [
        ("spec.sinks[]", json!(["name", "type"])),
        ("spec.sinks[].gcs", json!(["bucket"])),
        ("spec.sinks[].webhook", json!(["endpoint"])),
        ("spec.sinks[].webhook.auth", Value::Null),
        ("spec.sinks[].webhook.auth.bearerToken", json!(["secretRef"])),
        ("spec.sinks[].webhook.auth.mtls", json!(["clientCertSecretRef", "clientKeySecretRef"])),
        ("spec.sinks[].gcs.credentialsSecretRef", json!(["key", "name"])),
        ("spec.discovery", Value::Null),
        ("spec.discovery.inferenceRuntimeImagePatterns[]", json!(["pattern", "runtime"])),
        ("spec.verification", Value::Null),
    ];
    for (path, fields) in required {
        assert_eq!(node(&schema, path)["required"], fields, "{path}");
    }
    for (path, keys) in [("sinks", json!(["name"])), ("plugins", json!(["name"]))] {
        let list = &node(&schema, "spec")["properties"][path];
        assert_eq!((&list["x-kubernetes-list-type"], &list["x-kubernetes-list-map-keys"]), (&json!("map"), &keys), "{path}");
    }
    assert_eq!(node(&schema, "spec.discovery.namespaceSelector")["x-kubernetes-map-type"], "atomic");
}

#[test]
fn conditions_are_keyed_by_type_and_limited_as_everywhere() {
    for schema in [aibom(), config()] {
        let list = &node(&schema, "status")["properties"]["conditions"];
        assert_eq!((&list["x-kubernetes-list-type"], &list["x-kubernetes-list-map-keys"]), (&json!("map"), &json!(["type"])));
        assert_eq!(node(&list["items"], "message")["maxLength"], 32768);
        assert_eq!(node(&list["items"], "status")["enum"], json!(["True", "False", "Unknown"]));
    }
}

#[test]
fn names_columns_scope_and_versions_are_those_of_before() {
    let aibom = serde_json::to_value(crd::aibom_definition()).unwrap();
    let config = serde_json::to_value(crd::config_definition()).unwrap();
    assert_eq!(aibom["metadata"]["name"], "aiboms.aibom.k8saibom.dev");
    assert_eq!(config["metadata"]["name"], "aibomcontrollerconfigs.aibom.k8saibom.dev");
    assert_eq!(
        aibom["spec"]["names"],
        json!({ "kind": "AIBOM", "listKind": "AIBOMList", "plural": "aiboms", "singular": "aibom", "shortNames": ["aibom"] })
    );
    assert_eq!(config["spec"]["names"]["shortNames"], json!(["aibomcfg"]));
    assert_eq!(config["spec"]["names"]["listKind"], "AIBOMControllerConfigList");
    assert_eq!((&aibom["spec"]["scope"], &config["spec"]["scope"]), (&json!("Namespaced"), &json!("Cluster")));
    let columns = |definition: &Value| -> Vec<(String, String, String)> {
        let columns = definition["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap();
        let text = |column: &Value, key: &str| column[key].as_str().unwrap().to_owned();
        columns.iter().map(|column| (text(column, "name"), text(column, "type"), text(column, "jsonPath"))).collect()
    };
    let expected =
        |list: &[(&str, &str, &str)]| list.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect::<Vec<_>>();
    assert_eq!(
        columns(&aibom),
        expected(&[
            ("Workload", "string", ".spec.workloadRef.kind"),
            ("Name", "string", ".spec.workloadRef.name"),
            ("Category", "string", ".status.summary.workload.category"),
            ("Runtime", "string", ".status.summary.runtime.name"),
            ("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
            ("Age", "date", ".metadata.creationTimestamp"),
        ])
    );
    assert_eq!(
        columns(&config),
        expected(&[
            ("Ready", "string", r#".status.conditions[?(@.type=="Ready")].status"#),
            ("Last-Loaded", "date", ".status.lastLoadedAt"),
            ("Age", "date", ".metadata.creationTimestamp"),
            // Added, and shown only where it is asked for (`-o wide`).
            ("Degraded", "string", r#".status.conditions[?(@.type=="Degraded")].reason"#),
            ("Why", "string", r#".status.conditions[?(@.type=="Degraded")].message"#),
        ])
    );
    for column in config["spec"]["versions"][0]["additionalPrinterColumns"].as_array().unwrap() {
        let added = column["name"] == "Degraded" || column["name"] == "Why";
        assert_eq!(column["priority"] == 1, added, "{column}");
    }
    for definition in [aibom, config] {
        assert_eq!(definition["metadata"]["annotations"], json!({ "api-approved.kubernetes.io": "unapproved, experimental-only" }));
        assert_eq!(definition["spec"]["conversion"], json!({ "strategy": "None" }));
        let versions = definition["spec"]["versions"].as_array().unwrap();
        let names: Vec<_> = versions.iter().map(|version| version["name"].as_str().unwrap()).collect();
        assert_eq!(names, SERVED_VERSIONS);
        for version in versions {
            assert_eq!(version["served"], true);
            assert_eq!(version["storage"], version["name"] == VERSION);
            assert_eq!(version["schema"], versions[0]["schema"], "conversion None needs one schema");
            assert_eq!(version["subresources"], json!({ "status": {} }));
            assert_eq!(version["additionalPrinterColumns"], versions[0]["additionalPrinterColumns"]);
        }
    }
}

#[test]
fn the_yaml_says_the_same_as_the_definition_and_is_fit_to_read() {
    for (file, definition) in files().unwrap().iter().zip(crd::definitions()) {
        let read: CustomResourceDefinition = serde_saphyr::from_str(&file.yaml).unwrap();
        assert_eq!(read, definition, "{}", file.name);
        assert!(!file.yaml.contains(".0\n"), "{}: limits are written as whole numbers", file.name);
        let text = |line: &&str| !line.trim_start().starts_with("pattern:");
        let widest = file.yaml.lines().filter(text).map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= 160, "{}: a line has {widest} characters", file.name);
    }
}

#[test]
fn the_definitions_that_are_checked_in_are_those_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crds");
    for file in files().unwrap() {
        let found = fs::read_to_string(folder.join(&file.name)).unwrap_or_default();
        assert!(found == file.yaml, "crds/{} is out of date; run `cargo xtask crdgen`", file.name);
    }
}
