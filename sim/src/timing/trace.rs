//! What each wave of the simulated compute unit did when, for a timeline.
//!
//! Goes in: every issue and every wait as it ends. Comes out: [`Event`]s in order of issue, up to a
//! limit; recording stops there, the simulation goes on.

use super::counters::Stall;

/// One instruction of one wave.
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
    /// Since when it could have issued, were it not for `reason`; equal to `issued` if it did not wait.
    pub since: u64,
    /// When it issued.
    pub issued: u64,
    /// When the wave could issue again.
    pub ready: u64,
    /// What it waited for.
    pub reason: Stall,
}

/// Records up to a number of events.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Events in order of issue.
    pub events: Vec<Event>,
    limit: usize,
}

impl Trace {
    /// A recorder of at most `limit` events.
    pub fn new(limit: usize) -> Self {
        Trace { events: Vec::new(), limit }
    }

    /// Notes an event, if there is room.
    pub fn push(&mut self, event: Event) {
        if self.events.len() < self.limit {
            self.events.push(event);
        }
    }
}
