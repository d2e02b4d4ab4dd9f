//! Looks at one workload after the other, and writes what has to be written.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use aibom_api::aibom::{Aibom, AibomStatus};
use aibom_api::conditions::{self, AibomCondition, AibomReason, Wanted};
use aibom_api::effective::Effective;
use aibom_api::names::object_name;
use aibom_api::{GROUP, VERSION};
use aibom_bom::{Options, PropertyNames, SpecVersion};
use aibom_watch::{Backoff, Cause, Failure};
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, Preconditions};
use serde_json::{Value, json};

use super::desired::{Desired, Verdict, desired, document, verdict_hash};
use super::events::Type;
use super::plan::{Plan, Proof, Subject, plan};
use super::shared::Shared;
use super::stored::{counted, look_through};
use super::world::stored::Stored;
use super::world::{Key, State};
use super::{observed, refetch};
use crate::cli::producer;

/// Owner of the fields that this controller writes.
pub const FIELD_MANAGER: &str = "k8s-aibom";

/// Time for one write; never longer than this process may write.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a look at a workload has to be repeated.
#[derive(Debug)]
enum Trouble {
    /// This process may not write at the moment.
    NoTerm,
    /// A request failed.
    Request(&'static str, Failure),
    /// The object that is stored is another one than expected; it has been looked through again.
    Changed,
}

/// Takes workloads from the queue until it is closed.
pub async fn work(shared: Arc<Shared>) {
    while let Some(key) = shared.queue.take().await {
        let retry = match look(&shared, &key).await {
            Ok(None) => None,
            Ok(Some(after)) => Some(after),
            Err(trouble) => Some(after_trouble(&shared, &key, &trouble)),
        };
        shared.queue.done(&key, retry);
        shared.metrics.queue_depth.set(i64::try_from(shared.queue.len()).unwrap_or(i64::MAX));
    }
}

/// Counts and tells what went wrong, and says when to try again.
fn after_trouble(shared: &Shared, key: &Key, trouble: &Trouble) -> Duration {
    let failures = shared.queue.failed(key);
    let mut backoff = Backoff::new(Duration::from_millis(500), Duration::from_mins(5));
    let mut wait = backoff.next_wait();
    for _ in 1..failures.min(12) {
        wait = backoff.next_wait();
    }
    match trouble {
        Trouble::NoTerm => Duration::from_secs(1),
        Trouble::Changed => Duration::ZERO.max(if failures > 3 { wait } else { Duration::ZERO }),
        Trouble::Request(operation, failure) => {
            tracing::warn!(workload = %key, operation, %failure, retry_in_ms = wait.as_millis() as u64, "an AIBOM could not be written");
            if failure.cause != Cause::Conflict {
                shared.metrics.persist_failures.with_label_values(&[&*key.namespace, &*key.kind.kind]).inc();
                let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
                let uid = shared.world().stored(&key.namespace, &name).map(|stored| stored.uid.to_string());
                let note = format!("{operation} failed ({}): {}", failure.cause.as_str(), failure.message);
                shared.events.tell(Type::Warning, "AIBOMStatusPersistFailed", &note, aibom_reference(&key.namespace, &name, uid));
            }
            wait
        }
    }
}

/// Looks at a workload. Says when to look again, if that is known.
async fn look(shared: &Shared, key: &Key) -> Result<Option<Duration>, Trouble> {
    check_foreign_write(shared, key).await?;
    let serving = shared.serving();
    let planned = plan(&shared.world(), &serving.effective, key);
    let outcome = |word: &str| shared.metrics.outcomes.with_label_values(&[&key.kind.kind, word]).inc();
    match planned {
        Plan::Keep(why) => outcome(why),
        Plan::Without(proof, stored) => {
            outcome(proof.as_str());
            if let Some(stored) = stored {
                delete(shared, key, &stored, proof).await?;
            }
        }
        Plan::Refused(stored) => {
            outcome("name_taken");
            refuse(shared, key, &stored).await?;
        }
        Plan::Failed { reason, stored } => {
            outcome("failed");
            return fail(shared, key, &serving.effective, AibomReason::ScrapeFailed, &reason, stored).await;
        }
        Plan::Document(subject) => {
            outcome("matched");
            return write(shared, key, &serving.effective, *subject).await;
        }
    }
    Ok(None)
}

/// Somebody else has written an AIBOM: it is read and looked through, once for each version.
async fn check_foreign_write(shared: &Shared, key: &Key) -> Result<(), Trouble> {
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    let before = shared.world().stored(&key.namespace, &name).cloned();
    let Some(before) = before.filter(|stored| !stored.is_known()) else { return Ok(()) };
    look_again(shared, &key.namespace, &name).await?;
    let mut world = shared.world();
    if let Some(now) = world.stored_mut(&key.namespace, &name) {
        // What was written of the document and its envelope is remembered only here; a change that holds together is one nevertheless.
        if now.object != before.object || now.status != before.status {
            shared.metrics.repairs.inc();
            tracing::warn!(workload = %key, aibom = name, "somebody else has changed an AIBOM; it is written again");
        }
    }
    Ok(())
}

/// Reads what is stored under a name, and remembers what it is worth.
async fn look_again(shared: &Shared, namespace: &str, name: &str) -> Result<(), Trouble> {
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), namespace);
    let found = bounded(PATIENCE, api.get_opt(name)).await.map_err(|failure| Trouble::Request("get", failure))?;
    let mut world = shared.world();
    match found.as_ref().and_then(look_through) {
        Some((_, _, mut stored)) => {
            if let Some(known) = world.stored(namespace, name) {
                stored.seen_version.clone_from(&known.seen_version);
                // The watch may be ahead of this read or behind it.
                stored.known_versions[1].clone_from(&known.seen_version);
                // Version and time of the document are those that were written, whatever stands there now.
                if known.document.is_some() && known.uid == stored.uid {
                    stored.document.clone_from(&known.document);
                }
            }
            world.put_stored(namespace, name, stored);
        }
        None => {
            world.remove_stored(namespace, name);
        }
    }
    Ok(())
}

