//! Reading and writing the files of an output directory.
//!
//! In go paths and values; out come files that are either complete or absent (a write goes to a
//! temporary file in the same directory and is renamed), and values whose `schema` field was
//! checked. Every error names the file, the field where there is one, and what was expected.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::text::clipped;

/// What some editors put before the text of a file.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why a file could not be written, read or believed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("{}: {action} failed: {source}", path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The contents are not what the reader needs.
    #[error("{}: field `{field}`: expected {expected}, found {}", path.display(), clipped(found, 200))]
    Field {
        /// File.
        path: PathBuf,
        /// Column or JSON field.
        field: String,
        /// What the reader needs.
        expected: String,
        /// What the file holds.
        found: String,
    },
    /// The file cannot be parsed at all.
    #[error("{}: not readable as {format}: {}", path.display(), clipped(detail, 400))]
    Malformed {
        /// File.
        path: PathBuf,
        /// The format expected.
        format: &'static str,
        /// The parser's words.
        detail: String,
    },
    /// Two files that must belong together do not.
    #[error(
        "{}: it belongs to the profile {found}, but the profile beside it is {expected}; \
         derive it again from this profile", path.display()
    )]
    OtherProfile {
        /// The derived file.
        path: PathBuf,
        /// Hash of the profile at hand.
        expected: String,
        /// Hash that the file carries.
        found: String,
    },
    /// The value cannot be represented in the format.
    #[error("{}: cannot be written as {format}: {detail}", path.display())]
    Encode {
        /// File.
        path: PathBuf,
        /// The format.
        format: &'static str,
        /// The encoder's words.
        detail: String,
    },
}

impl FileError {
    /// An input/output error on `path`.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        FileError::Io { path: path.to_owned(), action, source }
    }

    /// A field of `path` that is not as expected.
    pub fn field(
        path: &Path,
        field: &str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        FileError::Field {
            path: path.to_owned(),
            field: field.to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// Lower-case hex SHA-256 of `bytes`.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes `bytes` to `path` so that a reader sees the old file or the whole new one.
///
/// # Errors
/// Whatever the file system answers, with the path.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = NewFile::create(path)?;
    file.write(bytes)?;
    file.finish()
}

/// A file in the making: it takes its place when it is whole, and leaves no trace when it is
/// dropped before. What is no regular file, such as a pipe or `/dev/null`, is written as it is.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    /// Where links lead to.
    place: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Beside(io::BufWriter<tempfile::NamedTempFile>),
    Stream(fs::File),
}

impl NewFile {
    /// Starts the file, and the directories to it.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        let new = |place: &Path, kind| Self { path: path.into(), place: place.into(), kind };
        if fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            let stream = fs::OpenOptions::new().write(true).open(path);
            let stream = stream.map_err(|e| FileError::io(path, "opening", e))?;
            return Ok(new(path, Kind::Stream(stream)));
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let dir = match place.parent() {
            Some(dir) if !dir.as_os_str().is_empty() => dir,
            _ => Path::new("."),
        };
        fs::create_dir_all(dir).map_err(|e| FileError::io(dir, "creating the directory", e))?;
        let file = tempfile::Builder::new().prefix(".chunktune-").suffix(".tmp").tempfile_in(dir);
        let file = file
            .map_err(|e| FileError::io(path, "creating a file in its directory", nameless(&e)))?;
        Ok(new(&place, Kind::Beside(io::BufWriter::new(file))))
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        match &mut self.kind {
            Kind::Beside(file) => file.write_all(bytes),
            Kind::Stream(stream) => stream.write_all(bytes),
        }
        .map_err(|e| FileError::io(&self.path, "writing", nameless(&e)))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// Whatever the file system answers, with the path.
    pub fn finish(self) -> Result<(), FileError> {
        let Self { path, place, kind } = self;
        let Kind::Beside(file) = kind else { return Ok(()) };
        let file = file.into_inner();
        let file = file.map_err(|e| FileError::io(&path, "writing", nameless(e.error())))?;
        set_default_permissions(&file)
            .map_err(|e| FileError::io(&path, "setting permissions", e))?;
        file.as_file().sync_all().map_err(|e| FileError::io(&path, "writing to disk", e))?;
        file.persist(place).map_err(|e| FileError::io(&path, "renaming into place", e.error))?;
        Ok(())
    }
}

/// The error without the name of the temporary file, which means nothing to anyone.
fn nameless(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// Temporary files are private by default; results are meant to be read by others.
fn set_default_permissions(file: &tempfile::NamedTempFile) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    }
    Ok(())
}

/// Reads all of `path`.
///
/// # Errors
/// Whatever the file system answers, with the path; a device such as `/dev/zero`, which may have no
/// end.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, FileError> {
    refuse_device(path).and_then(|()| fs::read(path)).map_err(|e| FileError::io(path, "reading", e))
}

/// Refuses what can be read only once, such as a pipe.
///
/// # Errors
/// Where `path` is no regular file, or there is none.
pub fn refuse_stream(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    if found.is_file() || found.is_dir() {
        return Ok(());
    }
    Err(io::Error::other("it is no regular file, and it is read more than once"))
}

