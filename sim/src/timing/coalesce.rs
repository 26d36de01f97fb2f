//! The aligned segments of memory that a wave instruction touches.
//!
//! Goes in: the lane addresses of an access. Comes out: the distinct cache lines (or store sectors),
//! and how many lookups they take, since addresses are processed a group of lanes at a time.

use crate::exec::{MemAccess, WAVE};

/// Room for the segments of 64 lanes that each straddle a boundary, twice.
const CAPACITY: usize = 4 * WAVE;

/// Distinct segments in order of first touch.
#[derive(Clone, Debug)]
pub struct Segments {
    list: [u64; CAPACITY],
    len: usize,
    /// Those of the group of lanes in hand.
    of_group: [u64; CAPACITY],
    /// Lookups: the distinct segments of each group of lanes, summed over the groups.
    pub lookups: u32,
}

impl Default for Segments {
    fn default() -> Self {
        Segments { list: [0; CAPACITY], len: 0, of_group: [0; CAPACITY], lookups: 0 }
    }
}

impl Segments {
    /// Segment numbers (address divided by the segment size).
    pub fn as_slice(&self) -> &[u64] {
        &self.list[..self.len]
    }

    /// Collects the segments of `1 << shift` bytes that `access` touches; `group` lanes are
    /// processed together.
    pub fn collect(&mut self, access: &MemAccess, shift: u32, group: u32) {
        self.lookups = 0;
        let bytes = u64::from(access.bytes.max(1));
        let group = (group as usize).clamp(1, WAVE);
        let (mut all_len, mut all_last) = (0, 0);
        for first in (0..WAVE).step_by(group) {
            let lanes = first..(first + group).min(WAVE);
            let (mut found, mut last) = (0, 0);
            // No segment has this number.
            let mut before = u64::MAX;
            for (lane, &addr) in lanes.clone().zip(&access.addr[lanes]) {
                let begin = addr >> shift;
                let end = addr.saturating_add(bytes - 1) >> shift;
                // Mostly a lane lies where the one before it does.
                if access.mask >> lane & 1 == 0 || begin == before && end == before {
                    continue;
                }
                before = end;
                for segment in begin..end + 1 {
                    add(&mut self.of_group, &mut found, &mut last, segment);
                }
            }
            self.lookups += found as u32;
            for &segment in &self.of_group[..found] {
                add(&mut self.list, &mut all_len, &mut all_last, segment);
            }
        }
        self.len = all_len;
    }
}

/// Adds `segment` to the first `len` of `list` if it is not among them; `highest` is the largest of
/// them. Addresses mostly ascend with the lanes: what is beyond the largest so far is new.
#[inline(always)]
fn add(list: &mut [u64; CAPACITY], len: &mut usize, highest: &mut u64, segment: u64) {
    let known = match *len {
        0 => false,
        _ if segment > *highest => false,
        n => list[n - 1] == segment || list[..n].contains(&segment),
    };
    if !known && *len < CAPACITY {
        list[*len] = segment;
        *len += 1;
        *highest = segment.max(*highest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::MemKind;

    fn segments(bytes: u32, address: impl Fn(u64) -> u64, shift: u32) -> (usize, u32) {
        let mut access =
            MemAccess { kind: MemKind::Load, mask: u64::MAX, bytes, ..Default::default() };
        for lane in 0..WAVE {
            access.addr[lane] = address(lane as u64);
        }
        let mut s = Segments::default();
        s.collect(&access, shift, 16);
        (s.as_slice().len(), s.lookups)
    }

    /// 64 lanes of 16 B are 1024 B: 8 lines of 128 B, two for each group of 16 lanes.
    #[test]
    fn a_contiguous_dwordx4_load_touches_eight_lines() {
        assert_eq!(segments(16, |l| 16 * l, 7), (8, 8));
        // Off by 16 B it touches nine; each group of 16 lanes straddles three.
        assert_eq!(segments(16, |l| 16 + 16 * l, 7), (9, 12));
    }

    /// All lanes in one line: one line, but each of the four groups looks it up.
    #[test]
    fn a_broadcast_touches_one_line() {
        assert_eq!(segments(4, |_| 4096, 7), (1, 4));
    }

    #[test]
    fn a_large_stride_touches_a_line_for_each_lane() {
        assert_eq!(segments(4, |l| 4096 * l, 7), (64, 64));
    }

    /// 16 lanes of 2 B are 32 B; four such rows 1024 B apart touch four sectors of 64 B.
    #[test]
    fn a_narrow_store_touches_a_sector_for_each_row() {
        assert_eq!(segments(2, |l| 1024 * (l / 16) + 2 * (l % 16), 6), (4, 4));
    }
}