async fn write(shared: &Shared, key: &Key, effective: &Effective, subject: Subject) -> Result<Option<Duration>, Trouble> {
    let Subject { workload, facts, digests, stored } = subject;
    let now = now();
    let built = facts.unpack().ok_or_else(|| "its facts cannot be read back".to_owned()).and_then(|mut inventory| {
        observed::observe(&mut inventory, &digests);
        let known = stored.as_ref().and_then(|stored| stored.document.as_ref());
        let (document, known) = document(&inventory, &options(shared, effective), known, &now).map_err(|unfit| unfit.to_string())?;
        Ok(desired(key, &workload, &inventory, &document, known, &effective.documents))
    });
    let desired = match built {
        Ok(desired) => desired,
        Err(reason) => return fail(shared, key, effective, AibomReason::BuildFailed, &reason, stored).await,
    };
    let (mut object, mut status) = (true, true);
    if let Some(stored) = &stored {
        object = stored.object != Some(desired.object_hash);
        status = stored.status != Some(desired.status_hash);
    }
    let mut next = stored.clone();
    if object {
        next = Some(apply_object(shared, key, &desired, stored.as_ref()).await?);
    }
    if let Some(next) = next.filter(|_| object || status) {
        apply_status(shared, key, &desired, next, stored.is_none()).await?;
    }
    Ok(None)
}

fn options(shared: &Shared, effective: &Effective) -> Options {
    Options {
        spec_version: SpecVersion::parse(effective.documents.spec_version.as_str()).unwrap_or_default(),
        property_names: match effective.documents.property_names {
            aibom_api::config::PropertyNames::Dotted => PropertyNames::Dotted,
            aibom_api::config::PropertyNames::Colon => PropertyNames::Colon,
        },
        cluster_uid: shared.cluster_uid.get().cloned(),
        ..Options::new(producer(), "")
    }
}

