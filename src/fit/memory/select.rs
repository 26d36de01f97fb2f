//! Chooses among the memory models by AICc and puts intervals on `c` by profile likelihood.
//!
//! In go the rows of one path; out come the chosen form, its coefficients, the runner-up and the
//! ends of the interval. A model with more unknowns than the rows can carry is not considered, so
//! two nearly collinear peaks can give neither a negative `c` nor a confident one.

use super::model::{self, Form, Growth, Noise, Row, Seen, Solution};

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

/// Rows, and distinct spread of `T * keys`, below which growth with `T * keys` is taken as given:
/// a flat or saturating form needs evidence, because it promises memory.
const MIN_ROWS_FOR_FLAT: usize = 6;
const MIN_SPREAD_FOR_FLAT: f64 = 4.0;
/// How far beyond a pool's knee the largest `T * keys` must lie.
const MIN_BEYOND_KNEE: f64 = 2.0;
/// How much better a bounded form must be than the best unbounded one (AICc; 10 is strong
/// evidence): choosing it wrongly promises memory that is not there.
const BOUNDED_MARGIN: f64 = 10.0;

/// Deviance of a one-sided 95% bound: the square of the normal quantile 1.6449.
pub const ONE_SIDED_95: f64 = 2.705_543;
/// Deviance of a two-sided 95% interval: the square of the normal quantile 1.9600.
pub const TWO_SIDED_95: f64 = 3.841_459;

/// The plain form `c * T * keys`, where nothing more can be told.
pub const PLAIN: Form = Form { fixed: false, rows: false, context: false, growth: Growth::Dense };

/// Smallest and largest `T * keys` of the rows whose peak was measured.
pub fn measured_span(rows: &[Row]) -> Option<(f64, f64)> {
    rows.iter().filter(|r| matches!(r.seen, Seen::Peak(_))).map(|r| r.pairs).fold(
        None,
        |span, x| match span {
            None => Some((x, x)),
            Some((lo, hi)) => Some((x.min(lo), x.max(hi))),
        },
    )
}

/// All forms that the rows can carry, best first; at least [`PLAIN`].
pub fn rank(rows: &[Row], noise: Noise) -> Vec<Candidate> {
    let measured = rows.iter().filter(|r| matches!(r.seen, Seen::Peak(_))).count();
    let spread = measured_span(rows).map_or(1.0, |(lo, hi)| hi / lo.max(1.0));
    let bounded_allowed = measured >= MIN_ROWS_FOR_FLAT && spread >= MIN_SPREAD_FOR_FLAT;
    let mut candidates = Vec::new();
    for bits in 0u8..8 {
        for growth in [Growth::Dense, Growth::Flat, Growth::Pooled, Growth::DenseAndPooled] {
            if growth != Growth::Dense && !bounded_allowed {
                continue;
            }
            let form =
                Form { fixed: bits & 1 != 0, rows: bits & 2 != 0, context: bits & 4 != 0, growth };
            let unknowns = unknowns(form, noise);
            if unknowns == 0 || (form != PLAIN && measured <= unknowns) {
                continue;
            }
            let solution = best_knee(rows, form, noise);
            // A term at zero is the smaller model again.
            if form != PLAIN && has_idle_term(form, &solution) {
                continue;
            }
            if growth == Growth::DenseAndPooled && dense_term_is_noise(rows, &solution, noise) {
                continue;
            }
            let aicc = aicc(solution.loglik, unknowns, rows.len());
            candidates.push(Candidate { form, solution, aicc });
        }
    }
    let handicapped = |c: &Candidate| {
        let bounded = matches!(c.form.growth, Growth::Flat | Growth::Pooled);
        c.aicc + if bounded { BOUNDED_MARGIN } else { 0.0 }
    };
    candidates.sort_by(|a, b| handicapped(a).total_cmp(&handicapped(b)));
    candidates
}

fn unknowns(form: Form, noise: Noise) -> usize {
    let linear = usize::from(form.fixed) + usize::from(form.rows) + usize::from(form.context);
    let growth = match form.growth {
        Growth::Flat => 0,
        Growth::Dense => 1,
        Growth::Pooled => 2,
        Growth::DenseAndPooled => 3,
    };
    match linear + growth {
        0 => 0,
        terms => terms + usize::from(matches!(noise, Noise::AtLeast(_))),
    }
}

fn has_idle_term(form: Form, solution: &Solution) -> bool {
    let theta = &solution.theta;
    let pooled = matches!(form.growth, Growth::Pooled | Growth::DenseAndPooled);
    let dense = matches!(form.growth, Growth::Dense | Growth::DenseAndPooled);
    (form.fixed && theta.m0 <= 0.0)
        || (form.rows && theta.m_t <= 0.0)
        || (form.context && theta.m_e <= 0.0)
        || (dense && theta.c <= 0.0)
        || (pooled && theta.pool_per_pair <= 0.0)
}

