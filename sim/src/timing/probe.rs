//! How workgroups that run at the same time share what they read.
//!
//! Goes in: a launch. Comes out: [`Sharing`]. The first wave of each of a set of workgroups is
//! executed up to its first loads, without side effects: it stops before it would write to memory.
//! Two sets are looked at: workgroups that run at the same time on one die tell which lines of an
//! allocation one of them finds in L2 because another has fetched them; neighbours in dispatch order,
//! which go to different dies, tell what the memory-side cache serves. The fractions are those of the
//! first loads and are taken to hold throughout, which is so for kernels that walk along K in step.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::coalesce::Segments;
use super::grid::Grid;
use super::plan::Spread;
use super::sharing::{Shared, Sharing};
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, MemAccess, MemKind, Program, Wave};
use crate::isa::{Class, Inst, MemOp, class};

/// Workgroups looked at on one die.
const ON_DIE: u64 = 128;
/// Neighbours in dispatch order looked at.
const NEIGHBOURS: u64 = 64;
/// Vector loads after which a wave has shown enough.
const LOADS: u32 = 16;
/// Instructions after which a wave is left alone.
const INSTRUCTIONS: u32 = 600;

/// Sharing between the workgroups of `grid` that run at the same time: the first ones, or where those
/// of the grid are `mixed`, the ones in its middle, since the first may all end early.
pub fn probe<G: Grid>(p: &ArchParams, grid: &G, spread: &Spread, mixed: bool) -> Sharing {
    let xcds = u64::from(p.device.xcds);
    let concurrent = spread.total.min(u64::from(p.device.compute_units) * spread.resident);
    let before = if mixed { (spread.total - concurrent) / 2 } else { 0 };
    let first = before - before % xcds;
    let mut prober = Prober::new(p, grid);
    let (mut on_die, mut neighbours) = (Vec::new(), Vec::new());
    let at_once = first..first + concurrent;
    for id in at_once.step_by(xcds as usize).take(ON_DIE as usize) {
        prober.lines(id, |line| on_die.push(touch(line, id / xcds)));
    }
    for id in first..first + concurrent.min(NEIGHBOURS) {
        prober.lines(id, |line| neighbours.push(touch(line, id % xcds)));
    }
    let [on_die, neighbours] = [on_die, neighbours].map(|touches| prober.by_region(touches));
    let mut ranges: Vec<Shared> = Vec::new();
    for (&(base, len), found) in &on_die {
        let across = neighbours.get(&(base, len)).copied().unwrap_or_default();
        ranges.push(Shared { base, len, in_l2: found.shared(), in_mall: across.shared() });
    }
    Sharing::new(ranges, 1.0 - overall(&on_die).shared(), 1.0 - overall(&neighbours).shared())
}

/// Bits of a [`touch`] that tell its party.
const PARTY_BITS: u32 = ON_DIE.trailing_zeros();

/// A line, above the number of the party that reads it. Line numbers take 41 bits.
fn touch(line: u64, party: u64) -> u64 {
    (line << PARTY_BITS) | (party % ON_DIE)
}

/// Lines touched, and by how many.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    lines: u64,
    touches: u64,
}

impl Count {
    /// Fraction of the touches that are not a line's first.
    fn shared(self) -> f64 {
        match self.touches {
            0 => 0.0,
            n => 1.0 - self.lines as f64 / n as f64,
        }
    }
}

fn overall(counts: &BTreeMap<(u64, u64), Count>) -> Count {
    counts.values().fold(Count::default(), |a, c| Count {
        lines: a.lines + c.lines,
        touches: a.touches + c.touches,
    })
}

/// What an instruction means to the probe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Reads memory through the vector caches.
    Load,
    /// Writes memory.
    Write,
    /// No address comes from it.
    Matrix,
    Other,
}

