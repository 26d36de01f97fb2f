//! VOP3P: packed math, matrix operations (MAI) and their scaled 16-byte form.

use super::operand::VGPR0;
use super::{DecodeError, Decoder, bit, bits, plain};
use crate::isa::{Enc, Inst, Mods, Op, Operand, ScaleOperands, Ty, op, source_types};

/// Upper half of the first word of a scaled matrix operation.
const SCALE_PREFIX: u32 = 0xd3ac;

impl Decoder<'_> {
    pub(super) fn vop3p(&self) -> Result<Inst, DecodeError> {
        if self.word >> 16 == SCALE_PREFIX
            && let Some(inst) = self.mai_scale()?
        {
            return Ok(inst);
        }
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Vop3p, op::VOP3P, bits(w, 22, 16))?;
        if is_matrix(op) {
            return self.mai(op, Enc::Mai, 8, w, w1);
        }
        let info = op.info();
        let mut inst = plain(op, Enc::Vop3p, 8);
        if info.dst != Ty::None {
            inst.dst = self.vgpr(op, bits(w, 7, 0), u32::from(info.dst.dwords()))?;
        }
        let codes = [bits(w1, 8, 0), bits(w1, 17, 9), bits(w1, 26, 18)];
        for (i, (&code, &ty)) in codes.iter().zip(info.src).enumerate() {
            inst.src[i] = self.source(op, code, ty, None)?;
        }
        let mut mods = Mods {
            neg: bits(w1, 31, 29) as u8,
            neg_hi: bits(w, 10, 8) as u8,
            op_sel: bits(w, 13, 11) as u8,
            op_sel_hi: (bits(w1, 28, 27) | bits(w, 14, 14) << 2) as u8,
            clamp: bit(w, 15),
            ..Mods::default()
        };
        let used = (1u8 << info.src.len()) - 1;
        if (mods.neg | mods.neg_hi | mods.op_sel) & !used != 0
            || mods.op_sel != 0 && !selects_halves(op)
            || op == Op::VMfmaLdScaleB32 && (mods.clamp || bits(w, 7, 0) != 0)
        {
            return Err(self.bad(op, "has no such modifier"));
        }
        mods.op_sel_hi &= if selects_halves(op) { used } else { 0 };
        if op == Op::VMfmaLdScaleB32 {
            (mods.neg, mods.neg_hi) = (0, 0);
        }
        inst.mods = mods;
        Ok(inst)
    }

    /// The scale prefix and the matrix operation after it, if that is one that takes scales.
    fn mai_scale(&self) -> Result<Option<Inst>, DecodeError> {
        let (s0, s1) = (self.word, self.word(1)?);
        let (Ok(w), Ok(w1)) = (self.word(2), self.word(3)) else {
            return Ok(None);
        };
        if w >> 23 != 0x1a7 || bits(w, 14, 11) != SCALED_ABID {
            return Ok(None);
        }
        if !op::VOP3PX2.iter().any(|e| u32::from(e.0) == bits(w, 22, 16)) {
            return Ok(None);
        }
        let op = self.op(Enc::MaiScale, op::VOP3PX2, bits(w, 22, 16))?;
        let mut inst = self.mai(op, Enc::MaiScale, 16, w, w1)?;
        inst.scale = Some(ScaleOperands {
            src: [self.scale_source(op, bits(s1, 8, 0))?, self.scale_source(op, bits(s1, 17, 9))?],
            op_sel: bits(s0, 12, 11) as u8,
            op_sel_hi: bits(s1, 28, 27) as u8,
        });
        Ok(Some(inst))
    }

    /// A scale: always a vector register.
    fn scale_source(&self, op: Op, code: u32) -> Result<Operand, DecodeError> {
        match code.checked_sub(VGPR0) {
            Some(n) => self.vgpr(op, n, 1),
            None => Err(self.bad(op, "scales come from vector registers")),
        }
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
        } else if bits(w, 10, 8) != 0 || bits(w1, 31, 29) != 0 || bits(w, 13, 11) != 0 {
            return Err(self.bad(op, "unused field is not zero"));
        }
        if enc == Enc::MaiScale {
            inst.mods.abid = 0;
        } else if op.info().name.ends_with("f8f6f4") && inst.mods.abid != 0 {
            return Err(self.bad(op, "scaled, but without scales"));
        }
        if is_sparse(op) && inst.mods.blgp != 0 {
            return Err(self.bad(op, "unused field is not zero"));
        }
        let types = source_types(&inst);
        for (i, &code) in codes.iter().enumerate().take(info.src.len()) {
            inst.src[i] = match code.checked_sub(VGPR0) {
                Some(n) => self.vector(op, n, types[i], src_acc[i])?,
                None => match self.source(op, code, types[i], None)? {
                    constant @ (Operand::Int(_) | Operand::Float(_)) if i == 2 => constant,
                    value @ (Operand::Int(_) | Operand::Float(_) | Operand::Sgpr(_))
                        if op == Op::VAccvgprWriteB32 =>
                    {
                        value
                    }
                    _ => return Err(self.bad(op, "operand is no vector register or constant")),
                },
            };
        }
        Ok(inst)
    }
}

/// Lane-group field of a matrix operation that takes scales.
const SCALED_ABID: u32 = 1;

/// Whether a VOP3P operation mixes f16 and f32: its `neg_hi` is the absolute value.
pub(in crate::isa) fn is_mix(op: Op) -> bool {
    matches!(op, Op::VFmaMixF32 | Op::VFmaMixloF16 | Op::VFmaMixhiF16)
}

/// Whether a packed operation chooses between the halves of its sources: all but the dot products
/// of bytes and nibbles.
pub(in crate::isa) fn selects_halves(op: Op) -> bool {
    !["v_dot4", "v_dot8"].iter().any(|p| op.info().name.starts_with(p))
}

/// Whether a VOP3P operation uses the matrix layout.
fn is_matrix(op: Op) -> bool {
    let name = op.info().name;
    ["v_mfma_f", "v_mfma_i", "v_smfmac", "v_accvgpr"].iter().any(|p| name.starts_with(p))
}

/// Whether the A operand is sparse.
fn is_sparse(op: Op) -> bool {
    op.info().name.starts_with("v_smfmac")
}
