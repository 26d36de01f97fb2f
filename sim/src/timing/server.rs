//! Bandwidth as a server: work waits for what was accepted before it.
//!
//! Goes in: the time and the amount of each request, in time order. Comes out: how long after the
//! request its last byte has passed. A server that shares a larger resource may save up its share
//! while it is idle, since other compute units leave theirs unused at different times.

/// A resource that passes a fixed amount per clock.
#[derive(Clone, Debug)]
pub struct Server {
    per_unit: f64,
    burst: f64,
    free: f64,
}

impl Server {
    /// A server that passes `rate` units per clock and saves up at most `burst` idle clocks.
    pub fn new(rate: f64, burst: u32) -> Self {
        Server { per_unit: 1.0 / rate, burst: f64::from(burst), free: 0.0 }
    }

    /// Accepts `amount` at `now`; returns the clocks until it has passed.
    pub fn serve(&mut self, now: u64, amount: f64) -> f64 {
        let now = now as f64;
        self.free = self.free.max(now - self.burst) + amount * self.per_unit;
        (self.free - now).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 B/clk: 100 B take 10 clk; a second 100 B at the same time wait for them.
    #[test]
    fn requests_queue_behind_each_other() {
        let mut s = Server::new(10.0, 0);
        assert_eq!(s.serve(0, 100.0), 10.0);
        assert_eq!(s.serve(0, 100.0), 20.0);
        assert_eq!(s.serve(15, 100.0), 15.0);
        assert_eq!(s.serve(1000, 100.0), 10.0);
    }

    /// Idle for 50 clk of which 20 may be saved: 200 B pass at once, the next 100 B take 10 clk.
    #[test]
    fn an_idle_server_saves_up_at_most_its_burst() {
        let mut s = Server::new(10.0, 20);
        assert_eq!(s.serve(0, 0.0), 0.0);
        assert_eq!(s.serve(50, 200.0), 0.0);
        assert_eq!(s.serve(50, 100.0), 10.0);
    }

    /// The kernel starts with all compute units active at once: nothing is saved before it.
    #[test]
    fn nothing_is_saved_before_the_start() {
        let mut s = Server::new(10.0, 1000);
        assert_eq!(s.serve(0, 100.0), 10.0);
    }
}
