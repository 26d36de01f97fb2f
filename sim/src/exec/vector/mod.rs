//! Vector ALU instructions.
//!
//! Goes in: an instruction and a wave. Comes out: the wave with its destination registers or masks
//! written in the lanes that EXEC enables. What an operation computes is a one-line entry of a
//! table ([`kernel`]); this module finds the entry once per program ([`resolve`]) and moves
//! registers in and out of it ([`execute`]); [`modified`] handles whatever is not plain.

mod compare;
mod convert;
mod directed;
mod division;
mod dpp;
mod float;
mod int;
mod kernel;
mod lane;
mod mask;
mod math;
mod modified;
mod plan;
mod rounding;
mod scaled;
mod sdwa;
mod short;
mod special;
#[cfg(test)]
mod tests;
mod wide;

use super::operand::{scalar, set_scalar64, vector_index};
use super::program::Code;
use super::step::Handler;
use super::{Ctx, Flow, Lanes, Wave};
use crate::fault::FaultKind;
use crate::isa::{Arch, Inst, Operand, reg};
use kernel::Sources;
use lane::Out;
pub(super) use plan::Plan;
use plan::{Dest, Extra};

/// Registers a wave's vector instructions work in: broadcast or modified sources, and results.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    sources: [[Lanes; 2]; 4],
    out: Out,
}

impl Scratch {
    pub(super) const ZERO: Scratch =
        Scratch { sources: [const { [Lanes::ZERO; 2] }; 4], out: Out::ZERO };
}

/// How to execute a vector instruction, or `None` if it is not implemented.
pub(super) fn resolve(inst: &Inst, arch: Arch) -> Option<(Handler, Plan)> {
    if let Some(handler) = special::handler(inst) {
        return Some((handler, Plan::NONE));
    }
    Plan::new(inst, arch).map(|plan| (execute as Handler, plan))
}

/// Where a source is: an index in [`Wave::vgpr`], or the scratch register of its position.
const IN_SCRATCH: usize = usize::MAX;

fn execute(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Result<Flow, FaultKind> {
    let plan = &code.plan;
    if plan.modified || wave.mode & plan.mode_mask != plan.mode_usual {
        return modified::execute(wave, inst, plan);
    }
    let mut at = [IN_SCRATCH; 4];
    for (i, at) in at.iter_mut().enumerate().take(usize::from(plan.sources)) {
        *at = fetch(wave, source(inst, i, plan), i, plan)?;
    }
    let argument = fetch_extra(wave, plan);
    let target = target(wave, inst, plan)?;
    let Wave { vgpr, lanes, .. } = wave;
    let Scratch { sources, out } = &mut **lanes;
    let two = |i: usize| {
        let at = at[i];
        if at == IN_SCRATCH { [&sources[i][0], &sources[i][1]] } else { pair(vgpr, at) }
    };
    let operands: Sources<'_> = [two(0), two(1), two(2), [&sources[3][0], &sources[3][1]]];
    plan.kernel.run(&operands, out, argument);
    let exec = wave.exec();
    store(wave, inst, plan, target, exec);
    Ok(Flow::Next)
}

/// A register and the one after it, or twice the last.
#[inline(always)]
fn pair(vgpr: &[Lanes], at: usize) -> [&Lanes; 2] {
    let last = vgpr.len() - 1;
    [&vgpr[at.min(last)], &vgpr[(at + 1).min(last)]]
}

/// Finds a source, or broadcasts it to its scratch registers.
#[inline(always)]
fn fetch(wave: &mut Wave, operand: Operand, i: usize, plan: &Plan) -> Result<usize, FaultKind> {
    let ty = plan.types[i];
    let dwords = ty.dwords().clamp(1, 2);
    if let Operand::Vgpr(_) | Operand::Agpr(_) = operand {
        return vector_index(wave, operand, usize::from(dwords));
    }
    let value = scalar(wave, operand, ty);
    let to = &mut wave.lanes.sources[i];
    if ty == crate::isa::Ty::Mask {
        mask::spread(value, &mut to[0]);
    } else {
        to[0].0.fill(value as u32);
        if dwords == 2 {
            to[1].0.fill((value >> 32) as u32);
        }
    }
    Ok(IN_SCRATCH)
}

/// Puts an implicit operand into the fourth scratch register. Returns the kernel's last argument.
#[inline(always)]
fn fetch_extra(wave: &mut Wave, plan: &Plan) -> u32 {
    match plan.extra {
        Extra::None => {}
        Extra::Vcc => {
            let vcc = wave.vcc();
            mask::spread(vcc, &mut wave.lanes.sources[3][0]);
        }
        Extra::Table(table) => return table.into(),
    }
    wave.mode
}

/// Index in [`Wave::vgpr`] of the destination; 0 when it is a mask.
#[inline(always)]
fn target(wave: &Wave, inst: &Inst, plan: &Plan) -> Result<usize, FaultKind> {
    match plan.dest {
        Dest::Mask | Dest::MaskExec => Ok(0),
        Dest::Wide => vector_index(wave, inst.dst, 2),
        Dest::Full | Dest::Low | Dest::High | Dest::Byte(_) => vector_index(wave, inst.dst, 1),
    }
}

/// Writes the results in the lanes of `exec`.
#[inline(always)]
fn store(wave: &mut Wave, inst: &Inst, plan: &Plan, target: usize, exec: u64) {
    let Wave { vgpr, lanes, .. } = wave;
    let out = &mut lanes.out;
    match plan.dest {
        Dest::Full => mask::merge(&mut vgpr[target], &out.lo, exec),
        Dest::Wide => {
            mask::merge(&mut vgpr[target], &out.lo, exec);
            mask::merge(&mut vgpr[target + 1], &out.hi, exec);
        }
        Dest::Low => merge_field(&mut vgpr[target], &out.lo, 0, 0xffff, exec),
        Dest::High => merge_field(&mut vgpr[target], &out.lo, 16, 0xffff, exec),
        Dest::Byte(n) => merge_field(&mut vgpr[target], &out.lo, 8 * u32::from(n), 0xff, exec),
        Dest::Mask | Dest::MaskExec => {
            let flags = mask::gather(&out.flag) & exec;
            set_scalar64(wave, inst.dst, flags);
            if plan.dest == Dest::MaskExec {
                wave.set_exec(flags);
            }
            return;
        }
    }
    if plan.carry {
        let flags = mask::gather(&out.flag) & exec;
        let sdst = if inst.sdst == Operand::None { Operand::Sgpr(reg::VCC) } else { inst.sdst };
        set_scalar64(wave, sdst, flags);
    }
}

/// Writes the low bits of `from` to a field of the lanes of `exec` and keeps the other bits.
fn merge_field(to: &mut Lanes, from: &Lanes, shift: u32, field: u32, exec: u64) {
    let mut merged = *to;
    for (to, from) in merged.0.iter_mut().zip(&from.0) {
        *to = *to & !(field << shift) | (from & field) << shift;
    }
    mask::merge(to, &merged, exec);
}

/// Source `i`, where accumulating operations read their destination after the sources that are
/// encoded.
#[inline(always)]
fn source(inst: &Inst, i: usize, plan: &Plan) -> Operand {
    if plan.accumulates && i + 1 == usize::from(plan.sources) { inst.dst } else { inst.src[i] }
}
