//! What an AIBOM is to be, out of an inventory, and the hashes by which it is compared with what is stored.
//!
//! What is compared leaves out what says nothing about the workload: when it was written, by which versions of the tools, at which
//! generation. So an upgrade of the controller or a scaled workload writes nothing.

use std::collections::{BTreeMap, BTreeSet};

use aibom_api::aibom::{
    Aibom, AibomSpec, AibomStatus, BOM_FORMAT, BomDocument, InlineDocument, ModelSummary, RuntimeSummary, Summary, WorkloadRef,
    WorkloadSummary,
};
use aibom_api::conditions::{AibomCondition, AibomReason, Wanted};
use aibom_api::effective::Documents;
use aibom_api::labels::{self, Facts};
use aibom_api::names::object_name;
use aibom_bom::{Document, Options, Unfit};
use aibom_facts::hex;
use aibom_facts::inventory::{Confidence, Inventory};
use k8s_openapi::ByteString;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::ObjectMeta;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::world::stored;
use super::world::{Key, Workload};

/// An AIBOM as it is to be, without times of conditions.
#[derive(Clone, Debug)]
pub struct Desired {
    /// Name of the AIBOM.
    pub name: String,
    /// Metadata and specification, and no status.
    pub object: Aibom,
    /// Status without conditions.
    pub status: AibomStatus,
    /// Conditions.
    pub conditions: Vec<Wanted>,
    /// Hash of what is compared of the object.
    pub object_hash: [u8; 32],
    /// Hash of what is compared of the status.
    pub status_hash: [u8; 32],
    /// The document.
    pub document: stored::Document,
}

impl Desired {
    /// Whether the document is too large to be kept in the object.
    pub fn is_truncated(&self) -> bool {
        self.status.bom_document.as_ref().is_some_and(|document| document.inline.is_none())
    }
}

/// The document of a workload, of its next version when its content has changed.
///
/// # Errors
/// The document breaks its own rules, which is a fault of this program.
pub fn document(
    inventory: &Inventory,
    options: &Options,
    stored: Option<&stored::Document>,
    now: &str,
) -> Result<(Document, stored::Document), Unfit> {
    let (version, timestamp) = stored.map_or((1, now), |stored| (stored.version, &*stored.timestamp));
    let with = |version, timestamp: &str| Options { version, timestamp: timestamp.to_owned(), ..options.clone() };
    let mut document = aibom_bom::write(inventory, &with(version, timestamp))?;
    let mut known = stored::Document { content: document.content_hash().into(), version, timestamp: timestamp.into() };
    if let Some(stored) = stored.filter(|stored| *stored.content != *document.content_hash()) {
        known.version = stored.version.saturating_add(1);
        known.timestamp = now.into();
        document = aibom_bom::write(inventory, &with(known.version, now))?;
    }
    Ok((document, known))
}

/// What the AIBOM of a workload is to be.
pub fn desired(
    key: &Key,
    workload: &Workload,
    inventory: &Inventory,
    document: &Document,
    known: stored::Document,
    settings: &Documents,
) -> Desired {
    let name = object_name(&key.kind.group, &key.kind.kind, &key.name);
    let summary = summary(key, workload, inventory);
    let format_version = document_version(settings);
    let mut object = Aibom::new(
        &name,
        AibomSpec {
            workload_ref: WorkloadRef {
                api_version: workload.api_version.to_string(),
                kind: key.kind.kind.clone(),
                name: key.name.to_string(),
            },
            bom_format: BOM_FORMAT.to_owned(),
            bom_spec_version: format_version.to_owned(),
        },
    );
    object.metadata = ObjectMeta {
        name: Some(name.clone()),
        namespace: Some(key.namespace.to_string()),
        labels: Some(labels_of(&summary)),
        owner_references: Some(vec![owner(key, workload)]),
        ..ObjectMeta::default()
    };
    let bytes = document.json().as_bytes();
    let sha256 = hex(&Sha256::digest(bytes));
    let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    let inline = size <= settings.inline_threshold_bytes;
    let reason = (!inline).then(|| {
        format!(
            "the document has {size} bytes, more than spec.bomGeneration.inlineThresholdBytes ({}), and no sink has it; raise the threshold (up to {}) to keep it here",
            settings.inline_threshold_bytes,
            Documents::MAX_INLINE_BYTES
        )
    });
    let status = AibomStatus {
        summary: Some(summary),
        bom_document: Some(BomDocument {
            format: BOM_FORMAT.to_owned(),
            spec_version: format_version.to_owned(),
            sha256: sha256.clone(),
            size: Some(size),
            inline: inline.then(|| InlineDocument { data: ByteString(bytes.to_vec()) }),
            external: None,
            truncated: (!inline).then_some(true),
            truncation_reason: reason.clone(),
        }),
        bom_hash: Some(sha256),
        input_hash: Some(document.content_hash().to_owned()),
        consecutive_errors: None,
        observed_generation: inventory.generation,
        ..AibomStatus::default()
    };
    let conditions = conditions(reason.as_deref(), inventory);
    // The serial number of a document that is not here cannot be looked at either.
    let serial_number = if inline { document.serial_number() } else { "" };
    Desired {
        name,
        object_hash: object_hash(&object),
        status_hash: status_hash(&status, &conditions.iter().map(Verdict::of).collect::<Vec<_>>(), serial_number),
        object,
        status,
        conditions,
        document: known,
    }
}

