//! Every operation of CDNA3 and CDNA4, with its operand types, and the opcode tables of each
//! encoding.
//!
//! Opcode numbers and operand widths are those of AMD's CDNA3 and CDNA4 ISA documents and
//! machine-readable ISA description. The names are LLVM's, without the `_e32`/`_e64`/`_dpp`/`_sdwa`
//! suffix that names an encoding.

/// Type of one operand: its width and how an inline constant is widened to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The operation has no such operand.
    None,
    /// Eight bits in the low byte of a register.
    I8,
    /// 16-bit integer or untyped.
    I16,
    /// IEEE half.
    F16,
    /// bfloat16.
    Bf16,
    /// 32-bit integer, untyped, or packed smaller integers.
    B32,
    /// IEEE single.
    F32,
    /// Two 16-bit integers.
    PkI16,
    /// Two IEEE halves.
    PkF16,
    /// Two bfloat16.
    PkBf16,
    /// 64-bit integer or untyped.
    B64,
    /// IEEE double.
    F64,
    /// Two IEEE singles.
    PkF32,
    /// A lane mask (SGPR pair).
    Mask,
    /// 0 dwords.
    W0,
    /// 3 dwords.
    W3,
    /// 4 dwords.
    W4,
    /// 6 dwords.
    W6,
    /// 8 dwords.
    W8,
    /// 16 dwords.
    W16,
    /// 32 dwords.
    W32,
}

impl Ty {
    /// Width in 32-bit registers (sub-dword types occupy one).
    pub const fn dwords(self) -> u8 {
        match self {
            Ty::None => 0,
            Ty::I8 | Ty::I16 | Ty::F16 | Ty::Bf16 => 1,
            Ty::B32 | Ty::F32 | Ty::PkI16 | Ty::PkF16 | Ty::PkBf16 => 1,
            Ty::B64 | Ty::F64 | Ty::PkF32 | Ty::Mask => 2,
            Ty::W0 => 0,
            Ty::W3 => 3,
            Ty::W4 => 4,
            Ty::W6 => 6,
            Ty::W8 => 8,
            Ty::W16 => 16,
            Ty::W32 => 32,
        }
    }
}

/// Static facts about an operation.
#[derive(Debug)]
pub struct OpInfo {
    /// LLVM mnemonic without encoding suffix.
    pub name: &'static str,
    /// Destination (`vdst`, `sdst`, or the data operand of a buffer or scalar memory operation).
    pub dst: Ty,
    /// Second, scalar destination (carry out of VOP3B operations).
    pub sdst: Ty,
    /// Sources in encoding order; see [`crate::isa::Inst::src`].
    pub src: &'static [Ty],
}

macro_rules! operations {
    ($($op:ident $name:literal $dst:ident $sdst:ident [$($src:ident)*];)*) => {
        /// An operation, independent of the encoding that carries it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Op { $($op,)* }

        static INFO: &[OpInfo] = &[
            $(OpInfo { name: $name, dst: Ty::$dst, sdst: Ty::$sdst, src: &[$(Ty::$src),*] },)*
        ];

        /// All operations, in table order.
        pub static ALL: &[Op] = &[$(Op::$op,)*];
    };
}

impl Op {
    /// Name and operand types.
    pub fn info(self) -> &'static OpInfo {
        &INFO[self as usize]
    }
}

