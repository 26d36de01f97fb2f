//! Untyped buffer instructions (MUBUF): addressed through a 128-bit resource with a size.
//!
//! Loads out of range return zero and stores out of range are dropped; an address in range that no
//! allocation holds is a fault. Ranges follow the CDNA3 ISA document: with an index and a stride,
//! `num_records` counts strides and the whole element is in or out; otherwise it counts bytes and
//! each dword is checked by itself.

use super::access::{self, Action, Part, Spec, insert};
use super::global::{begin, perform, scalar_offset, to_lds, unimplemented, write_lds};
use super::operand::vector_index;
use super::span::Span;
use super::{Ctx, Lanes, WAVE, Wave, span};
use crate::fault::FaultKind;
use crate::isa::{Inst, Operand};

/// The fields of a buffer resource that the instructions here use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    /// 48-bit base address.
    pub base: u64,
    /// Bytes between elements, 14 bits.
    pub stride: u32,
    /// Elements or bytes.
    pub num_records: u32,
    /// Elements of neighbouring lanes are interleaved.
    pub swizzle: bool,
    /// The lane number is added to the index.
    pub add_tid: bool,
}

impl Resource {
    /// Reads the resource in four scalar registers.
    pub fn read(wave: &Wave, operand: Operand) -> Result<Self, FaultKind> {
        let words = match operand {
            Operand::Sgpr(n) => wave.sgpr.get(usize::from(n)..usize::from(n) + 4),
            _ => None,
        };
        let Some(&[w0, w1, w2, w3]) = words else {
            return Err(FaultKind::NoRegister { register: format!("{operand:?}") });
        };
        Ok(Resource {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            stride: w1 >> 16 & 0x3fff,
            num_records: w2,
            swizzle: w1 >> 31 == 1,
            add_tid: w3 >> 23 & 1 == 1,
        })
    }
}

/// Executes a MUBUF instruction.
#[inline(always)]
pub(super) fn execute(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
) -> Result<(), FaultKind> {
    let resource = Resource::read(wave, inst.src[1])?;
    if resource.swizzle || resource.add_tid {
        let what = if resource.swizzle { "swizzled" } else { "add_tid" };
        let text = format!("{} with a {what} resource", inst.op.info().name);
        return Err(FaultKind::Unimplemented { text });
    }
    begin(wave, ctx, inst, spec);
    let soffset = scalar_offset(wave, inst.src[2]);
    let (mods, exec) = (&inst.mods, wave.exec());
    let registers = usize::from(mods.idxen) + usize::from(mods.offen);
    let fixed = u64::from(soffset) + u64::from(inst.imm as u32);
    if mods.offen && !mods.idxen {
        let offsets = wave.vgpr[vector_index(wave, inst.src[0], 1)?];
        let limit = u64::from(resource.num_records).saturating_sub(fixed);
        let span = Span { base: resource.base + fixed, offsets, limit };
        if span::transfer(wave, ctx, inst, spec, [inst.dst; 2], &span)? {
            return Ok(());
        }
    }
    let vaddr = match registers {
        0 => &[][..],
        n => {
            let first = vector_index(wave, inst.src[0], n)?;
            &wave.vgpr[first..first + n]
        }
    };
    // The index comes first where both are there.
    let index = vaddr.first().filter(|_| mods.idxen);
    let offset = vaddr.last().filter(|_| mods.offen);
    let mut within = [fixed; WAVE];
    if let Some(offset) = offset {
        within.iter_mut().zip(&offset.0).for_each(|(at, &o)| *at += u64::from(o));
    }
    if let Some(index) = index {
        let stride = u64::from(resource.stride);
        within.iter_mut().zip(&index.0).for_each(|(at, &i)| *at += u64::from(i) * stride);
    }
    let addr = &mut ctx.access.addr;
    addr.iter_mut().zip(&within).for_each(|(addr, at)| *addr = resource.base + at);
    let elements = index.filter(|_| resource.stride != 0);
    let (inside, partly) = in_range(&resource, spec, elements, &within, exec);
    ctx.access.mask = inside;
    if exec != inside {
        outside(wave, ctx, inst, spec, exec & !inside)?;
        if partly != 0 {
            partial(wave, ctx, inst, spec, partly, |lane, dword| {
                within[lane] + 4 * dword as u64 + 4 <= u64::from(resource.num_records)
            })?;
        }
    }
    perform(wave, ctx, inst, spec, inst.dst, inst.dst)
}

/// Lanes of `exec` that have all, and only some, of their dwords in range. With an index and a stride
/// `elements` holds the elements' numbers; otherwise the bytes `within` count.
#[inline(always)]
fn in_range(
    resource: &Resource,
    spec: Spec,
    elements: Option<&Lanes>,
    within: &[u64; WAVE],
    exec: u64,
) -> (u64, u64) {
    let records = u64::from(resource.num_records);
    if let Some(index) = elements {
        let lanes = access::lanes(exec);
        let inside = lanes.filter(|&lane| u64::from(index.0[lane]) < records);
        return (inside.fold(0, |m, lane| m | 1 << lane), 0);
    }
    let max = within.iter().fold(0, |max, &at| at.max(max));
    if max + u64::from(spec.bytes) <= records {
        return (exec, 0);
    }
    let (mut inside, mut partly) = (0u64, 0u64);
    for lane in access::lanes(exec) {
        if within[lane] + u64::from(spec.bytes) <= records {
            inside |= 1 << lane;
        } else if within[lane] + 4 <= records && spec.bytes > 4 {
            partly |= 1 << lane;
        }
    }
    (inside, partly)
}

/// Zeroes what lanes out of range would have loaded.
fn outside(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    lanes: u64,
) -> Result<(), FaultKind> {
    let part = match spec.action {
        Action::Load { .. } if to_lds(inst, spec) => {
            return write_lds(wave, ctx, inst, &[Lanes::ZERO; 4][..spec.dwords()], lanes);
        }
        Action::Load { part, .. } => part,
        Action::Atomic(_) if inst.mods.sc0 => Part::Whole,
        _ => return Ok(()),
    };
    let first = vector_index(wave, inst.dst, spec.dwords())?;
    for reg in &mut wave.vgpr[first..first + spec.dwords()] {
        access::each_lane(lanes, |lane| insert(&mut reg.0[lane], 0, part));
    }
    Ok(())
}

/// Moves the dwords in range of lanes that reach past the end, one by one.
fn partial(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    spec: Spec,
    lanes: u64,
    in_range: impl Fn(usize, usize) -> bool,
) -> Result<(), FaultKind> {
    // Atomics are all or nothing.
    let load = match spec.action {
        Action::Load { .. } => true,
        Action::Store { .. } => false,
        _ => return Ok(()),
    };
    if to_lds(inst, spec) {
        return Err(unimplemented(inst));
    }
    let first = vector_index(wave, inst.dst, spec.dwords())?;
    for lane in access::lanes(lanes) {
        for dword in (0..spec.dwords()).filter(|&d| in_range(lane, d)) {
            let addr = ctx.access.addr[lane] + 4 * dword as u64;
            let reg = &mut wave.vgpr[first + dword].0[lane];
            let mut word = reg.to_le_bytes();
            let found =
                if load { ctx.mem.read(addr, &mut word) } else { ctx.mem.write(addr, &word) };
            if !found {
                return Err(FaultKind::OutOfBounds { lane: lane as u8, addr, bytes: 4 });
            }
            *reg = u32::from_le_bytes(word);
        }
    }
    Ok(())
}