fn document_version(settings: &Documents) -> &'static str {
    settings.spec_version.as_str()
}

fn owner(key: &Key, workload: &Workload) -> OwnerReference {
    OwnerReference {
        api_version: workload.api_version.to_string(),
        kind: key.kind.kind.clone(),
        name: key.name.to_string(),
        uid: workload.uid.to_string(),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

fn conditions(truncated: Option<&str>, inventory: &Inventory) -> Vec<Wanted> {
    let described = || format!("the document describes the workload{}", unread(inventory));
    let ready = match truncated {
        None => wanted(AibomCondition::Ready, true, AibomReason::BomGenerated, &described()),
        Some(reason) => wanted(AibomCondition::Ready, false, AibomReason::BomTruncated, reason),
    };
    let [synced, failed] = sinks();
    vec![ready, synced, failed, wanted(AibomCondition::Stale, false, AibomReason::BomGenerated, "the last look at the workload succeeded")]
}

/// What of a workload is not known, in words of our own: what stands in the object is for the document, where secrets are filtered.
fn unread(inventory: &Inventory) -> String {
    const NAMED: usize = 5;
    let words: BTreeSet<(&str, &str)> =
        inventory.unresolved.iter().map(|unresolved| (unresolved.what.as_str(), unresolved.why.as_str())).collect();
    let mut parts = Vec::new();
    if !words.is_empty() {
        let named: Vec<String> = words.iter().take(NAMED).map(|(what, why)| format!("{what} {why}")).collect();
        let more = if words.len() > NAMED { ", …" } else { "" };
        parts.push(format!("unresolved: {} ({}{more})", inventory.unresolved.len(), named.join(", ")));
    }
    if !inventory.problems.is_empty() {
        parts.push(format!("problems: {}", inventory.problems.len()));
    }
    if parts.is_empty() { String::new() } else { format!(", as far as it can be read; {}", parts.join("; ")) }
}

/// Conditions about sinks, of which this version serves none.
pub fn sinks() -> [Wanted; 2] {
    [
        wanted(AibomCondition::Synced, true, AibomReason::CrdStatusOnly, "no sink is served; the document is in this object only"),
        wanted(AibomCondition::SinkFailed, false, AibomReason::AllSinksOk, "no sink is served"),
    ]
}

fn wanted(type_: AibomCondition, status: bool, reason: AibomReason, message: &str) -> Wanted {
    let (type_, reason, message) = (type_.as_str(), reason.as_str(), message.to_owned());
    Wanted { type_, status: Some(status), reason, message, observed_generation: None }
}

fn summary(key: &Key, workload: &Workload, inventory: &Inventory) -> Summary {
    let word = |confidence: Confidence| Some(confidence.as_str().to_owned());
    Summary {
        workload: WorkloadSummary {
            api_version: workload.api_version.to_string(),
            kind: key.kind.kind.clone(),
            name: key.name.to_string(),
            namespace: key.namespace.to_string(),
            category: inventory.categories.keys().next().map(|category| category.as_str().to_owned()),
        },
        runtime: inventory.runtimes.iter().find(|runtime| !runtime.framework).or(inventory.runtimes.first()).map(|runtime| {
            RuntimeSummary {
                name: runtime.finding.key.name.clone(),
                version: runtime.version.clone(),
                confidence: word(runtime.finding.confidence),
            }
        }),
        models: inventory
            .models
            .iter()
            .map(|model| ModelSummary {
                identity: model.finding.key.name.clone(),
                source: model.finding.evidence.first().map(|evidence| evidence.source.as_str().to_owned()),
                confidence: word(model.finding.confidence),
                signed: None,
            })
            .collect(),
        confidence: word(inventory.confidence()),
    }
}

/// Labels by which AIBOMs are selected.
fn labels_of(summary: &Summary) -> BTreeMap<String, String> {
    labels::labels(&Facts {
        category: summary.workload.category.as_deref(),
        runtime: summary.runtime.as_ref().map(|runtime| &*runtime.name),
        confidence: summary.confidence.as_deref(),
        models: summary.models.iter().map(|model| &*model.identity).collect(),
    })
}

/// What is compared of a condition.
#[derive(Serialize)]
pub struct Verdict<'a> {
    type_: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

impl<'a> Verdict<'a> {
    /// What is compared of a condition that is to be.
    pub fn of(wanted: &'a Wanted) -> Self {
        let status = match wanted.status {
            Some(true) => "True",
            Some(false) => "False",
            None => "Unknown",
        };
        Self { type_: wanted.type_, status, reason: wanted.reason, message: &wanted.message }
    }

    /// What is compared of a condition that is stored.
    pub fn stored(condition: &'a k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition) -> Self {
        Self { type_: &condition.type_, status: &condition.status, reason: &condition.reason, message: &condition.message }
    }
}

/// Hash of the specification, our labels, and the owners.
pub fn object_hash(object: &Aibom) -> [u8; 32] {
    let ours: BTreeMap<&String, &String> = object.metadata.labels.iter().flatten().filter(|(key, _)| labels::is_ours(key)).collect();
    // Others may refer to an AIBOM as its owner without controlling it; that is none of our concern.
    let owners: Vec<&OwnerReference> =
        object.metadata.owner_references.iter().flatten().filter(|owner| owner.controller == Some(true)).collect();
    hash(&(&object.spec, ours, owners))
}

/// Hash of the status. The document counts with the hash of its content; that its bytes go with it is for the reader to check.
pub fn status_hash(status: &AibomStatus, conditions: &[Verdict<'_>], serial_number: &str) -> [u8; 32] {
    let document = status.bom_document.as_ref().map(|document| {
        let inline = document.inline.is_some();
        (&document.format, &document.spec_version, inline, &document.external, document.truncated)
    });
    hash(&(&status.summary, document, &status.input_hash, status.consecutive_errors.unwrap_or(0), conditions, serial_number))
}

/// Hash of one condition, which is all that is compared of an object that is not ours.
pub fn verdict_hash(verdict: &Verdict<'_>) -> [u8; 32] {
    hash(verdict)
}

fn hash(value: &impl Serialize) -> [u8; 32] {
    // The values hold nothing that JSON cannot write; a hash of nothing would only have the object written once more.
    Sha256::digest(serde_json::to_vec(value).unwrap_or_default()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::stored::look_through;
    use crate::operator::world::State;
    use aibom_api::kinds::GroupKind;
    use aibom_facts::inventory::{Category, Origin, Tool};
    use aibom_facts::object::ObjectRef;
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
    use k8s_openapi::jiff::Timestamp;
    use std::sync::Arc;

    fn key() -> Key {
        Key { kind: Arc::new(GroupKind::new("apps", "Deployment")), namespace: Arc::from("demo"), name: Arc::from("web") }
    }

    fn inventory(generation: i64) -> Inventory {
        let object = ObjectRef {
            group: "apps".to_owned(),
            version: "v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: Some("demo".to_owned()),
            name: "web".to_owned(),
            uid: Some("u".to_owned()),
        };
        let mut inventory = Inventory::new(vec![object], Origin::Cluster);
        inventory.categories.insert(Category::Inference, Vec::new());
        inventory.generation = Some(generation);
        inventory
    }

    fn made(version: &str, inventory: &Inventory, stored: Option<&stored::Document>, now: &str) -> Desired {
        let producer = Tool { name: "k8s-aibom".to_owned(), version: version.to_owned(), sha256: None };
        let options = Options { cluster_uid: Some("c".to_owned()), ..Options::new(producer, "") };
        let workload = crate::operator::world::tests::workload("u", None, State::NotAi);
        let (document, known) = document(inventory, &options, stored, now).unwrap();
        desired(&key(), &workload, inventory, &document, known, &Documents::default())
    }

    /// As an API server gives it back.
    fn stored(desired: &Desired) -> Aibom {
        let mut aibom = desired.object.clone();
        aibom.metadata.uid = Some("a".to_owned());
        aibom.metadata.resource_version = Some("7".to_owned());
        let mut status = desired.status.clone();
        for wanted in &desired.conditions {
            aibom_api::conditions::set(&mut status.conditions, wanted, &Time(Timestamp::UNIX_EPOCH));
        }
        aibom.status = Some(status);
        serde_json::from_str(&serde_json::to_string(&aibom).unwrap()).unwrap()
    }

    #[test]
    fn what_was_written_by_another_version_or_for_a_scaled_workload_is_as_it_should_be() {
        let first = made("1.0.0", &inventory(1), None, "2026-01-01T00:00:00Z");
        let (_, _, known) = look_through(&stored(&first)).unwrap();
        assert_eq!((known.object, known.status), (Some(first.object_hash), Some(first.status_hash)));
        let next = made("2.0.0", &inventory(9), known.document.as_ref(), "2026-02-02T00:00:00Z");
        assert_eq!((known.object, known.status), (Some(next.object_hash), Some(next.status_hash)));
        assert_eq!(known.document.as_ref(), Some(&next.document), "version and time stay");
    }

    #[test]
    fn other_facts_are_another_version_and_another_status() {
        let first = made("1.0.0", &inventory(1), None, "2026-01-01T00:00:00Z");
        let (_, _, known) = look_through(&stored(&first)).unwrap();
        let mut more = inventory(1);
        more.categories.insert(Category::Agent, Vec::new());
        let next = made("1.0.0", &more, known.document.as_ref(), "2026-02-02T00:00:00Z");
        assert_ne!(known.status, Some(next.status_hash));
        assert_eq!((next.document.version, &*next.document.timestamp), (2, "2026-02-02T00:00:00Z"));
    }

    #[test]
    fn the_condition_says_what_could_not_be_read() {
        let message = |inventory: &Inventory| made("1.0.0", inventory, None, "2026-01-01T00:00:00Z").conditions[0].message.clone();
        assert_eq!(message(&inventory(1)), "the document describes the workload");
        let mut less = inventory(1);
        let at = aibom_facts::object::Locator::default();
        let (what, why, reference) = ("model".to_owned(), "too-long".to_owned(), String::new());
        less.unresolved.insert(aibom_facts::inventory::Unresolved { what, at: at.clone(), why, reference });
        less.problems.insert(aibom_facts::report::Problem { at, message: "args is not a list and is not read".to_owned() });
        assert_eq!(
            message(&less),
            "the document describes the workload, as far as it can be read; unresolved: 1 (model too-long); problems: 1"
        );
    }

    type Change = fn(&mut Aibom);

    #[test]
    fn whatever_is_changed_in_what_is_stored_is_seen() {
        let first = made("1.0.0", &inventory(1), None, "2026-01-01T00:00:00Z");
        let changes: [(&str, Change); 9] = [
            ("the document", |aibom| {
                aibom.status.as_mut().unwrap().bom_document.as_mut().unwrap().inline.as_mut().unwrap().data.0[30] ^= 1;
            }),
            ("its size", |aibom| aibom.status.as_mut().unwrap().bom_document.as_mut().unwrap().size = Some(1)),
            ("its hash", |aibom| aibom.status.as_mut().unwrap().bom_hash = Some("0".repeat(64))),
            ("the hash of its content", |aibom| aibom.status.as_mut().unwrap().input_hash = None),
            ("the summary", |aibom| aibom.status.as_mut().unwrap().summary = None),
            ("a condition", |aibom| aibom.status.as_mut().unwrap().conditions[0].status = "False".to_owned()),
            ("the owner", |aibom| aibom.metadata.owner_references = None),
            ("a label", |aibom| aibom.metadata.labels = None),
            ("the format", |aibom| aibom.spec.bom_spec_version = "1.5".to_owned()),
        ];
        for (what, change) in changes {
            let mut aibom = stored(&first);
            change(&mut aibom);
            let (_, _, known) = look_through(&aibom).unwrap();
            assert_ne!((known.object, known.status), (Some(first.object_hash), Some(first.status_hash)), "{what}");
        }
        // What belongs to others is theirs.
        let mut aibom = stored(&first);
        aibom.metadata.labels.as_mut().unwrap().insert("example.com/team".to_owned(), "one".to_owned());
        let (_, _, known) = look_through(&aibom).unwrap();
        assert_eq!((known.object, known.status), (Some(first.object_hash), Some(first.status_hash)));
    }
}
