//! Which modifier fields each vector operation has. A field that it lacks must be zero, or is
//! ignored, exactly where LLVM 22 says so.

use crate::isa::{Op, Ty};

/// The modifier fields of a VOP3 operation. Masks have one bit per source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vop3Mods {
    /// Sources that can be negated and made absolute.
    pub float: u8,
    /// Sources whose negation and absolute-value bits are ignored.
    pub ignored: u8,
    /// `op_sel` bits; bit 3 is the destination's. With none at all the field is ignored.
    pub op_sel: u8,
    /// Clamp.
    pub clamp: bool,
    /// Output modifier.
    pub omod: bool,
}

/// Whether a type is a floating-point number, for which negation is a modifier.
pub fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 | Ty::PkF16 | Ty::PkBf16 | Ty::PkF32)
}

/// Sources of `op` that can be negated.
pub fn float_sources(op: Op) -> u8 {
    let types = op.info().src;
    if op == Op::VCndmaskB32 {
        return 0b11;
    }
    // Conversions of whole register groups have no modifiers.
    if types.first().is_some_and(|ty| ty.dwords() > 4 || *ty == Ty::W6) {
        return 0;
    }
    let mask =
        types.iter().enumerate().fold(0, |mask, (i, &ty)| mask | u8::from(is_float(ty)) << i);
    // The exponent and the class mask are integers, whatever their table type.
    if matches!(op, Op::VLdexpF16 | Op::VCmpClassF16 | Op::VCmpxClassF16) { mask & 1 } else { mask }
}

/// The modifier fields of `op` in VOP3 and VOP3SD.
pub fn vop3_mods(op: Op) -> Vop3Mods {
    let info = op.info();
    let float = float_sources(op);
    let sources = (1u8 << info.src.len()) - 1;
    let op_sel = op_sel_bits(op);
    let ignored = match op {
        _ if info.name.contains("_class_") || op == Op::VCndmaskB32 => 0,
        op if IGNORES_ALL_NEGATION.contains(&op) => 0b111,
        op if DOT_PRODUCTS.contains(&op) || float != 0 => sources,
        _ => 0,
    } & !float;
    let scaled = info.name.contains("scalef32") || info.name.starts_with("v_cvt_sr_");
    let omod = !scaled
        && !NO_OMOD.contains(&op)
        && (is_float(info.dst) || float != 0 && info.src.len() == 1);
    let compares_floats = info.dst == Ty::Mask && float == 0b11;
    Vop3Mods {
        float,
        ignored,
        op_sel,
        clamp: omod || compares_floats || CLAMPS.contains(&op),
        omod,
    }
}

/// Bits of `op_sel` that an operation has.
fn op_sel_bits(op: Op) -> u8 {
    let name = op.info().name;
    if OP_SEL_ALL.contains(&op) || name.starts_with("v_cvt_scalef32_") && !is_group(op) {
        return if op.info().src.len() == 2 && !selects_byte(op) { 0b1011 } else { 0b1111 };
    }
    match op {
        Op::VPermlane16SwapB32 | Op::VPermlane32SwapB32 => 0b0011,
        _ if OP_SEL_TWO.contains(&op) => 0b1011,
        _ => 0,
    }
}

/// Whether a scaled conversion works on whole groups of registers.
fn is_group(op: Op) -> bool {
    let info = op.info();
    info.dst.dwords() > 2 || info.src.first().is_some_and(|ty| ty.dwords() > 2)
}

/// Operations with `op_sel` for all sources and the destination.
static OP_SEL_ALL: &[Op] = &[
    Op::VAlignbitB32,
    Op::VAlignbyteB32,
    Op::VMadU32U16,
    Op::VMadI32I16,
    Op::VMin3F16,
    Op::VMin3I16,
    Op::VMin3U16,
    Op::VMax3F16,
    Op::VMax3I16,
    Op::VMax3U16,
    Op::VMed3F16,
    Op::VMed3I16,
    Op::VMed3U16,
    Op::VMadF16,
    Op::VMadU16,
    Op::VMadI16,
    Op::VFmaF16,
    Op::VDivFixupF16,
    Op::VBitop3B16,
    Op::VAshrPkI8I32,
    Op::VAshrPkU8I32,
    Op::VCvtSrFp8F32,
    Op::VCvtSrBf8F32,
];

/// Two-source operations with `op_sel`.
static OP_SEL_TWO: &[Op] = &[
    Op::VCvtPkFp8F32,
    Op::VCvtPkBf8F32,
    Op::VCvtPknormI16F16,
    Op::VCvtPknormU16F16,
    Op::VPackB32F16,
    Op::VAddI16,
    Op::VSubI16,
    Op::VCvtSrF16F32,
    Op::VCvtSrBf16F32,
];

