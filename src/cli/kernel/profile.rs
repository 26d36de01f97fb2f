//! `tune kernel profile`: where the time of a kernel goes, on the simulator.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::files;
use crate::kernel_profile::{self, ProfileError, Shape, Text, Work};
use crate::ops::indexer::IndexerShape;
use crate::ops::pack::Dims;
use crate::ops::{KernelEntry, KernelOp, Pack, catalog};
use crate::units::Tokens;

/// Issues and waits of the timeline.
const EVENTS: usize = 60_000;

/// Arguments of `tune kernel profile`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Kernel, as `tune kernel list` names it; a second one is set beside it.
    #[arg(value_name = "KERNEL", required = true, num_args = 1..=2)]
    names: Vec<String>,
    /// Target: gfx942 or gfx950.
    #[arg(long, value_name = "ARCH", default_value = "gfx950")]
    arch: String,
    /// Rows; of two values the second is of the second kernel, or of the same once more.
    #[arg(
        long,
        value_name = "M[,M]",
        required = true,
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    m: Vec<Tokens>,
    /// Columns of a matrix product; 512 when not given, or what the kernel's pack says.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    n: Option<u64>,
    /// Depth of a matrix product; 192 when not given, or what the kernel's pack says.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    k: Option<u64>,
    /// Heads of a batched kernel; 16 when not given, or what the kernel's pack says.
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    b: Option<u64>,
    /// Tokens before the chunk of an indexer kernel; 131072 when not given.
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    prefix: Option<Tokens>,
    /// Tokens per key of an indexer kernel; 1 when not given.
    #[arg(long, value_name = "TOKENS", allow_negative_numbers = true)]
    ratio: Option<u32>,
    /// Keys that an indexer kernel selects; 2048 when not given.
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    topk: Option<u32>,
    /// Kernel pack whose kernels may be named too.
    #[arg(long, value_name = "DIR")]
    kernels: Option<PathBuf>,
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
/// Status 2 for a kernel or shape that does not exist, 3 for an unknown target, 4 for a pack that
/// cannot be read, 5 when the kernel faults, 7 for a file that cannot be written.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    super::targets(Some(&arguments.arch))?;
    let mut entries = Vec::new();
    if let [_, _, third, ..] = arguments.m[..] {
        let what = format!("--m takes one number of rows or two; {} is a third", third.0);
        return Err(Error::usage(what).advice("give --m 16384,16368"));
    }
    if let [_, _, third, ..] = &arguments.names[..] {
        let what = format!("one kernel or two are profiled; {third:?} is a third");
        let advice = "give two numbers of rows as --m 16384,16368";
        return Err(if third.parse::<u64>().is_ok() {
            Error::usage(what).advice(advice)
        } else {
            Error::usage(what)
        });
    }
    if arguments.plot.is_some() && arguments.plot == arguments.trace {
        return Err(Error::usage("--plot and --trace name one file")
            .advice("name another file for one of them"));
    }
    if let Some(pack) = &arguments.kernels {
        entries.extend(Pack::read(pack, &arguments.arch)?.entries);
    }
    entries.extend(catalog(&arguments.arch).map_err(Error::failed)?);
    let events = if arguments.trace.is_some() { EVENTS } else { 0 };
    let mut profiles = Vec::new();
    for i in 0..arguments.names.len().max(arguments.m.len()) {
        let id = arguments.names.get(i).or(arguments.names.first());
        let entry = find(&entries, id.map_or("", String::as_str))?;
        let m = arguments.m.get(i).or(arguments.m.first()).map_or(0, |m| m.0);
        let work = work(arguments, entry, m)?;
        profiles.push(kernel_profile::run(entry, &work, events).map_err(failure)?);
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

/// What the kernel is launched for; refuses sizes that it does not have.
fn work(arguments: &Arguments, entry: &KernelEntry, m: u64) -> Result<Work> {
    let given = |flags: &[(&str, bool)], what: &str| match flags.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(Error::usage(format_args!("{flag} is given, and {} is {what}", entry.id)))
        }
        None => Ok(()),
    };
    let product = [("--n", arguments.n.is_some()), ("--k", arguments.k.is_some())];
    let batched = [("--b", arguments.b.is_some_and(|b| b != 1))];
    let chunk = [
        ("--prefix", arguments.prefix.is_some()),
        ("--ratio", arguments.ratio.is_some()),
        ("--topk", arguments.topk.is_some()),
    ];
    match entry.op {
        KernelOp::AbsorbBmm | KernelOp::Gemm => {
            given(&chunk, "no kernel of the indexer")?;
            let dims = entry.launch.as_ref().map_or(Dims { b: 16, n: 512, k: 192 }, |l| l.dims);
            let b = match entry.op {
                KernelOp::AbsorbBmm => arguments.b.unwrap_or(dims.b),
                _ => {
                    given(&batched, "no batched kernel")?;
                    1
                }
            };
            let (n, k) = (arguments.n.unwrap_or(dims.n), arguments.k.unwrap_or(dims.k));
            Ok(Work::Product(Shape { b, m, n, k }))
        }
        KernelOp::Indexer => {
            given(&product, "a kernel of the indexer")?;
            given(&batched, "a kernel of the indexer")?;
            Ok(Work::Chunk(IndexerShape {
                t: m,
                l: arguments.prefix.map_or(131_072, |prefix| prefix.0),
                ratio: arguments.ratio.unwrap_or(1),
                heads: kernel_profile::heads(entry).unwrap_or(32),
                dim: 128,
                topk: arguments.topk.unwrap_or(2048),
            }))
        }
        KernelOp::Support => {
            let what = format!("{} only prepares inputs; it is not profiled", entry.id);
            Err(Error::usage(what).advice("`tune kernel list` names the kernels"))
        }
    }
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
