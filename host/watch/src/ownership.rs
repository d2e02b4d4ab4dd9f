//! Who controls whom, by UID. Names and labels decide nothing: a tenant chooses those.
//!
//! Fed by whatever is watched, in any order: a child may be known before its owner. Each event costs the same however much is known; a
//! walk costs its hops and a closure its size. The kind is whatever type the owner of the index uses; versions have no part in it, since
//! the one in a reference is the one that some operator was compiled with.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// UID of an object.
pub type Uid = Arc<str>;

/// Owners above an object at most. The longest chain known has six hops from a workload, and eight from a pod: a pipeline of services, each
/// over another kind of service, a route and its revisions, a Deployment and a ReplicaSet.
pub const MAX_HOPS: usize = 8;

/// A controller as its child names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference<K> {
    /// UID.
    pub uid: Uid,
    /// Kind.
    pub kind: K,
    /// Name, for people.
    pub name: Arc<str>,
}

/// Who controls an object, as the object says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Controller<K> {
    /// Nobody.
    #[default]
    None,
    /// One.
    One(Reference<K>),
    /// Several claim to, and none is believed.
    Several,
}

impl<K> Controller<K> {
    /// The one that it has.
    pub fn one(&self) -> Option<&Reference<K>> {
        match self {
            Self::One(reference) => Some(reference),
            Self::None | Self::Several => None,
        }
    }
}

/// An object that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member<K> {
    /// Kind.
    pub kind: K,
    /// Namespace; empty for an object of the cluster.
    pub namespace: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Who controls it.
    pub controller: Controller<K>,
}

/// Why a walk went no further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End<'a, K> {
    /// Nobody controls the last object.
    Top,
    /// Several claim to control the last object.
    Several,
    /// The controller of the last object is not known.
    Unknown(&'a Reference<K>),
    /// The object with that UID is another than the reference says: of another kind.
    OtherKind(&'a Reference<K>),
    /// The object with that UID is in another namespace, and owns nothing here.
    OtherNamespace(&'a Reference<K>),
    /// There are more hops than [`MAX_HOPS`]; nothing above is believed.
    TooDeep,
    /// It leads in a circle, which has no top; nothing above is believed.
    Circle,
}

/// An object and those above it.
#[derive(Clone, Debug)]
pub struct Walk<'a, K> {
    /// The object itself first. Of a chain that is too deep or a circle nothing but the object.
    pub members: Vec<(&'a Uid, &'a Member<K>)>,
    /// Why there are no more.
    pub end: End<'a, K>,
}

/// All objects that are known.
#[derive(Debug)]
pub struct Index<K> {
    members: HashMap<Uid, Member<K>>,
    /// Children by the UID that they name, whether or not it is known.
    children: HashMap<Uid, HashSet<Uid>>,
}

impl<K> Default for Index<K> {
    fn default() -> Self {
        Self { members: HashMap::new(), children: HashMap::new() }
    }
}

impl<K: Clone + Eq> Index<K> {
    /// An object is there, or has changed.
    pub fn put(&mut self, uid: Uid, mut member: Member<K>) {
        if self.members.get(&uid) == Some(&member) {
            return;
        }
        self.remove(&uid);
        if let Controller::One(reference) = &mut member.controller {
            // Thousands of children name the same owner: one text is enough.
            if let Some((known, owner)) = self.members.get_key_value(&reference.uid) {
                reference.uid = Arc::clone(known);
                if reference.name == owner.name {
                    reference.name = Arc::clone(&owner.name);
                }
            } else if let Some((known, _)) = self.children.get_key_value(&reference.uid) {
                reference.uid = Arc::clone(known);
            }
            self.children.entry(Arc::clone(&reference.uid)).or_default().insert(Arc::clone(&uid));
        }
        self.members.insert(uid, member);
    }

    /// An object is gone. What it controlled stays, and names it still.
    pub fn remove(&mut self, uid: &str) -> Option<Member<K>> {
        let member = self.members.remove(uid)?;
        if let Controller::One(reference) = &member.controller
            && let Some(children) = self.children.get_mut(&reference.uid)
        {
            children.remove(uid);
            if children.is_empty() {
                self.children.remove(&reference.uid);
            }
        }
        Some(member)
    }

    /// An object.
    pub fn get(&self, uid: &str) -> Option<&Member<K>> {
        self.members.get(uid)
    }

    /// Whether anything names an object as its controller, whether or not the object is known.
    pub fn has_children(&self, uid: &str) -> bool {
        self.children.contains_key(uid)
    }

    /// How many objects are known.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Goes up from an object. None when it is not known.
    pub fn walk(&self, uid: &str) -> Option<Walk<'_, K>> {
        let start = self.members.get_key_value(uid)?;
        let mut members = vec![start];
        let end = loop {
            let (_, last) = members[members.len() - 1];
            let reference = match &last.controller {
                Controller::None => break End::Top,
                Controller::Several => break End::Several,
                Controller::One(reference) => reference,
            };
            let Some(above) = self.members.get_key_value(&reference.uid) else { break End::Unknown(reference) };
            if above.1.kind != reference.kind {
                break End::OtherKind(reference);
            }
            if !reaches(above.1, last) {
                break End::OtherNamespace(reference);
            }
            if members.iter().any(|(known, _)| *known == above.0) {
                break End::Circle;
            }
            if members.len() > MAX_HOPS {
                break End::TooDeep;
            }
            members.push(above);
        };
        if matches!(end, End::Circle | End::TooDeep) {
            members.truncate(1);
        }
        Some(Walk { members, end })
    }

    /// UIDs of what an object controls, directly and through others, without its own, nearest first. Also of an object that is not known
    /// (any more): its children name it. Only edges are followed that a walk would go, and no more of them than a walk would.
    pub fn below(&self, uid: &str) -> Vec<&Uid> {
        let mut seen: HashSet<&str> = HashSet::from([uid]);
        let mut all: Vec<&Uid> = Vec::new();
        let mut level = vec![uid];
        for _ in 0..MAX_HOPS {
            let from = all.len();
            for at in level {
                let owner = self.members.get(at);
                let fits = |child: &&Uid| {
                    let Some(member) = self.members.get(*child) else { return false };
                    let reference = member.controller.one();
                    reference.is_some_and(|reference| owner.is_none_or(|owner| owner.kind == reference.kind && reaches(owner, member)))
                };
                all.extend(self.children.get(at).into_iter().flatten().filter(fits).filter(|child| seen.insert(child)));
            }
            level = all[from..].iter().map(|uid| &***uid).collect();
        }
        all
    }
}

/// Whether an object can own another: both are in one namespace, or the owner is in none.
fn reaches<K>(owner: &Member<K>, child: &Member<K>) -> bool {
    owner.namespace.is_empty() || owner.namespace == child.namespace
}

#[cfg(test)]
mod tests;
