//! Results in the rounding and denormal modes that the MODE register can ask for. An exact result is
//! held as a sum of two f64, and rounded once.

use cdna_sim::isa::{Op, Ty};

use super::float::Width;
use super::number::F16;
use super::vector::{Lane, Operation};

/// Rounding up, down and towards zero, as the fields of MODE have it; 0 is to the nearest.
const UP: u32 = 1;
pub(super) const DOWN: u32 = 2;

/// Whether an operation is computed here in any mode, or does not depend on it.
pub fn follows_mode(op: Op) -> bool {
    let info = op.info();
    let name = info.name;
    let integer =
        |ty: &Ty| matches!(ty, Ty::B32 | Ty::B64 | Ty::I16 | Ty::PkI16 | Ty::Mask | Ty::None);
    let types = info.src.iter().chain([&info.dst]).all(integer);
    let float = ["f16", "f32", "f64", "8_", "cndmask", "mfma", "exec", "cmpx"];
    let plain = types && !float.iter().any(|part| name.contains(part));
    plain || name.strip_prefix("v_").is_some_and(|name| exact(name).is_some())
}

/// Rounding of results of a width.
pub(super) fn direction(width: Width, mode: u32) -> u32 {
    match width {
        Width::F32 => mode & 3,
        Width::F16 | Width::F64 => mode >> 2 & 3,
    }
}

/// Whether denormal sources, or results, of a width are kept.
pub(super) fn keeps(width: Width, mode: u32, result: bool) -> bool {
    let first = if width == Width::F32 { 4 } else { 6 };
    mode >> (first + u32::from(result)) & 1 == 1
}

/// A value of a width, zero where it is denormal and the mode does not keep it.
pub(super) fn flushed_part(bits: u64, width: Width, mode: u32, result: bool) -> u64 {
    let x = width.decode(bits);
    match x != 0.0 && x.abs() < width.smallest_normal() && !keeps(width, mode, result) {
        true => width.encode(0.0_f64.copysign(x)),
        false => bits,
    }
}

/// All values of an operand of a type.
pub(super) fn flushed(bits: u64, ty: Ty, mode: u32, result: bool) -> u64 {
    let (width, parts): (Width, &[u32]) = match ty {
        Ty::F16 => (Width::F16, &[0]),
        Ty::PkF16 => (Width::F16, &[0, 16]),
        Ty::F32 => (Width::F32, &[0]),
        Ty::PkF32 => (Width::F32, &[0, 32]),
        Ty::F64 => (Width::F64, &[0]),
        _ => return bits,
    };
    let size = if width == Width::F16 { 0xffff } else { 0xffff_ffff };
    parts.iter().fold(0, |all, &shift| {
        let part = if width == Width::F64 { bits } else { bits >> shift & size };
        all | flushed_part(part, width, mode, result) << shift
    })
}

/// A sum of two numbers and what f64 loses of it.
fn sum(a: f64, b: f64) -> (f64, f64) {
    let high = a + b;
    let part = high - a;
    (high, (a - (high - part)) + (b - part))
}

/// The exact result of an operation as two f64, and the width of the result.
type Exact = (Width, fn(&[f64; 3]) -> (f64, f64));

/// Operations without `v_` and the type of their result; `None` where rounding is not modelled here.
fn exact(name: &str) -> Option<(bool, Exact, [Width; 3])> {
    let (packed, plain) = match name.strip_prefix("pk_") {
        Some(rest) => (true, rest),
        None => (false, name),
    };
    let conversion: Option<(Width, Width)> = match plain {
        "cvt_f16_f32" => Some((Width::F16, Width::F32)),
        "cvt_f32_f16" => Some((Width::F32, Width::F16)),
        "cvt_f32_f64" => Some((Width::F32, Width::F64)),
        _ => None,
    };
    if let Some((to, from)) = conversion.filter(|_| !packed) {
        return Some((false, (to, |[a, ..]| (*a, 0.0)), [from; 3]));
    }
    let (op, ty) = plain.rsplit_once('_')?;
    let width = Width::of(ty)?;
    let apply: fn(&[f64; 3]) -> (f64, f64) = match (op, width) {
        ("add", _) => |[a, b, _]| sum(*a, *b),
        ("sub", _) => |[a, b, _]| sum(*a, -*b),
        ("subrev", _) => |[a, b, _]| sum(*b, -*a),
        ("mul", Width::F64) => |[a, b, _]| (a * b, a.mul_add(*b, -(a * b))),
        ("mul", _) => |[a, b, _]| (a * b, 0.0),
        // The product of two f32 is exact.
        ("fma" | "fmac" | "fmamk" | "fmaak", Width::F16 | Width::F32) => |[a, b, c]| sum(a * b, *c),
        _ => return None,
    };
    Some((packed, (width, apply), [width; 3]))
}

/// The operation `name` with its results rounded as `mode` says; none where that is to the nearest,
/// which the plain operations do.
pub(super) fn operation(name: &str, mode: u32) -> Option<Operation> {
    let (packed, (width, apply), from) = exact(name)?;
    let direction = direction(width, mode);
    if direction == 0 {
        return None;
    }
    let accumulates = name.starts_with("fmac") || name.starts_with("pk_fmac");
    Some(Box::new(move |x: &Lane| {
        let operands = [x.a, x.b, if accumulates { x.old } else { x.c }];
        let result = |shift: u32| {
            let numbers = [0, 1, 2].map(|i| from[i].decode(operands[i] >> shift));
            let (high, low) = apply(&numbers);
            round(width, high, low, direction)
        };
        let step = if width == Width::F16 { 16 } else { 32 };
        (if packed { result(0) | result(step) << step } else { result(0) }).into()
    }))
}

/// The code of `high + low` in a direction.
fn round(width: Width, high: f64, low: f64, direction: u32) -> u64 {
    if !high.is_finite() || high == 0.0 && low == 0.0 {
        return width.encode(high);
    }
    if width == Width::F64 {
        let exact = if low == 0.0 || low.is_nan() { 0.0 } else { -low };
        return moved(high.to_bits(), high, exact, direction);
    }
    // What the second part adds is less than a step of the first: an odd last place stands for it.
    let bits = high.to_bits();
    let inward = (low > 0.0) != (high > 0.0);
    let sticky = match low != 0.0 && bits & 1 == 0 {
        true if inward => bits - 1,
        true => bits + 1,
        false => bits,
    };
    let sticky = f64::from_bits(sticky);
    let near = width.encode(sticky);
    let number = if width == Width::F16 { F16.decode(near as u32) } else { width.decode(near) };
    let excess = if number > sticky { 1.0 } else { number - sticky };
    moved(near, sticky, excess, direction)
}

/// The nearest code, or the one beside it: `excess` is the sign of its value minus `x`, the exact one.
fn moved(near: u64, x: f64, excess: f64, direction: u32) -> u64 {
    let away = |yes: bool| if yes { near + 1 } else { near - 1 };
    match direction {
        UP if excess < 0.0 => away(x > 0.0),
        DOWN if excess > 0.0 => away(x < 0.0),
        // Towards zero.
        3 if excess > 0.0 && x > 0.0 || excess < 0.0 && x < 0.0 => near - 1,
        _ => near,
    }
}
