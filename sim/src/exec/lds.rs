//! DS instructions: reads, writes and atomics on the workgroup's LDS, and lane exchanges through
//! its crossbar.
//!
//! Goes in: a wave with addresses and data in its registers, and the LDS. Comes out: both changed,
//! and the access in [`Ctx::access`]. An access past the allocation is a fault. Unaligned reads and
//! writes are allowed, as in the unaligned access mode of amdhsa; atomics must be aligned.

mod lane;
#[cfg(test)]
mod tests;
mod transpose;
mod whole;

use super::access::{self, Action, Spec, each_lane};
use super::atomic::AtomicOp;
use super::operand::vector_index;
use super::{Ctx, Lanes, MemAccess, MemKind, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Op, reg};
pub(super) use whole::handler;
use whole::{both_whole, single_whole};

/// Executes a DS instruction.
#[inline(always)]
pub fn execute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    if inst.mods.gds {
        return Err(unimplemented(inst, " gds"));
    }
    match inst.op {
        Op::DsNop => Ok(()),
        Op::DsBpermuteB32 => lane::bpermute(wave, ctx, inst),
        Op::DsPermuteB32 => lane::permute(wave, ctx, inst),
        Op::DsSwizzleB32 => lane::swizzle(wave, ctx, inst),
        Op::DsReadB64TrB16 => transpose::read(wave, ctx, inst, 16),
        Op::DsReadB64TrB8 => transpose::read(wave, ctx, inst, 8),
        Op::DsReadB96TrB6 => transpose::read(wave, ctx, inst, 6),
        Op::DsReadB64TrB4 => transpose::read(wave, ctx, inst, 4),
        Op::DsRead2B32 => read2(wave, ctx, inst, 4, 1),
        Op::DsRead2st64B32 => read2(wave, ctx, inst, 4, 64),
        Op::DsRead2B64 => read2(wave, ctx, inst, 8, 1),
        Op::DsRead2st64B64 => read2(wave, ctx, inst, 8, 64),
        Op::DsWrite2B32 => write2(wave, ctx, inst, 4, 1),
        Op::DsWrite2st64B32 => write2(wave, ctx, inst, 4, 64),
        Op::DsWrite2B64 => write2(wave, ctx, inst, 8, 1),
        Op::DsWrite2st64B64 => write2(wave, ctx, inst, 8, 64),
        Op::DsWrxchg2RtnB32 => exchange2(wave, ctx, inst, 4, 1),
        Op::DsWrxchg2st64RtnB32 => exchange2(wave, ctx, inst, 4, 64),
        Op::DsWrxchg2RtnB64 => exchange2(wave, ctx, inst, 8, 1),
        Op::DsWrxchg2st64RtnB64 => exchange2(wave, ctx, inst, 8, 64),
        Op::DsReadAddtidB32 | Op::DsWriteAddtidB32 => addtid(wave, ctx, inst),
        Op::DsAppend | Op::DsConsume => count(wave, ctx, inst),
        op => single(wave, ctx, inst, Spec::of(op)),
    }
}

#[cold]
fn unimplemented(inst: &Inst, what: &str) -> FaultKind {
    FaultKind::Unimplemented { text: format!("{}{what}", inst.op.info().name) }
}

/// Offset field of instructions with one address.
fn offset16(inst: &Inst) -> u64 {
    u64::from(inst.imm as u16)
}

/// The two offset fields, in elements.
fn offsets(inst: &Inst) -> [u64; 2] {
    [u64::from(inst.imm as u8), u64::from((inst.imm >> 8) as u8)]
}

/// Registers `first..first + n` of a vector operand.
fn data<'a>(wave: &'a Wave, inst: &Inst, src: usize, n: usize) -> Result<&'a [Lanes], FaultKind> {
    let first = vector_index(wave, inst.src[src], n)?;
    Ok(&wave.vgpr[first..first + n])
}

/// Fills `addr` with the lanes' LDS offsets and checks them. Base plus offset wraps at 32 bits:
/// since Sea Islands LLVM folds constants into the offset whatever the sign of the base.
#[inline(always)]
fn locate(
    wave: &Wave,
    inst: &Inst,
    addr: &mut [u64; WAVE],
    offset: u64,
    bytes: u32,
    size: usize,
) -> Result<(), FaultKind> {
    let base = &wave.vgpr[vector_index(wave, inst.src[0], 1)?].0;
    // The sum is 32 bits wide: compilers fold a negative base into the offset.
    for (addr, base) in addr.iter_mut().zip(base) {
        *addr = u64::from(base.wrapping_add(offset as u32));
    }
    check(addr, wave.exec(), bytes, size)
}

