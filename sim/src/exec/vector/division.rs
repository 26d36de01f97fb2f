//! The steps of IEEE division that the compiler strings together (`v_div_scale`, `v_div_fmas`,
//! `v_div_fixup`), exponent manipulation, and the bits of 2/pi.
//!
//! Goes in: lanes as floats. Comes out: results as AMD's ISA documents define them, with two
//! corrections where the published pseudocode cannot work: a denominator near the largest float is
//! scaled down, not up, and `v_div_fmas` scales by what `v_div_scale` scaled by.

use super::rounding::add_odd;

/// The first 1201 bits of the fraction of 2/pi, most significant first.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// Mantissa in [0.5, 1) and exponent; zero, infinity and NaN come back with exponent zero.
#[inline(always)]
pub(super) fn frexp_f32(x: f32) -> (f32, i32) {
    // Every f32 is a normal f64.
    let bits = f64::from(x).to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    let mantissa = f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 1022 << 52) as f32;
    let plain = x != 0.0 && x.abs() < f32::INFINITY;
    if plain { (mantissa, exponent) } else { (x, 0) }
}

/// Mantissa in [0.5, 1) and exponent; zero, infinity and NaN come back with exponent zero.
#[inline(always)]
pub(super) fn frexp_f64(x: f64) -> (f64, i32) {
    let tiny = x.abs() < f64::MIN_POSITIVE;
    // 2^54 makes every denormal normal.
    let scaled = if tiny { x * 18_014_398_509_481_984.0 } else { x };
    let bits = scaled.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - if tiny { 1022 + 54 } else { 1022 };
    let mantissa = f64::from_bits(bits & 0x800f_ffff_ffff_ffff | 1022 << 52);
    let plain = x != 0.0 && x.abs() < f64::INFINITY;
    if plain { (mantissa, exponent) } else { (x, 0) }
}

/// 2^n for -1022 <= n <= 1023.
#[inline(always)]
fn pow2(n: i32) -> f64 {
    f64::from_bits(((i64::from(n) + 1023) as u64) << 52)
}

/// `x * 2^n`, rounded once.
#[inline(always)]
pub(super) fn ldexp_f32(x: f32, n: i32) -> f32 {
    // Exact in f64; beyond 300 everything is zero or infinite.
    (f64::from(x) * pow2(n.clamp(-300, 300))) as f32
}

/// `x * 2^n`, rounded once.
#[inline(always)]
pub(super) fn ldexp_f64(x: f64, n: i32) -> f64 {
    let n = n.clamp(-2200, 2200);
    if n < -1022 {
        // The first steps leave 54 bits of room above the denormals, or the result is zero.
        let first = (n + 1022).max(-968);
        let rest = n - first;
        let second = rest.max(-968);
        x * pow2(first) * pow2(second) * pow2((rest - second).max(-968))
    } else if n > 1023 {
        let rest = n - 1023;
        x * pow2(1023) * pow2(rest.min(1023)) * pow2(rest - rest.min(1023))
    } else {
        x * pow2(n)
    }
}

#[inline(always)]
fn exponent_f32(x: f32) -> i32 {
    (x.to_bits() >> 23 & 0xff) as i32
}

#[inline(always)]
fn exponent_f64(x: f64) -> i32 {
    (x.to_bits() >> 52 & 0x7ff) as i32
}

/// Scales `value`, which is the denominator or the numerator, so that the reciprocal and the
/// residual of the division neither overflow nor lose bits. The flag says that the quotient has to
/// be scaled back.
#[inline(always)]
pub(super) fn scale_f32(value: f32, denominator: f32, numerator: f32) -> (f32, bool) {
    const TINY: f64 = f32::MIN_POSITIVE as f64;
    let (d, n) = (f64::from(denominator), f64::from(numerator));
    let is_denominator = value == denominator;
    let (up, down) = (f64::from(value) * pow2(64), f64::from(value) * pow2(-64));
    let same = f64::from(value);
    let quotient_tiny = (n / d).abs() < TINY;
    let reciprocal_tiny = (1.0 / d).abs() < TINY;
    let gap = exponent_f32(numerator) - exponent_f32(denominator);
    let (scaled, flag) = if n == 0.0 || d == 0.0 {
        (f64::NAN, false)
    } else if gap >= 96 {
        (if is_denominator { up } else { same }, true)
    } else if d.abs() < TINY {
        (up, false)
    } else if reciprocal_tiny && quotient_tiny {
        (if is_denominator { down } else { same }, true)
    } else if reciprocal_tiny {
        (down, false)
    } else if quotient_tiny {
        (if value == numerator { up } else { same }, true)
    } else if exponent_f32(numerator) <= 23 {
        (up, false)
    } else {
        (same, false)
    };
    (scaled as f32, flag)
}

