//! Vector operations on operands of more than two registers: conversions of 32 values between f32,
//! f16 or bf16 and the 6-bit formats, and four 32-bit sums of absolute differences.
//!
//! Goes in: an instruction. Comes out: the handler that executes it, if it is one of these.

use super::int::sad_u8;
use super::scaled::{exponent, next_random};
use super::{Code, Ctx, Flow, Handler, Step, Wave};
use crate::exec::formats::{Format, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use crate::exec::operand::{scalar32, vector_index};
use crate::exec::{Lanes, WAVE};
use crate::fault::FaultKind;
use crate::isa::{Inst, Op, Operand};

/// The type of the 32 wide values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Single,
    Half,
    Brain,
}

impl Element {
    /// Registers that hold 32 of them.
    fn registers(self) -> usize {
        if self == Element::Single { 32 } else { 16 }
    }

    /// Value `k` of those in `registers`.
    fn get(self, registers: &[u32; 32], k: usize) -> f32 {
        let half = (registers[k / 2] >> (16 * (k % 2))) as u16;
        match self {
            Element::Single => f32::from_bits(registers[k]),
            Element::Half => f16_to_f32(half),
            Element::Brain => bf16_to_f32(half),
        }
    }

    fn set(self, registers: &mut [u32; 32], k: usize, x: f32) {
        let half = match self {
            Element::Single => {
                registers[k] = x.to_bits();
                return;
            }
            Element::Half => f32_to_f16(x),
            Element::Brain => f32_to_bf16(x),
        };
        registers[k / 2] |= u32::from(half) << (16 * (k % 2));
    }
}

/// What a conversion does.
#[derive(Clone, Copy)]
enum Conversion {
    /// Two sources of 16 values, interleaved, to 6 bits each.
    Interleave(Format),
    /// 32 values to 6 bits each.
    Narrow(Element, Format),
    /// The same with stochastic rounding.
    NarrowRandom(Element, Format),
    /// 32 values of 6 bits each to a wider type.
    Widen(Element, Format),
}

fn conversion(op: Op) -> Option<Conversion> {
    use Conversion::{Interleave, Narrow, NarrowRandom, Widen};
    use Element::{Brain, Half, Single};
    use Format::{Bf6, Fp6};
    Some(match op {
        Op::VCvtScalef322xpk16Fp6F32 => Interleave(Fp6),
        Op::VCvtScalef322xpk16Bf6F32 => Interleave(Bf6),
        Op::VCvtScalef32SrPk32Fp6F32 => NarrowRandom(Single, Fp6),
        Op::VCvtScalef32SrPk32Bf6F32 => NarrowRandom(Single, Bf6),
        Op::VCvtScalef32SrPk32Fp6F16 => NarrowRandom(Half, Fp6),
        Op::VCvtScalef32SrPk32Bf6F16 => NarrowRandom(Half, Bf6),
        Op::VCvtScalef32SrPk32Fp6Bf16 => NarrowRandom(Brain, Fp6),
        Op::VCvtScalef32SrPk32Bf6Bf16 => NarrowRandom(Brain, Bf6),
        Op::VCvtScalef32Pk32Fp6F16 => Narrow(Half, Fp6),
        Op::VCvtScalef32Pk32Bf6F16 => Narrow(Half, Bf6),
        Op::VCvtScalef32Pk32Fp6Bf16 => Narrow(Brain, Fp6),
        Op::VCvtScalef32Pk32Bf6Bf16 => Narrow(Brain, Bf6),
        Op::VCvtScalef32Pk32F32Fp6 => Widen(Single, Fp6),
        Op::VCvtScalef32Pk32F32Bf6 => Widen(Single, Bf6),
        Op::VCvtScalef32Pk32F16Fp6 => Widen(Half, Fp6),
        Op::VCvtScalef32Pk32F16Bf6 => Widen(Half, Bf6),
        Op::VCvtScalef32Pk32Bf16Fp6 => Widen(Brain, Fp6),
        Op::VCvtScalef32Pk32Bf16Bf6 => Widen(Brain, Bf6),
        _ => return None,
    })
}

pub(super) fn handler(inst: &Inst) -> Option<Handler> {
    if conversion(inst.op).is_some() {
        Some(convert)
    } else if inst.op == Op::VMqsadU32U8 {
        Some(quad_sad)
    } else {
        None
    }
}

/// A source of several registers, or one constant that all of them hold.
enum Source {
    At(usize),
    Constant(u32),
}

impl Source {
    fn find(wave: &Wave, operand: Operand, registers: usize) -> Result<Source, FaultKind> {
        match operand {
            Operand::Vgpr(_) | Operand::Agpr(_) => {
                vector_index(wave, operand, registers).map(Source::At)
            }
            _ => Ok(Source::Constant(scalar32(wave, operand))),
        }
    }

