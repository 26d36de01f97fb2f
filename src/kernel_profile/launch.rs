//! Launches of the bundled GEMM-like kernels for one shape, timed on the simulator.

use std::fmt;

use cdna_sim::arch::ArchParams;
use cdna_sim::isa::Arch;
use cdna_sim::launch::{Dispatch, Module, PACKET_BYTES, Prepared};
use cdna_sim::memory::{AddressSpace, OutOfMemory};
use cdna_sim::timing::{self, Launch};

use super::{KernelProfile, ProfileError, collect};
use crate::ops::absorb::AbsorbShape;
use crate::ops::gemm::GemmShape;
use crate::ops::{ArgType, KernelEntry, KernelOp, OpError, absorb, gemm};

/// Largest kernarg segment of these kernels.
const KERNARG_BYTES: u64 = 4096;

/// Sizes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Heads; 1 for a plain GEMM.
    pub b: u64,
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { b, m, n, k } = self;
        write!(f, "b={b} m={m} n={n} k={k}")
    }
}

/// Sizes of the buffers, and the values of the arguments that are no pointers, in order.
struct Arguments {
    buffers: Vec<u64>,
    values: Vec<u64>,
}

fn arguments(entry: &KernelEntry, s: &Shape) -> Result<Arguments, ProfileError> {
    let refused = |error: OpError| match error {
        OpError::Shape { kernel, problem, .. } => {
            ProfileError::Shape(format!("{kernel} does not take {s}: {problem}"))
        }
        other => ProfileError::Shape(other.to_string()),
    };
    match entry.op {
        KernelOp::AbsorbBmm => {
            let shape = AbsorbShape::token_major(s.b, s.m, s.n, s.k);
            absorb::validate(entry, &shape).map_err(refused)?;
            Ok(Arguments {
                buffers: vec![2 * s.b * s.m * s.k, s.b * s.n * s.k, 2 * s.b * s.m * s.n, 4],
                values: vec![
                    s.m,
                    s.n,
                    s.k,
                    shape.x_stride_b,
                    shape.x_stride_m,
                    shape.w_stride_b,
                    shape.w_stride_n,
                    shape.out_stride_b,
                    shape.out_stride_m,
                ],
            })
        }
        KernelOp::Gemm => {
            let shape = GemmShape::new(s.m, s.n, s.k);
            gemm::validate(entry, &shape).map_err(refused)?;
            let element = gemm::element_bytes(&entry.dtype);
            Ok(Arguments {
                buffers: vec![element * s.m * s.k, element * s.n * s.k, 2 * s.m * s.n],
                values: vec![s.m, s.n, s.k, shape.lda, shape.ldb, shape.ldc],
            })
        }
        KernelOp::Indexer | KernelOp::Support => {
            let id = &entry.id;
            Err(ProfileError::Shape(format!(
                "{id} is no GEMM-like kernel; only those are profiled"
            )))
        }
    }
}

/// Times one launch of `entry` at `shape` and says where the time goes, with a timeline of the first
/// `events` instructions.
///
/// # Errors
/// A kernel or shape that cannot be launched, or a fault.
pub fn run(
    entry: &KernelEntry,
    shape: &Shape,
    events: usize,
) -> Result<KernelProfile, ProfileError> {
    let arguments = arguments(entry, shape)?;
    let fail = |what: String| ProfileError::Launch { kernel: entry.id.clone(), what };
    let arch = Arch::ALL.into_iter().find(|arch| arch.name() == entry.arch);
    let arch = arch.ok_or_else(|| fail(format!("no such target {}", entry.arch)))?;
    let p = ArchParams::load(arch).map_err(|error| fail(error.to_string()))?;
    let mut memory = AddressSpace::of_device(p.device.memory, 0);
    let mut alloc = |bytes: u64| {
        let refused = |e: OutOfMemory| ProfileError::Shape(format!("{shape} is too large: {e}"));
        memory.alloc(bytes.max(1)).map_err(refused)
    };
    let pointers = arguments.buffers.iter().map(|&b| alloc(b)).collect::<Result<Vec<_>, _>>()?;
    let block = alloc(PACKET_BYTES + KERNARG_BYTES)?;
    let module =
        Module::load(&mut memory, &entry.image, arch).map_err(|error| fail(error.to_string()))?;
    let mut values = arguments.values.iter();
    let mut addresses = pointers.iter();
    let mut explicit = Vec::new();
    for arg in &entry.args {
        let source = if arg.ty == ArgType::Ptr { &mut addresses } else { &mut values };
        let value = source.next().copied().unwrap_or(0);
        let size = arg.ty.bytes();
        explicit.resize(explicit.len().next_multiple_of(size), 0);
        explicit.extend_from_slice(&value.to_le_bytes()[..size]);
    }
    let tile =
        entry.tile.ok_or_else(|| ProfileError::Shape(format!("{} has no tile", entry.id)))?;
    let blocks = |size: u64, tile: u32| u32::try_from(size.div_ceil(u64::from(tile))).ok();
    let groups = blocks(shape.n, tile.n).zip(blocks(shape.m, tile.m)).zip(blocks(shape.b, 1));
    let ((x, y), z) = groups.ok_or_else(|| ProfileError::Shape("the grid is too large".into()))?;
    let dispatch = Dispatch { groups: [x, y, z], block: [entry.threads, 1, 1], dynamic_lds: 0 };
    let launch = Prepared::new(&module, &entry.symbol, dispatch, &explicit, &memory, block, p)
        .map_err(|error| fail(error.to_string()))?;
    let grid = Launch { prepared: &launch, memory: &memory };
    let timed = timing::simulate_traced(p, &grid, events).map_err(|e| fail(e.to_string()))?;
    let Shape { b, m, n, k } = shape;
    let flops = 2.0 * [*b, *m, *n, *k].iter().map(|&size| size as f64).product::<f64>();
    Ok(collect(p, entry, &shape.to_string(), flops, &launch.program, timed))
}
