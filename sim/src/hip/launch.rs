//! Kernel launches. They have ended when they return, and a fault is their result.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::PoisonError;

use super::codes;
use super::module::function;
use super::properties;
use super::record::{self, Recording};
use super::state::{self, Failure, Function, fail, guard, put};
use super::stream;
use crate::code_object::KernelInfo;
use crate::launch::{Dispatch, Options};

/// Marks in `extra`: `HIP_LAUNCH_PARAM_BUFFER_POINTER`, `_BUFFER_SIZE` and `_END`.
const BUFFER_POINTER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 3;

/// `hipModuleLaunchKernel`: arguments through `params` (a pointer to each) or `extra` (one packed
/// buffer).
///
/// # Safety
/// `params`, where not null, holds a pointer for each explicit argument of the kernel, valid for
/// reading its size; `extra`, where not null, is a list as HIP describes it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLaunchKernel(
    f: *mut c_void,
    grid_x: c_uint,
    grid_y: c_uint,
    grid_z: c_uint,
    block_x: c_uint,
    block_y: c_uint,
    block_z: c_uint,
    lds: c_uint,
    stream: *mut c_void,
    params: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> c_int {
    guard(|| {
        let function = function(f)?;
        let module = &function.module;
        let info = module.module.object.kernel(&function.kernel).ok_or(codes::NOT_FOUND)?;
        // SAFETY: by the caller's promise.
        let explicit = unsafe {
            match (params.is_null(), extra.is_null()) {
                (false, true) => from_params(info, params)?,
                (true, false) => from_extra(info, extra)?,
                (true, true) if info.explicit_args().next().is_none() => Vec::new(),
                (true, true) => {
                    let what = format!("kernel {} takes arguments, but none were given", info.name);
                    return Err(fail(codes::INVALID_VALUE, what));
                }
                (false, false) => {
                    let what = "arguments were given both ways, as kernelParams and as extra";
                    return Err(fail(codes::INVALID_VALUE, what));
                }
            }
        };
        let stream = stream::get(stream)?;
        let dispatch = Dispatch {
            groups: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            dynamic_lds: lds,
        };
        let ordinal = c_int::try_from(module.device).unwrap_or_default();
        let device = state::device(ordinal)?;
        let advance = |us: f64| {
            *stream.clock_us.lock().unwrap_or_else(PoisonError::into_inner) += us;
        };
        if let Some(events) = record::wanted() {
            let (program, timing) =
                device.profile(&module.module, &info.name, dispatch, &explicit, events)?;
            advance(timing.time_us);
            record::keep(Recording { params: device.params(), program, timing });
            return Ok(());
        }
        let stats = device.launch(
            &module.module,
            &info.name,
            dispatch,
            &explicit,
            state::mode(),
            &Options { check_waits: state::check_waits(), ..Options::default() },
        )?;
        advance(stats.time_us.unwrap_or(0.0));
        state::with_stats(|all| all.add(&stats));
        Ok(())
    })
}

/// Places the arguments at their offsets.
///
/// # Safety
/// A valid pointer for each explicit argument.
unsafe fn from_params(info: &KernelInfo, params: *mut *mut c_void) -> Result<Vec<u8>, Failure> {
    let mut bytes = vec![0; explicit_size(info)];
    for (i, arg) in info.explicit_args().enumerate() {
        // SAFETY: by the caller's promise.
        let value = unsafe { *params.add(i) };
        if value.is_null() {
            let what = format!("kernel {}: the pointer to argument {i} is null", info.name);
            return Err(fail(codes::INVALID_VALUE, what));
        }
        let at = arg.offset as usize;
        let slot = &mut bytes[at..at + arg.size as usize];
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(value.cast(), slot.as_mut_ptr(), slot.len()) };
    }
    Ok(bytes)
}

/// Reads the packed buffer of an `extra` list.
///
/// # Safety
/// A list as HIP describes it.
unsafe fn from_extra(info: &KernelInfo, extra: *mut *mut c_void) -> Result<Vec<u8>, Failure> {
    let refuse = |what: String| fail(codes::INVALID_VALUE, format!("kernel {}: {what}", info.name));
    let (mut data, mut size) = (std::ptr::null::<u8>(), None);
    // Two pairs and the end mark.
    for i in 0..3 {
        // SAFETY: by the caller's promise, up to the end mark.
        let key = unsafe { *extra.add(2 * i) } as usize;
        if key == END {
            break;
        }
        // SAFETY: as above.
        let value = unsafe { *extra.add(2 * i + 1) };
        match key {
            BUFFER_POINTER => data = value.cast(),
            // SAFETY: as above.
            BUFFER_SIZE => size = Some(unsafe { value.cast::<usize>().read_unaligned() }),
            other => return Err(refuse(format!("unknown mark {other} in the extra list"))),
        }
    }
    let needed = explicit_size(info);
    match size {
        // Callers may pad the buffer, or pass hidden arguments along, which are filled anyway.
        Some(size) if !data.is_null() && size >= needed => {
            // SAFETY: by the caller's promise.
            Ok(unsafe { std::slice::from_raw_parts(data, needed) }.to_vec())
        }
        Some(size) if !data.is_null() => {
            Err(refuse(format!("{size} bytes of arguments, but it takes {needed}")))
        }
        _ => Err(refuse("the extra list lacks the buffer or its size".to_owned())),
    }
}

/// End of the last explicit argument.
fn explicit_size(info: &KernelInfo) -> usize {
    info.explicit_args().map(|a| (a.offset + a.size) as usize).max().unwrap_or(0)
}

/// `hipFuncGetAttribute`.
///
/// # Safety
/// `value` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    f: *mut c_void,
) -> c_int {
    guard(|| {
        let function = function(f)?;
        let info = kernel(&function)?;
        let params = state::current_device()?.params();
        let lds = params.lds.unit.size;
        let (major, minor) = properties::capability(params.arch);
        let result = match attribute {
            0 => info.max_workgroup,
            1 => info.lds_size,
            2 => 0,
            3 => info.private_size,
            4 => info.vgpr_count,
            // Versions of the virtual and the real architecture, as major and minor number.
            5 | 6 => (10 * major + minor) as u32,
            // Cache mode and preferred carve-out: there is no choice.
            7 | 9 => 0,
            8 => lds.saturating_sub(info.lds_size),
            other => {
                let what = format!("function attribute {other} is not known");
                return Err(fail(codes::INVALID_VALUE, what));
            }
        };
        // SAFETY: by the caller's promise.
        unsafe { put(value, result as c_int) }
    })
}

/// `hipFuncSetAttribute`: accepted; dynamic LDS is limited only by the compute unit.
#[unsafe(no_mangle)]
pub extern "C" fn hipFuncSetAttribute(f: *mut c_void, _attribute: c_int, _value: c_int) -> c_int {
    guard(|| function(f).map(|_| ()))
}

/// What the code object says of a kernel.
pub(super) fn kernel(function: &Function) -> Result<&KernelInfo, Failure> {
    function.module.module.object.kernel(&function.kernel).ok_or(codes::NOT_FOUND.into())
}
