//! Standard output: colours only where wanted, and a reader that went away is not an error.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;
use serde::Serialize;

use crate::error::{Error, Result};
use crate::journal::FILE_NAME;
use crate::profile::{PROFILE_FILE, PROVENANCE_FILE};

/// Prints `text` and a line end.
///
/// # Errors
/// Status 7 when stdout cannot be written, except when its reader is gone: the files of a run are
/// still wanted then.
pub fn line(text: impl std::fmt::Display) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::output(Path::new("stdout"), error))
        }
        _ => Ok(()),
    }
}

/// Prints `value` as indented JSON.
///
/// # Errors
/// As [`line()`].
pub fn json(value: &impl Serialize) -> Result<()> {
    line(serde_json::to_string_pretty(value).map_err(Error::failed)?)
}

/// Refuses to write into the directory of a run files that did not come from it.
///
/// # Errors
/// Status 2 where `directory` holds a profile or a journal.
pub fn refuse_run(directory: &Path) -> Result<()> {
    match [PROFILE_FILE, FILE_NAME].iter().find(|f| directory.join(f).exists()) {
        None => Ok(()),
        Some(file) => Err(Error::usage(format_args!(
            "{} holds the {file} of a run, whose files this would replace",
            directory.display()
        ))
        .advice("give another directory with --out")),
    }
}

/// Makes the folder `directory` where there is none, and a file in it to see that it can be written.
///
/// # Errors
/// Status 7 where it cannot.
pub fn writable(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory)
        .and_then(|()| tempfile::tempfile_in(directory))
        .map(drop)
        .map_err(|error| Error::output(directory, error))
}

/// Refuses to write over what is read: one of `inputs`, or a file of a run that is one of them.
///
/// # Errors
/// Status 2 where `flag` names such a file.
pub fn refuse_inputs<'a>(
    flag: &str,
    path: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let Ok(place) = path.canonicalize() else {
        return Ok(());
    };
    let of_run = place.file_name().is_some_and(|name| {
        [PROFILE_FILE, PROVENANCE_FILE, FILE_NAME].iter().any(|file| name == *file)
    });
    let taken = |input: &Path| {
        input
            .canonicalize()
            .is_ok_and(|input| input == place || of_run && place.parent() == Some(input.as_path()))
    };
    if inputs.into_iter().any(taken) {
        let path = path.display();
        return Err(Error::usage(format_args!("{flag} {path} would replace what is read"))
            .advice("name another file"));
    }
    Ok(())
}

/// Names the files written.
///
/// # Errors
/// As [`line()`].
pub fn written(paths: &[PathBuf]) -> Result<()> {
    for path in paths {
        line(format_args!("wrote {}", path.display()))?;
    }
    Ok(())
}

/// Writes a line to stderr. A full disk behind a redirected stderr must not end a run, so a line
/// that cannot be written is dropped.
pub fn to_stderr(text: impl std::fmt::Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Warns on stderr.
pub fn warn(text: impl std::fmt::Display) {
    to_stderr(format_args!("{} {text}", "warning:".yellow().bold()));
}

/// Prints a line that is not the result: on stdout, or on stderr where stdout is to hold JSON.
///
/// # Errors
/// As [`line()`].
pub fn note(text: impl std::fmt::Display, json: bool) -> Result<()> {
    if json {
        to_stderr(text);
        return Ok(());
    }
    line(text)
}
