//! What is remembered of an AIBOM that is stored: enough to say whether it has to be written, and nothing of its document.

use std::sync::Arc;

use aibom_api::conditions::AibomCondition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use super::Key;

/// A stored AIBOM.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// UID of the AIBOM.
    pub uid: Arc<str>,
    /// Versions of the object that this controller wrote or looked through. A version that is none of them was written by somebody
    /// else.
    pub known_versions: [Box<str>; 2],
    /// The newest version that the watch told of.
    pub seen_version: Box<str>,
    /// The workload that `spec.workloadRef` names; none where it names none that could have an AIBOM of this name.
    pub workload: Option<Key>,
    /// Hash of what is to be in the object beside its status; none when it is not as it should be.
    pub object: Option<[u8; 32]>,
    /// Hash of what is to be in its status; none when it is not as it should be.
    pub status: Option<[u8; 32]>,
    /// Its document; none when there is none that holds together.
    pub document: Option<Document>,
    /// Category, runtime, and whether a model is named: what inventories are counted by.
    pub inventory: Arc<(String, String, bool)>,
    /// Failures in a row, as written.
    pub errors: i32,
    /// When each condition last changed, with its status.
    pub transitions: Box<[Transition]>,
}

/// When a condition last changed, and to what.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// Condition. Of conditions that this controller does not know nothing is remembered.
    pub type_: AibomCondition,
    /// Status; none for unknown.
    pub status: Option<bool>,
    /// When.
    pub since: Time,
}

impl Transition {
    /// The transitions of conditions as they are stored.
    pub fn of(conditions: &[Condition]) -> Box<[Self]> {
        let known = |condition: &Condition| AibomCondition::ALL.iter().find(|known| known.as_str() == condition.type_).copied();
        let status = |word: &str| match word {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        };
        conditions
            .iter()
            .filter_map(|condition| {
                let since = condition.last_transition_time.clone();
                Some(Self { type_: known(condition)?, status: status(&condition.status), since })
            })
            .collect()
    }
}

/// The document of a stored AIBOM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Hash of its content.
    pub content: Box<str>,
    /// Its version.
    pub version: u32,
    /// When its content was first written.
    pub timestamp: Box<str>,
}

impl Stored {
    /// Whether the newest version is one that this controller knows the content of.
    pub fn is_known(&self) -> bool {
        self.seen_version.is_empty() || self.known_versions.contains(&self.seen_version)
    }
}
