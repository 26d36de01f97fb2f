//! Initialisation, versions and errors.

use std::ffi::{c_char, c_int, c_uint};

use super::codes;
use super::state::{self, Outcome, fail, guard, put};

/// HIP version that the simulator answers with: `major * 10^7 + minor * 10^5 + patch`. ROCm 6 is
/// the first with the property layout it fills.
const VERSION: c_int = 60_400_000;

/// `hipInit`.
#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> c_int {
    guard(|| {
        if flags != 0 {
            return Err(fail(codes::INVALID_VALUE, "hipInit takes no flags"));
        }
        state::devices().map(|_| ())
    })
}

/// `hipRuntimeGetVersion`.
///
/// # Safety
/// `version` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { put(version, VERSION) })
}

/// `hipDriverGetVersion`.
///
/// # Safety
/// `version` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { put(version, VERSION) })
}

/// `hipGetLastError`: this thread's last error, which it forgets.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> c_int {
    state::last_error(true)
}

/// `hipPeekAtLastError`: this thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> c_int {
    state::last_error(false)
}

/// `hipGetErrorName`.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(code: c_int) -> *const c_char {
    codes::describe(code).0.as_ptr()
}

/// `hipGetErrorString`.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(code: c_int) -> *const c_char {
    codes::describe(code).1.as_ptr()
}

/// `hipDrvGetErrorName`.
///
/// # Safety
/// `name` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorName(code: c_int, name: *mut *const c_char) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| -> Outcome { unsafe { put(name, codes::describe(code).0.as_ptr()) } })
}

/// `hipDrvGetErrorString`.
///
/// # Safety
/// `text` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDrvGetErrorString(code: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| -> Outcome { unsafe { put(text, codes::describe(code).1.as_ptr()) } })
}
