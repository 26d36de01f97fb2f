//! Chunk for every prefix.
//!
//! In goes, for each chunk length, the largest prefix at which that chunk still fits; out comes
//! the table `prefix -> chunk` that a sizer serves: ascending, half-open, first entry at prefix 0,
//! and the largest prefix that can be served at all. The note's formula
//! `clamp(round_down(BUDGET / L, align), min, max)` and the fitted frontier are both of this kind.

use serde::{Deserialize, Serialize};

use super::PlanError;
use super::tail::{Ending, TAIL_FRACTION};

/// The lengths a chunk may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkRange {
    /// Smallest chunk, tokens; a multiple of `align`.
    pub min: u64,
    /// Largest chunk, tokens; a multiple of `align`.
    pub max: u64,
    /// Every chunk is a multiple of this.
    pub align: u64,
}

/// Most chunk lengths that a range may hold.
const MAX_LENGTHS: u64 = 1 << 20;

impl ChunkRange {
    /// Multiples of `align` within `[min, max]`: `min` is rounded up, `max` down.
    ///
    /// # Errors
    /// Zero figures, no multiple in the range, or more lengths than a table is made for.
    pub fn new(min: u64, max: u64, align: u64) -> Result<Self, PlanError> {
        if min == 0 || max == 0 || align == 0 {
            return Err(PlanError::Zero("chunk-min, chunk-max and the alignment"));
        }
        let empty = PlanError::EmptyRange { min, max, align };
        let rounded_min = min.div_ceil(align).checked_mul(align).ok_or(empty.clone())?;
        let rounded_max = max / align * align;
        if rounded_min > rounded_max {
            return Err(empty);
        }
        if (rounded_max - rounded_min) / align >= MAX_LENGTHS {
            return Err(PlanError::TooManyLengths { min, max, align, limit: MAX_LENGTHS });
        }
        Ok(Self { min: rounded_min, max: rounded_max, align })
    }

    /// The lengths, largest first.
    pub fn descending(self) -> impl Iterator<Item = u64> {
        let steps = (self.max - self.min) / self.align;
        (0..=steps).map(move |i| self.max - i * self.align)
    }
}

/// What ends the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndsBy {
    /// At the next prefix even the smallest chunk would not fit.
    Memory,
    /// The context ends there; memory would allow more.
    Context,
}

/// Chunk for every prefix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Lengths that a chunk may have.
    pub range: ChunkRange,
    /// `(prefix_from, chunk)`, ascending, half-open, first at prefix 0; the last entry holds up to
    /// `max_context` inclusive.
    pub table: Vec<(u64, u64)>,
    /// The largest chunk that fits, in the same form: nowhere less than the table's.
    #[serde(default)]
    pub frontier: Vec<(u64, u64)>,
    /// Share of the chunk before it under which a last chunk is merged or balanced; 0 for never.
    #[serde(default)]
    pub tail_fraction: f64,
    /// Largest prefix that can be served, tokens.
    pub max_context: u64,
    /// What ends the schedule.
    pub ends_by: EndsBy,
    /// Longest context that was asked for, tokens; none where nobody says.
    #[serde(default)]
    pub context_length: Option<u64>,
}

impl Schedule {
    /// The schedule of a frontier: `largest_prefix(chunk)` is the largest prefix at which `chunk`
    /// fits, none where it fits nowhere; it may not grow with `chunk`.
    ///
    /// # Errors
    /// No chunk of the range fits even without a prefix.
    pub fn of_frontier(
        range: ChunkRange,
        context_length: Option<u64>,
        largest_prefix: impl Fn(u64) -> Option<u64>,
    ) -> Result<Self, PlanError> {
        let limit = context_length.unwrap_or(u64::MAX);
        let mut table = Vec::new();
        // The first prefix that the table does not serve yet.
        let mut open = Some(0u64);
        for chunk in range.descending() {
            let Some(from) = open else { break };
            let Some(last) = largest_prefix(chunk).map(|p| p.min(limit)) else { continue };
            if last >= from {
                table.push((from, chunk));
                open = last.checked_add(1).filter(|next| *next <= limit);
            }
        }
        let max_context = open.map_or(limit, |next| next.saturating_sub(1));
        if table.is_empty() {
            return Err(PlanError::NothingFits { chunk_min: range.min });
        }
        let ends_by = if open.is_none() { EndsBy::Context } else { EndsBy::Memory };
        let frontier = table.clone();
        Ok(Self {
            range,
            table,
            frontier,
            tail_fraction: TAIL_FRACTION,
            max_context,
            ends_by,
            context_length,
        })
    }

