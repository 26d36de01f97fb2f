//! What the workgroups that are not timed cost relative to those that are.
//!
//! Goes in: a launch and the workgroups that were timed. Comes out: the mean instruction count over
//! the grid, from a few workgroups of each stratum that execute functionally, and which these were.

use super::cu::Ran;
use super::grid::Grid;
use super::strata::Stratum;
use crate::fault::Fault;
use crate::launch::Executed;

/// Wave instructions that the functional samples should not exceed; one is always taken.
const BUDGET: u64 = 100_000;
/// Samples of the inside of the grid that are always taken.
const FIRST: u64 = 3;
/// Faces that are sampled, the largest ones.
const FACES: usize = 2;
/// Samples of the inside where the first ones differ.
const MANY: u64 = 16;
/// Relative difference from which they count as different.
const DIFFERENT: f64 = 0.05;

/// Estimate for a whole grid.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Mean wave instructions of a workgroup.
    pub mean: f64,
    /// Dispatch numbers of the workgroups that were executed for it, ascending.
    pub ids: Vec<u64>,
    /// What they executed.
    pub executed: Executed,
}

/// Samples the strata of `grid`; workgroups below `ran.len()` have already run.
pub fn estimate<G: Grid>(grid: &G, ran: &[Ran]) -> Result<Rest, Fault> {
    let timed = ran.len() as u64;
    let mean_timed = mean(ran.iter().map(|r| r.instructions));
    let nothing = Executed::none(grid.program().insts.len());
    if timed >= grid.workgroups() {
        return Ok(Rest { mean: mean_timed, ids: Vec::new(), executed: nothing });
    }
    let mut sampler = Samples { grid, ran, counts: Vec::new(), executed: nothing };
    let mut strata = Stratum::of_grid(grid.groups());
    strata.sort_by_key(|s| std::cmp::Reverse(s.len()));
    let affordable = ((BUDGET as f64 / mean_timed.max(1.0)) as u64).max(1);
    let (mut sum, mut covered, mut taken) = (0.0, 0u64, 0u64);
    for (i, stratum) in strata.iter().take(1 + FACES).enumerate() {
        if taken >= affordable {
            break;
        }
        let mut counts = Vec::new();
        let first = if i == 0 { FIRST } else { 1 };
        let mut wanted = first.min(affordable - taken);
        while (counts.len() as u64) < wanted.min(stratum.len()) {
            counts.push(sampler.instructions(stratum.spread(counts.len() as u64))?);
            if i == 0 && counts.len() as u64 == FIRST && differ(&counts) {
                wanted = MANY.min(affordable);
            }
        }
        taken += counts.len() as u64;
        sum += mean(counts.iter().copied()) * stratum.len() as f64;
        covered += stratum.len();
    }
    let mean = if covered == 0 { mean_timed } else { sum / covered as f64 };
    let mut ids: Vec<u64> = sampler.counts.iter().map(|&(id, _)| id).collect();
    ids.sort_unstable();
    Ok(Rest { mean, ids, executed: sampler.executed })
}

fn mean(values: impl Iterator<Item = u64>) -> f64 {
    let (sum, n) = values.fold((0u64, 0u64), |(sum, n), v| (sum.saturating_add(v), n + 1));
    sum as f64 / n.max(1) as f64
}

fn differ(counts: &[u64]) -> bool {
    let (Some(&low), Some(&high)) = (counts.iter().min(), counts.iter().max()) else {
        return false;
    };
    (high - low) as f64 > DIFFERENT * high as f64
}

struct Samples<'a, G> {
    grid: &'a G,
    ran: &'a [Ran],
    /// Instructions of the workgroups executed so far, by dispatch number.
    counts: Vec<(u64, u64)>,
    executed: Executed,
}

impl<G: Grid> Samples<'_, G> {
    /// Instructions of workgroup `id`, which executes unless it has already done so.
    fn instructions(&mut self, id: u64) -> Result<u64, Fault> {
        if let Some(ran) = self.ran.iter().find(|r| r.id == id) {
            return Ok(ran.instructions);
        }
        if let Some(&(_, n)) = self.counts.iter().find(|(seen, _)| *seen == id) {
            return Ok(n);
        }
        let done = self.grid.execute(id)?;
        let n = done.instructions();
        self.counts.push((id, n));
        self.executed.add(&done);
        Ok(n)
    }
}
