//! Two replicas, of which one writes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use aibom_control_plane::wait_until;

use crate::stage::{SOON, SYSTEM, Stage, models};

fn holder(stage: &Stage) -> String {
    let lease = stage.plane.get_json(&["lease", "k8s-aibom.aibom.k8saibom.dev", "-n", SYSTEM]).unwrap();
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_leader_that_is_killed_or_cut_off_is_followed_by_the_other_and_two_never_write() {
    let stage = Stage::new();
    stage.team("demo");
    let first = stage.operator("aibom-0", &[]);
    wait_until("a leader", SOON, || Ok(if first.metric("aibom_leader") == Some(1.0) { Ok(()) } else { Err(first.process.log_tail(5)) }))
        .unwrap();
    let second = stage.operator("aibom-1", &[]);
    stage.serve("demo", "one", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-one", "its model", |aibom| !models(aibom).is_empty());
    assert_eq!(second.metric("aibom_leader"), Some(0.0), "it stands by");
    // A standby reads nothing but the lease.
    let asked = stage.plane.audit().since(stage.plane.audit().start()).unwrap();
    let standby = asked.by_agent("k8s-aibom/").filter(|entry| entry.user_agent.contains("aibom-1") && entry.resource != "leases");
    assert_eq!(standby.len(), 0, "{standby:?}");

    // Killed.
    let killed = Instant::now();
    first.process.kill9().unwrap();
    stage.serve("demo", "two", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-two", "by the other", |aibom| !models(aibom).is_empty());
    println!("taken over after a kill: {:?}", killed.elapsed());

    // Cut off: halted, and when it goes on again it writes nothing any more.
    let third = stage.operator("aibom-2", &[]);
    wait_until("a standby", SOON, || Ok(if third.metric("aibom_leader") == Some(0.0) { Ok(()) } else { Err(third.process.log_tail(5)) }))
        .unwrap();
    second.process.pause().unwrap();
    let paused = Instant::now();
    stage.serve("demo", "three", "acme/quill-7b");
    stage.wait_aibom("demo", "apps-deployment-three", "by the third", |aibom| !models(aibom).is_empty());
    println!("taken over after a halt: {:?}", paused.elapsed());
    assert_eq!(holder(&stage), "aibom-2");
    stage.serve("demo", "one", "acme/quill-13b");
    second.process.resume().unwrap();
    let status = second.process.wait_exit(SOON).unwrap();
    assert!(!status.success(), "a process that lost its lease ends");
    stage.wait_aibom("demo", "apps-deployment-one", "its new model", |aibom| models(aibom) == ["acme/quill-13b"]);

    // Told to end, it gives the lease back, and a successor need not wait.
    let fourth = stage.operator("aibom-3", &[]);
    wait_until("a standby", SOON, || Ok(if fourth.metric("aibom_leader") == Some(0.0) { Ok(()) } else { Err(fourth.process.log_tail(5)) }))
        .unwrap();
    third.process.terminate().unwrap();
    assert!(third.process.wait_exit(Duration::from_secs(30)).unwrap().success());
    let told = Instant::now();
    wait_until("the successor", SOON, || Ok(if holder(&stage) == "aibom-3" { Ok(()) } else { Err(holder(&stage)) })).unwrap();
    println!("handed over within {:?}", told.elapsed());

    // Whoever wrote, wrote in a time of his own.
    let all = stage.plane.audit().since(stage.plane.audit().start()).unwrap();
    let writes = all.writes().by_agent("k8s-aibom/").filter(|entry| entry.resource == "aiboms" && entry.code < 300);
    let mut times: BTreeMap<String, (std::time::SystemTime, std::time::SystemTime)> = BTreeMap::new();
    for entry in &writes {
        let span = times.entry(entry.user_agent.clone()).or_insert((entry.time, entry.time));
        *span = (span.0.min(entry.time), span.1.max(entry.time));
    }
    let mut spans: Vec<_> = times.into_iter().map(|(agent, (from, to))| (from, to, agent)).collect();
    spans.sort();
    assert!(spans.len() >= 3, "{spans:?}");
    for pair in spans.windows(2) {
        assert!(pair[0].1 < pair[1].0, "two wrote at one time: {pair:?}");
    }
}

#[test]
fn whenever_it_is_killed_every_workload_has_its_right_document_afterwards() {
    let stage = Stage::new();
    stage.team("demo");
    // Fifty moments, spread over what the operator does; the same ones in each run.
    let mut moment = 7_u64;
    let mut expected = BTreeMap::new();
    for round in 0..50_u64 {
        let operator = stage.operator("aibom-0", &[]);
        // Changes from all sides while it starts and works.
        for index in 0..4 {
            let number = (round * 3 + index) % 20;
            let name = format!("server-{number}");
            if (round + index) % 5 == 0 {
                stage.plane.kubectl(&["delete", "deployment", &name, "-n", "demo", "--ignore-not-found", "--wait=false"]).unwrap();
                expected.remove(&name);
            } else {
                let model = format!("acme/quill-{round}-{index}");
                stage.serve("demo", &name, &model);
                expected.insert(name, model);
            }
        }
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis((moment >> 33) % 1_200));
        operator.process.kill9().unwrap();
    }
    let _operator = stage.running(&[]);
    wait_until("every document", SOON, || {
        let found: BTreeMap<String, String> = stage
            .aiboms("demo")
            .iter()
            .map(|aibom| {
                let name = aibom["spec"]["workloadRef"]["name"].as_str().unwrap_or_default().to_owned();
                (name, models(aibom).first().copied().unwrap_or_default().to_owned())
            })
            .collect();
        Ok(if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) })
    })
    .unwrap();
}
