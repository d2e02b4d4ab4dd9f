//! Guests that spin in every slot delay nobody's timers.
//!
//! A binary of its own, because it measures time. A busy machine only ever makes timers later, so the best of several rounds is taken: if
//! guests ran on the threads of the runtime, no round would be below some hundred milliseconds.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{hasty_host, host, plugin, widget};

const ROUNDS: usize = 8;
const LATE: Duration = Duration::from_millis(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn timers_are_less_than_twenty_milliseconds_late_while_all_slots_spin() {
    let spin = plugin("spin");
    let slots = hasty_host().config().slots;
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let calls: Vec<_> = (0..slots)
            .map(|_| {
                let spin = spin.clone();
                tokio::spawn(async move { spin.scrape_async(widget(), vec![], Arc::from("{}")).await })
            })
            .collect();
        while hasty_host().free_slots() > 0 {
            tokio::task::yield_now().await;
        }
        let mut latest = Duration::ZERO;
        let pause = Duration::from_millis(2);
        while !calls.iter().any(tokio::task::JoinHandle::is_finished) {
            let started = Instant::now();
            tokio::time::sleep(pause).await;
            latest = latest.max(started.elapsed().saturating_sub(pause));
        }
        for call in calls {
            assert_eq!(call.await.unwrap().unwrap_err().word(), "deadline");
        }
        best = best.min(latest);
        if best < LATE {
            break;
        }
    }
    println!("{slots} slots spinning: timers at most {best:?} late in the best round");
    assert!(best < LATE, "timers were {best:?} late");
}

#[tokio::test]
async fn more_calls_than_slots_wait_for_a_slot_and_none_is_turned_away() {
    let honest = plugin("honest");
    let calls: Vec<_> = (0..host().config().slots * 8)
        .map(|_| {
            let honest = honest.clone();
            tokio::spawn(async move { honest.scrape_async(widget(), vec![None], Arc::from("{}")).await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap().unwrap().report.items[0].name.text, "acme/small");
    }
    assert_eq!(honest.related_async(widget(), Arc::from("{}")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_caller_that_stops_waiting_frees_no_slot_that_is_in_use() {
    let host = aibom_plugin::Host::new(aibom_plugin::HostConfig { slots: 1, ..Default::default() }).unwrap();
    let spin = support::load(&host, "spin");
    let honest = support::load(&host, "honest");
    let call = tokio::spawn({
        let spin = spin.clone();
        async move { spin.scrape_async(widget(), vec![], Arc::from("{}")).await }
    });
    while host.free_slots() > 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    assert_eq!(host.free_slots(), 0, "the guest still runs");
    assert!(honest.scrape_async(widget(), vec![], Arc::from("{}")).await.is_ok());
    assert_eq!(spin.counters().outcome("deadline"), 1, "the guest had to end before there was a slot");
}
