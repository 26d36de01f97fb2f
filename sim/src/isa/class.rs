//! Static classes of instructions, as the issue logic of a compute unit distinguishes them.
//!
//! Goes in: a decoded instruction and the target. Comes out: which unit it needs and, for matrix
//! operations, for how long. Sources: AMD's matrix instruction calculator and CDNA3 ISA document,
//! LLVM's hazard recogniser for gfx950.

use std::sync::LazyLock;

use super::{Arch, Enc, Inst, Op, Ty, op};

/// What a memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemOp {
    /// Memory to registers.
    Load,
    /// Registers to memory.
    Store,
    /// Read-modify-write.
    Atomic,
    /// Global memory to LDS without registers.
    LoadToLds,
    /// Exchange between lanes through the LDS crossbar.
    Lane,
    /// Cache maintenance and other operations that move no data.
    Control,
}

/// The unit that an instruction occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Scalar ALU.
    Salu,
    /// Scalar memory.
    Smem(MemOp),
    /// Vector ALU at full rate.
    Valu,
    /// Transcendental: exp, log, rcp, rsq, sqrt, sin, cos.
    ValuTrans,
    /// Double precision.
    ValuF64,
    /// Packed single precision.
    ValuPkF32,
    /// 32-bit multiplication with a 32- or 64-bit result, and 64-bit integer operations.
    Valu64,
    /// Matrix unit, busy for 4 clocks a pass.
    Mfma {
        /// Passes.
        passes: u8,
        /// An f32 or f64 operation, which the vector ALU cannot overlap.
        is_f64_or_f32: bool,
    },
    /// LDS, and the lane exchanges that use its crossbar.
    Lds(MemOp),
    /// Vector memory: global, scratch and buffer.
    Vmem(MemOp),
    /// Flat memory: the address may point to LDS, scratch or global memory.
    Flat(MemOp),
    /// Jumps, taken or not, and the end of the program.
    Branch,
    /// Wait for outstanding memory operations.
    Waitcnt,
    /// Workgroup barrier.
    Barrier,
    /// Idle for this many issue slots of 4 clocks.
    Nop(u8),
    /// Handled by the sequencer itself: sleep, priority, messages, cache invalidation.
    Internal,
}

/// Class of an instruction on `arch`.
pub fn class(inst: &Inst, arch: Arch) -> Class {
    match inst.enc {
        Enc::Sop1 | Enc::Sop2 | Enc::Sopc | Enc::Sopk | Enc::Sopp => scalar_class(inst),
        Enc::Smem => Class::Smem(OF_OPS[inst.op as usize].smem),
        Enc::Mai if matches!(inst.op, Op::VAccvgprReadB32 | Op::VAccvgprWriteB32) => Class::Valu,
        Enc::Mai | Enc::MaiScale => matrix_class(inst, arch),
        Enc::Ds => Class::Lds(OF_OPS[inst.op as usize].lds),
        Enc::Flat => Class::Flat(vmem_op(inst)),
        Enc::Global | Enc::Scratch | Enc::Mubuf | Enc::Mtbuf => Class::Vmem(vmem_op(inst)),
        _ => OF_OPS[inst.op as usize].vector,
    }
}

/// What the mnemonics say, worked out once.
struct OfOp {
    is_branch: bool,
    /// Of a scalar memory operation.
    smem: MemOp,
    /// Of an LDS operation.
    lds: MemOp,
    /// Of a vector memory operation whose data does not go to LDS.
    vmem: MemOp,
    /// Of a vector operation.
    vector: Class,
}

static OF_OPS: LazyLock<Vec<OfOp>> = LazyLock::new(|| {
    let of_op = |&op: &Op| OfOp {
        is_branch: BRANCHES.contains(&op),
        smem: smem_op(op),
        lds: lds_op(op),
        vmem: vector_memory_op(op),
        vector: vector_class(op),
    };
    op::ALL.iter().map(of_op).collect()
});

fn scalar_class(inst: &Inst) -> Class {
    match inst.op {
        // The 4-bit count is of slots after the first.
        Op::SNop => Class::Nop((inst.imm & 15) as u8 + 1),
        Op::SWaitcnt => Class::Waitcnt,
        Op::SBarrier => Class::Barrier,
        op if OF_OPS[op as usize].is_branch => Class::Branch,
        _ if inst.enc == Enc::Sopp => Class::Internal,
        _ => Class::Salu,
    }
}

