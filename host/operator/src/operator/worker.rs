//! Looks at one workload after the other, and has written what has to be written.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aibom_api::conditions::AibomReason;
use aibom_api::effective::Effective;
use aibom_api::names::object_name;
use aibom_bom::{Options, PropertyNames, SpecVersion};
use aibom_facts::inventory::Inventory;
use aibom_facts::rollup::{Part, absorb};
use aibom_watch::Cause;

use super::desired::{desired, document};
use super::events::Type;
use super::failing::{aibom_reference, fail, refuse, wait_after};
use super::plan::{Plan, Subject, plan};
use super::refetch::refetch;
use super::shared::Shared;
use super::world::Key;
use super::world::rollup::Family;
use super::writer::{Trouble, apply_object, apply_status, delete, look_again};
use crate::cli::producer;
use crate::clock::unix_seconds;
use crate::running::observe;

/// When to look again at a workload whose owner is not known yet.
const SOON: Duration = Duration::from_secs(5);

/// When to look again whether those have a document for which another one spoke.
const OTHERS: Duration = Duration::from_millis(500);

/// After so many failures in a row of writing a document those that it would speak for speak for themselves.
const PATIENCE: u32 = 3;

/// Bytes of packed facts from which on a document is made alone: facts and document take a hundred times as much while it is written, and
/// as many would be as there are workers.
const BULKY: usize = 16 << 10;

/// When to look again whether it is its turn.
const NEXT_TURN: Duration = Duration::from_millis(250);

/// How long the garbage collector has for what an owner left behind.
const ORPHAN: Duration = Duration::from_mins(1);

/// Takes workloads from the queue until it is closed.
pub async fn work(shared: Arc<Shared>) {
    while let Some(key) = shared.queue.take().await {
        let retry = match look(&shared, &key).await {
            Ok(retry) => retry,
            Err(trouble) => Some(after_trouble(&shared, &key, &trouble)),
        };
        shared.queue.done(&key, retry);
    }
}

