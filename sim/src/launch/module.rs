//! A code object in device memory.

use std::sync::Arc;

use crate::code_object::{CodeObject, CodeObjectError};
use crate::exec::Program;
use crate::isa::{self, Arch};
use crate::memory::{AddressSpace, OutOfMemory};

/// A loaded code object: segments in device memory, relocated, code decoded.
#[derive(Debug)]
pub struct Module {
    /// What was loaded.
    pub object: CodeObject,
    /// Device address it was loaded at.
    pub base: u64,
    /// Its code.
    pub program: Arc<Program>,
}

/// Why a module could not be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// The file is not one to load.
    #[error(transparent)]
    CodeObject(#[from] CodeObjectError),
    /// No room on the device.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Module {
    /// Loads a code object (or the matching entry of an offload bundle) for a device of `arch`.
    ///
    /// # Errors
    /// A damaged file, one of another arch, or a full device.
    pub fn load(mem: &mut AddressSpace, file: &[u8], arch: Arch) -> Result<Self, ModuleError> {
        let object = CodeObject::parse(file, Some(arch))?;
        let base = mem.alloc(object.memory_size())?;
        for segment in &object.segments {
            let bytes = object.image.get(segment.file.clone()).unwrap_or_default();
            mem.write(base + segment.addr, bytes);
        }
        for relocation in &object.relocations {
            let value = base.wrapping_add(relocation.value);
            mem.write(base + relocation.place, &value.to_le_bytes());
        }
        let program = isa::decode_text(object.code(), base + object.text.addr, arch);
        Ok(Module { object, base, program: Arc::new(program) })
    }

    /// Gives its device memory back.
    pub fn unload(self, mem: &mut AddressSpace) {
        mem.free(self.base);
    }
}