/// Operations that change the program counter or end the program.
static BRANCHES: &[Op] = &[
    Op::SBranch,
    Op::SCbranchScc0,
    Op::SCbranchScc1,
    Op::SCbranchVccz,
    Op::SCbranchVccnz,
    Op::SCbranchExecz,
    Op::SCbranchExecnz,
    Op::SCbranchCdbgsys,
    Op::SCbranchCdbguser,
    Op::SCbranchCdbgsysOrUser,
    Op::SCbranchCdbgsysAndUser,
    Op::SCbranchGFork,
    Op::SCbranchIFork,
    Op::SCbranchJoin,
    Op::SSetpcB64,
    Op::SSwappcB64,
    Op::SRfeB64,
    Op::SRfeRestoreB64,
    Op::SCallB64,
    Op::SEndpgm,
    Op::SEndpgmSaved,
    Op::SEndpgmOrderedPsDone,
    Op::STrap,
];

/// What a memory instruction does with memory; `None` for all others.
pub(super) fn memory_op(inst: &Inst) -> Option<MemOp> {
    match inst.enc {
        Enc::Smem => Some(OF_OPS[inst.op as usize].smem),
        Enc::Ds => Some(OF_OPS[inst.op as usize].lds),
        Enc::Flat | Enc::Global | Enc::Scratch | Enc::Mubuf | Enc::Mtbuf => Some(vmem_op(inst)),
        _ => None,
    }
}

fn smem_op(op: Op) -> MemOp {
    let name = op.info().name;
    if name.contains("_load_") || matches!(op, Op::SMemtime | Op::SMemrealtime) {
        MemOp::Load
    } else if name.contains("_store_") {
        MemOp::Store
    } else if name.contains("_atomic_") {
        MemOp::Atomic
    } else {
        MemOp::Control
    }
}

fn lds_op(op: Op) -> MemOp {
    let name = op.info().name;
    match op {
        Op::DsSwizzleB32 | Op::DsPermuteB32 | Op::DsBpermuteB32 => MemOp::Lane,
        Op::DsNop => MemOp::Control,
        _ if name.starts_with("ds_gws") => MemOp::Control,
        _ if name.starts_with("ds_read") => MemOp::Load,
        _ if name.starts_with("ds_write") => MemOp::Store,
        _ => MemOp::Atomic,
    }
}

fn vmem_op(inst: &Inst) -> MemOp {
    if inst.mods.lds { MemOp::LoadToLds } else { OF_OPS[inst.op as usize].vmem }
}

fn vector_memory_op(op: Op) -> MemOp {
    let name = op.info().name;
    if name.contains("_load_") {
        MemOp::Load
    } else if name.contains("_store_") {
        MemOp::Store
    } else if name.contains("_atomic_") {
        MemOp::Atomic
    } else {
        MemOp::Control
    }
}

fn vector_class(op: Op) -> Class {
    let info = op.info();
    let name = info.name;
    let is_f64 = |ty: &Ty| *ty == Ty::F64;
    if TRANSCENDENTAL.iter().any(|p| name.starts_with(p)) {
        Class::ValuTrans
    } else if is_f64(&info.dst) || info.src.iter().any(is_f64) {
        Class::ValuF64
    } else if matches!(op, Op::VPkFmaF32 | Op::VPkMulF32 | Op::VPkAddF32) {
        Class::ValuPkF32
    } else if WIDE_INTEGER.contains(&op) {
        Class::Valu64
    } else {
        Class::Valu
    }
}

