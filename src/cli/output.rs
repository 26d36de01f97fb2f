//! Standard output: colours only where wanted, and a reader that went away is not an error.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;
use serde::Serialize;

use crate::error::{Error, Result};

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

/// Warns on stderr.
pub fn warn(text: impl std::fmt::Display) {
    anstream::eprintln!("{} {text}", "warning:".yellow().bold());
}

/// Prints a line that is not the result: on stdout, or on stderr where stdout is to hold JSON.
///
/// # Errors
/// As [`line()`].
pub fn note(text: impl std::fmt::Display, json: bool) -> Result<()> {
    if json {
        anstream::eprintln!("{text}");
        return Ok(());
    }
    line(text)
}
