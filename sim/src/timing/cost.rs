//! What issuing each instruction of a program costs, worked out once.
//!
//! Goes in: the decoded program and the parameters of its target. Comes out: one [`Cost`] per
//! instruction: the issue category it competes in, how long it keeps its unit, which counter it
//! raises or waits for.

use super::passes::{UnknownPasses, matrix_clk};
use crate::arch::ArchParams;
use crate::exec::Program;
use crate::isa::{Class, Enc, Inst, MemOp, Op, class, op};

/// Issue category: in one slot of a SIMD at most one instruction of each goes, from different waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Handled by the sequencer; no limit.
    Internal,
    /// Scalar ALU and scalar memory.
    Scalar,
    /// Vector ALU and matrix unit.
    Vector,
    /// Vector memory.
    Vmem,
    /// Local data share.
    Lds,
    /// Branches.
    Branch,
}

/// What happens besides the functional effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing more than the time that it takes.
    Plain,
    /// Waits until the counters are down to these.
    Wait {
        /// Vector memory operations allowed to be outstanding.
        vm: u8,
        /// LDS and scalar memory operations allowed to be outstanding.
        lgkm: u8,
    },
    /// Keeps the sequencer from issuing the wave for so many clocks.
    Idle(u32),
    /// Sets the wave's priority.
    Priority(u8),
    /// Takes the vector ALU, and the matrix unit where it needs that.
    Vector,
    /// Scalar memory.
    ScalarMemory,
    /// Vector memory.
    VectorMemory,
    /// Vector memory whose addresses may point into LDS; raises both counters.
    Flat,
    /// Cache maintenance, counted as vector memory.
    VectorControl,
    /// LDS.
    Lds,
    /// Jump.
    Branch,
}

/// Class for statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Scalar ALU.
    Salu,
    /// Scalar memory.
    Smem,
    /// Vector ALU at full rate.
    Valu,
    /// Transcendentals, conversions and other vector operations below full rate.
    ValuSlow,
    /// Matrix unit.
    Mfma,
    /// Vector memory.
    Vmem,
    /// LDS.
    Lds,
    /// Branches and the end of the program.
    Branch,
    /// Waits, barriers, nops.
    Internal,
}

/// Number of [`Kind`]s.
pub const KINDS: usize = 9;

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Kind; KINDS] = [
        Kind::Salu,
        Kind::Smem,
        Kind::Valu,
        Kind::ValuSlow,
        Kind::Mfma,
        Kind::Vmem,
        Kind::Lds,
        Kind::Branch,
        Kind::Internal,
    ];

    /// Name in statistics.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Salu => "salu",
            Kind::Smem => "smem",
            Kind::Valu => "valu",
            Kind::ValuSlow => "valu_slow",
            Kind::Mfma => "mfma",
            Kind::Vmem => "vmem",
            Kind::Lds => "lds",
            Kind::Branch => "branch",
            Kind::Internal => "internal",
        }
    }
}

/// Cost of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Issue category.
    pub unit: Unit,
    /// Class for statistics.
    pub kind: Kind,
    /// What happens.
    pub action: Action,
    /// Clocks for which the vector ALU accepts nothing else.
    pub vector: u16,
    /// Clocks for which the matrix unit accepts nothing else.
    pub matrix: u16,
    /// Whether it waits for the matrix unit, and for how many clocks more.
    pub after_matrix: (bool, u16),
    /// Whether the matrix operands have at most 8 bits.
    pub narrow: bool,
    /// First instruction cache line.
    pub line: u64,
    /// Whether it reaches into the next instruction cache line.
    pub straddles: bool,
    /// Whether it is an 8-byte instruction placed across an 8-byte boundary.
    pub crosses: bool,
    /// Instructions from this one on that follow each other and that nothing but the wave's own
    /// registers takes part in: when they execute is not seen from outside. 0 where this one is none.
    pub own: u16,
}

/// Costs of the whole program, by instruction index.
pub fn costs(p: &ArchParams, program: &Program) -> Result<Vec<Cost>, UnknownPasses> {
    // Of each operation, the cost of the last instruction.
    let mut known: Vec<Option<(&Inst, Cost)>> = vec![None; op::ALL.len()];
    let mut costs = Vec::with_capacity(program.insts.len());
    for (inst, &addr) in program.insts.iter().zip(&program.addr) {
        let cost = match known[inst.op as usize] {
            Some((other, cost)) if costs_the_same(inst, other) => cost,
            _ => cost(p, inst)?,
        };
        known[inst.op as usize] = Some((inst, cost));
        costs.push(cost.placed(p, inst, addr));
    }
    let mut following = 0u16;
    for cost in costs.iter_mut().rev() {
        following = if cost.own == 0 { 0 } else { following.saturating_add(1) };
        cost.own = following;
    }
    Ok(costs)
}