operations! {
    Unknown ".long" None None [];
    SMovB32 "s_mov_b32" B32 None [B32];
    SMovB64 "s_mov_b64" B64 None [B64];
    SCmovB32 "s_cmov_b32" B32 None [B32];
    SCmovB64 "s_cmov_b64" B64 None [B64];
    SNotB32 "s_not_b32" B32 None [B32];
    SNotB64 "s_not_b64" B64 None [B64];
    SWqmB32 "s_wqm_b32" B32 None [B32];
    SWqmB64 "s_wqm_b64" B64 None [B64];
    SBrevB32 "s_brev_b32" B32 None [B32];
    SBrevB64 "s_brev_b64" B64 None [B64];
    SBcnt0I32B32 "s_bcnt0_i32_b32" B32 None [B32];
    SBcnt0I32B64 "s_bcnt0_i32_b64" B32 None [B64];
    SBcnt1I32B32 "s_bcnt1_i32_b32" B32 None [B32];
    SBcnt1I32B64 "s_bcnt1_i32_b64" B32 None [B64];
    SFf0I32B32 "s_ff0_i32_b32" B32 None [B32];
    SFf0I32B64 "s_ff0_i32_b64" B32 None [B64];
    SFf1I32B32 "s_ff1_i32_b32" B32 None [B32];
    SFf1I32B64 "s_ff1_i32_b64" B32 None [B64];
    SFlbitI32B32 "s_flbit_i32_b32" B32 None [B32];
    SFlbitI32B64 "s_flbit_i32_b64" B32 None [B64];
    SFlbitI32 "s_flbit_i32" B32 None [B32];
    SFlbitI32I64 "s_flbit_i32_i64" B32 None [B64];
    SSextI32I8 "s_sext_i32_i8" B32 None [I8];
    SSextI32I16 "s_sext_i32_i16" B32 None [I16];
    SBitset0B32 "s_bitset0_b32" B32 None [B32];
    SBitset0B64 "s_bitset0_b64" B64 None [B32];
    SBitset1B32 "s_bitset1_b32" B32 None [B32];
    SBitset1B64 "s_bitset1_b64" B64 None [B32];
    SGetpcB64 "s_getpc_b64" B64 None [];
    SSetpcB64 "s_setpc_b64" None None [B64];
    SSwappcB64 "s_swappc_b64" B64 None [B64];
    SRfeB64 "s_rfe_b64" None None [B64];
    SAndSaveexecB64 "s_and_saveexec_b64" B64 None [B64];
    SOrSaveexecB64 "s_or_saveexec_b64" B64 None [B64];
    SXorSaveexecB64 "s_xor_saveexec_b64" B64 None [B64];
    SAndn2SaveexecB64 "s_andn2_saveexec_b64" B64 None [B64];
    SOrn2SaveexecB64 "s_orn2_saveexec_b64" B64 None [B64];
    SNandSaveexecB64 "s_nand_saveexec_b64" B64 None [B64];
    SNorSaveexecB64 "s_nor_saveexec_b64" B64 None [B64];
    SXnorSaveexecB64 "s_xnor_saveexec_b64" B64 None [B64];
    SQuadmaskB32 "s_quadmask_b32" B32 None [B32];
    SQuadmaskB64 "s_quadmask_b64" B64 None [B64];
    SMovrelsB32 "s_movrels_b32" B32 None [B32];
    SMovrelsB64 "s_movrels_b64" B64 None [B64];
    SMovreldB32 "s_movreld_b32" B32 None [B32];
    SMovreldB64 "s_movreld_b64" B64 None [B64];
    SCbranchJoin "s_cbranch_join" None None [B32];
    SAbsI32 "s_abs_i32" B32 None [B32];
    SSetGprIdxIdx "s_set_gpr_idx_idx" None None [B32];
    SAndn1SaveexecB64 "s_andn1_saveexec_b64" B64 None [B64];
    SOrn1SaveexecB64 "s_orn1_saveexec_b64" B64 None [B64];
    SAndn1WrexecB64 "s_andn1_wrexec_b64" B64 None [B64];
    SAndn2WrexecB64 "s_andn2_wrexec_b64" B64 None [B64];
    SBitreplicateB64B32 "s_bitreplicate_b64_b32" B64 None [B32];
    SAddU32 "s_add_u32" B32 None [B32 B32];
    SSubU32 "s_sub_u32" B32 None [B32 B32];
    SAddI32 "s_add_i32" B32 None [B32 B32];
    SSubI32 "s_sub_i32" B32 None [B32 B32];
    SAddcU32 "s_addc_u32" B32 None [B32 B32];
    SSubbU32 "s_subb_u32" B32 None [B32 B32];
    SMinI32 "s_min_i32" B32 None [B32 B32];
    SMinU32 "s_min_u32" B32 None [B32 B32];
    SMaxI32 "s_max_i32" B32 None [B32 B32];
    SMaxU32 "s_max_u32" B32 None [B32 B32];
    SCselectB32 "s_cselect_b32" B32 None [B32 B32];
    SCselectB64 "s_cselect_b64" B64 None [B64 B64];
    SAndB32 "s_and_b32" B32 None [B32 B32];
    SAndB64 "s_and_b64" B64 None [B64 B64];
    SOrB32 "s_or_b32" B32 None [B32 B32];
    SOrB64 "s_or_b64" B64 None [B64 B64];
    SXorB32 "s_xor_b32" B32 None [B32 B32];
    SXorB64 "s_xor_b64" B64 None [B64 B64];
    SAndn2B32 "s_andn2_b32" B32 None [B32 B32];
    SAndn2B64 "s_andn2_b64" B64 None [B64 B64];
    SOrn2B32 "s_orn2_b32" B32 None [B32 B32];
    SOrn2B64 "s_orn2_b64" B64 None [B64 B64];
    SNandB32 "s_nand_b32" B32 None [B32 B32];
    SNandB64 "s_nand_b64" B64 None [B64 B64];
    SNorB32 "s_nor_b32" B32 None [B32 B32];
    SNorB64 "s_nor_b64" B64 None [B64 B64];
    SXnorB32 "s_xnor_b32" B32 None [B32 B32];
    SXnorB64 "s_xnor_b64" B64 None [B64 B64];
    SLshlB32 "s_lshl_b32" B32 None [B32 B32];
    SLshlB64 "s_lshl_b64" B64 None [B64 B32];
    SLshrB32 "s_lshr_b32" B32 None [B32 B32];
    SLshrB64 "s_lshr_b64" B64 None [B64 B32];
    SAshrI32 "s_ashr_i32" B32 None [B32 B32];
    SAshrI64 "s_ashr_i64" B64 None [B64 B32];
    SBfmB32 "s_bfm_b32" B32 None [B32 B32];
    SBfmB64 "s_bfm_b64" B64 None [B32 B32];
    SMulI32 "s_mul_i32" B32 None [B32 B32];
    SBfeU32 "s_bfe_u32" B32 None [B32 B32];
    SBfeI32 "s_bfe_i32" B32 None [B32 B32];
    SBfeU64 "s_bfe_u64" B64 None [B64 B32];
    SBfeI64 "s_bfe_i64" B64 None [B64 B32];
    SCbranchGFork "s_cbranch_g_fork" None None [B64 B64];
    SAbsdiffI32 "s_absdiff_i32" B32 None [B32 B32];
    SRfeRestoreB64 "s_rfe_restore_b64" None None [B64 B32];
    SMulHiU32 "s_mul_hi_u32" B32 None [B32 B32];
    SMulHiI32 "s_mul_hi_i32" B32 None [B32 B32];
    SLshl1AddU32 "s_lshl1_add_u32" B32 None [B32 B32];
    SLshl2AddU32 "s_lshl2_add_u32" B32 None [B32 B32];
    SLshl3AddU32 "s_lshl3_add_u32" B32 None [B32 B32];
    SLshl4AddU32 "s_lshl4_add_u32" B32 None [B32 B32];
    SPackLlB32B16 "s_pack_ll_b32_b16" B32 None [I16 I16];
    SPackLhB32B16 "s_pack_lh_b32_b16" B32 None [I16 B32];
    SPackHhB32B16 "s_pack_hh_b32_b16" B32 None [B32 B32];
    SCmpEqI32 "s_cmp_eq_i32" None None [B32 B32];
    SCmpLgI32 "s_cmp_lg_i32" None None [B32 B32];
    SCmpGtI32 "s_cmp_gt_i32" None None [B32 B32];
    SCmpGeI32 "s_cmp_ge_i32" None None [B32 B32];
    SCmpLtI32 "s_cmp_lt_i32" None None [B32 B32];
    SCmpLeI32 "s_cmp_le_i32" None None [B32 B32];
    SCmpEqU32 "s_cmp_eq_u32" None None [B32 B32];
    SCmpLgU32 "s_cmp_lg_u32" None None [B32 B32];
    SCmpGtU32 "s_cmp_gt_u32" None None [B32 B32];
    SCmpGeU32 "s_cmp_ge_u32" None None [B32 B32];
    SCmpLtU32 "s_cmp_lt_u32" None None [B32 B32];
    SCmpLeU32 "s_cmp_le_u32" None None [B32 B32];
    SBitcmp0B32 "s_bitcmp0_b32" None None [B32 B32];
    SBitcmp1B32 "s_bitcmp1_b32" None None [B32 B32];
    SBitcmp0B64 "s_bitcmp0_b64" None None [B64 B32];
    SBitcmp1B64 "s_bitcmp1_b64" None None [B64 B32];
    SSetvskip "s_setvskip" None None [B32 B32];
    SSetGprIdxOn "s_set_gpr_idx_on" None None [B32 B32];
    SCmpEqU64 "s_cmp_eq_u64" None None [B64 B64];
    SCmpLgU64 "s_cmp_lg_u64" None None [B64 B64];
    SMovkI32 "s_movk_i32" B32 None [];
    SCmovkI32 "s_cmovk_i32" B32 None [];
    SCmpkEqI32 "s_cmpk_eq_i32" B32 None [];
    SCmpkLgI32 "s_cmpk_lg_i32" B32 None [];
    SCmpkGtI32 "s_cmpk_gt_i32" B32 None [];
    SCmpkGeI32 "s_cmpk_ge_i32" B32 None [];
    SCmpkLtI32 "s_cmpk_lt_i32" B32 None [];
    SCmpkLeI32 "s_cmpk_le_i32" B32 None [];
    SCmpkEqU32 "s_cmpk_eq_u32" B32 None [];
    SCmpkLgU32 "s_cmpk_lg_u32" B32 None [];
    SCmpkGtU32 "s_cmpk_gt_u32" B32 None [];
    SCmpkGeU32 "s_cmpk_ge_u32" B32 None [];
    SCmpkLtU32 "s_cmpk_lt_u32" B32 None [];
    SCmpkLeU32 "s_cmpk_le_u32" B32 None [];
    SAddkI32 "s_addk_i32" B32 None [];
    SMulkI32 "s_mulk_i32" B32 None [];
    SCbranchIFork "s_cbranch_i_fork" B64 None [];
    SGetregB32 "s_getreg_b32" B32 None [];
    SSetregB32 "s_setreg_b32" B32 None [];
    SSetregImm32B32 "s_setreg_imm32_b32" None None [];
    SCallB64 "s_call_b64" B64 None [];
    SNop "s_nop" None None [];
    SEndpgm "s_endpgm" None None [];
    SBranch "s_branch" None None [];
    SWakeup "s_wakeup" None None [];
    SCbranchScc0 "s_cbranch_scc0" None None [];
    SCbranchScc1 "s_cbranch_scc1" None None [];
    SCbranchVccz "s_cbranch_vccz" None None [];
    SCbranchVccnz "s_cbranch_vccnz" None None [];
    SCbranchExecz "s_cbranch_execz" None None [];
    SCbranchExecnz "s_cbranch_execnz" None None [];
    SBarrier "s_barrier" None None [];
    SSetkill "s_setkill" None None [];
    SWaitcnt "s_waitcnt" None None [];
    SSethalt "s_sethalt" None None [];
    SSleep "s_sleep" None None [];
    SSetprio "s_setprio" None None [];
    SSendmsg "s_sendmsg" None None [];
    SSendmsghalt "s_sendmsghalt" None None [];
    STrap "s_trap" None None [];
    SIcacheInv "s_icache_inv" None None [];
    SIncperflevel "s_incperflevel" None None [];
    SDecperflevel "s_decperflevel" None None [];
    STtracedata "s_ttracedata" None None [];
    SCbranchCdbgsys "s_cbranch_cdbgsys" None None [];
    SCbranchCdbguser "s_cbranch_cdbguser" None None [];
    SCbranchCdbgsysOrUser "s_cbranch_cdbgsys_or_user" None None [];
    SCbranchCdbgsysAndUser "s_cbranch_cdbgsys_and_user" None None [];
    SEndpgmSaved "s_endpgm_saved" None None [];
    SSetGprIdxOff "s_set_gpr_idx_off" None None [];
    SSetGprIdxMode "s_set_gpr_idx_mode" None None [];
    SEndpgmOrderedPsDone "s_endpgm_ordered_ps_done" None None [];
    SLoadDword "s_load_dword" B32 None [B64 B32];
    SLoadDwordx2 "s_load_dwordx2" B64 None [B64 B32];
    SLoadDwordx4 "s_load_dwordx4" W4 None [B64 B32];
    SLoadDwordx8 "s_load_dwordx8" W8 None [B64 B32];
    SLoadDwordx16 "s_load_dwordx16" W16 None [B64 B32];
    SScratchLoadDword "s_scratch_load_dword" B32 None [B64 B32];
    SScratchLoadDwordx2 "s_scratch_load_dwordx2" B64 None [B64 B32];
    SScratchLoadDwordx4 "s_scratch_load_dwordx4" W4 None [B64 B32];
    SBufferLoadDword "s_buffer_load_dword" B32 None [W4 B32];
    SBufferLoadDwordx2 "s_buffer_load_dwordx2" B64 None [W4 B32];
    SBufferLoadDwordx4 "s_buffer_load_dwordx4" W4 None [W4 B32];
    SBufferLoadDwordx8 "s_buffer_load_dwordx8" W8 None [W4 B32];
    SBufferLoadDwordx16 "s_buffer_load_dwordx16" W16 None [W4 B32];
    SStoreDword "s_store_dword" B32 None [B64 B32];
    SStoreDwordx2 "s_store_dwordx2" B64 None [B64 B32];
    SStoreDwordx4 "s_store_dwordx4" W4 None [B64 B32];
    SScratchStoreDword "s_scratch_store_dword" B32 None [B64 B32];
    SScratchStoreDwordx2 "s_scratch_store_dwordx2" B64 None [B64 B32];
    SScratchStoreDwordx4 "s_scratch_store_dwordx4" W4 None [B64 B32];
    SBufferStoreDword "s_buffer_store_dword" B32 None [W4 B32];
    SBufferStoreDwordx2 "s_buffer_store_dwordx2" B64 None [W4 B32];
    SBufferStoreDwordx4 "s_buffer_store_dwordx4" W4 None [W4 B32];
    SDcacheInv "s_dcache_inv" None None [];
    SDcacheWb "s_dcache_wb" None None [];
    SDcacheInvVol "s_dcache_inv_vol" None None [];
    SDcacheWbVol "s_dcache_wb_vol" None None [];
    SMemtime "s_memtime" B64 None [];
    SMemrealtime "s_memrealtime" B64 None [];
    SAtcProbe "s_atc_probe" I8 None [B64 B32];
    SAtcProbeBuffer "s_atc_probe_buffer" I8 None [W4 B32];
    SDcacheDiscard "s_dcache_discard" None None [B64 B32];
    SDcacheDiscardX2 "s_dcache_discard_x2" None None [B64 B32];
    SBufferAtomicSwap "s_buffer_atomic_swap" B32 None [W4 B32];
    SBufferAtomicCmpswap "s_buffer_atomic_cmpswap" B64 None [W4 B32];
    SBufferAtomicAdd "s_buffer_atomic_add" B32 None [W4 B32];
    SBufferAtomicSub "s_buffer_atomic_sub" B32 None [W4 B32];
    SBufferAtomicSmin "s_buffer_atomic_smin" B32 None [W4 B32];
    SBufferAtomicUmin "s_buffer_atomic_umin" B32 None [W4 B32];
    SBufferAtomicSmax "s_buffer_atomic_smax" B32 None [W4 B32];
    SBufferAtomicUmax "s_buffer_atomic_umax" B32 None [W4 B32];
    SBufferAtomicAnd "s_buffer_atomic_and" B32 None [W4 B32];
    SBufferAtomicOr "s_buffer_atomic_or" B32 None [W4 B32];
    SBufferAtomicXor "s_buffer_atomic_xor" B32 None [W4 B32];
    SBufferAtomicInc "s_buffer_atomic_inc" B32 None [W4 B32];
    SBufferAtomicDec "s_buffer_atomic_dec" B32 None [W4 B32];
    SBufferAtomicSwapX2 "s_buffer_atomic_swap_x2" B64 None [W4 B32];
    SBufferAtomicCmpswapX2 "s_buffer_atomic_cmpswap_x2" W4 None [W4 B32];
    SBufferAtomicAddX2 "s_buffer_atomic_add_x2" B64 None [W4 B32];
    SBufferAtomicSubX2 "s_buffer_atomic_sub_x2" B64 None [W4 B32];
    SBufferAtomicSminX2 "s_buffer_atomic_smin_x2" B64 None [W4 B32];
    SBufferAtomicUminX2 "s_buffer_atomic_umin_x2" B64 None [W4 B32];
    SBufferAtomicSmaxX2 "s_buffer_atomic_smax_x2" B64 None [W4 B32];
    SBufferAtomicUmaxX2 "s_buffer_atomic_umax_x2" B64 None [W4 B32];
    SBufferAtomicAndX2 "s_buffer_atomic_and_x2" B64 None [W4 B32];
    SBufferAtomicOrX2 "s_buffer_atomic_or_x2" B64 None [W4 B32];
    SBufferAtomicXorX2 "s_buffer_atomic_xor_x2" B64 None [W4 B32];
    SBufferAtomicIncX2 "s_buffer_atomic_inc_x2" B64 None [W4 B32];
    SBufferAtomicDecX2 "s_buffer_atomic_dec_x2" B64 None [W4 B32];
    SAtomicSwap "s_atomic_swap" B32 None [B64 B32];
    SAtomicCmpswap "s_atomic_cmpswap" B64 None [B64 B32];
    SAtomicAdd "s_atomic_add" B32 None [B64 B32];
    SAtomicSub "s_atomic_sub" B32 None [B64 B32];
    SAtomicSmin "s_atomic_smin" B32 None [B64 B32];
    SAtomicUmin "s_atomic_umin" B32 None [B64 B32];
    SAtomicSmax "s_atomic_smax" B32 None [B64 B32];
    SAtomicUmax "s_atomic_umax" B32 None [B64 B32];
    SAtomicAnd "s_atomic_and" B32 None [B64 B32];
    SAtomicOr "s_atomic_or" B32 None [B64 B32];
    SAtomicXor "s_atomic_xor" B32 None [B64 B32];
    SAtomicInc "s_atomic_inc" B32 None [B64 B32];
    SAtomicDec "s_atomic_dec" B32 None [B64 B32];
    SAtomicSwapX2 "s_atomic_swap_x2" B64 None [B64 B32];
    SAtomicCmpswapX2 "s_atomic_cmpswap_x2" W4 None [B64 B32];
    SAtomicAddX2 "s_atomic_add_x2" B64 None [B64 B32];
    SAtomicSubX2 "s_atomic_sub_x2" B64 None [B64 B32];
    SAtomicSminX2 "s_atomic_smin_x2" B64 None [B64 B32];
    SAtomicUminX2 "s_atomic_umin_x2" B64 None [B64 B32];
    SAtomicSmaxX2 "s_atomic_smax_x2" B64 None [B64 B32];
    SAtomicUmaxX2 "s_atomic_umax_x2" B64 None [B64 B32];
    SAtomicAndX2 "s_atomic_and_x2" B64 None [B64 B32];
    SAtomicOrX2 "s_atomic_or_x2" B64 None [B64 B32];
    SAtomicXorX2 "s_atomic_xor_x2" B64 None [B64 B32];
    SAtomicIncX2 "s_atomic_inc_x2" B64 None [B64 B32];
    SAtomicDecX2 "s_atomic_dec_x2" B64 None [B64 B32];
    VNop "v_nop" None None [];
    VMovB32 "v_mov_b32" B32 None [B32];
    VReadfirstlaneB32 "v_readfirstlane_b32" B32 None [B32];
    VCvtI32F64 "v_cvt_i32_f64" B32 None [F64];
    VCvtF64I32 "v_cvt_f64_i32" F64 None [B32];
    VCvtF32I32 "v_cvt_f32_i32" F32 None [B32];
    VCvtF32U32 "v_cvt_f32_u32" F32 None [B32];
    VCvtU32F32 "v_cvt_u32_f32" B32 None [F32];
    VCvtI32F32 "v_cvt_i32_f32" B32 None [F32];
    VCvtF16F32 "v_cvt_f16_f32" F16 None [F32];
    VCvtF32F16 "v_cvt_f32_f16" F32 None [F16];
    VCvtRpiI32F32 "v_cvt_rpi_i32_f32" B32 None [F32];
    VCvtFlrI32F32 "v_cvt_flr_i32_f32" B32 None [F32];
    VCvtOffF32I4 "v_cvt_off_f32_i4" F32 None [B32];
    VCvtF32F64 "v_cvt_f32_f64" F32 None [F64];
    VCvtF64F32 "v_cvt_f64_f32" F64 None [F32];
    VCvtF32Ubyte0 "v_cvt_f32_ubyte0" F32 None [B32];
    VCvtF32Ubyte1 "v_cvt_f32_ubyte1" F32 None [B32];
    VCvtF32Ubyte2 "v_cvt_f32_ubyte2" F32 None [B32];
    VCvtF32Ubyte3 "v_cvt_f32_ubyte3" F32 None [B32];
    VCvtU32F64 "v_cvt_u32_f64" B32 None [F64];
    VCvtF64U32 "v_cvt_f64_u32" F64 None [B32];
    VTruncF64 "v_trunc_f64" F64 None [F64];
    VCeilF64 "v_ceil_f64" F64 None [F64];
    VRndneF64 "v_rndne_f64" F64 None [F64];
    VFloorF64 "v_floor_f64" F64 None [F64];
    VFractF32 "v_fract_f32" F32 None [F32];
    VTruncF32 "v_trunc_f32" F32 None [F32];
    VCeilF32 "v_ceil_f32" F32 None [F32];
    VRndneF32 "v_rndne_f32" F32 None [F32];
    VFloorF32 "v_floor_f32" F32 None [F32];
    VExpF32 "v_exp_f32" F32 None [F32];
    VLogF32 "v_log_f32" F32 None [F32];
    VRcpF32 "v_rcp_f32" F32 None [F32];
    VRcpIflagF32 "v_rcp_iflag_f32" F32 None [F32];
    VRsqF32 "v_rsq_f32" F32 None [F32];
    VRcpF64 "v_rcp_f64" F64 None [F64];
    VRsqF64 "v_rsq_f64" F64 None [F64];
    VSqrtF32 "v_sqrt_f32" F32 None [F32];
    VSqrtF64 "v_sqrt_f64" F64 None [F64];
    VSinF32 "v_sin_f32" F32 None [F32];
    VCosF32 "v_cos_f32" F32 None [F32];
    VNotB32 "v_not_b32" B32 None [B32];
    VBfrevB32 "v_bfrev_b32" B32 None [B32];
    VFfbhU32 "v_ffbh_u32" B32 None [B32];
    VFfblB32 "v_ffbl_b32" B32 None [B32];
    VFfbhI32 "v_ffbh_i32" B32 None [B32];
    VFrexpExpI32F64 "v_frexp_exp_i32_f64" B32 None [F64];
    VFrexpMantF64 "v_frexp_mant_f64" F64 None [F64];
    VFractF64 "v_fract_f64" F64 None [F64];
    VFrexpExpI32F32 "v_frexp_exp_i32_f32" B32 None [F32];
    VFrexpMantF32 "v_frexp_mant_f32" F32 None [F32];
    VClrexcp "v_clrexcp" None None [];
    VScreenPartition4seB32 "v_screen_partition_4se_b32" B32 None [B32];
    VMovB64 "v_mov_b64" B64 None [B64];
    VCvtF16U16 "v_cvt_f16_u16" F16 None [I16];
    VCvtF16I16 "v_cvt_f16_i16" F16 None [I16];
    VCvtU16F16 "v_cvt_u16_f16" I16 None [F16];
    VCvtI16F16 "v_cvt_i16_f16" I16 None [F16];
    VRcpF16 "v_rcp_f16" F16 None [F16];
    VSqrtF16 "v_sqrt_f16" F16 None [F16];
    VRsqF16 "v_rsq_f16" F16 None [F16];
    VLogF16 "v_log_f16" F16 None [F16];
    VExpF16 "v_exp_f16" F16 None [F16];
    VFrexpMantF16 "v_frexp_mant_f16" F16 None [F16];
    VFrexpExpI16F16 "v_frexp_exp_i16_f16" I16 None [F16];
    VFloorF16 "v_floor_f16" F16 None [F16];
    VCeilF16 "v_ceil_f16" F16 None [F16];
    VTruncF16 "v_trunc_f16" F16 None [F16];
    VRndneF16 "v_rndne_f16" F16 None [F16];
    VFractF16 "v_fract_f16" F16 None [F16];
    VSinF16 "v_sin_f16" F16 None [F16];
    VCosF16 "v_cos_f16" F16 None [F16];
    VExpLegacyF32 "v_exp_legacy_f32" F32 None [F32];
    VLogLegacyF32 "v_log_legacy_f32" F32 None [F32];
    VCvtNormI16F16 "v_cvt_norm_i16_f16" I16 None [F16];
    VCvtNormU16F16 "v_cvt_norm_u16_f16" I16 None [F16];
    VSatPkU8I16 "v_sat_pk_u8_i16" I16 None [PkI16];
    VSwapB32 "v_swap_b32" B32 None [B32];
    VAccvgprMovB32 "v_accvgpr_mov_b32" B32 None [B32];
    VCvtF32Fp8 "v_cvt_f32_fp8" F32 None [I8];
    VCvtF32Bf8 "v_cvt_f32_bf8" F32 None [I8];
    VCvtPkF32Fp8 "v_cvt_pk_f32_fp8" PkF32 None [I16];
    VCvtPkF32Bf8 "v_cvt_pk_f32_bf8" PkF32 None [I16];
    VPrngB32 "v_prng_b32" B32 None [B32];
    VPermlane16SwapB32 "v_permlane16_swap_b32" B32 None [B32];
    VPermlane32SwapB32 "v_permlane32_swap_b32" B32 None [B32];
    VCvtF32Bf16 "v_cvt_f32_bf16" F32 None [Bf16];
    VCndmaskB32 "v_cndmask_b32" B32 None [B32 B32 Mask];
    VAddF32 "v_add_f32" F32 None [F32 F32];
    VSubF32 "v_sub_f32" F32 None [F32 F32];
    VSubrevF32 "v_subrev_f32" F32 None [F32 F32];
    VFmacF64 "v_fmac_f64" F64 None [F64 F64];
    VMulF32 "v_mul_f32" F32 None [F32 F32];
    VMulI32I24 "v_mul_i32_i24" B32 None [B32 B32];
    VMulHiI32I24 "v_mul_hi_i32_i24" B32 None [B32 B32];
    VMulU32U24 "v_mul_u32_u24" B32 None [B32 B32];
    VMulHiU32U24 "v_mul_hi_u32_u24" B32 None [B32 B32];
    VMinF32 "v_min_f32" F32 None [F32 F32];
    VMaxF32 "v_max_f32" F32 None [F32 F32];
    VMinI32 "v_min_i32" B32 None [B32 B32];
    VMaxI32 "v_max_i32" B32 None [B32 B32];
    VMinU32 "v_min_u32" B32 None [B32 B32];
    VMaxU32 "v_max_u32" B32 None [B32 B32];
    VLshrrevB32 "v_lshrrev_b32" B32 None [B32 B32];
    VAshrrevI32 "v_ashrrev_i32" B32 None [B32 B32];
    VLshlrevB32 "v_lshlrev_b32" B32 None [B32 B32];
    VAndB32 "v_and_b32" B32 None [B32 B32];
    VOrB32 "v_or_b32" B32 None [B32 B32];
    VXorB32 "v_xor_b32" B32 None [B32 B32];
    VDot2cF32Bf16 "v_dot2c_f32_bf16" F32 None [PkBf16 PkBf16];
    VFmamkF32 "v_fmamk_f32" F32 None [F32 F32 F32];
    VFmaakF32 "v_fmaak_f32" F32 None [F32 F32 F32];
    VAddCoU32 "v_add_co_u32" B32 Mask [B32 B32];
    VSubCoU32 "v_sub_co_u32" B32 Mask [B32 B32];
    VSubrevCoU32 "v_subrev_co_u32" B32 Mask [B32 B32];
    VAddcCoU32 "v_addc_co_u32" B32 Mask [B32 B32 Mask];
    VSubbCoU32 "v_subb_co_u32" B32 Mask [B32 B32 Mask];
    VSubbrevCoU32 "v_subbrev_co_u32" B32 Mask [B32 B32 Mask];
    VAddF16 "v_add_f16" F16 None [F16 F16];
    VSubF16 "v_sub_f16" F16 None [F16 F16];
    VSubrevF16 "v_subrev_f16" F16 None [F16 F16];
    VMulF16 "v_mul_f16" F16 None [F16 F16];
    VMacF16 "v_mac_f16" F16 None [F16 F16];
    VMadmkF16 "v_madmk_f16" F16 None [F16 F16 F16];
    VMadakF16 "v_madak_f16" F16 None [F16 F16 F16];
    VAddU16 "v_add_u16" I16 None [I16 I16];
    VSubU16 "v_sub_u16" I16 None [I16 I16];
    VSubrevU16 "v_subrev_u16" I16 None [I16 I16];
    VMulLoU16 "v_mul_lo_u16" I16 None [I16 I16];
    VLshlrevB16 "v_lshlrev_b16" I16 None [I16 I16];
    VLshrrevB16 "v_lshrrev_b16" I16 None [I16 I16];
    VAshrrevI16 "v_ashrrev_i16" I16 None [I16 I16];
    VMaxF16 "v_max_f16" F16 None [F16 F16];
    VMinF16 "v_min_f16" F16 None [F16 F16];
    VMaxU16 "v_max_u16" I16 None [I16 I16];
    VMaxI16 "v_max_i16" I16 None [I16 I16];
    VMinU16 "v_min_u16" I16 None [I16 I16];
    VMinI16 "v_min_i16" I16 None [I16 I16];
    VLdexpF16 "v_ldexp_f16" F16 None [F16 F16];
    VAddU32 "v_add_u32" B32 None [B32 B32];
    VSubU32 "v_sub_u32" B32 None [B32 B32];
    VSubrevU32 "v_subrev_u32" B32 None [B32 B32];
    VDot2cF32F16 "v_dot2c_f32_f16" F32 None [PkF16 PkF16];
    VDot2cI32I16 "v_dot2c_i32_i16" B32 None [PkI16 PkI16];
    VDot4cI32I8 "v_dot4c_i32_i8" B32 None [B32 B32];
    VDot8cI32I4 "v_dot8c_i32_i4" B32 None [B32 B32];
    VFmacF32 "v_fmac_f32" F32 None [F32 F32];
    VPkFmacF16 "v_pk_fmac_f16" PkF16 None [PkF16 PkF16];
    VXnorB32 "v_xnor_b32" B32 None [B32 B32];
    VCmpClassF32 "v_cmp_class_f32" Mask None [F32 B32];
    VCmpxClassF32 "v_cmpx_class_f32" Mask None [F32 B32];
    VCmpClassF64 "v_cmp_class_f64" Mask None [F64 B32];
    VCmpxClassF64 "v_cmpx_class_f64" Mask None [F64 B32];
    VCmpClassF16 "v_cmp_class_f16" Mask None [F16 F16];
    VCmpxClassF16 "v_cmpx_class_f16" Mask None [F16 F16];
    VCmpFF16 "v_cmp_f_f16" Mask None [F16 F16];
    VCmpLtF16 "v_cmp_lt_f16" Mask None [F16 F16];
    VCmpEqF16 "v_cmp_eq_f16" Mask None [F16 F16];
    VCmpLeF16 "v_cmp_le_f16" Mask None [F16 F16];
    VCmpGtF16 "v_cmp_gt_f16" Mask None [F16 F16];
    VCmpLgF16 "v_cmp_lg_f16" Mask None [F16 F16];
    VCmpGeF16 "v_cmp_ge_f16" Mask None [F16 F16];
    VCmpOF16 "v_cmp_o_f16" Mask None [F16 F16];
    VCmpUF16 "v_cmp_u_f16" Mask None [F16 F16];
    VCmpNgeF16 "v_cmp_nge_f16" Mask None [F16 F16];
    VCmpNlgF16 "v_cmp_nlg_f16" Mask None [F16 F16];
    VCmpNgtF16 "v_cmp_ngt_f16" Mask None [F16 F16];
    VCmpNleF16 "v_cmp_nle_f16" Mask None [F16 F16];
    VCmpNeqF16 "v_cmp_neq_f16" Mask None [F16 F16];
    VCmpNltF16 "v_cmp_nlt_f16" Mask None [F16 F16];
    VCmpTruF16 "v_cmp_tru_f16" Mask None [F16 F16];
    VCmpxFF16 "v_cmpx_f_f16" Mask None [F16 F16];
    VCmpxLtF16 "v_cmpx_lt_f16" Mask None [F16 F16];
    VCmpxEqF16 "v_cmpx_eq_f16" Mask None [F16 F16];
    VCmpxLeF16 "v_cmpx_le_f16" Mask None [F16 F16];
    VCmpxGtF16 "v_cmpx_gt_f16" Mask None [F16 F16];
    VCmpxLgF16 "v_cmpx_lg_f16" Mask None [F16 F16];
    VCmpxGeF16 "v_cmpx_ge_f16" Mask None [F16 F16];
    VCmpxOF16 "v_cmpx_o_f16" Mask None [F16 F16];
    VCmpxUF16 "v_cmpx_u_f16" Mask None [F16 F16];
    VCmpxNgeF16 "v_cmpx_nge_f16" Mask None [F16 F16];
    VCmpxNlgF16 "v_cmpx_nlg_f16" Mask None [F16 F16];
    VCmpxNgtF16 "v_cmpx_ngt_f16" Mask None [F16 F16];
    VCmpxNleF16 "v_cmpx_nle_f16" Mask None [F16 F16];
    VCmpxNeqF16 "v_cmpx_neq_f16" Mask None [F16 F16];
    VCmpxNltF16 "v_cmpx_nlt_f16" Mask None [F16 F16];
    VCmpxTruF16 "v_cmpx_tru_f16" Mask None [F16 F16];
    VCmpFF32 "v_cmp_f_f32" Mask None [F32 F32];
    VCmpLtF32 "v_cmp_lt_f32" Mask None [F32 F32];
    VCmpEqF32 "v_cmp_eq_f32" Mask None [F32 F32];
    VCmpLeF32 "v_cmp_le_f32" Mask None [F32 F32];
    VCmpGtF32 "v_cmp_gt_f32" Mask None [F32 F32];
    VCmpLgF32 "v_cmp_lg_f32" Mask None [F32 F32];
    VCmpGeF32 "v_cmp_ge_f32" Mask None [F32 F32];
    VCmpOF32 "v_cmp_o_f32" Mask None [F32 F32];
    VCmpUF32 "v_cmp_u_f32" Mask None [F32 F32];
    VCmpNgeF32 "v_cmp_nge_f32" Mask None [F32 F32];
    VCmpNlgF32 "v_cmp_nlg_f32" Mask None [F32 F32];
    VCmpNgtF32 "v_cmp_ngt_f32" Mask None [F32 F32];
    VCmpNleF32 "v_cmp_nle_f32" Mask None [F32 F32];
    VCmpNeqF32 "v_cmp_neq_f32" Mask None [F32 F32];
    VCmpNltF32 "v_cmp_nlt_f32" Mask None [F32 F32];
    VCmpTruF32 "v_cmp_tru_f32" Mask None [F32 F32];
    VCmpxFF32 "v_cmpx_f_f32" Mask None [F32 F32];
    VCmpxLtF32 "v_cmpx_lt_f32" Mask None [F32 F32];
    VCmpxEqF32 "v_cmpx_eq_f32" Mask None [F32 F32];
    VCmpxLeF32 "v_cmpx_le_f32" Mask None [F32 F32];
    VCmpxGtF32 "v_cmpx_gt_f32" Mask None [F32 F32];
    VCmpxLgF32 "v_cmpx_lg_f32" Mask None [F32 F32];
    VCmpxGeF32 "v_cmpx_ge_f32" Mask None [F32 F32];
    VCmpxOF32 "v_cmpx_o_f32" Mask None [F32 F32];
    VCmpxUF32 "v_cmpx_u_f32" Mask None [F32 F32];
    VCmpxNgeF32 "v_cmpx_nge_f32" Mask None [F32 F32];
    VCmpxNlgF32 "v_cmpx_nlg_f32" Mask None [F32 F32];
    VCmpxNgtF32 "v_cmpx_ngt_f32" Mask None [F32 F32];
    VCmpxNleF32 "v_cmpx_nle_f32" Mask None [F32 F32];
    VCmpxNeqF32 "v_cmpx_neq_f32" Mask None [F32 F32];
    VCmpxNltF32 "v_cmpx_nlt_f32" Mask None [F32 F32];
    VCmpxTruF32 "v_cmpx_tru_f32" Mask None [F32 F32];
    VCmpFF64 "v_cmp_f_f64" Mask None [F64 F64];
    VCmpLtF64 "v_cmp_lt_f64" Mask None [F64 F64];
    VCmpEqF64 "v_cmp_eq_f64" Mask None [F64 F64];
    VCmpLeF64 "v_cmp_le_f64" Mask None [F64 F64];
    VCmpGtF64 "v_cmp_gt_f64" Mask None [F64 F64];
    VCmpLgF64 "v_cmp_lg_f64" Mask None [F64 F64];
    VCmpGeF64 "v_cmp_ge_f64" Mask None [F64 F64];
    VCmpOF64 "v_cmp_o_f64" Mask None [F64 F64];
    VCmpUF64 "v_cmp_u_f64" Mask None [F64 F64];
    VCmpNgeF64 "v_cmp_nge_f64" Mask None [F64 F64];
    VCmpNlgF64 "v_cmp_nlg_f64" Mask None [F64 F64];
    VCmpNgtF64 "v_cmp_ngt_f64" Mask None [F64 F64];
    VCmpNleF64 "v_cmp_nle_f64" Mask None [F64 F64];
    VCmpNeqF64 "v_cmp_neq_f64" Mask None [F64 F64];
    VCmpNltF64 "v_cmp_nlt_f64" Mask None [F64 F64];
    VCmpTruF64 "v_cmp_tru_f64" Mask None [F64 F64];
    VCmpxFF64 "v_cmpx_f_f64" Mask None [F64 F64];
    VCmpxLtF64 "v_cmpx_lt_f64" Mask None [F64 F64];
    VCmpxEqF64 "v_cmpx_eq_f64" Mask None [F64 F64];
    VCmpxLeF64 "v_cmpx_le_f64" Mask None [F64 F64];
    VCmpxGtF64 "v_cmpx_gt_f64" Mask None [F64 F64];
    VCmpxLgF64 "v_cmpx_lg_f64" Mask None [F64 F64];
    VCmpxGeF64 "v_cmpx_ge_f64" Mask None [F64 F64];
    VCmpxOF64 "v_cmpx_o_f64" Mask None [F64 F64];
    VCmpxUF64 "v_cmpx_u_f64" Mask None [F64 F64];
    VCmpxNgeF64 "v_cmpx_nge_f64" Mask None [F64 F64];
    VCmpxNlgF64 "v_cmpx_nlg_f64" Mask None [F64 F64];
    VCmpxNgtF64 "v_cmpx_ngt_f64" Mask None [F64 F64];
    VCmpxNleF64 "v_cmpx_nle_f64" Mask None [F64 F64];
    VCmpxNeqF64 "v_cmpx_neq_f64" Mask None [F64 F64];
    VCmpxNltF64 "v_cmpx_nlt_f64" Mask None [F64 F64];
    VCmpxTruF64 "v_cmpx_tru_f64" Mask None [F64 F64];
    VCmpFI16 "v_cmp_f_i16" Mask None [I16 I16];
    VCmpLtI16 "v_cmp_lt_i16" Mask None [I16 I16];
    VCmpEqI16 "v_cmp_eq_i16" Mask None [I16 I16];
    VCmpLeI16 "v_cmp_le_i16" Mask None [I16 I16];
    VCmpGtI16 "v_cmp_gt_i16" Mask None [I16 I16];
    VCmpNeI16 "v_cmp_ne_i16" Mask None [I16 I16];
    VCmpGeI16 "v_cmp_ge_i16" Mask None [I16 I16];
    VCmpTI16 "v_cmp_t_i16" Mask None [I16 I16];
    VCmpFU16 "v_cmp_f_u16" Mask None [I16 I16];
    VCmpLtU16 "v_cmp_lt_u16" Mask None [I16 I16];
    VCmpEqU16 "v_cmp_eq_u16" Mask None [I16 I16];
    VCmpLeU16 "v_cmp_le_u16" Mask None [I16 I16];
    VCmpGtU16 "v_cmp_gt_u16" Mask None [I16 I16];
    VCmpNeU16 "v_cmp_ne_u16" Mask None [I16 I16];
    VCmpGeU16 "v_cmp_ge_u16" Mask None [I16 I16];
    VCmpTU16 "v_cmp_t_u16" Mask None [I16 I16];
    VCmpxFI16 "v_cmpx_f_i16" Mask None [I16 I16];
    VCmpxLtI16 "v_cmpx_lt_i16" Mask None [I16 I16];
    VCmpxEqI16 "v_cmpx_eq_i16" Mask None [I16 I16];
    VCmpxLeI16 "v_cmpx_le_i16" Mask None [I16 I16];
    VCmpxGtI16 "v_cmpx_gt_i16" Mask None [I16 I16];
    VCmpxNeI16 "v_cmpx_ne_i16" Mask None [I16 I16];
    VCmpxGeI16 "v_cmpx_ge_i16" Mask None [I16 I16];
    VCmpxTI16 "v_cmpx_t_i16" Mask None [I16 I16];
    VCmpxFU16 "v_cmpx_f_u16" Mask None [I16 I16];
    VCmpxLtU16 "v_cmpx_lt_u16" Mask None [I16 I16];
    VCmpxEqU16 "v_cmpx_eq_u16" Mask None [I16 I16];
    VCmpxLeU16 "v_cmpx_le_u16" Mask None [I16 I16];
    VCmpxGtU16 "v_cmpx_gt_u16" Mask None [I16 I16];
    VCmpxNeU16 "v_cmpx_ne_u16" Mask None [I16 I16];
    VCmpxGeU16 "v_cmpx_ge_u16" Mask None [I16 I16];
    VCmpxTU16 "v_cmpx_t_u16" Mask None [I16 I16];
    VCmpFI32 "v_cmp_f_i32" Mask None [B32 B32];
    VCmpLtI32 "v_cmp_lt_i32" Mask None [B32 B32];
    VCmpEqI32 "v_cmp_eq_i32" Mask None [B32 B32];
    VCmpLeI32 "v_cmp_le_i32" Mask None [B32 B32];
    VCmpGtI32 "v_cmp_gt_i32" Mask None [B32 B32];
    VCmpNeI32 "v_cmp_ne_i32" Mask None [B32 B32];
    VCmpGeI32 "v_cmp_ge_i32" Mask None [B32 B32];
    VCmpTI32 "v_cmp_t_i32" Mask None [B32 B32];
    VCmpFU32 "v_cmp_f_u32" Mask None [B32 B32];
    VCmpLtU32 "v_cmp_lt_u32" Mask None [B32 B32];
    VCmpEqU32 "v_cmp_eq_u32" Mask None [B32 B32];
    VCmpLeU32 "v_cmp_le_u32" Mask None [B32 B32];
    VCmpGtU32 "v_cmp_gt_u32" Mask None [B32 B32];
    VCmpNeU32 "v_cmp_ne_u32" Mask None [B32 B32];
    VCmpGeU32 "v_cmp_ge_u32" Mask None [B32 B32];
    VCmpTU32 "v_cmp_t_u32" Mask None [B32 B32];
    VCmpxFI32 "v_cmpx_f_i32" Mask None [B32 B32];
    VCmpxLtI32 "v_cmpx_lt_i32" Mask None [B32 B32];
    VCmpxEqI32 "v_cmpx_eq_i32" Mask None [B32 B32];
    VCmpxLeI32 "v_cmpx_le_i32" Mask None [B32 B32];
    VCmpxGtI32 "v_cmpx_gt_i32" Mask None [B32 B32];
    VCmpxNeI32 "v_cmpx_ne_i32" Mask None [B32 B32];
    VCmpxGeI32 "v_cmpx_ge_i32" Mask None [B32 B32];
    VCmpxTI32 "v_cmpx_t_i32" Mask None [B32 B32];
    VCmpxFU32 "v_cmpx_f_u32" Mask None [B32 B32];
    VCmpxLtU32 "v_cmpx_lt_u32" Mask None [B32 B32];
    VCmpxEqU32 "v_cmpx_eq_u32" Mask None [B32 B32];
    VCmpxLeU32 "v_cmpx_le_u32" Mask None [B32 B32];
    VCmpxGtU32 "v_cmpx_gt_u32" Mask None [B32 B32];
    VCmpxNeU32 "v_cmpx_ne_u32" Mask None [B32 B32];
    VCmpxGeU32 "v_cmpx_ge_u32" Mask None [B32 B32];
    VCmpxTU32 "v_cmpx_t_u32" Mask None [B32 B32];
    VCmpFI64 "v_cmp_f_i64" Mask None [B64 B64];
    VCmpLtI64 "v_cmp_lt_i64" Mask None [B64 B64];
    VCmpEqI64 "v_cmp_eq_i64" Mask None [B64 B64];
    VCmpLeI64 "v_cmp_le_i64" Mask None [B64 B64];
    VCmpGtI64 "v_cmp_gt_i64" Mask None [B64 B64];
    VCmpNeI64 "v_cmp_ne_i64" Mask None [B64 B64];
    VCmpGeI64 "v_cmp_ge_i64" Mask None [B64 B64];
    VCmpTI64 "v_cmp_t_i64" Mask None [B64 B64];
    VCmpFU64 "v_cmp_f_u64" Mask None [B64 B64];
    VCmpLtU64 "v_cmp_lt_u64" Mask None [B64 B64];
    VCmpEqU64 "v_cmp_eq_u64" Mask None [B64 B64];
    VCmpLeU64 "v_cmp_le_u64" Mask None [B64 B64];
    VCmpGtU64 "v_cmp_gt_u64" Mask None [B64 B64];
    VCmpNeU64 "v_cmp_ne_u64" Mask None [B64 B64];
    VCmpGeU64 "v_cmp_ge_u64" Mask None [B64 B64];
    VCmpTU64 "v_cmp_t_u64" Mask None [B64 B64];
    VCmpxFI64 "v_cmpx_f_i64" Mask None [B64 B64];
    VCmpxLtI64 "v_cmpx_lt_i64" Mask None [B64 B64];
    VCmpxEqI64 "v_cmpx_eq_i64" Mask None [B64 B64];
    VCmpxLeI64 "v_cmpx_le_i64" Mask None [B64 B64];
    VCmpxGtI64 "v_cmpx_gt_i64" Mask None [B64 B64];
    VCmpxNeI64 "v_cmpx_ne_i64" Mask None [B64 B64];
    VCmpxGeI64 "v_cmpx_ge_i64" Mask None [B64 B64];
    VCmpxTI64 "v_cmpx_t_i64" Mask None [B64 B64];
    VCmpxFU64 "v_cmpx_f_u64" Mask None [B64 B64];
    VCmpxLtU64 "v_cmpx_lt_u64" Mask None [B64 B64];
    VCmpxEqU64 "v_cmpx_eq_u64" Mask None [B64 B64];
    VCmpxLeU64 "v_cmpx_le_u64" Mask None [B64 B64];
    VCmpxGtU64 "v_cmpx_gt_u64" Mask None [B64 B64];
    VCmpxNeU64 "v_cmpx_ne_u64" Mask None [B64 B64];
    VCmpxGeU64 "v_cmpx_ge_u64" Mask None [B64 B64];
    VCmpxTU64 "v_cmpx_t_u64" Mask None [B64 B64];
    VMadI32I24 "v_mad_i32_i24" B32 None [B32 B32 B32];
    VMadU32U24 "v_mad_u32_u24" B32 None [B32 B32 B32];
    VCubeidF32 "v_cubeid_f32" F32 None [F32 F32 F32];
    VCubescF32 "v_cubesc_f32" F32 None [F32 F32 F32];
    VCubetcF32 "v_cubetc_f32" F32 None [F32 F32 F32];
    VCubemaF32 "v_cubema_f32" F32 None [F32 F32 F32];
    VBfeU32 "v_bfe_u32" B32 None [B32 B32 B32];
    VBfeI32 "v_bfe_i32" B32 None [B32 B32 B32];
    VBfiB32 "v_bfi_b32" B32 None [B32 B32 B32];
    VFmaF32 "v_fma_f32" F32 None [F32 F32 F32];
    VFmaF64 "v_fma_f64" F64 None [F64 F64 F64];
    VLerpU8 "v_lerp_u8" B32 None [B32 B32 B32];
    VAlignbitB32 "v_alignbit_b32" B32 None [B32 B32 I8];
    VAlignbyteB32 "v_alignbyte_b32" B32 None [B32 B32 I8];
    VMin3F32 "v_min3_f32" F32 None [F32 F32 F32];
    VMin3I32 "v_min3_i32" B32 None [B32 B32 B32];
    VMin3U32 "v_min3_u32" B32 None [B32 B32 B32];
    VMax3F32 "v_max3_f32" F32 None [F32 F32 F32];
    VMax3I32 "v_max3_i32" B32 None [B32 B32 B32];
    VMax3U32 "v_max3_u32" B32 None [B32 B32 B32];
    VMed3F32 "v_med3_f32" F32 None [F32 F32 F32];
    VMed3I32 "v_med3_i32" B32 None [B32 B32 B32];
    VMed3U32 "v_med3_u32" B32 None [B32 B32 B32];
    VSadU8 "v_sad_u8" B32 None [B32 B32 B32];
    VSadHiU8 "v_sad_hi_u8" B32 None [B32 B32 B32];
    VSadU16 "v_sad_u16" B32 None [PkI16 PkI16 B32];
    VSadU32 "v_sad_u32" B32 None [B32 B32 B32];
    VCvtPkU8F32 "v_cvt_pk_u8_f32" B32 None [F32 B32 B32];
    VDivFixupF32 "v_div_fixup_f32" F32 None [F32 F32 F32];
    VDivFixupF64 "v_div_fixup_f64" F64 None [F64 F64 F64];
    VDivFmasF32 "v_div_fmas_f32" F32 None [F32 F32 F32];
    VDivFmasF64 "v_div_fmas_f64" F64 None [F64 F64 F64];
    VMsadU8 "v_msad_u8" B32 None [B32 B32 B32];
    VQsadPkU16U8 "v_qsad_pk_u16_u8" B64 None [B64 B32 B64];
    VMqsadPkU16U8 "v_mqsad_pk_u16_u8" B64 None [B64 B32 B64];
    VMqsadU32U8 "v_mqsad_u32_u8" W4 None [B64 B32 W4];
    VMadLegacyF16 "v_mad_legacy_f16" F16 None [F16 F16 F16];
    VMadLegacyU16 "v_mad_legacy_u16" I16 None [I16 I16 I16];
    VMadLegacyI16 "v_mad_legacy_i16" I16 None [I16 I16 I16];
    VPermB32 "v_perm_b32" B32 None [B32 B32 B32];
    VFmaLegacyF16 "v_fma_legacy_f16" F16 None [F16 F16 F16];
    VDivFixupLegacyF16 "v_div_fixup_legacy_f16" F16 None [F16 F16 F16];
    VCvtPkaccumU8F32 "v_cvt_pkaccum_u8_f32" B32 None [F32 B32];
    VMadU32U16 "v_mad_u32_u16" B32 None [I16 I16 B32];
    VMadI32I16 "v_mad_i32_i16" B32 None [I16 I16 B32];
    VXadU32 "v_xad_u32" B32 None [B32 B32 B32];
    VMin3F16 "v_min3_f16" F16 None [F16 F16 F16];
    VMin3I16 "v_min3_i16" I16 None [I16 I16 I16];
    VMin3U16 "v_min3_u16" I16 None [I16 I16 I16];
    VMax3F16 "v_max3_f16" F16 None [F16 F16 F16];
    VMax3I16 "v_max3_i16" I16 None [I16 I16 I16];
    VMax3U16 "v_max3_u16" I16 None [I16 I16 I16];
    VMed3F16 "v_med3_f16" F16 None [F16 F16 F16];
    VMed3I16 "v_med3_i16" I16 None [I16 I16 I16];
    VMed3U16 "v_med3_u16" I16 None [I16 I16 I16];
    VLshlAddU32 "v_lshl_add_u32" B32 None [B32 B32 B32];
    VAddLshlU32 "v_add_lshl_u32" B32 None [B32 B32 B32];
    VAdd3U32 "v_add3_u32" B32 None [B32 B32 B32];
    VLshlOrB32 "v_lshl_or_b32" B32 None [B32 B32 B32];
    VAndOrB32 "v_and_or_b32" B32 None [B32 B32 B32];
    VOr3B32 "v_or3_b32" B32 None [B32 B32 B32];
    VMadF16 "v_mad_f16" F16 None [F16 F16 F16];
    VMadU16 "v_mad_u16" I16 None [I16 I16 I16];
    VMadI16 "v_mad_i16" I16 None [I16 I16 I16];
    VFmaF16 "v_fma_f16" F16 None [F16 F16 F16];
    VDivFixupF16 "v_div_fixup_f16" F16 None [F16 F16 F16];
    VLshlAddU64 "v_lshl_add_u64" B64 None [B64 B32 B64];
    VBitop3B16 "v_bitop3_b16" I16 None [I16 I16 I16];
    VBitop3B32 "v_bitop3_b32" B32 None [B32 B32 B32];
    VCvtScalef32PkFp8F32 "v_cvt_scalef32_pk_fp8_f32" I16 None [F32 F32 F32];
    VCvtScalef32PkBf8F32 "v_cvt_scalef32_pk_bf8_f32" I16 None [F32 F32 F32];
    VCvtScalef32SrFp8F32 "v_cvt_scalef32_sr_fp8_f32" I8 None [F32 B32 F32];
    VCvtScalef32SrBf8F32 "v_cvt_scalef32_sr_bf8_f32" I8 None [F32 B32 F32];
    VCvtScalef32PkF32Fp8 "v_cvt_scalef32_pk_f32_fp8" PkF32 None [I16 F32];
    VCvtScalef32PkF32Bf8 "v_cvt_scalef32_pk_f32_bf8" PkF32 None [I16 F32];
    VCvtScalef32F32Fp8 "v_cvt_scalef32_f32_fp8" F32 None [I8 F32];
    VCvtScalef32F32Bf8 "v_cvt_scalef32_f32_bf8" F32 None [I8 F32];
    VCvtScalef32PkFp4F32 "v_cvt_scalef32_pk_fp4_f32" I8 None [F32 F32 F32];
    VCvtScalef32SrPkFp4F32 "v_cvt_scalef32_sr_pk_fp4_f32" I8 None [PkF32 B32 F32];
    VCvtScalef32PkF32Fp4 "v_cvt_scalef32_pk_f32_fp4" PkF32 None [I8 F32];
    VCvtScalef32PkFp8F16 "v_cvt_scalef32_pk_fp8_f16" I16 None [PkF16 F32];
    VCvtScalef32PkBf8F16 "v_cvt_scalef32_pk_bf8_f16" I16 None [PkF16 F32];
    VCvtScalef32SrFp8F16 "v_cvt_scalef32_sr_fp8_f16" I8 None [F16 B32 F32];
    VCvtScalef32SrBf8F16 "v_cvt_scalef32_sr_bf8_f16" I8 None [F16 B32 F32];
    VCvtScalef32PkFp8Bf16 "v_cvt_scalef32_pk_fp8_bf16" I16 None [PkBf16 F32];
    VCvtScalef32PkBf8Bf16 "v_cvt_scalef32_pk_bf8_bf16" I16 None [PkBf16 F32];
    VCvtScalef32SrFp8Bf16 "v_cvt_scalef32_sr_fp8_bf16" I8 None [Bf16 B32 F32];
    VCvtScalef32SrBf8Bf16 "v_cvt_scalef32_sr_bf8_bf16" I8 None [Bf16 B32 F32];
    VCvtScalef32PkF16Fp8 "v_cvt_scalef32_pk_f16_fp8" PkF16 None [I16 F32];
    VCvtScalef32PkF16Bf8 "v_cvt_scalef32_pk_f16_bf8" PkF16 None [I16 F32];
    VCvtScalef32F16Fp8 "v_cvt_scalef32_f16_fp8" F16 None [I8 F32];
    VCvtScalef32F16Bf8 "v_cvt_scalef32_f16_bf8" F16 None [I8 F32];
    VCvtScalef32PkFp4F16 "v_cvt_scalef32_pk_fp4_f16" I8 None [PkF16 F32];
    VCvtScalef32PkFp4Bf16 "v_cvt_scalef32_pk_fp4_bf16" I8 None [PkBf16 F32];
    VCvtScalef32SrPkFp4F16 "v_cvt_scalef32_sr_pk_fp4_f16" I8 None [PkF16 B32 F32];
    VCvtScalef32SrPkFp4Bf16 "v_cvt_scalef32_sr_pk_fp4_bf16" I8 None [PkBf16 B32 F32];
    VCvtScalef32PkF16Fp4 "v_cvt_scalef32_pk_f16_fp4" PkF16 None [I8 F32];
    VCvtScalef32PkBf16Fp4 "v_cvt_scalef32_pk_bf16_fp4" PkBf16 None [I8 F32];
    VCvtScalef322xpk16Fp6F32 "v_cvt_scalef32_2xpk16_fp6_f32" W6 None [W16 W16 F32];
    VCvtScalef322xpk16Bf6F32 "v_cvt_scalef32_2xpk16_bf6_f32" W6 None [W16 W16 F32];
    VCvtScalef32SrPk32Fp6F32 "v_cvt_scalef32_sr_pk32_fp6_f32" W6 None [W32 B32 F32];
    VCvtScalef32SrPk32Bf6F32 "v_cvt_scalef32_sr_pk32_bf6_f32" W6 None [W32 B32 F32];
    VCvtScalef32Pk32F32Fp6 "v_cvt_scalef32_pk32_f32_fp6" W32 None [W6 F32];
    VCvtScalef32Pk32F32Bf6 "v_cvt_scalef32_pk32_f32_bf6" W32 None [W6 F32];
    VCvtScalef32Pk32Fp6F16 "v_cvt_scalef32_pk32_fp6_f16" W6 None [W16 F32];
    VCvtScalef32Pk32Fp6Bf16 "v_cvt_scalef32_pk32_fp6_bf16" W6 None [W16 F32];
    VCvtScalef32Pk32Bf6F16 "v_cvt_scalef32_pk32_bf6_f16" W6 None [W16 F32];
    VCvtScalef32Pk32Bf6Bf16 "v_cvt_scalef32_pk32_bf6_bf16" W6 None [W16 F32];
    VCvtScalef32SrPk32Fp6F16 "v_cvt_scalef32_sr_pk32_fp6_f16" W6 None [W16 B32 F32];
    VCvtScalef32SrPk32Fp6Bf16 "v_cvt_scalef32_sr_pk32_fp6_bf16" W6 None [W16 B32 F32];
    VCvtScalef32SrPk32Bf6F16 "v_cvt_scalef32_sr_pk32_bf6_f16" W6 None [W16 B32 F32];
    VCvtScalef32SrPk32Bf6Bf16 "v_cvt_scalef32_sr_pk32_bf6_bf16" W6 None [W16 B32 F32];
    VCvtScalef32Pk32F16Fp6 "v_cvt_scalef32_pk32_f16_fp6" W16 None [W6 F32];
    VCvtScalef32Pk32Bf16Fp6 "v_cvt_scalef32_pk32_bf16_fp6" W16 None [W6 F32];
    VCvtScalef32Pk32F16Bf6 "v_cvt_scalef32_pk32_f16_bf6" W16 None [W6 F32];
    VCvtScalef32Pk32Bf16Bf6 "v_cvt_scalef32_pk32_bf16_bf6" W16 None [W6 F32];
    VAshrPkI8I32 "v_ashr_pk_i8_i32" I16 None [B32 B32 B32];
    VAshrPkU8I32 "v_ashr_pk_u8_i32" I16 None [B32 B32 B32];
    VCvtPkF16F32 "v_cvt_pk_f16_f32" PkF16 None [F32 F32];
    VCvtPkBf16F32 "v_cvt_pk_bf16_f32" PkBf16 None [F32 F32];
    VCvtScalef32PkBf16Fp8 "v_cvt_scalef32_pk_bf16_fp8" PkBf16 None [I16 F32];
    VCvtScalef32PkBf16Bf8 "v_cvt_scalef32_pk_bf16_bf8" PkBf16 None [I16 F32];
    VAddF64 "v_add_f64" F64 None [F64 F64];
    VMulF64 "v_mul_f64" F64 None [F64 F64];
    VMinF64 "v_min_f64" F64 None [F64 F64];
    VMaxF64 "v_max_f64" F64 None [F64 F64];
    VLdexpF64 "v_ldexp_f64" F64 None [F64 B32];
    VMulLoU32 "v_mul_lo_u32" B32 None [B32 B32];
    VMulHiU32 "v_mul_hi_u32" B32 None [B32 B32];
    VMulHiI32 "v_mul_hi_i32" B32 None [B32 B32];
    VLdexpF32 "v_ldexp_f32" F32 None [F32 B32];
    VReadlaneB32 "v_readlane_b32" B32 None [B32 B32];
    VWritelaneB32 "v_writelane_b32" B32 None [B32 B32];
    VBcntU32B32 "v_bcnt_u32_b32" B32 None [B32 B32];
    VMbcntLoU32B32 "v_mbcnt_lo_u32_b32" B32 None [B32 B32];
    VMbcntHiU32B32 "v_mbcnt_hi_u32_b32" B32 None [B32 B32];
    VLshlrevB64 "v_lshlrev_b64" B64 None [B32 B64];
    VLshrrevB64 "v_lshrrev_b64" B64 None [B32 B64];
    VAshrrevI64 "v_ashrrev_i64" B64 None [B32 B64];
    VTrigPreopF64 "v_trig_preop_f64" F64 None [F64 B32];
    VBfmB32 "v_bfm_b32" B32 None [B32 B32];
    VCvtPknormI16F32 "v_cvt_pknorm_i16_f32" PkI16 None [F32 F32];
    VCvtPknormU16F32 "v_cvt_pknorm_u16_f32" PkI16 None [F32 F32];
    VCvtPkrtzF16F32 "v_cvt_pkrtz_f16_f32" PkF16 None [F32 F32];
    VCvtPkU16U32 "v_cvt_pk_u16_u32" PkI16 None [B32 B32];
    VCvtPkI16I32 "v_cvt_pk_i16_i32" PkI16 None [B32 B32];
    VCvtPknormI16F16 "v_cvt_pknorm_i16_f16" PkI16 None [F16 F16];
    VCvtPknormU16F16 "v_cvt_pknorm_u16_f16" PkI16 None [F16 F16];
    VAddI32 "v_add_i32" B32 None [B32 B32];
    VSubI32 "v_sub_i32" B32 None [B32 B32];
    VAddI16 "v_add_i16" I16 None [I16 I16];
    VSubI16 "v_sub_i16" I16 None [I16 I16];
    VPackB32F16 "v_pack_b32_f16" B32 None [F16 F16];
    VMulLegacyF32 "v_mul_legacy_f32" F32 None [F32 F32];
    VCvtPkFp8F32 "v_cvt_pk_fp8_f32" I16 None [F32 F32];
    VCvtPkBf8F32 "v_cvt_pk_bf8_f32" I16 None [F32 F32];
    VCvtSrFp8F32 "v_cvt_sr_fp8_f32" I8 None [F32 B32];
    VCvtSrBf8F32 "v_cvt_sr_bf8_f32" I8 None [F32 B32];
    VCvtSrF16F32 "v_cvt_sr_f16_f32" F16 None [F32 B32];
    VCvtSrBf16F32 "v_cvt_sr_bf16_f32" Bf16 None [F32 B32];
    VMinimum3F32 "v_minimum3_f32" F32 None [F32 F32 F32];
    VMaximum3F32 "v_maximum3_f32" F32 None [F32 F32 F32];
    VDivScaleF32 "v_div_scale_f32" F32 Mask [F32 F32 F32];
    VDivScaleF64 "v_div_scale_f64" F64 Mask [F64 F64 F64];
    VMadU64U32 "v_mad_u64_u32" B64 Mask [B32 B32 B64];
    VMadI64I32 "v_mad_i64_i32" B64 Mask [B32 B32 B64];
    VPkMadI16 "v_pk_mad_i16" PkI16 None [PkI16 PkI16 PkI16];
    VPkMulLoU16 "v_pk_mul_lo_u16" PkI16 None [PkI16 PkI16];
    VPkAddI16 "v_pk_add_i16" PkI16 None [PkI16 PkI16];
    VPkSubI16 "v_pk_sub_i16" PkI16 None [PkI16 PkI16];
    VPkLshlrevB16 "v_pk_lshlrev_b16" PkI16 None [PkI16 PkI16];
    VPkLshrrevB16 "v_pk_lshrrev_b16" PkI16 None [PkI16 PkI16];
    VPkAshrrevI16 "v_pk_ashrrev_i16" PkI16 None [PkI16 PkI16];
    VPkMaxI16 "v_pk_max_i16" PkI16 None [PkI16 PkI16];
    VPkMinI16 "v_pk_min_i16" PkI16 None [PkI16 PkI16];
    VPkMadU16 "v_pk_mad_u16" PkI16 None [PkI16 PkI16 PkI16];
    VPkAddU16 "v_pk_add_u16" PkI16 None [PkI16 PkI16];
    VPkSubU16 "v_pk_sub_u16" PkI16 None [PkI16 PkI16];
    VPkMaxU16 "v_pk_max_u16" PkI16 None [PkI16 PkI16];
    VPkMinU16 "v_pk_min_u16" PkI16 None [PkI16 PkI16];
    VPkFmaF16 "v_pk_fma_f16" PkF16 None [PkF16 PkF16 PkF16];
    VPkAddF16 "v_pk_add_f16" PkF16 None [PkF16 PkF16];
    VPkMulF16 "v_pk_mul_f16" PkF16 None [PkF16 PkF16];
    VPkMinF16 "v_pk_min_f16" PkF16 None [PkF16 PkF16];
    VPkMaxF16 "v_pk_max_f16" PkF16 None [PkF16 PkF16];
    VDot2F32Bf16 "v_dot2_f32_bf16" F32 None [PkBf16 PkBf16 F32];
    VPkMinimum3F16 "v_pk_minimum3_f16" PkF16 None [PkF16 PkF16 PkF16];
    VPkMaximum3F16 "v_pk_maximum3_f16" PkF16 None [PkF16 PkF16 PkF16];
    VFmaMixF32 "v_fma_mix_f32" F32 None [B32 B32 B32];
    VFmaMixloF16 "v_fma_mixlo_f16" F16 None [B32 B32 B32];
    VFmaMixhiF16 "v_fma_mixhi_f16" F16 None [B32 B32 B32];
    VDot2F32F16 "v_dot2_f32_f16" F32 None [PkF16 PkF16 F32];
    VDot2I32I16 "v_dot2_i32_i16" B32 None [PkI16 PkI16 B32];
    VDot2U32U16 "v_dot2_u32_u16" B32 None [PkI16 PkI16 B32];
    VDot4I32I8 "v_dot4_i32_i8" B32 None [B32 B32 B32];
    VDot4U32U8 "v_dot4_u32_u8" B32 None [B32 B32 B32];
    VDot8I32I4 "v_dot8_i32_i4" B32 None [B32 B32 B32];
    VDot8U32U4 "v_dot8_u32_u4" B32 None [B32 B32 B32];
    VMfmaF3216x16x128F8f6f4 "v_mfma_f32_16x16x128_f8f6f4" W4 None [W8 W8 W4];
    VMfmaF3232x32x64F8f6f4 "v_mfma_f32_32x32x64_f8f6f4" W16 None [W8 W8 W16];
    VPkFmaF32 "v_pk_fma_f32" PkF32 None [PkF32 PkF32 PkF32];
    VPkMulF32 "v_pk_mul_f32" PkF32 None [PkF32 PkF32];
    VPkAddF32 "v_pk_add_f32" PkF32 None [PkF32 PkF32];
    VPkMovB32 "v_pk_mov_b32" B64 None [B64 B64];
    VMfmaF3216x16x32Bf16 "v_mfma_f32_16x16x32_bf16" W4 None [W4 W4 W4];
    VMfmaI3216x16x64I8 "v_mfma_i32_16x16x64_i8" W4 None [W4 W4 W4];
    VMfmaF3232x32x16Bf16 "v_mfma_f32_32x32x16_bf16" W16 None [W4 W4 W16];
    VMfmaI3232x32x32I8 "v_mfma_i32_32x32x32_i8" W16 None [W4 W4 W16];
    VSmfmacF3216x16x64Bf16 "v_smfmac_f32_16x16x64_bf16" W4 None [W4 W8 B32];
    VSmfmacI3216x16x128I8 "v_smfmac_i32_16x16x128_i8" W4 None [W4 W8 B32];
    VSmfmacF3216x16x128Bf8Bf8 "v_smfmac_f32_16x16x128_bf8_bf8" W4 None [W4 W8 B32];
    VSmfmacF3216x16x128Bf8Fp8 "v_smfmac_f32_16x16x128_bf8_fp8" W4 None [W4 W8 B32];
    VSmfmacF3216x16x128Fp8Bf8 "v_smfmac_f32_16x16x128_fp8_bf8" W4 None [W4 W8 B32];
    VMfmaF3216x16x8Xf32 "v_mfma_f32_16x16x8_xf32" W4 None [B64 B64 W4];
    VMfmaF3232x32x4Xf32 "v_mfma_f32_32x32x4_xf32" W16 None [B64 B64 W16];
    VMfmaF3232x32x12bF32 "v_mfma_f32_32x32x1_2b_f32" W32 None [F32 F32 W32];
    VMfmaF3216x16x14bF32 "v_mfma_f32_16x16x1_4b_f32" W16 None [F32 F32 W16];
    VMfmaF324x4x116bF32 "v_mfma_f32_4x4x1_16b_f32" W4 None [F32 F32 W4];
    VSmfmacF3216x16x128Fp8Fp8 "v_smfmac_f32_16x16x128_fp8_fp8" W4 None [W4 W8 B32];
    VMfmaF3232x32x2F32 "v_mfma_f32_32x32x2_f32" W16 None [F32 F32 W16];
    VMfmaF3216x16x4F32 "v_mfma_f32_16x16x4_f32" W4 None [F32 F32 W4];
    VSmfmacF3232x32x32Bf16 "v_smfmac_f32_32x32x32_bf16" W16 None [W4 W8 B32];
    VSmfmacI3232x32x64I8 "v_smfmac_i32_32x32x64_i8" W16 None [W4 W8 B32];
    VMfmaF3232x32x42bF16 "v_mfma_f32_32x32x4_2b_f16" W32 None [B64 B64 W32];
    VMfmaF3216x16x44bF16 "v_mfma_f32_16x16x4_4b_f16" W16 None [B64 B64 W16];
    VMfmaF324x4x416bF16 "v_mfma_f32_4x4x4_16b_f16" W4 None [B64 B64 W4];
    VSmfmacF3232x32x64Bf8Bf8 "v_smfmac_f32_32x32x64_bf8_bf8" W16 None [W4 W8 B32];
    VMfmaF3232x32x8F16 "v_mfma_f32_32x32x8_f16" W16 None [B64 B64 W16];
    VMfmaF3216x16x16F16 "v_mfma_f32_16x16x16_f16" W4 None [B64 B64 W4];
    VSmfmacF3232x32x64Bf8Fp8 "v_smfmac_f32_32x32x64_bf8_fp8" W16 None [W4 W8 B32];
    VSmfmacF3232x32x64Fp8Bf8 "v_smfmac_f32_32x32x64_fp8_bf8" W16 None [W4 W8 B32];
    VMfmaI3232x32x42bI8 "v_mfma_i32_32x32x4_2b_i8" W32 None [B32 B32 W32];
    VMfmaI3216x16x44bI8 "v_mfma_i32_16x16x4_4b_i8" W16 None [B32 B32 W16];
    VMfmaI324x4x416bI8 "v_mfma_i32_4x4x4_16b_i8" W4 None [B32 B32 W4];
    VSmfmacF3232x32x64Fp8Fp8 "v_smfmac_f32_32x32x64_fp8_fp8" W16 None [W4 W8 B32];
    VMfmaF3216x16x32F16 "v_mfma_f32_16x16x32_f16" W4 None [W4 W4 W4];
    VMfmaF3232x32x16F16 "v_mfma_f32_32x32x16_f16" W16 None [W4 W4 W16];
    VMfmaI3232x32x16I8 "v_mfma_i32_32x32x16_i8" W16 None [B64 B64 W16];
    VMfmaI3216x16x32I8 "v_mfma_i32_16x16x32_i8" W4 None [B64 B64 W4];
    VAccvgprReadB32 "v_accvgpr_read_b32" B32 None [B32];
    VAccvgprWriteB32 "v_accvgpr_write_b32" B32 None [B32];
    VSmfmacF3216x16x64F16 "v_smfmac_f32_16x16x64_f16" W4 None [W4 W8 B32];
    VSmfmacF3232x32x32F16 "v_smfmac_f32_32x32x32_f16" W16 None [W4 W8 B32];
    VMfmaF3232x32x42bBf16 "v_mfma_f32_32x32x4_2b_bf16" W32 None [B64 B64 W32];
    VMfmaF3216x16x44bBf16 "v_mfma_f32_16x16x4_4b_bf16" W16 None [B64 B64 W16];
    VMfmaF324x4x416bBf16 "v_mfma_f32_4x4x4_16b_bf16" W4 None [B64 B64 W4];
    VMfmaF3232x32x8Bf16 "v_mfma_f32_32x32x8_bf16" W16 None [B64 B64 W16];
    VMfmaF3216x16x16Bf16 "v_mfma_f32_16x16x16_bf16" W4 None [B64 B64 W4];
    VSmfmacF3216x16x32F16 "v_smfmac_f32_16x16x32_f16" W4 None [B64 W4 B32];
    VSmfmacF3232x32x16F16 "v_smfmac_f32_32x32x16_f16" W16 None [B64 W4 B32];
    VSmfmacF3216x16x32Bf16 "v_smfmac_f32_16x16x32_bf16" W4 None [B64 W4 B32];
    VSmfmacF3232x32x16Bf16 "v_smfmac_f32_32x32x16_bf16" W16 None [B64 W4 B32];
    VSmfmacI3216x16x64I8 "v_smfmac_i32_16x16x64_i8" W4 None [B64 W4 B32];
    VSmfmacI3232x32x32I8 "v_smfmac_i32_32x32x32_i8" W16 None [B64 W4 B32];
    VMfmaF6416x16x4F64 "v_mfma_f64_16x16x4_f64" W8 None [F64 F64 W8];
    VMfmaF644x4x44bF64 "v_mfma_f64_4x4x4_4b_f64" F64 None [F64 F64 F64];
    VMfmaF3216x16x32Bf8Bf8 "v_mfma_f32_16x16x32_bf8_bf8" W4 None [B64 B64 W4];
    VMfmaF3216x16x32Bf8Fp8 "v_mfma_f32_16x16x32_bf8_fp8" W4 None [B64 B64 W4];
    VMfmaF3216x16x32Fp8Bf8 "v_mfma_f32_16x16x32_fp8_bf8" W4 None [B64 B64 W4];
    VMfmaF3216x16x32Fp8Fp8 "v_mfma_f32_16x16x32_fp8_fp8" W4 None [B64 B64 W4];
    VMfmaF3232x32x16Bf8Bf8 "v_mfma_f32_32x32x16_bf8_bf8" W16 None [B64 B64 W16];
    VMfmaF3232x32x16Bf8Fp8 "v_mfma_f32_32x32x16_bf8_fp8" W16 None [B64 B64 W16];
    VMfmaF3232x32x16Fp8Bf8 "v_mfma_f32_32x32x16_fp8_bf8" W16 None [B64 B64 W16];
    VMfmaF3232x32x16Fp8Fp8 "v_mfma_f32_32x32x16_fp8_fp8" W16 None [B64 B64 W16];
    VSmfmacF3216x16x64Bf8Bf8 "v_smfmac_f32_16x16x64_bf8_bf8" W4 None [B64 W4 B32];
    VSmfmacF3216x16x64Bf8Fp8 "v_smfmac_f32_16x16x64_bf8_fp8" W4 None [B64 W4 B32];
    VSmfmacF3216x16x64Fp8Bf8 "v_smfmac_f32_16x16x64_fp8_bf8" W4 None [B64 W4 B32];
    VSmfmacF3216x16x64Fp8Fp8 "v_smfmac_f32_16x16x64_fp8_fp8" W4 None [B64 W4 B32];
    VSmfmacF3232x32x32Bf8Bf8 "v_smfmac_f32_32x32x32_bf8_bf8" W16 None [B64 W4 B32];
    VSmfmacF3232x32x32Bf8Fp8 "v_smfmac_f32_32x32x32_bf8_fp8" W16 None [B64 W4 B32];
    VSmfmacF3232x32x32Fp8Bf8 "v_smfmac_f32_32x32x32_fp8_bf8" W16 None [B64 W4 B32];
    VSmfmacF3232x32x32Fp8Fp8 "v_smfmac_f32_32x32x32_fp8_fp8" W16 None [B64 W4 B32];
    VMfmaLdScaleB32 "v_mfma_ld_scale_b32" None None [B32 B32];
    VMfmaScaleF3216x16x128F8f6f4 "v_mfma_scale_f32_16x16x128_f8f6f4" W4 None [W8 W8 W4];
    VMfmaScaleF3232x32x64F8f6f4 "v_mfma_scale_f32_32x32x64_f8f6f4" W16 None [W8 W8 W16];
    DsAddU32 "ds_add_u32" None None [B32 B32];
    DsSubU32 "ds_sub_u32" None None [B32 B32];
    DsRsubU32 "ds_rsub_u32" None None [B32 B32];
    DsIncU32 "ds_inc_u32" None None [B32 B32];
    DsDecU32 "ds_dec_u32" None None [B32 B32];
    DsMinI32 "ds_min_i32" None None [B32 B32];
    DsMaxI32 "ds_max_i32" None None [B32 B32];
    DsMinU32 "ds_min_u32" None None [B32 B32];
    DsMaxU32 "ds_max_u32" None None [B32 B32];
    DsAndB32 "ds_and_b32" None None [B32 B32];
    DsOrB32 "ds_or_b32" None None [B32 B32];
    DsXorB32 "ds_xor_b32" None None [B32 B32];
    DsMskorB32 "ds_mskor_b32" None None [B32 B32 B32];
    DsWriteB32 "ds_write_b32" None None [B32 B32];
    DsWrite2B32 "ds_write2_b32" None None [B32 B32 B32];
    DsWrite2st64B32 "ds_write2st64_b32" None None [B32 B32 B32];
    DsCmpstB32 "ds_cmpst_b32" None None [B32 B32 B32];
    DsCmpstF32 "ds_cmpst_f32" None None [B32 F32 F32];
    DsMinF32 "ds_min_f32" None None [B32 F32];
    DsMaxF32 "ds_max_f32" None None [B32 F32];
    DsNop "ds_nop" None None [];
    DsAddF32 "ds_add_f32" None None [B32 F32];
    DsPkAddF16 "ds_pk_add_f16" None None [B32 PkF16];
    DsPkAddBf16 "ds_pk_add_bf16" None None [B32 PkBf16];
    DsWriteAddtidB32 "ds_write_addtid_b32" None None [None B32];
    DsWriteB8 "ds_write_b8" None None [B32 I8];
    DsWriteB16 "ds_write_b16" None None [B32 I16];
    DsAddRtnU32 "ds_add_rtn_u32" B32 None [B32 B32];
    DsSubRtnU32 "ds_sub_rtn_u32" B32 None [B32 B32];
    DsRsubRtnU32 "ds_rsub_rtn_u32" B32 None [B32 B32];
    DsIncRtnU32 "ds_inc_rtn_u32" B32 None [B32 B32];
    DsDecRtnU32 "ds_dec_rtn_u32" B32 None [B32 B32];
    DsMinRtnI32 "ds_min_rtn_i32" B32 None [B32 B32];
    DsMaxRtnI32 "ds_max_rtn_i32" B32 None [B32 B32];
    DsMinRtnU32 "ds_min_rtn_u32" B32 None [B32 B32];
    DsMaxRtnU32 "ds_max_rtn_u32" B32 None [B32 B32];
    DsAndRtnB32 "ds_and_rtn_b32" B32 None [B32 B32];
    DsOrRtnB32 "ds_or_rtn_b32" B32 None [B32 B32];
    DsXorRtnB32 "ds_xor_rtn_b32" B32 None [B32 B32];
    DsMskorRtnB32 "ds_mskor_rtn_b32" B32 None [B32 B32 B32];
    DsWrxchgRtnB32 "ds_wrxchg_rtn_b32" B32 None [B32 B32];
    DsWrxchg2RtnB32 "ds_wrxchg2_rtn_b32" B64 None [B32 B32 B32];
    DsWrxchg2st64RtnB32 "ds_wrxchg2st64_rtn_b32" B64 None [B32 B32 B32];
    DsCmpstRtnB32 "ds_cmpst_rtn_b32" B32 None [B32 B32 B32];
    DsCmpstRtnF32 "ds_cmpst_rtn_f32" F32 None [B32 F32 F32];
    DsMinRtnF32 "ds_min_rtn_f32" F32 None [B32 F32];
    DsMaxRtnF32 "ds_max_rtn_f32" F32 None [B32 F32];
    DsWrapRtnB32 "ds_wrap_rtn_b32" B32 None [B32 B32 B32];
    DsAddRtnF32 "ds_add_rtn_f32" F32 None [B32 F32];
    DsReadB32 "ds_read_b32" B32 None [B32];
    DsRead2B32 "ds_read2_b32" B64 None [B32];
    DsRead2st64B32 "ds_read2st64_b32" B64 None [B32];
    DsReadI8 "ds_read_i8" B32 None [B32];
    DsReadU8 "ds_read_u8" B32 None [B32];
    DsReadI16 "ds_read_i16" B32 None [B32];
    DsReadU16 "ds_read_u16" B32 None [B32];
    DsSwizzleB32 "ds_swizzle_b32" B32 None [B32];
    DsPermuteB32 "ds_permute_b32" B32 None [B32 B32];
    DsBpermuteB32 "ds_bpermute_b32" B32 None [B32 B32];
    DsAddU64 "ds_add_u64" None None [B32 B64];
    DsSubU64 "ds_sub_u64" None None [B32 B64];
    DsRsubU64 "ds_rsub_u64" None None [B32 B64];
    DsIncU64 "ds_inc_u64" None None [B32 B64];
    DsDecU64 "ds_dec_u64" None None [B32 B64];
    DsMinI64 "ds_min_i64" None None [B32 B64];
    DsMaxI64 "ds_max_i64" None None [B32 B64];
    DsMinU64 "ds_min_u64" None None [B32 B64];
    DsMaxU64 "ds_max_u64" None None [B32 B64];
    DsAndB64 "ds_and_b64" None None [B32 B64];
    DsOrB64 "ds_or_b64" None None [B32 B64];
    DsXorB64 "ds_xor_b64" None None [B32 B64];
    DsMskorB64 "ds_mskor_b64" None None [B32 B64 B64];
    DsWriteB64 "ds_write_b64" None None [B32 B64];
    DsWrite2B64 "ds_write2_b64" None None [B32 B64 B64];
    DsWrite2st64B64 "ds_write2st64_b64" None None [B32 B64 B64];
    DsCmpstB64 "ds_cmpst_b64" None None [B32 B64 B64];
    DsCmpstF64 "ds_cmpst_f64" None None [B32 F64 F64];
    DsMinF64 "ds_min_f64" None None [B32 F64];
    DsMaxF64 "ds_max_f64" None None [B32 F64];
    DsWriteB8D16Hi "ds_write_b8_d16_hi" None None [B32 B32];
    DsWriteB16D16Hi "ds_write_b16_d16_hi" None None [B32 PkI16];
    DsReadU8D16 "ds_read_u8_d16" PkI16 None [B32];
    DsReadU8D16Hi "ds_read_u8_d16_hi" PkI16 None [B32];
    DsReadI8D16 "ds_read_i8_d16" PkI16 None [B32];
    DsReadI8D16Hi "ds_read_i8_d16_hi" PkI16 None [B32];
    DsReadU16D16 "ds_read_u16_d16" PkI16 None [B32];
    DsReadU16D16Hi "ds_read_u16_d16_hi" PkI16 None [B32];
    DsAddF64 "ds_add_f64" None None [B32 F64];
    DsAddRtnU64 "ds_add_rtn_u64" B64 None [B32 B64];
    DsSubRtnU64 "ds_sub_rtn_u64" B64 None [B32 B64];
    DsRsubRtnU64 "ds_rsub_rtn_u64" B64 None [B32 B64];
    DsIncRtnU64 "ds_inc_rtn_u64" B64 None [B32 B64];
    DsDecRtnU64 "ds_dec_rtn_u64" B64 None [B32 B64];
    DsMinRtnI64 "ds_min_rtn_i64" B64 None [B32 B64];
    DsMaxRtnI64 "ds_max_rtn_i64" B64 None [B32 B64];
    DsMinRtnU64 "ds_min_rtn_u64" B64 None [B32 B64];
    DsMaxRtnU64 "ds_max_rtn_u64" B64 None [B32 B64];
    DsAndRtnB64 "ds_and_rtn_b64" B64 None [B32 B64];
    DsOrRtnB64 "ds_or_rtn_b64" B64 None [B32 B64];
    DsXorRtnB64 "ds_xor_rtn_b64" B64 None [B32 B64];
    DsMskorRtnB64 "ds_mskor_rtn_b64" B64 None [B32 B64 B64];
    DsWrxchgRtnB64 "ds_wrxchg_rtn_b64" B64 None [B32 B64];
    DsWrxchg2RtnB64 "ds_wrxchg2_rtn_b64" W4 None [B32 B64 B64];
    DsWrxchg2st64RtnB64 "ds_wrxchg2st64_rtn_b64" W4 None [B32 B64 B64];
    DsCmpstRtnB64 "ds_cmpst_rtn_b64" B64 None [B32 B64 B64];
    DsCmpstRtnF64 "ds_cmpst_rtn_f64" F64 None [B32 F64 F64];
    DsMinRtnF64 "ds_min_rtn_f64" F64 None [B32 F64];
    DsMaxRtnF64 "ds_max_rtn_f64" F64 None [B32 F64];
    DsReadB64 "ds_read_b64" B64 None [B32];
    DsRead2B64 "ds_read2_b64" W4 None [B32];
    DsRead2st64B64 "ds_read2st64_b64" W4 None [B32];
    DsAddRtnF64 "ds_add_rtn_f64" F64 None [B32 F64];
    DsCondxchg32RtnB64 "ds_condxchg32_rtn_b64" B64 None [B32 B64];
    DsGwsSemaReleaseAll "ds_gws_sema_release_all" None None [];
    DsGwsInit "ds_gws_init" None None [B32];
    DsGwsSemaV "ds_gws_sema_v" None None [];
    DsGwsSemaBr "ds_gws_sema_br" None None [B32];
    DsGwsSemaP "ds_gws_sema_p" None None [];
    DsGwsBarrier "ds_gws_barrier" None None [B32];
    DsReadAddtidB32 "ds_read_addtid_b32" B32 None [];
    DsPkAddRtnF16 "ds_pk_add_rtn_f16" PkF16 None [B32 PkF16];
    DsPkAddRtnBf16 "ds_pk_add_rtn_bf16" PkBf16 None [B32 PkBf16];
    DsConsume "ds_consume" B32 None [];
    DsAppend "ds_append" B32 None [];
    DsWriteB96 "ds_write_b96" None None [B32 W3];
    DsWriteB128 "ds_write_b128" None None [B32 W4];
    DsReadB64TrB4 "ds_read_b64_tr_b4" B64 None [B32];
    DsReadB96TrB6 "ds_read_b96_tr_b6" W3 None [B32];
    DsReadB64TrB8 "ds_read_b64_tr_b8" B64 None [B32];
    DsReadB64TrB16 "ds_read_b64_tr_b16" B64 None [B32];
    DsReadB96 "ds_read_b96" W3 None [B32];
    DsReadB128 "ds_read_b128" W4 None [B32];
    FlatLoadUbyte "flat_load_ubyte" B32 None [B64];
    FlatLoadSbyte "flat_load_sbyte" B32 None [B64];
    FlatLoadUshort "flat_load_ushort" B32 None [B64];
    FlatLoadSshort "flat_load_sshort" B32 None [B64];
    FlatLoadDword "flat_load_dword" B32 None [B64];
    FlatLoadDwordx2 "flat_load_dwordx2" B64 None [B64];
    FlatLoadDwordx3 "flat_load_dwordx3" W3 None [B64];
    FlatLoadDwordx4 "flat_load_dwordx4" W4 None [B64];
    FlatStoreByte "flat_store_byte" None None [B64 B32];
    FlatStoreByteD16Hi "flat_store_byte_d16_hi" None None [B64 B32];
    FlatStoreShort "flat_store_short" None None [B64 B32];
    FlatStoreShortD16Hi "flat_store_short_d16_hi" None None [B64 B32];
    FlatStoreDword "flat_store_dword" None None [B64 B32];
    FlatStoreDwordx2 "flat_store_dwordx2" None None [B64 B64];
    FlatStoreDwordx3 "flat_store_dwordx3" None None [B64 W3];
    FlatStoreDwordx4 "flat_store_dwordx4" None None [B64 W4];
    FlatLoadUbyteD16 "flat_load_ubyte_d16" B32 None [B64];
    FlatLoadUbyteD16Hi "flat_load_ubyte_d16_hi" B32 None [B64];
    FlatLoadSbyteD16 "flat_load_sbyte_d16" B32 None [B64];
    FlatLoadSbyteD16Hi "flat_load_sbyte_d16_hi" B32 None [B64];
    FlatLoadShortD16 "flat_load_short_d16" B32 None [B64];
    FlatLoadShortD16Hi "flat_load_short_d16_hi" B32 None [B64];
    FlatAtomicSwap "flat_atomic_swap" B32 None [B64 B32];
    FlatAtomicCmpswap "flat_atomic_cmpswap" B32 None [B64 B64];
    FlatAtomicAdd "flat_atomic_add" B32 None [B64 B32];
    FlatAtomicSub "flat_atomic_sub" B32 None [B64 B32];
    FlatAtomicSmin "flat_atomic_smin" B32 None [B64 B32];
    FlatAtomicUmin "flat_atomic_umin" B32 None [B64 B32];
    FlatAtomicSmax "flat_atomic_smax" B32 None [B64 B32];
    FlatAtomicUmax "flat_atomic_umax" B32 None [B64 B32];
    FlatAtomicAnd "flat_atomic_and" B32 None [B64 B32];
    FlatAtomicOr "flat_atomic_or" B32 None [B64 B32];
    FlatAtomicXor "flat_atomic_xor" B32 None [B64 B32];
    FlatAtomicInc "flat_atomic_inc" B32 None [B64 B32];
    FlatAtomicDec "flat_atomic_dec" B32 None [B64 B32];
    FlatAtomicAddF32 "flat_atomic_add_f32" B32 None [B64 B32];
    FlatAtomicPkAddF16 "flat_atomic_pk_add_f16" B32 None [B64 B32];
    FlatAtomicAddF64 "flat_atomic_add_f64" B64 None [B64 B64];
    FlatAtomicMinF64 "flat_atomic_min_f64" B64 None [B64 B64];
    FlatAtomicMaxF64 "flat_atomic_max_f64" B64 None [B64 B64];
    FlatAtomicPkAddBf16 "flat_atomic_pk_add_bf16" B32 None [B64 B32];
    FlatAtomicSwapX2 "flat_atomic_swap_x2" B64 None [B64 B64];
    FlatAtomicCmpswapX2 "flat_atomic_cmpswap_x2" B64 None [B64 W4];
    FlatAtomicAddX2 "flat_atomic_add_x2" B64 None [B64 B64];
    FlatAtomicSubX2 "flat_atomic_sub_x2" B64 None [B64 B64];
    FlatAtomicSminX2 "flat_atomic_smin_x2" B64 None [B64 B64];
    FlatAtomicUminX2 "flat_atomic_umin_x2" B64 None [B64 B64];
    FlatAtomicSmaxX2 "flat_atomic_smax_x2" B64 None [B64 B64];
    FlatAtomicUmaxX2 "flat_atomic_umax_x2" B64 None [B64 B64];
    FlatAtomicAndX2 "flat_atomic_and_x2" B64 None [B64 B64];
    FlatAtomicOrX2 "flat_atomic_or_x2" B64 None [B64 B64];
    FlatAtomicXorX2 "flat_atomic_xor_x2" B64 None [B64 B64];
    FlatAtomicIncX2 "flat_atomic_inc_x2" B64 None [B64 B64];
    FlatAtomicDecX2 "flat_atomic_dec_x2" B64 None [B64 B64];
    GlobalLoadUbyte "global_load_ubyte" B32 None [B64 None B64];
    GlobalLoadSbyte "global_load_sbyte" B32 None [B64 None B64];
    GlobalLoadUshort "global_load_ushort" B32 None [B64 None B64];
    GlobalLoadSshort "global_load_sshort" B32 None [B64 None B64];
    GlobalLoadDword "global_load_dword" B32 None [B64 None B64];
    GlobalLoadDwordx2 "global_load_dwordx2" B64 None [B64 None B64];
    GlobalLoadDwordx3 "global_load_dwordx3" W3 None [B64 None B64];
    GlobalLoadDwordx4 "global_load_dwordx4" W4 None [B64 None B64];
    GlobalStoreByte "global_store_byte" None None [B64 B32 B64];
    GlobalStoreByteD16Hi "global_store_byte_d16_hi" None None [B64 B32 B64];
    GlobalStoreShort "global_store_short" None None [B64 B32 B64];
    GlobalStoreShortD16Hi "global_store_short_d16_hi" None None [B64 B32 B64];
    GlobalStoreDword "global_store_dword" None None [B64 B32 B64];
    GlobalStoreDwordx2 "global_store_dwordx2" None None [B64 B64 B64];
    GlobalStoreDwordx3 "global_store_dwordx3" None None [B64 W3 B64];
    GlobalStoreDwordx4 "global_store_dwordx4" None None [B64 W4 B64];
    GlobalLoadUbyteD16 "global_load_ubyte_d16" B32 None [B64 None B64];
    GlobalLoadUbyteD16Hi "global_load_ubyte_d16_hi" B32 None [B64 None B64];
    GlobalLoadSbyteD16 "global_load_sbyte_d16" B32 None [B64 None B64];
    GlobalLoadSbyteD16Hi "global_load_sbyte_d16_hi" B32 None [B64 None B64];
    GlobalLoadShortD16 "global_load_short_d16" B32 None [B64 None B64];
    GlobalLoadShortD16Hi "global_load_short_d16_hi" B32 None [B64 None B64];
    GlobalLoadLdsUbyte "global_load_lds_ubyte" B32 None [B64 None B64];
    GlobalLoadLdsSbyte "global_load_lds_sbyte" B32 None [B64 None B64];
    GlobalLoadLdsUshort "global_load_lds_ushort" B32 None [B64 None B64];
    GlobalLoadLdsSshort "global_load_lds_sshort" B32 None [B64 None B64];
    GlobalLoadLdsDword "global_load_lds_dword" B32 None [B64 None B64];
    GlobalAtomicSwap "global_atomic_swap" B32 None [B64 B32 B64];
    GlobalAtomicCmpswap "global_atomic_cmpswap" B32 None [B64 B64 B64];
    GlobalAtomicAdd "global_atomic_add" B32 None [B64 B32 B64];
    GlobalAtomicSub "global_atomic_sub" B32 None [B64 B32 B64];
    GlobalAtomicSmin "global_atomic_smin" B32 None [B64 B32 B64];
    GlobalAtomicUmin "global_atomic_umin" B32 None [B64 B32 B64];
    GlobalAtomicSmax "global_atomic_smax" B32 None [B64 B32 B64];
    GlobalAtomicUmax "global_atomic_umax" B32 None [B64 B32 B64];
    GlobalAtomicAnd "global_atomic_and" B32 None [B64 B32 B64];
    GlobalAtomicOr "global_atomic_or" B32 None [B64 B32 B64];
    GlobalAtomicXor "global_atomic_xor" B32 None [B64 B32 B64];
    GlobalAtomicInc "global_atomic_inc" B32 None [B64 B32 B64];
    GlobalAtomicDec "global_atomic_dec" B32 None [B64 B32 B64];
    GlobalAtomicAddF32 "global_atomic_add_f32" B32 None [B64 B32 B64];
    GlobalAtomicPkAddF16 "global_atomic_pk_add_f16" B32 None [B64 B32 B64];
    GlobalAtomicAddF64 "global_atomic_add_f64" B64 None [B64 B64 B64];
    GlobalAtomicMinF64 "global_atomic_min_f64" B64 None [B64 B64 B64];
    GlobalAtomicMaxF64 "global_atomic_max_f64" B64 None [B64 B64 B64];
    GlobalAtomicPkAddBf16 "global_atomic_pk_add_bf16" B32 None [B64 B32 B64];
    GlobalAtomicSwapX2 "global_atomic_swap_x2" B64 None [B64 B64 B64];
    GlobalAtomicCmpswapX2 "global_atomic_cmpswap_x2" B64 None [B64 W4 B64];
    GlobalAtomicAddX2 "global_atomic_add_x2" B64 None [B64 B64 B64];
    GlobalAtomicSubX2 "global_atomic_sub_x2" B64 None [B64 B64 B64];
    GlobalAtomicSminX2 "global_atomic_smin_x2" B64 None [B64 B64 B64];
    GlobalAtomicUminX2 "global_atomic_umin_x2" B64 None [B64 B64 B64];
    GlobalAtomicSmaxX2 "global_atomic_smax_x2" B64 None [B64 B64 B64];
    GlobalAtomicUmaxX2 "global_atomic_umax_x2" B64 None [B64 B64 B64];
    GlobalAtomicAndX2 "global_atomic_and_x2" B64 None [B64 B64 B64];
    GlobalAtomicOrX2 "global_atomic_or_x2" B64 None [B64 B64 B64];
    GlobalAtomicXorX2 "global_atomic_xor_x2" B64 None [B64 B64 B64];
    GlobalAtomicIncX2 "global_atomic_inc_x2" B64 None [B64 B64 B64];
    GlobalAtomicDecX2 "global_atomic_dec_x2" B64 None [B64 B64 B64];
    GlobalLoadLdsDwordx4 "global_load_lds_dwordx4" W4 None [B64 None B64];
    GlobalLoadLdsDwordx3 "global_load_lds_dwordx3" W3 None [B64 None B64];
    ScratchLoadUbyte "scratch_load_ubyte" B32 None [B32 None B32];
    ScratchLoadSbyte "scratch_load_sbyte" B32 None [B32 None B32];
    ScratchLoadUshort "scratch_load_ushort" B32 None [B32 None B32];
    ScratchLoadSshort "scratch_load_sshort" B32 None [B32 None B32];
    ScratchLoadDword "scratch_load_dword" B32 None [B32 None B32];
    ScratchLoadDwordx2 "scratch_load_dwordx2" B64 None [B32 None B32];
    ScratchLoadDwordx3 "scratch_load_dwordx3" W3 None [B32 None B32];
    ScratchLoadDwordx4 "scratch_load_dwordx4" W4 None [B32 None B32];
    ScratchStoreByte "scratch_store_byte" None None [B32 B32 B32];
    ScratchStoreByteD16Hi "scratch_store_byte_d16_hi" None None [B32 B32 B32];
    ScratchStoreShort "scratch_store_short" None None [B32 B32 B32];
    ScratchStoreShortD16Hi "scratch_store_short_d16_hi" None None [B32 B32 B32];
    ScratchStoreDword "scratch_store_dword" None None [B32 B32 B32];
    ScratchStoreDwordx2 "scratch_store_dwordx2" None None [B32 B64 B32];
    ScratchStoreDwordx3 "scratch_store_dwordx3" None None [B32 W3 B32];
    ScratchStoreDwordx4 "scratch_store_dwordx4" None None [B32 W4 B32];
    ScratchLoadUbyteD16 "scratch_load_ubyte_d16" B32 None [B32 None B32];
    ScratchLoadUbyteD16Hi "scratch_load_ubyte_d16_hi" B32 None [B32 None B32];
    ScratchLoadSbyteD16 "scratch_load_sbyte_d16" B32 None [B32 None B32];
    ScratchLoadSbyteD16Hi "scratch_load_sbyte_d16_hi" B32 None [B32 None B32];
    ScratchLoadShortD16 "scratch_load_short_d16" B32 None [B32 None B32];
    ScratchLoadShortD16Hi "scratch_load_short_d16_hi" B32 None [B32 None B32];
    ScratchLoadLdsUbyte "scratch_load_lds_ubyte" B32 None [B32 None B32];
    ScratchLoadLdsSbyte "scratch_load_lds_sbyte" B32 None [B32 None B32];
    ScratchLoadLdsUshort "scratch_load_lds_ushort" B32 None [B32 None B32];
    ScratchLoadLdsSshort "scratch_load_lds_sshort" B32 None [B32 None B32];
    ScratchLoadLdsDword "scratch_load_lds_dword" B32 None [B32 None B32];
    BufferLoadFormatX "buffer_load_format_x" B32 None [B64 W4 B32];
    BufferLoadFormatXy "buffer_load_format_xy" B64 None [B64 W4 B32];
    BufferLoadFormatXyz "buffer_load_format_xyz" W3 None [B64 W4 B32];
    BufferLoadFormatXyzw "buffer_load_format_xyzw" W4 None [B64 W4 B32];
    BufferStoreFormatX "buffer_store_format_x" B32 None [B64 W4 B32];
    BufferStoreFormatXy "buffer_store_format_xy" B64 None [B64 W4 B32];
    BufferStoreFormatXyz "buffer_store_format_xyz" W3 None [B64 W4 B32];
    BufferStoreFormatXyzw "buffer_store_format_xyzw" W4 None [B64 W4 B32];
    BufferLoadFormatD16X "buffer_load_format_d16_x" B32 None [B64 W4 B32];
    BufferLoadFormatD16Xy "buffer_load_format_d16_xy" B32 None [B64 W4 B32];
    BufferLoadFormatD16Xyz "buffer_load_format_d16_xyz" B64 None [B64 W4 B32];
    BufferLoadFormatD16Xyzw "buffer_load_format_d16_xyzw" B64 None [B64 W4 B32];
    BufferStoreFormatD16X "buffer_store_format_d16_x" B32 None [B64 W4 B32];
    BufferStoreFormatD16Xy "buffer_store_format_d16_xy" B32 None [B64 W4 B32];
    BufferStoreFormatD16Xyz "buffer_store_format_d16_xyz" B64 None [B64 W4 B32];
    BufferStoreFormatD16Xyzw "buffer_store_format_d16_xyzw" B64 None [B64 W4 B32];
    BufferLoadUbyte "buffer_load_ubyte" B32 None [B64 W4 B32];
    BufferLoadSbyte "buffer_load_sbyte" B32 None [B64 W4 B32];
    BufferLoadUshort "buffer_load_ushort" B32 None [B64 W4 B32];
    BufferLoadSshort "buffer_load_sshort" B32 None [B64 W4 B32];
    BufferLoadDword "buffer_load_dword" B32 None [B64 W4 B32];
    BufferLoadDwordx2 "buffer_load_dwordx2" B64 None [B64 W4 B32];
    BufferLoadDwordx3 "buffer_load_dwordx3" W3 None [B64 W4 B32];
    BufferLoadDwordx4 "buffer_load_dwordx4" W4 None [B64 W4 B32];
    BufferStoreByte "buffer_store_byte" B32 None [B64 W4 B32];
    BufferStoreByteD16Hi "buffer_store_byte_d16_hi" B32 None [B64 W4 B32];
    BufferStoreShort "buffer_store_short" B32 None [B64 W4 B32];
    BufferStoreShortD16Hi "buffer_store_short_d16_hi" B32 None [B64 W4 B32];
    BufferStoreDword "buffer_store_dword" B32 None [B64 W4 B32];
    BufferStoreDwordx2 "buffer_store_dwordx2" B64 None [B64 W4 B32];
    BufferStoreDwordx3 "buffer_store_dwordx3" W3 None [B64 W4 B32];
    BufferStoreDwordx4 "buffer_store_dwordx4" W4 None [B64 W4 B32];
    BufferLoadUbyteD16 "buffer_load_ubyte_d16" B32 None [B64 W4 B32];
    BufferLoadUbyteD16Hi "buffer_load_ubyte_d16_hi" B32 None [B64 W4 B32];
    BufferLoadSbyteD16 "buffer_load_sbyte_d16" B32 None [B64 W4 B32];
    BufferLoadSbyteD16Hi "buffer_load_sbyte_d16_hi" B32 None [B64 W4 B32];
    BufferLoadShortD16 "buffer_load_short_d16" B32 None [B64 W4 B32];
    BufferLoadShortD16Hi "buffer_load_short_d16_hi" B32 None [B64 W4 B32];
    BufferLoadFormatD16HiX "buffer_load_format_d16_hi_x" B32 None [B64 W4 B32];
    BufferStoreFormatD16HiX "buffer_store_format_d16_hi_x" B32 None [B64 W4 B32];
    BufferWbl2 "buffer_wbl2" None None [];
    BufferInv "buffer_inv" None None [];
    BufferAtomicSwap "buffer_atomic_swap" B32 None [B64 W4 B32];
    BufferAtomicCmpswap "buffer_atomic_cmpswap" B64 None [B64 W4 B32];
    BufferAtomicAdd "buffer_atomic_add" B32 None [B64 W4 B32];
    BufferAtomicSub "buffer_atomic_sub" B32 None [B64 W4 B32];
    BufferAtomicSmin "buffer_atomic_smin" B32 None [B64 W4 B32];
    BufferAtomicUmin "buffer_atomic_umin" B32 None [B64 W4 B32];
    BufferAtomicSmax "buffer_atomic_smax" B32 None [B64 W4 B32];
    BufferAtomicUmax "buffer_atomic_umax" B32 None [B64 W4 B32];
    BufferAtomicAnd "buffer_atomic_and" B32 None [B64 W4 B32];
    BufferAtomicOr "buffer_atomic_or" B32 None [B64 W4 B32];
    BufferAtomicXor "buffer_atomic_xor" B32 None [B64 W4 B32];
    BufferAtomicInc "buffer_atomic_inc" B32 None [B64 W4 B32];
    BufferAtomicDec "buffer_atomic_dec" B32 None [B64 W4 B32];
    BufferAtomicAddF32 "buffer_atomic_add_f32" B32 None [B64 W4 B32];
    BufferAtomicPkAddF16 "buffer_atomic_pk_add_f16" B32 None [B64 W4 B32];
    BufferAtomicAddF64 "buffer_atomic_add_f64" B64 None [B64 W4 B32];
    BufferAtomicMinF64 "buffer_atomic_min_f64" B64 None [B64 W4 B32];
    BufferAtomicMaxF64 "buffer_atomic_max_f64" B64 None [B64 W4 B32];
    BufferAtomicPkAddBf16 "buffer_atomic_pk_add_bf16" B32 None [B64 W4 B32];
    BufferAtomicSwapX2 "buffer_atomic_swap_x2" B64 None [B64 W4 B32];
    BufferAtomicCmpswapX2 "buffer_atomic_cmpswap_x2" W4 None [B64 W4 B32];
    BufferAtomicAddX2 "buffer_atomic_add_x2" B64 None [B64 W4 B32];
    BufferAtomicSubX2 "buffer_atomic_sub_x2" B64 None [B64 W4 B32];
    BufferAtomicSminX2 "buffer_atomic_smin_x2" B64 None [B64 W4 B32];
    BufferAtomicUminX2 "buffer_atomic_umin_x2" B64 None [B64 W4 B32];
    BufferAtomicSmaxX2 "buffer_atomic_smax_x2" B64 None [B64 W4 B32];
    BufferAtomicUmaxX2 "buffer_atomic_umax_x2" B64 None [B64 W4 B32];
    BufferAtomicAndX2 "buffer_atomic_and_x2" B64 None [B64 W4 B32];
    BufferAtomicOrX2 "buffer_atomic_or_x2" B64 None [B64 W4 B32];
    BufferAtomicXorX2 "buffer_atomic_xor_x2" B64 None [B64 W4 B32];
    BufferAtomicIncX2 "buffer_atomic_inc_x2" B64 None [B64 W4 B32];
    BufferAtomicDecX2 "buffer_atomic_dec_x2" B64 None [B64 W4 B32];
    TbufferLoadFormatX "tbuffer_load_format_x" B32 None [B64 W4 B32];
    TbufferLoadFormatXy "tbuffer_load_format_xy" B64 None [B64 W4 B32];
    TbufferLoadFormatXyz "tbuffer_load_format_xyz" W3 None [B64 W4 B32];
    TbufferLoadFormatXyzw "tbuffer_load_format_xyzw" W4 None [B64 W4 B32];
    TbufferStoreFormatX "tbuffer_store_format_x" B32 None [B64 W4 B32];
    TbufferStoreFormatXy "tbuffer_store_format_xy" B64 None [B64 W4 B32];
    TbufferStoreFormatXyz "tbuffer_store_format_xyz" W3 None [B64 W4 B32];
    TbufferStoreFormatXyzw "tbuffer_store_format_xyzw" W4 None [B64 W4 B32];
    TbufferLoadFormatD16X "tbuffer_load_format_d16_x" B32 None [B64 W4 B32];
    TbufferLoadFormatD16Xy "tbuffer_load_format_d16_xy" B32 None [B64 W4 B32];
    TbufferLoadFormatD16Xyz "tbuffer_load_format_d16_xyz" B64 None [B64 W4 B32];
    TbufferLoadFormatD16Xyzw "tbuffer_load_format_d16_xyzw" B64 None [B64 W4 B32];
    TbufferStoreFormatD16X "tbuffer_store_format_d16_x" B32 None [B64 W4 B32];
    TbufferStoreFormatD16Xy "tbuffer_store_format_d16_xy" B32 None [B64 W4 B32];
    TbufferStoreFormatD16Xyz "tbuffer_store_format_d16_xyz" B64 None [B64 W4 B32];
    TbufferStoreFormatD16Xyzw "tbuffer_store_format_d16_xyzw" B64 None [B64 W4 B32];
}

