//! Conversions between number formats, except the block-scaled ones.
//!
//! Goes in: an operation and the architecture, which decides what fp8 and bf8 are. Comes out: its
//! kernel. Narrow results are in the low bits; the caller places them in the destination.

use super::kernel::{Pair, kernels};
use super::lane::{Brain, Half, Halves};
use crate::exec::formats::{Format, f16_to_f32, f32_to_f16};
use crate::exec::mode::FP16_OVFL;
use crate::isa::{Arch, Op};

/// A signed 16-bit fraction of 1: -1 to 1 become -32767 to 32767.
#[inline(always)]
fn snorm(x: f32) -> i16 {
    (x.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16
}

/// An unsigned 16-bit fraction of 1.
#[inline(always)]
fn unorm(x: f32) -> u16 {
    (x.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u16
}

/// `x` as IEEE half, rounded towards zero: dropping mantissa bits first leaves nothing to round,
/// and the largest finite half is as far as it goes.
#[inline(always)]
fn truncated_half(x: f32) -> u16 {
    let magnitude = x.abs();
    // Below 2^-14 the last place of a half is 2^-24.
    let fixed = (magnitude * 16_777_216.0).trunc() * (1.0 / 16_777_216.0);
    let cut = f32::from_bits(magnitude.to_bits() & 0xffff_e000);
    let kept = if magnitude < 6.103_515_6e-5 { fixed } else { cut };
    let kept = if kept > 65504.0 && magnitude < f32::INFINITY { 65504.0 } else { kept };
    f32_to_f16(if x.is_nan() { x } else { kept.copysign(x) })
}

/// Adds random bits below the mantissa that is kept and truncates. `drop` is the number of
/// mantissa bits that go.
#[inline(always)]
fn stochastic(x: f32, random: u32, drop: u32) -> f32 {
    let noise = random >> (32 - drop);
    let bits = x.to_bits().wrapping_add(noise) & (u32::MAX << drop);
    if x.abs() < f32::INFINITY { f32::from_bits(bits) } else { x }
}

/// Replaces byte `index` of `word` by `x` as an unsigned byte.
#[inline(always)]
fn insert_u8(x: f32, index: u32, word: u32) -> u32 {
    let shift = 8 * (index & 3);
    let byte = x.round_ties_even() as u8;
    word & !(0xff << shift) | u32::from(byte) << shift
}

/// -0.5 to 0.4375 in steps of a sixteenth, by a signed four-bit index.
#[inline(always)]
fn offset(nibble: u32) -> f32 {
    (((nibble << 28) as i32) >> 28) as f32 / 16.0
}

kernels! {
    /// Kernels of the conversions that are the same everywhere.
    fn common;
    VCvtI32F64(a: f64) -> i32 { a as i32 }
    VCvtF64I32(a: i32) -> f64 { f64::from(a) }
    VCvtF32I32(a: i32) -> f32 { a as f32 }
    VCvtF32U32(a: u32) -> f32 { a as f32 }
    VCvtU32F32(a: f32) -> u32 { a as u32 }
    VCvtI32F32(a: f32) -> i32 { a as i32 }
    VCvtF16F32(a: f32) -> Half { Half(a) }
    VCvtF32F16(a: u16) -> f32 { f16_to_f32(a) }
    VCvtF32F64(a: f64) -> f32 { a as f32 }
    VCvtF64F32(a: f32) -> f64 { f64::from(a) }
    VCvtF32Ubyte0(a: u32) -> f32 { (a & 0xff) as f32 }
    VCvtF32Ubyte1(a: u32) -> f32 { (a >> 8 & 0xff) as f32 }
    VCvtF32Ubyte2(a: u32) -> f32 { (a >> 16 & 0xff) as f32 }
    VCvtF32Ubyte3(a: u32) -> f32 { (a >> 24) as f32 }
    VCvtU32F64(a: f64) -> u32 { a as u32 }
    VCvtF64U32(a: u32) -> f64 { f64::from(a) }
    VCvtF32Bf16(a: Brain) -> f32 { a.0 }
    VCvtPkrtzF16F32(a: f32, b: f32) -> [u16; 2] { [truncated_half(a), truncated_half(b)] }
    VCvtPkF16F32(a: f32, b: f32) -> Halves { Halves([a, b]) }
    VCvtPkBf16F32(a: f32, b: f32) -> [Brain; 2] { [Brain(a), Brain(b)] }
}

/// Stochastic rounding to half; below its normal range the mantissa is aligned first.
#[inline(always)]
fn stochastic_half(x: f32, random: u32) -> u16 {
    let magnitude = x.abs();
    // Adding the noise to the value in units of the last place of the smallest halves.
    let noise = (random >> 19) as f32 / 8192.0;
    let units = magnitude * 16_777_216.0;
    let tiny = (units + noise).trunc() * (1.0 / 16_777_216.0);
    let kept =
        if magnitude < 6.103_515_6e-5 { tiny.copysign(x) } else { stochastic(x, random, 13) };
    f32_to_f16(kept)
}

macro_rules! narrow {
    ($name:ident, $fp8:expr, $bf8:expr) => {
        kernels! {
            /// Kernels of the fp8 and bf8 conversions.
            fn $name;
            VCvtF32Fp8(a: u32) -> f32 { $fp8.decode(a as u8) }
            VCvtF32Bf8(a: u32) -> f32 { $bf8.decode(a as u8) }
            VCvtPkF32Fp8(a: u32) -> [f32; 2] { [$fp8.decode(a as u8), $fp8.decode((a >> 8) as u8)] }
            VCvtPkF32Bf8(a: u32) -> [f32; 2] { [$bf8.decode(a as u8), $bf8.decode((a >> 8) as u8)] }
            VCvtPkFp8F32(a: f32, b: f32)[mode] -> u16 {
                let saturate = mode & FP16_OVFL != 0;
                u16::from($fp8.encode(a, saturate)) | u16::from($fp8.encode(b, saturate)) << 8
            }
            VCvtPkBf8F32(a: f32, b: f32)[mode] -> u16 {
                let saturate = mode & FP16_OVFL != 0;
                u16::from($bf8.encode(a, saturate)) | u16::from($bf8.encode(b, saturate)) << 8
            }
            VCvtSrFp8F32(a: f32, b: u32)[mode] -> u16 {
                u16::from($fp8.encode_sr(a, b, mode & FP16_OVFL != 0))
            }
            VCvtSrBf8F32(a: f32, b: u32)[mode] -> u16 {
                u16::from($bf8.encode_sr(a, b, mode & FP16_OVFL != 0))
            }
        }
    };
}

narrow!(ocp, Format::Fp8, Format::Bf8);
narrow!(fnuz, Format::Fp8Fnuz, Format::Bf8Fnuz);

/// Kernels of the conversions.
pub(super) fn lookup(op: Op, arch: Arch) -> Option<Pair> {
    common(op).or_else(|| rare(op)).or_else(|| match arch {
        Arch::Gfx942 => fnuz(op),
        Arch::Gfx950 => ocp(op),
    })
}

kernels! {
    single
    /// Kernels of rare conversions.
    fn rare;
    VCvtOffF32I4(a: u32) -> f32 { offset(a) }
    VCvtNormI16F16(a: Half) -> i16 { snorm(a.0) }
    VCvtNormU16F16(a: Half) -> u16 { unorm(a.0) }
    VCvtPkU8F32(a: f32, b: u32, c: u32) -> u32 { insert_u8(a, b, c) }
    VCvtPkaccumU8F32(a: f32, b: u32, c: u32) -> u32 { insert_u8(a, b, c) }
    VCvtPknormI16F32(a: f32, b: f32) -> [i16; 2] { [snorm(a), snorm(b)] }
    VCvtPknormU16F32(a: f32, b: f32) -> [u16; 2] { [unorm(a), unorm(b)] }
    VCvtPknormI16F16(a: Half, b: Half) -> [i16; 2] { [snorm(a.0), snorm(b.0)] }
    VCvtPknormU16F16(a: Half, b: Half) -> [u16; 2] { [unorm(a.0), unorm(b.0)] }
    VCvtSrF16F32(a: f32, b: u32) -> u16 { stochastic_half(a, b) }
    VCvtSrBf16F32(a: f32, b: u32) -> Brain { Brain(stochastic(a, b, 16)) }
    VCvtU16F16(a: Half) -> u16 { a.0 as u16 }
    VCvtI16F16(a: Half) -> i16 { a.0 as i16 }
    VCvtF16U16(a: u16) -> Half { Half(f32::from(a)) }
    VCvtF16I16(a: i16) -> Half { Half(f32::from(a)) }
    VCvtRpiI32F32(a: f32) -> i32 { (a + 0.5).floor() as i32 }
    VCvtFlrI32F32(a: f32) -> i32 { a.floor() as i32 }
}
