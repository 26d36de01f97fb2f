//! Vector memory and LDS encodings: DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use super::{DecodeError, Decoder, bit, bits, plain, sign_extend};
use crate::isa::{Arch, Enc, Inst, Op, Operand, Ty, op};

/// `saddr` value that stands for no scalar address.
const NO_SADDR: u32 = 0x7f;

impl Decoder<'_> {
    pub(super) fn ds(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Ds, op::DS, bits(w, 24, 17))?;
        let (info, acc) = (op.info(), bit(w, 25));
        let mut inst = plain(op, Enc::Ds, 8);
        inst.imm = bits(w, 15, 0) as i32;
        inst.mods.gds = bit(w, 16);
        let global_wave_sync = info.name.starts_with("ds_gws");
        if inst.mods.gds != global_wave_sync
            && (global_wave_sync || matches!(op, Op::DsNop | Op::DsPermuteB32 | Op::DsBpermuteB32))
        {
            return Err(self.bad(op, "wrong gds bit"));
        }
        inst.dst = self.used_vector(op, bits(w1, 31, 24), info.dst, acc)?;
        let fields = [bits(w1, 7, 0), bits(w1, 15, 8), bits(w1, 23, 16)];
        // Global wave sync has no address: its first field is data.
        let first_data = if global_wave_sync { 1 } else { 2 };
        for (i, &field) in fields.iter().enumerate() {
            let ty = info.src.get(i).copied().unwrap_or(Ty::None);
            inst.src[i] = self.used_vector(op, field, ty, acc && (i > 0 || global_wave_sync))?;
        }
        if acc && info.dst == Ty::None && info.src.len() < first_data
            || op == Op::DsNop && inst.imm != 0
        {
            return Err(self.bad(op, "unused field is not zero"));
        }
        Ok(inst)
    }

    /// FLAT, GLOBAL and SCRATCH share a layout; two bits tell them apart.
    pub(super) fn flat(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let (enc, table) = match bits(w, 15, 14) {
            0 => (Enc::Flat, op::FLAT),
            1 => (Enc::Scratch, op::SCRATCH),
            2 => (Enc::Global, op::GLOBAL),
            _ => return Err(DecodeError::UnknownEncoding { arch: self.arch, word: w }),
        };
        let op = self.op(enc, table, bits(w, 24, 18))?;
        let (info, acc) = (op.info(), bit(w1, 23));
        let mut inst = plain(op, enc, 8);
        inst.mods.sc0 = bit(w, 16);
        inst.mods.nt = bit(w, 17);
        inst.mods.sc1 = bit(w, 25);
        inst.mods.lds = info.name.contains("_load_lds_");
        let atomic = info.name.contains("_atomic_");
        let returns = !inst.mods.lds && (!atomic || inst.mods.sc0);
        let dst = if returns { info.dst } else { Ty::None };
        inst.dst = self.vector_if(op, bits(w1, 31, 24), dst, acc)?;
        let data = info.src.get(1).copied().unwrap_or(Ty::None);
        inst.src[1] = self.vector_if(op, bits(w1, 15, 8), data, acc)?;
        if acc && inst.mods.lds {
            return Err(self.bad(op, "unused field is not zero"));
        }
        let vaddr = bits(w1, 7, 0);
        let saddr = bits(w1, 22, 16);
        let has_vaddr_bit = bit(w, 13);
        if enc == Enc::Flat && saddr != 0 || enc != Enc::Scratch && has_vaddr_bit {
            return Err(self.bad(op, "unused field is not zero"));
        }
        if enc != Enc::Flat && saddr != NO_SADDR {
            let dwords = if enc == Enc::Global { 2 } else { 1 };
            inst.src[2] = self.sgpr(op, saddr, dwords)?;
        }
        inst.src[0] = match enc {
            Enc::Flat => self.vgpr(op, vaddr, 2)?,
            Enc::Global if inst.src[2] == Operand::None => self.vgpr(op, vaddr, 2)?,
            Enc::Scratch if !has_vaddr_bit => Operand::None,
            _ => self.vgpr(op, vaddr, 1)?,
        };
        inst.imm = match enc {
            Enc::Flat => bits(w, 12, 0) as i32,
            _ => sign_extend(bits(w, 12, 0), 13),
        };
        Ok(inst)
    }

    pub(super) fn mubuf(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Mubuf, op::MUBUF, bits(w, 24, 18))?;
        let mut inst = plain(op, Enc::Mubuf, 8);
        inst.mods.sc0 = bit(w, 14);
        inst.mods.sc1 = bit(w, 15);
        inst.mods.lds = bit(w, 16);
        inst.mods.nt = bit(w, 17);
        if op.info().src.is_empty() {
            if w & 0x1_3000 != 0 || bit(w1, 23) {
                return Err(self.bad(op, "unused field is not zero"));
            }
            inst.mods.nt = false;
            return Ok(inst);
        }
        if inst.mods.lds && (!self.loads_to_lds(op) || bit(w1, 23)) {
            return Err(self.bad(op, "cannot load to LDS"));
        }
        self.buffer(&mut inst, w1)?;
        Ok(inst)
    }

    pub(super) fn mtbuf(&self) -> Result<Inst, DecodeError> {
        let (w, w1) = (self.word, self.word(1)?);
        let op = self.op(Enc::Mtbuf, op::MTBUF, bits(w, 18, 15))?;
        let mut inst = plain(op, Enc::Mtbuf, 8);
        inst.mods.format = bits(w, 25, 19) as u8;
        inst.mods.sc0 = bit(w, 14);
        inst.mods.sc1 = bit(w1, 21);
        inst.mods.nt = bit(w1, 22);
        self.buffer(&mut inst, w1)?;
        Ok(inst)
    }

    /// Addressing and data, common to MUBUF and MTBUF.
    fn buffer(&self, inst: &mut Inst, w1: u32) -> Result<(), DecodeError> {
        let (w, op, acc) = (self.word, inst.op, bit(w1, 23));
        inst.imm = bits(w, 11, 0) as i32;
        inst.mods.offen = bit(w, 12);
        inst.mods.idxen = bit(w, 13);
        let data = if inst.mods.lds { Ty::None } else { op.info().dst };
        inst.dst = self.vector_if(op, bits(w1, 15, 8), data, acc)?;
        let address_dwords = u32::from(inst.mods.offen) + u32::from(inst.mods.idxen);
        if address_dwords > 0 {
            // An index and an offset may start at an odd register.
            let first = bits(w1, 7, 0);
            self.vgpr(op, first + address_dwords - 1, 1)?;
            inst.src[0] = Operand::Vgpr(first as u16);
        }
        inst.src[1] = self.sgpr(op, bits(w1, 20, 16) << 2, 4)?;
        inst.src[2] = self.source(op, bits(w1, 31, 24), Ty::B32, None)?;
        Ok(())
    }

    /// Whether a buffer load has a variant that writes LDS.
    fn loads_to_lds(&self, op: Op) -> bool {
        match op {
            Op::BufferLoadFormatX
            | Op::BufferLoadUbyte
            | Op::BufferLoadSbyte
            | Op::BufferLoadUshort
            | Op::BufferLoadSshort
            | Op::BufferLoadDword => true,
            Op::BufferLoadDwordx3 | Op::BufferLoadDwordx4 => self.arch == Arch::Gfx950,
            _ => false,
        }
    }

    /// A vector register that the operation has (`ty`), or a field that must be zero.
    fn used_vector(&self, op: Op, field: u32, ty: Ty, acc: bool) -> Result<Operand, DecodeError> {
        if ty == Ty::None && field != 0 {
            return Err(self.bad(op, "unused field is not zero"));
        }
        self.vector_if(op, field, ty, acc)
    }

    /// A vector register, if the operation has it.
    fn vector_if(&self, op: Op, field: u32, ty: Ty, acc: bool) -> Result<Operand, DecodeError> {
        if ty == Ty::None { Ok(Operand::None) } else { self.vector(op, field, ty, acc) }
    }
}
