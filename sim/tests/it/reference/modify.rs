//! What happens to operands before an operation and to its result after it: parts, halves, signs,
//! denormals, output modifier, clamping, placement.

use cdna_sim::isa::Ty;

use super::float::Width;
use super::loose::{Loose, width_of};
use super::vector::{Exactness, Lane, Out};
use super::{Instruction, Machine, Mods, number, rounding, saturate};

/// Bits of MODE: clamping turns NaN into zero; IEEE.
const DX10_CLAMP: u32 = 1 << 8;
const IEEE: u32 = 1 << 9;

impl Machine {
    /// Writes a result to its part of the destination.
    pub(super) fn write(
        &mut self,
        inst: &Instruction,
        lane: usize,
        out: Out,
        input: &Lane,
    ) -> Loose {
        let ty = inst.op.info().dst;
        let (value, unsure) = finished(out.value, inst, input, self.mode);
        let register = Machine::register(inst.dst).unwrap_or(0);
        let old = self.vgpr[register][lane];
        let low = value as u32;
        let high = inst.mods.op_sel & 8 != 0;
        let word = match ty {
            Ty::I8 => old & 0xffff_ff00 | low & 0xff,
            _ if inst.name.ends_with("mixhi_f16") => old & 0xffff | low << 16,
            Ty::I16 | Ty::F16 | Ty::Bf16 if high => old & 0xffff | low << 16,
            Ty::I16 | Ty::F16 | Ty::Bf16 if keeps_half(inst.name) => {
                old & 0xffff_0000 | low & 0xffff
            }
            Ty::I16 | Ty::F16 | Ty::Bf16 => low & 0xffff,
            _ => low,
        };
        self.vgpr[register][lane] = inst.mods.parts.map_or(word, |parts| parts.place(low, old));
        if ty.dwords() == 2 {
            self.vgpr[register + 1][lane] = (value >> 32) as u32;
        }
        let compared = match ty {
            _ if inst.name.ends_with("mixhi_f16") => Ty::PkF16,
            Ty::F16 if high => Ty::PkF16,
            _ => ty,
        };
        let mut loose = Loose::new(register, lane, compared, out.exactness);
        // Of part of a result that is known but for its last places or its payload, nothing is known.
        let vague = out.exactness == Exactness::Approximate
            || width_of(ty).is_some_and(|width| width.decode(value).is_nan());
        let partial = inst.mods.parts.is_some_and(|parts| !parts.writes_all());
        loose.anything = unsure || vague && partial;
        if out.exactness == Exactness::Approximate
            && let Some(width) = width_of(ty)
        {
            // The hardware's approximations flush denormal operands.
            let x = width.decode(input.a);
            loose.anything |= x != 0.0 && x.abs() < width.smallest_normal();
        }
        loose
    }
}

/// Type of a source, with the third one of operations whose table names only two.
pub(super) fn source_type(inst: &Instruction, i: usize) -> Ty {
    let info = inst.op.info();
    info.src.get(i).copied().unwrap_or(info.dst)
}

/// Applies selection of a part or a half, flushes denormals, takes absolute value and negation.
pub(super) fn modified(value: u64, ty: Ty, inst: &Instruction, i: usize, mode: u32) -> u64 {
    let m = &inst.mods;
    let has = |mask: u8| mask >> i & 1 == 1;
    let value = match m.parts {
        Some(parts) if i < 2 => parts.select(value as u32, i).into(),
        _ => value,
    };
    let halves = inst.src.iter().filter(|src| **src != super::Arg::None).count() == 3
        && matches!(ty, Ty::I16 | Ty::F16)
        && !inst.name.starts_with("v_fma_mix");
    let value = if halves && has(m.op_sel) { value >> 16 } else { value };
    if inst.name.starts_with("v_fma_mix") {
        let x = match has(m.op_sel_hi) {
            true => number::F16.decode(value as u32 >> if has(m.op_sel) { 16 } else { 0 } & 0xffff),
            false => f64::from(f32::from_bits(value as u32)),
        };
        let x = if has(m.neg_hi) { x.abs() } else { x };
        return ((if has(m.neg) { -x } else { x }) as f32).to_bits().into();
    }
    let packed_bits = match ty {
        Ty::PkF32 => Some(32),
        Ty::PkF16 | Ty::PkBf16 | Ty::PkI16 => Some(16),
        _ if inst.name == "v_pk_mov_b32" => Some(32),
        _ => None,
    };
    let is_packed = inst.name.starts_with("v_pk_") || inst.name.starts_with("v_dot2_");
    if let Some(bits) = packed_bits.filter(|_| is_packed) {
        let part = |high: bool, negate: bool| {
            let part = value >> if high { bits } else { 0 } & ((1 << bits) - 1);
            part ^ if negate { 1 << (bits - 1) } else { 0 }
        };
        if inst.name == "v_pk_mov_b32" {
            // Each result has one operand; op_sel says which half of it.
            let chosen = part(has(m.op_sel), false);
            return chosen | chosen << 32;
        }
        let both = part(has(m.op_sel), has(m.neg)) | part(has(m.op_sel_hi), has(m.neg_hi)) << bits;
        return rounding::flushed(both, ty, mode, false);
    }
    let sign = match ty {
        Ty::F16 | Ty::Bf16 => 1 << 15,
        Ty::F32 => 1 << 31,
        Ty::F64 => 1 << 63,
        _ => return value,
    };
    let value = rounding::flushed(value, ty, mode, false);
    let value = if has(m.abs) { value & !sign } else { value };
    if has(m.neg) { value ^ sign } else { value }
}

