//! Grids whose workgroups differ: a sample in the proportions of the grid, and what follows from it.
//!
//! Goes in: workgroups from all over the grid with their paths, and how the grid spreads. Comes out:
//! the workgroups to time, and from their run the clocks, instructions and bytes of the whole grid.
//! The sample keeps the shares of the paths and their order, since what runs together and what comes
//! first decides which resource is short. Before and behind it run workgroups that only fill the unit:
//! the pace is that between them, while every place is taken.

use std::collections::BTreeSet;
use std::ops::Range;

use super::cu::CuRun;
use super::grid::Grid;
use super::hierarchy::Traffic;
use super::paths::{OnPath, even, paths};
use super::plan::Spread;
use super::rest::{DIFFERENT, Known};
use crate::arch::ArchParams;
use crate::fault::Fault;

/// Workgroups whose paths are looked at.
const LOOKED_AT: u64 = 4096;
/// Wave instructions that a sample should not exceed.
const BUDGET: f64 = 600_000.0;
/// Wave instructions that a sample of [`FEWEST`] rounds may take.
const LIMIT: f64 = 1_200_000.0;
/// Most rounds of a sample, without those that only fill the unit.
const ROUNDS: u64 = 12;
/// Rounds that a sample should have.
const FEWEST: u64 = 3;

/// Workgroups from all over a grid, and what those of each path cost.
#[derive(Clone, Debug)]
pub struct Mixture {
    looked_at: Vec<OnPath>,
    /// Wave instructions of a workgroup of each path; 0 where that is not known.
    costs: Vec<f64>,
}

/// Workgroups to time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Dispatch numbers, in the order in which they run.
    pub ids: Vec<u64>,
    /// Those of [`Sample::ids`] that stand for the grid; the others only fill the unit.
    stands: Range<usize>,
    /// Whether they are the busiest unit's longest possible work and not its mean.
    heaviest: bool,
}

/// The whole grid, extrapolated.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// Clocks of the busiest compute unit.
    pub cycles: f64,
    /// Its work over that of the sample.
    pub of_busiest: f64,
    /// Wave instructions of the grid.
    pub instructions: f64,
    /// Bytes of the grid.
    pub traffic: Traffic,
}

impl Mixture {
    /// The mixture of `grid` where its workgroups take paths that cost differently. One workgroup of
    /// each path, from number `first` on, executes functionally, and is added to `known`.
    pub fn of<G: Grid>(
        p: &ArchParams,
        grid: &G,
        first: u64,
        known: &mut Known,
    ) -> Result<Option<Self>, Fault> {
        let Some(looked_at) = paths(p, grid, LOOKED_AT) else { return Ok(None) };
        let mut costs = Vec::new();
        for path in 0..number_of_paths(&looked_at) {
            let ids: Vec<u64> = on_path(&looked_at, path).filter(|&id| id >= first).collect();
            let cost = ids.get(ids.len() / 2).map(|&id| known.execute(grid, id)).transpose()?;
            costs.push(cost.unwrap_or(0) as f64);
        }
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for &cost in costs.iter().filter(|&&cost| cost > 0.0) {
            (least, most) = (least.min(cost), most.max(cost));
        }
        let differ = most > least * (1.0 + DIFFERENT);
        Ok(differ.then_some(Mixture { looked_at, costs }))
    }

    /// The paths of as many workgroups of `grid` as its busiest compute unit runs, without a look at
    /// what they cost; `None` where there is one path.
    pub fn whole<G: Grid>(p: &ArchParams, grid: &G, spread: &Spread) -> Option<Self> {
        let looked_at = paths(p, grid, spread.busiest.max(LOOKED_AT))?;
        let costs = vec![0.0; number_of_paths(&looked_at)];
        Some(Mixture { looked_at, costs })
    }

    /// Workgroups that differ on one path; `mean` is about what one costs.
    pub fn of_one_path<G: Grid>(grid: &G, mean: f64) -> Self {
        let looked_at = even(grid.workgroups(), LOOKED_AT).map(|id| (id, 0)).collect();
        Mixture { looked_at, costs: vec![mean] }
    }

