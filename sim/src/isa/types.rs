//! Operand types that depend on more than the operation: matrix formats and memory addressing.

use super::{Enc, Inst, Operand, Ty};

/// Type of each source of an instruction. Unlike [`super::OpInfo::src`], it knows how many
/// registers the formats of an f8f6f4 operation take and how many a memory address has here.
pub fn source_types(inst: &Inst) -> [Ty; 3] {
    let mut types = [Ty::None; 3];
    for (slot, &ty) in types.iter_mut().zip(inst.op.info().src) {
        *slot = ty;
    }
    match inst.enc {
        Enc::Mai | Enc::MaiScale if inst.op.info().name.ends_with("f8f6f4") => {
            types[0] = matrix_format_type(inst.mods.cbsz);
            types[1] = matrix_format_type(inst.mods.blgp);
        }
        Enc::Global if inst.src[2] != Operand::None => types[0] = Ty::B32,
        Enc::Mubuf | Enc::Mtbuf if !(inst.mods.offen && inst.mods.idxen) => types[0] = Ty::B32,
        _ => {}
    }
    types
}

/// Registers that 32 elements of an f8f6f4 format take: 8 bits each for formats 0 and 1, 6 bits
/// for 2 and 3, 4 bits for 4.
pub(super) fn matrix_format_type(format: u8) -> Ty {
    match format {
        2 | 3 => Ty::W6,
        4 => Ty::W4,
        _ => Ty::W8,
    }
}
