//! Allocation, copies and fills. All of them are complete when they return.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};

use super::codes;
use super::state::{self, Failure, Outcome, current_device, fail, guard, put};
use crate::device::Device;

/// `hipMemcpyKind`.
const HOST_TO_HOST: c_int = 0;
const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;
const DEFAULT: c_int = 4;
/// Bytes copied at a time between devices.
const PIECE: usize = 1 << 20;

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

/// `hipMallocAsync`: as `hipMalloc`, at once.
///
/// # Safety
/// `ptr` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(
    ptr: *mut *mut c_void,
    bytes: usize,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipMalloc(ptr, bytes) }
}

/// `hipFreeAsync`: as `hipFree`, at once: what was launched before has ended.
#[unsafe(no_mangle)]
pub extern "C" fn hipFreeAsync(ptr: *mut c_void, _stream: *mut c_void) -> c_int {
    hipFree(ptr)
}

/// `hipFree`. A null pointer is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(ptr: *mut c_void) -> c_int {
    guard(|| {
        let address = ptr as u64;
        if address == 0 || device_of(address)?.memory_mut().free(address) {
            return Ok(());
        }
        Err(fail(codes::INVALID_VALUE, format!("hipFree of {address:#x}, not allocated")))
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

/// The device whose memory holds `address`: HIP finds it by the address, whichever is current. The
/// current one where none does.
fn device_of(address: u64) -> Result<&'static Device, Failure> {
    let current = current_device()?;
    if current.memory().region(address).is_some() {
        return Ok(current);
    }
    let holds = |device: &&Device| device.memory().region(address).is_some();
    Ok(state::devices()?.iter().find(holds).unwrap_or(current))
}

/// Copies between allocations of two devices, through the host.
fn copy_across(to: u64, target: &Device, from: u64, source: &Device, bytes: usize) -> bool {
    let (target, source) = (target.memory(), source.memory());
    let whole = target.range(to, bytes as u64).is_some();
    let mut piece = vec![0; bytes.min(PIECE)];
    whole
        && (0..bytes).step_by(PIECE).all(|at| {
            let piece = &mut piece[..(bytes - at).min(PIECE)];
            let at = at as u64;
            source.read(from.wrapping_add(at), piece) && target.write(to.wrapping_add(at), piece)
        })
}

/// Copies; with [`DEFAULT`], an address in a device allocation is a device address.
///
/// # Safety
/// Host pointers are valid for `bytes` bytes.
pub(super) unsafe fn copy(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    let (to, from) = (dst as u64, src as u64);
    let (target, source) = (device_of(to)?, device_of(from)?);
    let on_device = (target.memory().region(to).is_some(), source.memory().region(from).is_some());
    let kind = match (kind, on_device.0, on_device.1) {
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
        HOST_TO_DEVICE => {
            // SAFETY: by the caller's promise about the host side; the device side is checked.
            let data = unsafe { std::slice::from_raw_parts(src.cast(), bytes) };
            target.memory().write(to, data)
        }
        DEVICE_TO_HOST => {
            // SAFETY: as above.
            let out = unsafe { std::slice::from_raw_parts_mut(dst.cast(), bytes) };
            source.memory().read(from, out)
        }
        DEVICE_TO_DEVICE if std::ptr::eq(target, source) => {
            target.memory().copy(to, from, bytes as u64)
        }
        DEVICE_TO_DEVICE => copy_across(to, target, from, source, bytes),
        _ => return Err(codes::INVALID_MEMCPY_DIRECTION.into()),
    };
    if ok {
        return Ok(());
    }
    let what = format!("copy of {bytes} bytes from {from:#x} to {to:#x} leaves its allocation");
    Err(fail(codes::INVALID_VALUE, what))
}

pub(super) fn fill(dst: *mut c_void, pattern: &[u8], count: usize) -> Outcome {
    let bytes = (count as u64).checked_mul(pattern.len() as u64);
    let filled = bytes.is_some_and(|bytes| {
        bytes == 0
            || device_of(dst as u64).is_ok_and(|d| d.memory().fill(dst as u64, pattern, bytes))
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
    unsafe { hipMemcpy(dst, src, bytes, kind) }
}

/// `hipMemcpyWithStream`.
///
/// # Safety
/// Host pointers are valid for `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyWithStream(
    dst: *mut c_void,
    src: *const c_void,
    bytes: usize,
    kind: c_int,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipMemcpy(dst, src, bytes, kind) }
}

/// `hipMemGetAddressRange`: the allocation that holds an address.
///
/// # Safety
/// `base` and `size` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAddressRange(
    base: *mut *mut c_void,
    size: *mut usize,
    address: *mut c_void,
) -> c_int {
    guard(|| {
        let address = address as u64;
        let region = device_of(address)?.memory().region(address);
        let stray = || fail(codes::NOT_FOUND, format!("{address:#x} is in no allocation"));
        let region = region.ok_or_else(stray)?;
        // SAFETY: by the caller's promise. HIP lets either be null.
        unsafe {
            if !base.is_null() {
                put(base, region.base as *mut c_void)?;
            }
            if !size.is_null() {
                put(size, region.len as usize)?;
            }
        }
        Ok(())
    })
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
