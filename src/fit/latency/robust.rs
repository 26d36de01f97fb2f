//! Non-negative least squares of relative errors that a few wrong rows cannot bend.
//!
//! In go rows of factors with their times; out come coefficients of at least zero, which rows were
//! kept, and the sum of absolute errors. A row is set aside only where the others agree among
//! themselves and it is off by more than half and by many times their spread.

use super::{SMOOTH, UNKNOWNS};
use crate::fit::nnls;

/// Order in which terms are admitted while there are rows for them: what a row costs and what a
/// chunk costs come first.
const PRIORITY: [usize; UNKNOWNS] = [1, 0, 3, 4, 2, 5, 6, 7];
/// A column whose part that the columns before do not explain is smaller than this is one of them.
const INDEPENDENT: f64 = 1e-4;
/// A row is set aside when its logarithm is off by more than this,
const GROSS: f64 = 0.405; // ln 1.5
/// and by this many times the spread of the others,
const SPREADS: f64 = 6.0;
/// of which it is at most one in this many.
const MOST_SET_ASIDE: usize = 4;
/// With at most this many rows every one is tried as the wrong one.
const LEAVE_OUT_EACH: usize = 40;
/// Rounds of reweighting; they settle in a few.
const ROUNDS: usize = 12;

/// Factors and times.
#[derive(Debug)]
pub struct Design {
    rows: Vec<[f64; UNKNOWNS]>,
    times: Vec<f64>,
}

/// A solution.
#[derive(Clone, Debug)]
pub struct Solved {
    /// Coefficients; zero for columns that were not asked for.
    pub coefficients: [f64; UNKNOWNS],
    /// Which rows were kept.
    pub kept: Vec<bool>,
    /// Sum of absolute relative errors of all rows, each at most one.
    pub total_error: f64,
}

impl Design {
    /// A design; times are positive.
    pub fn new(rows: Vec<[f64; UNKNOWNS]>, times: Vec<f64>) -> Self {
        Self { rows, times }
    }

    /// Columns that the rows tell apart, as many as there are distinct rows, in order of priority;
    /// ascending.
    pub fn independent(&self) -> Vec<usize> {
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut found = Vec::new();
        for column in PRIORITY {
            let mut rest: Vec<f64> =
                self.rows.iter().zip(&self.times).map(|(row, time)| row[column] / time).collect();
            let length = norm(&rest);
            if length.is_nan() || length <= 0.0 {
                continue;
            }
            // Twice, since once leaves rounding errors of nearly parallel columns.
            for _ in 0..2 {
                for unit in &basis {
                    let share: f64 = unit.iter().zip(&rest).map(|(u, v)| u * v).sum();
                    rest.iter_mut().zip(unit).for_each(|(v, u)| *v -= share * u);
                }
            }
            let left = norm(&rest);
            if left > INDEPENDENT * length {
                rest.iter_mut().for_each(|v| *v /= left);
                basis.push(rest);
                found.push(column);
            }
        }
        found.sort_unstable();
        found
    }

    /// Time that coefficients predict for a row.
    pub fn predicted(&self, row: usize, x: &[f64; UNKNOWNS]) -> f64 {
        self.rows[row].iter().zip(x).map(|(a, b)| a * b).sum()
    }

    /// Relative error of a row.
    pub fn error(&self, row: usize, x: &[f64; UNKNOWNS]) -> f64 {
        self.predicted(row, x) / self.times[row] - 1.0
    }

    /// Logarithm of predicted over measured.
    fn log_error(&self, row: usize, x: &[f64; UNKNOWNS]) -> f64 {
        (self.predicted(row, x).max(f64::MIN_POSITIVE) / self.times[row]).ln()
    }

    /// Solves for `columns`, setting aside rows that the others contradict.
    pub fn robust(&self, columns: &[usize]) -> Solved {
        let n = self.rows.len();
        let all = vec![1.0; n];
        let mut best = self.least_absolute(columns, all.clone());
        if n <= LEAVE_OUT_EACH && n > columns.len() + 1 {
            let typical = |x: &[f64; UNKNOWNS]| {
                let mut errors: Vec<f64> = (0..n).map(|i| self.log_error(i, x).abs()).collect();
                errors.sort_by(f64::total_cmp);
                // So many rows must agree that the unknowns alone cannot make them.
                errors[((n + columns.len()) / 2).min(n - 1)]
            };
            let mut least = typical(&best);
            for out in 0..n {
                let mut weights = all.clone();
                weights[out] = 0.0;
                let x = self.weighted(columns, &weights);
                if typical(&x) < least {
                    (least, best) = (typical(&x), x);
                }
            }
        }
        let kept = self.kept(columns, &best);
        let weights: Vec<f64> = kept.iter().map(|k| f64::from(u8::from(*k))).collect();
        let coefficients = self.weighted(columns, &weights);
        let total_error = (0..n).map(|i| self.error(i, &coefficients).abs().min(1.0)).sum();
        Solved { coefficients, kept, total_error }
    }

    /// Which rows agree with `x`; all of them where too many would not.
    fn kept(&self, columns: &[usize], x: &[f64; UNKNOWNS]) -> Vec<bool> {
        let n = self.rows.len();
        let errors: Vec<f64> = (0..n).map(|i| self.log_error(i, x).abs()).collect();
        let mut sorted = errors.clone();
        sorted.sort_by(f64::total_cmp);
        // 1.4826 makes the median absolute error of normal noise its standard deviation.
        let spread = 1.4826 * sorted.get(n / 2).copied().unwrap_or(0.0);
        let kept: Vec<bool> = errors.iter().map(|e| *e <= GROSS.max(SPREADS * spread)).collect();
        let out = kept.iter().filter(|k| !**k).count();
        if out > n.div_ceil(MOST_SET_ASIDE) || n - out < columns.len() + 1 {
            return vec![true; n];
        }
        kept
    }

    /// Least absolute relative errors by reweighting.
    fn least_absolute(&self, columns: &[usize], start: Vec<f64>) -> [f64; UNKNOWNS] {
        let mut weights = start;
        let mut x = self.weighted(columns, &weights);
        for _ in 0..ROUNDS {
            for (i, weight) in weights.iter_mut().enumerate() {
                *weight = 1.0 / self.log_error(i, &x).abs().max(1e-3).sqrt();
            }
            let next = self.weighted(columns, &weights);
            let moved = x.iter().zip(&next).any(|(a, b)| (a - b).abs() > 1e-9 * a.abs());
            x = next;
            if !moved {
                break;
            }
        }
        x
    }

    fn weighted(&self, columns: &[usize], weights: &[f64]) -> [f64; UNKNOWNS] {
        let rows: Vec<Vec<f64>> = self
            .rows
            .iter()
            .zip(self.times.iter().zip(weights))
            .map(|(row, (time, w))| columns.iter().map(|j| w * row[*j] / time).collect())
            .collect();
        let mut x = [0.0; UNKNOWNS];
        for (j, value) in columns.iter().zip(nnls::solve(&rows, weights)) {
            x[*j] = value;
        }
        x
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|v| v * v).sum::<f64>().sqrt()
}

const _: () = assert!(SMOOTH < UNKNOWNS && UNKNOWNS <= nnls::MAX_UNKNOWNS);
