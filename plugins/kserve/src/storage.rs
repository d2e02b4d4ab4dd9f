//! Where models are kept: storage fields, and the variable that starts the storage initializer for a container of one's own.

use k8s_aibom_sdk::{Claim, Class, Item, Part, Text};

/// Where the storage initializer puts a model.
pub(crate) const MOUNT: &str = "/mnt/models";
/// The variable that asks for it.
const VARIABLE: &str = "STORAGE_URI";
/// Paths that people write where a field must not be empty.
const NOTHING: [&str; 7] = ["", ".", "dummy", "none", "null", "empty", "placeholder"];

/// A model at a URI, mounted into a template.
pub(crate) fn model(uri: Text, template: &str, source: &str) -> Item {
    let at = uri.at.clone();
    mounted(Claim::declared(uri), MOUNT, template).property("identity.source", Claim::implied(source, at))
}

fn mounted(name: Claim, mount: &str, template: &str) -> Item {
    let mount = name.at.first().map(|at| Claim::implied(mount, at.clone()));
    Item::new(Class::Model, name).uses([template]).property("model.mountPath", mount)
}

/// The models that the storage fields of a predictor, or of an explainer, name.
pub(crate) fn of_model(model_part: &Part<'_>, template: &str) -> Vec<Item> {
    let uri = model_part.text("storageUri").map(|uri| model(uri, template, "kserve.storageUri"));
    uri.into_iter().chain(by_key(&model_part.part("storage"), template)).collect()
}

/// `storageUris` of a component: each with a directory of its own.
pub(crate) fn of_component(part: &Part<'_>, template: &str) -> Vec<Item> {
    let entries = part.each("storageUris");
    let items = entries.iter().filter_map(|entry| {
        let uri = entry.text("uri")?;
        let source = Claim::implied("kserve.storageUris", uri.at.clone());
        let mount = entry.text("mountPath").map_or_else(|| Claim::implied(MOUNT, uri.at.clone()), Claim::declared);
        let item = Item::new(Class::Model, Claim::declared(uri)).uses([template]);
        Some(item.property("model.mountPath", mount).property("identity.source", source))
    });
    items.collect()
}

/// A path in a storage that an entry of a Secret describes. Only what stands in the object beside it can complete the address.
fn by_key(storage: &Part<'_>, template: &str) -> Option<Item> {
    let path = storage.text("path")?;
    if NOTHING.contains(&path.as_str().trim_matches('/').to_ascii_lowercase().as_str()) {
        return None;
    }
    let parameters = storage.part("parameters");
    let source = Claim::implied("kserve.storage.path", path.at.clone());
    let item = if let (Some(kind), Some(bucket)) = (parameters.text("type"), parameters.text("bucket")) {
        let uri = format!("{}://{}/{}", kind.value, bucket.value, path.value.trim_start_matches('/'));
        let item = mounted(Claim::derived(uri, [path.at.clone(), bucket.at, kind.at]), MOUNT, template);
        item.source(Claim::declared(path))
    } else {
        let form = Claim::implied("path", path.at.clone());
        mounted(Claim::declared(path), MOUNT, template).property("model.form", form)
    };
    Some(item.property("identity.source", source))
}

/// The models that containers of one's own have fetched for them.
pub(crate) fn of_containers(part: &Part<'_>, template: &str) -> Vec<Item> {
    let containers = part.each("containers");
    containers.iter().filter_map(|container| of_variable(container, template)).collect()
}

/// The model that a variable of a container has fetched for it.
pub(crate) fn of_variable(container: &Part<'_>, template: &str) -> Option<Item> {
    container.named("env", VARIABLE).scalar("value").map(|uri| model(uri, template, "kserve.storageUri"))
}
