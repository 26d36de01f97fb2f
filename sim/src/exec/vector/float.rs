//! Floating-point operations in the usual mode: nearest even, denormals kept, IEEE.
//!
//! Goes in: an operation. Comes out: its kernel.

use super::kernel::kernels;
use super::lane::{Brain, Half, Halves};
use super::{division, math, rounding};

/// What minimum and maximum need to know about a float.
pub(super) trait Float: Copy + PartialOrd {
    fn is_nan(self) -> bool;
    /// The quiet form of a signalling NaN, if it is one.
    fn signalling(self) -> bool;
    fn quiet(self) -> Self;
    /// Of two equal values, the one with the sign bit set if either has it.
    fn lower_zero(self, other: Self) -> Self;
    /// Of two equal values, the one with the sign bit clear if either has it clear.
    fn upper_zero(self, other: Self) -> Self;
}

macro_rules! float {
    ($t:ident, $quiet:literal) => {
        impl Float for $t {
            #[inline(always)]
            fn is_nan(self) -> bool {
                $t::is_nan(self)
            }

            #[inline(always)]
            fn signalling(self) -> bool {
                Float::is_nan(self) && self.to_bits() & $quiet == 0
            }

            #[inline(always)]
            fn quiet(self) -> Self {
                $t::from_bits(self.to_bits() | $quiet)
            }

            #[inline(always)]
            fn lower_zero(self, other: Self) -> Self {
                $t::from_bits(self.to_bits() | other.to_bits())
            }

            #[inline(always)]
            fn upper_zero(self, other: Self) -> Self {
                $t::from_bits(self.to_bits() & other.to_bits())
            }
        }
    };
}

float!(f32, 0x0040_0000);
float!(f64, 0x0008_0000_0000_0000);

/// Quiets a signalling NaN operand, which then is the result; else `r`.
#[inline(always)]
fn signal<T: Float>(a: T, b: T, r: T) -> T {
    let r = if b.signalling() { b.quiet() } else { r };
    if a.signalling() { a.quiet() } else { r }
}

/// IEEE 754-2008 minNum; -0 is below +0.
#[inline(always)]
pub(super) fn min<T: Float>(a: T, b: T) -> T {
    let ordered = if a < b { a } else { b };
    let r = if a == b { a.lower_zero(b) } else { ordered };
    let r = if a.is_nan() { b } else { r };
    signal(a, b, if b.is_nan() { a } else { r })
}

/// IEEE 754-2008 maxNum; +0 is above -0.
#[inline(always)]
pub(super) fn max<T: Float>(a: T, b: T) -> T {
    let ordered = if a > b { a } else { b };
    let r = if a == b { a.upper_zero(b) } else { ordered };
    let r = if a.is_nan() { b } else { r };
    signal(a, b, if b.is_nan() { a } else { r })
}

/// IEEE 754-2019 minimum: NaN if either is.
#[inline(always)]
fn minimum(a: f32, b: f32) -> f32 {
    let r = if a.is_nan() || b.is_nan() { a + b } else { min(a, b) };
    if a.is_nan() { a.quiet() } else { r }
}

/// IEEE 754-2019 maximum: NaN if either is.
#[inline(always)]
fn maximum(a: f32, b: f32) -> f32 {
    let r = if a.is_nan() || b.is_nan() { a + b } else { max(a, b) };
    if a.is_nan() { a.quiet() } else { r }
}

/// The middle of three; with a NaN among them, the minimum of the others.
#[inline(always)]
fn median(a: f32, b: f32, c: f32) -> f32 {
    let top = max(max(a, b), c);
    let rest = if top == b { max(a, c) } else { max(a, b) };
    let middle = if top == a { max(b, c) } else { rest };
    if a.is_nan() || b.is_nan() || c.is_nan() { min(min(a, b), c) } else { middle }
}

/// `x - floor(x)`, below one.
#[inline(always)]
fn fract(x: f32) -> f32 {
    let r = x - x.floor();
    if r >= 1.0 { 1.0_f32.next_down() } else { r }
}

/// Denormals to zero of the same sign: the transcendental unit neither reads nor gives any.
#[inline(always)]
fn flush(x: f32) -> f32 {
    let bits = x.to_bits();
    if bits & 0x7f80_0000 == 0 { f32::from_bits(bits & 0x8000_0000) } else { x }
}

#[inline(always)]
fn exp2(x: f64) -> f64 {
    // Beyond these, f32 and f16 are long since zero or infinite.
    let r = math::exp2(x.clamp(-300.0, 300.0));
    let r = if x < -299.0 { 0.0 } else { r };
    let r = if x > 299.0 { f64::INFINITY } else { r };
    if x.is_nan() { x } else { r }
}

