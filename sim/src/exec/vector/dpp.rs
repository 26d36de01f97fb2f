//! Data-parallel primitives: reading the first source from other lanes.
//!
//! Goes in: the DPP control, the source register and EXEC. Comes out: the moved register and the
//! lanes that may be written.

use crate::exec::{Lanes, WAVE};
use crate::isa::Dpp;

/// Lane that lane `i` reads, or `None` beyond the edge of its row or wave, or for a reserved
/// control.
fn source(ctrl: u16, i: usize) -> Option<usize> {
    let (row, column) = (i & !15, i & 15);
    let n = usize::from(ctrl & 15);
    match ctrl {
        // quad_perm
        0x000..=0x0ff => Some(i & !3 | usize::from(ctrl >> (2 * (i & 3)) & 3)),
        // row_shl, row_shr, row_ror
        0x101..=0x10f => (column + n < 16).then_some(i + n),
        0x111..=0x11f => column.checked_sub(n).map(|c| row | c),
        0x121..=0x12f => Some(row | (column + 16 - n) & 15),
        // wave_shl:1, wave_rol:1, wave_shr:1, wave_ror:1
        0x130 => (i + 1 < WAVE).then_some(i + 1),
        0x134 => Some((i + 1) % WAVE),
        0x138 => i.checked_sub(1),
        0x13c => Some((i + WAVE - 1) % WAVE),
        // row_mirror, row_half_mirror
        0x140 => Some(row | (15 - column)),
        0x141 => Some(i & !7 | (7 - (i & 7))),
        // row_bcast:15, row_bcast:31
        0x142 => row.checked_sub(1),
        0x143 => (i >= 32).then_some(31),
        // row_newbcast
        0x150..=0x15f => Some(row | n),
        _ => None,
    }
}

/// Whether a control value means something.
pub(super) fn known(ctrl: u16) -> bool {
    (0..WAVE).any(|i| source(ctrl, i).is_some())
}

/// Moves the lanes of each register in `operand` and returns the lanes that may be written. A
/// source lane that is switched off in `exec` counts as missing, like one beyond the edge: it
/// reads zero with `bound_ctrl` and disables the write without.
pub(super) fn apply(dpp: Dpp, operand: &mut [Lanes; 2], exec: u64) -> u64 {
    let old = *operand;
    let mut writable = 0;
    for i in 0..WAVE {
        let from = source(dpp.ctrl, i).filter(|&s| exec >> s & 1 == 1);
        for (new, old) in operand.iter_mut().zip(&old) {
            new.0[i] = from.map_or(0, |s| old.0[s]);
        }
        let enabled = dpp.row_mask >> (i / 16) & 1 == 1 && dpp.bank_mask >> (i / 4 % 4) & 1 == 1;
        if enabled && (from.is_some() || dpp.bound_ctrl) {
            writable |= 1 << i;
        }
    }
    writable
}
