//! Transcendental instructions against the host's f64 functions.

use crate::exec::WAVE;
use crate::exec::testing::{execute, lanes, random, wave};

/// Distance in units of the last place of f32; 0 if both are NaN.
fn ulps(got: f32, want: f64) -> f64 {
    if got.is_nan() && want.is_nan() || f64::from(got) == want {
        return 0.0;
    }
    let near = want as f32;
    if near.is_infinite() || near == 0.0 {
        return if got == near { 0.0 } else { f64::INFINITY };
    }
    let unit = f64::from(near.abs().next_up()) - f64::from(near.abs());
    (f64::from(got) - want).abs() / unit
}

/// Checks one instruction `v1 = f(v0)` on `inputs`; results below the normal range are flushed.
fn check(word: u32, f: impl Fn(f64) -> f64, inputs: impl Iterator<Item = f32>) {
    let inputs: Vec<f32> = inputs.collect();
    for chunk in inputs.chunks_exact(WAVE) {
        let mut wave = wave();
        wave.vgpr[0] = lanes(|i| chunk[i].to_bits());
        execute(&[word], &mut wave);
        for (i, x) in chunk.iter().enumerate() {
            let got = f32::from_bits(wave.vgpr[1].0[i]);
            let want = f(f64::from(*x));
            let want = if want.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { want };
            let error = ulps(got, want);
            assert!(error <= 1.0, "f({x:e}) = {want:e}, got {got:e}: {error} ulp");
        }
    }
}

/// Normal floats of either sign with any exponent.
fn any(seed: u64) -> impl Iterator<Item = f32> {
    let mut next = random(seed);
    let all = std::iter::repeat_with(move || f32::from_bits(next() as u32));
    all.filter(|x| !x.is_subnormal()).take(64_000)
}

/// Floats spread evenly over `[-range, range)`.
fn spread(range: f32, seed: u64) -> impl Iterator<Item = f32> {
    let mut next = random(seed);
    let unit = std::iter::repeat_with(move || (next() >> 40) as f32 / (1 << 23) as f32 - 1.0);
    unit.map(move |x| x * range).filter(|x| !x.is_subnormal()).take(64_000)
}

#[test]
fn rcp_rsq_and_sqrt_are_within_one_ulp() {
    check(0x7e02_4500, |x| 1.0 / x, any(1)); // v_rcp_f32_e32 v1, v0
    check(0x7e02_4900, |x| 1.0 / x.sqrt(), any(2)); // v_rsq_f32_e32 v1, v0
    check(0x7e02_4f00, f64::sqrt, any(3)); // v_sqrt_f32_e32 v1, v0
}

#[test]
fn exp_and_log_are_base_2_and_within_one_ulp() {
    check(0x7e02_4100, f64::exp2, spread(160.0, 4)); // v_exp_f32_e32 v1, v0
    check(0x7e02_4100, f64::exp2, spread(0.01, 5));
    check(0x7e02_4100, f64::exp2, any(6));
    check(0x7e02_4300, f64::log2, any(7)); // v_log_f32_e32 v1, v0
    check(0x7e02_4300, f64::log2, spread(0.01, 8).map(|x| 1.0 + x));
}

#[test]
fn sine_and_cosine_take_turns_and_are_within_one_ulp_of_one() {
    let inputs: Vec<f32> =
        spread(256.0, 9).chain(spread(1.0, 10)).chain(spread(1e-4, 11)).collect();
    for chunk in inputs.chunks_exact(WAVE) {
        let mut wave = wave();
        wave.vgpr[0] = lanes(|i| chunk[i].to_bits());
        // v_sin_f32_e32 v1, v0; v_cos_f32_e32 v2, v0
        execute(&[0x7e02_5300, 0x7e04_5500], &mut wave);
        for (i, x) in chunk.iter().enumerate() {
            // A turn is exact in f64 after removing whole ones.
            let turns = f64::from(*x) - f64::from(*x).round();
            let (sin, cos) = (turns * std::f64::consts::TAU).sin_cos();
            let got = [wave.vgpr[1].0[i], wave.vgpr[2].0[i]].map(f32::from_bits);
            assert!((f64::from(got[0]) - sin).abs() < 6e-8, "sin {x}: {sin}, got {}", got[0]);
            assert!((f64::from(got[1]) - cos).abs() < 6e-8, "cos {x}: {cos}, got {}", got[1]);
        }
    }
}

#[test]
fn sine_and_cosine_beyond_256_turns_are_those_of_zero() {
    let mut wave = wave();
    wave.vgpr[0] = lanes(|_| 300.3_f32.to_bits());
    execute(&[0x7e02_5300, 0x7e04_5500], &mut wave);
    assert_eq!(wave.vgpr[1].0[5], 0);
    assert_eq!(wave.vgpr[2].0[5], 1.0_f32.to_bits());
}
