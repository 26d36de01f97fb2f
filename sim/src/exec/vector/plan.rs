//! What is worked out once about a vector instruction: its kernels, operand types, destination and
//! the MODE bits that matter to it.
//!
//! Goes in: a decoded instruction. Comes out: a [`Plan`] that executing it needs no lookup for.

use super::kernel::Kernel;
#[cfg(target_arch = "x86_64")]
use super::tuned;
use super::{compare, convert, directed, float, int, scaled, short};
use crate::exec::mode;
use crate::exec::step::Handler;
use crate::isa::{Arch, Enc, Inst, Mods, Op, Operand, Part, Ty, written_part};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Plan {
    /// Computes the result in the usual mode.
    pub(super) kernel: Kernel,
    /// Computes the result in any rounding mode and with FP16_OVFL.
    pub(super) directed: Kernel,
    /// Sources, with the destination of accumulating operations.
    pub(super) sources: u8,
    /// Types of the sources.
    pub(super) types: [Ty; 3],
    /// Type of the destination.
    pub(super) result: Ty,
    /// Where the result goes.
    pub(super) dest: Dest,
    /// Whether a lane mask is written besides the result.
    pub(super) carry: bool,
    /// Whether the last source is the destination.
    pub(super) accumulates: bool,
    /// Implicit operand.
    pub(super) extra: Extra,
    /// How each source is changed on its way in.
    pub(super) touch: [Touch; 3],
    /// Whether the instruction has modifiers that [`Touch`] does not cover.
    pub(super) modified: bool,
}

/// What part of which register a result goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dest {
    /// One register.
    Full,
    /// Two registers.
    Wide,
    /// The low half; the high half is kept.
    Low,
    /// The high half; the low half is kept.
    High,
    /// One byte; the others are kept.
    Byte(u8),
    /// A lane mask.
    Mask,
    /// A lane mask and EXEC.
    MaskExec,
}

/// What simple modifiers do to a source: dword `k` of the operand is dword `from[k]` of the register
/// or pair, with the bits of `keep[k]` kept and those of `flip[k]` inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) from: [u8; 2],
    pub(super) keep: [u32; 2],
    pub(super) flip: [u32; 2],
}

impl Touch {
    pub(super) const NONE: Touch = Touch { from: [0, 1], keep: [u32::MAX; 2], flip: [0; 2] };

    /// Absolute value, then negation, of source `i` read as `ty`.
    pub(super) fn signs(mods: &Mods, i: usize, ty: Ty, packed: bool) -> Touch {
        let (neg, abs) = (mods.neg >> i & 1 == 1, mods.abs >> i & 1 == 1);
        let neg_hi = mods.neg_hi >> i & 1 == 1;
        let mut touch = Touch::NONE;
        let mut apply = |dword: usize, sign: u32, abs: bool, neg: bool| {
            if abs {
                touch.keep[dword] &= !sign;
            }
            if neg {
                touch.flip[dword] |= sign;
            }
        };
        match ty {
            Ty::F32 => apply(0, 1 << 31, abs, neg),
            Ty::F16 | Ty::Bf16 => apply(0, 1 << 15, abs, neg),
            Ty::F64 => apply(1, 1 << 31, abs, neg),
            Ty::PkF16 | Ty::PkBf16 => {
                apply(0, 1 << 15, abs, neg);
                apply(0, 1 << 31, abs, if packed { neg_hi } else { neg });
            }
            Ty::PkF32 => {
                apply(0, 1 << 31, abs, neg);
                apply(1, 1 << 31, abs, neg_hi);
            }
            _ => {}
        }
        touch
    }

    /// Whether bits are changed.
    #[inline(always)]
    pub(super) fn changes_bits(&self) -> bool {
        self.keep != Touch::NONE.keep || self.flip != Touch::NONE.flip
    }

    /// The operand that the two dwords of a scalar become.
    #[inline(always)]
    pub(super) fn scalar(&self, dwords: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|k| dwords[usize::from(self.from[k] & 1)] & self.keep[k] ^ self.flip[k])
    }
}

/// Operands that are not encoded as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extra {
    None,
    /// VCC, one flag per lane.
    Vcc,
    /// The truth table of `v_bitop3`.
    Table(u8),
}

