//! Reads one object again, when only that one is in question.

use std::sync::Arc;

use aibom_watch::{Accept, Cause, Meta, Resource};

use super::scrape::{Read, read};
use super::shared::Shared;
use super::world::Key;

/// Reads an object again and takes over what is known of it now. A failure leaves everything as it was.
pub async fn refetch(shared: &Shared, key: &Key) {
    let serving = shared.serving();
    let Some(resource) = shared.world().resource(&key.kind).cloned() else { return };
    let path = resource.object_path(Some(&key.namespace), &key.name);
    let text = match shared.client.get_text(&path, Accept::Whole).await {
        Ok(text) => text,
        Err(failure) => {
            // That it is gone is for the watch to say.
            if failure.cause != Cause::NotFound {
                tracing::debug!(workload = %key, %failure, "a workload could not be read again");
            }
            return;
        }
    };
    let Ok(meta) = Meta::of(&text) else { return };
    accept(shared, &serving, &resource, &meta, key, &text).await;
}

/// Reads an object and takes over what is known of it.
pub async fn accept(shared: &Shared, serving: &Arc<super::serving::Serving>, resource: &Resource, meta: &Meta, key: &Key, text: &str) {
    match read(shared, serving, resource, meta, key, text).await {
        Read::Unchanged => {}
        Read::Workload(workload) => {
            let touched = shared.world().put(key, workload);
            shared.look_at(touched);
        }
    }
}
