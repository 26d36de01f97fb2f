//! Reads and writes of all lanes that stay inside the LDS: no lane has to be looked at by itself.
//!
//! Goes in: an instruction and a wave. Comes out: offsets for all lanes or the access itself, or word that
//! this is not such an access.

use super::{begin, data, execute, offset16};
use crate::exec::access::{self, Action, Spec};
use crate::exec::host::for_host;
use crate::exec::operand::vector_index;
use crate::exec::program::Code;
use crate::exec::step::{Handler, Step};
use crate::exec::{Ctx, Flow, Lanes, MemAccess, MemKind, WAVE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Inst, Op};

/// The handler of a read or write of whole dwords, which kernels use most.
pub(in crate::exec) fn handler(inst: &Inst) -> Option<Handler> {
    if inst.mods.gds {
        return None;
    }
    Some(match inst.op {
        Op::DsReadB32 => for_host!(single::<4, true>),
        Op::DsReadB64 => for_host!(single::<8, true>),
        Op::DsReadB128 => for_host!(single::<16, true>),
        Op::DsWriteB32 => for_host!(single::<4, false>),
        Op::DsWriteB64 => for_host!(single::<8, false>),
        Op::DsWriteB128 => for_host!(single::<16, false>),
        _ => return None,
    })
}

/// Executes a read (`LOAD`) or write of so many bytes.
#[inline(always)]
fn single<const BYTES: u32, const LOAD: bool>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    _: &Code,
) -> Step {
    let kind = if LOAD { MemKind::LdsRead } else { MemKind::LdsWrite };
    begin(&mut ctx.access, wave, kind, BYTES);
    if !single_whole(wave, ctx, inst, Spec::plain(BYTES, LOAD))? {
        general(wave, ctx, inst)?;
    }
    Ok(Flow::Next)
}

#[inline(never)]
fn general(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    execute(wave, ctx, inst)
}

/// Puts the LDS offsets of an access of all lanes into `at`, and into `addr` if somebody wants to know
/// them; false if it is something else, or leaves an LDS of `size` bytes.
#[inline(always)]
fn whole(
    wave: &Wave,
    inst: &Inst,
    [offset, bytes, size]: [usize; 3],
    at: &mut Lanes,
    addr: Option<&mut [u64; WAVE]>,
) -> Result<bool, FaultKind> {
    if wave.exec() != u64::MAX {
        return Ok(false);
    }
    let base = &wave.vgpr[vector_index(wave, inst.src[0], 1)?].0;
    let mut max = 0;
    for (at, base) in at.0.iter_mut().zip(base) {
        *at = base.wrapping_add(offset as u32);
        max = max.max(*at);
    }
    if let Some(addr) = addr {
        addr.iter_mut().zip(&at.0).for_each(|(addr, at)| *addr = u64::from(*at));
    }
    Ok(max as usize + bytes <= size)
}

/// [`whole`] for both addresses of a read2 or write2.
#[inline(always)]
pub(super) fn both_whole(
    wave: &Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    offsets: [u64; 2],
    bytes: u32,
    [a, b]: [&mut Lanes; 2],
) -> Result<bool, FaultKind> {
    let place = |offset: u64| [offset as usize, bytes as usize, ctx.lds.len()];
    let places = offsets.map(place);
    let MemAccess { wanted, addr, addr2, .. } = &mut ctx.access;
    Ok(whole(wave, inst, places[0], a, wanted.then_some(addr))?
        && whole(wave, inst, places[1], b, wanted.then_some(addr2))?)
}

/// [`super::single`] for loads and stores of all lanes; false if it is something else.
#[inline(always)]
pub(super) fn single_whole(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
) -> Result<bool, FaultKind> {
    let n = spec.dwords();
    let mut at = Lanes::ZERO;
    let place = [offset16(inst) as usize, spec.bytes as usize, ctx.lds.len()];
    let MemAccess { wanted, addr, .. } = &mut ctx.access;
    if !whole(wave, inst, place, &mut at, wanted.then_some(addr))? {
        return Ok(false);
    }
    let lds = ctx.lds.as_mut_ptr();
    // SAFETY: every lane's bytes lie in the LDS.
    unsafe {
        match spec.action {
            Action::Load { .. } => {
                let dst = vector_index(wave, inst.dst, n)?;
                let regs = &mut wave.vgpr[dst..dst + n];
                access::load(regs, spec, u64::MAX, |l| lds.wrapping_add(at.0[l] as usize));
            }
            Action::Store { .. } => {
                let regs = data(wave, inst, 1, n)?;
                access::store(regs, spec, u64::MAX, |l| lds.wrapping_add(at.0[l] as usize));
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}
