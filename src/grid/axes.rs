//! The values along each axis of the named grids.

use std::collections::BTreeSet;

use crate::options::GridSize;
use crate::units::Tokens;

/// Row count whose penalty is published (an MI355X at 311.2 us against 155.8 us at 16384).
const PUBLISHED_RAGGED_M: u64 = 16_368;

/// Values to measure at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axes {
    /// Chunk rows of the indexer, ascending.
    pub t: Vec<u64>,
    /// Prefixes of the indexer, ascending.
    pub l: Vec<u64>,
    /// GEMM row counts around which residues are measured: multiples of every `BLOCK_SIZE_M`.
    pub m_bases: Vec<u64>,
    /// Rows past a whole number of tiles, beside none, one and one short of a tile.
    pub residues: Vec<u64>,
    /// Shapes of an op, in the model's order.
    pub shapes_per_op: usize,
}

impl Axes {
    /// Axes of a named grid for contexts up to `max_positions`.
    pub fn named(size: GridSize, max_positions: u64) -> Self {
        let (t, l, m_bases, residues, shapes_per_op): (&[u64], &[u64], &[u64], &[u64], usize) =
            match size {
                GridSize::Quick => (&[512, 2048], &[0, 32_768, 131_072], &[16_384], &[16], 1),
                GridSize::Default => (
                    &[256, 1024, 2048, 4096],
                    &[0, 16_384, 65_536, 131_072, 262_144, 524_288],
                    &[512, 2048, 16_384],
                    &[16, 48],
                    2,
                ),
                GridSize::Full => (
                    &[64, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192],
                    &[0, 4096, 16_384, 32_768, 65_536, 98_304, 131_072, 196_608, 262_144, 524_288],
                    &[256, 512, 1024, 2048, 4096, 8192, 12_288, 16_384],
                    &[16, 32, 48, 64, 96, 112, 128, 192, 240],
                    usize::MAX,
                ),
            };
        let l = l.iter().copied().filter(|l| *l < max_positions).collect();
        Self {
            t: t.to_vec(),
            l,
            m_bases: m_bases.to_vec(),
            residues: residues.to_vec(),
            shapes_per_op,
        }
    }

    /// Replaces chunk and prefix lengths by those given.
    pub fn with_lengths(mut self, t: Option<&[Tokens]>, l: Option<&[Tokens]>) -> Self {
        let sorted = |list: &[Tokens]| {
            list.iter().map(|tokens| tokens.0).collect::<BTreeSet<_>>().into_iter().collect()
        };
        if let Some(t) = t {
            self.t = sorted(t);
        }
        if let Some(l) = l {
            self.l = sorted(l);
        }
        self
    }

    /// Row counts of the last tile below `base`, ascending: the whole tiles on both sides, one row
    /// past and one short of a tile, the residues of the grid, and the published ragged count.
    pub fn rows_around(&self, base: u64, block_m: u32) -> Vec<u64> {
        let block = u64::from(block_m);
        let below = base.saturating_sub(block);
        let residues = self.residues.iter().copied().filter(|residue| *residue < block);
        let mut rows: BTreeSet<u64> =
            residues.chain([0, 1, block - 1, block]).map(|residue| below + residue).collect();
        if (below..base).contains(&PUBLISHED_RAGGED_M) {
            rows.insert(PUBLISHED_RAGGED_M);
        }
        rows.remove(&0);
        rows.into_iter().collect()
    }
}
