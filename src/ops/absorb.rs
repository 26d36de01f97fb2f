//! MLA absorb batched GEMM, `out[b] = bf16(fp8(X[b]) * W[b]^T * scales)`: shapes to launches.

use super::bind::bind;
use super::fill::{Pattern, fill};
use super::gemm::tile_of;
use super::manifest::{KernelEntry, Variant};
use super::{Kernel, Library, OpError, dimension, product};
use crate::hip::{Buffer, Device};
use crate::units::Bytes;

/// Values along K that share one quantisation scale.
pub const GROUP: u64 = 128;

/// Smallest row maximum used for a scale.
pub const MIN_AMAX: f32 = 1e-10;

/// Largest magnitude that X is scaled to on a target: 448 (e4m3fn) on gfx950, 240 (e4m3fnuz) on
/// gfx942, as AITER and SGLang do.
pub fn fp8_max(arch: &str) -> f32 {
    if arch == "gfx942" { 240.0 } else { 448.0 }
}

/// Sizes and strides in elements: X is bf16 [b, m, k], W fp8 [b, n, k], out bf16 [b, m, n], the
/// innermost dimension contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsorbShape {
    /// Heads of the rank.
    pub b: u64,
    /// Rows (tokens).
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth.
    pub k: u64,
    /// From head to head of X.
    pub x_stride_b: u64,
    /// From row to row of X.
    pub x_stride_m: u64,
    /// From head to head of W.
    pub w_stride_b: u64,
    /// From row to row of W.
    pub w_stride_n: u64,
    /// From head to head of the result.
    pub out_stride_b: u64,
    /// From row to row of the result.
    pub out_stride_m: u64,
}

impl AbsorbShape {
    /// Token-major X [m, b, k] and out [m, b, n], as a server keeps activations; W [b, n, k].
    pub fn token_major(b: u64, m: u64, n: u64, k: u64) -> Self {
        AbsorbShape {
            b,
            m,
            n,
            k,
            x_stride_b: k,
            x_stride_m: b.saturating_mul(k),
            w_stride_b: n.saturating_mul(k),
            w_stride_n: k,
            out_stride_b: n,
            out_stride_m: b.saturating_mul(n),
        }
    }

    /// Head-major X [b, m, k] and out [b, m, n].
    pub fn head_major(b: u64, m: u64, n: u64, k: u64) -> Self {
        AbsorbShape {
            x_stride_b: m.saturating_mul(k),
            x_stride_m: k,
            out_stride_b: m.saturating_mul(n),
            out_stride_m: n,
            ..Self::token_major(b, m, n, k)
        }
    }

    /// The shape as the engine of a kernel lays it out: token-major, but for results of pack
    /// kernels that are head-major.
    pub fn of_entry(entry: &KernelEntry, b: u64, m: u64, n: u64, k: u64) -> Self {
        let shape = Self::token_major(b, m, n, k);
        match &entry.launch {
            Some(launch) if launch.head_major_out => {
                AbsorbShape { out_stride_b: m.saturating_mul(n), out_stride_m: n, ..shape }
            }
            _ => shape,
        }
    }

    /// Bytes of X, W and the result.
    pub(crate) fn bytes(&self, id: &str) -> Result<[u64; 3], OpError> {
        let extent = |stride_b: u64, rows: u64, stride: u64, row: u64, elem: u64| {
            let heads = product(id, self, &[self.b - 1, stride_b, elem])?;
            let rows = product(id, self, &[rows - 1, stride, elem])?;
            let row = product(id, self, &[row, elem])?;
            let sum = heads.checked_add(rows).and_then(|s| s.checked_add(row));
            product(id, self, &[sum.unwrap_or(u64::MAX)])
        };
        Ok([
            extent(self.x_stride_b, self.m, self.x_stride_m, self.k, 2)?,
            extent(self.w_stride_b, self.n, self.w_stride_n, self.k, 1)?,
            extent(self.out_stride_b, self.m, self.out_stride_m, self.n, 2)?,
        ])
    }
}

