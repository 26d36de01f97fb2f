//! The widest models that the rows might come from, and what they say of `c` together.
//!
//! In go rows; out come one family without a pool and one for each place where a pool may fill,
//! each at its maximum likelihood, and the interval of `c`: every value that one of them does not
//! exclude. No family is dropped for being second best, so the interval does not pretend that the
//! form is known.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::likelihood::{Sample, Solution, Terms};
use super::model::{C, Row};

/// All terms of a family without a pool.
pub const DENSE: u32 = 0b0_1111;
/// All terms of a family with a pool.
pub const POOLED: u32 = 0b1_1111;
/// Knees tried before and after the best one is known.
const KNEES: usize = 16;
const FINER: i32 = 4;
/// Steps of the search between knees, enough for exact figures, and a difference of the deviance
/// that ends it earlier.
const GOLDEN_STEPS: usize = 24;
const SAME_KNEE: f64 = 0.01;
/// A pool counts as full only where some chunk was tried this far beyond its knee: a knee at the
/// last rows is the dense form with noise. Further, and a pool that fills between there and the last
/// rows is taken for a smaller one beside growth; nearer, and growth is taken for a pool.
const BEYOND_KNEE: f64 = 1.5;
/// Fewest rows, and their spread of `T*keys`, with which a pool could be told from none.
const LEAST_ROWS: usize = 4;
const LEAST_SPREAD: f64 = 1.5;

/// An end of an interval is found when it is this close, in standard errors.
const CLOSE: f64 = 3e-3;

/// Two-sided 95%.
pub const TWO_SIDED: f64 = 0.975;
/// One-sided 95%.
pub const ONE_SIDED: f64 = 0.95;

/// A family at its maximum likelihood.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Terms that it may have.
    pub mask: u32,
    /// Its best member.
    pub best: Solution,
    /// Deviance to add before it is compared.
    penalty: f64,
}

/// The families that rows might come from.
#[derive(Clone, Debug)]
pub struct Families<'a> {
    sample: &'a Sample,
    all: Vec<Family>,
    low: f64,
}

/// Places where a pool may be full, ascending; none where no pool could be told from none. They
/// reach among the chunks of which only a bound is known: what a pool does between the largest
/// measured peak and those nobody has seen.
pub fn knees(rows: &[Row]) -> Vec<f64> {
    let pairs = rows.iter().map(|row| row.pairs);
    let low = pairs.clone().fold(f64::INFINITY, f64::min);
    let high = pairs.fold(0.0, f64::max) / BEYOND_KNEE;
    if rows.len() < LEAST_ROWS || high < low * LEAST_SPREAD {
        return Vec::new();
    }
    let step = (high / low).powf(1.0 / (KNEES - 1) as f64);
    (0..KNEES as i32).map(|i| low * step.powi(i)).collect()
}

/// The fits of `mask` at all `knees`, at the best knee between them and close to it.
pub fn over_knees(sample: &Sample, knees: &[f64], mask: u32) -> Vec<Solution> {
    let (mut fits, exact) = searched(sample, knees, mask);
    let (Some(exact), Some(low), Some(high)) = (exact, knees.first(), knees.last()) else {
        return fits;
    };
    let step = (high / low).powf(1.0 / ((KNEES - 1) as f64 * f64::from(FINER + 1)));
    let near = (-FINER..=FINER)
        .map(|i| exact.knee * step.powi(i))
        .filter(|knee| *knee <= *high && *knee != exact.knee);
    fits.extend(near.map(|knee| sample.fit(Terms::free(mask, knee), Some(&exact))));
    fits.push(exact);
    fits
}

/// The fit of `mask` at the best knee.
pub fn best_knee(sample: &Sample, knees: &[f64], mask: u32) -> Option<Solution> {
    searched(sample, knees, mask).1
}

/// The fits of `mask` at all `knees` and at the best knee between them.
fn searched(sample: &Sample, knees: &[f64], mask: u32) -> (Vec<Solution>, Option<Solution>) {
    let fits: Vec<Solution> =
        knees.iter().map(|knee| sample.fit(Terms::free(mask, *knee), None)).collect();
    let (Some(coarse), Some(low), Some(high)) = (best(&fits), knees.first(), knees.last()) else {
        return (fits, None);
    };
    let step = (high / low).powf(1.0 / (KNEES - 1) as f64);
    let top = high.min(coarse.knee * step);
    let exact = golden(coarse.knee / step, top, &|knee: f64| {
        sample.fit(Terms::free(mask, knee), Some(&coarse))
    });
    (fits, Some(exact))
}

/// The most likely knee between `low` and `high`, by golden section on its logarithm.
fn golden(low: f64, high: f64, at: &impl Fn(f64) -> Solution) -> Solution {
    const RATIO: f64 = 0.618_033_988_749_895;
    let (mut a, mut b) = (low.ln(), high.ln());
    let (mut x, mut y) = (b - RATIO * (b - a), a + RATIO * (b - a));
    let (mut at_x, mut at_y) = (at(x.exp()), at(y.exp()));
    for _ in 0..GOLDEN_STEPS {
        if (at_x.deviance - at_y.deviance).abs() < SAME_KNEE {
            break;
        }
        if at_x.deviance <= at_y.deviance {
            (b, y, at_y) = (y, x, at_x);
            x = b - RATIO * (b - a);
            at_x = at(x.exp());
        } else {
            (a, x, at_x) = (x, y, at_y);
            y = a + RATIO * (b - a);
            at_y = at(y.exp());
        }
    }
    if at_x.deviance <= at_y.deviance { at_x } else { at_y }
}

/// The most likely of several fits.
pub fn best(fits: &[Solution]) -> Option<Solution> {
    fits.iter().min_by(|a, b| a.deviance.total_cmp(&b.deviance)).copied()
}

