//! Maximum likelihood of a memory model under multiplicative noise.
//!
//! In go rows, the terms a model may have and what is known of the noise beforehand; out come
//! coefficients `>= 0`, the noise and the deviance (-2 log-likelihood). A peak is
//! `mu * exp(noise)`; a row that only says "at least" or "at most" enters through the normal tail
//! (a Tobit model on logarithms), solved by Newton steps under non-negativity.

use super::model::{C, Row, Seen, Theta, UNKNOWNS};
use super::normal::{ln_upper_tail, mean_above};
use crate::fit::nnls::Normal;

/// What is known of the relative noise before any row is seen: as if `rows` residuals of size
/// `sigma` had been observed already. With few rows this keeps a chance agreement from passing
/// for precision; with many it does not matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Weight, in rows.
    pub rows: f64,
    /// Relative size (standard deviation of the logarithm).
    pub sigma: f64,
}

/// Rows of the same chunk, ready for fitting.
#[derive(Clone, Copy, Debug)]
struct Datum {
    t: f64,
    e: f64,
    pairs: f64,
    /// Logarithm of the bytes seen; of several peaks their mean.
    log: f64,
    /// 0 for a measured peak, 1 for at least, -1 for at most.
    side: f64,
    /// How many rows say this.
    count: f64,
}

/// Rows ready for fitting.
#[derive(Clone, Debug)]
pub struct Sample {
    data: Vec<Datum>,
    noise: Noise,
    rows: usize,
    measured: usize,
    /// Sum of squares of the peaks of equal chunks around their mean: no model explains it.
    scatter: f64,
}

/// A fitted model.
#[derive(Clone, Copy, Debug)]
pub struct Solution {
    /// Coefficients, bytes per unit.
    pub theta: Theta,
    /// (row, key) pairs at which the pool is full; infinite without a pool.
    pub knee: f64,
    /// Relative noise (standard deviation of the logarithm).
    pub sigma: f64,
    /// -2 log-likelihood, with the prior rows of the noise.
    pub deviance: f64,
}

impl Solution {
    /// Coefficients that are not zero.
    pub fn active(&self) -> usize {
        self.theta.iter().filter(|v| **v > 0.0).count()
    }
}

/// Which unknowns a fit moves.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Bit `j` for unknown `j`.
    pub mask: u32,
    /// The pool's knee; infinite without a pool.
    pub knee: f64,
    /// Value that `c` is held at.
    pub held_c: Option<f64>,
    /// A chunk whose predicted peak is pushed upwards, and how hard: traces how high the data let
    /// it be.
    pub push: Option<([f64; UNKNOWNS], f64)>,
}

impl Terms {
    /// All of `mask`, nothing held.
    pub fn free(mask: u32, knee: f64) -> Self {
        Self { mask, knee, held_c: None, push: None }
    }
}

/// Newton steps; a fit stops earlier when settled.
const MAX_STEPS: usize = 60;
/// A drop of the deviance below this ends a fit, as does one below this share of the deviance,
/// which many rows no longer resolve.
const SETTLED: f64 = 1e-5;
const RESOLVED: f64 = 1e-9;
/// Weight of a bound in the first guess, and how far beyond the bound the peak is guessed.
const FIRST_GUESS: (f64, f64) = (0.02, 0.2);

/// Features of a chunk, in the order of [`Theta`].
pub fn features(t: f64, e: f64, pairs: f64, knee: f64) -> [f64; UNKNOWNS] {
    [1.0, t, e, pairs, pairs.min(knee)]
}

fn dot(a: &[f64; UNKNOWNS], b: &Theta) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// A model that puts no bytes on a row is taken as one byte, so that logarithms exist.
fn log_mean(x: &[f64; UNKNOWNS], theta: &Theta) -> f64 {
    dot(x, theta).max(1.0).ln()
}

