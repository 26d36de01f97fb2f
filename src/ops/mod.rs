//! Operations: the kernels that can be launched, the shapes they take, the indexer pipelines built
//! of them, and f64 references to check them against.
//!
//! A [`KernelEntry`] and a shape go in; launches on a [`crate::hip::Device`] come out.

pub mod absorb;
mod bind;
pub mod check;
pub mod embedded;
mod fill;
pub mod gemm;
pub mod indexer;
pub mod inspect;
mod library;
pub mod manifest;
pub mod pack;
pub mod reference;
pub mod variants;

pub use fill::{Pattern, fill};
pub use library::{Kernel, Library};
pub use manifest::{Arg, ArgType, KernelEntry, KernelOp, ManifestError, Tile, Variant};
pub use pack::Pack;

use std::borrow::Cow;

use crate::hip::{HipError, HipErrorKind};

/// Why an operation could not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpError {
    /// A HIP call failed.
    #[error(transparent)]
    Hip(#[from] HipError),
    /// A HIP call failed in the launch of a kernel.
    #[error("{kernel}: {error}")]
    Launch {
        /// Kernel id: kernels of a pack share their symbols.
        kernel: String,
        /// The call and its answer.
        error: HipError,
    },
    /// The manifest is damaged.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The kernel does not take this shape.
    #[error("{kernel} cannot run {shape}: {problem}")]
    Shape {
        /// Kernel or pipeline.
        kernel: String,
        /// The shape, as text.
        shape: String,
        /// What does not fit and what would.
        problem: String,
    },
    /// The library holds no such kernel.
    #[error("there is no kernel {id} for {arch}")]
    MissingKernel {
        /// Kernel id.
        id: String,
        /// Target.
        arch: String,
    },
}

impl OpError {
    /// Whether the device refused an allocation: an outcome of the point, not a failure.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, OpError::Hip(e) if e.kind == HipErrorKind::OutOfMemory)
    }

    /// The error with the kernel in whose launch it came.
    fn of_kernel(self, id: &str) -> Self {
        match self {
            OpError::Hip(error) => OpError::Launch { kernel: id.to_owned(), error },
            other => other,
        }
    }

    pub(crate) fn shape(
        kernel: impl Into<String>,
        shape: impl std::fmt::Debug,
        problem: impl Into<String>,
    ) -> Self {
        OpError::Shape {
            kernel: kernel.into(),
            shape: format!("{shape:?}"),
            problem: problem.into(),
        }
    }
}

/// The bundled kernels for a target; empty for a target that has none.
///
/// # Errors
/// When the embedded manifest is damaged.
pub fn catalog(arch: &str) -> Result<Vec<KernelEntry>, ManifestError> {
    manifest::read(embedded::MANIFEST, arch, |arch, file| {
        embedded::object(arch, file).map(Cow::Borrowed)
    })
}

/// `a * b`, or what is wrong with the shape.
fn product(kernel: &str, shape: &impl std::fmt::Debug, factors: &[u64]) -> Result<u64, OpError> {
    factors
        .iter()
        .try_fold(1u64, |product, factor| product.checked_mul(*factor))
        .filter(|p| *p <= i64::MAX as u64)
        .ok_or_else(|| OpError::shape(kernel, shape, "a buffer would not fit the address space"))
}

/// A dimension as a 32-bit kernel argument.
fn dimension(
    kernel: &str,
    shape: &impl std::fmt::Debug,
    name: &str,
    value: u64,
) -> Result<u32, OpError> {
    u32::try_from(value).ok().filter(|v| *v <= i32::MAX as u32).ok_or_else(|| {
        OpError::shape(kernel, shape, format!("{name} is {value}; at most {} fits", i32::MAX))
    })
}
