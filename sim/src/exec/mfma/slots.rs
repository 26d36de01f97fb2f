//! Unpacked operands of the common matrix operations, each in a slot of its own that the program's text
//! decides: a tile of A meets several tiles of B and the other way round, and unpacking a narrow
//! operand costs as much as multiplying it.
//!
//! Goes in: the instructions of a program. Comes out: a slot for each operand, and which slots each
//! instruction makes stale by writing to their registers. Where registers are written that no
//! instruction names, there are no slots.

use std::sync::Arc;

use super::panel::{Layout, MAX_LEN};
use super::shape::Data;
use super::{Plan, Way, nibbles};
use crate::exec::WAVE;
use crate::isa::{File, Inst, Operand, RegRange, regs};

/// Most slots of a program. Operands beyond that are unpacked every time.
const LIMIT: usize = 128;

/// Most elements of all slots: 512 KiB a wave.
const MOST: usize = 1 << 17;

/// A set of slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::exec) struct Set(u128);

impl Set {
    const fn of(slot: u16) -> Self {
        Set(1 << slot)
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// An operand of one operation or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    registers: RegRange,
    form: Form,
}

/// What an operand is unpacked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Floats(Data, Layout),
    /// A and B of [`nibbles`].
    Left,
    Right,
}

impl Form {
    /// Elements of its panel.
    fn len(self) -> usize {
        match self {
            Form::Floats(_, layout) => layout.len(),
            Form::Left => nibbles::LEFT,
            Form::Right => nibbles::RIGHT,
        }
    }
}

/// The slots of a program.
#[derive(Debug, Default)]
pub(in crate::exec) struct Slots {
    known: Vec<Known>,
    /// Where the panel of each slot begins.
    starts: Vec<usize>,
    /// Elements of all of them.
    len: usize,
    /// Tells programs apart.
    identity: Arc<()>,
}

impl Slots {
    /// Gives slots to the operands of the operations with these plans.
    pub fn assign<'a>(plans: impl Iterator<Item = (&'a Inst, &'a mut Plan)>) -> Self {
        let mut slots = Slots::default();
        for (inst, plan) in plans {
            for side in 0..2 {
                let form = match plan.way {
                    Way::General => continue,
                    Way::Direct { .. } => Form::Floats(plan.data[side], plan.layout(side)),
                    Way::Nibbles => [Form::Left, Form::Right][side],
                };
                let (file, first) = match inst.src[side] {
                    Operand::Vgpr(first) => (File::Vgpr, first),
                    Operand::Agpr(first) => (File::Agpr, first),
                    _ => continue,
                };
                let registers = RegRange { file, first, count: plan.registers[side] as u16 };
                plan.slots[side] = slots.slot(Known { registers, form });
            }
        }
        slots
    }

    fn slot(&mut self, known: Known) -> Option<u16> {
        let at = self.known.iter().position(|other| *other == known).unwrap_or(self.known.len());
        if at == self.known.len() {
            let len = known.form.len();
            if at == LIMIT || self.len + len > MOST {
                return None;
            }
            self.starts.push(2 * MAX_LEN + self.len);
            self.len += len;
            self.known.push(known);
        }
        u16::try_from(at).ok()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// The slots whose registers `inst` writes to.
    pub fn written(&self, inst: &Inst) -> Set {
        let writes = regs(inst).writes;
        let meets = |a: &RegRange, b: &RegRange| {
            a.file == b.file && a.first < b.first + b.count && b.first < a.first + a.count
        };
        (0..).zip(&self.known).fold(Set::default(), |slots, (slot, known)| {
            let written = writes.iter().any(|write| meets(write, &known.registers));
            if written { Set(slots.0 | Set::of(slot).0) } else { slots }
        })
    }
}

/// Elements `j` of all lanes. Panels are as many of these as lanes have elements.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row([f32; WAVE]);

/// What a wave keeps in the slots of its program. A clone starts with nothing.
#[derive(Debug, Default)]
pub(in crate::exec) struct Panels {
    owner: Option<Arc<()>>,
    /// Two for operands without a slot, then the slots'; as many as have been needed.
    rows: Vec<Row>,
    /// The slots that hold what is in their registers.
    fresh: Set,
}

impl Clone for Panels {
    fn clone(&self) -> Self {
        Panels::default()
    }
}

impl Panels {
    /// Forgets everything: all registers may have been written to.
    pub fn forget(&mut self) {
        self.fresh = Set::default();
    }

