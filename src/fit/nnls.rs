//! Least squares with non-negative coefficients, for the few unknowns of our models.
//!
//! In go rows of features and targets, gathered as [`Normal`] equations; out come coefficients
//! `>= 0` with the least sum of squares. With so few unknowns every set of non-zero coefficients
//! can be tried, so the answer is the true optimum and never depends on a starting point.

/// Most unknowns that [`solve`] takes.
pub const MAX_UNKNOWNS: usize = 8;

/// Squared sine of the angle between a column and the span of those before it below which they
/// count as dependent.
const DEPENDENT: f64 = 1e-12;

/// Weighted normal equations of `N` unknowns: `gram * x = moment` at the unconstrained optimum.
#[derive(Clone, Copy, Debug)]
pub struct Normal<const N: usize> {
    /// `sum w * row * row'`, lower triangle.
    gram: [[f64; N]; N],
    /// `sum w * row * target`.
    moment: [f64; N],
}

impl<const N: usize> Default for Normal<N> {
    fn default() -> Self {
        Self { gram: [[0.0; N]; N], moment: [0.0; N] }
    }
}

impl<const N: usize> Normal<N> {
    /// Adds a row with its target and weight.
    pub fn add(&mut self, row: &[f64; N], target: f64, weight: f64) {
        for (i, x) in row.iter().enumerate() {
            let scaled = weight * x;
            self.moment[i] += scaled * target;
            for (cell, y) in self.gram[i][..=i].iter_mut().zip(row) {
                *cell += scaled * y;
            }
        }
    }

    /// Sum of squares at `x`, less that at 0.
    pub fn squares(&self, x: &[f64; N]) -> f64 {
        let mut sum = 0.0;
        for i in 0..N {
            let row: f64 = (0..i).map(|j| self.gram[i][j] * x[j]).sum();
            sum += x[i] * (2.0 * row + self.gram[i][i] * x[i] - 2.0 * self.moment[i]);
        }
        sum
    }

    /// Entry of the symmetric matrix.
    pub fn at(&self, i: usize, j: usize) -> f64 {
        if i >= j { self.gram[i][j] } else { self.gram[j][i] }
    }

    /// The coefficients `>= 0` of the unknowns in `mask` (bit `j` for unknown `j`), with the
    /// unknown of `held` at its value; all others are 0.
    pub fn solve(&self, mask: u32, held: Option<(usize, f64)>) -> [f64; N] {
        let mut moment = self.moment;
        let mut mask = mask;
        if let Some((unknown, value)) = held {
            mask &= !(1 << unknown);
            for (i, m) in moment.iter_mut().enumerate() {
                *m -= self.at(i, unknown) * value;
            }
        }
        let mut scale = [0.0; N];
        for (j, s) in scale.iter_mut().enumerate() {
            let norm = self.gram[j][j];
            if norm > 0.0 && norm.is_finite() {
                *s = norm.sqrt().recip();
            } else {
                mask &= !(1 << j);
            }
        }
        let mut best = [0.0; N];
        let mut best_gain = 0.0;
        let mut set = mask;
        while set != 0 {
            if let Some((x, gain)) = self.optimum(&moment, &scale, set)
                && gain > best_gain * (1.0 + 1e-13)
            {
                (best, best_gain) = (x, gain);
                // The optimum of all unknowns is feasible: no subset can be better.
                if set == mask {
                    break;
                }
            }
            set = (set - 1) & mask;
        }
        if let Some((unknown, value)) = held {
            best[unknown] = value;
        }
        best
    }

