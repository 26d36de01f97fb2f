//! SGLang's own dynamic chunk sizer, so that plans can be set beside it and the admission model can
//! run with it.
//!
//! In go latencies of whole prefills, or the coefficients fitted to them; out comes the chunk that
//! takes as long after a prefix as the static chunk takes without one. The rules and the order of
//! the floating-point operations are those of `ChunkSizePredictor` and `DynamicChunkSizer` in
//! SGLang 0.5.23 (`managers/scheduler_components/dynamic_chunk_sizer.py`): a chunk can lose a whole
//! unit to one rounding error, so the order is part of the behaviour.

use serde::{Deserialize, Serialize};

/// Tokens that SGLang keeps free at the end of the context.
const CONTEXT_MARGIN: i128 = 100;
/// Least unit that SGLang aligns dynamic chunks to, tokens.
const LEAST_UNIT: i128 = 64;
/// Fewest samples that SGLang fits, after it has dropped the first.
const LEAST_SAMPLES: usize = 8;
/// Share of the way from the static to the predicted size that SGLang goes by default
/// (`SGLANG_DYNAMIC_CHUNKING_SMOOTH_FACTOR`).
pub const SMOOTH: f64 = 0.75;

/// Why SGLang would refuse to size chunks and fall back to the static size.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SglangError {
    /// Too few samples.
    #[error("{0} samples are left after the first; SGLang fits no fewer than {LEAST_SAMPLES}")]
    TooFew(usize),
    /// Lengths that do not tell the coefficients apart.
    #[error("the sample lengths are too alike to fit a quadratic")]
    Alike,
    /// Times do not grow with the square of the length.
    #[error("the quadratic coefficient {0:.2e} is not positive; SGLang keeps its static size")]
    NotQuadratic(f64),
    /// Nothing to aim at.
    #[error("the target latency {0:.2} ms is not positive; SGLang keeps its static size")]
    NoTarget(f64),
}

/// `f(l) = a*l^2 + b*l + c`, milliseconds of a whole prefill of `l` tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quadratic {
    /// Milliseconds per token^2.
    pub a: f64,
    /// Milliseconds per token.
    pub b: f64,
    /// Milliseconds.
    pub c: f64,
}

impl Quadratic {
    /// Least squares over `(tokens, milliseconds)`. The first sample is dropped (it pays for
    /// compilation) and a negative `b` becomes zero, as SGLang does it. SGLang solves by singular
    /// values, this by orthogonalisation: coefficients agree to rounding.
    ///
    /// # Errors
    /// Fewer than nine samples, or times that do not bend upwards.
    pub fn fit(samples: &[(u64, f64)]) -> Result<Self, SglangError> {
        let kept = samples.get(1..).unwrap_or_default();
        if kept.len() < LEAST_SAMPLES {
            return Err(SglangError::TooFew(kept.len()));
        }
        let [a, b, c] = least_squares(kept).ok_or(SglangError::Alike)?;
        if a.is_nan() || a <= 0.0 {
            return Err(SglangError::NotQuadratic(a));
        }
        Ok(Self { a, b: if b < 0.0 { 0.0 } else { b }, c })
    }

    /// Milliseconds of a prefill of `length` tokens.
    pub fn at(&self, length: f64) -> f64 {
        self.a * length * length + self.b * length + self.c
    }

    /// `f(base) - f(0)`: what every chunk should take, milliseconds.
    ///
    /// # Errors
    /// A target that is not positive.
    pub fn target(&self, base: u64) -> Result<f64, SglangError> {
        let target = self.at(base as f64) - self.at(0.0);
        if target > 0.0 { Ok(target) } else { Err(SglangError::NoTarget(target)) }
    }
}

/// Coefficients of `[l^2, l, 1]` by modified Gram-Schmidt on columns of unit length, the targets
/// carried along as a fourth column; none where a column is a sum of the others to rounding.
fn least_squares(samples: &[(u64, f64)]) -> Option<[f64; 3]> {
    let mut columns: [Vec<f64>; 3] = [
        samples.iter().map(|(l, _)| *l as f64 * *l as f64).collect(),
        samples.iter().map(|(l, _)| *l as f64).collect(),
        vec![1.0; samples.len()],
    ];
    let mut rest: Vec<f64> = samples.iter().map(|(_, time)| *time).collect();
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(a, b)| a * b).sum::<f64>();
    // Highest power last, so that it is what the others leave over.
    let order = [2usize, 1, 0];
    let lengths = order.map(|column| dot(&columns[column], &columns[column]).sqrt());
    let mut upper = [[0.0f64; 3]; 3];
    let mut projected = [0.0f64; 3];
    for (i, &column) in order.iter().enumerate() {
        let norm = dot(&columns[column], &columns[column]).sqrt();
        if norm.is_nan() || norm <= 1e-12 * lengths[i] {
            return None;
        }
        let unit: Vec<f64> = columns[column].iter().map(|v| v / norm).collect();
        upper[i][i] = norm;
        for (j, &later) in order.iter().enumerate().skip(i + 1) {
            let share = dot(&unit, &columns[later]);
            upper[i][j] = share;
            columns[later].iter_mut().zip(&unit).for_each(|(v, u)| *v -= share * u);
        }
        projected[i] = dot(&unit, &rest);
        rest.iter_mut().zip(&unit).for_each(|(v, u)| *v -= projected[i] * u);
    }
    let mut solved = [0.0f64; 3];
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|j| upper[i][j] * solved[j]).sum();
        solved[i] = (projected[i] - known) / upper[i][i];
    }
    Some([solved[2], solved[1], solved[0]])
}

