//! The 4x4 shapes with 16 blocks: output register `r` holds row `r` of every block, lane
//! `4 * block + column`.

use crate::exec::{Lanes, WAVE};

/// Adds the products of all blocks; `source` names the block of A that a block multiplies.
#[inline(always)]
pub(super) fn multiply(acc: &mut [Lanes], a: &[f32], b: &[f32], source: impl Fn(usize) -> usize) {
    for (ra, rb) in a.chunks_exact(WAVE).zip(b.chunks_exact(WAVE)) {
        for (r, acc) in acc.iter_mut().enumerate().take(4) {
            for (lane, (acc, y)) in acc.0.iter_mut().zip(rb).enumerate() {
                let x = ra[4 * source(lane / 4) % WAVE + r];
                *acc = x.mul_add(*y, f32::from_bits(*acc)).to_bits();
            }
        }
    }
}
