//! The common case of a matrix operation: one block of 16x16 or 32x32 with floating-point operands as
//! they are, on a host with AVX2 and FMA.
//!
//! Goes in: an operation's plan. Comes out: a handler in which everything that the plan decides has
//! been decided, if the operation is one of these.

use super::kept::{Key, Side as Kept};
use super::kernel::{Operand as Side, Order, avx, order_of};
use super::shape::{Data, Shape};
use super::{Elem, Init, Plan, chunked, unimplemented, unpack_avx};
use crate::exec::operand::{scalar32, vector_index};
use crate::exec::program::{Code, Unit};
use crate::exec::step::{Handler, Step};
use crate::exec::{Ctx, Flow, Lanes, Wave, host};
use crate::isa::{Inst, Operand};

/// What the handler needs to know of the operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direct {
    /// Order of k in the panels of A and B.
    orders: [&'static Order; 2],
    pub keys: [Key; 2],
    /// Set where the operand is that of an earlier operation, see [`super::reuse`]; valid for waves
    /// with at least so many architected registers.
    pub known: [Option<u16>; 2],
}

impl Direct {
    /// For an operation with this plan; `None` where it is not of the common case.
    pub fn new(inst: &Inst, plan: &Plan) -> Option<Self> {
        let shape = &plan.shape;
        let other = shape.blocks != 1
            || shape.sparse
            || matches!(shape.a, Elem::F64 | Elem::I8)
            || inst.scale.is_some()
            || (shape.a != Elem::Mx && inst.mods.blgp != 0);
        if other || !host::wide() {
            return None;
        }
        let count = shape.per_lane();
        let orders = plan.data.map(|data| order_of(shape.m, count, chunked(shape, data)));
        let keys = plan.data.map(|data| Key { data, count, scales: None });
        Some(Direct { orders, keys, known: [None; 2] })
    }
}

/// The handler of an operation with this plan.
pub(in crate::exec) fn handler(plan: &Plan) -> Option<Handler> {
    match (plan.direct, plan.shape.m) {
        (Some(_), 16) => Some(execute::<16>),
        (Some(_), 32) => Some(execute::<32>),
        _ => None,
    }
}

#[target_feature(enable = "avx2,fma")]
fn execute<const M: usize>(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    let Unit::Matrix(plan) = &code.unit else { return Err(unimplemented(inst, "").into()) };
    let Some(direct) = &plan.direct else { return Err(unimplemented(inst, "").into()) };
    let len = M * M / 64;
    let a = vector_index(wave, inst.src[0], plan.registers[0])?;
    let b = vector_index(wave, inst.src[1], plan.registers[1])?;
    let d = vector_index(wave, inst.dst, len)?;
    let c = match inst.src[2] {
        c @ (Operand::Vgpr(_) | Operand::Agpr(_)) => Init::Registers(vector_index(wave, c, len)?),
        c => Init::Constant(scalar32(wave, c)),
    };
    let Wave { vgpr, kept, acc_base, .. } = wave;
    let known = direct.known.map(|need| need.is_some_and(|need| usize::from(need) <= *acc_base));
    let regs = [&vgpr[a..a + plan.registers[0]], &vgpr[b..b + plan.registers[1]]];
    let [kept_a, kept_b] = kept.sides();
    let a = operand(kept_a, a, regs[0], direct, 0, known[0]);
    let b = operand(kept_b, b, regs[1], direct, 1, known[1]);
    let (Some(a), Some(b)) = (a, b) else { return Err(unimplemented(inst, "").into()) };
    let a = a.first_rows(rows(&plan.shape, plan.data, regs, c, vgpr));
    let start = match c {
        Init::Constant(value) => Some(f32::from_bits(value)),
        Init::Registers(c) if c == d => None,
        Init::Registers(c) => {
            vgpr.copy_within(c..c + len, d);
            None
        }
    };
    // SAFETY: the host has AVX2 and FMA; D has its length, and the panels their orders' rows.
    unsafe { avx::multiply::<M>(&mut vgpr[d..d + len], start, a, b) };
    Ok(Flow::Next)
}

/// The elements of A (side 0) or B (side 1), kept or unpacked now.
#[inline(always)]
fn operand<'a>(
    kept: &'a mut Kept,
    first: usize,
    regs: &[Lanes],
    direct: &Direct,
    side: usize,
    known: bool,
) -> Option<Side<'a, f32>> {
    let key = &direct.keys[side];
    let panel = kept.panel(first, regs, key, known, |panel| {
        // SAFETY: only made where the host has AVX2 and FMA.
        unsafe { unpack_avx(panel, regs, key.data, key.count, None) };
    });
    Side::whole(panel.flat(), direct.orders[side], key.count)
}

/// Rows of the panels of A and B, whose registers are `regs`, that count: the inner dimension of a tile
/// at the edge of a matrix is padded with zeros in both operands, and adding zeros changes nothing but
/// negative zeros. (Sums are no negative zeros unless they start so: products of these formats do not
/// round to zero.) Operands in different orders have no rows in common.
#[inline(always)]
fn rows(shape: &Shape, data: [Data; 2], regs: [&[Lanes]; 2], c: Init, vgpr: &[Lanes]) -> usize {
    let all = shape.per_lane();
    let narrow = |data| matches!(data, Data::F16 | Data::Float(_));
    // One lane mostly tells.
    let zero = |reg: &Lanes| reg.0[0] == 0 && *reg == Lanes::ZERO;
    let ends_in_zeros = |regs: &[Lanes]| regs.last().is_some_and(zero);
    if !ends_in_zeros(regs[1]) || !ends_in_zeros(regs[0]) || !data.into_iter().all(narrow) {
        return all;
    }
    let used = |side: usize| {
        let zeros = regs[side].iter().rev().take_while(|reg| **reg == Lanes::ZERO).count();
        ((regs[side].len() - zeros) * 32).div_ceil(data[side].bits())
    };
    // Adding zero to it changes a signalling NaN, too.
    let changes = |&x: &u32| x == 1 << 31 || x & 0x7fff_ffff > 0x7f80_0000;
    let start = match c {
        Init::Constant(value) => changes(&value),
        Init::Registers(c) => {
            let len = shape.m * shape.m * shape.blocks / 64;
            vgpr[c..c + len].iter().any(|reg| reg.0.iter().any(changes))
        }
    };
    let ordered = chunked(shape, data[0]) == chunked(shape, data[1]);
    if start || !ordered { all } else { used(0).max(used(1)).min(all) }
}
