//! The workload kinds that Kubernetes itself has. They prove nothing about AI: their pod template goes to the host, whose extraction
//! decides.

use k8s_aibom_sdk::{Claim, Description, Failure, KindRef, Node, Options, Part, PodTemplate, Reader, Report, Scraper, export_scraper};

/// The scraper.
pub struct Workloads;

impl Scraper for Workloads {
    fn describe() -> Description {
        let kinds = vec![
            KindRef::new("apps", "Deployment", "deployments", &["v1"]),
            KindRef::new("apps", "StatefulSet", "statefulsets", &["v1"]),
            KindRef::new("apps", "DaemonSet", "daemonsets", &["v1"]),
            KindRef::new("apps", "ReplicaSet", "replicasets", &["v1"]),
            KindRef::new("batch", "Job", "jobs", &["v1"]),
            KindRef::new("", "Pod", "pods", &["v1"]),
        ];
        Description::new("workloads", env!("CARGO_PKG_VERSION"), kinds)
    }

    fn scrape(object: &Node, _related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        object.version(&["v1"])?;
        let spec = object.required("spec");
        let mut report = Report::new();

        // A kind that cannot be read leaves the shape: only a Pod has its containers in `spec`.
        let is_pod = object.text("kind").is_some_and(|kind| kind.as_str() == "Pod") || spec.has("containers");
        let template = if is_pod { spec.clone() } else { spec.required("template") };
        report.pod_templates.extend(template.place().map(PodTemplate::new));

        for name in ["replicas", "parallelism", "completions"] {
            report.state(format!("workload.{name}"), count(&spec, name));
        }
        Ok(reader.finish(report))
    }
}

fn count(spec: &Part<'_>, name: &str) -> Option<Claim> {
    spec.integer(name).map(Claim::declared)
}

export_scraper!(Workloads);

#[cfg(test)]
mod tests;
