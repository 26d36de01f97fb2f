//! The table of published timings: one row a kernel, shape and time, read from CSV.

use std::ops::RangeInclusive;
use std::path::Path;

use serde::Deserialize;

use super::ValidateError;
use crate::profile::MAX_TIME_US;
use crate::text::quoted;

/// A table that does not say how its times were taken. All nine of its rows of split `calibrate` exceed the
/// simulated kernel by the same 45 to 65 us, at 26 us as at 98 us: a gap before the launch, not a rate.
const GAP_TAKEN_TO_BE_INCLUDED: &str = "ROCm/aiter/pull/4309";

/// Columns that are read.
const COLUMNS: [&str; 13] = [
    "source", "arch", "kernel", "config", "B", "M", "N", "K", "dtype", "time_us", "compiler",
    "notes", "split",
];

/// Times of a kernel, microseconds.
const TIMES_US: RangeInclusive<f64> = 1e-3..=MAX_TIME_US;

/// Largest size of a shape.
const MAX_SIZE: u64 = 1 << 32;

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

    /// Why the row is none, in words.
    fn fault(&self) -> Option<String> {
        if !matches!(self.split.as_str(), "calibrate" | "report") {
            return Some(format!("split is {:?}; expected calibrate or report", self.split));
        }
        if !TIMES_US.contains(&self.time_us) {
            let (us, least, most) = (self.time_us, TIMES_US.start(), TIMES_US.end());
            return Some(format!("time_us is {us:e}, no time from {least} to {most:e}"));
        }
        let sizes = [("B", self.b), ("M", self.m), ("N", self.n), ("K", self.k)];
        let fault = |(name, size): (&str, Option<u64>)| {
            let size = size.filter(|size| !(1..=MAX_SIZE).contains(size))?;
            Some(format!("{name} is {size}, no size from 1 to {MAX_SIZE}"))
        };
        sizes.into_iter().find_map(fault)
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
    let header = reader.headers().map_err(|error| refuse(plain(&error, None)))?.clone();
    if let Some(column) = COLUMNS.iter().find(|column| !header.iter().any(|name| name == **column))
        && !bytes.trim_ascii().is_empty()
    {
        let names = quoted(&header.iter().collect::<Vec<_>>().join(","));
        let wanted = COLUMNS.join(", ");
        return Err(refuse(format!(
            "there is no column {column}; it wants {wanted}, and the header is `{names}`"
        )));
    }
    let mut rows = Vec::new();
    let mut all = 0;
    for (i, row) in reader.deserialize::<Timing>().enumerate() {
        let line = i as u64 + 2;
        let at = |what: String| refuse(format!("line {line}: {what}"));
        let row = row.map_err(|error| at(plain(&error, Some(&header))))?;
        let row = Timing { line, ..row };
        if let Some(fault) = row.fault() {
            return Err(at(fault));
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
        0 if bytes.trim_ascii().is_empty() => format!(
            "the file is empty; expected a header and rows of published times, with the columns {}",
            COLUMNS.join(", ")
        ),
        0 => "there is no row below the header".to_owned(),
        _ => format!("none of the {all} rows is of split {}; --split chooses it", split.name()),
    }))
}

/// Pairs of lines that hold the same row, time and all: it would count twice.
pub fn repeated(rows: &[Timing]) -> Vec<(u64, u64)> {
    let same = |a: &Timing, b: &Timing| *a == Timing { line: a.line, ..b.clone() };
    let first = |i: usize| rows[..i].iter().find(|row| same(row, &rows[i]));
    (0..rows.len()).filter_map(|i| Some((first(i)?.line, rows[i].line))).collect()
}

/// What the reader says, with the name of the column in place of its number and of byte offsets.
fn plain(error: &csv::Error, header: Option<&csv::StringRecord>) -> String {
    match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "it is no UTF-8 text; convert the file to UTF-8".to_owned(),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("it has {len} fields and the header {expected_len}")
        }
        csv::ErrorKind::Deserialize { err, .. } => {
            let column = err.field().and_then(|field| header?.get(usize::try_from(field).ok()?));
            format!("{}: {}", column.unwrap_or("a field"), err.kind())
        }
        _ => error.to_string(),
    }
}
