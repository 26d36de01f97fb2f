//! Text of the scalar encodings.

use super::Text;
use super::names::{hwreg, sendmsg, waitcnt};
use super::operand::{inlinable32, operand};
use crate::isa::decode::NO_IMMEDIATE;
use crate::isa::{Inst, Op, Operand, Ty};

/// SOP1, SOP2 and SOPC.
pub fn sop(inst: &Inst) -> Text {
    let info = inst.op.info();
    let mut text = Text::new(info.name);
    if info.dst != Ty::None {
        text.operand(operand(inst.dst, info.dst));
    }
    for (&src, &ty) in inst.src.iter().zip(info.src) {
        if inst.op == Op::SSetGprIdxOn && src == Operand::None {
            text.operand(gpr_idx(inst.imm as u32));
        } else {
            text.operand(operand(src, scalar_type(ty)));
        }
    }
    text
}

/// Scalar operations take 16-bit operands in 32-bit registers.
fn scalar_type(ty: Ty) -> Ty {
    if ty.dwords() == 1 { Ty::B32 } else { ty }
}

/// SOPK.
pub fn sopk(inst: &Inst) -> Text {
    let info = inst.op.info();
    let simm = inst.imm as u16;
    let mut text = Text::new(info.name);
    let dst = operand(inst.dst, info.dst);
    match inst.op {
        Op::SGetregB32 => {
            text.operand(dst);
            text.operand(hwreg(simm));
        }
        Op::SSetregB32 => {
            text.operand(hwreg(simm));
            text.operand(dst);
        }
        Op::SSetregImm32B32 => {
            text.operand(hwreg(simm));
            if let Operand::Literal(value) = inst.src[0] {
                text.operand(plain32(value));
            }
        }
        Op::SCallB64 | Op::SCbranchIFork => {
            text.operand(dst);
            text.operand(simm.to_string());
        }
        _ => {
            text.operand(dst);
            text.operand(format!("{simm:#x}"));
        }
    }
    text
}

/// SOPP.
pub fn sopp(inst: &Inst) -> Text {
    let name = inst.op.info().name;
    let simm = inst.imm as u16;
    let mut text = Text::new(name);
    match inst.op {
        op if NO_IMMEDIATE.contains(&op) => {}
        Op::SEndpgm if simm == 0 => {}
        Op::SEndpgm => text.operand(simm.to_string()),
        Op::SWaitcnt => text.operand(waitcnt(simm)),
        Op::SSendmsg | Op::SSendmsghalt => text.operand(sendmsg(simm)),
        Op::SSetGprIdxMode => text.operand(gpr_idx(u32::from(simm))),
        _ if name.starts_with("s_cbranch") || inst.op == Op::SBranch => {
            text.operand(simm.to_string());
        }
        _ => text.operand(plain32(u32::from(simm))),
    }
    text
}

/// SMEM.
pub fn smem(inst: &Inst) -> Text {
    let info = inst.op.info();
    let mut text = Text::new(info.name);
    match inst.dst {
        Operand::None => {}
        Operand::Int(kind) => text.operand(plain32(kind as u32)),
        dst => text.operand(operand(dst, info.dst)),
    }
    let Some(&base) = info.src.first() else {
        return text;
    };
    text.operand(operand(inst.src[0], base));
    if inst.src[1] == Operand::None {
        text.operand(signed_hex(inst.imm));
    } else {
        text.operand(operand(inst.src[1], Ty::B32));
        if inst.imm != 0 {
            text.modifier(format!("offset:{}", signed_hex(inst.imm)));
        }
    }
    let takes_policy = info.dst != Ty::None && !matches!(inst.dst, Operand::Int(_));
    text.flag(inst.mods.sc0 && takes_policy, "glc");
    text
}

fn signed_hex(value: i32) -> String {
    if value < 0 { format!("-{:#x}", value.unsigned_abs()) } else { format!("{value:#x}") }
}

/// An immediate that is printed as the constant it equals, else in hex.
fn plain32(value: u32) -> String {
    inlinable32(value).unwrap_or_else(|| format!("{value:#x}"))
}

/// The operands that VGPR indexing applies to.
fn gpr_idx(mask: u32) -> String {
    if mask > 15 {
        return format!("{mask:#x}");
    }
    let names: Vec<&str> = ["SRC0", "SRC1", "SRC2", "DST"]
        .into_iter()
        .enumerate()
        .filter(|(i, _)| mask >> i & 1 != 0)
        .map(|(_, name)| name)
        .collect();
    format!("gpr_idx({})", names.join(","))
}
