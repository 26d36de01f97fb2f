//! Which registers an instruction reads and writes, implicit ones included.
//!
//! Goes in: a decoded instruction. Comes out: register ranges for dependency tracking. A write
//! that keeps part of the old value (sub-dword results, lanes switched off by DPP) also reads it;
//! the lanes that EXEC switches off are not counted as such.

use super::class::memory_op;
use super::{Enc, Inst, MemOp, Op, Operand, Part, SdwaSel, Ty, reg, source_types, written_part};

/// A register file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// Architected vector registers.
    Vgpr,
    /// Accumulation vector registers.
    Agpr,
    /// Scalar registers by hardware number, with VCC, M0 and EXEC (see [`reg`]).
    Sgpr,
    /// The scalar condition code, number 0.
    Scc,
}

/// A run of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegRange {
    /// File.
    pub file: File,
    /// First register.
    pub first: u16,
    /// Number of registers.
    pub count: u16,
}

/// What an instruction reads and writes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Regs {
    /// Read registers.
    pub reads: Vec<RegRange>,
    /// Written registers.
    pub writes: Vec<RegRange>,
}

/// SCC.
const SCC: RegRange = RegRange { file: File::Scc, first: 0, count: 1 };
/// VCC.
const VCC: RegRange = RegRange { file: File::Sgpr, first: reg::VCC, count: 2 };
/// EXEC.
const EXEC: RegRange = RegRange { file: File::Sgpr, first: reg::EXEC, count: 2 };
/// M0.
const M0: RegRange = RegRange { file: File::Sgpr, first: reg::M0, count: 1 };

/// Registers that `inst` reads and writes.
pub fn regs(inst: &Inst) -> Regs {
    let mut regs = Regs::default();
    explicit(inst, &mut regs);
    implicit(inst, &mut regs);
    regs
}

/// The register range of an operand of a type.
fn range(operand: Operand, ty: Ty) -> Option<RegRange> {
    let (file, first) = match operand {
        Operand::Vgpr(n) => (File::Vgpr, n),
        Operand::Agpr(n) => (File::Agpr, n),
        Operand::Sgpr(n) => (File::Sgpr, n),
        Operand::Special(251) => return Some(VCC),
        Operand::Special(252) => return Some(EXEC),
        Operand::Special(253) => return Some(SCC),
        _ => return None,
    };
    let count = u16::from(ty.dwords());
    (count > 0).then_some(RegRange { file, first, count })
}

fn explicit(inst: &Inst, regs: &mut Regs) {
    let info = inst.op.info();
    for (&operand, ty) in inst.src.iter().zip(source_types(inst)) {
        regs.reads.extend(range(operand, ty));
    }
    if let Some(scale) = inst.scale {
        regs.reads.extend(scale.src.iter().filter_map(|&s| range(s, Ty::B32)));
    }
    regs.writes.extend(range(inst.sdst, info.sdst));
    let Some(dst) = range(inst.dst, info.dst) else {
        return;
    };
    let (reads, writes) = dst_use(inst);
    if reads {
        regs.reads.push(dst);
    }
    if writes {
        regs.writes.push(dst);
    }
}

/// Whether the destination operand is read and whether it is written.
fn dst_use(inst: &Inst) -> (bool, bool) {
    match (inst.enc, memory_op(inst)) {
        (Enc::Mubuf | Enc::Mtbuf | Enc::Smem, Some(MemOp::Store)) => (true, false),
        (Enc::Mubuf | Enc::Smem, Some(MemOp::Atomic)) => (true, inst.mods.sc0),
        (Enc::Sopk, _) => match inst.op {
            op if op.info().name.starts_with("s_cmpk_") => (true, false),
            Op::SSetregB32 | Op::SCbranchIFork => (true, false),
            Op::SAddkI32 | Op::SMulkI32 | Op::SCmovkI32 => (true, true),
            _ => (false, true),
        },
        _ => (ACCUMULATES.contains(&inst.op) || keeps_part(inst), true),
    }
}