/// Whether bits 2 and 3 of `op_sel` of a two-source operation select a byte of the destination.
pub fn selects_byte(op: Op) -> bool {
    matches!(
        op,
        Op::VCvtSrFp8F32 | Op::VCvtSrBf8F32 | Op::VCvtScalef32PkFp4F16 | Op::VCvtScalef32PkFp4Bf16
    )
}

/// Operations that ignore the negation of every source that cannot be negated, of the third one
/// too, even if they have only two.
static IGNORES_ALL_NEGATION: &[Op] = &[
    Op::VCvtSrFp8F32,
    Op::VCvtSrBf8F32,
    Op::VCvtScalef32PkFp4F16,
    Op::VCvtScalef32PkFp4Bf16,
    Op::VAshrPkI8I32,
    Op::VAshrPkU8I32,
];

/// Integer dot products ignore negation.
static DOT_PRODUCTS: &[Op] = &[Op::VDot2cI32I16, Op::VDot4cI32I8, Op::VDot8cI32I4];

/// Single-source conversions without output modifier.
static NO_OMOD: &[Op] = &[Op::VCvtRpiI32F32, Op::VCvtFlrI32F32, Op::VFrexpExpI32F32];

/// Operations with clamp and without output modifier, other than comparisons.
static CLAMPS: &[Op] = &[
    Op::VCvtRpiI32F32,
    Op::VCvtFlrI32F32,
    Op::VFrexpExpI32F32,
    Op::VCvtPknormI16F32,
    Op::VCvtPknormU16F32,
    Op::VCvtPknormI16F16,
    Op::VCvtPknormU16F16,
    Op::VPackB32F16,
    Op::VCvtPkU8F32,
    Op::VCvtPkaccumU8F32,
    Op::VMadI32I24,
    Op::VMadU32U24,
    Op::VSadU8,
    Op::VSadHiU8,
    Op::VSadU16,
    Op::VSadU32,
    Op::VMsadU8,
    Op::VQsadPkU16U8,
    Op::VMqsadPkU16U8,
    Op::VMqsadU32U8,
    Op::VMadLegacyU16,
    Op::VMadLegacyI16,
    Op::VAlignbitB32,
    Op::VAlignbyteB32,
    Op::VMadU32U16,
    Op::VMadI32I16,
    Op::VMin3I16,
    Op::VMin3U16,
    Op::VMax3I16,
    Op::VMax3U16,
    Op::VMed3I16,
    Op::VMed3U16,
    Op::VMadU16,
    Op::VMadI16,
    Op::VMulI32I24,
    Op::VMulU32U24,
    Op::VAddU16,
    Op::VSubU16,
    Op::VSubrevU16,
    Op::VAddU32,
    Op::VSubU32,
    Op::VSubrevU32,
    Op::VAddI32,
    Op::VSubI32,
    Op::VAddI16,
    Op::VSubI16,
    Op::VDot2cI32I16,
    Op::VDot4cI32I8,
    Op::VDot8cI32I4,
    Op::VAddCoU32,
    Op::VSubCoU32,
    Op::VSubrevCoU32,
    Op::VAddcCoU32,
    Op::VSubbCoU32,
    Op::VSubbrevCoU32,
    Op::VMadU64U32,
    Op::VMadI64I32,
];

/// Whether an operation of VOP1 or VOP2 has a DPP form.
pub fn has_dpp(op: Op) -> bool {
    !NO_DPP.contains(&op) && op.info().dst != Ty::Mask
}

/// Operations of VOP1 and VOP2 without DPP.
static NO_DPP: &[Op] = &[
    Op::VNop,
    Op::VReadfirstlaneB32,
    Op::VClrexcp,
    Op::VSwapB32,
    Op::VAccvgprMovB32,
    Op::VPermlane16SwapB32,
    Op::VPermlane32SwapB32,
];

/// Whether an operation of VOP1, VOP2 or VOPC has an SDWA form: those without 64-bit operands.
pub fn has_sdwa(op: Op) -> bool {
    let info = op.info();
    let wide = |ty: &Ty| ty.dwords() > 1 && *ty != Ty::Mask && *ty != Ty::PkF32;
    !NO_DPP.contains(&op)
        && !NO_SDWA.contains(&op)
        && !info.src.iter().any(wide)
        && !wide(&info.dst)
}

/// Operations with DPP and without SDWA.
static NO_SDWA: &[Op] = &[
    Op::VMacF16,
    Op::VFmacF32,
    Op::VDot2cF32F16,
    Op::VDot2cF32Bf16,
    Op::VDot2cI32I16,
    Op::VDot4cI32I8,
    Op::VDot8cI32I4,
];
