//! One compute unit, clock by clock: four SIMDs, the workgroups resident on them, the units they
//! share.
//!
//! Goes in: a launch, the costs of its instructions and which workgroups to run. Comes out: when each
//! workgroup started and ended, and counters. Waves issue in order, oldest first; every instruction
//! that others could see, or that reads a clock, executes at the moment it issues, so that the results in
//! memory are those of the launch. (What only changes its wave's registers may execute ahead.) The loop
//! goes from one issue slot that can do something to the next and skips the clocks between.

use super::cache::Cache;
use super::cost::Cost;
use super::counters::Counters;
use super::dispatch::launch_interval;
use super::grid::Grid;
use super::hierarchy::{Hierarchy, Requester, Share, Traffic};
use super::issue::Turn;
use super::lds::LdsPipe;
use super::slots::{Counts, Group, Line, NEVER, Simd, Slot};
use super::trace::Trace;
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, Flow, MemAccess};
use crate::fault::{Fault, FaultKind};

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

/// A compute unit that runs workgroups of one launch.
pub struct Cu<'a, G> {
    pub(super) p: &'a ArchParams,
    pub(super) grid: &'a G,
    pub(super) lines: Vec<Line>,
    /// Clocks from one issue slot of a SIMD to the next.
    pub(super) slot_clk: u64,
    pub(super) simds: Vec<Simd>,
    /// When each SIMD can do something next.
    pub(super) next: Vec<u64>,
    pub(super) groups: Vec<Group<'a>>,
    /// `waves_per_group` slots for each group.
    pub(super) slots: Vec<Slot>,
    /// Outstanding memory operations of each slot's wave.
    pub(super) outstanding: Vec<Counts>,
    pub(super) waves_per_group: usize,
    pub(super) lds: LdsPipe<'a>,
    pub(super) memory: Hierarchy<'a>,
    pub(super) fetch: Cache,
    pub(super) launch_free: u64,
    pub(super) launch_interval: u64,
    pub(super) launched: u64,
    pub(super) total: u64,
    pub(super) ran: Vec<Ran>,
    pub(super) counters: Counters,
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
        costs: &[Cost],
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
                waves: Vec::new(),
                id: 0,
                requester: Requester { xcd: 0, group: 0 },
                live: 0,
                arrived: 0,
                begin: 0,
                instructions: 0,
            })
            .collect();
        let simds = p.device.simds_per_cu as usize;
        let slots = (0..groups.len() * waves_per_group).map(|w| Slot::empty(w / waves_per_group));
        let slots: Vec<Slot> = slots.collect();
        Cu {
            p,
            grid,
            lines: costs.iter().map(|&cost| Line { cost, count: 0, waited: 0 }).collect(),
            slot_clk: u64::from(p.issue.slot),
            simds: vec![Simd::default(); simds],
            next: vec![NEVER; simds],
            outstanding: vec![Counts::default(); slots.len()],
            slots,
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
            let (mut s, mut now) = (0, NEVER);
            for (i, &next) in self.next.iter().enumerate() {
                (s, now) = if next < now { (i, next) } else { (s, now) };
            }
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
            counts: self.lines.iter().map(|line| line.count).collect(),
            waited: self.lines.iter().map(|line| line.waited).collect(),
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

    /// One issue slot of one SIMD.
    fn slot(&mut self, s: usize, now: u64, feed: &mut dyn Feed) -> Result<(), Fault> {
        let mut turn = Turn { s, now, used: 0, resort: false };
        // Taken out while its waves issue, so that they are at hand.
        let mut waves = std::mem::take(&mut self.simds[s].waves);
        let (mut next, mut i) = (NEVER, 0);
        while let Some(wave) = waves.get_mut(i) {
            i += 1;
            if wave.ready > now {
                next = next.min(wave.ready);
                continue;
            }
            let w = wave.slot;
            let flow = self.issue(&mut turn, wave)?;
            next = next.min(wave.ready);
            match flow {
                Flow::Next | Flow::Branch => {}
                Flow::Barrier => {
                    self.simds[s].waves = waves;
                    self.arrive(w, now);
                    waves = std::mem::take(&mut self.simds[s].waves);
                    next = next.min(waves[i - 1].ready);
                }
                Flow::End => {
                    i -= 1;
                    waves.remove(i);
                    self.simds[s].waves = waves;
                    self.next[s] = NEVER;
                    self.end(s, w, now, feed);
                    waves = std::mem::take(&mut self.simds[s].waves);
                    next = next.min(self.next[s]);
                }
            }
        }
        self.simds[s].waves = waves;
        if turn.resort {
            self.sort(s);
        }
        let earliest = now + self.slot_clk;
        self.next[s] = if next == NEVER { NEVER } else { aligned(self.p, s, next.max(earliest)) };
        Ok(())
    }
}

/// The issue slot of SIMD `s` at or after `time`.
pub(super) fn aligned(p: &ArchParams, s: usize, time: u64) -> u64 {
    let slot = u64::from(p.issue.slot);
    if slot.is_power_of_two() {
        return time + ((s as u64).wrapping_sub(time) & (slot - 1));
    }
    let phase = s as u64 % slot;
    time + (phase + slot - time % slot) % slot
}
