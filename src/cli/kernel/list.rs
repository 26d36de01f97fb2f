//! `tune kernel list`: what each bundled kernel costs the machine.

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::ops::{catalog, inspect};

/// Arguments of `tune kernel list`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Target, such as gfx950; all when not given.
    #[arg(long)]
    arch: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Lists the kernels.
///
/// # Errors
/// Status 3 for an unknown target, 1 when an embedded object is damaged.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut reports = Vec::new();
    for arch in super::targets(arguments.arch.as_deref())? {
        let entries = catalog(&arch).map_err(Error::failed)?;
        reports.extend(inspect::inspect(&entries).map_err(Error::failed)?);
    }
    if arguments.json {
        output::json(&reports)?;
    } else {
        output::line(inspect::Table(&reports).to_string().trim_end())?;
    }
    Ok(Exit::Ok)
}
