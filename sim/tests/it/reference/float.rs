//! Floating-point operations on one lane: computed in f64 and rounded once, from the pseudocode of
//! AMD's ISA documents. The mode is the compilers' usual one: nearest even, denormals kept, IEEE.

use std::sync::LazyLock;

use super::number::{BF16, F16, pow2};
use super::pi;
use super::vector::{Exactness, Lane, Operation, Out, operations};

/// Width of a float.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Width {
    F16,
    F32,
    F64,
}

impl Width {
    pub fn of(name: &str) -> Option<Width> {
        Some(match name {
            "f16" => Width::F16,
            "f32" => Width::F32,
            "f64" => Width::F64,
            _ => return None,
        })
    }

    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Width::F16 => F16.decode(bits as u32 & 0xffff),
            Width::F32 => f64::from(f32::from_bits(bits as u32)),
            Width::F64 => f64::from_bits(bits),
        }
    }

    pub fn encode(self, x: f64) -> u64 {
        match self {
            Width::F16 => F16.encode(x).into(),
            Width::F32 => (x as f32).to_bits().into(),
            Width::F64 => x.to_bits(),
        }
    }

    pub fn smallest_normal(self) -> f64 {
        match self {
            Width::F16 => pow2(-14),
            Width::F32 => pow2(-126),
            Width::F64 => f64::MIN_POSITIVE,
        }
    }

    /// A NaN whose top fraction bit is clear.
    fn signalling(self, bits: u64) -> bool {
        let quiet = match self {
            Width::F16 => 9,
            Width::F32 => 22,
            Width::F64 => 51,
        };
        self.decode(bits).is_nan() && bits >> quiet & 1 == 0
    }

    /// `a * b + c`, rounded once.
    fn fma(self, [a, b, c]: [f64; 3]) -> f64 {
        match self {
            Width::F32 => (a as f32).mul_add(b as f32, c as f32).into(),
            // In f64 the sum of an f16 and a product of two is exact, or the smaller one is far
            // below the last place of the result.
            Width::F16 => a * b + c,
            Width::F64 => a.mul_add(b, c),
        }
    }

    /// Minimum or maximum of IEEE 754-2008: a quiet NaN loses, a signalling one becomes the result.
    fn extreme(self, a: u64, b: u64, greatest: bool) -> u64 {
        let (x, y) = (self.decode(a), self.decode(b));
        if self.signalling(a) || self.signalling(b) {
            return self.encode(f64::NAN);
        }
        if x.is_nan() || y.is_nan() {
            return if x.is_nan() { b } else { a };
        }
        let first = match x.total_cmp(&y) {
            std::cmp::Ordering::Less => !greatest,
            _ => greatest,
        };
        if first { a } else { b }
    }

    /// Minimum or maximum of IEEE 754-2019: a NaN is the result.
    fn strict_extreme(self, a: u64, b: u64, greatest: bool) -> u64 {
        match self.decode(a).is_nan() || self.decode(b).is_nan() {
            true => self.encode(f64::NAN),
            false => self.extreme(a, b, greatest),
        }
    }

    fn median(self, [a, b, c]: [u64; 3]) -> u64 {
        let max = |a, b| self.extreme(a, b, true);
        if [a, b, c].into_iter().any(|x| self.decode(x).is_nan()) {
            return self.extreme(self.extreme(a, b, false), c, false);
        }
        let (x, y) = (self.decode(a), self.decode(b));
        let top = self.decode(max(max(a, b), c));
        if top == x {
            max(b, c)
        } else if top == y {
            max(a, c)
        } else {
            max(a, b)
        }
    }
}

fn approximate(value: u64) -> Out {
    Out { exactness: Exactness::Approximate, ..Out::from(value) }
}

/// Sine of turns. The hardware does not reduce beyond 256 of them.
fn sine(turns: f64) -> f64 {
    if turns.is_infinite() {
        return f64::NAN;
    }
    if turns.abs() > 256.0 {
        return 0.0;
    }
    let turns = turns % 1.0;
    match turns * 4.0 {
        q if q % 2.0 == 0.0 => 0.0 * turns,
        q if q == 1.0 || q == -3.0 => 1.0,
        q if q == -1.0 || q == 3.0 => -1.0,
        _ => (turns * std::f64::consts::TAU).sin(),
    }
}

