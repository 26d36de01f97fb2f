//! Runs cases on one device. A case goes in; a point with its time, memory and outcome comes out.
//! On a simulated device one run is exact; on hardware the cases of a group are warmed up, then
//! timed in turns with a cold cache until each has converged.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::outcome::Trouble;
use super::prepared::{Entries, Prepared, blank};
use super::sampling::{Failed, Stopwatch, interleave};
use super::statistics::{StoppingRule, drift, median_interval, without_outliers};
use crate::grid::Case;
use crate::hip::{Buffer, Device, Event, Fidelity, Hip};
use crate::ops::{KernelEntry, Library};
use crate::profile::{Outcome, Point};
use crate::units::Bytes;

/// How long a launch may take before it counts as hung, unless set otherwise.
pub const HANG: Duration = Duration::from_secs(60);

/// How long a case may be sampled.
const CASE_LIMIT: Duration = Duration::from_secs(20);

/// Infinity cache of MI300X and MI355X (AMD data sheets: 256 MB); the flush overflows it twice.
const INFINITY_CACHE: u64 = 256 << 20;

/// Bytes by which what the runtime says is in use may differ from what was allocated: runtimes
/// round allocations up and keep buffers of their own.
const MEMORY_TOLERANCE: u64 = 512 << 20;

/// Share of outliers worth a remark.
const MANY_OUTLIERS: f64 = 0.1;

/// How a bench measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// When sampling ends.
    pub rule: StoppingRule,
    /// How long a launch may take before it counts as hung.
    pub hang: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { rule: StoppingRule::default(), hang: HANG }
    }
}

/// An open device with its kernels.
pub struct Bench {
    hip: Hip,
    ordinal: u32,
    entries: Entries,
    device: Device,
    library: Library,
    settings: Settings,
    /// Device memory free before anything was allocated here.
    free_at_open: u64,
}

impl Bench {
    /// Opens a device and loads the kernels of `catalog` on it.
    ///
    /// # Errors
    /// When the device cannot be opened or refuses a code object.
    pub fn open(
        hip: &Hip,
        ordinal: u32,
        catalog: &[KernelEntry],
        settings: Settings,
    ) -> Result<Self, Trouble> {
        let (device, library) = connect(hip, ordinal, catalog, settings.hang)?;
        let free_at_open = device.mem_info()?.0.0;
        let entries = catalog.iter().map(|entry| (entry.id.clone(), entry.clone())).collect();
        Ok(Self { hip: hip.clone(), ordinal, entries, device, library, settings, free_at_open })
    }

    /// Whether one run of a case is exact.
    pub fn is_simulated(&self) -> bool {
        self.hip.is_simulated()
    }

    /// Measures a case by one run on a simulated device. A fault or a defect of ours costs this
    /// case only: the device is opened again.
    ///
    /// # Errors
    /// When the device cannot be opened again.
    pub fn measure_exact(&mut self, case: &Case) -> Result<Point, Trouble> {
        let blank = blank(case, &self.entries);
        let run = catch_unwind(AssertUnwindSafe(|| self.run_once(case, blank.clone())));
        let (trouble, reopen) = match run {
            Ok(Ok(point)) => return Ok(point),
            Ok(Err(trouble)) => {
                let fatal = trouble.is_fatal();
                (trouble, fatal)
            }
            Err(_) => (Trouble::error("the measurement panicked; see stderr"), true),
        };
        if reopen {
            self.reconnect()?;
        }
        Ok(trouble.record(blank))
    }

    /// Opens the device again.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn reconnect(&mut self) -> Result<(), Trouble> {
        let catalog: Vec<KernelEntry> = self.entries.values().cloned().collect();
        (self.device, self.library) =
            connect(&self.hip, self.ordinal, &catalog, self.settings.hang)?;
        Ok(())
    }

    fn run_once(&self, case: &Case, mut point: Point) -> Result<Point, Trouble> {
        let prepared = Prepared::new(&self.device, &self.library, &self.entries, case)?;
        self.device.synchronize()?;
        self.device.reset_stats();
        let peak = self.peak_of(&prepared)?;
        let stats = self.device.launch_stats();
        let stats = stats.ok_or_else(|| Trouble::error("the simulator gave no statistics"))?;
        point.outcome = Outcome::Ok;
        point.samples = 1;
        point.time_us = stats.time_us;
        point.time_lo_us = stats.time_us;
        point.time_hi_us = stats.time_us;
        point.instructions = Some(stats.instructions);
        point.cycles = stats.cycles;
        point.peak_bytes = peak;
        Ok(point)
    }

    /// Runs a case once and returns the most bytes that its transient buffers held at once; none
    /// for a case without.
    fn peak_of(&self, prepared: &Prepared) -> Result<Option<u64>, Trouble> {
        let before = self.device.live_bytes().0;
        self.device.reset_peak();
        prepared.run()?;
        self.device.synchronize()?;
        let peak = self.device.peak_bytes().0.saturating_sub(before);
        Ok((peak > 0).then_some(peak))
    }

    /// Measures a group on hardware. `started` is told each case before it runs, `finished` each
    /// point. Returns whether the device can still be used; cases not finished are for another
    /// bench then.
    pub fn measure_sampled(
        &self,
        group: &[Case],
        started: impl Fn(usize),
        finished: impl Fn(usize, Point),
    ) -> bool {
        let mut ready = Vec::new();
        for (index, case) in group.iter().enumerate() {
            started(index);
            let point = blank(case, &self.entries);
            match self.warm_up(case) {
                Ok((prepared, peak)) => {
                    let message = self.foreign_memory();
                    let point = Point { peak_bytes: peak, message, ..point };
                    ready.push((index, prepared, point));
                }
                Err(trouble) => {
                    let fatal = trouble.is_fatal();
                    finished(index, trouble.record(point));
                    if fatal {
                        return false;
                    }
                }
            }
        }
        let mut watch = match HipStopwatch::new(&self.device, &ready, &started) {
            Ok(watch) => watch,
            Err(trouble) => {
                let fatal = trouble.is_fatal();
                for (index, _, point) in ready {
                    finished(index, trouble.clone().record(point));
                }
                return !fatal;
            }
        };
        let limit = CASE_LIMIT.saturating_mul(u32::try_from(ready.len()).unwrap_or(u32::MAX));
        match interleave(ready.len(), &self.settings.rule, limit, &mut watch) {
            Ok(samples) => {
                for ((index, _, point), samples) in ready.into_iter().zip(samples) {
                    finished(index, summarise(point, &samples));
                }
                true
            }
            // Which samples the failure has touched is not known: the rest is measured again.
            Err(Failed { case, error }) => {
                if let Some((index, _, point)) = ready.into_iter().nth(case) {
                    finished(index, error.record(point));
                }
                false
            }
        }
    }

    /// A remark where the runtime's account of memory is not ours: somebody else is on the device.
    fn foreign_memory(&self) -> Option<String> {
        let free = self.device.mem_info().ok()?.0.0;
        let ours = self.device.live_bytes().0;
        let used = self.free_at_open.saturating_sub(free);
        (used.abs_diff(ours) > MEMORY_TOLERANCE).then(|| {
            format!("{} more in use, {} allocated: the device is shared", Bytes(used), Bytes(ours))
        })
    }

    fn warm_up(&self, case: &Case) -> Result<(Prepared, Option<u64>), Trouble> {
        let prepared = Prepared::new(&self.device, &self.library, &self.entries, case)?;
        self.device.synchronize()?;
        let peak = self.peak_of(&prepared)?;
        Ok((prepared, peak))
    }
}

