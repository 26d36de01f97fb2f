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
#[cfg(target_arch = "x86_64")]
mod eights;
mod float;
mod int;
mod kernel;
mod lane;
pub(super) mod mask;
mod math;
mod modified;
mod place;
mod plain;
mod plan;
mod rounding;
mod saturate;
mod scaled;
mod sdwa;
#[cfg(target_arch = "x86_64")]
mod select;
mod short;
mod special;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod tuned;
mod wide;

use super::host::for_host;
use super::operand::{scalar, set_scalar64, vector_index};
use super::program::{Code, Unit};
use super::step::{Handler, Step, unimplemented};
use super::{Ctx, Flow, Lanes, Wave};
use crate::fault::FaultKind;
use crate::isa::{Arch, Inst, Op, Operand, Ty, reg};
use lane::Out;
pub(super) use place::Places;
use place::Table;
use plain::Tables;
pub(super) use plan::Plan;
use plan::{Dest, Extra, Touch, source};

/// Registers a wave's vector instructions work in: sources that are not registers as they are, and
/// results before they are merged into registers.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    registers: Registers,
    /// What all lanes of a source's register are, plus 2^32; 0 where they are not all the same.
    same: [[u64; 2]; 3],
    /// What the lanes of a scalar's register are, plus 2^32; 0 at first.
    broadcast: [u64; SCALARS],
    results: [Lanes; 3],
}

/// Scalar registers.
const SCALARS: usize = 128;

/// What [`place::Table::Scratch`] is a table of.
#[derive(Clone, Debug)]
#[repr(C)]
struct Registers {
    /// Two for each source.
    sources: [[Lanes; 2]; 4],
    /// Scalar registers in all lanes: kernels read the same few over and over.
    scalars: [Lanes; SCALARS],
}

impl Scratch {
    pub(super) const ZERO: Scratch = Scratch {
        registers: Registers {
            sources: [const { [Lanes::ZERO; 2] }; 4],
            scalars: [Lanes::ZERO; SCALARS],
        },
        same: [[0; 2]; 3],
        broadcast: [0; SCALARS],
        results: [Lanes::ZERO; 3],
    };
}

/// How to execute a vector instruction.
pub(super) struct Resolved {
    pub(super) run: Handler,
    pub(super) places: Places,
    /// `None` where it has no kernel.
    pub(super) plan: Option<Plan>,
}

/// How to execute a vector instruction, or `None` if it is not implemented. Its constants are added to
/// the program's.
pub(super) fn resolve(inst: &Inst, arch: Arch, constants: &mut Vec<Lanes>) -> Option<Resolved> {
    if let Some(run) = special::handler(inst) {
        return Some(Resolved { run, places: Places::NONE, plan: None });
    }
    let (plan, plain) = Plan::new(inst, arch)?;
    let places = Places::new(inst, &plan, constants);
    let fills = matches!(plan.dest, Dest::Full | Dest::Wide) && !plan.carry;
    #[cfg(target_arch = "x86_64")]
    let plain = select::handler(inst, &plan).or_else(|| eights::handler(inst.op)).or(plain);
    let run = match plain {
        _ if plan.modified => for_host!(modified::execute),
        _ if inst.op == Op::VMovB32 => for_host!(special::mov),
        Some(plain) if fills && plan.extra != Extra::Vcc => plain,
        _ => for_host!(execute),
    };
    Some(Resolved { run, places, plan: Some(plan) })
}

/// Executes any instruction without further modifiers.
#[inline(always)]
fn execute(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    let Unit::Vector(plan) = &code.unit else { return Err(unimplemented(inst).into()) };
    let places = &code.places;
    if wave.mode & places.mode_mask != places.mode_usual {
        return unusual(wave, ctx, inst, code);
    }
    if places.absent | places.scalars != 0 {
        prepare_absent(wave, inst, code)?;
    }
    let argument = fetch_extra(wave, plan);
    let Some(tables) = Tables::new(wave, ctx, places) else {
        return unusual(wave, ctx, inst, code);
    };
    let base = if places.target.table() == Table::Acc as usize { wave.acc_base } else { 0 };
    let [lo, hi, flag] = &mut wave.lanes.results;
    // SAFETY: only results are written.
    let sources = unsafe { tables.sources(places) };
    plan.kernel.run(&sources, &mut Out { lo, hi, flag }, argument);
    let exec = wave.exec();
    store(wave, inst, plan, base + places.target.index(), exec);
    Ok(Flow::Next)
}

/// [`execute`] for instructions that mostly take a faster path.
#[inline(never)]
fn execute_any(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    // SAFETY: the form that suits the host.
    unsafe { for_host!(execute)(wave, ctx, inst, code) }
}

/// An instruction that is plain but for the wave's mode.
#[cold]
#[inline(never)]
fn unusual(wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    modified::execute(wave, ctx, inst, code)
}