/// Applies metadata and specification.
async fn apply_object(shared: &Shared, key: &Key, desired: &Desired, stored: Option<&Stored>) -> Result<Stored, Trouble> {
    let mut object = desired.object.clone();
    // With its UID: an object of the same name that came in between is another one.
    object.metadata.uid = stored.map(|stored| stored.uid.to_string());
    let body = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "AIBOM",
        "metadata": &object.metadata,
        "spec": &object.spec,
    });
    let written = apply(shared, key, &desired.name, None, body).await;
    let written = match written {
        Err(Trouble::Request(_, failure)) if matches!(failure.cause, Cause::Conflict | Cause::Invalid | Cause::NotFound) => {
            // Something else is stored there than what was known: another object, a deleted one, one for another workload.
            let before = shared.world().stored(&key.namespace, &desired.name).cloned();
            look_again(shared, &key.namespace, &desired.name).await?;
            let after = shared.world().stored(&key.namespace, &desired.name).cloned();
            let same = before.map(|stored| stored.uid) == after.map(|stored| stored.uid);
            return Err(if same { Trouble::Request("apply", failure) } else { Trouble::Changed });
        }
        other => other?,
    };
    // Controllers are told apart by UID, and an object may have one: those of an earlier workload go with it.
    let foreign = written.metadata.owner_references.iter().flatten().any(|owner| {
        owner.controller == Some(true) && !desired.object.metadata.owner_references.iter().flatten().any(|own| own.uid == owner.uid)
    });
    let written = if foreign { replace_owners(shared, key, desired, &written).await? } else { written };
    let version: Box<str> = written.metadata.resource_version.clone().unwrap_or_default().into();
    let stored = Stored {
        uid: Arc::from(written.metadata.uid.as_deref().unwrap_or_default()),
        known_versions: [version.clone(), version],
        seen_version: stored.map(|stored| stored.seen_version.clone()).unwrap_or_default(),
        workload: Some(key.clone()),
        object: Some(desired.object_hash),
        status: stored.and_then(|stored| stored.status),
        document: stored.and_then(|stored| stored.document.clone()),
        inventory: stored.map(|stored| Arc::clone(&stored.inventory)).unwrap_or_default(),
        errors: stored.map_or(0, |stored| stored.errors),
        transitions: stored.map(|stored| stored.transitions.clone()).unwrap_or_default(),
    };
    remember(shared, key, &desired.name, &stored);
    Ok(stored)
}

/// Takes owners away that were put there by somebody else: apply only takes away what it put there itself.
async fn replace_owners(shared: &Shared, key: &Key, desired: &Desired, written: &Aibom) -> Result<Aibom, Trouble> {
    let patch = json!({ "metadata": {
        "uid": written.metadata.uid,
        "resourceVersion": written.metadata.resource_version,
        "ownerReferences": &desired.object.metadata.owner_references,
    } });
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), &key.namespace);
    let time = may_write(shared)?;
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(&patch);
    bounded(time, api.patch(&desired.name, &params, &patch)).await.map_err(|failure| Trouble::Request("patch owners", failure))
}

async fn apply_status(shared: &Shared, key: &Key, desired: &Desired, mut stored: Stored, new: bool) -> Result<(), Trouble> {
    let now = Time(Timestamp::now());
    let mut status: AibomStatus = desired.status.clone();
    status.conditions = with_times(&stored, &desired.conditions, &now);
    status.last_reconciled = Some(now);
    let body = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"),
        "kind": "AIBOM",
        "metadata": { "name": &desired.name, "namespace": &*key.namespace, "uid": &*stored.uid },
        "status": &status,
    });
    let written = match apply(shared, key, &desired.name, Some("status"), body).await {
        Err(Trouble::Request(_, failure)) if matches!(failure.cause, Cause::Conflict | Cause::NotFound) => {
            look_again(shared, &key.namespace, &desired.name).await?;
            return Err(Trouble::Changed);
        }
        // The document does not fit: say so in its place, or nobody would know.
        Err(Trouble::Request(operation, failure)) if failure.cause == Cause::TooLarge => {
            let reason = format!("the document cannot be stored: {}; lower spec.bomGeneration.inlineThresholdBytes", failure.message);
            fail(shared, key, &shared.serving().effective, AibomReason::BuildFailed, &reason, Some(stored)).await?;
            return Err(Trouble::Request(operation, failure));
        }
        other => other?,
    };
    if let Some(document) = &status.bom_document {
        shared.metrics.document_bytes.observe(document.size.unwrap_or(0) as f64);
    }
    stored.known_versions[1] = written.metadata.resource_version.unwrap_or_default().into();
    stored.status = Some(desired.status_hash);
    stored.inventory = counted(&status);
    stored.document = desired.status.bom_document.as_ref().and_then(|document| document.inline.as_ref()).map(|_| desired.document.clone());
    stored.errors = 0;
    stored.transitions = transitions(&status.conditions);
    remember(shared, key, &desired.name, &stored);
    tracing::info!(workload = %key, aibom = desired.name, version = desired.document.version, new, "AIBOM written");
    Ok(())
}

