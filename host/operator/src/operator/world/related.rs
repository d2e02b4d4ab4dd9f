//! Objects that workloads were read with besides themselves, so that a change of one has those read again that asked for it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use aibom_api::kinds::GroupKind;
use aibom_watch::Resource;

use super::{Key, Touched};

/// An object that a workload asked for, whether or not it is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// Kind.
    pub kind: Arc<GroupKind>,
    /// Namespace; none for an object of the cluster.
    pub namespace: Option<Arc<str>>,
    /// Name.
    pub name: Arc<str>,
}

/// What a workload was read with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// The object.
    pub reference: Reference,
    /// Its version then; none when it was not there, or must not be read.
    pub version: Option<Box<str>>,
    /// Under which resources it is looked for, in this order.
    pub resources: Arc<[Resource]>,
}

/// Which workloads asked for which objects.
#[derive(Debug, Default)]
pub struct Related {
    /// The version of each that its dependents were read with.
    dependents: HashMap<Reference, BTreeMap<Key, Option<Box<str>>>>,
    kinds: BTreeMap<Arc<GroupKind>, Asked>,
}

#[derive(Debug)]
struct Asked {
    /// Objects of the kind that are asked for.
    count: usize,
    resources: Arc<[Resource]>,
}

impl Related {
    /// A workload was read with these objects.
    pub fn put(&mut self, key: &Key, used: &[Used]) {
        for used in used {
            let dependents = self.dependents.entry(used.reference.clone()).or_default();
            if dependents.is_empty() {
                let resources = Arc::clone(&used.resources);
                self.kinds.entry(Arc::clone(&used.reference.kind)).or_insert(Asked { count: 0, resources }).count += 1;
            }
            dependents.insert(key.clone(), used.version.clone());
        }
    }

    /// A workload asks for these no more.
    pub fn remove(&mut self, key: &Key, used: &[Used]) {
        for Used { reference, .. } in used {
            let Some(dependents) = self.dependents.get_mut(reference) else { continue };
            dependents.remove(key);
            if dependents.is_empty() {
                self.dependents.remove(reference);
                if let Some(asked) = self.kinds.get_mut(&reference.kind) {
                    asked.count -= 1;
                    if asked.count == 0 {
                        self.kinds.remove(&reference.kind);
                    }
                }
            }
        }
    }

    /// Kinds of which something is asked for, with their resources.
    pub fn kinds(&self) -> BTreeMap<Arc<GroupKind>, Arc<[Resource]>> {
        self.kinds.iter().map(|(kind, asked)| (Arc::clone(kind), Arc::clone(&asked.resources))).collect()
    }

    /// Whether anything asks for an object.
    pub fn is_asked_for(&self, reference: &Reference) -> bool {
        self.dependents.contains_key(reference)
    }

    /// An object has this version now, or is gone: who was read with another one.
    pub fn outdated(&self, reference: &Reference, version: Option<&str>) -> Touched {
        let dependents = self.dependents.get(reference).into_iter().flatten();
        dependents.filter(|(_, known)| known.as_deref() != version).map(|(key, _)| key.clone()).collect()
    }

    /// Of a kind only these are there: who was read with one that is not.
    pub fn lost(&self, kind: &GroupKind, there: &HashSet<Reference>) -> Touched {
        let gone: BTreeSet<&Reference> =
            self.dependents.keys().filter(|reference| *reference.kind == *kind && !there.contains(*reference)).collect();
        gone.into_iter().flat_map(|reference| self.outdated(reference, None)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key { kind: Arc::new(GroupKind::new("example.com", "Widget")), namespace: Arc::from("demo"), name: Arc::from(name) }
    }

    fn used(name: &str, version: Option<&str>) -> Used {
        Used {
            reference: Reference {
                kind: Arc::new(GroupKind::new("example.com", "Preset")),
                namespace: Some(Arc::from("demo")),
                name: Arc::from(name),
            },
            version: version.map(Box::from),
            resources: Arc::from([Resource::new("example.com", "v1", "presets", "Preset")]),
        }
    }

    #[test]
    fn whoever_was_read_with_another_version_is_outdated() {
        let mut related = Related::default();
        let (first, second) = (used("base", Some("7")), used("base", Some("8")));
        related.put(&key("a"), std::slice::from_ref(&first));
        related.put(&key("b"), std::slice::from_ref(&second));
        assert_eq!(related.outdated(&first.reference, Some("8")), Touched::from([key("a")]));
        assert_eq!(related.outdated(&first.reference, None).len(), 2, "it is gone");
        assert!(related.outdated(&used("other", None).reference, Some("1")).is_empty());
    }

    #[test]
    fn one_that_was_missing_is_noticed_when_it_comes_and_one_that_went_while_nobody_looked() {
        let mut related = Related::default();
        let (missing, there) = (used("missing", None), used("there", Some("3")));
        related.put(&key("a"), std::slice::from_ref(&missing));
        related.put(&key("b"), std::slice::from_ref(&there));
        assert_eq!(related.outdated(&missing.reference, Some("1")), Touched::from([key("a")]));
        assert_eq!(related.lost(&there.reference.kind, &HashSet::new()), Touched::from([key("b")]));
        assert!(related.lost(&there.reference.kind, &HashSet::from([there.reference.clone()])).is_empty());
    }

    #[test]
    fn a_kind_is_of_interest_as_long_as_anything_asks_for_an_object_of_it() {
        let mut related = Related::default();
        let all = [used("base", None), used("other", None)];
        related.put(&key("a"), &all);
        related.put(&key("b"), &all[..1]);
        related.remove(&key("a"), &all);
        assert_eq!(related.kinds().len(), 1);
        related.remove(&key("b"), &all[..1]);
        assert!(related.kinds().is_empty() && !related.is_asked_for(&all[0].reference));
    }
}
