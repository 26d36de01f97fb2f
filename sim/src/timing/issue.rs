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
use super::slots::{Counts, Group, Line, Simd, Slot};
use super::trace::Event;
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, Flow, MemKind, Wave};
use crate::fault::{Fault, FaultKind};

/// Wave instructions after which a wave is taken not to end.
const RUNAWAY: u64 = 1 << 32;

impl<G: Grid> Cu<'_, G> {
    /// Until when the next instruction of wave slot `w` cannot issue, and why, where units `used` have
    /// taken another in this issue slot.
    #[inline]
    pub(super) fn blocked(&mut self, s: usize, w: usize, now: u64, used: u8) -> (u64, Stall) {
        let slot = &mut self.slots[w];
        // Where there is no instruction, the attempt to execute it tells what is wrong.
        let Some(Line { cost, .. }) = self.lines.get(slot.pc) else { return (0, slot.reason) };
        let last = cost.line + u64::from(cost.straddles);
        if slot.line != last {
            let until = fetched_at(self.p, &mut self.fetch, cost.line, last, now);
            slot.line = last;
            if until > now {
                return (until, Stall::Fetch);
            }
        }
        if used & 1 << cost.unit as u8 != 0 {
            return (now + self.slot_clk, Stall::Arbitration);
        }
        match cost.unit {
            Unit::Vector => vector_free(self.p, &self.simds[s], cost),
            _ => accepted_at(
                self.p,
                &mut self.outstanding[w],
                cost,
                now,
                &self.lds,
                &self.memory,
            ),
        }
    }

    /// Issues the next instruction of wave slot `w`; returns what follows it and when the wave can issue
    /// again.
    #[inline]
    pub(super) fn issue(
        &mut self,
        s: usize,
        w: usize,
        now: u64,
        used: &mut u8,
        resort: &mut bool,
    ) -> Result<(Flow, u64), Fault> {
        self.settle(s, w, now);
        let slot = &mut self.slots[w];
        slot.reason = Stall::Arbitration;
        let (pc, place) = (slot.pc, slot.group as usize);
        let group = &mut self.groups[place];
        let number = w - place * self.waves_per_group;
        let Some(Line { cost, count, waited }) = self.lines.get_mut(pc) else {
            let fault = exec::step(&mut group.waves[number], &mut group.ctx).err();
            let kind = fault.unwrap_or(FaultKind::BadJump { addr: 0 });
            return Err(self.grid.fault(kind, group.id, number as u32, pc));
        };
        let flow = if slot.ahead > 0 {
            (slot.pc, slot.ahead) = (pc + 1, slot.ahead - 1);
            Flow::Next
        } else {
            group.ctx.clock = now;
            execute(&mut group.waves[number], &mut group.ctx, slot, cost)
                .map_err(|kind| self.grid.fault(kind, group.id, number as u32, pc))?
        };
        // The sequencer handles any number.
        *used |= 1 << cost.unit as u8 & !(1 << Unit::Internal as u8);
        slot.instructions += 1;
        *count += 1;
        if slot.instructions > RUNAWAY {
            let kind = FaultKind::Runaway { limit: RUNAWAY };
            return Err(self.grid.fault(kind, group.id, number as u32, pc));
        }
        self.counters.issued[cost.kind as usize] += 1;

        // How long the wave is kept beyond the slot, and why.
        let (mut kept, mut reason) = (0, Stall::Nop);
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
        }
        let counts = &mut self.outstanding[w];
        match cost.action {
            Action::Valu | Action::ValuAfterMatrix | Action::Matrix => {}
            Action::Plain | Action::Wait { .. } => {}
            Action::Idle(clk) => kept = u64::from(clk).saturating_sub(self.slot_clk),
            Action::Priority(priority) => {
                *resort = slot.priority != priority;
                slot.priority = priority;
            }
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
                if cost.action == Action::Flat {
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
                (kept, reason) = (u64::from(clk).saturating_sub(self.slot_clk), Stall::Branch);
            }
        }
        if kept > 0 {
            self.counters.stalled[reason as usize] += kept;
            *waited += kept;
        }
        let mut ready = now + self.slot_clk + kept;
        if cost.crosses {
            slot.crossing_debt += self.p.issue.crossing;
            if slot.crossing_debt >= self.p.issue.slot {
                slot.crossing_debt -= self.p.issue.slot;
                ready += self.slot_clk;
                self.counters.stalled[Stall::Fetch as usize] += self.slot_clk;
                *waited += self.slot_clk;
            }
        }
        let workgroup = group.id;
        let (simd, slot) = (s as u32, w as u32);
        self.trace.push(Event { simd, slot, workgroup, pc, begin: now, end: ready, wait: None });
        Ok((flow, ready))
    }

    /// Charges what wave slot `w` has waited for its reason so far, before it gets another one or
    /// issues.
    #[inline]
    pub(super) fn settle(&mut self, s: usize, w: usize, now: u64) {
        let slot = &mut self.slots[w];
        let (begin, reason) = (slot.since, slot.reason);
        if begin >= now {
            return;
        }
        slot.since = now;
        // A barrier has issued when the wave waits at it.
        let pc = if reason == Stall::Barrier { slot.pc.saturating_sub(1) } else { slot.pc };
        self.counters.stalled[reason as usize] += now - begin;
        if let Some(line) = self.lines.get_mut(pc) {
            line.waited += now - begin;
        }
        let workgroup = self.groups[slot.group as usize].id;
        let (simd, slot, wait) = (s as u32, w as u32, Some(reason));
        self.trace.push(Event { simd, slot, workgroup, pc, begin, end: now, wait });
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
fn vector_free(p: &ArchParams, simd: &Simd, cost: &Cost) -> (u64, Stall) {
    let matrix = match (cost.action, simd.matrix_free) {
        (Action::Matrix, free) => free,
        (Action::ValuAfterMatrix, 1..) => {
            simd.matrix_free + u64::from(p.valu.packed_f32_after_matrix)
        }
        _ => 0,
    };
    if matrix > simd.vector_free {
        (matrix, Stall::Matrix)
    } else {
        (simd.vector_free, Stall::Valu)
    }
}

/// From when another unit takes the instruction of `cost`, and what it waits for until then.
#[inline]
fn accepted_at(
    p: &ArchParams,
    counts: &mut Counts,
    cost: &Cost,
    now: u64,
    lds: &LdsPipe<'_>,
    memory: &Hierarchy<'_>,
) -> (u64, Stall) {
    let vm_room = p.vmem.outstanding_per_wave as usize - 1;
    let lgkm_room = p.scalar.outstanding_per_wave as usize - 1;
    match cost.action {
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
