//! Times a launch: samples it on one compute unit and extrapolates to the grid.

use std::ops::Range;

use super::cost::{UnknownPasses, costs};
use super::counters::Counters;
use super::cu::{Cu, CuRun, Feed};
use super::grid::Grid;
use super::hierarchy::{Share, Traffic};
use super::occupancy::{Occupancy, Resources, occupancy};
use super::plan::{Listed, Sampler, Spread, extrapolate, pace};
use super::probe::probe;
use super::rest::{different, estimate};
use super::sharing::Sharing;
use super::trace::Event;
use crate::arch::ArchParams;
use crate::fault::Fault;
use crate::launch::Executed;

/// Why a launch could not be timed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimingError {
    /// The kernel faulted.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A matrix operation without a pass count.
    #[error(transparent)]
    UnknownPasses(#[from] UnknownPasses),
    /// Not even one workgroup fits a compute unit.
    #[error("a workgroup of {threads} threads with {vgprs} VGPRs, {agprs} AGPRs and {lds} bytes of LDS does not fit a compute unit", threads = .0.threads, vgprs = .0.vgprs, agprs = .0.agprs, lds = .0.lds)]
    DoesNotFit(Resources),
}

/// How long a launch takes, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Clocks from the first workgroup's launch to the end of the grid, without the fixed cost.
    pub cycles: u64,
    /// Begin to end timestamp in microseconds, with the fixed cost of a kernel.
    pub time_us: f64,
    /// Clock in MHz that the cycles were converted at.
    pub clock_mhz: f64,
    /// Fraction of the clocks that the matrix units were busy.
    pub matrix_busy: f64,
    /// Residency.
    pub occupancy: Occupancy,
    /// Workgroups of the grid.
    pub workgroups: u64,
    /// Workgroups that executed under the timing model: the first in dispatch order.
    pub workgroups_timed: u64,
    /// Dispatch numbers of the further workgroups that executed, to see what the rest of the grid
    /// costs; ascending, all at least [`Timing::workgroups_timed`].
    pub workgroups_sampled: Vec<u64>,
    /// Workgroups of the busiest compute unit.
    pub workgroups_of_busiest_cu: u64,
    /// Wave instructions of the grid, extrapolated from those that ran.
    pub instructions: u64,
    /// Bytes by level of the grid, extrapolated.
    pub traffic: Traffic,
    /// Counters of the simulated compute unit.
    pub counters: Counters,
    /// Executions of each instruction by the workgroups that executed, timed or sampled.
    pub executed: Executed,
    /// Wave clocks lost at each instruction by the workgroups that were timed first, which also
    /// [`Timing::counters`] and [`Timing::trace`] describe.
    pub waited: Vec<u64>,
    /// Executions of each instruction by those workgroups.
    pub issued: Vec<u64>,
    /// Their first issues and waits, where a trace was asked for.
    pub trace: Vec<Event>,
}

impl Timing {
    /// Dispatch numbers of the workgroups that have not executed.
    pub fn not_executed(&self) -> Vec<Range<u64>> {
        let mut ranges = Vec::new();
        let mut begin = self.workgroups_timed;
        for &id in &self.workgroups_sampled {
            if id > begin {
                ranges.push(begin..id);
            }
            begin = id + 1;
        }
        if begin < self.workgroups {
            ranges.push(begin..self.workgroups);
        }
        ranges
    }
}

/// Times `grid` on a device with parameters `p`. The workgroups that are timed or
/// sampled execute, once, with their effects on memory; [`Timing::not_executed`] names the others.
pub fn simulate<G: Grid>(p: &ArchParams, grid: &G) -> Result<Timing, TimingError> {
    simulate_by(p, grid, Sampler::new, 0)
}

/// [`simulate`] with a record of the first `events` issues and waits of the simulated compute unit.
///
/// # Errors
/// As for [`simulate`].
pub fn simulate_traced<G: Grid>(
    p: &ArchParams,
    grid: &G,
    events: usize,
) -> Result<Timing, TimingError> {
    simulate_by(p, grid, Sampler::new, events)
}

/// [`simulate`] without extrapolation: the busiest compute unit runs all of its workgroups. It takes
/// as long as the grid is large, and tells how good the extrapolation is.
///
/// # Errors
/// As for [`simulate`].
pub fn simulate_whole<G: Grid>(p: &ArchParams, grid: &G) -> Result<Timing, TimingError> {
    simulate_by(p, grid, Sampler::whole, 0)
}

