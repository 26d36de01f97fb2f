//! Memory of a path: how the peak of one chunk grows with T, E and T*keys.
//!
//! In go peaks and censored outcomes; out come the chosen model, `c` (bytes per row and key) with
//! its interval and one-sided 95% bound, and what the data cannot tell, in words.

mod model;
mod normal;
mod select;

use serde::{Deserialize, Serialize};

pub use model::{Coefficients, Form, Growth, Noise, Row, Seen};

use crate::profile::{Op, Outcome, Point};

/// Relative spread assumed where fewer than two peaks were measured.
const ASSUMED_SPREAD: f64 = 0.15;
/// Least relative noise of exact (simulated) figures: allocations are rounded.
pub const EXACT_NOISE: f64 = 1e-4;
/// Least relative noise of figures read on a live system.
pub const FIELD_NOISE: f64 = 5e-3;
/// Below this ratio of largest to smallest `T*keys`, `m0` and `c` are called inseparable.
const SEPARABLE_SPREAD: f64 = 2.0;

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
    /// Relative noise.
    pub noise: f64,
    /// Largest relative error of a measured row.
    pub worst_error: f64,
    /// Smallest and largest `T*keys` among measured rows.
    pub span_pairs: (f64, f64),
    /// Formula of the runner-up and how much worse its AICc is.
    pub runner_up: Option<(String, f64)>,
    /// What a reader must know about the fit.
    pub statements: Vec<String>,
}

impl MemoryFit {
    /// Expected peak of a chunk, bytes.
    pub fn peak(&self, t: u64, e: u64) -> f64 {
        self.peak_at(t, e, self.coefficients.c)
    }

    /// One-sided 95% bound of the expected peak of a chunk, bytes.
    pub fn peak_95(&self, t: u64, e: u64) -> f64 {
        self.peak_at(t, e, self.c.upper_95)
    }

    /// Peak of a chunk with another `c`, bytes.
    pub fn peak_at(&self, t: u64, e: u64, c: f64) -> f64 {
        let pairs = t as f64 * e.div_ceil(u64::from(self.ratio.max(1))) as f64;
        Coefficients { c, ..self.coefficients }.peak(t as f64, e as f64, pairs)
    }

    /// Whether the peak grows without bound with `T*keys`.
    pub fn grows(&self) -> bool {
        matches!(self.growth, Growth::Dense | Growth::DenseAndPooled)
    }
}

/// Why no memory model can be given.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MemoryError {
    /// Nothing at all.
    #[error("{path}: no row says anything about memory; give T, L and a peak or an outcome")]
    NoRows {
        /// Path.
        path: String,
    },
    /// Only bounds.
    #[error(
        "{path}: no peak was measured, only {censored} bounds; c is {bound}. \
         Record the peak of at least one chunk that fits"
    )]
    NoPeak {
        /// Path.
        path: String,
        /// Number of bounds.
        censored: usize,
        /// What they say.
        bound: String,
    },
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
            Some(Row { t: t as f64, e: e as f64, pairs: t as f64 * keys as f64, seen })
        })
        .collect()
}

/// Fits the memory of one path.
///
/// # Errors
/// No usable row, or no measured peak.
pub fn fit(
    path: &str,
    deployed: bool,
    ratio: u32,
    rows: &[Row],
    noise_floor: f64,
) -> Result<MemoryFit, MemoryError> {
    let measured = rows.iter().filter(|r| matches!(r.seen, Seen::Peak(_))).count();
    let censored = rows.len() - measured;
    let Some(span) = select::measured_span(rows) else {
        return Err(if rows.is_empty() {
            MemoryError::NoRows { path: path.to_owned() }
        } else {
            MemoryError::NoPeak { path: path.to_owned(), censored, bound: bounds(rows) }
        });
    };
    let noise =
        if measured >= 2 { Noise::AtLeast(noise_floor) } else { Noise::Fixed(ASSUMED_SPREAD) };
    let ranked = select::rank(rows, noise);
    let best = ranked[0];
    let theta = best.solution.theta;
    let (lo, hi) = select::interval(rows, &best, noise, select::TWO_SIDED_95);
    let (_, upper_95) = select::interval(rows, &best, noise, select::ONE_SIDED_95);
    let worst_error = rows
        .iter()
        .filter_map(|r| match r.seen {
            Seen::Peak(v) => Some((theta.peak(r.t, r.e, r.pairs) / v - 1.0).abs()),
            _ => None,
        })
        .fold(0.0, f64::max);
    let runner_up = ranked
        .get(1)
        .filter(|second| second.aicc.is_finite())
        .map(|second| (formula(second.form), second.aicc - best.aicc));
    let has_pool = matches!(best.form.growth, Growth::Pooled | Growth::DenseAndPooled);
    let mut fit = MemoryFit {
        observed_on: None,
        path: path.to_owned(),
        deployed,
        ratio,
        measured,
        censored,
        growth: best.form.growth,
        formula: formula(best.form),
        coefficients: theta,
        c: Estimate { point: theta.c, lo, hi, upper_95 },
        pool_bytes: has_pool.then(|| theta.pool_bytes()),
        noise: best.solution.sigma,
        worst_error,
        span_pairs: span,
        runner_up,
        statements: Vec::new(),
    };
    fit.statements = statements(&fit, best.form, rows);
    Ok(fit)
}