fn connect(
    hip: &Hip,
    ordinal: u32,
    catalog: &[KernelEntry],
    hang: Duration,
) -> Result<(Device, Library), Trouble> {
    let device = hip.device(ordinal)?;
    device.set_fidelity(Fidelity::Timing);
    device.set_timeout(hang);
    let library = Library::from_entries(&device, catalog)?;
    Ok((device, library))
}

/// Fills in what the samples say.
fn summarise(mut point: Point, samples: &[f64]) -> Point {
    let kept = without_outliers(samples);
    let Some(interval) = median_interval(&kept) else {
        return Trouble::error("no sample was taken").record(point);
    };
    point.outcome = Outcome::Ok;
    point.samples = u32::try_from(kept.len()).unwrap_or(u32::MAX);
    point.time_us = Some(interval.median);
    point.time_lo_us = Some(interval.lo);
    point.time_hi_us = Some(interval.hi);
    let mut remarks: Vec<String> = point.message.take().into_iter().collect();
    if let Some(change) = drift(samples) {
        remarks.push(format!("times drifted by {:+.1}% while sampling", change * 100.0));
    }
    let outliers = samples.len() - kept.len();
    if outliers as f64 > MANY_OUTLIERS * samples.len() as f64 {
        remarks.push(format!("{outliers} of {} samples were outliers", samples.len()));
    }
    point.message = (!remarks.is_empty()).then(|| remarks.join("; "));
    point
}

/// Times launches by events, each behind a write that overflows the caches.
struct HipStopwatch<'a, F> {
    device: &'a Device,
    cases: &'a [(usize, Prepared, Point)],
    started: &'a F,
    flush: Buffer,
    begin: Event,
    end: Event,
}

impl<'a, F: Fn(usize)> HipStopwatch<'a, F> {
    fn new(
        device: &'a Device,
        cases: &'a [(usize, Prepared, Point)],
        started: &'a F,
    ) -> Result<Self, Trouble> {
        let bytes = 2 * (INFINITY_CACHE + device.info().l2_cache.0);
        let flush = device.malloc(Bytes(bytes))?;
        let (begin, end) = (device.event()?, device.event()?);
        Ok(Self { device, cases, started, flush, begin, end })
    }
}

impl<F: Fn(usize)> Stopwatch for HipStopwatch<'_, F> {
    type Error = Trouble;

    fn time(&mut self, case: usize) -> Result<f64, Trouble> {
        let (index, prepared, _) = &self.cases[case];
        (self.started)(*index);
        self.flush.fill_zero()?;
        self.device.synchronize()?;
        self.begin.record()?;
        prepared.run()?;
        self.end.record()?;
        self.end.synchronize()?;
        Ok(self.end.elapsed_since(&self.begin)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Op;

    fn point() -> Point {
        Point::new(Op::Gemm, "gemm", "even", "o_proj", "bf16")
    }

    #[test]
    fn a_summary_keeps_the_median_and_remarks_on_drift() {
        let steady = summarise(point(), &[10.0; 12]);
        assert_eq!((steady.time_us, steady.samples, steady.message), (Some(10.0), 12, None));
        let slowing: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i)).collect();
        let remark = summarise(point(), &slowing).message.unwrap();
        assert!(remark.contains("drifted by +"), "{remark}");
    }

    #[test]
    fn no_sample_is_an_error_not_a_time_of_zero() {
        let none = summarise(point(), &[]);
        assert_eq!((none.outcome, none.time_us), (Outcome::Error, None));
    }
}