    /// The note's formula: `clamp(round_down(budget / L, align), min, max)`; a prefix at which
    /// even `min * L > budget` is past `max_context`.
    ///
    /// # Errors
    /// A budget of zero.
    pub fn of_budget(
        range: ChunkRange,
        context_length: Option<u64>,
        budget: u64,
    ) -> Result<Self, PlanError> {
        if budget == 0 {
            return Err(PlanError::Zero("the budget"));
        }
        Self::of_frontier(range, context_length, |chunk| Some(budget / chunk))
    }

    /// The chunk for a prefix; none past `max_context`.
    pub fn at(&self, prefix: u64) -> Option<u64> {
        (prefix <= self.max_context).then(|| chunk_at(&self.table, prefix)).flatten()
    }

    /// The smallest chunk of the table, which fits at every prefix that is served.
    pub fn smallest(&self) -> u64 {
        self.table.iter().map(|(_, chunk)| *chunk).min().unwrap_or(self.range.min)
    }

    /// Longest request that is served, tokens, within the context that was asked for. Chunks begin
    /// at whole pages, so where memory ends the schedule it is the last page that begins at a prefix
    /// which is served.
    pub fn longest_request(&self, page: u64) -> u64 {
        let end = match self.ends_by {
            EndsBy::Memory => (self.max_context / page.max(1) + 1).saturating_mul(page.max(1)),
            EndsBy::Context => self.max_context,
        };
        self.context_length.map_or(end, |context| context.min(end))
    }

    /// The chunks of a prompt of `length` tokens as the plugin runs it, its last chunk merged or
    /// balanced where it would be tiny; none where the prompt passes `max_context`.
    pub fn chunks_of(&self, length: u64) -> Option<Vec<u64>> {
        let ending =
            Ending { fraction: self.tail_fraction, min: self.range.min, unit: self.range.align };
        // The server's buffers are as large as the static size, the table's first chunk.
        let cap = self.table.first().map_or(0, |(_, chunk)| *chunk);
        self.cut(0, length, |done, chunk| {
            let most = chunk_at(&self.frontier, done).unwrap_or(0).min(cap);
            let room = |first| self.at(done + first).unwrap_or(0);
            ending.rows(length - done, chunk, most, room)
        })
    }

    /// The chunks from prefix `from` to the end of a prompt of `length` tokens by the table alone,
    /// whatever is left for the last; none where it passes `max_context`.
    pub fn chunks_from(&self, from: u64, length: u64) -> Option<Vec<u64>> {
        self.cut(from, length, |_, _| None)
    }

    /// The chunks from `from` to `length`, where `change` may put another in the place of the
    /// table's at a prefix.
    fn cut(
        &self,
        from: u64,
        length: u64,
        change: impl Fn(u64, u64) -> Option<u64>,
    ) -> Option<Vec<u64>> {
        let (mut done, mut chunks) = (from, Vec::new());
        while done < length {
            let chunk = self.at(done)?;
            let chunk = change(done, chunk).unwrap_or(chunk).min(length - done);
            chunks.push(chunk);
            done += chunk;
        }
        Some(chunks)
    }
}