/// Refuses a device such as `/dev/zero`, which may have no end.
///
/// # Errors
/// Where `path` is one.
pub fn refuse_device(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        let kind = fs::metadata(path).map(|found| found.file_type());
        if path != Path::new("/dev/null") && kind.is_ok_and(|kind| kind.is_char_device()) {
            return Err(io::Error::other("it is a device, not a file"));
        }
    }
    Ok(())
}

/// Runs a decoder of parquet, which asserts on bytes that contradict themselves; none where it did.
/// Its thread has the name by which the decoder's own threads are known, whose panics are not ours.
pub fn decoded<T: Send>(decode: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("polars-decode".to_owned());
        thread.spawn_scoped(scope, decode).ok()?.join().ok()
    })
}

/// Writes `value` as indented JSON with a final newline, atomically.
///
/// # Errors
/// A value JSON cannot hold, or the file system's answer.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), FileError> {
    write_atomic(path, json_text(path, value)?.as_bytes())
}

/// The text that [`write_json`] writes.
///
/// # Errors
/// A value JSON cannot hold; `path` is for the message.
pub fn json_text(path: &Path, value: &impl Serialize) -> Result<String, FileError> {
    let mut text = serde_json::to_string_pretty(value).map_err(|e| FileError::Encode {
        path: path.to_owned(),
        format: "JSON",
        detail: e.to_string(),
    })?;
    text.push('\n');
    Ok(text)
}

/// Reads JSON whose `schema` field must equal `schema`; unknown fields are ignored.
///
/// # Errors
/// Not JSON, another schema, or a field that is missing or of another type.
pub fn read_json<T: DeserializeOwned>(path: &Path, schema: &str) -> Result<T, FileError> {
    let read = read_bytes(path)?;
    let bytes = read.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&read);
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(|e| {
        FileError::Malformed { path: path.to_owned(), format: "JSON", detail: e.to_string() }
    })?;
    match value.get("schema").and_then(|s| s.as_str()) {
        Some(found) if found == schema => {}
        Some(found) => {
            return Err(FileError::field(
                path,
                "schema",
                format!("`{schema}`"),
                format!("`{found}`"),
            ));
        }
        None => {
            return Err(FileError::field(path, "schema", format!("`{schema}`"), "no such field"));
        }
    }
    // Parsing from the text again, not from the value, keeps line and column in the message.
    serde_json::from_slice(bytes).map_err(|e| FileError::Malformed {
        path: path.to_owned(),
        format: "a file of its schema",
        detail: e.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        schema: String,
        rows: u32,
    }

    #[test]
    fn sha256_matches_the_published_test_vector() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(
            sha256_hex(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn an_atomic_write_replaces_the_file_and_leaves_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join("a.txt");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(read_bytes(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_the_old_one_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write_atomic(&path, b"one").unwrap();
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"two").unwrap();
        drop(file);
        assert_eq!(read_bytes(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links_and_what_is_no_regular_file_is_written_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (target, link) = (dir.path().join("target"), dir.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        fs::write(&target, "old").unwrap();
        write_atomic(&link, b"new").unwrap();
        assert_eq!(read_bytes(&target).unwrap(), b"new");
        let null = dir.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        write_atomic(&null, b"gone").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::symlink_metadata(&null).unwrap().is_symlink());
        assert_eq!(read_bytes(Path::new("/dev/null")).unwrap(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn what_may_have_no_end_is_not_read() {
        let message = read_bytes(Path::new("/dev/zero")).unwrap_err().to_string();
        assert_eq!(message, "/dev/zero: reading failed: it is a device, not a file");
        assert!(read_bytes(Path::new("/dev/null")).unwrap().is_empty());
    }

    #[test]
    fn a_write_that_fails_names_the_file_and_not_the_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("taken");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("full"), "").unwrap();
        let beside = Path::new("/proc/self/a.txt");
        for path in [path.as_path(), beside] {
            let message = write_atomic(path, b"one").unwrap_err().to_string();
            assert!(message.starts_with(&path.display().to_string()), "{message}");
            assert!(!message.contains(".chunktune-"), "{message}");
        }
    }

    #[test]
    fn another_schema_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        write_json(&path, &Sample { schema: "chunktune/x/v2".into(), rows: 1 }).unwrap();
        let message = read_json::<Sample>(&path, "chunktune/x/v1").unwrap_err().to_string();
        assert!(message.contains("x.json"), "{message}");
        assert!(message.contains("`schema`"), "{message}");
        assert!(message.contains("`chunktune/x/v1`, found `chunktune/x/v2`"), "{message}");
    }

    #[test]
    fn truncated_and_mistyped_json_name_the_file_and_the_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        write_atomic(&path, b"{\"schema\": \"s\", \"ro").unwrap();
        assert!(matches!(read_json::<Sample>(&path, "s"), Err(FileError::Malformed { .. })));
        write_atomic(&path, b"{\"schema\": \"s\",\n \"rows\": \"many\"}").unwrap();
        let message = read_json::<Sample>(&path, "s").unwrap_err().to_string();
        assert!(message.contains("line 2"), "{message}");
    }
}
