//! Time of a chunk over its rows and its prefix.
//!
//! In go timed chunks or timed prompts; out comes a [`TimeModel`], `t(T, L) = a0 + a1*T + a2*L +
//! a3*T*L + a4*T^2` with the staircase of a tile where the times show one. Coefficients are at
//! least zero and fitted to relative errors; rows that the others contradict are set aside and
//! named; with fewer rows than unknowns the terms that they cannot tell apart are left out, which
//! is said.

mod model;
mod observed;
mod robust;

use serde::{Deserialize, Serialize};

use super::alignment::AlignmentFit;
use super::blocks;
use crate::profile::{Op, Outcome, Point};

pub use model::{Stair, TimeModel};
pub use observed::fit_observed;
use robust::{Design, Solved};

/// Unknowns of the polynomial and of one staircase.
const UNKNOWNS: usize = 8;
/// Unknowns of the polynomial.
const SMOOTH: usize = 5;
/// Names of the polynomial's terms with their coefficients.
pub const TERMS: [&str; SMOOTH] = ["a0", "a1*T", "a2*L", "a3*T*L", "a4*T^2"];
/// A staircase must cut the sum of errors at least by this factor to be kept.
const WORTH: f64 = 2.0;

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Timed {
    /// One chunk of `t` rows after `l` tokens.
    Chunk {
        /// Rows.
        t: u64,
        /// Prefix, tokens.
        l: u64,
    },
    /// A whole prompt of `length` tokens in chunks of `t` rows, the last one as long as is left.
    Prompt {
        /// Rows of a chunk.
        t: u64,
        /// Tokens of the prompt.
        length: u64,
    },
}

/// A timed row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What was timed.
    pub timed: Timed,
    /// Microseconds.
    pub time_us: f64,
}

/// Time of one path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyFit {
    /// Pipeline, or a label of field observations.
    pub path: String,
    /// Whether the deployed engine was timed rather than our own pipelines.
    pub deployed: bool,
    /// Coefficients, microseconds.
    pub model: TimeModel,
    /// Timed rows.
    pub points: usize,
    /// Rows that the others contradict; they were left out.
    pub set_aside: usize,
    /// Median relative error of the rows that were kept.
    pub median_error: f64,
    /// Largest relative error of the rows that were kept.
    pub worst_error: f64,
    /// What a reader must know about the fit.
    pub statements: Vec<String>,
}

impl LatencyFit {
    /// Predicted time of a chunk of `t` rows after a prefix of `l` tokens, microseconds.
    pub fn time_us(&self, t: u64, l: u64) -> f64 {
        self.model.time_us(t, l)
    }
}

/// Why no time can be fitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LatencyError {
    /// Too few rows.
    #[error(
        "{path}: {rows} timed rows that differ; how time grows needs at least two, at different T"
    )]
    TooFew {
        /// Path.
        path: String,
        /// Distinct timed rows.
        rows: usize,
    },
}

/// Fits the time of one path of a profile; none where fewer than two points were timed.
pub fn fit<'a>(path: &str, points: impl IntoIterator<Item = &'a Point>) -> Option<LatencyFit> {
    let samples: Vec<Sample> = points
        .into_iter()
        .filter(|p| p.op == Op::Indexer && p.outcome == Outcome::Ok)
        .filter_map(|p| {
            Some(Sample { timed: Timed::Chunk { t: p.t?, l: p.l? }, time_us: p.time_us? })
        })
        .collect();
    fit_samples(path, &samples).ok()
}

/// Fits timed rows; those without a positive time or without rows are ignored.
///
/// # Errors
/// Fewer than two rows that differ.
pub fn fit_samples(path: &str, samples: &[Sample]) -> Result<LatencyFit, LatencyError> {
    let usable: Vec<&Sample> = samples
        .iter()
        .filter(|s| s.time_us > 0.0 && s.time_us.is_finite() && rows_of(s.timed) > 0)
        .collect();
    let smooth = design(&usable, None);
    let known = smooth.independent();
    if usable.len() < 2 || known.len() < 2 {
        return Err(LatencyError::TooFew { path: path.to_owned(), rows: known.len() });
    }
    let mut best = (None, smooth.robust(&known), &smooth);
    let stairs: Vec<(u64, Design)> = candidates(&usable)
        .into_iter()
        .map(|block| (block, design(&usable, Some(block))))
        .collect();
    let mut least = best.1.total_error / WORTH;
    for (block, design) in &stairs {
        let columns = design.independent();
        // At least two rows more than unknowns, so that a staircase has something to explain.
        if columns.len() + 2 > usable.len() {
            continue;
        }
        let solved = design.robust(&columns);
        if solved.total_error <= least {
            least = solved.total_error;
            best = (Some(*block), solved, design);
        }
    }
    let (block, solved, chosen) = best;
    Ok(report(path, &usable, block, &solved, chosen, &known))
}

