//! Nothing is written when nothing changed.

use std::time::Instant;

use serde_json::json;

use crate::stage::{A_WHILE, Stage, deployment, models};

#[test]
fn a_workload_costs_two_writes_and_what_says_nothing_new_costs_none() {
    let stage = Stage::new();
    stage.team("demo");
    let operator = stage.running(&[]);
    let audit = stage.plane.audit();

    let mark = audit.mark();
    stage.serve("demo", "chat", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-chat", "its model", |aibom| models(aibom) == ["acme/quill-7b"]);
    std::thread::sleep(A_WHILE);
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 2, "{writes:?}");

    let many: Vec<_> = (0..100).map(|number| deployment("demo", &format!("server-{number:03}"), "acme/quill-7b", 0)).collect();
    let started = Instant::now();
    let mark = audit.mark();
    stage.plane.apply(&json!({ "apiVersion": "v1", "kind": "List", "items": many }).to_string()).unwrap();
    aibom_control_plane::wait_until("101 AIBOMs", crate::stage::SOON, || {
        let ready = stage.aiboms("demo").iter().filter(|aibom| !models(aibom).is_empty()).count();
        Ok(if ready == 101 { Ok(()) } else { Err(format!("{ready}")) })
    })
    .unwrap();
    println!("100 Deployments, applied and documented: {:?}", started.elapsed());
    stage.wait_quiet();
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 200, "{:?}", writes.counts());

    // Status and annotations, on all of them; and a scaled one.
    let mark = audit.mark();
    for number in 0..100 {
        let name = format!("server-{number:03}");
        if number < 20 {
            let status = json!({ "status": { "observedGeneration": 99, "conditions": [{ "type": "Progressing", "status": "True", "reason": "X", "message": format!("{number}") }] } });
            stage
                .plane
                .kubectl(&["patch", "deployment", &name, "-n", "demo", "--subresource=status", "--type=merge", "-p", &status.to_string()])
                .unwrap();
        }
    }
    stage.plane.kubectl(&["annotate", "deployment", "--all", "-n", "demo", "example.com/note=nothing"]).unwrap();
    stage.plane.kubectl(&["label", "aibom", "--all", "-n", "demo", "example.com/team=one"]).unwrap();
    stage.plane.kubectl(&["patch", "deployment", "chat", "-n", "demo", "--type=merge", "-p", r#"{"spec":{"minReadySeconds":7}}"#]).unwrap();
    std::thread::sleep(A_WHILE);
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 0, "{writes:?}");

    // Restarted: everything is read, nothing is written.
    operator.process.terminate().unwrap();
    operator.process.wait_exit(crate::stage::SOON).unwrap();
    let mark = audit.mark();
    let again = stage.running(&[]);
    std::thread::sleep(A_WHILE);
    stage.wait_quiet();
    let writes = stage.writes(mark);
    assert_eq!(writes.len(), 0, "{writes:?}");
    assert_eq!(again.metric(r#"aibom_workloads_total{category="inference",runtime="vllm"}"#), Some(101.0));
    let usage = again.process.usage().unwrap();
    println!("after a restart over 101 workloads: {usage:?}");
}
