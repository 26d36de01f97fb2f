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
