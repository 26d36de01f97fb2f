//! Memory of a path: how the peak of one chunk grows with T, E and T*keys.
//!
//! In go peaks and censored outcomes; out come the chosen model, `c` (bytes per row and key) with
//! its interval and one-sided 95% bound, the bound of any chunk's peak, and what the data cannot
//! tell, in words.

mod bound;
mod error;
mod family;
mod likelihood;
mod many;
mod model;
mod next;
mod normal;
mod outlier;
mod scatter;
mod select;
pub mod study;
mod words;

use serde::{Deserialize, Serialize};

pub use error::MemoryError;
pub use likelihood::Noise;
pub use model::{Coefficients, Form, Growth, Row, Seen};
pub use next::{Proposal, propose};

use crate::profile::{Op, Outcome, Point};
use family::{Families, ONE_SIDED, student};
use likelihood::{Sample, Solution, Terms};
use many::{MOST_ROWS, by_chunk, of_all, thinned};
use scatter::Scatter;
use select::Candidate;

/// Noise of exact (simulated) figures: allocations are rounded.
pub const EXACT_NOISE: Noise = Noise { rows: 1.0, sigma: 1e-4 };
/// Noise of figures read on a live system: about 5%, worth two rows.
pub const FIELD_NOISE: Noise = Noise { rows: 2.0, sigma: 0.05 };

/// Measured rows from which terms that the chosen form lacks enter the bound of a peak.
const ROWS_FOR_CORNERS: usize = 4;
/// A coefficient with its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Most likely value.
    pub point: f64,
    /// Lower end of the two-sided 95% interval.
    pub lo: f64,
    /// Upper end of the two-sided 95% interval.
    pub hi: f64,
    /// One-sided 95% upper bound: what `BUDGET` uses.
    pub upper_95: f64,
}

/// Memory of one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryFit {
    /// Device named by the observations; none for a fit of our own pipelines.
    #[serde(default)]
    pub observed_on: Option<String>,
    /// Least free memory before a chunk that the observations report, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_observed: Option<u64>,
    /// Pipeline (`fp8`, `dense`, `row_pooled`, `key_blocked`), or a label for field observations.
    pub path: String,
    /// Whether the rows come from the deployed engine rather than from our own pipelines.
    pub deployed: bool,
    /// Tokens per indexer key.
    pub ratio: u32,
    /// Rows whose peak was measured.
    pub measured: usize,
    /// Rows that only bound the peak (out of memory, guard, fitted without a recorded peak).
    pub censored: usize,
    /// Growth with `T*keys`.
    pub growth: Growth,
    /// Terms of the model, readable.
    pub formula: String,
    /// Coefficients, bytes per unit.
    pub coefficients: Coefficients,
    /// Bytes per (row, key); all zero where the path's memory is bounded.
    pub c: Estimate,
    /// Size of the bounded pool, bytes, where there is one.
    pub pool_bytes: Option<f64>,
    /// Relative noise of a single chunk (standard deviation of the logarithm).
    pub noise: f64,
    /// Degrees of freedom that the noise is known with.
    #[serde(default = "many")]
    pub freedom: f64,
    /// Largest relative error of a measured row.
    pub worst_error: f64,
    /// Smallest and largest `T*keys` among measured rows.
    pub span_pairs: (f64, f64),
    /// Formula of the runner-up and how much worse its AICc is.
    pub runner_up: Option<(String, f64)>,
    /// Coefficients that are barely not excluded at one-sided 95%, each as high as possible for
    /// some chunk: the largest of their peaks bounds the expected peak of any chunk.
    #[serde(default)]
    pub corners: Vec<Coefficients>,
    /// Inverse covariance of `(m0, m_T, m_E, c)` with the weak prior that no term is larger than
    /// the peak.
    #[serde(default)]
    pub information: [[f64; 4]; 4],
    /// What a reader must know about the fit.
    pub statements: Vec<String>,
}

impl MemoryFit {
    /// Expected peak of a chunk, bytes.
    pub fn peak(&self, t: u64, e: u64) -> f64 {
        self.peak_of(&self.coefficients, t, e)
    }

    /// One-sided 95% bound of the expected peak of a chunk, bytes.
    pub fn peak_95(&self, t: u64, e: u64) -> f64 {
        self.corners.iter().map(|corner| self.peak_of(corner, t, e)).fold(self.peak(t, e), f64::max)
    }

    /// Peak of a chunk with another `c`, bytes.
    pub fn peak_at(&self, t: u64, e: u64, c: f64) -> f64 {
        self.peak_of(&Coefficients { c, ..self.coefficients }, t, e)
    }

    fn peak_of(&self, coefficients: &Coefficients, t: u64, e: u64) -> f64 {
        let pairs = t as f64 * e.div_ceil(u64::from(self.ratio.max(1))) as f64;
        coefficients.peak(t as f64, e as f64, pairs)
    }

