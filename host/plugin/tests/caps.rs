//! The most expensive component that passes the scan compiles within its budget, off the caller's thread.
//!
//! A binary of its own, because it measures the whole process. Time is processor time: what else the machine does is not counted.
#![allow(clippy::unwrap_used)]

mod support;

#[path = "support/bomb.rs"]
mod bomb;

use aibom_plugin::{MAX_ALL_LOCALS, MAX_BODY, MAX_BYTES, MAX_LOCALS};
use support::{component, host, proc_status};
use wasm_encoder::{Function, ValType};

/// Processor time of the process in milliseconds.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name in parentheses may contain anything; user and system time are the 12th and 13th numbers after it, in ticks of 10 ms.
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
}

#[test]
fn a_component_at_every_cap_compiles_in_less_than_three_seconds_and_150_mebibytes() {
    let honest = component("honest");
    host().load("honest", &honest).unwrap();
    let room = MAX_BYTES - honest.len() - 1_024;
    let branches = bomb::up_to(bomb::branch, MAX_BODY);
    let adds = bomb::up_to(bomb::add, MAX_BODY);
    let mut locals = Function::new([(u32::try_from(MAX_LOCALS).unwrap() - 1, ValType::I64)]);
    locals.instructions().end();
    let many = usize::try_from(MAX_ALL_LOCALS / MAX_LOCALS).unwrap() - 1;
    let cases = [
        ("branches", vec![branches; room / (MAX_BODY + 8)]),
        ("values", vec![adds; room / (MAX_BODY + 8)]),
        ("locals", vec![locals; many]),
        ("functions", vec![bomb::repeated(bomb::add, 1); 19_000]),
    ];
    for (name, bodies) in cases {
        let bytes = bomb::with_module(&honest, &bomb::module(&bodies));
        assert!(bytes.len() <= MAX_BYTES);
        let (cpu, rss) = (cpu_ms(), proc_status("VmRSS:"));
        let plugin = host().load(name, &bytes).unwrap();
        let (cpu, peak) = (cpu_ms() - cpu, proc_status("VmHWM:").saturating_sub(rss));
        println!("{name}: {} bytes, {cpu} ms of processor time, peak {peak} KiB over {rss} KiB", plugin.size().bytes);
        assert!(cpu < 3_000, "{name} took {cpu} ms to compile");
        assert!(peak < 150 << 10, "{name} took {peak} KiB to compile");
    }
}
