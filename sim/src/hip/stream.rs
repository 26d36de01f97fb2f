//! Streams: each has a clock that its launches advance, so that what one thread measures on its
//! own stream does not depend on what others do.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex};

use super::codes;
use super::state::{self, Failure, Object, Stream, fail, guard, handles, put};

/// `hipStreamPerThread`, which is served by the null stream.
const PER_THREAD: usize = 2;

/// The stream behind a handle; null is the default stream.
pub(super) fn get(handle: *mut c_void) -> Result<Arc<Stream>, Failure> {
    if handle.is_null() || handle as usize == PER_THREAD {
        return Ok(state::null_stream());
    }
    match handles().get(handle)? {
        Object::Stream(stream) => Ok(stream),
        _ => Err(codes::INVALID_HANDLE.into()),
    }
}

/// `hipStreamCreate`.
///
/// # Safety
/// `stream` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreate(stream: *mut *mut c_void) -> c_int {
    guard(|| {
        let object = Object::Stream(Arc::new(Stream { clock_us: Mutex::new(0.0) }));
        // SAFETY: by the caller's promise.
        unsafe { put(stream, handles().insert(object)) }
    })
}

/// `hipStreamCreateWithFlags`: the flags change nothing here.
///
/// # Safety
/// `stream` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(
    stream: *mut *mut c_void,
    _flags: c_uint,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipStreamCreate(stream) }
}

/// `hipStreamCreateWithPriority`: neither flags nor priority change anything here.
///
/// # Safety
/// `stream` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithPriority(
    stream: *mut *mut c_void,
    _flags: c_uint,
    _priority: c_int,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipStreamCreate(stream) }
}

/// `hipStreamDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: *mut c_void) -> c_int {
    guard(|| {
        let mut handles = handles();
        let Object::Stream(_) = handles.get(stream)? else {
            return Err(codes::INVALID_HANDLE.into());
        };
        handles.remove(stream).map(|_| ())
    })
}

/// `hipStreamQuery`: everything launched has ended.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(stream: *mut c_void) -> c_int {
    guard(|| get(stream).map(|_| ()))
}

/// `hipStreamSynchronize`: everything launched has ended.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: *mut c_void) -> c_int {
    guard(|| get(stream).map(|_| ()))
}

/// `hipDeviceGetStreamPriorityRange`: all streams have priority 0.
///
/// # Safety
/// `least` and `greatest` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    least: *mut c_int,
    greatest: *mut c_int,
) -> c_int {
    guard(|| {
        // SAFETY: by the caller's promise.
        unsafe {
            put(least, 0)?;
            put(greatest, 0)
        }
    })
}

/// `hipStreamGetPriority`: 0.
///
/// # Safety
/// `priority` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetPriority(stream: *mut c_void, priority: *mut c_int) -> c_int {
    guard(|| {
        get(stream)?;
        // SAFETY: by the caller's promise.
        unsafe { put(priority, 0) }
    })
}

/// `hipStreamGetFlags`: 0.
///
/// # Safety
/// `flags` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetFlags(stream: *mut c_void, flags: *mut c_uint) -> c_int {
    guard(|| {
        get(stream)?;
        // SAFETY: by the caller's promise.
        unsafe { put(flags, 0) }
    })
}

/// `hipStreamIsCapturing`: never (0).
///
/// # Safety
/// `status` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamIsCapturing(stream: *mut c_void, status: *mut c_int) -> c_int {
    guard(|| {
        get(stream)?;
        // SAFETY: by the caller's promise.
        unsafe { put(status, 0) }
    })
}

/// A callback of `hipStreamAddCallback`: stream, error code, the caller's data.
pub type StreamCallback = unsafe extern "C" fn(*mut c_void, c_int, *mut c_void);

/// `hipStreamAddCallback`: called at once, since everything launched has ended.
///
/// # Safety
/// `callback` is null or may be called with `stream`, an error code and `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamAddCallback(
    stream: *mut c_void,
    callback: Option<StreamCallback>,
    data: *mut c_void,
    _flags: c_uint,
) -> c_int {
    guard(|| {
        get(stream)?;
        let missing = || fail(codes::INVALID_VALUE, "the callback is null");
        // SAFETY: by the caller's promise.
        unsafe { callback.ok_or_else(missing)?(stream, codes::SUCCESS, data) };
        Ok(())
    })
}

/// `hipLaunchHostFunc`: called at once, since everything launched has ended.
///
/// # Safety
/// `function` is null or may be called with `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchHostFunc(
    stream: *mut c_void,
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> c_int {
    guard(|| {
        get(stream)?;
        let missing = || fail(codes::INVALID_VALUE, "the function is null");
        // SAFETY: by the caller's promise.
        unsafe { function.ok_or_else(missing)?(data) };
        Ok(())
    })
}
