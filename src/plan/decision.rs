//! What a change of the engine would buy: the decision table beside a plan.
//!
//! In go a memory fit, its budget and what may be changed (a byte budget for the candidate copy,
//! context parallelism, rows in tiles, keys in blocks); out comes, for each, the bytes a (row, key)
//! costs at its BUDGET, the BUDGET, the largest prefix and the chunk at a few prefixes, all at the
//! 95% bound and side by side with the engine as it is.

use serde::Serialize;

use super::{Budget, ChunkRange, Frontier, Schedule};
use crate::fit::memory::MemoryFit;
use crate::fit::scores::Scores;
use crate::units::Bytes;

/// Bytes per (row, key) of the padded copy that a score budget caps; the fp32 scores cost as much.
pub const COPY: f64 = 4.0;
/// Bytes per (row, key) of the fp32 scores, which row tiles are cut by.
pub const SCORES: f64 = 4.0;
/// Candidate-copy budget shown where none is asked for: the field note's.
pub const COPY_BUDGET: Bytes = Bytes(256 << 20);
/// Ranks shown where `--cp` is not given: the field note's.
pub const CP: u32 = 3;
/// Keys of a block, as the bundled key-blocked pipeline takes them.
pub const KEY_BLOCK: u64 = 8192;
/// Prefixes that the table shows chunks for, tokens.
pub const PREFIXES: [u64; 4] = [100_000, 250_000, 500_000, 1_000_000];

/// What may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Byte budget of the candidate copy.
    pub copy_budget: Bytes,
    /// Context-parallel ranks.
    pub cp: u32,
    /// Byte budget of the scores of one tile of rows; none for the largest that fits.
    pub row_budget: Option<Bytes>,
    /// Keys of a block.
    pub key_block: u64,
}

