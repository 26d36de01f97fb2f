//! Floating-point instructions against the host and against exact arithmetic in f64.

use half::{bf16, f16};

use crate::exec::testing::{execute, lanes, pair, pairs, random, wave};
use crate::exec::{Lanes, WAVE, Wave};

/// A wave whose registers hold random bits, with more small exponents than chance gives.
fn random_wave(registers: usize, seed: u64) -> Wave {
    let mut next = random(seed);
    let mut wave = wave();
    for register in &mut wave.vgpr[..registers] {
        *register = lanes(|i| next() as u32 & if i % 4 == 0 { 0x83ff_ffff } else { u32::MAX });
    }
    wave
}

fn same(got: u32, want: f32) -> bool {
    got == want.to_bits() || f32::from_bits(got).is_nan() && want.is_nan()
}

fn f32s(wave: &Wave, i: usize) -> impl Fn(usize) -> f32 {
    move |n| f32::from_bits(wave.vgpr[n].0[i])
}

fn halves(bits: u32) -> [f64; 2] {
    [f16::from_bits(bits as u16).to_f64(), f16::from_bits((bits >> 16) as u16).to_f64()]
}

/// Whether a half is the one nearest to an exact value, the even one of two equally near.
fn half_is(bits: u32, want: f64) -> bool {
    let bits = bits as u16;
    let value = |bits: u16| match bits & 0x7fff {
        // In place of infinity, where the next half would be.
        0x7c00 => 65536.0_f64.copysign(f16::from_bits(bits).to_f64()),
        _ => f16::from_bits(bits).to_f64(),
    };
    if want.is_nan() {
        return f16::from_bits(bits).is_nan();
    }
    if want.is_infinite() {
        return f16::from_bits(bits).to_f64() == want;
    }
    let distance = |bits: u16| (value(bits) - want).abs();
    let magnitude = bits & 0x7fff;
    let beats = |other: u16| {
        distance(bits) < distance(other) || distance(bits) == distance(other) && bits & 1 == 0
    };
    magnitude <= 0x7c00
        && (magnitude == 0 || beats(bits - 1))
        && (magnitude == 0x7c00 || beats(bits + 1))
        && (value(bits) == 0.0 || (value(bits) < 0.0) == (want < 0.0))
}

