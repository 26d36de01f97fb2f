//! A queue of bounded depth in front of a unit.
//!
//! Goes in: when each instruction leaves the queue. Comes out: from when the next one finds room.

/// Deepest queue of the parameter files.
const CAPACITY: usize = 64;

/// Departure times of the last `depth` instructions.
#[derive(Clone, Debug)]
pub struct Fifo {
    leaves: [u64; CAPACITY],
    depth: usize,
    next: usize,
}

impl Fifo {
    /// A queue of `depth` places, at least 1 and at most 64.
    pub fn new(depth: u32) -> Self {
        Fifo { leaves: [0; CAPACITY], depth: (depth as usize).clamp(1, CAPACITY), next: 0 }
    }

    /// From when there is room for one more.
    pub fn room_at(&self) -> u64 {
        self.leaves[self.next]
    }

    /// Adds an instruction that leaves at `time`.
    pub fn push(&mut self, time: u64) {
        self.leaves[self.next] = time;
        self.next = (self.next + 1) % self.depth;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_has_room_when_its_oldest_instruction_leaves() {
        let mut f = Fifo::new(2);
        f.push(10);
        assert_eq!(f.room_at(), 0);
        f.push(20);
        assert_eq!(f.room_at(), 10);
        f.push(30);
        assert_eq!(f.room_at(), 20);
    }
}
