//! Transcendental functions without branches, in f64, so that loops over lanes vectorise.
//!
//! Goes in: an argument in the range that f32 or f16 can give. Comes out: a result within 2^-30 of
//! the exact one, which rounds to f32 within half a unit in the last place plus 1%.

use std::f64::consts::{LN_2, PI};

/// Adding and subtracting it rounds a small f64 to an integer, to nearest even.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52

/// 2^x for |x| < 2000. The polynomial is the Taylor series of e^(r ln 2) to degree 10 on
/// |r| <= 0.5, whose remainder is below 0.3466^11 / 11! = 2^-42.
#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let shifted = x + ROUND;
    let n = shifted - ROUND;
    let t = (x - n) * LN_2;
    let mut p = 1.0 / 3_628_800.0;
    for c in [362_880.0, 40_320.0, 5_040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0] {
        p = p * t + 1.0 / c;
    }
    // The low bits of `shifted` hold n. Two factors keep each exponent in range.
    let n = shifted.to_bits() as i32;
    let half = n >> 1;
    p * pow2(half) * pow2(n - half)
}

/// 2^n for -1022 <= n <= 1023.
#[inline(always)]
fn pow2(n: i32) -> f64 {
    f64::from_bits(((i64::from(n) + 1023) as u64) << 52)
}

/// log2(x) for positive normal f64 x. With m in [sqrt(1/2), sqrt(2)) and s = (m-1)/(m+1), ln m is
/// 2 (s + s^3/3 + ... + s^17/17), whose relative remainder is below 0.1716^18 / 19 = 2^-50.
#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let bits = x.to_bits();
    // Exponent of x relative to the interval that starts at sqrt(1/2).
    let offset = bits.wrapping_sub(SQRT_HALF) & 0xfff0_0000_0000_0000;
    let m = f64::from_bits(bits.wrapping_sub(offset));
    // i64 to f64 does not vectorise on AVX2, i32 does.
    let exponent = f64::from((offset >> 52) as i32 - ((offset >> 63) as i32) * 4096);
    let s = (m - 1.0) / (m + 1.0);
    let q = s * s;
    let mut p = 1.0 / 17.0;
    for c in [15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0] {
        p = p * q + 1.0 / c;
    }
    exponent + s * p * (2.0 / LN_2)
}

/// sin(2 pi x) for |x| < 2^31, by Taylor series to degree 15 on a quarter period: remainder below
/// (pi/2)^17 / 17! = 2^-37.
#[inline(always)]
pub(super) fn sin_turns(x: f64) -> f64 {
    // r is in [-1/2, 1/2]; sin(pi - t) = sin(t) folds it into [-1/4, 1/4].
    let r = x - (x + ROUND - ROUND);
    let folded = 0.5_f64.copysign(r) - r;
    let t = 2.0 * PI * if r.abs() > 0.25 { folded } else { r };
    let q = -t * t;
    let mut p = 1.0;
    for c in [15.0 * 14.0, 13.0 * 12.0, 11.0 * 10.0, 9.0 * 8.0, 7.0 * 6.0, 5.0 * 4.0, 3.0 * 2.0] {
        p = 1.0 + p * q * (1.0 / c);
    }
    t * p
}

/// cos(2 pi x), a quarter turn ahead of the sine.
#[inline(always)]
pub(super) fn cos_turns(x: f64) -> f64 {
    // Reduce first: adding a quarter to a large x would lose bits.
    sin_turns(x - (x + ROUND - ROUND) + 0.25)
}
