//! `tune emit`: the configuration of a recorded profile for a server's limits.

use std::path::PathBuf;

use clap::Args;

use super::limits::LimitArguments;
use super::output;
use super::source::{EvidenceArguments, derive, directory_of};
use crate::error::{Exit, Result};
use crate::options::ServerLimits;
use crate::report;

/// Arguments of `tune emit`.
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
    /// Print the sizer as JSON in place of the summary.
    #[arg(long)]
    json: bool,
}

/// Derives and writes the files.
///
/// # Errors
/// Status 4 for a profile that cannot be read, 2 for limits that leave no chunk, 7 for files that
/// cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    let (profile, derived) = derive(&arguments.profile, limits, &arguments.evidence)?;
    derived.plan.as_ref().map_err(Clone::clone)?;
    let directory = arguments.out.as_deref().unwrap_or(directory_of(&arguments.profile));
    let written = derived.write(directory, &profile)?;
    if arguments.json {
        output::json(&derived.sizer)?;
        return Ok(Exit::Ok);
    }
    output::line(report::summary(&profile, &derived))?;
    output::written(&written)?;
    Ok(Exit::Ok)
}
