//! `C[M,N] = A[M,K] * B[N,K]^T`: shapes to launches.

use super::bind::bind;
use super::fill::{Pattern, fill};
use super::manifest::{KernelEntry, Tile, Variant};
use super::{Kernel, Library, OpError, dimension, product};
use crate::hip::{Buffer, Device};
use crate::units::Bytes;

/// Sizes in elements. Rows of A, B and C are `lda`, `ldb`, `ldc` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GemmShape {
    /// Rows of A and C.
    pub m: u64,
    /// Rows of B, columns of C.
    pub n: u64,
    /// Depth.
    pub k: u64,
    /// Pitch of A.
    pub lda: u64,
    /// Pitch of B.
    pub ldb: u64,
    /// Pitch of C.
    pub ldc: u64,
}

impl GemmShape {
    /// Contiguous matrices.
    pub fn new(m: u64, n: u64, k: u64) -> Self {
        GemmShape { m, n, k, lda: k, ldb: k, ldc: n }
    }

    /// Bytes of A, B and C.
    pub(crate) fn bytes(&self, id: &str, elem: u64) -> Result<[u64; 3], OpError> {
        Ok([
            product(id, self, &[self.m, self.lda, elem])?,
            product(id, self, &[self.n, self.ldb, elem])?,
            product(id, self, &[self.m, self.ldc, 2])?,
        ])
    }
}

/// Bytes of an input element.
pub fn element_bytes(dtype: &str) -> u64 {
    if dtype == "bf16" { 2 } else { 1 }
}

/// Tile and variant of a GEMM-like kernel.
pub(super) fn tile_of(
    entry: &KernelEntry,
    shape: &impl std::fmt::Debug,
) -> Result<(Tile, Variant), OpError> {
    let problem = || OpError::shape(&entry.id, shape, "the manifest gives no tile or variant");
    Ok((entry.tile.ok_or_else(problem)?, entry.gemm_variant().ok_or_else(problem)?))
}

/// Checks that the kernel takes the shape.
///
/// # Errors
/// [`OpError::Shape`] says which size does not fit.
pub fn validate(entry: &KernelEntry, s: &GemmShape) -> Result<(), OpError> {
    let refuse = |problem: String| Err(OpError::shape(&entry.id, s, problem));
    let (tile, variant) = tile_of(entry, s)?;
    let elem = element_bytes(&entry.dtype);
    for (name, value) in
        [("m", s.m), ("n", s.n), ("k", s.k), ("lda", s.lda), ("ldb", s.ldb), ("ldc", s.ldc)]
    {
        if value == 0 {
            return refuse(format!("{name} is 0"));
        }
        dimension(&entry.id, s, name, value)?;
    }
    if s.lda < s.k || s.ldb < s.k || s.ldc < s.n {
        return refuse("a pitch is shorter than its row".into());
    }
    for (name, value) in [("k", s.k), ("lda", s.lda), ("ldb", s.ldb)] {
        if !(value * elem).is_multiple_of(16) {
            return refuse(format!("{name} is {value}; rows must be multiples of 16 bytes"));
        }
    }
    if variant == Variant::Even
        && (!s.m.is_multiple_of(u64::from(tile.m)) || !s.n.is_multiple_of(u64::from(tile.n)))
    {
        return refuse(format!("m and n must be multiples of {} and {}", tile.m, tile.n));
    }
    if variant == Variant::Even && !s.ldc.is_multiple_of(8) {
        return refuse(format!("ldc is {}; expected a multiple of 8", s.ldc));
    }
    if let Some(problem) = entry.launch.as_ref().and_then(|l| l.refusal([s.m, s.n, s.k], tile)) {
        return refuse(problem);
    }
    // Offsets inside a tile are 32-bit and stay below the out-of-range mark.
    let widest = s.lda.max(s.ldb).max(s.ldc);
    if product(&entry.id, s, &[widest, 2, u64::from(tile.m.max(tile.n))])? >= 1 << 31 {
        return refuse(format!("a pitch of {widest} elements makes a tile of 2 GiB or more"));
    }
    s.bytes(&entry.id, elem).map(|_| ())
}

/// Queues one GEMM.
///
/// # Errors
/// A shape that the kernel does not take, a buffer that is too small, or the device's.
pub fn launch(
    device: &Device,
    kernel: &Kernel,
    s: &GemmShape,
    a: &Buffer,
    b: &Buffer,
    c: &Buffer,
) -> Result<(), OpError> {
    let id = &kernel.entry.id;
    validate(&kernel.entry, s)?;
    let needed = s.bytes(id, element_bytes(&kernel.entry.dtype))?;
    for (buffer, bytes) in [a, b, c].iter().zip(needed) {
        if buffer.len().0 < bytes {
            return Err(OpError::shape(id, s, "a buffer is smaller than its matrix"));
        }
    }
    let (tile, _) = tile_of(&kernel.entry, s)?;
    let size = |name, value| dimension(id, s, name, value);
    let (m, n) = (size("m", s.m)?, size("n", s.n)?);
    let args = bind(&kernel.entry, s, |name| {
        Some(match name {
            "a" => a.ptr(),
            "b" => b.ptr(),
            "c" => c.ptr(),
            "m" => s.m,
            "n" => s.n,
            "k" => s.k,
            "lda" => s.lda,
            "ldb" => s.ldb,
            "ldc" => s.ldc,
            "a_stride_k" | "b_stride_k" | "c_stride_n" => 1,
            _ => return None,
        })
    })?;
    let (columns, rows) = (n.div_ceil(tile.n), m.div_ceil(tile.m));
    let grid = match &kernel.entry.launch {
        Some(_) => [size("tiles", u64::from(columns) * u64::from(rows))?, 1, 1],
        None => [columns, rows, 1],
    };
    kernel.launch(device, grid, &args)
}

/// A GEMM with its matrices on the device, ready to be launched again and again.
pub struct Prepared {
    device: Device,
    kernel: Kernel,
    shape: GemmShape,
    buffers: [Buffer; 3],
}

impl Prepared {
    /// Allocates the matrices and fills the inputs with random numbers.
    ///
    /// # Errors
    /// A shape that the kernel does not take, or the device's.
    pub fn new(
        device: &Device,
        library: &Library,
        entry: &KernelEntry,
        shape: GemmShape,
    ) -> Result<Self, OpError> {
        validate(entry, &shape)?;
        let bytes = shape.bytes(&entry.id, element_bytes(&entry.dtype))?;
        let [a, b, c] = bytes.map(|n| device.malloc(Bytes(n)));
        let buffers = [a?, b?, c?];
        let pattern = if entry.dtype == "bf16" { Pattern::Bf16 } else { Pattern::Fp8 };
        fill(device, library, &buffers[0], pattern, 1)?;
        fill(device, library, &buffers[1], pattern, 2)?;
        let kernel = library.kernel(&entry.id)?.clone();
        Ok(Prepared { device: device.clone(), kernel, shape, buffers })
    }

    /// Queues the kernel once.
    ///
    /// # Errors
    /// The device's.
    pub fn launch(&self) -> Result<(), OpError> {
        let [a, b, c] = &self.buffers;
        launch(&self.device, &self.kernel, &self.shape, a, b, c)
    }
}
