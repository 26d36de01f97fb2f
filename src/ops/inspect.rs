//! What each kernel costs the machine, read from its code object: registers, LDS, spills,
//! occupancy, instruction count. Catalog entries go in; rows for `tune kernel list` come out.

use std::fmt;

use cdna_sim::arch::ArchParams;
use cdna_sim::code_object::{CodeObject, KernelInfo};
use cdna_sim::isa::{self, Inst, Op};
use cdna_sim::timing::{Resources, occupancy};
use serde::Serialize;

use super::manifest::{KernelEntry, Tile};
use super::reference::target;

/// Why a kernel cannot be listed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel {id} for {arch}: {problem}")]
pub struct InspectError {
    /// Kernel id.
    pub id: String,
    /// Target.
    pub arch: String,
    /// What is wrong.
    pub problem: String,
}

/// One kernel on one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelReport {
    /// Kernel id.
    pub id: String,
    /// Target.
    pub arch: String,
    /// Operation.
    pub op: String,
    /// Variant, or step of the indexer.
    pub variant: String,
    /// Input element type.
    pub dtype: String,
    /// Tile, where there is one.
    pub tile: Option<Tile>,
    /// Threads of a workgroup.
    pub threads: u32,
    /// Architected vector registers.
    pub vgprs: u32,
    /// Accumulation registers.
    pub agprs: u32,
    /// Scalar registers, with VCC and the other extra ones.
    pub sgprs: u32,
    /// LDS bytes of a workgroup.
    pub lds: u32,
    /// Private memory bytes per lane.
    pub scratch: u32,
    /// Vector registers spilled.
    pub vgpr_spills: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Waves resident on a SIMD.
    pub waves_per_simd: u32,
    /// Workgroups resident on a compute unit.
    pub workgroups_per_cu: u32,
    /// Resource that keeps more out.
    pub limiter: String,
    /// Instructions of the kernel's code.
    pub instructions: usize,
    /// Whether a serving engine runs this very kernel.
    pub deployed: bool,
    /// SHA-256 of the code object.
    pub sha256: String,
}

/// Reads the code objects of a catalog.
///
/// # Errors
/// When an object is damaged, is for another target, or does not match the manifest.
pub fn inspect(entries: &[KernelEntry]) -> Result<Vec<KernelReport>, InspectError> {
    entries.iter().map(report).collect()
}

fn report(entry: &KernelEntry) -> Result<KernelReport, InspectError> {
    let fail =
        |problem: String| InspectError { id: entry.id.clone(), arch: entry.arch.clone(), problem };
    let arch = target(&entry.arch).ok_or_else(|| fail("unknown target".into()))?;
    let object =
        CodeObject::parse(&entry.image, Some(arch)).map_err(|error| fail(error.to_string()))?;
    let kernel = object
        .kernel(&entry.symbol)
        .ok_or_else(|| fail(format!("the code object has no kernel {}", entry.symbol)))?;
    let sizes: Vec<usize> = kernel.explicit_args().map(|a| a.size as usize).collect();
    let expected: Vec<usize> = entry.args.iter().map(|a| a.ty.bytes()).collect();
    if sizes != expected {
        return Err(fail(format!(
            "the manifest lists arguments of {expected:?} bytes; the code object takes {sizes:?}"
        )));
    }
    if entry.threads > kernel.max_workgroup {
        return Err(fail(format!(
            "the manifest says {} threads; the code object allows {}",
            entry.threads, kernel.max_workgroup
        )));
    }
    let agprs = kernel.agpr_count;
    let vgprs = if agprs > 0 { kernel.descriptor.acc_offset() } else { kernel.vgpr_count };
    // Kernels of a pack get theirs at the launch.
    let lds = kernel.lds_size.saturating_add(entry.launch.as_ref().map_or(0, |l| l.lds));
    let params = ArchParams::load(arch).map_err(|error| fail(error.to_string()))?;
    let resident = occupancy(
        params,
        &Resources { vgprs, agprs, sgprs: kernel.sgpr_count, lds, threads: entry.threads },
    );
    Ok(KernelReport {
        id: entry.id.clone(),
        arch: entry.arch.clone(),
        op: entry.op.name().into(),
        variant: entry.variant.clone(),
        dtype: entry.dtype.clone(),
        tile: entry.tile,
        threads: entry.threads,
        vgprs,
        agprs,
        sgprs: kernel.sgpr_count,
        lds,
        scratch: kernel.private_size,
        vgpr_spills: kernel.vgpr_spills,
        sgpr_spills: kernel.sgpr_spills,
        waves_per_simd: resident.waves_per_simd,
        workgroups_per_cu: resident.workgroups_per_cu,
        limiter: resident.limiter.to_string(),
        instructions: instructions(&object, kernel).len(),
        deployed: entry.deployed,
        sha256: entry.sha256.clone(),
    })
}

/// Instructions from the kernel's entry to its last `s_endpgm`; what follows is padding.
pub(super) fn instructions(object: &CodeObject, kernel: &KernelInfo) -> Vec<Inst> {
    let code = object.code();
    let offset = |addr: u64| usize::try_from(addr.saturating_sub(object.text.addr)).ok();
    let next = object.functions.iter().map(|(_, addr)| *addr).find(|addr| *addr > kernel.entry);
    let end = next.and_then(offset).unwrap_or(code.len()).min(code.len());
    let start = offset(kernel.entry).unwrap_or(end).min(end);
    let mut all: Vec<Inst> =
        isa::instructions(&code[start..end], object.arch).map(|(_, inst)| inst).collect();
    let through_end = all.iter().rposition(|inst| inst.op == Op::SEndpgm).map_or(0, |i| i + 1);
    all.truncate(through_end);
    all
}

/// The reports as an aligned table.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a>(pub &'a [KernelReport]);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = [
            "kernel",
            "arch",
            "dtype",
            "tile",
            "threads",
            "VGPR",
            "AGPR",
            "SGPR",
            "LDS",
            "spills",
            "waves/SIMD",
            "WGs/CU",
            "limited by",
            "instrs",
            "deployed",
        ]
        .map(str::to_owned);
        let rows: Vec<[String; 15]> = std::iter::once(header)
            .chain(self.0.iter().map(|r| {
                [
                    r.id.clone(),
                    r.arch.clone(),
                    r.dtype.clone(),
                    r.tile.map_or_else(|| "-".into(), |t| t.to_string()),
                    r.threads.to_string(),
                    r.vgprs.to_string(),
                    r.agprs.to_string(),
                    r.sgprs.to_string(),
                    r.lds.to_string(),
                    (r.vgpr_spills + r.sgpr_spills).to_string(),
                    r.waves_per_simd.to_string(),
                    r.workgroups_per_cu.to_string(),
                    r.limiter.clone(),
                    r.instructions.to_string(),
                    if r.deployed { "yes" } else { "no" }.into(),
                ]
            }))
            .collect();
        super::check::write_table(f, &rows)
    }
}
