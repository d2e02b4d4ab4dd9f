//! KServe: `InferenceService`, where a predictor is a framework with storage, a container of one's own, or both, and
//! `LLMInferenceService`, where a model has pod specifications around it.
//!
//! # Where things are said
//!
//! Most services name neither image nor command: both stand in the ServingRuntime (or LLMInferenceServiceConfig) that they refer to.
//! The host hands it over where it may, and its fields are then read under the service's own as KServe merges them: arguments are
//! appended, variables replaced by name, all else replaced. A service that names no runtime gets one chosen by the controller, which only
//! its status tells.
//!
//! The storage initializer puts a model at `/mnt/models`; the item says so, and the host knows the model again in the arguments of the
//! servers that load it from there.

mod formats;
mod llm;
mod runtime;
mod service;
mod storage;

use k8s_aibom_sdk::{Description, Failure, KindRef, Node, Options, Reader, Report, Scraper, Want, export_scraper};

const GROUP: &str = "serving.kserve.io";
/// The group of services from before KServe left Kubeflow, with the same fields.
const LEGACY_GROUP: &str = "serving.kubeflow.org";
const SERVICE_VERSIONS: [&str; 1] = ["v1beta1"];
const LLM_VERSIONS: [&str; 2] = ["v1alpha2", "v1alpha1"];
const LLM: &str = "LLMInferenceService";

/// The scraper.
pub struct KServe;

impl Scraper for KServe {
    fn describe() -> Description {
        let kinds = vec![
            KindRef::new(GROUP, "InferenceService", "inferenceservices", &SERVICE_VERSIONS),
            KindRef::new(LEGACY_GROUP, "InferenceService", "inferenceservices", &SERVICE_VERSIONS),
            KindRef::new(GROUP, LLM, "llminferenceservices", &LLM_VERSIONS),
        ];
        // Deployments of their own, or Knative's chain to one; over several nodes a LeaderWorkerSet, whose leader Pods own StatefulSets.
        let intermediates = vec![
            KindRef::new("apps", "Deployment", "deployments", &["v1"]),
            KindRef::new("apps", "ReplicaSet", "replicasets", &["v1"]),
            KindRef::new("apps", "StatefulSet", "statefulsets", &["v1"]),
            KindRef::new("", "Pod", "pods", &["v1"]),
            KindRef::new("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", &["v1"]),
            KindRef::new("serving.knative.dev", "Service", "services", &["v1"]),
            KindRef::new("serving.knative.dev", "Configuration", "configurations", &["v1"]),
            KindRef::new("serving.knative.dev", "Revision", "revisions", &["v1"]),
        ];
        let related = vec![
            KindRef::new(GROUP, runtime::NAMESPACED, "servingruntimes", &["v1alpha1"]),
            KindRef::new(GROUP, runtime::CLUSTER, "clusterservingruntimes", &["v1alpha1"]),
            KindRef::new(GROUP, llm::CONFIG, "llminferenceserviceconfigs", &LLM_VERSIONS),
        ];
        let mut description = Description::new("kserve", env!("CARGO_PKG_VERSION"), kinds).intermediates(intermediates).related(related);
        // The runtime that the controller chose stands nowhere else.
        description.reads_status = true;
        description
    }

    fn related(object: &Node, _options: &Options) -> Result<Vec<Want>, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        Ok(if llm::is_one(&object) { llm::wants(&object) } else { runtime::wants(&object) })
    }

    fn scrape(object: &Node, related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        let report = if llm::is_one(&object) {
            object.version(&LLM_VERSIONS)?;
            llm::report(&reader, &object, related)
        } else {
            object.version(&SERVICE_VERSIONS)?;
            service::report(&reader, &object, related)
        };
        Ok(reader.finish(report))
    }
}

export_scraper!(KServe);

#[cfg(test)]
mod tests;
