//! Metrics under the names of the Go operator, with values that are set, and what it lacked.

use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

/// Labels of a kind: two kinds may have one name.
const KIND: [&str; 2] = ["group", "kind"];

/// Every metric of the operator.
pub struct Metrics {
    registry: Registry,
    /// Documents by category and runtime.
    pub workloads: IntGaugeVec,
    /// Documents that name a model.
    pub model_bearing: IntGauge,
    /// Workloads in scope without a document, by reason.
    pub skipped: IntGaugeVec,
    /// What became of looks at workloads.
    pub outcomes: IntCounterVec,
    /// Looks at AIBOMs that could not be written.
    pub persist_failures: IntCounterVec,
    /// Malformed parts of objects that scrapers met.
    pub extraction_errors: IntCounterVec,
    /// Deliveries that failed. No sink is served, so there are none.
    pub sink_failures: IntCounterVec,
    /// Changes of the state of the configuration.
    pub config_reloads: IntCounterVec,
    /// Writes of AIBOMs by what was done.
    pub writes: IntCounterVec,
    /// Seconds of a write.
    pub write_seconds: Histogram,
    /// Seconds from an object to its facts.
    pub scrape_seconds: HistogramVec,
    /// Calls of plugins by how they ended.
    pub plugin_calls: IntCounterVec,
    /// Plugins by name and state.
    pub plugins: IntGaugeVec,
    /// Bytes of documents.
    pub document_bytes: Histogram,
    /// Workloads that wait or are worked on.
    pub queue_depth: IntGauge,
    /// Whether objects of a kind can be read.
    pub watch_healthy: IntGaugeVec,
    /// States of kinds: 1 for the one that each is in.
    pub watch_state: IntGaugeVec,
    /// When a kind was last known to work, as seconds since 1970.
    pub watch_last_success: IntGaugeVec,
    /// When an object of a kind came last, as seconds since 1970.
    pub watch_last_event: IntGaugeVec,
    /// Seconds that the watch of a kind waits before it tries again.
    pub watch_backoff: GaugeVec,
    /// Failures of watches.
    pub watch_errors: IntCounterVec,
    /// Objects that could not be read.
    pub watch_unreadable: IntCounterVec,
    /// Repairs of AIBOMs that somebody else had changed.
    pub repairs: IntCounter,
    /// Events that were not sent.
    pub events_dropped: IntCounter,
    /// Whether this process is the one that writes.
    pub leader: IntGauge,
}