    /// Probability that the peak of one chunk, with the noise of a single run, stays within
    /// `limit` bytes. Noise that a few rows are all that is known of has the heavy tails of
    /// Student's t.
    pub fn probability_within(&self, t: u64, e: u64, limit: f64) -> f64 {
        let peak = self.peak(t, e).max(1.0);
        let bound = self.peak_95(t, e).max(1.0);
        let error = (bound / peak).ln() / student(self.freedom, ONE_SIDED);
        let spread = error.hypot(self.noise).max(1e-12);
        family::student_below(self.freedom, (limit.max(1.0) / peak).ln() / spread)
    }

    /// Whether the peak grows without bound with `T*keys`.
    pub fn grows(&self) -> bool {
        self.growth.dense()
    }
}

/// Degrees of freedom of a fit that does not say.
fn many() -> f64 {
    1e6
}

/// The rows of an indexer path in a profile.
pub fn rows_of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Vec<Row> {
    points
        .into_iter()
        .filter(|p| p.op == Op::Indexer)
        .filter_map(|p| {
            let (t, l) = (p.t?, p.l?);
            let e = t.checked_add(l)?;
            let keys = e.div_ceil(u64::from(p.ratio.unwrap_or(1).max(1)));
            let seen = match (p.outcome, p.peak_bytes) {
                (Outcome::Ok, Some(peak)) if peak > 0 => Seen::Peak(peak as f64),
                (Outcome::Oom | Outcome::Guard, Some(peak)) if peak > 0 => {
                    Seen::AtLeast(peak as f64)
                }
                _ => return None,
            };
            Some(Row { line: 0, t: t as f64, e: e as f64, pairs: t as f64 * keys as f64, seen })
        })
        .collect()
}

/// Fits the memory of one path. Rows that hold anything but positive finite figures are left out.
///
/// # Errors
/// No usable row, or no measured peak.
pub fn fit(
    path: &str,
    deployed: bool,
    ratio: u32,
    rows: &[Row],
    noise: Noise,
) -> Result<MemoryFit, MemoryError> {
    let mut usable: Vec<Row> = rows.iter().copied().filter(possible).collect();
    let left_out = rows.len() - usable.len();
    if usable.len() > MOST_ROWS {
        usable.sort_unstable_by(by_chunk);
    }
    if usable.is_empty() {
        return Err(MemoryError::NoRows { path: path.to_owned() });
    }
    let (few, aside) = outlier::split(&thinned(&usable), noise);
    let Some(span) = select::measured_span(&few) else {
        return Err(MemoryError::NoPeak {
            path: path.to_owned(),
            censored: usable.len(),
            bound: words::bounds(&usable),
        });
    };
    let sample = Sample::new(&few, noise);
    let (families, ranked) = weighed(&sample, &few);
    let mut best = ranked[0];
    if usable.len() > few.len() + aside.len() {
        best.solution = of_all(&usable, best.form, &best.solution, noise);
    }
    let coefficients = Coefficients::new(best.solution.theta, best.solution.knee);
    let scatter = Scatter::of(&sample, &best.solution);
    // Our own figures are exact: what scatters there is a form that a few points do not allow, and
    // the raised bound covers it.
    if deployed && scatter.hopeless() {
        return Err(MemoryError::Scattered {
            path: path.to_owned(),
            noise: 100.0 * scatter.noise,
            rows: words::furthest(&few, &coefficients),
            advice: words::no_model(Scatter::of(
                &sample,
                &sample.fit(Terms::free(Form::new(7, Growth::Flat).mask(), f64::INFINITY), None),
            )),
        });
    }
    let c = estimate(&families, &best, span.1);
    let measured = usable.iter().filter(|r| r.measured()).count();
    let mut fit = MemoryFit {
        observed_on: None,
        free_observed: None,
        path: path.to_owned(),
        deployed,
        ratio,
        measured,
        censored: usable.len() - measured,
        growth: best.form.growth,
        formula: best.form.formula(),
        coefficients,
        c,
        pool_bytes: best.form.growth.pooled().then(|| coefficients.pool_bytes()),
        noise: scatter.noise,
        freedom: scatter.freedom,
        worst_error: worst_error(&few, &coefficients),
        span_pairs: span,
        runner_up: ranked
            .get(1)
            .filter(|second| second.aicc.is_finite())
            .map(|second| (second.form.formula(), second.aicc - best.aicc)),
        corners: corners(&sample, &families, &coefficients, c, &few, ratio),
        information: information(&sample, families.dense().best),
        statements: Vec::new(),
    };
    fit.statements = raise(&mut fit, scatter, &few);
    let statements = words::statements(&fit, best.form, &few, &aside, noise);
    fit.statements.extend(statements);
    if left_out > 0 {
        fit.statements.push(format!(
            "{left_out} rows hold a figure that is zero, negative, infinite or not a number: they \
             were left out."
        ));
    }
    if usable.len() > MOST_ROWS {
        fit.statements.push(format!(
            "The form and the intervals come from {MOST_ROWS} of the {} rows, evenly spaced in \
             T*keys; the coefficients come from all.",
            usable.len()
        ));
    }
    Ok(fit)
}

