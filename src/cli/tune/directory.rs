//! The output directory: a new one that holds nothing yet, or the one of the run to resume.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::journal;
use crate::options::Options;

/// Where the run writes.
#[derive(Debug)]
pub struct Directory {
    /// The directory; it exists.
    pub path: PathBuf,
    /// Whether it holds a journal to continue.
    pub resume: bool,
}

/// Highest number appended to the default name.
const MAX_RUNS: u32 = 9_999;

/// Creates the directory, or finds the one to resume.
///
/// # Errors
/// Status 2 for a directory in use or nothing to resume, 7 when it cannot be created.
pub fn prepare(options: &Options) -> Result<Directory> {
    let base = format!("chunktune-{}", options.arch);
    match (&options.out, options.resume) {
        (Some(path), true) => existing(path),
        (Some(path), false) => fresh(path),
        (None, true) => {
            let resumable = |path: &PathBuf| path.join(journal::FILE_NAME).is_file();
            match numbered(&base).take_while(|path| path.exists()).filter(resumable).last() {
                Some(path) => existing(&path),
                None => Err(Error::usage(format_args!("there is no {base} here to resume"))
                    .advice("name the directory of the interrupted run with --out")),
            }
        }
        (None, false) => match numbered(&base).find(|path| !path.exists()) {
            Some(path) => fresh(&path),
            None => Err(Error::usage(format_args!("{base} to {base}-{MAX_RUNS} all exist"))
                .advice("name another directory with --out")),
        },
    }
}

fn numbered(base: &str) -> impl Iterator<Item = PathBuf> {
    let rest = (2..=MAX_RUNS).map(move |number| PathBuf::from(format!("{base}-{number}")));
    std::iter::once(PathBuf::from(base)).chain(rest)
}

fn existing(path: &Path) -> Result<Directory> {
    if path.join(journal::FILE_NAME).is_file() {
        return Ok(Directory { path: path.to_owned(), resume: true });
    }
    Err(Error::usage(format_args!("{} holds no {} to resume", path.display(), journal::FILE_NAME))
        .advice("start the run without --resume"))
}

fn fresh(path: &Path) -> Result<Directory> {
    if path.exists() && !path.is_dir() {
        return Err(Error::output(path, "it is no directory")
            .advice("name a new or empty directory with --out"));
    }
    std::fs::create_dir_all(path).map_err(|error| Error::output(path, error))?;
    let mut entries = std::fs::read_dir(path).map_err(|error| Error::output(path, error))?;
    if entries.next().is_none() {
        return Ok(Directory { path: path.to_owned(), resume: false });
    }
    let advice = if path.join(journal::FILE_NAME).is_file() {
        "add --resume to continue that run, or name another directory with --out"
    } else {
        "name a new or empty directory with --out"
    };
    Err(Error::usage(format_args!("{} is not empty", path.display())).advice(advice))
}
