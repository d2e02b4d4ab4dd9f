//! Where a service keeps its model.

use k8s_aibom_sdk::{Claim, Class, Item, Part, Report};

use crate::cache::Cache;

const ID: &str = "storage";

/// Id of the item that the model is read from, where [`report`] makes one.
pub(crate) fn id(spec: &Part<'_>) -> Option<&'static str> {
    let storage = spec.part("storage");
    let named = storage.part("nimCache").text("name").is_some() || storage.part("pvc").exists() || storage.text("hostPath").is_some();
    named.then_some(ID)
}

/// Exactly one shape counts, in the operator's order: NIMCache, claim, `emptyDir`, path. `model_known` says whether something names
/// the model; if not, a NIMCache is the place that would.
pub(crate) fn report(object: &Part<'_>, storage: &Part<'_>, cache: &Cache, model_known: bool, report: &mut Report) {
    let kind = ["nimCache", "pvc", "emptyDir", "hostPath"].into_iter().find(|kind| match *kind {
        "hostPath" => storage.text(kind).is_some(),
        "nimCache" => storage.part(kind).text("name").is_some(),
        _ => storage.part(kind).exists(),
    });
    let Some(kind) = kind else { return };
    let place = if kind == "hostPath" { storage.text(kind).map(|path| path.at) } else { storage.part(kind).place() };
    report.state("nim.storage.kind", place.map(|at| Claim::implied(kind, at)));

    let reference = storage.part("nimCache");
    if kind == "nimCache"
        && let Some(name) = reference.text("name")
    {
        let name = Claim::declared(name);
        let profile = reference.text("profile").map(Claim::declared);
        report.state("nim.storage.nimCache.name", name.clone());
        report.state("nim.storage.nimCache.profile", profile);
        let item = Item::new(Class::Configuration, name).id(ID).role(if model_known { "cache" } else { "model-source" });
        report.items.push(item.source(cache.volume.clone()));
        report.items.extend(cache.volume.clone().map(|volume| Item::new(Class::Volume, volume)));
        return;
    }
    report.state("nim.storage.pvc.name", storage.part("pvc").text("name").map(Claim::declared));
    report.state("nim.storage.hostPath", storage.text("hostPath").map(Claim::declared));
    report.state("nim.storage.emptyDir.sizeLimit", storage.part("emptyDir").quantity("sizeLimit").map(Claim::declared));
    report.items.extend(volume(object, storage).map(|name| Item::new(Class::Volume, name).id(ID)));
}

/// The claim or path of a `storage` field: the claim named, the one that the operator creates under the object's name, or the path.
pub(crate) fn volume(object: &Part<'_>, storage: &Part<'_>) -> Option<Claim> {
    let claim = storage.part("pvc");
    if let Some(name) = claim.text("name") {
        return Some(Claim::declared(name));
    }
    if let Some(create) = claim.flag("create").filter(|create| create.value) {
        let owner = object.part("metadata").text("name")?;
        return Some(Claim::derived(format!("{}-pvc", owner.value), [create.at, owner.at]));
    }
    storage.text("hostPath").map(Claim::declared)
}
