//! Twenty thousand calls leave no memory behind.
//!
//! A binary of its own: what other tests hold at the same time would be counted, too.
#![allow(clippy::unwrap_used)]

mod support;

use support::{host, plugin, proc_status, widget};

#[test]
fn resident_memory_is_flat_after_twenty_thousand_calls() {
    let honest = plugin("honest");
    // Guests that end in each way that is quick: each leaves by another door.
    let bad = ["recurse", "panic", "bad_utf8", "lying_pointers", "control_characters", "modest"].map(plugin);
    let object = widget();
    let round = |calls: usize| {
        for call in 0..calls {
            assert!(honest.scrape(&object, &[], "{}").is_ok());
            assert!(honest.related(&object, "{}").is_ok());
            if call % 10 == 0 {
                let _ = bad[call / 10 % bad.len()].scrape(&object, &[], "{}");
            }
        }
    };
    // Warms the pool, the allocator and every guest.
    round(500);
    let before = proc_status("VmRSS:");
    round(10_000);
    let after = proc_status("VmRSS:");
    let calls: u64 = honest.counters().calls();
    assert_eq!(calls, 21_000);
    println!("{}: {before} KiB before, {after} KiB after {calls} calls", host().allocation().as_str());
    assert!(after < before + 2_048, "{before} KiB before, {after} KiB after 20,000 calls");
}
