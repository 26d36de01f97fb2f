//! The dynamic chunk of ROCm/ATOM's pipeline-parallel prefill.
//!
//! In goes a time model; out comes the chunk that takes as long after a prefix as the static chunk
//! takes without one, under ATOM's latency model `t(L, x) = c + gamma*L + b*x + a*(2*L*x + x^2)`
//! (ROCm/ATOM pull request 2007). Its own rounding and floors are not published there: chunks are
//! rounded down to the page and stay between one page and the static size.

use serde::{Deserialize, Serialize};

use crate::fit::latency::TimeModel;
use crate::fit::nnls;

/// Coefficients of ATOM's latency model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AtomModel {
    /// Fixed part of every forward, microseconds.
    pub c: f64,
    /// Microseconds per token of prefix.
    pub gamma: f64,
    /// Microseconds per new token.
    pub b: f64,
    /// Microseconds per pair of `2*L*x + x^2`.
    pub a: f64,
}

impl AtomModel {
    /// Fits it to a time model over chunks up to `base` and prefixes up to `furthest`: least
    /// squares of relative errors, every coefficient at least zero.
    pub fn fit(model: &TimeModel, base: u64, furthest: u64) -> Self {
        let mut rows = Vec::new();
        for part in 1..=8u64 {
            let x = (base / 8 * part).max(1);
            for share in 0..=8u64 {
                let l = furthest / 8 * share;
                let time = model.time_us(x, l);
                if time > 0.0 {
                    let (x, l) = (x as f64, l as f64);
                    rows.push([1.0, l, x, 2.0 * l * x + x * x].map(|v| v / time).to_vec());
                }
            }
        }
        let solved = nnls::solve(&rows, &vec![1.0; rows.len()]);
        let at = |i: usize| solved.get(i).copied().unwrap_or(0.0);
        Self { c: at(0), gamma: at(1), b: at(2), a: at(3) }
    }

    /// Time of `x` tokens after `l`, microseconds.
    pub fn time_us(&self, x: f64, l: f64) -> f64 {
        self.c + self.gamma * l + self.b * x + self.a * (2.0 * l * x + x * x)
    }

    /// The chunk after `l` tokens that takes as long as `base` after none.
    pub fn chunk(&self, l: u64, base: u64, page: u64) -> u64 {
        let prefix = l as f64;
        let rest = self.time_us(base as f64, 0.0) - self.c - self.gamma * prefix;
        let linear = self.b + 2.0 * self.a * prefix;
        // a x^2 + linear x = rest, in the form that does not divide by a.
        let root = 2.0 * rest / (linear + (linear * linear + 4.0 * self.a * rest).max(0.0).sqrt());
        let tokens = if rest > 0.0 && root.is_finite() { root as u64 } else { 0 };
        let page = page.max(1);
        (tokens / page * page).clamp(page, base.max(page))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chunk_takes_as_long_as_the_first() {
        let truth = AtomModel { c: 5000.0, gamma: 0.01, b: 20.0, a: 1e-4 };
        // The same as a polynomial: a3 = 2a, a4 = a.
        let model = TimeModel::of([5000.0, 20.0, 0.01, 2e-4, 1e-4]);
        let fitted = AtomModel::fit(&model, 8192, 500_000);
        for (found, expected) in [
            (fitted.c, truth.c),
            (fitted.gamma, truth.gamma),
            (fitted.b, truth.b),
            (fitted.a, truth.a),
        ] {
            assert!((found / expected - 1.0).abs() < 1e-6, "{fitted:?}");
        }
        assert_eq!(fitted.chunk(0, 8192, 1), 8192);
        let target = truth.time_us(8192.0, 0.0);
        for l in [1000u64, 100_000, 400_000] {
            let x = truth.chunk(l, 8192, 1);
            let (at, next) =
                (truth.time_us(x as f64, l as f64), truth.time_us(x as f64 + 1.0, l as f64));
            assert!(at <= target && target < next, "{x} after {l}: {at} {target} {next}");
        }
    }

    #[test]
    fn a_prefix_that_takes_longer_than_a_whole_chunk_leaves_one_page() {
        let model = AtomModel { c: 1.0, gamma: 1.0, b: 1.0, a: 0.0 };
        assert_eq!(model.chunk(10_000, 2048, 64), 64);
        assert_eq!(model.chunk(1000, 2048, 64), 1024); // 2048 - 1000 = 1048, down to 1024
        let nothing = AtomModel { c: 0.0, gamma: 0.0, b: 0.0, a: 0.0 };
        assert_eq!(nothing.chunk(u64::MAX, 2048, 64), 64);
    }
}
