//! No tiny last chunk.
//!
//! In goes a sequence of chunks, or one chunk of a prompt whose end is known; out comes the same
//! with a last chunk that is too small merged into the one before it, or balanced with it where
//! both together are too long, as far as memory allows. [`settle`] does so for a planned sequence
//! and keeps to what takes no longer; [`Ending`] is what the plugin in `python/` decides pass by
//! pass. A last chunk of 192 tokens after chunks of thousands was reported to cost time to first
//! token (sgl-project/sglang#23621).

use serde::Serialize;

use super::Schedule;
use super::reach::Reach;
use crate::fit::latency::TimeModel;

/// A last chunk shorter than this share of the one before it is tiny, as is one shorter than the
/// smallest chunk.
pub const TAIL_FRACTION: f64 = 0.25;

/// What became of the last chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// It was no problem.
    Fine,
    /// It was merged into the chunk before.
    Merged,
    /// It and the chunk before were made about equal.
    Balanced,
    /// It is tiny, and memory or time speaks against changing it.
    Tiny,
}

/// Whether a last chunk of `tail` tokens after one of `previous` is tiny.
pub fn is_tiny(tail: u64, previous: u64, chunk_min: u64) -> bool {
    tail < chunk_min || (tail as f64) < TAIL_FRACTION * previous as f64
}

/// How the plugin cuts the end of a prompt, chunk by chunk. The rules are those of
/// `chunktune_sglang/sizer.py`. All lengths are tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ending {
    /// A last chunk shorter than this share of the one before it is tiny; 0 leaves all as it is.
    pub fraction: f64,
    /// A last chunk shorter than this is tiny too, and no other is made shorter.
    pub min: u64,
    /// Multiple of a chunk that is not the last.
    pub unit: u64,
}

impl Ending {
    /// Rows to run now of a prompt of which `left` tokens have not run, where `limit` of them would
    /// run otherwise: all, where the frontier allows these `most` rows, or a first part that leaves
    /// about as much as it takes. `room` is what the pass after such a first part may run. None
    /// where the end is no tiny chunk, or memory does not let it be mended.
    pub fn rows(&self, left: u64, limit: u64, most: u64, room: impl Fn(u64) -> u64) -> Option<u64> {
        let tail = left.checked_sub(limit).filter(|tail| *tail > 0)?;
        let tiny = tail < self.min || (tail as f64) < self.fraction * limit as f64;
        // More than one chunk is to come where the next does not hold the rest.
        if self.fraction <= 0.0 || self.unit == 0 || !tiny || tail > room(limit) {
            return None;
        }
        if left <= most {
            return Some(left);
        }
        let whole = |tokens: u64| tokens.div_ceil(self.unit).checked_mul(self.unit);
        let mut first = whole(left.div_ceil(2).max(self.min))?;
        while first < limit && left - first > tail {
            let after = room(first);
            if left - first <= after {
                return Some(first);
            }
            first = whole(left - after)?;
        }
        None
    }
}

/// Settles the last chunk of `chunks`, which start after `from` tokens. `time` is the predicted
/// time of a sequence; a change that takes longer is not made.
pub fn settle(
    chunks: &[u64],
    from: u64,
    reach: &Reach,
    time: impl Fn(&[u64]) -> f64,
) -> (Vec<u64>, Tail) {
    let range = reach.range();
    let &[.., previous, tail] = chunks else { return (chunks.to_vec(), Tail::Fine) };
    if !is_tiny(tail, previous, range.min) {
        return (chunks.to_vec(), Tail::Fine);
    }
    let before = &chunks[..chunks.len() - 2];
    let both = previous + tail;
    // The aligned half goes first; what is left must be better than what was.
    let half = both.div_ceil(2).div_ceil(range.align) * range.align;
    let ends = [
        (Tail::Merged, vec![both]),
        (Tail::Balanced, vec![half.max(range.min), both.saturating_sub(half.max(range.min))]),
    ];
    let now = time(chunks);
    for (kind, end) in ends {
        if kind == Tail::Balanced && (end[1] <= tail || end[0] >= previous) {
            continue;
        }
        let changed = [before, &end].concat();
        if reach.fits_all(&changed, from) && time(&changed) <= now * (1.0 + 1e-12) {
            return (changed, kind);
        }
    }
    (chunks.to_vec(), Tail::Tiny)
}

