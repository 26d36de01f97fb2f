//! What a ragged chunk length costs: time per row of the ragged variants against the even one.
//!
//! In go GEMM and absorb points; out come, per kernel, shape and tile, the paired ratios with
//! their intervals and instruction counts, and the block size that the times themselves show.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::blocks::{self, BlockFinding, Timing};
use crate::profile::{Op, Outcome, Point};

/// The variant without wrap-around and masks.
pub const EVEN: &str = "even";
/// The deployed ragged algorithm.
pub const RAGGED_WRAP: &str = "ragged_wrap";
/// Row count of the published comparison (16368 against 16384 on an MI355X): shown where it was
/// measured, so that figures can be set beside the published ones.
const PUBLISHED_M: u64 = 16_368;

/// A ragged point beside its even partner.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Rows of the ragged point.
    pub m: u64,
    /// Rows of the even partner.
    pub even_m: u64,
    /// `m % block_m`.
    pub residue: u64,
    /// Time of the ragged point, microseconds.
    pub time_us: f64,
    /// Time of the even partner, microseconds.
    pub even_time_us: f64,
    /// Time per row, ragged over even.
    pub gain: f64,
    /// Lower end of the 95% interval (equal to `gain` in simulation).
    pub lo: f64,
    /// Upper end of the 95% interval.
    pub hi: f64,
    /// Executed instructions per row, ragged over even; simulated only.
    pub instructions: Option<f64>,
    /// Executed wave64 instructions of the ragged point and of its even partner; simulated only.
    pub instruction_counts: Option<(u64, u64)>,
}

/// One ragged variant against `even`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VariantGain {
    /// Ragged variant.
    pub variant: String,
    /// The pair at M = 16368 where it was measured, else at the largest M that is no multiple of
    /// the tile: what a prefill chunk pays.
    pub at: Pair,
    /// Geometric mean over the pairs whose M is no multiple of the tile.
    pub mean: f64,
    /// Every pair, by M.
    pub pairs: Vec<Pair>,
}

/// Alignment of one kernel, shape and tile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AlignmentFit {
    /// Operation.
    pub op: Op,
    /// Kernel id without its variant.
    pub kernel: String,
    /// Shape name.
    pub shape: String,
    /// Input element type.
    pub dtype: String,
    /// Batch.
    pub b: Option<u64>,
    /// Columns.
    pub n: Option<u64>,
    /// Depth.
    pub k: Option<u64>,
    /// Tile rows, from the manifest.
    pub block_m: u32,
    /// Tile columns.
    pub block_n: Option<u32>,
    /// Tile depth.
    pub block_k: Option<u32>,
    /// Whether the serving engine runs this kernel.
    pub deployed: bool,
    /// Ragged variants against `even`, by name.
    pub variants: Vec<VariantGain>,
    /// Block size that the times show, if they show one.
    pub block: Option<BlockFinding>,
}

impl AlignmentFit {
    /// Tile as `64x256`.
    pub fn tile(&self) -> String {
        match self.block_n {
            Some(n) => format!("{}x{n}", self.block_m),
            None => self.block_m.to_string(),
        }
    }

    /// A ragged variant by name.
    pub fn variant(&self, name: &str) -> Option<&VariantGain> {
        self.variants.iter().find(|v| v.variant == name)
    }

    /// The variant that a ragged length runs: the deployed algorithm where it was measured.
    pub fn ragged(&self) -> Option<&VariantGain> {
        self.variant(RAGGED_WRAP).or_else(|| self.variants.first())
    }
}

/// What tells one compared kernel from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    op: Op,
    kernel: String,
    shape: String,
    dtype: String,
    dims: [Option<u64>; 3],
    tile: (u32, Option<u32>, Option<u32>),
    deployed: bool,
}

/// Kernel id without the variant that ends it.
fn base_kernel(point: &Point) -> String {
    let id = point.kernel.strip_suffix(&point.variant).unwrap_or(&point.kernel);
    id.trim_end_matches(['_', '.', '-']).to_owned()
}

