//! Facts that are kept for later.

use std::fmt;
use std::io::Read as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use aibom_facts::inventory::Inventory;
use flate2::read::DeflateDecoder;
use flate2::{Compress, Compression, FlushCompress, Status};

/// One for all: its tables of some 300 KB take longer to make than facts to pack.
static PACKER: LazyLock<Mutex<Compress>> = LazyLock::new(|| Mutex::new(Compress::new(Compression::fast(), false)));

/// Facts about a workload, packed: an inventory takes ten times the room of its text, and its text four times the room it takes here.
#[derive(Clone, PartialEq, Eq)]
pub struct Facts(Arc<[u8]>);

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Facts({} bytes)", self.0.len())
    }
}

impl Facts {
    /// Packs an inventory. None when it cannot be written, which no inventory should be.
    pub fn pack(inventory: &Inventory) -> Option<Self> {
        let text = serde_json::to_vec(inventory).ok()?;
        let mut packed = Vec::with_capacity(text.len() / 2 + 64);
        let mut packer = PACKER.lock().unwrap_or_else(PoisonError::into_inner);
        packer.reset();
        loop {
            let read = usize::try_from(packer.total_in()).ok()?;
            match packer.compress_vec(text.get(read..)?, &mut packed, FlushCompress::Finish).ok()? {
                Status::StreamEnd => return Some(Self(Arc::from(packed))),
                Status::Ok | Status::BufError => packed.reserve(text.len()),
            }
        }
    }

    /// Bytes that it takes, a fraction of what the inventory takes.
    pub fn size(&self) -> usize {
        self.0.len()
    }

    /// The inventory.
    pub fn unpack(&self) -> Option<Inventory> {
        let mut text = Vec::with_capacity(8 * self.0.len());
        DeflateDecoder::new(&*self.0).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aibom_facts::inventory::Origin;

    use super::*;

    #[test]
    fn facts_come_back_as_they_were_whatever_was_packed_before() {
        // Text that packs badly needs more room than was thought of at first.
        let noise = std::iter::successors(Some(7_u32), |state| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)));
        let noise: String = noise.map(|state| char::from(b'!' + (state >> 24) as u8 % 90)).take(40_000).collect();
        for value in [String::new(), noise, "a".repeat(100_000), "short".to_owned()] {
            let mut inventory = Inventory::new(Vec::new(), Origin::Cluster);
            inventory.properties.insert("note".to_owned(), BTreeSet::from([value]));
            assert_eq!(Facts::pack(&inventory).and_then(|facts| facts.unpack()), Some(inventory));
        }
    }
}