/// Checks that all active lanes stay inside an LDS of `size` bytes.
#[inline(always)]
fn check(addr: &[u64; WAVE], mask: u64, bytes: u32, size: usize) -> Result<(), FaultKind> {
    let last = (size as u64).checked_sub(u64::from(bytes));
    let max = addr.iter().fold(0, |max, &addr| addr.max(max));
    // Only where this does not hold do inactive lanes have to be left out.
    if last.is_some_and(|last| max <= last) {
        return Ok(());
    }
    let mut outside = 0u64;
    for (lane, addr) in addr.iter().enumerate() {
        outside |= u64::from(last.is_none_or(|last| *addr > last)) << lane;
    }
    match (outside & mask).trailing_zeros() {
        64 => Ok(()),
        lane => Err(FaultKind::LdsOutOfBounds {
            lane: lane as u8,
            offset: addr[lane as usize],
            size: size as u32,
        }),
    }
}

fn check_alignment(addr: &[u64; WAVE], mask: u64, align: u32) -> Result<(), FaultKind> {
    match access::lanes(mask).find(|&l| !addr[l].is_multiple_of(u64::from(align))) {
        None => Ok(()),
        Some(lane) => Err(FaultKind::Misaligned { lane: lane as u8, addr: addr[lane], align }),
    }
}

/// Starts the record of an access.
fn begin(access: &mut MemAccess, wave: &Wave, kind: MemKind, bytes: u32) {
    access.kind = kind;
    access.mask = wave.exec();
    access.bytes = bytes;
    access.two = false;
}

/// Instructions with one address and one piece of data.
#[inline(always)]
fn single(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, spec: Spec) -> Result<(), FaultKind> {
    let kind = match spec.action {
        Action::Load { .. } => MemKind::LdsRead,
        Action::Store { .. } => MemKind::LdsWrite,
        Action::Atomic(_) => MemKind::LdsAtomic,
        Action::Control | Action::Other => return Err(unimplemented(inst, "")),
    };
    let (mask, n) = (wave.exec(), spec.dwords());
    begin(&mut ctx.access, wave, kind, spec.bytes);
    if single_whole(wave, ctx, inst, spec)? {
        return Ok(());
    }
    let addr = &mut ctx.access.addr;
    locate(wave, inst, addr, offset16(inst), spec.bytes, ctx.lds.len())?;
    let lds = ctx.lds.as_mut_ptr();
    match spec.action {
        Action::Load { .. } => {
            let dst = vector_index(wave, inst.dst, n)?;
            let regs = &mut wave.vgpr[dst..dst + n];
            // SAFETY: `locate` checked that every active lane's bytes lie in the LDS.
            unsafe { access::load(regs, spec, mask, |l| lds.wrapping_add(addr[l] as usize)) };
        }
        Action::Store { .. } => {
            let regs = data(wave, inst, 1, n)?;
            // SAFETY: as above.
            unsafe { access::store(regs, spec, mask, |l| lds.wrapping_add(addr[l] as usize)) };
        }
        Action::Atomic(op) => {
            check_alignment(addr, mask, spec.bytes)?;
            let operands = operands(wave, inst, op, n)?;
            let returns = inst.op.info().dst.dwords() > 0;
            let dst = if returns { Some(vector_index(wave, inst.dst, n)?) } else { None };
            // LDS need not start at an aligned host address, and one thread runs the workgroup.
            for lane in access::lanes(mask) {
                let at = addr[lane] as usize;
                let old = update(&mut ctx.lds[at..at + spec.bytes as usize], op, |i| {
                    operands.get(i).map_or(0, |r| r.0[lane])
                });
                if let Some(dst) = dst {
                    for i in 0..n {
                        wave.vgpr[dst + i].0[lane] = (old >> (32 * i)) as u32;
                    }
                }
            }
        }
        Action::Control | Action::Other => {}
    }
    Ok(())
}

