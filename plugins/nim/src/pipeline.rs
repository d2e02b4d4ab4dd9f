//! A `NIMPipeline`: services that are written together, each as a whole specification of a `NIMService`.

use k8s_aibom_sdk::{Category, Claim, Container, ContainerClass, Part, Report};

use crate::cache::Cache;
use crate::{helper, model, runtimes, server};

/// The kind.
pub(crate) const KIND: &str = "NIMPipeline";

/// A service of a pipeline.
pub(crate) struct Service<'r> {
    pub(crate) name: String,
    pub(crate) spec: Part<'r>,
}

/// Services that run. One that is switched off creates nothing.
pub(crate) fn services<'r>(object: &Part<'r>) -> Vec<Service<'r>> {
    let all = object.required("spec").each("services");
    let runs = all.into_iter().filter(|service| service.flag("enabled").is_none_or(|enabled| enabled.value));
    runs.map(|service| Service { name: service.text("name").map(|name| name.value).unwrap_or_default(), spec: service.required("spec") })
        .collect()
}

/// Reads a pipeline. `caches` are those that its services ask for, in their order.
pub(crate) fn report(object: &Part<'_>, mut caches: impl Iterator<Item = Cache>) -> Report {
    let mut report = Report::new().category(Category::Inference);
    for Service { name, spec } in services(object) {
        let cache =
            if spec.part("storage").part("nimCache").text("name").is_some() { caches.next().unwrap_or_default() } else { Cache::default() };
        let mut containers = vec![server(&spec, name.clone())];
        for (list, class) in [("initContainers", ContainerClass::Init), ("sidecarContainers", ContainerClass::Sidecar)] {
            containers.extend(spec.each(list).iter().map(|part| helper(part, class)));
        }
        report.containers.extend(containers.into_iter().filter(Container::says_something));
        let id = format!("{name}.model");
        let model = model(&spec, &cache).map(|model| model.id(&id));
        report.items.extend(runtimes(object, &spec, &cache, model.as_ref().map(|_| id.as_str())));
        report.items.extend(model);
        report.state("nim.service", spec.place().map(|at| Claim::implied(name, at)));
    }
    report
}
