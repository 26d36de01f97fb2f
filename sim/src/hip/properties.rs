//! Attribute values and the property struct, from the architecture parameters.

use std::ffi::{c_char, c_int};

use super::codes;
use super::state::{Failure, Outcome, fail};
use crate::arch::ArchParams;
use crate::exec::WAVE;
use crate::isa::Arch;

/// Largest grid dimensions in workgroups: the packet counts work-items in 32 bits, y and z are
/// limited to 16 bits by HIP.
const MAX_GRID: [c_int; 3] = [i32::MAX, 65_535, 65_535];

/// Marketing name, marked as simulated.
pub(super) fn name(params: &ArchParams) -> String {
    format!("{} (simulated)", params.device.name)
}

/// Compute capability of the property struct: gfx942 is 9.4, gfx950 is 9.5.
pub(super) fn capability(arch: Arch) -> (c_int, c_int) {
    match arch {
        Arch::Gfx942 => (9, 4),
        Arch::Gfx950 => (9, 5),
    }
}

/// Copies text into a C buffer, cut to fit.
///
/// # Safety
/// `out` is null or valid for writing `len` bytes.
pub(super) unsafe fn put_text(out: *mut c_char, len: c_int, text: &str) -> Outcome {
    let Some(room) = usize::try_from(len).ok().and_then(|n| n.checked_sub(1)) else {
        return Err(fail(codes::INVALID_VALUE, "a text buffer without room"));
    };
    if out.is_null() {
        return Err(fail(codes::INVALID_VALUE, "a text buffer is null"));
    }
    let bytes = &text.as_bytes()[..text.len().min(room)];
    // SAFETY: at most `len` bytes by the caller's promise.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len());
        out.add(bytes.len()).write(0);
    }
    Ok(())
}

fn khz(mhz: f64) -> c_int {
    (mhz * 1e3).round() as c_int
}

/// A `hipDeviceAttribute_t` by its number in `hip_runtime_api.h`.
pub(super) fn attribute(params: &ArchParams, id: c_int, ordinal: c_int) -> Result<c_int, Failure> {
    let device = &params.device;
    let threads = device.max_workgroup_threads as c_int;
    let waves = params.occupancy.waves_per_simd * device.simds_per_cu;
    let registers = params.occupancy.vgprs_per_lane * WAVE as u32 * device.simds_per_cu;
    let capability = capability(params.arch);
    Ok(match id {
        5 => khz(params.clock.nominal),
        8 | 10 | 85 => 1,
        // Features that the simulator lacks or that a data-centre GPU has off: ECC reporting,
        // host mapping, integrated, managed and pageable memory, cooperative multi-device.
        0 | 3 | 9 | 11 | 15..=18 | 24 | 65 | 66 | 88 | 89 => 0,
        19 => params.l2.size as c_int,
        23 => capability.0,
        25 => params.occupancy.workgroups_per_cu as c_int,
        26..=28 | 56 => threads,
        29..=31 => MAX_GRID[(id - 29) as usize],
        57 => (waves as usize * WAVE) as c_int,
        61 => capability.1,
        63 | 10015 => device.compute_units as c_int,
        67 => ordinal + 1,
        68 | 69 => 0,
        71 | 72 => registers as c_int,
        74..=76 | 10002 => params.lds.unit.size as c_int,
        // Clamped as the real runtime does where the figure does not fit an int.
        84 => c_int::try_from(device.memory).unwrap_or(c_int::MAX),
        87 => WAVE as c_int,
        10000 | 10017 => khz(params.clock.realtime_counter),
        10018 => device.xcds as c_int,
        10019 => params.occupancy.vgprs_per_lane as c_int,
        _ => {
            return Err(fail(
                codes::INVALID_VALUE,
                format!("the simulator does not know device attribute {id}"),
            ));
        }
    })
}

/// Bytes of `hipDeviceProp_tR0600`.
pub(super) const R0600_BYTES: usize = 1472;

