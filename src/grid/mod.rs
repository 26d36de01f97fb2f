//! What is measured: a model's shapes, the kernels at hand and the axes of a named grid go in; a
//! list of cases in a fixed order comes out, grouped so that the variants that are compared run
//! next to each other. Pure, and bounded: a grid too large is refused with the flag to change.

mod axes;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{Indexer, IndexerKind, MatrixShape, RankShapes};
use crate::ops::Tile;
use crate::ops::pack::PackLaunch;
use crate::profile::Op;

pub use axes::Axes;

/// Most cases in one grid.
pub const MAX_CASES: usize = 20_000;

/// Largest `T * (L + T)` of a case, token^2; beyond it buffer sizes leave the range of addresses.
const MAX_SCORES: u64 = 1 << 44;

/// A GEMM-like kernel that can be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileKernel {
    /// Manifest id.
    pub id: String,
    /// [`Op::Gemm`] or [`Op::AbsorbBmm`].
    pub op: Op,
    /// `even`, `ragged_wrap` or `ragged_buffer`.
    pub variant: String,
    /// Input element type.
    pub dtype: String,
    /// `BLOCK_SIZE_M`, `BLOCK_SIZE_N`, `BLOCK_SIZE_K`.
    pub tile: [u32; 3],
    /// Where the kernel is of a pack: the launches that it was compiled for.
    pub launch: Option<PackLaunch>,
}

impl TileKernel {
    /// Whether it computes the shape: the even variant has no masks and needs whole tiles, and a
    /// kernel of a pack runs only where its engine would run it.
    pub fn accepts(&self, m: u64, shape: &MatrixShape) -> bool {
        let [block_m, block_n, k] = self.tile;
        if let Some(launch) = &self.launch {
            let same = (shape.n, shape.k) == (launch.dims.n, launch.dims.k);
            if !same || !launch.runs(m, Tile { m: block_m, n: block_n, k }) {
                return false;
            }
        }
        self.variant != "even"
            || (m.is_multiple_of(u64::from(block_m)) && shape.n.is_multiple_of(u64::from(block_n)))
    }
}

/// How an indexer pass keeps its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pipeline {
    /// fp8 scores of the whole chunk, straight to top-k.
    Fp8,
    /// All buffers of the whole chunk live together.
    Dense,
    /// One pooled block of scores, rows split to fit.
    RowPooled,
    /// Keys in blocks, running top-k merged.
    KeyBlocked,
}

impl Pipeline {
    /// Name in profiles and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp8 => "fp8",
            Self::Dense => "dense",
            Self::RowPooled => "row_pooled",
            Self::KeyBlocked => "key_blocked",
        }
    }
}

/// What one case runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// One kernel on one shape.
    Matrix {
        /// Manifest id.
        kernel: String,
        /// Shape of the model.
        shape: MatrixShape,
        /// Rows.
        m: u64,
    },
    /// A pass of the indexer.
    Indexer {
        /// How.
        pipeline: Pipeline,
        /// Of which shape.
        indexer: Indexer,
        /// Chunk rows.
        t: u64,
        /// Prefix.
        l: u64,
    },
}

/// One point to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Unique in the grid and the same in every run of it.
    pub name: String,
    /// What runs.
    pub work: Work,
}

impl Case {
    /// Whether it runs kernel `id` on `m` rows.
    pub fn is_of(&self, id: &str, rows: Option<u64>) -> bool {
        matches!(&self.work, Work::Matrix { kernel, m, .. } if kernel == id && Some(*m) == rows)
    }
}

/// The case of one kernel on `m` rows of a shape.
pub fn matrix_case(kernel: &TileKernel, shape: &MatrixShape, m: u64) -> Case {
    Case {
        name: format!("{}/{}/M={m}", kernel.id, shape.name),
        work: Work::Matrix { kernel: kernel.id.clone(), shape: shape.clone(), m },
    }
}

/// The case of one pass of the indexer.
pub fn indexer_case(pipeline: Pipeline, indexer: Indexer, t: u64, l: u64) -> Case {
    Case {
        name: format!("indexer/{}/T={t}/L={l}", pipeline.name()),
        work: Work::Indexer { pipeline, indexer, t, l },
    }
}

/// Cases that are compared with each other and therefore measured interleaved.
pub type Group = Vec<Case>;

/// Why there is no grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// More cases than [`MAX_CASES`].
    #[error("the grid has {0} cases; the limit is {MAX_CASES}: give fewer values to --t or --l")]
    TooMany(usize),
    /// A chunk and prefix whose buffers would not be addressable.
    #[error("T = {t} over L = {l} is too large: T * (L + T) must stay under 2^44")]
    TooLarge {
        /// Chunk rows.
        t: u64,
        /// Prefix.
        l: u64,
    },
    /// Nothing to measure.
    #[error("nothing to measure: no kernel for this model, or every length is past its context")]
    Empty,
}

