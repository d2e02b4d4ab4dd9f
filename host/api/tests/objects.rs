//! Objects as the Go operator writes them, with invented names: they are read, kept as they are, and found under our names.

#![allow(clippy::unwrap_used, reason = "test code; clippy sees tests only in functions marked so")]

use aibom_api::aibom::{Aibom, AibomSpec, WorkloadRef};
use aibom_api::config::AibomControllerConfig;
use aibom_api::effective::{Context, Section, load, load_object};
use aibom_api::names::object_name_for;
use aibom_api::{CONFIG_NAME, GROUP, SERVED_VERSIONS, VERSION};
use kube::Resource as _;
use serde_json::{Value, json};

fn value(yaml: &str) -> Value {
    serde_saphyr::from_str(yaml).unwrap()
}

const AIBOM: &str = r#"
apiVersion: aibom.k8saibom.dev/v1beta1
kind: AIBOM
metadata:
  name: apps-statefulset-inkwell
  namespace: atelier
  ownerReferences:
  - {apiVersion: apps/v1, kind: StatefulSet, name: inkwell, uid: 7d1f, controller: true, blockOwnerDeletion: true}
spec:
  workloadRef: {apiVersion: apps/v1, kind: StatefulSet, name: inkwell}
  bomFormat: CycloneDX
  bomSpecVersion: "1.6"
status:
  conditions:
  - {type: Ready, status: "True", reason: BOMGenerated, message: "", lastTransitionTime: "2026-09-01T10:00:00Z"}
  - {type: Synced, status: "True", reason: CRDStatusOnly, message: no sink is configured, lastTransitionTime: "2026-09-01T10:00:00Z"}
  - {type: SinkFailed, status: "False", reason: AllSinksOK, message: "", lastTransitionTime: "2026-09-01T10:00:00Z"}
  - {type: Stale, status: "False", reason: BOMGenerated, message: "", lastTransitionTime: "2026-09-01T10:00:00Z", observedGeneration: 2}
  summary:
    workload: {kind: StatefulSet, apiVersion: apps/v1, name: inkwell, namespace: atelier, category: inference}
    runtime: {name: quill, version: "1.5", confidence: inferred}
    models:
    - {identity: acme/quill-embed, source: container_arg, confidence: declared}
    - {identity: quill, source: env_var, confidence: inferred, signed: unsigned}
    confidence: inferred
  bomDocument:
    format: CycloneDX
    specVersion: "1.6"
    sha256: ab12
    size: 2
    inline: {data: e30=}
  lastReconciled: "2026-09-01T10:00:00Z"
  bomHash: ab12
  inputHash: cd34
  consecutiveErrors: 1
  observedGeneration: 1
"#;

const CONFIG: &str = r#"
apiVersion: aibom.k8saibom.dev/v1beta1
kind: AIBOMControllerConfig
metadata: {name: default}
spec:
  discovery:
    namespaceSelector: {matchLabels: {aibom.k8saibom.dev/enabled: "true"}}
    inferenceRuntimeImagePatterns: [{runtime: quill, pattern: '^registry\.example\.com/mirror/quill/.*'}]
    workloadKinds: [apps/Deployment, ml.acme.example/ScribeGraph]
  bomGeneration: {inlineThresholdBytes: 262144, staleThresholdReconciles: 3}
  sinks:
  - name: archive
    type: GCS
    gcs:
      bucket: inkwell-archive
      pathTemplate: "mlbom/{namespace}/{kind}-{name}/{timestamp}.json"
      credentialsSecretRef: {name: gcs, key: sa.json}
  - name: siem
    type: Webhook
    webhook:
      endpoint: https://bom.example.org/in
      auth: {bearerToken: {secretRef: {name: siem, key: token}}}
  - name: vault
    type: Webhook
    webhook:
      endpoint: https://bom.example.org/vault
      auth:
        mtls:
          clientCertSecretRef: {name: vault, key: tls.crt}
          clientKeySecretRef: {name: vault, key: tls.key}
          caSecretRef: {name: vault, key: ca.crt}
  logging: {level: info, format: json}
  verification:
    enabled: true
    trustRootMode: public
    rekorURL: https://log.example.org
    identities: [{issuer: "https://accounts.example", subjectPattern: "^scribe@example$"}]
    perClaimTimeoutSeconds: 10
    cacheTTLMinutes: 1440
status:
  conditions:
  - {type: Ready, status: "True", reason: ConfigLoaded, message: "", lastTransitionTime: "2026-09-01T10:00:00Z", observedGeneration: 1}
  - {type: Degraded, status: "False", reason: ConfigLoaded, message: "", lastTransitionTime: "2026-09-01T10:00:00Z", observedGeneration: 1}
  lastLoadedAt: "2026-09-01T10:00:00Z"
  observedGeneration: 1
"#;

#[test]
fn an_aibom_of_the_go_operator_comes_back_as_it_was() {
    let before = value(AIBOM);
    let object: Aibom = serde_json::from_value(before.clone()).unwrap();
    assert_eq!(serde_json::to_value(&object).unwrap(), before);
    let status = object.status.unwrap();
    assert_eq!(status.bom_document.unwrap().inline.unwrap().data.0, b"{}");
    assert_eq!(status.conditions.len(), 4);
}

#[test]
fn an_aibom_of_the_go_operator_has_the_name_that_we_give() {
    let object: Aibom = serde_json::from_value(value(AIBOM)).unwrap();
    let WorkloadRef { api_version, kind, name } = &object.spec.workload_ref;
    assert_eq!(object.metadata.name.as_deref(), Some(object_name_for(api_version, kind, name).as_str()));
}