/// The sizer of one server: predictor and limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DynamicChunkSizer {
    /// Latency model.
    pub model: Quadratic,
    /// What every chunk should take, milliseconds; [`Quadratic::target`] of the static size.
    pub target_ms: f64,
    /// `--chunked-prefill-size`, tokens.
    pub chunked_prefill_size: u64,
    /// `--max-prefill-tokens`, which caps a prediction; none leaves it uncapped.
    pub max_prefill_tokens: Option<u64>,
    /// `--page-size`, tokens.
    pub page_size: u64,
    /// Context length of the model, tokens.
    pub context_len: u64,
    /// Smoothing factor; SGLang's default is [`SMOOTH`].
    pub smooth: f64,
}

impl DynamicChunkSizer {
    /// The next chunk after `history_len` tokens; none means that SGLang keeps its static size.
    pub fn predict(&self, history_len: u64) -> Option<u64> {
        let Quadratic { a, b, .. } = self.model;
        if a.is_nan() || a <= 0.0 {
            return None;
        }
        // f(L + x) - f(L) = target is a x^2 + (2 a L + b) x - target = 0.
        let linear = 2.0 * a * history_len as f64 + b;
        let discriminant = linear * linear - 4.0 * a * -self.target_ms;
        if discriminant < 0.0 {
            return None;
        }
        let root = (-linear + discriminant.sqrt()) / (2.0 * a);
        if !root.is_finite() || root <= 0.0 {
            return None;
        }
        let base = self.chunked_prefill_size as f64;
        let smoothed = base + self.smooth * (root - base);
        let wanted = (smoothed as i128).max(i128::from(self.chunked_prefill_size / 4));
        let unit = i128::from(self.page_size).max(LEAST_UNIT);
        let aligned = (wanted / unit * unit).max(unit);
        let mut allowed = i128::from(self.context_len) - i128::from(history_len) - CONTEXT_MARGIN;
        if let Some(cap) = self.max_prefill_tokens {
            allowed = allowed.min(i128::from(cap));
        }
        let chunk = aligned.min(allowed).div_euclid(unit) * unit;
        u64::try_from(chunk).ok().filter(|chunk| i128::from(*chunk) >= unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Predictions and fits are compared with the recording by `plan::admission::oracle`; these are
    /// the cases that it lists by name only.
    #[test]
    fn what_sglang_refuses_to_fit_is_refused_and_a_negative_slope_becomes_zero() {
        let text = include_str!("../../../tests/data/sglang-0.5.23-sizer.json");
        let recorded: serde_json::Value = serde_json::from_str(text).unwrap();
        let cases = recorded["fit_edge_cases"].as_array().unwrap();
        let names: Vec<&str> = cases.iter().filter_map(|case| case["name"].as_str()).collect();
        assert_eq!(names, ["neg_a", "too_few", "neg_b"]);
        let curve = |n: u64, a: f64, b: f64| -> Vec<(u64, f64)> {
            (1..=n)
                .map(|i| (64 * i, a * (64.0 * i as f64).powi(2) + b * 64.0 * i as f64 + 5.0))
                .collect()
        };
        assert_eq!(Quadratic::fit(&curve(8, 1e-4, 0.1)), Err(SglangError::TooFew(7)));
        assert!(
            matches!(Quadratic::fit(&curve(100, -1e-5, 2.0)), Err(SglangError::NotQuadratic(a)) if a < 0.0)
        );
        let bent = Quadratic::fit(&curve(100, 1e-4, -0.001)).unwrap();
        assert_eq!(bent.b, 0.0);
        assert!((bent.a / 1e-4 - 1.0).abs() < 1e-9);
        let alike = vec![(2048, 20.0); 12];
        assert_eq!(Quadratic::fit(&alike), Err(SglangError::Alike));
    }

    #[test]
    fn absurd_lengths_keep_the_static_size_and_never_panic() {
        let model = Quadratic { a: 1e-8, b: 0.02, c: 5.0 };
        let sizer = DynamicChunkSizer {
            model,
            target_ms: model.target(8192).unwrap(),
            chunked_prefill_size: 8192,
            max_prefill_tokens: Some(u64::MAX),
            page_size: u64::MAX,
            context_len: 131_072,
            smooth: SMOOTH,
        };
        assert_eq!(sizer.predict(u64::MAX), None);
        let broken = DynamicChunkSizer { target_ms: f64::NAN, page_size: 64, ..sizer };
        assert_eq!(broken.predict(0), None);
    }
}