/// What a tiny last chunk costs at worst under a table, with the plugin's hook and without.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worst {
    /// Tokens of the prompt.
    pub length: u64,
    /// Its last chunk without the hook, tokens.
    pub tail: u64,
    /// Time of the table alone over that with the last chunk settled, less 1.
    pub extra: f64,
    /// The same with the hook.
    pub extra_with_hook: f64,
}

impl Worst {
    /// The worst of prompts that end one token behind a chunk of the table, near each of `lengths`;
    /// none where every prompt is a single chunk.
    pub fn of(
        schedule: &Schedule,
        model: &TimeModel,
        reach: &Reach,
        lengths: &[u64],
    ) -> Option<Self> {
        let mut worst: Option<Self> = None;
        for length in lengths {
            let whole = schedule.chunks_from(0, *length)?;
            let Some((_, before)) = whole.split_last().filter(|(_, before)| !before.is_empty())
            else {
                continue;
            };
            let chunks = [before, &[1]].concat();
            let length = chunks.iter().sum();
            let time = |chunks: &[u64]| model.total_us(chunks, 0);
            let served = schedule.chunks_of(length)?;
            let settled = time(&settle(&chunks, 0, reach, time).0).min(time(&served));
            let extra = time(&chunks) / settled - 1.0;
            let extra_with_hook = time(&served) / settled - 1.0;
            if worst.is_none_or(|w| extra.max(extra_with_hook) > w.extra.max(w.extra_with_hook)) {
                worst = Some(Self { length, tail: 1, extra, extra_with_hook });
            }
        }
        worst
    }

