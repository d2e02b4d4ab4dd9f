//! NIM services (`NIMService`, and `NIMPipeline`, which holds several): a model server described by fields of its own rather than by a
//! pod template.
//!
//! # What names the model
//!
//! From strong to weak: a variable (`NIM_MODEL_NAME`, read by the host like any variable of a known runtime, so nothing is said here);
//! the content of the NIMCache that the service mounts, where the host may hand it over; the image path `nvcr.io/nim/<org>/<name>`,
//! which holds one model per image by convention, except the generic `llm-nim`. Where only a NIMCache could tell and it was not given,
//! the report names it as the source of an unknown model.

mod cache;
mod image;
mod pipeline;
mod storage;

use k8s_aibom_sdk::{
    Category, Claim, Class, Container, ContainerClass, Description, Failure, Item, KindRef, Node, Options, Part, Reader, Report, Scraper,
    Text, Want, export_scraper,
};

use cache::Cache;

const GROUP: &str = "apps.nvidia.com";
const VERSIONS: [&str; 1] = ["v1alpha1"];
/// Id of the model of a service.
const MODEL: &str = "model";

/// The scraper.
pub struct Nim;

impl Scraper for Nim {
    fn describe() -> Description {
        let kinds = vec![
            KindRef::new(GROUP, "NIMService", "nimservices", &VERSIONS),
            KindRef::new(GROUP, pipeline::KIND, "nimpipelines", &VERSIONS),
        ];
        // A pipeline owns services. Alone a service owns a Deployment; over several nodes a LeaderWorkerSet, whose leader Pods own StatefulSets; on KServe an
        // InferenceService, which owns a Deployment or Knative's chain.
        let intermediates = vec![
            KindRef::new("apps", "Deployment", "deployments", &["v1"]),
            KindRef::new("apps", "ReplicaSet", "replicasets", &["v1"]),
            KindRef::new("apps", "StatefulSet", "statefulsets", &["v1"]),
            KindRef::new("", "Pod", "pods", &["v1"]),
            KindRef::new("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "leaderworkersets", &["v1"]),
            KindRef::new("serving.kserve.io", "InferenceService", "inferenceservices", &["v1beta1"]),
            KindRef::new("serving.knative.dev", "Service", "services", &["v1"]),
            KindRef::new("serving.knative.dev", "Configuration", "configurations", &["v1"]),
            KindRef::new("serving.knative.dev", "Revision", "revisions", &["v1"]),
        ];
        let related = vec![KindRef::new(GROUP, "NIMCache", "nimcaches", &VERSIONS)];
        Description::new("nim", env!("CARGO_PKG_VERSION"), kinds).intermediates(intermediates).related(related)
    }

    fn related(object: &Node, _options: &Options) -> Result<Vec<Want>, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        let namespace = object.part("metadata").text("namespace").map(|namespace| namespace.value);
        let specs = if is_pipeline(&object) {
            pipeline::services(&object).into_iter().map(|service| service.spec).collect()
        } else {
            vec![object.part("spec")]
        };
        let caches = specs.iter().filter_map(|spec| spec.part("storage").part("nimCache").text("name"));
        Ok(caches.map(|name| Want::new(GROUP, "NIMCache", namespace.clone(), name)).collect())
    }

    fn scrape(object: &Node, related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
        let reader = Reader::new();
        let object = reader.read(object);
        object.version(&VERSIONS)?;
        let mut caches = related.iter().map(|node| Cache::read(&node.as_ref().map_or_else(|| reader.nothing(), |node| reader.read(node))));
        if is_pipeline(&object) {
            let report = pipeline::report(&object, caches);
            return Ok(reader.finish(report));
        }
        let spec = object.required("spec");
        let cache = caches.next().unwrap_or_default();
        let mut report = Report::new().category(Category::Inference);

        let name = object.part("metadata").text("name").map(|name| name.value).unwrap_or_default();
        let mut containers = vec![server(&spec, name)];
        for (list, class) in [("initContainers", ContainerClass::Init), ("sidecarContainers", ContainerClass::Sidecar)] {
            containers.extend(spec.each(list).iter().map(|part| helper(part, class)));
        }
        let picker = spec.part("expose").part("router").part("eppConfig").part("containerSpec");
        containers.push(helper(&picker, ContainerClass::Sidecar));
        report.containers.extend(containers.into_iter().filter(Container::says_something));

        let model = model(&spec, &cache);
        let known = model.is_some() || declares_model(&spec) || cache.dataset.is_some();
        report.items.extend(runtimes(&object, &spec, &cache, model.as_ref().map(|_| MODEL)));
        report.items.extend(cache.dataset.clone().map(|name| Item::new(Class::Dataset, name)));
        let store = storage::report(&object, &cache, known, &mut report);
        report.items.extend(model.map(|model| model.uses(store)));
        topology(&spec, &mut report);
        Ok(reader.finish(report))
    }
}

fn is_pipeline(object: &Part<'_>) -> bool {
    object.text("kind").is_some_and(|kind| kind.as_str() == pipeline::KIND)
}

