//! One device: its properties, memory, modules and launches.

use std::ffi::{c_char, c_int, c_uint};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::args::Args;
use super::buffer::Buffer;
use super::error::{HipError, HipErrorKind, check, code, read_text};
use super::event::Event;
use super::module::{Function, Module};
use super::properties;
use super::runtime::{Hip, text};
use super::table::{Handle, Table};
use super::tracker::Tracker;
use crate::units::Bytes;

/// Memory in use before we allocated anything that means somebody else is on the device; runtimes
/// themselves take a few hundred MB.
const BUSY: u64 = 1 << 30;

/// What a device says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Number within the runtime.
    pub ordinal: u32,
    /// Marketing name.
    pub name: String,
    /// LLVM target without feature suffix, such as `gfx950`.
    pub arch: String,
    /// Device memory.
    pub total_memory: Bytes,
    /// Compute units.
    pub compute_units: u32,
    /// Peak core clock, MHz.
    pub clock_mhz: u32,
    /// Threads of a wave.
    pub wave_size: u32,
    /// LDS of a workgroup.
    pub lds_per_workgroup: Bytes,
    /// Second-level cache.
    pub l2_cache: Bytes,
}

impl DeviceInfo {
    pub(super) fn query(table: &Table, ordinal: u32) -> Result<Self, HipError> {
        let device = c_int::try_from(ordinal)
            .map_err(|_| HipError::invalid("hipSetDevice", format!("device {ordinal}")))?;
        let attribute = |id| properties::attribute(table, device, id);
        let mut name = [0 as c_char; 256];
        // SAFETY: the buffer holds the length it is said to hold.
        check(table, "hipDeviceGetName", unsafe {
            (table.device_name)(name.as_mut_ptr(), 255, device)
        })?;
        let (arch, memory) = properties::arch_and_memory(table, device)?;
        Ok(DeviceInfo {
            ordinal,
            name: text(&name),
            arch,
            total_memory: memory,
            compute_units: attribute(properties::MULTIPROCESSOR_COUNT)?,
            clock_mhz: attribute(properties::CLOCK_RATE_KHZ)? / 1000,
            wave_size: attribute(properties::WARP_SIZE)?,
            lds_per_workgroup: Bytes(attribute(properties::MAX_SHARED_MEMORY_PER_BLOCK)?.into()),
            l2_cache: Bytes(attribute(properties::L2_CACHE_SIZE)?.into()),
        })
    }
}

/// How faithfully the simulator runs launches; no effect on hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Every workgroup runs, results are real, time does not pass.
    Functional,
    /// Only sampled workgroups run; their time is extrapolated over the grid. Results are partial.
    Timing,
    /// Every workgroup runs once, the sampled ones under the timing model.
    Full,
}

/// Size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Workgroups.
    pub grid: [u32; 3],
    /// Threads of a workgroup.
    pub block: [u32; 3],
    /// Dynamic LDS bytes, added to the kernel's static ones.
    pub lds: u32,
}

/// An open device with a stream of its own. Clones share both.
#[derive(Clone)]
pub struct Device {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) hip: Hip,
    info: DeviceInfo,
    pub(super) stream: Handle,
    pub(super) tracker: Tracker,
    fidelity: AtomicU8,
    check_waits: AtomicBool,
    timeout_ms: AtomicU64,
    /// Set when the device stopped answering: freeing would block for ever, so nothing is freed.
    lost: AtomicBool,
    in_use_at_open: Bytes,
}

// SAFETY: the stream handle is only passed to HIP, whose functions may be called from any thread
// after hipSetDevice.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("info", &self.shared.info).finish_non_exhaustive()
    }
}