/// Whether an instruction reads and writes nothing but registers of its wave, and leads on to the next.
fn is_own(class: Class) -> bool {
    match class {
        Class::Salu | Class::Waitcnt | Class::Nop(_) | Class::Internal | Class::Mfma { .. } => true,
        Class::Valu | Class::ValuTrans | Class::ValuF64 | Class::ValuPkF32 | Class::Valu64 => true,
        Class::Smem(_) | Class::Lds(_) | Class::Vmem(_) | Class::Flat(_) => false,
        Class::Branch | Class::Barrier => false,
    }
}

/// Whether two instructions of the same operation differ in nothing that [`cost`] looks at.
fn costs_the_same(a: &Inst, b: &Inst) -> bool {
    let imm = |inst: &Inst| if inst.enc == Enc::Sopp { inst.imm } else { 0 };
    let key = |inst: &Inst| (inst.enc, imm(inst), inst.mods.lds, inst.mods.cbsz, inst.mods.blgp);
    key(a) == key(b)
}

impl Cost {
    /// The cost of an instruction like this one at `addr`.
    fn placed(self, p: &ArchParams, inst: &Inst, addr: u64) -> Cost {
        let line = u64::from(p.fetch.line);
        let end = addr + u64::from(inst.size) - 1;
        Cost {
            line: addr / line,
            straddles: end / line != addr / line,
            crosses: inst.size >= 8 && !addr.is_multiple_of(8),
            ..self
        }
    }
}

/// Cost of an instruction, wherever it is.
fn cost(p: &ArchParams, inst: &Inst) -> Result<Cost, UnknownPasses> {
    let mut cost = Cost {
        unit: Unit::Internal,
        kind: Kind::Internal,
        action: Action::Plain,
        vector: 0,
        matrix: 0,
        after_matrix: (false, 0),
        narrow: false,
        line: 0,
        straddles: false,
        crosses: false,
        own: 0,
    };
    let class = class(inst, p.arch);
    cost.own = u16::from(is_own(class));
    let (unit, kind, action) = match class {
        Class::Salu => (Unit::Scalar, Kind::Salu, Action::Plain),
        Class::Smem(_) => (Unit::Scalar, Kind::Smem, Action::ScalarMemory),
        Class::Lds(MemOp::Control) => (Unit::Lds, Kind::Lds, Action::Plain),
        Class::Lds(_) => (Unit::Lds, Kind::Lds, Action::Lds),
        Class::Vmem(MemOp::Control) => (Unit::Vmem, Kind::Vmem, Action::VectorControl),
        Class::Vmem(_) => (Unit::Vmem, Kind::Vmem, Action::VectorMemory),
        Class::Flat(_) => (Unit::Vmem, Kind::Vmem, Action::Flat),
        Class::Branch => (Unit::Branch, Kind::Branch, Action::Branch),
        Class::Waitcnt => {
            let (vm, lgkm) = wait_counts(inst.imm);
            (Unit::Internal, Kind::Internal, Action::Wait { vm, lgkm })
        }
        Class::Barrier => (Unit::Internal, Kind::Internal, Action::Plain),
        Class::Nop(slots) => {
            let clk = u32::from(slots) * p.issue.slot;
            (Unit::Internal, Kind::Internal, Action::Idle(clk))
        }
        Class::Internal => (Unit::Internal, Kind::Internal, internal(p, inst)),
        Class::Mfma { is_f64_or_f32, .. } => {
            let clk = matrix_clk(p, inst)?;
            let name = inst.op.info().name;
            cost.matrix = clk as u16;
            cost.narrow = operand_bits_at_most_8(inst);
            // f32 and f64 use the vector ALU's multipliers: nothing overlaps. Sparse operations
            // free it later than the slot that they issue in.
            cost.vector = if is_f64_or_f32 {
                clk as u16
            } else if name.starts_with("v_smfmac") {
                (p.issue.slot + p.matrix.sparse_shadow_loss).min(clk) as u16
            } else {
                p.issue.slot as u16
            };
            cost.after_matrix = (true, 0);
            (Unit::Vector, Kind::Mfma, Action::Vector)
        }
        Class::Valu | Class::ValuTrans | Class::ValuF64 | Class::ValuPkF32 | Class::Valu64 => {
            let clk = valu_clk(p, inst, class);
            cost.vector = clk as u16;
            let kind = if clk > p.valu.full { Kind::ValuSlow } else { Kind::Valu };
            if class == Class::ValuPkF32 {
                cost.after_matrix = (true, p.valu.packed_f32_after_matrix as u16);
            }
            (Unit::Vector, kind, Action::Vector)
        }
    };
    (cost.unit, cost.kind, cost.action) = (unit, kind, action);
    Ok(cost)
}

