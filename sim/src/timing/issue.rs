//! One issue attempt: whether the next instruction of a wave can go, and what it then occupies.
//!
//! Goes in: a wave slot and the time. Comes out: until when and why it is blocked, or when the wave can
//! issue again. The instruction executes here.

use super::cache::{Cache, Lookup};
use super::cost::{Action, Cost, Unit};
use super::counters::Stall;
use super::cu::Cu;
use super::grid::Grid;
use super::hierarchy::Hierarchy;
use super::lds::LdsPipe;
use super::slots::{Counts, Group, Line, NEVER, Simd, Slot, Waiting};
use super::trace::Event;
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, Flow, MemKind, Wave};
use crate::fault::{Fault, FaultKind};

/// Wave instructions after which a wave is taken not to end.
const RUNAWAY: u64 = 1 << 32;

/// An issue slot of a SIMD.
pub(super) struct Turn {
    /// The SIMD.
    pub(super) s: usize,
    /// When it is.
    pub(super) now: u64,
    /// Units that have taken an instruction.
    pub(super) used: u8,
    /// Whether a wave has changed its priority.
    pub(super) resort: bool,
}

impl<G: Grid> Cu<'_, G> {
    /// Issues the next instruction of `wave`, if it can go. Sets when the wave can try again, or issue
    /// the one after it; returns what follows.
    #[inline]
    pub(super) fn issue(&mut self, turn: &mut Turn, wave: &mut Waiting) -> Result<Flow, Fault> {
        let (s, w, now) = (turn.s, wave.slot, turn.now);
        let slot = &mut self.slots[w];
        let (pc, place) = (slot.pc, slot.group as usize);
        let Some(Line { cost, .. }) = self.lines.get(pc) else { return Err(self.astray(w)) };
        let simd = &mut self.simds[s];
        let last = cost.line + u64::from(cost.straddles);
        let mut blocked = (0, Stall::Fetch);
        if slot.line != last {
            blocked.0 = fetched_at(self.p, &mut self.fetch, cost.line, last, now);
            slot.line = last;
        }
        if blocked.0 <= now {
            blocked = if turn.used & 1 << cost.unit as u8 != 0 {
                (now + self.slot_clk, Stall::Arbitration)
            } else if cost.unit == Unit::Vector {
                vector_free(simd, cost)
            } else {
                let counts = &mut self.outstanding[w];
                accepted_at(self.p, counts, cost.action, now, &self.lds, &self.memory)
            };
        }
        let (until, reason) = blocked;
        if until > now {
            wave.ready = until;
            if slot.reason != reason {
                self.settle(s, w, now);
                self.slots[w].reason = reason;
            }
            return Ok(Flow::Next);
        }

        let cost = *cost;
        self.settle(s, w, now);
        let slot = &mut self.slots[w];
        slot.reason = Stall::Arbitration;
        let flow = if slot.ahead > 0 {
            (slot.pc, slot.ahead) = (pc + 1, slot.ahead - 1);
            Flow::Next
        } else {
            let group = &mut self.groups[place];
            group.ctx.clock = now;
            let number = w - place * self.waves_per_group;
            execute(&mut group.waves[number], &mut group.ctx, slot, &cost)
                .map_err(|kind| self.grid.fault(kind, group.id, number as u32, pc))?
        };
        // The sequencer handles any number.
        turn.used |= 1 << cost.unit as u8 & !(1 << Unit::Internal as u8);
        slot.instructions += 1;
        if slot.instructions > RUNAWAY {
            let (group, number) = (self.groups[place].id, w - place * self.waves_per_group);
            let kind = FaultKind::Runaway { limit: RUNAWAY };
            return Err(self.grid.fault(kind, group, number as u32, pc));
        }
        self.counters.issued[cost.kind as usize] += 1;

        let mut kept = 0;
        if cost.unit == Unit::Vector {
            let simd = &mut self.simds[s];
            simd.vector_free = now + u64::from(cost.vector);
            self.counters.valu_busy += u64::from(cost.vector);
            if cost.matrix > 0 {
                simd.matrix_free = now + u64::from(cost.matrix);
                let c = &mut self.counters;
                let busy = if cost.narrow { &mut c.matrix_narrow } else { &mut c.matrix_wide };
                *busy += u64::from(cost.matrix);
            }
        } else {
            turn.resort = match cost.action {
                Action::Priority(priority) => {
                    std::mem::replace(&mut slot.priority, priority) != priority
                }
                _ => turn.resort,
            };
            let (clk, reason) = self.act(s, w, now, cost.action, flow);
            kept = u64::from(clk).saturating_sub(self.slot_clk);
            self.counters.stalled[reason as usize] += kept;
        }
        let mut ready = now + self.slot_clk + kept;
        let slot = &mut self.slots[w];
        if cost.crosses {
            slot.crossing_debt += self.p.issue.crossing;
            if slot.crossing_debt >= self.p.issue.slot {
                slot.crossing_debt -= self.p.issue.slot;
                ready += self.slot_clk;
                self.counters.stalled[Stall::Fetch as usize] += self.slot_clk;
            }
        }
        slot.since = ready;
        let line = &mut self.lines[pc];
        line.count += 1;
        line.waited += ready - now - self.slot_clk;
        self.trace.push(|| Event {
            simd: s as u32,
            slot: w as u32,
            workgroup: self.groups[place].id,
            pc,
            begin: now,
            end: ready,
            wait: None,
        });
        wave.ready = if flow == Flow::Barrier { NEVER } else { ready };
        Ok(flow)
    }

    /// What an instruction that is not for the vector units does besides its functional effect. Returns
    /// for how many clocks the wave issues nothing else, and why.
    #[inline]
    fn act(&mut self, s: usize, w: usize, now: u64, action: Action, flow: Flow) -> (u32, Stall) {
        let counts = &mut self.outstanding[w];
        let group = &mut self.groups[self.slots[w].group as usize];
        match action {
            Action::Vector | Action::Plain | Action::Wait { .. } | Action::Priority(_) => {}
            Action::Idle(clk) => return (clk, Stall::Nop),
            Action::ScalarMemory => {
                let access = &group.ctx.access;
                let (addr, bytes) = match access.kind {
                    MemKind::Scalar => (access.addr[0], access.bytes),
                    _ => (0, 0),
                };
                let done = match bytes {
                    0 => now + u64::from(self.p.scalar.hit),
                    _ => self.memory.scalar(now, group.requester, addr, bytes),
                };
                counts.lgkm.add(done);
                group.ctx.access.kind = MemKind::None;
            }
            Action::VectorMemory | Action::Flat => {
                let done = vector_access(&mut self.lds, &mut self.memory, group, s, now);
                counts.vm.add_in_order(done);
                if action == Action::Flat {
                    counts.lgkm.add(done);
                }
            }
            Action::VectorControl => {
                counts.vm.add_in_order(now + u64::from(self.p.vmem.hit));
            }
            Action::Lds => {
                let timing = self.lds.access(now, s, &group.ctx.access);
                counts.lgkm.add_in_order(timing.done);
                self.counters.lds_conflicts += u64::from(timing.conflicts);
            }
            Action::Branch => {
                let i = &self.p.issue;
                let clk = if flow == Flow::Branch { i.branch_taken } else { i.branch };
                return (clk, Stall::Branch);
            }
        }
        (0, Stall::Nop)
    }

    /// Charges what wave slot `w` has waited for its reason so far, before it gets another one or
    /// issues.
    #[inline]
    fn settle(&mut self, s: usize, w: usize, now: u64) {
        let slot = &mut self.slots[w];
        let (begin, reason) = (slot.since, slot.reason);
        if begin >= now {
            return;
        }
        slot.since = now;
        // A barrier has issued when the wave waits at it.
        let pc = slot.pc - usize::from(reason == Stall::Barrier && slot.pc > 0);
        self.counters.stalled[reason as usize] += now - begin;
        self.lines[pc].waited += now - begin;
        self.trace.push(|| Event {
            simd: s as u32,
            slot: w as u32,
            workgroup: self.groups[slot.group as usize].id,
            pc,
            begin,
            end: now,
            wait: Some(reason),
        });
    }

    /// The fault of the wave in slot `w`, which is where there is no instruction.
    #[cold]
    fn astray(&mut self, w: usize) -> Fault {
        let slot = &self.slots[w];
        let (pc, place) = (slot.pc, slot.group as usize);
        let group = &mut self.groups[place];
        let number = w - place * self.waves_per_group;
        let fault = exec::step(&mut group.waves[number], &mut group.ctx).err();
        let kind = fault.unwrap_or(FaultKind::BadJump { addr: 0 });
        self.grid.fault(kind, group.id, number as u32, pc)
    }
}