impl Device {
    pub(super) fn open(hip: Hip, ordinal: u32) -> Result<Self, HipError> {
        let info = DeviceInfo::query(&hip.table, ordinal)?;
        let device = ordinal as c_int;
        // SAFETY: no pointers.
        check(&hip.table, "hipSetDevice", unsafe { (hip.table.set_device)(device) })?;
        let (free, total) = mem_info(&hip.table)?;
        let mut stream: Handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check(&hip.table, "hipStreamCreate", unsafe { (hip.table.stream_create)(&mut stream) })?;
        Ok(Device {
            shared: Arc::new(Shared {
                hip,
                info,
                stream,
                tracker: Tracker::default(),
                fidelity: AtomicU8::new(Fidelity::Full as u8),
                check_waits: AtomicBool::new(false),
                timeout_ms: AtomicU64::new(Duration::from_secs(300).as_millis() as u64),
                lost: AtomicBool::new(false),
                in_use_at_open: Bytes(total.0.saturating_sub(free.0)),
            }),
        })
    }

    /// Properties.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// The runtime it belongs to.
    pub fn hip(&self) -> &Hip {
        &self.shared.hip
    }

    /// Memory that others held when the device was opened, if enough to disturb a measurement.
    pub fn busy_memory(&self) -> Option<Bytes> {
        Some(self.shared.in_use_at_open).filter(|b| b.0 > BUSY)
    }

    /// How long [`Device::synchronize`] and [`Event::synchronize`] wait before they report
    /// [`HipErrorKind::Timeout`]; five minutes unless set.
    pub fn set_timeout(&self, timeout: Duration) {
        let ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self.shared.timeout_ms.store(ms, Ordering::Relaxed);
    }

    /// Allocates device memory.
    ///
    /// # Errors
    /// [`HipErrorKind::OutOfMemory`] when the device refuses.
    pub fn malloc(&self, bytes: Bytes) -> Result<Buffer, HipError> {
        Buffer::new(self, bytes)
    }

    /// Free and total device memory.
    ///
    /// # Errors
    /// The runtime's.
    pub fn mem_info(&self) -> Result<(Bytes, Bytes), HipError> {
        mem_info(self.shared.current()?)
    }

    /// Loads a code object.
    ///
    /// # Errors
    /// [`HipErrorKind::InvalidValue`] for an image that is damaged or of another arch.
    pub fn load_module(&self, image: &[u8]) -> Result<Module, HipError> {
        Module::load(self, image)
    }

    /// Creates an event on this device's stream.
    ///
    /// # Errors
    /// The runtime's.
    pub fn event(&self) -> Result<Event, HipError> {
        Event::new(self)
    }