/// Opcodes of the SOP1 encoding, ascending.
pub static SOP1: &[(u16, Op)] = &[
    (0, Op::SMovB32),
    (1, Op::SMovB64),
    (2, Op::SCmovB32),
    (3, Op::SCmovB64),
    (4, Op::SNotB32),
    (5, Op::SNotB64),
    (6, Op::SWqmB32),
    (7, Op::SWqmB64),
    (8, Op::SBrevB32),
    (9, Op::SBrevB64),
    (10, Op::SBcnt0I32B32),
    (11, Op::SBcnt0I32B64),
    (12, Op::SBcnt1I32B32),
    (13, Op::SBcnt1I32B64),
    (14, Op::SFf0I32B32),
    (15, Op::SFf0I32B64),
    (16, Op::SFf1I32B32),
    (17, Op::SFf1I32B64),
    (18, Op::SFlbitI32B32),
    (19, Op::SFlbitI32B64),
    (20, Op::SFlbitI32),
    (21, Op::SFlbitI32I64),
    (22, Op::SSextI32I8),
    (23, Op::SSextI32I16),
    (24, Op::SBitset0B32),
    (25, Op::SBitset0B64),
    (26, Op::SBitset1B32),
    (27, Op::SBitset1B64),
    (28, Op::SGetpcB64),
    (29, Op::SSetpcB64),
    (30, Op::SSwappcB64),
    (31, Op::SRfeB64),
    (32, Op::SAndSaveexecB64),
    (33, Op::SOrSaveexecB64),
    (34, Op::SXorSaveexecB64),
    (35, Op::SAndn2SaveexecB64),
    (36, Op::SOrn2SaveexecB64),
    (37, Op::SNandSaveexecB64),
    (38, Op::SNorSaveexecB64),
    (39, Op::SXnorSaveexecB64),
    (40, Op::SQuadmaskB32),
    (41, Op::SQuadmaskB64),
    (42, Op::SMovrelsB32),
    (43, Op::SMovrelsB64),
    (44, Op::SMovreldB32),
    (45, Op::SMovreldB64),
    (46, Op::SCbranchJoin),
    (48, Op::SAbsI32),
    (50, Op::SSetGprIdxIdx),
    (51, Op::SAndn1SaveexecB64),
    (52, Op::SOrn1SaveexecB64),
    (53, Op::SAndn1WrexecB64),
    (54, Op::SAndn2WrexecB64),
    (55, Op::SBitreplicateB64B32),
];

