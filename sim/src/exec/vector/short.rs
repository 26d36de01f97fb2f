//! 16-bit integer operations, single and packed.
//!
//! Goes in: an operation. Comes out: its kernel.

use super::int::{bitop3, median};
use super::kernel::kernels;

#[inline(always)]
fn each<T: Copy, R>(a: [T; 2], b: [T; 2], f: impl Fn(T, T) -> R) -> [R; 2] {
    [f(a[0], b[0]), f(a[1], b[1])]
}

/// A signed halfword nearest to `x`.
#[inline(always)]
fn clamp_i16(x: i32) -> i16 {
    x.clamp(-0x8000, 0x7fff) as i16
}

/// An unsigned halfword nearest to `x`.
#[inline(always)]
fn clamp_u16(x: u32) -> u16 {
    x.min(0xffff) as u16
}

/// Two bytes, the shifted halves of a pair, clamped by `clamp`.
#[inline(always)]
fn shifted_bytes(a: i32, b: i32, shift: u32, low: i32, high: i32) -> u16 {
    let byte = |x: i32| (x >> (shift & 31)).clamp(low, high) as u16 & 0xff;
    byte(a) | byte(b) << 8
}

kernels! {
    /// Kernels of the wrapping forms.
    pub(super) fn lookup;
    VAddU16 | VAddI16 (a: u16, b: u16) -> u16 { a.wrapping_add(b) }
    VSubU16 | VSubI16 (a: u16, b: u16) -> u16 { a.wrapping_sub(b) }
    VSubrevU16(a: u16, b: u16) -> u16 { b.wrapping_sub(a) }
    VMulLoU16(a: u16, b: u16) -> u16 { a.wrapping_mul(b) }
    VLshlrevB16(a: u16, b: u16) -> u16 { b << (a & 15) }
    VLshrrevB16(a: u16, b: u16) -> u16 { b >> (a & 15) }
    VAshrrevI16(a: u16, b: i16) -> i16 { b >> (a & 15) }
    VMaxU16(a: u16, b: u16) -> u16 { a.max(b) }
    VMaxI16(a: i16, b: i16) -> i16 { a.max(b) }
    VMinU16(a: u16, b: u16) -> u16 { a.min(b) }
    VMinI16(a: i16, b: i16) -> i16 { a.min(b) }
    VMadU16 | VMadLegacyU16 | VMadI16 | VMadLegacyI16 (a: u16, b: u16, c: u16) -> u16 {
        a.wrapping_mul(b).wrapping_add(c)
    }
    VMadU32U16(a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).wrapping_add(c) }
    VMadI32I16(a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).wrapping_add(c) }
    VBitop3B16(a: u32, b: u32, c: u32)[table] -> u16 { bitop3(a, b, c, table) as u16 }
    VPackB32F16(a: u16, b: u16) -> [u16; 2] { [a, b] }

    VPkMadI16 | VPkMadU16 (a: [u16; 2], b: [u16; 2], c: [u16; 2]) -> [u16; 2] {
        each(each(a, b, u16::wrapping_mul), c, u16::wrapping_add)
    }
    VPkMulLoU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::wrapping_mul) }
    VPkAddI16 | VPkAddU16 (a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::wrapping_add) }
    VPkSubI16 | VPkSubU16 (a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::wrapping_sub) }
    VPkLshlrevB16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, |a, b| b << (a & 15)) }
    VPkLshrrevB16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, |a, b| b >> (a & 15)) }
    VPkAshrrevI16(a: [i16; 2], b: [i16; 2]) -> [i16; 2] { each(a, b, |a, b| b >> (a & 15)) }
    VPkMaxI16(a: [i16; 2], b: [i16; 2]) -> [i16; 2] { each(a, b, i16::max) }
    VPkMinI16(a: [i16; 2], b: [i16; 2]) -> [i16; 2] { each(a, b, i16::min) }
    VPkMaxU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::max) }
    VPkMinU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::min) }
}

