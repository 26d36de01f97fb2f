//! The counters of outstanding memory operations that `s_waitcnt` waits for.
//!
//! Goes in: the completion time of each operation as it issues. Comes out: whether a wait is met at
//! a given time, or when it will be.

/// Most operations a counter of this hardware can hold.
const CAPACITY: usize = 64;

/// One counter of one wave.
#[derive(Clone, Debug)]
pub struct Outstanding {
    /// Completion times in ascending order, from `first` on.
    times: [u64; CAPACITY],
    first: usize,
    len: usize,
    last_in_order: u64,
}

impl Default for Outstanding {
    fn default() -> Self {
        Outstanding { times: [0; CAPACITY], first: 0, len: 0, last_in_order: 0 }
    }
}

impl Outstanding {
    /// Forgets all operations.
    pub fn clear(&mut self) {
        (self.first, self.len, self.last_in_order) = (0, 0, 0);
    }

    /// Adds an operation that completes at `done`, but not before earlier operations that were added
    /// in order. The caller keeps within the hardware's limit with [`Outstanding::until`].
    pub fn add_in_order(&mut self, done: u64) {
        self.last_in_order = self.last_in_order.max(done);
        self.add(self.last_in_order);
    }

    /// Adds an operation that completes at `done` whatever the others do.
    pub fn add(&mut self, done: u64) {
        if self.len == CAPACITY {
            return;
        }
        if self.first + self.len == CAPACITY {
            self.times.copy_within(self.first.., 0);
            self.first = 0;
        }
        let live = &mut self.times[self.first..=self.first + self.len];
        self.len += 1;
        let mut at = live.len() - 1;
        while at > 0 && live[at - 1] > done {
            live[at] = live[at - 1];
            at -= 1;
        }
        live[at] = done;
    }

    /// The time from which at most `allowed` operations are outstanding; `now` if that is so now.
    pub fn until(&mut self, allowed: usize, now: u64) -> u64 {
        while self.len > 0 && self.times[self.first] <= now {
            self.first += 1;
            self.len -= 1;
        }
        if self.len <= allowed {
            return now;
        }
        self.times[self.first + self.len - allowed - 1]
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

    /// Each operation completes 100 clk after it issues, ten clk after the one before: ten are
    /// outstanding at any time, many more than the counter holds pass through it.
    #[test]
    fn operations_pass_through_without_end() {
        let mut c = Outstanding::default();
        for now in (0..10_000).step_by(10) {
            c.add(now + 100);
            let outstanding = (now / 10 + 1).min(10) as usize;
            assert_eq!(c.until(outstanding, now), now);
            assert_eq!(c.until(outstanding - 1, now), now.saturating_sub(90) + 100);
        }
    }
}
