//! A process that may not reserve the address space of the pool.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use std::process::Command;
use std::time::Duration;

use aibom_plugin::{Allocation, Host, HostConfig};
use support::{load, widget};

const CHILD: &str = "K8S_AIBOM_TEST_WITHOUT_ADDRESS_SPACE";
const TEST: &str = "where_the_pool_cannot_be_reserved_memory_is_mapped_for_each_call";

/// 16 GiB: three calls at a time on demand, but not 17 slots of 4 GiB.
const KIBIBYTES: &str = "16777216";

#[test]
fn where_the_pool_cannot_be_reserved_memory_is_mapped_for_each_call() {
    if std::env::var_os(CHILD).is_some() {
        within_the_limit();
        return;
    }
    let child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\" && shift && exec \"$@\"", "sh", KIBIBYTES])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success(), "{output}");
    assert!(output.contains("allocation fallback"), "{output}");
}

fn within_the_limit() {
    // A deadline that no busy machine reaches before the guest reaches the limit it is made for.
    let host = Host::new(HostConfig { deadline: Duration::from_mins(1), ..HostConfig::default() }).unwrap();
    println!("allocation {}: {}", host.allocation().as_str(), host.fallback_reason().unwrap_or_default());
    assert_eq!(host.allocation(), Allocation::Fallback);
    assert!(host.fallback_reason().is_some());
    let honest = load(&host, "honest");
    for _ in 0..100 {
        assert_eq!(honest.scrape(&widget(), &[], "{}").unwrap().report.items[0].name.text, "acme/small");
    }
    for (name, word) in [("hog", "memory"), ("recurse", "stack"), ("panic", "panic")] {
        assert_eq!(load(&host, name).scrape(&widget(), &[], "{}").unwrap_err().word(), word);
    }
    let hasty = Host::new(HostConfig::default()).unwrap();
    assert_eq!(hasty.allocation(), Allocation::Fallback);
    assert_eq!(load(&hasty, "spin").scrape(&widget(), &[], "{}").unwrap_err().word(), "deadline");
}

#[test]
fn a_process_without_a_limit_gets_the_pool() {
    let host = Host::new(HostConfig::default()).unwrap();
    assert_eq!(host.allocation(), Allocation::Pooling);
    assert_eq!(host.fallback_reason(), None);
}
