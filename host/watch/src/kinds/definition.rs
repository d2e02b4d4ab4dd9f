//! What a definition says of its kind, and which version is read.

use serde::Deserialize;

use super::machine::Demand;
use crate::resource::Resource;

/// What was found out about a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It is one of Kubernetes' own, which are always served.
    BuiltIn,
    /// It has a definition.
    Found(Facts),
    /// It has none.
    Absent,
}

/// What a `CustomResourceDefinition` says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Its UID: one that was deleted and made again has another.
    pub uid: String,
    /// It is on its way out.
    pub deleting: bool,
    /// The API server serves it.
    pub established: bool,
    /// Kind.
    pub kind: String,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Versions that are served.
    pub served: Vec<String>,
    /// The version in which objects are written to the store.
    pub storage: String,
    /// Versions in which objects may be stored: older ones stay as they are until they are written again.
    pub stored: Vec<String>,
    /// Whether other versions come by a webhook.
    pub webhook: bool,
}

/// The version of a kind that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Where it is read.
    pub resource: Resource,
    /// What a read goes through.
    pub way: Way,
}

/// What a read of an object goes through in the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing: the kind has no conversion webhook.
    Plain,
    /// Nothing, though the kind has a conversion webhook: objects are stored in the version that is read.
    Stored,
    /// The conversion webhook, without which nothing can be read.
    Webhook,
}

