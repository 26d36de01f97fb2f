//! Vector memory: flat, global, scratch and buffer instructions.
//!
//! Goes in: a wave with addresses and data in its registers, device memory, LDS and the wave's
//! scratch. Comes out: the same, changed, and the access in [`Ctx::access`]. Unaligned loads and
//! stores are allowed; atomics must be aligned. A lane outside every allocation is a fault, found
//! before any lane moves data.

use super::access::{self, Action, Spec, each_lane};
use super::host::for_host;
use super::operand::{scalar32, scalar64, vector_index};
use super::program::Code;
use super::span::Span;
use super::step::{Handler, Step};
use super::{
    Ctx, Flow, Lanes, MemKind, PRIVATE_APERTURE, SHARED_APERTURE, WAVE, Wave, buffer, scratch, span,
};
use crate::fault::FaultKind;
use crate::isa::{Arch, Enc, Inst, Operand, reg};
use crate::memory::AddressSpace;

/// Executes a FLAT, GLOBAL, SCRATCH, MUBUF or MTBUF instruction.
#[inline(always)]
pub fn execute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst) -> Result<(), FaultKind> {
    let spec = Spec::of(inst.op);
    match (spec.action, inst.enc) {
        (Action::Control, _) => {
            ctx.access.kind = MemKind::None;
            Ok(())
        }
        (Action::Other, _) | (_, Enc::Mtbuf) => Err(unimplemented(inst)),
        (_, Enc::Scratch) => scratch::execute(wave, ctx, inst, spec),
        (_, Enc::Mubuf) => buffer::execute(wave, ctx, inst, spec),
        (_, Enc::Flat) => flat(wave, ctx, inst, spec),
        _ => global(wave, ctx, inst, spec),
    }
}

/// The handler of a FLAT, GLOBAL, SCRATCH, MUBUF or MTBUF instruction.
pub(super) fn handler(inst: &Inst) -> Handler {
    let spec = Spec::of(inst.op);
    let load = matches!(spec.action, Action::Load { .. });
    let plain = spec == Spec::plain(spec.bytes, load) && !inst.mods.lds;
    match (inst.enc, spec.bytes, load) {
        (Enc::Mubuf, 4, true) if plain => for_host!(buffer_of::<4, true>),
        (Enc::Mubuf, 8, true) if plain => for_host!(buffer_of::<8, true>),
        (Enc::Mubuf, 16, true) if plain => for_host!(buffer_of::<16, true>),
        (Enc::Mubuf, 4, false) if plain => for_host!(buffer_of::<4, false>),
        (Enc::Mubuf, 8, false) if plain => for_host!(buffer_of::<8, false>),
        (Enc::Mubuf, 16, false) if plain => for_host!(buffer_of::<16, false>),
        (Enc::Global, 4, true) if plain => for_host!(global_of::<4, true>),
        (Enc::Global, 8, true) if plain => for_host!(global_of::<8, true>),
        (Enc::Global, 16, true) if plain => for_host!(global_of::<16, true>),
        (Enc::Global, 4, false) if plain => for_host!(global_of::<4, false>),
        (Enc::Global, 8, false) if plain => for_host!(global_of::<8, false>),
        (Enc::Global, 16, false) if plain => for_host!(global_of::<16, false>),
        _ => for_host!(any),
    }
}

#[inline(always)]
fn any(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    execute(wave, ctx, inst)?;
    Ok(Flow::Next)
}

/// A MUBUF instruction that loads (`LOAD`) or stores so many bytes of a lane.
#[inline(always)]
fn buffer_of<const BYTES: u32, const LOAD: bool>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    _: &Code,
) -> Step {
    buffer::execute(wave, ctx, inst, Spec::plain(BYTES, LOAD))?;
    Ok(Flow::Next)
}

/// The same for GLOBAL.
#[inline(always)]
fn global_of<const BYTES: u32, const LOAD: bool>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    _: &Code,
) -> Step {
    global(wave, ctx, inst, Spec::plain(BYTES, LOAD))?;
    Ok(Flow::Next)
}