/// Checks that the kernel takes the shape.
///
/// # Errors
/// [`OpError::Shape`] says which size does not fit.
pub fn validate(entry: &KernelEntry, s: &AbsorbShape) -> Result<(), OpError> {
    let refuse = |problem: String| Err(OpError::shape(&entry.id, s, problem));
    let (tile, variant) = tile_of(entry, s)?;
    for (name, value) in [("b", s.b), ("m", s.m), ("n", s.n), ("k", s.k)] {
        if value == 0 {
            return refuse(format!("{name} is 0"));
        }
        dimension(&entry.id, s, name, value)?;
    }
    if s.b > 65535 {
        return refuse(format!("b is {}; at most 65535 fits a grid", s.b));
    }
    if s.x_stride_m < s.k || s.w_stride_n < s.k || s.out_stride_m < s.n {
        return refuse("a row stride is shorter than its row".into());
    }
    for (name, value, unit) in [
        ("k", s.k, 16),
        ("w_stride_n", s.w_stride_n, 16),
        ("w_stride_b", s.w_stride_b, 16),
        ("x_stride_m", s.x_stride_m, 8),
        ("x_stride_b", s.x_stride_b, 8),
    ] {
        if value % unit != 0 {
            return refuse(format!("{name} is {value}; expected a multiple of {unit}"));
        }
    }
    let even = s.m.is_multiple_of(u64::from(tile.m)) && s.n.is_multiple_of(u64::from(tile.n));
    if variant == Variant::Even && !even {
        return refuse(format!("m and n must be multiples of {} and {}", tile.m, tile.n));
    }
    if variant != Variant::RaggedWrap {
        for (name, value) in
            [("n", s.n), ("out_stride_m", s.out_stride_m), ("out_stride_b", s.out_stride_b)]
        {
            if value % 8 != 0 {
                return refuse(format!("{name} is {value}; expected a multiple of 8"));
            }
        }
    }
    if let Some(problem) = entry.launch.as_ref().and_then(|l| l.refusal([s.m, s.n, s.k], tile)) {
        return refuse(problem);
    }
    let widest = s.x_stride_m.max(s.w_stride_n).max(s.out_stride_m);
    if product(&entry.id, s, &[widest, 2, u64::from(tile.m.max(tile.n))])? >= 1 << 31 {
        return refuse(format!("a row stride of {widest} elements makes a tile of 2 GiB or more"));
    }
    s.bytes(&entry.id).map(|_| ())
}

/// Queues one batched GEMM. `w_scale` holds one f32.
///
/// # Errors
/// A shape that the kernel does not take, a buffer that is too small, or the device's.
pub fn launch(
    device: &Device,
    kernel: &Kernel,
    s: &AbsorbShape,
    x: &Buffer,
    w: &Buffer,
    out: &Buffer,
    w_scale: &Buffer,
) -> Result<(), OpError> {
    let id = &kernel.entry.id;
    validate(&kernel.entry, s)?;
    let [x_bytes, w_bytes, out_bytes] = s.bytes(id)?;
    for (buffer, bytes) in [(x, x_bytes), (w, w_bytes), (out, out_bytes), (w_scale, 4)] {
        if buffer.len().0 < bytes {
            return Err(OpError::shape(id, s, "a buffer is smaller than its tensor"));
        }
    }
    let (tile, _) = tile_of(&kernel.entry, s)?;
    let args = bind(&kernel.entry, s, |name| {
        Some(match name {
            "x" => x.ptr(),
            "w" => w.ptr(),
            "out" => out.ptr(),
            "w_scale" => w_scale.ptr(),
            "m" => s.m,
            "n" => s.n,
            "k" => s.k,
            "x_stride_b" => s.x_stride_b,
            "x_stride_m" => s.x_stride_m,
            "w_stride_b" => s.w_stride_b,
            "w_stride_n" => s.w_stride_n,
            "out_stride_b" => s.out_stride_b,
            "out_stride_m" => s.out_stride_m,
            "x_stride_k" | "w_stride_k" | "out_stride_n" => 1,
            _ => return None,
        })
    })?;
    let size = |name, value| dimension(id, s, name, value);
    let (b, m, n) = (size("b", s.b)?, size("m", s.m)?, size("n", s.n)?);
    let (columns, rows) = (n.div_ceil(tile.n), m.div_ceil(tile.m));
    let grid = match &kernel.entry.launch {
        // Triton's order: heads, then all tiles of a head.
        Some(_) => [b, size("tiles", u64::from(columns) * u64::from(rows))?, 1],
        None => [columns, rows, b],
    };
    kernel.launch(device, grid, &args)
}

/// An absorb GEMM with its tensors on the device, ready to be launched again and again.
pub struct Prepared {
    device: Device,
    kernel: Kernel,
    shape: AbsorbShape,
    buffers: [Buffer; 4],
}

impl Prepared {
    /// Allocates the tensors and fills the inputs with random numbers.
    ///
    /// # Errors
    /// A shape that the kernel does not take, or the device's.
    pub fn new(
        device: &Device,
        library: &Library,
        entry: &KernelEntry,
        shape: AbsorbShape,
    ) -> Result<Self, OpError> {
        validate(entry, &shape)?;
        let [x, w, out] = shape.bytes(&entry.id)?.map(|n| device.malloc(Bytes(n)));
        let buffers = [x?, w?, out?, device.malloc(Bytes(4))?];
        fill(device, library, &buffers[0], Pattern::Bf16, 1)?;
        fill(device, library, &buffers[1], Pattern::Fp8, 2)?;
        buffers[3].upload(&1.0f32.to_ne_bytes())?;
        let kernel = library.kernel(&entry.id)?.clone();
        Ok(Prepared { device: device.clone(), kernel, shape, buffers })
    }

    /// Queues the kernel once.
    ///
    /// # Errors
    /// The device's.
    pub fn launch(&self) -> Result<(), OpError> {
        let [x, w, out, w_scale] = &self.buffers;
        launch(&self.device, &self.kernel, &self.shape, x, w, out, w_scale)
    }
}