#[test]
fn f32_arithmetic_is_ieee_with_denormals() {
    for seed in 0..200 {
        let mut wave = random_wave(3, seed);
        let old: Wave = wave.clone();
        execute(
            &[
                0xd101_0003,
                0x0002_0300, // v_add_f32_e64 v3, v0, v1
                0x0a08_0300, // v_mul_f32_e32 v4, v0, v1
                0xd1cb_0005,
                0x040a_0300, // v_fma_f32 v5, v0, v1, v2
                0x3006_0300 + (3 << 17),
                0x4040_0000, // v_fmaak_f32 v6, v0, v1, 3.0
                0x2e08_0300 + (3 << 17),
                0x4040_0000, // v_fmamk_f32 v7, v0, 3.0, v1
                0x7604_0300, // v_fmac_f32_e32 v2, v0, v1
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let v = f32s(&old, i);
            let (a, b, c) = (v(0), v(1), v(2));
            let got = |n: usize| wave.vgpr[n].0[i];
            assert!(same(got(3), a + b));
            assert!(same(got(4), a * b));
            assert!(same(got(5), a.mul_add(b, c)));
            assert!(same(got(6), a.mul_add(b, 3.0)));
            assert!(same(got(7), a.mul_add(3.0, b)));
            assert!(same(got(2), a.mul_add(b, c)));
        }
    }
}

#[test]
fn a_fused_multiply_add_keeps_the_bits_that_a_rounded_product_loses() {
    let mut wave = wave();
    // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 exactly; the product alone rounds to 1 + 2^-11.
    wave.vgpr[0] = Lanes([(1.0_f32 + 1.0 / 4096.0).to_bits(); WAVE]);
    wave.vgpr[2] = Lanes([(1.0_f32 + 1.0 / 2048.0).to_bits(); WAVE]);
    execute(&[0xd1cb_0005, 0x840a_0100], &mut wave); // v_fma_f32 v5, v0, v0, -v2
    assert_eq!(f32::from_bits(wave.vgpr[5].0[0]), 1.0 / 16_777_216.0);
}

#[test]
fn negation_absolute_value_and_output_modifiers() {
    let mut wave = wave();
    wave.vgpr[0] = Lanes([(-0.75_f32).to_bits(); WAVE]);
    wave.vgpr[1] = Lanes([0.5_f32.to_bits(); WAVE]);
    let add = [0xd101_0103, 0x4802_0300]; // v_add_f32_e64 v3, |v0|, -v1 mul:2
    execute(&add, &mut wave);
    assert_eq!(f32::from_bits(wave.vgpr[3].0[0]), 0.25, "IEEE mode ignores mul:2");
    wave.pc = 0;
    wave.mode = 0;
    execute(&add, &mut wave);
    assert_eq!(f32::from_bits(wave.vgpr[3].0[0]), 0.5);
    wave.pc = 0;
    execute(&[0xd101_8002, 0x0002_0300], &mut wave); // v_add_f32_e64 v2, v0, v1 clamp
    assert_eq!(f32::from_bits(wave.vgpr[2].0[0]), 0.0);
    wave.vgpr[0] = Lanes([f32::NAN.to_bits(); WAVE]);
    for (mode, want_nan) in [(0x100, false), (0, true)] {
        wave.pc = 0;
        wave.mode = mode;
        execute(&[0xd101_8002, 0x0002_0300], &mut wave);
        assert_eq!(f32::from_bits(wave.vgpr[2].0[0]).is_nan(), want_nan, "dx10_clamp");
    }
}

#[test]
fn denormals_are_flushed_where_the_mode_register_says_so() {
    let tiny = f32::MIN_POSITIVE / 2.0;
    let multiply = |mode: u32, a: f32, b: f32| {
        let mut wave = wave();
        wave.mode = mode;
        wave.vgpr[0] = Lanes([a.to_bits(); WAVE]);
        wave.vgpr[1] = Lanes([b.to_bits(); WAVE]);
        execute(&[0x0a04_0300], &mut wave); // v_mul_f32_e32 v2, v0, v1
        f32::from_bits(wave.vgpr[2].0[0])
    };
    assert_eq!(multiply(0x3f0, tiny, 1.0), tiny);
    assert_eq!(multiply(0x3c0, tiny, 4.0), 0.0, "sources");
    assert_eq!(multiply(0x3d0, tiny, 4.0), 4.0 * tiny);
    assert_eq!(multiply(0x3d0, f32::MIN_POSITIVE, 0.5), 0.0, "results");
    assert_eq!(multiply(0x3e0, tiny, 4.0), 0.0);
    assert_eq!(multiply(0x3e0, f32::MIN_POSITIVE, 0.5), tiny);
    assert!(multiply(0x3c0, -tiny, 4.0).is_sign_negative());
}

#[test]
fn directed_rounding_brackets_the_exact_result() {
    for seed in 0..100 {
        let start = random_wave(3, 1000 + seed);
        let results = [0x3f1, 0x3f2, 0x3f3].map(|mode| {
            let mut wave = start.clone();
            wave.mode = mode;
            // v_add_f32_e64 v3, v0, v1; v_mul_f32_e32 v4, v0, v1; v_fma_f32 v5, v0, v1, v2
            execute(&[0xd101_0003, 0x0002_0300, 0x0a08_0300, 0xd1cb_0005, 0x040a_0300], &mut wave);
            wave
        });
        for i in 0..WAVE {
            let v = f32s(&start, i);
            let (a, b) = (f64::from(v(0)), f64::from(v(1)));
            let near = [v(0) + v(1), v(0) * v(1), v(0).mul_add(v(1), v(2))];
            for (n, near) in near.into_iter().enumerate() {
                let [up, down, zero] = [0, 1, 2].map(|k: usize| f32s(&results[k], i)(3 + n));
                if near.is_nan() {
                    assert!(up.is_nan() && down.is_nan() && zero.is_nan());
                    continue;
                }
                assert!(down <= near && near <= up);
                assert!(up == down || up == down.next_up(), "{down:e} {up:e}");
                assert_eq!(zero, if zero.is_sign_negative() { up } else { down });
            }
            // A product of two f32 is exact in f64.
            let exact = a * b;
            if exact.is_finite() {
                let [up, down] = [0, 1].map(|k: usize| f64::from(f32s(&results[k], i)(4)));
                assert!(down <= exact && exact <= up);
                assert_eq!(up == down, f64::from(up as f32) == exact && up.is_finite());
            }
        }
    }
}

#[test]
fn minimum_and_maximum_prefer_numbers_and_order_zeros() {
    let nan = f32::NAN;
    let cases = [
        // a, b, min, max
        (1.0, 2.0, 1.0, 2.0),
        (nan, 2.0, 2.0, 2.0),
        (1.0, nan, 1.0, 1.0),
        (0.0, -0.0, -0.0, 0.0),
        (-0.0, 0.0, -0.0, 0.0),
        (f32::NEG_INFINITY, nan, f32::NEG_INFINITY, f32::NEG_INFINITY),
    ];
    for (a, b, min, max) in cases {
        let mut wave = wave();
        wave.vgpr[0] = Lanes([a.to_bits(); WAVE]);
        wave.vgpr[1] = Lanes([b.to_bits(); WAVE]);
        // v_min_f32_e32 v7, v0, v1; v_max_f32_e32 v8, v0, v1
        execute(&[0x140e_0300, 0x1610_0300], &mut wave);
        assert_eq!(wave.vgpr[7].0[0], f32::to_bits(min), "min({a}, {b})");
        assert_eq!(wave.vgpr[8].0[0], f32::to_bits(max), "max({a}, {b})");
    }
    // A signalling NaN is quieted and wins.
    let mut wave = wave();
    wave.vgpr[0] = Lanes([0x7f80_0001; WAVE]);
    wave.vgpr[1] = Lanes([1.0_f32.to_bits(); WAVE]);
    execute(&[0x140e_0300], &mut wave);
    assert_eq!(wave.vgpr[7].0[0], 0x7fc0_0001);
}

#[test]
fn rounding_splitting_and_scaling() {
    for seed in 0..100 {
        let mut next = random(seed);
        let mut wave = random_wave(3, 5000 + seed);
        wave.vgpr[0] = lanes(|i| match i % 2 {
            0 => next() as u32,
            // Magnitudes from 2^-1 to 2^24.
            _ => 0x3f00_0000 + next() as u32 % (25 << 23),
        });
        wave.vgpr[1] = lanes(|_| ((next() % 400) as u32).wrapping_sub(200));
        execute(
            &[
                0x7e06_1100, // v_cvt_i32_f32_e32 v3, v0
                0x7e08_0f00, // v_cvt_u32_f32_e32 v4, v0
                0x7e0a_3d00, // v_rndne_f32_e32 v5, v0
                0x7e0c_3700, // v_fract_f32_e32 v6, v0
                0xd288_000a,
                0x0002_0300, // v_ldexp_f32 v10, v0, v1
                0x7e16_6900, // v_frexp_mant_f32_e32 v11, v0
                0x7e18_6700, // v_frexp_exp_i32_f32_e32 v12, v0
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let x = f32::from_bits(wave.vgpr[0].0[i]);
            let n = wave.vgpr[1].0[i] as i32;
            let got = |n: usize| wave.vgpr[n].0[i];
            assert_eq!(got(3), x as i32 as u32);
            assert_eq!(got(4), x as u32);
            assert!(same(got(5), x.round_ties_even()));
            if !x.is_finite() {
                continue;
            }
            let fract = (f64::from(x) - f64::from(x).floor()) as f32;
            assert!(same(got(6), fract.min(1.0_f32.next_down())));
            assert!(same(got(10), (f64::from(x) * f64::from(n).exp2()) as f32));
            let (m, e) = (f64::from(f32::from_bits(got(11))), got(12) as i32);
            assert_eq!(m * f64::from(e).exp2(), f64::from(x));
            assert!(x == 0.0 && e == 0 || (0.5..1.0).contains(&m.abs()));
        }
    }
}

#[test]
fn half_arithmetic_is_rounded_once() {
    for seed in 0..300 {
        let mut wave = random_wave(3, 9000 + seed);
        wave.vgpr[3] = Lanes([0xabcd_0000; WAVE]);
        wave.vgpr[4] = Lanes([0x0000_1234; WAVE]);
        execute(
            &[
                0xd11f_0002,
                0x0002_0300, // v_add_f16_e64 v2, v0, v1
                0xd206_0003,
                0x0402_0300, // v_fma_f16 v3, v0, v1, v0
                0xd206_4804,
                0x0402_0300, // v_fma_f16 v4, v0, v1, v0 op_sel:[1,0,0,1]
                0xd38e_4005,
                0x1c02_0300, // v_pk_fma_f16 v5, v0, v1, v0
                // v_pk_add_f16 v6, v0, v1 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1] neg_hi:[1,0]
                0xd38f_4906,
                0x5002_0300,
                0xd38f_4007,
                0x0801_e500, // v_pk_add_f16 v7, v0, 1.0 op_sel_hi:[1,0]
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let got = |n: usize| wave.vgpr[n].0[i];
            let (a, b) = (halves(got(0)), halves(got(1)));
            assert!(half_is(got(2), a[0] + b[0]));
            assert_eq!(got(2) >> 16, 0, "cleared");
            // The product is exact in f64, and so is the sum or its error is beyond f16.
            assert!(half_is(got(3), a[0] * b[0] + a[0]));
            assert_eq!(got(3) >> 16, 0xabcd, "kept");
            assert!(half_is(got(4) >> 16, a[1] * b[0] + a[0]));
            assert_eq!(got(4) & 0xffff, 0x1234, "kept");
            for k in 0..2 {
                assert!(half_is(got(5) >> (16 * k), a[k] * b[k] + a[k]));
                assert!(half_is(got(7) >> (16 * k), a[k] + 1.0));
            }
            assert!(half_is(got(6), a[1] - b[0]));
            assert!(half_is(got(6) >> 16, b[1] - a[0]));
        }
    }
}

#[test]
fn packed_f32_operands_select_either_register_of_a_pair() {
    let mut wave = wave();
    for n in 0..6 {
        wave.vgpr[n] = lanes(|i| ((i + 1) as f32 * (n + 1) as f32).to_bits());
    }
    wave.sgpr[4] = 10.0_f32.to_bits();
    wave.sgpr[5] = 100.0_f32.to_bits();
    execute(
        &[
            // v_pk_fma_f32 v[8:9], v[0:1], v[2:3], v[4:5] op_sel:[0,1,0] op_sel_hi:[1,0,1]
            0xd3b0_5008,
            0x0c12_0500,
            0xd3b1_400a,
            0x0800_0900, // v_pk_mul_f32 v[10:11], v[0:1], s[4:5] op_sel_hi:[1,0]
            0xd3b3_480c,
            0x1802_0500, // v_pk_mov_b32 v[12:13], v[0:1], v[2:3] op_sel:[1,0]
        ],
        &mut wave,
    );
    for i in 0..WAVE {
        let l = (i + 1) as f32;
        let got = f32s(&wave, i);
        assert_eq!([got(8), got(9)], [l * (4.0 * l) + 5.0 * l, 2.0 * l * (3.0 * l) + 6.0 * l]);
        assert_eq!([got(10), got(11)], [10.0 * l, 20.0 * l]);
        assert_eq!([got(12), got(13)], [2.0 * l, 3.0 * l]);
    }
}

#[test]
fn mixed_precision_operations_read_halves_where_op_sel_hi_is_set() {
    let mut wave = wave();
    let two = u32::from(f16::from_f32(2.0).to_bits());
    let three = u32::from(f16::from_f32(3.0).to_bits());
    wave.vgpr[0] = Lanes([three << 16 | two; WAVE]);
    wave.vgpr[1] = Lanes([three; WAVE]);
    wave.vgpr[2] = Lanes([0.5_f32.to_bits(); WAVE]);
    wave.vgpr[15] = Lanes([0x4444; WAVE]);
    execute(
        &[
            // v_fma_mix_f32 v14, v0, v1, -v2 op_sel:[1,0,0] op_sel_hi:[1,1,0]
            0xd3a0_080e,
            0x9c0a_0300,
            0xd3a2_000f,
            0x1c0a_0300, // v_fma_mixhi_f16 v15, v0, v1, v2 op_sel_hi:[1,1,0]
        ],
        &mut wave,
    );
    assert_eq!(f32::from_bits(wave.vgpr[14].0[0]), 3.0 * 3.0 - 0.5);
    assert_eq!(wave.vgpr[15].0[0], u32::from(f16::from_f32(6.5).to_bits()) << 16 | 0x4444);
}

#[test]
fn narrow_conversions_round_and_place_their_results() {
    for seed in 0..100 {
        let mut wave = random_wave(4, 20_000 + seed);
        wave.vgpr[19] = Lanes::ZERO;
        execute(
            &[
                0x7e20_1502, // v_cvt_f16_f32_e32 v16, v2
                0xd296_0011,
                0x0002_0702, // v_cvt_pkrtz_f16_f32 v17, v2, v3
                0xd268_0012,
                0x0002_0702, // v_cvt_pk_bf16_f32 v18, v2, v3
            ],
            &mut wave,
        );
        for i in 0..WAVE {
            let got = |n: usize| wave.vgpr[n].0[i];
            let (a, b) = (f32::from_bits(got(2)), f32::from_bits(got(3)));
            assert!(half_is(got(16), a.into()));
            for (k, x) in [(0, a), (1, b)] {
                let half = f16::from_bits((got(17) >> (16 * k)) as u16);
                let brain = bf16::from_bits((got(18) >> (16 * k)) as u16);
                if x.is_nan() {
                    assert!(half.is_nan() && brain.is_nan());
                    continue;
                }
                assert_eq!(brain, bf16::from_f32(x));
                // Towards zero: not beyond x, and the next one away from zero is.
                assert!(half.to_f32().abs() <= x.abs());
                assert_eq!(half.to_f32().is_sign_negative(), x.is_sign_negative());
                let next = f16::from_bits(half.to_bits() + 1);
                let overflow = half.to_bits() & 0x7fff == 0x7bff;
                assert!(x.is_infinite() || overflow || next.to_f32().abs() > x.abs());
            }
        }
    }
}

#[test]
fn f16_overflow_goes_to_the_largest_half_in_that_mode() {
    for (mode, want) in [(0x3f0, 0x7c00), (0x3f0 | 1 << 23, 0x7bff), (0x3f0 | 3 << 2, 0x7bff)] {
        let mut wave = wave();
        wave.mode = mode;
        wave.vgpr[2] = Lanes([1e6_f32.to_bits(); WAVE]);
        execute(&[0x7e20_1502], &mut wave); // v_cvt_f16_f32_e32 v16, v2
        assert_eq!(wave.vgpr[16].0[0], want, "mode {mode:#x}");
    }
}

#[test]
fn eight_bit_floats_go_to_and_come_from_the_selected_byte() {
    let mut wave = wave();
    // OCP e4m3: 1.5 is 0x3c, -448 is 0xfe; e2m1: 1.5 is 3, 6 is 7.
    wave.vgpr[2] = Lanes([1.5_f32.to_bits(); WAVE]);
    wave.vgpr[3] = Lanes([(-448.0_f32).to_bits(); WAVE]);
    wave.vgpr[19] = Lanes([0; WAVE]);
    wave.vgpr[24] = Lanes([0x9999_9999; WAVE]);
    wave.vgpr[25] = Lanes([0x9999_9999; WAVE]);
    execute(
        &[
            0xd2a2_4013,
            0x0002_0702, // v_cvt_pk_fp8_f32 v19, v2, v3 op_sel:[0,0,1]
            0x7e28_a8f9,
            0x0002_0613, // v_cvt_f32_fp8_sdwa v20, v19 src0_sel:BYTE_2
            0x7e2c_acf9,
            0x0005_0613, // v_cvt_pk_f32_fp8_sdwa v[22:23], v19 src0_sel:WORD_1
            0xd235_0018,
            0x03d2_0702, // v_cvt_scalef32_pk_fp8_f32 v24, v2, v3, 2.0
            // v_cvt_scalef32_pk_fp4_f32 v25, v2, v3, 1.0 op_sel:[0,0,1,0]
            0xd23d_2019,
            0x03ca_0702,
        ],
        &mut wave,
    );
    assert_eq!(wave.vgpr[19].0[1], 0xfe3c_0000);
    assert_eq!(f32::from_bits(wave.vgpr[20].0[1]), 1.5);
    assert_eq!([22, 23].map(|n: usize| f32::from_bits(wave.vgpr[n].0[1])), [1.5, -448.0]);
    // Divided by the scale: 0.75 is 0x34, -224 is 0xf6.
    assert_eq!(wave.vgpr[24].0[1], 0x9999_f634);
    // -448 saturates to -6, 0xf.
    assert_eq!(wave.vgpr[25].0[1], 0x9999_f399);
}

#[test]
fn comparisons_write_flags_of_active_lanes_and_cmpx_narrows_exec() {
    let mut wave = wave();
    let values = [1.0, f32::NAN, -0.0, f32::INFINITY];
    wave.vgpr[0] = lanes(|i| values[i % 4].to_bits());
    wave.vgpr[1] = lanes(|_| 0x4000_0000);
    wave.vgpr[2] = lanes(|i| i as u32);
    wave.vgpr[3] = lanes(|_| 9);
    // Classes: quiet NaN (bit 1), +infinity (bit 9), -0 (bit 5).
    wave.vgpr[4] = lanes(|_| 1 << 1 | 1 << 9 | 1 << 5);
    wave.set_exec(0xffff);
    execute(
        &[
            0x7c82_0300, // v_cmp_lt_f32_e32 vcc, v0, v1
            0xd04e_000a,
            0x0002_0300, // v_cmp_nlt_f32_e64 s[10:11], v0, v1
            0xd010_000c,
            0x0002_0900, // v_cmp_class_f32_e64 s[12:13], v0, v4
            0x000a_0300, // v_cndmask_b32_e32 v5, v0, v1, vcc
            0xd100_0006,
            0x202a_0300, // v_cndmask_b32_e64 v6, -v0, v1, s[10:11]
        ],
        &mut wave,
    );
    assert_eq!(wave.vcc(), 0x5555);
    assert_eq!(wave.sgpr64(10), 0xaaaa);
    assert_eq!(wave.sgpr64(12), 0xeeee);
    assert_eq!(f32::from_bits(wave.vgpr[5].0[0]), 2.0);
    assert!(f32::from_bits(wave.vgpr[5].0[1]).is_nan());
    assert_eq!(f32::from_bits(wave.vgpr[6].0[0]), -1.0);
    assert_eq!(f32::from_bits(wave.vgpr[6].0[3]), 2.0);
    assert_eq!(wave.vgpr[6].0[20], 0, "inactive");
    wave.pc = 0;
    execute(&[0x7db8_0702], &mut wave); // v_cmpx_gt_u32_e32 vcc, v2, v3
    assert_eq!(wave.exec(), 0xfc00);
    assert_eq!(wave.vcc(), 0xfc00);
}

#[test]
fn f64_operations_use_register_pairs() {
    let mut next = random(77);
    for _ in 0..100 {
        let mut wave = wave();
        let values: Vec<[u64; 3]> = (0..WAVE).map(|_| [next(), next(), next()]).collect();
        for (n, at) in [0, 2, 4].into_iter().enumerate() {
            [wave.vgpr[at], wave.vgpr[at + 1]] = pairs(|i| values[i][n]);
        }
        execute(
            &[
                0xd281_0006,
                0x0001_e100, // v_mul_f64 v[6:7], v[0:1], 0.5
                0x0808_0500, // v_fmac_f64_e32 v[4:5], v[0:1], v[2:3]
            ],
            &mut wave,
        );
        for (i, values) in values.iter().enumerate() {
            let [a, b, c] = values.map(f64::from_bits);
            let check = |register: usize, want: f64| {
                let got = f64::from_bits(pair(&wave, register, i));
                assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan());
            };
            check(6, a * 0.5);
            check(4, a.mul_add(b, c));
        }
    }
}