    /// The workgroups to time of those that are not `known`.
    pub fn sample(&self, spread: &Spread, known: &Known) -> Sample {
        let mean = self.mean(|path| self.cost(path));
        let resident = spread.resident;
        let rounds = |budget: f64| (budget / (mean * resident as f64).max(1.0)) as u64;
        // About two further rounds fill the unit.
        let least = if rounds(LIMIT) >= FEWEST + 2 { FEWEST } else { 1 };
        let rounds = rounds(BUDGET).saturating_sub(2).clamp(least, ROUNDS);
        let stand = rounds * resident + spread.busiest % resident;
        match stand + 2 * resident < spread.busiest {
            true => self.choose(stand, resident, known),
            false => self.all(spread, known),
        }
    }

    /// As many workgroups as the busiest compute unit runs. Where all workgroups of the grid start at
    /// once, it is the unit that has the most to do.
    pub fn all(&self, spread: &Spread, known: &Known) -> Sample {
        let mut used = known.ids();
        let heaviest = spread.busiest <= spread.resident;
        let mut ids = Vec::new();
        if heaviest {
            let mut by_cost: Vec<usize> = (0..self.costs.len()).collect();
            by_cost.sort_by(|&a, &b| self.costs[b].total_cmp(&self.costs[a]));
            let costly = by_cost.into_iter().flat_map(|path| on_path(&self.looked_at, path));
            ids.extend(costly.filter(|id| !used.contains(id)).take(spread.busiest as usize));
        } else {
            self.pick(0..self.looked_at.len(), spread.busiest, &mut used, &mut ids);
        }
        Sample { stands: 0..ids.len(), ids, heaviest }
    }

    /// `stand` workgroups, and others that fill the unit: when as many have ended as it has places, those
    /// under way are half done on average but for the one that begins, and when the first place stays
    /// empty, half of what is under way is left.
    fn choose(&self, stand: u64, resident: u64, known: &Known) -> Sample {
        let looked_at = self.looked_at.len();
        let behind = resident / 2;
        let before = 2 * resident - 1 - behind;
        let part = |n: u64| (looked_at as u64 * n / stand.max(1)).min(looked_at as u64) as usize;
        let (mut used, mut middle) = (known.ids(), Vec::new());
        self.pick(0..looked_at, stand, &mut used, &mut middle);
        let mut ids = Vec::new();
        self.pick(0..part(before), before, &mut used, &mut ids);
        let begin = ids.len();
        ids.extend(middle);
        let end = ids.len();
        self.pick(looked_at - part(behind)..looked_at, behind, &mut used, &mut ids);
        Sample { ids, stands: begin..end, heaviest: false }
    }

    /// Adds `n` workgroups of a part of those looked at: each path in its share there, evenly from
    /// among its workgroups.
    fn pick(&self, part: Range<usize>, n: u64, used: &mut BTreeSet<u64>, ids: &mut Vec<u64>) {
        let part = &self.looked_at[part];
        let paths = self.costs.len();
        let sizes: Vec<u64> = (0..paths).map(|path| on_path(part, path).count() as u64).collect();
        let quotas = proportional(&sizes, n);
        let (mut seen, mut owed) = (vec![0u64; paths], vec![0u64; paths]);
        for &(id, path) in part {
            let at = |i: u64| (i * quotas[path] + sizes[path] / 2) / sizes[path].max(1);
            owed[path] += at(seen[path] + 1) - at(seen[path]);
            seen[path] += 1;
            if owed[path] > 0 && used.insert(id) {
                owed[path] -= 1;
                ids.push(id);
            }
        }
    }

    fn cost(&self, path: usize) -> Option<f64> {
        self.costs.get(path).copied().filter(|&cost| cost > 0.0)
    }