/// `hipDeviceProp_tR0600`, field by field at the offsets of the C struct (`hip_runtime_api.h` of
/// ROCm 6, x86-64); fields without a meaning here stay zero.
pub(super) fn r0600(params: &ArchParams, ordinal: c_int) -> [u8; R0600_BYTES] {
    let mut raw = [0; R0600_BYTES];
    let mut put = |at: usize, value: &[u8]| raw[at..at + value.len()].copy_from_slice(value);
    let device = &params.device;
    let int = |id| attribute(params, id, ordinal).unwrap_or_default().to_le_bytes();
    let lds = u64::from(params.lds.unit.size).to_le_bytes();
    let name = name(params);
    put(0, &name.as_bytes()[..name.len().min(255)]);
    put(288, &device.memory.to_le_bytes()); // totalGlobalMem
    put(296, &lds); // sharedMemPerBlock
    put(304, &int(71)); // regsPerBlock
    put(308, &int(87)); // warpSize
    put(320, &int(56)); // maxThreadsPerBlock
    for d in 0..3 {
        put(324 + 4 * d, &int(26 + d as c_int)); // maxThreadsDim
        put(336 + 4 * d, &int(29 + d as c_int)); // maxGridSize
    }
    put(348, &int(5)); // clockRate
    put(360, &int(23)); // major
    put(364, &int(61)); // minor
    put(388, &int(63)); // multiProcessorCount
    put(576, &int(8)); // concurrentKernels
    put(584, &int(67)); // pciBusID
    put(604, &int(85)); // unifiedAddressing
    put(616, &int(19)); // l2CacheSize
    put(624, &int(57)); // maxThreadsPerMultiProcessor
    put(640, &lds); // sharedMemPerMultiprocessor
    put(648, &int(72)); // regsPerMultiprocessor
    put(688, &int(10)); // cooperativeLaunch
    put(696, &lds); // sharedMemPerBlockOptin
    put(712, &int(25)); // maxBlocksPerMultiProcessor
    put(1160, format!("{}:sramecc+:xnack-", params.arch).as_bytes()); // gcnArchName
    put(1416, &lds); // maxSharedMemoryPerMultiProcessor
    put(1424, &int(10000)); // clockInstructionRate
    raw
}

/// Bytes of `hipDeviceProp_tR0000`.
pub(super) const R0000_BYTES: usize = 792;

/// The property struct as it was before ROCm 6 (`hip_runtime_api.h` of ROCm 5, x86-64), which the
/// name without a version still means to a program that looks it up; fields without a meaning here
/// stay zero.
pub(super) fn r0000(params: &ArchParams, ordinal: c_int) -> [u8; R0000_BYTES] {
    let mut raw = [0; R0000_BYTES];
    let mut put = |at: usize, value: &[u8]| raw[at..at + value.len()].copy_from_slice(value);
    let device = &params.device;
    let int = |id| attribute(params, id, ordinal).unwrap_or_default().to_le_bytes();
    let lds = u64::from(params.lds.unit.size).to_le_bytes();
    let name = name(params);
    put(0, &name.as_bytes()[..name.len().min(255)]);
    put(256, &device.memory.to_le_bytes()); // totalGlobalMem
    put(264, &lds); // sharedMemPerBlock
    put(272, &int(71)); // regsPerBlock
    put(276, &int(87)); // warpSize
    put(280, &int(56)); // maxThreadsPerBlock
    for d in 0..3 {
        put(284 + 4 * d, &int(26 + d as c_int)); // maxThreadsDim
        put(296 + 4 * d, &int(29 + d as c_int)); // maxGridSize
    }
    put(308, &int(5)); // clockRate
    put(328, &int(23)); // major
    put(332, &int(61)); // minor
    put(336, &int(63)); // multiProcessorCount
    put(340, &int(19)); // l2CacheSize
    put(344, &int(57)); // maxThreadsPerMultiProcessor
    put(352, &int(10000)); // clockInstructionRate
    put(360, &int(8)); // concurrentKernels
    put(368, &int(67)); // pciBusID
    put(376, &lds); // maxSharedMemoryPerMultiProcessor
    put(396, format!("{}:sramecc+:xnack-", params.arch).as_bytes()); // gcnArchName
    put(656, &int(10)); // cooperativeLaunch
    raw
}