/// The chunk of the row of a table, such as [`Schedule::table`], that holds `prefix`.
pub fn chunk_at(table: &[(u64, u64)], prefix: u64) -> Option<u64> {
    let after = table.partition_point(|(from, _)| *from <= prefix);
    table.get(after.checked_sub(1)?).map(|(_, chunk)| *chunk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn note() -> Schedule {
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        Schedule::of_budget(range, None, 200_000_000).unwrap()
    }

    #[test]
    fn the_field_notes_schedule_is_reproduced() {
        let schedule = note();
        let expected = [
            (0, 2048),
            (50_000, 2048),
            (97_656, 2048), // 2e8 / 97656 = 2048.005
            (97_657, 1792),
            (100_000, 1792), // 2e8 / 1e5 = 2000, down to 1792
            (195_312, 1024),
            (195_313, 768),
            (390_625, 512),
            (781_250, 256),
        ];
        for (prefix, chunk) in expected {
            assert_eq!(schedule.at(prefix), Some(chunk), "prefix {prefix}");
        }
        assert_eq!(schedule.max_context, 781_250);
        assert_eq!(schedule.at(781_251), None);
        assert_eq!(schedule.ends_by, EndsBy::Memory);
    }

    #[test]
    fn the_context_length_ends_a_schedule_that_memory_would_not() {
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        let schedule = Schedule::of_budget(range, Some(131_072), 1 << 40).unwrap();
        assert_eq!(schedule.table, [(0, 2048)]);
        assert_eq!((schedule.max_context, schedule.ends_by), (131_072, EndsBy::Context));
        assert_eq!(schedule.at(131_072), Some(2048));
        assert_eq!(schedule.at(131_073), None);
    }

    #[test]
    fn a_range_is_cut_to_multiples_and_an_empty_one_is_refused() {
        let range = ChunkRange::new(300, 2100, 256).unwrap();
        assert_eq!((range.min, range.max), (512, 2048));
        assert!(matches!(ChunkRange::new(300, 400, 256), Err(PlanError::EmptyRange { .. })));
        assert!(matches!(ChunkRange::new(0, 400, 256), Err(PlanError::Zero(_))));
        assert!(matches!(
            ChunkRange::new(u64::MAX, u64::MAX, 256),
            Err(PlanError::EmptyRange { .. })
        ));
        assert!(matches!(ChunkRange::new(1, u64::MAX, 1), Err(PlanError::TooManyLengths { .. })));
    }

    #[test]
    fn a_frontier_that_admits_no_chunk_is_an_error() {
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        let none = Schedule::of_frontier(range, None, |_| None);
        assert_eq!(none, Err(PlanError::NothingFits { chunk_min: 256 }));
    }

    #[test]
    fn a_prompt_is_cut_into_the_chunks_of_its_prefixes() {
        let chunks = note().chunks_of(100_000).unwrap();
        assert_eq!(chunks.iter().sum::<u64>(), 100_000);
        assert!(chunks[..47].iter().all(|c| *c == 2048));
        assert!(note().chunks_of(1_000_000).is_none());
    }

    #[test]
    fn the_longest_request_ends_with_the_last_page_that_is_served_within_the_context() {
        // 256 rows fit up to 2e8 / 256 = 781,250, in page 3051, which ends at 3052 * 256.
        let longest = note().longest_request(256);
        assert_eq!(longest, 781_312);
        assert_eq!(note().chunks_of(longest).unwrap().iter().sum::<u64>(), longest);
        assert!(note().chunks_of(longest + 1).is_none());
        let range = note().range;
        let within = |context| {
            Schedule::of_budget(range, Some(context), 200_000_000).unwrap().longest_request(256)
        };
        assert_eq!((within(100_000), within(781_300)), (100_000, 781_300));
    }

    proptest! {
        #[test]
        fn chunks_keep_the_budget_the_page_and_never_grow(
            budget in 1u64..1_000_000_000_000,
            page in 1u64..300,
            steps in 1u64..40,
            lowest in 1u64..8,
            prefixes in prop::collection::vec(0u64..4_000_000, 1..40),
        ) {
            let range = ChunkRange::new(lowest * page, (lowest + steps) * page, page).unwrap();
            let schedule = Schedule::of_budget(range, None, budget).unwrap();
            let mut prefixes = prefixes;
            prefixes.sort_unstable();
            let mut last = u64::MAX;
            for prefix in prefixes {
                // The formula itself, with L = 0 unbounded.
                let raw = budget.checked_div(prefix).map_or(range.max, |rows| rows / page * page);
                let formula = raw.clamp(range.min, range.max);
                let past = u128::from(range.min) * u128::from(prefix) > u128::from(budget);
                match schedule.at(prefix) {
                    None => prop_assert!(past),
                    Some(chunk) => {
                        prop_assert!(!past);
                        prop_assert_eq!(chunk, formula);
                        prop_assert!(u128::from(chunk) * u128::from(prefix) <= u128::from(budget));
                        prop_assert_eq!(chunk % page, 0);
                        prop_assert!(chunk <= last);
                        last = chunk;
                    }
                }
            }
        }
    }
}
