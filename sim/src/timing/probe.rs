//! How workgroups that run at the same time share what they read.
//!
//! Goes in: a launch. Comes out: [`Sharing`]. The first wave of each of a set of workgroups is
//! executed up to its first loads, without side effects: it stops before it would write to memory.
//! Two sets are looked at: workgroups that run at the same time on one die tell which lines of an
//! allocation one of them finds in L2 because another has fetched them; neighbours in dispatch order,
//! which go to different dies, tell what the memory-side cache serves. The fractions are those of the
//! first loads and are taken to hold throughout, which is so for kernels that walk along K in step.

use std::collections::HashMap;

use super::coalesce::Segments;
use super::grid::Grid;
use super::plan::Spread;
use super::sharing::{Shared, Sharing};
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, MemAccess, MemKind, Program};
use crate::isa::{Class, Inst, MemOp, class};

/// Workgroups looked at on one die.
const ON_DIE: u64 = 128;
/// Neighbours in dispatch order looked at.
const NEIGHBOURS: u64 = 64;
/// Vector loads after which a wave has shown enough.
const LOADS: u32 = 16;
/// Instructions after which a wave is left alone.
const INSTRUCTIONS: u32 = 600;

/// Sharing between the workgroups of `grid` that run at the same time.
pub fn probe<G: Grid>(p: &ArchParams, grid: &G, spread: &Spread) -> Sharing {
    let xcds = u64::from(p.device.xcds);
    let concurrent = spread.total.min(u64::from(p.device.compute_units) * spread.resident);
    let mut prober = Prober::new(p, grid);
    let mut on_die = Touched::default();
    let mut neighbours = Touched::default();
    for id in (0..concurrent).step_by(xcds as usize).take(ON_DIE as usize) {
        prober.lines(id, |region, line| on_die.add(region, line, id));
    }
    for id in 0..concurrent.min(NEIGHBOURS) {
        prober.lines(id, |region, line| neighbours.add(region, line, id % xcds));
    }
    let mut ranges: Vec<Shared> = Vec::new();
    for (&(base, len), found) in &on_die.by_region {
        let across = neighbours.by_region.get(&(base, len)).copied().unwrap_or_default();
        ranges.push(Shared { base, len, in_l2: found.shared(), in_mall: across.shared() });
    }
    Sharing::new(ranges, 1.0 - on_die.overall().shared(), 1.0 - neighbours.overall().shared())
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

/// Touches by allocation; each of a number of parties counts once for a line.
#[derive(Default)]
struct Touched {
    parties: HashMap<u64, Vec<u64>>,
    by_region: std::collections::BTreeMap<(u64, u64), Count>,
}

impl Touched {
    fn add(&mut self, region: (u64, u64), line: u64, party: u64) {
        let parties = self.parties.entry(line).or_default();
        if parties.contains(&party) {
            return;
        }
        let count = self.by_region.entry(region).or_default();
        count.lines += u64::from(parties.is_empty());
        count.touches += 1;
        parties.push(party);
    }

    fn overall(&self) -> Count {
        self.by_region.values().fold(Count::default(), |a, c| Count {
            lines: a.lines + c.lines,
            touches: a.touches + c.touches,
        })
    }
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

struct Prober<'a, G> {
    p: &'a ArchParams,
    grid: &'a G,
    roles: Vec<Role>,
    lds: Vec<u8>,
    segments: Segments,
}

impl<'a, G: Grid> Prober<'a, G> {
    fn new(p: &'a ArchParams, grid: &'a G) -> Self {
        let lds = vec![0; grid.resources().lds as usize];
        let roles = grid.program().insts.iter().map(|inst| role(inst, p)).collect();
        Prober { p, grid, roles, lds, segments: Segments::default() }
    }

    /// Calls `touch` with the allocation (base and length) and number of each line that the first
    /// wave of workgroup `id` loads.
    fn lines(&mut self, id: u64, mut touch: impl FnMut((u64, u64), u64)) {
        let mut wave = self.grid.first_wave(id);
        let program: &Program = self.grid.program();
        let memory = self.grid.memory();
        let mut ctx = Ctx {
            program,
            mem: memory,
            lds: &mut self.lds,
            access: MemAccess::default(),
            clock: 0,
        };
        let shift = self.p.vmem.line.trailing_zeros();
        let mut loads = 0;
        for _ in 0..INSTRUCTIONS {
            let Some(role) = self.roles.get(wave.pc) else { return };
            match role {
                Role::Write => return,
                Role::Matrix => {
                    wave.pc += 1;
                    continue;
                }
                Role::Load | Role::Other => {}
            }
            match exec::step(&mut wave, &mut ctx) {
                Ok(exec::Flow::End) | Err(_) => return,
                Ok(_) => {}
            }
            if *role != Role::Load || !matches!(ctx.access.kind, MemKind::Load | MemKind::LoadToLds)
            {
                continue;
            }
            self.segments.collect(&ctx.access, shift, self.p.vmem.address_lanes);
            for &line in self.segments.as_slice() {
                if let Some(region) = memory.region(line << shift) {
                    touch((region.base, region.len), line);
                }
            }
            loads += 1;
            if loads == LOADS {
                return;
            }
        }
    }
}
