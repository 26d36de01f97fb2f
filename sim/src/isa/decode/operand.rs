//! Operand fields: the 9-bit source code shared by scalar and vector operations, scalar register
//! numbers and vector register numbers.

use super::{DecodeError, Decoder};
use crate::isa::{Op, Operand, Ty, reg};

/// Source code that says that a literal follows.
pub const LITERAL: u32 = 255;
/// First vector register in the 9-bit source code.
pub const VGPR0: u32 = 256;
/// Source code of VOP1/VOP2/VOPC that says that an SDWA dword follows.
pub const SDWA: u32 = 249;
/// Source code of VOP1/VOP2/VOPC that says that a DPP dword follows.
pub const DPP: u32 = 250;

/// Value read from LDS, for 32-bit operations.
const LDS_DIRECT: u32 = 254;
/// Scalar registers that a group may reach: the general ones and FLAT_SCRATCH behind them.
const SGPRS: u32 = 104;

impl Decoder<'_> {
    /// A source by its 9-bit code. `literal` is the dword that follows the instruction, for the
    /// encodings that may have one.
    pub(super) fn source(
        &self,
        op: Op,
        code: u32,
        ty: Ty,
        literal: Option<u32>,
    ) -> Result<Operand, DecodeError> {
        let dwords = u32::from(ty.dwords());
        match code {
            0..=127 | 235..=239 | 251..VGPR0 if dwords > 2 && is_vector(op) => {
                Err(self.bad(op, "a wide operand is in vector registers"))
            }
            VGPR0.. => self.vgpr(op, code - VGPR0, dwords),
            0..=127 => self.sgpr(op, code, dwords),
            128..=192 => Ok(Operand::Int((code - 128) as i8)),
            193..=208 => Ok(Operand::Int((192 - code as i32) as i8)),
            LDS_DIRECT if dwords > 1 => Err(self.bad(op, "lds_direct has 32 bits")),
            235..=239 | 251..=LDS_DIRECT => Ok(Operand::Special(code as u8)),
            240..=248 => Ok(Operand::Float(code as u8)),
            LITERAL => literal
                .map(Operand::Literal)
                .ok_or_else(|| self.bad(op, "this encoding takes no literal")),
            _ => Err(self.bad(op, "reserved source operand")),
        }
    }

    /// A scalar register or an aligned group of them.
    pub(super) fn sgpr(&self, op: Op, code: u32, dwords: u32) -> Result<Operand, DecodeError> {
        // Hardware and LLVM ignore the low bits of a register group's number.
        let number = code & !(dwords.min(4).next_power_of_two() - 1);
        let ok = match code {
            0..=101 => number + dwords <= SGPRS,
            102..=107 => dwords <= 2 && number == code,
            108..=123 => number + dwords <= 124,
            124 => dwords <= 1,
            126..=127 => dwords <= 2 && number == code,
            _ => false,
        };
        if ok {
            Ok(Operand::Sgpr(number as u16))
        } else {
            Err(self.bad(op, "no such scalar register"))
        }
    }

    /// An architected vector register or a group of them.
    pub(super) fn vgpr(&self, op: Op, number: u32, dwords: u32) -> Result<Operand, DecodeError> {
        if number + dwords > 256 {
            return Err(self.bad(op, "vector register group past v255"));
        }
        if dwords > 1 && !number.is_multiple_of(2) {
            return Err(self.bad(op, "vector register group starts at an odd register"));
        }
        Ok(Operand::Vgpr(number as u16))
    }

    /// A vector register group in either file.
    pub(super) fn vector(
        &self,
        op: Op,
        number: u32,
        ty: Ty,
        acc: bool,
    ) -> Result<Operand, DecodeError> {
        Ok(match self.vgpr(op, number, u32::from(ty.dwords()))? {
            Operand::Vgpr(n) if acc => Operand::Agpr(n),
            other => other,
        })
    }
}

/// Whether an operation belongs to the vector ALU.
fn is_vector(op: Op) -> bool {
    op.info().name.starts_with("v_")
}

/// VCC as an implicit operand.
pub const VCC: Operand = Operand::Sgpr(reg::VCC);
