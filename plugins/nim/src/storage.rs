//! Where a service keeps its model.

use k8s_aibom_sdk::{Claim, Class, Item, Part, Report};

use crate::cache::Cache;

/// Id of the item that the model is read from.
const STORE: &str = "storage";
/// Id of the volume behind a NIMCache.
const VOLUME: &str = "volume";

/// Adds what the service is stored on and gives the id of the item that the model needs. One shape counts, in the operator's order:
/// NIMCache, volume claim, `emptyDir`, path. `model_known` says whether something names the model; if not, a NIMCache is the place that
/// would.
pub(crate) fn report(object: &Part<'_>, cache: &Cache, model_known: bool, report: &mut Report) -> Option<&'static str> {
    let storage = object.part("spec").part("storage");
    let kind = |word: &str, claim: Claim| Claim { text: word.to_owned(), basis: "implied".to_owned(), at: claim.at };
    let reference = storage.part("nimCache");
    if let Some(name) = reference.text("name").map(Claim::declared) {
        report.state("nim.storage.kind", kind("nimCache", name.clone()));
        report.state("nim.storage.nimCache.name", name.clone());
        report.state("nim.storage.nimCache.profile", reference.text("profile").map(Claim::declared));
        let volume = cache.volume.clone().map(|volume| volume.id(VOLUME));
        let item = Item::new(Class::Configuration, name).id(STORE).role(if model_known { "cache" } else { "model-source" });
        report.items.push(item.source(volume.as_ref().map(|volume| volume.name.clone())).uses(volume.as_ref().map(|_| VOLUME)));
        report.items.extend(volume);
        return Some(STORE);
    }
    if let Some(claim) = claim(object, &storage) {
        report.state("nim.storage.kind", kind("pvc", claim.name.clone()));
        report.state("nim.storage.pvc.name", storage.part("pvc").text("name").map(Claim::declared));
        report.items.push(claim.id(STORE));
        return Some(STORE);
    }
    let scratch = storage.part("emptyDir");
    if let Some(at) = scratch.place() {
        report.state("nim.storage.kind", Claim::implied("emptyDir", at));
        report.state("nim.storage.emptyDir.sizeLimit", scratch.quantity("sizeLimit").map(Claim::declared));
        return None;
    }
    let path = path(&storage)?;
    report.state("nim.storage.kind", kind("hostPath", path.name.clone()));
    report.state("nim.storage.hostPath", path.name.clone());
    report.items.push(path.id(STORE));
    Some(STORE)
}

/// The claim or path behind a `storage` field.
pub(crate) fn volume(object: &Part<'_>, storage: &Part<'_>) -> Option<Item> {
    claim(object, storage).or_else(|| path(storage))
}

/// The volume claim that is named, or the one that the operator creates under the object's name.
fn claim(object: &Part<'_>, storage: &Part<'_>) -> Option<Item> {
    let claim = storage.part("pvc");
    let created = || {
        let create = claim.flag("create").filter(|create| create.value)?;
        let owner = object.part("metadata").text("name")?;
        Some(Claim::derived(format!("{}-pvc", owner.value), [create.at, owner.at]))
    };
    let name = claim.text("name").map(Claim::declared).or_else(created)?;
    Some(Item::new(Class::Volume, name))
}

fn path(storage: &Part<'_>) -> Option<Item> {
    storage.text("hostPath").map(|path| Item::new(Class::Volume, Claim::declared(path)).role("hostPath"))
}
