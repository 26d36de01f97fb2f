//! Times a launch: samples it on one compute unit and extrapolates to the grid.

use std::ops::Range;

use super::cost::costs;
use super::counters::Counters;
use super::cu::{Cu, CuRun, Feed};
use super::grid::Grid;
use super::hierarchy::{Share, Traffic};
use super::mixture::{Estimate, Mixture};
use super::occupancy::{Occupancy, Resources, occupancy};
use super::passes::UnknownPasses;
use super::plan::{Listed, Sampler, Spread, extrapolate, pace};
use super::probe::probe;
use super::rest::{Known, estimate};
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
    /// Workgroups that the time rests on: the first in dispatch order, or where the workgroups of
    /// the grid differ, some from all over it.
    pub workgroups_timed: u64,
    /// Dispatch numbers of the workgroups that executed: those, and others to see what the rest of the
    /// grid costs; ascending.
    pub workgroups_executed: Vec<u64>,
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
    /// Wave clocks lost at each instruction by the workgroups that the time rests on, which also
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
        let mut begin = 0;
        for &id in &self.workgroups_executed {
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
    simulate_by(p, grid, Extent::Sample, 0)
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
    simulate_by(p, grid, Extent::Sample, events)
}

/// [`simulate`] without extrapolation: the busiest compute unit runs all of its workgroups. It takes
/// as long as the grid is large, and tells how good the extrapolation is.
///
/// # Errors
/// As for [`simulate`].
pub fn simulate_whole<G: Grid>(p: &ArchParams, grid: &G) -> Result<Timing, TimingError> {
    simulate_by(p, grid, Extent::Whole, 0)
}

/// How much of what the busiest compute unit runs is timed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Sample,
    Whole,
}

fn simulate_by<G: Grid>(
    p: &ArchParams,
    grid: &G,
    extent: Extent,
    events: usize,
) -> Result<Timing, TimingError> {
    let resources = grid.resources();
    let occupancy = occupancy(p, &resources);
    if occupancy.workgroups_per_cu == 0 {
        return Err(TimingError::DoesNotFit(resources));
    }
    let costs = costs(p, grid.program())?;
    let spread = Spread::new(p, grid.workgroups(), occupancy.workgroups_per_cu);
    let mut known = Known::none(grid.program().insts.len());
    let mixture = match extent {
        Extent::Sample => Mixture::of(p, grid, Sampler::most(&spread), &mut known)?,
        Extent::Whole => Mixture::whole(p, grid, &spread),
    };
    let share = share(p, &spread, probe(p, grid, &spread, mixture.is_some()));
    let run = |feed: &mut dyn Feed| {
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
    let mixed = |mixture: &Mixture, known: &mut Known| -> Result<(CuRun, Whole), Fault> {
        let sample = match extent {
            Extent::Sample => mixture.sample(&spread, known),
            Extent::Whole => mixture.all(&spread, known),
        };
        let run = run(&mut Listed(sample.ids.iter()))?;
        known.add(&run);
        let whole = Whole::mixed(&run, mixture.estimate(&spread, &sample, &run));
        Ok((run, whole))
    };
    let (timed, whole) = match &mixture {
        Some(mixture) => mixed(mixture, &mut known)?,
        None => {
            let first = match extent {
                Extent::Sample => run(&mut Sampler::new(&spread))?,
                Extent::Whole => run(&mut Sampler::whole(&spread))?,
            };
            known.add(&first);
            let timed = first.ran.len() as u64;
            let mean_timed = first.counters.instructions() as f64 / timed.max(1) as f64;
            let rest = estimate(grid, &first.ran, &mut known)?;
            if rest.uniform || spread.busiest <= timed {
                let whole = Whole::uniform(&spread, &first, rest.mean / mean_timed.max(1.0));
                (first, whole)
            } else {
                mixed(&Mixture::of_one_path(grid, rest.mean), &mut known)?
            }
        }
    };
    let (clock_mhz, matrix_busy) = clock(p, &whole);
    Ok(Timing {
        cycles: whole.cycles as u64,
        time_us: p.launch.fixed + whole.cycles / clock_mhz,
        clock_mhz,
        matrix_busy,
        occupancy,
        workgroups: spread.total,
        workgroups_timed: timed.ran.len() as u64,
        workgroups_executed: known.ids().into_iter().collect(),
        workgroups_of_busiest_cu: spread.busiest,
        instructions: whole.instructions as u64,
        traffic: whole.traffic,
        counters: timed.counters,
        executed: known.executed,
        waited: timed.waited,
        issued: timed.counts,
        trace: timed.trace.events,
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

    /// From workgroups that have the shares of the grid.
    fn mixed(run: &CuRun, estimate: Estimate) -> Self {
        let Estimate { cycles, of_busiest, instructions, traffic } = estimate;
        let matrix = matrix(run).map(|clk| clk * of_busiest);
        Whole { cycles, matrix, instructions, traffic }
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
