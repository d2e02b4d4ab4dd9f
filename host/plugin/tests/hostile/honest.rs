//! The neighbours of a misbehaving guest, at the same time.

use crate::support::{honest_report, plugin, widget};

#[test]
fn neighbours_that_run_at_the_same_time_notice_nothing() {
    let honest = plugin("honest");
    let expected = honest_report(&honest);
    let bad = ["spin", "hog", "recurse", "panic", "view_flood", "handle_leak", "giant"].map(plugin);
    std::thread::scope(|scope| {
        for guest in &bad {
            scope.spawn(|| {
                for _ in 0..3 {
                    guest.scrape(&widget(), &[], "{}").unwrap_err();
                }
            });
        }
        for _ in 0..200 {
            assert_eq!(honest_report(&honest), expected);
        }
    });
    assert_eq!(honest.counters().outcome("ok"), 201);
    assert_eq!(honest.counters().calls(), 201);
}
