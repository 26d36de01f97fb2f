//! Timing model: how long the hardware would take for a launch.
//!
//! Goes in: a launch ([`Grid`]) and the parameters of its target ([`crate::arch::ArchParams`]). Comes
//! out: a [`Timing`]. The first workgroups in dispatch order, or where the workgroups of the grid differ,
//! some of each kind in the kind's share, really execute, on one simulated compute unit with its full
//! residency; the rest of the device is represented by the unit's share of the bandwidths and caches
//! behind it, and the time of the whole grid follows from the rounds that it takes. The result depends
//! on nothing but the launch and the data that it reads: it is the same on every host and with any
//! number of threads.
//!
//! What the figure stands for, and where it is an approximation:
//!
//! - The launch repeats an earlier one of the same kernel on other data: its code is in the instruction
//!   cache as far as it fits, all data caches are cold. The fixed cost of a kernel is included.
//! - The simulated unit runs neighbours in dispatch order, or such a selection, each on the die that it
//!   would have; on hardware the workgroups of one unit lie further apart. Lines that one workgroup
//!   brought into the vector cache are therefore not hits for another.
//! - What other units have brought into L2 and the memory-side cache is estimated from the first loads
//!   of workgroups that run at the same time, and from the size of the allocation that is read.
//! - All units are taken to be equally busy: the simulated one gets its part of each shared bandwidth,
//!   and may save up what it leaves unused for some time. Channel and bank conflicts behind the vector
//!   cache, address translation and the lines of LDS that loads without registers write are not modelled
//!   beyond their bandwidth.
//! - Hazards that software has to cover with `s_nop` cost those and nothing else.
//! - The clock is the nominal one less what the matrix load costs, linearly; heating up over many
//!   launches and the dependence of power on the data are not modelled.
//! - Bandwidths of L2, memory-side cache and memory are bytes per clock at the nominal clock, so that
//!   they fall with the shader clock under matrix load, as only that of L2 does on hardware.

mod cache;
mod coalesce;
mod cost;
mod counters;
mod cu;
mod dispatch;
mod fifo;
mod grid;
mod hierarchy;
mod issue;
mod lds;
mod mixture;
mod occupancy;
mod passes;
mod paths;
mod place;
mod plan;
mod probe;
mod prober;
mod rest;
mod server;
mod sharing;
mod simulate;
mod slots;
mod strata;
mod trace;
mod trail;
mod wait;

#[cfg(test)]
mod tests;

pub use cost::Kind;
pub use counters::{Counters, Stall};
pub use grid::{Grid, Launch};
pub use hierarchy::Traffic;
pub use occupancy::{Limiter, Occupancy, Resources, allocated_vgprs, occupancy};
pub use passes::UnknownPasses;
pub use simulate::{Timing, TimingError, simulate, simulate_traced, simulate_whole};
pub use trace::Event;
