//! Finds reads of values that have not arrived: a register used while a memory operation still owes
//! it a value, which real hardware would read stale.
//!
//! Goes in: the [`Footprint`] of each instruction a wave executes, in order. Comes out: a fault
//! that names the register when the `s_waitcnt` that covers it is missing. Rules of gfx9: vector
//! memory operations, stores included, return in order and count in vmcnt; LDS operations return in
//! order and count in lgkmcnt; scalar loads count there too, in any order; flat operations count in
//! both, and end in any order. Data that travels through LDS itself is not tracked.

use std::collections::VecDeque;

use crate::fault::FaultKind;
use crate::isa::{Arch, Class, File, Inst, MemOp, Op, class, regs};

/// A set of VGPRs, AGPRs (from 256) and scalar registers (from 512).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RegSet([u64; 10]);

impl RegSet {
    fn insert(&mut self, file: File, first: u16, count: u16) {
        let (base, size) = match file {
            File::Vgpr => (0, 256),
            File::Agpr => (256, 256),
            File::Sgpr => (512, 128),
            File::Scc => return,
        };
        for n in (first..first.saturating_add(count)).filter(|n| *n < size) {
            let at = base + usize::from(n);
            self.0[at / 64] |= 1 << (at % 64);
        }
    }

    fn union(&mut self, other: &RegSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    fn and(&self, other: &RegSet) -> RegSet {
        RegSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Name of the first register, if any.
    fn first(&self) -> Option<String> {
        let word = self.0.iter().position(|w| *w != 0)?;
        let at = word * 64 + self.0[word].trailing_zeros() as usize;
        Some(match at {
            0..256 => format!("v{at}"),
            256..512 => format!("a{}", at - 256),
            618 => "vcc_lo".into(),
            619 => "vcc_hi".into(),
            _ => format!("s{}", at - 512),
        })
    }
}

/// Which queue an operation's result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    Vector,
    Lds,
    Scalar,
    Flat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// Neither starts nor awaits memory operations.
    None,
    /// Starts one that will write the footprint's `owes`.
    Start(Queue),
    /// Waits until at most so many are outstanding.
    Wait { vector: usize, lds: usize },
}

/// What matters about an instruction here; worked out once per instruction of a program.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    reads: RegSet,
    writes: RegSet,
    effect: Effect,
}

impl Footprint {
    /// Footprint of an instruction.
    pub fn of(inst: &Inst, arch: Arch) -> Self {
        let (mut reads, mut writes) = (RegSet::default(), RegSet::default());
        let regs = regs(inst);
        regs.reads.iter().for_each(|r| reads.insert(r.file, r.first, r.count));
        regs.writes.iter().for_each(|r| writes.insert(r.file, r.first, r.count));
        let effect = match class(inst, arch) {
            Class::Waitcnt => wait(inst),
            // Invalidation counts in no counter, writing back in vmcnt.
            Class::Vmem(MemOp::Control) if inst.op == Op::BufferInv => Effect::None,
            Class::Vmem(_) => Effect::Start(Queue::Vector),
            Class::Flat(_) => Effect::Start(Queue::Flat),
            Class::Lds(MemOp::Control) | Class::Smem(MemOp::Control) => Effect::None,
            Class::Lds(_) => Effect::Start(Queue::Lds),
            Class::Smem(_) => Effect::Start(Queue::Scalar),
            _ if matches!(inst.op, Op::SSendmsg | Op::SSendmsghalt) => Effect::Start(Queue::Scalar),
            _ => Effect::None,
        };
        Footprint { reads, writes, effect }
    }
}

/// Counts in the immediate of `s_waitcnt`: vmcnt in bits 0-3 and 14-15, lgkmcnt in bits 8-11.
fn wait(inst: &Inst) -> Effect {
    let imm = inst.imm as usize;
    Effect::Wait { vector: imm & 15 | (imm >> 14 & 3) << 4, lds: imm >> 8 & 15 }
}

/// An outstanding operation and the registers it will write.
#[derive(Clone, Copy, Debug)]
struct Owed {
    queue: Queue,
    regs: RegSet,
}

/// The outstanding operations of one wave.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// What vmcnt counts, oldest first.
    vector: VecDeque<Owed>,
    /// What lgkmcnt counts, oldest first.
    lds: VecDeque<Owed>,
    /// Registers owed by anything.
    owed: RegSet,
}

impl Tracker {
    /// Checks the next instruction of the wave and takes note of what it starts or awaits. The
    /// fault names the first register that it reads or overwrites too early.
    #[inline]
    pub fn check(&mut self, next: &Footprint) -> Result<(), FaultKind> {
        if (!self.vector.is_empty() || !self.lds.is_empty())
            && (next.reads.and(&self.owed) != RegSet::default()
                || next.writes.and(&self.owed) != RegSet::default())
        {
            self.collision(next)?;
        }
        match next.effect {
            Effect::None => {}
            Effect::Start(queue) => self.start(queue, next.writes),
            Effect::Wait { vector, lds } => self.wait(vector, lds),
        }
        Ok(())
    }

    /// A fault unless the only overlap is a load into registers that an earlier load of the same
    /// in-order kind still owes.
    #[cold]
    fn collision(&self, next: &Footprint) -> Result<(), FaultKind> {
        let ordered = match next.effect {
            Effect::Start(queue @ (Queue::Vector | Queue::Lds)) => Some(queue),
            _ => None,
        };
        let mut early = RegSet::default();
        for owed in self.vector.iter().chain(&self.lds) {
            early.union(&next.reads.and(&owed.regs));
            if Some(owed.queue) != ordered {
                early.union(&next.writes.and(&owed.regs));
            }
        }
        match early.first() {
            Some(register) => Err(FaultKind::UnmetWait { register }),
            None => Ok(()),
        }
    }

    fn start(&mut self, queue: Queue, regs: RegSet) {
        let owed = Owed { queue, regs };
        if matches!(queue, Queue::Vector | Queue::Flat) {
            self.vector.push_back(owed);
        }
        if queue != Queue::Vector {
            self.lds.push_back(owed);
        }
        self.owed.union(&regs);
    }

    fn wait(&mut self, vector: usize, lds: usize) {
        let before = self.vector.len() + self.lds.len();
        // A counter with operations that end in any order says nothing before it is zero.
        if vector == 0 || self.vector.iter().all(|o| o.queue == Queue::Vector) {
            self.vector.drain(..self.vector.len().saturating_sub(vector));
        }
        if lds == 0 || self.lds.iter().all(|o| o.queue == Queue::Lds) {
            self.lds.drain(..self.lds.len().saturating_sub(lds));
        }
        if self.vector.len() + self.lds.len() != before {
            self.owed = RegSet::default();
            for owed in self.vector.iter().chain(&self.lds) {
                self.owed.union(&owed.regs);
            }
        }
    }
}

#[cfg(test)]
mod tests;
