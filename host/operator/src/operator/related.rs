//! Objects that scrapers ask for beside a workload: a serving runtime, a cache. Each of their kinds is watched as long as anything asks for
//! an object of it, by metadata only, and nothing of it is kept but the versions that workloads were read with.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use aibom_api::kinds::GroupKind;
use aibom_watch::{Accept, Cause, Event, Meta, Resource, Scope, Settings, Watch};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::shared::Shared;
use super::world::related::Reference;

/// A kind that the cluster does not serve in any version is asked for again after this time.
const ABSENT: Duration = Duration::from_mins(5);

/// How often it is looked whether a watch is still of use to anybody.
const STILL: Duration = Duration::from_mins(1);

/// Keeps a watch for each kind of which a workload was read with an object.
pub async fn follow(shared: Arc<Shared>, stop: CancellationToken) {
    let mut running: HashMap<Arc<GroupKind>, (CancellationToken, JoinHandle<()>)> = HashMap::new();
    loop {
        let wanted = shared.world().related().kinds();
        for (kind, resources) in &wanted {
            if !running.contains_key(kind) {
                tracing::info!(%kind, "a watch of related objects begins");
                let stop = stop.child_token();
                let task = tokio::spawn(watch(Arc::clone(&shared), Arc::clone(kind), Arc::clone(resources), stop.clone()));
                running.insert(Arc::clone(kind), (stop, task));
            }
        }
        running.retain(|kind, (stop, _)| {
            let needed = wanted.contains_key(kind);
            if !needed {
                tracing::info!(%kind, "a watch of related objects was ended");
                stop.cancel();
            }
            needed
        });
        tokio::select! {
            () = stop.cancelled() => break,
            () = shared.related_changed.notified() => {}
            () = sleep(STILL) => {}
        }
    }
    for (_, task) in running.into_values() {
        let _ = task.await;
    }
}

/// Watches the objects of a kind, in the first version that is served.
async fn watch(shared: Arc<Shared>, kind: Arc<GroupKind>, resources: Arc<[Resource]>, stop: CancellationToken) {
    loop {
        for resource in resources.iter() {
            tokio::select! { () = stop.cancelled() => return, () = watch_version(&shared, &kind, resource) => {} }
        }
        tokio::select! { () = stop.cancelled() => return, () = sleep(ABSENT) => {} }
    }
}

/// Watches as long as the version is served.
async fn watch_version(shared: &Shared, kind: &Arc<GroupKind>, resource: &Resource) {
    // In the whole cluster: there are few of them, and some belong to no namespace.
    let settings = Settings { accept: Accept::Metadata, page: 500, ..Settings::default() };
    let mut watch = Watch::new(shared.client.clone(), resource.clone(), &Scope::Cluster, settings);
    let mut seen: Option<HashSet<Reference>> = None;
    loop {
        let touched = match watch.next().await {
            Event::Listing => {
                seen = Some(HashSet::new());
                continue;
            }
            Event::Listed(object) | Event::Applied(object) => {
                let meta = &object.meta;
                let reference = reference(kind, meta);
                let mut world = shared.world();
                if let Some(seen) = seen.as_mut().filter(|_| world.related().is_asked_for(&reference)) {
                    seen.insert(reference.clone());
                }
                world.put_related(&reference, Some(&meta.resource_version))
            }
            Event::Deleted(object) => shared.world().put_related(&reference(kind, &object.meta), None),
            Event::Synced => match seen.take() {
                Some(seen) => shared.world().retain_related(kind, &seen),
                None => continue,
            },
            Event::Opened | Event::Unreadable(_) => continue,
            Event::Failed(failure) if failure.cause == Cause::NotFound => return,
            Event::Failed(failure) => {
                shared.metrics.watch_errors.with_label_values(&[&kind.group, &kind.kind]).inc();
                tracing::warn!(%resource, %failure, "related objects cannot be watched; a change of one is noticed with the next change of a workload");
                continue;
            }
        };
        shared.look_at(touched);
    }
}

fn reference(kind: &Arc<GroupKind>, meta: &Meta) -> Reference {
    Reference {
        kind: Arc::clone(kind),
        namespace: (!meta.namespace.is_empty()).then(|| Arc::from(&*meta.namespace)),
        name: Arc::from(&*meta.name),
    }
}
