//! Number formats narrower than f32: fp8, bf8, fp6, bf6 and fp4 in their OCP and FNUZ variants,
//! bf16, f16 and the e8m0 block scale. Goes in: codes or f32 values. Comes out: the other one,
//! rounded as the conversion instructions of gfx942 and gfx950 do.
//!
//! Every function is pure and branch-free enough to vectorise over lanes when the format is a
//! constant at the call site. Rules follow the OCP 8-bit and microscaling (MX) specifications, the
//! FNUZ formats of CDNA3, and the host-side model of these conversions in AMD's HIP headers.

use crate::isa::Arch;

/// A float format of at most eight bits: sign, exponent, mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// OCP e4m3: bias 7, no infinity, NaN 0x7f and 0xff, largest 448. gfx950.
    Fp8,
    /// OCP e5m2: bias 15, infinity and NaN as IEEE, largest 57344. gfx950.
    Bf8,
    /// FNUZ e4m3: bias 8, no infinity, no negative zero, NaN 0x80, largest 240. gfx942.
    Fp8Fnuz,
    /// FNUZ e5m2: bias 16, no infinity, no negative zero, NaN 0x80, largest 57344. gfx942.
    Bf8Fnuz,
    /// MX e2m3: bias 1, finite only, largest 7.5.
    Fp6,
    /// MX e3m2: bias 3, finite only, largest 28.
    Bf6,
    /// MX e2m1: bias 1, finite only, largest 6.
    Fp4,
}

/// How a format spends its top codes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// All-ones magnitude is NaN.
    TopNan,
    /// All-ones exponent is infinity and NaN.
    Ieee,
    /// The code of negative zero is NaN.
    NegativeZeroNan,
    /// Every code is finite.
    None,
}

/// The numbers that define a format.
#[derive(Clone, Copy)]
struct Spec {
    exp_bits: u32,
    man_bits: u32,
    bias: i32,
    special: Special,
}

impl Spec {
    /// Position of the sign bit.
    const fn sign_shift(self) -> u32 {
        self.exp_bits + self.man_bits
    }

    /// Code of the largest finite magnitude.
    const fn max_code(self) -> u32 {
        let all = (1 << self.sign_shift()) - 1;
        match self.special {
            Special::TopNan => all - 1,
            Special::Ieee => all - (1 << self.man_bits),
            Special::NegativeZeroNan | Special::None => all,
        }
    }

    /// 2 to the exponent of the smallest normal minus the mantissa width: one subnormal step.
    const fn step_exponent(self) -> i32 {
        1 - self.bias - self.man_bits as i32
    }
}

