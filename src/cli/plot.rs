//! `tune plot`: plots and report of a recorded profile.

use std::path::PathBuf;

use clap::Args;

use super::limits::LimitArguments;
use super::output;
use super::source::{EvidenceArguments, derive, directory_of};
use crate::error::{Exit, Result};
use crate::options::ServerLimits;
use crate::report;

/// Arguments of `tune plot`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of a run, or its profile.parquet.
    #[arg(value_name = "PROFILE")]
    profile: PathBuf,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    evidence: EvidenceArguments,
    /// Directory to write into; default: beside the profile.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Draws and writes.
///
/// # Errors
/// Status 4 for a profile that cannot be read, 7 for files that cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    let (profile, derived) = derive(&arguments.profile, limits, &arguments.evidence)?;
    let directory = arguments.out.as_deref().unwrap_or(directory_of(&arguments.profile));
    output::written(&report::write(directory, &profile, &derived)?)?;
    Ok(Exit::Ok)
}
