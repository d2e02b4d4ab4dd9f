//! Which objects are parts of others by their kind, and what they are called in documents.

use std::borrow::Borrow;

use aibom_api::kinds::GroupKind;
use aibom_watch::ownership::{Member, Reference, Walk};

/// Kinds whose objects are copies of what their controller says, and are mostly many.
pub fn is_copy(kind: &GroupKind) -> bool {
    matches!((&*kind.group, &*kind.kind), ("", "Pod") | ("apps", "ReplicaSet"))
}

/// Kinds whose objects come and go with each run or rollout, under names that nobody chose.
pub fn is_passing(kind: &GroupKind) -> bool {
    is_copy(kind) || (&*kind.group, &*kind.kind) == ("batch", "Job")
}

/// Whether an object, the first of a walk, comes and goes: by its kind, or with a Pod that it belongs to.
pub fn passes<K: Borrow<GroupKind>>(walk: &Walk<'_, K>) -> bool {
    passes_at(walk, 0)
}

fn passes_at<K: Borrow<GroupKind>>(walk: &Walk<'_, K>, index: usize) -> bool {
    let is_pod = |kind: &GroupKind| kind.group.is_empty() && kind.kind == "Pod";
    let mut kinds = walk.members[index..].iter().map(|(_, member)| member.kind.borrow());
    kinds.next().is_some_and(is_passing) || kinds.any(is_pod)
}

/// A name that stays, for an object whose own does not: that of the nearest one above it that stays, and a star.
pub fn stands_for<K: Borrow<GroupKind>>(walk: &Walk<'_, K>) -> String {
    let stays = (0..walk.members.len()).find(|index| !passes_at(walk, *index));
    stays.map_or_else(|| "*".to_owned(), |index| format!("{}-*", walk.members[index].1.name))
}

/// An object as people read it.
pub fn shown<K: Borrow<GroupKind>>(member: &Member<K>) -> String {
    format!("{}/{}", member.kind.borrow().kind, member.name)
}

/// A controller as people read it.
pub fn named<K: Borrow<GroupKind>>(reference: &Reference<K>) -> String {
    let kind: &GroupKind = reference.kind.borrow();
    let of = if kind.group.is_empty() { String::new() } else { format!(" ({})", kind.group) };
    format!("{}/{}{of}", kind.kind, reference.name)
}
