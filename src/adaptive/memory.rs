//! The question of one indexer path: how its memory grows.
//!
//! In go the path's points; out comes whether `c` (or, where memory is bounded, the peak itself) is
//! known to the precision, else the chunk and prefix whose peak the points say least about.

use super::State;
use crate::fit::memory::{self, EXACT_NOISE, FIELD_NOISE, MemoryFit};
use crate::grid::{Axes, Pipeline, indexer_case};
use crate::model::Indexer;
use crate::profile::{Op, Outcome, Point};

/// Fewest points that settle a path: a model has up to three terms and its noise, one point is
/// predicted before it is measured, and time needs a few of each T and L.
const FEWEST: usize = 6;
/// Terms whose spread decides what to measure next: 1, T, E, T*keys.
const TERMS: usize = 4;

/// Memory of one path.
#[derive(Clone, Debug)]
pub struct MemoryGoal {
    pipeline: Pipeline,
    indexer: Indexer,
    /// Chunks and prefixes to choose from.
    pool: Vec<(u64, u64)>,
}

impl MemoryGoal {
    /// The question for `pipeline` over the grid's chunks and prefixes.
    pub fn new(pipeline: Pipeline, indexer: Indexer, axes: &Axes) -> Self {
        let pool =
            axes.t.iter().flat_map(|t| axes.prefixes(pipeline).map(move |l| (*t, l))).collect();
        Self { pipeline, indexer, pool }
    }

    /// Name for messages.
    pub fn name(&self) -> String {
        format!("memory of {}", self.pipeline.name())
    }

    /// Where it stands.
    pub fn state(&self, points: &[Point], precision: f64) -> State {
        let own: Vec<&Point> = points
            .iter()
            .filter(|p| p.op == Op::Indexer && p.kernel == self.pipeline.name())
            .collect();
        if own.is_empty() {
            return State::Open { width: f64::INFINITY, next: self.cases(&self.corners()) };
        }
        let exact = own.iter().all(|p| p.samples <= 1);
        let noise = if exact { EXACT_NOISE } else { FIELD_NOISE };
        let fitted = |points: &[&Point]| {
            let rows = memory::rows_of(points.iter().copied());
            let ratio = self.indexer.ratio.max(1);
            memory::fit(self.pipeline.name(), false, ratio, &rows, noise).ok()
        };
        let fit = fitted(&own);
        let surprise = own.split_last().and_then(|(last, before)| off(&fitted(before)?, last));
        let width = match (&fit, surprise) {
            (Some(fit), Some(surprise)) => half_width(fit).max(surprise),
            _ => f64::INFINITY,
        };
        let found = fit.as_ref().map_or("no peak was measured".to_owned(), sentence);
        if own.len() >= FEWEST && width <= precision {
            return State::Settled(found);
        }
        match self.most_telling(&own) {
            Some(point) => State::Open { width, next: self.cases(&[point]) },
            None => State::Exhausted(found),
        }
    }

    fn cases(&self, chosen: &[(u64, u64)]) -> Vec<crate::grid::Case> {
        chosen.iter().map(|(t, l)| indexer_case(self.pipeline, self.indexer, *t, *l)).collect()
    }

    /// The coarse start: longest and shortest chunk, each near and far.
    fn corners(&self) -> Vec<(u64, u64)> {
        let by = |key: fn(&(u64, u64)) -> u64| {
            let keys = self.pool.iter().map(key);
            (keys.clone().min().unwrap_or(0), keys.max().unwrap_or(0))
        };
        let ((t_min, t_max), (l_min, l_max)) = (by(|p| p.0), by(|p| p.1));
        let mut corners = vec![(t_max, l_min), (t_min, l_max), (t_min, l_min), (t_max, l_max)];
        let mut seen = Vec::new();
        corners.retain(|corner| {
            !seen.contains(corner) && {
                seen.push(*corner);
                true
            }
        });
        corners
    }

    /// The point of the pool that was not measured whose peak the measured ones say least about:
    /// the largest variance of a prediction, with relative noise.
    fn most_telling(&self, own: &[&Point]) -> Option<(u64, u64)> {
        let ratio = u64::from(self.indexer.ratio.max(1));
        let scale = self
            .pool
            .iter()
            .map(|(t, l)| features(*t, *l, ratio))
            .fold([0.0f64; TERMS], |most, x| std::array::from_fn(|i| most[i].max(x[i])));
        let unit = |t: u64, l: u64| -> [f64; TERMS] {
            let x: [f64; TERMS] =
                std::array::from_fn(|i| features(t, l, ratio)[i] / scale[i].max(1.0));
            // A relative error weighs a small peak as much as a large one.
            let size: f64 = x.iter().sum();
            x.map(|v| v / size)
        };
        let mut information = [[0.0; TERMS]; TERMS];
        for (i, row) in information.iter_mut().enumerate() {
            row[i] = 1e-6;
        }
        for (t, l) in own.iter().filter_map(|p| p.t.zip(p.l)) {
            add(&mut information, &unit(t, l));
        }
        let measured = |point: &&(u64, u64)| own.iter().any(|p| p.t.zip(p.l) == Some(**point));
        let open = self.pool.iter().filter(|point| !measured(point));
        open.copied()
            .map(|(t, l)| (variance(&information, &unit(t, l)), (t, l)))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, point)| point)
    }
}

fn features(t: u64, l: u64, ratio: u64) -> [f64; TERMS] {
    let end = l.saturating_add(t);
    [1.0, t as f64, end as f64, t as f64 * end.div_ceil(ratio) as f64]
}

fn add(information: &mut [[f64; TERMS]; TERMS], x: &[f64; TERMS]) {
    for (row, a) in information.iter_mut().zip(x) {
        for (cell, b) in row.iter_mut().zip(x) {
            *cell += a * b;
        }
    }
}

/// `x' A^-1 x` by Gaussian elimination; `A` is positive definite.
fn variance(a: &[[f64; TERMS]; TERMS], x: &[f64; TERMS]) -> f64 {
    let mut rows = *a;
    let mut right = *x;
    let mut sum = 0.0;
    for i in 0..TERMS {
        for j in i + 1..TERMS {
            let factor = rows[j][i] / rows[i][i];
            let pivot = rows[i];
            rows[j].iter_mut().zip(pivot).for_each(|(cell, p)| *cell -= factor * p);
            right[j] -= factor * right[i];
        }
        // x' A^-1 x is the sum of squares over the pivots of the LDL' form.
        sum += right[i] * right[i] / rows[i][i];
    }
    sum
}

/// Half-width of the interval of `c` over its value; 0 where memory does not grow.
fn half_width(fit: &MemoryFit) -> f64 {
    if !fit.grows() || fit.c.point <= 0.0 {
        return 0.0;
    }
    ((fit.c.hi - fit.c.lo) / (2.0 * fit.c.point)).max(fit.c.upper_95 / fit.c.point - 1.0)
}

/// How far the prediction of a point was off, relative; none where its peak is not known.
fn off(fit: &MemoryFit, point: &Point) -> Option<f64> {
    let (t, l, peak) = (point.t?, point.l?, point.peak_bytes?);
    if point.outcome != Outcome::Ok || peak == 0 {
        return None;
    }
    Some((fit.peak(t, l.saturating_add(t)) / peak as f64 - 1.0).abs())
}

fn sentence(fit: &MemoryFit) -> String {
    if fit.grows() {
        format!("c = {:.2} B within {:.1}%", fit.c.point, 100.0 * half_width(fit))
    } else {
        format!("bounded, {}", fit.formula)
    }
}
