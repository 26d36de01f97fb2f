//! `tune kernel check`: every kernel and pipeline against its reference, on the simulator.

use std::path::PathBuf;

use clap::Args;

use crate::cli::output;
use crate::error::{Error, Exit, Result};
use crate::hip::{Device, Hip, HipErrorKind};
use crate::ops::{OpError, Pack, check};

/// Arguments of `tune kernel check`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Target, such as gfx950; all when not given.
    #[arg(long)]
    arch: Option<String>,
    /// Kernel pack to check instead of the bundled kernels; needs --arch.
    #[arg(long, value_name = "DIR", requires = "arch")]
    kernels: Option<PathBuf>,
    /// Print every shape, not only the worst of each kernel.
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Checks the kernels.
///
/// # Errors
/// Status 3 for an unknown target, 4 for a pack that cannot be read, 5 when a kernel faults, 1 when
/// the simulator cannot be used.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let hip = Hip::simulator().map_err(Error::failed)?;
    let mut reports = Vec::new();
    for arch in super::targets(arguments.arch.as_deref())? {
        let device = device(&hip, &arch)?;
        let progress = |finding: &check::Finding| {
            if arguments.verbose {
                // A reader that went away does not stop the check.
                let _ = output::line(format_args!(
                    "{arch}  {}  {}: {}",
                    finding.subject, finding.case, finding.verdict
                ));
            }
        };
        let report = match &arguments.kernels {
            None => check::run(&device, progress),
            Some(dir) => check::run_pack(&device, &Pack::read(dir, &arch)?, progress),
        }
        .map_err(failure)?;
        if !arguments.json {
            output::line(report.to_string().trim_end())?;
        }
        reports.push(report);
    }
    if arguments.json {
        output::json(&reports)?;
    }
    Ok(if reports.iter().all(check::CheckReport::passed) { Exit::Ok } else { Exit::Check })
}

/// Checks the kernels of a pack.
///
/// # Errors
/// As [`run`].
pub fn of_pack(pack: &Pack) -> Result<check::CheckReport> {
    let hip = Hip::simulator().map_err(Error::failed)?;
    check::run_pack(&device(&hip, &pack.info.arch)?, pack, |_| ()).map_err(failure)
}

/// The simulated device of a target.
fn device(hip: &Hip, arch: &str) -> Result<Device> {
    let devices = hip.devices().map_err(Error::failed)?;
    let found = devices.iter().find(|info| info.arch == arch);
    let info = found.ok_or_else(|| Error::no_device(format_args!("no simulated {arch}")))?;
    hip.device(info.ordinal).map_err(Error::failed)
}

fn failure(error: OpError) -> Error {
    let exit = match &error {
        OpError::Hip(hip) | OpError::Launch { error: hip, .. }
            if hip.kind == HipErrorKind::LaunchFault =>
        {
            Exit::DeviceFault
        }
        // Of a pack: sizes that no kernel takes.
        OpError::Shape { .. } => Exit::Format,
        _ => Exit::Failed,
    };
    Error::new(exit, error)
}
