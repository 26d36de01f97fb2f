//! How much of a grid is simulated, and how its time follows from that.
//!
//! Goes in: the size of the grid, the residency of the kernel, what the simulated workgroups took.
//! Comes out: which workgroups to run, and the clocks of the whole grid. The busiest compute unit runs
//! `n` workgroups, `resident` at a time. The simulated unit runs `k` whole rounds and the same
//! remainder, so that it starts and ends as the busiest one does; the rounds left out are put in at
//! the pace that it has in between.

use super::cu::{Feed, Ran};
use crate::arch::ArchParams;

/// Wave instructions that a sample should not exceed once the compute unit is full.
const BUDGET: u64 = 150_000;
/// Wave instructions that a sample of [`FEWEST`] rounds may take.
const LIMIT: u64 = 400_000;
/// Rounds that are enough to see a steady state.
const ROUNDS: u64 = 12;
/// Rounds from which a steady state is seen at all: one to get there, one to look at.
const FEWEST: u64 = 2;

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

    /// Workgroups that a sampler feeds at most.
    pub fn most(spread: &Spread) -> u64 {
        spread.busiest.min(ROUNDS * spread.resident + spread.busiest % spread.resident)
    }

    /// A sampler that leaves out nothing of what the busiest compute unit runs.
    pub fn whole(spread: &Spread) -> Self {
        Sampler { limit: Some(spread.busiest), ..Self::new(spread) }
    }

    /// Workgroups to run when one costs `cost` instructions: as many whole rounds as the budget
    /// allows, and the remainder of the busiest compute unit.
    fn limit(&self, cost: u64) -> u64 {
        let rest = self.busiest % self.resident;
        let rounds = |budget: u64| (budget / cost.max(1)).saturating_sub(rest) / self.resident;
        let least = if rounds(LIMIT) >= FEWEST { FEWEST } else { 1 };
        let rounds = rounds(BUDGET).clamp(least, ROUNDS);
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

/// Clocks from one workgroup to the next of a compute unit that runs `resident` at a time, neither
/// filling up nor running empty.
///
/// That is what the instructions of a workgroup take at the rate at which the unit issues while all
/// its places are taken: from the end of the first round, which starts cold and in step, to the first
/// end that leaves a place empty. Instructions are counted and not ends, because the workgroups
/// under way are further at one end than at another. Of less than two rounds the time from the first
/// end on has to do, and of only one that up to it.
pub fn pace(ran: &[Ran], resident: u64) -> f64 {
    let resident = usize::try_from(resident).unwrap_or(usize::MAX).max(1);
    let Some(last) = ran.get(ran.len().saturating_sub(resident)) else { return 0.0 };
    let begin = match ran.len().checked_sub(resident) {
        None | Some(0) => None,
        Some(replaced) => ran.get(if replaced < resident { 0 } else { resident - 1 }),
    };
    let (since, before) = begin.map_or((0, 0), |first| (first.end, first.issued));
    let instructions: u64 = ran.iter().map(|r| r.instructions).sum();
    let mean = instructions as f64 / ran.len() as f64;
    let issued = last.issued.saturating_sub(before).max(1);
    last.end.saturating_sub(since) as f64 * mean / issued as f64
}

#[cfg(test)]
mod tests {
    use super::super::hierarchy::Traffic;
    use super::*;
    use crate::isa::Arch;

    fn params() -> &'static ArchParams {
        ArchParams::load(Arch::Gfx950).unwrap()
    }

    /// Workgroups of 1000 instructions that ended then, the unit having issued so many.
    fn ran(ends: &[(u64, u64)]) -> Vec<Ran> {
        let ran = |&(end, issued)| {
            let traffic = Traffic::default();
            Ran { id: 0, begin: 0, end, instructions: 1000, issued, traffic }
        };
        ends.iter().map(ran).collect()
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

    /// 33 workgroups, 4 at a time: 2000 instructions each allow all 8 rounds and the remaining one;
    /// with 15,000 two rounds and the remaining one take 135,000; with 40,000 they take 360,000, more
    /// than the budget but no more than two rounds may; with 60,000 only the first round is run, and
    /// the remaining one.
    #[test]
    fn the_sample_keeps_the_remainder_and_its_budget() {
        let spread = Spread::new(params(), 8193, 4);
        let mut sampler = Sampler::new(&spread);
        let count = |sampler: &mut Sampler, cost| {
            let done = vec![Ran { instructions: cost, ..ran(&[(1, cost)])[0] }];
            let first = (0..9).take_while(|_| sampler.next(&[]).is_some()).count();
            first + (0..99).take_while(|_| sampler.next(&done).is_some()).count()
        };
        assert_eq!(count(&mut sampler.clone(), 2000), 8 * 4 + 1);
        assert_eq!(count(&mut sampler.clone(), 15_000), 2 * 4 + 1);
        assert_eq!(count(&mut sampler.clone(), 40_000), 2 * 4 + 1);
        assert_eq!(count(&mut sampler.clone(), 60_000), 4 + 1);
        assert_eq!(count(&mut Sampler::new(&Spread::new(params(), 1000, 4)), 1), 4);
        sampler.busiest = 6;
        assert_eq!(count(&mut sampler, 1), 6);
    }

    /// Two at a time, 10 instructions a clock from the end of the first round at 250 to the end at 650
    /// that leaves a place empty: a workgroup of 1000 instructions takes 100 clk, whether the others
    /// under way are half done (as at 650) or have hardly begun (at 250). Six of twelve are missing.
    #[test]
    fn missing_workgroups_come_at_the_pace_of_a_full_unit() {
        let spread = Spread { total: 2560, busiest: 12, active_cus: 256, resident: 2 };
        let ran =
            ran(&[(240, 1950), (250, 2050), (440, 3900), (460, 4150), (650, 6050), (690, 6060)]);
        assert_eq!(pace(&ran, 2), 100.0);
        assert_eq!(extrapolate(&spread, &ran, 700, 100.0), 1300.0);
        let all = Spread { busiest: 6, ..spread };
        assert_eq!(extrapolate(&all, &ran, 700, 100.0), 700.0);
    }

    /// One round and a half: from the first end, at 200, to that of the first place that stays empty,
    /// at 350, 1500 instructions. One round: 2000 instructions up to its first end, at 300. One
    /// workgroup at a time: the second takes 120. None: nothing is known.
    #[test]
    fn a_short_sample_still_tells_a_pace() {
        assert_eq!(pace(&ran(&[(200, 2000), (350, 3500), (400, 4000)]), 2), 100.0);
        assert_eq!(pace(&ran(&[(300, 2000), (310, 2000)]), 2), 150.0);
        assert_eq!(pace(&ran(&[(200, 1000), (320, 2000)]), 1), 120.0);
        assert_eq!(pace(&[], 2), 0.0);
    }
}
