//! Cron jobs. They prove nothing about AI: the pod template of the jobs that they make goes to the host, whose extraction decides.
//!
//! The Jobs come and go with every run and are children of the CronJob, so that they and their pods are no workloads of their own.

use k8s_aibom_sdk::{Claim, Description, Failure, KindRef, Node, Options, PodTemplate, Reader, Report, Scraper, export_scraper};

/// Both have the same shape. API servers serve v1 only; manifests of the other one are still about.
const VERSIONS: [&str; 2] = ["v1", "v1beta1"];

const CONCURRENCY: [&str; 3] = ["Allow", "Forbid", "Replace"];

/// The scraper.
pub struct CronJob;

impl Scraper for CronJob {
    fn describe() -> Description {
        let kinds = vec![KindRef::new("batch", "CronJob", "cronjobs", &VERSIONS)];
        let intermediates = vec![KindRef::new("batch", "Job", "jobs", &["v1"])];
        Description::new("cronjob", env!("CARGO_PKG_VERSION"), kinds).intermediates(intermediates)
    }

    fn scrape(object: &Node, _related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        object.version(&VERSIONS)?;
        let spec = object.required("spec");
        let job = spec.required("jobTemplate").required("spec");
        let mut report = Report::new();
        report.pod_templates.extend(job.required("template").place().map(PodTemplate::new));

        for name in ["schedule", "timeZone"] {
            report.state(format!("cronjob.{name}"), spec.text(name).map(Claim::declared));
        }
        report.state("cronjob.suspend", spec.flag("suspend").map(Claim::declared));
        report.state("cronjob.concurrencyPolicy", spec.one_of("concurrencyPolicy", &CONCURRENCY).map(Claim::declared));
        for name in ["parallelism", "completions"] {
            report.state(format!("cronjob.{name}"), job.integer(name).map(Claim::declared));
        }
        Ok(reader.finish(report))
    }
}

export_scraper!(CronJob);

#[cfg(test)]
mod tests;
