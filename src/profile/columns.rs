//! The columns of `profile.parquet`: names, types, units, and the way to a [`Point`] and back.
//!
//! One table, [`COLUMNS`], names every column; encoding and decoding follow it. The file's
//! key-value metadata holds the schema name, each column's unit and the subject of the profile.

use std::io::Cursor;
use std::path::Path;

use polars::prelude::{
    DataFrame, DataType, IntoColumn as _, KeyValueMetadata, NamedFrom as _, ParquetCompression,
    ParquetReader, ParquetWriter, PolarsError, SerReader as _, Series,
};

use super::{MAX_TIME_US, Op, Outcome, Point};
use crate::files::FileError;

/// Schema of `profile.parquet`, in its key-value metadata under `chunktune.schema`.
pub const SCHEMA: &str = "chunktune/profile/v1";

const SCHEMA_KEY: &str = "chunktune.schema";
const SUBJECT_KEY: &str = "chunktune.subject";
const UNIT_KEY: &str = "chunktune.unit.";

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// Unsigned, 64 bits.
    Integer,
    /// IEEE double.
    Real,
    /// True or false.
    Flag,
}

impl ColumnType {
    fn polars(self) -> DataType {
        match self {
            ColumnType::Text => DataType::String,
            ColumnType::Integer => DataType::UInt64,
            ColumnType::Real => DataType::Float64,
            ColumnType::Flag => DataType::Boolean,
        }
    }
}

/// A column of `profile.parquet`.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Name; that of the field of [`Point`].
    pub name: &'static str,
    /// Type.
    pub kind: ColumnType,
    /// Unit; `1` for counts and names.
    pub unit: &'static str,
    /// Whether a row may leave it empty.
    pub nullable: bool,
    /// Meaning.
    pub meaning: &'static str,
}

const fn column(
    name: &'static str,
    kind: ColumnType,
    unit: &'static str,
    nullable: bool,
    meaning: &'static str,
) -> Column {
    Column { name, kind, unit, nullable, meaning }
}

use ColumnType::{Flag, Integer, Real, Text};

/// Every column, in file order.
pub const COLUMNS: &[Column] = &[
    column("op", Text, "1", false, "gemm, absorb_bmm or indexer"),
    column("kernel", Text, "1", false, "manifest kernel id, or the indexer pipeline"),
    column("variant", Text, "1", false, "even, ragged_wrap, ragged_buffer, or the pipeline"),
    column("shape", Text, "1", false, "name of the shape in the model"),
    column("dtype", Text, "1", false, "input element type"),
    column("block_m", Integer, "rows", true, "tile rows"),
    column("block_n", Integer, "columns", true, "tile columns"),
    column("block_k", Integer, "elements", true, "tile depth"),
    column("b", Integer, "1", true, "batch (heads per rank for absorb)"),
    column("m", Integer, "rows", true, "GEMM rows"),
    column("n", Integer, "columns", true, "GEMM columns"),
    column("k", Integer, "elements", true, "GEMM depth"),
    column("t", Integer, "tokens", true, "rows of the chunk"),
    column("l", Integer, "tokens", true, "prefix before the chunk"),
    column("ratio", Integer, "tokens/key", true, "tokens per indexer key"),
    column("heads", Integer, "1", true, "indexer heads"),
    column("topk", Integer, "1", true, "indexer top-k"),
    column("outcome", Text, "1", false, "ok, oom, guard, fault, hang or error"),
    column("message", Text, "1", true, "diagnosis when the outcome is not ok"),
    column("time_us", Real, "us", true, "median time"),
    column("time_lo_us", Real, "us", true, "lower end of the 95% interval of the median"),
    column("time_hi_us", Real, "us", true, "upper end of the 95% interval of the median"),
    column("samples", Integer, "1", false, "timed samples"),
    column("peak_bytes", Integer, "bytes", true, "peak of live transient bytes"),
    column("instructions", Integer, "wave64 instructions", true, "whole grid, simulated only"),
    column("cycles", Integer, "core cycles", true, "simulated only"),
    column("deployed", Flag, "1", false, "the kernel is the one the serving engine deploys"),
    column("kernel_sha256", Text, "1", true, "SHA-256 of the code object"),
];

/// The cells of one column, in row order.
enum Cells {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<u64>>),
    Real(Vec<Option<f64>>),
    Flag(Vec<Option<bool>>),
}

fn text(points: &[Point], get: impl Fn(&Point) -> Option<&str>) -> Cells {
    Cells::Text(points.iter().map(|p| get(p).map(str::to_owned)).collect())
}

fn integer(points: &[Point], get: impl Fn(&Point) -> Option<u64>) -> Cells {
    Cells::Integer(points.iter().map(get).collect())
}

fn real(points: &[Point], get: impl Fn(&Point) -> Option<f64>) -> Cells {
    Cells::Real(points.iter().map(get).collect())
}

