//! Conversions of CDNA4 with a block scale, of up to two values a lane.
//!
//! Goes in: an operation. Comes out: its kernel. The scale is the exponent field of an f32: values
//! are divided by it on the way to a narrow format and multiplied by it on the way back.

use super::kernel::kernels;
use super::lane::{Brain, Half, Halves};
use crate::exec::formats::Format;
use crate::exec::mode::FP16_OVFL;

/// The exponent field of an f32, which is an e8m0 scale.
#[inline(always)]
pub(super) fn exponent(scale: u32) -> u8 {
    (scale >> 23) as u8
}

/// What `v_prng_b32` makes of a random number.
#[inline(always)]
pub(super) fn next_random(x: u32) -> u32 {
    x << 1 ^ (if x >> 31 == 1 { 197 } else { 0 })
}

#[inline(always)]
fn two(format: Format, x: [f32; 2], scale: u32, mode: u32) -> u16 {
    let [a, b] = x.map(|x| format.encode_scaled(x, exponent(scale), mode & FP16_OVFL != 0));
    u16::from_le_bytes([a, b])
}

#[inline(always)]
fn one_sr(format: Format, x: f32, random: u32, scale: u32, mode: u32) -> u16 {
    format.encode_scaled_sr(x, exponent(scale), random, mode & FP16_OVFL != 0).into()
}

#[inline(always)]
fn fp4(x: [f32; 2], scale: u32) -> u16 {
    let [a, b] = x.map(|x| u16::from(Format::Fp4.encode_scaled(x, exponent(scale), true)));
    a | b << 4
}

#[inline(always)]
fn fp4_sr(x: [f32; 2], random: u32, scale: u32) -> u16 {
    let code = |x: f32, random: u32| {
        u16::from(Format::Fp4.encode_scaled_sr(x, exponent(scale), random, true))
    };
    code(x[0], random) | code(x[1], next_random(random)) << 4
}

#[inline(always)]
fn decode_bytes(format: Format, codes: u32, scale: u32) -> [f32; 2] {
    [0, 8].map(|k| format.decode_scaled((codes >> k) as u8, exponent(scale)))
}

#[inline(always)]
fn decode_nibbles(codes: u32, scale: u32) -> [f32; 2] {
    [0, 4].map(|k| Format::Fp4.decode_scaled((codes >> k & 15) as u8, exponent(scale)))
}

kernels! {
    /// Kernels of `v_cvt_scalef32_*`.
    pub(super) fn lookup;
    VCvtScalef32PkFp8F32(a: f32, b: f32, s: u32)[mode] -> u16 { two(Format::Fp8, [a, b], s, mode) }
    VCvtScalef32PkFp8F16(a: Halves, s: u32)[mode] -> u16 { two(Format::Fp8, a.0, s, mode) }
    VCvtScalef32PkFp8Bf16(a: [Brain; 2], s: u32)[mode] -> u16 {
        two(Format::Fp8, [a[0].0, a[1].0], s, mode)
    }
    VCvtScalef32PkF32Fp8(a: u32, s: u32) -> [f32; 2] { decode_bytes(Format::Fp8, a, s) }
    VCvtScalef32PkF16Fp8(a: u32, s: u32) -> Halves { Halves(decode_bytes(Format::Fp8, a, s)) }
    VCvtScalef32PkBf16Fp8(a: u32, s: u32) -> [Brain; 2] { decode_bytes(Format::Fp8, a, s).map(Brain) }
    VCvtScalef32F32Fp8(a: u32, s: u32) -> f32 { Format::Fp8.decode_scaled(a as u8, exponent(s)) }
    VCvtScalef32F16Fp8(a: u32, s: u32) -> Half {
        Half(Format::Fp8.decode_scaled(a as u8, exponent(s)))
    }
    VCvtScalef32PkBf8F32(a: f32, b: f32, s: u32)[mode] -> u16 { two(Format::Bf8, [a, b], s, mode) }
    VCvtScalef32PkBf8F16(a: Halves, s: u32)[mode] -> u16 { two(Format::Bf8, a.0, s, mode) }
    VCvtScalef32PkBf8Bf16(a: [Brain; 2], s: u32)[mode] -> u16 {
        two(Format::Bf8, [a[0].0, a[1].0], s, mode)
    }
    VCvtScalef32PkF32Bf8(a: u32, s: u32) -> [f32; 2] { decode_bytes(Format::Bf8, a, s) }
    VCvtScalef32PkF16Bf8(a: u32, s: u32) -> Halves { Halves(decode_bytes(Format::Bf8, a, s)) }
    VCvtScalef32PkBf16Bf8(a: u32, s: u32) -> [Brain; 2] { decode_bytes(Format::Bf8, a, s).map(Brain) }
    VCvtScalef32F32Bf8(a: u32, s: u32) -> f32 { Format::Bf8.decode_scaled(a as u8, exponent(s)) }
    VCvtScalef32F16Bf8(a: u32, s: u32) -> Half {
        Half(Format::Bf8.decode_scaled(a as u8, exponent(s)))
    }
    VCvtScalef32PkFp4F32(a: f32, b: f32, s: u32) -> u16 { fp4([a, b], s) }
    VCvtScalef32PkFp4F16(a: Halves, s: u32) -> u16 { fp4(a.0, s) }
    VCvtScalef32PkFp4Bf16(a: [Brain; 2], s: u32) -> u16 { fp4([a[0].0, a[1].0], s) }
    VCvtScalef32PkF32Fp4(a: u32, s: u32) -> [f32; 2] { decode_nibbles(a, s) }
    VCvtScalef32PkF16Fp4(a: u32, s: u32) -> Halves { Halves(decode_nibbles(a, s)) }
    VCvtScalef32PkBf16Fp4(a: u32, s: u32) -> [Brain; 2] { decode_nibbles(a, s).map(Brain) }
}

kernels! {
    single
    /// Kernels of the conversions with stochastic rounding.
    pub(super) fn lookup_stochastic;
    VCvtScalef32SrFp8F32(a: f32, r: u32, s: u32)[mode] -> u16 { one_sr(Format::Fp8, a, r, s, mode) }
    VCvtScalef32SrFp8F16(a: Half, r: u32, s: u32)[mode] -> u16 { one_sr(Format::Fp8, a.0, r, s, mode) }
    VCvtScalef32SrFp8Bf16(a: Brain, r: u32, s: u32)[mode] -> u16 {
        one_sr(Format::Fp8, a.0, r, s, mode)
    }
    VCvtScalef32SrBf8F32(a: f32, r: u32, s: u32)[mode] -> u16 { one_sr(Format::Bf8, a, r, s, mode) }
    VCvtScalef32SrBf8F16(a: Half, r: u32, s: u32)[mode] -> u16 { one_sr(Format::Bf8, a.0, r, s, mode) }
    VCvtScalef32SrBf8Bf16(a: Brain, r: u32, s: u32)[mode] -> u16 {
        one_sr(Format::Bf8, a.0, r, s, mode)
    }
    VCvtScalef32SrPkFp4F32(a: [f32; 2], r: u32, s: u32) -> u16 { fp4_sr(a, r, s) }
    VCvtScalef32SrPkFp4F16(a: Halves, r: u32, s: u32) -> u16 { fp4_sr(a.0, r, s) }
    VCvtScalef32SrPkFp4Bf16(a: [Brain; 2], r: u32, s: u32) -> u16 {
        fp4_sr([a[0].0, a[1].0], r, s)
    }
}
