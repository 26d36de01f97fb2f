//! The run's journal: one JSON line a finished point, on disk before the next point starts, so that
//! a killed run loses at most the point in flight. A run key (what was asked, of which kernels, on
//! which device) goes in at the start; on `--resume` the key must match and the finished points
//! come out.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::profile::{MAX_TIME_US, Point};
use crate::text::quoted;

/// Name of the journal in the output directory.
pub const FILE_NAME: &str = "journal.jsonl";

const SCHEMA: &str = "chunktune/journal/v1";

/// What must agree for a journal to be continued. Every value is compared as text, field by field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunKey(pub BTreeMap<String, String>);

/// Why a journal cannot be written or continued.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Another process holds the journal.
    #[error("{}: another tune is writing here", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// Nothing to resume.
    #[error("{}: there is no journal to resume", path.display())]
    Missing {
        /// The journal.
        path: PathBuf,
    },
    /// A line that is not the last cannot be read.
    #[error("{}: line {line} is corrupt: {why}", path.display())]
    Corrupt {
        /// The journal.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The journal belongs to another run.
    #[error(
        "{}: was written with {field} = {}, this run has {}",
        path.display(), quoted(found), quoted(expected)
    )]
    Key {
        /// The journal.
        path: PathBuf,
        /// First field that differs.
        field: String,
        /// What the journal has.
        found: String,
        /// What this run has.
        expected: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    journal: String,
    key: RunKey,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    case: String,
    point: Point,
}

/// An open journal, locked against a second writer.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Finished points by the name of their case.
pub type Finished = BTreeMap<String, Point>;

impl Journal {
    /// Starts a journal in `directory`.
    ///
    /// # Errors
    /// When another process was faster, or the file cannot be written.
    pub fn create(directory: &Path, key: &RunKey) -> Result<Self, JournalError> {
        let path = directory.join(FILE_NAME);
        let opened = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = opened.map_err(|source| match source.kind() {
            // The directory was empty a moment ago.
            std::io::ErrorKind::AlreadyExists => JournalError::Busy { path: path.clone() },
            _ => JournalError::Io { path: path.clone(), source },
        })?;
        let mut journal = Self::locked(path, file)?;
        journal.write(&Header { journal: SCHEMA.into(), key: key.clone() })?;
        Ok(journal)
    }