fn role(inst: &Inst, p: &ArchParams) -> Role {
    match class(inst, p.arch) {
        Class::Vmem(op) | Class::Flat(op) => match op {
            MemOp::Load | MemOp::LoadToLds => Role::Load,
            MemOp::Store | MemOp::Atomic => Role::Write,
            _ => Role::Other,
        },
        Class::Smem(MemOp::Store | MemOp::Atomic) => Role::Write,
        Class::Mfma { .. } => Role::Matrix,
        _ => Role::Other,
    }
}

/// Executes the beginnings of first waves.
pub struct Prober<'a, G> {
    p: &'a ArchParams,
    grid: &'a G,
    roles: Vec<Role>,
    wave: Option<Wave>,
    lds: Vec<u8>,
    segments: Segments,
}

impl<'a, G: Grid> Prober<'a, G> {
    /// For the workgroups of `grid`.
    pub fn new(p: &'a ArchParams, grid: &'a G) -> Self {
        let lds = vec![0; grid.resources().lds as usize];
        let roles = grid.program().insts.iter().map(|inst| role(inst, p)).collect();
        Prober { p, grid, roles, wave: None, lds, segments: Segments::default() }
    }

    /// Counts touches by allocation (base and length); each party counts once for a line.
    fn by_region(&self, mut touches: Vec<u64>) -> BTreeMap<(u64, u64), Count> {
        touches.sort_unstable();
        touches.dedup();
        let shift = self.p.vmem.line.trailing_zeros();
        let mut counts: BTreeMap<(u64, u64), Count> = BTreeMap::new();
        for of_line in touches.chunk_by(|a, b| a >> PARTY_BITS == b >> PARTY_BITS) {
            let line = of_line[0] >> PARTY_BITS;
            let Some(region) = self.grid.memory().region(line << shift) else { continue };
            let count = counts.entry((region.base, region.len)).or_default();
            count.lines += 1;
            count.touches += of_line.len() as u64;
        }
        counts
    }

    /// Calls `touch` with the number of each line that the first wave of workgroup `id` loads.
    fn lines(&mut self, id: u64, mut touch: impl FnMut(u64)) {
        let mut segments = std::mem::take(&mut self.segments);
        let (shift, lanes) = (self.p.vmem.line.trailing_zeros(), self.p.vmem.address_lanes);
        let mut loads = 0;
        self.walk(id, INSTRUCTIONS, |_, load| {
            if let Some(access) = load {
                segments.collect(access, shift, lanes);
                segments.as_slice().iter().copied().for_each(&mut touch);
                loads += 1;
            }
            if loads == LOADS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.segments = segments;
    }

    /// Executes the first wave of workgroup `id`, without side effects: at most so many instructions,
    /// none from the first on that writes to memory, and no matrix operations. Calls `executed` with the
    /// index of each instruction and, where it is a vector load, with its access.
    pub fn walk(
        &mut self,
        id: u64,
        instructions: u32,
        mut executed: impl FnMut(usize, Option<&MemAccess>) -> ControlFlow<()>,
    ) {
        let wave = match &mut self.wave {
            Some(wave) => {
                self.grid.restart(wave, id);
                wave
            }
            None => self.wave.insert(self.grid.first_wave(id)),
        };
        let program: &Program = self.grid.program();
        let memory = self.grid.memory();
        let mut ctx = Ctx {
            program,
            mem: memory,
            lds: &mut self.lds,
            access: MemAccess::default(),
            clock: 0,
        };
        for _ in 0..instructions {
            let pc = wave.pc;
            let Some(role) = self.roles.get(pc) else { return };
            match role {
                Role::Write => return,
                Role::Matrix => {
                    wave.pc += 1;
                    continue;
                }
                Role::Load | Role::Other => {}
            }
            match exec::step(wave, &mut ctx) {
                Ok(exec::Flow::End) | Err(_) => return,
                Ok(_) => {}
            }
            let load = *role == Role::Load
                && matches!(ctx.access.kind, MemKind::Load | MemKind::LoadToLds);
            if executed(pc, load.then_some(&ctx.access)).is_break() {
                return;
            }
        }
    }
}
