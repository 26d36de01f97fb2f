//! Which lines other compute units have brought into the shared caches.
//!
//! Goes in: for each allocation a kernel reads, how often workgroups that run at the same time read
//! the same lines. Comes out: whether the first access of the simulated compute unit to a line finds
//! it in L2, in the memory-side cache or in memory. Only the simulated unit's own accesses have real
//! tags; what the rest of the device has fetched is decided so that the fractions hold over all
//! requests, the repeated ones of the unit itself included.

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
    /// Requests that L2 owes to the memory-side cache, and that this owes to memory.
    owed: [f64; 2],
    /// Lines that the unit asked for first and that the memory-side cache served.
    lent: u64,
}

impl Sharing {
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
        self.ranges.insert(at, Range { shared, beyond_l2: 0, owed: [0.0; 2], lent: 0 });
    }

    fn find(&self, addr: u64) -> Option<usize> {
        let i = self.ranges.partition_point(|r| r.shared.base <= addr).checked_sub(1)?;
        (addr - self.ranges[i].shared.base < self.ranges[i].shared.len).then_some(i)
    }

    /// Whether a range holds `addr`.
    pub fn knows(&self, addr: u64) -> bool {
        self.find(addr).is_some()
    }

    /// Where the simulated compute unit finds the line at `addr` that its own accesses have not left
    /// in L2; `own` says that they have left it in the memory-side cache.
    pub fn level(&mut self, addr: u64, own: bool, device: &Device) -> Level {
        let otherwise = if own { Level::Mall } else { Level::Memory };
        let Some(i) = self.find(addr) else { return otherwise };
        let Range { shared, beyond_l2, owed: [l2, memory], lent } = &mut self.ranges[i];
        if shared.len <= device.l2 {
            // Each die fetches such a range once; so far, the unit has had its part of that to do.
            let fetched = (shared.len / device.line * device.dies) as f64 * device.begun;
            if *beyond_l2 as f64 >= fetched {
                return Level::L2;
            }
        }
        *l2 += 1.0 - shared.in_l2;
        if *l2 < 1.0 {
            return Level::L2;
        }
        *l2 -= 1.0;
        *beyond_l2 += 1;
        let mut first = 1.0 - shared.in_mall;
        if shared.len <= device.mall {
            let requests = *beyond_l2 as f64 / device.begun.max(f64::MIN_POSITIVE);
            first = first.min((shared.len / device.line) as f64 / requests);
        }
        *memory += first;
        if own || *memory < 1.0 {
            *lent += u64::from(!own);
            return Level::Mall;
        }
        *memory -= 1.0;
        Level::Memory
    }
}

impl Sharing {
    /// Lines that memory has provided to the unit by its last request beyond those that
    /// [`Sharing::level`] said: what is owed at the end, as far as it was lent. The repetitions of a
    /// line come after it, so that the fraction of them holds only later.
    pub fn unpaid(&self) -> u64 {
        self.ranges.iter().map(|range| range.lent.min(range.owed[1] as u64)).sum()
    }
}

/// What [`Sharing::level`] needs to know of the device and of how far the grid has come.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Part of the grid whose workgroups the simulated compute unit has begun.
    pub begun: f64,
    /// Bytes of the memory-side cache: once the requests of the whole grid add up to more than a range
    /// that it can hold, the rest of them are repetitions that it serves.
    pub mall: u64,
    /// Bytes of the L2 of a die: a range that it can hold is fetched once by each die, and comes from
    /// there whenever the unit gets round to it.
    pub l2: u64,
    /// Dies.
    pub dies: u64,
    /// Bytes of a line.
    pub line: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 1 << 20;

    fn count(s: &mut Sharing, lines: std::ops::Range<u64>, own: bool, begun: f64) -> [i32; 3] {
        let device = Device { begun, mall: 256 << 20, l2: 0, dies: 8, line: 128 };
        count_on(s, lines, own, &device)
    }

    fn count_on(
        s: &mut Sharing,
        lines: std::ops::Range<u64>,
        own: bool,
        device: &Device,
    ) -> [i32; 3] {
        let mut count = [0i32; 3];
        for line in lines {
            count[s.level(BASE + line * 128, own, device) as usize] += 1;
        }
        count
    }

    fn sharing(in_l2: f64, in_mall: f64) -> Sharing {
        Sharing::new(vec![Shared { base: BASE, len: 1 << 20, in_l2, in_mall }], 1.0, 1.0)
    }

    /// Half of the requests find the line in L2, three quarters of the rest in the memory-side cache:
    /// 0.5, 0.375 and 0.125 of 8192 lines. The unit runs the whole grid here.
    #[test]
    fn fractions_hold_over_many_lines() {
        let mut s = sharing(0.5, 0.75);
        assert_eq!(count(&mut s, 0..8192, false, 1.0), [4096, 3072, 1024]);
        // Outside the range nothing is known.
        assert_eq!(count(&mut s, 8192..8193, false, 1.0), [0, 0, 1]);
    }

    /// Every line is read twice, the second time by the unit itself: half of all requests are first
    /// ones, as the neighbours' fraction says.
    #[test]
    fn own_repetitions_count_towards_the_fractions() {
        let mut s = sharing(0.0, 0.5);
        let mut memory = 0;
        for pair in 0..64 {
            let lines = 16 * pair..16 * pair + 16;
            memory += count(&mut s, lines.clone(), false, 1.0)[Level::Memory as usize];
            memory += count(&mut s, lines, true, 1.0)[Level::Memory as usize];
        }
        assert!((1016..=1024).contains(&memory), "{memory} of 2048");
        assert_eq!(memory as u64 + s.unpaid(), 1024);
    }

    /// The unit reads lines twice that nobody else reads: its repetitions owe memory nothing.
    #[test]
    fn lines_of_the_unit_alone_are_paid_when_they_come() {
        let mut s = sharing(0.0, 0.0);
        for own in [false, true] {
            let [_, mall, memory] = count(&mut s, 0..512, own, 1.0);
            assert_eq!((mall, memory), if own { (512, 0) } else { (0, 512) });
        }
        assert_eq!(s.unpaid(), 0);
    }

    /// 1/256 of the grid asks for all 8192 lines of a range: the grid asks for each 256 times, and
    /// memory has to provide it once.
    #[test]
    fn a_range_comes_from_memory_only_once() {
        let mut s = sharing(0.0, 0.0);
        let [_, _, memory] = count(&mut s, 0..8192, false, 1.0 / 256.0);
        // The first 32 requests are not yet seen to be repetitions; after them it is 32 / n of the n-th.
        assert!((32..32 + 32 * 6).contains(&memory), "{memory}");
    }

    /// 1/256 of the grid asks for all 8192 lines of a range that L2 holds: the 8 dies fetch each line
    /// once, 65,536 lines in all, of which this part of the grid has 256 to fetch.
    #[test]
    fn a_range_that_l2_holds_is_fetched_once_by_each_die() {
        let mut s = sharing(0.0, 0.0);
        let device =
            Device { begun: 1.0 / 256.0, mall: 256 << 20, l2: 4 << 20, dies: 8, line: 128 };
        let [l2, mall, memory] = count_on(&mut s, 0..8192, false, &device);
        assert_eq!((l2, mall + memory), (8192 - 256, 256));
        // Memory provides a line to the first die that asks: 32 of these 256, and a few at the start.
        assert!((32..32 + 32 * 4).contains(&memory), "{memory}");
    }
}