fn report(
    path: &str,
    usable: &[&Sample],
    block: Option<u64>,
    solved: &Solved,
    chosen: &Design,
    known: &[usize],
) -> LatencyFit {
    let x = &solved.coefficients;
    let mut model = TimeModel::of([x[0], x[1], x[2], x[3], x[4]]);
    if let Some(block) = block {
        model.stairs.push(Stair { block, tile_us: x[5], ragged_us: x[6], ragged_tile_us: x[7] });
    }
    let mut errors: Vec<f64> =
        (0..usable.len()).filter(|i| solved.kept[*i]).map(|i| chosen.error(i, x).abs()).collect();
    errors.sort_by(f64::total_cmp);
    let mut statements = Vec::new();
    for (i, sample) in usable.iter().enumerate().filter(|(i, _)| !solved.kept[*i]) {
        let expected = chosen.predicted(i, x);
        statements.push(format!(
            "A row was set aside: {} took {:.2} ms where the others say {:.2} ms ({:.1} times as \
             long).",
            name(sample.timed),
            sample.time_us / 1e3,
            expected / 1e3,
            sample.time_us / expected
        ));
    }
    let unknown: Vec<&str> = (0..SMOOTH).filter(|j| !known.contains(j)).map(|j| TERMS[j]).collect();
    if !unknown.is_empty() {
        statements.push(format!(
            "The {} timed rows cannot tell {} from the other terms: taken as zero. Time chunks at \
             more values of T and L.",
            usable.len(),
            unknown.join(", ")
        ));
    }
    if known.len() == usable.len() {
        statements.push(
            "There are as many unknowns as rows: nothing says how far off the times are."
                .to_owned(),
        );
    }
    LatencyFit {
        path: path.to_owned(),
        deployed: false,
        model,
        points: usable.len(),
        set_aside: solved.kept.iter().filter(|kept| !**kept).count(),
        median_error: errors.get(errors.len() / 2).copied().unwrap_or(0.0),
        worst_error: errors.last().copied().unwrap_or(0.0),
        statements,
    }
}

/// The stairs of one measured kernel: its times over M, aligned and ragged; none with fewer than
/// three times. A chunk has M = T.
pub fn of_kernel(fit: &AlignmentFit) -> Option<TimeModel> {
    let pairs = &fit.ragged()?.pairs;
    let times = pairs.iter().flat_map(|p| [(p.m, p.time_us), (p.even_m, p.even_time_us)]);
    let samples: Vec<Sample> =
        times.map(|(t, time_us)| Sample { timed: Timed::Chunk { t, l: 0 }, time_us }).collect();
    let block = u64::from(fit.block_m);
    let design = design(&samples.iter().collect::<Vec<_>>(), Some(block));
    // The polynomial's row terms would be told from whole tiles by their remainder only.
    let columns: Vec<usize> =
        design.independent().into_iter().filter(|j| *j == 0 || *j >= SMOOTH).collect();
    if samples.len() < 3 {
        return None;
    }
    let x = design.robust(&columns).coefficients;
    let stair = Stair { block, tile_us: x[5], ragged_us: x[6], ragged_tile_us: x[7] };
    Some(TimeModel { a0_us: x[0], stairs: vec![stair], ..TimeModel::default() })
}

/// Blocks that some T is a multiple of and some is not.
fn candidates(samples: &[&Sample]) -> Vec<u64> {
    let multiples =
        |block: u64| samples.iter().filter(|s| rows_of(s.timed).is_multiple_of(block)).count();
    let told = |block: &u64| (2..samples.len().saturating_sub(1)).contains(&multiples(*block));
    blocks::SIZES.iter().copied().filter(told).collect()
}

fn rows_of(timed: Timed) -> u64 {
    match timed {
        Timed::Chunk { t, .. } | Timed::Prompt { t, .. } => t,
    }
}

fn name(timed: Timed) -> String {
    match timed {
        Timed::Chunk { t, l } => format!("T = {t} over L = {l}"),
        Timed::Prompt { t, length } => format!("a prompt of {length} tokens in chunks of {t}"),
    }
}

fn design(samples: &[&Sample], block: Option<u64>) -> Design {
    let rows = samples.iter().map(|s| features(s.timed, block)).collect();
    Design::new(rows, samples.iter().map(|s| s.time_us).collect())
}

/// Sum of each unknown's factor over the chunks of what was timed.
fn features(timed: Timed, block: Option<u64>) -> [f64; UNKNOWNS] {
    match timed {
        Timed::Chunk { t, l } => chunk_features(t, l, block),
        Timed::Prompt { t, length } => {
            let whole = length / t;
            let rest = length % t;
            // 0 + T + 2T + .. over the whole chunks.
            let prefixes = t as f64 * (whole as f64 * (whole as f64 - 1.0) / 2.0).max(0.0);
            let mut sum = chunk_features(t, 0, block).map(|x| x * whole as f64);
            sum[2] = prefixes;
            sum[3] = prefixes * t as f64;
            if rest > 0 {
                let last = chunk_features(rest, length - rest, block);
                sum.iter_mut().zip(last).for_each(|(s, x)| *s += x);
            }
            sum
        }
    }
}

fn chunk_features(t: u64, l: u64, block: Option<u64>) -> [f64; UNKNOWNS] {
    let (rows, prefix) = (t as f64, l as f64);
    let mut out = [1.0, rows, prefix, rows * prefix, rows * rows, 0.0, 0.0, 0.0];
    if let Some(block) = block.filter(|b| *b > 0) {
        let tiles = t.div_ceil(block) as f64;
        out[5] = tiles;
        if !t.is_multiple_of(block) {
            out[6] = 1.0;
            out[7] = tiles;
        }
    }
    out
}

#[cfg(test)]
mod tests;
