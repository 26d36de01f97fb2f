//! One compute unit, clock by clock: four SIMDs, the workgroups resident on them, the units they
//! share.
//!
//! Goes in: a launch, the costs of its instructions and which workgroups to run. Comes out: when each
//! workgroup started and ended, and counters. Waves issue in order, oldest first; every instruction
//! executes at the moment it issues, so that the results in memory are those of the launch. The loop
//! goes from one issue slot that can do something to the next and skips the clocks between.

use super::cache::Cache;
use super::cost::Cost;
use super::counters::{Counters, Stall};
use super::grid::Grid;
use super::hierarchy::{Hierarchy, Requester, Share, Traffic};
use super::issue::Issue;
use super::lds::LdsPipe;
use super::trace::Trace;
use super::wait::Outstanding;
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, MemAccess, Wave};
use crate::fault::{Fault, FaultKind};

/// Never.
const NEVER: u64 = u64::MAX;
/// A workgroup that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Place in dispatch order.
    pub id: u64,
    /// When it was launched.
    pub begin: u64,
    /// When its last wave ended.
    pub end: u64,
    /// Wave instructions.
    pub instructions: u64,
    /// Wave instructions that the compute unit had issued by then, of all its workgroups.
    pub issued: u64,
    /// Bytes that had passed by then.
    pub traffic: Traffic,
}

/// Decides which workgroup takes the next free place.
pub trait Feed {
    /// The next workgroup, given those that have ended; `None` when there are no more.
    fn next(&mut self, ran: &[Ran]) -> Option<u64>;
}

/// A wave slot.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) wave: Wave,
    pub(super) group: usize,
    pub(super) age: u64,
    pub(super) priority: u8,
    /// Since when it could have issued, were it not for `reason`.
    pub(super) since: u64,
    pub(super) reason: Stall,
    pub(super) vm: Outstanding,
    pub(super) lgkm: Outstanding,
    pub(super) line: u64,
    pub(super) crossing_debt: u32,
    pub(super) instructions: u64,
}

pub(super) struct Group<'a> {
    pub(super) ctx: Ctx<'a>,
    pub(super) id: u64,
    pub(super) requester: Requester,
    pub(super) live: u32,
    pub(super) arrived: u32,
    pub(super) begin: u64,
    pub(super) instructions: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Simd {
    /// Wave slots, highest priority and oldest first.
    pub(super) waves: Vec<usize>,
    pub(super) next: u64,
    pub(super) vector_free: u64,
    pub(super) matrix_free: u64,
    pub(super) empty_since: u64,
}

/// A compute unit that runs workgroups of one launch.
pub struct Cu<'a, G> {
    pub(super) p: &'a ArchParams,
    pub(super) grid: &'a G,
    pub(super) costs: &'a [Cost],
    pub(super) simds: Vec<Simd>,
    pub(super) groups: Vec<Group<'a>>,
    /// `waves_per_group` slots for each group; `None` until first used.
    pub(super) slots: Vec<Option<Slot>>,
    /// Earliest next issue of each slot's wave; [`NEVER`] at a barrier and without a wave.
    ready: Vec<u64>,
    pub(super) waves_per_group: usize,
    pub(super) lds: LdsPipe<'a>,
    pub(super) memory: Hierarchy<'a>,
    pub(super) fetch: Cache,
    pub(super) launch_free: u64,
    pub(super) launch_interval: u64,
    pub(super) launched: u64,
    total: u64,
    pub(super) ran: Vec<Ran>,
    pub(super) counters: Counters,
    pub(super) counts: Vec<u64>,
    /// Wave clocks lost at each instruction.
    pub(super) waited: Vec<u64>,
    pub(super) trace: Trace,
}

/// What a run of the compute unit produced.
#[derive(Clone, Debug, Default)]
pub struct CuRun {
    /// Workgroups in order of their end.
    pub ran: Vec<Ran>,
    /// Counters.
    pub counters: Counters,
    /// Executions of each instruction of the program.
    pub counts: Vec<u64>,
    /// Wave clocks lost at each instruction of the program.
    pub waited: Vec<u64>,
    /// The first instructions, where a trace was asked for.
    pub trace: Trace,
    /// Bytes by level.
    pub traffic: Traffic,
    /// When the last workgroup had ended and everything written was in memory.
    pub end: u64,
}

