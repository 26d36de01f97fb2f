//! The kernels at hand, as the grid and the journal need them.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::cli::kernel::check;
use crate::error::{Error, Exit, Result};
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

/// Runs the kernels of a pack against their references on the simulator: a tile, an argument or a
/// grid that is not the code's would give times of something else.
///
/// # Errors
/// Status 6 for a kernel that computes something else, 5 for one that faults.
pub fn verify(pack: &Pack, dir: &Path) -> Result<()> {
    let arch = &pack.info.arch;
    let report = check::of_pack(pack)?;
    let Some(wrong) = report.findings.iter().find(|finding| !finding.verdict.passed()) else {
        return Ok(());
    };
    let dir = dir.display();
    let what = format!("{dir}: {} differs from its reference: {}", wrong.subject, wrong.verdict);
    Err(Error::new(Exit::Check, what)
        .advice(format_args!("tune kernel check --arch {arch} --kernels {dir} shows every kernel")))
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