/// Whether the growth beside a pool is nowhere larger than the noise that the figures carry anyway
/// (two standard deviations at its floor): rounding of the pool to whole rows, not a buffer.
fn dense_term_is_noise(rows: &[Row], solution: &Solution, noise: Noise) -> bool {
    let Noise::AtLeast(floor) = noise else { return false };
    let theta = &solution.theta;
    let share = |r: &Row| theta.c * r.pairs / theta.peak(r.t, r.e, r.pairs);
    rows.iter().map(share).fold(0.0, f64::max) <= 2.0 * floor
}

fn aicc(loglik: f64, unknowns: usize, rows: usize) -> f64 {
    if rows <= unknowns + 1 {
        return f64::INFINITY;
    }
    let (k, n) = (unknowns as f64, rows as f64);
    2.0 * k - 2.0 * loglik + 2.0 * k * (k + 1.0) / (n - k - 1.0)
}

/// The best fit over the position of the pool's knee; forms without a pool have none.
fn best_knee(rows: &[Row], form: Form, noise: Noise) -> Solution {
    if matches!(form.growth, Growth::Flat | Growth::Dense) {
        return model::fit(rows, form, 0.0, None, noise);
    }
    let mut knots: Vec<f64> = rows.iter().map(|r| r.pairs).filter(|p| *p > 0.0).collect();
    knots.sort_by(f64::total_cmp);
    knots.dedup();
    let fit = |knee: f64| model::fit(rows, form, knee, None, noise);
    // A pool counts as full only where rows well beyond the knee show it; a knee at the last row
    // is the dense form with noise.
    let largest = knots.last().copied().unwrap_or(1.0);
    let inner = knots.iter().filter(|k| **k * MIN_BEYOND_KNEE <= largest).count();
    let inner = &knots[..inner.min(knots.len().saturating_sub(1))];
    let mut best: Option<(usize, Solution)> = None;
    for (i, knee) in inner.iter().enumerate() {
        let solution = fit(*knee);
        if best.as_ref().is_none_or(|(_, b)| solution.loglik > b.loglik) {
            best = Some((i, solution));
        }
    }
    let Some((at, mut best)) = best else { return fit(knots.first().copied().unwrap_or(1.0)) };
    let low = if at == 0 { knots[0] * 0.25 } else { knots[at - 1] };
    let high = knots[at + 1].min(largest / MIN_BEYOND_KNEE).max(knots[at]);
    // Golden section on the logarithm of the knee, on both sides of the best knot.
    for (a, b) in [(low, knots[at]), (knots[at], high)] {
        let solution = golden(a.ln(), b.ln(), &fit);
        if solution.loglik > best.loglik {
            best = solution;
        }
    }
    best
}

fn golden(mut a: f64, mut b: f64, fit: &impl Fn(f64) -> Solution) -> Solution {
    const RATIO: f64 = 0.618_033_988_749_895;
    let (mut x, mut y) = (b - RATIO * (b - a), a + RATIO * (b - a));
    let (mut at_x, mut at_y) = (fit(x.exp()), fit(y.exp()));
    for _ in 0..30 {
        if at_x.loglik >= at_y.loglik {
            (b, y, at_y) = (y, x, at_x);
            x = b - RATIO * (b - a);
            at_x = fit(x.exp());
        } else {
            (a, x, at_x) = (x, y, at_y);
            y = a + RATIO * (b - a);
            at_y = fit(y.exp());
        }
    }
    if at_x.loglik >= at_y.loglik { at_x } else { at_y }
}

/// Where the profile likelihood of `c` has dropped by `deviance / 2`, below and above the estimate.
/// The lower end is 0 where even `c = 0` is not excluded.
pub fn interval(rows: &[Row], best: &Candidate, noise: Noise, deviance: f64) -> (f64, f64) {
    let theta = best.solution.theta;
    let excluded = |c: f64| {
        let held = model::fit(rows, best.form, theta.pool_pairs, Some(c), noise);
        2.0 * (best.solution.loglik - held.loglik) > deviance
    };
    if theta.c <= 0.0 {
        return (0.0, 0.0);
    }
    let mut low = 0.0;
    if excluded(0.0) {
        let (mut out, mut inside) = (0.0, theta.c);
        for _ in 0..60 {
            let middle = 0.5 * (out + inside);
            if excluded(middle) { out = middle } else { inside = middle }
        }
        low = inside;
    }
    let mut out = theta.c * 1.01;
    let mut doublings = 0;
    while !excluded(out) && doublings < 60 {
        out = theta.c + 2.0 * (out - theta.c);
        doublings += 1;
    }
    let mut inside = theta.c;
    for _ in 0..60 {
        let middle = 0.5 * (out + inside);
        if excluded(middle) { out = middle } else { inside = middle }
    }
    (low, inside)
}
