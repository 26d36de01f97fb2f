//! Vector instructions with modifiers, or in an unusual mode: the slow path.
//!
//! Goes in: an instruction whose operands need work before or after its kernel. Comes out: the same
//! as from the fast path. Order: relative register indexing, lane movement (DPP) or part selection
//! (SDWA, op_sel), denormals, absolute value, negation; kernel; denormals, output modifier, clamp,
//! placement.

use super::lane::Out;
use super::plan::{Dest, Plan, Touch, is_mixed, is_packed, source, tests_class};
use super::{Scratch, Step, dpp, fetch_extra, prepare, saturate, sdwa, store, target};
use crate::exec::formats::{f16_to_f32, f32_to_f16};
use crate::exec::program::{Code, Unit};
use crate::exec::step::unimplemented;
use crate::exec::{Ctx, Flow, Lanes, WAVE, Wave, mode};
use crate::fault::FaultKind;
use crate::isa::{Enc, Inst, Mods, Op, Operand, Ty, reg};

#[inline(always)]
pub(super) fn execute(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, code: &Code) -> Step {
    let Unit::Vector(plan) = &code.unit else { return Err(unimplemented(inst).into()) };
    if let Some(dpp) = inst.mods.dpp.filter(|dpp| !dpp::known(dpp.ctrl)) {
        let text = format!("{} with dpp_ctrl {:#x}", inst.op.info().name, dpp.ctrl);
        return Err(FaultKind::Unimplemented { text }.into());
    }
    let indexed = indexed(wave, inst);
    let inst = indexed.as_ref().unwrap_or(inst);
    let mut exec = wave.exec();
    let usual = wave.mode & code.places.mode_mask == code.places.mode_usual;
    for i in 0..usize::from(plan.sources) {
        let ty = plan.types[i];
        prepare(wave, i, source(inst, i, plan), ty, &Touch::NONE)?;
        if usual && !is_modified(inst, i, plan) {
            continue;
        }
        wave.lanes.same[i] = [0; 2];
        let registers = &mut wave.lanes.registers.sources[i];
        if i == 0
            && let Some(dpp) = inst.mods.dpp
        {
            let count = usize::from(ty.dwords().clamp(1, 2));
            exec &= dpp::apply(dpp, &mut registers[..count], exec);
        }
        modify_source(registers, i, inst, plan, wave.mode);
    }
    let argument = fetch_extra(wave, plan);
    let target = target(wave, inst, plan)?;

    let Wave { vgpr, lanes, mode, .. } = wave;
    let Scratch { registers, results: [lo, hi, flag], .. } = &mut **lanes;
    let operands = registers.sources.each_ref().map(|source| source.each_ref());
    let directed = *mode & (mode::ROUND_32 | mode::ROUND_16_64 | mode::FP16_OVFL) != 0;
    let kernel = if directed { plan.directed } else { plan.kernel };
    let out = &mut Out { lo, hi, flag };
    kernel.run(&operands, out, argument);
    if inst.mods.clamp {
        saturate::clamp(inst.op, &operands, out);
    }

    modify_result(out.lo, out.hi, inst, plan, *mode);
    if let Some(sdwa) = &inst.mods.sdwa
        && !matches!(plan.dest, Dest::Mask | Dest::MaskExec)
    {
        sdwa::place(sdwa, out.lo, &vgpr[target]);
    }
    store(wave, inst, plan, target, exec);
    Ok(Flow::Next)
}

/// The instruction with its vector registers moved by the index in M0, when MODE asks for that.
/// Bits 15:12 of M0 say for which of source 0, 1, 2 and destination.
fn indexed(wave: &Wave, inst: &Inst) -> Option<Inst> {
    if wave.mode & mode::GPR_IDX_EN == 0 {
        return None;
    }
    let m0 = wave.sgpr[usize::from(reg::M0)];
    let (index, enabled) = ((m0 & 0xff) as u16, m0 >> 12);
    let moved = |operand: Operand, bit: u32| match operand {
        Operand::Vgpr(n) if enabled >> bit & 1 == 1 => Operand::Vgpr(n + index),
        other => other,
    };
    let mut inst = *inst;
    for (bit, src) in (0..).zip(&mut inst.src) {
        *src = moved(*src, bit);
    }
    inst.dst = moved(inst.dst, 3);
    Some(inst)
}

