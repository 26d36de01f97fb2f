//! Scalar encodings: SOP1, SOP2, SOPC, SOPK, SOPP and SMEM.

use super::operand::LITERAL;
use super::{DecodeError, Decoder, bit, bits, plain, sign_extend};
use crate::isa::{Enc, Inst, Op, Operand, Ty, op};

impl Decoder<'_> {
    pub(super) fn sop1(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Sop1, op::SOP1, bits(w, 15, 8))?;
        self.sop(op, Enc::Sop1, bits(w, 22, 16), [bits(w, 7, 0), 0])
    }

    pub(super) fn sop2(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Sop2, op::SOP2, bits(w, 29, 23))?;
        self.sop(op, Enc::Sop2, bits(w, 22, 16), [bits(w, 7, 0), bits(w, 15, 8)])
    }

    pub(super) fn sopc(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Sopc, op::SOPC, bits(w, 22, 16))?;
        let mut inst = self.sop(op, Enc::Sopc, 0, [bits(w, 7, 0), bits(w, 15, 8)])?;
        if op == Op::SSetGprIdxOn {
            // The second operand is an immediate, not a register.
            inst.src[1] = Operand::None;
            inst.imm = bits(w, 15, 8) as i32;
        }
        Ok(inst)
    }

    /// The part common to SOP1, SOP2 and SOPC.
    fn sop(&self, op: Op, enc: Enc, dst: u32, src: [u32; 2]) -> Result<Inst, DecodeError> {
        let info = op.info();
        let used = &src[..info.src.len().min(2)];
        let literal = if used.contains(&LITERAL) { Some(self.word(1)?) } else { None };
        let mut inst = plain(op, enc, if literal.is_some() { 8 } else { 4 });
        if info.dst != Ty::None {
            inst.dst = self.sgpr(op, dst, u32::from(info.dst.dwords()))?;
        }
        for (i, (&code, &ty)) in used.iter().zip(info.src).enumerate() {
            inst.src[i] = self.source(op, code, ty, literal)?;
        }
        Ok(inst)
    }

    pub(super) fn sopk(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Sopk, op::SOPK, bits(w, 27, 23))?;
        let mut inst = plain(op, Enc::Sopk, 4);
        inst.imm = sign_extend(bits(w, 15, 0), 16);
        if op.info().dst != Ty::None {
            inst.dst = self.sgpr(op, bits(w, 22, 16), u32::from(op.info().dst.dwords()))?;
        }
        if op == Op::SSetregImm32B32 {
            inst.src[0] = Operand::Literal(self.word(1)?);
            inst.size = 8;
        }
        Ok(inst)
    }

    pub(super) fn sopp(&self) -> Result<Inst, DecodeError> {
        let w = self.word;
        let op = self.op(Enc::Sopp, op::SOPP, bits(w, 22, 16))?;
        let mut inst = plain(op, Enc::Sopp, 4);
        inst.imm = sign_extend(bits(w, 15, 0), 16);
        if inst.imm != 0 && NO_IMMEDIATE.contains(&op) {
            return Err(self.bad(op, "unused field is not zero"));
        }
        Ok(inst)
    }

    pub(super) fn smem(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Smem, op::SMEM, bits(w, 25, 18))?;
        let info = op.info();
        let mut inst = plain(op, Enc::Smem, 8);
        if info.dst != Ty::None {
            inst.dst = match op {
                // The probe kind, an immediate in the data field.
                Op::SAtcProbe | Op::SAtcProbeBuffer => Operand::Int(bits(w, 12, 6) as i8),
                _ => self.sgpr(op, bits(w, 12, 6), u32::from(info.dst.dwords()))?,
            };
        }
        let Some(&base) = info.src.first() else {
            return Ok(inst);
        };
        inst.mods.sc0 = bit(w, 16);
        inst.mods.nt = bit(w, 15);
        inst.src[0] = self.sgpr(op, bits(w, 5, 0) << 1, u32::from(base.dwords()))?;
        let (soffset_en, imm) = (bit(w, 14), bit(w, 17));
        if soffset_en {
            inst.src[1] = self.sgpr(op, bits(w1, 31, 25), 1)?;
        } else if !imm {
            inst.src[1] = self.sgpr(op, bits(w1, 6, 0), 1)?;
        }
        if imm {
            inst.imm = sign_extend(bits(w1, 20, 0), 21);
        }
        Ok(inst)
    }
}

/// SOPP operations whose immediate must be zero.
pub(in crate::isa) static NO_IMMEDIATE: &[Op] = &[
    Op::SWakeup,
    Op::SBarrier,
    Op::SIcacheInv,
    Op::STtracedata,
    Op::SEndpgmSaved,
    Op::SSetGprIdxOff,
    Op::SEndpgmOrderedPsDone,
];
