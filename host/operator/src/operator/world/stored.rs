//! What is remembered of an AIBOM that is stored: enough to say whether it has to be written, and nothing of its document.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

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
    pub transitions: Vec<(Box<str>, Box<str>, Time)>,
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
