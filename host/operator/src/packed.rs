//! Facts that are kept for later.

use std::fmt;
use std::io::Read as _;
use std::sync::Arc;

use aibom_facts::inventory::Inventory;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

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
        let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
        serde_json::to_writer(&mut packer, inventory).ok()?;
        packer.finish().ok().map(|bytes| Self(Arc::from(bytes)))
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
