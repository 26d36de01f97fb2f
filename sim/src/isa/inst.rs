//! The decoded form of one instruction.

use super::Op;

/// Scalar register numbers with a fixed meaning (indices into the 128-entry scalar file).
pub mod reg {
    /// Flat scratch base, low half.
    pub const FLAT_SCRATCH: u16 = 102;
    /// XNACK mask, low half.
    pub const XNACK_MASK: u16 = 104;
    /// Vector condition code, low half.
    pub const VCC: u16 = 106;
    /// First trap temporary.
    pub const TTMP: u16 = 108;
    /// M0.
    pub const M0: u16 = 124;
    /// Execution mask, low half.
    pub const EXEC: u16 = 126;
}

/// The machine encoding an instruction was decoded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Enc {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    /// VOP3 with a scalar destination (carry out).
    Vop3sd,
    Vop3p,
    /// Matrix and accumulation-register operations (the VOP3P-MAI layout).
    Mai,
    /// A 16-byte scaled matrix operation: scale prefix (0xD3AC) plus VOP3P-MAI.
    MaiScale,
    Ds,
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
}

/// One operand. Its width comes from [`super::OpInfo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Operand {
    /// Absent (also: `off` and `null`).
    #[default]
    None,
    /// Architected vector register.
    Vgpr(u16),
    /// Accumulation vector register.
    Agpr(u16),
    /// Scalar register by its hardware number, including VCC, TTMP, M0 and EXEC (see [`reg`]).
    Sgpr(u16),
    /// Inline integer constant, -16..=64.
    Int(i8),
    /// Inline floating-point constant by its hardware code 240..=248
    /// (0.5, -0.5, 1, -1, 2, -2, 4, -4, 1/(2 pi)).
    Float(u8),
    /// A 32-bit literal that follows the instruction.
    Literal(u32),
    /// Any other source code: 235..=239 apertures and pops_exiting_wave_id, 251 vccz, 252 execz,
    /// 253 scc, 254 lds_direct.
    Special(u8),
}

/// Data-parallel-primitive control of the first source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dpp {
    /// 9-bit `dpp_ctrl`.
    pub ctrl: u16,
    /// Rows of 16 lanes that may be written.
    pub row_mask: u8,
    /// Banks of 4 lanes that may be written.
    pub bank_mask: u8,
    /// Invalid source lanes read zero instead of disabling the write.
    pub bound_ctrl: bool,
}

/// Which part of a register an SDWA operand reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SdwaSel {
    Byte0,
    Byte1,
    Byte2,
    Byte3,
    Word0,
    Word1,
    Dword,
}

/// Sub-dword addressing of a VOP1/VOP2/VOPC instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sdwa {
    /// Selected part of the destination ([`SdwaSel::Dword`] for VOPC).
    pub dst_sel: SdwaSel,
    /// What happens to the rest of the destination: 0 pad with zeros, 1 sign extend, 2 preserve.
    pub dst_unused: u8,
    /// Selected part of each source.
    pub src_sel: [SdwaSel; 2],
    /// Sign extension of each source.
    pub sext: [bool; 2],
}

/// The scale operands of a 16-byte scaled matrix operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScaleOperands {
    /// Scale of A and of B; each lane's register holds four e8m0 bytes.
    pub src: [Operand; 2],
    /// Which byte of the scale register applies to A and B: bit 0 of the byte index.
    pub op_sel: u8,
    /// Bit 1 of the byte index, bit i for operand i.
    pub op_sel_hi: u8,
}

/// Modifiers. Bit i of a mask concerns source i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mods {
    /// Negate (VOP3, SDWA, DPP); for VOP3P the low half. `v_bitop3` keeps its truth table in
    /// `omod << 6 | abs << 3 | neg`.
    pub neg: u8,
    /// Absolute value (VOP3, SDWA, DPP).
    pub abs: u8,
    /// Negate the high half (VOP3P); absolute value of the `v_fma_mix*` operations.
    pub neg_hi: u8,
    /// VOP3: high half of source i, bit 3 high half of the destination. VOP3P: half read for the
    /// low result.
    pub op_sel: u8,
    /// VOP3P: half read for the high result.
    pub op_sel_hi: u8,
    /// Output modifier: 0 none, 1 times 2, 2 times 4, 3 divide by 2.
    pub omod: u8,
    /// Clamp the result.
    pub clamp: bool,
    /// Lane movement of source 0.
    pub dpp: Option<Dpp>,
    /// Sub-dword selection.
    pub sdwa: Option<Sdwa>,
    /// Matrix: broadcast size, or the format of A for f8f6f4 (0 fp8, 1 bf8, 2 fp6, 3 bf6, 4 fp4).
    pub cbsz: u8,
    /// Matrix: block to broadcast.
    pub abid: u8,
    /// Matrix: lane-group pattern of B, the format of B for f8f6f4, or the f64 negation bits.
    pub blgp: u8,
    /// Memory: sc0 (glc).
    pub sc0: bool,
    /// Memory: sc1.
    pub sc1: bool,
    /// Memory: non-temporal.
    pub nt: bool,
    /// Buffer or global load whose destination is LDS.
    pub lds: bool,
    /// Buffer: the vector address holds an offset.
    pub offen: bool,
    /// Buffer: the vector address holds an index.
    pub idxen: bool,
    /// DS: global data share.
    pub gds: bool,
    /// Typed buffer: data and number format (7 bits).
    pub format: u8,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Operation.
    pub op: Op,
    /// Encoding it came from.
    pub enc: Enc,
    /// Size in bytes, with literals, DPP/SDWA dwords and scale prefix: 4, 8, 12 or 16.
    pub size: u8,
    /// Vector or scalar destination; data register of buffer loads *and stores* and of SMEM;
    /// mask destination of comparisons (VCC for e32).
    pub dst: Operand,
    /// Scalar destination of VOP3SD (and of e32 carry operations: VCC).
    pub sdst: Operand,
    /// Sources in encoding order. ALU: src0, src1, src2 (e32 carry-in and `v_cndmask_b32_e32`:
    /// src2 is VCC). DS: addr, data0, data1. FLAT/GLOBAL/SCRATCH: vaddr, vdata, saddr. MUBUF and
    /// MTBUF: vaddr, srsrc, soffset. SMEM: sbase, soffset. `v_fmac`/`v_dot2c` read dst in addition.
    pub src: [Operand; 3],
    /// SOPP/SOPK: sign-extended simm16 (SETREG's literal is `src[0]`). DS: offset0 | offset1 << 8.
    /// FLAT family and SMEM: signed offset. MUBUF/MTBUF: unsigned offset. `v_fmaak`/`v_fmamk`
    /// carry K as `Operand::Literal` in src2 / src1. `s_set_gpr_idx_on`: the mask of operands.
    pub imm: i32,
    /// Modifiers.
    pub mods: Mods,
    /// Scale operands of [`Enc::MaiScale`].
    pub scale: Option<ScaleOperands>,
}
