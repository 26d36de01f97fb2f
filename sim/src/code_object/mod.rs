//! AMDGPU code objects (ELF, ABI v4 to v6): segments, kernels and their metadata.
//!
//! Goes in: the bytes of a `.hsaco` file, or of an offload bundle that holds one. Comes out: a
//! [`CodeObject`] with everything a launch needs to know, or a typed error; damaged input is never
//! more than an error.

mod bundle;
mod descriptor;
mod elf;
mod metadata;

use std::ops::Range;

use crate::isa::Arch;

pub use bundle::extract;
pub use descriptor::Descriptor;
pub use elf::image_len;
pub use metadata::{ArgKind, Hidden, KernelArg};

/// A parsed code object.
#[derive(Clone, Debug)]
pub struct CodeObject {
    /// Target.
    pub arch: Arch,
    /// Code object version: 4, 5 or 6.
    pub version: u8,
    /// Kernels in metadata order.
    pub kernels: Vec<KernelInfo>,
    /// Loadable segments in address order.
    pub segments: Vec<Segment>,
    /// The executable code.
    pub text: Text,
    /// Dynamic relocations.
    pub relocations: Vec<Relocation>,
    /// Functions, for labels: name and address, in address order.
    pub functions: Vec<(String, u64)>,
    /// The file.
    pub image: Vec<u8>,
}

/// A loadable segment. Addresses are relative to where the object is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Address.
    pub addr: u64,
    /// Bytes in memory; what the file does not hold is zero.
    pub size: u64,
    /// Bytes in [`CodeObject::image`].
    pub file: Range<usize>,
}

/// The executable code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Address, relative to where the object is loaded.
    pub addr: u64,
    /// Bytes in [`CodeObject::image`].
    pub file: Range<usize>,
}

/// A dynamic relocation: 64 bits at `place` become the load address plus `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, relative to the load address.
    pub place: u64,
    /// Symbol value plus addend, relative to the load address.
    pub value: u64,
}

/// One kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelInfo {
    /// Name as launched.
    pub name: String,
    /// Arguments in order, hidden ones included.
    pub args: Vec<KernelArg>,
    /// Size of the kernarg segment in bytes.
    pub kernarg_size: u32,
    /// Alignment of the kernarg segment in bytes.
    pub kernarg_align: u32,
    /// Static LDS in bytes.
    pub lds_size: u32,
    /// Private memory per lane in bytes.
    pub private_size: u32,
    /// Whether it needs more private memory than stated (recursion, indirect calls).
    pub dynamic_stack: bool,
    /// Vector registers, accumulation registers included.
    pub vgpr_count: u32,
    /// Accumulation registers.
    pub agpr_count: u32,
    /// Scalar registers.
    pub sgpr_count: u32,
    /// Vector registers spilled to private memory.
    pub vgpr_spills: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Most threads of a workgroup.
    pub max_workgroup: u32,
    /// Required workgroup size, where the kernel was compiled for one.
    pub required_workgroup: Option<[u32; 3]>,
    /// Address of the kernel descriptor, relative to the load address.
    pub descriptor_addr: u64,
    /// Address of the first instruction, relative to the load address.
    pub entry: u64,
    /// The descriptor.
    pub descriptor: Descriptor,
}

impl KernelInfo {
    /// Arguments that the caller passes.
    pub fn explicit_args(&self) -> impl Iterator<Item = &KernelArg> {
        self.args.iter().filter(|a| !matches!(a.kind, ArgKind::Hidden(_)))
    }
}

/// Why a file is no code object that can be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeObjectError {
    /// The file ends early or a table points outside it.
    #[error("damaged code object: {what}")]
    Damaged {
        /// Which part.
        what: String,
    },
    /// Some other file.
    #[error("not an AMDGPU code object: {what}")]
    NotACodeObject {
        /// What it is instead.
        what: String,
    },
    /// Another GPU's code.
    #[error("code object for {found}, but the device is {wanted}")]
    WrongArch {
        /// Target of the code object.
        found: String,
        /// Target of the device, or the supported ones.
        wanted: String,
    },
    /// A feature of code objects that is not supported.
    #[error("unsupported code object: {what}")]
    Unsupported {
        /// The feature.
        what: String,
    },
}

impl CodeObjectError {
    fn damaged(what: impl Into<String>) -> Self {
        CodeObjectError::Damaged { what: what.into() }
    }
}

impl CodeObject {
    /// Parses a code object, or the one for `wanted` of an offload bundle.
    ///
    /// # Errors
    /// [`CodeObjectError`]; with `wanted`, also when the object is for another arch.
    pub fn parse(file: &[u8], wanted: Option<Arch>) -> Result<Self, CodeObjectError> {
        let image = bundle::extract(file, wanted)?;
        let object = elf::parse(image, wanted)?;
        Ok(object)
    }

    /// The kernel called `name`; its descriptor symbol (`name.kd`) is accepted too.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        let name = name.strip_suffix(".kd").unwrap_or(name);
        self.kernels.iter().find(|k| k.name == name)
    }

    /// Bytes of the executable code.
    pub fn code(&self) -> &[u8] {
        self.image.get(self.text.file.clone()).unwrap_or_default()
    }

    /// Bytes the object takes in device memory.
    pub fn memory_size(&self) -> u64 {
        self.segments.iter().map(|s| s.addr + s.size).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