fn cosine(turns: f64) -> f64 {
    match turns.abs() {
        large if large.is_finite() && large > 256.0 => 1.0,
        turns => sine(turns % 1.0 + 0.25),
    }
}

/// Mantissa in [0.5, 1) and exponent.
fn split(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let (mut mantissa, mut exponent) = (x, 0);
    while mantissa.abs() >= 1.0 {
        (mantissa, exponent) = (mantissa / 2.0, exponent + 1);
    }
    while mantissa.abs() < 0.5 {
        (mantissa, exponent) = (mantissa * 2.0, exponent - 1);
    }
    (mantissa, exponent)
}

/// `x * 2^n`, rounded once to f64.
fn scaled(x: f64, n: i64) -> f64 {
    let (mantissa, exponent) = split(x);
    match exponent + n {
        _ if mantissa == 0.0 || !mantissa.is_finite() => x,
        e if e > 1024 => f64::INFINITY.copysign(x),
        e if e < -1100 => 0.0_f64.copysign(x),
        // Only the last step can round.
        e => mantissa * pow2((e / 2) as i32) * pow2((e - e / 2) as i32),
    }
}

pub fn operation(name: &str) -> Option<Operation> {
    if let Some(operation) = packed(name) {
        return Some(operation);
    }
    if let Some(operation) = special(name) {
        return Some(operation);
    }
    let (op, ty) = name.rsplit_once('_')?;
    let w = Width::of(ty)?;
    let three = move |x: &Lane| [x.a, x.b, x.c].map(|bits| w.decode(bits));
    let accumulated = move |x: &Lane| [x.a, x.b, x.old].map(|bits| w.decode(bits));
    let one = move |x: &Lane, f: fn(f64) -> f64| w.encode(f(w.decode(x.a)));
    let near = move |x: &Lane, f: fn(f64) -> f64| approximate(w.encode(f(w.decode(x.a))));
    let twice = move |[a, b, c]: [f64; 3]| w.encode(w.decode(w.encode(a * b)) + c);
    let lesser = move |x: &Lane, greatest| w.extreme(x.a, x.b, greatest);
    operations!(op, x, {
        "add" => w.encode(three(x)[0] + three(x)[1]),
        "sub" => w.encode(three(x)[0] - three(x)[1]),
        "subrev" => w.encode(three(x)[1] - three(x)[0]),
        "mul" => w.encode(three(x)[0] * three(x)[1]),
        "mul_legacy" => {
            let [a, b, _] = three(x);
            w.encode(if a == 0.0 || b == 0.0 { 0.0 } else { a * b })
        },
        "min" => lesser(x, false),
        "max" => lesser(x, true),
        "min3" => w.extreme(lesser(x, false), x.c, false),
        "max3" => w.extreme(lesser(x, true), x.c, true),
        "med3" => w.median([x.a, x.b, x.c]),
        "minimum3" => w.strict_extreme(w.strict_extreme(x.a, x.b, false), x.c, false),
        "maximum3" => w.strict_extreme(w.strict_extreme(x.a, x.b, true), x.c, true),
        "fma" | "fma_legacy" | "fmamk" | "fmaak" | "fma_mix" => w.encode(w.fma(three(x))),
        "fmac" => w.encode(w.fma(accumulated(x))),
        "mad" | "mad_legacy" | "madmk" | "madak" => twice(three(x)),
        "mac" => twice(accumulated(x)),
        "trunc" => one(x, f64::trunc),
        "ceil" => one(x, f64::ceil),
        "floor" => one(x, f64::floor),
        "rndne" => one(x, f64::round_ties_even),
        "fract" => {
            // The largest value below one.
            let last = w.decode(w.encode(1.0) - 1);
            let a = w.decode(x.a);
            let fraction = w.decode(w.encode(a - a.floor()));
            w.encode(if fraction >= 1.0 { last } else { fraction })
        },
        "sqrt" => near(x, f64::sqrt),
        "rcp" | "rcp_iflag" => near(x, |a| 1.0 / a),
        "rsq" => near(x, |a| 1.0 / a.sqrt()),
        "exp" | "exp_legacy" => near(x, f64::exp2),
        "log" | "log_legacy" => near(x, f64::log2),
        "sin" => near(x, sine),
        "cos" => near(x, cosine),
        "frexp_mant" => one(x, |a| split(a).0),
        "ldexp" => {
            let n = if w == Width::F16 { i64::from(x.b as i16) } else { x.i()[1] };
            w.encode(scaled(w.decode(x.a), n))
        },
        "div_scale" => div_scale(w, x),
        "div_fmas" => div_fmas(w, x),
        "div_fixup" | "div_fixup_legacy" => w.encode(div_fixup(w, three(x))),
    })
}

