//! Lane exchanges through the LDS crossbar: `ds_bpermute_b32`, `ds_permute_b32`, `ds_swizzle_b32`.
//! They touch no memory. Semantics are the ISA document's pseudocode.

use super::{begin, data, offset16};
use crate::exec::access::each_lane;
use crate::exec::operand::vector_index;
use crate::exec::vector::mask;
use crate::exec::{Ctx, Lanes, MemKind, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::Inst;

/// Lane that an address of a permutation names; its high bits do not count.
fn lane_of(address: u32, offset: u64) -> usize {
    (address.wrapping_add(offset as u32) / 4) as usize % WAVE
}

/// Each lane reads the lane its address names, or zero if that one is inactive.
pub(super) fn bpermute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let (address, source) = (&data(wave, inst, 0, 1)?[0].0, &data(wave, inst, 1, 1)?[0].0);
    let (mask, offset) = (wave.exec(), offset16(inst));
    let value: [u32; WAVE] = std::array::from_fn(|lane| {
        let from = lane_of(address[lane], offset);
        if mask >> from & 1 == 1 { source[from] } else { 0 }
    });
    finish(wave, ctx, inst, &value)
}

/// Each active lane writes to the lane its address names; the highest one wins, and lanes that
/// nobody names get zero.
pub(super) fn permute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let (address, source) = (&data(wave, inst, 0, 1)?[0].0, &data(wave, inst, 1, 1)?[0].0);
    let offset = offset16(inst);
    let mut value = [0; WAVE];
    each_lane(wave.exec(), |lane| value[lane_of(address[lane], offset)] = source[lane]);
    finish(wave, ctx, inst, &value)
}

/// A fixed pattern from the offset field.
pub(super) fn swizzle(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let source = &data(wave, inst, 0, 1)?[0].0;
    let (mask, pattern) = (wave.exec(), offset16(inst) as usize);
    let value: [u32; WAVE] = std::array::from_fn(|lane| {
        let from = swizzle_source(pattern, lane);
        if mask >> from & 1 == 1 { source[from] } else { 0 }
    });
    finish(wave, ctx, inst, &value)
}

/// Lane that `lane` reads under a swizzle pattern.
pub(super) fn swizzle_source(pattern: usize, lane: usize) -> usize {
    let (half, lane) = (lane & 32, lane & 31);
    let low = pattern & 0x1f;
    let middle = pattern >> 5 & 0x1f;
    half + match pattern {
        // FFT: reverse the bits below the mask.
        0xe000.. => {
            let reversed = (lane as u8).reverse_bits() as usize >> 3;
            (reversed >> low.count_ones()) | (lane & low)
        }
        // Rotate within the groups that the mask leaves free.
        0xc000.. => {
            let by = if pattern >> 10 & 1 == 1 { 32 - middle } else { middle };
            (lane & low) | (((lane + by) % 32) & !low & 0x1f)
        }
        // Any permutation of each four lanes.
        0x8000.. => (lane & !3) | (pattern >> (2 * (lane & 3)) & 3),
        // And, or, xor on the lane number.
        _ => ((lane & low) | middle) ^ (pattern >> 10 & 0x1f),
    }
}

fn finish(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    value: &[u32; WAVE],
) -> Result<(), FaultKind> {
    let dst = vector_index(wave, inst.dst, 1)?;
    begin(&mut ctx.access, wave, MemKind::LdsLane, 4);
    let exec = wave.exec();
    mask::merge(&mut wave.vgpr[dst], &Lanes(*value), exec);
    Ok(())
}
