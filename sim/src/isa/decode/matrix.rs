//! VOP3P: packed math, matrix operations (MAI) and their scaled 16-byte form.

use super::operand::VGPR0;
use super::{DecodeError, Decoder, bit, bits, plain};
use crate::isa::{Enc, Inst, Op, ScaleOperands, Ty, op, source_types};

/// Upper half of the first word of a scaled matrix operation.
const SCALE_PREFIX: u32 = 0xd3ac;

impl Decoder<'_> {
    pub(super) fn vop3p(&self) -> Result<Inst, DecodeError> {
        if self.word >> 16 == SCALE_PREFIX {
            return self.mai_scale();
        }
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Vop3p, op::VOP3P, bits(w, 22, 16))?;
        if is_matrix(op) {
            return self.mai(op, Enc::Mai, 8, w, w1);
        }
        let info = op.info();
        let mut inst = plain(op, Enc::Vop3p, 8);
        inst.dst = self.vgpr(op, bits(w, 7, 0), u32::from(info.dst.dwords()))?;
        let codes = [bits(w1, 8, 0), bits(w1, 17, 9), bits(w1, 26, 18)];
        for (i, (&code, &ty)) in codes.iter().zip(info.src).enumerate() {
            inst.src[i] = self.source(op, code, ty, None)?;
        }
        let used = (1u8 << info.src.len()) - 1;
        inst.mods.neg = bits(w1, 31, 29) as u8 & used;
        inst.mods.neg_hi = bits(w, 10, 8) as u8 & used;
        inst.mods.op_sel = bits(w, 13, 11) as u8 & used;
        inst.mods.op_sel_hi = (bits(w1, 28, 27) | bits(w, 14, 14) << 2) as u8 & used;
        inst.mods.clamp = bit(w, 15);
        Ok(inst)
    }

    /// The scale prefix and the matrix operation after it.
    fn mai_scale(&self) -> Result<Inst, DecodeError> {
        let (s0, s1) = (self.word, self.word(1)?);
        let (w, w1) = (self.word(2)?, self.word(3)?);
        if w >> 23 != 0x1a7 {
            return Err(DecodeError::UnknownEncoding { arch: self.arch, word: self.word });
        }
        let op = self.op(Enc::MaiScale, op::VOP3PX2, bits(w, 22, 16))?;
        let mut inst = self.mai(op, Enc::MaiScale, 16, w, w1)?;
        inst.scale = Some(ScaleOperands {
            src: [
                self.source(op, bits(s1, 8, 0), Ty::B32, None)?,
                self.source(op, bits(s1, 17, 9), Ty::B32, None)?,
            ],
            op_sel: bits(s0, 12, 11) as u8,
            op_sel_hi: bits(s1, 28, 27) as u8,
        });
        Ok(inst)
    }

    /// The two words of the MAI layout.
    fn mai(&self, op: Op, enc: Enc, size: u8, w: u32, w1: u32) -> Result<Inst, DecodeError> {
        let info = op.info();
        let mut inst = plain(op, enc, size);
        let acc_cd = bit(w, 15);
        let codes = [bits(w1, 8, 0), bits(w1, 17, 9), bits(w1, 26, 18)];
        let (dst_acc, src_acc) = match op {
            Op::VAccvgprReadB32 => (false, [true, false, false]),
            Op::VAccvgprWriteB32 => (true, [false; 3]),
            // The third source of SMFMAC holds the sparsity indices, always architected.
            _ => (acc_cd, [bit(w1, 27), bit(w1, 28), acc_cd && !is_sparse(op)]),
        };
        inst.dst = self.vector(op, bits(w, 7, 0), info.dst, dst_acc)?;
        if !matches!(op, Op::VAccvgprReadB32 | Op::VAccvgprWriteB32) {
            inst.mods.cbsz = bits(w, 10, 8) as u8;
            inst.mods.abid = bits(w, 14, 11) as u8;
            inst.mods.blgp = bits(w1, 31, 29) as u8;
        }
        let types = source_types(&inst);
        for (i, &code) in codes.iter().enumerate().take(info.src.len()) {
            inst.src[i] = match code.checked_sub(VGPR0) {
                Some(n) => self.vector(op, n, types[i], src_acc[i])?,
                None => self.source(op, code, types[i], None)?,
            };
        }
        Ok(inst)
    }
}

/// Whether a VOP3P operation uses the matrix layout.
fn is_matrix(op: Op) -> bool {
    let name = op.info().name;
    ["v_mfma", "v_smfmac", "v_accvgpr"].iter().any(|p| name.starts_with(p))
}

/// Whether the A operand is sparse.
fn is_sparse(op: Op) -> bool {
    op.info().name.starts_with("v_smfmac")
}
