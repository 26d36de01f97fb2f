//! Rows that contradict all the others.
//!
//! In go rows; out come those that a fit should use and those to set aside, each with what the
//! others expect of it. A slipped unit or a crash that had nothing to do with memory would move
//! `c` further than all good rows together; a row is set aside only where the evidence is
//! overwhelming, and it is always named.

use super::family::{DENSE, POOLED, best_knee, knees, student};
use super::likelihood::{Noise, Sample, Solution, Terms, features};
use super::model::{Row, Seen, Theta};

/// Chance, over all rows together, of setting aside a good row.
const CHANCE: f64 = 1e-4;
/// Relative distance below which a row is kept whatever the statistics say.
const NEAR: f64 = 0.25;
/// Residual below which no row is looked at more closely.
const SUSPICIOUS: f64 = 0.12;
/// Fewest measured rows that must remain.
const REMAIN: usize = 3;
/// Rows with the largest residuals that are tried without.
const TRIED: usize = 4;
/// One row in this many may be set aside, and always one.
const ONE_IN: usize = 6;

/// A row set aside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// The row.
    pub row: Row,
    /// Peak that the other rows lead to expect, bytes.
    pub expected: f64,
}

/// Splits rows into those to fit and those that contradict them.
pub fn split(rows: &[Row], noise: Noise) -> (Vec<Row>, Vec<Outlier>) {
    let mut kept = rows.to_vec();
    let mut aside = Vec::new();
    for _ in 0..(rows.len() / ONE_IN).max(1) {
        let Some((index, expected)) = worst(&kept, noise) else { break };
        aside.push(Outlier { row: kept.swap_remove(index), expected });
    }
    (kept, aside)
}

/// The row that contradicts the others most, if overwhelmingly, and what they expect of it.
fn worst(rows: &[Row], noise: Noise) -> Option<(usize, f64)> {
    let sample = Sample::new(rows, noise);
    let dense = sample.fit(Terms::free(DENSE, f64::INFINITY), None);
    if rows.iter().all(|row| miss(&dense, row) < SUSPICIOUS) {
        return None;
    }
    // What looks odd without a pool may be what a pool does.
    let (mask, with) = match best_knee(&sample, &knees(rows), POOLED) {
        Some(pooled) if pooled.deviance + 8.0 < dense.deviance => (POOLED, pooled),
        _ => (DENSE, dense),
    };
    if rows.iter().all(|row| miss(&with, row) < SUSPICIOUS) {
        return None;
    }
    let mut by_residual: Vec<usize> = (0..rows.len()).collect();
    by_residual.sort_by(|a, b| miss(&with, &rows[*b]).total_cmp(&miss(&with, &rows[*a])));
    let mut found: Option<(usize, f64, f64)> = None;
    for &index in by_residual.iter().take(TRIED) {
        let others: Vec<Row> = (0..rows.len()).filter(|i| *i != index).map(|i| rows[i]).collect();
        if others.iter().filter(|r| r.measured()).count() < REMAIN {
            continue;
        }
        let others = Sample::new(&others, noise);
        let without = others.fit(Terms::free(mask, with.knee), None);
        // The same coefficients with the row in view: what the row alone costs.
        let saved = match rows[index].seen {
            Seen::Peak(_) => with.deviance - without.deviance - 2.0 * without.sigma.ln(),
            _ => with.deviance - without.deviance,
        };
        let freedom = others.freedom(without.active());
        let t = student(freedom, 1.0 - CHANCE / (2.0 * rows.len() as f64));
        let limit = (others.weight() + 1.0) * (t * t / freedom).ln_1p();
        if saved > limit
            && miss(&without, &rows[index]) > NEAR
            && found.is_none_or(|(_, most, _)| saved > most)
        {
            let expected = expected(&without.theta, without.knee, &rows[index]);
            found = Some((index, saved, expected));
        }
    }
    found.map(|(index, _, expected)| (index, expected))
}

/// How far off a row is, as a logarithm.
fn miss(solution: &Solution, row: &Row) -> f64 {
    let mean = expected(&solution.theta, solution.knee, row).ln();
    match row.seen {
        Seen::Peak(v) => (v.ln() - mean).abs(),
        Seen::AtLeast(v) => (v.ln() - mean).max(0.0),
        Seen::AtMost(v) => (mean - v.ln()).max(0.0),
    }
}

fn expected(theta: &Theta, knee: f64, row: &Row) -> f64 {
    let x = features(row.t, row.e, row.pairs, knee);
    x.iter().zip(theta).map(|(x, v)| x * v).sum::<f64>().max(1.0)
}
