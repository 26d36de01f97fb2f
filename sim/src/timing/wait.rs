//! The counters of outstanding memory operations that `s_waitcnt` waits for.
//!
//! Goes in: the completion time of each operation as it issues. Comes out: whether a wait is met at
//! a given time, or when it will be.

/// Most operations a counter of this hardware can hold.
const CAPACITY: usize = 64;

/// One counter of one wave.
#[derive(Clone, Debug)]
pub struct Outstanding {
    times: [u64; CAPACITY],
    len: usize,
    last_in_order: u64,
}

impl Default for Outstanding {
    fn default() -> Self {
        Outstanding { times: [0; CAPACITY], len: 0, last_in_order: 0 }
    }
}

impl Outstanding {
    /// Adds an operation that completes at `done`, but not before earlier operations that were added
    /// in order. The caller keeps within the hardware's limit with [`Outstanding::until`].
    pub fn add_in_order(&mut self, done: u64) {
        self.last_in_order = self.last_in_order.max(done);
        self.add(self.last_in_order);
    }

    /// Adds an operation that completes at `done` whatever the others do.
    pub fn add(&mut self, done: u64) {
        if let Some(slot) = self.times.get_mut(self.len) {
            *slot = done;
            self.len += 1;
        }
    }

    /// The time from which at most `allowed` operations are outstanding; `now` if that is so now.
    pub fn until(&mut self, allowed: usize, now: u64) -> u64 {
        self.retire(now);
        if self.len <= allowed {
            return now;
        }
        let live = &mut self.times[..self.len];
        live.sort_unstable();
        live[self.len - allowed - 1]
    }

    fn retire(&mut self, now: u64) {
        let mut kept = 0;
        for i in 0..self.len {
            if self.times[i] > now {
                self.times[kept] = self.times[i];
                kept += 1;
            }
        }
        self.len = kept;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_operations_complete_no_earlier_than_their_predecessors() {
        let mut c = Outstanding::default();
        c.add_in_order(100);
        c.add_in_order(50);
        assert_eq!(c.until(0, 0), 100);
        assert_eq!(c.until(1, 0), 100);
        assert_eq!(c.until(2, 0), 0);
    }

    /// Completion at 30, 10, 20: two left from 10 on, one from 20, none from 30.
    #[test]
    fn a_wait_for_n_is_met_when_n_are_left() {
        let mut c = Outstanding::default();
        for done in [30, 10, 20] {
            c.add(done);
        }
        assert_eq!(c.until(2, 5), 10);
        assert_eq!(c.until(1, 5), 20);
        assert_eq!(c.until(0, 5), 30);
        assert_eq!(c.until(1, 25), 25);
    }
}
