//! Code objects and their kernels.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use super::codes;
use super::state::{
    self, Failure, Function, LoadedModule, Object, Outcome, current_device, fail, guard, handles,
    put,
};
use crate::code_object::image_len;
use crate::device::DeviceError;

const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
/// More entries, or longer names, than any bundle has.
const MAX_ENTRIES: u64 = 256;
const MAX_NAME: u64 = 4096;

/// The image that starts at `ptr`: an ELF file or an offload bundle, whose headers tell its length.
///
/// # Safety
/// `ptr` points at a whole image, or at no less than 64 bytes of something else.
unsafe fn image<'a>(ptr: *const c_void) -> Result<&'a [u8], Failure> {
    if ptr.is_null() {
        return Err(fail(codes::INVALID_VALUE, "the image is null"));
    }
    let ptr = ptr.cast::<u8>();
    // SAFETY: 64 bytes by the caller's promise.
    let head: [u8; 64] = unsafe { ptr.cast::<[u8; 64]>().read_unaligned() };
    let len = if head.starts_with(BUNDLE) {
        // SAFETY: a whole bundle by the caller's promise.
        unsafe { bundle_len(ptr) }
    } else {
        image_len(&head)
    };
    let len = len.and_then(|len| usize::try_from(len).ok());
    let what = "neither an ELF image nor an offload bundle";
    let len = len.ok_or_else(|| fail(codes::INVALID_IMAGE, what))?;
    // SAFETY: a whole image by the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(ptr, len) })
}

/// End of the last entry of a bundle.
///
/// # Safety
/// `ptr` points at a whole bundle.
unsafe fn bundle_len(ptr: *const u8) -> Option<u64> {
    // SAFETY: the offsets stay inside the bundle's header.
    let word = |at: u64| unsafe { ptr.add(at as usize).cast::<u64>().read_unaligned() };
    let count = word(BUNDLE.len() as u64);
    let (mut at, mut end) = (BUNDLE.len() as u64 + 8, 0);
    if count > MAX_ENTRIES {
        return None;
    }
    for _ in 0..count {
        let (offset, size, name) = (word(at), word(at + 8), word(at + 16));
        if name > MAX_NAME {
            return None;
        }
        at += 24 + name;
        end = end.max(offset.checked_add(size)?).max(at);
    }
    Some(end)
}

fn load(module: *mut *mut c_void, image: &[u8]) -> Outcome {
    let loaded = current_device()?.load(image).map_err(DeviceError::from)?;
    let device = usize::try_from(state::current()).unwrap_or_default();
    let object = Object::Module(Arc::new(LoadedModule { device, module: loaded }));
    // SAFETY: the exported functions pass on what their callers promise about it.
    unsafe { put(module, handles().insert(object)) }
}

/// `hipModuleLoadData`.
///
/// # Safety
/// `module` is null or valid for writing; `image` is null or points at a whole code object or
/// offload bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadData(
    module: *mut *mut c_void,
    image: *const c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    guard(|| load(module, unsafe { self::image(image)? }))
}

/// `hipModuleLoadDataEx`: the options, which concern just-in-time compilation, have no effect.
///
/// # Safety
/// As [`hipModuleLoadData`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoadDataEx(
    module: *mut *mut c_void,
    image: *const c_void,
    _count: u32,
    _options: *mut c_void,
    _values: *mut *mut c_void,
) -> c_int {
    // SAFETY: by the caller's promise.
    unsafe { hipModuleLoadData(module, image) }
}

/// `hipModuleLoad`: a code object from a file.
///
/// # Safety
/// `module` is null or valid for writing; `path` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleLoad(module: *mut *mut c_void, path: *const c_char) -> c_int {
    guard(|| {
        // SAFETY: by the caller's promise.
        let path = unsafe { text(path)? };
        let file = std::fs::read(&path)
            .map_err(|e| fail(codes::FILE_NOT_FOUND, format!("{path}: {e}")))?;
        load(module, &file)
    })
}

/// `hipModuleUnload`: its functions become invalid.
#[unsafe(no_mangle)]
pub extern "C" fn hipModuleUnload(module: *mut c_void) -> c_int {
    guard(|| {
        let Object::Module(loaded) = handles().get(module)? else {
            return Err(codes::INVALID_HANDLE.into());
        };
        handles().remove_functions(&loaded);
        handles().remove(module)?;
        // A launch under way on another thread keeps the module; its memory is then not reused
        // before the process ends.
        if let Some(loaded) = Arc::into_inner(loaded) {
            let ordinal = c_int::try_from(loaded.device).unwrap_or_default();
            loaded.module.unload(&mut state::device(ordinal)?.memory_mut());
        }
        Ok(())
    })
}

/// `hipModuleGetFunction`.
///
/// # Safety
/// `function` is null or valid for writing; `name` is null or NUL-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    guard(|| {
        // SAFETY: by the caller's promise.
        let name = unsafe { text(name)? };
        let Object::Module(module) = handles().get(module)? else {
            return Err(codes::INVALID_HANDLE.into());
        };
        let Some(kernel) = module.module.object.kernel(&name).map(|k| k.name.clone()) else {
            let all: Vec<_> =
                module.module.object.kernels.iter().map(|k| k.name.as_str()).collect();
            let what = format!("no kernel {name}; the code object has {}", all.join(", "));
            return Err(fail(codes::NOT_FOUND, what));
        };
        let object = Object::Function(Arc::new(Function { module, kernel }));
        // SAFETY: by the caller's promise.
        unsafe { put(function, handles().insert(object)) }
    })
}

/// A C string.
///
/// # Safety
/// `ptr` is null or NUL-terminated.
unsafe fn text(ptr: *const c_char) -> Result<String, Failure> {
    if ptr.is_null() {
        return Err(fail(codes::INVALID_VALUE, "a name is null"));
    }
    // SAFETY: by the caller's promise.
    Ok(unsafe { CStr::from_ptr(ptr) }.to_string_lossy().into_owned())
}

/// The function behind a handle.
pub(super) fn function(handle: *mut c_void) -> Result<Arc<Function>, Failure> {
    match handles().get(handle)? {
        Object::Function(function) => Ok(function),
        _ => Err(codes::INVALID_HANDLE.into()),
    }
}
