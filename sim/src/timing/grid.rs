//! What the timing model needs to know of a launch.

use super::occupancy::Resources;
use crate::exec::{Program, Wave};
use crate::fault::{Fault, FaultKind};
use crate::launch::{self, Executed, Prepared};
use crate::memory::AddressSpace;

/// A launch whose workgroups can be started one by one.
pub trait Grid {
    /// Decoded text.
    fn program(&self) -> &Program;
    /// Global memory.
    fn memory(&self) -> &AddressSpace;
    /// Workgroups of the grid in each dimension; x varies fastest in dispatch order.
    fn groups(&self) -> [u32; 3];
    /// Registers, LDS and size of a workgroup.
    fn resources(&self) -> Resources;
    /// The waves of workgroup `id` (its place in dispatch order) in their initial state.
    fn waves(&self, id: u64) -> Vec<Wave>;
    /// Turns the used waves of another workgroup into those of workgroup `id`.
    fn renew(&self, waves: &mut Vec<Wave>, id: u64) {
        *waves = self.waves(id);
    }
    /// The first of them.
    fn first_wave(&self, id: u64) -> Wave;
    /// Turns a used first wave into that of workgroup `id`.
    fn restart(&self, wave: &mut Wave, id: u64) {
        *wave = self.first_wave(id);
    }
    /// Executes workgroup `id` functionally; returns what it executed.
    fn execute(&self, id: u64) -> Result<Executed, Fault>;
    /// Adds the place to what went wrong; `pc` is an index into [`Program::insts`].
    fn fault(&self, kind: FaultKind, id: u64, wave: u32, pc: usize) -> Fault;

    /// Workgroups of the grid.
    fn workgroups(&self) -> u64 {
        self.groups().iter().map(|&n| u64::from(n)).product()
    }
}

/// A prepared launch and the memory it works on.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The launch.
    pub prepared: &'a Prepared,
    /// Global memory.
    pub memory: &'a AddressSpace,
}

impl Prepared {
    /// Registers, LDS and size of a workgroup, as they are allocated.
    pub fn resources(&self) -> Resources {
        let total = self.kernel.descriptor.vgprs();
        let vgprs = self.kernel.descriptor.acc_offset().min(total);
        Resources {
            vgprs,
            agprs: total - vgprs,
            sgprs: self.kernel.sgpr_count,
            lds: self.lds,
            threads: self.dispatch.block.iter().product(),
        }
    }
}

impl Grid for Launch<'_> {
    fn program(&self) -> &Program {
        &self.prepared.program
    }

    fn memory(&self) -> &AddressSpace {
        self.memory
    }

    fn groups(&self) -> [u32; 3] {
        self.prepared.dispatch.groups
    }

    fn resources(&self) -> Resources {
        self.prepared.resources()
    }

    fn waves(&self, id: u64) -> Vec<Wave> {
        self.prepared.workgroup(self.prepared.workgroup_id(id)).waves
    }

    fn renew(&self, waves: &mut Vec<Wave>, id: u64) {
        self.prepared.renew(waves, self.prepared.workgroup_id(id));
    }

    fn first_wave(&self, id: u64) -> Wave {
        self.prepared.wave(self.prepared.workgroup_id(id), 0)
    }

    fn restart(&self, wave: &mut Wave, id: u64) {
        self.prepared.restart(wave, self.prepared.workgroup_id(id));
    }

    fn execute(&self, id: u64) -> Result<Executed, Fault> {
        let options = launch::Options::on_threads(1);
        launch::run(self.prepared, self.memory, id..id.saturating_add(1), &options)
    }

    fn fault(&self, kind: FaultKind, id: u64, wave: u32, pc: usize) -> Fault {
        self.prepared.locate(self.prepared.workgroup_id(id), wave, pc, kind)
    }
}
