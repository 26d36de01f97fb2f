//! Lane masks as registers and back.
//!
//! Goes in: 64 bits, or 64 lanes of all ones or zero. Comes out: the other one.

use crate::exec::Lanes;

/// All ones in the lanes of `mask`, zero elsewhere.
#[inline(always)]
pub(super) fn spread(mask: u64, to: &mut Lanes) {
    for (half, lanes) in to.0.as_chunks_mut::<32>().0.iter_mut().enumerate() {
        let word = (mask >> (32 * half)) as u32;
        for (i, lane) in lanes.iter_mut().enumerate() {
            let bit = 1 << i;
            *lane = if word & bit == bit { u32::MAX } else { 0 };
        }
    }
}

/// Writes `from` to the lanes of `mask`.
#[inline(always)]
pub(in crate::exec) fn merge(to: &mut Lanes, from: &Lanes, mask: u64) {
    if mask == u64::MAX {
        *to = *from;
        return;
    }
    let halves = to.0.as_chunks_mut::<32>().0.iter_mut().zip(from.0.as_chunks::<32>().0);
    for (half, (to, from)) in halves.enumerate() {
        let word = (mask >> (32 * half)) as u32;
        for (i, (to, from)) in to.iter_mut().zip(from).enumerate() {
            let bit = 1 << i;
            let take = if word & bit == bit { u32::MAX } else { 0 };
            *to = (*to & !take) | (*from & take);
        }
    }
}

/// The sign bits of the lanes.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(in crate::exec) fn gather(lanes: &Lanes) -> u64 {
    use std::arch::x86_64::{_mm_load_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32};
    let mut mask = 0;
    for (k, part) in lanes.0.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: SSE2 is part of x86-64; the chunk holds four aligned vectors.
        let bits = unsafe {
            let at = |i: usize| _mm_load_si128(part.as_ptr().add(4 * i).cast());
            let (low, high) = (_mm_packs_epi32(at(0), at(1)), _mm_packs_epi32(at(2), at(3)));
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        mask |= u64::from(bits as u16) << (16 * k);
    }
    mask
}

/// The sign bits of the lanes.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(in crate::exec) fn gather(lanes: &Lanes) -> u64 {
    (0..64).fold(0, |mask, i| mask | u64::from(lanes.0[i] >> 31) << i)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::WAVE;

    #[test]
    fn a_mask_survives_the_way_through_a_register() {
        let mut lanes = Lanes::ZERO;
        for mask in [0, 1, u64::MAX, 0x8000_0000_0000_0001, 0x0123_4567_89ab_cdef] {
            spread(mask, &mut lanes);
            for i in 0..WAVE {
                assert_eq!(lanes.0[i], if mask >> i & 1 == 1 { u32::MAX } else { 0 });
            }
            assert_eq!(gather(&lanes), mask);
        }
    }

    #[test]
    fn a_merge_leaves_the_other_lanes_alone() {
        let from = Lanes(std::array::from_fn(|i| i as u32));
        for mask in [0, u64::MAX, 0xffff_0000_0f0f_aaaa] {
            let mut to = Lanes([1000; WAVE]);
            merge(&mut to, &from, mask);
            for i in 0..WAVE {
                assert_eq!(to.0[i], if mask >> i & 1 == 1 { i as u32 } else { 1000 });
            }
        }
    }
}
