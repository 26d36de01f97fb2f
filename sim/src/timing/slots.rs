//! The wave slots, SIMDs and workgroup places of a compute unit, and its account of the program.
//!
//! What every attempt to issue looks at is in one host cache line for each wave and one for each
//! instruction, apart from the registers of the wave, which are many times as large as the host's
//! caches.

use super::cost::Cost;
use super::counters::Stall;
use super::hierarchy::Requester;
use super::wait::Outstanding;
use crate::exec::{Ctx, Wave};

/// Never.
pub(super) const NEVER: u64 = u64::MAX;

/// A wave slot.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Slot {
    /// Since when it could have issued, were it not for `reason`.
    pub(super) since: u64,
    /// Instruction cache line that its wave has fetched last.
    pub(super) line: u64,
    /// Place of its wave in dispatch order.
    pub(super) age: u64,
    /// Instructions that its wave has issued.
    pub(super) instructions: u64,
    /// Next instruction of its wave, as an index into the program.
    pub(super) pc: usize,
    /// Instructions from `pc` on that have executed already.
    pub(super) ahead: u16,
    pub(super) crossing_debt: u32,
    /// Its workgroup's place.
    pub(super) group: u32,
    pub(super) reason: Stall,
    pub(super) priority: u8,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    /// A slot for waves of workgroup place `group`.
    pub(super) fn empty(group: usize) -> Self {
        Slot {
            since: 0,
            line: NEVER,
            age: 0,
            instructions: 0,
            pc: 0,
            ahead: 0,
            crossing_debt: 0,
            group: group as u32,
            reason: Stall::Arbitration,
            priority: 0,
        }
    }
}

/// An instruction of the program.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Line {
    pub(super) cost: Cost,
    /// Executions.
    pub(super) count: u64,
    /// Wave clocks lost at it.
    pub(super) waited: u64,
}

const _: () = assert!(size_of::<Line>() == 64);

/// Memory operations of a wave that `s_waitcnt` can wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) vm: Outstanding,
    pub(super) lgkm: Outstanding,
}

impl Counts {
    /// Forgets the operations of an earlier wave.
    pub(super) fn clear(&mut self) {
        self.vm.clear();
        self.lgkm.clear();
    }
}

/// A place for a workgroup.
pub(super) struct Group<'a> {
    pub(super) ctx: Ctx<'a>,
    /// Its waves, in the order of their slots. They are used again for the next workgroup.
    pub(super) waves: Vec<Wave>,
    pub(super) id: u64,
    pub(super) requester: Requester,
    pub(super) live: u32,
    pub(super) arrived: u32,
    pub(super) begin: u64,
    pub(super) instructions: u64,
}

/// A wave slot whose wave is on a SIMD.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    /// Earliest next issue; [`NEVER`] at a barrier.
    pub(super) ready: u64,
    pub(super) slot: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Simd {
    /// Highest priority and oldest first.
    pub(super) waves: Vec<Waiting>,
    pub(super) vector_free: u64,
    pub(super) matrix_free: u64,
    pub(super) empty_since: u64,
}