/// The cells of every column, in the order of [`COLUMNS`].
fn cells(p: &[Point]) -> Vec<Cells> {
    vec![
        text(p, |p| Some(p.op.name())),
        text(p, |p| Some(&p.kernel)),
        text(p, |p| Some(&p.variant)),
        text(p, |p| Some(&p.shape)),
        text(p, |p| Some(&p.dtype)),
        integer(p, |p| p.block_m.map(u64::from)),
        integer(p, |p| p.block_n.map(u64::from)),
        integer(p, |p| p.block_k.map(u64::from)),
        integer(p, |p| p.b),
        integer(p, |p| p.m),
        integer(p, |p| p.n),
        integer(p, |p| p.k),
        integer(p, |p| p.t),
        integer(p, |p| p.l),
        integer(p, |p| p.ratio.map(u64::from)),
        integer(p, |p| p.heads.map(u64::from)),
        integer(p, |p| p.topk.map(u64::from)),
        text(p, |p| Some(p.outcome.name())),
        text(p, |p| p.message.as_deref()),
        real(p, |p| p.time_us),
        real(p, |p| p.time_lo_us),
        real(p, |p| p.time_hi_us),
        integer(p, |p| Some(u64::from(p.samples))),
        integer(p, |p| p.peak_bytes),
        integer(p, |p| p.instructions),
        integer(p, |p| p.cycles),
        Cells::Flag(p.iter().map(|p| Some(p.deployed)).collect()),
        text(p, |p| p.kernel_sha256.as_deref()),
    ]
}

/// Encodes `points` as parquet; the same points always give the same bytes.
pub(super) fn encode(path: &Path, points: &[Point], subject: &str) -> Result<Vec<u8>, FileError> {
    let failed = |e: PolarsError| FileError::Encode {
        path: path.to_owned(),
        format: "parquet",
        detail: e.to_string(),
    };
    let columns = COLUMNS
        .iter()
        .zip(cells(points))
        .map(|(column, cells)| {
            let name = column.name.into();
            match cells {
                Cells::Text(values) => Series::new(name, values),
                Cells::Integer(values) => Series::new(name, values),
                Cells::Real(values) => Series::new(name, values),
                Cells::Flag(values) => Series::new(name, values),
            }
            .into_column()
        })
        .collect();
    let mut frame = DataFrame::new(points.len(), columns).map_err(failed)?;
    let mut metadata = vec![
        (SCHEMA_KEY.to_owned(), SCHEMA.to_owned()),
        (SUBJECT_KEY.to_owned(), subject.to_owned()),
    ];
    metadata.extend(COLUMNS.iter().map(|c| (format!("{UNIT_KEY}{}", c.name), c.unit.to_owned())));
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_compression(ParquetCompression::Zstd(None))
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(metadata)))
        .set_parallel(false)
        .finish(&mut frame)
        .map_err(failed)?;
    Ok(bytes)
}

/// Decodes and checks a table; gives the points and the subject that it records.
pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<(Vec<Point>, String), FileError> {
    let malformed = |e: PolarsError| FileError::Malformed {
        path: path.to_owned(),
        format: "parquet",
        detail: e.to_string(),
    };
    let mut reader = ParquetReader::new(Cursor::new(bytes));
    let metadata = reader.get_metadata().map_err(malformed)?.key_value_metadata.clone();
    let lookup = |key: &str| {
        metadata.iter().flatten().find(|kv| kv.key == key).and_then(|kv| kv.value.clone())
    };
    let schema = lookup(SCHEMA_KEY);
    if schema.as_deref() != Some(SCHEMA) {
        let found = schema.map_or("no such entry".to_owned(), |s| format!("`{s}`"));
        return Err(FileError::field(
            path,
            &format!("metadata {SCHEMA_KEY}"),
            format!("`{SCHEMA}`"),
            found,
        ));
    }
    for column in COLUMNS {
        let unit = lookup(&format!("{UNIT_KEY}{}", column.name));
        if unit.as_deref() != Some(column.unit) {
            let found = unit.map_or("no unit".to_owned(), |u| format!("`{u}`"));
            let expected = format!("the unit `{}`", column.unit);
            return Err(FileError::field(path, column.name, expected, found));
        }
    }
    let subject = lookup(SUBJECT_KEY).unwrap_or_default();
    let frame = reader.finish().map_err(malformed)?;
    let table = Table { path, columns: read_columns(path, &frame)? };
    let points = (0..frame.height()).map(|row| table.point(row)).collect::<Result<_, _>>()?;
    Ok((points, subject))
}

