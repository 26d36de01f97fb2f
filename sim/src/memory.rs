//! The device's address space: allocations that cost no host memory until touched, every access
//! checked.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// First device address handed out; far from null and from typical host addresses.
const FIRST: u64 = 0x7000_0000_0000;
/// Alignment of allocations, and the unmapped gap between two of them.
const GRANULE: u64 = 1 << 16;

/// One live allocation.
#[derive(Clone, Copy, Debug)]
pub struct Region {
    /// Device address.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    ptr: NonNull<u8>,
}

/// Device memory. Kernels race on it exactly as they would on hardware; the accessors copy through
/// raw pointers and never form references to it.
#[derive(Debug)]
pub struct AddressSpace {
    regions: BTreeMap<u64, Region>,
    next: u64,
    capacity: u64,
    used: u64,
}

// SAFETY: the pointers are owned by this struct; concurrent kernel accesses go through raw copies
// and allocation changes need `&mut self`.
unsafe impl Send for AddressSpace {}
unsafe impl Sync for AddressSpace {}

/// The device is out of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("out of device memory: {requested} bytes requested, {free} of {capacity} free")]
pub struct OutOfMemory {
    /// Bytes requested.
    pub requested: u64,
    /// Bytes free.
    pub free: u64,
    /// Bytes in all.
    pub capacity: u64,
}

impl AddressSpace {
    /// An empty device memory of `capacity` bytes.
    pub fn new(capacity: u64) -> Self {
        AddressSpace { regions: BTreeMap::new(), next: FIRST, capacity, used: 0 }
    }

    fn layout(len: u64) -> Option<Layout> {
        Layout::from_size_align(usize::try_from(len).ok()?, 16).ok()
    }

    /// Allocates `len` zeroed bytes and returns their device address. Host pages are taken on first
    /// touch.
    pub fn alloc(&mut self, len: u64) -> Result<u64, OutOfMemory> {
        let oom = OutOfMemory {
            requested: len,
            free: self.capacity - self.used,
            capacity: self.capacity,
        };
        let size = len.max(1).checked_next_multiple_of(GRANULE).ok_or(oom)?;
        if size > self.capacity - self.used {
            return Err(oom);
        }
        let layout = Self::layout(size).ok_or(oom)?;
        // SAFETY: the layout has a non-zero size.
        let ptr = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(oom)?;
        let base = self.next;
        self.next += size + GRANULE;
        self.used += size;
        self.regions.insert(base, Region { base, len: len.max(1), ptr });
        Ok(base)
    }

    /// Frees the allocation that starts at `base`; false if there is none.
    pub fn free(&mut self, base: u64) -> bool {
        let Some(region) = self.regions.remove(&base) else { return false };
        let size = region.len.next_multiple_of(GRANULE);
        self.used -= size;
        if let Some(layout) = Self::layout(size) {
            // SAFETY: allocated in `alloc` with the same layout.
            unsafe { dealloc(region.ptr.as_ptr(), layout) };
        }
        true
    }

    /// Bytes in all.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes not allocated.
    pub fn free_bytes(&self) -> u64 {
        self.capacity - self.used
    }

    /// The allocation that holds `addr`.
    #[inline]
    pub fn region(&self, addr: u64) -> Option<Region> {
        let (_, region) = self.regions.range(..=addr).next_back()?;
        region.contains(addr, 1).then_some(*region)
    }

    /// Copies out of device memory; false when the range leaves its allocation.
    pub fn read(&self, addr: u64, out: &mut [u8]) -> bool {
        let Some(r) = self.region(addr).filter(|r| r.contains(addr, out.len() as u64)) else {
            return out.is_empty();
        };
        // SAFETY: the range lies inside the allocation.
        unsafe { std::ptr::copy_nonoverlapping(r.at(addr), out.as_mut_ptr(), out.len()) };
        true
    }

    /// Copies into device memory; false when the range leaves its allocation.
    pub fn write(&self, addr: u64, data: &[u8]) -> bool {
        let Some(r) = self.region(addr).filter(|r| r.contains(addr, data.len() as u64)) else {
            return data.is_empty();
        };
        // SAFETY: the range lies inside the allocation.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), r.at(addr), data.len()) };
        true
    }
}

impl Drop for AddressSpace {
    fn drop(&mut self) {
        while let Some((&base, _)) = self.regions.first_key_value() {
            self.free(base);
        }
    }
}

impl Region {
    /// Whether `bytes` bytes at `addr` lie inside.
    #[inline]
    pub fn contains(&self, addr: u64, bytes: u64) -> bool {
        addr >= self.base && addr - self.base <= self.len && bytes <= self.len - (addr - self.base)
    }

    /// Host pointer of a device address inside the region.
    #[inline]
    pub fn at(&self, addr: u64) -> *mut u8 {
        // Callers check with `contains`; wrapping keeps the arithmetic itself defined.
        self.ptr.as_ptr().wrapping_add((addr - self.base) as usize)
    }
}
