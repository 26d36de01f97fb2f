//! From a table of text cells to observations.
//!
//! In goes a header and rows with their line numbers; out come [`Observations`], with the cells
//! that make no sense named by line and column.

use std::collections::BTreeMap;
use std::str::FromStr;

use super::readers::Table;
use super::{CellError, LMeans, Observation, Observations, ObservationsError};
use crate::options::MAX_TOKENS;
use crate::profile::Outcome;
use crate::text::quoted;
use crate::units::{Bytes, Tokens};

/// Columns that the reader knows, with the spellings accepted for them.
const KNOWN: &[(&str, &[&str])] = &[
    ("T", &["t"]),
    ("L", &["l", "prefix", "context"]),
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

/// Least peak that is taken for one: a smaller figure has lost its unit.
const LEAST_PEAK: u64 = 1024;

/// The rows of a table.
///
/// # Errors
/// A missing column, two of the same meaning, or no rows. Bad cells are not errors: they are in
/// [`Observations::rejected`].
pub fn rows_of(table: &Table) -> Result<Observations, ObservationsError> {
    let mut at: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut unknown = Vec::new();
    let mut l_means = None;
    for (i, header) in table.header.iter().enumerate() {
        let header = header.trim_start_matches('\u{feff}').trim();
        let name = header.to_ascii_lowercase();
        match KNOWN.iter().find(|(_, spellings)| spellings.contains(&name.as_str())) {
            Some((known, _)) => {
                if let Some(first) = at.insert(known, i) {
                    let first = table.header[first].clone();
                    return Err(ObservationsError::Twice(quoted(&first), quoted(header)));
                }
                match name.as_str() {
                    "prefix" => l_means = Some(LMeans::Prefix),
                    "context" => l_means = Some(LMeans::Context),
                    _ => {}
                }
            }
            None => unknown.push((i, header.to_owned())),
        }
    }
    if let Some(missing) = missing(&at) {
        return Err(ObservationsError::MissingColumn(missing));
    }
    let mut out = Observations::default();
    for (line, record) in &table.rows {
        let cells = Cells { record, at: &at, line: *line };
        match observation(&cells, &unknown, l_means) {
            Ok(row) => out.rows.push(row),
            Err(error) => out.rejected.push(error),
        }
    }
    if out.rows.is_empty() && out.rejected.is_empty() {
        return Err(ObservationsError::Empty);
    }
    Ok(out)
}

/// The column that a table needs and lacks. Memory needs both lengths; a time says something of a
/// chunk without a prefix, or of a prompt in unknown chunks.
fn missing(at: &BTreeMap<&'static str, usize>) -> Option<&'static str> {
    let has = |column: &&str| at.contains_key(*column);
    let timed = ["tok_s", "time_us"].iter().any(&has);
    let lengths = ["T", "L"];
    match lengths.iter().find(|column| !has(column)) {
        Some(column) if !timed || !lengths.iter().any(&has) => Some(column),
        _ if timed || ["peak", "outcome"].iter().any(has) => None,
        _ => Some("peak"),
    }
}

/// One record, read by column.
struct Cells<'a> {
    record: &'a [String],
    at: &'a BTreeMap<&'static str, usize>,
    line: u64,
}

impl Cells<'_> {
    fn text(&self, column: &str) -> &str {
        self.at.get(column).and_then(|i| self.record.get(*i)).map_or("", |cell| cell.trim())
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

fn observation(
    cells: &Cells<'_>,
    unknown: &[(usize, String)],
    l_means: Option<LMeans>,
) -> Result<Observation, CellError> {
    let t = cells.length("T")?;
    if t == Some(Tokens(0)) {
        return Err(cells.error("T", "a chunk has at least one row"));
    }
    let peak = cells.parse::<Bytes>("peak")?;
    if peak == Some(Bytes(0)) {
        return Err(cells.error("peak", "a peak of 0 bytes is not a measurement; leave it empty"));
    }
    if let Some(peak) = peak.filter(|peak| peak.0 < LEAST_PEAK) {
        let message = format!("a peak of {peak} is no chunk's; is the unit missing?");
        return Err(cells.error("peak", message));
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
        l_means,
        ratio: cells.count("ratio")?,
        cp_size: cells.count("cp_size")?,
        peak,
        free: cells.parse("free")?,
        guard: cells.parse("guard")?,
        limit: cells.parse("limit")?,
        stated: false,
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