    /// The mean over the grid of what is known of each path; of an unknown one, that of the others.
    fn mean(&self, of_path: impl Fn(usize) -> Option<f64>) -> f64 {
        let (mut sum, mut n) = (0.0, 0);
        for path in 0..self.costs.len() {
            if let Some(value) = of_path(path) {
                let size = on_path(&self.looked_at, path).count();
                sum += value * size as f64;
                n += size;
            }
        }
        sum / n.max(1) as f64
    }

    /// Mean wave instructions of a workgroup of the grid: of each path those that ran and stand for
    /// it, or else the one that executed functionally.
    fn instructions(&self, sample: &Sample, run: &CuRun) -> f64 {
        let stand: BTreeSet<u64> = sample.ids[sample.stands.clone()].iter().copied().collect();
        let mut ran = vec![(0.0, 0u32); self.costs.len()];
        for r in run.ran.iter().filter(|r| stand.contains(&r.id)) {
            let Ok(i) = self.looked_at.binary_search_by_key(&r.id, |&(id, _)| id) else { continue };
            let (sum, n) = &mut ran[self.looked_at[i].1];
            *sum += r.instructions as f64;
            *n += 1;
        }
        self.mean(|path| match ran[path] {
            (_, 0) => self.cost(path),
            (sum, n) => Some(sum / f64::from(n)),
        })
    }

    /// The whole grid, from the run of a sample.
    pub fn estimate(&self, spread: &Spread, sample: &Sample, run: &CuRun) -> Estimate {
        let mean = self.instructions(sample, run);
        let instructions = mean * spread.total as f64;
        let ran = run.ran.iter().map(|r| r.instructions).sum::<u64>() as f64;
        let of_grid = spread.total as f64 / run.ran.len().max(1) as f64;
        let traffic = run.traffic.scaled(of_grid);
        let all = Estimate { cycles: run.end as f64, of_busiest: 1.0, instructions, traffic };
        if sample.heaviest {
            return all;
        }
        let of_busiest = mean * spread.busiest as f64;
        let relative = of_busiest / ran.max(1.0);
        let Some(steady) = Steady::of(run, spread.resident) else {
            return Estimate { of_busiest: relative, ..all };
        };
        let cycles = run.end as f64 + (of_busiest - ran) * steady.clocks / steady.instructions;
        let traffic = match sample.stands.len() == sample.ids.len() {
            true => traffic,
            false => steady.traffic.scaled(instructions / steady.instructions),
        };
        Estimate { cycles, of_busiest: relative, instructions, traffic }
    }
}

/// What passed while all places of the unit were taken: from the end of as many workgroups as it has
/// places, the first of which start cold and in step, to the first end that leaves a place empty.
struct Steady {
    clocks: f64,
    instructions: f64,
    traffic: Traffic,
}

impl Steady {
    fn of(run: &CuRun, resident: u64) -> Option<Self> {
        let resident = usize::try_from(resident).ok()?;
        let begin = run.ran.get(resident.checked_sub(1)?)?;
        let end = run.ran.get(run.ran.len().checked_sub(resident)?)?;
        let clocks = end.end.checked_sub(begin.end).filter(|&clk| clk > 0)?;
        let instructions = end.issued.checked_sub(begin.issued).filter(|&n| n > 0)?;
        let traffic = end.traffic.since(&begin.traffic);
        Some(Steady { clocks: clocks as f64, instructions: instructions as f64, traffic })
    }
}

fn number_of_paths(looked_at: &[OnPath]) -> usize {
    looked_at.iter().map(|&(_, path)| path + 1).max().unwrap_or(0)
}

fn on_path(looked_at: &[OnPath], path: usize) -> impl Iterator<Item = u64> {
    looked_at.iter().filter(move |&&(_, on)| on == path).map(|&(id, _)| id)
}

/// `n` in proportion to `sizes`, which get at most what they are.
fn proportional(sizes: &[u64], n: u64) -> Vec<u64> {
    let all = sizes.iter().sum::<u64>().max(1);
    let n = n.min(all);
    let mut parts: Vec<u64> = sizes.iter().map(|size| size * n / all).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|&i| std::cmp::Reverse(sizes[i] * n % all));
    let missing = n - parts.iter().sum::<u64>();
    by_remainder.iter().take(missing as usize).for_each(|&i| parts[i] += 1);
    parts
}

