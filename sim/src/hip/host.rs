//! Page-locked host memory: plain host memory here, which copies reach and kernels do not.
//!
//! Goes in: sizes. Comes out: host addresses, aligned to pages and zeroed. Memory that the program
//! allocated itself may be registered, which changes nothing.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use super::codes;
use super::state::{fail, guard, put};

/// Alignment of allocations, bytes.
const PAGE: usize = 4096;

/// Layouts of the live allocations by address.
fn allocations() -> MutexGuard<'static, HashMap<usize, Layout>> {
    static ALLOCATIONS: LazyLock<Mutex<HashMap<usize, Layout>>> = LazyLock::new(Mutex::default);
    ALLOCATIONS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `hipHostMalloc`: the flags change nothing here. Zero bytes give a null pointer.
///
/// # Safety
/// `ptr` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(
    ptr: *mut *mut c_void,
    bytes: usize,
    _flags: c_uint,
) -> c_int {
    guard(|| {
        // SAFETY: by the caller's promise.
        unsafe { put(ptr, std::ptr::null_mut()) }?;
        if bytes == 0 {
            return Ok(());
        }
        let full = || fail(codes::OUT_OF_MEMORY, format!("the host has no {bytes} bytes"));
        let layout = Layout::from_size_align(bytes, PAGE).map_err(|_| full())?;
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            return Err(full());
        }
        allocations().insert(memory as usize, layout);
        // SAFETY: by the caller's promise.
        unsafe { put(ptr, memory.cast()) }
    })
}

macro_rules! same_as_host_malloc {
    ($($name:ident $(, $flags:ident)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`: as `hipHostMalloc`.")]
        ///
        /// # Safety
        /// `ptr` is null or valid for writing.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            ptr: *mut *mut c_void,
            bytes: usize,
            $($flags: c_uint,)?
        ) -> c_int {
            // SAFETY: by the caller's promise.
            unsafe { hipHostMalloc(ptr, bytes, 0) }
        }
    )*};
}

same_as_host_malloc! {
    hipHostAlloc, _flags;
    hipMallocHost;
    hipMemAllocHost;
}

/// `hipHostFree`. A null pointer is fine.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostFree(ptr: *mut c_void) -> c_int {
    guard(|| {
        if ptr.is_null() {
            return Ok(());
        }
        let stray = || fail(codes::INVALID_VALUE, format!("hipHostFree of {ptr:p}, not allocated"));
        let layout = allocations().remove(&(ptr as usize)).ok_or_else(stray)?;
        // SAFETY: allocated with this layout, and no longer in the list.
        unsafe { dealloc(ptr.cast(), layout) };
        Ok(())
    })
}

/// `hipFreeHost`: as `hipHostFree`.
#[unsafe(no_mangle)]
pub extern "C" fn hipFreeHost(ptr: *mut c_void) -> c_int {
    hipHostFree(ptr)
}

/// `hipHostRegister`: accepted; copies take any host memory.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(ptr: *mut c_void, bytes: usize, _flags: c_uint) -> c_int {
    guard(|| match ptr.is_null() || bytes == 0 {
        true => Err(fail(codes::INVALID_VALUE, "no memory to register")),
        false => Ok(()),
    })
}

/// `hipHostUnregister`: accepted.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(_ptr: *mut c_void) -> c_int {
    guard(|| Ok(()))
}
