use std::fs::OpenOptions;
use std::io::Write as _;

use super::*;

/// A line as kube-apiserver writes it, with what does not matter left out.
fn line(stage: &str, verb: &str, user: &str, object: &str, code: u16) -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"0","stage":"{stage}","requestURI":"/x?limit=1","verb":"{verb}",{user},"sourceIPs":["127.0.0.1"],"userAgent":"k8s-aibom/0.1",{object}"responseStatus":{{"metadata":{{}},"code":{code}}},"requestReceivedTimestamp":"2026-03-01T00:00:00.250000Z","stageTimestamp":"2026-03-01T00:00:00.750000Z"}}"#
    ) + "\n"
}

const OPERATOR: &str = r#""user":{"username":"system:serviceaccount:aibom:controller","groups":["system:authenticated"]}"#;
const STATUS: &str =
    r#""objectRef":{"resource":"aiboms","namespace":"a","name":"one","apiGroup":"example.dev","apiVersion":"v1","subresource":"status"},"#;
const POD: &str = r#""objectRef":{"resource":"pods","namespace":"b","name":"two","apiVersion":"v1"},"#;

fn log(text: &str) -> (Audit, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let audit = Audit::at(folder.path().join("audit.log"));
    std::fs::write(audit.path(), text).unwrap();
    (audit, folder)
}

#[test]
fn a_request_is_read_with_who_asked_what_of_which_object() {
    let (audit, _folder) = log(&line("ResponseComplete", "patch", OPERATOR, STATUS, 200));
    let entries = audit.since(audit.start()).unwrap();
    let entry = &entries[0];
    assert_eq!((entry.verb.as_str(), entry.resource.as_str(), entry.subresource.as_str()), ("patch", "aiboms", "status"));
    assert_eq!((entry.api_group.as_str(), entry.namespace.as_str(), entry.name.as_str()), ("example.dev", "a", "one"));
    assert_eq!((entry.user.as_str(), entry.code), ("system:serviceaccount:aibom:controller", 200));
    assert_eq!(entry.took, Duration::from_millis(500));
    assert_eq!(entry.to_string(), "patch aiboms.example.dev/status a/one 200 system:serviceaccount:aibom:controller (k8s-aibom/0.1)");
}

#[test]
fn whoever_is_impersonated_is_the_user() {
    let user = r#""user":{"username":"admin"},"impersonatedUser":{"username":"jane","groups":["dev"]}"#;
    let (audit, _folder) = log(&line("ResponseComplete", "get", user, POD, 403));
    assert_eq!(audit.since(audit.start()).unwrap().by_user("jane").len(), 1);
}

#[test]
fn a_path_that_is_no_resource_has_no_object() {
    let (audit, _folder) = log(&line("ResponseComplete", "get", OPERATOR, "", 200));
    let entries = audit.since(audit.start()).unwrap();
    assert_eq!((entries[0].resource.as_str(), entries[0].uri.as_str()), ("", "/x?limit=1"));
}

#[test]
fn writes_are_told_from_reads_and_counted_by_verb_and_resource() {
    let text = [
        line("ResponseComplete", "create", OPERATOR, POD, 201),
        line("ResponseComplete", "patch", OPERATOR, STATUS, 200),
        line("ResponseComplete", "patch", OPERATOR, STATUS, 409),
        line("ResponseComplete", "list", OPERATOR, POD, 200),
        line("ResponseComplete", "deletecollection", OPERATOR, POD, 200),
    ];
    let (audit, _folder) = log(&text.concat());
    let entries = audit.since(audit.start()).unwrap();
    assert_eq!((entries.len(), entries.writes().len()), (5, 4));
    let counts = entries.writes().counts();
    assert_eq!(counts[&("patch".to_owned(), "aiboms/status".to_owned())], 2);
    assert_eq!(counts[&("create".to_owned(), "pods".to_owned())], 1);
    assert_eq!(counts.len(), 3);
    assert_eq!(entries.on("aiboms").len(), 2);
    assert_eq!(entries.in_namespace("b").with_verb("list").len(), 1);
    assert_eq!(entries.by_service_account("aibom", "controller").by_agent("k8s-aibom/").len(), 5);
    assert_eq!(entries.by_agent("kubectl").to_string(), "  (none)\n");
}

