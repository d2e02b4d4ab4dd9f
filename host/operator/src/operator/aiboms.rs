//! The AIBOMs that are stored: each is looked through once, and from then on only told of.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aibom_api::aibom::Aibom;
use aibom_watch::{Accept, Event, Meta, Scope, Settings, Watch};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::shared::Shared;
use super::stored::look_through;
use super::writer::resource;

/// How long it is waited with an AIBOM that somebody has deleted: mostly the garbage collector, since its workload goes.
const GOING: Duration = Duration::from_secs(1);

/// Looks through all AIBOMs, page by page, says so, and follows their versions until it is stopped.
pub async fn follow(shared: Arc<Shared>, synced: oneshot::Sender<()>, stop: CancellationToken) {
    let whole = Settings { page: 100, ..Settings::default() };
    let mut list = Watch::new(shared.client.clone(), resource(), &Scope::Cluster, whole);
    let mut count = 0;
    loop {
        let event = tokio::select! { () = stop.cancelled() => return, event = list.next() => event };
        match event {
            Event::Listed(object) => match serde_json::from_str::<Aibom>(object.text.get()) {
                Ok(aibom) => {
                    if let Some((namespace, name, stored)) = look_through(&aibom) {
                        count += 1;
                        shared.world().put_stored(&namespace, &name, stored);
                    }
                }
                Err(error) => tracing::warn!(%error, "an AIBOM cannot be read; it is written again when its workload is looked at"),
            },
            Event::Synced => break,
            Event::Failed(failure) => tracing::warn!(%failure, "the AIBOMs could not be listed yet"),
            Event::Unreadable(what) => tracing::warn!(what, "an AIBOM cannot be read; it is written again when its workload is looked at"),
            Event::Listing | Event::Applied(_) | Event::Deleted(_) | Event::Opened => {}
        }
    }
    drop(list);
    tracing::info!(aiboms = count, "the stored AIBOMs were looked through");
    // Nobody waits when the operator is being stopped.
    let _ = synced.send(());
    let metadata = Settings { accept: Accept::Metadata, page: 500, ..Settings::default() };
    let mut watch = Watch::new(shared.client.clone(), resource(), &Scope::Cluster, metadata);
    let mut seen: Option<HashSet<(String, String)>> = None;
    loop {
        let event = tokio::select! { () = stop.cancelled() => return, event = watch.next() => event };
        match event {
            Event::Listing => seen = Some(HashSet::new()),
            Event::Listed(object) | Event::Applied(object) => {
                let meta = &object.meta;
                if let Some(seen) = &mut seen {
                    seen.insert((meta.namespace.clone(), meta.name.clone()));
                }
                applied(&shared, meta);
            }
            Event::Deleted(object) => {
                let meta = &object.meta;
                deleted(&shared, &meta.namespace, &meta.name, Some(&meta.uid));
            }
            Event::Synced => {
                let Some(seen) = seen.take() else { continue };
                let gone: Vec<(String, String)> = shared
                    .world()
                    .all_stored()
                    .map(|(namespace, name, _)| (namespace.to_string(), name.to_string()))
                    .filter(|stored| !seen.contains(stored))
                    .collect();
                for (namespace, name) in gone {
                    deleted(&shared, &namespace, &name, None);
                }
            }
            Event::Failed(failure) => {
                shared.metrics.watch_errors.with_label_values(&[aibom_api::GROUP, "AIBOM"]).inc();
                tracing::warn!(%failure, "the watch of AIBOMs failed");
            }
            Event::Unreadable(what) => tracing::warn!(what, "a change of an AIBOM cannot be read"),
            Event::Opened => {}
        }
    }
}

/// An AIBOM has this version now. Whether it is one of ours is for the look at its workload to say.
fn applied(shared: &Shared, meta: &Meta) {
    let mut world = shared.world();
    let key = match world.stored_mut(&meta.namespace, &meta.name) {
        Some(stored) => {
            stored.see(&meta.resource_version);
            (!stored.is_known()).then(|| stored.workload.clone()).flatten()
        }
        None => {
            // Ours, on its way, or somebody else's: whoever writes under this name finds out.
            None
        }
    };
    drop(world);
    if let Some(key) = key {
        shared.queue.add(key);
    }
}

fn deleted(shared: &Shared, namespace: &str, name: &str, uid: Option<&str>) {
    let mut world = shared.world();
    let same = world.stored(namespace, name).is_some_and(|stored| uid.is_none_or(|uid| *stored.uid == *uid));
    let removed = if same { world.remove_stored(namespace, name) } else { None };
    let touched = match removed {
        // One that was in the way of somebody.
        Some(stored) if stored.workload.is_none() => world.claimants(namespace, name),
        Some(stored) => {
            // Where its workload goes too, the watch of the workload says so within a moment.
            if let Some(key) = stored.workload {
                shared.queue.add_after(key, GOING);
            }
            return;
        }
        None => return,
    };
    drop(world);
    shared.look_at(touched);
}