#[cold]
pub(super) fn unimplemented(inst: &Inst) -> FaultKind {
    FaultKind::Unimplemented { text: inst.op.info().name.to_owned() }
}

/// Whether the loaded data goes to LDS instead of registers.
#[inline]
pub(super) fn to_lds(inst: &Inst, spec: Spec) -> bool {
    inst.mods.lds || spec.to_lds
}

/// Starts the record of an access by the active lanes; its addresses are filled in by the caller.
#[inline(always)]
pub(super) fn begin(wave: &Wave, ctx: &mut Ctx<'_>, inst: &Inst, spec: Spec) {
    ctx.access.kind = match spec.action {
        Action::Load { .. } if to_lds(inst, spec) => MemKind::LoadToLds,
        Action::Load { .. } => MemKind::Load,
        Action::Store { .. } => MemKind::Store,
        Action::Atomic(_) => MemKind::Atomic,
        Action::Control | Action::Other => MemKind::None,
    };
    ctx.access.mask = wave.exec();
    ctx.access.bytes = spec.bytes;
    ctx.access.two = false;
}

/// Addresses of a 64-bit vector address pair plus the offset.
#[inline(always)]
fn vector_addresses(wave: &Wave, inst: &Inst, addr: &mut [u64; WAVE]) -> Result<(), FaultKind> {
    let first = vector_index(wave, inst.src[0], 2)?;
    let (low, high) = (&wave.vgpr[first].0, &wave.vgpr[first + 1].0);
    let offset = i64::from(inst.imm) as u64;
    for lane in 0..WAVE {
        let base = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        addr[lane] = base.wrapping_add(offset);
    }
    Ok(())
}

#[inline(always)]
fn global(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, spec: Spec) -> Result<(), FaultKind> {
    begin(wave, ctx, inst, spec);
    let operands = [inst.dst, inst.src[1]];
    let offset = i64::from(inst.imm) as u64;
    if inst.src[2] == Operand::None {
        let first = vector_index(wave, inst.src[0], 2)?;
        let (offsets, high) = (wave.vgpr[first], &wave.vgpr[first + 1]);
        let same = high.0.iter().fold(0, |other, x| other | (x ^ high.0[0])) == 0;
        let base = (u64::from(high.0[0]) << 32).wrapping_add(offset);
        let span = Span { base, offsets, limit: u64::MAX };
        if same && span::transfer(wave, ctx, inst, spec, operands, &span)? {
            return Ok(());
        }
        vector_addresses(wave, inst, &mut ctx.access.addr)?;
    } else {
        let base = scalar64(wave, inst.src[2]).wrapping_add(offset);
        let offsets = wave.vgpr[vector_index(wave, inst.src[0], 1)?];
        let span = Span { base, offsets, limit: u64::MAX };
        if span::transfer(wave, ctx, inst, spec, operands, &span)? {
            return Ok(());
        }
        for (addr, offset) in ctx.access.addr.iter_mut().zip(&offsets.0) {
            *addr = base.wrapping_add(u64::from(*offset));
        }
    }
    perform(wave, ctx, inst, spec, inst.dst, inst.src[1])
}

/// A flat access: each lane goes to LDS, private or global memory by its address.
fn flat(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, spec: Spec) -> Result<(), FaultKind> {
    begin(wave, ctx, inst, spec);
    vector_addresses(wave, inst, &mut ctx.access.addr)?;
    let window = |aperture: u64| {
        let lanes = ctx.access.addr.iter().enumerate();
        lanes.fold(0, |m, (l, a)| m | u64::from(a >> 32 == aperture >> 32) << l)
    };
    let mask = wave.exec();
    let shared = mask & window(SHARED_APERTURE);
    let private = mask & window(PRIVATE_APERTURE);
    if shared | private == 0 {
        return perform(wave, ctx, inst, spec, inst.dst, inst.src[1]);
    }
    // Every lane gets a host pointer of its own kind of memory, then all move together.
    let mut at = locate(ctx.mem, &ctx.access.addr, spec.bytes, mask & !shared & !private)?
        .all(&ctx.access.addr, mask & !shared & !private);
    let lds = ctx.lds.as_mut_ptr();
    for lane in access::lanes(shared) {
        let offset = ctx.access.addr[lane] & 0xffff_ffff;
        if offset + u64::from(spec.bytes) > ctx.lds.len() as u64 {
            let size = ctx.lds.len() as u32;
            return Err(FaultKind::LdsOutOfBounds { lane: lane as u8, offset, size });
        }
        at[lane] = lds.wrapping_add(offset as usize);
    }
    for lane in access::lanes(private) {
        let offset = ctx.access.addr[lane] & 0xffff_ffff;
        at[lane] = scratch::pointer(wave, lane, offset, spec.bytes)?;
        ctx.access.addr[lane] = scratch::timing_address(wave, lane, offset);
    }
    // SAFETY: each active lane's pointer was checked in its own memory; scratch is a separate
    // allocation from the registers.
    unsafe { move_data(wave, ctx, inst, spec, inst.dst, inst.src[1], |lane| at[lane]) }
}

