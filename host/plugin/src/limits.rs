//! What one call may use, and what became of it.

use wasmtime::{ResourceLimiter, Result};

/// Elements of all tables of a call. Function tables of a guest hold one entry for each function whose address is taken.
pub(crate) const TABLE_ELEMENTS: usize = 20_000;
/// Core instances of a component: the program, and the two small ones that the component encoder puts around it, and one to spare.
pub(crate) const CORE_INSTANCES: usize = 4;
/// Tables of a component.
pub(crate) const TABLES: usize = 4;
/// Memories of a component.
pub(crate) const MEMORIES: usize = 1;

/// Counts bytes over *all* memories of a store: the limits that wasmtime brings along count each memory for itself. Growth over the
/// limit is refused rather than turned into a trap: a guest that can live with it goes on, one that cannot aborts, and `denied` tells
/// the second case from other aborts.
#[derive(Debug)]
pub(crate) struct Limits {
    cap: usize,
    used: usize,
    peak: usize,
    elements: usize,
    denied: bool,
}

impl Limits {
    pub(crate) fn new(cap: usize) -> Self {
        Self { cap, used: 0, peak: 0, elements: 0, denied: false }
    }

    /// Largest number of bytes at any time.
    pub(crate) fn peak(&self) -> usize {
        self.peak
    }

    /// Whether growth was refused.
    pub(crate) fn denied(&self) -> bool {
        self.denied
    }
}

impl ResourceLimiter for Limits {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.used.saturating_sub(current).saturating_add(desired);
        if total > self.cap {
            self.denied = true;
            return Ok(false);
        }
        self.used = total;
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        let total = self.elements.saturating_sub(current).saturating_add(desired);
        if total > TABLE_ELEMENTS {
            self.denied = true;
            return Ok(false);
        }
        self.elements = total;
        Ok(true)
    }

    // One component instance is several core instances.
    fn instances(&self) -> usize {
        CORE_INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
