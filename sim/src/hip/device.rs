//! Device selection and properties.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::properties;
use super::state::{self, guard, put};

/// `hipGetDeviceCount`.
///
/// # Safety
/// `count` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { put(count, state::devices()?.len() as c_int) })
}

/// `hipSetDevice`, for the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(ordinal: c_int) -> c_int {
    guard(|| state::set_current(ordinal))
}

/// `hipGetDevice`.
///
/// # Safety
/// `ordinal` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(ordinal: *mut c_int) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { put(ordinal, state::current()) })
}

/// `hipDeviceGet`.
///
/// # Safety
/// `device` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    guard(|| {
        state::device(ordinal)?;
        // SAFETY: by the caller's promise.
        unsafe { put(device, ordinal) }
    })
}

/// `hipDeviceGetName`: at most `len - 1` bytes and a NUL.
///
/// # Safety
/// `name` is null or valid for writing `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, len: c_int, device: c_int) -> c_int {
    guard(|| {
        let text = properties::name(state::device(device)?.params());
        // SAFETY: by the caller's promise.
        unsafe { properties::put_text(name, len, &text) }
    })
}

/// `hipDeviceGetPCIBusId`: simulated devices sit at `0000:0<ordinal + 1>:00.0`.
///
/// # Safety
/// `id` is null or valid for writing `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: c_int) -> c_int {
    guard(|| {
        state::device(device)?;
        let text = format!("0000:{:02x}:00.0", device + 1);
        // SAFETY: by the caller's promise.
        unsafe { properties::put_text(id, len, &text) }
    })
}

/// `hipDeviceTotalMem`.
///
/// # Safety
/// `bytes` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: c_int) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { put(bytes, state::device(device)?.params().device.memory as usize) })
}

/// `hipDeviceComputeCapability`: major and minor as the property struct has them.
///
/// # Safety
/// `major` and `minor` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: c_int,
) -> c_int {
    guard(|| {
        let (a, b) = properties::capability(state::device(device)?.params().arch);
        // SAFETY: by the caller's promise.
        unsafe {
            put(major, a)?;
            put(minor, b)
        }
    })
}

/// `hipDeviceGetAttribute`.
///
/// # Safety
/// `value` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    device: c_int,
) -> c_int {
    guard(|| {
        let result = properties::attribute(state::device(device)?.params(), attribute, device)?;
        // SAFETY: by the caller's promise.
        unsafe { put(value, result) }
    })
}

/// `hipGetDeviceProperties` with the property layout of ROCm 6.
///
/// # Safety
/// `properties` is null or valid for writing a `hipDeviceProp_tR0600`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(
    properties: *mut c_void,
    device: c_int,
) -> c_int {
    guard(|| {
        let params = state::device(device)?.params();
        // SAFETY: by the caller's promise; a byte array of the struct's size.
        unsafe { put(properties.cast(), properties::r0600(params, device)) }
    })
}

/// `hipGetDeviceProperties` with the property layout before ROCm 6: the headers of later ones call
/// the function above by this name.
///
/// # Safety
/// `properties` is null or valid for writing a `hipDeviceProp_tR0000`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceProperties(properties: *mut c_void, device: c_int) -> c_int {
    guard(|| {
        let params = state::device(device)?.params();
        // SAFETY: by the caller's promise; a byte array of the struct's size.
        unsafe { put(properties.cast(), properties::r0000(params, device)) }
    })
}

/// `hipDeviceSynchronize`: launches have always ended by the time they return.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> c_int {
    guard(|| state::current_device().map(|_| ()))
}

/// `hipSetDeviceFlags`: accepted and without effect.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDeviceFlags(_flags: c_uint) -> c_int {
    guard(|| Ok(()))
}

/// `hipDeviceReset`: not done, since other threads may use the device.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceReset() -> c_int {
    guard(|| Ok(()))
}
