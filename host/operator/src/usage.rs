//! What this process has used so far, and how it speaks to people.

use std::io::Write as _;

/// Writes a line to standard error. Nobody can be told that this failed, so it fails silently; `eprintln!` would panic.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Largest resident set of this process, in bytes; none where the system does not tell (it is read from `/proc`).
pub fn peak_resident_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// Resident set of this process, in bytes.
pub fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

/// Anonymous part of the resident set, in bytes.
pub fn anonymous_bytes() -> Option<u64> {
    status("RssAnon:")
}

fn status(field: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
