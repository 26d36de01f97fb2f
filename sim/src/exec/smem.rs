//! Scalar memory instructions: loads through the scalar cache, the clock, cache control.
//!
//! Goes in: a wave with an address in scalar registers, and device memory. Comes out: the loaded
//! scalar registers and the access in [`Ctx::access`]. Scalar stores and atomics are not executed:
//! the targets' compilers do not emit them.

use super::buffer::Resource;
use super::global::{scalar_offset, unimplemented};
use super::operand::scalar64;
use super::{Ctx, MemKind, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Op, Operand};

/// Executes a SMEM instruction.
pub fn execute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    ctx.access.kind = MemKind::None;
    match inst.op {
        Op::SLoadDword
        | Op::SLoadDwordx2
        | Op::SLoadDwordx4
        | Op::SLoadDwordx8
        | Op::SLoadDwordx16 => load(wave, ctx, inst),
        Op::SBufferLoadDword
        | Op::SBufferLoadDwordx2
        | Op::SBufferLoadDwordx4
        | Op::SBufferLoadDwordx8
        | Op::SBufferLoadDwordx16 => buffer_load(wave, ctx, inst),
        Op::SMemtime | Op::SMemrealtime => {
            let words = [ctx.clock as u32, (ctx.clock >> 32) as u32];
            registers(wave, inst)?.copy_from_slice(&words);
            Ok(())
        }
        Op::SDcacheInv
        | Op::SDcacheWb
        | Op::SDcacheInvVol
        | Op::SDcacheWbVol
        | Op::SDcacheDiscard
        | Op::SDcacheDiscardX2 => Ok(()),
        _ => Err(unimplemented(inst)),
    }
}

/// The destination registers.
fn registers<'a>(wave: &'a mut Wave, inst: &Inst) -> Result<&'a mut [u32], FaultKind> {
    let count = usize::from(inst.op.info().dst.dwords());
    match inst.dst {
        Operand::Sgpr(n) => wave.sgpr.get_mut(usize::from(n)..usize::from(n) + count),
        _ => None,
    }
    .ok_or_else(|| FaultKind::NoRegister { register: format!("{:?}", inst.dst) })
}

/// Offset in bytes: the scalar register plus the immediate.
fn offset(wave: &Wave, inst: &Inst) -> u64 {
    u64::from(scalar_offset(wave, inst.src[1])).wrapping_add(i64::from(inst.imm) as u64)
}

fn load(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let addr = scalar64(wave, inst.src[0]).wrapping_add(offset(wave, inst)) & !3;
    let dst = registers(wave, inst)?;
    record(ctx, addr, 4 * dst.len());
    read(ctx, addr, dst)
}

/// A load through a buffer resource; dwords out of range are zero.
fn buffer_load(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let resource = Resource::read(wave, inst.src[0])?;
    let offset = offset(wave, inst) & !3;
    let size = u64::from(resource.num_records) * u64::from(resource.stride.max(1));
    let dst = registers(wave, inst)?;
    let inside = (size.saturating_sub(offset) / 4).min(dst.len() as u64) as usize;
    dst.fill(0);
    let addr = resource.base.wrapping_add(offset);
    record(ctx, addr, 4 * inside);
    read(ctx, addr, &mut dst[..inside])
}

fn record(ctx: &mut Ctx<'_>, addr: u64, bytes: usize) {
    ctx.access.kind = MemKind::Scalar;
    ctx.access.mask = 1;
    ctx.access.bytes = bytes as u32;
    ctx.access.addr[0] = addr;
    ctx.access.two = false;
}

fn read(ctx: &Ctx<'_>, addr: u64, dst: &mut [u32]) -> Result<(), FaultKind> {
    let mut bytes = [0; 64];
    let bytes = &mut bytes[..4 * dst.len()];
    if !ctx.mem.read(addr, bytes) {
        return Err(FaultKind::OutOfBounds { lane: 0, addr, bytes: bytes.len() as u32 });
    }
    for (word, bytes) in dst.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
