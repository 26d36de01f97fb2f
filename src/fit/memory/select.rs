//! Chooses among the memory models by AICc.
//!
//! In go rows; out come all forms that the rows can carry, best first. A model with as many
//! coefficients as measured rows, or more, is not considered, so two nearly collinear peaks can give
//! neither a negative `c` nor a confident one.

use super::family;
use super::likelihood::{Sample, Solution, Terms};
use super::model::{C, Form, Growth, Row};

/// A form with its fit.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Terms.
    pub form: Form,
    /// Fit.
    pub solution: Solution,
    /// Corrected Akaike information criterion; infinite where the rows are too few to judge.
    pub aicc: f64,
}

/// Rows, and spread of `T * keys`, below which growth with `T * keys` is taken as given: a flat or
/// saturating form needs evidence, because it promises memory.
pub const MIN_ROWS_FOR_BOUNDED: usize = 6;
/// See [`MIN_ROWS_FOR_BOUNDED`].
pub const MIN_SPREAD_FOR_BOUNDED: f64 = 4.0;
/// The plain form `c * T * keys`, where nothing more can be told.
pub const PLAIN: Form = Form { fixed: false, rows: false, context: false, growth: Growth::Dense };

/// Smallest and largest `T * keys` of the rows whose peak was measured.
pub fn measured_span(rows: &[Row]) -> Option<(f64, f64)> {
    rows.iter().filter(|r| r.measured()).map(|r| r.pairs).fold(None, |span, x| match span {
        None => Some((x, x)),
        Some((lo, hi)) => Some((x.min(lo), x.max(hi))),
    })
}

/// All forms that the rows can carry, best first; at least [`PLAIN`]. `pooled` are fits of all
/// terms at the knees of a pool, `alone` the best without growth beside it.
pub fn rank(
    sample: &Sample,
    rows: &[Row],
    pooled: &[Solution],
    alone: Option<Solution>,
) -> Vec<Candidate> {
    let measured = rows.iter().filter(|r| r.measured()).count();
    let spread = measured_span(rows).map_or(1.0, |(lo, hi)| hi / lo.max(1.0));
    let bounded = measured >= MIN_ROWS_FOR_BOUNDED && spread >= MIN_SPREAD_FOR_BOUNDED;
    let mut candidates = Vec::new();
    let mut consider = |form: Form, knee: f64, start: Option<&Solution>| {
        let coefficients = form.unknowns() - 1;
        if coefficients == 0 || (form != PLAIN && measured <= coefficients) {
            return;
        }
        let solution = sample.fit(Terms::free(form.mask(), knee), start);
        // A term at zero is the smaller model again.
        if form != PLAIN && solution.active() < form.mask().count_ones() as usize {
            return;
        }
        if form.growth == Growth::DenseAndPooled && dense_term_is_noise(sample, rows, &solution) {
            return;
        }
        let aicc = aicc(solution.deviance, form.unknowns(), sample.total());
        candidates.push(Candidate { form, solution, aicc });
    };
    for bits in 0..8 {
        consider(Form::new(bits, Growth::Dense), f64::INFINITY, None);
    }
    if bounded {
        for bits in 0..8 {
            consider(Form::new(bits, Growth::Flat), f64::INFINITY, None);
        }
        let beside = family::best(pooled);
        for (growth, best) in [(Growth::Pooled, alone), (Growth::DenseAndPooled, beside)] {
            let Some(best) = best else { continue };
            (0..8).for_each(|bits| consider(Form::new(bits, growth), best.knee, None));
        }
    }
    candidates.sort_by(|a, b| a.aicc.total_cmp(&b.aicc));
    candidates
}

/// Whether the growth beside a pool is nowhere larger than the noise that the figures carry anyway
/// (two standard deviations): rounding of the pool to whole rows, not a buffer.
fn dense_term_is_noise(sample: &Sample, rows: &[Row], solution: &Solution) -> bool {
    let share = |r: &Row| {
        let x = super::likelihood::features(r.t, r.e, r.pairs, solution.knee);
        let all: f64 = x.iter().zip(solution.theta).map(|(x, v)| x * v).sum();
        solution.theta[C] * r.pairs / all.max(1.0)
    };
    rows.iter().map(share).fold(0.0, f64::max) <= 2.0 * sample.known_noise()
}

fn aicc(deviance: f64, unknowns: usize, rows: f64) -> f64 {
    let k = unknowns as f64;
    if rows <= k + 1.0 {
        return f64::INFINITY;
    }
    deviance + 2.0 * k + 2.0 * k * (k + 1.0) / (rows - k - 1.0)
}