/// Executes the instruction at which `slot` and `wave` are. What follows it and can be seen by nobody
/// else executes with it, while the registers of the wave are at hand: it only has to issue then. A
/// fault there is found again when its turn to issue comes.
fn execute(
    wave: &mut Wave,
    ctx: &mut Ctx<'_>,
    slot: &mut Slot,
    cost: &Cost,
) -> Result<Flow, FaultKind> {
    let pc = slot.pc;
    match exec::run(wave, ctx, u64::from(cost.own.max(1))) {
        Ok((flow, _)) if cost.own <= 1 => {
            slot.pc = wave.pc;
            return Ok(flow);
        }
        Err(fault) if wave.pc == pc => return Err(fault),
        _ => {}
    }
    (slot.pc, slot.ahead) = (pc + 1, (wave.pc - pc - 1) as u16);
    Ok(Flow::Next)
}

/// When the instruction in the cache lines `first..=last` has been fetched.
fn fetched_at(p: &ArchParams, cache: &mut Cache, first: u64, last: u64, now: u64) -> u64 {
    let miss = u64::from(p.fetch.miss);
    let mut until = now;
    for line in first..=last + u64::from(p.fetch.prefetch) {
        let ready = match cache.touch(line) {
            Lookup::Hit(i) => cache.entry(i).ready,
            // Left there by the previous launch of the kernel.
            Lookup::Filled(_) => now,
            Lookup::Replaced(i) => {
                cache.entry(i).ready = now + miss;
                now + miss
            }
        };
        if line <= last {
            until = until.max(ready);
        }
    }
    until
}