impl<'a, G: Grid> Cu<'a, G> {
    /// An idle compute unit with a place for each of `lds`, the LDS of the workgroups resident at
    /// the same time.
    pub fn new(
        p: &'a ArchParams,
        grid: &'a G,
        costs: &'a [Cost],
        share: &Share,
        lds: impl Iterator<Item = &'a mut [u8]>,
    ) -> Self {
        let threads = grid.resources().threads;
        let waves_per_group = threads.div_ceil(exec::WAVE as u32).max(1) as usize;
        let groups: Vec<Group<'a>> = lds
            .map(|lds| Group {
                ctx: Ctx {
                    program: grid.program(),
                    mem: grid.memory(),
                    lds,
                    access: MemAccess::default(),
                    clock: 0,
                },
                id: 0,
                requester: Requester { xcd: 0, group: 0 },
                live: 0,
                arrived: 0,
                begin: 0,
                instructions: 0,
            })
            .collect();
        let simds = p.device.simds_per_cu as usize;
        let slots = groups.len() * waves_per_group;
        Cu {
            p,
            grid,
            costs,
            simds: (0..simds).map(|_| Simd { next: NEVER, ..Simd::default() }).collect(),
            slots: (0..slots).map(|_| None).collect(),
            ready: vec![NEVER; slots],
            groups,
            waves_per_group,
            lds: LdsPipe::new(p),
            memory: Hierarchy::new(p, share, grid.memory()),
            fetch: Cache::new(u64::from(p.fetch.cache / p.fetch.line), p.vmem.ways),
            launch_free: 0,
            launch_interval: launch_interval(p, waves_per_group as u32),
            launched: 0,
            total: grid.workgroups(),
            ran: Vec::new(),
            counters: Counters::default(),
            counts: vec![0; costs.len()],
            waited: vec![0; costs.len()],
            trace: Trace::default(),
        }
    }

    /// Records the first `limit` instructions.
    pub fn traced(mut self, limit: usize) -> Self {
        self.trace = Trace::new(limit);
        self
    }

    /// Runs until `feed` has no more workgroups and all have ended.
    pub fn run(mut self, feed: &mut dyn Feed) -> Result<CuRun, Fault> {
        for group in 0..self.groups.len() {
            if !self.launch(group, 0, feed) {
                break;
            }
        }
        loop {
            let mut s = 0;
            for i in 1..self.simds.len() {
                if self.simds[i].next < self.simds[s].next {
                    s = i;
                }
            }
            let now = self.simds[s].next;
            if now == NEVER {
                break;
            }
            self.slot(s, now, feed)?;
        }
        self.check_all_ended()?;
        let last = self.ran.iter().map(|r| r.end).max().unwrap_or(0);
        for simd in &self.simds {
            self.counters.no_wave += last.saturating_sub(simd.empty_since);
        }
        let end = last.max(self.memory.drained_at());
        Ok(CuRun {
            ran: self.ran,
            counters: self.counters,
            counts: self.counts,
            waited: self.waited,
            trace: self.trace,
            traffic: self.memory.settled(),
            end,
        })
    }

    fn check_all_ended(&self) -> Result<(), Fault> {
        let Some(group) = self.groups.iter().find(|g| g.live > 0) else { return Ok(()) };
        let what = format!("{} of {} waves wait at a barrier", group.arrived, group.live);
        Err(self.grid.fault(FaultKind::Deadlock { what }, group.id, 0, 0))
    }

    /// Puts the next workgroup into the free place `group`; false when there is none.
    fn launch(&mut self, group: usize, now: u64, feed: &mut dyn Feed) -> bool {
        let Some(id) = feed.next(&self.ran) else { return false };
        let begin = now.max(self.launch_free);
        self.launch_free = begin + self.launch_interval;
        let first = begin + u64::from(self.p.dispatch.workgroup_latency);
        let waves = self.grid.waves(id);
        let g = &mut self.groups[group];
        g.id = id;
        g.requester =
            Requester { xcd: (id % u64::from(self.p.device.xcds)) as usize, group: self.launched };
        g.live = waves.len() as u32;
        g.arrived = 0;
        g.begin = begin;
        g.instructions = 0;
        g.ctx.lds.fill(0);
        for (i, wave) in waves.into_iter().take(self.waves_per_group).enumerate() {
            let ready = first + i as u64 * u64::from(self.p.dispatch.wave_interval);
            let s = self.emptiest_simd(i);
            let index = group * self.waves_per_group + i;
            self.slots[index] = Some(Slot {
                wave,
                group,
                age: self.launched << 8 | i as u64,
                priority: 0,
                since: ready,
                reason: Stall::Arbitration,
                vm: Outstanding::default(),
                lgkm: Outstanding::default(),
                line: NEVER,
                crossing_debt: 0,
                instructions: 0,
            });
            self.ready[index] = ready;
            let simd = &mut self.simds[s];
            if simd.waves.is_empty() {
                self.counters.no_wave += ready.saturating_sub(simd.empty_since);
            }
            simd.waves.push(index);
            simd.next = simd.next.min(aligned(self.p, s, ready));
            self.sort(s);
        }
        self.launched += 1;
        self.memory.begun = self.launched as f64 / self.total.max(1) as f64;
        true
    }

