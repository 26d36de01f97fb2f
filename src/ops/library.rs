//! Kernels loaded on a device. A catalog goes in; launchable functions come out.

use std::collections::BTreeMap;

use super::manifest::KernelEntry;
use super::{OpError, catalog};
use crate::hip::{Args, Device, Function, Launch, Module};

/// A kernel loaded on a device.
#[derive(Clone)]
pub struct Kernel {
    /// Its manifest entry.
    pub entry: KernelEntry,
    function: Function,
}

impl Kernel {
    /// Loads one kernel.
    ///
    /// # Errors
    /// When the device refuses the code object.
    pub fn load(device: &Device, entry: &KernelEntry) -> Result<Self, OpError> {
        let module = device.load_module(&entry.image)?;
        Self::of(&module, entry)
    }

    fn of(module: &Module, entry: &KernelEntry) -> Result<Self, OpError> {
        Ok(Kernel { entry: entry.clone(), function: module.function(&entry.symbol)? })
    }

    /// Queues a launch of `grid` workgroups.
    ///
    /// # Errors
    /// [`OpError::Shape`] if the arguments are not those of the manifest, or the device's.
    pub fn launch(&self, device: &Device, grid: [u32; 3], args: &Args) -> Result<(), OpError> {
        let expected = self.entry.args.iter().map(|a| a.ty.bytes());
        if !args.sizes().eq(expected.clone()) {
            return Err(OpError::shape(
                &self.entry.id,
                grid,
                format!(
                    "the arguments have {:?} bytes; the kernel takes {:?}",
                    args.sizes().collect::<Vec<_>>(),
                    expected.collect::<Vec<_>>()
                ),
            ));
        }
        let lds = self.entry.launch.as_ref().map_or(0, |launch| launch.lds);
        let size = Launch { grid, block: [self.entry.threads, 1, 1], lds };
        Ok(device.launch(&self.function, size, args)?)
    }
}

/// All bundled kernels for one device, each code object loaded once.
#[derive(Clone)]
pub struct Library {
    arch: String,
    kernels: BTreeMap<String, Kernel>,
}

impl Library {
    /// Loads the bundled kernels for the device's target.
    ///
    /// # Errors
    /// When there are none, or the device refuses a code object.
    pub fn load(device: &Device) -> Result<Self, OpError> {
        Self::from_entries(device, &catalog(&device.info().arch)?)
    }

    /// Loads kernels from any catalog.
    ///
    /// # Errors
    /// When the device refuses a code object.
    pub fn from_entries(device: &Device, entries: &[KernelEntry]) -> Result<Self, OpError> {
        let mut modules: BTreeMap<&str, Module> = BTreeMap::new();
        let mut kernels = BTreeMap::new();
        for entry in entries {
            if !modules.contains_key(entry.sha256.as_str()) {
                modules.insert(&entry.sha256, device.load_module(&entry.image)?);
            }
            let kernel = Kernel::of(&modules[entry.sha256.as_str()], entry)?;
            kernels.insert(entry.id.clone(), kernel);
        }
        Ok(Library { arch: device.info().arch.clone(), kernels })
    }

    /// A kernel by its id.
    ///
    /// # Errors
    /// [`OpError::MissingKernel`].
    pub fn kernel(&self, id: &str) -> Result<&Kernel, OpError> {
        self.kernels
            .get(id)
            .ok_or_else(|| OpError::MissingKernel { id: id.to_owned(), arch: self.arch.clone() })
    }
}