fn internal(p: &ArchParams, inst: &Inst) -> Action {
    match inst.op {
        Op::SSleep => Action::Idle((inst.imm as u32 & 0x7f) * p.issue.sleep_unit),
        Op::SSetprio => Action::Priority((inst.imm & 3) as u8),
        _ => Action::Plain,
    }
}

/// vmcnt and lgkmcnt of an `s_waitcnt` immediate: vmcnt in bits 3:0 and 15:14, lgkmcnt in 11:8.
fn wait_counts(imm: i32) -> (u8, u8) {
    let imm = imm as u32;
    ((imm & 15 | imm >> 10 & 0x30) as u8, (imm >> 8 & 15) as u8)
}

fn valu_clk(p: &ArchParams, inst: &Inst, class: Class) -> u32 {
    let v = &p.valu;
    let name = inst.op.info().name;
    match class {
        Class::ValuTrans if name.ends_with("_f64") => v.transcendental_f64,
        Class::ValuTrans => v.transcendental,
        Class::ValuF64 => v.double,
        Class::ValuPkF32 => v.packed_f32,
        Class::Valu64 if name.contains("_mul_") || name.contains("_mad_") => v.integer_multiply,
        _ if name.starts_with("v_permlane") => v.permlane_swap,
        _ if is_conversion(name) => v.convert,
        _ => v.full,
    }
}

/// Conversions that LLVM's scheduling model gives the time of a transcendental. Those of packed
/// integers, of bytes to f32, of f16 to and from 16-bit integers, to bf16, with round towards zero
/// and with scales run at full rate.
fn is_conversion(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("v_cvt_") else { return false };
    const SLOW: [&str; 11] = [
        "f16_f32",
        "f32_f16",
        "f32_i32",
        "f32_u32",
        "i32_f32",
        "u32_f32",
        "rpi_i32_f32",
        "flr_i32_f32",
        "off_f32_i4",
        "f32_fp8",
        "f32_bf8",
    ];
    let fp8 = ["pk_fp8_f32", "pk_bf8_f32", "pk_f32_fp8", "pk_f32_bf8", "sr_fp8_f32", "sr_bf8_f32"];
    SLOW.contains(&rest) || fp8.contains(&rest)
}

fn operand_bits_at_most_8(inst: &Inst) -> bool {
    let name = inst.op.info().name;
    ["fp8", "bf8", "_i8", "f8f6f4"].iter().any(|t| name.contains(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::Arch;

    /// v_add_f32, s_waitcnt and s_add_u32 are the wave's own, ds_read_b32 is not; v_add_f32; s_cbranch.
    #[test]
    fn what_is_a_waves_own_goes_up_to_the_next_access_or_branch() {
        let words: [u32; 7] = [
            0x0202_0702,
            0xbf8c_0f70,
            0x800a_0a0a,
            0xd86c_0000,
            0x0800_0001,
            0x0202_0702,
            0xbf84_0001,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let program = crate::isa::decode_text(&bytes, 0x1000, Arch::Gfx950);
        let costs = costs(ArchParams::load(Arch::Gfx950).unwrap(), &program).unwrap();
        assert_eq!(costs.iter().map(|cost| cost.own).collect::<Vec<_>>(), [3, 2, 1, 0, 1, 0]);
    }

    /// s_waitcnt 0x0f70 is vmcnt(0); 0xc07f lgkmcnt(0); 0xcf7f waits for nothing; vmcnt is split.
    #[test]
    fn wait_immediates_split_into_their_counters() {
        assert_eq!(wait_counts(0x0f70), (0, 15));
        assert_eq!(wait_counts(0xc07f_u16 as i16 as i32), (63, 0));
        assert_eq!(wait_counts(0xcf7f_u16 as i16 as i32), (63, 15));
        assert_eq!(wait_counts(0x4f72), (18, 15));
    }

    #[test]
    fn conversions_that_llvm_gives_a_full_rate_are_told_from_the_slow_ones() {
        for name in ["v_cvt_f32_i32", "v_cvt_pk_fp8_f32", "v_cvt_f16_f32", "v_cvt_pk_f32_fp8"] {
            assert!(is_conversion(name), "{name}");
        }
        for name in [
            "v_cvt_pk_bf16_f32",
            "v_cvt_scalef32_pk_fp8_f32",
            "v_cvt_pkrtz_f16_f32",
            "v_cvt_f32_ubyte0",
            "v_cvt_f16_u16",
            "v_add_f32",
        ] {
            assert!(!is_conversion(name), "{name}");
        }
    }
}
