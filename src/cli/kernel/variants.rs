//! `tune kernel variants`: even and ragged kernels side by side, from their code alone.

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::ops::{catalog, variants};

/// Arguments of `tune kernel variants`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Target, such as gfx950; all when not given.
    #[arg(long)]
    arch: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compares and prints.
///
/// # Errors
/// Status 2 for an unknown target, 1 when an object is damaged.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut pairs = Vec::new();
    for arch in super::targets(arguments.arch.as_deref())? {
        let entries = catalog(&arch).map_err(Error::failed)?;
        pairs.extend(variants::pairs(&entries).map_err(Error::failed)?);
    }
    if arguments.json {
        output::json(&pairs)?;
    } else {
        output::line(variants::Table(&pairs).to_string().trim_end())?;
    }
    Ok(Exit::Ok)
}
