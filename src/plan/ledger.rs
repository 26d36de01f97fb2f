//! What holds the memory of a rank, and what of it a setting can free.
//!
//! In go sizes from flags; out come the rows of a ledger down to what a chunk may use. Sizes that
//! nobody gave are left out and never guessed; where the total and the holders are known, what is
//! free follows from them.

use serde::Serialize;

use super::Usable;
use super::decision::SCORES;
use crate::units::Bytes;

/// What holds memory on a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Memory of the rank.
    pub total: Option<Bytes>,
    /// Weights.
    pub weights: Option<Bytes>,
    /// KV pool, as reserved.
    pub kv_reserved: Option<Bytes>,
    /// KV pool, pages touched so far.
    pub kv_touched: Option<Bytes>,
    /// Buffers of collectives.
    pub collectives: Option<Bytes>,
    /// Server and helper processes.
    pub processes: Option<Bytes>,
    /// What the allocator keeps without using it.
    pub cache: Option<Bytes>,
    /// Largest free block.
    pub largest_block: Option<Bytes>,
    /// Whether CPU and GPU share the memory, where pages count only once touched.
    pub unified: bool,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What holds it.
    pub name: &'static str,
    /// How much.
    pub bytes: Bytes,
    /// What frees it.
    pub freed_by: &'static str,
}

impl Ledger {
    /// What is free after boot, where the total and its two largest holders are known: the weights
    /// and the KV pool.
    pub fn free(&self) -> Option<Bytes> {
        let total = self.total?.0;
        self.weights?;
        self.kv_held()?;
        let held = self.holders().iter().try_fold(0u64, |sum, e| sum.checked_add(e.bytes.0))?;
        total.checked_sub(held).map(Bytes)
    }

    fn kv_held(&self) -> Option<Bytes> {
        if self.unified { self.kv_touched } else { self.kv_reserved }
    }

    /// What is missing where a total was given and does not say what is free.
    pub fn missing(&self) -> Option<&'static str> {
        match (self.total, self.kv_held(), self.unified) {
            (Some(_), None, true) => Some("--kv-touched"),
            (Some(_), None, false) => Some("--kv-reserved"),
            _ => None,
        }
    }

    /// What holds memory before any chunk runs. A KV pool on unified memory holds what it has
    /// touched, elsewhere what it has reserved.
    fn holders(&self) -> Vec<Entry> {
        let (kv, kv_freed_by) = if self.unified {
            let freed_by = "nothing at rest: untouched pages hold none, a smaller pool frees none";
            (self.kv_held(), freed_by)
        } else {
            (self.kv_held(), "--mem-fraction-static or --max-total-tokens")
        };
        let entry = |name, bytes: Option<Bytes>, freed_by| {
            bytes.map(|bytes| Entry { name, bytes, freed_by })
        };
        [
            entry("weights", self.weights, "more ranks (--tp) or a smaller format"),
            entry(if self.unified { "KV pages touched" } else { "KV pool" }, kv, kv_freed_by),
            entry("collective buffers", self.collectives, "fewer or smaller communicators"),
            entry("server processes", self.processes, "fewer tokenizer and helper processes"),
            entry("allocator cache", self.cache, "emptying it; expandable segments or fixed sizes"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// All rows, down to what a chunk may use.
    pub fn entries(&self, usable: &Usable) -> Vec<Entry> {
        let mut out = self.holders();
        if let (true, Some(reserved)) = (self.unified, self.kv_reserved) {
            out.push(Entry {
                name: "KV pool reserved",
                bytes: reserved,
                freed_by: "not held: it grows into this as pages are touched",
            });
        }
        out.push(Entry { name: "guard", bytes: usable.guard, freed_by: "--guard" });
        out.push(Entry { name: "margin", bytes: usable.margin, freed_by: "--margin" });
        let bytes = Bytes(usable.bytes().unwrap_or(0));
        out.push(Entry { name: "usable by a chunk", bytes, freed_by: "-" });
        if let Some(bytes) = self.largest_block {
            out.push(Entry {
                name: "largest free block",
                bytes,
                freed_by: "fixed-width or bucketed buffers",
            });
        }
        out
    }
}

/// BUDGET that the largest free block leaves, token^2: the fp32 scores are one allocation, which
/// the sum of all free blocks does not help.
pub fn budget_of_block(block: Option<Bytes>, ratio: u32) -> Option<u64> {
    let pairs = block?.0 / SCORES as u64;
    pairs.checked_mul(u64::from(ratio.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    fn gb(value: u64) -> Option<Bytes> {
        Some(Bytes(value * GB))
    }

    #[test]
    fn free_memory_follows_from_the_total_and_its_holders() {
        let ledger = Ledger {
            total: gb(128),
            weights: gb(90),
            kv_reserved: gb(25),
            processes: gb(4),
            ..Ledger::default()
        };
        assert_eq!(ledger.free(), gb(9));
        // On unified memory the pool holds only the pages it has touched.
        let unified = Ledger { unified: true, kv_touched: gb(2), ..ledger };
        assert_eq!(unified.free(), gb(32));
        assert_eq!(Ledger { total: None, ..ledger }.free(), None);
        let without = Ledger { kv_reserved: None, ..ledger };
        assert_eq!((without.free(), without.missing()), (None, Some("--kv-reserved")));
        assert_eq!((ledger.missing(), Ledger::default().missing()), (None, None));
        assert_eq!(Ledger { weights: gb(200), ..ledger }.free(), None);
    }

    #[test]
    fn a_smaller_pool_frees_nothing_at_rest_on_unified_memory() {
        let usable = Usable {
            free: Bytes(5 * GB),
            assumed: false,
            observed: false,
            guard: Bytes(GB),
            margin: Bytes(GB / 2),
        };
        let ledger =
            Ledger { unified: true, kv_touched: gb(1), kv_reserved: gb(20), ..Ledger::default() };
        let entries = ledger.entries(&usable);
        assert!(entries[0].freed_by.starts_with("nothing at rest"));
        let last = entries.last().unwrap();
        assert_eq!((last.name, last.bytes), ("usable by a chunk", Bytes(3_500_000_000)));
    }

    #[test]
    fn the_largest_block_bounds_the_scores_whatever_the_sum_is() {
        // 128 MiB / 4 B = 33.6e6 pairs, at ratio 4 134e6 token^2.
        assert_eq!(budget_of_block(Some(Bytes(134_217_728)), 4), Some(134_217_728));
        assert_eq!(budget_of_block(None, 4), None);
    }
}