/// Host addresses of the active lanes of an access to device memory.
pub(super) enum Located {
    /// All in one allocation: host address of device address 0, modulo 2^64.
    One(*mut u8),
    /// Anywhere.
    Each(Box<[*mut u8; WAVE]>),
}

impl Located {
    fn all(self, addr: &[u64; WAVE], mask: u64) -> Box<[*mut u8; WAVE]> {
        match self {
            Located::Each(at) => at,
            Located::One(zero) => {
                let mut at = Box::new([std::ptr::null_mut(); WAVE]);
                each_lane(mask, |l| at[l] = zero.wrapping_add(addr[l] as usize));
                at
            }
        }
    }
}

/// Finds the active lanes' memory; a lane that leaves its allocation is a fault.
#[inline(always)]
pub(super) fn locate(
    mem: &AddressSpace,
    addr: &[u64; WAVE],
    bytes: u32,
    mask: u64,
) -> Result<Located, FaultKind> {
    let (mut min, mut max) = (u64::MAX, 0);
    each_lane(mask, |lane| {
        min = min.min(addr[lane]);
        max = max.max(addr[lane]);
    });
    if mask == 0 {
        return Ok(Located::One(std::ptr::null_mut()));
    }
    if let Some(region) = mem.region(min) {
        let span = (max - min).checked_add(u64::from(bytes));
        if span.is_some_and(|span| region.contains(min, span)) {
            return Ok(Located::One(region.at(min).wrapping_sub(min as usize)));
        }
    }
    let mut at = Box::new([std::ptr::null_mut(); WAVE]);
    for lane in access::lanes(mask) {
        let region = mem.region(addr[lane]).filter(|r| r.contains(addr[lane], u64::from(bytes)));
        let Some(region) = region else {
            return Err(FaultKind::OutOfBounds { lane: lane as u8, addr: addr[lane], bytes });
        };
        at[lane] = region.at(addr[lane]);
    }
    Ok(Located::Each(at))
}

/// Moves the data of the recorded access, whose addresses are device addresses.
#[inline(always)]
pub(super) fn perform(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    dst: Operand,
    data: Operand,
) -> Result<(), FaultKind> {
    let addr = ctx.access.addr;
    // SAFETY: `locate` checked every active lane, and device memory is apart from the registers.
    unsafe {
        match locate(ctx.mem, &addr, spec.bytes, ctx.access.mask)? {
            Located::One(zero) => move_data(wave, ctx, inst, spec, dst, data, |lane| {
                zero.wrapping_add(addr[lane] as usize)
            }),
            Located::Each(at) => move_data(wave, ctx, inst, spec, dst, data, |lane| at[lane]),
        }
    }
}