impl Default for Changes {
    fn default() -> Self {
        Self { copy_budget: COPY_BUDGET, cp: CP, row_budget: None, key_block: KEY_BLOCK }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Variant {
    /// What is changed.
    pub name: String,
    /// Bytes per (row, key) at its BUDGET; none where `T*L` does not limit.
    pub c: Option<f64>,
    /// BUDGET at the 95% bound, token^2; none where `T*L` does not limit.
    pub budget_95: Option<u64>,
    /// Largest prefix that is served within the context asked for, tokens; none where no chunk
    /// fits at all.
    pub max_context: Option<u64>,
    /// Chunk at each of [`PREFIXES`]; none past the largest prefix.
    pub chunks: Vec<Option<u64>>,
}

/// The table for a path that grows with `T*keys`; empty for one that does not, which has nothing to
/// gain.
pub fn decisions(
    memory: &MemoryFit,
    budget: &Budget,
    range: ChunkRange,
    context: u64,
    changes: &Changes,
) -> Vec<Variant> {
    let usable = budget.usable_bytes as f64;
    let rest = usable - budget.m0_bytes as f64 - memory.coefficients.pool_bytes();
    if !memory.grows() || budget.c_95 <= 0.0 || rest <= 0.0 {
        return Vec::new();
    }
    let c = budget.c_95;
    let ratio = u64::from(memory.ratio.max(1));
    let alone = Frontier::new(memory, budget, 1);
    let shared = Frontier::new(memory, budget, changes.cp);
    let pairs = |t: u64, l: u64| t as f64 * l.saturating_add(t).div_ceil(ratio) as f64;
    let tokens2 = |pairs: f64| (ratio as f64 * pairs).floor() as u64;
    let block = budget.largest_block.map(|bytes| bytes as f64);
    // Each change says what its peak is, and of how many pairs the scores are one allocation.
    let of_block = |ranks: u32| block.map_or(f64::INFINITY, |b| f64::from(ranks) * b / SCORES);
    let row = |name: String,
               ranks: u32,
               limit: Option<f64>,
               peak: &dyn Fn(u64, u64) -> f64,
               at_once: &dyn Fn(u64, u64) -> f64| {
        let holds = |t: u64, l: u64| block.is_none_or(|block| SCORES * at_once(t, l) <= block);
        let fits = |t: u64, l: u64| peak(t, l) <= usable && holds(t, l);
        let schedule = Schedule::of_frontier(range, Some(context), |t| {
            super::frontier::largest(context, |l| fits(t, l))
        })
        .ok();
        Variant {
            name,
            c: limit.map(|pairs| rest / pairs),
            budget_95: limit.map(|pairs| tokens2(pairs.min(of_block(ranks)))),
            max_context: schedule.as_ref().map(|s| s.max_context),
            chunks: PREFIXES
                .iter()
                .map(|prefix| schedule.as_ref().and_then(|s| s.at(*prefix)))
                .collect(),
        }
    };
    let as_it_is =
        row("as it is".to_owned(), 1, Some(rest / c), &|t, l| alone.peak_95(t, l), &pairs);
    let mut out = vec![as_it_is];
    let copy = changes.copy_budget.0 as f64;
    if c > SCORES + COPY {
        let full = (rest - copy) / (c - COPY);
        // A budget that is never reached changes nothing.
        let limit = if COPY * full > copy { full } else { rest / c };
        let peak = |t, l| alone.peak_95(t, l) - (COPY * pairs(t, l) - copy).max(0.0);
        let name = format!("copy budget {}", mib(changes.copy_budget));
        out.push(row(name, 1, Some(limit), &peak, &pairs));
    }
    if changes.cp > 1 {
        let ranks = f64::from(changes.cp);
        let name = format!("cp {}", changes.cp);
        let of_rank = |t: u64, l: u64| {
            let keys = l.saturating_add(t).div_ceil(ratio);
            t.div_ceil(u64::from(changes.cp)) as f64 * keys as f64
        };
        let limit = Some(ranks * rest / c);
        out.push(row(name, changes.cp, limit, &|t, l| shared.peak_95(t, l), &of_rank));
    }
    // With everything that lives beside its scores the tile takes at most half of what is there.
    let half = 0.5 * rest * SCORES / c;
    let tile = changes
        .row_budget
        .unwrap_or_else(|| largest_tile(block.map_or(half, |block| half.min(block))));
    let tile_pairs = tile.0 as f64 / SCORES;
    let scores = Scores { ratio, element: SCORES as u64, align: 1 };
    let tiles = scores
        .tiles(range.max, context, tile.0)
        .map_or(String::new(), |tiles| format!(", {} at the end", tiles.count));
    let peak = |t, l| alone.peak_95(t, l) - c * (pairs(t, l) - tile_pairs).max(0.0);
    let name = format!("rows in tiles of {}{tiles}", mib(tile));
    out.push(row(name, 1, None, &peak, &|t, l| pairs(t, l).min(tile_pairs)));
    let keys_at_once = changes.key_block.max(1);
    let keys = |t: u64, l: u64| l.saturating_add(t).div_ceil(ratio);
    let peak = |t: u64, l: u64| {
        alone.peak_95(t, l) - c * t as f64 * keys(t, l).saturating_sub(keys_at_once) as f64
    };
    let at_once = |t: u64, l: u64| t as f64 * keys(t, l).min(keys_at_once) as f64;
    out.push(row(format!("keys in blocks of {keys_at_once}"), 1, None, &peak, &at_once));
    out
}

/// The largest power of two of MiB within `bytes`.
fn largest_tile(bytes: f64) -> Bytes {
    let exponent = (bytes / (1 << 20) as f64).max(1.0).log2().floor().min(40.0) as u32;
    Bytes(1 << (20 + exponent))
}

fn mib(bytes: Bytes) -> String {
    if bytes.0.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes.0 >> 20)
    } else {
        bytes.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::fit_of_observations;
    use crate::fit::observations::{LMeans, read_csv};

    fn table(changes: &Changes) -> Vec<Variant> {
        let text = include_str!("../../profiles/field/boots.csv");
        let fit = fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context);
        let mut memory = fit.memory[0].clone();
        // The field note's own reading.
        for value in [&mut memory.c.point, &mut memory.c.upper_95, &mut memory.coefficients.c] {
            *value = 14.0;
        }
        memory.corners.clear();
        let budget = Budget::new(&memory, 2_750_000_000, true).unwrap();
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        decisions(&memory, &budget, range, 1 << 20, changes)
    }

