use k8s_aibom_sdk::{Failure, testing};

use super::Workloads;

fn fixture(path: &str) -> k8s_aibom_sdk::Report {
    let text = std::fs::read_to_string(format!("{}/fixtures/{path}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::scrape::<Workloads>(&testing::documents(&text)).unwrap()
}

#[test]
fn every_kind_hands_its_pod_template_to_the_host() {
    for kind in ["deployment", "statefulset", "daemonset", "replicaset"] {
        let report = fixture(&format!("{kind}/server"));
        assert_eq!(report.pod_templates.len(), 1, "{kind}");
        assert_eq!(report.pod_templates[0].at.pointer, "/spec/template", "{kind}");
        assert!(report.problems.is_empty(), "{kind}");
    }
    assert_eq!(fixture("job/training").pod_templates[0].at.pointer, "/spec/template");
    assert_eq!(fixture("pod/server").pod_templates[0].at.pointer, "/spec");
}

#[test]
fn counts_are_properties() {
    let properties = fixture("job/training").properties;
    let found: Vec<_> = properties.iter().map(|property| (property.name.as_str(), property.value.text.as_str())).collect();
    assert_eq!(found, [("workload.parallelism", "2"), ("workload.completions", "4")]);
}

#[test]
fn what_is_missing_or_malformed_is_a_problem_at_its_place() {
    let messages = |path: &str| fixture(path).problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>();
    assert_eq!(
        messages("deployment/wrong-types"),
        ["expected an object at /spec/template, found a list", "expected a whole number at /spec/replicas, found a string",]
    );
    assert_eq!(messages("daemonset/empty-spec"), ["expected an object at /spec/template, found nothing"]);
    assert_eq!(messages("replicaset/no-spec"), ["expected an object at /spec, found nothing"]);
    assert_eq!(messages("pod/wrong-types"), ["expected an object at /spec, found a number"]);
}

#[test]
fn another_version_is_not_read() {
    let object = testing::documents("{apiVersion: apps/v2, kind: Deployment, spec: {template: {}}}");
    let failure = testing::scrape::<Workloads>(&object).unwrap_err();
    assert!(matches!(&failure, Failure::Unsupported(text) if text.contains("apps/v2")), "{failure:?}");
}

#[test]
fn no_change_of_a_field_stops_the_scraper() {
    testing::survives_mutations::<Workloads>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
}