/// Operations whose name does not end in the type that they compute in.
fn special(name: &str) -> Option<Operation> {
    let f = |x: &Lane| x.u().map(f32::from_bits);
    let pair = |bits: u32, bf16: bool| {
        let format = if bf16 { BF16 } else { F16 };
        [format.decode(bits & 0xffff) as f32, format.decode(bits >> 16) as f32]
    };
    // Products of two halves are exact.
    let dot = move |x: &Lane, c: u64, bf16: bool| {
        let (a, b) = (pair(x.u()[0], bf16), pair(x.u()[1], bf16));
        (f32::from_bits(c as u32) + a[0] * b[0] + a[1] * b[1]).to_bits()
    };
    operations!(name, x, {
        "frexp_exp_i32_f32" => split(Width::F32.decode(x.a)).1,
        "frexp_exp_i32_f64" => split(Width::F64.decode(x.a)).1,
        "frexp_exp_i16_f16" => split(Width::F16.decode(x.a)).1 as u32 & 0xffff,
        "fma_mixlo_f16" | "fma_mixhi_f16" => {
            let [a, b, c] = f(x);
            u64::from(F16.encode(a.mul_add(b, c).into()))
        },
        "trig_preop_f64" => trig_preop(Width::F64.decode(x.a), x.u()[1] % 32).to_bits(),
        "cubeid_f32" => cube(f(x))[0].to_bits(),
        "cubesc_f32" => cube(f(x))[1].to_bits(),
        "cubetc_f32" => cube(f(x))[2].to_bits(),
        "cubema_f32" => cube(f(x))[3].to_bits(),
        "dot2_f32_f16" => dot(x, x.c, false),
        "dot2c_f32_f16" => dot(x, x.old, false),
        "dot2c_f32_bf16" => dot(x, x.old, true),
        "dot2_f32_bf16" => {
            let (a, b) = (pair(x.u()[0], true), pair(x.u()[1], true));
            (a[0] * b[0] + a[1] * b[1] + f(x)[2]).to_bits()
        },
    })
}

/// 53 bits of the 1201 of 2/pi: segment number `segment`, further down for an `x` so large that the
/// first ones do not matter.
fn trig_preop(x: f64, segment: u32) -> f64 {
    static BITS: LazyLock<Vec<bool>> = LazyLock::new(|| pi::two_over_pi(1201));
    let exponent = exponent(Width::F64, x);
    let shift = i64::from(segment) * 53 + (exponent - 1077).max(0);
    let bits = (shift..shift + 53).map(|at| BITS.get(at as usize).copied().unwrap_or(false));
    let value = bits.fold(0.0, |v, bit| 2.0 * v + f64::from(u8::from(bit)));
    scaled(value, -53 - shift + if exponent >= 1968 { 128 } else { 0 })
}

/// Face, S, T and twice the major axis of a cube map.
fn cube([x, y, z]: [f32; 3]) -> [f32; 4] {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        let back = z < 0.0;
        [if back { 5.0 } else { 4.0 }, if back { -x } else { x }, -y, 2.0 * z]
    } else if y.abs() >= x.abs() {
        let down = y < 0.0;
        [if down { 3.0 } else { 2.0 }, x, if down { -z } else { z }, 2.0 * y]
    } else {
        let left = x < 0.0;
        [if left { 1.0 } else { 0.0 }, if left { z } else { -z }, -y, 2.0 * x]
    }
}

