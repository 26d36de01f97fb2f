//! Scalar ALU and program control.
//!
//! Goes in: an instruction of one of the SOP encodings and a wave. Comes out: the wave with its
//! scalar registers, condition code or program counter changed.

mod bits;
mod control;
mod hwreg;
#[cfg(test)]
mod tests;

use super::operand::{scalar32, scalar64, set_scalar32, set_scalar64};
use super::program::Code;
use super::step::{Handler, unimplemented};
use super::{Ctx, Flow, Wave};
use crate::fault::FaultKind;
use crate::isa::{Enc, Inst, Op, Operand, reg};

/// The handler that runs `$body`, a function of the operation and a handler's arguments: compiled for
/// each operation named here, where choosing it would cost more than it does, and for all others.
macro_rules! for_op {
    ($body:path, $inst:ident, $($op:ident)*) => {
        match $inst.op {
            $(Op::$op => |wave, ctx, inst, code| $body(Op::$op, wave, ctx, inst, code),)*
            _ => |wave, ctx, inst, code| $body(inst.op, wave, ctx, inst, code),
        }
    };
}

/// The handler of an instruction of a SOP encoding.
pub(super) fn handler(inst: &Inst) -> Handler {
    match inst.enc {
        Enc::Sop1 => for_op!(sop1, inst, SMovB32 SMovB64 SAndSaveexecB64 SOrSaveexecB64),
        Enc::Sop2 => for_op!(
            sop2, inst,
            SAddU32 SAddI32 SAddcU32 SSubU32 SSubI32 SSubbU32 SMulI32 SMulHiU32 SMinI32 SMinU32
            SMaxI32 SMaxU32 SAndB32 SAndB64 SOrB32 SOrB64 SXorB32 SXorB64 SAndn2B64 SLshlB32
            SLshlB64 SLshrB32 SLshrB64 SAshrI32 SBfeU32 SCselectB32 SCselectB64
        ),
        Enc::Sopc => for_op!(
            sopc, inst,
            SCmpEqI32 SCmpEqU32 SCmpLgI32 SCmpLgU32 SCmpGtI32 SCmpGeI32 SCmpLtI32 SCmpLeI32
            SCmpGtU32 SCmpGeU32 SCmpLtU32 SCmpLeU32 SCmpEqU64 SCmpLgU64
        ),
        Enc::Sopk => for_op!(sopk, inst, SMovkI32 SAddkI32 SMulkI32),
        _ => for_op!(
            control::sopp, inst,
            SNop SWaitcnt SBarrier SEndpgm SBranch SCbranchScc0 SCbranchScc1 SCbranchVccz
            SCbranchVccnz SCbranchExecz SCbranchExecnz
        ),
    }
}

type Result<T> = std::result::Result<T, Box<FaultKind>>;

/// Writes a 32-bit result and, where the operation sets it, SCC.
fn put32(wave: &mut Wave, inst: &Inst, value: u32, scc: Option<bool>) -> Result<Flow> {
    set_scalar32(wave, inst.dst, value);
    if let Some(scc) = scc {
        wave.scc = scc;
    }
    Ok(Flow::Next)
}

/// Writes a 64-bit result and, where the operation sets it, SCC.
fn put64(wave: &mut Wave, inst: &Inst, value: u64, scc: Option<bool>) -> Result<Flow> {
    set_scalar64(wave, inst.dst, value);
    if let Some(scc) = scc {
        wave.scc = scc;
    }
    Ok(Flow::Next)
}

/// A 32-bit result whose SCC says that it is not zero.
fn logic32(wave: &mut Wave, inst: &Inst, value: u32) -> Result<Flow> {
    put32(wave, inst, value, Some(value != 0))
}

/// A 64-bit result whose SCC says that it is not zero.
fn logic64(wave: &mut Wave, inst: &Inst, value: u64) -> Result<Flow> {
    put64(wave, inst, value, Some(value != 0))
}

