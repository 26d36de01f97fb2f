//! The device's address space: allocations that cost no host memory until touched, every access
//! checked.
//!
//! Goes in: sizes and device addresses. Comes out: zeroed allocations backed by unreserved
//! anonymous mappings, and checked copies in and out of them. Addresses are handed out in
//! ascending order and come back into use only when the space has been run through, so a stale
//! pointer faults instead of reaching somebody else's data.

use std::ptr::NonNull;
use std::sync::Arc;

use memmap2::{MmapMut, MmapOptions, UncheckedAdvice};

/// First device address handed out; far from null.
const FIRST: u64 = 0x1000_0000_0000;
/// End of the device addresses: flat addresses have 47 bits in user mode.
const END: u64 = 0x7000_0000_0000;
/// Devices whose address ranges are kept apart.
const DEVICES: u64 = 8;
/// Alignment of allocations, and the unmapped gap between two of them.
const GRANULE: u64 = 1 << 16;
/// Sizes of the allocations that ask for large pages: from one such page on.
#[cfg(target_os = "linux")]
const LARGE_PAGES: std::ops::RangeInclusive<usize> = 1 << 21..=1 << 26;
/// From this size on, zeroing gives host pages back instead of writing to them.
const LAZY_ZERO: u64 = 1 << 20;

/// Start of the flat addresses that mean LDS, as the hardware's `src_shared_base` reads.
pub const SHARED_APERTURE: u64 = 0x0001_0000_0000_0000;
/// Start of the flat addresses that mean private memory, as `src_private_base` reads.
pub const PRIVATE_APERTURE: u64 = 0x0002_0000_0000_0000;
/// Bytes of each aperture.
pub const APERTURE_SIZE: u64 = 1 << 32;

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
    /// In address order, with the mapping of each in `maps` at the same place.
    regions: Vec<Region>,
    maps: Vec<Arc<MmapMut>>,
    first: u64,
    end: u64,
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
        Self::of_device(capacity, 0)
    }

    /// An empty memory of `capacity` bytes for device number `ordinal`. The addresses of the first
    /// eight devices do not overlap, so that an address tells its device.
    pub fn of_device(capacity: u64, ordinal: u64) -> Self {
        let span = (END - FIRST) / DEVICES;
        let first = FIRST + ordinal % DEVICES * span;
        AddressSpace {
            regions: Vec::new(),
            maps: Vec::new(),
            first,
            end: first + span - GRANULE,
            next: first,
            capacity,
            used: 0,
        }
    }

    /// The same memory with the allocations of this moment, for a launch: it keeps them mapped
    /// even if they are freed meanwhile, and does not see later ones.
    pub fn snapshot(&self) -> Self {
        AddressSpace { regions: self.regions.clone(), maps: self.maps.clone(), ..*self }
    }

    /// Allocates `len` zeroed bytes and returns their device address, a multiple of 64 KiB.
    ///
    /// # Errors
    /// When the device, or the host's address space, has no room left.
    pub fn alloc(&mut self, len: u64) -> Result<u64, OutOfMemory> {
        let oom = OutOfMemory { requested: len, free: self.free_bytes(), capacity: self.capacity };
        let size = footprint(len).filter(|&size| size <= self.free_bytes()).ok_or(oom)?;
        let base = self.place(size).ok_or(oom)?;
        let bytes = usize::try_from(size).map_err(|_| oom)?;
        let mut map =
            MmapOptions::new().len(bytes).no_reserve_swap().map_anon().map_err(|_| oom)?;
        // Rows of a matrix lie in as many pages, and looking up small ones costs more than a store. In
        // larger allocations, which may be touched here and there only, large pages would cost memory.
        // Without them (not every kernel has them) nothing else changes.
        #[cfg(target_os = "linux")]
        if LARGE_PAGES.contains(&bytes) {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        let ptr = NonNull::new(map.as_mut_ptr()).ok_or(oom)?;
        let at = self.regions.partition_point(|r| r.base < base);
        self.regions.insert(at, Region { base, len: len.max(1), ptr });
        self.maps.insert(at, Arc::new(map));
        self.next = base + size + GRANULE;
        self.used += size;
        Ok(base)
    }

    /// Frees the allocation that starts at `base`; false if there is none.
    pub fn free(&mut self, base: u64) -> bool {
        let Ok(at) = self.regions.binary_search_by_key(&base, |r| r.base) else { return false };
        let region = self.regions.remove(at);
        drop(self.maps.remove(at));
        self.used -= footprint(region.len).unwrap_or(0);
        true
    }

    /// An address with `size` free bytes behind it and a gap on both sides.
    fn place(&self, size: u64) -> Option<u64> {
        if self.next.checked_add(size)? <= self.end {
            return Some(self.next);
        }
        let mut at = self.first;
        for region in &self.regions {
            if region.base.checked_sub(at)? >= size.checked_add(GRANULE)? {
                return Some(at);
            }
            at = region.base + footprint(region.len)? + GRANULE;
        }
        (at.checked_add(size)? <= self.end).then_some(at)
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
        let at = self.regions.partition_point(|r| r.base <= addr);
        let region = self.regions.get(at.checked_sub(1)?)?;
        region.contains(addr, 1).then_some(*region)
    }

    /// The allocation that holds all of `bytes` bytes at `addr`.
    #[inline]
    pub fn range(&self, addr: u64, bytes: u64) -> Option<Region> {
        self.region(addr).filter(|r| r.contains(addr, bytes))
    }

    /// Copies out of device memory; false when the range leaves its allocation.
    pub fn read(&self, addr: u64, out: &mut [u8]) -> bool {
        let Some(r) = self.range(addr, out.len() as u64) else { return out.is_empty() };
        // SAFETY: the range lies inside the allocation.
        unsafe { std::ptr::copy_nonoverlapping(r.at(addr), out.as_mut_ptr(), out.len()) };
        true
    }

    /// Copies into device memory; false when the range leaves its allocation.
    pub fn write(&self, addr: u64, data: &[u8]) -> bool {
        let Some(r) = self.range(addr, data.len() as u64) else { return data.is_empty() };
        // SAFETY: the range lies inside the allocation.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), r.at(addr), data.len()) };
        true
    }

    /// Copies within device memory; the ranges may overlap. False when one leaves its allocation.
    pub fn copy(&self, dst: u64, src: u64, bytes: u64) -> bool {
        let (Some(to), Some(from)) = (self.range(dst, bytes), self.range(src, bytes)) else {
            return bytes == 0;
        };
        // SAFETY: both ranges lie inside their allocations.
        unsafe { std::ptr::copy(from.at(src), to.at(dst), bytes as usize) };
        true
    }

    /// Fills with the `pattern`, repeated; false when the range leaves its allocation. Zeroing a
    /// large range costs no host memory.
    pub fn fill(&self, addr: u64, pattern: &[u8], bytes: u64) -> bool {
        let at = self.regions.partition_point(|r| r.base <= addr);
        let Some((r, map)) =
            at.checked_sub(1).and_then(|i| self.regions.get(i).zip(self.maps.get(i)))
        else {
            return bytes == 0;
        };
        if !r.contains(addr, bytes) || pattern.is_empty() {
            return bytes == 0;
        }
        let (mut start, end) = (addr - r.base, addr - r.base + bytes);
        if bytes >= LAZY_ZERO && pattern.iter().all(|&b| b == 0) {
            let (first, last) = (start.next_multiple_of(GRANULE), end / GRANULE * GRANULE);
            // SAFETY: whole pages of a private anonymous mapping; dropping them makes them zero,
            // which is what was asked for.
            let dropped = unsafe {
                map.unchecked_advise_range(
                    UncheckedAdvice::DontNeed,
                    first as usize,
                    (last - first) as usize,
                )
            };
            if dropped.is_ok() {
                r.fill(start, pattern, first - start);
                start = last;
            }
        }
        r.fill(start, pattern, end - start);
        true
    }
}

