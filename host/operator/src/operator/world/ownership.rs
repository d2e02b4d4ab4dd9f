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

    /// The topmost object above this one, itself included. None for an object that is not known. A circle has no top, and neither has
    /// a chain that is too long: such an object is its own root.
    pub fn root_of(&self, uid: &str) -> Option<&Key> {
        let own = self.objects.get(uid)?;
        let mut current = own;
        for _ in 0..=MAX_HOPS {
            match current.owner.as_ref().and_then(|owner| self.objects.get(owner)) {
                Some(owner) => current = owner,
                None => return Some(&current.key),
            }
        }
        Some(&own.key)
    }

    /// An object and those above it, as far as they are known. Ends in a circle, and after so many hops.
    pub fn chain(&self, uid: &str) -> Vec<&Key> {
        let mut chain = Vec::new();
        let mut next = self.objects.get(uid);
        while let Some(object) = next.filter(|_| chain.len() <= MAX_HOPS) {
            chain.push(&object.key);
            next = object.owner.as_ref().and_then(|owner| self.objects.get(owner));
        }
        chain
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