impl<'a> Families<'a> {
    /// The family without a pool and those of `pooled`, fits of [`POOLED`] at their knees.
    pub fn new(sample: &'a Sample, pooled: &[Solution]) -> Self {
        let dense = sample.fit(Terms::free(DENSE, f64::INFINITY), None);
        let mut all = vec![Family { mask: DENSE, best: dense, penalty: 0.0 }];
        all.extend(pooled.iter().map(|best| Family {
            mask: POOLED,
            best: *best,
            penalty: pool_penalty(sample.total()),
        }));
        let low = all.iter().map(Family::score).fold(f64::INFINITY, f64::min);
        Self { sample, all, low }
    }

    /// The fits of a form that is known, one for each knee that it may have.
    pub fn known(sample: &'a Sample, mask: u32, fits: &[Solution]) -> Self {
        let all: Vec<Family> =
            fits.iter().map(|best| Family { mask, best: *best, penalty: 0.0 }).collect();
        let low = all.iter().map(Family::score).fold(f64::INFINITY, f64::min);
        Self { sample, all, low }
    }

    /// The family without a pool.
    pub fn dense(&self) -> &Family {
        &self.all[0]
    }

    /// The best family with a pool.
    pub fn pooled(&self) -> Option<&Family> {
        self.all[1..].iter().min_by(|a, b| a.score().total_cmp(&b.score()))
    }

    /// Deviance up to which a member of `family` is not excluded at `quantile` of Student's t.
    pub fn limit(&self, family: &Family, quantile: f64) -> f64 {
        let weight = self.sample.weight();
        let freedom = self.sample.freedom(family.best.active());
        let t = student(freedom, quantile);
        self.low - family.penalty + weight * (t * t / freedom).ln_1p()
    }

    /// Whether `family` holds a member that is not excluded.
    pub fn admits(&self, family: &Family, quantile: f64) -> bool {
        family.best.deviance <= self.limit(family, quantile)
    }

    /// The least and largest `c` that some family does not exclude.
    pub fn interval(&self, quantile: f64) -> (f64, f64) {
        let mut ends: Option<(f64, f64)> = None;
        for family in self.all.iter().filter(|f| self.admits(f, quantile)) {
            let limit = self.limit(family, quantile);
            let low = self.end(family, limit, false);
            let high = self.end(family, limit, true);
            ends = Some(ends.map_or((low, high), |(a, b)| (a.min(low), b.max(high))));
        }
        // The most likely family is never excluded, so there is always an end.
        ends.unwrap_or((0.0, f64::INFINITY))
    }

    /// The largest `c` that some family does not exclude.
    pub fn upper(&self, quantile: f64) -> f64 {
        let open = self.all.iter().filter(|f| self.admits(f, quantile));
        open.map(|f| self.end(f, self.limit(f, quantile), true)).fold(0.0, f64::max)
    }

    /// Where the profile likelihood of `c` in `family` reaches `limit`.
    fn end(&self, family: &Family, limit: f64, upwards: bool) -> f64 {
        let best = family.best;
        let at = |c: f64| {
            let terms = Terms { held_c: Some(c), ..Terms::free(family.mask, best.knee) };
            // The root of the rise is close to linear in c, which a secant finds fast.
            let rise = self.sample.fit(terms, Some(&best)).deviance - best.deviance;
            rise.max(0.0).sqrt() - (limit - best.deviance).max(0.0).sqrt()
        };
        let inside = best.theta[C];
        let outside = if upwards {
            let mut reach = inside.max(1e-9) * 0.05;
            let mut steps = 0;
            while at(inside + reach) < 0.0 && steps < 60 {
                reach *= 2.0;
                steps += 1;
            }
            inside + reach
        } else if inside <= 0.0 || at(0.0) <= 0.0 {
            return 0.0;
        } else {
            0.0
        };
        root(inside, outside, at)
    }
}

impl Family {
    fn score(&self) -> f64 {
        self.best.deviance + self.penalty
    }
}

/// The zero of `f` between `inside` (negative) and `outside` (positive), by the Illinois method.
pub fn root(inside: f64, outside: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let (mut a, mut b) = (inside, outside);
    let (mut at_a, mut at_b) = (f(a), f(b));
    let mut last_moved = 0;
    for _ in 0..40 {
        if (b - a).abs() <= 1e-4 * inside.abs().max(outside.abs()) || at_b <= 0.0 || at_a >= 0.0 {
            break;
        }
        let next = (a * at_b - b * at_a) / (at_b - at_a);
        let value = f(next);
        if value <= 0.0 {
            (a, at_a) = (next, value);
            if last_moved == 1 {
                at_b *= 0.5;
            }
            last_moved = 1;
        } else {
            (b, at_b) = (next, value);
            if last_moved == 2 {
                at_a *= 0.5;
            }
            last_moved = 2;
        }
        if value.abs() < CLOSE {
            return next;
        }
    }
    if at_b <= 0.0 { b } else { a }
}

/// Deviance that a pool must save before its family counts as much as the one without: it has two
/// unknowns more and is tried at many knees, which few rows cannot pay for. Set by the coverage
/// study.
fn pool_penalty(rows: f64) -> f64 {
    let (many, few) = (2.0, 40.0);
    many + few / (rows - 4.0).max(1.0)
}

/// Probability of at most `t` under Student's t.
pub fn student_below(freedom: f64, t: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(0.5, |student| student.cdf(t))
}

/// Quantile of Student's t.
pub fn student(freedom: f64, quantile: f64) -> f64 {
    // The distribution exists for every positive number of degrees of freedom.
    StudentsT::new(0.0, 1.0, freedom.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(quantile))
}