fn simulate_by<G: Grid>(
    p: &ArchParams,
    grid: &G,
    sampler: impl Fn(&Spread) -> Sampler,
    events: usize,
) -> Result<Timing, TimingError> {
    let resources = grid.resources();
    let occupancy = occupancy(p, &resources);
    if occupancy.workgroups_per_cu == 0 {
        return Err(TimingError::DoesNotFit(resources));
    }
    let costs = costs(p, grid.program())?;
    let spread = Spread::new(p, grid.workgroups(), occupancy.workgroups_per_cu);
    let share = share(p, &spread, probe(p, grid, &spread));
    let run = |feed: &mut dyn Feed, events: usize| {
        let bytes = resources.lds as usize;
        let mut lds = vec![0u8; bytes * spread.resident as usize];
        let mut rest = lds.as_mut_slice();
        let places = (0..spread.resident).map(|_| {
            let (place, tail) = std::mem::take(&mut rest).split_at_mut(bytes);
            rest = tail;
            place
        });
        Cu::new(p, grid, &costs, &share, places).traced(events).run(feed)
    };
    let first = run(&mut sampler(&spread), events)?;
    let timed = first.ran.len() as u64;
    let mean_timed = first.counters.instructions() as f64 / timed.max(1) as f64;
    let rest = estimate(grid, &first.ran)?;
    let mut executed = Executed { counts: first.counts.clone(), workgroups: timed };
    executed.add(&rest.executed);
    let mut sampled = rest.ids.clone();

    // Workgroups that cost something else than the first ones are timed too.
    let ids = match rest.uniform || spread.busiest <= timed {
        true => Vec::new(),
        false => different(grid, timed, &rest, spread.resident),
    };
    let second = match ids.is_empty() {
        true => None,
        false => Some(run(&mut Listed(ids.iter()), 0)?),
    };
    let whole = match &second {
        Some(second) => Whole::mixed(&spread, &first, second),
        None => Whole::uniform(&spread, &first, rest.mean / mean_timed.max(1.0)),
    };
    if let Some(second) = second {
        executed.add(&Executed { counts: second.counts, workgroups: ids.len() as u64 });
        sampled.extend(ids);
        sampled.sort_unstable();
    }
    let (clock_mhz, matrix_busy) = clock(p, &whole);
    Ok(Timing {
        cycles: whole.cycles as u64,
        time_us: p.launch.fixed + whole.cycles / clock_mhz,
        clock_mhz,
        matrix_busy,
        occupancy,
        workgroups: spread.total,
        workgroups_timed: timed,
        workgroups_of_busiest_cu: spread.busiest,
        workgroups_sampled: sampled,
        instructions: whole.instructions as u64,
        traffic: whole.traffic,
        counters: first.counters,
        executed,
        waited: first.waited,
        issued: first.counts,
        trace: first.trace.events,
    })
}

/// The whole grid, extrapolated.
struct Whole {
    /// Clocks of the busiest compute unit.
    cycles: f64,
    /// Clocks that its matrix units are busy with 16-bit and wider, and with narrower operands.
    matrix: [f64; 2],
    /// Wave instructions of the grid.
    instructions: f64,
    /// Bytes of the grid.
    traffic: Traffic,
}

impl Whole {
    /// From workgroups that stand for all others, which cost `relative` as much.
    fn uniform(spread: &Spread, run: &CuRun, relative: f64) -> Self {
        let timed = run.ran.len().max(1) as f64;
        let each = pace(&run.ran, spread.resident) * relative;
        let of_busiest = 1.0 + (spread.busiest as f64 / timed - 1.0) * relative;
        let of_grid = spread.total as f64 / timed * relative;
        Whole {
            cycles: extrapolate(spread, &run.ran, run.end, each),
            matrix: matrix(run).map(|clk| clk * of_busiest),
            instructions: run.counters.instructions() as f64 * of_grid,
            traffic: run.traffic.scaled(of_grid),
        }
    }

    /// From the first workgroups, and others that stand for all that are left.
    fn mixed(spread: &Spread, first: &CuRun, second: &CuRun) -> Self {
        let each = pace(&second.ran, spread.resident);
        let (timed, sample) = (first.ran.len() as f64, second.ran.len().max(1) as f64);
        let of_busiest = (spread.busiest as f64 - timed).max(0.0) / sample;
        let of_grid = (spread.total as f64 - timed).max(0.0) / sample;
        let [a, b] = [matrix(first), matrix(second)];
        Whole {
            cycles: extrapolate(spread, &first.ran, first.end, each),
            matrix: [a[0] + b[0] * of_busiest, a[1] + b[1] * of_busiest],
            instructions: first.counters.instructions() as f64
                + second.counters.instructions() as f64 * of_grid,
            traffic: first.traffic.plus(&second.traffic.scaled(of_grid)),
        }
    }
}

fn matrix(run: &CuRun) -> [f64; 2] {
    [run.counters.matrix_wide as f64, run.counters.matrix_narrow as f64]
}

fn share(p: &ArchParams, spread: &Spread, sharing: Sharing) -> Share {
    let resident = spread.resident as u32;
    let in_device = spread.total.min(u64::from(p.device.compute_units) * spread.resident);
    Share {
        of_bandwidth: spread.busiest as f64 / spread.total.max(1) as f64,
        resident,
        concurrent_in_xcd: in_device.div_ceil(u64::from(p.device.xcds)) as u32,
        concurrent_in_device: in_device,
        sharing,
    }
}

/// Clock under the matrix load of the busiest compute unit, and that load: linear between the nominal
/// clock and the sustained clock at full load.
fn clock(p: &ArchParams, whole: &Whole) -> (f64, f64) {
    let available = (whole.cycles * f64::from(p.device.simds_per_cu)).max(1.0);
    let [wide, narrow] = whole.matrix.map(|clk| clk / available);
    let c = &p.clock;
    let lost = wide * (c.nominal - c.sustained_matrix_16bit)
        + narrow * (c.nominal - c.sustained_matrix_8bit);
    (c.nominal - lost, wide + narrow)
}
