//! What each wave of the simulated compute unit did when, for a timeline.
//!
//! Goes in: every issue and every wait as it ends. Comes out: [`Event`]s, those of a wave in order and
//! without a gap, up to a limit; recording stops there, the simulation goes on.

use super::counters::Stall;

/// One wave issues an instruction, or waits before it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// SIMD.
    pub simd: u32,
    /// Wave slot on the compute unit.
    pub slot: u32,
    /// Workgroup, its place in dispatch order.
    pub workgroup: u64,
    /// Instruction, as an index into the program.
    pub pc: usize,
    /// When it began.
    pub begin: u64,
    /// When the wave could go on.
    pub end: u64,
    /// What it waited for; none where it issued.
    pub wait: Option<Stall>,
}

/// Records up to a number of events.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Events in the order in which they were known.
    pub events: Vec<Event>,
    limit: usize,
}

impl Trace {
    /// A recorder of at most `limit` events.
    pub fn new(limit: usize) -> Self {
        Trace { events: Vec::new(), limit }
    }

    /// Notes an event, if there is room.
    #[inline]
    pub fn push(&mut self, event: impl FnOnce() -> Event) {
        if self.events.len() < self.limit {
            self.events.push(event());
        }
    }
}
