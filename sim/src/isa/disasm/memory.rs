//! Text of DS, FLAT, GLOBAL, SCRATCH, MUBUF and MTBUF.

use super::Text;
use super::names::{buffer_format, swizzle};
use super::operand::operand;
use crate::isa::{Enc, Inst, Op, Operand, Ty, source_types};

/// DS.
pub fn ds(inst: &Inst) -> Text {
    let info = inst.op.info();
    let mut text = Text::new(info.name);
    if info.dst != Ty::None {
        text.operand(operand(inst.dst, info.dst));
    }
    for (&src, &ty) in inst.src.iter().zip(info.src) {
        if ty != Ty::None {
            text.operand(operand(src, ty));
        }
    }
    let offset = inst.imm as u16;
    if inst.op == Op::DsSwizzleB32 {
        if offset != 0 {
            text.modifier(format!("offset:{}", swizzle(offset)));
        }
    } else if has_two_offsets(info.name) {
        for (name, value) in [("offset0", offset & 0xff), ("offset1", offset >> 8)] {
            if value != 0 {
                text.modifier(format!("{name}:{value}"));
            }
        }
    } else if offset != 0 {
        text.modifier(format!("offset:{offset}"));
    }
    text.flag(info.name.starts_with("ds_gws") && inst.mods.gds, "gds");
    text
}

/// Whether a DS operation addresses two places.
fn has_two_offsets(name: &str) -> bool {
    ["ds_read2", "ds_write2", "ds_wrxchg2"].iter().any(|p| name.starts_with(p))
}

/// FLAT, GLOBAL and SCRATCH.
pub fn flat(inst: &Inst) -> Text {
    let info = inst.op.info();
    let types = source_types(inst);
    let mut text = Text::new(info.name);
    if inst.dst != Operand::None {
        text.operand(operand(inst.dst, info.dst));
    }
    text.operand(operand(inst.src[0], types[0]));
    if inst.src[1] != Operand::None {
        text.operand(operand(inst.src[1], types[1]));
    }
    if inst.enc != Enc::Flat {
        text.operand(operand(inst.src[2], types[2]));
    }
    if inst.imm != 0 {
        text.modifier(format!("offset:{}", inst.imm));
    }
    cache_policy(inst, &mut text);
    text
}

/// MUBUF and MTBUF.
pub fn buffer(inst: &Inst) -> Text {
    let info = inst.op.info();
    let types = source_types(inst);
    let mut text = Text::new(info.name);
    if info.src.is_empty() {
        cache_policy(inst, &mut text);
        return text;
    }
    if inst.dst != Operand::None {
        text.operand(operand(inst.dst, info.dst));
    }
    for (&src, ty) in inst.src.iter().zip(types) {
        text.operand(operand(src, ty));
    }
    if inst.enc == Enc::Mtbuf
        && let Some(format) = buffer_format(inst.mods.format)
    {
        text.modifier(format!("format:{format}"));
    }
    text.flag(inst.mods.idxen, "idxen");
    text.flag(inst.mods.offen, "offen");
    if inst.imm != 0 {
        text.modifier(format!("offset:{}", inst.imm));
    }
    cache_policy(inst, &mut text);
    text.flag(inst.mods.lds, "lds");
    text
}

fn cache_policy(inst: &Inst, text: &mut Text) {
    text.flag(inst.mods.sc0, "sc0");
    text.flag(inst.mods.nt, "nt");
    text.flag(inst.mods.sc1, "sc1");
}
