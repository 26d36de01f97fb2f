//! Timing model: how long the hardware would take for a launch.
//!
//! Goes in: a launch ([`Grid`]) and the parameters of its target ([`crate::arch::ArchParams`]). Comes
//! out: a [`Timing`]. The first workgroups in dispatch order really execute, on one simulated compute
//! unit with its full residency ([`cu`]); the rest of the device is represented by the unit's share of
//! the bandwidths and caches behind it ([`hierarchy`], [`sharing`]), and the time of the whole grid
//! follows from the rounds that it takes ([`plan`]). The launch is taken to repeat an earlier one of the
//! same kernel on other data: its code is in the instruction cache as far as it fits, all data caches
//! are cold. The result depends on nothing but the launch:
//! it is the same on every host and with any number of threads.

mod cache;
mod coalesce;
mod cost;
mod counters;
mod cu;
mod fifo;
mod grid;
mod hierarchy;
mod issue;
mod lds;
mod occupancy;
mod plan;
mod probe;
mod rest;
mod server;
mod sharing;
mod simulate;
mod strata;
mod wait;

#[cfg(test)]
mod tests;

pub use cost::{Kind, UnknownPasses};
pub use counters::{Counters, Stall};
pub use grid::{Grid, Launch};
pub use hierarchy::Traffic;
pub use occupancy::{Limiter, Occupancy, Resources, allocated_vgprs, occupancy};
pub use simulate::{Timing, TimingError, simulate};
