//! A simulated device: its memory, and launches that run on it.
//!
//! Goes in: modules, launch sizes, argument bytes and a [`Mode`]. Comes out: results in device
//! memory, [`LaunchStats`], or a [`DeviceError`] with the whole diagnosis.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::arch::{ArchError, ArchParams};
use crate::exec::Program;
use crate::fault::Fault;
use crate::isa::Arch;
use crate::launch::{self, Dispatch, LaunchError, Module, ModuleError, PACKET_BYTES, Prepared};
use crate::memory::{AddressSpace, OutOfMemory};
use crate::stats::LaunchStats;
use crate::timing::{self, Timing, TimingError};

/// Room for packet, queue and the largest kernarg segment.
const BLOCK_BYTES: u64 = PACKET_BYTES + (1 << 16);

/// How faithfully a launch is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Mode {
    /// Every workgroup, results are real, no time passes.
    Functional,
    /// The sampled workgroups only, timed; the time of the grid is extrapolated.
    Timing,
    /// Every workgroup once, the sampled ones timed.
    #[default]
    Full,
}

/// Why a device call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DeviceError {
    /// The launch was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The kernel faulted.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The launch could not be timed.
    #[error(transparent)]
    Timing(TimingError),
    /// The module was refused.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// No room.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The device's parameter file is unusable.
    #[error(transparent)]
    Parameters(#[from] ArchError),
}

impl From<TimingError> for DeviceError {
    fn from(error: TimingError) -> Self {
        match error {
            TimingError::Fault(fault) => DeviceError::Fault(fault),
            other => DeviceError::Timing(other),
        }
    }
}

/// A simulated device.
#[derive(Debug)]
pub struct Device {
    params: &'static ArchParams,
    mem: RwLock<AddressSpace>,
    /// Device memory for packets and kernarg segments, one for each launch under way.
    blocks: Mutex<Vec<u64>>,
}

impl Device {
    /// Device number `ordinal`, with nothing on it.
    ///
    /// # Errors
    /// When the parameter file of `arch` is unusable.
    pub fn new(arch: Arch, ordinal: u64) -> Result<Self, ArchError> {
        let params = ArchParams::load(arch)?;
        Ok(Device {
            params,
            mem: RwLock::new(AddressSpace::of_device(params.device.memory, ordinal)),
            blocks: Mutex::new(Vec::new()),
        })
    }

    /// Target and parameters.
    pub fn params(&self) -> &'static ArchParams {
        self.params
    }

    /// Device memory, for copies.
    pub fn memory(&self) -> RwLockReadGuard<'_, AddressSpace> {
        // Kernels only write bytes, and allocation changes leave the maps consistent at every
        // step, so a poisoned lock is still good.
        self.mem.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Device memory, for allocation.
    pub fn memory_mut(&self) -> RwLockWriteGuard<'_, AddressSpace> {
        self.mem.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Loads a code object.
    ///
    /// # Errors
    /// A damaged file, one of another arch, or a full device.
    pub fn load(&self, file: &[u8]) -> Result<Module, ModuleError> {
        Module::load(&mut self.memory_mut(), file, self.params.arch)
    }

    /// Runs a kernel to its end. `explicit` holds the explicit arguments at their offsets.
    ///
    /// # Errors
    /// A refused launch or a fault.
    pub fn launch(
        &self,
        module: &Module,
        kernel: &str,
        dispatch: Dispatch,
        explicit: &[u8],
        mode: Mode,
        options: &launch::Options,
    ) -> Result<LaunchStats, DeviceError> {
        self.prepared(module, kernel, dispatch, explicit, |launch, mem| {
            run(launch, mem, self.params, mode, options)
        })
    }

    /// Times a kernel as [`Mode::Timing`] does and returns its code with all that the timing model
    /// saw, and a record of the first `events` issues and waits.
    ///
    /// # Errors
    /// A refused launch or a fault.
    pub fn profile(
        &self,
        module: &Module,
        kernel: &str,
        dispatch: Dispatch,
        explicit: &[u8],
        events: usize,
    ) -> Result<(Arc<Program>, Timing), DeviceError> {
        self.prepared(module, kernel, dispatch, explicit, |launch, memory| {
            let grid = timing::Launch { prepared: launch, memory };
            let timing = timing::simulate_traced(self.params, &grid, events)?;
            Ok((Arc::clone(&launch.program), timing))
        })
    }

    /// Gives `body` a launch that is ready to run.
    fn prepared<T>(
        &self,
        module: &Module,
        kernel: &str,
        dispatch: Dispatch,
        explicit: &[u8],
        body: impl FnOnce(&Prepared, &AddressSpace) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let block = self.take_block()?;
        // Without holding the lock, so that other threads can allocate while this runs.
        let mem = self.memory().snapshot();
        let result = Prepared::new(module, kernel, dispatch, explicit, &mem, block, self.params)
            .map_err(DeviceError::from)
            .and_then(|launch| body(&launch, &mem));
        self.blocks().push(block);
        result
    }

    fn take_block(&self) -> Result<u64, OutOfMemory> {
        if let Some(block) = self.blocks().pop() {
            return Ok(block);
        }
        self.memory_mut().alloc(BLOCK_BYTES)
    }

    fn blocks(&self) -> MutexGuard<'_, Vec<u64>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(
    launch: &Prepared,
    mem: &AddressSpace,
    params: &ArchParams,
    mode: Mode,
    options: &launch::Options,
) -> Result<LaunchStats, DeviceError> {
    let total = launch.workgroups();
    if mode == Mode::Functional {
        let executed = launch::run(launch, mem, 0..total, options)?;
        return Ok(LaunchStats::of(&launch.program, &executed, total));
    }
    let timing = timing::simulate(params, &timing::Launch { prepared: launch, memory: mem })?;
    let (not_executed, mut executed) = (timing.not_executed(), timing.executed);
    if mode == Mode::Full {
        for range in not_executed {
            executed.add(&launch::run(launch, mem, range, options)?);
        }
    }
    let mut stats = LaunchStats::of(&launch.program, &executed, total);
    if mode == Mode::Timing {
        stats.instructions = timing.instructions;
    }
    Ok(LaunchStats {
        workgroups_timed: timing.workgroups_timed,
        cycles: Some(timing.cycles),
        time_us: Some(timing.time_us),
        stalls: timing.counters.stalls(),
        bytes: timing.traffic.by_level(),
        ..stats
    })
}