/// As [`scale_f32`].
#[inline(always)]
pub(super) fn scale_f64(value: f64, denominator: f64, numerator: f64) -> (f64, bool) {
    let (d, n) = (denominator, numerator);
    let is_denominator = value == d;
    let (up, down) = (value * pow2(128), value * pow2(-128));
    let quotient_tiny = (n / d).abs() < f64::MIN_POSITIVE;
    let reciprocal_tiny = (1.0 / d).abs() < f64::MIN_POSITIVE;
    if n == 0.0 || d == 0.0 {
        (f64::NAN, false)
    } else if exponent_f64(n) - exponent_f64(d) >= 768 {
        (if is_denominator { up } else { value }, true)
    } else if d.abs() < f64::MIN_POSITIVE {
        (up, false)
    } else if reciprocal_tiny && quotient_tiny {
        (if is_denominator { down } else { value }, true)
    } else if reciprocal_tiny {
        (down, false)
    } else if quotient_tiny {
        (if value == n { up } else { value }, true)
    } else if exponent_f64(n) <= 53 {
        (up, false)
    } else {
        (value, false)
    }
}

/// `a * b + c`, scaled back when `flag` is set, rounded once.
#[inline(always)]
pub(super) fn fmas_f32(a: f32, b: f32, c: f32, flag: bool) -> f32 {
    let exact = add_odd(f64::from(a) * f64::from(b), f64::from(c));
    let factor = if exponent_f32(c) > 127 { pow2(64) } else { pow2(-64) };
    (if flag { exact * factor } else { exact }) as f32
}

/// `a * b + c`, scaled back when `flag` is set, rounded once.
#[inline(always)]
pub(super) fn fmas_f64(a: f64, b: f64, c: f64, flag: bool) -> f64 {
    let near = a.mul_add(b, c);
    if !flag {
        near
    } else if exponent_f64(c) > 1023 {
        near * pow2(128)
    } else {
        let scaled = near * pow2(-128);
        // `near` was rounded already. That matters where the second rounding then met a tie.
        let lost = near - scaled * pow2(128);
        let high = a * b;
        let low = a.mul_add(b, -high);
        let missing = (high + (c - near)) + low;
        let tie = lost.abs() == pow2(-947);
        if tie && lost > 0.0 && missing > 0.0 {
            scaled.next_up()
        } else if tie && lost < 0.0 && missing < 0.0 {
            scaled.next_down()
        } else {
            scaled
        }
    }
}

macro_rules! fixup {
    ($name:ident, $t:ident, $nan:literal, $least:literal, $most:literal, $exponent:expr) => {
        /// Puts in the results of division that its approximation cannot give: NaN, infinity,
        /// zero, underflow, overflow. `q` is the approximation of `n / d`.
        #[inline(always)]
        pub(super) fn $name(q: $t, d: $t, n: $t) -> $t {
            let sign = if d.is_sign_negative() != n.is_sign_negative() { -1.0 } else { 1.0 };
            let exponent: fn($t) -> i32 = $exponent;
            if n.is_nan() {
                n + n
            } else if d.is_nan() {
                d + d
            } else if (d == 0.0 && n == 0.0) || (d.abs() == $t::INFINITY && n.abs() == $t::INFINITY)
            {
                $t::from_bits($nan)
            } else if d == 0.0 || n.abs() == $t::INFINITY || exponent(n) - exponent(d) > $most {
                sign * $t::INFINITY
            } else if d.abs() == $t::INFINITY || n == 0.0 || exponent(n) - exponent(d) < $least {
                sign * 0.0
            } else {
                q.abs() * sign
            }
        }
    };
}

fixup!(fixup_f32, f32, 0xffc0_0000, -150, 128, exponent_f32);
fixup!(fixup_f64, f64, 0xfff8_0000_0000_0000, -1075, 1024, exponent_f64);
// The f16 form needs no rule for underflow and overflow: its quotient is computed in f32.
fixup!(fixup_f16, f32, 0xffc0_0000, -1000, 1000, exponent_f32);

/// 53 bits of 2/pi for the argument reduction of a large `x`: those of segment `segment` (5 bits),
/// further down the larger `x` is.
#[inline(always)]
pub(super) fn trig_preop(x: f64, segment: u32) -> f64 {
    let exponent = exponent_f64(x);
    let shift = (segment & 31) as i32 * 53 + (exponent - 1077).max(0);
    let (word, bit) = ((shift / 64) as usize, shift % 64);
    let at = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0);
    let wide = u128::from(at(word)) << 64 | u128::from(at(word + 1));
    let bits = (wide << bit >> (128 - 53)) as u64;
    let scale = -53 - shift + if exponent >= 1968 { 128 } else { 0 };
    ldexp_f64(bits as f64, scale)
}
