//! Who owns whom, by UID: never by name or label, which a tenant chooses.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Key;

/// Owners above an object at most. The longest chain known has six.
const MAX_HOPS: usize = 8;

/// Tracked objects and their controllers.
#[derive(Debug, Default)]
pub struct Ownership {
    objects: HashMap<Arc<str>, Object>,
    children: HashMap<Arc<str>, Vec<Arc<str>>>,
}

#[derive(Debug)]
struct Object {
    key: Key,
    owner: Option<Arc<str>>,
}

impl Ownership {
    /// An object is there.
    pub fn put(&mut self, uid: Arc<str>, key: Key, owner: Option<Arc<str>>) {
        self.remove(&uid);
        if let Some(owner) = &owner {
            self.children.entry(Arc::clone(owner)).or_default().push(Arc::clone(&uid));
        }
        self.objects.insert(uid, Object { key, owner });
    }

    /// An object is gone. What it owned stays, without it.
    pub fn remove(&mut self, uid: &str) {
        let Some(Object { owner: Some(owner), .. }) = self.objects.remove(uid) else { return };
        if let Some(children) = self.children.get_mut(&owner) {
            children.retain(|child| &**child != uid);
            if children.is_empty() {
                self.children.remove(&owner);
            }
        }
    }

    /// The key of an object.
    pub fn key_of(&self, uid: &str) -> Option<&Key> {
        self.objects.get(uid).map(|object| &object.key)
    }

    /// An object and those above it, as far as they are known. Without an end in a circle.
    fn upwards(&self, uid: &str) -> impl Iterator<Item = &Object> {
        let above = |object: &&Object| object.owner.as_ref().and_then(|owner| self.objects.get(owner));
        std::iter::successors(self.objects.get(uid), above)
    }

    /// The topmost object above this one, itself included. None for an object that is not known. A circle has no top, and neither has
    /// a chain that is too long: such an object is its own root.
    pub fn root_of(&self, uid: &str) -> Option<&Key> {
        let mut chain = self.upwards(uid);
        let own = chain.next()?;
        let top = chain.by_ref().take(MAX_HOPS).last().unwrap_or(own);
        Some(if chain.next().is_none() { &top.key } else { &own.key })
    }

    /// An object and those above it, as far as they are known. Ends in a circle, and after so many hops.
    pub fn chain(&self, uid: &str) -> Vec<&Key> {
        self.upwards(uid).take(MAX_HOPS + 1).map(|object| &object.key).collect()
    }

    /// UIDs of an object and of all that it owns, directly and through others.
    pub fn closure(&self, uid: &Arc<str>) -> HashSet<Arc<str>> {
        let mut all = HashSet::from([Arc::clone(uid)]);
        let mut next = vec![Arc::clone(uid)];
        while let Some(uid) = next.pop() {
            for child in self.children.get(&uid).into_iter().flatten() {
                if all.insert(Arc::clone(child)) {
                    next.push(Arc::clone(child));
                }
            }
        }
        all
    }
}
