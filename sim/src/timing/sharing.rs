//! Which lines other compute units have brought into the shared caches.
//!
//! Goes in: for each allocation a kernel reads, how often workgroups that run at the same time read
//! the same lines. Comes out: whether the first access of the simulated compute unit to a line finds
//! it in L2, in the memory-side cache or in memory. Only the simulated unit's own accesses have real
//! tags; for the rest of the device a line is decided by its number, so that the fractions hold on
//! average and the same line always gets the same answer.

/// Where the first access of the simulated compute unit finds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Another compute unit of the die has fetched it.
    L2,
    /// Another die has fetched it.
    Mall,
    /// Nobody has.
    Memory,
}

/// How a range of device memory is shared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// First byte.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// Fraction of a die's accesses to a line that are not the first: those find it in L2.
    pub in_l2: f64,
    /// Fraction of the dies' first accesses that are not the device's first.
    pub in_mall: f64,
}

/// Sharing of all ranges that a kernel reads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sharing {
    ranges: Vec<Shared>,
    /// Distinct lines over accesses of the workgroups that run at the same time on one die; 1 where
    /// nothing is shared.
    pub unique_in_xcd: f64,
    /// The same over the whole device.
    pub unique_in_device: f64,
}

impl Sharing {
    /// Nothing is shared.
    pub fn none() -> Self {
        Sharing { ranges: Vec::new(), unique_in_xcd: 1.0, unique_in_device: 1.0 }
    }

    /// These ranges, and the overall fractions of distinct lines.
    pub fn new(mut ranges: Vec<Shared>, unique_in_xcd: f64, unique_in_device: f64) -> Self {
        ranges.sort_by_key(|r| r.base);
        Sharing { ranges, unique_in_xcd, unique_in_device }
    }

    /// Where the simulated compute unit finds a line of `1 << shift` bytes that it has not touched.
    pub fn level(&self, line: u64, shift: u32) -> Level {
        let addr = line << shift;
        let after = self.ranges.partition_point(|r| r.base <= addr);
        let Some(range) = after.checked_sub(1).and_then(|i| self.ranges.get(i)) else {
            return Level::Memory;
        };
        if addr - range.base >= range.len {
            return Level::Memory;
        }
        // Multiplicative hash; its upper bits are spread evenly over [0, 1).
        let hash = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64;
        if hash < range.in_l2 {
            Level::L2
        } else if hash < range.in_l2 + (1.0 - range.in_l2) * range.in_mall {
            Level::Mall
        } else {
            Level::Memory
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the accesses find the line in L2, three quarters of the rest in the memory-side
    /// cache: 0.5, 0.375 and 0.125 of 8192 lines, within 2%.
    #[test]
    fn fractions_hold_over_many_lines() {
        let range = Shared { base: 1 << 20, len: 1 << 20, in_l2: 0.5, in_mall: 0.75 };
        let s = Sharing::new(vec![range], 1.0, 1.0);
        let first = (1u64 << 20) >> 7;
        let mut count = [0i32; 3];
        for line in first..first + 8192 {
            count[s.level(line, 7) as usize] += 1;
        }
        for (found, expected) in count.iter().zip([4096, 3072, 1024]) {
            assert!((found - expected).abs() < 164, "{count:?}");
        }
        assert_eq!(s.level(first - 1, 7), Level::Memory);
        assert_eq!(s.level(first + 8192, 7), Level::Memory);
    }
}
