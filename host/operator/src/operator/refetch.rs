//! Reads one object again, when only that one is in question.

use std::sync::Arc;

use aibom_watch::{Event, Object, Resource, Scope, Settings, Watch};

use super::scrape::{Read, read};
use super::shared::Shared;
use super::world::Key;

/// Reads an object again and takes over what is known of it now; false when it could not be asked for, and everything is as it was.
pub async fn refetch(shared: &Shared, key: &Key) -> bool {
    let serving = shared.serving();
    let Some(resource) = shared.world().resource(&key.kind).cloned() else { return true };
    // A list of one: it asks for no right that a watch does not need.
    let scope = Scope::Namespace(key.namespace.to_string());
    let settings = Settings { fields: Some(format!("metadata.name={}", key.name)), page: 1, ..Settings::default() };
    let mut list = Watch::new(shared.client.clone(), resource.clone(), &scope, settings);
    loop {
        match list.next().await {
            Event::Listed(object) => {
                accept(shared, &serving, &resource, key, &object).await;
            }
            Event::Failed(failure) => {
                tracing::debug!(workload = %key, %failure, "a workload could not be read again");
                return false;
            }
            Event::Listing => {}
            Event::Unreadable(what) => {
                tracing::warn!(workload = %key, what, "a workload cannot be read");
                return true;
            }
            // That it is gone is for the watch to say.
            Event::Synced | Event::Applied(_) | Event::Deleted(_) | Event::Opened => return true,
        }
    }
}

/// Reads an object and takes over what is known of it.
pub async fn accept(shared: &Shared, serving: &Arc<super::serving::Serving>, resource: &Resource, key: &Key, object: &Object) {
    match read(shared, serving, resource, key, object).await {
        Read::Unchanged => {}
        Read::Workload(workload) => {
            let mut world = shared.world();
            // While it was read, its namespace may have been opted out.
            if world.in_scope(&key.namespace) {
                let asks = !workload.related.is_empty();
                let touched = world.put(key, *workload);
                drop(world);
                shared.look_at(touched);
                if asks {
                    shared.related_changed.notify_one();
                }
            }
        }
    }
}
