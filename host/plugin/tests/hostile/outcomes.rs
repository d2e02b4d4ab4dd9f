//! Guests that have to be ended, and guests that answer with a failure (bug shape B64: loop, memory, output, recursion, trap, log).

use std::fmt::Write as _;
use std::time::Duration;

use aibom_facts::pointer::Pointer;
use aibom_plugin::{CallError, Host, HostConfig, HostLimit, Level};

use crate::support::{honest_report, host, load, object, plugin, widget};

/// Scrapes twice, so that the second call shows whether the first one left anything, and asks the neighbour before and after.
fn outcome(name: &str, options: &str) -> CallError {
    let neighbour = plugin("honest");
    let before = honest_report(&neighbour);
    let guest = plugin(name);
    let first = guest.scrape(&widget(), &[], options).expect_err("the guest misbehaves");
    let second = guest.scrape(&widget(), &[], options).expect_err("the guest misbehaves again");
    assert_eq!(first, second, "the outcome of {name} depends on the call before");
    assert_eq!(guest.counters().outcome(first.word()), 2);
    assert_eq!(honest_report(&neighbour), before, "{name} changed what its neighbour says");
    first
}

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    assert_eq!(outcome("spin", "{}"), CallError::Deadline(Duration::from_millis(250)));
}

#[test]
fn a_memory_bomb_ends_at_the_memory_limit() {
    assert_eq!(outcome("hog", "{}"), CallError::Memory(64 << 20));
    let peak = plugin_peak("hog");
    assert!(peak <= 64 << 20 && peak > 32 << 20, "the guest got {peak} bytes");
}

fn plugin_peak(name: &str) -> usize {
    let guest = plugin(name);
    let _ = guest.scrape(&widget(), &[], "{}");
    guest.counters().memory_peak
}

#[test]
fn a_guest_that_can_live_without_the_memory_goes_on() {
    let scraped = plugin("modest").scrape(&widget(), &[], "{}").unwrap();
    assert_eq!(scraped.report.properties[0].value.text, "refused");
    assert!(scraped.usage.memory_denied);
}

#[test]
fn recursion_without_end_ends_at_the_stack_limit() {
    assert_eq!(outcome("recurse", "{}"), CallError::Stack);
    // Frames with arrays fill the stack that the guest keeps in its own memory first; to the engine that is an access like any other.
    assert_eq!(outcome("recurse", "wide").word(), "panic");
}

#[test]
fn a_panic_is_told_by_its_last_error_line_or_by_the_trap() {
    assert_eq!(outcome("panic", "say"), CallError::Panic("panicked: the widget is on fire".to_owned()));
    let CallError::Panic(silent) = outcome("panic", "{}") else { panic!("a panic is a panic") };
    assert!(silent.contains("unreachable"), "{silent}");
}

#[test]
fn a_giant_result_is_refused() {
    assert!(matches!(outcome("giant", "{}"), CallError::Output(_)));
}

#[test]
fn a_million_items_are_refused() {
    assert!(matches!(outcome("million", "{}"), CallError::Output(_) | CallError::Memory(_)));
}

#[test]
fn names_that_are_not_utf8_are_refused_in_results_and_in_log_lines() {
    assert!(matches!(outcome("bad_utf8", "{}"), CallError::Output(_)));
    assert!(matches!(outcome("bad_utf8", "log"), CallError::Output(_)));
}

#[test]
fn a_flood_of_host_calls_ends_at_the_work_limit() {
    assert_eq!(outcome("view_flood", "{}"), CallError::Host(HostLimit::Work(1_000_000)));
    assert_eq!(outcome("log_forever", "{}"), CallError::Host(HostLimit::Work(1_000_000)));
}