#[inline(always)]
fn log2(x: f64) -> f64 {
    let r = math::log2(x);
    let r = if x == f64::INFINITY { x } else { r };
    let r = if x == 0.0 { f64::NEG_INFINITY } else { r };
    if x < 0.0 || x.is_nan() { f64::NAN } else { r }
}

/// The sine of turns; zero beyond 256 of them, which the hardware does not reduce.
#[inline(always)]
fn sin(x: f64) -> f64 {
    let r = if x.abs() > 256.0 { 0.0 } else { math::sin_turns(x) };
    if x.abs() < f64::INFINITY { r } else { f64::NAN }
}

/// The cosine of turns; one beyond 256 of them.
#[inline(always)]
fn cos(x: f64) -> f64 {
    let r = if x.abs() > 256.0 { 1.0 } else { math::cos_turns(x) };
    if x.abs() < f64::INFINITY { r } else { f64::NAN }
}

#[inline(always)]
fn fma_half(a: f32, b: f32, c: f32) -> f64 {
    // The product is exact. The sum is, too, or the product is far below the last place of c.
    rounding::add_odd(f64::from(a) * f64::from(b), f64::from(c))
}

/// A half rounded once from f64.
#[derive(Clone, Copy)]
struct Once(f64);

impl super::lane::Dst for Once {
    #[inline(always)]
    fn put(self, out: &mut super::lane::Out, i: usize) {
        rounding::f64_to_f16(self.0).put(out, i);
    }
}

/// Two halves rounded once from f64.
struct Twice([f64; 2]);

impl super::lane::Dst for Twice {
    #[inline(always)]
    fn put(self, out: &mut super::lane::Out, i: usize) {
        self.0.map(rounding::f64_to_f16).put(out, i);
    }
}

/// Product and sum each rounded to half.
#[inline(always)]
fn mad_half(a: Half, b: Half, c: Half) -> Half {
    let product = crate::exec::formats::f16_to_f32(crate::exec::formats::f32_to_f16(a.0 * b.0));
    Half(product + c.0)
}

#[inline(always)]
fn dot2(a: [f32; 2], b: [f32; 2], c: f32) -> f32 {
    c + a[0] * b[0] + a[1] * b[1]
}

#[inline(always)]
fn two(a: [Brain; 2]) -> [f32; 2] {
    [a[0].0, a[1].0]
}

/// Largest magnitude of the three cube-map coordinates and what follows from it.
#[inline(always)]
fn cube(x: f32, y: f32, z: f32, on_z: f32, on_y: f32, on_x: f32) -> f32 {
    let not_z = if y.abs() >= x.abs() { on_y } else { on_x };
    if z.abs() >= x.abs() && z.abs() >= y.abs() { on_z } else { not_z }
}

#[inline(always)]
fn pick<T>(negative: bool, then: T, otherwise: T) -> T {
    if negative { then } else { otherwise }
}

