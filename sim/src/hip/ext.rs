//! The simulator's own functions, which real runtimes do not have.

use std::ffi::{c_char, c_int};

use super::codes;
use super::state::{self, fail, guard};
use crate::device::Mode;
use crate::stats::LaunchStats;

/// What this is, as a static NUL-terminated text.
#[unsafe(no_mangle)]
pub extern "C" fn cdnaSimIdentity() -> *const c_char {
    const IDENTITY: &str = concat!("cdna-sim ", env!("CARGO_PKG_VERSION"), "\0");
    IDENTITY.as_ptr().cast()
}

/// Sets how this thread's launches run: 0 functional, 1 timing, 2 full (the default).
#[unsafe(no_mangle)]
pub extern "C" fn cdnaSimSetMode(mode: c_int) -> c_int {
    guard(|| {
        state::set_mode(match mode {
            0 => Mode::Functional,
            1 => Mode::Timing,
            2 => Mode::Full,
            other => return Err(fail(codes::INVALID_VALUE, format!("no launch mode {other}"))),
        });
        Ok(())
    })
}

/// Makes this thread's functional launches fault on a register that is used before the `s_waitcnt`
/// which covers it (not 0), or not (0, the default).
#[unsafe(no_mangle)]
pub extern "C" fn cdnaSimCheckWaits(on: c_int) -> c_int {
    guard(|| {
        state::set_check_waits(on != 0);
        Ok(())
    })
}

/// Writes the diagnosis of this thread's last error, without NUL, if it fits `len` bytes; returns
/// its length.
///
/// # Safety
/// `text` is valid for writing `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdnaSimLastFault(text: *mut c_char, len: usize) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { put_bytes(text, len, state::detail().as_bytes()) }
}

/// Writes the statistics of this thread's launches since the last reset as JSON
/// ([`LaunchStats`]), without NUL, if it fits `len` bytes; returns its length, 0 if nothing was
/// launched.
///
/// # Safety
/// `json` is valid for writing `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cdnaSimLaunchStats(json: *mut c_char, len: usize) -> usize {
    let text = state::with_stats(|stats| {
        if stats.launches == 0 { None } else { serde_json::to_string(stats).ok() }
    });
    // SAFETY: by the caller's promise.
    unsafe { put_bytes(json, len, text.unwrap_or_default().as_bytes()) }
}

/// Forgets this thread's statistics.
#[unsafe(no_mangle)]
pub extern "C" fn cdnaSimResetStats() -> c_int {
    guard(|| {
        state::with_stats(|stats| *stats = LaunchStats::default());
        Ok(())
    })
}

/// # Safety
/// `out` is valid for writing `len` bytes.
unsafe fn put_bytes(out: *mut c_char, len: usize, bytes: &[u8]) -> usize {
    if bytes.len() <= len && !out.is_null() {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len()) };
    }
    bytes.len()
}