fn server(spec: &Part<'_>, name: String) -> Container {
    let image = spec.required("image");
    if image.exists() && !image.has("repository") {
        image.problem("", "the image has no repository");
    }
    // So the operator of these kinds calls it.
    let name = if name.is_empty() { name } else { format!("{name}-ctr") };
    Container::new(name, ContainerClass::Main)
        .image(image::reference(&image))
        .command(spec.list("command"))
        .args(spec.list("args"))
        .env(spec.list("env"))
        .resources(spec.part("resources").place())
}

fn helper(part: &Part<'_>, class: ContainerClass) -> Container {
    Container::new(part.text("name").map(|name| name.value).unwrap_or_default(), class)
        .image(image::reference(&part.part("image")))
        .command(part.list("command"))
        .args(part.list("args"))
        .env(part.list("env"))
}

/// Value of a variable of the server, if the object itself says it.
fn variable(spec: &Part<'_>, name: &str) -> Option<Text> {
    spec.named("env", name).scalar("value")
}

/// Whether a variable names the model, here or in the object that it refers to.
fn declares_model(spec: &Part<'_>) -> bool {
    let named = ["NIM_MODEL_NAME", "NIM_SERVED_MODEL_NAME", "NIM_FT_MODEL", "NIM_CUSTOM_MODEL"].iter().any(|name| {
        let entry = spec.named("env", name);
        entry.scalar("value").is_some() || entry.part("valueFrom").exists()
    });
    // A path there is a mount; only a URI is an identity.
    named || variable(spec, "NIM_MODEL_PATH").is_some_and(|path| path.as_str().contains("://"))
}

/// The model, unless a variable names it.
fn model(spec: &Part<'_>, cache: &Cache) -> Option<Item> {
    let repository = spec.part("image").text("repository");
    let by_path = repository.and_then(|repository| Some(Claim::derived(image::model(repository.as_str())?, [repository.at])));
    let name = match (&cache.model, by_path) {
        _ if declares_model(spec) => return None,
        // Two places that agree are two pieces of evidence.
        (Some(cached), Some(path)) if cached.basis == "derived" && cached.text == path.text => {
            Claim::derived(path.text.clone(), [path.at, cached.at.clone()].concat())
        }
        (Some(cached), _) => cached.clone(),
        (None, by_path) => by_path?,
    };
    // The revision belongs to what the cache names, and so does the address.
    let of_cache = cache.model.is_some();
    let role = image::role(&name.text);
    let item = Item::new(Class::Model, name).id(MODEL).role(role);
    Some(if of_cache { item.version(cache.revision.clone()).source(cache.source.clone()) } else { item })
}

/// What a service runs on; `model` is the id of its model, where there is an item of it.
fn runtimes(object: &Part<'_>, spec: &Part<'_>, cache: &Cache, model: Option<&str>) -> Vec<Item> {
    let mut items = Vec::new();
    if let Some(kind) = object.text("kind") {
        let version = spec.part("image").scalar("tag").map(Claim::declared);
        let item = Item::new(Class::Runtime, Claim::implied("nim", kind.at)).version(version);
        items.push(item.uses(model));
    }
    let mut add = |engine: &str, found: Text| {
        if !items.iter().any(|item: &Item| item.name.text == engine) {
            items.push(Item::new(Class::Runtime, Claim::derived(engine, [found.at])).uses(model));
        }
    };
    if let Some(switch) = variable(spec, "NIM_USE_SGLANG").filter(|switch| matches!(switch.as_str(), "1" | "true" | "True")) {
        add("sglang", switch);
    }
    let named = [
        spec.part("storage").part("nimCache").text("profile"),
        variable(spec, "NIM_MODEL_PROFILE"),
        spec.part("image").text("repository").map(image::last_segment),
        cache.engine.clone(),
    ];
    for found in named.into_iter().flatten() {
        if let Some(engine) = image::engine(found.as_str()) {
            add(engine, found);
        }
    }
    items
}

/// Where and how wide it runs. Services of 2025 give pods per group and GPUs per pod where newer ones give parallelism.
fn topology(spec: &Part<'_>, report: &mut Report) {
    let platform = spec.one_of("inferencePlatform", &["standalone", "kserve"]);
    report.state("nim.inferencePlatform", platform.map(Claim::declared));
    report.state("nim.replicas", spec.integer("replicas").map(Claim::declared));
    report.state("nim.authSecret", spec.text("authSecret").map(Claim::declared));

    let nodes = spec.part("multiNode");
    report.state("nim.multiNode", nodes.place().map(|at| Claim::implied("true", at)));
    report.state("nim.multiNode.backendType", nodes.text("backendType").map(Claim::declared));
    let parallelism = nodes.part("parallelism");
    for name in ["tensor", "pipeline"] {
        report.state(format!("nim.multiNode.parallelism.{name}"), parallelism.integer(name).map(Claim::declared));
    }
    for name in ["size", "gpusPerPod"] {
        report.state(format!("nim.multiNode.{name}"), nodes.integer(name).map(Claim::declared));
    }
}

export_scraper!(Nim);

#[cfg(test)]
mod tests;
