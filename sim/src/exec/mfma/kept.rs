//! Unpacked operands of scaled and other rarer matrix operations, kept for the next one that multiplies
//! the same values: a tile of A meets several tiles of B and the other way round, and unpacking a
//! narrow operand costs as much as multiplying it.
//!
//! Goes in: an operand's registers, format and scales. Comes out: its panel, unpacked now or before.
//! What was kept is compared with the registers' present contents, so it cannot be stale.

use super::panel::{Layout, MAX_LEN};
use super::shape::Data;
use crate::exec::Lanes;

/// Most registers of an operand: 32 elements of 8 bits.
const REGISTERS: usize = 8;
/// Operands kept for A, and as many for B: one for each first register, modulo this.
const SLOTS: usize = 64;

/// The kept operands of a wave. A clone starts with none.
#[derive(Debug)]
pub(in crate::exec) struct Kept {
    sides: [Side; 2],
}

impl Kept {
    /// Those of A and those of B.
    pub(super) fn sides(&mut self) -> [&mut Side; 2] {
        self.sides.each_mut()
    }
}

/// The kept operands on one side.
#[derive(Debug)]
pub(super) struct Side([Option<Box<Entry>>; SLOTS]);

impl Default for Kept {
    fn default() -> Self {
        Kept { sides: [const { Side([const { None }; SLOTS]) }; 2] }
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept::default()
    }
}

#[derive(Debug)]
struct Entry {
    key: Key,
    regs: [Lanes; REGISTERS],
    panel: [f32; MAX_LEN],
}

/// What a panel depends on besides the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// Format of the elements.
    pub data: Data,
    pub layout: Layout,
    /// Codes of the block scales of the lanes, if there are any.
    pub scales: Option<[u8; 64]>,
}

impl Side {
    /// The panel of the operand in `regs`, the first of which has number `first`. `unpack` makes it
    /// if it is not here.
    #[inline(always)]
    pub fn panel(
        &mut self,
        first: usize,
        regs: &[Lanes],
        key: &Key,
        unpack: impl FnOnce(&mut [f32]),
    ) -> &[f32] {
        let len = regs.len().min(REGISTERS);
        let slot = &mut self.0[first % SLOTS];
        let known = slot.as_ref().is_some_and(|e| e.key == *key && e.regs[..len] == regs[..len]);
        let entry = slot.get_or_insert_with(|| Box::new(Entry::empty(*key)));
        if !known {
            entry.key = *key;
            entry.regs[..len].copy_from_slice(&regs[..len]);
            unpack(&mut entry.panel);
        }
        &entry.panel[..key.layout.len().min(MAX_LEN)]
    }
}

impl Entry {
    fn empty(key: Key) -> Self {
        Entry { key, regs: [Lanes::ZERO; REGISTERS], panel: [0.0; MAX_LEN] }
    }
}
