//! The clamp bit of integer operations: a result beyond the range of its type becomes the end of the
//! range instead of wrapping around.
//!
//! Goes in: an operation and its operands. Comes out: the results of the lanes, where the operation
//! can leave its range at all.

use super::kernel::Sources;
use super::lane::Out;
use crate::exec::WAVE;
use crate::isa::Op;

/// Type of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Range {
    U16,
    I16,
    U32,
    I32,
}

impl Range {
    /// The nearest value of the type, as its bits.
    fn clamp(self, value: i64) -> u32 {
        match self {
            Range::U16 => value.clamp(0, u16::MAX.into()) as u32,
            Range::I16 => u32::from(value.clamp(i16::MIN.into(), i16::MAX.into()) as u16),
            Range::U32 => value.clamp(0, u32::MAX.into()) as u32,
            Range::I32 => value.clamp(i32::MIN.into(), i32::MAX.into()) as u32,
        }
    }

    /// The value of an operand of the type.
    fn value(self, bits: u32) -> i64 {
        match self {
            Range::U16 => i64::from(bits as u16),
            Range::I16 => i64::from(bits as i16),
            Range::U32 => i64::from(bits),
            Range::I32 => i64::from(bits as i32),
        }
    }
}

/// What an operation computes before it is clamped, of operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Add,
    Sub,
    Subrev,
    Mad,
}

impl Sum {
    fn of(self, [a, b, c]: [i64; 3]) -> i64 {
        match self {
            Sum::Add => a + b,
            Sum::Sub => a - b,
            Sum::Subrev => b - a,
            Sum::Mad => a * b + c,
        }
    }
}

/// The operation, the type of its operands and result, and whether both halves count.
fn sum(op: Op) -> Option<(Sum, Range, bool)> {
    Some(match op {
        Op::VAddU32 | Op::VAddCoU32 => (Sum::Add, Range::U32, false),
        Op::VSubU32 | Op::VSubCoU32 => (Sum::Sub, Range::U32, false),
        Op::VSubrevU32 | Op::VSubrevCoU32 => (Sum::Subrev, Range::U32, false),
        Op::VAddI32 => (Sum::Add, Range::I32, false),
        Op::VSubI32 => (Sum::Sub, Range::I32, false),
        Op::VAddU16 => (Sum::Add, Range::U16, false),
        Op::VSubU16 => (Sum::Sub, Range::U16, false),
        Op::VSubrevU16 => (Sum::Subrev, Range::U16, false),
        Op::VAddI16 => (Sum::Add, Range::I16, false),
        Op::VSubI16 => (Sum::Sub, Range::I16, false),
        Op::VMadU16 | Op::VMadLegacyU16 => (Sum::Mad, Range::U16, false),
        Op::VMadI16 | Op::VMadLegacyI16 => (Sum::Mad, Range::I16, false),
        Op::VPkAddU16 => (Sum::Add, Range::U16, true),
        Op::VPkSubU16 => (Sum::Sub, Range::U16, true),
        Op::VPkAddI16 => (Sum::Add, Range::I16, true),
        Op::VPkSubI16 => (Sum::Sub, Range::I16, true),
        Op::VPkMadU16 => (Sum::Mad, Range::U16, true),
        Op::VPkMadI16 => (Sum::Mad, Range::I16, true),
        _ => return None,
    })
}

/// Sum of the products of the `bits`-bit parts of two operands.
fn dot(a: u32, b: u32, bits: u32, signed: bool) -> i64 {
    let part = |x: u32, k: u32| {
        let top = x << (32 - bits * (k + 1));
        if signed { i64::from(top as i32 >> (32 - bits)) } else { i64::from(top >> (32 - bits)) }
    };
    (0..32 / bits).map(|k| part(a, k) * part(b, k)).sum()
}

/// A 32-bit result of operands of another type.
fn mixed(op: Op, [a, b, c]: [u32; 3]) -> Option<u32> {
    let (product, range) = match op {
        Op::VMadU32U24 => (i64::from(a & 0xff_ffff) * i64::from(b & 0xff_ffff), Range::U32),
        Op::VMadI32I24 => {
            (i64::from((a << 8) as i32 >> 8) * i64::from((b << 8) as i32 >> 8), Range::I32)
        }
        Op::VMadU32U16 => (Range::U16.value(a) * Range::U16.value(b), Range::U32),
        Op::VMadI32I16 => (Range::I16.value(a) * Range::I16.value(b), Range::I32),
        Op::VDot2I32I16 | Op::VDot2cI32I16 => (dot(a, b, 16, true), Range::I32),
        Op::VDot2U32U16 => (dot(a, b, 16, false), Range::U32),
        Op::VDot4I32I8 | Op::VDot4cI32I8 => (dot(a, b, 8, true), Range::I32),
        Op::VDot4U32U8 => (dot(a, b, 8, false), Range::U32),
        Op::VDot8I32I4 | Op::VDot8cI32I4 => (dot(a, b, 4, true), Range::I32),
        Op::VDot8U32U4 => (dot(a, b, 4, false), Range::U32),
        _ => return None,
    };
    Some(range.clamp(product + range.value(c)))
}

/// Replaces wrapped results of `op` by clamped ones.
pub(super) fn clamp(op: Op, sources: &Sources<'_>, out: &mut Out) {
    for lane in 0..WAVE {
        let operands = [0, 1, 2].map(|i: usize| sources[i][0].0[lane]);
        let clamped = match sum(op) {
            Some((sum, range, packed)) => {
                let half = |shift: u32| {
                    range.clamp(sum.of(operands.map(|bits| range.value(bits >> shift))))
                };
                if packed { half(0) | half(16) << 16 } else { half(0) }
            }
            None => match mixed(op, operands) {
                Some(clamped) => clamped,
                None => return,
            },
        };
        out.lo.0[lane] = clamped;
    }
}
