//! One issue attempt: whether the next instruction of a wave can go, and what it then occupies.
//!
//! Goes in: a wave slot and the time. Comes out: when the wave can issue again, or until when and why
//! it is blocked. The instruction executes here.

use super::cache::{Cache, Lookup};
use super::cost::{Action, Cost, Unit};
use super::counters::Stall;
use super::cu::{Cu, Group, Simd, Slot};
use super::grid::Grid;
use super::hierarchy::Hierarchy;
use super::lds::LdsPipe;
use super::trace::Event;
use crate::arch::ArchParams;
use crate::exec::{self, Flow, MemKind};
use crate::fault::{Fault, FaultKind};

/// Wave instructions after which a wave is taken not to end.
const RUNAWAY: u64 = 1 << 32;

/// Outcome of an attempt.
pub(super) enum Issue {
    /// Issued; the wave can issue again at this time.
    Next(u64),
    /// Not before this time.
    Blocked(u64, Stall),
    /// Waits at a barrier.
    Parked,
    /// The wave has ended.
    Ended,
}

impl<G: Grid> Cu<'_, G> {
    /// Tries to issue the next instruction of wave slot `w`.
    pub(super) fn issue(
        &mut self,
        s: usize,
        w: usize,
        now: u64,
        used: &mut u8,
        resort: &mut bool,
    ) -> Result<Issue, Fault> {
        let Some(slot) = self.slots[w].as_mut() else { return Ok(Issue::Parked) };
        let pc = slot.wave.pc;
        let group = &mut self.groups[slot.group];
        let Some(cost) = self.costs.get(pc) else {
            let fault = exec::step(&mut slot.wave, &mut group.ctx).err();
            let kind = fault.unwrap_or(FaultKind::BadJump { addr: 0 });
            return Err(self.grid.fault(kind, group.id, slot.wave.id, pc));
        };
        if let Some(until) = fetched_at(self.p, &mut self.fetch, slot, cost, now) {
            return Ok(Issue::Blocked(until, Stall::Fetch));
        }
        let slot_clk = u64::from(self.p.issue.slot);
        let unit = 1u8 << cost.unit as u8;
        if cost.unit != Unit::Internal && *used & unit != 0 {
            return Ok(Issue::Blocked(now + slot_clk, Stall::Arbitration));
        }
        let simd = &mut self.simds[s];
        if let Some((until, reason)) =
            blocked(self.p, simd, slot, cost, now, &self.lds, &self.memory)
        {
            return Ok(Issue::Blocked(until, reason));
        }

        group.ctx.clock = now;
        let flow = exec::step(&mut slot.wave, &mut group.ctx)
            .map_err(|kind| self.grid.fault(kind, group.id, slot.wave.id, pc))?;
        if cost.unit != Unit::Internal {
            *used |= unit;
        }
        slot.instructions += 1;
        self.counts[pc] += 1;
        if slot.instructions > RUNAWAY {
            let kind = FaultKind::Runaway { limit: RUNAWAY };
            return Err(self.grid.fault(kind, group.id, slot.wave.id, pc));
        }
        self.counters.issued[cost.kind as usize] += 1;

        let mut ready = now + slot_clk;
        match cost.action {
            Action::Plain | Action::Wait { .. } => {}
            Action::Idle(clk) => ready = now + u64::from(clk).max(slot_clk),
            Action::Priority(priority) => {
                *resort = slot.priority != priority;
                slot.priority = priority;
            }
            Action::Valu | Action::ValuAfterMatrix | Action::Matrix => {
                simd.vector_free = now + u64::from(cost.vector);
                self.counters.valu_busy += u64::from(cost.vector);
                if cost.matrix > 0 {
                    simd.matrix_free = now + u64::from(cost.matrix);
                    let busy = if cost.narrow {
                        &mut self.counters.matrix_narrow
                    } else {
                        &mut self.counters.matrix_wide
                    };
                    *busy += u64::from(cost.matrix);
                }
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
                slot.lgkm.add(done);
                group.ctx.access.kind = MemKind::None;
            }
            Action::VectorMemory | Action::Flat => {
                let done = vector_access(&mut self.lds, &mut self.memory, group, s, now);
                slot.vm.add_in_order(done);
                if cost.action == Action::Flat {
                    slot.lgkm.add(done);
                }
            }
            Action::VectorControl => {
                slot.vm.add_in_order(now + u64::from(self.p.vmem.hit));
            }
            Action::Lds => {
                let timing = self.lds.access(now, s, &group.ctx.access);
                slot.lgkm.add_in_order(timing.done);
                self.counters.lds_conflicts += u64::from(timing.conflicts);
            }
            Action::Branch => {
                let i = &self.p.issue;
                let clk = if flow == Flow::Branch { i.branch_taken } else { i.branch };
                ready = now + u64::from(clk);
            }
        }
        let after = ready;
        if cost.crosses {
            slot.crossing_debt += self.p.issue.crossing;
            if slot.crossing_debt >= self.p.issue.slot {
                slot.crossing_debt -= self.p.issue.slot;
                ready += slot_clk;
                self.counters.stalled[Stall::Fetch as usize] += slot_clk;
            }
        }
        let lost = (after - now).saturating_sub(slot_clk);
        let reason = if cost.action == Action::Branch { Stall::Branch } else { Stall::Nop };
        self.counters.stalled[reason as usize] += lost;
        self.waited[pc] += (ready - now).saturating_sub(slot_clk);
        let workgroup = group.id;
        self.settle_at(s, w, now, pc);
        if let Some(slot) = self.slots[w].as_mut() {
            slot.reason = Stall::Arbitration;
        }
        let (simd, slot) = (s as u32, w as u32);
        self.trace.push(Event { simd, slot, workgroup, pc, begin: now, end: ready, wait: None });
        Ok(match flow {
            Flow::Barrier => Issue::Parked,
            Flow::End => Issue::Ended,
            Flow::Next | Flow::Branch => Issue::Next(ready),
        })
    }

    /// Charges what wave slot `w` has waited for its reason so far, before it gets another one.
    pub(super) fn settle(&mut self, s: usize, w: usize, now: u64) {
        if let Some(pc) = self.slots[w].as_ref().map(|slot| slot.wave.pc) {
            self.settle_at(s, w, now, pc);
        }
    }

    /// [`Cu::settle`] for a wave whose next instruction is, or was until it issued, at `pc`.
    fn settle_at(&mut self, s: usize, w: usize, now: u64, pc: usize) {
        let Some(slot) = self.slots[w].as_mut() else { return };
        let (begin, reason) = (slot.since, slot.reason);
        if begin >= now {
            return;
        }
        slot.since = now;
        // A barrier has issued when the wave waits at it.
        let pc = if reason == Stall::Barrier { pc.saturating_sub(1) } else { pc };
        self.counters.stalled[reason as usize] += now - begin;
        self.waited[pc] += now - begin;
        self.trace.push(Event {
            simd: s as u32,
            slot: w as u32,
            workgroup: self.groups[slot.group].id,
            pc,
            begin,
            end: now,
            wait: Some(reason),
        });
    }
}

