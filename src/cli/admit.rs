//! `tune admit`: which requests SGLang's scheduler would admit, pass by pass.

use std::path::PathBuf;

use clap::Args;

use super::output;
use crate::error::{self, Error, Exit, Result};
use crate::plan::admission::oracle::Recording;

/// Differences that are printed; the rest is counted.
const SHOWN: usize = 20;

/// Arguments of `tune admit`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Recorded decisions of SGLang's own code to compare with.
    #[arg(long, value_name = "FILE.json")]
    oracle: PathBuf,
}

/// Compares and prints.
///
/// # Errors
/// Status 4 for a file that cannot be read.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let text = error::read_text(&arguments.oracle)?;
    let recording = Recording::parse(&text).map_err(|why| Error::format(&arguments.oracle, why))?;
    let found = recording.compare();
    for (name, count) in &found.counts {
        output::line(format_args!("{name:<12} {count}"))?;
    }
    output::line(format_args!("{:<12} {}", "mismatches", found.mismatches.len()))?;
    output::line(format_args!("{:<12} {}", "refused", found.refused.len()))?;
    for difference in found.mismatches.iter().chain(&found.refused).take(SHOWN) {
        output::line(format_args!("  {difference}"))?;
    }
    let clean = found.mismatches.is_empty() && found.refused.is_empty();
    Ok(if clean { Exit::Ok } else { Exit::Failed })
}