/// Opcodes of the SOP2 encoding, ascending.
pub static SOP2: &[(u16, Op)] = &[
    (0, Op::SAddU32),
    (1, Op::SSubU32),
    (2, Op::SAddI32),
    (3, Op::SSubI32),
    (4, Op::SAddcU32),
    (5, Op::SSubbU32),
    (6, Op::SMinI32),
    (7, Op::SMinU32),
    (8, Op::SMaxI32),
    (9, Op::SMaxU32),
    (10, Op::SCselectB32),
    (11, Op::SCselectB64),
    (12, Op::SAndB32),
    (13, Op::SAndB64),
    (14, Op::SOrB32),
    (15, Op::SOrB64),
    (16, Op::SXorB32),
    (17, Op::SXorB64),
    (18, Op::SAndn2B32),
    (19, Op::SAndn2B64),
    (20, Op::SOrn2B32),
    (21, Op::SOrn2B64),
    (22, Op::SNandB32),
    (23, Op::SNandB64),
    (24, Op::SNorB32),
    (25, Op::SNorB64),
    (26, Op::SXnorB32),
    (27, Op::SXnorB64),
    (28, Op::SLshlB32),
    (29, Op::SLshlB64),
    (30, Op::SLshrB32),
    (31, Op::SLshrB64),
    (32, Op::SAshrI32),
    (33, Op::SAshrI64),
    (34, Op::SBfmB32),
    (35, Op::SBfmB64),
    (36, Op::SMulI32),
    (37, Op::SBfeU32),
    (38, Op::SBfeI32),
    (39, Op::SBfeU64),
    (40, Op::SBfeI64),
    (41, Op::SCbranchGFork),
    (42, Op::SAbsdiffI32),
    (43, Op::SRfeRestoreB64),
    (44, Op::SMulHiU32),
    (45, Op::SMulHiI32),
    (46, Op::SLshl1AddU32),
    (47, Op::SLshl2AddU32),
    (48, Op::SLshl3AddU32),
    (49, Op::SLshl4AddU32),
    (50, Op::SPackLlB32B16),
    (51, Op::SPackLhB32B16),
    (52, Op::SPackHhB32B16),
];