#[inline(always)]
fn sop1(op: Op, wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Result<Flow> {
    let source = inst.src[0];
    let a = scalar32(wave, source);
    let wide = |wave: &Wave| scalar64(wave, source);
    match op {
        Op::SMovB32 => put32(wave, inst, a, None),
        Op::SMovB64 => put64(wave, inst, wide(wave), None),
        Op::SCmovB32 if wave.scc => put32(wave, inst, a, None),
        Op::SCmovB64 if wave.scc => put64(wave, inst, wide(wave), None),
        Op::SCmovB32 | Op::SCmovB64 => Ok(Flow::Next),
        Op::SNotB32 => logic32(wave, inst, !a),
        Op::SNotB64 => logic64(wave, inst, !wide(wave)),
        Op::SWqmB32 => logic32(wave, inst, bits::whole_quads(a.into()) as u32),
        Op::SWqmB64 => logic64(wave, inst, bits::whole_quads(wide(wave))),
        Op::SQuadmaskB32 => logic32(wave, inst, bits::quads(a.into()) as u32),
        Op::SQuadmaskB64 => logic64(wave, inst, bits::quads(wide(wave))),
        Op::SBrevB32 => put32(wave, inst, a.reverse_bits(), None),
        Op::SBrevB64 => put64(wave, inst, wide(wave).reverse_bits(), None),
        Op::SBcnt0I32B32 => logic32(wave, inst, a.count_zeros()),
        Op::SBcnt0I32B64 => logic32(wave, inst, wide(wave).count_zeros()),
        Op::SBcnt1I32B32 => logic32(wave, inst, a.count_ones()),
        Op::SBcnt1I32B64 => logic32(wave, inst, wide(wave).count_ones()),
        Op::SFf0I32B32 => put32(wave, inst, bits::first32(!a), None),
        Op::SFf0I32B64 => put32(wave, inst, bits::first64(!wide(wave)), None),
        Op::SFf1I32B32 => put32(wave, inst, bits::first32(a), None),
        Op::SFf1I32B64 => put32(wave, inst, bits::first64(wide(wave)), None),
        Op::SFlbitI32B32 => put32(wave, inst, bits::first32(a.reverse_bits()), None),
        Op::SFlbitI32B64 => put32(wave, inst, bits::first64(wide(wave).reverse_bits()), None),
        Op::SFlbitI32 => put32(wave, inst, bits::sign_change32(a), None),
        Op::SFlbitI32I64 => put32(wave, inst, bits::sign_change64(wide(wave)), None),
        Op::SSextI32I8 => put32(wave, inst, a as i8 as u32, None),
        Op::SSextI32I16 => put32(wave, inst, a as i16 as u32, None),
        Op::SBitset0B32 | Op::SBitset1B32 => {
            let (old, bit) = (scalar32(wave, inst.dst), 1 << (a & 31));
            let new = if op == Op::SBitset1B32 { old | bit } else { old & !bit };
            put32(wave, inst, new, None)
        }
        Op::SBitset0B64 | Op::SBitset1B64 => {
            let (old, bit) = (scalar64(wave, inst.dst), 1 << (a & 63));
            let new = if op == Op::SBitset1B64 { old | bit } else { old & !bit };
            put64(wave, inst, new, None)
        }
        Op::SAbsI32 => logic32(wave, inst, (a as i32).unsigned_abs()),
        Op::SBitreplicateB64B32 => put64(wave, inst, bits::replicate(a), None),
        Op::SMovrelsB32 | Op::SMovrelsB64 | Op::SMovreldB32 | Op::SMovreldB64 => {
            move_relative(wave, inst)
        }
        Op::SSetGprIdxIdx => {
            let m0 = &mut wave.sgpr[usize::from(reg::M0)];
            *m0 = *m0 & !0xff | a & 0xff;
            Ok(Flow::Next)
        }
        Op::SGetpcB64 | Op::SSetpcB64 | Op::SSwappcB64 => control::program_counter(wave, ctx, inst),
        _ => save_exec(op, wave, inst),
    }
}

/// The operations that combine a mask with EXEC. All but the `wrexec` forms return the old EXEC.
#[inline(always)]
fn save_exec(op: Op, wave: &mut Wave, inst: &Inst) -> Result<Flow> {
    let (s, exec) = (scalar64(wave, inst.src[0]), wave.exec());
    let new = match op {
        Op::SAndSaveexecB64 => s & exec,
        Op::SOrSaveexecB64 => s | exec,
        Op::SXorSaveexecB64 => s ^ exec,
        Op::SAndn2SaveexecB64 | Op::SAndn2WrexecB64 => s & !exec,
        Op::SOrn2SaveexecB64 => s | !exec,
        Op::SNandSaveexecB64 => !(s & exec),
        Op::SNorSaveexecB64 => !(s | exec),
        Op::SXnorSaveexecB64 => !(s ^ exec),
        Op::SAndn1SaveexecB64 | Op::SAndn1WrexecB64 => !s & exec,
        Op::SOrn1SaveexecB64 => !s | exec,
        _ => return Err(unimplemented(inst).into()),
    };
    wave.set_exec(new);
    let result = if matches!(op, Op::SAndn1WrexecB64 | Op::SAndn2WrexecB64) { new } else { exec };
    put64(wave, inst, result, Some(new != 0))
}

/// Moves from or to the scalar register that is M0 further than the encoded one.
fn move_relative(wave: &mut Wave, inst: &Inst) -> Result<Flow> {
    let offset = wave.sgpr[usize::from(reg::M0)];
    let moved = |operand: Operand| {
        let Operand::Sgpr(n) = operand else { return operand };
        let n = u32::from(n).wrapping_add(offset);
        // Past the file nothing is read or written.
        if n < 128 { Operand::Sgpr(n as u16) } else { Operand::None }
    };
    match inst.op {
        Op::SMovrelsB32 => {
            let value = scalar32(wave, moved(inst.src[0]));
            set_scalar32(wave, inst.dst, value);
        }
        Op::SMovrelsB64 => {
            let value = scalar64(wave, moved(inst.src[0]));
            set_scalar64(wave, inst.dst, value);
        }
        Op::SMovreldB32 => {
            let value = scalar32(wave, inst.src[0]);
            set_scalar32(wave, moved(inst.dst), value);
        }
        _ => {
            let value = scalar64(wave, inst.src[0]);
            set_scalar64(wave, moved(inst.dst), value);
        }
    }
    Ok(Flow::Next)
}

#[inline(always)]
fn sop2(op: Op, wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Result<Flow> {
    let [x, y, _] = inst.src;
    let (a, b) = (scalar32(wave, x), scalar32(wave, y));
    let (ia, ib) = (a as i32, b as i32);
    let wide = |wave: &Wave| (scalar64(wave, x), scalar64(wave, y));
    let wide_first = |wave: &Wave| scalar64(wave, x);
    let carry = u64::from(wave.scc);
    match op {
        Op::SAddU32 => {
            let (sum, carry) = a.overflowing_add(b);
            put32(wave, inst, sum, Some(carry))
        }
        Op::SSubU32 => put32(wave, inst, a.wrapping_sub(b), Some(b > a)),
        Op::SAddI32 => {
            let (sum, overflow) = ia.overflowing_add(ib);
            put32(wave, inst, sum as u32, Some(overflow))
        }
        Op::SSubI32 => {
            let (difference, overflow) = ia.overflowing_sub(ib);
            put32(wave, inst, difference as u32, Some(overflow))
        }
        Op::SAddcU32 => {
            let sum = u64::from(a) + u64::from(b) + carry;
            put32(wave, inst, sum as u32, Some(sum >> 32 != 0))
        }
        Op::SSubbU32 => {
            let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(carry);
            put32(wave, inst, difference as u32, Some(difference >> 32 != 0))
        }
        Op::SMinI32 => put32(wave, inst, ia.min(ib) as u32, Some(ia < ib)),
        Op::SMinU32 => put32(wave, inst, a.min(b), Some(a < b)),
        Op::SMaxI32 => put32(wave, inst, ia.max(ib) as u32, Some(ia >= ib)),
        Op::SMaxU32 => put32(wave, inst, a.max(b), Some(a >= b)),
        Op::SCselectB32 => put32(wave, inst, if wave.scc { a } else { b }, None),
        Op::SCselectB64 => {
            let (a, b) = wide(wave);
            put64(wave, inst, if wave.scc { a } else { b }, None)
        }
        Op::SAndB32 => logic32(wave, inst, a & b),
        Op::SOrB32 => logic32(wave, inst, a | b),
        Op::SXorB32 => logic32(wave, inst, a ^ b),
        Op::SAndn2B32 => logic32(wave, inst, a & !b),
        Op::SOrn2B32 => logic32(wave, inst, a | !b),
        Op::SNandB32 => logic32(wave, inst, !(a & b)),
        Op::SNorB32 => logic32(wave, inst, !(a | b)),
        Op::SXnorB32 => logic32(wave, inst, !(a ^ b)),
        Op::SLshlB32 => logic32(wave, inst, a << (b & 31)),
        Op::SLshrB32 => logic32(wave, inst, a >> (b & 31)),
        Op::SAshrI32 => logic32(wave, inst, (ia >> (b & 31)) as u32),
        Op::SLshlB64 => {
            let a = wide_first(wave);
            logic64(wave, inst, a << (b & 63))
        }
        Op::SLshrB64 => {
            let a = wide_first(wave);
            logic64(wave, inst, a >> (b & 63))
        }
        Op::SAshrI64 => {
            let a = wide_first(wave) as i64;
            logic64(wave, inst, (a >> (b & 63)) as u64)
        }
        Op::SBfmB32 => put32(wave, inst, ((1 << (a & 31)) - 1) << (b & 31), None),
        Op::SBfmB64 => put64(wave, inst, ((1_u64 << (a & 63)) - 1) << (b & 63), None),
        Op::SMulI32 => put32(wave, inst, a.wrapping_mul(b), None),
        Op::SBfeU32 => logic32(wave, inst, bits::field(u64::from(a >> (b & 31)), b) as u32),
        Op::SBfeI32 => logic32(wave, inst, bits::signed_field(i64::from(ia >> (b & 31)), b) as u32),
        Op::SBfeU64 => {
            let a = wide_first(wave);
            logic64(wave, inst, bits::field(a >> (b & 63), b))
        }
        Op::SBfeI64 => {
            let a = wide_first(wave) as i64;
            logic64(wave, inst, bits::signed_field(a >> (b & 63), b) as u64)
        }
        Op::SAbsdiffI32 => logic32(wave, inst, ia.wrapping_sub(ib).unsigned_abs()),
        Op::SMulHiU32 => put32(wave, inst, ((u64::from(a) * u64::from(b)) >> 32) as u32, None),
        Op::SMulHiI32 => put32(wave, inst, ((i64::from(ia) * i64::from(ib)) >> 32) as u32, None),
        Op::SLshl1AddU32 => shift_add(wave, inst, a, b, 1),
        Op::SLshl2AddU32 => shift_add(wave, inst, a, b, 2),
        Op::SLshl3AddU32 => shift_add(wave, inst, a, b, 3),
        Op::SLshl4AddU32 => shift_add(wave, inst, a, b, 4),
        Op::SPackLlB32B16 => put32(wave, inst, a & 0xffff | b << 16, None),
        Op::SPackLhB32B16 => put32(wave, inst, a & 0xffff | b & 0xffff_0000, None),
        Op::SPackHhB32B16 => put32(wave, inst, a >> 16 | b & 0xffff_0000, None),
        _ => {
            let (a, b) = wide(wave);
            let value = match op {
                Op::SAndB64 => a & b,
                Op::SOrB64 => a | b,
                Op::SXorB64 => a ^ b,
                Op::SAndn2B64 => a & !b,
                Op::SOrn2B64 => a | !b,
                Op::SNandB64 => !(a & b),
                Op::SNorB64 => !(a | b),
                Op::SXnorB64 => !(a ^ b),
                _ => return Err(unimplemented(inst).into()),
            };
            logic64(wave, inst, value)
        }
    }
}

fn shift_add(wave: &mut Wave, inst: &Inst, a: u32, b: u32, shift: u32) -> Result<Flow> {
    let sum = (u64::from(a) << shift) + u64::from(b);
    put32(wave, inst, sum as u32, Some(sum >> 32 != 0))
}

#[inline(always)]
fn sopc(op: Op, wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Result<Flow> {
    let [x, y, _] = inst.src;
    let (a, b) = (scalar32(wave, x), scalar32(wave, y));
    let (ia, ib) = (a as i32, b as i32);
    wave.scc = match op {
        Op::SCmpEqI32 | Op::SCmpEqU32 => a == b,
        Op::SCmpLgI32 | Op::SCmpLgU32 => a != b,
        Op::SCmpGtI32 => ia > ib,
        Op::SCmpGeI32 => ia >= ib,
        Op::SCmpLtI32 => ia < ib,
        Op::SCmpLeI32 => ia <= ib,
        Op::SCmpGtU32 => a > b,
        Op::SCmpGeU32 => a >= b,
        Op::SCmpLtU32 => a < b,
        Op::SCmpLeU32 => a <= b,
        Op::SBitcmp0B32 => a >> (b & 31) & 1 == 0,
        Op::SBitcmp1B32 => a >> (b & 31) & 1 == 1,
        Op::SBitcmp0B64 => scalar64(wave, x) >> (b & 63) & 1 == 0,
        Op::SBitcmp1B64 => scalar64(wave, x) >> (b & 63) & 1 == 1,
        Op::SCmpEqU64 => scalar64(wave, x) == scalar64(wave, y),
        Op::SCmpLgU64 => scalar64(wave, x) != scalar64(wave, y),
        Op::SSetGprIdxOn => return hwreg::set_index_on(wave, a, inst.imm as u32),
        _ => return Err(unimplemented(inst).into()),
    };
    Ok(Flow::Next)
}

#[inline(always)]
fn sopk(op: Op, wave: &mut Wave, ctx: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Result<Flow> {
    let old = scalar32(wave, inst.dst);
    let signed = old as i32;
    let (imm, unsigned) = (inst.imm, u32::from(inst.imm as u16));
    wave.scc = match op {
        Op::SMovkI32 => return put32(wave, inst, imm as u32, None),
        Op::SCmovkI32 if wave.scc => return put32(wave, inst, imm as u32, None),
        Op::SCmovkI32 => return Ok(Flow::Next),
        Op::SAddkI32 => {
            let (sum, overflow) = signed.overflowing_add(imm);
            return put32(wave, inst, sum as u32, Some(overflow));
        }
        Op::SMulkI32 => return put32(wave, inst, signed.wrapping_mul(imm) as u32, None),
        Op::SCmpkEqI32 => signed == imm,
        Op::SCmpkLgI32 => signed != imm,
        Op::SCmpkGtI32 => signed > imm,
        Op::SCmpkGeI32 => signed >= imm,
        Op::SCmpkLtI32 => signed < imm,
        Op::SCmpkLeI32 => signed <= imm,
        Op::SCmpkEqU32 => old == unsigned,
        Op::SCmpkLgU32 => old != unsigned,
        Op::SCmpkGtU32 => old > unsigned,
        Op::SCmpkGeU32 => old >= unsigned,
        Op::SCmpkLtU32 => old < unsigned,
        Op::SCmpkLeU32 => old <= unsigned,
        Op::SCallB64 => {
            let next = ctx.program.end_of(wave.pc - 1);
            let flow = control::branch(wave, ctx, code)?;
            set_scalar64(wave, inst.dst, next);
            return Ok(flow);
        }
        Op::SGetregB32 => return hwreg::get(wave, inst),
        Op::SSetregB32 => return hwreg::set(wave, inst, old),
        Op::SSetregImm32B32 => {
            let value = scalar32(wave, inst.src[0]);
            return hwreg::set(wave, inst, value);
        }
        _ => return Err(unimplemented(inst).into()),
    };
    Ok(Flow::Next)
}
