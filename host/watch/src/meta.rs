//! The metadata of objects that a controller works by.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use crate::ownership::{Controller, Reference};

/// What is read of `metadata`. Everything else, such as managed fields, is passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    /// Name.
    pub name: String,
    /// Namespace; empty for an object without one.
    pub namespace: String,
    /// UID.
    pub uid: String,
    /// Version of the object, for comparing for equality only.
    pub resource_version: String,
    /// Generation of the specification.
    pub generation: Option<i64>,
    /// Owners.
    pub owner_references: Vec<Owner>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Of the annotations, those that say something to a controller.
    pub annotations: Annotations,
    /// When it was asked to go, if it was.
    pub deletion_timestamp: Option<String>,
}

/// What is read of annotations: some of the others are as large as the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Annotations {
    /// Which revision of its Deployment a ReplicaSet is.
    #[serde(rename = "deployment.kubernetes.io/revision")]
    pub revision: Option<String>,
}

/// An owner of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Owner {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Whether it is the one that controls the object.
    pub controller: Option<bool>,
}

impl Owner {
    /// API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl Meta {
    /// Reads the metadata of an object.
    ///
    /// # Errors
    /// The text is no JSON object with a `metadata` of the right shape.
    pub fn of(object: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Object {
            #[serde(default)]
            metadata: Meta,
        }
        serde_json::from_str::<Object>(object).map(|object| object.metadata)
    }

    /// Who controls the object. Of several that claim to, none does. `kind` makes the kind of the index out of group and kind.
    pub fn controller<K>(&self, mut kind: impl FnMut(&str, &str) -> K) -> Controller<K> {
        let mut controllers = self.owner_references.iter().filter(|owner| owner.controller == Some(true));
        match (controllers.next(), controllers.next()) {
            (None, _) => Controller::None,
            (Some(_), Some(_)) => Controller::Several,
            (Some(owner), None) => Controller::One(Reference {
                uid: Arc::from(&*owner.uid),
                kind: kind(owner.group(), &owner.kind),
                name: Arc::from(&*owner.name),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read_and_the_rest_passed_over() {
        let text = r#"{"spec":{"metadata":1},"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","generation":2,
            "managedFields":[{"x":1}],"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Widget","name":"w","uid":"o","controller":true}]}}"#;
        let meta = Meta::of(text).unwrap();
        assert_eq!((&*meta.name, &*meta.uid, meta.generation), ("a", "u", Some(2)));
        let controller = meta.controller(|group, kind| format!("{kind}.{group}"));
        let owner = controller.one().unwrap();
        assert_eq!((&*owner.kind, &*owner.uid, &*owner.name), ("Widget.example.com", "o", "w"));
        assert!(Meta::of("7").is_err() && Meta::of(r#"{"metadata":{"name":5}}"#).is_err());
    }

    #[test]
    fn of_two_controllers_none_is_the_controller() {
        let owner = |uid: &str| Owner { uid: uid.to_owned(), controller: Some(true), ..Owner::default() };
        let meta = Meta { owner_references: vec![owner("a"), owner("b")], ..Meta::default() };
        assert_eq!(meta.controller(|_, kind| kind.to_owned()), Controller::Several);
        assert_eq!(Meta::default().controller(|_, kind| kind.to_owned()), Controller::None);
    }
}