#[test]
fn reviews_tokens_and_dry_runs_write_nothing() {
    let review = r#""objectRef":{"resource":"selfsubjectaccessreviews","apiGroup":"authorization.k8s.io","apiVersion":"v1"},"#;
    let token = r#""objectRef":{"resource":"serviceaccounts","namespace":"a","name":"b","apiVersion":"v1","subresource":"token"},"#;
    let account = r#""objectRef":{"resource":"serviceaccounts","namespace":"a","name":"b","apiVersion":"v1"},"#;
    let text = [
        line("ResponseComplete", "create", OPERATOR, review, 201),
        line("ResponseComplete", "create", OPERATOR, token, 201),
        line("ResponseComplete", "patch", OPERATOR, POD, 200).replace("/x?limit=1", "/x?force=true&dryRun=All"),
        line("ResponseComplete", "create", OPERATOR, account, 201),
    ];
    let (audit, _folder) = log(&text.concat());
    let writes = audit.since(audit.start()).unwrap().writes();
    assert_eq!(writes.counts().into_keys().collect::<Vec<_>>(), [("create".to_owned(), "serviceaccounts".to_owned())], "{writes}");
}

#[test]
fn a_line_that_is_still_being_written_comes_with_the_next_look() {
    let first = line("ResponseComplete", "create", OPERATOR, POD, 201);
    let second = line("ResponseComplete", "delete", OPERATOR, POD, 200);
    let (begun, rest) = second.split_at(100);
    let (audit, _folder) = log(&format!("{first}{begun}"));
    assert_eq!(audit.since(audit.start()).unwrap().len(), 1);
    OpenOptions::new().append(true).open(audit.path()).unwrap().write_all(rest.as_bytes()).unwrap();
    assert_eq!(audit.since(audit.start()).unwrap().len(), 2);
}

#[test]
fn a_mark_within_a_line_that_is_being_written_loses_nothing_after_it() {
    let first = line("ResponseComplete", "create", OPERATOR, POD, 201);
    let (begun, rest) = first.split_at(100);
    let (audit, _folder) = log(begun);
    let mark = audit.mark();
    let more = format!("{rest}{}", line("ResponseComplete", "delete", OPERATOR, POD, 200));
    OpenOptions::new().append(true).open(audit.path()).unwrap().write_all(more.as_bytes()).unwrap();
    let verbs: Vec<String> = audit.since(mark).unwrap().iter().map(|entry| entry.verb.clone()).collect();
    assert_eq!(verbs, ["create", "delete"], "what was not whole at the mark came after it");
}

#[test]
fn only_what_came_after_a_mark_is_since_it() {
    let (audit, _folder) = log(&line("ResponseComplete", "create", OPERATOR, POD, 201));
    let mark = audit.mark();
    assert!(audit.since(mark).unwrap().is_empty());
    let more = line("ResponseComplete", "delete", OPERATOR, POD, 200);
    OpenOptions::new().append(true).open(audit.path()).unwrap().write_all(more.as_bytes()).unwrap();
    assert_eq!(audit.since(mark).unwrap().with_verb("delete").len(), 1);
    assert_eq!(audit.since(mark).unwrap().len(), 1);
}

#[test]
fn an_open_watch_is_no_request_until_it_is_closed() {
    let started = line("ResponseStarted", "watch", OPERATOR, POD, 200);
    let (audit, _folder) = log(&started);
    assert!(audit.since(audit.start()).unwrap().is_empty());
    assert_eq!(audit.watches_since(audit.start()).unwrap().len(), 1);
}

#[test]
fn a_log_that_is_not_there_yet_is_empty_and_a_line_that_is_none_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let audit = Audit::at(folder.path().join("audit.log"));
    assert!(audit.since(audit.mark()).unwrap().is_empty());
    std::fs::write(audit.path(), "no json\n").unwrap();
    let error = audit.since(audit.start()).unwrap_err().to_string();
    assert!(error.contains("audit.log") && error.contains("no json"), "{error}");
}

#[test]
fn waiting_for_a_request_that_never_comes_lists_those_that_came() {
    let (audit, _folder) = log(&line("ResponseComplete", "create", OPERATOR, POD, 201));
    let found = audit.wait(audit.start(), "a create", Duration::ZERO, |entries| entries.len() == 1).unwrap();
    assert_eq!(found.len(), 1);
    let error = audit.wait(audit.start(), "a delete", Duration::ZERO, |entries| !entries.with_verb("delete").is_empty()).unwrap_err();
    assert!(error.to_string().contains("a delete") && error.to_string().contains("create pods b/two 201"), "{error}");
}

#[test]
fn times_are_read_to_the_microsecond_across_leap_days() {
    let seconds = |text: &str| time(text).unwrap().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(seconds("1970-01-01T00:00:00Z"), Duration::ZERO);
    assert_eq!(seconds("2024-02-29T00:00:00Z"), Duration::from_hours(474_768));
    assert_eq!(seconds("2026-12-31T23:59:59.5Z"), Duration::from_millis(1_798_761_599_500));
    assert_eq!(seconds("2000-03-01T00:00:00.000001Z"), Duration::new(951_868_800, 1000));
    for wrong in ["", "2026-01-01", "2026-13-01T00:00:00Z", "2026-01-01T00:00:00+01:00", "1969-12-31T00:00:00Z"] {
        assert_eq!(time(wrong), None, "{wrong}");
    }
}
