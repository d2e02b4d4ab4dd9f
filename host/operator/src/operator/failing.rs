//! What is said about workloads that have no right document: in what is stored, and in events.

use std::time::Duration;

use aibom_api::conditions::{AibomCondition, AibomReason, Wanted};
use aibom_api::effective::Effective;
use aibom_api::names::object_name;
use aibom_api::{GROUP, VERSION};
use aibom_watch::Backoff;
use k8s_openapi::api::core::v1::ObjectReference;

use super::desired::{Verdict, sinks, verdict_hash};
use super::events::Type;
use super::refetch;
use super::shared::Shared;
use super::world::stored::Stored;
use super::world::{Key, State};
use super::writer::{Trouble, patch_conditions, remember};

/// Says in what is stored that the workload could not be read or described, and keeps its document. Says when to look again: some times,
/// and then not before something changes.
///
/// # Errors
/// It could not be written.
pub async fn fail(
    shared: &Shared,
    key: &Key,
    effective: &Effective,
    reason: AibomReason,
    message: &str,
    stored: Option<Stored>,
) -> Result<Option<Duration>, Trouble> {
    let threshold = effective.documents.stale_threshold_reconciles.max(1);
    let note = format!("the workload could not be read: {message}");
    let workload = shared.world().workload(key).cloned();
    if let Some(workload) = &workload {
        let regarding = ObjectReference {
            api_version: Some(workload.api_version.to_string()),
            kind: Some(key.kind.kind.clone()),
            namespace: Some(key.namespace.to_string()),
            name: Some(key.name.to_string()),
            uid: Some(workload.uid.to_string()),
            ..ObjectReference::default()
        };
        shared.events.tell(Type::Warning, reason.as_str(), &note, regarding);
    }
    let failures = shared.queue.failed(key);
    if let Some(stored) = stored.filter(|stored| stored.errors < threshold) {
        let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
        let errors = stored.errors.saturating_add(1);
        let stale = errors >= threshold;
        let stale_reason = if stale { AibomReason::ExtractionErrorsPersistent } else { AibomReason::BomGenerated };
        let wanted = |type_: AibomCondition, status, reason: AibomReason| Wanted {
            type_: type_.as_str(),
            status: Some(status),
            reason: reason.as_str(),
            message: note.clone(),
            observed_generation: None,
        };
        let mut all = vec![wanted(AibomCondition::Ready, false, reason), wanted(AibomCondition::Stale, stale, stale_reason)];
        all.extend(sinks());
        let stored = patch_conditions(shared, key, &name, stored, &all, Some(errors)).await?;
        remember(shared, key, &name, &stored);
    }
    if i64::from(failures) > i64::from(threshold) {
        // Whatever is wrong does not go away by itself; a change of the object or of the scraper brings it back.
        return Ok(None);
    }
    if failures > 1 && matches!(workload.map(|workload| workload.state), Some(State::Failed { .. })) {
        refetch::refetch(shared, key).await;
    }
    Ok(Some(wait_after(failures, Duration::from_secs(2), Duration::from_mins(1))))
}

/// Says in an object that has the name of an AIBOM of ours that it is in the way. Once: nobody is fought.
///
/// # Errors
/// It could not be written.
pub async fn refuse(shared: &Shared, key: &Key, stored: &Stored) -> Result<(), Trouble> {
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    let note = format!(
        "the AIBOM of {key} would have this name, but spec.workloadRef of this object names something else; delete it, and the AIBOM is written"
    );
    shared.events.tell(Type::Warning, "AIBOMNameTaken", &note, aibom_reference(&key.namespace, &name, Some(stored.uid.to_string())));
    let wanted = Wanted {
        type_: AibomCondition::Ready.as_str(),
        status: Some(false),
        reason: AibomReason::NameTaken.as_str(),
        message: note,
        observed_generation: None,
    };
    let hash = verdict_hash(&Verdict::of(&wanted));
    // An AIBOM of another workload says what that workload is like.
    if stored.status == Some(hash) || stored.workload.is_some() {
        return Ok(());
    }
    let mut stored = patch_conditions(shared, key, &name, stored.clone(), std::slice::from_ref(&wanted), None).await?;
    stored.status = Some(hash);
    remember(shared, key, &name, &stored);
    Ok(())
}

/// How long to wait after so many failures in a row.
pub fn wait_after(failures: u32, first: Duration, most: Duration) -> Duration {
    let mut backoff = Backoff::new(first, most);
    let mut wait = backoff.next_wait();
    for _ in 1..failures.min(16) {
        wait = backoff.next_wait();
    }
    wait
}

/// An AIBOM, as events name it.
pub fn aibom_reference(namespace: &str, name: &str, uid: Option<String>) -> ObjectReference {
    ObjectReference {
        api_version: Some(format!("{GROUP}/{VERSION}")),
        kind: Some("AIBOM".to_owned()),
        namespace: Some(namespace.to_owned()),
        name: Some(name.to_owned()),
        uid,
        ..ObjectReference::default()
    }
}