/// Whether source `i` is anything but its plain value in the usual mode.
fn is_modified(inst: &Inst, i: usize, plan: &Plan) -> bool {
    let m = &inst.mods;
    let halves = if inst.enc == Enc::Vop3p {
        !is_packed(plan.types[i]) || m.op_sel >> i & 1 == 1 || m.op_sel_hi >> i & 1 == 0
    } else {
        m.op_sel & 7 != 0
    };
    m.dpp.is_some() || m.sdwa.is_some() || halves || (m.neg | m.abs | m.neg_hi) >> i & 1 == 1
}

fn modify_source(source: &mut [Lanes; 2], i: usize, inst: &Inst, plan: &Plan, mode: u32) {
    let mods = &inst.mods;
    let mut ty = plan.types[i];
    if let Some(sdwa) = &mods.sdwa
        && i < 2
    {
        sdwa::select(sdwa.src_sel[i], sdwa.sext[i], &mut source[0]);
    }
    match inst.op {
        op if is_mixed(op) => return mix_source(&mut source[0], i, mods, mode),
        // Source 0 gives the low result and source 1 the high one, each from a half of its pair.
        Op::VPkMovB32 => {
            source[i] = source[usize::from(mods.op_sel >> i & 1)];
            return;
        }
        // The modifiers of a selection are those of floats.
        Op::VCndmaskB32 if i < 2 => ty = Ty::F32,
        _ => {}
    }
    if inst.enc == Enc::Vop3p {
        select_halves(source, ty, mods.op_sel >> i & 1 == 1, mods.op_sel_hi >> i & 1 == 1);
    } else if matches!(ty, Ty::I16 | Ty::F16 | Ty::Bf16) && mods.op_sel >> i & 1 == 1 {
        source[0].0.iter_mut().for_each(|x| *x >>= 16);
    } else if ty == Ty::I8 && i == 0 {
        source[0].0.iter_mut().for_each(|x| *x >>= 8 * (mods.op_sel & 3));
    }
    if !tests_class(inst.op) && inst.op != Op::VCndmaskB32 {
        let [lo, hi] = source;
        flush(lo, hi, ty, mode, 0);
    }
    set_signs(source, ty, mods, i, inst.enc == Enc::Vop3p);
}

/// A source of the mixed-precision operations: f32, or a half chosen by op_sel where op_sel_hi is
/// set. Their neg_hi bits mean absolute value.
fn mix_source(lanes: &mut Lanes, i: usize, mods: &Mods, mode: u32) {
    let half = mods.op_sel_hi >> i & 1 == 1;
    let shift = if mods.op_sel >> i & 1 == 1 { 16 } else { 0 };
    let mut none = Lanes::ZERO;
    if half {
        lanes.0.iter_mut().for_each(|x| *x = *x >> shift & 0xffff);
        flush(lanes, &mut none, Ty::F16, mode, 0);
        lanes.0.iter_mut().for_each(|x| *x = f16_to_f32(*x as u16).to_bits());
    } else {
        flush(lanes, &mut none, Ty::F32, mode, 0);
    }
    let keep = if mods.neg_hi >> i & 1 == 1 { 0x7fff_ffff } else { u32::MAX };
    let flip = u32::from(mods.neg >> i & 1) << 31;
    lanes.0.iter_mut().for_each(|x| *x = *x & keep ^ flip);
}

/// Packed operands: which half (or which register of a pair) the low and the high result read.
fn select_halves(source: &mut [Lanes; 2], ty: Ty, low_from_high: bool, high_from_high: bool) {
    if !is_packed(ty) {
        return;
    }
    if ty == Ty::PkF32 {
        let [lo, hi] = *source;
        *source = [if low_from_high { hi } else { lo }, if high_from_high { hi } else { lo }];
        return;
    }
    for x in &mut source[0].0 {
        let (lo, hi) = (*x & 0xffff, *x >> 16);
        *x = if low_from_high { hi } else { lo } | if high_from_high { hi } else { lo } << 16;
    }
}