#[test]
fn few_calls_for_much_work_end_at_the_work_limit_too() {
    let mut text = String::from(r#"{"spec":["#);
    for i in 0..20_000 {
        let _ = write!(text, "{}{{\"name\":\"entry-{i}\"}}", if i == 0 { "" } else { "," });
    }
    text.push_str("]}");
    let large = object(&text);
    let guest = plugin("json_flood");
    let error = guest.scrape(&large, &[], "{}").unwrap_err();
    assert_eq!(error, CallError::Host(HostLimit::Work(1_000_000)));
}

#[test]
fn an_answer_of_the_host_has_a_size_limit() {
    let host = Host::new(HostConfig { result_bytes: 1_000, slots: 1, ..HostConfig::default() }).unwrap();
    let guest = load(&host, "json_flood");
    let long = object(&format!(r#"{{"spec":"{}"}}"#, "x".repeat(2_000)));
    assert_eq!(guest.scrape(&long, &[], "{}").unwrap_err(), CallError::Host(HostLimit::Answer(1_000)));
}

#[test]
fn handles_that_are_never_given_back_end_at_the_handle_limit() {
    assert_eq!(outcome("handle_leak", "{}"), CallError::Host(HostLimit::Handles(65_536)));
}

#[test]
fn a_log_flood_is_dropped_and_counted_while_the_call_goes_on() {
    let guest = plugin("log_flood");
    let scraped = guest.scrape(&widget(), &[], "{}").unwrap();
    let kept: usize = scraped.logs.iter().map(|line| line.message.len()).sum();
    assert!(kept <= 64 << 10, "{kept} bytes of log lines were kept");
    assert!(!scraped.logs.is_empty());
    assert!(scraped.usage.log_bytes_dropped > 9_000_000, "{:?}", scraped.usage);
    assert_eq!(guest.counters().log_bytes_dropped, scraped.usage.log_bytes_dropped);
    assert!(scraped.logs.iter().all(|line| !line.message.contains(|c: char| c.is_control())));
    assert!(plugin("log_flood").scrape(&widget(), &[], "{}").is_ok());
}

#[test]
fn failures_that_the_guest_answers_are_told_from_faults() {
    let guest = plugin("failing");
    let fail = |options: &str| guest.scrape(&widget(), &[], options).unwrap_err();
    assert_eq!(fail("unsupported"), CallError::Unsupported("v7".to_owned()));
    assert_eq!(fail("other"), CallError::Failed("a reason".to_owned()));
    let CallError::Malformed(problem) = fail("malformed") else { panic!("malformed is malformed") };
    assert_eq!((problem.at.pointer.as_str(), problem.message.as_str()), ("/spec/model", "no model"));
    assert!(["unsupported", "other", "malformed"].iter().all(|options| fail(options).is_answer()));
    assert!(guest.scrape(&widget(), &[], "{}").is_ok());
    assert_eq!(guest.counters().outcome("ok"), 1);
    assert_eq!(guest.counters().calls(), 7);
}

#[test]
fn a_failure_at_a_place_that_is_not_there_names_the_nearest_one_above() {
    let error = plugin("control_characters").scrape(&widget(), &[], "fail").unwrap_err();
    let CallError::Malformed(problem) = error else { panic!("malformed is malformed") };
    assert_eq!(problem.at.pointer, Pointer::parse("/spec").unwrap());
    assert_eq!(problem.message, "bad\u{fffd}  name");
}

#[test]
fn no_object_is_remembered_by_the_next_call() {
    let guest = plugin("memory");
    let seen = |name: &str| {
        let object = object(&format!(r#"{{"metadata":{{"name":"{name}"}}}}"#));
        guest.scrape(&object, &[], "{}").unwrap().report.properties[0].value.text.clone()
    };
    assert_eq!(seen("first"), "first");
    assert_eq!(seen("second"), "second");
}

#[test]
fn every_outcome_has_its_word() {
    let errors = [outcome("spin", "{}"), outcome("hog", "{}"), outcome("recurse", "{}"), outcome("panic", "{}")];
    let words: Vec<_> = errors.iter().map(CallError::word).collect();
    assert_eq!(words, ["deadline", "memory", "stack", "panic"]);
    assert!(words.iter().all(|word| CallError::WORDS.contains(word)));
}

#[test]
fn fuel_is_the_same_in_every_run() {
    let host = Host::new(HostConfig { measure_fuel: true, slots: 2, ..HostConfig::default() }).unwrap();
    let guest = load(&host, "honest");
    let fuel = || guest.scrape(&widget(), &[], "{}").unwrap().usage.fuel.unwrap();
    let first = fuel();
    assert!(first > 1_000);
    assert_eq!([fuel(), fuel(), fuel()], [first; 3]);
    assert_eq!(load(&host, "spin").scrape(&widget(), &[], "{}").unwrap_err().word(), "deadline", "fuel ends what epochs would");
}

#[test]
fn log_lines_have_a_level_and_no_line_of_their_own() {
    let scraped = plugin("control_characters").scrape(&widget(), &[], "{}").unwrap();
    assert_eq!(scraped.logs.len(), 1);
    assert_eq!(scraped.logs[0].level, Level::Warn);
    assert_eq!(scraped.logs[0].message, "first forged: second \u{fffd}[2J");
    assert_eq!(host().free_slots(), 16);
}
