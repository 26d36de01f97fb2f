//! Vector ALU encodings: VOP1, VOP2, VOPC with their DPP and SDWA forms, VOP3 and VOP3SD.

use super::modifiers::{float_sources, has_dpp, has_sdwa, is_float, vop3_mods};
use super::operand::{DPP, LITERAL, SDWA, VCC};
use super::{DecodeError, Decoder, bit, bits, plain};
use crate::isa::{Dpp, Enc, Inst, Op, Operand, Sdwa, SdwaSel, Ty, op};

impl Decoder<'_> {
    pub(super) fn vop1(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Vop1, op::VOP1, bits(w, 16, 9))?;
        let mut inst = plain(op, Enc::Vop1, 4);
        self.vop_dst(&mut inst, bits(w, 24, 17))?;
        if op.info().src.is_empty() {
            if bits(w, 24, 17) != 0 {
                return Err(self.bad(op, "unused field is not zero"));
            }
            return Ok(inst);
        }
        self.vop_sources(&mut inst, None)?;
        if op == Op::VAccvgprMovB32 {
            for operand in [&mut inst.dst, &mut inst.src[0]] {
                if let Operand::Vgpr(n) = *operand {
                    *operand = Operand::Agpr(n);
                }
            }
        }
        Ok(inst)
    }

    pub(super) fn vop2(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Vop2, op::VOP2, bits(w, 30, 25))?;
        let mut inst = plain(op, Enc::Vop2, 4);
        self.vop_dst(&mut inst, bits(w, 24, 17))?;
        if op.info().sdst != Ty::None {
            inst.sdst = VCC;
        }
        if op.info().src.get(2) == Some(&Ty::Mask) {
            inst.src[2] = VCC;
        }
        let vsrc1 = bits(w, 16, 9);
        match op {
            Op::VFmamkF32 | Op::VMadmkF16 => self.vop_k(&mut inst, 2, vsrc1)?,
            Op::VFmaakF32 | Op::VMadakF16 => self.vop_k(&mut inst, 1, vsrc1)?,
            _ => self.vop_sources(&mut inst, Some(vsrc1))?,
        }
        Ok(inst)
    }

    pub(super) fn vopc(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Vopc, op::VOPC, bits(w, 24, 17))?;
        let mut inst = plain(op, Enc::Vopc, 4);
        inst.dst = VCC;
        self.vop_sources(&mut inst, Some(bits(w, 16, 9)))?;
        Ok(inst)
    }

    /// The destination of VOP1, VOP2 and VOP3.
    fn vop_dst(&self, inst: &mut Inst, field: u32) -> Result<(), DecodeError> {
        let (op, ty) = (inst.op, inst.op.info().dst);
        inst.dst = match op {
            _ if ty == Ty::None => Operand::None,
            Op::VReadfirstlaneB32 | Op::VReadlaneB32 => {
                if field > 127 {
                    return Err(self.bad(op, "no such scalar register"));
                }
                self.sgpr(op, field, 1)?
            }
            _ => self.vgpr(op, field, u32::from(ty.dwords()))?,
        };
        Ok(())
    }

    /// The multiply-add operations with a constant K after the instruction; `at` is the source
    /// that the vector register is, the other one is K.
    fn vop_k(&self, inst: &mut Inst, at: usize, vsrc1: u32) -> Result<(), DecodeError> {
        let (op, k) = (inst.op, self.word(1)?);
        let ty = op.info().src[0];
        inst.size = 8;
        inst.src[0] = self.source(op, bits(self.word, 8, 0), ty, Some(k))?;
        inst.src[at] = self.vgpr(op, vsrc1, 1)?;
        inst.src[3 - at] = Operand::Literal(k);
        Ok(())
    }

    /// Source 0, with the literal, DPP or SDWA dword that it may announce, and the vector
    /// register that source 1 is.
    fn vop_sources(&self, inst: &mut Inst, vsrc1: Option<u32>) -> Result<(), DecodeError> {
        let (op, code) = (inst.op, bits(self.word, 8, 0));
        let types = op.info().src;
        if let (Some(n), Some(ty)) = (vsrc1, types.get(1)) {
            inst.src[1] = self.vgpr(op, n, u32::from(ty.dwords()))?;
        }
        match code {
            SDWA => self.sdwa(inst, vsrc1),
            DPP => self.dpp(inst),
            _ => {
                let literal = if code == LITERAL { Some(self.word(1)?) } else { None };
                inst.size = if literal.is_some() { 8 } else { 4 };
                inst.src[0] = self.source(op, code, types[0], literal)?;
                Ok(())
            }
        }
    }

    fn dpp(&self, inst: &mut Inst) -> Result<(), DecodeError> {
        let (op, w) = (inst.op, self.word(1)?);
        if !has_dpp(op) || inst.enc == Enc::Vopc {
            return Err(self.bad(op, "has no DPP form"));
        }
        inst.size = 8;
        inst.src[0] = self.vgpr(op, bits(w, 7, 0), u32::from(op.info().src[0].dwords()))?;
        let neg = u8::from(bit(w, 20)) | u8::from(bit(w, 22)) << 1;
        let abs = u8::from(bit(w, 21)) | u8::from(bit(w, 23)) << 1;
        self.signs(inst, neg, abs)?;
        let ctrl = bits(w, 16, 8) as u16;
        let info = op.info();
        let wide =
            info.dst.dwords() > 1 || info.src.iter().any(|ty| ty.dwords() > 1 && *ty != Ty::Mask);
        if !is_dpp_control(ctrl) || wide && !is_row_newbcast(ctrl) {
            return Err(self.bad(op, "no such lane movement"));
        }
        inst.mods.dpp = Some(Dpp {
            ctrl,
            row_mask: bits(w, 31, 28) as u8,
            bank_mask: bits(w, 27, 24) as u8,
            bound_ctrl: bit(w, 19),
        });
        Ok(())
    }

    fn sdwa(&self, inst: &mut Inst, vsrc1: Option<u32>) -> Result<(), DecodeError> {
        let (op, w) = (inst.op, self.word(1)?);
        if !has_sdwa(op) {
            return Err(self.bad(op, "has no SDWA form"));
        }
        let info = op.info();
        inst.size = 8;
        inst.src[0] = self.sdwa_source(op, bits(w, 7, 0), bit(w, 23), info.src[0])?;
        match (vsrc1, info.src.get(1)) {
            (Some(n), Some(&ty)) => inst.src[1] = self.sdwa_source(op, n, bit(w, 31), ty)?,
            _ if w & SDWA_SOURCE1 != 0 => return Err(self.bad(op, "unused field is not zero")),
            _ => {}
        }
        let sext = [bit(w, 19), bit(w, 27)];
        let float = float_sources(op);
        if (0..2).any(|i| sext[i] && float >> i & 1 != 0) || sext[0] && from_8_bit_float(op) {
            return Err(self.bad(op, "sign extension of a floating-point source"));
        }
        // v_pk_fmac_f16 ignores its negation bits.
        if op != Op::VPkFmacF16 {
            let neg = u8::from(bit(w, 20)) | u8::from(bit(w, 28)) << 1;
            let abs = u8::from(bit(w, 21)) | u8::from(bit(w, 29)) << 1;
            if (neg | abs) & !float != 0 {
                return Err(self.bad(op, "negation of an integer source"));
            }
            (inst.mods.neg, inst.mods.abs) = (neg, abs);
        }
        let src_sel = [self.sel(op, bits(w, 18, 16))?, self.sel(op, bits(w, 26, 24))?];
        let (mut dst_sel, mut dst_unused) = (SdwaSel::Dword, 0);
        if inst.enc == Enc::Vopc {
            if bit(w, 15) {
                inst.dst = self.sgpr(op, bits(w, 14, 8), 2)?;
            }
        } else {
            dst_sel = self.sel(op, bits(w, 10, 8))?;
            // The reserved value acts as padding.
            dst_unused = bits(w, 12, 11) as u8 % 3;
            if from_8_bit_float(op) {
                if dst_sel != SdwaSel::Dword {
                    return Err(self.bad(op, "writes whole registers only"));
                }
                dst_unused = 0;
            }
            inst.mods.clamp = bit(w, 13);
            inst.mods.omod = bits(w, 15, 14) as u8;
            if inst.mods.omod != 0 && !is_float(info.dst) {
                return Err(self.bad(op, "output modifier of an integer result"));
            }
        }
        inst.mods.sdwa = Some(Sdwa { dst_sel, dst_unused, src_sel, sext });
        Ok(())
    }

    /// Negation and absolute value of a DPP instruction.
    fn signs(&self, inst: &mut Inst, neg: u8, abs: u8) -> Result<(), DecodeError> {
        let mods = vop3_mods(inst.op);
        if (neg | abs) & !(mods.float | mods.ignored) != 0 {
            return Err(self.bad(inst.op, "negation of an integer source"));
        }
        inst.mods.neg = neg & mods.float;
        inst.mods.abs = abs & mods.float;
        Ok(())
    }

    /// An SDWA source: a vector register, or with `scalar` set anything else.
    fn sdwa_source(&self, op: Op, code: u32, scalar: bool, ty: Ty) -> Result<Operand, DecodeError> {
        if scalar {
            self.source(op, code, ty, None)
        } else {
            self.vgpr(op, code, u32::from(ty.dwords()))
        }
    }

    fn sel(&self, op: Op, field: u32) -> Result<SdwaSel, DecodeError> {
        SELECTIONS
            .get(field as usize)
            .copied()
            .ok_or_else(|| self.bad(op, "reserved SDWA selection"))
    }

    pub(super) fn vop3(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let opcode = bits(w, 25, 16);
        if op::VOP3SD.iter().any(|e| u32::from(e.0) == opcode) {
            return self.vop3sd(opcode);
        }
        let op = self.op(Enc::Vop3, op::VOP3, opcode)?;
        let mut inst = plain(op, Enc::Vop3, 8);
        if op.info().dst == Ty::None {
            // v_nop and v_clrexcp
            return if w & 0xffff == 0 && bits(w1, 31, 27) == 0 {
                Ok(inst)
            } else {
                Err(self.bad(op, "unused field is not zero"))
            };
        }
        if op.info().dst == Ty::Mask {
            let field = bits(w, 7, 0);
            if field > 127 {
                return Err(self.bad(op, "no such scalar register"));
            }
            inst.dst = self.sgpr(op, field, 2)?;
        } else {
            self.vop_dst(&mut inst, bits(w, 7, 0))?;
        }
        self.vop3_sources(&mut inst, w1)?;
        let (abs, op_sel) = (bits(w, 10, 8), bits(w, 14, 11) as u8);
        if matches!(op, Op::VBitop3B16 | Op::VBitop3B32) {
            // The modifier fields hold the truth table.
            (inst.mods.neg, inst.mods.abs) = (bits(w1, 31, 29) as u8, abs as u8);
            inst.mods.omod = bits(w1, 28, 27) as u8;
            inst.mods.op_sel = op_sel;
            if op == Op::VBitop3B32 && op_sel != 0 || bit(w, 15) {
                return Err(self.bad(op, "has no such modifier"));
            }
            return Ok(inst);
        }
        self.vop3_modifiers(&mut inst, w1, abs as u8, op_sel)?;
        Ok(inst)
    }

    fn vop3sd(&self, opcode: u32) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Vop3sd, op::VOP3SD, opcode)?;
        let mut inst = plain(op, Enc::Vop3sd, 8);
        self.vop_dst(&mut inst, bits(w, 7, 0))?;
        inst.sdst = self.sgpr(op, bits(w, 14, 8), 2)?;
        self.vop3_sources(&mut inst, w1)?;
        self.vop3_modifiers(&mut inst, w1, 0, 0)?;
        Ok(inst)
    }

    /// The sources of VOP3 and VOP3SD.
    fn vop3_sources(&self, inst: &mut Inst, w1: u32) -> Result<(), DecodeError> {
        let op = inst.op;
        let codes = [bits(w1, 8, 0), bits(w1, 17, 9), bits(w1, 26, 18)];
        for (i, (&code, &ty)) in codes.iter().zip(op.info().src).enumerate() {
            inst.src[i] = self.source(op, code, ty, None)?;
        }
        Ok(())
    }

    /// The modifiers of VOP3 and VOP3SD, as far as the operation has them.
    fn vop3_modifiers(
        &self,
        inst: &mut Inst,
        w1: u32,
        abs: u8,
        op_sel: u8,
    ) -> Result<(), DecodeError> {
        let op = inst.op;
        let mods = vop3_mods(op);
        self.signs(inst, bits(w1, 31, 29) as u8, abs)?;
        if mods.op_sel != 0 {
            if op_sel & !mods.op_sel != 0 && !is_permlane_swap(op) {
                return Err(self.bad(op, "op_sel of an absent operand"));
            }
            inst.mods.op_sel = op_sel & mods.op_sel;
        } else if op == Op::VCvtPkBf16F32 && op_sel & 4 != 0 {
            return Err(self.bad(op, "op_sel of an absent operand"));
        }
        inst.mods.omod = bits(w1, 28, 27) as u8;
        if inst.mods.omod != 0 && !mods.omod {
            return Err(self.bad(op, "has no output modifier"));
        }
        inst.mods.clamp = bit(self.word, 15);
        if inst.mods.clamp && !mods.clamp {
            return Err(self.bad(op, "has no clamp"));
        }
        Ok(())
    }
}