/// Operands of an atomic: the value, then the second value (compare-and-swap: what to compare).
fn operands(wave: &Wave, inst: &Inst, op: AtomicOp, n: usize) -> Result<Vec<Lanes>, FaultKind> {
    let mut order = vec![1];
    match op {
        // The first data operand is the one to compare with.
        AtomicOp::Cmpswap | AtomicOp::CmpswapF => order = vec![2, 1],
        AtomicOp::Mskor | AtomicOp::Wrap => order.push(2),
        _ => {}
    }
    let mut regs = Vec::with_capacity(4);
    for src in order {
        regs.extend_from_slice(data(wave, inst, src, n)?);
    }
    Ok(regs)
}

/// Read-modify-write of 4 or 8 bytes of LDS; `word` gives the operand words.
fn update(memory: &mut [u8], op: AtomicOp, word: impl Fn(usize) -> u32) -> u64 {
    if let Ok(bytes) = <&mut [u8; 8]>::try_from(&mut *memory) {
        let wide = |i: usize| u64::from(word(i)) | u64::from(word(i + 1)) << 32;
        let old = u64::from_le_bytes(*bytes);
        *bytes = super::atomic::apply64(op, old, wide(0), wide(2)).to_le_bytes();
        return old;
    }
    let Ok(bytes) = <&mut [u8; 4]>::try_from(memory) else { return 0 };
    let old = u32::from_le_bytes(*bytes);
    *bytes = super::atomic::apply32(op, old, word(0), word(1)).to_le_bytes();
    u64::from(old)
}

/// Locates both addresses of a read2, write2 or wrxchg2 with elements of `bytes` bytes.
fn locate2(
    wave: &Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    kind: MemKind,
    bytes: u32,
    stride: u64,
) -> Result<(), FaultKind> {
    begin(&mut ctx.access, wave, kind, bytes);
    ctx.access.two = true;
    let [a, b] = offsets(inst).map(|o| o * stride * u64::from(bytes));
    locate(wave, inst, &mut ctx.access.addr, a, bytes, ctx.lds.len())?;
    locate(wave, inst, &mut ctx.access.addr2, b, bytes, ctx.lds.len())
}

#[inline(always)]
fn read2(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    bytes: u32,
    stride: u64,
) -> Result<(), FaultKind> {
    let n = bytes as usize / 4;
    let [a, b] = offsets(inst).map(|o| o * stride * u64::from(bytes));
    let [mut at, mut at2] = [Lanes::ZERO; 2];
    if both_whole(wave, ctx, inst, [a, b], bytes, [&mut at, &mut at2])? {
        begin(&mut ctx.access, wave, MemKind::LdsRead, bytes);
        ctx.access.two = true;
        let dst = vector_index(wave, inst.dst, 2 * n)?;
        let (first, second) = wave.vgpr[dst..dst + 2 * n].split_at_mut(n);
        let lds = ctx.lds.as_ptr();
        for (regs, at) in [(first, &at), (second, &at2)] {
            let at = |l: usize| lds.wrapping_add(at.0[l] as usize);
            // SAFETY: every lane's bytes lie in the LDS.
            unsafe { access::load(regs, Spec::plain(bytes, true), u64::MAX, at) };
        }
        return Ok(());
    }
    locate2(wave, ctx, inst, MemKind::LdsRead, bytes, stride)?;
    let dst = vector_index(wave, inst.dst, 2 * n)?;
    let (mask, lds) = (wave.exec(), ctx.lds.as_ptr());
    let (first, second) = wave.vgpr[dst..dst + 2 * n].split_at_mut(n);
    for (regs, addr) in [(first, &ctx.access.addr), (second, &ctx.access.addr2)] {
        let at = |l: usize| lds.wrapping_add(addr[l] as usize);
        // SAFETY: `locate2` checked both addresses of every active lane.
        unsafe { access::load(regs, Spec::plain(bytes, true), mask, at) };
    }
    Ok(())
}

