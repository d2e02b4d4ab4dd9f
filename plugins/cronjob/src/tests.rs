use k8s_aibom_sdk::{Failure, Report, testing};

use super::CronJob;

fn fixture(name: &str) -> Report {
    let text = std::fs::read_to_string(format!("{}/fixtures/cronjob/{name}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::scrape::<CronJob>(&testing::documents(&text)).unwrap()
}

fn properties(report: &Report) -> Vec<(&str, &str)> {
    report.properties.iter().map(|property| (property.name.as_str(), property.value.text.as_str())).collect()
}

fn messages(name: &str) -> Vec<String> {
    fixture(name).problems.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn the_template_of_the_jobs_goes_to_the_host() {
    let report = fixture("nightly-evaluation");
    assert_eq!(report.pod_templates.len(), 1);
    assert_eq!(report.pod_templates[0].at.pointer, "/spec/jobTemplate/spec/template");
    assert!(report.problems.is_empty() && report.items.is_empty() && report.categories.is_empty());
}

#[test]
fn when_and_how_often_it_runs_are_properties() {
    assert_eq!(
        properties(&fixture("nightly-evaluation")),
        [
            ("cronjob.schedule", "30 2 * * *"),
            ("cronjob.timeZone", "Etc/UTC"),
            ("cronjob.suspend", "false"),
            ("cronjob.concurrencyPolicy", "Forbid"),
            ("cronjob.parallelism", "2"),
            ("cronjob.completions", "4"),
        ]
    );
    assert_eq!(properties(&fixture("suspended")), [("cronjob.schedule", "@weekly"), ("cronjob.suspend", "true")]);
}

#[test]
fn both_versions_give_the_same_report() {
    assert_eq!(fixture("nightly-evaluation"), fixture("nightly-evaluation-v1beta1"));
}

#[test]
fn what_is_missing_or_malformed_is_a_problem_at_its_place() {
    assert_eq!(messages("no-spec"), ["expected an object at /spec, found nothing"]);
    assert_eq!(messages("empty-spec"), ["expected an object at /spec/jobTemplate, found nothing"]);
    assert_eq!(messages("no-job"), ["expected an object at /spec/jobTemplate, found nothing"]);
    assert_eq!(messages("job-of-another-type"), ["expected an object at /spec/jobTemplate, found a string"]);
    assert_eq!(messages("null-template"), ["expected an object at /spec/jobTemplate/spec/template, found nothing"]);
}

#[test]
fn wrong_types_hide_nothing_else() {
    assert_eq!(
        messages("wrong-types"),
        [
            "expected an object at /spec/jobTemplate/spec/template, found a list",
            "expected a string at /spec/schedule, found a list",
            "expected a string at /spec/timeZone, found a number",
            "expected a boolean at /spec/suspend, found a string",
            "`Sometimes` is none of Allow, Forbid, Replace",
            "expected a whole number at /spec/jobTemplate/spec/parallelism, found a string",
            "expected a whole number at /spec/jobTemplate/spec/completions, found a number",
        ]
    );
    assert_eq!(properties(&fixture("wrong-types")), [("cronjob.concurrencyPolicy", "Sometimes")]);
    assert_eq!(properties(&fixture("null-template")), [("cronjob.schedule", "@daily")]);
}

#[test]
fn another_version_is_not_read() {
    let object = testing::documents("{apiVersion: batch/v2alpha1, kind: CronJob, spec: {}}");
    let failure = testing::scrape::<CronJob>(&object).unwrap_err();
    assert!(matches!(&failure, Failure::Unsupported(text) if text.contains("batch/v2alpha1")), "{failure:?}");
}

#[test]
fn no_change_of_a_field_stops_the_scraper() {
    testing::survives_mutations::<CronJob>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
}
