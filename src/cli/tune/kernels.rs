//! The kernels at hand, as the grid and the journal need them.

use sha2::{Digest, Sha256};

use crate::grid::TileKernel;
use crate::ops::{KernelEntry, KernelOp};
use crate::profile::Op;

/// GEMM-like kernels with a tile.
pub fn tiles(catalog: &[KernelEntry]) -> Vec<TileKernel> {
    let tile_kernel = |entry: &KernelEntry| {
        let op = match entry.op {
            KernelOp::Gemm => Op::Gemm,
            KernelOp::AbsorbBmm => Op::AbsorbBmm,
            KernelOp::Indexer | KernelOp::Support => return None,
        };
        let tile = entry.tile?;
        Some(TileKernel {
            id: entry.id.clone(),
            op,
            variant: entry.variant.clone(),
            dtype: entry.dtype.clone(),
            tile: [tile.m, tile.n, tile.k],
        })
    };
    catalog.iter().filter_map(tile_kernel).collect()
}

/// One hash over all code objects: a journal is only continued with the same.
pub fn fingerprint(catalog: &[KernelEntry]) -> String {
    let mut hash = Sha256::new();
    for entry in catalog {
        hash.update(&entry.id);
        hash.update(&entry.sha256);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