/// Whether a DPP control is defined.
fn is_dpp_control(ctrl: u16) -> bool {
    matches!(
        ctrl,
        0..=0xff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f | 0x130 | 0x134 | 0x138 | 0x13c
            | 0x140..=0x143
    ) || is_row_newbcast(ctrl)
}

/// Broadcast of one lane to its row, the only movement for 64-bit operands.
fn is_row_newbcast(ctrl: u16) -> bool {
    matches!(ctrl, 0x150..=0x15f)
}

/// The SDWA fields of source 1.
const SDWA_SOURCE1: u32 = 0xbf00_0000;

/// Whether an operation converts fp8 or bf8: its SDWA form selects only a part of the source.
pub(in crate::isa) fn from_8_bit_float(op: Op) -> bool {
    matches!(op, Op::VCvtF32Fp8 | Op::VCvtF32Bf8 | Op::VCvtPkF32Fp8 | Op::VCvtPkF32Bf8)
}

/// Whether an operation swaps rows of two registers; `op_sel` holds its DPP-like modifiers.
fn is_permlane_swap(op: Op) -> bool {
    matches!(op, Op::VPermlane16SwapB32 | Op::VPermlane32SwapB32)
}

/// SDWA selections by their code.
static SELECTIONS: [SdwaSel; 7] = [
    SdwaSel::Byte0,
    SdwaSel::Byte1,
    SdwaSel::Byte2,
    SdwaSel::Byte3,
    SdwaSel::Word0,
    SdwaSel::Word1,
    SdwaSel::Dword,
];
