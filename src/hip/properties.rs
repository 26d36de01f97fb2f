//! Device properties across HIP versions.
//!
//! Attributes go through `hipDeviceGetAttribute`, whose numbers are stable. The arch name exists
//! only in the property struct, whose layout changed with ROCm 6 ("R0600"); the name is found by
//! its form instead of by an offset, so that both layouts and later ones read alike.

use std::ffi::c_int;

use super::error::{HipError, check, code};
use super::table::Table;
use crate::units::Bytes;

/// `hipDeviceAttributeClockRate`, kHz.
pub(super) const CLOCK_RATE_KHZ: c_int = 5;
/// `hipDeviceAttributeL2CacheSize`, bytes.
pub(super) const L2_CACHE_SIZE: c_int = 19;
/// `hipDeviceAttributeMultiprocessorCount`.
pub(super) const MULTIPROCESSOR_COUNT: c_int = 63;
/// `hipDeviceAttributeMaxSharedMemoryPerBlock`, bytes.
pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: c_int = 74;
/// `hipDeviceAttributeWarpSize`.
pub(super) const WARP_SIZE: c_int = 87;

/// Offset of `totalGlobalMem` in the R0600 layout: after the 256-byte name, the 16-byte UUID and
/// the 8-byte LUID with its 4-byte mask, aligned to 8.
const TOTAL_GLOBAL_MEM_R0600: usize = 288;
/// The same in the layout before: right after the name.
const TOTAL_GLOBAL_MEM_LEGACY: usize = 256;

/// One integer attribute.
pub(super) fn attribute(table: &Table, device: c_int, id: c_int) -> Result<u32, HipError> {
    let mut value: c_int = 0;
    // SAFETY: the pointer is valid for the call.
    check(table, "hipDeviceGetAttribute", unsafe {
        (table.device_attribute)(&mut value, id, device)
    })?;
    u32::try_from(value).map_err(|_| {
        HipError::local(
            "hipDeviceGetAttribute",
            code::UNKNOWN,
            "negative attribute",
            format!("attribute {id} of device {device} is {value}"),
        )
    })
}

/// LLVM target name (features stripped) and memory size from the property struct.
pub(super) fn arch_and_memory(table: &Table, device: c_int) -> Result<(String, Bytes), HipError> {
    // Larger than any version of the struct (1472 bytes in R0600).
    let mut raw = vec![0u64; 1024];
    let (call, f, memory_at) = if let Some(f) = table.device_properties_r0600 {
        ("hipGetDevicePropertiesR0600", f, TOTAL_GLOBAL_MEM_R0600)
    } else if let Some(f) = table.device_properties_legacy {
        ("hipGetDeviceProperties", f, TOTAL_GLOBAL_MEM_LEGACY)
    } else {
        return Err(HipError::local(
            "hipGetDeviceProperties",
            code::NOT_FOUND,
            "hipErrorNotFound",
            "the runtime has no function for device properties",
        ));
    };
    // SAFETY: the buffer is larger than the struct and aligned for it.
    check(table, call, unsafe { f(raw.as_mut_ptr().cast(), device) })?;
    let memory = Bytes(raw[memory_at / 8]);
    let bytes: Vec<u8> = raw.iter().flat_map(|w| w.to_ne_bytes()).collect();
    let arch = arch_name(&bytes[256..]).ok_or_else(|| {
        HipError::local(
            call,
            code::UNKNOWN,
            "no arch name",
            format!("the properties of device {device} hold no gfx target name"),
        )
    })?;
    Ok((arch, memory))
}

/// The first NUL-terminated text of the form `gfx<hex>[:features]`.
fn arch_name(bytes: &[u8]) -> Option<String> {
    let start = bytes.windows(4).position(|w| &w[..3] == b"gfx" && w[3].is_ascii_digit())?;
    let name = bytes[start..].split(|&b| b == 0 || b == b':').next()?;
    String::from_utf8(name.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arch_name_is_found_wherever_it_is_and_loses_its_features() {
        let mut bytes = vec![0u8; 1472];
        bytes[1160..1160 + 22].copy_from_slice(b"gfx950:sramecc+:xnack-");
        assert_eq!(arch_name(&bytes).as_deref(), Some("gfx950"));
        let mut old = vec![1u8; 800];
        old[396..404].copy_from_slice(b"gfx90a\0x");
        assert_eq!(arch_name(&old).as_deref(), Some("gfx90a"));
        assert_eq!(arch_name(&[0; 64]), None);
    }
}
