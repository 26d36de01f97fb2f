//! A code object's text section, decoded and resolved to handlers.
//!
//! Goes in: decoded instructions with their offsets. Comes out: a [`Program`] whose instructions
//! carry the function that executes them, so that running one costs no lookup.

use super::step::{self, Handler};
use super::vector::{self, Plan};
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
}

/// What is worked out once about an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    /// Executes it.
    pub(super) run: Handler,
    /// Index of the instruction that a SOPP or SOPK branch jumps to; `u32::MAX` if there is none.
    pub(super) target: u32,
    /// Operands and kernel of a vector instruction.
    pub(super) plan: Plan,
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
        let mut program = Program { arch, insts: list, addr, base, index, code: Vec::new() };
        program.code = (0..program.insts.len()).map(|i| program.resolve(i)).collect();
        program
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

    fn resolve(&self, i: usize) -> Code {
        let inst = &self.insts[i];
        let target = match inst.enc {
            Enc::Sopp | Enc::Sopk => self.index_of(self.branch_address(i)),
            _ => None,
        };
        let target = target.and_then(|t| u32::try_from(t).ok()).unwrap_or(u32::MAX);
        let (run, plan) = match step::handler(inst) {
            Some(handler) => (handler, Plan::NONE),
            None => vector::resolve(inst, self.arch).unwrap_or((step::missing, Plan::NONE)),
        };
        Code { run, target, plan }
    }
}
