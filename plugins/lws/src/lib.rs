//! Groups of pods with a leader (`LeaderWorkerSet`), and sets of such groups of which each plays a role of one disaggregated server
//! (`DisaggregatedSet`).
//!
//! # Who runs what
//!
//! A group has `size` pods: one leader and, beyond a size of one, its workers. The leader runs the leader template or, without one, the
//! worker template. Often only the leader's command names the model and the workers join it; that is for the host to read. Neither kind
//! proves anything about AI: a group of web servers is one too, and so are roles called `prefill` and `decode`.

mod group;
mod roles;

use k8s_aibom_sdk::{Description, Failure, KindRef, Node, Options, Reader, Report, Scraper, export_scraper};

const GROUPS_VERSIONS: [&str; 1] = ["v1"];
const ROLES_VERSIONS: [&str; 2] = ["v1", "v1alpha1"];

/// The scraper.
pub struct Lws;

impl Scraper for Lws {
    fn describe() -> Description {
        let kinds = vec![
            KindRef::new("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", &GROUPS_VERSIONS),
            KindRef::new("disaggregatedset.x-k8s.io", "DisaggregatedSet", "disaggregatedsets", &ROLES_VERSIONS),
        ];
        // A set owns the StatefulSet of its leaders, each leader Pod that of its workers.
        let intermediates = vec![KindRef::new("apps", "StatefulSet", "statefulsets", &["v1"]), KindRef::new("", "Pod", "pods", &["v1"])];
        Description::new("lws", env!("CARGO_PKG_VERSION"), kinds).intermediates(intermediates)
    }

    fn scrape(object: &Node, _related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        let mut report = Report::new();
        let spec = object.required("spec");
        // A kind that cannot be read leaves the shape: only a DisaggregatedSet has no group of its own.
        let is_group = object.text("kind").map_or_else(|| spec.has("leaderWorkerTemplate"), |kind| kind.as_str() == "LeaderWorkerSet");
        if is_group {
            object.version(&GROUPS_VERSIONS)?;
            group::report(&spec, None, &mut report);
        } else {
            object.version(&ROLES_VERSIONS)?;
            roles::report(&spec, &mut report);
        }
        Ok(reader.finish(report))
    }
}

export_scraper!(Lws);

#[cfg(test)]
mod tests;