/// The third operand that an operation reads from its destination.
pub(super) fn accumulator(old: u64, inst: &Instruction, mode: u32) -> u64 {
    rounding::flushed(old, inst.op.info().dst, mode, false)
}

/// A result after the output modifier and clamping, and whether nothing certain is known of it.
fn finished(value: u64, inst: &Instruction, input: &Lane, mode: u32) -> (u64, bool) {
    let (m, ty) = (&inst.mods, inst.op.info().dst);
    if m.clamp
        && let Some(clamped) = saturate::clamped(&inst.name[2..], input)
    {
        return (clamped, false);
    }
    let parts: &[(u32, Width)] = match ty {
        Ty::F16 => &[(0, Width::F16)],
        Ty::F32 => &[(0, Width::F32)],
        Ty::F64 => &[(0, Width::F64)],
        Ty::PkF16 => &[(0, Width::F16), (16, Width::F16)],
        Ty::PkF32 => &[(0, Width::F32), (32, Width::F32)],
        _ => return (value, false),
    };
    let (mut result, mut unsure) = (0, false);
    for &(shift, width) in parts {
        let bits = match width {
            Width::F16 => value >> shift & 0xffff,
            Width::F32 => value >> shift & 0xffff_ffff,
            Width::F64 => value,
        };
        let (finished, lost) = finished_part(bits, width, m, mode);
        result |= finished << shift;
        unsure |= lost;
    }
    (result, unsure)
}

fn finished_part(bits: u64, width: Width, m: &Mods, mode: u32) -> (u64, bool) {
    let bits = rounding::flushed_part(bits, width, mode, true);
    // Ignored where denormals are kept, and in IEEE mode.
    let scales = m.omod != 0 && !rounding::keeps(width, mode, true) && mode & IEEE == 0;
    let x = width.decode(bits);
    // What becomes of the sign of zero, and of an overflow that is then halved, is not documented. In
    // the mode that rounds down the sign of an exact zero is not either.
    let unsure = scales && (x == 0.0 || x.is_infinite())
        || x == 0.0 && rounding::direction(width, mode) == rounding::DOWN;
    let x = if scales { x * [1.0, 2.0, 4.0, 0.5][usize::from(m.omod)] } else { x };
    let x = match m.clamp {
        true if x.is_nan() && mode & DX10_CLAMP == 0 => x,
        true if x > 0.0 => x.min(1.0),
        true => 0.0,
        false => x,
    };
    if !scales && !m.clamp {
        return (bits, unsure);
    }
    (rounding::flushed_part(width.encode(x), width, mode, true), unsure)
}

/// 16-bit operations that leave the upper half of their destination alone (LLVM's
/// `zeroesHigh16BitsOfDest` names the others).
fn keeps_half(name: &str) -> bool {
    const KEEPING: [&str; 16] = [
        "v_mad_f16",
        "v_mad_u16",
        "v_mad_i16",
        "v_fma_f16",
        "v_div_fixup_f16",
        "v_bitop3_b16",
        "v_fma_mixlo_f16",
        "v_min3_",
        "v_max3_",
        "v_med3_",
        "v_cvt_pk_fp8_",
        "v_cvt_pk_bf8_",
        "v_cvt_scalef32_pk_",
        "v_cvt_sr_f16_",
        "v_cvt_sr_bf16_",
        "v_cvt_scalef32_f16_",
    ];
    KEEPING.iter().any(|start| name.starts_with(start))
}
