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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_products_do_not_count_and_future_keys_are_not_visible() {
        let shape = IndexerShape { t: 2, l: 1, ratio: 1, heads: 2, dim: 2, topk: 4 };
        // Row 0 sees keys 0 and 1, row 1 also key 2.
        let q = [1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0];
        let k = [1.0, -1.0, 2.0, 3.0, -1.0, 1.0];
        let weights = [1.0, 10.0, 1.0, 10.0];
        let key_scale = [1.0, 0.5, 2.0];
        let inputs = LogitsInputs { q: &q, k: &k, weights: &weights, key_scale: Some(&key_scale) };
        let inf = f64::NEG_INFINITY;
        assert_eq!(logits(&inputs, &shape), [1.0, 16.0, inf, 2.0, 32.0, 40.0]);
    }
}
