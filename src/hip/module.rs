//! Loaded code objects and their kernels.

use std::ffi::CString;
use std::sync::Arc;

use cdna_sim::code_object::{CodeObject, CodeObjectError, KernelInfo};
use cdna_sim::isa::Arch;

use super::args::Args;
use super::device::Device;
use super::error::{HipError, check, code};
use super::table::Handle;

/// A code object on a device. Functions keep it loaded.
#[derive(Clone)]
pub struct Module {
    loaded: Arc<Loaded>,
}

struct Loaded {
    device: Device,
    handle: Handle,
    object: CodeObject,
}

// SAFETY: the handle is only passed to HIP.
unsafe impl Send for Loaded {}
unsafe impl Sync for Loaded {}

/// A kernel of a [`Module`].
#[derive(Clone)]
pub struct Function {
    module: Module,
    kernel: Arc<KernelInfo>,
    handle: Handle,
}

// SAFETY: the handle is only passed to HIP.
unsafe impl Send for Function {}
unsafe impl Sync for Function {}

impl Module {
    pub(super) fn load(device: &Device, image: &[u8]) -> Result<Self, HipError> {
        let call = "hipModuleLoadData";
        // HIP is given no length, so a damaged image is refused here before it reads one.
        let object = parse(image, &device.info().arch)?;
        let table = device.shared.current()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointers are valid for the call; the image was checked to be whole.
        check(table, call, unsafe {
            (table.module_load_data)(&mut handle, object.image.as_ptr().cast())
        })?;
        Ok(Module { loaded: Arc::new(Loaded { device: device.clone(), handle, object }) })
    }

    /// Looks up a kernel by its symbol.
    ///
    /// # Errors
    /// [`super::HipErrorKind::InvalidValue`] if the module has no such kernel.
    pub fn function(&self, name: &str) -> Result<Function, HipError> {
        let call = "hipModuleGetFunction";
        let object = &self.loaded.object;
        let Some(kernel) = object.kernel(name) else {
            let available: Vec<_> = object.kernels.iter().map(|k| k.name.as_str()).collect();
            let what = format!("no kernel {name}; the code object has {}", available.join(", "));
            return Err(HipError::local(call, code::NOT_FOUND, "hipErrorNotFound", what));
        };
        let symbol = CString::new(kernel.name.as_str())
            .map_err(|_| HipError::invalid(call, "the kernel name holds a NUL byte"))?;
        let table = self.loaded.device.shared.current()?;
        let mut handle: Handle = std::ptr::null_mut();
        // SAFETY: the pointers are valid for the call, the module is loaded.
        check(table, call, unsafe {
            (table.module_get_function)(&mut handle, self.loaded.handle, symbol.as_ptr())
        })?;
        Ok(Function { module: self.clone(), kernel: Arc::new(kernel.clone()), handle })
    }

    /// What was loaded.
    pub fn object(&self) -> &CodeObject {
        &self.loaded.object
    }
}

/// Parses an image for a device of `arch`.
fn parse(image: &[u8], arch: &str) -> Result<CodeObject, HipError> {
    let call = "hipModuleLoadData";
    let Some(arch) = Arch::ALL.into_iter().find(|a| a.name() == arch) else {
        let what = format!("code objects for {arch} are not supported; gfx942 and gfx950 are");
        return Err(HipError::invalid(call, what));
    };
    CodeObject::parse(image, Some(arch)).map_err(|error| {
        let (code, name) = match error {
            CodeObjectError::WrongArch { .. } => {
                (code::NO_BINARY_FOR_GPU, "hipErrorNoBinaryForGpu")
            }
            _ => (code::INVALID_IMAGE, "hipErrorInvalidImage"),
        };
        HipError::local(call, code, name, error.to_string())
    })
}

impl Function {
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Metadata: arguments, registers, LDS.
    pub fn kernel(&self) -> &KernelInfo {
        &self.kernel
    }

    /// The module it is part of.
    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Checks the arguments against the kernel's metadata.
    pub(super) fn validate(&self, args: &Args) -> Result<(), HipError> {
        let call = "hipModuleLaunchKernel";
        let name = &self.kernel.name;
        let wanted: Vec<_> = self.kernel.explicit_args().map(|a| a.size as usize).collect();
        let given: Vec<_> = args.sizes().collect();
        if wanted.len() != given.len() {
            let what = format!(
                "kernel {name} takes {} arguments, but {} were given",
                wanted.len(),
                given.len()
            );
            return Err(HipError::invalid(call, what));
        }
        match wanted.iter().zip(&given).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(i) => Err(HipError::invalid(
                call,
                format!(
                    "argument {i} of kernel {name} has {} bytes, but {} were given",
                    wanted[i], given[i]
                ),
            )),
        }
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
