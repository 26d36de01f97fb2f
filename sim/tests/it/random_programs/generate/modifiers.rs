//! Modifiers of instructions: lane movement (DPP), parts of registers (SDWA), and those that the long
//! forms put behind their operands.

use cdna_sim::isa::Ty;

use super::Generator;
use crate::reference::{Instruction, Move, Movement, Part, Parts, clamps_integers};

/// Operations of three 16-bit operands that take either half of a register for each of them and for
/// their result.
const HALVES: [&str; 8] = [
    "v_mad_f16",
    "v_fma_f16",
    "v_mad_u16",
    "v_mad_i16",
    "v_min3_",
    "v_max3_",
    "v_med3_",
    "v_div_fixup_f16",
];

impl Generator {
    /// Where the first source's lanes come from, and which lanes are written.
    pub(super) fn movement(&mut self, inst: &mut Instruction) -> String {
        let n = 1 + self.below(15) as u8;
        let perm = [0; 4].map(|_| self.below(4) as u8);
        let (movement, text) = match self.below(13) {
            0 => {
                let [a, b, c, d] = perm;
                (Move::QuadPerm(perm), format!("quad_perm:[{a},{b},{c},{d}]"))
            }
            1 => (Move::RowShl(n), format!("row_shl:{n}")),
            2 => (Move::RowShr(n), format!("row_shr:{n}")),
            3 => (Move::RowRor(n), format!("row_ror:{n}")),
            4 => (Move::RowMirror, "row_mirror".to_owned()),
            5 => (Move::RowHalfMirror, "row_half_mirror".to_owned()),
            6 => (Move::WaveShl, "wave_shl:1".to_owned()),
            7 => (Move::WaveShr, "wave_shr:1".to_owned()),
            8 => (Move::WaveRol, "wave_rol:1".to_owned()),
            9 => (Move::WaveRor, "wave_ror:1".to_owned()),
            10 => (Move::RowBroadcast15, "row_bcast:15".to_owned()),
            11 => (Move::RowBroadcast31, "row_bcast:31".to_owned()),
            _ => (Move::RowNewBroadcast(n), format!("row_newbcast:{n}")),
        };
        let partial = self.one_in(2);
        let mask = |this: &mut Generator| if partial { this.next() as u8 & 15 } else { 15 };
        let (rows, banks) = (mask(self), mask(self));
        let zero = self.one_in(3);
        inst.mods.movement = Some(Movement { from: movement, rows, banks, zero });
        self.signs(inst);
        let bound = if zero { " bound_ctrl:0" } else { "" };
        format!(" {text} row_mask:{rows:#x} bank_mask:{banks:#x}{bound}")
    }

    /// Signs of float sources.
    fn signs(&mut self, inst: &mut Instruction) {
        let float = |ty: &Ty| matches!(ty, Ty::F16 | Ty::F32);
        if inst.op.info().src.iter().all(float) && self.one_in(2) {
            inst.mods.neg = self.next() as u8 & 3;
            inst.mods.abs = self.next() as u8 & 3;
        }
    }

    fn part(&mut self) -> (Part, String) {
        match self.below(7) {
            0 => (Part::Dword, "DWORD".to_owned()),
            n @ 1..3 => (Part::Word(n as u8 - 1), format!("WORD_{}", n - 1)),
            n => (Part::Byte(n as u8 - 3), format!("BYTE_{}", n - 3)),
        }
    }

    /// Which parts of their registers an operation reads and writes.
    pub(super) fn parts(&mut self, inst: &mut Instruction) -> String {
        let info = inst.op.info();
        let sources = info.src.iter().filter(|ty| **ty != Ty::Mask).count();
        let (dst, dst_text) = self.part();
        let unused = self.below(3);
        let (first, first_text) = self.part();
        let (second, second_text) = self.part();
        let integer = info.src.iter().all(|ty| matches!(ty, Ty::B32 | Ty::I16));
        let extend = if integer { self.next() as u8 & 3 } else { 0 };
        inst.mods.parts = Some(Parts { src: [first, second], extend, dst, unused: unused as u8 });
        self.signs(inst);
        let mut text = String::new();
        if matches!(info.dst, Ty::F16 | Ty::F32) {
            text += &self.output(inst);
        }
        if info.dst != Ty::Mask {
            let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"][unused as usize];
            text += &format!(" dst_sel:{dst_text} dst_unused:{unused}");
        }
        text += &format!(" src0_sel:{first_text}");
        if sources == 2 {
            text += &format!(" src1_sel:{second_text}");
        }
        text
    }

