//! Which operands of matrix operations are known to be those of an earlier one.
//!
//! Goes in: the instructions of a program. Comes out: for each matrix operation and side whether an
//! operation before it in the same stretch of code had the same operand and nothing has written to
//! its registers since, so that what was kept of it need not be compared with them.

use super::Plan;
use super::kept::{Key, SLOTS};
use crate::exec::mode::GPR_IDX_EN;
use crate::isa::{File, Inst, Op, Operand, RegRange, regs};

/// An operand that was kept.
#[derive(Clone, Copy)]
struct Live {
    registers: RegRange,
    key: Key,
    /// It is what it was for waves with at least so many architected registers: it lies among the
    /// first so many itself, or those written since do. With fewer, both kinds overlap.
    needs: u16,
}

/// Whether the instructions of a program can be followed: no jump has an unknown target, and no
/// instruction writes registers that it does not name.
pub(in crate::exec) fn is_plain<'a>(mut insts: impl Iterator<Item = &'a Inst>) -> bool {
    insts.all(|inst| match inst.op {
        Op::SSetpcB64 | Op::SSwappcB64 | Op::SRfeB64 | Op::SRfeRestoreB64 => false,
        Op::SCbranchIFork | Op::SCbranchGFork | Op::SCbranchJoin => false,
        Op::SSetGprIdxOn | Op::SSetGprIdxMode | Op::SSetGprIdxIdx => false,
        Op::SSetregB32 | Op::SSetregImm32B32 => {
            // Bits 10:6 are the first bit of the field, bits 15:11 its size less one.
            let (first, size) = (inst.imm as u32 >> 6 & 31, (inst.imm as u32 >> 11 & 31) + 1);
            !(first..first + size).contains(&GPR_IDX_EN.trailing_zeros())
        }
        _ => true,
    })
}

/// Follows the instructions of a plain program, one after the other.
#[derive(Default)]
pub(in crate::exec) struct Follower {
    live: [Vec<Live>; 2],
}

impl Follower {
    /// Notes in the plan of a matrix operation which of its operands are known. `is_target` says
    /// whether jumps go to the instruction.
    pub(in crate::exec) fn next(&mut self, inst: &Inst, plan: Option<&mut Plan>, is_target: bool) {
        if is_target {
            self.forget();
        }
        if let Some(plan) = plan {
            self.operands(inst, plan);
        }
        match inst.op {
            Op::SEndpgm | Op::SEndpgmSaved | Op::SEndpgmOrderedPsDone => self.forget(),
            Op::SBranch | Op::STrap | Op::Unknown => self.forget(),
            _ => {}
        }
        for write in regs(inst).writes {
            let apart = |live: &Live| {
                let (a, b) = (&live.registers, &write);
                a.file != b.file || a.first + a.count <= b.first || b.first + b.count <= a.first
            };
            for live in &mut self.live {
                live.retain(apart);
                if write.file == File::Vgpr {
                    let end = write.first + write.count;
                    live.iter_mut().for_each(|live| live.needs = live.needs.max(end));
                }
            }
        }
    }

    fn forget(&mut self) {
        self.live.iter_mut().for_each(Vec::clear);
    }

