//! The MODE register: how a wave rounds, flushes, clamps and indexes.
//!
//! Goes in: the 32-bit register. Comes out: its fields by name.

/// Rounding of f32: bits 1:0.
pub(super) const ROUND_32: u32 = 0x3;
/// Rounding of f16 and f64: bits 3:2.
pub(super) const ROUND_16_64: u32 = 0xc;
/// Denormals of f32: bit 4 keeps them in sources, bit 5 in results.
pub(super) const DENORM_32: u32 = 0x30;
/// Denormals of f16 and f64: bit 6 keeps them in sources, bit 7 in results.
pub(super) const DENORM_16_64: u32 = 0xc0;
/// Clamping turns NaN into zero.
pub(super) const DX10_CLAMP: u32 = 1 << 8;
/// IEEE mode: signalling NaNs are quieted, output modifiers are ignored.
pub(super) const IEEE: u32 = 1 << 9;
/// Overflow of f16 and fp8 results goes to the largest finite value.
pub(super) const FP16_OVFL: u32 = 1 << 23;
/// Relative indexing of vector registers through M0.
pub(super) const GPR_IDX_EN: u32 = 1 << 27;

/// How a result that is not representable is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// To nearest, ties to even.
    Nearest,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
}

impl Round {
    fn from_bits(bits: u32) -> Round {
        match bits & 3 {
            0 => Round::Nearest,
            1 => Round::Up,
            2 => Round::Down,
            _ => Round::Zero,
        }
    }

    /// Rounding of f32 results.
    pub(super) fn single(mode: u32) -> Round {
        Round::from_bits(mode)
    }

    /// Rounding of f16 and f64 results.
    pub(super) fn other(mode: u32) -> Round {
        Round::from_bits(mode >> 2)
    }
}
