//! What happened on the simulated compute unit, by cause.

use std::collections::BTreeMap;

use super::cost::KINDS;

/// Why a wave could not issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stall {
    /// `s_waitcnt` for vector memory.
    Vmcnt,
    /// `s_waitcnt` for LDS or scalar memory.
    Lgkmcnt,
    /// Other waves have not reached the barrier.
    Barrier,
    /// The matrix unit is busy.
    Matrix,
    /// The vector ALU is busy.
    Valu,
    /// The LDS queue is full.
    Lds,
    /// The vector memory queue or the wave's counter is full.
    Vmem,
    /// Instructions have not been fetched.
    Fetch,
    /// Another wave took the issue slot.
    Arbitration,
    /// `s_nop` and `s_sleep`, beyond the slot that they issue in: the distance that results of
    /// matrix operations need.
    Nop,
    /// A branch resolves, beyond the slot that it issues in.
    Branch,
}

/// Number of [`Stall`]s.
pub const STALLS: usize = 11;

impl Stall {
    /// All reasons, in order.
    pub const ALL: [Stall; STALLS] = [
        Stall::Vmcnt,
        Stall::Lgkmcnt,
        Stall::Barrier,
        Stall::Matrix,
        Stall::Valu,
        Stall::Lds,
        Stall::Vmem,
        Stall::Fetch,
        Stall::Arbitration,
        Stall::Nop,
        Stall::Branch,
    ];

    /// Name in statistics.
    pub const fn name(self) -> &'static str {
        match self {
            Stall::Vmcnt => "vmcnt",
            Stall::Lgkmcnt => "lgkmcnt",
            Stall::Barrier => "barrier",
            Stall::Matrix => "matrix",
            Stall::Valu => "valu",
            Stall::Lds => "lds",
            Stall::Vmem => "vmem",
            Stall::Fetch => "fetch",
            Stall::Arbitration => "arbitration",
            Stall::Nop => "nop",
            Stall::Branch => "branch",
        }
    }
}

/// Sums over all waves of the simulated compute unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Wave instructions by [`super::cost::Kind`].
    pub issued: [u64; KINDS],
    /// Wave clocks lost by [`Stall`].
    pub stalled: [u64; STALLS],
    /// Clocks that matrix units were busy with 16-bit and wider operands.
    pub matrix_wide: u64,
    /// Clocks that matrix units were busy with operands of at most 8 bits.
    pub matrix_narrow: u64,
    /// Clocks that vector ALUs were busy, matrix issue included.
    pub valu_busy: u64,
    /// Clocks that LDS bank conflicts added.
    pub lds_conflicts: u64,
    /// SIMD clocks without a resident wave.
    pub no_wave: u64,
}

impl Counters {
    /// Wave clocks lost by reason; bank conflicts, which delay data and not issue, are among them.
    pub fn stalls(&self) -> BTreeMap<String, u64> {
        let by_reason = Stall::ALL.iter().zip(self.stalled).map(|(s, n)| (s.name().to_owned(), n));
        by_reason.chain([("lds_conflict".to_owned(), self.lds_conflicts)]).collect()
    }

    /// Wave instructions in all.
    pub fn instructions(&self) -> u64 {
        self.issued.iter().sum()
    }
}
