//! A look through an AIBOM that is stored: what it is worth, before its bytes are dropped.

use std::sync::Arc;

use aibom_api::aibom::{Aibom, AibomStatus};
use aibom_api::conditions::AibomCondition;
use aibom_api::kinds::GroupKind;
use aibom_api::names::object_name;
use aibom_bom::Written;
use aibom_facts::hex;
use sha2::{Digest as _, Sha256};

use super::desired::{Verdict, object_hash, status_hash, verdict_hash};
use super::world::Key;
use super::world::stored::{Document, Stored, Transition};

/// What is to be remembered of an AIBOM. None for an object without the names that every stored object has.
pub fn look_through(aibom: &Aibom) -> Option<(String, String, Stored)> {
    let (namespace, name) = (aibom.metadata.namespace.clone()?, aibom.metadata.name.clone()?);
    let version = aibom.metadata.resource_version.clone()?;
    let status = aibom.status.clone().unwrap_or_default();
    let bytes = status.bom_document.as_ref().and_then(|document| document.inline.as_ref()).map(|inline| &inline.data.0);
    let written = bytes.and_then(|bytes| Written::read(bytes).ok());
    let coherent = match (&status.bom_document, bytes) {
        (None, _) => false,
        // The document is too large: there is nothing to check it by.
        (Some(document), None) => document.truncated == Some(true) && status.bom_hash.as_ref() == Some(&document.sha256),
        (Some(document), Some(bytes)) => {
            let sha256 = hex(&Sha256::digest(bytes));
            document.sha256 == sha256
                && status.bom_hash.as_ref() == Some(&sha256)
                && document.size == i64::try_from(bytes.len()).ok()
                && written.as_ref().is_some_and(|written| status.input_hash.as_ref() == Some(&written.content_hash))
        }
    };
    let verdicts: Vec<Verdict<'_>> = status.conditions.iter().map(Verdict::stored).collect();
    let serial = written.as_ref().map_or("", |written| &written.serial_number);
    let document = written.as_ref().filter(|_| coherent).map(|written| Document {
        content: written.content_hash.as_str().into(),
        version: written.version,
        timestamp: written.timestamp.as_str().into(),
    });
    let workload = workload(aibom, &namespace, &name);
    let ready = status.conditions.iter().find(|condition| condition.type_ == AibomCondition::Ready.as_str());
    let status_hash = if workload.is_none() {
        ready.map(|ready| verdict_hash(&Verdict::stored(ready)))
    } else {
        coherent.then(|| status_hash(&status, &verdicts, serial))
    };
    let stored = Stored {
        uid: Arc::from(aibom.metadata.uid.as_deref().unwrap_or_default()),
        known_versions: [version.clone().into(), version.into()],
        seen: Vec::new(),
        repairs: None,
        workload,
        owner: aibom.metadata.owner_references.iter().flatten().next().map(|owner| Arc::from(&*owner.uid)),
        object: Some(object_hash(aibom)),
        status: status_hash,
        document,
        inventory: counted(&status),
        errors: status.consecutive_errors.unwrap_or(0),
        transitions: Transition::of(&status.conditions),
    };
    Some((namespace, name, stored))
}

/// The workload of an AIBOM, where its name is the one that the workload's AIBOM has.
fn workload(aibom: &Aibom, namespace: &str, name: &str) -> Option<Key> {
    let reference = &aibom.spec.workload_ref;
    let group = reference.api_version.split_once('/').map_or("", |(group, _)| group);
    (object_name(group, &reference.kind, &reference.name) == name).then(|| Key {
        kind: Arc::new(GroupKind::new(group, &reference.kind)),
        namespace: Arc::from(namespace),
        name: Arc::from(&*reference.name),
    })
}

/// What an inventory is counted by.
pub fn counted(status: &AibomStatus) -> Arc<(String, String, bool)> {
    Arc::new(status.summary.as_ref().map_or_else(Default::default, |summary| {
        let category = summary.workload.category.clone().unwrap_or_default();
        let runtime = summary.runtime.as_ref().map(|runtime| runtime.name.clone()).unwrap_or_default();
        (category, runtime, !summary.models.is_empty())
    }))
}
