//! Files of observations: CSV, JSON lines and parquet.
//!
//! In go the bytes of a file; out comes a table of text cells, which `records` reads the same way
//! whatever the format was. The format is told from the contents, not from the name.

use std::io::Cursor;

use polars::prelude::{AnyValue, ParquetReader, SerReader};

use super::records::rows_of;
use super::{Observations, ObservationsError};
use crate::files::decoded;
use crate::text::clipped;

/// First bytes of every parquet file.
const PARQUET: &[u8] = b"PAR1";
/// Columns that only the profile of a run has.
const OF_A_RUN: [&str; 3] = ["op", "kernel", "peak_bytes"];
/// What other programs separate columns by.
const SEPARATORS: [(char, &str); 3] = [(';', "semicolons"), ('\t', "tabs"), ('|', "bars")];
/// Said of a JSON array.
const ARRAY: &str = "this begins an array; write one object a line, without brackets or commas";
/// Most characters of another library's message.
const MOST_SAID: usize = 300;

/// A table as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Column names.
    pub header: Vec<String>,
    /// Line of the file (row of a parquet file), from 1, and cells.
    pub rows: Vec<(u64, Vec<String>)>,
}

/// Reads observations in any of the formats.
///
/// # Errors
/// Contents of none of the formats, a missing column, or no rows. Bad cells are not errors: they
/// are in [`Observations::rejected`].
pub fn read(bytes: &[u8]) -> Result<Observations, ObservationsError> {
    if bytes.starts_with(PARQUET) {
        return rows_of(&parquet(bytes)?);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ObservationsError::Binary)?;
    let first = text.trim_start_matches('\u{feff}').trim_start();
    if first.starts_with('[') {
        return Err(ObservationsError::Json { line: 1, message: ARRAY.to_owned() });
    }
    if first.starts_with('{') { rows_of(&json_lines(text)?) } else { read_csv(text) }
}

/// Reads observations from the text of a CSV file.
///
/// # Errors
/// As [`read`].
pub fn read_csv(text: &str) -> Result<Observations, ObservationsError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let csv_error = |e: csv::Error| ObservationsError::Csv(clipped(&e.to_string(), MOST_SAID));
    let header: Vec<String> =
        reader.headers().map_err(csv_error)?.iter().map(str::to_owned).collect();
    if let [only] = &header[..] {
        let named = SEPARATORS.iter().find(|(mark, _)| only.contains(*mark));
        if let Some((_, name)) = named {
            return Err(ObservationsError::Separator(name));
        }
    }
    let mut table = Table { header, rows: Vec::new() };
    for record in reader.records() {
        let record = record.map_err(csv_error)?;
        let line = record.position().map_or(0, csv::Position::line);
        table.rows.push((line, record.iter().map(str::to_owned).collect()));
    }
    rows_of(&table)
}

fn json_lines(text: &str) -> Result<Table, ObservationsError> {
    let mut table = Table::default();
    for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        if text.trim().is_empty() {
            continue;
        }
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text)
            .map_err(|e| ObservationsError::Json {
                line,
                message: clipped(&e.to_string(), MOST_SAID),
            })?;
        let mut cells = vec![String::new(); table.header.len()];
        for (name, value) in object {
            let cell = match value {
                serde_json::Value::Null => String::new(),
                serde_json::Value::String(text) => text,
                other => other.to_string(),
            };
            match table.header.iter().position(|header| *header == name) {
                Some(i) => cells[i] = cell,
                None => {
                    table.header.push(name);
                    cells.push(cell);
                }
            }
        }
        table.rows.push((line, cells));
    }
    Ok(table)
}

fn parquet(bytes: &[u8]) -> Result<Table, ObservationsError> {
    let error = |e: polars::error::PolarsError| {
        ObservationsError::Parquet(clipped(&e.to_string(), MOST_SAID))
    };
    let frame = decoded(|| ParquetReader::new(Cursor::new(bytes)).finish());
    let damaged = || ObservationsError::Parquet("its metadata contradict themselves".to_owned());
    let frame = frame.ok_or_else(damaged)?.map_err(error)?;
    let header: Vec<String> =
        frame.get_column_names().iter().map(|name| name.to_string()).collect();
    if OF_A_RUN.iter().all(|name| header.iter().any(|column| column == name)) {
        return Err(ObservationsError::Profile);
    }
    let mut table = Table { header, rows: Vec::new() };
    for row in 0..frame.height() {
        let mut cells = Vec::with_capacity(table.header.len());
        for column in frame.columns() {
            cells.push(match column.get(row).map_err(error)? {
                AnyValue::Null => String::new(),
                AnyValue::String(text) => text.to_owned(),
                AnyValue::StringOwned(text) => text.to_string(),
                other => other.to_string(),
            });
        }
        table.rows.push((row as u64 + 1, cells));
    }
    Ok(table)
}