/// Fits every kernel, shape and tile that has an even and a ragged point.
pub fn fit(points: &[Point]) -> Vec<AlignmentFit> {
    let mut groups: BTreeMap<Key, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let usable = matches!(point.op, Op::Gemm | Op::AbsorbBmm)
            && point.outcome == Outcome::Ok
            && point.m.is_some_and(|m| m > 0)
            && point.time_us.is_some_and(|t| t > 0.0);
        let Some(block_m) = point.block_m.filter(|b| usable && *b > 0) else { continue };
        let key = Key {
            op: point.op,
            kernel: base_kernel(point),
            shape: point.shape.clone(),
            dtype: point.dtype.clone(),
            dims: [point.b, point.n, point.k],
            tile: (block_m, point.block_n, point.block_k),
            deployed: point.deployed,
        };
        groups.entry(key).or_default().push(point);
    }
    groups.into_iter().filter_map(|(key, points)| group(key, &points)).collect()
}

fn group(key: Key, points: &[&Point]) -> Option<AlignmentFit> {
    let block_m = u64::from(key.tile.0);
    let even: BTreeMap<u64, &Point> =
        points.iter().filter(|p| p.variant == EVEN).filter_map(|p| Some((p.m?, *p))).collect();
    let mut ragged: BTreeMap<&str, BTreeMap<u64, &Point>> = BTreeMap::new();
    for point in points.iter().filter(|p| p.variant != EVEN) {
        ragged.entry(&point.variant).or_default().insert(point.m?, point);
    }
    let variants: Vec<VariantGain> = ragged
        .iter()
        .filter_map(|(name, points)| {
            let pairs: Vec<Pair> =
                points.values().filter_map(|p| pair(p, &even, block_m)).collect();
            let ragged: Vec<&Pair> = pairs.iter().filter(|p| p.residue != 0).collect();
            let at = **ragged.iter().find(|p| p.m == PUBLISHED_M).or(ragged.last())?;
            let logs: f64 = ragged.iter().map(|p| p.gain.ln()).sum();
            let mean = (logs / ragged.len() as f64).exp();
            Some(VariantGain { variant: (*name).to_owned(), at, mean, pairs })
        })
        .collect();
    if variants.is_empty() {
        return None;
    }
    let block = blocks::find(&served(&even, &ragged), block_m);
    let [b, n, k] = key.dims;
    Some(AlignmentFit {
        op: key.op,
        kernel: key.kernel,
        shape: key.shape,
        dtype: key.dtype,
        b,
        n,
        k,
        block_m: key.tile.0,
        block_n: key.tile.1,
        block_k: key.tile.2,
        deployed: key.deployed,
        variants,
        block,
    })
}

/// What a server sees at each M: the even variant where it may run, else the ragged one.
fn served(
    even: &BTreeMap<u64, &Point>,
    ragged: &BTreeMap<&str, BTreeMap<u64, &Point>>,
) -> Vec<Timing> {
    let fallback = ragged.get(RAGGED_WRAP).or_else(|| ragged.values().next());
    let mut all: BTreeMap<u64, &Point> = fallback.cloned().unwrap_or_default();
    all.extend(even.iter().map(|(m, p)| (*m, *p)));
    all.iter().filter_map(|(m, p)| Some(Timing { m: *m, time_us: p.time_us? })).collect()
}

