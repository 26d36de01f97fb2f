//! The block size that times over M show by themselves.
//!
//! In go times of a kernel at many M; out come the block sizes for which "a multiple runs one way,
//! anything else another" explains the times best. The manifest's tile is only compared at the
//! end, so that a kernel pack with a wrong manifest is noticed.

use serde::{Deserialize, Serialize};

use super::nnls;

/// Time at one M.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Rows.
    pub m: u64,
    /// Time, microseconds.
    pub time_us: f64,
}

/// What the times say about the block size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockFinding {
    /// Block sizes that explain the times equally well, ascending.
    pub candidates: Vec<u64>,
    /// Whether the manifest's tile is among them.
    pub manifest_agrees: bool,
    /// Root mean square relative error left by the best of them.
    pub residual: f64,
    /// The same without any block: one straight line.
    pub residual_without: f64,
}

/// Block sizes tried.
pub(super) const SIZES: [u64; 8] = [8, 16, 32, 48, 64, 96, 128, 256];
/// A block must cut the squared error at least by this factor to be called found.
const WORTH: f64 = 4.0;
/// Candidates within this factor of the best squared error are not told apart.
const TIE: f64 = 1.05;
/// A squared relative error below this is as good as zero.
const EXACT: f64 = 1e-8;

/// Finds the block size; none where a straight line does as well or the points are too few.
pub fn find(timings: &[Timing], manifest: u64) -> Option<BlockFinding> {
    if timings.len() < 6 {
        return None;
    }
    let without = squared_error(timings, None);
    let mut scored: Vec<(u64, f64)> = SIZES
        .iter()
        .copied()
        .chain((!SIZES.contains(&manifest)).then_some(manifest))
        .filter(|block| {
            let even = timings.iter().filter(|t| t.m % block == 0).count();
            even >= 1 && even < timings.len()
        })
        .map(|block| (block, squared_error(timings, Some(block))))
        .collect();
    scored.sort_by(|a, b| a.1.total_cmp(&b.1));
    let best = scored.first()?.1;
    if without < WORTH * best.max(EXACT) {
        return None;
    }
    let mut candidates: Vec<u64> = scored
        .iter()
        .filter(|(_, error)| *error <= TIE * best.max(EXACT))
        .map(|(block, _)| *block)
        .collect();
    candidates.sort_unstable();
    Some(BlockFinding {
        manifest_agrees: candidates.contains(&manifest),
        candidates,
        residual: best.sqrt(),
        residual_without: without.sqrt(),
    })
}

/// Mean squared relative error of `a + b*M`, and with a block of
/// `a + b*tiles + [ragged] (a' + b'*tiles)`.
fn squared_error(timings: &[Timing], block: Option<u64>) -> f64 {
    let rows: Vec<Vec<f64>> = timings
        .iter()
        .map(|t| {
            let (rows, ragged) = match block {
                Some(b) => (t.m.div_ceil(b) as f64, f64::from(u8::from(t.m % b != 0))),
                None => (t.m as f64, 0.0),
            };
            [1.0, rows, ragged, ragged * rows].iter().map(|x| x / t.time_us).collect()
        })
        .collect();
    let x = nnls::solve(&rows, &vec![1.0; rows.len()]);
    let total: f64 = rows
        .iter()
        .map(|row| (row.iter().zip(&x).map(|(a, b)| a * b).sum::<f64>() - 1.0).powi(2))
        .sum();
    total / rows.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel of the given block: 3 us plus 1 us a tile, twice that when ragged.
    fn kernel(block: u64, slow: f64) -> Vec<Timing> {
        let mut out = Vec::new();
        for base in [128u64, 256, 512, 1024, 4096, 16_384] {
            for offset in [0u64, 1, 16, 32, 48, 64, 96] {
                let m = base + offset;
                let ragged = if m % block == 0 { 1.0 } else { slow };
                out.push(Timing { m, time_us: 3.0 + m.div_ceil(block) as f64 * ragged });
            }
        }
        out
    }

    #[test]
    fn the_block_that_made_the_times_is_found() {
        for block in [32, 64, 128] {
            let finding = find(&kernel(block, 2.0), block).unwrap();
            assert_eq!(finding.candidates, [block]);
            assert!(finding.manifest_agrees);
        }
    }

    #[test]
    fn a_manifest_that_names_another_block_is_contradicted() {
        let finding = find(&kernel(64, 2.0), 128).unwrap();
        assert_eq!(finding.candidates, [64]);
        assert!(!finding.manifest_agrees);
    }

    #[test]
    fn a_straight_line_shows_no_block() {
        let line: Vec<Timing> =
            (1..30).map(|i| Timing { m: i * 16, time_us: 2.0 + i as f64 }).collect();
        assert_eq!(find(&line, 64), None);
        assert_eq!(find(&line[..3], 64), None);
    }
}
