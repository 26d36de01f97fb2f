//! Text of operands: registers, inline constants, literals.

use crate::isa::{Operand, Ty, reg};

/// Text of an operand of a type; `off` for an absent one.
pub fn operand(operand: Operand, ty: Ty) -> String {
    match operand {
        Operand::None => "off".into(),
        Operand::Vgpr(n) => group("v", n, ty),
        Operand::Agpr(n) => group("a", n, ty),
        Operand::Sgpr(n) => scalar(n, ty),
        Operand::Int(n) => n.to_string(),
        Operand::Float(code) => inline_float(code, ty),
        Operand::Literal(value) => literal(value, ty),
        Operand::Special(code) => special(code).into(),
    }
}

/// A register or a group of consecutive ones: `v3`, `v[4:7]`.
fn group(prefix: &str, first: u16, ty: Ty) -> String {
    match u16::from(ty.dwords()) {
        0 | 1 => format!("{prefix}{first}"),
        n => format!("{prefix}[{first}:{}]", first + n - 1),
    }
}

/// A scalar register, by name where it has one.
fn scalar(n: u16, ty: Ty) -> String {
    let wide = ty.dwords() > 1;
    let halves = |name: &str, base: u16| match (wide, n - base) {
        (true, _) => name.to_string(),
        (false, 0) => format!("{name}_lo"),
        (false, _) => format!("{name}_hi"),
    };
    match n {
        reg::FLAT_SCRATCH..reg::XNACK_MASK => halves("flat_scratch", reg::FLAT_SCRATCH),
        reg::XNACK_MASK..reg::VCC => halves("xnack_mask", reg::XNACK_MASK),
        reg::VCC..reg::TTMP => halves("vcc", reg::VCC),
        reg::TTMP..reg::M0 => group("ttmp", n - reg::TTMP, ty),
        reg::M0 => "m0".into(),
        reg::EXEC.. => halves("exec", reg::EXEC),
        _ => group("s", n, ty),
    }
}

/// Names of the other source codes.
fn special(code: u8) -> &'static str {
    match code {
        235 => "src_shared_base",
        236 => "src_shared_limit",
        237 => "src_private_base",
        238 => "src_private_limit",
        239 => "src_pops_exiting_wave_id",
        251 => "src_vccz",
        252 => "src_execz",
        253 => "src_scc",
        _ => "src_lds_direct",
    }
}

/// An inline floating-point constant. Where a 16-bit integer is expected, LLVM prints the bits of
/// the half that the hardware supplies.
fn inline_float(code: u8, ty: Ty) -> String {
    let i = usize::from(code - 240);
    match ty {
        Ty::I16 => format!("{:#x}", F16_BITS[i]),
        Ty::B64 | Ty::F64 if code == 248 => "0.15915494309189532".into(),
        _ => FLOAT_TEXT[i].into(),
    }
}

/// Text of the constants 240..=248.
static FLOAT_TEXT: [&str; 9] =
    ["0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494"];

/// The same as halves.
static F16_BITS: [u16; 9] =
    [0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000, 0xc000, 0x4400, 0xc400, 0x3118];

/// The same as single-precision numbers.
static F32_BITS: [u32; 9] = [
    0x3f00_0000,
    0xbf00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0xc000_0000,
    0x4080_0000,
    0xc080_0000,
    0x3e22_f983,
];

/// The upper halves of the same as double-precision numbers whose lower half is zero.
static F64_HIGH: [u32; 8] = [
    0x3fe0_0000,
    0xbfe0_0000,
    0x3ff0_0000,
    0xbff0_0000,
    0x4000_0000,
    0xc000_0000,
    0x4010_0000,
    0xc010_0000,
];

/// Whether a 32-bit value has an inline constant, and its text.
pub fn inlinable32(value: u32) -> Option<String> {
    let int = value as i32;
    if (-16..=64).contains(&int) {
        return Some(int.to_string());
    }
    F32_BITS.iter().position(|&b| b == value).map(|i| FLOAT_TEXT[i].to_string())
}

/// A literal; `lit(..)` where the assembler would choose an inline constant for the bare number.
fn literal(value: u32, ty: Ty) -> String {
    let half = value as u16;
    let shown = match ty {
        Ty::F64 => {
            // The literal is the upper half of the number.
            let constant = F64_HIGH.iter().position(|&high| high == value).map(|i| FLOAT_TEXT[i]);
            return match constant {
                Some(text) => text.into(),
                None if value == 0 => "0".into(),
                None => format!("{value:#x}"),
            };
        }
        Ty::I16 | Ty::F16 => u32::from(half),
        _ => value,
    };
    let inlinable = match ty {
        Ty::Bf16 => {
            (-16..=64).contains(&(half as i16))
                || F32_BITS.iter().any(|b| b >> 16 == u32::from(half))
        }
        Ty::F16 => (-16..=64).contains(&(half as i16)) || F16_BITS.contains(&half),
        Ty::PkF16 => {
            let half_constant = u16::try_from(value).is_ok_and(|half| F16_BITS.contains(&half));
            half_constant || (-16..=64).contains(&(value as i32))
        }
        Ty::B64 => value <= 64,
        _ => inlinable32(value).is_some(),
    };
    if inlinable { format!("lit({value:#x})") } else { format!("{shown:#x}") }
}