/// Operations whose destination is also a source.
static ACCUMULATES: &[Op] = &[
    Op::VFmacF32,
    Op::VFmacF64,
    Op::VMacF16,
    Op::VPkFmacF16,
    Op::VDot2cF32F16,
    Op::VDot2cF32Bf16,
    Op::VDot2cI32I16,
    Op::VDot4cI32I8,
    Op::VDot8cI32I4,
    Op::VSwapB32,
    Op::VPermlane16SwapB32,
    Op::VPermlane32SwapB32,
    Op::VWritelaneB32,
    Op::VCvtPkaccumU8F32,
    Op::SCmovB32,
    Op::SCmovB64,
    Op::SBitset0B32,
    Op::SBitset0B64,
    Op::SBitset1B32,
    Op::SBitset1B64,
];

/// Whether part of the old destination survives.
fn keeps_part(inst: &Inst) -> bool {
    let info = inst.op.info();
    if let Some(sdwa) = inst.mods.sdwa {
        return sdwa.dst_unused == 2 && sdwa.dst_sel != SdwaSel::Dword;
    }
    if let Some(dpp) = inst.mods.dpp
        && !(dpp.bound_ctrl && dpp.row_mask == 15 && dpp.bank_mask == 15)
    {
        return true;
    }
    match inst.enc {
        Enc::Vop1 | Enc::Vop2 | Enc::Vopc | Enc::Vop3 | Enc::Vop3sd | Enc::Vop3p => {
            written_part(inst) != Part::Whole
        }
        Enc::Mai => info.name.starts_with("v_smfmac"),
        Enc::Ds | Enc::Flat | Enc::Global | Enc::Scratch | Enc::Mubuf | Enc::Mtbuf => {
            info.name.contains("_d16") && info.dst.dwords() == 1
        }
        _ => false,
    }
}

/// Whether vector registers may be others than those that instructions name from this one on: it may
/// switch on relative indexing.
pub fn may_index_registers(inst: &Inst) -> bool {
    /// Bit of MODE that does so.
    const GPR_IDX_EN: u32 = 27;
    match inst.op {
        Op::SSetGprIdxOn | Op::SSetGprIdxMode | Op::SSetGprIdxIdx => true,
        Op::SSetregB32 | Op::SSetregImm32B32 => {
            // Bits 10:6 are the first bit of the field, bits 15:11 its size less one.
            let (first, size) = (inst.imm as u32 >> 6 & 31, (inst.imm as u32 >> 11 & 31) + 1);
            (first..first + size).contains(&GPR_IDX_EN)
        }
        _ => false,
    }
}

fn implicit(inst: &Inst, regs: &mut Regs) {
    let (op, name) = (inst.op, inst.op.info().name);
    if name.starts_with("v_") || memory_op(inst).is_some_and(|_| inst.enc != Enc::Smem) {
        regs.reads.push(EXEC);
    }
    if name.starts_with("v_cmpx_") {
        regs.writes.push(EXEC);
    }
    if name.contains("_saveexec_") || name.contains("_wrexec_") {
        regs.reads.push(EXEC);
        regs.writes.push(EXEC);
    }
    match op {
        Op::VDivFmasF32 | Op::VDivFmasF64 | Op::SCbranchVccz | Op::SCbranchVccnz => {
            regs.reads.push(VCC);
        }
        Op::SCbranchExecz | Op::SCbranchExecnz => regs.reads.push(EXEC),
        Op::VSwapB32 | Op::VPermlane16SwapB32 | Op::VPermlane32SwapB32 => {
            regs.writes.extend(range(inst.src[0], Ty::B32));
        }
        _ => {}
    }
    if READS_SCC.contains(&op) {
        regs.reads.push(SCC);
    }
    if writes_scc(op) {
        regs.writes.push(SCC);
    }
    if inst.mods.lds || inst.mods.gds || READS_M0.contains(&op) {
        regs.reads.push(M0);
    }
}

