//! What the operator did: its requests by the audit log, its memory and processor time by the kernel.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use aibom_control_plane::audit::{Entries, Entry, Mark};
use aibom_control_plane::process::Usage;
use anyhow::Result;

use super::figures::percentile;
use crate::stage::{Operator, Stage, is_lease};
use crate::workspace::note;

/// Nothing asked and next to nothing computed for so many seconds is quiet.
const QUIET_SECONDS: u32 = 5;

/// Processor time in a second that is next to nothing: a lease is renewed with less.
const CALM: f64 = 0.03;

/// Time between two words about what goes on.
const WORD: Duration = Duration::from_secs(15);

/// How an operator was when it had become quiet.
#[derive(Debug)]
pub(crate) struct Quiet {
    /// When its last request was answered that was neither about the lease nor a watch.
    pub(crate) last: Option<SystemTime>,
    /// What it used.
    pub(crate) usage: Usage,
    /// It became quiet within the limit.
    pub(crate) reached: bool,
}

/// Waits until the operator is quiet, and has written so many statuses of AIBOMs since the mark.
pub(crate) fn wait_until_quiet(stage: &Stage, operator: &Operator, since: Mark, statuses: usize, limit: Duration) -> Result<Quiet> {
    let audit = stage.plane.audit();
    let (began, mut word) = (Instant::now(), Instant::now());
    let (mut mark, mut last, mut written, mut calm) = (since, None, 0, 0);
    let mut cpu = operator.usage()?.cpu_seconds;
    loop {
        thread::sleep(Duration::from_secs(1));
        let next = audit.mark();
        // What is answered between the mark and the reading is seen twice, which only matters for the words on the way.
        let requests = work(&stage.requests(mark)?);
        mark = next;
        written += requests.iter().filter(|entry| is_status(entry)).count();
        let newest = requests.iter().map(|entry| entry.time + entry.took).max();
        last = last.max(newest);
        let usage = operator.usage()?;
        calm = if newest.is_none() && usage.cpu_seconds - cpu <= CALM { calm + 1 } else { 0 };
        cpu = usage.cpu_seconds;
        if calm >= QUIET_SECONDS && (written >= statuses || began.elapsed() > limit) {
            return Ok(Quiet { last, usage, reached: written >= statuses });
        }
        if began.elapsed() > limit + limit {
            note(format!("not quiet within {} s; going on", (limit + limit).as_secs()));
            return Ok(Quiet { last, usage, reached: false });
        }
        if word.elapsed() > WORD {
            word = Instant::now();
            let of = if statuses > 0 { format!(" of {statuses}") } else { String::new() };
            note(format!("{:.0} s: {written}{of} AIBOMs written, {:.1} CPU-s", began.elapsed().as_secs_f64(), usage.cpu_seconds));
        }
    }
}

/// Requests that are neither about the lease nor watches: what the operator does because of something.
pub(crate) fn work(requests: &Entries) -> Entries {
    requests.filter(|entry| !is_lease(entry) && entry.verb != "watch")
}

/// It wrote the status of an AIBOM.
pub(crate) fn is_status(entry: &Entry) -> bool {
    entry.resource == "aiboms" && entry.subresource == "status" && entry.is_write() && entry.code < 300
}

/// Requests by verb and resource, on one line; refused ones apart. Paths that are no resource, such as those of discovery, are counted together.
pub(crate) fn list(requests: &Entries) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in requests {
        let resource = match (entry.resource.as_str(), entry.subresource.as_str()) {
            ("", _) => "(discovery)".to_owned(),
            (resource, "") => resource.to_owned(),
            (resource, subresource) => format!("{resource}/{subresource}"),
        };
        let refused = if entry.code >= 400 { format!(" ({})", entry.code) } else { String::new() };
        let what = format!("{} {resource}{refused}", entry.verb);
        *counts.entry(what).or_default() += 1;
    }
    let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(", ") }
}

/// How long the API server took for these requests, in ms: tells what the server costs from what the operator does.
pub(crate) fn server_times(requests: &Entries) -> String {
    let mut took: Vec<Duration> = requests.iter().map(|entry| entry.took).collect();
    took.sort();
    let ms = |part| percentile(&took, part).map_or_else(|| "-".to_owned(), |seconds| format!("{:.0}", seconds * 1000.0));
    format!("p50 {} ms, p99 {} ms", ms(0.5), ms(0.99))
}
