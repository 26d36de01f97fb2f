//! `tune kernel variants`: even and ragged kernels side by side, from their code alone.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::ops::{KernelEntry, Pack, catalog, variants};

/// Arguments of `tune kernel variants`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kernel pack; the bundled kernels when not given.
    #[arg(value_name = "PACK")]
    pack: Option<PathBuf>,
    /// Target, such as gfx950; all when not given, or the pack's.
    #[arg(long)]
    arch: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Compares and prints.
///
/// # Errors
/// Status 3 for an unknown target, 4 for a pack that cannot be read, 1 when an object is damaged.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut pairs = Vec::new();
    for entries in entries(arguments)? {
        pairs.extend(variants::pairs(&entries).map_err(Error::failed)?);
    }
    if arguments.json {
        output::json(&pairs)?;
    } else if pairs.is_empty() {
        output::line("no kernel is there in an even and in a ragged variant")?;
    } else {
        output::line(variants::Table(&pairs).to_string().trim_end())?;
    }
    Ok(Exit::Ok)
}

/// Kernels by target. A pack is of one target: the one named, or the one that it names.
fn entries(arguments: &Arguments) -> Result<Vec<Vec<KernelEntry>>> {
    let targets = super::targets(arguments.arch.as_deref())?;
    let Some(pack) = &arguments.pack else {
        let bundled = targets.iter().map(|arch| catalog(arch).map_err(Error::failed));
        return bundled.collect();
    };
    let arch = match &arguments.arch {
        Some(_) => targets.concat(),
        None => Pack::target(pack)?,
    };
    Ok(vec![Pack::read(pack, &arch)?.entries])
}
