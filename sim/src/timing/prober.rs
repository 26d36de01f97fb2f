//! Executes the beginnings of workgroups to see where they go and what they load.
//!
//! Goes in: a launch and workgroups. Comes out: the instructions that the first wave of each executes
//! and its vector loads, without side effects: it stops before it would write to memory. What a wave
//! computes from what it loads mostly takes no part in that: a walk that goes the way of an earlier one
//! leaves out what the [`Trail`] of that one says. A walk ends at a fault, unless it left that out.

use std::ops::ControlFlow;

use super::grid::Grid;
use super::trail::{Step, Trail};
use crate::arch::ArchParams;
use crate::exec::{self, Ctx, Flow, MemAccess, MemKind, Wave};
use crate::isa::{Class, Inst, MemOp, class};

/// Walks that may stray from the trail, beyond those that stay on it, before it is given up.
const STRAYS: u32 = 8;

/// What an instruction means to the prober.
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
    grid: &'a G,
    roles: Vec<Role>,
    wave: Option<Wave>,
    lds: Vec<u8>,
    trail: Option<Trail>,
    /// Walks that stayed on the trail to their end, and that did not.
    stayed: u32,
    strayed: u32,
}

impl<'a, G: Grid> Prober<'a, G> {
    /// For the workgroups of `grid`.
    pub fn new(p: &'a ArchParams, grid: &'a G) -> Self {
        let lds = vec![0; grid.resources().lds as usize];
        let roles = grid.program().insts.iter().map(|inst| role(inst, p)).collect();
        Prober { grid, roles, wave: None, lds, trail: None, stayed: 0, strayed: 0 }
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
        let ctx = Ctx {
            program: self.grid.program(),
            mem: self.grid.memory(),
            lds: &mut self.lds,
            access: MemAccess::default(),
            clock: 0,
        };
        let roles = self.roles.as_slice();
        let mut walker = Walker { roles, wave, ctx };
        let limit = instructions as usize;
        let mut on_trail = 0;
        if let Some(trail) = &self.trail
            && self.strayed <= STRAYS + self.stayed
        {
            match walker.follow(trail, limit, &mut executed) {
                None => {
                    self.stayed += 1;
                    return;
                }
                Some(steps) => on_trail = steps,
            }
            // From here on, registers matter that those on the trail could leave alone.
            self.strayed += 1;
            self.grid.restart(walker.wave, id);
        }
        let mut steps = Vec::new();
        while steps.len() < limit {
            let step = Step::at(walker.wave);
            let Some(access) = walker.step() else { break };
            steps.push(step);
            let is_new = steps.len() > on_trail && roles[step.pc] != Role::Matrix;
            if is_new && executed(step.pc, access).is_break() {
                break;
            }
        }
        let end = walker.wave.pc;
        if self.trail.as_ref().is_none_or(|trail| steps.len() > 2 * trail.steps.len()) {
            let end = walker.is_end(end).then_some(end);
            self.trail = Some(Trail::new(self.grid.program(), steps, end));
        }
    }
}

/// A wave on its way.
struct Walker<'w> {
    roles: &'w [Role],
    wave: &'w mut Wave,
    ctx: Ctx<'w>,
}

impl Walker<'_> {
    /// Executes one instruction; `None` where the walk ends before it or with it. Returns the access of
    /// a vector load.
    fn step(&mut self) -> Option<Option<&MemAccess>> {
        let role = *self.roles.get(self.wave.pc)?;
        match role {
            Role::Write => return None,
            Role::Matrix => {
                self.wave.pc += 1;
                return Some(None);
            }
            Role::Load | Role::Other => {}
        }
        match exec::step(self.wave, &mut self.ctx) {
            Ok(Flow::End) | Err(_) => return None,
            Ok(_) => {}
        }
        let access = &self.ctx.access;
        let load = role == Role::Load && matches!(access.kind, MemKind::Load | MemKind::LoadToLds);
        Some(load.then_some(access))
    }

    /// Whether every walk ends before the instruction at `pc`.
    fn is_end(&self, pc: usize) -> bool {
        self.roles.get(pc).is_none_or(|&role| role == Role::Write)
    }

    /// Goes along `trail`, at most `limit` steps. Returns after how many the wave left it, or `None`
    /// where the walk ended on it.
    fn follow(
        &mut self,
        trail: &Trail,
        limit: usize,
        executed: &mut impl FnMut(usize, Option<&MemAccess>) -> ControlFlow<()>,
    ) -> Option<usize> {
        let roles = self.roles;
        for (done, step) in trail.steps.iter().take(limit).enumerate() {
            if !step.is_at(self.wave) {
                return Some(done);
            }
            let access = if step.counts {
                self.step()?
            } else {
                self.wave.pc += 1;
                None
            };
            if roles[step.pc] != Role::Matrix && executed(step.pc, access).is_break() {
                return None;
            }
        }
        let ended = trail.steps.len() >= limit || trail.end == Some(self.wave.pc);
        (!ended).then_some(trail.steps.len())
    }
}
