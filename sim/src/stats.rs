//! What launches executed: workgroups, instructions by class and mnemonic, simulated time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Statistics of one or more launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LaunchStats {
    /// Launches.
    pub launches: u64,
    /// Workgroups of the grids.
    pub workgroups: u64,
    /// Workgroups that ran under the timing model; the time of the others is extrapolated.
    pub workgroups_timed: u64,
    /// Workgroups that ran at all.
    pub workgroups_run: u64,
    /// Wave64 instructions of the whole grids, extrapolated where not every workgroup ran.
    pub instructions: u64,
    /// Core clock cycles; `None` where nothing was timed.
    pub cycles: Option<u64>,
    /// Simulated time in microseconds; `None` where nothing was timed.
    pub time_us: Option<f64>,
    /// Executed instructions (not extrapolated) by class: `salu`, `valu`, `mfma`, ...
    pub classes: BTreeMap<String, u64>,
    /// Executed instructions (not extrapolated) by mnemonic.
    pub mnemonics: BTreeMap<String, u64>,
}