/// What was written, with what the watch said meanwhile.
fn remember(shared: &Shared, key: &Key, name: &str, stored: &Stored) {
    let mut world = shared.world();
    let mut stored = stored.clone();
    if let Some(seen) = world.stored(&key.namespace, name).map(|known| known.seen_version.clone()) {
        stored.seen_version = seen;
    }
    world.put_stored(&key.namespace, name, stored);
}

fn with_times(stored: &Stored, wanted: &[Wanted], now: &Time) -> Vec<Condition> {
    let mut all: Vec<Condition> = Vec::new();
    for (type_, status, since) in &stored.transitions {
        // Only type, status and time of what is stored count; everything else is replaced.
        all.push(Condition {
            type_: type_.to_string(),
            status: status.to_string(),
            last_transition_time: since.clone(),
            reason: String::new(),
            message: String::new(),
            observed_generation: None,
        });
    }
    for wanted in wanted {
        conditions::set(&mut all, wanted, now);
    }
    all.retain(|condition| wanted.iter().any(|wanted| wanted.type_ == condition.type_));
    all
}

fn transitions(conditions: &[Condition]) -> Vec<(Box<str>, Box<str>, Time)> {
    conditions.iter().map(|c| (c.type_.as_str().into(), c.status.as_str().into(), c.last_transition_time.clone())).collect()
}

/// Says in what is stored that the workload could not be read, and keeps its document. Reads it again some times.
async fn fail(
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
    let failures = i32::try_from(shared.queue.failed(key)).unwrap_or(i32::MAX);
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    if let Some(mut stored) = stored.filter(|stored| stored.errors < threshold) {
        let errors = stored.errors.saturating_add(1);
        let stale = errors >= threshold;
        let wanted = |type_: AibomCondition, status, reason: AibomReason| Wanted {
            type_: type_.as_str(),
            status: Some(status),
            reason: reason.as_str(),
            message: note.clone(),
            observed_generation: None,
        };
        let stale_reason = if stale { AibomReason::ExtractionErrorsPersistent } else { AibomReason::BomGenerated };
        let mut wanted = vec![wanted(AibomCondition::Ready, false, reason), wanted(AibomCondition::Stale, stale, stale_reason)];
        for (type_, status, reason, message) in [
            (AibomCondition::Synced, true, AibomReason::CrdStatusOnly, "no sink is served; the document is in this object only"),
            (AibomCondition::SinkFailed, false, AibomReason::AllSinksOk, "no sink is served"),
        ] {
            wanted.push(Wanted {
                type_: type_.as_str(),
                status: Some(status),
                reason: reason.as_str(),
                message: message.to_owned(),
                observed_generation: None,
            });
        }
        let conditions = with_times(&stored, &wanted, &Time(Timestamp::now()));
        let body = json!({ "metadata": { "uid": &*stored.uid }, "status": { "conditions": &conditions, "consecutiveErrors": errors } });
        let written = patch_status(shared, &key.namespace, &name, &body).await?;
        stored.known_versions = [stored.known_versions[1].clone(), written.metadata.resource_version.unwrap_or_default().into()];
        stored.status = None;
        stored.errors = errors;
        stored.transitions = transitions(&conditions);
        remember(shared, key, &name, &stored);
    }
    if failures > threshold {
        // Whatever is wrong is not going away by itself; a change of the object or of the scraper brings it back.
        return Ok(None);
    }
    let mut backoff = Backoff::new(Duration::from_secs(2), Duration::from_mins(1));
    let mut wait = backoff.next_wait();
    for _ in 1..failures.min(8) {
        wait = backoff.next_wait();
    }
    if failures > 1 && matches!(workload.map(|workload| workload.state), Some(State::Failed { .. })) {
        refetch::refetch(shared, key).await;
    }
    Ok(Some(wait))
}