    /// Queues a kernel. Errors of the kernel itself may only show at the next synchronisation.
    ///
    /// # Errors
    /// A refused configuration, or a fault of this or an earlier kernel.
    pub fn launch(&self, function: &Function, size: Launch, args: &Args) -> Result<(), HipError> {
        function.validate(args)?;
        let table = self.shared.current()?;
        self.shared.apply_settings(table)?;
        let mut params = args.pointers();
        let [gx, gy, gz] = size.grid.map(c_uint::from);
        let [bx, by, bz] = size.block.map(c_uint::from);
        // SAFETY: the parameter pointers are valid for the call, which copies what they point at;
        // their sizes were checked against the kernel's metadata.
        let code = unsafe {
            (table.launch)(
                function.handle(),
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                size.lds,
                self.shared.stream,
                params.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        check(table, "hipModuleLaunchKernel", code)
    }

    /// Waits until everything queued has finished.
    ///
    /// # Errors
    /// A fault of a queued kernel, or [`HipErrorKind::Timeout`], after which the device is given
    /// up: its allocations are no longer freed.
    pub fn synchronize(&self) -> Result<(), HipError> {
        let table = self.shared.current()?;
        self.shared.wait("hipStreamQuery", || {
            // SAFETY: the stream is live.
            unsafe { (table.stream_query)(self.shared.stream) }
        })
    }

    /// Chooses how the simulator runs the launches that follow (default [`Fidelity::Full`]); no
    /// effect on hardware.
    pub fn set_fidelity(&self, fidelity: Fidelity) {
        self.shared.fidelity.store(fidelity as u8, Ordering::Relaxed);
    }

    /// Makes functional launches in the simulator fault on a register that is used before the
    /// `s_waitcnt` which covers it; no effect on hardware.
    pub fn set_check_waits(&self, on: bool) {
        self.shared.check_waits.store(on, Ordering::Relaxed);
    }

    /// Starts a new peak at what is live now.
    pub fn reset_peak(&self) {
        self.shared.tracker.reset_peak();
    }

    /// Most bytes live at once since the last reset, as requested from this handle.
    pub fn peak_bytes(&self) -> Bytes {
        self.shared.tracker.peak()
    }

    /// Bytes live now.
    pub fn live_bytes(&self) -> Bytes {
        self.shared.tracker.live()
    }

    /// Statistics of this thread's launches since [`Device::reset_stats`]; `None` on hardware and
    /// where nothing was launched.
    pub fn launch_stats(&self) -> Option<super::LaunchStats> {
        let text = read_text(self.shared.hip.table.sim_launch_stats?)?;
        serde_json::from_str(&text).ok()
    }

    /// Forgets the launch statistics.
    pub fn reset_stats(&self) {
        if let Some(reset) = self.shared.hip.table.sim_reset_stats {
            // SAFETY: no pointers. It cannot fail.
            unsafe { reset() };
        }
    }
}

impl Shared {
    /// Makes the device current on this thread and returns the table.
    pub(super) fn current(&self) -> Result<&Table, HipError> {
        let table = &*self.hip.table;
        // SAFETY: no pointers.
        check(table, "hipSetDevice", unsafe { (table.set_device)(self.info.ordinal as c_int) })?;
        Ok(table)
    }

    /// Whether the device stopped answering.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Hands the simulator this device's settings, which it keeps per thread.
    fn apply_settings(&self, table: &Table) -> Result<(), HipError> {
        if let Some(set_mode) = table.sim_set_mode {
            let mode = self.fidelity.load(Ordering::Relaxed).into();
            // SAFETY: no pointers.
            check(table, "cdnaSimSetMode", unsafe { set_mode(mode) })?;
        }
        if let Some(check_waits) = table.sim_check_waits {
            let on = self.check_waits.load(Ordering::Relaxed).into();
            // SAFETY: no pointers.
            check(table, "cdnaSimCheckWaits", unsafe { check_waits(on) })?;
        }
        Ok(())
    }

    /// Polls until `query` stops answering hipErrorNotReady. Polling instead of the blocking calls
    /// is what lets a hang be reported.
    pub(super) fn wait(
        &self,
        call: &'static str,
        query: impl Fn() -> c_int,
    ) -> Result<(), HipError> {
        let started = Instant::now();
        let timeout = Duration::from_millis(self.timeout_ms.load(Ordering::Relaxed));
        loop {
            let code = query();
            if code != code::NOT_READY {
                return check(&self.hip.table, call, code);
            }
            let waited = started.elapsed();
            if waited >= timeout {
                self.lost.store(true, Ordering::Relaxed);
                return Err(HipError {
                    call,
                    code: code::LAUNCH_TIMEOUT,
                    name: "hipErrorLaunchTimeOut".to_owned(),
                    kind: HipErrorKind::Timeout,
                    detail: format!("the device did not finish within {} s", timeout.as_secs_f64()),
                });
            }
            if waited > Duration::from_millis(2) {
                std::thread::sleep(Duration::from_micros(100));
            } else {
                std::thread::yield_now();
            }
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if !self.is_lost()
            && let Ok(table) = self.current()
        {
            // SAFETY: the stream is live and nothing uses it any more. There is nobody left to
            // report a failure to.
            unsafe { (table.stream_destroy)(self.stream) };
        }
    }
}

fn mem_info(table: &Table) -> Result<(Bytes, Bytes), HipError> {
    let (mut free, mut total) = (0usize, 0usize);
    // SAFETY: the pointers are valid for the call.
    check(table, "hipMemGetInfo", unsafe { (table.mem_info)(&mut free, &mut total) })?;
    Ok((Bytes(free as u64), Bytes(total as u64)))
}
