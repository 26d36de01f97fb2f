//! Least squares with non-negative coefficients, for the few unknowns of our models.
//!
//! In go rows of features and targets; out come coefficients `>= 0` with the least sum of squares.
//! With at most [`MAX_UNKNOWNS`] unknowns every set of non-zero coefficients is tried, so the
//! answer is the true optimum and never depends on a starting point.

/// Most unknowns that [`solve`] takes.
pub const MAX_UNKNOWNS: usize = 8;

/// Coefficients `x >= 0` minimising `sum_i (rows_i . x - targets_i)^2`.
///
/// Every row has the same length, at most [`MAX_UNKNOWNS`]; columns of zeros get coefficient 0.
pub fn solve(rows: &[Vec<f64>], targets: &[f64]) -> Vec<f64> {
    let unknowns = rows.first().map_or(0, Vec::len).min(MAX_UNKNOWNS);
    let scale: Vec<f64> = (0..unknowns)
        .map(|j| rows.iter().map(|r| r[j] * r[j]).sum::<f64>().sqrt())
        .map(|norm| if norm > 0.0 && norm.is_finite() { norm } else { f64::INFINITY })
        .collect();
    let unit = |row: &[f64], j: usize| row[j] / scale[j];
    let mut gram = [[0.0; MAX_UNKNOWNS]; MAX_UNKNOWNS];
    let mut moment = [0.0; MAX_UNKNOWNS];
    for (row, target) in rows.iter().zip(targets) {
        let scaled: Vec<f64> = (0..unknowns).map(|j| unit(row, j)).collect();
        for (i, x) in scaled.iter().enumerate() {
            moment[i] += x * target;
            for (cell, y) in gram[i].iter_mut().zip(&scaled) {
                *cell += x * y;
            }
        }
    }
    let mut best = vec![0.0; unknowns];
    let mut best_gain = 0.0;
    for set in 1u32..1 << unknowns {
        let members: Vec<usize> =
            (0..unknowns).filter(|&j| set & (1 << j) != 0 && scale[j].is_finite()).collect();
        if members.len() != set.count_ones() as usize {
            continue;
        }
        let Some(x) = cholesky(&gram, &moment, &members) else { continue };
        if x.iter().any(|v| *v < 0.0 || !v.is_finite()) {
            continue;
        }
        // The drop in the sum of squares against x = 0 is x . moment at the optimum of a set.
        let gain: f64 = members.iter().zip(&x).map(|(&j, v)| v * moment[j]).sum();
        if gain > best_gain * (1.0 + 1e-13) {
            best_gain = gain;
            best.fill(0.0);
            for (&j, v) in members.iter().zip(&x) {
                best[j] = v / scale[j];
            }
        }
    }
    best
}

/// Solves the normal equations of the unknowns in `members`; none when they are dependent.
fn cholesky(
    gram: &[[f64; MAX_UNKNOWNS]; MAX_UNKNOWNS],
    moment: &[f64; MAX_UNKNOWNS],
    members: &[usize],
) -> Option<Vec<f64>> {
    let n = members.len();
    let mut lower = [[0.0f64; MAX_UNKNOWNS]; MAX_UNKNOWNS];
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| lower[i][k] * lower[j][k]).sum();
            let rest = gram[members[i]][members[j]] - dot;
            if i == j {
                // Columns have unit length: what is left is the squared sine of the angle to the
                // span of the columns before.
                if rest < 1e-12 {
                    return None;
                }
                lower[i][i] = rest.sqrt();
            } else {
                lower[i][j] = rest / lower[j][j];
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| lower[i][k] * x[k]).sum();
        x[i] = (moment[members[i]] - dot) / lower[i][i];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| lower[k][i] * x[k]).sum();
        x[i] = (x[i] - dot) / lower[i][i];
    }
    Some(x)
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
