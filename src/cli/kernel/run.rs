//! `tune kernel run`: one launch of a kernel of any code object.

use std::path::PathBuf;

use clap::Args;

use crate::cli::engine::{self, Wanted};
use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::hip::Launch;
use crate::kernel_run::{self, Report, Request};
use crate::options::{self, EngineChoice};
use crate::validate::{nearest, off_by};

/// Arguments of `tune kernel run`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Code object or offload bundle.
    #[arg(value_name = "FILE.hsaco")]
    file: PathBuf,
    /// Device: gfx942 (MI300X) or gfx950 (MI355X).
    #[arg(long, value_name = "ARCH")]
    arch: String,
    /// Symbol of the kernel.
    #[arg(long, value_name = "SYMBOL")]
    kernel: String,
    /// Workgroups, such as 64,1,1.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extent, allow_hyphen_values = true)]
    grid: [u32; 3],
    /// Threads of a workgroup, such as 256.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = extent, allow_hyphen_values = true)]
    block: [u32; 3],
    /// Dynamic LDS, added to the static.
    #[arg(long, value_name = "BYTES", default_value_t = 0, allow_negative_numbers = true)]
    lds: u32,
    /// JSON list of the arguments in order.
    #[arg(long, value_name = "SPEC.json")]
    args: Option<PathBuf>,
    /// Time the launch.
    #[arg(long)]
    timing: bool,
    /// What may answer: the hardware where it is present and the simulator otherwise (auto), or
    /// only one of them.
    #[arg(long, value_enum, default_value_t = EngineChoice::Auto)]
    engine: EngineChoice,
    /// HIP runtime to load instead of the first libamdhip64 found.
    #[arg(long, value_name = "PATH")]
    hip_lib: Option<PathBuf>,
    /// Number of the device, where there are several of the kind.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    gpu: Option<u32>,
    /// Print the statistics as JSON.
    #[arg(long)]
    json: bool,
}

/// Three sizes of at least 1; those not given are 1.
fn extent(text: &str) -> std::result::Result<[u32; 3], String> {
    let mut sizes = [1; 3];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > sizes.len() {
        return Err(format!("{} sizes; expected at most 3", parts.len()));
    }
    for (size, part) in sizes.iter_mut().zip(parts) {
        *size = part.trim().parse().map_err(|error| format!("`{part}`: {error}"))?;
        if *size == 0 {
            return Err("every size must be at least 1".to_string());
        }
    }
    Ok(sizes)
}

/// Runs and prints what was executed.
///
/// # Errors
/// Status 2 for arguments that contradict the kernel, 3 without the device, 4 for a file that
/// cannot be used, 5 for a fault of the kernel.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let arch = options::arch(&arguments.arch)?;
    let engine = engine::choose(&Wanted {
        arch: &arch,
        engine: arguments.engine,
        hip_lib: arguments.hip_lib.as_deref(),
        gpu: arguments.gpu,
    })?;
    output::note(engine.banner(), arguments.json)?;
    let device = engine.hip.device(engine.info.ordinal).map_err(Error::from)?;
    let request = Request {
        file: arguments.file.clone(),
        kernel: arguments.kernel.clone(),
        launch: Launch { grid: arguments.grid, block: arguments.block, lds: arguments.lds },
        args: arguments.args.clone(),
        timing: arguments.timing,
    };
    let report = kernel_run::run(&device, &request)?;
    if arguments.json {
        output::json(&report)?;
    } else {
        print(&report)?;
    }
    Ok(Exit::Ok)
}

fn print(report: &Report) -> Result<()> {
    let Report { kernel, vgprs, sgprs, lds, private, .. } = report;
    output::line(format_args!(
        "{kernel}: {vgprs} VGPRs, {sgprs} SGPRs, {lds} B of LDS, {private} B of scratch a lane"
    ))?;
    if let Some(stats) = &report.stats {
        output::line(format_args!("instructions  {}", stats.instructions))?;
        if let Some(cycles) = stats.cycles {
            output::line(format_args!("cycles        {cycles}"))?;
        }
        for (class, count) in &stats.classes {
            output::line(format_args!("  {class:<12}{count}"))?;
        }
    }
    if let Some(time) = report.time_us {
        let error = match report.simulated {
            true => format!(" ({})", off_by(nearest(&report.arch, "", "").median())),
            false => String::new(),
        };
        output::line(format_args!("time          {time:.2} us{error}"))?;
    }
    output::written(&report.outputs)
}