/// Moves the data of an access whose lanes have been located.
///
/// # Safety
/// For every lane of `ctx.access.mask`, `at(lane)` points to `spec.bytes` valid bytes outside the
/// wave's registers.
#[inline(always)]
pub(super) unsafe fn move_data(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    dst: Operand,
    data: Operand,
    at: impl Fn(usize) -> *mut u8,
) -> Result<(), FaultKind> {
    let (mask, n) = (ctx.access.mask, spec.dwords());
    match spec.action {
        Action::Load { .. } if to_lds(inst, spec) => {
            // SAFETY: by contract.
            unsafe { load_to_lds(wave, ctx, inst, spec, |lane| at(lane).cast_const()) }
        }
        Action::Load { .. } => {
            let first = vector_index(wave, dst, n)?;
            let regs = &mut wave.vgpr[first..first + n];
            // SAFETY: by contract.
            unsafe { access::load(regs, spec, mask, |lane| at(lane).cast_const()) };
            Ok(())
        }
        Action::Store { .. } => {
            let first = vector_index(wave, data, n)?;
            // SAFETY: by contract.
            unsafe { access::store(&wave.vgpr[first..first + n], spec, mask, at) };
            Ok(())
        }
        Action::Atomic(op) => {
            let align = spec.bytes;
            if let Some(lane) =
                access::lanes(mask).find(|&l| !ctx.access.addr[l].is_multiple_of(u64::from(align)))
            {
                let addr = ctx.access.addr[lane];
                return Err(FaultKind::Misaligned { lane: lane as u8, addr, align });
            }
            let words = if op == super::atomic::AtomicOp::Cmpswap { 2 * n } else { n };
            let first = vector_index(wave, data, words)?;
            let back = if inst.mods.sc0 { Some(vector_index(wave, dst, n)?) } else { None };
            // SAFETY: by contract; device allocations are aligned to 16 bytes and more, so the host
            // address is as aligned as the device address.
            let old = unsafe {
                access::update(&wave.vgpr[first..first + words], op, spec.bytes, mask, at)
            };
            if let Some(back) = back {
                access::write_old(&mut wave.vgpr[back..back + n], &old, mask);
            }
            Ok(())
        }
        Action::Control | Action::Other => Ok(()),
    }
}

/// LDS offset of lane 0 of a load to LDS: M0 plus the instruction's offset, which counts for both
/// addresses. Lanes follow each other whether active or not.
pub(super) fn lds_base(wave: &Wave, arch: Arch, inst: &Inst) -> u64 {
    let m0 = wave.sgpr[reg::M0 as usize];
    // gfx942 has 64 KiB of LDS and reads 16 bits of M0.
    let m0 = if arch == Arch::Gfx942 { m0 & 0xffff } else { m0 };
    u64::from(m0).wrapping_add(i64::from(inst.imm) as u64)
}

/// Loads to LDS: lane l's data goes to `lds_base + l * size`, sub-dword data extended to a dword.
///
/// # Safety
/// As for [`move_data`].
pub(super) unsafe fn load_to_lds(
    wave: &Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    at: impl Fn(usize) -> *const u8,
) -> Result<(), FaultKind> {
    let n = spec.dwords();
    let mut data = [Lanes::ZERO; 4];
    // SAFETY: by contract.
    unsafe { access::load(&mut data[..n], spec, ctx.access.mask, at) };
    write_lds(wave, ctx, inst, &data[..n], ctx.access.mask)
}

/// Writes the registers `data` of the lanes in `mask` to LDS as a load to LDS does.
pub(super) fn write_lds(
    wave: &Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    data: &[Lanes],
    mask: u64,
) -> Result<(), FaultKind> {
    let (base, bytes) = (lds_base(wave, ctx.program.arch, inst), 4 * data.len());
    let size = ctx.lds.len();
    for lane in access::lanes(mask) {
        let offset = base.wrapping_add((lane * bytes) as u64);
        let slot = usize::try_from(offset)
            .ok()
            .and_then(|start| ctx.lds.get_mut(start..start.checked_add(bytes)?));
        let Some(slot) = slot else {
            return Err(FaultKind::LdsOutOfBounds { lane: lane as u8, offset, size: size as u32 });
        };
        for (word, reg) in slot.chunks_exact_mut(4).zip(data) {
            word.copy_from_slice(&reg.0[lane].to_le_bytes());
        }
    }
    Ok(())
}

/// A scalar offset operand; absent ones are zero.
pub(super) fn scalar_offset(wave: &Wave, operand: Operand) -> u32 {
    if operand == Operand::None { 0 } else { scalar32(wave, operand) }
}

#[cfg(test)]
mod tests;
