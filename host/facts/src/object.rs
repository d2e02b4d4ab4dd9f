//! Names of objects and places in them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pointer::Pointer;
use crate::tree::{NodeId, Tree};

/// The name of a Kubernetes object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectRef {
    /// API group, empty for the core group.
    pub group: String,
    /// API version without the group, such as `v1beta1`.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Namespace; none for cluster-scoped objects and for manifests that leave it to the client.
    pub namespace: Option<String>,
    /// Name; empty where a manifest has only `generateName` or nothing.
    pub name: String,
    /// UID; none for objects read from files.
    pub uid: Option<String>,
}

impl ObjectRef {
    /// Reads `apiVersion`, `kind` and the names in `metadata`. None when `apiVersion` or `kind` is no text or empty.
    pub fn of(object: &Tree) -> Option<Self> {
        Self::of_node(object, object.root())
    }

    /// Like [`ObjectRef::of`] for an object that stands somewhere in a tree, such as an item of a `List`.
    pub fn of_node(object: &Tree, root: NodeId) -> Option<Self> {
        let text = |pointer: &str| object.at(root, pointer).and_then(|node| object.text(node)).map(str::to_owned);
        let api_version = text("/apiVersion").filter(|text| !text.is_empty())?;
        let kind = text("/kind").filter(|text| !text.is_empty())?;
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), api_version),
        };
        Some(Self {
            group,
            version,
            kind,
            namespace: text("/metadata/namespace").filter(|text| !text.is_empty()),
            name: text("/metadata/name").or_else(|| text("/metadata/generateName")).unwrap_or_default(),
            uid: text("/metadata/uid").filter(|text| !text.is_empty()),
        })
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// `apiVersion/Kind/namespace/name`, the form in which occurrences name an object. A missing namespace is left out.
impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.api_version(), self.kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "/{namespace}")?;
        }
        write!(f, "/{}", self.name)
    }
}

/// A place in one of the objects of a call: 0 is the scraped object, n the nth related one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Locator {
    /// Index of the object.
    pub object: u32,
    /// Place in it.
    pub pointer: Pointer,
}

impl Locator {
    /// A place in the scraped object.
    pub fn scraped(pointer: Pointer) -> Self {
        Self { object: 0, pointer }
    }
}