    /// Clamp and output modifier of a float result.
    fn output(&mut self, inst: &mut Instruction) -> String {
        let name = inst.name;
        let plain = ["v_cvt_", "v_ldexp", "v_frexp", "v_cube", "v_div_"];
        if plain.iter().any(|p| name.starts_with(p)) {
            return String::new();
        }
        let mut text = String::new();
        if self.one_in(4) {
            inst.mods.clamp = true;
            text += " clamp";
        }
        // Outside of a mode of its own it is ignored.
        if self.any_mode || self.one_in(6) {
            inst.mods.omod = 1 + self.below(3) as u8;
            text += ["", " mul:2", " mul:4", " div:2"][usize::from(inst.mods.omod)];
        }
        text
    }

    /// Which halves a 16-bit operation reads and writes.
    fn halves(&mut self, inst: &mut Instruction) -> String {
        let sixteen = inst.name.ends_with("16");
        if !sixteen || !HALVES.iter().any(|p| inst.name.starts_with(p)) || self.one_in(2) {
            return String::new();
        }
        inst.mods.op_sel = self.next() as u8 & 15;
        let bits: Vec<String> = (0..4).map(|i| (inst.mods.op_sel >> i & 1).to_string()).collect();
        format!(" op_sel:[{}]", bits.join(","))
    }

    /// Modifiers of a long form that its syntax puts behind the operands.
    pub(super) fn modifiers(&mut self, inst: &mut Instruction) -> String {
        let info = inst.op.info();
        let (name, sources) = (inst.name, info.src.len());
        let list = |mask: u8| {
            let bits: Vec<String> = (0..sources).map(|i| (mask >> i & 1).to_string()).collect();
            format!("[{}]", bits.join(","))
        };
        let mask = (1_u8 << sources.min(7)) - 1;
        if name.starts_with("v_bitop3") {
            inst.mods.table = self.next() as u8;
            return match inst.mods.table {
                0 => String::new(),
                table => format!(" bitop3:{table:#x}"),
            };
        }
        if name == "v_pk_mov_b32" {
            inst.mods.op_sel = self.next() as u8 & mask;
            return format!(" op_sel:{}", list(inst.mods.op_sel));
        }
        if name.starts_with("v_fma_mix") {
            inst.mods.op_sel_hi = self.next() as u8 & mask;
            inst.mods.op_sel = self.next() as u8 & inst.mods.op_sel_hi;
            inst.mods.neg = self.next() as u8 & mask;
            inst.mods.neg_hi = self.next() as u8 & mask;
            return format!(
                " op_sel:{} op_sel_hi:{}",
                list(inst.mods.op_sel),
                list(inst.mods.op_sel_hi)
            );
        }
        if name.starts_with("v_pk_") {
            inst.mods.op_sel = self.next() as u8 & mask;
            inst.mods.op_sel_hi = self.next() as u8 & mask;
            let mut text = format!(
                " op_sel:{} op_sel_hi:{}",
                list(inst.mods.op_sel),
                list(inst.mods.op_sel_hi)
            );
            if info.src.iter().all(|ty| matches!(ty, Ty::PkF16 | Ty::PkF32))
                && name != "v_pk_fmac_f16"
            {
                inst.mods.neg = self.next() as u8 & mask;
                inst.mods.neg_hi = self.next() as u8 & mask;
                text +=
                    &format!(" neg_lo:{} neg_hi:{}", list(inst.mods.neg), list(inst.mods.neg_hi));
            }
            let float = info.dst != Ty::PkI16 && name != "v_pk_fmac_f16";
            if (float || clamps_integers(name)) && self.one_in(4) {
                inst.mods.clamp = true;
                text += " clamp";
            }
            return text;
        }
        let float = |ty: &Ty| matches!(ty, Ty::F16 | Ty::F32 | Ty::F64);
        let plain = [
            "v_cvt_",
            "v_ldexp",
            "v_div_",
            "v_cmp_class",
            "v_cmpx_class",
            "v_dot",
            "v_frexp",
            "v_cube",
        ];
        if clamps_integers(name) && self.one_in(3) {
            inst.mods.clamp = true;
        }
        let clamp = if inst.mods.clamp { " clamp" } else { "" };
        if !info.src.iter().all(float) {
            return self.halves(inst) + clamp;
        }
        if plain.iter().any(|p| name.starts_with(p)) {
            return String::new();
        }
        if self.one_in(2) {
            inst.mods.neg = self.next() as u8 & mask;
            inst.mods.abs = self.next() as u8 & mask;
        }
        let mut text = self.halves(inst);
        if float(&info.dst) {
            text += &self.output(inst);
        }
        text
    }
}