impl Plan {
    /// The plan of `inst`, or `None` if its operation has no kernel.
    /// With it comes a handler for the plain case, if the operation has one.
    pub(super) fn new(inst: &Inst, arch: Arch) -> Option<(Plan, Option<Handler>)> {
        let op = inst.op;
        let info = op.info();
        let float_result = is_float(info.dst);
        let saturating = if inst.mods.clamp && !float_result {
            int::lookup_clamped(op).or_else(|| short::lookup_clamped(op))
        } else {
            None
        };
        #[cfg(target_arch = "x86_64")]
        let saturating = saturating.or_else(|| tuned::lookup(op));
        let pair = saturating
            .or_else(|| int::lookup(op))
            .or_else(|| int::lookup_rare(op))
            .or_else(|| float::lookup(op))
            .or_else(|| float::lookup_rare(op))
            .or_else(|| compare::lookup(op))
            .or_else(|| compare::lookup_rare(op))
            .or_else(|| float::lookup_half(op))
            .or_else(|| short::lookup(op))
            .or_else(|| short::lookup_rare(op))
            .or_else(|| scaled::lookup(op))
            .or_else(|| scaled::lookup_stochastic(op))
            .or_else(|| convert::lookup(op, arch))?;
        let (kernel, plain) = (pair.select(), pair.plain());
        let directed = directed::lookup(op).map_or(kernel, |pair| pair.select());

        let accumulates = accumulates(op);
        let literal = matches!(op, Op::VFmaakF32 | Op::VFmamkF32 | Op::VMadakF16 | Op::VMadmkF16);
        let mut types = [Ty::B32; 3];
        for (to, from) in types.iter_mut().zip(info.src) {
            *to = *from;
        }
        if accumulates || literal {
            types[2] = info.dst;
        }
        let sources = info.src.len().min(3) + usize::from(accumulates || literal);
        let extra = match op {
            Op::VDivFmasF32 | Op::VDivFmasF64 => Extra::Vcc,
            Op::VBitop3B16 | Op::VBitop3B32 => {
                Extra::Table(inst.mods.omod << 6 | inst.mods.abs << 3 | inst.mods.neg)
            }
            _ => Extra::None,
        };
        let mut plan = Plan {
            kernel,
            directed,
            sources: sources.min(3) as u8,
            types,
            result: info.dst,
            dest: destination(inst),
            carry: info.sdst == Ty::Mask,
            accumulates,
            extra,
            touch: [Touch::NONE; 3],
            modified: false,
        };
        plan.touch = std::array::from_fn(|i| plan.simple_modifiers(inst, i));
        plan.modified = plan.has_others(inst);
        Some((plan, plain))
    }

    /// The modifiers of source `i` that change which registers are read, or signs.
    fn simple_modifiers(&self, inst: &Inst, i: usize) -> Touch {
        let (m, packed) = (&inst.mods, inst.enc == Enc::Vop3p);
        if i >= usize::from(self.sources)
            || matches!(inst.op, Op::VBitop3B16 | Op::VBitop3B32)
            || is_mixed(inst.op)
        {
            return Touch::NONE;
        }
        // The modifiers of a selection are those of floats.
        let ty = if inst.op == Op::VCndmaskB32 && i < 2 { Ty::F32 } else { self.types[i] };
        let mut touch = Touch::signs(m, i, ty, packed);
        if packed && ty == Ty::PkF32 {
            touch.from = [m.op_sel >> i & 1, m.op_sel_hi >> i & 1];
        }
        touch
    }

    /// Whether there are modifiers that [`Plan::simple_modifiers`] does not cover.
    fn has_others(&self, inst: &Inst) -> bool {
        let m = &inst.mods;
        if m.dpp.is_some() || m.sdwa.is_some() || m.clamp {
            return true;
        }
        let selects = match inst.op {
            Op::VPkMovB32 => true,
            op if is_mixed(op) => true,
            // Eight- and four-bit dot products take whole registers.
            Op::VDot4I32I8 | Op::VDot4U32U8 | Op::VDot8I32I4 | Op::VDot8U32U4 => false,
            _ if inst.enc == Enc::Vop3p => (0..usize::from(self.sources)).any(|i| {
                let (low, high) = (m.op_sel >> i & 1, m.op_sel_hi >> i & 1);
                is_packed(self.types[i]) && self.types[i] != Ty::PkF32 && (low, high) != (0, 1)
            }),
            _ => m.op_sel & 7 != 0,
        };
        let table = matches!(inst.op, Op::VBitop3B16 | Op::VBitop3B32);
        selects || (!table && m.omod != 0)
    }

