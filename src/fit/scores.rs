//! What a buffer costs on paper: rows x keys x bytes, and what follows from a byte budget.
//!
//! In go T, the context, tokens per key and bytes per element; out come bytes, the rows or tiles
//! that a budget leaves, and the context at which a chunk stops fitting. A measured peak outranks
//! all of it ([`beyond_paper`]); the figures serve to name a buffer and to see where a wall is.
//! All arithmetic is checked: absurd sizes give none, never a wrapped figure.

/// Keys of an indexer row are padded to multiples of this.
pub const KEY_ALIGN: u64 = 256;
/// Bytes at which a signed 32-bit offset wraps: a kernel not known to be 64-bit safe must not be
/// given a larger tensor.
pub const SIGNED_32: u64 = 1 << 31;
/// A measured peak this many times the figure on paper is worth a warning.
pub const WORTH_A_WARNING: f64 = 1.2;

/// A buffer of `[rows, keys]`, per rank: indexer scores are replicated, not divided by tensor
/// parallel ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scores {
    /// Tokens per key.
    pub ratio: u64,
    /// Bytes per element, all heads together.
    pub element: u64,
    /// Keys are padded to multiples of this; 1 for none.
    pub align: u64,
}

/// How a budget cuts a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Rows a tile.
    pub rows: u64,
    /// Tiles.
    pub count: u64,
}

impl Scores {
    /// Keys of a context, padded.
    pub fn keys(&self, context: u64) -> Option<u64> {
        context.div_ceil(self.ratio.max(1)).checked_next_multiple_of(self.align.max(1))
    }

    /// Bytes of the scores of `rows` against `context` tokens; for a batch, the sum over its
    /// requests.
    pub fn bytes(&self, rows: u64, context: u64) -> Option<u64> {
        rows.checked_mul(self.keys(context)?)?.checked_mul(self.element)
    }

    /// Most rows that `budget` bytes hold against `context`; 0 where not one fits.
    pub fn rows_within(&self, budget: u64, context: u64) -> Option<u64> {
        budget.checked_div(self.keys(context)?.checked_mul(self.element)?)
    }

    /// How `budget` cuts a chunk of `rows`; none where not one row fits.
    pub fn tiles(&self, rows: u64, context: u64, budget: u64) -> Option<Tiles> {
        let within = self.rows_within(budget, context).filter(|w| *w > 0)?.min(rows.max(1));
        Some(Tiles { rows: within, count: rows.div_ceil(within) })
    }

    /// Largest context at which a chunk of `rows` still fits `budget` bytes; none where not even
    /// one padded row of keys does.
    pub fn largest_context(&self, rows: u64, budget: u64) -> Option<u64> {
        let keys = budget.checked_div(rows.checked_mul(self.element)?)?;
        let padded = keys / self.align.max(1) * self.align.max(1);
        padded.checked_mul(self.ratio.max(1)).filter(|context| *context > 0)
    }
}

/// A term that grows with the rows alone: the most rows of `per_row` bytes within `budget`, down to
/// a multiple of `align`.
pub fn rows_of_linear(per_row: u64, budget: u64, align: u64) -> Option<u64> {
    Some(budget.checked_div(per_row)? / align.max(1) * align.max(1))
}

/// Intercept and slope of a term in the rows alone through two readings `(rows, bytes)`.
pub fn line(first: (u64, f64), second: (u64, f64)) -> Option<(f64, f64)> {
    let span = second.0 as f64 - first.0 as f64;
    let slope = (second.1 - first.1) / span;
    let intercept = first.1 - slope * first.0 as f64;
    (span != 0.0 && slope.is_finite()).then_some((intercept, slope))
}

/// Query rows that decoding needs of a workspace: one for every running request and speculated
/// token. Sizing it by the prefill's token budget reserves memory that nothing uses.
pub fn decode_rows(requests: u64, speculated: u64) -> Option<u64> {
    requests.checked_mul(speculated.checked_add(1)?)
}