/// Raises the bounds of `fit` to what its rows saw: a scatter beyond the ordinary, and peaks above
/// them that noise does not explain. Says so.
fn raise(fit: &mut MemoryFit, scatter: Scatter, rows: &[Row]) -> Vec<String> {
    let model = fit.coefficients;
    let largest = rows
        .iter()
        .map(|r| (r.t, r.e, r.pairs))
        .fold((1.0, 1.0, 1.0), |a, b| if b.2 > a.2 { b } else { a });
    let at = |corner: &Coefficients| corner.peak(largest.0, largest.1, largest.2);
    for corner in &mut fit.corners {
        *corner = corner.scaled(scatter.raise(at(&model), at(corner)));
    }
    fit.c.upper_95 *= scatter.raise(fit.c.point, fit.c.upper_95);
    let bound = |row: &Row| {
        let of = |corner: &Coefficients| corner.peak(row.t, row.e, row.pairs);
        fit.corners.iter().map(of).fold(of(&model), f64::max)
    };
    let above = scatter::above(rows, &model, bound);
    if let Some((_, factor)) = above.first() {
        fit.corners.iter_mut().for_each(|corner| *corner = corner.scaled(*factor));
        fit.c.upper_95 *= factor;
    }
    fit.c.hi = fit.c.hi.max(fit.c.upper_95);
    words::raised(scatter, rows, &model, &above)
}

fn possible(row: &Row) -> bool {
    let bytes = match row.seen {
        Seen::Peak(v) | Seen::AtLeast(v) | Seen::AtMost(v) => v,
    };
    [row.t, row.e, row.pairs, bytes].iter().all(|v| *v > 0.0 && v.is_finite())
}

/// The families that rows might come from, and the forms within them, best first.
fn weighed<'a>(sample: &'a Sample, rows: &[Row]) -> (Families<'a>, Vec<Candidate>) {
    let knees = family::knees(rows);
    let mut pooled = family::over_knees(sample, &knees, family::POOLED);
    // The best knee of a pool with nothing beside it, so that c = 0 is judged where it fits best.
    let alone = family::best_knee(sample, &knees, family::POOLED & !(1 << model::C));
    let there = |at: Solution| sample.fit(Terms::free(family::POOLED, at.knee), Some(&at));
    pooled.extend(alone.map(there));
    (Families::new(sample, &pooled), select::rank(sample, rows, &pooled, alone))
}

/// `c` with its interval. A growth that would be lost in the rounding of exact figures even at the
/// largest chunk is none.
fn estimate(families: &Families<'_>, best: &Candidate, largest: f64) -> Estimate {
    let coefficients = Coefficients::new(best.solution.theta, best.solution.knee);
    let point = coefficients.c;
    let (lo, hi) = families.interval(family::TWO_SIDED);
    let upper_95 = families.upper(family::ONE_SIDED);
    let beside = coefficients.m0 + coefficients.pool_bytes();
    if !best.form.growth.dense() && hi * largest <= 20.0 * EXACT_NOISE.sigma * beside.max(1.0) {
        return Estimate { point: 0.0, lo: 0.0, hi: 0.0, upper_95: 0.0 };
    }
    Estimate { point, lo: lo.min(point), hi: hi.max(point), upper_95: upper_95.max(point) }
}

fn worst_error(rows: &[Row], coefficients: &Coefficients) -> f64 {
    rows.iter()
        .filter_map(|r| match r.seen {
            Seen::Peak(v) => Some((coefficients.peak(r.t, r.e, r.pairs) / v - 1.0).abs()),
            _ => None,
        })
        .fold(0.0, f64::max)
}

/// See [`MemoryFit::corners`]. A few rows say nothing about terms that the chosen form lacks: the
/// bound is then that of `c` alone.
fn corners(
    sample: &Sample,
    families: &Families<'_>,
    coefficients: &Coefficients,
    c: Estimate,
    rows: &[Row],
    ratio: u32,
) -> Vec<Coefficients> {
    if rows.iter().filter(|r| r.measured()).count() < ROWS_FOR_CORNERS {
        return vec![Coefficients { c: c.upper_95, ..*coefficients }];
    }
    bound::corners(sample, families, ratio)
}

/// See [`MemoryFit::information`].
fn information(sample: &Sample, dense: Solution) -> [[f64; 4]; 4] {
    let normal = sample.information(&dense);
    let variance = dense.sigma * dense.sigma;
    // The mean square of a feature over the peak: the precision of a term as large as the peak.
    let share: [f64; 4] = std::array::from_fn(|j| normal.at(j, j) / sample.total());
    std::array::from_fn(|i| {
        std::array::from_fn(|j| normal.at(i, j) / variance + if i == j { share[i] } else { 0.0 })
    })
}

#[cfg(test)]
mod tests;
