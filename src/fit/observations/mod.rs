//! Field observations: records of a deployed engine, read from CSV, JSON lines or parquet.
//!
//! In goes a table with at least `T`, `L` and one of `peak`, `outcome`; sizes may carry units and
//! token counts `k` or `M`. Out come rows with the line they stand on; unknown columns are kept,
//! outcomes keep their original wording, and a cell that makes no sense is reported with its line
//! and column instead of being guessed at.

mod contradictions;
mod readers;
mod records;
mod stated;

use std::collections::BTreeMap;

pub use contradictions::contradictions;
pub use readers::{read, read_csv};
pub use stated::{Stated, remarks, state};

use super::memory::{Row, Seen};
use crate::profile::Outcome;
use crate::units::{Bytes, Tokens};

/// How `L` of an observation is to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LMeans {
    /// The keys that the chunk was scored against, as the field note and public reports count
    /// (`T*L`); a chunk sees at least its own rows.
    #[default]
    Context,
    /// The prefix before the chunk: `E = L + T`.
    Prefix,
}

/// One field record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Line of the file, from 1.
    pub line: u64,
    /// Where it was reported.
    pub source: String,
    /// Device.
    pub device: String,
    /// Engine that served.
    pub engine: String,
    /// Rows of the chunk.
    pub t: Option<Tokens>,
    /// Prefix or context, see [`LMeans`].
    pub l: Option<Tokens>,
    /// What `l` is, where the column was named `prefix` or `context` rather than `L`.
    pub l_means: Option<LMeans>,
    /// Tokens per key; 1 where not given.
    pub ratio: Option<u32>,
    /// Context-parallel ranks that share the rows; 1 where not given.
    pub cp_size: Option<u32>,
    /// Peak or transient bytes.
    pub peak: Option<Bytes>,
    /// Free bytes before the chunk.
    pub free: Option<Bytes>,
    /// Bytes at which the guard fires.
    pub guard: Option<Bytes>,
    /// Bytes that the chunk may use at most.
    pub limit: Option<Bytes>,
    /// Whether free memory and guard are those stated for the server, and not recorded.
    pub stated: bool,
    /// What the outcome means; none where it says nothing about memory.
    pub outcome: Option<Outcome>,
    /// The outcome as reported.
    pub outcome_text: String,
    /// Tokens per second.
    pub tok_s: Option<f64>,
    /// Time, microseconds.
    pub time_us: Option<f64>,
    /// Remark.
    pub note: String,
    /// Columns that this reader does not know, by header.
    pub extra: BTreeMap<String, String>,
}

/// A cell that could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column `{column}`: {message}")]
pub struct CellError {
    /// Line of the file, from 1.
    pub line: u64,
    /// Header of the column.
    pub column: String,
    /// What is wrong.
    pub message: String,
}

/// Why a file of observations cannot be used at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObservationsError {
    /// A column that must be there is not.
    #[error(
        "line 1: no column `{0}`; needed are `T`, `L` (or `prefix`, or `context`) and one of `peak`, `outcome`, `tok_s`, `time_us`; with a time one of the lengths is enough"
    )]
    MissingColumn(&'static str),
    /// Columns that nothing but a comma may separate.
    #[error(
        "line 1: the columns seem to be separated by {0}; write commas, and a point in 2.97 GB"
    )]
    Separator(&'static str),
    /// Two columns with the same meaning.
    #[error("line 1: columns `{0}` and `{1}` mean the same; keep one")]
    Twice(String, String),
    /// Not CSV.
    #[error("not readable as CSV: {0}")]
    Csv(String),
    /// A line that is not a JSON object.
    #[error("line {line}: not a JSON object: {message}")]
    Json {
        /// Line of the file, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// Not parquet.
    #[error("not readable as parquet: {0}")]
    Parquet(String),
    /// The profile of a run, which holds several memory paths.
    #[error(
        "this is the profile of a run, not observations of a deployed engine; `tune plan` and `tune emit` read it"
    )]
    Profile,
    /// Neither text nor parquet.
    #[error("neither parquet nor UTF-8 text")]
    Binary,
    /// Header only.
    #[error("no rows after the header")]
    Empty,
}

/// The rows of a file, and the rows left out with the reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Rows that were understood.
    pub rows: Vec<Observation>,
    /// Cells that were not; their rows are left out.
    pub rejected: Vec<CellError>,
}

impl Observation {
    /// What tells one observed system from another: source, engine and device.
    fn system(&self) -> (&str, &str, &str) {
        (&self.source, &self.engine, &self.device)
    }

    /// What the length is: as its column says, else `otherwise`.
    pub fn length_means(&self, otherwise: LMeans) -> LMeans {
        self.l_means.unwrap_or(otherwise)
    }

    /// Bytes that the chunk could use before the outcome changed: `limit`, else free less guard.
    pub fn limit_bytes(&self) -> Option<u64> {
        let free_less_guard =
            || Some(self.free?.0.checked_sub(self.guard.map_or(0, |g| g.0))).flatten();
        // Out of memory is only reached when everything is used, guard or not.
        match self.outcome {
            Some(Outcome::Oom) => self.limit.or(self.free).map(|b| b.0),
            _ => self.limit.map(|b| b.0).or_else(free_less_guard),
        }
        .filter(|bytes| *bytes > 0)
    }

    /// The row of a memory fit, with `l` read as `l_means` unless its column said what it is; none
    /// where the record says nothing about memory.
    pub fn memory_row(&self, l_means: LMeans) -> Option<Row> {
        let (t, l) = (self.t?.0, self.l?.0);
        let context = match self.length_means(l_means) {
            LMeans::Context => l.max(t),
            LMeans::Prefix => l.checked_add(t)?,
        };
        let keys = context.div_ceil(u64::from(self.ratio.unwrap_or(1)));
        let rows = t.div_ceil(u64::from(self.cp_size.unwrap_or(1)));
        let peak = self.peak.map(|p| p.0 as f64);
        let limit = self.limit_bytes().map(|b| b as f64);
        let seen = match self.outcome? {
            Outcome::Ok => peak.map(Seen::Peak).or(limit.map(Seen::AtMost))?,
            // A chunk that died asked for at least what there was; the last reading before may be less.
            Outcome::Oom | Outcome::Guard => {
                Seen::AtLeast(peak.into_iter().chain(limit).reduce(f64::max)?)
            }
            _ => return None,
        };
        let pairs = rows as f64 * keys as f64;
        Some(Row { line: self.line, t: rows as f64, e: context as f64, pairs, seen })
    }
}

#[cfg(test)]
mod tests;