/// Opcodes of the SOPC encoding, ascending.
pub static SOPC: &[(u16, Op)] = &[
    (0, Op::SCmpEqI32),
    (1, Op::SCmpLgI32),
    (2, Op::SCmpGtI32),
    (3, Op::SCmpGeI32),
    (4, Op::SCmpLtI32),
    (5, Op::SCmpLeI32),
    (6, Op::SCmpEqU32),
    (7, Op::SCmpLgU32),
    (8, Op::SCmpGtU32),
    (9, Op::SCmpGeU32),
    (10, Op::SCmpLtU32),
    (11, Op::SCmpLeU32),
    (12, Op::SBitcmp0B32),
    (13, Op::SBitcmp1B32),
    (14, Op::SBitcmp0B64),
    (15, Op::SBitcmp1B64),
    (16, Op::SSetvskip),
    (17, Op::SSetGprIdxOn),
    (18, Op::SCmpEqU64),
    (19, Op::SCmpLgU64),
];

/// Opcodes of the SOPK encoding, ascending.
pub static SOPK: &[(u16, Op)] = &[
    (0, Op::SMovkI32),
    (1, Op::SCmovkI32),
    (2, Op::SCmpkEqI32),
    (3, Op::SCmpkLgI32),
    (4, Op::SCmpkGtI32),
    (5, Op::SCmpkGeI32),
    (6, Op::SCmpkLtI32),
    (7, Op::SCmpkLeI32),
    (8, Op::SCmpkEqU32),
    (9, Op::SCmpkLgU32),
    (10, Op::SCmpkGtU32),
    (11, Op::SCmpkGeU32),
    (12, Op::SCmpkLtU32),
    (13, Op::SCmpkLeU32),
    (14, Op::SAddkI32),
    (15, Op::SMulkI32),
    (16, Op::SCbranchIFork),
    (17, Op::SGetregB32),
    (18, Op::SSetregB32),
    (20, Op::SSetregImm32B32),
    (21, Op::SCallB64),
];

