//! What launches executed: workgroups, instructions by class and mnemonic, simulated time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::exec::Program;
use crate::isa::{Class, MemOp, class};
use crate::launch::Executed;

/// Statistics of one or more launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchStats {
    /// Launches.
    pub launches: u64,
    /// Workgroups of the grids.
    pub workgroups: u64,
    /// Workgroups that ran at all.
    pub workgroups_run: u64,
    /// Workgroups that ran under the timing model; the time of the others is extrapolated.
    pub workgroups_timed: u64,
    /// Wave64 instructions of the whole grids, extrapolated where not every workgroup ran.
    pub instructions: u64,
    /// Core clock cycles; `None` where a launch was not timed.
    pub cycles: Option<u64>,
    /// Simulated time in microseconds; `None` where a launch was not timed.
    pub time_us: Option<f64>,
    /// Executed instructions (not extrapolated) by class: `salu`, `valu`, `mfma`, ...
    pub classes: BTreeMap<String, u64>,
    /// Executed instructions (not extrapolated) by mnemonic.
    pub mnemonics: BTreeMap<String, u64>,
    /// Wave clocks that the simulated compute unit lost, by reason; empty where nothing was timed.
    #[serde(default)]
    pub stalls: BTreeMap<String, u64>,
    /// Bytes of the whole grids by memory level, extrapolated; empty where nothing was timed.
    #[serde(default)]
    pub bytes: BTreeMap<String, u64>,
}

impl LaunchStats {
    /// Statistics of one launch of `workgroups` workgroups of which `executed` ran.
    pub fn of(program: &Program, executed: &Executed, workgroups: u64) -> Self {
        let mut classes: BTreeMap<&str, u64> = BTreeMap::new();
        let mut mnemonics: BTreeMap<&str, u64> = BTreeMap::new();
        for (inst, &count) in program.insts.iter().zip(&executed.counts).filter(|(_, c)| **c > 0) {
            *classes.entry(class_name(class(inst, program.arch))).or_default() += count;
            *mnemonics.entry(inst.op.info().name).or_default() += count;
        }
        let owned = |map: BTreeMap<&str, u64>| {
            map.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
        };
        LaunchStats {
            launches: 1,
            workgroups,
            workgroups_run: executed.workgroups,
            instructions: scale(executed.instructions(), workgroups, executed.workgroups),
            classes: owned(classes),
            mnemonics: owned(mnemonics),
            ..LaunchStats::default()
        }
    }

    /// Adds another launch's statistics. The time of the sum is known only if both times are.
    pub fn add(&mut self, other: &LaunchStats) {
        if self.launches == 0 {
            *self = other.clone();
            return;
        }
        self.launches += other.launches;
        self.workgroups += other.workgroups;
        self.workgroups_run += other.workgroups_run;
        self.workgroups_timed += other.workgroups_timed;
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.cycles = self.cycles.zip(other.cycles).map(|(a, b)| a.saturating_add(b));
        self.time_us = self.time_us.zip(other.time_us).map(|(a, b)| a + b);
        for (sums, counts) in [
            (&mut self.classes, &other.classes),
            (&mut self.mnemonics, &other.mnemonics),
            (&mut self.stalls, &other.stalls),
            (&mut self.bytes, &other.bytes),
        ] {
            for (name, count) in counts {
                *sums.entry(name.clone()).or_default() += count;
            }
        }
    }
}

/// `count` of `run` workgroups, for all `workgroups`.
fn scale(count: u64, workgroups: u64, run: u64) -> u64 {
    match u128::from(count) * u128::from(workgroups) {
        _ if run == 0 => 0,
        product => u64::try_from(product / u128::from(run)).unwrap_or(u64::MAX),
    }
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Salu => "salu",
        Class::Smem(_) => "smem",
        Class::Valu => "valu",
        Class::ValuTrans => "valu_transcendental",
        Class::ValuF64 => "valu_f64",
        Class::ValuPkF32 => "valu_packed_f32",
        Class::Valu64 => "valu_int64",
        Class::Mfma { .. } => "mfma",
        Class::Lds(MemOp::Load) => "lds_read",
        Class::Lds(MemOp::Lane) => "lds_lane",
        Class::Lds(_) => "lds_write",
        Class::Vmem(MemOp::Load) | Class::Flat(MemOp::Load) => "vmem_load",
        Class::Vmem(MemOp::LoadToLds) | Class::Flat(MemOp::LoadToLds) => "vmem_load_to_lds",
        Class::Vmem(MemOp::Store) | Class::Flat(MemOp::Store) => "vmem_store",
        Class::Vmem(MemOp::Atomic) | Class::Flat(MemOp::Atomic) => "vmem_atomic",
        Class::Vmem(_) | Class::Flat(_) => "vmem_control",
        Class::Branch => "branch",
        Class::Waitcnt => "waitcnt",
        Class::Barrier => "barrier",
        Class::Nop(_) => "nop",
        Class::Internal => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_keep_a_time_only_if_every_launch_has_one() {
        let timed = LaunchStats {
            launches: 1,
            instructions: 10,
            cycles: Some(100),
            time_us: Some(0.5),
            classes: BTreeMap::from([("salu".to_owned(), 3)]),
            ..LaunchStats::default()
        };
        let mut sum = LaunchStats::default();
        sum.add(&timed);
        sum.add(&timed);
        assert_eq!((sum.launches, sum.instructions), (2, 20));
        assert_eq!((sum.cycles, sum.time_us, sum.classes["salu"]), (Some(200), Some(1.0), 6));
        sum.add(&LaunchStats { launches: 1, ..LaunchStats::default() });
        assert_eq!((sum.launches, sum.cycles, sum.time_us), (3, None, None));
    }

    #[test]
    fn instructions_of_a_sample_stand_for_the_grid() {
        assert_eq!(scale(300, 1000, 3), 100_000);
        assert_eq!(scale(u64::MAX, u64::MAX, 1), u64::MAX);
        assert_eq!(scale(0, 5, 0), 0);
    }
}