impl Facts {
    /// Reads a definition. The schemas, most of its megabytes, are passed over.
    ///
    /// # Errors
    /// The text is no definition.
    pub fn of(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Definition {
            metadata: Meta,
            spec: Spec,
            #[serde(default)]
            status: Status,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Meta {
            #[serde(default)]
            uid: String,
            deletion_timestamp: Option<String>,
        }
        #[derive(Deserialize)]
        struct Spec {
            names: Names,
            scope: String,
            versions: Vec<Version>,
            conversion: Option<Conversion>,
        }
        #[derive(Deserialize)]
        struct Names {
            kind: String,
        }
        #[derive(Deserialize)]
        struct Version {
            name: String,
            served: bool,
            storage: bool,
        }
        #[derive(Deserialize)]
        struct Conversion {
            strategy: String,
        }
        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        struct Status {
            conditions: Option<Vec<Condition>>,
            stored_versions: Option<Vec<String>>,
        }
        #[derive(Deserialize)]
        struct Condition {
            #[serde(rename = "type")]
            name: String,
            status: String,
        }
        let Definition { metadata, spec, status } = serde_json::from_str(text)?;
        let conditions = status.conditions.unwrap_or_default();
        Ok(Self {
            uid: metadata.uid,
            deleting: metadata.deletion_timestamp.is_some(),
            established: conditions.iter().any(|condition| condition.name == "Established" && condition.status == "True"),
            kind: spec.names.kind,
            namespaced: spec.scope == "Namespaced",
            storage: spec.versions.iter().find(|version| version.storage).map(|version| version.name.clone()).unwrap_or_default(),
            served: spec.versions.into_iter().filter(|version| version.served).map(|version| version.name).collect(),
            stored: status.stored_versions.unwrap_or_default(),
            webhook: spec.conversion.is_some_and(|conversion| conversion.strategy == "Webhook"),
        })
    }

    /// Which version is read: the one in which objects are stored, if the reader knows it, since such a read asks no webhook; else the
    /// first one of the reader's that is served.
    ///
    /// # Errors
    /// Why the kind cannot be read, for people.
    pub(super) fn choose(&self, demand: &Demand) -> Result<Choice, String> {
        let Some(first) = demand.versions.first() else { return Err("nobody reads any version of it".to_owned()) };
        if !self.established {
            return Err("its definition is not established".to_owned());
        }
        if self.kind != first.kind {
            return Err(format!("its definition is of the kind {}, and {} was expected", self.kind, first.kind));
        }
        if !self.namespaced {
            return Err("its objects are in no namespace".to_owned());
        }
        let mut readable = demand.versions.iter().filter(|resource| self.served.contains(&resource.version));
        let Some(preferred) = readable.clone().next() else {
            let read: Vec<&str> = demand.versions.iter().map(|resource| &*resource.version).collect();
            let served = if self.served.is_empty() { "no version of it is".to_owned() } else { self.served.join(", ") };
            return Err(format!("{} is read, and {served} served", read.join(", ")));
        };
        let resource = readable.find(|resource| resource.version == self.storage).unwrap_or(preferred).clone();
        let way = if !self.webhook {
            Way::Plain
        } else if resource.version == self.storage && self.stored.iter().all(|version| *version == self.storage) {
            Way::Stored
        } else {
            Way::Webhook
        };
        Ok(Choice { resource, way })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(versions: &[&str]) -> Demand {
        let versions = versions.iter().map(|version| Resource::new("example.com", version, "widgets", "Widget"));
        Demand { versions: versions.collect(), allowed: true, rivals: Vec::new() }
    }

    fn facts(served: &[&str], storage: &str, stored: &[&str], webhook: bool) -> Facts {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Facts {
            uid: "u".to_owned(),
            deleting: false,
            established: true,
            kind: "Widget".to_owned(),
            namespaced: true,
            served: all(served),
            storage: storage.to_owned(),
            stored: all(stored),
            webhook,
        }
    }

    #[test]
    fn the_stored_version_is_read_where_the_reader_knows_it_and_else_its_own_first_one() {
        type Case<'c> = (&'c [&'c str], &'c str, &'c [&'c str], bool, &'c [&'c str], &'c str, Way);
        let cases: [Case<'_>; 7] = [
            (&["v1", "v2"], "v1", &["v1"], true, &["v2", "v1"], "v1", Way::Stored),
            (&["v1", "v2"], "v1", &["v1"], false, &["v2", "v1"], "v1", Way::Plain),
            (&["v1", "v2"], "v1", &["v1"], true, &["v2"], "v2", Way::Webhook),
            (&["v1", "v2"], "v2", &["v1", "v2"], true, &["v2", "v1"], "v2", Way::Webhook),
            (&["v1", "v2"], "v0", &["v0"], true, &["v2", "v1", "v0"], "v2", Way::Webhook),
            (&["v1"], "v1", &["v1"], false, &["v2", "v1"], "v1", Way::Plain),
            (&["v1", "v2", "v3"], "v3", &["v3"], false, &["v2", "v1"], "v2", Way::Plain),
        ];
        for (served, storage, stored, webhook, read, version, way) in cases {
            let choice = facts(served, storage, stored, webhook).choose(&demand(read)).unwrap();
            assert_eq!((&*choice.resource.version, choice.way), (version, way), "{served:?} {storage} {stored:?} {read:?}");
        }
    }

    #[test]
    fn what_keeps_a_kind_from_being_read_is_said() {
        let good = facts(&["v1"], "v1", &["v1"], false);
        let cases = [
            (Facts { established: false, ..good.clone() }, "not established"),
            (Facts { kind: "Gadget".to_owned(), ..good.clone() }, "of the kind Gadget"),
            (Facts { namespaced: false, ..good.clone() }, "in no namespace"),
            (Facts { served: vec!["v9".to_owned()], ..good.clone() }, "v1 is read, and v9 served"),
            (Facts { served: Vec::new(), ..good }, "no version of it is served"),
        ];
        for (facts, said) in cases {
            let why = facts.choose(&demand(&["v1"])).unwrap_err();
            assert!(why.contains(said), "{why}");
        }
    }

    #[test]
    fn a_definition_is_read_without_its_schemas() {
        let text = r#"{"metadata":{"name":"widgets.example.com","uid":"u","deletionTimestamp":null},
            "spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"Widget","plural":"widgets"},
                "conversion":{"strategy":"Webhook","webhook":{"clientConfig":{}}},
                "versions":[{"name":"v1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},
                            {"name":"v2","served":true,"storage":true},{"name":"v0","served":false,"storage":false}]},
            "status":{"conditions":[{"type":"NamesAccepted","status":"True"},{"type":"Established","status":"True"}],"storedVersions":["v1","v2"]}}"#;
        let read = Facts::of(text).unwrap();
        assert_eq!(read, facts(&["v1", "v2"], "v2", &["v1", "v2"], true));
        assert!(Facts::of(r#"{"metadata":{},"spec":{}}"#).is_err());
        let fresh = r#"{"metadata":{"uid":"u"},"spec":{"scope":"Namespaced","names":{"kind":"Widget"},"versions":[]}}"#;
        assert!(!Facts::of(fresh).unwrap().established, "right after it was made it has no status");
    }
}
