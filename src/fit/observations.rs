//! Field observations: records of a deployed engine, read from CSV.
//!
//! In goes a CSV with at least `T`, `L` and one of `peak`, `outcome`; sizes may carry units and
//! token counts `k` or `M`. Out come rows with the line they stand on; unknown columns are kept,
//! outcomes keep their original wording, and a cell that makes no sense is reported with its line
//! and column instead of being guessed at.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::memory::{Row, Seen};
use crate::options::MAX_TOKENS;
use crate::profile::Outcome;
use crate::text::{clipped, quoted};
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
    #[error("line 1: no column `{0}`; needed are `T`, `L` and one of `peak`, `outcome`")]
    MissingColumn(&'static str),
    /// Two columns with the same meaning.
    #[error("line 1: columns `{0}` and `{1}` mean the same; keep one")]
    Twice(String, String),
    /// Not CSV.
    #[error("not readable as CSV: {0}")]
    Csv(String),
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

/// Columns that the reader knows, with the spellings accepted for them.
const KNOWN: &[(&str, &[&str])] = &[
    ("T", &["t"]),
    ("L", &["l"]),
    ("source", &["source"]),
    ("device", &["device"]),
    ("engine", &["engine"]),
    ("ratio", &["ratio"]),
    ("cp_size", &["cp_size", "cp"]),
    ("peak", &["peak", "peak_bytes"]),
    ("free", &["free", "free_bytes"]),
    ("guard", &["guard", "guard_bytes"]),
    ("limit", &["limit", "limit_bytes"]),
    ("outcome", &["outcome"]),
    ("tok_s", &["tok_s"]),
    ("time_us", &["time_us"]),
    ("note", &["note"]),
];

/// Reads observations from the text of a CSV file.
///
/// # Errors
/// Text that is not CSV, a missing column, or no rows. Bad cells are not errors: they are in
/// [`Observations::rejected`].
pub fn read_csv(text: &str) -> Result<Observations, ObservationsError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let csv_error = |e: csv::Error| ObservationsError::Csv(clipped(&e.to_string(), 300));
    let headers = reader.headers().map_err(csv_error)?.clone();
    let mut at: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    for (i, header) in headers.iter().enumerate() {
        let header = header.trim_start_matches('\u{feff}');
        let name = header.to_ascii_lowercase();
        match KNOWN.iter().find(|(_, spellings)| spellings.contains(&name.as_str())) {
            Some((known, _)) => {
                if let Some(first) = at.insert(known, i) {
                    let first = headers.get(first).unwrap_or_default().to_owned();
                    return Err(ObservationsError::Twice(quoted(&first), quoted(header)));
                }
            }
            None => unknown.push((i, header.to_owned())),
        }
    }
    for needed in ["T", "L"] {
        if !at.contains_key(needed) {
            return Err(ObservationsError::MissingColumn(needed));
        }
    }
    if !at.contains_key("peak") && !at.contains_key("outcome") {
        return Err(ObservationsError::MissingColumn("peak"));
    }
    let mut out = Observations::default();
    for record in reader.records() {
        let record = record.map_err(csv_error)?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells = Cells { record: &record, at: &at, line };
        match observation(&cells, &unknown) {
            Ok(row) => out.rows.push(row),
            Err(error) => out.rejected.push(error),
        }
    }
    if out.rows.is_empty() && out.rejected.is_empty() {
        return Err(ObservationsError::Empty);
    }
    Ok(out)
}

/// One record, read by column.
struct Cells<'a> {
    record: &'a csv::StringRecord,
    at: &'a BTreeMap<&'static str, usize>,
    line: u64,
}

impl Cells<'_> {
    fn text(&self, column: &str) -> &str {
        self.at.get(column).and_then(|i| self.record.get(*i)).unwrap_or_default()
    }

    fn error(&self, column: &str, message: impl ToString) -> CellError {
        CellError { line: self.line, column: column.to_owned(), message: message.to_string() }
    }

    fn parse<T: FromStr>(&self, column: &str) -> Result<Option<T>, CellError>
    where
        T::Err: ToString,
    {
        match self.text(column) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|e: T::Err| self.error(column, e.to_string())),
        }
    }

    fn positive(&self, column: &str) -> Result<Option<f64>, CellError> {
        match self.text(column) {
            "" => Ok(None),
            text => match text.parse::<f64>() {
                Ok(value) if value.is_finite() && value > 0.0 => Ok(Some(value)),
                _ => {
                    let text = quoted(text);
                    Err(self.error(column, format!("`{text}` is not a positive finite number")))
                }
            },
        }
    }

    /// A length, no longer than any that can be measured.
    fn length(&self, column: &str) -> Result<Option<Tokens>, CellError> {
        match self.parse::<Tokens>(column)? {
            Some(Tokens(length)) if length > MAX_TOKENS => {
                let message = format!("{length} is too long; the limit is {MAX_TOKENS} tokens");
                Err(self.error(column, message))
            }
            length => Ok(length),
        }
    }

    fn count(&self, column: &str) -> Result<Option<u32>, CellError> {
        match self.text(column) {
            "" => Ok(None),
            text => match text.parse::<u32>() {
                Ok(count) if count > 0 => Ok(Some(count)),
                _ => {
                    let text = quoted(text);
                    Err(self.error(column, format!("`{text}` is not a whole number of at least 1")))
                }
            },
        }
    }
}

