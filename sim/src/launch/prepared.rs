//! A validated launch.

use std::sync::Arc;

use super::{Module, kernarg, wave};
use crate::arch::ArchParams;
use crate::code_object::{ArgKind, KernelInfo};
use crate::exec::{Program, Wave};
use crate::isa::Arch;
use crate::memory::AddressSpace;

/// Bytes a launch writes before its kernarg segment: the queue, then the dispatch packet.
pub const PACKET_BYTES: u64 = 256;
/// Private bytes per lane added for kernels whose stack depth the compiler does not know.
const DYNAMIC_STACK: u32 = 8192;

/// Size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Workgroups.
    pub groups: [u32; 3],
    /// Threads of a workgroup.
    pub block: [u32; 3],
    /// LDS bytes added to the kernel's static ones.
    pub dynamic_lds: u32,
}

impl Dispatch {
    /// Dimensions of the grid: the highest one with more than one work-item.
    pub(super) fn dimensions(&self) -> u16 {
        (1..3).rev().find(|&d| self.groups[d] > 1 || self.block[d] > 1).map_or(1, |d| d as u16 + 1)
    }
}

/// Why a launch was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// The module has no such kernel.
    #[error("no kernel {name}; the code object has {}", .available.join(", "))]
    NoKernel {
        /// Asked for.
        name: String,
        /// What there is.
        available: Vec<String>,
    },
    /// A grid or workgroup that cannot be dispatched.
    #[error("kernel {kernel} cannot be launched: {what}")]
    Configuration {
        /// Kernel.
        kernel: String,
        /// What is wrong, with the figures.
        what: String,
    },
    /// Arguments that contradict the metadata.
    #[error("kernel {kernel}: {what}")]
    Arguments {
        /// Kernel.
        kernel: String,
        /// What is wrong, with the figures.
        what: String,
    },
    /// The kernel asks for what is not simulated.
    #[error("kernel {kernel} is not supported: it needs {what}")]
    Unsupported {
        /// Kernel.
        kernel: String,
        /// The need.
        what: String,
    },
}

/// A launch, ready to run.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Target.
    pub arch: Arch,
    /// Code.
    pub program: Arc<Program>,
    /// The kernel.
    pub kernel: Arc<KernelInfo>,
    /// Device address of the kernel's first byte; fault positions are relative to it.
    pub entry: u64,
    /// Index in [`Program::insts`] of the first instruction of a wave.
    pub start: usize,
    /// Device address of the kernarg segment.
    pub kernarg: u64,
    /// Size of the launch.
    pub dispatch: Dispatch,
    /// LDS bytes of a workgroup, static and dynamic.
    pub lds: u32,
    /// Private bytes per lane.
    pub private_size: u32,
    /// Waves of a workgroup.
    pub waves: u32,
    /// Instruction indices of the functions the kernel can reach.
    pub(super) reach: std::ops::Range<usize>,
    /// Values of the preloaded kernarg dwords.
    pub(super) preload: Vec<u32>,
    pub(super) packet: u64,
    pub(super) queue: u64,
}

/// The state of one workgroup.
#[derive(Clone, Debug)]
pub struct Workgroup {
    /// Id.
    pub id: [u32; 3],
    /// Its waves, in order.
    pub waves: Vec<Wave>,
    /// Its LDS.
    pub lds: Vec<u8>,
}

impl Prepared {
    /// Validates a launch of `kernel`, writes packet and kernarg segment to `block` (device memory
    /// of [`PACKET_BYTES`] plus the kernarg size, 16-byte aligned, that outlives the launch) and
    /// works out what all waves share. `params` limits its size; `explicit` holds the explicit arguments at their offsets.
    ///
    /// # Errors
    /// [`LaunchError`].
    pub fn new(
        module: &Module,
        kernel: &str,
        dispatch: Dispatch,
        explicit: &[u8],
        mem: &AddressSpace,
        block: u64,
        params: &ArchParams,
    ) -> Result<Self, LaunchError> {
        let info = module.object.kernel(kernel).ok_or_else(|| LaunchError::NoKernel {
            name: kernel.to_owned(),
            available: module.object.kernels.iter().map(|k| k.name.clone()).collect(),
        })?;
        let lds = check_size(info, &dispatch, params)?;
        check_support(info)?;
        let private_size = private_size(info);
        let packet = block + PACKET_BYTES / 2;
        let kernarg = block + PACKET_BYTES;
        let arguments = kernarg::segment(info, &dispatch, explicit, block);
        let descriptor = module.base + info.descriptor_addr;
        let words = kernarg::packet(&dispatch, private_size, lds, descriptor, kernarg);
        let written = mem.write(block, &kernarg::queue())
            && mem.write(packet, &words)
            && mem.write(kernarg, &arguments);
        let entry = module.base + info.entry;
        let (preload, first) = preload(info, &arguments, entry);
        let start = module.program.index_of(first).filter(|_| written).ok_or_else(|| {
            LaunchError::Unsupported {
                kernel: info.name.clone(),
                what: "an entry point that decodes to an instruction".to_owned(),
            }
        })?;
        Ok(Prepared {
            arch: module.object.arch,
            reach: reach(module, info.entry),
            program: Arc::clone(&module.program),
            kernel: Arc::new(info.clone()),
            entry,
            start,
            kernarg,
            dispatch,
            lds,
            private_size,
            waves: dispatch.block.iter().product::<u32>().div_ceil(64),
            preload,
            packet,
            queue: block,
        })
    }