#[cfg(test)]
mod tests {
    use super::super::cu::Ran;
    use super::*;

    /// 400 workgroups in rows of 20, of which the last 5 end early.
    fn mixture() -> Mixture {
        let looked_at = (0..400).map(|id| (id, usize::from(id % 20 >= 15))).collect();
        Mixture { looked_at, costs: vec![14_000.0, 7000.0] }
    }

    fn spread(busiest: u64, resident: u64) -> Spread {
        Spread { total: 400, busiest, active_cus: 1, resident }
    }

    fn early(ids: &[u64]) -> usize {
        ids.iter().filter(|&&id| id % 20 >= 15).count()
    }

    /// 14,000 and 7000 instructions are 12,250 in the mean and allow 600,000 / (4 * 12,250) = 12 rounds of
    /// four, of which two only fill the unit: 40 workgroups stand for the grid, a quarter of them of
    /// those that end early.
    #[test]
    fn a_sample_has_the_shares_of_the_grid() {
        let sample = mixture().sample(&spread(400, 4), &Known::none(1));
        let stand = &sample.ids[sample.stands.clone()];
        assert_eq!((sample.ids.len(), stand.len(), early(stand)), (47, 40, 10));
        assert!(stand.is_sorted());
        let distinct: BTreeSet<&u64> = sample.ids.iter().collect();
        assert_eq!(distinct.len(), 47);
        // Five workgroups before them come from the first 5/40 of the grid, two behind from the last 2/40.
        assert!(sample.ids[..5].iter().all(|&id| id < 50));
        assert!(sample.ids[45..].iter().all(|&id| id >= 380));
    }

    #[test]
    fn a_small_grid_runs_as_it_is() {
        let sample = mixture().sample(&spread(40, 4), &Known::none(1));
        assert_eq!((sample.ids.len(), early(&sample.ids)), (40, 10));
        let whole = mixture().all(&spread(400, 4), &Known::none(1));
        assert_eq!(whole.ids, (0..400).collect::<Vec<u64>>());
        // Where all start at once, the last to end is a unit without any that end early.
        let once = mixture().sample(&spread(3, 4), &Known::none(1));
        assert_eq!((once.ids.len(), early(&once.ids)), (3, 0));
    }

    /// One at a time: 300 workgroups of 10,000 instructions take 5000 clk each, 100 of 100 take 100.
    #[test]
    fn a_grid_takes_what_its_workgroups_take_on_average() {
        let (mixture, spread) = (mixture(), spread(400, 1));
        let sample = mixture.sample(&spread, &Known::none(1));
        let (mut end, mut issued, mut ran) = (0, 0, Vec::new());
        for &id in &sample.ids {
            let (clk, instructions) = if id % 20 >= 15 { (100, 100) } else { (5000, 10_000) };
            (end, issued) = (end + clk, issued + instructions);
            let traffic = Traffic { loaded: issued, ..Traffic::default() };
            ran.push(Ran { id, begin: end - clk, end, instructions, issued, traffic });
        }
        let traffic = Traffic { loaded: issued, ..Traffic::default() };
        let run = CuRun { ran, end, traffic, ..CuRun::default() };
        let all = mixture.estimate(&spread, &sample, &run);
        assert!((all.cycles / 1_510_000.0 - 1.0).abs() < 1e-4, "{}", all.cycles);
        assert!((all.instructions / 3_010_000.0 - 1.0).abs() < 1e-9, "{}", all.instructions);
        assert_eq!(all.traffic.loaded, 3_010_000);
    }

    #[test]
    fn what_is_left_over_goes_to_the_largest_remainder() {
        assert_eq!(proportional(&[300, 100], 44), [33, 11]);
        assert_eq!(proportional(&[95, 5], 10), [10, 0]);
        assert_eq!(proportional(&[95, 5], 11), [10, 1]);
        assert_eq!(proportional(&[3, 2], 9), [3, 2]);
    }
}
