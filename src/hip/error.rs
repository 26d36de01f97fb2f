//! Typed errors of the device layer: what was called, what it answered, and what kind of trouble
//! that is for a measurement.

use std::ffi::{CStr, c_int};
use std::path::PathBuf;

use super::table::Table;

/// What an error means for the point that was being measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HipErrorKind {
    /// An allocation was refused: an outcome, not a failure.
    OutOfMemory,
    /// No usable device.
    NoDevice,
    /// An argument or handle was refused.
    InvalidValue,
    /// The kernel faulted.
    LaunchFault,
    /// The device did not answer in time.
    Timeout,
    /// Anything else.
    Other,
}

/// A HIP call that did not succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{call} failed with {name} ({code}){}{detail}", if detail.is_empty() { "" } else { ": " })]
pub struct HipError {
    /// C name of the function.
    pub call: &'static str,
    /// `hipError_t`.
    pub code: i32,
    /// Name of the code, such as `hipErrorOutOfMemory`.
    pub name: String,
    /// Meaning.
    pub kind: HipErrorKind,
    /// Diagnosis beyond the code; empty when there is none.
    pub detail: String,
}

/// `hipError_t` values the tool acts on (`hip_runtime_api.h`).
pub mod code {
    #![allow(missing_docs)]
    pub const SUCCESS: i32 = 0;
    pub const INVALID_VALUE: i32 = 1;
    pub const OUT_OF_MEMORY: i32 = 2;
    pub const NOT_INITIALIZED: i32 = 3;
    pub const INVALID_CONFIGURATION: i32 = 9;
    pub const NO_DEVICE: i32 = 100;
    pub const INVALID_DEVICE: i32 = 101;
    pub const INVALID_IMAGE: i32 = 200;
    pub const INVALID_CONTEXT: i32 = 201;
    pub const NO_BINARY_FOR_GPU: i32 = 209;
    pub const INVALID_HANDLE: i32 = 400;
    pub const NOT_FOUND: i32 = 500;
    pub const NOT_READY: i32 = 600;
    pub const ILLEGAL_ADDRESS: i32 = 700;
    pub const LAUNCH_TIMEOUT: i32 = 702;
    pub const LAUNCH_FAILURE: i32 = 719;
    pub const NOT_SUPPORTED: i32 = 801;
    pub const UNKNOWN: i32 = 999;
}

impl HipErrorKind {
    /// Classifies a `hipError_t`.
    pub fn of(code: i32) -> Self {
        match code {
            code::OUT_OF_MEMORY => HipErrorKind::OutOfMemory,
            code::NO_DEVICE | code::INVALID_DEVICE => HipErrorKind::NoDevice,
            code::INVALID_VALUE
            | code::INVALID_CONFIGURATION
            | code::INVALID_IMAGE
            | code::NO_BINARY_FOR_GPU
            | code::INVALID_HANDLE
            | code::NOT_FOUND => HipErrorKind::InvalidValue,
            code::ILLEGAL_ADDRESS | code::LAUNCH_FAILURE => HipErrorKind::LaunchFault,
            code::LAUNCH_TIMEOUT => HipErrorKind::Timeout,
            _ => HipErrorKind::Other,
        }
    }
}

impl HipError {
    /// An error found on this side of the ABI, before or instead of a HIP call.
    pub fn local(call: &'static str, code: i32, name: &str, detail: impl Into<String>) -> Self {
        HipError {
            call,
            code,
            name: name.to_owned(),
            kind: HipErrorKind::of(code),
            detail: detail.into(),
        }
    }

    /// An argument refused on this side of the ABI.
    pub fn invalid(call: &'static str, detail: impl Into<String>) -> Self {
        Self::local(call, code::INVALID_VALUE, "hipErrorInvalidValue", detail)
    }
}

/// Turns a `hipError_t` into a result, with the runtime's own name and description of the code.
pub(super) fn check(table: &Table, call: &'static str, code: c_int) -> Result<(), HipError> {
    if code == code::SUCCESS {
        return Ok(());
    }
    let kind = HipErrorKind::of(code);
    // SAFETY: both functions return a static string or null.
    let (name, text) =
        unsafe { (text_of((table.error_name)(code)), text_of((table.error_string)(code))) };
    let detail =
        last_fault(table).or(text.filter(|t| Some(t) != name.as_ref())).unwrap_or_default();
    Err(HipError {
        call,
        code,
        name: name.unwrap_or_else(|| "unknown error".to_owned()),
        kind,
        detail,
    })
}

/// The simulator's diagnosis of the last error on this thread.
fn last_fault(table: &Table) -> Option<String> {
    read_text(table.sim_last_fault?)
}

/// Calls a function that writes text of unknown length into a buffer and returns the length.
pub(super) fn read_text(
    f: unsafe extern "C" fn(*mut std::ffi::c_char, usize) -> usize,
) -> Option<String> {
    let mut buf = vec![0u8; 4096];
    for _ in 0..2 {
        // SAFETY: the function writes at most the length it is given.
        let len = unsafe { f(buf.as_mut_ptr().cast(), buf.len()) };
        if len <= buf.len() {
            buf.truncate(len);
            return String::from_utf8(buf).ok().filter(|s| !s.is_empty());
        }
        buf.resize(len, 0);
    }
    None
}

/// # Safety
/// `ptr` is null or a NUL-terminated string that outlives the call.
unsafe fn text_of(ptr: *const std::ffi::c_char) -> Option<String> {
    if ptr.is_null() {
        return None;
    }
    // SAFETY: by the caller's promise.
    Some(unsafe { CStr::from_ptr(ptr) }.to_string_lossy().into_owned())
}

/// No HIP runtime could be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// None of the candidate libraries could be opened.
    #[error("no HIP runtime found; tried {}; install ROCm or name one with --hip-lib", list(tried))]
    NotFound {
        /// Each candidate with the loader's answer.
        tried: Vec<(PathBuf, String)>,
    },
    /// The library named by the user could not be opened.
    #[error("cannot load the HIP runtime {}: {reason}", path.display())]
    Unloadable {
        /// Library.
        path: PathBuf,
        /// The loader's answer.
        reason: String,
    },
    /// The library is not a HIP runtime, or one too old.
    #[error("{} has no symbol {symbol}: not a HIP runtime, or one too old", path.display())]
    MissingSymbol {
        /// Library.
        path: PathBuf,
        /// First missing function.
        symbol: &'static str,
    },
}

fn list(tried: &[(PathBuf, String)]) -> String {
    tried.iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
