//! The quantised absorb GEMM of one head.

use cdna_sim::exec::formats::Format;
use cdna_sim::isa::Arch;

use crate::ops::absorb::{GROUP, MIN_AMAX, fp8_max};

/// One head's operands, dense: X `[m, k]` with bf16 values, W `[n, k]` with fp8 values.
#[derive(Clone, Copy, Debug)]
pub struct AbsorbInputs<'a> {
    /// X.
    pub x: &'a [f32],
    /// W, decoded.
    pub w: &'a [f32],
    /// Scale of W.
    pub w_scale: f32,
    /// Depth.
    pub k: usize,
}

/// One row's group quantised: its scale and fp8 values, decoded. The scale and its reciprocal are
/// fp32, as in the deployed kernel: fp8 has so few mantissa bits that exact ties are common, and
/// fp32 rounding decides them.
pub fn quantise_group(x: &[f32], arch: Arch) -> (f32, Vec<f32>) {
    let limit = fp8_max(arch.name());
    let amax = x.iter().fold(MIN_AMAX, |m, v| m.max(v.abs()));
    let scale = amax * (1.0 / limit);
    let inverse = 1.0 / scale;
    let format = Format::fp8(arch);
    let quantise = |v: &f32| {
        let scaled = (v * inverse).clamp(-limit, limit);
        format.decode(format.encode(scaled, true))
    };
    (scale, x.iter().map(quantise).collect())
}

/// Result `[m, n]` before it is rounded to bf16.
pub fn absorb(inputs: &AbsorbInputs<'_>, arch: Arch) -> Vec<f64> {
    let AbsorbInputs { x, w, w_scale, k } = *inputs;
    let group = GROUP as usize;
    let mut out = Vec::with_capacity((x.len() / k) * (w.len() / k));
    for row in x.chunks_exact(k) {
        let groups: Vec<_> = row.chunks(group).map(|g| quantise_group(g, arch)).collect();
        for column in w.chunks_exact(k) {
            let dot = |q: &[f32], w: &[f32]| -> f64 {
                q.iter().zip(w).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let sum: f64 = groups
                .iter()
                .zip(column.chunks(group))
                .map(|((scale, q), w)| dot(q, w) * f64::from(*scale))
                .sum();
            out.push(sum * f64::from(w_scale));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_scaled_to_the_largest_fp8_value_of_the_target() {
        // amax 1.75: on gfx950 1.75/448 = 2^-8, so 1.75 becomes 448 and 0.25 becomes 64, both fp8
        // values; 0.3 * 256 = 76.8 rounds to 80 (steps of 8 between 64 and 128).
        let (scale, q) = quantise_group(&[1.75, -0.25, 0.3], Arch::Gfx950);
        assert!((scale * 256.0 - 1.0).abs() < 1e-6);
        assert_eq!(q, [448.0, -64.0, 80.0]);
        // amax 0.9375: on gfx942 0.9375/240 = 2^-8.
        let (scale, q) = quantise_group(&[0.9375, 0.5], Arch::Gfx942);
        assert!((scale * 256.0 - 1.0).abs() < 1e-6);
        assert_eq!(q, [240.0, 128.0]);
    }

    #[test]
    fn a_group_of_zeros_takes_the_smallest_scale() {
        let (scale, q) = quantise_group(&[0.0; 128], Arch::Gfx950);
        assert!((scale - 1e-10 / 448.0).abs() < 1e-16);
        assert_eq!(q, [0.0; 128]);
    }

    #[test]
    fn groups_keep_their_own_scales() {
        // Two groups of 128: ones, then thousands. Each quantises to the format's maximum, so the
        // sum over ones of W is exact: 128 * 1 + 128 * 1000 (to fp32 rounding of the scales).
        let mut x = vec![1.0; 128];
        x.extend([1000.0; 128]);
        let w = vec![1.0; 256];
        let inputs = AbsorbInputs { x: &x, w: &w, w_scale: 0.5, k: 256 };
        let out = absorb(&inputs, Arch::Gfx950);
        assert!((out[0] / 64_064.0 - 1.0).abs() < 1e-6, "{}", out[0]);
    }
}
