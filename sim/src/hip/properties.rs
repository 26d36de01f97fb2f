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

/// What a field of a property struct holds.
#[derive(Clone, Copy)]
enum Field {
    /// The device's name, at most 255 bytes and a null.
    Name,
    /// Bytes of device memory, 64 bits.
    Memory,
    /// Bytes of LDS, 64 bits.
    Lds,
    /// An attribute by its number, 32 bits.
    Int(c_int),
    /// Three attributes from this number on.
    Dims(c_int),
    /// Target with its features.
    Target,
}

use Field::{Dims, Int, Lds, Memory, Name, Target};

/// Bytes of `hipDeviceProp_tR0600`.
pub(super) const R0600_BYTES: usize = 1472;

/// Offsets in the C struct (`hip_runtime_api.h` of ROCm 6, x86-64).
const R0600: &[(usize, Field)] = &[
    (0, Name),
    (288, Memory),      // totalGlobalMem
    (296, Lds),         // sharedMemPerBlock
    (304, Int(71)),     // regsPerBlock
    (308, Int(87)),     // warpSize
    (320, Int(56)),     // maxThreadsPerBlock
    (324, Dims(26)),    // maxThreadsDim
    (336, Dims(29)),    // maxGridSize
    (348, Int(5)),      // clockRate
    (360, Int(23)),     // major
    (364, Int(61)),     // minor
    (388, Int(63)),     // multiProcessorCount
    (576, Int(8)),      // concurrentKernels
    (584, Int(67)),     // pciBusID
    (604, Int(85)),     // unifiedAddressing
    (616, Int(19)),     // l2CacheSize
    (624, Int(57)),     // maxThreadsPerMultiProcessor
    (640, Lds),         // sharedMemPerMultiprocessor
    (648, Int(72)),     // regsPerMultiprocessor
    (688, Int(10)),     // cooperativeLaunch
    (696, Lds),         // sharedMemPerBlockOptin
    (712, Int(25)),     // maxBlocksPerMultiProcessor
    (1160, Target),     // gcnArchName
    (1416, Lds),        // maxSharedMemoryPerMultiProcessor
    (1424, Int(10000)), // clockInstructionRate
];

/// Bytes of `hipDeviceProp_tR0000`.
pub(super) const R0000_BYTES: usize = 792;

/// Offsets in the struct as it was before ROCm 6 (`hip_runtime_api.h` of ROCm 5, x86-64).
const R0000: &[(usize, Field)] = &[
    (0, Name),
    (256, Memory),     // totalGlobalMem
    (264, Lds),        // sharedMemPerBlock
    (272, Int(71)),    // regsPerBlock
    (276, Int(87)),    // warpSize
    (280, Int(56)),    // maxThreadsPerBlock
    (284, Dims(26)),   // maxThreadsDim
    (296, Dims(29)),   // maxGridSize
    (308, Int(5)),     // clockRate
    (328, Int(23)),    // major
    (332, Int(61)),    // minor
    (336, Int(63)),    // multiProcessorCount
    (340, Int(19)),    // l2CacheSize
    (344, Int(57)),    // maxThreadsPerMultiProcessor
    (352, Int(10000)), // clockInstructionRate
    (360, Int(8)),     // concurrentKernels
    (368, Int(67)),    // pciBusID
    (376, Lds),        // maxSharedMemoryPerMultiProcessor
    (396, Target),     // gcnArchName
    (656, Int(10)),    // cooperativeLaunch
];

/// `hipDeviceProp_tR0600`; fields without a meaning here stay zero.
pub(super) fn r0600(params: &ArchParams, ordinal: c_int) -> [u8; R0600_BYTES] {
    structure(R0600, params, ordinal)
}

/// `hipDeviceProp_tR0000`, which the name without a version still means to a program that looks it
/// up; fields without a meaning here stay zero.
pub(super) fn r0000(params: &ArchParams, ordinal: c_int) -> [u8; R0000_BYTES] {
    structure(R0000, params, ordinal)
}

/// A property struct of `fields`.
fn structure<const BYTES: usize>(
    fields: &[(usize, Field)],
    params: &ArchParams,
    ordinal: c_int,
) -> [u8; BYTES] {
    let mut raw = [0; BYTES];
    let mut put = |at: usize, value: &[u8]| raw[at..at + value.len()].copy_from_slice(value);
    let int = |id| attribute(params, id, ordinal).unwrap_or_default().to_le_bytes();
    for &(at, field) in fields {
        match field {
            Name => {
                let name = name(params);
                put(at, &name.as_bytes()[..name.len().min(255)]);
            }
            Memory => put(at, &params.device.memory.to_le_bytes()),
            Lds => put(at, &u64::from(params.lds.unit.size).to_le_bytes()),
            Int(id) => put(at, &int(id)),
            Dims(first) => (0..3).for_each(|d| put(at + 4 * d, &int(first + d as c_int))),
            Target => put(at, format!("{}:sramecc+:xnack-", params.arch).as_bytes()),
        }
    }
    raw
}
