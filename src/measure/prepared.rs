//! A case with its inputs on the device, ready to run again and again, and the point that describes
//! it before anything is known about it.

use std::collections::BTreeMap;

use super::outcome::Trouble;
use crate::grid::{self, Case, Work};
use crate::hip::Device;
use crate::model::Indexer;
use crate::ops::absorb::{self, AbsorbShape};
use crate::ops::gemm::{self, GemmShape};
use crate::ops::indexer::{IndexerInputs, IndexerShape, POOL_BUDGET, Pipeline};
use crate::ops::{KernelEntry, KernelOp, Library, OpError};
use crate::profile::{Op, Point};

/// Keys of a block of the key-blocked pipeline: 128 KiB of logits a row, and few enough launches
/// that their overhead does not decide.
const KEY_BLOCK: u64 = 32_768;

/// Kernels by id.
pub type Entries = BTreeMap<String, KernelEntry>;

/// A case on the device.
pub enum Prepared {
    /// A GEMM.
    Gemm(gemm::Prepared),
    /// A batched absorb GEMM.
    Absorb(absorb::Prepared),
    /// An indexer pass, whose transient buffers are allocated in every run.
    Indexer(Box<IndexerPass>),
}

/// What an indexer pass needs.
pub struct IndexerPass {
    device: Device,
    library: Library,
    pipeline: Pipeline,
    shape: IndexerShape,
    inputs: IndexerInputs,
}

impl Prepared {
    /// Allocates and fills the inputs.
    ///
    /// # Errors
    /// When the kernel is not there, does not take the shape, or the device refuses.
    pub fn new(
        device: &Device,
        library: &Library,
        entries: &Entries,
        case: &Case,
    ) -> Result<Self, Trouble> {
        match &case.work {
            Work::Matrix { kernel, shape, m } => {
                let entry = entries
                    .get(kernel)
                    .ok_or_else(|| Trouble::error(format!("there is no kernel {kernel}")))?;
                let (b, m, n, k) = (shape.b, *m, shape.n, shape.k);
                if entry.op == KernelOp::AbsorbBmm {
                    let shape = AbsorbShape::of_entry(entry, b, m, n, k);
                    Ok(Self::Absorb(absorb::Prepared::new(device, library, entry, shape)?))
                } else {
                    let shape = GemmShape::new(m, n, k);
                    Ok(Self::Gemm(gemm::Prepared::new(device, library, entry, shape)?))
                }
            }
            Work::Indexer { pipeline, indexer, t, l } => {
                let Indexer { heads, head_dim, topk, ratio, .. } = *indexer;
                let shape = IndexerShape { t: *t, l: *l, ratio, heads, dim: head_dim, topk };
                let pipeline = configured(*pipeline);
                let inputs = IndexerInputs::random(device, library, &shape, pipeline.key_type())?;
                let (device, library) = (device.clone(), library.clone());
                let pass = IndexerPass { device, library, pipeline, shape, inputs };
                Ok(Self::Indexer(Box::new(pass)))
            }
        }
    }

    /// Queues the case once.
    ///
    /// # Errors
    /// The device's.
    pub fn run(&self) -> Result<(), OpError> {
        match self {
            Self::Gemm(gemm) => gemm.launch(),
            Self::Absorb(absorb) => absorb.launch(),
            Self::Indexer(pass) => {
                let IndexerPass { device, library, pipeline, shape, inputs } = &**pass;
                pipeline.run(device, library, shape, inputs).map(drop)
            }
        }
    }
}

/// The pipeline with SGLang's pool budget and our key block.
fn configured(pipeline: grid::Pipeline) -> Pipeline {
    match pipeline {
        grid::Pipeline::Fp8 => Pipeline::Fp8,
        grid::Pipeline::Dense => Pipeline::Dense,
        grid::Pipeline::RowPooled => Pipeline::RowPooled { budget: POOL_BUDGET },
        grid::Pipeline::KeyBlocked => Pipeline::KeyBlocked { block: KEY_BLOCK },
    }
}

/// The point of a case before it is measured.
pub fn blank(case: &Case, entries: &Entries) -> Point {
    match &case.work {
        Work::Matrix { kernel, shape, m } => {
            let entry = entries.get(kernel);
            let op = match entry.map(|entry| entry.op) {
                Some(KernelOp::AbsorbBmm) => Op::AbsorbBmm,
                _ => Op::Gemm,
            };
            let variant = entry.map_or("", |entry| entry.variant.as_str());
            let dtype = entry.map_or("", |entry| entry.dtype.as_str());
            let tile = entry.and_then(|entry| entry.tile);
            Point {
                block_m: tile.map(|tile| tile.m),
                block_n: tile.map(|tile| tile.n),
                block_k: tile.map(|tile| tile.k),
                b: Some(shape.b),
                m: Some(*m),
                n: Some(shape.n),
                k: Some(shape.k),
                deployed: entry.is_some_and(|entry| entry.deployed),
                kernel_sha256: entry.map(|entry| entry.sha256.clone()),
                ..Point::new(op, kernel, variant, &shape.name, dtype)
            }
        }
        Work::Indexer { pipeline, indexer, t, l } => {
            let name = pipeline.name();
            let dtype = configured(*pipeline).key_type().name();
            let logits = entries.get(&format!("indexer_logits_{dtype}_h{}", indexer.heads));
            Point {
                t: Some(*t),
                l: Some(*l),
                ratio: Some(indexer.ratio),
                heads: Some(indexer.heads),
                topk: Some(indexer.topk),
                deployed: logits.is_some_and(|entry| entry.deployed),
                kernel_sha256: logits.map(|entry| entry.sha256.clone()),
                ..Point::new(Op::Indexer, name, name, "indexer", dtype)
            }
        }
    }
}
