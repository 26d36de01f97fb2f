//! A code object's text section, decoded and resolved to handlers.
//!
//! Goes in: decoded instructions with their offsets. Comes out: a [`Program`] whose instructions
//! carry the function that executes them, so that running one costs no lookup.

use super::Lanes;
use super::mfma;
#[cfg(target_arch = "x86_64")]
use super::mfma::slots::{Set, Slots};
use super::step::{self, Handler};
use super::vector::{self, Places};
#[cfg(target_arch = "x86_64")]
use crate::isa::may_index_registers;
use crate::isa::{Arch, Enc, Inst};

/// The instructions of one loaded code object's text section, decoded once.
#[derive(Debug)]
pub struct Program {
    /// Target.
    pub arch: Arch,
    /// Instructions in address order.
    pub insts: Vec<Inst>,
    /// Device address of each instruction.
    pub addr: Vec<u64>,
    /// Device address of the text section.
    pub base: u64,
    /// Instruction index by dword offset from `base`; `u32::MAX` inside an instruction or where
    /// the bytes do not decode.
    pub index: Vec<u32>,
    /// How to execute each instruction.
    pub(super) code: Vec<Code>,
    /// Constants that vector instructions read, in all lanes.
    pub(super) constants: Vec<Lanes>,
    /// Where waves keep unpacked operands of matrix operations.
    #[cfg(target_arch = "x86_64")]
    pub(super) slots: Slots,
    /// Slots that instructions make stale.
    #[cfg(target_arch = "x86_64")]
    pub(super) overwrites: Vec<Set>,
}

/// What is worked out once about an instruction. What most executions need is in one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Code {
    /// Executes it.
    pub(super) run: Handler,
    /// Index of the instruction that a SOPP or SOPK branch jumps to; `u32::MAX` if there is none.
    pub(super) target: u32,
    /// Which of the program's overwrites it causes; `u32::MAX` if there is none.
    #[cfg(target_arch = "x86_64")]
    pub(super) overwrite: u32,
    /// Where the operands of a vector instruction are.
    pub(super) places: Places,
    /// What else there is to know.
    pub(super) unit: Unit,
}

const _: () = assert!(size_of::<Code>() == 64);

impl Code {
    fn new(run: Handler, target: u32, places: Places, unit: Unit) -> Self {
        Code {
            run,
            target,
            #[cfg(target_arch = "x86_64")]
            overwrite: u32::MAX,
            places,
            unit,
        }
    }
}

/// What is worked out once about an instruction of one of the units that want that.
#[derive(Debug)]
pub(super) enum Unit {
    /// Operation and operands of a vector instruction.
    Vector(Box<vector::Plan>),
    /// What a matrix operation multiplies.
    Matrix(Box<mfma::Plan>),
    /// None, or the instruction is not executed.
    Other,
}

impl Program {
    /// A program of `insts`, each with its byte offset in a text section of `len` bytes at device
    /// address `base`. Offsets must be ascending multiples of 4 inside the section; others are
    /// not reachable.
    pub fn new(
        arch: Arch,
        base: u64,
        len: u64,
        insts: impl IntoIterator<Item = (u64, Inst)>,
    ) -> Self {
        let dwords = usize::try_from(len / 4).unwrap_or(0);
        let mut index = vec![u32::MAX; dwords];
        let (mut list, mut addr) = (Vec::new(), Vec::new());
        for (offset, inst) in insts {
            let slot = usize::try_from(offset / 4).ok().and_then(|i| index.get_mut(i));
            if let (Some(slot), Ok(n), 0) = (slot, u32::try_from(list.len()), offset % 4) {
                *slot = n;
                list.push(inst);
                addr.push(base.wrapping_add(offset));
            }
        }
        let mut program = Program {
            arch,
            insts: list,
            addr,
            base,
            index,
            code: Vec::new(),
            constants: Vec::new(),
            #[cfg(target_arch = "x86_64")]
            slots: Slots::default(),
            #[cfg(target_arch = "x86_64")]
            overwrites: Vec::new(),
        };
        let mut constants = Vec::new();
        program.code =
            (0..program.insts.len()).map(|i| program.resolve(i, &mut constants)).collect();
        program.constants = constants;
        #[cfg(target_arch = "x86_64")]
        program.keep_operands();
        program
    }

    /// Gives the operands of matrix operations slots, and has the instructions that write to their
    /// registers say so.
    #[cfg(target_arch = "x86_64")]
    fn keep_operands(&mut self) {
        // Then instructions name all the vector registers that they write to.
        if self.insts.iter().any(may_index_registers) {
            return;
        }
        let plans = self.insts.iter().zip(&mut self.code);
        self.slots = Slots::assign(plans.filter_map(|(inst, code)| match &mut code.unit {
            Unit::Matrix(plan) => Some((inst, &mut **plan)),
            _ => None,
        }));
        if self.slots.is_empty() {
            return;
        }
        for (inst, code) in self.insts.iter().zip(&mut self.code) {
            let slots = self.slots.written(inst);
            if !slots.is_empty() {
                code.overwrite = self.overwrites.len() as u32;
                self.overwrites.push(slots);
            }
        }
    }

    /// Instruction index of a device address, if an instruction starts there.
    pub fn index_of(&self, addr: u64) -> Option<usize> {
        let offset = addr.checked_sub(self.base)?;
        if offset % 4 != 0 {
            return None;
        }
        let i = *self.index.get(usize::try_from(offset / 4).ok()?)?;
        (i != u32::MAX).then_some(i as usize)
    }

    /// Device address that follows instruction `i`.
    pub(super) fn end_of(&self, i: usize) -> u64 {
        self.addr[i].wrapping_add(u64::from(self.insts[i].size))
    }

    /// Device address that the SOPP or SOPK branch `i` jumps to.
    pub(super) fn branch_address(&self, i: usize) -> u64 {
        self.end_of(i).wrapping_add_signed(i64::from(self.insts[i].imm) * 4)
    }

    fn resolve(&self, i: usize, constants: &mut Vec<Lanes>) -> Code {
        let inst = &self.insts[i];
        let target = match inst.enc {
            Enc::Sopp | Enc::Sopk => self.index_of(self.branch_address(i)),
            _ => None,
        };
        let target = target.and_then(|t| u32::try_from(t).ok()).unwrap_or(u32::MAX);
        if let Some(run) = step::handler(inst) {
            let matrix = match inst.enc {
                Enc::Mai | Enc::MaiScale => mfma::Plan::new(inst, self.arch).ok(),
                _ => None,
            };
            let run = matrix.and_then(|plan| plan.handler()).unwrap_or(run);
            let unit = matrix.map_or(Unit::Other, |plan| Unit::Matrix(Box::new(plan)));
            return Code::new(run, target, Places::NONE, unit);
        }
        let Some(resolved) = vector::resolve(inst, self.arch, constants) else {
            return Code::new(step::missing, target, Places::NONE, Unit::Other);
        };
        let unit = resolved.plan.map_or(Unit::Other, |plan| Unit::Vector(Box::new(plan)));
        Code::new(resolved.run, target, resolved.places, unit)
    }
}
