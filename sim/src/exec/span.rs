//! Accesses of a whole wave that lie in one allocation: no lane has to be looked at by itself.
//!
//! Goes in: a base address and a 32-bit offset per lane. Comes out: the data moved, or word that this
//! is not such an access, with nothing done.

use super::access::{self, Action, Spec};
use super::global::to_lds;
use super::operand::vector_index;
use super::vector::mask;
use super::{Ctx, Lanes, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Operand};

/// Where the lanes access memory.
pub(super) struct Span {
    pub base: u64,
    pub offsets: Lanes,
    /// The first offset that is out of range.
    pub limit: u64,
}

/// Loads `dst` or stores `data`; false if it is not such an access.
#[inline(always)]
pub(super) fn transfer(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    [dst, data]: [Operand; 2],
    span: &Span,
) -> Result<bool, FaultKind> {
    let load = match spec.action {
        Action::Load { .. } if !to_lds(inst, spec) => true,
        Action::Store { .. } => false,
        _ => return Ok(false),
    };
    if wave.exec() != u64::MAX {
        return Ok(false);
    }
    let Span { base, ref offsets, limit } = *span;
    let (min, max) = range(offsets);
    let end = u64::from(max) + u64::from(spec.bytes);
    if end > limit {
        return if load { masked_load(wave, ctx, spec, dst, span) } else { Ok(false) };
    }
    let Some(first) = base.checked_add(u64::from(min)) else { return Ok(false) };
    let Some(region) = ctx.mem.range(first, end - u64::from(min)) else { return Ok(false) };
    let zero = region.at(first).wrapping_sub(min as usize);
    if ctx.access.wanted {
        for (addr, offset) in ctx.access.addr.iter_mut().zip(&offsets.0) {
            *addr = base + u64::from(*offset);
        }
    }
    let n = spec.dwords();
    let at = |lane: usize| zero.wrapping_add(offsets.0[lane] as usize);
    // Offsets that wrap would follow each other too, and end beyond what was looked up.
    let in_a_row = spec.bytes == 4 && max - min == 4 * (WAVE as u32 - 1) && consecutive(offsets);
    // SAFETY: the bytes from the first lane's to the last lane's lie in one allocation, which is
    // apart from the registers; consecutive dwords of all lanes are as long as a register.
    unsafe {
        if load {
            let first = vector_index(wave, dst, n)?;
            match &mut wave.vgpr[first..first + n] {
                [reg] if in_a_row => *reg = Lanes(at(0).cast::<[u32; WAVE]>().read_unaligned()),
                regs => access::load(regs, spec, u64::MAX, |lane| at(lane).cast_const()),
            }
        } else {
            let first = vector_index(wave, data, n)?;
            match &wave.vgpr[first..first + n] {
                [reg] if in_a_row => at(0).cast::<[u32; WAVE]>().write_unaligned(reg.0),
                regs => access::store(regs, spec, u64::MAX, at),
            }
        }
    }
    Ok(true)
}

/// [`transfer`] of a load with lanes out of range, which load zeros. Lanes that are partly in range
/// are left to the general path.
#[inline(always)]
fn masked_load(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    spec: Spec,
    dst: Operand,
    span: &Span,
) -> Result<bool, FaultKind> {
    let Span { base, ref offsets, limit } = *span;
    let Some(last) = limit.checked_sub(spec.bytes.max(4).into()) else { return Ok(false) };
    let [last, partly] = [last, limit - 4].map(|last| u32::try_from(last).unwrap_or(u32::MAX));
    // All ones in the lanes in range.
    let mut inside = Lanes::ZERO;
    let (mut min, mut max, mut general) = (u32::MAX, 0, spec.bytes < 4);
    for (inside, &offset) in inside.0.iter_mut().zip(&offsets.0) {
        *inside = u32::from(offset <= last).wrapping_neg();
        min = min.min(offset | !*inside);
        max = max.max(offset & *inside);
        general |= offset > last && offset <= partly;
    }
    if general || min > max {
        return Ok(false);
    }
    let bytes = u64::from(max - min) + u64::from(spec.bytes);
    let Some(first) = base.checked_add(min.into()) else { return Ok(false) };
    let Some(region) = ctx.mem.range(first, bytes) else { return Ok(false) };
    let zero = region.at(first).wrapping_sub(min as usize);
    // Lanes out of range load what the first one in range does, and drop it.
    let mut from = *offsets;
    for (from, inside) in from.0.iter_mut().zip(&inside.0) {
        *from = *from & inside | min & !inside;
    }
    if ctx.access.wanted {
        ctx.access.mask = mask::gather(&inside);
        for (addr, offset) in ctx.access.addr.iter_mut().zip(&offsets.0) {
            *addr = base.wrapping_add(u64::from(*offset));
        }
    }
    let n = spec.dwords();
    let to = vector_index(wave, dst, n)?;
    let regs = &mut wave.vgpr[to..to + n];
    let at = |lane: usize| zero.wrapping_add(from.0[lane] as usize).cast_const();
    // SAFETY: all lanes read from one allocation apart from the registers.
    unsafe { access::load(regs, spec, u64::MAX, at) };
    for reg in regs {
        for (word, inside) in reg.0.iter_mut().zip(&inside.0) {
            *word &= inside;
        }
    }
    Ok(true)
}

/// The smallest and largest offset.
#[inline(always)]
fn range(offsets: &Lanes) -> (u32, u32) {
    let min = offsets.0.iter().fold(u32::MAX, |min, &offset| offset.min(min));
    (min, offsets.0.iter().fold(0, |max, &offset| offset.max(max)))
}

/// Whether each lane's dword follows that of the lane before, modulo 4 GiB.
#[inline(always)]
fn consecutive(offsets: &Lanes) -> bool {
    let lanes = (0..WAVE as u32).zip(&offsets.0);
    lanes.fold(0, |far, (lane, offset)| far | (offset ^ offsets.0[0].wrapping_add(4 * lane))) == 0
}