    /// Forgets what is in `slots`.
    #[inline(always)]
    pub fn make_stale(&mut self, slots: Set) {
        self.fresh.0 &= !slots.0;
    }

    /// Forgets everything if it is in the slots of another program: that one's instructions did not say
    /// what they made stale.
    #[inline(always)]
    pub fn forget_others(&mut self, slots: &Slots) {
        if self.owner.as_ref().is_some_and(|owner| !Arc::ptr_eq(owner, &slots.identity)) {
            self.owner = None;
            self.rows.clear();
            self.forget();
        }
    }

    /// All panels.
    #[inline(always)]
    pub fn all(&self) -> &[f32] {
        // SAFETY: rows are nothing but their elements.
        unsafe { std::slice::from_raw_parts(self.rows.as_ptr().cast(), self.rows.len() * WAVE) }
    }

    /// The first `end` elements, which there may not be yet.
    #[inline(always)]
    fn room(&mut self, slots: &Slots, end: usize) -> &mut [f32] {
        if self.rows.len() * WAVE < end {
            self.extend(slots, end);
        }
        // SAFETY: rows are nothing but their elements, and there are so many.
        unsafe { std::slice::from_raw_parts_mut(self.rows.as_mut_ptr().cast(), end) }
    }

    #[cold]
    #[inline(never)]
    fn extend(&mut self, slots: &Slots, end: usize) {
        self.owner = Some(slots.identity.clone());
        self.rows.resize(end.div_ceil(WAVE), Row([0.0; WAVE]));
    }

    /// Where the panel of an operand begins: that in `slot`, or in the spare room of `side` (0 or 1)
    /// if it has none. `unpack` makes its `len` elements if they are not there.
    #[inline(always)]
    pub fn panel(
        &mut self,
        slots: &Slots,
        slot: Option<u16>,
        side: usize,
        len: usize,
        unpack: impl FnOnce(&mut [f32]),
    ) -> usize {
        let (start, set) = match slot {
            Some(slot) => (slots.starts[usize::from(slot)], Set::of(slot)),
            None => (side * MAX_LEN, Set::default()),
        };
        if (self.fresh.0 & set.0) == 0 {
            unpack(&mut self.room(slots, start + len)[start..]);
            self.fresh.0 |= set.0;
        }
        start
    }
}

#[cfg(test)]
mod tests {
    use crate::exec::testing::{program, wave};
    use crate::exec::{Ctx, Lanes, MemAccess, Program, Wave, host, run};
    use crate::fault::FaultKind;
    use crate::isa::Arch;
    use crate::memory::AddressSpace;

    /// v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[0:1], v[2:3], 0
    const MFMA: [u32; 2] = [0xd3f3_0010, 0x0202_0500];
    /// The same of bf8.
    const BF8: [u32; 2] = [0xd3f0_0010, 0x0202_0500];
    /// v_mov_b32 v1, 0x3a3a3a3a
    const CHANGE: [u32; 2] = [0x7e02_02ff, 0x3a3a_3a3a];

    /// Which operands of the first matrix operation among `words` the last instruction makes stale.
    fn stale(words: &[u32]) -> [bool; 2] {
        let program = program(Arch::Gfx950, words);
        let written = program.slots.written(&program.insts[program.insts.len() - 1]);
        [0, 1].map(|slot| written.0 >> slot & 1 == 1)
    }

    /// Runs the first `instructions` of a program, the operands' bytes being fp8 ones where the wave is
    /// new. Returns the first element of the result.
    fn product(wave: &mut Wave, program: &Program, instructions: u64) -> f32 {
        let mem = AddressSpace::new(0);
        let access = MemAccess::default();
        let mut ctx = Ctx { program, mem: &mem, lds: &mut [], access, clock: 0 };
        wave.pc = 0;
        run(wave, &mut ctx, instructions).unwrap();
        f32::from_bits(wave.vgpr[16].0[5])
    }

    fn ones() -> Wave {
        let mut wave = wave();
        wave.vgpr[..4].fill(Lanes([0x3838_3838; 64]));
        wave
    }

