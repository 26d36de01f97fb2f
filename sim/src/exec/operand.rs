//! Operand values: scalar reads, inline constants and vector registers.
//!
//! Goes in: an operand, the wave and the type the instruction expects. Comes out: a scalar value
//! that all lanes share, or the registers themselves.

use super::{PRIVATE_APERTURE, SHARED_APERTURE, Wave};
use crate::fault::FaultKind;
use crate::isa::{Operand, Ty, reg};

/// Numerators of the inline float constants 240..=248, as the f64 nearest to each.
const FLOATS: [f64; 9] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.159_154_943_091_895_33];

/// IEEE half encodings of the inline float constants.
const HALVES: [u16; 9] = [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];

/// The value of an operand that is the same in all lanes, widened to 64 bits as an operand of
/// type `ty`. Vector registers and absent operands read as zero.
#[inline]
pub(super) fn scalar(wave: &Wave, operand: Operand, ty: Ty) -> u64 {
    match operand {
        Operand::Sgpr(n) => {
            let n = usize::from(n & 127);
            let lo = u64::from(wave.sgpr[n]);
            if ty.dwords() < 2 { lo } else { lo | u64::from(wave.sgpr[(n + 1) & 127]) << 32 }
        }
        Operand::Special(code) => special(wave, code),
        _ => constant(operand, ty).unwrap_or(0),
    }
}

/// The value of an operand that is the same at all times, as [`scalar`] gives it.
#[inline]
pub(super) fn constant(operand: Operand, ty: Ty) -> Option<u64> {
    match operand {
        Operand::Int(i) => Some(i64::from(i) as u64),
        Operand::Literal(v) => Some(literal(v, ty)),
        Operand::Float(code) => Some(float(code, ty)),
        _ => None,
    }
}

/// A 32-bit scalar source.
#[inline]
pub(super) fn scalar32(wave: &Wave, operand: Operand) -> u32 {
    scalar(wave, operand, Ty::B32) as u32
}

/// A 64-bit scalar source.
#[inline]
pub(super) fn scalar64(wave: &Wave, operand: Operand) -> u64 {
    scalar(wave, operand, Ty::B64)
}

/// A literal becomes the high half of an f64 and is zero-extended otherwise, except that 64-bit
/// integer operands sign-extend it.
fn literal(v: u32, ty: Ty) -> u64 {
    match ty {
        Ty::F64 => u64::from(v) << 32,
        Ty::B64 => i64::from(v as i32) as u64,
        _ => u64::from(v),
    }
}

fn float(code: u8, ty: Ty) -> u64 {
    let i = usize::from(code.wrapping_sub(240));
    let (Some(&wide), Some(&half)) = (FLOATS.get(i), HALVES.get(i)) else { return 0 };
    match ty {
        Ty::F16 | Ty::PkF16 | Ty::I16 => u64::from(half),
        Ty::Bf16 | Ty::PkBf16 => u64::from((wide as f32).to_bits() >> 16),
        Ty::F64 | Ty::B64 => wide.to_bits(),
        _ => u64::from((wide as f32).to_bits()),
    }
}

fn special(wave: &Wave, code: u8) -> u64 {
    match code {
        235 => SHARED_APERTURE,
        236 => SHARED_APERTURE | 0xffff_ffff,
        237 => PRIVATE_APERTURE,
        238 => PRIVATE_APERTURE | 0xffff_ffff,
        251 => u64::from(wave.vcc() == 0),
        252 => u64::from(wave.exec() == 0),
        253 => u64::from(wave.scc),
        _ => 0,
    }
}

/// Index in [`Wave::vgpr`] of the first register of a vector operand of `dwords` registers, or a
/// fault naming the register when the wave does not have that many.
#[inline]
pub(super) fn vector_index(
    wave: &Wave,
    operand: Operand,
    dwords: usize,
) -> Result<usize, FaultKind> {
    let (index, end) = match operand {
        Operand::Vgpr(n) => (usize::from(n), wave.acc_base),
        Operand::Agpr(n) => (wave.acc_base + usize::from(n), wave.vgpr.len()),
        _ => return Err(no_register(operand)),
    };
    if index + dwords <= end { Ok(index) } else { Err(no_register(operand)) }
}

#[cold]
fn no_register(operand: Operand) -> FaultKind {
    let register = match operand {
        Operand::Vgpr(n) => format!("v{n}"),
        Operand::Agpr(n) => format!("a{n}"),
        Operand::Sgpr(n) => format!("s{n}"),
        _ => format!("operand {operand:?}"),
    };
    FaultKind::NoRegister { register }
}

/// Sets the scalar destination to a 32-bit value.
#[inline]
pub(super) fn set_scalar32(wave: &mut Wave, operand: Operand, value: u32) {
    if let Operand::Sgpr(n) = operand {
        wave.sgpr[usize::from(n & 127)] = value;
    }
}

/// Sets the scalar destination to a 64-bit value.
#[inline]
pub(super) fn set_scalar64(wave: &mut Wave, operand: Operand, value: u64) {
    if let Operand::Sgpr(n) = operand {
        wave.set_sgpr64(n.min(reg::EXEC), value);
    }
}
