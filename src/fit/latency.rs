//! Time of an indexer pipeline over chunk rows and prefix.
//!
//! In go timed points; out comes `t(T, L) = a0 + a1*T + a2*L + a3*T*L + a4*T^2` with coefficients
//! of at least zero, fitted to relative errors, and how far it is off.

use serde::{Deserialize, Serialize};

use super::nnls;
use crate::profile::{Op, Outcome, Point};

/// Names of the coefficients of [`LatencyFit::coefficients`].
pub const TERMS: [&str; 5] = ["1", "T", "L", "T*L", "T^2"];

/// Time of one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyFit {
    /// Pipeline.
    pub path: String,
    /// Microseconds per unit of [`TERMS`].
    pub coefficients: [f64; 5],
    /// Timed points.
    pub points: usize,
    /// Median relative error.
    pub median_error: f64,
    /// Largest relative error.
    pub worst_error: f64,
}

impl LatencyFit {
    /// Predicted time of a chunk of `t` rows after a prefix of `l` tokens, microseconds.
    pub fn time_us(&self, t: u64, l: u64) -> f64 {
        features(t, l).iter().zip(self.coefficients).map(|(x, a)| x * a).sum()
    }
}

fn features(t: u64, l: u64) -> [f64; 5] {
    let (t, l) = (t as f64, l as f64);
    [1.0, t, l, t * l, t * t]
}

/// Fits the time of one path; none with fewer than three timed points.
pub fn fit<'a>(path: &str, points: impl IntoIterator<Item = &'a Point>) -> Option<LatencyFit> {
    let timed: Vec<([f64; 5], f64)> = points
        .into_iter()
        .filter(|p| p.op == Op::Indexer && p.outcome == Outcome::Ok)
        .filter_map(|p| Some((features(p.t?, p.l?), p.time_us.filter(|t| *t > 0.0)?)))
        .collect();
    if timed.len() < 3 {
        return None;
    }
    let rows: Vec<Vec<f64>> =
        timed.iter().map(|(x, time)| x.iter().map(|v| v / time).collect()).collect();
    let solved = nnls::solve(&rows, &vec![1.0; rows.len()]);
    let mut coefficients = [0.0; 5];
    coefficients.copy_from_slice(&solved);
    let mut errors: Vec<f64> = rows
        .iter()
        .map(|row| (row.iter().zip(coefficients).map(|(x, a)| x * a).sum::<f64>() - 1.0).abs())
        .collect();
    errors.sort_by(f64::total_cmp);
    Some(LatencyFit {
        path: path.to_owned(),
        coefficients,
        points: timed.len(),
        median_error: errors[errors.len() / 2],
        worst_error: errors.last().copied().unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::testing::indexer;

    #[test]
    fn exact_times_give_their_coefficients_and_nothing_negative() {
        let mut points = Vec::new();
        for t in [256u64, 512, 1024, 2048] {
            for l in [0u64, 8192, 65_536, 131_072] {
                let (x, y) = (t as f64, l as f64);
                let time = 5.0 + 0.02 * x + 3e-7 * x * y + 1e-6 * x * x;
                points.push(indexer("dense", t, l, 1, 1, time));
            }
        }
        let fit = fit("dense", &points).unwrap();
        assert!(fit.worst_error < 1e-6, "{fit:?}");
        assert!((fit.coefficients[3] / 3e-7 - 1.0).abs() < 1e-4);
        assert!(fit.coefficients.iter().all(|a| *a >= 0.0));
        assert!((fit.time_us(2048, 131_072) / points[15].time_us.unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn two_points_are_not_enough() {
        let points = [indexer("x", 1, 0, 1, 1, 1.0), indexer("x", 2, 0, 1, 1, 2.0)];
        assert!(fit("x", &points).is_none());
    }
}
