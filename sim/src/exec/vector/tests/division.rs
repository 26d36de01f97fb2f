//! The compiler's division sequences against the host's division, which IEEE 754 defines.

use crate::exec::WAVE;
use crate::exec::testing::{execute, lanes, pair, pairs, random, wave};

/// v0 / v1 in v2, as clang expands an IEEE f32 division.
const DIVIDE_F32: &[u32] = &[
    0xd1e0_0403,
    0x0402_0301, // v_div_scale_f32 v3, s[4:5], v1, v1, v0
    0xd1e0_6a04,
    0x0402_0300, // v_div_scale_f32 v4, vcc, v0, v1, v0
    0x7e0a_4503, // v_rcp_f32_e32 v5, v3
    0xd1cb_0006,
    0x23ca_0b03, // v_fma_f32 v6, -v3, v5, 1.0
    0x760a_0b06, // v_fmac_f32_e32 v5, v6, v5
    0x0a0c_0b04, // v_mul_f32_e32 v6, v4, v5
    0xd1cb_0007,
    0x2412_0d03, // v_fma_f32 v7, -v3, v6, v4
    0x760c_0b07, // v_fmac_f32_e32 v6, v7, v5
    0xd1cb_0003,
    0x2412_0d03, // v_fma_f32 v3, -v3, v6, v4
    0xd1e2_0003,
    0x041a_0b03, // v_div_fmas_f32 v3, v3, v5, v6
    0xd1de_0002,
    0x0402_0303, // v_div_fixup_f32 v2, v3, v1, v0
];

/// v[0:1] / v[2:3] in v[12:13], as clang expands an f64 division.
const DIVIDE_F64: &[u32] = &[
    0xd1e1_0404,
    0x0402_0502, // v_div_scale_f64 v[4:5], s[4:5], v[2:3], v[2:3], v[0:1]
    0x7e0c_4b04, // v_rcp_f64_e32 v[6:7], v[4:5]
    0xd1cc_0008,
    0x23ca_0d04, // v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    0xd1cc_0006,
    0x041a_1106, // v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
    0xd1cc_0008,
    0x23ca_0d04, // v_fma_f64 v[8:9], -v[4:5], v[6:7], 1.0
    0xd1cc_0006,
    0x041a_1106, // v_fma_f64 v[6:7], v[6:7], v[8:9], v[6:7]
    0xd1e1_6a08,
    0x0402_0500, // v_div_scale_f64 v[8:9], vcc, v[0:1], v[2:3], v[0:1]
    0xd281_000a,
    0x0002_0d08, // v_mul_f64 v[10:11], v[8:9], v[6:7]
    0xd1cc_0004,
    0x2422_1504, // v_fma_f64 v[4:5], -v[4:5], v[10:11], v[8:9]
    0xd1e3_0004,
    0x042a_0d04, // v_div_fmas_f64 v[4:5], v[4:5], v[6:7], v[10:11]
    0xd1df_000c,
    0x0402_0504, // v_div_fixup_f64 v[12:13], v[4:5], v[2:3], v[0:1]
];

fn check_f32(a: impl Fn(usize) -> f32, b: impl Fn(usize) -> f32) {
    let mut wave = wave();
    wave.vgpr[0] = lanes(|i| a(i).to_bits());
    wave.vgpr[1] = lanes(|i| b(i).to_bits());
    execute(DIVIDE_F32, &mut wave);
    for i in 0..WAVE {
        let (got, want) = (f32::from_bits(wave.vgpr[2].0[i]), a(i) / b(i));
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{:e} / {:e} = {want:e}, got {got:e}", a(i), b(i));
    }
}

fn check_f64(a: impl Fn(usize) -> f64, b: impl Fn(usize) -> f64) {
    let mut wave = wave();
    [wave.vgpr[0], wave.vgpr[1]] = pairs(|i| a(i).to_bits());
    [wave.vgpr[2], wave.vgpr[3]] = pairs(|i| b(i).to_bits());
    execute(DIVIDE_F64, &mut wave);
    for i in 0..WAVE {
        let (got, want) = (f64::from_bits(pair(&wave, 12, i)), a(i) / b(i));
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        assert!(same, "{:e} / {:e} = {want:e}, got {got:e}", a(i), b(i));
    }
}

#[test]
fn f32_division_is_correctly_rounded_for_any_bits() {
    let mut next = random(1);
    for _ in 0..2000 {
        let (a, b): (Vec<u64>, Vec<u64>) = (0..WAVE).map(|_| (next(), next())).unzip();
        check_f32(|i| f32::from_bits(a[i] as u32), |i| f32::from_bits(b[i] as u32));
    }
}

#[test]
fn f32_division_is_correctly_rounded_where_the_quotient_or_an_operand_is_denormal() {
    let mut next = random(2);
    for _ in 0..1000 {
        let bits: Vec<u64> = (0..WAVE).map(|_| next()).collect();
        // Numerators with biased exponents 0 to 29, denominators near 1 or near 2^-126.
        let a = |i: usize| f32::from_bits(bits[i] as u32 % (30 << 23));
        let b = |i: usize| {
            let exponent = if bits[i] >> 63 == 1 { 0 } else { 120 << 23 };
            f32::from_bits(exponent + (bits[i] >> 32) as u32 % (20 << 23))
        };
        check_f32(a, b);
        check_f32(b, a);
        // Both near the top.
        check_f32(
            |i| f32::from_bits(0x7f00_0000 | bits[i] as u32 & 0x7f_ffff),
            |i| f32::from_bits(0x7e00_0000 | (bits[i] >> 32) as u32 & 0xff_ffff),
        );
        // A denominator whose reciprocal is denormal under an ordinary numerator.
        check_f32(
            |i| f32::from_bits(0x3000_0000 | bits[i] as u32 & 0xfff_ffff),
            |i| f32::from_bits(0x7f00_0000 | (bits[i] >> 32) as u32 & 0x7f_ffff),
        );
    }
}

#[test]
fn f64_division_is_correctly_rounded_for_any_bits() {
    let mut next = random(3);
    for _ in 0..2000 {
        let (a, b): (Vec<u64>, Vec<u64>) = (0..WAVE).map(|_| (next(), next())).unzip();
        check_f64(|i| f64::from_bits(a[i]), |i| f64::from_bits(b[i]));
    }
}

#[test]
fn f64_division_is_correctly_rounded_where_the_quotient_or_an_operand_is_denormal() {
    let mut next = random(4);
    for _ in 0..1000 {
        let (x, y): (Vec<u64>, Vec<u64>) = (0..WAVE).map(|_| (next(), next())).unzip();
        // Numerators with biased exponents 0 to 59, denominators near 1 or near 2^-1022.
        let a = |i: usize| f64::from_bits(x[i] % (60 << 52));
        let b = |i: usize| {
            let exponent = if x[i] >> 63 == 1 { 0 } else { 1013 << 52 };
            f64::from_bits(exponent + y[i] % (20 << 52))
        };
        check_f64(a, b);
        check_f64(b, a);
        check_f64(
            |i| f64::from_bits(0x3fd << 52 | x[i] >> 12),
            |i| f64::from_bits(0x7fd << 52 | y[i] >> 11),
        );
    }
}

#[test]
fn division_by_zero_and_of_infinities_gives_what_ieee_says() {
    let values = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45];
    check_f32(|i| values[i / 8], |i| values[i % 8]);
    check_f64(|i| values[i / 8].into(), |i| values[i % 8].into());
}
