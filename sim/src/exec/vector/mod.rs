//! Vector ALU instructions.
//!
//! Goes in: an instruction and a wave. Comes out: the wave with its destination registers or masks
//! written in the lanes that EXEC enables. What an operation computes is a one-line entry of a
//! table ([`kernel`]); this module finds the entry once per program ([`resolve`]) and moves
//! registers in and out of it ([`execute`]); [`modified`] handles whatever is more than that.

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
mod saturate;
mod scaled;
mod sdwa;
mod short;
mod special;
#[cfg(test)]
mod tests;
mod wide;

use super::host::for_host;
use super::operand::{scalar, set_scalar64, vector_index};
use super::program::Code;
use super::step::Handler;
use super::{Ctx, Flow, Lanes, Wave};
use crate::fault::FaultKind;
use crate::isa::{Arch, Inst, Op, Operand, reg};
use lane::Out;
pub(super) use plan::Plan;
use plan::{Dest, Extra, Touch};

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
    let plan = Plan::new(inst, arch)?;
    let handler = match inst.op {
        _ if plan.modified => for_host!(modified::execute),
        Op::VMovB32 => for_host!(special::mov),
        _ => match plan.sources {
            0 | 1 => for_host!(execute::<1>),
            2 => for_host!(execute::<2>),
            _ => for_host!(execute::<3>),
        },
    };
    Some((handler, plan))
}

/// Where a source is.
#[derive(Clone, Copy)]
enum At {
    /// In these registers: indices in [`Wave::vgpr`].
    Registers([usize; 2]),
    /// In the scratch registers of its position.
    Scratch,
}

/// Executes an instruction with `N` sources.
#[inline(always)]
fn execute<const N: usize>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Result<Flow, FaultKind> {
    let plan = &code.plan;
    if wave.mode & plan.mode_mask != plan.mode_usual {
        return unusual(wave, ctx, inst, code);
    }
    // One by one: an array of them would go through memory.
    let (mut b, mut c) = (At::Scratch, At::Scratch);
    let a = fetch(wave, source(inst, 0, plan), 0, plan, &plan.touch[0])?;
    if N > 1 {
        b = fetch(wave, source(inst, 1, plan), 1, plan, &plan.touch[1])?;
    }
    if N > 2 {
        c = fetch(wave, source(inst, 2, plan), 2, plan, &plan.touch[2])?;
    }
    let argument = fetch_extra(wave, plan);
    let target = target(wave, inst, plan)?;
    let Wave { vgpr, lanes, .. } = wave;
    let Scratch { sources, out } = &mut **lanes;
    let operands = [
        operand(a, vgpr, &sources[0]),
        operand(b, vgpr, &sources[1]),
        operand(c, vgpr, &sources[2]),
        [&sources[3][0], &sources[3][1]],
    ];
    plan.kernel.run(&operands, out, argument);
    let exec = wave.exec();
    store(wave, inst, plan, target, exec);
    Ok(Flow::Next)
}

/// An instruction that is plain but for the wave's mode.
#[cold]
#[inline(never)]
fn unusual(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Result<Flow, FaultKind> {
    modified::execute(wave, ctx, inst, code)
}

/// The two registers of a source.
#[inline(always)]
fn operand<'a>(at: At, vgpr: &'a [Lanes], scratch: &'a [Lanes; 2]) -> [&'a Lanes; 2] {
    match at {
        At::Registers([lo, hi]) => [&vgpr[lo], &vgpr[hi]],
        At::Scratch => [&scratch[0], &scratch[1]],
    }
}

/// Finds a source; puts it into its scratch registers where it is a scalar or `touch` changes bits.
#[inline(always)]
fn fetch(
    wave: &mut Wave,
    operand: Operand,
    i: usize,
    plan: &Plan,
    touch: &Touch,
) -> Result<At, FaultKind> {
    let ty = plan.types[i];
    let dwords = usize::from(ty.dwords().clamp(1, 2));
    if let Operand::Vgpr(_) | Operand::Agpr(_) = operand {
        let first = vector_index(wave, operand, dwords)?;
        let registers = touch.from.map(|k| first + usize::from(k).min(dwords - 1));
        if !touch.changes_bits() {
            return Ok(At::Registers(registers));
        }
        let Wave { vgpr, lanes, .. } = wave;
        for (k, to) in lanes.sources[i].iter_mut().enumerate().take(dwords) {
            for (to, from) in to.0.iter_mut().zip(&vgpr[registers[k]].0) {
                *to = from & touch.keep[k] ^ touch.flip[k];
            }
        }
        return Ok(At::Scratch);
    }
    let value = scalar(wave, operand, ty);
    let to = &mut wave.lanes.sources[i];
    if ty == crate::isa::Ty::Mask {
        mask::spread(value, &mut to[0]);
        return Ok(At::Scratch);
    }
    let value = touch.scalar([value as u32, (value >> 32) as u32]);
    for (to, value) in to.iter_mut().zip(value).take(dwords) {
        to.0.fill(value);
    }
    Ok(At::Scratch)
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
#[inline(always)]
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
