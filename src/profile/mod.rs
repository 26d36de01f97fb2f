//! A profile: what was measured, one [`Point`] a row, and where it came from.
//!
//! In go finished points and a [`Provenance`]; out come `profile.parquet` and `provenance.json`,
//! and the same values back after every check. The SHA-256 of the bytes of `profile.parquet` is
//! the profile's identity (`sha256sum profile.parquet` prints it): `provenance.json` and each
//! derived file carry it, and readers refuse files that do not belong together. Columns and units
//! are listed in [`COLUMNS`].

mod columns;
mod point;
mod provenance;

use std::path::{Path, PathBuf};

use crate::files::{self, FileError};

pub use columns::{COLUMNS, Column, ColumnType, SCHEMA};
pub use point::{Engine, MAX_TIME_US, Op, Outcome, Point};
pub use provenance::{PROVENANCE_SCHEMA, Provenance, Runtime, RuntimeKind, Simulator, utc_now};

/// Name of the table in an output directory.
pub const PROFILE_FILE: &str = "profile.parquet";
/// Name of the provenance in an output directory.
pub const PROVENANCE_FILE: &str = "provenance.json";

/// First and last bytes of every parquet file.
const PARQUET: &[u8] = b"PAR1";

/// Points and provenance, sealed with their hash.
#[derive(Clone, Debug)]
pub struct Profile {
    points: Vec<Point>,
    provenance: Provenance,
    encoded: Vec<u8>,
}

/// Why bytes are no parquet file, as far as both its ends tell.
fn no_parquet(bytes: &[u8]) -> Option<&'static str> {
    match (bytes.starts_with(PARQUET), bytes.ends_with(PARQUET) && bytes.len() > 2 * PARQUET.len())
    {
        (false, _) => Some("it does not begin as one"),
        (true, false) => Some("it does not end as one: it was cut short"),
        (true, true) => None,
    }
}

impl Profile {
    /// Seals `points`: encodes the table and records its hash in the provenance.
    ///
    /// # Errors
    /// Points the table cannot hold (the parquet encoder's words).
    pub fn new(points: Vec<Point>, mut provenance: Provenance) -> Result<Self, FileError> {
        let path = Path::new(PROFILE_FILE);
        let encoded = columns::encode(path, &points, &provenance.subject())?;
        provenance.profile_sha256 = files::sha256_hex(&encoded);
        provenance.points = points.len();
        Ok(Self { points, provenance, encoded })
    }

    /// The points, in the order in which they were measured.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Where the points come from.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// The profile's identity: SHA-256 of the bytes of `profile.parquet`, lower-case hex.
    pub fn sha256(&self) -> &str {
        &self.provenance.profile_sha256
    }

    /// Writes `profile.parquet` and `provenance.json` into `dir`, each atomically.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn write(&self, dir: &Path) -> Result<(), FileError> {
        files::write_atomic(&dir.join(PROFILE_FILE), &self.encoded)?;
        files::write_json(&dir.join(PROVENANCE_FILE), &self.provenance)
    }

    /// Reads a profile: `path` is its directory or its `profile.parquet`.
    ///
    /// # Errors
    /// A missing file, a table that is not the one `provenance.json` describes, or a wrong schema,
    /// column, type or unit: the message names file, field and what was expected.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let table = Self::table_path(path);
        let dir = table.parent().unwrap_or(Path::new("."));
        let provenance_path = dir.join(PROVENANCE_FILE);
        let encoded = files::read_bytes(&table)?;
        // Without a hash to compare, what is no table says more than the missing provenance.
        if let (false, Some(detail)) = (provenance_path.exists(), no_parquet(&encoded)) {
            let detail = detail.to_owned();
            return Err(FileError::Malformed { path: table, format: "parquet", detail });
        }
        let provenance: Provenance = files::read_json(&provenance_path, PROVENANCE_SCHEMA)?;
        // Compared before decoding, so that a damaged file is named as such and never parsed.
        let found = files::sha256_hex(&encoded);
        if provenance.profile_sha256 != found {
            return Err(FileError::field(
                &provenance_path,
                "profile_sha256",
                format!("`{found}` (the hash of {})", table.display()),
                format!(
                    "`{}`; one of the two files was changed or truncated",
                    provenance.profile_sha256
                ),
            ));
        }
        let decoded = files::decoded(|| columns::decode(&table, &encoded));
        let (points, subject) = decoded.unwrap_or_else(|| {
            let detail = "its metadata contradict themselves".to_owned();
            Err(FileError::Malformed { path: table.clone(), format: "parquet", detail })
        })?;
        if subject != provenance.subject() {
            return Err(FileError::field(
                &provenance_path,
                "engine, arch, device, model, tp, dp, cp",
                format!("`{subject}` (recorded in {})", table.display()),
                format!("`{}`", provenance.subject()),
            ));
        }
        Ok(Self { points, provenance, encoded })
    }

    /// The table's path for a directory or a file.
    pub fn table_path(path: &Path) -> PathBuf {
        if path.is_dir() { path.join(PROFILE_FILE) } else { path.to_owned() }
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
