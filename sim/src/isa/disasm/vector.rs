//! Text of the vector ALU and matrix encodings.

use super::Text;
use super::operand::operand;
use crate::isa::decode::{from_8_bit_float, is_mix, selects_byte, selects_halves};
use crate::isa::{Dpp, Enc, Inst, Op, Operand, SdwaSel, Ty, op, source_types};

/// VOP1, VOP2, VOPC, VOP3 and VOP3SD.
pub fn vop(inst: &Inst) -> Text {
    let info = inst.op.info();
    let types = source_types(inst);
    let mut text = Text::new(format!("{}{}", info.name, suffix(inst)));
    if info.dst != Ty::None {
        text.operand(operand(inst.dst, dst_type(inst)));
    }
    if info.sdst != Ty::None {
        text.operand(operand(inst.sdst, info.sdst));
    }
    for (i, ty) in types.iter().enumerate().take_while(|(_, ty)| **ty != Ty::None) {
        text.operand(match constant_k(inst) {
            Some((at, k)) if at == i => format!("{k:#x}"),
            _ => source(inst, i, printed_type(inst, *ty)),
        });
    }
    vop_modifiers(inst, &mut text);
    text
}

/// The part of the mnemonic that names the encoding.
fn suffix(inst: &Inst) -> &'static str {
    let has_e64 = |op: Op| [op::VOP3, op::VOP3SD].iter().any(|t| t.iter().any(|e| e.1 == op));
    let has_e32 =
        |op: Op| [op::VOP1, op::VOP2, op::VOPC].iter().any(|t| t.iter().any(|e| e.1 == op));
    match inst.enc {
        _ if inst.op.info().dst == Ty::None => "",
        _ if inst.mods.dpp.is_some() => "_dpp",
        _ if inst.mods.sdwa.is_some() => "_sdwa",
        Enc::Vop3 | Enc::Vop3sd if has_e32(inst.op) => "_e64",
        Enc::Vop1 | Enc::Vop2 | Enc::Vopc if has_e64(inst.op) => "_e32",
        _ => "",
    }
}

/// The type that LLVM prints a source by: it takes packed 8-bit floats in whole registers.
fn printed_type(inst: &Inst, ty: Ty) -> Ty {
    let packed = ["v_cvt_pk_f32_", "v_cvt_scalef32_pk_"];
    match ty {
        Ty::I16 if packed.iter().any(|p| inst.op.info().name.starts_with(p)) => Ty::B32,
        // Pairs of 32-bit operands have the constants of one.
        Ty::B64 if inst.enc == Enc::Vop3p => Ty::PkF32,
        _ => ty,
    }
}

/// The constant K of a multiply-add, and which source it is.
fn constant_k(inst: &Inst) -> Option<(usize, u32)> {
    let at = match inst.op {
        Op::VFmamkF32 | Op::VMadmkF16 => 1,
        Op::VFmaakF32 | Op::VMadakF16 => 2,
        _ => return None,
    };
    match inst.src[at] {
        Operand::Literal(k) => Some((at, k)),
        _ => None,
    }
}

/// The destination's type; lane reads go to a scalar register.
fn dst_type(inst: &Inst) -> Ty {
    inst.op.info().dst
}

/// A source with its negation, absolute value and sign extension.
fn source(inst: &Inst, i: usize, ty: Ty) -> String {
    let text = operand(inst.src[i], ty);
    if inst.mods.sdwa.is_some_and(|sdwa| sdwa.sext.get(i) == Some(&true)) {
        return format!("sext({text})");
    }
    let (neg, abs) = signs(inst);
    let (neg, abs) = (neg >> i & 1 != 0, abs >> i & 1 != 0);
    let constant = matches!(inst.src[i], Operand::Int(_) | Operand::Float(_) | Operand::Literal(_));
    match (neg, abs) {
        (false, false) => text,
        (false, true) => format!("|{text}|"),
        (true, true) => format!("-|{text}|"),
        (true, false) if constant => format!("neg({text})"),
        (true, false) => format!("-{text}"),
    }
}

/// Masks of the negated and of the absolute sources.
fn signs(inst: &Inst) -> (u8, u8) {
    let mods = &inst.mods;
    match inst.op {
        op if is_bitop3(op) => (0, 0),
        op if is_mix(op) => (mods.neg, mods.neg_hi),
        _ => (mods.neg, mods.abs),
    }
}

/// Whether the modifier fields hold a truth table.
fn is_bitop3(op: Op) -> bool {
    matches!(op, Op::VBitop3B16 | Op::VBitop3B32)
}

fn vop_modifiers(inst: &Inst, text: &mut Text) {
    let mods = &inst.mods;
    if is_bitop3(inst.op) {
        let table = mods.omod << 6 | mods.abs << 3 | mods.neg;
        if table != 0 {
            text.modifier(if table > 10 {
                format!("bitop3:{table:#x}")
            } else {
                format!("bitop3:{table}")
            });
        }
    }
    if matches!(inst.op, Op::VPermlane16SwapB32 | Op::VPermlane32SwapB32) {
        text.flag(mods.op_sel & 2 != 0, "bound_ctrl:1");
        text.flag(mods.op_sel & 1 != 0, "fi:1");
    } else if mods.op_sel != 0 {
        let n = inst.op.info().src.len().max(if selects_byte(inst.op) { 3 } else { 0 });
        let mut bits: Vec<u8> = (0..n).map(|i| mods.op_sel >> i & 1).collect();
        bits.push(mods.op_sel >> 3 & 1);
        text.modifier(format!("op_sel:{}", list(bits)));
    }
    text.flag(mods.clamp, "clamp");
    if !is_bitop3(inst.op)
        && let Some(omod) = ["", "mul:2", "mul:4", "div:2"].get(usize::from(mods.omod))
    {
        text.flag(!omod.is_empty(), omod);
    }
    if let Some(dpp) = &mods.dpp {
        dpp_modifiers(dpp, text);
    }
    if let Some(sdwa) = &mods.sdwa {
        if inst.enc != Enc::Vopc && !from_8_bit_float(inst.op) {
            text.modifier(format!("dst_sel:{}", selection(sdwa.dst_sel)));
            let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];
            if let Some(name) = unused.get(usize::from(sdwa.dst_unused)) {
                text.modifier(format!("dst_unused:{name}"));
            }
        }
        let sources = inst.op.info().src.len().min(2);
        for (i, &sel) in sdwa.src_sel.iter().enumerate().take(sources) {
            text.modifier(format!("src{i}_sel:{}", selection(sel)));
        }
    }
}