    #[test]
    fn the_field_notes_decisions_stand_side_by_side() {
        let found = table(&Changes::default());
        let of = |name: &str| found.iter().find(|v| v.name.starts_with(name)).unwrap();
        // 2.75e9 / 14 = 1.964e8.
        assert_eq!(of("as it is").budget_95, Some(196_428_571));
        // (2.75e9 - 2^28) / (14 - 4) = 2.4816e8: 11.08 B a (row, key).
        let copy = of("copy budget 256 MiB");
        assert_eq!(copy.budget_95, Some(248_156_454));
        assert!((copy.c.unwrap() - 11.08).abs() < 0.01, "{copy:?}");
        assert_eq!(of("cp 3").budget_95, Some(3 * 196_428_571 + 1));
        // T*L does not limit: the whole context at the full chunk.
        for name in ["rows in tiles", "keys in blocks"] {
            assert_eq!(of(name).budget_95, None);
            assert_eq!((of(name).max_context, of(name).chunks[3]), (Some(1 << 20), Some(2048)));
        }
        // 196.4e6 / 100,000 = 1964, with the chunk's own end: 1792.
        assert_eq!(of("as it is").chunks[0], Some(1792));
        assert_eq!(of("as it is").chunks[3], None);
        assert!(of("cp 3").chunks[0] == Some(2048) && copy.chunks[0] == Some(2048));
    }

    #[test]
    fn a_largest_block_bounds_every_change_that_keeps_the_scores_in_one_piece() {
        let text = include_str!("../../profiles/field/boots.csv");
        let fit = fit_of_observations(&read_csv(text).unwrap().rows, Vec::new(), LMeans::Context);
        let memory = &fit.memory[0];
        let budget = Budget::new(memory, 2_750_000_000, true).unwrap();
        let budget = budget.within_block(Some(Bytes(200_000_000)), memory);
        let range = ChunkRange::new(256, 2048, 256).unwrap();
        let found = decisions(memory, &budget, range, 1 << 20, &Changes::default());
        let of = |name: &str| found.iter().find(|v| v.name.starts_with(name)).unwrap();
        // 200 MB / 4 B = 5e7 (row, key); 256 rows over the context up to 195,312.
        for name in ["as it is", "copy budget"] {
            assert_eq!(of(name).budget_95, Some(50_000_000));
            assert_eq!(of(name).max_context, Some(195_312 - 256));
        }
        assert_eq!(of("cp 3").budget_95, Some(150_000_000));
        // A tile is cut to the block, and 2048 rows over 8192 keys are 67 MB.
        for name in ["rows in tiles of 128 MiB", "keys in blocks"] {
            assert_eq!(of(name).max_context, Some(1 << 20));
        }
    }

    #[test]
    fn a_budget_that_is_never_reached_changes_nothing_and_a_tile_too_large_fits_nowhere() {
        let idle = table(&Changes { copy_budget: Bytes(8 << 30), ..Changes::default() });
        assert_eq!(idle[0].budget_95, idle[1].budget_95);
        // 2 GiB of scores bring 14 / 4 times as much with them.
        let large = table(&Changes { row_budget: Some(Bytes(2 << 30)), ..Changes::default() });
        let tiles = large.iter().find(|v| v.name.starts_with("rows in tiles of 2048 MiB")).unwrap();
        assert!(tiles.max_context.unwrap() < 1 << 20);
    }
}