/// Opcodes of the SOPP encoding, ascending.
pub static SOPP: &[(u16, Op)] = &[
    (0, Op::SNop),
    (1, Op::SEndpgm),
    (2, Op::SBranch),
    (3, Op::SWakeup),
    (4, Op::SCbranchScc0),
    (5, Op::SCbranchScc1),
    (6, Op::SCbranchVccz),
    (7, Op::SCbranchVccnz),
    (8, Op::SCbranchExecz),
    (9, Op::SCbranchExecnz),
    (10, Op::SBarrier),
    (11, Op::SSetkill),
    (12, Op::SWaitcnt),
    (13, Op::SSethalt),
    (14, Op::SSleep),
    (15, Op::SSetprio),
    (16, Op::SSendmsg),
    (17, Op::SSendmsghalt),
    (18, Op::STrap),
    (19, Op::SIcacheInv),
    (20, Op::SIncperflevel),
    (21, Op::SDecperflevel),
    (22, Op::STtracedata),
    (23, Op::SCbranchCdbgsys),
    (24, Op::SCbranchCdbguser),
    (25, Op::SCbranchCdbgsysOrUser),
    (26, Op::SCbranchCdbgsysAndUser),
    (27, Op::SEndpgmSaved),
    (28, Op::SSetGprIdxOff),
    (29, Op::SSetGprIdxMode),
    (30, Op::SEndpgmOrderedPsDone),
];

/// Opcodes of the SMEM encoding, ascending.
pub static SMEM: &[(u16, Op)] = &[
    (0, Op::SLoadDword),
    (1, Op::SLoadDwordx2),
    (2, Op::SLoadDwordx4),
    (3, Op::SLoadDwordx8),
    (4, Op::SLoadDwordx16),
    (5, Op::SScratchLoadDword),
    (6, Op::SScratchLoadDwordx2),
    (7, Op::SScratchLoadDwordx4),
    (8, Op::SBufferLoadDword),
    (9, Op::SBufferLoadDwordx2),
    (10, Op::SBufferLoadDwordx4),
    (11, Op::SBufferLoadDwordx8),
    (12, Op::SBufferLoadDwordx16),
    (16, Op::SStoreDword),
    (17, Op::SStoreDwordx2),
    (18, Op::SStoreDwordx4),
    (21, Op::SScratchStoreDword),
    (22, Op::SScratchStoreDwordx2),
    (23, Op::SScratchStoreDwordx4),
    (24, Op::SBufferStoreDword),
    (25, Op::SBufferStoreDwordx2),
    (26, Op::SBufferStoreDwordx4),
    (32, Op::SDcacheInv),
    (33, Op::SDcacheWb),
    (34, Op::SDcacheInvVol),
    (35, Op::SDcacheWbVol),
    (36, Op::SMemtime),
    (37, Op::SMemrealtime),
    (38, Op::SAtcProbe),
    (39, Op::SAtcProbeBuffer),
    (40, Op::SDcacheDiscard),
    (41, Op::SDcacheDiscardX2),
    (64, Op::SBufferAtomicSwap),
    (65, Op::SBufferAtomicCmpswap),
    (66, Op::SBufferAtomicAdd),
    (67, Op::SBufferAtomicSub),
    (68, Op::SBufferAtomicSmin),
    (69, Op::SBufferAtomicUmin),
    (70, Op::SBufferAtomicSmax),
    (71, Op::SBufferAtomicUmax),
    (72, Op::SBufferAtomicAnd),
    (73, Op::SBufferAtomicOr),
    (74, Op::SBufferAtomicXor),
    (75, Op::SBufferAtomicInc),
    (76, Op::SBufferAtomicDec),
    (96, Op::SBufferAtomicSwapX2),
    (97, Op::SBufferAtomicCmpswapX2),
    (98, Op::SBufferAtomicAddX2),
    (99, Op::SBufferAtomicSubX2),
    (100, Op::SBufferAtomicSminX2),
    (101, Op::SBufferAtomicUminX2),
    (102, Op::SBufferAtomicSmaxX2),
    (103, Op::SBufferAtomicUmaxX2),
    (104, Op::SBufferAtomicAndX2),
    (105, Op::SBufferAtomicOrX2),
    (106, Op::SBufferAtomicXorX2),
    (107, Op::SBufferAtomicIncX2),
    (108, Op::SBufferAtomicDecX2),
    (128, Op::SAtomicSwap),
    (129, Op::SAtomicCmpswap),
    (130, Op::SAtomicAdd),
    (131, Op::SAtomicSub),
    (132, Op::SAtomicSmin),
    (133, Op::SAtomicUmin),
    (134, Op::SAtomicSmax),
    (135, Op::SAtomicUmax),
    (136, Op::SAtomicAnd),
    (137, Op::SAtomicOr),
    (138, Op::SAtomicXor),
    (139, Op::SAtomicInc),
    (140, Op::SAtomicDec),
    (160, Op::SAtomicSwapX2),
    (161, Op::SAtomicCmpswapX2),
    (162, Op::SAtomicAddX2),
    (163, Op::SAtomicSubX2),
    (164, Op::SAtomicSminX2),
    (165, Op::SAtomicUminX2),
    (166, Op::SAtomicSmaxX2),
    (167, Op::SAtomicUmaxX2),
    (168, Op::SAtomicAndX2),
    (169, Op::SAtomicOrX2),
    (170, Op::SAtomicXorX2),
    (171, Op::SAtomicIncX2),
    (172, Op::SAtomicDecX2),
];

/// Opcodes of the VOP1 encoding, ascending.
pub static VOP1: &[(u16, Op)] = &[
    (0, Op::VNop),
    (1, Op::VMovB32),
    (2, Op::VReadfirstlaneB32),
    (3, Op::VCvtI32F64),
    (4, Op::VCvtF64I32),
    (5, Op::VCvtF32I32),
    (6, Op::VCvtF32U32),
    (7, Op::VCvtU32F32),
    (8, Op::VCvtI32F32),
    (10, Op::VCvtF16F32),
    (11, Op::VCvtF32F16),
    (12, Op::VCvtRpiI32F32),
    (13, Op::VCvtFlrI32F32),
    (14, Op::VCvtOffF32I4),
    (15, Op::VCvtF32F64),
    (16, Op::VCvtF64F32),
    (17, Op::VCvtF32Ubyte0),
    (18, Op::VCvtF32Ubyte1),
    (19, Op::VCvtF32Ubyte2),
    (20, Op::VCvtF32Ubyte3),
    (21, Op::VCvtU32F64),
    (22, Op::VCvtF64U32),
    (23, Op::VTruncF64),
    (24, Op::VCeilF64),
    (25, Op::VRndneF64),
    (26, Op::VFloorF64),
    (27, Op::VFractF32),
    (28, Op::VTruncF32),
    (29, Op::VCeilF32),
    (30, Op::VRndneF32),
    (31, Op::VFloorF32),
    (32, Op::VExpF32),
    (33, Op::VLogF32),
    (34, Op::VRcpF32),
    (35, Op::VRcpIflagF32),
    (36, Op::VRsqF32),
    (37, Op::VRcpF64),
    (38, Op::VRsqF64),
    (39, Op::VSqrtF32),
    (40, Op::VSqrtF64),
    (41, Op::VSinF32),
    (42, Op::VCosF32),
    (43, Op::VNotB32),
    (44, Op::VBfrevB32),
    (45, Op::VFfbhU32),
    (46, Op::VFfblB32),
    (47, Op::VFfbhI32),
    (48, Op::VFrexpExpI32F64),
    (49, Op::VFrexpMantF64),
    (50, Op::VFractF64),
    (51, Op::VFrexpExpI32F32),
    (52, Op::VFrexpMantF32),
    (53, Op::VClrexcp),
    (55, Op::VScreenPartition4seB32),
    (56, Op::VMovB64),
    (57, Op::VCvtF16U16),
    (58, Op::VCvtF16I16),
    (59, Op::VCvtU16F16),
    (60, Op::VCvtI16F16),
    (61, Op::VRcpF16),
    (62, Op::VSqrtF16),
    (63, Op::VRsqF16),
    (64, Op::VLogF16),
    (65, Op::VExpF16),
    (66, Op::VFrexpMantF16),
    (67, Op::VFrexpExpI16F16),
    (68, Op::VFloorF16),
    (69, Op::VCeilF16),
    (70, Op::VTruncF16),
    (71, Op::VRndneF16),
    (72, Op::VFractF16),
    (73, Op::VSinF16),
    (74, Op::VCosF16),
    (75, Op::VExpLegacyF32),
    (76, Op::VLogLegacyF32),
    (77, Op::VCvtNormI16F16),
    (78, Op::VCvtNormU16F16),
    (79, Op::VSatPkU8I16),
    (81, Op::VSwapB32),
    (82, Op::VAccvgprMovB32),
    (84, Op::VCvtF32Fp8),
    (85, Op::VCvtF32Bf8),
    (86, Op::VCvtPkF32Fp8),
    (87, Op::VCvtPkF32Bf8),
    (88, Op::VPrngB32),
    (89, Op::VPermlane16SwapB32),
    (90, Op::VPermlane32SwapB32),
    (91, Op::VCvtF32Bf16),
];

/// Opcodes of the VOP2 encoding, ascending.
pub static VOP2: &[(u16, Op)] = &[
    (0, Op::VCndmaskB32),
    (1, Op::VAddF32),
    (2, Op::VSubF32),
    (3, Op::VSubrevF32),
    (4, Op::VFmacF64),
    (5, Op::VMulF32),
    (6, Op::VMulI32I24),
    (7, Op::VMulHiI32I24),
    (8, Op::VMulU32U24),
    (9, Op::VMulHiU32U24),
    (10, Op::VMinF32),
    (11, Op::VMaxF32),
    (12, Op::VMinI32),
    (13, Op::VMaxI32),
    (14, Op::VMinU32),
    (15, Op::VMaxU32),
    (16, Op::VLshrrevB32),
    (17, Op::VAshrrevI32),
    (18, Op::VLshlrevB32),
    (19, Op::VAndB32),
    (20, Op::VOrB32),
    (21, Op::VXorB32),
    (22, Op::VDot2cF32Bf16),
    (23, Op::VFmamkF32),
    (24, Op::VFmaakF32),
    (25, Op::VAddCoU32),
    (26, Op::VSubCoU32),
    (27, Op::VSubrevCoU32),
    (28, Op::VAddcCoU32),
    (29, Op::VSubbCoU32),
    (30, Op::VSubbrevCoU32),
    (31, Op::VAddF16),
    (32, Op::VSubF16),
    (33, Op::VSubrevF16),
    (34, Op::VMulF16),
    (35, Op::VMacF16),
    (36, Op::VMadmkF16),
    (37, Op::VMadakF16),
    (38, Op::VAddU16),
    (39, Op::VSubU16),
    (40, Op::VSubrevU16),
    (41, Op::VMulLoU16),
    (42, Op::VLshlrevB16),
    (43, Op::VLshrrevB16),
    (44, Op::VAshrrevI16),
    (45, Op::VMaxF16),
    (46, Op::VMinF16),
    (47, Op::VMaxU16),
    (48, Op::VMaxI16),
    (49, Op::VMinU16),
    (50, Op::VMinI16),
    (51, Op::VLdexpF16),
    (52, Op::VAddU32),
    (53, Op::VSubU32),
    (54, Op::VSubrevU32),
    (55, Op::VDot2cF32F16),
    (56, Op::VDot2cI32I16),
    (57, Op::VDot4cI32I8),
    (58, Op::VDot8cI32I4),
    (59, Op::VFmacF32),
    (60, Op::VPkFmacF16),
    (61, Op::VXnorB32),
];

/// Opcodes of the VOPC encoding, ascending.
pub static VOPC: &[(u16, Op)] = &[
    (16, Op::VCmpClassF32),
    (17, Op::VCmpxClassF32),
    (18, Op::VCmpClassF64),
    (19, Op::VCmpxClassF64),
    (20, Op::VCmpClassF16),
    (21, Op::VCmpxClassF16),
    (32, Op::VCmpFF16),
    (33, Op::VCmpLtF16),
    (34, Op::VCmpEqF16),
    (35, Op::VCmpLeF16),
    (36, Op::VCmpGtF16),
    (37, Op::VCmpLgF16),
    (38, Op::VCmpGeF16),
    (39, Op::VCmpOF16),
    (40, Op::VCmpUF16),
    (41, Op::VCmpNgeF16),
    (42, Op::VCmpNlgF16),
    (43, Op::VCmpNgtF16),
    (44, Op::VCmpNleF16),
    (45, Op::VCmpNeqF16),
    (46, Op::VCmpNltF16),
    (47, Op::VCmpTruF16),
    (48, Op::VCmpxFF16),
    (49, Op::VCmpxLtF16),
    (50, Op::VCmpxEqF16),
    (51, Op::VCmpxLeF16),
    (52, Op::VCmpxGtF16),
    (53, Op::VCmpxLgF16),
    (54, Op::VCmpxGeF16),
    (55, Op::VCmpxOF16),
    (56, Op::VCmpxUF16),
    (57, Op::VCmpxNgeF16),
    (58, Op::VCmpxNlgF16),
    (59, Op::VCmpxNgtF16),
    (60, Op::VCmpxNleF16),
    (61, Op::VCmpxNeqF16),
    (62, Op::VCmpxNltF16),
    (63, Op::VCmpxTruF16),
    (64, Op::VCmpFF32),
    (65, Op::VCmpLtF32),
    (66, Op::VCmpEqF32),
    (67, Op::VCmpLeF32),
    (68, Op::VCmpGtF32),
    (69, Op::VCmpLgF32),
    (70, Op::VCmpGeF32),
    (71, Op::VCmpOF32),
    (72, Op::VCmpUF32),
    (73, Op::VCmpNgeF32),
    (74, Op::VCmpNlgF32),
    (75, Op::VCmpNgtF32),
    (76, Op::VCmpNleF32),
    (77, Op::VCmpNeqF32),
    (78, Op::VCmpNltF32),
    (79, Op::VCmpTruF32),
    (80, Op::VCmpxFF32),
    (81, Op::VCmpxLtF32),
    (82, Op::VCmpxEqF32),
    (83, Op::VCmpxLeF32),
    (84, Op::VCmpxGtF32),
    (85, Op::VCmpxLgF32),
    (86, Op::VCmpxGeF32),
    (87, Op::VCmpxOF32),
    (88, Op::VCmpxUF32),
    (89, Op::VCmpxNgeF32),
    (90, Op::VCmpxNlgF32),
    (91, Op::VCmpxNgtF32),
    (92, Op::VCmpxNleF32),
    (93, Op::VCmpxNeqF32),
    (94, Op::VCmpxNltF32),
    (95, Op::VCmpxTruF32),
    (96, Op::VCmpFF64),
    (97, Op::VCmpLtF64),
    (98, Op::VCmpEqF64),
    (99, Op::VCmpLeF64),
    (100, Op::VCmpGtF64),
    (101, Op::VCmpLgF64),
    (102, Op::VCmpGeF64),
    (103, Op::VCmpOF64),
    (104, Op::VCmpUF64),
    (105, Op::VCmpNgeF64),
    (106, Op::VCmpNlgF64),
    (107, Op::VCmpNgtF64),
    (108, Op::VCmpNleF64),
    (109, Op::VCmpNeqF64),
    (110, Op::VCmpNltF64),
    (111, Op::VCmpTruF64),
    (112, Op::VCmpxFF64),
    (113, Op::VCmpxLtF64),
    (114, Op::VCmpxEqF64),
    (115, Op::VCmpxLeF64),
    (116, Op::VCmpxGtF64),
    (117, Op::VCmpxLgF64),
    (118, Op::VCmpxGeF64),
    (119, Op::VCmpxOF64),
    (120, Op::VCmpxUF64),
    (121, Op::VCmpxNgeF64),
    (122, Op::VCmpxNlgF64),
    (123, Op::VCmpxNgtF64),
    (124, Op::VCmpxNleF64),
    (125, Op::VCmpxNeqF64),
    (126, Op::VCmpxNltF64),
    (127, Op::VCmpxTruF64),
    (160, Op::VCmpFI16),
    (161, Op::VCmpLtI16),
    (162, Op::VCmpEqI16),
    (163, Op::VCmpLeI16),
    (164, Op::VCmpGtI16),
    (165, Op::VCmpNeI16),
    (166, Op::VCmpGeI16),
    (167, Op::VCmpTI16),
    (168, Op::VCmpFU16),
    (169, Op::VCmpLtU16),
    (170, Op::VCmpEqU16),
    (171, Op::VCmpLeU16),
    (172, Op::VCmpGtU16),
    (173, Op::VCmpNeU16),
    (174, Op::VCmpGeU16),
    (175, Op::VCmpTU16),
    (176, Op::VCmpxFI16),
    (177, Op::VCmpxLtI16),
    (178, Op::VCmpxEqI16),
    (179, Op::VCmpxLeI16),
    (180, Op::VCmpxGtI16),
    (181, Op::VCmpxNeI16),
    (182, Op::VCmpxGeI16),
    (183, Op::VCmpxTI16),
    (184, Op::VCmpxFU16),
    (185, Op::VCmpxLtU16),
    (186, Op::VCmpxEqU16),
    (187, Op::VCmpxLeU16),
    (188, Op::VCmpxGtU16),
    (189, Op::VCmpxNeU16),
    (190, Op::VCmpxGeU16),
    (191, Op::VCmpxTU16),
    (192, Op::VCmpFI32),
    (193, Op::VCmpLtI32),
    (194, Op::VCmpEqI32),
    (195, Op::VCmpLeI32),
    (196, Op::VCmpGtI32),
    (197, Op::VCmpNeI32),
    (198, Op::VCmpGeI32),
    (199, Op::VCmpTI32),
    (200, Op::VCmpFU32),
    (201, Op::VCmpLtU32),
    (202, Op::VCmpEqU32),
    (203, Op::VCmpLeU32),
    (204, Op::VCmpGtU32),
    (205, Op::VCmpNeU32),
    (206, Op::VCmpGeU32),
    (207, Op::VCmpTU32),
    (208, Op::VCmpxFI32),
    (209, Op::VCmpxLtI32),
    (210, Op::VCmpxEqI32),
    (211, Op::VCmpxLeI32),
    (212, Op::VCmpxGtI32),
    (213, Op::VCmpxNeI32),
    (214, Op::VCmpxGeI32),
    (215, Op::VCmpxTI32),
    (216, Op::VCmpxFU32),
    (217, Op::VCmpxLtU32),
    (218, Op::VCmpxEqU32),
    (219, Op::VCmpxLeU32),
    (220, Op::VCmpxGtU32),
    (221, Op::VCmpxNeU32),
    (222, Op::VCmpxGeU32),
    (223, Op::VCmpxTU32),
    (224, Op::VCmpFI64),
    (225, Op::VCmpLtI64),
    (226, Op::VCmpEqI64),
    (227, Op::VCmpLeI64),
    (228, Op::VCmpGtI64),
    (229, Op::VCmpNeI64),
    (230, Op::VCmpGeI64),
    (231, Op::VCmpTI64),
    (232, Op::VCmpFU64),
    (233, Op::VCmpLtU64),
    (234, Op::VCmpEqU64),
    (235, Op::VCmpLeU64),
    (236, Op::VCmpGtU64),
    (237, Op::VCmpNeU64),
    (238, Op::VCmpGeU64),
    (239, Op::VCmpTU64),
    (240, Op::VCmpxFI64),
    (241, Op::VCmpxLtI64),
    (242, Op::VCmpxEqI64),
    (243, Op::VCmpxLeI64),
    (244, Op::VCmpxGtI64),
    (245, Op::VCmpxNeI64),
    (246, Op::VCmpxGeI64),
    (247, Op::VCmpxTI64),
    (248, Op::VCmpxFU64),
    (249, Op::VCmpxLtU64),
    (250, Op::VCmpxEqU64),
    (251, Op::VCmpxLeU64),
    (252, Op::VCmpxGtU64),
    (253, Op::VCmpxNeU64),
    (254, Op::VCmpxGeU64),
    (255, Op::VCmpxTU64),
];