    /// Bits of MODE that change what the instruction does, and their values for which `kernel` is
    /// right.
    pub(super) fn mode(&self, inst: &Inst) -> (u32, u32) {
        let types = &self.types[..usize::from(self.sources)];
        let any = |test: fn(Ty) -> bool| types.iter().any(|t| test(*t)) || test(self.result);
        let single = any(|t| matches!(t, Ty::F32 | Ty::PkF32));
        let half = any(|t| matches!(t, Ty::F16 | Ty::PkF16 | Ty::F64));
        let mixed = is_mixed(inst.op);
        let (mut mask, mut usual) = (mode::GPR_IDX_EN, 0);
        if tests_class(inst.op) {
            return (mask, usual);
        }
        if single || mixed {
            mask |= mode::DENORM_32 | mode::ROUND_32;
            usual |= mode::DENORM_32;
        }
        if half || mixed {
            mask |= mode::DENORM_16_64 | mode::ROUND_16_64;
            usual |= mode::DENORM_16_64;
        }
        if matches!(self.result, Ty::F16 | Ty::PkF16) {
            mask |= mode::FP16_OVFL;
        }
        (mask, usual)
    }
}

/// Source `i`, where accumulating operations read their destination after the sources that are
/// encoded.
#[inline(always)]
pub(super) fn source(inst: &Inst, i: usize, plan: &Plan) -> Operand {
    if plan.accumulates && i + 1 == usize::from(plan.sources) { inst.dst } else { inst.src[i] }
}

/// Whether each source of an operation may be f32 or f16.
pub(super) fn is_mixed(op: Op) -> bool {
    matches!(op, Op::VFmaMixF32 | Op::VFmaMixloF16 | Op::VFmaMixhiF16)
}

/// Whether an operation looks at the bits of a float and not at its value.
pub(super) fn tests_class(op: Op) -> bool {
    use Op::{
        VCmpClassF16, VCmpClassF32, VCmpClassF64, VCmpxClassF16, VCmpxClassF32, VCmpxClassF64,
    };
    matches!(
        op,
        VCmpClassF16 | VCmpClassF32 | VCmpClassF64 | VCmpxClassF16 | VCmpxClassF32 | VCmpxClassF64
    )
}

/// Whether a type is two 16-bit or two f32 values.
pub(super) fn is_packed(ty: Ty) -> bool {
    matches!(ty, Ty::PkI16 | Ty::PkF16 | Ty::PkBf16 | Ty::PkF32)
}

fn is_float(ty: Ty) -> bool {
    matches!(ty, Ty::F16 | Ty::Bf16 | Ty::F32 | Ty::F64 | Ty::PkF16 | Ty::PkBf16 | Ty::PkF32)
}

fn accumulates(op: Op) -> bool {
    use Op::{
        VCvtPkaccumU8F32, VDot2cF32Bf16, VDot2cF32F16, VDot2cI32I16, VDot4cI32I8, VDot8cI32I4,
        VFmacF32, VFmacF64, VMacF16, VPkFmacF16,
    };
    matches!(
        op,
        VCvtPkaccumU8F32
            | VDot2cF32Bf16
            | VDot2cF32F16
            | VDot2cI32I16
            | VDot4cI32I8
            | VDot8cI32I4
            | VFmacF32
            | VFmacF64
            | VMacF16
            | VPkFmacF16
    )
}

fn destination(inst: &Inst) -> Dest {
    let info = inst.op.info();
    match (info.dst, written_part(inst)) {
        (Ty::Mask, _) if info.name.starts_with("v_cmpx") => Dest::MaskExec,
        (Ty::Mask, _) => Dest::Mask,
        (Ty::B64 | Ty::F64 | Ty::PkF32, _) => Dest::Wide,
        (_, Part::Byte(n)) => Dest::Byte(n),
        (_, Part::High) => Dest::High,
        (_, Part::Low) => Dest::Low,
        (_, Part::Whole) => Dest::Full,
    }
}
