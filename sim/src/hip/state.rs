//! What the C ABI has to remember: devices and handles for the process; current device, last error
//! and the simulator's settings for each thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::codes;
use crate::arch::ArchError;
use crate::device::{Device, DeviceError, Mode};
use crate::fault::FaultKind;
use crate::isa::Arch;
use crate::launch::{LaunchError, Module, ModuleError};
use crate::stats::LaunchStats;

/// A HIP error with the diagnosis behind it.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: c_int,
    pub(super) detail: String,
}

pub(super) type Outcome = Result<(), Failure>;

/// A failure with a diagnosis.
pub(super) fn fail(code: c_int, detail: impl Into<String>) -> Failure {
    Failure { code, detail: detail.into() }
}

impl From<c_int> for Failure {
    fn from(code: c_int) -> Self {
        fail(code, "")
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Self {
        use crate::code_object::CodeObjectError as C;
        let code = match &error {
            DeviceError::Launch(LaunchError::NoKernel { .. }) => codes::NOT_FOUND,
            DeviceError::Launch(LaunchError::Configuration { .. }) => codes::INVALID_CONFIGURATION,
            DeviceError::Launch(LaunchError::Arguments { .. }) => codes::INVALID_VALUE,
            DeviceError::Launch(LaunchError::Unsupported { .. }) => codes::NOT_SUPPORTED,
            DeviceError::Fault(fault) => match fault.kind {
                FaultKind::OutOfBounds { .. } => codes::ILLEGAL_ADDRESS,
                FaultKind::Runaway { .. } => codes::LAUNCH_TIMEOUT,
                FaultKind::UnknownInstruction { .. } | FaultKind::Unimplemented { .. } => {
                    codes::NOT_SUPPORTED
                }
                _ => codes::LAUNCH_FAILURE,
            },
            DeviceError::Module(ModuleError::CodeObject(C::WrongArch { .. })) => {
                codes::NO_BINARY_FOR_GPU
            }
            DeviceError::Module(ModuleError::CodeObject(_)) => codes::INVALID_IMAGE,
            DeviceError::Module(ModuleError::OutOfMemory(_)) | DeviceError::OutOfMemory(_) => {
                codes::OUT_OF_MEMORY
            }
            DeviceError::Timing(_) => codes::NOT_SUPPORTED,
            DeviceError::Parameters(_) => codes::NOT_INITIALIZED,
        };
        fail(code, error.to_string())
    }
}

/// A loaded code object.
pub(super) struct LoadedModule {
    pub(super) device: usize,
    pub(super) module: Module,
}

/// A kernel of a module.
pub(super) struct Function {
    pub(super) module: Arc<LoadedModule>,
    pub(super) kernel: String,
}

/// A stream: launches on it advance its clock.
pub(super) struct Stream {
    /// Simulated time in microseconds.
    pub(super) clock_us: Mutex<f64>,
}

/// An event: when its stream's clock passed it.
pub(super) struct Event {
    pub(super) at_us: Mutex<Option<f64>>,
}

/// Objects behind handles.
#[derive(Clone)]
pub(super) enum Object {
    Module(Arc<LoadedModule>),
    Function(Arc<Function>),
    Stream(Arc<Stream>),
    Event(Arc<Event>),
}

#[derive(Default)]
pub(super) struct Handles {
    objects: HashMap<usize, Object>,
    last: usize,
}

impl Handles {
    pub(super) fn insert(&mut self, object: Object) -> *mut c_void {
        // Aligned like a pointer, never null, never reused.
        self.last += 16;
        self.objects.insert(self.last, object);
        self.last as *mut c_void
    }

    pub(super) fn get(&self, handle: *mut c_void) -> Result<Object, Failure> {
        self.objects.get(&(handle as usize)).cloned().ok_or(codes::INVALID_HANDLE.into())
    }

    pub(super) fn remove(&mut self, handle: *mut c_void) -> Result<Object, Failure> {
        self.objects.remove(&(handle as usize)).ok_or(codes::INVALID_HANDLE.into())
    }

