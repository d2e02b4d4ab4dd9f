//! The hash map of what is looked up for every container.

use std::collections::HashMap;

/// A map with a hash that is quicker than the standard one over short texts. It is seeded, and keys that come from objects are bounded in
/// number, so that collisions cannot be forced to matter.
pub(crate) type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
