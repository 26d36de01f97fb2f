//! The memory frontier: which chunk fits at which prefix.
//!
//! In go the memory fit of a path, the budget and how many ranks share the rows of a chunk; out
//! come the predicted peak of a chunk of `T` rows after a prefix of `L` tokens, at the most likely
//! model and at its one-sided 95% bound, and the largest `T` or `L` that stays within the usable
//! bytes at the bound and whose scores fit the largest free block.

use super::Budget;
use super::decision::SCORES;
use crate::fit::memory::{Growth, MemoryFit};

/// The frontier of one path. Peaks never fall as `T` or `L` grows.
#[derive(Clone, Copy, Debug)]
pub struct Frontier<'a> {
    memory: &'a MemoryFit,
    usable_bytes: f64,
    floor: Option<f64>,
    block: Option<f64>,
    cp: u64,
}

impl<'a> Frontier<'a> {
    /// The frontier of `memory` within `budget`, with the rows of a chunk divided by `cp` ranks.
    pub fn new(memory: &'a MemoryFit, budget: &Budget, cp: u32) -> Self {
        Self {
            memory,
            usable_bytes: budget.usable_bytes as f64,
            floor: budget.floor,
            block: budget.largest_block.map(|bytes| bytes as f64),
            cp: u64::from(cp.max(1)),
        }
    }

    /// Bytes that a chunk may take.
    pub fn usable_bytes(&self) -> f64 {
        self.usable_bytes
    }

    /// Most likely peak of a chunk of `t` tokens after a prefix of `l`, bytes per rank.
    pub fn peak_point(&self, t: u64, l: u64) -> f64 {
        let (rows, end) = self.rank(t, l);
        self.floored(self.memory.peak(rows, end), rows, end)
    }

    /// One-sided 95% bound of that peak, bytes per rank: what the schedule keeps within
    /// [`Self::usable_bytes`].
    pub fn peak_95(&self, t: u64, l: u64) -> f64 {
        let (rows, end) = self.rank(t, l);
        self.floored(self.memory.peak_95(rows, end), rows, end)
    }

    /// Whether a chunk of `t` tokens after a prefix of `l` fits at the 95% bound, in sum and in its
    /// largest allocation.
    pub fn fits(&self, t: u64, l: u64) -> bool {
        self.peak_95(t, l) <= self.usable_bytes && self.allocates(t, l)
    }

    /// Whether the largest free block holds the fp32 scores of that chunk, which are one allocation;
    /// true where the block is not known. A pool that bounds the scores bounds the allocation too.
    pub fn allocates(&self, t: u64, l: u64) -> bool {
        let (rows, end) = self.rank(t, l);
        let keys = end.div_ceil(u64::from(self.memory.ratio.max(1)));
        let scores = SCORES * rows as f64 * keys as f64;
        let largest = match self.memory.growth {
            Growth::Flat => 0.0,
            Growth::Pooled => scores.min(self.memory.coefficients.pool_bytes()),
            Growth::Dense | Growth::DenseAndPooled => scores,
        };
        self.block.is_none_or(|block| largest <= block)
    }

    /// The largest chunk up to `most` tokens that fits after a prefix of `l`; none where not even
    /// one row does.
    pub fn largest_chunk(&self, l: u64, most: u64) -> Option<u64> {
        largest(most, |t| t == 0 || self.fits(t, l)).filter(|t| *t > 0)
    }

    /// The largest prefix up to `most` tokens at which a chunk of `t` fits; none where it does not
    /// fit even without a prefix.
    pub fn largest_prefix(&self, t: u64, most: u64) -> Option<u64> {
        largest(most, |l| self.fits(t, l))
    }

    /// Probability that the peak of one run of that chunk stays within `limit` bytes.
    pub fn chance_within(&self, t: u64, l: u64, limit: f64) -> f64 {
        let (rows, end) = self.rank(t, l);
        self.memory.probability_within(rows, end, limit)
    }

    /// Rows of one rank and the context at the end of the chunk.
    fn rank(&self, t: u64, l: u64) -> (u64, u64) {
        (t.div_ceil(self.cp), l.saturating_add(t))
    }

    fn floored(&self, peak: f64, rows: u64, end: u64) -> f64 {
        self.floor.map_or(peak, |c| peak.max(self.memory.peak_at(rows, end, c)))
    }
}

/// The largest value up to `most` that holds, where everything below a value that holds does too.
pub(super) fn largest(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(0) {
        return None;
    }
    let (mut inside, mut outside) = (0, most.saturating_add(1));
    while outside - inside > 1 {
        let middle = inside + (outside - inside) / 2;
        if holds(middle) { inside = middle } else { outside = middle }
    }
    Some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::observations::{LMeans, read_csv};
    use crate::fit::{Fit, fit_of_observations};
    use crate::units::Bytes;

    fn boots() -> Fit {
        let text = include_str!("../../profiles/field/boots.csv");
        fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context)
    }

    #[test]
    fn the_scores_of_a_chunk_have_to_fit_the_largest_block_as_one_allocation() {
        let fit = boots();
        let memory = fit.observed().unwrap();
        let budget = Budget::new(memory, 2_750_000_000, true).unwrap();
        let sum = Frontier::new(memory, &budget, 1);
        let tight = budget.within_block(Some(Bytes(400_000_000)), memory);
        let block = Frontier::new(memory, &tight, 1);
        // 400 MB / 4 B = 1e8 (row, key): 1024 * 97,656 at the end of the chunk.
        assert_eq!(block.largest_prefix(1024, 1 << 30), Some(97_656 - 1024));
        assert!(sum.largest_prefix(1024, 1 << 30).unwrap() > 150_000);
        // A block that holds more than the sum allows changes nothing.
        let loose = budget.within_block(Some(Bytes(2_000_000_000)), memory);
        let wide = Frontier::new(memory, &loose, 1);
        assert_eq!(wide.largest_prefix(1024, 1 << 30), sum.largest_prefix(1024, 1 << 30));
        // Three ranks take a third of the rows each.
        let three = Frontier::new(memory, &tight, 3);
        assert_eq!(three.largest_prefix(3072, 1 << 30), Some(97_656 - 3072));
    }

    #[test]
    fn the_largest_chunk_and_prefix_lie_on_the_frontier() {
        let fit = boots();
        let memory = fit.observed().unwrap();
        let budget = Budget::new(memory, 2_750_000_000, true).unwrap();
        let frontier = Frontier::new(memory, &budget, 1);
        let chunk = frontier.largest_chunk(100_000, 1 << 20).unwrap();
        assert!(frontier.fits(chunk, 100_000) && !frontier.fits(chunk + 1, 100_000));
        let prefix = frontier.largest_prefix(1024, 1 << 30).unwrap();
        assert!(frontier.fits(1024, prefix) && !frontier.fits(1024, prefix + 1));
        assert!(frontier.peak_point(1024, prefix) < frontier.peak_95(1024, prefix));
        // Three ranks share the rows: three times the chunk has the same peak but for its end.
        let three = Frontier::new(memory, &budget, 3);
        let wide = three.largest_chunk(100_000, 1 << 20).unwrap();
        assert!((2 * chunk..=3 * chunk + 2).contains(&wide), "{chunk} {wide}");
        assert_eq!(frontier.largest_chunk(u64::MAX, 1 << 20), None);
    }
}