    /// Workgroups of the grid.
    pub fn workgroups(&self) -> u64 {
        self.dispatch.groups.iter().map(|&n| u64::from(n)).product()
    }

    /// Id of the workgroup dispatched as number `index`: x varies fastest.
    pub fn workgroup_id(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.dispatch.groups.map(u64::from);
        [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32]
    }

    /// Wave `n` of workgroup `id` in its initial state.
    pub fn wave(&self, id: [u32; 3], n: u32) -> Wave {
        wave::initial(self, id, n)
    }

    /// Turns a used wave into the first of workgroup `id`.
    pub fn restart(&self, wave: &mut Wave, id: [u32; 3]) {
        wave::reset(self, wave, id, 0);
    }

    /// Turns used waves into those of workgroup `id`.
    pub fn renew(&self, waves: &mut [Wave], id: [u32; 3]) {
        for (n, wave) in (0..).zip(waves) {
            wave::reset(self, wave, id, n);
        }
    }

    /// A workgroup in its initial state.
    pub fn workgroup(&self, id: [u32; 3]) -> Workgroup {
        let waves = (0..self.waves).map(|w| wave::initial(self, id, w)).collect();
        Workgroup { id, waves, lds: vec![0; self.lds as usize] }
    }

    /// Turns a used workgroup into a fresh one without allocating again.
    pub fn reset(&self, workgroup: &mut Workgroup, id: [u32; 3]) {
        workgroup.id = id;
        workgroup.lds.fill(0);
        self.renew(&mut workgroup.waves, id);
    }
}

fn check_size(
    info: &KernelInfo,
    dispatch: &Dispatch,
    params: &ArchParams,
) -> Result<u32, LaunchError> {
    let refuse = |what: String| LaunchError::Configuration { kernel: info.name.clone(), what };
    let Dispatch { groups, block, dynamic_lds } = *dispatch;
    if groups.contains(&0) || block.contains(&0) {
        return Err(refuse(format!("grid {groups:?} of workgroups {block:?} is empty")));
    }
    if (0..3).any(|d| groups[d].checked_mul(block[d]).is_none()) {
        let what = format!(
            "grid {groups:?} of workgroups {block:?} has a dimension of 2^32 or more threads"
        );
        return Err(refuse(what));
    }
    let threads = block.iter().try_fold(1u32, |n, &d| n.checked_mul(d));
    let limit = info.max_workgroup.min(params.device.max_workgroup_threads);
    if threads.is_none_or(|n| n > limit) {
        let what = format!("workgroup {block:?} has more than the {limit} threads it allows");
        return Err(refuse(what));
    }
    if let Some(required) = info.required_workgroup.filter(|required| *required != block) {
        let what = format!("workgroup {block:?}, but it was compiled for {required:?}");
        return Err(refuse(what));
    }
    let limit = params.lds.unit.size;
    info.lds_size.checked_add(dynamic_lds).filter(|&lds| lds <= limit).ok_or_else(|| {
        let fixed = info.lds_size;
        refuse(format!("{fixed} static and {dynamic_lds} dynamic bytes of LDS exceed {limit}"))
    })
}

fn check_support(info: &KernelInfo) -> Result<(), LaunchError> {
    let unsupported =
        |what: &str| LaunchError::Unsupported { kernel: info.name.clone(), what: what.to_owned() };
    if let Some(what) = info.descriptor.unsupported() {
        return Err(unsupported(what));
    }
    info.args.iter().try_for_each(|arg| match &arg.kind {
        ArgKind::DynamicSharedPointer => Err(unsupported("an LDS pointer as argument")),
        ArgKind::Other(kind) => Err(unsupported(&format!("an argument of kind {kind}"))),
        _ => Ok(()),
    })
}

fn private_size(info: &KernelInfo) -> u32 {
    let fixed = info.private_size.max(info.descriptor.private_size);
    let size = if info.dynamic_stack { fixed.saturating_add(DYNAMIC_STACK) } else { fixed };
    size.next_multiple_of(4)
}

/// Values for the preloaded SGPRs, and where a wave starts: past the compatibility prologue of 256
/// bytes if there is anything to preload.
fn preload(info: &KernelInfo, arguments: &[u8], entry: u64) -> (Vec<u32>, u64) {
    let (first, count) = info.descriptor.preload();
    if count == 0 {
        return (Vec::new(), entry);
    }
    let dword = |i: u32| {
        let at = (first + i) as usize * 4;
        arguments.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
    };
    ((0..count).map(dword).collect(), entry + 256)
}

/// Instructions from the kernel's entry to the next function's, or all of them if the kernel calls
/// anything.
fn reach(module: &Module, entry: u64) -> std::ops::Range<usize> {
    let program = &module.program;
    let all = 0..program.insts.len();
    let index = |offset: u64| program.addr.partition_point(|&a| a < module.base + offset);
    let next = module.object.functions.iter().map(|(_, addr)| *addr).find(|&addr| addr > entry);
    let own = index(entry)..next.map_or(all.end, index);
    let calls = program.insts.get(own.clone()).unwrap_or_default().iter().any(|inst| {
        use crate::isa::Op::{SCallB64, SSetpcB64, SSwappcB64};
        matches!(inst.op, SCallB64 | SSetpcB64 | SSwappcB64)
    });
    if calls { all } else { own }
}