/// Counts and tells what went wrong, and says when to try again.
fn after_trouble(shared: &Shared, key: &Key, trouble: &Trouble) -> Duration {
    let failures = shared.queue.failed(key);
    let wait = wait_after(failures, Duration::from_millis(500), Duration::from_mins(5));
    match trouble {
        Trouble::NoTerm => Duration::from_secs(1),
        Trouble::Changed if failures > 3 => wait,
        Trouble::Changed => Duration::ZERO,
        Trouble::Request(operation, failure) => {
            let retry_in_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            tracing::warn!(workload = %key, operation, %failure, retry_in_ms, "an AIBOM could not be written");
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
    if let Some(wait) = check_foreign_write(shared, key).await? {
        return Ok(Some(wait));
    }
    let serving = shared.serving();
    let planned = plan(&shared.world(), &serving.effective, key);
    tracing::debug!(workload = %key, plan = planned.word(), "a workload is looked at");
    let outcome = |word: &str| shared.metrics.outcomes.with_label_values(&[&key.kind.kind, word]).inc();
    match planned {
        Plan::Keep(why) => outcome(why),
        Plan::Without(proof, stored) => {
            outcome(proof.as_str());
            if let Some(stored) = stored {
                let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
                delete(shared, key, &name, &stored, proof).await?;
            }
        }
        Plan::OthersFirst => {
            outcome("others_first");
            return Ok(Some(wait_after(shared.queue.failed(key), OTHERS, SOON)));
        }
        Plan::Refused(stored) => {
            outcome("name_taken");
            silence(shared, key);
            refuse(shared, key, &stored).await?;
        }
        Plan::Failed { reason, stored } => {
            outcome("failed");
            return fail(shared, key, &serving.effective, AibomReason::ScrapeFailed, &reason, stored).await;
        }
        Plan::Wait => {
            outcome("waiting");
            return Ok(Some(SOON));
        }
        // An owner that is gone takes what it owns with it, in a moment. What is still there then is a workload of its own.
        Plan::Read { orphan: true } if shared.queue.failed(key) < 2 => {
            outcome("rollup_unresolved");
            return Ok(Some(ORPHAN));
        }
        Plan::Document(subject) if subject.orphan && subject.stored.is_none() && shared.queue.failed(key) < 2 => {
            outcome("rollup_unresolved");
            return Ok(Some(ORPHAN));
        }
        Plan::Read { .. } => {
            outcome("waiting");
            if !refetch(shared, key).await {
                return Ok(Some(wait_after(shared.queue.failed(key), SOON, Duration::from_mins(5))));
            }
        }
        Plan::Document(subject) => {
            // Without waiting: those that are small are not to be held up.
            let size = subject.facts.size() + subject.family.parts.iter().map(|part| part.facts.size()).sum::<usize>();
            let turn = (size > BULKY).then(|| shared.bulky_writes.try_acquire());
            if matches!(turn, Some(Err(_))) {
                return Ok(Some(NEXT_TURN));
            }
            outcome("matched");
            if subject.because.is_some() {
                outcome("rollup_unresolved");
            }
            if !subject.family.unread.is_empty() {
                outcome("rolled_up_incomplete");
            }
            return write(shared, key, &serving.effective, *subject).await;
        }
    }
    Ok(None)
}

/// Somebody else has written an AIBOM: it is read and looked through, once for each version.
async fn check_foreign_write(shared: &Shared, key: &Key) -> Result<Option<Duration>, Trouble> {
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    let before = shared.world().stored(&key.namespace, &name).cloned();
    let Some(before) = before.filter(|stored| !stored.is_known()) else { return Ok(None) };
    if let Some(wait) = before.wait_to_repair() {
        return Ok(Some(wait));
    }
    look_again(shared, &key.namespace, &name).await?;
    let changed =
        shared.world().stored(&key.namespace, &name).is_some_and(|now| now.object != before.object || now.status != before.status);
    if changed {
        shared.metrics.repairs.inc();
        if let Some(stored) = shared.world().stored_mut(&key.namespace, &name) {
            stored.repair();
        }
        tracing::warn!(workload = %key, aibom = name, "somebody else has changed an AIBOM; it is written again");
        let note = "somebody else has changed this AIBOM; what the controller keeps in it is written again";
        shared.events.tell(Type::Warning, "AIBOMRepaired", note, aibom_reference(&key.namespace, &name, Some(before.uid.to_string())));
    }
    Ok(None)
}

/// A workload has no document: what belongs to it speaks for itself.
fn silence(shared: &Shared, key: &Key) {
    let touched = shared.world().set_mute(key);
    shared.look_at(touched);
}

/// What became of a document.
enum Outcome {
    /// It is stored as it should be.
    Stored,
    /// It cannot be made, which is written down; when to try again.
    Failed(Option<Duration>),
    /// It would be too large with what belongs to the workload.
    NoRoom,
}

async fn write(shared: &Shared, key: &Key, effective: &Effective, subject: Subject) -> Result<Option<Duration>, Trouble> {
    let carried = subject.family.carried.clone();
    let had_document = subject.stored.as_ref().is_some_and(|stored| stored.document.is_some());
    let outcome = write_document(shared, key, effective, subject).await;
    let stuck = matches!(outcome, Err(Trouble::Request(..))) && shared.queue.failures(key) >= PATIENCE;
    let touched = match &outcome {
        Ok(Outcome::Stored) => shared.world().set_carried(key, carried),
        // It is one document for all of them, or none of them is silent.
        Ok(Outcome::NoRoom | Outcome::Failed(_)) if !carried.is_empty() => shared.world().set_alone(key),
        Ok(Outcome::Failed(_)) if !had_document => shared.world().set_mute(key),
        Err(_) if stuck && had_document => shared.world().set_holding(key),
        Err(_) if stuck => shared.world().set_mute(key),
        Ok(_) | Err(_) => return outcome.map(Outcome::retry),
    };
    shared.look_at(touched);
    outcome.map(Outcome::retry)
}

impl Outcome {
    fn retry(self) -> Option<Duration> {
        match self {
            Self::Stored => None,
            Self::Failed(wait) => wait,
            Self::NoRoom => Some(Duration::ZERO),
        }
    }
}

async fn write_document(shared: &Shared, key: &Key, effective: &Effective, subject: Subject) -> Result<Outcome, Trouble> {
    let Subject { workload, facts, digests, family, because, stored, orphan: _ } = subject;
    let has_parts = !family.parts.is_empty();
    let built = facts.unpack().ok_or_else(|| "its facts cannot be read back".to_owned()).and_then(|mut inventory| {
        rolled_up(&mut inventory, family, because)?;
        observe(&mut inventory, &digests);
        let known = stored.as_ref().and_then(|stored| stored.document.as_ref());
        let (document, known) = document(&inventory, &options(shared, effective), known, &now()).map_err(|unfit| unfit.to_string())?;
        Ok(desired(key, &workload, &inventory, &document, known, &effective.documents))
    });
    let desired = match built {
        Ok(desired) => desired,
        Err(reason) => return fail(shared, key, effective, AibomReason::BuildFailed, &reason, stored).await.map(Outcome::Failed),
    };
    if has_parts && desired.is_truncated() {
        return Ok(Outcome::NoRoom);
    }
    let object = stored.as_ref().is_none_or(|stored| stored.object != Some(desired.object_hash));
    let status = stored.as_ref().is_none_or(|stored| stored.status != Some(desired.status_hash));
    let new = stored.is_none();
    let current = if object { Some(apply_object(shared, key, &desired, stored.as_ref()).await?) } else { stored };
    let Some(current) = current.filter(|_| status) else { return Ok(Outcome::Stored) };
    match apply_status(shared, key, &desired, current.clone(), new).await {
        // The document does not fit: said in its place, or nobody would know.
        Err(Trouble::Request(_, failure)) if failure.cause == Cause::TooLarge => {
            let reason = format!("the document cannot be stored: {}; lower spec.bomGeneration.inlineThresholdBytes", failure.message);
            fail(shared, key, effective, AibomReason::BuildFailed, &reason, Some(current)).await.map(Outcome::Failed)
        }
        other => other.map(|()| Outcome::Stored),
    }
}

/// Adds what belongs to a workload to its facts.
fn rolled_up(inventory: &mut Inventory, family: Family, because: Option<String>) -> Result<(), String> {
    let parts = family.parts.iter().map(|part| {
        let inventory = part.facts.unpack().ok_or_else(|| "the facts of a part cannot be read back".to_owned())?;
        Ok(Part { inventory, stands_for: part.stands_for.clone() })
    });
    let parts = parts.collect::<Result<Vec<Part>, String>>()?;
    absorb(inventory, parts);
    inventory.rollup.owned = family.owned;
    inventory.rollup.unread = family.unread;
    inventory.rollup.unresolved = because;
    Ok(())
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

/// Now, as documents have it.
fn now() -> String {
    aibom_bom::format_timestamp(unix_seconds(SystemTime::now()))
}