/// Names of the transcendental operations, without type.
static TRANSCENDENTAL: &[&str] =
    &["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];

/// Integer operations on or towards 64 bits.
static WIDE_INTEGER: &[Op] = &[
    Op::VMulLoU32,
    Op::VMulHiU32,
    Op::VMulHiI32,
    Op::VMadU64U32,
    Op::VMadI64I32,
    Op::VLshlAddU64,
    Op::VLshlrevB64,
    Op::VLshrrevB64,
    Op::VAshrrevI64,
];

fn matrix_class(inst: &Inst, arch: Arch) -> Class {
    let name = inst.op.info().name;
    Class::Mfma {
        passes: mfma_passes(inst, arch),
        is_f64_or_f32: name.ends_with("_f64")
            || (name.ends_with("_f32") && name.contains("_mfma_")),
    }
}

/// Passes of a matrix operation; the matrix unit is busy for 4 clocks a pass.
fn mfma_passes(inst: &Inst, arch: Arch) -> u8 {
    let op = inst.op;
    if op.info().name.ends_with("f8f6f4") {
        // An 8-bit operand halves the rate. Formats 0 and 1 are the 8-bit ones.
        let wide = inst.mods.cbsz < 2 || inst.mods.blgp < 2;
        let narrow = if op.info().dst == Ty::W16 { 8 } else { 4 };
        return if wide { 2 * narrow } else { narrow };
    }
    if op == Op::VMfmaF6416x16x4F64 && arch == Arch::Gfx950 {
        return 16;
    }
    // Both tiles of a size take equally long whatever the type, except f32, which takes twice as
    // long for a single block.
    match (op.info().dst, op) {
        (_, Op::VMfmaF3232x32x2F32) => 16,
        (_, Op::VMfmaF3216x16x4F32) => 8,
        (_, op) if FOUR_BY_FOUR.contains(&op) => 2,
        (Ty::W32, _) => 16,
        (Ty::W16 | Ty::W8, _) => 8,
        _ => 4,
    }
}

/// Sixteen blocks of 4x4.
static FOUR_BY_FOUR: &[Op] = &[
    Op::VMfmaF324x4x116bF32,
    Op::VMfmaF324x4x416bF16,
    Op::VMfmaF324x4x416bBf16,
    Op::VMfmaI324x4x416bI8,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{decode, op};

    /// Clocks of a matrix operation with the given formats, from its passes.
    fn clocks(name: &str, formats: (u8, u8), arch: Arch) -> Option<u32> {
        let &(opcode, _) = op::VOP3P.iter().find(|e| e.1.info().name == name).unwrap();
        let w = 0xd380_0000 | u32::from(opcode) << 16 | u32::from(formats.0) << 8;
        let w1 = 0x0402_0100 | u32::from(formats.1) << 29;
        let bytes: Vec<u8> = [w, w1].iter().flat_map(|w| w.to_le_bytes()).collect();
        let inst = decode(&bytes, arch).ok()?;
        match class(&inst, arch) {
            Class::Mfma { passes, .. } => Some(4 * u32::from(passes)),
            other => panic!("{name} is {other:?}"),
        }
    }

    #[test]
    fn matrix_operations_take_as_long_as_published() {
        // AMD's matrix calculator for gfx942, LLVM's hazard recogniser for gfx950; 0: not there.
        let table: &[(&str, u32, u32)] = &[
            ("v_mfma_f32_32x32x8_f16", 32, 32),
            ("v_mfma_f32_32x32x8_bf16", 32, 32),
            ("v_mfma_f32_16x16x16_f16", 16, 16),
            ("v_mfma_f32_16x16x16_bf16", 16, 16),
            ("v_mfma_f32_32x32x16_f16", 0, 32),
            ("v_mfma_f32_32x32x16_bf16", 0, 32),
            ("v_mfma_f32_16x16x32_f16", 0, 16),
            ("v_mfma_f32_16x16x32_bf16", 0, 16),
            ("v_mfma_f32_32x32x4_2b_f16", 64, 64),
            ("v_mfma_f32_32x32x4_2b_bf16", 64, 64),
            ("v_mfma_f32_16x16x4_4b_f16", 32, 32),
            ("v_mfma_f32_16x16x4_4b_bf16", 32, 32),
            ("v_mfma_f32_4x4x4_16b_f16", 8, 8),
            ("v_mfma_f32_4x4x4_16b_bf16", 8, 8),
            ("v_mfma_f32_32x32x16_fp8_fp8", 32, 32),
            ("v_mfma_f32_32x32x16_bf8_fp8", 32, 32),
            ("v_mfma_f32_16x16x32_fp8_fp8", 16, 16),
            ("v_mfma_f32_16x16x32_fp8_bf8", 16, 16),
            ("v_mfma_i32_32x32x16_i8", 32, 32),
            ("v_mfma_i32_16x16x32_i8", 16, 16),
            ("v_mfma_i32_32x32x32_i8", 0, 32),
            ("v_mfma_i32_16x16x64_i8", 0, 16),
            ("v_mfma_i32_32x32x4_2b_i8", 64, 64),
            ("v_mfma_i32_16x16x4_4b_i8", 32, 32),
            ("v_mfma_i32_4x4x4_16b_i8", 8, 8),
            ("v_mfma_f32_32x32x2_f32", 64, 64),
            ("v_mfma_f32_16x16x4_f32", 32, 32),
            ("v_mfma_f32_32x32x1_2b_f32", 64, 64),
            ("v_mfma_f32_16x16x1_4b_f32", 32, 32),
            ("v_mfma_f32_4x4x1_16b_f32", 8, 8),
            ("v_mfma_f32_32x32x4_xf32", 32, 0),
            ("v_mfma_f32_16x16x8_xf32", 16, 0),
            ("v_mfma_f64_16x16x4_f64", 32, 64),
            ("v_mfma_f64_4x4x4_4b_f64", 16, 16),
            ("v_smfmac_f32_16x16x32_f16", 16, 16),
            ("v_smfmac_f32_32x32x16_f16", 32, 32),
            ("v_smfmac_f32_16x16x64_fp8_fp8", 16, 16),
            ("v_smfmac_f32_32x32x32_fp8_fp8", 32, 32),
            ("v_smfmac_f32_16x16x128_fp8_fp8", 0, 16),
            ("v_smfmac_f32_32x32x64_fp8_fp8", 0, 32),
        ];
        for &(name, gfx942, gfx950) in table {
            assert_eq!(clocks(name, (0, 0), Arch::Gfx942).unwrap_or(0), gfx942, "{name} gfx942");
            assert_eq!(clocks(name, (0, 0), Arch::Gfx950).unwrap_or(0), gfx950, "{name} gfx950");
        }
    }

    #[test]
    fn f8f6f4_runs_at_half_rate_when_either_operand_has_8_bits() {
        for (a, b, small, large) in [(0, 0, 32, 64), (4, 1, 32, 64), (0, 2, 32, 64), (4, 4, 16, 32)]
        {
            let formats = (a, b);
            let arch = Arch::Gfx950;
            assert_eq!(clocks("v_mfma_f32_16x16x128_f8f6f4", formats, arch), Some(small));
            assert_eq!(clocks("v_mfma_f32_32x32x64_f8f6f4", formats, arch), Some(large));
        }
    }

    #[test]
    fn instructions_go_to_the_unit_that_executes_them() {
        let cases: &[(&[u32], Class)] = &[
            // s_nop 4: five slots
            (&[0xbf80_0004], Class::Nop(5)),
            // s_waitcnt 0
            (&[0xbf8c_0000], Class::Waitcnt),
            // s_barrier
            (&[0xbf8a_0000], Class::Barrier),
            // s_cbranch_scc0
            (&[0xbf84_0001], Class::Branch),
            // s_endpgm
            (&[0xbf81_0000], Class::Branch),
            // s_setprio 1
            (&[0xbf8f_0001], Class::Internal),
            // s_load_dwordx2 s[4:5], s[8:9], 0x10
            (&[0xc006_0104, 0x10], Class::Smem(MemOp::Load)),
            // v_exp_f32_e32 v2, v4
            (&[0x7e04_4104], Class::ValuTrans),
            // v_add_f64 v[2:3], v[4:5], v[6:7]
            (&[0xd280_0002, 0x0002_0d04], Class::ValuF64),
            // v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]
            (&[0xd3b0_4002, 0x1c22_0d04], Class::ValuPkF32),
            // v_mad_u64_u32 v[2:3], s[4:5], v4, v6, v[8:9]
            (&[0xd1e8_0402, 0x0422_0d04], Class::Valu64),
            // ds_read_b128 v[12:15], v2
            (&[0xd9fe_0000, 0x0c00_0002], Class::Lds(MemOp::Load)),
            // ds_bpermute_b32 v12, v2, v4
            (&[0xd87e_0000, 0x0c00_0402], Class::Lds(MemOp::Lane)),
            // global_load_lds_dwordx4 v[2:3], off
            (&[0xddf4_8000, 0x007f_0002], Class::Vmem(MemOp::LoadToLds)),
            // flat_load_dword v12, v[2:3]
            (&[0xdc50_0000, 0x0c00_0002], Class::Flat(MemOp::Load)),
        ];
        for &(words, expected) in cases {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let inst = decode(&bytes, Arch::Gfx950).unwrap();
            assert_eq!(class(&inst, Arch::Gfx950), expected, "{}", inst.op.info().name);
        }
    }
}
