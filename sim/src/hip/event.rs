//! Events on the simulated clock of their stream.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, PoisonError};

use super::codes;
use super::state::{Event, Failure, Object, fail, guard, handles, put};
use super::stream;

fn get(handle: *mut c_void) -> Result<Arc<Event>, Failure> {
    match handles().get(handle)? {
        Object::Event(event) => Ok(event),
        _ => Err(codes::INVALID_HANDLE.into()),
    }
}

/// `hipEventCreate`.
///
/// # Safety
/// `event` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreate(event: *mut *mut c_void) -> c_int {
    guard(|| {
        let object = Object::Event(Arc::new(Event { at_us: Mutex::new(None) }));
        // SAFETY: by the caller's promise.
        unsafe { put(event, handles().insert(object)) }
    })
}

/// `hipEventCreateWithFlags`: the flags change nothing here.
///
/// # Safety
/// `event` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut *mut c_void, _flags: c_uint) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipEventCreate(event) }
}

/// `hipEventDestroy`.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: *mut c_void) -> c_int {
    guard(|| {
        get(event)?;
        handles().remove(event).map(|_| ())
    })
}

/// `hipEventRecord`: takes the stream's simulated time.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    guard(|| {
        let (event, stream) = (get(event)?, stream::get(stream)?);
        let now = *stream.clock_us.lock().unwrap_or_else(PoisonError::into_inner);
        *event.at_us.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        Ok(())
    })
}

/// `hipEventRecordWithFlags`: as `hipEventRecord`.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecordWithFlags(
    event: *mut c_void,
    stream: *mut c_void,
    _flags: c_uint,
) -> c_int {
    hipEventRecord(event, stream)
}

/// `hipStreamWaitEvent`: moves the stream's clock to the event's time if that is later.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(
    stream: *mut c_void,
    event: *mut c_void,
    _flags: c_uint,
) -> c_int {
    guard(|| {
        let (event, stream) = (get(event)?, stream::get(stream)?);
        if let Some(at) = time(&event) {
            let mut clock = stream.clock_us.lock().unwrap_or_else(PoisonError::into_inner);
            *clock = clock.max(at);
        }
        Ok(())
    })
}

/// `hipEventQuery`: an event that was recorded has passed.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: *mut c_void) -> c_int {
    guard(|| get(event).map(|_| ()))
}

/// `hipEventSynchronize`: an event that was recorded has passed.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: *mut c_void) -> c_int {
    guard(|| get(event).map(|_| ()))
}

/// `hipEventElapsedTime`: simulated milliseconds between two recorded events.
///
/// # Safety
/// `ms` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(
    ms: *mut f32,
    start: *mut c_void,
    stop: *mut c_void,
) -> c_int {
    guard(|| {
        let (Some(from), Some(to)) = (time(&*get(start)?), time(&*get(stop)?)) else {
            return Err(fail(codes::INVALID_HANDLE, "an event was not recorded"));
        };
        // SAFETY: by the caller's promise.
        unsafe { put(ms, ((to - from) / 1e3) as f32) }
    })
}

fn time(event: &Event) -> Option<f64> {
    *event.at_us.lock().unwrap_or_else(PoisonError::into_inner)
}