fn formula(form: Form) -> String {
    let mut terms = Vec::new();
    if form.fixed {
        terms.push("m0");
    }
    if form.rows {
        terms.push("m_T*T");
    }
    if form.context {
        terms.push("m_E*E");
    }
    match form.growth {
        Growth::Flat => {}
        Growth::Dense => terms.push("c*T*keys"),
        Growth::Pooled => terms.push("min(b*T*keys, S)"),
        Growth::DenseAndPooled => terms.extend(["c*T*keys", "min(b*T*keys, S)"]),
    }
    terms.join(" + ")
}

/// What rows without a measured peak say about `c` if nothing but `T*keys` costs memory.
fn bounds(rows: &[Row]) -> String {
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    for row in rows {
        match row.seen {
            Seen::AtLeast(v) => low = low.max(v / row.pairs),
            Seen::AtMost(v) => high = high.min(v / row.pairs),
            Seen::Peak(_) => {}
        }
    }
    match (low > 0.0, high.is_finite()) {
        (true, true) => format!("between {low:.1} and {high:.1} B if nothing else costs memory"),
        (true, false) => format!("at least {low:.1} B if nothing else costs memory"),
        (false, true) => format!("at most {high:.1} B"),
        (false, false) => "unknown".to_owned(),
    }
}

fn statements(fit: &MemoryFit, form: Form, rows: &[Row]) -> Vec<String> {
    let mut out = Vec::new();
    let (lo, hi) = fit.span_pairs;
    let spread = hi / lo.max(1.0);
    if fit.measured == 1 {
        out.push(format!(
            "One peak was measured: the spread between chunks is not known and {:.0}% was assumed; \
             the interval of c is as good as that assumption.",
            100.0 * ASSUMED_SPREAD
        ));
    }
    if !form.fixed && fit.grows() && (fit.measured < 4 || spread < SEPARABLE_SPREAD) {
        let peaks = match fit.measured {
            1 => format!("One measured peak (at T*keys = {lo:.3e})"),
            n if spread < SEPARABLE_SPREAD => {
                format!("The {n} measured peaks (all at similar T*keys, {lo:.3e} to {hi:.3e})")
            }
            n => format!("The {n} measured peaks (at T*keys from {lo:.3e} to {hi:.3e})"),
        };
        out.push(format!(
            "{peaks} cannot separate a fixed m0 from c: m0 = 0 was taken, which puts everything on \
             c. Measure a chunk at a T*keys at least {SEPARABLE_SPREAD:.0} times smaller to tell \
             them apart."
        ));
    }
    if let Growth::Pooled = fit.growth {
        let pairs = fit.coefficients.pool_pairs;
        out.push(format!(
            "Memory saturates: the pool is full at T*keys = {pairs:.3e} with {:.1} MB, and beyond \
             it T*L costs no more.",
            fit.coefficients.pool_bytes() / 1e6
        ));
    }
    if let Growth::Flat = fit.growth {
        out.push("Memory does not grow with T*keys.".to_owned());
    }
    let (mut agree, mut clash) = (0, 0);
    for row in rows {
        let expected = fit.coefficients.peak(row.t, row.e, row.pairs);
        let slack = (2.0 * fit.noise).exp();
        match row.seen {
            Seen::AtLeast(v) if expected * slack < v => clash += 1,
            Seen::AtMost(v) if expected > v * slack => clash += 1,
            Seen::AtLeast(_) | Seen::AtMost(_) => agree += 1,
            Seen::Peak(_) => {}
        }
    }
    if agree + clash > 0 {
        out.push(format!(
            "{agree} of {} rows that only bound the peak agree with the fit within twice its \
             noise.",
            agree + clash
        ));
    }
    if let Some((name, delta)) = &fit.runner_up
        && *delta < 2.0
    {
        out.push(format!("The form {name} explains the data about as well (AICc {delta:+.1})."));
    }
    out
}

#[cfg(test)]
mod tests;