/// Operations that read SCC.
static READS_SCC: &[Op] = &[
    Op::SCmovB32,
    Op::SCmovB64,
    Op::SCmovkI32,
    Op::SCselectB32,
    Op::SCselectB64,
    Op::SAddcU32,
    Op::SSubbU32,
    Op::SCbranchScc0,
    Op::SCbranchScc1,
];

/// Operations that read M0 whatever their modifiers.
static READS_M0: &[Op] = &[
    Op::SMovrelsB32,
    Op::SMovrelsB64,
    Op::SMovreldB32,
    Op::SMovreldB64,
    Op::SSendmsg,
    Op::SSendmsghalt,
    Op::DsReadAddtidB32,
    Op::DsWriteAddtidB32,
    Op::DsAppend,
    Op::DsConsume,
];

/// Whether an operation sets SCC: every scalar comparison, and the arithmetic whose names start
/// as listed.
fn writes_scc(op: Op) -> bool {
    let name = op.info().name;
    WRITES_SCC.iter().any(|p| name.starts_with(p))
}

/// Name prefixes of the scalar operations that set SCC.
static WRITES_SCC: &[&str] = &[
    "s_not_",
    "s_wqm_",
    "s_bcnt",
    "s_and_",
    "s_or_",
    "s_xor_",
    "s_andn",
    "s_orn",
    "s_nand_",
    "s_nor_",
    "s_xnor_",
    "s_quadmask_",
    "s_abs",
    "s_add",
    "s_sub",
    "s_min_",
    "s_max_",
    "s_lsh",
    "s_ashr_",
    "s_bfe_",
    "s_cmp_",
    "s_cmpk_",
    "s_bitcmp",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Arch, decode, op};

    fn of(words: &[u32]) -> Regs {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        regs(&decode(&bytes, Arch::Gfx950).unwrap())
    }

    fn vgprs(first: u16, count: u16) -> RegRange {
        RegRange { file: File::Vgpr, first, count }
    }

    fn agprs(first: u16, count: u16) -> RegRange {
        RegRange { file: File::Agpr, first, count }
    }

    fn sgprs(first: u16, count: u16) -> RegRange {
        RegRange { file: File::Sgpr, first, count }
    }

    #[test]
    fn f8f6f4_operands_are_as_wide_as_their_formats() {
        // v_mfma_f32_16x16x128_f8f6f4 a[0:3], v[4:7], v[16:21], a[8:11] cbsz:4 blgp:2
        let got = of(&[0xd3ad_8400, 0x4422_2104]);
        assert_eq!(got.reads, [vgprs(4, 4), vgprs(16, 6), agprs(8, 4), EXEC]);
        assert_eq!(got.writes, [agprs(0, 4)]);
    }

    #[test]
    fn a_scaled_matrix_operation_reads_its_scales() {
        // v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[16:23], v[8:11], v40, v41
        let got = of(&[0xd3ac_0000, 0x0002_5328, 0xd3ad_0800, 0x0422_2104]);
        assert_eq!(
            got.reads,
            [vgprs(4, 8), vgprs(16, 8), vgprs(8, 4), vgprs(40, 1), vgprs(41, 1), EXEC]
        );
    }

    #[test]
    fn stores_read_their_data_and_loads_write_it() {
        // global_store_dwordx4 v2, v[4:7], s[6:7]
        let store = of(&[0xdc7c_8000, 0x0006_0402]);
        assert_eq!(store.reads, [vgprs(2, 1), vgprs(4, 4), sgprs(6, 2), EXEC]);
        assert_eq!(store.writes, []);
        // buffer_load_dwordx4 v[4:7], v2, s[8:11], s3 offen
        let load = of(&[0xe05c_1000, 0x0302_0402]);
        assert_eq!(load.reads, [vgprs(2, 1), sgprs(8, 4), sgprs(3, 1), EXEC]);
        assert_eq!(load.writes, [vgprs(4, 4)]);
        // buffer_store_dwordx4 v[4:7], v2, s[8:11], s3 offen
        let store = of(&[0xe07c_1000, 0x0302_0402]);
        assert_eq!(store.reads, [vgprs(2, 1), sgprs(8, 4), sgprs(3, 1), vgprs(4, 4), EXEC]);
        assert_eq!(store.writes, []);
    }

    #[test]
    fn carries_go_through_vcc_and_scc() {
        // v_addc_co_u32_e32 v1, vcc, v2, v3, vcc
        let got = of(&[0x3802_0702]);
        assert_eq!(got.reads, [vgprs(2, 1), vgprs(3, 1), VCC, EXEC]);
        assert_eq!(got.writes, [VCC, vgprs(1, 1)]);
        // s_addc_u32 s4, s2, s6
        let got = of(&[0x8204_0602]);
        assert_eq!(got.reads, [sgprs(2, 1), sgprs(6, 1), SCC]);
        assert_eq!(got.writes, [sgprs(4, 1), SCC]);
    }

    #[test]
    fn fused_multiply_accumulate_reads_its_destination() {
        // v_fmac_f32_e32 v2, v4, v6
        let got = of(&[0x7604_0d04]);
        assert_eq!(got.reads, [vgprs(4, 1), vgprs(6, 1), vgprs(2, 1), EXEC]);
    }

    #[test]
    fn exactly_the_documented_operations_set_scc() {
        // CDNA3 ISA document, SOP1, SOP2, SOPC and SOPK: the operations whose pseudocode sets SCC.
        let documented = "not_b32 not_b64 wqm_b32 wqm_b64 bcnt0_i32_b32 bcnt0_i32_b64 \
            bcnt1_i32_b32 bcnt1_i32_b64 and_saveexec_b64 or_saveexec_b64 xor_saveexec_b64 \
            andn2_saveexec_b64 orn2_saveexec_b64 nand_saveexec_b64 nor_saveexec_b64 \
            xnor_saveexec_b64 quadmask_b32 quadmask_b64 abs_i32 andn1_saveexec_b64 \
            orn1_saveexec_b64 andn1_wrexec_b64 andn2_wrexec_b64 add_u32 sub_u32 add_i32 sub_i32 \
            addc_u32 subb_u32 min_i32 min_u32 max_i32 max_u32 and_b32 and_b64 or_b32 or_b64 \
            xor_b32 xor_b64 andn2_b32 andn2_b64 orn2_b32 orn2_b64 nand_b32 nand_b64 nor_b32 \
            nor_b64 xnor_b32 xnor_b64 lshl_b32 lshl_b64 lshr_b32 lshr_b64 ashr_i32 ashr_i64 \
            bfe_u32 bfe_i32 bfe_u64 bfe_i64 absdiff_i32 lshl1_add_u32 lshl2_add_u32 \
            lshl3_add_u32 lshl4_add_u32 cmp_eq_i32 cmp_lg_i32 cmp_gt_i32 cmp_ge_i32 cmp_lt_i32 \
            cmp_le_i32 cmp_eq_u32 cmp_lg_u32 cmp_gt_u32 cmp_ge_u32 cmp_lt_u32 cmp_le_u32 \
            bitcmp0_b32 bitcmp1_b32 bitcmp0_b64 bitcmp1_b64 cmp_eq_u64 cmp_lg_u64 cmpk_eq_i32 \
            cmpk_lg_i32 cmpk_gt_i32 cmpk_ge_i32 cmpk_lt_i32 cmpk_le_i32 cmpk_eq_u32 cmpk_lg_u32 \
            cmpk_gt_u32 cmpk_ge_u32 cmpk_lt_u32 cmpk_le_u32 addk_i32";
        let mut documented: Vec<String> =
            documented.split_whitespace().map(|n| format!("s_{n}")).collect();
        let mut ours: Vec<&str> =
            op::ALL.iter().filter(|&&op| writes_scc(op)).map(|op| op.info().name).collect();
        documented.sort_unstable();
        ours.sort_unstable();
        assert_eq!(ours, documented);
    }
}
