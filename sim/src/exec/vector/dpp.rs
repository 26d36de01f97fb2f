//! Data-parallel primitives: reading the first source from other lanes.
//!
//! Goes in: the DPP control, the source register and EXEC. Comes out: the moved register and the
//! lanes that may be written.

use std::sync::LazyLock;

#[cfg(target_arch = "x86_64")]
use crate::exec::host;
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

/// What a control does.
struct Moves {
    /// Lane that each lane reads.
    from: [u8; WAVE],
    /// Lanes that read one at all.
    present: u64,
    /// The same within a row of 16 lanes, if it is the same in all rows.
    row: Option<[u32; ROW]>,
}

/// Lanes of a row.
const ROW: usize = 16;

/// By control.
static MOVES: LazyLock<Vec<Moves>> = LazyLock::new(|| {
    let moves = |ctrl| {
        let from: [u8; WAVE] = std::array::from_fn(|i| source(ctrl, i).unwrap_or(i) as u8);
        let present = (0..WAVE).fold(0, |m, i| m | u64::from(source(ctrl, i).is_some()) << i);
        let row: [u32; ROW] = std::array::from_fn(|i| u32::from(from[i]));
        let alike = |i: usize| usize::from(from[i]) == i / ROW * ROW + row[i % ROW] as usize;
        Moves { from, present, row: (0..WAVE).all(alike).then_some(row) }
    };
    (0..0x200).map(moves).collect()
});

/// Whether a control value means something.
pub(super) fn known(ctrl: u16) -> bool {
    MOVES.get(usize::from(ctrl)).is_some_and(|moves| moves.present != 0)
}

/// Moves the lanes of each register in `operand` and returns the lanes that may be written. A
/// source lane that is switched off in `exec` counts as missing, like one beyond the edge: it
/// reads zero with `bound_ctrl` and disables the write without.
pub(super) fn apply(dpp: Dpp, operand: &mut [Lanes], exec: u64) -> u64 {
    let Some(moves) = MOVES.get(usize::from(dpp.ctrl)) else { return 0 };
    let mut present = moves.present;
    if exec != u64::MAX {
        let active = |i: usize| exec >> (moves.from[i] % 64) & 1;
        present &= (0..WAVE).fold(0, |m, i| m | active(i) << i);
    }
    for register in operand {
        if !move_rows(register, moves) {
            let old = *register;
            for (new, from) in register.0.iter_mut().zip(moves.from) {
                *new = old.0[usize::from(from) % WAVE];
            }
        }
        if present != u64::MAX {
            for (i, new) in register.0.iter_mut().enumerate() {
                *new &= ((present >> i & 1) as u32).wrapping_neg();
            }
        }
    }
    let rows = spread_bits(dpp.row_mask, 0xffff, 16);
    let banks = spread_bits(dpp.bank_mask, 0xf, 4).wrapping_mul(0x0001_0001_0001_0001);
    let written = if dpp.bound_ctrl { u64::MAX } else { present };
    rows & banks & written
}

/// Moves the lanes of a register row by row; false if they do not move so, or the host cannot.
fn move_rows(register: &mut Lanes, moves: &Moves) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(row) = &moves.row
        && host::wide()
    {
        // SAFETY: the host has AVX2.
        unsafe { avx::move_rows(register, row) };
        return true;
    }
    let _ = (register, moves.row);
    false
}

#[cfg(target_arch = "x86_64")]
mod avx {
    use std::arch::x86_64::*;

    use super::{Lanes, ROW};

    /// Lane `i` of each row becomes lane `from[i]` of the same row.
    #[target_feature(enable = "avx2")]
    pub fn move_rows(register: &mut Lanes, from: &[u32; ROW]) {
        for row in register.0.as_chunks_mut::<ROW>().0 {
            // SAFETY: both halves of arrays of 16 dwords.
            unsafe {
                let half = |i: usize| _mm256_loadu_si256(row.as_ptr().add(8 * i).cast());
                let (low, high) = (half(0), half(1));
                for i in 0..2 {
                    // The permutation looks at three bits of each index; the fourth chooses the half.
                    let from = _mm256_loadu_si256(from.as_ptr().add(8 * i).cast());
                    let choose = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(from));
                    let low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, from));
                    let high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, from));
                    let moved = _mm256_blendv_ps(low, high, choose);
                    _mm256_storeu_ps(row.as_mut_ptr().add(8 * i).cast(), moved);
                }
            }
        }
    }
}

/// `ones` shifted by `step` for each set bit of a 4-bit mask.
fn spread_bits(mask: u8, ones: u64, step: u32) -> u64 {
    (0..4).fold(0, |m, bit| m | if mask >> bit & 1 == 1 { ones << (step * bit) } else { 0 })
}
