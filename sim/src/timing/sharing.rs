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
    ranges: Vec<Range>,
    /// Distinct lines over accesses of the workgroups that run at the same time on one die; 1 where
    /// nothing is shared.
    pub unique_in_xcd: f64,
    /// The same over neighbouring workgroups of all dies.
    pub unique_in_device: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Range {
    shared: Shared,
    /// Requests of the simulated compute unit that L2 could not serve.
    beyond_l2: u64,
}

impl Sharing {
    /// Nothing is shared.
    #[cfg(test)]
    pub fn none() -> Self {
        Sharing { ranges: Vec::new(), unique_in_xcd: 1.0, unique_in_device: 1.0 }
    }

    /// These ranges, and the overall fractions of distinct lines.
    pub fn new(ranges: Vec<Shared>, unique_in_xcd: f64, unique_in_device: f64) -> Self {
        let mut sharing = Sharing { ranges: Vec::new(), unique_in_xcd, unique_in_device };
        for range in ranges {
            sharing.add(range);
        }
        sharing
    }

    /// Adds a range that does not overlap those already there.
    pub fn add(&mut self, shared: Shared) {
        let at = self.ranges.partition_point(|r| r.shared.base <= shared.base);
        self.ranges.insert(at, Range { shared, beyond_l2: 0 });
    }

    fn find(&self, addr: u64) -> Option<usize> {
        let i = self.ranges.partition_point(|r| r.shared.base <= addr).checked_sub(1)?;
        (addr - self.ranges[i].shared.base < self.ranges[i].shared.len).then_some(i)
    }

    /// Whether a range holds `addr`.
    pub fn knows(&self, addr: u64) -> bool {
        self.find(addr).is_some()
    }

    /// Where the simulated compute unit finds a line of `1 << shift` bytes that it has not touched.
    /// `begun` is the part of the grid whose workgroups it has begun, `mall` the size of the
    /// memory-side cache: once the requests of the whole grid add up to more than a range that this
    /// cache can hold, the rest of them are repetitions that it serves.
    pub fn level(&mut self, line: u64, shift: u32, begun: f64, mall: u64) -> Level {
        let Some(i) = self.find(line << shift) else { return Level::Memory };
        let Range { shared, beyond_l2 } = &mut self.ranges[i];
        // Multiplicative hash; its upper bits are spread evenly over [0, 1).
        let hash = (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / (1u64 << 24) as f64;
        if hash < shared.in_l2 {
            return Level::L2;
        }
        *beyond_l2 += 1;
        let mut first = 1.0 - shared.in_mall;
        if shared.len <= mall {
            let requests = *beyond_l2 as f64 / begun.max(f64::MIN_POSITIVE);
            first = first.min((shared.len >> shift) as f64 / requests);
        }
        // What is left of the hash is again spread evenly.
        let hash = (hash - shared.in_l2) / (1.0 - shared.in_l2);
        if hash < first { Level::Memory } else { Level::Mall }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MALL: u64 = 256 << 20;

    fn count(s: &mut Sharing, first: u64, lines: u64, begun: f64) -> [i32; 3] {
        let mut count = [0i32; 3];
        for line in first..first + lines {
            count[s.level(line, 7, begun, MALL) as usize] += 1;
        }
        count
    }

    /// Half of the accesses find the line in L2, three quarters of the rest in the memory-side
    /// cache: 0.5, 0.375 and 0.125 of 8192 lines, within 2%. The unit runs the whole grid here.
    #[test]
    fn fractions_hold_over_many_lines() {
        let range = Shared { base: 1 << 20, len: 1 << 20, in_l2: 0.5, in_mall: 0.75 };
        let mut s = Sharing::new(vec![range], 1.0, 1.0);
        let first = (1u64 << 20) >> 7;
        let found = count(&mut s, first, 8192, 1.0);
        for (found, expected) in found.iter().zip([4096, 3072, 1024]) {
            assert!((found - expected).abs() < 164, "{found} against {expected}");
        }
        assert_eq!(count(&mut s, first - 1, 1, 1.0), [0, 0, 1]);
        assert_eq!(count(&mut s, first + 8192, 1, 1.0), [0, 0, 1]);
    }

    /// 1/256 of the grid asks for all 8192 lines of a range: the grid asks for each 256 times, and
    /// memory has to provide it once.
    #[test]
    fn a_range_comes_from_memory_only_once() {
        let range = Shared { base: 1 << 20, len: 1 << 20, in_l2: 0.0, in_mall: 0.0 };
        let mut s = Sharing::new(vec![range], 1.0, 1.0);
        let [_, _, memory] = count(&mut s, (1u64 << 20) >> 7, 8192, 1.0 / 256.0);
        // The first 32 requests are not yet seen to be repetitions.
        assert!(memory > 32 && memory < 400, "{memory}");
    }
}
