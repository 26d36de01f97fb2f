//! The values along each axis of the named grids.

use std::collections::BTreeSet;

use super::Pipeline;
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
    /// Longest prefix of the key-blocked pipeline, whose launches grow with the prefix while its
    /// memory does not.
    pub key_blocked_l: u64,
    /// Input types of plain GEMM.
    pub gemm_dtypes: &'static [&'static str],
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
        let mut axes = match size {
            GridSize::Quick => Self {
                t: vec![512, 2048],
                l: vec![0, 32_768, 131_072],
                key_blocked_l: 131_072,
                gemm_dtypes: &["bf16"],
                m_bases: vec![16_384],
                residues: vec![16],
                shapes_per_op: 1,
            },
            // The adaptive grid chooses among the default one's lengths.
            GridSize::Default | GridSize::Adaptive => Self {
                t: vec![512, 1024, 2048, 4096],
                l: vec![0, 32_768, 131_072, 262_144, 524_288],
                key_blocked_l: 131_072,
                gemm_dtypes: &["bf16", "fp8"],
                m_bases: vec![512, 2048, 16_384],
                residues: vec![16, 48],
                shapes_per_op: 2,
            },
            GridSize::Full => Self {
                t: vec![64, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192],
                l: vec![
                    0, 4096, 16_384, 32_768, 65_536, 98_304, 131_072, 196_608, 262_144, 524_288,
                ],
                key_blocked_l: u64::MAX,
                gemm_dtypes: &["bf16", "fp8"],
                m_bases: vec![256, 512, 1024, 2048, 4096, 8192, 12_288, 16_384],
                residues: vec![16, 32, 48, 64, 96, 112, 128, 192, 240],
                shapes_per_op: usize::MAX,
            },
        };
        axes.l.retain(|l| *l < max_positions);
        axes
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
            self.key_blocked_l = u64::MAX;
        }
        self
    }

    /// Prefixes at which a pipeline is measured.
    pub fn prefixes(&self, pipeline: Pipeline) -> impl Iterator<Item = u64> + '_ {
        let longest = match pipeline {
            Pipeline::KeyBlocked => self.key_blocked_l,
            Pipeline::Fp8 | Pipeline::Dense | Pipeline::RowPooled => u64::MAX,
        };
        self.l.iter().copied().filter(move |l| *l <= longest)
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
