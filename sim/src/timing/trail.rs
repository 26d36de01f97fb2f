//! The way of a wave through the beginning of a kernel, and what of it decides where it goes and what
//! it loads.
//!
//! Goes in: the instructions that a wave executed, in order. Comes out: which of them have to execute
//! for the addresses of vector loads, the scalar registers and the way itself to be right; the others
//! compute what is stored or multiplied in the end. That holds for every wave that takes the same way
//! under the same execution masks, and is found by going back from the end.

use crate::exec::{Program, Wave};
use crate::isa::{Class, File, MemOp, RegRange, class, may_index_registers, regs};

/// One instruction on the way.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The instruction, as an index into the program.
    pub pc: usize,
    /// Execution mask before it.
    exec: u64,
    /// Whether it has to execute.
    pub counts: bool,
}

impl Step {
    /// Where `wave` is.
    pub fn at(wave: &Wave) -> Self {
        Step { pc: wave.pc, exec: wave.exec(), counts: true }
    }

    /// Whether `wave` is there.
    #[inline]
    pub fn is_at(&self, wave: &Wave) -> bool {
        wave.pc == self.pc && wave.exec() == self.exec
    }
}

/// The way of a wave.
#[derive(Clone, Debug)]
pub struct Trail {
    /// Its steps.
    pub steps: Vec<Step>,
    /// The instruction that ends every walk, if it was the next one.
    pub end: Option<usize>,
}

impl Trail {
    /// The trail of `steps` through `program`.
    pub fn new(program: &Program, mut steps: Vec<Step>, end: Option<usize>) -> Self {
        // Indexed registers are not those that instructions name.
        let indexes = |step: &Step| may_index_registers(&program.insts[step.pc]);
        if !steps.iter().any(indexes) {
            let mut needed = Needed::default();
            for step in steps.iter_mut().rev() {
                step.counts = needed.by_those_after(program, step);
            }
        }
        Trail { steps, end }
    }
}

/// What later instructions need that have to execute. Scalar registers are not here: whatever writes
/// one executes.
#[derive(Default)]
struct Needed {
    /// Vector registers, accumulation registers behind the architected ones.
    registers: [u64; 8],
    lds: bool,
}

impl Needed {
    /// Whether the instruction of `step` has to execute; if so, it is taken into account.
    fn by_those_after(&mut self, program: &Program, step: &Step) -> bool {
        let inst = &program.insts[step.pc];
        let class = class(inst, program.arch);
        let regs = regs(inst);
        let writes = || regs.writes.iter().any(|range| self.has(range));
        let counts = match class {
            Class::Mfma { .. } => return false,
            Class::Valu | Class::ValuTrans | Class::ValuF64 | Class::ValuPkF32 | Class::Valu64 => {
                writes()
            }
            Class::Lds(MemOp::Store) => self.lds,
            Class::Lds(MemOp::Atomic) => self.lds || writes(),
            Class::Lds(MemOp::Load | MemOp::Lane) => writes(),
            _ => true,
        };
        if counts {
            // Under another mask, some lanes keep what was there.
            if step.exec == u64::MAX {
                regs.writes.iter().for_each(|range| self.set(range, false));
            }
            regs.reads.iter().for_each(|range| self.set(range, true));
            self.lds |= matches!(class, Class::Lds(MemOp::Load | MemOp::Atomic) | Class::Flat(_));
        }
        counts
    }

    fn has(&self, range: &RegRange) -> bool {
        match places(range) {
            Some(mut places) => places.any(|n| self.registers[n / 64] >> (n % 64) & 1 == 1),
            None => true,
        }
    }

    fn set(&mut self, range: &RegRange, needed: bool) {
        for n in places(range).into_iter().flatten() {
            let bit = 1 << (n % 64);
            let word = &mut self.registers[n / 64];
            *word = if needed { *word | bit } else { *word & !bit };
        }
    }
}

/// Numbers of vector registers; `None` for scalar ones.
fn places(range: &RegRange) -> Option<impl Iterator<Item = usize>> {
    let base = match range.file {
        File::Vgpr => 0,
        File::Agpr => 256,
        File::Sgpr | File::Scc => return None,
    };
    let first = base + usize::from(range.first);
    Some(first..(first + usize::from(range.count)).min(512))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Arch, decode_text};

    /// Of what is loaded, multiplied and written to LDS only the second product is an address: it
    /// counts, and the load and the first product that it comes from do. A write to LDS that nothing
    /// reads does not, and neither does a value that is replaced before it is used.
    #[test]
    fn what_no_address_comes_from_does_not_count() {
        let steps: &[(&[u32], bool)] = &[
            (&[0xdc50_8000, 0x0800_0001], true), // global_load_dword v8, v1, s[0:1]
            (&[0x0a12_1108], true),              // v_mul_f32 v9, v8, v8
            (&[0x0a14_1108], false),             // v_mul_f32 v10, v8, v8
            (&[0x0a0a_1309], true),              // v_mul_f32 v5, v9, v9
            (&[0xd81a_0000, 0x0000_0a01], false), // ds_write_b32 v1, v10
            (&[0xdc50_8000, 0x0800_0005], true), // global_load_dword v8, v5, s[0:1]
            (&[0x0a0a_1309], false),             // v_mul_f32 v5, v9, v9
            (&[0xbf8c_0f70], true),              // s_waitcnt vmcnt(0)
        ];
        let bytes: Vec<u8> = steps
            .iter()
            .flat_map(|(words, _)| words.iter().flat_map(|w| w.to_le_bytes()))
            .collect();
        let program = decode_text(&bytes, 0x1000, Arch::Gfx950);
        let on = |exec| {
            let way = (0..steps.len()).map(|pc| Step { pc, exec, counts: true }).collect();
            Trail::new(&program, way, None).steps.iter().map(|step| step.counts).collect()
        };
        let all: Vec<bool> = on(u64::MAX);
        assert_eq!(all, steps.iter().map(|&(_, counts)| counts).collect::<Vec<_>>());
        // In some lanes the first values of v8 and v9 may be older.
        assert_eq!(on(1), all);
    }

    /// Which of the instructions count, all lanes enabled.
    fn counting(words: &[u32]) -> Vec<bool> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let program = decode_text(&bytes, 0x1000, Arch::Gfx950);
        let way = (0..program.insts.len()).map(|pc| Step { pc, exec: u64::MAX, counts: true });
        let trail = Trail::new(&program, way.collect(), None);
        trail.steps.iter().map(|step| step.counts).collect()
    }

    #[test]
    fn what_half_an_address_comes_from_counts() {
        let load = [0xdc50_8000, 0x0800_0014]; // global_load_dword v8, v20, s[0:1]
        let address = [0x7e28_02ff, 0x0001_0000]; // v_mov_b32 v20, 0x10000
        let low_half = [0xd206_0014, 0x0201_0080]; // v_fma_f16 v20, 0, 0, 0
        assert_eq!(counting(&[&address[..], &low_half, &load].concat()), [true; 3]);
        let other = [0x7e0a_02ff, 0x0001_0000]; // v_mov_b32 v5, 0x10000
        assert_eq!(counting(&[&other[..], &load].concat()), [false, true]);
        // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1 makes it any register.
        let indexing = [0xba00_06c1, 1];
        assert_eq!(counting(&[&indexing[..], &other, &load].concat()), [true; 3]);
    }
}