fn observation(cells: &Cells<'_>, unknown: &[(usize, String)]) -> Result<Observation, CellError> {
    let t = cells.length("T")?;
    if t == Some(Tokens(0)) {
        return Err(cells.error("T", "a chunk has at least one row"));
    }
    let peak = cells.parse::<Bytes>("peak")?;
    if peak == Some(Bytes(0)) {
        return Err(cells.error("peak", "a peak of 0 bytes is not a measurement; leave it empty"));
    }
    let outcome_text = cells.text("outcome").to_owned();
    let mut outcome = outcome_of(&outcome_text);
    if outcome_text.is_empty() && peak.is_some() {
        outcome = Some(Outcome::Ok);
    }
    Ok(Observation {
        line: cells.line,
        source: cells.text("source").to_owned(),
        device: cells.text("device").to_owned(),
        engine: cells.text("engine").to_owned(),
        t,
        l: cells.length("L")?,
        ratio: cells.count("ratio")?,
        cp_size: cells.count("cp_size")?,
        peak,
        free: cells.parse("free")?,
        guard: cells.parse("guard")?,
        limit: cells.parse("limit")?,
        outcome,
        outcome_text,
        tok_s: cells.positive("tok_s")?,
        time_us: cells.positive("time_us")?,
        note: cells.text("note").to_owned(),
        extra: unknown
            .iter()
            .filter_map(|(i, name)| Some((name.clone(), cells.record.get(*i)?.to_owned())))
            .filter(|(_, value)| !value.is_empty())
            .collect(),
    })
}

/// What a reported outcome means for memory. Predictions and remarks are no observations.
fn outcome_of(text: &str) -> Option<Outcome> {
    let word = text.trim().to_ascii_lowercase();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| word.starts_with(p));
    if word.contains("predicted") || word.contains("risk") {
        None
    } else if starts(&["ok", "pass"]) {
        Some(Outcome::Ok)
    } else if starts(&["oom", "out of memory", "crash", "killed"]) {
        Some(Outcome::Oom)
    } else if starts(&["guard"]) {
        Some(Outcome::Guard)
    } else {
        None
    }
}

impl Observation {
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

    /// The row of a memory fit; none where the record says nothing about memory.
    pub fn memory_row(&self, l_means: LMeans) -> Option<Row> {
        let (t, l) = (self.t?.0, self.l?.0);
        let context = match l_means {
            LMeans::Context => l.max(t),
            LMeans::Prefix => l.checked_add(t)?,
        };
        let keys = context.div_ceil(u64::from(self.ratio.unwrap_or(1)));
        let rows = t.div_ceil(u64::from(self.cp_size.unwrap_or(1)));
        let peak = self.peak.map(|p| p.0 as f64);
        let limit = self.limit_bytes().map(|b| b as f64);
        let seen = match self.outcome? {
            Outcome::Ok => peak.map(Seen::Peak).or(limit.map(Seen::AtMost))?,
            // The peak of a chunk that died is what it asked for, if it is known at all.
            Outcome::Oom | Outcome::Guard => Seen::AtLeast(peak.or(limit)?),
            _ => return None,
        };
        let pairs = rows as f64 * keys as f64;
        Some(Row { line: self.line, t: rows as f64, e: context as f64, pairs, seen })
    }
}