/// Absolute value, then negation, of a source.
fn set_signs(source: &mut [Lanes; 2], ty: Ty, mods: &Mods, i: usize, packed: bool) {
    let touch = Touch::signs(mods, i, ty, packed);
    for (k, register) in source.iter_mut().enumerate() {
        register.0.iter_mut().for_each(|x| *x = *x & touch.keep[k] ^ touch.flip[k]);
    }
}

/// Denormals to zero of the same sign where MODE says so: `result` is 0 for sources, 1 for
/// results.
fn flush(lo: &mut Lanes, hi: &mut Lanes, ty: Ty, mode: u32, result: u32) {
    let keep_single = mode >> (4 + result) & 1 == 1;
    let keep_other = mode >> (6 + result) & 1 == 1;
    let single = |x: u32| if x & 0x7f80_0000 == 0 { x & 0x8000_0000 } else { x };
    match ty {
        Ty::F32 | Ty::PkF32 if !keep_single => {
            lo.0.iter_mut().for_each(|x| *x = single(*x));
            if ty == Ty::PkF32 {
                hi.0.iter_mut().for_each(|x| *x = single(*x));
            }
        }
        Ty::F16 | Ty::PkF16 if !keep_other => {
            for x in &mut lo.0 {
                let low = if *x & 0x7c00 == 0 { *x & 0x8000 } else { *x & 0xffff };
                let high = if *x & 0x7c00_0000 == 0 { *x & 0x8000_0000 } else { *x & 0xffff_0000 };
                *x = low | high;
            }
        }
        Ty::F64 if !keep_other => {
            for (lo, hi) in lo.0.iter_mut().zip(&mut hi.0) {
                if *hi & 0x7ff0_0000 == 0 {
                    (*lo, *hi) = (0, *hi & 0x8000_0000);
                }
            }
        }
        _ => {}
    }
}

fn modify_result(lo: &mut Lanes, hi: &mut Lanes, inst: &Inst, plan: &Plan, mode: u32) {
    let ty = plan.result;
    flush(lo, hi, ty, mode, 1);
    let denormals = match ty {
        Ty::F32 | Ty::PkF32 => mode & mode::DENORM_32 & !0x10,
        _ => mode & mode::DENORM_16_64 & !0x40,
    };
    let scaled = denormals == 0 && mode & mode::IEEE == 0;
    let factor = match inst.mods.omod {
        1 if scaled => 2.0,
        2 if scaled => 4.0,
        3 if scaled => 0.5,
        _ => 1.0,
    };
    let clamp = inst.mods.clamp;
    if factor == 1.0 && !clamp {
        return;
    }
    let nan_to_zero = mode & mode::DX10_CLAMP != 0;
    let finish = |x: f64| {
        let x = x * factor;
        if !clamp {
            x
        } else if x.is_nan() {
            if nan_to_zero { 0.0 } else { x }
        } else if x > 0.0 {
            x.min(1.0)
        } else {
            0.0
        }
    };
    let single = |x: u32| (finish(f32::from_bits(x).into()) as f32).to_bits();
    let half = |x: u32| u32::from(f32_to_f16(finish(f16_to_f32(x as u16).into()) as f32));
    for i in 0..WAVE {
        match ty {
            Ty::F32 => lo.0[i] = single(lo.0[i]),
            Ty::PkF32 => (lo.0[i], hi.0[i]) = (single(lo.0[i]), single(hi.0[i])),
            Ty::F16 => lo.0[i] = half(lo.0[i]),
            Ty::PkF16 => lo.0[i] = half(lo.0[i]) | half(lo.0[i] >> 16) << 16,
            Ty::PkBf16 => {
                lo.0[i] = single(lo.0[i] << 16) >> 16 | single(lo.0[i] & 0xffff_0000) & 0xffff_0000;
            }
            Ty::F64 => {
                let x = u64::from(lo.0[i]) | u64::from(hi.0[i]) << 32;
                let x = finish(f64::from_bits(x)).to_bits();
                (lo.0[i], hi.0[i]) = (x as u32, (x >> 32) as u32);
            }
            _ => return,
        }
    }
    flush(lo, hi, ty, mode, 1);
}
