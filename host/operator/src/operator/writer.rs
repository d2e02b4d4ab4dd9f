//! The requests that write AIBOMs. Each looks at the term of the lease right before it is sent, and takes no longer than that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aibom_api::aibom::{Aibom, AibomStatus};
use aibom_api::conditions::{self, Wanted};
use aibom_api::{GROUP, VERSION};
use aibom_watch::{Cause, Failure, Form, Meta, Resource, bounded};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DeleteParams, Preconditions};
use serde_json::{Value, json};

use super::desired::Desired;
use super::plan::Proof;
use super::shared::Shared;
use super::stored::{counted, look_through};
use super::world::Key;
use super::world::stored::{Stored, Transition};

/// Owner of the fields that this controller writes.
pub const FIELD_MANAGER: &str = "k8s-aibom";

/// Time for one request; never longer than this process may write.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a look at a workload has to be repeated.
#[derive(Debug)]
pub enum Trouble {
    /// This process may not write at the moment.
    NoTerm,
    /// A request failed.
    Request(&'static str, Failure),
    /// The object that is stored is another one than expected; it has been looked through again.
    Changed,
}

/// The resource that is written.
pub fn resource() -> Resource {
    Resource::new(GROUP, VERSION, "aiboms", "AIBOM")
}

/// Reads what is stored under a name, and remembers what it is worth.
///
/// # Errors
/// It could not be read.
pub async fn look_again(shared: &Shared, namespace: &str, name: &str) -> Result<(), Trouble> {
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), namespace);
    let found = bounded(PATIENCE, api.get_opt(name)).await.map_err(|failure| Trouble::Request("get", failure))?;
    let mut world = shared.world();
    match found.as_ref().and_then(look_through) {
        Some((_, _, mut stored)) => {
            if let Some(known) = world.stored(namespace, name) {
                // What the watch told of before this read is accounted for by it; what it tells of later is not.
                stored.repairs = known.repairs;
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

/// Applies metadata and specification.
///
/// # Errors
/// They could not be written.
pub async fn apply_object(shared: &Shared, key: &Key, desired: &Desired, stored: Option<&Stored>) -> Result<Stored, Trouble> {
    let mut metadata = desired.object.metadata.clone();
    // With its UID: an object of the same name that came in between is another one.
    metadata.uid = stored.map(|stored| stored.uid.to_string());
    let body = json!({
        "apiVersion": format!("{GROUP}/{VERSION}"), "kind": "AIBOM", "metadata": &metadata, "spec": &desired.object.spec,
    });
    let written = match patch(shared, key, &desired.name, "apply", "", Form::Apply, &body).await {
        Err(Trouble::Request(operation, failure)) if matches!(failure.cause, Cause::Conflict | Cause::Invalid | Cause::NotFound) => {
            // Something else is stored there than what was known: another object, a deleted one, one for another workload.
            let uid = |shared: &Shared| shared.world().stored(&key.namespace, &desired.name).map(|stored| Arc::clone(&stored.uid));
            let before = uid(shared);
            look_again(shared, &key.namespace, &desired.name).await?;
            return Err(if uid(shared) == before { Trouble::Request(operation, failure) } else { Trouble::Changed });
        }
        other => other?,
    };
    // Controllers are told apart by UID, and an object may have one: those of an earlier workload go with it.
    let ours = metadata.owner_references.iter().flatten();
    let foreign =
        written.owner_references.iter().any(|owner| owner.controller == Some(true) && !ours.clone().any(|own| own.uid == owner.uid));
    let written = if foreign { replace_owners(shared, key, desired, &written).await? } else { written };
    let version: Box<str> = written.resource_version.into();
    let stored = Stored {
        uid: Arc::from(written.uid),
        known_versions: [version.clone(), version],
        seen: Vec::new(),
        repairs: stored.and_then(|stored| stored.repairs),
        workload: Some(key.clone()),
        owner: desired.object.metadata.owner_references.iter().flatten().next().map(|owner| Arc::from(&*owner.uid)),
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
async fn replace_owners(shared: &Shared, key: &Key, desired: &Desired, written: &Meta) -> Result<Meta, Trouble> {
    let body = json!({ "metadata": {
        "uid": written.uid,
        "resourceVersion": written.resource_version,
        "ownerReferences": &desired.object.metadata.owner_references,
    } });
    patch(shared, key, &desired.name, "replace_owners", "", Form::Merge, &body).await
}

/// Applies the status.
///
/// # Errors
/// It could not be written.
pub async fn apply_status(shared: &Shared, key: &Key, desired: &Desired, mut stored: Stored, new: bool) -> Result<(), Trouble> {
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
    let mut written = patch(shared, key, &desired.name, "apply_status", "/status", Form::Apply, &body).await;
    if let Err(Trouble::Request(_, failure)) = &written
        && failure.message.contains("field not declared in schema")
    {
        // The served definition is older than this controller. It takes what it knows when the fields are not claimed.
        written = patch(shared, key, &desired.name, "apply_status", "/status", Form::Merge, &body).await;
    }
    let written = match written {
        Err(Trouble::Request(_, failure)) if matches!(failure.cause, Cause::Conflict | Cause::NotFound) => {
            look_again(shared, &key.namespace, &desired.name).await?;
            return Err(Trouble::Changed);
        }
        other => other?,
    };
    if let Some(document) = &status.bom_document {
        shared.metrics.document_bytes.observe(document.size.unwrap_or(0) as f64);
    }
    stored.known_versions[1] = written.resource_version.into();
    stored.status = Some(desired.status_hash);
    stored.inventory = counted(&status);
    stored.document = status.bom_document.and_then(|document| document.inline).map(|_| desired.document.clone());
    stored.errors = 0;
    stored.transitions = Transition::of(&status.conditions);
    remember(shared, key, &desired.name, &stored);
    tracing::info!(workload = %key, aibom = desired.name, version = desired.document.version, new, "AIBOM written");
    Ok(())
}

/// Changes conditions and the number of failures, and leaves everything else in the status as it is.
///
/// # Errors
/// They could not be written.
pub async fn patch_conditions(
    shared: &Shared,
    key: &Key,
    name: &str,
    mut stored: Stored,
    wanted: &[Wanted],
    errors: Option<i32>,
) -> Result<Stored, Trouble> {
    let conditions = with_times(&stored, wanted, &Time(Timestamp::now()));
    let mut status = json!({ "conditions": &conditions });
    if let Some(errors) = errors {
        status["consecutiveErrors"] = errors.into();
        stored.errors = errors;
    }
    let body = json!({ "metadata": { "uid": &*stored.uid }, "status": status });
    let written = patch(shared, key, name, "patch_status", "/status", Form::Merge, &body).await?;
    let [_, last] = std::mem::take(&mut stored.known_versions);
    stored.known_versions = [last, written.resource_version.into()];
    stored.status = None;
    stored.transitions = Transition::of(&conditions);
    Ok(stored)
}

/// Deletes an AIBOM, if it is still the one that was looked at.
///
/// # Errors
/// It could not be deleted.
pub async fn delete(shared: &Shared, key: &Key, name: &str, stored: &Stored, proof: Proof) -> Result<(), Trouble> {
    let api: Api<Aibom> = Api::namespaced(shared.client.inner().clone(), &key.namespace);
    let params = DeleteParams {
        preconditions: Some(Preconditions { uid: Some(stored.uid.to_string()), resource_version: None }),
        ..DeleteParams::default()
    };
    let started = Instant::now();
    let time = may_write(shared)?;
    match bounded(time, api.delete(name, &params)).await {
        Ok(_) => {
            shared.metrics.wrote("delete", started.elapsed());
            tracing::info!(workload = %key, aibom = name, proof = proof.as_str(), "AIBOM deleted");
        }
        // The garbage collector was faster.
        Err(failure) if failure.cause == Cause::NotFound => {}
        Err(failure) if failure.cause == Cause::Conflict => {
            look_again(shared, &key.namespace, name).await?;
            return Err(Trouble::Changed);
        }
        Err(failure) => return Err(Trouble::Request("delete", failure)),
    }
    shared.world().remove_stored(&key.namespace, name);
    Ok(())
}

/// What was written, with what the watch said meanwhile.
pub fn remember(shared: &Shared, key: &Key, name: &str, stored: &Stored) {
    let mut world = shared.world();
    let mut stored = stored.clone();
    if let Some(known) = world.stored(&key.namespace, name) {
        stored.seen = known.seen.iter().filter(|version| !stored.known_versions.contains(version)).cloned().collect();
    }
    world.put_stored(&key.namespace, name, stored);
}

async fn patch(
    shared: &Shared,
    key: &Key,
    name: &str,
    operation: &'static str,
    subresource: &str,
    form: Form,
    body: &Value,
) -> Result<Meta, Trouble> {
    let force = if form == Form::Apply { "&force=true" } else { "" };
    let path = resource().object_path(Some(&key.namespace), name);
    let path = format!("{path}{subresource}?fieldManager={FIELD_MANAGER}{force}");
    let started = Instant::now();
    let time = may_write(shared)?;
    let written = shared.client.patch(&path, form, body, time).await.map_err(|failure| Trouble::Request(operation, failure))?;
    shared.metrics.wrote(operation, started.elapsed());
    Ok(written)
}

/// The time for a write, if this process may write now.
fn may_write(shared: &Shared) -> Result<Duration, Trouble> {
    shared.term.left().map(|left| left.min(PATIENCE)).ok_or(Trouble::NoTerm)
}

/// Conditions with the times of those that are stored; a time moves with the status only.
fn with_times(stored: &Stored, wanted: &[Wanted], now: &Time) -> Vec<Condition> {
    // Only type, status and time of what is stored count; everything else is replaced.
    let mut all: Vec<Condition> = Vec::new();
    for wanted in wanted {
        if let Some(known) = stored.transitions.iter().find(|known| known.type_.as_str() == wanted.type_) {
            conditions::set(&mut all, &Wanted { status: known.status, ..wanted.clone() }, &known.since);
        }
        conditions::set(&mut all, wanted, now);
    }
    all
}