/// Builds the grid.
///
/// # Errors
/// When it would be empty, too large, or hold a case of absurd size.
pub fn build(
    shapes: &RankShapes,
    kernels: &[TileKernel],
    axes: &Axes,
) -> Result<Vec<Group>, GridError> {
    let mut groups = Vec::new();
    for (op, list) in [(Op::AbsorbBmm, &shapes.absorb), (Op::Gemm, &shapes.gemm)] {
        for shape in measured_shapes(list, kernels, axes) {
            for (tile, members) in tiles(kernels, op, axes) {
                groups.extend(matrix_groups(shape, tile[0], &members, axes));
            }
        }
    }
    groups.extend(indexer_groups(shapes.indexer, axes)?);
    groups.retain(|group| !group.is_empty());
    let cases = groups.iter().map(Vec::len).sum();
    match cases {
        0 => Err(GridError::Empty),
        1..=MAX_CASES => Ok(groups),
        _ => Err(GridError::TooMany(cases)),
    }
}

/// The first shapes of an operation, as many as the axes have, and those that a kernel of a pack was
/// compiled for.
pub fn measured_shapes<'a>(
    shapes: &'a [MatrixShape],
    kernels: &'a [TileKernel],
    axes: &Axes,
) -> impl Iterator<Item = &'a MatrixShape> + use<'a> {
    let first = axes.shapes_per_op;
    let packed = move |shape: &MatrixShape| {
        let mut launches = kernels.iter().filter_map(|kernel| kernel.launch.as_ref());
        launches.any(|launch| (launch.dims.n, launch.dims.k) == (shape.n, shape.k))
    };
    let wanted = move |(index, shape): &(usize, &MatrixShape)| *index < first || packed(shape);
    shapes.iter().enumerate().filter(wanted).map(|(_, shape)| shape)
}

/// Kernels of `op` by type and tile: the variants that answer the same question.
pub fn tiles<'a>(
    kernels: &'a [TileKernel],
    op: Op,
    axes: &Axes,
) -> impl Iterator<Item = ([u32; 3], Vec<&'a TileKernel>)> + use<'a> {
    let mut by_tile: BTreeMap<(&str, [u32; 3]), Vec<&TileKernel>> = BTreeMap::new();
    let wanted = |kernel: &&TileKernel| {
        kernel.op == op && (op != Op::Gemm || axes.gemm_dtypes.contains(&kernel.dtype.as_str()))
    };
    for kernel in kernels.iter().filter(wanted) {
        by_tile.entry((&kernel.dtype, kernel.tile)).or_default().push(kernel);
    }
    by_tile.into_iter().map(|((_, tile), members)| (tile, members))
}

/// One group around each base: the whole tiles below and at it, and the residues between.
fn matrix_groups(
    shape: &MatrixShape,
    block_m: u32,
    members: &[&TileKernel],
    axes: &Axes,
) -> Vec<Group> {
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for base in &axes.m_bases {
        let mut group = Group::new();
        for m in axes.rows_around(*base, block_m) {
            for kernel in members.iter().filter(|kernel| kernel.accepts(m, shape)) {
                let case = matrix_case(kernel, shape, m);
                if seen.insert(case.name.clone()) {
                    group.push(case);
                }
            }
        }
        groups.push(group);
    }
    groups
}

/// The shape in which the fp4 low-ratio pipelines run beside a model's own path: the model's own
/// where it compresses keys (DeepSeek V4 takes the same shape in fp4 by an option of the server),
/// else DeepSeek V4.1's.
pub fn compared_indexer(own: Option<Indexer>) -> Indexer {
    match own {
        Some(own) if own.kind == IndexerKind::Fp4LowRatio || own.ratio > 1 => {
            Indexer { kind: IndexerKind::Fp4LowRatio, ..own }
        }
        _ => Indexer::FP4_LOW_RATIO,
    }
}

/// The model's own path first, then the fp4 low-ratio pipelines for comparison.
pub fn indexer_paths(own: Option<Indexer>) -> Vec<(Pipeline, Indexer)> {
    let low_ratio = [Pipeline::Dense, Pipeline::RowPooled, Pipeline::KeyBlocked];
    let mut paths = Vec::new();
    let compared = compared_indexer(own);
    if let Some(indexer) = own.filter(|indexer| indexer.kind == IndexerKind::Fp8) {
        paths.push((Pipeline::Fp8, indexer));
    }
    paths.extend(low_ratio.map(|pipeline| (pipeline, compared)));
    paths
}

fn indexer_groups(own: Option<Indexer>, axes: &Axes) -> Result<Vec<Group>, GridError> {
    let mut groups = Vec::new();
    for (pipeline, indexer) in indexer_paths(own) {
        for &t in &axes.t {
            for l in axes.prefixes(pipeline) {
                let scores = l.checked_add(t).and_then(|end| end.checked_mul(t));
                if scores.is_none_or(|scores| scores > MAX_SCORES) {
                    return Err(GridError::TooLarge { t, l });
                }
                groups.push(vec![indexer_case(pipeline, indexer, t, l)]);
            }
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests;
