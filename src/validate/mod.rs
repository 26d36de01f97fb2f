//! How far off the simulator is: published kernel times against simulated ones.
//!
//! Goes in: a table of published timings and the AITER tree whose kernels were timed. The kernels are
//! compiled for the target without a GPU, run in timing mode at the published shapes, and scored next
//! to two baselines on the same rows, `llvm-mca` and a roofline. Comes out: a [`Report`], in which
//! every row of the split appears, with its error or with the reason why it could not be run.

mod baseline;
mod compile;
mod launches;
mod mca;
mod plot;
mod recorded;
mod run;
mod score;
mod table;
mod timings;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use baseline::roofline_us;
pub use compile::{Compiler, compile};
pub use launches::{Argument, BufferSpec, KernelLaunch, LaunchFile, RowLaunches};
pub use mca::Mca;
pub use plot::svg;
pub use recorded::{Evidence, nearest, off_by};
pub use run::{Parameters, Request, run};
pub use score::{Group, MIN_ROWS, Score, score, summarize};
pub use table::Table;
pub use timings::{Split, Timing, read, repeated};

/// Version of the report's layout.
pub const SCHEMA: &str = "chunktune/validation/v1";

/// Why a validation could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] crate::files::FileError),
    /// The table of timings is not usable.
    #[error("{}: {what}", path.display())]
    Timings {
        /// File.
        path: PathBuf,
        /// What is wrong, with line and column.
        what: String,
    },
    /// The kernels could not be compiled at all.
    #[error("{0}")]
    Compiler(String),
    /// The compiled kernels are those of another table.
    #[error(
        "{}: the kernels were compiled for another table of timings than {}",
        folder.display(), timings.display()
    )]
    OtherTable {
        /// Folder of the compiled kernels.
        folder: PathBuf,
        /// Table at hand.
        timings: PathBuf,
    },
    /// A hardware parameter file is not usable.
    #[error("hardware parameters: {0}")]
    Parameters(String),
}

/// What a validation found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// SHA-256 of the table of timings.
    pub timings_sha256: String,
    /// Rows that were asked for: report, calibrate or all.
    pub split: String,
    /// Compiler of the kernels.
    pub compiler: String,
    /// Commit of the AITER tree, where it has one.
    pub aiter: Option<String>,
    /// SHA-256 of the simulator's parameter file, by target.
    pub parameters_sha256: std::collections::BTreeMap<String, String>,
    /// All rows that ran, each target, each family.
    pub groups: Vec<Group>,
    /// Every row of the split.
    pub rows: Vec<Row>,
}

/// One published time and what it was compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Line in the table of timings; the header is line 1.
    pub line: u64,
    /// Target.
    pub arch: String,
    /// Kernel family.
    pub family: String,
    /// Shape as published.
    pub shape: String,
    /// Configuration as published.
    pub config: String,
    /// Split that the row belongs to.
    pub split: String,
    /// Published time, microseconds.
    pub published_us: f64,
    /// Commit of AITER that kernel and configuration were taken from.
    pub aiter: Option<String>,
    /// Compiler of the kernel.
    pub compiler: Option<String>,
    /// What was simulated; none where the row could not be run.
    pub result: Option<Simulated>,
    /// Why the row could not be run.
    pub reason: Option<String>,
}

/// The simulated time of a row, and the baselines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// Simulated time, microseconds: all launches of the row, and the host's time to issue them where
    /// the row was measured around launches from Python.
    pub time_us: f64,
    /// Whether the published time includes launch gaps.
    pub event_timed: bool,
    /// Bytes over bandwidth or operations over peak, whichever is longer; microseconds.
    pub roofline_us: f64,
    /// Block cycles of `llvm-mca` over all waves, spread over all SIMDs; none without the tool.
    pub mca_us: Option<f64>,
    /// Launches in order.
    pub launches: Vec<SimulatedLaunch>,
}

/// One launch of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedLaunch {
    /// Kernel.
    pub kernel: String,
    /// Simulated time without any launch gap, microseconds.
    pub time_us: f64,
    /// Workgroups.
    pub workgroups: u64,
    /// Workgroups resident on a compute unit.
    pub resident: u32,
    /// Clock, MHz.
    pub clock_mhz: f64,
    /// Cycles of the grid.
    pub cycles: u64,
    /// Fraction of the cycles in which the matrix units were busy.
    pub matrix_busy: f64,
    /// Wave instructions of the grid.
    pub instructions: u64,
    /// Bytes by memory level.
    pub bytes: std::collections::BTreeMap<String, u64>,
    /// Wave clocks lost on the simulated compute unit, by reason.
    pub stalls: std::collections::BTreeMap<String, u64>,
}

/// The scores of a report without its rows: what the program carries of the recorded validation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: String,
    /// Rows that were asked for.
    pub split: String,
    /// SHA-256 of the simulator's parameter file, by target.
    pub parameters_sha256: std::collections::BTreeMap<String, String>,
    /// All rows that ran, each target, each family.
    pub groups: Vec<Group>,
}

impl From<&Report> for Summary {
    fn from(report: &Report) -> Self {
        Summary {
            schema: report.schema.clone(),
            split: report.split.clone(),
            parameters_sha256: report.parameters_sha256.clone(),
            groups: report.groups.clone(),
        }
    }
}

impl Row {
    /// Relative error of the simulated time: 0.1 for one that is 10% too long.
    pub fn error(&self) -> Option<f64> {
        self.result.as_ref().map(|r| r.time_us / self.published_us - 1.0)
    }
}