/// From when the vector ALU or the matrix unit takes the instruction of `cost`, and what it waits for
/// until then.
#[inline]
fn vector_free(simd: &Simd, cost: &Cost) -> (u64, Stall) {
    let (waits, beyond) = cost.after_matrix;
    // A unit that has not been used has not been busy.
    let matrix = (simd.matrix_free + u64::from(beyond)) * u64::from(waits & (simd.matrix_free > 0));
    let reason = if matrix > simd.vector_free { Stall::Matrix } else { Stall::Valu };
    (matrix.max(simd.vector_free), reason)
}

/// From when another unit takes an instruction, and what it waits for until then.
#[inline]
fn accepted_at(
    p: &ArchParams,
    counts: &mut Counts,
    action: Action,
    now: u64,
    lds: &LdsPipe<'_>,
    memory: &Hierarchy<'_>,
) -> (u64, Stall) {
    let vm_room = p.vmem.outstanding_per_wave as usize - 1;
    let lgkm_room = p.scalar.outstanding_per_wave as usize - 1;
    match action {
        Action::Wait { vm, lgkm } => {
            let vm = counts.vm.until(usize::from(vm), now);
            let lgkm = counts.lgkm.until(usize::from(lgkm), now);
            if vm >= lgkm { (vm, Stall::Vmcnt) } else { (lgkm, Stall::Lgkmcnt) }
        }
        Action::VectorMemory | Action::Flat | Action::VectorControl => {
            (memory.room_at().max(counts.vm.until(vm_room, now)), Stall::Vmem)
        }
        Action::Lds => (lds.room_at().max(counts.lgkm.until(lgkm_room, now)), Stall::Lds),
        Action::ScalarMemory => (counts.lgkm.until(lgkm_room, now), Stall::Lgkmcnt),
        _ => (0, Stall::Arbitration),
    }
}

/// Serves the access that the group's last vector memory instruction recorded.
fn vector_access(
    lds: &mut LdsPipe<'_>,
    memory: &mut Hierarchy<'_>,
    group: &Group<'_>,
    simd: usize,
    now: u64,
) -> u64 {
    let access = &group.ctx.access;
    match access.kind {
        // A flat access whose addresses lie in LDS.
        MemKind::LdsRead | MemKind::LdsWrite | MemKind::LdsAtomic => {
            lds.access(now, simd, access).done
        }
        kind => {
            let done = memory.vector(now, group.requester, access);
            if kind == MemKind::LoadToLds {
                lds.direct_write(now, u64::from(access.mask.count_ones() * access.bytes));
            }
            done
        }
    }
}