/// Measured over paper where it is worth a warning: the measured figure then stands.
pub fn beyond_paper(measured: f64, paper: f64) -> Option<f64> {
    let factor = measured / paper;
    (factor.is_finite() && factor > WORTH_A_WARNING).then_some(factor)
}

/// Whether an allocation fits: both all that is free and the largest free block must hold it.
pub fn allocates(bytes: u64, free: u64, largest_block: Option<u64>) -> bool {
    bytes <= free && largest_block.is_none_or(|block| bytes <= block)
}

/// Size class that an allocator can reuse: growing requests that are all different strand memory,
/// requests rounded up to a power of two do not.
pub fn size_class(bytes: u64) -> Option<u64> {
    bytes.checked_next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;
    const MIB: u64 = 1 << 20;
    /// fp32 scores of the ratio-4 indexer.
    const V4: Scores = Scores { ratio: 4, element: 4, align: KEY_ALIGN };
    /// fp32 scores against every token.
    const FULL: Scores = Scores { ratio: 1, element: 4, align: 1 };

    #[test]
    fn a01_replicated_scores_are_padded_and_not_divided_by_ranks() {
        // 4096 * 93,184 * 4 = 1.4219 GiB; 4096 * 200,192 * 4 = 3.0547 GiB; 8 GiB exactly.
        assert_eq!(V4.bytes(4096, 372_736), Some(1_526_726_656));
        assert_eq!(V4.bytes(4096, 800_000), Some(3_279_945_728));
        assert_eq!(V4.bytes(8192, 1_048_576), Some(8 * GIB));
        // Where 4096 rows stop fitting 1.42 GiB, and that more memory only moves the wall.
        let wall = V4.largest_context(4096, 1_526_726_656).unwrap();
        assert_eq!(wall, 372_736);
        assert!(V4.largest_context(4096, 2 * 1_526_726_656).unwrap() < 2 * wall + 1024);
    }

    #[test]
    fn a02_the_failing_chunk_ends_where_nine_gib_are_reached() {
        // 9 GiB / (32768 * 4) = 73,728 columns = 294,912 tokens = 9 chunks of 32768.
        let exact = Scores { align: 1, ..V4 };
        assert_eq!(exact.largest_context(32_768, 9 * GIB), Some(9 * 32_768));
        assert_eq!(exact.bytes(8192, 294_912), Some(2_415_919_104));
        // The end of the prompt: 294,912 + 150,089 pending.
        let end = 294_912 + 150_089;
        let free = 9_341_553_869;
        assert!(exact.bytes(8192, end).unwrap() < free);
        // 111,251 columns: padded to 111,360 as the engine allocates them.
        assert_eq!(V4.keys(end), Some(111_360));
        assert_eq!(V4.rows_within(free, end), Some(20_971));
        assert_eq!(V4.rows_within(free * 8 / 10, end), Some(16_777));
        assert!(V4.bytes(16_384, end).unwrap() <= free * 8 / 10);
        assert!(V4.bytes(32_768, end).unwrap() > free);
    }

    #[test]
    fn a06_a_measured_peak_outranks_the_figure_on_paper() {
        assert_eq!(FULL.bytes(16_384, 487_936), Some(31_977_373_696));
        let mask = Scores { element: 1, ..FULL };
        assert_eq!(mask.bytes(16_384, 487_936), Some(31_977_373_696 / 4));
        // 49.7e9 / (16384 * 300,000) = 10.1 B against 4 + 1 + 1.
        let measured = 49.7e9 / (16_384.0 * 300_000.0);
        let factor = beyond_paper(measured, 6.0).unwrap();
        assert!((factor - 1.685).abs() < 0.01, "{factor}");
        assert_eq!(beyond_paper(6.5, 6.0), None);
    }

    #[test]
    fn a07_peak_and_tile_count_under_a_fixed_budget() {
        let all = Scores { element: 6, ..FULL };
        assert_eq!(all.bytes(16_384, 1_048_576), Some(96 * GIB));
        let tiles = FULL.tiles(16_384, 1_048_576, 2 * GIB).unwrap();
        assert_eq!((tiles.rows, tiles.count), (512, 32));
        let shorter = FULL.tiles(16_384, 487_936, 2 * GIB).unwrap();
        assert_eq!((shorter.rows, shorter.count), (1100, 15));
    }

    #[test]
    fn a09_scores_of_half_a_gigabyte_do_not_explain_a_full_machine() {
        // Ratio 4 and 4-byte elements cancel: T * L bytes.
        let exact = Scores { align: 1, ..V4 };
        for (rows, context, bytes) in
            [(8192, 40_000, 327_680_000), (8192, 62_000, 507_904_000), (2048, 131_072, 268_435_456)]
        {
            assert_eq!(exact.bytes(rows, context), Some(bytes));
        }
        // 121.3 of 124.6 GB were in use: the scores are under half a percent of that.
        let share = exact.bytes(8192, 62_000).unwrap() as f64 / 121.3e9;
        assert!(share < 0.005, "{share}");
    }

    #[test]
    fn a13_rows_from_a_budget_where_a_step_table_leaves_three_corners_of_32_gib() {
        assert_eq!(Scores { align: 1, ..V4 }.bytes(32_768, 500_000), Some(16_384_000_000));
        for (rows, keys) in [(32_768, 262_144), (16_384, 524_288), (8192, 1_048_576)] {
            assert_eq!(FULL.bytes(rows, keys), Some(32 * GIB));
        }
        // A budget of 16 GiB instead: 34,359 rows at 125,000 keys, 4096 at a million.
        assert_eq!(FULL.rows_within(16 * GIB, 125_000), Some(34_359));
        assert_eq!(FULL.rows_within(16 * GIB, 1_048_576), Some(4096));
    }

    #[test]
    fn a14_summed_keys_and_a_budget_give_414_rows_in_20_pieces() {
        assert_eq!(FULL.largest_context(8192, 10_619_306_639), Some(324_075));
        assert_eq!(FULL.bytes(8192, 324_076).unwrap() / MIB, 10_127);
        let tiles = FULL.tiles(8192, 324_076, 512 * MIB).unwrap();
        assert_eq!((tiles.rows, tiles.count), (414, 20));
    }

    #[test]
    fn a15_growing_requests_near_a_budget_fall_into_one_size_class() {
        let exact = Scores { align: 1, ..V4 };
        // 2^29 / (4608 * 4) = 29,127 pooled keys = 116,508 tokens.
        assert_eq!(exact.largest_context(4608, 512 * MIB), Some(116_508));
        assert_eq!(exact.tiles(4608, 231_000, 512 * MIB), Some(Tiles { rows: 2324, count: 2 }));
        assert_eq!(exact.tiles(4608, 231_000, 64 * MIB), Some(Tiles { rows: 290, count: 16 }));
        let grown: std::collections::BTreeSet<u64> =
            (0..20).filter_map(|i| size_class(exact.bytes(2324, 200_000 + i * 1536)?)).collect();
        assert_eq!(grown.len(), 1);
    }

    #[test]
    fn a17_decoding_needs_far_fewer_rows_than_the_prefill_budget() {
        assert_eq!(FULL.bytes(8192, 1_048_576), Some(32 * GIB));
        assert_eq!(decode_rows(64, 3), Some(256));
        assert_eq!(decode_rows(128, 4), Some(640));
        assert_eq!(FULL.bytes(256, 1_048_576), Some(GIB));
        assert_eq!(FULL.bytes(640, 1_048_576), Some(2_684_354_560));
        // 29.5 to 31 GiB on paper, 18.60 GiB measured: the measured figure is the one to promise.
        assert!(beyond_paper(29.5, 18.60).is_some());
    }

    #[test]
    fn a19_an_accumulator_of_the_token_budget_bounds_the_rows() {
        // 2 parts * 64 padded heads * 512 * 4 B = 262,144 B a row, not divided by ranks.
        let per_row = 2 * 64 * 512 * 4;
        assert_eq!(per_row * 32_768, 8 * GIB);
        assert_eq!(rows_of_linear(per_row, 8 * GIB - 1, 256), Some(32_512));
        // With the fp8 indexer's scores beside it at 131,072 keys: 262,144 + 524,288 B a row.
        let both = per_row + FULL.bytes(1, 131_072).unwrap();
        assert_eq!(rows_of_linear(both, 8 * GIB, 256), Some(10_752));
    }

    #[test]
    fn a20_a_tensor_of_two_gib_is_where_a_signed_offset_wraps() {
        let exact = Scores { align: 1, ..V4 };
        assert_eq!(exact.bytes(16_384, 131_072), Some(SIGNED_32));
        assert_eq!(exact.bytes(256, 957_600), Some(245_145_600));
        assert!(exact.bytes(128, 1_047_736).unwrap() < 128 * MIB);
        // Rows that keep a tensor below the wrap at a million tokens.
        assert_eq!(exact.rows_within(SIGNED_32 - 1, 1_048_576), Some(2047));
    }

    #[test]
    fn a22_a_term_in_the_rows_alone_limits_them_at_every_prefix() {
        let per_row = 671_088_640 / 16_384;
        assert_eq!(per_row, 40_960);
        assert_eq!(rows_of_linear(per_row, 513_736_704, 1), Some(12_542));
        assert_eq!(rows_of_linear(per_row, 513_736_704, 256), Some(12_288));
        assert!(allocates(8192 * per_row, 513_736_704, None));
    }

    #[test]
    fn a28_d19_a_workspace_locked_cold_does_not_hold_the_first_warm_chunk() {
        // 3.91 GiB over 6,176 tokens; the first reading is 5,690,831,667 B at 8224.
        let (intercept, slope) = line((2048, 1_492_501_135.0), (8224, 5_690_831_667.0)).unwrap();
        assert!((slope - 679_782.0).abs() < 10.0, "{slope}");
        assert!((intercept / GIB as f64 - 0.093).abs() < 0.01, "{intercept}");
        // Cold, 2048 tokens pass; on a warm prefix they need more than was locked.
        assert!(!allocates(1_949_520_000, 1_157_000_000, None));
    }

    #[test]
    fn a34_an_estimate_that_ignores_the_ratio_is_four_times_too_large() {
        let dense = Scores { ratio: 1, ..V4 };
        let over =
            dense.bytes(2048, 200_000).unwrap() as f64 / V4.bytes(2048, 200_000).unwrap() as f64;
        assert!((over - 4.0).abs() < 0.02, "{over}");
        // 81.25 GB charged, 172 - 156.05 GB used.
        let charged = beyond_paper(81.25, 172.0 - 156.05).unwrap();
        assert!((charged - 5.1).abs() < 0.01, "{charged}");
    }

    #[test]
    fn a39_the_largest_block_decides_where_the_sum_would_fit() {
        // 65,536 * 14,336 * 2 over 8 banks.
        let bank = |rows: u64| rows * 14_336 * 2 / 8;
        assert_eq!(bank(65_536), 234_881_024);
        assert!(allocates(bank(65_536), 278_913_536, None));
        assert!(!allocates(bank(65_536), 278_913_536, Some(134_217_728)));
        assert!(allocates(bank(32_768), 278_913_536, Some(134_217_728)));
    }

    #[test]
    fn absurd_sizes_give_none_in_place_of_a_wrapped_figure() {
        assert_eq!(V4.bytes(1_000_000_000_000, 1_000_000_000_000), None);
        assert_eq!(V4.bytes(u64::MAX, 1), None);
        assert_eq!(V4.keys(u64::MAX), Some((u64::MAX / 4 + 1).next_multiple_of(256)));
        assert_eq!(V4.tiles(8192, 1_048_576, 10), None);
        assert_eq!(Scores { ratio: 0, element: 0, align: 0 }.rows_within(1, 1), None);
        assert_eq!(line((5, 1.0), (5, 2.0)), None);
        assert_eq!(decode_rows(u64::MAX, 1), None);
    }
}
