//! The memory models and their maximum likelihood under multiplicative noise.
//!
//! In go rows (T, E, T*keys and what was seen of the peak) and a [`Form`]; out come the
//! coefficients, the noise and the log-likelihood. A peak is `mu * exp(noise)`; a row that only
//! says "at least" or "at most" enters through the normal tail (a Tobit model on logarithms,
//! solved by expectation-maximisation).

use serde::{Deserialize, Serialize};

use super::normal::{ln_density, ln_upper_tail, mean_above};
use crate::fit::nnls;

/// What a row says about the peak, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// The peak itself.
    Peak(f64),
    /// The peak was at least this (out of memory, or a guard fired).
    AtLeast(f64),
    /// The peak was at most this (it fitted; the peak was not recorded).
    AtMost(f64),
}

/// One row of a memory fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Rows of the chunk, tokens.
    pub t: f64,
    /// Context at the end of the chunk, tokens.
    pub e: f64,
    /// `T * keys`.
    pub pairs: f64,
    /// What was seen.
    pub seen: Seen,
}

/// How memory grows with `T * keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Growth {
    /// Not at all (key blocking).
    Flat,
    /// `c * T * keys`.
    Dense,
    /// `min(b * T * keys, S)`: one bounded pool.
    Pooled,
    /// `c * T * keys + min(b * T * keys, S)`: a bounded pool beside unbounded buffers.
    DenseAndPooled,
}

/// Which terms a model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// A fixed `m0`.
    pub fixed: bool,
    /// `m_T * T`.
    pub rows: bool,
    /// `m_E * E`.
    pub context: bool,
    /// Growth with `T * keys`.
    pub growth: Growth,
}

/// Coefficients of a memory model, bytes per unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Fixed bytes.
    pub m0: f64,
    /// Bytes per chunk row.
    pub m_t: f64,
    /// Bytes per token of context.
    pub m_e: f64,
    /// Bytes per (row, key), unbounded.
    pub c: f64,
    /// Bytes per (row, key) of the bounded pool.
    pub pool_per_pair: f64,
    /// (row, key) pairs at which the pool is full; 0 without a pool.
    pub pool_pairs: f64,
}

impl Coefficients {
    /// Expected peak, bytes.
    pub fn peak(&self, t: f64, e: f64, pairs: f64) -> f64 {
        self.m0
            + self.m_t * t
            + self.m_e * e
            + self.c * pairs
            + self.pool_per_pair * pairs.min(self.pool_pairs)
    }

    /// Bytes of the bounded pool when full.
    pub fn pool_bytes(&self) -> f64 {
        self.pool_per_pair * self.pool_pairs
    }
}

/// How the noise enters a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Estimated, but at least this (relative).
    AtLeast(f64),
    /// Not estimable: this (relative).
    Fixed(f64),
}

/// A fitted model.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// Coefficients.
    pub theta: Coefficients,
    /// Relative noise (standard deviation of the logarithm).
    pub sigma: f64,
    /// Log-likelihood.
    pub loglik: f64,
}

/// Iterations of expectation-maximisation and of Gauss-Newton; both stop early when settled.
const MAX_ROUNDS: usize = 400;
/// A relative drop of the squared error below this ends Gauss-Newton.
const SETTLED: f64 = 1e-9;

/// Features of a row for `form`, in the order in which [`unpack`] reads them. `free_c` is false
/// where `c` is held at a value.
fn features(row: &Row, form: Form, pool_pairs: f64, free_c: bool) -> Vec<f64> {
    let mut out = Vec::with_capacity(5);
    if form.fixed {
        out.push(1.0);
    }
    if form.rows {
        out.push(row.t);
    }
    if form.context {
        out.push(row.e);
    }
    if free_c && matches!(form.growth, Growth::Dense | Growth::DenseAndPooled) {
        out.push(row.pairs);
    }
    if matches!(form.growth, Growth::Pooled | Growth::DenseAndPooled) {
        out.push(row.pairs.min(pool_pairs));
    }
    out
}

fn unpack(values: &[f64], form: Form, pool_pairs: f64, held_c: Option<f64>) -> Coefficients {
    let mut values = values.iter().copied();
    let mut next = |present: bool| if present { values.next().unwrap_or(0.0) } else { 0.0 };
    let pooled = matches!(form.growth, Growth::Pooled | Growth::DenseAndPooled);
    let dense = matches!(form.growth, Growth::Dense | Growth::DenseAndPooled);
    Coefficients {
        m0: next(form.fixed),
        m_t: next(form.rows),
        m_e: next(form.context),
        c: held_c.unwrap_or_else(|| next(dense)),
        pool_per_pair: next(pooled),
        pool_pairs: if pooled { pool_pairs } else { 0.0 },
    }
}

