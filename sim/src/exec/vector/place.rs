//! Where the operands of a vector instruction are, as far as that can be known before it runs.
//!
//! Goes in: a decoded instruction and its plan. Comes out: for each operand a table and a place in it,
//! so that finding the operands takes no decisions; and whether results may go straight to their
//! registers. Constants are spread over all lanes once per program.

use super::plan::{Dest, Extra, Plan, source};
use crate::exec::operand::constant;
use crate::exec::{Lanes, WAVE};
use crate::isa::{Inst, Operand, Ty};

/// Tables of registers that hold operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Table {
    /// Architected registers.
    Arch,
    /// Accumulation registers.
    Acc,
    /// The program's constants.
    Constants,
    /// The wave's scratch registers: two for each source, then one for each scalar register.
    Scratch,
}

/// A register: its table in the top two bits and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place(u16);

impl Place {
    /// Registers that a table may have.
    const LIMIT: u16 = 1 << 14;

    /// Place of the first scalar register in the scratch table.
    const SCALARS: u16 = 8;

    const fn new(table: Table, index: u16) -> Self {
        Place((table as u16) << 14 | index)
    }

    /// Number of the table.
    #[inline(always)]
    pub(super) fn table(self) -> usize {
        usize::from(self.0 >> 14)
    }

    /// Number of the register in its table.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        usize::from(self.0 & (Self::LIMIT - 1))
    }

    /// Number of the scalar register, of a place that is for one.
    #[inline(always)]
    pub(super) fn scalar(self) -> usize {
        usize::from(self.0.wrapping_sub(Self::SCALARS) & 127)
    }
}

/// How the registers of a destination lie to those of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    /// No source is one of them.
    Apart,
    /// Where a source is, each of its registers is the one that its result goes to.
    Same,
    /// The first result may be written over a source of the second.
    Crossed,
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::exec) struct Places {
    /// Bits of MODE that change what the instruction does.
    pub(super) mode_mask: u32,
    /// Their values for which the kernel is right.
    pub(super) mode_usual: u32,
    /// The two registers of each source.
    pub(super) sources: [[Place; 2]; 3],
    /// The first register of the destination.
    pub(super) target: Place,
    /// Registers of either kind that there have to be.
    pub(super) arch: u16,
    pub(super) acc: u16,
    /// Bit i: source i is not there yet; it has to be put into its scratch registers.
    pub(super) absent: u8,
    /// Bit 2 i + k: register k of source i is that of a scalar, which may have changed.
    pub(super) scalars: u8,
    /// Whether the destination is two registers.
    pub(super) wide: bool,
    /// How the destination lies to the sources.
    pub(super) overlap: Overlap,
    /// The truth table of `v_bitop3`, which its kernel gets instead of MODE.
    pub(super) table: Option<u8>,
}

impl Places {
    pub(in crate::exec) const NONE: Places = Places {
        mode_mask: 0,
        mode_usual: 0,
        sources: [[Place::new(Table::Scratch, 0); 2]; 3],
        target: Place::new(Table::Scratch, 0),
        arch: 0,
        acc: 0,
        absent: 0,
        scalars: 0,
        wide: false,
        overlap: Overlap::Crossed,
        table: None,
    };

    /// The places of `inst`'s operands. Constants are added to `constants`.
    pub(super) fn new(inst: &Inst, plan: &Plan, constants: &mut Vec<Lanes>) -> Self {
        let (mode_mask, mode_usual) = plan.mode(inst);
        let mut places = Places { mode_mask, mode_usual, ..Places::NONE };
        if let Extra::Table(table) = plan.extra {
            places.table = Some(table);
        }
        for i in 0..usize::from(plan.sources) {
            places.sources[i] = places.source(inst, i, plan, constants);
        }
        places.wide = plan.dest == Dest::Wide;
        let Some((table, first)) = register(inst.dst) else { return places };
        let count = if places.wide { 2 } else { 1 };
        places.target = Place::new(table, first);
        places.require(table, first, count);
        let sources = places.sources[..usize::from(plan.sources)].as_flattened();
        let target = first.into()..usize::from(first + count);
        let meets = |place: &&Place| {
            place.table() == places.target.table() && target.contains(&place.index())
        };
        let same =
            |(i, place): (usize, &Place)| !meets(&place) || place.index() == target.start + i % 2;
        places.overlap = if !sources.iter().any(|place| meets(&place)) {
            Overlap::Apart
        } else if places.wide && !sources.iter().enumerate().all(same) {
            Overlap::Crossed
        } else {
            Overlap::Same
        };
        places
    }

    fn source(
        &mut self,
        inst: &Inst,
        i: usize,
        plan: &Plan,
        constants: &mut Vec<Lanes>,
    ) -> [Place; 2] {
        let (operand, ty, touch) = (source(inst, i, plan), plan.types[i], &plan.touch[i]);
        let last = u16::from(ty.dwords().clamp(1, 2)) - 1;
        if let Some((table, first)) = register(operand) {
            self.require(table, first, last + 1);
            if !touch.changes_bits() {
                return touch.from.map(|k| Place::new(table, first + u16::from(k).min(last)));
            }
        }
        if let (Some(value), true) = (constant(operand, ty), ty != Ty::Mask) {
            let value = touch.scalar([value as u32, (value >> 32) as u32]);
            if let [Some(lo), Some(hi)] = value.map(|word| spread(word, constants)) {
                return [lo, hi].map(|index| Place::new(Table::Constants, index));
            }
        }
        if let (Operand::Sgpr(n), false) = (operand, ty == Ty::Mask || touch.changes_bits()) {
            self.scalars |= if last == 0 { 1 } else { 3 } << (2 * i);
            let index = |k: u8| Place::SCALARS + ((n + u16::from(k).min(last)) & 127);
            return touch.from.map(|k| Place::new(Table::Scratch, index(k)));
        }
        self.absent |= 1 << i;
        [0, 1].map(|k| Place::new(Table::Scratch, 2 * i as u16 + k))
    }

    /// Notes that `count` registers from `first` on are used.
    fn require(&mut self, table: Table, first: u16, count: u16) {
        let limit = if table == Table::Acc { &mut self.acc } else { &mut self.arch };
        *limit = (*limit).max(first + count);
    }
}

fn register(operand: Operand) -> Option<(Table, u16)> {
    match operand {
        Operand::Vgpr(index) => Some((Table::Arch, index & 0xff)),
        Operand::Agpr(index) => Some((Table::Acc, index & 0xff)),
        _ => None,
    }
}

/// Index of the constant whose lanes are all `word`; `None` when there are too many of them.
fn spread(word: u32, constants: &mut Vec<Lanes>) -> Option<u16> {
    let known = constants.iter().position(|constant| constant.0[0] == word);
    let at = known.unwrap_or(constants.len());
    let index = u16::try_from(at).ok().filter(|&index| index < Place::LIMIT)?;
    if known.is_none() {
        constants.push(Lanes([word; WAVE]));
    }
    Some(index)
}
