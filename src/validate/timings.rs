//! The table of published timings: one row a kernel, shape and time, read from CSV.

use std::path::Path;

use serde::Deserialize;

use super::ValidateError;

/// A table that does not say how its times were taken. All nine of its rows of split `calibrate` exceed the
/// simulated kernel by the same 45 to 65 us, at 26 us as at 98 us: a gap before the launch, not a rate.
const GAP_TAKEN_TO_BE_INCLUDED: &str = "ROCm/aiter/pull/4309";

/// Which rows to compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Split {
    /// Rows that parameters must not have been set with.
    #[default]
    Report,
    /// Rows that parameters may be set with.
    Calibrate,
    /// All rows.
    All,
}

impl Split {
    /// Name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Split::Report => "report",
            Split::Calibrate => "calibrate",
            Split::All => "all",
        }
    }
}

/// A published time.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Timing {
    /// Line in the file; the header is line 1.
    #[serde(skip)]
    pub line: u64,
    /// Where it was published.
    pub source: String,
    /// Target.
    pub arch: String,
    /// Kernel as published.
    pub kernel: String,
    /// Configuration as published.
    pub config: String,
    /// Batches.
    #[serde(rename = "B")]
    pub b: Option<u64>,
    /// Rows.
    #[serde(rename = "M")]
    pub m: Option<u64>,
    /// Columns.
    #[serde(rename = "N")]
    pub n: Option<u64>,
    /// Depth.
    #[serde(rename = "K")]
    pub k: Option<u64>,
    /// Element types.
    pub dtype: String,
    /// Time in microseconds.
    pub time_us: f64,
    /// Compiler.
    pub compiler: String,
    /// How it was measured.
    pub notes: String,
    /// `calibrate` or `report`.
    pub split: String,
}

impl Timing {
    /// Kernel family: the kernel's name without what all of AITER's Triton kernels share.
    pub fn family(&self) -> &str {
        self.kernel.strip_prefix("aiter Triton ").unwrap_or(&self.kernel)
    }

    /// Shape as text, with the sizes that the row has.
    pub fn shape(&self) -> String {
        let sizes = [("B", self.b), ("M", self.m), ("N", self.n), ("K", self.k)];
        let named = sizes.iter().filter_map(|(name, size)| Some(format!("{name}={}", (*size)?)));
        named.collect::<Vec<_>>().join(" ")
    }

    /// Whether the time was taken around a launch from Python and includes the gap before it.
    pub fn event_timed(&self) -> bool {
        self.notes.contains("event timing") || self.source.ends_with(GAP_TAKEN_TO_BE_INCLUDED)
    }

    /// Whether the published time is that of one kernel, the one that took longest, whatever else the
    /// call launched: the procedure behind these rows keeps the first line of the profiler's statistics
    /// that names the kernel, and those are sorted by time.
    pub fn slowest_kernel_only(&self) -> bool {
        self.notes.contains("rocprof --stats")
    }

    /// Floating-point operations, where the sizes are those of a matrix product.
    pub fn flops(&self) -> Option<f64> {
        let is_gemm = self.kernel.to_lowercase().contains("gemm");
        let product = [self.m?, self.n?, self.k?].iter().map(|&n| n as f64).product::<f64>();
        is_gemm.then(|| 2.0 * self.b.unwrap_or(1) as f64 * product)
    }
}

/// Reads the rows of a split.
///
/// # Errors
/// A missing column, a size or time that is none, a split of another name: with the line.
pub fn read(path: &Path, split: Split) -> Result<Vec<Timing>, ValidateError> {
    let bytes = crate::files::read_bytes(path)?;
    let refuse = |what: String| ValidateError::Timings { path: path.to_owned(), what };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
    let mut rows = Vec::new();
    let mut all = 0;
    for (i, row) in reader.deserialize::<Timing>().enumerate() {
        let line = i as u64 + 2;
        let row = Timing { line, ..row.map_err(|error| refuse(error.to_string()))? };
        if !matches!(row.split.as_str(), "calibrate" | "report") {
            let what =
                format!("line {line}: split is {:?}; expected calibrate or report", row.split);
            return Err(refuse(what));
        }
        if !(row.time_us.is_finite() && row.time_us > 0.0) {
            return Err(refuse(format!("line {line}: time_us is {}, no time", row.time_us)));
        }
        all += 1;
        if split == Split::All || row.split == split.name() {
            rows.push(row);
        }
    }
    if !rows.is_empty() {
        return Ok(rows);
    }
    Err(refuse(match all {
        0 if bytes.trim_ascii().is_empty() => "the file is empty; expected a header and rows of \
             published times, with the columns source, arch, kernel, config, B, M, N, K, dtype, \
             time_us, compiler, notes and split"
            .to_owned(),
        0 => "there is no row below the header".to_owned(),
        _ => format!("none of the {all} rows is of split {}; --split chooses it", split.name()),
    }))
}
