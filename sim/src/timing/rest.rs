//! What the workgroups that are not timed cost relative to those that are.
//!
//! Goes in: a launch and the workgroups that were timed. Comes out: the mean instruction count over
//! the grid, from a few workgroups of each stratum that execute functionally, and which these were.

use std::collections::BTreeSet;

use super::cu::Ran;
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
const DIFFERENT: f64 = 0.05;
/// Most rounds of different workgroups that are timed.
const ROUNDS: u64 = 8;

/// Estimate for a whole grid.
#[derive(Clone, Debug)]
pub struct Rest {
    /// Mean wave instructions of a workgroup.
    pub mean: f64,
    /// Whether the workgroups inside the grid cost the same as those that were timed.
    pub uniform: bool,
    /// Dispatch numbers of the workgroups that were executed for it, ascending.
    pub ids: Vec<u64>,
    /// What they executed.
    pub executed: Executed,
}

/// Samples the strata of `grid`; workgroups below `ran.len()` have already run.
pub fn estimate<G: Grid>(grid: &G, ran: &[Ran]) -> Result<Rest, Fault> {
    let timed = ran.len() as u64;
    let mean_timed = mean(ran.iter().map(|r| r.instructions));
    let executed = Executed::none(grid.program().insts.len());
    if timed >= grid.workgroups() {
        return Ok(Rest { mean: mean_timed, uniform: true, ids: Vec::new(), executed });
    }
    let mut sampler = Samples { grid, ran, counts: Vec::new(), executed };
    let strata = by_size(grid);
    let affordable = ((BUDGET as f64 / mean_timed.max(1.0)) as u64).max(1);
    let (mut sum, mut covered, mut taken) = (0.0, 0u64, 0u64);
    let mut uniform = true;
    for (i, stratum) in strata.iter().take(1 + FACES).enumerate() {
        let wanted = if i == 0 { INSIDE } else { 1 };
        let wanted = wanted.min(affordable.saturating_sub(taken)).min(stratum.len());
        let counts: Vec<u64> = (0..wanted)
            .map(|n| sampler.instructions(stratum.spread(n)))
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
    let mut ids: Vec<u64> = sampler.counts.iter().map(|&(id, _)| id).collect();
    ids.sort_unstable();
    Ok(Rest { mean, uniform, ids, executed: sampler.executed })
}

/// Workgroups from all over the inside of the grid, in dispatch order, that have not executed: whole
/// rounds of `resident`, as many as the budget allows when one costs `mean` instructions. Empty where
/// there are not enough for a round.
pub fn different<G: Grid>(grid: &G, timed: u64, rest: &Rest, resident: u64) -> Vec<u64> {
    let rounds = (BUDGET as f64 / (rest.mean.max(1.0) * resident as f64)) as u64;
    let wanted = rounds.clamp(1, ROUNDS) * resident;
    let Some(inside) = by_size(grid).into_iter().next() else { return Vec::new() };
    let mut ids = BTreeSet::new();
    for n in 0..4 * wanted {
        let id = inside.spread(n);
        if id >= timed && rest.ids.binary_search(&id).is_err() {
            ids.insert(id);
        }
        if ids.len() as u64 == wanted {
            break;
        }
    }
    let whole = ids.len() - ids.len() % resident as usize;
    ids.into_iter().take(whole).collect()
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
