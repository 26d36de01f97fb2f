//! The common case of a matrix operation: one block of 16x16 or 32x32 with floating-point operands as
//! they are, on a host with AVX2 and FMA.
//!
//! Goes in: an operation's plan. Comes out: a handler in which everything that the plan decides has
//! been decided, if the operation is one of these.

use super::kernel::avx;
use super::panel::Layout;
use super::shape::Data;
use super::slots::{Panels, Slots};
use super::{Elem, Init, Plan, Way, unimplemented, unpack_avx};
use crate::exec::operand::{scalar32, vector_index};
use crate::exec::program::{Code, Unit};
use crate::exec::step::{Handler, Step};
use crate::exec::{Ctx, Flow, Lanes, WAVE, Wave, host};
use crate::isa::{Inst, Operand};

/// Whether the operation with this plan is of the common case.
pub(super) fn suits(inst: &Inst, plan: &Plan) -> bool {
    let shape = &plan.shape;
    shape.blocks == 1
        && !shape.sparse
        && !matches!(shape.a, Elem::F64 | Elem::I8)
        && inst.scale.is_none()
        && (shape.a == Elem::Mx || inst.mods.blgp == 0)
        && host::wide()
}

/// See [`super::Way::Direct`].
pub(super) fn halves(plan: &Plan) -> bool {
    [0, 1].iter().all(|&side| {
        let Layout { count, chunk, .. } = plan.layout(side);
        count == 2 * chunk && matches!(plan.data[side], Data::Float(_))
    })
}

/// The handler of operations that [`suits`], of `M` rows.
pub(super) fn handler<const M: usize>() -> Handler {
    if host::widest() { execute_512::<M> } else { execute_256::<M> }
}

#[target_feature(enable = "avx2,fma")]
fn execute_256<const M: usize>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Step {
    execute::<M, false>(wave, ctx, inst, code)
}

#[target_feature(enable = "avx512f,avx2,fma")]
fn execute_512<const M: usize>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Step {
    execute::<M, true>(wave, ctx, inst, code)
}

/// Executes an operation. Needs AVX2 and FMA, and `WIDEST` needs AVX-512F.
#[inline(always)]
fn execute<const M: usize, const WIDEST: bool>(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    inst: &Inst,
    code: &Code,
) -> Step {
    let Unit::Matrix(plan) = &code.unit else { return Err(unimplemented(inst, "").into()) };
    let len = M * M / WAVE;
    let a = vector_index(wave, inst.src[0], plan.registers[0])?;
    let b = vector_index(wave, inst.src[1], plan.registers[1])?;
    let d = vector_index(wave, inst.dst, len)?;
    let c = match inst.src[2] {
        c @ (Operand::Vgpr(_) | Operand::Agpr(_)) => Init::Registers(vector_index(wave, c, len)?),
        c => Init::Constant(scalar32(wave, c)),
    };
    let Wave { vgpr, panels, .. } = wave;
    let slots = &ctx.program.slots;
    let regs_a = &vgpr[a..a + plan.registers[0]];
    let regs_b = &vgpr[b..b + plan.registers[1]];
    let a = operand(panels, slots, plan, regs_a, 0);
    let b = operand(panels, slots, plan, regs_b, 1);
    let mut k = plan.shape.k * M;
    // A whole chunk of zeros on both sides: the end of a matrix whose k fills no tile.
    let halves = plan.way == Way::Direct { halves: true };
    if halves && ends_in_zeros(regs_a) && ends_in_zeros(regs_b) && !changes(c, vgpr, len) {
        k /= 2;
    }
    let start = match c {
        Init::Constant(value) => Some(f32::from_bits(value)),
        Init::Registers(c) => {
            if c != d {
                vgpr.copy_within(c..c + len, d);
            }
            None
        }
    };
    let all = panels.all();
    let (to, a, b) = (&mut vgpr[d..d + len], &all[a..a + k], &all[b..b + k]);
    // SAFETY: the host has what the handler was chosen for, and D has its length.
    unsafe {
        if WIDEST {
            avx::multiply_512::<M>(to, start, a, b);
        } else {
            avx::multiply::<M>(to, start, a, b);
        }
    }
    Ok(Flow::Next)
}

/// Where the elements of A (side 0) or B (side 1) are, kept or unpacked now.
#[inline(always)]
fn operand(panels: &mut Panels, slots: &Slots, plan: &Plan, regs: &[Lanes], side: usize) -> usize {
    let layout = plan.layout(side);
    panels.panel(slots, plan.slots[side], side, layout.len(), |panel| {
        // SAFETY: only made where the host has AVX2 and FMA.
        unsafe { unpack_avx(panel, regs, plan.data[side], layout, None) };
    })
}

/// Whether the second half of an operand's registers is zero. One lane mostly tells.
#[inline(always)]
fn ends_in_zeros(regs: &[Lanes]) -> bool {
    let zero = |reg: &Lanes| reg.0[0] == 0 && *reg == Lanes::ZERO;
    regs[regs.len() / 2..].iter().rev().all(zero)
}

/// Whether adding zero changes some accumulator: it does so with negative zeros and signalling NaN.
/// (Sums are no negative zeros unless they start so: products of these formats do not round to zero.)
#[cold]
#[inline(never)]
fn changes(c: Init, vgpr: &[Lanes], len: usize) -> bool {
    let changes = |&x: &u32| x == 1 << 31 || x & 0x7fff_ffff > 0x7f80_0000;
    match c {
        Init::Constant(value) => changes(&value),
        Init::Registers(c) => vgpr[c..c + len].iter().any(|reg| reg.0.iter().any(changes)),
    }
}
