//! Dynamo graphs (`DynamoGraphDeployment`) and single components (`DynamoComponentDeployment`).
//!
//! # Data model
//!
//! The two versions of the kinds differ in shape: v1beta1 has a list of components with a pod template each, v1alpha1 a map of services
//! whose main container stands beside its pod spec. [`beta`] and [`alpha`] read both into the same [`graph::Graph`], and
//! [`graph::Graph::report`] says the same of either, so that a converted object keeps its inventory.
//!
//! Models come from declared fields here and, by the host's rules, from command lines and variables. Never from an image: Dynamo's
//! runtime images carry no model.

mod alpha;
mod beta;
mod graph;

use k8s_aibom_sdk::{Description, Failure, KindRef, Node, Options, Part, Reader, Report, Scraper, export_scraper};

use graph::Graph;

const GROUP: &str = "nvidia.com";
const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];

/// The scraper.
pub struct Dynamo;

impl Scraper for Dynamo {
    fn describe() -> Description {
        let kinds = vec![
            KindRef::new(GROUP, "DynamoGraphDeployment", "dynamographdeployments", &VERSIONS),
            KindRef::new(GROUP, "DynamoComponentDeployment", "dynamocomponentdeployments", &VERSIONS),
        ];
        // Between graph and pods stand Deployments, LeaderWorkerSets (whose leader Pods own StatefulSets) or Grove's sets; a graph also
        // owns its checkpoints, which run Jobs.
        let intermediates = vec![
            KindRef::new(GROUP, "DynamoCheckpoint", "dynamocheckpoints", &["v1alpha1"]),
            KindRef::new("grove.io", "PodCliqueSet", "podcliquesets", &["v1alpha1"]),
            KindRef::new("grove.io", "PodCliqueScalingGroup", "podcliquescalinggroups", &["v1alpha1"]),
            KindRef::new("grove.io", "PodClique", "podcliques", &["v1alpha1"]),
            KindRef::new("grove.io", "PodGangSet", "podgangsets", &["v1alpha1"]),
            KindRef::new("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", &["v1"]),
            KindRef::new("apps", "Deployment", "deployments", &["v1"]),
            KindRef::new("apps", "ReplicaSet", "replicasets", &["v1"]),
            KindRef::new("apps", "StatefulSet", "statefulsets", &["v1"]),
            KindRef::new("batch", "Job", "jobs", &["v1"]),
            KindRef::new("", "Pod", "pods", &["v1"]),
        ];
        Description::new("dynamo", env!("CARGO_PKG_VERSION"), kinds).intermediates(intermediates)
    }

    fn scrape(object: &Node, _related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        let is_alpha = object.version(&VERSIONS)? == "v1alpha1";
        let graph = read(&object, is_alpha);
        Ok(reader.finish(graph.report(&object)))
    }
}

fn read(object: &Part<'_>, is_alpha: bool) -> Graph {
    let spec = object.required("spec");
    let is_graph = object.text("kind").is_none_or(|kind| kind.as_str() == "DynamoGraphDeployment");
    match (is_graph, is_alpha) {
        (true, true) => alpha::graph(&spec),
        (true, false) => beta::graph(&spec),
        (false, true) => alpha::single(object, &spec),
        (false, false) => beta::single(object, &spec),
    }
}

export_scraper!(Dynamo);

#[cfg(test)]
mod tests;
