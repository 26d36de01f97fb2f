//! Allocations, copies and fills of rows with a pitch.
//!
//! Goes in: rows, their bytes and the bytes from row to row on both sides. Comes out: the same as of
//! the plain calls, row by row. All of them are complete when they return.

use std::ffi::{c_int, c_void};

use super::codes;
use super::memory::{copy, fill, hipMalloc};
use super::state::{Outcome, fail, guard, put};

/// Alignment of the rows that `hipMallocPitch` lays out, bytes.
const ROW: usize = 256;

/// `hipMallocPitch`: `height` rows of at least `width` bytes.
///
/// # Safety
/// `ptr` and `pitch` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocPitch(
    ptr: *mut *mut c_void,
    pitch: *mut usize,
    width: usize,
    height: usize,
) -> c_int {
    let mut bytes = 0;
    let sized = guard(|| {
        let row = width.checked_next_multiple_of(ROW);
        let size = row.and_then(|row| Some((row, row.checked_mul(height)?)));
        let too_large = || fail(codes::OUT_OF_MEMORY, format!("{height} rows of {width} bytes"));
        let (row, size) = size.ok_or_else(too_large)?;
        bytes = size;
        // SAFETY: by the caller's promise.
        unsafe { put(pitch, row) }
    });
    match sized {
        // SAFETY: by the caller's promise.
        codes::SUCCESS => unsafe { hipMalloc(ptr, bytes) },
        refused => refused,
    }
}

/// Calls `row` with the offsets of each row on both sides.
fn rows(
    pitches: [usize; 2],
    width: usize,
    height: usize,
    mut row: impl FnMut(usize, usize) -> Outcome,
) -> Outcome {
    if pitches.iter().any(|&pitch| pitch < width || pitch.checked_mul(height).is_none()) {
        let what = format!("rows of {width} bytes do not fit pitches of {pitches:?}");
        return Err(fail(codes::INVALID_VALUE, what));
    }
    (0..height).try_for_each(|i| row(i * pitches[0], i * pitches[1]))
}

/// `hipMemcpy2D`.
///
/// # Safety
/// Host pointers are valid for all rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2D(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
) -> c_int {
    guard(|| {
        rows([dst_pitch, src_pitch], width, height, |to, from| {
            // SAFETY: by the caller's promise.
            unsafe { copy(dst.wrapping_byte_add(to), src.wrapping_byte_add(from), width, kind) }
        })
    })
}

/// `hipMemcpy2DAsync`.
///
/// # Safety
/// As [`hipMemcpy2D`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy2DAsync(
    dst: *mut c_void,
    dst_pitch: usize,
    src: *const c_void,
    src_pitch: usize,
    width: usize,
    height: usize,
    kind: c_int,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipMemcpy2D(dst, dst_pitch, src, src_pitch, width, height, kind) }
}

/// `hipMemset2D`: bytes.
#[unsafe(no_mangle)]
pub extern "C" fn hipMemset2D(
    dst: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
) -> c_int {
    guard(|| {
        rows([pitch; 2], width, height, |to, _| {
            fill(dst.wrapping_byte_add(to), &[value as u8], width)
        })
    })
}

/// `hipMemset2DAsync`: bytes.
#[unsafe(no_mangle)]
pub extern "C" fn hipMemset2DAsync(
    dst: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    _stream: *mut c_void,
) -> c_int {
    hipMemset2D(dst, pitch, value, width, height)
}
