//! How much of a grid is simulated, and how its time follows from that.
//!
//! Goes in: the size of the grid, the residency of the kernel, what the simulated workgroups took.
//! Comes out: which workgroups to run, and the clocks of the whole grid. The busiest compute unit runs
//! `n` workgroups, `resident` at a time. The simulated unit runs `k` whole rounds and the same
//! remainder, so that it ends with the same partly filled round; the rounds left out are put in at
//! the pace of the last whole round.

use super::cu::{Feed, Ran};
use crate::arch::ArchParams;

/// Wave instructions that a sample should not exceed once the compute unit is full.
const BUDGET: u64 = 150_000;
/// Rounds that are enough to see a steady state.
const ROUNDS: u64 = 4;

/// How a grid spreads over the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Workgroups of the grid.
    pub total: u64,
    /// Workgroups of the busiest compute unit.
    pub busiest: u64,
    /// Compute units that run at least one workgroup.
    pub active_cus: u64,
    /// Workgroups resident on a compute unit at a time, as far as the grid fills it.
    pub resident: u64,
}

impl Spread {
    /// Spread of `total` workgroups, of which `residency` fit a compute unit. Workgroups go to the
    /// dies in turn, and within a die to the compute units in turn.
    pub fn new(p: &ArchParams, total: u64, residency: u32) -> Self {
        let per_xcd = total.div_ceil(u64::from(p.device.xcds));
        let busiest = per_xcd.div_ceil(u64::from(p.cus_per_xcd()));
        Spread {
            total,
            busiest,
            active_cus: total.min(u64::from(p.device.compute_units)),
            resident: u64::from(residency).min(busiest).max(1),
        }
    }
}

/// Feeds the first workgroups in dispatch order.
#[derive(Clone, Debug)]
pub struct Sampler {
    busiest: u64,
    resident: u64,
    next: u64,
    limit: Option<u64>,
}

impl Sampler {
    /// A sampler for a grid that spreads like this.
    pub fn new(spread: &Spread) -> Self {
        Sampler { busiest: spread.busiest, resident: spread.resident, next: 0, limit: None }
    }

    /// A sampler that leaves out nothing of what the busiest compute unit runs.
    pub fn whole(spread: &Spread) -> Self {
        Sampler { limit: Some(spread.busiest), ..Self::new(spread) }
    }

    /// Workgroups to run when one costs `cost` instructions: as many whole rounds as the budget
    /// allows, and the remainder of the busiest compute unit.
    fn limit(&self, cost: u64) -> u64 {
        let rest = self.busiest % self.resident;
        let affordable = BUDGET / cost.max(1);
        let rounds = (affordable.saturating_sub(rest) / self.resident).clamp(1, ROUNDS);
        self.busiest.min(rounds * self.resident + rest)
    }
}

impl Feed for Sampler {
    fn next(&mut self, ran: &[Ran]) -> Option<u64> {
        if self.limit.is_none()
            && let Some(first) = ran.first()
        {
            self.limit = Some(self.limit(first.instructions));
        }
        let limit = self.limit.unwrap_or(self.resident);
        (self.next < limit).then(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

/// Feeds listed workgroups.
#[derive(Clone, Debug)]
pub struct Listed<'a>(pub std::slice::Iter<'a, u64>);

impl Feed for Listed<'_> {
    fn next(&mut self, _: &[Ran]) -> Option<u64> {
        self.0.next().copied()
    }
}

/// Clocks from the first launch to the end of the busiest compute unit, given the workgroups it ran
/// in the simulation, when they ended, and the clocks that each one left out takes.
pub fn extrapolate(spread: &Spread, ran: &[Ran], end: u64, each: f64) -> f64 {
    let missing = spread.busiest.saturating_sub(ran.len() as u64);
    end as f64 + missing as f64 * each
}

/// Clocks that each workgroup takes when `resident` run at a time.
pub fn pace(ran: &[Ran], resident: u64) -> f64 {
    round_clk(ran, resident) / resident as f64
}

/// Clocks that a round of `resident` workgroups takes: from the end of one to the end of the last
/// whole round, or of the only one from its launch.
fn round_clk(ran: &[Ran], resident: u64) -> f64 {
    let resident = resident as usize;
    let mut ends: Vec<u64> = ran.iter().map(|r| r.end).collect();
    ends.sort_unstable();
    let whole = ends.len() / resident;
    let Some(&last) = ends.get((whole * resident).saturating_sub(1)) else { return 0.0 };
    match whole.checked_sub(2) {
        // The first round starts cold and in step: the pace is that of the rounds after it.
        Some(rounds) => {
            let first = ends[resident - 1];
            (last - first) as f64 / (rounds + 1) as f64
        }
        None => last as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Arch;

    fn params() -> &'static ArchParams {
        ArchParams::load(Arch::Gfx950).unwrap()
    }

    fn ran(ends: &[u64]) -> Vec<Ran> {
        ends.iter().map(|&end| Ran { id: 0, begin: 0, end, instructions: 1000 }).collect()
    }

    /// 8192 workgroups on 256 compute units are 32 each. One more makes 33 on one of them; 100 leave
    /// 156 idle.
    #[test]
    fn workgroups_spread_over_dies_and_their_compute_units() {
        let s = Spread::new(params(), 8192, 4);
        assert_eq!((s.busiest, s.active_cus, s.resident), (32, 256, 4));
        assert_eq!(Spread::new(params(), 8193, 4).busiest, 33);
        let small = Spread::new(params(), 100, 4);
        assert_eq!((small.busiest, small.active_cus, small.resident), (1, 100, 1));
    }

    /// 33 workgroups, 4 at a time: 1000 instructions each allow 4 rounds and the remaining one;
    /// 60,000 only the first round, and the remaining one.
    #[test]
    fn the_sample_keeps_the_remainder_and_its_budget() {
        let spread = Spread::new(params(), 8193, 4);
        let mut sampler = Sampler::new(&spread);
        let count = |sampler: &mut Sampler, cost| {
            let done = vec![Ran { id: 0, begin: 0, end: 1, instructions: cost }];
            let first = (0..9).take_while(|_| sampler.next(&[]).is_some()).count();
            first + (0..99).take_while(|_| sampler.next(&done).is_some()).count()
        };
        assert_eq!(count(&mut sampler.clone(), 1000), 4 * 4 + 1);
        assert_eq!(count(&mut sampler.clone(), 60_000), 4 + 1);
        assert_eq!(count(&mut Sampler::new(&Spread::new(params(), 1000, 4)), 1), 4);
        sampler.busiest = 6;
        assert_eq!(count(&mut sampler, 1), 6);
    }

    /// Two at a time, ends at 100, 110 and 200, 210 of 10 workgroups: a round takes 100, three of them
    /// are missing.
    #[test]
    fn missing_rounds_take_as_long_as_the_last_whole_one() {
        let spread = Spread { total: 2560, busiest: 10, active_cus: 256, resident: 2 };
        let ran = ran(&[100, 110, 200, 210]);
        assert_eq!(pace(&ran, 2), 50.0);
        assert_eq!(extrapolate(&spread, &ran, 215, 50.0), 515.0);
        let all = Spread { busiest: 4, ..spread };
        assert_eq!(extrapolate(&all, &ran, 215, 50.0), 215.0);
    }
}