/// What an allocation of `len` bytes takes from the device.
fn footprint(len: u64) -> Option<u64> {
    len.max(1).checked_next_multiple_of(GRANULE)
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

    /// Repeats `pattern` over `bytes` bytes at `offset`, which the caller has checked.
    fn fill(&self, offset: u64, pattern: &[u8], bytes: u64) {
        let ptr = self.ptr.as_ptr().wrapping_add(offset as usize);
        if let [byte] = pattern {
            // SAFETY: the range lies inside the allocation.
            unsafe { std::ptr::write_bytes(ptr, *byte, bytes as usize) };
            return;
        }
        for (i, byte) in pattern.iter().cycle().take(bytes as usize).enumerate() {
            // SAFETY: the range lies inside the allocation.
            unsafe { ptr.add(i).write(*byte) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        /// Sets bit 0 of a byte for each page of the mapping that is in memory.
        fn mincore(addr: *mut u8, length: usize, pages: *mut u8) -> i32;
    }

    /// Bytes of an allocation that take host memory.
    fn resident(mem: &AddressSpace, base: u64) -> u64 {
        let region = mem.region(base).unwrap();
        let mut pages = vec![0_u8; region.len.div_ceil(4096) as usize];
        // SAFETY: the allocation is mapped, and there is a byte for each of its pages.
        let result = unsafe { mincore(region.at(base), region.len as usize, pages.as_mut_ptr()) };
        assert_eq!(result, 0);
        pages.iter().map(|page| u64::from(page & 1) * 4096).sum()
    }

    #[test]
    fn a_gibibyte_costs_no_host_memory_until_touched_and_none_after_zeroing() {
        let mut mem = AddressSpace::new(192 << 30);
        let base = mem.alloc(1 << 30).unwrap();
        let huge = mem.alloc(100 << 30).unwrap();
        assert_eq!([resident(&mem, base), resident(&mem, huge)], [0; 2]);
        assert!(mem.fill(base, &[1], 256 << 20));
        assert!(resident(&mem, base) >= 256 << 20);
        assert!(mem.fill(base, &[0], 1 << 30));
        assert!(mem.fill(huge, &[0], 100 << 30));
        assert_eq!([resident(&mem, base), resident(&mem, huge)], [0; 2]);
        let mut byte = [9];
        assert!(mem.read(base + (256 << 20) - 1, &mut byte));
        assert_eq!(byte, [0]);
    }

    #[test]
    fn a_snapshot_shares_bytes_and_outlives_a_free() {
        let mut mem = AddressSpace::new(1 << 30);
        let a = mem.alloc(4).unwrap();
        let snapshot = mem.snapshot();
        let b = mem.alloc(4).unwrap();
        assert!(snapshot.write(a, &[1, 2, 3, 4]));
        let mut out = [0; 4];
        assert!(mem.read(a, &mut out));
        assert_eq!(out, [1, 2, 3, 4]);
        assert!(!snapshot.read(b, &mut out));
        mem.free(a);
        assert!(snapshot.read(a, &mut out));
        assert!(!mem.read(a, &mut out));
    }

    #[test]
    fn accesses_stop_at_the_last_byte_of_an_allocation() {
        let mut mem = AddressSpace::new(1 << 30);
        let a = mem.alloc(100).unwrap();
        let b = mem.alloc(100).unwrap();
        assert!(mem.write(a + 96, &[1, 2, 3, 4]));
        assert!(!mem.write(a + 97, &[1, 2, 3, 4]));
        assert!(!mem.read(b - 1, &mut [0]));
        assert!(!mem.read(u64::MAX, &mut [0]));
        assert!(mem.free(a));
        assert!(!mem.free(a));
        assert!(!mem.read(a, &mut [0]));
        assert!(mem.region(b + 99).is_some());
        assert!(mem.region(b + 100).is_none());
    }

    #[test]
    fn capacity_is_enforced_and_returned_on_free() {
        let mut mem = AddressSpace::new(1 << 20);
        let a = mem.alloc(900 << 10).unwrap();
        let error = mem.alloc(200 << 10).unwrap_err();
        assert_eq!(error.requested, 200 << 10);
        assert_eq!(error.free, (1 << 20) - 15 * GRANULE);
        assert!(mem.alloc(u64::MAX).is_err());
        mem.free(a);
        assert_eq!(mem.free_bytes(), 1 << 20);
        assert!(mem.alloc(1 << 20).is_ok());
    }

    #[test]
    fn addresses_are_reused_only_when_the_space_is_exhausted() {
        let mut mem = AddressSpace::new(1 << 20);
        let a = mem.alloc(1).unwrap();
        mem.free(a);
        assert_ne!(mem.alloc(1).unwrap(), a);
        mem.next = mem.end;
        assert_eq!(mem.alloc(1).unwrap(), a);
        mem.next = mem.end;
        let third = mem.alloc(3 * GRANULE).unwrap();
        assert!(mem.regions.is_sorted_by_key(|r| r.base));
        assert!(third > a);
    }

    #[test]
    fn copies_and_patterned_fills_write_exactly_their_range() {
        let mut mem = AddressSpace::new(1 << 30);
        let a = mem.alloc(16).unwrap();
        assert!(mem.fill(a + 1, &[1, 2], 5));
        let mut out = [0; 16];
        assert!(mem.read(a, &mut out));
        assert_eq!(out, [0, 1, 2, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert!(mem.copy(a + 2, a + 1, 5));
        assert!(mem.read(a, &mut out));
        assert_eq!(out[..8], [0, 1, 1, 2, 1, 2, 1, 0]);
        assert!(!mem.copy(a + 12, a, 5));
        let b = mem.alloc(3 << 20).unwrap();
        assert!(mem.fill(b, &[7], 3 << 20));
        assert!(mem.fill(b + 5, &[0], (2 << 20) + 3));
        let mut all = vec![0; 3 << 20];
        assert!(mem.read(b, &mut all));
        let zeros = 5..(2 << 20) + 8;
        assert!(all.iter().enumerate().all(|(i, &v)| v == if zeros.contains(&i) { 0 } else { 7 }));
    }
}