kernels! {
    /// Kernels of the f32 and f64 operations.
    pub(super) fn lookup;
    VAddF32(a: f32, b: f32) -> f32 { a + b }
    VSubF32(a: f32, b: f32) -> f32 { a - b }
    VSubrevF32(a: f32, b: f32) -> f32 { b - a }
    VMulF32(a: f32, b: f32) -> f32 { a * b }
    VMinF32(a: f32, b: f32) -> f32 { min(a, b) }
    VMaxF32(a: f32, b: f32) -> f32 { max(a, b) }
    VFmaF32 | VFmacF32 | VFmaakF32 | VFmamkF32 | VFmaMixF32 (a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    VMin3F32(a: f32, b: f32, c: f32) -> f32 { min(min(a, b), c) }
    VMax3F32(a: f32, b: f32, c: f32) -> f32 { max(max(a, b), c) }
    VMed3F32(a: f32, b: f32, c: f32) -> f32 { median(a, b, c) }
    VFractF32(a: f32) -> f32 { fract(a) }
    VTruncF32(a: f32) -> f32 { a.trunc() }
    VCeilF32(a: f32) -> f32 { a.ceil() }
    VRndneF32(a: f32) -> f32 { a.round_ties_even() }
    VFloorF32(a: f32) -> f32 { a.floor() }
    VExpF32 | VExpLegacyF32 (a: f32) -> f32 { flush(exp2(f64::from(flush(a))) as f32) }
    VLogF32 | VLogLegacyF32 (a: f32) -> f32 { flush(log2(f64::from(flush(a))) as f32) }
    VRcpF32 | VRcpIflagF32 (a: f32) -> f32 { flush(1.0 / flush(a)) }
    VRsqF32(a: f32) -> f32 { (1.0 / f64::from(flush(a)).sqrt()) as f32 }
    VSqrtF32(a: f32) -> f32 { flush(a).sqrt() }
    VSinF32(a: f32) -> f32 { flush(sin(f64::from(flush(a))) as f32) }
    VCosF32(a: f32) -> f32 { flush(cos(f64::from(flush(a))) as f32) }
    VFrexpExpI32F32(a: f32) -> i32 { division::frexp_f32(a).1 }
    VFrexpMantF32(a: f32) -> f32 { division::frexp_f32(a).0 }
    VLdexpF32(a: f32, b: i32) -> f32 { division::ldexp_f32(a, b) }
    VDivScaleF32(a: f32, b: f32, c: f32) -> (f32, bool) { division::scale_f32(a, b, c) }
    VDivFmasF32(a: f32, b: f32, c: f32, d: bool) -> f32 { division::fmas_f32(a, b, c, d) }
    VDivFixupF32(a: f32, b: f32, c: f32) -> f32 { division::fixup_f32(a, b, c) }

    VAddF64(a: f64, b: f64) -> f64 { a + b }
    VMulF64(a: f64, b: f64) -> f64 { a * b }
    VMinF64(a: f64, b: f64) -> f64 { min(a, b) }
    VMaxF64(a: f64, b: f64) -> f64 { max(a, b) }
    VFmaF64 | VFmacF64 (a: f64, b: f64, c: f64) -> f64 { a.mul_add(b, c) }
    VTruncF64(a: f64) -> f64 { a.trunc() }
    VCeilF64(a: f64) -> f64 { a.ceil() }
    VRndneF64(a: f64) -> f64 { a.round_ties_even() }
    VFloorF64(a: f64) -> f64 { a.floor() }
    VRcpF64(a: f64) -> f64 { 1.0 / a }
    VSqrtF64(a: f64) -> f64 { a.sqrt() }
    VLdexpF64(a: f64, b: i32) -> f64 { division::ldexp_f64(a, b) }

    VPkFmaF32(a: [f32; 2], b: [f32; 2], c: [f32; 2]) -> [f32; 2] {
        [a[0].mul_add(b[0], c[0]), a[1].mul_add(b[1], c[1])]
    }
    VPkMulF32(a: [f32; 2], b: [f32; 2]) -> [f32; 2] { [a[0] * b[0], a[1] * b[1]] }
    VPkAddF32(a: [f32; 2], b: [f32; 2]) -> [f32; 2] { [a[0] + b[0], a[1] + b[1]] }
    VDot2F32F16 | VDot2cF32F16 (a: Halves, b: Halves, c: f32) -> f32 { dot2(a.0, b.0, c) }
}

kernels! {
    /// Kernels of the f16 operations.
    pub(super) fn lookup_half;
    VAddF16(a: Half, b: Half) -> Half { Half(a.0 + b.0) }
    VSubF16(a: Half, b: Half) -> Half { Half(a.0 - b.0) }
    VSubrevF16(a: Half, b: Half) -> Half { Half(b.0 - a.0) }
    VMulF16(a: Half, b: Half) -> Half { Half(a.0 * b.0) }
    VFmaF16 | VFmaLegacyF16 (a: Half, b: Half, c: Half) -> Once { Once(fma_half(a.0, b.0, c.0)) }
    VFmaMixloF16 | VFmaMixhiF16 (a: f32, b: f32, c: f32) -> Half { Half(a.mul_add(b, c)) }
    VMaxF16(a: Half, b: Half) -> Half { Half(max(a.0, b.0)) }
    VMinF16(a: Half, b: Half) -> Half { Half(min(a.0, b.0)) }
    VPkFmaF16 | VPkFmacF16 (a: Halves, b: Halves, c: Halves) -> Twice {
        Twice([fma_half(a.0[0], b.0[0], c.0[0]), fma_half(a.0[1], b.0[1], c.0[1])])
    }
    VPkAddF16(a: Halves, b: Halves) -> Halves { Halves([a.0[0] + b.0[0], a.0[1] + b.0[1]]) }
    VPkMulF16(a: Halves, b: Halves) -> Halves { Halves([a.0[0] * b.0[0], a.0[1] * b.0[1]]) }
    VPkMinF16(a: Halves, b: Halves) -> Halves {
        Halves([min(a.0[0], b.0[0]), min(a.0[1], b.0[1])])
    }
    VPkMaxF16(a: Halves, b: Halves) -> Halves {
        Halves([max(a.0[0], b.0[0]), max(a.0[1], b.0[1])])
    }
}

kernels! {
    single
    /// Kernels of rare operations.
    pub(super) fn lookup_rare;
    VCubeidF32(x: f32, y: f32, z: f32) -> f32 {
        cube(x, y, z, pick(z < 0.0, 5.0, 4.0), pick(y < 0.0, 3.0, 2.0), pick(x < 0.0, 1.0, 0.0))
    }
    VCubescF32(x: f32, y: f32, z: f32) -> f32 {
        cube(x, y, z, pick(z < 0.0, -x, x), x, pick(x < 0.0, z, -z))
    }
    VCubetcF32(x: f32, y: f32, z: f32) -> f32 { cube(x, y, z, -y, pick(y < 0.0, -z, z), -y) }
    VCubemaF32(x: f32, y: f32, z: f32) -> f32 { cube(x, y, z, z, y, x) * 2.0 }
    VTrigPreopF64(a: f64, b: u32) -> f64 { division::trig_preop(a, b) }
    VMinimum3F32(a: f32, b: f32, c: f32) -> f32 { minimum(minimum(a, b), c) }
    VMaximum3F32(a: f32, b: f32, c: f32) -> f32 { maximum(maximum(a, b), c) }
    VMulLegacyF32(a: f32, b: f32) -> f32 { if a == 0.0 || b == 0.0 { 0.0 } else { a * b } }
    VDot2F32Bf16(a: [Brain; 2], b: [Brain; 2], c: f32) -> f32 {
        a[0].0 * b[0].0 + a[1].0 * b[1].0 + c
    }
    VDot2cF32Bf16(a: [Brain; 2], b: [Brain; 2], c: f32) -> f32 { dot2(two(a), two(b), c) }
    VFractF64(a: f64) -> f64 {
        let r = a - a.floor();
        if r >= 1.0 { 1.0_f64.next_down() } else { r }
    }
    VRcpF16(a: Half) -> Half { Half(1.0 / a.0) }
    VSqrtF16(a: Half) -> Half { Half(a.0.sqrt()) }
    VRsqF16(a: Half) -> Once { Once(1.0 / f64::from(a.0).sqrt()) }
    VLogF16(a: Half) -> Once { Once(log2(f64::from(a.0))) }
    VExpF16(a: Half) -> Once { Once(exp2(f64::from(a.0))) }
    VSinF16(a: Half) -> Once { Once(sin(f64::from(a.0))) }
    VCosF16(a: Half) -> Once { Once(cos(f64::from(a.0))) }
    VFrexpMantF16(a: Half) -> Half { Half(division::frexp_f32(a.0).0) }
    VFrexpExpI16F16(a: Half) -> i16 { division::frexp_f32(a.0).1 as i16 }
    VLdexpF16(a: Half, b: i16) -> Once {
        // Far beyond the range of f16 in either direction.
        let n = i32::from(b).clamp(-100, 100);
        Once(f64::from(a.0) * f64::from(f32::from_bits(((127 + n) as u32) << 23)))
    }
    VFloorF16(a: Half) -> Half { Half(a.0.floor()) }
    VCeilF16(a: Half) -> Half { Half(a.0.ceil()) }
    VTruncF16(a: Half) -> Half { Half(a.0.trunc()) }
    VRndneF16(a: Half) -> Half { Half(a.0.round_ties_even()) }
    VFractF16(a: Half) -> Half {
        let r = a.0 - a.0.floor();
        // The largest half below one.
        Half(if r > 1.0 - 1.0 / 2048.0 { 1.0 - 1.0 / 2048.0 } else { r })
    }
    VDivFixupF16 | VDivFixupLegacyF16 (a: Half, b: Half, c: Half) -> Half {
        Half(division::fixup_f16(a.0, b.0, c.0))
    }
    VMin3F16(a: Half, b: Half, c: Half) -> Half { Half(min(min(a.0, b.0), c.0)) }
    VMax3F16(a: Half, b: Half, c: Half) -> Half { Half(max(max(a.0, b.0), c.0)) }
    VMed3F16(a: Half, b: Half, c: Half) -> Half { Half(median(a.0, b.0, c.0)) }
    VPkMinimum3F16(a: Halves, b: Halves, c: Halves) -> Halves {
        Halves([0, 1].map(|k| minimum(minimum(a.0[k], b.0[k]), c.0[k])))
    }
    VPkMaximum3F16(a: Halves, b: Halves, c: Halves) -> Halves {
        Halves([0, 1].map(|k| maximum(maximum(a.0[k], b.0[k]), c.0[k])))
    }
    VMacF16 | VMadF16 | VMadLegacyF16 | VMadmkF16 | VMadakF16 (a: Half, b: Half, c: Half) -> Half {
        mad_half(a, b, c)
    }
    VDivScaleF64(a: f64, b: f64, c: f64) -> (f64, bool) { division::scale_f64(a, b, c) }
    VDivFmasF64(a: f64, b: f64, c: f64, d: bool) -> f64 { division::fmas_f64(a, b, c, d) }
    VDivFixupF64(a: f64, b: f64, c: f64) -> f64 { division::fixup_f64(a, b, c) }
    VFrexpExpI32F64(a: f64) -> i32 { division::frexp_f64(a).1 }
    VFrexpMantF64(a: f64) -> f64 { division::frexp_f64(a).0 }
    VRsqF64(a: f64) -> f64 { 1.0 / a.sqrt() }
}