    fn get(&self, vgpr: &[Lanes], register: usize, lane: usize) -> u32 {
        match self {
            Source::At(at) => vgpr[at + register].0[lane],
            Source::Constant(value) => *value,
        }
    }

    fn all(&self, vgpr: &[Lanes], count: usize, lane: usize) -> [u32; 32] {
        std::array::from_fn(|k| if k < count { self.get(vgpr, k, lane) } else { 0 })
    }
}

/// Packs 6-bit codes into registers.
fn pack(codes: impl Iterator<Item = u8>) -> [u32; 32] {
    let mut registers = [0; 32];
    for (k, code) in codes.enumerate() {
        let wide = u64::from(code & 63) << (6 * k % 32);
        registers[6 * k / 32] |= wide as u32;
        registers[6 * k / 32 + 1] |= (wide >> 32) as u32;
    }
    registers
}

/// Code `k` of packed 6-bit codes.
fn unpack(registers: &[u32; 32], k: usize) -> u8 {
    let wide = u64::from(registers[6 * k / 32]) | u64::from(registers[6 * k / 32 + 1]) << 32;
    (wide >> (6 * k % 32)) as u8 & 63
}

fn convert(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let Some(conversion) = conversion(inst.op) else { return Ok(Flow::Next) };
    let (inputs, outputs) = match conversion {
        Conversion::Interleave(_) => (16, 6),
        Conversion::Narrow(element, _) | Conversion::NarrowRandom(element, _) => {
            (element.registers(), 6)
        }
        Conversion::Widen(element, _) => (6, element.registers()),
    };
    let first = Source::find(wave, inst.src[0], inputs)?;
    let second_width = if matches!(conversion, Conversion::Interleave(_)) { 16 } else { 1 };
    let second = Source::find(wave, inst.src[1], second_width)?;
    let third = Source::find(wave, inst.src[2], 1)?;
    let target = vector_index(wave, inst.dst, outputs)?;
    let exec = wave.exec();
    for lane in (0..WAVE).filter(|i| exec >> i & 1 == 1) {
        let vgpr = &wave.vgpr;
        let a = first.all(vgpr, inputs, lane);
        let b = second.get(vgpr, 0, lane);
        let last_scale = exponent(third.get(vgpr, 0, lane));
        let result = match conversion {
            Conversion::Interleave(format) => {
                let b = second.all(vgpr, 16, lane);
                let value = |k: usize| {
                    f32::from_bits(if k.is_multiple_of(2) { a[k / 2] } else { b[k / 2] })
                };
                pack((0..32).map(|k| format.encode_scaled(value(k), last_scale, true)))
            }
            Conversion::Narrow(element, format) => {
                pack((0..32).map(|k| format.encode_scaled(element.get(&a, k), exponent(b), true)))
            }
            Conversion::NarrowRandom(element, format) => {
                let mut random = b;
                pack((0..32).map(|k| {
                    let x = element.get(&a, k);
                    let code = format.encode_scaled_sr(x, last_scale, random, true);
                    random = next_random(random);
                    code
                }))
            }
            Conversion::Widen(element, format) => {
                let mut wide = [0; 32];
                for k in 0..32 {
                    let x = format.decode_scaled(unpack(&a, k), exponent(b));
                    element.set(&mut wide, k, x);
                }
                wide
            }
        };
        for (k, value) in result.into_iter().take(outputs).enumerate() {
            wave.vgpr[target + k].0[lane] = value;
        }
    }
    Ok(Flow::Next)
}

/// Four sums of absolute differences of source 1 against source 0 at byte offsets 0 to 3.
fn quad_sad(wave: &mut Wave, _: &mut Ctx<'_>, inst: &Inst, _: &Code) -> Step {
    let a = Source::find(wave, inst.src[0], 2)?;
    let b = Source::find(wave, inst.src[1], 1)?;
    let c = Source::find(wave, inst.src[2], 4)?;
    let target = vector_index(wave, inst.dst, 4)?;
    let exec = wave.exec();
    for lane in (0..WAVE).filter(|i| exec >> i & 1 == 1) {
        let vgpr = &wave.vgpr;
        let window = u64::from(a.get(vgpr, 0, lane)) | u64::from(a.get(vgpr, 1, lane)) << 32;
        let reference = b.get(vgpr, 0, lane);
        let sums: [u32; 4] = std::array::from_fn(|k| {
            let sum = sad_u8((window >> (8 * k)) as u32, reference, true);
            sum.wrapping_add(c.get(vgpr, k, lane))
        });
        for (k, sum) in sums.into_iter().enumerate() {
            wave.vgpr[target + k].0[lane] = sum;
        }
    }
    Ok(Flow::Next)
}