/// Opcodes of the VOP3 encoding, ascending.
pub static VOP3: &[(u16, Op)] = &[
    (16, Op::VCmpClassF32),
    (17, Op::VCmpxClassF32),
    (18, Op::VCmpClassF64),
    (19, Op::VCmpxClassF64),
    (20, Op::VCmpClassF16),
    (21, Op::VCmpxClassF16),
    (32, Op::VCmpFF16),
    (33, Op::VCmpLtF16),
    (34, Op::VCmpEqF16),
    (35, Op::VCmpLeF16),
    (36, Op::VCmpGtF16),
    (37, Op::VCmpLgF16),
    (38, Op::VCmpGeF16),
    (39, Op::VCmpOF16),
    (40, Op::VCmpUF16),
    (41, Op::VCmpNgeF16),
    (42, Op::VCmpNlgF16),
    (43, Op::VCmpNgtF16),
    (44, Op::VCmpNleF16),
    (45, Op::VCmpNeqF16),
    (46, Op::VCmpNltF16),
    (47, Op::VCmpTruF16),
    (48, Op::VCmpxFF16),
    (49, Op::VCmpxLtF16),
    (50, Op::VCmpxEqF16),
    (51, Op::VCmpxLeF16),
    (52, Op::VCmpxGtF16),
    (53, Op::VCmpxLgF16),
    (54, Op::VCmpxGeF16),
    (55, Op::VCmpxOF16),
    (56, Op::VCmpxUF16),
    (57, Op::VCmpxNgeF16),
    (58, Op::VCmpxNlgF16),
    (59, Op::VCmpxNgtF16),
    (60, Op::VCmpxNleF16),
    (61, Op::VCmpxNeqF16),
    (62, Op::VCmpxNltF16),
    (63, Op::VCmpxTruF16),
    (64, Op::VCmpFF32),
    (65, Op::VCmpLtF32),
    (66, Op::VCmpEqF32),
    (67, Op::VCmpLeF32),
    (68, Op::VCmpGtF32),
    (69, Op::VCmpLgF32),
    (70, Op::VCmpGeF32),
    (71, Op::VCmpOF32),
    (72, Op::VCmpUF32),
    (73, Op::VCmpNgeF32),
    (74, Op::VCmpNlgF32),
    (75, Op::VCmpNgtF32),
    (76, Op::VCmpNleF32),
    (77, Op::VCmpNeqF32),
    (78, Op::VCmpNltF32),
    (79, Op::VCmpTruF32),
    (80, Op::VCmpxFF32),
    (81, Op::VCmpxLtF32),
    (82, Op::VCmpxEqF32),
    (83, Op::VCmpxLeF32),
    (84, Op::VCmpxGtF32),
    (85, Op::VCmpxLgF32),
    (86, Op::VCmpxGeF32),
    (87, Op::VCmpxOF32),
    (88, Op::VCmpxUF32),
    (89, Op::VCmpxNgeF32),
    (90, Op::VCmpxNlgF32),
    (91, Op::VCmpxNgtF32),
    (92, Op::VCmpxNleF32),
    (93, Op::VCmpxNeqF32),
    (94, Op::VCmpxNltF32),
    (95, Op::VCmpxTruF32),
    (96, Op::VCmpFF64),
    (97, Op::VCmpLtF64),
    (98, Op::VCmpEqF64),
    (99, Op::VCmpLeF64),
    (100, Op::VCmpGtF64),
    (101, Op::VCmpLgF64),
    (102, Op::VCmpGeF64),
    (103, Op::VCmpOF64),
    (104, Op::VCmpUF64),
    (105, Op::VCmpNgeF64),
    (106, Op::VCmpNlgF64),
    (107, Op::VCmpNgtF64),
    (108, Op::VCmpNleF64),
    (109, Op::VCmpNeqF64),
    (110, Op::VCmpNltF64),
    (111, Op::VCmpTruF64),
    (112, Op::VCmpxFF64),
    (113, Op::VCmpxLtF64),
    (114, Op::VCmpxEqF64),
    (115, Op::VCmpxLeF64),
    (116, Op::VCmpxGtF64),
    (117, Op::VCmpxLgF64),
    (118, Op::VCmpxGeF64),
    (119, Op::VCmpxOF64),
    (120, Op::VCmpxUF64),
    (121, Op::VCmpxNgeF64),
    (122, Op::VCmpxNlgF64),
    (123, Op::VCmpxNgtF64),
    (124, Op::VCmpxNleF64),
    (125, Op::VCmpxNeqF64),
    (126, Op::VCmpxNltF64),
    (127, Op::VCmpxTruF64),
    (160, Op::VCmpFI16),
    (161, Op::VCmpLtI16),
    (162, Op::VCmpEqI16),
    (163, Op::VCmpLeI16),
    (164, Op::VCmpGtI16),
    (165, Op::VCmpNeI16),
    (166, Op::VCmpGeI16),
    (167, Op::VCmpTI16),
    (168, Op::VCmpFU16),
    (169, Op::VCmpLtU16),
    (170, Op::VCmpEqU16),
    (171, Op::VCmpLeU16),
    (172, Op::VCmpGtU16),
    (173, Op::VCmpNeU16),
    (174, Op::VCmpGeU16),
    (175, Op::VCmpTU16),
    (176, Op::VCmpxFI16),
    (177, Op::VCmpxLtI16),
    (178, Op::VCmpxEqI16),
    (179, Op::VCmpxLeI16),
    (180, Op::VCmpxGtI16),
    (181, Op::VCmpxNeI16),
    (182, Op::VCmpxGeI16),
    (183, Op::VCmpxTI16),
    (184, Op::VCmpxFU16),
    (185, Op::VCmpxLtU16),
    (186, Op::VCmpxEqU16),
    (187, Op::VCmpxLeU16),
    (188, Op::VCmpxGtU16),
    (189, Op::VCmpxNeU16),
    (190, Op::VCmpxGeU16),
    (191, Op::VCmpxTU16),
    (192, Op::VCmpFI32),
    (193, Op::VCmpLtI32),
    (194, Op::VCmpEqI32),
    (195, Op::VCmpLeI32),
    (196, Op::VCmpGtI32),
    (197, Op::VCmpNeI32),
    (198, Op::VCmpGeI32),
    (199, Op::VCmpTI32),
    (200, Op::VCmpFU32),
    (201, Op::VCmpLtU32),
    (202, Op::VCmpEqU32),
    (203, Op::VCmpLeU32),
    (204, Op::VCmpGtU32),
    (205, Op::VCmpNeU32),
    (206, Op::VCmpGeU32),
    (207, Op::VCmpTU32),
    (208, Op::VCmpxFI32),
    (209, Op::VCmpxLtI32),
    (210, Op::VCmpxEqI32),
    (211, Op::VCmpxLeI32),
    (212, Op::VCmpxGtI32),
    (213, Op::VCmpxNeI32),
    (214, Op::VCmpxGeI32),
    (215, Op::VCmpxTI32),
    (216, Op::VCmpxFU32),
    (217, Op::VCmpxLtU32),
    (218, Op::VCmpxEqU32),
    (219, Op::VCmpxLeU32),
    (220, Op::VCmpxGtU32),
    (221, Op::VCmpxNeU32),
    (222, Op::VCmpxGeU32),
    (223, Op::VCmpxTU32),
    (224, Op::VCmpFI64),
    (225, Op::VCmpLtI64),
    (226, Op::VCmpEqI64),
    (227, Op::VCmpLeI64),
    (228, Op::VCmpGtI64),
    (229, Op::VCmpNeI64),
    (230, Op::VCmpGeI64),
    (231, Op::VCmpTI64),
    (232, Op::VCmpFU64),
    (233, Op::VCmpLtU64),
    (234, Op::VCmpEqU64),
    (235, Op::VCmpLeU64),
    (236, Op::VCmpGtU64),
    (237, Op::VCmpNeU64),
    (238, Op::VCmpGeU64),
    (239, Op::VCmpTU64),
    (240, Op::VCmpxFI64),
    (241, Op::VCmpxLtI64),
    (242, Op::VCmpxEqI64),
    (243, Op::VCmpxLeI64),
    (244, Op::VCmpxGtI64),
    (245, Op::VCmpxNeI64),
    (246, Op::VCmpxGeI64),
    (247, Op::VCmpxTI64),
    (248, Op::VCmpxFU64),
    (249, Op::VCmpxLtU64),
    (250, Op::VCmpxEqU64),
    (251, Op::VCmpxLeU64),
    (252, Op::VCmpxGtU64),
    (253, Op::VCmpxNeU64),
    (254, Op::VCmpxGeU64),
    (255, Op::VCmpxTU64),
    (256, Op::VCndmaskB32),
    (257, Op::VAddF32),
    (258, Op::VSubF32),
    (259, Op::VSubrevF32),
    (260, Op::VFmacF64),
    (261, Op::VMulF32),
    (262, Op::VMulI32I24),
    (263, Op::VMulHiI32I24),
    (264, Op::VMulU32U24),
    (265, Op::VMulHiU32U24),
    (266, Op::VMinF32),
    (267, Op::VMaxF32),
    (268, Op::VMinI32),
    (269, Op::VMaxI32),
    (270, Op::VMinU32),
    (271, Op::VMaxU32),
    (272, Op::VLshrrevB32),
    (273, Op::VAshrrevI32),
    (274, Op::VLshlrevB32),
    (275, Op::VAndB32),
    (276, Op::VOrB32),
    (277, Op::VXorB32),
    (278, Op::VDot2cF32Bf16),
    (287, Op::VAddF16),
    (288, Op::VSubF16),
    (289, Op::VSubrevF16),
    (290, Op::VMulF16),
    (291, Op::VMacF16),
    (294, Op::VAddU16),
    (295, Op::VSubU16),
    (296, Op::VSubrevU16),
    (297, Op::VMulLoU16),
    (298, Op::VLshlrevB16),
    (299, Op::VLshrrevB16),
    (300, Op::VAshrrevI16),
    (301, Op::VMaxF16),
    (302, Op::VMinF16),
    (303, Op::VMaxU16),
    (304, Op::VMaxI16),
    (305, Op::VMinU16),
    (306, Op::VMinI16),
    (307, Op::VLdexpF16),
    (308, Op::VAddU32),
    (309, Op::VSubU32),
    (310, Op::VSubrevU32),
    (311, Op::VDot2cF32F16),
    (312, Op::VDot2cI32I16),
    (313, Op::VDot4cI32I8),
    (314, Op::VDot8cI32I4),
    (315, Op::VFmacF32),
    (316, Op::VPkFmacF16),
    (317, Op::VXnorB32),
    (320, Op::VNop),
    (321, Op::VMovB32),
    (323, Op::VCvtI32F64),
    (324, Op::VCvtF64I32),
    (325, Op::VCvtF32I32),
    (326, Op::VCvtF32U32),
    (327, Op::VCvtU32F32),
    (328, Op::VCvtI32F32),
    (330, Op::VCvtF16F32),
    (331, Op::VCvtF32F16),
    (332, Op::VCvtRpiI32F32),
    (333, Op::VCvtFlrI32F32),
    (334, Op::VCvtOffF32I4),
    (335, Op::VCvtF32F64),
    (336, Op::VCvtF64F32),
    (337, Op::VCvtF32Ubyte0),
    (338, Op::VCvtF32Ubyte1),
    (339, Op::VCvtF32Ubyte2),
    (340, Op::VCvtF32Ubyte3),
    (341, Op::VCvtU32F64),
    (342, Op::VCvtF64U32),
    (343, Op::VTruncF64),
    (344, Op::VCeilF64),
    (345, Op::VRndneF64),
    (346, Op::VFloorF64),
    (347, Op::VFractF32),
    (348, Op::VTruncF32),
    (349, Op::VCeilF32),
    (350, Op::VRndneF32),
    (351, Op::VFloorF32),
    (352, Op::VExpF32),
    (353, Op::VLogF32),
    (354, Op::VRcpF32),
    (355, Op::VRcpIflagF32),
    (356, Op::VRsqF32),
    (357, Op::VRcpF64),
    (358, Op::VRsqF64),
    (359, Op::VSqrtF32),
    (360, Op::VSqrtF64),
    (361, Op::VSinF32),
    (362, Op::VCosF32),
    (363, Op::VNotB32),
    (364, Op::VBfrevB32),
    (365, Op::VFfbhU32),
    (366, Op::VFfblB32),
    (367, Op::VFfbhI32),
    (368, Op::VFrexpExpI32F64),
    (369, Op::VFrexpMantF64),
    (370, Op::VFractF64),
    (371, Op::VFrexpExpI32F32),
    (372, Op::VFrexpMantF32),
    (373, Op::VClrexcp),
    (375, Op::VScreenPartition4seB32),
    (376, Op::VMovB64),
    (377, Op::VCvtF16U16),
    (378, Op::VCvtF16I16),
    (379, Op::VCvtU16F16),
    (380, Op::VCvtI16F16),
    (381, Op::VRcpF16),
    (382, Op::VSqrtF16),
    (383, Op::VRsqF16),
    (384, Op::VLogF16),
    (385, Op::VExpF16),
    (386, Op::VFrexpMantF16),
    (387, Op::VFrexpExpI16F16),
    (388, Op::VFloorF16),
    (389, Op::VCeilF16),
    (390, Op::VTruncF16),
    (391, Op::VRndneF16),
    (392, Op::VFractF16),
    (393, Op::VSinF16),
    (394, Op::VCosF16),
    (395, Op::VExpLegacyF32),
    (396, Op::VLogLegacyF32),
    (397, Op::VCvtNormI16F16),
    (398, Op::VCvtNormU16F16),
    (399, Op::VSatPkU8I16),
    (404, Op::VCvtF32Fp8),
    (405, Op::VCvtF32Bf8),
    (406, Op::VCvtPkF32Fp8),
    (407, Op::VCvtPkF32Bf8),
    (408, Op::VPrngB32),
    (409, Op::VPermlane16SwapB32),
    (410, Op::VPermlane32SwapB32),
    (411, Op::VCvtF32Bf16),
    (450, Op::VMadI32I24),
    (451, Op::VMadU32U24),
    (452, Op::VCubeidF32),
    (453, Op::VCubescF32),
    (454, Op::VCubetcF32),
    (455, Op::VCubemaF32),
    (456, Op::VBfeU32),
    (457, Op::VBfeI32),
    (458, Op::VBfiB32),
    (459, Op::VFmaF32),
    (460, Op::VFmaF64),
    (461, Op::VLerpU8),
    (462, Op::VAlignbitB32),
    (463, Op::VAlignbyteB32),
    (464, Op::VMin3F32),
    (465, Op::VMin3I32),
    (466, Op::VMin3U32),
    (467, Op::VMax3F32),
    (468, Op::VMax3I32),
    (469, Op::VMax3U32),
    (470, Op::VMed3F32),
    (471, Op::VMed3I32),
    (472, Op::VMed3U32),
    (473, Op::VSadU8),
    (474, Op::VSadHiU8),
    (475, Op::VSadU16),
    (476, Op::VSadU32),
    (477, Op::VCvtPkU8F32),
    (478, Op::VDivFixupF32),
    (479, Op::VDivFixupF64),
    (482, Op::VDivFmasF32),
    (483, Op::VDivFmasF64),
    (484, Op::VMsadU8),
    (485, Op::VQsadPkU16U8),
    (486, Op::VMqsadPkU16U8),
    (487, Op::VMqsadU32U8),
    (490, Op::VMadLegacyF16),
    (491, Op::VMadLegacyU16),
    (492, Op::VMadLegacyI16),
    (493, Op::VPermB32),
    (494, Op::VFmaLegacyF16),
    (495, Op::VDivFixupLegacyF16),
    (496, Op::VCvtPkaccumU8F32),
    (497, Op::VMadU32U16),
    (498, Op::VMadI32I16),
    (499, Op::VXadU32),
    (500, Op::VMin3F16),
    (501, Op::VMin3I16),
    (502, Op::VMin3U16),
    (503, Op::VMax3F16),
    (504, Op::VMax3I16),
    (505, Op::VMax3U16),
    (506, Op::VMed3F16),
    (507, Op::VMed3I16),
    (508, Op::VMed3U16),
    (509, Op::VLshlAddU32),
    (510, Op::VAddLshlU32),
    (511, Op::VAdd3U32),
    (512, Op::VLshlOrB32),
    (513, Op::VAndOrB32),
    (514, Op::VOr3B32),
    (515, Op::VMadF16),
    (516, Op::VMadU16),
    (517, Op::VMadI16),
    (518, Op::VFmaF16),
    (519, Op::VDivFixupF16),
    (520, Op::VLshlAddU64),
    (563, Op::VBitop3B16),
    (564, Op::VBitop3B32),
    (565, Op::VCvtScalef32PkFp8F32),
    (566, Op::VCvtScalef32PkBf8F32),
    (567, Op::VCvtScalef32SrFp8F32),
    (568, Op::VCvtScalef32SrBf8F32),
    (569, Op::VCvtScalef32PkF32Fp8),
    (570, Op::VCvtScalef32PkF32Bf8),
    (571, Op::VCvtScalef32F32Fp8),
    (572, Op::VCvtScalef32F32Bf8),
    (573, Op::VCvtScalef32PkFp4F32),
    (574, Op::VCvtScalef32SrPkFp4F32),
    (575, Op::VCvtScalef32PkF32Fp4),
    (576, Op::VCvtScalef32PkFp8F16),
    (577, Op::VCvtScalef32PkBf8F16),
    (578, Op::VCvtScalef32SrFp8F16),
    (579, Op::VCvtScalef32SrBf8F16),
    (580, Op::VCvtScalef32PkFp8Bf16),
    (581, Op::VCvtScalef32PkBf8Bf16),
    (582, Op::VCvtScalef32SrFp8Bf16),
    (583, Op::VCvtScalef32SrBf8Bf16),
    (584, Op::VCvtScalef32PkF16Fp8),
    (585, Op::VCvtScalef32PkF16Bf8),
    (586, Op::VCvtScalef32F16Fp8),
    (587, Op::VCvtScalef32F16Bf8),
    (588, Op::VCvtScalef32PkFp4F16),
    (589, Op::VCvtScalef32PkFp4Bf16),
    (590, Op::VCvtScalef32SrPkFp4F16),
    (591, Op::VCvtScalef32SrPkFp4Bf16),
    (592, Op::VCvtScalef32PkF16Fp4),
    (593, Op::VCvtScalef32PkBf16Fp4),
    (594, Op::VCvtScalef322xpk16Fp6F32),
    (595, Op::VCvtScalef322xpk16Bf6F32),
    (596, Op::VCvtScalef32SrPk32Fp6F32),
    (597, Op::VCvtScalef32SrPk32Bf6F32),
    (598, Op::VCvtScalef32Pk32F32Fp6),
    (599, Op::VCvtScalef32Pk32F32Bf6),
    (600, Op::VCvtScalef32Pk32Fp6F16),
    (601, Op::VCvtScalef32Pk32Fp6Bf16),
    (602, Op::VCvtScalef32Pk32Bf6F16),
    (603, Op::VCvtScalef32Pk32Bf6Bf16),
    (604, Op::VCvtScalef32SrPk32Fp6F16),
    (605, Op::VCvtScalef32SrPk32Fp6Bf16),
    (606, Op::VCvtScalef32SrPk32Bf6F16),
    (607, Op::VCvtScalef32SrPk32Bf6Bf16),
    (608, Op::VCvtScalef32Pk32F16Fp6),
    (609, Op::VCvtScalef32Pk32Bf16Fp6),
    (610, Op::VCvtScalef32Pk32F16Bf6),
    (611, Op::VCvtScalef32Pk32Bf16Bf6),
    (613, Op::VAshrPkI8I32),
    (614, Op::VAshrPkU8I32),
    (615, Op::VCvtPkF16F32),
    (616, Op::VCvtPkBf16F32),
    (617, Op::VCvtScalef32PkBf16Fp8),
    (618, Op::VCvtScalef32PkBf16Bf8),
    (640, Op::VAddF64),
    (641, Op::VMulF64),
    (642, Op::VMinF64),
    (643, Op::VMaxF64),
    (644, Op::VLdexpF64),
    (645, Op::VMulLoU32),
    (646, Op::VMulHiU32),
    (647, Op::VMulHiI32),
    (648, Op::VLdexpF32),
    (649, Op::VReadlaneB32),
    (650, Op::VWritelaneB32),
    (651, Op::VBcntU32B32),
    (652, Op::VMbcntLoU32B32),
    (653, Op::VMbcntHiU32B32),
    (655, Op::VLshlrevB64),
    (656, Op::VLshrrevB64),
    (657, Op::VAshrrevI64),
    (658, Op::VTrigPreopF64),
    (659, Op::VBfmB32),
    (660, Op::VCvtPknormI16F32),
    (661, Op::VCvtPknormU16F32),
    (662, Op::VCvtPkrtzF16F32),
    (663, Op::VCvtPkU16U32),
    (664, Op::VCvtPkI16I32),
    (665, Op::VCvtPknormI16F16),
    (666, Op::VCvtPknormU16F16),
    (668, Op::VAddI32),
    (669, Op::VSubI32),
    (670, Op::VAddI16),
    (671, Op::VSubI16),
    (672, Op::VPackB32F16),
    (673, Op::VMulLegacyF32),
    (674, Op::VCvtPkFp8F32),
    (675, Op::VCvtPkBf8F32),
    (676, Op::VCvtSrFp8F32),
    (677, Op::VCvtSrBf8F32),
    (678, Op::VCvtSrF16F32),
    (679, Op::VCvtSrBf16F32),
    (680, Op::VMinimum3F32),
    (681, Op::VMaximum3F32),
];

/// Opcodes of the VOP3SD encoding, ascending.
pub static VOP3SD: &[(u16, Op)] = &[
    (281, Op::VAddCoU32),
    (282, Op::VSubCoU32),
    (283, Op::VSubrevCoU32),
    (284, Op::VAddcCoU32),
    (285, Op::VSubbCoU32),
    (286, Op::VSubbrevCoU32),
    (480, Op::VDivScaleF32),
    (481, Op::VDivScaleF64),
    (488, Op::VMadU64U32),
    (489, Op::VMadI64I32),
];

