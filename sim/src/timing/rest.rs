//! What the workgroups that are not timed cost relative to those that are.
//!
//! Goes in: a launch and the workgroups that were timed. Comes out: the mean instruction count over
//! the grid, from a few workgroups of each stratum that execute functionally, and whether those inside
//! the grid cost the same. [`Known`] keeps the account of what has executed, so that nothing does twice.

use std::collections::{BTreeMap, BTreeSet};

use super::cu::{CuRun, Ran};
use super::grid::Grid;
use super::strata::Stratum;
use crate::fault::Fault;
use crate::launch::Executed;

/// Wave instructions that the functional samples should not exceed; one is always taken.
const BUDGET: u64 = 100_000;
/// Samples of the inside of the grid.
const INSIDE: u64 = 3;
/// Faces that are sampled, the largest ones, once each.
const FACES: usize = 2;
/// Relative difference in instructions from which workgroups count as different.
pub const DIFFERENT: f64 = 0.05;
/// Estimate for a whole grid.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Mean wave instructions of a workgroup.
    pub mean: f64,
    /// Whether the workgroups inside the grid cost the same as those that were timed.
    pub uniform: bool,
}

/// Samples the strata of `grid`, of which the first workgroups `ran`; those sampled are added to `known`.
pub fn estimate<G: Grid>(grid: &G, ran: &[Ran], known: &mut Known) -> Result<Rest, Fault> {
    let timed = ran.len() as u64;
    let mean_timed = mean(ran.iter().map(|r| r.instructions));
    if timed >= grid.workgroups() {
        return Ok(Rest { mean: mean_timed, uniform: true });
    }
    let strata = by_size(grid);
    let affordable = ((BUDGET as f64 / mean_timed.max(1.0)) as u64).max(1);
    let (mut sum, mut covered, mut taken) = (0.0, 0u64, 0u64);
    let mut uniform = true;
    for (i, stratum) in strata.iter().take(1 + FACES).enumerate() {
        let wanted = if i == 0 { INSIDE } else { 1 };
        let wanted = wanted.min(affordable.saturating_sub(taken)).min(stratum.len());
        let counts: Vec<u64> = (0..wanted)
            .map(|n| known.execute(grid, stratum.spread(n)))
            .collect::<Result<_, Fault>>()?;
        if counts.is_empty() {
            break;
        }
        if i == 0 {
            let far = |&n: &u64| (n as f64 - mean_timed).abs() > DIFFERENT * mean_timed;
            uniform = !counts.iter().any(far);
        }
        taken += wanted;
        sum += mean(counts.iter().copied()) * stratum.len() as f64;
        covered += stratum.len();
    }
    let mean = if covered == 0 { mean_timed } else { sum / covered as f64 };
    Ok(Rest { mean, uniform })
}

/// The strata of a grid, largest first.
fn by_size<G: Grid>(grid: &G) -> Vec<Stratum> {
    let mut strata = Stratum::of_grid(grid.groups());
    strata.sort_by_key(|s| std::cmp::Reverse(s.len()));
    strata
}

fn mean(values: impl Iterator<Item = u64>) -> f64 {
    let (sum, n) = values.fold((0u64, 0u64), |(sum, n), v| (sum.saturating_add(v), n + 1));
    sum as f64 / n.max(1) as f64
}

/// The workgroups of a launch that have executed.
#[derive(Clone, Debug)]
pub struct Known {
    /// Wave instructions of each, by dispatch number.
    counts: BTreeMap<u64, u64>,
    /// What they executed together.
    pub executed: Executed,
}

impl Known {
    /// No workgroup of a program of `instructions` instructions.
    pub fn none(instructions: usize) -> Self {
        Known { counts: BTreeMap::new(), executed: Executed::none(instructions) }
    }

    /// Dispatch numbers.
    pub fn ids(&self) -> BTreeSet<u64> {
        self.counts.keys().copied().collect()
    }

    /// Adds workgroups that were timed.
    pub fn add(&mut self, run: &CuRun) {
        self.counts.extend(run.ran.iter().map(|r| (r.id, r.instructions)));
        let workgroups = run.ran.len() as u64;
        self.executed.add(&Executed { counts: run.counts.clone(), workgroups });
    }

    /// Wave instructions of workgroup `id`, which executes unless it has already done so.
    pub fn execute<G: Grid>(&mut self, grid: &G, id: u64) -> Result<u64, Fault> {
        if let Some(&n) = self.counts.get(&id) {
            return Ok(n);
        }
        let done = grid.execute(id)?;
        let n = done.instructions();
        self.counts.insert(id, n);
        self.executed.add(&done);
        Ok(n)
    }
}
