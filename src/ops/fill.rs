//! Pseudo-random inputs made on the device, so that large ones cost no host memory or transfer.

use super::{Library, OpError};
use crate::hip::{Args, Buffer, Device};

/// Words that one workgroup of the fill kernel writes: 256 threads, 4 each.
const TILE: u64 = 1024;

/// Which numbers the random bits make, as bits kept and bits set of each 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// bf16 of either sign in [0.5, 2).
    Bf16,
    /// fp8 of either sign in [2^-3, 2) on gfx950; the same bits are half that on gfx942.
    Fp8,
    /// Any fp4.
    Fp4,
    /// ue8m0 scales 2^-3 to 2^0.
    E8m0,
    /// f32 of either sign in [0.5, 1).
    F32,
    /// Positive f32 in [0.5, 1).
    PositiveF32,
    /// Bytes of 0 or 1.
    Mask,
}

impl Pattern {
    /// Bits kept and bits set of each random word.
    pub(super) fn masks(self) -> (u32, u32) {
        match self {
            Pattern::Bf16 => (0x80ff_80ff, 0x3f00_3f00),
            Pattern::Fp8 => (0x9f9f_9f9f, 0x2020_2020),
            Pattern::Fp4 => (u32::MAX, 0),
            Pattern::E8m0 => (0x0303_0303, 0x7c7c_7c7c),
            Pattern::F32 => (0x807f_ffff, 0x3f00_0000),
            Pattern::PositiveF32 => (0x007f_ffff, 0x3f00_0000),
            Pattern::Mask => (0x0101_0101, 0),
        }
    }
}

/// Fills a buffer whose length is a multiple of 4 bytes.
///
/// # Errors
/// The device's, or a buffer too long for one launch (4 TiB).
pub fn fill(
    device: &Device,
    library: &Library,
    buffer: &Buffer,
    pattern: Pattern,
    seed: u32,
) -> Result<(), OpError> {
    let words = buffer.len().0 / 4;
    if words == 0 {
        return Ok(());
    }
    let tiles = u32::try_from(words.div_ceil(TILE))
        .map_err(|_| OpError::shape("fill", words, "too many words for one launch"))?;
    let (and_mask, or_mask) = pattern.masks();
    let args = Args::new().ptr(buffer).u64(words).u32(and_mask).u32(or_mask).u32(seed);
    library.kernel("fill")?.launch(device, [tiles, 1, 1], &args)
}