/// When the instruction of `cost` has been fetched, if it has not been.
fn fetched_at(
    p: &ArchParams,
    cache: &mut Cache,
    slot: &mut Slot,
    cost: &Cost,
    now: u64,
) -> Option<u64> {
    let last = cost.line + u64::from(cost.straddles);
    if slot.line == last {
        return None;
    }
    let miss = u64::from(p.fetch.miss);
    let mut until = now;
    for line in cost.line..=last + u64::from(p.fetch.prefetch) {
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
    slot.line = last;
    (until > now).then_some(until)
}

/// Until when the instruction of `cost` cannot issue, and why.
fn blocked(
    p: &ArchParams,
    simd: &Simd,
    slot: &mut Slot,
    cost: &Cost,
    now: u64,
    lds: &LdsPipe<'_>,
    memory: &Hierarchy<'_>,
) -> Option<(u64, Stall)> {
    let until = |time: u64, reason: Stall| (time > now).then_some((time, reason));
    let vm_room = p.vmem.outstanding_per_wave as usize - 1;
    let lgkm_room = p.scalar.outstanding_per_wave as usize - 1;
    match cost.action {
        Action::Wait { vm, lgkm } => {
            let vm = slot.vm.until(usize::from(vm), now);
            let lgkm = slot.lgkm.until(usize::from(lgkm), now);
            if vm >= lgkm { until(vm, Stall::Vmcnt) } else { until(lgkm, Stall::Lgkmcnt) }
        }
        Action::Valu => until(simd.vector_free, Stall::Valu),
        Action::ValuAfterMatrix => {
            let after = match simd.matrix_free {
                0 => 0,
                free => free + u64::from(p.valu.packed_f32_after_matrix),
            };
            if after > simd.vector_free {
                until(after, Stall::Matrix)
            } else {
                until(simd.vector_free, Stall::Valu)
            }
        }
        Action::Matrix => {
            if simd.matrix_free > simd.vector_free {
                until(simd.matrix_free, Stall::Matrix)
            } else {
                until(simd.vector_free, Stall::Valu)
            }
        }
        Action::VectorMemory | Action::Flat | Action::VectorControl => {
            until(memory.room_at().max(slot.vm.until(vm_room, now)), Stall::Vmem)
        }
        Action::Lds => until(lds.room_at().max(slot.lgkm.until(lgkm_room, now)), Stall::Lds),
        Action::ScalarMemory => until(slot.lgkm.until(lgkm_room, now), Stall::Lgkmcnt),
        Action::Plain | Action::Idle(_) | Action::Priority(_) | Action::Branch => None,
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
