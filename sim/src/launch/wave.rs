//! The initial state of a wave ("Initial Kernel Execution State" in LLVM's AMDGPU usage guide).

use super::prepared::Prepared;
use crate::exec::{Lanes, WAVE, Wave};
use crate::isa::reg;

/// SGPRs that code can address below the named registers.
const SGPRS: usize = 102;

/// Wave `n` of workgroup `id`.
pub(super) fn initial(launch: &Prepared, id: [u32; 3], n: u32) -> Wave {
    let total = launch.kernel.descriptor.vgprs() as usize;
    let arch = (launch.kernel.descriptor.acc_offset() as usize).min(total);
    let mut wave = Wave::new(arch, total - arch, launch.private_size);
    set(launch, &mut wave, id, n);
    wave
}

/// Makes a used wave of the same launch a fresh one.
pub(super) fn reset(launch: &Prepared, wave: &mut Wave, id: [u32; 3], n: u32) {
    wave.clear();
    set(launch, wave, id, n);
}

fn set(launch: &Prepared, wave: &mut Wave, id: [u32; 3], n: u32) {
    let descriptor = &launch.kernel.descriptor;
    wave.id = n;
    wave.pc = launch.start;
    wave.mode = descriptor.mode();
    let threads: u32 = launch.dispatch.block.iter().product();
    let first = n * WAVE as u32;
    let active = (threads - first).min(WAVE as u32);
    wave.set_exec(u64::MAX >> (WAVE as u32 - active));
    for (at, value) in scalars(launch, id, n).into_iter().enumerate().take(SGPRS) {
        wave.sgpr[at] = value;
    }
    wave.set_sgpr64(reg::FLAT_SCRATCH, 0);
    if let Some(ids) = wave.vgpr.first_mut() {
        *ids = work_item_ids(launch.dispatch.block, descriptor.work_item_dimensions(), first);
    }
}

/// User SGPRs, then system SGPRs, each only if enabled.
fn scalars(launch: &Prepared, id: [u32; 3], n: u32) -> Vec<u32> {
    let descriptor = &launch.kernel.descriptor;
    let mut s = Vec::with_capacity(24);
    let mut pair = |enabled: bool, value: u64| {
        if enabled {
            s.extend([value as u32, (value >> 32) as u32]);
        }
    };
    pair(descriptor.dispatch_ptr(), launch.packet);
    pair(descriptor.queue_ptr(), launch.queue);
    pair(descriptor.kernarg_ptr(), launch.kernarg);
    pair(descriptor.dispatch_id(), 0);
    if descriptor.private_segment_size() {
        s.push(launch.private_size);
    }
    s.extend(&launch.preload);
    s.resize(descriptor.user_sgprs() as usize, 0);
    s.extend((0..3).filter(|&d| descriptor.workgroup_id(d)).map(|d| id[d]));
    if descriptor.workgroup_info() {
        s.push(u32::from(n == 0) << 31 | launch.waves & 0x3f);
    }
    s
}

/// Packed work-item ids of the lanes that start at flat id `first`: x in bits 0-9, y in 10-19, z
/// in 20-29, y and z only if enabled.
fn work_item_ids(block: [u32; 3], dimensions: u32, first: u32) -> Lanes {
    let mut ids = Lanes::ZERO;
    for (lane, id) in (first..).zip(&mut ids.0) {
        let (x, y, z) = (lane % block[0], lane / block[0] % block[1], lane / block[0] / block[1]);
        *id =
            x | if dimensions > 0 { y << 10 } else { 0 } | if dimensions > 1 { z << 20 } else { 0 };
    }
    ids
}
