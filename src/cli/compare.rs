//! `tune compare`: two recorded profiles side by side under the same limits.

use std::path::PathBuf;

use clap::Args;

use super::limits::LimitArguments;
use super::output;
use super::source::{EvidenceArguments, derive};
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::options::ServerLimits;
use crate::report;

/// Arguments of `tune compare`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Directory of the first run, or its profile.parquet.
    #[arg(value_name = "A")]
    first: PathBuf,
    /// Directory of the second run, or its profile.parquet.
    #[arg(value_name = "B")]
    second: PathBuf,
    #[command(flatten)]
    limits: LimitArguments,
    #[command(flatten)]
    evidence: EvidenceArguments,
    /// SVG file for the plot of the gains.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compares and prints.
///
/// # Errors
/// Status 4 for a profile that cannot be read, 2 for limits that contradict each other, 7 for a
/// plot that cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let limits: ServerLimits = arguments.limits.into();
    limits.validate()?;
    if let Some(path) = &arguments.plot {
        let inputs = [&arguments.first, &arguments.second];
        output::refuse_inputs("--plot", path, inputs.map(PathBuf::as_path))?;
    }
    let (a, derived_a) = derive(&arguments.first, limits, &arguments.evidence)?;
    let (b, derived_b) = derive(&arguments.second, limits, &arguments.evidence)?;
    let comparison = report::compare((&a, &derived_a), (&b, &derived_b));
    if arguments.json {
        output::json(&comparison)?;
    } else {
        output::line(comparison.text().trim_end())?;
    }
    if let Some(path) = &arguments.plot {
        let svg = comparison.svg().map_err(|detail| Error::new(Exit::Failed, detail))?;
        files::write_atomic(path, svg.as_bytes())?;
        output::note(format_args!("\nwrote {}", path.display()), arguments.json)?;
    }
    Ok(Exit::Ok)
}