#[inline(always)]
fn write2(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    bytes: u32,
    stride: u64,
) -> Result<(), FaultKind> {
    let [a, b] = offsets(inst).map(|o| o * stride * u64::from(bytes));
    let [mut at, mut at2] = [Lanes::ZERO; 2];
    if both_whole(wave, ctx, inst, [a, b], bytes, [&mut at, &mut at2])? {
        begin(&mut ctx.access, wave, MemKind::LdsWrite, bytes);
        ctx.access.two = true;
        let lds = ctx.lds.as_mut_ptr();
        for (src, at) in [(1, &at), (2, &at2)] {
            let regs = data(wave, inst, src, bytes as usize / 4)?;
            let at = |l: usize| lds.wrapping_add(at.0[l] as usize);
            // SAFETY: every lane's bytes lie in the LDS.
            unsafe { access::store(regs, Spec::plain(bytes, false), u64::MAX, at) };
        }
        return Ok(());
    }
    locate2(wave, ctx, inst, MemKind::LdsWrite, bytes, stride)?;
    let (mask, lds) = (wave.exec(), ctx.lds.as_mut_ptr());
    for (src, addr) in [(1, &ctx.access.addr), (2, &ctx.access.addr2)] {
        let regs = data(wave, inst, src, bytes as usize / 4)?;
        let at = |l: usize| lds.wrapping_add(addr[l] as usize);
        // SAFETY: `locate2` checked both addresses of every active lane.
        unsafe { access::store(regs, Spec::plain(bytes, false), mask, at) };
    }
    Ok(())
}

fn exchange2(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    bytes: u32,
    stride: u64,
) -> Result<(), FaultKind> {
    locate2(wave, ctx, inst, MemKind::LdsAtomic, bytes, stride)?;
    let (mask, n) = (wave.exec(), bytes as usize / 4);
    check_alignment(&ctx.access.addr, mask, bytes)?;
    check_alignment(&ctx.access.addr2, mask, bytes)?;
    let dst = vector_index(wave, inst.dst, 2 * n)?;
    let new = [data(wave, inst, 1, n)?.to_vec(), data(wave, inst, 2, n)?.to_vec()];
    for lane in access::lanes(mask) {
        for (half, addr) in [ctx.access.addr[lane], ctx.access.addr2[lane]].into_iter().enumerate()
        {
            let at = addr as usize;
            let word = |i: usize| new[half].get(i).map_or(0, |r| r.0[lane]);
            let old = update(&mut ctx.lds[at..at + bytes as usize], AtomicOp::Swap, word);
            for i in 0..n {
                wave.vgpr[dst + half * n + i].0[lane] = (old >> (32 * i)) as u32;
            }
        }
    }
    Ok(())
}

/// One dword per lane at M0 + offset + 4 * lane.
fn addtid(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let read = inst.op == Op::DsReadAddtidB32;
    let kind = if read { MemKind::LdsRead } else { MemKind::LdsWrite };
    let base = u64::from(wave.sgpr[reg::M0 as usize] & 0xffff) + offset16(inst);
    begin(&mut ctx.access, wave, kind, 4);
    ctx.access.addr = std::array::from_fn(|lane| base + 4 * lane as u64);
    let (mask, addr) = (wave.exec(), &ctx.access.addr);
    check(addr, mask, 4, ctx.lds.len())?;
    let lds = ctx.lds.as_mut_ptr();
    let at = |l: usize| lds.wrapping_add(addr[l] as usize);
    if read {
        let dst = vector_index(wave, inst.dst, 1)?;
        // SAFETY: checked just above.
        unsafe {
            access::load(&mut wave.vgpr[dst..=dst], Spec::plain(4, true), mask, |l| {
                at(l).cast_const()
            })
        };
    } else {
        // SAFETY: checked just above.
        unsafe { access::store(data(wave, inst, 1, 1)?, Spec::plain(4, false), mask, at) };
    }
    Ok(())
}

/// `ds_append` and `ds_consume`: the number of active lanes is added to (taken from) the counter at
/// M0 + offset; every active lane gets its old value.
fn count(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let at = u64::from(wave.sgpr[reg::M0 as usize] & 0xffff) + offset16(inst);
    let dst = vector_index(wave, inst.dst, 1)?;
    let mask = wave.exec();
    begin(&mut ctx.access, wave, MemKind::LdsAtomic, 4);
    ctx.access.addr = [at; WAVE];
    // One access for the whole wave.
    ctx.access.mask = mask & mask.wrapping_neg();
    check(&ctx.access.addr, ctx.access.mask, 4, ctx.lds.len())?;
    check_alignment(&ctx.access.addr, ctx.access.mask, 4)?;
    if mask == 0 {
        return Ok(());
    }
    let op = if inst.op == Op::DsAppend { AtomicOp::Add } else { AtomicOp::Sub };
    let old = update(&mut ctx.lds[at as usize..at as usize + 4], op, |_| mask.count_ones());
    each_lane(mask, |lane| wave.vgpr[dst].0[lane] = old as u32);
    Ok(())
}
