//! Which chunk to measure next.
//!
//! In goes a fit and what may be tried; out comes the (T, L) whose peak would narrow `c`, and so
//! `BUDGET`, most. The caller says which chunks are safe to try; the most telling of them is
//! seldom the largest one.

use super::MemoryFit;
use super::model::C;

/// Unknowns that a proposal weighs: `m0`, `m_T`, `m_E`, `c`.
const LINEAR: usize = 4;

/// A chunk worth measuring.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Proposal {
    /// Rows of the chunk, tokens.
    pub t: u64,
    /// Prefix before it, tokens.
    pub l: u64,
    /// Relative standard error of `c` now.
    pub error_now: f64,
    /// The same after the chunk was measured, if the model holds.
    pub error_then: f64,
}

/// The chunk among `chunks` (T, L) that narrows `c` most; none where `c` is not a term or nothing
/// narrows it by a tenth.
pub fn propose(fit: &MemoryFit, chunks: impl IntoIterator<Item = (u64, u64)>) -> Option<Proposal> {
    if !fit.grows() || fit.c.point <= 0.0 {
        return None;
    }
    let covariance = inverse(&fit.information)?;
    let error = |variance: f64| variance.max(0.0).sqrt() / fit.c.point;
    let now = covariance[C][C];
    let mut best: Option<Proposal> = None;
    for (t, l) in chunks {
        let end = l.saturating_add(t);
        let peak = fit.peak(t, end).max(1.0);
        let pairs = t as f64 * end.div_ceil(u64::from(fit.ratio.max(1))) as f64;
        let x = [1.0, t as f64, end as f64, pairs].map(|v| v / peak);
        // Adding a row of relative noise s updates the covariance by a rank of one.
        let spread: [f64; LINEAR] =
            std::array::from_fn(|i| (0..LINEAR).map(|j| covariance[i][j] * x[j]).sum());
        let along: f64 = x.iter().zip(spread).map(|(a, b)| a * b).sum();
        let then = now - spread[C] * spread[C] / (fit.noise * fit.noise + along);
        let (error_now, error_then) = (error(now), error(then));
        if error_then < 0.9 * error_now && best.is_none_or(|b| error_then < 0.999 * b.error_then) {
            best = Some(Proposal { t, l, error_now, error_then });
        }
    }
    best
}

/// The inverse of a symmetric positive matrix by Gauss-Jordan elimination on a scaled copy.
fn inverse(matrix: &[[f64; LINEAR]; LINEAR]) -> Option<[[f64; LINEAR]; LINEAR]> {
    let scale: [f64; LINEAR] = std::array::from_fn(|i| matrix[i][i].sqrt());
    if scale.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
        return None;
    }
    let mut left: [[f64; LINEAR]; LINEAR] =
        std::array::from_fn(|i| std::array::from_fn(|j| matrix[i][j] / (scale[i] * scale[j])));
    let mut right: [[f64; LINEAR]; LINEAR] =
        std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
    for pivot in 0..LINEAR {
        let value = left[pivot][pivot];
        if value < 1e-12 {
            return None;
        }
        left[pivot].iter_mut().chain(&mut right[pivot]).for_each(|v| *v /= value);
        for row in (0..LINEAR).filter(|row| *row != pivot) {
            let factor = left[row][pivot];
            for column in 0..LINEAR {
                left[row][column] -= factor * left[pivot][column];
                right[row][column] -= factor * right[pivot][column];
            }
        }
    }
    Some(std::array::from_fn(|i| std::array::from_fn(|j| right[i][j] / (scale[i] * scale[j]))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_times_the_matrix_is_one() {
        let matrix = [
            [4.0, 1.0, 0.0, 2.0],
            [1.0, 5.0, 1.0, 0.0],
            [0.0, 1.0, 6.0, 1.0],
            [2.0, 0.0, 1.0, 7.0],
        ];
        let inverse = inverse(&matrix).unwrap();
        for (i, row) in inverse.iter().enumerate() {
            for j in 0..LINEAR {
                let product: f64 = row.iter().zip(&matrix).map(|(x, other)| x * other[j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
