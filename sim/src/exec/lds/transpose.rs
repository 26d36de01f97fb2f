//! `ds_read_b64_tr_b16/b8/b4` and `ds_read_b96_tr_b6` of gfx950: reads that transpose, so that a
//! matrix stored with its rows of 16 contiguous becomes a matrix operand with its inner dimension
//! contiguous in each lane.
//!
//! Each 16 lanes work together. Together they read rows of 16 elements, `16 / elements` lanes a
//! row; lane i gets element i of each row.

use super::{begin, locate, offset16};
use crate::exec::access::each_lane;
use crate::exec::operand::vector_index;
use crate::exec::{Ctx, MemKind, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::Inst;

/// Executes a transposing read of elements of `bits` bits.
pub(super) fn read(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    bits: usize,
) -> Result<(), FaultKind> {
    let bytes = if bits == 6 { 12 } else { 8 };
    let (elements, n) = (bytes as usize * 8 / bits, bytes as usize / 4);
    let dst = vector_index(wave, inst.dst, n)?;
    begin(&mut ctx.access, wave, MemKind::LdsRead, bytes);
    locate(wave, inst, &mut ctx.access.addr, offset16(inst), bytes, ctx.lds.len())?;
    let mask = wave.exec();
    let mut raw = [0u128; WAVE];
    each_lane(mask, |lane| {
        let at = ctx.access.addr[lane] as usize;
        let mut word = [0; 16];
        word[..bytes as usize].copy_from_slice(&ctx.lds[at..at + bytes as usize]);
        raw[lane] = u128::from_le_bytes(word);
    });
    let element_mask = (1u128 << bits) - 1;
    let lanes_per_row = 16 / elements;
    each_lane(mask, |lane| {
        let (group, i) = (lane & !15, lane & 15);
        let mut out = 0u128;
        for row in 0..elements {
            let from = raw[group + row * lanes_per_row + i / elements];
            out |= (from >> (i % elements * bits) & element_mask) << (row * bits);
        }
        for r in 0..n {
            wave.vgpr[dst + r].0[lane] = (out >> (32 * r)) as u32;
        }
    });
    Ok(())
}