impl Sample {
    /// The rows with what is known of their noise. Neighbours that saw the same chunk count as
    /// one datum, which changes nothing in the likelihood: peaks by their mean and scatter, equal
    /// bounds by their number. Sorted rows make it short.
    pub fn new<'a>(rows: impl IntoIterator<Item = &'a Row>, noise: Noise) -> Self {
        let mut sample = Self { data: Vec::new(), noise, rows: 0, measured: 0, scatter: 0.0 };
        rows.into_iter().for_each(|row| sample.push(row));
        sample
    }

    fn push(&mut self, row: &Row) {
        let (bytes, side) = match row.seen {
            Seen::Peak(v) => (v, 0.0),
            Seen::AtLeast(v) => (v, 1.0),
            Seen::AtMost(v) => (v, -1.0),
        };
        let log = bytes.ln();
        self.rows += 1;
        self.measured += usize::from(side == 0.0);
        let alike = self.data.last_mut().filter(|d| {
            (d.t, d.e, d.pairs, d.side) == (row.t, row.e, row.pairs, side)
                && (side == 0.0 || d.log == log)
        });
        match alike {
            Some(datum) => {
                let off = log - datum.log;
                datum.count += 1.0;
                datum.log += off / datum.count;
                self.scatter += off * (log - datum.log);
            }
            None => {
                let (t, e, pairs) = (row.t, row.e, row.pairs);
                self.data.push(Datum { t, e, pairs, log, side, count: 1.0 });
            }
        }
    }

    /// Rows that say something about the noise, with those known beforehand.
    pub fn weight(&self) -> f64 {
        self.measured as f64 + self.noise.rows
    }

    /// Degrees of freedom that `coefficients` leave; what is known beforehand always remains.
    pub fn freedom(&self, coefficients: usize) -> f64 {
        self.measured.saturating_sub(coefficients) as f64 + self.noise.rows
    }

    /// Relative noise known beforehand.
    pub fn known_noise(&self) -> f64 {
        self.noise.sigma
    }

    /// All rows, with those known beforehand.
    pub fn total(&self) -> f64 {
        self.rows as f64 + self.noise.rows
    }

    /// Maximum likelihood of `terms`, from `start` where one is known.
    pub fn fit(&self, terms: Terms, start: Option<&Solution>) -> Solution {
        let held = terms.held_c.map(|c| (C, c));
        let mut theta = start.map_or_else(|| self.first_guess(terms), |solution| solution.theta);
        if let Some((unknown, value)) = held {
            theta[unknown] = value;
        }
        let pushed = |theta: &Theta| {
            terms.push.map_or(0.0, |(x, weight)| 2.0 * weight * log_mean(&x, theta))
        };
        let mut residuals = vec![0.0; self.data.len()];
        let mut trial_residuals = residuals.clone();
        self.residuals(&theta, terms.knee, &mut residuals);
        let first = start.map_or(0.1, |solution| solution.sigma);
        // A push traces the same coefficients whatever the noise is held at, and faster so.
        let noise = |residuals: &[f64], sigma: f64| match terms.push {
            Some(_) => first,
            None => self.sigma(residuals, sigma),
        };
        let mut sigma = noise(&residuals, first);
        let mut best = self.deviance_of(&residuals, sigma) - pushed(&theta);
        for _ in 0..MAX_STEPS {
            let normal = self.normal(&theta, &residuals, terms, sigma);
            let next = normal.solve(terms.mask, held);
            let settled = SETTLED.max(RESOLVED * best.abs());
            if (normal.squares(&theta) - normal.squares(&next)) / (sigma * sigma) < settled {
                break;
            }
            let mut step = 1.0;
            let mut moved = None;
            while step > 1e-3 {
                let mut trial = theta;
                trial.iter_mut().zip(next).for_each(|(v, to)| *v += step * (to - *v));
                self.residuals(&trial, terms.knee, &mut trial_residuals);
                let trial_sigma = noise(&trial_residuals, sigma);
                let reached = self.deviance_of(&trial_residuals, trial_sigma) - pushed(&trial);
                if reached < best {
                    moved = Some((trial, trial_sigma, reached));
                    break;
                }
                step *= 0.5;
            }
            let Some((trial, trial_sigma, reached)) = moved else { break };
            let drop = best - reached;
            std::mem::swap(&mut residuals, &mut trial_residuals);
            (theta, sigma, best) = (trial, trial_sigma, reached);
            if drop < settled {
                break;
            }
        }
        if terms.push.is_some() {
            sigma = self.sigma(&residuals, sigma);
        }
        let deviance = self.deviance_of(&residuals, sigma);
        Solution { theta, knee: terms.knee, sigma, deviance }
    }

    /// Relative least squares, with bounds taken as if the peak lay a little beyond them.
    fn first_guess(&self, terms: Terms) -> Theta {
        let (weight, beyond) = FIRST_GUESS;
        let mut normal = Normal::default();
        for d in &self.data {
            let peak = (d.log + beyond * d.side).exp();
            let x = features(d.t, d.e, d.pairs, terms.knee).map(|v| v / peak);
            normal.add(&x, 1.0, d.count * if d.side == 0.0 { 1.0 } else { weight });
        }
        normal.solve(terms.mask, terms.held_c.map(|c| (C, c)))
    }

    /// Normal equations of one Newton step: `ln mu` is linear around `theta`, and a bound acts
    /// like a peak with the score and curvature of its tail.
    fn normal(
        &self,
        theta: &Theta,
        residuals: &[f64],
        terms: Terms,
        sigma: f64,
    ) -> Normal<UNKNOWNS> {
        let mut normal = Normal::default();
        for (d, residual) in self.data.iter().zip(residuals) {
            let x = features(d.t, d.e, d.pairs, terms.knee);
            let scale = dot(&x, theta).max(1.0).recip();
            let (residual, weight) = d.working(*residual, sigma);
            normal.add(&x.map(|v| v * scale), 1.0 + residual, d.count * weight);
        }
        if let Some((x, weight)) = terms.push {
            let scale = dot(&x, theta).max(1.0).recip();
            normal.add(&x.map(|v| v * scale), 2.0, weight * sigma * sigma);
        }
        normal
    }

    /// The equations at a solution, in relative units: `1 / sigma^2` times them is the inverse
    /// covariance of the coefficients.
    pub fn information(&self, at: &Solution) -> Normal<UNKNOWNS> {
        let mut residuals = vec![0.0; self.data.len()];
        self.residuals(&at.theta, at.knee, &mut residuals);
        self.normal(&at.theta, &residuals, Terms::free(0, at.knee), at.sigma)
    }

    /// Logarithm of what was seen over what is expected, for each row.
    fn residuals(&self, theta: &Theta, knee: f64, out: &mut [f64]) {
        for (d, residual) in self.data.iter().zip(out) {
            *residual = d.log - log_mean(&features(d.t, d.e, d.pairs, knee), theta);
        }
    }

    /// Sum of squares that no coefficients change: of the noise known beforehand, and within equal
    /// chunks.
    fn unexplained(&self) -> f64 {
        self.noise.rows * self.noise.sigma.powi(2) + self.scatter
    }

    /// -2 log-likelihood, with the prior rows of the noise.
    fn deviance_of(&self, residuals: &[f64], sigma: f64) -> f64 {
        let (mut squares, mut tails) = (self.unexplained(), 0.0);
        for (d, residual) in self.data.iter().zip(residuals) {
            if d.side == 0.0 {
                squares += d.count * residual * residual;
            } else {
                tails -= 2.0 * d.count * ln_upper_tail(d.side * residual / sigma);
            }
        }
        squares / (sigma * sigma) + 2.0 * self.weight() * sigma.ln() + tails
    }

    /// The most likely noise for given residuals, by Newton steps on its logarithm.
    fn sigma(&self, residuals: &[f64], start: f64) -> f64 {
        let mut squares = self.unexplained();
        for (d, residual) in self.data.iter().zip(residuals).filter(|(d, _)| d.side == 0.0) {
            squares += d.count * residual * residual;
        }
        let weight = self.weight();
        if self.measured == self.rows {
            return (squares / weight).sqrt();
        }
        let mut log = start.ln();
        for _ in 0..20 {
            let sigma = log.exp();
            let scaled = squares / (sigma * sigma);
            let (mut slope, mut curvature) = (2.0 * (weight - scaled), 4.0 * scaled);
            for (d, residual) in self.data.iter().zip(residuals).filter(|(d, _)| d.side != 0.0) {
                let z = d.side * residual / sigma;
                let tail = mean_above(z);
                slope -= 2.0 * d.count * tail * z;
                curvature += 2.0 * d.count * z * (tail * (tail - z) * z + tail);
            }
            let step = if curvature > 0.0 { -slope / curvature } else { -slope.signum() };
            log += step.clamp(-1.0, 1.0);
            if step.abs() < 1e-6 {
                break;
            }
        }
        log.exp()
    }
}

impl Datum {
    /// Residual and weight that a row enters a Newton step with.
    fn working(&self, residual: f64, sigma: f64) -> (f64, f64) {
        if self.side == 0.0 {
            return (residual, 1.0);
        }
        let z = self.side * residual / sigma;
        let tail = mean_above(z);
        let weight = (tail * (tail - z)).clamp(1e-12, 1.0);
        (self.side * sigma * tail / weight, weight)
    }
}