/// An exact power of two in the normal range of f32.
const fn pow2(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

const fn decode_table(spec: Spec) -> [f32; 256] {
    let mut table = [0.0; 256];
    let mut code = 0;
    while code < 256 {
        table[code as usize] = decode_code(spec, code);
        code += 1;
    }
    table
}

/// Value of one code; bits above the format's width are ignored.
const fn decode_code(spec: Spec, code: u32) -> f32 {
    let negative = (code >> spec.sign_shift()) & 1 == 1;
    let magnitude = code & ((1 << spec.sign_shift()) - 1);
    let nan = match spec.special {
        Special::TopNan => magnitude > spec.max_code(),
        Special::Ieee => magnitude > spec.max_code() + 1,
        Special::NegativeZeroNan => negative && magnitude == 0,
        Special::None => false,
    };
    if nan {
        return f32::NAN;
    }
    let man = magnitude & ((1 << spec.man_bits) - 1);
    let exp = magnitude >> spec.man_bits;
    let value = if matches!(spec.special, Special::Ieee) && magnitude > spec.max_code() {
        f32::INFINITY
    } else if exp == 0 {
        man as f32 * pow2(spec.step_exponent())
    } else {
        (man + (1 << spec.man_bits)) as f32 * pow2(spec.step_exponent() + exp as i32 - 1)
    };
    if negative { -value } else { value }
}

static FP8: [f32; 256] = decode_table(Format::Fp8.spec());
static BF8: [f32; 256] = decode_table(Format::Bf8.spec());
static FP8_FNUZ: [f32; 256] = decode_table(Format::Fp8Fnuz.spec());
static BF8_FNUZ: [f32; 256] = decode_table(Format::Bf8Fnuz.spec());
static FP6: [f32; 256] = decode_table(Format::Fp6.spec());
static BF6: [f32; 256] = decode_table(Format::Bf6.spec());
static FP4: [f32; 256] = decode_table(Format::Fp4.spec());

impl Format {
    /// The e4m3 format that `arch` converts to and multiplies.
    #[inline]
    pub const fn fp8(arch: Arch) -> Self {
        match arch {
            Arch::Gfx942 => Format::Fp8Fnuz,
            Arch::Gfx950 => Format::Fp8,
        }
    }

    /// The e5m2 format that `arch` converts to and multiplies.
    #[inline]
    pub const fn bf8(arch: Arch) -> Self {
        match arch {
            Arch::Gfx942 => Format::Bf8Fnuz,
            Arch::Gfx950 => Format::Bf8,
        }
    }

    const fn spec(self) -> Spec {
        let (exp_bits, man_bits, bias, special) = match self {
            Format::Fp8 => (4, 3, 7, Special::TopNan),
            Format::Bf8 => (5, 2, 15, Special::Ieee),
            Format::Fp8Fnuz => (4, 3, 8, Special::NegativeZeroNan),
            Format::Bf8Fnuz => (5, 2, 16, Special::NegativeZeroNan),
            Format::Fp6 => (2, 3, 1, Special::None),
            Format::Bf6 => (3, 2, 3, Special::None),
            Format::Fp4 => (2, 1, 1, Special::None),
        };
        Spec { exp_bits, man_bits, bias, special }
    }

    /// Bits of one code: 4, 6 or 8.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.spec().sign_shift() + 1
    }

    /// Values of all codes; bits above the format's width do not matter.
    #[inline]
    pub fn table(self) -> &'static [f32; 256] {
        match self {
            Format::Fp8 => &FP8,
            Format::Bf8 => &BF8,
            Format::Fp8Fnuz => &FP8_FNUZ,
            Format::Bf8Fnuz => &BF8_FNUZ,
            Format::Fp6 => &FP6,
            Format::Bf6 => &BF6,
            Format::Fp4 => &FP4,
        }
    }

    /// Value of one code (exact).
    #[inline]
    pub fn decode(self, code: u8) -> f32 {
        self.table()[code as usize]
    }

    /// [`Format::decode`] by arithmetic, for code that vectorises over lanes; `code` must have no
    /// bits above the format's width.
    #[inline(always)]
    pub fn decode_wide(self, code: u32) -> f32 {
        let spec = self.spec();
        let magnitude = code & ((1 << spec.sign_shift()) - 1);
        let sign = (code >> spec.sign_shift()) << 31;
        let shifted = magnitude << (23 - spec.man_bits);
        let bits = shifted + (((127 - spec.bias) as u32) << 23);
        // Where the exponent is zero, 2 (1.m) 2^-bias is 2 * 2^-bias too much; above, as much less
        // than twice the value is no smaller than the value. (Many hosts multiply f32 subnormals
        // slowly.)
        let normal = f32::from_bits(bits);
        let subnormal = normal + normal - pow2(1 - spec.bias);
        let value = if subnormal < normal { subnormal } else { normal };
        let signed = value.to_bits() | sign;
        let max = spec.max_code();
        f32::from_bits(match spec.special {
            Special::None => signed,
            Special::TopNan if magnitude > max => signed | 0x7fc0_0000,
            Special::Ieee if magnitude > max => {
                sign | if magnitude == max + 1 { 0x7f80_0000 } else { 0x7fc0_0000 }
            }
            Special::NegativeZeroNan if code == 0x80 => 0x7fc0_0000,
            _ => signed,
        })
    }

    /// Value of one code times an e8m0 block scale, rounded once to f32.
    #[inline]
    pub fn decode_scaled(self, code: u8, scale: u8) -> f32 {
        // Exact in f64; the conversion rounds results below the normal range of f32.
        (f64::from(self.decode(code)) * f64::from(e8m0_to_f32(scale))) as f32
    }

    /// Nearest code, ties to even. Subnormals are produced. A value past the largest finite one
    /// (infinity included) becomes that one when `saturate` (MODE.FP16_OVFL) is set, else infinity
    /// or, where the format has none, NaN; fp6, bf6 and fp4 always saturate. NaN stays NaN, or
    /// becomes the largest magnitude in a format without NaN.
    #[inline(always)]
    pub fn encode(self, x: f32, saturate: bool) -> u8 {
        let spec = self.spec();
        let shift = 23 - spec.man_bits;
        let abs = x.to_bits() & 0x7fff_ffff;
        let rounded = abs + ((abs >> shift) & 1) + ((1 << (shift - 1)) - 1);
        let normal = (rounded >> shift).wrapping_sub(((127 - spec.bias) as u32) << spec.man_bits);
        // Adding a power of two whose last mantissa bit is one step makes the FPU round to steps.
        let magic = pow2(spec.step_exponent() + 23);
        let subnormal = (f32::from_bits(abs) + magic).to_bits().wrapping_sub(magic.to_bits());
        let code = if abs < min_normal(spec) { subnormal } else { normal };
        finish(spec, x, code, saturate)
    }

    /// Stochastic rounding: the top bits of `random` are added below the last kept mantissa bit and
    /// the sum is truncated. Overflow, NaN and `saturate` as in [`Format::encode`].
    #[inline(always)]
    pub fn encode_sr(self, x: f32, random: u32, saturate: bool) -> u8 {
        let spec = self.spec();
        let shift = 23 - spec.man_bits;
        let noise = random >> (32 - shift);
        let abs = x.to_bits() & 0x7fff_ffff;
        let normal =
            ((abs + noise) >> shift).wrapping_sub(((127 - spec.bias) as u32) << spec.man_bits);
        // Below the normal range the mantissa is aligned to the subnormal step first.
        let below = (min_normal(spec) >> 23).saturating_sub(abs >> 23).min(31);
        let aligned = ((abs & 0x7f_ffff) | 0x80_0000) >> below;
        let subnormal = (aligned + noise) >> shift;
        let zero = abs == 0;
        let code = if zero {
            0
        } else if abs < min_normal(spec) {
            subnormal
        } else {
            normal
        };
        finish(spec, x, code, saturate)
    }

    /// [`Format::encode`] of `x / 2^(scale - 127)`, rounded once. A scale of 255 is NaN.
    #[inline(always)]
    pub fn encode_scaled(self, x: f32, scale: u8, saturate: bool) -> u8 {
        self.encode(divide_by_scale(x, scale), saturate)
    }

    /// [`Format::encode_sr`] of `x / 2^(scale - 127)`.
    #[inline(always)]
    pub fn encode_scaled_sr(self, x: f32, scale: u8, random: u32, saturate: bool) -> u8 {
        self.encode_sr(divide_by_scale(x, scale), random, saturate)
    }
}