/// The even partner is at the next multiple of the block, which does the same number of tiles;
/// where that was not measured, at the nearest M within a quarter.
fn pair(point: &Point, even: &BTreeMap<u64, &Point>, block_m: u64) -> Option<Pair> {
    let m = point.m?;
    let full = m.div_ceil(block_m).checked_mul(block_m)?;
    let (even_m, partner) = even.get_key_value(&full).or_else(|| {
        even.iter().min_by_key(|(e, _)| e.abs_diff(m)).filter(|(e, _)| e.abs_diff(m) <= m / 4)
    })?;
    let per_row = |time: f64, rows: u64| time / rows as f64;
    let (time, even_time) = (point.time_us?, partner.time_us?);
    let even_rate = per_row(even_time, *even_m);
    // Half-widths of two independent intervals add in squares on the logarithm.
    let half_width = |p: &Point, time: f64| {
        let lo = p.time_lo_us.unwrap_or(time).clamp(time * 1e-3, time);
        let hi = p.time_hi_us.unwrap_or(time).max(time);
        0.5 * (hi / lo).ln()
    };
    let width = half_width(point, time).hypot(half_width(partner, even_time));
    let gain = per_row(time, m) / even_rate;
    let instruction_counts = point.instructions.zip(partner.instructions);
    let instructions = instruction_counts
        .filter(|(_, e)| *e > 0)
        .map(|(r, e)| per_row(r as f64, m) / per_row(e as f64, *even_m));
    Some(Pair {
        m,
        even_m: *even_m,
        residue: m % block_m,
        time_us: time,
        even_time_us: even_time,
        gain,
        lo: gain * (-width).exp(),
        hi: gain * width.exp(),
        instructions,
        instruction_counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::testing::{Truth, absorb, points};

    #[test]
    fn the_published_pair_gives_twice_the_time_per_row() {
        // 311.2 us at 16368 against 155.8 us at 16384: 19.01 against 9.51 ns a row, 2.00x.
        let points = [
            absorb("ragged_wrap", 64, 16_368, 311.2, 3819),
            absorb("even", 64, 16_384, 155.8, 1562),
        ];
        let fits = fit(&points);
        let at = fits[0].ragged().unwrap().at;
        assert!((at.gain - 19.013 / 9.509).abs() < 1e-3, "{at:?}");
        assert_eq!((at.m, at.even_m, at.residue), (16_368, 16_384, 48));
        assert_eq!((at.lo, at.hi), (at.gain, at.gain));
        assert_eq!(at.instruction_counts, Some((3819, 1562)));
        // 3819/16368 over 1562/16384.
        assert!((at.instructions.unwrap() - 2.4473).abs() < 1e-3);
    }

    #[test]
    fn noise_on_either_side_widens_the_interval() {
        let mut ragged = absorb("ragged_wrap", 64, 1000, 20.0, 1);
        ragged.time_lo_us = Some(19.0);
        ragged.time_hi_us = Some(21.0);
        let at = fit(&[ragged, absorb("even", 64, 1024, 10.0, 1)])[0].ragged().unwrap().at;
        assert!(at.lo < at.gain && at.gain < at.hi);
        assert!((at.hi / at.lo - 21.0 / 19.0).abs() < 1e-9);
    }

    #[test]
    fn kernels_are_told_apart_by_tile_and_variants_share_an_entry() {
        let mut all = points(Truth::default());
        all.push(absorb("even", 32, 1024, 10.0, 1));
        all.push(absorb("ragged_wrap", 32, 1008, 15.0, 1));
        let fits = fit(&all);
        assert_eq!(fits.len(), 2);
        let wide = fits.iter().find(|f| f.block_m == 64).unwrap();
        assert_eq!(wide.kernel, "absorb_bmm_64x256");
        let names: Vec<_> = wide.variants.iter().map(|v| v.variant.as_str()).collect();
        assert_eq!(names, ["ragged_buffer", "ragged_wrap"]);
    }

    #[test]
    fn a_ragged_point_without_an_even_partner_is_left_out() {
        assert!(fit(&[absorb("ragged_wrap", 64, 1000, 20.0, 1)]).is_empty());
        let far = [absorb("ragged_wrap", 64, 1000, 20.0, 1), absorb("even", 64, 4096, 10.0, 1)];
        assert!(fit(&far).is_empty());
    }
}
