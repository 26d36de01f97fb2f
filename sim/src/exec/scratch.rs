//! Scratch instructions: private memory of each lane.
//!
//! A lane's bytes lie one after another in [`Wave::scratch`], lane after lane; waves never share.
//! An offset past a lane's allocation is a fault.

use super::access::Spec;
use super::global::{begin, move_data, scalar_offset};
use super::operand::vector_index;
use super::{Ctx, PRIVATE_APERTURE, WAVE, Wave, access};
use crate::fault::FaultKind;
use crate::isa::{Inst, Operand};

/// Executes a SCRATCH instruction: offset = vector + scalar + immediate, each optional.
pub(super) fn execute(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
) -> Result<(), FaultKind> {
    begin(wave, ctx, inst, spec);
    let base = i64::from(scalar_offset(wave, inst.src[2])) + i64::from(inst.imm);
    let vector = match inst.src[0] {
        Operand::None => None,
        operand => Some(wave.vgpr[vector_index(wave, operand, 1)?]),
    };
    let mut at = [std::ptr::null_mut(); WAVE];
    for lane in access::lanes(wave.exec()) {
        let offset = base + vector.map_or(0, |v| i64::from(v.0[lane]));
        // Negative offsets become huge ones and fail the check.
        at[lane] = pointer(wave, lane, offset as u64, spec.bytes)?;
        ctx.access.addr[lane] = timing_address(wave, lane, offset as u64);
    }
    // SAFETY: `pointer` checked every active lane; scratch is a separate allocation from the
    // registers and nothing else touches it meanwhile.
    unsafe { move_data(wave, ctx, inst, spec, inst.dst, inst.src[1], |lane| at[lane]) }
}

/// Host address of a lane's private byte `offset`, with `bytes` bytes behind it.
pub(super) fn pointer(
    wave: &mut Wave,
    lane: usize,
    offset: u64,
    bytes: u32,
) -> Result<*mut u8, FaultKind> {
    let stride = u64::from(wave.scratch_stride);
    if offset.checked_add(u64::from(bytes)).is_none_or(|end| end > stride) {
        let addr = PRIVATE_APERTURE.wrapping_add(offset);
        return Err(FaultKind::OutOfBounds { lane: lane as u8, addr, bytes });
    }
    let at = lane as u64 * stride + offset;
    Ok(wave.scratch.as_mut_ptr().wrapping_add(at as usize))
}

/// Address of a private byte as the caches see it: the hardware interleaves the lanes' dwords.
pub(super) fn timing_address(wave: &Wave, lane: usize, offset: u64) -> u64 {
    let wave_base = u64::from(wave.id) * u64::from(wave.scratch_stride) * WAVE as u64;
    PRIVATE_APERTURE + wave_base + offset / 4 * 4 * WAVE as u64 + lane as u64 * 4 + offset % 4
}