fn selection(sel: SdwaSel) -> &'static str {
    match sel {
        SdwaSel::Byte0 => "BYTE_0",
        SdwaSel::Byte1 => "BYTE_1",
        SdwaSel::Byte2 => "BYTE_2",
        SdwaSel::Byte3 => "BYTE_3",
        SdwaSel::Word0 => "WORD_0",
        SdwaSel::Word1 => "WORD_1",
        SdwaSel::Dword => "DWORD",
    }
}

fn dpp_modifiers(dpp: &Dpp, text: &mut Text) {
    let low = dpp.ctrl & 15;
    text.modifier(match dpp.ctrl {
        0..=0xff => {
            let lane = |i: u16| dpp.ctrl >> (2 * i) & 3;
            format!("quad_perm:[{},{},{},{}]", lane(0), lane(1), lane(2), lane(3))
        }
        0x101..=0x10f => format!("row_shl:{low}"),
        0x111..=0x11f => format!("row_shr:{low}"),
        0x121..=0x12f => format!("row_ror:{low}"),
        0x130 => "wave_shl:1".into(),
        0x134 => "wave_rol:1".into(),
        0x138 => "wave_shr:1".into(),
        0x13c => "wave_ror:1".into(),
        0x140 => "row_mirror".into(),
        0x141 => "row_half_mirror".into(),
        0x142 => "row_bcast:15".into(),
        0x143 => "row_bcast:31".into(),
        0x150..=0x15f => format!("row_newbcast:{low}"),
        _ => format!("dpp_ctrl:{:#x}", dpp.ctrl),
    });
    text.modifier(format!("row_mask:{:#x}", dpp.row_mask));
    text.modifier(format!("bank_mask:{:#x}", dpp.bank_mask));
    text.flag(dpp.bound_ctrl, "bound_ctrl:1");
}

/// VOP3P other than matrix operations.
pub fn vop3p(inst: &Inst) -> Text {
    let info = inst.op.info();
    let types = source_types(inst);
    let mut text = Text::new(info.name);
    if info.dst != Ty::None {
        text.operand(operand(inst.dst, info.dst));
    }
    let n = info.src.len();
    // The mixed-precision operations select and negate as VOP3 does, the byte and nibble dot
    // products select nothing.
    let mixes = is_mix(inst.op);
    for (i, ty) in types.into_iter().enumerate().take(n) {
        let ty = printed_type(inst, ty);
        text.operand(if mixes { source(inst, i, ty) } else { operand(inst.src[i], ty) });
    }
    let all = if mixes || !selects_halves(inst.op) { 0 } else { (1u8 << n) - 1 };
    for (name, mask, default) in [
        ("op_sel", inst.mods.op_sel, 0),
        ("op_sel_hi", inst.mods.op_sel_hi, all),
        ("neg_lo", if mixes { 0 } else { inst.mods.neg }, 0),
        ("neg_hi", if mixes { 0 } else { inst.mods.neg_hi }, 0),
    ] {
        if mask != default {
            text.modifier(format!("{name}:{}", list((0..n).map(|i| mask >> i & 1))));
        }
    }
    text.flag(inst.mods.clamp, "clamp");
    text
}

/// Matrix operations and accumulation-register moves.
pub fn mai(inst: &Inst) -> Text {
    let info = inst.op.info();
    let types = source_types(inst);
    let mut text = Text::new(info.name);
    text.operand(operand(inst.dst, info.dst));
    for (&src, ty) in inst.src.iter().zip(types).take(info.src.len()) {
        text.operand(operand(src, ty));
    }
    if let Some(scale) = &inst.scale {
        for src in scale.src {
            text.operand(operand(src, Ty::B32));
        }
        let bits = |mask: u8| list((0..2).map(|i| mask >> i & 1).chain([0]));
        if scale.op_sel != 0 {
            text.modifier(format!("op_sel:{}", bits(scale.op_sel)));
        }
        text.modifier(format!("op_sel_hi:{}", bits(scale.op_sel_hi)));
    }
    let mods = &inst.mods;
    for (name, value) in [("cbsz", mods.cbsz), ("abid", mods.abid)] {
        if value != 0 {
            text.modifier(format!("{name}:{value}"));
        }
    }
    if mods.blgp != 0 {
        text.modifier(if info.name.ends_with("_f64") {
            format!("neg:{}", list((0..3).map(|i| mods.blgp >> i & 1)))
        } else {
            format!("blgp:{}", mods.blgp)
        });
    }
    text
}

/// `[0,1,0]`
fn list(bits: impl IntoIterator<Item = u8>) -> String {
    let bits: Vec<String> = bits.into_iter().map(|b| b.to_string()).collect();
    format!("[{}]", bits.join(","))
}
