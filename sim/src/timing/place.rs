//! Where a line sits in the caches, whatever the allocator did.
//!
//! Goes in: line numbers of device addresses. Comes out: line numbers that depend only on the order
//! in which a launch first touches its allocations, so that the same launch takes the same time on
//! every run, after any history of allocations and beside any other user of the device.

use crate::memory::AddressSpace;

/// First line number handed out, and the lines left free between two allocations.
const GAP: u64 = 1 << 9;

/// Lines of one allocation.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u64,
    lines: u64,
    placed: u64,
}

/// Places by first touch.
#[derive(Clone, Debug)]
pub struct Places {
    line_shift: u32,
    spans: Vec<Span>,
    last: usize,
    next: u64,
}

impl Places {
    /// No allocation placed yet; lines are of `1 << line_shift` bytes.
    pub fn new(line_shift: u32) -> Self {
        Places { line_shift, spans: Vec::new(), last: 0, next: GAP }
    }

    /// The place of `line`; itself where no allocation holds it.
    #[inline]
    pub fn of(&mut self, line: u64, memory: &AddressSpace) -> u64 {
        match self.spans.get(self.last) {
            Some(span) if line.wrapping_sub(span.first) < span.lines => {
                span.placed + (line - span.first)
            }
            _ => self.search(line, memory),
        }
    }

    fn search(&mut self, line: u64, memory: &AddressSpace) -> u64 {
        let holds = |span: &Span| line.wrapping_sub(span.first) < span.lines;
        let found = self.spans.iter().position(holds);
        let at = match found {
            Some(at) => at,
            None => {
                let Some(region) = memory.region(line << self.line_shift) else { return line };
                let first = region.base >> self.line_shift;
                let last = region.base.saturating_add(region.len - 1) >> self.line_shift;
                let lines = last - first + 1;
                self.spans.push(Span { first, lines, placed: self.next });
                self.next = (self.next + lines).next_multiple_of(GAP) + GAP;
                self.spans.len() - 1
            }
        };
        self.last = at;
        self.spans[at].placed + (line - self.spans[at].first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_order_of_first_touch_and_not_the_addresses() {
        let places = |history: u64| {
            let mut memory = AddressSpace::new(1 << 30);
            for _ in 0..history {
                memory.alloc(100_000).unwrap();
            }
            let (a, b) = (memory.alloc(1000).unwrap() >> 7, memory.alloc(70_000).unwrap() >> 7);
            let mut places = Places::new(7);
            [b + 5, a, b, a + 1, b + 6].map(|line| places.of(line, &memory))
        };
        // 70,000 bytes are 547 lines: the next place is 512 + 547, rounded up to 1536, and a gap.
        assert_eq!(places(0), [517, 2048, 512, 2049, 518]);
        assert_eq!(places(3), places(0));
    }

    #[test]
    fn a_line_outside_every_allocation_stays_where_it_is() {
        let memory = AddressSpace::new(1 << 30);
        assert_eq!(Places::new(7).of(1234, &memory), 1234);
    }
}
