//! Live and peak bytes of one device's allocations.

use std::sync::Mutex;

use crate::units::Bytes;

/// Counts what is allocated through one [`super::Device`].
#[derive(Debug, Default)]
pub(super) struct Tracker(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    live: u64,
    peak: u64,
}

impl Tracker {
    pub(super) fn add(&self, bytes: u64) {
        let mut counts = self.lock();
        counts.live = counts.live.saturating_add(bytes);
        counts.peak = counts.peak.max(counts.live);
    }

    pub(super) fn remove(&self, bytes: u64) {
        let mut counts = self.lock();
        counts.live = counts.live.saturating_sub(bytes);
    }

    /// Starts a new peak at what is live now.
    pub(super) fn reset_peak(&self) {
        let mut counts = self.lock();
        counts.peak = counts.live;
    }

    pub(super) fn live(&self) -> Bytes {
        Bytes(self.lock().live)
    }

    pub(super) fn peak(&self) -> Bytes {
        Bytes(self.lock().peak)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Counts> {
        // The counters stay consistent at every step, so a poisoned lock is still good.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_survives_frees_until_it_is_reset() {
        let tracker = Tracker::default();
        tracker.add(100);
        tracker.add(50);
        tracker.remove(100);
        tracker.add(20);
        assert_eq!((tracker.live(), tracker.peak()), (Bytes(70), Bytes(150)));
        tracker.reset_peak();
        assert_eq!(tracker.peak(), Bytes(70));
    }
}
