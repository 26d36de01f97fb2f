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
use crate::exec::mode::GPR_IDX_EN;
use crate::isa::{File, Inst, Op, Operand, RegRange, regs};

/// Most slots of a program. Operands beyond that are unpacked every time.
const LIMIT: usize = 128;

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
    /// Where the panel of each slot begins, and where the last one ends.
    starts: Vec<usize>,
    end: usize,
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
        if at >= LIMIT {
            return None;
        }
        if at == self.known.len() {
            self.starts.push(self.end);
            self.end += known.form.len();
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

/// Whether the instructions of a program name all the vector registers that they write to.
pub(in crate::exec) fn are_plain<'a>(mut insts: impl Iterator<Item = &'a Inst>) -> bool {
    insts.all(|inst| match inst.op {
        Op::SSetGprIdxOn | Op::SSetGprIdxMode | Op::SSetGprIdxIdx => false,
        Op::SSetregB32 | Op::SSetregImm32B32 => {
            // Bits 10:6 are the first bit of the field, bits 15:11 its size less one.
            let (first, size) = (inst.imm as u32 >> 6 & 31, (inst.imm as u32 >> 11 & 31) + 1);
            !(first..first + size).contains(&GPR_IDX_EN.trailing_zeros())
        }
        _ => true,
    })
}

/// Elements `j` of all lanes. Panels are as many of these as lanes have elements.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Row([f32; WAVE]);

/// What a wave keeps in the slots of its program. A clone starts with nothing.
#[derive(Debug, Default)]
pub(in crate::exec) struct Panels {
    owner: Option<Arc<()>>,
    /// The slots', then two for operands without one.
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

    /// Makes sure that the slots are those of a program.
    #[inline(always)]
    pub fn prepare(&mut self, slots: &Slots) {
        if self.owner.as_ref().is_none_or(|owner| !Arc::ptr_eq(owner, &slots.identity)) {
            self.take_over(slots);
        }
    }

    #[cold]
    #[inline(never)]
    fn take_over(&mut self, slots: &Slots) {
        self.owner = Some(slots.identity.clone());
        self.fresh = Set::default();
        self.rows = vec![Row([0.0; WAVE]); (slots.end + 2 * MAX_LEN) / WAVE];
    }

    /// All panels.
    #[inline(always)]
    pub fn all(&self) -> &[f32] {
        // SAFETY: rows are nothing but their elements.
        unsafe { std::slice::from_raw_parts(self.rows.as_ptr().cast(), self.rows.len() * WAVE) }
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
            None => (slots.end + side * MAX_LEN, Set::default()),
        };
        if (self.fresh.0 & set.0) == 0 {
            let all = self.rows.as_mut_ptr().cast::<f32>();
            // SAFETY: rows are nothing but their elements.
            let all = unsafe { std::slice::from_raw_parts_mut(all, self.rows.len() * WAVE) };
            unpack(&mut all[start..start + len]);
            self.fresh.0 |= set.0;
        }
        start
    }
}