/// Operations on both halves, or on two f32.
fn packed(name: &str) -> Option<Operation> {
    let rest = name.strip_prefix("pk_")?;
    if rest == "mov_b32" {
        // The machine has chosen the dwords: the low result's from the first operand.
        return Some(Box::new(|x| (x.a & 0xffff_ffff | x.b >> 32 << 32).into()));
    }
    let single = operation(rest)?;
    let bits = match rest.rsplit_once('_')?.1 {
        "f16" => 16,
        "f32" => 32,
        _ => return None,
    };
    Some(Box::new(move |x: &Lane| {
        let part = |k: u32| {
            let field = |v: u64| v >> (bits * k) & ((1 << bits) - 1);
            let lane =
                Lane { a: field(x.a), b: field(x.b), c: field(x.c), old: field(x.old), ..*x };
            single(&lane).value << (bits * k)
        };
        (part(0) | part(1)).into()
    }))
}

/// Exponent field.
fn exponent(w: Width, x: f64) -> i64 {
    match w {
        Width::F32 => i64::from((x as f32).to_bits() >> 23 & 0xff),
        _ => (x.to_bits() >> 52 & 0x7ff) as i64,
    }
}

/// ISA document, with one correction that its own algorithm needs: where the reciprocal of the
/// denominator and the quotient would both be denormal, the denominator is scaled down.
fn div_scale(w: Width, x: &Lane) -> Out {
    let (value, d, n) = (w.decode(x.a), w.decode(x.b), w.decode(x.c));
    let (near_largest, by, few) = if w == Width::F32 { (96, 64, 23) } else { (768, 128, 53) };
    let denormal = |x: f64| x.abs() < w.smallest_normal();
    let (reciprocal, quotient) = (denormal(1.0 / d), denormal(n / d));
    let (scale, flag) = if n == 0.0 || d == 0.0 {
        return (w.encode(f64::NAN), false).into();
    } else if exponent(w, n) - exponent(w, d) >= near_largest {
        (if value == d { by } else { 0 }, true)
    } else if denormal(d) {
        (by, false)
    } else if reciprocal && quotient {
        (if value == d { -by } else { 0 }, true)
    } else if reciprocal {
        (-by, false)
    } else if quotient {
        (if value == n { by } else { 0 }, true)
    } else if exponent(w, n) <= few {
        (by, false)
    } else {
        (0, false)
    };
    (w.encode(scaled(value, scale)), flag).into()
}

/// Undoes the scaling of `div_scale`: up where the addend, an approximate quotient, is large.
fn div_fmas(w: Width, x: &Lane) -> Out {
    let [a, b, c] = [x.a, x.b, x.c].map(|bits| w.decode(bits));
    if !x.mask {
        return w.encode(w.fma([a, b, c])).into();
    }
    let (half, by) = if w == Width::F32 { (127, 64) } else { (1023, 128) };
    let by = if exponent(w, c) > half { by } else { -by };
    approximate(w.encode(scaled(a.mul_add(b, c), by)))
}

/// The quotient `q` of `n / d` with what an approximation cannot give put in.
fn div_fixup(w: Width, [q, d, n]: [f64; 3]) -> f64 {
    let sign = if d.is_sign_negative() == n.is_sign_negative() { 1.0 } else { -1.0 };
    let gap = exponent(w, n) - exponent(w, d);
    let (least, most) = match w {
        Width::F16 => (i64::MIN, i64::MAX),
        Width::F32 => (-150, 128),
        Width::F64 => (-1075, 1024),
    };
    if n.is_nan() || d.is_nan() || (n == 0.0 && d == 0.0) || (n.is_infinite() && d.is_infinite()) {
        f64::NAN
    } else if d == 0.0 || n.is_infinite() || gap > most {
        sign * f64::INFINITY
    } else if d.is_infinite() || n == 0.0 || gap < least {
        sign * 0.0
    } else {
        q.abs() * sign
    }
}
