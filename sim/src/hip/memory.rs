//! Allocation, copies and fills. All of them are complete when they return.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use super::codes;
use super::state::{Outcome, current_device, fail, guard, put};

/// `hipMemcpyKind`.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;

/// `hipMalloc`. Zero bytes give a null pointer.
///
/// # Safety
/// `ptr` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(ptr: *mut *mut c_void, bytes: usize) -> c_int {
    guard(|| {
        let address = match bytes {
            0 => 0,
            _ => current_device()?
                .memory_mut()
                .alloc(bytes as u64)
                .map_err(|e| fail(codes::OUT_OF_MEMORY, e.to_string()))?,
        };
        // SAFETY: by the caller's promise.
        unsafe { put(ptr, address as *mut c_void) }
    })
}

/// `hipExtMallocWithFlags`: as `hipMalloc`.
///
/// # Safety
/// `ptr` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtMallocWithFlags(
    ptr: *mut *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipMalloc(ptr, bytes) }
}

/// `hipFree`. A null pointer is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(ptr: *mut c_void) -> c_int {
    guard(|| {
        let address = ptr as u64;
        // HIP finds the device by the address; the current one is only the first to try.
        if address == 0 || current_device()?.memory_mut().free(address) {
            return Ok(());
        }
        let freed = super::state::devices()?.iter().any(|d| d.memory_mut().free(address));
        let stray =
            || fail(codes::INVALID_VALUE, format!("hipFree of {address:#x}, not allocated"));
        if freed { Ok(()) } else { Err(stray()) }
    })
}

/// `hipMemGetInfo`.
///
/// # Safety
/// `free` and `total` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> c_int {
    guard(|| {
        let memory = current_device()?.memory();
        // SAFETY: by the caller's promise.
        unsafe {
            put(free, memory.free_bytes() as usize)?;
            put(total, memory.capacity() as usize)
        }
    })
}

/// Copies; with [`DEFAULT`], an address in a device allocation is a device address.
///
/// # Safety
/// Host pointers are valid for `bytes` bytes.
unsafe fn copy(dst: *mut c_void, src: *const c_void, bytes: usize, kind: c_int) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    let memory = current_device()?.memory();
    let (to, from) = (dst as u64, src as u64);
    let kind = match (kind, memory.region(to).is_some(), memory.region(from).is_some()) {
        (DEFAULT, true, true) => DEVICE_TO_DEVICE,
        (DEFAULT, true, false) => HOST_TO_DEVICE,
        (DEFAULT, false, true) => DEVICE_TO_HOST,
        (DEFAULT, false, false) => HOST_TO_HOST,
        (kind, ..) => kind,
    };
    let ok = match kind {
        HOST_TO_HOST | HOST_TO_DEVICE if src.is_null() => false,
        HOST_TO_HOST | DEVICE_TO_HOST if dst.is_null() => false,
        HOST_TO_HOST => {
            // SAFETY: by the caller's promise.
            unsafe { std::ptr::copy(src.cast::<u8>(), dst.cast::<u8>(), bytes) };
            true
        }
        // SAFETY: by the caller's promise about the host side; the device side is checked.
        HOST_TO_DEVICE => {
            memory.write(to, unsafe { std::slice::from_raw_parts(src.cast(), bytes) })
        }
        // SAFETY: as above.
        DEVICE_TO_HOST => {
            memory.read(from, unsafe { std::slice::from_raw_parts_mut(dst.cast(), bytes) })
        }
        DEVICE_TO_DEVICE => memory.copy(to, from, bytes as u64),
        _ => return Err(codes::INVALID_MEMCPY_DIRECTION.into()),
    };
    if ok {
        return Ok(());
    }
    let what = format!("copy of {bytes} bytes from {from:#x} to {to:#x} leaves its allocation");
    Err(fail(codes::INVALID_VALUE, what))
}

fn fill(dst: *mut c_void, pattern: &[u8], count: usize) -> Outcome {
    let bytes = (count as u64).checked_mul(pattern.len() as u64);
    let filled = bytes.is_some_and(|bytes| {
        bytes == 0 || current_device().is_ok_and(|d| d.memory().fill(dst as u64, pattern, bytes))
    });
    if filled {
        return Ok(());
    }
    let what = format!(
        "fill of {count} x {} bytes at {:#x} leaves its allocation",
        pattern.len(),
        dst as u64
    );
    Err(fail(codes::INVALID_VALUE, what))
}

/// `hipMemcpy`.
///
/// # Safety
/// Host pointers are valid for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { copy(dst, src, bytes, kind) })
}

/// `hipMemcpyAsync`.
///
/// # Safety
/// Host pointers are valid for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| unsafe { copy(dst, src, bytes, kind) })
}

macro_rules! directed_copies {
    ($($(#[$doc:meta])* $name:ident, $asynchronous:ident: $dst:ty, $src:ty => $kind:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        /// Host pointers are valid for `bytes` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(dst: $dst, src: $src, bytes: usize) -> c_int {
            // SAFETY: by the caller's promise.
            guard(|| unsafe { copy(dst, src.cast_const(), bytes, $kind) })
        }

        $(#[$doc])*
        /// Asynchronous form.
        ///
        /// # Safety
        /// Host pointers are valid for `bytes` bytes.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $asynchronous(
            dst: $dst,
            src: $src,
            bytes: usize,
            _stream: *mut c_void,
        ) -> c_int {
            // SAFETY: by the caller's promise.
            guard(|| unsafe { copy(dst, src.cast_const(), bytes, $kind) })
        }
    )*};
}

directed_copies! {
    /// `hipMemcpyHtoD`.
    hipMemcpyHtoD, hipMemcpyHtoDAsync: *mut c_void, *mut c_void => HOST_TO_DEVICE;
    /// `hipMemcpyDtoH`.
    hipMemcpyDtoH, hipMemcpyDtoHAsync: *mut c_void, *mut c_void => DEVICE_TO_HOST;
    /// `hipMemcpyDtoD`.
    hipMemcpyDtoD, hipMemcpyDtoDAsync: *mut c_void, *mut c_void => DEVICE_TO_DEVICE;
}

macro_rules! fills {
    ($($(#[$doc:meta])* $name:ident, $asynchronous:ident: $value:ty => $convert:expr;)*) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(dst: *mut c_void, value: $value, count: usize) -> c_int {
            guard(|| fill(dst, &$convert(value).to_le_bytes(), count))
        }

        $(#[$doc])*
        /// Asynchronous form.
        #[unsafe(no_mangle)]
        pub extern "C" fn $asynchronous(
            dst: *mut c_void,
            value: $value,
            count: usize,
            _stream: *mut c_void,
        ) -> c_int {
            guard(|| fill(dst, &$convert(value).to_le_bytes(), count))
        }
    )*};
}

fn low_byte(value: c_int) -> u8 {
    value as u8
}

fn same<T>(value: T) -> T {
    value
}

fills! {
    /// `hipMemset`: bytes.
    hipMemset, hipMemsetAsync: c_int => low_byte;
    /// `hipMemsetD8`: bytes.
    hipMemsetD8, hipMemsetD8Async: c_uchar => same::<u8>;
    /// `hipMemsetD16`: 16-bit units.
    hipMemsetD16, hipMemsetD16Async: c_ushort => same::<u16>;
    /// `hipMemsetD32`: 32-bit units.
    hipMemsetD32, hipMemsetD32Async: c_int => same::<i32>;
}
