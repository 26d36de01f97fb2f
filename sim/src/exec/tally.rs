//! How often each instruction of a program was executed, counted by straight stretches: instructions
//! between two jumps are executed equally often.
//!
//! Goes in: the stretches as waves execute them. Comes out: a count for each instruction.

/// See the module.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By how much each instruction's count differs from that of the one before, modulo 2^64.
    differences: Vec<u64>,
}

impl Tally {
    /// Nothing executed yet, of a program of so many instructions.
    pub fn new(instructions: usize) -> Self {
        Tally { differences: vec![0; instructions + 1] }
    }

    /// Counts the instructions from `first` to before `end`.
    #[inline(always)]
    pub(super) fn add(&mut self, first: usize, end: usize) {
        for (at, change) in [(first, 1), (end, u64::MAX)] {
            if let Some(difference) = self.differences.get_mut(at) {
                *difference = difference.wrapping_add(change);
            }
        }
    }

    /// Executions of each instruction.
    pub fn counts(&self) -> Vec<u64> {
        let (_, differences) = self.differences.split_last().unwrap_or((&0, &[]));
        let counts = differences.iter().scan(0_u64, |count, difference| {
            *count = count.wrapping_add(*difference);
            Some(*count)
        });
        counts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_count_their_instructions() {
        let mut tally = Tally::new(5);
        // Two instructions, then four rounds of a loop of two, then the rest; once more the last one.
        tally.add(0, 2);
        for _ in 0..4 {
            tally.add(1, 3);
        }
        tally.add(3, 5);
        tally.add(4, 5);
        assert_eq!(tally.counts(), [1, 5, 4, 1, 2]);
    }
}