    /// The cost in words.
    pub fn sentence(&self) -> String {
        format!(
            "The table does not know where a prompt ends; the plugin's hook does, and merges or \
             balances a tiny last chunk: at worst, a prompt of {} tokens takes {:.1}% more than the \
             best end. Without the hook its last chunk is {} and it takes {:.1}% more.",
            self.length,
            100.0 * self.extra_with_hook,
            match self.tail {
                1 => "1 token".to_owned(),
                tail => format!("{tail} tokens"),
            },
            100.0 * self.extra
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ChunkRange;
    use proptest::prelude::*;

    fn reach(budget: u64) -> Reach {
        let range = ChunkRange::new(256, 4096, 64).unwrap();
        Reach::new(range, 1 << 20, |chunk| Some(budget / chunk))
    }

    /// D03 of the field cases: 16K input, dynamic sizing of 4096 leaves 16384 - 16192 = 192 tokens.
    const D03: [u64; 6] = [4096, 3328, 2944, 2944, 2880, 192];

    #[test]
    fn a_tail_of_192_tokens_is_merged_into_the_chunk_before() {
        assert_eq!(D03.iter().sum::<u64>(), 16_384);
        let (chunks, tail) = settle(&D03, 0, &reach(1 << 40), |c| c.len() as f64);
        // 192 < 0.25 * 2880 = 720.
        assert_eq!((chunks.last(), tail), (Some(&3072), Tail::Merged));
        assert_eq!(chunks.iter().sum::<u64>(), 16_384);
    }

    #[test]
    fn a_tail_that_memory_does_not_let_merge_is_balanced_or_left() {
        // 2880 after 13312 fits, 3072 does not: 2880 * 13312 = 38.3e6 < 3072 * 13312 = 40.9e6.
        let (chunks, tail) = settle(&D03, 0, &reach(39_000_000), |_| 1.0);
        assert_eq!((&chunks[4..], tail), (&[1536, 1536][..], Tail::Balanced));
        assert!(reach(39_000_000).fits_all(&chunks, 0));
        // Balancing that takes longer is not made.
        let worse = |c: &[u64]| if c == D03 { 1.0 } else { 1.1 };
        assert_eq!(settle(&D03, 0, &reach(39_000_000), worse), (D03.to_vec(), Tail::Tiny));
    }

    #[test]
    fn the_worst_tail_of_a_table_costs_what_balancing_saves() {
        // Per chunk 2 ms, per row^2 1 us: 1024 + 1 take 4000 + 1024^2 + 1, 768 + 257 take
        // 4000 + 768^2 + 257^2 us.
        let model = TimeModel::of([2000.0, 0.0, 0.0, 0.0, 1.0]);
        let range = ChunkRange::new(256, 1024, 256).unwrap();
        let reach = Reach::new(range, 1 << 20, |_| Some(1 << 20));
        let schedule = reach.schedule().unwrap();
        let worst = Worst::of(&schedule, &model, &reach, &[2048]).unwrap();
        let (table, settled) = (4000.0 + 1_048_577.0, 4000.0 + 589_824.0 + 66_049.0);
        assert_eq!((worst.length, worst.tail), (1025, 1));
        assert!((worst.extra - (table / settled - 1.0)).abs() < 1e-9, "{worst:?}");
        assert_eq!(Worst::of(&schedule, &model, &reach, &[512]), None);
    }

    proptest! {
        /// Random budgets: what is served keeps the budget at the end of every chunk, loses no token,
        /// and ends in a tiny chunk only where no split in two would do better.
        #[test]
        fn served_prompts_keep_the_budget_and_end_well_where_memory_allows(
            budget in 100_000u64..200_000_000,
            page in 1u64..200,
            steps in 1u64..40,
            wanted in 1u64..40,
            length in 1u64..200_000,
        ) {
            let range = ChunkRange::new(page, steps * page, page).unwrap();
            // The largest prefix at which `chunk` rows stay within the budget at their own end.
            let last = |chunk: u64| (budget / chunk).checked_sub(chunk);
            let reach = Reach::new(range, 1 << 20, last);
            let Ok(frontier) = reach.schedule() else { return Ok(()) };
            let low = |&(from, chunk): &(u64, u64)| (from, chunk.min(wanted * page).min(range.max));
            let table = frontier.table.iter().map(low).collect();
            let schedule = Schedule { table, ..frontier };
            let Some(chunks) = schedule.chunks_of(length) else { return Ok(()) };
            prop_assert_eq!(chunks.iter().sum::<u64>(), length);
            let mut done = 0;
            for chunk in &chunks {
                done += chunk;
                prop_assert!(u128::from(*chunk) * u128::from(done) <= u128::from(budget));
                prop_assert!(done == length || chunk % page == 0);
                prop_assert!(*chunk <= range.max);
            }
            let &[.., before, tail] = &chunks[..] else { return Ok(()) };
            if is_tiny(tail, before, page) {
                let start = length - before - tail;
                let room = |at: u64| schedule.at(at).unwrap_or(0);
                // No part of whole pages, shorter than the chunk, leaves more than the tail, fits,
                // and leaves a rest that fits.
                let better = (1..=before / page).map(|pages| pages * page).find(|&first| {
                    let second = before + tail - first;
                    second > tail && first >= second && first < before && second <= room(start + first)
                });
                prop_assert_eq!(better, None, "{:?}", &chunks[chunks.len() - 2..]);
            }
        }
    }

    #[test]
    fn a_tail_of_a_quarter_stays_and_a_single_chunk_too() {
        let (chunks, tail) = settle(&[2048, 512], 0, &reach(1 << 40), |_| 1.0);
        assert_eq!((chunks, tail), (vec![2048, 512], Tail::Fine));
        assert_eq!(settle(&[10], 0, &reach(1 << 40), |_| 1.0), (vec![10], Tail::Fine));
        assert!(settle(&[], 0, &reach(1 << 40), |_| 1.0).0.is_empty());
    }
}