#[test]
fn an_object_of_the_older_version_is_read_and_written_as_the_stored_one() {
    for (yaml, kind) in [(AIBOM, "AIBOM"), (CONFIG, "AIBOMControllerConfig")] {
        let mut older = value(yaml);
        older["apiVersion"] = json!(format!("{GROUP}/{}", SERVED_VERSIONS[1]));
        let written = match kind {
            "AIBOM" => serde_json::to_value(serde_json::from_value::<Aibom>(older).unwrap()),
            _ => serde_json::to_value(serde_json::from_value::<AibomControllerConfig>(older).unwrap()),
        };
        assert_eq!(written.unwrap(), value(yaml));
    }
}

#[test]
fn a_configuration_of_the_go_operator_comes_back_as_it_was_and_is_valid() {
    let before = value(CONFIG);
    let object: AibomControllerConfig = serde_json::from_value(before.clone()).unwrap();
    assert_eq!(serde_json::to_value(&object).unwrap(), before);
    assert_eq!(object.metadata.name.as_deref(), Some(CONFIG_NAME));
    let loaded = load(&object.spec, &Context::default(), None);
    assert!(loaded.is_valid(), "{:?}", loaded.errors);
    assert_eq!(loaded.unsupported.len(), 4, "three sinks and verification are each reported");
    assert_eq!(load_object(&before, &Context::default(), None), loaded);
}

#[test]
fn every_addition_of_ours_is_read_and_comes_back() {
    let mut object = value(CONFIG);
    object["spec"]["discovery"]["podTemplateKinds"] =
        json!([{ "group": "ml.acme.example", "kind": "Scribe", "plural": "scribes", "version": "v1", "podTemplates": ["/spec/template"] }]);
    object["spec"]["discovery"]["runtimes"] = json!({ "entries": [{ "name": "quill", "deny-tags": ["test"] }], "disabled": ["pen"] });
    object["spec"]["bomGeneration"]["specVersion"] = json!("1.7");
    object["spec"]["bomGeneration"]["propertyNames"] = json!("colon");
    object["spec"]["plugins"] =
        json!([{ "name": "scribe", "enabled": true, "kinds": ["ml.acme.example/ScribeGraph"], "options": { "depth": 2, "names": ["a"] } }]);
    object["status"]["kinds"] = json!([{
        "group": "ml.acme.example", "kind": "ScribeGraph", "version": "v1", "state": "Ready", "health": "Unhealthy", "cause": "Conversion",
        "message": "the conversion webhook does not answer", "since": "2026-09-01T10:00:00Z", "objects": 3, "plugin": "scribe",
        "pluginDigest": "sha256:ab",
    }]);
    object["status"]["plugins"] = json!([{
        "name": "scribe", "source": "ConfigMap/scribe", "state": "Serving", "version": "0.1.0", "digest": "sha256:ab",
        "rejectedDigest": "sha256:cd", "step": "link", "reason": "UnknownImport", "message": "it wants a clock",
        "since": "2026-09-01T10:00:00Z", "kinds": ["ml.acme.example/ScribeGraph"],
    }]);
    object["status"]["effectiveConfigurationHash"] = json!("ef");
    object["status"]["effectiveConfiguration"] = json!({ "logging": { "level": "info" } });
    let read: AibomControllerConfig = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), object);
    let loaded = load(&read.spec, &Context::default(), None);
    assert!(loaded.is_valid(), "{:?}", loaded.errors);
}

#[test]
fn objects_without_spec_are_read() {
    let config: AibomControllerConfig = serde_json::from_value(json!({ "metadata": { "name": "default" } })).unwrap();
    assert_eq!(config, AibomControllerConfig { metadata: config.metadata.clone(), ..AibomControllerConfig::default() });
    for spec in [json!(null), json!({})] {
        let config: AibomControllerConfig = serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap();
        assert_eq!(config.spec, aibom_api::config::AibomControllerConfigSpec::default());
    }
    // Anybody may have made an object under one of our names; it must be seen to be repaired.
    let foreign: Aibom = serde_json::from_value(json!({ "metadata": { "name": "apps-deployment-web" } })).unwrap();
    assert_eq!(foreign.spec, AibomSpec::default());
}

#[test]
fn an_object_in_the_way_that_is_wrong_is_an_error_and_no_default() {
    assert!(serde_json::from_value::<Aibom>(json!({ "metadata": {}, "spec": { "workloadRef": 1 } })).is_err());
    assert!(serde_json::from_value::<AibomControllerConfig>(json!({ "metadata": {}, "spec": 1 })).is_err());
    let loaded = load_object(&json!({ "spec": { "logging": [], "sinks": [[], []] } }), &Context::default(), None);
    assert_eq!(loaded.invalid_sections().into_iter().collect::<Vec<_>>(), [Section::Sinks, Section::Logging]);
    assert_eq!(loaded.errors.len(), 3, "each is named once: {:?}", loaded.errors);
}

#[test]
fn the_resources_are_addressed_as_before() {
    let aibom = (Aibom::group(&()), Aibom::version(&()), Aibom::kind(&()), Aibom::plural(&()));
    assert_eq!(aibom, (GROUP.into(), VERSION.into(), "AIBOM".into(), "aiboms".into()));
    let config = (AibomControllerConfig::kind(&()), AibomControllerConfig::plural(&()));
    assert_eq!(config, ("AIBOMControllerConfig".into(), "aibomcontrollerconfigs".into()));
}
