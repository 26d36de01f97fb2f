//! The operations whose result depends on the rounding mode or on FP16_OVFL, for waves that set
//! either.
//!
//! Goes in: an operation. Comes out: a kernel that honours the MODE register it is given.

use super::kernel::kernels;
use super::lane::{Half, Halves};
use super::rounding::{add_f64, add_odd, f64_to_f16_mode, f64_to_f32, fma_f64, mul_f64};
use crate::exec::mode::{FP16_OVFL, Round};

fn to_single(x: f64, mode: u32) -> f32 {
    f64_to_f32(x, Round::single(mode))
}

fn add_single(a: f32, b: f32, mode: u32) -> f32 {
    to_single(add_odd(a.into(), b.into()), mode)
}

fn mul_single(a: f32, b: f32, mode: u32) -> f32 {
    to_single(f64::from(a) * f64::from(b), mode)
}

fn fma_single(a: f32, b: f32, c: f32, mode: u32) -> f32 {
    to_single(add_odd(f64::from(a) * f64::from(b), c.into()), mode)
}

fn add_half(a: f32, b: f32, mode: u32) -> u16 {
    f64_to_f16_mode(add_odd(a.into(), b.into()), mode)
}

fn mul_half(a: f32, b: f32, mode: u32) -> u16 {
    f64_to_f16_mode(f64::from(a) * f64::from(b), mode)
}

fn fma_half(a: f32, b: f32, c: f32, mode: u32) -> u16 {
    f64_to_f16_mode(add_odd(f64::from(a) * f64::from(b), c.into()), mode)
}

fn mad_half(a: f32, b: f32, c: f32, mode: u32) -> u16 {
    add_half(crate::exec::formats::f16_to_f32(mul_half(a, b, mode)), c, mode)
}

kernels! {
    single
    /// Kernels that read MODE; `None` for operations it does not change.
    pub(super) fn lookup;
    VAddF32(a: f32, b: f32)[mode] -> f32 { add_single(a, b, mode) }
    VSubF32(a: f32, b: f32)[mode] -> f32 { add_single(a, -b, mode) }
    VSubrevF32(a: f32, b: f32)[mode] -> f32 { add_single(b, -a, mode) }
    VMulF32(a: f32, b: f32)[mode] -> f32 { mul_single(a, b, mode) }
    VFmaF32 | VFmacF32 | VFmaakF32 | VFmamkF32 | VFmaMixF32 (a: f32, b: f32, c: f32)[mode] -> f32 {
        fma_single(a, b, c, mode)
    }
    VPkAddF32(a: [f32; 2], b: [f32; 2])[mode] -> [f32; 2] {
        [add_single(a[0], b[0], mode), add_single(a[1], b[1], mode)]
    }
    VPkMulF32(a: [f32; 2], b: [f32; 2])[mode] -> [f32; 2] {
        [mul_single(a[0], b[0], mode), mul_single(a[1], b[1], mode)]
    }
    VPkFmaF32(a: [f32; 2], b: [f32; 2], c: [f32; 2])[mode] -> [f32; 2] {
        [fma_single(a[0], b[0], c[0], mode), fma_single(a[1], b[1], c[1], mode)]
    }
    VCvtF32I32(a: i32)[mode] -> f32 { to_single(a.into(), mode) }
    VCvtF32U32(a: u32)[mode] -> f32 { to_single(a.into(), mode) }
    VCvtF32F64(a: f64)[mode] -> f32 { to_single(a, mode) }
    VAddF64(a: f64, b: f64)[mode] -> f64 { add_f64(a, b, Round::other(mode)) }
    VMulF64(a: f64, b: f64)[mode] -> f64 { mul_f64(a, b, Round::other(mode)) }
    VFmaF64 | VFmacF64 (a: f64, b: f64, c: f64)[mode] -> f64 { fma_f64(a, b, c, Round::other(mode)) }
    VCvtF16F32(a: f32)[mode] -> u16 { f64_to_f16_mode(a.into(), mode) }
    VCvtF16U16(a: u16)[mode] -> u16 { f64_to_f16_mode(a.into(), mode) }
    VCvtF16I16(a: i16)[mode] -> u16 { f64_to_f16_mode(a.into(), mode) }
    VCvtPkF16F32(a: f32, b: f32)[mode] -> [u16; 2] {
        [a, b].map(|x| f64_to_f16_mode(x.into(), mode & FP16_OVFL))
    }
    VAddF16(a: Half, b: Half)[mode] -> u16 { add_half(a.0, b.0, mode) }
    VSubF16(a: Half, b: Half)[mode] -> u16 { add_half(a.0, -b.0, mode) }
    VSubrevF16(a: Half, b: Half)[mode] -> u16 { add_half(b.0, -a.0, mode) }
    VMulF16(a: Half, b: Half)[mode] -> u16 { mul_half(a.0, b.0, mode) }
    VFmaF16 | VFmaLegacyF16 (a: Half, b: Half, c: Half)[mode] -> u16 {
        fma_half(a.0, b.0, c.0, mode)
    }
    VMacF16 | VMadF16 | VMadLegacyF16 | VMadmkF16 | VMadakF16 (a: Half, b: Half, c: Half)[mode]
        -> u16
    {
        mad_half(a.0, b.0, c.0, mode)
    }
    VFmaMixloF16 | VFmaMixhiF16 (a: f32, b: f32, c: f32)[mode] -> u16 {
        f64_to_f16_mode(fma_single(a, b, c, mode).into(), mode)
    }
    VPkAddF16(a: Halves, b: Halves)[mode] -> [u16; 2] {
        [0, 1].map(|k| add_half(a.0[k], b.0[k], mode))
    }
    VPkMulF16(a: Halves, b: Halves)[mode] -> [u16; 2] {
        [0, 1].map(|k| mul_half(a.0[k], b.0[k], mode))
    }
    VPkFmaF16 | VPkFmacF16 (a: Halves, b: Halves, c: Halves)[mode] -> [u16; 2] {
        [0, 1].map(|k| fma_half(a.0[k], b.0[k], c.0[k], mode))
    }
}
