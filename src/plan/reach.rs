//! How far each chunk length reaches: the memory frontier as schedules are searched under it.
//!
//! In goes, for each length of a range, the largest prefix at which it fits; out come answers for
//! any length up to the largest, made monotone, so that a longer chunk never reaches further.

use super::{ChunkRange, PlanError, Schedule};

/// The largest prefix at which each chunk length of a range fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    range: ChunkRange,
    /// Longest context, tokens.
    limit: u64,
    /// By length, ascending; none where the length fits nowhere.
    last: Vec<Option<u64>>,
}

impl Reach {
    /// Asks `largest_prefix` for every length of `range`; prefixes end at `limit`.
    pub fn new(range: ChunkRange, limit: u64, largest_prefix: impl Fn(u64) -> Option<u64>) -> Self {
        let mut last: Vec<Option<u64>> = range.descending().map(largest_prefix).collect();
        last.reverse();
        let mut least = Some(limit);
        for prefix in &mut last {
            least = least.zip(*prefix).map(|(a, b)| a.min(b));
            *prefix = least;
        }
        Self { range, limit, last }
    }

    /// The lengths.
    pub fn range(&self) -> ChunkRange {
        self.range
    }

    /// Largest prefix at which a chunk of `length` tokens fits, for any length up to the largest
    /// chunk. Between two lengths of the range the longer one's answer holds.
    pub fn prefix_of(&self, length: u64) -> Option<u64> {
        let steps = length.saturating_sub(self.range.min).div_ceil(self.range.align);
        self.last.get(usize::try_from(steps).ok()?).copied().flatten()
    }

    /// Whether a chunk of `length` tokens fits after `prefix`.
    pub fn fits(&self, length: u64, prefix: u64) -> bool {
        self.prefix_of(length).is_some_and(|last| prefix <= last)
    }

    /// Whether every chunk of a sequence that starts after `from` tokens fits.
    pub fn fits_all(&self, chunks: &[u64], from: u64) -> bool {
        let mut prefix = from;
        chunks.iter().all(|&chunk| {
            let fits = self.fits(chunk, prefix);
            prefix = prefix.saturating_add(chunk);
            fits
        })
    }

    /// The largest chunk for every prefix: the note's formula, with the frontier kept at the end
    /// of the chunk.
    ///
    /// # Errors
    /// Not even the smallest chunk fits without a prefix.
    pub fn schedule(&self) -> Result<Schedule, PlanError> {
        Schedule::of_frontier(self.range, Some(self.limit), |chunk| self.prefix_of(chunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_between_two_of_the_range_reach_as_far_as_the_longer_one() {
        let range = ChunkRange::new(256, 1024, 256).unwrap();
        let reach = Reach::new(range, 1 << 20, |chunk| Some(1_000_000 / chunk));
        assert_eq!(reach.prefix_of(256), Some(3906));
        assert_eq!(reach.prefix_of(257), Some(1953));
        assert_eq!(reach.prefix_of(1), Some(3906));
        assert_eq!(reach.prefix_of(1025), None);
        assert_eq!(reach.prefix_of(u64::MAX), None);
        assert!(reach.fits_all(&[1024, 512, 417], 0) && !reach.fits_all(&[1024, 1024], 0));
    }

    #[test]
    fn a_longer_chunk_never_reaches_further() {
        let range = ChunkRange::new(1, 4, 1).unwrap();
        let odd = Reach::new(range, 100, |chunk| if chunk == 2 { Some(5) } else { Some(50) });
        assert_eq!([1, 2, 3, 4].map(|c| odd.prefix_of(c)), [Some(50), Some(5), Some(5), Some(5)]);
        let hole = Reach::new(range, 100, |chunk| (chunk == 3).then_some(7));
        assert_eq!(hole.prefix_of(1), None);
    }
}