/// Opcodes of the VOP3P encoding, ascending.
pub static VOP3P: &[(u16, Op)] = &[
    (0, Op::VPkMadI16),
    (1, Op::VPkMulLoU16),
    (2, Op::VPkAddI16),
    (3, Op::VPkSubI16),
    (4, Op::VPkLshlrevB16),
    (5, Op::VPkLshrrevB16),
    (6, Op::VPkAshrrevI16),
    (7, Op::VPkMaxI16),
    (8, Op::VPkMinI16),
    (9, Op::VPkMadU16),
    (10, Op::VPkAddU16),
    (11, Op::VPkSubU16),
    (12, Op::VPkMaxU16),
    (13, Op::VPkMinU16),
    (14, Op::VPkFmaF16),
    (15, Op::VPkAddF16),
    (16, Op::VPkMulF16),
    (17, Op::VPkMinF16),
    (18, Op::VPkMaxF16),
    (26, Op::VDot2F32Bf16),
    (27, Op::VPkMinimum3F16),
    (28, Op::VPkMaximum3F16),
    (32, Op::VFmaMixF32),
    (33, Op::VFmaMixloF16),
    (34, Op::VFmaMixhiF16),
    (35, Op::VDot2F32F16),
    (38, Op::VDot2I32I16),
    (39, Op::VDot2U32U16),
    (40, Op::VDot4I32I8),
    (41, Op::VDot4U32U8),
    (42, Op::VDot8I32I4),
    (43, Op::VDot8U32U4),
    (44, Op::VMfmaLdScaleB32),
    (45, Op::VMfmaF3216x16x128F8f6f4),
    (46, Op::VMfmaF3232x32x64F8f6f4),
    (48, Op::VPkFmaF32),
    (49, Op::VPkMulF32),
    (50, Op::VPkAddF32),
    (51, Op::VPkMovB32),
    (53, Op::VMfmaF3216x16x32Bf16),
    (54, Op::VMfmaI3216x16x64I8),
    (55, Op::VMfmaF3232x32x16Bf16),
    (56, Op::VMfmaI3232x32x32I8),
    (57, Op::VSmfmacF3216x16x64Bf16),
    (58, Op::VSmfmacI3216x16x128I8),
    (59, Op::VSmfmacF3216x16x128Bf8Bf8),
    (60, Op::VSmfmacF3216x16x128Bf8Fp8),
    (61, Op::VSmfmacF3216x16x128Fp8Bf8),
    (62, Op::VMfmaF3216x16x8Xf32),
    (63, Op::VMfmaF3232x32x4Xf32),
    (64, Op::VMfmaF3232x32x12bF32),
    (65, Op::VMfmaF3216x16x14bF32),
    (66, Op::VMfmaF324x4x116bF32),
    (67, Op::VSmfmacF3216x16x128Fp8Fp8),
    (68, Op::VMfmaF3232x32x2F32),
    (69, Op::VMfmaF3216x16x4F32),
    (70, Op::VSmfmacF3232x32x32Bf16),
    (71, Op::VSmfmacI3232x32x64I8),
    (72, Op::VMfmaF3232x32x42bF16),
    (73, Op::VMfmaF3216x16x44bF16),
    (74, Op::VMfmaF324x4x416bF16),
    (75, Op::VSmfmacF3232x32x64Bf8Bf8),
    (76, Op::VMfmaF3232x32x8F16),
    (77, Op::VMfmaF3216x16x16F16),
    (78, Op::VSmfmacF3232x32x64Bf8Fp8),
    (79, Op::VSmfmacF3232x32x64Fp8Bf8),
    (80, Op::VMfmaI3232x32x42bI8),
    (81, Op::VMfmaI3216x16x44bI8),
    (82, Op::VMfmaI324x4x416bI8),
    (83, Op::VSmfmacF3232x32x64Fp8Fp8),
    (84, Op::VMfmaF3216x16x32F16),
    (85, Op::VMfmaF3232x32x16F16),
    (86, Op::VMfmaI3232x32x16I8),
    (87, Op::VMfmaI3216x16x32I8),
    (88, Op::VAccvgprReadB32),
    (89, Op::VAccvgprWriteB32),
    (90, Op::VSmfmacF3216x16x64F16),
    (91, Op::VSmfmacF3232x32x32F16),
    (93, Op::VMfmaF3232x32x42bBf16),
    (94, Op::VMfmaF3216x16x44bBf16),
    (95, Op::VMfmaF324x4x416bBf16),
    (96, Op::VMfmaF3232x32x8Bf16),
    (97, Op::VMfmaF3216x16x16Bf16),
    (98, Op::VSmfmacF3216x16x32F16),
    (100, Op::VSmfmacF3232x32x16F16),
    (102, Op::VSmfmacF3216x16x32Bf16),
    (104, Op::VSmfmacF3232x32x16Bf16),
    (106, Op::VSmfmacI3216x16x64I8),
    (108, Op::VSmfmacI3232x32x32I8),
    (110, Op::VMfmaF6416x16x4F64),
    (111, Op::VMfmaF644x4x44bF64),
    (112, Op::VMfmaF3216x16x32Bf8Bf8),
    (113, Op::VMfmaF3216x16x32Bf8Fp8),
    (114, Op::VMfmaF3216x16x32Fp8Bf8),
    (115, Op::VMfmaF3216x16x32Fp8Fp8),
    (116, Op::VMfmaF3232x32x16Bf8Bf8),
    (117, Op::VMfmaF3232x32x16Bf8Fp8),
    (118, Op::VMfmaF3232x32x16Fp8Bf8),
    (119, Op::VMfmaF3232x32x16Fp8Fp8),
    (120, Op::VSmfmacF3216x16x64Bf8Bf8),
    (121, Op::VSmfmacF3216x16x64Bf8Fp8),
    (122, Op::VSmfmacF3216x16x64Fp8Bf8),
    (123, Op::VSmfmacF3216x16x64Fp8Fp8),
    (124, Op::VSmfmacF3232x32x32Bf8Bf8),
    (125, Op::VSmfmacF3232x32x32Bf8Fp8),
    (126, Op::VSmfmacF3232x32x32Fp8Bf8),
    (127, Op::VSmfmacF3232x32x32Fp8Fp8),
];

/// Opcodes of the VOP3PX2 encoding, ascending.
pub static VOP3PX2: &[(u16, Op)] =
    &[(45, Op::VMfmaScaleF3216x16x128F8f6f4), (46, Op::VMfmaScaleF3232x32x64F8f6f4)];

/// Opcodes of the DS encoding, ascending.
pub static DS: &[(u16, Op)] = &[
    (0, Op::DsAddU32),
    (1, Op::DsSubU32),
    (2, Op::DsRsubU32),
    (3, Op::DsIncU32),
    (4, Op::DsDecU32),
    (5, Op::DsMinI32),
    (6, Op::DsMaxI32),
    (7, Op::DsMinU32),
    (8, Op::DsMaxU32),
    (9, Op::DsAndB32),
    (10, Op::DsOrB32),
    (11, Op::DsXorB32),
    (12, Op::DsMskorB32),
    (13, Op::DsWriteB32),
    (14, Op::DsWrite2B32),
    (15, Op::DsWrite2st64B32),
    (16, Op::DsCmpstB32),
    (17, Op::DsCmpstF32),
    (18, Op::DsMinF32),
    (19, Op::DsMaxF32),
    (20, Op::DsNop),
    (21, Op::DsAddF32),
    (23, Op::DsPkAddF16),
    (24, Op::DsPkAddBf16),
    (29, Op::DsWriteAddtidB32),
    (30, Op::DsWriteB8),
    (31, Op::DsWriteB16),
    (32, Op::DsAddRtnU32),
    (33, Op::DsSubRtnU32),
    (34, Op::DsRsubRtnU32),
    (35, Op::DsIncRtnU32),
    (36, Op::DsDecRtnU32),
    (37, Op::DsMinRtnI32),
    (38, Op::DsMaxRtnI32),
    (39, Op::DsMinRtnU32),
    (40, Op::DsMaxRtnU32),
    (41, Op::DsAndRtnB32),
    (42, Op::DsOrRtnB32),
    (43, Op::DsXorRtnB32),
    (44, Op::DsMskorRtnB32),
    (45, Op::DsWrxchgRtnB32),
    (46, Op::DsWrxchg2RtnB32),
    (47, Op::DsWrxchg2st64RtnB32),
    (48, Op::DsCmpstRtnB32),
    (49, Op::DsCmpstRtnF32),
    (50, Op::DsMinRtnF32),
    (51, Op::DsMaxRtnF32),
    (52, Op::DsWrapRtnB32),
    (53, Op::DsAddRtnF32),
    (54, Op::DsReadB32),
    (55, Op::DsRead2B32),
    (56, Op::DsRead2st64B32),
    (57, Op::DsReadI8),
    (58, Op::DsReadU8),
    (59, Op::DsReadI16),
    (60, Op::DsReadU16),
    (61, Op::DsSwizzleB32),
    (62, Op::DsPermuteB32),
    (63, Op::DsBpermuteB32),
    (64, Op::DsAddU64),
    (65, Op::DsSubU64),
    (66, Op::DsRsubU64),
    (67, Op::DsIncU64),
    (68, Op::DsDecU64),
    (69, Op::DsMinI64),
    (70, Op::DsMaxI64),
    (71, Op::DsMinU64),
    (72, Op::DsMaxU64),
    (73, Op::DsAndB64),
    (74, Op::DsOrB64),
    (75, Op::DsXorB64),
    (76, Op::DsMskorB64),
    (77, Op::DsWriteB64),
    (78, Op::DsWrite2B64),
    (79, Op::DsWrite2st64B64),
    (80, Op::DsCmpstB64),
    (81, Op::DsCmpstF64),
    (82, Op::DsMinF64),
    (83, Op::DsMaxF64),
    (84, Op::DsWriteB8D16Hi),
    (85, Op::DsWriteB16D16Hi),
    (86, Op::DsReadU8D16),
    (87, Op::DsReadU8D16Hi),
    (88, Op::DsReadI8D16),
    (89, Op::DsReadI8D16Hi),
    (90, Op::DsReadU16D16),
    (91, Op::DsReadU16D16Hi),
    (92, Op::DsAddF64),
    (96, Op::DsAddRtnU64),
    (97, Op::DsSubRtnU64),
    (98, Op::DsRsubRtnU64),
    (99, Op::DsIncRtnU64),
    (100, Op::DsDecRtnU64),
    (101, Op::DsMinRtnI64),
    (102, Op::DsMaxRtnI64),
    (103, Op::DsMinRtnU64),
    (104, Op::DsMaxRtnU64),
    (105, Op::DsAndRtnB64),
    (106, Op::DsOrRtnB64),
    (107, Op::DsXorRtnB64),
    (108, Op::DsMskorRtnB64),
    (109, Op::DsWrxchgRtnB64),
    (110, Op::DsWrxchg2RtnB64),
    (111, Op::DsWrxchg2st64RtnB64),
    (112, Op::DsCmpstRtnB64),
    (113, Op::DsCmpstRtnF64),
    (114, Op::DsMinRtnF64),
    (115, Op::DsMaxRtnF64),
    (118, Op::DsReadB64),
    (119, Op::DsRead2B64),
    (120, Op::DsRead2st64B64),
    (124, Op::DsAddRtnF64),
    (126, Op::DsCondxchg32RtnB64),
    (152, Op::DsGwsSemaReleaseAll),
    (153, Op::DsGwsInit),
    (154, Op::DsGwsSemaV),
    (155, Op::DsGwsSemaBr),
    (156, Op::DsGwsSemaP),
    (157, Op::DsGwsBarrier),
    (182, Op::DsReadAddtidB32),
    (183, Op::DsPkAddRtnF16),
    (184, Op::DsPkAddRtnBf16),
    (189, Op::DsConsume),
    (190, Op::DsAppend),
    (222, Op::DsWriteB96),
    (223, Op::DsWriteB128),
    (224, Op::DsReadB64TrB4),
    (225, Op::DsReadB96TrB6),
    (226, Op::DsReadB64TrB8),
    (227, Op::DsReadB64TrB16),
    (254, Op::DsReadB96),
    (255, Op::DsReadB128),
];

/// Opcodes of the FLAT encoding, ascending.
pub static FLAT: &[(u16, Op)] = &[
    (16, Op::FlatLoadUbyte),
    (17, Op::FlatLoadSbyte),
    (18, Op::FlatLoadUshort),
    (19, Op::FlatLoadSshort),
    (20, Op::FlatLoadDword),
    (21, Op::FlatLoadDwordx2),
    (22, Op::FlatLoadDwordx3),
    (23, Op::FlatLoadDwordx4),
    (24, Op::FlatStoreByte),
    (25, Op::FlatStoreByteD16Hi),
    (26, Op::FlatStoreShort),
    (27, Op::FlatStoreShortD16Hi),
    (28, Op::FlatStoreDword),
    (29, Op::FlatStoreDwordx2),
    (30, Op::FlatStoreDwordx3),
    (31, Op::FlatStoreDwordx4),
    (32, Op::FlatLoadUbyteD16),
    (33, Op::FlatLoadUbyteD16Hi),
    (34, Op::FlatLoadSbyteD16),
    (35, Op::FlatLoadSbyteD16Hi),
    (36, Op::FlatLoadShortD16),
    (37, Op::FlatLoadShortD16Hi),
    (64, Op::FlatAtomicSwap),
    (65, Op::FlatAtomicCmpswap),
    (66, Op::FlatAtomicAdd),
    (67, Op::FlatAtomicSub),
    (68, Op::FlatAtomicSmin),
    (69, Op::FlatAtomicUmin),
    (70, Op::FlatAtomicSmax),
    (71, Op::FlatAtomicUmax),
    (72, Op::FlatAtomicAnd),
    (73, Op::FlatAtomicOr),
    (74, Op::FlatAtomicXor),
    (75, Op::FlatAtomicInc),
    (76, Op::FlatAtomicDec),
    (77, Op::FlatAtomicAddF32),
    (78, Op::FlatAtomicPkAddF16),
    (79, Op::FlatAtomicAddF64),
    (80, Op::FlatAtomicMinF64),
    (81, Op::FlatAtomicMaxF64),
    (82, Op::FlatAtomicPkAddBf16),
    (96, Op::FlatAtomicSwapX2),
    (97, Op::FlatAtomicCmpswapX2),
    (98, Op::FlatAtomicAddX2),
    (99, Op::FlatAtomicSubX2),
    (100, Op::FlatAtomicSminX2),
    (101, Op::FlatAtomicUminX2),
    (102, Op::FlatAtomicSmaxX2),
    (103, Op::FlatAtomicUmaxX2),
    (104, Op::FlatAtomicAndX2),
    (105, Op::FlatAtomicOrX2),
    (106, Op::FlatAtomicXorX2),
    (107, Op::FlatAtomicIncX2),
    (108, Op::FlatAtomicDecX2),
];

/// Opcodes of the GLOBAL encoding, ascending.
pub static GLOBAL: &[(u16, Op)] = &[
    (16, Op::GlobalLoadUbyte),
    (17, Op::GlobalLoadSbyte),
    (18, Op::GlobalLoadUshort),
    (19, Op::GlobalLoadSshort),
    (20, Op::GlobalLoadDword),
    (21, Op::GlobalLoadDwordx2),
    (22, Op::GlobalLoadDwordx3),
    (23, Op::GlobalLoadDwordx4),
    (24, Op::GlobalStoreByte),
    (25, Op::GlobalStoreByteD16Hi),
    (26, Op::GlobalStoreShort),
    (27, Op::GlobalStoreShortD16Hi),
    (28, Op::GlobalStoreDword),
    (29, Op::GlobalStoreDwordx2),
    (30, Op::GlobalStoreDwordx3),
    (31, Op::GlobalStoreDwordx4),
    (32, Op::GlobalLoadUbyteD16),
    (33, Op::GlobalLoadUbyteD16Hi),
    (34, Op::GlobalLoadSbyteD16),
    (35, Op::GlobalLoadSbyteD16Hi),
    (36, Op::GlobalLoadShortD16),
    (37, Op::GlobalLoadShortD16Hi),
    (38, Op::GlobalLoadLdsUbyte),
    (39, Op::GlobalLoadLdsSbyte),
    (40, Op::GlobalLoadLdsUshort),
    (41, Op::GlobalLoadLdsSshort),
    (42, Op::GlobalLoadLdsDword),
    (64, Op::GlobalAtomicSwap),
    (65, Op::GlobalAtomicCmpswap),
    (66, Op::GlobalAtomicAdd),
    (67, Op::GlobalAtomicSub),
    (68, Op::GlobalAtomicSmin),
    (69, Op::GlobalAtomicUmin),
    (70, Op::GlobalAtomicSmax),
    (71, Op::GlobalAtomicUmax),
    (72, Op::GlobalAtomicAnd),
    (73, Op::GlobalAtomicOr),
    (74, Op::GlobalAtomicXor),
    (75, Op::GlobalAtomicInc),
    (76, Op::GlobalAtomicDec),
    (77, Op::GlobalAtomicAddF32),
    (78, Op::GlobalAtomicPkAddF16),
    (79, Op::GlobalAtomicAddF64),
    (80, Op::GlobalAtomicMinF64),
    (81, Op::GlobalAtomicMaxF64),
    (82, Op::GlobalAtomicPkAddBf16),
    (96, Op::GlobalAtomicSwapX2),
    (97, Op::GlobalAtomicCmpswapX2),
    (98, Op::GlobalAtomicAddX2),
    (99, Op::GlobalAtomicSubX2),
    (100, Op::GlobalAtomicSminX2),
    (101, Op::GlobalAtomicUminX2),
    (102, Op::GlobalAtomicSmaxX2),
    (103, Op::GlobalAtomicUmaxX2),
    (104, Op::GlobalAtomicAndX2),
    (105, Op::GlobalAtomicOrX2),
    (106, Op::GlobalAtomicXorX2),
    (107, Op::GlobalAtomicIncX2),
    (108, Op::GlobalAtomicDecX2),
    (125, Op::GlobalLoadLdsDwordx4),
    (126, Op::GlobalLoadLdsDwordx3),
];

/// Opcodes of the SCRATCH encoding, ascending.
pub static SCRATCH: &[(u16, Op)] = &[
    (16, Op::ScratchLoadUbyte),
    (17, Op::ScratchLoadSbyte),
    (18, Op::ScratchLoadUshort),
    (19, Op::ScratchLoadSshort),
    (20, Op::ScratchLoadDword),
    (21, Op::ScratchLoadDwordx2),
    (22, Op::ScratchLoadDwordx3),
    (23, Op::ScratchLoadDwordx4),
    (24, Op::ScratchStoreByte),
    (25, Op::ScratchStoreByteD16Hi),
    (26, Op::ScratchStoreShort),
    (27, Op::ScratchStoreShortD16Hi),
    (28, Op::ScratchStoreDword),
    (29, Op::ScratchStoreDwordx2),
    (30, Op::ScratchStoreDwordx3),
    (31, Op::ScratchStoreDwordx4),
    (32, Op::ScratchLoadUbyteD16),
    (33, Op::ScratchLoadUbyteD16Hi),
    (34, Op::ScratchLoadSbyteD16),
    (35, Op::ScratchLoadSbyteD16Hi),
    (36, Op::ScratchLoadShortD16),
    (37, Op::ScratchLoadShortD16Hi),
    (38, Op::ScratchLoadLdsUbyte),
    (39, Op::ScratchLoadLdsSbyte),
    (40, Op::ScratchLoadLdsUshort),
    (41, Op::ScratchLoadLdsSshort),
    (42, Op::ScratchLoadLdsDword),
];

/// Opcodes of the MUBUF encoding, ascending.
pub static MUBUF: &[(u16, Op)] = &[
    (0, Op::BufferLoadFormatX),
    (1, Op::BufferLoadFormatXy),
    (2, Op::BufferLoadFormatXyz),
    (3, Op::BufferLoadFormatXyzw),
    (4, Op::BufferStoreFormatX),
    (5, Op::BufferStoreFormatXy),
    (6, Op::BufferStoreFormatXyz),
    (7, Op::BufferStoreFormatXyzw),
    (8, Op::BufferLoadFormatD16X),
    (9, Op::BufferLoadFormatD16Xy),
    (10, Op::BufferLoadFormatD16Xyz),
    (11, Op::BufferLoadFormatD16Xyzw),
    (12, Op::BufferStoreFormatD16X),
    (13, Op::BufferStoreFormatD16Xy),
    (14, Op::BufferStoreFormatD16Xyz),
    (15, Op::BufferStoreFormatD16Xyzw),
    (16, Op::BufferLoadUbyte),
    (17, Op::BufferLoadSbyte),
    (18, Op::BufferLoadUshort),
    (19, Op::BufferLoadSshort),
    (20, Op::BufferLoadDword),
    (21, Op::BufferLoadDwordx2),
    (22, Op::BufferLoadDwordx3),
    (23, Op::BufferLoadDwordx4),
    (24, Op::BufferStoreByte),
    (25, Op::BufferStoreByteD16Hi),
    (26, Op::BufferStoreShort),
    (27, Op::BufferStoreShortD16Hi),
    (28, Op::BufferStoreDword),
    (29, Op::BufferStoreDwordx2),
    (30, Op::BufferStoreDwordx3),
    (31, Op::BufferStoreDwordx4),
    (32, Op::BufferLoadUbyteD16),
    (33, Op::BufferLoadUbyteD16Hi),
    (34, Op::BufferLoadSbyteD16),
    (35, Op::BufferLoadSbyteD16Hi),
    (36, Op::BufferLoadShortD16),
    (37, Op::BufferLoadShortD16Hi),
    (38, Op::BufferLoadFormatD16HiX),
    (39, Op::BufferStoreFormatD16HiX),
    (40, Op::BufferWbl2),
    (41, Op::BufferInv),
    (64, Op::BufferAtomicSwap),
    (65, Op::BufferAtomicCmpswap),
    (66, Op::BufferAtomicAdd),
    (67, Op::BufferAtomicSub),
    (68, Op::BufferAtomicSmin),
    (69, Op::BufferAtomicUmin),
    (70, Op::BufferAtomicSmax),
    (71, Op::BufferAtomicUmax),
    (72, Op::BufferAtomicAnd),
    (73, Op::BufferAtomicOr),
    (74, Op::BufferAtomicXor),
    (75, Op::BufferAtomicInc),
    (76, Op::BufferAtomicDec),
    (77, Op::BufferAtomicAddF32),
    (78, Op::BufferAtomicPkAddF16),
    (79, Op::BufferAtomicAddF64),
    (80, Op::BufferAtomicMinF64),
    (81, Op::BufferAtomicMaxF64),
    (82, Op::BufferAtomicPkAddBf16),
    (96, Op::BufferAtomicSwapX2),
    (97, Op::BufferAtomicCmpswapX2),
    (98, Op::BufferAtomicAddX2),
    (99, Op::BufferAtomicSubX2),
    (100, Op::BufferAtomicSminX2),
    (101, Op::BufferAtomicUminX2),
    (102, Op::BufferAtomicSmaxX2),
    (103, Op::BufferAtomicUmaxX2),
    (104, Op::BufferAtomicAndX2),
    (105, Op::BufferAtomicOrX2),
    (106, Op::BufferAtomicXorX2),
    (107, Op::BufferAtomicIncX2),
    (108, Op::BufferAtomicDecX2),
];

/// Opcodes of the MTBUF encoding, ascending.
pub static MTBUF: &[(u16, Op)] = &[
    (0, Op::TbufferLoadFormatX),
    (1, Op::TbufferLoadFormatXy),
    (2, Op::TbufferLoadFormatXyz),
    (3, Op::TbufferLoadFormatXyzw),
    (4, Op::TbufferStoreFormatX),
    (5, Op::TbufferStoreFormatXy),
    (6, Op::TbufferStoreFormatXyz),
    (7, Op::TbufferStoreFormatXyzw),
    (8, Op::TbufferLoadFormatD16X),
    (9, Op::TbufferLoadFormatD16Xy),
    (10, Op::TbufferLoadFormatD16Xyz),
    (11, Op::TbufferLoadFormatD16Xyzw),
    (12, Op::TbufferStoreFormatD16X),
    (13, Op::TbufferStoreFormatD16Xy),
    (14, Op::TbufferStoreFormatD16Xyz),
    (15, Op::TbufferStoreFormatD16Xyzw),
];