fn read_columns(path: &Path, frame: &DataFrame) -> Result<Vec<Cells>, FileError> {
    COLUMNS
        .iter()
        .map(|column| {
            let expected = || format!("a column of type {}", column.kind.polars());
            let series = frame
                .column(column.name)
                .map_err(|_| FileError::field(path, column.name, expected(), "no such column"))?
                .as_materialized_series();
            let wrong = |_| {
                FileError::field(path, column.name, expected(), format!("type {}", series.dtype()))
            };
            Ok(match column.kind {
                Text => Cells::Text(
                    series.str().map_err(wrong)?.iter().map(|v| v.map(str::to_owned)).collect(),
                ),
                Integer => Cells::Integer(series.u64().map_err(wrong)?.iter().collect()),
                Real => Cells::Real(series.f64().map_err(wrong)?.iter().collect()),
                Flag => Cells::Flag(series.bool().map_err(wrong)?.iter().collect()),
            })
        })
        .collect()
}

/// A decoded table, read by column name.
struct Table<'a> {
    path: &'a Path,
    columns: Vec<Cells>,
}

impl Table<'_> {
    fn cells(&self, name: &str) -> Option<&Cells> {
        self.columns.get(COLUMNS.iter().position(|c| c.name == name)?)
    }

    fn missing(&self, name: &str, row: usize) -> FileError {
        FileError::field(self.path, name, format!("a value in row {row}"), "none")
    }

    fn text(&self, name: &str, row: usize) -> Option<String> {
        match self.cells(name)? {
            Cells::Text(values) => values.get(row).cloned().flatten(),
            _ => None,
        }
    }

    fn integer(&self, name: &str, row: usize) -> Option<u64> {
        match self.cells(name)? {
            Cells::Integer(values) => values.get(row).copied().flatten(),
            _ => None,
        }
    }

    fn real(&self, name: &str, row: usize) -> Result<Option<f64>, FileError> {
        let value = match self.cells(name) {
            Some(Cells::Real(values)) => values.get(row).copied().flatten(),
            _ => None,
        };
        match value {
            Some(v) if !(v > 0.0 && v <= MAX_TIME_US) => Err(FileError::field(
                self.path,
                name,
                format!("microseconds above 0 and up to {MAX_TIME_US:e} in row {row}"),
                v.to_string(),
            )),
            value => Ok(value),
        }
    }

    fn flag(&self, name: &str, row: usize) -> Option<bool> {
        match self.cells(name)? {
            Cells::Flag(values) => values.get(row).copied().flatten(),
            _ => None,
        }
    }

    fn required_text(&self, name: &str, row: usize) -> Result<String, FileError> {
        self.text(name, row).ok_or_else(|| self.missing(name, row))
    }

    /// A 32-bit count.
    fn small(&self, name: &str, row: usize) -> Result<Option<u32>, FileError> {
        self.integer(name, row)
            .map(|v| {
                u32::try_from(v).map_err(|_| {
                    let expected = format!("at most {} in row {row}", u32::MAX);
                    FileError::field(self.path, name, expected, v.to_string())
                })
            })
            .transpose()
    }

    fn named<T: Copy>(
        &self,
        name: &str,
        row: usize,
        all: &[T],
        of: impl Fn(T) -> &'static str,
    ) -> Result<T, FileError> {
        let found = self.required_text(name, row)?;
        all.iter().copied().find(|v| of(*v) == found).ok_or_else(|| {
            let names: Vec<_> = all.iter().map(|v| of(*v)).collect();
            let expected = format!("one of {} in row {row}", names.join(", "));
            FileError::field(self.path, name, expected, format!("`{found}`"))
        })
    }

    fn point(&self, row: usize) -> Result<Point, FileError> {
        Ok(Point {
            op: self.named("op", row, Op::ALL, Op::name)?,
            kernel: self.required_text("kernel", row)?,
            variant: self.required_text("variant", row)?,
            shape: self.required_text("shape", row)?,
            dtype: self.required_text("dtype", row)?,
            block_m: self.small("block_m", row)?,
            block_n: self.small("block_n", row)?,
            block_k: self.small("block_k", row)?,
            b: self.integer("b", row),
            m: self.integer("m", row),
            n: self.integer("n", row),
            k: self.integer("k", row),
            t: self.integer("t", row),
            l: self.integer("l", row),
            ratio: self.small("ratio", row)?,
            heads: self.small("heads", row)?,
            topk: self.small("topk", row)?,
            outcome: self.named("outcome", row, Outcome::ALL, Outcome::name)?,
            message: self.text("message", row),
            time_us: self.real("time_us", row)?,
            time_lo_us: self.real("time_lo_us", row)?,
            time_hi_us: self.real("time_hi_us", row)?,
            samples: self.small("samples", row)?.ok_or_else(|| self.missing("samples", row))?,
            peak_bytes: self.integer("peak_bytes", row),
            instructions: self.integer("instructions", row),
            cycles: self.integer("cycles", row),
            deployed: self.flag("deployed", row).ok_or_else(|| self.missing("deployed", row))?,
            kernel_sha256: self.text("kernel_sha256", row),
        })
    }
}
