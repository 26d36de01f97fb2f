//! The kernels at hand, as the grid and the journal need them.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::grid::TileKernel;
use crate::ops::{self, KernelEntry, KernelOp, Pack};
use crate::profile::Op;

/// The bundled kernels of a target, with those of the pack in `dir` in place of the bundled ones of
/// the same operation.
///
/// # Errors
/// Status 4 for a pack that cannot be read or is for another target.
pub fn catalog(arch: &str, dir: Option<&Path>) -> Result<(Vec<KernelEntry>, Option<Pack>)> {
    let bundled = ops::catalog(arch).map_err(Error::failed)?;
    let Some(dir) = dir else { return Ok((bundled, None)) };
    let pack = Pack::read(dir, arch)?;
    Ok((pack.over(bundled), Some(pack)))
}

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
            launch: entry.launch.clone(),
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