/// Says in an object that has the name of an AIBOM of ours that it is in the way. Once: nobody is fought.
async fn refuse(shared: &Shared, key: &Key, stored: &Stored) -> Result<(), Trouble> {
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
    let conditions = with_times(stored, std::slice::from_ref(&wanted), &Time(Timestamp::now()));
    let body = json!({ "metadata": { "uid": &*stored.uid }, "status": { "conditions": &conditions } });
    let written = patch_status(shared, &key.namespace, &name, &body).await?;
    let mut stored = stored.clone();
    stored.known_versions = [stored.known_versions[1].clone(), written.metadata.resource_version.unwrap_or_default().into()];
    stored.status = Some(hash);
    remember(shared, key, &name, &stored);
    Ok(())
}

async fn delete(shared: &Shared, key: &Key, stored: &Stored, proof: Proof) -> Result<(), Trouble> {
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), &key.namespace);
    let params = DeleteParams {
        preconditions: Some(Preconditions { uid: Some(stored.uid.to_string()), resource_version: None }),
        ..DeleteParams::default()
    };
    let started = Instant::now();
    let time = may_write(shared)?;
    match bounded(time, api.delete(&name, &params)).await {
        Ok(_) => {
            shared.metrics.wrote("delete", started.elapsed());
            tracing::info!(workload = %key, aibom = name, proof = proof.as_str(), "AIBOM deleted");
        }
        // The garbage collector was faster.
        Err(failure) if failure.cause == Cause::NotFound => {}
        Err(failure) if failure.cause == Cause::Conflict => {
            look_again(shared, &key.namespace, &name).await?;
            return Err(Trouble::Changed);
        }
        Err(failure) => return Err(Trouble::Request("delete", failure)),
    }
    shared.world().remove_stored(&key.namespace, &name);
    Ok(())
}

async fn apply(shared: &Shared, key: &Key, name: &str, subresource: Option<&str>, body: Value) -> Result<Aibom, Trouble> {
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), &key.namespace);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let started = Instant::now();
    let time = may_write(shared)?;
    let patch = Patch::Apply(body);
    let (operation, outcome) = match subresource {
        None => ("apply", bounded(time, api.patch(name, &params, &patch)).await),
        Some(_) => ("apply_status", bounded(time, api.patch_status(name, &params, &patch)).await),
    };
    let written = outcome.map_err(|failure| Trouble::Request(operation, failure))?;
    shared.metrics.wrote(operation, started.elapsed());
    Ok(written)
}

async fn patch_status(shared: &Shared, namespace: &str, name: &str, body: &Value) -> Result<Aibom, Trouble> {
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), namespace);
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let started = Instant::now();
    let time = may_write(shared)?;
    let written = bounded(time, api.patch_status(name, &params, &Patch::Merge(body))).await;
    let written = written.map_err(|failure| Trouble::Request("patch_status", failure))?;
    shared.metrics.wrote("patch_status", started.elapsed());
    Ok(written)
}

/// The time for a write, if this process may write now.
fn may_write(shared: &Shared) -> Result<Duration, Trouble> {
    shared.term.left().map(|left| left.min(PATIENCE)).ok_or(Trouble::NoTerm)
}

async fn bounded<T>(time: Duration, call: impl Future<Output = kube::Result<T>>) -> Result<T, Failure> {
    match tokio::time::timeout(time, call).await {
        Ok(outcome) => outcome.map_err(Failure::from),
        Err(_) => Err(Failure::new(Cause::Timeout, format!("no answer within {:.1} s", time.as_secs_f64()))),
    }
}

fn aibom_reference(namespace: &str, name: &str, uid: Option<String>) -> ObjectReference {
    ObjectReference {
        api_version: Some(format!("{GROUP}/{VERSION}")),
        kind: Some("AIBOM".to_owned()),
        namespace: Some(namespace.to_owned()),
        name: Some(name.to_owned()),
        uid,
        ..ObjectReference::default()
    }
}

/// Now, as documents have it.
fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX));
    aibom_bom::format_timestamp(seconds)
}
