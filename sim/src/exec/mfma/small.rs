//! The 4x4 shapes with 16 blocks: output register `r` holds row `r` of every block, lane
//! `4 * block + column`.

use crate::exec::Lanes;

/// Adds the products of all blocks, each of which has `k` rows of four in the panels; `source` names
/// the block of A that a block multiplies.
#[inline(always)]
pub(super) fn multiply(
    acc: &mut [Lanes],
    [a, b]: [&[f32]; 2],
    k: usize,
    source: impl Fn(usize) -> usize,
) {
    for (r, acc) in acc.iter_mut().enumerate().take(4) {
        for (block, acc) in acc.0.chunks_exact_mut(4).enumerate() {
            let a = a.chunks_exact(4).skip(source(block) * k);
            for (ra, rb) in a.zip(b.chunks_exact(4).skip(block * k)).take(k) {
                for (acc, y) in acc.iter_mut().zip(rb) {
                    *acc = ra[r].mul_add(*y, f32::from_bits(*acc)).to_bits();
                }
            }
        }
    }
}
