//! What somebody else does to AIBOMs.

use serde_json::json;

use crate::stage::{A_WHILE, Stage, condition, document, models};

const NAME: &str = "apps-deployment-chat";

#[test]
fn a_forged_document_a_forged_hash_and_another_owner_are_put_right() {
    let stage = Stage::new();
    stage.team("demo");
    let operator = stage.running(&[]);
    stage.serve("demo", "chat", "acme/quill-7b");
    let right = stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.wait_quiet();
    let patch = |what: serde_json::Value, status: bool| {
        let text = what.to_string();
        let mut args = vec!["patch", "aibom", NAME, "-n", "demo", "--type=merge", "-p", &text];
        if status {
            args.push("--subresource=status");
        }
        stage.plane.kubectl(&args).unwrap();
    };
    let good = |aibom: &serde_json::Value| {
        aibom["status"]["bomHash"] == right["status"]["bomHash"]
            && aibom["status"]["inputHash"] == right["status"]["inputHash"]
            && aibom["status"]["bomDocument"] == right["status"]["bomDocument"]
            && models(aibom) == ["acme/quill-7b"]
            && aibom["metadata"]["ownerReferences"] == right["metadata"]["ownerReferences"]
            && aibom["metadata"]["labels"] == right["metadata"]["labels"]
    };
    // A document, with the hash that goes with it.
    let forged = "e30K";
    patch(json!({ "status": { "bomDocument": { "inline": { "data": forged } } } }), true);
    stage.wait_aibom("demo", NAME, "the right document", good);
    patch(json!({ "status": { "bomHash": "0".repeat(64), "inputHash": "1".repeat(64) } }), true);
    stage.wait_aibom("demo", NAME, "the right hashes", good);
    patch(json!({ "status": { "summary": { "models": [{ "identity": "evil/model" }] } } }), true);
    stage.wait_aibom("demo", NAME, "the right summary", good);
    patch(json!({ "metadata": { "ownerReferences": null, "labels": { "aibom.k8saibom.dev/runtime": "other" } } }), false);
    stage.wait_aibom("demo", NAME, "its owner and labels", good);
    assert!(operator.metric("aibom_repairs_total").unwrap() >= 4.0);
    // Deleted by somebody: it comes back.
    stage.plane.kubectl(&["delete", "aibom", NAME, "-n", "demo"]).unwrap();
    stage.wait_aibom("demo", NAME, "it is back", |aibom| models(aibom) == ["acme/quill-7b"]);
    // Forged while nobody looked.
    operator.process.terminate().unwrap();
    operator.process.wait_exit(crate::stage::SOON).unwrap();
    patch(json!({ "status": { "bomDocument": { "inline": { "data": forged } } } }), true);
    let _again = stage.running(&[]);
    let aibom = stage
        .wait_aibom("demo", NAME, "the right document after a restart", |aibom| aibom["status"]["bomDocument"]["inline"]["data"] != forged);
    assert_eq!(document(&aibom)["components"], document(&right)["components"]);
}

#[test]
fn an_object_in_the_way_is_reported_and_not_fought_and_one_of_the_go_operator_is_taken_over() {
    let stage = Stage::new();
    stage.team("demo");
    let object = |name: &str, workload: &str| {
        json!({
            "apiVersion": "aibom.k8saibom.dev/v1beta1", "kind": "AIBOM", "metadata": { "name": name, "namespace": "demo" },
            "spec": { "bomFormat": "CycloneDX", "bomSpecVersion": "1.6",
                      "workloadRef": { "apiVersion": "apps/v1", "kind": "Deployment", "name": workload } },
        })
    };
    stage.plane.apply(&object(NAME, "something-else").to_string()).unwrap();
    stage.plane.apply(&object("apps-deployment-old", "old").to_string()).unwrap();
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.serve("demo", "old", "acme/quill-7b");
    let _operator = stage.running(&[]);
    let aibom = stage.wait_aibom("demo", NAME, "the condition", |aibom| condition(&aibom["status"], "Ready")["reason"] == "NameTaken");
    assert!(aibom["status"]["bomDocument"].is_null());
    stage.wait_aibom("demo", "apps-deployment-old", "it is taken over", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    std::thread::sleep(A_WHILE);
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 0, "{writes:?}");
    stage
        .plane
        .wait_for(&["events", "-n", "demo"], crate::stage::SOON, |list| {
            list["items"].as_array()?.iter().any(|event| event["reason"] == "AIBOMNameTaken").then_some(())
        })
        .unwrap();
    // Taken out of the way, the AIBOM is written.
    stage.plane.kubectl(&["delete", "aibom", NAME, "-n", "demo"]).unwrap();
    stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
}

#[test]
fn a_workload_behind_an_owner_that_says_nothing_is_not_hidden() {
    let stage = Stage::new();
    stage.team("demo");
    let _operator = stage.running(&[]);
    // What a tenant may do in his own namespace: an owner that has nothing to do with AI, and a workload that says it belongs to it.
    let mut blank = crate::stage::deployment("demo", "blank", "x", 0);
    blank["spec"]["template"]["spec"]["containers"] = json!([{ "name": "web", "image": "nginx:1.27" }]);
    stage.plane.apply(&blank.to_string()).unwrap();
    let uid = stage.plane.get_json(&["deployment", "blank", "-n", "demo"]).unwrap()["metadata"]["uid"].clone();
    let mut hidden = crate::stage::deployment("demo", "chat", "acme/quill-7b", 0);
    hidden["metadata"]["ownerReferences"] =
        json!([{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "blank", "uid": uid, "controller": true }]);
    stage.plane.apply(&hidden.to_string()).unwrap();
    stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    // When the owner speaks for it, it has none of its own; and gets it back.
    stage.serve("demo", "blank", "acme/pen-1b");
    stage.wait_gone("demo", NAME);
    stage.plane.apply(&blank.to_string()).unwrap();
    stage.wait_aibom("demo", NAME, "it is back", |aibom| models(aibom) == ["acme/quill-7b"]);
}

#[test]
fn whoever_changes_an_aibom_again_and_again_is_followed_ever_more_slowly() {
    let stage = Stage::new();
    stage.team("demo");
    let operator = stage.running(&[]);
    stage.serve("demo", "chat", "acme/quill-7b");
    let right = stage.wait_aibom("demo", NAME, "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    stage.wait_quiet();
    let mark = stage.plane.audit().mark();
    let started = std::time::Instant::now();
    let mut changes = 0;
    while started.elapsed() < std::time::Duration::from_secs(25) {
        let forged = json!({ "status": { "bomHash": format!("{changes:064}") } }).to_string();
        stage.plane.kubectl(&["patch", "aibom", NAME, "-n", "demo", "--subresource=status", "--type=merge", "-p", &forged]).unwrap();
        changes += 1;
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    let writes = stage.writes(mark);
    println!("{changes} changes within 25 seconds, {} repairs", writes.len());
    // Three at once, then after 1, 2, 4, 8 and 16 seconds.
    assert!((4..=8).contains(&writes.len()) && changes > 30, "{changes} changes, {writes:?}");
    // When it is left alone, it is put right.
    stage.wait_aibom("demo", NAME, "the right hash", |aibom| aibom["status"]["bomHash"] == right["status"]["bomHash"]);
    assert!(operator.metric("aibom_repairs_total").unwrap() >= 4.0);
}