    /// The optimum of the unknowns in `set` and the drop in the sum of squares against 0; none
    /// where they are dependent or one of them is negative.
    fn optimum(&self, moment: &[f64; N], scale: &[f64; N], set: u32) -> Option<([f64; N], f64)> {
        let mut members = [0usize; N];
        let mut count = 0;
        for j in (0..N).filter(|j| set & (1 << j) != 0) {
            members[count] = j;
            count += 1;
        }
        let members = &members[..count];
        let mut lower = [[0.0f64; N]; N];
        let mut x = [0.0; N];
        for (i, &row) in members.iter().enumerate() {
            for (j, &column) in members[..=i].iter().enumerate() {
                let dot: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
                let rest = self.at(row, column) * scale[row] * scale[column] - dot;
                if i != j {
                    lower[i][j] = rest / lower[j][j];
                } else if rest < DEPENDENT {
                    return None;
                } else {
                    lower[i][i] = rest.sqrt();
                }
            }
            let dot: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
            x[i] = (moment[row] * scale[row] - dot) / lower[i][i];
        }
        for i in (0..count).rev() {
            let dot: f64 = (i + 1..count).map(|k| lower[k][i] * x[k]).sum();
            x[i] = (x[i] - dot) / lower[i][i];
        }
        let (mut out, mut gain) = ([0.0; N], 0.0);
        for (&j, value) in members.iter().zip(x) {
            if !(value >= 0.0 && value.is_finite()) {
                return None;
            }
            out[j] = value * scale[j];
            gain += out[j] * moment[j];
        }
        Some((out, gain))
    }
}

/// Coefficients `x >= 0` minimising `sum_i (rows_i . x - targets_i)^2`.
///
/// Every row has the same length, at most [`MAX_UNKNOWNS`]; columns of zeros get coefficient 0.
pub fn solve(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, Vec::len).min(MAX_UNKNOWNS);
    let mut normal = Normal::<MAX_UNKNOWNS>::default();
    for (row, target) in rows.iter().zip(targets) {
        let mut padded = [0.0; MAX_UNKNOWNS];
        padded.iter_mut().zip(row).for_each(|(cell, x)| *cell = *x);
        normal.add(&padded, *target, 1.0);
    }
    normal.solve((1 << unknowns) - 1, None)[..unknowns].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn coefficients_of_exact_data_are_recovered() {
        let rows: Vec<Vec<f64>> =
            (1..8).map(|i| vec![1.0, f64::from(i), f64::from(i * i)]).collect();
        let targets: Vec<f64> = rows.iter().map(|r| 2.0 * r[0] + 0.5 * r[2]).collect();
        let x = solve(&rows, &targets);
        assert!((x[0] - 2.0).abs() < 1e-9 && x[1].abs() < 1e-9 && (x[2] - 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_slope_that_would_be_negative_becomes_zero_and_the_mean_remains() {
        // Ordinary least squares gives 3 - 1 x; with both >= 0 the best is the mean, 1.5.
        let rows = vec![vec![1.0, 1.0], vec![1.0, 2.0]];
        assert_eq!(solve(&rows, &[2.0, 1.0])[1], 0.0);
        assert!((solve(&rows, &[2.0, 1.0])[0] - 1.5).abs() < 1e-12);
    }

    #[test]
    fn empty_and_zero_columns_give_zero() {
        assert!(solve(&[], &[]).is_empty());
        assert_eq!(solve(&[vec![0.0, 1.0]], &[3.0]), vec![0.0, 3.0]);
    }

    #[test]
    fn a_held_coefficient_leaves_the_rest_to_the_others() {
        let mut normal = Normal::<2>::default();
        for i in 1..6 {
            let x = f64::from(i);
            normal.add(&[1.0, x], 2.0 + 3.0 * x, 1.0);
        }
        // 2 + 3x with the slope held at 1: the mean of 2 + 2x over 1..=5 is 8.
        assert!((normal.solve(0b11, Some((1, 1.0)))[0] - 8.0).abs() < 1e-12);
    }

    proptest! {
        /// Karush-Kuhn-Tucker: no feasible direction lowers the sum of squares.
        #[test]
        fn no_single_coefficient_can_be_moved_for_the_better(
            rows in prop::collection::vec(prop::collection::vec(0.0f64..10.0, 3), 4..12),
            noise in prop::collection::vec(-5.0f64..10.0, 12),
        ) {
            let targets = &noise[..rows.len()];
            let x = solve(&rows, targets);
            let loss = |x: &[f64]| -> f64 {
                rows.iter().zip(targets).map(|(r, t)| {
                    let fitted: f64 = r.iter().zip(x).map(|(a, b)| a * b).sum();
                    (fitted - t).powi(2)
                }).sum()
            };
            let at = loss(&x);
            for j in 0..3 {
                for step in [-1e-3, 1e-3] {
                    let mut moved = x.clone();
                    moved[j] = (moved[j] + step).max(0.0);
                    prop_assert!(loss(&moved) >= at - 1e-7 * (1.0 + at));
                }
            }
        }
    }
}