    /// Continues the journal in `directory`. A last line cut short by a crash is dropped; where that
    /// is this run's first line, the journal starts over.
    ///
    /// # Errors
    /// When there is none, it belongs to another run, is corrupt before its last line, or is
    /// locked.
    pub fn resume(directory: &Path, key: &RunKey) -> Result<(Self, Finished), JournalError> {
        let path = directory.join(FILE_NAME);
        let opened = OpenOptions::new().read(true).write(true).open(&path);
        let file = opened.map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => JournalError::Missing { path: path.clone() },
            _ => JournalError::Io { path: path.clone(), source },
        })?;
        let mut journal = Self::locked(path, file)?;
        let finished = journal.read(key)?;
        Ok((journal, finished))
    }

    /// Appends a finished point and waits until it is on disk.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, case: &str, point: &Point) -> Result<(), JournalError> {
        self.write(&Entry { case: case.into(), point: point.clone() })
    }

    fn locked(path: PathBuf, file: File) -> Result<Self, JournalError> {
        match file.try_lock() {
            Ok(()) => Ok(Self { path, file }),
            Err(TryLockError::WouldBlock) => Err(JournalError::Busy { path }),
            Err(TryLockError::Error(source)) => Err(JournalError::Io { path, source }),
        }
    }

    fn io(&self, source: std::io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), source }
    }

    /// A line of the journal, with its end.
    fn line(&self, value: &impl Serialize) -> Result<Vec<u8>, JournalError> {
        let mut text = serde_json::to_vec(value).map_err(|e| self.io(e.into()))?;
        text.push(b'\n');
        Ok(text)
    }

    fn write(&mut self, value: &impl Serialize) -> Result<(), JournalError> {
        let text = self.line(value)?;
        let written = self.file.write_all(&text).and_then(|()| self.file.sync_data());
        written.map_err(|source| self.io(source))
    }

    /// Reads all whole lines and leaves the file ready to append after them.
    fn read(&mut self, key: &RunKey) -> Result<Finished, JournalError> {
        let mut finished = Finished::new();
        let mut whole = 0u64;
        let mut line = Vec::new();
        let mut number = 0;
        let mut reader = BufReader::new(&self.file);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(|source| self.io(source))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            number += 1;
            let corrupt =
                |why: String| JournalError::Corrupt { path: self.path.clone(), line: number, why };
            if number == 1 {
                let header: Header =
                    serde_json::from_slice(&line).map_err(|e| corrupt(e.to_string()))?;
                self.check(&header, key)?;
            } else {
                let entry: Entry =
                    serde_json::from_slice(&line).map_err(|e| corrupt(e.to_string()))?;
                let mut times =
                    [entry.point.time_us, entry.point.time_lo_us, entry.point.time_hi_us]
                        .into_iter()
                        .flatten();
                if let Some(time) = times.find(|t| !(*t > 0.0 && *t <= MAX_TIME_US)) {
                    return Err(corrupt(format!("{time} us is not a time that was measured")));
                }
                finished.insert(entry.case, entry.point);
            }
            whole += read as u64;
        }
        drop(reader);
        let header = Header { journal: SCHEMA.into(), key: key.clone() };
        if number == 0 && !self.line(&header)?.starts_with(&line) {
            let why = "it ends in the middle of the line, which is not this run's".into();
            return Err(JournalError::Corrupt { path: self.path.clone(), line: 1, why });
        }
        let cut = self.file.set_len(whole).and_then(|()| self.file.seek(SeekFrom::End(0)));
        cut.map_err(|source| self.io(source))?;
        if number == 0 {
            self.write(&header)?;
        }
        Ok(finished)
    }

    fn check(&self, header: &Header, key: &RunKey) -> Result<(), JournalError> {
        let differs = |field: &str, found: &str, expected: &str| JournalError::Key {
            path: self.path.clone(),
            field: field.into(),
            found: found.into(),
            expected: expected.into(),
        };
        if header.journal != SCHEMA {
            return Err(differs("journal", &header.journal, SCHEMA));
        }
        for field in key.0.keys().chain(header.key.0.keys()) {
            let found = header.key.0.get(field).map_or("nothing", String::as_str);
            let expected = key.0.get(field).map_or("nothing", String::as_str);
            if found != expected {
                return Err(differs(field, found, expected));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Op, Outcome};

    fn key(device: &str) -> RunKey {
        RunKey([("device".to_string(), device.to_string())].into())
    }

    fn point(m: u64) -> Point {
        let blank = Point::new(Op::Gemm, "gemm", "even", "o_proj", "bf16");
        Point { m: Some(m), outcome: Outcome::Ok, time_us: Some(0.1 + 0.2), ..blank }
    }

    #[test]
    fn finished_points_come_back_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), &key("gfx950")).unwrap();
        journal.append("a", &point(1)).unwrap();
        journal.append("b", &point(2)).unwrap();
        drop(journal);
        let (_, finished) = Journal::resume(dir.path(), &key("gfx950")).unwrap();
        assert_eq!(finished, Finished::from([("a".into(), point(1)), ("b".into(), point(2))]));
    }

    #[test]
    fn a_line_cut_short_is_dropped_and_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), &key("gfx950")).unwrap();
        journal.append("a", &point(1)).unwrap();
        journal.append("b", &point(2)).unwrap();
        drop(journal);
        let path = dir.path().join(FILE_NAME);
        let length = std::fs::metadata(&path).unwrap().len();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(length - 7).unwrap();
        let (mut journal, finished) = Journal::resume(dir.path(), &key("gfx950")).unwrap();
        assert_eq!(finished.into_keys().collect::<Vec<_>>(), ["a"]);
        journal.append("c", &point(3)).unwrap();
        drop(journal);
        let (_, finished) = Journal::resume(dir.path(), &key("gfx950")).unwrap();
        assert_eq!(finished.into_keys().collect::<Vec<_>>(), ["a", "c"]);
    }

    #[test]
    fn another_runs_journal_is_refused_with_the_field_that_differs() {
        let dir = tempfile::tempdir().unwrap();
        drop(Journal::create(dir.path(), &key("gfx942")).unwrap());
        let message = Journal::resume(dir.path(), &key("gfx950")).unwrap_err().to_string();
        assert!(message.contains("device = gfx942, this run has gfx950"), "{message}");
    }

    #[test]
    fn a_journal_cut_in_its_first_line_starts_over_if_it_is_this_runs() {
        let whole = {
            let dir = tempfile::tempdir().unwrap();
            drop(Journal::create(dir.path(), &key("gfx950")).unwrap());
            std::fs::read(dir.path().join(FILE_NAME)).unwrap()
        };
        for length in [0, 1, 20, whole.len() - 1] {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(FILE_NAME), &whole[..length]).unwrap();
            let (mut journal, finished) = Journal::resume(dir.path(), &key("gfx950")).unwrap();
            assert!(finished.is_empty());
            journal.append("a", &point(1)).unwrap();
            drop(journal);
            let (_, finished) = Journal::resume(dir.path(), &key("gfx950")).unwrap();
            assert_eq!(finished.into_keys().collect::<Vec<_>>(), ["a"], "{length}");
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(FILE_NAME), "precious notes").unwrap();
        let error = Journal::resume(dir.path(), &key("gfx950")).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { line: 1, .. }));
        let left = std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap();
        assert_eq!(left, "precious notes");
    }

    #[test]
    fn the_slower_of_two_new_runs_is_told_that_the_directory_is_busy() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Journal::create(dir.path(), &key("gfx950")).unwrap();
        let second = Journal::create(dir.path(), &key("gfx950"));
        assert!(matches!(second, Err(JournalError::Busy { .. })));
    }

    #[test]
    fn a_second_writer_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let _first = Journal::create(dir.path(), &key("gfx950")).unwrap();
        let second = Journal::resume(dir.path(), &key("gfx950"));
        assert!(matches!(second, Err(JournalError::Busy { .. })));
    }

    #[test]
    fn a_corrupt_middle_line_is_named_and_nothing_is_damaged() {
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), &key("gfx950")).unwrap();
        journal.append("a", &point(1)).unwrap();
        drop(journal);
        let path = dir.path().join(FILE_NAME);
        let text = std::fs::read_to_string(&path).unwrap().replace("gemm", "ge\"mm") + "{}\n";
        std::fs::write(&path, &text).unwrap();
        let error = Journal::resume(dir.path(), &key("gfx950")).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { line: 2, .. }));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