/// Maximum likelihood of `form`, with the pool's knee at `pool_pairs` and, where given, `c` held.
pub fn fit(
    rows: &[Row],
    form: Form,
    pool_pairs: f64,
    held_c: Option<f64>,
    noise: Noise,
) -> Solution {
    let design: Vec<Vec<f64>> =
        rows.iter().map(|r| features(r, form, pool_pairs, held_c.is_none())).collect();
    let offsets: Vec<f64> = rows.iter().map(|r| held_c.unwrap_or(0.0) * r.pairs).collect();
    let censored = rows.iter().any(|r| !matches!(r.seen, Seen::Peak(_)));
    let mut logs: Vec<f64> = rows
        .iter()
        .map(|r| match r.seen {
            Seen::Peak(v) | Seen::AtLeast(v) | Seen::AtMost(v) => v.ln(),
        })
        .collect();
    let mut values = vec![0.0; design.first().map_or(0, Vec::len)];
    let mut sigma = match noise {
        Noise::AtLeast(floor) => floor.max(0.1),
        Noise::Fixed(s) => s,
    };
    let mut solution = None;
    for _ in 0..MAX_ROUNDS {
        values = least_squares(&design, &offsets, &logs, &values);
        let theta = unpack(&values, form, pool_pairs, held_c);
        let mut squares = 0.0;
        for (row, log) in rows.iter().zip(&mut logs) {
            let mean = mean_log(&theta, row);
            let (expected, variance) = expectation(row.seen, mean, sigma);
            *log = expected;
            squares += variance + (expected - mean).powi(2);
        }
        if let Noise::AtLeast(floor) = noise {
            sigma = (squares / rows.len().max(1) as f64).sqrt().max(floor);
        }
        let next = Solution { theta, sigma, loglik: loglik(rows, &theta, sigma) };
        let settled = solution.as_ref().is_some_and(|s: &Solution| {
            (next.loglik - s.loglik).abs() < 1e-10 * (1.0 + next.loglik.abs())
        });
        solution = Some(next);
        if settled || !censored {
            break;
        }
    }
    solution.unwrap_or(Solution {
        theta: Coefficients::default(),
        sigma,
        loglik: f64::NEG_INFINITY,
    })
}

/// A model that puts no bytes on a row is taken as one byte, so that logarithms exist.
fn mean_log(theta: &Coefficients, row: &Row) -> f64 {
    theta.peak(row.t, row.e, row.pairs).max(1.0).ln()
}

/// Mean and variance of a row's log peak given what was seen.
fn expectation(seen: Seen, mean: f64, sigma: f64) -> (f64, f64) {
    let tail = |z: f64| {
        let above = mean_above(z);
        (above, (1.0 + z * above - above * above).max(0.0))
    };
    match seen {
        Seen::Peak(v) => (v.ln(), 0.0),
        Seen::AtLeast(v) => {
            let (above, variance) = tail((v.ln() - mean) / sigma);
            (mean + sigma * above, sigma * sigma * variance)
        }
        Seen::AtMost(v) => {
            let (above, variance) = tail((mean - v.ln()) / sigma);
            (mean - sigma * above, sigma * sigma * variance)
        }
    }
}

fn loglik(rows: &[Row], theta: &Coefficients, sigma: f64) -> f64 {
    rows.iter()
        .map(|row| {
            let mean = mean_log(theta, row);
            match row.seen {
                Seen::Peak(v) => ln_density((v.ln() - mean) / sigma) - sigma.ln(),
                Seen::AtLeast(v) => ln_upper_tail((v.ln() - mean) / sigma),
                Seen::AtMost(v) => ln_upper_tail((mean - v.ln()) / sigma),
            }
        })
        .sum()
}

/// Non-negative least squares on logarithms by Gauss-Newton with step halving.
fn least_squares(design: &[Vec<f64>], offsets: &[f64], logs: &[f64], start: &[f64]) -> Vec<f64> {
    if start.is_empty() {
        return Vec::new();
    }
    let mean = |values: &[f64], i: usize| -> f64 {
        offsets[i] + design[i].iter().zip(values).map(|(x, v)| x * v).sum::<f64>()
    };
    let loss = |values: &[f64]| -> f64 {
        (0..logs.len()).map(|i| (logs[i] - mean(values, i).max(1.0).ln()).powi(2)).sum()
    };
    let weighted = |center: &dyn Fn(usize) -> f64, target: &dyn Fn(usize) -> f64| {
        let rows: Vec<Vec<f64>> =
            (0..logs.len()).map(|i| design[i].iter().map(|x| x / center(i)).collect()).collect();
        let targets: Vec<f64> = (0..logs.len()).map(target).collect();
        nnls::solve(&rows, &targets)
    };
    // Relative errors of 1e-8 are beyond what any figure here carries.
    let exact = 1e-16 * logs.len() as f64;
    let mut values = start.to_vec();
    let mut best = loss(&values);
    let relative = weighted(&|i| logs[i].exp(), &|i| 1.0 - offsets[i] / logs[i].exp());
    let relative_loss = loss(&relative);
    if relative_loss < best || values.iter().all(|v| *v == 0.0) {
        (values, best) = (relative, relative_loss);
    }
    for _ in 0..MAX_ROUNDS {
        // ln mu is linear around the present values: sum_j (x_j / mu) v_j + offset / mu = 1 there.
        let here = values.clone();
        let center = |i: usize| mean(&here, i).max(1.0);
        let next = weighted(&center, &|i| logs[i] - center(i).ln() + 1.0 - offsets[i] / center(i));
        let mut step = 1.0;
        let mut improved = false;
        while step > 1e-3 {
            let trial: Vec<f64> = here.iter().zip(&next).map(|(a, b)| a + step * (b - a)).collect();
            let trial_loss = loss(&trial);
            if trial_loss < best {
                improved = best - trial_loss > SETTLED * best && trial_loss > exact;
                (values, best) = (trial, trial_loss);
                break;
            }
            step *= 0.5;
        }
        if !improved {
            break;
        }
    }
    values
}