/// Pairs of rows that cannot both be right: a chunk that died although another one of the same
/// system, at least as large in rows and keys, passed with no more memory to use.
pub fn contradictions(rows: &[Observation], l_means: LMeans) -> Vec<String> {
    let mut out = Vec::new();
    let bounded: Vec<_> =
        rows.iter().filter_map(|o| Some((o, o.memory_row(l_means)?, o.limit_bytes()?))).collect();
    for (died, small, died_limit) in bounded.iter().filter(|(o, ..)| o.outcome != Some(Outcome::Ok))
    {
        for (passed, large, passed_limit) in
            bounded.iter().filter(|(o, ..)| o.outcome == Some(Outcome::Ok))
        {
            let same = died.device == passed.device
                && died.engine == passed.engine
                && died.source == passed.source;
            if same && large.t >= small.t && large.e >= small.e && passed_limit <= died_limit {
                out.push(format!(
                    "line {}: {} at T={} L={}, but line {} passed with at least as many rows and \
                     keys and no more memory",
                    died.line,
                    died.outcome_text,
                    died.t.map_or(0, |t| t.0),
                    died.l.map_or(0, |l| l.0),
                    passed.line
                ));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOTS: &str = include_str!("../../profiles/field/boots.csv");
    const CASES: &str = include_str!("../../profiles/field/field_cases.csv");

    #[test]
    fn the_four_boots_read_with_units_and_bounds() {
        let read = read_csv(BOOTS).unwrap();
        assert!(read.rejected.is_empty());
        let rows: Vec<Row> =
            read.rows.iter().map(|o| o.memory_row(LMeans::Context).unwrap()).collect();
        assert_eq!(rows[0].pairs, 2048.0 * 100_000.0);
        assert_eq!(rows[0].seen, Seen::Peak(2.97e9));
        // 4.9 GB free less 1.5 GB guard.
        assert_eq!(rows[1].seen, Seen::AtLeast(3.4e9));
        assert_eq!(read.rows[1].outcome, Some(Outcome::Guard));
        assert_eq!(read.rows[3].line, 5);
        let prefix = read.rows[0].memory_row(LMeans::Prefix).unwrap();
        assert_eq!(prefix.pairs, 2048.0 * 102_048.0);
    }

    #[test]
    fn field_outcomes_are_mapped_and_their_wording_kept() {
        let read = read_csv(CASES).unwrap();
        let find = |id: &str| {
            read.rows.iter().find(|o| o.extra.get("id").is_some_and(|i| i == id)).unwrap()
        };
        assert_eq!(find("A01.1").outcome, Some(Outcome::Oom));
        assert_eq!(find("A01.2").outcome, None);
        assert_eq!(find("A06.2").outcome, Some(Outcome::Ok));
        assert_eq!(find("A06.2").outcome_text, "pass(tight)");
        assert_eq!(find("A09.2").outcome, Some(Outcome::Oom));
        assert_eq!(find("A13.1").outcome, None);
        assert_eq!(find("A13.1").extra["bytes_per_elem"], "4");
        // A06: 49.7e9 / (16384 * 300,000) = 10.1 B a pair.
        let row = find("A06.2").memory_row(LMeans::Context).unwrap();
        assert!(matches!(row.seen, Seen::Peak(p) if (p / row.pairs - 10.1).abs() < 0.02));
        // D15 has T = -1.
        assert_eq!(read.rejected.len(), 1);
        assert_eq!(read.rejected[0].column, "T");
        assert!(read.rejected[0].to_string().contains("negative"));
    }

    #[test]
    fn bad_cells_are_reported_with_line_and_column() {
        let text = "T,L,peak,ratio\n1024,100k,2 GB,1\n1024,100k,2 XB,1\n0,5,1GB,1\n8,8,1GB,0\n\
                    8,8,0,1\n8,99999999999999999999,1GB,1\n8e9,8,1GB,1\n8,8,1GB,two\n";
        let read = read_csv(text).unwrap();
        assert_eq!(read.rows.len(), 1);
        let found: Vec<(u64, &str)> =
            read.rejected.iter().map(|e| (e.line, e.column.as_str())).collect();
        let expected =
            [(3, "peak"), (4, "T"), (5, "ratio"), (6, "peak"), (7, "L"), (8, "T"), (9, "ratio")];
        assert_eq!(found, expected);
        assert!(read.rejected[5].message.contains("the limit is 67108864"));
        assert_eq!(read.rejected[6].message, "`two` is not a whole number of at least 1");
    }

    #[test]
    fn files_without_the_needed_columns_or_rows_are_refused() {
        assert_eq!(read_csv("L,peak\n1,2\n"), Err(ObservationsError::MissingColumn("T")));
        assert_eq!(read_csv("T,L\n1,2\n"), Err(ObservationsError::MissingColumn("peak")));
        assert_eq!(read_csv("T,L,peak\n"), Err(ObservationsError::Empty));
        assert!(matches!(read_csv("T,L,peak\n1,2\n"), Err(ObservationsError::Csv(_))));
        let twice = read_csv("T,L,peak,peak_bytes\n1,2,3,4\n");
        assert!(matches!(twice, Err(ObservationsError::Twice(..))));
    }

    #[test]
    fn a_chunk_that_died_where_a_larger_one_passed_is_reported() {
        let text = "T,L,outcome,limit\n1024,100k,oom,3 GB\n2048,200k,ok,3 GB\n";
        let read = read_csv(text).unwrap();
        let found = contradictions(&read.rows, LMeans::Context);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("line 2: oom at T=1024 L=100000, but line 3 passed"));
        assert!(contradictions(&read_csv(BOOTS).unwrap().rows, LMeans::Context).is_empty());
    }
}