impl Metrics {
    /// All metrics, registered.
    ///
    /// # Errors
    /// Never in a build whose tests pass: two metrics of one name.
    pub fn new() -> prometheus::Result<Self> {
        let registry = Registry::new();
        registry.register(Box::new(prometheus::process_collector::ProcessCollector::for_self()))?;
        let make = Maker(&registry);
        let build = make.gauges("aibom_build_info", "Always 1; the version of the controller", &["version"])?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        Ok(Self {
            workloads: make.gauges(
                "aibom_workloads_total",
                "AI workloads with a document, by category and runtime",
                &["category", "runtime"],
            )?,
            model_bearing: make.gauge("aibom_workloads_with_models", "AI workloads whose document names a model")?,
            skipped: make.gauges("aibom_workloads_skipped", "Workloads in scope without a document, by reason", &["reason"])?,
            outcomes: make.counters(
                "aibom_workload_reconcile_outcomes_total",
                "Looks at workloads by what became of them",
                &["kind", "outcome"],
            )?,
            persist_failures: make.counters(
                "aibom_status_persist_failures_total",
                "Writes of AIBOMs that failed",
                &["namespace", "kind"],
            )?,
            extraction_errors: make.counters(
                "aibom_scraper_extraction_errors_total",
                "Malformed parts of objects that scrapers met",
                &["scraper", "evidence_source"],
            )?,
            sink_failures: make.counters(
                "aibom_external_sink_emit_failures_total",
                "Deliveries to sinks that failed",
                &["sink", "namespace", "kind"],
            )?,
            config_reloads: make.counters(
                "aibom_controller_config_reloads_total",
                "Changes of the state of the configuration",
                &["result"],
            )?,
            writes: make.counters("aibom_writes_total", "Writes of AIBOMs", &["operation"])?,
            write_seconds: make.histogram(
                "aibom_write_duration_seconds",
                "Seconds of a write of an AIBOM",
                &[0.005, 0.02, 0.1, 0.5, 2.0, 10.0],
            )?,
            scrape_seconds: make.histograms(
                "aibom_scrape_duration_seconds",
                "Seconds from an object to its facts",
                &["plugin"],
                &[0.0002, 0.001, 0.005, 0.02, 0.1, 0.5],
            )?,
            plugin_calls: make.counters("aibom_plugin_calls_total", "Calls of plugins by how they ended", &["plugin", "outcome"])?,
            plugins: make.gauges("aibom_plugins", "Plugins by state", &["plugin", "state"])?,
            document_bytes: make.histogram(
                "aibom_document_size_bytes",
                "Bytes of written documents",
                &[2e3, 5e3, 1e4, 3e4, 1e5, 262_144.0, 1e6],
            )?,
            queue_depth: make.gauge("aibom_queue_depth", "Workloads that wait to be looked at")?,
            watch_healthy: make.gauges("aibom_watch_healthy", "Whether objects of a kind can be read (1) or not (0)", &KIND)?,
            watch_state: make.gauges(
                "aibom_watch_state",
                "State of the definition of a kind and its health, 1 for those that hold",
                &["group", "kind", "state", "health"],
            )?,
            watch_last_success: make.gauges(
                "aibom_watch_last_success_timestamp_seconds",
                "When a list of a kind was complete, its stream was opened, or an object was read by a probe",
                &KIND,
            )?,
            watch_last_event: make.gauges("aibom_watch_last_event_timestamp_seconds", "When an object of a kind came last", &KIND)?,
            watch_backoff: make.add(GaugeVec::new(
                Opts::new("aibom_watch_backoff_seconds", "How long the watch of a kind waits before it tries again"),
                &KIND,
            ))?,
            watch_errors: make.counters("aibom_watch_errors_total", "Failures of watches", &KIND)?,
            watch_unreadable: make.counters(
                "aibom_watch_unreadable_total",
                "Objects that were passed over, since they could not be read",
                &KIND,
            )?,
            repairs: make.counter("aibom_repairs_total", "AIBOMs that somebody else had changed and that were written again")?,
            events_dropped: make.counter("aibom_events_dropped_total", "Events that could not be sent")?,
            leader: make.gauge("aibom_leader", "Whether this process writes (1) or stands by (0)")?,
            registry: registry.clone(),
        })
    }

    /// The text that scrapers of metrics read.
    ///
    /// # Errors
    /// A collector failed.
    pub fn text(&self) -> prometheus::Result<String> {
        TextEncoder::new().encode_to_string(&self.registry.gather())
    }

    /// Records how long a write took.
    pub fn wrote(&self, operation: &str, took: Duration) {
        self.writes.with_label_values(&[operation]).inc();
        self.write_seconds.observe(took.as_secs_f64());
    }
}

struct Maker<'r>(&'r Registry);

impl Maker<'_> {
    fn add<C: Collector + Clone + 'static>(&self, collector: prometheus::Result<C>) -> prometheus::Result<C> {
        let collector = collector?;
        self.0.register(Box::new(collector.clone()))?;
        Ok(collector)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        self.add(IntGauge::new(name, help))
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntGaugeVec> {
        self.add(IntGaugeVec::new(Opts::new(name, help), labels))
    }

    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        self.add(IntCounter::new(name, help))
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntCounterVec> {
        self.add(IntCounterVec::new(Opts::new(name, help), labels))
    }

    fn histogram(&self, name: &str, help: &str, buckets: &[f64]) -> prometheus::Result<Histogram> {
        self.add(Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec())))
    }

    fn histograms(&self, name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> prometheus::Result<HistogramVec> {
        self.add(HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets.to_vec()), labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_keep_the_names_of_the_go_operator() {
        let metrics = Metrics::new().unwrap();
        metrics.workloads.with_label_values(&["inference", "vllm"]).set(1);
        metrics.persist_failures.with_label_values(&["demo", "Deployment"]).inc();
        metrics.outcomes.with_label_values(&["Deployment", "matched"]).inc();
        metrics.watch_healthy.with_label_values(&["apps", "Deployment"]).set(1);
        let text = metrics.text().unwrap();
        for name in [
            "aibom_workloads_total{category=\"inference\",runtime=\"vllm\"} 1",
            "aibom_status_persist_failures_total{kind=\"Deployment\",namespace=\"demo\"} 1",
            "aibom_workload_reconcile_outcomes_total{kind=\"Deployment\",outcome=\"matched\"} 1",
            "aibom_watch_healthy{group=\"apps\",kind=\"Deployment\"} 1",
            "aibom_build_info{version=",
            "process_resident_memory_bytes",
        ] {
            assert!(text.contains(name), "{name} is missing in\n{text}");
        }
    }
}
