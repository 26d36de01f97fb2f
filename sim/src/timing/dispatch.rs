//! Workgroups and waves come to a compute unit and leave it.
//!
//! Goes in: a free place and who decides what takes it. Comes out: waves in slots, each on the SIMD that
//! has fewest, and workgroups on the list of those that ran. Barriers are here too: they are where the
//! waves of a workgroup know of each other.

use super::counters::Stall;
use super::cu::{Cu, Feed, Ran, aligned};
use super::grid::Grid;
use super::hierarchy::Requester;
use super::slots::{Slot, Waiting};
use crate::arch::ArchParams;

impl<G: Grid> Cu<'_, G> {
    /// Puts the next workgroup into the free place `group`; false when there is none.
    pub(super) fn launch(&mut self, group: usize, now: u64, feed: &mut dyn Feed) -> bool {
        let Some(id) = feed.next(&self.ran) else { return false };
        let begin = now.max(self.launch_free);
        self.launch_free = begin + self.launch_interval;
        let first = begin + u64::from(self.p.dispatch.workgroup_latency);
        let g = &mut self.groups[group];
        if g.waves.is_empty() {
            g.waves = self.grid.waves(id);
        } else {
            self.grid.renew(&mut g.waves, id);
        }
        let waves = g.waves.len();
        g.id = id;
        g.requester =
            Requester { xcd: (id % u64::from(self.p.device.xcds)) as usize, group: self.launched };
        g.live = waves as u32;
        g.arrived = 0;
        g.begin = begin;
        g.instructions = 0;
        g.ctx.lds.fill(0);
        for i in 0..waves.min(self.waves_per_group) {
            let ready = first + i as u64 * u64::from(self.p.dispatch.wave_interval);
            let s = self.emptiest_simd(i);
            let index = group * self.waves_per_group + i;
            self.slots[index] = Slot {
                since: ready,
                age: self.launched << 8 | i as u64,
                pc: self.groups[group].waves[i].pc,
                ..Slot::empty(group)
            };
            self.outstanding[index].clear();
            let simd = &mut self.simds[s];
            if simd.waves.is_empty() {
                self.counters.no_wave += ready.saturating_sub(simd.empty_since);
            }
            // In its place: no wave is younger, and none has a lower priority.
            simd.waves.push(Waiting { ready, slot: index });
            self.next[s] = self.next[s].min(aligned(self.p, s, ready));
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

    pub(super) fn sort(&mut self, s: usize) {
        let slots = &self.slots;
        let order = |slot: &Slot| (u8::MAX - slot.priority, slot.age);
        self.simds[s].waves.sort_by_key(|wave| order(&slots[wave.slot]));
    }

    /// Wave slot `w` of SIMD `s` has ended.
    pub(super) fn end(&mut self, s: usize, w: usize, now: u64, feed: &mut dyn Feed) {
        if self.simds[s].waves.is_empty() {
            self.simds[s].empty_since = now;
        }
        let slot = &self.slots[w];
        let place = slot.group as usize;
        let group = &mut self.groups[place];
        group.instructions += slot.instructions;
        group.live -= 1;
        if group.live > 0 {
            self.release(place, now);
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
        self.launch(place, now, feed);
    }

    /// Wave slot `w` waits at a barrier.
    pub(super) fn arrive(&mut self, w: usize, now: u64) {
        let slot = &mut self.slots[w];
        (slot.since, slot.reason) = (now + self.slot_clk, Stall::Barrier);
        let group = slot.group as usize;
        self.groups[group].arrived += 1;
        self.release(group, now);
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
        for (s, simd) in self.simds.iter_mut().enumerate() {
            for wave in simd.waves.iter_mut().filter(|wave| range.contains(&wave.slot)) {
                wave.ready = ready;
                self.next[s] = self.next[s].min(aligned(self.p, s, ready));
            }
        }
    }
}

/// Clocks between two workgroups that the dispatcher sends to the same compute unit: all units of
/// its shader engine and die take their turn.
pub(super) fn launch_interval(p: &ArchParams, waves: u32) -> u64 {
    let d = &p.dispatch;
    let per_engine = p.cus_per_xcd().div_ceil(p.device.shader_engines_per_xcd);
    let engine = per_engine * d.engine_interval.max(d.wave_interval * waves);
    u64::from(engine.max(p.cus_per_xcd() * d.xcd_interval))
}