/// Puts the scalar registers among the sources into their scratch registers.
#[inline(always)]
fn prepare_scalars(wave: &mut Wave, places: &Places) {
    let mut scalars = places.scalars;
    while scalars != 0 {
        let at = scalars.trailing_zeros() as usize;
        scalars &= scalars - 1;
        let n = places.sources[at / 2][at % 2].scalar();
        let (value, Scratch { registers, broadcast, .. }) = (wave.sgpr[n], &mut *wave.lanes);
        let filled = u64::from(value) | 1 << 32;
        if broadcast[n] != filled {
            broadcast[n] = filled;
            registers.scalars[n].0.fill(value);
        }
    }
}

/// Puts the sources that are not in registers, or not as they are, into their scratch registers.
#[inline(always)]
fn prepare_absent(wave: &mut Wave, inst: &Inst, code: &Code) -> Result<(), FaultKind> {
    let places = &code.places;
    prepare_scalars(wave, places);
    if places.absent == 0 {
        return Ok(());
    }
    let Unit::Vector(plan) = &code.unit else { return Ok(()) };
    for i in (0..usize::from(plan.sources)).filter(|i| code.places.absent >> i & 1 == 1) {
        prepare(wave, i, source(inst, i, plan), plan.types[i], &plan.touch[i])?;
    }
    Ok(())
}

/// [`prepare_absent`] for the plain case.
///
/// # Safety
/// The host has what plain handlers are compiled for.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
#[inline(never)]
unsafe fn prepare_wide(wave: &mut Wave, inst: &Inst, code: &Code) -> Result<(), FaultKind> {
    prepare_absent(wave, inst, code)
}

/// Puts source `i` into its scratch registers, changed as simple modifiers say.
#[inline(always)]
fn prepare(
    wave: &mut Wave,
    i: usize,
    operand: Operand,
    ty: Ty,
    touch: &Touch,
) -> Result<(), FaultKind> {
    let dwords = usize::from(ty.dwords().clamp(1, 2));
    if let Operand::Vgpr(_) | Operand::Agpr(_) = operand {
        let first = vector_index(wave, operand, dwords)?;
        let Wave { vgpr, lanes, .. } = wave;
        lanes.same[i] = [0; 2];
        for (k, to) in lanes.registers.sources[i].iter_mut().enumerate().take(dwords) {
            let from = &vgpr[first + usize::from(touch.from[k]).min(dwords - 1)];
            for (to, from) in to.0.iter_mut().zip(&from.0) {
                *to = from & touch.keep[k] ^ touch.flip[k];
            }
        }
        return Ok(());
    }
    let value = scalar(wave, operand, ty);
    let Scratch { registers: Registers { sources, .. }, same, .. } = &mut *wave.lanes;
    if ty == Ty::Mask {
        same[i] = [0; 2];
        mask::spread(value, &mut sources[i][0]);
        return Ok(());
    }
    let value = touch.scalar([value as u32, (value >> 32) as u32]);
    for (k, value) in value.into_iter().enumerate().take(dwords) {
        let filled = u64::from(value) | 1 << 32;
        if same[i][k] != filled {
            same[i][k] = filled;
            sources[i][k].0.fill(value);
        }
    }
    Ok(())
}

/// Puts an implicit operand into the fourth scratch register. Returns the kernel's last argument.
#[inline(always)]
fn fetch_extra(wave: &mut Wave, plan: &Plan) -> u32 {
    match plan.extra {
        Extra::None => {}
        Extra::Vcc => {
            let vcc = wave.vcc();
            mask::spread(vcc, &mut wave.lanes.registers.sources[3][0]);
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
    let [lo, hi, flag] = &lanes.results;
    match plan.dest {
        Dest::Full => mask::merge(&mut vgpr[target], lo, exec),
        Dest::Wide => {
            mask::merge(&mut vgpr[target], lo, exec);
            mask::merge(&mut vgpr[target + 1], hi, exec);
        }
        Dest::Low => merge_field(&mut vgpr[target], lo, 0, 0xffff, exec),
        Dest::High => merge_field(&mut vgpr[target], lo, 16, 0xffff, exec),
        Dest::Byte(n) => merge_field(&mut vgpr[target], lo, 8 * u32::from(n), 0xff, exec),
        Dest::Mask | Dest::MaskExec => {
            let flags = mask::gather(flag) & exec;
            set_scalar64(wave, inst.dst, flags);
            if plan.dest == Dest::MaskExec {
                wave.set_exec(flags);
            }
            return;
        }
    }
    if plan.carry {
        let flags = mask::gather(flag) & exec;
        let sdst = if inst.sdst == Operand::None { Operand::Sgpr(reg::VCC) } else { inst.sdst };
        set_scalar64(wave, sdst, flags);
    }
}

/// Writes the low bits of `from` to a field of the lanes of `exec` and keeps the other bits.
#[inline(always)]
fn merge_field(to: &mut Lanes, from: &Lanes, shift: u32, field: u32, exec: u64) {
    let place = |to: &mut Lanes| {
        for (to, from) in to.0.iter_mut().zip(&from.0) {
            *to = *to & !(field << shift) | (from & field) << shift;
        }
    };
    if exec == u64::MAX {
        return place(to);
    }
    let mut merged = *to;
    place(&mut merged);
    mask::merge(to, &merged, exec);
}