    fn operands(&mut self, inst: &Inst, plan: &mut Plan) {
        let counts = plan.registers;
        let Some(direct) = &mut plan.direct else { return self.forget() };
        for (side, live) in self.live.iter_mut().enumerate() {
            let (file, first) = match inst.src[side] {
                Operand::Vgpr(first) => (File::Vgpr, first),
                Operand::Agpr(first) => (File::Agpr, first),
                _ => return self.forget(),
            };
            let registers = RegRange { file, first, count: counts[side] as u16 };
            let key = direct.keys[side];
            if let Some(known) = live.iter().find(|l| l.registers == registers && l.key == key) {
                direct.known[side] = Some(known.needs);
                continue;
            }
            // It takes the place of another one, or may do so.
            let slot = |register: u16| usize::from(register) % SLOTS;
            live.retain(|l| l.registers.file == file && slot(l.registers.first) != slot(first));
            let needs = if file == File::Vgpr { first + registers.count } else { 0 };
            live.push(Live { registers, key, needs });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::testing::{program, wave};
    use crate::exec::{Ctx, Lanes, MemAccess, run};
    use crate::isa::Arch;
    use crate::memory::AddressSpace;

    /// v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[0:1], v[2:3], 0
    const MFMA: [u32; 2] = [0xd3f3_0010, 0x0202_0500];
    /// v_mov_b32 v1, 0x3a3a3a3a
    const CHANGE: [u32; 2] = [0x7e02_02ff, 0x3a3a_3a3a];
    /// v_mov_b32 v8, 1
    const OTHER: [u32; 1] = [0x7e10_0281];

    /// Which operands of the matrix operations in `words` are known.
    fn known(words: &[u32]) -> Vec<[bool; 2]> {
        let program = program(Arch::Gfx950, words);
        program.insts.iter().enumerate().fold(Vec::new(), |mut all, (i, inst)| {
            if inst.op == Op::VMfmaF3216x16x32Fp8Fp8 {
                all.push(program.matrix_known(i).map(|known| known.is_some()));
            }
            all
        })
    }

    #[test]
    fn an_operand_is_known_until_one_of_its_registers_is_written_or_a_jump_comes_in() {
        let repeated = [&MFMA[..], &OTHER, &MFMA].concat();
        assert_eq!(known(&repeated), [[false; 2], [true; 2]]);
        let changed = [&MFMA[..], &CHANGE, &MFMA].concat();
        assert_eq!(known(&changed), [[false; 2], [false, true]]);
        // s_cbranch_scc1 back to the second operation (five dwords back from its end).
        let looped = [&MFMA[..], &OTHER, &MFMA, &[0xbf85_fffd]].concat();
        assert_eq!(known(&looped), [[false; 2], [false; 2]]);
        // s_endpgm ends a kernel; s_setpc_b64 s[0:1] makes all targets unknown.
        let ended = [&MFMA[..], &[0xbf81_0000], &MFMA].concat();
        assert_eq!(known(&ended), [[false; 2], [false; 2]]);
        let indirect = [&MFMA[..], &MFMA, &[0xbe80_1d00]].concat();
        assert_eq!(known(&indirect), [[false; 2], [false; 2]]);
    }

    #[test]
    fn every_way_of_writing_a_register_makes_its_operand_unknown() {
        // In place of v[0:1] at A.
        let a0 = [MFMA[0], MFMA[1] | 1 << 27];
        let v64 = [MFMA[0], MFMA[1] | 0x40];
        // ds_read_b64 v[0:1], v9
        assert_eq!(known(&[&MFMA[..], &[0xd8ec_0000, 9], &MFMA].concat())[1], [false, true]);
        // v_swap_b32 v2, v9
        assert_eq!(known(&[&MFMA[..], &[0x7e04_a309], &MFMA].concat())[1], [true, false]);
        // The operation's own result in v[0:3].
        assert_eq!(known(&[&[0xd3f3_0000, MFMA[1]][..], &MFMA].concat())[1], [false; 2]);
        // v_accvgpr_write_b32 a4, v5 and a1, v5
        assert_eq!(known(&[&a0[..], &[0xd3d9_4004, 0x1800_0105], &a0].concat())[1], [true; 2]);
        let written = [&a0[..], &[0xd3d9_4001, 0x1800_0105], &a0].concat();
        assert_eq!(known(&written)[1], [false, true]);
        // v64 and a0 are kept where v0 was.
        for other in [v64, a0] {
            let between = [&MFMA[..], &other, &MFMA].concat();
            assert_eq!(known(&between)[1..], [[false, true]; 2]);
        }
        // s_endpgm_saved ends a kernel, too.
        assert_eq!(known(&[&MFMA[..], &[0xbf9b_0000], &MFMA].concat())[1], [false; 2]);
    }

    #[test]
    fn architected_registers_beyond_the_accumulators_first_are_compared() {
        // v[64:65] is a[0:1] of a wave with 64 architected registers; a1 is written between.
        let v64 = [MFMA[0], MFMA[1] | 0x40];
        let program =
            program(Arch::Gfx950, &[&v64[..], &[0xd3d9_4001, 0x1800_0105], &v64].concat());
        let mem = AddressSpace::new(0);
        let access = MemAccess::default();
        let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
        let mut wave = wave();
        for ones in [2, 3, 64, 65] {
            wave.vgpr[ones] = Lanes([0x3838_3838; 64]);
        }
        wave.vgpr[5] = Lanes([0x3a3a_3a3a; 64]);
        run(&mut wave, &mut ctx, 3).unwrap();
        // 16 products of 1 * 1 and 16 of 1.25 * 1.
        assert_eq!(f32::from_bits(wave.vgpr[16].0[5]), 36.0);
    }

    #[test]
    fn a_changed_operand_is_multiplied_as_it_is_now() {
        let words = [&MFMA[..], &CHANGE, &MFMA].concat();
        let program = program(Arch::Gfx950, &words);
        let mem = AddressSpace::new(0);
        let access = MemAccess::default();
        let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
        let mut wave = wave();
        wave.vgpr[..4].fill(Lanes([0x3838_3838; 64]));
        run(&mut wave, &mut ctx, 1).unwrap();
        // 32 products of 1 * 1, then 16 of 1 * 1 and 16 of 1.25 * 1.
        assert_eq!(f32::from_bits(wave.vgpr[16].0[5]), 32.0);
        run(&mut wave, &mut ctx, 2).unwrap();
        assert_eq!(f32::from_bits(wave.vgpr[16].0[5]), 36.0);
    }
}
