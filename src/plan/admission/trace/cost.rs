//! What the measured kernels of a profile take for one pass, in one layer of the model.
//!
//! In go the rows of a batch and the prefix of each request; out come microseconds: the absorb BMM
//! and the GEMMs at M rows, aligned or ragged as M falls, and the indexer over every request's rows
//! and prefix. Kernels that the profile does not hold are not in the figure.

use crate::fit::Fit;
use crate::fit::alignment::{AlignmentFit, Pair};
use crate::fit::latency::LatencyFit;
use crate::plan::exact_fill::fastest;
use crate::profile::Op;

/// Cost of passes on one device.
#[derive(Clone, Debug)]
pub struct PassCost {
    device: String,
    layers: f64,
    kernels: Vec<Kernel>,
    indexer: Option<LatencyFit>,
}

/// A kernel whose time depends on M.
#[derive(Clone, Debug)]
struct Kernel {
    block: i64,
    /// `(M, microseconds)` of the even variant, ascending.
    even: Vec<(f64, f64)>,
    /// `(M, time per row over the even variant's)`, ascending.
    ragged: Vec<(f64, f64)>,
}

impl PassCost {
    /// The cost of a fit, with the indexer pipeline `path`, for a model of `layers` layers.
    pub fn new(fit: &Fit, path: &str, layers: u64) -> Self {
        Self {
            device: fit.headline.clone(),
            layers: layers as f64,
            kernels: [Op::AbsorbBmm, Op::Gemm]
                .iter()
                .flat_map(|op| fastest(&fit.alignment, *op))
                .filter_map(Kernel::new)
                .collect(),
            indexer: fit.latency.iter().find(|latency| latency.path == path).cloned(),
        }
    }

    /// Device and engine, one line.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Layers of the model.
    pub fn layers(&self) -> f64 {
        self.layers
    }

    /// Kernels that it counts, in words.
    pub fn parts(&self) -> String {
        let indexer = self
            .indexer
            .as_ref()
            .map_or("no indexer".to_owned(), |indexer| format!("indexer {}", indexer.path));
        format!("{} matrix kernels, {indexer}", self.kernels.len())
    }

    /// Microseconds in one layer of a batch of `m` rows whose requests run `(rows, prefix)`.
    pub fn time_us(&self, m: i64, requests: impl Iterator<Item = (i64, i64)>) -> f64 {
        let kernels: f64 = self.kernels.iter().map(|kernel| kernel.time_us(m)).sum();
        let Some(indexer) = &self.indexer else {
            return kernels;
        };
        // One launch over all requests: its constant counts once.
        let fixed = indexer.time_us(0, 0);
        let time =
            |rows: i64, prefix: i64| indexer.time_us(rows.unsigned_abs(), prefix.unsigned_abs());
        kernels + fixed + requests.map(|(rows, prefix)| time(rows, prefix) - fixed).sum::<f64>()
    }
}

impl Kernel {
    fn new(fit: &AlignmentFit) -> Option<Self> {
        let pairs = &fit.ragged()?.pairs;
        let curve = |point: fn(&Pair) -> Option<(u64, f64)>| {
            let mut points: Vec<(f64, f64)> =
                pairs.iter().filter_map(point).map(|(m, value)| (m as f64, value)).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points.dedup_by(|a, b| a.0 == b.0);
            points
        };
        let even = curve(|pair| Some((pair.even_m, pair.even_time_us)));
        // Time per row at each length over that of the aligned length above it.
        let ragged = curve(|pair| (pair.residue > 0).then_some((pair.m, pair.gain)));
        (!even.is_empty()).then_some(Self { block: i64::from(fit.block_m.max(1)), even, ragged })
    }

    fn time_us(&self, m: i64) -> f64 {
        let tiles = (m + self.block - 1) / self.block * self.block;
        let aligned = interpolate(&self.even, tiles as f64);
        if m % self.block == 0 || self.ragged.is_empty() {
            return aligned;
        }
        aligned / tiles as f64 * m as f64 * interpolate(&self.ragged, m as f64)
    }
}

/// Straight lines between points; the first time below them, the last time per unit above.
fn interpolate(points: &[(f64, f64)], x: f64) -> f64 {
    let after = points.partition_point(|(at, _)| *at < x);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after)) {
        (_, Some(&(at, value))) if at == x => value,
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some(&(_, value))) => value,
        (Some((at, value)), None) => value / at * x,
        (None, None) => 0.0,
    }
}
