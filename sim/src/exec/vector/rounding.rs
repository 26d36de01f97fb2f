//! Rounding that is not the host's: directed modes, and results rounded once although they were
//! computed in steps.
//!
//! Goes in: exact values, or f64 sums rounded to odd. Comes out: f16, f32 and f64 results.

use crate::exec::formats::{f16_to_f32, f32_to_f16};
use crate::exec::mode::{FP16_OVFL, Round};

/// `a + b` rounded to odd: inexact sums get their last bit set, so that a later rounding to a
/// narrower format is the rounding of the exact sum.
#[inline(always)]
pub(super) fn add_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let error = (a - (sum - b_part)) + (b - b_part);
    let bits = sum.to_bits();
    let step = if (error > 0.0) == (sum > 0.0) { 1 } else { u64::MAX };
    let inexact = error != 0.0 && bits & 1 == 0 && sum.is_finite();
    if inexact { f64::from_bits(bits.wrapping_add(step)) } else { sum }
}

/// `x` as f32, rounded to odd.
#[inline(always)]
pub(super) fn f64_to_f32_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    let step = if back.abs() < x.abs() { 1 } else { u32::MAX };
    let inexact = back != x && near.to_bits() & 1 == 0 && !x.is_nan();
    if inexact { f32::from_bits(near.to_bits().wrapping_add(step)) } else { near }
}

/// `x` as IEEE half, nearest even, rounded once. The f64 may itself be rounded to odd.
#[inline(always)]
pub(super) fn f64_to_f16(x: f64) -> u16 {
    f32_to_f16(f64_to_f32_odd(x))
}

/// `near`, the result nearest to an exact value, moved to what `round` asks for. `excess` is the
/// sign of `near` minus the exact value.
#[inline(always)]
fn direct(near: f64, excess: f64, round: Round, up: f64, down: f64) -> f64 {
    match round {
        Round::Up if excess < 0.0 => up,
        Round::Down if excess > 0.0 => down,
        Round::Zero if excess > 0.0 && near > 0.0 => down,
        Round::Zero if excess < 0.0 && near < 0.0 => up,
        _ => near,
    }
}

/// `x` as f32 in a rounding mode. The f64 may itself be rounded to odd.
pub(super) fn f64_to_f32(x: f64, round: Round) -> f32 {
    let near = x as f32;
    let wide = f64::from(near);
    if wide.is_nan() || wide == x {
        return near;
    }
    let excess = if wide > x { 1.0 } else { -1.0 };
    direct(wide, excess, round, near.next_up().into(), near.next_down().into()) as f32
}

/// `x` as IEEE half in the rounding mode of `mode`, honouring FP16_OVFL. The f64 may itself be
/// rounded to odd.
pub(super) fn f64_to_f16_mode(x: f64, mode: u32) -> u16 {
    let near = f64_to_f16(x);
    let wide = f64::from(f16_to_f32(near));
    if wide.is_nan() || wide == x {
        return near;
    }
    let step = match Round::other(mode) {
        Round::Up if wide < x => x.signum() as i16,
        Round::Down if wide > x => -x.signum() as i16,
        Round::Zero if wide.abs() > x.abs() => -1,
        _ => 0,
    };
    let result = near.wrapping_add_signed(step);
    let overflowed = result & 0x7fff == 0x7c00 && mode & FP16_OVFL != 0 && x.is_finite();
    if overflowed { result - 1 } else { result }
}

/// `a + b` in a rounding mode.
pub(super) fn add_f64(a: f64, b: f64, round: Round) -> f64 {
    let sum = a + b;
    let b_part = sum - a;
    let missing = (a - (sum - b_part)) + (b - b_part);
    adjust(sum, missing, round)
}

/// `a * b` in a rounding mode.
pub(super) fn mul_f64(a: f64, b: f64, round: Round) -> f64 {
    let product = a * b;
    adjust(product, a.mul_add(b, -product), round)
}

/// `a * b + c` in a rounding mode.
pub(super) fn fma_f64(a: f64, b: f64, c: f64, round: Round) -> f64 {
    let near = a.mul_add(b, c);
    let high = a * b;
    let low = a.mul_add(b, -high);
    let sum = high + c;
    let c_part = sum - high;
    let lost = (high - (sum - c_part)) + (c - c_part);
    adjust(near, (sum - near) + (lost + low), round)
}

/// `missing` is the exact value minus `near`.
fn adjust(near: f64, missing: f64, round: Round) -> f64 {
    if near.is_infinite() || missing.is_nan() {
        return near;
    }
    direct(near, -missing, round, near.next_up(), near.next_down())
}
