//! Operands of instructions: which registers, constants and literals an operation takes where, and how
//! the syntax writes them.

use cdna_sim::isa::Ty;

use super::Generator;
use crate::reference::{Arg, Instruction, VCC};

impl Generator {
    pub(super) fn vgpr(&mut self, dwords: u8) -> u16 {
        let n = u32::from(dwords.max(1));
        match n {
            1 => self.below(64) as u16,
            // Tuples start at even registers.
            _ => (2 * self.below((64 - n) / 2 + 1)) as u16,
        }
    }

    pub(super) fn sgpr(&mut self, dwords: u8) -> u16 {
        match dwords {
            2.. if self.one_in(4) => VCC,
            2.. => 2 * self.below(16) as u16,
            _ => self.below(32) as u16,
        }
    }

    /// A scalar, constant or, where it may be one, a literal.
    pub(super) fn uniform(&mut self, ty: Ty, literal: bool) -> Arg {
        let dwords = ty.dwords();
        let constants = matches!(ty, Ty::B32 | Ty::F32 | Ty::F64 | Ty::B64 | Ty::F16);
        match self.below(6) {
            0 if constants => Arg::Int((self.below(81) as i8) - 16),
            1 if constants && ty != Ty::B64 => {
                const FLOATS: [f32; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];
                Arg::Float(FLOATS[self.below(8) as usize])
            }
            2 if literal && matches!(ty, Ty::B32 | Ty::F32) => Arg::Literal(self.next() | 0x100),
            _ => Arg::S(self.sgpr(dwords)),
        }
    }

    pub(super) fn choose_operands(&mut self, inst: &mut Instruction, short: bool) {
        let info = inst.op.info();
        let name = inst.name;
        inst.dst = match name {
            "v_readlane_b32" | "v_readfirstlane_b32" => Arg::S(self.sgpr(1)),
            "v_accvgpr_write_b32" | "v_accvgpr_mov_b32" => Arg::A(self.vgpr(1)),
            _ if info.dst == Ty::Mask && short => Arg::S(VCC),
            _ if info.dst == Ty::Mask => Arg::S(self.sgpr(2)),
            _ => Arg::V(self.vgpr(info.dst.dwords())),
        };
        if info.sdst == Ty::Mask && !short {
            inst.mask_dst = self.sgpr(2);
        }
        if info.src.contains(&Ty::Mask) && !short {
            inst.mask_src = self.sgpr(2);
        }
        let mut uniform = false;
        for (i, &ty) in info.src.iter().enumerate().take(3) {
            // Short forms take anything first and a register then; long ones one scalar anywhere.
            let may = match (short, i) {
                (true, 0) => true,
                (true, _) => false,
                _ => !uniform && !info.src.contains(&Ty::Mask),
            };
            let packed = !matches!(ty, Ty::B32 | Ty::F32 | Ty::F64 | Ty::B64 | Ty::F16);
            let plain = may && !packed && !name.starts_with("v_pk_") && !name.contains("_mix");
            let registers_only =
                ["v_swap", "v_permlane", "v_readlane", "v_readfirst", "v_cvt_scalef32"];
            let registers_only = registers_only.iter().any(|p| name.starts_with(p));
            inst.src[i] = if plain && !registers_only && self.one_in(3) {
                uniform = true;
                self.uniform(ty, short)
            } else {
                Arg::V(self.vgpr(ty.dwords()))
            };
        }
        match name {
            "v_readlane_b32" => inst.src[1] = self.uniform(Ty::B32, false),
            "v_writelane_b32" => {
                inst.src[0] = Arg::S(self.sgpr(1));
                inst.src[1] = Arg::Int(self.below(64) as i8);
            }
            // With itself there is nothing to trade.
            "v_swap_b32" | "v_permlane16_swap_b32" | "v_permlane32_swap_b32" => {
                while inst.src[0] == inst.dst {
                    inst.src[0] = Arg::V(self.vgpr(1));
                }
            }
            "v_accvgpr_read_b32" | "v_accvgpr_mov_b32" => inst.src[0] = Arg::A(self.vgpr(1)),
            // The value is the denominator or the numerator.
            _ if name.starts_with("v_div_scale") => {
                let ty = info.src[0].dwords();
                inst.src = [0; 3].map(|_| Arg::V(self.vgpr(ty)));
                inst.src[0] = inst.src[1 + self.below(2) as usize];
            }
            "v_fmamk_f32" | "v_madmk_f16" => {
                let bits = self.literal(name);
                inst.src[1] = Arg::Literal(bits);
                inst.src[2] = Arg::V(self.vgpr(1));
            }
            "v_fmaak_f32" | "v_madak_f16" => {
                let bits = self.literal(name);
                inst.src[1] = Arg::V(self.vgpr(1));
                inst.src[2] = Arg::Literal(bits);
            }
            _ => return,
        }
        if ["v_fmamk", "v_madmk", "v_fmaak", "v_madak"].iter().any(|p| name.starts_with(p)) {
            // The one literal is taken.
            inst.src[0] = Arg::V(self.vgpr(1));
        }
    }

    pub(super) fn literal(&mut self, name: &str) -> u32 {
        let kind = if name.ends_with("f16") { 3 } else { 2 };
        let value = self.value(kind);
        if name.ends_with("f16") { value & 0xffff | 0x100 } else { value | 0x100 }
    }

    /// Takes vector registers for all sources.
    pub(super) fn registers_only(&mut self, inst: &mut Instruction) {
        for (src, ty) in inst.src.iter_mut().zip(inst.op.info().src) {
            if *ty != Ty::Mask {
                *src = Arg::V(self.vgpr(1));
            }
        }
    }
}

/// An operand with the signs that the syntax writes around it.
pub(super) fn signed(inst: &Instruction, i: usize, text: String) -> String {
    let m = &inst.mods;
    if inst.name.starts_with("v_pk_") {
        return text;
    }
    if m.parts.is_some_and(|parts| parts.extend >> i & 1 == 1) {
        return format!("sext({text})");
    }
    let abs = if inst.name.starts_with("v_fma_mix") { m.neg_hi } else { m.abs };
    let text = if abs >> i & 1 == 1 { format!("|{text}|") } else { text };
    match inst.src[i] {
        _ if m.neg >> i & 1 == 0 => text,
        // A minus would be part of the number.
        Arg::Int(_) | Arg::Float(_) => format!("neg({text})"),
        _ => format!("-{text}"),
    }
}

pub(super) fn show(arg: Arg, dwords: u8) -> String {
    let tuple = |prefix: char, n: u16| match dwords {
        0 | 1 => format!("{prefix}{n}"),
        _ => format!("{prefix}[{n}:{}]", n + u16::from(dwords) - 1),
    };
    match arg {
        Arg::None => "off".to_owned(),
        Arg::S(VCC) if dwords == 2 => "vcc".to_owned(),
        Arg::V(n) => tuple('v', n),
        Arg::A(n) => tuple('a', n),
        Arg::S(n) => tuple('s', n),
        Arg::Int(i) => i.to_string(),
        Arg::Float(x) => format!("{x:?}"),
        Arg::Literal(v) => format!("{v:#x}"),
    }
}