    /// Drops the functions of a module.
    pub(super) fn remove_functions(&mut self, module: &Arc<LoadedModule>) {
        self.objects.retain(
            |_, object| !matches!(object, Object::Function(f) if Arc::ptr_eq(&f.module, module)),
        );
    }
}

/// The process's handles.
pub(super) fn handles() -> MutexGuard<'static, Handles> {
    static HANDLES: OnceLock<Mutex<Handles>> = OnceLock::new();
    let handles = HANDLES.get_or_init(Mutex::default);
    handles.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stream of handle null.
pub(super) fn null_stream() -> Arc<Stream> {
    static NULL: OnceLock<Arc<Stream>> = OnceLock::new();
    Arc::clone(NULL.get_or_init(|| Arc::new(Stream { clock_us: Mutex::new(0.0) })))
}

/// All devices.
pub(super) fn devices() -> Result<&'static [Device], Failure> {
    static DEVICES: OnceLock<Result<Vec<Device>, ArchError>> = OnceLock::new();
    let devices = DEVICES.get_or_init(|| {
        (0..).zip(Arch::ALL).map(|(ordinal, arch)| Device::new(arch, ordinal)).collect()
    });
    devices.as_deref().map_err(|e| fail(codes::NOT_INITIALIZED, e.to_string()))
}

/// A device by its number.
pub(super) fn device(ordinal: c_int) -> Result<&'static Device, Failure> {
    let devices = devices()?;
    usize::try_from(ordinal).ok().and_then(|i| devices.get(i)).ok_or_else(|| {
        fail(
            codes::INVALID_DEVICE,
            format!("there is no device {ordinal}; the simulator has {}", devices.len()),
        )
    })
}

thread_local! {
    static CURRENT: Cell<c_int> = const { Cell::new(0) };
    static LAST_ERROR: Cell<c_int> = const { Cell::new(codes::SUCCESS) };
    static DETAIL: RefCell<String> = const { RefCell::new(String::new()) };
    static MODE: Cell<Mode> = const { Cell::new(Mode::Full) };
    static CHECK_WAITS: Cell<bool> = const { Cell::new(false) };
    static STATS: RefCell<LaunchStats> = RefCell::default();
}

/// This thread's device number.
pub(super) fn current() -> c_int {
    CURRENT.get()
}

/// This thread's device.
pub(super) fn current_device() -> Result<&'static Device, Failure> {
    device(current())
}

pub(super) fn set_current(ordinal: c_int) -> Outcome {
    device(ordinal)?;
    CURRENT.set(ordinal);
    Ok(())
}

pub(super) fn mode() -> Mode {
    MODE.get()
}

pub(super) fn set_mode(mode: Mode) {
    MODE.set(mode);
}

/// Whether this thread's launches are checked for missing waits.
pub(super) fn check_waits() -> bool {
    CHECK_WAITS.get()
}

pub(super) fn set_check_waits(on: bool) {
    CHECK_WAITS.set(on);
}

/// Gives `f` this thread's launch statistics.
pub(super) fn with_stats<R>(f: impl FnOnce(&mut LaunchStats) -> R) -> R {
    STATS.with_borrow_mut(f)
}

/// This thread's last error; forgotten if `clear`.
pub(super) fn last_error(clear: bool) -> c_int {
    let code = LAST_ERROR.get();
    if clear {
        LAST_ERROR.set(codes::SUCCESS);
    }
    code
}

/// Diagnosis of this thread's last error.
pub(super) fn detail() -> String {
    DETAIL.with_borrow(String::clone)
}

/// Runs the body of an exported function: remembers its error, and turns a panic into one, since
/// nothing may unwind into C.
pub(super) fn guard(body: impl FnOnce() -> Outcome) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<String>().cloned();
        let what = what.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(fail(codes::UNKNOWN, format!("simulator error: {}", what.unwrap_or_default())))
    });
    match outcome {
        Ok(()) => codes::SUCCESS,
        Err(failure) => {
            LAST_ERROR.set(failure.code);
            DETAIL.set(failure.detail);
            failure.code
        }
    }
}

/// Writes a result through a pointer that C handed over.
///
/// # Safety
/// `out` is null or valid for writing a `T`.
pub(super) unsafe fn put<T>(out: *mut T, value: T) -> Outcome {
    if out.is_null() {
        return Err(fail(codes::INVALID_VALUE, "a result pointer is null"));
    }
    // SAFETY: by the caller's promise.
    unsafe { out.write_unaligned(value) };
    Ok(())
}
