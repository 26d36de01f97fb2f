//! How many workgroups of a kernel a compute unit holds, and which size fills it best.

use std::ffi::{c_int, c_uint, c_void};

use super::codes;
use super::launch::kernel;
use super::module::function;
use super::state::{self, Failure, Function, fail, guard, put};
use crate::exec::WAVE;
use crate::timing::{Resources, occupancy};

/// Workgroups of `threads` threads and `dynamic` bytes of LDS that a compute unit of the current
/// device holds.
fn resident(function: &Function, threads: u32, dynamic: usize) -> Result<u32, Failure> {
    let info = kernel(function)?;
    let refuse = || fail(codes::INVALID_VALUE, "LDS size out of range");
    let dynamic = u32::try_from(dynamic).map_err(|_| refuse())?;
    let resources = Resources {
        vgprs: info.vgpr_count - info.agpr_count.min(info.vgpr_count),
        agprs: info.agpr_count,
        sgprs: info.sgpr_count,
        lds: info.lds_size.checked_add(dynamic).ok_or_else(refuse)?,
        threads,
    };
    Ok(occupancy(state::current_device()?.params(), &resources).workgroups_per_cu)
}

/// `hipModuleOccupancyMaxActiveBlocksPerMultiprocessor`.
///
/// # Safety
/// `count` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    count: *mut c_int,
    f: *mut c_void,
    block_size: c_int,
    dynamic_lds: usize,
) -> c_int {
    guard(|| {
        let function = function(f)?;
        let refuse = || fail(codes::INVALID_VALUE, "block size out of range");
        let threads = u32::try_from(block_size).ok().filter(|&n| n > 0).ok_or_else(refuse)?;
        // SAFETY: by the caller's promise.
        unsafe { put(count, resident(&function, threads, dynamic_lds)? as c_int) }
    })
}

/// `hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags`: the flags change nothing here.
///
/// # Safety
/// `count` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    count: *mut c_int,
    f: *mut c_void,
    block_size: c_int,
    dynamic_lds: usize,
    _flags: c_uint,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(count, f, block_size, dynamic_lds) }
}

/// `hipModuleOccupancyMaxPotentialBlockSize`: the size of a workgroup, up to `limit` where that is not
/// 0, with which most threads are resident (of several the largest), and the workgroups that then
/// fill the device.
///
/// # Safety
/// `grid` and `block` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSize(
    grid: *mut c_int,
    block: *mut c_int,
    f: *mut c_void,
    dynamic_lds: usize,
    limit: c_int,
) -> c_int {
    guard(|| {
        let function = function(f)?;
        let refuse = || fail(codes::INVALID_VALUE, "block size limit out of range");
        let limit = u32::try_from(limit).map_err(|_| refuse())?;
        let largest = kernel(&function)?.max_workgroup;
        let largest = if limit == 0 { largest } else { largest.min(limit) };
        let wave = WAVE as u32;
        let mut best = (0, 0, 0);
        for threads in (wave..=largest).step_by(WAVE) {
            let workgroups = resident(&function, threads, dynamic_lds)?;
            best = best.max((workgroups * threads, threads, workgroups));
        }
        let (_, threads, workgroups) = best;
        let units = state::current_device()?.params().device.compute_units;
        // SAFETY: by the caller's promise.
        unsafe {
            put(grid, (workgroups * units) as c_int)?;
            put(block, threads as c_int)
        }
    })
}

/// `hipModuleOccupancyMaxPotentialBlockSizeWithFlags`: the flags change nothing here.
///
/// # Safety
/// `grid` and `block` are null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid: *mut c_int,
    block: *mut c_int,
    f: *mut c_void,
    dynamic_lds: usize,
    limit: c_int,
    _flags: c_uint,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipModuleOccupancyMaxPotentialBlockSize(grid, block, f, dynamic_lds, limit) }
}