#[inline(always)]
fn mad_i16(a: i16, b: i16, c: i16) -> i16 {
    clamp_i16(i32::from(a) * i32::from(b) + i32::from(c))
}

#[inline(always)]
fn mad_u16(a: u16, b: u16, c: u16) -> u16 {
    clamp_u16(u32::from(a) * u32::from(b) + u32::from(c))
}

kernels! {
    single
    /// Kernels of the forms whose clamp bit saturates.
    pub(super) fn lookup_clamped;
    VAddU16(a: u16, b: u16) -> u16 { a.saturating_add(b) }
    VSubU16(a: u16, b: u16) -> u16 { a.saturating_sub(b) }
    VSubrevU16(a: u16, b: u16) -> u16 { b.saturating_sub(a) }
    VAddI16(a: i16, b: i16) -> i16 { a.saturating_add(b) }
    VSubI16(a: i16, b: i16) -> i16 { a.saturating_sub(b) }
    VMulLoU16(a: u16, b: u16) -> u16 { a.saturating_mul(b) }
    VMadU16 | VMadLegacyU16 (a: u16, b: u16, c: u16) -> u16 { mad_u16(a, b, c) }
    VMadI16 | VMadLegacyI16 (a: i16, b: i16, c: i16) -> i16 { mad_i16(a, b, c) }
    VMadU32U16(a: u16, b: u16, c: u32) -> u32 { (u32::from(a) * u32::from(b)).saturating_add(c) }
    VMadI32I16(a: i16, b: i16, c: i32) -> i32 { (i32::from(a) * i32::from(b)).saturating_add(c) }
    VPkAddU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::saturating_add) }
    VPkSubU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::saturating_sub) }
    VPkAddI16(a: [i16; 2], b: [i16; 2]) -> [i16; 2] { each(a, b, i16::saturating_add) }
    VPkSubI16(a: [i16; 2], b: [i16; 2]) -> [i16; 2] { each(a, b, i16::saturating_sub) }
    VPkMulLoU16(a: [u16; 2], b: [u16; 2]) -> [u16; 2] { each(a, b, u16::saturating_mul) }
    VPkMadU16(a: [u16; 2], b: [u16; 2], c: [u16; 2]) -> [u16; 2] {
        [mad_u16(a[0], b[0], c[0]), mad_u16(a[1], b[1], c[1])]
    }
    VPkMadI16(a: [i16; 2], b: [i16; 2], c: [i16; 2]) -> [i16; 2] {
        [mad_i16(a[0], b[0], c[0]), mad_i16(a[1], b[1], c[1])]
    }
}

kernels! {
    single
    /// Kernels of rare operations.
    pub(super) fn lookup_rare;
    VMin3I16(a: i16, b: i16, c: i16) -> i16 { a.min(b).min(c) }
    VMin3U16(a: u16, b: u16, c: u16) -> u16 { a.min(b).min(c) }
    VMax3I16(a: i16, b: i16, c: i16) -> i16 { a.max(b).max(c) }
    VMax3U16(a: u16, b: u16, c: u16) -> u16 { a.max(b).max(c) }
    VMed3I16(a: i16, b: i16, c: i16) -> i16 { median(a, b, c) }
    VMed3U16(a: u16, b: u16, c: u16) -> u16 { median(a, b, c) }
    VSatPkU8I16(a: [i16; 2]) -> u16 {
        let byte = |x: i16| x.clamp(0, 255) as u16;
        byte(a[0]) | byte(a[1]) << 8
    }
    VAshrPkI8I32(a: i32, b: i32, c: u32) -> u16 { shifted_bytes(a, b, c, -128, 127) }
    VAshrPkU8I32(a: i32, b: i32, c: u32) -> u16 { shifted_bytes(a, b, c, 0, 255) }
    VCvtPkU16U32(a: u32, b: u32) -> [u16; 2] { [clamp_u16(a), clamp_u16(b)] }
    VCvtPkI16I32(a: i32, b: i32) -> [i16; 2] { [clamp_i16(a), clamp_i16(b)] }
}
