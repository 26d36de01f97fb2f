//! Indexer logits.

use crate::ops::indexer::IndexerShape;

/// Decoded operands, scales applied.
#[derive(Clone, Copy, Debug)]
pub struct LogitsInputs<'a> {
    /// `[t, heads, dim]`.
    pub q: &'a [f64],
    /// `[keys, dim]`.
    pub k: &'a [f64],
    /// `[t, heads]`.
    pub weights: &'a [f32],
    /// `[keys]` applied to the weighted sum, for fp8 keys.
    pub key_scale: Option<&'a [f32]>,
}

/// `[t, keys]`; -inf where the key is not visible.
pub fn logits(inputs: &LogitsInputs<'_>, shape: &IndexerShape) -> Vec<f64> {
    let (dim, heads) = (shape.dim as usize, shape.heads as usize);
    let mut out = Vec::new();
    let rows = inputs.q.chunks_exact(dim * heads).zip(inputs.weights.chunks_exact(heads));
    for (t, (q, weights)) in rows.enumerate() {
        let visible = shape.visible(t as u64) as usize;
        for (s, key) in inputs.k.chunks_exact(dim).enumerate() {
            if s >= visible {
                out.push(f64::NEG_INFINITY);
                continue;
            }
            let head = |(q, w): (&[f64], &f32)| {
                let dot: f64 = q.iter().zip(key).map(|(a, b)| a * b).sum();
                dot.max(0.0) * f64::from(*w)
            };
            let sum: f64 = q.chunks_exact(dim).zip(weights).map(head).sum();
            out.push(sum * inputs.key_scale.map_or(1.0, |scale| f64::from(scale[s])));
        }
    }
    out
}