    #[test]
    fn every_way_of_writing_a_register_makes_its_operand_stale() {
        if !host::wide() {
            return;
        }
        let after = |words: &[u32]| stale(&[&MFMA[..], words].concat());
        // v_mov_b32 v1 and v8
        assert_eq!(after(&CHANGE), [true, false]);
        assert_eq!(after(&[0x7e10_0281]), [false; 2]);
        // ds_read_b64 v[0:1], v9; buffer_load_short_d16 v1, v9, s[0:3], 0 offen
        assert_eq!(after(&[0xd8ec_0000, 9]), [true, false]);
        assert_eq!(after(&[0xe090_1000, 0x8000_0109]), [true, false]);
        // global_load_dwordx4 v[60:63], v[8:9], off
        assert_eq!(after(&[0xdc5c_8000, 0x3c7f_0008]), [false; 2]);
        // v_swap_b32 v2, v9; v_permlane16_swap_b32 v3, v9
        assert_eq!(after(&[0x7e04_a309]), [false, true]);
        assert_eq!(after(&[0x7e06_b309]), [false, true]);
        // The operation's own result in v[0:3]; its A in a[0:1] and a1, then a4, written.
        assert_eq!(stale(&[0xd3f3_0000, MFMA[1]]), [true; 2]);
        let a0 = [MFMA[0], MFMA[1] | 1 << 27];
        let accvgpr_write = |register: u32| [0xd3d9_4000 | register, 0x1800_0105];
        assert_eq!(stale(&[&a0[..], &accvgpr_write(1)].concat()), [true, false]);
        assert_eq!(stale(&[&a0[..], &accvgpr_write(4)].concat()), [false; 2]);
    }

    #[test]
    fn a_changed_operand_is_multiplied_as_it_is_now() {
        // s_cbranch_scc1 back to the first operation: six dwords back from its end.
        let words = [&MFMA[..], &CHANGE, &MFMA, &[0xbf85_fff9]].concat();
        let program = program(Arch::Gfx950, &words);
        let mut wave = ones();
        // 32 products of 1 * 1, then 16 of 1 * 1 and 16 of 1.25 * 1.
        assert_eq!(product(&mut wave, &program, 1), 32.0);
        assert_eq!(product(&mut wave, &program, 3), 36.0);
        // The first operation again, after a round of the loop.
        wave.scc = true;
        assert_eq!(product(&mut wave, &program, 5), 36.0);
        // Half of the lanes only: the elements of k of two of four groups.
        let mut wave = ones();
        wave.set_exec(u64::MAX >> 32);
        assert_eq!(product(&mut wave, &program, 3), 34.0);
    }

    #[test]
    fn a_cleared_wave_and_one_with_another_program_start_anew() {
        let mut wave = ones();
        assert_eq!(product(&mut wave, &program(Arch::Gfx950, &MFMA), 1), 32.0);
        // 0x38 is 0.5 in e5m2: 32 products of 0.25.
        assert_eq!(product(&mut wave, &program(Arch::Gfx950, &BF8), 1), 8.0);
        let other = program(Arch::Gfx950, &CHANGE);
        let program = program(Arch::Gfx950, &MFMA);
        assert_eq!(product(&mut wave, &program, 1), 32.0);
        // Without matrix operations: 16 products of 1 * 1 and 16 of 1.25 * 1 are what it leads to.
        product(&mut wave, &other, 1);
        assert_eq!(product(&mut wave, &program, 1), 36.0);
        wave.vgpr[1] = Lanes([0x3838_3838; 64]);
        wave.forget_unpacked();
        assert_eq!(product(&mut wave, &program, 1), 32.0);
        wave.clear();
        wave.set_exec(u64::MAX);
        assert_eq!(product(&mut wave, &program, 1), 0.0);
    }

    #[test]
    fn there_are_no_slots_where_registers_are_written_by_number() {
        assert!(program(Arch::Gfx950, &[0x7e10_0281]).slots.is_empty());
        assert_eq!(program(Arch::Gfx950, &MFMA).slots.is_empty(), !host::wide());
        // s_set_gpr_idx_on s0, gpr_idx(SRC0)
        let indexed = [&MFMA[..], &[0xbf11_0100]].concat();
        assert!(program(Arch::Gfx950, &indexed).slots.is_empty());
    }

    #[test]
    fn registers_beyond_the_architected_ones_are_not_the_accumulation_registers() {
        // v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[64:65], v[2:3], 0 of a wave with v0 to v63 and a0 to a63
        let program = program(Arch::Gfx950, &[MFMA[0], MFMA[1] | 0x40]);
        let mem = AddressSpace::new(0);
        let access = MemAccess::default();
        let mut ctx = Ctx { program: &program, mem: &mem, lds: &mut [], access, clock: 0 };
        let fault = run(&mut wave(), &mut ctx, 1);
        assert_eq!(fault, Err(FaultKind::NoRegister { register: "v64".to_owned() }));
    }
}
