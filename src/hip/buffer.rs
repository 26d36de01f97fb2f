//! Device memory that frees itself.

use std::ffi::{c_int, c_void};

use super::device::Device;
use super::error::{HipError, check};
use super::table::Handle;
use crate::units::Bytes;

const HOST_TO_DEVICE: c_int = 1;
const DEVICE_TO_HOST: c_int = 2;
const DEVICE_TO_DEVICE: c_int = 3;

/// One allocation. Copies are synchronous and ordered after everything queued on the device.
pub struct Buffer {
    device: Device,
    ptr: Handle,
    bytes: u64,
}

// SAFETY: the pointer is a device address; only HIP dereferences it.
unsafe impl Send for Buffer {}
unsafe impl Sync for Buffer {}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({:#x}, {} bytes)", self.ptr(), self.bytes)
    }
}

impl Buffer {
    pub(super) fn new(device: &Device, bytes: Bytes) -> Result<Self, HipError> {
        let table = device.shared.current()?;
        let size = usize::try_from(bytes.0)
            .map_err(|_| HipError::invalid("hipMalloc", format!("{} bytes", bytes.0)))?;
        let mut ptr: Handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check(table, "hipMalloc", unsafe { (table.malloc)(&mut ptr, size) })?;
        device.shared.tracker.add(bytes.0);
        Ok(Buffer { device: device.clone(), ptr, bytes: bytes.0 })
    }

    /// Device address; 0 for an empty buffer.
    pub fn ptr(&self) -> u64 {
        self.ptr as u64
    }

    /// Size as requested.
    pub fn len(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Copies `data` to the start of the buffer.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] if it does not fit, or the runtime's.
    pub fn upload(&self, data: &[u8]) -> Result<(), HipError> {
        self.upload_at(0, data)
    }

    /// Copies `data` to `offset` bytes into the buffer.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] if it does not fit, or the runtime's.
    pub fn upload_at(&self, offset: u64, data: &[u8]) -> Result<(), HipError> {
        let dst = self.range("hipMemcpy", offset, data.len() as u64)?;
        self.copy(dst, data.as_ptr().cast(), data.len(), HOST_TO_DEVICE)
    }

    /// Copies the whole buffer to the host.
    ///
    /// # Errors
    /// The runtime's, including a fault of a kernel queued before.
    pub fn download(&self) -> Result<Vec<u8>, HipError> {
        self.download_range(0, self.bytes)
    }

    /// Copies `bytes` bytes from `offset` to the host.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] past the end, or the runtime's.
    pub fn download_range(&self, offset: u64, bytes: u64) -> Result<Vec<u8>, HipError> {
        let src = self.range("hipMemcpy", offset, bytes)?;
        let mut out = vec![0u8; bytes as usize];
        self.copy(out.as_mut_ptr().cast(), src.cast_const(), out.len(), DEVICE_TO_HOST)?;
        Ok(out)
    }

    /// Copies the whole of `source` to the start of this buffer.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] if it does not fit, or the runtime's.
    pub fn copy_from(&self, source: &Buffer) -> Result<(), HipError> {
        let dst = self.range("hipMemcpy", 0, source.bytes)?;
        self.copy(dst, source.ptr.cast_const(), source.bytes as usize, DEVICE_TO_DEVICE)
    }

    /// Queues a fill with zeros.
    ///
    /// # Errors
    /// The runtime's.
    pub fn fill_zero(&self) -> Result<(), HipError> {
        self.fill(0)
    }

    /// Queues a fill with one byte.
    ///
    /// # Errors
    /// The runtime's.
    pub fn fill(&self, byte: u8) -> Result<(), HipError> {
        if self.is_empty() {
            return Ok(());
        }
        let shared = &self.device.shared;
        let table = shared.current()?;
        // SAFETY: the range is this allocation.
        let code = unsafe {
            (table.memset_async)(self.ptr, byte.into(), self.bytes as usize, shared.stream)
        };
        check(table, "hipMemsetAsync", code)
    }

    fn range(&self, call: &'static str, offset: u64, bytes: u64) -> Result<Handle, HipError> {
        if offset.checked_add(bytes).is_none_or(|end| end > self.bytes) {
            return Err(HipError::invalid(
                call,
                format!("{bytes} bytes at offset {offset} of a buffer of {}", self.bytes),
            ));
        }
        Ok(self.ptr.wrapping_byte_add(offset as usize))
    }

    fn copy(
        &self,
        dst: Handle,
        src: *const c_void,
        bytes: usize,
        kind: c_int,
    ) -> Result<(), HipError> {
        if bytes == 0 {
            return Ok(());
        }
        self.device.synchronize()?;
        let table = self.device.shared.current()?;
        // SAFETY: both ranges were checked and are live.
        check(table, "hipMemcpy", unsafe { (table.memcpy)(dst, src, bytes, kind) })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let shared = &self.device.shared;
        shared.tracker.remove(self.bytes);
        if !shared.is_lost()
            && let Ok(table) = shared.current()
        {
            // SAFETY: allocated by hipMalloc and not freed before. A failure to free has no remedy.
            unsafe { (table.free)(self.ptr) };
        }
    }
}
