//! Which part of its destination register a vector ALU instruction writes.
//!
//! Goes in: a decoded instruction. Comes out: the part; what is not in it is kept.

use super::{Enc, Inst, Op, Ty};

/// Part of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, and all of further registers.
    Whole,
    /// Bits 15:0.
    Low,
    /// Bits 31:16.
    High,
    /// One byte.
    Byte(u8),
}

/// The part that a vector ALU instruction without SDWA writes in the lanes that it writes. (CDNA3 ISA
/// document: results of 16 bits of most operations clear the other half.)
pub fn written_part(inst: &Inst) -> Part {
    match inst.op.info().dst {
        Ty::I8 => Part::Byte(inst.mods.op_sel >> 2 & 3),
        Ty::I16 | Ty::F16 | Ty::Bf16 => {
            let high = inst.enc != Enc::Vop3p && inst.mods.op_sel & 8 != 0;
            if high || inst.op == Op::VFmaMixhiF16 {
                Part::High
            } else if keeps_half(inst.op) {
                Part::Low
            } else {
                Part::Whole
            }
        }
        _ => Part::Whole,
    }
}

/// Operations that leave the other half of their destination alone. All other 16-bit operations of
/// these architectures clear it.
fn keeps_half(op: Op) -> bool {
    use Op::{
        VBitop3B16, VCvtPkBf8F32, VCvtPkFp8F32, VCvtScalef32F16Bf8, VCvtScalef32F16Fp8,
        VCvtScalef32PkBf8Bf16, VCvtScalef32PkBf8F16, VCvtScalef32PkBf8F32, VCvtScalef32PkFp8Bf16,
        VCvtScalef32PkFp8F16, VCvtScalef32PkFp8F32, VCvtSrBf16F32, VCvtSrF16F32, VDivFixupF16,
        VFmaF16, VFmaMixloF16, VMadF16, VMadI16, VMadU16, VMax3F16, VMax3I16, VMax3U16, VMed3F16,
        VMed3I16, VMed3U16, VMin3F16, VMin3I16, VMin3U16,
    };
    matches!(
        op,
        VBitop3B16
            | VCvtPkBf8F32
            | VCvtPkFp8F32
            | VCvtScalef32F16Bf8
            | VCvtScalef32F16Fp8
            | VCvtScalef32PkBf8Bf16
            | VCvtScalef32PkBf8F16
            | VCvtScalef32PkBf8F32
            | VCvtScalef32PkFp8Bf16
            | VCvtScalef32PkFp8F16
            | VCvtScalef32PkFp8F32
            | VCvtSrBf16F32
            | VCvtSrF16F32
            | VDivFixupF16
            | VFmaF16
            | VMadF16
            | VMadI16
            | VFmaMixloF16
            | VMadU16
            | VMax3F16
            | VMax3I16
            | VMax3U16
            | VMed3F16
            | VMed3I16
            | VMed3U16
            | VMin3F16
            | VMin3I16
            | VMin3U16
    )
}