    /// The SIMD with the fewest waves; successive waves start the search at successive SIMDs.
    fn emptiest_simd(&self, wave: usize) -> usize {
        let n = self.simds.len();
        let mut best = wave % n;
        for i in 0..n {
            let s = (wave + i) % n;
            if self.simds[s].waves.len() < self.simds[best].waves.len() {
                best = s;
            }
        }
        best
    }

    fn sort(&mut self, s: usize) {
        let slots = &self.slots;
        self.simds[s]
            .waves
            .sort_by_key(|&w| slots[w].as_ref().map(|slot| (u8::MAX - slot.priority, slot.age)));
    }

    /// One issue slot of one SIMD.
    fn slot(&mut self, s: usize, now: u64, feed: &mut dyn Feed) -> Result<(), Fault> {
        let mut used = 0u8;
        let mut next = NEVER;
        let mut resort = false;
        let mut i = 0;
        while let Some(&w) = self.simds[s].waves.get(i) {
            i += 1;
            if self.ready[w] > now {
                next = next.min(self.ready[w]);
                continue;
            }
            let outcome = self.issue(s, w, now, &mut used, &mut resort)?;
            let Some(slot) = self.slots[w].as_mut() else { continue };
            match outcome {
                Issue::Next(ready) => {
                    (self.ready[w], slot.since) = (ready, ready);
                    next = next.min(ready);
                }
                Issue::Blocked(until, reason) => {
                    self.ready[w] = until;
                    if slot.reason != reason {
                        self.settle(s, w, now);
                        if let Some(slot) = self.slots[w].as_mut() {
                            slot.reason = reason;
                        }
                    }
                    next = next.min(until);
                }
                Issue::Parked => {
                    let since = now + u64::from(self.p.issue.slot);
                    self.ready[w] = NEVER;
                    (slot.since, slot.reason) = (since, Stall::Barrier);
                    let group = slot.group;
                    self.groups[group].arrived += 1;
                    self.release(group, now);
                    next = next.min(self.ready[w]);
                }
                Issue::Ended => {
                    i -= 1;
                    self.simds[s].waves.remove(i);
                    if self.simds[s].waves.is_empty() {
                        self.simds[s].empty_since = now;
                    }
                    self.simds[s].next = NEVER;
                    self.end(w, now, feed);
                    next = next.min(self.simds[s].next);
                }
            }
        }
        if resort {
            self.sort(s);
        }
        let earliest = now + u64::from(self.p.issue.slot);
        self.simds[s].next =
            if next == NEVER { NEVER } else { aligned(self.p, s, next.max(earliest)) };
        Ok(())
    }

    fn end(&mut self, w: usize, now: u64, feed: &mut dyn Feed) {
        let Some(slot) = self.slots[w].take() else { return };
        self.ready[w] = NEVER;
        let group = &mut self.groups[slot.group];
        group.instructions += slot.instructions;
        group.live -= 1;
        if group.live > 0 {
            self.release(slot.group, now);
            return;
        }
        self.ran.push(Ran {
            id: group.id,
            begin: group.begin,
            end: now,
            instructions: group.instructions,
            issued: self.counters.instructions(),
            traffic: self.memory.settled(),
        });
        self.launch(slot.group, now, feed);
    }

    /// Lets the waves of a workgroup go on when all that are left have reached the barrier.
    fn release(&mut self, group: usize, now: u64) {
        let g = &mut self.groups[group];
        if g.arrived < g.live || g.live == 0 {
            return;
        }
        g.arrived = 0;
        let ready = now + u64::from(self.p.issue.barrier);
        let range = group * self.waves_per_group..(group + 1) * self.waves_per_group;
        for (slot, at) in self.slots[range.clone()].iter().zip(&mut self.ready[range.clone()]) {
            if slot.is_some() {
                *at = ready;
            }
        }
        for (s, simd) in self.simds.iter_mut().enumerate() {
            if simd.waves.iter().any(|w| range.contains(w)) {
                simd.next = simd.next.min(aligned(self.p, s, ready));
            }
        }
    }
}

/// The issue slot of SIMD `s` at or after `time`.
fn aligned(p: &ArchParams, s: usize, time: u64) -> u64 {
    let slot = u64::from(p.issue.slot);
    if slot.is_power_of_two() {
        return time + ((s as u64).wrapping_sub(time) & (slot - 1));
    }
    let phase = s as u64 % slot;
    time + (phase + slot - time % slot) % slot
}

/// Clocks between two workgroups that the dispatcher sends to the same compute unit: all units of
/// its shader engine and die take their turn.
fn launch_interval(p: &ArchParams, waves: u32) -> u64 {
    let d = &p.dispatch;
    let per_engine = p.cus_per_xcd().div_ceil(p.device.shader_engines_per_xcd);
    let engine = per_engine * d.engine_interval.max(d.wave_interval * waves);
    u64::from(engine.max(p.cus_per_xcd() * d.xcd_interval))
}
