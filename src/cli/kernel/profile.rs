//! `tune kernel profile`: where the time of a kernel goes, on the simulator.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::kernel_profile::{self, ProfileError, Shape, Text};
use crate::ops::{KernelEntry, KernelOp, catalog};

/// Issues and waits of the timeline.
const EVENTS: usize = 60_000;

/// Arguments of `tune kernel profile`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kernel, as `tune kernel list` names it; a second one is set beside it.
    #[arg(value_name = "KERNEL", required = true, num_args = 1..=2)]
    kernels: Vec<String>,
    /// Target: gfx942 or gfx950.
    #[arg(long, value_name = "ARCH", default_value = "gfx950")]
    arch: String,
    /// Rows; of two values the second is of the second kernel, or of the same once more.
    #[arg(long, value_name = "M", required = true, value_delimiter = ',', num_args = 1..=2)]
    m: Vec<u64>,
    /// Columns.
    #[arg(long, value_name = "N", default_value_t = 512)]
    n: u64,
    /// Depth.
    #[arg(long, value_name = "K", default_value_t = 192)]
    k: u64,
    /// Heads of a batched kernel; 16 when not given.
    #[arg(long, value_name = "B")]
    b: Option<u64>,
    /// SVG file for the picture.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// File for a Chrome trace of the first kernel's compute unit, for ui.perfetto.dev.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Profiles and prints.
///
/// # Errors
/// Status 2 for a kernel or shape that does not exist, 3 for an unknown target, 5 when the kernel faults, 7 for a file that
/// cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    super::targets(Some(&arguments.arch))?;
    let entries = catalog(&arguments.arch).map_err(Error::failed)?;
    let events = if arguments.trace.is_some() { EVENTS } else { 0 };
    let mut profiles = Vec::new();
    for i in 0..arguments.kernels.len().max(arguments.m.len()) {
        let id = arguments.kernels.get(i).or(arguments.kernels.first());
        let entry = find(&entries, id.map_or("", String::as_str))?;
        let m = arguments.m.get(i).or(arguments.m.first()).copied().unwrap_or(0);
        let b = match (entry.op, arguments.b) {
            (KernelOp::AbsorbBmm, b) => b.unwrap_or(16),
            (_, None | Some(1)) => 1,
            (_, Some(_)) => {
                let what = format!("--b is given, and {} is no batched kernel", entry.id);
                return Err(Error::usage(what));
            }
        };
        let shape = Shape { b, m, n: arguments.n, k: arguments.k };
        profiles.push(kernel_profile::run(entry, &shape, events).map_err(failure)?);
    }
    if arguments.json {
        output::json(&profiles)?;
    } else {
        output::line(Text(&profiles).to_string().trim_end())?;
    }
    let mut written = Vec::new();
    if let Some(path) = &arguments.plot {
        let svg = kernel_profile::svg(&profiles).map_err(Error::failed)?;
        files::write_atomic(path, svg.as_bytes())?;
        written.push(path.clone());
    }
    if let (Some(path), Some(profile)) = (&arguments.trace, profiles.first()) {
        files::write_json(path, &kernel_profile::chrome_trace(profile))?;
        written.push(path.clone());
    }
    for path in written {
        output::note(format_args!("wrote {}", path.display()), arguments.json)?;
    }
    Ok(Exit::Ok)
}

fn find<'a>(entries: &'a [KernelEntry], id: &str) -> Result<&'a KernelEntry> {
    entries.iter().find(|entry| entry.id == id).ok_or_else(|| {
        Error::usage(format_args!("no kernel {id:?}"))
            .advice("`tune kernel list` names the kernels")
    })
}

fn failure(error: ProfileError) -> Error {
    match error {
        ProfileError::Shape(_) => Error::usage(error),
        ProfileError::Launch { .. } => Error::new(Exit::DeviceFault, error),
    }
}
