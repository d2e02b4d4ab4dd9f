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
        let volume = cache.volume.clone().map(|volume| volume.id("volume"));
        let item = item.source(volume.as_ref().map(|volume| volume.name.clone())).uses(volume.as_ref().map(|volume| volume.id.clone()));
        report.items.push(item);
        report.items.extend(volume);
        return;
    }
    report.state("nim.storage.pvc.name", storage.part("pvc").text("name").map(Claim::declared));
    report.state("nim.storage.hostPath", storage.text("hostPath").map(Claim::declared));
    report.state("nim.storage.emptyDir.sizeLimit", storage.part("emptyDir").quantity("sizeLimit").map(Claim::declared));
    report.items.extend(volume(object, storage).map(|volume| volume.id(ID)));
}

/// The claim or path of a `storage` field: the claim named, the one that the operator creates under the object's name, or the path.
pub(crate) fn volume(object: &Part<'_>, storage: &Part<'_>) -> Option<Item> {
    let claim = storage.part("pvc");
    if let Some(name) = claim.text("name") {
        return Some(Item::new(Class::Volume, Claim::declared(name)));
    }
    if let Some(create) = claim.flag("create").filter(|create| create.value) {
        let owner = object.part("metadata").text("name")?;
        return Some(Item::new(Class::Volume, Claim::derived(format!("{}-pvc", owner.value), [create.at, owner.at])));
    }
    storage.text("hostPath").map(|path| Item::new(Class::Volume, Claim::declared(path)).role("hostPath"))
}
