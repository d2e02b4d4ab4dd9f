//! What is remembered of an AIBOM that is stored: enough to say whether it has to be written, and nothing of its document.

use std::sync::Arc;
use std::time::Duration;

use aibom_api::conditions::AibomCondition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use tokio::time::Instant;

use super::Key;

/// A stored AIBOM.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// UID of the AIBOM.
    pub uid: Arc<str>,
    /// Versions of the object that this controller wrote or looked through. A version that is none of them was written by somebody
    /// else.
    pub known_versions: [Box<str>; 2],
    /// Versions that the watch told of and that nobody has accounted for yet.
    pub seen: Vec<Box<str>>,
    /// Repairs in a row, and when the last one was.
    pub repairs: Option<(u32, Instant)>,
    /// The workload that `spec.workloadRef` names; none where it names none that could have an AIBOM of this name.
    pub workload: Option<Key>,
    /// UID of the workload that it belongs to.
    pub owner: Option<Arc<str>>,
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
    /// The watch told of a version.
    pub fn see(&mut self, version: &str) {
        let known = self.known_versions.iter().chain(&self.seen).any(|known| **known == *version);
        // More than a few are as good as one: somebody writes.
        if !known && self.seen.len() < 8 {
            self.seen.push(version.into());
        }
    }

    /// Whether all that the watch told of was written or looked through by this controller. A version of somebody else's counts also when
    /// one of ours came after it.
    pub fn is_known(&self) -> bool {
        self.seen.iter().all(|version| self.known_versions.contains(version))
    }

    /// How long to wait before it is repaired again: whoever changes it again and again is not followed.
    pub fn wait_to_repair(&self) -> Option<Duration> {
        let (repairs, last) = self.repairs?;
        let pause = Duration::from_secs(1) * 2_u32.pow(repairs.saturating_sub(3).min(8));
        (repairs >= 3).then(|| pause.saturating_sub(last.elapsed())).filter(|wait| !wait.is_zero())
    }

    /// A repair begins. After ten minutes of peace they are counted anew.
    pub fn repair(&mut self) {
        let before = self.repairs.filter(|(_, last)| last.elapsed() < Duration::from_mins(10)).map_or(0, |(repairs, _)| repairs);
        self.repairs = Some((before.saturating_add(1), Instant::now()));
    }
}