/// `x / 2^(scale - 127)`: exact in the range of every format here. What leaves the range of f32 on
/// the way overflows or rounds to zero in each of them anyhow.
#[inline(always)]
fn divide_by_scale(x: f32, scale: u8) -> f32 {
    let factor = f64::from_bits((1023 + 127 - u64::from(scale)) << 52);
    let scaled = (f64::from(x) * factor) as f32;
    if scale == 255 { f32::NAN } else { scaled }
}

/// f32 bits of the smallest normal magnitude.
const fn min_normal(spec: Spec) -> u32 {
    ((128 - spec.bias) as u32) << 23
}

/// Applies overflow, NaN and sign to a rounded magnitude.
#[inline(always)]
fn finish(spec: Spec, x: f32, code: u32, saturate: bool) -> u8 {
    let max = spec.max_code();
    let nan_code = match spec.special {
        Special::TopNan | Special::Ieee => max + 1 + (spec.special == Special::Ieee) as u32 * 2,
        Special::NegativeZeroNan => 0x80,
        Special::None => max,
    };
    let past = match spec.special {
        Special::TopNan | Special::NegativeZeroNan if !saturate => nan_code,
        Special::Ieee if !saturate => max + 1,
        _ => max,
    };
    let sign = (x.to_bits() >> 31) << spec.sign_shift();
    let code = if code > max { past } else { code };
    let code = if x.is_nan() { nan_code } else { code };
    let signed = code | sign;
    if spec.special == Special::NegativeZeroNan {
        // Zero has no sign here, and NaN only one code.
        return if code == 0 || code == 0x80 { code as u8 } else { signed as u8 };
    }
    signed as u8
}

/// An e8m0 block scale, `2^(code - 127)`; 255 is NaN.
#[inline]
pub fn e8m0_to_f32(code: u8) -> f32 {
    match code {
        0 => f32::from_bits(0x0040_0000),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// bfloat16 to f32 (exact).
#[inline]
pub const fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits((bits as u32) << 16)
}

/// f32 to bfloat16, nearest even; NaN becomes a quiet NaN of the same sign and top payload.
#[inline]
pub const fn f32_to_bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1));
    let nan = (bits & 0x7fff_ffff) > 0x7f80_0000;
    if nan { (bits >> 16) as u16 | 0x40 } else { (rounded >> 16) as u16 }
}

/// IEEE half to f32 (exact; subnormals kept, NaN payload kept and quieted).
#[inline]
pub fn f16_to_f32(bits: u16) -> f32 {
    let quiet = if bits & 0x7fff > 0x7c00 { 0x0040_0000 } else { 0 };
    f32::from_bits(f16_to_f32_signalling(bits).to_bits() | quiet)
}

/// [`f16_to_f32`] that leaves signalling NaN as they are, for operations that treat them apart.
#[inline]
pub fn f16_to_f32_signalling(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let shifted = u32::from(bits & 0x7fff) << 13;
    // Multiplying by 2^112 rebiases the exponent and normalises subnormals in one step.
    let finite = (f32::from_bits(shifted) * pow2(112)).to_bits();
    f32::from_bits(sign | if shifted >= 0x0f80_0000 { shifted | 0x7f80_0000 } else { finite })
}

/// f32 to IEEE half, nearest even; subnormals are produced, overflow is infinity, NaN is quieted.
#[inline]
pub fn f32_to_f16(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let abs = bits & 0x7fff_ffff;
    let normal = ((abs + 0xfff + ((abs >> 13) & 1)) >> 13).wrapping_sub(112 << 10);
    // One subnormal step of f16 is 2^-24.
    let magic = pow2(-24 + 23);
    let subnormal = (f32::from_bits(abs) + magic).to_bits().wrapping_sub(magic.to_bits());
    let code = if abs < 0x3880_0000 { subnormal } else { normal.min(0x7c00) };
    let nan = 0x7e00 | ((abs >> 13) & 0x3ff);
    sign | if abs > 0x7f80_0000 { nan as u16 } else { code as u16 }
}

#[cfg(test)]
mod tests;
