//! Number formats by their definition: sign, exponent and fraction fields, read and rounded by plain
//! arithmetic in f64.

/// What the top codes of a format mean.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Top {
    /// The largest exponent is infinity and NaN.
    Ieee,
    /// Only the largest magnitude is NaN.
    OneNan,
    /// Negative zero is NaN.
    ZeroNan,
    /// All codes are finite.
    Finite,
}

/// A float format of at most 32 bits.
#[derive(Clone, Copy)]
pub struct Format {
    pub exponent: u32,
    pub fraction: u32,
    pub bias: i32,
    pub top: Top,
}

const fn format(exponent: u32, fraction: u32, bias: i32, top: Top) -> Format {
    Format { exponent, fraction, bias, top }
}

pub const F32: Format = format(8, 23, 127, Top::Ieee);
pub const F16: Format = format(5, 10, 15, Top::Ieee);
pub const BF16: Format = format(8, 7, 127, Top::Ieee);
pub const FP6: Format = format(2, 3, 1, Top::Finite);
pub const BF6: Format = format(3, 2, 3, Top::Finite);
pub const FP4: Format = format(2, 1, 1, Top::Finite);

/// e4m3 as the target has it: OCP, or FNUZ on CDNA3.
pub const fn fp8(fnuz: bool) -> Format {
    if fnuz { format(4, 3, 8, Top::ZeroNan) } else { format(4, 3, 7, Top::OneNan) }
}

/// e5m2 likewise.
pub const fn bf8(fnuz: bool) -> Format {
    if fnuz { format(5, 2, 16, Top::ZeroNan) } else { format(5, 2, 15, Top::Ieee) }
}

/// 2 to a power that f64 holds as a normal number.
pub fn pow2(n: i32) -> f64 {
    2.0_f64.powi(n)
}

impl Format {
    fn sign_bit(self) -> u32 {
        1 << (self.exponent + self.fraction)
    }

    /// Value of the low bits of `code`.
    pub fn decode(self, code: u32) -> f64 {
        let magnitude = code & (self.sign_bit() - 1);
        let negative = code & self.sign_bit() != 0;
        let (e, f) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
        let last = (1 << self.exponent) - 1;
        let special = match self.top {
            Top::Ieee if e == last => Some(if f == 0 { f64::INFINITY } else { f64::NAN }),
            Top::OneNan if magnitude == self.sign_bit() - 1 => Some(f64::NAN),
            Top::ZeroNan if negative && magnitude == 0 => Some(f64::NAN),
            _ => None,
        };
        let value = special.unwrap_or_else(|| {
            let fraction = f64::from(f) / f64::from(1 << self.fraction);
            match e {
                0 => fraction * pow2(1 - self.bias),
                _ => (1.0 + fraction) * pow2(e as i32 - self.bias),
            }
        });
        if negative { -value } else { value }
    }

    /// Distance of the representable values around `x`.
    fn step(self, x: f64) -> f64 {
        let exponent = if x == 0.0 { i32::MIN } else { (x.abs().to_bits() >> 52) as i32 - 1023 };
        pow2(exponent.max(1 - self.bias) - self.fraction as i32)
    }

    fn largest(self) -> f64 {
        let codes = self.sign_bit();
        (0..4).map(|i| self.decode(codes - 1 - i)).find(|x| x.is_finite()).unwrap_or_else(|| {
            // Infinity and many NaN come first.
            self.decode((((1 << self.exponent) - 1) << self.fraction) - 1)
        })
    }

    /// The code of a value that the format has.
    fn code(self, x: f64) -> u32 {
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        let x = x.abs();
        let (step, normal) = (self.step(x), pow2(1 - self.bias));
        let magnitude = if x < normal {
            (x / step) as u32
        } else {
            let exponent = (x.to_bits() >> 52) as i32 - 1023;
            let fraction = (x / step) as u32 - (1 << self.fraction);
            ((exponent + self.bias) as u32) << self.fraction | fraction
        };
        if self.top == Top::ZeroNan && magnitude == 0 { 0 } else { sign | magnitude }
    }

    fn nan(self, sign: u32) -> u32 {
        match self.top {
            Top::Ieee => {
                sign | ((1 << self.exponent) - 1) << self.fraction | 1 << (self.fraction - 1)
            }
            Top::OneNan => sign | (self.sign_bit() - 1),
            Top::ZeroNan => self.sign_bit(),
            Top::Finite => sign | (self.sign_bit() - 1),
        }
    }

    /// Code of `x`, which `rounded` has brought to a multiple of the step. Beyond the largest value:
    /// infinity, NaN or, in formats with neither, the largest.
    fn finish(self, x: f64, rounded: f64) -> u32 {
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        if x.is_nan() {
            return self.nan(sign);
        }
        if rounded.abs() <= self.largest() {
            return self.code(rounded.copysign(x));
        }
        match self.top {
            Top::Ieee => sign | ((1 << self.exponent) - 1) << self.fraction,
            Top::Finite => self.code(self.largest().copysign(x)),
            Top::OneNan | Top::ZeroNan => self.nan(sign),
        }
    }

    /// Nearest code, ties to even.
    pub fn encode(self, x: f64) -> u32 {
        if !x.is_finite() {
            return self.finish(x, x);
        }
        let step = self.step(x);
        self.finish(x, (x / step).round_ties_even() * step)
    }

    /// Stochastic rounding of an f32 value: as many top bits of `random` as the mantissa loses are
    /// added below its last place, and the sum is truncated.
    pub fn encode_random(self, x: f64, random: u32) -> u32 {
        if !x.is_finite() {
            return self.finish(x, x);
        }
        let lost = 23 - self.fraction;
        let units = f64::from(1 << lost);
        let step = self.step(x);
        let below = (x.abs() / step * units).floor() / units;
        let noise = f64::from(random >> (32 - lost)) / units;
        self.finish(x, ((below + noise).floor() * step).copysign(x))
    }
}

#[test]
fn formats_give_the_published_extremes() {
    assert_eq!(fp8(false).largest(), 448.0);
    assert_eq!(fp8(true).largest(), 240.0);
    assert_eq!(bf8(false).largest(), 57344.0);
    assert_eq!(bf8(true).largest(), 57344.0);
    assert_eq!((FP6.largest(), BF6.largest(), FP4.largest()), (7.5, 28.0, 6.0));
    assert_eq!(F16.largest(), 65504.0);
    for code in 0..1 << 16 {
        let (x, native) = (F16.decode(code), half::f16::from_bits(code as u16).to_f64());
        assert!(x == native || x.is_nan() && native.is_nan());
        assert!(x.is_nan() || F16.encode(x) == code);
    }
}
