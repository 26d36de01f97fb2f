//! Scatter that the margin beside the guard is not there for.
//!
//! In go the rows of a fit and its best model; out come the noise of a single chunk with the degrees
//! of freedom that it is known with, by how much a bound has to be raised so that it covers a single
//! chunk and not only the average, the rows that contradict the bound, and whether the peaks scatter
//! so much that there is no model at all.

use super::family::{ONE_SIDED, student};
use super::likelihood::{Sample, Solution};
use super::model::{Coefficients, Row, Seen};

/// Noise that a margin covers: twice the 5% of readings on a live system. What goes beyond enters
/// the bound.
pub const ORDINARY: f64 = 0.10;
/// Noise from which peaks follow no model: half of them are off by more than a third.
const NO_MODEL: f64 = 0.50;
/// A peak this many times the bound, and this many standard deviations off, is not noise.
const ABOVE_BOUND: f64 = 1.1;
const DEVIATIONS: f64 = 4.5;
/// Standard deviation of a normal distribution over the median of its absolute values.
const OF_MEDIAN: f64 = 1.4826;
/// Most rows named on each side.
const NAMED: usize = 3;

/// Noise of a single chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Relative noise (standard deviation of the logarithm), without the bias of its few rows.
    pub noise: f64,
    /// Degrees of freedom that it is known with.
    pub freedom: f64,
}

impl Scatter {
    /// The noise of `solution`. A normal likelihood with a scaled inverse chi-squared prior on its
    /// variance (see [`super::Noise`]) makes what is known of the next chunk a Student's t.
    pub fn of(sample: &Sample, solution: &Solution) -> Self {
        let freedom = sample.freedom(solution.active());
        Self { noise: solution.sigma * (sample.weight() / freedom).sqrt(), freedom }
    }

    /// Whether no model can be given.
    pub fn hopeless(self) -> bool {
        self.noise > NO_MODEL
    }

    /// Factor by which a bound of the average that lies `bound / point` above it has to be raised
    /// to cover a single chunk, apart from [`ORDINARY`] noise.
    pub fn raise(self, point: f64, bound: f64) -> f64 {
        let beyond = (self.noise * self.noise - ORDINARY * ORDINARY).max(0.0).sqrt();
        let now = if point > 0.0 { (bound / point).max(1.0).ln() } else { 0.0 };
        (now.hypot(student(self.freedom, ONE_SIDED) * beyond) - now).exp()
    }
}

/// The measured rows furthest above a model and furthest below it, with the peak that it expects.
pub fn furthest(rows: &[Row], model: &Coefficients) -> Vec<(Row, f64)> {
    let mut measured: Vec<(Row, f64)> = rows
        .iter()
        .filter(|row| row.measured())
        .map(|row| (*row, model.peak(row.t, row.e, row.pairs)))
        .collect();
    // Both sorts are stable: of equals the first in the file.
    measured.sort_by(|a, b| off(b).total_cmp(&off(a)));
    let mut out: Vec<(Row, f64)> =
        measured.iter().take_while(|one| off(one) > 0.0).take(NAMED).copied().collect();
    measured.sort_by(|a, b| off(a).total_cmp(&off(b)));
    out.extend(measured.iter().take_while(|one| off(one) < 0.0).take(NAMED));
    out
}

/// The measured rows that lie above `bound` by more than noise explains, with their peak over it,
/// largest first. What noise explains is judged by the middle of the rows, which contradictory ones
/// do not move.
pub fn above(rows: &[Row], model: &Coefficients, bound: impl Fn(&Row) -> f64) -> Vec<(Row, f64)> {
    let mut misses: Vec<f64> = rows
        .iter()
        .filter(|row| row.measured())
        .map(|row| off(&(*row, model.peak(row.t, row.e, row.pairs))).abs())
        .collect();
    misses.sort_by(f64::total_cmp);
    let typical = OF_MEDIAN * misses.get(misses.len() / 2).copied().unwrap_or(0.0);
    let limit = ABOVE_BOUND.max((DEVIATIONS * typical).exp());
    let mut out: Vec<(Row, f64)> = rows
        .iter()
        .filter_map(|row| match row.seen {
            Seen::Peak(v) => Some((*row, v / bound(row).max(1.0))),
            _ => None,
        })
        .filter(|(_, factor)| *factor > limit)
        .collect();
    out.sort_by(|a, b| b.1.total_cmp(&a.1));
    out
}

/// Logarithm of a peak over what is expected.
fn off((row, expected): &(Row, f64)) -> f64 {
    match row.seen {
        Seen::Peak(v) => (v / expected.max(1.0)).ln(),
        _ => 0.0,
    }
}
